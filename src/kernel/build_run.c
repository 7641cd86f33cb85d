/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/build_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "kernel/build_log.h"
#include "kernel/worktree.h"

void build_report(const struct image_build *build, unsigned objects, unsigned expected, const char *what)
{
	const struct build_progress progress = { objects, expected, what };

	if (build->progress)
		build->progress(build->arg, &progress);
}

/* Two notes: of this ladder, and of whatever was built last, for ladders that were never built. */
static char *objects_path(const struct image_build *build, const char *name)
{
	AUTO_FREE char *relative = xasprintf("builds/%s.objects", name);

	return cache_path(build->cache, relative);
}

static unsigned read_number(const char *path)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR err = file_exists(path) ? file_read(path, &text) : NULL;

	return err ? 0 : (unsigned)strtoul(strbuf_str(&text), NULL, 10);
}

static unsigned expected_objects(const struct build_run *run)
{
	if (!run->folder->from_nothing)
		return 0;
	AUTO_FREE char *own = objects_path(run->build, run->build->input->build_folder);
	AUTO_FREE char *last = objects_path(run->build, ".last");
	unsigned expected = read_number(own);
	return expected ? expected : read_number(last);
}

void build_remember_objects(const struct image_build *build, unsigned objects)
{
	const char *const names[] = { build->input->build_folder, ".last" };
	AUTO_FREE char *text = xasprintf("%u\n", objects);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *path = objects_path(build, names[i]);
		/* Only an estimate is lost when it cannot be written. */
		error_free(file_write_atomic(path, text, strlen(text), 0644));
	}
}

struct output {
	const struct build_run *run;
	struct strbuf *log;
	size_t line_start; /* in `log` */
	unsigned objects, expected;
};

static void on_output(void *arg, const char *data, size_t len)
{
	struct output *output = arg;
	unsigned before = output->objects;

	strbuf_add(output->log, data, len);
	for (;;) {
		const char *line = output->log->data + output->line_start;
		const char *end = memchr(line, '\n', output->log->len - output->line_start);
		if (!end)
			break;
		output->objects += build_log_is_object(line, (size_t)(end - line));
		output->line_start += (size_t)(end - line) + 1;
	}
	if (output->objects != before)
		build_report(output->run->build, output->objects, output->expected, "building");
}

struct error *build_failed(const struct build_run *run, enum error_kind kind, const char *log, const char *message)
{
	AUTO_FREE char *relative = xasprintf("failed/%s.log", run->key);
	AUTO_FREE char *path = cache_path(run->build->cache, relative);
	AUTO_FREE char *dir = path_dirname(path);
	struct error *err = error_new(kind, "%s: %s", run->build->input->subject, message);

	AUTO_ERROR not_kept = file_mkdirs(dir);
	if (!not_kept)
		not_kept = file_write_atomic(path, log, strlen(log), 0644);
	error_note(err, NO_POS, "%s%s", not_kept ? "its log could not be kept: " : "all that the build printed is in ",
		   not_kept ? error_message(not_kept) : path);
	return err;
}

static struct error *run_failure(const struct build_run *run, const struct proc_result *result, const char *log)
{
	if (result->timed_out)
		return build_failed(run, ERROR_LAB, log, "the build did not end before its deadline");
	if (result->signal) {
		AUTO_FREE char *message =
			xasprintf("the build was ended by signal %d (%s)", result->signal, strsignal(result->signal));
		return build_failed(run, ERROR_LAB, log, message);
	}
	AUTO_FREE char *lab_fault = build_log_lab_fault(log);
	if (lab_fault)
		return build_failed(run, ERROR_LAB, log, lab_fault);
	AUTO_FREE char *first = build_log_first_error(log, run->folder->src);
	AUTO_FREE char *message = xasprintf("does not build: %s", first);
	return build_failed(run, ERROR_KERNEL, log, message);
}

struct error *build_run(const struct build_run *run, struct strbuf *log_out, unsigned *objects_out)
{
	/* One stream, in order. */
	static const char *const merge[] = { "/bin/sh", "-c", "exec \"$@\" 2>&1", "sh" };
	AUTO_STRLIST argv = { NULL, 0 };
	for (size_t i = 0; i < ARRAY_SIZE(merge); i++)
		strlist_add(&argv, merge[i]);
	for (size_t i = 0; i < run->argv->n; i++)
		strlist_add(&argv, run->argv->items[i]);

	AUTO_FREE const char **argv_vector = strlist_vector(&argv);
	AUTO_FREE const char **env_vector = strlist_vector(run->env);
	struct output output = { .run = run, .log = log_out, .expected = expected_objects(run) };
	const struct proc_spec spec = { .argv = argv_vector,
					.env = env_vector,
					.cwd = run->cwd,
					.deadline_ms = run->build->deadline_ms,
					.guard = run->build->guard,
					.on_output = on_output,
					.arg = &output };
	struct proc_result result;
	build_report(run->build, 0, output.expected, "building");
	struct error *err = proc_run(&spec, &result);
	if (err)
		return err;
	if (result.exit_status)
		return run_failure(run, &result, strbuf_str(log_out));
	log_debug("%s: %u objects in %lld s, %lld s of CPU", run->build->input->subject, output.objects,
		  (long long)result.wall_ms / 1000, (long long)result.cpu_ms / 1000);
	*objects_out = output.objects;
	return NULL;
}

struct error *build_checkout(const struct build_run *run)
{
	const struct image_build *build = run->build;
	const struct image_input *input = build->input;

	build_report(build, 0, 0, "checking out");
	return worktree_update(build->cache, input->source->objects, input->tree, run->folder->src, NULL, build->guard, NULL);
}
