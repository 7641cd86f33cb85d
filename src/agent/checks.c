/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/checks.h"

#define FAULT_SLACK 16
#define CHARGE_SLACK ((uint64_t)1 << 20) /* bytes: each CPU charges 32 pages in advance */

int checks_faults(struct workload_run *run, uint64_t faults, uint64_t pieces, uint64_t bytes)
{
	if (faults >= pieces && faults <= pieces + pieces / 1000 + FAULT_SLACK)
		return 0;
	return workload_fail(run, "%llu minor faults for %llu pieces of %llu bytes: the kernel used another size",
			     (unsigned long long)faults, (unsigned long long)pieces, (unsigned long long)bytes);
}

int checks_swapped(struct workload_run *run, const char *way, uint64_t done, uint64_t wanted, uint64_t slack)
{
	if (done >= wanted && done <= wanted + slack)
		return 0;
	return workload_fail(run, "%llu pages were swapped %s instead of %llu", (unsigned long long)done, way,
			     (unsigned long long)wanted);
}

int checks_limit(struct workload_run *run, uint64_t charged, uint64_t limit)
{
	if (charged <= limit)
		return 0;
	return workload_fail(run, "the limit is not applied: %llu bytes are charged with a limit of %llu",
			     (unsigned long long)charged, (unsigned long long)limit);
}

int checks_charge(struct workload_run *run, uint64_t before, uint64_t after, uint64_t added)
{
	if (after + CHARGE_SLACK >= before + added)
		return 0;
	return workload_fail(run, "%llu bytes more are not charged: the group went from %llu to %llu", (unsigned long long)added,
			     (unsigned long long)before, (unsigned long long)after);
}

int checks_cached(struct workload_run *run, uint64_t cached, uint64_t reclaimed, uint64_t pages)
{
	if (cached + reclaimed >= pages && cached <= pages)
		return 0;
	return workload_fail(run, "%llu of %llu pages are in the page cache (and %llu were reclaimed)",
			     (unsigned long long)cached, (unsigned long long)pages, (unsigned long long)reclaimed);
}
