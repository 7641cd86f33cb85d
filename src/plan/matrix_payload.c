/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The section `payload`: files, folders and Debian packages that go to the device with the boot. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "plan/matrix_parts.h"
#include "plan/needs.h"

struct payload_entry {
	const struct yaml_node *path, *to, *deb, *suite;
};

static const struct bind_field payload_fields[] = {
	BIND("path", BIND_ANY, struct payload_entry, path),
	BIND("to", BIND_ANY, struct payload_entry, to),
	BIND("deb", BIND_ANY, struct payload_entry, deb),
	BIND("suite", BIND_ANY, struct payload_entry, suite),
};
const struct bind_table payload_keys = { "payload", payload_fields, ARRAY_SIZE(payload_fields), false };

static struct payload_item *add_item(struct matrix *matrix, struct pos pos)
{
	matrix->payload = array_grow(matrix->payload, matrix->n_payload, sizeof(*matrix->payload));
	matrix->payload[matrix->n_payload] = (struct payload_item){ .pos = pos };
	return &matrix->payload[matrix->n_payload++];
}

/* A place on the device: "/src/main.c", without "." and "..", and none of the agent's own. */
static bool is_place(const char *text)
{
	static const char *const own[] = { "/init", "/memcg-ab.conf", "/dev", "/proc", "/sys", "/memcg-ab" };

	if (*text != '/' || !text[1] || strstr(text, "//") || str_ends(text, "/"))
		return false;
	for (const char *slash = text; slash; slash = strchr(slash + 1, '/')) {
		size_t len = strcspn(slash + 1, "/");
		if ((len == 1 && slash[1] == '.') || (len == 2 && str_starts(slash + 1, "..")))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcmp(text, own[i]) || (str_starts(text, own[i]) && text[strlen(own[i])] == '/'))
			return false;
	return true;
}

static void read_path(struct matrix_loader *loader, const struct yaml_node *node, const struct payload_entry *entry)
{
	struct error **errors = &loader->errors;

	if (entry->suite)
		error_join(errors, error_at(yaml_pair(node, "suite")->key_pos, "'suite' has no meaning without 'deb'"));
	if (!bind_expect_text(entry->path, "'path' of payload", errors))
		return;
	AUTO_FREE char *relative = path_relative_to_file(loader->matrix->path, entry->path->text);
	if (!file_exists(relative)) {
		error_join(errors, error_at(entry->path->pos, "'path' of payload: there is no file or folder %s", relative));
		return;
	}
	if (!entry->to) {
		error_join(errors, error_at(node->pos, "a payload's 'path' needs 'to': where it is to be on the device"));
		return;
	}
	if (!bind_expect_text(entry->to, "'to' of payload", errors))
		return;
	if (!is_place(entry->to->text)) {
		error_join(errors, error_at(entry->to->pos,
					    "'to' of payload must be an absolute path on the device, and none of the agent's own "
					    "(/init, /memcg-ab, /memcg-ab.conf, /dev, /proc, /sys), not '%s'",
					    entry->to->text));
		return;
	}
	struct payload_item *item = add_item(loader->matrix, entry->path->pos);
	item->path = path_absolute(relative);
	item->to = xstrdup(entry->to->text);
}

static bool is_package_name(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+.-")] == '\0' && strlen(text) >= 2 && *text >= '0' &&
	       *text != '.';
}

static void read_packages(struct matrix_loader *loader, const struct yaml_node *node, const struct payload_entry *entry)
{
	AUTO_FREE const struct yaml_node **names = NULL;
	size_t n = 0;

	if (entry->to)
		error_join(&loader->errors, error_at(yaml_pair(node, "to")->key_pos,
						     "'to' has no meaning with 'deb': a package's files have their places"));
	if (entry->suite && !bind_expect_text(entry->suite, "'suite' of payload", &loader->errors))
		return;
	if (!bind_one_or_list(entry->deb, "'deb' of payload", &names, &n, &loader->errors))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!is_package_name(names[i]->text)) {
			error_join(&loader->errors,
				   error_at(names[i]->pos, "'deb' of payload: '%s' is no name of a package", names[i]->text));
			continue;
		}
		struct payload_item *item = add_item(loader->matrix, names[i]->pos);
		item->package = xstrdup(names[i]->text);
		item->suite = entry->suite ? xstrdup(entry->suite->text) : NULL;
	}
}

static void read_item(struct matrix_loader *loader, const struct yaml_node *node)
{
	struct payload_entry entry = { NULL };

	if (!bind_mapping(node, &payload_keys, "this payload", &entry, &loader->errors))
		return;
	if (!entry.path == !entry.deb)
		error_join(&loader->errors,
			   error_at(node->pos, "a payload needs either 'path' (a file or folder) or 'deb' (Debian packages)"));
	else if (entry.path)
		read_path(loader, node, &entry);
	else
		read_packages(loader, node, &entry);
}

static void check_target(struct matrix_loader *loader, const struct device *device)
{
	if (!device || needs_carries_files(device->profile))
		return;
	error_join(&loader->errors,
		   error_at(loader->payload->pos, "a payload cannot be brought to device '%s': it does not boot our RAM disk",
			    device->name));
}

void matrix_read_payload(struct matrix_loader *loader)
{
	if (!loader->payload)
		return;
	for (size_t i = 0; i < loader->payload->n; i++)
		read_item(loader, loader->payload->items[i]);
	for (size_t i = 0; i < loader->matrix->n_targets; i++)
		check_target(loader, loader->matrix->targets[i].device);
}

void matrix_free_payload(struct payload_item *item)
{
	free(item->path);
	free(item->to);
	free(item->package);
	free(item->suite);
}
