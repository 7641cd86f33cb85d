/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What workloads are made of: regions, disks, file systems, limits, and what they check of their own work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/checks.h"
#include "agent/disk.h"
#include "agent/folio.h"
#include "agent/group.h"
#include "agent/memcg.h"
#include "agent/minifs.h"
#include "agent/placement.h"
#include "agent/region.h"
#include "agent/swaparea.h"
#include "agent/undo.h"
#include "agent/vmstat.h"
#include "agent_root.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define MIB ((size_t)1 << 20)

static void checks_refuse_what_is_wrong(void **state)
{
	struct workload_run run = { 0 };

	(void)state;
	assert_int_equal(checks_faults(&run, 8192, 8192, 4096), 0);
	assert_int_equal(checks_faults(&run, 8192 + 8 + 16, 8192, 4096), 0);
	assert_int_equal(checks_faults(&run, 16, 8192, 4096), -1);
	assert_string_equal(run.reason, "16 minor faults for 8192 pieces of 4096 bytes: the kernel used another size");
	assert_int_equal(checks_faults(&run, 8192 + 8 + 17, 8192, 4096), -1);

	assert_int_equal(checks_swapped(&run, "out", 8192, 8192, 0), 0);
	assert_int_equal(checks_swapped(&run, "out", 8193, 8192, 0), -1);
	assert_int_equal(checks_swapped(&run, "in", 8191, 8192, 64), -1);
	assert_string_equal(run.reason, "8191 pages were swapped in instead of 8192");
	assert_int_equal(checks_swapped(&run, "in", 8192 + 64, 8192, 64), 0);

	assert_int_equal(checks_limit(&run, 4096, 4096), 0);
	assert_int_equal(checks_limit(&run, 4097, 4096), -1);
	assert_string_equal(run.reason, "the limit is not applied: 4097 bytes are charged with a limit of 4096");

	assert_int_equal(checks_charge(&run, 5 * MIB, 14 * MIB, 10 * MIB), 0);
	assert_int_equal(checks_charge(&run, 5 * MIB, 14 * MIB - 1, 10 * MIB), -1);
	assert_string_equal(run.reason, "10485760 bytes more are not charged: the group went from 5242880 to 14680063");

	assert_int_equal(checks_cached(&run, 100, 0, 100), 0);
	assert_int_equal(checks_cached(&run, 60, 40, 100), 0);
	assert_int_equal(checks_cached(&run, 60, 39, 100), -1);
	assert_string_equal(run.reason, "60 of 100 pages are in the page cache (and 39 were reclaimed)");
	assert_int_equal(checks_cached(&run, 101, 0, 100), -1);
}

static uint64_t minor_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt;
}

static void regions_are_what_was_written(void **state)
{
	struct workload_run run = { .root = "", .region_offset = 2 * MIB };

	(void)state;
	for (enum region_fill fill = REGION_ZERO; fill <= REGION_RANDOM; fill++) {
		struct region region;
		size_t size;

		assert_int_equal(region_size(&run, MIB - 1, &size), 0);
		assert_int_equal(size, MIB);
		assert_int_equal(region_map(&run, size, false, &region), 0);
		assert_int_equal((uintptr_t)region.start % (2 * MIB), 0);
		assert_int_equal(region_resident(&region), 0);

		uint64_t faults = minor_faults();

		region_fill(&region, fill);
		assert_int_equal(checks_faults(&run, minor_faults() - faults, region.pages, region.page_size), 0);
		assert_int_equal(region_resident(&region), region.pages);
		assert_true(region_read(&region, fill));
		assert_false(region_read(&region, fill == REGION_ZERO ? REGION_RANDOM : REGION_ZERO));
		/* one page of another's content */
		memcpy(region.start + 5 * region.page_size, region.start + 6 * region.page_size, 8);
		region.start[7 * region.page_size] ^= 1;
		assert_false(region_read(&region, fill));
		region_unmap(&region);
		assert_null(region.start);
	}
}

/* Huge pages that were left on show in the count of faults: on the machine's own kernel, where it has them. */
static void huge_pages_are_noticed(void **state)
{
	struct workload_run run = { .root = "" };
	struct region region;

	(void)state;
	if (region_map(&run, 4 * MIB, true, &region))
		return;

	uint64_t faults = minor_faults();

	region_fill(&region, REGION_ZERO);
	faults = minor_faults() - faults;
	assert_int_equal(checks_faults(&run, faults, region.pages, region.page_size), faults < region.pages ? -1 : 0);
	region_unmap(&region);
}

