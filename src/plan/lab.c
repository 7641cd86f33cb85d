/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/lab.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "plan/keys.h"
#include "plan/lab_sources.h"
#include "plan/search.h"

#define LAB_FILE "memcg-ab.yaml"
#define GIB (1024.0 * 1024 * 1024)
#define HOUR_MS 3600000.0

struct loader {
	struct lab *lab;
	struct search search;
	struct error *errors;
	const struct yaml_node *sources, *toolchains, *devices, *cache, *build;
};

static const struct bind_field lab_fields[] = {
	BIND("sources", BIND_MAPPING, struct loader, sources), BIND("toolchains", BIND_MAPPING, struct loader, toolchains),
	BIND("devices", BIND_MAPPING, struct loader, devices), BIND("cache", BIND_MAPPING, struct loader, cache),
	BIND("build", BIND_MAPPING, struct loader, build),
};
const struct bind_table lab_keys = { "lab", lab_fields, ARRAY_SIZE(lab_fields), false };

static const char *const wrapper_words[] = { "ccache", "distcc", NULL };

struct toolchain_entry {
	struct toolchain toolchain;
	int wrapper; /* index, or -1 */
};

static const struct bind_field toolchain_fields[] = {
	BIND("cross", BIND_TEXT, struct toolchain_entry, toolchain.cross),
	BIND("llvm", BIND_TEXT, struct toolchain_entry, toolchain.llvm),
	BIND("wrapper", BIND_WORD, struct toolchain_entry, wrapper, .words = wrapper_words),
};
const struct bind_table toolchain_keys = { "toolchain", toolchain_fields, ARRAY_SIZE(toolchain_fields), false };

static const struct bind_field cache_fields[] = {
	BIND("dir", BIND_TEXT, struct lab, cache_dir),
	BIND("max", BIND_SIZE, struct lab, cache_max, .min = GIB),
};
const struct bind_table cache_keys = { "cache", cache_fields, ARRAY_SIZE(cache_fields), false };

static const struct bind_field build_fields[] = {
	BIND("parallel", BIND_COUNT, struct lab, build_parallel, .min = 1, .max = 1024),
	BIND("jobs", BIND_COUNT, struct lab, build_jobs, .min = 1, .max = 4096),
	BIND("timeout", BIND_TIME, struct lab, build_timeout_ms, .min = 1000, .max = 240 * HOUR_MS),
};
const struct bind_table build_keys = { "build", build_fields, ARRAY_SIZE(build_fields), false };

char *lab_find(const char *start_dir)
{
	AUTO_FREE char *dir = path_absolute(start_dir);
	for (;;) {
		AUTO_FREE char *path = path_join(dir, LAB_FILE);
		if (file_is_regular(path))
			return take_ptr(path);
		if (strcmp(dir, "/") == 0)
			return NULL;
		char *parent = path_dirname(dir);
		free(dir);
		dir = parent;
	}
}

static void free_toolchain(struct toolchain *toolchain)
{
	free(toolchain->name);
	free(toolchain->cross);
	free(toolchain->llvm);
	free(toolchain->wrapper);
}

static void free_device(struct device *device)
{
	for (size_t i = 0; i < device->n_units; i++) {
		free(device->units[i].name);
		if (device->units[i].profile != device->profile)
			profile_free(device->units[i].profile);
	}
	free(device->units);
	free(device->name);
	profile_free(device->profile);
}

void lab_free(struct lab *lab)
{
	if (!lab)
		return;
	for (size_t i = 0; i < lab->n_sources; i++)
		lab_free_source(&lab->sources[i]);
	for (size_t i = 0; i < lab->n_toolchains; i++)
		free_toolchain(&lab->toolchains[i]);
	for (size_t i = 0; i < lab->n_devices; i++)
		free_device(&lab->devices[i]);
	free(lab->sources);
	free(lab->toolchains);
	free(lab->devices);
	free(lab->cache_dir);
	free(lab->share_dir);
	free(lab->path);
	free(lab);
}

