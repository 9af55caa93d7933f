# SPDX-License-Identifier: BSD-2-Clause
# ranks_lib.sh - processes below others, for tests of ranks.  Source it right after tap.sh.

# pids PARENT: those of its children, good though others' processes end while it looks
proc=/proc
pids() { cat $proc/[0-9]*/stat 2>/dev/null | sed -n 's/^\([0-9]*\) .*) [A-Z] '"$1"' .*/\1/p'; }
# over PID...: they have ended
over() {
	for each in "$@"; do
		until_ok 60 sh -c "! kill -0 $each" || return 1
	done
}
# slow_graph FILE: rank 1 does not come up until something is written to DIR/never
slow_graph() {
	cat >"$1" <<'END'
local a = args { rank = uint { 0 }, ranks = uint { 1 }, peers = text { "" }, dir = text { "" } }
if a.rank == 1 then io.open(a.dir .. "/never"):read() end
local s = shm { at = "10.0.0." .. a.rank + 1, dir = a.dir }
echo { port = 7, over = ncs { over = s } }
return graph "slow" {}
END
}
