/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where patches come from: quilt folders, folders of numbered patches, mboxes, commit ranges. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/file.h"
#include "kernel/series_internal.h"

void series_part_deinit(struct series_part *part)
{
	for (size_t i = 0; i < part->n && !part->range; i++)
		patch_deinit(&part->patches[i]);
	free(part->patches);
	free(part->base_commit);
	git_range_free(part->range);
	*part = (struct series_part){ .n = 0 };
}

static struct error *read_text(const char *path, struct strbuf *out)
{
	static const struct {
		const char *bytes;
		size_t len;
	} magic[] = { { "\x1f\x8b", 2 },
		      { "\xfd"
			"7zXZ",
			5 },
		      { "\x28\xb5\x2f\xfd", 4 },
		      { "BZh", 3 } };
	AUTO_STRBUF raw = STRBUF_INIT;
	struct error *error = file_is_regular(path) ? file_read(path, &raw) : error_new(ERROR_INPUT, "there is no file %s", path);

	if (error)
		return error;
	for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
		if (raw.len >= magic[i].len && !memcmp(raw.data, magic[i].bytes, magic[i].len))
			return error_wrap(decompress(raw.data, raw.len, out), "%s", path);
	strbuf_add(out, raw.data, raw.len);
	return NULL;
}

/* "base-commit: OID" on a line of its own, as git format-patch --base writes it. */
static void find_base_commit(const char *text, char **base_out)
{
	static const char key[] = "base-commit: ";

	for (const char *at = strstr(text, key); at && !*base_out; at = strstr(at + 1, key)) {
		const char *oid = at + strlen(key);
		if ((at == text || at[-1] == '\n') && strspn(oid, "0123456789abcdef") == OID_HEX_SIZE - 1)
			*base_out = xstrndup(oid, OID_HEX_SIZE - 1);
	}
}

static int count_lines(const char *text, const char *end)
{
	int n = 0;

	for (; text < end; text++)
		n += *text == '\n';
	return n;
}

/* Line of the patch file at which the decoded diff starts; 0 when it stood there encoded. */
static int first_line_of(const struct mail *mail, const char *diff, size_t len)
{
	while (len && diff[len - 1] == '\n')
		len--;
	const char *found = len ? memmem(mail->text, mail->len, diff, len) : NULL;

	return found ? mail->first_line + count_lines(mail->text, found) : 0;
}

/* What git does not allow in a name. */
static char *clean_name(const char *text)
{
	AUTO_FREE char *copy = xstrdup(text);

	for (char *at = copy; *at; at++)
		*at = *at == '<' || *at == '>' || *at == '\n' ? ' ' : *at;
	const char *trimmed = str_trim(copy);
	return xstrdup(*trimmed ? trimmed : "unknown");
}

static char *name_without_ending(const char *path)
{
	const char *name = path_basename(path);
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? xstrndup(name, (size_t)(dot - name)) : xstrdup(name);
}

static struct error *make_patch(const struct mail *mail, const struct decoded_mail *decoded, const char *file, unsigned strip,
				struct patch *patch_out)
{
	const char *rest = strbuf_str(&decoded->rest);
	size_t start = diff_find(rest, decoded->rest.len), len = decoded->rest.len - start;
	struct diff_origin origin = { file, first_line_of(mail, rest + start, len) };
	struct patch patch = { .file = file };
	struct error *error = diff_parse(rest + start, len, strip, origin, &patch.diff);

	if (error)
		return error;
	AUTO_FREE char *body_copy = xstrdup(strbuf_str(&decoded->body));
	const char *body = str_trim(body_copy);
	patch.subject = *decoded->subject.title ? xstrdup(decoded->subject.title) : name_without_ending(file);
	patch.message = xasprintf("%s\n%s%s%s", patch.subject, *body ? "\n" : "", body, *body ? "\n" : "");
	patch.author = clean_name(decoded->author);
	patch.email = clean_name(decoded->email);
	/* A patch without a date, or with one nobody can read, still gives the same commit each time. */
	if (!mail_parse_date(decoded->date, &patch.time_s, &patch.offset_min))
		patch.time_s = patch.offset_min = 0;
	*patch_out = patch;
	return NULL;
}

