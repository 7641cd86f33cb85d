/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unified diffs as git, quilt and GNU diff write them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/series_internal.h"

struct parser {
	const char *at, *end;
	int line; /* number of the line at `at` within the diff, from 1 */
	unsigned strip;
	struct diff_origin origin;
	struct diff *diff;
	struct file_patch *file; /* the present one, or NULL */
	bool git_header; /* the present file began with "diff --git" and no hunk has come yet */
	char *git_names; /* what follows "diff --git " */
	struct error *errors;
};

void diff_deinit(struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++) {
		struct file_patch *file = &diff->files[i];
		for (size_t k = 0; k < file->n; k++) {
			free(file->hunks[k].header);
			free(file->hunks[k].lines);
		}
		free(file->hunks);
		free(file->old_path);
		free(file->new_path);
		free(file->old_oid);
	}
	free(diff->files);
	free(diff->text);
	*diff = (struct diff){ NULL };
}

const char *file_patch_path(const struct file_patch *file)
{
	return file->new_path ? file->new_path : file->old_path;
}

static int file_line(const struct parser *parser, int line)
{
	return parser->origin.first_line ? parser->origin.first_line + line - 1 : 0;
}

static struct pos position(const struct parser *parser, int line)
{
	int in_file = file_line(parser, line);

	return (struct pos){ parser->origin.file, in_file, in_file ? 1 : 0 };
}

static void complain(struct parser *parser, int line, const char *format, ...) PRINTF_FORMAT(3, 4);
static void complain(struct parser *parser, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	AUTO_FREE char *text = xvasprintf(format, args);
	va_end(args);
	error_join(&parser->errors, error_at(position(parser, line), "%s", text));
}

/* Length of the line at `at`, with its newline. */
static size_t line_length(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? (size_t)(newline - at) + 1 : (size_t)(end - at);
}

static bool line_starts(const char *at, const char *end, const char *prefix)
{
	size_t len = strlen(prefix);

	return (size_t)(end - at) >= len && !memcmp(at, prefix, len);
}

static bool at_line(const struct parser *parser, const char *prefix)
{
	return line_starts(parser->at, parser->end, prefix);
}

static void skip_line(struct parser *parser)
{
	parser->at += line_length(parser->at, parser->end);
	parser->line++;
}

/* "--- X", "+++ Y", "@@ -": three lines that start a diff without a git header. */
static bool plain_diff_starts(const char *at, const char *end)
{
	if (!line_starts(at, end, "--- "))
		return false;
	at += line_length(at, end);
	if (!line_starts(at, end, "+++ "))
		return false;
	at += line_length(at, end);
	return line_starts(at, end, "@@ -");
}

size_t diff_find(const char *text, size_t len)
{
	const char *end = text + len;

	for (const char *at = text; at < end; at += line_length(at, end))
		if (line_starts(at, end, "diff --git ") || line_starts(at, end, "diff --cc ") || plain_diff_starts(at, end))
			return (size_t)(at - text);
	return len;
}

/* The rest of the line after `prefix`, without line end; the caller frees. */
static char *rest_of_line(const struct parser *parser, size_t prefix_len)
{
	size_t len = line_length(parser->at, parser->end);

	while (len > prefix_len && (parser->at[len - 1] == '\n' || parser->at[len - 1] == '\r'))
		len--;
	return xstrndup(parser->at + prefix_len, len - prefix_len);
}

