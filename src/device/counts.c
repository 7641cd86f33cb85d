/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define HEAD "memcg-ab-blocks 1"
#define PHASE "phase "
#define TROUBLE "trouble "

/* The next number of a line, up to a space or its end; false when there is none. */
static bool next_number(char **rest, int base, uint64_t *number_out)
{
	char *word = strsep(rest, " "), *end = NULL;

	if (!word || !*word || strspn(word, base == 16 ? "0123456789abcdef" : "0123456789") != strlen(word))
		return false;
	errno = 0;
	unsigned long long number = strtoull(word, &end, base);
	*number_out = number;
	return !errno && !*end;
}

static bool read_phase(char *rest, struct device_counts *counts)
{
	char *workload = strsep(&rest, " "), *phase = strsep(&rest, " ");
	uint64_t iterations, operations;

	if (!phase || !*workload || !*phase || !next_number(&rest, 10, &iterations) || !next_number(&rest, 10, &operations) ||
	    rest)
		return false;
	counts->phases = array_grow(counts->phases, counts->n, sizeof(*counts->phases));
	counts->phases[counts->n++] = (struct counted_phase){
		.workload = xstrdup(workload), .phase = xstrdup(phase), .iterations = iterations, .operations = operations
	};
	return true;
}

static bool read_block(char *rest, struct device_counts *counts)
{
	struct counted_phase *phase = counts->n ? &counts->phases[counts->n - 1] : NULL;
	struct counted_block block;

	if (!phase || !next_number(&rest, 16, &block.address) || !next_number(&rest, 10, &block.n) ||
	    !next_number(&rest, 10, &block.insns) || rest || !block.n)
		return false;
	phase->blocks = array_grow(phase->blocks, phase->n, sizeof(*phase->blocks));
	phase->blocks[phase->n++] = block;
	return true;
}

static struct error *read_lines(char *text, const char *name, struct device_counts *counts)
{
	char *rest = text, *line = strsep(&rest, "\n");

	if (strcmp(line, HEAD) != 0)
		return error_new(ERROR_LAB, "%s is not what the plugin writes", name);
	for (size_t number = 2; (line = strsep(&rest, "\n")); number++) {
		if (!rest)
			break; /* the last line has no end */
		if (!strcmp(line, "end"))
			return NULL;
		if (str_starts(line, TROUBLE))
			return error_new(ERROR_LAB, "the plugin in QEMU could not count: %s", line + strlen(TROUBLE));
		bool good = str_starts(line, PHASE) ? read_phase(line + strlen(PHASE), counts) : read_block(line, counts);
		if (!good)
			return error_new(ERROR_LAB, "%s:%zu: this line cannot be read", name, number);
	}
	return error_new(ERROR_LAB, "%s is cut off", name);
}

struct error *device_counts_parse(const char *text, const char *name, struct device_counts *counts_out)
{
	AUTO_FREE char *copy = xstrdup(text);
	struct device_counts counts = { NULL, 0 };
	struct error *error = read_lines(copy, name, &counts);

	if (error)
		device_counts_deinit(&counts);
	else
		*counts_out = counts;
	return error;
}

struct error *device_counts_read(const char *path, struct device_counts *counts_out)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = file_read(path, &text);

	return error ? error_wrap(error, "the plugin in QEMU left nothing")
		     : device_counts_parse(strbuf_str(&text), path, counts_out);
}

void device_counts_deinit(struct device_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++) {
		free(counts->phases[i].workload);
		free(counts->phases[i].phase);
		free(counts->phases[i].blocks);
	}
	free(counts->phases);
	*counts = (struct device_counts){ NULL, 0 };
}
