/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run.h"
#include "run/image_evidence.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "run/job.h"
#include "run/progress.h"

#define TICK_MS 200
/* A new build folder with its work tree, and one more image. */
#define BUILD_ROOM_BYTES (2ULL << 30)

struct runner {
	struct session *session;
	struct store *store;
	stage_decide_fn *decide;
	enum verify verify;
	bool no_build;
	struct guard guard;
	struct progress progress;
	struct job **jobs;
	size_t n_jobs;
	struct error *failed; /* what is worth telling the user at the end of a build */
	int64_t worker_cpu_ms; /* of the workers themselves, not of what they executed */
	int64_t worker_rss_kb; /* the largest */
};

static bool image_wanted(const struct runner *runner, size_t image)
{
	if (!runner->store)
		return true;
	for (size_t i = 0; i < runner->session->plan->n_boots; i++) {
		const struct session_boot *boot = &runner->session->boots[i];
		if (boot->state == BOOT_OWED && runner->session->plan->rows[boot->plan->row].image == (ssize_t)image)
			return true;
	}
	return false;
}

static size_t count_jobs(const struct runner *runner, enum job_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < runner->n_jobs; i++)
		n += runner->jobs[i]->kind == kind;
	return n;
}

static void add_job(struct runner *runner, struct job *job)
{
	runner->jobs = array_grow(runner->jobs, runner->n_jobs, sizeof(*runner->jobs));
	runner->jobs[runner->n_jobs++] = job;
}

static bool folder_in_use(const struct runner *runner, const char *folder)
{
	for (size_t i = 0; i < runner->n_jobs; i++)
		if (runner->jobs[i]->kind == JOB_BUILD &&
		    !strcmp(runner->session->prepared->images[runner->jobs[i]->image].build_folder, folder))
			return true;
	return false;
}

static struct error *make_room(const struct runner *runner)
{
	const struct prepared *prepared = runner->session->prepared;
	AUTO_STRLIST keep = { NULL, 0 };

	for (size_t i = 0; i < runner->session->plan->n_images; i++)
		strlist_add(&keep, prepared->images[i].key);
	return cache_make_room(prepared->cache, BUILD_ROOM_BYTES, &keep);
}

static struct error *store_image(struct runner *runner, size_t index, const char *status, const char *reason)
{
	const struct session_image *image = &runner->session->images[index];
	AUTO_JNODE detail = jnode_object();
	AUTO_STRBUF text = STRBUF_INIT;

	if (!runner->store)
		return NULL;
	if (image->image) {
		jnode_set_string(detail, "build_id", image->image->build_id);
		jnode_set_string(detail, "image_sha256", image->image->image_sha256);
		jnode_set_string(detail, "config_sha256", image->image->config_sha256);
		jnode_set_string(detail, "tree", image->image->tree);
		jnode_set_string(detail, "toolchain", image->image->toolchain);
		jnode_set_string(detail, "release", image->image->release);
	}
	jnode_set_int(detail, "build_ms", image->build_ms);
	if (image->image) {
		struct error *error = image_evidence(runner->session, index, detail);
		if (error)
			return error;
	}
	jnode_write(detail, 0, &text);
	struct stored_image stored = { runner->session->prepared->images[index].key, status, reason, strbuf_str(&text) };
	return store_put_image(runner->store, &stored);
}

/* The kernel cannot be had: its boots are not owed any more, its rows say why. */
static struct error *fail_image(struct runner *runner, size_t index, struct error *why)
{
	const char *subject = runner->session->prepared->images[index].subject;
	struct error *error =
		store_image(runner, index, error_kind(why) == ERROR_LAB ? "lab" : "build-failed", error_message(why));

	runner->session->images[index].state = IMAGE_FAILED;
	for (size_t i = 0; i < runner->session->plan->n_boots; i++)
		if (runner->session->plan->rows[runner->session->boots[i].plan->row].image == (ssize_t)index)
			runner->session->boots[i].state = BOOT_DONE;
	progress_clear(&runner->progress);
	log_error("%s: %s", subject, error_message(why));
	error_join(&runner->failed, error_wrap(why, "%s", subject));
	return error;
}

