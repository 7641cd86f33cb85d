/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/console.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/strbuf.h"

/* A longer line is looked at in pieces of this size. */
#define LINE_MAX_BYTES 4096
/* Of a kernel's message, as much as a reason is worth. */
#define MESSAGE_MAX_BYTES 160
#define SETTLE_FACTOR 4

static const char panic_words[] = "Kernel panic - not syncing: ";

/* How the kernel begins the report of a bug of its own that need not be a panic (arm64 and generic code, 4.19 to 6.12). */
static const char *const oops_words[] = {
	"Internal error: ", "Unable to handle kernel ", "kernel BUG at ", "BUG: unable to handle ", "Bad mode in ",
};

/* The first thing that a kernel prints, and the first things that firmware prints. */
static const char *const kernel_banners[] = { "Booting Linux on physical CPU", "Linux version " };
static const char *const firmware_banners[] = { "U-Boot SPL 2", "U-Boot 2",
						"NOTICE:  BL1: ", "NOTICE:  Booting Trusted Firmware" };

struct console *console_new(const char *cmdline)
{
	struct console *console = xcalloc(1, sizeof(*console));

	console->cmdline = xstrdup(cmdline ? cmdline : "");
	console->line = xmalloc(LINE_MAX_BYTES + 1);
	return console;
}

void console_free(struct console *console)
{
	if (!console)
		return;
	for (size_t i = 0; i < console->n_slots; i++)
		free(console->records[i]);
	free(console->records);
	free(console->panic);
	free(console->oops);
	free(console->restart);
	free(console->last_line);
	free(console->cmdline);
	free(console->line);
	free(console);
}

void cleanup_console(struct console **console)
{
	console_free(*console);
}

static void make_slots(struct console *console, size_t n)
{
	if (n <= console->n_slots)
		return;
	size_t slots = console->n_slots ? console->n_slots : 64;
	while (slots < n)
		slots *= 2;
	console->records = xreallocarray(console->records, slots, sizeof(*console->records));
	memset(console->records + console->n_slots, 0, (slots - console->n_slots) * sizeof(*console->records));
	console->n_slots = slots;
}

static bool same_record(const struct wire_record *a, const struct wire_record *b)
{
	return a->type == b->type && !strcmp(a->name, b->name) && !strcmp(a->value, b->value) &&
	       (a->type != WIRE_RESULT || (a->pass == b->pass && !strcmp(a->unit, b->unit)));
}

static void take_end(struct console *console, uint32_t count)
{
	if (console->n_ends && console->count != count)
		console->conflict = true;
	console->count = count;
	console->n_ends++;
}

static void take_record(struct console *console, const struct wire_record *record)
{
	if (record->seq > CONSOLE_MAX_RECORDS || (record->type != WIRE_END && record->seq == CONSOLE_MAX_RECORDS))
		return;
	if (record->type == WIRE_END) {
		take_end(console, record->seq);
		return;
	}
	if (record->type == WIRE_HELLO)
		console->hello = true;
	make_slots(console, (size_t)record->seq + 1);
	struct wire_record **slot = &console->records[record->seq];
	if (!*slot) {
		*slot = xmemdup(record, sizeof(*record));
		return;
	}
	/* HELLO comes once more, as a sign of life before the workloads. */
	if (record->type != WIRE_HELLO)
		console->n_repeats++;
	if (!same_record(*slot, record))
		console->conflict = true;
}

/* A message for a reason: printable, without trailing white space, not too long. */
static char *message_from(const char *text)
{
	char *message = xstrndup(text, MESSAGE_MAX_BYTES);

	for (char *c = message; *c; c++) {
		if (!isprint((unsigned char)*c))
			*c = ' ';
	}
	char *end = message + strlen(message);
	while (end > message && end[-1] == ' ')
		*--end = '\0';
	return message;
}

static void note_once(char **slot, const char *text)
{
	if (!*slot)
		*slot = message_from(text);
}

/* Overwrites each echo of the command line, so that no pattern is found in it. */
static void blank_cmdline(const struct console *console, char *line)
{
	size_t len = strlen(console->cmdline);

	for (char *echo = len ? strstr(line, console->cmdline) : NULL; echo; echo = strstr(echo + len, console->cmdline))
		memset(echo, ' ', len);
}

static const char *find_any(const char *line, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *found = strstr(line, words[i]);
		if (found)
			return found;
	}
	return NULL;
}

/*
 * A kernel prints "Booting Linux" and, later, "Linux version", each once. So the second of either kind, any of them after
 * the agent has spoken, and firmware after any of this means that the device went through a reset.
 */
static void look_for_restart(struct console *console, const char *line)
{
	bool booting = strstr(line, kernel_banners[0]);
	bool banner = strstr(line, kernel_banners[1]);
	bool firmware = find_any(line, firmware_banners, ARRAY_SIZE(firmware_banners));
	bool ran = console->banner || console->booting || console->hello;

	if (console_complete(console)) {
		/* The agent had finished: the restart is what it was told to do. */
		console->left |= booting || banner || firmware;
		return;
	}
	if ((booting && (console->booting || console->hello)) || (banner && (console->banner || console->hello)) ||
	    (firmware && ran))
		note_once(&console->restart, line);
	console->booting |= booting;
	console->banner |= banner;
}

static void look_at_message(struct console *console, char *line)
{
	blank_cmdline(console, line);
	const char *panic = strstr(line, panic_words);
	if (panic)
		note_once(&console->panic, panic + strlen(panic_words));
	const char *oops = find_any(line, oops_words, ARRAY_SIZE(oops_words));
	if (oops)
		note_once(&console->oops, oops);
	look_for_restart(console, line);
}

