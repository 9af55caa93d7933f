#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# callfail.t - calls of libraries fail, in every tool and over many graphs, and nothing dies, hangs or is left of it:
# where something died once, every call, and of all others a sample.  callfail.py has the scenes and what is judged.
#
#   XK_CALLFAIL=all        every call of every scene, once and from then on; `make check-long` does that
#   XK_CALLFAIL_MOST=N     then, at most so many of each scene, class and way
#   XK_CALLFAIL_SEED=N     of the sample, and of which where there are more
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
tool=$top_srcdir/tests/fault/callfail.py
command -v python3 >/dev/null || skip_all "needs python3"
grep -q -e -fsanitize "$top_builddir/config.status" && skip_all "a sanitizer has the library's calls already"
case ${LD_PRELOAD-} in ?*) skip_all "something else is preloaded: $LD_PRELOAD" ;; esac
case $(cat /proc/self/maps) in *vgpreload*) skip_all "valgrind has the library's calls already" ;; esac

# A network of its own for devices, where one can be had; processes of others are not looked at there.
if [ -z "${XK_IN_NETNS-}" ] && [ "$(id -u)" = 0 ] && command -v unshare >/dev/null && command -v ip >/dev/null &&
	unshare -nmp --fork --mount-proc true 2>/dev/null; then
	rm -rf "$tmp"
	XK_IN_NETNS=1 top_srcdir=$top_srcdir top_builddir=$top_builddir exec unshare -nmp --fork --mount-proc sh "$0"
fi
if [ -n "${XK_IN_NETNS-}" ]; then
	ip link set lo up
	ip link add veth0 type veth peer name veth1 2>/dev/null && ip link set veth0 up && ip link set veth1 up
fi

compiled() {
	# Its own copies of library functions must stay what they are.
	${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror -U_FORTIFY_SOURCE \
		-fno-builtin -fPIC -shared -ftls-model=initial-exec -o "$tmp/callfail.so" "$top_srcdir/tests/fault/callfail.c" -ldl
}
ok "what makes calls fail is compiled" compiled
campaign() {
	TMPDIR=$tmp python3 "$tool" --build "$top_builddir" --source "$top_srcdir" --preload "$tmp/callfail.so" \
		--seed "${XK_CALLFAIL_SEED:-1}" "$@"
}

if [ "${XK_CALLFAIL-}" = all ]; then
	every() {
		campaign --most "${XK_CALLFAIL_MOST:-0}" >"$tmp/every"
		got=$?
		cat "$tmp/every"
		return $got
	}
	ok "every call of every scene" every
	grep '^# [0-9]' "$tmp/every"
	done_testing
fi

lacks_memory() {
	says 'annot allocate memory\|out of memory' env LD_PRELOAD="$tmp/callfail.so" XK_FAIL_CLASS=memory XK_FAIL_AT=1 XK_FAIL_ON=1 \
		"$top_builddir/vp-bench" list "$top_srcdir/graphs/bench"
}
# By name: how often the other side is asked for depends on the time that it takes.
meets() {
	local call
	for call in socket bind listen accept4 connect; do
		campaign --only shm --class sockets --call "$call" --most 6 || return 1
	done
}
ok "a call that is told to fail does" lacks_memory
ok "every thread that cannot be had" campaign --only ping,xdp --class threads
ok "every call by which sockets meet, and nothing is left of them" meets
ok "a list without memory says so" campaign --only bench-list --class memory --most 8
ok "a sample of all" campaign --sample 40 --few 6
done_testing
