/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "setup.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/file.h"

static struct error *catch_signals(struct guard *guard_out)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	guard_out->fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return guard_out->fd < 0 ? error_os(errno, "cannot watch for signals") : NULL;
}

static char *find_lab(const char *matrix)
{
	AUTO_FREE char *here = path_absolute(".");
	char *found = lab_find(here);

	if (found || !matrix)
		return found;
	AUTO_FREE char *absolute = path_absolute(matrix);
	AUTO_FREE char *dir = path_dirname(absolute);
	return lab_find(dir);
}

struct error *setup_lab(struct setup *setup, const char *lab, const char *matrix)
{
	*setup = (struct setup){ .guard = NO_GUARD };
	struct error *error = catch_signals(&setup->guard);
	if (!error)
		error = install_find(&setup->install);
	if (error)
		return error;
	/* Without a lab file there are still the installed profiles and the usual toolchains: enough for prebuilt kernels. */
	AUTO_FREE char *found = lab ? NULL : find_lab(matrix);
	return lab_load(lab ? lab : found, setup->install.profiles_parent, &setup->lab);
}

/* When the lab does not stand, what is wrong with the matrix by itself is said too. */
static struct error *load_both(struct setup *setup, const struct setup_options *options)
{
	struct error *errors = setup_lab(setup, options->lab, options->matrix);

	if (!file_exists(options->matrix)) {
		error_join(&errors, error_new(ERROR_INPUT, "there is no matrix %s", options->matrix));
		return errors;
	}
	error_join(&errors, matrix_load(options->matrix, setup->lab, &setup->matrix));
	return errors;
}

struct error *setup_open(struct setup *setup, const struct setup_options *options)
{
	struct error *error = load_both(setup, options);

	if (!error)
		error = prepare_plan(setup->matrix, options->only, &setup->series, &setup->plan);
	if (!error)
		error = cache_open(setup->lab->cache_dir, setup->lab->cache_max, setup->install.share_dir, &setup->cache);
	if (!error)
		error = prepare(setup->plan, &setup->series, setup->cache, setup->guard, &setup->prepared);
	return error;
}

void setup_close(struct setup *setup)
{
	prepared_free(setup->prepared);
	if (setup->cache)
		cache_close(setup->cache);
	if (setup->plan)
		plan_free(setup->plan);
	series_set_deinit(&setup->series);
	if (setup->matrix)
		matrix_free(setup->matrix);
	if (setup->lab)
		lab_free(setup->lab);
	install_deinit(&setup->install);
	if (setup->guard.fd >= 0)
		close(setup->guard.fd);
}
