/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/meter.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "agent/marker.h"

#define NS_PER_S 1000000000ULL
#define NS_PER_US 1000

uint64_t meter_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t time_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_usec * NS_PER_US;
}

/* What `after` has more than `before`. */
static void add_usage(struct meter *meter, const struct rusage *before, const struct rusage *after)
{
	meter->user_ns += time_ns(after->ru_utime) - time_ns(before->ru_utime);
	meter->system_ns += time_ns(after->ru_stime) - time_ns(before->ru_stime);
	meter->minor_faults += (uint64_t)(after->ru_minflt - before->ru_minflt);
	meter->major_faults += (uint64_t)(after->ru_majflt - before->ru_majflt);
	meter->voluntary_switches += (uint64_t)(after->ru_nvcsw - before->ru_nvcsw);
	meter->involuntary_switches += (uint64_t)(after->ru_nivcsw - before->ru_nivcsw);
}

void meter_forget(struct meter *meter)
{
	marker_forget(0);
	*meter = (struct meter){ .counter = meter->counter, .clock = meter->clock, .tree = meter->tree };
}

/* A first time for each, so that no page of the agent's own is faulted in while something is measured. */
static void rehearse(struct meter *meter)
{
	meter_start(meter);
	meter_stop(meter);
	meter_forget(meter);
}

int meter_open(struct meter *meter, struct workload_run *run, bool tree)
{
	*meter = (struct meter){ .clock = run->clock, .tree = tree };

	bool opened = tree ? counter_open_tree(&meter->counter, &run->counter, meter->reason, sizeof(meter->reason))
			   : counter_open(&meter->counter, &run->counter, meter->reason, sizeof(meter->reason));

	if (!opened)
		return workload_fail(run, "%s", meter->reason);
	rehearse(meter);
	return 0;
}

void meter_close(struct meter *meter)
{
	counter_close(&meter->counter);
}

void meter_start(struct meter *meter)
{
	getrusage(RUSAGE_CHILDREN, &meter->children);
	getrusage(RUSAGE_SELF, &meter->self);
	counter_start(&meter->counter);
	marker_start(0);
	if (meter->clock)
		meter->start_ns = meter_clock_ns();
}

void meter_stop(struct meter *meter)
{
	const uint64_t end_ns = meter->clock ? meter_clock_ns() : 0;
	struct counter_reading count;
	struct rusage after;

	marker_stop(0);
	counter_stop(&meter->counter);
	getrusage(RUSAGE_SELF, &after);
	add_usage(meter, &meter->self, &after);
	if (meter->tree) {
		getrusage(RUSAGE_CHILDREN, &after);
		add_usage(meter, &meter->children, &after);
	}
	meter->elapsed_ns += end_ns - (meter->clock ? meter->start_ns : 0);
	if (!counter_read(&meter->counter, &count, meter->reason, sizeof(meter->reason))) {
		meter->failed = true;
		return;
	}
	counter_add(&meter->count, &count);
}

static void add_health(struct workload_run *run, enum health which, uint64_t value)
{
	run->health[which] = isnan(run->health[which]) ? (double)value : run->health[which] + (double)value;
}

static void report_health(const struct meter *meter, struct workload_run *run)
{
	run->checks.minor_faults += meter->minor_faults;
	run->checks.major_faults += meter->major_faults;
	run->checks.voluntary_switches += meter->voluntary_switches;
	run->checks.involuntary_switches += meter->involuntary_switches;
	add_health(run, HEALTH_MAJOR_FAULTS, meter->major_faults);
	add_health(run, HEALTH_VOLUNTARY_SWITCHES, meter->voluntary_switches);
	add_health(run, HEALTH_INVOLUNTARY_SWITCHES, meter->involuntary_switches);
}

static void report_times(const struct meter *meter, struct workload_run *run, const char *phase, double n)
{
	workload_set(run, phase, "ns", (double)meter->elapsed_ns / n);
	workload_add(run, "all", "user_ns", (double)meter->user_ns);
	workload_add(run, "all", "system_ns", (double)meter->system_ns);
	workload_add(run, "all", "elapsed_ns", (double)meter->elapsed_ns);
}

int meter_report(struct meter *meter, struct workload_run *run, const char *phase, double n)
{
	if (meter->failed)
		return workload_fail(run, "%s", meter->reason);
	workload_set_counts(run, phase, &meter->count, n);
	if (meter->clock)
		report_times(meter, run, phase, n);
	report_health(meter, run);
	marker_phase(0, phase, n);
	meter_forget(meter);
	return 0;
}
