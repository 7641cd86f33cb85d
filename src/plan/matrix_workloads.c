/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `workloads`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plan/keys.h"
#include "plan/matrix_parts.h"
#include "plan/needs.h"

struct workload_entry {
	const struct yaml_node *run;
};

/* Its other keys are options of the workload's kind. */
static const struct bind_field workload_fields[] = {
	BIND("run", BIND_ANY, struct workload_entry, run),
};
const struct bind_table workload_keys = { "workload", workload_fields, ARRAY_SIZE(workload_fields), true };

/* All options that a workload of this kind takes: option i. */
static const struct workload_option *kind_option(const struct workload_kind *kind, size_t i)
{
	return i < kind->n_options ? &kind->options[i] : &workload_common_options[i - kind->n_options];
}

static size_t kind_n_options(const struct workload_kind *kind)
{
	return kind->n_options + workload_n_common_options;
}

/* A word, or "block:" and a disk's name, which only the device knows. */
static char *disk_value(struct matrix_loader *loader, const struct workload_option *option, const struct yaml_node *node,
			const char *what)
{
	if (!bind_expect_text(node, what, &loader->errors))
		return NULL;
	if (workload_value_ok(option, node->text))
		return xstrdup(node->text);
	AUTO_NAMES names = { 0 };
	for (const char *const *word = option->words; *word; word++)
		bind_names_add(&names, *word, NO_POS);
	AUTO_FREE char *list = bind_list_text(names.names, names.n);
	error_join(&loader->errors, error_at(node->pos, "%s must be one of %s, block:PARTITION, block:/dev/NODE, not '%s'", what,
					     list, node->text));
	return NULL;
}

static char *text_value(struct matrix_loader *loader, const struct workload_option *option, const struct yaml_node *node,
			const char *what)
{
	if (!bind_expect_text(node, what, &loader->errors))
		return NULL;
	if (workload_value_ok(option, node->text))
		return xstrdup(node->text);
	error_join(&loader->errors, error_at(node->pos, "%s must be a text of %" PRIu64 " to %" PRIu64 " bytes on one line", what,
					     option->min, option->max));
	return NULL;
}

/* The value in the agent's canonical form, which the caller frees; NULL with an error. */
static char *option_value(struct matrix_loader *loader, const struct workload_option *option, const struct yaml_node *node,
			  const char *what)
{
	static const enum bind_type types[] = {
		[OPTION_SIZE] = BIND_SIZE,
		[OPTION_COUNT] = BIND_COUNT,
		[OPTION_WORD] = BIND_WORD,
		[OPTION_BOOL] = BIND_BOOL,
	};
	union {
		uint64_t number;
		int word;
		bool flag;
	} value;
	if (option->type == OPTION_DISK)
		return disk_value(loader, option, node, what);
	if (option->type == OPTION_TEXT)
		return text_value(loader, option, node, what);
	struct bind_field field = {
		.key = option->name,
		.type = types[option->type],
		.size = sizeof(value.number),
		.words = option->words,
		.min = (double)option->min,
		.max = (double)option->max,
	};
	if (!bind_value(node, &field, what, &value, &loader->errors))
		return NULL;
	if (option->type == OPTION_WORD)
		return xstrdup(option->words[value.word]);
	if (option->type == OPTION_BOOL)
		return xstrdup(value.flag ? "1" : "0");
	return xasprintf("%" PRIu64, value.number);
}

static struct error *unknown_option(const struct yaml_pair *pair, const struct workload_kind *kind, const char *where)
{
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < kind_n_options(kind); i++)
		bind_names_add(&names, kind_option(kind, i)->name, NO_POS);
	bind_names_add(&names, "run", NO_POS);
	const char *meant = str_suggest(pair->key, names.names, names.n);
	AUTO_FREE char *list = bind_list_text(names.names, names.n);
	if (meant)
		return error_at(pair->key_pos, "unknown key '%s' in %s (did you mean '%s'?)", pair->key, where, meant);
	return error_at(pair->key_pos, "unknown key '%s' in %s (known for %s: %s)", pair->key, where, kind->name, list);
}

