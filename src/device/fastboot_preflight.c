/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is found before the first write. The device is only asked. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/fastboot_parts.h"

void preflight_add(struct preflight *preflight, bool bad, const char *what, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	char *text = xvasprintf(format, args);
	va_end(args);
	preflight->findings = array_grow(preflight->findings, preflight->n, sizeof(*preflight->findings));
	preflight->findings[preflight->n++] = (struct preflight_finding){ bad, xstrdup(what), text };
}

struct error *phone_reply_error(struct fastboot_reply *reply, const char *what)
{
	AUTO_FREE char *text = reply->outcome == FASTBOOT_OKAY ? NULL : fastboot_reply_text(reply, what);

	fastboot_reply_deinit(reply);
	return text ? error_new(ERROR_LAB, "%s", text) : NULL;
}

static struct error *read_fact(struct phone *phone, const char *name, struct facts *facts)
{
	struct fastboot_reply reply;
	AUTO_FREE char *value = NULL;

	struct error *error = fastboot_getvar(&phone->fastboot, name, &value, &reply);
	if (error)
		return error;
	/* A refusal means that it does not know the name; silence, that something is wrong with it. */
	if (reply.outcome == FASTBOOT_REFUSED)
		fastboot_reply_deinit(&reply);
	else
		error = phone_reply_error(&reply, name);
	if (!error)
		facts_set(facts, name, value);
	return error;
}

static void add_names(const struct fastboot_settings *settings, struct strlist *names)
{
	static const char *const plain[] = { "product",
					     "serialno",
					     "is-userspace",
					     "unlocked",
					     "secure",
					     "version-bootloader",
					     "max-download-size",
					     "battery-soc-ok",
					     "battery-voltage",
					     "snapshot-update-status",
					     "slot-count",
					     "current-slot" };
	const char *partition = settings->partition ? settings->partition : "boot";

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		strlist_add(names, plain[i]);
	for (char slot = 'a'; settings->slots && slot <= 'b'; slot++) {
		strlist_addf(names, "slot-retry-count:%c", slot);
		strlist_addf(names, "slot-unbootable:%c", slot);
		strlist_addf(names, "slot-successful:%c", slot);
		strlist_addf(names, "partition-size:%s_%c", partition, slot);
		for (size_t i = 0; i < settings->writable.n; i++)
			strlist_addf(names, "partition-size:%s_%c", settings->writable.items[i], slot);
	}
	strlist_addf(names, "has-slot:%s", partition);
	if (!settings->slots) {
		strlist_addf(names, "partition-size:%s", partition);
		for (size_t i = 0; i < settings->writable.n; i++)
			strlist_addf(names, "partition-size:%s", settings->writable.items[i]);
	}
}

struct error *phone_read_facts(struct phone *phone)
{
	AUTO_STRLIST names = { NULL, 0 };
	struct error *error = NULL;

	add_names(phone->settings, &names);
	for (size_t i = 0; !error && i < names.n; i++)
		error = read_fact(phone, names.items[i], &phone->facts);
	return error;
}

struct error *phone_check_same(struct phone *phone)
{
	static const char *const names[] = { "product", "serialno" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *was = facts_get(&phone->facts, names[i]);
		struct facts now = { NULL, 0 };
		struct error *error = was ? read_fact(phone, names[i], &now) : NULL;
		const char *is = facts_get(&now, names[i]);
		if (!error && was && (!is || strcmp(is, was))) {
			error = error_new(ERROR_LAB, "another device answers: its %s was %s, and is %s", names[i], was,
					  is ? is : "not told");
			/* Nothing more is said to that one, not even to put the known-good image back. */
			if (phone->lane && !phone->lane->lost)
				phone->lane->lost = xstrdup(error_message(error));
		}
		facts_deinit(&now);
		if (error)
			return error;
	}
	return NULL;
}

static bool is_yes(const char *value)
{
	return value && (!strcmp(value, "yes") || !strcmp(value, "true") || !strcmp(value, "1"));
}

static bool is_no(const char *value)
{
	return value && (!strcmp(value, "no") || !strcmp(value, "false") || !strcmp(value, "0"));
}

static void judge_product(const struct fastboot_settings *settings, const struct facts *facts, struct preflight *preflight)
{
	const char *product = facts_get(facts, "product");

	if (!settings->product)
		preflight_add(preflight, false, "product", "%s; the profile does not say which it must be",
			      product ? product : "not told");
	else if (!product)
		preflight_add(preflight, true, "product", "not told, expected %s: another device may be attached",
			      settings->product);
	else
		preflight_add(preflight, strcmp(product, settings->product), "product", "%s%s%s", product,
			      strcmp(product, settings->product) ? ", expected " : "",
			      strcmp(product, settings->product) ? settings->product : "");
}

