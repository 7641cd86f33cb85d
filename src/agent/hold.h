/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is to hold while samples are taken: each is set once, read back then, before the first sample and after each workload.
 * Identity records, KEY being the hold's:
 *
 *   env.KEY           it held: its value
 *   env.failed.KEY    it could not be set: why
 *   env.changed.KEY   it was set and did not hold: what it was, when, and what it should have been
 *
 * No KEY ends in '.' and a number (records.h: such records are pieces of one value).
 */
#ifndef AGENT_HOLD_H
#define AGENT_HOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/records.h"
#include "agent/undo.h"

#define HOLD_KEY_MAX 96
#define HOLD_VALUE_MAX 256

enum hold_state { HOLD_HELD, HOLD_FAILED, HOLD_CHANGED };

/* Reads the value that `name` has now; false with a reason in its place. */
typedef bool hold_read(const char *root, const char *name, char *now, size_t size);

struct hold {
	char key[HOLD_KEY_MAX];
	char name[HOLD_VALUE_MAX];
	char want[HOLD_VALUE_MAX];
	hold_read *read; /* NULL: told once, nothing to read back */
	bool (*same)(const char *want, const char *now); /* NULL: equal texts */
	enum hold_state state;
	char text[HOLD_VALUE_MAX]; /* of what failed or changed */
};

struct holds {
	const char *root; /* put in front of paths */
	struct undo *undo;
	struct hold *items;
	size_t n;
};

void holds_deinit(struct holds *holds);
/* Notes that `key` is `want` and is to stay so. */
void hold_add(struct holds *holds, const char *key, const char *name, const char *want, hold_read *read,
	      bool (*same)(const char *want, const char *now));
/* Notes what there is to know, and that is all. */
void hold_tell(struct holds *holds, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void hold_fail(struct holds *holds, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
/*
 * Writes `value` into the file `path` of /proc, /sys or /dev, reads it back and holds it; what it said before is put back at the
 * end. A file of choices ("a [b] c") is compared by what is chosen. False when that failed, which is noted.
 */
bool hold_file(struct holds *holds, const char *key, const char *path, const char *value);
/* Does nothing where the file does not exist: a kernel without the feature. */
void hold_file_if_there(struct holds *holds, const char *key, const char *path, const char *value);
/* Reads a file as hold_file() compares it. */
hold_read hold_read_file;
/* Reads all back. `when`: "before the first sample", "after pft". */
void holds_check(struct holds *holds, const char *when);
void holds_report(const struct holds *holds, struct records *records);

#endif
