/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/fastboot.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "device/fastboot_parts.h"
#include "device/settings.h"

/* Raised when images, settings or what is done around a boot change: what was measured before is then measured again. */
#define RECIPE 1
/* How long a device that did not finish may take to come back before the ladder is climbed. */
#define SHORT_PATIENCE_MS 10000

/* A port for an adb server of our own; 0 when none is free. */
static unsigned free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return 0;
	return ntohs(address.sin_port);
}

static void phone_init(struct phone *phone, const struct device_context *context, struct lane_session *lane)
{
	const struct fastboot_settings *settings = &context->profile->fastboot;

	*phone = (struct phone){
		.lane = lane,
		.context = context,
		.profile = context->profile,
		.settings = settings,
		.fastboot = { .settings = settings, .journal = context->journal_path, .guard = context->guard },
		.adb = { .settings = settings, .port = free_port(), .journal = context->journal_path, .guard = context->guard },
	};
}

static void phone_deinit(struct phone *phone)
{
	if (phone->adb_used)
		adb_stop_server(&phone->adb);
	facts_deinit(&phone->facts);
	stock_kernel_free(phone->stock);
	strlist_deinit(&phone->boot_ids);
	free(phone->boot_id_before);
	free(phone->version);
}

static bool needs_packing(const struct profile *profile)
{
	return profile->needs_image || profile->fastboot.userspace != USERSPACE_ANDROID;
}

static const char *missing_program(const struct profile *profile)
{
	const struct fastboot_settings *settings = &profile->fastboot;

	if (!proc_find(settings->program))
		return settings->program;
	if (needs_packing(profile) && !proc_find(settings->mkbootimg))
		return settings->mkbootimg;
	if (settings->userspace == USERSPACE_ANDROID && !proc_find(settings->adb_program))
		return settings->adb_program;
	return settings->usb_hub && !proc_find("uhubctl") ? "uhubctl" : NULL;
}

static const char *missing_file(const struct fastboot_settings *settings)
{
	const char *const files[] = { settings->known_good, settings->stock.boot, settings->stock.vendor_boot };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i] && !file_is_regular(files[i]))
			return files[i];
	return NULL;
}

static char *fb_check(const struct device_context *context)
{
	const struct profile *profile = context->profile;
	const struct fastboot_settings *settings = &profile->fastboot;
	const char *program = missing_program(profile);
	const char *file = missing_file(settings);

	if (program)
		return xasprintf("%s is not installed", program);
	if (!settings->serial)
		return xstrdup("its profile names no serial");
	if (file)
		return xasprintf("there is no file %s", file);
	if (!context->agent_arm64 || !file_is_regular(context->agent_arm64))
		return xasprintf("there is no arm64 agent at %s", context->agent_arm64 ? context->agent_arm64 : "(no path)");
	if (settings->userspace != USERSPACE_ANDROID && settings->layout.init_boot)
		return xstrdup("layout.init_boot goes with userspace: android alone: our ramdisk is in the boot image");
	if (settings->method == FASTBOOT_METHOD_BOOT && settings->cmdline_channel &&
	    !strcmp(settings->cmdline_channel, "bootconfig"))
		return xstrdup("cmdline_channel: bootconfig needs vendor_boot written, which method: boot does not do");
	return xstrdup("");
}

static struct error *fb_version(const struct device_context *context, char **version_out)
{
	const struct fastboot fastboot = { .settings = &context->profile->fastboot, .guard = context->guard };
	AUTO_FREE char *client = NULL;

	struct error *error = fastboot_version(&fastboot, &client);
	if (!error)
		*version_out = xasprintf("%s; recipe %d", client, RECIPE);
	return error;
}

/* --- the session --- */

static struct error *examine(struct phone *phone)
{
	struct preflight preflight = { NULL, NULL, 0 };

	struct error *error = phone_read_facts(phone);
	if (error)
		return error;
	const char *current = facts_get(&phone->facts, "current-slot");
	phone->found_slot = phone->settings->slots && current ? fastboot_parse_slot(current) : 0;
	phone->slot = slot_of_method(phone->settings, &phone->facts);
	preflight_judge(phone->settings, &phone->facts, phone->slot, &preflight);
	preflight_judge_files(phone->settings, &phone->facts, phone->slot, &preflight);
	error = preflight_error(&preflight);
	preflight_deinit(&preflight);
	return error;
}

