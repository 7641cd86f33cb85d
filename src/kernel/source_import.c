/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files streamed to `git fast-import`, which makes one pack of them: it costs about half of writing 70,000 loose objects and runs
 * beside the decompression of the archive. It publishes the pack and the ref only after it has read the final "done", so a run
 * that is killed in the middle leaves at most a temporary file, removed by the next import.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/lock.h"
#include "kernel/source_internal.h"

#define SEND_BYTES (1 << 18)
#define WAIT_MS (60 * 60 * 1000)
/* fast-import takes what it is sent or is stuck. */
#define STALL_MS (5 * 60 * 1000)

struct importer {
	const struct cache *cache;
	struct guard guard;
	struct lock *lock;
	struct proc *proc;
	int fd; /* its standard input */
	int err_fd; /* its standard error, a memory file */
	struct strbuf pending;
	char *ref;
};

/* What a killed fast-import left behind. Nobody else imports: the lock is ours. */
static struct error *remove_leftovers(const struct cache *cache)
{
	static const struct {
		const char *folder, *prefix;
	} kinds[] = { { "objects.git/objects/pack", "tmp_" }, { "objects.git", "fast_import_crash_" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		AUTO_STRLIST names = { NULL, 0 };
		AUTO_FREE char *folder = cache_path(cache, kinds[i].folder);
		struct error *error = file_is_dir(folder) ? file_list(folder, &names) : NULL;
		if (error)
			return error;
		for (size_t k = 0; k < names.n; k++) {
			AUTO_FREE char *path = path_join(folder, names.items[k]);
			if (str_starts(names.items[k], kinds[i].prefix))
				unlink(path);
		}
	}
	return NULL;
}

static struct error *start_git(struct importer *importer)
{
	AUTO_FREE char *git_dir = cache_path(importer->cache, "objects.git");
	AUTO_FREE char *git_dir_option = xasprintf("--git-dir=%s", git_dir);
	/* Level 1 is what git uses for loose objects; deltas would cost more than all the rest. */
	const char *const argv[] = {
		"git",	   git_dir_option, "-c",     "pack.compression=1", "-c", "core.compression=1", "fast-import",
		"--quiet", "--force",	   "--done", "--depth=0",	   NULL
	};
	static const char *const env[] = { "GIT_CONFIG_NOSYSTEM=1",
					   "GIT_CONFIG_GLOBAL=/dev/null",
					   "GIT_DIR",
					   "GIT_WORK_TREE",
					   "GIT_INDEX_FILE",
					   "GIT_OBJECT_DIRECTORY",
					   "GIT_ALTERNATE_OBJECT_DIRECTORIES",
					   "LC_ALL=C",
					   NULL };
	int ends[2];

	importer->err_fd = memfd_create("fast-import", MFD_CLOEXEC);
	if (importer->err_fd < 0)
		return error_os(errno, "cannot make a memory file");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_os(errno, "cannot make a socket pair");
	struct proc_start start = { .argv = argv, .env = env, .in_fd = ends[0], .err_fd = importer->err_fd };
	struct error *error = proc_start(&start, &importer->proc);
	close(ends[0]);
	importer->fd = ends[1];
	return error;
}

/* fast-import has gone: says why. */
static struct error *git_gave_up(const struct importer *importer)
{
	char text[4096];
	ssize_t len = pread(importer->err_fd, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	AUTO_FREE char *copy = xstrdup(text);
	char *line = strtok(str_trim(copy), "\n");
	return error_new(ERROR_LAB, "git fast-import ended early: %s", line ? line : "it gave no reason (disk full?)");
}

static struct error *wait_writable(const struct importer *importer)
{
	struct pollfd fds[] = { { .fd = importer->fd, .events = POLLOUT }, { .fd = importer->guard.fd, .events = POLLIN } };
	int ready = poll(fds, ARRAY_SIZE(fds), STALL_MS);

	if (ready < 0 && errno == EINTR)
		return NULL;
	if (ready <= 0)
		return error_new(ERROR_LAB, "git fast-import takes no more data");
	return fds[1].revents ? error_new(ERROR_INTERRUPTED, "interrupted") : NULL;
}

static struct error *send_all(struct importer *importer, const char *data, size_t len)
{
	while (len) {
		struct error *error = wait_writable(importer);
		if (error)
			return error;
		ssize_t sent = send(importer->fd, data, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (sent < 0 && errno != EAGAIN && errno != EINTR)
			return git_gave_up(importer);
		if (sent > 0) {
			data += sent;
			len -= (size_t)sent;
		}
	}
	return NULL;
}

static struct error *flush(struct importer *importer)
{
	struct error *error = send_all(importer, strbuf_str(&importer->pending), importer->pending.len);

