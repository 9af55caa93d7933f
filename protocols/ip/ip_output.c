/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_output.c - the down path: a prebuilt header for what fits, fragments for
 * what does not, and identifications.
 *
 * A datagram that leaves whole with DF set is atomic (RFC 6864): nobody will
 * ever put pieces of it together, so its identification says nothing and is 0.
 * Any other needs one that is unique for its (source, destination, protocol)
 * although every VP counts by itself: VP v of V uses only the numbers that are
 * v modulo the power of two above V, from one of 256 counters chosen by hash
 * of the three.  What a counter says is hidden by a permutation of the 65536 numbers, another one
 * for each triple (RFC 7739 5): who sees those that are sent to him cannot tell those that are sent to
 * others, nor how many.  With more than 1024 VPs that would leave too few numbers
 * each, and the counters are shared: one locked operation per datagram that
 * is not atomic.
 * Invariant: no two VPs ever use the same identification for one triple
 * within 65536 / step datagrams of either.
 */
#include "protocols/ip/ip_priv.h"
#include "runtime/base/xk_rand.h"
#include "runtime/base/xk_siphash.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_task.h"

#define ID_STEP_MAX 1024u

void ip_output_init(struct ip_node *in, unsigned nvps)
{
	unsigned step = 1;

	while (step < nvps)
		step *= 2;
	in->id_step = step <= ID_STEP_MAX ? step : 0;
}

void ip_output_rep_init(struct xk_rep *r)
{
	struct ip_state *st = ip_state(r);

	for (unsigned i = 0; i < IP_IDS; i++)
		st->id[i] = (uint16_t)xk_rand_u64(xk_vp_rand(r->vp));
}

/* The hash is keyed: nobody outside finds out which triples share a counter, or a permutation. */
void ip_output_hide(struct ip_sess *is, const struct xk_key *k)
{
	const struct ip_node *in = is->s.rep->node->state;
	uint64_t h = xk_siphash(in->id_secret, k->w[0], k->w[1]);

	is->id_no = (uint8_t)(h >> 32);
	is->id_key = (uint32_t)h;
}

/* A permutation of the numbers of 16 bits (Luby and Rackoff, 1988: four rounds). */
static uint16_t hidden(uint32_t key, uint16_t n)
{
	uint8_t left = (uint8_t)(n >> 8), right = (uint8_t)n;

	for (unsigned i = 0; i < 4; i++) {
		uint64_t z = ((uint64_t)key << 16 | i << 8 | right) * 0xbf58476d1ce4e5b9u;
		uint8_t was = right;

		z = (z ^ z >> 32) * 0x94d049bb133111ebu;
		right = left ^ (uint8_t)(z >> 56);
		left = was;
	}
	return (uint16_t)(left << 8 | right);
}

static uint16_t next_id(struct ip_sess *is)
{
	struct xk_rep *r = is->s.rep;
	struct ip_node *in = r->node->state;
	uint16_t *own = &ip_state(r)->id[is->id_no];

	if (XK_UNLIKELY(in->id_step == 0))
		return hidden(is->id_key, (uint16_t)xk_atomic_add(&in->id_shared[is->id_no], 1u));
	return hidden(is->id_key, (uint16_t)((*own)++ * in->id_step + r->no));
}

/* ---- fragments ------------------------------------------------------------------- */

/* What is pushed says ECT(0) or not; the link below must not see the flag. */
static inline uint8_t take_tos(struct xk_msg *m)
{
	uint8_t tos = m->flags & XK_MSG_ECT ? 2 : 0;

	m->flags &= (uint8_t)~XK_MSG_ECT;
	return tos;
}

/* Puts a header before one piece; false: no memory, the piece is gone. */
static bool piece_head(struct ip_sess *is, struct xk_msg *m, uint16_t id, uint16_t fragment,
		       struct xk_msgq *q)
{
	uint32_t len = m->tot + IP_HDR_LEN;
	struct ip_hdr h = {
		.ttl = (uint8_t)((struct ip_conf *)is->s.rep->conf)->ttl, .protocol = is->protocol,
		.total_length = (uint16_t)len, .identification = id, .fragment = fragment, .tos = take_tos(m),
		.source = is->local, .destination = is->remote,
	};
	uint8_t *p = xk_msg_push(&m, IP_HDR_LEN);

	if (p == NULL) {
		xk_drop(is->s.rep, XK_DROP_NOMEM, m);
		return false;
	}
	ip_hdr_store(p, &h);
	xk_msgq_put(q, m);
	return true;
}

