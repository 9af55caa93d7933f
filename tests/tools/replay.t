#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# replay.t - what the scheduling module decided in a real run of two workers it decides again, call by call, when vp-sim
# asks it the same; an answer that was another one is found; what is no such file is refused with its line.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
sim=$top_builddir/vp-sim
file=$top_srcdir/graphs/arrivals.lua
log=$tmp/decisions
unset VP_GRAPH_PATH

# alike ARG...: a real run of two workers, and what it decided.
alike() {
	timeout 60 "$run" --json --decisions "$log" "$file" preset=ips_conn workers=2 count=3000 conns=20 rate=5000 "$@" >"$tmp/json" 2>"$tmp/err" ||
		{ cat "$tmp/err"; return 1; }
	timeout 60 "$sim" --replay "$log" >"$tmp/out" 2>&1 || { cat "$tmp/out"; return 1; }
	grep -q " decisions, all as they were" "$tmp/out" && [ "$(wc -l <"$log")" -gt 100 ] && grep -q '^arrive .* [01]$' "$log"
}
for word in any none code; do
	ok "two workers, affinity $word: decided alike" alike affinity="$word"
done
# Each of the two is the home of half of the stacks, so both have run some.
both() { alike affinity=stream && grep -q '^next [0-9]* 0 [0-9]' "$log" && grep -q '^next [0-9]* 1 [0-9]' "$log"; }
ok "two workers, affinity stream: decided alike, and both had their own" both

# found SED TEXT: the log, changed, is decided otherwise, or is no log.
found() {
	want=$1 text=$3
	sed "$2" "$log" >"$tmp/changed"
	if cmp -s "$log" "$tmp/changed"; then echo "nothing is changed"; return 1; fi
	timeout 60 "$sim" --replay "$tmp/changed" >"$tmp/out" 2>&1
	code=$?
	[ $code -eq "$want" ] && grep -q -e "changed:[0-9]*: .*$text" "$tmp/out" || { echo "$code"; cat "$tmp/out"; return 1; }
}
ok "another policy decides otherwise" found 1 '1s/queue processor/queue one/' 'the answer was'
ok "an answer that was not given is found" found 1 '/^next .* [0-9]*$/{s/ [0-9]*$/ -/;:a;n;ba}' 'the answer was -, and is'
ok "no such file" found 3 '1s/xk/ks/' 'no file of vp-run --decisions'
ok "too many processors" found 3 '1s/processors 2/processors 2000/' 'there are 1 to 1024'
ok "a processor that there is not" found 3 '2,$s/^next \([0-9]*\) [01]/next \1 9/' 'there are 2 processors'
ok "a word that is no call" found 3 '2,$s/^arrive/arive/' "'arive' is no call"
ok "too few words" found 3 '2,$s/^\(arrive [0-9]* [0-9]*\).*/\1/' 'too few words'
ok "what it does not have" found 3 '2,$s/^done \([0-9]*\) \([01]\) [0-9]*/done \1 \2 19/' 'which it does not have'
ok "a line that is cut short" sh -c "head -c 50 '$log' >'$tmp/short'; '$sim' --replay '$tmp/short' 2>&1 | grep -q 'cut short'"
ok "no file" sh -c "'$sim' --replay '$tmp/nothing' 2>&1 | grep -q 'No such file'"
ok "where nobody decides there is nothing to write" code 2 "$run" --decisions "$tmp/x" "$file" preset=ppc count=1
ok "nor where it cannot be written" code 1 "$run" --decisions "$tmp/no/x" "$file" preset=ips_conn count=1
done_testing