static void a_region_must_fit(void **state)
{
	struct workload_run run = { .root = root_new() };
	size_t size = 7;

	(void)state;
	root_add(run.root, "proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\n");
	assert_int_equal(region_size(&run, 900 << 10, &size), 0);
	assert_int_equal(size, 900 << 10);
	assert_int_equal(region_size(&run, 901 << 10, &size), -1);
	assert_string_equal(run.reason, "size 925696 does not fit into 1000 KiB of available memory");
	assert_int_equal(size, 900 << 10);
	root_free((char *)run.root);
}

static void counts_of_the_kernel(void **state)
{
	char *root = root_new();
	struct swap_counts counts;

	(void)state;
	root_add(root, "proc/vmstat", "pswpin 12\npswpout 7\nxpswpout 9\nswpin_zero 3\nswpout_zero 40\n");
	root_add(root, "proc/meminfo", "SwapCached:          8 kB\n");
	vmstat_swap(root, &counts);
	assert_true(counts.in == 15 && counts.out == 47);
	assert_true(vmstat_count(root, "pswp") == 0 && vmstat_count(root, "pgfault") == 0);
	assert_true(vmstat_meminfo_kib(root, "SwapCached") == 8);
	root_add(root, "proc/vmstat", "pswpin 1\npswpout 2\n");
	vmstat_swap(root, &counts);
	assert_true(counts.in == 1 && counts.out == 2);
	root_free(root);
}

static void ram_disks_must_be_large_enough(void **state)
{
	char *root = root_new(), reason[128] = "", path[512];
	struct disk disk;

	(void)state;
	assert_false(disk_open(&disk, root, "brd", DISK_FOR_SWAP, MIB, reason, sizeof(reason)));
	assert_string_equal(reason, "this kernel has no RAM disk ram0 (CONFIG_BLK_DEV_RAM)");
	root_add(root, "sys/class/block/ram0/size", "8192\n");
	root_add(root, "dev/ram0", "");
	assert_false(disk_open(&disk, root, "brd", DISK_FOR_SWAP, 5 * MIB, reason, sizeof(reason)));
	assert_string_equal(reason, "ram0 has 4096 KiB, but 5120 are needed: ramdisk_size=5120 on the command line");
	assert_string_equal(disk.path, "");
	assert_true(disk_open(&disk, root, "brd", DISK_FOR_SWAP, 4 * MIB, reason, sizeof(reason)));
	/* all of it was written */
	struct stat status;

	snprintf(path, sizeof(path), "%s/dev/ram0", root);
	assert_string_equal(disk.path, path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, 4 * MIB);
	assert_true(disk_write(&disk, "abc", 3, 10, reason, sizeof(reason)));
	disk_close(&disk, root);
	assert_string_equal(disk.path, "");
	root_free(root);
}

static void zrams_are_taken_when_free(void **state)
{
	char *root = root_new(), reason[128] = "";
	struct disk disk;

	(void)state;
	assert_false(disk_open(&disk, root, "zram", DISK_FOR_SWAP, MIB, reason, sizeof(reason)));
	assert_string_equal(reason, "this kernel has no zram that is free (CONFIG_ZRAM)");
	root_add(root, "sys/class/block/zram0/disksize", "4096\n");
	root_add(root, "sys/class/block/zram1/disksize", "0\n");
	root_add(root, "sys/class/block/zram1/reset", "0\n");
	root_add(root, "dev/zram1", "");
	assert_true(disk_open(&disk, root, "zram", DISK_FOR_SWAP, MIB, reason, sizeof(reason)));
	assert_string_equal(disk.name, "zram1");
	disk_close(&disk, root);
	/* both taken: a third is made */
	root_add(root, "sys/class/block/zram1/disksize", "4096\n");
	root_add(root, "sys/class/zram-control/hot_add", "2\n");
	root_add(root, "sys/class/block/zram2/disksize", "0\n");
	root_add(root, "sys/class/block/zram2/reset", "0\n");
	root_add(root, "dev/zram2", "");
	assert_true(disk_open(&disk, root, "zram", DISK_FOR_SWAP, MIB, reason, sizeof(reason)));
	assert_string_equal(disk.name, "zram2");
	disk_close(&disk, root);
	root_free(root);
}

