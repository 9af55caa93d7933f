#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vp-exec-programs.t - servers and their clients as they are, at two hosts of a graph, clean and with 1 % of the frames
# lost: what comes back is what was asked for.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/exec.sh"
. "$top_srcdir/tests/tools/exec_at.sh"

# ---- nginx: two workers, sendfile ---------------------------------------------------------------------

cat >"$tmp/nginx.conf" <<EOF
daemon off;
worker_processes 2;
pid $tmp/nginx.pid;
error_log $tmp/nginx.log;
events { worker_connections 256; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  client_body_temp_path $tmp/body;
  proxy_temp_path $tmp/proxy;
  fastcgi_temp_path $tmp/fastcgi;
  uwsgi_temp_path $tmp/uwsgi;
  scgi_temp_path $tmp/scgi;
  server { listen 80; root $tmp/www; }
}
EOF
nginx="nginx -e '$tmp/nginx.log' -c '$tmp/nginx.conf'"
curl="curl -sS -o '$tmp/got' http://b/some"
# An old worker goes when its connections do; the new one has the listener that it had.
reload="$curl && kill -HUP \$(cat '$tmp/nginx.pid') && for i in 1 2 3 4 5 6 7 8; do $curl || exit; done"
# All answers are of the class 2xx, and there are some.
many() {
	at "$1" "$2" "$nginx" 80 'wrk --timeout 60s -t1 -c20 -d1 http://b/small' && grep -q '[1-9][0-9]* requests in' "$tmp/out" &&
		! grep -q 'Non-2xx\|Socket errors' "$tmp/out"
}
for loss in 0 1%; do
	name="nginx and curl, loss $loss"
	all_of "$name" nginx curl && ok "$name" same $loss connp_l "$nginx" 80 "$curl"
done
name="nginx begins its workers anew while curl asks"
all_of "$name" nginx curl && ok "$name" same 0 connp_l "$nginx" 80 "$reload"
name="nginx under wrk, 20 connections"
all_of "$name" nginx wrk && ok "$name" many 0 connp_l
name="nginx under wrk, 20 connections, loss 1%, a process for each connection"
all_of "$name" nginx wrk && ok "$name" many 1% ppc

# ---- redis ----------------------------------------------------------------------------------------------

redis="redis-server --save '' --appendonly no --protected-mode no --bind 0.0.0.0 --port 6379 >'$tmp/redis.log'"
bench() {
	at "$1" "$2" "$redis" 6379 'redis-benchmark -h b -q -n 1000 -c 20 -P 4 -t set,get' &&
		[ "$(tr '\r' '\n' <"$tmp/out" | grep -c 'requests per second')" -eq 2 ]
}
kept() { at "$@" && grep -qx 'it is' "$tmp/out"; }
for loss in 0 1%; do
	name="redis and its benchmark, loss $loss"
	all_of "$name" redis-server redis-benchmark && ok "$name" bench $loss connp_l
done
name="redis and its client, by the name of a host"
all_of "$name" redis-server redis-cli &&
	ok "$name" kept 0 connp_l "$redis" 6379 'redis-cli -h b set k "it is" >/dev/null; redis-cli -h b get k'
name="redis and its client on one host, by 127.0.0.1"
echo "(exec $redis) &" >"$tmp/local"
echo "until redis-cli set k 'it is' 2>/dev/null | grep -q OK; do :; done; redis-cli get k" >>"$tmp/local"
one_host() { timeout 60 "$exec" "$graph" --at a sh "$tmp/local" >"$tmp/out" 2>&1; cat "$tmp/out"; grep -qx 'it is' "$tmp/out"; }
all_of "$name" redis-server redis-cli && ok "$name" one_host

# ---- others ------------------------------------------------------------------------------------------------

iperf() { at "$1" "$2" "iperf3 -s -1 >/dev/null" 5201 "iperf3 -c b -f m $3" && grep -q 'receiver' "$tmp/out"; }
printf '[files]\npath = %s\nuse chroot = no\n' "$tmp/www" >"$tmp/rsync.conf"
rsync="rsync --daemon --no-detach --config='$tmp/rsync.conf' --log-file='$tmp/rsync.log'"
for loss in 0 1%; do
	name="iperf3, 20 MB, loss $loss"
	all_of "$name" iperf3 && ok "$name" iperf $loss connp_l "-n 20M"
	name="socat, a file, loss $loss"
	all_of "$name" socat && ok "$name" same $loss connp_l "socat -u 'FILE:$tmp/www/some' TCP-LISTEN:90,reuseaddr" 90 \
		"socat -u TCP:b:90 'CREATE:$tmp/got'"
	name="rsync, loss $loss"
	all_of "$name" rsync && ok "$name" same $loss connp_l "$rsync" 873 "rsync rsync://b/files/some '$tmp/got'"
done
name="iperf3, datagrams"
all_of "$name" iperf3 && ok "$name" iperf 0 connp_l "-u -n 500K -b 50M"
name="memcached"
stored() {
	at 0 connp_l "memcached -u $(id -un) -l 10.0.0.2 -p 11211 -U 0" 11211 \
		"printf 'set k 0 0 5\r\nhello\r\nget k\r\nquit\r\n' | nc -N b 11211" &&
		grep -q STORED "$tmp/out" && grep -q hello "$tmp/out"
}
all_of "$name" memcached nc && ok "$name" stored
done_testing
