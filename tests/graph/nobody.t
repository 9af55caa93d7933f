#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# nobody.t - experiments need no network interface, no root and no huge pages.
#
# Runs graphs in memory, a bench and tests of each room as user 65534 without any
# capability, in a network namespace without interfaces where one may be made.  Who is
# not root already runs them as they are.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
top_builddir=$(cd "$top_builddir" && pwd)
export top_srcdir top_builddir
run=$top_builddir/vp-run
mkdir "$tmp/home" && chmod 777 "$tmp/home" && chmod 755 "$tmp"

if [ "$(id -u)" -eq 0 ]; then
	command -v setpriv >/dev/null 2>&1 || skip_all "setpriv is not installed (package util-linux): cannot become nobody"
	drop="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs"
	# shellcheck disable=SC2086
	$drop test -x "$run" -a -r "$top_srcdir/graphs/udp-echo.lua" || skip_all "nobody may not read the build in $top_builddir"
	command -v unshare >/dev/null 2>&1 && unshare --net true 2>/dev/null && drop="unshare --net $drop"
else
	drop=
fi
nobody() {
	# shellcheck disable=SC2086
	(cd "$tmp/home" && TMPDIR="$tmp/home" HOME="$tmp/home" $drop "$@")
}

privileged() { nobody sh -c 'cat /proc/self/status; [ "$(id -u)" -ne 0 ] && grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status'; }
ok "nobody is nobody" privileged

# A test as nobody: nothing fails, and something passed.
check() {
	nobody "$@" >"$tmp/log" 2>&1
	code=$?
	grep -v '^ok' "$tmp/log" | tail -n 20
	[ $code -eq 0 ] && grep -q '^ok [0-9]' "$tmp/log" && ! grep -q '^not ok' "$tmp/log"
}

for test in runtime/map/test_map runtime/mem/test_pool runtime/vp/test_stages runtime/upi/test_upi drivers/test_mem \
	drivers/test_peer_source protocols/test_udp protocols/test_inet graph/test_no_malloc; do
	[ -x "$top_builddir/tests/$test" ] || { skip "$test" "is not built"; continue; }
	ok "$test passes" check "$top_builddir/tests/$test"
done
ok "presets.t passes" check sh "$top_srcdir/tests/graph/presets.t"

# Every graph whose drivers are in memory and whose threads are ours runs, and delivers something or ends by itself.
for file in "$top_srcdir"/graphs/*.lua; do
	grep -qE '(tap|packet|xdp|rawip|pcap|hostudp|hosttcp|shm|reckon)[a-z_]* *[({]' "$file" && continue
	ok "$(basename "$file") runs" nobody "$run" --virtual -d 20ms "$file"
done
# Anew, with more time, where others had the processor all the while.
bench() {
	for time in 200ms 2s 20s; do
		nobody "$top_builddir/vp-bench" run --runs 1 -d $time --warmup 10ms -o "$tmp/home/r.json" \
			"$top_srcdir/graphs/seeds/yates1996/fig04-05-udp.lua" cpus=1 && [ -s "$tmp/home/r.json" ] && return
	done
	return 1
}
ok "a bench of the papers runs" bench
done_testing
