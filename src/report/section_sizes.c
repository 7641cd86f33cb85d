/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section `sizes`: text, data and bss of vmlinux and of the objects that a series changes, and the functions that grow or shrink. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/section.h"

/* Objects beside vmlinux and mm/memcontrol.o, and functions of a kernel, that are listed one by one. */
#define OBJECTS_SHOWN 8
#define FUNCTIONS_SHOWN 12

static const char *const always[] = { "vmlinux", "mm/memcontrol.o" };

/* Rows that differ in the command line alone have one kernel, which is listed under the first of them. */
static bool first_of_image(const struct report *report, size_t row)
{
	const char *key = jnode_string(report->rows[row].description, "image", "");

	for (size_t i = 0; i < row; i++)
		if (!strcmp(jnode_string(report->rows[i].description, "image", ""), key))
			return false;
	return *key && report->rows[row].control == CONTROL_NONE && jnode_get(report->rows[row].image, "sizes");
}

static const struct jnode *sizes_of(const struct report *report, ssize_t row, const char *object)
{
	return row < 0 ? NULL : jnode_get(jnode_get(report->rows[row].image, "sizes"), object);
}

static int64_t part(const struct jnode *sizes, size_t i)
{
	return (int64_t)jnode_item_real(sizes, i);
}

/* The row of the same ladder without any of its patches; -1 when it has no lower one. */
static ssize_t vanilla_of(const struct report *report, ssize_t row)
{
	ssize_t at = report->rows[row].previous;

	while (at >= 0 && report->rows[at].previous >= 0)
		at = report->rows[at].previous;
	return at;
}

static void add_difference(struct section_table *table, const struct jnode *own, const struct jnode *other)
{
	if (other)
		strlist_addf(&table->cells, "%+lld", (long long)(part(own, 0) - part(other, 0)));
	else
		strlist_add(&table->cells, "");
}

static void add_object(const struct report *report, size_t row, const char *object, struct section_table *table)
{
	const struct jnode *own = sizes_of(report, (ssize_t)row, object);

	if (!own)
		return;
	strlist_add(&table->cells, report->rows[row].variant);
	strlist_add(&table->cells, object);
	for (size_t i = 0; i < 3; i++)
		strlist_addf(&table->cells, "%lld", (long long)part(own, i));
	add_difference(table, own, sizes_of(report, vanilla_of(report, (ssize_t)row), object));
	add_difference(table, own, sizes_of(report, report->rows[row].previous, object));
}

struct change {
	const char *name;
	int64_t before, after;
	int64_t weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : strcmp(x->name, y->name);
}

static int64_t distance(const struct jnode *a, const struct jnode *b)
{
	int64_t sum = 0;

	for (size_t i = 0; i < 3; i++)
		sum += llabs(part(a, i) - part(b, i));
	return sum;
}

static bool is_always(const char *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		if (!strcmp(object, always[i]))
			return true;
	return false;
}

/* Objects that some step changes, the most changed first. */
static size_t changed_objects(const struct report *report, struct change **changes_out)
{
	struct change *changes = NULL;
	size_t n = 0;

	for (size_t row = 0; row < report->n_rows; row++) {
		ssize_t previous = report->rows[row].previous;
		const struct jnode *own = jnode_get(report->rows[row].image, "sizes");
		if (previous < 0 || !first_of_image(report, row))
			continue;
		for (const char *name = jnode_next_key(own, NULL); name; name = jnode_next_key(own, name)) {
			const struct jnode *before = sizes_of(report, previous, name);
			int64_t weight = before ? distance(jnode_get(own, name), before) : 0;
			size_t at = 0;
			if (!weight || is_always(name))
				continue;
			while (at < n && strcmp(changes[at].name, name))
				at++;
			if (at == n) {
				changes = array_grow(changes, n, sizeof(*changes));
				changes[n++] = (struct change){ .name = name };
			}
			changes[at].weight += weight;
		}
	}
	if (n)
		qsort(changes, n, sizeof(*changes), by_weight);
	*changes_out = changes;
	return n;
}

static bool has_objects(const struct report *report, size_t row)
{
	const struct jnode *sizes = jnode_get(report->rows[row].image, "sizes");
	const char *name = jnode_next_key(sizes, NULL);

	while (name && !strcmp(name, "vmlinux"))
		name = jnode_next_key(sizes, name);
	return name != NULL;
}

