# SPDX-License-Identifier: GPL-3.0-or-later
# For the end-to-end tests: the real tool in a folder of its own. Each test file is run as `FILE BUILD`, prints "ok NAME" or
# "not ok NAME" a check, and ends with end_tests.
# shellcheck shell=bash disable=SC2034

set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:?usage: $0 BUILD-FOLDER}" && pwd)
tool=$build/memcg-ab
work=$(mktemp -d /tmp/memcg-ab-e2e-XXXXXX)
failures=0

# Whatever a test started carries the test's folder in its environment; end_tests looks for what is still there.
export MEMCG_AB_TEST=$work

finish() {
	rm -rf "$work"
}
trap finish EXIT

ok() {
	echo "ok $1"
}

not_ok() {
	echo "not ok $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/    /'
	failures=$((failures + 1))
}

# check NAME COMMAND...: passes when the command does.
check() {
	local name=$1
	shift
	if "$@"; then ok "$name"; else not_ok "$name" "failed: $*"; fi
}

# run STATUS-VARIABLE COMMAND...: output to $work/out and $work/err.
run() {
	"$@" >"$work/out" 2>"$work/err"
	status=$?
}

# expect NAME STATUS: the last run's exit status.
expect() {
	if [ "$status" -eq "$2" ]; then ok "$1"; else not_ok "$1" "exit status $status, wanted $2" "$(tail -n 15 "$work/err")"; fi
}

# expect_in NAME FILE TEXT...: each text stands in the file.
expect_in() {
	local name=$1 file=$2 text
	shift 2
	for text in "$@"; do
		grep -qF -- "$text" "$file" || {
			not_ok "$name" "no '$text' in:" "$(head -n 40 "$file")"
			return
		}
	done
	ok "$name"
}

# expect_same NAME WANT GOT: two files are equal.
expect_same() {
	if cmp -s "$2" "$3"; then ok "$1"; else not_ok "$1" "$(diff "$2" "$3" | head -n 30)"; fi
}

# Processes that this test's commands left behind, itself excepted.
orphans() {
	local pid
	for pid in $(grep -lsxz "MEMCG_AB_TEST=$work" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		case $(cat "/proc/$pid/comm" 2>/dev/null) in
		memcg-ab* | make | qemu* | ld-linux* | cc1 | aarch64* | conf) echo "$pid $(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)" ;;
		esac
	done
}

# no_orphans NAME: nothing is left after at most ten seconds.
no_orphans() {
	local i left=
	for i in $(seq 50); do
		left=$(orphans)
		[ -n "$left" ] || break
		sleep 0.2
	done
	if [ -z "$left" ]; then ok "$1"; else not_ok "$1" "$left"; fi
}

# Kills every process of this test's commands that descends from $1, then $1.
kill_tree() {
	local child
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		kill_tree "$child"
	done
	kill -9 "$1" 2>/dev/null
}

end_tests() {
	[ "$failures" -eq 0 ]
	exit
}
