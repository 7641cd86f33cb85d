Measured on
  kernel   linux 6.12.9 arm64, clang 19, defconfig
  device   phone big: 2x Cortex-A78; cores big; frequency: 2.25 GHz fixed
Rows
  off/plain/0 (base): CONFIG_MEMCG=n; nothing on the command line
  on/dis/0: CONFIG_MEMCG=y; cgroup_disable=memory
  on/dis/1: + mm: early checks
  on/dis/2: + mm: inline charge
  on/dis/3: + mm: inline swap
Test
  pft: page faults and unmapping of anonymous memory
  options  size=64M threads=1 processes=0 cachelines=1 compat=none
           iterations=5 warmup=2 cgroup=auto
  measured 12 boots each (24 of the baseline) x 5 iterations (2 warm-ups
           left out), order ABBA, seed 7, until +-0.5% (Stein, pilot of 8
           blocks)

pft.fault.rate, page/s, higher is better
                     mean    CV     vs base [95% CI]  vs previous [95% CI]
base: off/plain    512340 0.41%
on/dis vanilla     481550 0.44% -6.01% [-6.36,-5.66]
  + 1 early checks 492510 0.40% -3.87% [-4.22,-3.52]  +2.28% [+1.94,+2.62]
  + 2 inline charg 494460 0.43% -3.49% [-3.84,-3.14]  +0.40% [+0.06,+0.74]?
  + 3 inline swap  499630 0.42% -2.48% [-2.83,-2.13]^ +1.05% [+0.71,+1.39]~
base again (A/A)   512105 0.38% -0.05% [-0.40,+0.30]~
base code moved    510105 0.38% -0.44% [-0.79,-0.09]
~ not resolved (detects 0.49% at 80%)
? resolved alone, not after Holm over the family (detects 0.48% at 80%)
^ resolved, yet below the floor that the controls set: no claim
sd between boots 0.41%, iterations within a boot 2.00%, best 31 iterations
  a boot; the controls moved 0.44%

Measured on
  kernel   linux 6.12.9 arm64, clang 19, defconfig
  device   sim <2>: simulated; cores all; frequency: not recorded
  A/A      not measured
  INVALID  no verdict counts, see the notes
Rows
  off/plain/0 (base): CONFIG_MEMCG=n; nothing on the command line
  a|*b*/"q", x/0: a|*b*; root=<x>&y|z `w`
  on/dis/0: CONFIG_MEMCG=y; nothing on the command line; lab: block 2: no
    device
Test
  pft: page faults and unmapping of anonymous memory
  options  size=64M threads=1 processes=0 cachelines=1 compat=none
           iterations=5 warmup=2 cgroup=auto
  measured 12 boots each x 5 iterations (2 warm-ups left out), order ABBA,
           seed 7, until +-0.5% (Stein, pilot of 8 blocks)

pft.fault.rate, page/s, higher is better
                  mean    CV     vs base [95% CI]
base: off/plain 500000 0.50%
a|*b*/"q", x    400000 0.51% -20.0% [-20.4,-19.7]
on/dis             lab

Gates
  FAIL: pft.fault.rate of on/dis/0 on phone big worse than baseline by at
    most 2%: +6.40% [+6.00%, +6.80% one-sided]
  PASS: pft.fault.rate of on/dis/1 on phone big worse than baseline by at
    most 8%: +4.03% [+3.70%, +4.30% one-sided]
  NOT RESOLVED: pft.fault.rate of on/dis/3 on phone big within +-2.5% of
    baseline: +2.54% [+2.20%, +2.88% one-sided]; these boots detect 0.49%
    at 80%; it would take 340 boots a variant
  INVALID: pft.fault.rate of on/dis/0 on sim <2> worse than baseline by at
    most 2%; block 2: no device

Notes
  phone big: pft.fault.rate: the baseline rebuilt with its code moved is
    0.44% slower: smaller differences are not claimed
  INVALID: sim <2>: the A/A pair differs by 1.2% (p = 0.0002): look for
    what changed between boots

Reproduce with
  memcg-ab run m.yaml
  (memcg-ab 0.1.0, run a|b/20261201T101500Z-1a2b3c)
