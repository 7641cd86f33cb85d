/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include "agent/node.h"
#include "agent/records.h"
#include "agent/results.h"
#include "agent_root.h"

#define PARTITION_BYTES 131072

/* A machine with a disk of three partitions; what lies on the one named "results" is not empty. */
static char *machine(void)
{
	char *root = root_new(), *old = malloc(PARTITION_BYTES);

	memset(old, 'o', PARTITION_BYTES);
	root_add(root, "sys/class/block/sda/uevent", "MAJOR=8\nMINOR=0\nDEVNAME=sda\nDEVTYPE=disk\n");
	root_add(root, "sys/class/block/sda1/uevent",
		 "MAJOR=8\nMINOR=1\nDEVNAME=sda1\nDEVTYPE=partition\nPARTN=1\nPARTNAME=boot\n");
	root_add(root, "sys/class/block/sda2/uevent", "MAJOR=8\nMINOR=2\nDEVNAME=sda2\nPARTN=2\nPARTNAME=results\n");
	root_add(root, "sys/class/block/sda3/uevent", "MAJOR=8\nMINOR=3\nDEVNAME=sda3\nPARTN=3\nPARTNAME=small\n");
	root_add_bytes(root, "dev/sda2", old, PARTITION_BYTES);
	root_add(root, "dev/sda3", "small");
	free(old);
	return root;
}

static void read_back(const char *root, const char *path, char *data_out, size_t size)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	FILE *file = fopen(full, "r");

	assert_non_null(file);
	assert_int_equal(fread(data_out, 1, size, file), size);
	fclose(file);
}

static void writes_a_partition(void **state)
{
	char *root = machine(), *data = malloc(PARTITION_BYTES), reason[200] = "untouched";
	struct results results;

	(void)state;
	assert_true(results_open(&results, "block:results", -1, root, 0, reason, sizeof(reason)));
	assert_int_equal(results.kind, RESULTS_TO_PARTITION);
	read_back(root, "dev/sda2", data, PARTITION_BYTES);
	for (size_t i = 0; i < 4096; i++)
		assert_int_equal(data[i], 0);
	assert_int_equal(data[4096], 'o');
	assert_true(records_write(results.fd, "hello\n", 6));
	assert_true(results_flush(&results));
	assert_true(records_write(results.fd, "world\n", 6));
	/* More than was cleared: only the NUL tells where it ends. */
	for (int i = 0; i < 1000; i++)
		assert_true(records_write(results.fd, "123456789\n", 10));
	assert_true(results_flush(&results));
	results_close(&results);
	read_back(root, "dev/sda2", data, PARTITION_BYTES);
	assert_memory_equal(data, "hello\nworld\n", 12);
	assert_int_equal(strlen(data), 10012);
	assert_int_equal(data[10013], 'o');
	assert_string_equal(reason, "untouched");
	free(data);
	root_free(root);
}

static void refuse(const char *root, const char *setting, const char *want)
{
	char reason[200] = "";
	struct results results;

	assert_false(results_open(&results, setting, 7, root, 0, reason, sizeof(reason)));
	assert_string_equal(reason, want);
	assert_int_equal(results.kind, RESULTS_TO_CONSOLE);
	assert_int_equal(results.fd, 7);
}

static void says_what_is_not_there(void **state)
{
	char *root = machine(), data[6];

	(void)state;
	refuse(root, "block:misc", "no partition 'misc' within 0 s");
	refuse(root, "block:/dev/none", "no partition '/dev/none' within 0 s");
	refuse(root, "pmsg", "no device 'pmsg0' within 0 s");
	refuse(root, "tty:ttyGS0", "no device 'ttyGS0' within 0 s");
	refuse(root, "block:small", "partition 'small' has 5 bytes, fewer than the 65536 that records may need");
	read_back(root, "dev/sda3", data, 5);
	assert_memory_equal(data, "small", 5);
	root_add(root, "dev/ttyGS0", "");
	refuse(root, "tty:/dev/ttyGS0", "no USB host has configured the gadget within 0 s");
	root_add(root, "sys/class/udc/a600000.dwc3/state", "addressed\n");
	refuse(root, "tty:/dev/ttyGS0", "no USB host has configured the gadget within 0 s");
	root_add(root, "sys/class/udc/a600000.dwc3/state", "configured\n");
	refuse(root, "tty:/dev/ttyGS0", "cannot make a raw terminal of '/dev/ttyGS0': Inappropriate ioctl for device");
	root_add(root, "sys/class/block/sdb1/uevent", "MAJOR=8\nMINOR=17\nDEVNAME=sdb1\nPARTNAME=results\n");
	refuse(root, "block:results", "2 partitions are named 'results'");
	root_free(root);
}

