/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *check(void *ptr)
{
	if (ptr)
		return ptr;
	fputs("memcg-ab: out of memory\n", stderr);
	abort();
}

void *xmalloc(size_t size)
{
	return check(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return check(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *ptr, size_t n, size_t size)
{
	return check(reallocarray(ptr, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return check(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return check(strndup(s, n));
}

void *xmemdup(const void *data, size_t size)
{
	void *copy = xmalloc(size);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

char *xvasprintf(const char *format, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	return check(text);
}

char *xasprintf(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	return text;
}

void *array_grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1) && n)
		return array;
	return xreallocarray(array, n ? n * 2 : 1, size);
}

void cleanup_free(void *ptr)
{
	free(*(void **)ptr);
}

void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