	strbuf_reset(&importer->pending);
	return error;
}

static void put_data(struct importer *importer, const void *data, size_t len)
{
	strbuf_addf(&importer->pending, "data %zu\n", len);
	strbuf_add(&importer->pending, data, len);
	strbuf_addch(&importer->pending, '\n');
}

struct error *importer_open(const struct source_job *job, const char *key, struct importer **importer_out)
{
	AUTO_FREE char *lock_path = cache_path(job->cache, "locks/import");
	AUTO_FREE char *holder = xasprintf("the import of another kernel source (pid %ld)", (long)getpid());
	AUTO_IMPORTER importer = xcalloc(1, sizeof(*importer));
	AUTO_GITDB db = NULL;

	importer->cache = job->cache;
	importer->guard = job->guard;
	importer->fd = importer->err_fd = -1;
	importer->ref = xasprintf("refs/memcg-ab/%s", key);
	/* Makes the repository. */
	struct error *error = gitdb_open(job->cache, NULL, &db);
	if (!error)
		error = lock_take(lock_path, holder, clock_deadline(WAIT_MS), &importer->lock);
	if (!error)
		error = remove_leftovers(job->cache);
	if (!error)
		error = start_git(importer);
	if (error)
		return error;
	strbuf_addf(&importer->pending, "feature done\ncommit %s\ncommitter memcg-ab <memcg-ab> 0 +0000\n", importer->ref);
	put_data(importer, "import\n", 7);
	*importer_out = take_ptr(importer);
	return NULL;
}

/* Why git would not have the path, or NULL. */
static const char *bad_path(const char *path)
{
	if (!*path || *path == '/')
		return "is not relative";
	for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
		size_t len = strcspn(part, "/");
		if (!len || (len == 1 && part[0] == '.') || (len == 2 && !strncmp(part, "..", 2)))
			return "has an empty part, '.' or '..'";
	}
	return NULL;
}

/* Git refuses paths with a part ".git" in any case: they are left out, as `git add` does. */
static bool in_git_folder(const char *path)
{
	for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
		if (strcspn(part, "/") == 4 && !strncasecmp(part, ".git", 4))
			return true;
	return false;
}

/* A path in the quoting of fast-import, which is that of C strings. */
static void put_path(struct strbuf *out, const char *path)
{
	strbuf_addch(out, '"');
	for (const char *at = path; *at; at++) {
		unsigned char c = (unsigned char)*at;
		if (c == '"' || c == '\\')
			strbuf_addf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			strbuf_addf(out, "\\%03o", c);
		else
			strbuf_addch(out, *at);
	}
	strbuf_addch(out, '"');
}

static struct error *check_path(const char *path)
{
	const char *bad = bad_path(path);

	return bad ? error_new(ERROR_LAB, "path '%s' of the source %s", path, bad) : NULL;
}

struct error *importer_add(struct importer *importer, const char *path, mode_t mode, const void *data, size_t len)
{
	struct error *error = check_path(path);

	if (error || in_git_folder(path) || !(S_ISREG(mode) || S_ISLNK(mode)))
		return error;
	strbuf_addf(&importer->pending, "M %s inline ", S_ISLNK(mode) ? "120000" : mode & S_IXUSR ? "100755" : "100644");
	put_path(&importer->pending, path);
	strbuf_addch(&importer->pending, '\n');
	put_data(importer, data, len);
	return importer->pending.len < SEND_BYTES ? NULL : flush(importer);
}

struct error *importer_copy(struct importer *importer, const char *from, const char *path)
{
	struct error *error = check_path(path);

	if (!error)
		error = check_path(from);
	if (error || in_git_folder(path) || in_git_folder(from))
		return error;
	strbuf_adds(&importer->pending, "C ");
	put_path(&importer->pending, from);
	strbuf_addch(&importer->pending, ' ');
	put_path(&importer->pending, path);
	strbuf_addch(&importer->pending, '\n');
	return NULL;
}

static struct error *wait_end(struct importer *importer)
{
	struct proc_result result;
	bool ended = false;
	struct error *error = proc_wait(importer->proc, clock_deadline(STALL_MS), importer->guard, &ended, &result);

	if (error)
		return error;
	if (!ended)
		return error_new(ERROR_LAB, "git fast-import does not end");
	importer->proc = NULL;
	return result.exit_status ? git_gave_up(importer) : NULL;
}

struct error *importer_finish(struct importer *importer, char tree_out[OID_HEX_SIZE])
{
	char commit[OID_HEX_SIZE];
	AUTO_GITDB db = NULL;

	strbuf_adds(&importer->pending, "\ndone\n");
	struct error *error = flush(importer);
	if (!error)
		error = wait_end(importer);
	if (!error)
		error = gitdb_open(importer->cache, NULL, &db);
	if (!error)
		error = gitdb_read_ref(db, importer->ref, commit);
	return error ? error : gitdb_commit_tree(db, commit, tree_out);
}

void importer_close(struct importer *importer)
{
	if (!importer)
		return;
	cleanup_close(&importer->fd);
	proc_stop(importer->proc, 2000);
	cleanup_close(&importer->err_fd);
	lock_release(importer->lock);
	strbuf_deinit(&importer->pending);
	free(importer->ref);
	free(importer);
}

void cleanup_importer(struct importer **importer)
{
	importer_close(*importer);
}
