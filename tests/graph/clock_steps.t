#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# clock_steps.t - the wall clock jumps back and forth by days, each time that somebody reads it: a graph that runs by the
# clock that only goes forward does not notice.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
unset VP_GRAPH_PATH
: "${CC:=cc}"
command -v "${CC%% *}" >/dev/null || skip_all "no compiler"
grep -q -e -fsanitize "$top_builddir/config.status" 2>/dev/null && skip_all "a sanitizer has to be loaded first"

cat >"$tmp/steps.c" <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int steps;

static void jump(time_t *t)
{
	static const time_t day = 86400;

	*t += __atomic_fetch_add(&steps, 1, __ATOMIC_RELAXED) % 2 ? 3 * day : -2 * day;
}

int clock_gettime(clockid_t c, struct timespec *t)
{
	int res = (int)syscall(SYS_clock_gettime, c, t);

	if (res == 0 && (c == CLOCK_REALTIME || c == CLOCK_REALTIME_COARSE))
		jump(&t->tv_sec);
	return res;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec s;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &s);
	t->tv_sec = s.tv_sec;
	t->tv_usec = s.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec s;

	clock_gettime(CLOCK_REALTIME, &s);
	if (t != NULL)
		*t = s.tv_sec;
	return s.tv_sec;
}

__attribute__((destructor)) static void tell(void)
{
	FILE *f = fopen(getenv("STEPS"), "w");

	if (f != NULL) {
		fprintf(f, "%d\n", steps);
		fclose(f);
	}
}
END
$CC -shared -fPIC -o "$tmp/steps.so" "$tmp/steps.c" 2>"$tmp/cc" || skip_all "cannot make a library: $(head -n 1 "$tmp/cc")"
cat >"$tmp/g.lua" <<'END'
local function host(addr) return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } } end
tcpecho { port = 7, over = tcp { quirks = { rto_min = "20s" }, over = host("10.0.0.2/24") } }
stack { load { to = "10.0.0.2", port = 7, conns = 4, count = 50, rate = 200, size = "3KiB" }, tcp { quirks = { rto_min = "20s" } }, host("10.0.0.1/24") }
return graph "g" { threading = vppc { vps = 2 } }
END
stepped() {
	timeout 60 env STEPS="$tmp/steps" LD_PRELOAD="$tmp/steps.so" "$run" --json "$@" >"$tmp/run.json" 2>"$tmp/run.err"
	rc=$?
	cat "$tmp/run.err"
	return $rc
}
counted() { jq -e "$1" "$tmp/run.json"; }
command -v jq >/dev/null || skip_all "no jq"

# A capture reads the wall clock once, and so makes it jump while the graph runs.
ok "it runs to its end" stepped --capture "eth=$tmp/a.pcap" "$tmp/g.lua"
ok "the clock has jumped" [ "$(cat "$tmp/steps")" -ge 1 ]
ok "all is echoed" counted '[.nodes[] | select(.name == "load")][0].counters | .messages == 200 and .received_bytes == 200 * 3072'
ok "nothing was sent twice, no timer has run early" counted '[.nodes[] | select(.protocol == "tcp").counters.timed_out] | add == 0'
ok "at the pace that was asked for: 50 messages, 200 a second" counted '.wall_ns >= 200e6'
ok "a time to run is that long" stepped -d 100ms "$top_srcdir/graphs/udp-echo.lua" count=0 conns=2
ok "and it was" counted '.measured_ns >= 100e6 and .measured_ns < 30e9'
done_testing
