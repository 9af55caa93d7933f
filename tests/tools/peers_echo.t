#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# peers_echo.t - tools/peers/echo, which runs the systems of a figure for vp-bench: ncs in two processes; the others by
# their starters, for which scripts stand in here; what is missing is said, and nothing is left when it ends.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes tools="ip unshare jq setsid"
. "$top_srcdir/tests/graph/tap_lib.sh"
echo=$top_srcdir/tools/peers/echo
file=$top_srcdir/graphs/seeds/park1998/fig12.lua
ECHO_VP_RUN=$top_builddir/vp-run XK_PEERS=$tmp/peers
export ECHO_VP_RUN XK_PEERS
mkdir "$tmp/peers" "$tmp/bin"

# Harnesses and starters that say what they were told, and one that goes on.
for s in openmpi mpich pvm; do
	cat >"$tmp/peers/echo-$s" <<-'END'
		#!/bin/sh
		echo "$0 $*" >>/run/calls
		printf '{"schema": 2, "graph": "%s", "end": "duration", "virtual": false, "warmup_ns": 0,' "$0"
		printf '"measured_ns": 1000000,'
		printf '"wall_ns": 1, "seed": 0, "nvps": 0, "messages": 100, "bytes": 100, "nodes": [], "workers": [], "locks": [],'
		printf '"user_threads": {}, "record": {}, "warnings": []}\n'
	END
done
cat >"$tmp/bin/mpirun.openmpi" <<-'END'
	#!/bin/sh
	while [ "${1##*/}" != echo-openmpi ]; do shift; done
	exec "$@"
END
sed s/openmpi/mpich/ "$tmp/bin/mpirun.openmpi" >"$tmp/bin/mpiexec.mpich"
printf '#!/bin/sh\necho $$ >/run/daemon\necho ready\nexec sleep 1000\n' >"$tmp/bin/pvmd"
chmod +x "$tmp"/bin/* "$tmp"/peers/*
chmod 777 /run
real=$PATH
PATH=$tmp/bin:$PATH

ran() { "$echo" "$file" "system=$1" size=7 --duration=1000000ns --warmup=5ns --json >"$tmp/json" && cat "$tmp/json" &&
	jq -e '.messages == 100' "$tmp/json" && tail -n 1 /run/calls | grep -q "/echo-$1 7 5 1000000\$"; }
: >/run/calls
chmod 666 /run/calls
ok "openmpi is run by its starter" ran openmpi
ok "mpich is" ran mpich
ok "pvm is, beside a daemon" ran pvm
ended() { [ -s /run/daemon ] && ! kill -0 "$(cat /run/daemon)"; }
ok "and the daemon is gone" until_ok 10 ended

both() {
	"$echo" "$file" system=ncs size=1000 --duration=50000000ns --warmup=1000000ns --json >"$tmp/json" &&
	jq -e '.messages > 0 and ([.nodes[].name] | index("load") != null and index("echo") == null)' "$tmp/json"
}
# Until the machine has let a message pass in that time.
ok "ncs runs in two processes" until_ok 30 both
alone() { ! grep ':1E28 ' /proc/net/udp; }
ok "and its server is gone" until_ok 10 alone

# A signal ends what it has started.
started() { grep -q ':1E28 ' /proc/net/udp; }
stopped() {
	"$echo" "$file" system=ncs size=1 --duration=100000000000ns --json >"$tmp/out" 2>&1 &
	pid=$!
	until_ok 10 started && kill -TERM $pid
	wait $pid
	[ $? -ne 0 ] && until_ok 10 alone
}
ok "a signal ends both" stopped

# by SYSTEM: two runs of each size, of its harness
by() {
	"$top_builddir/vp-bench" run --runs 2 --duration 1ms --warmup 0s --vp-run "$echo" "$file" "$1=true" "system=$1" \
		-o "$tmp/bench.json"
	jq -e '[.benches[].points[] | select(.runs | length == 2) | .metrics.ns.mean] | length == 5 and all(. == 10000)' \
		"$tmp/bench.json"
}
bench() { by openmpi && by mpich && by pvm; }
ok "vp-bench measures by it" bench

refused() {
	text=$1
	shift
	"$@" >"$tmp/out" 2>&1
	rc=$?
	cat "$tmp/out"
	[ $rc -eq 1 ] && grep -q -e "$text" "$tmp/out"
}
ok "an unknown system" refused "no system 'p4'" "$echo" "$file" system=p4 size=1 --duration=1ns
ok "a size in words" refused 'size is bytes' "$echo" "$file" system=openmpi size=1KiB --duration=1ns
ok "no duration" refused 'no --duration' "$echo" "$file" system=openmpi size=1
# As MPICH does: it has said its result, and does not end.
echo 'exec sleep 1000' >>"$tmp/peers/echo-mpich"
ok "one that does not end has its result" ran mpich
# Killed, it cannot clean up; what it has started ends all the same.
killed() {
	"$echo" "$file" system=ncs size=1 --duration=100000000000ns --json >"$tmp/out" 2>&1 &
	pid=$!
	until_ok 10 started && kill -KILL $pid
	wait $pid
	until_ok 10 alone
}
ok "what is killed leaves nothing that runs" killed
rm "$tmp/peers/echo-mpich"
ok "a harness that is not made" refused 'mpich: no .*/echo-mpich: tools/peers/build makes it' \
	"$echo" "$file" system=mpich size=1 --duration=1ns
ok "a package that is missing" says 'needs the package pvm' env PATH="$tmp/none" /bin/sh "$echo" lacks pvm
printf '#!/bin/sh\necho no room >&2\nexit 3\n' >"$tmp/peers/echo-openmpi"
fails() { "$echo" "$file" system=openmpi size=1 --duration=1ns 2>"$tmp/err"; }
ok "a harness that fails" code 3 fails
ok "and what it said" grep 'no room' "$tmp/err"
PATH=$real
done_testing
