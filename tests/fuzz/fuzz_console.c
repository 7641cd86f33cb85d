/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes on a console: the first says in which pieces they come. */
#include <stdint.h>
#include <stdlib.h>

#include "device/collect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct collect_expected expected = { .build_id = "00", .cmdline = "console=ttyAMA0 panic=-1", .memcg = MEMCG_ON };
	struct console *console = console_new(expected.cmdline);
	struct boot_record *record = xcalloc(1, sizeof(*record));
	size_t piece = size ? (size_t)data[0] + 1 : 1;

	for (size_t at = 1; at < size; at += piece)
		console_feed(console, data + at, piece < size - at ? piece : size - at);
	console_finish(console);
	collect_record(console, &expected, record);
	if ((record->status == BOOT_OK) != !record->reason || (record->status != BOOT_OK && record->n_readings))
		abort();
	boot_record_free(record);
	console_free(console);
	return 0;
}
