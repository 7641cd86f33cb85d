/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include "kernel/series_internal.h"
#include "workdir.h"

/*
 * base/: the kernel source, a folder and a git repository with the same tree. `lines FROM TO` prints "line N" lines.
 */
#define PRELUDE "umask 022; lines() { seq -f 'line %g' $1 $2; }; "
static const char make_base[] =
	PRELUDE "mkdir -p base/mm base/doc; cd base; printf 'VERSION = 5\\nPATCHLEVEL = 10\\nSUBLEVEL = 0\\nEXTRAVERSION =\\n' "
		">Makefile; lines 1 40 >mm/a.c;"
		"lines 1 20 >mm/b.c; { lines 1 5; echo same; lines 6 10; echo same; } >doc/d; printf "
		"'dos\\r\\nlines\\r\\nhere\\r\\n' >doc/dos; printf 'no\\nend' >doc/noend;"
		"printf '#!/bin/sh\\necho\\n' >run; : >empty; git init -q; git add -A; git commit -qm base; git tag base";

struct fixture {
	struct workdir *dir;
	struct cache *cache;
	struct source_tree *base;
};

static struct source_tree *import(const struct fixture *fixture, enum source_kind kind, const char *rev)
{
	AUTO_FREE char *path = workdir_path(fixture->dir, "base");
	struct source_alternative from = { .kind = kind, .path = path, .rev = (char *)rev };
	struct source source = { .name = "linux", .alternatives = &from, .n = 1 };
	const struct source *const sources[] = { &source };
	struct source_tree *tree = NULL;

	assert_ok(source_import(fixture->cache, sources, 1, NO_GUARD, NULL, NULL, &tree));
	return tree;
}

static int setup(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));
	void *dir = NULL;

	if (workdir_setup(&dir))
		return -1;
	fixture->dir = dir;
	workdir_do(dir, make_base);
	AUTO_FREE char *cache = workdir_path(dir, "cache");
	assert_ok(cache_open(cache, UINT64_C(1) << 40, NULL, &fixture->cache));
	fixture->base = import(fixture, SOURCE_FOLDER, NULL);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	void *dir = fixture->dir;

	source_tree_free(fixture->base);
	cache_close(fixture->cache);
	free(fixture);
	return workdir_teardown(&dir);
}

static struct pos matrix_pos(int line)
{
	return (struct pos){ "matrix.yaml", line, 7 };
}

/* Loads the stack of `names`: a range when it has dots, else a path below the folder. */
static struct error *load(const struct fixture *fixture, const char *const *names, size_t n, struct series **out)
{
	struct patch_source stack[4] = { 0 };
	struct patches patches = { .name = "p", .stack = stack, .n_stack = n, .pos = matrix_pos(1) };

	for (size_t i = 0; i < n; i++) {
		bool range = strstr(names[i], "..");
		stack[i].kind = range ? PATCHES_RANGE : PATCHES_PATH;
		stack[i].path = workdir_path(fixture->dir, range ? "base" : names[i]);
		stack[i].range = range ? (char *)names[i] : NULL;
		stack[i].pos = matrix_pos(2 + (int)i);
	}
	struct error *error = series_load(&patches, out);
	for (size_t i = 0; i < n; i++)
		free(stack[i].path);
	return error;
}

/* Errors name the temporary folder: DIR stands for it in `want`. */
static void check_error(const struct fixture *fixture, struct error *error, const char *want)
{
	assert_non_null(error);
	AUTO_STRBUF found = STRBUF_INIT;
	AUTO_FREE char *text = error_text(error);
	size_t len = strlen(fixture->dir->path);

	for (const char *at = text; *at;) {
		if (!strncmp(at, fixture->dir->path, len)) {
			strbuf_adds(&found, "DIR");
			at += len;
		} else {
			strbuf_addch(&found, *at++);
		}
	}
	assert_string_equal(strbuf_str(&found), want);
	error_free(error);
}

static struct series *load_one(const struct fixture *fixture, const char *name)
{
	struct series *series = NULL;

	assert_ok(load(fixture, &name, 1, &series));
	return series;
}

