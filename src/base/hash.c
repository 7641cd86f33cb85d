/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hash {
	struct sha256_ctx context;
};

struct hash *hash_new(void)
{
	struct hash *hash = xmalloc(sizeof(*hash));

	sha256_init(&hash->context);
	return hash;
}

void hash_add(struct hash *hash, const void *data, size_t len)
{
	sha256_update(&hash->context, len, data);
}

void hash_field(struct hash *hash, const char *label, const char *value)
{
	AUTO_FREE char *head = value ? xasprintf("%s:%zu:", label, strlen(value)) : xasprintf("%s:-:", label);

	hash_add(hash, head, strlen(head));
	if (value)
		hash_add(hash, value, strlen(value));
	hash_add(hash, "\n", 1);
}

void hash_finish(struct hash *hash, char hex_out[HASH_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(&hash->context, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++) {
		hex_out[2 * i] = digits[digest[i] >> 4];
		hex_out[2 * i + 1] = digits[digest[i] & 15];
	}
	hex_out[2 * sizeof(digest)] = '\0';
	free(hash);
}

void hash_bytes(const void *data, size_t len, char hex_out[HASH_HEX_SIZE])
{
	struct hash *hash = hash_new();

	hash_add(hash, data, len);
	hash_finish(hash, hex_out);
}

struct error *hash_file(const char *path, char hex_out[HASH_HEX_SIZE])
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_os(errno, "cannot open %s", path);

	struct hash *hash = hash_new();
	AUTO_FREE char *block = xmalloc(1 << 16);
	ssize_t got;
	while ((got = read(fd, block, 1 << 16)) > 0)
		hash_add(hash, block, (size_t)got);
	if (got < 0) {
		free(hash);
		return error_os(errno, "cannot read %s", path);
	}
	hash_finish(hash, hex_out);
	return NULL;
}
