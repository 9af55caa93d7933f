#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# preset_axes.t - what docs/threading.md says of each preset and axis is what vp-graph
# says of it, value by value: no preset, axis or value is in one and not in the other; and
# what the first paper's architectures are made of.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
graph=$top_builddir/vp-graph
page=$top_srcdir/docs/threading.md

# The tables whose first heading is "preset" and whose others are axes: "PRESET AXIS=VALUE", sorted.
written() {
	awk -F ' *[|] *' '
		/^[|] preset [|] `/ { n = NF; for (i = 3; i < NF; i++) { axis[i] = $i; gsub(/`/, "", axis[i]) } next }
		!/^[|]/ { n = 0 }
		n && /^[|] `/ {
			if (NF != n) print "a row of " NF - 2 " cells under " n - 2 ": " $0
			gsub(/`/, "", $2)
			for (i = 3; i < n; i++) print $2 " " axis[i] "=" $i
		}' "$page" | LC_ALL=C sort
}

# "  AXIS  VALUE  TYPE ..."; a value may be two words, so the column says where it ends.
is() {
	for p in $(all_presets); do
		"$graph" inspect "$p" | awk -v p="$p" '/^  [a-z_]+ / {
			v = substr($0, 16, 16); sub(/ +$/, "", v); print p " " $1 "=" v }'
	done | grep -vE ' (cpus|seed|stack|map)=-$' | LC_ALL=C sort
}
written >"$tmp/written"
is >"$tmp/is"

same() { diff "$tmp/written" "$tmp/is"; }
# Each preset with each of the axes but four.
complete() {
	want=$(($(all_presets | wc -l) * ($("$graph" inspect up | grep -cE '^  [a-z_]+ ') - 4)))
	echo "$want values, $(wc -l <"$tmp/written") are written"
	[ "$want" -ge 300 ] && [ "$(wc -l <"$tmp/written")" -eq "$want" ]
}
# A value that is changed in the page is found: the comparison is one.
notices() {
	sed 's/^up entry=own$/up entry=lock/' "$tmp/written" >"$tmp/other"
	! cmp -s "$tmp/other" "$tmp/written" && ! diff "$tmp/other" "$tmp/is" >/dev/null
}
# What reads the row is what makes the graph: the axes of a file that says nothing more.
plan_agrees() {
	for p in up ppc vppc connp_l lp connp_t; do
		printf 'icmp { over = stack { ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem { } } }\nreturn graph "g" { threading = %s {} }\n' "$p" >"$tmp/g.lua"
		"$graph" show "$tmp/g.lua" >"$tmp/show" || { cat "$tmp/show"; return 1; }
		for axis in entry schedule burst quantum inbox; do
			v=$(sed -n "s/^$p $axis=//p" "$tmp/is")
			grep -q "threading $p:.*[ ,]$axis $v[,]" "$tmp/show" || { echo "$p: $axis $v"; head -2 "$tmp/show"; return 1; }
		done
	done
}

# The first paper's architectures, by their axes: layers hand on single messages, four of them for five connections.
schmidt() {
	for want in 'cp cp: vps 20' 'mp mp: vps 1024,.* burst 1' 'lp lp: vps 4,.* burst 1' 'lp16 lp: vps 4,.* burst 16'; do
		"$graph" show "$top_srcdir/graphs/seeds/schmidt1996/fig08-25-tcp.lua" arch="${want%% *}" >"$tmp/show" || return 1
		grep -q "threading ${want#* }," "$tmp/show" || { echo "$want"; head -2 "$tmp/show"; return 1; }
	done
	"$graph" show "$top_srcdir/graphs/seeds/schmidt1996/fig08-25-tcp.lua" arch=lp conns=50 | grep -q 'threading lp: vps 10,'
}

# Of each layer of lp, what it passed: with a driver that passes frames on, or without it.
crossed() {
	printf 'local function host(addr, d)\nreturn udp { over = stack { ip { addr = addr }, arp {}, eth { over = d } } } end\n' >"$tmp/lp.lua"
	printf 'echo { port = 7, over = host("10.0.0.2/24", eth_mem { wire = "w" }) }\nload { to = "10.0.0.2", port = 7, count = 50, over = host("10.0.0.1/24", %s) }\n' "$1" >>"$tmp/lp.lua"
	printf 'return graph "lp" { threading = lp {} }\n' >>"$tmp/lp.lua"
	"$top_builddir/vp-run" --virtual "$tmp/lp.lua" | sed -n '/^pipeline layer/,$p' >"$2" && [ "$(wc -l <"$2")" = 5 ] || { cat "$2"; return 1; }
}
crosses() {
	crossed 'eth_mem { wire = "w" }' "$tmp/without" && crossed 'impair { over = eth_mem { wire = "w" } }' "$tmp/with" &&
		diff "$tmp/without" "$tmp/with"
}

# Builds that are slow have each n-th: together these are all, none of them twice.
turns() {
	for turn in 0/3 1/3 2/3; do XK_TEST_TURN=$turn presets; done >"$tmp/turns"
	XK_TEST_TURN=1/3 presets | head -n 1 | grep -qxF "$(all_presets | sed -n 2p)" && [ "$(all_presets | wc -l)" -ge 10 ] &&
		[ "$(sort "$tmp/turns")" = "$(all_presets | sort)" ]
}

ok "every preset and axis is in the page" complete
ok "with the value that it has" same
ok "another value would be noticed" notices
ok "a graph that says no more has these values" plan_agrees
ok "the first paper's architectures are what they are called" schmidt
ok "a driver that passes frames on is of the layer of the device" crosses
ok "thirds of the presets are all of them" turns
done_testing
