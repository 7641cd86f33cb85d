/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the records come from when Android is not up: a console, a USB serial gadget, or something that keeps them over the reboot. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "device/fastboot_parts.h"
#include "device/records_file.h"
#include "device/terminal.h"

#define CLASS_TTY "/sys/class/tty"
#define GADGET_POLL_MS 100
#define GADGET_BAUD 115200

static bool has_console(const struct fastboot_settings *settings)
{
	return settings->console && strcmp(settings->console, "none");
}

struct error *phone_open_console(struct phone *phone, int64_t wait_ms, int *fd_out)
{
	const struct fastboot_settings *settings = phone->settings;

	if (settings->results != RESULTS_CONSOLE || !has_console(settings))
		return NULL;
	return terminal_open(settings->console, settings->console_baud, clock_deadline(wait_ms), phone->fastboot.guard, fd_out);
}

/* The records in `data`; an empty file where there are none. */
static struct error *open_records(struct phone *phone, enum records_medium medium, const struct strbuf *data, const char *nonce,
				  int *fd_out)
{
	struct sift_counts counts = { 0 };

	struct error *error = records_file_open(medium, strbuf_str(data), data->len, nonce, fd_out, &counts);
	if (error)
		return error;
	AUTO_FREE char *text =
		xasprintf("%zu records of this boot, %zu of others, in %zu bytes", counts.own, counts.foreign, data->len);
	phone_note(phone, "records", text);
	return NULL;
}

static struct error *collect_gadget(struct phone *phone, int64_t limit_ms, int *fd_out, char **death_out)
{
	const int64_t deadline = clock_deadline(limit_ms);
	const struct strbuf nothing = STRBUF_INIT;

	while (clock_ms() < deadline) {
		AUTO_FREE char *terminal = usb_terminal(CLASS_TTY, phone->usb_name);
		if (terminal)
			return terminal_open(terminal, GADGET_BAUD, deadline, phone->fastboot.guard, fd_out);
		struct error *error = guard_sleep(phone->fastboot.guard, GADGET_POLL_MS);
		if (error)
			return error;
	}
	*death_out = xasprintf("hang: no serial gadget at USB port %s after %g s", phone->usb_name, (double)limit_ms / 1000);
	return open_records(phone, RECORDS_PSTORE, &nothing, NULL, fd_out);
}

/* The known-good kernel reads what the earlier boot left and tells it: over the console, or into the results partition. */
static struct error *start_relay(struct phone *phone, const char *nonce, const char *dir)
{
	const struct fastboot_settings *settings = phone->settings;
	AUTO_FREE char *image = path_join(dir, "relay.img");
	AUTO_FREE char *target =
		settings->results_partition ? xasprintf("block:%s", settings->results_partition) : xstrdup("console");
	AUTO_FREE char *source =
		settings->results == RESULTS_BLOCK ? xasprintf("block:%s", settings->results_partition) : xstrdup("pmsg");
	bool to_console = settings->results == RESULTS_BLOCK || !settings->results_partition;
	char build_id[BUILD_ID_HEX_SIZE];
	AUTO_FREE char *text =
		xasprintf("version=1\nfinish=%s\nrelay=%s\nresults=%s\nnonce=%s\n%s", phone_finish(settings), source,
			  to_console ? "console" : target, nonce, settings->userspace == USERSPACE_CHAINED ? "chain=1\n" : "");

	struct error *error = phone_pack_known_good(phone, text, dir, image, build_id);
	return error ? error : phone_run_image(phone, image, NULL);
}

static struct error *relay_to_console(struct phone *phone, const char *nonce, const char *dir, int *fd_out)
{
	const struct fastboot_settings *settings = phone->settings;
	AUTO_CLOSE int fd = -1;

	if (!has_console(settings))
		return error_new(ERROR_LAB,
				 "nothing reads the records: the profile has neither hooks.read nor a console for the known-good "
				 "kernel to tell them");
	struct error *error = terminal_open(settings->console, settings->console_baud,
					    clock_deadline(settings->timeouts.command_ms), phone->fastboot.guard, &fd);
	if (!error)
		error = start_relay(phone, nonce, dir);
	if (error)
		return error;
	*fd_out = fd;
	fd = -1;
	return NULL;
}

static struct error *relay_to_partition(struct phone *phone, const char *nonce, const char *dir)
{
	const int64_t patience = phone->profile->boot_timeout_ms + phone->settings->timeouts.fastboot_ms;

	struct error *error = start_relay(phone, nonce, dir);
	return error ? error : phone_enter_fastboot(phone, patience);
}

/* From known-good Android. */
static struct error *read_over_adb(struct phone *phone, const char *dir, struct strbuf *data)
{
	const struct fastboot_settings *settings = phone->settings;
	AUTO_FREE char *file = path_join(dir, "kept");
	AUTO_FREE char *command =
		settings->results == RESULTS_BLOCK
			? xasprintf("cat /dev/block/by-name/%s >/data/local/tmp/memcg-ab.kept", settings->results_partition)
			: xstrdup("cat /sys/fs/pstore/pmsg-ramoops-* >/data/local/tmp/memcg-ab.kept");
	AUTO_FREE char *why_not = NULL;
	int status = -1;

	struct error *error = phone_run_image(phone, settings->known_good, NULL);
	if (!error)
		error = phone_await_android(phone, &why_not);
	if (!error && why_not)
		error = error_new(ERROR_LAB, "the known-good image: %s", why_not);
	if (!error)
		error = adb_root(&phone->adb);
	if (!error)
		error = adb_shell(&phone->adb, true, command, NULL, &status);
	if (!error && status)
		error = error_new(ERROR_LAB, "Android cannot read what the boot left (status %d)", status);
	if (!error)
		error = adb_pull(&phone->adb, "/data/local/tmp/memcg-ab.kept", file);
	return error ? error : file_read(file, data);
}

static struct error *collect_kept(struct phone *phone, const char *nonce, const char *dir, int *fd_out)
{
	const struct fastboot_settings *settings = phone->settings;
	bool in_partition = settings->results_partition;
	AUTO_STRBUF data = STRBUF_INIT;
	struct error *error = NULL;

	if (settings->hooks.read) {
		if (settings->results == RESULTS_PSTORE && in_partition)
			error = relay_to_partition(phone, nonce, dir);
		if (!error)
			error = phone_hook(phone, "read", settings->hooks.read,
					   in_partition ? settings->results_partition : "pmsg", &data);
	} else if (settings->adb_serial) {
		error = read_over_adb(phone, dir, &data);
		in_partition = settings->results == RESULTS_BLOCK;
	} else {
		return relay_to_console(phone, nonce, dir, fd_out);
	}
	return error ? error : open_records(phone, in_partition ? RECORDS_PARTITION : RECORDS_PSTORE, &data, nonce, fd_out);
}

struct error *phone_collect(struct phone *phone, const char *nonce, const char *dir, int64_t limit_ms, int *fd_out,
			    char **death_out)
{
	const struct strbuf nothing = STRBUF_INIT;
	enum device_state state;

	if (phone->settings->results == RESULTS_USB_ACM)
		return collect_gadget(phone, limit_ms, fd_out, death_out);
	struct error *error = phone_await_fastboot(phone, limit_ms, &state);
	if (error)
		return error;
	if (state == STATE_FASTBOOT)
		return collect_kept(phone, nonce, dir, fd_out);
	*death_out = xasprintf("hang: the device was not back in fastboot after %g s", (double)limit_ms / 1000);
	return open_records(phone, RECORDS_PARTITION, &nothing, nonce, fd_out);
}
