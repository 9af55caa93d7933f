#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ranks.t - vp-run -n and --join: what ranks are told, what is shown of them, how they end.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/ranks_lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
run=$top_builddir/vp-run
ring=$top_srcdir/graphs/ncs-ring.lua

answers='[.nodes[] | select(.name == "load") | .counters.answers] | add'

around() {
	timeout 20 "$run" -n "$1" --json "$ring" dir="$tmp" count=20 >"$tmp/out.json" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ $got -eq 0 ] && jq -e "length == $1 and all(.[]; ($answers) == 40)" "$tmp/out.json"
}
for n in 1 2 4; do
	ok "a ring of $n: one JSON list" around $n
done
lines() {
	timeout 20 "$run" -n 2 "$ring" dir="$tmp" count=20 >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q '^\[0\] load .* answers 40\(,.*\)*$' "$tmp/out" && grep -q '^\[1\] load .* answers 40\(,.*\)*$' "$tmp/out" &&
		! grep -v '^\[[01]\] ' "$tmp/out"
}
ok "lines begin with the rank" lines

# What a file is told.
cat >"$tmp/told.lua" <<'END'
local a = args { rank = uint { 9 }, ranks = uint { 9 }, x = uint { 0 } }
error(("rank %d of %d, x %d"):format(a.rank, a.ranks, a.x))
END
told() {
	timeout 60 "$run" -n 2 --keep "$tmp/told.lua" x=5 >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -eq 3 ] && grep -q '^\[0\] .*rank 0 of 2, x 5' "$tmp/out" && grep -q '^\[1\] .*rank 1 of 2, x 5' "$tmp/out" &&
		grep -q '^vp-run: rank 1 ended with code 3' "$tmp/out"
}
ok "rank and ranks are arguments, job need not be" told
ok "a file without them is told" says "graph has no argument 'rank'" "$run" -n 2 "$top_srcdir/graphs/hello.lua"
ok "--check checks one" says "is good" "$run" -n 2 --check "$ring"
# What key they have.
cat >"$tmp/keyed.lua" <<'END'
local a = args { rank = uint { 9 }, ranks = uint { 9 }, dir = text { "" } }
error("its key is '" .. (os.getenv("VP_KEY") or "none") .. "'")
END
# keyed TEXT: both ranks have a key like that, and the same one
keyed() {
	timeout 60 "$run" -n 2 --keep --unsafe "$tmp/keyed.lua" >"$tmp/out" 2>&1
	cat "$tmp/out"
	[ "$(grep -c "^\[[01]\] .*:2: its key is '$1'" "$tmp/out")" -eq 2 ] &&
		[ "$(sed -n "s/^\[[01]\] .*:2: its key is '\(.*\)'.*/\1/p" "$tmp/out" | sort -u | wc -l)" -eq 1 ]
}
new_key='[0-9a-f]\{32\}'
with_key() { (export VP_KEY="$1" && keyed "$2"); }
without_key() { (unset VP_KEY && keyed "$1"); }
ok "ranks have a new key" without_key "$new_key"
ok "where VP_KEY is empty, too" with_key "" "$new_key"
ok "or else VP_KEY" with_key "ours!" "ours!"
a32=0123456789abcdef0123456789abcdef
ok "of 32 bytes, at most" with_key $a32 $a32
too_long() { code 2 env VP_RANK=0 VP_RANKS=1 VP_KEY=${a32}x "$run" "$@"; }
ok "a longer one is refused" says "VP_KEY has 33 bytes, more than 32" too_long -n 2 "$ring"
ok "--join: so it is" says "VP_KEY has 33 bytes, more than 32" too_long --join "$ring"
joins() { env -i "$1=1" "$2=3" "$run" --join "$tmp/told.lua" 2>&1 | grep 'rank 1 of 3, x 0'; }
ok "--join: Open MPI's" joins OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
ok "--join: MPICH's" joins PMI_RANK PMI_SIZE
ok "--join: Slurm's" joins SLURM_PROCID SLURM_NTASKS
ok "--join: nobody's" code 2 env -i "$run" --join "$tmp/told.lua"
ok "--join: a rank that cannot be" code 2 env -i PMI_RANK=3 PMI_SIZE=3 "$run" --join "$tmp/told.lua"
ok "--join: no number" code 2 env -i PMI_RANK=1x PMI_SIZE=3 "$run" --join "$tmp/told.lua"
for bad in "-n 0" "-n 1025" "-n x" "-n 2x" "--keep" "-n 2 --join" "-n 2 --control=x" "-n 2 --capture=a=b" "-n 2 --decisions=x"; do
	# shellcheck disable=SC2086
	ok "$bad is wrong usage" code 2 "$run" $bad "$ring"
