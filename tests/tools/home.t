#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# home.t - programs find the graphs that came with them: of their build, of their installation wherever that is, and
# before both what stands in the folder where they are called.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_builddir=$(cd "$top_builddir" && pwd -P)
graphs=$(cd "$top_srcdir/graphs" && pwd -P)
lists() { (cd "$tmp" && "$1/vp-bench" list 2>&1) | grep -F "$2/"; }
ok "a build has those of its sources" lists "$top_builddir" "$graphs/seeds/salehi1995"

# Links would be seen through: the programs are where their file is.
mkdir -p "$tmp/new/bin" "$tmp/new/share/xkvp/graphs/seeds" "$tmp/new/share/xkvp/graphs/bench" "$tmp/new/share/xkvp/graphs/machines"
cp "$top_builddir/vp-bench" "$top_builddir/vp-sim" "$top_builddir/vp-run" "$tmp/new/bin/"
new=$(cd "$tmp/new" && pwd -P)
cp "$graphs/bench/demux.lua" "$new/share/xkvp/graphs/bench/"
sed 's/machine "challenge"/machine "moved"/' "$graphs/machines/challenge.lua" >"$new/share/xkvp/graphs/machines/moved.lua"
ok "an installation that was moved has its own" lists "$new/bin" "$new/share/xkvp/graphs/bench"
machines() { "$new/bin/vp-sim" --machines >"$tmp/list" && cat "$tmp/list" && grep -q '^moved ' "$tmp/list" && [ "$(wc -l <"$tmp/list")" -eq 1 ]; }
ok "so are its machines" machines
ok "one that is not there is told with the place" says "there is no machine 'here' in $new/share/xkvp/graphs/machines" \
	"$new/bin/vp-run" --virtual --processors=2 --machine=here "$graphs/hello.lua"
near() {
	mkdir -p "$tmp/near/graphs/bench" && cp "$graphs/bench/demux.lua" "$tmp/near/graphs/bench/mine.lua" || return
	(cd "$tmp/near" && "$new/bin/vp-bench" list) >"$tmp/list" 2>&1
	cat "$tmp/list"
	grep -q '^graphs/bench/mine.lua ' "$tmp/list" && ! grep demux "$tmp/list"
}
ok "what is below the current folder comes first" near
done_testing
