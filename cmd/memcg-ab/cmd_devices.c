/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "command.h"
#include "device/device.h"
#include "setup.h"

/* A device that a run is using is not waited for. */
#define LOCK_WAIT_MS 500

static void print_findings(const struct preflight *preflight)
{
	if (preflight->state)
		printf("  %-24s %s\n", "state", preflight->state);
	for (size_t i = 0; i < preflight->n; i++)
		printf("  %-24s %s%s\n", preflight->findings[i].what, preflight->findings[i].bad ? "WRONG: " : "",
		       preflight->findings[i].text);
}

static bool is_good(const struct preflight *preflight)
{
	for (size_t i = 0; i < preflight->n; i++)
		if (preflight->findings[i].bad)
			return false;
	return true;
}

/* Asks the device itself, which nobody else may use meanwhile; *good_out tells whether it can be used. */
static struct error *look_at(const struct device_context *context, bool *good_out)
{
	struct preflight preflight = { NULL, NULL, 0 };
	AUTO_FREE char *holder = xasprintf("memcg-ab devices --preflight on %s, pid %d", context->name, (int)getpid());
	AUTO_LOCK lock = NULL;

	*good_out = false;
	AUTO_ERROR busy = context->lock_path ? lock_take(context->lock_path, holder, clock_deadline(LOCK_WAIT_MS), &lock) : NULL;
	if (busy) {
		printf("  not looked at: %s\n", error_message(busy));
		return NULL;
	}
	struct error *error = device_preflight(context, &preflight);
	if (!error) {
		print_findings(&preflight);
		*good_out = is_good(&preflight);
	} else if (error_kind(error) != ERROR_INTERRUPTED) {
		printf("  %s\n", error_message(error));
		error_free(error);
		error = NULL;
	}
	preflight_deinit(&preflight);
	return error;
}

static struct error *print_unit(const struct setup *setup, const struct device *device, const struct unit *unit, bool preflight,
				bool *ready)
{
	AUTO_FREE char *name = *unit->name ? xasprintf("%s/%s", device->name, unit->name) : xstrdup(device->name);
	AUTO_FREE char *locks = xasprintf("%s/locks", setup->lab->cache_dir);
	AUTO_FREE char *lock_path = device_lock_path(locks, name, unit->profile);
	const struct device_context context = {
		.name = name,
		.profile = unit->profile,
		.agent_arm64 = setup->install.agent_arm64,
		.agent_host = setup->install.agent_host,
		.lock_path = lock_path,
		.guard = setup->guard,
	};
	AUTO_FREE char *wrong = device_check(&context);
	AUTO_FREE char *holder = lock_path ? lock_holder(lock_path) : NULL;

	printf("%-20s %-20s %-9s verified: %-12s %s%s%s\n", name, unit->profile->name, device_kind_name(unit->profile->kind),
	       unit->profile->verified, *wrong ? wrong : "ready", holder ? "; in use by " : "", holder ? holder : "");
	*ready = *ready && !*wrong;
	if (!preflight || *wrong)
		return NULL;
	bool good = false;
	struct error *error = look_at(&context, &good);
	*ready = *ready && good;
	return error;
}

static int run(int argc, char **argv)
{
	static const struct option known[] = { { "lab", required_argument, NULL, 'l' },
					       { "preflight", no_argument, NULL, 'p' },
					       { NULL, 0, NULL, 0 } };
	const char *lab = NULL;
	struct setup setup;
	bool preflight = false, ready = true;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'l')
			lab = optarg;
		else if (option == 'p')
			preflight = true;
		else
			return command_usage(&command_devices);
	}
	if (argc != optind)
		return command_usage(&command_devices);
	struct error *error = setup_lab(&setup, lab, NULL);
	for (size_t i = 0; !error && i < setup.lab->n_devices; i++) {
		const struct device *device = &setup.lab->devices[i];
		for (size_t k = 0; !error && k < device->n_units; k++)
			error = print_unit(&setup, device, &device->units[k], preflight, &ready);
	}
	setup_close(&setup);
	return error ? command_fail(error) : ready ? 0 : 3;
}

const struct command command_devices = {
	.name = "devices",
	.usage = "[--preflight] [--lab FILE]",
	.summary = "list the lab's devices and their units: whether each can be used here and now, and who holds it",
	.help = "  --preflight   ask each what must be right before the first write (product, unlocked, slots, sizes, battery, "
		"...); nothing is\n"
		"                written, and a device that a run is using is left alone\n",
	.run = run,
};
