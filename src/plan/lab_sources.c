/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/lab_sources.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "plan/keys.h"
#include "plan/search.h"

/* An alternative as it is written: one of the first four keys says its kind. */
struct alternative {
	char *git, *folder, *tarball, *deb;
	char *rev, *suite, *version, *sha256;
};

static const struct bind_field alternative_fields[] = {
	BIND("git", BIND_TEXT, struct alternative, git),	 BIND("folder", BIND_TEXT, struct alternative, folder),
	BIND("tarball", BIND_TEXT, struct alternative, tarball), BIND("deb", BIND_NAME, struct alternative, deb),
	BIND("rev", BIND_TEXT, struct alternative, rev),	 BIND("suite", BIND_TEXT, struct alternative, suite),
	BIND("version", BIND_TEXT, struct alternative, version), BIND("sha256", BIND_TEXT, struct alternative, sha256),
};
const struct bind_table alternative_keys = { "alternative", alternative_fields, ARRAY_SIZE(alternative_fields), false };

void lab_free_source(struct source *source)
{
	for (size_t i = 0; i < source->n; i++) {
		struct source_alternative *alternative = &source->alternatives[i];
		free(alternative->path);
		free(alternative->rev);
		free(alternative->package);
		free(alternative->suite);
		free(alternative->version);
		free(alternative->sha256);
	}
	free(source->alternatives);
	free(source->name);
}

/* A key that says nothing about a source of this kind. */
static void refuse_key(const struct yaml_node *node, const char *key, const char *kind, struct error **errors)
{
	const struct yaml_pair *pair = yaml_pair(node, key);
	if (pair)
		error_join(errors, error_at(pair->key_pos, "'%s' has no meaning beside '%s'", key, kind));
}

static void check_sha256(const struct yaml_node *node, char *sha256, struct error **errors)
{
	if (!sha256)
		return;
	bool fine = strlen(sha256) == HASH_HEX_SIZE - 1;
	for (char *c = sha256; *c; c++) {
		*c = (char)tolower((unsigned char)*c);
		fine = fine && isxdigit((unsigned char)*c);
	}
	if (!fine)
		error_join(errors, error_at(yaml_get(node, "sha256")->pos, "'sha256' must be 64 hex digits"));
}

/* The kind whose key is there; false with an error unless it is exactly one. */
static bool alternative_kind(const struct yaml_node *node, const char *where, enum source_kind *kind_out, struct error **errors)
{
	static const struct {
		const char *key;
		enum source_kind kind;
	} kinds[] = { { "git", SOURCE_GIT }, { "folder", SOURCE_FOLDER }, { "tarball", SOURCE_TARBALL }, { "deb", SOURCE_DEB } };
	const struct yaml_pair *first = NULL;
	bool misspelt = false;
	bool fine = true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct yaml_pair *pair = yaml_pair(node, kinds[i].key);
		misspelt |= !pair && bind_has(node, &alternative_keys, kinds[i].key);
		if (!pair)
			continue;
		if (first) {
			error_join(errors, error_at(pair->key_pos,
						    "%s has '%s' and '%s': an alternative is one of them (a list has several)",
						    where, first->key, pair->key));
			fine = false;
			continue;
		}
		first = pair;
		*kind_out = kinds[i].kind;
	}
	if (!first && !misspelt)
		error_join(errors, error_at(node->pos, "%s needs one of 'git', 'folder', 'tarball' and 'deb'", where));
	return first && fine;
}

static void check_alternative(const struct yaml_node *node, const char *where, enum source_kind kind, struct error **errors)
{
	static const char *const names[] = { "git", "folder", "tarball", "deb" };
	if (kind != SOURCE_GIT)
		refuse_key(node, "rev", names[kind], errors);
	else if (!yaml_get(node, "rev"))
		error_join(errors, error_at(node->pos, "%s needs 'rev' beside 'git': a branch, tag or commit", where));
	if (kind != SOURCE_DEB) {
		refuse_key(node, "suite", names[kind], errors);
		refuse_key(node, "version", names[kind], errors);
	}
	if (kind != SOURCE_DEB && kind != SOURCE_TARBALL)
		refuse_key(node, "sha256", names[kind], errors);
}

static void read_alternative(struct source *source, const struct yaml_node *node, struct error **errors)
{
	static const char *const path_keys[] = { "git", "folder", "tarball" };
	struct alternative written = { 0 };
	AUTO_FREE char *where = xasprintf("source '%s'", source->name);
	enum source_kind kind = SOURCE_DEB;
	bind_mapping(node, &alternative_keys, where, &written, errors);
	if (node->kind == YAML_MAPPING && alternative_kind(node, where, &kind, errors))
		check_alternative(node, where, kind, errors);
	check_sha256(node, written.sha256, errors);
	const struct yaml_node *path = kind == SOURCE_DEB ? NULL : yaml_get(node, path_keys[kind]);
	free(written.git);
	free(written.folder);
	free(written.tarball);
	source->alternatives = array_grow(source->alternatives, source->n, sizeof(*source->alternatives));
	source->alternatives[source->n++] = (struct source_alternative){
		.kind = kind,
		.path = path && path->kind == YAML_SCALAR ? search_absolute(path) : NULL,
		.rev = written.rev,
		.package = written.deb,
		.suite = written.suite,
		.version = written.version,
		.sha256 = written.sha256,
		.pos = node->pos,
	};
}

void lab_read_sources(struct lab *lab, const struct yaml_node *sources, struct error **errors)
{
	lab->sources = xcalloc(sources->n + 1, sizeof(*lab->sources));
	for (size_t i = 0; i < sources->n; i++) {
		const struct yaml_pair *pair = &sources->pairs[i];
		struct source *source = &lab->sources[lab->n_sources++];
		*source = (struct source){ .name = xstrdup(pair->key), .pos = pair->key_pos };
		bind_check_name(pair->key, pair->key_pos, "the name of a source", errors);
		if (pair->value->kind == YAML_MAPPING) {
			read_alternative(source, pair->value, errors);
			continue;
		}
		AUTO_FREE char *what = xasprintf("source '%s'", pair->key);
		if (!bind_expect_list(pair->value, what, errors))
			continue;
		if (!pair->value->n)
			error_join(errors, error_at(pair->value->pos, "%s has no alternative", what));
		for (size_t k = 0; k < pair->value->n; k++)
			read_alternative(source, pair->value->items[k], errors);
	}
}
