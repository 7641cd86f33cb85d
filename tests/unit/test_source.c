/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <sys/stat.h>

#include "base/lock.h"
#include "kernel/source_internal.h"
#include "workdir.h"

#define KERNEL_TREE                                                                                                               \
	"umask 022; mkdir -p linux-5.10/mm linux-5.10/scripts; cd linux-5.10; printf '# SPDX\\nVERSION = 5\\nPATCHLEVEL = "       \
	"10\\nSUBLEVEL = 7\\n"                                                                                                    \
	"EXTRAVERSION = -rc1\\nNAME = x\\n' >Makefile; echo 'int a;' >mm/a.c; echo 'é \"q\"' >'mm/odd \"na\\me\" é.c'; printf " \
	"'#!/bin/sh\\n' "                                                                                                         \
	">scripts/run; chmod 755 scripts/run; ln -s ../mm/a.c scripts/link; : >mm/empty; cd ..;"

/* What git itself makes of the folder. */
#define GIT_TREE                                                                                                                 \
	"git init -q --bare ref.git; export GIT_DIR=$PWD/ref.git GIT_WORK_TREE=$PWD/linux-5.10; git add -Af .; git write-tree"

static struct cache *open_cache(const struct workdir *dir)
{
	AUTO_FREE char *path = workdir_path(dir, "cache");
	struct cache *cache = NULL;

	assert_ok(cache_open(path, UINT64_C(1) << 40, NULL, &cache));
	return cache;
}

static struct error *import(const struct cache *cache, struct source_alternative *alternatives, size_t n,
			    struct source_tree **out)
{
	for (size_t i = 0; i < n; i++)
		alternatives[i].pos = (struct pos){ "lab.yaml", 10 + (int)i, 5 };
	struct source source = { .name = "linux", .alternatives = alternatives, .n = n, .pos = { "lab.yaml", 9, 3 } };
	const struct source *const sources[] = { &source };

	return source_import(cache, sources, 1, NO_GUARD, NULL, NULL, out);
}

static bool is_cached(const struct cache *cache, struct source_alternative *alternatives, size_t n)
{
	struct source source = { .name = "linux", .alternatives = alternatives, .n = n };
	const struct source *const sources[] = { &source };

	return source_is_cached(cache, sources, 1);
}

static void test_cache_paths(void **state)
{
	struct cache *cache = open_cache(*state);
	AUTO_FREE char *want = workdir_path(*state, "cache/a/b");
	AUTO_FREE char *path = cache_path(cache, "a/b");

	assert_string_equal(path, want);
	assert_true(file_is_dir(cache->dir));
	cache_close(cache);
	cache_close(NULL);
}

static void test_tarballs(void **state)
{
	static const char *const files[] = { "linux.tar.xz", "linux.tar.gz", "linux.tar.zst" };
	struct cache *cache = open_cache(*state);

	workdir_do(*state, KERNEL_TREE "tar -cJf linux.tar.xz linux-5.10; tar -czf linux.tar.gz linux-5.10; tar -c --zstd -f "
				       "linux.tar.zst -C linux-5.10 .");
	AUTO_FREE char *want = workdir_run(*state, GIT_TREE);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *path = workdir_path(*state, files[i]);
		AUTO_FREE char *origin = xasprintf("tarball %s", files[i]);
		struct source_alternative from = { .kind = SOURCE_TARBALL, .path = path };
		struct source_tree *tree = NULL;
		assert_false(is_cached(cache, &from, 1));
		assert_ok(import(cache, &from, 1, &tree));
		assert_string_equal(tree->tree, want);
		assert_string_equal(tree->version, "5.10.7-rc1");
		assert_string_equal(tree->origin, origin);
		assert_null(tree->objects);
		assert_int_equal(tree->source, 0);
		assert_true(is_cached(cache, &from, 1));
		source_tree_free(tree);
	}
	AUTO_FREE char *log =
		workdir_run(*state, "git --git-dir=cache/objects.git fsck --strict 2>&1 | grep -v -e dangling -e notice || true");
	assert_string_equal(log, "");
	cache_close(cache);
}

