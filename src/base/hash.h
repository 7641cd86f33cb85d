/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (nettle). */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/error.h"

#define HASH_HEX_SIZE 65 /* 64 hex digits and NUL */

struct hash;
struct hash *hash_new(void);
void hash_add(struct hash *hash, const void *data, size_t len);
/* A labelled field: label, length and bytes, so that no two different lists of fields hash alike. NULL is not "". */
void hash_field(struct hash *hash, const char *label, const char *value);
/* Writes the digest and frees `hash`. */
void hash_finish(struct hash *hash, char hex_out[HASH_HEX_SIZE]);

void hash_bytes(const void *data, size_t len, char hex_out[HASH_HEX_SIZE]);
struct error *hash_file(const char *path, char hex_out[HASH_HEX_SIZE]) MUST_CHECK;

#endif
