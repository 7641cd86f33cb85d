/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `events` of a device: read, laid over each other, refused where nothing counts, told to the agent, asked for by gates. */
#include "plan_data.h"

#include "agent/events.h"
#include "device/settings.h"

#define QEMU "kind: qemu\nqemu: {cpu: max, icount: shift=0}\n"
#define COMMAND "kind: command\ncommand: {boot: ./b"

static unsigned events_of(const struct lab *lab, const char *device)
{
	return lab_device(lab, device)->profile->events;
}

static void write_profiles(void **state)
{
	free(write_file(state, "profiles/plain.yaml", QEMU));
	free(write_file(state, "profiles/counted.yaml", QEMU "events: [dtlb_misses, cycles]\n"));
	free(write_file(state, "profiles/smp.yaml", "kind: qemu\nqemu: {cpu: max, smp: 2}\n"));
	free(write_file(state, "profiles/fake.yaml", "kind: sim\n"));
	free(write_file(state, "profiles/board.yaml", COMMAND "}\n"));
	free(write_file(state, "profiles/blind.yaml", COMMAND ", pmu: false}\n"));
	free(write_file(state, "profiles/phone.yaml",
			"kind: fastboot\nfastboot: {serial: A, product: x, stock: {boot: s}, console: unix:c, pmu: false}\n"));
	free(write_file(state, "profiles/s", ""));
}

static void a_device_says_what_is_counted(void **state)
{
	write_profiles(state);
	char *path = write_file(state, "lab.yaml",
				"devices:\n  plain: {}\n  counted: {}\n  none: {profile: counted, events: []}\n"
				"  other: {profile: counted, events: [itlb_walks]}\n  same: {profile: plain, events: [cycles, "
				"dtlb_misses]}\n  board: {events: [cycles]}\n");
	struct lab *lab = load_lab(path, TEST_SHARE);
	assert_int_equal(events_of(lab, "plain"), 0);
	assert_int_equal(events_of(lab, "counted"), 1u << EVENT_CYCLES | 1u << EVENT_DTLB_MISSES);
	assert_int_equal(events_of(lab, "none"), 0);
	assert_int_equal(events_of(lab, "other"), 1u << EVENT_ITLB_WALKS);
	assert_int_equal(events_of(lab, "board"), 1u << EVENT_CYCLES);
	/* What is counted is part of what makes boots comparable; in which order it is said is not. */
	const char *plain = lab_device(lab, "plain")->profile->digest, *counted = lab_device(lab, "counted")->profile->digest;
	assert_string_not_equal(plain, counted);
	assert_string_equal(lab_device(lab, "none")->profile->digest, plain);
	assert_string_equal(lab_device(lab, "same")->profile->digest, counted);
	lab_free(lab);
	free(path);
}

static void the_agent_is_told(void **state)
{
	const struct boot_request request = { .memcg = MEMCG_UNKNOWN };
	write_profiles(state);
	char *path = write_file(state, "lab.yaml", "devices: {counted: {}, plain: {}}\n");
	struct lab *lab = load_lab(path, TEST_SHARE);
	AUTO_STRBUF text = STRBUF_INIT;
	settings_write(&(struct settings){ .counter = "pmu",
					   .finish = "poweroff",
					   .profile = lab_device(lab, "counted")->profile },
		       &request, &text);
	assert_string_equal(strbuf_str(&text), "version=1\ncounter=pmu\nclock=0\nfinish=poweroff\nevents=cycles,dtlb_misses\n");
	strbuf_deinit(&text);
	text = (struct strbuf)STRBUF_INIT;
	settings_write(&(struct settings){ .counter = "pmu", .finish = "poweroff", .profile = lab_device(lab, "plain")->profile },
		       &request, &text);
	assert_string_equal(strbuf_str(&text), "version=1\ncounter=pmu\nclock=0\nfinish=poweroff\n");
	lab_free(lab);
	free(path);
}