static void test_pinned_tarball(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL;

	workdir_do(*state, KERNEL_TREE "tar -czf l.tar.gz linux-5.10");
	AUTO_FREE char *path = workdir_path(*state, "l.tar.gz");
	AUTO_FREE char *digest = workdir_run(*state, "sha256sum <l.tar.gz | cut -d' ' -f1");
	struct source_alternative wrong = { .kind = SOURCE_TARBALL, .path = path, .sha256 = "00ff" };
	AUTO_FREE char *want = xasprintf("lab.yaml:10:5: error: %s has sha256 %s, not 00ff\n", path, digest);
	assert_error(import(cache, &wrong, 1, &tree), want);
	assert_null(tree);

	struct source_alternative right = { .kind = SOURCE_TARBALL, .path = path, .sha256 = digest };
	assert_ok(import(cache, &right, 1, &tree));
	source_tree_free(tree);
	/* It is its content: the file is not needed any more. */
	assert_int_equal(unlink(path), 0);
	assert_ok(import(cache, &right, 1, &tree));
	source_tree_free(tree);
	cache_close(cache);
}

static void test_changed_tarball(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *first = NULL, *second = NULL;

	workdir_do(*state, KERNEL_TREE "tar -czf l.tar.gz linux-5.10");
	AUTO_FREE char *path = workdir_path(*state, "l.tar.gz");
	struct source_alternative from = { .kind = SOURCE_TARBALL, .path = path };
	assert_ok(import(cache, &from, 1, &first));
	workdir_do(*state, "touch -d '2020-01-01' l.tar.gz");
	assert_false(is_cached(cache, &from, 1));
	assert_ok(import(cache, &from, 1, &second));
	assert_string_equal(first->tree, second->tree);
	assert_true(is_cached(cache, &from, 1));
	source_tree_free(second);
	workdir_do(*state, "echo more >>linux-5.10/mm/a.c; tar -czf l.tar.gz linux-5.10");
	assert_ok(import(cache, &from, 1, &second));
	assert_string_not_equal(first->tree, second->tree);
	source_tree_free(first);
	source_tree_free(second);
	cache_close(cache);
}

static void test_folder(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL, *again = NULL;

	workdir_do(*state,
		   KERNEL_TREE "mkdir -p linux-5.10/.git linux-5.10/void; echo x >linux-5.10/.git/HEAD; mkfifo linux-5.10/pipe");
	AUTO_FREE char *path = workdir_path(*state, "linux-5.10");
	struct source_alternative from = { .kind = SOURCE_FOLDER, .path = path };
	assert_ok(import(cache, &from, 1, &tree));
	AUTO_FREE char *want = workdir_run(*state, "rm -rf linux-5.10/.git linux-5.10/pipe;" GIT_TREE);
	assert_string_equal(tree->tree, want);
	assert_ok(import(cache, &from, 1, &again));
	assert_string_equal(tree->tree, again->tree);
	assert_string_equal(tree->commit, again->commit);
	source_tree_free(again);
	workdir_do(*state, "echo 'int b;' >linux-5.10/mm/a.c");
	assert_false(is_cached(cache, &from, 1));
	assert_ok(import(cache, &from, 1, &again));
	assert_string_not_equal(tree->tree, again->tree);
	AUTO_FREE char *text =
		workdir_run(*state,
			    "git --git-dir=cache/objects.git log --format='%an %ae %at %s' --all --author=memcg-ab | sort -u");
	assert_string_equal(text, "memcg-ab memcg-ab 0 import");
	source_tree_free(again);
	source_tree_free(tree);
	cache_close(cache);
}

