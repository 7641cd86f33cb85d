/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/conf_environment.h"

#include <string.h>

#include "agent/conf.h"
#include "agent/cores.h"

#define HOTTEST_C 150
#define LONGEST_MS ((uint64_t)24 * 3600 * 1000)

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

bool conf_valid_governor(const char *value)
{
	return *value && !value[strspn(value, name_characters)];
}

bool conf_valid_frequency(const char *value)
{
	uint64_t khz;

	return !strcmp(value, "max") || !strcmp(value, "mid") || !strcmp(value, "min") || (conf_count(value, &khz) && khz > 0);
}

bool conf_valid_cores(const char *value)
{
	cpu_set_t cpus;

	return !strcmp(value, "all") || !strcmp(value, "big") || !strcmp(value, "mid") || !strcmp(value, "little") ||
	       cores_parse(value, &cpus);
}

bool conf_valid_limit(const char *value)
{
	double celsius;

	return conf_real(value, &celsius) && celsius >= 0 && celsius <= HOTTEST_C;
}

bool conf_valid_wait(const char *value)
{
	uint64_t ms;

	return conf_count(value, &ms) && ms <= LONGEST_MS;
}

/* "perfd,vendor.thermal-engine,ssh@1.service" */
bool conf_valid_services(const char *value)
{
	for (;; value++) {
		const size_t len = strcspn(value, ",");

		if (!len || strcspn(value, " '\"\\$`;&|<>") < len)
			return false;
		value += len;
		if (!*value)
			return true;
	}
}

bool conf_valid_file(const char *value)
{
	const char *equals = strchr(value, '=');
	const char *above = strstr(value, "/../");
	const bool known = !strncmp(value, "/proc/", 6) || !strncmp(value, "/sys/", 5) || !strncmp(value, "/dev/", 5);

	return known && equals && !(above && above < equals);
}

bool conf_valid_property(const char *value)
{
	return strchr(value, '=') > value;
}
