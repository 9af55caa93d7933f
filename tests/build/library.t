#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# library.t - what programs are given: headers that stand alone in C and C++, a library that shows what they declare and no
# more, and the first program of docs/embedding.md.
#
# usage: library.t [--record]
#
# --record writes runtime/embed/libxk.exports, after xk/graph.h or xk/sock.h have changed.  The library is looked at where
# `make shared` or `make install` have made it; make installcheck runs this, so there it has.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
top_builddir=$(cd "$top_builddir" && pwd -P) top_srcdir=$(cd "$top_srcdir" && pwd -P)
recorded=$top_srcdir/runtime/embed/libxk.exports
cc=${CC:-cc} cxx=${CXX:-c++}
[ -f "$top_builddir/xk/graph.h" ] || skip_all "there is no $top_builddir/xk/graph.h: make built-sources"
command -v pkg-config >/dev/null || skip_all "needs pkg-config"
PKG_CONFIG_PATH=$top_builddir
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags xkvp) || skip_all "pkg-config does not find xkvp in $top_builddir"
so=$top_builddir/libxk.so
unset VP_PLUGIN_PATH VP_GRAPH_PATH

# ---- headers: an empty folder, and what pkg-config says -------------------------------------------

mkdir "$tmp/empty"
alone() { printf '%s\n' "$2" | (cd "$tmp/empty" && $1 $flags -Wall -Wextra -Wshadow -Werror -fsyntax-only -); }
for h in graph sock; do
	for std in c11 gnu17; do
		ok "xk/$h.h alone, $std" alone "$cc -std=$std -Wstrict-prototypes -x c" "#include <xk/$h.h>"
	done
	if command -v "$cxx" >/dev/null; then
		ok "xk/$h.h alone, C++17" alone "$cxx -std=c++17 -x c++" "#include <xk/$h.h>"
	else
		skip "xk/$h.h alone, C++17" "there is no $cxx"
	fi
	ok "xk/$h.h without what pkg-config says of options" alone "$cc -std=c11 -U_GNU_SOURCE -x c" "#include <xk/$h.h>"
done
ok "all together, in any order" alone "$cc -std=c11 -x c" '#include <xk/sock.h>
#include <xk/proto.h>
#include <xk/graph.h>
#include <xk/sock.h>'
ok "beside the system's own names" alone "$cc -std=c11 -x c" '#include <netinet/tcp.h>
#include <sys/socket.h>
#include <xk/sock.h>
#include <xk/graph.h>'

# What they bring are themselves and headers of the system; no structure of the runtime is seen in them.
leaks() {
	printf '#include <xk/graph.h>\n#include <xk/sock.h>\n' | (cd "$tmp/empty" && $cc $flags -x c -M -) | tr -s ' \\' '\n\n' | grep '[.]h$' >"$tmp/seen"
	grep -c . "$tmp/seen"
	grep -qx "$top_builddir/xk/graph.h" "$tmp/seen" && ! grep -vE "^(/usr/|$top_builddir/xk/(graph|sock)[.]h$)" "$tmp/seen" | grep "^$top_srcdir"
}
ok "no other header of the tree comes with them" leaks
no_bodies() {
	! grep -nE '#include "|^(struct|union) xk_[a-z_]+ \{$' "$top_builddir/xk/graph.h" "$top_builddir/xk/sock.h" | grep -vE 'struct xk_sock_(msg|addr) \{'
}
ok "they have no bodies of the runtime's structures" no_bodies
small() { [ "$(wc -l <"$top_builddir/xk/$1.h")" -le "$2" ] || { wc -l "$top_builddir/xk/$1.h"; return 1; }; }
ok "xk/graph.h is small" small graph 300
ok "xk/sock.h is small" small sock 400
ok "a header that is not made is refused" sh -c "! sh '$top_srcdir/tools/gen-proto-header' '$top_srcdir' other"

# ---- names ---------------------------------------------------------------------------------------------

