/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "device/collect.h"
#include "device/console.h"
#include "device/settings.h"

/* How long another run may have the device before this one gives up, and how often the guard is looked at meanwhile. */
#define LOCK_WAIT_MS 600000
#define LOCK_SLICE_MS 250
#define LOCK_MAX_UNEXPLAINED 3
/* How long an agent's last words, a dying kernel's or a power-off may take. */
#define SETTLE_MS 5000
#define POWER_OFF_MS 5000
/* A bad kernel is bad twice; a void boot is tried once more. */
#define RETRIES_OF_FAILED 1
#define RETRIES_OF_VOID 1
/* How much longer everything may take while blocks are counted; seen: 1.2. */
#define COUNTING_SLOWDOWN 4
/* A device that can be lost is given up when the lab's faults end so many requests in a row, or all of a block. */
#define GIVE_UP_AFTER 3

/* A block as it goes on. */
struct block {
	const struct lane_ops *ops;
	const struct device_context *context;
	struct lane_session session;
	struct strlist boot_ids;
	size_t n_requests;
	unsigned n_lab; /* requests in a row, up to the last one, that the lab's faults ended */
	char *given_up; /* why the device is tried no more, though it may answer; NULL while it is */
};

static void set_outcome(struct boot_record *record, enum boot_status status, char *reason)
{
	record->status = status;
	record->reason = reason;
}

/* Turns a step's error into the lab's fault; what is left is an interruption. */
static struct error *blame_lab(struct error *error, struct boot_record *record)
{
	if (!error || error_kind(error) == ERROR_INTERRUPTED)
		return error;
	free(record->reason);
	set_outcome(record, BOOT_LAB, xstrdup(error_message(error)));
	error_free(error);
	return NULL;
}

/* Proves right before the boot that the file is the one that was built, and can be told from others once it runs; *good_out tells. */
static struct error *check_image(const struct boot_request *request, struct boot_record *record, bool *good_out)
{
	char found[HASH_HEX_SIZE];

	*good_out = true;
	if (!request->kernel_file || !request->image_sha256)
		return NULL;
	struct error *error = hash_file(request->kernel_file, found);
	if (error)
		return error;
	*good_out = request->build_id && !strcmp(found, request->image_sha256);
	if (!request->build_id) {
		set_outcome(record, BOOT_VOID,
			    xasprintf("the build id of %s is not known: no kernel could be proved to be it",
				      request->kernel_file));
	} else if (!*good_out) {
		set_outcome(record, BOOT_VOID,
			    xasprintf("another Image than the one that was built: sha256 of %s is %s, expected %s",
				      request->kernel_file, found, request->image_sha256));
	}
	return NULL;
}

struct error *lane_check_agent(const struct device_context *context, const char *path)
{
	char found[HASH_HEX_SIZE];
	struct error *error = context->agent_sha256 ? hash_file(path, found) : NULL;

	if (error || !context->agent_sha256 || !strcmp(found, context->agent_sha256))
		return error;
	return error_new(
		ERROR_LAB,
		"the agent %s was replaced while the run went on (its sha256 is %.16s, at the start it was %.16s): start the "
		"run again",
		path, found, context->agent_sha256);
}

static struct error *open_keep(const char *path, int *fd_out)
{
	AUTO_FREE char *dir = path_dirname(path);
	struct error *error = file_mkdirs(dir);

	if (error)
		return error;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_os(errno, "cannot write %s", path);
	*fd_out = fd;
	return NULL;
}

