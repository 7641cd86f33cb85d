/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"

enum memcg_state session_memcg(const struct session *session, const struct plan_row *row)
{
	const struct plan_variant *variant = &session->plan->variants[row->variant];
	const char *config = NULL;

	if (row->image >= 0) {
		const struct prepared_image *prepared = &session->prepared->images[row->image];
		const struct session_image *image = &session->images[row->image];
		if (prepared->config)
			config = prepared->config->text;
		else if (image->image)
			config = image->image->config_text;
		if (!config)
			return MEMCG_UNKNOWN;
	} else if (session->plan->matrix->targets[row->target].device->profile->stock) {
		/* Of the device's own kernel the matrix knows nothing. Android's have it, and the command line decides. */
		config = "CONFIG_MEMCG=y\n";
	}
	return expected_memcg(config, variant->config->fragment, row->booted_cmdline);
}

const struct session_device *session_device_of(const struct session *session, const struct plan_row *row)
{
	const struct device *device = session->plan->matrix->targets[row->target].device;

	for (size_t i = 0; i < session->n_devices; i++)
		if (session->devices[i].device == device)
			return &session->devices[i];
	return NULL;
}

static struct error *add_unit(struct session *session, const struct device *device, const struct unit *unit, struct guard guard)
{
	session->devices = array_grow(session->devices, session->n_devices, sizeof(*session->devices));
	struct session_device *entry = &session->devices[session->n_devices++];

	*entry = (struct session_device){ .device = device, .unit = unit };
	entry->name = *unit->name ? xasprintf("%s/%s", device->name, unit->name) : xstrdup(device->name);
	struct device_context context = {
		.name = entry->name, .profile = unit->profile, .tcg_plugin = session->install->tcg_plugin, .guard = guard
	};
	struct error *error = device_version(&context, &entry->version);
	if (!error)
		error = device_can_count(&context, &entry->counts);
	return error_wrap(error, "device '%s'", entry->name);
}

static struct error *find_devices(struct session *session, struct guard guard)
{
	const struct matrix *matrix = session->plan->matrix;
	struct error *errors = NULL;

	for (size_t i = 0; i < matrix->n_targets; i++) {
		const struct device *device = matrix->targets[i].device;
		bool known = false;
		for (size_t k = 0; k < session->n_devices; k++)
			known = known || session->devices[k].device == device;
		for (size_t k = 0; !known && k < device->n_units; k++)
			error_join(&errors, add_unit(session, device, &device->units[k], guard));
	}
	return errors;
}

static struct error *hash_agent(const struct plan *plan, enum device_kind kind, bool other, const char *path,
				char hex_out[HASH_HEX_SIZE])
{
	hex_out[0] = '\0';
	for (size_t i = 0; i < plan->matrix->n_targets; i++)
		if ((plan->matrix->targets[i].device->profile->kind == kind) != other)
			return hash_file(path, hex_out);
	return NULL;
}

static struct error *hash_plugin(struct session *session)
{
	for (size_t i = 0; i < session->n_devices; i++)
		if (session->devices[i].counts)
			return hash_file(session->install->tcg_plugin, session->tcg_plugin_sha256);
	return NULL;
}

static void compute_validity(struct session *session, struct session_boot *boot)
{
	const struct plan_row *row = &session->plan->rows[boot->plan->row];
	const struct session_device *device = session_device_of(session, row);
	bool sim = device->device->profile->kind == DEVICE_SIM;
	boot->counted = device->counts && !boot->plan->block;
	struct validity_input input = {
		.image_key = row->image >= 0 ? session->prepared->images[row->image].key : NULL,
		.variant = row->name,
		.cmdline = row->booted_cmdline,
		.profile_digest = device->device->profile->digest,
		.device_version = device->version,
		.agent_sha256 = sim ? session->agent_host_sha256 : session->agent_arm64_sha256,
		.workloads = session->workloads,
		.selftests = row->image >= 0 ? session->prepared->images[row->image].selftests_key : NULL,
		.payload = session->prepared->payload_digest,
		.nuisance = boot->plan->nuisance,
		.counted_by = boot->counted ? session->tcg_plugin_sha256 : NULL,
		.memcg = session_memcg(session, row),
	};
	validity_digest(&input, boot->validity);
}

static void compute_digest(struct session *session)
{
	struct hash *hash = hash_new();

	hash_field(hash, "plan", session->plan->digest);
	for (size_t i = 0; i < session->plan->n_boots; i++)
		hash_field(hash, "boot", session->boots[i].validity);
	hash_finish(hash, session->digest);
	session->digest[12] = '\0';
}

struct error *session_init(struct session *session, const struct plan *plan, const struct prepared *prepared,
			   const struct install *install, struct guard guard)
{
	*session = (struct session){ .plan = plan, .prepared = prepared, .install = install };
	session->images = xcalloc(plan->n_images, sizeof(*session->images));
	session->boots = xcalloc(plan->n_boots, sizeof(*session->boots));
	session->targets = xcalloc(plan->matrix->n_targets, sizeof(*session->targets));
	for (size_t i = 0; i < plan->matrix->n_targets; i++)
		session->targets[i].blocks = plan_blocks(plan->matrix, i);
	session->workloads = workload_settings(plan->matrix);
	struct error *error = find_devices(session, guard);
	if (!error)
		error = hash_agent(plan, DEVICE_SIM, true, install->agent_arm64, session->agent_arm64_sha256);
	if (!error)
		error = hash_agent(plan, DEVICE_SIM, false, install->agent_host, session->agent_host_sha256);
	if (!error)
		error = hash_plugin(session);
	for (size_t i = 0; i < plan->n_images; i++) {
		session->images[i].image = prepared->images[i].image;
		bool tested = !*prepared->images[i].selftests_key || prepared->images[i].selftests;
		session->images[i].state = session->images[i].image && tested ? IMAGE_READY : IMAGE_WAITING;
	}
	if (error) {
		session_deinit(session);
		return error;
	}
	for (size_t i = 0; i < plan->n_boots; i++) {
		session->boots[i].plan = &plan->boots[i];
		compute_validity(session, &session->boots[i]);
	}
	compute_digest(session);
	return NULL;
}

