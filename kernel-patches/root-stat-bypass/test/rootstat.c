// SPDX-License-Identifier: GPL-2.0-only
/*
 * /init of a test machine: are the numbers that the root memory cgroup shows right? Prints "ok NAME", "not ok NAME" and a last line
 * "done", and powers off. Kernel command line: cg=1 or cg=2 (hierarchy), move=1 (cg=1: charges move with a task), cycles=N.
 *
 * Ground truth is what the test itself allocates, and what the system as a whole reports: memory is touched, freed, swapped, moved
 * and shared with groups that come and go, and root's numbers must follow by that much.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1L << 20)
#define BASE "/cg"
/* Counters are kept per CPU and folded in batches: 125 pages a zone and CPU globally, 32 pages a CPU in a group. */
#define SLACK (2 * MIB)

static int version = 2;
static bool moving;
static long cycles = 10000;

static void report(bool good, const char *name, const char *format, ...)
{
	va_list args;

	printf("%sok %s", good ? "" : "not ", name);
	va_start(args, format);
	if (!good) {
		printf(": ");
		vprintf(format, args);
	}
	va_end(args);
	printf("\n");
	fflush(stdout);
}

static void finish(void)
{
	printf("done\n");
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void need(bool good, const char *what)
{
	if (good)
		return;
	report(false, what, "%s", strerror(errno));
	finish();
}

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

static void put_in(const char *group, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), BASE "%s/%s", group, file);
	need(put(path, text), path);
}

/* The number behind `key` in a file of lines "key number"; -1 when there is none. An empty key: the file is one number. */
static long long value(const char *path, const char *key)
{
	FILE *file = fopen(path, "r");
	char line[256];
	long long number = -1;
	size_t length = strlen(key);

	while (file && number < 0 && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, length) && (!length || strchr(" :\t", line[length])))
			number = strtoll(line + length + (length && line[length] == ':'), NULL, 10);
	}
	if (file)
		fclose(file);
	return number;
}

static long long stat_of(const char *group, const char *key)
{
	char path[256];

	snprintf(path, sizeof(path), BASE "%s/memory.stat", group);
	return value(path, key);
}

static long long usage_of(const char *group, const char *what)
{
	char path[256];

	snprintf(path, sizeof(path), BASE "%s/memory.%s", group, what);
	return value(path, "");
}

/* Root's own anonymous memory: v1 says it apart from the groups below, v2 with them. */
static long long root_anon(void)
{
	return stat_of("", version == 1 ? "rss" : "anon");
}

static long long root_total_anon(void)
{
	return stat_of("", version == 1 ? "total_rss" : "anon");
}

static bool near(long long got, long long want, long long slack)
{
	return got >= want - slack && got <= want + slack;
}

static void expect(const char *name, long long got, long long want, long long slack)
{
	report(near(got, want, slack), name, "%lld, wanted %lld +- %lld", got, want, slack);
}

