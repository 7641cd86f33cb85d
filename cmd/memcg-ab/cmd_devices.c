/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "command.h"
#include "device/device.h"
#include "setup.h"

static bool print_device(const struct setup *setup, const struct device *device)
{
	struct device_context context = {
		.name = device->name,
		.profile = device->profile,
		.agent_arm64 = setup->install.agent_arm64,
		.agent_host = setup->install.agent_host,
		.guard = setup->guard,
	};
	AUTO_FREE char *wrong = device_check(&context);
	AUTO_FREE char *lock = xasprintf("%s/locks/device-%s", setup->lab->cache_dir, device->name);
	AUTO_FREE char *holder = lock_holder(lock);

	printf("%-16s %-16s %s%s%s\n", device->name, device->profile->name, *wrong ? wrong : "ready",
	       holder ? "; in use by " : "", holder ? holder : "");
	return !*wrong;
}

static int run(int argc, char **argv)
{
	static const struct option known[] = { { "lab", required_argument, NULL, 'l' }, { NULL, 0, NULL, 0 } };
	const char *lab = NULL;
	struct setup setup;
	bool ready = true;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option != 'l')
			return command_usage(&command_devices);
		lab = optarg;
	}
	if (argc != optind)
		return command_usage(&command_devices);
	struct error *error = setup_lab(&setup, lab, NULL);
	for (size_t i = 0; !error && i < setup.lab->n_devices; i++)
		ready = print_device(&setup, &setup.lab->devices[i]) && ready;
	setup_close(&setup);
	return error ? command_fail(error) : ready ? 0 : 3;
}

const struct command command_devices = {
	.name = "devices",
	.usage = "[--lab FILE]",
	.summary = "list the lab's devices: whether each can be used here and now, and who holds it",
	.help = "",
	.run = run,
};
