/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published tables, loaded, judged and written. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/summary.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/memcg-ab-fuzz-XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	int fd = mkstemp(path);
	if (fd < 0)
		abort();
	close(fd);
	atexit(remove_file);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	struct strbuf out = STRBUF_INIT;
	struct error *error = summary_write(path, &out);
	if (error ? out.len != 0 || error_exit_status(error) != 2 : !strstr(strbuf_str(&out), "Welch on logarithms"))
		abort();
	if (error)
		free(error_text(error));
	error_free(error);
	strbuf_deinit(&out);
	return 0;
}
