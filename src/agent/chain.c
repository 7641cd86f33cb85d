/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/chain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/gadget.h"
#include "agent/mounts.h"
#include "agent/node.h"

#define DEVICE_WAIT_MS 20000 /* for a controller or a watchdog whose driver probes late */

static const char configfs[] = "/sys/kernel/config";

static void load_modules(struct chain *chain, const struct conf *conf, const char *root)
{
	struct utsname name = { 0 };
	struct vendor_modules *loaded = &chain->loaded;

	uname(&name);
	if (!vendor_modules_load(root, conf_get(conf, "modules", "/lib/modules"), name.release, vendor_modules_finit, NULL,
				 loaded, chain->modules, sizeof(chain->modules)))
		return;
	snprintf(chain->modules, sizeof(chain->modules), "%u loaded, %u failed, %u on the blocklist", loaded->n_loaded,
		 loaded->n_failed, loaded->n_blocked);
}

static void start_gadget(struct chain *chain, const char *root)
{
	char serial[128], udc[128];

	if (!mounts_configfs(configfs)) {
		snprintf(chain->gadget, sizeof(chain->gadget), "cannot mount configfs on %s: %s", configfs, strerror(errno));
		return;
	}
	gadget_serial(root, serial, sizeof(serial));
	if (gadget_start(root, configfs, serial, DEVICE_WAIT_MS, udc, sizeof(udc), chain->gadget, sizeof(chain->gadget)))
		snprintf(chain->gadget, sizeof(chain->gadget), "%s", udc);
}

static void start_watchdog(struct chain *chain, const char *name, const char *root)
{
	const char *slash = strrchr(name, '/');
	char class_dir[300], path[NODE_PATH_MAX];

	snprintf(class_dir, sizeof(class_dir), "/sys/class/watchdog/%.255s", slash ? slash + 1 : name);
	if (node_character(root, name, class_dir, DEVICE_WAIT_MS, path, chain->watchdog_text, sizeof(chain->watchdog_text)) &&
	    watchdog_start(&chain->watchdog, path, chain->watchdog_text, sizeof(chain->watchdog_text)))
		snprintf(chain->watchdog_text, sizeof(chain->watchdog_text), "fed");
}

void chain_start(struct chain *chain, const struct conf *conf, bool init)
{
	const char *root = conf_get(conf, "root", "");
	const char *watchdog = conf_get(conf, "watchdog", NULL);

	if (init && conf_get_count(conf, "chain", 0) == 1) {
		load_modules(chain, conf, root);
		if (strstr(conf_get(conf, "results", ""), "ttyGS"))
			start_gadget(chain, root);
	}
	if (watchdog)
		start_watchdog(chain, watchdog, root);
}

static void report(struct records *records, const char *key, const char *text)
{
	if (*text)
		records_identity(records, key, text);
}

void chain_report(const struct chain *chain, struct records *records)
{
	report(records, "chain.modules", chain->modules);
	report(records, "chain.failed", chain->loaded.failures);
	report(records, "chain.gadget", chain->gadget);
	report(records, "chain.watchdog", chain->watchdog_text);
}

void chain_stop(struct chain *chain)
{
	watchdog_stop(&chain->watchdog);
}
