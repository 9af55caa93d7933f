#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# vp-run-says.t - what vp-run says of a run is true: nothing that was lost goes unsaid, what
# makes its figures weak is named, connections are connections.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graphs=$top_srcdir/graphs

# of JQ COMMAND...: the filter holds for the JSON that the command prints.
of() {
	filter=$1
	shift
	"$@" >"$tmp/of.json" || return 1
	jq -e "$filter" "$tmp/of.json" >/dev/null || { cat "$tmp/of.json"; return 1; }
}

# ---- README's graph, as it stands there ------------------------------------------------------

sed -n '/^    -- hello.lua/,/^    return graph/s/^    //p' "$top_srcdir/README" >"$tmp/hello.lua"
readme() {
	sed -n '/^    node  /,/^    latency: /s/^    //p' "$top_srcdir/README" >"$tmp/readme"
	"$run" --virtual "$tmp/hello.lua" | sed 's/ *$//' >"$tmp/hello.out"
	[ -s "$tmp/readme" ] && diff "$tmp/readme" "$tmp/hello.out"
}
ok "README shows what its graph prints" readme
# With other numbers it is as fast: nothing is lost before the neighbour is known, nobody waits for a timeout.
other_numbers() {
	sed "s/conns = 2,/conns = $1,/; s/window = 1 }/window = $2 }/" "$tmp/hello.lua" >"$tmp/other.lua"
	grep -q "conns = $1, .*window = $2 }" "$tmp/other.lua" || return 1
	of "(.messages == $1 * 1000) and (.measured_ns < 1e9) and .warnings == [] and ([.nodes[].drops | length] | add == 0) and
		([.nodes[] | .counters.unanswered // 0] | add == 0)" "$run" --virtual --json "$tmp/other.lua"
}
ok "and is as fast with conns = 2, window = 4" other_numbers 2 4
ok "and with conns = 16, window = 4" other_numbers 16 4
ok "and with conns = 64, window = 4" other_numbers 64 4

# ---- what was lost ------------------------------------------------------------------------------

cat >"$tmp/udp.lua" <<'LUA'
local a = args { queue = uint { 3 } }
local function host(addr)
  return stack { ip { addr = addr }, arp { queue = a.queue }, eth {}, eth_mem { wire = "w" } }
end
stack { echo {}, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 8, count = 100, window = 2 },
  udp { name = "client", over = host "10.0.0.1/24" },
}
return graph "t" { threading = vppc { vps = 2 }, seed = 3 }
LUA
cat >"$tmp/tcp.lua" <<'LUA'
local a = args { queue = uint { 3 } }
local function host(addr)
  return stack { ip { addr = addr }, arp { queue = a.queue }, eth {}, eth_mem { wire = "w" } }
end
stack { tcpecho {}, tcp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 4, count = 10 }, tcp { name = "client", over = host "10.0.0.1/24" },
}
return graph "t" { threading = up {}, seed = 3 }
LUA
ok "what waited for a timeout after drops is said" \
	says '^warning: 10 messages of load waited for a timeout after drops at arp2 (queue_full)$' "$run" --virtual "$tmp/udp.lua"
ok "and in JSON" of '.warnings | length == 1 and (.[0] | test("^10 messages of load .* arp2 .queue_full."))' "$run" --virtual --json "$tmp/udp.lua"
ok "what a warm-up lost is said" says '^before measuring: arp2 queue_full 10$' "$run" --virtual --warmup 1ms -d 2s "$tmp/udp.lua"
ok "and in JSON" of '[.nodes[] | select(.name == "arp2") | .drops_before.queue_full == 10 and .drops == {}] == [true]' \
	"$run" --virtual --json --warmup 1ms -d 2s "$tmp/udp.lua"
