#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# gallery.t - every graph in graphs/ passes the check, is on the gallery's page
# and runs; two presets of one graph deliver the same.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
graph=$top_builddir/vp-graph
graphs=$top_srcdir/graphs
unset VP_GRAPH_PATH

# A command in a network namespace of its own with a pair of interfaces, xkp0 and xkp1.
cat >"$tmp/on-veth" <<'END'
exec unshare -n sh -c 'ip link add xkp0 type veth peer name xkp1 && ip link set xkp0 up && ip link set xkp1 up && exec "$@"' sh "$@"
END
wrap=
# The same with nothing but its own loopback interface: no port of the machine's is taken.
cat >"$tmp/on-lo" <<'END'
exec unshare -n sh -c 'ip link set lo up && exec "$@"' sh "$@"
END

# runs FILE ARG...: ends well within its 0.2 s, with a table.
runs() {
	timeout 100 $wrap "$run" -d 200ms --warmup 1ms "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	[ $got -eq 0 ] && grep -q '^node .*reasons$' "$tmp/out" && grep -q ' messages in ' "$tmp/out"
}

for file in "$graphs"/*.lua; do
	name=$(basename "$file")
	case $name in
	*-xdr.lua)
		if ! "$graph" inspect xdr >/dev/null 2>&1; then
			skip "$name passes the check and runs" "this build has no xdr"
			ok "$name is in the gallery" grep -q "^## $name" "$top_srcdir/docs/gallery.md"
			continue
		fi
		;;
	esac
	# The check looks at the capture that is to be played.
	set --
	if [ "$name" = replay.lua ]; then
		timeout 60 "$run" --virtual --capture eth="$tmp/in.pcap" "$graphs/udp-echo.lua" count=5 >/dev/null 2>&1
		set -- file="$tmp/in.pcap" out="$tmp/out.pcap"
	fi
	ok "$name passes the check" timeout 60 "$graph" check "$file" "$@"
	ok "$name is in the gallery" grep -q "^## $name" "$top_srcdir/docs/gallery.md"
	case $name in
	tap-*|http-tap*)
		if [ "$(id -u)" -eq 0 ] && [ -c /dev/net/tun ] && (: </dev/net/tun) 2>/dev/null; then
			ok "$name runs" runs "$file" ifname="xkg$$"
		else
			skip "$name runs" "needs root and /dev/net/tun"
		fi
		;;
	packet-*)
		if [ "$(id -u)" -eq 0 ] && sh "$tmp/on-veth" true 2>/dev/null; then
			wrap="sh $tmp/on-veth"
			ok "$name runs" runs "$file"
			wrap=
		else
			skip "$name runs" "needs root, unshare, ip and veth interfaces"
		fi
		;;
	xdp-*)
		if [ "$(id -u)" -ne 0 ] || ! sh "$tmp/on-veth" true 2>/dev/null; then
			skip "$name runs" "needs root, unshare, ip and veth interfaces"
		elif sh "$tmp/on-veth" "$run" -d 1ms "$file" ifname=xkp0 2>&1 | grep -q -e 'built without' -e 'needs Linux'; then
			skip "$name runs" "needs AF_XDP, in the kernel and in the build"
		else
			wrap="sh $tmp/on-veth"
			ok "$name runs" runs "$file" ifname=xkp0
			wrap=
		fi
		;;
	hostudp-*|hosttcp-*)
		[ "$(id -u)" -ne 0 ] || ! sh "$tmp/on-lo" true 2>/dev/null || wrap="sh $tmp/on-lo"
		ok "$name runs" runs "$file"
		wrap=
		;;
	replay.lua)
		ok "$name runs" runs "$file" file="$tmp/in.pcap" out="$tmp/out.pcap" addr=10.0.0.2/24 fast=true
		;;
	shm-*|ncs-ring.lua) ok "$name runs" runs "$file" job="gallery-$$" ;;
	*) ok "$name runs" runs "$file" ;;
	esac
done
# What README shows is what is there: the graph, and what it prints.
sed -n '/^    -- hello.lua/,/^    return graph/s/^    //p' "$top_srcdir/README" >"$tmp/shown"
sed 1d "$graphs/hello.lua" >"$tmp/there"
ok "README's graph is hello.lua" cmp "$tmp/shown" "$tmp/there"
timeout 100 "$run" --virtual "$graphs/hello.lua" >"$tmp/out" 2>"$tmp/err"
sed -n '/^    node  /,/^$/s/^    //p' "$top_srcdir/README" >"$tmp/shown"
ok "and prints what README says" sh -c "sed 's/ *\$//' '$tmp/out' | diff '$tmp/shown' -"
# Experiments name benches or graphs: the check is all that they must pass here.
for file in "$graphs"/*/*.lua "$graphs"/seeds/*/*.lua; do
	case $file in
	*/lib/*) continue ;;
	*/xdr.lua)
		"$graph" inspect xdr >/dev/null 2>&1 || {
			skip "${file#"$graphs"/} passes the check" "this build has no xdr"
			continue
		}
		;;
	esac
	ok "${file#"$graphs"/} passes the check" timeout 60 "$graph" check "$file"
done
done_testing
