/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/fastboot_parts.h"
#include "device/journal.h"

#define POLL_MS 50
#define ADB_POLL_MS 1000

const char *device_state_name(enum device_state state)
{
	static const char *const names[] = {
		"off or not attached",	    "fastboot", "fastbootd", "booting", "up",
		"up with the wrong kernel", "crashed",	"ram dump",  "hung",
	};

	return names[state];
}

/* Nothing speaks; was it started, and may it still come? */
static enum device_state judge_silence(const struct device_evidence *evidence)
{
	bool started = evidence->limit_ms > 0;
	bool there = (evidence->on_usb && evidence->usb != USB_NONE) || (evidence->adb_asked && evidence->adb != ADB_ABSENT);

	if (started && evidence->waited_ms < evidence->limit_ms)
		return STATE_BOOTING;
	return started || there ? STATE_HUNG : STATE_OFF;
}

enum device_state device_state_judge(const struct device_evidence *evidence)
{
	if (evidence->on_usb && evidence->usb == USB_RAMDUMP)
		return STATE_RAMDUMP;
	if (evidence->answers)
		return evidence->userspace ? STATE_FASTBOOTD : STATE_FASTBOOT;
	if (evidence->panic)
		return STATE_CRASHED;
	if (evidence->hello || (evidence->adb_asked && evidence->adb == ADB_DEVICE && evidence->completed))
		return evidence->wrong ? STATE_UP_WRONG : STATE_UP;
	return judge_silence(evidence);
}

char *device_evidence_text(const struct device_evidence *evidence)
{
	AUTO_STRBUF text = STRBUF_INIT;

	if (evidence->on_usb)
		strbuf_addf(&text, "usb: %s, ", usb_kind_name(evidence->usb));
	strbuf_addf(&text, "getvar %s", evidence->answers ? "answers" : "does not answer");
	if (evidence->answers)
		strbuf_addf(&text, ", is-userspace %s", evidence->userspace ? "yes" : "no");
	if (evidence->adb_asked)
		strbuf_addf(&text, ", adb: %s%s", adb_state_name(evidence->adb), evidence->completed ? ", boot completed" : "");
	if (evidence->hello)
		strbuf_addf(&text, ", the agent spoke%s", evidence->wrong ? " from another kernel" : "");
	if (evidence->panic)
		strbuf_adds(&text, ", the kernel panicked");
	return strbuf_steal(&text);
}

const char *facts_get(const struct facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->n; i++)
		if (!strcmp(facts->items[i].name, name))
			return facts->items[i].value;
	return NULL;
}

void facts_set(struct facts *facts, const char *name, const char *value)
{
	for (size_t i = 0; i < facts->n; i++) {
		if (!strcmp(facts->items[i].name, name)) {
			free(facts->items[i].value);
			facts->items[i].value = value ? xstrdup(value) : NULL;
			return;
		}
	}
	facts->items = array_grow(facts->items, facts->n, sizeof(*facts->items));
	facts->items[facts->n++] = (struct fact){ xstrdup(name), value ? xstrdup(value) : NULL };
}

void facts_deinit(struct facts *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		free(facts->items[i].name);
		free(facts->items[i].value);
	}
	free(facts->items);
	*facts = (struct facts){ NULL, 0 };
}

void phone_note(const struct phone *phone, const char *what, const char *text)
{
	const char *const argv[] = { what, NULL };

	error_free(journal_add(phone->context->journal_path, argv, text, 0, ""));
}

/* Finds it at its port; the port is remembered, since a device in another mode may tell another serial. */
static enum usb_kind look_at_usb(struct phone *phone)
{
	struct usb_device device;

	if (usb_find(USB_SYSFS, phone->usb_name, phone->settings->serial, &device))
		snprintf(phone->usb_name, sizeof(phone->usb_name), "%s", device.name);
	return device.kind;
}

/* Asks for one variable; *answers_out: whether anything answered. */
static struct error *ask_userspace(struct phone *phone, bool *answers_out, bool *userspace_out)
{
	struct fastboot_reply reply;
	AUTO_FREE char *value = NULL;

	struct error *error = fastboot_getvar(&phone->fastboot, "is-userspace", &value, &reply);
	if (error)
		return error;
	*answers_out = reply.outcome == FASTBOOT_OKAY || reply.outcome == FASTBOOT_REFUSED;
	*userspace_out = value && !strcmp(value, "yes");
	fastboot_reply_deinit(&reply);
	return NULL;
}

static struct error *look_at_adb(struct phone *phone, struct device_evidence *evidence)
{
	AUTO_STRBUF out = STRBUF_INIT;
	int status = -1;

