/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run folders: RUNS/NAME/<UTC>-<plan hash>/{run.db, console/} and the link RUNS/NAME/latest. */
#ifndef RUN_FOLDER_H
#define RUN_FOLDER_H

#include "base/error.h"
#include "base/strbuf.h"

/* The newest run folder of `name` whose plan hash is `hash`, or NULL; the caller frees. */
char *run_folder_find(const char *runs_dir, const char *name, const char *hash);
/* Makes a new one and points `latest` at it. */
struct error *run_folder_create(const char *runs_dir, const char *name, const char *hash, char **dir_out) MUST_CHECK;
struct error *run_folder_set_latest(const char *dir) MUST_CHECK;
/* All run folders of `name`, newest first. */
void run_folders(const char *runs_dir, const char *name, struct strlist *dirs_out);
/* RUN of the command line: a folder with a run.db, or the NAME of a matrix for its latest run. */
struct error *run_folder_resolve(const char *runs_dir, const char *run, char **dir_out) MUST_CHECK;

#endif
