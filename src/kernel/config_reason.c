/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the kconfig helper's facts about an option to the reason why it is not what was asked for. */
#include <stdlib.h>
#include <string.h>

#include "kernel/config_parts.h"

/* Longest lists of selects and defaults that a message shows. */
#define LIST_MAX 4

void config_facts_parse(const char *text, struct config_facts *facts_out)
{
	struct config_facts facts = { NULL, 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");
		const char *tab = memchr(text, '\t', len);
		const char *second = tab ? memchr(tab + 1, '\t', (size_t)(text + len - tab - 1)) : NULL;
		if (second) {
			facts.items = array_grow(facts.items, facts.n, sizeof(*facts.items));
			facts.items[facts.n++] = (struct config_fact){ xstrndup(text, (size_t)(tab - text)),
								       xstrndup(tab + 1, (size_t)(second - tab - 1)),
								       xstrndup(second + 1, (size_t)(text + len - second - 1)) };
		}
		text += len + (text[len] == '\n');
	}
	*facts_out = facts;
}

void config_facts_deinit(struct config_facts *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		free(facts->items[i].name);
		free(facts->items[i].fact);
		free(facts->items[i].text);
	}
	free(facts->items);
	*facts = (struct config_facts){ NULL, 0 };
}

/* One option's question. */
struct question {
	const struct config_facts *facts;
	const char *name, *wanted, *actual;
	bool modules;
};

/* The nth text of a fact, or NULL. */
static const char *fact(const struct question *q, const char *what, size_t nth)
{
	for (size_t i = 0; i < q->facts->n; i++) {
		const struct config_fact *item = &q->facts->items[i];
		if (!strcmp(item->name, q->name) && !strcmp(item->fact, what) && !nth--)
			return item->text;
	}
	return NULL;
}

/* n, m, y: 0, 1, 2; -1 for anything else. */
static int tristate(const char *value)
{
	static const char *const values[] = { "n", "m", "y" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(value, values[i]))
			return i;
	return -1;
}

/* "a; b; c; and 12 more" of a fact; the caller frees, NULL when there is none. */
static char *fact_list(const struct question *q, const char *what, const char *separator)
{
	AUTO_STRBUF list = STRBUF_INIT;
	const char *text;
	size_t n = 0;

	for (; (text = fact(q, what, n)); n++)
		if (n < LIST_MAX)
			strbuf_addf(&list, "%s%s", n ? separator : "", text);
	if (!n)
		return NULL;
	if (n > LIST_MAX)
		strbuf_addf(&list, "%sand %zu more", separator, n - LIST_MAX);
	return strbuf_steal(&list);
}

static char *unmet_dependencies(const struct question *q)
{
	AUTO_FREE char *unmet = fact_list(q, "unmet", "; ");
	const char *depends = fact(q, "depends", 0);

	if (!unmet || !depends)
		return NULL;
	if (!strcmp(unmet, depends))
		return xasprintf("dependencies unmet: it depends on %s", depends);
	return xasprintf("dependencies unmet: it depends on %s; not met: %s", depends, unmet);
}

/* An option without a prompt: what gives it its value. */
static char *not_settable(const struct question *q)
{
	AUTO_STRBUF text = STRBUF_INIT;
	AUTO_FREE char *selected = fact_list(q, "selected", "; ");
	AUTO_FREE char *selectable = fact_list(q, "selectable", "; ");
	AUTO_FREE char *implied = fact_list(q, "implied", "; ");
	AUTO_FREE char *defaultable = fact_list(q, "defaultable", "; ");
	const char *value = fact(q, "default", 0);

	strbuf_adds(&text, "not settable, it has no prompt: ");
	if (selected)
		strbuf_addf(&text, "it is selected by %s", selected);
	else if (implied)
		strbuf_addf(&text, "it is implied by %s", implied);
	else if (value)
		strbuf_addf(&text, "it follows from its default: %s", value);
	else if (defaultable)
		strbuf_addf(&text, "it follows from its default, whose condition does not hold: %s", defaultable);
	else if (selectable)
		strbuf_addf(&text, "only a select can turn it on, by: %s", selectable);
	else
		strbuf_adds(&text, "nothing in this kernel selects it and it has no default");
	if ((value || defaultable) && !selected && selectable && tristate(q->wanted) > 0)
		strbuf_addf(&text, "; or it is selected by: %s", selectable);
	return strbuf_steal(&text);
}

