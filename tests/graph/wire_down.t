#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# wire_down.t - cables in memory that are down for a time, or removed: connections go on, byte for byte and each run
# like the other; without a device left the run ends with the code that a device of the kernel would end it with.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
unset VP_GRAPH_PATH

cat >"$tmp/w.lua" <<'END'
local presets = { vppc = function() return vppc { vps = 2 } end, ppc = function() return ppc {} end,
  locking = function() return locking { vps = 2 } end, tpc = function() return tpc { vps = 4 } end }
local a = args { a = text { "" }, b = text { "" }, preset = text { "vppc" } }
local function host(addr, down)
  local wire = { wire = "cable" }
  if down == "twice" then wire.down = { "150ms-160ms", "20ms-120ms" } elseif down ~= "" then wire.down = { down } end
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem(wire) }
end
tcpecho { port = 7, over = tcp { over = host("10.0.0.2/24", a.b) } }
stack { load { to = "10.0.0.2", port = 7, conns = 4, count = 200, rate = 1000, size = "3KiB" }, tcp {}, host("10.0.0.1/24", a.a) }
return graph "w" { threading = presets[a.preset]() }
END
cat >"$tmp/peer.lua" <<'END'
stack { sink { port = 9 }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { down = { "1s-" } },
  peer_source { to = "10.0.0.1", conns = 4 } }
return graph "peer" { threading = up {} }
END
w() { "$run" --json --virtual "$tmp/w.lua" "$@" >"$tmp/run.json" 2>"$tmp/run.err"; }
counted() { jq -e "$1" "$tmp/run.json"; }
whole() { w "$@" && counted '[.nodes[] | select(.name == "load")][0].counters | .messages == 800 and .received_bytes == 800 * 3072'; }
# sum WHAT: over both ends of the cable
sum() { echo "([.nodes[] | select(.protocol == \"eth_mem\") | .$1 // 0] | add)"; }
ends() {
	want=$1
	shift
	w "$@"
	got=$?
	echo "exit code $got"
	cat "$tmp/run.err"
	[ "$got" -eq "$want" ]
}
refused() {
	text=$1
	shift
	code 3 "$run" --virtual -d 1ms "$@" >"$tmp/out" 2>&1
	rc=$?
	cat "$tmp/out"
	[ $rc -eq 0 ] && grep -q -e "$text" "$tmp/out"
}

ok "never down: all is echoed" whole
ok "and nothing is dropped" counted "$(sum drops.interface_down) == 0"
for preset in vppc ppc tpc locking; do
	ok "$preset: down at one end, all is echoed" whole preset=$preset a=20ms-120ms
	ok "$preset: what was sent meanwhile is counted, and that it went down" \
		counted "$(sum drops.interface_down) > 0 and $(sum counters.went_down) == 1"
done
ok "down twice at the other end, said in any order" whole b=twice
ok "twice is counted" counted "$(sum drops.interface_down) > 0 and $(sum counters.went_down) == 2"
ok "and at the end that could not send" counted '[.nodes[] | select(.name == "eth_mem2")][0].drops.interface_down > 0'
result() { jq -S 'del(.wall_ns, .workers, .resident_bytes, .record, .warnings, .locks, .busiest)' "$tmp/run.json"; }
twice_alike() {
	whole a=20ms-120ms b=150ms-160ms && result >"$tmp/first" && whole a=20ms-120ms b=150ms-160ms && result | diff "$tmp/first" -
}
ok "each run like the other" twice_alike

ok "removed at both ends: the run ends by itself, with code 6" ends 6 a=50ms- b=60ms-
ok "with a sentence for each" [ "$(grep -c ': its cable is gone' "$tmp/run.err")" -eq 2 ]
ok "at the time of the second" counted '.end == "every device is gone" and .measured_ns >= 60e6 and .measured_ns <= 70e6'
ok "what was sent then is counted" counted "$(sum drops.device_gone) > 0"
ok "removed at one end: code 1, after the time" ends 1 -d 300ms a=50ms-
ok "the other one is there" [ "$(grep -c ': its cable is gone' "$tmp/run.err")" -eq 1 ]

for bad in 5ms 5-6 6ms-5ms 5ms-5ms -5ms 5ms-6ms-7ms x-y; do
	ok "no time: $bad" refused "down: \"$bad\" is none" "$tmp/w.lua" "a=$bad"
done
sed 's/"150ms-160ms", "20ms-120ms"/"20ms-", "150ms-160ms"/' "$tmp/w.lua" >"$tmp/meet.lua"
ok "times that meet" refused "down: two of the times meet" "$tmp/meet.lua" a=twice
ok "a peer has no cable" refused 'is of a cable to another driver, but peer_source' "$tmp/peer.lua"

# A file that is played again and again is a device, too.
"$run" --virtual --capture "eth=$tmp/in.pcap" -d 50ms "$tmp/w.lua" >"$tmp/out" 2>&1
cat >"$tmp/play.lua" <<'END'
stack { udp {}, ip { addr = "10.0.0.2/24" }, arp {}, eth {},
  pcap { file = args { file = text { "" } }.file, loop = 0, rate = "fast" } }
return graph "play" { threading = up {} }
END
played() {
	"$run" --json -d 60s "$tmp/play.lua" "file=$tmp/in.pcap" >"$tmp/run.json" 2>"$tmp/run.err" &
	play_pid=$!
	until_ok 20 plays
	rm "$tmp/in.pcap"
	wait $play_pid
	got=$?
	echo "exit code $got"
	cat "$tmp/run.err"
	[ $got -eq 6 ] && grep -q 'pcap: its file is gone' "$tmp/run.err"
}
# It has its workers, which come after the check and the start.
plays() { [ "$(find "/proc/$play_pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -gt 1 ]; }
ok "a file that is gone between two passes: code 6" played
ok "counted" counted '[.nodes[] | select(.name == "pcap")][0].counters | .file_errors == 1 and .passes > 0'
done_testing
