/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "report/findings_parts.h"

#define MAX_LISTED 12 /* the rest is counted: the store has them all */

static size_t list_unquiet(const struct evidence *evidence, size_t target, bool changed, struct strbuf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < evidence->n_unquiet; i++) {
		const struct unquiet_evidence *found = &evidence->unquiet[i];
		if (found->target != target || found->changed != changed)
			continue;
		if (n++ < MAX_LISTED)
			strbuf_addf(out, "%s%s (%s; %zu of %zu boots)", n > 1 ? ", " : "", found->key, found->reason,
				    found->boots, evidence->told[target]);
	}
	if (n > MAX_LISTED)
		strbuf_addf(out, " and %zu more", n - MAX_LISTED);
	return n;
}

void find_environment(struct report *report, const struct evidence *evidence, size_t target)
{
	static const struct {
		bool changed;
		const char *before, *after;
	} lists[] = {
		{ false, "could not be set on the device: ", "; what disturbs is then in the numbers of all rows alike" },
		{ true, "did not hold while it was measured: ", "; something on the device sets it back: find it and `stop` it" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		AUTO_STRBUF text = STRBUF_INIT;
		strbuf_adds(&text, lists[i].before);
		if (!list_unquiet(evidence, target, lists[i].changed, &text))
			continue;
		strbuf_adds(&text, lists[i].after);
		finding_add(report, FINDING_ENVIRONMENT, target, NULL, false, strbuf_steal(&text));
	}
}

void find_unverified(struct report *report, size_t target)
{
	const struct jnode *description = jnode_item(jnode_get(report->run, "targets"), target);

	if (strcmp(jnode_string(description, "verified", ""), "never") != 0)
		return;
	finding_add(report, FINDING_UNVERIFIED, target, NULL, false,
		    xstrdup("the profile was never seen to work on such a device (verified: never); once it has, say in it with "
			    "which build"));
}