static void add_patch(struct series_part *part, const struct patch *patch)
{
	part->patches = array_grow(part->patches, part->n, sizeof(*part->patches));
	part->patches[part->n++] = *patch;
}

static bool has_diff(const struct decoded_mail *decoded)
{
	return diff_find(strbuf_str(&decoded->rest), decoded->rest.len) < decoded->rest.len;
}

static void look_for_base(const struct decoded_mail *decoded, struct series_part *part)
{
	find_base_commit(strbuf_str(&decoded->body), &part->base_commit);
	find_base_commit(strbuf_str(&decoded->rest), &part->base_commit);
}

/* --- one patch a file --- */

static bool is_cover_letter(const char *name, const struct decoded_mail *decoded)
{
	return !has_diff(decoded) && (strstr(name, "cover-letter") || (decoded->subject.total && !decoded->subject.number));
}

static struct error *read_decoded_file(const struct mails *mails, const char *file, unsigned strip, struct series_part *part)
{
	struct pos pos = { file, 0, 0 };
	struct decoded_mail decoded;
	struct patch patch;

	if (mails->n > 1)
		return error_at((struct pos){ file, mails->items[1].first_line, 1 },
				"this file of the series has %zu mails in it, not one", mails->n);
	struct error *error = mail_decode(&mails->items[0], file, &decoded);
	if (error)
		return error;
	look_for_base(&decoded, part);
	if (!has_diff(&decoded)) {
		if (!is_cover_letter(path_basename(file), &decoded))
			error = error_at(pos, "there is no diff in this file");
	} else {
		error = make_patch(&mails->items[0], &decoded, file, strip, &patch);
		if (!error)
			add_patch(part, &patch);
	}
	decoded_mail_deinit(&decoded);
	return error;
}

static struct error *read_patch_file(const char *path, unsigned strip, struct series_part *part)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct mails mails;
	struct error *error = read_text(path, &text);

	if (error)
		return error;
	mails_split(strbuf_str(&text), text.len, &mails);
	error = read_decoded_file(&mails, intern(path), strip, part);
	mails_deinit(&mails);
	return error;
}

/* --- quilt --- */

/* One line of a series file: "NAME [-pN]", with comments; *name_out is NULL for a line that names nothing. */
static struct error *parse_series_line(char *line, struct pos pos, char **name_out, unsigned *strip_out)
{
	char *comment = line;

	while ((comment = strchr(comment, '#')) && comment > line && !isspace((unsigned char)comment[-1]))
		comment++;
	if (comment)
		*comment = '\0';
	char *rest = str_trim(line), *word;
	*name_out = NULL;
	*strip_out = 1;
	while ((word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		if (!*name_out) {
			*name_out = word;
		} else if (!strncmp(word, "-p", 2) && isdigit((unsigned char)word[2]) && !word[3]) {
			*strip_out = (unsigned)(word[2] - '0');
		} else if (!strcmp(word, "-R")) {
			return error_at(pos, "a reversed patch (-R) is not supported: put the reversed diff into the file");
		} else {
			return error_at(pos, "'%s' is no option of a series file: write NAME or NAME -pN", word);
		}
	}
	return NULL;
}

static struct error *read_quilt_line(const char *dir, char *line, struct pos pos, struct series_part *part)
{
	char *name = NULL;
	unsigned strip = 1;
	struct error *error = parse_series_line(line, pos, &name, &strip);

	if (error || !name)
		return error;
	AUTO_FREE char *path = path_join(dir, name);
	return error_place(read_patch_file(path, strip, part), pos);
}

static struct error *read_quilt(const char *dir, const char *series_path, struct series_part *part)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *errors = file_read(series_path, &text);
	struct pos pos = { intern(series_path), 0, 1 };

