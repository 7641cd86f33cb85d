/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a request to what is sent: packing, editing, writing, starting. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/fastboot_parts.h"
#include "device/initrd.h"
#include "device/settings.h"

/* A write that broke is begun anew from a fresh getvar. */
#define FLASH_RETRIES 1

static const char *boot_partition(const struct phone *phone)
{
	return phone->settings->partition ? phone->settings->partition : "boot";
}

const char *phone_finish(const struct fastboot_settings *settings)
{
	/* Where `continue` starts what is flashed, every reset ends in fastboot. */
	return settings->start && !strcmp(settings->start, "continue") ? "reboot" : "bootloader";
}

void phone_results_settings(const struct fastboot_settings *settings, struct strbuf *out)
{
	bool chained = settings->userspace == USERSPACE_CHAINED || settings->results == RESULTS_USB_ACM;

	if (settings->results == RESULTS_BLOCK)
		strbuf_addf(out, "results=block:%s\n", settings->results_partition);
	else if (settings->results == RESULTS_PSTORE)
		strbuf_adds(out, "results=pmsg\n");
	else if (settings->results == RESULTS_USB_ACM)
		strbuf_adds(out, "results=tty:/dev/ttyGS0\n");
	if (chained)
		strbuf_adds(out, "chain=1\n");
	if (chained && settings->vendor_modules)
		strbuf_addf(out, "modules=%s\n", settings->vendor_modules);
	if (settings->watchdog)
		strbuf_addf(out, "watchdog=%s\n", settings->watchdog);
}

static struct error *write_ramdisk(const struct phone *phone, const char *settings, const char *const *archives, const char *path)
{
	AUTO_STRBUF ramdisk = STRBUF_INIT;

	struct error *error = lane_check_agent(phone->context, phone->context->agent_arm64);
	if (!error)
		error = initrd_build(phone->context->agent_arm64, settings, archives, &ramdisk);
	return error ? error : file_write_atomic(path, ramdisk.data, ramdisk.len, 0644);
}

static struct error *pack(const struct phone *phone, const struct boot_layout *layout, const char *kernel, const char *ramdisk,
			  const char *cmdline, const char *dir, const char *out_file)
{
	const struct bootimg_recipe recipe = {
		.mkbootimg = phone->settings->mkbootimg,
		.layout = layout,
		.kernel_file = kernel,
		.ramdisk_file = ramdisk,
		.cmdline = cmdline,
		.dir = dir,
	};

	return bootimg_pack(&recipe, out_file, phone->fastboot.guard);
}

/* The device's own command line, and what was asked for behind it. */
static char *join_cmdline(const char *own, const char *asked)
{
	return own[0] ? xasprintf("%s %s", own, asked) : xstrdup(asked);
}

struct error *phone_pack_known_good(struct phone *phone, const char *settings, const char *dir, const char *out_file,
				    char build_id_out[BUILD_ID_HEX_SIZE])
{
	AUTO_FREE char *kernel_file = path_join(dir, "known-good-kernel");
	AUTO_FREE char *ramdisk_file = path_join(dir, "known-good-ramdisk");
	AUTO_STRBUF data = STRBUF_INIT;
	AUTO_STRBUF kernel = STRBUF_INIT;
	struct bootimg header;

	struct error *error = bootimg_read(phone->settings->known_good, &data, &header);
	if (!error)
		error = bootimg_kernel(data.data, data.len, &kernel);
	if (error)
		return error;
	if (!build_id_in_bytes(kernel.data, kernel.len, build_id_out))
		return error_new(ERROR_LAB, "the kernel in %s has no build id: it could not be told from another",
				 phone->settings->known_good);
	error = file_write_atomic(kernel_file, kernel.data, kernel.len, 0644);
	if (!error)
		error = write_ramdisk(phone, settings, NULL, ramdisk_file);
	if (error)
		return error;
	return pack(phone, &phone->settings->layout, kernel_file, ramdisk_file, header.cmdline, dir, out_file);
}

