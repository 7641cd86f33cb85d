/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "kernel/config_parts.h"
#include "kernel/entry.h"
#include "kernel/kmake.h"
#include "kernel/worktree.h"

#define LOCK_TIMEOUT_MS (30 * 60 * 1000)

static void add_requests(struct hash *hash, const char *label, const struct fragment *fragment)
{
	for (size_t i = 0; fragment && i < fragment->n; i++) {
		const struct config_request *request = &fragment->requests[i];
		AUTO_FREE char *line = xasprintf("%s=%s%s", request->name, request->value, request->optional ? " optional" : "");
		hash_field(hash, label, line);
	}
}

static struct error *resolved_key(const struct config_input *input, const char *digest, char key_out[HASH_HEX_SIZE])
{
	const struct kernel *kernel = input->kernel;
	const struct toolchain_info *toolchain = input->toolchain;
	AUTO_STRBUF base = STRBUF_INIT;
	if (!kernel->base_is_target) {
		struct error *err = file_read(kernel->base_config, &base);
		if (err)
			return error_place(error_wrap(err, "base_config"), kernel->pos);
	}

	struct hash *hash = hash_new();
	AUTO_FREE char *recipe = xasprintf("%d", KMAKE_RECIPE);
	hash_field(hash, "recipe", recipe);
	hash_field(hash, "files", digest);
	hash_field(hash, "arch", kernel->arch);
	hash_field(hash, "target", kernel->base_is_target ? kernel->base_config : NULL);
	hash_field(hash, "base", kernel->base_is_target ? NULL : strbuf_str(&base));
	hash_field(hash, "compiler", toolchain->compiler);
	hash_field(hash, "linker", toolchain->linker);
	for (size_t i = 0; i < toolchain->make_args.n; i++)
		hash_field(hash, "make", toolchain->make_args.items[i]);
	add_requests(hash, "device", input->device_fragment);
	add_requests(hash, "matrix", input->fragment);
	hash_field(hash, "tools", toolchain->config_tools);
	hash_finish(hash, key_out);
	return NULL;
}

static struct error *load_resolved(const char *dir, struct resolved_config **config_out)
{
	AUTO_FREE char *path = path_join(dir, ".config");
	AUTO_FREE char *dropped_path = path_join(dir, "dropped");
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRBUF dropped = STRBUF_INIT;

	struct error *err = file_read(path, &text);
	if (!err)
		err = file_read(dropped_path, &dropped);
	if (err)
		return err;
	struct resolved_config *config = xcalloc(1, sizeof(*config));
	hash_bytes(text.data, text.len, config->sha256);
	config->text = strbuf_steal(&text);
	config->dir = xstrdup(dir);
	for (const char *at = strbuf_str(&dropped); *at;) {
		size_t len = strcspn(at, "\n");
		strlist_addf(&config->dropped, "%.*s", (int)len, at);
		at += len + (at[len] == '\n');
	}
	entry_touch(dir);
	*config_out = config;
	return NULL;
}

static struct error *store_resolved(const struct cache *cache, const char *key, const char *text, const struct strlist *dropped)
{
	AUTO_FREE char *stage = NULL;
	AUTO_STRBUF lines = STRBUF_INIT;
	struct error *err = entry_stage(cache, "configs", key, &stage);
	if (err)
		return err;

	AUTO_FREE char *path = path_join(stage, ".config");
	AUTO_FREE char *dropped_path = path_join(stage, "dropped");
	for (size_t i = 0; i < dropped->n; i++)
		strbuf_addf(&lines, "%s\n", dropped->items[i]);
	err = file_write_atomic(path, text, strlen(text), 0644);
	if (!err)
		err = file_write_atomic(dropped_path, strbuf_str(&lines), lines.len, 0644);
	return err ? err : entry_publish(cache, "configs", key, stage);
}

/* What is to be explained: requests that do not hold, and requests for "n" of options that .config does not even mention. */
struct finding {
	const struct config_request *request;
	char *actual;
	bool holds;
};

