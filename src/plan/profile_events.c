/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `events` of a device: what is counted beside instructions. */
#include <string.h>

#include "agent/events.h"
#include "plan/bind.h"
#include "plan/profile_parts.h"

#define TEXT_MAX 256

static struct error *twice(const struct yaml_node *list, size_t item, int event)
{
	size_t first = 0;
	while (!list->items[first]->text || strcmp(list->items[first]->text, event_names[event]) != 0)
		first++;
	struct error *error = error_at(list->items[item]->pos, "'%s' is twice in 'events'", event_names[event]);
	error_note(error, list->items[first]->pos, "the first is here");
	return error;
}

unsigned profile_events_read(const struct yaml_node *list, struct error **errors)
{
	static const struct bind_field field = { .type = BIND_WORD, .words = event_names };
	unsigned events = 0;
	for (size_t i = 0; i < list->n; i++) {
		int event;
		if (!bind_value(list->items[i], &field, "an event of 'events'", &event, errors))
			continue;
		if (events & 1u << event)
			error_join(errors, twice(list, i, event));
		events |= 1u << event;
	}
	return events;
}

/* Why a device of this kind has no counter for them; NULL = it may have. */
static const char *obstacle(const struct profile *profile)
{
	switch (profile->kind) {
	case DEVICE_QEMU:
		return profile->qemu.icount && *profile->qemu.icount ? NULL
								     : "QEMU counts under icount alone: set 'icount' in 'qemu'";
	case DEVICE_SIM:
		return "a device of kind 'sim' counts nothing: its 'models' tell them (pft.fault.cycles_k)";
	case DEVICE_FASTBOOT:
		return profile->fastboot.pmu ? NULL : "without 'pmu' nothing is counted";
	case DEVICE_COMMAND:
		break;
	}
	return profile->command.pmu ? NULL : "without 'pmu' nothing is counted";
}

void profile_events_check(const struct profile *profile, struct pos pos, struct error **errors)
{
	const char *why = profile->events ? obstacle(profile) : NULL;
	if (why)
		error_join(errors, error_at(pos, "'events' cannot be had: %s", why));
}

void profile_events_hash(const struct profile *profile, struct hash *hash)
{
	char text[TEXT_MAX];
	if (!profile->events)
		return;
	events_format(profile->events, text, sizeof(text));
	hash_field(hash, "events", text);
}