const struct source *lab_source(const struct lab *lab, const char *name)
{
	for (size_t i = 0; i < lab->n_sources; i++) {
		if (strcmp(lab->sources[i].name, name) == 0)
			return &lab->sources[i];
	}
	return NULL;
}

const struct toolchain *lab_toolchain(const struct lab *lab, const char *name)
{
	for (size_t i = 0; i < lab->n_toolchains; i++) {
		if (strcmp(lab->toolchains[i].name, name) == 0)
			return &lab->toolchains[i];
	}
	return NULL;
}

const struct device *lab_device(const struct lab *lab, const char *name)
{
	for (size_t i = 0; i < lab->n_devices; i++) {
		if (strcmp(lab->devices[i].name, name) == 0)
			return &lab->devices[i];
	}
	return NULL;
}

void lab_search(const struct lab *lab, struct search *search_out)
{
	*search_out = (struct search){ lab->path, lab->share_dir };
}

/* LLVM= of the kernel's makefiles: 1, a version suffix like -14, or a folder that ends with '/'. */
static bool is_llvm(const char *value)
{
	if (strcmp(value, "1") == 0 || str_ends(value, "/"))
		return true;
	return value[0] == '-' && value[1] && strspn(value + 1, "0123456789") == strlen(value + 1);
}

static void check_toolchain(struct loader *loader, const struct yaml_node *node, const char *where,
			    const struct toolchain *toolchain)
{
	bool named = bind_has(node, &toolchain_keys, "cross") || bind_has(node, &toolchain_keys, "llvm");
	if (node->kind == YAML_MAPPING && !named)
		error_join(&loader->errors, error_at(node->pos, "%s needs 'cross' (aarch64-linux-gnu-) or 'llvm' (1)", where));
	if (toolchain->llvm && !is_llvm(toolchain->llvm))
		error_join(&loader->errors,
			   error_at(yaml_get(node, "llvm")->pos,
				    "'llvm' of %s must be 1, a version like -14, or a folder that ends with '/', not '%s'", where,
				    toolchain->llvm));
}

static void read_toolchains(struct loader *loader)
{
	struct lab *lab = loader->lab;
	lab->toolchains = xcalloc(loader->toolchains->n + 1, sizeof(*lab->toolchains));
	for (size_t i = 0; i < loader->toolchains->n; i++) {
		const struct yaml_pair *pair = &loader->toolchains->pairs[i];
		AUTO_FREE char *where = xasprintf("toolchain '%s'", pair->key);
		struct toolchain_entry entry = { .wrapper = -1 };
		bind_check_name(pair->key, pair->key_pos, "the name of a toolchain", &loader->errors);
		bind_mapping(pair->value, &toolchain_keys, where, &entry, &loader->errors);
		check_toolchain(loader, pair->value, where, &entry.toolchain);
		entry.toolchain.name = xstrdup(pair->key);
		entry.toolchain.pos = pair->key_pos;
		if (entry.wrapper >= 0)
			entry.toolchain.wrapper = xstrdup(wrapper_words[entry.wrapper]);
		lab->toolchains[lab->n_toolchains++] = entry.toolchain;
	}
}

/* The profile's file that a device names, or that has the device's name. */
static struct error *find_profile(struct loader *loader, const struct yaml_pair *pair, char **path_out)
{
	AUTO_FREE char *where = xasprintf("device '%s'", pair->key);
	struct error *errors = NULL;
	if (!bind_expect_mapping(pair->value, where, &errors))
		return errors;
	struct yaml_node own_name = { .kind = YAML_SCALAR, .pos = pair->key_pos, .text = pair->key };
	const struct yaml_node *name = yaml_get(pair->value, "profile");
	if (name && !bind_expect_text(name, "'profile'", &errors))
		return errors;
	return search_file(&loader->search, name ? name : &own_name, "profile", ".yaml", path_out);
}

