/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/profile_digest.h"

#include <inttypes.h>

#include "base/hash.h"

static void hash_number(struct hash *hash, const char *label, uint64_t value)
{
	AUTO_FREE char *text = xasprintf("%" PRIu64, value);
	hash_field(hash, label, text);
}

static void hash_real(struct hash *hash, const char *label, double value)
{
	AUTO_FREE char *text = xasprintf("%.17g", value);
	hash_field(hash, label, text);
}

static void hash_noise(struct hash *hash, const struct sim_noise *noise)
{
	hash_number(hash, "seed", noise->seed);
	hash_real(hash, "sd_boot", noise->sd_boot);
	hash_real(hash, "sd_iteration", noise->sd_iteration);
	hash_real(hash, "drift", noise->drift);
	hash_real(hash, "outlier_share", noise->outlier_share);
	hash_real(hash, "outlier_size", noise->outlier_size);
	hash_real(hash, "throttle_share", noise->throttle_share);
	hash_real(hash, "throttle_size", noise->throttle_size);
	hash_real(hash, "mode_share", noise->mode_share);
	hash_real(hash, "mode_shift", noise->mode_shift);
}

static void hash_sim(struct hash *hash, const struct sim_settings *sim)
{
	if (!sim->exact)
		hash_noise(hash, &sim->noise);
	for (size_t i = 0; i < sim->n_models; i++) {
		hash_field(hash, "model", sim->models[i].variant);
		hash_field(hash, "metric", sim->models[i].metric);
		hash_real(hash, "value", sim->models[i].value);
	}
	for (size_t i = 0; i < sim->n_faults; i++) {
		hash_field(hash, "fault", sim->faults[i].variant);
		hash_field(hash, "what", sim->faults[i].what);
		hash_number(hash, "block", (uint64_t)sim->faults[i].block);
		hash_number(hash, "attempt", (uint64_t)sim->faults[i].attempt);
	}
}

char *profile_digest(const struct profile *profile)
{
	struct hash *hash = hash_new();
	hash_field(hash, "kind", profile->kind == DEVICE_SIM ? "sim" : "qemu");
	hash_field(hash, "cmdline", profile->cmdline);
	hash_field(hash, "image", profile->needs_image ? "kernel" : "none");
	hash_field(hash, "exact", profile->exact ? "1" : "0");
	for (size_t i = 0; i < profile->n_nuisances; i++) {
		hash_number(hash, "pad", profile->nuisances[i].pad);
		hash_number(hash, "memory", profile->nuisances[i].memory);
		hash_number(hash, "region_offset", profile->nuisances[i].region_offset);
	}
	if (profile->kind == DEVICE_QEMU) {
		hash_field(hash, "program", profile->qemu.program);
		hash_field(hash, "machine", profile->qemu.machine);
		hash_field(hash, "cpu", profile->qemu.cpu);
		hash_field(hash, "icount", profile->qemu.icount);
		hash_number(hash, "memory", profile->qemu.memory);
		hash_number(hash, "smp", profile->qemu.smp);
	} else {
		hash_sim(hash, &profile->sim);
	}
	char hex[HASH_HEX_SIZE];
	hash_finish(hash, hex);
	return xstrdup(hex);
}