static void test_git(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL;

	workdir_do(*state, KERNEL_TREE "cd linux-5.10; git init -q; git add -A; git commit -qm base; git tag v1; echo 'int b;' "
				       ">mm/b.c; git add -A; git commit -qm two");
	AUTO_FREE char *path = workdir_path(*state, "linux-5.10");
	AUTO_FREE char *commit = workdir_run(*state, "git -C linux-5.10 rev-parse v1");
	AUTO_FREE char *want = workdir_run(*state, "git -C linux-5.10 rev-parse v1^{tree}");
	AUTO_FREE char *objects = workdir_path(*state, "linux-5.10/.git/objects");
	AUTO_FREE char *before = workdir_run(*state, "find linux-5.10 | sort | xargs -d '\\n' stat -c '%n %y %z %s'");
	struct source_alternative from = { .kind = SOURCE_GIT, .path = path, .rev = "v1" };
	assert_true(is_cached(cache, &from, 1));
	assert_ok(import(cache, &from, 1, &tree));
	assert_string_equal(tree->tree, want);
	assert_string_equal(tree->commit, commit);
	assert_string_equal(tree->version, "5.10.7-rc1");
	assert_string_equal(tree->objects, objects);
	/* Writing an object that the user's repository has leaves that alone. */
	AUTO_GITDB db = NULL;
	char oid[OID_HEX_SIZE];
	assert_ok(gitdb_open(cache, tree->objects, &db));
	assert_ok(gitdb_write_blob(db, "int b;\n", 7, oid));
	AUTO_FREE char *after = workdir_run(*state, "find linux-5.10 | sort | xargs -d '\\n' stat -c '%n %y %z %s'");
	assert_string_equal(before, after);
	source_tree_free(tree);

	tree = NULL;
	from.rev = "nonsense";
	assert_false(is_cached(cache, &from, 1));
	struct error *error = import(cache, &from, 1, &tree);
	AUTO_FREE char *start = xasprintf("'nonsense' names no commit of %s (", path);
	assert_true(str_starts(error_message(error), start));
	assert_int_equal(error_kind(error), ERROR_INPUT);
	assert_int_equal(error_pos(error).line, 10);
	assert_null(tree);
	error_free(error);
	cache_close(cache);
}

static void test_alternatives(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL;

	workdir_do(*state, KERNEL_TREE "mkdir no; echo 'all:' >no/Makefile; echo text >t.tar");
	AUTO_FREE char *good = workdir_path(*state, "linux-5.10");
	AUTO_FREE char *no = workdir_path(*state, "no");
	AUTO_FREE char *text = workdir_path(*state, "t.tar");
	AUTO_FREE char *missing = workdir_path(*state, "gone.tar.xz");
	struct source_alternative list[] = {
		{ .kind = SOURCE_TARBALL, .path = missing },
		{ .kind = SOURCE_FOLDER, .path = no },
		{ .kind = SOURCE_DEB, .package = "-o Bad=option" },
		{ .kind = SOURCE_FOLDER, .path = good },
	};
	struct error *error = import(cache, list, 3, &tree);
	assert_null(tree);
	AUTO_FREE char *found = error_text(error);
	AUTO_FREE char *want =
		xasprintf("lab.yaml:9:3: error: kernel source 'linux' cannot be had from any of its alternatives\n"
			  "lab.yaml:10:5: note: there is no file %s\n"
			  "lab.yaml:11:5: note: this is no kernel source: no Makefile with VERSION and PATCHLEVEL at its top\n"
			  "lab.yaml:12:5: note: '-o Bad=option' is no name or version of a Debian package or suite\n",
			  missing);
	assert_string_equal(found, want);
	error_free(error);

	assert_ok(import(cache, list, 4, &tree));
	assert_string_equal(tree->version, "5.10.7-rc1");
	source_tree_free(tree);
	/* The list's choice is remembered: what failed is not asked again. */
	assert_ok(import(cache, list, 4, &tree));
	source_tree_free(tree);
	AUTO_FREE char *choice = workdir_run(*state, "cat cache/sources/choice-*.json");
	assert_string_equal(choice, "{\"taken\":3}");
	cache_close(cache);
}

