#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The kernel's TCP and its programs, both ways, over every driver of a real interface, on a clean link and on one that
# loses 1 % of the frames each way: what comes is compared by its SHA-256, or byte by byte.
#
#   XK_TEST_LONG=1   256 MiB each
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tools="ip unshare socat python3"
. "$top_srcdir/tests/graph/tap_lib.sh"
. "$top_srcdir/tests/interop/interop_lib.sh"

talk=$top_builddir/tests/interop
log=$tmp/server
size=4194304
[ -z "${XK_TEST_LONG-}" ] || size=268435456
mkdir "$tmp/www"
head -c $size /dev/urandom >"$tmp/www/big"
sum=$(sha256sum <"$tmp/www/big")

us() { timeout 800 "$talk/talk-xk" -d "$device" ${lost:+-l $lost} "$@"; }
listens() { until_ok 10 sh -c "ss -ltn | grep -q ':$1 '"; }
sent_back() {
	talk_background us serve 7
	talk_ready && [ "$(timeout 800 socat -t60 - TCP:10.9.0.2:7 <"$tmp/www/big" | sha256sum)" = "$sum" ]
	rc=$?
	talk_stop || rc=1
	cat "$log"
	return $rc
}
echoed() {
	socat TCP-LISTEN:7,reuseaddr,fork EXEC:cat &
	other=$!
	listens 7 && us call 10.9.0.1 7 $size
	rc=$?
	kill $other
	wait $other 2>/dev/null
	return $rc
}
fetched() { [ "$(us fetch 10.9.0.1 8080 /big | sha256sum)" = "$sum" ]; }

python3 -m http.server -d "$tmp/www" 8080 >"$tmp/http" 2>&1 &
http=$!
listens 8080
# over NAME DEVICE: DEVICE as a graph file says it
over() {
	device=$2
	for lost in "" 1%; do
		timed "$1, ${lost:-nothing} lost: socat calls us" sent_back
		timed "$1, ${lost:-nothing} lost: we call socat" echoed
		timed "$1, ${lost:-nothing} lost: we fetch from python's http.server" fetched
	done
}
timed() {
	began=$(date +%s)
	ok "$@"
	echo "# $((size >> 20)) MiB, $(($(date +%s) - began)) s"
}
over tap "tap { ifname = 'xk0', addr = '10.9.0.1/24' }"
if ip link add own0 type veth peer name peer0 2>/dev/null; then
	ip link set own0 up && ip link set peer0 up && ip addr add 10.9.0.1/24 dev peer0
	over packet "packet { ifname = 'own0' }"
	for mode in generic native; do
		device="xdp { ifname = 'own0', mode = '$mode' }"
		if timeout 20 "$talk/talk-xk" -d "$device" call 10.9.0.1 1 1 2>&1 |
			grep -e 'built without AF_XDP' -e 'needs Linux 5.11' -e 'not permitted' >"$tmp/why"; then
			skip "xdp $mode" "$(head -n 1 "$tmp/why")"
		else
			over "xdp $mode" "$device"
		fi
	done
else
	skip "veth" "cannot make veth interfaces"
fi
kill $http
wait $http 2>/dev/null
done_testing