static void read_option(struct matrix_loader *loader, struct workload *workload, const struct yaml_pair *pair, const char *where)
{
	for (size_t i = 0; i < kind_n_options(workload->kind); i++) {
		const struct workload_option *option = kind_option(workload->kind, i);
		if (strcmp(option->name, pair->key) != 0)
			continue;
		AUTO_FREE char *what = xasprintf("'%s' of %s", pair->key, where);
		char *value = option_value(loader, option, pair->value, what);
		if (value) {
			free(workload->values[i]);
			workload->values[i] = value;
		}
		return;
	}
	error_join(&loader->errors, unknown_option(pair, workload->kind, where));
}

static const struct workload_kind *find_kind(struct matrix_loader *loader, const struct yaml_node *node)
{
	if (!node)
		return workload_find("pft");
	if (!bind_expect_text(node, "'run'", &loader->errors))
		return NULL;
	const struct workload_kind *kind = workload_find(node->text);
	if (kind)
		return kind;
	AUTO_NAMES names = { 0 };
	for (size_t i = 0; i < workload_n_kinds; i++)
		bind_names_add(&names, workload_kinds[i]->name, NO_POS);
	error_join(&loader->errors, bind_unknown_name(node->pos, "workload", node->text, &names, "none is known"));
	return NULL;
}

/* Labels are the first part of a metric's name, in records of the agent too. */
static void check_label(struct matrix_loader *loader, const struct yaml_pair *pair, size_t index)
{
	if (!bind_check_name(pair->key, pair->key_pos, "the name of a workload", &loader->errors))
		return;
	if (strchr(pair->key, '.') || strlen(pair->key) > 32)
		error_join(&loader->errors,
			   error_at(pair->key_pos, "the label of a workload has no '.' and at most 32 characters"));
	for (size_t i = 0; i < index; i++) {
		const struct yaml_pair *other = &loader->workloads->pairs[i];
		if (strcasecmp(other->key, pair->key) != 0 || strcmp(other->key, pair->key) == 0)
			continue;
		struct error *error =
			error_at(pair->key_pos, "labels '%s' and '%s' collide: they differ in case alone", other->key, pair->key);
		error_note(error, other->key_pos, "the other is here");
		error_join(&loader->errors, error);
		return;
	}
}

static void read_workload(struct matrix_loader *loader, const struct yaml_pair *pair)
{
	struct matrix *matrix = loader->matrix;
	AUTO_FREE char *where = xasprintf("workload '%s'", pair->key);
	struct workload_entry entry = { NULL };
	if (!bind_mapping(pair->value, &workload_keys, where, &entry, &loader->errors))
		return;
	const struct workload_kind *kind = find_kind(loader, entry.run);
	if (!kind)
		return;
	size_t n = kind_n_options(kind);
	struct workload *workload = &matrix->workloads[matrix->n_workloads++];
	*workload = (struct workload){
		.label = xstrdup(pair->key), .kind = kind, .values = xcalloc(n + 1, sizeof(char *)), .pos = pair->key_pos
	};
	for (size_t i = 0; i < n; i++)
		workload->values[i] = xstrdup(workload_fallback(kind, kind_option(kind, i)));
	for (size_t i = 0; i < pair->value->n; i++) {
		if (strcmp(pair->value->pairs[i].key, "run") != 0)
			read_option(loader, workload, &pair->value->pairs[i], where);
	}
	const char *conflict = kind->conflict ? kind->conflict((const char *const *)workload->values) : NULL;
	if (conflict)
		error_join(&loader->errors, error_at(pair->value->pos, "%s: %s", where, conflict));
}

/* A disk's interrupts come in the host's time: what waits for one does not repeat itself. */
static void check_disks(struct matrix_loader *loader, const struct workload *workload, const struct target *target)
{
	const struct device *device = target->device;
	if (!device || !device->profile->exact || device->profile->kind != DEVICE_QEMU)
		return;
	for (size_t i = 0; i < workload->kind->n_options; i++) {
		const struct workload_option *option = &workload->kind->options[i];
		if (option->type != OPTION_DISK || !workload_is_block(workload->values[i]))
			continue;
		error_join(&loader->errors,
			   error_at(workload->pos,
				    "workload '%s' with %s: %s on device '%s', which is exact: a disk of QEMU's answers in the "
				    "host's time, so that counts do not repeat themselves; use a disk in memory, or a device "
				    "that is not exact",
				    workload->label, option->name, workload->values[i], device->name));
	}
}

