#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# peers_ranks.t - tools/peers/ranks, which runs one echo of MPI on two libraries for vp-bench goals: who is told what, what
# is said of a result, what is missing is named, and nothing is left when it ends.  Scripts stand in for the programs.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
for tool in setsid setpriv taskset; do
	command -v $tool >/dev/null || skip_all "needs the program $tool"
done
ranks=$top_srcdir/tools/peers/ranks
shim=$tmp/build/tests/interop/mpi
RANKS_OUT=$tmp/peers VP_RUN=$tmp/build/vp-run CALLS=$tmp/calls
export RANKS_OUT VP_RUN CALLS
mkdir -p "$tmp/peers" "$tmp/bin" "$shim"
cat >"$tmp/peers/echo-openmpi" <<-'END'
	#!/bin/sh
	echo "rank=${OMPI_COMM_WORLD_RANK-none} library=${LD_LIBRARY_PATH-none} args=${XK_MPI_ARGS-none} words=$*" >>"$CALLS"
	[ "${OMPI_COMM_WORLD_RANK-0}" = 0 ] || exec sleep 1000
	echo '{"schema": 2, "measured_ns": 2000000, "wall_ns": 1, "messages": 100, "bytes": 800}'
END
cat >"$tmp/bin/mpirun.openmpi" <<-'END'
	#!/bin/sh
	echo "mpirun $*" >>"$CALLS"
	while [ "${1##*/}" != echo-openmpi ]; do shift; done
	exec "$1" "$2" "$3" "$4"
END
chmod +x "$tmp/peers/echo-openmpi" "$tmp/bin/mpirun.openmpi"
PATH=$tmp/bin:$PATH

# gives RATE ARG...: that rate is said, of one line
gives() {
	rate=$1
	shift
	: >"$tmp/calls"
	"$ranks" "$@" >"$tmp/out" 2>"$tmp/err"
	rc=$?
	cat "$tmp/out" "$tmp/err" "$tmp/calls"
	[ $rc -eq 0 ] && [ "$(wc -l <"$tmp/out")" -eq 1 ] && grep -q "\"rate\":$rate}" "$tmp/out"
}
refused() {
	text=$1
	shift
	"$ranks" "$@" >"$tmp/out" 2>&1
	rc=$?
	cat "$tmp/out"
	[ $rc -eq 1 ] && grep -q -e "$text" "$tmp/out"
}
called() { cat "$tmp/calls"; grep -q -e "$1" "$tmp/calls"; }
# The other rank sleeps for a thousand seconds: it was ended.
none_left() { ! grep -lz '^RANKS_OUT='"$tmp/peers" /proc/[0-9]*/environ 2>/dev/null | grep -v -e "/$$/" -e /self/ |
	xargs -r -n 1 dirname | while read -r p; do tr '\0' ' ' <"$p/cmdline"; echo; done | grep '^sleep 1000'; }

ok "without its library: how to make it" refused 'make tests/interop/mpi/libmpi.so.40' ncs 8@one 1
: >"$shim/libmpi.so.40"
ok "ncs: messages over time" gives 50000.0 ncs 8@one 4
ok "its rank 0 has the library, both controls, the caller's thread, a quarter of the time to warm up" called \
	"rank=0 library=$shim args=.*preset=caller flow=credit error=selective_repeat words=8 1000000 4000000"
ok "nothing is left" until_ok 10 none_left
ok "openmpi: the same program" gives 50000.0 openmpi 8@one 4
ok "... by shared memory" called 'mpirun .*vader,self.*echo-openmpi 8 1000000 4000000 : '
ok "... and its own library" called "rank=none library=none args=none words=8 1000000 4000000"
ok "an unknown system" refused "no system 'p4'" p4 8@one 1
ok "a size in words" refused 'are numbers' ncs 8KiB@one 1
ok "too few words" refused 'usage: ranks' ncs
printf '#!/bin/sh\necho no room >&2\nexit 3\n' >"$tmp/peers/echo-openmpi"
ok "a program that fails, and what it said" refused 'no room' openmpi 8@one 1
printf '#!/bin/sh\necho hello\n' >"$tmp/peers/echo-openmpi"
ok "one that says no result" refused 'no result' openmpi 8@one 1
rm "$tmp/peers/echo-openmpi"
ok "one that is not built" refused 'tools/peers/build DIR openmpi' openmpi 8@one 1
done_testing
