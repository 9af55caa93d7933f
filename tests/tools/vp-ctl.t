#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# vp-ctl.t - a running graph answers: what is there, what it counts, under every threading
# architecture and both clocks; and whoever asks nonsense is told so.
# Nothing here waits for a time: graphs run until they are stopped.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
ctl=$top_builddir/vp-ctl
unset VP_GRAPH_PATH VP_CONTROL
XDG_RUNTIME_DIR=$tmp/run
export XDG_RUNTIME_DIR
mkdir -m 700 "$tmp/run" || exit 1
sock=$tmp/s
python3 -c 'import json' 2>/dev/null || skip_all "python3 is not installed"

graph=
trap 'stop; rm -rf "$tmp"' EXIT

# start ARG...: a graph that runs until it is stopped, at $sock.
start() {
	stop >/dev/null                  # of a test that failed
	"$run" --control="$sock" "$@" >"$tmp/out" 2>"$tmp/err" &
	graph=$!
	"$ctl" -s "$sock" --wait 60s show runtime >/dev/null || { cat "$tmp/err"; return 1; }
}

# stop: it ends as it should, with nothing leaked.
stop() {
	[ -n "$graph" ] || return 0
	kill "$graph" 2>/dev/null
	wait "$graph"
	code=$?
	graph=
	[ $code -eq 0 ] || { echo "exit code $code"; cat "$tmp/err"; return 1; }
}

# soon COMMAND...: what comes with the first messages may not be there at the first asking.
soon() {
	for try in $(seq 3000); do "$@" >/dev/null 2>&1 && break; done
	"$@"
}

# refused TEXT COMMAND...: exit code 1 or 2, and says TEXT.
refused() {
	text=$1
	shift
	"$@" >"$tmp/says" 2>&1
	got=$?
	cat "$tmp/says"
	echo "exit code $got"
	[ $got -eq 1 ] || [ $got -eq 2 ] && grep -q -e "$text" "$tmp/says"
}

c() { "$ctl" -s "$sock" --timeout 120s "$@"; }

served() {
	c show sessions >"$tmp/sessions" && grep -q '^server .* echo .*10\.0\.0\.1:' "$tmp/sessions" || { cat "$tmp/sessions"; return 1; }
}

# The client's round trips as a histogram.
timed() { c metrics >"$tmp/m" && grep -q '^xkvp_node_rtt_seconds_count{node="load",protocol="load"} [1-9]' "$tmp/m"; }

# Everything that each architecture must answer.
answers() {
	start "$@" || return 1
	c show graph >"$tmp/graph" && grep -q '^load  *load  *client' "$tmp/graph" || { cat "$tmp/graph"; return 1; }
	c show runtime && c show vps && c show locks && c show classifiers && c show connections >/dev/null || return 1
	soon served || return 1
	c metrics >"$tmp/m1" && c metrics >"$tmp/m2" && c metrics --per-vp >"$tmp/m3" || return 1
	python3 "$top_srcdir/tests/tools/prom_check.py" "$tmp/m2" "$tmp/m1" &&
	python3 "$top_srcdir/tests/tools/prom_check.py" "$tmp/m3" || return 1
	grep -q '^xkvp_node_push_total{node="client",protocol="udp"} [1-9]' "$tmp/m2" || { cat "$tmp/m2"; return 1; }
	soon timed || { cat "$tmp/m"; return 1; }
	c -d 1ms dot >"$tmp/dot" && grep -q '^	"eth_mem2*" -> "eth_mem2*" .*label="' "$tmp/dot" && grep -q '^	"load" -> "client" ' "$tmp/dot" &&
		drawn "$tmp/dot" || { cat "$tmp/dot"; return 1; }
	c snapshot --per-vp >"$tmp/snap" && valid "$tmp/snap" || return 1
	c trace eth_mem 3 >"$tmp/trace" && grep -q '^1 .* eth_mem .*| eth .*| ip .*| udp ' "$tmp/trace" || { cat "$tmp/trace"; return 1; }
	c top -n 1 -d 1ms >"$tmp/top" && grep -q '^client .*udp' "$tmp/top" && c top -n 1 -d 1ms connections >/dev/null || return 1
	stop
}

# What dot draws is a drawing.
drawn() { ! command -v dot >/dev/null || dot -Tsvg "$1" >"$tmp/svg"; }

valid() {
	python3 -c 'import jsonschema' 2>/dev/null || return 0
	python3 -c 'import json,sys,jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$1" \
		"$top_srcdir/docs/schema/vp-ctl-snapshot-2.json"
}

for preset in $(presets); do
	ok "$preset answers" answers "$top_srcdir/graphs/udp-presets.lua" preset=$preset conns=8 count=0
done

