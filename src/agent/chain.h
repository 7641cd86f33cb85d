/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How our init lives on a phone (settings chain=, modules=, watchdog=, conf.h): the vendor's modules, a USB serial gadget where
 * the records go to one, a watchdog. What came of it is told in the records, and does not stop the agent.
 *
 *   chain.modules    "134 loaded, 2 failed, 1 on the blocklist", or why none was
 *   chain.failed     which, and why
 *   chain.gadget     the device controller's name, or why there is no gadget
 *   chain.watchdog   "fed", or why not
 */
#ifndef AGENT_CHAIN_H
#define AGENT_CHAIN_H

#include <stdbool.h>

#include "agent/conf.h"
#include "agent/records.h"
#include "agent/vendor_modules.h"
#include "agent/watchdog.h"

/* All zero: nothing was asked for. */
struct chain {
	char modules[200], gadget[200], watchdog_text[200]; /* "" = not asked for */
	struct vendor_modules loaded;
	struct watchdog watchdog;
};

/* `init`: it is pid 1; another process loads no modules and makes no gadget. */
void chain_start(struct chain *chain, const struct conf *conf, bool init);
void chain_report(const struct chain *chain, struct records *records);
/* The watchdog's end; modules and gadget stay. */
void chain_stop(struct chain *chain);

#endif
