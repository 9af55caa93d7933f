#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# instructions.t - instructions per message, counted by callgrind between N and
# 2N messages, so that starting and ending drop out.  They may not differ from
# the recorded ones by more than 1 %; with both ends of a connection, whose timers
# go by the clock of a machine that has other work, by more than 3 %; with messages of 64 KiB, each of which
# meets more of them, by more than 8 %.
#
#   tests/bench/instructions.t --record    writes instructions.txt anew
#
# Three numbers for each path: the whole of it; without those of drivers/mem and drivers/peer,
# which stand for a device and for the simulated peer behind it (on the way up from
# xk_input on); and without those of base_csum either, which copy and sum long data (count.sh).
# For TCP 4 KiB down the application writes nothing, so the sum stands for its copy,
# and the third number is the goal's: our side, acknowledgements included, no copy.
# tcp-4096-down-way is of that run, too: the way of a segment alone, from the application's unit to the
# frame that the device has, without the copy and without what answers do on their way up.
# udp-64-both-turn is of 32 connections, a message of each in turn: what comes in is gathered to bursts. Chance
# says which connections share a bucket of the table of flows, so it may differ by 6 %.
# simulated-PRESET: a message and its answer, all four ways, on simulated processors (docs/internals/simulation.md).
# ncs-CHOICE: a packet of graphs/ncs-echo.lua, one message of 1000 B at a time, under that choice of controls, answers
# included; what a choice costs is the difference to ncs-none.
# tcp-4096-both writes just what a segment holds; tcp-64-both, tcp-4097-both and tcp-65536-both do not.
# Numbers are of one compiler and one set of flags; others are skipped.  They are of the program that a build runs on a
# processor with AVX2 (count.sh); everywhere-PATH is of the one for every x86-64, where the build has both.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/bench/count.sh"
recorded=$top_srcdir/tests/bench/instructions.txt
N=40000 # long messages; of short ones four times as many, since what a busy machine adds is of the run
goal_up=110
goal_turn=260
goal_tcp_up=210
goal_tcp_down=260

# ---- is this the build the numbers are of? ------------------------------------

compiler=$(${CC:-$(flags_of CC)} --version 2>/dev/null | sed -n '1s/.* //p')
# What keeps a compiler's output changes none of it.
build="$(flags_of CC | sed "s/^ccache //") $compiler, $(flags_of CFLAGS) $march"

countable
if [ "$1" != --record ]; then
	[ -f "$recorded" ] || skip_all "nothing is recorded: tests/bench/instructions.t --record"
	was=$(sed -n 's/^# build: //p' "$recorded")
	[ "$was" = "$build" ] || skip_all "recorded with '$was', this build is '$build'"
fi

# ---- counting --------------------------------------------------------------------

# measure NAME FILE ARGUMENTS...: appends "NAME whole without-driver without-sums" to $tmp/now.
measure() {
	name=$1 file=$2 messages=$N conns=1
	shift 2
	case $name in
	udp-64-both-turn) conns=32 messages=$((4 * N / conns)) ;; # of each connection
	*-64-*) messages=$((4 * N)) ;;
	*-65536-*) messages=$((N / 10)) ;;
	esac
	per_message $messages "$top_srcdir/graphs/bench/$file.lua" "$@" >"$tmp/one" || return 1
	awk -v name="$name" -v conns=$conns '{
		for (i = 1; i <= 4; i++) $i /= conns
		ours = $1 - $2; rest = ours - $3
		printf "%s %.1f %.1f %.1f\n", name, $1, ours, rest
		if (name == "tcp-4096-down") { way = rest - $4; printf "tcp-4096-down-way %.1f %.1f %.1f\n", way, way, way } }' \
		"$tmp/one" >>"$tmp/now"
}

# simulated NAME PRESET MESSAGES: of each of 16 connections of graphs/udp-presets.lua on 8 simulated processors; what is
# counted is a message and its answer.  Looks at descriptors, at ticks of the host's clock, are in it.
simulated() {
	per_message "$3" --virtual --processors 8 "$top_srcdir/graphs/udp-presets.lua" preset="$2" conns=16 >"$tmp/one" || return 1
	awk -v name="$1" '{ printf "%s %.1f %.1f %.1f\n", name, $1 / 16, $1 / 16, $1 / 16 }' "$tmp/one" >>"$tmp/now"
}

