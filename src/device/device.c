/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/device.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "device/command.h"
#include "device/fastboot.h"
#include "device/lane.h"
#include "device/qemu.h"
#include "device/sim.h"

static const char *const status_names[] = {
	[BOOT_OK] = "ok",
	[BOOT_FAILED] = "boot-failed",
	[BOOT_VOID] = "void",
	[BOOT_LAB] = "lab",
};

static const char *const memcg_names[] = {
	[MEMCG_NONE] = "none",
	[MEMCG_DISABLED] = "disabled",
	[MEMCG_ON] = "on",
	[MEMCG_UNKNOWN] = "unknown",
};

const char *boot_status_name(enum boot_status status)
{
	return status_names[status];
}

bool boot_status_parse(const char *name, enum boot_status *status_out)
{
	for (size_t i = 0; i < ARRAY_SIZE(status_names); i++) {
		if (!strcmp(name, status_names[i])) {
			*status_out = (enum boot_status)i;
			return true;
		}
	}
	return false;
}

const char *memcg_state_name(enum memcg_state state)
{
	return memcg_names[state];
}

/* A reading is [NAME, ITERATION, VALUE, UNIT]. */
static struct jnode *readings_to_json(const struct boot_record *record)
{
	struct jnode *readings = jnode_array();

	for (size_t i = 0; i < record->n_readings; i++) {
		const struct reading *reading = &record->readings[i];
		struct jnode *item = jnode_array();
		jnode_append_string(item, reading->name);
		jnode_append_real(item, reading->iteration);
		jnode_append_real(item, reading->value);
		jnode_append_string(item, reading->unit);
		jnode_append(readings, item);
	}
	return readings;
}

static struct jnode *identity_copy(const struct jnode *identity)
{
	struct jnode *copy = jnode_object();

	for (const char *key = jnode_next_key(identity, NULL); key; key = jnode_next_key(identity, key))
		jnode_set_string(copy, key, jnode_string(identity, key, ""));
	return copy;
}

struct jnode *boot_record_to_json(const struct boot_record *record)
{
	struct jnode *json = jnode_object();

	jnode_set_string(json, "type", "boot");
	jnode_set_int(json, "id", record->id);
	jnode_set_string(json, "status", boot_status_name(record->status));
	jnode_set_string(json, "reason", record->reason);
	jnode_set_string(json, "boot_id", record->boot_id);
	jnode_set_string(json, "build_id", record->build_id);
	jnode_set_string(json, "booted_cmdline", record->booted_cmdline);
	jnode_set_string(json, "memcg", record->memcg);
	jnode_set_string(json, "cgroup", record->cgroup);
	jnode_set_int(json, "wall_ms", record->wall_ms);
	if (record->identity)
		jnode_set(json, "identity", identity_copy(record->identity));
	jnode_set(json, "readings", readings_to_json(record));
	return json;
}

static char *string_or_null(const struct jnode *json, const char *key)
{
	const char *value = jnode_string(json, key, NULL);

	return value ? xstrdup(value) : NULL;
}

static bool readings_from_json(const struct jnode *json, struct boot_record *record)
{
	const struct jnode *readings = jnode_get(json, "readings");
	size_t n = jnode_size(readings);

	record->readings = xcalloc(n + 1, sizeof(*record->readings));
	for (size_t i = 0; i < n; i++) {
		const struct jnode *item = jnode_item(readings, i);
		const char *name = jnode_item_string(item, 0);
		const char *unit = jnode_item_string(item, 3);
		if (jnode_size(item) != 4 || !name || !unit)
			return false;
		record->readings[record->n_readings++] = (struct reading){
			.name = xstrdup(name),
			.iteration = (int)jnode_item_real(item, 1),
			.value = jnode_item_real(item, 2),
			.unit = xstrdup(unit),
		};
	}
	return true;
}

struct error *boot_record_from_json(const struct jnode *json, struct boot_record **record_out)
{
	struct boot_record *record = xcalloc(1, sizeof(*record));
	int64_t id = jnode_int(json, "id", -1);