/* What the console's end says when the agent did not finish and no panic tells why. */
static char *describe_stop(const struct console *console, enum console_stop stop, const struct profile *profile)
{
	AUTO_STRBUF reason = STRBUF_INIT;
	double boot_s = (double)profile->boot_timeout_ms / 1000;
	double silence_s = (double)profile->silence_timeout_ms / 1000;
	double run_s = (double)profile->run_timeout_ms / 1000;

	if (stop == CONSOLE_CLOSED)
		strbuf_addf(&reason, "the kernel powered off before the agent had %s", console->hello ? "finished" : "started");
	else if (!console->n_bytes)
		strbuf_addf(&reason, "hang: nothing at all on the console for %g s", silence_s < boot_s ? silence_s : boot_s);
	else if (stop == CONSOLE_SILENT)
		strbuf_addf(&reason, "hang: nothing more on the console for %g s", silence_s);
	else if (stop == CONSOLE_NO_HELLO)
		strbuf_addf(&reason, "hang: no word from the agent within %g s", boot_s);
	else
		strbuf_addf(&reason, "hang: the agent had not finished after %g s", run_s);
	if (console->last_line)
		strbuf_addf(&reason, ", last line \"%s\"", console->last_line);
	else if (stop == CONSOLE_CLOSED)
		strbuf_adds(&reason, ", nothing on the console");
	return strbuf_steal(&reason);
}

/*
 * Who is to blame. The kernel, when it says so itself; the lab, when what carries the machine failed or the console lost what
 * the agent said; the kernel again, when it went silent or off on a machine that works.
 */
static void judge(const struct console *console, enum console_stop stop, const struct lane_ending *ending,
		  const struct profile *profile, const struct collect_expected *expected, struct boot_record *record)
{
	char *death = console_death(console);
	/* All records are printed before the first END, so a second copy means that only END was lost. */
	bool spoke_to_the_end = console->n_ends || console->n_repeats;

	collect_record(console, expected, record);
	if (!death && (console_complete(console) || (spoke_to_the_end && !ending->failed)))
		return;
	free(record->reason);
	if (death)
		set_outcome(record, BOOT_FAILED, death);
	else if (ending->failed)
		set_outcome(record, BOOT_LAB, xstrdup(ending->message ? ending->message : "the device failed"));
	else if (ending->death)
		set_outcome(record, BOOT_FAILED, xstrdup(ending->death));
	else
		set_outcome(record, BOOT_FAILED, describe_stop(console, stop, profile));
	boot_record_drop_readings(record);
}

/* What the steps found out belongs to what the agent said of itself. */
static void tell_identity(const struct jnode *told, struct boot_record *record)
{
	if (!record->identity)
		record->identity = jnode_object();
	for (const char *key = jnode_next_key(told, NULL); key; key = jnode_next_key(told, key))
		jnode_set_string(record->identity, key, jnode_string(told, key, ""));
}

/* Boots, listens and switches off; `record` tells how it went. */
static struct error *run_steps(struct block *block, struct lane_boot *boot, struct boot_record *record)
{
	const struct profile *profile = block->context->profile;
	const struct lane_ops *ops = block->ops;
	AUTO_CONSOLE console = console_new(boot->cmdline);
	AUTO_CLOSE int keep_fd = -1;
	int console_fd = -1;
	enum console_stop stop = CONSOLE_CLOSED;
	struct lane_ending ending = { 0 };

	struct error *error = open_keep(boot->request->console_path, &keep_fd);
	if (error)
		return error;
	error = ops->deploy(boot);
	if (!error)
		error = ops->boot(boot);
	if (!error)
		error = ops->console(boot, &console_fd);
	if (!error) {
		const int64_t slower = boot->request->counts_path ? COUNTING_SLOWDOWN : 1;
		struct console_limits limits = {
			.hello_deadline_ms = clock_deadline(profile->boot_timeout_ms * slower),
			.run_deadline_ms = clock_deadline(profile->run_timeout_ms * slower),
			.silence_ms = profile->silence_timeout_ms * slower,
			.settle_ms = SETTLE_MS,
			.goes_on = ops->console_goes_on,
		};
		error = console_read(console, console_fd, keep_fd, &limits, block->context->guard, &stop);
	}
	boot->finished = !error && console->n_ends > 0;
	boot->heard = console->n_bytes > 0;
	ops->power(boot, !error && stop == CONSOLE_CLOSED ? POWER_OFF_MS : 0, &ending);
	if (!error) {
		struct collect_expected expected = {
			.build_id = boot->build_id[0] ? boot->build_id : boot->request->build_id,
			.cmdline = boot->cmdline,
			.match = profile->cmdline_match,
			.memcg = boot->request->memcg,
			.nonce = boot->nonce,
			.boot_ids = ops->boot_id_repeats && profile->exact ? NULL : &block->boot_ids,
		};
		judge(console, stop, &ending, profile, &expected, record);
	}
	tell_identity(boot->identity, record);
	free(ending.message);
	free(ending.death);
	return error;
}