static void test_damaged_archive_leaves_nothing(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL;

	workdir_do(*state, KERNEL_TREE
		   "head -c 400000 /dev/urandom >linux-5.10/zz; tar -cJf l.tar.xz linux-5.10; truncate -s 300000 l.tar.xz");
	AUTO_FREE char *path = workdir_path(*state, "l.tar.xz");
	struct source_alternative from = { .kind = SOURCE_TARBALL, .path = path };
	struct error *error = import(cache, &from, 1, &tree);
	assert_non_null(error);
	error_free(error);
	assert_null(tree);
	AUTO_FREE char *left =
		workdir_run(*state, "ls cache/sources 2>/dev/null || true; git --git-dir=cache/objects.git for-each-ref");
	assert_string_equal(left, "");
	/* The next import removes what a killed fast-import leaves. */
	workdir_do(*state, "touch cache/objects.git/objects/pack/tmp_pack_x cache/objects.git/fast_import_crash_1; tar -cJf "
			   "l.tar.xz linux-5.10");
	assert_ok(import(cache, &from, 1, &tree));
	source_tree_free(tree);
	AUTO_FREE char *files = workdir_run(*state, "find cache -name 'tmp_*' -o -name 'fast_import*'");
	assert_string_equal(files, "");
	cache_close(cache);
}

static void test_hostile_archive(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL;

	workdir_do(*state,
		   KERNEL_TREE "tar -cf l.tar --transform='s,linux-5.10/mm/a.c,linux-5.10/../../evil,' linux-5.10 2>/dev/null");
	AUTO_FREE char *path = workdir_path(*state, "l.tar");
	struct source_alternative from = { .kind = SOURCE_TARBALL, .path = path };
	assert_error(import(cache, &from, 1, &tree),
		     "lab.yaml:10:5: error: path 'linux-5.10/../../evil' of the source has an empty part, '.' or '..'\n");
	assert_null(tree);
	cache_close(cache);
}

static void test_interrupted(void **state)
{
	struct cache *cache = open_cache(*state);
	struct source_tree *tree = NULL;
	int ends[2];

	workdir_do(*state, KERNEL_TREE "tar -cf l.tar linux-5.10");
	AUTO_FREE char *path = workdir_path(*state, "l.tar");
	struct source_alternative from = { .kind = SOURCE_TARBALL, .path = path };
	struct source source = { .name = "linux", .alternatives = &from, .n = 1 };
	const struct source *const sources[] = { &source };
	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	struct error *error = source_import(cache, sources, 1, (struct guard){ ends[0] }, NULL, NULL, &tree);
	assert_int_equal(error_kind(error), ERROR_INTERRUPTED);
	assert_null(tree);
	error_free(error);
	close(ends[0]);
	cache_close(cache);
}

static void test_makefile_version(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n", "6.12.117" },
		{ "# c\nVERSION=4\nPATCHLEVEL = 19 # x\nSUBLEVEL =\nEXTRAVERSION = -rc3\n", "4.19-rc3" },
		{ "PATCHLEVEL = 12\n", NULL },
		{ "VERSION = x\nPATCHLEVEL = 1\n", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_FREE char *found = source_makefile_version(cases[i].text);
		if (cases[i].want)
			assert_string_equal(found, cases[i].want);
		else
			assert_null(found);
	}
}

static void check_lines(const char *targets, const char *suite, const char *codename, const char *want)
{
	struct apt_lines lines = { NULL, 0 };
	AUTO_STRBUF found = STRBUF_INIT;

	apt_choose_lines(targets, suite, codename, &lines);
	for (size_t i = 0; i < lines.n; i++)
		strbuf_addf(&found, "%s %s\n", lines.items[i].uri, lines.items[i].suite);
	assert_string_equal(strbuf_str(&found), want);
	apt_lines_deinit(&lines);
}