# A row and a family of counters for each layer's stage.
handed() {
	c metrics >"$tmp/m" && grep -q '^xkvp_stage_forwarded_total{vp="0",layer="2"} [1-9]' "$tmp/m" &&
		grep -q '^# TYPE xkvp_stage_longest_queue gauge' "$tmp/m" || { grep stage "$tmp/m"; return 1; }
}
stages() {
	start "$top_srcdir/graphs/udp-presets.lua" preset=lp conns=8 count=0 || return 1
	c show vps >"$tmp/vps" && [ "$(grep -c '^ *0 ' "$tmp/vps")" = 4 ] && grep -q '^vp .*layer .*forwarded .*backpressure .*sleeps .*longest_queue' "$tmp/vps" ||
		{ cat "$tmp/vps"; return 1; }
	soon handed || return 1
	c top -n 1 -d 1ms vps >"$tmp/top" && [ "$(grep -c '^ *0 *[0-3] ' "$tmp/top")" = 4 ] && grep -q 'forwarded/s .*backpressure/s .*longest' "$tmp/top" ||
		{ cat "$tmp/top"; return 1; }
	c snapshot >"$tmp/snap" && valid "$tmp/snap" && grep -q '"longest_queue"' "$tmp/snap" || return 1
	stop
}
ok "lp: stages are told of one by one" stages
# Locks of each layer that tells sessions apart, and of no other.
each_has_been_taken() {
	c show locks >"$tmp/locks" || return 1
	for node in ip eth; do
		for class in map session; do
			grep -qE "^$class +$node +0 +mutex +[1-9]" "$tmp/locks" || { cat "$tmp/locks"; return 1; }
		done
	done
}
layer_locks() {
	start "$top_srcdir/graphs/udp-presets.lua" preset=locking conns=8 count=0 || return 1
	soon each_has_been_taken || return 1
	! grep -qE '^(map|session) +(arp|echo|load)' "$tmp/locks" && grep -qE '^table +- +0 +mutex' "$tmp/locks" || { cat "$tmp/locks"; return 1; }
	stop
}
ok "locking: each layer's map and sessions have their locks" layer_locks
ok "a graph in virtual time answers between its rounds" answers --virtual "$top_srcdir/graphs/udp-presets.lua" conns=8 count=0

cat >"$tmp/many.lua" <<'LUA'
stack { load { to = "10.0.0.2", conns = 300, rate = 10 }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return graph "many" { threading = vppc { vps = 2, workers = 1 } }
LUA

# All pages together: every session once.
pages() {
	python3 - "$sock" <<'PY'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f = s.makefile("rwb")
def ask(**q):
    f.write(json.dumps(q).encode() + b"\n")
    f.flush()
    a = json.loads(f.readline())
    assert a["ok"], a
    return a["result"]
for what, limit in ("sessions", 7), ("connections", 9):
    seen, q = [], dict(cmd="show", what=what, node="udp" if what == "sessions" else "load", limit=limit)
    while True:
        r = ask(**q)
        assert len(r["rows"]) <= limit
        seen += [(x.get("key"), x["vp"], x.get("connection")) for x in r["rows"]]
        if "cursor" not in r:
            break
        q["cursor"] = r["cursor"]
    assert len(seen) == 300 and len(set(seen)) == 300, (what, len(seen), len(set(seen)))
PY
}

socket_is_private() { [ "$(stat -c %a "$sock")" = 600 ]; }
takes_over() {
	kill -9 "$graph"
	wait "$graph" 2>/dev/null
	graph=
	[ -S "$sock" ] && start "$tmp/many.lua"
}
gone() { stop && [ ! -e "$sock" ] && [ ! -e "$sock.lock" ]; }

# What passes: by layers, with headers; and nothing stays behind in the graph.
# Twenty messages in a row may all go one way: both are seen some time, long before a thousand rounds.
follows() {
	: >"$tmp/trace"
	rounds=0
	until grep -q '^[0-9]* .* ip up ' "$tmp/trace" && grep -q '^[0-9]* .* ip down ' "$tmp/trace"; do
		rounds=$((rounds + 1))
		[ $rounds -le 1000 ] || { echo "of $((rounds * 20)) messages none went the other way"; tail -n 50 "$tmp/trace"; return 1; }
		c trace ip 20 >"$tmp/one" && grep -q '^messages  *20$' "$tmp/one" || { cat "$tmp/one"; return 1; }
		cat "$tmp/one" >>"$tmp/trace"
	done
	tail -n 50 "$tmp/trace"
	grep -q '^[0-9]* .* server up .*| udp sport=' "$tmp/trace" && grep -q '^[0-9]* .* echo up ' "$tmp/trace" &&
	grep -q '^[0-9]* .* eth down .*| eth dst=' "$tmp/trace"
}
# What is followed is one message: its ports are the same at every step, and it goes down on its host, over the
# cable, and up on the other one.
cat >"$tmp/tcp.lua" <<'LUA'
local function host(addr)
  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "w" } }
