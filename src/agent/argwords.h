/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command line as words: blanks part them, '...' and "..." hold them together, \ takes the next character as it is (not within '...').
 * Nothing is expanded: who wants a shell names one.
 */
#ifndef AGENT_ARGWORDS_H
#define AGENT_ARGWORDS_H

#include <stdbool.h>

/*
 * The words, NULL behind the last, in one piece of memory that the caller frees. NULL when there is none, a quote is not closed, or the
 * text ends with a lone \.
 */
char **argwords_split(const char *text);

#endif
