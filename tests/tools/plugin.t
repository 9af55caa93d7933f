#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# plugin.t - protocols from outside the tree: what vp-graph new-protocol writes compiles, runs and passes its own test;
# what it brings is looked at as what is inside is; a plug-in that cannot be used is told by one sentence, and the rest works.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v pkg-config >/dev/null || skip_all "needs pkg-config"
for tool in "$top_builddir/vp-run" "$top_builddir/vp-graph" "$top_builddir/vp-bench" "$top_builddir/vp-sim"; do
	[ -x "$tool" ] || skip_all "needs $tool"
done
PKG_CONFIG_PATH=$top_builddir
CC=${CC:-cc}
PATH=$top_builddir:$PATH
export PKG_CONFIG_PATH CC PATH
unset VP_PLUGIN_PATH MAKEFLAGS MAKELEVEL
flags=$(pkg-config --cflags xkvp) || skip_all "pkg-config does not find xkvp in $top_builddir"
cd "$tmp" || exit 1

# ---- what is written works ----------------------------------------------------------

made() {
	vp-graph new-protocol --kind="$1" "my_$1" >out 2>&1 && make -C "my_$1" CFLAGS="-O1 -g -Werror" >make.log 2>&1 && return
	cat out make.log
	return 1
}
for kind in app layer driver; do
	ok "$kind: is written, and compiles without a warning" made $kind
	ok "$kind: has less than 60 lines" [ "$(wc -l <"my_$kind/my_$kind.c")" -lt 60 ]
	ok "$kind: its test passes" make -s -C my_$kind check
done
ok "a layer is the default" sh -c "vp-graph new-protocol plain >out && grep -q VIRT_OPS plain/plain.c"
ok "make install puts it where tools look" sh -c "make -s -C my_app install DESTDIR=$tmp/to && find '$tmp/to' | grep 'xkvp/my_app[.]so$'"

# ---- as what is inside ------------------------------------------------------------------

by() { VP_PLUGIN_PATH=$1 sh -c 'shift && "$@"' by "$@"; }
ok "inspect has its schema" says 'a byte in front of each message' by my_layer vp-graph inspect my_layer
ok "with its parameters" says 'mark' by my_layer vp-graph inspect my_layer
ok "and drop reasons" says 'another_mark' by my_layer vp-graph inspect my_layer
ok "list names it" says 'my_layer' by my_layer/my_layer.so vp-graph list
ok "--plugin does, too" says "a byte in front" vp-graph --plugin my_layer/my_layer.so inspect my_layer
ok "of both, it is one" says "a byte in front" by my_layer vp-graph --plugin my_layer/my_layer.so inspect my_layer
ok "meta has it for editors" says my_layer by my_layer vp-graph --luacats meta
wrong() { sed 's/my_layer {}/my_layer { mark = 300 }/' my_layer/my_layer.lua >wrong.lua && ! by my_layer vp-graph check wrong.lua 2>out; }
ok "a wrong value is an error of the graph file" wrong
ok "with its line and a caret" sh -c 'grep -q "^wrong.lua:1[0-9]: .*mark" out && grep -q "|  *^" out'
ok "without it, its name is unknown" sh -c '! vp-graph check my_layer/my_layer.lua 2>out && grep "unknown name .my_layer." out'
other() {
	sed 's/name = "my_layer_server"/&, mark = 7/' my_layer/my_layer.lua >other.lua
	by my_layer vp-run --virtual -d 1s other.lua >out
	grep 'my_layer_server .*another_mark [1-9]' out || { cat out; return 1; }
}
ok "what it drops is counted by name" other
ok "vp-run --plugin runs it" sh -c "vp-run --plugin my_app/my_app.so --virtual my_app/my_app.lua >out && grep 'load .*answers 2000' out"
full() {
	sed 's/my_driver {}/my_driver { queue = 3 }/; s/window = 1/window = 5/' my_driver/my_driver.lua >full.lua
	by my_driver vp-run --virtual -d 1s full.lua preset=up count=10 >out
	grep 'my_driver .*queue_full [1-9]' out || { cat out; return 1; }
}
ok "and what a queue has no room for" full
silent() {
	vp-graph new-protocol unsaid >out && sed -i.was 's/virt_header_init(r, 1)/virt_header_init(r, 0)/' unsaid/unsaid.c && make -s -C unsaid >make.log 2>&1 || return 1
	! by unsaid vp-graph test --clause bytes unsaid >out && grep 'bytes  *FAIL  6550[0-9] bytes pushed, 0 came' out || { cat out; return 1; }
}
ok "a layer that is silent about its header is found by its longest message" silent
planned() {
	printf 'local a = args { count = uint { 10, doc = "of each" } }\nstack { load { to = "10.0.0.2", port = 7, count = a.count }, my_driver {} }\n' >b.lua
	printf 'return bench "b" { graph = graph "g" { threading = up {} }, metric = "mps", sweep = { count = { 10 } } }\n' >>b.lua
	by my_driver vp-bench plan b.lua >out 2>&1 && by my_driver vp-sim b.lua >out2 2>&1
	grep "count" out && ! grep "unknown name" out2
}
ok "vp-bench and vp-sim find it by the environment" planned