static void fill_objects(const struct report *report, struct section *out)
{
	static const char *const columns[] = { "kernel", "object", "text", "data", "bss", "text vs vanilla", "text vs previous" };
	struct section_table *table = section_add(out, xstrdup("Sizes in bytes, as size prints them"));
	struct change *changes = NULL;
	size_t n = changed_objects(report, &changes), shown = n < OBJECTS_SHOWN ? n : OBJECTS_SHOWN;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		strlist_add(&table->columns, columns[i]);
	for (size_t object = 0; object < ARRAY_SIZE(always) + shown; object++) {
		const char *name = object < ARRAY_SIZE(always) ? always[object] : changes[object - ARRAY_SIZE(always)].name;
		for (size_t row = 0; row < report->n_rows; row++)
			if (first_of_image(report, row))
				add_object(report, row, name, table);
	}
	if (!table->cells.n)
		strlist_add(&table->notes,
			    "no kernel of this run has a vmlinux, or the run was made by a version that did not store sizes");
	else if (n > shown)
		strlist_addf(&table->notes, "%zu more objects change, each less than these", n - shown);
	for (size_t row = 0; row < report->n_rows; row++)
		if (first_of_image(report, row) && !has_objects(report, row))
			strlist_addf(&table->notes,
				     "%s: its objects have no sizes (link-time optimisation, or it was not built here): vmlinux "
				     "and its "
				     "functions alone",
				     report->rows[row].variant);
	free(changes);
}

/* A function's size in a row's kernel as far as the growths tell, which list those that differ from the ladder's lowest step. */
static int64_t size_in(const struct jnode *growth, const char *name, int64_t otherwise)
{
	const struct jnode *pair = jnode_get(growth, name);

	return pair ? part(pair, 1) : otherwise;
}

static void add_changes(const struct jnode *list, const struct jnode *own, const struct jnode *before, struct change **changes,
			size_t *n)
{
	for (const char *name = jnode_next_key(list, NULL); name; name = jnode_next_key(list, name)) {
		int64_t reference = part(jnode_get(list, name), 0);
		int64_t old = size_in(before, name, reference), new = size_in(own, name, reference);
		if (old == new || (list == before && jnode_get(own, name)))
			continue;
		*changes = array_grow(*changes, *n, sizeof(**changes));
		(*changes)[(*n)++] = (struct change){ name, old, new, llabs(new - old) };
	}
}

static void fill_functions(const struct report *report, size_t row, struct section *out)
{
	static const char *const columns[] = { "function", "before", "after", "bytes" };
	const struct jnode *own = jnode_get(report->rows[row].image, "growth");
	ssize_t previous = report->rows[row].previous;
	struct change *changes = NULL;
	size_t n = 0;
	int64_t sum = 0, rest = 0;

	if (!own || previous < 0)
		return;
	const struct jnode *before = jnode_get(report->rows[previous].image, "growth");
	add_changes(own, own, before, &changes, &n);
	if (before)
		add_changes(before, own, before, &changes, &n);
	if (n)
		qsort(changes, n, sizeof(*changes), by_weight);
	struct section_table *table = section_add(out, xasprintf("Functions of %s that changed, against %s",
								 report->rows[row].variant, report->rows[previous].variant));
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		strlist_add(&table->columns, columns[i]);
	for (size_t i = 0; i < n; i++) {
		int64_t bytes = changes[i].after - changes[i].before;
		sum += bytes;
		if (i >= FUNCTIONS_SHOWN) {
			rest += bytes;
			continue;
		}
		strlist_add(&table->cells, changes[i].name);
		strlist_addf(&table->cells, "%lld", (long long)changes[i].before);
		strlist_addf(&table->cells, "%lld", (long long)changes[i].after);
		strlist_addf(&table->cells, "%+lld", (long long)bytes);
	}
	if (n > FUNCTIONS_SHOWN)
		strlist_addf(&table->notes, "%zu more: %+lld", n - FUNCTIONS_SHOWN, (long long)rest);
	strlist_addf(&table->notes, "all %zu: %+lld", n, (long long)sum);
	free(changes);
}

static void fill(const struct report *report, struct section *out)
{
	fill_objects(report, out);
	for (size_t row = 0; row < report->n_rows; row++)
		if (first_of_image(report, row))
			fill_functions(report, row, out);
}

const struct report_section report_section_sizes = { "sizes",
						     "text, data and bss of vmlinux and objects, and functions that changed",
						     fill };
