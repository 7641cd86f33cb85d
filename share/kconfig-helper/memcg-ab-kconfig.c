/* SPDX-License-Identifier: GPL-2.0-only OR GPL-3.0-or-later */
/*
 * Says why kernel options have the values that they have. Compiled by memcg-ab against one kernel tree's own scripts/kconfig headers
 * and objects, and run as a program of its own in a configured build folder, with the environment that kbuild gives to conf:
 *
 *	memcg-ab-kconfig KCONFIG NAME...
 *
 * Output: a fact a line, "NAME<tab>FACT<tab>TEXT". Expressions carry each symbol's value, "SWAP [=y] && CGROUPS [=n]".
 *	type		unknown (no such symbol), bool, tristate, integer, hex, string
 *	value		the value it has
 *	visible		n, m, y: up to where its prompts let a user set it
 *	prompt		for each prompt: the condition under which it is shown
 *	depends		all it depends on; then "unmet" for each term of it that is not y
 *	selected	for each select that holds: who, and under which condition; then "selectable" for those that do not hold
 *	implied		likewise for imply, those that hold
 *	default		the default that applies: "VALUE if CONDITION"; then "defaultable" for those that do not apply
 *	range		"LOW HIGH"
 *	choice		the member that won the choice that this option belongs to, "-" when none did
 * When one of the names is unknown, a fact "symbol" follows for every option that the kernel has.
 *
 * Built with -DKCONFIG_CHOICE_MENU where the tree has sym_get_choice_menu() (since Linux 6.11 a choice is a menu, no symbol).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lkc.h"

static void print_fact(const struct symbol *sym, const char *fact, const char *text)
{
	printf("%s\t%s\t", sym->name, fact);
	for (; *text; text++)
		putchar(*text == '\t' || *text == '\n' ? ' ' : *text);
	putchar('\n');
}

static void print_expr(const struct symbol *sym, const char *fact, struct expr *expr)
{
	struct gstr text = str_new();

	expr_gstr_print(expr, &text);
	print_fact(sym, fact, str_get(&text));
	str_free(&text);
}

static const char *tristate_text(tristate value)
{
	return value == yes ? "y" : value == mod ? "m" : "n";
}

/* One line for each operand of the outermost AND that is not y. */
static void print_unmet(const struct symbol *sym, struct expr *expr)
{
	if (!expr)
		return;
	if (expr->type == E_AND) {
		print_unmet(sym, expr->left.expr);
		print_unmet(sym, expr->right.expr);
	} else if (expr_calc_value(expr) != yes) {
		print_expr(sym, "unmet", expr);
	}
}

/* One line for each operand of the outermost OR: `holds` when it is not n, `else_fact` (unless NULL) when it is. */
static void print_terms(const struct symbol *sym, struct expr *expr, const char *holds, const char *else_fact)
{
	if (!expr)
		return;
	if (expr->type == E_OR) {
		print_terms(sym, expr->left.expr, holds, else_fact);
		print_terms(sym, expr->right.expr, holds, else_fact);
	} else if (expr_calc_value(expr) != no) {
		print_expr(sym, holds, expr);
	} else if (else_fact && !(expr->type == E_SYMBOL && expr->left.sym == &symbol_no)) {
		print_expr(sym, else_fact, expr);
	}
}

static void print_default(const struct symbol *sym, const struct property *prop, const char *fact)
{
	struct gstr text = str_new();

	/* A constant is its own name; others come with their value. */
	if (prop->expr->type == E_SYMBOL && (prop->expr->left.sym->flags & SYMBOL_CONST))
		str_append(&text, prop->expr->left.sym->name);
	else
		expr_gstr_print(prop->expr, &text);
	if (prop->visible.expr) {
		str_append(&text, " if ");
		expr_gstr_print(prop->visible.expr, &text);
	}
	print_fact(sym, fact, str_get(&text));
	str_free(&text);
}

static void print_properties(struct symbol *sym)
{
	struct property *prop;
	int found = 0;

	for (prop = sym->prop; prop; prop = prop->next) {
		int holds = expr_calc_value(prop->visible.expr) != no;

		if (prop->type == P_PROMPT) {
			print_expr(sym, "prompt", prop->visible.expr);
		} else if (prop->type == P_DEFAULT) {
			print_default(sym, prop, holds && !found ? "default" : "defaultable");
			found |= holds;
		}
	}
	prop = sym_get_range_prop(sym);
	if (prop) {
		struct gstr text = str_new();

		str_append(&text, sym_get_string_value(prop->expr->left.sym));
		str_append(&text, " ");
		str_append(&text, sym_get_string_value(prop->expr->right.sym));
		print_fact(sym, "range", str_get(&text));
		str_free(&text);
	}
}

static void print_choice(struct symbol *sym)
{
	struct symbol *winner;

	if (!sym_is_choice_value(sym))
		return;
#ifdef KCONFIG_CHOICE_MENU
	winner = sym_calc_choice(sym_get_choice_menu(sym));
#else
	struct symbol *choice = prop_get_symbol(sym_get_choice_prop(sym));

	sym_calc_value(choice);
	winner = choice->curr.tri == no ? NULL : sym_get_choice_value(choice);
#endif
	print_fact(sym, "choice", winner ? winner->name : "-");
}

/* False when there is no such symbol. */
static int print_symbol(const char *name)
{
	struct symbol *sym = sym_find(name);

	if (!sym || sym->type == S_UNKNOWN) {
		printf("%s\ttype\tunknown\n", name);
		return 0;
	}
	sym_calc_value(sym);
	print_fact(sym, "type", sym_type_name(sym->type));
	print_fact(sym, "value", sym_get_string_value(sym));
	print_fact(sym, "visible", tristate_text(sym->visible));
	if (sym->dir_dep.expr) {
		print_expr(sym, "depends", sym->dir_dep.expr);
		print_unmet(sym, sym->dir_dep.expr);
	}
	print_terms(sym, sym->rev_dep.expr, "selected", "selectable");
	print_terms(sym, sym->implied.expr, "implied", NULL);
	print_properties(sym);
	print_choice(sym);
	return 1;
}

static void print_names(const struct menu *menu)
{
	for (; menu; menu = menu->next) {
		if (menu->sym && menu->sym->name)
			printf("%s\tsymbol\t\n", menu->sym->name);
		print_names(menu->list);
	}
}

int main(int argc, char **argv)
{
	int unknown = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: %s KCONFIG NAME...\n", argv[0]);
		return 2;
	}
	conf_parse(argv[1]);
	conf_read(NULL);
	for (int i = 2; i < argc; i++)
		unknown |= !print_symbol(argv[i]);
	if (unknown)
		print_names(rootmenu.list);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}
