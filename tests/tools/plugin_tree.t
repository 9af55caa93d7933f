#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# plugin_tree.t - protocols of the tree as plug-ins: xdr, http, impair and hostudp, their sources as they are, compiled
# against xk/proto.h alone.  In programs that have none of them inside they do what those inside do: the same schema,
# the same carets, filters, tables and bytes, and as many instructions, 2 % more at most.
#
# What a source includes of the tree, and does not lie beside it, is a file of one line that includes xk/proto.h; there
# is one for each header that it says it was made of, and no other.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/bench/count.sh"
top_builddir=$(cd "$top_builddir" && pwd) top_srcdir=$(cd "$top_srcdir" && pwd)
few=$top_builddir/tests/tools/vp-run-few few_graph=$top_builddir/tests/tools/vp-graph-few
command -v pkg-config >/dev/null || skip_all "needs pkg-config"
for tool in "$top_builddir/vp-run" "$top_builddir/vp-graph" "$top_builddir/vp-ctl" "$few" "$few_graph"; do
	[ -x "$tool" ] || skip_all "needs $tool"
done
PKG_CONFIG_PATH=$top_builddir
# One compilation of the programs, that of the plug-ins.
VP_CPU=generic
export PKG_CONFIG_PATH VP_CPU
unset VP_PLUGIN_PATH VP_GRAPH_PATH VP_CONTROL
flags=$(pkg-config --cflags xkvp) || skip_all "pkg-config does not find xkvp in $top_builddir"
cc=${CC:-cc} cflags=$(flags_of CFLAGS)
# libasan has functions of XDR, and finds the library's behind them only when that is there from the beginning.
case " $flags" in *-fsanitize*) skip_all "this build has sanitizers" ;; esac
graphs=$top_srcdir/graphs here=$top_srcdir/tests/tools/plugin_tree.lua
cd "$tmp" || exit 1

# ---- they compile -------------------------------------------------------------------------

# The face: each header that xk/proto.h was made of, by its name in the tree.
sed -n 's|^/\* ---- \(.*[.]h\) \*/$|\1|p' "$(pkg-config --variable=includedir xkvp)/xk/proto.h" >headers
while read -r h; do
	mkdir -p "face/$(dirname "$h")" && echo '#include <xk/proto.h>' >"face/$h"
done <headers
ok "xk/proto.h says what it was made of" grep -qx runtime/upi/xk_proto.h headers