end
stack { tcpecho {}, tcp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 8, count = 0, size = 100 }, tcp { name = "client", over = host "10.0.0.1/24" },
}
return graph "t" { threading = vppc { vps = 2 } }
LUA
one_message() {
	for node in client server ip2 client ip; do
		# What goes down at ip goes over the cable; how many are seen to hangs on how busy the machine is.
		over=0 tries=0
		while [ $over -eq 0 ]; do
			tries=$((tries + 1))
			[ $tries -le 50 ] && of_one_message "$node" || return 1
			over=$(cat "$tmp/over")
			case $node in ip*) ;; *) over=1 ;; esac
		done
	done
}
# of_one_message NODE: how many of 300 messages were seen on both sides of the cable goes to $tmp/over.
of_one_message() {
	"$ctl" -s "$sock" --timeout 120s --json trace "$1" 300 >"$tmp/trace.json" || return 1
	python3 - "$tmp/trace.json" "$1" >"$tmp/over" <<'PY' || { cat "$tmp/trace.json"; return 1; }
import json, sys
client, ways, steps = {"client", "ip2", "arp2", "eth2", "eth_mem2", "load"}, {}, 0
for line in open(sys.argv[1]):
    if not line.startswith('{"message"'):
        break
    s = json.loads(line)
    ends = {(h["sport"], h["dport"]) for h in s["headers"] if h["protocol"] == "tcp"}
    w = ways.setdefault(s["message"], {"ends": set(), "at": []})
    w["ends"] |= ends
    w["at"].append((s["node"] in client, s["way"]))
    assert len(w["ends"]) <= 1, "message %d is of %s" % (s["message"], w["ends"])
    steps += 1
crossed = 0
for n, w in ways.items():
    turns = [x for i, x in enumerate(w["at"]) if i == 0 or x != w["at"][i - 1]]
    over = len(turns) == 2 and turns[0][1] == "down" and turns[1] == (not turns[0][0], "up")
    assert over or len(turns) == 1, "message %d goes %s" % (n, w["at"])
    crossed += over
assert len(ways) == 300 and (steps > 300 or not sys.argv[2].startswith("ip")), (len(ways), steps)
print(crossed)
PY
}
# A message's way as a ladder: further to the right at each step down, over the cable, and back.
ladder() {
	rounds=0
	until grep -q '^ *=====$' "$tmp/ladder" 2>/dev/null; do
		rounds=$((rounds + 1))
		[ $rounds -le 1000 ] && c --ladder trace ip2 5 >"$tmp/ladder" || { cat "$tmp/ladder"; return 1; }
	done
	awk '/^message / { want = "down"; deep = -1 }
		/^ *=====$/ { want = "up"; crossed = 1; next }
		/ ns  vp/ {
			at = match($0, /[a-z_0-9]+ (up|down) /)
			if (crossed && $5 != "up") exit 1
			if ($5 == "down" && at <= deep) exit 1
			if ($5 == "up" && crossed && at > deep) exit 1
			deep = at
		}
		/^message / { crossed = 0 }
		END { exit NR == 0 }' "$tmp/ladder" || { cat "$tmp/ladder"; return 1; }
}
# The same as a page: well formed, a column for each node, an arrow from each step to the next, one of them over the cable.
page() {
	c --ladder=html trace ip2 5 >"$tmp/page.html" || return 1
	python3 - "$tmp/page.html" <<'PY'
import re, sys
import xml.etree.ElementTree as et
page = open(sys.argv[1]).read()
assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n"), page[-100:]
assert "<script" not in page and "://" not in page
svgs = re.findall(r"<svg.*?</svg>", page, re.S)
assert len(svgs) == 5 == page.count("<h2>Message "), len(svgs)
for svg in (et.fromstring(s) for s in svgs):
    of = lambda tag, kind: [e for e in svg.iter(tag) if e.get("class") == kind]
    nodes = [e.text for e in of("text", "node")]
    assert len(set(nodes)) == len(nodes) == len(of("path", "life")) and set(nodes) & {"ip2"}, nodes
    assert len(of("path", "way")) + len(of("path", "cable")) == len(of("circle", "step")) - 1 and len(of("path", "cable")) <= 1
sys.exit('class="cable" d' not in page)
PY
}
# Datagrams that all have the same bytes, through a layer over UDP, into fragments, over a link that keeps them, over
# the cable to another virtual processor, and joined again: all nodes of both hosts, in order.
cat >"$tmp/pieces.lua" <<'LUA'
local function host(addr)
  return stack { ip { addr = addr }, arp { queue = 1024 }, eth {}, impair { delay = "100us" }, eth_mem { wire = "w", queue = 65536 } }
