/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the agent changes on a machine that is not its own is put back when it ends, however it ends: a guardian, a process of
 * its own that sleeps meanwhile, does it as soon as the agent says so or is no more (killed, crashed). Each change is noted
 * before it is made. Lost with the power: a property that Android keeps (persist.*).
 */
#ifndef AGENT_UNDO_H
#define AGENT_UNDO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "agent/services.h"

#define UNDO_MAX 512
#define UNDO_NAME_MAX 512
#define UNDO_VALUE_MAX 256
#define UNDO_TEXT_MAX 512

enum undo_kind {
	UNDO_FILE, /* name: path, value: what it said */
	UNDO_PROPERTY, /* name, value: what it was */
	UNDO_SERVICE, /* name: it ran */
	UNDO_SWAP, /* name: path, value: priority */
	UNDO_SWAPPING, /* name: path of an area that was switched on */
	UNDO_MOUNT, /* name: where something was mounted */
};

struct undo_entry {
	enum undo_kind kind;
	char name[UNDO_NAME_MAX];
	char value[UNDO_VALUE_MAX];
};

/* In memory that agent and guardian share. */
struct undo_log {
	enum service_manager manager;
	unsigned n;
	struct undo_entry entries[UNDO_MAX];
	char failures[UNDO_TEXT_MAX]; /* what could not be put back, and why; "" = nothing */
};

struct undo {
	struct undo_log *log;
	pid_t guardian; /* 0: there is none, undo_close() does it */
	int end_fd;
};

/*
 * With `guarded` a guardian is started; without, changes last when the agent dies early, which does not matter to pid 1.
 * False with a one-line reason.
 */
bool undo_open(struct undo *undo, enum service_manager manager, bool guarded, char *reason, size_t reason_size);
/* False when there is no room: then the change must not be made. */
bool undo_note(struct undo *undo, enum undo_kind kind, const char *name, const char *value);
/* The change that was noted last was not made after all. */
void undo_forget(struct undo *undo);
/*
 * Puts all back, the last change first, and waits for it (up to 5 min). What could not be put back goes into `failures`, "" when
 * nothing. Does nothing the second time.
 */
void undo_close(struct undo *undo, char *failures, size_t size);

#endif
