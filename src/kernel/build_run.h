/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a build to its end: its output collected and counted, its failure turned into an error that names the first cause. */
#ifndef KERNEL_BUILD_RUN_H
#define KERNEL_BUILD_RUN_H

#include "kernel/build_folder.h"

struct build_run {
	const struct image_build *build;
	const struct build_folder *folder;
	const char *key; /* names the kept log of a build that fails */
	const struct strlist *argv;
	const struct strlist *env; /* for proc_spec.env */
	const char *cwd; /* NULL = ours */
};

/*
 * Standard output and error go to *log_out in order, which the caller deinits; *objects_out is the number of objects that make announced.
 * A build that fails is ERROR_KERNEL with the first compiler error, or ERROR_LAB when the machine is at fault; the log is kept as
 * failed/KEY.log.
 */
struct error *build_run(const struct build_run *run, struct strbuf *log_out, unsigned *objects_out) MUST_CHECK;
/* ERROR_KERNEL "subject: message", with the kept log noted. */
struct error *build_failed(const struct build_run *run, enum error_kind kind, const char *log, const char *message) MUST_CHECK;
/* Makes the folder's work tree what is to be built. */
struct error *build_checkout(const struct build_run *run) MUST_CHECK;
/* Tells the build's progress callback, if it has one. */
void build_report(const struct image_build *build, unsigned objects, unsigned expected, const char *what);
/* Remembers how many objects a build from nothing had, for the next one's progress. */
void build_remember_objects(const struct image_build *build, unsigned objects);

#endif
