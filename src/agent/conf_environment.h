/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of the settings env.* (conf.h). */
#ifndef AGENT_CONF_ENVIRONMENT_H
#define AGENT_CONF_ENVIRONMENT_H

#include <stdbool.h>

bool conf_valid_governor(const char *value);
bool conf_valid_frequency(const char *value);
bool conf_valid_cores(const char *value);
bool conf_valid_limit(const char *value);
bool conf_valid_wait(const char *value);
bool conf_valid_services(const char *value);
bool conf_valid_file(const char *value); /* PATH=VALUE */
bool conf_valid_property(const char *value); /* NAME=VALUE */

#endif