	for (char *rest = text.data, *line; rest && (line = strsep(&rest, "\n"));) {
		pos.line++;
		error_join(&errors, read_quilt_line(dir, line, pos, part));
	}
	if (!errors && !part->n)
		errors = error_at((struct pos){ pos.file, 1, 1 }, "the series file names no patch");
	return errors;
}

/* --- numbered patches --- */

/* [vN-]NNNN-*.patch; false for other names. *version_out is 1 when not said. */
static bool parse_numbered(const char *name, unsigned *version_out, unsigned *number_out)
{
	char *end;

	if (!str_ends(name, ".patch") && !str_ends(name, ".diff"))
		return false;
	*version_out = 1;
	if (*name == 'v' && isdigit((unsigned char)name[1])) {
		*version_out = (unsigned)strtoul(name + 1, &end, 10);
		if (*end != '-')
			return false;
		name = end + 1;
	}
	if (!isdigit((unsigned char)*name))
		return false;
	*number_out = (unsigned)strtoul(name, &end, 10);
	return *end == '-';
}

struct numbered {
	const char *name;
	unsigned version, number;
};

static int by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static struct error *check_numbered(const char *dir, struct pos pos, const struct numbered *files, size_t n)
{
	if (!n)
		return error_at(pos, "folder %s has neither a series file nor NNNN-*.patch files", dir);
	for (size_t i = 1; i < n; i++) {
		if (files[i].version != files[0].version)
			return error_at(pos, "folder %s has patches of several versions (%s, %s): keep one", dir, files[0].name,
					files[i].name);
		if (files[i].number == files[i - 1].number)
			return error_at(pos, "folder %s has two patches %u: %s and %s", dir, files[i].number, files[i - 1].name,
					files[i].name);
	}
	return NULL;
}

static struct error *read_numbered(const char *dir, struct pos pos, struct series_part *part)
{
	AUTO_STRLIST names = { NULL, 0 };
	struct error *errors = file_list(dir, &names);
	AUTO_FREE struct numbered *files = xcalloc(names.n + 1, sizeof(*files));
	size_t n = 0;

	for (size_t i = 0; i < names.n; i++) {
		files[n].name = names.items[i];
		n += parse_numbered(names.items[i], &files[n].version, &files[n].number);
	}
	qsort(files, n, sizeof(*files), by_number);
	if (!errors)
		errors = check_numbered(dir, pos, files, n);
	if (errors)
		return errors;
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *path = path_join(dir, files[i].name);
		error_join(&errors, error_place(read_patch_file(path, 1, part), pos));
	}
	if (!errors && !part->n)
		errors = error_at(pos, "folder %s has no patch with a diff in it", dir);
	return errors;
}

/* --- mbox --- */

struct mbox_patch {
	size_t index; /* of its mail */
	struct decoded_mail decoded;
};

static struct pos mail_pos(const char *file, const struct mails *mails, size_t i)
{
	return (struct pos){ file, mails->items[i].first_line, 1 };
}

/* The mails that are patches: neither replies, nor cover letters, nor talk. */
static struct error *find_patches(const struct mails *mails, const char *file, struct series_part *part,
				  struct mbox_patch **patches_out, size_t *n_out)
{
	struct error *errors = NULL;

	for (size_t i = 0; i < mails->n; i++) {
		struct decoded_mail decoded;
		struct error *error = mail_decode(&mails->items[i], file, &decoded);
		if (error) {
			error_join(&errors, error);
			continue;
		}
		if (!decoded.subject.reply)
			look_for_base(&decoded, part);
		if (decoded.subject.reply || !has_diff(&decoded) || (decoded.subject.total && !decoded.subject.number)) {
			decoded_mail_deinit(&decoded);
			continue;
		}
		*patches_out = array_grow(*patches_out, *n_out, sizeof(**patches_out));
		(*patches_out)[(*n_out)++] = (struct mbox_patch){ i, decoded };
	}
	return errors;
}

