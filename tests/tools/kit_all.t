#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kit_all.t - every protocol and driver of the build passes the conformance kit; what cannot be tried is told.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
graph=$top_builddir/vp-graph
[ -x "$graph" ] || skip_all "needs vp-graph"
unset VP_PLUGIN_PATH

# The names of the lists, but for what this build was made without.
sed -n '/^#/d; s/[[:space:]/].*//; /./p' "$top_srcdir/protocols/list" "$top_srcdir/drivers/list" | sort -u >"$tmp/listed"
while read -r name; do
	"$graph" inspect "$name" 2>&1 </dev/null | grep -q "'$name' is not in this build: install " || echo "$name"
done <"$tmp/listed" >"$tmp/names"
[ -s "$tmp/names" ] || skip_all "no protocol is listed"
# Under valgrind less is drawn.
rounds=20
[ -z "${XK_TEST_SLOW-}" ] || rounds=4
# A pair of interfaces for packet and xdp, in a namespace of their own each, where there is root.
alone=
if [ "$(id -u)" -eq 0 ] && command -v ip >/dev/null; then
	cat >"$tmp/alone" <<'END'
exec unshare -n sh -c 'ip link add xkkit1 type veth peer name xkkit2 && ip link set xkkit1 up && ip link set xkkit2 up && exec "$@"' sh "$@"
END
	sh "$tmp/alone" true 2>/dev/null && alone="sh $tmp/alone"
fi
# Most of the time somebody waits for a grace period: several at a time.
export graph rounds tmp alone
# shellcheck disable=SC2016
xargs -P 8 -I NAME sh -c 'case NAME in packet | xdp) ;; *) alone= ;; esac; $alone "$graph" test --rounds $rounds NAME >"$tmp/NAME.out" 2>&1; echo $? >"$tmp/NAME.code"' <"$tmp/names"
passes() {
	cat "$tmp/$1.out"
	[ "$(cat "$tmp/$1.code")" -eq 0 ]
}
# Nothing is skipped but what needs virtual time.
runs() {
	cat "$tmp/$1.out"
	grep '7 passed, 0 failed, 4 skipped' "$tmp/$1.out"
}
skips_nothing() { grep '11 passed, 0 failed, 0 skipped' "$tmp/$1.out"; }
while read -r name; do
	ok "$name" passes "$name"
	# A device that cannot be had here: every clause says so.
	! grep -q '^  start  *skip' "$tmp/$name.out" || skip "$name, beyond its descriptor" "$(sed -n 's/^  start  *skip  *//p' "$tmp/$name.out" | head -1)"
done <"$tmp/names"
for name in packet xdp; do
	if [ -z "$alone" ]; then
		skip "$name between two interfaces" "needs root, unshare, ip and veth interfaces"
	elif ! grep -qx "$name" "$tmp/names"; then
		skip "$name between two interfaces" "is not in this build"
	elif grep -q '^  start  *skip' "$tmp/$name.out"; then
		skip "$name between two interfaces" "$(sed -n 's/^  start  *skip  *//p' "$tmp/$name.out" | head -1)"
	else
		ok "$name between two interfaces: seven clauses" runs $name
	fi
done
ok "layers over a port skip nothing" skips_nothing hop
ok "nor do transports" skips_nothing udp
done_testing