/* Our agent as /init. */
static struct error *pack_own(struct phone *phone, struct lane_boot *boot, struct phone_boot *state)
{
	const struct fastboot_settings *fastboot = phone->settings;
	AUTO_FREE char *kernel_file =
		boot->request->kernel_file ? xstrdup(boot->request->kernel_file) : path_join(boot->dir, "kernel");
	AUTO_FREE char *ramdisk_file = path_join(boot->dir, "ramdisk");
	AUTO_STRBUF extra = STRBUF_INIT;
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *error = NULL;

	phone_results_settings(fastboot, &extra);
	const struct settings settings = {
		.counter = fastboot->pmu ? "pmu" : "clock",
		.clock = !fastboot->exact || !fastboot->pmu,
		.finish = phone_finish(fastboot),
		.nonce = boot->nonce,
		.profile = boot->context->profile,
		.extra = strbuf_str(&extra),
	};
	settings_write(&settings, boot->request, &text);
	if (!boot->request->kernel_file) {
		AUTO_STRBUF kernel = STRBUF_INIT;
		error = bootimg_kernel(phone->stock->image.data, phone->stock->image.len, &kernel);
		if (!error)
			error = file_write_atomic(kernel_file, kernel.data, kernel.len, 0644);
	}
	if (!error)
		error = write_ramdisk(phone, strbuf_str(&text), boot->request->archives, ramdisk_file);
	return error ? error : pack(phone, &fastboot->layout, kernel_file, ramdisk_file, boot->cmdline, boot->dir, state->image);
}

/* The device's own ramdisk around another kernel. */
static struct error *pack_replaced(struct phone *phone, struct lane_boot *boot, const struct stock_kernel *stock,
				   const char *cmdline, const char *out_file)
{
	const struct bootimg_part *ramdisk = &stock->header.ramdisk;
	AUTO_FREE char *ramdisk_file = ramdisk->size ? path_join(boot->dir, "ramdisk") : NULL;
	struct boot_layout layout = phone->settings->layout;

	layout.header_version = stock->header.version;
	struct error *error =
		ramdisk->size ? file_write_atomic(ramdisk_file, stock->image.data + ramdisk->offset, ramdisk->size, 0644) : NULL;
	return error ? error : pack(phone, &layout, boot->request->kernel_file, ramdisk_file, cmdline, boot->dir, out_file);
}

/* Each word becomes a kernel.* key of the vendor_boot image's bootconfig. */
static struct error *edit_bootconfig(struct phone *phone, struct lane_boot *boot, struct phone_boot *state)
{
	const char *stock = phone->settings->stock.vendor_boot;
	AUTO_FREE char *words = xstrdup(boot->cmdline);
	AUTO_STRLIST keys = { NULL, 0 };
	AUTO_STRBUF data = STRBUF_INIT;
	struct bootimg header;
	char *rest = words, *word;

	if (!stock)
		return error_new(ERROR_LAB,
				 "the profile names no stock.vendor_boot image, whose bootconfig is the command line's way");
	struct error *error = bootimg_read(stock, &data, &header);
	while (!error && (word = strsep(&rest, " "))) {
		char *value = strchr(word, '=');
		if (!*word)
			continue;
		if (value)
			*value++ = '\0';
		AUTO_FREE char *key = xasprintf("kernel.%s", word);
		/* Several values of one key would be an array. */
		if (strlist_has(&keys, key))
			return error_new(ERROR_LAB, "\"%s\" stands twice on the command line: bootconfig takes it once", word);
		strlist_add(&keys, key);
		error = bootimg_set_bootconfig(&data, key, value ? value : "");
	}
	if (error)
		return error;
	state->vendor_boot = path_join(boot->dir, "vendor_boot.img");
	return file_write_atomic(state->vendor_boot, data.data, data.len, 0644);
}

/* The device's own userspace: its image with another command line and, where there is one, another kernel. */
static struct error *pack_android(struct phone *phone, struct lane_boot *boot, struct phone_boot *state)
{
	const char *channel = phone->settings->cmdline_channel;
	bool by_bootconfig = channel && !strcmp(channel, "bootconfig");
	const struct stock_kernel *stock = NULL;

