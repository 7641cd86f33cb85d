/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/adb_client.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/journal.h"

#define POLL_MS 300
/* How long adbd takes to come back as root. */
#define ROOT_MS 10000

/*
 * Printed behind every command, with its exit status: devices before Android 7 always say 0, and a broken connection says
 * nothing.
 */
#define MARKER "MEMCG-AB-STATUS"

/* One call of the client and what came of it. */
struct call {
	struct strbuf out, err;
	struct proc_result result;
	char *words; /* its last line that is no news of the server's */
};

static void call_deinit(struct call *call)
{
	strbuf_deinit(&call->out);
	strbuf_deinit(&call->err);
	free(call->words);
}

#define AUTO_CALL CLEANUP(call_deinit) struct call

const char *adb_state_name(enum adb_state state)
{
	static const char *const names[] = { "absent", "offline", "unauthorized", "recovery", "device" };

	return names[state];
}

static const char *serial_of(const struct adb *adb)
{
	return adb->settings->adb_serial ? adb->settings->adb_serial : adb->settings->serial;
}

/* The last line of `text` that says something and is none of the server's ("* daemon started successfully"). */
static char *last_words(const char *text)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *rest = copy, *line, *last = "";

	while ((line = strsep(&rest, "\r\n"))) {
		char *words = str_trim(line);
		if (*words && *words != '*')
			last = words;
	}
	return xstrdup(last);
}

static char *call_words(const struct call *call)
{
	AUTO_FREE char *err = last_words(strbuf_str(&call->err));

	return *err ? take_ptr(err) : last_words(strbuf_str(&call->out));
}

/* Runs "adb [-s SERIAL] ARGS" to its end; how that was is in `call`. */
static struct error *run_call(const struct adb *adb, bool of_device, const char *const *args, int64_t wait_ms, struct call *call)
{
	AUTO_FREE char *port = xasprintf("ANDROID_ADB_SERVER_PORT=%u", adb->port);
	const char *const env[] = { port, "ANDROID_SERIAL", "ADB_TRACE", "LC_ALL=C", NULL };
	AUTO_STRLIST list = { NULL, 0 };

	strlist_add(&list, adb->settings->adb_program);
	if (of_device) {
		strlist_add(&list, "-s");
		strlist_add(&list, serial_of(adb));
	}
	for (; *args; args++)
		strlist_add(&list, *args);
	AUTO_FREE const char **argv = strlist_vector(&list);
	const struct proc_spec spec = {
		.argv = argv,
		.env = env,
		.out = &call->out,
		.err = &call->err,
		.deadline_ms = clock_deadline(wait_ms),
		.guard = adb->guard,
	};
	struct error *error = proc_run(&spec, &call->result);
	if (error)
		return error;
	call->words = call_words(call);
	AUTO_FREE char *outcome =
		call->result.timed_out ? xstrdup("did not end in time") : xasprintf("status %d", call->result.exit_status);
	AUTO_FREE char *text = xasprintf("%s%s", strbuf_str(&call->err), strbuf_str(&call->out));
	return journal_add(adb->journal, argv, outcome, call->result.wall_ms, text);
}

/* NULL when the call ended with status 0. `what`: "adb push". */
static struct error *call_error(const struct adb *adb, const struct call *call, const char *what)
{
	if (call->result.timed_out)
		return error_new(ERROR_LAB, "%s did not end within %lld ms on device %s", what, (long long)call->result.wall_ms,
				 serial_of(adb));
	if (call->result.exit_status)
		return error_new(ERROR_LAB, "%s failed on device %s: %s", what, serial_of(adb),
				 *call->words ? call->words : "it gave no reason");
	return NULL;
}

static struct error *run_checked(const struct adb *adb, const char *const *args, int64_t wait_ms)
{
	AUTO_CALL call = { STRBUF_INIT };
	AUTO_FREE char *what = xasprintf("adb %s", args[0]);