/* One attempt at a request. *record_out is set unless it was interrupted. */
static struct error *attempt_boot(struct block *block, const struct boot_request *request, unsigned attempt,
				  struct boot_record **record_out)
{
	AUTO_FREE char *name = xasprintf("boot-%u-%u", request->id, attempt);
	AUTO_FREE char *dir = path_join(block->context->scratch_dir, name);
	AUTO_FREE char *cmdline = settings_pad_cmdline(request->cmdline, request->nuisance ? request->nuisance->pad : 0);
	AUTO_JNODE identity = jnode_object();
	struct boot_record *record = xcalloc(1, sizeof(*record));
	struct lane_boot boot = {
		.session = &block->session,
		.context = block->context,
		.request = request,
		.attempt = attempt,
		.cmdline = cmdline,
		.dir = dir,
		.boot_ids = &block->boot_ids,
		.identity = identity,
	};
	int64_t started = clock_ms();
	bool good = false;

	record->id = request->id;
	struct error *error = check_image(request, record, &good);
	if (!error && good)
		error = file_mkdirs(dir);
	if (!error && good)
		error = run_steps(block, &boot, record);
	error = blame_lab(error, record);
	error_free(file_remove_tree(dir));
	record->wall_ms = clock_ms() - started;
	if (error) {
		boot_record_free(record);
		return error;
	}
	if (record->boot_id)
		strlist_add(&block->boot_ids, record->boot_id);
	*record_out = record;
	return NULL;
}

/* How often a request is tried again after an outcome. */
static unsigned retries_of(enum boot_status status, const struct profile *profile)
{
	switch (status) {
	case BOOT_FAILED:
		return RETRIES_OF_FAILED;
	case BOOT_VOID:
		return RETRIES_OF_VOID;
	case BOOT_LAB:
		return profile->retries;
	case BOOT_OK:
		break;
	}
	return 0;
}

/* The console of an attempt that is not the last gets a name of its own. */
static struct error *set_console_aside(const struct boot_request *request, unsigned attempt)
{
	AUTO_FREE char *aside = xasprintf("%s.attempt%u", request->console_path, attempt);

	return file_exists(request->console_path) ? file_rename(request->console_path, aside) : NULL;
}

/* Says in the final record what came before: in its reason how often, in its identity what. */
static void tell_history(struct boot_record *record, const struct strlist *earlier, unsigned n_same)
{
	if (!record->identity)
		record->identity = jnode_object();
	for (size_t i = 0; i < earlier->n; i++) {
		AUTO_FREE char *key = xasprintf("attempt.%zu", i);
		jnode_set_string(record->identity, key, earlier->items[i]);
	}
	if (!record->reason || n_same < 2)
		return;
	AUTO_FREE char *reason = record->reason;
	record->reason = n_same == 2 ? xasprintf("twice: %s", reason) : xasprintf("%u times: %s", n_same, reason);
}

static struct error *lost_error(const struct block *block)
{
	return error_new(ERROR_LAB, "device %s cannot be used any more: %s", block->context->name,
			 block->session.lost ? block->session.lost : block->given_up);
}

/* A device that has failed all it was asked for of late is left to another. */
static bool gives_up(struct block *block, const struct boot_record *record)
{
	block->n_lab = record->status == BOOT_LAB ? block->n_lab + 1 : 0;
	if (!block->ops->begin || !block->n_lab || (block->n_lab < GIVE_UP_AFTER && block->n_lab < block->n_requests))
		return false;
	free(block->given_up);
	block->given_up = block->n_lab == 1
				  ? xstrdup(record->reason)
				  : xasprintf("%u boots in a row failed, the last one %s", block->n_lab, record->reason);
	return true;
}