	struct error *error = phone_stock(phone, &stock);
	if (error)
		return error;
	AUTO_FREE char *cmdline =
		by_bootconfig ? xstrdup(stock->header.cmdline) : join_cmdline(stock->header.cmdline, boot->cmdline);
	if (boot->request->kernel_file) {
		error = pack_replaced(phone, boot, stock, cmdline, state->image);
	} else {
		AUTO_FREE char *copy = xmemdup(stock->image.data, stock->image.len);
		error = bootimg_set_cmdline(copy, stock->image.len, cmdline);
		if (!error)
			error = file_write_atomic(state->image, copy, stock->image.len, 0644);
	}
	if (!error && by_bootconfig)
		error = edit_bootconfig(phone, boot, state);
	return error;
}

struct error *phone_pack(struct phone *phone, struct lane_boot *boot)
{
	struct phone_boot *state = boot->state;

	if (phone->settings->userspace == USERSPACE_ANDROID)
		return pack_android(phone, boot, state);
	return pack_own(phone, boot, state);
}

static void take_time(struct phone *phone, const struct fastboot_reply *reply)
{
	phone->client_ms += reply->wall_ms;
}

/* Whether a write is worth another try: the way to the device failed in it, not the device, and it answers again. */
static struct error *may_try_again(struct phone *phone, enum fastboot_outcome outcome, bool *again_out)
{
	enum device_state state = STATE_OFF;
	struct error *error = NULL;

	if (outcome == FASTBOOT_BROKEN || outcome == FASTBOOT_SILENT)
		error = phone_await_fastboot(phone, phone->settings->timeouts.leave_ms, &state);
	*again_out = state == STATE_FASTBOOT || state == STATE_FASTBOOTD;
	return error;
}

static struct error *flash_named(struct phone *phone, const char *partition, const char *file)
{
	AUTO_FREE char *what = xasprintf("flash %s", partition);

	for (unsigned attempt = 0;; attempt++) {
		struct fastboot_reply reply;
		bool again = false;
		struct error *error = fastboot_flash(&phone->fastboot, partition, file, &reply);
		if (error)
			return error;
		take_time(phone, &reply);
		if (attempt < FLASH_RETRIES)
			error = may_try_again(phone, reply.outcome, &again);
		if (error || again) {
			fastboot_reply_deinit(&reply);
			if (error)
				return error;
			continue;
		}
		return phone_reply_error(&reply, what);
	}
}

struct error *phone_flash(struct phone *phone, const char *partition, const char *file)
{
	AUTO_FREE char *full = slot_partition(partition, phone->slot);

	struct error *error = phone_check_size(phone, full, file);
	return error ? error : flash_named(phone, full, file);
}

/* To fastbootd and back: named logical partitions exist only there. */
static struct error *switch_fastboot(struct phone *phone, const char *target, enum device_state wanted)
{
	struct fastboot_reply reply;
	enum device_state state;
	bool left;

	struct error *error = fastboot_reboot(&phone->fastboot, target, &reply);
	if (error)
		return error;
	fastboot_reply_deinit(&reply);
	phone->there = false;
	error = phone_await_leave(phone, &left);
	if (!error)
		error = phone_await_fastboot(phone, phone->settings->timeouts.fastboot_ms, &state);
	if (!error && state != wanted)
		error = error_new(ERROR_LAB, "the device was to reboot into %s, but it is: %s", device_state_name(wanted),
				  device_state_name(state));
	return error;
}

static struct error *write_set(struct phone *phone, const struct module_set *set)
{
	bool logical = false;
	struct error *error = NULL;

	phone->modules = set;
	for (size_t i = 0; !error && i < set->n_images; i++) {
		logical |= set->images[i].logical;
		if (!set->images[i].logical)
			error = phone_flash(phone, set->images[i].partition, set->images[i].file);
	}
	if (error || !logical)
		return error;
	error = switch_fastboot(phone, "fastboot", STATE_FASTBOOTD);
	for (size_t i = 0; !error && i < set->n_images; i++) {
		AUTO_FREE char *full = slot_partition(set->images[i].partition, phone->slot);
		if (set->images[i].logical)
			error = flash_named(phone, full, set->images[i].file);
	}
	return error ? error : switch_fastboot(phone, "bootloader", STATE_FASTBOOT);
}

