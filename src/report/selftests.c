/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/selftests.h"

#include <stdlib.h>
#include <string.h>

#include "report/findings_parts.h"

#define PREFIX "selftest."

enum outcome { PASS, SKIP, FAIL, UNKNOWN };

static const char *const outcome_names[] = { [PASS] = "pass", [SKIP] = "skip", [FAIL] = "fail", [UNKNOWN] = "-" };

/* "fail: signal 11" */
static enum outcome outcome_of(const char *said)
{
	for (enum outcome outcome = PASS; said && outcome < UNKNOWN; outcome++) {
		size_t len = strlen(outcome_names[outcome]);
		if (str_starts(said, outcome_names[outcome]) && (!said[len] || said[len] == ':'))
			return outcome;
	}
	return UNKNOWN;
}

static struct report_selftest *find(struct report *report, const char *label, const char *test)
{
	for (size_t i = 0; i < report->n_selftests; i++)
		if (!strcmp(report->selftests[i].label, label) && !strcmp(report->selftests[i].test, test))
			return &report->selftests[i];
	report->selftests = array_grow(report->selftests, report->n_selftests, sizeof(*report->selftests));
	report->selftests[report->n_selftests] = (struct report_selftest){ .label = xstrdup(label),
									   .test = xstrdup(test),
									   .said = xcalloc(report->n_rows, sizeof(char *)) };
	return &report->selftests[report->n_selftests++];
}

static void note(struct report *report, size_t row, const char *key, const char *said)
{
	AUTO_FREE char *label = xstrndup(key, strcspn(key, "."));
	const char *dot = strchr(key, '.');
	enum outcome outcome = outcome_of(said);

	if (outcome == UNKNOWN)
		return;
	struct report_selftest *selftest = find(report, label, dot ? dot + 1 : "");
	char **known = &selftest->said[row];
	if (*known && outcome_of(*known) >= outcome)
		return;
	free(*known);
	*known = xstrdup(said);
}

struct error *selftests_take(struct report *report, size_t row, const char *identity)
{
	AUTO_JNODE all = NULL;

	/* Most boots have none. */
	if (!identity || !strstr(identity, "\"" PREFIX))
		return NULL;
	struct error *error = jnode_parse(identity, strlen(identity), "a boot's identity", &all);
	for (const char *key = error ? NULL : jnode_next_key(all, NULL); key; key = jnode_next_key(all, key))
		if (str_starts(key, PREFIX))
			note(report, row, key + strlen(PREFIX), jnode_string(all, key, ""));
	return error;
}

void selftests_free(struct report *report)
{
	for (size_t i = 0; i < report->n_selftests; i++) {
		for (size_t row = 0; row < report->n_rows; row++)
			free(report->selftests[i].said[row]);
		free(report->selftests[i].said);
		free(report->selftests[i].label);
		free(report->selftests[i].test);
	}
	free(report->selftests);
}

const char *selftest_outcome(const struct report_selftest *selftest, size_t row)
{
	return outcome_names[outcome_of(selftest->said[row])];
}

const char *selftest_reason(const struct report_selftest *selftest, size_t row)
{
	const char *colon = selftest->said[row] ? strchr(selftest->said[row], ':') : NULL;

	return colon ? colon + 1 + strspn(colon + 1, " ") : NULL;
}

ssize_t selftest_vanilla(const struct report *report, size_t row)
{
	ssize_t at = report->rows[row].previous, found = -1;

	/* A ladder has no circles; what says otherwise is damaged. */
	for (size_t i = 0; at >= 0 && i < report->n_rows; i++) {
		found = at;
		at = report->rows[at].previous;
	}
	return found;
}

bool selftest_regressed(const struct report *report, const struct report_selftest *selftest, size_t row)
{
	ssize_t vanilla = selftest_vanilla(report, row);

	if (vanilla < 0 || report->rows[row].status != ROW_OK || outcome_of(selftest->said[vanilla]) != PASS)
		return false;
	enum outcome outcome = outcome_of(selftest->said[row]);
	return outcome == FAIL || outcome == UNKNOWN;
}

static void add_finding(struct report *report, const struct report_selftest *selftest, size_t row)
{
	const char *reason = selftest_reason(selftest, row);
	bool known = outcome_of(selftest->said[row]) != UNKNOWN;

	finding_add(report, FINDING_SELFTEST, report_row_target(&report->rows[row]), NULL, false,
		    xasprintf("%s: selftest %s: %s %s%s%s, and passed on %s", report->rows[row].variant, selftest->label,
			      *selftest->test ? selftest->test : "the program", known ? "fails" : "is never reached",
			      reason ? ": " : "", reason ? reason : "", report->rows[selftest_vanilla(report, row)].variant));
}

void find_selftests(struct report *report, size_t target)
{
	for (size_t row = 0; row < report->n_rows; row++)
		for (size_t i = 0; i < report->n_selftests; i++)
			if (report_row_target(&report->rows[row]) == target &&
			    selftest_regressed(report, &report->selftests[i], row))
				add_finding(report, &report->selftests[i], row);
}
