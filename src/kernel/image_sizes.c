/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large a kernel and its parts are, from the files in the cache. */
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/file.h"
#include "kernel/image.h"

static struct jnode *three(uint64_t text, uint64_t data, uint64_t bss)
{
	struct jnode *list = jnode_array();

	jnode_append_int(list, (int64_t)text);
	jnode_append_int(list, (int64_t)data);
	jnode_append_int(list, (int64_t)bss);
	return list;
}

/* sizes.tsv: a heading, then an object a line. */
static void add_objects(char *text, struct jnode *sizes)
{
	bool heading = true;

	for (char *line; (line = strsep(&text, "\n")); heading = false) {
		char *name = strsep(&line, "\t");
		char *fields[3] = { strsep(&line, "\t"), strsep(&line, "\t"), strsep(&line, "\t") };
		if (!heading && fields[2])
			jnode_set(sizes, name,
				  three(strtoull(fields[0], NULL, 10), strtoull(fields[1], NULL, 10),
					strtoull(fields[2], NULL, 10)));
	}
}

struct error *image_sizes(const struct image *image, struct jnode **sizes_out)
{
	AUTO_FREE char *vmlinux = path_join(image->dir, "vmlinux");
	AUTO_FREE char *table = path_join(image->dir, "sizes.tsv");
	AUTO_STRBUF text = STRBUF_INIT;
	struct elf_sizes whole;

	if (!file_exists(vmlinux)) {
		*sizes_out = NULL;
		return NULL;
	}
	struct error *error = elf_sizes(vmlinux, &whole);
	if (!error && file_exists(table))
		error = file_read(table, &text);
	if (error)
		return error;
	struct jnode *sizes = jnode_object();
	jnode_set(sizes, "vmlinux", three(whole.text, whole.data, whole.bss));
	if (text.len)
		add_objects(text.data, sizes);
	*sizes_out = sizes;
	return NULL;
}

static void add_growth(struct jnode *growth, const char *name, uint64_t before, uint64_t after)
{
	if (before == after)
		return;
	struct jnode *pair = jnode_array();

	jnode_append_int(pair, (int64_t)before);
	jnode_append_int(pair, (int64_t)after);
	jnode_set(growth, name, pair);
}

static struct jnode *differences(const struct elf_functions *before, const struct elf_functions *after)
{
	struct jnode *growth = jnode_object();
	size_t i = 0, k = 0;

	while (i < before->n || k < after->n) {
		int order = i == before->n ? 1 : k == after->n ? -1 : strcmp(before->items[i].name, after->items[k].name);
		const char *name = order <= 0 ? before->items[i].name : after->items[k].name;
		uint64_t old = order <= 0 ? before->items[i++].size : 0;
		uint64_t new = order >= 0 ? after->items[k++].size : 0;
		add_growth(growth, name, old, new);
	}
	return growth;
}

struct error *image_growth(const struct image *image, const struct image *reference, struct jnode **functions_out)
{
	AUTO_FREE char *others = path_join(reference->dir, "vmlinux");
	AUTO_FREE char *own = path_join(image->dir, "vmlinux");
	struct elf_functions before = { NULL, 0 }, after = { NULL, 0 };

	if (!file_exists(others) || !file_exists(own)) {
		*functions_out = NULL;
		return NULL;
	}
	struct error *error = elf_functions(others, &before);
	if (!error)
		error = elf_functions(own, &after);
	if (!error)
		*functions_out = differences(&before, &after);
	elf_functions_deinit(&before);
	elf_functions_deinit(&after);
	return error;
}
