#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# guards.t - the tree passes each guard, and each guard can fail.
#
# A small tree of files is made for every rule, right but for one line; the guard
# must name that line.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tools=$top_srcdir/tools

# put PATH LINE...: a file below $tmp/t.
put() {
	mkdir -p "$(dirname "$tmp/t/$1")"
	f=$tmp/t/$1
	shift
	printf '%s\n' "$@" >"$f"
}

# named GUARD TEXT: the guard refuses $tmp/t and says TEXT.
named() {
	sh "$tools/$1" "$tmp/t" >"$tmp/out" 2>&1 && { cat "$tmp/out"; echo "accepted"; return 1; }
	cat "$tmp/out"
	grep -qF -- "$2" "$tmp/out"
}

layers() {
	rm -rf "$tmp/t"
	put "$1" 'int a;' "$2"
	ok "layers: $1 may not have $2" named check-layers "$1:2:"
}

allows() {
	rm -rf "$tmp/t"
	put "$1" 'int a;' "$2"
	ok "layers: $1 may have $2" sh "$tools/check-layers" "$tmp/t"
}

layers runtime/base/x.c '#include "runtime/sync/xk_sync.h"'
layers runtime/map/x.h '#include "runtime/upi/xk_proto.h"'
layers runtime/classify/x.c '#include "runtime/vp/xk_vp.h"'
layers runtime/vp/x.c '#include "runtime/classify/xk_classify.h"'
layers runtime/compose/x.c '#include "protocols/udp/udp.h"'
layers runtime/compose/x.c '#include "drivers/mem/mem.h"'
layers runtime/upi/x.c '#include "runtime/map/map_priv.h"'
layers runtime/upi/x.c '#include "tests/support/xk_test.h"'
layers runtime/upi/x.c '#include "xk_proto.h"'
layers runtime/embed/x.c '#include "protocols/sock/xk_sock.h"'
layers runtime/compose/x.c '#include "runtime/embed/xk_embed.h"'
layers drivers/mem/x.c '#include "runtime/compose/xk_compose.h"'
layers drivers/mem/x.c '#include "protocols/udp/udp.h"'
layers drivers/mem/x.c '#include "drivers/peer/peer.h"'
layers drivers/peer/x.c '#include "drivers/mem/mem.h"'
layers protocols/udp/x.c '#include "protocols/ip/ip_priv.h"'
layers protocols/udp/x.c '#include "protocols/ip/ip_hdr.h"'
layers protocols/udp/x.c '#include "drivers/mem/mem.h"'
layers protocols/link/x.c '#include "protocols/inet/inet_sess.h"'
layers protocols/tcp/core/x.c '#include "protocols/tcp/sess/tcp_sess.h"'
layers protocols/tcp/core/x.c '#include "runtime/upi/xk_proto.h"'
layers protocols/tcp/core/x.c '#include "protocols/tcp/tcp.h"'
layers protocols/tcp/sess/x.c '#include "protocols/tcp/fast/tcp_predict.h"'
layers protocols/udp/x.c '#include "protocols/tcp/core/tcp_cb.h"'
layers tools/vp-run/x.c '#include "runtime/vp/vp_priv.h"'
layers runtime/vp/x.c '#include "runtime/vp/modes/vp_stage.h"'
layers runtime/map/x.c '#include <pthread.h>'
layers protocols/ip/x.c '	#  include <urcu/urcu-memb.h>'
layers runtime/mem/x.c 'int f(int *p) { return __atomic_fetch_add(p, 1, 0); }'
layers runtime/mem/x.c '/* a comment */ int f(int *p) { return __sync_lock_test_and_set(p, 1); }'
allows runtime/upi/x.c '#include "runtime/classify/xk_classify.h"'
allows runtime/vp/modes/x.c '#include "runtime/vp/vp_priv.h"'
allows runtime/embed/x.c '#include "runtime/compose/xk_compose.h"'
allows runtime/sync/x.c '#include <pthread.h>'
allows runtime/map/x.c '/* #include <pthread.h> and __atomic_fetch_add */'
allows protocols/udp/x.c '#include "protocols/ip/ip.h"'
allows protocols/udp/x.c '#include "protocols/inet/inet_enable.h"'
allows protocols/inet/x.c '#include "protocols/link/linger.h"'
allows protocols/tcp/core/x.c '#include "runtime/msg/xk_msg.h"'
allows protocols/tcp/sess/x.c '#include "protocols/tcp/core/tcp_core.h"'
allows protocols/tcp/sess/x.c '#include "protocols/tcp/fast/tcp_fast.h"'
allows protocols/tcp/fast/x.c '#include "protocols/tcp/sess/tcp_act.h"'
allows tools/peers/x.c '#include "lwip/udp.h"'
allows drivers/tap/x.c '#include "runtime/upi/xk_proto.h"'
allows tests/runtime/map/x.c '#include "runtime/map/map_priv.h"'

# circle A B ...: a file of protocols/x for each, which calls the next, the last one the first.
circle() {
	rm -rf "$tmp/t"
	for name in "$@"; do
		shift
		put "protocols/x/$name.c" "void ${1:-a}(void);" "void $name(void); void $name(void) { ${1:-a}(); }"
		${CC:-cc} -c -o "$tmp/t/protocols/x/$name.o" "$tmp/t/protocols/x/$name.c" || return 1
	done
}
circles() { (cd "$tmp/t" && sh "$tools/check-circles" . .); }
circle a b c
ok "circles: one of three files passes" circles
circle a b c d
ok "circles: one of four is refused" sh -c "! sh '$tools/check-circles' '$tmp/t' '$tmp/t'"

