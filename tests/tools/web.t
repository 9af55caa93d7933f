#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# web.t - vp-ctl web: who has the address sees and changes what the page shows, and nobody else anything; slow, silent and
# many clients keep nobody out; the page itself in Chromium, where there is one.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
ctl=$top_builddir/vp-ctl
pages=$top_srcdir/tools/vp-ctl/web
unset VP_GRAPH_PATH VP_CONTROL http_proxy HTTP_PROXY all_proxy ALL_PROXY
sock=$tmp/s
command -v curl >/dev/null || skip_all "curl is not installed"
python3 -c 'import json' 2>/dev/null || skip_all "python3 is not installed"

graph='' web=''
trap 'kill $web $graph 2>/dev/null; rm -rf "$tmp"' EXIT

# Two hosts over a cable of an unpleasant name that loses frames, and a third that hears nothing.
cat >"$tmp/net.lua" <<'LUA'
local a = args { hop = bool { false, doc = "a layer over the client" } }
local wire = [[<img src=x onerror="window.harmed=1"> & 'cable']]
local function host(addr, link) return stack { ip { addr = addr }, arp {}, eth {}, link, eth_mem { wire = wire, queue = 65536 } } end
stack { echo { port = 7 }, udp { name = "server", over = host("10.0.0.2/24", impair { name = "fine", loss = "0%" }) } }
local client = udp { name = "client", over = host("10.0.0.1/24", impair { loss = "1%" }) }
load { to = "10.0.0.2", port = 7, conns = 8, count = 0, window = 2, timeout = "5ms", over = a.hop and hop { name = "above", over = client } or client }
stack { sink { port = 9 }, udp { name = "quiet" }, ip { name = "quiet_ip", addr = "10.9.0.1/24" }, arp {}, eth {}, eth_mem { wire = "nowhere" } }
return graph "net" { threading = vppc { vps = 4, workers = 2 } }
LUA

