/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the records go (setting results=, conf.h): console, a partition, pstore's pmsg, or a terminal such as a USB serial
 * gadget's.
 */
#ifndef AGENT_RESULTS_H
#define AGENT_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#define RESULTS_WAIT_MS 60000 /* for storage or a host to appear */

enum results_kind { RESULTS_TO_CONSOLE, RESULTS_TO_PARTITION, RESULTS_TO_PMSG, RESULTS_TO_TTY };

struct results {
	enum results_kind kind;
	int fd;
};

/*
 * Opens it and makes it ready: `setting` is the value of results=, `console_fd` what "console" means (and is never closed).
 *
 *   block:PARTITION  waits for the partition, claims it (one that is mounted or in use otherwise is refused), and clears its
 *                    first 4 KiB, so that nothing an earlier boot left is taken for this one's
 *   pmsg             /dev/pmsg0
 *   tty:DEVICE       waits for the device and, where it is a gadget's (ttyGS*), until a USB host has configured it; raw mode.
 *                    What is written stays in the gadget until the host reads it
 *
 * `root` as in node.h, each wait up to `wait_ms`. False with a one-line reason; then `results` is the console.
 */
bool results_open(struct results *results, const char *setting, int console_fd, const char *root, unsigned wait_ms, char *reason,
		  size_t reason_size);
/*
 * What was written so far is where it cannot be lost: sent by a terminal, or on the medium with a NUL behind it. False when that
 * did not come about (within 30 s).
 */
bool results_flush(const struct results *results);
void results_close(struct results *results);

#endif
