/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/fastboot_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "device/fastboot_text.h"
#include "device/journal.h"

/* What a transfer may take besides its bytes, in short calls: 30 s when a getvar has 5 s. */
#define TRANSFER_CALLS 6
/* How long one of the calls takes that only look whether a device is there, and the pause between two. */
#define PROBE_MS 1000
#define PROBE_PAUSE_MS 100

#define MAX_ARGS 8

/* One call of the client. */
struct call {
	const char *args[MAX_ARGS]; /* behind -s SERIAL, NULL-terminated */
	const char *final; /* fastboot_text_parse() */
	int64_t wait_ms;
	bool impatient; /* stopped as soon as the client says that it waits for the device */
};

const char *fastboot_outcome_name(enum fastboot_outcome outcome)
{
	static const char *const names[] = { "okay", "refused", "absent", "silent", "broken" };

	return names[outcome];
}

void fastboot_reply_deinit(struct fastboot_reply *reply)
{
	free(reply->remote);
	free(reply->step);
	*reply = (struct fastboot_reply){ FASTBOOT_OKAY };
}

char *fastboot_reply_text(const struct fastboot_reply *reply, const char *what)
{
	const char *words = reply->remote && *reply->remote ? reply->remote : NULL;
	long long ms = (long long)reply->wall_ms;

	switch (reply->outcome) {
	case FASTBOOT_OKAY:
		return xasprintf("%s: okay", what);
	case FASTBOOT_REFUSED:
		return words ? xasprintf("%s: the device said '%s'", what, words)
			     : xasprintf("%s: the device refused and gave no reason", what);
	case FASTBOOT_ABSENT:
		return xasprintf("%s: no device answered within %lld ms%s%s%s", what, ms, words ? " (" : "", words ? words : "",
				 words ? ")" : "");
	case FASTBOOT_SILENT:
		return reply->step ? xasprintf("%s: the device fell silent in \"%s\", after %lld ms", what, reply->step, ms)
				   : xasprintf("%s: the device was silent for %lld ms", what, ms);
	case FASTBOOT_BROKEN:
		break;
	}
	return xasprintf("%s: fastboot said '%s'", what, words ? words : "");
}

static bool is_network(const char *serial)
{
	return str_starts(serial, "udp:") || str_starts(serial, "tcp:");
}

/* Reads the client's words until it ends, has said that it waits, or the time is over. *open_out: it did not end. */
static struct error *listen_to(int fd, const struct call *call, int64_t deadline_ms, struct guard guard, struct strbuf *text,
			       bool *open_out)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN }, { .fd = guard.fd, .events = POLLIN } };
	char block[4096];

	*open_out = true;
	for (;;) {
		int ready = poll(fds, ARRAY_SIZE(fds), clock_poll_timeout(deadline_ms));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return NULL;
		if (fds[1].revents)
			return error_new(ERROR_INTERRUPTED, "fastboot was interrupted");
		ssize_t got = read(fd, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			*open_out = false;
			return NULL;
		}
		strbuf_add(text, block, (size_t)got);
		if (call->impatient && fastboot_text_waits(strbuf_str(text)))
			return NULL;
	}
}

/* Starts the client and sees it end, one way or the other. */
static struct error *run_client(const char *const *argv, const struct call *call, struct guard guard, struct strbuf *text,
				struct fastboot_ending *ending)
{
	const char *const env[] = { "ANDROID_SERIAL", "LC_ALL=C", NULL };
	const int64_t started = clock_ms(), deadline = clock_deadline(call->wait_ms);
	AUTO_PROC proc = NULL;
	struct proc_result result;
	bool open = true, ended = false;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	AUTO_CLOSE int from = ends[0];
	const struct proc_start start = { .argv = argv, .env = env, .err_fd = ends[1] };
	struct error *error = proc_start(&start, &proc);
	close(ends[1]);
	if (!error)
		error = listen_to(from, call, deadline, guard, text, &open);
	if (!error && !open)
		error = proc_wait(proc, deadline, guard, &ended, &result);
	if (error)
		return error;
	if (ended)
		proc = NULL;
	*ending = (struct fastboot_ending){
		.stopped = !ended,
		.exit_status = ended ? result.exit_status : -1,
		.wall_ms = clock_ms() - started,
	};
	return NULL;
}

static struct error *run_call(const struct fastboot *fastboot, const struct call *call, struct strbuf *text,
			      struct fastboot_reply *reply)
{
	const struct fastboot_settings *settings = fastboot->settings;
	const char *argv[MAX_ARGS + 3] = { settings->program, "-s", settings->serial };
	struct fastboot_ending ending;