static struct error *start_builds(struct runner *runner)
{
	const struct plan *plan = runner->session->plan;
	struct error *error = NULL;

	for (size_t i = 0; !error && i < plan->n_images; i++) {
		struct session_image *image = &runner->session->images[i];
		const struct prepared_image *prepared = &runner->session->prepared->images[i];
		if (image->state != IMAGE_WAITING || !image_wanted(runner, i))
			continue;
		if (runner->no_build) {
			error = fail_image(runner, i, error_new(ERROR_LAB, "not in the cache, and --no-build was given"));
			continue;
		}
		if (count_jobs(runner, JOB_BUILD) >= plan->matrix->lab->build_parallel ||
		    folder_in_use(runner, prepared->build_folder))
			continue;
		struct job *job = NULL;
		error = make_room(runner);
		if (!error)
			error = job_start_build(runner->session, i, runner->verify, &job);
		if (error)
			return error;
		image->state = IMAGE_BUILDING;
		add_job(runner, job);
	}
	return error;
}

static bool lane_busy(const struct runner *runner, size_t device, unsigned lane)
{
	for (size_t i = 0; i < runner->n_jobs; i++)
		if (runner->jobs[i]->kind == JOB_LANE && runner->jobs[i]->device == device && runner->jobs[i]->lane == lane)
			return true;
	return false;
}

static bool on_device(const struct runner *runner, const struct session_boot *boot, size_t device)
{
	return session_device_of(runner->session, &runner->session->plan->rows[boot->plan->row])->device ==
	       runner->session->devices[device].device;
}

/* The boots of a device that has no unit left end for the lab's reasons. */
static struct error *give_up(struct runner *runner, size_t device)
{
	struct session *session = runner->session;
	struct error *error = NULL;

	for (size_t i = 0; i < session->n_devices; i++)
		if (session->devices[i].device == session->devices[device].device && !session->devices[i].lost)
			return NULL;
	for (size_t i = 0; !error && i < session->plan->n_boots; i++)
		if (session->boots[i].state == BOOT_OWED && on_device(runner, &session->boots[i], device))
			error = store_unbooted(session, runner->store, &session->boots[i], BOOT_LAB,
					       session->devices[device].lost);
	return error;
}

static struct error *start_lane(struct runner *runner, size_t device, unsigned lane)
{
	struct session *session = runner->session;
	size_t *boots = xcalloc(session->plan->n_boots, sizeof(*boots));
	size_t n = session_next_boots(session, device, boots);
	struct job *job = NULL;

	if (!n) {
		free(boots);
		return NULL;
	}
	struct error *error = job_start_lane(session, device, lane, boots, n, &job);
	if (error)
		return error;
	for (size_t i = 0; i < n; i++)
		session->boots[boots[i]].state = BOOT_RUNNING;
	add_job(runner, job);
	return NULL;
}

/* Builds need the cores more than boots do: without them rows are all that is left to wait for. */
static struct error *start_lanes(struct runner *runner)
{
	struct session *session = runner->session;
	bool building = count_jobs(runner, JOB_BUILD) > 0;
	struct error *error = NULL;

	for (size_t device = 0; !error && runner->store && device < session->n_devices; device++) {
		size_t lanes = building ? 1 : session_lanes(session, device);
		if (session->devices[device].lost)
			error = give_up(runner, device);
		for (unsigned lane = 0; !error && !session->devices[device].lost && lane < lanes; lane++)
			if (!lane_busy(runner, device, lane))
				error = start_lane(runner, device, lane);
	}
	return error;
}

static struct error *finish_build(struct runner *runner, struct job *job)
{
	struct session_image *image = &runner->session->images[job->image];
	const struct prepared_image *prepared = &runner->session->prepared->images[job->image];
	struct error *why = take_ptr(job->error);

	image->build_ms = clock_ms() - job->started_ms;
	if (!why && !image->image)
		why = image_lookup(runner->session->prepared->cache, prepared->key, &image->built);
	if (image->built)
		image->image = image->built;
	if (!why && !image->image)
		why = error_new(ERROR_LAB, "was built, yet is not in the cache");
	if (why && error_kind(why) == ERROR_INTERRUPTED)
		return why;
	if (why)
		return fail_image(runner, job->image, why);
	image->state = IMAGE_READY;
	AUTO_FREE char *took = duration_text(image->build_ms);
	AUTO_FREE char *text = xasprintf("%s built in %s", prepared->subject, took);
	progress_clear(&runner->progress);
	log_info("%s", text);
	return store_image(runner, job->image, "ok", NULL);
}

