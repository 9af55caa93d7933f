#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# cpu.t - the programs of a default build run on every x86-64, use what a better one has, and give the same with all of it.
#
# The least processor is played by qemu: a program, or a library of it, that has an instruction too many ends there.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs
# By CFLAGS, too: then there is nothing to choose.
march=$(sed -n -E 's/^(XK_CFLAGS|CFLAGS|CC) = .*-march=([^ ]*).*/\2/p' "$top_builddir/Makefile" 2>/dev/null | head -n 1)
flags_of() { sed -n "s/^$1 = *//p" "$top_builddir/Makefile" 2>/dev/null; }
[ -f "$top_builddir/Makefile" ] || skip_all "run it in the folder of a build"
sanitized() { flags_of XK_CFLAGS | grep -q fsanitize; }

# ---- what VP_CPU says ----------------------------------------------------------------------------

runs_as() { "$run" --version | sed -n 's/^runs: //p'; }
# is WORD TEXT: with that VP_CPU vp-run --version says it.
is() { VP_CPU=$1 runs_as | tee "$tmp/as"; grep -q -e "$2" "$tmp/as"; }
refused() { VP_CPU=sse9 code 2 "$run" "$graphs/hello.lua" && VP_CPU=sse9 says 'vp-run: VP_CPU is "sse9", which is none of generic' "$run" "$graphs/hello.lua"; }
ok "a VP_CPU that is none: code 2, and the words that are" refused
ok "vp-bench says so, too" sh -c "VP_CPU=sse9 '$top_builddir/vp-bench' list 2>&1 | grep -q 'vp-bench: VP_CPU'"
ok "an empty one is as none" sh -c "VP_CPU= '$run' --version | grep -q '^runs: '"

has() { grep -qw "$1" /proc/cpuinfo; }
case $(uname -m) in
x86_64) words="generic sse4.2 avx2 avx512" ;;
aarch64) words="generic crc" ;;
*) words=generic ;;
esac
# Each word, and what this processor then runs.  A program for a better processor is not asked to do without.
if [ "$(uname -m)" = x86_64 ] && [ -z "$march" ]; then
	ok "generic is the program for every processor, without CRC by instruction" is generic 'code for x86-64, checksum by sse2, hash by table'
	if has sse4_2; then
		ok "sse4.2 is that, with it" is sse4.2 'code for x86-64, checksum by sse2, hash by sse4.2'
	else
		skip "sse4.2 is that, with it" "this processor has none"
	fi
	v3=-x86-64-v3
	[ -x "$run$v3" ] && grep -q '^variant_programs = ' "$top_builddir/Makefile" || v3=
	if has avx2 && has movbe && has bmi2; then
		ok "avx2 is the program for such, where the build has one" is avx2 "code for x86-64${v3:+-v3}, checksum by avx2, hash by sse4.2"
		has avx512bw && most=avx512 || most=avx2
		ok "and without a word it is the most that there is" is '' "code for x86-64${v3:+-v3}, checksum by $most, hash by sse4.2"
	else
		skip "avx2 is the program for such, where the build has one" "this processor has no AVX2"
	fi
	if [ -n "$v3" ]; then
		# Beside the program of that name, wherever it was put.
		cp "$run" "$tmp/one" && cp "$run$v3" "$tmp/one$v3"
		beside() { [ "$("$tmp/one" --version | grep '^runs: ')" = "$("$run" --version | grep '^runs: ')" ]; }
		alone() { rm "$tmp/one$v3" && "$tmp/one" --version | grep 'code for x86-64,'; }
		ok "it is found beside a program of any name" beside
		named() {
			"$run" -d 60s "$graphs/udp-echo.lua" count=0 >/dev/null 2>&1 &
			pid=$!
			until_ok 30 sh -c "readlink /proc/$pid/exe | grep -q -e '$v3\$'" && until_ok 30 grep -qx vp-run /proc/$pid/comm
			status=$?
			cat /proc/$pid/comm
			kill $pid
			wait $pid
			return $status
		}
		ok "its process has the name of the program for all" named
		ok "one that is not there is done without" alone
	fi
else
	skip "what each word of VP_CPU runs" "this build is for ${march:-$(uname -m)}"
fi

# ---- the same with all ----------------------------------------------------------------------------

# said PROGRAM...: what a graph does under the virtual clock; times of the host are not in it.
said() {
	for g in "hello.lua" "udp-echo.lua count=2000" "tcp-echo.lua count=500" "ncs-echo.lua count=200"; do
		# shellcheck disable=SC2086
		"$@" --virtual --seed=7 -d 200ms "$graphs/${g%% *}" $(echo "$g" | grep -o 'count=.*') || { echo "$g: code $?"; return 1; }
	done
}
said "$run" >"$tmp/most" 2>&1
ok "graphs run" grep -q 'workload complete' "$tmp/most"
same() { VP_CPU=$1 said "$run" >"$tmp/now" 2>&1; cmp "$tmp/most" "$tmp/now"; }
for word in $words; do
	ok "they do the same with VP_CPU=$word" same "$word"
done

# ---- the least processor ------------------------------------------------------------------------------

# Without SSE3, SSE4 or POPCNT, to say nothing of AVX.
least="qemu-x86_64-static -cpu qemu64,-sse3,-cx16"
if [ "$(uname -m)" != x86_64 ] || [ -n "$march" ]; then
	skip "the least processor" "this build is for ${march:-$(uname -m)}"
elif sanitized; then
	skip "the least processor" "a sanitizer's memory does not fit into qemu"
elif ! command -v qemu-x86_64-static >/dev/null 2>&1; then
	skip "the least processor" "qemu-x86_64-static is not installed (package qemu-user-static)"
else
	ok "on the least x86-64 it is the program for all" sh -c "$least '$run' --version | grep 'code for x86-64, checksum by sse2, hash by table'"
	there() { said $least "$run" >"$tmp/now" 2>&1; cmp "$tmp/most" "$tmp/now"; }
	ok "graphs do the same there" there
	for test in base/test_cpu base/test_csum base/test_hist map/test_map map/test_table msg/test_msg; do
		program=$top_builddir/tests/runtime/$test
		if [ -x "$program" ]; then
			ok "$test passes there" sh -c "XK_TEST_SLOW=20 $least '$program'"
		else
			skip "$test passes there" "it is not built"
		fi
	done
	if [ -n "${v3-}" ] && [ -n "$(flags_of XK_VARIANT_LDFLAGS)" ]; then
		ok "what is for a better one is refused there" says 'ISA level is lower than required' $least "$run$v3" --version
	fi
fi
done_testing
