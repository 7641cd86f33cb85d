/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From mild to harsh, each rung once: what is tried when a device does not come back into fastboot by itself. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "device/fastboot_parts.h"
#include "device/journal.h"

#define UHUBCTL_MS 30000

struct rung {
	const char *name;
	/* *done_out: it did something, so that waiting for the device is worth while. ERROR_LAB: it failed; the next rung is tried. */
	struct error *(*climb)(struct phone *phone, enum device_state state, bool *done_out);
	bool reboots; /* what is flashed may start instead of fastboot */
};

struct error *phone_hook(const struct phone *phone, const char *name, const char *command, const char *partition,
			 struct strbuf *out)
{
	AUTO_FREE char *device = xasprintf("MEMCG_AB_DEVICE=%s", phone->context->name);
	AUTO_FREE char *serial = xasprintf("MEMCG_AB_SERIAL=%s", phone->settings->serial);
	AUTO_FREE char *part = xasprintf("MEMCG_AB_PARTITION=%s", partition ? partition : "");
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	const char *const shown[] = { "hook", name, NULL };
	const char *const env[] = { device, serial, part, NULL };
	AUTO_STRBUF words = STRBUF_INIT;
	const struct proc_spec spec = {
		.argv = argv,
		.env = env,
		.cwd = phone->settings->hooks.dir,
		.out = out ? out : &words,
		.err = &words,
		.deadline_ms = clock_deadline(phone->settings->timeouts.hook_ms),
		.guard = phone->fastboot.guard,
	};
	struct proc_result result;

	struct error *error = proc_run(&spec, &result);
	if (error)
		return error;
	bool good = !result.timed_out && result.exit_status == 0;
	error = journal_add(phone->context->journal_path, shown, good ? "okay" : "failed", result.wall_ms, strbuf_str(&words));
	if (error || good)
		return error;
	AUTO_FREE char *copy = strbuf_steal(&words);
	char *text = str_trim(copy), *last = strrchr(text, '\n');
	if (result.timed_out)
		return error_new(ERROR_LAB, "hook %s had not ended after %g s", name,
				 (double)phone->settings->timeouts.hook_ms / 1000);
	return error_new(ERROR_LAB, "hook %s failed (%d): %s", name, result.exit_status, last ? last + 1 : text);
}

/* What runs is asked to leave for the bootloader. */
static struct error *leave_userspace(struct phone *phone, enum device_state state, bool *done_out)
{
	struct fastboot_reply reply;
	struct error *error = NULL;

	*done_out = true;
	if (state == STATE_FASTBOOTD) {
		error = fastboot_reboot(&phone->fastboot, "bootloader", &reply);
		/* Whatever it said: the next state tells. */
		if (!error)
			fastboot_reply_deinit(&reply);
		return error;
	}
	if (state == STATE_UP || (phone->adb_used && state == STATE_HUNG)) {
		AUTO_FREE char *boot_id = phone_adb_boot_id(phone);
		if (boot_id && !strlist_has(&phone->boot_ids, boot_id))
			strlist_add(&phone->boot_ids, boot_id);
		if (boot_id) {
			free(phone->boot_id_before);
			phone->boot_id_before = take_ptr(boot_id);
		}
		return adb_reboot(&phone->adb, "bootloader");
	}
	*done_out = false;
	return NULL;
}

static struct error *reboot_bootloader(struct phone *phone, enum device_state state, bool *done_out)
{
	struct usb_device device;
	struct fastboot_reply reply;

	(void)state;
	/* Only where something that may listen is seen: on a network the call would but wait. */
	*done_out = usb_is_serial(phone->settings->serial) &&
		    usb_find(USB_SYSFS, phone->usb_name, phone->settings->serial, &device) && device.kind == USB_FASTBOOT;
	if (!*done_out)
		return NULL;
	struct error *error = fastboot_reboot(&phone->fastboot, "bootloader", &reply);
	if (!error)
		fastboot_reply_deinit(&reply);
	return error;
}

static struct error *reset_usb(struct phone *phone, enum device_state state, bool *done_out)
{
	struct usb_device device;

	(void)state;
	*done_out =
		usb_is_serial(phone->settings->serial) && usb_find(USB_SYSFS, phone->usb_name, phone->settings->serial, &device);
	return *done_out ? usb_reset(USB_SYSFS, device.name) : NULL;
}

static struct error *cycle_port(struct phone *phone, enum device_state state, bool *done_out)
{
	const struct fastboot_settings *settings = phone->settings;
	/* -r: Linux powers a port up again by itself, so it is switched off many times. */
	const char *const argv[] = { "uhubctl", "-l", settings->usb_hub, "-p", settings->usb_port, "-a", "cycle", "-d", "3", "-r",
				     "100",	NULL };
	AUTO_STRBUF words = STRBUF_INIT;
	const struct proc_spec spec = {
		.argv = argv,
		.out = &words,
		.err = &words,
		.deadline_ms = clock_deadline(UHUBCTL_MS),
		.guard = phone->fastboot.guard,
	};
	struct proc_result result;

