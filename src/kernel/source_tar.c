/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/stat.h>

#include "kernel/source_internal.h"

#define REPORT_EVERY 5000

static struct error *add_member(struct importer *importer, struct tar *tar, const struct tar_member *member, struct strbuf *bytes)
{
	if (member->hardlink)
		return importer_copy(importer, member->hardlink, member->path);
	if (S_ISLNK(member->mode))
		return importer_add(importer, member->path, member->mode, member->link_target, strlen(member->link_target));
	if (!S_ISREG(member->mode))
		return NULL;
	strbuf_reset(bytes);
	struct error *error = tar_read(tar, bytes);
	return error ? error : importer_add(importer, member->path, member->mode, strbuf_str(bytes), bytes->len);
}

static struct error *add_members(const struct source_job *job, struct importer *importer, struct tar *tar, const char *name)
{
	AUTO_STRBUF bytes = STRBUF_INIT;

	for (size_t files = 0;; files++) {
		struct tar_member member;
		bool more = false;
		struct error *error = tar_next(tar, &member, &more);
		if (!error && more)
			error = add_member(importer, tar, &member, &bytes);
		if (error || !more)
			return error;
		if (files % REPORT_EVERY == 0)
			source_say(job, "importing %s: %zu files", name, files);
	}
}

struct error *source_import_tar(const struct source_job *job, struct tar *tar, const char *name, const char *key,
				char tree_out[OID_HEX_SIZE])
{
	AUTO_IMPORTER importer = NULL;
	AUTO_GITDB db = NULL;
	char whole[OID_HEX_SIZE];
	struct error *error = importer_open(job, key, &importer);

	if (!error)
		error = add_members(job, importer, tar, name);
	if (!error)
		error = importer_finish(importer, whole);
	if (!error)
		error = gitdb_open(job->cache, NULL, &db);
	return error ? error : gitdb_strip_folder(db, whole, tree_out);
}
