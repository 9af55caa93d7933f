#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# vp-graph.t - vp-graph shows the one schema in every form it has.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
graph=$top_builddir/vp-graph
file=$top_srcdir/graphs/udp-echo.lua

# The names of the lists, but for what this build was made without.
names() {
	sed -n '/^#/d; s/[[:space:]/].*//; /./p' "$top_srcdir/protocols/list" "$top_srcdir/drivers/list" | while read -r name; do
		"$graph" inspect "$name" 2>&1 | grep -q "'$name' is not in this build: install " || echo "$name"
	done
}

# Every name of the table is in what a command prints.
names_all() {
	"$@" >"$tmp/names" || return 1
	for name in $(names); do
		grep -q -w -e "$name" "$tmp/names" || { echo "no $name"; return 1; }
	done
}

every_protocol_can_be_inspected() {
	for name in $(names); do
		says "^$name: " "$graph" inspect "$name" || return 1
		says '"parameters"' "$graph" -f json inspect "$name" >/dev/null || return 1
	done
}

# The caret stands under the key, tabs and all.
caret() {
	printf 'eth_mem {\n\tmtu = 1500, quue = 8,\n}\nreturn graph "g" { }\n' >"$tmp/bad.lua"
	(cd "$tmp" && "$graph" check bad.lua) 2>"$tmp/got"
	cat >"$tmp/want" <<'TEXT'
bad.lua:2: eth_mem: unknown parameter 'quue' (did you mean 'queue'?)
    2 | 	mtu = 1500, quue = 8,
      | 	            ^
TEXT
	diff "$tmp/want" "$tmp/got"
}

# completes WORDS... (the last one is completed): every word that the rest of stdin has is offered.
# By bash in $shell, or by zsh, whose compadd and _files say here what they are given.
completion=$top_srcdir/tools/completion/_vp
completes() {
	sort -u >"$tmp/must"
	[ -s "$tmp/must" ] || { echo "nothing to be offered for $*"; return 1; }
	case $shell in
	bash) set -- bash -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _vp_complete; printf "%s\n" "${COMPREPLY[@]}"' \
		"$completion" "$@" ;;
	zsh) set -- zsh -fc 'compadd() { print -l -- "$@"; }; _files() { :; }; words=("$@") CURRENT=$#; . "$0"' "$completion" "$@" ;;
	esac
	PATH=$(cd "$top_builddir" && pwd):$PATH "$@" | sort -u >"$tmp/offered"
	comm -23 "$tmp/must" "$tmp/offered" >"$tmp/lacks"
	cat "$tmp/lacks"
	[ ! -s "$tmp/lacks" ]
}
options_of() { "$@" --help | grep -o -e '--[a-z][a-z-]*' | sort -u; }
completes_all() {
	for tool in vp-run vp-exec vp-graph vp-ctl vp-bench vp-sim; do
		[ -x "$top_builddir/$tool" ] || [ $tool != vp-exec ] || continue
		options_of "$top_builddir/$tool" | completes $tool -- || return 1
	done
	for command in run compare reproduce advise; do
		options_of "$top_builddir/vp-bench" $command | completes vp-bench $command -- || return 1
	done
	"$top_builddir/vp-bench" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | completes vp-bench "" || return 1
	printf '%s\n' show get set trace capture inject top metrics snapshot list help raw | completes vp-ctl "" || return 1
	printf '%s\n' list inspect check show dot filter test meta | completes vp-graph "" || return 1
	printf '%s\n' conns= count= size= window= vps= | completes vp-run "$top_srcdir/graphs/udp-echo.lua" "" || return 1
	printf '%s\n' udp tcp eth_mem vppc graph | completes vp-graph inspect "" || return 1
	printf '%s\n' show trace export dot reset stop | completes vp-ctl "" || return 1
	printf '%s\n' graph params sessions times | completes vp-ctl show ""
}

