/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's records, one way, device to host: ASCII lines under 200 bytes that survive a lossy console.
 *
 *   MEMCG-AB HELLO <agent version>[/<nonce>] <wire version> <seq> <crc32>
 *   MEMCG-AB IDENTITY <key> <value> <seq> <crc32>
 *   MEMCG-AB RESULT <case> <pass|fail> <decimal> <unit> <seq> <crc32>
 *   MEMCG-AB END <count> <crc32>
 *
 * <nonce> is the boot's own, where the settings have one (sift.h). crc32 is IEEE 802.3, 8 hex digits, over all bytes of
 * the line before the blank that precedes it. <seq> counts from 0 without gaps, <count> is the number of records before
 * END. Values are percent-encoded (blank, %, control, non-ASCII; upper-case hex digits; the empty value is "%00", which
 * nothing else may hold); a value too long for one line is cut into IDENTITY records of keys KEY.0, KEY.1, ... The
 * agent prints all records and END, then all of it once more, and HELLO also when it starts and after each workload, as
 * a sign of life; the host takes each seq from any intact copy. libc only; built for the host and for arm64.
 */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 1
#define WIRE_LINE_MAX 200 /* bytes, newline included */
#define WIRE_PREFIX "MEMCG-AB "

enum wire_type { WIRE_HELLO, WIRE_IDENTITY, WIRE_RESULT, WIRE_END };

struct wire_record {
	enum wire_type type;
	uint32_t seq; /* of END: the count */
	/* HELLO: agent version, perhaps with a nonce; IDENTITY: key; RESULT: case */
	char name[WIRE_LINE_MAX];
	/* Decoded. HELLO: wire version; IDENTITY: value; RESULT: the decimal number, or on "fail" the reason */
	char value[WIRE_LINE_MAX];
	char unit[32]; /* RESULT */
	bool pass; /* RESULT */
};

/* Writes one line with its newline and a NUL into `line`; returns its length without the NUL, 0 when it would not fit. */
size_t wire_format(const struct wire_record *record, char line[WIRE_LINE_MAX]);
/*
 * Parses one line (newline optional, other bytes before the prefix are skipped, a trailing CR too); false, with
 * `record_out` untouched, unless it is intact and exactly what wire_format() writes.
 */
bool wire_parse(const char *line, size_t len, struct wire_record *record_out);
uint32_t wire_crc32(const void *data, size_t len);

#endif
