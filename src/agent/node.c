/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/node.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "agent/sysfile.h"

#define PAUSE_NS 50000000
#define NAME_ROOM 256

static const char block_class[] = "/sys/class/block";

long long node_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void node_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

static bool join(char path_out[NODE_PATH_MAX], const char *root, const char *dir, const char *name)
{
	return snprintf(path_out, NODE_PATH_MAX, "%s%s%s", root, dir, name) < NODE_PATH_MAX;
}

/* The value of a line KEY=VALUE of `text`, cut to `size`; false when there is none. */
static bool find_value(const char *text, const char *key, char *value_out, size_t size)
{
	const size_t key_len = strlen(key);

	for (const char *line = text; line && *line;) {
		const char *end = strchr(line, '\n');
		const size_t len = end ? (size_t)(end - line) : strlen(line);

		if (len > key_len && !strncmp(line, key, key_len) && line[key_len] == '=') {
			snprintf(value_out, size, "%.*s", (int)(len - key_len - 1), line + key_len + 1);
			return true;
		}
		line = end ? end + 1 : NULL;
	}
	return false;
}

/* What sysfs says of one device. */
struct found {
	char devname[NAME_ROOM];
	unsigned major, minor;
};

static bool read_entry(const char *root, const char *entry, const char *name, struct found *found)
{
	char path[NODE_PATH_MAX], value[NAME_ROOM];
	bool good;

	if (snprintf(path, sizeof(path), "%s/%s/uevent", block_class, entry) >= (int)sizeof(path))
		return false;

	char *text = sysfile_read(root, path, NULL);

	good = text && find_value(text, "PARTNAME", value, sizeof(value)) && !strcmp(value, name) &&
	       find_value(text, "DEVNAME", found->devname, sizeof(found->devname));
	if (good && find_value(text, "MAJOR", value, sizeof(value)))
		found->major = (unsigned)strtoul(value, NULL, 10);
	if (good && find_value(text, "MINOR", value, sizeof(value)))
		found->minor = (unsigned)strtoul(value, NULL, 10);
	free(text);
	return good;
}

/* How many partitions have that name; `found` is one of them. */
static unsigned count_partitions(const char *root, const char *name, struct found *found)
{
	char path[NODE_PATH_MAX];
	unsigned n = 0;
	DIR *dir = join(path, root, block_class, "") ? opendir(path) : NULL;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_name[0] != '.')
			n += read_entry(root, entry->d_name, name, found);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* True when the node is there, made or found. */
static bool make_node(const char *path, mode_t type, unsigned major, unsigned minor)
{
	struct stat status;

	if (!stat(path, &status))
		return true;
	return !mknod(path, type | 0600, makedev(major, minor)) || errno == EEXIST;
}

bool node_partition(const char *root, const char *name, unsigned wait_ms, char path_out[NODE_PATH_MAX], char *reason,
		    size_t reason_size)
{
	const long long deadline = node_clock_ms() + wait_ms;
	struct found found = { 0 };
	struct stat status;

	for (;;) {
		unsigned n = *name == '/' ? join(path_out, root, name, "") && !stat(path_out, &status)
					  : count_partitions(root, name, &found);

		if (n > 1) {
			snprintf(reason, reason_size, "%u partitions are named '%s'", n, name);
			return false;
		}
		if (n)
			break;
		if (node_clock_ms() >= deadline) {
			snprintf(reason, reason_size, "no partition '%s' within %g s", name, wait_ms / 1000.0);
			return false;
		}
		node_pause();
	}
	if (*name == '/')
		return true;
	if (!join(path_out, root, "/dev/", found.devname) || !make_node(path_out, S_IFBLK, found.major, found.minor)) {
		snprintf(reason, reason_size, "cannot make /dev/%s for partition '%s': %s", found.devname, name, strerror(errno));
		return false;
	}
	return true;
}

/* Makes the node by its number in sysfs. */
static bool make_by_number(const char *root, const char *path, const char *class_dir, mode_t type)
{
	char number_path[NODE_PATH_MAX];
	unsigned major, minor;
	bool good = false;

	if (!class_dir || !join(number_path, "", class_dir, "/dev"))
		return false;

	char *number = sysfile_line(root, number_path);

	if (number && sscanf(number, "%u:%u", &major, &minor) == 2)
		good = make_node(path, type, major, minor);
	free(number);
	return good;
}

static bool wait_for_node(const char *root, const char *name, const char *class_dir, mode_t type, unsigned wait_ms,
			  char path_out[NODE_PATH_MAX], char *reason, size_t reason_size)
{
	const long long deadline = node_clock_ms() + wait_ms;
	struct stat status;

	if (!join(path_out, root, *name == '/' ? "" : "/dev/", name)) {
		snprintf(reason, reason_size, "the path of '%s' is too long", name);
		return false;
	}
	while (stat(path_out, &status) && !make_by_number(root, path_out, class_dir, type)) {
		if (node_clock_ms() >= deadline) {
			snprintf(reason, reason_size, "no device '%s' within %g s", name, wait_ms / 1000.0);
			return false;
		}
		node_pause();
	}
	return true;
}

bool node_character(const char *root, const char *name, const char *class_dir, unsigned wait_ms, char path_out[NODE_PATH_MAX],
		    char *reason, size_t reason_size)
{
	return wait_for_node(root, name, class_dir, S_IFCHR, wait_ms, path_out, reason, reason_size);
}

bool node_block(const char *root, const char *name, unsigned wait_ms, char path_out[NODE_PATH_MAX], char *reason,
		size_t reason_size)
{
	char class_dir[NODE_PATH_MAX];

	if (snprintf(class_dir, sizeof(class_dir), "%s/%s", block_class, name) >= (int)sizeof(class_dir)) {
		snprintf(reason, reason_size, "the path of '%s' is too long", name);
		return false;
	}
	return wait_for_node(root, name, class_dir, S_IFBLK, wait_ms, path_out, reason, reason_size);
}
