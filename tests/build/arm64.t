#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# arm64.t - vp-run, vp-graph and the runtime's unit tests, compiled for arm64 and run by qemu.
#
# Compiles for minutes, so it is a part of .ci/run and not of make check.  The build is in build-arm64 below the folder
# where it is called, and stays.  qemu runs on this machine, which keeps the order of memory better than arm64 does:
# what that order needs is read, not tested (docs/internals/portable.md).

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
export top_srcdir
here=$PWD/build-arm64
emulate=qemu-aarch64-static
# Of each room what needs no device and nothing of a kernel that qemu has not (limits of the address space).
units='base/test_base base/test_cpu base/test_csum base/test_hist base/test_heap base/test_list base/test_param
	sync/test_event sync/test_lock sync/test_mpsc sync/test_rcu sync/test_adaptive sync/test_thread
	mem/test_pool mem/test_shelf mem/test_handover msg/test_msg msg/test_nomem msg/test_model map/test_map map/test_table map/test_passive
	classify/test_cbpf classify/test_flow vp/test_timer vp/test_handoff vp/test_caller vp/test_stages'

command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || skip_all "no compiler for arm64 (package gcc-aarch64-linux-gnu)"
command -v $emulate >/dev/null 2>&1 || skip_all "$emulate is not installed (package qemu-user-static)"
command -v apt-get >/dev/null 2>&1 || skip_all "libraries of arm64 are Debian's, and there is no apt-get"
mkdir -p "$here/build"
sh "$top_srcdir/tools/arm64-sysroot" "$here/sysroot" >"$here/environment" 2>"$here/sysroot.log" ||
	skip_all "the libraries of arm64 cannot be had: $(tail -n 1 "$here/sysroot.log")"
. "$here/environment"

# ---- the build ------------------------------------------------------------------------------------------

programs=
for unit in $units; do programs="$programs tests/runtime/$unit"; done
configured() {
	[ -x "$top_srcdir/configure" ] || autoreconf -fi "$top_srcdir" || return
	(cd "$here/build" && { [ -f Makefile ] || "$top_srcdir/configure" -q --host=aarch64-linux-gnu --enable-werror CFLAGS='-O1 -g1'; })
}
compiled() { make -s -C "$here/build" built-sources && make -C "$here/build" -j"$(nproc 2>/dev/null || echo 2)" "$@" >"$here/make.log" 2>&1 || { tail -n 30 "$here/make.log"; return 1; }; }
ok "it is configured for arm64" configured
ok "vp-run and vp-graph compile without a warning" compiled vp-run vp-graph
[ -x "$here/build/vp-run" ] || { done_testing; }
if grep -q '^CUNIT_LIBS = .' "$here/build/Makefile"; then
	# shellcheck disable=SC2086
	ok "so do unit tests" compiled $programs
else
	skip "so do unit tests" "no libcunit1-dev of arm64"
fi

# ---- runs -----------------------------------------------------------------------------------------------

arm() { $emulate -L "$here/sysroot" "$@"; }
cd "$here/build" || exit 1
ok "it says what it is" sh -c "$emulate -L '$here/sysroot' ./vp-run --version | grep 'code for arm64, checksum by neon, hash by crc'"
ok "and does without an instruction" sh -c "VP_CPU=generic $emulate -L '$here/sysroot' ./vp-run --version | grep 'hash by table'"
for unit in $units; do
	[ ! -x "tests/runtime/$unit" ] || ok "$unit" env XK_TEST_SLOW=20 $emulate -L "$here/sysroot" "tests/runtime/$unit"
done

# What the virtual clock makes of a graph is the same on every processor: compared with this machine's, where there is one.
runs() { arm ./vp-run --virtual --seed=7 -d 200ms "$top_srcdir/graphs/$1" $2 >"$tmp/arm" 2>&1; status=$?; cat "$tmp/arm"; return $status; }
as_here() {
	runs "$@" && [ -x "$top_builddir/vp-run" ] || return
	"$top_builddir/vp-run" --virtual --seed=7 -d 200ms "$top_srcdir/graphs/$1" $2 >"$tmp/here" 2>&1
	cmp "$tmp/arm" "$tmp/here"
}
case $top_builddir in /*) ;; *) top_builddir=$OLDPWD/$top_builddir ;; esac
for graph in hello.lua "udp-echo.lua count=1000" "tcp-echo.lua count=200" "ncs-echo.lua count=100"; do
	file=${graph%% *} args=$(echo "$graph" | grep -o ' count=.*')
	if [ -x "$top_builddir/vp-run" ]; then
		ok "$graph does what it does here" as_here "$file" "$args"
	else
		ok "$graph runs" runs "$file" "$args"
	fi
done
# Real threads, under architectures that hand messages over in different ways.
threads() { arm ./vp-run -d 20s "$top_srcdir/graphs/udp-presets.lua" preset="$1" conns=4 count=200 >"$tmp/run" 2>&1; status=$?; cat "$tmp/run"; return $status; }
for preset in vppc tpc connp_l locking ips lp msgp caller; do
	ok "udp-presets.lua runs with preset=$preset and real threads" threads $preset
done
done_testing
