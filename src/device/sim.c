/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/sim.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/conf.h"
#include "agent/workload.h"
#include "base/file.h"
#include "base/hash.h"
#include "device/child.h"
#include "device/noise.h"
#include "device/settings.h"

/* What "runs" before each boot. */
#define BOOT_ID_BEFORE "00000000-0000-4000-8000-000000000000"
#define BUILD_ID_BYTES 20

struct sim_boot {
	struct child child;
	char *conf;
};

static const char *const agent_faults[] = { "drop-bytes", "split-lines", "hang", "panic", "die", "power-off" };

static char *sim_check(const struct device_context *context)
{
	if (!context->agent_host || access(context->agent_host, X_OK) < 0)
		return xasprintf("there is no host agent at %s", context->agent_host ? context->agent_host : "(no path)");
	return xstrdup("");
}

static struct error *sim_version(const struct device_context *context, char **version_out)
{
	(void)context;
	*version_out = xstrdup("sim 1");
	return NULL;
}

/* A glob is over a row's name; one that matches without "#CONTROL" holds for the row's controls too. */
static bool glob_matches(const char *glob, const char *row)
{
	const char *mark = strchr(row, '#');
	AUTO_FREE char *variant = xstrndup(row, mark ? (size_t)(mark - row) : strlen(row));

	return !fnmatch(glob, row, 0) || !fnmatch(glob, variant, 0);
}

bool sim_fault_applies(const struct sim_settings *sim, const struct lane_boot *boot, const char *what)
{
	for (size_t i = 0; i < sim->n_faults; i++) {
		const struct sim_fault *fault = &sim->faults[i];
		if (!strcmp(fault->what, what) && glob_matches(fault->variant, boot->request->variant) &&
		    (fault->block < 0 || (unsigned)fault->block == boot->request->block) &&
		    (fault->attempt < 0 || (unsigned)fault->attempt == boot->attempt))
			return true;
	}
	return false;
}

static bool model_applies(const struct sim_model *model, const char *variant)
{
	return glob_matches(model->variant, variant);
}

/* Whether a later model has the last word on the metric of models[i]. */
static bool model_is_overruled(const struct sim_settings *sim, size_t i, const char *variant)
{
	for (size_t later = i + 1; later < sim->n_models; later++) {
		if (!strcmp(sim->models[later].metric, sim->models[i].metric) && model_applies(&sim->models[later], variant))
			return true;
	}
	return false;
}

/* The same row in the same block draws the same numbers, whenever it is booted. `what` they are for: each has its own. */
static uint64_t seed_of(uint64_t campaign, const struct lane_boot *boot, const char *what)
{
	char hex[HASH_HEX_SIZE];
	AUTO_FREE char *text = xasprintf("%" PRIu64 "#%s#%s#%u#%s", campaign, boot->context->name, boot->request->variant,
					 boot->request->block, what);

	hash_bytes(text, strlen(text), hex);
	hex[16] = '\0';
	return strtoull(hex, NULL, 16);
}

static void write_workload_noise(const struct lane_boot *boot, const struct conf_workload *workload, struct strbuf *out)
{
	const struct boot_request *request = boot->request;
	const struct sim_noise *noise = &boot->context->profile->sim.noise;
	const size_t n = (size_t)workload_samples(workload);
	AUTO_FREE struct noise_sample *samples = xcalloc(n + 1, sizeof(*samples));

	if (!n)
		return; /* settings that the agent refuses */
	noise_draw(noise, seed_of(noise->seed, boot, workload->label), request->ordinal, request->total, samples, n);
	strbuf_addf(out, "noise.factor.%s=", workload->label);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%s%.17g", i ? "," : "", samples[i].factor);
	strbuf_addf(out, "\nnoise.throttled.%s=", workload->label);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(out, "%s%d", i ? "," : "", samples[i].throttled);
	strbuf_addch(out, '\n');
}

/* What scatters on a random device, for as many iterations as each workload has. */
static void write_noise(const struct lane_boot *boot, struct strbuf *out)
{
	AUTO_FREE char *text = xasprintf("version=1\n%s", boot->request->workloads ? boot->request->workloads : "");
	struct conf conf;
	char reason[1]; /* the agent refuses the same and says why */

	if (boot->context->profile->exact || !conf_parse(text, &conf, reason, sizeof(reason)))
		return;
	for (size_t i = 0; i < conf.n_workloads; i++)
		write_workload_noise(boot, &conf.workloads[i], out);
	conf_deinit(&conf);
}

