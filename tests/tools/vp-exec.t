#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vp-exec.t - programs as they are, at two hosts of a graph: the bytes arrive, under four architectures and with frames
# lost; sockets do what the kernel's do, line by line; wrong command lines say so; nothing is left behind.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/exec.sh"

# ---- bytes ------------------------------------------------------------------------------------

mkdir "$tmp/www"
head -c 1000000 /dev/urandom >"$tmp/www/some"
fetch() {
	rm -f "$tmp/got"
	at_both "$@" "loss=$loss" --at b "$python" -m http.server -d "$tmp/www" 80 --wait b:80 --at a sh -c "$how" &&
		cmp "$tmp/got" "$tmp/www/some"
}
static=
if ${CC:-cc} -static -o "$tmp/static" "$here/exec_static.c" >"$tmp/cc" 2>&1; then static=yes; fi
for preset in connp_l up vppc ppc; do
	for loss in 0 1%; do
		how="curl -sS -o '$tmp/got' http://10.0.0.2/some"
		needs "curl and http.server, $preset, loss $loss" curl fetch preset=$preset
	done
	how="wget -q -O '$tmp/got' http://10.0.0.2/some"
	needs "wget, $preset" wget fetch preset=$preset
done
how="'$tmp/static' 10.0.0.2 80 /some >'$tmp/all' && tail -c 1000000 '$tmp/all' >'$tmp/got'"
if [ -n "$static" ]; then
	ok "a program that is linked statically" fetch
else
	skip "a program that is linked statically" "${CC:-cc} -static makes none"
fi
needs "socat: fork, exec" socat prints "1
2
3" two --at b socat TCP-LISTEN:90,fork,reuseaddr EXEC:cat --wait b:90 --at a \
	sh -c 'for i in 1 2 3; do echo $i | socat - TCP:10.0.0.2:90; done'
needs "nc: TCP" nc prints "some words" two --all --at b nc -l 90 --wait b:90 --at a sh -c 'echo some words | nc -N 10.0.0.2 90'
needs "nc: UDP, to the graph's own echo" nc prints "a datagram" two --at a sh -c 'echo a datagram | nc -u -w1 10.0.0.2 7'
between() { prints "$2" two preset=$1 loss=$loss --at b "$python" "$here/exec_programs.py" "$3-serve" 10.0.0.2 --wait b:7100 \
	--at a "$python" "$here/exec_programs.py" "$3-use" 10.0.0.2; }
for preset in connp_l ppc; do
	loss=0
	ok "asyncio at both ends, $preset" between $preset "200 answered
refused" asyncio
	ok "four processes share a listener, $preset" between $preset "4 served" prefork
	ok "a host talks to itself, $preset" prints "10.0.0.1 10.0.0.1 True
127.0.0.1 127.0.0.1 True
127.0.0.1 127.8.9.3 True
60000
refused
refused
b'to me'" two preset=$preset --at a "$python" "$here/exec_programs.py" self 10.0.0.1
	ok "what came before a reset is read, $preset" between $preset "listens 10
stands 1 True True 232
reset
reset after 400000 True
b''
broken pipe" late
	ok "nobody writes more than a listener's buffer and its own allow, $preset" between $preset "bounded
1000000 True" full
	loss=1%
	ok "asyncio, with frames lost, $preset" between $preset "200 answered
refused" asyncio
done

# ---- names ----------------------------------------------------------------------------------------

printf '# of the test\n10.0.0.2\twww.example.test other # the same\n::1 six\n10.0.0.1 two\n10.0.0.2 two\n' >"$tmp/hosts"
named() { prints "$1" two --hosts "$tmp/hosts" --at b sh -c "exec '$python' -m http.server -d '$tmp/www' 80 >/dev/null" \
	--wait b:80 --at a sh -c "$2"; }