static void block_devices_go_by_their_name(void **state)
{
	char *root = root_new(), reason[128] = "";
	struct disk disk;

	(void)state;
	root_add(root, "dev/sda9", "four");
	assert_false(disk_open(&disk, root, "block:/dev/sda9", DISK_FOR_FILES, MIB, reason, sizeof(reason)));
	assert_string_equal(reason, "/dev/sda9 has 0 KiB, but 1024 are needed");
	assert_true(disk_open(&disk, root, "block:/dev/sda9", DISK_FOR_FILES, 4, reason, sizeof(reason)));
	assert_int_equal(disk.kind, DISK_BLOCK);
	disk_close(&disk, root);
	root_free(root);
}

/* As mkswap(8) of this machine writes it, but for the UUID. */
static void swap_headers(void **state)
{
	char path[] = "/tmp/memcg-ab-swap-XXXXXX", command[128];
	unsigned char ours[4096], theirs[4096];
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(ftruncate(fd, 64 * 4096), 0);
	snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin mkswap %s >/dev/null 2>&1", path);
	assert_int_equal(system(command), 0);
	assert_int_equal(pread(fd, theirs, sizeof(theirs), 0), sizeof(theirs));
	memset(theirs + 1036, 0, 16);
	swaparea_header(ours, sizeof(ours), 64);
	assert_memory_equal(ours, theirs, sizeof(ours));
	close(fd);
	unlink(path);
}

/* The file system's own checker finds nothing to say. */
static void file_systems_are_sound(void **state)
{
	static const uint64_t sizes[] = { MINIFS_SMALLEST, 4 * MIB, 100 * MIB + 4096, MINIFS_LARGEST };
	static unsigned char image[MINIFS_BLOCKS * MINIFS_BLOCK];

	(void)state;
	for (size_t i = 0; i < N(sizes); i++) {
		char path[] = "/tmp/memcg-ab-fs-XXXXXX", command[128];
		int fd = mkstemp(path);

		minifs_make(image, sizes[i]);
		assert_int_equal(write(fd, image, sizeof(image)), sizeof(image));
		assert_int_equal(ftruncate(fd, (off_t)sizes[i]), 0);
		snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin e2fsck -fn %s >/dev/null 2>&1", path);
		assert_int_equal(system(command), 0);
		/* and it does look */
		assert_int_equal(pwrite(fd, "x", 1, 8 * MINIFS_BLOCK + 8), 1);
		assert_int_not_equal(system(command), 0);
		close(fd);
		unlink(path);
	}
}

/* A group of files: what is written into them is what is read back, unless they lead to nowhere. */
static struct memcg fake_memcg(const char *root, const char *version)
{
	struct memcg memcg = { .state = "on", .version = version };

	snprintf(memcg.mount, sizeof(memcg.mount), "%s/cgroup", root);
	return memcg;
}