rm -rf "$tmp/t"
put runtime/base/a.h 'struct b; size_t f(struct b *);'
ok "headers: one that needs another is named" named check-headers "runtime/base/a.h: does not compile alone"
put runtime/base/a.h '#include <stddef.h>' 'struct b; size_t f(struct b *);'
ok "headers: it passes once it includes what it needs" sh "$tools/check-headers" "$tmp/t"

rm -rf "$tmp/t"
mkdir -p "$tmp/t/runtime"
awk 'BEGIN { for (i = 0; i < 801; i++) print "/* */" }' >"$tmp/t/runtime/long.c"
ok "length: a file over 800 lines is named" named length-report "runtime/long.c: 801 lines"
awk 'BEGIN { print "int f(void)\n{"; for (i = 0; i < 70; i++) print "\t;"; print "}" }' >"$tmp/t/runtime/long.c"
ok "length: a function over 60 lines is reported" sh -c \
	"sh '$tools/length-report' '$tmp/t' 2>/dev/null | grep -F 'runtime/long.c:1: f is 73 lines'"

rm -rf "$tmp/t"
put protocols/list 'foo libfoo-dev'
put protocols/foo/foo.c ''
put protocols/foo/foo.md ''
put tests/protocols/test_foo.c 'xk_proto_foo'
put graphs/a.lua 'stack { fool {}, food {} }'
ok "protocols: one without a graph is named" named check-protocols "foo lacks a graph"
put graphs/a.lua 'stack { foo { } }'
ok "protocols: a graph that the gallery lacks is named" named check-protocols "graphs/a.lua: lacks a section in docs/gallery.md"
put docs/gallery.md '## a.lua'
ok "protocols: with page, test, graph and section it passes" sh "$tools/check-protocols" "$tmp/t"
rm "$tmp/t/tests/protocols/test_foo.c"
ok "protocols: one without a test is named" named check-protocols "foo lacks a test"
put tests/protocols/test_foo.c 'xk_proto_foo'
rm "$tmp/t/protocols/foo/foo.md"
ok "protocols: one without a page is named" named check-protocols "foo lacks its page"


rm -rf "$tmp/t"
put README 'short'
put runtime/vp/x.c '/* fine: RFC 5961, M_PI, P4 */' 'int S1; /* see row 24 */'
ok "words: a row that stands elsewhere is named" named check-words 'runtime/vp/x.c:2: "row 24"'
put runtime/vp/x.c '/* refused (M165) */'
ok "words: a code is named" named check-words 'runtime/vp/x.c:1: "M165"'
put runtime/vp/x.c 'int S1;'
put docs/a.md 'as in S3' '    vp-bench reproduce S3' '`S3.fig2`'
ok "words: a page may not have one either" named check-words 'docs/a.md:1: "S3"'
put docs/a.md "$(printf '%0101d' 1)"
ok "words: a line of more than 100 columns is named" named check-words 'docs/a.md:1: 101 columns'
put docs/a.md "| $(printf '%0101d' 1) |" "$(printf '%0100d' 1)"
ok "words: tables and shorter lines pass" sh "$tools/check-words" "$tmp/t"
ok "the tree passes check-words" sh "$tools/check-words" "$top_srcdir"

rm -rf "$tmp/t"
put runtime/upi/xk_proto.h 'int a;'
put protocols/hop/hop.c '#include "runtime/upi/xk_proto.h"'
put protocols/virtual/virtual.h '#include "runtime/upi/xk_proto.h"'
awk 'BEGIN { for (i = 0; i < 1000; i++) print "/* */" }' >"$tmp/t/runtime/long.h"
put protocols/echo/echo.c '#include "runtime/upi/xk_proto.h"' '#include "runtime/long.h"'
ok "contract: a model that sees 1001 lines is named" named check-contract "protocols/echo/echo.c: sees more than 1000 lines"
put runtime/long.h 'int b;'
for i in 0 1 2 3 4 5 6 7 8; do
	put "runtime/h$i.h" "int h$i;"
	echo "#include \"runtime/h$i.h\"" >>"$tmp/t/protocols/echo/echo.c"
done
ok "contract: a model that sees 11 headers is named" named check-contract "protocols/echo/echo.c: sees more than 10 headers"
put protocols/echo/echo.c '#include "runtime/upi/xk_proto.h"'
ok "contract: small models pass" sh "$tools/check-contract" "$tmp/t"
put runtime/upi/xk_node.h 'struct xk_node { int a; };'
put protocols/ping/ping.c '#include "runtime/upi/xk_node.h"'
ok "contract: an ordinary protocol that sees a node is named" named check-contract "protocols/ping/ping.c: sees runtime/upi/xk_node.h"
put protocols/ping/ping.c '#include "runtime/upi/xk_proto.h"'
put runtime/vp/xk_vp.h 'struct xk_vp { int a; };'
put protocols/x/x.h '#include "runtime/vp/xk_vp.h"'
put protocols/x/x.c '#include "protocols/x/x.h"'
ok "contract: a protocol that sees a virtual processor is named" named check-contract "protocols/x/x.c: sees runtime/vp/xk_vp.h"
rm -rf "$tmp/t/protocols/x"
awk 'BEGIN { for (i = 0; i < 301; i++) print "/* */" }' >"$tmp/t/runtime/upi/xk_proto.h"
ok "contract: it is named when it fits no page" named check-contract "runtime/upi/xk_proto.h: 301 lines"

# The other guards look at the tree itself in `make guards`.
ok "the tree passes check-layers" sh "$tools/check-layers" "$top_srcdir"
ok "the tree passes check-contract" sh "$tools/check-contract" "$top_srcdir"
done_testing
