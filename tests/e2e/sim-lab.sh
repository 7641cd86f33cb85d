# SPDX-License-Identifier: GPL-3.0-or-later
# A lab, a matrix and a series for tests on the sim device, in $work. To be sourced after lib.sh.
# shellcheck shell=bash disable=SC2154

export XDG_CACHE_HOME=$work/cache
runs=$work/runs
cp -r "$root/profiles" "$work/profiles"
mkdir -p "$work/series"

write_patch() {
	cat >"$work/series/000$1-$2.patch" <<PATCH
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Tester <tester@example.org>
Date: Tue, 1 Dec 2026 10:00:0$1 +0000
Subject: [PATCH $1/3] mm: $2

---
 mm/x.c | 1 +
 1 file changed, 1 insertion(+)

diff --git a/mm/x.c b/mm/x.c
--- a/mm/x.c
+++ b/mm/x.c
@@ -$1 +$1,2 @@
 line $1
+new line $1
PATCH
}

write_patch 1 early
write_patch 2 charge
write_patch 3 swap

# write_lab [FAULTS]: the sim device, with a list of faults in YAML flow style.
write_lab() {
	cat >"$work/memcg-ab.yaml" <<LAB
# Named by the matrix, needed by none of its devices.
sources: {nowhere: {tarball: nowhere.tar.xz}}
toolchains: {gcc: {cross: aarch64-linux-gnu-}}
devices:
  sim:
    profile: sim
    timeouts: {boot: 5s, silence: 4s, run: 20s}
    retries: 2
    sim:
      boot: ${boot_time:-0ms}
      models:
        - {variant: "*", metrics: {pft.fault.insn_k: 1583.9, pft.fault.insn_u: 4, pft.teardown.insn_k: 903.3, pft.teardown.insn_u: 0}}
        - {variant: "memcg/disabled/0", metrics: {pft.fault.insn_k: 1707.0, pft.teardown.insn_k: 1001.5}}
        - {variant: "memcg/disabled/1", metrics: {pft.fault.insn_k: 1671.6, pft.teardown.insn_k: 1001.8}}
        - {variant: "memcg/disabled/2", metrics: {pft.fault.insn_k: 1649.9, pft.teardown.insn_k: 1001.4}}
        - {variant: "memcg/disabled/3", metrics: {pft.fault.insn_k: 1645.9, pft.teardown.insn_k: 1001.4}}
      faults: [${1:-}]
LAB
}

write_matrix() {
	cat >"$work/matrix.yaml" <<MATRIX
name: simulated
kernel: {source: nowhere, arch: arm64, toolchain: gcc, base_config: allnoconfig}
config: {nomemcg: {MEMCG: n}, memcg: {MEMCG: y}}
cmdline: {plain: "", disabled: cgroup_disable=memory}
patches: {overhead: {series: series}}
matrix:
  - {config: nomemcg, cmdline: plain}
  - {config: memcg, cmdline: disabled, patches: overhead, steps: all}
${1:-}
devices: [sim]
workloads: {pft: {size: 4M, iterations: 2}}
measure: {${measure:-blocks: 3, seed: 1}}
gate: [{metric: pft.both.insn, steps: last, vs: baseline, worse_by: ${limit:-8%}}]
MATRIX
}

# The table without the lines that name the run and its command.
table() {
	grep -v -e '^run: ' -e '^command: ' "$1"
}

run_matrix() {
	run "$tool" run "$work/matrix.yaml" --lab "$work/memcg-ab.yaml" --runs "$runs" "$@"
}

stored_boots() {
	sqlite3 "$runs/simulated/latest/run.db" "SELECT count(*) FROM boot WHERE status = 'ok'"
}