/* "TREE NOTE" a step. */
static char *apply(const struct fixture *fixture, const char *name)
{
	struct series *series = load_one(fixture, name);
	struct series_step *steps = NULL;
	struct strbuf out = STRBUF_INIT;

	assert_ok(series_apply(fixture->cache, fixture->base, series, &steps));
	for (size_t i = 0; i <= series_steps(series); i++)
		strbuf_addf(&out, "%s%s%s\n", steps[i].tree, steps[i].note ? " " : "", steps[i].note ? steps[i].note : "");
	series_steps_free(steps, series_steps(series) + 1);
	series_free(series);
	return strbuf_steal(&out);
}

static struct error *apply_fails(const struct fixture *fixture, const char *name)
{
	struct series *series = load_one(fixture, name);
	struct series_step *steps = NULL;
	struct error *error = series_apply(fixture->cache, fixture->base, series, &steps);

	assert_null(steps);
	series_free(series);
	return error;
}

/* The trees of the base repository's commits, oldest first. */
#define TREES "git log --reverse --format=%T HEAD"

static void test_numbered_patches_mbox_and_range_agree(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *want = workdir_run(
		fixture->dir, PRELUDE
		"cd base; sed -i 's/line 20/twenty/' mm/a.c; git commit -qam 'mm: one\n\nA body.\n\nWith two paragraphs.';"
		"git mv mm/b.c mm/c.c; sed -i 's/line 3$/three/' mm/c.c; chmod 755 run; git rm -q empty; git add -A; git commit "
		"-qm 'mm: two';"
		"lines 1 3 >mm/new.c; ln -s new.c mm/link; : >mm/void; printf 'no\\nend\\n' >doc/noend; sed -i 's/lines/LINES/' "
		"doc/dos; git add -A; git commit -qm 'mm: three';"
		"git format-patch -q -M -o ../numbered --cover-letter base; git format-patch -q --stdout --no-renames base "
		">../one.mbox;"
		"git format-patch -q --stdout base | gzip >../packed.mbox.gz; " TREES);
	AUTO_FREE char *numbered = apply(fixture, "numbered");
	AUTO_FREE char *mbox = apply(fixture, "one.mbox");
	AUTO_FREE char *packed = apply(fixture, "packed.mbox.gz");
	AUTO_FREE char *range = apply(fixture, "base..HEAD");
	AUTO_FREE char *wanted = xasprintf("%s\n", want);

	assert_string_equal(numbered, wanted);
	assert_string_equal(mbox, wanted);
	assert_string_equal(packed, wanted);
	assert_string_equal(range, wanted);
	struct series *series = load_one(fixture, "numbered");
	assert_int_equal(series_steps(series), 3);
	assert_string_equal(series_subject(series, 2), "mm: two");
	struct series_summary summary;
	series_summarise(series, &summary);
	assert_int_equal(summary.n, 3);
	assert_string_equal(summary.subjects[2], "mm: three");
	for (size_t i = 0; i < summary.n; i++)
		free(summary.subjects[i]);
	free(summary.subjects);
	series_free(series);
}

static void test_commits(void **state)
{
	struct fixture *fixture = *state;
	struct series_step *steps = NULL, *again = NULL;

	workdir_do(fixture->dir, "cd base; sed -i 's/line 20/twenty/' mm/a.c; git commit -qam 'mm: one\n\nA body.'; git "
				 "format-patch -q -o ../p base");
	struct series *series = load_one(fixture, "p");
	assert_ok(series_apply(fixture->cache, fixture->base, series, &steps));
	assert_ok(series_apply(fixture->cache, fixture->base, series, &again));
	assert_string_equal(steps[0].commit, fixture->base->commit);
	assert_string_equal(steps[1].commit, again[1].commit);
	AUTO_FREE char *script = xasprintf("git --git-dir=cache/objects.git cat-file commit %s", steps[1].commit);
	AUTO_FREE char *found = workdir_run(fixture->dir, script);
	AUTO_FREE char *want = xasprintf(
		"tree %s\nparent %s\nauthor Ann <ann@x.org> 1700000000 +0100\ncommitter Ann <ann@x.org> 1700000000 +0100\n\n"
		"mm: one\n\nA body.",
		steps[1].tree, fixture->base->commit);
	assert_string_equal(found, want);
	series_steps_free(steps, 2);
	series_steps_free(again, 2);
	series_free(series);
}

