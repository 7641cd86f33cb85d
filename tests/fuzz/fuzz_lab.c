/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole lab files with the profiles of tests/data, and the same bytes as a profile; run in the root of the repository. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/lab.h"
#include "plan/search.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/memcg-ab-fuzz-XXXXXX";
static char *lab_path, *profile_path;

static void remove_folder(void)
{
	error_free(file_remove_tree(folder));
}

static void must(struct error *error)
{
	if (!error)
		return;
	error_print(error, stderr);
	abort();
}

/* The profiles that the seeds name. */
static void write_profile(const char *name, const char *text)
{
	AUTO_FREE char *path = xasprintf("%s/profiles/%s", folder, name);
	must(file_write_atomic(path, text, strlen(text), 0644));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!mkdtemp(folder))
		abort();
	atexit(remove_folder);
	AUTO_FREE char *profiles = path_join(folder, "profiles");
	must(file_mkdirs(profiles));
	write_profile("phone.yaml", "kind: fastboot\nfastboot: {product: p, userspace: android, results: adb, slots: true}\n");
	write_profile("board.yaml", "kind: fastboot\nfastboot: {serial: x, product: p, console: /dev/null}\n");
	write_profile("ssh.yaml", "kind: command\ncommand: {boot: x}\n");
	write_profile("qemu.yaml", "kind: qemu\nqemu: {cpu: max, icount: shift=0}\n");
	write_profile("sim.yaml", "kind: sim\n");
	write_profile("a.config", "CONFIG_A=y\n");
	lab_path = path_join(folder, "memcg-ab.yaml");
	profile_path = path_join(folder, "profiles/own.yaml");
	return 0;
}

static void write_input(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
}

/* What the other rooms take for granted of a profile that was accepted. */
static void check_profile(const struct profile *profile)
{
	if (strlen(profile->digest) != 64 || !profile->verified || profile->boot_timeout_ms <= 0 ||
	    profile->silence_timeout_ms <= 0 || profile->run_timeout_ms <= 0 || (profile->n_nuisances > 0) != profile->exact)
		abort();
	if (profile->kind == DEVICE_COMMAND && (!profile->command.boot || !profile->command.dir))
		abort();
	if (profile->kind != DEVICE_FASTBOOT)
		return;
	const struct fastboot_settings *fastboot = &profile->fastboot;
	if (!fastboot->program || !fastboot->partition || !fastboot->start || (fastboot->serial && !fastboot->product) ||
	    fastboot->layout.header_version > 4 || (fastboot->results == RESULTS_BLOCK && !fastboot->results_partition) ||
	    (fastboot->results == RESULTS_ADB && fastboot->userspace != USERSPACE_ANDROID) ||
	    (fastboot->hooks.cycle && !fastboot->hooks.dir))
		abort();
}

static void check_error(struct error *error)
{
	if (error_exit_status(error) != 2)
		abort();
	free(error_text(error));
	error_free(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	write_input(lab_path, data, size);
	struct lab *lab = NULL;
	struct error *error = lab_load(lab_path, folder, &lab);
	if (error)
		check_error(error);
	for (size_t i = 0; lab && i < lab->n_devices; i++) {
		const struct device *device = &lab->devices[i];
		check_profile(device->profile);
		if (!device->n_units)
			abort();
		for (size_t k = 0; k < device->n_units; k++)
			check_profile(device->units[k].profile);
	}
	lab_free(lab);

	write_input(profile_path, data, size);
	const struct search search = { lab_path, folder };
	struct profile *profile = NULL;
	error = profile_load(profile_path, &search, NULL, NULL, &profile);
	if (error)
		check_error(error);
	else
		check_profile(profile);
	profile_free(profile);
	return 0;
}
