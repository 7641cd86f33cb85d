/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debian packages, from this or another suite, with apt's lists, cache and state below CACHE/apt/SUITE: the machine's own apt
 * is asked for its mirror and is not touched, and no root is needed. apt checks the archive's signature with the keyring.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/lock.h"
#include "kernel/source_internal.h"

#define ASK_MS (2 * 60 * 1000)
#define UPDATE_MS (15 * 60 * 1000)
#define DOWNLOAD_MS (90 * 60 * 1000)

/* What fetching one package needs to know. */
struct fetch {
	const struct source_job *job;
	const char *keyring;
	char *dir; /* CACHE/apt/SUITE */
	struct apt_lines lines;
};

void deb_deinit(struct deb *deb)
{
	free(deb->path);
	free(deb->version);
	free(deb->suite);
	*deb = (struct deb){ NULL };
}

/* VERSION_CODENAME of os-release, where ID is debian; the caller frees, NULL elsewhere. */
static char *own_codename(void)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR error = file_read("/etc/os-release", &text);
	bool debian = false;
	char *codename = NULL;

	if (error)
		return NULL;
	char *rest = text.data, *line;
	while ((line = strsep(&rest, "\n"))) {
		debian |= !strcmp(line, "ID=debian");
		if (str_starts(line, "VERSION_CODENAME=") && !codename)
			codename = xstrdup(line + strlen("VERSION_CODENAME="));
	}
	if (!debian) {
		free(codename);
		return NULL;
	}
	return codename;
}

/* The characters of package names, versions and suites (Debian Policy 5.6); a leading '-' would be an option of apt's. */
static bool plain_word(const char *word)
{
	return isalnum((unsigned char)*word) &&
	       word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-:~_")] == '\0';
}

static struct error *check_words(const struct source_alternative *from)
{
	const char *const words[] = { from->package, from->suite, from->version };
	struct error *errors = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i] && !plain_word(words[i]))
			error_join(&errors,
				   error_new(ERROR_INPUT, "'%s' is no name or version of a Debian package or suite", words[i]));
	return errors;
}

/* Options that keep apt to our folder, for apt-get and apt-cache alike. */
static void add_options(const struct fetch *fetch, struct strlist *argv)
{
	static const char *const fixed[] = {
		"Dir::Etc::sourceparts=-",
		"Dir::Etc::preferences=-",
		"Dir::Etc::preferencesparts=-",
		"Acquire::Languages=none",
		"Acquire::Retries=3",
		"APT::Update::Error-Mode=any",
		"APT::Sandbox::User=root",
		"APT::Get::AllowUnauthenticated=false",
		"Acquire::AllowInsecureRepositories=false",
	};
	static const struct {
		const char *key, *path;
	} places[] = {
		{ "Dir::State", "state" }, { "Dir::State::lists", "lists" },	       { "Dir::State::status", "state/status" },
		{ "Dir::Cache", "cache" }, { "Dir::Etc::sourcelist", "sources.list" },
	};

	strlist_addf(argv, "-c");
	strlist_addf(argv, "%s/apt.conf", fetch->dir);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		strlist_add(argv, "-o");
		strlist_add(argv, fixed[i]);
	}
	if (fetch->job->architecture) {
		strlist_add(argv, "-o");
		strlist_addf(argv, "APT::Architecture=%s", fetch->job->architecture);
		strlist_add(argv, "-o");
		strlist_addf(argv, "APT::Architectures=%s", fetch->job->architecture);
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		strlist_add(argv, "-o");
		strlist_addf(argv, "%s=%s/%s", places[i].key, fetch->dir, places[i].path);
	}
}

static struct error *run_apt(const struct fetch *fetch, struct strlist *argv, const char *folder, int64_t timeout_ms,
			     struct strbuf *out)
{
	static const char *const env[] = { "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive", NULL };
	AUTO_FREE char *cwd = path_join(fetch->dir, folder);
	AUTO_FREE const char **vector = strlist_vector(argv);
	struct proc_spec spec = {
		.argv = vector,
		.env = env,
		.cwd = cwd,
		.deadline_ms = clock_deadline(timeout_ms),
		.guard = fetch->job->guard,
	};

