/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent's settings, /memcg-ab.conf: "key=value" lines, '#' comments, the first line is "version=1". Values run to
 * the end of the line. Keys:
 *
 *   version=1
 *   root=DIR             read /proc, /sys and cgroupfs below DIR (identity.h says which files) and change nothing
 *   counter=pmu|clock|none|model   pmu (default): perf_event_open, refused when absent; clock: times only; none: amounts
 *                        alone, neither instructions nor times; model: numbers come from model.* (sim)
 *   events=NAME,...      also counted, in the kernel: cycles, l1d_misses, dtlb_misses, ... (events.h); only with counter=pmu
 *   clock=0|1            also report ns (0 under icount, where time is no metric); default 0
 *   region_offset=BYTES  nuisance: moves the measured region, a multiple of 2 MiB
 *   expect_memcg=none|disabled|on   what the host expects; only recorded, the host decides
 *   memcg_version=v1|v2  which hierarchy pid 1 mounts the memory controller on; default v2
 *   settle_ms=N          sleep before the first workload, so that boot has finished
 *   finish=poweroff|reboot|bootloader|exit   what to do after the last record: power off (default), reboot, reboot into the
 *                        bootloader (all three only as pid 1), or exit (as pid 1: reboot)
 *   results=console|block:PARTITION|pmsg|tty:DEVICE   where the records go; default standard output. console is that; block: raw
 *                        bytes at the start of the partition of that GPT name (or device path), NUL-terminated; pmsg: /dev/pmsg0,
 *                        which ramoops keeps over a warm reboot; tty: a USB serial gadget's terminal, once it is there
 *   nonce=HEX            16 digits, drawn for this boot: each HELLO carries it (wire.h), so that what another boot left where the
 *                        records go is never taken for this one's
 *   relay=pmsg|block:PARTITION   print the records that an earlier boot left there (pstore's pmsg-ramoops-0; the partition) to
 *                        results= and measure nothing
 *   chain=1              pid 1 only: load the vendor's modules first, bring up a USB ACM gadget where results=tty: wants one
 *   modules=DIR          with chain=1: folder with modules.load; default /lib/modules (and DIR/RELEASE)
 *   watchdog=DEVICE      fed from here on, every 5 s
 *   env.governor=NAME, env.frequency=max|mid|min|KHZ, env.cores=all|big|mid|little|LIST, env.offline=0|1, env.thermal_below=REAL (C),
 *   env.thermal_wait_ms=N, env.stop=SERVICE,..., env.set.N=PATH=VALUE, env.setprop.N=NAME=VALUE, env.swap=0|1   the quiet
 *                        environment (environment.h)
 *   model.LABEL.PHASE.UNIT=REAL, noise.factor.LABEL=REAL,..., noise.throttled.LABEL=0|1,...   model.h; only with counter=model
 *   fault.NAME=0|1, fault.seed=N   misbehaviour (misbehave.h); only with counter=model
 *   workload=LABEL       starts a workload's settings; the following keys are its own until the next:
 *   run=KIND             (workload.h) then one OPTION=VALUE line per option, canonical form
 *
 * Blank lines count as comments. No key may come twice, no workload either. A label has 1 to 64 printable characters,
 * no blank, '/' or '%'.
 */
#ifndef AGENT_CONF_H
#define AGENT_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf_pair {
	char *key, *value;
};

struct conf_workload {
	char *label;
	char *kind;
	struct conf_pair *options;
	size_t n_options;
};

struct conf {
	struct conf_pair *pairs; /* what stands before the first workload= */
	size_t n_pairs;
	struct conf_workload *workloads;
	size_t n_workloads;
};

/*
 * Parses `text` (which is modified and must outlive `conf`) and checks keys and values of the settings before the
 * first workload; workload_check() does it for a workload's. False with a one-line reason in `reason`; then `conf` is
 * untouched.
 */
bool conf_parse(char *text, struct conf *conf, char *reason, size_t reason_size);
void conf_deinit(struct conf *conf);
/* The value, or `fallback` (may be NULL) when the key is not given. */
const char *conf_get(const struct conf *conf, const char *key, const char *fallback);
/* The same for a value that is a count; also `fallback` when it is none. */
uint64_t conf_get_count(const struct conf *conf, const char *key, uint64_t fallback);
const char *conf_option(const struct conf_workload *workload, const char *name, const char *fallback);
/* Reads a whole decimal number without sign or blanks; false, `value_out` untouched, when `text` is not one or does not fit. */
bool conf_count(const char *text, uint64_t *value_out);
/* The same for a finite real number: digits, point, exponent, perhaps a minus. */
bool conf_real(const char *text, double *value_out);
/*
 * Reads a list of such numbers with a comma between each two. Writes at most `max` and returns how many there are; 0 when
 * `text` is no such list.
 */
size_t conf_reals(const char *text, double *values_out, size_t max);

#endif
