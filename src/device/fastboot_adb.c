/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records from under Android: the agent is pushed, runs detached as root, and leaves a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "device/fastboot_parts.h"
#include "device/settings.h"

#define REMOTE "/data/local/tmp/memcg-ab"
/* adb's own work on the device is noise: it is asked seldom. */
#define DONE_POLL_MS 5000

char *phone_adb_boot_id(struct phone *phone)
{
	AUTO_STRBUF out = STRBUF_INIT;
	int status = -1;
	AUTO_ERROR error = adb_shell(&phone->adb, false, "cat /proc/sys/kernel/random/boot_id", &out, &status);

	if (error || status)
		return NULL;
	AUTO_FREE char *copy = strbuf_steal(&out);
	return xstrdup(str_trim(copy));
}

static struct error *run_remote(struct phone *phone, const char *command)
{
	AUTO_STRBUF out = STRBUF_INIT;
	int status = -1;

	struct error *error = adb_shell(&phone->adb, true, command, &out, &status);
	if (error || !status)
		return error;
	AUTO_FREE char *copy = strbuf_steal(&out);
	return error_new(ERROR_LAB, "\"%s\" failed on the device (status %d): %s", command, status, str_trim(copy));
}

static struct error *push_agent(struct phone *phone, struct lane_boot *boot)
{
	const struct fastboot_settings *fastboot = phone->settings;
	AUTO_FREE char *conf = path_join(boot->dir, "memcg-ab.conf");
	AUTO_STRBUF text = STRBUF_INIT;
	const struct settings settings = {
		.counter = fastboot->pmu ? "pmu" : "clock",
		.clock = !fastboot->exact || !fastboot->pmu,
		.finish = "exit",
		.nonce = boot->nonce,
		.profile = boot->context->profile,
	};

	settings_write(&settings, boot->request, &text);
	struct error *error = lane_check_agent(phone->context, phone->context->agent_arm64);
	if (!error)
		error = file_write_atomic(conf, text.data, text.len, 0644);
	if (!error)
		error = run_remote(phone, "rm -rf " REMOTE " && mkdir -p " REMOTE " && chmod 777 " REMOTE);
	if (!error)
		error = adb_push(&phone->adb, phone->context->agent_arm64, REMOTE "/agent");
	if (!error)
		error = adb_push(&phone->adb, conf, REMOTE "/conf");
	return error ? error : run_remote(phone, "chmod 755 " REMOTE "/agent");
}

/* In a session of its own, so that it outlives the shell that starts it. */
static struct error *start_agent(struct phone *phone)
{
	return run_remote(phone, "setsid sh -c '" REMOTE "/agent " REMOTE "/conf >" REMOTE "/records 2>" REMOTE
				 "/messages; echo $? >" REMOTE "/done' </dev/null >/dev/null 2>&1 &");
}

/* Whether the kernel that runs is another boot than the one that was measured. */
static struct error *look_for_restart(struct phone *phone, const char *boot_id, char **death_out)
{
	AUTO_FREE char *why_not = NULL;
	AUTO_STRBUF reason = STRBUF_INIT;
	int status;

	struct error *error = phone_await_android(phone, &why_not);
	if (error)
		return error;
	if (why_not) {
		*death_out = xasprintf("the device went away while the agent ran: %s", why_not);
		return NULL;
	}
	AUTO_FREE char *now = phone_adb_boot_id(phone);
	if (!now || !boot_id || !strcmp(now, boot_id))
		return NULL; /* only adb was away */
	error = adb_shell(&phone->adb, false, "getprop ro.boot.bootreason; getprop sys.boot.reason", &reason, &status);
	if (error)
		return error;
	AUTO_FREE char *copy = strbuf_steal(&reason);
	char *text = str_trim(copy);
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	*death_out = xasprintf("the device started anew while the agent ran (%s)", *text ? text : "no reason told");
	strlist_add(&phone->boot_ids, now);
	return NULL;
}

static struct error *await_agent(struct phone *phone, const char *boot_id, char **death_out)
{
	const int64_t deadline = clock_deadline(phone->profile->run_timeout_ms);

	while (clock_ms() < deadline) {
		AUTO_STRBUF out = STRBUF_INIT;
		int status = -1;
		struct error *error = guard_sleep(phone->fastboot.guard, DONE_POLL_MS);
		if (error)
			return error;
		error = adb_shell(&phone->adb, true, "cat " REMOTE "/done", &out, &status);
		if (error && error_kind(error) == ERROR_INTERRUPTED)
			return error;
		if (!error && !status)
			return NULL;
		if (error) {
			error_free(error);
			error = look_for_restart(phone, boot_id, death_out);
			if (error || *death_out)
				return error;
		}
	}
	*death_out = xasprintf("hang: the agent had not finished after %g s", (double)phone->profile->run_timeout_ms / 1000);
	return NULL;
}

static struct error *open_empty(int *fd_out)
{
	*fd_out = memfd_create("memcg-ab-records", MFD_CLOEXEC);
	return *fd_out < 0 ? error_os(errno, "cannot make a file in memory") : NULL;
}

static struct error *run_agent(struct phone *phone, struct lane_boot *boot, const char *boot_id, int *fd_out, char **death_out)
{
	AUTO_FREE char *file = path_join(boot->dir, "records");

	struct error *error = adb_root(&phone->adb);
	if (!error)
		error = phone_mark_successful(phone);
	if (!error)
		error = push_agent(phone, boot);
	if (!error)
		error = start_agent(phone);
	if (!error)
		error = await_agent(phone, boot_id, death_out);
	if (!error && *death_out)
		return open_empty(fd_out);
	if (!error)
		error = adb_pull(&phone->adb, REMOTE "/records", file);
	if (error)
		return error;
	*fd_out = open(file, O_RDONLY | O_CLOEXEC);
	return *fd_out < 0 ? error_os(errno, "cannot read %s", file) : NULL;
}

struct error *phone_collect_adb(struct phone *phone, struct lane_boot *boot, int *fd_out, char **death_out)
{
	AUTO_FREE char *why_not = NULL;

	struct error *error = phone_await_android(phone, &why_not);
	if (error)
		return error;
	if (why_not) {
		*death_out = take_ptr(why_not);
		return open_empty(fd_out);
	}
	AUTO_FREE char *boot_id = phone_adb_boot_id(phone);
	return run_agent(phone, boot, boot_id, fd_out, death_out);
}