	for (size_t i = 0; i < MAX_ARGS && call->args[i]; i++)
		argv[3 + i] = call->args[i];
	struct error *error = run_client(argv, call, fastboot->guard, text, &ending);
	if (error) {
		/* An interrupted flash is what the journal must not leave out. */
		if (error_kind(error) == ERROR_INTERRUPTED)
			error_free(journal_add(fastboot->journal, argv, "interrupted", 0, strbuf_str(text)));
		return error;
	}
	ending.network = is_network(settings->serial);
	fastboot_text_parse(strbuf_str(text), call->final, &ending, reply);
	error = journal_add(fastboot->journal, argv, fastboot_outcome_name(reply->outcome), reply->wall_ms, strbuf_str(text));
	if (error)
		fastboot_reply_deinit(reply);
	return error;
}

/* A call of which only the outcome is wanted. */
static struct error *run_plain(const struct fastboot *fastboot, const struct call *call, struct fastboot_reply *reply_out)
{
	AUTO_STRBUF text = STRBUF_INIT;

	return run_call(fastboot, call, &text, reply_out);
}

struct error *fastboot_version(const struct fastboot *fastboot, char **version_out)
{
	const char *const argv[] = { fastboot->settings->program, "--version", NULL };
	const struct proc_spec spec = {
		.argv = argv,
		.deadline_ms = clock_deadline(fastboot->settings->timeouts.getvar_ms),
		.guard = fastboot->guard,
	};
	AUTO_STRBUF out = STRBUF_INIT;

	struct error *error = proc_run_ok(&spec, ERROR_LAB, &out);
	if (error)
		return error;
	*version_out = xstrndup(strbuf_str(&out), strcspn(strbuf_str(&out), "\n"));
	return NULL;
}

unsigned fastboot_major(const char *version)
{
	unsigned major;

	return sscanf(version, "fastboot version %u", &major) == 1 ? major : 0;
}

struct error *fastboot_getvar(const struct fastboot *fastboot, const char *name, char **value_out,
			      struct fastboot_reply *reply_out)
{
	const struct call call = { .args = { "getvar", name }, .wait_ms = fastboot->settings->timeouts.getvar_ms };
	AUTO_STRBUF text = STRBUF_INIT;

	struct error *error = run_call(fastboot, &call, &text, reply_out);
	if (error)
		return error;
	*value_out = reply_out->outcome == FASTBOOT_OKAY ? fastboot_text_value(strbuf_str(&text), name) : NULL;
	return NULL;
}

/* One short look. Neither found in the journal, which would hold little else. */
static struct error *probe(const struct fastboot *fastboot, int64_t wait_ms, bool *answers)
{
	const struct fastboot quiet = { .settings = fastboot->settings, .guard = fastboot->guard };
	const struct call call = { .args = { "getvar", "product" }, .wait_ms = wait_ms, .impatient = true };
	struct fastboot_reply reply;

	struct error *error = run_plain(&quiet, &call, &reply);
	if (error)
		return error;
	*answers = reply.outcome == FASTBOOT_OKAY || reply.outcome == FASTBOOT_REFUSED;
	fastboot_reply_deinit(&reply);
	return NULL;
}

static int64_t min_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Looks until the device answers, or (wanted = false) does not, or the time is over. */
static struct error *wait_until(const struct fastboot *fastboot, bool wanted, int64_t wait_ms, bool *reached_out)
{
	const int64_t started = clock_ms(), deadline = clock_deadline(wait_ms);
	const char *const argv[] = { "fastboot", "-s", fastboot->settings->serial, wanted ? "(there?)" : "(gone?)", NULL };
	const int64_t probe_ms = min_ms(fastboot->settings->timeouts.getvar_ms, PROBE_MS);
	bool answers = !wanted;

	for (;;) {
		struct error *error = probe(fastboot, probe_ms, &answers);
		if (error)
			return error;
		if (answers == wanted || clock_poll_timeout(deadline) == 0)
			break;
		error = guard_sleep(fastboot->guard, min_ms(PROBE_PAUSE_MS, clock_poll_timeout(deadline)));
		if (error)
			return error;
	}
	struct error *error =
		journal_add(fastboot->journal, argv, answers ? "answers" : "does not answer", clock_ms() - started, "");
	if (!error)
		*reached_out = answers == wanted;
	return error;
}

struct error *fastboot_answers(const struct fastboot *fastboot, int64_t wait_ms, bool *answers_out)
{
	return wait_until(fastboot, true, wait_ms, answers_out);
}

