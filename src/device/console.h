/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a device's console: collects the agent's records (agent/wire.h), sees kernels die, and keeps every byte. What it finds
 * says nothing yet of who is to blame; that is the lane's business.
 */
#ifndef DEVICE_CONSOLE_H
#define DEVICE_CONSOLE_H

#include "agent/wire.h"
#include "base/proc.h"

/* Records of a higher number are not kept: far more than a boot ever has. */
#define CONSOLE_MAX_RECORDS 1048576

/* All of it is read only to others. */
struct console {
	size_t n_bytes; /* everything that came */
	struct wire_record **records; /* by seq; NULL where no intact copy came. HELLO, IDENTITY and RESULT */
	size_t n_slots; /* of `records` */
	bool hello; /* an intact HELLO came */
	unsigned n_ends; /* intact END lines: the agent prints everything twice */
	uint32_t count; /* END's, once n_ends > 0 */
	unsigned n_repeats; /* intact IDENTITY and RESULT of a number that was there already: the agent is at its second copy */
	bool conflict; /* two different records of one number, or two different counts: two agents spoke */
	char *panic; /* the kernel's reason for its panic, or NULL */
	char *oops; /* first line of the first oops or BUG, or NULL */
	char *restart; /* the line that shows that a kernel or a firmware started anew, or NULL */
	char *last_line; /* the last that is no record and not empty, or NULL */

	/* private */
	char *cmdline;
	char *line;
	size_t line_len;
	bool in_echo;
	bool banner;
	bool booting;
	bool left; /* something started anew after the agent had finished */
};

/* `cmdline`: what was booted; a console echoes it, so what stands in it is never taken for a message. */
struct console *console_new(const char *cmdline);
void console_free(struct console *console); /* NULL is fine */
void cleanup_console(struct console **console);
#define AUTO_CONSOLE CLEANUP(cleanup_console) struct console *

/* Takes the next bytes; any bytes do. */
void console_feed(struct console *console, const void *data, size_t len);
/* The end: looks at the last line although it has no newline. */
void console_finish(struct console *console);
/* END came and every record before it is there, from whichever copy. */
bool console_complete(const struct console *console);
/* Records before END that are in no copy; 0 before END. */
size_t console_missing(const struct console *console);

/* The kernel's own words about its death, which the caller frees; NULL when there are none. */
char *console_death(const struct console *console);

/* The times are milliseconds of CLOCK_MONOTONIC and none may be NO_DEADLINE. */
struct console_limits {
	int64_t hello_deadline_ms; /* the agent's first word */
	int64_t run_deadline_ms; /* the last record */
	int64_t silence_ms; /* longest time without a byte */
	bool goes_on; /* what comes after the agent's second END, or a restart after the first, is no part of this boot: reading ends there */
	int64_t settle_ms; /* after END, a panic or a restart: the longest silence then, and four times that in all */
};

enum console_stop {
	CONSOLE_CLOSED, /* end of file: the device is off, or whatever carried its console has gone */
	CONSOLE_SETTLED, /* END, a panic or a restart came, and the settling time after it is over */
	CONSOLE_SILENT, /* silence_ms without a byte */
	CONSOLE_NO_HELLO, /* bytes, but no agent until hello_deadline_ms */
	CONSOLE_TOO_LONG, /* run_deadline_ms passed before the last record */
};

/*
 * Reads `fd` until it closes or a limit is met, and appends all bytes to `keep_fd`. ERROR_INTERRUPTED when the guard fires,
 * ERROR_LAB when the bytes cannot be kept (disk full) or read.
 */
struct error *console_read(struct console *console, int fd, int keep_fd, const struct console_limits *limits, struct guard guard,
			   enum console_stop *stop_out) MUST_CHECK;

#endif