static int by_mail_number(const void *a, const void *b)
{
	const struct mbox_patch *x = a, *y = b;

	if (x->decoded.subject.number != y->decoded.subject.number)
		return x->decoded.subject.number < y->decoded.subject.number ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Sorts by [n/m] and says what is missing, doubled or of another version. Patches that are not numbered keep the mbox's order. */
static struct error *sort_patches(const struct mails *mails, const char *file, struct mbox_patch *patches, size_t n)
{
	struct error *errors = NULL;
	unsigned total = n ? patches[0].decoded.subject.total : 0, version = n ? patches[0].decoded.subject.version : 0;

	for (size_t i = 0; i < n; i++) {
		const struct mail_subject *subject = &patches[i].decoded.subject;
		if (subject->version != version)
			return error_at(mail_pos(file, mails, patches[i].index),
					"the mbox has versions %u and %u of the series: keep one", version, subject->version);
		if (subject->total != total)
			return error_at(mail_pos(file, mails, patches[i].index),
					"'%s' is numbered as part of another series: keep one", subject->title);
	}
	if (!total)
		return NULL;
	qsort(patches, n, sizeof(*patches), by_mail_number);
	unsigned next = 1;
	for (size_t i = 0; i < n; i++) {
		unsigned number = patches[i].decoded.subject.number;
		for (; next < number; next++)
			error_join(&errors, error_at((struct pos){ file, 0, 0 }, "patch %u/%u is not in the mbox", next, total));
		if (i && number == patches[i - 1].decoded.subject.number)
			error_join(&errors, error_at(mail_pos(file, mails, patches[i].index), "a second mail with patch %u/%u",
						     number, total));
		next = number + 1;
	}
	for (; next <= total; next++)
		error_join(&errors, error_at((struct pos){ file, 0, 0 }, "patch %u/%u is not in the mbox", next, total));
	return errors;
}

static struct error *read_mails(const struct mails *mails, const char *file, struct series_part *part)
{
	struct mbox_patch *patches = NULL;
	size_t n = 0;
	struct error *errors = find_patches(mails, file, part, &patches, &n);

	if (!errors)
		errors = sort_patches(mails, file, patches, n);
	if (!errors && !n)
		errors = error_at((struct pos){ file, 0, 0 }, "there is no patch in this file");
	bool sorted = !errors;
	for (size_t i = 0; i < n; i++) {
		struct patch patch;
		struct error *error =
			sorted ? make_patch(&mails->items[patches[i].index], &patches[i].decoded, file, 1, &patch) : NULL;
		if (sorted && !error)
			add_patch(part, &patch);
		error_join(&errors, error);
		decoded_mail_deinit(&patches[i].decoded);
	}
	free(patches);
	return errors;
}

static struct error *read_mbox(const char *path, struct series_part *part)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct mails mails;
	struct error *error = read_text(path, &text);

	if (error)
		return error;
	mails_split(strbuf_str(&text), text.len, &mails);
	error = read_mails(&mails, intern(path), part);
	mails_deinit(&mails);
	return error;
}

static struct error *read_path(const struct patch_source *source, struct series_part *part)
{
	AUTO_FREE char *series_path = path_join(source->path, "series");

	if (!file_exists(source->path))
		return error_at(source->pos, "there is no file or folder %s", source->path);
	if (!file_is_dir(source->path))
		return read_mbox(source->path, part);
	return file_is_regular(series_path) ? read_quilt(source->path, series_path, part)
					    : read_numbered(source->path, source->pos, part);
}

struct error *series_read_part(const struct patch_source *source, struct series_part *part_out)
{
	struct series_part part = { .pos = source->pos };
	struct error *error;

	if (source->kind == PATCHES_RANGE) {
		error = git_user_range(source->path, source->range, &part.range);
		part.n = part.range ? part.range->n : 0;
	} else {
		error = read_path(source, &part);
	}
	if (error)
		series_part_deinit(&part);
	else
		*part_out = part;
	return error_place(error, source->pos);
}