static void test_apt_mirrors(void **state)
{
	static const char targets[] =
		"Packages|Debian|bookworm|http://m/debian/\nTranslations|Debian|bookworm|http://m/debian/\n"
		"Packages|Debian|bookworm|http://m/debian/\nPackages|Debian|bookworm-security|http://s/sec/\n"
		"Packages|Other|stable|http://other/\n";
	static const char fresh[] = "Packages||bookworm|http://m/debian/\nPackages||nodistro|http://other/\n";

	(void)state;
	check_lines(targets, NULL, "bookworm", "http://m/debian/ bookworm\nhttp://s/sec/ bookworm-security\n");
	check_lines(targets, "trixie", "bookworm", "http://m/debian/ trixie\n");
	check_lines(targets, "bullseye-security", "bookworm", "http://s/sec/ bullseye-security\n");
	check_lines(fresh, NULL, "bookworm", "http://m/debian/ bookworm\n");
	check_lines(fresh, "bullseye-security", "bookworm", "http://m/debian-security/ bullseye-security\n");
	check_lines("", "trixie", NULL, "");
	check_lines("junk\n|||\nPackages|Debian\n", NULL, NULL, "");
	check_lines("", NULL, "trixie", "");
}

static void test_apt_uri_line(void **state)
{
	char *file = NULL, *version = NULL, *sha256 = NULL;

	(void)state;
	assert_true(apt_parse_uri_line("'http://m/p/a_1%3a2.0-1_all.deb' a_1%3a2.0-1_all.deb 122 SHA256:ab12\n", &file, &version,
				       &sha256));
	assert_string_equal(file, "a_1%3a2.0-1_all.deb");
	assert_string_equal(version, "1:2.0-1");
	assert_string_equal(sha256, "ab12");
	free(file);
	free(version);
	free(sha256);
	assert_true(apt_parse_uri_line("'http://m/a' a_1_all.deb 122", &file, &version, &sha256));
	assert_null(sha256);
	free(file);
	free(version);
	file = NULL;
	assert_false(apt_parse_uri_line("", &file, &version, &sha256));
	assert_false(apt_parse_uri_line("'http://m/a", &file, &version, &sha256));
	assert_false(apt_parse_uri_line("'http://m/a' ../x_1_all.deb 12", &file, &version, &sha256));
	assert_false(apt_parse_uri_line("'http://m/a' name 12", &file, &version, &sha256));
	assert_null(file);
}

/* A signed archive of our own on the disk: the real apt, the real gpgv. */
static const char make_archive[] = "mkdir -m 700 gnupg; export GNUPGHOME=$PWD/gnupg; for k in good bad; do gpg --batch --quiet "
				   "--passphrase '' --quick-gen-key $k@x.org ed25519 sign never "
				   "2>/dev/null; gpg --batch --export $k@x.org >$k.gpg; done;"
				   "mkdir -p a/dists/sid-security/main/binary-$(dpkg --print-architecture) "
				   "a/dists/sid-security/main/binary-all p/DEBIAN p/usr/src;"
				   "tar -cJf p/usr/src/linux-source-5.10.tar.xz linux-5.10;"
				   "printf 'Package: linux-source-5.10\\nVersion: 5.10.7-1\\nArchitecture: all\\nMaintainer: x "
				   "<x@x.org>\\nDescription: x\\n' >p/DEBIAN/control;"
				   "dpkg-deb -b p a/linux-source-5.10_5.10.7-1_all.deb >/dev/null; cd a;"
				   "d=dists/sid-security/main/binary-$(dpkg --print-architecture)/Packages; { cat "
				   "../p/DEBIAN/control; f=linux-source-5.10_5.10.7-1_all.deb; echo Filename: $f;"
				   "echo Size: $(stat -c %s $f); echo SHA256: $(sha256sum <$f | cut -d' ' -f1); } >$d; cd "
				   "dists/sid-security; f=${d#dists/sid-security/};"
				   "printf 'Origin: Debian\\nSuite: sid-security\\nCodename: sid-security\\nArchitectures: %s "
				   "all\\nComponents: main\\nDate: Thu, 01 Jan 2026 00:00:00 UTC\\n"
				   "SHA256:\\n %s %s %s\\n' $(dpkg --print-architecture) $(sha256sum <../../$d | cut -d' ' -f1) "
				   "$(stat -c %s ../../$d) $f >Release;"
				   "gpg --batch --quiet -u good@x.org --clearsign -o InRelease Release; gpgconf --kill all";

