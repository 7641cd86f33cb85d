/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/needs.h"

#include <stdlib.h>
#include <string.h>

#define SELFTEST_OPTION "test"

static const char *option_of(const struct workload *workload, const char *name)
{
	for (size_t i = 0; i < workload->kind->n_options; i++)
		if (!strcmp(workload->kind->options[i].name, name))
			return workload->values[i];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void needs_selftests(const struct matrix *matrix, struct strlist *names_out)
{
	for (size_t i = 0; i < matrix->n_workloads; i++) {
		const struct workload *workload = &matrix->workloads[i];
		const char *name = workload->kind->needs_tree ? option_of(workload, SELFTEST_OPTION) : NULL;
		if (name && !strlist_has(names_out, name))
			strlist_add(names_out, name);
	}
	if (names_out->n)
		qsort(names_out->items, names_out->n, sizeof(*names_out->items), by_name);
}

bool needs_carries_files(const struct profile *profile)
{
	switch (profile->kind) {
	case DEVICE_QEMU:
		return true;
	case DEVICE_COMMAND:
		return !profile->command.shell;
	case DEVICE_FASTBOOT:
		return profile->fastboot.userspace != USERSPACE_ANDROID;
	case DEVICE_SIM:
		break;
	}
	return false;
}
