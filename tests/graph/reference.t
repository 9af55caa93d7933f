#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# reference.t - a build without fast paths is the reference of one with them.
#
# usage: XK_REFERENCE=VP-RUN reference.t
# VP-RUN is of the other build (configure --disable-fastpath makes the one without).  Both run the
# same graphs under the simulated clock with the same seeds.  UDP and all below it must agree in
# each counter, and each frame where frames are watched, whether they come in batches or singly.  So
# must TCP, in its segments too, where they come singly.  It answers a batch with one
# acknowledgement: there its users must see the same, messages, bytes and end of each connection.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
ours=$top_builddir/vp-run
other=${XK_REFERENCE:-}
[ -n "$other" ] || skip_all "XK_REFERENCE names no vp-run of another build"
python3 -c 'import json' 2>/dev/null || skip_all "python3 is not installed"
unset VP_GRAPH_PATH VP_CONTROL

# Two hosts, and the link between them as bad as is asked for.
cat >"$tmp/hosts.lua" <<'LUA'
local framing, driver = { eth = eth, fddi = fddi }, { eth = eth_mem, fddi = fddi_mem }
return function(link, wire)
  local function host(n, more)
    local d = driver[link] { wire = "cable", queue = 65536, mac = "02:00:00:00:00:0" .. n }
    if more then d = impair(more(d)) end
    return stack { ip { addr = "10.0.0." .. n .. "/24" }, arp {}, framing[link] { over = d } }
  end
  local faults = {
    damaged = function(d) return { corrupt = 0.1, over = d } end,
    bad = function(d)
      return { loss = 0.01, dup = 0.01, corrupt = 0.05, reorder = 0.05, delay = "1ms", over = d }
    end,
  }
  return host(1, faults[wire]), host(2)
end
LUA
cat >"$tmp/udp.lua" <<'LUA'
local a = args {
  link = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
  size = size { 64, max = 65507, doc = "payload bytes" },
  wire = enum { "good", choices = { "good", "damaged", "bad" },
                doc = "damaged: frames have a wrong bit; bad: they are lost, double and late, too" },
  burst = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
}
local asks, answers = include "hosts.lua" (a.link, a.wire)
local server, client = udp { name = "server", over = answers }, udp { name = "client", over = asks }
echo { port = 7, over = server }
echo { port = 8, over = hop { look = true, over = server } }
sink { port = 9, over = server }
load { to = "10.0.0.2", port = 7, conns = 5, count = 300, size = a.size, window = 8,
         timeout = "10ms", over = client }
load { to = "10.0.0.2", port = 8, conns = 3, count = 300, size = 100, window = 4,
         timeout = "10ms", over = hop { over = client } }
load { to = "10.0.0.2", port = 9, conns = 2, count = 500, size = a.size, over = client }
return graph "udp" { threading = vppc { vps = 2, burst = a.burst } }
LUA
cat >"$tmp/tcp.lua" <<'LUA'
local a = args {
  link = enum { "eth", choices = { "eth", "fddi" }, doc = "what the cable carries" },
  size = size { 4096, max = "1MiB", doc = "bytes of a message" },
  conns = uint { 8, min = 1, doc = "connections" },
  count = uint { 100, min = 1, doc = "messages of each" },
  wire = enum { "good", choices = { "good", "damaged", "bad" },
                doc = "damaged: frames have a wrong bit; bad: they are lost, double and late, too" },
  burst = uint { 32, min = 1, max = 1024, doc = "messages in a unit of work" },
  profile = enum { "modern", choices = { "modern", "linux", "freebsd", "reno43", "lite44" },
                   doc = "of both ends" },
  post = size { 0, doc = "bytes that each receiver posts for the driver to place payload in" },
}
local asks, answers = include "hosts.lua" (a.link, a.wire)
sink { port = 9, size = a.size, touch = "verify", post = a.post, count = a.conns * a.count,
          over = tcp { name = "server", profile = a.profile, over = answers } }
load { to = "10.0.0.2", port = 9, conns = a.conns, size = a.size, count = a.count,
          over = tcp { name = "client", profile = a.profile, over = asks } }
return graph "tcp" { threading = vppc { vps = 2, burst = a.burst } }
LUA

