/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane's session: what is called when, and what becomes of a block whose device is lost. The device is a list of what it shall do. */
#include "unit.h"
#include "workdir.h"

#include <fcntl.h>

#include "agent/wire.h"
#include "base/log.h"
#include "device/lane.h"

#define BUILD_ID "00112233445566778899aabbccddeeff00112233"

/* What the device does at its Nth boot, and what was called. */
struct script {
	const char *records; /* file with an agent's records */
	bool begin_fails, end_fails;
	unsigned lost_at, lost_after; /* from 1; 0 = never: in deploy, or behind a good boot */
	unsigned fails_at, fails_from; /* from 1; 0 = never: a boot's deploy fails, and those from that one on */
	unsigned n_boots;
	char calls[256];
	unsigned n_records;
	enum boot_status last;
	char *host_ms;
};

/* The steps have no argument of the test's own: it comes in the context's name for the journal. */
static struct script *script_of(const struct device_context *context)
{
	struct script *script;

	assert_int_equal(sscanf(context->journal_path, "%p", (void **)&script), 1);
	return script;
}

static void call(struct script *script, const char *what)
{
	strcat(script->calls, what);
	strcat(script->calls, " ");
}

static char *step_check(const struct device_context *context)
{
	(void)context;
	return xstrdup("");
}

static struct error *step_begin(struct lane_session *session)
{
	struct script *script = script_of(session->context);

	call(script, "begin");
	return script->begin_fails ? error_new(ERROR_LAB, "preflight: no") : NULL;
}

static struct error *step_end(struct lane_session *session)
{
	struct script *script = script_of(session->context);

	call(script, "end");
	return script->end_fails ? error_new(ERROR_LAB, "flash boot: no") : NULL;
}

static struct error *step_deploy(struct lane_boot *boot)
{
	struct script *script = script_of(boot->context);

	call(script, "deploy");
	jnode_set_string(boot->identity, "device.host_ms", "7");
	script->n_boots++;
	if (script->n_boots == script->fails_at || (script->fails_from && script->n_boots >= script->fails_from))
		return error_new(ERROR_LAB, "flash boot: no");
	if (script->n_boots != script->lost_at)
		return NULL;
	boot->session->lost = xstrdup("it is gone");
	return error_new(ERROR_LAB, "it is gone");
}

static struct error *step_boot(struct lane_boot *boot)
{
	call(script_of(boot->context), "boot");
	return NULL;
}

static struct error *step_console(struct lane_boot *boot, int *fd_out)
{
	*fd_out = open(script_of(boot->context)->records, O_RDONLY | O_CLOEXEC);
	boot->state = xcalloc(1, sizeof(int));
	*(int *)boot->state = *fd_out;
	return *fd_out < 0 ? error_new(ERROR_LAB, "no records") : NULL;
}

static void step_power(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out)
{
	struct script *script = script_of(boot->context);

	(void)grace_ms;
	call(script, boot->finished ? "power" : "power-unfinished");
	if (script->n_boots == script->lost_after)
		boot->session->lost = xstrdup("it did not come back");
	if (!boot->finished)
		ending_out->death = xstrdup("the device came back without a word");
	if (boot->state)
		close(*(int *)boot->state);
	free(boot->state);
}

static const struct lane_ops steps = {
	.console_goes_on = true,
	.check = step_check,
	.begin = step_begin,
	.end = step_end,
	.deploy = step_deploy,
	.boot = step_boot,
	.console = step_console,
	.power = step_power,
};

static struct error *take_record(void *arg, const struct boot_record *record)
{
	struct script *script = arg;

	script->n_records++;
	script->last = record->status;
	free(script->host_ms);
	script->host_ms = xstrdup(jnode_string(record->identity, "device.host_ms", ""));
	return NULL;
}

static void add_record(struct strbuf *out, uint32_t seq, enum wire_type type, const char *name, const char *value)
{
	struct wire_record record = { .type = type, .seq = seq, .pass = true, .unit = "insn/page" };
	char line[WIRE_LINE_MAX];

	snprintf(record.name, sizeof(record.name), "%s", name);
	snprintf(record.value, sizeof(record.value), "%s", value);
	assert_true(wire_format(&record, line) > 0);
	strbuf_adds(out, line);
}

/* Two requests on that device. */
static struct error *run(const struct workdir *dir, struct script *script)
{
	AUTO_FREE char *records = path_join(dir->path, "records");
	AUTO_FREE char *console = path_join(dir->path, "console");
	AUTO_FREE char *lock = path_join(dir->path, "lock");
	AUTO_FREE char *self = xasprintf("%p", (void *)script);
	AUTO_STRBUF text = STRBUF_INIT;
	const struct profile profile = { .boot_timeout_ms = 3000, .silence_timeout_ms = 3000, .run_timeout_ms = 3000 };
	const struct device_context context = {
		.name = "phone",
		.profile = &profile,
		.scratch_dir = dir->path,
		.lock_path = lock,
		.journal_path = self,
		.guard = NO_GUARD,
	};
	struct boot_request requests[2] = { { .id = 1 }, { .id = 2 } };

