/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_cc.c - a congestion window over SDUs: NewReno (RFC 5681, 6582) for networks that others use (RFC 8085 3.1).
 *
 * It begins with ten SDUs, or 14600 bytes, if that is less (RFC 6928).  Whatever error control repeats was lost: the
 * window is halved, once for all that was under way then.  Where it alone holds the sender up and nothing is
 * heard for a timeout, all that is under way counts as lost, and the window is one.
 * Invariant: window and threshold are 1 or more.
 */
#include "protocols/ncs/ncs_half.h"

#define FIRST 10u
#define FIRST_BYTES 14600u

void ncs_cc_init(struct ncs_cc *cc, const struct ncs_agreed *a, xk_ns now)
{
	uint32_t n = a->sdu != 0 ? FIRST_BYTES / a->sdu : FIRST;

	*cc = (struct ncs_cc){ .on = a->newreno, .threshold = NCS_WINDOW_MAX, .since = now,
			       .window = n < 2 ? 2 : n < FIRST ? n : FIRST };
}

bool ncs_cc_may(const struct ncs_cc *cc, uint32_t under_way)
{
	return !cc->on || under_way < cc->window + cc->extra;
}

static void loss(struct ncs_cc *cc, uint32_t under_way, uint32_t high, uint32_t window)
{
	cc->threshold = under_way / 2 > 2 ? under_way / 2 : 2;
	cc->window = window < cc->threshold ? window : cc->threshold;
	cc->part = 0;
	cc->recovering = true;
	cc->recover = high;
}

void ncs_cc_sent(struct ncs_cc *cc, bool repeated, uint32_t under_way, uint32_t high, xk_ns now)
{
	cc->since = now;
	if (repeated && !cc->recovering)
		loss(cc, under_way, high, NCS_WINDOW_MAX);
}

void ncs_cc_acked(struct ncs_cc *cc, uint32_t n, uint32_t done, xk_ns now)
{
	cc->extra = 0;
	cc->vain = 0;
	cc->since = now;
	if (cc->recovering && ncs_leq(cc->recover, done))
		cc->recovering = false;
	if (cc->window < cc->threshold) {
		cc->window += n;
	} else if (!cc->recovering) {
		cc->part += n;
		while (cc->part >= cc->window) {
			cc->part -= cc->window;
			cc->window++;
		}
	}
	cc->window = cc->window < NCS_WINDOW_MAX ? cc->window : NCS_WINDOW_MAX;
}

xk_ns ncs_cc_when(const struct ncs_cc *cc, const struct ncs_rtt *rtt)
{
	return cc->since + ncs_rtt_timeout(rtt, cc->vain);
}

void ncs_cc_time(struct ncs_cc *cc, const struct ncs_rtt *rtt, uint32_t under_way, uint32_t high, xk_ns now)
{
	if (now < ncs_cc_when(cc, rtt))
		return;
	loss(cc, under_way, high, 1);
	cc->extra = under_way;
	cc->vain++;
	cc->since = now;
}