struct findings {
	struct finding *items;
	size_t n;
};

static void findings_deinit(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		free(findings->items[i].actual);
	free(findings->items);
}

static bool is_mentioned(const char *config_text, const char *name)
{
	AUTO_FREE char *line = xasprintf("# CONFIG_%s is not set\n", name);

	return strstr(config_text, line) != NULL;
}

static void find(const struct config_input *input, const char *config_text, struct findings *findings)
{
	size_t n;
	AUTO_FREE const struct config_request **requests = config_final_requests(input->device_fragment, input->fragment, &n);

	for (size_t i = 0; i < n; i++) {
		const struct config_request *request = requests[i];
		AUTO_FREE char *actual = config_value(config_text, request->name);
		bool holds = config_value_is(request->value, actual);
		/* A misspelt name that was to be off is off, and says nothing: the most expensive mistake that a matrix can hold. */
		if (holds && (request->optional || strcmp(request->value, "n") || is_mentioned(config_text, request->name)))
			continue;
		findings->items = array_grow(findings->items, findings->n, sizeof(*findings->items));
		findings->items[findings->n++] = (struct finding){ request, take_ptr(actual), holds };
	}
}

static bool is_unknown(const struct config_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->n; i++)
		if (!strcmp(facts->items[i].name, name) && !strcmp(facts->items[i].fact, "type"))
			return !strcmp(facts->items[i].text, "unknown");
	return false;
}

/* " (did you mean 'MEMCG'?)" for a name that no option has, from the names that the helper lists then. */
static char *suggest(const struct config_facts *facts, const char *name)
{
	AUTO_FREE const char **candidates = xcalloc(facts->n + 1, sizeof(*candidates));
	size_t n = 0;

	for (size_t i = 0; i < facts->n; i++)
		if (!strcmp(facts->items[i].fact, "symbol"))
			candidates[n++] = facts->items[i].name;
	const char *suggestion = str_suggest(name, candidates, n);
	return suggestion ? xasprintf(" (did you mean '%s'?)", suggestion) : xstrdup("");
}

struct explanation {
	struct config_facts facts; /* of the findings */
	char *no_facts; /* why there are no facts, or NULL */
	bool modules;
};

static struct error *explain_one(struct explanation *explanation, const struct finding *finding, const char *kernel,
				 struct strlist *dropped)
{
	const struct config_request *request = finding->request;
	bool unknown = is_unknown(&explanation->facts, request->name);
	if (finding->holds && !unknown)
		return NULL;

	AUTO_FREE char *reason =
		config_reason(&explanation->facts, request->name, request->value, finding->actual, explanation->modules);
	if (request->optional) {
		strlist_addf(dropped, "%s=%s: %s", request->name, request->value, reason ? reason : "it is set otherwise");
		return NULL;
	}
	AUTO_FREE char *hint = unknown ? suggest(&explanation->facts, request->name) : xstrdup("");
	AUTO_FREE char *of_kernel = *kernel ? xasprintf(" of kernel '%s'", kernel) : xstrdup("");
	struct error *err =
		unknown ? error_at(request->pos, "%s=%s: %s%s%s", request->name, request->value, reason, of_kernel, hint)
			: error_at(request->pos, "%s=%s does not hold, .config%s has %s=%s: %s", request->name, request->value,
				   of_kernel, request->name, finding->actual, reason ? reason : "kconfig gives no reason");
	if (explanation->no_facts)
		error_note(err, NO_POS, "the reason is not known: %s", explanation->no_facts);
	return err;
}

