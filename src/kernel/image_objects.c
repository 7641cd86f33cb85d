/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The objects that a vmlinux was linked from, and their sizes. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/elf.h"
#include "base/file.h"
#include "kernel/image_parts.h"

#define THIN_MAGIC "!<thin>\n"
/* ar's member header: name 16 bytes ("//" for the table of long names), size as decimal text at 48, two closing bytes at 58. */
#define AR_HEADER 60
#define AR_SIZE_AT 48

/*
 * kbuild's archives are thin: they name objects (relative to the archive's folder) and hold none. All names are in the table "//",
 * each ended by "/\n"; only the symbol table "/" may come before it.
 */
static void add_archive_members(const char *data, size_t len, const char *dir, struct strlist *objects)
{
	size_t at = strlen(THIN_MAGIC);

	if (len < at || memcmp(data, THIN_MAGIC, at))
		return;
	while (len - at > AR_HEADER) {
		const char *header = data + at;
		size_t size = strtoul(header + AR_SIZE_AT, NULL, 10);
		at += AR_HEADER;
		if (size > len - at)
			return;
		if (!memcmp(header, "// ", 3)) {
			for (const char *name = data + at, *end = name + size; name < end;) {
				const char *stop = memmem(name, (size_t)(end - name), "/\n", 2);
				if (!stop)
					return;
				AUTO_FREE char *member = xstrndup(name, (size_t)(stop - name));
				if (str_ends(member, ".o"))
					strlist_addf(objects, "%s%s%s", dir, *dir ? "/" : "", member);
				name = stop + 2;
			}
			return;
		}
		if (memcmp(header, "/ ", 2) && memcmp(header, "/SYM64/", 7))
			return;
		at += size + (size & 1);
	}
}

static struct error *add_archive(const char *path, const char *dir, struct strlist *objects)
{
	AUTO_STRBUF data = STRBUF_INIT;
	struct error *err = file_read(path, &data);

	if (!err)
		add_archive_members(strbuf_str(&data), data.len, dir, objects);
	return err;
}

static bool is_real_dir(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

/* `dir` is relative to obj, "" for obj itself. */
static struct error *walk(const char *obj, const char *dir, struct strlist *objects)
{
	AUTO_FREE char *folder = path_join(obj, dir);
	AUTO_STRLIST names = { NULL, 0 };
	struct error *err = file_list(*dir ? folder : obj, &names);

	for (size_t i = 0; !err && i < names.n; i++) {
		AUTO_FREE char *relative = *dir ? path_join(dir, names.items[i]) : xstrdup(names.items[i]);
		AUTO_FREE char *path = path_join(obj, relative);
		if (!strcmp(names.items[i], "built-in.a") || !strcmp(names.items[i], "lib.a"))
			err = add_archive(path, dir, objects);
		else if (is_real_dir(path))
			err = walk(obj, relative, objects);
	}
	return err;
}

struct error *image_object_sizes(const char *obj, const char *arch, struct strbuf *out, size_t *n_out)
{
	AUTO_STRLIST objects = { NULL, 0 };
	struct error *err = walk(obj, "", &objects);
	if (err)
		return err;
	/* Before 6.x the first object of the link stands in no archive. */
	strlist_addf(&objects, "arch/%s/kernel/head.o", arch);
	strlist_sort(&objects);

	size_t n = 0;
	strbuf_adds(out, "object\ttext\tdata\tbss\n");
	for (size_t i = 0; i < objects.n; i++) {
		if (i && !strcmp(objects.items[i], objects.items[i - 1]))
			continue;
		AUTO_FREE char *path = path_join(obj, objects.items[i]);
		struct elf_sizes sizes;
		/* With link-time optimisation the objects are the compiler's own format and have no sizes of their own. */
		AUTO_ERROR not_elf = elf_sizes(path, &sizes);
		if (not_elf)
			continue;
		strbuf_addf(out, "%s\t%llu\t%llu\t%llu\n", objects.items[i], (unsigned long long)sizes.text,
			    (unsigned long long)sizes.data, (unsigned long long)sizes.bss);
		n++;
	}
	*n_out = n;
	return NULL;
}
