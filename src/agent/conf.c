/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/conf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/conf_environment.h"
#include "agent/events.h"
#include "agent/sift.h"

#define LABEL_MAX 64
#define REAL_MAX_LEN 64 /* bytes of a number in a list, with its NUL */
#define REGION_ALIGN ((uint64_t)2 << 20)

struct parser {
	struct conf conf;
	unsigned line;
	bool versioned;
	char *reason;
	size_t reason_size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *parser, const char *format, ...)
{
	va_list args;
	int at = parser->line ? snprintf(parser->reason, parser->reason_size, "line %u: ", parser->line) : 0;

	if (at < 0 || (size_t)at >= parser->reason_size)
		return false;
	va_start(args, format);
	vsnprintf(parser->reason + at, parser->reason_size - (size_t)at, format, args);
	va_end(args);
	return false;
}

bool conf_count(const char *text, uint64_t *value_out)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return false;
	}
	*value_out = value;
	return true;
}

bool conf_real(const char *text, double *value_out)
{
	char *end;

	if (!*text || text[strspn(text, "0123456789.eE+-")])
		return false;

	double value = strtod(text, &end);

	if (*end || !isfinite(value))
		return false;
	*value_out = value;
	return true;
}

size_t conf_reals(const char *text, double *values_out, size_t max)
{
	for (size_t n = 0;; n++) {
		char piece[REAL_MAX_LEN];
		const size_t len = strcspn(text, ",");
		double value;

		if (len >= sizeof(piece))
			return 0;
		memcpy(piece, text, len);
		piece[len] = '\0';
		if (!conf_real(piece, &value))
			return 0;
		if (n < max)
			values_out[n] = value;
		if (!text[len])
			return n + 1;
		text += len + 1;
	}
}

static bool valid_flag(const char *value)
{
	return !strcmp(value, "0") || !strcmp(value, "1");
}

static bool valid_version(const char *value)
{
	return !strcmp(value, "1");
}

static bool valid_counter(const char *value)
{
	return !strcmp(value, "pmu") || !strcmp(value, "clock") || !strcmp(value, "none") || !strcmp(value, "model");
}

static bool valid_events(const char *value)
{
	return events_parse(value) != 0;
}

static bool valid_offset(const char *value)
{
	uint64_t offset;

	return conf_count(value, &offset) && offset % REGION_ALIGN == 0 && offset <= (uint64_t)1 << 30;
}

static bool valid_memcg(const char *value)
{
	return !strcmp(value, "none") || !strcmp(value, "disabled") || !strcmp(value, "on");
}

static bool valid_hierarchy(const char *value)
{
	return !strcmp(value, "v1") || !strcmp(value, "v2");
}

static bool valid_settle(const char *value)
{
	uint64_t ms;

	return conf_count(value, &ms) && ms <= 3600000;
}

static bool valid_finish(const char *value)
{
	return !strcmp(value, "poweroff") || !strcmp(value, "reboot") || !strcmp(value, "bootloader") || !strcmp(value, "exit");
}

/* "block:" and a GPT partition's name, or a node's path. */
static bool valid_partition(const char *value)
{
	const char *name = value + strlen("block:");

	return !strncmp(value, "block:", strlen("block:")) && *name && (*name == '/' || !strchr(name, '/'));
}

static bool valid_results(const char *value)
{
	return !strcmp(value, "console") || !strcmp(value, "pmsg") || valid_partition(value) ||
	       (!strncmp(value, "tty:", 4) && value[4]);
}

static bool valid_relay(const char *value)
{
	return !strcmp(value, "pmsg") || valid_partition(value);
}

static bool valid_name(const char *value)
{
	return *value != '\0';
}

static bool valid_root(const char *value)
{
	return *value == '/';
}

static bool valid_seed(const char *value)
{
	uint64_t seed;

	return conf_count(value, &seed);
}

static bool valid_real(const char *value)
{
	double real;

	return conf_real(value, &real);
}

static bool valid_factors(const char *value)
{
	const size_t n = conf_reals(value, NULL, 0);
	double *factors = n ? malloc(n * sizeof(*factors)) : NULL;
	bool good = factors && conf_reals(value, factors, n) == n;

	for (size_t i = 0; good && i < n; i++)
		good = factors[i] > 0;
	free(factors);
	return good;
}

static bool valid_flags(const char *value)
{
	for (; value[0] == '0' || value[0] == '1'; value += 2) {
		if (value[1] != ',')
			return !value[1];
	}
	return false;
}

