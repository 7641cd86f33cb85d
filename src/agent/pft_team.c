/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/pft.h"

static void *map_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Where nothing is asked for beside instructions, no more memory is touched. */
static bool map_team(struct pft *pft)
{
	pft->team = map_shared(sizeof(*pft->team));
	if (!pft->team || !pft->counter->events)
		return pft->team;
	pft->events = map_shared(pft->n * sizeof(*pft->events));
	return pft->events;
}

int pft_team_make(struct workload_run *run, struct pft *pft)
{
	pthread_barrierattr_t shared;

	if (!map_team(pft)) {
		workload_fail(run, "mmap: %s", strerror(errno));
		pft_team_free(pft);
		return -1;
	}

	struct pft_team *team = pft->team;

	memset(team, 0, sizeof(*team));
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&team->barrier, &shared, pft->n);
	pthread_mutex_init(&team->gate, NULL);
	for (unsigned i = 0; i < pft->n; i++) {
		struct pft_worker *worker = &team->workers[i];

		worker->pft = pft;
		worker->start = pft->region + pft->size / pft->n * i;
		worker->end = worker->start + pft->size / pft->n;
		worker->events = pft->events ? pft->events[i] : NULL;
	}
	return 0;
}

static void wait_for_all(const struct pft *pft)
{
	if (pft->n > 1)
		pthread_barrier_wait(&pft->team->barrier);
}

/* A failed worker still comes to the barrier, so that nobody waits for it. */
static void run_fault(struct pft_worker *worker, struct counter *counter)
{
	const struct pft *pft = worker->pft;

	worker->failed = !counter_open(counter, pft->counter, worker->reason, sizeof(worker->reason));
	wait_for_all(pft);
	if (!worker->failed)
		pft_measure_fault(worker, counter);
}

static void run_teardown(struct pft_worker *worker, const struct counter *counter)
{
	if (!worker->failed)
		pft_measure_teardown(worker, counter);
}

static void *thread_main(void *arg)
{
	struct pft_worker *worker = arg;
	struct pft_team *team = worker->pft->team;
	struct counter counter;

	pthread_mutex_lock(&team->gate);
	bool given_up = team->given_up;
	pthread_mutex_unlock(&team->gate);
	if (given_up)
		return NULL;
	run_fault(worker, &counter);
	counter_close(&counter);
	return NULL;
}

/* The first worker is the calling thread itself. */
static int run_threads(struct workload_run *run, struct pft *pft)
{
	struct pft_team *team = pft->team;
	pthread_t threads[PFT_MAX_WORKERS];
	struct counter counter;
	unsigned n = 1;
	int error = 0;

	pthread_mutex_lock(&team->gate);
	while (n < pft->n && !error) {
		error = pthread_create(&threads[n], NULL, thread_main, &team->workers[n]);
		if (!error)
			n++;
	}
	team->given_up = error != 0;
	pthread_mutex_unlock(&team->gate);
	if (!error)
		run_fault(&team->workers[0], &counter);
	for (unsigned i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	if (error)
		return workload_fail(run, "starting thread %u of %u: %s", n + 1, pft->n, strerror(error));
	run_teardown(&team->workers[0], &counter);
	counter_close(&counter);
	return 0;
}

static void process_main(struct pft_worker *worker)
{
	struct counter counter;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_fault(worker, &counter);
	wait_for_all(worker->pft);
	run_teardown(worker, &counter);
	_exit(0);
}

static void kill_processes(const pid_t *pids, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
	}
}

static void forget_process(pid_t *pids, unsigned n, pid_t gone)
{
	for (unsigned i = 0; i < n; i++) {
		if (pids[i] == gone)
			pids[i] = 0;
	}
}

/* The others of a worker that died would wait for it at the barrier: they are killed. */
static int run_processes(struct workload_run *run, struct pft *pft)
{
	pid_t pids[PFT_MAX_WORKERS];
	unsigned n = 0;
	int result = 0;

	for (; n < pft->n && !result; n++) {
		pids[n] = fork();
		if (!pids[n])
			process_main(&pft->team->workers[n]);
		if (pids[n] < 0)
			result = workload_fail(run, "starting process %u of %u: %s", n + 1, pft->n, strerror(errno));
	}
	if (result)
		kill_processes(pids, n);
	for (unsigned left = n - (result ? 1 : 0); left;) {
		int status;
		pid_t gone = waitpid(-1, &status, 0);

		if (gone < 0 && errno != EINTR)
			return workload_fail(run, "waiting for processes: %s", strerror(errno));
		if (gone <= 0)
			continue;
		left--;
		forget_process(pids, n, gone);
		if (status && !result) {
			result = workload_fail(run, "a process died, wait status %d", status);
			kill_processes(pids, n);
		}
	}
	return result;
}

int pft_team_run(struct workload_run *run, struct pft *pft)
{
	return pft->processes ? run_processes(run, pft) : run_threads(run, pft);
}

void pft_team_free(struct pft *pft)
{
	if (pft->events)
		munmap(pft->events, pft->n * sizeof(*pft->events));
	if (pft->team)
		munmap(pft->team, sizeof(*pft->team));
}
