# SPDX-License-Identifier: BSD-2-Clause
# tap_lib.sh - for tests with the Linux kernel as the peer.  Each runs in network
# and mount namespaces of its own, so it neither sees nor disturbs the machine's.
# Source it right after tap.sh; without_tun=yes says that no TAP device is wanted, and tools
# what must be installed instead of what most of these tests use.

tap_graph=$top_srcdir/graphs/tap-echo.lua

if [ -z "${XK_IN_NETNS-}" ]; then
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	[ -n "${without_tun-}" ] || [ -c /dev/net/tun ] || skip_all "needs /dev/net/tun"
	for tool in ${tools:-ip unshare ping arping tshark python3 jq}; do
		command -v $tool >/dev/null || skip_all "needs $tool"
	done
	unshare -nm true 2>/dev/null || skip_all "cannot make namespaces here"
	rm -rf "$tmp"
	XK_IN_NETNS=1 top_srcdir=$top_srcdir top_builddir=$top_builddir exec unshare -nm sh "$0"
fi
mount -t tmpfs tmpfs /run 2>/dev/null
ip link set lo up
sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 2>/dev/null
chmod 755 "$tmp"

# elsewhere PID: the process has a network of its own by now
elsewhere() {
	[ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# graph_up ARGS...: starts vp-run, its result goes to $tmp/run.json
graph_up() {
	"$top_builddir/vp-run" --json "$@" >"$tmp/run.json" 2>"$tmp/run.err" &
	graph_pid=$!
}
# graph_down: ends it and gives back its exit code
graph_down() {
	kill -INT $graph_pid 2>/dev/null
	wait $graph_pid
	graph_rc=$?
	[ $graph_rc -eq 0 ] || cat "$tmp/run.err"
	return $graph_rc
}
# graph_ends CODE TEXT: it ends by itself, with that code and a sentence
graph_ends() {
	(sleep 30; kill -KILL $graph_pid) 2>/dev/null >/dev/null &
	watchdog=$!
	wait $graph_pid
	graph_rc=$?
	kill $watchdog 2>/dev/null
	cat "$tmp/run.err"
	[ $graph_rc -eq "$1" ] && grep -q -e "$2" "$tmp/run.err" && ! grep -q "not given back" "$tmp/run.err"
}
answers() { ping -c1 -W1 "$1"; }

# takes_all COMMAND...: starts a server at 10.9.0.1:5002 that reads all it is sent, by way of COMMAND, as $sink
takes_all() {
	cat >"$tmp/sink.py" <<-'END'
		import socket, threading
		def drain(c):
		    while c.recv(65536):
		        pass
		    c.close()
		with socket.create_server(("10.9.0.1", 5002), backlog=64) as s:
		    print("ready", flush=True)
		    while True:
		        threading.Thread(target=drain, args=(s.accept()[0],), daemon=True).start()
	END
	"$@" python3 "$tmp/sink.py" >"$tmp/sink" 2>&1 &
	sink=$!
	until_ok 10 grep -q ready "$tmp/sink"
}

# clean FILE LEAST: tshark finds nothing malformed and no wrong checksum in at least so many frames
clean() {
	tshark -r "$1" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields -e frame.number >"$tmp/frames" 2>/dev/null &&
	[ "$(wc -l <"$tmp/frames")" -ge "$2" ] &&
	tshark -r "$1" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE \
		-Y '_ws.malformed || ip.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0 || ip.bogus_header_length' \
		2>/dev/null >"$tmp/bad" &&
	{ cat "$tmp/bad"; wc -l <"$tmp/frames"; [ ! -s "$tmp/bad" ]; }
}
