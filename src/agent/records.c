/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/records.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_MAX 140 /* bytes of a value's piece before it is encoded */
#define WRITE_WAIT_MS 60000

void records_deinit(struct records *records)
{
	free(records->items);
	*records = (struct records){ 0 };
}

static void add(struct records *records, const struct wire_record *record)
{
	if (records->n == records->cap) {
		size_t cap = records->cap ? records->cap * 2 : 64;
		struct wire_record *grown = realloc(records->items, cap * sizeof(*grown));

		if (!grown)
			abort();
		records->items = grown;
		records->cap = cap;
	}
	records->items[records->n] = *record;
	records->items[records->n].seq = (uint32_t)records->n;
	records->n++;
}

/* Does it fit into a line, whatever its number will be? */
static bool fits(struct wire_record record)
{
	char line[WIRE_LINE_MAX];

	record.seq = UINT32_MAX;
	return wire_format(&record, line) > 0;
}

static void copy_text(char *out, size_t size, const char *text)
{
	snprintf(out, size, "%s", text);
}

void records_hello(struct records *records, const char *version, const char *nonce)
{
	struct wire_record record = { .type = WIRE_HELLO };

	snprintf(record.name, sizeof(record.name), "%s%s%s", version, nonce ? "/" : "", nonce ? nonce : "");
	snprintf(record.value, sizeof(record.value), "%d", WIRE_VERSION);
	add(records, &record);
}

/* The longest beginning of `value` that fits behind `key`. */
static size_t fill_piece(struct wire_record *record, const char *value)
{
	size_t len = strnlen(value, CHUNK_MAX);

	for (; len; len--) {
		memcpy(record->value, value, len);
		record->value[len] = '\0';
		if (fits(*record))
			break;
	}
	return len;
}

void records_identity(struct records *records, const char *key, const char *value)
{
	struct wire_record record = { .type = WIRE_IDENTITY };

	if (!value)
		return;
	copy_text(record.name, sizeof(record.name), key);
	if (strlen(value) < sizeof(record.value)) {
		copy_text(record.value, sizeof(record.value), value);
		if (fits(record)) {
			add(records, &record);
			return;
		}
	}
	for (unsigned i = 0; *value; i++) {
		snprintf(record.name, sizeof(record.name), "%s.%u", key, i);

		size_t len = fill_piece(&record, value);

		if (!len)
			return;
		add(records, &record);
		value += len;
	}
}

void records_pass(struct records *records, const char *name, double value, const char *unit)
{
	struct wire_record record = { .type = WIRE_RESULT, .pass = true };

	copy_text(record.name, sizeof(record.name), name);
	copy_text(record.unit, sizeof(record.unit), unit);
	snprintf(record.value, sizeof(record.value), "%.6f", value);
	if (fits(record))
		add(records, &record);
	else
		records_fail(records, name, "not a number that can be reported", unit);
}

void records_fail(struct records *records, const char *name, const char *reason, const char *unit)
{
	struct wire_record record = { .type = WIRE_RESULT };

	copy_text(record.name, sizeof(record.name), name);
	copy_text(record.unit, sizeof(record.unit), unit);
	copy_text(record.value, CHUNK_MAX, reason);
	for (size_t len = strlen(record.value); len && !fits(record); len--)
		record.value[len - 1] = '\0';
	add(records, &record);
}

/* A terminal without blocking is full until the other side reads. */
static bool wait_for_room(int fd)
{
	struct pollfd other_side = { .fd = fd, .events = POLLOUT };

	return poll(&other_side, 1, WRITE_WAIT_MS) == 1 && !(other_side.revents & (POLLERR | POLLHUP));
}

bool records_write(int fd, const void *data, size_t len)
{
	const char *bytes = data;

	while (len) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno != EINTR && (errno != EAGAIN || !wait_for_room(fd)))
			return false;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return true;
}

void records_send_hello(const struct records *records, int fd)
{
	char line[WIRE_LINE_MAX];

	records_write(fd, line, wire_format(&records->items[0], line));
}

bool records_send(const struct records *records, int fd, const struct misbehave *misbehave)
{
	const struct wire_record end = { .type = WIRE_END, .seq = (uint32_t)records->n };
	char line[WIRE_LINE_MAX];
	bool good = true;

	for (int copy = 0; copy < 2 && good; copy++) {
		for (size_t i = 0; i <= records->n && good; i++) {
			const struct wire_record *record = i < records->n ? &records->items[i] : &end;
			size_t len = wire_format(record, line);

			good = misbehave_write(misbehave, fd, line, len, record->seq, copy);
		}
	}
	return good;
}
