/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/validity.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/config.h"

char *workload_settings(const struct matrix *matrix)
{
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < matrix->n_workloads; i++) {
		const struct workload *workload = &matrix->workloads[i];
		size_t own = workload->kind->n_options;
		strbuf_addf(&out, "workload=%s\nrun=%s\n", workload->label, workload->kind->name);
		for (size_t k = 0; k < own; k++)
			strbuf_addf(&out, "%s=%s\n", workload->kind->options[k].name, workload->values[k]);
		for (size_t k = 0; k < workload_n_common_options; k++)
			strbuf_addf(&out, "%s=%s\n", workload_common_options[k].name, workload->values[own + k]);
	}
	return strbuf_steal(&out);
}

void validity_digest(const struct validity_input *input, char hex_out[HASH_HEX_SIZE])
{
	struct hash *hash = hash_new();
	const struct nuisance none = { 0, 0, 0 };
	const struct nuisance *nuisance = input->nuisance ? input->nuisance : &none;
	AUTO_FREE char *nuisances = xasprintf("%u %llu %llu", nuisance->pad, (unsigned long long)nuisance->memory,
					      (unsigned long long)nuisance->region_offset);

	hash_field(hash, "image", input->image_key);
	hash_field(hash, "variant", input->image_key ? NULL : input->variant);
	hash_field(hash, "cmdline", input->cmdline);
	hash_field(hash, "profile", input->profile_digest);
	hash_field(hash, "device", input->device_version);
	hash_field(hash, "agent", input->agent_sha256);
	hash_field(hash, "workloads", input->workloads);
	/* Only where there are some: other boots stay what they were before there were such workloads. */
	if (input->selftests && *input->selftests)
		hash_field(hash, "selftests", input->selftests);
	if (input->payload && *input->payload)
		hash_field(hash, "payload", input->payload);
	hash_field(hash, "nuisance", nuisances);
	hash_field(hash, "memcg", input->image_key ? NULL : memcg_state_name(input->memcg));
	if (input->counted_by)
		hash_field(hash, "counted by", input->counted_by);
	hash_finish(hash, hex_out);
}

/* cgroup_disable= is a comma list, may be repeated, and all occurrences add up; what follows " -- " is for init. */
static bool memory_disabled(const char *cmdline)
{
	AUTO_FREE char *copy = xstrdup(cmdline);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " "))) {
		if (!strcmp(word, "--"))
			return false;
		if (!str_starts(word, "cgroup_disable="))
			continue;
		char *list = word + strlen("cgroup_disable="), *name;
		while ((name = strsep(&list, ",")))
			if (!strcmp(name, "memory"))
				return true;
	}
	return false;
}

static bool fragment_wants(const struct fragment *fragment, const char *name)
{
	bool wants = false;

	for (size_t i = 0; fragment && i < fragment->n; i++)
		if (!strcmp(fragment->requests[i].name, name))
			wants = !strcmp(fragment->requests[i].value, "y");
	return wants;
}

enum memcg_state expected_memcg(const char *config_text, const struct fragment *fragment, const char *cmdline)
{
	bool built = false;

	if (config_text) {
		AUTO_FREE char *value = config_value(config_text, "MEMCG");
		built = !strcmp(value, "y");
	} else {
		built = fragment_wants(fragment, "MEMCG");
	}
	if (!built)
		return MEMCG_NONE;
	return memory_disabled(cmdline) ? MEMCG_DISABLED : MEMCG_ON;
}
