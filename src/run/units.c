/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which unit of a device does which block. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "run/session.h"

/* Whether boots go block by block: where the device is not one machine that repeats itself bit for bit and has no place. */
static bool by_block(const struct device *device)
{
	enum device_kind kind = device->profile->kind;

	return device->n_units > 1 || !device->profile->exact || kind == DEVICE_FASTBOOT || kind == DEVICE_COMMAND;
}

static bool on_device(const struct session *session, const struct session_boot *boot, const struct device *device)
{
	return session->plan->matrix->targets[session->plan->rows[boot->plan->row].target].device == device;
}

static bool is_ready(const struct session *session, const struct session_boot *boot)
{
	ssize_t image = session->plan->rows[boot->plan->row].image;

	return image < 0 || session->images[image].state == IMAGE_READY;
}

static bool same_block(const struct session *session, const struct session_boot *a, const struct session_boot *b)
{
	return a->plan->block == b->plan->block &&
	       session->plan->rows[a->plan->row].target == session->plan->rows[b->plan->row].target;
}

static bool is_usable(const struct session *session, const struct device *device, const char *unit)
{
	for (size_t i = 0; i < session->n_devices; i++)
		if (session->devices[i].device == device && !strcmp(session->devices[i].unit->name, unit))
			return !session->devices[i].lost;
	return false;
}

/* Who began the block of `first`: a unit's name, or NULL. Boots of a unit that cannot go on are owed again. */
static const char *owner_of(struct session *session, const struct session_boot *first)
{
	const struct device *device = session->plan->matrix->targets[session->plan->rows[first->plan->row].target].device;
	const char *owner = NULL;

	for (size_t i = 0; i < session->plan->n_boots; i++) {
		struct session_boot *boot = &session->boots[i];
		if (boot->state != BOOT_DONE || !boot->unit || !same_block(session, boot, first))
			continue;
		bool usable = is_usable(session, device, boot->unit);
		if (usable && (!owner || !strcmp(owner, boot->unit)))
			owner = boot->unit;
		else
			boot->state = BOOT_OWED;
	}
	return owner;
}

/* Whether a block of the target waits for kernels, or runs on another unit now. */
static bool is_taken(const struct session *session, const struct session_boot *first)
{
	for (size_t i = 0; i < session->plan->n_boots; i++)
		if (session->boots[i].state == BOOT_RUNNING && same_block(session, &session->boots[i], first))
			return true;
	return false;
}

static size_t collect_block(const struct session *session, const struct session_boot *first, size_t *boots)
{
	size_t n = 0;

	for (size_t i = 0; i < session->plan->n_boots; i++)
		if (session->boots[i].state == BOOT_OWED && same_block(session, &session->boots[i], first))
			boots[n++] = i;
	return n;
}

/* In sequential order the first row's boots go first, and there is one unit to do them. */
static size_t collect_row(const struct session *session, const struct session_boot *first, size_t *boots)
{
	size_t n = 0;

	for (size_t i = 0; i < session->plan->n_boots; i++)
		if (session->boots[i].state == BOOT_OWED && session->boots[i].plan->row == first->plan->row)
			boots[n++] = i;
	return n;
}

/* The owed boots of the next block that the unit can take. */
static size_t next_block(struct session *session, size_t device, size_t *boots)
{
	const struct session_device *unit = &session->devices[device];
	bool by_row = session->plan->matrix->measure.order == ORDER_SEQUENTIAL && unit->device->n_units == 1;

	for (size_t i = 0; i < session->plan->n_boots; i++)
		if (session->boots[i].state == BOOT_OWED && on_device(session, &session->boots[i], unit->device) &&
		    !is_ready(session, &session->boots[i]))
			return 0;
	for (size_t i = 0; i < session->plan->n_boots; i++) {
		const struct session_boot *boot = &session->boots[i];
		if (boot->state != BOOT_OWED || !on_device(session, boot, unit->device) || is_taken(session, boot))
			continue;
		if (by_row)
			return collect_row(session, boot, boots);
		const char *owner = owner_of(session, boot);
		if (!owner || !strcmp(owner, unit->unit->name))
			return collect_block(session, boot, boots);
	}
	return 0;
}

/* All owed boots of the first row whose kernel is there. */
static size_t next_row(const struct session *session, size_t device, size_t *boots)
{
	const struct plan_boot *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < session->plan->n_boots; i++) {
		const struct session_boot *boot = &session->boots[i];
		if (boot->state != BOOT_OWED || !on_device(session, boot, session->devices[device].device) ||
		    !is_ready(session, boot))
			continue;
		if (!first)
			first = boot->plan;
		if (boot->plan->row == first->row)
			boots[n++] = i;
	}
	return n;
}

size_t session_next_boots(struct session *session, size_t device, size_t *boots)
{
	return by_block(session->devices[device].device) ? next_block(session, device, boots) : next_row(session, device, boots);
}

size_t session_lanes(const struct session *session, size_t device)
{
	const struct device *its = session->devices[device].device;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return its->profile->kind == DEVICE_QEMU && !by_block(its) && cores > 1 ? (size_t)cores : 1;
}

/* A block that is not finished is owed from its first boot on; how many boots that is. */
static size_t give_back(struct session *session, const struct session_boot *first)
{
	size_t n = 0;

	for (size_t i = 0; i < session->plan->n_boots; i++) {
		struct session_boot *boot = &session->boots[i];
		if ((boot->state != BOOT_RUNNING && boot->state != BOOT_DONE) || !same_block(session, boot, first))
			continue;
		boot->state = BOOT_OWED;
		n++;
	}
	return n;
}

bool session_lose(struct session *session, size_t device, const char *reason, const size_t *boots, size_t n)
{
	struct session_device *lost = &session->devices[device];
	bool others = false;

	if (!lost->lost)
		lost->lost = xstrdup(reason);
	for (size_t i = 0; i < session->n_devices; i++)
		others |= session->devices[i].device == lost->device && !session->devices[i].lost;
	if (!others)
		return false;
	size_t given = 0;
	for (size_t i = 0; i < n; i++)
		if (session->boots[boots[i]].state == BOOT_RUNNING)
			given += give_back(session, &session->boots[boots[i]]);
	log_warning("%s is not used any more in this run: %s%s", lost->name, reason,
		    given ? "; its unfinished block is done again elsewhere" : "");
	return true;
}
