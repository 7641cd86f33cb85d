/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plugin for QEMU counts, what it writes and how that is read, by function. */
#include "unit.h"
#include "workdir.h"

#include "device/counts.h"
#include "kernel/symbols.h"
#include "run/attribution.h"

/* The plugin's own part, which knows nothing of QEMU. */
#include "../../cmd/tcg-plugin/count.c"

#define KERNEL 0xffffffc010080000u

static void say(struct counts *counts, const char *line)
{
	for (; *line; line++)
		for (unsigned bit = 0; bit < 8; bit++)
			counts_bit(counts, (unsigned char)*line >> bit & 1);
	counts_end(counts);
}

/* Writes, frees and reads; the result is the caller's to free. */
static char *write_counts(void **state, struct counts *counts)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *path = path_join(dir->path, "counts");
	AUTO_STRBUF text = STRBUF_INIT;

	assert_true(counts_write(counts, path));
	for (size_t i = 0; i < counts->n_phases; i++)
		free(counts->phases[i].counted);
	for (size_t i = 0; i < N_SLOTS; i++) {
		free(counts->pieces[i].begun);
		free(counts->pieces[i].counted);
	}
	free(counts->blocks);
	free(counts->table);
	free(counts);
	assert_ok(file_read(path, &text));
	return strbuf_steal(&text);
}

static void only_what_lies_between_the_marks_of_measured_iterations_counts(void **state)
{
	struct counts *counts = counts_new();
	uint64_t now[3] = { 100, 7, 0 };

	assert_int_equal(counts_block(counts, KERNEL, 4), 0);
	assert_int_equal(counts_block(counts, 0x400000, 3), 1);
	assert_int_equal(counts_block(counts, KERNEL, 4), 0);
	say(counts, "iteration pft -1");
	counts_start(counts, 0, now);
	now[0] += 1000;
	counts_stop(counts, 0, now);
	say(counts, "phase 0 fault 10");
	say(counts, "iteration pft 0");
	counts_start(counts, 0, now);
	counts_start(counts, 0, now); /* another thread */
	now[0] += 40;
	counts_stop(counts, 0, now);
	now[1] += 6;
	/* Translated while the piece is open. */
	assert_int_equal(counts_block(counts, KERNEL, 2), 2);
	now[2] += 2;
	counts_stop(counts, 0, now);
	now[0] += 4000;
	counts_start(counts, 1, now);
	now[0] += 4;
	counts_stop(counts, 1, now);
	say(counts, "phase 0 fault 10");
	say(counts, "phase 1 teardown 10");
	AUTO_FREE char *text = write_counts(state, counts);
	assert_string_equal(text, "memcg-ab-blocks 1\n"
				  "phase pft fault 1 10\n"
				  "ffffffc010080000 4 40\n"
				  "400000 3 6\n"
				  "ffffffc010080000 2 2\n"
				  "phase pft teardown 1 10\n"
				  "ffffffc010080000 4 4\n"
				  "end\n");
}

static void what_another_task_does_meanwhile_does_not_count(void **state)
{
	struct counts *counts = counts_new();
	uint64_t now[1] = { 0 };

	counts_block(counts, KERNEL, 1);
	say(counts, "iteration w 0");
	/* The ioctl that started the counters stopped them first; and nothing is open yet. */
	counts_held(counts, true, now);
	counts_start(counts, 0, now);
	now[0] += 5;
	counts_held(counts, true, now);
	counts_held(counts, true, now);
	now[0] += 1000;
	counts_held(counts, true, now);
	counts_held(counts, false, now);
	now[0] += 7;
	counts_stop(counts, 0, now);
	say(counts, "phase 0 p 1");
	AUTO_FREE char *text = write_counts(state, counts);
	assert_string_equal(text, "memcg-ab-blocks 1\nphase w p 1 1\nffffffc010080000 1 12\nend\n");
}

static void a_forgotten_piece_and_a_new_iteration_leave_nothing(void **state)
{
	struct counts *counts = counts_new();
	uint64_t now[1] = { 0 };

	counts_block(counts, KERNEL, 1);
	say(counts, "iteration w 0");
	counts_start(counts, 0, now);
	now[0] += 5;
	counts_stop(counts, 0, now);
	counts_forget(counts, 0);
	counts_start(counts, 1, now);
	now[0] += 5;
	say(counts, "iteration w 1");
	counts_start(counts, 1, now);
	now[0] += 3;
	counts_stop(counts, 1, now);
	say(counts, "phase 0 a 1");
	say(counts, "phase 1 b 2");
	AUTO_FREE char *text = write_counts(state, counts);
	assert_string_equal(text, "memcg-ab-blocks 1\nphase w a 1 1\nphase w b 1 2\nffffffc010080000 1 3\nend\n");
}

