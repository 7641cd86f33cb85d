/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/proc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long output is still read after the child has ended, when a process it left behind keeps the pipe open. */
#define DRAIN_MS 500
#define KILL_GRACE_MS 2000

struct proc {
	pid_t pid; /* also its process group */
	int pidfd; /* readable once it has ended */
	int64_t started_ms;
};

bool guard_fired(struct guard guard)
{
	struct pollfd pfd = { .fd = guard.fd, .events = POLLIN };

	return guard.fd >= 0 && poll(&pfd, 1, 0) > 0;
}

struct error *guard_check(struct guard guard)
{
	return guard_fired(guard) ? error_new(ERROR_INTERRUPTED, "interrupted") : NULL;
}

struct error *guard_sleep(struct guard guard, int64_t ms)
{
	int64_t deadline = clock_deadline(ms);
	struct pollfd pfd = { .fd = guard.fd, .events = POLLIN };

	while (clock_ms() < deadline) {
		poll(&pfd, 1, clock_poll_timeout(deadline));
		struct error *error = guard_check(guard);
		if (error)
			return error;
	}
	return NULL;
}

static void set_environment(const char *const *env)
{
	for (; env && *env; env++) {
		const char *equals = strchr(*env, '=');
		if (!equals) {
			unsetenv(*env);
			continue;
		}
		AUTO_FREE char *name = xstrndup(*env, (size_t)(equals - *env));
		setenv(name, equals + 1, 1);
	}
}

static void move_descriptor(int fd, int to)
{
	if (fd <= 0)
		fd = open("/dev/null", to ? O_WRONLY : O_RDONLY);
	if (fd != to)
		dup2(fd, to);
}

/* Runs in the child. Writes errno to `report` when the program cannot be executed. */
static _Noreturn void run_child(const struct proc_start *spec, pid_t parent, int report)
{
	sigset_t none;

	setpgid(0, 0);
	/* When a worker is killed alone, make and qemu get a chance to clean up; the parent may already be gone. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);

	/* Descriptors 0-2 of the caller may be the ones wanted here: move them out of the way first. */
	int in = spec->in_fd > 0 ? fcntl(spec->in_fd, F_DUPFD_CLOEXEC, 10) : 0;
	int out = spec->out_fd > 0 ? fcntl(spec->out_fd, F_DUPFD_CLOEXEC, 10) : 0;
	int err = spec->err_fd > 0 ? fcntl(spec->err_fd, F_DUPFD_CLOEXEC, 10) : 0;
	move_descriptor(in, 0);
	move_descriptor(out, 1);
	move_descriptor(err, 2);
	if (!spec->cwd || chdir(spec->cwd) == 0) {
		set_environment(spec->env);
		execvp(spec->argv[0], (char *const *)spec->argv);
	}
	int failed = errno;
	ssize_t put = write(report, &failed, sizeof(failed));
	_exit(put == sizeof(failed) ? 126 : 127);
}

static struct error *start_error(const struct proc_start *spec, int failed)
{
	if (failed == ENOENT && spec->cwd && access(spec->cwd, X_OK) < 0)
		return error_os(failed, "cannot run %s in %s", spec->argv[0], spec->cwd);
	if (failed == ENOENT)
		return error_new(ERROR_LAB, "cannot run %s: no such program", spec->argv[0]);
	return error_os(failed, "cannot run %s", spec->argv[0]);
}

struct error *proc_start(const struct proc_start *spec, struct proc **proc_out)
{
	int report[2];

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	pid_t parent = getpid();
	int64_t started = clock_ms();
	pid_t pid = fork();
	if (pid == 0)
		run_child(spec, parent, report[1]);
	int fork_errno = errno;
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return error_os(fork_errno, "cannot fork for %s", spec->argv[0]);
	}
	setpgid(pid, pid);

	int failed = 0;
	ssize_t got;
	do
		got = read(report[0], &failed, sizeof(failed));
	while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got == (ssize_t)sizeof(failed)) {
		waitpid(pid, NULL, 0);
		return start_error(spec, failed);
	}
	struct proc *proc = xmalloc(sizeof(*proc));
	proc->pid = pid;
	proc->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	proc->started_ms = started;
	*proc_out = proc;
	return NULL;
}

