/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mails decoded by `git mailinfo`: headers, character sets, quoted-printable, base64, parts, headers in the body. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "kernel/series_internal.h"

#define MAILINFO_MS 60000

void decoded_mail_deinit(struct decoded_mail *decoded)
{
	free(decoded->author);
	free(decoded->email);
	free(decoded->date);
	free(decoded->subject.title);
	strbuf_deinit(&decoded->body);
	strbuf_deinit(&decoded->rest);
	*decoded = (struct decoded_mail){ 0 };
}

/* Mails whose text was encoded may carry line ends as they were sent; the diff's own header lines tell, as no file of theirs has them. */
static void drop_carriage_returns(struct strbuf *text)
{
	size_t start = diff_find(strbuf_str(text), text->len);
	const char *newline = start < text->len ? memchr(text->data + start, '\n', text->len - start) : NULL;

	if (!newline || newline == text->data || newline[-1] != '\r')
		return;
	size_t kept = 0;
	for (size_t i = 0; i < text->len; i++)
		if (text->data[i] != '\r' || i + 1 == text->len || text->data[i + 1] != '\n')
			text->data[kept++] = text->data[i];
	text->len = kept;
	text->data[kept] = '\0';
}

/* The value behind "Subject: " and its like in what mailinfo prints; the caller frees, "" when missing. */
static char *info_value(const char *info, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = info; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, name, len))
			return xstrndup(line + len, strcspn(line + len, "\n"));
	return xstrdup("");
}

/* A folder of its own for each mail: mailinfo wants files for both of its results. */
struct workspace {
	char *dir;
	char *mail, *message, *patch, *info;
};

static struct error *make_workspace(struct workspace *work)
{
	const char *tmp = getenv("TMPDIR");

	work->dir = xasprintf("%s/memcg-ab-mail-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(work->dir)) {
		struct error *error = error_os(errno, "cannot make the folder %s", work->dir);
		free(take_ptr(work->dir));
		return error;
	}
	work->mail = path_join(work->dir, "mail");
	work->message = path_join(work->dir, "message");
	work->patch = path_join(work->dir, "patch");
	work->info = path_join(work->dir, "info");
	return NULL;
}

/* The files left behind by a failure are not worth an error of their own. */
static void remove_workspace(struct workspace *work)
{
	AUTO_ERROR ignored = work->dir ? file_remove_tree(work->dir) : NULL;

	free(work->dir);
	free(work->mail);
	free(work->message);
	free(work->patch);
	free(work->info);
}

static struct error *put_file(const char *path, const void *data, size_t len)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	for (size_t done = 0; fd >= 0 && done < len;) {
		ssize_t put = write(fd, (const char *)data + done, len - done);
		if (put < 0 && errno != EINTR)
			return error_os(errno, "cannot write %s", path);
		done += put > 0 ? (size_t)put : 0;
	}
	return fd < 0 ? error_os(errno, "cannot write %s", path) : NULL;
}

static struct error *wait_for_git(struct proc *proc, const char *file)
{
	struct proc_result result;
	bool ended = false;
	struct error *error = proc_wait(proc, clock_deadline(MAILINFO_MS), NO_GUARD, &ended, &result);

	if (error || !ended) {
		proc_stop(proc, 1000);
		return error ? error : error_new(ERROR_LAB, "git mailinfo does not end on %s", file);
	}
	if (result.exit_status)
		return error_at((struct pos){ file, 0, 0 }, "git mailinfo cannot read this mail");
	return NULL;
}

static struct error *run_mailinfo(const struct workspace *work, const char *file)
{
	/* -k: subjects as they are, since replies and cover letters are told by them. */
	const char *const argv[] = { "git",	    "mailinfo",	 "-k", "--encoding=UTF-8", "--quoted-cr=nowarn",
				     work->message, work->patch, NULL };
	AUTO_FREE char *ceiling = xasprintf("GIT_CEILING_DIRECTORIES=%s", work->dir);
	/* The user's settings (mailinfo.scissors) would change what a patch is. */
	const char *const env[] = {
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_DIR", "GIT_WORK_TREE", "LC_ALL=C", ceiling, NULL
	};
	AUTO_CLOSE int in = open(work->mail, O_RDONLY | O_CLOEXEC);
	AUTO_CLOSE int out = open(work->info, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct proc *proc = NULL;

	if (in < 0 || out < 0)
		return error_os(errno, "cannot open %s", in < 0 ? work->mail : work->info);
	struct proc_start start = { .argv = argv, .env = env, .cwd = work->dir, .in_fd = in, .out_fd = out };
	struct error *error = proc_start(&start, &proc);
	return error ? error : wait_for_git(proc, file);
}

static struct error *decode_with_git(const struct workspace *work, const struct mail *mail, const char *file,
				     struct decoded_mail *out)
{
	AUTO_STRBUF info = STRBUF_INIT;
	struct error *error = put_file(work->mail, mail->text, mail->len);

	if (!error)
		error = run_mailinfo(work, file);
	if (!error)
		error = file_read(work->info, &info);
	if (!error)
		error = file_read(work->message, &out->body);
	if (!error)
		error = file_read(work->patch, &out->rest);
	if (error)
		return error;
	AUTO_FREE char *subject = info_value(strbuf_str(&info), "Subject: ");
	out->author = info_value(strbuf_str(&info), "Author: ");
	out->email = info_value(strbuf_str(&info), "Email: ");
	out->date = info_value(strbuf_str(&info), "Date: ");
	mail_parse_subject(subject, &out->subject);
	return NULL;
}

/* A bare diff, with or without a description before it. */
static void take_plain(const struct mail *mail, struct decoded_mail *out)
{
	size_t start = diff_find(mail->text, mail->len);
	AUTO_FREE char *text = xstrndup(mail->text, start);
	AUTO_STRBUF message = STRBUF_INIT;
	char *title = NULL;

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		if (str_starts(line, "Index: ") || str_starts(line, "diff ") || str_starts(line, "=====") || !strcmp(line, "---"))
			break;
		if (title)
			strbuf_addf(&message, "%s\n", line);
		else if (*str_trim(line))
			title = str_trim(line);
	}
	if (title && !strncasecmp(title, "Description:", 12))
		title = str_trim(title + 12);
	mail_parse_subject(title ? title : "", &out->subject);
	out->author = xstrdup("");
	out->email = xstrdup("");
	out->date = xstrdup("");
	strbuf_adds(&out->body, strbuf_str(&message));
	strbuf_add(&out->rest, mail->text + start, mail->len - start);
}

struct error *mail_decode(const struct mail *mail, const char *file, struct decoded_mail *decoded_out)
{
	struct decoded_mail decoded = { 0 };
	struct workspace work = { NULL };
	struct error *error = NULL;

	if (mail_has_headers(mail->text)) {
		error = make_workspace(&work);
		if (!error)
			error = decode_with_git(&work, mail, file, &decoded);
		remove_workspace(&work);
	} else {
		take_plain(mail, &decoded);
	}
	if (error) {
		decoded_mail_deinit(&decoded);
		return error;
	}
	drop_carriage_returns(&decoded.rest);
	*decoded_out = decoded;
	return NULL;
}