static void test_quilt(void **state)
{
	struct fixture *fixture = *state;
	AUTO_FREE char *want =
		workdir_run(fixture->dir,
			    "mkdir q; cp -r base new; rm -rf new/.git; sed -i 's/line 20/twenty/' new/mm/a.c; diff -ru base/mm "
			    "new/mm >q/one.diff || true;"
			    "cd base; sed -i 's/line 20/twenty/' mm/a.c; git commit -qam 1; sed -i 's/line 7$/seven/' mm/b.c; "
			    "git diff --no-prefix >../q/two.patch; git commit -qam 2;"
			    "echo new >mm/n; git add -N mm/n; { echo 'A new file.'; echo; echo 'Described at length.'; git diff; "
			    "} | sed 's/$/\\r/' >../q/three.patch; git add -A; git commit -qm 3;"
			    "mkdir ../old ../x; cp -r mm ../old/mm; cp -r mm ../x/mm; rm ../x/mm/n; cd ..; diff -ruN old x "
			    ">q/four.patch || true; cd base; git rm -q mm/n; git commit -qm 4; " TREES);
	workdir_write(fixture->dir, "q/series",
		      "# a comment\n\none.diff   # made with diff -ru\n two.patch -p0\nthree.patch -p1\nfour.patch\n");
	AUTO_FREE char *found = apply(fixture, "q");
	AUTO_FREE char *wanted = xasprintf("%s\n", want);

	assert_string_equal(found, wanted);
	struct series *series = load_one(fixture, "q");
	assert_string_equal(series_subject(series, 1), "one");
	assert_string_equal(series_subject(series, 3), "A new file.");
	series_free(series);

	workdir_write(fixture->dir, "q/series", "one.diff -R\ngone.patch\ntwo.patch\ntwo.patch -p0 extra\n");
	const char *name = "q";
	check_error(fixture, load(fixture, &name, 1, &series),
		    "DIR/q/series:1:1: error: a reversed patch (-R) is not supported: put the reversed diff into the file\n"
		    "DIR/q/series:2:1: error: there is no file DIR/q/gone.patch\n"
		    "DIR/q/series:4:1: error: 'extra' is no option of a series file: write NAME or NAME -pN\n");
	workdir_write(fixture->dir, "q/series", "# nothing\n");
	check_error(fixture, load(fixture, &name, 1, &series), "DIR/q/series:1:1: error: the series file names no patch\n");
}

static void test_lore_mbox(void **state)
{
	struct fixture *fixture = *state;
	const char *root = getenv("MEMCG_AB_ROOT");
	AUTO_FREE char *copy = xasprintf("cp %s/tests/data/series/lore.mbox lore.mbox", root ? root : ".");
	struct series_step *steps = NULL;

	workdir_do(fixture->dir, copy);
	struct series *series = load_one(fixture, "lore.mbox");
	assert_int_equal(series_steps(series), 2);
	assert_string_equal(series_subject(series, 1), "mm: first");
	assert_string_equal(series_subject(series, 2), "mm: second, with a subject on two lines");
	assert_ok(series_apply(fixture->cache, fixture->base, series, &steps));
	AUTO_FREE char *script = xasprintf("export GIT_DIR=cache/objects.git; for c in %s %s; do git log -1 --format='%%an "
					   "<%%ae> %%ai%%n%%B' $c; git show --format= -U0 $c | grep '^[-+]line'; done",
					   steps[1].commit, steps[2].commit);
	AUTO_FREE char *found = workdir_run(fixture->dir, script);
	assert_string_equal(
		found,
		"Zoe Writer <zoe@example.org> 2026-03-03 10:30:00 -0330\nmm: first\n\nThe first one.\n\n-line 3\n+line three\n"
		"Zoë Writer <zoe@example.org> 2026-03-03 11:00:00 -0330\nmm: second, with a subject on two lines\n\n"
		"The second one. A café, and a line that is so long that it is wrapped by the encoding.\n\n"
		"From the archive: this line was quoted.\n\nSigned-off-by: Zoë Writer <zoe@example.org>\n\n-line 11\n+line 11 = "
		"eleven");
	assert_null(steps[0].note);
	series_steps_free(steps, 3);
	series_free(series);

	/* The same as it was sent, every line ending in CR LF. */
	AUTO_FREE char *lf = apply(fixture, "lore.mbox");
	workdir_do(fixture->dir, "sed -i 's/$/\\r/' lore.mbox");
	AUTO_FREE char *crlf = apply(fixture, "lore.mbox");
	assert_string_equal(lf, crlf);
}

