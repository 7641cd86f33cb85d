/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a boot's numbers depend on, as text and as digests. */
#ifndef RUN_VALIDITY_H
#define RUN_VALIDITY_H

#include "base/hash.h"
#include "device/device.h"
#include "plan/plan.h"

/* The workload part of the agent's settings (agent/conf.h); the caller frees. */
char *workload_settings(const struct matrix *matrix);

struct validity_input {
	const char *image_key; /* NULL on a device without images: the row's name stands in */
	const char *variant; /* the row's name */
	const char *cmdline; /* device's + variant's, without padding */
	const char *profile_digest;
	const char *device_version;
	const char *agent_sha256;
	const char *workloads;
	const char *selftests; /* their key; NULL or "" = no workload runs them */
	const char *payload; /* sha256 of what goes to the device besides; NULL or "" = nothing */
	const struct nuisance *nuisance; /* or NULL */
	const char *counted_by; /* sha256 of the plugin that counts this boot's blocks; NULL = they are not counted */
	enum memcg_state memcg; /* counts on a device without images; elsewhere it follows from the image and the command line */
};
void validity_digest(const struct validity_input *input, char hex_out[HASH_HEX_SIZE]);

/* The state that memory cgroups must be in: from the resolved .config text (NULL: from the fragment's requests) and the command line. */
enum memcg_state expected_memcg(const char *config_text, const struct fragment *fragment, const char *cmdline);

#endif
