#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suites.t - CPython's own tests of sockets (package libpython3.11-testsuite, which packages.txt has not got) by the
# kernel and under vp-exec: what passes there passes here, but for what suites.tab explains.  A few of them here.
#
#   XK_SUITES=all     all of them, minutes; `make check-long` does that
#   XK_SUITES="MODULE[:PATTERN]..."   these
#   XK_PYTHON=FILE    the python3 that has them, if not the system's
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/exec.sh"
python=${XK_PYTHON:-$python}
"$python" -c 'import test.test_socket' >/dev/null 2>&1 || skip_all "$python has no test.test_socket: package libpython3.11-testsuite"
# Where the kernel runs them nobody else's ports are, and nothing is outside.
if [ "$(id -u)" = 0 ]; then apart="unshare -n"; else apart="unshare -rn"; fi
$apart true 2>/dev/null && command -v ip >/dev/null || skip_all "needs a network namespace, and ip"
case ${XK_SUITES:-few} in
few) set -- "test_socket:NonBlockingTCPTests.*" "test_ssl:BasicSocketTests.*" "test_asyncio.test_server:*" ;;
all)
	set -- test_socket test_ssl test_asyncio.test_base_events test_asyncio.test_events test_asyncio.test_selector_events \
		test_asyncio.test_sendfile test_asyncio.test_server test_asyncio.test_sock_lowlevel test_asyncio.test_ssl \
		test_asyncio.test_sslproto test_asyncio.test_streams test_socketserver test_selectors test_epoll test_poll test_select \
		test_httplib test_httpservers test_ftplib test_smtplib test_poplib test_imaplib test_telnetlib test_urllib2_localnet \
		test_xmlrpc test_asyncore test_asynchat
	;;
*)
	# shellcheck disable=SC2086 # words
	set -- $XK_SUITES
	;;
esac
alike() {
	cd "$tmp" && $apart sh -c 'ip link set lo up && exec "$@"' sh "$python" "$top_srcdir/tests/interop/suites.py" compare \
		"$top_srcdir/tests/interop/suites.tab" "'$exec' '$graph' --at a" "$1" >"$tmp/said" 2>&1
	alike_code=$?
	cat "$tmp/said"
	return $alike_code
}
for module; do
	ok "CPython's ${module%%:*}" alike "$module"
	grep '^# .* tests, ' "$tmp/said"
done
done_testing