echo found >"$tmp/www/file"
needs "curl by a node's name" curl named found 'curl -sS http://b/file'
needs "curl by a name of the file" curl named found 'curl -sS http://www.example.test/file'
needs "wget by a name" wget named found 'wget -q -O - http://other/file'
ok "getaddrinfo and the way back" named "10.0.0.2 b 127.0.0.1" "'$python' -c \"from socket import *
print(gethostbyname('b'), gethostbyaddr('10.0.0.2')[0], gethostbyname('localhost'))\""
ok "what a server of names answers" prints "0 1 0a000002
0 1 0a000002
0 2 0a000002
0 0 
0 1 0a000002
3 0 
3 0 
0 1 03016200
3 0 
3 0 
5 0 
4 0 
1 0 
1 0 
1 0 
3 0 
1 0 
1 0 
1 0 
(0, 1)" two --hosts "$tmp/hosts" --at a "$python" "$here/exec_programs.py" names 10.0.0.1
printf '10.0.0.2 b\nten b\n' >"$tmp/bad"
alone() {
	resolv=$(cat /etc/resolv.conf)
	two --isolate --hosts "$tmp/hosts" --at a sh -c 'echo; cat /etc/hosts /etc/resolv.conf; getent hosts two
		grep -o "10\.0\.0\.[12]$" /proc/net/fib_trie | sort -u; sed -n "3,\$s/ *\([^:]*\):.*/\1/p" /proc/net/dev | grep -c "^lo$"' \
		>"$tmp/out" 2>"$tmp/err"
	cat "$tmp/out" "$tmp/err"
	[ "$(cat /etc/resolv.conf)" = "$resolv" ] && [ "$(tr -s ' \n\t' ' ' <"$tmp/out")" = " 10.0.0.1 a 10.0.0.2 b 127.0.0.1 localhost\
 10.0.0.2 www.example.test 10.0.0.2 other 10.0.0.1 two 10.0.0.2 two nameserver 127.0.0.1 10.0.0.1 two 10.0.0.2 two 10.0.0.1 1 " ]
}
if unshare -n true 2>/dev/null || unshare -rn true 2>/dev/null; then
	ok "a network of its own" alone
else
	skip "a network of its own" "no namespaces here"
fi

# ---- what sockets do -----------------------------------------------------------------------------

in_kernel() {
	unshare -n sh -c 'ip link set lo up && ip addr add 10.0.0.2/24 dev lo && { "$@" serve 10.0.0.2 & } &&
		until ss -Hltn | grep -q :7200; do :; done; "$@" use 10.0.0.2; wait' sh "$python" "$here/exec_edges.py" >"$tmp/kernel"
}
under_exec() {
	two "$@" --at b "$python" "$here/exec_edges.py" serve 10.0.0.2 --wait b:7200 \
		--at a "$python" "$here/exec_edges.py" use 10.0.0.2 >"$tmp/exec" 2>"$tmp/err" && diff "$tmp/kernel" "$tmp/exec"
}
if unshare -n true 2>/dev/null && command -v ip >/dev/null && command -v ss >/dev/null; then
	ok "edge cases, by the kernel" in_kernel
	ok "there are enough of them" [ "$(wc -l <"$tmp/kernel")" -ge 80 ]
	for preset in connp_l up vppc ppc; do
		ok "the same lines under vp-exec, $preset" under_exec preset=$preset
	done
else
	skip "edge cases as in the kernel" "needs a network namespace, ip and ss"