# plugin NAME PATH...: NAME.so of these files of the tree; more flags and libraries are $more and $libs.
plugin() {
	so=$1
	shift
	for f; do
		mkdir -p "$so/$(dirname "$f")" && cp "$top_srcdir/$f" "$so/$f" || return 1
	done
	printf '#include <xk/proto.h>\nextern const struct xk_proto xk_proto_%s;\nXK_PLUGIN(&xk_proto_%s);\n' "$so" "$so" >"$so/plugin.c"
	cp "$top_srcdir/$(dirname "$1")/$so.test.lua" . || return 1
	# shellcheck disable=SC2086,SC2046
	$cc -std=c11 -Wall -Wextra -Werror $cflags -I"$so" -Iface $flags ${more-} -fvisibility=hidden -fPIC -shared -o "$so.so" \
		$(find "$so" -name '*.c') ${libs-}
}
of() { (cd "$top_srcdir" && ls "$1"/*.[ch]); }
common=drivers/common
all="http impair hostudp"
# shellcheck disable=SC2046
{
	ok "http compiles against it" plugin http $(of protocols/http)
	ok "impair" plugin impair $(of drivers/impair)
	ok "hostudp, with the common sources of drivers that it takes along" plugin hostudp $(of drivers/hostudp) \
		$common/hostsock.c $common/hostsock.h $common/netns.c $common/netns.h
}
if [ -f "$top_builddir/protocols/xdr/samples_xdr.c" ]; then
	all="xdr $all" more=$(flags_of TIRPC_CFLAGS) libs=$(flags_of TIRPC_LIBS)
	mkdir -p xdr/protocols/xdr && cp "$top_builddir"/protocols/xdr/samples*.[ch] xdr/protocols/xdr
	# shellcheck disable=SC2046
	ok "xdr, with what rpcgen makes" plugin xdr $(of protocols/xdr)
	more='' libs=''
else
	skip "xdr" "this build has no xdr: it lacks rpcgen or libtirpc"
fi
ok "and asker, which no program has inside" sh -c "$cc -std=c11 -Wall -Wextra -Werror $cflags $flags -fPIC -shared -o asker.so '$top_srcdir/tests/tools/asker.c'"
has() { case " $all " in *" $1 "*) ;; *) return 1 ;; esac; }
mkdir only && for p in $all; do cp "$p.so" only; done
plugins() { VP_PLUGIN_PATH=$tmp/only "$@"; }

# ---- they are not inside, and are when they are loaded -------------------------------------------

inside() { "$top_builddir/vp-run" --plugin "$1.so" --check "$graphs/hello.lua" 2>out || grep "brings '$1', which xkvp itself has already" out; }
differs() { "$1" inspect "$2" >inside.txt && plugins "$few_graph" inspect "$2" >outside.txt && diff inside.txt outside.txt && [ -s outside.txt ]; }
for p in $all; do
	ok "$p: the program does not have it" sh -c "! '$few_graph' inspect $p"
	ok "$p: who has it inside says so" inside "$p"
	ok "$p: inspect says of it what it says of the one inside" differs "$top_builddir/vp-graph" "$p"
done

# same PROGRAM... -- ARG...: what both programs print and how they end is the same; plug-ins' the second's alone.
same() {
	inside=$1 outside=$2
	shift 2
	"$inside" "$@" >inside.out 2>inside.err
	code=$?
	plugins "$outside" "$@" >outside.out 2>outside.err
	[ $? = $code ] || { echo "exit code $code inside"; cat outside.err; return 1; }
	[ -s inside.out ] || [ -s inside.err ] || { echo "nothing is printed"; return 1; }
	diff inside.out outside.out && sed 's/^vp-[a-z]*: //' inside.err >a && sed 's/^vp-[a-z-]*: //' outside.err | diff a -
}
runs() { same "$top_builddir/vp-run" "$few" --plugin asker.so --virtual "$@"; }
graph() { same "$top_builddir/vp-graph" "$few_graph" "$@"; }

# ---- graphs of the tree ----------------------------------------------------------------------

works() { runs "$@" && grep -q 'workload complete$' outside.out; }
if has xdr; then
	for preset in vppc tpc ips_conn mp lp; do
		ok "udp-xdr.lua, $preset: every figure of its table is the same" works "$graphs/udp-xdr.lua" preset=$preset count=100 conns=8
	done
	ok "tcp-xdr.lua, with frames lost: xdr and impair" works "$graphs/tcp-xdr.lua" count=50 loss=1% fragment=16
	ok "with frames that are FDDI's" works "$graphs/tcp-xdr.lua" count=20 link=fddi
	ok "its packet filters are the same" graph filter "$graphs/udp-xdr.lua"
fi
ok "http: what it counts is the same" works "$here" root=. path=/headers keep=inside.http
mv inside.http outside.http
ok "impair: which frames are lost is the same" works "$here" what=impair loss=10%
ok "of them some are" grep -q '^impair .* lost [1-9]' outside.out
ok "the packet filters above it are the same" graph filter "$here" what=impair
asked() {
	rm -f answers
	"$@" --plugin asker.so --virtual "$here" root=. path=/headers keep=answers count=3 >out 2>&1 && grep -v '^Date: ' answers || cat out
}
answers() {
	asked "$top_builddir/vp-run" >inside.http && asked plugins "$few" >outside.http && cmp inside.http outside.http &&
		[ "$(grep -c '^HTTP/1.1 200 OK' outside.http)" = 3 ] && [ "$(grep -cx runtime/upi/xk_proto.h outside.http)" = 3 ]
}
ok "and so are its answers, byte for byte" answers
captured() {
	"$top_builddir/vp-run" --virtual --capture="$1=in.pcap" "$here" what=impair loss=10% >out 2>&1 &&
		plugins "$few" --virtual --capture="$1=out.pcap" "$here" what=impair loss=10% >out 2>&1 && cmp in.pcap out.pcap &&
		[ "$(wc -c <out.pcap)" -gt 1000 ] || { cat out; return 1; }
}
ok "a capture below it has the same bytes" captured impair
threads() { plugins "$few" "$@" >out 2>&1 && grep 'workload complete$' out || { cat out; return 1; }; }
ok "hostudp, whose sockets are the kernel's: every question is answered" threads "$graphs/hostudp-echo.lua" port=7319 count=500
ok "they are counted" grep -q '^load .*answers 2000' out
# Not of hostudp, whose graph has a port of the kernel that others ask for, too.
for p in ${all% *}; do
	ok "$p: it works under every preset, as vp-graph test says" "$few_graph" --plugin "$tmp/$p.so" test --clause=presets --rounds=1 "$p"
done

# ---- what is wrong in a graph file ---------------------------------------------------------------

# wrong NAME TEXT WORD: a file with this line is refused by both in the same words, WORD among them, with a caret.
wrong() {
	printf '%s\nreturn graph "wrong" {}\n' "$2" >"$1.lua"
	graph check "$1.lua" && [ $code = 3 ] && grep -q -e "$3" outside.err && grep -q '|  *^' outside.err || { cat outside.err; return 1; }
}
ok "a wrong value of impair is told at its place" wrong value 'echo { port = 7, over = udp { over = stack { ip { addr = "10.0.0.2/24" }, arp {}, eth {}, impair { loss = 2 }, eth_mem { wire = "w" } } } }' loss
ok "a word that http does not have" wrong word 'http { rot = ".", over = tcp { over = stack { ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "w" } } } }' "did you mean 'root'"
ok "a port that is taken, as its review says" wrong port 'local t = tcp { over = stack { ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "w" } } }; http { root = ".", over = t }; http { root = ".", over = t }' "port 80"
ok "http over what is no stream" wrong stream 'http { root = ".", over = udp { over = stack { ip { addr = "10.0.0.2/24" }, arp {}, eth {}, eth_mem { wire = "w" } } } }' stream

# ---- while it runs ---------------------------------------------------------------------------------

ctl() { "$top_builddir/vp-ctl" -s "$tmp/s" --timeout 120s "$@"; }
live() {
	VP_PLUGIN_PATH=$tmp/only "$few" --control="$tmp/s" "$here" what=impair count=0 >out 2>&1 &
	pid=$!
	until_ok 60 [ -S s ] && ctl set impair loss 100% && ctl get impair loss >value && ! ctl set impair loss 2 2>no
	got=$?
	kill $pid
	wait $pid || got=1
	cat out no
	cat value
	[ $got = 0 ] && grep "^impair  *loss  *1 " value && grep "loss.*got 2" no
}
ok "a live parameter changes, and one that is out of its limits does not" live

# ---- instructions ------------------------------------------------------------------------------------

reason=$( (countable) )
rounds=1
# instructions NAME MESSAGES FILE ARG...: of a message, inside and outside, in virtual time.  A run that a busy machine
# stretches meets more ticks of its clock, so what is above is counted twice more; what is really above stays there.
instructions() { compared "$@" || compared "$@" || compared "$@"; }
compared() {
	name=$1 messages=$2
	shift 2
	program=$top_builddir/vp-run
	a=$(per_message "$messages" --plugin "$tmp/asker.so" --virtual "$@") || { cat run; return 1; }
	program=$few VP_PLUGIN_PATH=$tmp/only
	export VP_PLUGIN_PATH
	b=$(per_message "$messages" --plugin "$tmp/asker.so" --virtual "$@")
	got=$?
	unset VP_PLUGIN_PATH
	[ $got = 0 ] || { cat run; return 1; }
	echo "$name ${a%% *} ${b%% *}" | tee -a figures
	awk -v a="${a%% *}" -v b="${b%% *}" 'BEGIN { exit !(a > 0 && b <= a * 1.02) }'
}
count() {
	if [ -n "$reason" ]; then
		skip "$1: instructions of a message" "${reason#*SKIP }"
	else
		ok "$1: a message takes at most 2 % more instructions than inside" instructions "$@"
	fi
}
has xdr && count "xdr over UDP" 100 "$graphs/bench/xdr.lua" size=4096
has xdr && count "xdr over TCP" 50 "$graphs/bench/xdr.lua" transport=tcp size=4096
count http 800 "$here" root="$tmp" path=/headers
count impair 1000 "$here" what=impair
[ ! -f figures ] || awk '{ b = $NF; a = $(NF - 1); NF -= 2; printf "# %s: %s instructions inside, %s outside, %+.2f %%\n", $0, a, b, 100 * (b / a - 1) }' figures
done_testing