static char *hidden_prompt(const struct question *q)
{
	AUTO_FREE char *shown = fact_list(q, "prompt", "; or ");
	const char *value = fact(q, "default", 0);

	if (value)
		return xasprintf("not settable here, its prompt is shown only if %s: it follows from its default: %s", shown,
				 value);
	return xasprintf("not settable here, its prompt is shown only if %s", shown);
}

static char *raised(const struct question *q)
{
	AUTO_FREE char *selected = fact_list(q, "selected", "; ");
	const char *visible = fact(q, "visible", 0);
	const char *winner = fact(q, "choice", 0);

	if (selected)
		return xasprintf("forced by select: it is selected by %s", selected);
	if (winner && !strcmp(winner, q->name))
		return xstrdup("it is a member of a choice, which takes it when no other member is asked for");
	if (!fact(q, "prompt", 0))
		return not_settable(q);
	AUTO_FREE char *implied = fact_list(q, "implied", "; ");
	if (implied)
		return xasprintf("forced by imply: it is implied by %s", implied);
	if (visible && tristate(visible) <= 0)
		return hidden_prompt(q);
	return NULL;
}

static char *lowered(const struct question *q)
{
	const char *visible = fact(q, "visible", 0);
	const char *winner = fact(q, "choice", 0);
	bool out_of_sight = visible && tristate(visible) < tristate(q->wanted);

	if (out_of_sight && fact(q, "unmet", 0))
		return unmet_dependencies(q);
	if (!fact(q, "prompt", 0))
		return not_settable(q);
	if (winner && strcmp(winner, q->name))
		return strcmp(winner, "-") ? xasprintf("lost in a choice: %s=y was chosen", winner)
					   : xstrdup("it is a member of a choice of which nothing could be chosen");
	return out_of_sight ? hidden_prompt(q) : NULL;
}

static char *number_reason(const struct question *q, int base)
{
	char *end;
	long long wanted = strtoll(q->wanted, &end, base);
	if (*end || end == q->wanted)
		return xasprintf("it takes a %s number", base == 16 ? "hexadecimal" : "whole");
	const char *range = fact(q, "range", 0);
	if (!range)
		return NULL;
	const char *high = strchr(range, ' ');
	if (high && (wanted < strtoll(range, NULL, base) || wanted > strtoll(high + 1, NULL, base)))
		return xasprintf("value out of range: it takes %.*s to %s", (int)(high - range), range, high + 1);
	return NULL;
}

/* int, hex and string options. */
static char *value_reason(const struct question *q, const char *type)
{
	bool text = !strcmp(type, "string");
	if (!text && !strcmp(q->wanted, "n"))
		return xasprintf("it is a number (%s) and cannot be turned off", type);
	char *reason = text ? NULL : number_reason(q, strcmp(type, "hex") ? 10 : 16);
	if (text && q->wanted[0] != '"')
		reason = xstrdup("it takes a text in quotes");
	if (reason)
		return reason;

	const char *visible = fact(q, "visible", 0);
	if (visible && tristate(visible) <= 0) {
		reason = unmet_dependencies(q);
		if (reason)
			return reason;
		return fact(q, "prompt", 0) ? hidden_prompt(q) : not_settable(q);
	}
	return NULL;
}

char *config_reason(const struct config_facts *facts, const char *name, const char *wanted, const char *actual, bool modules)
{
	const struct question q = { facts, name, wanted, actual, modules };
	const char *type = facts ? fact(&q, "type", 0) : NULL;
	if (!type)
		return NULL;
	if (!strcmp(type, "unknown"))
		return xstrdup("no such symbol in this kernel");
	bool tri = !strcmp(type, "tristate");
	if (!tri && strcmp(type, "bool"))
		return value_reason(&q, type);

	int up_to = tristate(wanted);
	if (up_to < 0)
		return xasprintf("wrong type: it is a %s and takes %s", type, tri ? "y, m or n" : "y or n");
	if (up_to == 1 && !tri)
		return xstrdup("wrong type: it is a bool, which cannot be m");
	if (up_to == 1 && !modules)
		return xstrdup("it cannot be m: this kernel has no modules (MODULES=n)");
	return up_to > tristate(actual) ? lowered(&q) : raised(&q);
}