done

# How they begin: together.
slow_graph "$tmp/slow.lua"
never_up() {
	rm -f "$tmp/never"
	mkfifo "$tmp/never"
	timeout 120 "$run" -n 3 "$@" --unsafe --within=2s "$tmp/slow.lua" dir="$tmp" >"$tmp/out" 2>"$tmp/err" &
	starter=$!
	until_ok 60 grep -q '^vp-run: rank 1 did not come up in 2s' "$tmp/err"
	got=$?
	timeout 60 sh -c "echo >'$tmp/never'"            # it is let go
	wait $starter
	ended=$?
	cat "$tmp/err"
	[ $ended -eq 1 ] && [ $got -eq 0 ] && [ "$(grep -c 'did not come up' "$tmp/err")" -eq 1 ]
}
ok "a rank that is not up in time is told by its number, and ends all" never_up
# Whose client has its first message out before the server was begun, but for the wait: not one is asked for again.
first_message() {
	timeout 60 "$run" -n 2 --json "$ring" dir="$tmp" interface=hostudp port="$udp" flow=window error=none count=1 ahead=1 \
		conns=1 timeout=50s >"$tmp/out.json" 2>"$tmp/err"
	got=$?
	cat "$tmp/err"
	[ $got -eq 0 ] && jq -e "all(.[]; ($answers) == 1)" "$tmp/out.json"
}
udp=$((30000 + $$ % 12000))
ok "nobody's first message is lost, where nothing repeats it" first_message

# How they end.
others_end() {
	mkdir -p "$tmp/proc/1" "$tmp/proc/2" "$tmp/proc/3"
	for pid in 1 3; do
		echo "$pid (vp run) S 77 1 1" >"$tmp/proc/$pid/stat"
	done
	ln -s gone "$tmp/proc/2/stat"
	proc=$tmp/proc
	children=$(pids 77)
	got=$?
	proc=/proc
	echo "$got: $children"
	[ $got -eq 0 ] && [ "$(echo $children)" = "1 3" ]
}
ok "ranks are found while other processes end" others_end
all_there() { [ "$(pids $starter | wc -l)" -eq 3 ] && [ "$(ls "$tmp/run-$starter".10.0.0.?.0 2>/dev/null | wc -l)" -eq 3 ]; }
starts() {
	"$run" -n 3 "$@" "$ring" dir="$tmp" count=0 >"$tmp/out" 2>"$tmp/err" &
	starter=$!
	until_ok 60 all_there && return
	pids $starter
	ls "$tmp"
	cat "$tmp/err"
	kill -TERM $starter                              # nobody waits for it in vain
	return 1
}
ends() {
	wait $starter
	got=$?
	cat "$tmp/err"
	[ -z "$(pids $starter)" ] && return $got
}
interrupted() {
	starts && kill -INT $starter
	ends && [ "$(grep -c 'load .*messages' "$tmp/out")" -ge 3 ]
}
ok "SIGINT ends all in order" interrupted
killed() {
	starts "$@" && { kill -KILL "$(pids $starter | head -n 1)" || kill -TERM $starter; }
	! ends && grep -q 'was killed by signal 9' "$tmp/err"
}
ok "a rank that is killed ends all" killed
kept() {
	starts --keep && kill -KILL "$(pids $starter | head -n 1)" && until_ok 60 grep -q 'was killed by signal 9' "$tmp/err" &&
		[ "$(pids $starter | wc -l)" -gt 0 ]
	others_stay=$?
	kill -TERM $starter                              # whatever came before: it is waited for
	! ends && [ $others_stay -eq 0 ]
}
ok "unless --keep" kept
orphaned() {
	children=
	starts && children=$(pids $starter)
	kill -KILL $starter
	wait $starter
	# shellcheck disable=SC2086
	[ -n "$children" ] && over $children
}
ok "ranks whose starter is killed end" orphaned
done_testing
