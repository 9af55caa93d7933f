#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# blocks.t - every block of code on every page of the book is tried, or the table says what it is: graph files are checked,
# C is compiled, commands are run.
#
# usage: blocks.t [--record]
#
# --record writes the tables of the gallery's graphs in virtual time anew, after something in them has changed.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
tries=$top_srcdir/tests/support/try_blocks
table=$top_srcdir/tests/docs/blocks.tab
PATH=$top_builddir:$PATH
export PATH
unset VP_PLUGIN_PATH VP_GRAPH_PATH VP_CONTROL MAKEFLAGS MAKELEVEL
command -v python3 >/dev/null || skip_all "python3 is not installed"
command -v pkg-config >/dev/null || skip_all "needs pkg-config"
vp-run --virtual --processors 2 -d 1ms "$top_srcdir/graphs/udp-presets.lua" 2>&1 | grep -q libboost-context-dev &&
	skip_all "built without Boost.Context (package libboost-context-dev)"
vp-graph inspect xdr >/dev/null 2>&1 || skip_all "built without xdr (packages libtirpc-dev, rpcsvc-proto)"

# page PAGE...: in a folder of its own, what failed.
page() {
	rm -rf "$tmp/in" && mkdir "$tmp/in" && (cd "$tmp/in" && python3 "$tries" "$top_srcdir" "$top_builddir" "$table" "$@") >"$tmp/log" 2>&1
	code=$?
	grep -v '^ok' "$tmp/log"
	return $code
}
cd "$top_srcdir" || exit 1
if [ "${1-}" = --record ]; then
	mkdir "$tmp/in" && cd "$tmp/in" && exec python3 "$tries" --record "$top_srcdir" "$top_builddir" "$table" docs/gallery.md
fi
for file in docs/*.md docs/book/*.md docs/internals/*.md; do
	grep -qE '^(```|    )' "$file" || continue
	ok "$file" page "$file"
done
# shellcheck disable=SC2046
ok "pages of protocols and drivers" page $(ls protocols/*/*.md drivers/*/*.md)

# A wrong block is found, and so is a row that stands for none.
wrong() {
	rm -rf "$tmp/top" "$tmp/in" && mkdir "$tmp/top" "$tmp/in" && ln -s "$top_srcdir/graphs" "$top_srcdir/docs" "$top_srcdir/tests" "$tmp/top/"
	printf '%b' "$2" >"$tmp/top/p.md" && printf '%b' "${3-}" >"$tmp/tab"
	(cd "$tmp/in" && python3 "$tries" "$tmp/top" "$top_builddir" "$tmp/tab" p.md) >"$tmp/log" 2>&1
	code=$?
	cat "$tmp/log"
	[ $code -eq 1 ] && grep -q -e "$1" "$tmp/log"
}
ok "a parameter that is none is found" wrong "unknown parameter 'prt'" '```lua\nstack { echo { prt = 7 }, udp { over = net } }\n```\n'
ok "C that does not compile" wrong 'xk_embed_addd' '```c\nint n = xk_embed_addd(g);\n```\n'
ok "a command that fails" wrong 'exit code 2' 'As in\n\n    vp-run --frobnicate graphs/hello.lua\n'
ok "an option that is none" wrong 'vp-bench has no --frobnicate' '```\nvp-bench goals --frobnicate\n```\n' 'p.md | vp-bench | named | long\n'
ok "a file that is not there" wrong 'there is no graphs/none.lua' '```\nvp-bench run graphs/none.lua\n```\n' 'p.md | vp-bench | named | long\n'
ok "another table than is printed" wrong 'printed was:' 'As in\n\n    vp-run --virtual graphs/hello.lua\n\n```\nnode         VPs   sessions          push           pop       drops  reasons\nload           2          2             0          2001           0\n```\n' 'p.md | ~ | text | output\n'
ok "what nobody knows" wrong 'neither code nor in the table' 'As in\n\n    x = y\n'
ok "a row without its block" wrong 'there is no such block' '' 'p.md | nothing | text | gone\n'
done_testing