static void limits_are_read_back(void **state)
{
	char *root = root_new(), path[512];
	struct memcg v2 = fake_memcg(root, "v2"), v1 = fake_memcg(root, "v1");
	struct workload_run run = { .memcg = &v2, .place = "child-v2" };
	uint64_t usage = 0;

	(void)state;
	root_add(root, "cgroup/" MEMCG_GROUP "/memory.max", "max\n");
	root_add(root, "cgroup/" MEMCG_GROUP "/memory.high", "max\n");
	root_add(root, "cgroup/" MEMCG_GROUP "/memory.current", "123456\n");
	assert_int_equal(group_set_limit(&run, GROUP_HARD, 32 * MIB), 0);
	assert_int_equal(group_set_limit(&run, GROUP_SOFT, GROUP_NO_LIMIT), 0);
	assert_int_equal(group_usage(&run, &usage), 0);
	assert_true(usage == 123456);
	/* written, but not applied */
	snprintf(path, sizeof(path), "%s/cgroup/" MEMCG_GROUP "/memory.max", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(group_set_limit(&run, GROUP_HARD, 32 * MIB), -1);
	assert_string_equal(run.reason, "the limit is not applied: memory.max is  after 33554432 was written");
	/* v1's file is not there */
	run.memcg = &v1;
	assert_int_equal(group_set_limit(&run, GROUP_SOFT, 32 * MIB), -1);
	assert_string_equal(run.reason, "memory.limit_in_bytes=33554432: No such file or directory");
	run.place = "root";
	assert_int_equal(group_set_limit(&run, GROUP_SOFT, 32 * MIB), -1);
	assert_string_equal(run.reason, "a memory limit needs a child group, but this runs in the root group");
	run.place = "none";
	assert_int_equal(group_can_limit(&run), -1);
	assert_string_equal(run.reason, "a memory limit needs a child group, but this runs in none: memcg is off");
	root_free(root);
}

static void large_folios_need_a_kernel_with_them(void **state)
{
	struct workload_run run = { .root = root_new() };

	(void)state;
	assert_int_equal(folio_allow(&run), -1);
	assert_string_equal(run.reason, "folio=64K: this kernel has no folios of 64 KiB (no hugepages-64kB)");
	root_add(run.root, "sys/kernel/mm/transparent_hugepage/hugepages-64kB/stats/swpout", "17\n");
	assert_true(folio_count(&run, "swpout") == 17 && folio_count(&run, "split") == 0);
	root_free((char *)run.root);
}

static void kernel_memory_is_told_by_the_charge(void **state)
{
	const uint64_t batch = 32 * 4096;

	(void)state;
	assert_int_equal(placement_kmem_of(MIB, MIB + 100 * 4096), FACT_YES);
	assert_int_equal(placement_kmem_of(MIB, MIB), FACT_NO);
	assert_int_equal(placement_kmem_of(MIB, MIB + batch), FACT_NO);
	assert_int_equal(placement_kmem_of(MIB, MIB + batch + 1), FACT_UNKNOWN);
	assert_int_equal(placement_kmem_of(MIB, 0), FACT_NO);
}

static void the_hierarchy_is_that_asked_for(void **state)
{
	struct conf_pair pair = { (char *)"hierarchy", (char *)"v1" }, version = { (char *)"memcg_version", (char *)"v1" };
	struct conf_workload plain = { .label = (char *)"p", .kind = (char *)"pft" };
	struct conf_workload asking = { .label = (char *)"a", .kind = (char *)"pft", .options = &pair, .n_options = 1 };
	struct conf_workload both[] = { plain, asking };
	struct memcg memcg = { .state = "on", .version = "v2" }, off = { .state = "disabled", .version = "" };
	struct workload_run run = { .kind = workload_find("pft"), .settings = &asking };
	char reason[128] = "";

	(void)state;
	assert_string_equal(placement_hierarchy(&(struct conf){ .workloads = &plain, .n_workloads = 1 }), "v2");
	assert_string_equal(placement_hierarchy(&(struct conf){ .workloads = both, .n_workloads = 2 }), "v1");
	assert_string_equal(placement_hierarchy(&(struct conf){ .pairs = &version, .n_pairs = 1 }), "v1");
	assert_false(placement_check(&memcg, &run, NULL, reason, sizeof(reason)));
	assert_string_equal(reason, "hierarchy=v1, but the memory controller is on v2");
	assert_true(placement_check(&off, &run, NULL, reason, sizeof(reason)));
	memcg.version = "v1";
	assert_true(placement_check(&memcg, &run, NULL, reason, sizeof(reason)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checks_refuse_what_is_wrong),
		cmocka_unit_test(regions_are_what_was_written),
		cmocka_unit_test(huge_pages_are_noticed),
		cmocka_unit_test(a_region_must_fit),
		cmocka_unit_test(counts_of_the_kernel),
		cmocka_unit_test(ram_disks_must_be_large_enough),
		cmocka_unit_test(zrams_are_taken_when_free),
		cmocka_unit_test(block_devices_go_by_their_name),
		cmocka_unit_test(swap_headers),
		cmocka_unit_test(file_systems_are_sound),
		cmocka_unit_test(limits_are_read_back),
		cmocka_unit_test(large_folios_need_a_kernel_with_them),
		cmocka_unit_test(kernel_memory_is_told_by_the_charge),
		cmocka_unit_test(the_hierarchy_is_that_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
