/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "device/collect.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number of `base`, all of it digits; -1 when it is none. */
static int parse_index(const char *digits)
{
	size_t len = strspn(digits, "0123456789");

	return len > 0 && len < 7 && !digits[len] ? atoi(digits) : -1;
}

/* Whether `key` is BASE.N of a value that was cut into pieces; returns the length of BASE, or 0. */
static size_t piece_base(const char *key, int n)
{
	const char *dot = strrchr(key, '.');

	return dot && parse_index(dot + 1) == n ? (size_t)(dot - key) : 0;
}

static const struct wire_record *record_at(const struct console *console, size_t seq)
{
	return seq < console->n_slots ? console->records[seq] : NULL;
}

static const struct wire_record *identity_at(const struct console *console, size_t seq)
{
	const struct wire_record *record = record_at(console, seq);

	return record && record->type == WIRE_IDENTITY ? record : NULL;
}

/* Puts the pieces KEY.0, KEY.1, ... that start at `seq` together; 0 when none start there, else how many they are. */
static size_t join_pieces(const struct console *console, size_t seq, struct jnode *identity)
{
	const struct wire_record *piece = identity_at(console, seq);
	const struct wire_record *second = identity_at(console, seq + 1);
	size_t base = piece && second ? piece_base(piece->name, 0) : 0;

	if (!base || piece_base(second->name, 1) != base || memcmp(piece->name, second->name, base))
		return 0;
	AUTO_FREE char *key = xstrndup(piece->name, base);
	AUTO_STRBUF value = STRBUF_INIT;
	size_t n = 0;
	for (; piece && piece_base(piece->name, (int)n) == base && !memcmp(piece->name, key, base);
	     piece = identity_at(console, seq + n)) {
		strbuf_adds(&value, piece->value);
		n++;
	}
	jnode_set_string(identity, key, strbuf_str(&value));
	return n;
}

/* The version, and behind a slash the boot's nonce, where it was given one. */
static void read_hello(const struct wire_record *hello, struct jnode *identity)
{
	size_t len = strcspn(hello->name, "/");
	AUTO_FREE char *version = xstrndup(hello->name, len);

	jnode_set_string(identity, "agent_version", version);
	jnode_set_string(identity, "wire_version", hello->value);
	if (hello->name[len])
		jnode_set_string(identity, "nonce", hello->name + len + 1);
}

static struct jnode *read_identity(const struct console *console)
{
	struct jnode *identity = jnode_object();
	size_t n = console->n_ends && console->count < console->n_slots ? console->count : console->n_slots;

	for (size_t seq = 0; seq < n;) {
		const struct wire_record *record = record_at(console, seq);
		size_t joined = 0;
		if (record && record->type == WIRE_HELLO) {
			read_hello(record, identity);
		} else if (record && record->type == WIRE_IDENTITY) {
			joined = join_pieces(console, seq, identity);
			if (!joined)
				jnode_set_string(identity, record->name, record->value);
		}
		seq += joined ? joined : 1;
	}
	return identity;
}

static char *copy_of(const struct jnode *identity, const char *key)
{
	const char *value = jnode_string(identity, key, NULL);

	return value ? xstrdup(value) : NULL;
}

/* The workloads' groups: "child-v2" when all ran in the same, else "child-v2,root" in order of appearance. */
static char *read_cgroups(const struct jnode *identity)
{
	AUTO_STRLIST groups = { NULL, 0 };
	AUTO_STRBUF text = STRBUF_INIT;

	for (const char *key = jnode_next_key(identity, NULL); key; key = jnode_next_key(identity, key)) {
		const char *group = str_starts(key, "cgroup.") ? jnode_string(identity, key, "") : NULL;
		if (!group || strlist_has(&groups, group))
			continue;
		strlist_add(&groups, group);
		strbuf_addf(&text, "%s%s", groups.n > 1 ? "," : "", group);
	}
	return groups.n ? strbuf_steal(&text) : NULL;
}

static void fill_identity(const struct console *console, struct boot_record *record)
{
	struct jnode *all = read_identity(console);

	record->boot_id = copy_of(all, "boot_id");
	record->build_id = copy_of(all, "build_id");
	record->booted_cmdline = copy_of(all, "cmdline");
	record->memcg = copy_of(all, "memcg");
	record->cgroup = read_cgroups(all);
	record->identity = jnode_object();
	static const char *const own_fields[] = { "boot_id", "build_id", "cmdline", "memcg" };
	for (const char *key = jnode_next_key(all, NULL); key; key = jnode_next_key(all, key)) {
		bool own = false;
		for (size_t i = 0; i < ARRAY_SIZE(own_fields); i++)
			own |= !strcmp(key, own_fields[i]);
		if (!own)
			jnode_set_string(record->identity, key, jnode_string(all, key, ""));
	}
	jnode_free(all);
}

