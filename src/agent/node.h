/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Device nodes by what sysfs says, for a machine without udev: devtmpfs has made the node, or it is made here. `root` is put in
 * front of /sys and /dev; "" is the machine itself. A device may come late, so each wait has a deadline.
 */
#ifndef AGENT_NODE_H
#define AGENT_NODE_H

#include <stdbool.h>
#include <stddef.h>

#define NODE_PATH_MAX 4096

/*
 * The node of the partition whose GPT name is `name` (PARTNAME= in /sys/class/block/DEVICE/uevent, kernels from 3.10 on); a
 * `name` that starts with '/' is a node's path already. Waits up to `wait_ms`. False with a one-line reason, also when two
 * partitions have that name.
 */
bool node_partition(const char *root, const char *name, unsigned wait_ms, char path_out[NODE_PATH_MAX], char *reason,
		    size_t reason_size);
/*
 * The same for a character device: `name` is what stands behind /dev/ (or the whole path), `class_dir` its folder in sysfs,
 * whose file dev has its number; NULL = there is none to make it from.
 */
bool node_character(const char *root, const char *name, const char *class_dir, unsigned wait_ms, char path_out[NODE_PATH_MAX],
		    char *reason, size_t reason_size);
/* The same for a block device by the kernel's own name for it, "ram0", whose folder in sysfs has its number. */
bool node_block(const char *root, const char *name, unsigned wait_ms, char path_out[NODE_PATH_MAX], char *reason,
		size_t reason_size);
/* Milliseconds of CLOCK_MONOTONIC. */
long long node_clock_ms(void);
/* How long a loop that waits for a device sleeps between two looks. */
void node_pause(void);

#endif
