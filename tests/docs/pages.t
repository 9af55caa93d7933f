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

# shown PAGE [COMMAND...]: in a folder of its own, with the graphs beside, by that command.
shown() {
	page=$1
	shift
	[ -f "$tmp/$page.md" ] || cp "$top_srcdir/docs/$page.md" "$tmp/"
	mkdir "$tmp/$page" && ln -s "$top_srcdir/graphs" "$tmp/$page/graphs" || return
	(cd "$tmp/$page" && "$@" python3 "$blocks" "$tmp/$page.md") >"$tmp/$page.log" 2>&1
	set -- "$page" $?
	grep '# SKIP' "$tmp/$1.log" | sed 's/^ok/# not run:/'
	grep -v '^ok' "$tmp/$1.log" | sed 's/^/# /'
	return "$2"
}
# What is begun in the background ends with the page; names of network namespaces are the page's own.
cat >"$tmp/alone" <<'END'
exec unshare -mpf --kill-child --mount-proc sh -c 'mount -t tmpfs none /run && exec "$@"' sh "$@"
END
command -v python3 >/dev/null || skip_all "python3 is not installed"
no_fibers=$(vp-run --virtual --processors 2 -d 1ms "$top_srcdir/graphs/udp-presets.lua" 2>&1 | grep libboost-context-dev)
if [ -n "$no_fibers" ]; then
	skip "docs/tutorial.md" "built without Boost.Context (package libboost-context-dev)"
	skip "docs/first-hour.md" "built without Boost.Context (package libboost-context-dev)"
else
	ok "docs/tutorial.md" shown tutorial
	ok "docs/first-hour.md" shown first-hour
fi

ok "docs/writing.md" shown writing
if [ "$(id -u)" -ne 0 ] || ! sh "$tmp/alone" sh -c 'ip netns add x && ip -n x link add xkp0 type veth peer name xkp1' 2>/dev/null; then
	skip "docs/devices.md" "needs root, unshare, ip, network namespaces and veth interfaces"
elif ! [ -c /dev/net/tun ] || ! (: </dev/net/tun) 2>/dev/null; then
	skip "docs/devices.md" "needs /dev/net/tun"
else
	cp "$top_srcdir/docs/devices.md" "$tmp/"
	if vp-run -d 1ms "$top_srcdir/graphs/xdp-echo.lua" 2>&1 | grep -e 'built without' -e 'needs Linux'; then
		sed -i '/^## AF_XDP/,/^## Which/d' "$tmp/devices.md"
		skip "docs/devices.md: AF_XDP" "needs AF_XDP, in the kernel and in the build"
	fi
	ok "docs/devices.md" shown devices sh "$tmp/alone"
fi

# The figure of README is of its table, and that of what is simulated.
figures=$top_srcdir/docs/figures
figure() {
	"$figures/threading" measure vp-run "$top_srcdir/graphs" "1 8" >"$tmp/now" && grep -E '^(processors|1|8) ' "$figures/threading.dat" | diff - "$tmp/now" &&
		grep "sum $(cksum <"$figures/threading.dat") " "$figures/threading.svg"
}
if [ -n "$no_fibers" ]; then
	skip "README's figure is what is simulated" "built without Boost.Context (package libboost-context-dev)"
else
	ok "README's figure is what is simulated" figure
fi
# Links of the book's pages lead to what the book is made of: its build, which not every machine can do, stops at others.
# in_book TOP: those that do not, as PAGE LINK
in_book() (
	"$top_srcdir/docs/book/build" "$1" --files | sort >"$tmp/in_book" && cd "$1" && grep -q '[.]md$' "$tmp/in_book" || return
	# Of a page's text; what stands in a fence is no link.
	grep '[.]md$' "$tmp/in_book" | xargs awk '/^```/ { fence = !fence } fence { next }
		{ while (match($0, /\]\([^)# ]+[)#]/)) { print FILENAME, substr($0, RSTART + 2, RLENGTH - 3); $0 = substr($0, RSTART + RLENGTH) } }' |
		grep -vE ' (https?|mailto):' | while read -r page link; do
			echo "$page $link $(realpath -ms --relative-to=. "$(dirname "$page")/$link")"
		done | sort -k3,3 | join -1 3 -v 1 - "$tmp/in_book" >"$tmp/out_of_book"
	cat "$tmp/out_of_book"
	[ ! -s "$tmp/out_of_book" ]
)
ok "links of the book lead to what it has" in_book "$top_srcdir"
mkdir -p "$tmp/book/docs" "$tmp/book/protocols" "$tmp/book/drivers" "$tmp/book/examples"
: >"$tmp/book/CONTRIBUTING" && echo 'See [it](../CONTRIBUTING), [here](a.md#b), [there](http://x/).' >"$tmp/book/docs/a.md"
outside() { ! in_book "$tmp/book" && [ "$(cat "$tmp/out_of_book")" = "CONTRIBUTING docs/a.md ../CONTRIBUTING" ]; }
ok "one that leads out of it is found" outside
# Links of README, which is no page of the book, whose build finds those of others.
links() {
	grep -o '](\([^)]*\))' "$top_srcdir/README" | sed 's/^](//; s/)$//' >"$tmp/links"
	[ "$(wc -l <"$tmp/links")" -gt 9 ] || return
	while read -r link; do [ -e "$top_srcdir/$link" ] || { echo "README: there is no $link"; return 1; }; done <"$tmp/links"
}
ok "README's links lead somewhere" links

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
