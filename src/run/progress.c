/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/progress.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

#define TERMINAL_INTERVAL_MS 200
#define LOG_INTERVAL_MS 30000

struct progress progress_start(FILE *stream)
{
	int64_t now = clock_ms();

	return (struct progress){ .stream = stream, .terminal = isatty(fileno(stream)), .started_ms = now, .shown_ms = now };
}

char *duration_text(int64_t ms)
{
	int64_t s = ms / 1000;

	if (s < 60)
		return xasprintf("%llds", (long long)s);
	if (s < 3600)
		return xasprintf("%lldm%02llds", (long long)(s / 60), (long long)(s % 60));
	return xasprintf("%lldh%02lldm", (long long)(s / 3600), (long long)(s / 60 % 60));
}

void progress_show(struct progress *progress, bool now, const char *text)
{
	int64_t time = clock_ms();

	if (log_get_level() < LOG_INFO)
		return;
	if (!now && time - progress->shown_ms < (progress->terminal ? TERMINAL_INTERVAL_MS : LOG_INTERVAL_MS))
		return;
	progress->shown_ms = time;
	AUTO_FREE char *elapsed = duration_text(time - progress->started_ms);
	if (!progress->terminal) {
		fprintf(progress->stream, "memcg-ab: [%s] %s\n", elapsed, text);
		return;
	}
	fprintf(progress->stream, "\r\033[K[%s] %s", elapsed, text);
	fflush(progress->stream);
	progress->open = true;
}

void progress_clear(struct progress *progress)
{
	if (progress->open)
		fputs("\r\033[K", progress->stream);
	fflush(progress->stream);
	progress->open = false;
}