static struct error *fb_begin(struct lane_session *session)
{
	struct phone *phone = xcalloc(1, sizeof(*phone));

	phone_init(phone, session->context, session);
	session->state = phone;
	struct error *error = fastboot_version(&phone->fastboot, &phone->version);
	if (!error)
		error = phone_look(phone, &phone->found);
	if (!error)
		error = phone_enter_fastboot(phone, phone->found == STATE_UP ? 0 : SHORT_PATIENCE_MS);
	if (!error)
		error = examine(phone);
	if (!error)
		error = phone_prove_known_good(phone);
	if (!error && phone->slot && phone->settings->method == FASTBOOT_METHOD_FLASH_INACTIVE)
		error = phone_activate(phone, phone->slot);
	phone->since_ms = clock_ms();
	phone->client_ms = 0;
	return error;
}

static bool is_changed(const struct phone *phone)
{
	return phone->dirty || phone->modules || phone->vendor_dirty || phone->slot_moved;
}

/* What was found is what is left: image, modules, slot and, last, whether it was in fastboot or up. */
static struct error *leave_as_found(struct phone *phone)
{
	struct fastboot_reply reply;
	struct error *error = NULL;

	if (!is_changed(phone) && phone->found != STATE_UP && !phone->expected)
		return NULL;
	error = phone_enter_fastboot(phone, phone->settings->timeouts.fastboot_ms);
	if (!error)
		error = phone_put_back(phone);
	if (!error && phone->slot_moved)
		error = phone_activate(phone, phone->found_slot);
	if (error || phone->found != STATE_UP)
		return error;
	error = fastboot_reboot(&phone->fastboot, NULL, &reply);
	return error ? error : phone_reply_error(&reply, "reboot");
}

static struct error *fb_end(struct lane_session *session)
{
	struct phone *phone = session->state;
	struct error *error = NULL;

	/* Also when it was interrupted: each wait has its own end. */
	phone->fastboot.guard = NO_GUARD;
	phone->adb.guard = NO_GUARD;
	if (!session->lost)
		error = leave_as_found(phone);
	else if (is_changed(phone))
		log_warning("%s may still hold another image than the known-good one: %s", phone->context->name, session->lost);
	phone_deinit(phone);
	free(phone);
	session->state = NULL;
	return error;
}

static struct error *fb_preflight(const struct device_context *context, struct preflight *preflight_out)
{
	struct phone phone;
	enum device_state state;

	phone_init(&phone, context, NULL);
	struct error *error = phone_look(&phone, &state);
	if (!error && state == STATE_FASTBOOT)
		error = phone_read_facts(&phone);
	if (!error) {
		preflight_out->state = xstrdup(device_state_name(state));
		if (state == STATE_FASTBOOT) {
			char slot = slot_of_method(phone.settings, &phone.facts);
			preflight_judge(phone.settings, &phone.facts, slot, preflight_out);
			preflight_judge_files(phone.settings, &phone.facts, slot, preflight_out);
		} else {
			preflight_add(preflight_out, state == STATE_RAMDUMP, "state",
				      "%s: only a device in fastboot tells the rest; a run brings it there",
				      device_state_name(state));
		}
	}
	phone_deinit(&phone);
	return error;
}

/* --- a boot --- */

static void tell(struct lane_boot *boot, const char *key, const char *value)
{
	if (value)
		jnode_set_string(boot->identity, key, value);
}

static void tell_device(const struct phone *phone, struct lane_boot *boot)
{
	tell(boot, "device.fastboot", phone->version);
	tell(boot, "device.bootloader", facts_get(&phone->facts, "version-bootloader"));
	tell(boot, "device.serial", facts_get(&phone->facts, "serialno"));
	tell(boot, "device.method", fastboot_method_name(phone->settings->method));
	tell(boot, "device.userspace", userspace_name(phone->settings->userspace));
	tell(boot, "device.results", results_name(phone->settings->results));
	tell(boot, "device.boot_id_before", phone->boot_id_before);
}

/* Everything on this machine is done before the device is waited for: it is on its way back meanwhile. */
static struct error *fb_deploy(struct lane_boot *boot)
{
	struct phone *phone = boot->session->state;
	struct phone_boot *state = xcalloc(1, sizeof(*state));

