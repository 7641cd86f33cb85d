/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "run/attribution.h"
#include "run/job.h"

/* Time for the kernel's late boot work to end before the first sample. Under icount with sleep=off it costs no host time. */
#define SETTLE_MS 1000
#define MAX_ARCHIVES 2 /* that a boot takes along */

struct lane_work {
	const struct session *session;
	const struct job *job;
};

/* A file name for a boot's console: the variant's slashes and the like become dashes. */
static char *console_name(const struct session *session, const struct plan_boot *boot)
{
	const struct plan_row *row = &session->plan->rows[boot->row];
	const struct target *target = &session->plan->matrix->targets[row->target];
	char *name = xasprintf("console/%s-%s-%s-b%u.log", target->device->name, target->cores, row->name, boot->block);

	for (char *c = name + strlen("console/"); *c; c++)
		if (*c == '/' || *c == ' ')
			*c = '-';
	return name;
}

/* A device without images runs no kernel of ours: what it must prove instead is an id made of the row. */
static void made_up_build_id(const char *row, char hex_out[HASH_HEX_SIZE])
{
	hash_bytes(row, strlen(row), hex_out);
	hex_out[40] = '\0';
}

struct owned_request {
	struct boot_request request;
	char build_id[HASH_HEX_SIZE];
	char *console_path;
	char *counts_path; /* NULL: its blocks are not counted */
	char *vmlinux; /* NULL: the kernel came without */
	char *archives[MAX_ARCHIVES + 1]; /* as in request.archives */
};

/* Where a lane leaves what was counted in the boot; the caller frees. */
static char *counts_file(const struct job *job, size_t boot_index)
{
	return xasprintf("%s/counts-%zu", job->scratch, boot_index);
}

/* What workloads need on the device: it was there or was built when the boot was begun. */
static void find_archives(const struct session *session, const struct plan_row *row, struct owned_request *owned)
{
	size_t n = 0;

	if (row->image >= 0 && *session->prepared->images[row->image].selftests_key)
		owned->archives[n++] =
			selftests_path(session->prepared->cache, session->prepared->images[row->image].selftests_key);
	if (session->prepared->payload)
		owned->archives[n++] = xstrdup(session->prepared->payload);
	owned->archives[n] = NULL;
}

static void fill_request(const struct session *session, const struct job *job, size_t boot_index, struct owned_request *owned)
{
	const struct plan_boot *boot = session->boots[boot_index].plan;
	const struct plan_row *row = &session->plan->rows[boot->row];
	const struct image *image = row->image >= 0 ? session->images[row->image].image : NULL;
	AUTO_FREE char *console = console_name(session, boot);

	owned->console_path = path_join(session->dir, console);
	owned->counts_path = session->boots[boot_index].counted ? counts_file(job, boot_index) : NULL;
	owned->vmlinux = image ? path_join(image->dir, "vmlinux") : NULL;
	if (owned->vmlinux && !file_exists(owned->vmlinux)) {
		free(owned->vmlinux);
		owned->vmlinux = NULL;
	}
	made_up_build_id(row->name, owned->build_id);
	find_archives(session, row, owned);
	owned->request = (struct boot_request){
		.id = (unsigned)boot_index,
		.variant = row->name,
		.block = boot->block,
		.ordinal = (unsigned)boot->ordinal,
		.total = (unsigned)plan_target_boots(session->plan, row->target),
		.nuisance = boot->nuisance,
		.cores = session->plan->matrix->targets[row->target].cores,
		.config = session->plan->variants[row->variant].config->name,
		.config_text = image ? image->config_text : NULL,
		.vmlinux = owned->vmlinux,
		.release = image ? image->release : NULL,
		.kernel_file = image ? image->kernel_file : NULL,
		.image_sha256 = image ? image->image_sha256 : NULL,
		.cmdline = row->booted_cmdline,
		.build_id = image ? image->build_id : owned->build_id,
		.memcg = session_memcg(session, row),
		.workloads = session->workloads,
		.archives = (const char *const *)owned->archives,
		.console_path = owned->console_path,
		.counts_path = owned->counts_path,
		.settle_ms = image ? SETTLE_MS : 0,
	};
}

static struct error *send_boot(void *arg, const struct boot_record *boot)
{
	AUTO_JNODE record = jnode_object();

	jnode_set_string(record, "type", "boot");
	jnode_set(record, "boot", boot_record_to_json(boot));
	return worker_send(arg, record);
}

