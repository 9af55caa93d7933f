# SPDX-License-Identifier: BSD-2-Clause
# exec_at.sh - a server and its client at the two hosts of vp-exec's graph, to be read behind exec.sh.
# shellcheck disable=SC2154 # who reads this has them
PATH=$PATH:/usr/sbin:/sbin

mkdir "$tmp/www"
head -c 1000000 /dev/urandom >"$tmp/www/some"
echo found >"$tmp/www/small"
# Workers of a server may be of another user than who made this.
chmod -R a+rX "$tmp"

# all_of NAME PROGRAM...: a test needs every one of them; else it is skipped, and says which is not there.
all_of() {
	all_name=$1 all_missing=
	shift
	for program; do command -v "$program" >/dev/null 2>&1 || all_missing="$all_missing $program"; done
	[ -z "$all_missing" ] && return 0
	skip "$all_name" "no$all_missing"
	return 1
}
# at LOSS PRESET SERVER PORT CLIENT: both are commands of the shell; the server is ended with the client.
at() {
	timeout 60 "$exec" "$graph" loss="$1" preset="$2" --at b sh -c "exec $3" --wait "b:$4" --at a sh -c "$5" >"$tmp/out" 2>&1
	at_code=$?
	cat "$tmp/out"
	return $at_code
}
same() { rm -f "$tmp/got"; at "$@" && cmp "$tmp/got" "$tmp/www/some"; }