struct error *fastboot_gone(const struct fastboot *fastboot, int64_t wait_ms, bool *gone_out)
{
	return wait_until(fastboot, false, wait_ms, gone_out);
}

/* `partition` is `name`, or on a device with slots one of its two. */
static bool is_of(const struct fastboot_settings *settings, const char *partition, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(partition, name, len) != 0)
		return false;
	return !partition[len] || (settings->slots && (!strcmp(partition + len, "_a") || !strcmp(partition + len, "_b")));
}

static bool is_writable(const struct fastboot_settings *settings, const char *partition)
{
	if (settings->partition && is_of(settings, partition, settings->partition))
		return true;
	for (size_t i = 0; i < settings->writable.n; i++)
		if (is_of(settings, partition, settings->writable.items[i]))
			return true;
	return false;
}

static struct error *download_ms(const struct fastboot *fastboot, const char *file, int64_t *ms_out)
{
	const struct fastboot_timeouts *timeouts = &fastboot->settings->timeouts;
	uint64_t rate = timeouts->bytes_per_s;
	uint64_t bytes;

	struct error *error = file_size(file, &bytes);
	if (!error)
		*ms_out = (int64_t)(bytes / (rate ? rate : 1) * 1000) + TRANSFER_CALLS * timeouts->getvar_ms;
	return error;
}

struct error *fastboot_flash(const struct fastboot *fastboot, const char *partition, const char *file,
			     struct fastboot_reply *reply_out)
{
	const char *why = fastboot_forbidden(partition);
	int64_t transfer_ms;

	if (why)
		return error_new(ERROR_LAB, "partition \"%s\" is never written: %s", partition, why);
	if (!is_writable(fastboot->settings, partition))
		return error_new(ERROR_LAB, "partition \"%s\" is not written: the device's profile does not list it as writable",
				 partition);
	struct error *error = download_ms(fastboot, file, &transfer_ms);
	if (error)
		return error;
	const struct call call = {
		.args = { "flash", partition, file },
		.final = "Writing",
		.wait_ms = transfer_ms + fastboot->settings->timeouts.flash_ms,
	};
	return run_plain(fastboot, &call, reply_out);
}

/* The client would wrap any other file as a kernel, and say that all is well. */
static struct error *check_magic(const char *file)
{
	static const char magic[] = "ANDROID!";
	char start[sizeof(magic) - 1];
	AUTO_CLOSE int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_os(errno, "cannot read %s", file);
	ssize_t got = read(fd, start, sizeof(start));
	if (got < 0)
		return error_os(errno, "cannot read %s", file);
	if (got != (ssize_t)sizeof(start) || memcmp(start, magic, sizeof(start)) != 0)
		return error_new(ERROR_LAB, "%s is no boot image (it does not begin with %s)", file, magic);
	return NULL;
}

struct error *fastboot_boot(const struct fastboot *fastboot, const char *file, struct fastboot_reply *reply_out)
{
	int64_t transfer_ms;

	struct error *error = check_magic(file);
	if (!error)
		error = download_ms(fastboot, file, &transfer_ms);
	if (error)
		return error;
	const struct call call = {
		.args = { "boot", file },
		.final = "Booting",
		.wait_ms = transfer_ms + fastboot->settings->timeouts.command_ms,
	};
	return run_plain(fastboot, &call, reply_out);
}

struct error *fastboot_set_active(const struct fastboot *fastboot, char slot, struct fastboot_reply *reply_out)
{
	const char name[] = { slot, '\0' };
	const struct call call = {
		.args = { "set_active", name },
		.final = "Setting",
		.wait_ms = fastboot->settings->timeouts.command_ms,
	};

	return run_plain(fastboot, &call, reply_out);
}

struct error *fastboot_continue(const struct fastboot *fastboot, struct fastboot_reply *reply_out)
{
	const struct call call = {
		.args = { "continue" },
		.final = "Resuming boot",
		.wait_ms = fastboot->settings->timeouts.command_ms,
	};

	return run_plain(fastboot, &call, reply_out);
}

struct error *fastboot_reboot(const struct fastboot *fastboot, const char *target, struct fastboot_reply *reply_out)
{
	/* The client waits for the device to come back as fastbootd, which is the caller's business: it is stopped then. */
	const struct call call = {
		.args = { "reboot", target },
		.final = "Rebooting",
		.wait_ms = fastboot->settings->timeouts.command_ms,
		.impatient = target && !strcmp(target, "fastboot"),
	};

	return run_plain(fastboot, &call, reply_out);
}
