#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Our TCP and other stacks' over TAP devices: either side calls, bytes go both ways at once, on a clean link and on
# one that loses 1 % each way, and every byte is compared.  XK_TEST_LONG=1 moves more of them.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"
. "$top_srcdir/tests/interop/interop_lib.sh"

talk=$top_builddir/tests/interop
log=$tmp/server
small="1 65536 1048576"
many="16777216"
[ -z "${XK_TEST_LONG-}" ] || many="16777216 67108864 268435456"

for link in 0% 1%; do
	ok "linux calls us, $link lost" we_serve linux $link $small $many
	ok "we call linux, $link lost" we_call linux $link $small $many
done

if [ ! -x "$talk/talk-lwip" ]; then
	skip "lwIP" "no liblwip (the Debian package liblwip-dev) when this was configured"
elif ! peer_switch >"$tmp/switch" 2>&1; then
	skip "lwIP" "no bridge between TAP devices here: $(tail -n 1 "$tmp/switch")"
else
	# lwIP recovers by timers of half a second, where nothing follows what was lost.
	for link in 0% 1%; do
		ok "lwip calls us, $link lost" we_serve lwip $link $small
		ok "we call lwip, $link lost" we_call lwip $link $small
	done
	ok "lwip calls us, 16 MiB" we_serve lwip 0% $many
	ok "we call lwip, 16 MiB" we_call lwip 0% $many
	peer_unswitch
fi

# What the comparison is worth: an answer that is one byte short, or has one wrong, is found.
liar() {
	python3 - "$1" <<'PY' &
import socket, sys
l = socket.create_server(("127.0.0.1", 7007))
c, _ = l.accept()
b = b""
while d := c.recv(65536):
    b += d
c.sendall(b[:-1] if sys.argv[1] == "short" else b[:50000] + bytes([b[50000] ^ 1]) + b[50001:])
c.close()
PY
	until_ok 10 sh -c 'ss -ltn | grep -q 127.0.0.1:7007'
	"$talk/talk-linux" call 127.0.0.1 7007 65536
	lie=$?
	wait $!
	return $lie
}
refuses "a byte that is missing is found" liar short
refuses "a byte that is wrong is found" liar wrong
done_testing