	log_set_level(LOG_ERROR);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		requests[i].variant = "off/plain/0";
		requests[i].cmdline = "quiet";
		requests[i].build_id = BUILD_ID;
		requests[i].memcg = MEMCG_NONE;
		requests[i].console_path = console;
	}
	add_record(&text, 0, WIRE_HELLO, "0.1", "1");
	add_record(&text, 1, WIRE_IDENTITY, "build_id", BUILD_ID);
	add_record(&text, 2, WIRE_IDENTITY, "cmdline", "quiet");
	/* The kernel's own id of that boot is the same in both: the second is none. */
	add_record(&text, 3, WIRE_IDENTITY, "boot_id", "x");
	add_record(&text, 4, WIRE_IDENTITY, "memcg", "none");
	add_record(&text, 5, WIRE_RESULT, "pft.fault.insn_k.0", "1587.9");
	add_record(&text, 6, WIRE_END, "", "");
	assert_ok(file_write_atomic(records, text.data, script->records ? 0 : text.len, 0644));
	script->records = records;
	struct error *error = lane_run_block(&steps, &context, requests, 2, take_record, script);
	script->records = NULL;
	return error;
}

static void test_plain(void **state)
{
	struct script script = { 0 };

	assert_ok(run(*state, &script));
	/* The second boot told the first one's id, which makes it void, and it was tried once more. */
	assert_string_equal(script.calls, "begin deploy boot power deploy boot power deploy boot power end ");
	assert_int_equal(script.n_records, 2);
	assert_int_equal(script.last, BOOT_VOID);
	assert_string_equal(script.host_ms, "7");
	free(script.host_ms);
}

static void test_begin_fails(void **state)
{
	struct script script = { .begin_fails = true, .end_fails = true };

	assert_error(run(*state, &script), "memcg-ab: error: device phone: preflight: no\n"
					   "memcg-ab: note: device phone was not left as it was found: flash boot: no\n");
	assert_string_equal(script.calls, "begin end ");
	assert_int_equal(script.n_records, 0);
}

static void test_end_fails(void **state)
{
	struct script script = { .end_fails = true };

	assert_error(run(*state, &script), "memcg-ab: error: device phone was not left as it was found: flash boot: no\n");
	assert_int_equal(script.n_records, 2);
	free(script.host_ms);
}

/* Nothing is said of a boot that was not made: another device makes it. */
static void test_lost_in_a_boot(void **state)
{
	struct script script = { .lost_at = 1 };

	assert_error(run(*state, &script), "memcg-ab: error: device phone cannot be used any more: it is gone\n");
	assert_string_equal(script.calls, "begin deploy power-unfinished end ");
	assert_int_equal(script.n_records, 0);
}

static void test_lost_behind_a_boot(void **state)
{
	struct script script = { .lost_after = 1 };

	assert_error(run(*state, &script), "memcg-ab: error: device phone cannot be used any more: it did not come back\n");
	assert_string_equal(script.calls, "begin deploy boot power end ");
	assert_int_equal(script.n_records, 1);
	assert_int_equal(script.last, BOOT_OK);
	free(script.host_ms);
}

static void test_death_without_a_console(void **state)
{
	struct script script = { .records = "none", .lost_after = 2 };

	assert_error(run(*state, &script), "memcg-ab: error: device phone cannot be used any more: it did not come back\n");
	assert_int_equal(script.last, BOOT_FAILED);
	assert_string_equal(script.calls, "begin deploy boot power-unfinished deploy boot power-unfinished end ");
	free(script.host_ms);
}

/* The lab's fault once is no reason to give the device up; a whole block of them is, and another device makes its last boot. */
static void test_one_failure(void **state)
{
	struct script script = { .fails_at = 1 };

	assert_ok(run(*state, &script));
	assert_string_equal(script.calls, "begin deploy power-unfinished deploy boot power end ");
	assert_int_equal(script.n_records, 2);
	assert_int_equal(script.last, BOOT_OK);
	free(script.host_ms);
}

static void test_given_up(void **state)
{
	struct script script = { .fails_from = 1 };

	assert_error(run(*state, &script),
		     "memcg-ab: error: device phone cannot be used any more: 2 boots in a row failed, the last one "
		     "flash boot: no\n");
	assert_string_equal(script.calls, "begin deploy power-unfinished deploy power-unfinished end ");
	assert_int_equal(script.n_records, 1);
	assert_int_equal(script.last, BOOT_LAB);
	free(script.host_ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_begin_fails, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_end_fails, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_lost_in_a_boot, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_lost_behind_a_boot, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_death_without_a_console, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_one_failure, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(test_given_up, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
