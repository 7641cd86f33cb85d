/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/qemu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "device/child.h"
#include "device/initrd.h"
#include "device/settings.h"

#define VERSION_TIMEOUT_MS 10000
#define BYTES_PER_KIB 1024

struct qemu_boot {
	struct child child;
	char *initrd;
	char *disk; /* its file; NULL = the machine has none */
};

static char *qemu_check(const struct device_context *context)
{
	const char *program = context->profile->qemu.program;

	if (!proc_find(program))
		return xasprintf("%s is not installed", program);
	if (!context->agent_arm64 || !file_is_regular(context->agent_arm64))
		return xasprintf("there is no arm64 agent at %s", context->agent_arm64 ? context->agent_arm64 : "(no path)");
	return xstrdup("");
}

/* Raised when the arguments or the ramdisk's layout change: what was measured with the old ones is then measured again. */
#define ARGUMENTS_RECIPE 1

/* A QEMU that was built without plugins does not know the option. */
static struct error *qemu_can_count(const struct device_context *context, bool *can_out)
{
	const struct qemu_settings *qemu = &context->profile->qemu;
	const char *const argv[] = { qemu->program, "-help", NULL };
	const struct proc_spec spec = { .argv = argv,
					.deadline_ms = clock_deadline(VERSION_TIMEOUT_MS),
					.guard = context->guard };
	AUTO_STRBUF out = STRBUF_INIT;

	if (!context->profile->exact || !file_is_regular(context->tcg_plugin))
		return NULL;
	struct error *error = proc_run_ok(&spec, ERROR_LAB, &out);
	if (!error)
		*can_out = strstr(strbuf_str(&out), "\n-plugin ") != NULL;
	return error;
}

static struct error *qemu_version(const struct device_context *context, char **version_out)
{
	const char *const argv[] = { context->profile->qemu.program, "--version", NULL };
	const struct proc_spec spec = { .argv = argv,
					.deadline_ms = clock_deadline(VERSION_TIMEOUT_MS),
					.guard = context->guard };
	AUTO_STRBUF out = STRBUF_INIT;

	struct error *error = proc_run_ok(&spec, ERROR_LAB, &out);
	if (error)
		return error;
	const char *text = strbuf_str(&out);
	*version_out = xasprintf("%.*s; arguments %d", (int)strcspn(text, "\r\n"), text, ARGUMENTS_RECIPE);
	return NULL;
}

static void add_pair(struct strlist *argv, const char *option, const char *value)
{
	strlist_add(argv, option);
	strlist_add(argv, value);
}

/* QEMU takes two commas within a value for one. */
static void add_escaped(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		strbuf_adds(out, *text == ',' ? ",," : (char[]){ *text, '\0' });
}

/* The plugin does not change what the guest does: it is no part of what makes boots comparable. */
static void add_plugin(const char *plugin, const char *counts_path, struct strlist *argv)
{
	AUTO_STRBUF value = STRBUF_INIT;

	add_escaped(&value, plugin);
	strbuf_adds(&value, ",out=");
	add_escaped(&value, counts_path);
	add_pair(argv, "-plugin", strbuf_str(&value));
}

void qemu_arguments(const struct profile *profile, const struct nuisance *nuisance, const char *kernel_file,
		    const char *initrd_file, const char *cmdline, struct strlist *argv)
{
	const struct qemu_settings *qemu = &profile->qemu;
	uint64_t memory = nuisance && nuisance->memory ? nuisance->memory : qemu->memory;
	AUTO_FREE char *smp = xasprintf("%u", qemu->smp);
	AUTO_FREE char *memory_kib = xasprintf("%" PRIu64 "K", memory / BYTES_PER_KIB);

	strlist_add(argv, qemu->program);
	/* Nothing of the user's configuration, no default network card (it needs a firmware file), no display, no monitor. */
	strlist_add(argv, "-no-user-config");
	strlist_add(argv, "-nodefaults");
	add_pair(argv, "-display", "none");
	add_pair(argv, "-serial", "stdio");
	strlist_add(argv, "-no-reboot");
	add_pair(argv, "-M", qemu->machine);
	add_pair(argv, "-cpu", qemu->cpu);
	add_pair(argv, "-smp", smp);
	add_pair(argv, "-m", memory_kib);
	if (qemu->icount)
		add_pair(argv, "-icount", qemu->icount);
	/* The guest's clocks start at the same moment each time and go with its own time; what QEMU draws is always the same. */
	add_pair(argv, "-rtc", "base=2026-01-01T00:00:00,clock=vm");
	add_pair(argv, "-seed", "1");
	add_pair(argv, "-kernel", kernel_file);
	add_pair(argv, "-initrd", initrd_file);
	add_pair(argv, "-append", cmdline);
}