static char *touch(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(memory != MAP_FAILED, "mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = (char)(at >> 12) | 1;
	return memory;
}

/* A task that goes to `group`, touches memory there, says so, and stays until it is killed. */
static pid_t start_task(const char *group, size_t size, bool before)
{
	int pipe_fds[2];
	char ready = 0;

	need(pipe(pipe_fds) == 0, "pipe");
	pid_t pid = fork();
	need(pid >= 0, "fork");
	if (pid == 0) {
		if (before)
			touch(size);
		put_in(group, "cgroup.procs", "0");
		if (!before)
			touch(size);
		if (write(pipe_fds[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(pipe_fds[1]);
	need(read(pipe_fds[0], &ready, 1) == 1, "a task started");
	close(pipe_fds[0]);
	return pid;
}

static void end_task(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void make_group(const char *group)
{
	char path[256];

	snprintf(path, sizeof(path), BASE "%s", group);
	need(mkdir(path, 0755) == 0, path);
}

/* A group that has just lost its tasks may be busy for a moment. */
static void remove_group(const char *group)
{
	char path[256];

	snprintf(path, sizeof(path), BASE "%s", group);
	for (int i = 0; i < 2000; i++) {
		if (rmdir(path) == 0)
			return;
		usleep(5000);
	}
	need(false, path);
}

/* Is any number of the file so large that it must have gone below zero? */
static void check_no_underflow(const char *group, const char *name)
{
	char path[256], line[256];
	bool good = true;

	snprintf(path, sizeof(path), BASE "%s/memory.stat", group);
	FILE *file = fopen(path, "r");
	need(file != NULL, path);
	while (fgets(line, sizeof(line), file)) {
		char *blank = strchr(line, ' ');
		if (blank && !strstr(line, "limit") && strtoull(blank + 1, NULL, 10) > 1ULL << 50)
			good = false;
		if (!good)
			break;
	}
	fclose(file);
	report(good, name, "%s", line);
}

static void test_anonymous(const char *when)
{
	char name[64];
	long long before = root_anon(), faults = stat_of("", "pgfault");
	long long usage = version == 1 ? usage_of("", "usage_in_bytes") : 0;
	char *memory = touch(64 * MIB);

	snprintf(name, sizeof(name), "%s: 64 MiB touched in root", when);
	expect(name, root_anon() - before, 64 * MIB, SLACK);
	snprintf(name, sizeof(name), "%s: root's faults", when);
	expect(name, stat_of("", "pgfault") - faults, 64 * MIB / 4096, 400);
	if (version == 1) {
		snprintf(name, sizeof(name), "%s: root's usage", when);
		expect(name, usage_of("", "usage_in_bytes") - usage, 64 * MIB, SLACK);
	}
	munmap(memory, 64 * MIB);
	snprintf(name, sizeof(name), "%s: and unmapped", when);
	expect(name, root_anon() - before, 0, SLACK);
	snprintf(name, sizeof(name), "%s: all anonymous memory is somebody's", when);
	expect(name, root_total_anon() / 1024, value("/proc/meminfo", "AnonPages"), SLACK / 1024);
}

static void test_files(void)
{
	static char block[65536];
	long long before = stat_of("", version == 1 ? "cache" : "file");
	long long shmem = stat_of("", "shmem");
	int fd = open("/tmp/file", O_RDWR | O_CREAT, 0600);

	need(fd >= 0, "/tmp/file");
	for (int i = 0; i < 16 * MIB / (int)sizeof(block); i++)
		need(write(fd, block, sizeof(block)) == sizeof(block), "write");
	expect("16 MiB written to tmpfs", stat_of("", version == 1 ? "cache" : "file") - before, 16 * MIB, SLACK);
	expect("are shmem", stat_of("", "shmem") - shmem, 16 * MIB, SLACK);
	char *memory = mmap(NULL, 16 * MIB, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	need(memory != MAP_FAILED, "mmap of a file");
	expect("and mapped", stat_of("", version == 1 ? "mapped_file" : "file_mapped"), 16 * MIB, SLACK);
	munmap(memory, 16 * MIB);
	close(fd);
	unlink("/tmp/file");
	expect("and removed", stat_of("", version == 1 ? "cache" : "file") - before, 0, SLACK);
}

/* Swapped out, and read back: the pages are in the swap cache and mapped, and count once. */
static void test_swap(void)
{
	long long anon = root_anon(), file = stat_of("", version == 1 ? "cache" : "file");
	long long usage = version == 1 ? usage_of("", "usage_in_bytes") : 0;
	char *memory = touch(16 * MIB);
	long sum = 0;

	madvise(memory, 16 * MIB, 21 /* MADV_PAGEOUT */);
	expect("swapped out: root's memory", root_anon() - anon, 0, SLACK);
	if (version == 1)
		expect("root's swap", stat_of("", "swap"), 16 * MIB, SLACK);
	for (size_t at = 0; at < 16 * MIB; at += 4096)
		sum += memory[at];
	expect("swapped in: what was written", sum != 0, 1, 0);
	expect("root's memory", root_anon() - anon, 16 * MIB, SLACK);
	expect("the swap cache is no file", stat_of("", version == 1 ? "cache" : "file") - file, 0, SLACK);
	if (version == 1)
		expect("root's usage has it once", usage_of("", "usage_in_bytes") - usage, 16 * MIB, SLACK);
	munmap(memory, 16 * MIB);
	expect("nothing is left of it", root_anon() - anon, 0, SLACK);
}

/*
 * Huge pages are memory once. Unmapped in part they are on a list of their own, and swapped out they are split. Their number counts
 * each as one, and each CPU keeps up to 20 of those to itself: 80 MiB for two.
 */
static void test_huge(void)
{
	const long size = 256 * MIB, huge = 2 * MIB, part = 16 * MIB, kept = 80 * MIB;
	const char *key = version == 1 ? "rss_huge" : "anon_thp";
	long long anon = root_anon(), huge_before = stat_of("", key);
	char *all = mmap(NULL, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *memory = (char *)(((unsigned long)all + huge - 1) & ~(huge - 1));

	need(all != MAP_FAILED && madvise(memory, size, MADV_HUGEPAGE) == 0, "huge pages");
	for (long at = 0; at < size; at += 4096)
		memory[at] = 1;
	expect("256 MiB of huge pages are root's memory once", root_anon() - anon, size, SLACK);
	expect("as huge pages", stat_of("", key) - huge_before, size, kept);
	madvise(memory + part, size - part, MADV_DONTNEED);
	expect("16 MiB of them stay", root_anon() - anon, part, SLACK);
	for (long at = 0; at < part; at += huge)
		madvise(memory + at, huge / 2, MADV_DONTNEED);
	madvise(memory, part, 21 /* MADV_PAGEOUT */);
	expect("half of each unmapped, the rest swapped out", root_anon() - anon, 0, SLACK);
	expect("none is huge any more", stat_of("", key) - huge_before, 0, kept);
	if (version == 1)
		expect("half of them is root's swap", stat_of("", "swap"), part / 2, SLACK);
	munmap(all, size + huge);
	if (version == 1)
		expect("no swap is left of them", stat_of("", "swap"), 0, SLACK);
}

static void test_group(void)
{
	long long own = root_anon(), total = root_total_anon(), faults = stat_of("", "pgfault");

	make_group("/a");
	pid_t task = start_task("/a", 32 * MIB, false);
	expect("a group's 32 MiB", stat_of("/a", version == 1 ? "rss" : "anon"), 32 * MIB, SLACK);
	expect("are in root's total", root_total_anon() - total, 32 * MIB, SLACK);
	if (version == 1) {
		expect("and not root's own", root_anon() - own, 0, SLACK);
		expect("nor are its faults", stat_of("", "pgfault") - faults, 0, 1200);
	}
	test_anonymous("beside a group");
	end_task(task);
	expect("the group's is gone", root_total_anon() - total, 0, SLACK);
	remove_group("/a");
}

/* Charges go along with a task, out of root and back. */
static void test_move(void)
{
	long long own = root_anon();

	make_group("/a");
	put_in("/a", "memory.move_charge_at_immigrate", "3");
	put_in("", "memory.move_charge_at_immigrate", "3");
	pid_t task = start_task("/a", 32 * MIB, true);
	expect("a task took its 32 MiB along", usage_of("/a", "usage_in_bytes"), 32 * MIB, SLACK);
	expect("they are its group's", stat_of("/a", "rss"), 32 * MIB, SLACK);
	expect("and no more root's", root_anon() - own, 0, SLACK);
	char pid[16];
	snprintf(pid, sizeof(pid), "%d", task);
	put_in("", "cgroup.procs", pid);
	expect("and back again", root_anon() - own, 32 * MIB, SLACK);
	expect("the group has nothing left", usage_of("/a", "usage_in_bytes"), 0, SLACK);
	check_no_underflow("/a", "no number of the group is below zero");
	end_task(task);
	expect("freed in root", root_anon() - own, 0, SLACK);
	remove_group("/a");
}

/* Touches and frees memory without end. */
static pid_t start_faulter(void)
{
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (pid)
		return pid;
	for (unsigned i = 0;; i++) {
		size_t size = (1 + i % 4) * MIB;
		char *memory = touch(size);
		pid_t child = i % 8 ? -1 : fork();
		if (child == 0)
			_exit(memory[0] == 0);
		if (child > 0)
			waitpid(child, NULL, 0);
		munmap(memory, size);
	}
}

static void move_to(pid_t task, const char *group)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", task);
	put_in(group, "cgroup.procs", pid);
}

static long long dying_groups(void)
{
	if (version == 2)
		return value(BASE "/cgroup.stat", "nr_dying_descendants");

	/* /proc/cgroups: name, hierarchy, number of groups */
	FILE *file = fopen("/proc/cgroups", "r");
	char line[128];
	long long n = -1;
	while (file && fgets(line, sizeof(line), file)) {
		int hierarchy, groups;
		if (sscanf(line, "memory %d %d", &hierarchy, &groups) == 2)
			n = groups - 1;
	}
	if (file)
		fclose(file);
	return n;
}

/*
 * Each CPU keeps a few pages charged in advance for the group that it charged last, and with them that group: have every CPU charge
 * for one more group, which is drained when it is removed.
 */
static void empty_stocks(void)
{
	make_group("/last");
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		cpu_set_t one;
		pid_t pid = fork();

		need(pid >= 0, "fork");
		if (pid) {
			waitpid(pid, NULL, 0);
			continue;
		}
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		need(sched_setaffinity(0, sizeof(one), &one) == 0, "affinity");
		put_in("/last", "cgroup.procs", "0");
		touch(MIB);
		_exit(0);
	}
	remove_group("/last");
}

/* Groups come and go while tasks that fault move between them and root. */
static void test_cycles(void)
{
	pid_t tasks[2];
	char group[32];

	for (int i = 0; i < 2; i++)
		tasks[i] = start_faulter();
	for (long i = 0; i < cycles; i++) {
		snprintf(group, sizeof(group), "/g%ld", i % 7);
		make_group(group);
		if (moving)
			put_in(group, "memory.move_charge_at_immigrate", "3");
		move_to(tasks[i % 2], group);
		if (i % 3 == 0)
			move_to(tasks[(i + 1) % 2], "");
		/* Alone in the system now and then. */
		move_to(tasks[i % 2], i % 5 ? group : "");
		move_to(tasks[i % 2], "");
		remove_group(group);
	}
	for (int i = 0; i < 2; i++)
		end_task(tasks[i]);
	report(true, "groups came and went under load", "");
	empty_stocks();
	long long dying = -1;
	for (int i = 0; i < 400 && (dying = dying_groups()) != 0; i++) {
		/* A zombie, left by a task that was killed while it waited for it, keeps its group. */
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		usleep(50000);
	}
	expect("no group that was removed is still there", dying, 0, 0);
	check_no_underflow("", "no number of root is below zero");
}

static void set_up(void)
{
	char line[1024] = "";

	for (const char *const *dir = (const char *const[]){ "/proc", "/sys", "/tmp", BASE, "/dev", NULL }; *dir; dir++)
		mkdir(*dir, 0755);
	need(mount("proc", "/proc", "proc", 0, NULL) == 0, "/proc");
	need(mount("tmpfs", "/tmp", "tmpfs", 0, NULL) == 0, "/tmp");
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	int console = open("/dev/console", O_RDWR);
	for (int i = 0; console >= 0 && i < 3; i++)
		dup2(console, i);
	int fd = open("/proc/cmdline", O_RDONLY);
	need(fd >= 0 && read(fd, line, sizeof(line) - 1) > 0, "/proc/cmdline");
	close(fd);
	if (strstr(line, "cg=1"))
		version = 1;
	moving = strstr(line, "move=1") != NULL;
	const char *asked = strstr(line, "cycles=");
	if (asked)
		cycles = atol(asked + strlen("cycles="));
	if (version == 1)
		need(mount("memory", BASE, "cgroup", 0, "memory") == 0, "cgroup v1");
	else
		need(mount("cgroup2", BASE, "cgroup2", 0, NULL) == 0 && put(BASE "/cgroup.subtree_control", "+memory"),
		     "cgroup v2");
	if (version == 1)
		put(BASE "/memory.use_hierarchy", "1");
}

/* A swap area on the RAM disk: version 1, its last page at 4 + 1024 of a page that ends in SWAPSPACE2. */
static bool set_up_swap(void)
{
	union {
		char bytes[4096];
		unsigned words[1024];
	} header = { { 0 } };
	int fd = open("/dev/ram0", O_RDWR);
	bool good = fd >= 0;

	header.words[256] = 1;
	header.words[257] = 32 * MIB / 4096 - 1;
	memcpy(header.bytes + 4086, "SWAPSPACE2", 10);
	good = good && write(fd, &header, sizeof(header)) == sizeof(header) && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	return good && swapon("/dev/ram0", 0) == 0;
}

int main(void)
{
	set_up();
	test_anonymous("no group");
	test_files();
	need(set_up_swap(), "swap on /dev/ram0");
	test_swap();
	test_huge();
	test_group();
	if (version == 1 && moving)
		test_move();
	test_cycles();
	test_anonymous("after the groups");
	test_swap();
	finish();
}
