/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "plan/keys.h"
#include "plan/profile_parts.h"
#include "plan/search.h"

#define MIB (1024.0 * 1024)
#define GIB (1024 * MIB)
#define HOUR_MS 3600000.0
#define UNIX_PREFIX "unix:"

static const char *const method_words[] = { [FASTBOOT_METHOD_BOOT] = "boot",
					    [FASTBOOT_METHOD_FLASH_INACTIVE] = "flash-inactive",
					    [FASTBOOT_METHOD_FLASH_ACTIVE] = "flash-active",
					    NULL };
static const char *const userspace_words[] = { "bare", "chained", "android", NULL };
static const char *const results_words[] = { "console", "adb", "usb-acm", "pstore", "block", NULL };
static const char *const vbmeta_words[] = { "keep", "disable", NULL };
static const char *const start_words[] = { "continue", "reboot", NULL };
static const char *const channel_words[] = { "image", "bootconfig", NULL };

const char *fastboot_method_name(enum fastboot_method method)
{
	return method_words[method];
}

const char *userspace_name(enum userspace userspace)
{
	return userspace_words[userspace];
}

const char *results_name(enum results results)
{
	return results_words[results];
}

/* The section while it is read. */
struct fastboot_layer {
	struct fastboot_settings fastboot;
	int start, channel; /* indices of words, or -1 */
	const struct yaml_node *usb, *known_good, *stock, *layout, *results, *console, *hooks, *modules, *timeouts;
};

static const struct bind_field fastboot_fields[] = {
	BIND("program", BIND_TEXT, struct fastboot_layer, fastboot.program),
	BIND("adb_program", BIND_TEXT, struct fastboot_layer, fastboot.adb_program),
	BIND("mkbootimg", BIND_TEXT, struct fastboot_layer, fastboot.mkbootimg),
	BIND("serial", BIND_TEXT, struct fastboot_layer, fastboot.serial),
	BIND("adb_serial", BIND_TEXT, struct fastboot_layer, fastboot.adb_serial),
	BIND("product", BIND_TEXT, struct fastboot_layer, fastboot.product),
	BIND("usb", BIND_MAPPING, struct fastboot_layer, usb),
	BIND("method", BIND_WORD, struct fastboot_layer, fastboot.method, .words = method_words),
	BIND("slots", BIND_BOOL, struct fastboot_layer, fastboot.slots),
	BIND("start", BIND_WORD, struct fastboot_layer, start, .words = start_words),
	BIND("partition", BIND_TEXT, struct fastboot_layer, fastboot.partition),
	BIND("writable", BIND_TEXTS, struct fastboot_layer, fastboot.writable),
	BIND("known_good", BIND_ANY, struct fastboot_layer, known_good),
	BIND("stock", BIND_MAPPING, struct fastboot_layer, stock),
	BIND("vbmeta", BIND_WORD, struct fastboot_layer, fastboot.vbmeta, .words = vbmeta_words),
	BIND("layout", BIND_MAPPING, struct fastboot_layer, layout),
	BIND("cmdline_channel", BIND_WORD, struct fastboot_layer, channel, .words = channel_words),
	BIND("userspace", BIND_WORD, struct fastboot_layer, fastboot.userspace, .words = userspace_words),
	BIND("vendor_modules", BIND_TEXT, struct fastboot_layer, fastboot.vendor_modules),
	BIND("watchdog", BIND_TEXT, struct fastboot_layer, fastboot.watchdog),
	BIND("results", BIND_ANY, struct fastboot_layer, results),
	BIND("console", BIND_ANY, struct fastboot_layer, console),
	BIND("console_baud", BIND_COUNT, struct fastboot_layer, fastboot.console_baud, .min = 1200, .max = 4000000),
	BIND("mark_successful", BIND_BOOL, struct fastboot_layer, fastboot.mark_successful),
	BIND("hooks", BIND_MAPPING, struct fastboot_layer, hooks),
	BIND("modules", BIND_MAPPING, struct fastboot_layer, modules),
	BIND("download_rate", BIND_SIZE, struct fastboot_layer, fastboot.timeouts.bytes_per_s, .min = 1024, .max = 100 * GIB),
	BIND("timeouts", BIND_MAPPING, struct fastboot_layer, timeouts),
	BIND("exact", BIND_BOOL, struct fastboot_layer, fastboot.exact),
	BIND("pmu", BIND_BOOL, struct fastboot_layer, fastboot.pmu),
};
const struct bind_table fastboot_keys = { "fastboot", fastboot_fields, ARRAY_SIZE(fastboot_fields), false };

