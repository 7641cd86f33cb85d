/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's records, collected while it works and written when it has finished. */
#ifndef AGENT_RECORDS_H
#define AGENT_RECORDS_H

#include "agent/misbehave.h"
#include "agent/wire.h"

struct records {
	struct wire_record *items; /* items[i].seq is i */
	size_t n, cap;
};

void records_deinit(struct records *records);
/* `nonce` (sift.h) may be NULL. */
void records_hello(struct records *records, const char *version, const char *nonce);
/* A value too long for one line is cut into KEY.0, KEY.1, ...; a NULL value (not readable) adds nothing. */
void records_identity(struct records *records, const char *key, const char *value);
void records_pass(struct records *records, const char *name, double value, const char *unit);
/* A reason too long for a line is cut off. */
void records_fail(struct records *records, const char *name, const char *reason, const char *unit);

/* Writes the HELLO record as a sign of life. */
void records_send_hello(const struct records *records, int fd);
/* Writes all of them and END twice. False when the other side has gone. */
bool records_send(const struct records *records, int fd, const struct misbehave *misbehave);
/* Writes all of `data`; false when that cannot be done, or a terminal takes nothing for a minute. */
bool records_write(int fd, const void *data, size_t len);

#endif