	boot->state = state;
	state->console_fd = -1;
	state->image = path_join(boot->dir, "boot.img");
	tell_device(phone, boot);
	for (size_t i = 0; i < phone->boot_ids.n; i++)
		if (!strlist_has(boot->boot_ids, phone->boot_ids.items[i]))
			strlist_add(boot->boot_ids, phone->boot_ids.items[i]);
	struct error *error = settings_draw_nonce(boot->nonce);
	if (!error)
		error = phone_check_kernel(phone, boot);
	if (!error)
		error = phone_pack(phone, boot);
	if (!error && phone->expected)
		error = phone_enter_fastboot(phone, phone->settings->timeouts.fastboot_ms);
	if (!error)
		error = phone_check_same(phone);
	if (!error)
		error = phone_prepare_slot(phone, boot);
	if (!error)
		error = phone_write(phone, boot);
	return error;
}

static struct error *fb_boot(struct lane_boot *boot)
{
	struct phone *phone = boot->session->state;
	struct phone_boot *state = boot->state;

	AUTO_FREE char *host_ms = xasprintf("%" PRId64, clock_ms() - phone->since_ms - phone->client_ms);
	tell(boot, "device.host_ms", host_ms);
	state->started_ms = clock_ms();
	phone->expected = true;
	return phone_start(phone, state->image, &state->console_fd);
}

static struct error *fb_console(struct lane_boot *boot, int *fd_out)
{
	struct phone *phone = boot->session->state;
	struct phone_boot *state = boot->state;
	struct error *error = NULL;

	switch (phone->settings->results) {
	case RESULTS_CONSOLE:
		if (state->console_fd < 0)
			error = error_new(ERROR_LAB, "the profile says results: console, and has no console");
		break;
	case RESULTS_ADB:
		error = phone_collect_adb(phone, boot, &state->console_fd, &state->death);
		break;
	case RESULTS_USB_ACM:
		error = phone_collect(phone, boot->nonce, boot->dir, phone->profile->boot_timeout_ms, &state->console_fd,
				      &state->death);
		break;
	case RESULTS_PSTORE:
	case RESULTS_BLOCK:
		error = phone_collect(phone, boot->nonce, boot->dir, phone->profile->run_timeout_ms, &state->console_fd,
				      &state->death);
		break;
	}
	if (!error)
		*fd_out = state->console_fd;
	return error;
}

/* What did not finish is brought back, and something good put into it, before anybody is blamed. */
static struct error *bring_back(struct phone *phone)
{
	struct error *error = phone_enter_fastboot(phone, SHORT_PATIENCE_MS);

	return error ? error : phone_put_back(phone);
}

/* With slots, the counters and the active slot are read at each visit. */
static struct error *read_slot_after(struct phone *phone, struct lane_boot *boot)
{
	struct fastboot_reply reply;
	AUTO_FREE char *value = NULL;

	struct error *error = phone_enter_fastboot(phone, phone->settings->timeouts.fastboot_ms);
	if (!error)
		error = fastboot_getvar(&phone->fastboot, "current-slot", &value, &reply);
	if (error)
		return error;
	fastboot_reply_deinit(&reply);
	tell(boot, "device.slot_after", value);
	return NULL;
}

static void fb_power(struct lane_boot *boot, int64_t grace_ms, struct lane_ending *ending_out)
{
	struct phone *phone = boot->session->state;
	struct phone_boot *state = boot->state;
	AUTO_ERROR error = NULL;

	(void)grace_ms;
	/* Nobody reads it any more, and a bootloader whose console is full does not come up (phone_start()). */
	cleanup_close(&state->console_fd);
	if (!boot->finished && guard_fired(boot->context->guard))
		phone->expected = true; /* `end` sees to it, and the guard does not stop that */
	else if (!boot->finished)
		error = bring_back(phone);
	else if (phone->slot)
		error = read_slot_after(phone, boot);
	if (error && error_kind(error) != ERROR_INTERRUPTED) {
		ending_out->failed = !boot->finished;
		ending_out->message = xstrdup(error_message(error));
	}
	ending_out->stopped = !boot->finished;
	ending_out->death = take_ptr(state->death);
	free(state->image);
	free(state->vendor_boot);
	free(state);
}

const struct lane_ops fastboot_lane_ops = {
	.boot_id_repeats = false,
	.console_goes_on = true,
	.check = fb_check,
	.version = fb_version,
	.begin = fb_begin,
	.end = fb_end,
	.preflight = fb_preflight,
	.deploy = fb_deploy,
	.boot = fb_boot,
	.console = fb_console,
	.power = fb_power,
};
