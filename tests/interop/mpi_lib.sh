# SPDX-License-Identifier: BSD-2-Clause
# mpi_lib.sh - programs of MPI on ncs, in network namespaces that are the caller's.  Source it right after tap_lib.sh.

shim=$top_builddir/tests/interop/mpi
[ -e "$shim/libmpi.so.40" ] || skip_all "this build has no tests/interop/mpi/libmpi.so.40; configure says why"
XK_MPI_GRAPH=$top_srcdir/tests/interop/mpi/mpi.lua
export XK_MPI_GRAPH

# hosts N: a network namespace for each rank, 10.9.0.<rank + 1>, joined by a bridge
hosts() {
	ip link add br0 type bridge && ip link set br0 up || return 1
	for h in $(seq 0 $(($1 - 1))); do
		ip netns add "host$h" && ip link add "to$h" type veth peer name eth0 netns "host$h" &&
		ip link set "to$h" master br0 up && ip -n "host$h" link set lo up && ip -n "host$h" link set eth0 up &&
		ip -n "host$h" addr add "10.9.0.$((h + 1))/24" dev eth0 || return 1
	done
}

# one RANK RANKS ARGS PROGRAM ARG...: in its network, where the interface is the host's sockets
one() {
	mpi_rank=$1 mpi_args=$3
	OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$2 XK_MPI_ARGS="$3"
	export OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE XK_MPI_ARGS
	shift 3
	mkdir -p "$tmp/rank$mpi_rank" && cd "$tmp/rank$mpi_rank" || return 1
	case $mpi_args in
	*interface=hostudp*) set -- ip netns exec "host$mpi_rank" "$@" ;;
	esac
	LD_LIBRARY_PATH=$shim timeout -k 5 120 "$@" >"$tmp/out.$mpi_rank" 2>&1
	echo $? >"$tmp/rc.$mpi_rank"
}

# job RANKS ARGS PROGRAM ARG...: runs them all; codes: $tmp/rc.<rank>
job() {
	ranks=$1
	shift
	rm -f "$tmp"/rc.* "$tmp"/out.*
	for r in $(seq 0 $((ranks - 1))); do
		(one "$r" "$ranks" "$@") &
	done
	wait
	for r in $(seq 0 $((ranks - 1))); do
		sed "s/^/[$r] /" "$tmp/out.$r"
	done
}
# codes CODE...: how the ranks ended
codes() {
	r=0
	for c; do
		[ "$(cat "$tmp/rc.$r")" = "$c" ] || { echo "rank $r ended with $(cat "$tmp/rc.$r"), not $c"; return 1; }
		r=$((r + 1))
	done
}