/* DIR/WHAT-DEVICE[-UNIT]SUFFIX in the run folder. */
static char *unit_path(const struct session *session, const struct session_device *unit, const char *what, const char *suffix)
{
	return xasprintf("%s/%s-%s%s%s%s", session->dir, what, unit->device->name, *unit->unit->name ? "-" : "", unit->unit->name,
			 suffix);
}

static struct error *lane_worker(struct worker_self *self, void *arg)
{
	const struct lane_work *work = arg;
	const struct session *session = work->session;
	const struct session_device *unit = &session->devices[work->job->device];
	const struct profile *profile = unit->unit->profile;
	AUTO_FREE char *locks = cache_path(session->prepared->cache, "locks");
	AUTO_FREE char *lock_path = device_lock_path(locks, unit->name, profile);
	AUTO_FREE char *journal = unit_path(session, unit, "journal", ".log");
	struct device_context context = {
		.name = unit->name,
		.profile = profile,
		.agent_arm64 = session->install->agent_arm64,
		.agent_host = session->install->agent_host,
		.tcg_plugin = session->install->tcg_plugin,
		.agent_sha256 = profile->kind == DEVICE_SIM ? session->agent_host_sha256 : session->agent_arm64_sha256,
		.scratch_dir = work->job->scratch,
		.lock_path = lock_path,
		.journal_path = journal,
		.guard = self->guard,
	};
	size_t n = work->job->n_boots;
	AUTO_FREE struct owned_request *owned = xcalloc(n, sizeof(*owned));
	AUTO_FREE struct boot_request *requests = xcalloc(n, sizeof(*requests));

	for (size_t i = 0; i < n; i++) {
		fill_request(session, work->job, work->job->boots[i], &owned[i]);
		requests[i] = owned[i].request;
	}
	struct error *error = device_run_block(&context, requests, n, send_boot, self);
	for (size_t i = 0; i < n; i++) {
		free(owned[i].console_path);
		free(owned[i].counts_path);
		free(owned[i].vmlinux);
		for (char **archive = owned[i].archives; *archive; archive++)
			free(*archive);
	}
	return error;
}

/* A folder of the device's in the run folder, and one of the lane's in that. */
static struct error *make_scratch(const struct session *session, size_t device, unsigned lane, char **dir_out)
{
	AUTO_FREE char *parent = unit_path(session, &session->devices[device], "scratch", "");
	char *dir = xasprintf("%s/%u", parent, lane);
	struct error *error = file_mkdirs(dir);

	if (error)
		free(dir);
	else
		*dir_out = dir;
	return error;
}

struct error *job_clear_scratch(const struct session *session)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < session->n_devices; i++) {
		AUTO_FREE char *dir = unit_path(session, &session->devices[i], "scratch", "");
		error = file_remove_tree(dir);
	}
	return error;
}

struct error *job_start_lane(const struct session *session, size_t device, unsigned lane, size_t *boots, size_t n_boots,
			     struct job **job_out)
{
	struct job *job = xcalloc(1, sizeof(*job));

	*job = (struct job){
		.kind = JOB_LANE, .device = device, .lane = lane, .boots = boots, .n_boots = n_boots, .started_ms = clock_ms()
	};
	struct lane_work work = { session, job };
	struct error *error = make_scratch(session, device, lane, &job->scratch);
	if (!error)
		error = worker_start(session->devices[device].name, lane_worker, &work, &job->worker);
	if (error) {
		job_free(job);
		return error;
	}
	*job_out = job;
	return NULL;
}

/* Readings of one workload and iteration, as the agent sent them, made into one sample. */
struct sample_list {
	struct stored_sample *items;
	size_t n;
};

static struct stored_sample *find_sample(struct sample_list *list, const char *label, size_t label_len, int iteration)
{
	for (size_t i = list->n; i-- > 0;)
		if (list->items[i].iteration == iteration && !strncmp(list->items[i].workload, label, label_len) &&
		    !list->items[i].workload[label_len])
			return &list->items[i];
	list->items = array_grow(list->items, list->n, sizeof(*list->items));
	list->items[list->n] = (struct stored_sample){ .workload = xstrndup(label, label_len), .iteration = iteration };
	return &list->items[list->n++];
}

static void add_reading(struct sample_list *list, const struct reading *reading)
{
	const char *dot = strchr(reading->name, '.');

	if (!dot)
		return;
	struct stored_sample *sample = find_sample(list, reading->name, (size_t)(dot - reading->name), reading->iteration);
	const char **names = array_grow((void *)sample->names, sample->n_readings, sizeof(*names));
	double *values = array_grow((void *)sample->values, sample->n_readings, sizeof(*values));
	names[sample->n_readings] = dot + 1;
	values[sample->n_readings] = reading->value;
	sample->names = names;
	sample->values = values;
	sample->n_readings++;
}

