/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages for the person at the terminal, on stderr. The level is the program's one mutable global. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/mem.h"

enum log_level {
	LOG_ERROR, /* what ends the command */
	LOG_WARNING, /* what the user should know and act on */
	LOG_INFO, /* progress; the default */
	LOG_DEBUG, /* what is executed and why (-v) */
};

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* One line; "memcg-ab: " before it, and "warning: " or "error: " for those levels. */
void log_message(enum log_level level, const char *format, ...) PRINTF_FORMAT(2, 3);

#define log_error(...) log_message(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_message(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_message(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_message(LOG_DEBUG, __VA_ARGS__)

#endif