end
stack { echo {}, udp { name = "server", over = host "10.0.0.2/24" } }
stack {
  load { to = "10.0.0.2", port = 7, conns = 8, count = 0, size = 4000, window = 2 }, hop {},
  udp { name = "client", over = host "10.0.0.1/24" },
}
local a = args { preset = enum { "vppc", choices = { "vppc", "lp", "locking" }, doc = "threading architecture" } }
return graph "t" { threading = ({ vppc = vppc, lp = lp, locking = locking })[a.preset] {} }
LUA
in_pieces() {
	start "$tmp/pieces.lua" "preset=$1" || return 1
	for tries in $(seq 50); do
		"$ctl" -s "$sock" --timeout 120s --json trace hop 20 >"$tmp/trace.json" && python3 - "$tmp/trace.json" >"$tmp/whole" <<'PY' || break
import json, sys
down = "hop client ip2 eth2 impair2 eth_mem2 eth_mem impair eth ip server echo".split()
ways = {}
for line in open(sys.argv[1]):
    if line.startswith('{"message"'):
        s = json.loads(line)
        ways.setdefault(s["message"], []).append(s)
whole = 0
for n, way in ways.items():
    nodes = [s["node"] for s in way]
    want = down if way[0]["way"] == "down" else ["hop", "load"]
    assert nodes == want[:len(nodes)], (n, nodes)
    if nodes == down:
        sizes = [s["bytes"] for s in way]
        assert sizes == [4000, 4008, 1500, 1514, 1514, 1514, 1514, 1514, 1514, 1500, 4008, 4000], sizes
        whole += 1
print(whole)
PY
		[ "$(cat "$tmp/whole")" = 0 ] || break
	done
	[ "$(cat "$tmp/whole")" -gt 0 ] || { cat "$tmp/trace.json"; return 1; }
	stop
}
captures() {
	(cd "$tmp" && c capture eth_mem cap.pcap 40) >"$tmp/says" && grep -q '^frames  *40$' "$tmp/says" && [ -s "$tmp/cap.pcap" ] &&
	(cd "$tmp" && c inject eth_mem cap.pcap) >"$tmp/says" && cat "$tmp/says" && grep -q '^frames  *40$' "$tmp/says"
}
sets() {
	c set load rate 77 && c get load rate >"$tmp/says" && grep -q '^load  *rate  *77 ' "$tmp/says" &&
	c show params load >"$tmp/says" && grep -q '^load  *rate  *77  *[a-z]*  *yes ' "$tmp/says" && grep -q '^load  *size  *[^ ]*  *[a-z]*  *no ' "$tmp/says" &&
	c show params >"$tmp/says" && grep -q '^ip  *addr  *"*10.0.0.1/8' "$tmp/says" && grep -q '^threading  *burst ' "$tmp/says" &&
	c set udp log 3 && c get udp log >"$tmp/says" && grep -q '^udp  *log  *3 ' "$tmp/says" &&
	c set threading quantum 9 && c get threading quantum >"$tmp/says" && grep -q '^threading  *quantum  *9 ' "$tmp/says"
}
# A connection that sent ten messages a second sends thousands, without a restart.
rate_is_live() {
	c set load rate 100000 && "$ctl" -s "$sock" --json snapshot >"$tmp/s1" || return 1
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		c top -n 1 -d 200ms >/dev/null && c snapshot >"$tmp/s2" || return 1
		python3 - "$tmp/s1" "$tmp/s2" <<'PY' && return 0
import json, sys
a, b = [{n["name"]: n for n in json.load(open(p))["nodes"]}["udp"]["push"] for p in sys.argv[1:]]
sys.exit(b - a < 100000)
PY
	done
	return 1
}
impaired() {
	c set impair loss 100% && c get impair loss && c set impair loss 0% && c set impair delay 1ms && c set impair delay 0s
}

ok "a graph with both ends begins" start "$top_srcdir/graphs/udp-presets.lua" conns=4 count=0
ok "a trace shows the way through the layers" follows
ok "a capture is written, and comes in again" captures
ok "an impaired link becomes another one" impaired
ok "a trace on top is refused" refused 'on top' c trace load
ok "a capture where there are no frames is refused" refused 'neither frames nor datagrams' c capture client "$tmp/x.pcap"
ok "a capture to a folder is refused" refused 'not a plain file' c capture eth_mem "$tmp"
ok "what is no capture file is not injected" refused 'cannot read' c inject eth_mem "$top_srcdir/README"
ok "nor a file that is not there" refused 'no file' c inject eth_mem "$tmp/none"
ok "nor at a protocol" refused "is not" c inject ip "$tmp/cap.pcap"
ok "it ends with nothing leaked" stop
ok "a graph of TCP connections begins" start "$tmp/tcp.lua"
ok "a trace never shows another message's steps" one_message
ok "a ladder goes down, over the cable, and up" ladder
ok "so does one on a page" until_ok 60 page
ok "another kind of page is refused" refused "drawn as html, not as 'pdf'" c --ladder=pdf trace ip2 5
ok "it ends with nothing leaked" stop
for preset in vppc lp locking; do
	ok "$preset: a message is followed in pieces, and whole again" in_pieces $preset
