/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Page cache: sparse-read reads a file that is all hole (phase read), so that every page is allocated, charged and filled with
 * zeroes without a disk being read; with more than memory holds reclaim runs as well. file-read-cached reads what is there
 * already. tmpfs-write writes a file on tmpfs (phase write) and cuts it off again (phase delete). All in blocks through read(2)
 * and write(2), divided by the file's pages. What kswapd does is not in the counts of instructions: they are the caller's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/checks.h"
#include "agent/group.h"
#include "agent/meter.h"
#include "agent/scratch.h"
#include "agent/vmstat.h"
#include "agent/workload_run.h"

enum option_place { SIZE, BLOCK, ON };

static int prepare_on(struct workload_run *run, const char *on)
{
	struct scratch *scratch = calloc(1, sizeof(*scratch));

	if (!scratch)
		return workload_fail(run, "out of memory");
	run->state = scratch;
	return scratch_open(scratch, run, on, workload_count(run, "size"), (size_t)workload_count(run, "block"));
}

static int prepare(struct workload_run *run)
{
	return prepare_on(run, workload_value(run, "on"));
}

static int prepare_tmpfs(struct workload_run *run)
{
	return prepare_on(run, "tmpfs");
}

static void finish(struct workload_run *run)
{
	if (run->state)
		scratch_close(run->state, run);
	free(run->state);
	run->state = NULL;
}

static uint64_t file_pages(const struct scratch *scratch)
{
	return scratch->size / scratch->page_size;
}

static int fail_io(struct workload_run *run, const char *what)
{
	return workload_fail(run, "%s the file: %s", what, errno == EILSEQ ? "it holds something else" : strerror(errno));
}

static uint64_t reclaimed_pages(const struct workload_run *run)
{
	return vmstat_count(run->root, "pgsteal_kswapd") + vmstat_count(run->root, "pgsteal_direct");
}

static int drop_cache(struct workload_run *run, const struct scratch *scratch)
{
	uint64_t cached;

	if (posix_fadvise(scratch->fd, 0, 0, POSIX_FADV_DONTNEED) || scratch_cached(scratch, run, &cached))
		return workload_fail(run, "the page cache of the file cannot be dropped");
	return cached ? workload_fail(run, "%llu pages of the file are cached before it is read", (unsigned long long)cached) : 0;
}

/* Each page is there, or was and has been reclaimed. */
static int check_read(struct workload_run *run, const struct scratch *scratch, uint64_t reclaimed)
{
	const uint64_t pages = file_pages(scratch);
	uint64_t cached, occupied;

	if (scratch_cached(scratch, run, &cached) || scratch_occupied(scratch, run, &occupied))
		return -1;
	if (occupied)
		return workload_fail(run, "the file is not sparse: it occupies %llu bytes", (unsigned long long)occupied);
	if (checks_cached(run, cached, reclaimed, pages))
		return -1;
	run->checks.pages += pages;
	return 0;
}

static int sparse_read(struct workload_run *run, const struct scratch *scratch, struct meter *meter)
{
	const uint64_t reclaimed = reclaimed_pages(run);

	if (drop_cache(run, scratch))
		return -1;
	meter_start(meter);
	bool good = scratch_read(scratch, 0);
	meter_stop(meter);
	if (!good)
		return fail_io(run, "reading");
	if (check_read(run, scratch, reclaimed_pages(run) - reclaimed))
		return -1;
	return meter_report(meter, run, "read", (double)file_pages(scratch));
}

/* The first time it is written, or read into the cache. */
static int fill_cache(struct workload_run *run, const struct scratch *scratch, uint64_t *word_out)
{
	const bool sparse = *scratch->disk.path != '\0';
	uint64_t cached;

	*word_out = sparse ? 0 : scratch_word(scratch);
	if (scratch_cached(scratch, run, &cached))
		return -1;
	if (cached == file_pages(scratch))
		return 0;
	return (sparse ? scratch_read(scratch, 0) : scratch_write(scratch)) ? 0 : fail_io(run, "filling");
}

static int check_cached(struct workload_run *run, const struct scratch *scratch)
{
	uint64_t cached;

	return scratch_cached(scratch, run, &cached) ? -1 : checks_cached(run, cached, 0, file_pages(scratch));
}

static int cached_read(struct workload_run *run, const struct scratch *scratch, struct meter *meter)
{
	uint64_t word;

	/* tmpfs has an empty file until it is written */
	if (!*scratch->disk.path && ftruncate(scratch->fd, (off_t)scratch->size))
		return fail_io(run, "sizing");
	if (fill_cache(run, scratch, &word) || check_cached(run, scratch))
		return -1;
	meter_start(meter);
	bool good = scratch_read(scratch, word);
	meter_stop(meter);
	if (!good)
		return fail_io(run, "reading");
	if (check_cached(run, scratch))
		return -1;
	run->checks.pages += file_pages(scratch);
	return meter_report(meter, run, "read", (double)file_pages(scratch));
}

/* In a group what was written is charged there. */
static int check_charge(struct workload_run *run, const struct scratch *scratch, uint64_t before)
{
	uint64_t after;

	if (strncmp(run->place, "child", strlen("child")) != 0)
		return 0;
	return group_usage(run, &after) ? -1 : checks_charge(run, before, after, scratch->size);
}

static int check_occupied(struct workload_run *run, const struct scratch *scratch, uint64_t wanted)
{
	uint64_t occupied;

	if (scratch_occupied(scratch, run, &occupied))
		return -1;
	if (occupied != wanted)
		return workload_fail(run, "the file occupies %llu bytes, not %llu", (unsigned long long)occupied,
				     (unsigned long long)wanted);
	return 0;
}

