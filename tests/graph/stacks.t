#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# stacks.t - whose stack units of work run on: under every architecture that can, and each word, every byte arrives, and what
# moved is counted; with simulated processors the pools' locks and stacks that moved cost what the machine says.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
record=stacks class=stacks
. "$top_srcdir/tests/graph/pools_lib.sh"

ok "without a word units run on the workers' own, and no lock is taken" usual ppc
ok "another word is refused, with the nearest" word 'ips { stacks = "procesor" }' "g.lua:4:.*processor"
ok "the layers of a pipeline have threads of their own" word 'lp { stacks = "global" }' 'g.lua:4:.*need the domain'

made 'ips { stacks = "global" }'
if timeout 20 "$graph" check "$tmp/g.lua" 2>&1 | grep -q libboost-context-dev; then
	skip "the rest" "built without Boost.Context (package libboost-context-dev)"
	done_testing
	exit
fi

# arrives PRESET WORD [ARGUMENTS]: each of them has its pools, no unit was without a stack, a processor's never move.
arrives() {
	made "$1 { stacks = \"$2\", burst = 1, quantum = 1 }" && json $3 && says "$whole" &&
		says '.record.stacks | .pools > 0 and .stacks >= .pools and .hits + .moves > 50 and .stackless == 0' || return 1
	if [ "$2" = global ]; then
		says '.record.stacks.pools == 1'
	else
		says '.record.stacks | .pools > 1 and .moves == 0'
	fi && says '(.record.stacks | .hits + .moves) as $units | .locks[] | select(.class == "stacks") | .locks > 0 and .taken > 2 * $units'
}
for preset in $(presets); do
	[ "$preset" = lp ] && continue
	ok "stacks processor under $preset" arrives "$preset" processor
	ok "stacks global under $preset" arrives "$preset" global
	ok "and with a simulated clock" arrives "$preset" processor --virtual
done

# Simulated processors: each taking and giving is a lock, and a stack that another one had last costs what the machine says.
# ppc WORD PROCESSORS [SOURCE]: each unit a message.
ppc() { through "ppc { workers = $2, burst = 1, quantum = 1, stacks = \"$1\" }" "$2" "$3"; }
locks_cost() {
	machine 1 0
	ppc none 2 && own=$got && ppc processor 2 && per=$got && ppc global 2 || return 1
	[ "$own" -gt $((4 * per)) ] && [ "$per" -gt $((got * 3 / 2)) ] &&
		says '.locks[] | select(.class == "stacks") | .contended > 100'
}
# Two processors that always have work keep one stack each (of the paper's threads "few migrate at high rate"); with
# packets now and then they take turns, and a unit of 100 ns takes 1 us more for each that has moved.
seldom='arrivals = { model = "poisson", rate = 20000 }'
busy() { jq '.machine.busy * 2 * 5000000 | round' "$tmp/json"; }
# pays WORD MOVED: what processors had to do is messages and moves, to the nanosecond.
pays() {
	machine 0 "$2" && ppc "$1" 2 "$seldom" && moves=$(jq '.record.stacks.moves' "$tmp/json") &&
		paid=$((got * 100 + moves * 1000 * $2)) && echo "# $moves moves, $(busy) ns busy" && [ "$(busy)" -eq "$paid" ]
}
moves_cost() {
	pays global 1 && [ "$got" -gt 1000 ] && [ "$moves" -gt $((got / 4)) ] && [ "$moves" -lt $((got * 3 / 4)) ] || return 1
	was="$got $moves"
	pays global 1 && [ "$was" = "$got $moves" ] && pays global 0 && [ "$moves" -gt $((got / 4)) ] &&
		pays processor 1 && [ "$moves" = 0 ] && [ "$got" -gt 1000 ]
}
stay_at_high_rate() { machine 0 1 && ppc none 2 && own=$got && ppc global 2 && [ "$got" = "$own" ] && says '.record.stacks.moves == 0'; }
one_moves_none() { machine 0 1 && ppc global 1 "$seldom" && says '.record.stacks | .moves == 0 and .hits > 1000'; }
# Threads that any processor may run: one that waits in a unit goes on elsewhere, and its stack goes back to where it is
# of, written there.  There are never more than are in use at once, and the same run says the same.
# floats PRESET WORD FILTER
floats() {
	set -- "$1 { vps = 8, wired = false, burst = 1, quantum = 1, stacks = \"$2\" }" "$3"
	machine 1 1 && through "$1" 3 'arrivals = { model = "poisson", rate = 200000 }' || return 1
	was=$(jq -c '[.messages, .record.stacks]' "$tmp/json")
	says ".record.stacks | .stacks <= .pools + 8 and .hits + .moves > 1000 and $2" &&
		through "$1" 3 'arrivals = { model = "poisson", rate = 200000 }' && [ "$was" = "$(jq -c '[.messages, .record.stacks]' "$tmp/json")" ]
}
# Who waits for a lock keeps its stack: others on its processor have another.
keeps_its_own() { machine 0.1 0 && through 'mp { vps = 1, io_threads = 4, stacks = "processor" }' 2 && says '.record.stacks | .stacks > .pools'; }
ok "with simulated processors a pool's lock is charged" locks_cost
ok "and each stack that another one had" moves_cost
ok "which are few where all always have work" stay_at_high_rate
ok "and none of one processor" one_moves_none
ok "a unit that waits keeps its stack" keeps_its_own
ok "a unit that goes on elsewhere has moved its stack" floats mp processor '.moves > 0'
ok "and with one pool, too" floats mp global '.moves > 100'
ok "threads that wait for no lock in a unit move none" floats tpc processor '.moves == 0'
done_testing
