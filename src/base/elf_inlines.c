/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/elf_inlines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/elf.h"
#include "base/elf_internal.h"

#define NO_PARENT SIZE_MAX
/* No compiler nests blocks like that; a damaged file might. */
#define DEPTH_MAX 200

/* One function inlined at one place. */
struct instance {
	const char *name; /* within the debug information */
	size_t parent; /* the instance that it was inlined into */
};

/* Addresses [start, end) of an instance. */
struct range {
	uint64_t start, end;
	size_t instance;
	size_t order; /* of two equal ranges the later is within the earlier */
};

struct elf_inlines {
	int fd;
	Elf *elf;
	Dwarf *dwarf; /* NULL: the file has none */
	struct instance *instances;
	size_t n_instances;
	struct range *ranges; /* while the file is read: as they stand there; then: sorted, disjoint, of the innermost instance */
	size_t n_ranges;
};

static struct error *add_ranges(struct elf_inlines *inlines, Dwarf_Die *die, const char *path)
{
	Dwarf_Addr base = 0, start = 0, end = 0;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end)
			continue;
		inlines->ranges = array_grow(inlines->ranges, inlines->n_ranges, sizeof(*inlines->ranges));
		inlines->ranges[inlines->n_ranges] = (struct range){ start, end, inlines->n_instances - 1, inlines->n_ranges };
		inlines->n_ranges++;
	}
	return at < 0 ? error_new(ERROR_KERNEL, "cannot read the debug information of %s: %s", path, dwarf_errmsg(-1)) : NULL;
}

static struct error *add_instance(struct elf_inlines *inlines, Dwarf_Die *die, size_t parent, const char *path)
{
	const char *name = dwarf_diename(die);

	inlines->instances = array_grow(inlines->instances, inlines->n_instances, sizeof(*inlines->instances));
	inlines->instances[inlines->n_instances++] = (struct instance){ name ? name : "(unnamed)", parent };
	return add_ranges(inlines, die, path);
}

static struct error *read_children(struct elf_inlines *inlines, Dwarf_Die *parent_die, size_t parent, int depth, const char *path)
{
	struct error *error = NULL;
	Dwarf_Die die;

	if (depth > DEPTH_MAX)
		return error_new(ERROR_KERNEL, "the debug information of %s is nested too deeply", path);
	int next = dwarf_child(parent_die, &die);
	for (; !error && next == 0; next = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);
		size_t inside = parent;
		if (tag != DW_TAG_subprogram && tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine)
			continue;
		if (tag == DW_TAG_inlined_subroutine) {
			error = add_instance(inlines, &die, parent, path);
			inside = inlines->n_instances - 1;
		}
		if (!error)
			error = read_children(inlines, &die, inside, depth + 1, path);
	}
	if (!error && next < 0)
		error = error_new(ERROR_KERNEL, "cannot read the debug information of %s: %s", path, dwarf_errmsg(-1));
	return error;
}

static struct error *read_units(struct elf_inlines *inlines, const char *path)
{
	struct error *error = NULL;
	Dwarf_CU *unit = NULL;
	int next = 0;

	while (!error) {
		Dwarf_Die die;
		next = dwarf_get_units(inlines->dwarf, unit, &unit, NULL, NULL, &die, NULL);
		if (next != 0)
			break;
		error = read_children(inlines, &die, NO_PARENT, 0, path);
	}
	if (!error && next < 0)
		error = error_new(ERROR_KERNEL, "cannot read the debug information of %s: %s", path, dwarf_errmsg(-1));
	return error;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *one = a, *two = b;

	if (one->start != two->start)
		return one->start < two->start ? -1 : 1;
	if (one->end != two->end)
		return one->end > two->end ? -1 : 1;
	return one->order < two->order ? -1 : one->order > two->order;
}

/* Ranges that are open at a place, the innermost last, and the disjoint ones made of what came before it. */
struct flattening {
	struct range *open;
	size_t n_open;
	struct range *flat;
	size_t n_flat;
	uint64_t done; /* all below is in `flat` */
};