static void what_is_wrong_is_said_at_once(void **state)
{
	struct lab *lab = NULL;
	write_profiles(state);
	char *path = write_file(state, "lab.yaml",
				"devices:\n"
				"  a: {profile: plain, events: [cycles, dtlb_mises, cycles, {x: y}]}\n"
				"  b: {profile: plain, events: cycles}\n"
				"  c: {profile: smp, events: [cycles]}\n"
				"  d: {profile: fake, events: [cycles]}\n"
				"  e: {profile: blind, events: [cycles]}\n"
				"  f: {profile: phone, events: [cycles]}\n"
				"  g: {profile: plain, event: [cycles]}\n");
	assert_error_in(
		state, lab_load(path, TEST_SHARE, &lab),
		"DIR/lab.yaml:2:40: error: an event of 'events' must be one of cycles, l1d_misses, l1i_misses, l2d_misses, "
		"llc_misses, dtlb_misses, itlb_misses, dtlb_walks, itlb_walks, branch_misses, not 'dtlb_mises' (did you "
		"mean 'dtlb_misses'?)\n"
		"DIR/lab.yaml:2:52: error: 'cycles' is twice in 'events'\n"
		"DIR/lab.yaml:2:32: note: the first is here\n"
		"DIR/lab.yaml:2:60: error: an event of 'events' must be a text, not a mapping\n"
		"DIR/lab.yaml:3:31: error: 'events' of device 'b' must be a list, not a text\n"
		"DIR/lab.yaml:4:29: error: 'events' cannot be had: QEMU counts under icount alone: set 'icount' in 'qemu'\n"
		"DIR/lab.yaml:5:30: error: 'events' cannot be had: a device of kind 'sim' counts nothing: its 'models' tell them "
		"(pft.fault.cycles_k)\n"
		"DIR/lab.yaml:6:31: error: 'events' cannot be had: without 'pmu' nothing is counted\n"
		"DIR/lab.yaml:7:31: error: 'events' cannot be had: without 'pmu' nothing is counted\n"
		"DIR/lab.yaml:8:23: error: unknown key 'event' in device 'g' (did you mean 'events'?)\n");
	assert_null(lab);
	free(path);
}

#define MATRIX                                                                                                                   \
	"name: t\nkernel: {source: linux-5.10, toolchain: gcc, base_config: allnoconfig}\nconfig: {off: {MEMCG: n}}\n"           \
	"cmdline: {plain: ''}\nmatrix: [{config: off, cmdline: plain}]\nworkloads: {pft: {size: 64M}}\n"

/* A gate on what nobody counts would never be decided. */
static void gates_ask_for_what_is_counted(void **state)
{
	struct matrix *matrix = NULL;
	write_profiles(state);
	AUTO_FREE char *lab_path = write_file(state, "lab.yaml",
					      "sources: {linux-5.10: {deb: linux-source-5.10}}\ntoolchains: {gcc: {cross: "
					      "aarch64-linux-gnu-}}\ndevices: {counted: {}, plain: {}, fake: {}}\n");
	struct lab *lab = load_lab(lab_path, TEST_SHARE);
	AUTO_FREE char *good =
		write_file(state, "good.yaml",
			   MATRIX "devices: [plain, counted]\ngate: [{metric: pft.both.cycles_k, worse_by: 1%}]\n");
	AUTO_FREE char *told = write_file(state, "told.yaml",
					  MATRIX "devices: [fake]\ngate: [{metric: pft.fault.llc_misses_k, worse_by: 1%}]\n");
	AUTO_FREE char *bad =
		write_file(state, "bad.yaml",
			   MATRIX "devices: [plain, counted]\ngate:\n  - {metric: pft.fault.llc_misses_k, worse_by: "
				  "1%}\n  - {metric: pft.fault.cycle_k, worse_by: 1%}\n");
	matrix_free(load_matrix(good, lab));
	matrix_free(load_matrix(told, lab));
	struct error *error = matrix_load(bad, lab, &matrix);
	assert_error_in(
		state, error,
		"DIR/bad.yaml:9:14: error: no device counts 'pft.fault.llc_misses_k': add llc_misses to 'events' of the device\n"
		"DIR/bad.yaml:10:14: error: there is no metric 'pft.fault.cycle_k' (did you mean 'pft.fault.cycles_k'?)\n"
		"DIR/bad.yaml:6:13: note: 'pft.fault.cycles_k' is declared here\n");
	assert_null(matrix);
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_device_says_what_is_counted, plan_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(the_agent_is_told, plan_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_said_at_once, plan_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(gates_ask_for_what_is_counted, plan_setup, workdir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
