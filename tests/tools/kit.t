#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# kit.t - vp-graph test NAME finds eleven planted bugs, one for each clause, and names the clause; without a bug all pass.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v pkg-config >/dev/null || skip_all "needs pkg-config"
[ -x "$top_builddir/vp-graph" ] || skip_all "needs vp-graph"
PKG_CONFIG_PATH=$top_builddir
CC=${CC:-cc}
export PKG_CONFIG_PATH
unset VP_PLUGIN_PATH
flags=$(pkg-config --cflags xkvp) || skip_all "pkg-config does not find xkvp in $top_builddir"
src=$(cd "$top_srcdir" && pwd)
graph=$(cd "$top_builddir" && pwd)/vp-graph
cd "$tmp" || exit 1

# made NAME FLAGS: the layer with them, as NAME.so.
made() {
	# shellcheck disable=SC2086
	name=$1 && shift && $CC -std=c11 -O1 -g -Wall -Wextra -Werror $flags "$@" -fPIC -shared -o "$name.so" "$src/tests/tools/kit/kit_bugs.c"
}
# kit NAME ARG...: the kit on it; what it says is in `out`.
kit() {
	name=$1 && shift && "$graph" --plugin "$name.so" test marks "$@" >out 2>&1
}
passes() { kit "$@" || { cat out; return 1; }; }
# found NAME CLAUSE WHAT ARG...: that clause fails, with this in its words.
found() {
	name=$1 clause=$2 what=$3 && shift 3
	kit "$name" --clause "$clause" "$@"
	[ $? -eq 1 ] && grep -E "^  $clause +FAIL .*$what" out && return
	cat out
	return 1
}

ok "the layer compiles" made none
ok "without a bug all clauses pass" passes none
ok "none is skipped" sh -c "grep '11 passed, 0 failed, 0 skipped' out"
ok "so it does below IP" made none_low -DLOW
ok "where devices decide about it" passes none_low --clause filters
bug() {
	number=$1 clause=$2 what=$3 && shift 3
	ok "$clause: its bug compiles" made "$clause" "-DBUG=$number" "$@"
	ok "$clause: is found and named" found "$clause" "$clause" "$what"
}
bug 1 descriptor "have one name, 'too_short'"
bug 2 start "is there already .start number 2"
bug 3 parameters "'share' = 0: died of signal 8|'share' = 0: .*(FPE|division)"
bug 4 bytes "1024? bytes pushed|bytes pushed, [0-9]* came down one side"
bug 5 consumed "message was not consumed .messages of 0 bytes"
bug 6 memory "(died of signal|ended with code).*, at allocation [0-9]+, which fails"
bug 7 sessions "[0-9]+ of its sessions are left after all were closed again"
bug 8 headers "1 message from below, the one of 1 bytes, ff: (died of signal|ended with code)"
bug 9 filters "what its .demux says is not its header, with classifier" -DLOW
bug 10 presets "vps = 8"
bug 11 stalls "(not given back|panic).*with threads"

# ---- what the kit says -------------------------------------------------------------------

ok "the same seed says the same" sh -c "'$graph' --plugin headers.so test marks --clause headers --seed 5 >a; '$graph' --plugin headers.so test marks --clause headers --seed 5 >b; cmp a b"
ok "JSON has each clause" sh -c "'$graph' --plugin bytes.so -f json test marks >j; [ \$? -eq 1 ] && jq -e '.failed >= 1 and (.protocols[0].clauses | map(select(.clause == \"bytes\"))[0].result == \"fail\") and (.protocols[0].clauses | length == 11)' j"
cat >mine.lua <<'LUA'
stack { echo { port = 7 }, marks {}, udp { over = ip { addr = "10.0.0.2/24", over = arp { over = eth { over = eth_mem { wire = "w" } } } } } }
stack { load { to = "10.0.0.2", port = 7, count = 20, window = 1 }, marks {},
        udp { over = ip { addr = "10.0.0.1/24", over = arp { over = eth { over = eth_mem { wire = "w" } } } } } }
return graph "mine" { threading = up {} }
LUA
ok "a graph of one's own does" passes none --graph mine.lua
ok "where nobody of the kit's is" sh -c "grep 'bytes .*skip .*no kit_probe' out"
cp mine.lua marks.test.lua
ok "it is found beside the plug-in" sh -c "'$graph' --plugin none.so test marks --clause bytes | grep 'no kit_probe'"
rm marks.test.lua
printf 'marks {}\nreturn graph "g" {}\n' >bad.lua
ok "one with an error: code 3" code 3 "$graph" --plugin none.so test marks --graph bad.lua
ok "an unknown clause: wrong usage" code 2 "$graph" --plugin none.so test marks --clause byte
ok "and says which it could be" says "did you mean 'bytes'" "$graph" --plugin none.so test marks --clause byte
ok "an unknown protocol: wrong usage" code 2 "$graph" test marks
ok "one that hangs is made" sh -c "printf '#include <xk/proto.h>\nstatic void spin(struct xk_rep *r) { (void)r; for (;;) ; }\n#define virt_rep_stop spin\n' >spin.h"
ok "and compiles" made hangs -include ./spin.h
ok "and is told, as no end of the kit" sh -c "'$graph' --plugin hangs.so test marks --limit 1 --clause descriptor >out; [ \$? -eq 1 ] && grep 'took more than 1 s of processor time' out"
done_testing
