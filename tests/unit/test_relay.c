/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/relay.h"
#include "agent/wire.h"
#include "agent_root.h"

#define OURS "0123456789abcdef"

static size_t boot_text(char *out, const char *version)
{
	struct wire_record hello = { .type = WIRE_HELLO, .value = "1" };
	const struct wire_record end = { .type = WIRE_END, .seq = 1 };
	size_t len;

	snprintf(hello.name, sizeof(hello.name), "%s", version);
	len = wire_format(&hello, out);
	return len + wire_format(&end, out + len);
}

static void check(const char *root, const char *setting, const char *nonce, const char *want)
{
	char got[2000];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_true(relay_print(setting, root, nonce, 0, ends[1]));
	close(ends[1]);
	ssize_t len = read(ends[0], got, sizeof(got) - 1);

	assert_true(len >= 0);
	got[len] = '\0';
	close(ends[0]);
	assert_string_equal(got, want);
}

static void prints_pmsg(void **state)
{
	char *root = root_new(), record[1000], ours[400], want[1000];
	size_t len = boot_text(record, "0.1.0/fedcba9876543210");

	(void)state;
	check(root, "pmsg", OURS, "MEMCG-AB-RELAY nothing: cannot list /sys/fs/pstore: No such file or directory\n");
	root_add(root, "sys/fs/pstore/dmesg-ramoops-0", "Panic#1 Part1\n");
	check(root, "pmsg", OURS, "MEMCG-AB-RELAY nothing: no pmsg record in /sys/fs/pstore\n");
	boot_text(ours, "0.1.0/" OURS);
	len += boot_text(record + len, "0.1.0/" OURS);
	strcpy(record + len, "\n2 Corrected bytes, 0 unrecoverable blocks\n");
	root_add(root, "sys/fs/pstore/pmsg-ramoops-0", record);
	root_add(root, "sys/fs/pstore/pmsg-ramoops-1.enc.z", "x");
	snprintf(want, sizeof(want),
		 "%sMEMCG-AB-RELAY 2 records of this boot, 2 of others, %zu bytes in pmsg-ramoops-0\n"
		 "MEMCG-AB-RELAY nothing: pmsg-ramoops-1.enc.z is compressed and this kernel cannot read it\n",
		 ours, strlen(record));
	check(root, "pmsg", OURS, want);
	root_free(root);
}

static void prints_a_partition(void **state)
{
	char *root = root_new(), record[1000], ours[400], want[1000];
	size_t len = boot_text(record, "0.1.0/" OURS);

	(void)state;
	strcpy(ours, record);
	record[len++] = '\0';
	len += boot_text(record + len, "0.1.0/" OURS);
	check(root, "block:results", OURS, "MEMCG-AB-RELAY nothing: no partition 'results' within 0 s\n");
	root_add(root, "sys/class/block/vda2/uevent", "MAJOR=254\nMINOR=2\nDEVNAME=vda2\nPARTNAME=results\n");
	root_add_bytes(root, "dev/vda2", record, len);
	snprintf(want, sizeof(want), "%sMEMCG-AB-RELAY 2 records of this boot, 0 of others, %zu bytes in results\n", ours,
		 strlen(ours));
	check(root, "block:results", OURS, want);
	snprintf(want, sizeof(want), "MEMCG-AB-RELAY 0 records of this boot, 2 of others, %zu bytes in results\n", strlen(ours));
	check(root, "block:results", "0000000000000000", want);
	root_add(root, "dev/vda2", "");
	check(root, "block:results", NULL, "MEMCG-AB-RELAY 0 records of this boot, 0 of others, 0 bytes in results\n");
	root_free(root);
}

static void says_when_the_other_side_has_gone(void **state)
{
	char *root = root_new();

	(void)state;
	assert_false(relay_print("pmsg", root, OURS, 0, -1));
	root_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_pmsg),
		cmocka_unit_test(prints_a_partition),
		cmocka_unit_test(says_when_the_other_side_has_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
