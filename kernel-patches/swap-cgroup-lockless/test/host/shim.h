/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What mm/swap_cgroup.c and its KUnit test need of the kernel, in user space: threads for kernel threads, on CPUs of their own.
 * Included in place of every kernel header, once.
 */
#ifndef SHIM_H
#define SHIM_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define unlikely(x) (x)
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define BITS_PER_TYPE(type) (sizeof(type) * 8)
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define BUILD_BUG_ON(x) _Static_assert(!(x), #x)
#define pr_info(...) printf(__VA_ARGS__)
#define cond_resched() sched_yield()

/* What the kernel would have complained of, and failed expectations. */
extern unsigned long shim_bad;
#define VM_WARN_ON_ONCE(x) ((x) ? (void)__atomic_fetch_add(&shim_bad, 1, __ATOMIC_RELAXED) : (void)0)
#define VM_BUG_ON(x) VM_WARN_ON_ONCE(x)

/* memory */
#define PAGE_SIZE 4096ul
#define SWAP_CLUSTER_MAX 32
#define GFP_KERNEL 0
#define __GFP_ZERO 0
struct page;
#define alloc_page(flags) ((struct page *)calloc(1, PAGE_SIZE))
#define page_address(page) ((void *)(page))
#define __free_page(page) free(page)
#define vcalloc(n, size) calloc(n, size)
#define vfree(p) free(p)
#define mem_cgroup_disabled() false

/* locks and atomics */
typedef struct {
	int counter;
} atomic_t;
#define atomic_read(v) __atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_set(v, i) __atomic_store_n(&(v)->counter, (int)(i), __ATOMIC_RELAXED)
#define atomic_try_cmpxchg(v, old, new) \
	__atomic_compare_exchange_n(&(v)->counter, old, (int)(new), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
#define DEFINE_MUTEX(name) pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER
#define mutex_lock(m) pthread_mutex_lock(m)
#define mutex_unlock(m) pthread_mutex_unlock(m)
typedef pthread_spinlock_t spinlock_t;
#define spin_lock_init(l) pthread_spin_init(l, PTHREAD_PROCESS_PRIVATE)
#define spin_lock_irqsave(l, flags) ((flags) = 0, pthread_spin_lock(l))
#define spin_unlock_irqrestore(l, flags) ((void)(flags), pthread_spin_unlock(l))

/* swap entries */
#define MAX_SWAPFILES 24
typedef unsigned long pgoff_t;
typedef struct {
	unsigned long val;
} swp_entry_t;
#define SHIM_TYPE_SHIFT (sizeof(long) * 8 - 6)
static inline swp_entry_t swp_entry(unsigned long type, pgoff_t offset)
{
	return (swp_entry_t){ type << SHIM_TYPE_SHIFT | offset };
}
static inline unsigned int swp_type(swp_entry_t entry)
{
	return entry.val >> SHIM_TYPE_SHIFT;
}
static inline pgoff_t swp_offset(swp_entry_t entry)
{
	return entry.val & ((1ul << SHIM_TYPE_SHIFT) - 1);
}
unsigned short swap_cgroup_record(swp_entry_t ent, unsigned short id, unsigned int nr_ents);
unsigned short lookup_swap_cgroup_id(swp_entry_t ent);
int swap_cgroup_swapon(int type, unsigned long max_pages);
void swap_cgroup_swapoff(int type);

/* threads */
struct completion {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};
#define DECLARE_COMPLETION_ONSTACK(c) struct completion c = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false }
static inline void init_completion(struct completion *c)
{
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->cond, NULL);
	c->done = false;
}
static inline void complete_all(struct completion *c)
{
	pthread_mutex_lock(&c->lock);
	c->done = true;
	pthread_cond_broadcast(&c->cond);
	pthread_mutex_unlock(&c->lock);
}
#define complete(c) complete_all(c)
static inline void wait_for_completion(struct completion *c)
{
	pthread_mutex_lock(&c->lock);
	while (!c->done)
		pthread_cond_wait(&c->cond, &c->lock);
	pthread_mutex_unlock(&c->lock);
}
struct task_struct {
	int (*work)(void *);
	void *arg;
	pthread_attr_t attr;
};
static inline void *shim_thread(void *arg)
{
	struct task_struct *task = arg;

	task->work(task->arg);
	free(task);
	return NULL;
}
static inline struct task_struct *shim_create(int (*work)(void *), void *arg)
{
	struct task_struct *task = malloc(sizeof(*task));

	task->work = work;
	task->arg = arg;
	pthread_attr_init(&task->attr);
	pthread_attr_setdetachstate(&task->attr, PTHREAD_CREATE_DETACHED);
	return task;
}
#define kthread_create(work, arg, ...) shim_create(work, arg)
#define IS_ERR(p) (!(p))
#define num_online_cpus() ((unsigned int)sysconf(_SC_NPROCESSORS_ONLN))
#define cpu_online_mask 0
#define cpumask_nth(n, mask) (n)
static inline void kthread_bind(struct task_struct *task, unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_setaffinity_np(&task->attr, sizeof(set), &set);
}
static inline void wake_up_process(struct task_struct *task)
{
	pthread_t thread;

	if (pthread_create(&thread, &task->attr, shim_thread, task))
		abort();
}

/* KUnit */
struct kunit {
	int skipped;
};
struct kunit_case {
	const char *name;
	void (*run)(struct kunit *);
};
struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
};
#define KUNIT_CASE(f) { #f, f }
#define kunit_kcalloc(test, n, size, flags) calloc(n, size)
#define KUNIT_EXPECT_EQ(test, a, b) ((void)(test), VM_WARN_ON_ONCE((a) != (b)))
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...) KUNIT_EXPECT_EQ(test, a, b)
#define KUNIT_ASSERT_EQ(test, a, b) ((void)(test), (a) == (b) ? (void)0 : abort())
#define KUNIT_ASSERT_NOT_NULL(test, p) ((void)(test), (p) ? (void)0 : abort())
#define KUNIT_ASSERT_FALSE(test, x) ((void)(test), (x) ? abort() : (void)0)
#define kunit_skip(test, why)           \
	do {                            \
		(test)->skipped = 1;    \
		printf("# %s\n", why);  \
		return;                 \
	} while (0)
#define kunit_test_suite(suite)                                                                                       \
	unsigned long shim_bad;                                                                                       \
	int main(void)                                                                                                \
	{                                                                                                             \
		unsigned long before;                                                                                 \
		int failed = 0;                                                                                       \
		for (struct kunit_case *c = suite.test_cases; c->name; c++) {                                         \
			struct kunit test = { 0 };                                                                    \
			before = shim_bad;                                                                            \
			c->run(&test);                                                                                \
			printf("%sok %s%s\n", shim_bad == before ? "" : "not ", c->name, test.skipped ? " # SKIP" : ""); \
			failed |= shim_bad != before || test.skipped;                                                 \
		}                                                                                                     \
		return failed;                                                                                        \
	}
#endif
