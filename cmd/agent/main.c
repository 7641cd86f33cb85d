/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's program: memcg-ab-agent SETTINGS, or as /init (pid 1) with the settings in /memcg-ab.conf. Records go to standard
 * output, unless the settings name another place. Exit status: 0 records written (they say if anything failed), 1 not written,
 * 2 usage.
 */
#include <errno.h>
#include <linux/reboot.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/mounts.h"
#include "agent/quiet.h"
#include "agent/sysfile.h"

#define INIT_SETTINGS "/memcg-ab.conf"

/* Pid 1 must not return: the kernel would panic. `finish`: the setting (conf.h). */
static void finish_init(const char *finish)
{
	sync();
	if (!strcmp(finish, "bootloader"))
		syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART2, finish);
	reboot(!strcmp(finish, "poweroff") ? RB_POWER_OFF : RB_AUTOBOOT);
	reboot(RB_HALT_SYSTEM);
	for (;;)
		pause();
}

/* As pid 1 further arguments are what the kernel did not know of its command line. */
static const char *settings_path(int argc, char *const argv[], bool init)
{
	if (init)
		return INIT_SETTINGS;
	return argc == 2 ? argv[1] : NULL;
}

/* The text, which the caller frees; NULL with a reason. */
static char *read_settings(const char *path, char *reason, size_t reason_size)
{
	size_t len;
	char *text = sysfile_read("", path, &len);

	if (!text) {
		snprintf(reason, reason_size, "%s: %s", path, strerror(errno));
	} else if (strlen(text) != len) {
		snprintf(reason, reason_size, "%s holds a NUL byte", path);
		free(text);
		return NULL;
	}
	return text;
}

int main(int argc, char *argv[])
{
	const bool init = getpid() == 1;
	const char *path = settings_path(argc, argv, init);
	struct conf conf = { 0 };
	char reason[256];
	bool sent;

	if (!path) {
		fprintf(stderr, "usage: memcg-ab-agent SETTINGS\n");
		return 2;
	}
	if (init)
		mounts_make();

	char *text = read_settings(path, reason, sizeof(reason));
	bool good = text && conf_parse(text, &conf, reason, sizeof(reason));

	if (good && !*conf_get(&conf, "root", ""))
		quiet_exec_without_aslr(argv);
	sent = good ? agent_run(&conf, STDOUT_FILENO, init) : agent_refuse(reason, STDOUT_FILENO);
	if (init)
		finish_init(conf_get(&conf, "finish", "poweroff"));
	conf_deinit(&conf);
	free(text);
	return sent ? 0 : 1;
}
