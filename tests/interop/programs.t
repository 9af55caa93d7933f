#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Programs as the peer: wrk on our HTTP server, nc and socat in both roles, and HTTP servers that our client fetches from.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/graph/tap_lib.sh"
. "$top_srcdir/tests/interop/interop_lib.sh"

talk=$top_builddir/tests/interop
log=$tmp/server
size=8388608

have() {
	command -v "$1" >/dev/null && return 0
	skip "$2" "no $1"
	return 1
}
counted() { jq -e "$1" "$tmp/run.json"; }
mkdir "$tmp/www"
printf 'hello, world\n' >"$tmp/www/hello.txt"
: >"$tmp/www/empty"
printf x >"$tmp/www/one"
head -c $size /dev/urandom >"$tmp/www/big"

# ---- load on our server ----
if have wrk "wrk"; then
	load() {
		wrk -t2 -c64 -d2s --timeout 30s http://10.9.0.2/hello.txt >"$tmp/wrk"
		rc=$?
		cat "$tmp/wrk"
		[ $rc -eq 0 ] && ! grep -qE 'Socket errors|Non-2xx' "$tmp/wrk"
	}
	graph_up "$top_srcdir/graphs/http-tap.lua" root="$tmp/www"
	ok "the host is there" until_ok 10 answers 10.9.0.2
	ok "wrk: no request fails" load
	ok "wrk: the graph ends well and leaks nothing" graph_down
	n=$(sed -n 's/^ *\([0-9]*\) requests in .*/\1/p' "$tmp/wrk")
	# What it counted we answered; at the end at most one answer of each connection was on its way.
	ok "wrk: all its $n answers are ours" counted \
		'[.nodes[] | select(.name == "http") | .counters | .ok - '"$n"' | . >= 0 and . <= 64] == [true]'
	ok "wrk: we failed no request" counted '[.nodes[] | select(.name == "http") | .counters |
		.client_errors + .server_errors + .refused + .failed + .timed_out + .file_errors] == [0]'
fi

# ---- nc and socat call us ----
calls_us() {
	talk_background "$talk/talk-xk" -k 10.9.0.1/24 serve 7
	talk_ready && timeout 60 "$@" <"$tmp/www/big" >"$tmp/back" && cmp "$tmp/back" "$tmp/www/big"
	rc=$?
	kill $server && wait $server || rc=1
	return $rc
}
have nc "nc calls us" && ok "nc calls us" calls_us nc -N 10.9.0.2 7
have socat "socat calls us" && ok "socat calls us" calls_us socat -t60 - TCP:10.9.0.2:7

# ---- we call nc and socat ----
listens() { until_ok 10 sh -c "ss -ltn | grep -q ':$1 '"; }
we_call_it() { timeout 100 "$talk/talk-xk" -k 10.9.0.1/24 call 10.9.0.1 7 "$@"; }
if have nc "we call nc"; then
	# It listens, says what a file of an HTTP server would be and keeps what we asked.
	answering_nc() {
		{ printf 'HTTP/1.0 200 OK\r\n\r\n'; cat "$tmp/www/big"; } | timeout 60 nc -l -N 7 >"$tmp/asked" &
		other=$!
		listens 7 && timeout 60 "$talk/talk-xk" -k 10.9.0.1/24 fetch 10.9.0.1 7 /any >"$tmp/got" &&
		cmp "$tmp/got" "$tmp/www/big"
		rc=$?
		wait $other || rc=1
		printf 'GET /any HTTP/1.1\r\nHost: 10.9.0.1\r\nConnection: close\r\n\r\n' | cmp - "$tmp/asked" || rc=1
		return $rc
	}
	ok "we call nc" answering_nc
fi
if have socat "we call socat"; then
	echoing_socat() {
		socat TCP-LISTEN:7,reuseaddr,fork EXEC:cat &
		other=$!
		listens 7 && we_call_it 1 65536 $size
		rc=$?
		kill $other
		wait $other
		return $rc
	}
	ok "we call socat" echoing_socat
fi

# ---- we fetch from HTTP servers ----
fetches() {
	for f in empty one hello.txt big; do
		timeout 60 "$talk/talk-xk" -k 10.9.0.1/24 fetch 10.9.0.1 8080 /$f >"$tmp/got" &&
		cmp "$tmp/got" "$tmp/www/$f" || return 1
	done
	! timeout 60 "$talk/talk-xk" -k 10.9.0.1/24 fetch 10.9.0.1 8080 /nothing
}
python3 -m http.server -d "$tmp/www" 8080 >"$tmp/http" 2>&1 &
other=$!
listens 8080
ok "we fetch from python's http.server" fetches
kill $other
wait $other
if have nginx "we fetch from nginx"; then
	cat >"$tmp/nginx.conf" <<END2
daemon off; pid $tmp/nginx.pid; error_log stderr; events {}
http { access_log off; server { listen 8080; root $tmp/www; } }
END2
	chmod 755 "$tmp/www"
	nginx -c "$tmp/nginx.conf" >"$tmp/http" 2>&1 &
	other=$!
	listens 8080
	ok "we fetch from nginx" fetches
	kill $other
	wait $other
fi
done_testing
