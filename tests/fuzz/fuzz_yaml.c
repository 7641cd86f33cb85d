/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const struct yaml_node *node, unsigned depth)
{
	if (depth > 100 || node->pos.line < 1 || node->pos.col < 1)
		abort();
	size_t n = 1;
	for (size_t i = 0; i < node->n; i++) {
		const struct yaml_node *child = node->kind == YAML_SEQUENCE ? node->items[i] : node->pairs[i].value;
		n += count(child, depth + 1);
	}
	for (size_t i = 0; node->kind == YAML_MAPPING && i < node->n; i++) {
		if (yaml_pair(node, node->pairs[i].key) != &node->pairs[i])
			abort();
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct yaml_node *root = NULL;
	struct error *error = yaml_parse_partial((const char *)data, size, "fuzz.yaml", &root);
	if (!error && !root)
		abort();
	if (root && count(root, 1) > 100000)
		abort();
	if (error)
		free(error_text(error));
	error_free(error);
	yaml_node_free(root);
	return 0;
}
