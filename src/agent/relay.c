/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/relay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mounts.h"
#include "agent/node.h"
#include "agent/records.h"
#include "agent/sift.h"
#include "agent/sysfile.h"

#define PARTITION_MAX ((size_t)4 << 20) /* more records than any boot has */

static const char pstore_dir[] = "/sys/fs/pstore";

struct relay {
	int fd;
	const char *nonce;
};

__attribute__((format(printf, 2, 3))) static bool say(const struct relay *relay, const char *format, ...)
{
	char text[400];
	va_list args;
	int len = snprintf(text, sizeof(text), "MEMCG-AB-RELAY ");

	va_start(args, format);
	vsnprintf(text + len, sizeof(text) - (size_t)len - 1, format, args);
	va_end(args);
	strcat(text, "\n");
	return records_write(relay->fd, text, strlen(text));
}

static bool write_line(void *arg, const char *line, size_t len)
{
	const struct relay *relay = arg;

	return records_write(relay->fd, line, len);
}

static bool print_records(struct relay *relay, const char *what, const char *data, size_t len)
{
	struct sift_counts counts;

	return sift_records(data, len, relay->nonce, write_line, relay, &counts) &&
	       say(relay, "%zu records of this boot, %zu of others, %zu bytes in %s", counts.own, counts.foreign, len, what);
}

/* pstore's name for a record that it could not decompress. */
static bool is_compressed(const char *name)
{
	static const char suffix[] = ".enc.z";
	const size_t len = strlen(name);

	return len >= sizeof(suffix) - 1 && !strcmp(name + len - (sizeof(suffix) - 1), suffix);
}

static bool print_pstore_file(struct relay *relay, const char *root, const char *name)
{
	char path[300];
	size_t len;

	if (is_compressed(name))
		return say(relay, "nothing: %s is compressed and this kernel cannot read it", name);
	snprintf(path, sizeof(path), "%s/%.255s", pstore_dir, name);

	char *data = sysfile_read(root, path, &len);
	bool good =
		data ? print_records(relay, name, data, len) : say(relay, "nothing: cannot read %s: %s", path, strerror(errno));

	free(data);
	return good;
}

/* "pmsg-ramoops-0"; the last part is a number, of which there may be several. */
static int is_pmsg(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "pmsg-", 5);
}

static bool print_pmsg(struct relay *relay, const char *root)
{
	char path[NODE_PATH_MAX];
	struct dirent **entries;
	bool good = true;

	if (!*root && !mounts_pstore(pstore_dir))
		return say(relay, "nothing: pstore cannot be mounted on %s: %s", pstore_dir, strerror(errno));

	int n = snprintf(path, sizeof(path), "%s%s", root, pstore_dir) < (int)sizeof(path)
			? scandir(path, &entries, is_pmsg, alphasort)
			: -1;

	if (n < 0)
		return say(relay, "nothing: cannot list %s: %s", pstore_dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		good = good && print_pstore_file(relay, root, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return n ? good : say(relay, "nothing: no pmsg record in %s", pstore_dir);
}

/* The bytes before the first NUL; the caller frees. NULL with errno. */
static char *read_partition(const char *path, size_t *len_out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data = fd < 0 ? NULL : malloc(PARTITION_MAX);
	size_t len = 0;
	ssize_t n = 1;

	while (data && n > 0 && len < PARTITION_MAX) {
		n = read(fd, data + len, PARTITION_MAX - len);
		if (n > 0)
			len += (size_t)n;
		if (n > 0 && memchr(data + len - (size_t)n, '\0', (size_t)n))
			break;
		if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		free(data);
		return NULL;
	}
	*len_out = data ? strnlen(data, len) : 0;
	return data;
}

static bool print_partition(struct relay *relay, const char *name, const char *root, unsigned wait_ms)
{
	char path[NODE_PATH_MAX], reason[200];
	size_t len;

	if (!node_partition(root, name, wait_ms, path, reason, sizeof(reason)))
		return say(relay, "nothing: %s", reason);

	char *data = read_partition(path, &len);
	bool good = data ? print_records(relay, name, data, len)
			 : say(relay, "nothing: cannot read partition '%s': %s", name, strerror(errno));

	free(data);
	return good;
}

bool relay_print(const char *setting, const char *root, const char *nonce, unsigned wait_ms, int fd)
{
	struct relay relay = { fd, nonce };

	if (!strcmp(setting, "pmsg"))
		return print_pmsg(&relay, root);
	return print_partition(&relay, strchr(setting, ':') + 1, root, wait_ms);
}