/* What puts a set's partitions back must be there before they are written. */
static struct error *write_modules(struct phone *phone, const char *config)
{
	const struct module_set *wanted = module_set_of(phone->settings, config);

	if (wanted == phone->modules)
		return NULL;
	if (!wanted)
		return phone_put_back_modules(phone);
	if (!module_set_of(phone->settings, "stock"))
		return error_new(
			ERROR_LAB,
			"the modules of config %s cannot be written: the profile has no module set \"stock\" with the images "
			"that are put back afterwards",
			config);
	return write_set(phone, wanted);
}

struct error *phone_put_back_modules(struct phone *phone)
{
	const struct module_set *stock = module_set_of(phone->settings, "stock");
	struct error *error = NULL;

	if (phone->modules && stock && phone->modules != stock)
		error = write_set(phone, stock);
	if (!error && phone->modules)
		phone->modules = NULL;
	if (!error && phone->vendor_dirty)
		error = phone_flash(phone, "vendor_boot", phone->settings->stock.vendor_boot);
	if (!error)
		phone->vendor_dirty = false;
	return error;
}

struct error *phone_write(struct phone *phone, struct lane_boot *boot)
{
	const struct phone_boot *state = boot->state;
	AUTO_FREE char *partition = slot_partition(boot_partition(phone), phone->slot);

	/* First whether all of it fits: a half-written set helps nobody. */
	struct error *error = phone_check_size(phone, partition, state->image);
	if (!error)
		error = write_modules(phone, boot->request->config);
	if (!error && state->vendor_boot) {
		phone->vendor_dirty = true;
		error = phone_flash(phone, "vendor_boot", state->vendor_boot);
	}
	if (error || phone->settings->method == FASTBOOT_METHOD_BOOT)
		return error;
	phone->dirty = true;
	return phone_flash(phone, boot_partition(phone), state->image);
}

static struct error *send_start(struct phone *phone, const char *image, struct fastboot_reply *reply)
{
	const char *start = phone->settings->start;

	if (phone->settings->method == FASTBOOT_METHOD_BOOT)
		return fastboot_boot(&phone->fastboot, image, reply);
	if (start && !strcmp(start, "continue"))
		return fastboot_continue(&phone->fastboot, reply);
	return fastboot_reboot(&phone->fastboot, NULL, reply);
}

/* A transport that breaks once the order was given is what a reboot looks like. */
static bool was_ordered(const struct fastboot_reply *reply)
{
	if (reply->outcome == FASTBOOT_OKAY)
		return true;
	return reply->outcome != FASTBOOT_REFUSED && reply->outcome != FASTBOOT_ABSENT && reply->step &&
	       !str_starts(reply->step, "Sending") && !str_starts(reply->step, "Writing");
}

static struct error *order_start(struct phone *phone, const char *image)
{
	struct fastboot_reply reply;

	struct error *error = send_start(phone, image, &reply);
	if (error)
		return error;
	take_time(phone, &reply);
	phone->there = false;
	if (!was_ordered(&reply))
		return phone_reply_error(&reply, fastboot_method_name(phone->settings->method));
	fastboot_reply_deinit(&reply);
	return NULL;
}

struct error *phone_start(struct phone *phone, const char *image, int *console_fd_out)
{
	bool left = false;

	struct error *error = order_start(phone, image);
	if (!error && console_fd_out)
		error = phone_open_console(phone, phone->settings->timeouts.command_ms, console_fd_out);
	if (!error)
		error = phone_await_leave(phone, &left);
	if (!error && !left)
		error = error_new(ERROR_LAB, "the device said okay, and was still in fastboot %g s later",
				  (double)phone->settings->timeouts.leave_ms / 1000);
	return error;
}

struct error *phone_run_image(struct phone *phone, const char *image, int *console_fd_out)
{
	struct error *error = NULL;

	if (phone->settings->method != FASTBOOT_METHOD_BOOT) {
		phone->dirty = true;
		error = phone_flash(phone, boot_partition(phone), image);
		if (!error && phone->settings->known_good && !strcmp(image, phone->settings->known_good))
			phone->dirty = false;
	}
	return error ? error : phone_start(phone, image, console_fd_out);
}
