/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "kernel/source_internal.h"

/* Raised when the same input would be imported as another tree. */
#define IMPORT_VERSION "1"

void source_record_free(struct source_record *record)
{
	if (!record)
		return;
	free(record->tree);
	free(record->commit);
	free(record->version);
	free(record->origin);
	free(record->sha256);
	free(record->stamp);
	free(record);
}

void cleanup_source_record(struct source_record **record)
{
	source_record_free(*record);
}

void source_key(const struct source_alternative *from, char key_out[65])
{
	static const char *const kinds[] = {
		[SOURCE_GIT] = "git", [SOURCE_FOLDER] = "folder", [SOURCE_TARBALL] = "tarball", [SOURCE_DEB] = "deb"
	};
	struct hash *hash = hash_new();
	/* A pinned tarball is its content, wherever it is. */
	bool pinned = from->kind == SOURCE_TARBALL && from->sha256;

	hash_field(hash, "import", IMPORT_VERSION);
	hash_field(hash, "kind", kinds[from->kind]);
	hash_field(hash, "path", pinned ? NULL : from->path);
	hash_field(hash, "rev", from->rev);
	hash_field(hash, "package", from->package);
	hash_field(hash, "suite", from->suite);
	hash_field(hash, "version", from->version);
	hash_field(hash, "sha256", from->sha256);
	hash_finish(hash, key_out);
}

static char *record_path(const struct cache *cache, const char *key)
{
	return xasprintf("%s/sources/%s.json", cache->dir, key);
}

static char *copy_string(const struct jnode *node, const char *key)
{
	const char *text = jnode_string(node, key, NULL);

	return text ? xstrdup(text) : NULL;
}

static bool is_oid(const char *text)
{
	return text && strlen(text) == OID_HEX_SIZE - 1 && text[strspn(text, "0123456789abcdef")] == '\0';
}

struct error *source_record_load(const struct cache *cache, const char *key, struct source_record **record_out)
{
	AUTO_FREE char *path = record_path(cache, key);
	AUTO_JNODE node = NULL;
	AUTO_GITDB db = NULL;

	if (!file_exists(path))
		return NULL;
	struct error *error = jnode_load(path, &node);
	if (!error)
		error = gitdb_open(cache, NULL, &db);
	if (error)
		return error;
	AUTO_SOURCE_RECORD record = xcalloc(1, sizeof(*record));
	record->tree = copy_string(node, "tree");
	record->commit = copy_string(node, "commit");
	record->version = copy_string(node, "version");
	record->origin = copy_string(node, "origin");
	record->sha256 = copy_string(node, "sha256");
	record->stamp = copy_string(node, "stamp");
	/* The object store may have been removed since. */
	if (is_oid(record->tree) && is_oid(record->commit) && record->version && record->origin && gitdb_has(db, record->tree) &&
	    gitdb_has(db, record->commit))
		*record_out = take_ptr(record);
	return NULL;
}

struct error *source_record_save(const struct cache *cache, const char *key, const struct source_record *record)
{
	AUTO_FREE char *path = record_path(cache, key);
	AUTO_FREE char *dir = path_dirname(path);
	AUTO_JNODE node = jnode_object();
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_mkdirs(dir);

	if (error)
		return error;
	jnode_set_string(node, "origin", record->origin);
	jnode_set_string(node, "version", record->version);
	jnode_set_string(node, "sha256", record->sha256);
	jnode_set_string(node, "stamp", record->stamp);
	jnode_set_string(node, "tree", record->tree);
	jnode_set_string(node, "commit", record->commit);
	jnode_write(node, 2, &text);
	strbuf_addch(&text, '\n');
	return file_write_atomic(path, strbuf_str(&text), text.len, 0644);
}

struct error *source_record_finish(const struct source_job *job, const char *key, const char *tree, struct source_record *record)
{
	AUTO_GITDB db = NULL;
	char commit_oid[OID_HEX_SIZE];
	struct error *error = gitdb_open(job->cache, NULL, &db);

	if (!error)
		error = source_tree_version(db, tree, &record->version);
	if (error)
		return error;
	/* Nothing of the import's circumstances is in it: the same tree and version always give the same commit. */
	AUTO_FREE char *message = xasprintf("Linux %s\n", record->version);
	struct gitdb_commit commit = { .tree = tree, .author = "memcg-ab", .email = "memcg-ab", .message = message };
	error = gitdb_write_commit(db, &commit, commit_oid);
	if (error)
		return error;
	record->tree = xstrdup(tree);
	record->commit = xstrdup(commit_oid);
	return source_record_save(job->cache, key, record);
}

/* The value of `name` in a line "NAME = value" near the top of a Makefile; the caller frees, NULL when there is none. */
static char *makefile_value(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, name, len))
			continue;
		const char *at = line + len + strspn(line + len, " \t");
		if (*at != '=')
			continue;
		AUTO_FREE char *value = xstrndup(at + 1, strcspn(at + 1, "#\n"));
		return xstrdup(str_trim(value));
	}
	return NULL;
}

char *source_makefile_version(const char *text)
{
	AUTO_FREE char *version = makefile_value(text, "VERSION");
	AUTO_FREE char *patchlevel = makefile_value(text, "PATCHLEVEL");
	AUTO_FREE char *sublevel = makefile_value(text, "SUBLEVEL");
	AUTO_FREE char *extra = makefile_value(text, "EXTRAVERSION");

	if (!version || !patchlevel || !isdigit((unsigned char)*version))
		return NULL;
	return xasprintf("%s.%s%s%s%s", version, patchlevel, sublevel && *sublevel ? "." : "", sublevel ? sublevel : "",
			 extra ? extra : "");
}

struct error *source_tree_version(struct gitdb *db, const char *tree, char **version_out)
{
	struct gitdb_entry entry;
	bool found = false;
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = gitdb_find(db, tree, "Makefile", &entry, &found);

	if (!error && found)
		error = gitdb_read_blob(db, entry.oid, &text);
	if (error)
		return error;
	char *version = source_makefile_version(strbuf_str(&text));
	if (!version)
		return error_new(ERROR_INPUT, "this is no kernel source: no Makefile with VERSION and PATCHLEVEL at its top");
	*version_out = version;
	return NULL;
}
