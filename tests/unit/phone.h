/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fake phone (tests/phone/fake), started by a test in its work folder. Include after workdir.h. */
#ifndef UNIT_PHONE_H
#define UNIT_PHONE_H

#include <poll.h>

#include "plan/profile_device.h"

#define PHONE_WAIT_MS 20000

struct phone {
	struct proc *proc;
	char *dir; /* its folder, in the work folder */
	char *serial; /* tcp:127.0.0.1:PORT */
};

static inline char *phone_program(const char *name)
{
	return xasprintf("%s/tests/phone/fake/%s", getenv("MEMCG_AB_ROOT"), name);
}

/* A boot image v0 with a kernel and no ramdisk. */
static inline char *phone_image(const struct workdir *dir, const char *name, char fill)
{
	char image[2048 + 16384];
	char *path = workdir_path(dir, name);
	const uint32_t header[] = { 16384, 0x10008000, 0, 0x11000000, 0, 0x10f00000, 0x10000100, 2048 };

	AUTO_FREE char *parent = path_dirname(path);

	assert_ok(file_mkdirs(parent));
	memset(image, fill, sizeof(image));
	memset(image, 0, 2048);
	memcpy(image, "ANDROID!", 8);
	memcpy(image + 8, header, sizeof(header));
	assert_ok(file_write_atomic(path, image, sizeof(image), 0644));
	return path;
}

/* `options`: further words of its command line, NULL-terminated, or NULL. */
static inline struct phone phone_start(const struct workdir *dir, const char *const *options)
{
	struct phone phone = { .dir = workdir_path(dir, "phone") };
	AUTO_FREE char *program = phone_program("phone");
	AUTO_FREE char *port = path_join(phone.dir, "port");
	AUTO_STRLIST argv = { NULL, 0 };
	AUTO_STRBUF text = STRBUF_INIT;

	free(phone_image(dir, "phone/parts/boot_a", 'k'));
	free(phone_image(dir, "phone/parts/boot_b", 'k'));
	strlist_add(&argv, program);
	strlist_add(&argv, phone.dir);
	for (; options && *options; options++)
		strlist_add(&argv, *options);
	AUTO_FREE const char **vector = strlist_vector(&argv);
	const char *const env[] = { "PYTHONDONTWRITEBYTECODE=1", NULL };
	const struct proc_start start = { .argv = vector, .env = env, .err_fd = 2 };
	assert_ok(proc_start(&start, &phone.proc));
	const int64_t deadline = clock_deadline(PHONE_WAIT_MS);
	while (!file_exists(port) && clock_poll_timeout(deadline))
		poll(NULL, 0, 20);
	assert_ok(file_read(port, &text));
	phone.serial = xasprintf("tcp:127.0.0.1:%d", atoi(strbuf_str(&text)));
	return phone;
}

/* Waits until a line of what happened to it is `words`. */
static inline void phone_expect(const struct phone *phone, const char *words)
{
	AUTO_FREE char *path = path_join(phone->dir, "events");
	AUTO_FREE char *line = xasprintf("%s\n", words);
	const int64_t deadline = clock_deadline(PHONE_WAIT_MS);

	for (;;) {
		AUTO_STRBUF text = STRBUF_INIT;
		assert_ok(file_read(path, &text));
		if (strstr(strbuf_str(&text), line))
			return;
		if (!clock_poll_timeout(deadline))
			fail_msg("the phone never had \"%s\", but: %s", words, strbuf_str(&text));
		poll(NULL, 0, 20);
	}
}

static inline void phone_stop(struct phone *phone)
{
	proc_stop(phone->proc, 2000);
	free(phone->dir);
	free(phone->serial);
}

/* Settings with short deadlines. */
static inline struct fastboot_settings phone_settings(const struct phone *phone)
{
	return (struct fastboot_settings){
		.program = "fastboot",
		.adb_program = "adb",
		.serial = phone ? phone->serial : "NOSUCH",
		.partition = "boot",
		.slots = true,
		.timeouts = { .getvar_ms = 1500,
			      .bytes_per_s = 2000000,
			      .flash_ms = 1000,
			      .command_ms = 4000,
			      .fastboot_ms = 5000,
			      .leave_ms = 3000,
			      .up_ms = 5000,
			      .adb_ms = 10000,
			      .hook_ms = 5000 },
	};
}

#endif