luacheck_agrees() {
	"$graph" meta --luacheck >"$tmp/luacheckrc" &&
	for lua in "$top_srcdir"/graphs/*.lua "$top_srcdir"/graphs/lib/*.lua; do
		case $lua in *-xdr.lua) "$graph" inspect xdr >/dev/null 2>&1 || continue ;; esac
		luacheck --config "$tmp/luacheckrc" "$lua" || return 1
	done
}

ok "list names every protocol and driver" names_all "$graph" list
ok "list as JSON, too" names_all "$graph" -f json list
ok "meta names them all" names_all "$graph" meta
ok "the annotations name them all" names_all "$graph" meta --luacats
ok "the annotations are Lua" sh -c "'$graph' meta --luacats > '$tmp/meta.lua' && { ! command -v luac5.4 >/dev/null || luac5.4 -p '$tmp/meta.lua'; }"
if command -v luacheck >/dev/null 2>&1; then
	ok "luacheck finds no fault with the graphs" luacheck_agrees
else
	skip "luacheck finds no fault with the graphs" "luacheck is not installed"
fi
for shell in bash zsh; do
	if command -v $shell >/dev/null; then
		ok "$shell offers every option and command of all programs" completes_all
	else
		skip "$shell offers every option and command of all programs" "no $shell"
	fi
done
for command in dot filter; do
	ok "$command has no JSON and says so" code 2 "$graph" -f json $command "$file"
done
ok "every protocol can be inspected" every_protocol_can_be_inspected
ok "a profile's values are shown as defaults" says 'rcv_buf  *size  *default 64KiB' "$graph" inspect tcp profile=freebsd
ok "parameters for wire scripts stand in a table of their own" says 'parameters in quirks = { ... }' "$graph" inspect tcp
ok "and are shown with it" says 'quirks.rto_min  *= 200ms  *implied' "$graph" show "$top_srcdir/graphs/tcp-script.lua" profile=linux
ok "a wrong value to inspect with: failed" says "must be one of" "$graph" inspect tcp profile=freebds
ok "an unknown parameter to inspect with: failed" says "tcp has no parameter 'bufs'" "$graph" inspect tcp bufs=1
ok "a parameter to inspect with, another needed and not given" says "mtu  *size  *" "$graph" inspect packet mtu=1400
ok "show has what a profile implies" says 'rcv_buf  *= 4MiB  *implied' "$graph" show "$top_srcdir/graphs/tcp-script.lua" profile=linux
ok "a protocol says what it gives" says '^gives    as below, and order, reliable, sum; not boundaries, shared' "$graph" inspect tcp
ok "by its parameters" says '^gives    as below; not sum, crc$' "$graph" inspect impair corrupt=1%
ok "who passes on what is below says that" says '^gives    as below$' "$graph" inspect hop
ok "a device says what its network gives" says '^gives    boundaries, shared$' "$graph" inspect tap
cat >"$tmp/gives.lua" <<'LUA'
local a = args { sum = bool { true, doc = "of UDP" } }
stack { sink { port = 9 }, udp { checksum = a.sum }, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, impair { rate = "1Gbit/s" }, eth_mem { wire = "w" } }
return graph "gives" { threading = up {} }
LUA
gives() {
	want=$1
	shift
	"$graph" -f json show "$tmp/gives.lua" "$@" >"$tmp/gives.json" &&
		jq -e --arg want "$want" '[.nodes[] | .name + "=" + (.gives | join("+"))] | join(" ") == $want' "$tmp/gives.json"
}
ok "each node of a graph says what it gives" gives "sink= udp=boundaries+sum+shared ip=boundaries+shared arp=boundaries+shared eth=boundaries+shared impair=boundaries+shared eth_mem=boundaries"
ok "no sum, no word of it" gives "sink= udp=boundaries+shared ip=boundaries+shared arp=boundaries+shared eth=boundaries+shared impair=boundaries+shared eth_mem=boundaries" sum=false
sed 's/eth_mem { /eth_mem { crc = true, /' "$tmp/gives.lua" >"$tmp/crc.lua" && mv "$tmp/crc.lua" "$tmp/gives.lua"
ok "a CRC is the cable's, and an impaired line has none" gives "sink= udp=boundaries+sum+shared ip=boundaries+shared arp=boundaries+shared eth=boundaries+shared impair=boundaries+shared eth_mem=boundaries+crc"
ok "the table says it, too" says '^  gives boundaries, sum, shared$' "$graph" show "$tmp/gives.lua"
ok "and the tick" says 'clock real, tick 1ms, memory' "$graph" show "$tmp/gives.lua"
ok "a threading preset can be inspected" says 'virtual processor' "$graph" inspect vppc
# Each word of the list: what it is.
words_can_be_inspected() {
	for word in $("$graph" list | sed -n '/^words$/,$s/^  \([a-z0-9]*\) .*/\1/p'); do
		says "^$word: " "$graph" inspect "$word" || return 1
		says '"kind": "word"' "$graph" -f json inspect "$word" || return 1
	done
	[ -n "$word" ]
}
ok "words of the language can be inspected" words_can_be_inspected
ok "a graph's own fields with them" says '^  tick  *time  *default 1ms, 1us..10ms$' "$graph" inspect graph
ok "a bench's" says '^  precision  *half-width' "$graph" inspect bench
# What vp-bench would read, and no more.
bench_fields() {
	"$graph" -f json inspect bench | jq -r '.fields[].name' >"$tmp/fields" && [ "$(wc -l <"$tmp/fields")" -ge 15 ] || return
	while read -r f; do
		printf 'stack { load { to = "10.0.0.2" }, udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {}, peer_sink {} }\n' >"$tmp/b.lua"
		printf 'return bench "b" { %sx = 1 }\n' "$f" >>"$tmp/b.lua"
		"$top_builddir/vp-bench" plan "$tmp/b.lua" 2>&1 | grep "unknown parameter '${f}x' (did you mean '$f'?)" || { echo "$f"; return 1; }
	done <"$tmp/fields"
}
ok "which are those that vp-bench knows" bench_fields
ok "the annotations have them with types" says '^---@field columns? string\[\] ' "$graph" meta --luacats
ok "an argument's, too" says '^  choices  *of an enum' "$graph" inspect enum
ok "args says which types there are" says '^  cidr  *argument type' "$graph" inspect args
ok "a word takes no values: wrong usage" code 2 "$graph" inspect graph tick=1ms
ok "a misspelt word is suggested" says "did you mean 'graph'" "$graph" inspect grapf
ok "a file shows its arguments" says '^  conns  *uint' "$graph" inspect "$file"
ok "check says how many nodes" says 'is good: 12 nodes' "$graph" check "$file"
ok "check takes arguments" code 3 "$graph" check "$file" conns=0
ok "check as JSON has the place" says '"line": 5' "$graph" -f json check "$top_srcdir/tests/graph/bad/001-unknown-parameter.lua"
ok "show says what is a default" says 'ttl .*= 64 .*default' "$graph" show "$file"
ok "show says where a value is from" says 'conns .*= 3 .*udp-echo.lua:[0-9]' "$graph" show "$file" conns=3
ok "show as JSON" says '"from": "default"' "$graph" -f json show "$file"
ok "dot draws cables" says '"eth_mem2" -> "eth_mem" .*label="cable"' "$graph" dot "$top_srcdir/graphs/udp-echo.lua"
ok "show says unset where nothing is given" says '^  mac  *= unset  *default$' "$graph" show "$top_srcdir/graphs/udp-echo.lua"
ok "dot draws every edge" says '"client" -> "ip2"' "$graph" dot "$file"
if command -v dot >/dev/null 2>&1; then
	ok "graphviz reads it" sh -c "'$graph' dot '$file' | dot -Tsvg >/dev/null"