/* A device without units is its own only one. */
static void make_only_unit(struct device *device)
{
	device->units = xcalloc(1, sizeof(*device->units));
	device->units[device->n_units++] = (struct unit){ xstrdup(""), device->profile, device->pos };
}

static void read_unit(struct loader *loader, struct device *device, const struct yaml_pair *of, const char *path,
		      const struct yaml_pair *pair)
{
	AUTO_FREE char *where = xasprintf("device '%s'", device->name);
	AUTO_FREE char *unit_where = xasprintf("unit '%s' of device '%s'", pair->key, device->name);
	struct unit *unit = &device->units[device->n_units++];
	*unit = (struct unit){ .name = xstrdup(pair->key), .pos = pair->key_pos };
	bind_check_name(pair->key, pair->key_pos, "the name of a unit", &loader->errors);
	if (!bind_expect_mapping(pair->value, unit_where, &loader->errors))
		return;
	struct error *error = profile_load_unit(path, &loader->search, of->value, where, pair->value, unit_where, &unit->profile);
	error_join(&loader->errors, error_place(error, pair->key_pos));
	/* Commands, and what sim is told to do wrong, are what units differ in: only who writes them knows whether their numbers are equal. */
	bool comparable = !error && device->profile && unit->profile->kind != DEVICE_COMMAND && unit->profile->kind != DEVICE_SIM;
	if (comparable && strcmp(unit->profile->digest, device->profile->digest) != 0)
		error_join(&loader->errors,
			   error_at(pair->key_pos,
				    "units of one device must be equal but for where they are (serials, console, hooks): %s "
				    "has other settings that change numbers; make it a device of its own",
				    unit_where));
}

static void read_device(struct loader *loader, const struct yaml_pair *pair)
{
	struct device *device = &loader->lab->devices[loader->lab->n_devices++];
	AUTO_FREE char *where = xasprintf("device '%s'", pair->key);
	AUTO_FREE char *path = NULL;
	*device = (struct device){ .name = xstrdup(pair->key), .pos = pair->key_pos };
	bind_check_name(pair->key, pair->key_pos, "the name of a device", &loader->errors);
	struct error *error = find_profile(loader, pair, &path);
	if (!error)
		error = error_place(profile_load(path, &loader->search, pair->value, where, &device->profile), pair->key_pos);
	error_join(&loader->errors, error);
	if (error)
		return;
	const struct yaml_node *units = yaml_get(pair->value, "units");
	if (!units || units->kind != YAML_MAPPING || !units->n) {
		make_only_unit(device);
		return;
	}
	device->units = xcalloc(units->n, sizeof(*device->units));
	for (size_t i = 0; i < units->n; i++)
		read_unit(loader, device, pair, path, &units->pairs[i]);
}

static void read_devices(struct loader *loader)
{
	struct lab *lab = loader->lab;
	lab->devices = xcalloc(loader->devices->n + 1, sizeof(*lab->devices));
	for (size_t i = 0; i < loader->devices->n; i++)
		read_device(loader, &loader->devices->pairs[i]);
}

static void read_cache(struct loader *loader)
{
	struct lab *lab = loader->lab;
	bind_mapping(loader->cache, &cache_keys, "'cache'", lab, &loader->errors);
	const struct yaml_node *dir = yaml_get(loader->cache, "dir");
	if (!dir || !lab->cache_dir)
		return;
	free(lab->cache_dir);
	lab->cache_dir = search_absolute(dir);
}

static char *default_cache_dir(void)
{
	/* The XDG base directory specification: a relative path is to be ignored. */
	const char *xdg = getenv("XDG_CACHE_HOME");
	if (xdg && *xdg == '/')
		return path_join(xdg, "memcg-ab");
	const char *home = getenv("HOME");
	if (home && *home == '/')
		return path_join(home, ".cache/memcg-ab");
	const struct passwd *user = getpwuid(getuid());
	return path_join(user ? user->pw_dir : "/", ".cache/memcg-ab");
}

