#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# netpipe.t - NetPIPE for Open MPI, Debian's own binary, on ncs: its messages are whole by its own check, and it
# measures, between two ranks by shared memory and by sockets between two networks.
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
without_tun=yes tools="ip unshare"
. "$top_srcdir/tests/graph/tap_lib.sh"
netpipe=$(command -v NPopenmpi) || skip_all "needs NPopenmpi (package netpipe-openmpi)"
. "$top_srcdir/tests/interop/mpi_lib.sh"

# Ours and no other's: the loader says where the functions come from.
ours() {
	LD_LIBRARY_PATH=$shim ldd "$netpipe"
	LD_LIBRARY_PATH=$shim ldd "$netpipe" | grep -q "libmpi.so.40 => $shim/libmpi.so.40 "
}
# whole SIZES ARGS OPTION...: every size of its check was right, none was wrong; sizes: how many
whole() {
	sizes=$1 args=$2
	shift 2
	job 2 "$args" "$netpipe" -i -n 100 "$@"
	codes 0 0 && [ "$(grep -c 'bytes.*Integrity check passed$' "$tmp/out.0")" -eq "$sizes" ] &&
	! grep -i 'fail' "$tmp/out.0" "$tmp/out.1"
}
# measures SIZES ARGS OPTION...: a line for each size, in its output and in its file
measures() {
	sizes=$1 args=$2
	shift 2
	job 2 "$args" "$netpipe" -n 20 "$@"
	codes 0 0 && [ "$(grep -c 'bytes .*Mbps in .*usec$' "$tmp/out.0")" -eq "$sizes" ] &&
	[ "$(wc -l <"$tmp/rank0/np.out")" -eq "$sizes" ]
}
both="flow=credit error=selective_repeat"
ok "two networks" hosts 2
ok "the binary finds our functions" ours
ok "messages are whole, by shared memory" whole 16 "job=a dir=$tmp" -u 1000
ok "messages are whole, by sockets" whole 16 "interface=hostudp $both" -u 1000
ok "to 200 KB and back, by shared memory" measures 91 "job=b dir=$tmp" -u 200000
ok "to 200 KB and back, by sockets" measures 91 "interface=hostudp port=7810 $both" -u 200000
ok "synchronous sends" measures 37 "job=c dir=$tmp" -S -u 500
ok "receives from anybody" measures 37 "job=d dir=$tmp" -z -u 500
done_testing
