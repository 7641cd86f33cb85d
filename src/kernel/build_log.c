/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/build_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "kernel/toolchain.h"

/* The longest line that goes into a message. */
#define LINE_MAX_SHOWN 400

static const char *find_in_line(const char *line, size_t len, const char *needle)
{
	return memmem(line, len, needle, strlen(needle));
}

/* A copy of the line, `src/` taken out wherever it stands. */
static char *shown_line(const char *line, size_t len, const char *src)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_FREE char *prefix = xasprintf("%s/", src);

	if (len > LINE_MAX_SHOWN)
		len = LINE_MAX_SHOWN;
	while (len) {
		const char *at = find_in_line(line, len, prefix);
		size_t before = at ? (size_t)(at - line) : len;
		size_t taken = at ? before + strlen(prefix) : len;
		strbuf_add(&text, line, before);
		line += taken;
		len -= taken;
	}
	AUTO_FREE char *whole = strbuf_steal(&text);
	return xstrdup(str_trim(whole));
}

/* The first line that holds one of `needles`. */
static bool first_line_with(const char *log, const char *const *needles, size_t n, const char **line_out, size_t *len_out)
{
	while (*log) {
		size_t len = strcspn(log, "\n");
		for (size_t i = 0; i < n; i++) {
			if (find_in_line(log, len, needles[i])) {
				*line_out = log;
				*len_out = len;
				return true;
			}
		}
		log += len + (log[len] == '\n');
	}
	return false;
}

/* gcc and clang, ld.lld, as. */
static const char *const compiler[] = { " error: ", " fatal error: ", "ld.lld: error", ": Error: " };

char *build_log_first_error(const char *log, const char *src)
{
	/* Best first. */
	static const char *const linker[] = { "undefined reference to", "multiple definition of", "relocation truncated" };
	static const char *const kconfig[] = { "syntax error", "can't open file", "recursive dependency" };
	static const char *const make[] = { "*** " };
	static const struct {
		const char *const *needles;
		size_t n;
	} levels[] = { { compiler, ARRAY_SIZE(compiler) },
		       { linker, ARRAY_SIZE(linker) },
		       { kconfig, ARRAY_SIZE(kconfig) },
		       { make, ARRAY_SIZE(make) } };
	const char *line;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (first_line_with(log, levels[i].needles, levels[i].n, &line, &len))
			return shown_line(line, len, src);

	size_t end = strlen(log);
	while (end && isspace((unsigned char)log[end - 1]))
		end--;
	size_t start = end;
	while (start && log[start - 1] != '\n')
		start--;
	return end ? shown_line(log + start, end - start, src) : xstrdup("it printed nothing");
}

/* The word before ": not found" (dash), ": command not found" (bash) or ": No such file or directory" (make's execvp). */
static char *missing_program(const char *line, size_t len)
{
	static const char *const marks[] = { ": command not found", ": not found", ": No such file or directory" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *mark = find_in_line(line, len, marks[i]);
		/* A file that a compiler misses is the kernel's fault; make says so of programs alone. */
		if (!mark || (i == 2 && !str_starts(line, "make")))
			continue;
		const char *start = mark;
		while (start > line && !isspace((unsigned char)start[-1]) && start[-1] != ':')
			start--;
		if (start < mark && !memchr(start, '/', (size_t)(mark - start)))
			return xstrndup(start, (size_t)(mark - start));
	}
	return NULL;
}

static char *missing_tool(const char *name)
{
	AUTO_FREE char *package = toolchain_package(name);

	return package ? xasprintf("'%s' is missing; install it (Debian: apt install %s)", name, package)
		       : xasprintf("'%s' is missing", name);
}

char *build_log_lab_fault(const char *log)
{
	/* Headers of libraries that scripts/ and tools/ need on the host. */
	static const char *const headers[] = { "openssl/opensslv.h", "openssl/bio.h", "libelf.h", "gelf.h" };
	static const struct {
		const char *needle, *fault;
	} faults[] = {
		{ "No space left on device", "the disk is full" },
		{ "Disk quota exceeded", "the disk quota is used up" },
		{ "Killed signal terminated program", "a compiler was killed: the machine has too little memory" },
		{ "virtual memory exhausted", "the machine has too little memory" },
		{ "Cannot allocate memory", "the machine has too little memory" },
		{ "Read-only file system", "the file system is read-only" },
	};

	/* A missing optional tool (pahole) is complained about too, so it is no reason where a compiler gives one. */
	const char *error_line;
	size_t error_len;
	bool compiler_error = first_line_with(log, compiler, ARRAY_SIZE(compiler), &error_line, &error_len);

	for (; *log; log += strcspn(log, "\n"), log += *log == '\n') {
		size_t len = strcspn(log, "\n");
		for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
			if (find_in_line(log, len, faults[i].needle))
				return xstrdup(faults[i].fault);
		for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
			if (find_in_line(log, len, "fatal error: ") && find_in_line(log, len, headers[i]))
				return missing_tool(headers[i]);
		AUTO_FREE char *program = compiler_error ? NULL : missing_program(log, len);
		if (program)
			return missing_tool(program);
	}
	return NULL;
}

unsigned build_log_warnings(const char *log)
{
	unsigned n = 0;

	for (; *log; log += strcspn(log, "\n"), log += *log == '\n')
		n += find_in_line(log, strcspn(log, "\n"), " warning: ") != NULL;
	return n;
}

bool build_log_is_object(const char *line, size_t len)
{
	static const char *const words[] = { "  CC ", "  AS ", "  LD ", "  RUSTC " };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (len > strlen(words[i]) && !memcmp(line, words[i], strlen(words[i])))
			return true;
	return false;
}