	struct error *error = run_call(adb, true, args, wait_ms, &call);
	return error ? error : call_error(adb, &call, what);
}

struct error *adb_version(const struct adb *adb, char **version_out)
{
	const char *const args[] = { "version", NULL };
	AUTO_CALL call = { STRBUF_INIT };

	struct error *error = run_call(adb, false, args, adb->settings->timeouts.adb_ms, &call);
	if (!error)
		error = call_error(adb, &call, "adb version");
	if (error)
		return error;
	/* "Android Debug Bridge version 1.0.41", then "Version 29.0.6-debian". */
	const char *text = strbuf_str(&call.out);
	size_t first = strcspn(text, "\n");
	const char *second = text + first + (text[first] == '\n');
	*version_out = xasprintf("%.*s, %.*s", (int)first, text, (int)strcspn(second, "\n"), second);
	return NULL;
}

/* From the words of get-state, or of its error. False when they say nothing of the device. */
static bool parse_state(const char *words, enum adb_state *state_out)
{
	static const struct {
		const char *words;
		enum adb_state state;
	} table[] = {
		{ "not found", ADB_ABSENT },
		{ "no devices", ADB_ABSENT },
		{ "unauthorized", ADB_UNAUTHORIZED },
		{ "no permissions", ADB_UNAUTHORIZED },
		{ "authorizing", ADB_OFFLINE },
		{ "offline", ADB_OFFLINE },
		{ "connecting", ADB_OFFLINE },
		{ "bootloader", ADB_ABSENT },
		{ "host", ADB_ABSENT },
	};

	if (!strcmp(words, "device")) {
		*state_out = ADB_DEVICE;
		return true;
	}
	if (!strcmp(words, "recovery") || !strcmp(words, "sideload") || !strcmp(words, "rescue")) {
		*state_out = ADB_RECOVERY;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (strstr(words, table[i].words)) {
			*state_out = table[i].state;
			return true;
		}
	}
	return false;
}

static struct error *ask_state(const struct adb *adb, enum adb_state *state_out)
{
	const char *const args[] = { "get-state", NULL };
	AUTO_CALL call = { STRBUF_INIT };

	struct error *error = run_call(adb, true, args, adb->settings->timeouts.adb_ms, &call);
	if (error)
		return error;
	/* An unauthorized device's error goes on for some lines about keys. */
	AUTO_FREE char *out = last_words(strbuf_str(&call.out));
	if (!call.result.timed_out && parse_state(*out ? out : strbuf_str(&call.err), state_out))
		return NULL;
	error = call_error(adb, &call, "adb get-state");
	return error ? error : error_new(ERROR_LAB, "adb get-state said '%s' of device %s", call.words, serial_of(adb));
}

/* HOST:PORT, which the server forgets when the device reboots. */
static bool is_address(const char *serial)
{
	const char *colon = strrchr(serial, ':');

	return colon && colon != serial && !str_starts(serial, "usb:") && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
}

struct error *adb_get_state(const struct adb *adb, enum adb_state *state_out)
{
	const char *const args[] = { "connect", serial_of(adb), NULL };
	enum adb_state state;

	struct error *error = ask_state(adb, &state);
	if (!error && state == ADB_ABSENT && is_address(serial_of(adb))) {
		/* Its exit status is 0 when it was refused, too. */
		AUTO_CALL call = { STRBUF_INIT };
		error = run_call(adb, false, args, adb->settings->timeouts.adb_ms, &call);
		if (!error)
			error = ask_state(adb, &state);
	}
	if (!error)
		*state_out = state;
	return error;
}

struct error *adb_wait(const struct adb *adb, enum adb_state wanted, bool leave, int64_t wait_ms, bool *reached_out)
{
	const int64_t deadline = clock_deadline(wait_ms);