static struct error *finish_lane(struct runner *runner, struct job *job)
{
	struct error *why = take_ptr(job->error);
	struct error *error = NULL;

	if (why && error_kind(why) == ERROR_INTERRUPTED)
		return why;
	bool elsewhere = why && session_lose(runner->session, job->device, error_message(why), job->boots, job->n_boots);
	for (size_t i = 0; !error && !elsewhere && i < job->n_boots; i++) {
		struct session_boot *boot = &runner->session->boots[job->boots[i]];
		if (boot->state == BOOT_RUNNING)
			error = store_unbooted(runner->session, runner->store, boot, BOOT_LAB,
					       why ? error_message(why) : "its lane ended without a word on this boot");
	}
	if (why) {
		progress_clear(&runner->progress);
		log_error("device '%s': %s", worker_name(job->worker), error_message(why));
		error_free(why);
	}
	return error;
}

/* A boot that did not count is said at once: the table comes only at the end. */
static void say_boot(struct runner *runner, const struct jnode *record)
{
	const struct jnode *boot = jnode_get(record, "boot");
	const char *status = jnode_string(boot, "status", "");
	size_t id = (size_t)jnode_int(boot, "id", 0);

	if (!strcmp(status, boot_status_name(BOOT_OK)) || id >= runner->session->plan->n_boots)
		return;
	const struct plan_boot *plan = runner->session->boots[id].plan;
	progress_clear(&runner->progress);
	log_error("%s, block %u: %s: %s", runner->session->plan->rows[plan->row].name, plan->block, status,
		  jnode_string(boot, "reason", "no reason given"));
}

static struct error *take_record(struct runner *runner, struct job *job, const struct jnode *record)
{
	if (!strcmp(jnode_string(record, "type", ""), "error")) {
		error_free(job->error);
		job->error = worker_record_error(record);
		return NULL;
	}
	if (!strcmp(jnode_string(record, "type", ""), "usage")) {
		int64_t rss_kb = jnode_int(record, "rss_kb", 0);
		runner->worker_cpu_ms += jnode_int(record, "cpu_ms", 0);
		runner->worker_rss_kb = rss_kb > runner->worker_rss_kb ? rss_kb : runner->worker_rss_kb;
		return NULL;
	}
	if (job->kind == JOB_BUILD) {
		job_build_record(job, record);
		return NULL;
	}
	say_boot(runner, record);
	return job_lane_record(runner->session, runner->store, job, record);
}

/* Takes all that a job's worker has sent; *ended_out when it is over. */
static struct error *serve_job(struct runner *runner, struct job *job, bool *ended_out)
{
	*ended_out = false;
	for (;;) {
		struct jnode *record = NULL;
		bool ended = false;
		struct error *died = worker_receive(job->worker, &record, &ended);
		if (died) {
			error_free(job->error);
			job->error = died;
			ended = true;
		}
		if (record) {
			struct error *error = take_record(runner, job, record);
			jnode_free(record);
			if (error)
				return error;
			continue;
		}
		if (!ended)
			return NULL;
		*ended_out = true;
		return job->kind == JOB_BUILD ? finish_build(runner, job) : finish_lane(runner, job);
	}
}

static struct error *serve_jobs(struct runner *runner)
{
	for (size_t i = 0; i < runner->n_jobs;) {
		bool ended = false;
		struct error *error = serve_job(runner, runner->jobs[i], &ended);
		if (error)
			return error;
		if (!ended) {
			i++;
			continue;
		}
		job_free(runner->jobs[i]);
		runner->jobs[i] = runner->jobs[--runner->n_jobs];
	}
	return NULL;
}

static struct error *wait_for_jobs(struct runner *runner)
{
	AUTO_FREE struct pollfd *pfds = xcalloc(runner->n_jobs + 1, sizeof(*pfds));

