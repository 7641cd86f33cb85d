/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/vmstat.h"

#define HUGE_SIZE ((size_t)2 << 20) /* of one entry of a page middle directory with 4 KiB pages */
#define WINDOW_PAGES 4096 /* asked for at once */
#define PAGEMAP_SWAPPED 62 /* bit of an entry */
#define SEED 0x9e3779b97f4a7c15ULL

int region_size(struct workload_run *run, uint64_t bytes, size_t *size_out)
{
	const uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t available_kib = vmstat_meminfo_kib(run->root ? run->root : "", "MemAvailable");
	const uint64_t size = (bytes + page_size - 1) / page_size * page_size;

	if (available_kib && size / 1024 > available_kib / 10 * 9)
		return workload_fail(run, "size %llu does not fit into %llu KiB of available memory", (unsigned long long)size,
				     (unsigned long long)available_kib);
	*size_out = (size_t)size;
	return 0;
}

int region_map(struct workload_run *run, size_t size, bool huge, struct region *region_out)
{
	const size_t room = size + (size_t)run->region_offset + HUGE_SIZE;
	char *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return workload_fail(run, "mmap of %zu bytes: %s", room, strerror(errno));

	const size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	const size_t head = (HUGE_SIZE - (uintptr_t)base % HUGE_SIZE) % HUGE_SIZE + (size_t)run->region_offset;
	struct region region = { .start = base + head, .size = size, .pages = size / page_size, .page_size = page_size };

	if (head)
		munmap(base, head);
	if (room - head - size)
		munmap(region.start + size, room - head - size);
	/* EINVAL: a kernel without huge pages */
	if (madvise(region.start, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && (huge || errno != EINVAL)) {
		workload_fail(run, "madvise: %s", strerror(errno));
		munmap(region.start, size);
		return -1;
	}
	*region_out = region;
	return 0;
}

void region_unmap(struct region *region)
{
	if (region->start)
		munmap(region->start, region->size);
	*region = (struct region){ 0 };
}

/* xorshift64* of a state that depends on the page alone, so that one page can be checked by itself. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static uint64_t page_seed(size_t page)
{
	return SEED ^ ((uint64_t)page + 1) * 0xd1342543de82ef95ULL;
}

static uint64_t first_word(size_t page, enum region_fill fill)
{
	uint64_t state = page_seed(page);

	return fill == REGION_ZERO ? 0 : next_random(&state);
}

/* A sanitizer's shadow memory would add page faults of its own. */
__attribute__((no_sanitize("address"))) void region_fill(const struct region *region, enum region_fill fill)
{
	for (size_t page = 0; page < region->pages; page++) {
		volatile uint64_t *words = (volatile uint64_t *)(region->start + page * region->page_size);
		const size_t n = fill == REGION_ZERO ? 1 : region->page_size / sizeof(*words);
		uint64_t state = page_seed(page);

		for (size_t i = 0; i < n; i++)
			words[i] = fill == REGION_ZERO ? 0 : next_random(&state);
	}
}

/* What is compared stays out of the loop that is measured as far as it can: an exclusive or and an or a page. */
__attribute__((no_sanitize("address"))) static uint64_t read_zeroes(const struct region *region)
{
	uint64_t seen = 0;

	for (const char *page = region->start; page < region->start + region->size; page += region->page_size)
		seen |= *(const volatile uint64_t *)page;
	return seen;
}

__attribute__((no_sanitize("address"))) static uint64_t read_random(const struct region *region)
{
	uint64_t wrong = 0;

	for (size_t page = 0; page < region->pages; page++)
		wrong |= *(const volatile uint64_t *)(region->start + page * region->page_size) ^ first_word(page, REGION_RANDOM);
	return wrong;
}

bool region_read(const struct region *region, enum region_fill fill)
{
	return !(fill == REGION_ZERO ? read_zeroes(region) : read_random(region));
}

long region_resident(const struct region *region)
{
	unsigned char states[WINDOW_PAGES];
	long resident = 0;

	for (size_t done = 0; done < region->pages; done += WINDOW_PAGES) {
		const size_t n = region->pages - done < WINDOW_PAGES ? region->pages - done : WINDOW_PAGES;

		if (mincore(region->start + done * region->page_size, n * region->page_size, states))
			return -1;
		for (size_t i = 0; i < n; i++)
			resident += states[i] & 1;
	}
	return resident;
}

long region_swapped(const struct region *region)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entries[WINDOW_PAGES / 8];
	const size_t window = sizeof(entries) / sizeof(entries[0]);
	long swapped = 0;

	for (size_t done = 0; done < region->pages && swapped >= 0 && fd >= 0; done += window) {
		const size_t n = region->pages - done < window ? region->pages - done : window;
		const off_t at = (off_t)(((uintptr_t)region->start / region->page_size + done) * sizeof(entries[0]));

		if (pread(fd, entries, n * sizeof(entries[0]), at) != (ssize_t)(n * sizeof(entries[0])))
			swapped = -1;
		for (size_t i = 0; i < n && swapped >= 0; i++)
			swapped += entries[i] >> PAGEMAP_SWAPPED & 1;
	}
	if (fd < 0)
		return -1;
	close(fd);
	return swapped;
}
