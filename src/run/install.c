/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/install.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

static struct error *own_folder(char **dir_out)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		return error_os(errno, "cannot find out where memcg-ab itself is");
	path[len] = '\0';
	*dir_out = path_dirname(path);
	return NULL;
}

struct error *install_find(struct install *install_out)
{
	AUTO_FREE char *dir = NULL;
	struct error *error = own_folder(&dir);

	if (error)
		return error;
	AUTO_FREE char *source_root = path_join(dir, "../..");
	AUTO_FREE char *makefile = path_join(source_root, "Makefile");
	AUTO_FREE char *source_profiles = path_join(source_root, "profiles");
	if (file_exists(makefile) && file_is_dir(source_profiles)) {
		*install_out = (struct install){
			.profiles_parent = path_absolute(source_root),
			.share_dir = path_join(source_root, "share"),
			.agent_arm64 = path_join(dir, "memcg-ab-agent-arm64"),
			.agent_host = path_join(dir, "memcg-ab-agent-host"),
			.tcg_plugin = path_join(dir, "memcg-ab-tcg-plugin.so"),
		};
		return NULL;
	}
	AUTO_FREE char *share = xasprintf("%s/../share/memcg-ab", dir);
	*install_out = (struct install){
		.profiles_parent = path_absolute(share),
		.share_dir = path_absolute(share),
		.agent_arm64 = xasprintf("%s/../libexec/memcg-ab/memcg-ab-agent-arm64", dir),
		.agent_host = xasprintf("%s/../libexec/memcg-ab/memcg-ab-agent-host", dir),
		.tcg_plugin = xasprintf("%s/../libexec/memcg-ab/memcg-ab-tcg-plugin.so", dir),
	};
	return NULL;
}

void install_deinit(struct install *install)
{
	free(install->profiles_parent);
	free(install->share_dir);
	free(install->agent_arm64);
	free(install->agent_host);
	free(install->tcg_plugin);
}
