/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_rtt.c - estimates a connection's round trip and what follows from it (RFC 6298).
 */
#include "protocols/ncs/ncs_policy.h"

#define DOUBLINGS 10u

void ncs_rtt_init(struct ncs_rtt *r, xk_ns guess, xk_ns least)
{
	*r = (struct ncs_rtt){ .mean = guess, .var = guess / 2, .least = least };
}

void ncs_rtt_sample(struct ncs_rtt *r, xk_ns t)
{
	xk_ns off = t > r->mean ? t - r->mean : r->mean - t;

	if (!r->known) {
		r->mean = t;
		r->var = t / 2;
		r->known = true;
		return;
	}
	r->var += off / 4 - r->var / 4;
	r->mean += t / 8 - r->mean / 8;
}

static xk_ns doubled(const struct ncs_rtt *r, xk_ns t, unsigned n)
{
	unsigned times = n <= r->steady ? 0 : n - r->steady;
	xk_ns first = t > r->least ? t : r->least, later = first << (times < DOUBLINGS ? times : DOUBLINGS);

	return r->most == 0 || later <= r->most ? later : first < r->most ? r->most : first;
}

xk_ns ncs_rtt_probe(const struct ncs_rtt *r, unsigned n)
{
	return doubled(r, 2 * r->mean, n);
}

xk_ns ncs_rtt_timeout(const struct ncs_rtt *r, unsigned n)
{
	return doubled(r, r->mean + 4 * r->var, n);
}