static void flatten_to(struct flattening *state, uint64_t end)
{
	const struct range *inner = &state->open[state->n_open - 1];

	if (state->done >= end)
		return;
	state->flat = array_grow(state->flat, state->n_flat, sizeof(*state->flat));
	state->flat[state->n_flat++] = (struct range){ .start = state->done, .end = end, .instance = inner->instance };
	state->done = end;
}

static void close_until(struct flattening *state, uint64_t at)
{
	for (; state->n_open && state->open[state->n_open - 1].end <= at; state->n_open--)
		flatten_to(state, state->open[state->n_open - 1].end);
}

/* Nested ranges become disjoint ones of the innermost instance. */
static void flatten(struct elf_inlines *inlines)
{
	struct flattening state = { NULL };

	if (inlines->n_ranges)
		qsort(inlines->ranges, inlines->n_ranges, sizeof(*inlines->ranges), compare_ranges);
	for (size_t i = 0; i < inlines->n_ranges; i++) {
		struct range range = inlines->ranges[i];
		close_until(&state, range.start);
		if (state.n_open) {
			flatten_to(&state, range.start);
			/* One that reaches beyond what it stands in is cut there. */
			if (range.end > state.open[state.n_open - 1].end)
				range.end = state.open[state.n_open - 1].end;
		}
		state.done = range.start;
		state.open = array_grow(state.open, state.n_open, sizeof(*state.open));
		state.open[state.n_open++] = range;
	}
	close_until(&state, UINT64_MAX);
	free(state.open);
	free(inlines->ranges);
	inlines->ranges = state.flat;
	inlines->n_ranges = state.n_flat;
}

/* libdw says no more than that it found nothing to read. */
static struct error *check_there_is_none(const char *path)
{
	AUTO_STRBUF section = STRBUF_INIT;
	struct error *error = elf_section(path, ".debug_info", &section);

	if (!error && section.len)
		error = error_new(ERROR_KERNEL, "cannot read the debug information of %s", path);
	return error;
}

struct error *elf_inlines_read(const char *path, struct elf_inlines **inlines_out)
{
	AUTO_ELF_INLINES inlines = xcalloc(1, sizeof(*inlines));

	inlines->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (inlines->fd < 0)
		return error_os(errno, "cannot open %s", path);
	struct error *error = open_elf(path, inlines->fd, &inlines->elf);
	if (error)
		return error;
	inlines->dwarf = dwarf_begin_elf(inlines->elf, DWARF_C_READ, NULL);
	error = inlines->dwarf ? read_units(inlines, path) : check_there_is_none(path);
	if (error)
		return error;
	flatten(inlines);
	*inlines_out = take_ptr(inlines);
	return NULL;
}

bool elf_inlines_any(const struct elf_inlines *inlines)
{
	return inlines->n_ranges > 0;
}

static int compare_place(const void *key, const void *item)
{
	const uint64_t address = *(const uint64_t *)key;
	const struct range *range = item;

	return address < range->start ? -1 : address >= range->end;
}

size_t elf_inlines_at(const struct elf_inlines *inlines, uint64_t address, const char *names_out[], size_t max)
{
	const struct range *range = NULL;
	size_t n = 0;

	if (inlines->n_ranges)
		range = bsearch(&address, inlines->ranges, inlines->n_ranges, sizeof(*range), compare_place);
	for (size_t at = range ? range->instance : NO_PARENT; at != NO_PARENT; at = inlines->instances[at].parent) {
		if (n < max)
			names_out[n] = inlines->instances[at].name;
		n++;
	}
	return n;
}

void elf_inlines_free(struct elf_inlines *inlines)
{
	if (!inlines)
		return;
	dwarf_end(inlines->dwarf);
	cleanup_elf(&inlines->elf);
	cleanup_close(&inlines->fd);
	free(inlines->instances);
	free(inlines->ranges);
	free(inlines);
}

void cleanup_elf_inlines(struct elf_inlines **inlines)
{
	elf_inlines_free(*inlines);
}