else
	skip "graphviz reads it" "graphviz is not installed"
fi
ok "show says which classifier and why" says 'classifier native, the best' "$graph" show "$file"
ok "show says what the environment asks for" says 'classifier none, as asked' env VP_CLASSIFIER=none "$graph" show "$file"
ok "and what is done where it refuses" says 'classifier native, "telepathy" refuses' env VP_CLASSIFIER=telepathy "$graph" show "$file"
chosen() {
	env VP_CLASSIFIER="$1" "$graph" -f json show "$file" >"$tmp/show.json" && tr -d ' \n' <"$tmp/show.json" >"$tmp/show.flat" &&
	cat "$tmp/show.flat" && grep -q "\"asked\":\"$1\",\"classifier\":\"$2\",\"why\":\"$3" "$tmp/show.flat"
}
valid() {
	python3 -c 'import json,sys,jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$1" \
		"$top_srcdir/docs/schema/vp-graph-show-1.json"
}
ok "show as JSON has the classifier" chosen auto native thebest
if python3 -c 'import jsonschema' 2>/dev/null; then
	ok "and follows its schema" valid "$tmp/show.json"
else
	skip "and follows its schema" "python3-jsonschema is not installed"
fi
ok "as JSON, too, what was asked for" chosen none none asasked
ok "and why it refuses" chosen telepathy native '\\"telepathy\\"refuses'
ok "filter prints cells" says 'guard .*byte 0, & 0xf0 is 0x40' "$graph" filter "$file"
ok "filter prints who is above whom" says 'over ip.* as 0x11' "$graph" filter "$file"
ok "filter prints programs" says 'compiled parser of IPv4' "$graph" filter "$file"
ok "a capture to explain" "$top_builddir/vp-run" --virtual "$file" conns=3 count=10 --capture eth="$tmp/x.pcap"
ok "explain finds connections" says '> client: connection, remote 0a0000' "$graph" filter "$file" --explain "$tmp/x.pcap"
ok "no back end differs" says 'differ 0 times' "$graph" filter "$file" --explain "$tmp/x.pcap"
ok "a capture that is not there: failed" code 1 "$graph" filter "$file" --explain "$tmp/none.pcap"
ok "a caret stands under the key" caret
ok "help fits a screen" sh -c "[ \$('$graph' --help | wc -l) -le 40 ]"
ok "no command: wrong usage" code 2 "$graph"
ok "an unknown command: wrong usage" code 2 "$graph" chekc "$file"
ok "and says which it could be" says "did you mean 'check'" "$graph" chekc "$file"
ok "an unknown name: failed" says "did you mean 'udp'" "$graph" inspect udpp
ok "a file that is not there: failed" code 1 "$graph" check "$tmp/none.lua"
ok "a full disk: failed" sh -c "'$graph' list >/dev/full; [ \$? -eq 1 ]"
script=$top_srcdir/graphs/tcp-script.pkt
ok "a wire script passes" says "1 of 1 scripts passed" "$graph" test "$top_srcdir/graphs/tcp-script.lua" "$script"
ok "and without a graph file" says "^\[" "$graph" -f json test "$script"
sed 's/write(4, ..., 3000) = 3000/write(4, ..., 2999) = 2999/' "$script" >"$tmp/other.pkt"
ok "a difference: failed" code 1 "$graph" test "$top_srcdir/graphs/tcp-script.lua" "$tmp/other.pkt"
ok "and shows what was sent" says "sent: .*> . 1:1001(1000) ack 101" "$graph" test "$top_srcdir/graphs/tcp-script.lua" "$tmp/other.pkt"
ok "a graph without rawip cannot be tested" says "no node of 'rawip'" "$graph" test "$file" "$script"
ok "a script that is none: failed" code 1 "$graph" test "$top_srcdir/graphs/tcp-script.lua" "$tmp/none.pkt"
ok "test without a script: wrong usage" code 2 "$graph" test "$top_srcdir/graphs/tcp-script.lua"
# A protocol that configure has left out.
missing_is_told() {
	printf 'xdr { over = udp {} }\nreturn graph "g" {}\n' >"$tmp/missing.lua"
	code 3 "$graph" check "$tmp/missing.lua" >"$tmp/missing" 2>&1
	says "missing.lua:1: 'xdr' is not in this build: install libtirpc-dev and rpcsvc-proto, then configure" cat "$tmp/missing" &&
	says "vp-graph: 'xdr' is not in this build: install libtirpc-dev and rpcsvc-proto" "$graph" inspect xdr &&
	! "$graph" list | grep "^ *xdr "
}
if "$graph" inspect xdr >/dev/null 2>&1; then
	skip "what was left out is told with its packages" "this build has all (configure with --enable-xdr=no)"
else
	ok "what was left out is told with its packages" missing_is_told
fi
done_testing
