/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data sets of tests/data/stats, and what R says about them (oracle.R there). */
#ifndef ORACLE_H
#define ORACLE_H

#include "unit.h"

#include <math.h>
#include <string.h>

#include "base/file.h"

static inline void oracle_read(const char *name, struct strbuf *text)
{
	AUTO_FREE char *path = xasprintf("%s/tests/data/stats/%s", getenv("MEMCG_AB_ROOT"), name);
	assert_ok(file_read(path, text));
}

/* Reads at most `max` numbers of NAME.txt; returns how many there are. */
static inline size_t oracle_data(const char *name, double *out, size_t max)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_FREE char *file = xasprintf("%s.txt", name);
	size_t n = 0;

	oracle_read(file, &text);
	for (char *line = strtok(text.data, "\n"); line && n < max; line = strtok(NULL, "\n"))
		out[n++] = strtod(line, NULL);
	return n;
}

static inline double oracle_value(const char *name)
{
	AUTO_STRBUF text = STRBUF_INIT;

	oracle_read("oracle.txt", &text);
	for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
		size_t len = strcspn(line, " ");
		if (len == strlen(name) && !strncmp(line, name, len))
			return strtod(line + len, NULL);
	}
	fail_msg("oracle.txt has no '%s'", name);
	return NAN;
}

/* To `relative` of the expected value. */
static inline void assert_near_at(double got, double want, double relative, const char *what, const char *file, int line)
{
	if (fabs(got - want) <= relative * fabs(want))
		return;
	print_error("%s:%d: %s is %.12g, wanted %.12g\n", file, line, what, got, want);
	_fail(file, line);
}
#define assert_near(got, want, relative) assert_near_at((got), (want), (relative), #got, __FILE__, __LINE__)
/* To seven digits. */
#define assert_oracle(got, name) assert_near_at((got), oracle_value(name), 1e-7, (name), __FILE__, __LINE__)

#endif