static void *appear(void *root)
{
	node_pause();
	node_pause();
	root_add(root, "dev/sdb1", "x");
	root_add(root, "sys/class/block/sdb1/uevent", "MAJOR=8\nMINOR=17\nDEVNAME=sdb1\nPARTNAME=late\n");
	return NULL;
}

static void waits_for_a_partition(void **state)
{
	char *root = machine(), path[NODE_PATH_MAX], want[NODE_PATH_MAX], reason[200] = "";
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, appear, root), 0);
	assert_true(node_partition(root, "late", 10000, path, reason, sizeof(reason)));
	pthread_join(thread, NULL);
	snprintf(want, sizeof(want), "%s/dev/sdb1", root);
	assert_string_equal(path, want);
	root_free(root);
}

/* Needs the right to make device nodes; without it, the reason says so. */
static void makes_a_missing_node(void **state)
{
	char *root = machine(), path[NODE_PATH_MAX], reason[200] = "";
	struct stat status;

	(void)state;
	if (node_partition(root, "boot", 0, path, reason, sizeof(reason))) {
		assert_int_equal(stat(path, &status), 0);
		assert_true(S_ISBLK(status.st_mode));
		assert_true(status.st_rdev == makedev(8, 1));
	} else {
		assert_string_equal(reason, "cannot make /dev/sda1 for partition 'boot': Operation not permitted");
	}
	root_free(root);
}

static void writes_pmsg_as_it_comes(void **state)
{
	char *root = machine(), data[12], reason[200] = "";
	struct results results;

	(void)state;
	root_add(root, "dev/pmsg0", "");
	assert_true(results_open(&results, "pmsg", -1, root, 0, reason, sizeof(reason)));
	assert_true(records_write(results.fd, "hello\n", 6));
	assert_true(results_flush(&results));
	assert_true(records_write(results.fd, "world\n", 6));
	results_close(&results);
	read_back(root, "dev/pmsg0", data, sizeof(data));
	assert_memory_equal(data, "hello\nworld\n", 12);
	root_free(root);
}

static void *read_slowly(void *arg)
{
	const int master = *(int *)arg;
	size_t *total = malloc(sizeof(*total));
	char data[1024];
	ssize_t n;

	*total = 0;
	while (*total < 100000 && (n = read(master, data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(data[i], (*total + (size_t)i) % 10 == 9 ? '\n' : 'x');
		*total += (size_t)n;
	}
	return total;
}

/* More than a terminal holds, to a host that is slow; no newline is turned into two bytes, nothing is echoed. */
static void writes_a_terminal(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	char setting[64], reason[200] = "";
	struct results results;
	pthread_t thread;
	void *total;

	(void)state;
	assert_true(master >= 0);
	assert_int_equal(grantpt(master) | unlockpt(master), 0);
	snprintf(setting, sizeof(setting), "tty:%s", ptsname(master));
	assert_true(results_open(&results, setting, -1, "", 0, reason, sizeof(reason)));
	assert_int_equal(write(master, "from the host\n", 14), 14);
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &master), 0);
	for (int i = 0; i < 10000; i++)
		assert_true(records_write(results.fd, "xxxxxxxxx\n", 10));
	assert_true(results_flush(&results));
	pthread_join(thread, &total);
	assert_int_equal(*(size_t *)total, 100000);
	free(total);
	close(master);
	assert_false(records_write(results.fd, "gone\n", 5));
	results_close(&results);
}

static void the_console_is_what_it_was(void **state)
{
	char reason[200] = "";
	struct results results;

	(void)state;
	assert_true(results_open(&results, "console", STDOUT_FILENO, "", 0, reason, sizeof(reason)));
	assert_int_equal(results.fd, STDOUT_FILENO);
	results_close(&results);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_a_partition),	      cmocka_unit_test(says_what_is_not_there),
		cmocka_unit_test(waits_for_a_partition),      cmocka_unit_test(makes_a_missing_node),
		cmocka_unit_test(writes_pmsg_as_it_comes),    cmocka_unit_test(writes_a_terminal),
		cmocka_unit_test(the_console_is_what_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
