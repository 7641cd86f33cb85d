# SPDX-License-Identifier: GPL-3.0-or-later
# For the series' tests that bring a program of their own: two CPUs that run side by side, no counting. After tests/e2e/lib.sh.
# shellcheck shell=bash disable=SC2154

# static_init FILE.c: builds the program that is /init.
static_init() {
	mkdir -p "$work/initrd"
	check "$(basename "$1") compiles without a warning" aarch64-linux-gnu-gcc -static -O2 -Wall -Wextra -Werror -o "$work/initrd/init" "$1"
	(cd "$work/initrd" && bsdtar --format newc -cf - init | gzip -1) >"$work/initrd.gz"
}

# boot IMAGE CMDLINE [SECONDS]: $work/console has all of it, $work/results the program's own lines.
boot() {
	timeout "${3:-900}" qemu-system-aarch64 -no-user-config -nodefaults -display none -serial stdio -no-reboot -M virt,gic-version=3 \
		-cpu cortex-a57 -smp 2 -m 1G -accel tcg,thread=multi -kernel "$1" -initrd "$work/initrd.gz" \
		-append "console=ttyAMA0 earlycon panic=-1 oops=panic nokaslr ramdisk_size=65536 $2" </dev/null 2>&1 | tr -d '\r' >"$work/console"
	grep -aE '^(not ok |ok |done$)' "$work/console" >"$work/results"
}

# complaints: what a healthy kernel does not say.
complaints() {
	grep -aE 'BUG:|WARNING:|KASAN|Oops|Kernel panic|possible (circular|recursive)|inconsistent lock|list_(add|del) corruption|bad page|Bad page|rcu.*stall|Call trace' "$work/console"
}