static const struct known_key {
	const char *key; /* one that ends in '.' stands for all keys that begin so */
	bool (*valid)(const char *value);
	const char *want;
} known_keys[] = {
	{ "version", valid_version, "1" },
	{ "root", valid_root, "an absolute folder" },
	{ "counter", valid_counter, "pmu, clock, none or model" },
	{ "events", valid_events, "names of events with commas between them" },
	{ "clock", valid_flag, "0 or 1" },
	{ "region_offset", valid_offset, "a multiple of 2097152 up to 1073741824" },
	{ "expect_memcg", valid_memcg, "none, disabled or on" },
	{ "memcg_version", valid_hierarchy, "v1 or v2" },
	{ "settle_ms", valid_settle, "a number up to 3600000" },
	{ "finish", valid_finish, "poweroff, reboot, bootloader or exit" },
	{ "nonce", sift_valid_nonce, "16 lower-case hex digits" },
	{ "results", valid_results, "console, pmsg, block:PARTITION or tty:DEVICE" },
	{ "relay", valid_relay, "pmsg or block:PARTITION" },
	{ "chain", valid_flag, "0 or 1" },
	{ "modules", valid_root, "an absolute folder" },
	{ "watchdog", valid_name, "a device" },
	{ "env.governor", conf_valid_governor, "a governor's name" },
	{ "env.frequency", conf_valid_frequency, "max, mid, min or a number of kHz" },
	{ "env.cores", conf_valid_cores, "all, big, mid, little or a list such as 4-7" },
	{ "env.offline", valid_flag, "0 or 1" },
	{ "env.thermal_below", conf_valid_limit, "degrees Celsius from 0 to 150" },
	{ "env.thermal_wait_ms", conf_valid_wait, "a number up to 86400000" },
	{ "env.stop", conf_valid_services, "names of services with commas between them" },
	{ "env.swap", valid_flag, "0 or 1" },
	{ "env.set.", conf_valid_file, "PATH=VALUE with a path in /proc, /sys or /dev" },
	{ "env.setprop.", conf_valid_property, "NAME=VALUE" },
	{ "model.", valid_real, "a real number" },
	{ "noise.factor.", valid_factors, "real numbers above 0 with commas between them" },
	{ "noise.throttled.", valid_flags, "0s and 1s with commas between them" },
	{ "fault.seed", valid_seed, "a 64-bit number" },
	{ "fault.drop-bytes", valid_flag, "0 or 1" },
	{ "fault.split-lines", valid_flag, "0 or 1" },
	{ "fault.hang", valid_flag, "0 or 1" },
	{ "fault.panic", valid_flag, "0 or 1" },
	{ "fault.die", valid_flag, "0 or 1" },
	{ "fault.power-off", valid_flag, "0 or 1" },
};

static const struct known_key *find_known(const char *key)
{
	for (size_t i = 0; i < sizeof(known_keys) / sizeof(known_keys[0]); i++) {
		const char *known = known_keys[i].key;
		size_t len = strlen(known);

		if (known[len - 1] == '.' ? !strncmp(key, known, len) && key[len] : !strcmp(key, known))
			return &known_keys[i];
	}
	return NULL;
}

static const char *find_pair(const struct conf_pair *pairs, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(pairs[i].key, key))
			return pairs[i].value;
	}
	return NULL;
}

static bool add_pair(struct parser *parser, struct conf_pair **pairs, size_t *n, char *key, char *value)
{
	if (find_pair(*pairs, *n, key))
		return refuse(parser, "'%s' is given twice", key);

	struct conf_pair *grown = realloc(*pairs, (*n + 1) * sizeof(**pairs));

	if (!grown)
		return refuse(parser, "out of memory");
	grown[(*n)++] = (struct conf_pair){ key, value };
	*pairs = grown;
	return true;
}

static bool add_setting(struct parser *parser, char *key, char *value)
{
	const struct known_key *known = find_known(key);

	if (!known)
		return refuse(parser, "unknown key '%s'", key);
	if (!known->valid(value))
		return refuse(parser, "'%s' is '%s', not %s", key, value, known->want);
	return add_pair(parser, &parser->conf.pairs, &parser->conf.n_pairs, key, value);
}

static bool valid_label(const char *label)
{
	size_t len = strlen(label);

	for (const char *c = label; *c; c++) {
		if (*c <= ' ' || *c >= 0x7f || *c == '/' || *c == '%')
			return false;
	}
	return len > 0 && len <= LABEL_MAX;
}