static void test_incomplete_mbox(void **state)
{
	struct fixture *fixture = *state;
	const char *name = "m.mbox";
	struct series *series = NULL;

	workdir_do(fixture->dir, "cd base; for i in 1 2 3 4; do sed -i \"s/line 2$i$/x/\" mm/a.c; git commit -qam $i; done; git "
				 "format-patch -q -n -o ../p base; cd ../p;"
				 "cat 0002* 0004* 0002* >../m.mbox; sed 's/PATCH/PATCH v2/' 0003* >../v2; cat 0001* ../v2 "
				 ">../versions.mbox; echo 'Subject: x' >../talk.mbox");
	check_error(fixture, load(fixture, &name, 1, &series),
		    "DIR/m.mbox: error: patch 1/4 is not in the mbox\n"
		    "DIR/m.mbox: error: patch 3/4 is not in the mbox\n"
		    "DIR/m.mbox:51:1: error: a second mail with patch 2/4\n");
	name = "versions.mbox";
	check_error(fixture, load(fixture, &name, 1, &series),
		    "DIR/versions.mbox:26:1: error: the mbox has versions 1 and 2 of the series: keep one\n");
	name = "talk.mbox";
	check_error(fixture, load(fixture, &name, 1, &series), "DIR/talk.mbox: error: there is no patch in this file\n");
	name = "no/such";
	check_error(fixture, load(fixture, &name, 1, &series),
		    "matrix.yaml:2:7: error: there is no file or folder DIR/no/such\n");
	name = "base";
	check_error(fixture, load(fixture, &name, 1, &series),
		    "matrix.yaml:2:7: error: folder DIR/base has neither a series file nor NNNN-*.patch files\n");
	workdir_do(fixture->dir, "cp p/0001* p/0001-other.patch");
	name = "p";
	check_error(fixture, load(fixture, &name, 1, &series),
		    "matrix.yaml:2:7: error: folder DIR/p has two patches 1: 0001-1.patch and 0001-other.patch\n");
	assert_null(series);
}

static void test_bad_patches(void **state)
{
	struct fixture *fixture = *state;
	const char *root = getenv("MEMCG_AB_ROOT");
	AUTO_FREE char *copy = xasprintf("cp %s/tests/data/series/bad.patch bad.patch", root ? root : ".");
	const char *name = "bad.patch";
	struct series *series = NULL;

	workdir_do(fixture->dir, copy);
	check_error(fixture, load(fixture, &name, 1, &series),
		    "DIR/bad.patch:8:1: error: a binary change (a/logo.png b/logo.png): memcg-ab applies text patches only\n"
		    "DIR/bad.patch:15:1: error: mm/a.c: hunk 1 is cut short or damaged: its header says 4 and 4 lines, 2 and 2 "
		    "are missing\n"
		    "DIR/bad.patch:25:1: error: mm/b.c: hunk 1 has more lines than its header says\n"
		    "DIR/bad.patch:28:1: error: 'b/../../etc/passwd' with 1 leading part stripped is no path inside the kernel "
		    "source (quilt's series can say -pN)\n"
		    "DIR/bad.patch:32:1: error: a merge's combined diff cannot be applied\n"
		    "DIR/bad.patch:36:1: error: '@@ -x +1 @@' is no hunk header\n"
		    "DIR/bad.patch:39:1: error: file mode '160000' is none that a kernel source has\n"
		    "DIR/bad.patch:47:1: error: the diff is from mm/e.c to mm/f.c and has no rename lines\n");
	assert_null(series);
}

