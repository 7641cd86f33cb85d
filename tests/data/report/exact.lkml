Measured on
  kernel   linux 5.10.262 arm64, gcc 12.2.0, allnoconfig
  from     deb linux-source-5.10 5.10.262-1
  device   qemu-virt: cortex-a57 icount, QEMU 7.2.22; cores all; frequency:
           does not matter, instructions are counted
  cmdline  console=ttyAMA0 nokaslr
  A/A      not needed, equal boots repeat themselves bit for bit
Rows
  off/plain/0 (base): CONFIG_MEMCG=n; nothing on the command line
  on/dis/0: CONFIG_MEMCG=y; cgroup_disable=memory
  on/dis/1: + mm: memcg: early checks, "one | two" <&>
  on/dis/2: + mm: memcg: inline charge; boot-failed: block 1: kernel panic:
    [1mOops [0m at ?|, "memcg" <NULL>
  on/dis/3: + mm: memcg: inline swap; build-failed: mm/memcontrol.c:12:1:
    error: 'x' undeclared
Test
  pft: page faults and unmapping of anonymous memory
  options  size=64M threads=1 processes=0 cachelines=1 compat=none
           iterations=5 warmup=2 cgroup=auto
  measured 3 boots each x 5 iterations (2 warm-ups left out), random order
           in each block, seed 1

pft.fault.insn, insn/page, lower is better
                              mean    vs base +-spread         vs previous
base: off/plain             1587.9
on/dis vanilla              1711.0 +123.1 +-0.2 +7.75%
  + 1 early checks, "       1675.6  +87.7 +-0.2 +5.52%  -35.4 +-0.1 -2.07%
  + 2 inline charge    boot-failed
  + 3 inline swap     build-failed

pft.teardown.insn, insn/page, lower is better
                              mean     vs base +-spread        vs previous
base: off/plain              903.3
on/dis vanilla              1001.5 +98.2 +-0.02 +10.87%
  + 1 early checks, "       1001.8 +98.5 +-0.02 +10.90%  +0.3 +-0.4 +0.03%~
  + 2 inline charge    boot-failed
  + 3 inline swap     build-failed
~ not resolved

Gates
  PASS: pft.fault.insn of on/dis/1 worse than baseline by at most 8%:
    +5.52% +-0.02%
  FAIL: pft.fault.insn of on/dis/0 worse than baseline by at most 5%:
    +7.75% +-0.01%
  INVALID: pft.fault.insn of on/dis/3 worse than baseline by at most 8%;
    its kernel did not build

Reproduce with
  memcg-ab run kernel-patches/disabled-overhead/matrix.yaml --only \
    */disabled/* --runs runs/of/last/night --lab lab.yaml
  (memcg-ab 0.1.0, run m/20261201T101500Z-1a2b3c)
