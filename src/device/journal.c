/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* Of a long text this many bytes are kept at each end. */
#define KEPT_BYTES 2048

static void add_indented(struct strbuf *out, const char *text, size_t len)
{
	bool at_start = true;

	for (size_t i = 0; i < len; i++) {
		if (at_start && text[i] != '\n')
			strbuf_addch(out, '\t');
		at_start = text[i] == '\n';
		if (text[i] != '\r')
			strbuf_addch(out, text[i]);
	}
	if (!at_start)
		strbuf_addch(out, '\n');
}

/* An argument may be a script of several lines. */
static void add_argument(struct strbuf *out, const char *argument)
{
	strbuf_addch(out, ' ');
	for (; *argument; argument++)
		strbuf_addch(out, *argument == '\n' ? ' ' : *argument);
}

struct error *journal_add(const char *path, const char *const *argv, const char *outcome, int64_t wall_ms, const char *text)
{
	AUTO_FREE char *utc = clock_utc_text(clock_utc_s());
	AUTO_STRBUF entry = STRBUF_INIT;
	size_t len = strlen(text);

	if (!path)
		return NULL;
	strbuf_adds(&entry, utc);
	for (; *argv; argv++)
		add_argument(&entry, *argv);
	strbuf_addf(&entry, ": %s, %" PRId64 " ms\n", outcome, wall_ms);
	if (len <= 2 * KEPT_BYTES) {
		add_indented(&entry, text, len);
	} else {
		add_indented(&entry, text, KEPT_BYTES);
		strbuf_addf(&entry, "\t[%zu bytes left out]\n", len - 2 * KEPT_BYTES);
		add_indented(&entry, text + len - KEPT_BYTES, KEPT_BYTES);
	}
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_os(errno, "cannot write %s", path);
	ssize_t put = write(fd, entry.data, entry.len);
	if (put < 0)
		return error_os(errno, "cannot write %s", path);
	return (size_t)put == entry.len ? NULL : error_new(ERROR_LAB, "cannot write %s: no space", path);
}
