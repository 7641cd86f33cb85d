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

/* Writes `value` into a file after noting what it said. */
static void change(struct undo *undo, const char *path, const char *value)
{
	char *before = sysfile_line("", path);
	char word[UNDO_VALUE_MAX];

	if (!before)
		return;
	quiet_chosen_word(before, word, sizeof(word));
	free(before);
	if (strcmp(word, value) != 0 && undo_note(undo, UNDO_FILE, path, word) && !sysfile_write(path, value))
		undo_forget(undo);
}

void quiet_console(struct undo *undo)
{
	static const char path[] = "/proc/sys/kernel/printk";
	char *levels = sysfile_line("", path);

	if (!levels)
		return;
	/* The first of four numbers; written alone, it leaves the others. */
	levels[strcspn(levels, " \t")] = '\0';
	if (undo_note(undo, UNDO_FILE, path, levels) && klogctl(SYSLOG_CONSOLE_LEVEL, NULL, 1) < 0)
		undo_forget(undo);
	free(levels);
}

void quiet_huge_pages(struct undo *undo)
{
	static const char whole[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	static const char sizes[] = "/sys/kernel/mm/transparent_hugepage/hugepages-*/enabled";
	glob_t found;

	change(undo, whole, "never");
	if (glob(sizes, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		change(undo, found.gl_pathv[i], "never");
	globfree(&found);
}
