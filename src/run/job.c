/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

/* A build or a boot that is told to stop kills its children first. */
#define STOP_GRACE_MS 10000
/* A phone is brought back into fastboot, and its known-good image written, before its lane ends. */
#define LANE_GRACE_MS 300000

struct build_work {
	const struct session *session;
	size_t image;
	enum verify verify;
};

/* Removes the kernel that was built again, after looking at it. */
static struct error *compare_and_remove(struct image *again, const struct image *cached)
{
	struct error *error = NULL;

	if (strcmp(again->image_sha256, cached->image_sha256))
		error = error_new(ERROR_KERNEL, "is not reproducible: the Image in the cache is %.16s, built again it is %.16s",
				  cached->image_sha256, again->image_sha256);
	error_join(&error, file_remove_tree(again->dir));
	return error;
}

static void send_progress(void *arg, const struct build_progress *progress)
{
	AUTO_JNODE record = jnode_object();

	jnode_set_string(record, "type", "progress");
	jnode_set_string(record, "what", progress->what);
	jnode_set_int(record, "objects", progress->objects);
	jnode_set_int(record, "expected", progress->expected);
	/* A parent that has gone is noticed by the guard. */
	AUTO_ERROR ignored = worker_send(arg, record);
}

static struct error *build_worker(struct worker_self *self, void *arg)
{
	const struct build_work *work = arg;
	const struct session *session = work->session;
	const struct lab *lab = session->plan->matrix->lab;
	const struct image *cached = session->images[work->image].image;
	struct image *image = NULL;
	struct image_build build = {
		.cache = session->prepared->cache,
		.input = &session->prepared->images[work->image].input,
		.jobs = lab->build_jobs,
		.deadline_ms = clock_deadline(lab->build_timeout_ms),
		.again = work->verify == VERIFY_AGAIN && cached,
		.clean = work->verify == VERIFY_CLEAN && cached,
		.guard = self->guard,
		.progress = send_progress,
		.arg = self,
	};
	struct error *error = image_build(&build, &image);
	if (!error && (build.again || build.clean))
		error = compare_and_remove(image, cached);
	image_free(image);
	const char *selftests = session->prepared->images[work->image].selftests_key;
	if (!error && *selftests)
		error = selftests_build(&build, selftests, &session->prepared->selftests);
	return error;
}

struct error *job_start_build(const struct session *session, size_t image, enum verify verify, struct job **job_out)
{
	struct build_work work = { session, image, verify };
	struct job *job = xcalloc(1, sizeof(*job));
	struct error *error = worker_start(session->prepared->images[image].subject, build_worker, &work, &job->worker);

	if (error) {
		free(job);
		return error;
	}
	job->kind = JOB_BUILD;
	job->image = image;
	job->started_ms = clock_ms();
	*job_out = job;
	return NULL;
}

void job_build_record(struct job *job, const struct jnode *record)
{
	if (strcmp(jnode_string(record, "type", ""), "progress"))
		return;
	free(job->doing);
	job->doing = xstrdup(jnode_string(record, "what", "building"));
	job->objects = (unsigned)jnode_int(record, "objects", 0);
	job->expected = (unsigned)jnode_int(record, "expected", 0);
}

/* The device's folder goes with its last lane's. */
static void remove_scratch(const char *dir)
{
	AUTO_FREE char *parent = path_dirname(dir);
	AUTO_ERROR left = file_remove_tree(dir);

	if (left)
		log_warning("%s", error_message(left));
	rmdir(parent);
}

void job_free(struct job *job)
{
	if (!job)
		return;
	worker_stop(job->worker, job->kind == JOB_LANE ? LANE_GRACE_MS : STOP_GRACE_MS);
	if (job->scratch)
		remove_scratch(job->scratch);
	error_free(job->error);
	free(job->scratch);
	free(job->boots);
	free(job->doing);
	free(job);
}
