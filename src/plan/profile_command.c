/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "plan/keys.h"
#include "plan/profile_parts.h"

#define HOUR_MS 3600000.0
#define COMMAND_MS 120000

struct command_layer {
	struct command_settings command;
	const struct yaml_node *deploy, *boot, *off, *console, *shell, *check, *version;
};

static const struct bind_field command_fields[] = {
	BIND("deploy", BIND_ANY, struct command_layer, deploy),
	BIND("boot", BIND_ANY, struct command_layer, boot),
	BIND("off", BIND_ANY, struct command_layer, off),
	BIND("console", BIND_ANY, struct command_layer, console),
	BIND("shell", BIND_ANY, struct command_layer, shell),
	BIND("check", BIND_ANY, struct command_layer, check),
	BIND("version", BIND_ANY, struct command_layer, version),
	BIND("timeout", BIND_TIME, struct command_layer, command.command_ms, .min = 1, .max = 24 * HOUR_MS),
	BIND("exact", BIND_BOOL, struct command_layer, command.exact),
	BIND("pmu", BIND_BOOL, struct command_layer, command.pmu),
	BIND("clock", BIND_BOOL, struct command_layer, command.clock),
};
const struct bind_table command_keys = { "command", command_fields, ARRAY_SIZE(command_fields), false };

void profile_command_init(struct command_settings *command)
{
	*command = (struct command_settings){ .command_ms = COMMAND_MS, .pmu = true, .clock = true };
}

void profile_command_deinit(struct command_settings *command)
{
	free(command->deploy);
	free(command->boot);
	free(command->off);
	free(command->console);
	free(command->shell);
	free(command->check);
	free(command->version);
	free(command->dir);
}

void profile_command_read(struct command_settings *command, const struct yaml_node *node, struct error **errors)
{
	struct command_layer layer = { .command = *command };
	bind_mapping(node, &command_keys, "'command'", &layer, errors);
	*command = layer.command;
	const struct {
		const struct yaml_node *node;
		const char *what;
		char **out;
	} hooks[] = {
		{ layer.deploy, "'deploy' of 'command'", &command->deploy },
		{ layer.boot, "'boot' of 'command'", &command->boot },
		{ layer.off, "'off' of 'command'", &command->off },
		{ layer.console, "'console' of 'command'", &command->console },
		{ layer.shell, "'shell' of 'command'", &command->shell },
		{ layer.check, "'check' of 'command'", &command->check },
		{ layer.version, "'version' of 'command'", &command->version },
	};
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
		profile_read_hook(hooks[i].node, hooks[i].what, hooks[i].out, &command->dir, errors);
	/* Under icount, or whatever else repeats itself bit for bit, time is no metric. */
	if (!yaml_get(node, "clock") && yaml_get(node, "exact"))
		command->clock = !command->exact;
}

void profile_command_check(const struct profile *profile, struct pos pos, struct error **errors)
{
	const struct command_settings *command = &profile->command;
	if (!command->boot)
		error_join(errors, error_at(pos, "a device of kind 'command' needs 'boot' in 'command'"));
	if (command->exact && command->clock)
		error_join(errors, error_at(pos, "'clock' and 'exact' of 'command' exclude each other: no time repeats itself"));
	if (!command->pmu && !command->clock)
		error_join(errors, error_at(pos, "a device without 'pmu' and without 'clock' measures nothing"));
}

void profile_command_hash(const struct command_settings *command, struct hash *hash)
{
	hash_field(hash, "pmu", command->pmu ? "1" : "0");
	hash_field(hash, "clock", command->clock ? "1" : "0");
	hash_field(hash, "shell", command->shell ? "1" : "0");
	/* What the commands do decides what is measured; where they reach the device is in them too, so units differ by settings of their own. */
	hash_field(hash, "boot", command->boot);
	hash_field(hash, "deploy", command->deploy);
}