/* Cuts m into pieces of n bytes on q; all or nothing, no payload is copied. */
static bool cut(struct ip_sess *is, struct xk_msg *m, uint32_t n, struct xk_msgq *q)
{
	uint16_t id = next_id(is), offset = 0;

	while (m->tot > n) {
		struct xk_msg *rest = xk_msg_split(m, n);

		if (rest == NULL) {
			xk_drop(is->s.rep, XK_DROP_NOMEM, m);
			return false;
		}
		if (!piece_head(is, m, id, (uint16_t)(IP_FLAG_MF | offset), q)) {
			xk_msg_free(rest);
			return false;
		}
		offset = (uint16_t)(offset + n / 8);
		m = rest;
	}
	return piece_head(is, m, id, offset, q);
}

static void fragment(struct ip_sess *is, struct xk_msg *m)
{
	struct xk_rep *r = is->s.rep;
	struct xk_msgq q;

	xk_msgq_init(&q);
	if (!cut(is, m, is->room & ~7u, &q)) {
		xk_msgq_free(&q);
		return;
	}
	xk_count(r->count[IP_COUNT_FRAGMENTED]);
	xk_count_add(r->count[IP_COUNT_FRAGMENTS_OUT], q.n);
	while ((m = xk_msgq_get(&q)) != NULL)
		xk_push(is->s.down, m);
}

/* ---- push -------------------------------------------------------------------------- */

static void push_whole(struct ip_sess *is, struct xk_msg *m, uint16_t id)
{
	const struct ip_template *t = take_tos(m) != 0 ? &is->ect : &is->head;
	uint32_t len = m->tot + IP_HDR_LEN;
	uint8_t *p = xk_msg_push(&m, IP_HDR_LEN);

	if (XK_UNLIKELY(p == NULL)) {
		xk_drop(is->s.rep, XK_DROP_NOMEM, m);
		return;
	}
	ip_template_put(p, t, len, id);
	xk_push(is->s.down, m);
}

/* Bytes of the transport's header, which is in one piece. */
static uint32_t transport_header(const struct ip_sess *is, const struct xk_msg *m)
{
	return is->protocol == IP_PROTO_TCP && m->len > 12 ? (m->data[12] >> 4) * 4u : 8;
}

/* A super-segment is as long as its frames: those must fit the path, and say so (DF), since
 * nobody below could make pieces of them. */
static void push_super(struct ip_sess *is, struct xk_msg *m)
{
	if (XK_UNLIKELY(transport_header(is, m) + m->u.cut.seg > is->room))
		xk_drop(is->s.rep, IP_DROP_NEEDS_FRAG, m);
	else
		push_whole(is, m, 0);
}

/* More than the path takes at once. */
static XK_NOINLINE void push_long(struct ip_sess *is, struct xk_msg *m)
{
	struct xk_rep *r = is->s.rep;

	if (is->pmtu_until != 0 && xk_vp_now() >= is->pmtu_until) {
		is->pmtu_until = 0;
		xk_store_relaxed(&is->room, is->mtu - IP_HDR_LEN);
		if (m->tot <= is->room) {
			xk_sess_own_push(&is->s)(&is->s, m);
			return;
		}
	}
	if (m->tot + IP_HDR_LEN > IP_MAX_DATAGRAM)
		xk_drop(r, IP_DROP_TOO_LONG, m);
	else if (m->flags & XK_MSG_SUPER)
		push_super(is, m);
	else if (((struct ip_conf *)r->conf)->df == IP_DF_ALWAYS)
		xk_drop(r, IP_DROP_NEEDS_FRAG, m);
	else
		fragment(is, m);
}

void ip_push(struct xk_sess *s, struct xk_msg *m)
{
	struct ip_sess *is = ip_sess(s);

	if (m->tot > is->room)
		push_long(is, m);
	else
		push_whole(is, m, 0);
}

/* Without DF every datagram needs an identification. */
void ip_push_counted(struct xk_sess *s, struct xk_msg *m)
{
	struct ip_sess *is = ip_sess(s);

	if (XK_UNLIKELY(m->tot > is->room))
		push_long(is, m);
	else
		push_whole(is, m, next_id(is));
}

void ip_path_mtu(struct ip_sess *is, uint32_t mtu)
{
	/* A router from before RFC 1191 says 0: try what every host takes. */
	if (mtu < IP_PMTU_FLOOR)
		mtu = IP_PMTU_FLOOR;
	if (is->s.down == NULL || mtu - IP_HDR_LEN >= is->room)
		return;
	xk_store_relaxed(&is->room, mtu - IP_HDR_LEN);
	is->pmtu_until = xk_vp_now() + IP_PMTU_LIFE;
	xk_count(is->s.rep->count[IP_COUNT_PMTU]);
}