# What the headers declare and the library of the build defines.
names() {
	printf '#include <xk/graph.h>\n#include <xk/sock.h>\n' | $cc $flags -x c -E -P - | grep -oE 'xk_[a-z0-9_]+ *\(' | tr -d '( ' | sort -u >"$tmp/words"
	nm -g --defined-only "$top_builddir/libxk.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u >"$tmp/defined"
	# Plug-ins have this one, too.
	comm -12 "$tmp/words" "$tmp/defined" | grep -vx xk_strerror
}
recorded_names() { sed -n 's/^	\([a-z].*\);$/\1/p' "$@" | sort -u; }
if [ "${1-}" = --record ]; then
	names >"$tmp/now" || exit
	{
		echo '/* libxk.exports - what programs use of libxk.so; of plug-ins: xk.exports. Made by tests/build/library.t --record. */'
		echo '{' && sed 's/.*/	&;/' "$tmp/now" && echo '};'
	} >"$tmp/file" && cp "$tmp/file" "$recorded"
	exit
fi
same() {
	names >"$tmp/now" && recorded_names "$recorded" >"$tmp/then" && [ -s "$tmp/now" ] && diff "$tmp/then" "$tmp/now" && return
	echo "sh tests/build/library.t --record, where that is meant"
	return 1
}
if [ -f "$top_builddir/libxk.a" ]; then
	ok "all that the headers declare is there, and recorded" same
else
	skip "all that the headers declare is there, and recorded" "there is no libxk.a"
fi
# A name that several objects use and one has: what is compiled for the library reaches it by a table, what is for programs
# does not.
by_table() { readelf -rW "$1" 2>/dev/null | grep -E 'GOTPCREL.* xk_proto_table'; }
direct() { [ -f "$top_builddir/$1" ] && readelf -rW "$top_builddir/$1" | grep -q xk_proto_table && ! by_table "$top_builddir/$1"; }
one=$top_builddir/runtime/compose/compose_plugin.o
if [ "$(uname -m)" = x86_64 ] && command -v readelf >/dev/null && [ -f "$one" ] && ! readelf -p .comment "$one" | grep -q clang; then
	ok "the programs' objects are not those of the library" direct runtime/compose/compose_plugin.o
else
	skip "the programs' objects are not those of the library" "needs readelf, x86_64 and an object of gcc: clang reaches it by a table in any case"
fi

# ---- the library, where it was made ----------------------------------------------------------------------

shown() {
	nm -D --defined-only "$so" | awk '{ print $NF }' | sed 's/@.*//' | grep -v '^XKVP_' | sort -u >"$tmp/has"
	recorded_names "$recorded" "$top_srcdir/runtime/xk.exports" >"$tmp/may"
	recorded_names "$recorded" >"$tmp/must"
	[ -s "$tmp/has" ] && ! comm -23 "$tmp/has" "$tmp/may" | grep . && ! comm -13 "$tmp/has" "$tmp/must" | grep .
}
# Those of a plug-in that this build has, with or without what is left out of some.
plugins_have() {
	recorded_names "$top_srcdir/runtime/xk.exports" | comm -12 - "$tmp/defined" >"$tmp/must"
	[ "$(wc -l <"$tmp/must")" -gt 300 ] && ! comm -13 "$tmp/has" "$tmp/must" | grep .
}
versioned() { nm -D --defined-only "$so" | grep -q ' xk_embed_new@@XKVP_0$' && readelf -d "$so" | grep 'SONAME.*\[libxk[.]so[.]0\]'; }
straight() { ! objdump -d "$so" | grep -E 'call.*<(xk|virt|linger|tcp|udp|ip)_[a-z_0-9]*@plt>'; }
polite() { ! nm -D "$so" | grep -E ' U (exit|_Exit|quick_exit|signal|sigaction|sigprocmask|printf|puts|putchar|stdout|__printf_chk)(@|$)'; }
hidden() {
	readelf -sW "$top_builddir/pic/runtime/compose/compose_plugin.o" | awk '$5 == "GLOBAL" && $7 != "UND" { print $6, $8 }' >"$tmp/of"
	grep -x 'HIDDEN xk_plugin_load' "$tmp/of" && ! grep '^DEFAULT' "$tmp/of" &&
		readelf -sW "$top_builddir/pic/runtime/embed/embed.o" | grep 'DEFAULT .* xk_embed_new$'
}
by_the_table() { by_table "$top_builddir/pic/runtime/compose/compose_plugin.o"; }
if [ -f "$so" ] && [ -f "$top_builddir/libxk.a" ] && command -v readelf >/dev/null; then
	ok "it shows what is recorded, and no more" shown
	ok "it has all that plug-ins use" plugins_have
	ok "it has a number, and so have its names" versioned
	ok "calls inside it take no detour" straight
	ok "it neither exits, nor takes signals, nor prints to stdout" polite
	ok "it is position-independent" by_the_table
	ok "what nobody outside sees is hidden by the compiler, too" hidden
