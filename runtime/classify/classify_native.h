/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_native.h - what the files of the native back end share.
 *
 * Invariant: link is XK_LINK_OTHER exactly where walk is set.
 */
#ifndef CLASSIFY_NATIVE_H
#define CLASSIFY_NATIVE_H

#include "runtime/classify/classify_priv.h"

/* No bytes 6 to 9 of an IPv4 header under their mask look like this. */
#define NATIVE_ABSENT UINT32_MAX

struct walk;

struct native {
	enum xk_link link;
	/* Those bytes of an unfragmented datagram of UDP and of TCP, or NATIVE_ABSENT. */
	uint32_t     udp, tcp;
	bool         icmp;
	struct walk *walk;
};

/* Is p IPv4 over Ethernet, over FDDI or over nothing, with some of UDP, TCP and ICMP above it
 * and nothing else that could decide anything?  Then link and which of them are there. */
bool classify_shape(const struct xk_pattern *p, struct native *nat);

/* One block of memory: xk_free gives it back. */
struct walk *classify_walk_new(const struct xk_pattern *p);
unsigned classify_walk_runs(const struct walk *w, const struct xk_flowtab *tab, struct xk_msg *const *m, unsigned n,
			    struct xk_run *run);
void classify_walk_print(const struct walk *w, FILE *f);

#endif
