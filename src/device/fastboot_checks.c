/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does a kernel go with a device: can a command line reach it, and will its modules load? Refused before anything is written. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/fastboot_parts.h"
#include "kernel/config.h"
#include "kernel/modules.h"

/* The module set whose images are the device's own. */
static const char stock_set[] = "stock";
#define MAX_DIFFERENCES 4

char *cmdline_refusal(const char *config_text)
{
	AUTO_FREE char *force = config_value(config_text, "CMDLINE_FORCE");
	AUTO_FREE char *text = config_value(config_text, "CMDLINE");

	if (strcmp(force, "y"))
		return NULL;
	return xasprintf("its CONFIG_CMDLINE_FORCE=y: whatever is asked for, it boots with %s", text);
}

/* What differs between any two builds and does not touch a module. */
static bool is_harmless(const char *name, size_t len)
{
	static const char *const prefixes[] = { "CONFIG_LOCALVERSION",	  "CONFIG_CMDLINE",
						"CONFIG_BUILD_SALT",	  "CONFIG_IKCONFIG",
						"CONFIG_CC_VERSION_TEXT", "CONFIG_UNUSED_KSYMS_WHITELIST",
						"CONFIG_DEFAULT_HOSTNAME" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (len >= strlen(prefixes[i]) && !memcmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Adds the options of `from` that `to` has otherwise; with `missing_only` those that `to` does not have, told the other way round. */
static size_t add_differences(const char *from, const char *to, bool missing_only, struct strbuf *out, size_t n)
{
	for (const char *line = from; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		size_t len = strcspn(line, "=\n");
		if (!str_starts(line, "CONFIG_") || line[len] != '=' || is_harmless(line, len))
			continue;
		AUTO_FREE char *name = xstrndup(line + strlen("CONFIG_"), len - strlen("CONFIG_"));
		AUTO_FREE char *own = config_value(from, name);
		AUTO_FREE char *other = config_value(to, name);
		/* What both have was compared the other way round. */
		if (!strcmp(own, other) || !strcmp(name, "MEMCG") || (missing_only && strcmp(other, "n")))
			continue;
		if (n++ < MAX_DIFFERENCES)
			strbuf_addf(out, "%s%s: %s -> %s", out->len ? ", " : "", name, missing_only ? other : own,
				    missing_only ? own : other);
	}
	return n;
}

char *config_refusal(const char *stock, const char *config)
{
	AUTO_STRBUF differences = STRBUF_INIT;
	AUTO_FREE char *old = config_value(stock, "MEMCG");
	AUTO_FREE char *new = config_value(config, "MEMCG");
	size_t n = 0;

	/* The one that this tool is about goes first. */
	if (strcmp(old, new)) {
		strbuf_addf(&differences, "MEMCG: %s -> %s", old, new);
		n = 1;
	}
	n = add_differences(stock, config, false, &differences, n);
	n = add_differences(config, stock, true, &differences, n);
	if (!n)
		return NULL;
	if (n > MAX_DIFFERENCES)
		strbuf_addf(&differences, " and %zu more", n - MAX_DIFFERENCES);
	return xasprintf("its config differs from the device's own kernel (%s), so that the vendor's modules need not fit: give "
			 "the modules "
			 "built with it as a module set",
			 strbuf_str(&differences));
}

const struct module_set *module_set_of(const struct fastboot_settings *settings, const char *config)
{
	for (size_t i = 0; config && i < settings->n_modules; i++)
		if (!strcmp(settings->modules[i].config, config))
			return &settings->modules[i];
	return NULL;
}

void stock_kernel_free(struct stock_kernel *stock)
{
	if (!stock)
		return;
	strbuf_deinit(&stock->image);
	free(stock->config);
	free(stock->no_config);
	free(stock);
}

static struct error *read_stock(const char *path, struct stock_kernel *stock)
{
	AUTO_STRBUF kernel = STRBUF_INIT;
	struct error *error = bootimg_read(path, &stock->image, &stock->header);

	if (!error)
		error = bootimg_kernel(stock->image.data, stock->image.len, &kernel);
	if (error)
		return error;
	if (!build_id_in_bytes(kernel.data, kernel.len, stock->build_id))
		return error_new(ERROR_LAB, "the kernel in %s has no build id: it could not be told from another", path);
	AUTO_ERROR no_config = config_from_ikconfig(kernel.data, kernel.len, &stock->config);
	if (no_config)
		stock->no_config = xstrdup(error_message(no_config));
	return NULL;
}

struct error *phone_stock(struct phone *phone, const struct stock_kernel **stock_out)
{
	const char *path = phone->settings->stock.boot;

	if (!phone->stock) {
		if (!path)
			return error_new(ERROR_LAB, "the profile names no stock.boot image, whose kernel or ramdisk is needed");
		struct stock_kernel *stock = xcalloc(1, sizeof(*stock));
		struct error *error = read_stock(path, stock);
		if (error) {
			stock_kernel_free(stock);
			return error;
		}
		phone->stock = stock;
	}
	*stock_out = phone->stock;
	return NULL;
}

static struct error *compare_modules(const struct module_set *set, const struct boot_request *request)
{
	struct modules_report report = { 0 };

	if (!request->vmlinux)
		return error_new(ERROR_LAB, "the modules of config %s cannot be compared: the kernel came without its vmlinux",
				 set->config);
	struct error *error = modules_compare(set->modules, request->vmlinux, &report);
	if (error)
		return error;
	if (report.mismatch)
		error = error_new(ERROR_LAB, "%zu of the %zu modules in %s would not load into this kernel: %s",
				  report.n_mismatches, report.n_modules, set->modules, report.mismatch);
	modules_report_deinit(&report);
	return error;
}

/* Whether the modules that the device has go with a kernel of ours. */
static struct error *check_modules(struct phone *phone, const struct boot_request *request)
{
	const struct module_set *own = module_set_of(phone->settings, request->config);
	const struct module_set *stock_modules = module_set_of(phone->settings, stock_set);
	const struct stock_kernel *stock = NULL;

	if (own)
		return compare_modules(own, request);
	if (phone->settings->userspace == USERSPACE_BARE)
		return NULL; /* no modules at all */
	if (stock_modules)
		return compare_modules(stock_modules, request);
	struct error *error = phone_stock(phone, &stock);
	if (error)
		return error;
	if (!stock->config)
		return error_new(
			ERROR_LAB,
			"the device's own kernel tells no .config (%s), so that nothing says whether its modules load into "
			"another: give a module set",
			stock->no_config);
	AUTO_FREE char *refusal =
		request->config_text ? config_refusal(stock->config, request->config_text) : xstrdup("its .config is not known");
	return refusal ? error_new(ERROR_LAB, "this kernel is not booted: %s", refusal) : NULL;
}

struct error *phone_check_kernel(struct phone *phone, struct lane_boot *boot)
{
	const struct boot_request *request = boot->request;
	const char *config = request->config_text;
	struct error *error = NULL;

	if (!request->kernel_file) {
		const struct stock_kernel *stock = NULL;
		error = phone_stock(phone, &stock);
		if (error)
			return error;
		strcpy(boot->build_id, stock->build_id);
		config = stock->config;
	}
	AUTO_FREE char *refusal = config ? cmdline_refusal(config) : NULL;
	if (refusal)
		return error_new(ERROR_LAB, "no command line reaches this kernel: %s", refusal);
	AUTO_FREE char *built_in = config ? config_value(config, "CMDLINE") : NULL;
	if (built_in && strstr(built_in, "cgroup_disable"))
		jnode_set_string(boot->identity, "device.config_cmdline", built_in);
	return request->kernel_file ? check_modules(phone, request) : NULL;
}
