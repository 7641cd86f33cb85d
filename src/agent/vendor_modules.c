/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/vendor_modules.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sysfile.h"

#define NAME_ROOM 128
#define FINIT_COMPRESSED_FILE 4 /* MODULE_INIT_COMPRESSED_FILE of linux/module.h, kernels from 5.17 on */

/* One that was tried, or is being tried: a circle in modules.dep ends there. */
struct tried {
	char name[NAME_ROOM];
};

struct loading {
	const char *root;
	char dir[PATH_MAX];
	char *dep, *options, *blocklist; /* texts, or NULL */
	struct tried *tried;
	size_t n_tried;
	vendor_modules_loader *load;
	void *arg;
	struct vendor_modules *out;
};

/* A piece of a text, not NUL terminated. */
struct piece {
	const char *text;
	size_t len;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the next line of *text, without blanks at its ends and without comments; false at the end. */
static bool next_line(const char **text, struct piece *line_out)
{
	const char *start = *text;

	if (!start || !*start)
		return false;

	const char *end = start + strcspn(start, "\n");

	*text = *end ? end + 1 : end;
	while (start < end && is_blank(*start))
		start++;
	while (end > start && is_blank(end[-1]))
		end--;
	*line_out = (struct piece){ start, *start == '#' ? 0 : (size_t)(end - start) };
	return true;
}

/* Takes the next word of `line`; false when there is none. */
static bool next_word(struct piece *line, struct piece *word_out)
{
	while (line->len && is_blank(*line->text)) {
		line->text++;
		line->len--;
	}

	size_t len = 0;

	while (len < line->len && !is_blank(line->text[len]))
		len++;
	*word_out = (struct piece){ line->text, len };
	line->text += len;
	line->len -= len;
	return len > 0;
}

/* The module's name as the kernel knows it: no folder, nothing from ".ko" on, '_' for '-'. */
static void name_of(struct piece path, char name_out[NAME_ROOM])
{
	size_t start = path.len;

	while (start && path.text[start - 1] != '/')
		start--;
	snprintf(name_out, NAME_ROOM, "%.*s", (int)(path.len - start), path.text + start);

	char *suffix = strstr(name_out, ".ko");

	if (suffix)
		*suffix = '\0';
	for (char *c = name_out; *c; c++) {
		if (*c == '-')
			*c = '_';
	}
}

static bool is_named(struct piece path, const char *name)
{
	char own[NAME_ROOM];

	name_of(path, own);
	return !strcmp(own, name);
}

/* "blocklist NAME" of modules.blocklist. */
static bool is_blocked(const struct loading *loading, const char *name)
{
	const char *text = loading->blocklist;
	struct piece line, word;

	while (next_line(&text, &line)) {
		if (next_word(&line, &word) && word.len == 9 && !memcmp(word.text, "blocklist", 9) && next_word(&line, &word) &&
		    is_named(word, name))
			return true;
	}
	return false;
}

/* "options NAME PARAMETER=VALUE ..." of modules.options; there may be several lines. The caller frees; NULL = out of memory. */
static char *find_parameters(const struct loading *loading, const char *name)
{
	const char *text = loading->options;
	char *parameters = strdup("");
	struct piece line, word;

	while (parameters && next_line(&text, &line)) {
		if (!next_word(&line, &word) || word.len != 7 || memcmp(word.text, "options", 7) || !next_word(&line, &word) ||
		    !is_named(word, name))
			continue;

		char *grown;

		if (asprintf(&grown, "%s%.*s", parameters, (int)line.len, line.text) < 0)
			grown = NULL;
		free(parameters);
		parameters = grown;
	}
	return parameters;
}

/* Its line of modules.dep, "PATH: PATH ...": where it is, and behind the colon what it needs. */
static bool find_dependencies(const struct loading *loading, const char *name, struct piece *path_out, struct piece *needs_out)
{
	const char *text = loading->dep;
	struct piece line;

	while (next_line(&text, &line)) {
		const char *colon = memchr(line.text, ':', line.len);
		struct piece path = { line.text, colon ? (size_t)(colon - line.text) : 0 };

		if (colon && is_named(path, name)) {
			*path_out = path;
			*needs_out = (struct piece){ colon + 1, line.len - path.len - 1 };
			return true;
		}
	}
	return false;
}

/* False when it was there already, or there is no memory left. */
static bool note_tried(struct loading *loading, const char *name)
{
	for (size_t i = 0; i < loading->n_tried; i++) {
		if (!strcmp(loading->tried[i].name, name))
			return false;
	}

	struct tried *grown = realloc(loading->tried, (loading->n_tried + 1) * sizeof(*grown));

	if (!grown)
		return false;
	snprintf(grown[loading->n_tried++].name, NAME_ROOM, "%s", name);
	loading->tried = grown;
	return true;
}

static void note_failure(struct vendor_modules *out, const char *name, int error)
{
	const size_t len = strlen(out->failures);

	out->n_failed++;
	snprintf(out->failures + len, sizeof(out->failures) - len, "%s%s: %s", len ? "; " : "", name, strerror(error));
}

static void load_file(struct loading *loading, const char *name, struct piece path)
{
	char full[PATH_MAX];
	char *parameters = find_parameters(loading, name);
	const char *dir = *path.text == '/' ? "" : loading->dir, *slash = *path.text == '/' ? "" : "/";
	int error = ENOMEM;

	if (snprintf(full, sizeof(full), "%s%s%s%.*s", loading->root, dir, slash, (int)path.len, path.text) >= (int)sizeof(full))
		error = ENAMETOOLONG;
	else if (parameters)
		error = loading->load(loading->arg, full, parameters);
	free(parameters);
	if (error && error != EEXIST)
		note_failure(loading->out, name, error);
	else
		loading->out->n_loaded++;
}

/* What it needs first, then itself; each once. As deep as its chain of needs is long. */
static void load_module(struct loading *loading, struct piece path)
{
	struct piece needs = { "", 0 }, need;
	char name[NAME_ROOM];

	name_of(path, name);
	if (!*name || !note_tried(loading, name))
		return;
	if (is_blocked(loading, name)) {
		loading->out->n_blocked++;
		return;
	}
	find_dependencies(loading, name, &path, &needs);
	while (next_word(&needs, &need))
		load_module(loading, need);
	load_file(loading, name, path);
}

int vendor_modules_finit(void *arg, const char *path, const char *parameters)
{
	const size_t len = strlen(path);
	const int flags = len > 3 && !strcmp(path + len - 3, ".ko") ? 0 : FINIT_COMPRESSED_FILE;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	(void)arg;
	if (fd >= 0 && syscall(SYS_finit_module, fd, parameters, flags))
		error = errno;
	if (fd >= 0)
		close(fd);
	return error;
}

static char *read_list(const struct loading *loading, const char *name)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", loading->dir, name);
	return sysfile_read(loading->root, path, NULL);
}

bool vendor_modules_load(const char *root, const char *dir, const char *release, vendor_modules_loader *load, void *arg,
			 struct vendor_modules *modules_out, char *reason, size_t reason_size)
{
	struct loading loading = { .root = root, .load = load, .arg = arg, .out = modules_out };
	struct piece line;

	*modules_out = (struct vendor_modules){ 0 };
	snprintf(loading.dir, sizeof(loading.dir), "%s", dir);

	char *list = read_list(&loading, "modules.load");

	if (!list) {
		snprintf(loading.dir, sizeof(loading.dir), "%s/%s", dir, release);
		list = read_list(&loading, "modules.load");
	}
	if (!list) {
		snprintf(reason, reason_size, "no modules.load in %s and none in %s", dir, loading.dir);
		return false;
	}
	loading.dep = read_list(&loading, "modules.dep");
	loading.options = read_list(&loading, "modules.options");
	loading.blocklist = read_list(&loading, "modules.blocklist");
	for (const char *text = list; next_line(&text, &line);) {
		if (line.len)
			load_module(&loading, line);
	}
	free(list);
	free(loading.dep);
	free(loading.options);
	free(loading.blocklist);
	free(loading.tried);
	return true;
}