static void test_moved_hunks(void **state)
{
	struct fixture *fixture = *state;

	/* Patches made on a tree with 7 lines more at the top of a.c, applied to the base: found above; and the other way round: below. */
	AUTO_FREE char *out =
		workdir_run(fixture->dir,
			    PRELUDE "cd base; cp mm/a.c ../a; { seq 7; cat ../a; } >mm/a.c; git commit -qam pad; git tag pad; "
				    "sed -i 's/line 10$/ten/; s/line 30$/thirty/' mm/a.c; git commit -qam change;"
				    "git format-patch -q --zero-commit -o ../above pad; sed -i '/^index/d' ../above/*; git "
				    "checkout -q base; sed -i 's/line 10$/ten/; s/line 30$/thirty/' mm/a.c; git commit -qam x;"
				    "git rev-parse HEAD^{tree}; git diff base HEAD >../x.diff; git checkout -q pad; git apply "
				    "--cached ../x.diff; git write-tree;"
				    "mkdir ../below; cd ..; { cd base; git diff base pad; } >below/0001-pad.patch; cd ..; sed "
				    "'/^index/d' x.diff >below/0002-x.patch");
	char *rest = out;
	const char *want_above = strsep(&rest, "\n"), *want_below = strsep(&rest, "\n");
	AUTO_FREE char *above = apply(fixture, "above");
	AUTO_FREE char *wanted = xasprintf("%s\n%s mm/a.c: hunk 1 found 7 lines above; mm/a.c: hunk 2 found 7 lines above\n",
					   fixture->base->tree, want_above);
	assert_string_equal(above, wanted);
	AUTO_FREE char *below = apply(fixture, "below");
	AUTO_FREE char *note =
		xasprintf("%s mm/a.c: hunk 1 found 7 lines below; mm/a.c: hunk 2 found 7 lines below\n", want_below);
	assert_true(str_ends(below, note));
}

static void test_patches_that_do_not_apply(void **state)
{
	struct fixture *fixture = *state;

	workdir_do(fixture->dir,
		   PRELUDE "mkdir p; cat >p/0001-one.patch <<'X'\nSubject: one\n\n---\ndiff --git a/mm/a.c b/mm/a.c\n--- "
			   "a/mm/a.c\n+++ b/mm/a.c\n@@ -9,3 +9,3 @@ f\n line 9\n-line ten\n+line 10\n line 11\n"
			   "diff --git a/mm/b.c b/mm/b.c\n--- a/mm/b.c\n+++ b/mm/b.c\n@@ -1,3 +1,3 @@\n line 1\n-line 2\n+line "
			   "two\n line 3\n@@ -30,3 +30,3 @@ g\n line 30\n-line 31\n+x\n line 32\n"
			   "diff --git a/mm/none.c b/mm/none.c\n--- a/mm/none.c\n+++ b/mm/none.c\n@@ -1 +1 @@\n-a\n+b\n"
			   "diff --git a/run b/run\nnew file mode 100644\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+a\n"
			   "diff --git a/doc/noend b/doc/noend\ndeleted file mode 100644\n--- a/doc/noend\n+++ /dev/null\n@@ "
			   "-1,1 +0,0 @@\n-no\nX\n"
			   "cat >p/0002-two.patch <<'X'\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,2 +1,2 @@\n-line none\n+x\n line "
			   "2\n--- a/doc/d\n+++ b/doc/d\n@@ -2,3 +2,3 @@\n line 5\n-same\n+other\n line 6\n"
			   "--- a/doc/dos\n+++ b/doc/dos\n@@ -1,3 +1,3 @@\n dos\n-lines\n+LINES\n here\nX");
	check_error(fixture, apply_fails(fixture, "p"),
		    "DIR/p/0001-one.patch:7:1: error: mm/a.c: hunk 1 (@@ -9,3 +9,3 @@ f) does not apply: line 10 should be 'line "
		    "ten' and is 'line 10'; the file has this patch's change already\n"
		    "DIR/p/0001-one.patch:20:1: error: mm/b.c: hunk 2 (@@ -30,3 +30,3 @@ g) does not apply: line 30 should be "
		    "'line 30' and the file has 20 lines\n"
		    "DIR/p/0001-one.patch:25:1: error: mm/none.c: the kernel source has no file mm/none.c\n"
		    "DIR/p/0001-one.patch:31:1: error: run: the patch makes this file, and it exists already\n"
		    "DIR/p/0001-one.patch:41:1: error: doc/noend: hunk 1 (@@ -1,1 +0,0 @@) does not apply: it has no context "
		    "after its change, so line 1 should be the file's last\n"
		    "DIR/p/0002-two.patch:16:1: error: doc/dos: hunk 1 (@@ -1,3 +1,3 @@) does not apply: line 1 should be 'dos' "
		    "and is 'dos' (ending in CR LF)\n");
}

