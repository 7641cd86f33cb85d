/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARM_INST_RETIRED 0x08
#define LEADER 0 /* the group's first: instructions of the kernel */
#define USER 1

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

/* One of the group. */
struct member {
	const char *name; /* "cycles" */
	bool user; /* else the kernel */
	uint32_t type;
	uint64_t config;
};

static struct member instructions(const struct counter_plan *plan, bool user)
{
	struct member member = { "instructions", user, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS };

	if (COUNTER_RAW) {
		member.type = plan->type ? plan->type : PERF_TYPE_RAW;
		member.config = ARM_INST_RETIRED;
	}
	return member;
}

static struct member extra(const struct counter_plan *plan, enum event event)
{
	const struct event_info *info = &event_infos[event];

	if (COUNTER_RAW)
		return (struct member){ info->name, false, plan->type ? plan->type : PERF_TYPE_RAW, info->arm_number };
	return (struct member){ info->name, false, info->generic_type, info->generic_config };
}

static int open_event(const struct member *member, const struct subject *subject, int group_fd)
{
	struct perf_event_attr attr = {
		.type = member->type,
		.size = sizeof(attr),
		.config = member->config,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = group_fd < 0,
		.inherit = subject->tree,
		.enable_on_exec = subject->on_exec && group_fd < 0,
		.exclude_user = !member->user,
		.exclude_kernel = member->user,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, subject->pid, -1, group_fd, (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

/* EINVAL is what the kernel says when a group has more events than the PMU has counters. */
static void say_why(const struct counter *counter, const struct member *member, int error, char *reason, size_t reason_size)
{
	char before[64] = "";

	if (error != EINVAL || counter->n < 2) {
		snprintf(reason, reason_size, "perf_event_open of %s:%c: %s", member->name, member->user ? 'u' : 'k',
			 strerror(error));
		return;
	}
	events_format(counter->events, before, sizeof(before));
	snprintf(reason, reason_size, "%s: the PMU has no counter left beside insn:k,insn:u%s%s: leave one out of 'events'",
		 member->name, *before ? "," : "", before);
}

static bool add_member(struct counter *counter, const struct member *member, const struct subject *subject, char *reason,
		       size_t reason_size)
{
	const int fd = open_event(member, subject, counter->n ? counter->fds[LEADER] : -1);

	if (fd < 0) {
		say_why(counter, member, errno, reason, reason_size);
		return false;
	}
	counter->fds[counter->n++] = fd;
	return true;
}

static bool add_extra(struct counter *counter, const struct counter_plan *plan, enum event event, const struct subject *subject,
		      char *reason, size_t reason_size)
{
	const struct member member = extra(plan, event);

	if (!COUNTER_RAW && !event_infos[event].generic) {
		snprintf(reason, reason_size, "%s: the kernel counts it on arm64 alone: leave it out of 'events'", member.name);
		return false;
	}
	if (!add_member(counter, &member, subject, reason, reason_size))
		return false;
	counter->events |= 1u << event;
	return true;
}

static bool open_group(struct counter *counter, const struct counter_plan *plan, const struct subject *subject, char *reason,
		       size_t reason_size)
{
	const struct member kernel = instructions(plan, false), user = instructions(plan, true);

	if (!add_member(counter, &kernel, subject, reason, reason_size) ||
	    !add_member(counter, &user, subject, reason, reason_size))
		return false;
	for (enum event event = 0; event < N_EVENTS; event++) {
		if (plan->events & 1u << event && !add_extra(counter, plan, event, subject, reason, reason_size))
			return false;
	}
	return true;
}

static bool open_events(struct counter *counter, const struct counter_plan *plan, const struct subject *subject, char *reason,
			size_t reason_size)
{
	*counter = (struct counter){ .n = 0 };
	if (plan->kind != COUNTER_PMU || open_group(counter, plan, subject, reason, reason_size))
		return true;
	counter_close(counter);
	return false;
}

bool counter_open(struct counter *counter, const struct counter_plan *plan, char *reason, size_t reason_size)
{
	return open_events(counter, plan, &(struct subject){ .pid = 0 }, reason, reason_size);
}

bool counter_open_tree(struct counter *counter, const struct counter_plan *plan, char *reason, size_t reason_size)
{
	return open_events(counter, plan, &(struct subject){ .tree = true }, reason, reason_size);
}

bool counter_open_command(struct counter *counter, const struct counter_plan *plan, pid_t pid, char *reason, size_t reason_size)
{
	return open_events(counter, plan, &(struct subject){ .pid = pid, .tree = true, .on_exec = true }, reason, reason_size);
}

void counter_close(struct counter *counter)
{
	while (counter->n)
		close(counter->fds[--counter->n]);
	*counter = (struct counter){ .n = 0 };
}

void counter_start(const struct counter *counter)
{
	if (!counter->n)
		return;
	ioctl(counter->fds[LEADER], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	ioctl(counter->fds[LEADER], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void counter_stop(const struct counter *counter)
{
	if (counter->n)
		ioctl(counter->fds[LEADER], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

bool counter_read(const struct counter *counter, struct counter_reading *reading_out, char *reason, size_t reason_size)
{
	/* As the kernel fills it in for PERF_FORMAT_GROUP and both times; the leader's value comes first. */
	struct {
		uint64_t n, enabled_ns, running_ns, values[2 + N_EVENTS];
	} group;
	struct counter_reading reading = { 0 };

	if (!counter->n) {
		*reading_out = reading;
		return true;
	}

	const size_t wanted = offsetof(typeof(group), values) + counter->n * sizeof(group.values[0]);

	if (read(counter->fds[LEADER], &group, wanted) != (ssize_t)wanted || group.n != counter->n) {
		snprintf(reason, reason_size, "the instruction counter cannot be read");
		return false;
	}
	if (!group.running_ns || group.enabled_ns != group.running_ns) {
		snprintf(reason, reason_size, "the PMU counted for %llu of %llu ns: it is shared with others",
			 (unsigned long long)group.running_ns, (unsigned long long)group.enabled_ns);
		return false;
	}
	reading.kernel = group.values[LEADER];
	reading.user = group.values[USER];
	for (size_t event = 0, next = USER + 1; event < N_EVENTS; event++) {
		if (counter->events & 1u << event)
			reading.events[event] = group.values[next++];
	}
	*reading_out = reading;
	return true;
}

void counter_add(struct counter_reading *sum, const struct counter_reading *reading)
{
	sum->kernel += reading->kernel;
	sum->user += reading->user;
	for (enum event event = 0; event < N_EVENTS; event++)
		sum->events[event] += reading->events[event];
}
