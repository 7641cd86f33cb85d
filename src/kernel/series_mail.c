/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mails: mboxes split, subjects and dates read. What needs MIME and character sets is in series_decode.c. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel/series_internal.h"

static const char *next_line(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline + 1 : end;
}

/*
 * The line that separates mails: "From ADDRESS Mon Nov 30 10:00:00 2026". A sentence that starts with "From " has no time in it; mboxes
 * of lore and of git format-patch have a fixed date there.
 */
static bool is_from_line(const char *at, const char *end)
{
	size_t len = (size_t)(next_line(at, end) - at);

	if (len < 5 || strncmp(at, "From ", 5))
		return false;
	for (size_t i = 5; i + 8 <= len; i++)
		if (isdigit((unsigned char)at[i]) && isdigit((unsigned char)at[i + 1]) && at[i + 2] == ':' &&
		    isdigit((unsigned char)at[i + 3]) && isdigit((unsigned char)at[i + 4]) && at[i + 5] == ':')
			return true;
	return false;
}

static bool is_empty_line(const char *at, const char *end)
{
	return at == end || *at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n');
}

/* The header's lines end in CR LF: the whole mail was stored as it was sent. */
static bool has_crlf_header(const char *at, const char *end)
{
	for (; at < end && !is_empty_line(at, end); at = next_line(at, end)) {
		const char *next = next_line(at, end);
		if (next - at < 2 || next[-2] != '\r')
			return false;
	}
	return at < end && *at == '\r';
}

/* Adds a line without its quoting: mboxrd puts one '>' before every ">*From " of a body. */
static void add_line(struct strbuf *out, const char *at, const char *next, bool unquote, bool drop_cr)
{
	size_t len = (size_t)(next - at);

	if (unquote && *at == '>') {
		const char *word = at + strspn(at, ">");
		if ((size_t)(next - word) >= 5 && !strncmp(word, "From ", 5)) {
			at++;
			len--;
		}
	}
	if (drop_cr && len >= 2 && at[len - 1] == '\n' && at[len - 2] == '\r') {
		strbuf_add(out, at, len - 2);
		strbuf_addch(out, '\n');
	} else {
		strbuf_add(out, at, len);
	}
}

static void add_mail(struct mails *mails, const char *at, const char *end, int first_line, bool unquote)
{
	struct strbuf text = STRBUF_INIT;
	const char *header = is_from_line(at, end) ? next_line(at, end) : at;
	bool drop_cr = has_crlf_header(header, end);

	for (const char *next; at < end; at = next) {
		next = next_line(at, end);
		add_line(&text, at, next, unquote, drop_cr);
	}
	mails->items = array_grow(mails->items, mails->n, sizeof(*mails->items));
	size_t len = text.len;
	mails->items[mails->n++] = (struct mail){ .text = strbuf_steal(&text), .len = len, .first_line = first_line };
}

void mails_split(const char *text, size_t len, struct mails *mails_out)
{
	const char *end = text + len, *start = text;
	bool mbox = is_from_line(text, end), mboxrd = mbox && str_starts(text, "From mboxrd@z ");
	bool after_empty = false;
	int line = 1, start_line = 1;

	*mails_out = (struct mails){ NULL, 0 };
	for (const char *at = text, *next; at < end; at = next, line++) {
		next = next_line(at, end);
		if (mbox && at > text && after_empty && is_from_line(at, end)) {
			add_mail(mails_out, start, at, start_line, mboxrd);
			start = at;
			start_line = line;
		}
		after_empty = is_empty_line(at, end);
	}
	add_mail(mails_out, start, end, start_line, mboxrd);
}

void mails_deinit(struct mails *mails)
{
	for (size_t i = 0; i < mails->n; i++)
		free(mails->items[i].text);
	free(mails->items);
	*mails = (struct mails){ NULL, 0 };
}

static bool is_header_line(const char *at)
{
	size_t name = 0;

	while (isalnum((unsigned char)at[name]) || at[name] == '-')
		name++;
	return name && at[name] == ':';
}

bool mail_has_headers(const char *text)
{
	const char *end = text + strlen(text);
	bool known = false;

	if (is_from_line(text, end))
		return true;
	for (; !is_empty_line(text, end); text = next_line(text, end)) {
		if (!is_header_line(text) && *text != ' ' && *text != '\t')
			return false;
		known |= !strncasecmp(text, "Subject:", 8) || !strncasecmp(text, "From:", 5);
	}
	return known;
}

/* "PATCH v2 3/7" between brackets. */
static void parse_tag(const char *tag, size_t len, struct mail_subject *out)
{
	AUTO_FREE char *copy = xstrndup(tag, len);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " \t,"))) {
		char *end;
		if ((*word == 'v' || *word == 'V') && isdigit((unsigned char)word[1])) {
			unsigned long version = strtoul(word + 1, &end, 10);
			if (!*end && version && version < 1000)
				out->version = (unsigned)version;
		} else if (isdigit((unsigned char)*word)) {
			unsigned long number = strtoul(word, &end, 10);
			if (*end != '/' || !isdigit((unsigned char)end[1]))
				continue;
			unsigned long total = strtoul(end + 1, &end, 10);
			if (!*end && total && number <= total && total < 10000) {
				out->number = (unsigned)number;
				out->total = (unsigned)total;
			}
		}
	}
}

void mail_parse_subject(const char *subject, struct mail_subject *subject_out)
{
	static const char *const replies[] = { "re:", "fwd:", "fw:", "aw:", "sv:" };
	struct mail_subject out = { .version = 1 };

	for (bool more = true; more;) {
		more = false;
		subject += strspn(subject, " \t\r\n");
		for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
			if (strncasecmp(subject, replies[i], strlen(replies[i])))
				continue;
			out.reply = true;
			subject += strlen(replies[i]);
			more = true;
		}
		const char *close = *subject == '[' ? strchr(subject, ']') : NULL;
		if (close) {
			parse_tag(subject + 1, (size_t)(close - subject - 1), &out);
			subject = close + 1;
			more = true;
		}
	}
	out.title = xstrdup(subject);
	*subject_out = out;
}

/* "+0130" in minutes; the old names GMT and UT are 0, as is everything else that is no number. */
static int parse_zone(const char *zone)
{
	if ((*zone != '+' && *zone != '-') || strspn(zone + 1, "0123456789") != 4)
		return 0;
	int value = atoi(zone + 1), minutes = value / 100 * 60 + value % 100;
	if (minutes >= 24 * 60)
		return 0;
	return *zone == '-' ? -minutes : minutes;
}

bool mail_parse_date(const char *text, int64_t *time_s_out, int *offset_min_out)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	const char *comma = strchr(text, ',');
	char month[4] = "", zone[8] = "+0000";
	struct tm tm = { 0 };

	int fields = sscanf(comma ? comma + 1 : text, "%2d %3s %4d %2d:%2d:%2d %7s", &tm.tm_mday, month, &tm.tm_year, &tm.tm_hour,
			    &tm.tm_min, &tm.tm_sec, zone);
	const char *found = strlen(month) == 3 ? strstr(months, month) : NULL;
	if (fields < 6 || !found || (found - months) % 3 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_year < 1970 ||
	    tm.tm_hour < 0 || tm.tm_hour > 23 || tm.tm_min < 0 || tm.tm_min > 59 || tm.tm_sec < 0 || tm.tm_sec > 60)
		return false;
	tm.tm_mon = (int)(found - months) / 3;
	tm.tm_year -= 1900;
	int offset = parse_zone(zone);
	*time_s_out = (int64_t)timegm(&tm) - offset * 60;
	*offset_min_out = offset;
	return true;
}
