/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/settings.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char pad_parameter[] = " memcg_ab.pad=";

char *settings_pad_cmdline(const char *cmdline, unsigned pad)
{
	AUTO_STRBUF padded = STRBUF_INIT;
	/* What is too short for the whole name is " .", and a name that starts with a dot is no parameter of the kernel's own. */
	const char *start = pad >= strlen(pad_parameter) ? pad_parameter : " .";
	size_t len = strlen(cmdline);

	while (len && isspace((unsigned char)cmdline[len - 1]))
		len--;
	if (pad == 1)
		strbuf_addch(&padded, ' ');
	strbuf_add(&padded, cmdline, len);
	for (unsigned i = 0; pad > 1 && i < pad; i++)
		strbuf_addch(&padded, i < strlen(start) ? start[i] : 'x');
	return strbuf_steal(&padded);
}

void settings_write(const struct settings *settings, const struct boot_request *request, struct strbuf *out)
{
	strbuf_addf(out, "version=1\ncounter=%s\nclock=%d\nfinish=%s\n", settings->counter, settings->clock, settings->finish);
	if (request->nuisance && request->nuisance->region_offset)
		strbuf_addf(out, "region_offset=%" PRIu64 "\n", request->nuisance->region_offset);
	if (request->memcg != MEMCG_UNKNOWN)
		strbuf_addf(out, "expect_memcg=%s\n", memcg_state_name(request->memcg));
	if (request->settle_ms)
		strbuf_addf(out, "settle_ms=%" PRId64 "\n", request->settle_ms);
	if (settings->extra)
		strbuf_adds(out, settings->extra);
	strbuf_adds(out, request->workloads ? request->workloads : "");
}
