/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patches and mails from anywhere: splitting, subjects, dates, diffs, and hunks placed in a text. */
#include <stdlib.h>
#include <string.h>

#include "kernel/series_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void place(const struct diff *diff, const struct strbuf *text)
{
	for (size_t i = 0; i < diff->n; i++)
		for (int reverse = 0; reverse < 2; reverse++) {
			AUTO_STRBUF out = STRBUF_INIT;
			AUTO_STRLIST notes = { NULL, 0 };
			struct place_failure failure = { 0 };
			if (!place_apply(&diff->files[i], text, reverse, &out, &notes, &failure))
				place_failure_deinit(&failure);
		}
}

/* The subject and date that a mail's own lines may give. */
static void read_headers(const char *text)
{
	struct mail_subject subject;
	int64_t time_s;
	int offset_min;

	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		AUTO_FREE char *copy = xstrndup(line, strcspn(line, "\n"));
		mail_parse_subject(copy, &subject);
		free(subject.title);
		mail_parse_date(copy, &time_s, &offset_min);
		if (line - text > 4096)
			break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STRBUF text = STRBUF_INIT;
	struct mails mails;

	strbuf_add(&text, data, size);
	mails_split(text.data, text.len, &mails);
	for (size_t i = 0; i < mails.n; i++) {
		struct mail *mail = &mails.items[i];
		struct diff diff;
		mail_has_headers(mail->text);
		read_headers(mail->text);
		for (unsigned strip = 0; strip < 2; strip++) {
			struct error *error =
				diff_parse(mail->text, mail->len, strip, (struct diff_origin){ "fuzz", mail->first_line }, &diff);
			if (!error) {
				place(&diff, &text);
				diff_deinit(&diff);
			}
			error_free(error);
		}
	}
	mails_deinit(&mails);
	return 0;
}
