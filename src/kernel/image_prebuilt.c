/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that somebody else built, and what can be read out of a kernel's bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "base/elf.h"
#include "base/file.h"
#include "kernel/image_parts.h"

/* Documentation/arm64/booting: "ARM\x64" at byte 56 of an Image. */
#define ARM64_MAGIC "ARM\x64"
#define ARM64_MAGIC_AT 56

static bool is_arm64_image(const struct strbuf *bytes)
{
	return bytes->len > ARM64_MAGIC_AT + 4 && !memcmp(bytes->data + ARM64_MAGIC_AT, ARM64_MAGIC, 4);
}

struct error *image_unpack(const char *path, struct strbuf *bytes)
{
	if (is_arm64_image(bytes))
		return NULL;
	struct strbuf unpacked = STRBUF_INIT;
	AUTO_ERROR not_packed = decompress(strbuf_str(bytes), bytes->len, &unpacked);
	if (not_packed || !is_arm64_image(&unpacked)) {
		bool elf = bytes->len > 4 && !memcmp(bytes->data, "\177ELF", 4);
		strbuf_deinit(&unpacked);
		return error_new(ERROR_INPUT, "%s is no arm64 kernel Image%s", path, elf ? ", but an ELF file (a vmlinux?)" : "");
	}
	strbuf_deinit(bytes);
	*bytes = unpacked;
	return NULL;
}

struct error *image_read(const char *path, struct strbuf *out)
{
	struct error *err = file_read(path, out);

	return err ? err : image_unpack(path, out);
}

char *image_release(const void *data, size_t len)
{
	static const char banner[] = "Linux version ";
	const char *at = data, *end = at + len;

	/* The same words stand in format strings too: there a '%' follows. */
	while (len && (at = memmem(at, (size_t)(end - at), banner, sizeof(banner) - 1))) {
		at += sizeof(banner) - 1;
		if (at >= end || *at < '0' || *at > '9')
			continue;
		size_t n = 0;
		while (at + n < end && n < 64 && at[n] > ' ' && at[n] < 127)
			n++;
		return xstrndup(at, n);
	}
	return NULL;
}

char *image_compiler(const char *config_text)
{
	AUTO_FREE char *value = config_text ? config_value(config_text, "CC_VERSION_TEXT") : NULL;
	size_t len = value ? strlen(value) : 0;

	if (len < 3 || value[0] != '"')
		return NULL;
	value[len - 1] = '\0';
	return toolchain_summary(value + 1);
}

/* From the file that the kernel names, else from IKCONFIG; NULL text when there is neither. */
static struct error *prebuilt_config(const struct kernel *kernel, const struct strbuf *image, char **text_out)
{
	if (!kernel->prebuilt_config)
		return error_wrap(config_from_ikconfig(strbuf_str(image), image->len, text_out), "%s", kernel->prebuilt_image);
	AUTO_STRBUF text = STRBUF_INIT;
	struct error *err = file_read(kernel->prebuilt_config, &text);
	if (!err)
		*text_out = strbuf_steal(&text);
	return err;
}

/* The options that the matrix says the kernel has. */
static struct error *check_requests(const struct kernel *kernel, const char *config_text, const struct fragment *fragment)
{
	if (config_text)
		return config_check(config_text, NULL, fragment);
	if (!fragment || !fragment->n)
		return NULL;
	struct error *err = error_at(fragment->requests[0].pos,
				     "the options cannot be checked: %s carries no config (IKCONFIG); say where its .config is",
				     kernel->prebuilt_image);
	error_note(err, kernel->pos, "the kernel is named here");
	return err;
}

static struct error *prebuilt_build_id(const struct kernel *kernel, const struct strbuf *image, char build_id[BUILD_ID_HEX_SIZE])
{
	char of_vmlinux[BUILD_ID_HEX_SIZE];
	if (!build_id_in_bytes(strbuf_str(image), image->len, build_id))
		return error_at(kernel->pos,
				"%s holds no GNU build id, so that the running kernel could not be proved to be this one",
				kernel->prebuilt_image);
	if (!kernel->prebuilt_vmlinux)
		return NULL;
	AUTO_ERROR err = elf_build_id(kernel->prebuilt_vmlinux, of_vmlinux);
	if (err)
		return error_at(kernel->pos, "%s", error_message(err));
	if (strcmp(build_id, of_vmlinux))
		return error_at(kernel->pos, "%s (build id %s) does not belong to %s (build id %s)", kernel->prebuilt_vmlinux,
				of_vmlinux, kernel->prebuilt_image, build_id);
	return NULL;
}

struct error *image_take_prebuilt(const struct image_build *build, const char *key, struct image **image_out)
{
	const struct kernel *kernel = build->input->kernel;
	AUTO_STRBUF image = STRBUF_INIT;
	AUTO_FREE char *config_text = NULL;
	char build_id[BUILD_ID_HEX_SIZE];

	struct error *err = image_read(kernel->prebuilt_image, &image);
	if (!err)
		err = prebuilt_config(kernel, &image, &config_text);
	if (!err)
		err = check_requests(kernel, config_text, build->input->fragment);
	if (!err)
		err = prebuilt_build_id(kernel, &image, build_id);
	if (err)
		return error_place(err, kernel->pos);

	AUTO_FREE char *release = image_release(image.data, image.len);
	AUTO_FREE char *compiler = image_compiler(config_text);
	const struct image_parts parts = { .kernel_file = kernel->prebuilt_image,
					   .vmlinux = kernel->prebuilt_vmlinux,
					   .config_text = config_text,
					   .build_id = build_id,
					   .toolchain = compiler,
					   .release = release };
	return image_store(build->cache, build->input, key, &parts, image_build_is_private(build), image_out);
}
