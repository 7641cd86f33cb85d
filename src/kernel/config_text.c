/* SPDX-License-Identifier: GPL-3.0-or-later */
/* .config texts: read, compared, taken out of a kernel. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/archive.h"
#include "kernel/config_parts.h"

/* One option of a .config line; the pieces point into the text. */
struct option {
	const char *name;
	size_t name_len;
	const char *value;
	size_t value_len;
};

static bool parse_line(const char *line, size_t len, struct option *option_out)
{
	static const char prefix[] = "CONFIG_", unset_prefix[] = "# CONFIG_", unset_suffix[] = " is not set";
	const size_t head = sizeof(unset_prefix) - 1, tail = sizeof(unset_suffix) - 1;

	if (len > head + tail && !memcmp(line, unset_prefix, head) && !memcmp(line + len - tail, unset_suffix, tail)) {
		*option_out = (struct option){ line + head, len - head - tail, "n", 1 };
		return true;
	}
	if (len <= sizeof(prefix) - 1 || memcmp(line, prefix, sizeof(prefix) - 1))
		return false;
	const char *name = line + sizeof(prefix) - 1;
	const char *equals = memchr(name, '=', len - (sizeof(prefix) - 1));
	if (!equals)
		return false;
	*option_out = (struct option){ name, (size_t)(equals - name), equals + 1, (size_t)(line + len - equals - 1) };
	return true;
}

/* Takes the next line at *at; false at the end. */
static bool next_line(const char **at, const char **line_out, size_t *len_out)
{
	if (!**at)
		return false;
	*line_out = *at;
	*len_out = strcspn(*at, "\n");
	*at += *len_out + ((*at)[*len_out] == '\n');
	return true;
}

char *config_value(const char *config_text, const char *name)
{
	const char *line;
	size_t len, name_len = strlen(name);

	for (const char *at = config_text; next_line(&at, &line, &len);) {
		struct option option;
		if (parse_line(line, len, &option) && option.name_len == name_len && !memcmp(option.name, name, name_len))
			return xstrndup(option.value, option.value_len);
	}
	return xstrdup("n");
}

static int compare_options(const void *a, const void *b)
{
	const struct option *x = a, *y = b;
	size_t shorter = x->name_len < y->name_len ? x->name_len : y->name_len;
	int order = memcmp(x->name, y->name, shorter);

	return order ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

static struct option *sorted_options(const char *text, size_t *n_out)
{
	struct option *options = NULL, option;
	const char *line;
	size_t n = 0, len;

	for (const char *at = text; next_line(&at, &line, &len);) {
		if (!parse_line(line, len, &option))
			continue;
		options = array_grow(options, n, sizeof(*options));
		options[n++] = option;
	}
	if (n)
		qsort(options, n, sizeof(*options), compare_options);
	*n_out = n;
	return options;
}

static void add_difference(const struct option *old, const struct option *new, struct strlist *out)
{
	static const struct option absent = { "", 0, "n", 1 };
	const struct option *name = old ? old : new;

	old = old ? old : &absent;
	new = new ? new : &absent;
	if (old->value_len == new->value_len && !memcmp(old->value, new->value, old->value_len))
		return;
	strlist_addf(out, "%.*s: %.*s -> %.*s", (int)name->name_len, name->name, (int)old->value_len, old->value,
		     (int)new->value_len, new->value);
}

void config_difference(const char *old_text, const char *new_text, struct strlist *out)
{
	size_t n_old, n_new, i = 0, j = 0;
	AUTO_FREE struct option *old = sorted_options(old_text, &n_old);
	AUTO_FREE struct option *new = sorted_options(new_text, &n_new);

	while (i < n_old || j < n_new) {
		int order = i == n_old ? 1 : j == n_new ? -1 : compare_options(&old[i], &new[j]);
		add_difference(order <= 0 ? &old[i] : NULL, order >= 0 ? &new[j] : NULL, out);
		i += order <= 0;
		j += order >= 0;
	}
}

static bool is_number(const char *text)
{
	return isdigit((unsigned char)text[0]) || (text[0] == '-' && isdigit((unsigned char)text[1]));
}

bool config_value_is(const char *wanted, const char *actual)
{
	char *wanted_end, *actual_end;

	if (!strcmp(wanted, actual))
		return true;
	if (!is_number(wanted) || !is_number(actual))
		return false;
	/* kconfig takes decimal (also with leading zeros) and 0x numbers, never octal ones. */
	int wanted_base = str_starts(wanted, "0x") || str_starts(wanted, "0X") ? 16 : 10;
	int actual_base = str_starts(actual, "0x") || str_starts(actual, "0X") ? 16 : 10;
	bool equal = strtoll(wanted, &wanted_end, wanted_base) == strtoll(actual, &actual_end, actual_base);
	return equal && !*wanted_end && !*actual_end;
}

const struct config_request **config_final_requests(const struct fragment *first, const struct fragment *second, size_t *n_out)
{
	const struct fragment *const fragments[] = { first, second };
	const struct config_request **final = NULL;
	size_t n = 0;

	for (size_t f = 0; f < ARRAY_SIZE(fragments); f++) {
		for (size_t i = 0; fragments[f] && i < fragments[f]->n; i++) {
			const struct config_request *request = &fragments[f]->requests[i];
			size_t k = 0;
			while (k < n && strcmp(final[k]->name, request->name))
				k++;
			if (k == n)
				final = array_grow(final, n++, sizeof(*final));
			final[k] = request;
		}
	}
	*n_out = n;
	return final;
}

struct error *config_check(const char *config_text, const struct fragment *first, const struct fragment *second)
{
	size_t n;
	AUTO_FREE const struct config_request **requests = config_final_requests(first, second, &n);
	struct error *list = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct config_request *request = requests[i];
		AUTO_FREE char *actual = config_value(config_text, request->name);
		if (!request->optional && !config_value_is(request->value, actual))
			error_join(&list, error_at(request->pos, "%s=%s does not hold: the kernel's .config has %s=%s",
						   request->name, request->value, request->name, actual));
	}
	return list;
}

struct error *config_from_ikconfig(const void *data, size_t len, char **text_out)
{
	/* kernel/configs.c: the text, gzipped, between these marks. */
	static const char start_mark[] = "IKCFG_ST\x1f\x8b", end_mark[] = "IKCFG_ED";
	const size_t mark_len = sizeof(end_mark) - 1;
	const char *end_of_data = (const char *)data + len;
	const char *start = len ? memmem(data, len, start_mark, sizeof(start_mark) - 1) : NULL;
	if (!start) {
		*text_out = NULL;
		return NULL;
	}
	start += mark_len;
	const char *end = memmem(start, (size_t)(end_of_data - start), end_mark, mark_len);
	if (!end)
		return error_new(ERROR_INPUT, "the kernel's IKCONFIG has no end mark: is the file cut off?");

	AUTO_STRBUF text = STRBUF_INIT;
	struct error *err = decompress(start, (size_t)(end - start), &text);
	if (err)
		return error_wrap(err, "the kernel's IKCONFIG");
	if (strlen(strbuf_str(&text)) != text.len || !strstr(strbuf_str(&text), "CONFIG_"))
		return error_new(ERROR_INPUT, "the kernel's IKCONFIG is no .config text");
	*text_out = strbuf_steal(&text);
	return NULL;
}
