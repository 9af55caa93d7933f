#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ncs_media.t - graphs/ncs-media.lua: video and voice beside data.  Paced without error control they lose what the line
# loses and are never late; with the service of data they lose nothing of what is sent and are late; data is all there.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v jq >/dev/null || skip_all "needs jq"
run=$top_builddir/vp-run
file=$top_srcdir/graphs/ncs-media.lua
unset VP_GRAPH_PATH

runs() { timeout 60 "$run" --json "$@" >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/out" "$tmp/err"; return 1; }; }
# of NODE COUNTER, as jq has it
of() { jq -r "[.nodes[] | select(.name == \"$1\") | .counters.$2 // 0] | add" "$tmp/out"; }
# is NODE COUNTER TEST...
is() {
	v=$(of "$1" "$2")
	echo "$1 $2 $v"
	shift 2
	[ -n "$v" ] && [ "$v" "$@" ]
}
# The last frames may be on the way at the end.
clean() {
	runs --virtual "$file" frames=50 "$@" && is camera frames -eq 50 && is microphone frames -eq 100 && is screen frames -ge 48 &&
		is speaker frames -ge 97 && is screen late -eq 0 && is speaker late -eq 0 && is screen missing -eq 0 &&
		is speaker missing -eq 0 && is load answers -gt 100
}
for preset in $(presets); do
	ok "all comes in time, $preset" clean preset="$preset"
	# A machine that is busy may leave frames out, be it all of a few.
	real() {
		for n in 5 25 125; do
			runs "$file" frames=$n preset="$preset" && [ $(($(of camera frames) + $(of camera skipped))) -eq $n ] || return 1
			is screen frames -ge 1 && return
		done
		return 1
	}
	ok "with workers, too, $preset" real
done
lossy() {
	runs --virtual "$file" loss=2% && is screen late -eq 0 && is speaker late -eq 0 && is screen missing -ge 10 &&
		is screen missing -le 70 && is speaker missing -ge 3 && is camera skipped -eq 0 &&
		[ "$(of screen frames)" -ge $((248 - $(of screen missing))) ] && is load answers -gt 500
}
ok "what a line loses is missing, and nothing is late" lossy
as_data() {
	runs --virtual "$file" loss=2% service=data && is screen late -ge 3 && is speaker late -ge 3 && is camera skipped -ge 1 &&
		[ "$(of screen missing)" -le "$(of camera skipped)" ] && [ "$(of speaker missing)" -le "$(of microphone skipped)" ]
}
ok "with error control what is sent comes, late" as_data

cat >"$tmp/strange.lua" <<'END'
local a = args { path = text { "" }, port = port { 5004, min = 1 } }
local function process(name, addr, peer)
  return ncs { name = name, over = aal5 { addr = addr, peer = peer, over = cell { wire = "w" } } }
end
local server, client = process("server", "10.0.0.2", "10.0.0.1"), process("client", "10.0.0.1", "10.0.0.2")
media { name = "screen", over = server }
load { to = "10.0.0.2", port = 5004, conns = 1, size = 100, rate = 1000, on = "1s", off = "1s", over = client }
media { name = "camera", to = "10.0.0.2", port = a.port, path = a.path, count = 3, over = client }
return graph "strange" {}
END
strange() { runs --virtual "$tmp/strange.lua" && is screen frames -ge 2 && jq -e '.nodes[] | select(.name == "screen") | .drops.strange > 0' "$tmp/out"; }
ok "what is no frame is dropped and counted" strange
fails() {
	text=$1
	shift
	timeout 60 "$run" --virtual "$tmp/strange.lua" "$@" >"$tmp/out" 2>&1
	got=$?
	cat "$tmp/out"
	[ $got -ne 0 ] && grep -q "$text" "$tmp/out"
}
ok "a path that is not there is told" fails "strange.lua:[0-9]*: .*there is no path 'none' below 'client'" path=none
ok "so is a peer that does not take it" fails "camera: its peer has refused or closed the connection" port=5005
done_testing