start() {
	"$run" --control="$sock" "$@" >"$tmp/out" 2>"$tmp/err" &
	graph=$!
	"$ctl" -s "$sock" --wait 60s show runtime >/dev/null || { cat "$tmp/err"; return 1; }
}
# serve ARG...: the page's address in $url, port in $port.
serve() {
	: >"$tmp/url"
	"$ctl" -s "$sock" --timeout 120s web "$@" >"$tmp/url" 2>"$tmp/says-web" &
	web=$!
	until [ -s "$tmp/url" ]; do kill -0 $web || { cat "$tmp/says-web"; return 1; }; sleep 0.05; done
	url=$(cat "$tmp/url")
	token=${url#http://*/} token=${token%/}
	port=${url#http://127.0.0.1:} port=${port%%/*}
	echo "$url" | grep -Eqx 'http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/'
}
# get CODE PATH [ARG...]: of the address; what came in $tmp/body, its head in $tmp/head.
get() {
	want=$1 path=$2
	shift 2
	got=$(curl -s -m 300 -o "$tmp/body" -D "$tmp/head" -w '%{http_code}' "$@" "$url$path")
	[ "$got" = "$want" ] || { echo "$path: $got, not $want"; head -c 1000 "$tmp/body"; return 1; }
}
# ask CODE JSON [ARG...]
ask() { code=$1 json=$2; shift 2; get "$code" ask -H "X-VP-Token: $token" --data-binary "$json" "$@"; }
# holds TEXT: the answer has it.
holds() { grep -qF -e "$1" "$tmp/body" || { head -c 2000 "$tmp/body"; return 1; }; }
# wherever PATH...: of another address than the page's.
wherever() { get 403 "" --request-target "$1" && ! grep -q net "$tmp/body"; }

strangers() {
	wherever / && wherever "/$token" && wherever "/${token%?}x/" && wherever "/${token}0/" && wherever "/?token=$token" && wherever //snapshot &&
	wherever "/${token%?}x/snapshot" && wherever "http://127.0.0.1/$token/" && wherever "/x/../$token/"
}
hosts() {
	for host in evil.example "evil.example:$port" 127.0.0.1.evil.example localhost.evil 127.0.0.1:80x 127.0.0.10 "" "[::1]"; do
		get 403 "" -H "Host: $host" || { echo "Host: $host"; return 1; }
	done
	get 403 "" --http1.0 -H Host: || return 1
	for host in 127.0.0.1 "localhost:$port" LOCALHOST 127.0.0.1:1; do get 200 "" -H "Host: $host" || return 1; done
}
# Two runs have two tokens, one run one.
another_token() {
	was=$token
	stop_web && serve && [ "$token" != "$was" ] && get 200 "" && wherever "/$was/"
}
stop_web() { kill $web && { wait $web; web=; }; }
headers() {
	get 200 "" && cmp "$tmp/body" "$pages/page.html" || return 1
	for line in 'Content-Type: text/html; charset=utf-8' "Content-Security-Policy: default-src 'none'; script-src 'self'; " 'Cache-Control: no-store' \
		'Referrer-Policy: no-referrer' 'X-Content-Type-Options: nosniff' 'Cross-Origin-Resource-Policy: same-origin'; do
		grep -qiF "$line" "$tmp/head" || { cat "$tmp/head"; return 1; }
	done
	get 403 "" -H 'Host: evil.example' && grep -qi '^content-security-policy' "$tmp/head"
}
# Every part that the page names is there, as it is in the tree, and nothing from elsewhere.
parts() {
	[ "$(find "$pages" -type f | wc -l)" -ge 10 ] || return 1
	for file in "$pages"/*; do
		name=${file##*/}
		case $name in *.js) type=text/javascript ;; *.css) type=text/css ;; *) type=text/html ;; esac
		get 200 "$name" && cmp "$tmp/body" "$file" && grep -qi "^content-type: $type" "$tmp/head" || return 1
		[ "$name" = page.html ] || grep -qrF "$name\"" "$pages" || { echo "nobody needs $name"; return 1; }
	done
	! grep -rhoE 'https?://[^"]*' "$pages" | grep -v 'http://www.w3.org/2000/svg'
	for name in none.js page.js/ ../vp_ctl.c %2e%2e/%2e%2e/etc/passwd page snapshot/; do get 404 "$name" --path-as-is || return 1; done
	! grep -rnE 'innerHTML|outerHTML|insertAdjacent|document\.write|eval\(' "$pages"
}
counters() {
	get 200 snapshot -I && get 200 snapshot && python3 - "$tmp/body" "$top_srcdir/docs/schema/vp-ctl-snapshot-2.json" <<'PY'
import json, sys
doc = json.load(open(sys.argv[1]))
nodes = {n["name"]: n for n in doc["nodes"]}
assert doc["graph"] == "net" and {"load", "client", "impair", "quiet"} <= set(nodes) and len(doc["vps"]) == 4 and len(doc["workers"]) == 2
rtt = nodes["load"]["times"]["rtt"]
assert rtt["places"] and all(a < b and n > 0 for a, b, n in rtt["places"]) and rtt["places"] == sorted(rtt["places"]), rtt
low = sum(a * n for a, b, n in rtt["places"])
assert low <= rtt["sum_ns"] <= sum(b * n for a, b, n in rtt["places"]), rtt
try:
    import jsonschema
    jsonschema.validate(doc, json.load(open(sys.argv[2])))
except ImportError:
    pass
PY
}
posts() {
	q='{"cmd":"show","what":"graph"}'
	get 403 ask --data-binary "$q" && get 403 ask -H "X-VP-Token: x" --data-binary "$q" && get 403 ask -H "X-VP-Token: ${token%?}x" --data-binary "$q" &&
	get 403 "" --request-target /ask -H "X-VP-Token: $token" --data-binary "$q" && get 403 ask -H "X-VP-Token: $token" -H 'Host: a.b' --data-binary "$q" &&
	get 404 ask && get 405 ask -X PUT -H "X-VP-Token: $token" -d x && get 405 "" -H "X-VP-Token: $token" -d x && get 405 snapshot -X DELETE
}
views() {
	ask 200 '{"id":3,"cmd":"show","what":"graph"}' && holds '"id":3' && holds '"node":"quiet_ip"' &&
	ask 200 '{"cmd":"show","what":"runtime"}' && holds '"threading":"vppc"' && ask 200 '{"cmd":"show","what":"params"}' && holds 'onerror' &&
	ask 200 '{"cmd":"show","what":"sessions","node":"client","limit":2}' && holds '"remote":"10.0.0.2:7"' && holds '"cursor"' &&
	ask 200 '{"cmd":"show","what":"connections","node":"load"}' && holds '"messages":' && ask 200 '{"cmd":"show","what":"vps"}' && holds '"units":' &&
	ask 200 '{"cmd":"get","node":"threading"}' && holds '"parameter":"burst"'
}
changes() {
	ask 200 '{"cmd":"set","node":"impair","param":"loss","value":"2%"}' && holds '"ok":true' && ask 200 '{"cmd":"get","node":"impair","param":"loss"}' &&
	holds '"value":"0.02"' && "$ctl" -s "$sock" get impair loss | grep -q ' 0\.02 '
}
refusals() {
	ask 200 '{"cmd":"set","node":"load","param":"size","value":"4"}' && holds '"code":"not-live"' &&
	ask 200 '{"cmd":"set","node":"threading","param":"burst","value":"4096"}' && holds 'must be between' &&
	ask 200 '{"cmd":"set","node":"lod","param":"rate","value":"1"}' && holds "did you mean 'load'" &&
	ask 200 '{"cmd":"trace","node":"load"}' && holds 'nothing passes through'
}
forbidden() {
	for cmd in capture apply inject stop reset record counters describe help metrics snapshot raw; do
		ask 403 "{\"cmd\":\"$cmd\",\"node\":\"eth_mem\",\"file\":\"$tmp/harm\"}" && holds 'show, get, set and trace' || return 1
	done
	[ ! -e "$tmp/harm" ] && for bad in '' '{' '[]' '7' '{"cmd":7}' '{"what":"graph"}' '{"cmd":"show","cmd":"stop"}' '{"cmd":"show","what":"graph"}{"cmd":"stop"}'; do
		ask 400 "$bad" || { echo "$bad"; return 1; }
	done
	printf '{"cmd":"show","what":"graph"}\n{"cmd":"stop"}\n' >"$tmp/two" && ask 400 "@$tmp/two" && kill -0 $graph
}
sizes() {
	python3 -c 'print("{\"cmd\":\"show\",\"what\":\"graph\",\"x\":\"" + "a" * 60000 + "\"}")' >"$tmp/long"
	ask 413 "@$tmp/long" && ask 413 "@$tmp/long" -H 'Transfer-Encoding: chunked' &&
	ask 502 '{"cmd":"trace","node":"client","count":1000000,"time":"50s"}' && holds 'longer than a page' && get 200 snapshot
}
# The ladders of vp-ctl --ladder=html.
ladder() {
	ask 200 '{"cmd":"trace","node":"ip","count":5}' && grep -qi '^content-type: text/html' "$tmp/head" && python3 - "$tmp/body" <<'PY'
import re, sys
import xml.etree.ElementTree as et
page = open(sys.argv[1]).read()
svgs = re.findall(r"<svg.*?</svg>", page, re.S)
assert len(svgs) == 5, len(svgs)
for svg in map(et.fromstring, svgs):
    assert [e for e in svg.iter("circle") if e.get("class") == "step"]
PY
}
# clients N: so many are at the control socket: the page's server, a request of it that waits each, and who asks this.
clients() { "$ctl" -s "$sock" --json show runtime | grep -q "\"clients\": $1,"; }
# Waits for messages that never come.
waits='{"cmd":"trace","node":"quiet","count":1,"time":"50s"}'
busy() { ask 503 '{"cmd":"show","what":"graph"}' && holds '"code":"busy"'; }
# As many wait as may; one more is refused, counters are not; when those who wait go, their places are free again.
waiting() {
	waiters=
	for i in 1 2 3 4; do
		curl -s -m 300 -o "$tmp/waited-$i" -H "X-VP-Token: $token" --data-binary "$waits" "${url}ask" &
		waiters="$waiters $!"
	done
	until_ok 100 clients 6 && busy && get 200 snapshot
	failed=$?
	kill $waiters
	wait $waiters
	[ $failed -eq 0 ] && until_ok 100 ask 200 '{"cmd":"show","what":"graph"}'
}
# Who waits when the graph ends is told; the server says so, too, and ends.
ends() {
	curl -s -m 300 -o "$tmp/waited" -w '%{http_code}' -H "X-VP-Token: $token" --data-binary "$waits" "${url}ask" >"$tmp/code" &
	waiter=$!
	until_ok 100 clients 3 || return 1
	kill $graph
	wait $graph || { cat "$tmp/err"; return 1; }
	graph=
	wait $waiter
	wait $web
	code=$?
	web=
	cat "$tmp/code" "$tmp/waited" "$tmp/says-web"
	[ "$(cat "$tmp/code")" = 410 ] && grep -q 'the graph has ended' "$tmp/waited" "$tmp/says-web" && [ $code -eq 0 ]
}
again() {
	kill $web $graph 2>/dev/null
	wait $web $graph
	start "$tmp/net.lua" && serve
}
start "$tmp/net.lua"
"$ctl" -s "$sock" web --port=x 2>&1 | grep -q 'not in this build' && { kill $graph; skip_all "built without libmicrohttpd"; }
ok "what is no port is refused" code 2 "$ctl" -s "$sock" web --port=65536
ok "so is an argument" code 2 "$ctl" -s "$sock" web 80
ok "the address is printed" serve
ok "a port that is taken is refused" says 'Address already in use' code 1 "$ctl" -s "$sock" web "--port=$port"
ok "nothing but 127.0.0.1 is listened at" sh -c "! ss -Hltn 2>/dev/null | grep ':$port ' | grep -v '127\\.0\\.0\\.1:'"
ok "without the token nothing is said" strangers
ok "nor to another host's name" hosts
ok "each run has its own token" another_token
ok "headers let nothing foreign in" headers
ok "the page is the tree's, whole, and needs nothing from elsewhere" parts
ok "counters are there, with times" until_ok 100 counters
ok "what is asked needs the token in a header" posts
ok "each view is answered" until_ok 100 views
ok "a parameter is changed" changes
ok "a refusal says why" refusals
ok "a page may ask nothing else" forbidden
ok "a request and an answer have limits" sizes
ok "ladders are drawn" ladder
ok "few wait at once, and who goes makes room" waiting
ok "slow, silent and many clients keep nobody out" timeout 400 python3 "$top_srcdir/tests/tools/web_abuse.py" "$url"
ok "it still answers" get 200 snapshot
browser=
for b in chromium chromium-headless-shell chromium-browser google-chrome headless_shell; do
	[ -n "$browser" ] || browser=$(command -v $b)
done
if [ -n "$browser" ]; then
	# The last thing that it sees is the graph's end.
	ok "the page in a browser" timeout 500 python3 "$top_srcdir/tests/tools/web_page.py" "$browser" "$url" "$ctl" "$sock" "$tmp/net.lua" "${XK_SCREENSHOTS-}"
else
	skip "the page in a browser" "Chromium is not installed (package chromium-headless-shell): nobody has looked at the page"
fi
ok "another graph is served" again
ok "the end of the graph is said" ends
ok "nobody there is exit code 3" code 3 "$ctl" -s "$sock" web
done_testing
