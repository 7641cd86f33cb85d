/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/initrd.h"

#include <string.h>
#include <sys/stat.h>

#include "base/archive.h"
#include "base/file.h"

/* An archive may start at a multiple of four bytes only (the kernel's Documentation, early-userspace/buffer-format). */
static void align(struct strbuf *out)
{
	while (out->len % 4)
		strbuf_addch(out, '\0');
}

static struct error *add_archives(const char *const *archives, struct strbuf *out)
{
	for (; archives && *archives; archives++) {
		struct error *error = file_read(*archives, out);
		if (error)
			return error_wrap(error, "a workload's files");
		align(out);
	}
	return NULL;
}

struct error *initrd_build(const char *agent_path, const char *settings, const char *const *archives, struct strbuf *out)
{
	AUTO_STRBUF agent = STRBUF_INIT;
	AUTO_STRBUF ramdisk = STRBUF_INIT;

	struct error *error = file_read(agent_path, &agent);
	if (error)
		return error_wrap(error, "the agent");
	const struct cpio_entry base[] = {
		{ .path = "dev", .mode = S_IFDIR | 0755 },
		/* The kernel opens it as init's standard streams before anything is mounted. */
		{ .path = "dev/console", .mode = S_IFCHR | 0600, .dev_major = 5, .dev_minor = 1 },
		{ .path = "dev/null", .mode = S_IFCHR | 0666, .dev_major = 1, .dev_minor = 3 },
		{ .path = "proc", .mode = S_IFDIR | 0755 },
		{ .path = "sys", .mode = S_IFDIR | 0755 },
		{ .path = "tmp", .mode = S_IFDIR | 01777 },
		{ .path = "init", .mode = S_IFREG | 0755, .data = strbuf_str(&agent), .size = agent.len },
	};
	const struct cpio_entry conf = {
		.path = "memcg-ab.conf", .mode = S_IFREG | 0644, .data = settings, .size = strlen(settings)
	};
	error = cpio_write(base, ARRAY_SIZE(base), &ramdisk);
	if (error)
		return error;
	align(&ramdisk);
	error = cpio_write(&conf, 1, &ramdisk);
	if (error)
		return error;
	align(&ramdisk);
	error = add_archives(archives, &ramdisk);
	if (error)
		return error;
	strbuf_add(out, ramdisk.data, ramdisk.len);
	return NULL;
}