static bool add_workload(struct parser *parser, char *label)
{
	struct conf *conf = &parser->conf;

	if (!valid_label(label))
		return refuse(parser, "a workload's label has 1 to %d printable characters without blank, '/' and '%%'",
			      LABEL_MAX);
	for (size_t i = 0; i < conf->n_workloads; i++) {
		if (!strcmp(conf->workloads[i].label, label))
			return refuse(parser, "workload '%s' is given twice", label);
	}

	struct conf_workload *grown = realloc(conf->workloads, (conf->n_workloads + 1) * sizeof(*grown));

	if (!grown)
		return refuse(parser, "out of memory");
	grown[conf->n_workloads++] = (struct conf_workload){ .label = label };
	conf->workloads = grown;
	return true;
}

static bool add_option(struct parser *parser, struct conf_workload *workload, char *key, char *value)
{
	if (!strcmp(key, "run")) {
		if (workload->kind)
			return refuse(parser, "'run' is given twice");
		workload->kind = value;
		return true;
	}
	if (!workload->kind)
		return refuse(parser, "workload '%s' must begin with run=KIND", workload->label);
	return add_pair(parser, &workload->options, &workload->n_options, key, value);
}

static bool parse_line(struct parser *parser, char *line)
{
	if (!*line || *line == '#')
		return true;
	for (const unsigned char *c = (const unsigned char *)line; *c; c++) {
		if (*c < ' ' || *c == 0x7f)
			return refuse(parser, "byte 0x%02x is not allowed", *c);
	}

	char *value = strchr(line, '=');

	if (!value || value == line)
		return refuse(parser, "not KEY=VALUE");
	*value++ = '\0';

	bool is_version = !strcmp(line, "version");

	if (!parser->versioned && !is_version)
		return refuse(parser, "the first line must be version=1");
	parser->versioned = true;
	if (!strcmp(line, "workload"))
		return add_workload(parser, value);
	if (!parser->conf.n_workloads)
		return add_setting(parser, line, value);
	return add_option(parser, &parser->conf.workloads[parser->conf.n_workloads - 1], line, value);
}

static bool check_whole(struct parser *parser)
{
	const struct conf *conf = &parser->conf;
	bool model = !strcmp(conf_get(conf, "counter", "pmu"), "model");

	parser->line = 0;
	if (!parser->versioned)
		return refuse(parser, "no settings: the first line must be version=1");
	for (size_t i = 0; i < conf->n_pairs && !model; i++) {
		const char *key = conf->pairs[i].key;

		if (!strncmp(key, "model.", 6) || !strncmp(key, "noise.", 6) || !strncmp(key, "fault.", 6))
			return refuse(parser, "'%s' is allowed only with counter=model", key);
	}
	if (conf_get(conf, "events", NULL) && strcmp(conf_get(conf, "counter", "pmu"), "pmu") != 0)
		return refuse(parser, "'events' is allowed only with counter=pmu");
	if (conf_get(conf, "modules", NULL) && conf_get_count(conf, "chain", 0) != 1)
		return refuse(parser, "'modules' is allowed only with chain=1");
	if (!strcmp(conf_get(conf, "relay", ""), conf_get(conf, "results", "console")) &&
	    strcmp(conf_get(conf, "relay", ""), "pmsg") != 0)
		return refuse(parser, "'relay' and 'results' are the same partition");
	for (size_t i = 0; i < conf->n_workloads; i++) {
		if (!conf->workloads[i].kind)
			return refuse(parser, "workload '%s' has no run=KIND", conf->workloads[i].label);
	}
	return true;
}

bool conf_parse(char *text, struct conf *conf, char *reason, size_t reason_size)
{
	struct parser parser = { .reason = reason, .reason_size = reason_size };
	bool good = true;

	for (char *next; good && text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		parser.line++;
		good = parse_line(&parser, text);
	}
	if (!good || !check_whole(&parser)) {
		conf_deinit(&parser.conf);
		return false;
	}
	*conf = parser.conf;
	return true;
}

void conf_deinit(struct conf *conf)
{
	for (size_t i = 0; i < conf->n_workloads; i++)
		free(conf->workloads[i].options);
	free(conf->workloads);
	free(conf->pairs);
	*conf = (struct conf){ 0 };
}

const char *conf_get(const struct conf *conf, const char *key, const char *fallback)
{
	const char *value = find_pair(conf->pairs, conf->n_pairs, key);

	return value ? value : fallback;
}

uint64_t conf_get_count(const struct conf *conf, const char *key, uint64_t fallback)
{
	const char *value = conf_get(conf, key, NULL);
	uint64_t count = fallback;

	return value && conf_count(value, &count) ? count : fallback;
}

const char *conf_option(const struct conf_workload *workload, const char *name, const char *fallback)
{
	const char *value = find_pair(workload->options, workload->n_options, name);

	return value ? value : fallback;
}