	for (;;) {
		enum adb_state state;
		struct error *error = adb_get_state(adb, &state);
		bool known = !error;
		if (error && error_kind(error) == ERROR_INTERRUPTED)
			return error;
		error_free(error);
		bool reached = known && (state == wanted) != leave;
		int left = clock_poll_timeout(deadline);
		if (reached || left == 0) {
			*reached_out = reached;
			return NULL;
		}
		error = guard_sleep(adb->guard, left < POLL_MS ? left : POLL_MS);
		if (error)
			return error;
	}
}

/* For /bin/sh of any kind: one word, whatever stands in it. */
static char *quoted(const char *text)
{
	AUTO_STRBUF out = STRBUF_INIT;

	strbuf_addch(&out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_adds(&out, "'\\''");
		else
			strbuf_addch(&out, *text);
	}
	strbuf_addch(&out, '\'');
	return strbuf_steal(&out);
}

static char *as_root(enum adb_root_way way, const char *command)
{
	AUTO_FREE char *word = quoted(command);

	switch (way) {
	case ADB_ROOT_SU_C:
		return xasprintf("su -c %s", word);
	case ADB_ROOT_SU_0:
		return xasprintf("su 0 sh -c %s", word);
	case ADB_ROOT_UNKNOWN:
	case ADB_ROOT_ADBD:
		break;
	}
	return xstrdup(command);
}

/* Takes carriage returns before newlines out, which a device without the shell protocol puts there. */
static char *without_returns(const char *text)
{
	char *copy = xstrdup(text), *to = copy;

	for (const char *from = copy; *from; from++)
		if (*from != '\r' || from[1] != '\n')
			*to++ = *from;
	*to = '\0';
	return copy;
}

/* Cuts the last marker off `text` and tells the status behind it; false when it is not there, or not all of it. */
static bool cut_status(char *text, int *status_out)
{
	char *found = NULL, rest;

	for (char *at = text; (at = strstr(at, "\n" MARKER " ")); at++)
		found = at;
	if (!found || sscanf(found, "\n" MARKER " %d%c", status_out, &rest) != 2 || rest != '\n')
		return false;
	*found = '\0';
	return true;
}

static struct error *run_shell(const struct adb *adb, enum adb_root_way way, const char *command, struct strbuf *out,
			       int *status_out)
{
	AUTO_FREE char *rooted = as_root(way, command);
	AUTO_FREE char *line = xasprintf("( %s\n) 2>&1; r=$?; echo; echo \"" MARKER " $r\"", rooted);
	const char *const args[] = { "shell", line, NULL };
	AUTO_CALL call = { STRBUF_INIT };
	int status;

	struct error *error = run_call(adb, true, args, adb->settings->timeouts.adb_ms, &call);
	if (error)
		return error;
	AUTO_FREE char *text = without_returns(strbuf_str(&call.out));
	if (!cut_status(text, &status)) {
		error = call_error(adb, &call, "adb shell");
		return error ? error
			     : error_new(ERROR_LAB, "adb shell lost the connection to device %s before \"%s\" had ended",
					 serial_of(adb), command);
	}
	if (out)
		strbuf_adds(out, text);
	*status_out = status;
	return NULL;
}

struct error *adb_shell(const struct adb *adb, bool root, const char *command, struct strbuf *out, int *status_out)
{
	return run_shell(adb, root ? adb->root_way : ADB_ROOT_UNKNOWN, command, out, status_out);
}

/* Whether a command run in this way is root's. What fails is no way; only an interruption is an error. */
static struct error *is_root(const struct adb *adb, enum adb_root_way way, bool *is_out)
{
	AUTO_STRBUF out = STRBUF_INIT;
	int status = -1;

	struct error *error = run_shell(adb, way, "id -u", &out, &status);
	if (error && error_kind(error) == ERROR_INTERRUPTED)
		return error;
	*is_out = !error && !status && !strcmp(strbuf_str(&out), "0\n");
	error_free(error);
	return NULL;
}

/* The old adbd still answers for a moment, then none does. */
static struct error *wait_for_root(const struct adb *adb, bool *is_out)
{
	const int64_t deadline = clock_deadline(ROOT_MS);