/* Compares the requests with the result; all that does not hold is an error, or is added to `dropped` if it was optional. */
static struct error *read_back(const struct cache *cache, const struct config_input *input, const struct config_tree *tree,
			       const char *text, struct strlist *dropped)
{
	CLEANUP(findings_deinit) struct findings findings = { NULL, 0 };
	find(input, text, &findings);
	if (!findings.n)
		return NULL;

	AUTO_STRLIST names = { NULL, 0 };
	for (size_t i = 0; i < findings.n; i++)
		strlist_add(&names, findings.items[i].request->name);
	AUTO_FREE char *modules = config_value(text, "MODULES");
	struct explanation explanation = { .modules = !strcmp(modules, "y") };
	struct error *list = config_ask(cache, tree, &names, &explanation.facts);
	if (list && error_kind(list) == ERROR_INTERRUPTED)
		return list;
	if (list) {
		explanation.no_facts = xstrdup(error_message(list));
		error_free(list);
		list = NULL;
	}
	for (size_t i = 0; i < findings.n; i++)
		error_join(&list, explain_one(&explanation, &findings.items[i], input->kernel->name, dropped));
	config_facts_deinit(&explanation.facts);
	free(explanation.no_facts);
	return list;
}

static struct error *resolve_in_tree(const struct cache *cache, const struct config_input *input, const struct config_tree *tree,
				     const char *key)
{
	AUTO_STRBUF requests = STRBUF_INIT;
	if (input->device_fragment)
		fragment_write(input->device_fragment, &requests);
	if (input->fragment)
		fragment_write(input->fragment, &requests);
	struct error *err = config_make(tree, input->kernel, strbuf_str(&requests));
	if (err)
		return err;

	AUTO_FREE char *path = path_join(tree->obj, ".config");
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRLIST dropped = { NULL, 0 };
	err = file_read(path, &text);
	if (!err)
		err = read_back(cache, input, tree, strbuf_str(&text), &dropped);
	return err ? err : store_resolved(cache, key, strbuf_str(&text), &dropped);
}

/* Has the config tree of `digest` in the cache, locked while the config is resolved in it. */
static struct error *resolve(const struct cache *cache, const struct config_input *input, const char *digest, const char *key,
			     struct guard guard)
{
	AUTO_FREE char *relative = xasprintf("config-trees/%s", digest);
	AUTO_FREE char *dir = cache_path(cache, relative);
	AUTO_FREE char *lock_name = xasprintf("config-tree-%s", digest);
	AUTO_FREE char *holder = xasprintf("pid %ld resolving a kernel config", (long)getpid());
	AUTO_LOCK lock = NULL;
	struct error *err = entry_lock(cache, lock_name, holder, clock_deadline(LOCK_TIMEOUT_MS), guard, &lock);
	if (err)
		return err;

	AUTO_FREE char *src = path_join(dir, "src");
	AUTO_FREE char *obj = path_join(dir, "obj");
	const struct config_tree tree = { src, obj, input->kernel->arch, input->toolchain, guard };
	err = file_mkdirs(obj);
	if (!err)
		err = worktree_update(cache, input->objects, input->tree, src, config_tree_wants, guard, NULL);
	if (err)
		return err;
	entry_touch(dir);
	return resolve_in_tree(cache, input, &tree, key);
}

struct error *config_resolve(const struct cache *cache, const struct config_input *input, struct guard guard,
			     struct resolved_config **config_out)
{
	const struct kernel *kernel = input->kernel;
	char digest[HASH_HEX_SIZE], key[HASH_HEX_SIZE];

	if (!kmake_image_path(kernel->arch))
		return error_at(kernel->pos, "arch: kernels are built for arm64 alone, not for '%s'", kernel->arch);
	struct error *err = worktree_digest(cache, input->objects, input->tree, config_tree_wants, digest);
	if (!err)
		err = resolved_key(input, digest, key);
	if (err)
		return err;
	AUTO_FREE char *relative = xasprintf("configs/%s", key);
	AUTO_FREE char *dir = cache_path(cache, relative);
	if (!file_is_dir(dir))
		err = resolve(cache, input, digest, key, guard);
	return err ? err : load_resolved(dir, config_out);
}

void resolved_config_free(struct resolved_config *config)
{
	if (!config)
		return;
	free(config->text);
	free(config->dir);
	strlist_deinit(&config->dropped);
	free(config);
}
