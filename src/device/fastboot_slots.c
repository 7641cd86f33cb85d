/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Slots. A bootloader takes one from a slot's retry count at each boot until the slot is marked successful, which is Android's business, and falls
 * to the other slot when the count is at its end; set_active fills it up again on most.
 */
#include <stdlib.h>
#include <string.h>

#include "device/fastboot_parts.h"

#define TRIES_MIN 2

char *slot_partition(const char *partition, char slot)
{
	return slot ? xasprintf("%s_%c", partition, slot) : xstrdup(partition);
}

char slot_of_method(const struct fastboot_settings *settings, const struct facts *facts)
{
	const char *current = settings->slots ? facts_get(facts, "current-slot") : NULL;
	char slot = current ? fastboot_parse_slot(current) : 0;

	if (!slot || settings->method != FASTBOOT_METHOD_FLASH_INACTIVE)
		return slot;
	return slot == 'a' ? 'b' : 'a';
}

static const char *slot_fact(const struct facts *facts, const char *what, char slot)
{
	AUTO_FREE char *name = xasprintf("%s:%c", what, slot);

	return facts_get(facts, name);
}

char *slot_exhausted(const struct facts *facts, char slot)
{
	const char *retries = slot_fact(facts, "slot-retry-count", slot);
	const char *successful = slot_fact(facts, "slot-successful", slot);
	char *end;

	if (!retries || (successful && !strcmp(successful, "yes")))
		return NULL;
	unsigned long count = strtoul(retries, &end, 0);
	if (end == retries || *end)
		return xasprintf("\"%s\" is no count", retries);
	if (count >= TRIES_MIN)
		return NULL;
	return xasprintf("%lu tries are left and the slot is not marked successful: the bootloader would give it up", count);
}

static struct error *read_slot_facts(struct phone *phone)
{
	static const char *const names[] = { "current-slot", "slot-retry-count", "slot-successful", "slot-unbootable" };
	struct error *error = NULL;

	for (size_t i = 0; !error && i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *name = i ? xasprintf("%s:%c", names[i], phone->slot) : xstrdup(names[i]);
		struct fastboot_reply reply;
		AUTO_FREE char *value = NULL;
		error = fastboot_getvar(&phone->fastboot, name, &value, &reply);
		if (error)
			break;
		fastboot_reply_deinit(&reply);
		facts_set(&phone->facts, name, value);
	}
	return error;
}

static char active_slot(const struct phone *phone)
{
	const char *current = facts_get(&phone->facts, "current-slot");

	return current ? fastboot_parse_slot(current) : 0;
}

struct error *phone_activate(struct phone *phone, char slot)
{
	struct fastboot_reply reply;

	struct error *error = fastboot_set_active(&phone->fastboot, slot, &reply);
	if (!error)
		error = phone_reply_error(&reply, "set_active");
	if (!error)
		error = read_slot_facts(phone);
	if (error)
		return error;
	phone->slot_moved = active_slot(phone) != phone->found_slot;
	if (active_slot(phone) != slot)
		return error_new(ERROR_LAB, "set_active %c: the device said okay, but its current slot is %s", slot,
				 facts_get(&phone->facts, "current-slot") ? facts_get(&phone->facts, "current-slot")
									  : "not told");
	return NULL;
}

struct error *phone_prepare_slot(struct phone *phone, struct lane_boot *boot)
{
	if (!phone->slot)
		return NULL;
	struct error *error = read_slot_facts(phone);
	if (error)
		return error;
	char before[] = { active_slot(phone), '\0' };
	jnode_set_string(boot->identity, "device.slot_before", before);
	const char *successful = slot_fact(&phone->facts, "slot-successful", phone->slot);
	bool marked = successful && !strcmp(successful, "yes");
	if (active_slot(phone) != phone->slot || (!marked && !phone->settings->mark_successful)) {
		error = phone_activate(phone, phone->slot);
		if (error)
			return error;
	}
	const char *retries = slot_fact(&phone->facts, "slot-retry-count", phone->slot);
	jnode_set_string(boot->identity, "device.slot_retries", retries);
	AUTO_FREE char *exhausted = slot_exhausted(&phone->facts, phone->slot);
	if (!exhausted)
		return NULL;
	/* Set_active did not fill it up, and nothing marks it: one more boot may be the last. */
	if (phone->lane && !phone->lane->lost)
		phone->lane->lost = xasprintf("slot %c: %s", phone->slot, exhausted);
	return error_new(ERROR_LAB, "slot %c: %s", phone->slot, exhausted);
}

struct error *phone_mark_successful(struct phone *phone)
{
	AUTO_STRBUF out = STRBUF_INIT;
	int status = -1;

	if (!phone->settings->mark_successful || !phone->slot)
		return NULL;
	struct error *error = adb_shell(&phone->adb, true, "bootctl mark-boot-successful || qbootctl -m", &out, &status);
	if (error || !status)
		return error;
	return error_new(ERROR_LAB, "the boot cannot be marked successful: neither bootctl nor qbootctl did it");
}
