/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What apt-get prints, read. */
#include <stdlib.h>
#include <string.h>

#include "kernel/source_internal.h"

void apt_lines_deinit(struct apt_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		free(lines->items[i].uri);
		free(lines->items[i].suite);
	}
	free(lines->items);
	*lines = (struct apt_lines){ NULL, 0 };
}

static void add_line(struct apt_lines *lines, const char *uri, const char *suite)
{
	for (size_t i = 0; i < lines->n; i++)
		if (!strcmp(lines->items[i].uri, uri) && !strcmp(lines->items[i].suite, suite))
			return;
	lines->items = array_grow(lines->items, lines->n, sizeof(*lines->items));
	lines->items[lines->n++] = (struct apt_line){ .uri = xstrdup(uri), .suite = xstrdup(suite) };
}

static bool is_security(const char *suite)
{
	return str_ends(suite, "-security");
}

/* Debian's own repositories; Origin is empty as long as the machine has never updated its lists. */
static bool is_debian(const char *origin, const char *release, const char *codename)
{
	return !strcmp(origin, "Debian") || (!*origin && codename && str_starts(release, codename));
}

/* All of the machine's Debian repositories. */
static void machine_lines(const char *indextargets, const char *codename, struct apt_lines *out)
{
	AUTO_FREE char *copy = xstrdup(indextargets);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n"))) {
		const char *created_by = strsep(&line, "|"), *origin = strsep(&line, "|"), *release = strsep(&line, "|");
		if (line && *line && !strcmp(created_by, "Packages") && is_debian(origin, release, codename))
			add_line(out, line, release);
	}
}

/* Mirrors keep the security archive beside the main one, at /debian-security/. */
static void add_sibling(const struct apt_line *main_archive, const char *suite, struct apt_lines *out)
{
	static const char main_path[] = "/debian/";
	size_t len = strlen(main_archive->uri) - strlen(main_path);

	if (!str_ends(main_archive->uri, main_path))
		return;
	AUTO_FREE char *uri = xasprintf("%.*s/debian-security/", (int)len, main_archive->uri);
	add_line(out, uri, suite);
}

void apt_choose_lines(const char *indextargets, const char *suite, const char *codename, struct apt_lines *lines_out)
{
	struct apt_lines machine = { NULL, 0 };

	machine_lines(indextargets, codename, &machine);
	if (!suite) {
		*lines_out = machine;
		return;
	}
	*lines_out = (struct apt_lines){ NULL, 0 };
	for (size_t i = 0; i < machine.n && !lines_out->n; i++)
		if (is_security(machine.items[i].suite) == is_security(suite))
			add_line(lines_out, machine.items[i].uri, suite);
	if (!lines_out->n && machine.n && is_security(suite))
		add_sibling(&machine.items[0], suite, lines_out);
	apt_lines_deinit(&machine);
}

/* NAME_VERSION_ARCH.deb, with ':' of an epoch written %3a. */
static char *version_of_file(const char *file)
{
	const char *first = strchr(file, '_');
	const char *last = first ? strchr(first + 1, '_') : NULL;

	if (!last)
		return NULL;
	AUTO_STRBUF version = STRBUF_INIT;
	for (const char *at = first + 1; at < last; at++) {
		if (str_starts(at, "%3a")) {
			strbuf_addch(&version, ':');
			at += 2;
		} else {
			strbuf_addch(&version, *at);
		}
	}
	return strbuf_steal(&version);
}

bool apt_parse_uri_line(const char *text, char **file_out, char **version_out, char **sha256_out)
{
	const char *end = *text == '\'' ? strchr(text + 1, '\'') : NULL;

	if (!end || end[1] != ' ')
		return false;
	AUTO_FREE char *rest_text = xstrdup(end + 2);
	char *rest = str_trim(rest_text);
	const char *file = strsep(&rest, " ");
	const char *size = strsep(&rest, " ");
	if (!size || strchr(file, '/'))
		return false;
	char *version = version_of_file(file);
	if (!version)
		return false;
	*file_out = xstrdup(file);
	*version_out = version;
	*sha256_out = rest && str_starts(rest, "SHA256:") ? xstrdup(rest + strlen("SHA256:")) : NULL;
	return true;
}