static void test_places_that_are_taken(void **state)
{
	struct fixture *fixture = *state;

	workdir_do(fixture->dir, "mkdir p; printf -- '--- /dev/null\\n+++ b/run/x\\n@@ -0,0 +1 @@\\n+x\\n--- /dev/null\\n+++ "
				 "b/doc\\n@@ -0,0 +1 @@\\n+x\\n--- a/doc/d\\n+++ /dev/null\\n"
				 "@@ -1,2 +0,0 @@\\n-line 1\\n-line 2\\n' >p/0001-x.patch");
	check_error(fixture, apply_fails(fixture, "p"),
		    "DIR/p/0001-x.patch:1:1: error: run/x: run is a file, not a folder\n"
		    "DIR/p/0001-x.patch:5:1: error: doc: a folder stands where the patch makes a file\n"
		    "DIR/p/0001-x.patch:11:1: error: doc/d: hunk 1 (@@ -1,2 +0,0 @@) does not apply: it has no context after its "
		    "change, so line 2 should be the file's last\n");
}

static void test_ambiguous_place(void **state)
{
	struct fixture *fixture = *state;

	workdir_do(fixture->dir,
		   "mkdir p; seq 30 >x; for i in 5 15 25; do sed -i \"${i}s/.*/mark/; $((i - 1))s/.*/before/; $((i + "
		   "1))s/.*/after/\" x; done;"
		   "{ printf -- '--- /dev/null\\n+++ b/doc/m\\n@@ -0,0 +1,30 @@\\n'; sed 's/^/+/' x; } >p/0001-m.patch;"
		   "printf -- '--- a/doc/m\\n+++ b/doc/m\\n@@ -10,3 +10,3 @@\\n before\\n-mark\\n+MARK\\n after\\n' "
		   ">p/0002-m.patch");
	check_error(fixture, apply_fails(fixture, "p"),
		    "DIR/p/0002-m.patch:3:1: error: doc/m: hunk 1 (@@ -10,3 +10,3 @@) does not apply: its lines are not where "
		    "its header says, and stand at more than one place: lines 4, 14, 24\n");
	/* At one of the places it is not ambiguous. */
	workdir_do(fixture->dir, "sed -i 's/10,3/14,3/g' p/0002-m.patch");
	AUTO_FREE char *found = apply(fixture, "p");
	assert_null(strstr(found, "found"));
}

static void test_already_applied(void **state)
{
	struct fixture *fixture = *state;

	workdir_do(fixture->dir, "cd base; sed -i 's/line 20/twenty/' mm/a.c; echo n >n; git add -A; git commit -qm 'mm: "
				 "twenty'; git format-patch -q -o ../p base; cp ../p/0001* ../p/0002-again.patch");
	check_error(fixture, apply_fails(fixture, "p"),
		    "DIR/p/0002-again.patch: error: patch 'mm: twenty' is already applied: the kernel source has its changes\n");
}

static void test_three_way(void **state)
{
	struct fixture *fixture = *state;

	/* The patch was made from the base's own a.c, whose blob the cache has; the line beside its change is another now. */
	AUTO_FREE char *want =
		workdir_run(fixture->dir, "cd base; sed -i 's/line 20$/twenty/' mm/a.c; git diff >../x; git checkout -q mm/a.c; "
					  "sed -i 's/line 18$/eighteen/' mm/a.c; git diff >../y;"
					  "mkdir ../p; mv ../y ../p/0001-y.patch; mv ../x ../p/0002-x.patch; sed -i 's/line "
					  "20$/twenty/' mm/a.c; git add -A; git write-tree");
	AUTO_FREE char *found = apply(fixture, "p");
	AUTO_FREE char *wanted = xasprintf("%s mm/a.c: three-way merge\n", want);
	assert_true(str_ends(found, wanted));

	/* Both change the same line. */
	workdir_do(fixture->dir,
		   "cd base; git checkout -q -f base; sed -i 's/line 20$/other/' mm/a.c; git diff >../p/0001-y.patch");
	check_error(fixture, apply_fails(fixture, "p"),
		    "DIR/p/0002-x.patch:5:1: error: mm/a.c: hunk 1 (@@ -17,7 +17,7 @@ line 16) does not apply: line 20 should be "
		    "'line 20' and is 'other'\n");
}