static const struct bind_field usb_fields[] = {
	BIND("hub", BIND_TEXT, struct fastboot_settings, usb_hub, .required = true),
	BIND("port", BIND_TEXT, struct fastboot_settings, usb_port, .required = true),
};
const struct bind_table usb_keys = { "usb", usb_fields, ARRAY_SIZE(usb_fields), false };

struct hooks_layer {
	const struct yaml_node *on, *off, *cycle, *enter_fastboot, *read;
};

static const struct bind_field hooks_fields[] = {
	BIND("on", BIND_ANY, struct hooks_layer, on),	    BIND("off", BIND_ANY, struct hooks_layer, off),
	BIND("cycle", BIND_ANY, struct hooks_layer, cycle), BIND("enter_fastboot", BIND_ANY, struct hooks_layer, enter_fastboot),
	BIND("read", BIND_ANY, struct hooks_layer, read),
};
const struct bind_table hooks_keys = { "hooks", hooks_fields, ARRAY_SIZE(hooks_fields), false };

#define TIME(key_, member_) BIND(key_, BIND_TIME, struct fastboot_timeouts, member_, .min = 1, .max = 24 * HOUR_MS)
static const struct bind_field fastboot_timeouts_fields[] = {
	TIME("getvar", getvar_ms), TIME("flash", flash_ms), TIME("command", command_ms), TIME("fastboot", fastboot_ms),
	TIME("leave", leave_ms),   TIME("up", up_ms),	    TIME("adb", adb_ms),	 TIME("hook", hook_ms),
};
const struct bind_table fastboot_timeouts_keys = { "fastboot_timeouts", fastboot_timeouts_fields,
						   ARRAY_SIZE(fastboot_timeouts_fields), false };

void profile_fastboot_init(struct fastboot_settings *fastboot)
{
	*fastboot = (struct fastboot_settings){
		.program = xstrdup("fastboot"),
		.adb_program = xstrdup("adb"),
		.mkbootimg = xstrdup("mkbootimg"),
		.start = xstrdup("reboot"),
		.partition = xstrdup("boot"),
		.cmdline_channel = xstrdup("image"),
		.vendor_modules = xstrdup("/lib/modules"),
		.layout = { .page_size = 4096 },
		.console_baud = 115200,
		.pmu = true,
		.timeouts = {
			.getvar_ms = 5000,
			.bytes_per_s = 2 << 20,
			.flash_ms = 120000,
			.command_ms = 15000,
			.fastboot_ms = 60000,
			.leave_ms = 20000,
			.up_ms = 180000,
			.adb_ms = 30000,
			.hook_ms = 60000,
		},
	};
}

