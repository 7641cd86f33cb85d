/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/counter.h"
#include "agent/sysfile.h"
#include "agent_root.h"

static void without_a_pmu_nothing_is_opened(void **state)
{
	struct counter counter;
	struct counter_reading reading = { 1, 1 };
	char reason[100] = "";

	(void)state;
	for (enum counter_kind kind = COUNTER_CLOCK; kind <= COUNTER_MODEL; kind++) {
		assert_true(counter_open(&counter, kind, reason, sizeof(reason)));
		assert_int_equal(counter.kernel_fd, -1);
		counter_start(&counter);
		counter_stop(&counter);
		assert_true(counter_read(&counter, &reading, reason, sizeof(reason)));
		assert_true(reading.kernel == 0 && reading.user == 0);
		counter_close(&counter);
	}
	assert_string_equal(counter_name(COUNTER_PMU), "pmu");
	assert_string_equal(counter_name(COUNTER_MODEL), "model");
}

/* Where this machine lets us count: a loop counts at least its own instructions; a counter that never ran is refused. */
static void counts_or_says_why_not(void **state)
{
	struct counter counter;
	struct counter_reading reading = { 7, 7 };
	char reason[100] = "";

	(void)state;
	if (!counter_open(&counter, COUNTER_PMU, reason, sizeof(reason))) {
		assert_memory_equal(reason, "perf_event_open of instructions:", 32);
		return;
	}
	assert_false(counter_read(&counter, &reading, reason, sizeof(reason)));
	assert_true(reading.kernel == 7 && reading.user == 7);
	counter_start(&counter);
	for (volatile int i = 0; i < 100000; i++)
		;
	counter_stop(&counter);
	if (counter_read(&counter, &reading, reason, sizeof(reason)))
		assert_in_range(reading.user, 100000, 10000000);
	else
		assert_memory_equal(reason, "the PMU counted for ", 20);
	counter_close(&counter);
}

static void files(void **state)
{
	char *root = root_new();
	char path[PATH_MAX];
	size_t len = 0;

	(void)state;
	root_add(root, "line", "a b \n\n");
	root_add_bytes(root, "bytes", "a\0b", 3);
	char *line = sysfile_line(root, "/line");
	char *bytes = sysfile_read(root, "/bytes", &len);

	assert_string_equal(line, "a b");
	assert_int_equal(len, 3);
	assert_memory_equal(bytes, "a\0b", 4);
	free(line);
	free(bytes);
	char *big = malloc(100001);

	memset(big, 'x', 100000);
	big[100000] = '\0';
	root_add(root, "big", big);
	char *back = sysfile_read(root, "/big", &len);

	assert_int_equal(len, 100000);
	assert_string_equal(back, big);
	free(back);
	free(big);
	assert_null(sysfile_read(root, "/none", &len));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(len, 100000);
	snprintf(path, sizeof(path), "%s/line", root);
	assert_true(sysfile_write(path, "new"));
	snprintf(path, sizeof(path), "%s/none", root);
	assert_false(sysfile_write(path, "new"));
	assert_int_equal(access(path, F_OK), -1);
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_pmu_nothing_is_opened),
		cmocka_unit_test(counts_or_says_why_not),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