static void test_file_kinds_against_git(void **state)
{
	struct fixture *fixture = *state;
	static const char *const changes[] = {
		"git mv mm/a.c doc/a.txt", /* pure rename */
		"chmod 755 run", /* mode alone */
		"git rm -q mm/a.c mm/b.c", /* a folder becomes empty */
		"git rm -q run; mkdir run; echo x >run/x", /* a file becomes a folder */
		"git rm -q -r doc; echo x >doc", /* a folder becomes a file */
		"git rm -q empty; ln -s mm/a.c empty", /* a file becomes a link */
		"cp mm/a.c mm/copy.c; sed -i 's/line 20/x/' mm/copy.c", /* copy */
		"mv mm/a.c t; mv mm/b.c mm/a.c; mv t mm/b.c", /* two files change places */
		"mkdir -p 'odd dir/é'; echo x >'odd dir/é/a\tb'; echo y >'odd dir/\"q\"'",
		"printf 'no\\nend\\nmore' >doc/noend",
		"printf 'x\\n' >empty",
		": >mm/b.c",
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		AUTO_FREE char *script =
			xasprintf("rm -rf p; mkdir p; cd base; git checkout -q -f base; git clean -qfdx; %s; git add -A; git "
				  "diff --cached -M -C -B --find-copies-harder base >../p/0001-x.patch;"
				  "git diff --cached base >../p/0002-plain; git write-tree",
				  changes[i]);
		AUTO_FREE char *want = workdir_run(fixture->dir, script);
		AUTO_FREE char *found = apply(fixture, "p");
		AUTO_FREE char *wanted = xasprintf("%s\n%s\n", fixture->base->tree, want);
		assert_string_equal(found, wanted);
		workdir_do(fixture->dir, "mv p/0002-plain p/0001-x.patch");
		AUTO_FREE char *plain = apply(fixture, "p");
		assert_string_equal(plain, wanted);
	}
}

static void test_range_on_another_base(void **state)
{
	struct fixture *fixture = *state;
	struct series_step *steps = NULL;

	AUTO_FREE char *want = workdir_run(
		fixture->dir,
		"cd base; sed -i 's/line 40/forty/' mm/a.c; git commit -qam other; sed -i 's/line 20/twenty/' mm/a.c; git commit "
		"-qam 'mm: twenty'; git tag end;"
		"git checkout -q base; sed -i 's/line 20/twenty/' mm/a.c; git commit -qam x; git rev-parse HEAD^{tree}");
	AUTO_FREE char *found = apply(fixture, "end~1..end");
	AUTO_FREE char *wanted = xasprintf("%s the range's commits are applied as patches: they stand on another tree\n%s\n",
					   fixture->base->tree, want);
	assert_string_equal(found, wanted);

	/* In a stack, on patches of its own base. */
	workdir_do(fixture->dir, "cd base; git format-patch -q -o ../on base..end~1");
	const char *const stack[] = { "on", "end~1..end" };
	struct series *series = NULL;
	assert_ok(load(fixture, stack, 2, &series));
	assert_int_equal(series_steps(series), 1);
	assert_ok(series_apply(fixture->cache, fixture->base, series, &steps));
	AUTO_FREE char *trees = workdir_run(fixture->dir, "cd base; git rev-parse end~1^{tree} end^{tree}");
	AUTO_FREE char *got = xasprintf("%s\n%s", steps[0].tree, steps[1].tree);
	assert_string_equal(got, trees);
	assert_null(steps[0].note);
	/* Its objects are in the cache: the user's repository is not needed to read the tree. */
	AUTO_GITDB db = NULL;
	assert_ok(gitdb_open(fixture->cache, NULL, &db));
	assert_true(gitdb_has(db, steps[1].tree));
	series_steps_free(steps, 2);
	series_free(series);
}

static void test_bad_ranges(void **state)
{
	struct fixture *fixture = *state;
	struct series *series = NULL;
	const char *name = "base..base";

	workdir_do(fixture->dir,
		   "cd base; git checkout -q -b side; echo s >s; git add -A; git commit -qm side; git checkout -q -b main2 base; "
		   "echo m >m; git add -A; git commit -qm main; git merge -q -m merge side; git tag merged");
	check_error(fixture, load(fixture, &name, 1, &series), "matrix.yaml:2:7: error: range base..base has no commits\n");
	name = "base...merged";
	check_error(fixture, load(fixture, &name, 1, &series),
		    "matrix.yaml:2:7: error: 'base...merged' is no commit range: write FROM..TO\n");
	name = "base..merged";
	struct error *error = load(fixture, &name, 1, &series);
	assert_non_null(strstr(error_message(error), "is a merge: a series is a straight line of commits"));
	error_free(error);
	assert_null(series);
}