void profile_fastboot_deinit(struct fastboot_settings *fastboot)
{
	char *const texts[] = {
		fastboot->program,
		fastboot->adb_program,
		fastboot->mkbootimg,
		fastboot->serial,
		fastboot->adb_serial,
		fastboot->product,
		fastboot->usb_hub,
		fastboot->usb_port,
		fastboot->start,
		fastboot->partition,
		fastboot->known_good,
		fastboot->stock.boot,
		fastboot->stock.vendor_boot,
		fastboot->stock.init_boot,
		fastboot->stock.vbmeta,
		fastboot->layout.dtb,
		fastboot->layout.os_version,
		fastboot->layout.os_patch_level,
		fastboot->cmdline_channel,
		fastboot->vendor_modules,
		fastboot->watchdog,
		fastboot->results_partition,
		fastboot->console,
		fastboot->hooks.on,
		fastboot->hooks.off,
		fastboot->hooks.cycle,
		fastboot->hooks.enter_fastboot,
		fastboot->hooks.read,
		fastboot->hooks.dir,
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	strlist_deinit(&fastboot->writable);
	profile_modules_free(fastboot);
}

static void read_hooks(struct hooks *hooks, const struct yaml_node *node, struct error **errors)
{
	struct hooks_layer layer = { NULL, NULL, NULL, NULL, NULL };
	bind_mapping(node, &hooks_keys, "'hooks'", &layer, errors);
	profile_read_hook(layer.on, "'on' of 'hooks'", &hooks->on, &hooks->dir, errors);
	profile_read_hook(layer.off, "'off' of 'hooks'", &hooks->off, &hooks->dir, errors);
	profile_read_hook(layer.cycle, "'cycle' of 'hooks'", &hooks->cycle, &hooks->dir, errors);
	profile_read_hook(layer.enter_fastboot, "'enter_fastboot' of 'hooks'", &hooks->enter_fastboot, &hooks->dir, errors);
	profile_read_hook(layer.read, "'read' of 'hooks'", &hooks->read, &hooks->dir, errors);
}

/* console, adb, usb-acm, pstore, pstore:PARTITION, block:PARTITION */
static void read_results(struct fastboot_settings *fastboot, const struct yaml_node *node, struct error **errors)
{
	if (!bind_expect_text(node, "'results' of 'fastboot'", errors))
		return;
	const char *colon = strchr(node->text, ':');
	AUTO_FREE char *word = xstrndup(node->text, colon ? (size_t)(colon - node->text) : strlen(node->text));
	size_t i = 0;
	while (results_words[i] && strcmp(results_words[i], word) != 0)
		i++;
	bool block = i == RESULTS_BLOCK, pstore = i == RESULTS_PSTORE;
	if (!results_words[i] || (colon && !block && !pstore) || (block && !colon)) {
		error_join(errors, error_at(node->pos,
					    "'results' of 'fastboot' must be console, adb, usb-acm, pstore, "
					    "pstore:PARTITION or block:PARTITION, not '%s'",
					    node->text));
		return;
	}
	fastboot->results = (enum results)i;
	free(fastboot->results_partition);
	fastboot->results_partition = colon ? xstrdup(colon + 1) : NULL;
	profile_expect_partition(fastboot->results_partition, node->pos, errors);
}

/* none, a device file, or unix:PATH */
static void read_console(struct fastboot_settings *fastboot, const struct yaml_node *node, struct error **errors)
{
	if (!bind_expect_text(node, "'console' of 'fastboot'", errors))
		return;
	free(fastboot->console);
	fastboot->console = NULL;
	if (!strcmp(node->text, "none"))
		return;
	bool unix_socket = str_starts(node->text, UNIX_PREFIX) && node->text[strlen(UNIX_PREFIX)];
	if (!unix_socket && !str_starts(node->text, "/dev/")) {
		error_join(errors, error_at(node->pos,
					    "'console' of 'fastboot' must be none, a terminal such as /dev/ttyUSB0, or "
					    "unix:PATH, not '%s'",
					    node->text));
		return;
	}
	struct yaml_node path = *node;
	path.text = node->text + (unix_socket ? strlen(UNIX_PREFIX) : 0);
	AUTO_FREE char *absolute = search_absolute(&path);
	fastboot->console = xasprintf("%s%s", unix_socket ? UNIX_PREFIX : "", absolute);
}

void profile_fastboot_read(struct fastboot_settings *fastboot, const struct yaml_node *node, struct error **errors)
{
	struct fastboot_layer layer = { .fastboot = *fastboot, .start = -1, .channel = -1 };
	bind_mapping(node, &fastboot_keys, "'fastboot'", &layer, errors);
	*fastboot = layer.fastboot;
	if (layer.start >= 0) {
		free(fastboot->start);
		fastboot->start = xstrdup(start_words[layer.start]);
	}
	if (layer.channel >= 0) {
		free(fastboot->cmdline_channel);
		fastboot->cmdline_channel = xstrdup(channel_words[layer.channel]);
	}
	if (layer.usb)
		bind_mapping(layer.usb, &usb_keys, "'usb'", fastboot, errors);
	if (layer.stock)
		profile_stock_read(&fastboot->stock, layer.stock, errors);
	if (layer.layout)
		profile_layout_read(&fastboot->layout, layer.layout, errors);
	if (layer.hooks)
		read_hooks(&fastboot->hooks, layer.hooks, errors);
	if (layer.modules)
		profile_modules_read(fastboot, layer.modules, errors);
	if (layer.results)
		read_results(fastboot, layer.results, errors);
	if (layer.console)
		read_console(fastboot, layer.console, errors);
	if (layer.timeouts)
		bind_mapping(layer.timeouts, &fastboot_timeouts_keys, "'timeouts' of 'fastboot'", &fastboot->timeouts, errors);
	profile_read_path(layer.known_good, "'known_good' of 'fastboot'", &fastboot->known_good, errors);
	const struct yaml_node *partition = yaml_get(node, "partition"), *writable = yaml_get(node, "writable");
	if (partition)
		profile_expect_partition(fastboot->partition, partition->pos, errors);
	for (size_t i = 0; writable && i < fastboot->writable.n; i++)
		profile_expect_partition(fastboot->writable.items[i], writable->pos, errors);
}

static bool is_listed(const struct fastboot_settings *fastboot, const char *partition)
{
	return !strcmp(fastboot->partition, partition) || strlist_has(&fastboot->writable, partition);
}

static void check_partitions(const struct fastboot_settings *fastboot, struct pos pos, struct error **errors)
{
	for (size_t i = 0; i < fastboot->n_modules; i++)
		for (size_t k = 0; k < fastboot->modules[i].n_images; k++) {
			const char *partition = fastboot->modules[i].images[k].partition;
			if (!is_listed(fastboot, partition))
				error_join(errors, error_at(pos,
							    "partition '%s' has an image of modules, but is not in 'writable' of "
							    "'fastboot'",
							    partition));
		}
	if (!strcmp(fastboot->cmdline_channel, "bootconfig") && !is_listed(fastboot, "vendor_boot"))
		error_join(errors,
			   error_at(pos, "'cmdline_channel: bootconfig' writes vendor_boot, which is not in 'writable' of "
					 "'fastboot'"));
}

static void check_results(const struct profile *profile, struct pos pos, struct error **errors)
{
	const struct fastboot_settings *fastboot = &profile->fastboot;
	bool android = fastboot->userspace == USERSPACE_ANDROID;
	if (fastboot->results == RESULTS_CONSOLE && !fastboot->console && fastboot->serial)
		error_join(errors, error_at(pos, "'results: console' needs a 'console'"));
	if (fastboot->results == RESULTS_ADB && !android)
		error_join(errors, error_at(pos, "'results: adb' needs 'userspace: android'"));
	if (fastboot->results == RESULTS_USB_ACM && fastboot->userspace != USERSPACE_CHAINED)
		error_join(errors, error_at(pos, "'results: usb-acm' needs 'userspace: chained', which brings up the gadget"));
	bool kept = fastboot->results == RESULTS_BLOCK || fastboot->results == RESULTS_PSTORE;
	if (fastboot->serial && kept && !fastboot->hooks.read && !fastboot->adb_serial && !fastboot->console)
		error_join(errors, error_at(pos,
					    "'results: %s' needs a way to what the device has kept: 'read' in 'hooks', or the "
					    "known-good kernel's 'adb_serial' or 'console'",
					    results_name(fastboot->results)));
}

void profile_fastboot_check(const struct profile *profile, struct pos pos, struct error **errors)
{
	const struct fastboot_settings *fastboot = &profile->fastboot;
	/* A profile that is for any device of a kind has neither these nor the files; the device that is used must. */
	if (fastboot->serial && !fastboot->product)
		error_join(errors,
			   error_at(pos,
				    "a device of kind 'fastboot' needs 'product' in 'fastboot': what `fastboot getvar product` "
				    "says"));
	if (fastboot->method == FASTBOOT_METHOD_FLASH_INACTIVE && !fastboot->slots)
		error_join(errors, error_at(pos, "'method: flash-inactive' needs 'slots: true'"));
	if (fastboot->serial && fastboot->method != FASTBOOT_METHOD_BOOT && !fastboot->known_good)
		error_join(errors, error_at(pos, "'method: %s' needs 'known_good', the boot image that is put back",
					    fastboot_method_name(fastboot->method)));
	if (fastboot->serial && (profile->stock || fastboot->userspace == USERSPACE_ANDROID) && !fastboot->stock.boot)
		error_join(errors, error_at(pos, "%s needs 'boot' in 'stock', the image that the device came with",
					    profile->stock ? "'image: stock'" : "'userspace: android'"));
	if (fastboot->exact && fastboot->userspace == USERSPACE_ANDROID)
		error_join(errors,
			   error_at(pos,
				    "'exact' and 'userspace: android' exclude each other: Android never does the same twice"));
	check_results(profile, pos, errors);
	check_partitions(fastboot, pos, errors);
}

void profile_fastboot_hash(const struct fastboot_settings *fastboot, struct hash *hash)
{
	hash_field(hash, "product", fastboot->product);
	hash_field(hash, "method", fastboot_method_name(fastboot->method));
	hash_field(hash, "userspace", userspace_name(fastboot->userspace));
	hash_field(hash, "results", results_name(fastboot->results));
	hash_field(hash, "channel", fastboot->cmdline_channel);
	hash_field(hash, "watchdog", fastboot->watchdog);
	hash_field(hash, "pmu", fastboot->pmu ? "1" : "0");
	profile_images_hash(fastboot, hash);
}