# both FILE ARGUMENT...: in both builds, $watch captured, into $tmp/{ours,other}.{json,pcap}.
both() {
	for build in ours other; do
		eval "run=\$$build"
		rm -f "$tmp/$build.pcap"
		# shellcheck disable=SC2086
		"$run" --virtual --connections --json ${watch:+--capture="$watch=$tmp/$build.pcap"} "$@" \
			>"$tmp/$build.json" 2>"$tmp/$build.err" && continue
		echo "$run: exit code $?"
		cat "$tmp/$build.err"
		return 1
	done
}

# counters all|users: are the same, but for those of fast paths; users: those of applications.
counters() {
	python3 - "$tmp/ours.json" "$tmp/other.json" "$1" <<'PY'
import json, sys
but = {"wall_ns", "resident_bytes", "record", "predicted", "not_predicted"}
faults = []
def compare(a, b, at):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in sorted((set(a) | set(b)) - but):
            compare(a.get(k), b.get(k), at + "." + k)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            name = x.get("name", i) if isinstance(x, dict) else i
            compare(x, y, "%s[%s]" % (at, name))
    elif a != b:
        faults.append("%s: %s, the other build %s" % (at, a, b))
# Which bytes a driver could place is no matter of theirs.
def users(run):
    placing = ("placed", "deposited", "post_", "not_posted")
    nodes = {n["name"]: {k: v for k, v in n["counters"].items() if not k.startswith(placing)}
             for n in run["nodes"] if "connections" in n}
    each = sorted((c["node"], c["messages"], c["bytes"]) for c in run["connections"])
    return {"end": run["end"], "messages": run["messages"], "nodes": nodes, "each": each}
runs = [json.load(open(f)) for f in sys.argv[1:3]]
if sys.argv[3] == "users":
    runs = [users(r) for r in runs]
compare(runs[0], runs[1], "")
if not runs[0]["messages"] or not runs[0]["nodes"]:
    faults.append("no messages")
print("\n".join(faults))
sys.exit(bool(faults))
PY
}

# watched NODE FILE ARGUMENT...: each frame and counter.
watched() {
	watch=$1
	shift
	both "$@" && [ -s "$tmp/ours.pcap" ] && cmp "$tmp/ours.pcap" "$tmp/other.pcap" && counters all
}

# alike all|users FILE ARGUMENT...: nobody watches.
alike() {
	what=$1
	watch=
	shift
	both "$@" && counters "$what"
}

udp=$tmp/udp.lua tcp=$tmp/tcp.lua
for link in eth fddi; do
	case $link in eth) full=1448 ;; fddi) full=4300 ;; esac
	for size in 1 64 120 121 1200 6000; do
		ok "$link, UDP of $size bytes" alike all "$udp" link=$link size=$size
	done
	ok "$link, UDP one by one" alike all "$udp" link=$link burst=1
	ok "$link, UDP of damaged frames" alike all "$udp" link=$link wire=damaged
	ok "$link, UDP over a bad link" alike all "$udp" link=$link wire=bad
	ok "$link, each frame of UDP over a bad link" watched ip "$udp" link=$link wire=bad
	ok "$link, each segment of TCP" watched ip "$tcp" burst=1 link=$link
	ok "$link, each full segment of TCP" watched ip "$tcp" burst=1 link=$link size=$full
	ok "$link, TCP in full segments" alike users "$tcp" link=$link size=$full
	ok "$link, TCP one by one" alike all "$tcp" link=$link burst=1
	ok "$link, each segment of TCP over a bad link" watched ip "$tcp" burst=1 link=$link wire=bad
	ok "$link, TCP of damaged frames" alike users "$tcp" link=$link wire=damaged size=700
	ok "$link, TCP over a bad link" alike users "$tcp" link=$link wire=bad
done
for profile in linux freebsd reno43 lite44; do
	ok "$profile, each segment" watched ip "$tcp" burst=1 profile=$profile size=700
	ok "$profile, each segment over a bad link" watched ip "$tcp" burst=1 profile=$profile wire=bad conns=4
	ok "$profile" alike users "$tcp" profile=$profile count=1000
	ok "$profile, over a bad link" alike users "$tcp" profile=$profile wire=bad size=700
done
ok "a TCP echo" alike users "$top_srcdir/graphs/tcp-echo.lua"
ok "bytes that are placed" alike users "$tcp" post=256KiB count=1000
done_testing