done
ok "a graph of many connections begins" start "$tmp/many.lua"
ok "pages of sessions and connections hold each exactly once" pages
ok "the socket is its owner's alone" socket_is_private
ok "a second graph is refused the same socket" refused 'belongs to a graph that runs' "$run" --control="$sock" "$tmp/many.lua"
ok "parameters change while it runs" sets
ok "a rate does, at once" rate_is_live
ok "a parameter that may not change is refused" refused 'does not change while' c set load size 4
ok "a value beyond its limits is refused" refused 'must be between' c set threading burst 4096
ok "an unknown parameter is refused with the nearest" refused "did you mean 'rate'" c set load rat 4
ok "a value that breaks a type is refused" refused "parameter 'spin'" c set threading spin 5
ok "abuse of the socket harms nobody" timeout 250 python3 "$top_srcdir/tests/tools/ctl_abuse.py" "$sock"
ok "it still answers" c show runtime
ok "an unknown command is refused with the nearest" refused "did you mean 'show'" c shwo
ok "an unknown node is refused with the nearest" refused "did you mean 'load'" c show sessions loda
ok "an unknown thing to show is refused" refused 'must be one of' c show nothing
ok "an unknown argument is refused with the nearest" refused "did you mean 'limit'" c raw '{"cmd":"show","what":"vps","limt":3}'
ok "a value out of range is refused" refused "'limit' " c show sessions udp 0
ok "a missing argument is refused" refused "needs 'what'" c show
ok "a foreign cursor is refused" refused 'cursor' c show sessions udp cursor=1.2
ok "what is no JSON is refused" code 2 c raw '{"cmd":'
ok "an argument too many is wrong usage" code 2 c show sessions udp 1 0.0.0 more
ok "the socket of a killed graph is taken over" takes_over
ok "it goes with its graph" gone
# ended ARG...: it is asked to, and does; who asks has an answer first.
ended() {
	start "$@" "$top_srcdir/graphs/udp-presets.lua" conns=8 count=0 || return
	c stop
	told=$?
	timeout 100 tail --pid="$graph" -f /dev/null || kill -KILL "$graph"
	wait "$graph"
	code=$?
	graph=
	cat "$tmp/out" "$tmp/err"
	[ $told -eq 0 ] && [ $code -eq 0 ] && grep -q '^ *load .* messages' "$tmp/out"
}
# What is shown is of the time since it was asked to begin anew; the counters have all.
sent() { c metrics | sed -n 's/^xkvp_node_push_total{node="client",protocol="udp"} //p'; }
has_sent() { [ "$(sent)" -gt "$1" ]; }
shown() { sed -n 's/^client  *[0-9]*  *[0-9]*  *\([0-9]*\) .*/\1/p' "$tmp/err"; }
measures() {
	start "$top_srcdir/graphs/udp-presets.lua" conns=8 count=0 || return 1
	soon has_sent 20000 || return 1
	c set load rate 1 && c reset || return 1
	kill -USR1 "$graph"
	until [ -n "$(shown)" ]; do kill -0 "$graph" || return 1; sleep 0.05; done
	echo "sent $(sent), shown $(shown)"
	[ "$(shown)" -lt 10000 ] && has_sent 20000 && stop
}
ok "measuring begins anew when that is asked for" measures
ok "a run that is asked to end does so in order" ended
ok "and in virtual time" ended --virtual
# A node that reads times in messages has a histogram of each kind, here on every virtual processor that took some.
waits() { c metrics --per-vp >"$tmp/m" && grep -q '^xkvp_node_delay_seconds_count{node="sink",protocol="sink",vp="[0-9]*"} [1-9]' "$tmp/m"; }
stamped() {
	start "$top_srcdir/graphs/arrivals.lua" || return 1
	soon waits && grep -q '^xkvp_node_exec_seconds_sum{' "$tmp/m" && python3 "$top_srcdir/tests/tools/prom_check.py" "$tmp/m" || { cat "$tmp/m"; return 1; }
	stop
}
ok "times of messages are histograms" stamped
# A scraper's view, over HTTP, until the graph ends.
exports() {
	start "$top_srcdir/graphs/udp-presets.lua" conns=8 count=0 || return 1
	c export 0 >"$tmp/url" 2>"$tmp/exporter" &
	exporter=$!
	until [ -s "$tmp/url" ]; do kill -0 $exporter || { cat "$tmp/exporter"; return 1; }; sleep 0.05; done
	url=$(cat "$tmp/url")
	curl -sf -D "$tmp/head" "$url" >"$tmp/h1" && curl -sf "$url" >"$tmp/h2" || return 1
	grep -qi '^content-type: text/plain; version=0.0.4' "$tmp/head" || { cat "$tmp/head"; return 1; }
	python3 "$top_srcdir/tests/tools/prom_check.py" "$tmp/h2" "$tmp/h1" || return 1
	[ "$(curl -s -o /dev/null -w '%{http_code}' "${url%metrics}none")" = 404 ] || return 1
	[ "$(curl -s -o /dev/null -w '%{http_code}' -d x=1 "$url")" = 405 ] || return 1
	port=${url%/metrics}
	refused 'Address already in use' c export "${port##*:}" || return 1
	ss -Hltn 2>/dev/null | grep ":${port##*:} " | grep -v '127\.0\.0\.1:' && return 1
	stop || return 1
	wait $exporter
	code=$?
	cat "$tmp/exporter"
	[ $code -eq 0 ] && grep -q 'the graph has ended' "$tmp/exporter"
}
scrapes=
start "$tmp/many.lua"
c export 0x >"$tmp/says" 2>&1
if grep -q 'not in this build' "$tmp/says"; then
	skip "metrics are served over HTTP" "built without libmicrohttpd"
elif ! command -v curl >/dev/null; then
	skip "metrics are served over HTTP" "curl is not installed"
else
	scrapes=yes
	ok "what is no port is refused" code 2 c export 0x
	ok "metrics are served over HTTP" exports