/* One more than cores, for when a job waits for the disk. */
static unsigned default_jobs(unsigned parallel)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return (cores > 0 ? (unsigned)cores / parallel : 0) + 1;
}

static struct lab *new_lab(const char *path, const char *share_dir)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	lab->path = path ? xstrdup(path) : NULL;
	lab->share_dir = share_dir ? xstrdup(share_dir) : NULL;
	lab->cache_max = (uint64_t)(40 * GIB);
	lab->build_parallel = 1;
	lab->build_timeout_ms = (int64_t)(4 * HOUR_MS);
	return lab;
}

static void complete(struct lab *lab)
{
	if (!lab->cache_dir)
		lab->cache_dir = default_cache_dir();
	if (!lab->build_jobs)
		lab->build_jobs = default_jobs(lab->build_parallel);
}

static void add_toolchain(struct lab *lab, const char *name, const char *cross, const char *llvm)
{
	lab->toolchains = array_grow(lab->toolchains, lab->n_toolchains, sizeof(*lab->toolchains));
	lab->toolchains[lab->n_toolchains++] = (struct toolchain){
		.name = xstrdup(name),
		.cross = cross ? xstrdup(cross) : NULL,
		.llvm = llvm ? xstrdup(llvm) : NULL,
	};
}

/* Without a lab file. */
static struct error *default_lab(const char *share_dir, struct lab **lab_out)
{
	struct lab *lab = new_lab(NULL, share_dir);
	struct search search;
	lab_search(lab, &search);
	add_toolchain(lab, "gcc", "aarch64-linux-gnu-", NULL);
	add_toolchain(lab, "clang", NULL, "1");
	AUTO_STRLIST names = { NULL, 0 };
	search_names(&search, ".yaml", &names);
	lab->devices = xcalloc(names.n + 1, sizeof(*lab->devices));
	struct error *errors = NULL;
	for (size_t i = 0; i < names.n; i++) {
		AUTO_FREE char *path = xasprintf("%s/profiles/%s.yaml", share_dir, names.items[i]);
		struct profile *profile = NULL;
		error_join(&errors, profile_load(path, &search, NULL, NULL, &profile));
		/* Which of the phones in the world it is only a lab file can say. */
		bool placed = profile && (profile->kind != DEVICE_FASTBOOT || profile->fastboot.serial);
		if (!placed) {
			profile_free(profile);
			continue;
		}
		struct device *device = &lab->devices[lab->n_devices++];
		device->name = xstrdup(names.items[i]);
		device->profile = profile;
		make_only_unit(device);
	}
	if (errors) {
		lab_free(lab);
		return errors;
	}
	complete(lab);
	*lab_out = lab;
	return NULL;
}

struct error *lab_load(const char *path, const char *share_dir, struct lab **lab_out)
{
	if (!path)
		return default_lab(share_dir, lab_out);
	struct yaml_node *root = NULL;
	struct error *error = yaml_load_partial(path, &root);
	if (!root)
		return error;
	struct loader loader = { .lab = new_lab(path, share_dir), .errors = error };
	lab_search(loader.lab, &loader.search);
	bind_mapping(root, &lab_keys, "the lab", &loader, &loader.errors);
	if (loader.sources)
		lab_read_sources(loader.lab, loader.sources, &loader.errors);
	if (loader.toolchains)
		read_toolchains(&loader);
	if (loader.devices)
		read_devices(&loader);
	if (loader.cache)
		read_cache(&loader);
	if (loader.build)
		bind_mapping(loader.build, &build_keys, "'build'", loader.lab, &loader.errors);
	yaml_node_free(root);
	if (loader.errors) {
		lab_free(loader.lab);
		return loader.errors;
	}
	complete(loader.lab);
	*lab_out = loader.lab;
	return NULL;
}