# ---- what cannot be used ------------------------------------------------------------------

# bad NAME CODE: NAME.so of a plug-in whose descriptors are called p, made of the layer's.
bad() {
	mkdir -p "bad_$1" && sed -e "s/XK_PLUGIN(&my_layer_proto);/$2/" my_layer/my_layer.c >"bad_$1/$1.c" &&
		$CC -std=c11 -O0 $flags ${3-} -fPIC -shared -o "bad_$1/$1.so" "bad_$1/$1.c"
}
refused() {
	vp-run --plugin "bad_$1/$1.so" --check my_driver/my_driver.lua 2>out && { echo "taken"; return 1; }
	[ "$(grep -c . out)" = 1 ] && grep -F "vp-run: plug-in bad_$1/$1.so $2" out || { cat out; return 1; }
}
raw() { printf 'extern const struct xk_plugin xk_plugin; const struct xk_plugin xk_plugin = { %s, (const struct xk_proto *const[]){ \\&my_layer_proto, NULL } };' "$1"; }
bad number "$(raw 'XK_ABI - 1, sizeof(struct xk_proto), XK_BUILD')"
ok "of another number of the interface" refused number "was built against number"
bad options "$(raw 'XK_ABI, sizeof(struct xk_proto), \" --enable-oddity\"')"
ok "of other options" refused options "was built with other options (--enable-oddity; this program: "
bad silent ""
ok "without XK_PLUGIN" refused silent "is no plug-in of xkvp: it has no XK_PLUGIN(...)"
bad lacks "void xk_nowhere(void); void my_use(void); void my_use(void) { xk_nowhere(); } XK_PLUGIN(\\&my_layer_proto);"
ok "that needs what the program lacks" refused lacks "needs 'xk_nowhere', which this program has not"
altered() { bad "$1" "static struct xk_proto p; XK_PLUGIN(\\&p); __attribute__((constructor)) static void begin(void) { p = my_layer_proto; $2 }"; }
altered taken 'p.name = \"udp\";'
ok "with a name that is taken" refused taken "brings 'udp', which xkvp itself has already"
altered word 'p.name = \"stack\";'
ok "with the name of a word" refused word "cannot be used: its protocol 'stack' has the name of a word of graph files"
altered name 'p.name = \"My-Layer\";'
ok "with a name that no file can have" refused name "cannot be used: its protocol 'My-Layer' has a name"
altered nodoc 'p.doc = NULL;'
ok "without a line of doc" refused nodoc "cannot be used: its protocol 'my_layer' has no line of doc"
altered short 'p.conf_size = 17;'
ok "with a parameter behind its configuration" refused short "cannot be used: its protocol 'my_layer' has a parameter 'mark' that ends behind"
altered sess 'p.sess_size = 8;'
ok "with too small a session" refused sess "cannot be used: its protocol 'my_layer' has sessions without a struct xk_sess"
altered below 'p.needs[0] = NULL;'
ok "that does not say what it lies over" refused below "cannot be used: its protocol 'my_layer' must say in .needs"
altered ops 'p.ops = NULL;'
ok "without operations" refused ops "cannot be used: its protocol 'my_layer' has no operations"
bad twice "XK_PLUGIN(\\&my_layer_proto, \\&my_layer_proto);"
ok "with a name that it has twice" refused twice "brings 'my_layer' twice"
bad nothing "XK_PLUGIN(NULL);"
ok "that brings nothing" refused nothing "brings nothing"
bad hand "$(raw 'XK_ABI, sizeof(struct xk_proto), NULL')"
ok "whose word of itself is damaged" refused hand "is no plug-in of xkvp: its xk_plugin was not made by XK_PLUGIN(...)"
altered askew 'static struct xk_param q[4]; __builtin_memcpy(q, my_layer_params, sizeof q); q[0].offset = 3; p.params = q;'
ok "with a parameter at an odd place" refused askew "cannot be used: its protocol 'my_layer' has a parameter 'mark' at offset 3"
altered list 'static struct xk_param q[4]; __builtin_memcpy(q, my_layer_params, sizeof q); q[1].type = XK_P_LIST; q[1].elem = XK_P_LIST; q[1].offset = 0; q[1].def = NULL; q[1].min = q[1].max = NULL; p.params = q;'
ok "with a list of lists" refused list "cannot be used: its protocol 'my_layer' has a parameter 'sessions' of what can stand in no list or map"
altered half 'p.abi = 1;'
ok "with a descriptor of another number" refused half "has a descriptor, number 1, without .abi = XK_ABI"
altered default 'static struct xk_param q[4]; __builtin_memcpy(q, my_layer_params, sizeof q); q[0].def = \"300\"; p.params = q;'
ok "with a default that is none" refused default "cannot be used: its protocol 'my_layer' has a default that is none"
mkdir -p bad_text && echo "no object" >bad_text/text.so
ok "that is no object" refused text "is no plug-in: "
ok "that is not there" sh -c "! vp-run --plugin nowhere.so my_driver/my_driver.lua 2>out; grep 'vp-run: plug-in nowhere.so cannot be read: ' out"
ok "that is a folder" sh -c "! vp-run --plugin my_app my_driver/my_driver.lua 2>out; grep 'vp-run: plug-in my_app is no file' out"