/* A path in C quoting from `text`, which starts at the first quote. *end_out: behind the last one. NULL when it is malformed. */
static char *unquote(const char *text, const char **end_out)
{
	static const char escapes[] = "abfnrtv\"\\", values[] = "\a\b\f\n\r\t\v\"\\";
	AUTO_STRBUF out = STRBUF_INIT;

	for (text++; *text != '"'; text++) {
		if (!*text)
			return NULL;
		if (*text != '\\') {
			strbuf_addch(&out, *text);
			continue;
		}
		text++;
		const char *known = *text ? strchr(escapes, *text) : NULL;
		if (known) {
			strbuf_addch(&out, values[known - escapes]);
		} else if (text[0] >= '0' && text[0] <= '3' && text[1] >= '0' && text[1] <= '7' && text[2] >= '0' &&
			   text[2] <= '7' && (text[0] != '0' || text[1] != '0' || text[2] != '0')) {
			strbuf_addch(&out, (char)((text[0] - '0') * 64 + (text[1] - '0') * 8 + (text[2] - '0')));
			text += 2;
		} else {
			return NULL;
		}
	}
	*end_out = text + 1;
	return strbuf_steal(&out);
}

static bool path_is_safe(const char *path)
{
	if (!*path || *path == '/')
		return false;
	for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
		size_t len = strcspn(part, "/");
		if (!len || (len == 1 && *part == '.') || (len == 2 && !strncmp(part, "..", 2)) ||
		    (len == 4 && !strncasecmp(part, ".git", 4)))
			return false;
	}
	return true;
}

static const char *strip_parts(const char *path, unsigned parts)
{
	for (; path && parts; parts--) {
		path = strchr(path, '/');
		path += path ? strspn(path, "/") : 0;
	}
	return path;
}

/* The path that `name` stands for after stripping. NULL, with a complaint, when it is not one inside the tree. */
static char *take_path(struct parser *parser, const char *name, unsigned strip)
{
	const char *stripped = strip_parts(name, strip);

	if (stripped && path_is_safe(stripped))
		return xstrdup(stripped);
	complain(parser, parser->line,
		 "'%s' with %u leading part%s stripped is no path inside the kernel source (quilt's series can say -pN)", name,
		 strip, strip == 1 ? "" : "s");
	return NULL;
}

static void begin_file(struct parser *parser)
{
	struct diff *diff = parser->diff;

	diff->files = array_grow(diff->files, diff->n, sizeof(*diff->files));
	parser->file = &diff->files[diff->n++];
	*parser->file = (struct file_patch){ .line = file_line(parser, parser->line) };
	free(take_ptr(parser->git_names));
}

/* "a/X b/X": both halves are the same path; needed only where neither ---, +++ nor rename lines tell. The caller frees. */
static char *path_of_git_names(struct parser *parser, const char *names)
{
	const char *end = NULL;

	if (*names == '"') {
		AUTO_FREE char *first = unquote(names, &end);
		return first ? take_path(parser, first, parser->strip) : NULL;
	}
	for (const char *space = strchr(names, ' '); space; space = strchr(space + 1, ' ')) {
		AUTO_FREE char *first = xstrndup(names, (size_t)(space - names));
		const char *a = strip_parts(first, parser->strip), *b = strip_parts(space + 1, parser->strip);
		if (a && b && !strcmp(a, b))
			return take_path(parser, first, parser->strip);
	}
	return NULL;
}

/* The file's headers are complete: fills in what they left open. */
static void finish_headers(struct parser *parser)
{
	struct file_patch *file = parser->file;

	if (!parser->git_header)
		return;
	parser->git_header = false;
	if (!file->old_path && !file->new_path) {
		AUTO_FREE char *path = path_of_git_names(parser, parser->git_names);
		if (!path) {
			complain(parser, parser->line, "cannot tell which file '%s' is about", parser->git_names);
			return;
		}
		if (!(file->old_mode && !file->new_mode))
			file->new_path = xstrdup(path);
		if (!(file->new_mode && !file->old_mode))
			file->old_path = xstrdup(path);
	}
}

static unsigned parse_mode(struct parser *parser, const char *text)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (end != text && (mode == 0120000 || (mode & 0170000) == 0100000))
		return mode == 0120000 ? 0120000 : mode & 0111 ? 0100755 : 0100644;
	complain(parser, parser->line, "file mode '%s' is none that a kernel source has", text);
	return 0;
}

