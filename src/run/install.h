/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the tool's own files are: beside its source tree when it runs from build/VARIANT, else below its PREFIX. */
#ifndef RUN_INSTALL_H
#define RUN_INSTALL_H

#include "base/error.h"

#define TOOL_VERSION "0.1.0"

struct install {
	char *profiles_parent; /* holds profiles/ */
	char *share_dir; /* holds kconfig-helper/ */
	char *agent_arm64;
	char *agent_host;
	char *tcg_plugin;
};

struct error *install_find(struct install *install_out) MUST_CHECK;
void install_deinit(struct install *install);

#endif