static int measure_write(struct workload_run *run, const struct scratch *scratch, struct meter *meter)
{
	uint64_t charged = 0;

	if (!strncmp(run->place, "child", strlen("child")) && group_usage(run, &charged))
		return -1;
	meter_start(meter);
	bool good = scratch_write(scratch);
	meter_stop(meter);
	if (!good)
		return fail_io(run, "writing");
	if (check_occupied(run, scratch, scratch->size) || check_charge(run, scratch, charged))
		return -1;
	run->checks.pages += file_pages(scratch);
	return meter_report(meter, run, "write", (double)file_pages(scratch));
}

static int tmpfs_write(struct workload_run *run, const struct scratch *scratch, struct meter *meter)
{
	if (measure_write(run, scratch, meter))
		return -1;
	meter_start(meter);
	int failed = ftruncate(scratch->fd, 0);
	meter_stop(meter);
	if (failed)
		return fail_io(run, "cutting off");
	if (check_occupied(run, scratch, 0))
		return -1;
	return meter_report(meter, run, "delete", (double)file_pages(scratch));
}

static int iterate_with(struct workload_run *run,
			int (*measure)(struct workload_run *run, const struct scratch *scratch, struct meter *meter))
{
	struct meter meter;

	if (meter_open(&meter, run, false))
		return -1;

	int result = measure(run, run->state, &meter);

	meter_close(&meter);
	return result;
}

static int iterate_sparse(struct workload_run *run)
{
	return iterate_with(run, sparse_read);
}

static int iterate_cached(struct workload_run *run)
{
	return iterate_with(run, cached_read);
}

static int iterate_tmpfs(struct workload_run *run)
{
	return iterate_with(run, tmpfs_write);
}

static const char *sparse_conflict(const char *const *values)
{
	if (!strcmp(values[ON], "tmpfs"))
		return "on: tmpfs reads its holes from the zero page and charges nothing; use brd or block:NAME";
	return NULL;
}

#define SIZE_MAX_BYTES ((uint64_t)1 << 42)
#define SIZE_AND_BLOCK                                                                                                           \
	[SIZE] = { "size", OPTION_SIZE, 4096, SIZE_MAX_BYTES, "67108864", NULL, "bytes of the file, whole pages" }, [BLOCK] = {  \
		"block", OPTION_SIZE, 512, SCRATCH_BUFFER, "65536", NULL, "bytes of each read or write"                          \
	}

static const char *const on_words[] = { "brd", "tmpfs", NULL };

static const struct workload_option sparse_options[] = {
	SIZE_AND_BLOCK,
	[ON] = { "on", OPTION_DISK, 0, 0, "brd", on_words, "the disk of its ext4, which is made anew" },
};

static const struct workload_option cached_options[] = {
	SIZE_AND_BLOCK,
	[ON] = { "on", OPTION_DISK, 0, 0, "tmpfs", on_words, "tmpfs, or the disk of its ext4, which is made anew" },
};

static const struct workload_option tmpfs_options[] = { SIZE_AND_BLOCK };

static const struct workload_metric read_metrics[] = { WORKLOAD_PHASE("read", "page"), WORKLOAD_TIMES };

static const struct workload_metric tmpfs_metrics[] = {
	WORKLOAD_PHASE("write", "page"),
	WORKLOAD_PHASE("delete", "page"),
	{ "both", "insn", "page", false, "sum:write.insn,delete.insn" },
	{ "both", "ns", "page", false, "sum:write.ns,delete.ns" },
	WORKLOAD_TIMES,
};

static const char *const voids[] = { "throttled", "freq_changes", "swapped", "thp", NULL };
static const char *const sparse_voids[] = { "throttled", "freq_changes", "thp", NULL };

const struct workload_kind workload_sparse_read = {
	.name = "sparse-read",
	.summary = "a file of holes read through the page cache",
	.options = sparse_options,
	.n_options = sizeof(sparse_options) / sizeof(sparse_options[0]),
	.metrics = read_metrics,
	.n_metrics = sizeof(read_metrics) / sizeof(read_metrics[0]),
	.voids = sparse_voids,
	.conflict = sparse_conflict,
	.needs_machine = true,
	.prepare = prepare,
	.finish = finish,
	.iterate = iterate_sparse,
};

const struct workload_kind workload_file_read_cached = {
	.name = "file-read-cached",
	.summary = "a file that is in the page cache read again",
	.options = cached_options,
	.n_options = sizeof(cached_options) / sizeof(cached_options[0]),
	.metrics = read_metrics,
	.n_metrics = sizeof(read_metrics) / sizeof(read_metrics[0]),
	.voids = voids,
	.needs_machine = true,
	.prepare = prepare,
	.finish = finish,
	.iterate = iterate_cached,
};

const struct workload_kind workload_tmpfs_write = {
	.name = "tmpfs-write",
	.summary = "a file on tmpfs written and cut off",
	.options = tmpfs_options,
	.n_options = sizeof(tmpfs_options) / sizeof(tmpfs_options[0]),
	.metrics = tmpfs_metrics,
	.n_metrics = sizeof(tmpfs_metrics) / sizeof(tmpfs_metrics[0]),
	.voids = voids,
	.needs_machine = true,
	.prepare = prepare_tmpfs,
	.finish = finish,
	.iterate = iterate_tmpfs,
};
