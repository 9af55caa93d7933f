# SPDX-License-Identifier: BSD-2-Clause
# interop_lib.sh - conversations (talk.h) between our stack and another one, in a
# network namespace that is the caller's.  The kernel's stack is at 10.9.0.1, ours at
# 10.9.0.2, any other at 10.9.0.3.  Wants $talk, the folder of the talk programs, and
# $log, a file for what they print.

# peer_switch: a bridge joins our TAP device with another stack's, peer0; the kernel is off.
peer_switch() {
	ip link add br0 type bridge && ip link set br0 up || return 1
	for t in xk0 peer0; do
		ip tuntap add dev $t mode tap && ip link set $t txqueuelen 1000 master br0 up || return 1
	done
}
peer_unswitch() {
	ip link del xk0; ip link del peer0; ip link del br0
} 2>/dev/null

# talk_us / talk_them PEER LINK WORD...: our end, with the loss LINK (0%: none), and the other.
talk_us() {
	peer=$1
	set -- "$2" "$@"
	[ "$1" = 0% ] && us="" || us="-l $1"
	[ "$peer" = linux ] && us="$us -k 10.9.0.1/24"
	shift 3
	"$talk/talk-xk" $us "$@"
}
talk_them() {
	peer=$1
	shift 2
	if [ "$peer" = linux ]; then
		"$talk/talk-linux" "$@"
	else
		"$talk/talk-$peer" -i peer0 -a 10.9.0.3/24 "$@"
	fi
}

# background FUNCTION...: the same as a process of its own, whose number is $server
talk_background() {
	: >"$log"                        # not what the last one said
	"$@" >"$log" 2>&1 &
	server=$!
}

# The program below the shell of a background function.
talk_stop() {
	for p in $(cat /proc/$server/task/$server/children 2>/dev/null); do
		kill $p 2>/dev/null
	done
	wait $server
}

talk_ready() {
	tries=400
	until grep -q ready "$log" 2>/dev/null; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# we_serve / we_call PEER LINK SIZE...: succeeds when every byte was right both ways
we_serve() {
	talk_background talk_us "$1" "$2" serve 7
	talk_case "$1" "$2" talk_them 10.9.0.2 "$@"
}
we_call() {
	[ "$1" = linux ] && there=10.9.0.1 || there=10.9.0.3
	talk_background talk_them "$1" "$2" serve 7
	talk_case "$1" "$2" talk_us $there "$@"
}
# talk_case PEER LINK CALLER ADDRESS PEER LINK SIZE...
talk_case() {
	who=$1; link=$2; caller=$3; to=$4
	shift 6
	if talk_ready; then
		$caller "$who" "$link" call "$to" 7 "$@"
		rc=$?
	else
		rc=1
	fi
	talk_stop || rc=1
	cat "$log"
	return $rc
}
