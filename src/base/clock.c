/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/clock.h"

#include <limits.h>
#include <sys/resource.h>
#include <time.h>

int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_deadline(int64_t timeout_ms)
{
	int64_t now = clock_ms();

	return timeout_ms > NO_DEADLINE - now ? NO_DEADLINE : now + timeout_ms;
}

int clock_poll_timeout(int64_t deadline_ms)
{
	if (deadline_ms == NO_DEADLINE)
		return -1;
	int64_t left = deadline_ms - clock_ms();
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

int64_t clock_utc_s(void)
{
	return time(NULL);
}

char *clock_utc_text(int64_t utc_s)
{
	time_t seconds = utc_s;
	struct tm tm;
	char text[32];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	return xstrdup(text);
}

static int64_t cpu_ms(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

int64_t clock_self_cpu_ms(void)
{
	return cpu_ms(RUSAGE_SELF);
}

int64_t clock_children_cpu_ms(void)
{
	return cpu_ms(RUSAGE_CHILDREN);
}