static void free_samples(struct sample_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free((void *)list->items[i].workload);
		free((void *)list->items[i].names);
		free((void *)list->items[i].values);
	}
	free(list->items);
}

static struct error *store_record(struct session *session, struct store *store, struct session_boot *boot,
				  const struct boot_record *record)
{
	struct sample_list samples = { NULL, 0 };
	AUTO_STRBUF identity = STRBUF_INIT;
	AUTO_FREE char *console = console_name(session, boot->plan);

	for (size_t i = 0; i < record->n_readings; i++)
		add_reading(&samples, &record->readings[i]);
	if (record->identity)
		jnode_write(record->identity, 0, &identity);
	struct stored_boot stored = {
		.row = (int64_t)boot->plan->row,
		.block = boot->plan->block,
		.validity = boot->validity,
		.status = boot_status_name(record->status),
		.reason = record->reason,
		.boot_id = record->boot_id,
		.build_id = record->build_id,
		.booted_cmdline = record->booted_cmdline,
		.memcg = record->memcg,
		.cgroup = record->cgroup,
		.identity = record->identity ? strbuf_str(&identity) : NULL,
		.console = console,
		.wall_ms = record->wall_ms,
		.utc_s = clock_utc_s(),
		.samples = record->status == BOOT_OK ? samples.items : NULL,
		.n_samples = record->status == BOOT_OK ? samples.n : 0,
	};
	struct error *error = store_put_boot(store, &stored);
	free_samples(&samples);
	if (!error)
		boot->state = BOOT_DONE;
	return error;
}

/* A boot whose instructions cannot be told apart by function is a good boot all the same. */
static struct error *store_counted(struct session *session, struct store *store, const struct job *job,
				   const struct session_boot *boot)
{
	const struct plan_row *row = &session->plan->rows[boot->plan->row];
	const struct image *image = session->images[row->image].image;
	AUTO_FREE char *counts = counts_file(job, (size_t)(boot - session->boots));
	AUTO_FREE char *symbols = path_join(image->dir, "System.map");
	const struct attribution attribution = { counts, symbols };
	struct error *error = attribution_store(store, (int64_t)boot->plan->row, boot->plan->block, &attribution);

	unlink(counts);
	if (!error || error_kind(error) == ERROR_INTERRUPTED)
		return error;
	log_warning("%s: where its instructions went is not known: %s", row->name, error_message(error));
	error_free(error);
	return NULL;
}

struct new_record {
	struct session *session;
	const struct job *job;
	struct session_boot *boot;
	const struct boot_record *record;
};

static struct error *store_whole(struct store *store, void *arg)
{
	const struct new_record *new = arg;
	struct error *error = store_record(new->session, store, new->boot, new->record);

	if (error || !new->boot->counted || new->record->status != BOOT_OK)
		return error;
	return store_counted(new->session, store, new->job, new->boot);
}

/* A boot's identity says which unit it ran on, where there are several. */
static struct error *store_on_unit(struct session *session, struct store *store, const struct job *job,
				   struct boot_record *record)
{
	const struct session_device *device = &session->devices[job->device];
	struct session_boot *boot = &session->boots[record->id];

	if (!record->identity)
		record->identity = jnode_object();
	if (*device->unit->name)
		jnode_set_string(record->identity, "unit", device->unit->name);
	free(boot->unit);
	boot->unit = xstrdup(device->unit->name);
	struct new_record new = { session, job, boot, record };
	return store_group(store, store_whole, &new);
}

struct error *job_lane_record(struct session *session, struct store *store, const struct job *job, const struct jnode *record)
{
	if (strcmp(jnode_string(record, "type", ""), "boot"))
		return NULL;
	struct boot_record *boot = NULL;
	struct error *error = boot_record_from_json(jnode_get(record, "boot"), &boot);
	if (error)
		return error;
	bool ours = false;
	for (size_t i = 0; i < job->n_boots; i++)
		ours = ours || job->boots[i] == boot->id;
	if (ours)
		error = store_on_unit(session, store, job, boot);
	else
		error = error_new(ERROR_LAB, "device lane '%s' sent a boot that nobody asked for", worker_name(job->worker));
	boot_record_free(boot);
	return error;
}

struct error *store_unbooted(struct session *session, struct store *store, struct session_boot *boot, enum boot_status status,
			     const char *reason)
{
	struct boot_record record = { .status = status, .reason = (char *)reason };

	return store_record(session, store, boot, &record);
}