fi
ok "a handler runs while accept blocks" prints "handler ran 5" two --at a "$python" "$here/exec_programs.py" signal 10.0.0.1
ok "time-outs of calls that wait" prints "timed out
timed out" two --at a "$python" "$here/exec_programs.py" timeout 10.0.0.1
errno() { prints "$1" two --at a "$python" -c "import socket
try: socket.socket($2)
except OSError as e: print(e.errno)"; }
ok "IPv6: EAFNOSUPPORT" errno 97 socket.AF_INET6
ok "raw: EPERM" errno 1 "socket.AF_INET, socket.SOCK_RAW, 1"
ok "ICMP: EPROTONOSUPPORT" errno 93 "socket.AF_INET, socket.SOCK_DGRAM, 1"
ok "other families are the kernel's" prints "b'x'" two --at a "$python" -c "import socket
a, b = socket.socketpair()
a.sendmsg([b'x'])
print(b.recvmsg(1)[0])"

# ---- programs begin and end ---------------------------------------------------------------------------

ok "its exit code" code 7 two --at a sh -c 'exit 7'
ok "of the last" code 3 two --at a sh -c 'exit 5' --at b sh -c 'exit 3'
ok "with --all, of the first that failed" code 5 two --all --at a sh -c 'exit 5' --at b true
ok "the signal that killed it" code 137 sh -c '"$0" "$@"; exit $?' "$exec" "$graph" --at a sh -c 'kill -9 $$'
ok "its input and output" sh -c "[ \"\$(echo hello | '$exec' '$graph' --at a cat)\" = hello ]"
ok "not found" code 127 two --at a /nonexistent/program
ok "not to be run" code 126 two --at a /etc/passwd
echo "'$exec' '$graph' --at a true" >"$tmp/nested"
ok "under another one" says 'no supervision: Device or resource busy' two --at a sh "$tmp/nested"
# A program waits in accept, another for a time: little happens, and nobody looks for more.
idle() {
	two --stats --at b "$python" "$here/exec_programs.py" wait 10.0.0.2 --wait b:7100 --at a sleep 0.5 >"$tmp/out" 2>&1
	cat "$tmp/out"
	woken=$(sed -n 's/.*woken \([0-9]*\) times$/\1/p' "$tmp/out")
	[ "${woken:-1000}" -lt 300 ]
}
ok "while programs wait the supervisor sleeps" idle
alive() { kill -0 "$1" 2>/dev/null && ! grep -q '^State:.[ZX]' "/proc/$1/status"; }
gone() { ! alive "$1"; }
two_lines() { [ "$(wc -l <"$1")" -eq 2 ]; }
all_gone() { for pid; do gone "$pid" || return 1; done; }
# killed WHOM SIGNAL: a program waits in accept, a daemon of its own for a signal; one of them or of the two processes of vp-exec is
# killed, and all end.
killed() {
	: >"$tmp/pid"
	"$exec" "$graph" --at a "$python" "$here/exec_programs.py" wait 10.0.0.1 >"$tmp/pid" 2>"$tmp/err" &
	keeper=$!
	until_ok 30 two_lines "$tmp/pid" || { kill -9 $keeper; return 1; }
	supervisor=$(grep -l "^PPid:.$keeper\$" /proc/[0-9]*/status 2>/dev/null | cut -d/ -f3)
	program=$(sed -n 's/^program //p' "$tmp/pid")
	eval kill "-$2" "\$$1"
	# shellcheck disable=SC2046 # numbers
	until_ok 30 all_gone $(sed 's/.* //' "$tmp/pid") $supervisor $keeper
	left=$?
	[ $left -eq 0 ] || kill -9 $keeper $supervisor
	wait $keeper
	ended=$?
	cat "$tmp/err" "$tmp/pid"
	echo "vp-exec $ended"
	return $left
}
ok "the program is killed" killed program KILL
ok "the supervisor is killed" killed supervisor KILL
ok "its keeper is killed" killed keeper KILL
ok "vp-exec is told to end" killed keeper TERM
left_behind() {
	two --at a sh -c 'sleep 600 & echo $!' >"$tmp/pid" 2>"$tmp/err"
	cat "$tmp/err"
	grep -qx '[0-9][0-9]*' "$tmp/pid" && gone "$(cat "$tmp/pid")"
}
ok "what a program leaves behind is ended" left_behind
ignored() { timeout 60 "$python" -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' "$exec" "$graph" --at a true; }
ok "who ignores the ends of its children starts it" ignored

# ---- command lines --------------------------------------------------------------------------------------

wrong() {
	want=$1
	shift
	"$exec" "$@" >"$tmp/out" 2>&1 </dev/null
	got=$?
	cat "$tmp/out"
	[ $got -eq 125 ] && grep -qF -- "$want" "$tmp/out"
}
ok "no graph" wrong "which graph?"
ok "no program" wrong "which program?" "$graph"
ok "nothing behind --" wrong "which program?" "$graph" --
ok "no node" wrong "--at wants NODE PROGRAM" "$graph" --at
ok "no program at a node" wrong "which program at a?" "$graph" --at a
ok "an option of none" wrong "no option --frobnicate" "$graph" --frobnicate -- true
ok "no file of names" wrong "--hosts wants FILE" "$graph" --hosts
ok "a file of names that is not there" wrong "$tmp/none: No such file" "$graph" --hosts "$tmp/none" --at a true
ok "a line of it that is wrong" wrong "$tmp/bad:2: ten is no address" "$graph" --hosts "$tmp/bad" --at a true
ok "a word that is none" wrong "is no NAME=VALUE" "$graph" true
ok "a port that is none" wrong "--wait wants NODE:PORT, not b:http" "$graph" --wait b:http --at a true
ok "a port too large" wrong "--wait wants NODE:PORT" "$graph" --wait b:65536 --at a true
ok "nothing behind --wait" wrong "behind --wait comes --at NODE PROGRAM" "$graph" --wait b:80
ok "a node that is none" wrong "no node of sockets named c, but a b" "$graph" --at c true
ok "to wait at, too" wrong "no node of sockets named c" "$graph" --at a true --wait c:1 --at a true
ok "several nodes, and none named" wrong "several nodes of sockets" "$graph" -- true
ok "no sockets" wrong "has no node of sockets" "$top_srcdir/graphs/hello.lua" -- true
ok "no such file" wrong "$tmp/none.lua" "$tmp/none.lua" -- true
ok "an argument that is none" wrong "colour" "$graph" colour=red --at a true
sed 's/^local threading = .*//; s/^  preset = .*//; s/^  threading = .*/  threading = up {}, clock = "virtual",/' "$graph" >"$tmp/virtual.lua"
ok "virtual time" wrong "its clock is virtual" "$tmp/virtual.lua" --at a true
ok "nobody is left who could listen" wrong "nobody listens at b:9" "$graph" --at b true --wait b:9 --at a true
done_testing