static void take_index_line(struct parser *parser, const char *text)
{
	size_t digits = strspn(text, "0123456789abcdef");
	const char *mode = strchr(text, ' ');

	if (digits >= 4 && digits < OID_HEX_SIZE && !strncmp(text + digits, "..", 2) && strspn(text, "0") < digits) {
		free(parser->file->old_oid);
		parser->file->old_oid = xstrndup(text, digits);
	}
	if (mode && !parser->file->old_mode && !parser->file->new_mode)
		parser->file->old_mode = parser->file->new_mode = parse_mode(parser, mode + 1);
}

/* Renames are written without the a/ and b/ that other paths have. */
static void take_renamed(struct parser *parser, char **path, const char *text, bool copied)
{
	const char *end = NULL;
	AUTO_FREE char *quoted = *text == '"' ? unquote(text, &end) : NULL;

	free(*path);
	*path = take_path(parser, quoted ? quoted : text, parser->strip > 1 ? parser->strip - 1 : 0);
	parser->file->copied = copied;
}

/* A line of a git header. False: it is none. */
static bool take_git_line(struct parser *parser)
{
	static const char *const names[] = { "old mode ",    "new mode ",	  "deleted file mode ",	 "new file mode ",
					     "rename from ", "rename to ",	  "copy from ",		 "copy to ",
					     "index ",	     "similarity index ", "dissimilarity index " };
	struct file_patch *file = parser->file;
	size_t which = 0;

	while (which < ARRAY_SIZE(names) && !at_line(parser, names[which]))
		which++;
	if (which == ARRAY_SIZE(names))
		return false;
	AUTO_FREE char *text = rest_of_line(parser, strlen(names[which]));
	switch (which) {
	case 0:
	case 2:
		file->old_mode = parse_mode(parser, text);
		file->new_mode = which ? 0 : file->new_mode;
		break;
	case 1:
	case 3:
		file->new_mode = parse_mode(parser, text);
		break;
	case 4:
	case 6:
		take_renamed(parser, &file->old_path, text, which == 6);
		break;
	case 5:
	case 7:
		take_renamed(parser, &file->new_path, text, which == 7);
		break;
	case 8:
		take_index_line(parser, text);
		break;
	default:
		break;
	}
	skip_line(parser);
	return true;
}

/* The name on a "--- " or "+++ " line: up to a tab, or quoted. *epoch_out: the time stamp is that of a file that does not exist. */
static char *name_of_line(const struct parser *parser, bool *epoch_out)
{
	AUTO_FREE char *text = rest_of_line(parser, 4);
	const char *end = NULL;
	char *name = *text == '"' ? unquote(text, &end) : NULL;

	if (!name) {
		size_t len = strcspn(text, "\t");
		name = xstrndup(text, len);
		end = text + len;
	}
	/* GNU diff -N gives a missing file the time 0, printed in the local zone: the day before or the first of 1970. */
	*epoch_out = strstr(end, "1970-01-01 ") || strstr(end, "1969-12-31 ");
	return name;
}

/* "--- OLD" and "+++ NEW" of the present file; what rename lines have said is not overwritten. */
static void take_names(struct parser *parser, bool plain)
{
	struct file_patch *file = parser->file;
	bool old_missing = false, new_missing = false;
	AUTO_FREE char *old_name = name_of_line(parser, &old_missing);
	bool renamed = file->old_path && file->new_path;

	skip_line(parser);
	AUTO_FREE char *new_name = name_of_line(parser, &new_missing);
	old_missing = !strcmp(old_name, "/dev/null") || (plain && old_missing);
	new_missing = !strcmp(new_name, "/dev/null") || (plain && new_missing);
	if (!renamed && old_missing && new_missing)
		complain(parser, parser->line, "a diff from nothing to nothing");
	if (renamed || (old_missing && new_missing)) {
		skip_line(parser);
		return;
	}
	/* Without a git header the two names may differ ("x.c.orig"): the new one is the file. */
	AUTO_FREE char *new_path = new_missing ? NULL : take_path(parser, new_name, parser->strip);
	AUTO_FREE char *old_path = NULL;
	if (!old_missing && plain && new_path)
		old_path = xstrdup(new_path);
	else if (!old_missing && (new_missing || new_path))
		old_path = take_path(parser, old_name, parser->strip);
	if (old_path && new_path && strcmp(old_path, new_path))
		complain(parser, parser->line, "the diff is from %s to %s and has no rename lines", old_path, new_path);
	free(file->old_path);
	free(file->new_path);
	file->old_path = take_ptr(old_path);
	file->new_path = take_ptr(new_path);
	skip_line(parser);
}