/* `whole` is false for a piece of an overlong line with more to come. */
static void take_line(struct console *console, bool whole)
{
	char *line = console->line;
	size_t len = console->line_len;
	struct wire_record record;

	console->line_len = 0;
	line[len] = '\0';
	if (wire_parse(line, len, &record)) {
		take_record(console, &record);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		if (!line[i])
			line[i] = ' ';
	}
	AUTO_FREE char *message = message_from(line);
	if (message[0]) {
		free(console->last_line);
		console->last_line = take_ptr(message);
	}
	/* "Kernel command line: ", "Unknown kernel command line parameters": what follows is what somebody typed. */
	bool echo = console->in_echo || strcasestr(line, "command line");
	console->in_echo = echo && !whole;
	if (!echo)
		look_at_message(console, line);
}

void console_feed(struct console *console, const void *data, size_t len)
{
	const char *bytes = data;

	console->n_bytes += len;
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '\n') {
			take_line(console, true);
			continue;
		}
		if (console->line_len == LINE_MAX_BYTES)
			take_line(console, false);
		console->line[console->line_len++] = bytes[i];
	}
}

void console_finish(struct console *console)
{
	take_line(console, true);
}

size_t console_missing(const struct console *console)
{
	size_t missing = 0;

	for (size_t i = 0; console->n_ends && i < console->count; i++) {
		if (i >= console->n_slots || !console->records[i])
			missing++;
	}
	return missing;
}

char *console_death(const struct console *console)
{
	if (console->panic && console->oops)
		return xasprintf("kernel panic: %s (after: %s)", console->panic, console->oops);
	if (console->panic)
		return xasprintf("kernel panic: %s", console->panic);
	if (console->restart)
		return xasprintf("the device started anew before the agent had finished: %s", console->restart);
	if (console->oops)
		return xasprintf("kernel oops: %s", console->oops);
	return NULL;
}

bool console_complete(const struct console *console)
{
	return console->n_ends && !console_missing(console);
}

/* Nothing that comes from now on can change what is said about this boot for the better. */
static bool is_over(const struct console *console)
{
	return console->panic || console->restart || console_complete(console);
}

/* Both copies are there, or the device has gone on to something else after the first. */
static bool has_left(const struct console *console)
{
	return console_complete(console) && (console->n_ends > 1 || console->left);
}

struct reading_state {
	int64_t last_byte_ms;
	int64_t over_ms; /* since when is_over() holds; 0 before */
};

/* The next moment at which something is to be decided if no byte comes. */
static int64_t next_deadline(const struct console *console, const struct console_limits *limits,
			     const struct reading_state *state, enum console_stop *stop_out)
{
	int64_t deadline = state->last_byte_ms + (console->n_ends || state->over_ms ? limits->settle_ms : limits->silence_ms);

	*stop_out = console->n_ends || state->over_ms ? CONSOLE_SETTLED : CONSOLE_SILENT;
	if (state->over_ms) {
		int64_t settled = state->over_ms + SETTLE_FACTOR * limits->settle_ms;
		return settled < deadline ? settled : deadline;
	}
	if (!console->hello && limits->hello_deadline_ms < deadline) {
		deadline = limits->hello_deadline_ms;
		*stop_out = console->n_bytes ? CONSOLE_NO_HELLO : CONSOLE_SILENT;
	}
	if (limits->run_deadline_ms < deadline) {
		deadline = limits->run_deadline_ms;
		*stop_out = CONSOLE_TOO_LONG;
	}
	return deadline;
}

static struct error *keep(int keep_fd, const char *data, size_t len)
{
	while (len) {
		ssize_t written = write(keep_fd, data, len);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_os(errno, "cannot keep the console's output");
		data += written;
		len -= (size_t)written;
	}
	return NULL;
}

/* One read(): *closed_out is true at the end of file. A pty or a socket whose other side has gone says EIO or ECONNRESET. */
static struct error *take_bytes(struct console *console, int fd, int keep_fd, bool *closed_out)
{
	char data[4096];
	ssize_t len = read(fd, data, sizeof(data));

	*closed_out = false;
	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return NULL;
	if (len < 0 && errno != EIO && errno != ECONNRESET)
		return error_os(errno, "cannot read the console");
	if (len <= 0) {
		*closed_out = true;
		return NULL;
	}
	struct error *error = keep(keep_fd, data, (size_t)len);
	if (error)
		return error;
	console_feed(console, data, (size_t)len);
	return NULL;
}

struct error *console_read(struct console *console, int fd, int keep_fd, const struct console_limits *limits, struct guard guard,
			   enum console_stop *stop_out)
{
	struct reading_state state = { clock_ms(), 0 };
	enum console_stop stop;
	bool closed = false;

	for (;;) {
		int64_t deadline = next_deadline(console, limits, &state, &stop);
		struct pollfd fds[2] = { { .fd = fd, .events = POLLIN }, { .fd = guard.fd, .events = POLLIN } };
		int ready = poll(fds, 2, clock_poll_timeout(deadline));

		if (ready < 0 && errno != EINTR)
			return error_os(errno, "cannot wait for the console");
		struct error *error = guard_check(guard);
		if (error)
			return error;
		if (ready > 0 && fds[0].revents) {
			error = take_bytes(console, fd, keep_fd, &closed);
			if (error)
				return error;
			state.last_byte_ms = clock_ms();
			if (!state.over_ms && is_over(console))
				state.over_ms = state.last_byte_ms;
			/* A machine that never stops talking comes to its end here. */
			deadline = next_deadline(console, limits, &state, &stop);
		}
		bool left = limits->goes_on && has_left(console);
		if (left)
			stop = CONSOLE_SETTLED;
		if (closed || left || clock_ms() >= deadline)
			break;
	}
	console_finish(console);
	*stop_out = closed ? CONSOLE_CLOSED : stop;
	return NULL;
}
