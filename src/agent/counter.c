/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __aarch64__
#define EVENT_TYPE PERF_TYPE_RAW
#define EVENT_CONFIG 0x08 /* INST_RETIRED */
#else
#define EVENT_TYPE PERF_TYPE_HARDWARE
#define EVENT_CONFIG PERF_COUNT_HW_INSTRUCTIONS
#endif

const char *counter_name(enum counter_kind kind)
{
	static const char *const names[] = { "pmu", "clock", "none", "model" };

	return names[kind];
}

/* Whose instructions are counted. */
struct subject {
	pid_t pid; /* 0 = the calling thread */
	bool tree; /* with all that it starts */
	bool on_exec; /* from its next exec on */
};

static int open_event(bool kernel, const struct subject *subject, int group_fd)
{
	struct perf_event_attr attr = {
		.type = EVENT_TYPE,
		.size = sizeof(attr),
		.config = EVENT_CONFIG,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = group_fd < 0,
		.inherit = subject->tree,
		.enable_on_exec = subject->on_exec && group_fd < 0,
		.exclude_user = kernel,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, subject->pid, -1, group_fd, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

static bool open_events(struct counter *counter, enum counter_kind kind, const struct subject *subject, char *reason,
			size_t reason_size)
{
	*counter = (struct counter){ -1, -1 };
	if (kind != COUNTER_PMU)
		return true;

	int kernel_fd = open_event(true, subject, -1);

	if (kernel_fd < 0) {
		snprintf(reason, reason_size, "perf_event_open of instructions:k: %s", strerror(errno));
		return false;
	}

	int user_fd = open_event(false, subject, kernel_fd);

	if (user_fd < 0) {
		snprintf(reason, reason_size, "perf_event_open of instructions:u: %s", strerror(errno));
		close(kernel_fd);
		return false;
	}
	*counter = (struct counter){ kernel_fd, user_fd };
	return true;
}

bool counter_open(struct counter *counter, enum counter_kind kind, char *reason, size_t reason_size)
{
	return open_events(counter, kind, &(struct subject){ .pid = 0 }, reason, reason_size);
}

bool counter_open_tree(struct counter *counter, enum counter_kind kind, char *reason, size_t reason_size)
{
	return open_events(counter, kind, &(struct subject){ .tree = true }, reason, reason_size);
}

bool counter_open_command(struct counter *counter, enum counter_kind kind, pid_t pid, char *reason, size_t reason_size)
{
	return open_events(counter, kind, &(struct subject){ .pid = pid, .tree = true, .on_exec = true }, reason, reason_size);
}

void counter_close(struct counter *counter)
{
	if (counter->user_fd >= 0)
		close(counter->user_fd);
	if (counter->kernel_fd >= 0)
		close(counter->kernel_fd);
	*counter = (struct counter){ -1, -1 };
}

void counter_start(const struct counter *counter)
{
	if (counter->kernel_fd < 0)
		return;
	ioctl(counter->kernel_fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	ioctl(counter->kernel_fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void counter_stop(const struct counter *counter)
{
	if (counter->kernel_fd >= 0)
		ioctl(counter->kernel_fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

bool counter_read(const struct counter *counter, struct counter_reading *reading_out, char *reason, size_t reason_size)
{
	/* As the kernel fills it in for PERF_FORMAT_GROUP and both times; the leader's value comes first. */
	struct {
		uint64_t n, enabled_ns, running_ns, kernel, user;
	} group;

	if (counter->kernel_fd < 0) {
		*reading_out = (struct counter_reading){ 0, 0 };
		return true;
	}
	if (read(counter->kernel_fd, &group, sizeof(group)) != (ssize_t)sizeof(group) || group.n != 2) {
		snprintf(reason, reason_size, "the instruction counter cannot be read");
		return false;
	}
	if (!group.running_ns || group.enabled_ns != group.running_ns) {
		snprintf(reason, reason_size, "the PMU counted for %llu of %llu ns: it is shared with others",
			 (unsigned long long)group.running_ns, (unsigned long long)group.enabled_ns);
		return false;
	}
	*reading_out = (struct counter_reading){ group.kernel, group.user };
	return true;
}