static void test_deb_from_signed_archive(void **state)
{
	static const char *const tools[] = { "gpg", "gpgv", "apt-get", "dpkg-deb" };
	struct cache *cache = open_cache(*state);
	struct deb deb = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(tools); i++)
		if (!proc_find(tools[i])) {
			print_message("no %s here: not tested\n", tools[i]);
			cache_close(cache);
			return;
		}
	workdir_do(*state, KERNEL_TREE);
	workdir_do(*state, make_archive);
	AUTO_FREE char *uri = xasprintf("file:%s/a", ((struct workdir *)*state)->path);
	AUTO_FREE char *good = workdir_path(*state, "good.gpg");
	AUTO_FREE char *bad = workdir_path(*state, "bad.gpg");
	struct source_alternative from = { .kind = SOURCE_DEB, .package = "linux-source-5.10", .suite = "sid-security" };
	struct source_job job = { .cache = cache, .from = &from, .guard = NO_GUARD };

	struct error *error = source_fetch_deb_from(&job, bad, uri, &deb);
	assert_non_null(error);
	assert_int_equal(error_kind(error), ERROR_LAB);
	assert_true(str_starts(error_message(error), "package lists of sid-security: apt-get failed"));
	error_free(error);
	assert_null(deb.path);

	assert_ok(source_fetch_deb_from(&job, good, uri, &deb));
	assert_string_equal(deb.version, "5.10.7-1");
	assert_string_equal(deb.suite, "sid-security");
	AUTO_FREE char *digest = workdir_run(*state, "cat a/*.deb | sha256sum | cut -d' ' -f1");
	assert_string_equal(deb.sha256, digest);
	AUTO_TAR tar = NULL;
	char tree[OID_HEX_SIZE];
	assert_ok(tar_open_in_deb(deb.path, "/linux-source-5.10.tar.xz", &tar));
	assert_ok(source_import_tar(&job, tar, "x", "key", tree));
	AUTO_FREE char *want = workdir_run(*state, GIT_TREE);
	assert_string_equal(tree, want);
	deb_deinit(&deb);

	from.sha256 = "00ff";
	from.pos = (struct pos){ "lab.yaml", 4, 2 };
	AUTO_FREE char *pinned = xasprintf("lab.yaml:4:2: error: linux-source-5.10 5.10.7-1 has sha256 %s, not 00ff\n", digest);
	assert_error(source_fetch_deb_from(&job, good, uri, &deb), pinned);
	from.sha256 = NULL;
	from.version = "9-1";
	error = source_fetch_deb_from(&job, good, uri, &deb);
	assert_non_null(strstr(error_message(error), "9-1"));
	error_free(error);
	assert_error(
		source_fetch_deb_from(&job, "/nonexistent.gpg", uri, &deb),
		"memcg-ab: error: the Debian archive's keys are not here (/nonexistent.gpg): install debian-archive-keyring\n");
	cache_close(cache);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, workdir_setup, workdir_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_cache_paths),
		TEST(test_tarballs),
		TEST(test_pinned_tarball),
		TEST(test_changed_tarball),
		TEST(test_folder),
		TEST(test_git),
		TEST(test_alternatives),
		TEST(test_damaged_archive_leaves_nothing),
		TEST(test_hostile_archive),
		TEST(test_interrupted),
		cmocka_unit_test(test_makefile_version),
		cmocka_unit_test(test_apt_mirrors),
		cmocka_unit_test(test_apt_uri_line),
		TEST(test_deb_from_signed_archive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
