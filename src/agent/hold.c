/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/hold.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/quiet.h"
#include "agent/sysfile.h"

void holds_deinit(struct holds *holds)
{
	free(holds->items);
	holds->items = NULL;
	holds->n = 0;
}

static struct hold *add(struct holds *holds, const char *key)
{
	struct hold *grown = realloc(holds->items, (holds->n + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	holds->items = grown;

	struct hold *hold = &grown[holds->n++];

	*hold = (struct hold){ .state = HOLD_HELD };
	snprintf(hold->key, sizeof(hold->key), "%s", key);
	return hold;
}

void hold_add(struct holds *holds, const char *key, const char *name, const char *want, hold_read *read,
	      bool (*same)(const char *want, const char *now))
{
	struct hold *hold = add(holds, key);

	if (!hold)
		return;
	snprintf(hold->name, sizeof(hold->name), "%s", name);
	snprintf(hold->want, sizeof(hold->want), "%s", want);
	hold->read = read;
	hold->same = same;
}

void hold_tell(struct holds *holds, const char *key, const char *format, ...)
{
	struct hold *hold = add(holds, key);
	va_list args;

	if (!hold)
		return;
	va_start(args, format);
	vsnprintf(hold->want, sizeof(hold->want), format, args);
	va_end(args);
}

void hold_fail(struct holds *holds, const char *key, const char *format, ...)
{
	struct hold *hold = add(holds, key);
	va_list args;

	if (!hold)
		return;
	hold->state = HOLD_FAILED;
	va_start(args, format);
	vsnprintf(hold->text, sizeof(hold->text), format, args);
	va_end(args);
}

bool hold_read_file(const char *root, const char *name, char *now, size_t size)
{
	char *text = sysfile_line(root, name);

	if (!text)
		snprintf(now, size, "%s", strerror(errno));
	else
		quiet_chosen_word(text, now, size);
	free(text);
	return text != NULL;
}

bool hold_file(struct holds *holds, const char *key, const char *path, const char *value)
{
	char full[PATH_MAX], before[HOLD_VALUE_MAX], now[HOLD_VALUE_MAX];

	if (snprintf(full, sizeof(full), "%s%s", holds->root, path) >= (int)sizeof(full)) {
		hold_fail(holds, key, "the path is too long");
		return false;
	}
	if (!hold_read_file(holds->root, path, before, sizeof(before))) {
		hold_fail(holds, key, "%.100s: %.100s", path, before);
		return false;
	}
	if (strcmp(before, value) != 0) {
		if (!undo_note(holds->undo, UNDO_FILE, full, before)) {
			hold_fail(holds, key, "no room to remember what %.150s said", path);
			return false;
		}
		if (!sysfile_write(full, value)) {
			hold_fail(holds, key, "%.100s: %s", path, strerror(errno));
			undo_forget(holds->undo);
			return false;
		}
	}
	if (!hold_read_file(holds->root, path, now, sizeof(now)) || strcmp(now, value) != 0) {
		hold_fail(holds, key, "%.100s was set to %.60s and says %.60s", path, value, now);
		return false;
	}
	hold_add(holds, key, path, value, hold_read_file, NULL);
	return true;
}

void hold_file_if_there(struct holds *holds, const char *key, const char *path, const char *value)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", holds->root, path) < (int)sizeof(full) && !access(full, F_OK))
		hold_file(holds, key, path, value);
}

static bool still_holds(const struct hold *hold, const char *now)
{
	return hold->same ? hold->same(hold->want, now) : !strcmp(hold->want, now);
}

void holds_check(struct holds *holds, const char *when)
{
	for (size_t i = 0; i < holds->n; i++) {
		struct hold *hold = &holds->items[i];
		char now[HOLD_VALUE_MAX];

		if (hold->state != HOLD_HELD || !hold->read)
			continue;
		if (!hold->read(holds->root, hold->name, now, sizeof(now)))
			snprintf(hold->text, sizeof(hold->text), "%.100s %.60s, not %.80s", now, when, hold->want);
		else if (!still_holds(hold, now))
			snprintf(hold->text, sizeof(hold->text), "%.80s %.60s, not %.80s", *now ? now : "nothing", when,
				 hold->want);
		else
			continue;
		hold->state = HOLD_CHANGED;
	}
}

void holds_report(const struct holds *holds, struct records *records)
{
	static const char *const prefixes[] = { [HOLD_HELD] = "", [HOLD_FAILED] = "failed.", [HOLD_CHANGED] = "changed." };

	for (size_t i = 0; i < holds->n; i++) {
		const struct hold *hold = &holds->items[i];
		char key[HOLD_KEY_MAX + 16];

		snprintf(key, sizeof(key), "env.%s%s", prefixes[hold->state], hold->key);
		records_identity(records, key, hold->state == HOLD_HELD ? hold->want : hold->text);
	}
}