void sim_write_model(const struct sim_settings *sim, const struct lane_boot *boot, struct strbuf *out)
{
	write_noise(boot, out);
	strbuf_addf(out, "fault.seed=%" PRIu64 "\n", seed_of(0, boot, "fault"));
	for (size_t i = 0; i < sim->n_models; i++) {
		const struct sim_model *model = &sim->models[i];
		if (model_applies(model, boot->request->variant) && !model_is_overruled(sim, i, boot->request->variant))
			strbuf_addf(out, "model.%s=%.15g\n", model->metric, model->value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(agent_faults); i++) {
		if (sim_fault_applies(sim, boot, agent_faults[i]))
			strbuf_addf(out, "fault.%s=1\n", agent_faults[i]);
	}
}

static struct error *write_in(const char *root, const char *path, const void *data, size_t len)
{
	AUTO_FREE char *full = path_join(root, path);
	AUTO_FREE char *dir = path_dirname(full);
	AUTO_CLOSE int fd = -1;

	struct error *error = file_mkdirs(dir);
	if (error)
		return error;
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		return error_os(errno, "cannot write %s", full);
	return NULL;
}

static struct error *write_text(const char *root, const char *path, const char *text)
{
	return write_in(root, path, text, strlen(text));
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* /sys/kernel/notes: an ELF note with the build id. */
static struct error *write_notes(const char *root, const char *build_id, bool lie)
{
	unsigned char bytes[64];
	size_t n = strlen(build_id) / 2;
	AUTO_STRBUF note = STRBUF_INIT;

	if (!n || n > sizeof(bytes) || strlen(build_id) % 2)
		return error_new(ERROR_LAB, "\"%s\" is no build id", build_id);
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(build_id[2 * i]), low = hex_digit(build_id[2 * i + 1]);
		if (high < 0 || low < 0)
			return error_new(ERROR_LAB, "\"%s\" is no build id", build_id);
		bytes[i] = (unsigned char)(high << 4 | low);
	}
	if (lie)
		bytes[0] ^= 0xff;
	const Elf64_Nhdr header = { .n_namesz = sizeof(ELF_NOTE_GNU), .n_descsz = (Elf64_Word)n, .n_type = NT_GNU_BUILD_ID };
	strbuf_add(&note, &header, sizeof(header));
	strbuf_add(&note, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU));
	strbuf_add(&note, bytes, n);
	while (note.len % 4)
		strbuf_addch(&note, '\0');
	return write_in(root, "sys/kernel/notes", note.data, note.len);
}

/* A random UUID of version 4, as the kernel makes them. */
static struct error *write_boot_id(const char *root, bool lie)
{
	unsigned char r[16];

	if (lie)
		return write_text(root, "proc/sys/kernel/random/boot_id", BOOT_ID_BEFORE "\n");
	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return error_os(errno, "cannot draw a boot id");
	r[6] = (r[6] & 0x0f) | 0x40;
	r[8] = (r[8] & 0x3f) | 0x80;
	AUTO_FREE char *text =
		xasprintf("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x\n", r[0], r[1], r[2], r[3], r[4],
			  r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]);
	return write_text(root, "proc/sys/kernel/random/boot_id", text);
}

/* The files by which the agent judges the memory controller. */
static struct error *write_memcg(const char *root, enum memcg_state state)
{
	bool on = state == MEMCG_ON;
	AUTO_STRBUF cgroups = STRBUF_INIT;

	strbuf_adds(&cgroups, "#subsys_name\thierarchy\tnum_cgroups\tenabled\nblkio\t0\t1\t1\n");
	if (state != MEMCG_NONE)
		strbuf_addf(&cgroups, "memory\t0\t1\t%d\n", on);
	struct error *error = write_text(root, "proc/cgroups", strbuf_str(&cgroups));
	if (!error)
		error = write_text(root, "sys/fs/cgroup/cgroup.controllers", on ? "io memory\n" : "io\n");
	return error;
}

/* The kernel that the lie is told of: memcg the other way round. */
static enum memcg_state told_memcg(const struct lane_boot *boot)
{
	enum memcg_state state = boot->request->memcg == MEMCG_UNKNOWN ? MEMCG_NONE : boot->request->memcg;

	if (!sim_fault_applies(&boot->context->profile->sim, boot, "lie-memcg"))
		return state;
	return state == MEMCG_ON ? MEMCG_DISABLED : MEMCG_ON;
}

