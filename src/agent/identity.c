/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/identity.h"

#include <dirent.h>
#include <elf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/quiet.h"
#include "agent/sysfile.h"

#define MAX_VULNERABILITIES 64

/* Names and descriptors of notes are padded to four bytes. */
static size_t padded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

bool identity_build_id(const void *notes, size_t len, char *hex_out, size_t size)
{
	const unsigned char *at = notes;
	Elf32_Nhdr note; /* the same in both classes */

	while (len >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		len -= sizeof(note);

		size_t name_len = padded(note.n_namesz), description_len = padded(note.n_descsz);

		if (name_len > len || description_len > len - name_len)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			if (!note.n_descsz || (size_t)note.n_descsz * 2 >= size)
				return false;
			for (uint32_t i = 0; i < note.n_descsz; i++)
				snprintf(hex_out + (size_t)i * 2, 3, "%02x", at[name_len + i]);
			return true;
		}
		at += name_len + description_len;
		len -= name_len + description_len;
	}
	return false;
}

static void add_line(struct records *records, const char *root, const char *key, const char *path)
{
	char *line = sysfile_line(root, path);

	records_identity(records, key, line);
	free(line);
}

static void add_count(struct records *records, const char *key, unsigned long long count)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", count);
	records_identity(records, key, text);
}

static void add_build_id(struct records *records, const char *root)
{
	size_t len;
	char *notes = sysfile_read(root, "/sys/kernel/notes", &len);
	char hex[129];

	if (notes && identity_build_id(notes, len, hex, sizeof(hex)))
		records_identity(records, "build_id", hex);
	free(notes);
}

static void add_thp(struct records *records, const char *root)
{
	char *enabled = sysfile_line(root, "/sys/kernel/mm/transparent_hugepage/enabled");
	char word[32];

	if (!enabled)
		return;
	quiet_chosen_word(enabled, word, sizeof(word));
	records_identity(records, "thp", word);
	free(enabled);
}

/* A heading, then a line for each. */
static void add_swaps(struct records *records, const char *root)
{
	char *swaps = sysfile_line(root, "/proc/swaps");
	unsigned n = 0;

	if (!swaps)
		return;
	for (const char *c = swaps; *c; c++)
		n += *c == '\n';
	add_count(records, "swaps", n);
	free(swaps);
}

static void add_memory(struct records *records, const char *root)
{
	static const char name[] = "MemTotal:";
	char *meminfo = sysfile_read(root, "/proc/meminfo", NULL);
	const char *line = meminfo ? strstr(meminfo, name) : NULL;

	if (line)
		add_count(records, "mem_total_kib", strtoull(line + strlen(name), NULL, 10));
	free(meminfo);
}

static int skip_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add_vulnerabilities(struct records *records, const char *root)
{
	static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
	char path[PATH_MAX], key[300];
	struct dirent **entries;
	int n = -1;

	if (snprintf(path, sizeof(path), "%s%s", root, folder) < (int)sizeof(path))
		n = scandir(path, &entries, skip_dots, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		snprintf(key, sizeof(key), "vuln.%.48s", entries[i]->d_name);
		if (i < MAX_VULNERABILITIES)
			add_line(records, root, key, path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* By uname, which needs no file, unless the files are told. */
static void add_release(struct records *records, const char *root)
{
	struct utsname name;

	if (uname(&name))
		return;
	records_identity(records, "arch", name.machine);
	if (*root) {
		add_line(records, root, "release", "/proc/sys/kernel/osrelease");
		add_line(records, root, "version", "/proc/sys/kernel/version");
	} else {
		records_identity(records, "release", name.release);
		records_identity(records, "version", name.version);
	}
}

static void add_part(struct records *records, const char *root)
{
	cpu_set_t cpus;
	char path[128];
	int cpu = 0;

	if (!*root && !sched_getaffinity(0, sizeof(cpus), &cpus)) {
		while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &cpus))
			cpu++;
	}
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
	add_line(records, root, "midr", path);
}

void identity_add(struct records *records, const char *root, const struct memcg *memcg)
{
	add_build_id(records, root);
	add_line(records, root, "cmdline", "/proc/cmdline");
	add_line(records, root, "boot_id", "/proc/sys/kernel/random/boot_id");
	add_release(records, root);
	records_identity(records, "memcg", memcg->state);
	records_identity(records, "memcg_raw", memcg->raw);
	if (*memcg->version)
		records_identity(records, "memcg_version", memcg->version);
	records_identity(records, "aslr", quiet_aslr_is_off() ? "off" : "on");
	add_thp(records, root);
	add_swaps(records, root);
	add_memory(records, root);
	add_line(records, root, "cpus", "/sys/devices/system/cpu/online");
	add_part(records, root);
	add_vulnerabilities(records, root);
	add_line(records, root, "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	add_count(records, "page_size", (unsigned long long)sysconf(_SC_PAGESIZE));
	records_identity(records, "init", getpid() == 1 ? "yes" : "no");
}
