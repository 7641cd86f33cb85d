/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that never fails, scope-exit cleanup, attributes and small macros. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_FORMAT(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Each aborts the program with a message when memory runs out, so no caller handles it. */
void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *ptr, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *data, size_t size);
char *xasprintf(const char *format, ...) PRINTF_FORMAT(1, 2);
char *xvasprintf(const char *format, va_list args) PRINTF_FORMAT(1, 0);

/*
 * Grows `array` (of elements of `size` bytes, `n` of them in use) so that one more fits; returns the array's new place.
 * The capacity is the next power of two, so `n` alone decides when to grow.
 */
void *array_grow(void *array, size_t n, size_t size);

/* For CLEANUP(): free what the pointer at `*ptr` points to, close the descriptor at `*fd` if it is one. */
void cleanup_free(void *ptr);
void cleanup_close(int *fd);
#define AUTO_FREE CLEANUP(cleanup_free)
#define AUTO_CLOSE CLEANUP(cleanup_close)

/* Hands the pointer out of an AUTO_* variable: returns its value and sets it to NULL. */
#define take_ptr(p)                                                                                                              \
	({                                                                                                                       \
		__typeof__(p) taken_ = (p);                                                                                      \
		(p) = NULL;                                                                                                      \
		taken_;                                                                                                          \
	})

#endif