static void add_reason(struct strbuf *reasons, const char *format, ...) PRINTF_FORMAT(2, 3);
static void add_reason(struct strbuf *reasons, const char *format, ...)
{
	va_list args;

	if (reasons->len)
		strbuf_adds(reasons, "; ");
	va_start(args, format);
	strbuf_vaddf(reasons, format, args);
	va_end(args);
}

/* Adds what differs to `wrong` and what was not told to `untold`. */
static void compare(const char *what, const char *found, const char *expected, struct strbuf *wrong, struct strbuf *untold)
{
	if (!found)
		add_reason(untold, "the agent did not tell the %s, expected \"%s\"", what, expected);
	else if (strcmp(found, expected))
		add_reason(wrong, "%s is \"%s\", expected \"%s\"", what, found, expected);
}

/* Whether the words of `piece` stand in `text` one after the other, between blanks. */
static bool has_piece(const char *text, const char *piece)
{
	size_t len = strlen(piece);

	for (const char *found = text; len && (found = strstr(found, piece)); found++)
		if ((found == text || isspace((unsigned char)found[-1])) && (!found[len] || isspace((unsigned char)found[len])))
			return true;
	return !len;
}

/* The next word of a kernel's command line, where blanks in quotes do not end one; its length, or 0 at the end. */
static size_t next_word(const char **at)
{
	bool quoted = false;
	size_t len = 0;

	*at += strspn(*at, " \t\n");
	for (const char *c = *at; *c && (quoted || !isspace((unsigned char)*c)); c++, len++)
		quoted ^= *c == '"';
	return len;
}

/* The word without its quotes: they may stand around all of it or around its value. */
static char *plain_word(const char *word, size_t len)
{
	AUTO_STRBUF plain = STRBUF_INIT;

	for (size_t i = 0; i < len; i++)
		if (word[i] != '"')
			strbuf_addch(&plain, word[i]);
	return strbuf_steal(&plain);
}

static bool has_word(const char *text, const char *wanted)
{
	const char *at = text;

	for (size_t len; (len = next_word(&at)); at += len) {
		AUTO_FREE char *word = plain_word(at, len);
		if (!strcmp(word, "--"))
			return false;
		if (!strcmp(word, wanted))
			return true;
	}
	return false;
}

/* The first word that is missing, or NULL. */
static char *missing_word(const char *booted, const char *asked)
{
	const char *at = asked;

	for (size_t len; (len = next_word(&at)); at += len) {
		AUTO_FREE char *word = plain_word(at, len);
		if (!has_word(booted, word))
			return take_ptr(word);
	}
	return NULL;
}

char *collect_match_cmdline(const char *booted, const char *asked, enum cmdline_match match)
{
	AUTO_FREE char *trimmed = xstrdup(asked);
	AUTO_FREE char *missing = match == CMDLINE_WORDS ? missing_word(booted, asked) : NULL;

	if (match == CMDLINE_EXACT && strcmp(booted, asked))
		return xasprintf("command line is \"%s\", expected \"%s\"", booted, asked);
	if (match == CMDLINE_CONTAINS && !has_piece(booted, str_trim(trimmed)))
		return xasprintf("command line is \"%s\", which does not contain \"%s\" in one piece", booted, asked);
	if (missing)
		return xasprintf("command line is \"%s\", in which \"%s\" is missing", booted, missing);
	return NULL;
}

static void compare_cmdline(const char *booted, const struct collect_expected *expected, struct strbuf *wrong,
			    struct strbuf *untold)
{
	AUTO_FREE char *mismatch = booted ? collect_match_cmdline(booted, expected->cmdline, expected->match) : NULL;

	if (!booted)
		add_reason(untold, "the agent did not tell the command line, expected \"%s\"", expected->cmdline);
	else if (mismatch)
		add_reason(wrong, "%s", mismatch);
}

static void compare_identity(const struct boot_record *record, const struct collect_expected *expected, struct strbuf *wrong,
			     struct strbuf *untold)
{
	AUTO_FREE char *wire = xasprintf("%d", WIRE_VERSION);

	compare("agent's wire version", jnode_string(record->identity, "wire_version", NULL), wire, wrong, untold);
	if (expected->nonce && expected->nonce[0])
		compare("boot's nonce", jnode_string(record->identity, "nonce", NULL), expected->nonce, wrong, untold);
	if (expected->build_id)
		compare("build id", record->build_id, expected->build_id, wrong, untold);
	compare_cmdline(record->booted_cmdline, expected, wrong, untold);
	if (expected->memcg != MEMCG_UNKNOWN)
		compare("memcg state", record->memcg, memcg_state_name(expected->memcg), wrong, untold);
	if (!record->boot_id)
		add_reason(untold, "the agent did not tell the boot id, expected a new one");
	else if (expected->boot_ids && strlist_has(expected->boot_ids, record->boot_id))
		add_reason(wrong, "boot id is \"%s\", which an earlier boot had, expected a new one", record->boot_id);
}