	return proc_run_ok(&spec, ERROR_LAB, out);
}

static struct error *choose_mirror(struct fetch *fetch, const char *uri)
{
	if (uri) {
		fetch->lines.items = xmalloc(sizeof(*fetch->lines.items));
		fetch->lines.items[fetch->lines.n++] = (struct apt_line){ xstrdup(uri), xstrdup(fetch->job->from->suite) };
		return NULL;
	}
	static const char *const argv[] = { "apt-get", "indextargets", "--format",
					    "$(CREATED_BY)|$(ORIGIN)|$(RELEASE)|$(REPO_URI)", NULL };
	static const char *const env[] = { "LC_ALL=C", NULL };
	AUTO_STRBUF out = STRBUF_INIT;
	struct proc_spec spec = { .argv = argv, .env = env, .deadline_ms = clock_deadline(ASK_MS), .guard = fetch->job->guard };
	struct error *error = proc_run_ok(&spec, ERROR_LAB, &out);

	if (error)
		return error;
	AUTO_FREE char *codename = own_codename();
	apt_choose_lines(strbuf_str(&out), fetch->job->from->suite, codename, &fetch->lines);
	if (!fetch->lines.n)
		return error_new(
			ERROR_LAB,
			"this machine's apt names no Debian mirror that %s could be fetched from: add one to its sources",
			fetch->job->from->suite ? fetch->job->from->suite : "its own suite");
	return NULL;
}

static struct error *write_text(const struct fetch *fetch, const char *name, const struct strbuf *text)
{
	AUTO_FREE char *path = path_join(fetch->dir, name);

	return file_write_atomic(path, strbuf_str(text), text->len, 0644);
}

static struct error *write_settings(const struct fetch *fetch)
{
	static const char *const folders[] = { "state", "lists/partial", "cache/archives/partial", "download" };
	/* The machine's hooks would run with our lists: package managers' caches, or removal of downloaded packages. */
	static const char *const hooks = "#clear APT::Update::Pre-Invoke;\n#clear APT::Update::Post-Invoke;\n"
					 "#clear APT::Update::Post-Invoke-Success;\n";
	AUTO_STRBUF list = STRBUF_INIT;
	AUTO_STRBUF conf = STRBUF_INIT;
	AUTO_STRBUF nothing = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		AUTO_FREE char *path = path_join(fetch->dir, folders[i]);
		struct error *error = file_mkdirs(path);
		if (error)
			return error;
	}
	for (size_t i = 0; i < fetch->lines.n; i++)
		strbuf_addf(&list, "deb [signed-by=%s] %s %s main\n", fetch->keyring, fetch->lines.items[i].uri,
			    fetch->lines.items[i].suite);
	strbuf_adds(&conf, hooks);
	struct error *error = write_text(fetch, "sources.list", &list);
	if (!error)
		error = write_text(fetch, "apt.conf", &conf);
	return error ? error : write_text(fetch, "state/status", &nothing);
}

static struct error *update_lists(const struct fetch *fetch)
{
	AUTO_STRLIST argv = { NULL, 0 };

	strlist_add(&argv, "apt-get");
	add_options(fetch, &argv);
	strlist_add(&argv, "-qq");
	strlist_add(&argv, "update");
	return error_wrap(run_apt(fetch, &argv, "state", UPDATE_MS, NULL), "package lists of %s", fetch->lines.items[0].suite);
}

static struct error *download(const struct fetch *fetch, bool only_print, struct strbuf *out)
{
	const struct source_alternative *from = fetch->job->from;
	AUTO_STRLIST argv = { NULL, 0 };

