/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What pft measures, once more and by itself: `loop BYTES TIMES` maps BYTES of anonymous memory, writes a byte to each page, and unmaps them,
 * so many times, and prints for each the number of page faults that took and the nanoseconds. Nothing of memcg-ab is in it, so that tests/e2e/pft-loop can hold pft against it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ALIGN ((size_t)2 << 20)

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

static int touch_once(size_t size, size_t step)
{
	char *whole = mmap(NULL, size + ALIGN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (whole == MAP_FAILED)
		return 2;

	char *base = whole + (ALIGN - (size_t)whole % ALIGN) % ALIGN;

	madvise(base, size, MADV_NOHUGEPAGE);
	now_ns();

	const long before = faults();
	const long long start = now_ns();

	for (size_t at = 0; at < size; at += step)
		((volatile char *)base)[at] = 1;

	const long long end = now_ns();

	printf("%ld %lld\n", faults() - before, end - start);
	munmap(whole, size + ALIGN);
	return 0;
}

int main(int argc, char *argv[])
{
	const size_t size = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	const long times = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	int status = size && times ? 0 : 2;

	for (long i = 0; i < times && !status; i++)
		status = touch_once(size, (size_t)sysconf(_SC_PAGESIZE));
	return status;
}
