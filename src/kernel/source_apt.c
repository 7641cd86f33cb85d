/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What apt-get prints, read. */
#include <stdlib.h>
#include <string.h>

#include "kernel/source_internal.h"

/* Where every Debian suite is, for machines whose apt has no Debian mirror. */
#define MAIN_ARCHIVE "http://deb.debian.org/debian/"
#define SECURITY_ARCHIVE "http://deb.debian.org/debian-security/"

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

void apt_choose_lines(const char *indextargets, const char *suite, const char *codename, struct apt_lines *lines_out)
{
	struct apt_lines machine = { NULL, 0 };

	machine_lines(indextargets, codename, &machine);
	if (!suite) {
		if (!machine.n && codename)
			add_line(&machine, MAIN_ARCHIVE, codename);
		*lines_out = machine;
		return;
	}
	*lines_out = (struct apt_lines){ NULL, 0 };
	for (size_t i = 0; i < machine.n && !lines_out->n; i++)
		if (is_security(machine.items[i].suite) == is_security(suite))
			add_line(lines_out, machine.items[i].uri, suite);
	if (!lines_out->n)
		add_line(lines_out, is_security(suite) ? SECURITY_ARCHIVE : MAIN_ARCHIVE, suite);
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