ok "a SYN that starting lost is counted" says '^arp2 .* 1  queue_full 1$' "$run" --virtual "$tmp/tcp.lua"
ok "and what waited for it is said" says '^warning: .* of client waited for a timeout after drops at arp2 (queue_full)$' "$run" --virtual "$tmp/tcp.lua"
ok "with room for them there is neither" of '.warnings == [] and ([.nodes[].drops | length] | add == 0)' "$run" --virtual --json "$tmp/tcp.lua" queue=128
ok "without a warm-up what starting sent is counted" of '[.nodes[] | select(.name == "arp2") | .counters.requests_out, .sessions_made] == [1, 1]' \
	"$run" --virtual --json "$tmp/tcp.lua"
ok "reasons of drops have names in the log" says '^arp2 .*drop [0-9]* bytes: queue_full$' "$run" --virtual --log arp:5 "$tmp/tcp.lua"

# ---- connections and rates ---------------------------------------------------------------------

# connections NODE N ARG...: that many, in the table and in JSON.
connections() {
	node=$1 n=$2
	shift 2
	says "^$node .*connections $n\(,.*\)\{0,1\}\$" "$run" --virtual "$@" &&
		of "[.nodes[] | select(.name == \"$node\") | .connections] == [$n]" "$run" --virtual --json "$@"
}
ok "echo counts peers" connections echo 16 "$graphs/udp-echo.lua" count=10
ok "tcpecho counts connections" connections tcpecho 9 "$graphs/tcp-echo.lua" count=10 conns=9
ok "echo_blocking counts connections" connections echo_blocking 9 "$graphs/tcp-echo.lua" count=10 conns=9 service=echo_blocking
ok "discard counts connections" connections discard 9 "$graphs/tcp-echo.lua" count=10 conns=9 service=discard
ok "chargen counts connections" connections chargen 9 "$graphs/tcp-echo.lua" count=10 conns=9 service=chargen
ok "sink counts connections" connections sink 9 "$graphs/tcp-bulk.lua" count=10 conns=9
ok "sink counts sources" connections sink 7 "$graphs/bench/udp-both.lua" count=10 conns=7
ok "who has none says 0" connections chargen 0 "$graphs/tcp-echo.lua" count=10
ok "where messages are not counted by connection, none has a number" of \
	'[.connections[] | select(.node == "echo") | .connection == null] | length > 0 and all' \
	"$run" --virtual --json --connections "$graphs/udp-echo.lua" count=10
ok "every application is in the summary" says '^echo 160 messages: [0-9]* messages/s, [0-9.]* [kMG]bit/s$' "$run" --virtual "$graphs/udp-echo.lua" count=10
ok "and bulk has its bits" says '^sink 4000 messages in 0.020 s of virtual time: 200000 messages/s, 26.2 Gbit/s, ' "$run" --virtual "$graphs/tcp-bulk.lua"
cat >"$tmp/ping.lua" <<'LUA'
local function host(addr)
  return icmp { over = stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "w" } } }
end
host "10.0.0.2/24"
ping { to = "10.0.0.2", count = 5, interval = "1ms", timeout = "1h", over = host "10.0.0.1/24" }
return graph "ping" { threading = up {} }
LUA
ok "a ping over a cable in memory takes time" \
	says '^ping .*sent 5, received 5, rtt_min [0-9.]* [nm]\{0,1\}u\{0,1\}s, rtt_avg [0-9.]* [num]*s, rtt_max [0-9.]* [num]*s$' "$run" "$tmp/ping.lua"

# ---- while it runs ---------------------------------------------------------------------------------

cat >"$tmp/endless.lua" <<'LUA'
stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "endless" { threading = up {} }
LUA
# until_there TEXT FILE PID: the process has written it.
until_there() {
	until grep -q -e "$1" "$2"; do kill -0 "$3" || return 1; sleep 0.05; done
}
tells_so_far() {
	: >"$tmp/err"
	env LC_ALL=C "$run" --stats 50ms "$@" "$tmp/endless.lua" >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	until_there 'messages/s' "$tmp/err" $pid || return 1
	for n in 1 2 3; do
		kill -USR1 $pid
		until [ "$(grep -c '^load .* messages in .*; so far$' "$tmp/err")" -eq $n ]; do kill -0 $pid || return 1; sleep 0.05; done
	done
	kill -TERM $pid
	wait $pid
	got=$?
	cat "$tmp/err" "$tmp/out"
	[ $got -eq 0 ] && grep -q '; stopped$' "$tmp/out" && ! grep -q 'so far' "$tmp/out"
}
ok "SIGUSR1 prints the table so far and the run goes on" tells_so_far
ok "in virtual time, too" tells_so_far --virtual

