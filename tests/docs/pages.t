#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# pages.t - what pages of docs/ show is what happens: their files are written, their commands run, their output compared.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd)
blocks=$top_srcdir/tests/support/run_blocks
PATH=$(cd "$top_builddir" && pwd):$PATH
PKG_CONFIG_PATH=$(cd "$top_builddir" && pwd)
export PATH PKG_CONFIG_PATH
unset VP_PLUGIN_PATH VP_GRAPH_PATH MAKEFLAGS MAKELEVEL

# shown PAGE: in a folder of its own, with the graphs beside.
shown() {
	mkdir "$tmp/$1" && ln -s "$top_srcdir/graphs" "$tmp/$1/graphs" &&
		(cd "$tmp/$1" && python3 "$blocks" "$top_srcdir/docs/$1.md") >"$tmp/$1.log" 2>&1
	code=$?
	grep '# SKIP' "$tmp/$1.log" | sed 's/^ok/# not run:/'
	grep -v '^ok' "$tmp/$1.log" | sed 's/^/# /'
	return $code
}
command -v python3 >/dev/null || skip_all "python3 is not installed"
if vp-run --virtual --processors 2 -d 1ms "$top_srcdir/graphs/udp-presets.lua" 2>&1 | grep -q libboost-context-dev; then
	skip "docs/tutorial.md" "built without Boost.Context (package libboost-context-dev)"
else
	ok "docs/tutorial.md" shown tutorial
fi

ok "docs/writing.md" shown writing

# One that says what is not so is found.
mkdir "$tmp/wrong"
printf '```console\n$ echo one\n...\nwon\n```\n' >"$tmp/wrong/output.md"
printf '```console\n$ false\n```\n' >"$tmp/wrong/code.md"
printf '```console\n$ printf "a\\nb 12 c\\nd\\n"; exit 3\na\n...\nb ... c\nd\nexit code 3\n```\n' >"$tmp/wrong/right.md"
says() { (cd "$tmp/wrong" && python3 "$blocks" "$1") >"$tmp/says" 2>&1; code=$?; cat "$tmp/says"; [ "$code" = "$2" ]; }
ok "other output than the page's is found" says output.md 1
ok "and a command that fails" says code.md 1
ok "lines and parts of lines may be left out, an exit code be said" says right.md 0
ok "a page without any is no page to test" sh -c "! (cd '$tmp/wrong' && : >none.md && python3 '$blocks' none.md)"
done_testing