static struct error *run_request(struct block *block, const struct boot_request *request, boot_emit *emit, void *arg)
{
	AUTO_STRLIST earlier = { NULL, 0 };
	unsigned n_outcomes[BOOT_LAB + 1] = { 0 };

	for (unsigned attempt = request->attempt;; attempt++) {
		struct boot_record *record = NULL;
		struct error *error = attempt_boot(block, request, attempt, &record);
		if (error)
			return error;
		if (block->session.lost && record->status == BOOT_LAB) {
			/* Another device can still make this boot. */
			boot_record_free(record);
			return lost_error(block);
		}
		unsigned n_same = ++n_outcomes[record->status];
		if (record->status == BOOT_OK || block->session.lost ||
		    n_same > retries_of(record->status, block->context->profile)) {
			tell_history(record, &earlier, n_same);
			error = gives_up(block, record) ? lost_error(block) : emit(arg, record);
			boot_record_free(record);
			return error;
		}
		log_info("%s on %s: %s: %s; trying again", request->variant, block->context->name,
			 boot_status_name(record->status), record->reason);
		strlist_addf(&earlier, "%s: %s", boot_status_name(record->status), record->reason);
		boot_record_free(record);
		error = set_console_aside(request, attempt);
		if (error)
			return error;
	}
}

/* Waits for the device in slices, so that an interruption is seen. */
static struct error *take_lock(const struct device_context *context, struct lock **lock_out)
{
	AUTO_FREE char *holder = xasprintf("memcg-ab booting on %s, pid %d", context->name, (int)getpid());
	int64_t deadline = clock_deadline(LOCK_WAIT_MS);
	unsigned n_unexplained = 0;

	for (bool told = false;; told = true) {
		struct error *error = guard_check(context->guard);
		if (error)
			return error;
		error = lock_take(context->lock_path, holder, clock_deadline(LOCK_SLICE_MS), lock_out);
		if (!error)
			return NULL;
		/* No holder: it has just gone, or the lock itself cannot be had. */
		AUTO_FREE char *present = lock_holder(context->lock_path);
		n_unexplained += !present;
		if (n_unexplained == LOCK_MAX_UNEXPLAINED || clock_ms() >= deadline)
			return error_wrap(error, "device %s is not free", context->name);
		if (!told)
			log_info("waiting for device %s: %s", context->name, error_message(error));
		error_free(error);
	}
}

static struct error *run_requests(struct block *block, const struct boot_request *requests, size_t n, boot_emit *emit, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		struct error *error = run_request(block, &requests[i], emit, arg);
		if (error)
			return error;
		if (block->session.lost && i + 1 < n)
			return lost_error(block);
	}
	return NULL;
}

/* The device is proved to be usable first, and left as it was found. */
static struct error *run_session(struct block *block, const struct boot_request *requests, size_t n, boot_emit *emit, void *arg)
{
	const struct lane_ops *ops = block->ops;
	struct error *error = ops->begin ? ops->begin(&block->session) : NULL;

	if (error)
		error = error_wrap(error, "device %s", block->context->name);
	else
		error = run_requests(block, requests, n, emit, arg);
	struct error *end_error = ops->end ? ops->end(&block->session) : NULL;
	if (!end_error)
		return error;
	end_error = error_wrap(end_error, "device %s was not left as it was found", block->context->name);
	if (!error)
		return end_error;
	error_note(error, NO_POS, "%s", error_message(end_error));
	error_free(end_error);
	return error;
}

struct error *lane_run_block(const struct lane_ops *ops, const struct device_context *context,
			     const struct boot_request *requests, size_t n, boot_emit *emit, void *arg)
{
	struct block block = { .ops = ops, .context = context, .session = { .context = context }, .n_requests = n };
	AUTO_FREE char *unusable = ops->check(context);
	AUTO_LOCK lock = NULL;

	if (unusable[0])
		return error_new(ERROR_LAB, "device %s cannot be used: %s", context->name, unusable);
	struct error *error = context->lock_path ? take_lock(context, &lock) : NULL;
	if (!error)
		error = run_session(&block, requests, n, emit, arg);
	free(block.session.lost);
	free(block.given_up);
	strlist_deinit(&block.boot_ids);
	return error;
}