# A line on a terminal, written over; gone when the table comes.
esc=$(printf '\033')
cr=$(printf '\r')
live() {
	TERM=xterm python3 "$top_srcdir/tests/tools/on_terminal.py" messages/s "$run" "$@" "$tmp/endless.lua" >"$tmp/tty"
	got=$?
	cat -v "$tmp/tty"
	[ $got -eq 0 ] && grep -q "^$cr[0-9]* s  [0-9]* messages/s\(, [0-9.]* [kMG]bit/s\)\{0,1\}$esc\[K" "$tmp/tty" && grep -q "$cr$esc\[Knode " "$tmp/tty"
}
sed 's/to = "10.0.0.2"/&, rate = 10/' "$tmp/endless.lua" >"$tmp/slow.lua"
silent() { "$run" --virtual -d 3s "$tmp/slow.lua" >"$tmp/out" 2>"$tmp/err" && ! [ -s "$tmp/err" ] && ! grep -q "$esc" "$tmp/out"; }
dumb() {
	TERM=dumb python3 "$top_srcdir/tests/tools/on_terminal.py" nothing "$run" --virtual -d 3s "$tmp/slow.lua" >"$tmp/tty" || return 1
	grep -q '^load [0-9]* messages' "$tmp/tty" && ! grep -q "$esc" "$tmp/tty"
}
if python3 -c 'import pty' 2>/dev/null; then
	ok "a terminal shows how it goes" live
	ok "in virtual time, too" live --virtual
	ok "one that cannot write over does not" dumb
else
	skip "a terminal shows how it goes" "python3 is not installed"
fi
ok "a file gets no line that is written over" silent

# ---- processors ---------------------------------------------------------------------------------------

# In a PID namespace: programs of others are not there to be met.  The second program of two with one
# pinned worker gets another processor; one that must share it says so, in the log and at the end.
cat >"$tmp/pinned" <<'END'
run=$1 tmp=$2
allowed() { awk '/^Cpus_allowed_list/ { print $2 }' /proc/$1/task/*/status | sort -u | grep -v -e - -e ,; }
begins() {
	out=$1
	shift
	: >"$tmp/$out.err"
	"$run" --stats 50ms "$@" "$tmp/endless.lua" >"$tmp/$out" 2>"$tmp/$out.err" &
	until grep -q 'messages/s' "$tmp/$out.err"; do kill -0 $! || exit 1; sleep 0.05; done
}
begins one
one=$!
begins two
two=$!
first=$(allowed $one) second=$(allowed $two)
echo "first $first second $second"
cat "$tmp/two.err"
[ -n "$first" ] && [ -n "$second" ] && [ "$first" != "$second" ] || exit 1
grep -q 'pinned to' "$tmp/two.err" && exit 1
begins three --cpus "$first"
three=$!
kill -TERM $three
wait $three
cat "$tmp/three.err" "$tmp/three"
grep -q "warning: workers are pinned to processors that those of process $one are pinned to" "$tmp/three.err" || exit 1
grep -q "^warning: workers of process $one are pinned to processor $first, too" "$tmp/three" || exit 1
kill -TERM $one $two
wait $one && wait $two
END
if [ "$(nproc)" -lt 2 ]; then
	skip "two pinned programs get a processor each" "there is one processor"
elif ! unshare -p -f --mount-proc true 2>/dev/null; then
	skip "two pinned programs get a processor each" "needs root and unshare"
else
	ok "two pinned programs get a processor each" unshare -p -f --mount-proc --kill-child sh "$tmp/pinned" "$run" "$tmp"
fi
done_testing