static void judge_serial(const struct fastboot_settings *settings, const struct facts *facts, struct preflight *preflight)
{
	const char *serial = facts_get(facts, "serialno");
	bool named = usb_is_serial(settings->serial) && !str_starts(settings->serial, "usb:");

	if (serial)
		preflight_add(preflight, named && strcmp(serial, settings->serial), "serialno", "%s%s%s", serial,
			      named && strcmp(serial, settings->serial) ? ", expected " : "",
			      named && strcmp(serial, settings->serial) ? settings->serial : "");
}

static void judge_lock(const struct facts *facts, struct preflight *preflight)
{
	const char *unlocked = facts_get(facts, "unlocked"), *secure = facts_get(facts, "secure");

	if (is_no(unlocked))
		preflight_add(preflight, true, "unlocked", "no: the bootloader is locked, and the tool never unlocks");
	else if (is_yes(unlocked))
		preflight_add(preflight, false, "unlocked", "yes");
	else
		preflight_add(preflight, false, "unlocked", "not told%s%s; a locked bootloader refuses the first write",
			      secure ? ", secure: " : "", secure ? secure : "");
	if (is_yes(facts_get(facts, "is-userspace")))
		preflight_add(preflight, true, "is-userspace",
			      "yes: this is fastbootd, which boots nothing; reboot into the bootloader");
}

static void judge_power(const struct facts *facts, struct preflight *preflight)
{
	const char *good = facts_get(facts, "battery-soc-ok"), *voltage = facts_get(facts, "battery-voltage");
	const char *snapshot = facts_get(facts, "snapshot-update-status");

	if (is_no(good))
		preflight_add(preflight, true, "battery-soc-ok", "no%s%s: charge it first", voltage ? ", battery-voltage " : "",
			      voltage ? voltage : "");
	else if (voltage)
		preflight_add(preflight, false, "battery-voltage", "%s", voltage);
	if (snapshot && strcmp(snapshot, "none"))
		preflight_add(preflight, true, "snapshot-update-status",
			      "%s: an update is being merged, and a write now could destroy the system; let it finish", snapshot);
}

static void judge_one_slot(const struct facts *facts, char slot, bool used, struct preflight *preflight)
{
	AUTO_FREE char *retry_name = xasprintf("slot-retry-count:%c", slot);
	AUTO_FREE char *unbootable_name = xasprintf("slot-unbootable:%c", slot);
	const char *retries = facts_get(facts, retry_name);
	AUTO_FREE char *exhausted = slot_exhausted(facts, slot);

	if (is_yes(facts_get(facts, unbootable_name)))
		preflight_add(preflight, used, unbootable_name, "yes: the bootloader does not start this slot any more");
	if (exhausted)
		preflight_add(preflight, used, retry_name, "%s", exhausted);
	else if (retries)
		preflight_add(preflight, false, retry_name, "%s", retries);
}

static void judge_slots(const struct fastboot_settings *settings, const struct facts *facts, char used,
			struct preflight *preflight)
{
	const char *count = facts_get(facts, "slot-count"), *current = facts_get(facts, "current-slot");
	const char *partition = settings->partition ? settings->partition : "boot";
	AUTO_FREE char *has_name = xasprintf("has-slot:%s", partition);
	bool has = count ? strtoul(count, NULL, 0) > 1 : is_yes(facts_get(facts, has_name));

	if (has != settings->slots) {
		preflight_add(preflight, true, "slot-count", "%s, but the profile says slots: %s",
			      count ? count
			      : has ? "slots"
				    : "no slots",
			      settings->slots ? "true" : "false");
		return;
	}
	if (!settings->slots)
		return;
	if (!current || !fastboot_parse_slot(current))
		preflight_add(preflight, true, "current-slot", "%s: neither a nor b", current ? current : "not told");
	else
		preflight_add(preflight, false, "current-slot", "%s", current);
	for (char slot = 'a'; slot <= 'b'; slot++)
		judge_one_slot(facts, slot, slot == used, preflight);
}

static void judge_sizes(const struct fastboot_settings *settings, const struct facts *facts, char slot,
			struct preflight *preflight)
{
	AUTO_FREE char *partition = slot_partition(settings->partition ? settings->partition : "boot", slot);
	AUTO_FREE char *size_name = xasprintf("partition-size:%s", partition);
	const char *size = facts_get(facts, size_name), *download = facts_get(facts, "max-download-size");
	uint64_t bytes;

	if (!size)
		preflight_add(preflight, false, size_name, "not told: an image that is too large is found out when it was sent");
	else if (!fastboot_parse_size(size, true, &bytes) || !bytes)
		preflight_add(preflight, true, size_name, "\"%s\" is no size", size);
	else
		preflight_add(preflight, false, size_name, "%s (%" PRIu64 " bytes)", size, bytes);
	if (!download)
		preflight_add(preflight, false, "max-download-size", "not told");
	else if (!fastboot_parse_size(download, false, &bytes) || !bytes)
		preflight_add(preflight, true, "max-download-size", "\"%s\" is no size", download);
	else
		preflight_add(preflight, false, "max-download-size", "%s (%" PRIu64 " bytes)", download, bytes);
}