	phone->adb_used = true;
	evidence->adb_asked = true;
	struct error *error = adb_get_state(&phone->adb, &evidence->adb);
	if (!error && evidence->adb == ADB_DEVICE)
		error = adb_shell(&phone->adb, false, "getprop sys.boot_completed", &out, &status);
	if (error && error_kind(error) == ERROR_INTERRUPTED)
		return error;
	if (error) {
		evidence->adb = ADB_OFFLINE;
		error_free(error);
	}
	evidence->completed = !status && strchr(strbuf_str(&out), '1');
	return NULL;
}

struct error *phone_look(struct phone *phone, enum device_state *state_out)
{
	struct device_evidence evidence = { .on_usb = usb_is_serial(phone->settings->serial) };
	struct error *error = NULL;
	bool answers = false;

	if (evidence.on_usb)
		evidence.usb = look_at_usb(phone);
	/* On a network there is nothing to see but an answer. */
	if (!evidence.on_usb || evidence.usb == USB_FASTBOOT)
		error = fastboot_answers(&phone->fastboot, 0, &answers);
	if (!error && answers)
		error = ask_userspace(phone, &evidence.answers, &evidence.userspace);
	if (!error && !evidence.answers && phone->settings->userspace == USERSPACE_ANDROID)
		error = look_at_adb(phone, &evidence);
	if (error)
		return error;
	*state_out = device_state_judge(&evidence);
	AUTO_FREE char *text = device_evidence_text(&evidence);
	AUTO_FREE char *line = xasprintf("%s (%s)", device_state_name(*state_out), text);
	phone_note(phone, "state", line);
	return NULL;
}

/* Polls sysfs until the kind is, or is no more, fastboot. */
static struct error *await_usb(struct phone *phone, bool wanted, int64_t deadline_ms, bool *reached_out)
{
	for (;;) {
		*reached_out = (look_at_usb(phone) == USB_FASTBOOT) == wanted;
		if (*reached_out || clock_ms() >= deadline_ms)
			return NULL;
		struct error *error = guard_sleep(phone->fastboot.guard, POLL_MS);
		if (error)
			return error;
	}
}

static void phone_arrived(struct phone *phone)
{
	if (phone->there)
		return;
	phone->there = true;
	phone->since_ms = clock_ms();
	phone->client_ms = 0;
}

struct error *phone_await_fastboot(struct phone *phone, int64_t wait_ms, enum device_state *state_out)
{
	const int64_t deadline = clock_deadline(wait_ms);
	struct device_evidence evidence = { .on_usb = usb_is_serial(phone->settings->serial) };
	struct error *error = NULL;
	bool there = true;

	if (evidence.on_usb)
		error = await_usb(phone, true, deadline, &there);
	if (!error && there)
		error = fastboot_answers(&phone->fastboot, clock_poll_timeout(deadline), &there);
	if (!error && there) {
		phone_arrived(phone);
		error = ask_userspace(phone, &evidence.answers, &evidence.userspace);
	}
	if (error)
		return error;
	*state_out = there && evidence.answers ? device_state_judge(&evidence) : STATE_OFF;
	return NULL;
}

struct error *phone_await_leave(struct phone *phone, bool *left_out)
{
	const int64_t wait_ms = phone->settings->timeouts.leave_ms;

	if (usb_is_serial(phone->settings->serial))
		return await_usb(phone, false, clock_deadline(wait_ms), left_out);
	return fastboot_gone(&phone->fastboot, wait_ms, left_out);
}

/* What stands in Android's way, as adb sees it. */
static char *android_absence(struct phone *phone, const struct device_evidence *evidence)
{
	double up_s = (double)phone->settings->timeouts.up_ms / 1000;

	if (evidence->adb == ADB_DEVICE)
		return xasprintf("Android had not completed its boot %g s after the start", up_s);
	return xasprintf("Android was not up %g s after the start: adb says %s%s", up_s, adb_state_name(evidence->adb),
			 evidence->adb == ADB_UNAUTHORIZED ? ", so allow this computer's key on the device" : "");
}

struct error *phone_await_android(struct phone *phone, char **why_not_out)
{
	const int64_t deadline = clock_deadline(phone->settings->timeouts.up_ms);

	for (;;) {
		struct device_evidence evidence = { .adb_asked = false };
		struct error *error = look_at_adb(phone, &evidence);
		if (error)
			return error;
		bool up = evidence.adb == ADB_DEVICE && evidence.completed;
		if (up || clock_ms() >= deadline) {
			*why_not_out = up ? NULL : android_absence(phone, &evidence);
			return NULL;
		}
		error = guard_sleep(phone->fastboot.guard, ADB_POLL_MS);
		if (error)
			return error;
	}
}
