#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vp-exec-languages.t - HTTP servers and clients of languages with a runtime of their own, at two hosts of a graph,
# clean and with 1 % of the frames lost: Go, linked statically, and Java.  Compilers take long: not in `make check`.
#
#   XK_EXEC_LONG=1   does it; `make check-long` sets that
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
[ -n "${XK_EXEC_LONG-}" ] || skip_all "compilers take long: XK_EXEC_LONG=1, or make check-long"
. "$top_srcdir/tests/tools/exec.sh"
. "$top_srcdir/tests/tools/exec_at.sh"

head -c 100000 /dev/urandom >"$tmp/www/some"
chmod -R a+rX "$tmp"
# told WANTED at's arguments...: that was a line of the client's.
told() {
	told_want=$1
	shift
	at "$@" && grep -qxF -- "$told_want" "$tmp/out"
}
# both LANGUAGE BYTES SERVER CLIENT: its server and its client, and each of them with another's
curl="curl -sS -o '$tmp/got' http://b/some"
files="'$python' -m http.server -d '$tmp/www' 80"
both() {
	for loss in 0 1%; do
		ok "$1 at both ends, loss $loss" told "$2" $loss connp_l "$3" 80 "$4"
		ok "$1 asks http.server, loss $loss" told "$2" $loss connp_l "$files" 80 "$4"
		needs "curl asks $1, loss $loss" curl same $loss connp_l "$3" 80 "$curl"
	done
	ok "$1 at both ends, a process for each connection" told "$2" 0 ppc "$3" 80 "$4"
}

go_built() { (cd "$tmp" && HOME=${HOME:-$tmp} CGO_ENABLED=0 go build -o "$tmp/http" "$here/exec_http.go"); }
if all_of "Go's net/http" go && ok "Go's net/http is compiled" go_built; then
	both "Go" 5000000 "'$tmp/http' serve :80 '$tmp/www'" "'$tmp/http' get http://10.0.0.2/some"
fi
java_built() { javac -d "$tmp" "$here/ExecHttp.java"; }
if all_of "Java's HTTP" java javac && ok "Java's HTTP is compiled" java_built; then
	both "Java" 2100000 "java -cp '$tmp' ExecHttp serve 80 '$tmp/www/some'" "java -cp '$tmp' ExecHttp get http://10.0.0.2/some"
fi
done_testing