	record->id = (unsigned)id;
	record->reason = string_or_null(json, "reason");
	record->boot_id = string_or_null(json, "boot_id");
	record->build_id = string_or_null(json, "build_id");
	record->booted_cmdline = string_or_null(json, "booted_cmdline");
	record->memcg = string_or_null(json, "memcg");
	record->cgroup = string_or_null(json, "cgroup");
	record->wall_ms = jnode_int(json, "wall_ms", 0);
	const struct jnode *identity = jnode_get(json, "identity");
	if (jnode_is_object(identity))
		record->identity = identity_copy(identity);
	if (id < 0 || !boot_status_parse(jnode_string(json, "status", ""), &record->status) ||
	    !readings_from_json(json, record)) {
		boot_record_free(record);
		return error_new(ERROR_LAB, "a boot record cannot be read: id, status or readings are not as expected");
	}
	*record_out = record;
	return NULL;
}

void boot_record_drop_readings(struct boot_record *record)
{
	for (size_t i = 0; i < record->n_readings; i++) {
		free(record->readings[i].name);
		free(record->readings[i].unit);
	}
	free(record->readings);
	record->readings = NULL;
	record->n_readings = 0;
}

void boot_record_free(struct boot_record *record)
{
	if (!record)
		return;
	boot_record_drop_readings(record);
	free(record->reason);
	free(record->boot_id);
	free(record->build_id);
	free(record->booted_cmdline);
	free(record->memcg);
	free(record->cgroup);
	jnode_free(record->identity);
	free(record);
}

static const struct lane_ops *ops_of(const struct device_context *context)
{
	switch (context->profile->kind) {
	case DEVICE_SIM:
		return &sim_lane_ops;
	case DEVICE_FASTBOOT:
		return &fastboot_lane_ops;
	case DEVICE_COMMAND:
		return &command_lane_ops;
	case DEVICE_QEMU:
		break;
	}
	return &qemu_lane_ops;
}

struct error *device_run_block(const struct device_context *context, const struct boot_request *requests, size_t n,
			       boot_emit *emit, void *arg)
{
	return lane_run_block(ops_of(context), context, requests, n, emit, arg);
}

char *device_check(const struct device_context *context)
{
	return ops_of(context)->check(context);
}

struct error *device_version(const struct device_context *context, char **version_out)
{
	return ops_of(context)->version(context, version_out);
}

struct error *device_can_count(const struct device_context *context, bool *can_out)
{
	const struct lane_ops *ops = ops_of(context);

	*can_out = false;
	return ops->can_count && context->tcg_plugin ? ops->can_count(context, can_out) : NULL;
}

void preflight_deinit(struct preflight *preflight)
{
	for (size_t i = 0; i < preflight->n; i++) {
		free(preflight->findings[i].what);
		free(preflight->findings[i].text);
	}
	free(preflight->findings);
	free(preflight->state);
	*preflight = (struct preflight){ NULL, NULL, 0 };
}

struct error *device_preflight(const struct device_context *context, struct preflight *preflight_out)
{
	const struct lane_ops *ops = ops_of(context);

	*preflight_out = (struct preflight){ NULL, NULL, 0 };
	return ops->preflight ? ops->preflight(context, preflight_out) : NULL;
}

/* A serial may hold anything ("usb:1-2", "udp:127.0.0.1:5554"): what is no plain character becomes a dash, and a digest keeps two apart. */
static char *file_name_of(const char *serial)
{
	char hex[HASH_HEX_SIZE];
	AUTO_FREE char *plain = xstrdup(serial);

	hash_bytes(serial, strlen(serial), hex);
	for (char *c = plain; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '-';
	return strcmp(plain, serial) ? xasprintf("%.48s-%.8s", plain, hex) : xstrdup(plain);
}

char *device_lock_path(const char *locks_dir, const char *name, const struct profile *profile)
{
	if (profile->kind == DEVICE_QEMU && profile->exact)
		return NULL;
	bool by_serial = profile->kind == DEVICE_FASTBOOT && profile->fastboot.serial;
	AUTO_FREE char *plain = file_name_of(by_serial ? profile->fastboot.serial : name);
	AUTO_FREE char *file = xasprintf("device-%s", plain);

	return path_join(locks_dir, file);
}
