#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# config.sh MODE KCONFIG OUT: the last request for each option that KCONFIG knows, from KCONFIG_ALLCONFIG (allnoconfig) or OUT itself.
mode=$1 kconfig=$2 out=$3
requests=$out
[ "$mode" != allnoconfig ] || requests=${KCONFIG_ALLCONFIG:-/dev/null}
{
	echo "# miniature kernel configuration"
	while read -r word name forced; do
		[ "$word" = config ] || continue
		value=$(sed -n "s/^CONFIG_$name=//p; s/^# CONFIG_$name is not set\$/n/p" "$requests" | tail -n 1)
		[ -z "$forced" ] || value=y
		case ${value:-n} in
		n) echo "# CONFIG_$name is not set" ;;
		*) echo "CONFIG_$name=$value" ;;
		esac
	done <"$kconfig"
} >"$out.new" && mv "$out.new" "$out"
