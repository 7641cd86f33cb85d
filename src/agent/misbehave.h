/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a bad kernel and a bad console do, on demand of the sim device (settings fault.NAME=1, only with counter=model):
 *
 *   power-off    exits before any record
 *   panic        prints a kernel's panic text before any record, exits
 *   hang         goes silent after the first HELLO, until the other side closes
 *   die          exits in the middle of a line of the first copy
 *   drop-bytes   each record loses a byte in one of the two copies at most; which, and where, is drawn from fault.seed
 *   split-lines  the same with an inserted newline; and every line is written in two pieces with 0.2 ms between them
 */
#ifndef AGENT_MISBEHAVE_H
#define AGENT_MISBEHAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/conf.h"

struct misbehave {
	bool power_off, panic, hang, die, drop_bytes, split_lines;
	uint64_t seed;
};

void misbehave_init(struct misbehave *misbehave, const struct conf *conf);
/* Before any record; true when that was all. */
bool misbehave_before_hello(const struct misbehave *misbehave, int fd);
void misbehave_after_hello(const struct misbehave *misbehave, int fd);
/* Writes a record's line, of copy 0 or 1, as badly as asked; false when the other side has gone. */
bool misbehave_write(const struct misbehave *misbehave, int fd, const char *line, size_t len, uint32_t seq, int copy);

#endif
