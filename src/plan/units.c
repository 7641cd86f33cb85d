/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* Largest first, so that a number's text gets the largest unit that divides it. */
static const struct unit sizes[] = {
	{ "T", 1ULL << 40 }, { "G", 1ULL << 30 }, { "M", 1ULL << 20 }, { "K", 1ULL << 10 }, { "", 1 },
};

static const struct unit times[] = { { "h", 3600000 }, { "min", 60000 }, { "s", 1000 }, { "ms", 1 } };

static bool leading_digits(const char *text, uint64_t *value_out, const char **rest_out)
{
	if (!isdigit((unsigned char)*text))
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno)
		return false;
	*value_out = value;
	*rest_out = end;
	return true;
}

bool units_count(const char *text, uint64_t *count_out)
{
	bool hex = text[0] == '0' && text[1] == 'x' && isxdigit((unsigned char)text[2]);
	if (!hex && !isdigit((unsigned char)text[0]))
		return false;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
	if (errno || *end)
		return false;
	*count_out = value;
	return true;
}

static bool scale(uint64_t value, const char *name, const struct unit *units, size_t n, uint64_t limit, uint64_t *out)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, units[i].name) != 0)
			continue;
		if (value > limit / units[i].factor)
			return false;
		*out = value * units[i].factor;
		return true;
	}
	return false;
}

bool units_size(const char *text, uint64_t *bytes_out)
{
	uint64_t value;
	const char *rest;
	/* Addresses are written so. */
	if (str_starts(text, "0x"))
		return units_count(text, bytes_out);
	if (!leading_digits(text, &value, &rest))
		return false;
	char unit[2] = { *rest, '\0' };
	if (*rest && rest[1] && strcmp(rest + 1, "iB") != 0)
		return false;
	return scale(value, unit, sizes, ARRAY_SIZE(sizes), UINT64_MAX, bytes_out);
}

bool units_time(const char *text, int64_t *ms_out)
{
	uint64_t value, ms;
	const char *rest;
	if (!leading_digits(text, &value, &rest))
		return false;
	if (!value && !*rest)
		rest = "ms";
	if (!scale(value, rest, times, ARRAY_SIZE(times), INT64_MAX, &ms))
		return false;
	*ms_out = (int64_t)ms;
	return true;
}

bool units_real(const char *text, double *real_out)
{
	/* strtod also takes blanks, inf, nan and hex digits: no one means these here. */
	if (!*text || strspn(text, "+-0123456789.eE") != strlen(text))
		return false;
	char *end;
	double value = strtod(text, &end);
	if (*end || !isfinite(value))
		return false;
	*real_out = value;
	return true;
}

bool units_ratio(const char *text, double *ratio_out)
{
	size_t len = strlen(text);
	if (!len || text[len - 1] != '%')
		return units_real(text, ratio_out);
	AUTO_FREE char *number = xstrndup(text, len - 1);
	double percent;
	if (!units_real(number, &percent))
		return false;
	*ratio_out = percent / 100;
	return true;
}

static char *scaled_text(uint64_t value, const struct unit *units, size_t n)
{
	size_t i = 0;
	while (i + 1 < n && (!value || value % units[i].factor))
		i++;
	return xasprintf("%" PRIu64 "%s", value / units[i].factor, units[i].name);
}

char *units_size_text(uint64_t bytes)
{
	return scaled_text(bytes, sizes, ARRAY_SIZE(sizes));
}

char *units_time_text(int64_t ms)
{
	return scaled_text((uint64_t)ms, times, ARRAY_SIZE(times));
}
