/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/settings.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "agent/events.h"

static const char pad_parameter[] = " memcg_ab.pad=";

char *settings_pad_cmdline(const char *cmdline, unsigned pad)
{
	AUTO_STRBUF padded = STRBUF_INIT;
	/* What is too short for the whole name is " .", and a name that starts with a dot is no parameter of the kernel's own. */
	const char *start = pad >= strlen(pad_parameter) ? pad_parameter : " .";
	size_t len = strlen(cmdline);

	while (len && isspace((unsigned char)cmdline[len - 1]))
		len--;
	if (pad == 1)
		strbuf_addch(&padded, ' ');
	strbuf_add(&padded, cmdline, len);
	for (unsigned i = 0; pad > 1 && i < pad; i++)
		strbuf_addch(&padded, i < strlen(start) ? start[i] : 'x');
	return strbuf_steal(&padded);
}

struct error *settings_draw_nonce(char nonce_out[SIFT_NONCE_LEN + 1])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return error_os(errno, "cannot draw a random number");
	snprintf(nonce_out, SIFT_NONCE_LEN + 1, "%016" PRIx64, number);
	return NULL;
}

static void write_pairs(const char *key, const struct strlist *pairs, struct strbuf *out)
{
	for (size_t i = 0; i < pairs->n; i++)
		strbuf_addf(out, "env.%s.%zu=%s\n", key, i, pairs->items[i]);
}

static bool needs_environment(const struct profile *profile, bool some_cores)
{
	const bool real = profile->kind == DEVICE_FASTBOOT || profile->kind == DEVICE_COMMAND;

	return some_cores || environment_asks(&profile->environment) || (real && !profile->exact);
}

static void write_environment(const struct profile *profile, const char *cores, struct strbuf *out)
{
	const struct environment *environment = &profile->environment;
	const bool some_cores = cores && strcmp(cores, "all");

	if (!needs_environment(profile, some_cores))
		return;
	if (environment->governor)
		strbuf_addf(out, "env.governor=%s\n", environment->governor);
	if (environment->frequency)
		strbuf_addf(out, "env.frequency=%s\n", environment->frequency);
	strbuf_addf(out, "env.cores=%s\nenv.offline=%d\n", cores ? cores : "all", environment->offline);
	if (environment->thermal_below > 0)
		strbuf_addf(out, "env.thermal_below=%.15g\nenv.thermal_wait_ms=%" PRId64 "\n", environment->thermal_below,
			    environment->thermal_wait_ms);
	for (size_t i = 0; i < environment->stop.n; i++)
		strbuf_addf(out, "%s%s", i ? "," : "env.stop=", environment->stop.items[i]);
	if (environment->stop.n)
		strbuf_addch(out, '\n');
	write_pairs("set", &environment->set, out);
	write_pairs("setprop", &environment->setprop, out);
	strbuf_addf(out, "env.swap=%d\n", environment->swap);
}

static void write_events(unsigned events, struct strbuf *out)
{
	char names[256];

	events_format(events, names, sizeof(names));
	strbuf_addf(out, "events=%s\n", names);
}

void settings_write(const struct settings *settings, const struct boot_request *request, struct strbuf *out)
{
	strbuf_addf(out, "version=1\ncounter=%s\nclock=%d\nfinish=%s\n", settings->counter, settings->clock, settings->finish);
	if (request->nuisance && request->nuisance->region_offset)
		strbuf_addf(out, "region_offset=%" PRIu64 "\n", request->nuisance->region_offset);
	if (request->memcg != MEMCG_UNKNOWN)
		strbuf_addf(out, "expect_memcg=%s\n", memcg_state_name(request->memcg));
	if (request->settle_ms)
		strbuf_addf(out, "settle_ms=%" PRId64 "\n", request->settle_ms);
	if (settings->nonce && settings->nonce[0])
		strbuf_addf(out, "nonce=%s\n", settings->nonce);
	if (settings->profile && settings->profile->events)
		write_events(settings->profile->events, out);
	if (settings->profile)
		write_environment(settings->profile, request->cores, out);
	if (settings->extra)
		strbuf_adds(out, settings->extra);
	strbuf_adds(out, request->workloads ? request->workloads : "");
}
