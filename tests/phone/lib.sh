# SPDX-License-Identifier: GPL-3.0-or-later
# Phones for the end-to-end tests: on top of tests/e2e/lib.sh. A test's phones are in $work and are switched off when it ends.
# shellcheck shell=bash disable=SC2034,SC2154

. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
rig=$root/tests/phone/rig
series=$root/kernel-patches/disabled-overhead

stop_phones() {
	local settings
	for settings in "$work"/*/settings; do
		[ ! -e "$settings" ] || "$rig/phone" stop "$(dirname "$settings")"
	done
}
trap 'stop_phones; finish' EXIT

# A UDP port of this host that nothing has.
free_port() {
	local port
	for _ in $(seq 100); do
		port=$((RANDOM % 16384 + 16384))
		grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X $port) " /proc/net/udp && continue
		echo $port
		return
	done
	return 1
}

# new_phone NAME UBOOT-FOLDER [OPTION...]: made and switched on.
new_phone() {
	local name=$1 uboot=$2 port
	shift 2
	port=$(free_port)
	"$rig/phone" make "$work/$name" --uboot "$uboot" --port "$port" "$@" && "$rig/phone" start "$work/$name" && answers "$name"
}

# client NAME ARGUMENT...: Debian's fastboot, with a deadline.
client() {
	local name=$1
	shift
	timeout 60 fastboot -s "udp:127.0.0.1:$(sed -n 's/^port=//p' "$work/$name/settings")" "$@"
}

# answers NAME: it is in fastboot. A call that meets a restart hangs; the next one works.
answers() {
	local i
	for i in $(seq 20); do
		timeout 5 fastboot -s "udp:127.0.0.1:$(sed -n 's/^port=//p' "$work/$1/settings")" getvar product 2>&1 | grep -q '^product: qemu-phone' && return
	done
	return 1
}

# address NAME: what of a device's settings says which phone it is.
address() {
	local hook="'$rig/phone'"
	echo "serial: \"udp:127.0.0.1:$(sed -n 's/^port=//p' "$work/$1/settings")\", $(console_of "$1"), hooks: {on: \"$hook start '$work/$1'\", off: \"$hook off '$work/$1'\", cycle: \"$hook reset '$work/$1'\", read: \"$hook read '$work/$1' \$MEMCG_AB_PARTITION\"}"
}

console_of() {
	if grep -qx serial=none "$work/$1/settings"; then echo "console: none"; else echo "console: \"unix:$work/$1/serial\""; fi
}

# saw NAME TEXT SECONDS: the text comes up in its console, after what is there now.
saw() {
	local from i
	from=$(stat -c %s "$work/$1/log")
	for i in $(seq $(($3 * 10))); do
		tail -c +$((from + 1)) "$work/$1/log" | grep -qaF "$2" && return
		sleep 0.1
	done
	return 1
}

# holds NAME PARTITION FILE: the partition begins with the file.
holds() {
	"$rig/phone" read "$work/$1" "$2" | cmp -s -n "$(stat -c %s "$3")" - "$3"
}

# known_good IMAGE FILE: a boot image that says hello and restarts.
known_good() {
	local folder=$work/known-good
	mkdir -p "$folder"/root/{dev,proc,sys}
	cp "$build/memcg-ab-agent-arm64" "$folder/root/init"
	printf 'version=1\ncounter=pmu\nfinish=reboot\n' >"$folder/root/memcg-ab.conf"
	(cd "$folder/root" && find . | bsdtar --format=newc -cf ../initrd -T -)
	gzip -9nc "$1" >"$folder/Image.gz"
	mkbootimg --header_version 0 --pagesize 4096 --base 0x40000000 --kernel_offset 0x400000 --ramdisk_offset 0x6000000 \
		--kernel "$folder/Image.gz" --ramdisk "$folder/initrd" --cmdline 'console=ttyAMA0 panic=-1 memcg-ab.known-good=1' -o "$2"
}

# write_lab EXTRA: a lab whose device `phone` has the phones' addresses: one, or several units. $phones, $config (fragment), $fastboot (more settings).
write_lab() {
	local name
	{
		cat <<LAB
sources: {linux-5.10: {deb: linux-source-5.10, suite: bullseye-security}}
toolchains: {gcc: {cross: aarch64-linux-gnu-}}
cache: {max: 40G}
devices:
  phone:
    profile: qemu-phone
    config: ${config:-qemu-virt.config}
    fastboot: {known_good: $work/known-good.img, ${fastboot:-method: flash-active}$([ "$(wc -w <<<"$phones")" -gt 1 ] || echo ", $(address "$phones")")}
    ${device:-retries: 2}
LAB
		if [ "$(wc -w <<<"$phones")" -gt 1 ]; then
			echo "    units:"
			for name in $phones; do
				echo "      $name: {fastboot: {$(address "$name")}}"
			done
		fi
	} >"$work/memcg-ab.yaml"
}

# write_matrix NAME LINES: the matrix' lines over the series; $blocks, $size.
write_matrix() {
	cat >"$work/$1.yaml" <<MATRIX
name: $1
kernel: {source: linux-5.10, arch: arm64, toolchain: gcc, base_config: allnoconfig}
config: {nomemcg: {MEMCG: n}, memcg: {MEMCG: y}}
cmdline: {plain: "", disabled: cgroup_disable=memory}
patches: {overhead: {series: $series}, broken: {series: $root/tests/data/kernel/broken}}
matrix:
$2
devices: [phone]
workloads: {pft: {size: ${size:-16M}, iterations: ${iterations:-2}}}
measure: {blocks: ${blocks:-2}, seed: 1}
MATRIX
}

# measure NAME: runs the matrix, and leaves its report in $work/report.json. A report that is none is a failure, and no file: jq 1.6 -e ends with
# 0 on an empty one, and every check of it would pass.
measure() {
	run "$tool" run "$work/$1.yaml" --lab "$work/memcg-ab.yaml" --runs "$work/runs-$1"
	cp "$work/err" "$work/run.err"
	cat "$work/out"
	"$tool" report "$1" --runs "$work/runs-$1" --format json >"$work/report.json" 2>"$work/report.err"
	[ "$(jq -r '.rows | type' "$work/report.json" 2>&1)" = array ] || {
		not_ok "$1 has a report" "$(head -n 20 "$work/report.err")"
		rm -f "$work/report.json"
	}
	return 0
}

# booted_cmdlines NAME: /proc/cmdline of each of the matrix' boots that went well, a line each.
booted_cmdlines() {
	sqlite3 "$work/runs-$1/$1"/2*/run.db "SELECT booted_cmdline FROM boot WHERE status = 'ok'"
}

# statuses: of the report's rows, in order.
statuses() {
	jq -c '[.rows[].status]' "$work/report.json"
}

# restored NAME...: in fastboot, with the known-good image on it.
restored() {
	local name
	for name in "$@"; do
		check "$name is back in fastboot" answers "$name"
		check "$name has the known-good image again" holds "$name" "${partition:-boot}" "$work/known-good.img"
	done
}

uboot_2023=$("$rig/build-uboot" 2023.01) || { not_ok "U-Boot 2023.01"; end_tests; }