static void what_cannot_be_right_is_said(void **state)
{
	static const struct {
		const char *line; /* NULL: a stop without a start */
		const char *want;
	} cases[] = {
		{ NULL, "memcg-ab-blocks 1\ntrouble a piece was stopped that was never started\nend\n" },
		{ "hello", "memcg-ab-blocks 1\ntrouble a line of the agent's cannot be read\nend\n" },
		{ "phase 0 fault 10", "memcg-ab-blocks 1\ntrouble a line of the agent's cannot be read\nend\n" },
		{ "iteration w 0\nphase 2 fault 10", "memcg-ab-blocks 1\ntrouble a line of the agent's cannot be read\nend\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counts *counts = counts_new();
		AUTO_FREE char *lines = xstrdup(cases[i].line ? cases[i].line : "");
		char *rest = lines, *line;
		if (!cases[i].line)
			counts_stop(counts, 0, (uint64_t[1]){ 0 });
		while (*lines && (line = strsep(&rest, "\n")))
			say(counts, line);
		AUTO_FREE char *text = write_counts(state, counts);
		assert_string_equal(text, cases[i].want);
	}
}

static void what_the_plugin_wrote_is_read(void **state)
{
	struct device_counts counts = { NULL, 0 };

	(void)state;
	assert_ok(device_counts_parse(
		"memcg-ab-blocks 1\nphase pft fault 5 50\nffffffc010080000 4 40\n400000 3 6\nphase pft end 1 1\nend\n", "f",
		&counts));
	assert_int_equal(counts.n, 2);
	assert_string_equal(counts.phases[0].workload, "pft");
	assert_string_equal(counts.phases[0].phase, "fault");
	assert_int_equal(counts.phases[0].iterations, 5);
	assert_int_equal(counts.phases[0].operations, 50);
	assert_int_equal(counts.phases[0].n, 2);
	assert_true(counts.phases[0].blocks[0].address == KERNEL);
	assert_int_equal(counts.phases[0].blocks[1].n, 3);
	assert_int_equal(counts.phases[0].blocks[1].insns, 6);
	assert_int_equal(counts.phases[1].n, 0);
	device_counts_deinit(&counts);
}

static void what_it_did_not_write_is_refused(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "memcg-ab: error: f is not what the plugin writes\n" },
		{ "memcg-ab-blocks 2\nend\n", "memcg-ab: error: f is not what the plugin writes\n" },
		{ "memcg-ab-blocks 1\nphase a b 1 1\n", "memcg-ab: error: f is cut off\n" },
		{ "memcg-ab-blocks 1\n1 2 3\nend\n", "memcg-ab: error: f:2: this line cannot be read\n" },
		{ "memcg-ab-blocks 1\nphase a b 1 x\nend\n", "memcg-ab: error: f:2: this line cannot be read\n" },
		{ "memcg-ab-blocks 1\nphase a b 1 1\n1 0 3\nend\n", "memcg-ab: error: f:3: this line cannot be read\n" },
		{ "memcg-ab-blocks 1\nphase a b 1 1\n1 1 99999999999999999999\nend\n",
		  "memcg-ab: error: f:3: this line cannot be read\n" },
		{ "memcg-ab-blocks 1\ntrouble too much\nend\n",
		  "memcg-ab: error: the plugin in QEMU could not count: too much\n" },
	};
	struct device_counts counts = { NULL, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_error(device_counts_parse(cases[i].text, "f", &counts), cases[i].want);
}

#define MAP                                                                                                                      \
	"ffffffc010080000 t _head\nffffffc010081000 T _stext\nffffffc010081000 T __do_work\nffffffc010081000 T do_work\n"        \
	"ffffffc010081040 t part.isra.0\nffffffc010081080 t helper.part.0\nffffffc0100810c0 D data\n"

static void an_address_lies_in_a_function(void **state)
{
	struct symbols *symbols = NULL;

	(void)state;
	assert_ok(symbols_parse(MAP, "m", &symbols));
	assert_string_equal(symbols_find(symbols, 0), "");
	assert_string_equal(symbols_find(symbols, KERNEL - 1), "");
	assert_string_equal(symbols_find(symbols, KERNEL), "_head");
	assert_string_equal(symbols_find(symbols, KERNEL + 0x1000), "do_work");
	assert_string_equal(symbols_find(symbols, KERNEL + 0x103c), "do_work");
	assert_string_equal(symbols_find(symbols, KERNEL + 0x1040), "part");
	assert_string_equal(symbols_find(symbols, KERNEL + 0x10bc), "helper");
	assert_string_equal(symbols_find(symbols, KERNEL + 0x10c0), "");
	symbols_free(symbols);
	assert_error(symbols_parse("ffffffc010081000 T a\nhello\n", "m", &symbols),
		     "memcg-ab: error: m:2: this is no symbol: \"hello\"\n");
	assert_error(symbols_parse("ffffffc010081000 D a\n", "m", &symbols), "memcg-ab: error: m has no functions\n");
}

