#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ddp.sh - what it costs a message to be placed where its receiver wants it, and to be copied
# there: nanoseconds, the best of ROUNDS short runs that take turns, and instructions, counted
# by callgrind between N and 2N messages.  By hand, in the folder of a build:
#
#   tests/bench/ddp.sh [ROUNDS [SIZES]]
#
# Sender, wire and receiver are on one virtual processor, in bursts of 32 (graphs/bench/udp-both.lua, tcp-both.lua).
# "none" does not touch the payload: what the others pay beyond it is for having it.  libc's
# copies are kept out of the instructions.  Where the compiler makes a copy `rep movsb`, as
# sink's, callgrind counts one instruction for each byte.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${top_builddir:=.}"
rounds=${1:-30}
sizes=${2:-64 1024 4096}
N=20000
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# variant NAME: its arguments
variant() {
	case $1 in
	none) echo touch=none ;;
	copy) echo touch=copy ;;
	post) echo touch=copy post=256KiB least=128 ;;
	esac
}

# once FILE SIZE NAME: appends nanoseconds a message to $tmp/NAME
once() {
	# shellcheck disable=SC2046
	"$top_builddir/vp-run" -d 50ms --warmup 10ms "$top_srcdir/graphs/bench/$1.lua" size="$2" $(variant "$3") |
		sed -n 's/^[a-z]* [0-9]* messages in .*, \([0-9.]*\) ns per message.*/\1/p' >>"$tmp/$3"
}

# summary FILE SIZE NAME COUNT: all instructions of a run
summary() {
	# shellcheck disable=SC2046
	valgrind --tool=callgrind --callgrind-out-file="$tmp/cg" "$top_builddir/vp-run" -d 10m \
		"$top_srcdir/graphs/bench/$1.lua" size="$2" count="$4" $(variant "$3") >"$tmp/log" 2>&1
	# A function's own cost: lines of positions and costs, but for those after calls=, and not of libc's copies.
	awk '/^c?fn=/ { match($0, /\([0-9]+\)/); id = substr($0, RSTART, RLENGTH)
			if (/mem(cpy|move)/) copies[id] = 1
			if (/^fn=/) here = id in copies
			next }
		/^calls=/ { skip = 1; next }
		/^[-+*0-9][^ ]* [0-9]+$/ { if (!skip && !here) all += $2; skip = 0 }
		END { printf "%d\n", all }' "$tmp/cg"
}
instructions() {
	one=$(summary "$1" "$2" "$3" $N)
	two=$(summary "$1" "$2" "$3" $((2 * N)))
	echo $(((two - one) / N))
}

printf '%-9s %5s  %-5s %9s %9s %13s\n' path bytes how 'best ns' 'median' instructions
for file in udp-both tcp-both; do
	for size in $sizes; do
		rm -f "$tmp"/none "$tmp"/copy "$tmp"/post
		i=0
		while [ $i -lt "$rounds" ]; do
			for v in none copy post; do once $file "$size" $v; done
			i=$((i + 1))
		done
		for v in none copy post; do
			sort -n "$tmp/$v" >"$tmp/sorted"
			printf '%-9s %5s  %-5s %9s %9s %13s\n' $file "$size" $v "$(head -n 1 "$tmp/sorted")" \
				"$(sed -n "$((($(wc -l <"$tmp/sorted") + 1) / 2))p" "$tmp/sorted")" "$(instructions $file "$size" $v)"
		done
	done
done
