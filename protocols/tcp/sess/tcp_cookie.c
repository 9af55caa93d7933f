/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_cookie.c - SYN cookies (RFC 4987 3.6): handshakes that cost no memory.
 *
 * The sequence number of the SYN-ACK holds what the entry of the cache would:
 *
 *     31      27 26   24 23                     0
 *     | period  |  mss  |   keyed hash          |    the upper byte hidden by another hash
 *
 * period counts 64 s; the hash covers addresses, ports, the peer's sequence number,
 * period and mss, so the secret in use changes with each period and an answer is good for
 * one to two of them.  What a SYN offers besides comes back in the lowest six bits of
 * our timestamp, when the peer has timestamps: window scale (15: none), SACK, ECN.  An
 * ACK is examined for a cookie only for as long as one could still be on its way.
 * Invariant: a session made from a cookie promises its peer nothing that the SYN-ACK
 * did not say.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "runtime/upi/xk_inline.h"

#define PERIOD      (64 * XK_SEC)
#define TS_BITS     0x3fu
#define TS_SACK     0x10u
#define TS_ECN      0x20u
#define TS_NO_SCALE 0x0fu

/* Largest segments that are worth telling apart, ascending. */
static const uint16_t sizes[8] = { 64, 536, 1220, 1360, 1440, 1460, 4312, 8960 };

static unsigned size_index(uint32_t mss)
{
	unsigned i = XK_ARRAY_LEN(sizes) - 1;

	while (i > 0 && sizes[i] > mss)
		i--;
	return i;
}

static uint64_t cookie_hash(const struct tcp_arrival *a, uint32_t irs, uint32_t what)
{
	const struct tcp_node *n = a->r->node->state;

	return tcp_siphash(n->secret[2], n->secret[3], a->k->w[0], a->k->w[1], (uint64_t)irs << 32 | what);
}

static uint32_t cookie(const struct tcp_arrival *a, uint32_t irs, uint32_t period, unsigned size)
{
	/* The period as a whole is hashed; five bits of it are sent. */
	uint32_t top = (period & 31) << 3 | size;
	uint32_t hidden = (top ^ (uint32_t)cookie_hash(a, irs, 0)) & 0xff;

	return hidden << 24 | (uint32_t)(cookie_hash(a, irs, 1 + (period << 3 | size)) & 0xffffff);
}

static uint32_t period_of(const struct xk_rep *r)
{
	return (uint32_t)(xk_vp_time(r->vp) / PERIOD) + 1;
}

/* ---- out --------------------------------------------------------------------------------- */

static uint32_t ts_bits(const struct tcp_half *h)
{
	uint32_t v = h->peer.have & TCP_O_WSCALE ? h->peer.wscale : TS_NO_SCALE;

	return v | (h->peer.have & TCP_O_SACKOK ? TS_SACK : 0) | (h->ecn ? TS_ECN : 0);
}

/* The latest timestamp not after now that ends in those bits. */
static uint32_t ts_with(uint32_t ts, uint32_t bits)
{
	uint32_t v = (ts & ~TS_BITS) | bits;

	return tcp_gt(v, ts) ? v - (TS_BITS + 1) : v;
}

/* What the peer offers and we take, as far as it can come back to us. */
static void offered(const struct tcp_arrival *a, struct tcp_half *h)
{
	const struct tcp_tune *t = tcp_tune(a->r);
	const struct tcp_opts *o = &a->g->o;

	*h = (struct tcp_half){ .irs = a->g->seq, .ts_off = tcp_ts_offset(a->r, a->k), .peer = *o };
	h->peer.have &= TCP_O_MSS;
	if (!t->timestamps || !(o->have & TCP_O_TS))
		return;
	h->peer.have |= TCP_O_TS | (t->use_wscale ? o->have & TCP_O_WSCALE : 0) | (t->sack ? o->have & TCP_O_SACKOK : 0);
	h->ecn = t->ecn && (a->g->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR);
}

void tcp_cookie_send(const struct tcp_arrival *a)
{
	struct tcp_rep *tr = tcp_rep(a->r);
	uint8_t opts[TCP_HDR_MAX];
	struct tcp_half h;
	uint32_t ts, n, mss;

	offered(a, &h);
	mss = h.peer.have & TCP_O_MSS ? h.peer.mss : 536;
	/* No cookie can say so little: it waits until there is room for what can. */
	if (XK_UNLIKELY(mss < sizes[0])) {
		xk_drop(a->r, TCP_DROP_SYNCACHE, a->m);
		return;
	}
	h.iss = cookie(a, h.irs, period_of(a->r), size_index(mss));
	ts = ts_with(tcp_ms(xk_vp_time(a->r->vp)) + h.ts_off, ts_bits(&h));
	n = tcp_synack_options(a->r, &h, tcp_listen_mss(a), ts, opts);
	tr->cookie_until = xk_vp_time(a->r->vp) + 2 * PERIOD;
	xk_count(a->r->count[TCP_COUNT_COOKIE_OUT]);
	tcp_answer(a->r, a->lls, a->m, h.iss, h.irs + 1, TCP_SYN | TCP_ACK | (h.ecn ? TCP_ECE : 0),
		   (uint16_t)tcp_synack_window(a), opts, n);
	xk_msg_free(a->m);
}

/* ---- back ---------------------------------------------------------------------------------- */

/* The index of the size that it holds, or -1: no cookie of ours. */
static int cookie_size(const struct tcp_arrival *a, uint32_t irs, uint32_t iss)
{
	uint32_t now = period_of(a->r), top = (iss >> 24 ^ (uint32_t)cookie_hash(a, irs, 0)) & 0xff;

	for (uint32_t age = 0; age < 2; age++)
		if (((now - age) & 31) == top >> 3 && cookie(a, irs, now - age, top & 7) == iss)
			return (int)(top & 7);
	return -1;
}

static void came_back(const struct tcp_arrival *a, struct tcp_half *h)
{
	const struct tcp_opts *o = &a->g->o;
	uint32_t bits = o->tsecr & TS_BITS;

	if (!tcp_tune(a->r)->timestamps || !(o->have & TCP_O_TS))
		return;
	h->peer.have |= TCP_O_TS;
	h->peer.tsval = o->tsval;
	if ((bits & 0x0f) != TS_NO_SCALE) {
		h->peer.have |= TCP_O_WSCALE;
		h->peer.wscale = bits & 0x0f;
	}
	if (bits & TS_SACK)
		h->peer.have |= TCP_O_SACKOK;
	h->ecn = bits & TS_ECN;
}

bool tcp_cookie_check(const struct tcp_arrival *a, struct tcp_half *h)
{
	int size;

	if (xk_vp_time(a->r->vp) >= tcp_rep(a->r)->cookie_until)
		return false;
	*h = (struct tcp_half){ .iss = a->g->ack - 1, .irs = a->g->seq - 1, .window = tcp_synack_window(a) };
	size = cookie_size(a, h->irs, h->iss);
	if (size < 0)
		return false;
	h->ts_off = tcp_ts_offset(a->r, a->k);
	h->peer.have = TCP_O_MSS;
	h->peer.mss = sizes[size];
	came_back(a, h);
	return true;
}