/* Two processors side by side, or no icount: QEMU counts no instructions, and the time in it is that of its translator. */
static void check_amounts(struct matrix_loader *loader, const struct workload *workload, const struct target *target)
{
	const struct device *device = target->device;
	if (!device || device->profile->kind != DEVICE_QEMU || device->profile->qemu.icount)
		return;
	for (size_t i = 0; i < workload->kind->n_metrics; i++) {
		if (workload_is_amount(&workload->kind->metrics[i]))
			return;
	}
	error_join(&loader->errors,
		   error_at(workload->pos,
			    "workload '%s' (%s) reports instructions and times alone, and device '%s' has neither: QEMU without "
			    "icount counts no instructions, and its time is no metric; set qemu: {icount: ...}, or use 'exec' "
			    "or 'selftest' there",
			    workload->label, workload->kind->name, device->name));
}

/* Programs from the measured tree: there must be one, and a way to the device. */
static void check_tree(struct matrix_loader *loader, const struct workload *workload, const struct target *target)
{
	const struct device *device = target->device;
	if (!workload->kind->needs_tree || !device)
		return;
	if (!device->profile->needs_image || !needs_carries_files(device->profile))
		error_join(
			&loader->errors,
			error_at(workload->pos,
				 "workload '%s' runs programs that are built from the kernel's tree, which cannot be brought to "
				 "device '%s': it %s",
				 workload->label, device->name,
				 device->profile->needs_image ? "does not boot our RAM disk" : "boots no kernel of ours"));
}

static void check_source(struct matrix_loader *loader, const struct workload *workload)
{
	for (size_t i = 0; workload->kind->needs_tree && i < loader->matrix->n_kernels; i++) {
		const struct kernel *kernel = &loader->matrix->kernels[i];
		if (kernel->kind != KERNEL_PREBUILT)
			continue;
		struct error *error = error_at(workload->pos,
					       "workload '%s' runs programs that are built from the kernel's tree, and kernel "
					       "'%s' is prebuilt",
					       workload->label, kernel->name);
		error_note(error, kernel->pos, "the kernel is declared here");
		error_join(&loader->errors, error);
	}
}

/* The memory controller is on one hierarchy in a boot. */
static void check_hierarchy(struct matrix_loader *loader, const struct workload *first, const struct workload *second)
{
	const char *one = first->values[first->kind->n_options + COMMON_HIERARCHY];
	const char *other = second->values[second->kind->n_options + COMMON_HIERARCHY];
	if (!strcmp(one, "auto") || !strcmp(other, "auto") || !strcmp(one, other))
		return;
	struct error *error = error_at(second->pos,
				       "workload '%s' asks for hierarchy %s and '%s' for %s: a boot has one, so "
				       "they need matrices of their own",
				       second->label, other, first->label, one);
	error_note(error, first->pos, "the other is here");
	error_join(&loader->errors, error);
}

static void check_workload(struct matrix_loader *loader, size_t index)
{
	const struct matrix *matrix = loader->matrix;
	check_source(loader, &matrix->workloads[index]);
	for (size_t i = 0; i < matrix->n_targets; i++) {
		check_disks(loader, &matrix->workloads[index], &matrix->targets[i]);
		check_amounts(loader, &matrix->workloads[index], &matrix->targets[i]);
		check_tree(loader, &matrix->workloads[index], &matrix->targets[i]);
	}
	for (size_t i = 0; i < index; i++)
		check_hierarchy(loader, &matrix->workloads[i], &matrix->workloads[index]);
}

void matrix_read_workloads(struct matrix_loader *loader)
{
	if (!loader->workloads)
		return;
	size_t n = loader->workloads->n;
	if (!n)
		error_join(&loader->errors, error_at(loader->workloads->pos, "'workloads' names none"));
	loader->matrix->workloads = xcalloc(n + 1, sizeof(*loader->matrix->workloads));
	for (size_t i = 0; i < n; i++) {
		check_label(loader, &loader->workloads->pairs[i], i);
		read_workload(loader, &loader->workloads->pairs[i]);
	}
	for (size_t i = 0; i < loader->matrix->n_workloads; i++)
		check_workload(loader, i);
}
