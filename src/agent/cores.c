/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sysfile.h"

#define CPU_DIR "/sys/devices/system/cpu"

bool cores_parse(const char *text, cpu_set_t *cpus_out)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (;;) {
		char *end;

		if (*text < '0' || *text > '9')
			return false;

		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (unsigned long cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, &cpus);
		if (!*end) {
			*cpus_out = cpus;
			return true;
		}
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

void cores_format(const cpu_set_t *cpus, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const int first = cpu;

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, cpus))
			cpu++;

		int n = cpu > first ? snprintf(text + len, size - len, "%s%d-%d", len ? "," : "", first, cpu)
				    : snprintf(text + len, size - len, "%s%d", len ? "," : "", first);

		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
	}
}

bool cores_read_list(const char *root, const char *name, cpu_set_t *cpus_out)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "/%s", name);

	char *text = sysfile_line(root, path);
	bool good = text && cores_parse(text, cpus_out);

	free(text);
	return good;
}

static bool read_number(const char *root, int cpu, const char *name, int base, long *number_out)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, name);

	char *text = sysfile_line(root, path);
	char *end = NULL;

	*number_out = text ? strtol(text, &end, base) : 0;

	bool good = text && end != text && !*end;

	free(text);
	return good;
}

static bool read_capacity(const char *root, int cpu, long *rank_out)
{
	return read_number(root, cpu, "cpu_capacity", 10, rank_out);
}

static bool read_frequency(const char *root, int cpu, long *rank_out)
{
	return read_number(root, cpu, "cpufreq/cpuinfo_max_freq", 10, rank_out);
}

static bool read_part(const char *root, int cpu, long *rank_out)
{
	if (!read_number(root, cpu, "regs/identification/midr_el1", 16, rank_out))
		return false;
	*rank_out = *rank_out >> 4 & 0xfff;
	return true;
}

static const struct ranking {
	const char *name;
	bool (*read)(const char *root, int cpu, long *rank_out);
} rankings[] = { { "capacity", read_capacity }, { "kHz", read_frequency }, { "part", read_part } };

/* Puts a core into the class of its rank, which is made where it is missing, in order. */
static bool sort_in(struct cores *cores, int cpu, long rank)
{
	size_t at = 0;

	while (at < cores->n_classes && cores->classes[at].rank < rank)
		at++;
	if (at == cores->n_classes || cores->classes[at].rank != rank) {
		if (cores->n_classes == CORES_MAX_CLASSES)
			return false;
		memmove(&cores->classes[at + 1], &cores->classes[at], (cores->n_classes - at) * sizeof(cores->classes[0]));
		cores->n_classes++;
		cores->classes[at].rank = rank;
		CPU_ZERO(&cores->classes[at].cpus);
	}
	CPU_SET(cpu, &cores->classes[at].cpus);
	return true;
}

static bool rank_all(const char *root, const struct ranking *ranking, struct cores *cores)
{
	cores->n_classes = 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		long rank;

		if (!CPU_ISSET(cpu, &cores->online))
			continue;
		if (!ranking->read(root, cpu, &rank) || rank <= 0 || !sort_in(cores, cpu, rank))
			return false;
	}
	cores->ranked_by = ranking->name;
	return true;
}

bool cores_read(const char *root, struct cores *cores_out)
{
	struct cores best = { .n_classes = 0 };

	if (!cores_read_list(root, "online", &best.online))
		return false;
	best.classes[0].cpus = best.online;
	best.n_classes = 1;
	for (size_t i = 0; i < sizeof(rankings) / sizeof(rankings[0]) && best.n_classes == 1; i++) {
		struct cores ranked = { .online = best.online };

		if (rank_all(root, &rankings[i], &ranked) && (!best.ranked_by || ranked.n_classes > 1))
			best = ranked;
	}
	*cores_out = best;
	return true;
}

static const char *class_name(const struct cores *cores, size_t i)
{
	if (cores->n_classes == 1)
		return "all";
	if (!i)
		return "little";
	return i + 1 == cores->n_classes ? "big" : "mid";
}

void cores_describe(const struct cores *cores, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	for (size_t i = 0; i < cores->n_classes && len < size; i++) {
		char list[CORES_TEXT_MAX], rank[64] = "";

		cores_format(&cores->classes[i].cpus, list, sizeof(list));
		if (cores->ranked_by && !strcmp(cores->ranked_by, "part"))
			snprintf(rank, sizeof(rank), " (part 0x%lx)", (unsigned long)cores->classes[i].rank);
		else if (cores->ranked_by)
			snprintf(rank, sizeof(rank), " (%s %ld)", cores->ranked_by, cores->classes[i].rank);
		len += (size_t)snprintf(text + len, size - len, "%s%s %s%s", i ? ", " : "", class_name(cores, i), list, rank);
	}
}

static bool choose_class(const struct cores *cores, const char *wanted, cpu_set_t *cpus_out)
{
	CPU_ZERO(cpus_out);
	for (size_t i = 0; i < cores->n_classes; i++) {
		if (!strcmp(class_name(cores, i), wanted))
			CPU_OR(cpus_out, cpus_out, &cores->classes[i].cpus);
	}
	return CPU_COUNT(cpus_out) > 0;
}

bool cores_choose(const struct cores *cores, const char *wanted, cpu_set_t *cpus_out, char *reason, size_t reason_size)
{
	const bool list = *wanted >= '0' && *wanted <= '9';
	char there[CORES_TEXT_MAX];
	cpu_set_t both;

	if (!strcmp(wanted, "all")) {
		*cpus_out = cores->online;
		return true;
	}
	cores_describe(cores, there, sizeof(there));
	if (!list && choose_class(cores, wanted, cpus_out))
		return true;
	if (!list) {
		snprintf(reason, reason_size, "there are no '%s' cores here: %s", wanted, there);
		return false;
	}
	if (!cores_parse(wanted, cpus_out)) {
		snprintf(reason, reason_size, "'%s' is no list of cores", wanted);
		return false;
	}
	CPU_AND(&both, cpus_out, &cores->online);
	if (CPU_EQUAL(&both, cpus_out))
		return true;
	snprintf(reason, reason_size, "not all of cores %s are here and online: %s", wanted, there);
	return false;
}