/* Splits "pft.fault.insn_k.w1" into metric and iteration; false when it is not of that form. */
static bool split_case(const char *name, struct reading *reading, bool *warmup_out)
{
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name)
		return false;
	*warmup_out = dot[1] == 'w';
	reading->iteration = parse_index(dot + 1 + *warmup_out);
	if (reading->iteration < 0)
		return false;
	reading->name = xstrndup(name, (size_t)(dot - name));
	return true;
}

static bool parse_decimal(const char *text, double *value_out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '-')
		return false;
	errno = 0;
	double value = strtod(text, &end);
	if (*end || errno == ERANGE || !isfinite(value))
		return false;
	*value_out = value;
	return true;
}

/* Adds one reading, or a reason. */
static void read_result(const struct wire_record *result, struct boot_record *record, bool **warm, struct strbuf *failures)
{
	struct reading reading = { 0 };
	bool warmup;

	if (!result->pass) {
		/* An iteration that fails says why in each of its readings. */
		if (!failures->len || !strstr(failures->data, result->value))
			add_reason(failures, "%s: %s", result->name, result->value);
		return;
	}
	if (!parse_decimal(result->value, &reading.value) || !split_case(result->name, &reading, &warmup)) {
		add_reason(failures, "%s: \"%s\" is no reading", result->name, result->value);
		return;
	}
	reading.unit = xstrdup(result->unit);
	record->readings = array_grow(record->readings, record->n_readings, sizeof(reading));
	*warm = array_grow(*warm, record->n_readings, sizeof(**warm));
	record->readings[record->n_readings] = reading;
	(*warm)[record->n_readings++] = warmup;
}

/* How many warm-ups the workload of a reading had. */
struct warmups {
	const char *label; /* up to its '.' */
	size_t len;
	int n;
};

static struct warmups *find_warmups(struct warmups **all, size_t *n, const char *name)
{
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < *n; i++)
		if ((*all)[i].len == len && !memcmp((*all)[i].label, name, len))
			return &(*all)[i];
	*all = array_grow(*all, *n, sizeof(**all));
	(*all)[*n] = (struct warmups){ .label = name, .len = len };
	return &(*all)[(*n)++];
}

/* w0, w1 of a workload with two warm-ups become -2, -1; also of a reading that is there in some iterations alone. */
static void number_warmups(struct boot_record *record, const bool *warm)
{
	AUTO_FREE struct warmups *all = NULL;
	size_t n = 0;

	for (size_t i = 0; i < record->n_readings; i++) {
		struct warmups *own = find_warmups(&all, &n, record->readings[i].name);
		if (warm[i] && record->readings[i].iteration >= own->n)
			own->n = record->readings[i].iteration + 1;
	}
	for (size_t i = 0; i < record->n_readings; i++)
		if (warm[i])
			record->readings[i].iteration -= find_warmups(&all, &n, record->readings[i].name)->n;
}

static void read_results(const struct console *console, struct boot_record *record, struct strbuf *failures)
{
	AUTO_FREE bool *warm = NULL;

	for (size_t seq = 0; seq < console->count; seq++) {
		const struct wire_record *result = record_at(console, seq);
		if (result && result->type == WIRE_RESULT)
			read_result(result, record, &warm, failures);
	}
	if (warm)
		number_warmups(record, warm);
	else if (!failures->len)
		add_reason(failures, "the agent reported no readings");
}

void collect_record(const struct console *console, const struct collect_expected *expected, struct boot_record *record)
{
	AUTO_STRBUF wrong = STRBUF_INIT;
	AUTO_STRBUF untold = STRBUF_INIT;
	AUTO_STRBUF failures = STRBUF_INIT;

	fill_identity(console, record);
	record->status = BOOT_LAB;
	if (console->conflict) {
		record->reason = xstrdup("the console carries the records of two agents");
		return;
	}
	if (!console_complete(console)) {
		record->reason = console->n_ends ? xasprintf("console lost records: %zu of %u in both copies",
							     console_missing(console), (unsigned)console->count)
						 : xstrdup("console lost records: no END in either copy");
		return;
	}
	compare_identity(record, expected, &wrong, &untold);
	read_results(console, record, &failures);
	/* A wrong kernel explains whatever failed on it; what failed explains what was not told. */
	struct strbuf *reason = wrong.len ? &wrong : failures.len ? &failures : untold.len ? &untold : NULL;
	if (!reason) {
		record->status = BOOT_OK;
		return;
	}
	record->status = reason == &failures ? BOOT_LAB : BOOT_VOID;
	record->reason = strbuf_steal(reason);
	boot_record_drop_readings(record);
}
