#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# objects.t - the protocols are the same objects under every threading architecture.
#
# Of each source there is one object in the build, so all presets link it; none of them, nor
# its source, names an architecture, a preset, a worker, a queue of messages or a lock policy.
# Mutexes around rare changes (a table of hosts, of listeners) are allowed.  Sockets are where
# application threads come in: they enter virtual processors, and have a lock on descriptors; so are the calls of
# programs over ncs.
# Bodies in blocking style stop and go on by the name of a user-level thread, whatever runs it.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v nm >/dev/null || skip_all "needs nm"
find "$top_builddir/protocols" -name '*.o' >"$tmp/objects"
[ -s "$tmp/objects" ] || skip_all "needs the objects of the build"
names='xk_(arch|vpset|worker|pool|fifo|lock)_|xk_vp_(lock|handoff|table|order|carry|kick|do)|pthread_'

# named OBJECT...: what it refers to that only the runtime may know
named() { nm -u "$@" 2>/dev/null | grep -E "(^|[^a-z_])($names)"; }

innocent() {
	while read -r object; do
		case $object in */protocols/sock/* | */protocols/ncs/ncs_wait.o) continue ;; esac
		named "$object" && { echo "in $object"; return 1; }
	done <"$tmp/objects"
	true
}

silent() {
	! grep -rnE --include='*.c' --include='*.h' -e 'XK_(SCHED|ENTRY|DOMAIN|SPREAD|HANDOVER)_' -e '(->|\.)arch\.(domain|entry|schedule|spread|lock|handover|workers|threads|io_threads|name)' \
		"$top_srcdir/protocols" | grep -v '/protocols/sock/'
}

once() {
	sed 's|.*/||; s|^lib[a-z]*_a-||' "$tmp/objects" | sort | uniq -d >"$tmp/twice"
	cat "$tmp/twice"
	[ ! -s "$tmp/twice" ]
}

# The socket's object is a witness: it enters virtual processors, so the test can tell.
witness() { named "$(grep '/sock_call\.o$' "$tmp/objects" | head -n 1)" | grep -q xk_vp_do; }

ok "no protocol's object refers to an architecture, a worker or a lock policy" innocent
ok "no protocol's source names an axis of threading" silent
ok "there is one object of each source" once
ok "what refers to one is told" witness
done_testing