# choice NAME FLOW ERROR: an echo is two packets.  Once: one thread does all, and nothing waits for a clock.
choice() {
	rounds=1
	per_message 2000 "$top_srcdir/graphs/ncs-echo.lua" conns=1 size=1000 ahead=1 vps=1 flow="$2" error="$3" >"$tmp/one" || return 1
	rounds=3
	awk -v name="$1" '{ printf "%s %.1f %.1f %.1f\n", name, $1 / 2, $1 / 2, $1 / 2 }' "$tmp/one" >>"$tmp/now"
}

field() { awk -v name="$2" -v k="$3" '$1 == name { print $k }' "$1"; }

# compare NAME COLUMN
compare() {
	new=$(field "$tmp/now" "$1" "$2")
	old=$(field "$recorded" "$1" "$2")
	echo "$new instructions a message, $old recorded"
	case $1 in tcp-65536-both) apart=8 ;; udp-64-both-turn) apart=6 ;; tcp-*-both | simulated-* | ncs-*) apart=3 ;; *) apart=1 ;; esac
	[ -n "$old" ] && awk -v a="$new" -v b="$old" -v p=$apart 'BEGIN { exit !(a <= b * (1 + p / 100) && a >= b * (1 - p / 100)) }' && return 0
	echo "more than $apart % apart; when that is meant, say why in the commit and record it anew:"
	echo "tests/bench/instructions.t --record"
	return 1
}

: >"$tmp/now"
measure udp-64-up udp-up && measure udp-64-turn udp-up conns=1024 order=turn && measure udp-64-down udp-down link=eth && measure udp-64-both udp-both &&
	measure udp-64-both-turn udp-both conns=32 row=1 &&
	measure tcp-64-up tcp-up && measure tcp-4096-down tcp-down link=eth touch=none &&
	measure tcp-4096-both tcp-both buffer=256KiB &&
	measure tcp-4097-both tcp-both buffer=256KiB mss=0 size=4097 &&
	measure tcp-65536-both tcp-both buffer=256KiB mss=0 size=64KiB &&
	measure tcp-64-both tcp-both buffer=256KiB mss=0 size=64 &&
	simulated simulated-ips_conn ips_conn 1000 && simulated simulated-locking locking 250 && simulated simulated-mp mp 250 &&
	simulated simulated-lp lp 250 &&
	choice ncs-none none none && choice ncs-window window none && choice ncs-credit credit none &&
	choice ncs-go_back_n none go_back_n && choice ncs-selective_repeat none selective_repeat &&
	choice ncs-both credit selective_repeat && { ! has_variants || { everywhere measure everywhere-udp-64-up udp-up && everywhere measure everywhere-tcp-64-up tcp-up; }; } || {
	echo "not ok 1 - counting runs"
	echo "1..1"
	exit 1
}

if [ "$1" = --record ]; then
	{
		echo "# Instructions per message; tests/bench/instructions.t --record writes this file."
		echo "# build: $build"
		echo "# path, whole, without the in-memory driver, and without the sums of long data"
		cat "$tmp/now"
	} >"$recorded"
	cat "$recorded"
	exit 0
fi

while read -r name whole ours rest; do
	[ -n "$(field "$recorded" "$name" 2)" ] || { echo "# $name: $whole, $ours, $rest; not recorded: --record does"; continue; }
	ok "$name as recorded: $whole" compare "$name" 2
	[ "$whole" = "$ours" ] || ok "$name without the driver as recorded: $ours" compare "$name" 3
	[ "$ours" = "$rest" ] || ok "$name without sums, either, as recorded: $rest" compare "$name" 4
done <"$tmp/now"

# goal NAME TEXT LIMIT
goal() {
	now=$(field "$tmp/now" "$1" 4)
	echo "# $1 $2: $now, goal at most $3: $(awk -v a="$now" -v b="$3" 'BEGIN { print a <= b ? "holds" : "misses" }')"
}
goal udp-64-up 'from xk_input on' $goal_up
goal udp-64-turn 'of 1024 connections in turn, from xk_input on' $goal_turn
goal tcp-64-up 'from xk_input on, acknowledgements included' $goal_tcp_up
goal tcp-4096-down 'without the copy, acknowledgements included' $goal_tcp_down
goal tcp-4096-down-way 'without the copy, without acknowledgements' $goal_tcp_down
done_testing