pid_t proc_pid(const struct proc *proc)
{
	return proc->pid;
}

/* Reaps an ended child, after killing what it left in its group, and frees it. */
static struct proc_result reap(struct proc *proc)
{
	struct proc_result result = { .exit_status = -1 };
	struct rusage usage;
	int status = 0;

	kill(-proc->pid, SIGKILL);
	while (wait4(proc->pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		result.exit_status = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		result.signal = WTERMSIG(status);
	result.wall_ms = clock_ms() - proc->started_ms;
	result.cpu_ms = (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
			(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
	close(proc->pidfd);
	free(proc);
	return result;
}

static bool ended_within(const struct proc *proc, int64_t deadline_ms)
{
	struct pollfd pfd = { .fd = proc->pidfd, .events = POLLIN };
	int ready;

	do
		ready = poll(&pfd, 1, clock_poll_timeout(deadline_ms));
	while (ready < 0 && errno == EINTR);
	return ready > 0;
}

static struct proc_result stop(struct proc *proc, int64_t grace_ms)
{
	kill(-proc->pid, SIGTERM);
	/* A stopped group would not see the signal. */
	kill(-proc->pid, SIGCONT);
	ended_within(proc, clock_deadline(grace_ms));
	return reap(proc);
}

void proc_stop(struct proc *proc, int64_t grace_ms)
{
	if (proc)
		stop(proc, grace_ms);
}

void cleanup_proc(struct proc **proc)
{
	proc_stop(*proc, KILL_GRACE_MS);
}

struct error *proc_wait(struct proc *proc, int64_t deadline_ms, struct guard guard, bool *ended_out,
			struct proc_result *result_out)
{
	struct pollfd pfds[] = { { .fd = proc->pidfd, .events = POLLIN }, { .fd = guard.fd, .events = POLLIN } };
	int ready;

	do
		ready = poll(pfds, 2, clock_poll_timeout(deadline_ms));
	while (ready < 0 && errno == EINTR);
	if (ready > 0 && !pfds[0].revents)
		return error_new(ERROR_INTERRUPTED, "interrupted");
	*ended_out = ready > 0;
	if (ready > 0)
		*result_out = reap(proc);
	return NULL;
}

/* One of the child's outputs as the parent reads it. */
struct stream {
	int fd; /* -1 when it has ended or is not read */
	struct strbuf *into;
	void (*on_output)(void *arg, const char *data, size_t len);
	void *arg;
};

static void read_stream(struct stream *stream)
{
	char block[16384];
	ssize_t got = read(stream->fd, block, sizeof(block));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		close(stream->fd);
		stream->fd = -1;
		return;
	}
	if (stream->into)
		strbuf_add(stream->into, block, (size_t)got);
	else
		stream->on_output(stream->arg, block, (size_t)got);
}

/* Reads both streams until the child has ended and they are dry. Returns false when the deadline passed or the guard fired. */
static bool follow(const struct proc *proc, struct stream streams[2], int64_t deadline_ms, struct guard guard)
{
	bool ended = false;

	for (;;) {
		if (ended && streams[0].fd < 0 && streams[1].fd < 0)
			return true;
		struct pollfd pfds[] = {
			{ .fd = streams[0].fd, .events = POLLIN },
			{ .fd = streams[1].fd, .events = POLLIN },
			{ .fd = ended ? -1 : proc->pidfd, .events = POLLIN },
			{ .fd = ended ? -1 : guard.fd, .events = POLLIN },
		};
		int ready = poll(pfds, ARRAY_SIZE(pfds), clock_poll_timeout(deadline_ms));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return ended;
		for (size_t i = 0; i < 2; i++)
			if (pfds[i].revents)
				read_stream(&streams[i]);
		if (pfds[2].revents) {
			ended = true;
			deadline_ms = clock_deadline(DRAIN_MS);
		} else if (pfds[3].revents) {
			return false;
		}
	}
}

/* Opens the pipe that `stream` reads, or hands on the descriptor the caller gave. */
static struct error *open_stream(struct stream *stream, int given, int *child_fd)
{
	int ends[2];

	stream->fd = -1;
	*child_fd = given;
	if (!stream->into && !stream->on_output)
		return NULL;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	stream->fd = ends[0];
	*child_fd = ends[1];
	return NULL;
}

static void close_if(int fd, bool condition)
{
	if (condition && fd >= 0)
		close(fd);
}

struct error *proc_run(const struct proc_spec *spec, struct proc_result *result_out)
{
	bool together = spec->err && spec->err == spec->out;
	struct stream streams[2] = {
		{ .into = spec->out, .on_output = spec->on_output, .arg = spec->arg },
		{ .into = together ? NULL : spec->err },
	};
	struct proc_start start = { .argv = spec->argv, .env = spec->env, .cwd = spec->cwd };
	struct proc *proc = NULL;

	assert(spec->deadline_ms != NO_DEADLINE);
	struct error *error = open_stream(&streams[0], spec->out_fd, &start.out_fd);
	if (!error)
		error = open_stream(&streams[1], together ? start.out_fd : spec->err_fd, &start.err_fd);
	if (!error)
		error = proc_start(&start, &proc);
	close_if(start.err_fd, streams[1].fd >= 0);
	close_if(start.out_fd, streams[0].fd >= 0);
	if (!error) {
		bool finished = follow(proc, streams, spec->deadline_ms, spec->guard);
		bool interrupted = !finished && guard_fired(spec->guard);
		struct proc_result result = finished ? reap(proc) : stop(proc, KILL_GRACE_MS);
		result.timed_out = !finished && !interrupted;
		if (interrupted)
			error = error_new(ERROR_INTERRUPTED, "%s was interrupted", spec->argv[0]);
		else
			*result_out = result;
	}
	close_if(streams[0].fd, true);
	close_if(streams[1].fd, true);
	return error;
}

/* The last line that says something. */
static char *last_line(const struct strbuf *text)
{
	AUTO_FREE char *copy = xstrdup(strbuf_str(text));
	char *trimmed = str_trim(copy);
	char *newline = strrchr(trimmed, '\n');

	return xstrdup(newline ? str_trim(newline + 1) : trimmed);
}

struct error *proc_run_ok(const struct proc_spec *spec, enum error_kind kind, struct strbuf *out)
{
	AUTO_STRBUF err = STRBUF_INIT;
	struct proc_spec with = *spec;
	struct proc_result result;

	if (out)
		with.out = out;
	if (!with.err && !with.err_fd)
		with.err = &err;
	struct error *error = proc_run(&with, &result);
	if (error)
		return error;
	if (result.timed_out)
		return error_new(kind, "%s did not end in time and was killed", spec->argv[0]);
	if (result.signal)
		return error_new(kind, "%s was killed by signal %d (%s)", spec->argv[0], result.signal, strsignal(result.signal));
	if (!result.exit_status)
		return NULL;
	AUTO_FREE char *line = last_line(with.err ? with.err : &err);
	return error_new(kind, "%s failed with exit status %d%s%s", spec->argv[0], result.exit_status, *line ? ": " : "", line);
}

bool proc_find(const char *program)
{
	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	const char *path = getenv("PATH");
	AUTO_FREE char *copy = xstrdup(path ? path : "/usr/bin:/bin");
	char *rest = copy, *dir;
	while ((dir = strsep(&rest, ":"))) {
		AUTO_FREE char *candidate = xasprintf("%s/%s", *dir ? dir : ".", program);
		if (access(candidate, X_OK) == 0)
			return true;
	}
	return false;
}