	pfds[0] = (struct pollfd){ .fd = runner->guard.fd, .events = POLLIN };
	for (size_t i = 0; i < runner->n_jobs; i++)
		pfds[i + 1] = (struct pollfd){ .fd = worker_fd(runner->jobs[i]->worker), .events = POLLIN };
	if (poll(pfds, runner->n_jobs + 1, TICK_MS) < 0 && errno != EINTR)
		return error_os(errno, "cannot wait for workers");
	return guard_check(runner->guard);
}

static void add_build_text(const struct runner *runner, const struct job *job, struct strbuf *text)
{
	strbuf_addf(text, "%s: %s", runner->session->prepared->images[job->image].subject, job->doing ? job->doing : "starting");
	if (!job->objects)
		return;
	if (!job->expected || job->objects > job->expected) {
		strbuf_addf(text, " %u objects", job->objects);
		return;
	}
	int64_t spent = clock_ms() - job->started_ms;
	AUTO_FREE char *left = duration_text(spent * (job->expected - job->objects) / job->objects);
	strbuf_addf(text, " %u of about %u objects, %s left", job->objects, job->expected, left);
}

static void show_progress(struct runner *runner)
{
	AUTO_STRBUF text = STRBUF_INIT;
	size_t total = 0;

	for (size_t i = 0; i < runner->session->plan->n_boots; i++)
		total += runner->session->boots[i].state != BOOT_HELD;
	for (size_t i = 0; i < runner->n_jobs; i++) {
		if (runner->jobs[i]->kind != JOB_BUILD)
			continue;
		add_build_text(runner, runner->jobs[i], &text);
		strbuf_adds(&text, "; ");
	}
	if (runner->store)
		strbuf_addf(&text, "boots %zu of %zu", total - session_owed(runner->session), total);
	progress_show(&runner->progress, false, strbuf_str(&text));
}

static struct error *loop(struct runner *runner)
{
	for (;;) {
		struct error *error = runner->store ? stages_advance(runner->session, runner->store, runner->decide) : NULL;
		if (!error)
			error = start_builds(runner);
		if (!error)
			error = start_lanes(runner);
		if (error || !runner->n_jobs)
			return error;
		error = wait_for_jobs(runner);
		if (!error)
			error = serve_jobs(runner);
		if (error)
			return error;
		show_progress(runner);
	}
}

/* What the tool itself cost, for the benchmark and the curious (-v). */
static void say_usage(const struct runner *runner)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	log_debug("memcg-ab itself: %lld ms of CPU, at most %lld kB a process; what it executed: %lld ms",
		  (long long)(clock_self_cpu_ms() + runner->worker_cpu_ms),
		  (long long)(usage.ru_maxrss > runner->worker_rss_kb ? usage.ru_maxrss : runner->worker_rss_kb),
		  (long long)(clock_children_cpu_ms() - runner->worker_cpu_ms));
}

static struct error *store_cached_images(struct runner *runner)
{
	struct error *error = NULL;

	for (size_t i = 0; !error && i < runner->session->plan->n_images; i++)
		if (runner->session->images[i].state == IMAGE_READY)
			error = store_image(runner, i, "ok", NULL);
	return error;
}

struct error *run_all(const struct run_request *request, struct error **failed_out)
{
	struct runner runner = {
		.session = request->session,
		.store = request->store,
		.decide = request->decide,
		.verify = request->verify,
		.no_build = request->no_build,
		.guard = request->guard,
		.progress = progress_start(stderr),
	};

	for (size_t i = 0; runner.verify && i < runner.session->plan->n_images; i++)
		runner.session->images[i].state = IMAGE_WAITING;
	struct error *error = runner.store ? job_clear_scratch(runner.session) : NULL;
	if (!error)
		error = store_cached_images(&runner);
	if (!error)
		error = loop(&runner);
	progress_clear(&runner.progress);
	say_usage(&runner);
	for (size_t i = 0; i < runner.n_jobs; i++)
		job_free(runner.jobs[i]);
	free(runner.jobs);
	if (error) {
		error_free(runner.failed);
		return error;
	}
	*failed_out = runner.failed;
	return NULL;
}
