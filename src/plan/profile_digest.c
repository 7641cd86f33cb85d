/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/profile_digest.h"

#include <inttypes.h>

#include "base/hash.h"
#include "plan/profile_parts.h"

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

static void hash_qemu(struct hash *hash, const struct qemu_settings *qemu)
{
	hash_field(hash, "program", qemu->program);
	hash_field(hash, "machine", qemu->machine);
	hash_field(hash, "cpu", qemu->cpu);
	hash_field(hash, "icount", qemu->icount);
	hash_number(hash, "memory", qemu->memory);
	hash_number(hash, "smp", qemu->smp);
	if (qemu->disk)
		hash_number(hash, "disk", qemu->disk);
}

char *profile_digest(const struct profile *profile)
{
	struct hash *hash = hash_new();
	hash_field(hash, "kind", device_kind_name(profile->kind));
	hash_field(hash, "cmdline", profile->cmdline);
	hash_field(hash, "image", profile->needs_image ? "kernel" : "none");
	hash_field(hash, "exact", profile->exact ? "1" : "0");
	profile_events_hash(profile, hash);
	for (size_t i = 0; i < profile->n_nuisances; i++) {
		hash_number(hash, "pad", profile->nuisances[i].pad);
		hash_number(hash, "memory", profile->nuisances[i].memory);
		hash_number(hash, "region_offset", profile->nuisances[i].region_offset);
	}
	switch (profile->kind) {
	case DEVICE_QEMU:
		hash_qemu(hash, &profile->qemu);
		if (environment_asks(&profile->environment))
			profile_environment_hash(&profile->environment, hash);
		break;
	case DEVICE_SIM:
		hash_sim(hash, &profile->sim);
		break;
	case DEVICE_FASTBOOT:
		hash_field(hash, "stock", profile->stock ? "1" : "0");
		profile_fastboot_hash(&profile->fastboot, hash);
		profile_environment_hash(&profile->environment, hash);
		break;
	case DEVICE_COMMAND:
		profile_command_hash(&profile->command, hash);
		profile_environment_hash(&profile->environment, hash);
		break;
	}
	char hex[HASH_HEX_SIZE];
	hash_finish(hash, hex);
	return xstrdup(hex);
}
