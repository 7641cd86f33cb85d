/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of lanes: an image, an agent, the records of a good one in a file, and a request to boot it. */
#ifndef TESTS_LANE_BENCH_H
#define TESTS_LANE_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/wire.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "device/device.h"

#define BUILD_ID "00112233445566778899aabbccddeeff00112233"
#define CMDLINE "console=ttyAMA0 panic=-1"

struct bench {
	char dir[64];
	char image_sha256[HASH_HEX_SIZE];
	char *program, *image, *agent, *lock_path, *console_path, *records;
	struct profile profile;
	struct device_context context;
	struct boot_request request;
	struct boot_record *record;
};

static inline void add_record(struct strbuf *out, uint32_t *seq, enum wire_type type, const char *name, const char *value)
{
	struct wire_record record = { .type = type, .seq = *seq, .pass = true, .unit = "insn/page" };
	char line[WIRE_LINE_MAX];

	snprintf(record.name, sizeof(record.name), "%s", name);
	snprintf(record.value, sizeof(record.value), "%s", value);
	assert_true(wire_format(&record, line) > 0);
	strbuf_adds(out, line);
	++*seq;
}

/* What a good agent prints, in a file for the scripts to print. */
static inline void write_records(struct bench *bench)
{
	AUTO_STRBUF text = STRBUF_INIT;
	uint32_t seq = 0;

	add_record(&text, &seq, WIRE_HELLO, "0.1", "1");
	add_record(&text, &seq, WIRE_IDENTITY, "build_id", BUILD_ID);
	add_record(&text, &seq, WIRE_IDENTITY, "cmdline", CMDLINE);
	add_record(&text, &seq, WIRE_IDENTITY, "boot_id", "x");
	add_record(&text, &seq, WIRE_IDENTITY, "memcg", "none");
	add_record(&text, &seq, WIRE_RESULT, "pft.fault.insn_k.0", "1587.9");
	add_record(&text, &seq, WIRE_END, "", "");
	bench->records = path_join(bench->dir, "records");
	assert_null(file_write_atomic(bench->records, text.data, text.len, 0644));
}

/* Of that kind; the caller fills in its section of the profile. */
static inline struct bench *bench_new(enum device_kind kind, const char *name)
{
	struct bench *bench = xcalloc(1, sizeof(*bench));

	log_set_level(LOG_ERROR);
	strcpy(bench->dir, "/tmp/memcg-ab-bench-XXXXXX");
	assert_non_null(mkdtemp(bench->dir));
	bench->program = path_join(bench->dir, "machine");
	bench->image = path_join(bench->dir, "Image");
	bench->agent = path_join(bench->dir, "agent");
	bench->lock_path = path_join(bench->dir, "lock");
	bench->console_path = path_join(bench->dir, "console/boot");
	assert_null(file_write_atomic(bench->image, "a kernel", 8, 0644));
	assert_null(file_write_atomic(bench->agent, "an agent", 8, 0755));
	hash_bytes("a kernel", 8, bench->image_sha256);
	write_records(bench);
	bench->profile = (struct profile){
		.name = (char *)name,
		.kind = kind,
		.exact = true,
		.boot_timeout_ms = 3000,
		.silence_timeout_ms = 3000,
		.run_timeout_ms = 3000,
	};
	bench->context = (struct device_context){
		.name = name,
		.profile = &bench->profile,
		.agent_arm64 = bench->agent,
		.scratch_dir = bench->dir,
		.lock_path = bench->lock_path,
		.guard = NO_GUARD,
	};
	bench->request = (struct boot_request){
		.variant = "nomemcg/plain/0",
		.kernel_file = bench->image,
		.image_sha256 = bench->image_sha256,
		.cmdline = CMDLINE,
		.build_id = BUILD_ID,
		.memcg = MEMCG_NONE,
		.workloads = "workload=pft\nrun=pft\n",
		.console_path = bench->console_path,
	};
	return bench;
}

static inline int bench_free(void **state)
{
	struct bench *bench = *state;

	boot_record_free(bench->record);
	error_free(file_remove_tree(bench->dir));
	free(bench->program);
	free(bench->image);
	free(bench->agent);
	free(bench->lock_path);
	free(bench->console_path);
	free(bench->records);
	free(bench);
	return 0;
}

static inline struct error *keep_record(void *arg, const struct boot_record *record)
{
	struct bench *bench = arg;
	AUTO_JNODE json = boot_record_to_json(record);

	boot_record_free(bench->record);
	return boot_record_from_json(json, &bench->record);
}

#endif
