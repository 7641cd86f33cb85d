/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where the child finds its own descriptors. */
#define SEND_FD 3
#define GUARD_FD 4

struct worker {
	char *name;
	pid_t pid;
	int read_fd;
	int guard_fd; /* the guard fires when this, its only write end, is closed */
	struct strbuf pending; /* bytes not yet made into records */
	bool error_seen;
	bool end_seen; /* the pipe is closed */
};

static const struct {
	enum error_kind kind;
	const char *name;
} kind_names[] = {
	{ ERROR_INPUT, "input" },
	{ ERROR_KERNEL, "kernel" },
	{ ERROR_LAB, "lab" },
	{ ERROR_INTERRUPTED, "interrupted" },
};

static const char *kind_name(enum error_kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++)
		if (kind_names[i].kind == kind)
			return kind_names[i].name;
	return "lab";
}

static enum error_kind kind_of_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++)
		if (!strcmp(kind_names[i].name, name))
			return kind_names[i].kind;
	return ERROR_LAB;
}

struct error *worker_send(struct worker_self *self, const struct jnode *record)
{
	AUTO_STRBUF line = STRBUF_INIT;

	jnode_write(record, 0, &line);
	strbuf_addch(&line, '\n');
	for (size_t at = 0; at < line.len;) {
		ssize_t put = write(self->send_fd, line.data + at, line.len - at);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return error_new(ERROR_INTERRUPTED, "the parent has gone");
		at += (size_t)put;
	}
	return NULL;
}

static void send_error(struct worker_self *self, const struct error *error)
{
	AUTO_JNODE record = jnode_object();
	AUTO_FREE char *text = error_text(error);

	jnode_set_string(record, "type", "error");
	jnode_set_string(record, "kind", kind_name(error_kind(error)));
	jnode_set_string(record, "message", error_message(error));
	jnode_set_string(record, "text", text);
	AUTO_ERROR ignored = worker_send(self, record);
}

/* What the worker itself took, its children not counted. */
static void send_usage(struct worker_self *self)
{
	struct rusage usage;
	AUTO_JNODE record = jnode_object();

	getrusage(RUSAGE_SELF, &usage);
	jnode_set_string(record, "type", "usage");
	jnode_set_int(record, "cpu_ms", clock_self_cpu_ms());
	jnode_set_int(record, "rss_kb", usage.ru_maxrss);
	AUTO_ERROR ignored = worker_send(self, record);
}

static _Noreturn void run_worker(const char *name, worker_main *main, void *arg, int send_fd, int guard_fd)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, name);

	int send = fcntl(send_fd, F_DUPFD, 10), guard = fcntl(guard_fd, F_DUPFD, 10);
	dup2(send, SEND_FD);
	dup2(guard, GUARD_FD);
	close_range(GUARD_FD + 1, ~0U, 0);
	fcntl(SEND_FD, F_SETFD, FD_CLOEXEC);
	fcntl(GUARD_FD, F_SETFD, FD_CLOEXEC);

	struct worker_self self = { .guard = { GUARD_FD }, .send_fd = SEND_FD };
	struct error *error = main(&self, arg);
	if (error)
		send_error(&self, error);
	send_usage(&self);
	_exit(error ? 1 : 0);
}

struct error *worker_start(const char *name, worker_main *main, void *arg, struct worker **worker_out)
{
	int records[2], guard[2];

	if (pipe2(records, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	if (pipe2(guard, O_CLOEXEC) < 0) {
		int failed = errno;
		close(records[0]);
		close(records[1]);
		return error_os(failed, "cannot make a pipe");
	}
	pid_t pid = fork();
	if (pid == 0)
		run_worker(name, main, arg, records[1], guard[0]);
	int failed = errno;
	close(records[1]);
	close(guard[0]);
	if (pid < 0) {
		close(records[0]);
		close(guard[1]);
		return error_os(failed, "cannot fork worker %s", name);
	}
	setpgid(pid, pid);
	fcntl(records[0], F_SETFL, O_NONBLOCK);
	struct worker *worker = xcalloc(1, sizeof(*worker));
	*worker = (struct worker){ .name = xstrdup(name), .pid = pid, .read_fd = records[0], .guard_fd = guard[1] };
	*worker_out = worker;
	return NULL;
}

int worker_fd(const struct worker *worker)
{
	return worker->read_fd;
}

const char *worker_name(const struct worker *worker)
{
	return worker->name;
}

static void read_pending(struct worker *worker)
{
	char block[16384];

	while (!worker->end_seen) {
		ssize_t got = read(worker->read_fd, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return;
		if (got <= 0)
			worker->end_seen = true;
		else
			strbuf_add(&worker->pending, block, (size_t)got);
	}
}

/* Reaps; a death that the worker could not report itself is an error. */
static struct error *reap(struct worker *worker)
{
	int status = 0;

	while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
		;
	worker->pid = -1;
	if (worker->error_seen || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return NULL;
	if (WIFSIGNALED(status))
		return error_new(ERROR_LAB, "worker %s was killed by signal %d (%s)", worker->name, WTERMSIG(status),
				 strsignal(WTERMSIG(status)));
	return error_new(ERROR_LAB, "worker %s ended with status %d and no word", worker->name, WEXITSTATUS(status));
}

struct error *worker_receive(struct worker *worker, struct jnode **record_out, bool *ended_out)
{
	read_pending(worker);
	char *newline = worker->pending.len ? memchr(worker->pending.data, '\n', worker->pending.len) : NULL;
	if (!newline) {
		bool ended = worker->end_seen;
		struct error *error = ended && worker->pid > 0 ? reap(worker) : NULL;
		if (!error) {
			*record_out = NULL;
			*ended_out = ended;
		}
		return error;
	}
	size_t len = (size_t)(newline - worker->pending.data);
	struct jnode *record;
	struct error *error = jnode_parse(worker->pending.data, len, worker->name, &record);
	strbuf_remove_front(&worker->pending, len + 1);
	if (error)
		return error;
	if (!strcmp(jnode_string(record, "type", ""), "error"))
		worker->error_seen = true;
	*record_out = record;
	*ended_out = false;
	return NULL;
}

void worker_stop(struct worker *worker, int64_t grace_ms)
{
	if (!worker)
		return;
	close(worker->guard_fd);
	int64_t deadline = clock_deadline(grace_ms);
	while (worker->pid > 0 && waitpid(worker->pid, NULL, WNOHANG) == 0) {
		if (clock_ms() >= deadline) {
			kill(-worker->pid, SIGKILL);
			waitpid(worker->pid, NULL, 0);
			break;
		}
		/* Keep the pipe flowing, or a worker that still sends would never end. */
		struct pollfd pfd = { .fd = worker->end_seen ? -1 : worker->read_fd, .events = POLLIN };
		poll(&pfd, 1, 10);
		read_pending(worker);
	}
	close(worker->read_fd);
	strbuf_deinit(&worker->pending);
	free(worker->name);
	free(worker);
}

struct error *worker_record_error(const struct jnode *record)
{
	return error_new(kind_of_name(jnode_string(record, "kind", "lab")), "%s", jnode_string(record, "message", "unknown"));
}
