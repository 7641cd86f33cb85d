/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sections of a profile that have a file of their own; private to the room. Each may be read several times: later layers win. */
#ifndef PLAN_PROFILE_PARTS_H
#define PLAN_PROFILE_PARTS_H

#include "base/hash.h"
#include "base/yaml.h"
#include "plan/profile.h"

void profile_sim_init(struct sim_settings *sim);
void profile_sim_deinit(struct sim_settings *sim);
void profile_sim_read(struct sim_settings *sim, const struct yaml_node *node, struct error **errors);
/* `noise_pos`: where the noise is said. */
void profile_sim_check(const struct profile *profile, struct pos noise_pos, struct error **errors);

/* A set of events (agent/events.h) from a list of their names. */
unsigned profile_events_read(const struct yaml_node *list, struct error **errors);
/* `pos`: where the events are said. */
void profile_events_check(const struct profile *profile, struct pos pos, struct error **errors);
/* Nothing where there are none, so that what was stored before there were any stays good. */
void profile_events_hash(const struct profile *profile, struct hash *hash);

void profile_environment_init(struct environment *environment);
void profile_environment_deinit(struct environment *environment);
void profile_environment_read(struct environment *environment, const struct yaml_node *node, struct error **errors);
void profile_environment_hash(const struct environment *environment, struct hash *hash);

void profile_fastboot_init(struct fastboot_settings *fastboot);
void profile_fastboot_deinit(struct fastboot_settings *fastboot);
void profile_fastboot_read(struct fastboot_settings *fastboot, const struct yaml_node *node, struct error **errors);
/* What does not go together; `pos` is the section's. */
void profile_fastboot_check(const struct profile *profile, struct pos pos, struct error **errors);
void profile_fastboot_hash(const struct fastboot_settings *fastboot, struct hash *hash);

/* Parts of the section: mappings in it, already known to be mappings. */
void profile_layout_read(struct boot_layout *layout, const struct yaml_node *node, struct error **errors);
void profile_stock_read(struct stock_images *stock, const struct yaml_node *node, struct error **errors);
void profile_modules_read(struct fastboot_settings *fastboot, const struct yaml_node *node, struct error **errors);
void profile_modules_free(struct fastboot_settings *fastboot);
/* The content of its files is hashed, so that a stock image that was replaced makes another device; a file that is not there by its name. */
void profile_images_hash(const struct fastboot_settings *fastboot, struct hash *hash);
/* Files that the settings name and that are not there: one error each, at `pos`. `where` names the device. */
void profile_images_find(const struct fastboot_settings *fastboot, struct pos pos, const char *where, struct error **errors);
/* A partition's name as bootloaders have them; which of them may be written is fastboot_forbidden()'s to say. NULL is fine. */
void profile_expect_partition(const char *name, struct pos pos, struct error **errors);

void profile_command_init(struct command_settings *command);
void profile_command_deinit(struct command_settings *command);
void profile_command_read(struct command_settings *command, const struct yaml_node *node, struct error **errors);
void profile_command_check(const struct profile *profile, struct pos pos, struct error **errors);
void profile_command_hash(const struct command_settings *command, struct hash *hash);

/* A command of the user's in the text `node`, replaced; *dir_out becomes the folder of its file. */
void profile_read_hook(const struct yaml_node *node, const char *what, char **command_out, char **dir_out, struct error **errors);
/* A file's path in the text `node`, made absolute, replaced. */
void profile_read_path(const struct yaml_node *node, const char *what, char **path_out, struct error **errors);

#endif
