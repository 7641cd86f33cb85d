/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

static enum log_level current_level = LOG_INFO;

void log_set_level(enum log_level level)
{
	current_level = level;
}

enum log_level log_get_level(void)
{
	return current_level;
}

void log_message(enum log_level level, const char *format, ...)
{
	static const char *const labels[] = {
		[LOG_ERROR] = "error: ", [LOG_WARNING] = "warning: ", [LOG_INFO] = "", [LOG_DEBUG] = ""
	};
	va_list args;

	if (level > current_level)
		return;
	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	fprintf(stderr, "memcg-ab: %s%s\n", labels[level], text);
	free(text);
}