/* "START[,COUNT]" */
static bool parse_range(const char **at, unsigned long *start_out, unsigned long *n_out)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*start_out = strtoul(*at, &end, 10);
	*n_out = 1;
	if (*end == ',') {
		if (!isdigit((unsigned char)end[1]))
			return false;
		*n_out = strtoul(end + 1, &end, 10);
	}
	*at = end;
	return *start_out < 1ul << 31 && *n_out < 1ul << 31;
}

static bool parse_hunk_header(const char *text, struct hunk *hunk)
{
	const char *at = text + strlen("@@ -");

	if (!parse_range(&at, &hunk->old_start, &hunk->old_n) || strncmp(at, " +", 2))
		return false;
	at += 2;
	return parse_range(&at, &hunk->new_start, &hunk->new_n) && !strncmp(at, " @@", 3);
}

static void add_hunk_line(struct hunk *hunk, char kind, const char *text, size_t len)
{
	hunk->lines = array_grow(hunk->lines, hunk->n, sizeof(*hunk->lines));
	hunk->lines[hunk->n++] = (struct hunk_line){ .kind = kind, .text = text, .len = len };
}

/* "\ No newline at end of file": the line before it, in its file, has none. */
static void take_no_newline(struct parser *parser, struct hunk *hunk)
{
	struct hunk_line *last = hunk->n ? &hunk->lines[hunk->n - 1] : NULL;

	if (last && last->len && last->text[last->len - 1] == '\n')
		last->len--;
	skip_line(parser);
}

/* One line of a hunk that still wants `old_left` and `new_left` lines. False: it is no line of a hunk, or not wanted. */
static bool take_hunk_line(struct parser *parser, struct hunk *hunk, unsigned long *old_left, unsigned long *new_left)
{
	size_t len = line_length(parser->at, parser->end);
	char kind = *parser->at;
	/* Mailers cut trailing spaces: an empty line is an empty line of context. */
	bool cut = kind == '\n';

	if (kind == '\\') {
		take_no_newline(parser, hunk);
		return true;
	}
	if (cut)
		kind = ' ';
	if ((kind != ' ' && kind != '-' && kind != '+') || (kind != '+' && !*old_left) || (kind != '-' && !*new_left))
		return false;
	*old_left -= kind != '+';
	*new_left -= kind != '-';
	add_hunk_line(hunk, kind, parser->at + !cut, len - !cut);
	skip_line(parser);
	return true;
}

static bool more_lines_follow(const struct parser *parser)
{
	if (parser->at == parser->end || (*parser->at != '+' && *parser->at != '-'))
		return false;
	return !at_line(parser, "-- \n") && !at_line(parser, "--\n") && !at_line(parser, "-- \r\n") && !at_line(parser, "--- ") &&
	       !at_line(parser, "---\n");
}