void session_deinit(struct session *session)
{
	for (size_t i = 0; session->images && i < session->plan->n_images; i++)
		image_free(session->images[i].built);
	free(session->images);
	for (size_t i = 0; session->boots && i < session->plan->n_boots; i++)
		free(session->boots[i].unit);
	free(session->boots);
	free(session->targets);
	for (size_t i = 0; i < session->n_devices; i++) {
		free(session->devices[i].name);
		free(session->devices[i].version);
		free(session->devices[i].lost);
	}
	free(session->devices);
	free(session->workloads);
	free(session->dir);
	*session = (struct session){ .plan = NULL };
}

size_t session_owed(const struct session *session)
{
	size_t owed = 0;

	for (size_t i = 0; i < session->plan->n_boots; i++)
		owed += session->boots[i].state == BOOT_OWED || session->boots[i].state == BOOT_RUNNING;
	return owed;
}

static struct session_boot *find_boot(struct session *session, int64_t row, int64_t block)
{
	for (size_t i = 0; i < session->plan->n_boots; i++)
		if ((int64_t)session->boots[i].plan->row == row && (int64_t)session->boots[i].plan->block == block)
			return &session->boots[i];
	return NULL;
}

/* What a stored boot says of the unit that it ran on. */
static char *unit_of(const char *identity)
{
	AUTO_JNODE all = NULL;
	AUTO_ERROR unreadable = identity ? jnode_parse(identity, strlen(identity), "identity", &all) : NULL;

	return xstrdup(all && !unreadable ? jnode_string(all, "unit", "") : "");
}

static struct error *mark_stored(void *arg, const struct stored_boot *stored)
{
	struct session *session = arg;
	struct session_boot *boot = find_boot(session, stored->row, stored->block);

	if (boot && !strcmp(stored->status, boot_status_name(BOOT_OK)) && !strcmp(stored->validity, boot->validity)) {
		boot->state = BOOT_DONE;
		free(boot->unit);
		boot->unit = unit_of(stored->identity);
	}
	return NULL;
}

struct error *session_mark_stored(struct session *session, struct store *store)
{
	return store_each_boot(store, false, mark_stored, session);
}

struct adoption {
	struct session *session;
	struct store *store;
	struct store *earlier;
	const char *dir; /* the earlier run's folder */
	size_t adopted;
};

/* A boot of an earlier run, as it is to be stored in this one. */
struct boot_copy {
	struct store *earlier;
	int64_t earlier_row;
	struct store *to;
	const struct stored_boot *boot;
};

static struct error *copy_counts(void *arg, const struct stored_counts *counts)
{
	const struct boot_copy *copy = arg;

	return store_put_counts(copy->to, copy->boot->row, copy->boot->block, counts, 1);
}

static struct error *copy_boot(struct store *store, void *arg)
{
	struct boot_copy *copy = arg;
	struct error *error = store_put_boot(store, copy->boot);

	return error ? error : store_each_counts(copy->earlier, copy->earlier_row, copy->boot->block, copy_counts, copy);
}

/* The console file moves along by name, relative to this run's folder. */
static char *console_from(const struct adoption *adoption, const char *console)
{
	if (!console)
		return NULL;
	return *console == '/' || str_starts(console, "../") ? xstrdup(console)
							     : xasprintf("../%s/%s", path_basename(adoption->dir), console);
}

static struct error *adopt_boot(void *arg, const struct stored_boot *stored)
{
	struct adoption *adoption = arg;
	const struct plan *plan = adoption->session->plan;

	if (strcmp(stored->status, boot_status_name(BOOT_OK)))
		return NULL;
	for (size_t i = 0; i < plan->n_boots; i++) {
		struct session_boot *boot = &adoption->session->boots[i];
		if (!boot->plan->nuisance)
			continue;
		if (boot->state == BOOT_DONE || strcmp(boot->validity, stored->validity) || boot->plan->block != stored->block)
			continue;
		struct stored_boot copy = *stored;
		AUTO_FREE char *console = console_from(adoption, stored->console);
		copy.row = (int64_t)boot->plan->row;
		copy.console = console;
		struct boot_copy whole = { adoption->earlier, stored->row, adoption->store, &copy };
		struct error *error = adoption->store ? store_group(adoption->store, copy_boot, &whole) : NULL;
		if (error)
			return error;
		boot->state = BOOT_DONE;
		adoption->adopted++;
	}
	return NULL;
}

struct error *session_adopt(struct session *session, struct store *store, const struct strlist *earlier_dirs)
{
	for (size_t i = 0; i < earlier_dirs->n && session_owed(session); i++) {
		AUTO_FREE char *path = path_join(earlier_dirs->items[i], "run.db");
		AUTO_STORE earlier = NULL;
		AUTO_ERROR unreadable = store_open_readonly(path, &earlier);
		if (unreadable) {
			log_debug("nothing taken from %s: %s", path, error_message(unreadable));
			continue;
		}
		struct adoption adoption = { session, store, earlier, earlier_dirs->items[i], 0 };
		struct error *error = store_each_boot(earlier, true, adopt_boot, &adoption);
		if (error)
			return error;
		if (adoption.adopted && store)
			log_info("%zu boots taken from %s: nothing that they depend on has changed", adoption.adopted,
				 path_basename(earlier_dirs->items[i]));
	}
	return NULL;
}
