/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/health_probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sysfile.h"

#define TEXT_MAX 16384 /* bytes read of a file, with a NUL; /proc/vmstat has 6 KiB */

/* How the states before and after make one reading. */
enum making { THE_WORKLOADS_OWN, DIFFERENCE, HIGHEST, LAST };

static const enum making makings[N_HEALTH] = {
	[HEALTH_THROTTLED] = HIGHEST, [HEALTH_FREQ_CHANGES] = DIFFERENCE, [HEALTH_SWAPPED] = DIFFERENCE,
	[HEALTH_THP] = DIFFERENCE,    [HEALTH_MIGRATIONS] = DIFFERENCE,	  [HEALTH_FREQUENCY] = LAST,
	[HEALTH_TEMPERATURE] = LAST,
};

static const char *const swap_counters[] = { "pswpin", "pswpout", NULL };
static const char *const thp_counters[] = {
	"thp_fault_alloc", "thp_collapse_alloc", "thp_zero_page_alloc", "thp_file_alloc", "thp_file_mapped", "thp_swpout", NULL
};
/* Types of cooling devices: thermal-cpufreq-0, cpufreq-cpu0, thermal-idle-0, Processor, intel_powerclamp, and vendors' own. */
static const char *const cpu_coolers[] = { "cpu", "idle", "processor", "powerclamp", NULL };

static void add_to(double *sum, bool known, double value)
{
	if (known)
		*sum = isnan(*sum) ? value : *sum + value;
}

static void raise_to(double *highest, bool known, double value)
{
	if (known)
		*highest = fmax(*highest, value);
}

/* By its type, in whatever case; also when that is not known. */
static bool cools_cpus(const struct health_probe *probe, const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/type", dir);

	char *type = sysfile_line(probe->root, path);
	bool found = !type;

	for (const char *const *word = cpu_coolers; *word && !found; word++)
		found = strcasestr(type, *word) != NULL;
	free(type);
	return found;
}

/* Whether a policy has one of the CPUs in its affected_cpus, "0 1 2 3"; also when that is not known. */
static bool concerns(const struct health_probe *probe, const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/affected_cpus", dir);

	char *text = sysfile_line(probe->root, path);
	bool found = !text;

	for (char *rest = text, *end; rest && *rest && !found; rest = end) {
		unsigned long cpu = strtoul(rest, &end, 10);

		if (end == rest)
			break;
		found = cpu < CPU_SETSIZE && CPU_ISSET(cpu, &probe->cpus);
	}
	free(text);
	return found;
}

static void add_file(struct health_probe *probe, const char *dir, const char *name, enum health_source source)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s/%s", probe->root, dir, name);

	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct health_file *grown = fd < 0 ? NULL : realloc(probe->files, (probe->n_files + 1) * sizeof(*grown));

	if (grown) {
		grown[probe->n_files++] = (struct health_file){ fd, source };
		probe->files = grown;
	} else if (fd >= 0) {
		close(fd);
	}
}

static void add_cooler(struct health_probe *probe, const char *dir)
{
	if (cools_cpus(probe, dir))
		add_file(probe, dir, "cur_state", HEALTH_COOLER);
}

static void add_zone(struct health_probe *probe, const char *dir)
{
	add_file(probe, dir, "temp", HEALTH_ZONE);
}

static void add_policy(struct health_probe *probe, const char *dir)
{
	if (!concerns(probe, dir))
		return;
	add_file(probe, dir, "stats/total_trans", HEALTH_TRANSITIONS);
	add_file(probe, dir, "scaling_cur_freq", HEALTH_CUR_FREQ);
}

/* Calls `add` for each entry of the folder `dir` whose name begins with `prefix`. */
static void each_entry(struct health_probe *probe, const char *dir, const char *prefix,
		       void (*add)(struct health_probe *probe, const char *path))
{
	char path[PATH_MAX];
	const struct dirent *entry;

	snprintf(path, sizeof(path), "%s%s", probe->root, dir);

	DIR *stream = opendir(path);

	while (stream && (entry = readdir(stream))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		add(probe, path);
	}
	if (stream)
		closedir(stream);
}

static void open_files(struct health_probe *probe)
{
	add_file(probe, "/proc", "vmstat", HEALTH_VMSTAT);
	each_entry(probe, "/sys/class/thermal", "cooling_device", add_cooler);
	each_entry(probe, "/sys/class/thermal", "thermal_zone", add_zone);
	each_entry(probe, "/sys/devices/system/cpu/cpufreq", "policy", add_policy);
}

