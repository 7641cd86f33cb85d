/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "plan/fragment.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read and is written must read as the same. */
static void check_round_trip(struct fragment *fragment)
{
	AUTO_STRBUF text = STRBUF_INIT;
	fragment_write(fragment, &text);
	struct fragment *back = NULL;
	if (fragment_parse(strbuf_str(&text), text.len, "back", &back))
		abort();
	for (size_t i = 0; i < fragment->n; i++)
		fragment->requests[i].optional = false;
	if (!fragment_equal(fragment, back))
		abort();
	fragment_free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fragment *fragment = NULL;
	struct error *error = fragment_parse((const char *)data, size, "fuzz.config", &fragment);
	if (!error)
		check_round_trip(fragment);
	else
		free(error_text(error));
	error_free(error);
	fragment_free(fragment);
	return 0;
}