	strlist_add(&argv, "apt-get");
	add_options(fetch, &argv);
	strlist_add(&argv, "-qq");
	strlist_add(&argv, "download");
	if (only_print)
		strlist_add(&argv, "--print-uris");
	strlist_addf(&argv, "%s%s%s", from->package, from->version ? "=" : "", from->version ? from->version : "");
	/* Where the file is already, apt-get has nothing to print. */
	return error_wrap(run_apt(fetch, &argv, only_print ? "state" : "download", DOWNLOAD_MS, out), "package %s of %s",
			  from->package, fetch->lines.items[0].suite);
}

static struct error *check_pin(const struct source_alternative *from, const char *version, const char *sha256)
{
	if (!from->sha256 || !sha256 || !strcasecmp(from->sha256, sha256))
		return NULL;
	return error_at(from->pos, "%s %s has sha256 %s, not %s", from->package, version, sha256, from->sha256);
}

static struct error *find_and_download(const struct fetch *fetch, struct deb *deb_out)
{
	const struct source_alternative *from = fetch->job->from;
	AUTO_STRBUF uri = STRBUF_INIT;
	AUTO_FREE char *file = NULL;
	AUTO_FREE char *version = NULL;
	AUTO_FREE char *sha256 = NULL;
	struct error *error = download(fetch, true, &uri);

	if (!error && !apt_parse_uri_line(strbuf_str(&uri), &file, &version, &sha256))
		error = error_new(ERROR_LAB, "apt-get does not say where package %s is", from->package);
	if (!error)
		error = check_pin(from, version, sha256);
	if (error)
		return error;
	source_say(fetch->job, "downloading %s %s", from->package, version);
	error = download(fetch, false, NULL);
	if (error)
		return error;
	struct deb deb = { .path = xasprintf("%s/download/%s", fetch->dir, file) };
	error = hash_file(deb.path, deb.sha256);
	if (!error)
		error = check_pin(from, version, deb.sha256);
	if (error) {
		deb_deinit(&deb);
		return error;
	}
	deb.version = take_ptr(version);
	deb.suite = xstrdup(fetch->lines.items[0].suite);
	*deb_out = deb;
	return NULL;
}

static struct error *fetch_locked(struct fetch *fetch, const char *uri, struct deb *deb_out)
{
	struct error *error = choose_mirror(fetch, uri);

	if (!error)
		error = write_settings(fetch);
	source_say(fetch->job, "asking the Debian archive for %s", fetch->job->from->package);
	if (!error && !fetch->job->has_lists)
		error = update_lists(fetch);
	return error ? error : find_and_download(fetch, deb_out);
}

struct error *source_fetch_deb_from(const struct source_job *job, const char *keyring, const char *uri, struct deb *deb_out)
{
	const char *suite = job->from->suite ? job->from->suite : "own";
	struct error *error = check_words(job->from);

	if (!error && !file_is_regular(keyring))
		error = error_new(ERROR_LAB, "the Debian archive's keys are not here (%s): install debian-archive-keyring",
				  keyring);
	if (error)
		return error;
	/* Lists of another architecture stand beside the machine's own. */
	AUTO_FREE char *folder = job->architecture ? xasprintf("%s-%s", suite, job->architecture) : xstrdup(suite);
	AUTO_FREE char *name = xasprintf("apt/%s", folder);
	AUTO_FREE char *lock_path = xasprintf("%s/locks/apt-%s", job->cache->dir, folder);
	AUTO_FREE char *holder = xasprintf("a download from suite %s (pid %ld)", suite, (long)getpid());
	AUTO_LOCK lock = NULL;
	error = lock_take(lock_path, holder, clock_deadline(UPDATE_MS + DOWNLOAD_MS), &lock);
	if (error)
		return error;
	struct fetch fetch = { .job = job, .keyring = keyring, .dir = cache_path(job->cache, name) };
	error = fetch_locked(&fetch, uri, deb_out);
	free(fetch.dir);
	apt_lines_deinit(&fetch.lines);
	return error;
}

struct error *source_fetch_deb(const struct source_job *job, const char *keyring, struct deb *deb_out)
{
	return source_fetch_deb_from(job, keyring, NULL, deb_out);
}
