#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# nmap scans our TCP: every port answers each kind of segment as RFC 9293 3.10.7 says, every segment is accounted for,
# and what a stranger makes of us does not stop us.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v nmap >/dev/null || { rm -rf "$tmp"; skip_all "needs nmap"; }
. "$top_srcdir/tests/graph/tap_lib.sh"

open="7 9 19 80 5001"
ports=1-40,70-90,5001
closed=57                           # of these ports
opens=5

# scan NAME FLAGS: to $tmp/NAME.scan, one line "PORT STATE" for each port.  A lost probe is sent again.
scan() {
	timeout 100 nmap $2 -Pn -n --max-retries 6 -p $ports -oX "$tmp/x.xml" 10.9.0.2 >"$tmp/nmap" 2>&1 || { cat "$tmp/nmap"; return 1; }
	python3 - "$tmp/x.xml" >"$tmp/$1.scan" <<'PY'
import sys, xml.etree.ElementTree as E
host = E.parse(sys.argv[1]).getroot().find("host")
first, last = 1, 0
for p in host.iter("port"):
    print(p.get("portid"), p.find("state").get("state"))
for x in host.iter("extraports"):
    for r in x.iter("extrareasons"):
        for part in r.get("ports", "").split(","):
            a, _, b = part.partition("-")
            for n in range(int(a), int(b or a) + 1) if a else ():
                print(n, x.get("state"))
PY
}
# states NAME OPEN CLOSED: the ports where we wait are OPEN, the others CLOSED
states() {
	cat "$tmp/$1.scan"
	for p in $open; do
		grep -qx "$p $2" "$tmp/$1.scan" || return 1
	done
	[ "$(grep -cx "[0-9]* $3" "$tmp/$1.scan")" -ge $closed ] && [ "$(wc -l <"$tmp/$1.scan")" -eq $((closed + opens)) ]
}

graph_up --capture "tap=$tmp/a.pcap" "$top_srcdir/graphs/http-tap.lua" root="$tmp" vps=1
ok "the host is there" until_ok 10 answers 10.9.0.2
kind() {
	ok "$1: nmap ends" scan "$1" "$2"
	ok "$1: open ports are $3, closed ones $4" states "$1" "$3" "$4"
}
kind "SYN" -sS open closed
kind "no flags" -sN "open|filtered" closed
kind "FIN" -sF "open|filtered" closed
kind "FIN, PSH, URG" -sX "open|filtered" closed
kind "FIN, ACK" -sM closed closed
kind "ACK" -sA unfiltered unfiltered
kind "the window of a RST is 0" -sW closed closed
ok "nmap guesses what we are" sh -c "timeout 100 nmap -O --max-os-tries 1 -Pn -n -p 80,81 10.9.0.2 | grep 'OS detection performed'"
ok "we still serve" sh -c "echo hello | timeout 10 nc -N 10.9.0.2 7 | grep -qx hello"
ok "the graph ends well and leaks nothing" graph_down
ok "no frame of ours is malformed" clean "$tmp/a.pcap" 500

# Accounts: what came in was dropped for a reason, is a SYN to a port where we wait, or belongs to the one connection.
frames() { tshark -r "$tmp/a.pcap" -Y "$1" 2>/dev/null | wc -l; }
tcp_sum() { jq "[.nodes[] | select(.name == \"tcp\") | $1] | add" "$tmp/run.json"; }
accounts() {
	talk=$(tshark -r "$tmp/a.pcap" -Y 'tcp.payload contains "hello"' -T fields -e tcp.stream 2>/dev/null | sort -u)
	in=$(frames 'tcp && ip.dst == 10.9.0.2')
	syn=$(frames "ip.dst == 10.9.0.2 && tcp.flags.syn == 1 && tcp.flags.ack == 0 && tcp.flags.fin == 0 && tcp.flags.reset == 0 &&
		tcp.dstport in {$(echo $open | tr ' ' ,)}")
	ours=$(frames "tcp.stream == $talk && ip.dst == 10.9.0.2 && tcp.flags.syn == 0")
	dropped=$(tcp_sum '.drops | add')
	echo "$in in, $syn SYNs, $ours of the connection, $dropped dropped"
	[ $in -gt 400 ] && [ $in -eq $((syn + ours + dropped)) ]
}
resets() {
	out=$(frames 'tcp.flags.reset == 1 && ip.src == 10.9.0.2')
	echo "$out RSTs, counted: $(tcp_sum .counters.resets_out)"
	[ $out -gt 300 ] && [ $out -eq "$(tcp_sum .counters.resets_out)" ]
}
ok "every segment that came in is accounted for" accounts
ok "every RST is counted" resets

# All that nmap has: versions of services, its scripts, guesses of the system, the way there.
all_of_it() {
	timeout 880 nmap -A -O -Pn -n -p "${XK_SCAN_PORTS:-57,80}" 10.9.0.2 >"$tmp/nmap" 2>&1
	rc=$?
	cat "$tmp/nmap"
	[ $rc -eq 0 ] && grep -q '^80/tcp *open  *http' "$tmp/nmap" && grep -q '^TRACEROUTE' "$tmp/nmap" && grep -q '^Nmap done: 1 IP address (1 host up)' "$tmp/nmap"
}
graph_up "$top_srcdir/graphs/http-tap.lua" root="$tmp"
ok "the host is there once more" until_ok 10 answers 10.9.0.2
ok "nmap -A -O comes to its end" all_of_it
ok "we still serve after that" sh -c "echo hello | timeout 10 nc -N 10.9.0.2 7 | grep -qx hello"
ok "the graph ends well after that" graph_down
done_testing