fi
stop
ok "nobody there is exit code 3" code 3 c show graph
ok "nobody anywhere, too" code 3 "$ctl" show graph
ok "a path too long is refused" refused 'bytes long' "$run" --control="$tmp/$(printf '%0200d' 0)" "$tmp/many.lua"
touch "$tmp/file"
ok "a file that is no socket is left alone" refused 'not a socket' "$run" --control="$tmp/file" "$tmp/many.lua"
ok "a folder that is not there is refused" code 1 "$run" --control="$tmp/no/such" "$tmp/many.lua"

# ---- another graph ------------------------------------------------------------------------

cat >"$tmp/apply.lua" <<'LUA'
local a = args {
  hop = uint { 0, doc = "turns of a layer over the client, 0: none" }, port = uint { 7, doc = "of the echo" },
  loss = text { "", doc = "of the client's link; without it none" }, more = bool { false, doc = "another application" },
  vps = uint { 4, doc = "virtual processors" }, tag = bool { false, doc = "a layer of a plug-in over the server" },
  wait = time { "1s", doc = "of the client for an answer" },
}
local function host(addr, link)
  local wire = eth_mem { wire = "cable", queue = 65536 }
  if link and a.loss ~= "" then wire = impair { loss = a.loss, over = wire } end
  return stack { ip { addr = addr }, arp { queue = 1024 }, eth { over = wire } }
end
local client = udp { name = "client", over = host("10.0.0.1/24", true) }
local server = udp { name = "server", over = host("10.0.0.2/24") }
echo { port = a.port, over = a.tag and tag { over = server } or server }
if a.more then sink { name = "more", port = 99, over = server } end
load { to = "10.0.0.2", port = 7, conns = 16, count = 0, window = 4, timeout = a.wait, over = a.hop > 0 and hop { burn = a.hop, over = client } or client }
return graph "apply" { threading = vppc { vps = a.vps } }
LUA

