/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/node.h"
#include "agent/sysfile.h"

#define GUARDIAN_MS 300000

static bool put_back_swap(const struct undo_entry *entry)
{
	const int priority = atoi(entry->value);
	/* The kernel itself gives priorities below zero. */
	const int flags = priority >= 0 ? SWAP_FLAG_PREFER | (priority << SWAP_FLAG_PRIO_SHIFT & SWAP_FLAG_PRIO_MASK) : 0;

	return !swapon(entry->name, flags);
}

static bool put_back(const struct undo_log *log, const struct undo_entry *entry, char *reason, size_t size)
{
	bool good = false;

	switch (entry->kind) {
	case UNDO_FILE:
		good = sysfile_write(entry->name, entry->value);
		break;
	case UNDO_SWAP:
		good = put_back_swap(entry);
		break;
	case UNDO_SWAPPING:
		good = !swapoff(entry->name);
		break;
	case UNDO_MOUNT:
		good = !umount2(entry->name, MNT_DETACH);
		break;
	case UNDO_PROPERTY:
		return property_set(entry->name, entry->value, reason, size);
	case UNDO_SERVICE:
		return services_start(log->manager, entry->name, reason, size);
	}
	if (!good)
		snprintf(reason, size, "%s", strerror(errno));
	return good;
}

static void put_all_back(struct undo_log *log)
{
	for (unsigned i = log->n; i-- > 0;) {
		const struct undo_entry *entry = &log->entries[i];
		size_t len = strlen(log->failures);
		char reason[200];

		if (!put_back(log, entry, reason, sizeof(reason)))
			snprintf(log->failures + len, sizeof(log->failures) - len, "%s%s: %s", len ? "; " : "", entry->name,
				 reason);
	}
	log->n = 0;
}

/* In a session of its own: what ends the agent's must not end this. Its streams are not the agent's, which others wait for. */
static void guard(struct undo_log *log, int end_fd)
{
	static const int ignored[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE };
	int nothing = open("/dev/null", O_RDWR);
	char word;

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (int stream = 0; nothing >= 0 && stream < 3; stream++)
		dup2(nothing, stream);
	while (read(end_fd, &word, 1) < 0 && errno == EINTR)
		;
	put_all_back(log);
	_exit(0);
}

static bool start_guardian(struct undo *undo)
{
	int end[2];

	if (pipe2(end, O_CLOEXEC))
		return false;
	undo->guardian = fork();
	if (!undo->guardian) {
		close(end[1]);
		guard(undo->log, end[0]);
	}
	close(end[0]);
	undo->end_fd = end[1];
	if (undo->guardian > 0)
		return true;
	undo->guardian = 0;
	close(end[1]);
	return false;
}

bool undo_open(struct undo *undo, enum service_manager manager, bool guarded, char *reason, size_t reason_size)
{
	void *shared = mmap(NULL, sizeof(*undo->log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*undo = (struct undo){ .end_fd = -1 };
	if (shared != MAP_FAILED) {
		undo->log = shared;
		undo->log->manager = manager;
		if (!guarded || start_guardian(undo))
			return true;
		undo->log = NULL;
		munmap(shared, sizeof(*undo->log));
	}
	snprintf(reason, reason_size, "no process to restore what is changed: %s", strerror(errno));
	return false;
}

bool undo_note(struct undo *undo, enum undo_kind kind, const char *name, const char *value)
{
	struct undo_log *log = undo->log;

	if (!log || log->n >= UNDO_MAX || strlen(name) >= UNDO_NAME_MAX || strlen(value) >= UNDO_VALUE_MAX)
		return false;

	struct undo_entry *entry = &log->entries[log->n];

	entry->kind = kind;
	strcpy(entry->name, name);
	strcpy(entry->value, value);
	/* The guardian may be called for at any moment: the entry is whole before it counts. */
	__atomic_store_n(&log->n, log->n + 1, __ATOMIC_RELEASE);
	return true;
}

void undo_forget(struct undo *undo)
{
	__atomic_store_n(&undo->log->n, undo->log->n - 1, __ATOMIC_RELEASE);
}

static bool wait_for_guardian(pid_t guardian)
{
	const long long deadline = node_clock_ms() + GUARDIAN_MS;
	pid_t gone;

	while ((gone = waitpid(guardian, NULL, WNOHANG)) == 0 && node_clock_ms() < deadline)
		node_pause();
	return gone == guardian;
}

void undo_close(struct undo *undo, char *failures, size_t size)
{
	*failures = '\0';
	if (!undo->log)
		return;
	if (undo->guardian) {
		close(undo->end_fd);
		if (!wait_for_guardian(undo->guardian))
			snprintf(failures, size, "not all is restored after %d s", GUARDIAN_MS / 1000);
	} else {
		put_all_back(undo->log);
	}
	if (!*failures)
		snprintf(failures, size, "%s", undo->log->failures);
	munmap(undo->log, sizeof(*undo->log));
	*undo = (struct undo){ .end_fd = -1 };
}