void preflight_judge(const struct fastboot_settings *settings, const struct facts *facts, char slot, struct preflight *preflight)
{
	judge_product(settings, facts, preflight);
	judge_serial(settings, facts, preflight);
	judge_lock(facts, preflight);
	judge_power(facts, preflight);
	judge_slots(settings, facts, slot, preflight);
	judge_sizes(settings, facts, slot, preflight);
	if (settings->vbmeta == VBMETA_DISABLE)
		preflight_add(
			preflight, true, "vbmeta",
			"'vbmeta: disable' is not done by this tool: switch verification off once by hand, then say 'keep'");
}

/* Why a file of `size` bytes does not go into the partition, or NULL; the caller frees. */
static char *size_refusal(const struct facts *facts, const char *partition, uint64_t size)
{
	AUTO_FREE char *size_name = xasprintf("partition-size:%s", partition);
	const char *room = facts_get(facts, size_name), *download = facts_get(facts, "max-download-size");
	uint64_t bytes;

	if (room && fastboot_parse_size(room, true, &bytes) && bytes && size > bytes)
		return xasprintf("%" PRIu64 " bytes, but partition %s has %" PRIu64, size, partition, bytes);
	/* The client would send a larger one in pieces, which few bootloaders put together. */
	if (download && fastboot_parse_size(download, false, &bytes) && bytes && size > bytes)
		return xasprintf("%" PRIu64 " bytes, but the device takes %" PRIu64 " at once (max-download-size)", size, bytes);
	return NULL;
}

struct error *phone_check_size(const struct phone *phone, const char *partition, const char *file)
{
	uint64_t size;
	struct error *error = file_size(file, &size);
	AUTO_FREE char *refusal = error ? NULL : size_refusal(&phone->facts, partition, size);

	return error || !refusal ? error : error_new(ERROR_LAB, "%s does not fit: %s", path_basename(file), refusal);
}

/* *image_out stays empty (total 0) when the file cannot be read. */
static void judge_file(const char *what, const char *path, const char *partition, const struct facts *facts,
		       struct bootimg *image_out, struct preflight *preflight)
{
	struct bootimg image;
	uint64_t size = 0;
	AUTO_ERROR error = bootimg_read(path, NULL, &image);
	AUTO_ERROR size_error = error ? NULL : file_size(path, &size);

	if (error || size_error) {
		preflight_add(preflight, true, what, "%s", error_message(error ? error : size_error));
		return;
	}
	AUTO_FREE char *refusal = size_refusal(facts, partition, size);
	if (refusal)
		preflight_add(preflight, true, what, "%s: %s", path, refusal);
	else
		preflight_add(preflight, false, what, "%s, header v%u", path, image.version);
	*image_out = image;
}

void preflight_judge_files(const struct fastboot_settings *settings, const struct facts *facts, char slot,
			   struct preflight *preflight)
{
	AUTO_FREE char *partition = slot_partition(settings->partition ? settings->partition : "boot", slot);
	AUTO_FREE char *vendor = slot_partition("vendor_boot", slot);
	struct bootimg known_good = { .total = 0 }, stock = { .total = 0 }, vendor_boot = { .total = 0 };

	if (settings->known_good)
		judge_file("known_good", settings->known_good, partition, facts, &known_good, preflight);
	else
		preflight_add(preflight, settings->method != FASTBOOT_METHOD_BOOT, "known_good",
			      "not given: the device cannot be proved to work%s",
			      settings->method == FASTBOOT_METHOD_BOOT ? "" : ", and nothing could be put back");
	if (settings->stock.boot)
		judge_file("stock.boot", settings->stock.boot, partition, facts, &stock, preflight);
	if (settings->stock.vendor_boot)
		judge_file("stock.vendor_boot", settings->stock.vendor_boot, vendor, facts, &vendor_boot, preflight);
	AUTO_FREE char *difference = known_good.total && stock.total ? bootimg_shape_difference(&known_good, &stock) : NULL;
	if (difference)
		preflight_add(preflight, true, "known_good", "%s", difference);
	if (known_good.total && settings->userspace != USERSPACE_ANDROID && known_good.version != settings->layout.header_version)
		preflight_add(preflight, true, "layout.header_version", "%u, but the known-good image has v%u",
			      settings->layout.header_version, known_good.version);
}

struct error *preflight_error(const struct preflight *preflight)
{
	AUTO_STRBUF text = STRBUF_INIT;

	for (size_t i = 0; i < preflight->n; i++) {
		const struct preflight_finding *finding = &preflight->findings[i];
		if (finding->bad)
			strbuf_addf(&text, "%s%s: %s", text.len ? "; " : "", finding->what, finding->text);
	}
	return text.len ? error_new(ERROR_LAB, "preflight: %s", strbuf_str(&text)) : NULL;
}