# apply ARGS [WORD...]: of the file with these arguments; its table in $tmp/told.
apply() {
	args=$1
	shift
	c apply "$tmp/apply.lua" args="$args" "$@" >"$tmp/told" 2>&1
	got=$?
	cat "$tmp/told"
	return $got
}
# has NODE OVER: what show graph says.
has() { c show graph >"$tmp/graph" && grep -q "^$1  *[^ ]*  *$2 " "$tmp/graph" || { cat "$tmp/graph"; return 1; }; }
hasnt() { c show graph >"$tmp/graph" && ! grep "^$1 " "$tmp/graph"; }
answers() { c snapshot >"$tmp/snap" && python3 -c '
import json, sys
print({n["name"]: n for n in json.load(open(sys.argv[1]))["nodes"]}["server"]["push"])' "$tmp/snap"; }
goes_on() { was=$(answers) && for try in $(seq 3000); do [ "$(answers)" -gt "$was" ] && return; done; return 1; }
dry_run() {
	apply hop=3 --dry-run && grep -q '^hop  *added .* hop$' "$tmp/told" && grep -q '^load  *over .*client  *hop$' "$tmp/told" &&
	hasnt hop && has load client
}
applies() {
	apply hop=3 && has hop client && has load hop && goes_on &&
	apply hop=5 && grep -q '^hop  *replaced  *burn  *3  *5$' "$tmp/told" && has hop client && goes_on &&
	apply loss=0.01 && grep -q '^hop  *removed' "$tmp/told" && hasnt hop && has load client && has eth impair && goes_on &&
	apply loss=0 && grep -q '^impair  *set  *loss  *0.01  *0$' "$tmp/told" && c get impair loss | grep -q '  0  ' && goes_on &&
	apply "" && grep -q '^impair  *removed' "$tmp/told" && has eth eth_mem && goes_on
}
application() {
	apply more=true && grep -q '^more  *added' "$tmp/told" && has more server && c show graph | grep -q '^server .* 2  *2 ' &&
	apply port=8 && grep -q '^echo  *replaced  *port  *7  *8$' "$tmp/told" && grep -q '^more  *removed' "$tmp/told" && hasnt more &&
	apply port=7 && goes_on
}
# pen FROM TO: how thick the edge is.
pen() { sed -n "s/^	\"$1\" -> \"$2\" \[penwidth=\([0-9]*\.[0-9]*\)\];/\1/p" "$tmp/dot"; }
# counts NODE: metrics has it, and it has pushed or popped.
counts() { c metrics >"$tmp/m" && grep -q "^xkvp_node_p[a-z]*_total{node=\"$1\",.*} [1-9]" "$tmp/m" || { grep "node=\"$1\"" "$tmp/m"; return 1; }; }
uncounted() { c metrics >"$tmp/m" && c snapshot >"$tmp/snap" && ! grep -q "\"$1\"" "$tmp/m" "$tmp/snap"; }
shown_by_top() { c top -n 1 -d 20ms nodes >"$tmp/top" && grep -q "^$1  *[^ ]*  *[1-9]" "$tmp/top" || { cat "$tmp/top"; return 1; }; }
in_snapshot() { c snapshot --per-vp >"$tmp/snap" && valid "$tmp/snap" && grep -q "\"name\": \"$1\"" "$tmp/snap"; }
# What came is counted by whoever looks, by a request, too; what went is not, and what has come in its place begins anew.
counted() {
	apply hop=3 && soon counts hop && soon shown_by_top hop && in_snapshot hop &&
	c --json raw '{"cmd": "metrics"}' >"$tmp/raw" && grep -q 'node=[^,]*hop' "$tmp/raw" &&
	apply hop=5 && soon counts hop && apply "more=true" && uncounted hop && in_snapshot more && apply "" && uncounted more &&
	! shown_by_top hop && soon counts client
}
# The last whole table of nodes of a top that goes on.
last_table() { awk '/^node /{ t = "" } { t = t $0 "\n" } /^$/{ whole = t } END { printf "%s", whole }' "$tmp/tops" >"$tmp/table" && [ -s "$tmp/table" ]; }
# seen_by PATTERN FILE: a line like it is written.
seen_by() { for try in $(seq 3000); do grep -q "$1" "$2" && return; sleep 0.01; done; cat "$2"; return 1; }
top_goes_on() {
	"$ctl" -s "$sock" -d 10ms top nodes >"$tmp/tops" 2>&1 &
	top=$!
	seen_by '^client .*udp' "$tmp/tops" && apply hop=3 && seen_by '^hop  *hop  *[1-9]' "$tmp/tops" && apply "" &&
	for try in $(seq 1200); do last_table && ! grep -q '^hop ' "$tmp/table" && break; sleep 0.05; done
	kill $top
	wait $top
	cat "$tmp/table"
	grep -q '^client .*udp  *[1-9]' "$tmp/table" && ! grep -q '^hop ' "$tmp/table"
}
# scraped PATTERN: what the scrape end says now has a line like it.
scraped() { curl -sf "$url" >"$tmp/scrape" && grep -q "$1" "$tmp/scrape"; }
scraped_without() { curl -sf "$url" >"$tmp/scrape" && ! grep -q "$1" "$tmp/scrape"; }
export_goes_on() {
	"$ctl" -s "$sock" export 0 >"$tmp/url" 2>&1 &
	exporter=$!
	seen_by '^http' "$tmp/url" && url=$(cat "$tmp/url") && scraped 'node="client"' && apply hop=3 &&
	soon scraped '^xkvp_node_push_total{node="hop",protocol="hop"} [1-9]' && apply "" && scraped_without 'node="hop"'
	res=$?
	kill $exporter
	wait $exporter
	return $res
}
# Of the echo that is there, not of the one that was replaced, whose name it has.
draws() {
	apply port=8 && apply port=7 && goes_on && c show graph | grep -q '^echo .* yes$' && c show graph | grep -q '^load .* no$' &&
	soon drawn_thick && grep -q '^	"echo" \[label="echo.ndown [0-9]' "$tmp/dot"
}
drawn_thick() { c -d 20ms dot >"$tmp/dot" && cat "$tmp/dot" && case $(pen echo server) in "" | 1.00) return 1 ;; esac; }
same() { apply "" && grep -qx nothing "$tmp/told"; }
wrong_file() {
	printf 'return graph "apply" {\n  threading = vppc {},\n  burts = 3 }\n' >"$tmp/wrong.lua"
	refused 'wrong.lua:3: .*burts' c apply "$tmp/wrong.lua" && grep -q '|  *^' "$tmp/says" && has load client
}
tag_plugin() {
	cat >"$tmp/tag.c" <<'C'
#include <xk/proto.h>
struct tag_conf { struct virt_conf virt; };
static const struct xk_ops ops = {
	.fini = virt_fini, .rep_init = virt_rep_init, .rep_stop = virt_rep_stop, .open = virt_open, .control = virt_control,
	.open_enable = virt_open_enable, .open_disable = virt_open_disable, .open_disable_all = virt_open_disable_all,
	.open_done = virt_open_done, .close_done = virt_close_done, .demux = virt_demux, .push = virt_push, .pop = virt_pop,
	.close = virt_close,
};
static const struct xk_param params[] = { VIRT_PARAMS };
static const char *const drops[] = { VIRT_DROPS, NULL }, *const counts[] = { VIRT_COUNTS, VERSION, NULL };
static const struct xk_proto tag = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "tag", .doc = VERSION, .ops = &ops,
	.offers = "port", .needs = { "port" }, .min_down = 1, .max_down = 1, .params = params, .conf_size = sizeof(struct tag_conf),
	.node_size = sizeof(struct virt_node), .rep_size = sizeof(struct virt_rep), .sess_size = sizeof(struct virt_sess),
	.drops = drops, .counts = counts, .demux = &virt_through, .anywhere = XK_ANYWHERE_AS_ABOVE,
};
#ifdef OTHER
static const struct xk_proto other = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "other", .doc = VERSION, .ops = &ops,
	.offers = "port", .needs = { "port" }, .min_down = 1, .max_down = 1, .params = params, .conf_size = sizeof(struct tag_conf),
	.node_size = sizeof(struct virt_node), .rep_size = sizeof(struct virt_rep), .sess_size = sizeof(struct virt_sess),
	.drops = drops, .counts = counts, .demux = &virt_through, .anywhere = XK_ANYWHERE_AS_ABOVE,
};
XK_PLUGIN(&other, &tag);
#else
XK_PLUGIN(&tag);
#endif
C
	for v in 1 2; do
		# shellcheck disable=SC2046
		${CC:-cc} -shared -fPIC -O1 $(PKG_CONFIG_PATH=$top_builddir pkg-config --cflags xkvp) -DVERSION="\"version_$v\"" $([ $v = 2 ] || echo -DOTHER) -o "$tmp/tag-$v.so" "$tmp/tag.c" || return 1
	done
}
newer_plugin() {
	apply tag=true plugin="$tmp/tag-1.so" && grep -q '^tag  *added' "$tmp/told" && has echo tag && goes_on &&
	apply tag=true && grep -qx nothing "$tmp/told" &&
	apply tag=true plugin="$tmp/tag-2.so" && grep -q '^tag  *replaced  *protocol  *tag  *tag$' "$tmp/told" && has echo tag && goes_on &&
	apply tag=true plugin="$tmp/tag-1.so" && grep -q '^tag  *replaced  *protocol  *tag  *tag$' "$tmp/told" && goes_on &&
	apply "" && grep -q '^tag  *removed' "$tmp/told" && hasnt tag && goes_on
}
# Under full load, XK_SWAPS of them, a plug-in's versions take each other's place, and an application comes or goes with
# each; nothing is lost, no message waits for its timeout, and after the first quarter the process grows no more.
: "${XK_SWAPS:=8}"
sanitized=$(grep -c -e -fsanitize "$top_builddir/config.status") # keeps what was freed for a while
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$graph/status"; }
swaps() {
	early=
	for swap in $(seq "$XK_SWAPS"); do
		more=$([ $((swap % 4 / 2)) = 0 ] || echo more=true)
		apply "tag=true wait=1h $more" plugin="$tmp/tag-$((swap % 2 + 1)).so" && grep -q '^tag  *[ar]' "$tmp/told" && goes_on || return
		[ "$swap" -ne $((XK_SWAPS / 4 + 1)) ] || early=$(resident)
	done
	late=$(resident)
	apply "wait=1h" && hasnt tag && goes_on && c metrics >"$tmp/m" && grep -q 'event="unanswered"' "$tmp/m" &&
	echo "$XK_SWAPS swaps; $early KiB then, $late now" &&
	! grep -E '^xkvp_node_(drops|events)_total\{.*(reason="|event="unanswered").*\} [1-9]' "$tmp/m" && { [ "$sanitized" -gt 0 ] || [ "$late" -le $((early + 4096)) ]; }
}
# Whatever is told beside it, a plug-in is not there afterwards.
dry_plugin() {
	apply tag=true plugin="$tmp/tag-1.so" --dry-run && grep -q '^tag  *added' "$tmp/told" &&
	refused "'tag'" apply tag=true && hasnt tag && same
}
refused_plugin() {
	apply tag=true && grep -q '^tag  *added' "$tmp/told" &&
	refused 'threading is' apply "tag=true vps=2" plugin="$tmp/tag-2.so" && apply tag=true && grep -qx nothing "$tmp/told" &&
	apply tag=true plugin="$tmp/tag-2.so" --dry-run && grep -q '^tag  *replaced' "$tmp/told" &&
	apply tag=true && grep -qx nothing "$tmp/told" && apply "" && goes_on
}

