/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/salt.h"

#include "base/strbuf.h"
#include "kernel/git.h"

#define SALTED_FILE "init/version.c"

/*
 * 36 bytes: no multiple of the alignments that compilers and linkers give functions (8, 16, 32, 64), so that code lands elsewhere in
 * its cache lines and fetch windows.
 */
static const char padding[] = "\n/* Padding that nothing runs: it moves the code behind it. */\n"
			      "asm(\".pushsection .text\\n\\t.balign 4\\n\\t.skip 36\\n\\t.popsection\");\n";

struct error *salt_tree(const struct cache *cache, const char *objects, const char *tree, char tree_out[OID_HEX_SIZE])
{
	AUTO_GITDB db = NULL;
	AUTO_STRBUF text = STRBUF_INIT;
	struct gitdb_edit edit = { .path = SALTED_FILE };
	bool found = false;
	struct error *error = gitdb_open(cache, objects, &db);

	if (!error)
		error = gitdb_find(db, tree, SALTED_FILE, &edit.entry, &found);
	if (!error && !found)
		error = error_new(ERROR_INPUT,
				  "the layout control needs " SALTED_FILE ", which this kernel does not have: switch it off with "
				  "controls: {layout: false}");
	if (!error)
		error = gitdb_read_blob(db, edit.entry.oid, &text);
	if (error)
		return error;
	strbuf_adds(&text, padding);
	error = gitdb_write_blob(db, text.data, text.len, edit.entry.oid);
	return error ? error : gitdb_edit_tree(db, tree, &edit, 1, tree_out);
}