# Found in a folder it is told, and the rest works.
mkdir all && cp bad_*/*.so my_*/*.so all
rest() {
	VP_PLUGIN_PATH=all vp-run --virtual my_driver/my_driver.lua >out 2>err || { cat out err; return 1; }
	grep 'load .*answers 2000' out && [ "$(grep -c '^vp-run: plug-in all/' err)" = "$(ls bad_*/*.so | wc -l)" ] && [ "$(grep -c . err)" = "$(ls bad_*/*.so | wc -l)" ] || { cat out err; return 1; }
}
ok "the others of a folder work, and each bad one is a line" rest

# ---- new-protocol's own faults ---------------------------------------------------------------

no_new() { ! vp-graph new-protocol "$1" >out 2>&1 && grep -F "$2" out && { [ "$1" = my_app ] || [ ! -e "$1" ]; } || { cat out; return 1; }; }
ok "a name that is taken is not made" no_new udp "there is a protocol 'udp' already"
ok "nor that of a word" no_new stack "'stack' has the name of a word of graph files"
ok "nor one that no file can have" no_new 9x "'9x' has a name that no graph file can have"
ok "nor a path" no_new ../x "'../x' has a name that no graph file can have"
for name in long typeof_unqual xk virt xk_rep; do
	ok "nor is '$name', which C or the interface has" no_new $name "'$name' is a word of C or of xk/proto.h"
done
# Every other name may be one of the C library's.
of_library() { vp-graph new-protocol --kind="$1" "$2" >out 2>&1 && make -s -C "$2" CFLAGS="-O0 -Werror" && VP_PLUGIN_PATH=$2 vp-graph inspect "$2" >out; }
ok "a name that the C library has, too, is made: a layer" of_library layer errno
ok "a driver" of_library driver index
ok "and an application" of_library app read
ok "nothing is written over" no_new my_app "there is a folder 'my_app' already"
ok "another kind is wrong usage" sh -c '! vp-graph new-protocol --kind=thing a_thing 2>out && grep "app, layer or driver" out'
done_testing
