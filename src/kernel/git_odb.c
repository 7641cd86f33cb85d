/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A user's objects behind the cache's. git_odb_add_disk_alternate() would do but for one thing: when an object that is to be written
 * is already in an alternate, libgit2 touches its file there. This backend reads through an object database of its own and
 * cannot write; and what is written is written to the cache though the user's repository has it.
 */
#include <git2/sys/odb_backend.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/git_internal.h"

struct readonly {
	git_odb_backend base;
	git_odb *odb;
};

static git_odb *user_odb(git_odb_backend *backend)
{
	return container_of(backend, struct readonly, base)->odb;
}

static int hand_over(git_odb_backend *backend, git_odb_object *object, void **data_out, size_t *len_out, git_object_t *type_out)
{
	size_t len = git_odb_object_size(object);
	void *data = git_odb_backend_data_alloc(backend, len ? len : 1);

	if (data) {
		if (len)
			memcpy(data, git_odb_object_data(object), len);
		*data_out = data;
		*len_out = len;
		*type_out = git_odb_object_type(object);
	}
	git_odb_object_free(object);
	return data ? 0 : GIT_ERROR;
}

static int readonly_read(void **data_out, size_t *len_out, git_object_t *type_out, git_odb_backend *backend, const git_oid *oid)
{
	git_odb_object *object;
	int status = git_odb_read(&object, user_odb(backend), oid);

	return status ? status : hand_over(backend, object, data_out, len_out, type_out);
}

static int readonly_read_prefix(git_oid *oid_out, void **data_out, size_t *len_out, git_object_t *type_out,
				git_odb_backend *backend, const git_oid *prefix, size_t digits)
{
	git_odb_object *object;
	int status = git_odb_read_prefix(&object, user_odb(backend), prefix, digits);

	if (status)
		return status;
	git_oid_cpy(oid_out, git_odb_object_id(object));
	return hand_over(backend, object, data_out, len_out, type_out);
}

static int readonly_read_header(size_t *len_out, git_object_t *type_out, git_odb_backend *backend, const git_oid *oid)
{
	return git_odb_read_header(len_out, type_out, user_odb(backend), oid);
}

static int readonly_exists(git_odb_backend *backend, const git_oid *oid)
{
	return git_odb_exists(user_odb(backend), oid);
}

static int readonly_exists_prefix(git_oid *oid_out, git_odb_backend *backend, const git_oid *prefix, size_t digits)
{
	return git_odb_exists_prefix(oid_out, user_odb(backend), prefix, digits);
}

static int readonly_freshen(git_odb_backend *backend, const git_oid *oid)
{
	(void)backend;
	(void)oid;
	return GIT_ENOTFOUND;
}

static void readonly_free(git_odb_backend *backend)
{
	struct readonly *readonly = container_of(backend, struct readonly, base);

	git_odb_free(readonly->odb);
	free(readonly);
}

struct error *git_readonly_backend(const char *path, git_odb_backend **backend_out)
{
	struct readonly *readonly = xcalloc(1, sizeof(*readonly));

	if (git_odb_open(&readonly->odb, path) || git_odb_init_backend(&readonly->base, GIT_ODB_BACKEND_VERSION)) {
		git_odb_free(readonly->odb);
		free(readonly);
		return git_failure("cannot open git objects %s", path);
	}
	readonly->base.read = readonly_read;
	readonly->base.read_prefix = readonly_read_prefix;
	readonly->base.read_header = readonly_read_header;
	readonly->base.exists = readonly_exists;
	readonly->base.exists_prefix = readonly_exists_prefix;
	readonly->base.freshen = readonly_freshen;
	readonly->base.free = readonly_free;
	*backend_out = &readonly->base;
	return NULL;
}