/* The whole file from its beginning: the kernel makes its text anew. */
static void read_text(int fd, char text_out[TEXT_MAX])
{
	size_t len = 0;

	while (len < TEXT_MAX - 1) {
		ssize_t n = pread(fd, text_out + len, TEXT_MAX - 1 - len, (off_t)len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text_out[len] = '\0';
}

/* False, and 0, when there is no number in it: "<unknown>", or a CPU or sensor that is off. */
static bool read_number(const char *text, double *value_out)
{
	char *end;
	long long value = strtoll(text, &end, 10);
	bool good = end != text && !end[strspn(end, " \t\n")];

	*value_out = good ? (double)value : 0;
	return good;
}

/* Adds up those lines "NAME NUMBER" whose name is in the list. */
static void add_counters(const char *text, const char *const *names, double *sum)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		size_t len;

		line += *line == '\n';
		len = strcspn(line, " \n");
		for (const char *const *name = names; *name; name++) {
			if (strlen(*name) == len && !strncmp(line, *name, len) && line[len] == ' ')
				add_to(sum, true, strtod(line + len, NULL));
		}
	}
}

/* "se.nr_migrations   :   0" */
static void read_migrations(const char *text, double *migrations)
{
	const char *line = strstr(text, "nr_migrations");
	const char *colon = line ? strchr(line, ':') : NULL;

	if (colon)
		*migrations = strtod(colon + 1, NULL);
}

static void read_file(const struct health_file *file, double *state)
{
	char text[TEXT_MAX];
	double value;

	read_text(file->fd, text);

	bool number = read_number(text, &value);

	switch (file->source) {
	case HEALTH_VMSTAT:
		add_counters(text, swap_counters, &state[HEALTH_SWAPPED]);
		add_counters(text, thp_counters, &state[HEALTH_THP]);
		break;
	case HEALTH_SCHED:
		read_migrations(text, &state[HEALTH_MIGRATIONS]);
		break;
	case HEALTH_COOLER:
		raise_to(&state[HEALTH_THROTTLED], number, value);
		break;
	case HEALTH_ZONE:
		raise_to(&state[HEALTH_TEMPERATURE], number, value);
		break;
	case HEALTH_TRANSITIONS:
		add_to(&state[HEALTH_FREQ_CHANGES], number, value);
		break;
	case HEALTH_CUR_FREQ:
		raise_to(&state[HEALTH_FREQUENCY], number, value);
		break;
	}
}

static void read_files(const struct health_probe *probe, double *state)
{
	for (size_t i = 0; i < probe->n_files; i++)
		read_file(&probe->files[i], state);
}

static void count_migrations(const struct health_probe *probe, double *state)
{
	uint64_t migrations;

	if (probe->migrations_fd >= 0 && read(probe->migrations_fd, &migrations, sizeof(migrations)) == sizeof(migrations))
		state[HEALTH_MIGRATIONS] = (double)migrations;
}

/* Of this thread and those, and the processes, that it starts. */
static int open_migrations(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_MIGRATIONS,
		.inherit = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

void health_probe_open(struct health_probe *probe, const char *root, const cpu_set_t *cpus)
{
	const bool told = *root != '\0';

	*probe = (struct health_probe){ .root = root, .migrations_fd = -1 };
	if (cpus)
		probe->cpus = *cpus;
	else if (told || sched_getaffinity(0, sizeof(probe->cpus), &probe->cpus))
		memset(&probe->cpus, 0xff, sizeof(probe->cpus));
	open_files(probe);
	if (told || CPU_COUNT(&probe->cpus) == 1)
		return;
	probe->migrations_fd = open_migrations();
	if (probe->migrations_fd < 0)
		add_file(probe, "/proc/self", "sched", HEALTH_SCHED);
}

void health_probe_close(struct health_probe *probe)
{
	for (size_t i = 0; i < probe->n_files; i++)
		close(probe->files[i].fd);
	free(probe->files);
	if (probe->migrations_fd >= 0)
		close(probe->migrations_fd);
	*probe = (struct health_probe){ .migrations_fd = -1 };
}

static void forget(double state[N_HEALTH])
{
	for (size_t i = 0; i < N_HEALTH; i++)
		state[i] = NAN;
}

/* Reading the files may wait and move: the moves are counted last before the iteration, first after it. */
void health_probe_before(struct health_probe *probe)
{
	forget(probe->before);
	read_files(probe, probe->before);
	count_migrations(probe, probe->before);
}

void health_probe_after(const struct health_probe *probe, double values[N_HEALTH])
{
	double after[N_HEALTH];

	forget(after);
	count_migrations(probe, after);
	read_files(probe, after);
	for (size_t i = 0; i < N_HEALTH; i++) {
		const double before = probe->before[i];

		if (makings[i] == DIFFERENCE)
			values[i] = fabs(after[i] - before); /* a sum goes back when a CPU has left */
		else if (makings[i] == HIGHEST)
			values[i] = fmax(before, after[i]);
		else if (makings[i] == LAST)
			values[i] = after[i];
	}
}
