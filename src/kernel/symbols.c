/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

struct symbol {
	uint64_t address;
	const char *name; /* in the text; "" when it is no function */
};

struct symbols {
	char *text;
	struct symbol *items; /* one an address, by address */
	size_t n;
};

/* gcc's clones and parts of a function are the function. */
static void cut_suffixes(char *name)
{
	static const char *const suffixes[] = { ".isra.", ".constprop.", ".part.", ".cold", ".llvm.", ".cfi" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		char *at = *name ? strstr(name + 1, suffixes[i]) : NULL;
		if (at)
			*at = '\0';
	}
}

/* "ffffffc010081000 T name"; other kinds than t and w are no functions, but end the one before them. */
static bool read_symbol(char *line, struct symbol *symbol_out)
{
	char *end = NULL;

	errno = 0;
	unsigned long long address = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return false;
	cut_suffixes(end + 3);
	*symbol_out = (struct symbol){ address, strchr("tTwW", end[1]) ? end + 3 : "" };
	return true;
}

/* Negative when `a` is the better name: a function before none, then fewer underscores in front, then shorter. */
static int compare_names(const char *a, const char *b)
{
	if (!*a || !*b)
		return (!*a) - (!*b);
	size_t a_front = strspn(a, "_"), b_front = strspn(b, "_"), a_len = strlen(a), b_len = strlen(b);
	if (a_front != b_front)
		return a_front < b_front ? -1 : 1;
	return a_len != b_len ? (a_len < b_len ? -1 : 1) : strcmp(a, b);
}

static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return a->address != b->address ? (a->address < b->address ? -1 : 1) : compare_names(a->name, b->name);
}

static void sort_symbols(struct symbols *symbols)
{
	size_t kept = 0;

	qsort(symbols->items, symbols->n, sizeof(*symbols->items), compare_symbols);
	for (size_t i = 0; i < symbols->n; i++)
		if (!kept || symbols->items[kept - 1].address != symbols->items[i].address)
			symbols->items[kept++] = symbols->items[i];
	symbols->n = kept;
}

static struct error *read_lines(struct symbols *symbols, const char *name)
{
	char *rest = symbols->text, *line;
	bool functions = false;

	for (size_t number = 1; (line = strsep(&rest, "\n")); number++) {
		struct symbol symbol;
		if (!*line)
			continue;
		if (!read_symbol(line, &symbol))
			return error_new(ERROR_KERNEL, "%s:%zu: this is no symbol: \"%.60s\"", name, number, line);
		functions = functions || *symbol.name;
		symbols->items = array_grow(symbols->items, symbols->n, sizeof(*symbols->items));
		symbols->items[symbols->n++] = symbol;
	}
	if (!functions)
		return error_new(ERROR_KERNEL, "%s has no functions", name);
	sort_symbols(symbols);
	return NULL;
}

struct error *symbols_parse(const char *text, const char *name, struct symbols **symbols_out)
{
	struct symbols *symbols = xcalloc(1, sizeof(*symbols));

	symbols->text = xstrdup(text);
	struct error *error = read_lines(symbols, name);
	if (error)
		symbols_free(symbols);
	else
		*symbols_out = symbols;
	return error;
}

struct error *symbols_read(const char *path, struct symbols **symbols_out)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_read(path, &text);

	return error ? error : symbols_parse(strbuf_str(&text), path, symbols_out);
}

const char *symbols_find(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->n;

	/* The last one at or below it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (symbols->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? symbols->items[low - 1].name : "";
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->items);
	free(symbols->text);
	free(symbols);
}
