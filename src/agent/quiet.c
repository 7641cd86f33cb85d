/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/quiet.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/personality.h>
#include <unistd.h>

#include "agent/sysfile.h"

#define SYSLOG_CONSOLE_LEVEL 8
#define PERSONALITY_QUERY 0xffffffffUL

bool quiet_aslr_is_off(void)
{
	int now = personality(PERSONALITY_QUERY);

	return now >= 0 && now & ADDR_NO_RANDOMIZE;
}

void quiet_exec_without_aslr(char *const argv[])
{
	int now = personality(PERSONALITY_QUERY);

	if (now < 0 || now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0)
		return;
	execv("/proc/self/exe", argv);
	execv(argv[0], argv);
	personality((unsigned long)now); /* so that quiet_aslr_is_off() tells the truth */
}

void quiet_chosen_word(const char *text, char *word_out, unsigned long size)
{
	const char *open = strchr(text, '[');
	const char *close = open ? strchr(open, ']') : NULL;

	if (close)
		snprintf(word_out, size, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(word_out, size, "%s", text);
}

/* Writes `value` into a file after keeping what it said. */
static void change(struct quiet *quiet, const char *path, const char *value)
{
	struct quiet_file *file = &quiet->files[quiet->n];
	char *before = quiet->n < QUIET_MAX_FILES && strlen(path) < sizeof(file->path) ? sysfile_line("", path) : NULL;

	if (!before)
		return;
	quiet_chosen_word(before, file->before, sizeof(file->before));
	free(before);
	snprintf(file->path, sizeof(file->path), "%s", path);
	if (strcmp(file->before, value) != 0 && sysfile_write(path, value))
		quiet->n++;
}

void quiet_console(struct quiet *quiet)
{
	static const char path[] = "/proc/sys/kernel/printk";
	struct quiet_file *file = &quiet->files[quiet->n];
	char *levels = quiet->n < QUIET_MAX_FILES ? sysfile_line("", path) : NULL;

	/* The first of four numbers; written alone, it leaves the others. */
	if (levels && !klogctl(SYSLOG_CONSOLE_LEVEL, NULL, 1)) {
		snprintf(file->before, sizeof(file->before), "%.*s", (int)strcspn(levels, " \t"), levels);
		snprintf(file->path, sizeof(file->path), "%s", path);
		quiet->n++;
	}
	free(levels);
}

void quiet_huge_pages(struct quiet *quiet)
{
	static const char whole[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	static const char sizes[] = "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled";
	glob_t found;

	change(quiet, whole, "never");
	if (glob(sizes, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		change(quiet, found.gl_pathv[i], "never");
	globfree(&found);
}

void quiet_restore(const struct quiet *quiet)
{
	for (unsigned i = quiet->n; i-- > 0;)
		sysfile_write(quiet->files[i].path, quiet->files[i].before);
}