static struct error *print_counts(void *arg, const struct stored_counts *counts)
{
	strbuf_addf(arg, "%s.%s %d %d:", counts->workload, counts->phase, (int)counts->iterations, (int)counts->operations);
	for (size_t i = 0; i < counts->n_functions; i++)
		strbuf_addf(arg, " %s%s=%d", counts->functions[i].kernel ? "" : "user:", counts->functions[i].name,
			    (int)counts->functions[i].insns);
	for (size_t i = 0; i < counts->n_blocks; i++)
		strbuf_addf(arg, " %llx/%d/%d", (unsigned long long)counts->blocks[i].address, (int)counts->blocks[i].n,
			    (int)counts->blocks[i].insns);
	strbuf_addch(arg, '\n');
	return NULL;
}

/* Writes both files, and stores what is in them for a boot. */
static struct error *attribute(void **state, struct store *store, const char *blocks)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *counts = path_join(dir->path, "counts");
	AUTO_FREE char *map = path_join(dir->path, "System.map");
	const struct attribution attribution = { counts, map };

	assert_ok(file_write_atomic(counts, blocks, strlen(blocks), 0644));
	assert_ok(file_write_atomic(map, MAP, strlen(MAP), 0644));
	return attribution_store(store, 1, 0, &attribution);
}

static void functions_are_stored_with_their_boot(void **state)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *db = path_join(dir->path, "run.db");
	const struct stored_boot boot = { .row = 1, .block = 0, .validity = "v", .status = "ok" };
	AUTO_STRBUF text = STRBUF_INIT;
	struct store *store = NULL;

	assert_ok(store_open(db, &store));
	assert_ok(store_put_boot(store, &boot));
	assert_ok(attribute(state, store,
			    "memcg-ab-blocks 1\nphase p f 1 10\n400000 1 3\nffffffc010081004 4 40\nffffffc010081000 1 9\n"
			    "ffffffc010081040 2 50\n400010 1 2\nend\n"));
	assert_ok(store_each_counts(store, 1, 0, print_counts, &text));
	assert_string_equal(text.data, "p.f 1 10: user:=5 do_work=49 part=50 400000/1/3 ffffffc010081004/4/40 "
				       "ffffffc010081000/1/9 ffffffc010081040/2/50 400010/1/2\n");
	/* They go with their boot. */
	assert_ok(store_put_boot(store, &boot));
	strbuf_reset(&text);
	assert_ok(store_each_counts(store, 1, 0, print_counts, &text));
	assert_int_equal(text.len, 0);
	store_close(store);
}

static void a_kernel_that_runs_elsewhere_is_not_attributed(void **state)
{
	const struct workdir *dir = *state;
	AUTO_FREE char *db = path_join(dir->path, "run.db");
	AUTO_FREE char *want =
		xasprintf("memcg-ab: error: 2.0%% of the kernel's instructions in p.f lie in no function of %s/System.map: "
			  "it runs elsewhere (nokaslr?), or in modules\n",
			  dir->path);
	const struct stored_boot boot = { .row = 1, .block = 0, .validity = "v", .status = "ok" };
	AUTO_STRBUF text = STRBUF_INIT;
	struct store *store = NULL;

	assert_ok(store_open(db, &store));
	assert_ok(store_put_boot(store, &boot));
	assert_error(attribute(state, store,
			       "memcg-ab-blocks 1\nphase p f 1 10\nffffffc010081004 4 98\nffffffd010081000 1 2\nend\n"),
		     want);
	assert_ok(store_each_counts(store, 1, 0, print_counts, &text));
	assert_int_equal(text.len, 0);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_what_lies_between_the_marks_of_measured_iterations_counts, workdir_setup,
						workdir_teardown),
		cmocka_unit_test_setup_teardown(what_another_task_does_meanwhile_does_not_count, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(a_forgotten_piece_and_a_new_iteration_leave_nothing, workdir_setup,
						workdir_teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_right_is_said, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(what_the_plugin_wrote_is_read, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(what_it_did_not_write_is_refused, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(an_address_lies_in_a_function, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(functions_are_stored_with_their_boot, workdir_setup, workdir_teardown),
		cmocka_unit_test_setup_teardown(a_kernel_that_runs_elsewhere_is_not_attributed, workdir_setup, workdir_teardown),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