static void test_base_commit(void **state)
{
	struct fixture *fixture = *state;
	struct series_step *steps = NULL;

	workdir_do(fixture->dir, "cd base; echo x >x; git add -A; git commit -qm newer; git tag newer; sed -i 's/line "
				 "20/twenty/' mm/a.c; git commit -qam change; git format-patch -q --base=newer -o ../p newer");
	struct series *series = load_one(fixture, "p");
	struct source_tree *base = import(fixture, SOURCE_GIT, "base"), *newer = import(fixture, SOURCE_GIT, "newer");
	assert_ok(series_apply(fixture->cache, base, series, &steps));
	AUTO_FREE char *want = xasprintf("the series was made on commit %.12s (base-commit), the source is at %.12s",
					 newer->commit, base->commit);
	assert_string_equal(steps[0].note, want);
	series_steps_free(steps, 2);
	assert_ok(series_apply(fixture->cache, newer, series, &steps));
	assert_null(steps[0].note);
	series_steps_free(steps, 2);
	/* Where the commit is not known there is nothing to compare. */
	assert_ok(series_apply(fixture->cache, fixture->base, series, &steps));
	assert_null(steps[0].note);
	series_steps_free(steps, 2);
	source_tree_free(base);
	source_tree_free(newer);
	series_free(series);
}

static void test_subjects(void **state)
{
	static const struct {
		const char *text;
		bool reply;
		unsigned version, number, total;
		const char *title;
	} cases[] = {
		{ "[PATCH v2 3/7] mm: x", false, 2, 3, 7, "mm: x" },
		{ "[PATCH] mm: x", false, 1, 0, 0, "mm: x" },
		{ "Re: [PATCH 1/2] mm: x", true, 1, 1, 2, "mm: x" },
		{ "[RFC][PATCH bpf-next 02/10] [x86] y", false, 1, 2, 10, "y" },
		{ "mm: [not a tag] x", false, 1, 0, 0, "mm: [not a tag] x" },
		{ "[PATCH 9/2] broken", false, 1, 0, 0, "broken" },
		{ "[PATCH 0/2] cover", false, 1, 0, 2, "cover" },
		{ "[open", false, 1, 0, 0, "[open" },
		{ "", false, 1, 0, 0, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct mail_subject found;
		mail_parse_subject(cases[i].text, &found);
		assert_int_equal(found.reply, cases[i].reply);
		assert_int_equal(found.version, cases[i].version);
		assert_int_equal(found.number, cases[i].number);
		assert_int_equal(found.total, cases[i].total);
		assert_string_equal(found.title, cases[i].title);
		free(found.title);
	}
}

static void test_dates(void **state)
{
	static const struct {
		const char *text;
		bool good;
		int64_t time_s;
		int offset_min;
	} cases[] = {
		{ "Tue, 14 Nov 2023 23:13:20 +0100", true, 1700000000, 60 },
		{ "14 Nov 2023 22:13:20 GMT", true, 1700000000, 0 },
		{ "Tue, 14 Nov 2023 18:43:20 -0330", true, 1700000000, -210 },
		{ "Thu, 1 Jan 1970 00:00:00 +0000", true, 0, 0 },
		{ "14 Foo 2023 22:13:20 +0000", false, 0, 0 },
		{ "2023-11-14", false, 0, 0 },
		{ "", false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t time_s = 5;
		int offset_min = 7;
		assert_int_equal(mail_parse_date(cases[i].text, &time_s, &offset_min), cases[i].good);
		assert_int_equal(time_s, cases[i].good ? cases[i].time_s : 5);
		assert_int_equal(offset_min, cases[i].good ? cases[i].offset_min : 7);
	}
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_numbered_patches_mbox_and_range_agree),
		TEST(test_commits),
		TEST(test_quilt),
		TEST(test_lore_mbox),
		TEST(test_incomplete_mbox),
		TEST(test_bad_patches),
		TEST(test_moved_hunks),
		TEST(test_patches_that_do_not_apply),
		TEST(test_places_that_are_taken),
		TEST(test_ambiguous_place),
		TEST(test_already_applied),
		TEST(test_three_way),
		TEST(test_file_kinds_against_git),
		TEST(test_range_on_another_base),
		TEST(test_bad_ranges),
		TEST(test_base_commit),
		cmocka_unit_test(test_subjects),
		cmocka_unit_test(test_dates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
