/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/fastboot_text.h"

#include <ctype.h>
#include <string.h>

/*
 * A handshake over UDP or TCP takes up to 2 s before the client gives up and says so: what is stopped earlier and has printed
 * nothing may not have reached the device at all.
 */
#define HANDSHAKE_MS 2500

static const char info_mark[] = "(bootloader) ";

/* What the client's words come down to. */
struct reading {
	char *step; /* the last one begun */
	bool step_done; /* it said OKAY */
	bool waits; /* "< waiting for ... >" came after everything else */
	bool split; /* an image went in several pieces */
	char *failed; /* what stood in "FAILED (...)" */
	char *error; /* the client's own last error or usage line */
};

static const char *const steps[] = { "Sending",	      "Writing",  "Erasing",	   "Booting", "Rebooting",
				     "Resuming boot", "Setting ", "Powering down", "getvar:" };

/* One line, as far as it goes: control characters become blanks. */
static char *one_line(const char *text, size_t len)
{
	char *copy = xstrndup(text, len);

	for (char *c = copy; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	char *trimmed = str_trim(copy);
	memmove(copy, trimmed, strlen(trimmed) + 1);
	return copy;
}

static void replace(char **slot, char *text)
{
	cleanup_free(slot);
	*slot = text;
}

static bool is_step(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (str_starts(line, steps[i]))
			return true;
	return false;
}

/* "STEP", with or without its end, or that end alone after lines of the device. */
static void read_step(struct reading *reading, const char *line)
{
	const char *okay = strstr(line, "OKAY");
	const char *failed = strstr(line, "FAILED (");
	const char *end = failed ? failed : okay;

	if (is_step(line)) {
		replace(&reading->step, one_line(line, end ? (size_t)(end - line) : strlen(line)));
		reading->step_done = false;
		reading->split |= str_starts(line, "Sending sparse");
	}
	if (failed) {
		const char *inner = failed + strlen("FAILED (");
		const char *close = strrchr(inner, ')');
		replace(&reading->failed, one_line(inner, close ? (size_t)(close - inner) : strlen(inner)));
	} else if (okay) {
		reading->step_done = true;
	}
}

static bool says_waiting(const char *line)
{
	return line[0] == '<' && strstr(line, "waiting for ");
}

/* The text behind "fastboot: error: ", "error: ", ...; NULL for other lines. */
static const char *own_error(const char *line)
{
	static const char *const marks[] = { "fastboot: error: ", "fastboot: usage: ", "error: " };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (str_starts(line, marks[i]))
			return line + strlen(marks[i]);
	return NULL;
}

static void read_line(struct reading *reading, char *line)
{
	char *info = strstr(line, info_mark);
	const char *error = own_error(line);

	if (info)
		*info = '\0';
	if (says_waiting(line)) {
		reading->waits = true;
		return;
	}
	if (error) {
		/* The last word on a step that FAILED already. */
		if (!str_starts(error, "Command failed") || !reading->failed)
			replace(&reading->error, one_line(error, strlen(error)));
		return;
	}
	if (is_step(line) || str_starts(line, "OKAY") || str_starts(line, "FAILED (")) {
		reading->waits = false;
		read_step(reading, line);
	} else if (info) {
		reading->waits = false;
	}
}

static struct reading read_text(const char *text)
{
	struct reading reading = { NULL };
	AUTO_FREE char *copy = xstrdup(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		read_line(&reading, line);
	return reading;
}

/*
 * The device's own words in what stood in "FAILED (...)": remote: 'X', remote: X, or the old "remote failure"; NULL for the
 * client's.
 */
static char *remote_words(const char *failed)
{
	if (!strcmp(failed, "remote failure"))
		return xstrdup("");
	if (!str_starts(failed, "remote:"))
		return NULL;
	const char *words = failed + strlen("remote:");
	words += strspn(words, " ");
	size_t len = strlen(words);
	if (len >= 2 && words[0] == '\'' && words[len - 1] == '\'')
		return one_line(words + 1, len - 2);
	return one_line(words, len);
}

static void judge_failed(const char *failed, struct fastboot_reply *reply)
{
	reply->remote = remote_words(failed);
	reply->outcome = reply->remote ? FASTBOOT_REFUSED : FASTBOOT_BROKEN;
	if (!reply->remote)
		reply->remote = xstrdup(failed);
}

static bool is_done(const struct reading *reading, const char *final)
{
	return !final || (reading->step && str_starts(reading->step, final) && reading->step_done);
}

/* It did not end by itself. */
static void judge_stopped(const struct reading *reading, const char *text, const char *final,
			  const struct fastboot_ending *ending, struct fastboot_reply *reply)
{
	bool quiet = !text[strspn(text, " \r\n")];
	bool handshake = quiet && ending->network && ending->wall_ms < HANDSHAKE_MS;

	/* After "reboot fastboot" it waits for the device to come back, which is nothing that was asked for. */
	if (final && reading->waits && is_done(reading, final))
		return;
	/* Without a "waiting" line, an error of the client's is one of its attempts to connect. */
	bool outside = reading->waits || (reading->error && !reading->step);
	reply->outcome = outside || handshake ? FASTBOOT_ABSENT : FASTBOOT_SILENT;
	reply->remote = reading->error ? xstrdup(reading->error) : NULL;
}

static void judge_ended(const struct reading *reading, const char *final, const struct fastboot_ending *ending,
			struct fastboot_reply *reply)
{
	reply->outcome = FASTBOOT_BROKEN;
	if (reading->error && ending->exit_status)
		reply->remote = xstrdup(reading->error);
	else if (ending->exit_status < 0)
		reply->remote = xstrdup("the client was killed by a signal");
	else if (ending->exit_status)
		reply->remote = xasprintf("the client ended with status %d and said nothing of it", ending->exit_status);
	else if (reading->split)
		reply->remote = xstrdup("the client sent the image in pieces: it is bigger than the device's max-download-size");
	else if (!is_done(reading, final))
		reply->remote = xasprintf("the client ended without a word of \"%s\"", final);
	else
		reply->outcome = FASTBOOT_OKAY;
}

void fastboot_text_parse(const char *text, const char *final, const struct fastboot_ending *ending,
			 struct fastboot_reply *reply_out)
{
	struct reading reading = read_text(text);

	*reply_out = (struct fastboot_reply){ .wall_ms = ending->wall_ms };
	if (reading.failed)
		judge_failed(reading.failed, reply_out);
	else if (ending->stopped)
		judge_stopped(&reading, text, final, ending, reply_out);
	else
		judge_ended(&reading, final, ending, reply_out);
	reply_out->step = take_ptr(reading.step);
	cleanup_free(&reading.failed);
	cleanup_free(&reading.error);
}

char *fastboot_text_value(const char *text, const char *name)
{
	AUTO_FREE char *label = xasprintf("%s:", name);
	AUTO_FREE char *copy = xstrdup(text);
	char *rest = copy, *line, *value = NULL;

	/* The client prints it last; a line before that may be the device's own text. */
	while ((line = strsep(&rest, "\n")))
		if (str_starts(line, label))
			value = line + strlen(label);
	AUTO_FREE char *told = value ? one_line(value, strlen(value)) : xstrdup("");
	return *told ? take_ptr(told) : NULL;
}

bool fastboot_text_waits(const char *text)
{
	struct reading reading = read_text(text);
	bool waits = reading.waits;

	cleanup_free(&reading.step);
	cleanup_free(&reading.failed);
	cleanup_free(&reading.error);
	return waits;
}
