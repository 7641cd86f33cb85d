/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The image that is known to be good: proved before anything else is written, and what the device is left with. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "device/console.h"
#include "device/fastboot_parts.h"
#include "device/settings.h"

/* How long a proof holds. */
#define PROOF_S 86400
#define CONSOLE_SETTLE_MS 5000

/* Beside the lock, since it is of the device: "sha256 UTC\n". */
static char *proof_path(const struct phone *phone)
{
	return phone->context->lock_path ? xasprintf("%s.known-good", phone->context->lock_path) : NULL;
}

static bool was_proved(const struct phone *phone, const char *sha256)
{
	AUTO_FREE char *path = proof_path(phone);
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_ERROR error = path ? file_read(path, &text) : NULL;
	char hash[HASH_HEX_SIZE];
	int64_t utc_s;

	if (!path || error || sscanf(strbuf_str(&text), "%64s %" SCNd64, hash, &utc_s) != 2)
		return false;
	int64_t age = clock_utc_s() - utc_s;
	return !strcmp(hash, sha256) && age >= 0 && age < PROOF_S;
}

static struct error *note_proof(const struct phone *phone, const char *sha256)
{
	AUTO_FREE char *path = proof_path(phone);
	AUTO_FREE char *text = xasprintf("%s %" PRId64 "\n", sha256, clock_utc_s());

	return path ? file_write_atomic(path, text, strlen(text), 0644) : NULL;
}

/* Remembers what ran, so that a boot that tells the same id is none. */
static void remember(struct phone *phone, const char *boot_id)
{
	strlist_add(&phone->boot_ids, boot_id);
	free(phone->boot_id_before);
	phone->boot_id_before = xstrdup(boot_id);
}

static const char *told(const struct console *console, const char *name)
{
	for (size_t i = 0; i < console->n_slots; i++)
		if (console->records[i] && console->records[i]->type == WIRE_IDENTITY && !strcmp(console->records[i]->name, name))
			return console->records[i]->value;
	return NULL;
}

/* Listens until the agent has had its say. */
static struct error *hear(struct phone *phone, int fd, const char *build_id)
{
	const struct profile *profile = phone->profile;
	AUTO_FREE char *kept_path = path_join(phone->context->scratch_dir, "known-good-console");
	AUTO_CONSOLE console = console_new("");
	const struct console_limits limits = {
		.hello_deadline_ms = clock_deadline(profile->boot_timeout_ms),
		.run_deadline_ms = clock_deadline(profile->run_timeout_ms),
		.silence_ms = profile->silence_timeout_ms,
		.goes_on = true,
		.settle_ms = CONSOLE_SETTLE_MS,
	};
	enum console_stop stop;

	FILE *kept = fopen(kept_path, "we");
	if (!kept)
		return error_os(errno, "cannot write %s", kept_path);
	struct error *error = console_read(console, fd, fileno(kept), &limits, phone->fastboot.guard, &stop);
	fclose(kept);
	if (error)
		return error;
	const char *boot_id = told(console, "boot_id"), *found = told(console, "build_id");
	if (boot_id)
		remember(phone, boot_id);
	if (!console->hello)
		return error_new(ERROR_LAB, "no hello from our agent in it within %g s%s%s%s",
				 (double)profile->boot_timeout_ms / 1000,
				 console->last_line ? ", last line \"" : ", and nothing on the console",
				 console->last_line ? console->last_line : "", console->last_line ? "\"" : "");
	if (build_id && (!found || strcmp(found, build_id)))
		return error_new(ERROR_LAB, "its build id is %s, but what ran says %s", build_id, found ? found : "nothing");
	return NULL;
}

static struct error *prove_on_console(struct phone *phone)
{
	AUTO_CLOSE int fd = -1;

	struct error *error = phone_run_image(phone, phone->settings->known_good, &fd);
	if (!error && fd < 0)
		error = error_new(ERROR_LAB, "the profile says results: console, and has no console");
	return error ? error : hear(phone, fd, NULL);
}

static struct error *prove_on_adb(struct phone *phone)
{
	AUTO_FREE char *why_not = NULL;

	struct error *error = phone_run_image(phone, phone->settings->known_good, NULL);
	if (!error)
		error = phone_await_android(phone, &why_not);
	if (!error && why_not)
		error = error_new(ERROR_LAB, "%s", why_not);
	if (error)
		return error;
	AUTO_FREE char *boot_id = phone_adb_boot_id(phone);
	if (boot_id)
		remember(phone, boot_id);
	return NULL;
}

/* Where the records go elsewhere, its kernel with our agent proves the way they take. */
static struct error *prove_by_channel(struct phone *phone)
{
	AUTO_FREE char *dir = path_join(phone->context->scratch_dir, "known-good");
	AUTO_FREE char *image = path_join(dir, "proof.img");
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_CLOSE int fd = -1;
	char build_id[BUILD_ID_HEX_SIZE], nonce[SIFT_NONCE_LEN + 1];
	char *death = NULL;

	struct error *error = settings_draw_nonce(nonce);
	if (!error)
		error = file_mkdirs(dir);
	if (error)
		return error;
	strbuf_addf(&text, "version=1\nfinish=%s\nnonce=%s\n", phone_finish(phone->settings), nonce);
	phone_results_settings(phone->settings, &text);
	error = phone_pack_known_good(phone, strbuf_str(&text), dir, image, build_id);
	if (!error)
		error = phone_run_image(phone, image, NULL);
	if (!error)
		error = phone_collect(phone, nonce, dir, phone->profile->run_timeout_ms, &fd, &death);
	if (!error && death)
		error = error_new(ERROR_LAB, "%s", death);
	free(death);
	return error ? error : hear(phone, fd, build_id);
}

static struct error *prove(struct phone *phone)
{
	struct error *error = NULL;

	if (phone->slot && phone->slot != phone->found_slot)
		error = phone_activate(phone, phone->slot);
	if (error)
		return error;
	if (phone->settings->userspace == USERSPACE_ANDROID)
		return prove_on_adb(phone);
	return phone->settings->results == RESULTS_CONSOLE ? prove_on_console(phone) : prove_by_channel(phone);
}

struct error *phone_prove_known_good(struct phone *phone)
{
	const char *path = phone->settings->known_good;
	const struct profile *profile = phone->profile;
	char sha256[HASH_HEX_SIZE];

	if (!path)
		return NULL; /* nothing is written then, as preflight has seen to */
	struct error *error = hash_file(path, sha256);
	if (error || was_proved(phone, sha256))
		return error;
	log_info("%s: proving that %s boots", phone->context->name, path_basename(path));
	error = prove(phone);
	if (error && error_kind(error) == ERROR_INTERRUPTED)
		return error;
	struct error *back = phone_enter_fastboot(phone, profile->fastboot.timeouts.fastboot_ms);
	if (error) {
		error_free(back);
		return error_wrap(error, "the known-good image %s does not boot", path);
	}
	if (!back)
		back = phone_put_back(phone);
	return back ? back : note_proof(phone, sha256);
}

struct error *phone_put_back(struct phone *phone)
{
	struct error *error = NULL;

	if (phone->dirty)
		error = phone_flash(phone, phone->settings->partition ? phone->settings->partition : "boot",
				    phone->settings->known_good);
	if (!error)
		phone->dirty = false;
	return error ? error : phone_put_back_modules(phone);
}