/* The same size as the profile says, but it occupies only what the guest writes. */
static struct error *make_disk(const char *path, uint64_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && !ftruncate(fd, (off_t)bytes);
	int reason = errno;

	if (fd >= 0)
		close(fd);
	return good ? NULL : error_os(reason, "cannot make %s", path);
}

/* What is in it is of no use after the boot: nothing is flushed. */
static void add_disk(const struct qemu_boot *state, struct strlist *argv)
{
	AUTO_FREE char *drive = xasprintf("if=none,id=disk,format=raw,cache=unsafe,file=%s", state->disk);

	add_pair(argv, "-drive", drive);
	add_pair(argv, "-device", "virtio-blk-device,drive=disk");
}

static struct error *qemu_deploy(struct lane_boot *boot)
{
	const struct qemu_settings *qemu = &boot->context->profile->qemu;
	/* Without icount QEMU has no counter of instructions, and its time is that of the translator: amounts alone are left. */
	const struct settings settings = { .counter = qemu->icount ? "pmu" : "none",
					   .finish = "poweroff",
					   .profile = boot->context->profile };
	struct qemu_boot *state = xcalloc(1, sizeof(*state));
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_STRBUF initrd = STRBUF_INIT;

	child_init(&state->child, qemu->program, boot->dir);
	state->initrd = path_join(boot->dir, "initrd");
	boot->state = state;
	if (!boot->request->kernel_file)
		return error_new(ERROR_LAB, "there is no Image to boot");
	settings_write(&settings, boot->request, &text);
	if (boot->request->counts_path)
		unlink(boot->request->counts_path); /* an earlier attempt's */
	struct error *error = lane_check_agent(boot->context, boot->context->agent_arm64);
	if (!error && qemu->disk) {
		state->disk = path_join(boot->dir, "disk");
		error = make_disk(state->disk, qemu->disk);
	}
	if (!error)
		error = initrd_build(boot->context->agent_arm64, strbuf_str(&text), boot->request->archives, &initrd);
	if (error)
		return error;
	return file_write_atomic(state->initrd, initrd.data, initrd.len, 0644);
}

static struct error *qemu_boot(struct lane_boot *boot)
{
	struct qemu_boot *state = boot->state;
	AUTO_STRLIST argv = { NULL, 0 };
	int console[2];

	if (pipe2(console, O_CLOEXEC) < 0)
		return error_os(errno, "cannot make a pipe");
	qemu_arguments(boot->context->profile, boot->request->nuisance, boot->request->kernel_file, state->initrd, boot->cmdline,
		       &argv);
	if (boot->request->counts_path)
		add_plugin(boot->context->tcg_plugin, boot->request->counts_path, &argv);
	if (state->disk)
		add_disk(state, &argv);
	return child_start(&state->child, &argv, console);
}

static struct error *qemu_console(struct lane_boot *boot, int *fd_out)
{
	const struct qemu_boot *state = boot->state;

	*fd_out = state->child.console_fd;
	return NULL;
}

static void qemu_power(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out)
{
	struct qemu_boot *state = boot->state;

	child_end(&state->child, grace_ms, ending_out);
	if (state->disk)
		unlink(state->disk);
	free(state->disk);
	free(state->initrd);
	free(state);
}

const struct lane_ops qemu_lane_ops = {
	.boot_id_repeats = true,
	.check = qemu_check,
	.version = qemu_version,
	.can_count = qemu_can_count,
	.deploy = qemu_deploy,
	.boot = qemu_boot,
	.console = qemu_console,
	.power = qemu_power,
};