	(void)state;
	*done_out = settings->usb_hub && settings->usb_port;
	if (!*done_out)
		return NULL;
	struct error *error = proc_run(&spec, &result);
	/* Its exit status is not the truth (it may crash with its work done): the next state tells. */
	if (!error)
		error = journal_add(phone->context->journal_path, argv, result.exit_status ? "failed" : "okay", result.wall_ms,
				    strbuf_str(&words));
	return error;
}

static struct error *enter_by_hook(struct phone *phone, enum device_state state, bool *done_out)
{
	const char *command = phone->settings->hooks.enter_fastboot;

	(void)state;
	*done_out = command;
	return command ? phone_hook(phone, "enter_fastboot", command, NULL, NULL) : NULL;
}

static struct error *cycle_power(struct phone *phone, enum device_state state, bool *done_out)
{
	const struct hooks *hooks = &phone->settings->hooks;

	(void)state;
	*done_out = hooks->cycle || hooks->on;
	if (hooks->cycle)
		return phone_hook(phone, "cycle", hooks->cycle, NULL, NULL);
	struct error *error = hooks->off && hooks->on ? phone_hook(phone, "off", hooks->off, NULL, NULL) : NULL;
	if (!error && hooks->on)
		error = phone_hook(phone, "on", hooks->on, NULL, NULL);
	return error;
}

static const struct rung ladder[] = {
	{ "leaving what runs", leave_userspace, false },
	{ "reboot bootloader", reboot_bootloader, false },
	{ "USB reset", reset_usb, false },
	{ "USB hub port", cycle_port, true },
	{ "hook enter_fastboot", enter_by_hook, false },
	{ "power hook", cycle_power, true },
};

/* Waits; from fastbootd and from Android it goes on into the bootloader. */
static struct error *await_bootloader(struct phone *phone, int64_t wait_ms, bool reboots, bool *there_out)
{
	enum device_state state;
	bool done;

	struct error *error = phone_await_fastboot(phone, wait_ms, &state);
	if (!error && state == STATE_OFF && reboots)
		error = phone_look(phone, &state);
	if (!error && (state == STATE_FASTBOOTD || state == STATE_UP)) {
		error = leave_userspace(phone, state, &done);
		if (!error)
			error = phone_await_leave(phone, &done);
		if (!error)
			error = phone_await_fastboot(phone, phone->settings->timeouts.fastboot_ms, &state);
	}
	if (!error)
		*there_out = state == STATE_FASTBOOT;
	return error;
}

/* One rung; its own failure is told in `tried`. */
static struct error *climb(struct phone *phone, const struct rung *rung, enum device_state state, struct strbuf *tried,
			   bool *there_out)
{
	bool done = false;

	struct error *error = rung->climb(phone, state, &done);
	if (error && error_kind(error) == ERROR_INTERRUPTED)
		return error;
	if (!error && !done)
		return NULL;
	phone->there = false;
	strbuf_addf(tried, "%s%s", tried->len ? ", " : "", rung->name);
	phone_note(phone, "recovery", rung->name);
	if (error) {
		strbuf_addf(tried, " (%s)", error_message(error));
		error_free(error);
		return NULL;
	}
	return await_bootloader(phone, phone->settings->timeouts.fastboot_ms, rung->reboots, there_out);
}

static struct error *climb_all(struct phone *phone, enum device_state *state_out, struct strbuf *tried, bool *there_out)
{
	struct error *error = phone_look(phone, state_out);

	if (!error && *state_out == STATE_FASTBOOT)
		*there_out = true;
	for (size_t i = 0; !error && !*there_out && i < ARRAY_SIZE(ladder); i++)
		error = climb(phone, &ladder[i], *state_out, tried, there_out);
	return error;
}

struct error *phone_enter_fastboot(struct phone *phone, int64_t patience_ms)
{
	AUTO_STRBUF tried = STRBUF_INIT;
	enum device_state state = STATE_OFF;
	bool there = false;

	phone->expected = false;
	struct error *error = await_bootloader(phone, patience_ms, false, &there);
	if (!error && !there)
		error = climb_all(phone, &state, &tried, &there);
	if (error || there) {
		if (there && tried.len)
			log_info("%s is back in fastboot after %s", phone->context->name, strbuf_str(&tried));
		return error;
	}
	error = error_new(ERROR_LAB, "it does not come back into fastboot: it is %s (%s%s)", device_state_name(state),
			  tried.len ? "tried: " : "no hook and no hub port could be tried", tried.len ? strbuf_str(&tried) : "");
	phone_note(phone, "recovery", error_message(error));
	if (phone->lane && !phone->lane->lost)
		phone->lane->lost = xstrdup(error_message(error));
	return error;
}
