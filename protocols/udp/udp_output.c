/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_output.c - datagrams on their way down.
 *
 * A session's prepared sum of everything constant leaves only lengths and payload
 * to be added; a payload that the application's copy has summed is not read again.
 * Invariant: the checksum flag never reaches the layer below; what says that a message is a
 * super-segment is set here alone.
 */
#include "protocols/udp/udp_priv.h"

#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"

static inline uint32_t payload_sum(const struct xk_msg *m)
{
	if (m->flags & XK_MSG_CSUM)
		return m->csum;
	if (XK_UNLIKELY(m->flags & XK_MSG_CHAIN))
		return xk_msg_csum(m, 0, 0);
	return xk_csum_quick(m->data, m->len, 0);
}

/* Room for the header, or NULL with m gone. */
static inline uint8_t *push_room(struct xk_sess *s, struct xk_msg **mp)
{
	uint8_t *p;

	if (XK_UNLIKELY((*mp)->tot > UDP_MAX_PAYLOAD)) {
		xk_drop(s->rep, UDP_DROP_TOO_LONG, *mp);
		return NULL;
	}
	p = xk_msg_push(mp, UDP_HDR_LEN);
	if (XK_UNLIKELY(p == NULL))
		xk_drop(s->rep, XK_DROP_NOMEM, *mp);
	return p;
}

void udp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct udp_sess *us = udp_sess(s);
	uint32_t sum = xk_csum_add(us->sum, payload_sum(m));
	uint8_t *p = push_room(s, &m);

	if (XK_UNLIKELY(p == NULL))
		return;
	m->flags &= (uint8_t)~UDP_NOT_DOWN;
	udp_hdr_store(p, us->ports, m->tot, sum);
	xk_push(s->down, m);
}

void udp_push_plain(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *p = push_room(s, &m);

	if (XK_UNLIKELY(p == NULL))
		return;
	m->flags &= (uint8_t)~UDP_NOT_DOWN;
	udp_hdr_store_plain(p, udp_sess(s)->ports, m->tot);
	xk_push(s->down, m);
}

/* ---- a CRC in place of the checksum (trust_crc) ------------------------------------- */

void udp_ask_way(struct udp_sess *us)
{
	int res = xk_sess_control(us->s.down, IP_CTL_NEAR, &us->whole, sizeof us->whole);

	if (res != (int)sizeof us->whole)
		us->whole = NULL;
	us->ask = res == XK_E_AGAIN;
}

/* Can a datagram with n bytes of payload go without?  Fragments could be put together wrongly, each with a
 * right CRC (RFC 4963). */
static inline bool is_near(const struct udp_sess *us, uint32_t n)
{
	return us->whole != NULL && n + UDP_HDR_LEN <= xk_load_relaxed(us->whole);
}

void udp_push_near(struct xk_sess *s, struct xk_msg *m)
{
	if (XK_LIKELY(is_near(udp_sess(s), m->tot))) {
		xk_count(s->rep->count[UDP_COUNT_TRUSTED]);
		udp_push_plain(s, m);
	} else {
		udp_push(s, m);
	}
}

/* ---- several datagrams in one push (UDP_CTL_SEGMENT) -------------------------------- */

/* m, at least two datagrams, as one super-segment.  Whoever cuts it sums for nothing, and the kernel cuts none that
 * has no sum: trust_crc leaves it none. */
static void push_super(struct udp_sess *us, struct xk_msg *m)
{
	bool checksum = ((const struct udp_conf *)us->s.rep->conf)->checksum;
	uint8_t *p = push_room(&us->s, &m);

	if (XK_UNLIKELY(p == NULL))
		return;
	udp_hdr_store_plain(p, us->ports, m->tot);
	m->flags = (m->flags & (uint8_t)~UDP_NOT_DOWN) | XK_MSG_SUPER;
	m->u.cut.seg = us->seg;
	if (XK_LIKELY(checksum)) {
		m->flags |= XK_MSG_PARTIAL;
		xk_put_raw16(p + 6, xk_csum_fold((uint32_t)us->s.hot + htobe16((uint16_t)m->tot)));
	}
	xk_count(us->s.rep->count[UDP_COUNT_TRAINS]);
	xk_push(us->s.down, m);
}

static void push_one(struct xk_sess *s, struct xk_msg *m)
{
	if (((const struct udp_conf *)s->rep->conf)->checksum)
		udp_push_near(s, m);
	else
		udp_push_plain(s, m);
}

void udp_push_segments(struct xk_sess *s, struct xk_msg *m)
{
	struct udp_sess *us = udp_sess(s);
	uint32_t most = xk_captured(s->rep->node) ? us->seg : (uint32_t)us->seg * us->train;

	if (XK_UNLIKELY(us->ask))
		udp_ask_way(us);
	while (m != NULL) {
		struct xk_msg *rest = NULL;

		if (m->tot > most && (rest = xk_msg_split(m, most)) == NULL) {
			xk_drop(s->rep, XK_DROP_NOMEM, m);
			return;
		}
		if (m->tot > us->seg)
			push_super(us, m);
		else
			push_one(s, m);
		m = rest;
	}
}

/* The peer gave no port to answer to. */
void udp_push_nowhere(struct xk_sess *s, struct xk_msg *m)
{
	xk_drop(s->rep, UDP_DROP_PORT_ZERO, m);
}