/* The expected build id; a made-up one that depends on the variant when nothing is expected. */
static char *told_build_id(const struct boot_request *request)
{
	char hex[HASH_HEX_SIZE];

	if (request->build_id)
		return xstrdup(request->build_id);
	hash_bytes(request->variant, strlen(request->variant), hex);
	return xstrndup(hex, (size_t)2 * BUILD_ID_BYTES);
}

static struct error *write_root(const struct lane_boot *boot, const char *root)
{
	const struct sim_settings *sim = &boot->context->profile->sim;
	AUTO_FREE char *build_id = told_build_id(boot->request);
	AUTO_FREE char *cmdline =
		xasprintf("%s%s\n", boot->cmdline, sim_fault_applies(sim, boot, "lie-cmdline") ? " memcg_ab.lie" : "");

	struct error *error = write_notes(root, build_id, sim_fault_applies(sim, boot, "lie-build-id"));
	if (!error)
		error = write_text(root, "proc/cmdline", cmdline);
	if (!error)
		error = write_boot_id(root, sim_fault_applies(sim, boot, "lie-boot-id"));
	if (!error)
		error = write_text(root, "proc/sys/kernel/osrelease", "5.10.0-sim\n");
	if (!error)
		error = write_text(root, "sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
	if (!error)
		error = write_memcg(root, told_memcg(boot));
	return error;
}

/* Whether the agent is told a time: then it has to report times. */
static bool models_time(const struct sim_settings *sim, const char *variant)
{
	for (size_t i = 0; i < sim->n_models; i++) {
		if (str_ends(sim->models[i].metric, ".ns") && model_applies(&sim->models[i], variant))
			return true;
	}
	return false;
}

static struct error *sim_deploy(struct lane_boot *boot)
{
	const struct sim_settings *sim = &boot->context->profile->sim;
	struct sim_boot *state = xcalloc(1, sizeof(*state));
	AUTO_FREE char *dir = path_absolute(boot->dir);
	AUTO_FREE char *root = path_join(dir, "root");
	AUTO_STRBUF extra = STRBUF_INIT;
	AUTO_STRBUF text = STRBUF_INIT;

	child_init(&state->child, "the host agent", dir);
	state->conf = path_join(dir, "memcg-ab.conf");
	boot->state = state;
	if (sim_fault_applies(sim, boot, "no-device"))
		return error_new(ERROR_LAB, "no such device (a fault that the profile asks for)");
	if (sim_fault_applies(sim, boot, "gone")) {
		boot->session->lost = xstrdup("it has gone (a fault that the profile asks for)");
		return error_new(ERROR_LAB, "%s", boot->session->lost);
	}
	if (!strlist_has(boot->boot_ids, BOOT_ID_BEFORE))
		strlist_add(boot->boot_ids, BOOT_ID_BEFORE);
	struct error *error = write_root(boot, root);
	if (error)
		return error;
	strbuf_addf(&extra, "root=%s\n", root);
	sim_write_model(sim, boot, &extra);
	const struct settings settings = {
		.counter = "model",
		.clock = models_time(sim, boot->request->variant),
		.finish = "exit",
		.extra = strbuf_str(&extra),
	};
	settings_write(&settings, boot->request, &text);
	return write_in(dir, "memcg-ab.conf", text.data, text.len);
}

static struct error *sim_boot(struct lane_boot *boot)
{
	struct sim_boot *state = boot->state;
	struct guard guard = boot->context->guard;
	struct pollfd interruption = { .fd = guard.fd, .events = POLLIN };
	AUTO_STRLIST argv = { NULL, 0 };
	int console[2];

	poll(&interruption, 1, clock_poll_timeout(clock_deadline(boot->context->profile->sim.boot_ms)));
	struct error *error = guard_check(guard);
	if (!error)
		error = lane_check_agent(boot->context, boot->context->agent_host);
	if (error)
		return error;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, console) < 0)
		return error_os(errno, "cannot make a socket pair");
	strlist_add(&argv, boot->context->agent_host);
	strlist_add(&argv, state->conf);
	return child_start(&state->child, &argv, console);
}

static struct error *sim_console(struct lane_boot *boot, int *fd_out)
{
	const struct sim_boot *state = boot->state;

	*fd_out = state->child.console_fd;
	return NULL;
}

static void sim_power(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out)
{
	struct sim_boot *state = boot->state;

	child_end(&state->child, grace_ms, ending_out);
	free(state->conf);
	free(state);
}

const struct lane_ops sim_lane_ops = {
	.boot_id_repeats = false,
	.check = sim_check,
	.version = sim_version,
	.deploy = sim_deploy,
	.boot = sim_boot,
	.console = sim_console,
	.power = sim_power,
};