else
	skip "what the library shows" "there is no $so (make shared), or no readelf"
fi

# ---- the first program of the page --------------------------------------------------------------------------

awk '/^```c$/ && !n { n = 1; next } /^```$/ && n == 1 { n = 2 } n == 1' "$top_srcdir/docs/embedding.md" >"$tmp/first.c"
flags_of() { sed -n "s/^$1 = *//p" "$top_builddir/Makefile"; }
linked() {
	cd "$tmp" || return
	if [ -f "$so" ]; then
		# shellcheck disable=SC2046
		$cc -std=c11 -Wall -Wextra -Werror -o "$1" "$1.c" $flags $(pkg-config --libs xkvp) -Wl,-rpath,"$top_builddir" $(flags_of XK_LDFLAGS) ${2-}
	else
		# shellcheck disable=SC2046
		$cc -std=c11 -Wall -Wextra -Werror -o "$1" "$1.c" $flags "$top_builddir/libxk.a" $(flags_of XK_LIBS) $(flags_of LIBS) $(flags_of XK_LDFLAGS) ${2-}
	fi
}
first() { "$tmp/first" "$top_srcdir/graphs/hello.lua" >"$tmp/out" && sed -n 's/^    \(workload complete: .*\)/\1/p' "$top_srcdir/docs/embedding.md" | diff - "$tmp/out"; }
bad() { echo 'return graph "g" { no = 1 }' >"$tmp/bad.lua" && ! "$tmp/first" "$tmp/bad.lua" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/out" ] && grep "unknown parameter 'no'" "$tmp/err"; }
if [ -f "$so" ] || [ -f "$top_builddir/libxk.a" ]; then
	ok "the page's first program has at most 20 lines" [ "$(wc -l <"$tmp/first.c")" -le 20 ]
	ok "it compiles" linked first
	ok "it prints what the page says" first
	ok "it tells what is wrong with a file, on stderr alone" bad
else
	skip "the page's first program" "there is no library"
fi

# ---- loaded by an interpreter ------------------------------------------------------------------------------------

cat >"$tmp/late.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* late LIBRARY PLUGIN: the library is opened by no name that others see; the plug-in needs its functions all the same. */
int main(int argc, char **argv)
{
	void *h = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL, *fn = h != NULL ? dlsym(h, "xk_embed_plugin") : NULL;
	int (*plugin)(const char *, char *, size_t);
	char why[512] = "";

	if (fn == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	memcpy(&plugin, &fn, sizeof fn);
	if (plugin(argv[2], why, sizeof why) == 0)
		return dlclose(h);
	fprintf(stderr, "%s %s\n", argv[2], why);
	return 1;
}
END
late() {
	cd "$tmp" || return
	# shellcheck disable=SC2086
	$cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o late late.c -ldl && $cc -std=c11 $flags -fPIC -shared -o tube.so "$top_srcdir/examples/driver/tube.c" &&
		GLIBC_TUNABLES=glibc.rtld.optional_static_tls=4096 ./late "$so" "$tmp/tube.so"
}
if [ -f "$so" ] && ! readelf -d "$so" | grep -q 'NEEDED.*lib[at]san'; then
	ok "opened by dlopen it shows plug-ins its names" late
else
	skip "opened by dlopen it shows plug-ins its names" "there is no $so, or it has a sanitizer"
fi
done_testing
