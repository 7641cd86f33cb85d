/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/section.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct report_section *const sections[] = { &report_section_sizes, &report_section_profile, &report_section_times,
							 NULL };

const struct report_section *const *report_sections(void)
{
	return sections;
}

const struct report_section *report_section_find(const char *name)
{
	for (size_t i = 0; sections[i]; i++)
		if (!strcmp(sections[i]->name, name))
			return sections[i];
	return NULL;
}

struct section_table *section_add(struct section *section, char *title)
{
	section->tables = array_grow(section->tables, section->n, sizeof(*section->tables));
	section->tables[section->n] = (struct section_table){ .title = title };
	return &section->tables[section->n++];
}

void section_deinit(struct section *section)
{
	for (size_t i = 0; i < section->n; i++) {
		free(section->tables[i].title);
		strlist_deinit(&section->tables[i].columns);
		strlist_deinit(&section->tables[i].cells);
		strlist_deinit(&section->tables[i].notes);
	}
	free(section->tables);
	*section = (struct section){ NULL, 0 };
}

static size_t n_rows(const struct section_table *table)
{
	return table->columns.n ? table->cells.n / table->columns.n : 0;
}

static const char *cell(const struct section_table *table, size_t row, size_t column)
{
	return table->cells.items[row * table->columns.n + column];
}

static size_t column_width(const struct section_table *table, size_t column)
{
	size_t width = strlen(table->columns.items[column]);

	for (size_t i = 0; i < n_rows(table); i++)
		if (strlen(cell(table, i, column)) > width)
			width = strlen(cell(table, i, column));
	return width;
}

/* The first column to the left, the others, which are numbers, to the right. */
static void write_line(const struct section_table *table, const char *const *texts, struct strbuf *out)
{
	for (size_t i = 0; i < table->columns.n; i++)
		strbuf_addf(out, i ? "  %*s" : "%-*s", (int)column_width(table, i), texts[i]);
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	strbuf_addch(out, '\n');
}

static void write_text(const struct section_table *table, struct strbuf *out)
{
	strbuf_addf(out, "%s\n", table->title);
	if (n_rows(table))
		write_line(table, (const char *const *)table->columns.items, out);
	for (size_t i = 0; i < n_rows(table); i++)
		write_line(table, (const char *const *)table->cells.items + i * table->columns.n, out);
	for (size_t i = 0; i < table->notes.n; i++)
		strbuf_addf(out, "%s\n", table->notes.items[i]);
}

static void write_markdown(const struct section_table *table, struct strbuf *out)
{
	strbuf_addf(out, "### %s\n\n", table->title);
	for (size_t line = 0; n_rows(table) && line < n_rows(table) + 2; line++) {
		for (size_t i = 0; i < table->columns.n; i++)
			strbuf_addf(out, "| %s ",
				    line == 0	? table->columns.items[i]
				    : line == 1 ? (i ? "--:" : "---")
						: cell(table, line - 2, i));
		strbuf_adds(out, "|\n");
	}
	for (size_t i = 0; i < table->notes.n; i++)
		strbuf_addf(out, "\n%s\n", table->notes.items[i]);
	strbuf_addch(out, '\n');
}

static void write_csv_line(const char *const *texts, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_addch(out, ',');
		if (!strpbrk(texts[i], ",\"\n")) {
			strbuf_adds(out, texts[i]);
			continue;
		}
		strbuf_addch(out, '"');
		for (const char *c = texts[i]; *c; c++)
			strbuf_addf(out, *c == '"' ? "\"\"" : "%c", *c);
		strbuf_addch(out, '"');
	}
	strbuf_addch(out, '\n');
}

static void write_csv(const struct section_table *table, struct strbuf *out)
{
	write_csv_line((const char *const *)table->columns.items, table->columns.n, out);
	for (size_t i = 0; i < n_rows(table); i++)
		write_csv_line((const char *const *)table->cells.items + i * table->columns.n, table->columns.n, out);
}

/* A number where the text is one, null where it is empty. */
static void set_value(struct jnode *row, const char *key, const char *text)
{
	char *end;
	double number = strtod(text, &end);

	if (!*text)
		jnode_set_string(row, key, NULL);
	else if (*end || end == text)
		jnode_set_string(row, key, text);
	else if (!strpbrk(text, ".eE"))
		jnode_set_int(row, key, strtoll(text, NULL, 10));
	else
		jnode_set_real(row, key, number);
}

static struct jnode *table_json(const struct section_table *table)
{
	struct jnode *object = jnode_object(), *rows = jnode_array(), *notes = jnode_array();

	jnode_set_string(object, "title", table->title);
	for (size_t i = 0; i < n_rows(table); i++) {
		struct jnode *row = jnode_object();
		for (size_t k = 0; k < table->columns.n; k++)
			set_value(row, table->columns.items[k], cell(table, i, k));
		jnode_append(rows, row);
	}
	for (size_t i = 0; i < table->notes.n; i++)
		jnode_append_string(notes, table->notes.items[i]);
	jnode_set(object, "rows", rows);
	jnode_set(object, "notes", notes);
	return object;
}

static void write_json(const struct report *report, const struct report_section *kind, const struct section *section,
		       struct strbuf *out)
{
	AUTO_JNODE document = jnode_object();
	struct jnode *tables = jnode_array();

	jnode_set_string(document, "schema", "memcg-ab/section/1");
	jnode_set_string(document, "section", kind->name);
	jnode_set_string(document, "run", report->run_id);
	for (size_t i = 0; i < section->n; i++)
		jnode_append(tables, table_json(&section->tables[i]));
	jnode_set(document, "tables", tables);
	jnode_write(document, 2, out);
	strbuf_addch(out, '\n');
}

bool section_write(const struct report *report, const struct report_section *kind, const char *format, struct strbuf *out)
{
	static const struct {
		const char *format;
		void (*write)(const struct section_table *table, struct strbuf *out);
	} writers[] = { { "text", write_text }, { "markdown", write_markdown }, { "csv", write_csv } };
	struct section section = { NULL, 0 };
	bool json = !strcmp(format, "json"), known = json;

	kind->fill(report, &section);
	if (json)
		write_json(report, kind, &section, out);
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		if (strcmp(writers[i].format, format))
			continue;
		known = true;
		for (size_t k = 0; k < section.n; k++) {
			if (k)
				strbuf_addch(out, '\n');
			writers[i].write(&section.tables[k], out);
		}
	}
	section_deinit(&section);
	return known;
}
