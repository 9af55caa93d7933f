/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h - what every peer harness prints: one JSON line per measured sample,
 * {"peer":"lwip","workload":"udp-64","ns":101.3}, time per message; bulk
 * transfers have "bytes_per_cpu_s", too.
 *
 * vp-bench runs a harness for one sample at a time and interleaves it with our
 * own side.  Nothing here links into the product.
 */
#ifndef XK_PEER_H
#define XK_PEER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Processor time of this process: what others do on the machine meanwhile is
 * not the peer's fault. */
static inline double peer_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Bulk transfer: payload bytes delivered per second of processor time, and the
 * time of 4 KiB of them. */
static inline void peer_report_bulk(const char *peer, const char *workload, double bytes, double ns)
{
	printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"bytes_per_cpu_s\":%.0f,\"ns\":%.4f}\n",
	       peer, workload, bytes * 1e9 / ns, ns * 4096 / bytes);
	fflush(stdout);
}

static inline void peer_report(const char *peer, const char *workload, double ns)
{
	printf("{\"peer\":\"%s\",\"workload\":\"%s\",\"ns\":%.4f}\n", peer, workload, ns);
	fflush(stdout);
}

#endif