static void take_hunk(struct parser *parser)
{
	struct file_patch *file = parser->file;
	int line = parser->line;
	AUTO_FREE char *header = rest_of_line(parser, 0);
	struct hunk hunk = { .line = file_line(parser, line) };

	if (!parse_hunk_header(header, &hunk)) {
		complain(parser, line, "'%s' is no hunk header", header);
		skip_line(parser);
		return;
	}
	skip_line(parser);
	unsigned long old_left = hunk.old_n, new_left = hunk.new_n;
	while ((old_left || new_left) && parser->at < parser->end && take_hunk_line(parser, &hunk, &old_left, &new_left))
		;
	if (!old_left && !new_left && parser->at < parser->end && *parser->at == '\\')
		take_no_newline(parser, &hunk);
	if (old_left || new_left)
		complain(parser, line,
			 "%s: hunk %zu is cut short or damaged: its header says %lu and %lu lines, %lu and %lu are missing",
			 file_patch_path(file), file->n + 1, hunk.old_n, hunk.new_n, old_left, new_left);
	else if (more_lines_follow(parser))
		complain(parser, parser->line, "%s: hunk %zu has more lines than its header says", file_patch_path(file),
			 file->n + 1);
	hunk.header = take_ptr(header);
	file->hunks = array_grow(file->hunks, file->n, sizeof(*file->hunks));
	file->hunks[file->n++] = hunk;
}

static void end_file(struct parser *parser)
{
	if (parser->file)
		finish_headers(parser);
	parser->file = NULL;
	parser->git_header = false;
}

static void take_line(struct parser *parser)
{
	if (at_line(parser, "diff --git ")) {
		end_file(parser);
		begin_file(parser);
		parser->git_header = true;
		parser->git_names = rest_of_line(parser, strlen("diff --git "));
		skip_line(parser);
	} else if (at_line(parser, "diff --cc ") || at_line(parser, "diff --combined ")) {
		end_file(parser);
		complain(parser, parser->line, "a merge's combined diff cannot be applied");
		skip_line(parser);
	} else if (plain_diff_starts(parser->at, parser->end)) {
		bool plain = !parser->git_header;
		if (plain) {
			end_file(parser);
			begin_file(parser);
		}
		take_names(parser, plain);
		parser->git_header = false;
		if (!parser->file->old_path && !parser->file->new_path)
			parser->file = NULL;
	} else if (parser->file && at_line(parser, "@@ -") && (parser->file->old_path || parser->file->new_path)) {
		finish_headers(parser);
		take_hunk(parser);
	} else if (parser->git_header && (at_line(parser, "GIT binary patch") || at_line(parser, "Binary files "))) {
		complain(parser, parser->line, "a binary change (%s): memcg-ab applies text patches only", parser->git_names);
		parser->file = NULL;
		parser->git_header = false;
		skip_line(parser);
	} else if (!parser->git_header || !take_git_line(parser)) {
		/* Notes, statistics, "Index:" lines, signatures. */
		skip_line(parser);
	}
}

/* What only one side has, without a hunk, must be an empty file that its header calls new or deleted. */
static bool says_what(const struct file_patch *file)
{
	if (!file->old_path && !file->new_path)
		return false;
	if (file->n || (file->old_path && file->new_path))
		return true;
	return file->new_path ? file->new_mode && !file->old_mode : file->old_mode && !file->new_mode;
}

static void check_files(struct parser *parser)
{
	for (size_t i = 0; i < parser->diff->n && !parser->errors; i++) {
		const struct file_patch *file = &parser->diff->files[i];
		struct pos pos = { parser->origin.file, file->line, file->line ? 1 : 0 };
		if (!says_what(file))
			error_join(&parser->errors, error_at(pos, "a diff that does not say which file it changes, or how"));
	}
}

struct error *diff_parse(const char *text, size_t len, unsigned strip, struct diff_origin origin, struct diff *diff_out)
{
	struct strbuf copy = STRBUF_INIT;

	strbuf_add(&copy, text, len);
	struct diff diff = { .text = strbuf_steal(&copy) };
	struct parser parser = {
		.at = diff.text, .end = diff.text + len, .line = 1, .strip = strip, .origin = origin, .diff = &diff
	};
	while (parser.at < parser.end)
		take_line(&parser);
	end_file(&parser);
	check_files(&parser);
	free(parser.git_names);
	if (parser.errors)
		diff_deinit(&diff);
	else
		*diff_out = diff;
	return parser.errors;
}