ok "a graph begins that will be another one" start "$tmp/apply.lua"
ok "the same file changes nothing" same
ok "a dry run tells the difference and makes none of it" dry_run
ok "layers come, are replaced and go, and messages pass" applies
ok "so do applications" application
ok "what came is drawn with its counters" draws
ok "what came is counted, and what went is not" counted
ok "top goes on through changes" top_goes_on
[ -z "$scrapes" ] || ok "so does the scrape end" export_goes_on
ok "other threading is refused at its place" refused 'apply.lua:[0-9]*: threading is .vppc. and 4' apply vps=2
ok "a wrong file is told as vp-run tells it" wrong_file
ok "a wrong argument, too" refused "argument 'hop'" apply hop=x
ok "a file that is not there, too" refused 'none.lua' c apply "$tmp/none.lua"
ok "--dry-run of anything else is refused" refused 'is for apply' c show graph --dry-run
ok "what was refused has changed nothing" same
if command -v pkg-config >/dev/null && tag_plugin >"$tmp/made" 2>&1; then
	ok "a dry run leaves no plug-in behind" dry_plugin
	ok "a newer version of a plug-in takes the old one's place, and an older one that one's" newer_plugin
	ok "nor does a refusal" refused_plugin
	ok "that graph ends with nothing leaked" stop
	ok "a graph begins whose plug-in is swapped" start "$tmp/apply.lua" wait=1h
	ok "$XK_SWAPS swaps of a plug-in, an application beside: nothing is lost, nothing grows" swaps
	ok "what is no plug-in is refused" refused 'is no plug-in' apply tag=true plugin="$tmp/tag.c"
else
	cat "$tmp/made" 2>/dev/null
	skip "a newer version of a plug-in" "needs pkg-config and a compiler"
fi
ok "it ends with nothing leaked" stop

done_testing
