#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mpi.t - a program of MPI on ncs by the shim: what its functions promise, between three ranks by shared memory and by
# sockets between three networks; what a program does wrong ends it with a sentence, and the others hear of it.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes tools="ip unshare"
. "$top_srcdir/tests/graph/tap_lib.sh"
. "$top_srcdir/tests/interop/mpi_lib.sh"

right() {
	job 3 "$@" "$shim/words"
	codes 0 0 0 && [ "$(cat "$tmp"/out.* | grep -c 'of 3: 0 wrong$')" -eq 3 ]
}
ok "three networks" hosts 3
ok "by shared memory" right "job=one dir=$tmp"
ok "by shared memory, both controls" right "job=two dir=$tmp flow=credit error=selective_repeat"
ok "by sockets, both controls" right "interface=hostudp flow=credit error=selective_repeat"
ok "by sockets, the other pair" right "interface=hostudp port=7810 flow=window error=go_back_n"

# wrong WORD TEXT CODE...: rank 0 ends with that sentence, the others because it is gone
wrong() {
	word=$1 text=$2
	shift 2
	job 3 "job=$word dir=$tmp" "$shim/words" "$word"
	codes "$@" && grep -q "^mpi: rank 0: $text" "$tmp/out.0" &&
	grep -q '^mpi: rank 1: .*lost' "$tmp/out.1" && grep -q '^mpi: rank 2: .*lost' "$tmp/out.2" &&
	! grep 'goes on' "$tmp"/out.*
}
ok "a message that is too long" wrong truncate "MPI_Recv: the message is longer than the buffer" 1 1 1
ok "MPI_Abort" wrong abort "MPI_Abort: code 3" 3 1 1
ok "an end too early" wrong unwaited "MPI_Finalize: a receive that nobody has waited for" 1 1 1

alone() {
	(
		unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE SLURM_PROCID SLURM_NTASKS
		LD_LIBRARY_PATH=$shim "$@"
	) >"$tmp/alone" 2>&1
	rc=$?
	cat "$tmp/alone"
	[ $rc -eq 1 ]
}
ok "nobody has said which rank it is" alone "$shim/words"
ok "... and it says so" grep -q 'nobody has said which rank this is' "$tmp/alone"
refused() { OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=3 XK_MPI_ARGS="colour=red" LD_LIBRARY_PATH=$shim "$shim/words"; }
ok "an argument that the graph does not have" says "colour" refused
done_testing