	for (;;) {
		struct error *error = is_root(adb, ADB_ROOT_ADBD, is_out);
		if (error || *is_out || clock_poll_timeout(deadline) == 0)
			return error;
		error = guard_sleep(adb->guard, POLL_MS);
		if (error)
			return error;
	}
}

static struct error *restart_adbd(const struct adb *adb, bool *is_out)
{
	const char *const args[] = { "root", NULL };
	AUTO_CALL call = { STRBUF_INIT };

	struct error *error = run_call(adb, true, args, adb->settings->timeouts.adb_ms, &call);
	if (error)
		return error;
	/* "adbd cannot run as root in production builds", with a status of 0 or 1. */
	if (!strstr(strbuf_str(&call.out), "restarting") && !strstr(strbuf_str(&call.out), "already")) {
		*is_out = false;
		return NULL;
	}
	return wait_for_root(adb, is_out);
}

struct error *adb_root(struct adb *adb)
{
	static const enum adb_root_way ways[] = { ADB_ROOT_SU_C, ADB_ROOT_SU_0 };
	enum adb_state state;
	bool is = false;

	struct error *error = adb_get_state(adb, &state);
	if (!error && state != ADB_DEVICE)
		error = error_new(ERROR_LAB, "device %s cannot be made root: adb says it is %s", serial_of(adb),
				  adb_state_name(state));
	if (!error)
		error = is_root(adb, ADB_ROOT_ADBD, &is);
	if (!error && !is)
		error = restart_adbd(adb, &is);
	if (error)
		return error;
	if (is)
		adb->root_way = ADB_ROOT_ADBD;
	for (size_t i = 0; !is && i < ARRAY_SIZE(ways); i++) {
		error = is_root(adb, ways[i], &is);
		if (error)
			return error;
		if (is)
			adb->root_way = ways[i];
	}
	return is ? NULL
		  : error_new(ERROR_LAB, "device %s gives no root: neither adb root nor su -c nor su 0 works", serial_of(adb));
}

struct error *adb_push(const struct adb *adb, const char *file, const char *remote)
{
	const char *const args[] = { "push", file, remote, NULL };
	uint64_t rate = adb->settings->timeouts.bytes_per_s;
	uint64_t bytes;

	struct error *error = file_size(file, &bytes);
	if (error)
		return error;
	return run_checked(adb, args, adb->settings->timeouts.adb_ms + (int64_t)(bytes / (rate ? rate : 1) * 1000));
}

struct error *adb_pull(const struct adb *adb, const char *remote, const char *file)
{
	AUTO_FREE char *part = xasprintf("%s.part", file);
	const char *const args[] = { "pull", remote, part, NULL };

	struct error *error = run_checked(adb, args, adb->settings->timeouts.adb_ms);
	if (error)
		return error;
	if (!file_is_regular(part))
		return error_new(ERROR_LAB, "adb pull said that it copied %s from device %s, and did not", remote,
				 serial_of(adb));
	return file_rename(part, file);
}

struct error *adb_reboot(const struct adb *adb, const char *target)
{
	const char *const args[] = { "reboot", target, NULL };
	AUTO_CALL call = { STRBUF_INIT };

	struct error *error = run_call(adb, true, args, adb->settings->timeouts.adb_ms, &call);
	if (error)
		return error;
	/* It may be gone before it can say so: the next state tells. */
	if (call.result.exit_status && strstr(call.words, "closed"))
		return NULL;
	return call_error(adb, &call, "adb reboot");
}

void adb_stop_server(const struct adb *adb)
{
	const char *const args[] = { "kill-server", NULL };
	AUTO_CALL call = { STRBUF_INIT };
	struct adb unguarded = *adb;

	/* Also after an interruption: it would stay for ever. */
	unguarded.guard = NO_GUARD;
	error_free(run_call(&unguarded, false, args, adb->settings->timeouts.adb_ms, &call));
}
