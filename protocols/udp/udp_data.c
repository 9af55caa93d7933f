/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_data.c - datagrams down and up, and the sessions that they make.
 *
 * Down, a prepared sum of everything constant leaves only lengths and payload
 * to be added; when the application's copy summed the payload already, it is
 * not read again.  Up, the checksum is judged before anything is created, and
 * the key is two loads: addresses from the network header, ports from ours.
 * Invariant: what reaches a session is length - 8 bytes, checked.
 */
#include "protocols/udp/udp_priv.h"

#include "runtime/base/xk_csum_inline.h"

/* ---- down ----------------------------------------------------------------------- */

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

static XK_NOINLINE void push_any(struct xk_sess *s, struct xk_msg *m)
{
	struct udp_sess *us = udp_sess(s);
	uint32_t sum = xk_csum_add(us->sum, payload_sum(m));
	uint8_t *p = push_room(s, &m);

	if (XK_UNLIKELY(p == NULL))
		return;
	m->flags &= (uint8_t)~XK_MSG_CSUM;
	udp_hdr_store(p, us->ports, m->tot, sum);
	xk_push(s->down, m);
}

/* One segment whose sum the application's copy left with it, or is soon made:
 * no stack frame, every call is the last thing done. */
void udp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct udp_sess *us = udp_sess(s);
	uint64_t sum = us->sum;
	uint8_t *p;

	if (m->flags & XK_MSG_CSUM)
		sum += m->csum;
	else if (!(m->flags & XK_MSG_CHAIN) && m->len - 8 <= 120)
		sum += xk_csum_quick(m->data, m->len, 0);
	else
		goto any;
	if (XK_UNLIKELY(m->tot > UDP_MAX_PAYLOAD))
		goto any;
	p = xk_msg_push_quick(m, UDP_HDR_LEN);
	if (XK_UNLIKELY(p == NULL))
		goto any;
	m->flags &= (uint8_t)~XK_MSG_CSUM;
	udp_hdr_store(p, us->ports, m->tot, sum);
	xk_push(s->down, m);
	return;
any:
	push_any(s, m);
}

void udp_push_plain(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *p = push_room(s, &m);

	if (XK_UNLIKELY(p == NULL))
		return;
	m->flags &= (uint8_t)~XK_MSG_CSUM;
	udp_hdr_store_plain(p, udp_sess(s)->ports, m->tot);
	xk_push(s->down, m);
}

/* The peer gave no port to answer to. */
void udp_push_nowhere(struct xk_sess *s, struct xk_msg *m)
{
	xk_drop(s->rep, UDP_DROP_PORT_ZERO, m);
}

/* ---- up: sessions made by datagrams ------------------------------------------------ */

void udp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/* The session below for a datagram that came by way of another VP. */
static struct xk_sess *open_below(struct xk_rep *r, uint32_t remote, uint32_t local)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], remote);
	if (xk_control(r->down[0], XK_CTL_ISLOCAL, &local, sizeof local) == 1)
		xk_part_push_host(&ps.p[XK_LOCAL], local);
	return xk_open(r, r->node, r->down[0], &ps, NULL);
}

/* Makes the session that e wants for a datagram under k, of this VP alone unless `anywhere`;
 * NULL with *reason. */
static struct udp_sess *sess_first(struct xk_rep *r, struct xk_sess *lls, const struct xk_enable *e,
				   const struct xk_key *k, const uint8_t *net, bool anywhere, unsigned *reason)
{
	struct udp_sess *us;
	int err = XK_E_NOMEM;

	*reason = XK_DROP_NOMEM;
	lls = lls != NULL ? xk_dup(lls) : open_below(r, ip_net_src(net), ip_net_dst(net));
	if (lls == NULL)
		return NULL;
	us = udp_sess_new(r, &e->rcv->rep[r->vp->no]->up, e->type, lls, &err);
	if (us == NULL) {
		xk_close(lls);
		if (err == XK_E_NOSPC)
			*reason = UDP_DROP_SESSIONS;
		return NULL;
	}
	err = udp_sess_bind(us, k, !anywhere);
	if (err == XK_OK)
		return us;
	inet_sess_free(&us->s);
	if (err == XK_E_EXIST)
		*reason = UDP_DROP_ELSEWHERE;
	return NULL;
}

static void unreachable(struct xk_rep *r, struct xk_msg *m)
{
	struct ip_icmp_error e = { m, 3, 3, 0 };

	xk_control(r->down[0], IP_CTL_ICMP_ERROR, &e, sizeof e);
	xk_drop(r, UDP_DROP_PORT, m);
}

static struct xk_enable *wanted_by(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k)
{
	return inet_enable_find(r->node, udp_ports_destination((uint32_t)k->w[1]), ip_net_dst(xk_msg_net(m)));
}

/* No session under k on this VP, and this is the VP for it, or one of several.  The header is
 * still before the payload. */
static void deliver_first(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, const struct xk_key *k, bool anywhere)
{
	const uint8_t *net = xk_msg_net(m);
	struct xk_enable *e = wanted_by(r, m, k);
	struct udp_sess *us;
	unsigned reason;

	if (e == NULL) {
		unreachable(r, m);
		return;
	}
	us = sess_first(r, lls, e, k, net, anywhere, &reason);
	if (us == NULL) {
		xk_drop(r, reason, m);
		return;
	}
	xk_dup(&us->s);
	if (xk_open_done(e->rcv, &us->s, e->type) < 0) {
		xk_close(&us->s);
		xk_drop(r, UDP_DROP_REFUSED, m);
		return;
	}
	xk_msg_pop(m, UDP_HDR_LEN);
	xk_pop(&us->s, lls, m, m->data - UDP_HDR_LEN);
	linger_add(&udp_state(r)->linger, &us->linger, &us->s);
}

/* The first of its connection that this VP sees. */
static XK_NOINLINE void input_first(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m,
				    const struct xk_key *k)
{
	const struct xk_enable *e;
	struct xk_flowkey f;

	if (udp_ports_destination((uint32_t)k->w[1]) == 0) {
		xk_drop(r, UDP_DROP_PORT_ZERO, m);
		return;
	}
	if (ip_is_multicast(ip_net_src(xk_msg_net(m)))) {
		xk_drop(r, UDP_DROP_SOURCE, m);
		return;
	}
	udp_flowkey(&f, k);
	if (xk_anywhere_here(r) && (e = wanted_by(r, m, k)) != NULL && xk_anywhere(r, &f, e->rcv))
		deliver_first(r, lls, m, k, true);
	else if (xk_reroute(r, &f, m))
		xk_count(r->count[UDP_COUNT_REROUTED]);
	else
		deliver_first(r, lls, m, k, false);
}

/* ---- up: every datagram -------------------------------------------------------------- */

static XK_NOINLINE int no_checksum(struct xk_rep *r)
{
	const struct udp_conf *c = r->conf;

	xk_count(r->count[UDP_COUNT_UNCHECKED]);
	return c->require_checksum ? UDP_DROP_NO_CHECKSUM : UDP_PASS;
}

/* m is the whole datagram, header first. */
static inline int judge(struct xk_rep *r, const struct xk_msg *m, const uint8_t *p, uint64_t pair)
{
	uint32_t sum;

	if (m->flags & XK_MSG_CSUM_OK)
		return UDP_PASS;
	if (XK_UNLIKELY(!udp_hdr_has_checksum(p)))
		return no_checksum(r);
	sum = udp_pseudo(pair, m->tot);
	if (m->flags & XK_MSG_CSUM)
		sum = xk_csum_add(sum, m->csum);
	else if (XK_UNLIKELY(m->flags & XK_MSG_CHAIN))
		sum = xk_msg_csum(m, 0, sum);
	else
		sum = xk_csum_quick(p, m->len, sum);
	if (XK_LIKELY(xk_csum_fold(sum) == 0xffff) || (m->flags & XK_MSG_CSUM_IGNORE))
		return UDP_PASS;
	return UDP_DROP_CHECKSUM;
}

/* m is exactly the datagram. */
static inline void input(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	uint8_t *p = m->data;
	struct xk_sess *s;
	struct xk_key k;
	int reason;

	udp_key(&k, ip_net_pair(xk_msg_net(m)), udp_hdr_ports(p));
	reason = judge(r, m, p, k.w[0]);
	if (XK_UNLIKELY(reason != UDP_PASS)) {
		xk_drop(r, (unsigned)reason, m);
		return;
	}
	m->flags &= (uint8_t)~XK_MSG_CSUM;       /* judged */
	s = xk_find(r, m, &k);
	if (XK_UNLIKELY(s == NULL)) {
		input_first(r, lls, m, &k);
		return;
	}
	xk_msg_pop(m, UDP_HDR_LEN);
	xk_pop(s, lls, m, p);
}

/* Short, padded, chained or lying datagrams. */
static XK_NOINLINE void input_careful(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	uint32_t length;

	if (m->tot < UDP_HDR_LEN) {
		xk_drop(r, UDP_DROP_SHORT, m);
		return;
	}
	/* The layer below leaves both headers in one piece, its own noted. */
	if (m->net == 0 || m->len < UDP_HDR_LEN) {
		xk_drop(r, XK_DROP_UNSUPPORTED, m);
		return;
	}
	length = udp_hdr_length(m->data);
	if (length < UDP_HDR_LEN || length > m->tot) {
		xk_drop(r, UDP_DROP_LENGTH, m);
		return;
	}
	xk_msg_truncate(m, length);
	input(r, lls, m);
}

/* Every datagram that udp_demux did not see through. */
static XK_NOINLINE void demux_any(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (XK_UNLIKELY(m->len < UDP_HDR_LEN || m->net == 0 || udp_hdr_length(m->data) != m->len ||
			(m->flags & XK_MSG_CHAIN)))
		input_careful(up->rep, lls, m);
	else
		input(up->rep, lls, m);
}

/*
 * Short, in one piece, with a checksum, for the session that its hint names:
 * the sum of the pseudo-header but for the length waits in the session.  No
 * stack frame, no map: every call is the last thing done.  Beside the bytes of
 * a longer one, what demux_any adds is nothing.
 */
#define QUICK_MAX 120u           /* payload that is summed in line */
void udp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const uint8_t *p = m->data;
	uint32_t len = m->len, sum;
	struct xk_sess *s;

	if (XK_LIKELY(len - UDP_HDR_LEN <= QUICK_MAX && m->net != 0 && udp_hdr_length(p) == len &&
		      udp_hdr_has_checksum(p) && !(m->flags & XK_MSG_CHAIN))) {
		s = xk_find_hinted(up->rep, m, ip_net_pair(xk_msg_net(m)), udp_hdr_ports(p));
		if (XK_LIKELY(s != NULL)) {
			sum = (uint32_t)s->hot + htobe16((uint16_t)len);  /* far from wrapping */
			sum = xk_csum_quick(p, len, sum);
			if (XK_LIKELY(xk_csum_valid(sum) || (m->flags & XK_MSG_CSUM_IGNORE))) {
				xk_msg_pop(m, UDP_HDR_LEN);
				xk_pass(s, m);
				return;
			}
			m->u.hint--;
		}
	}
	demux_any(up, lls, m);
}

/* The sum that a datagram's own is added to: pseudo-header, far from wrapping. */
static inline uint64_t sum_start(const struct xk_sess *s, uint32_t len)
{
	return (uint32_t)s->hot + htobe16((uint16_t)len);
}

/* One good datagram of session s, exactly what lies behind off bytes of x? */
static inline bool frame_good(const struct xk_sess *s, const struct xk_msg *x, uint32_t off)
{
	const uint8_t *p = x->data + off;
	uint32_t len = x->len - off, sum;

	if (x->len < off + UDP_HDR_LEN || udp_hdr_length(p) != len || !udp_hdr_has_checksum(p) ||
	    udp_hdr_ports(p) != s->map.key.w[1])
		return false;
	if (x->flags & XK_MSG_CSUM_OK)
		return true;
	if (len - UDP_HDR_LEN > QUICK_MAX)
		return false;
	sum = xk_csum_quick(p, len, (uint32_t)sum_start(s, len));
	return xk_csum_valid(sum) || (x->flags & XK_MSG_CSUM_IGNORE);
}

/*
 * How many, from the first one on, are good datagrams of session s.  One whose
 * ports and length are those of the one before needs the sum alone.
 */
static inline unsigned frames_good(const struct xk_sess *s, const struct xk_frames *f)
{
	const size_t off = f->off;
	uint32_t len = 0;                /* of the frame before, when it was summed in line */
	uint64_t start = 0, word = 0;
	size_t n = 0;                    /* of that datagram */
	unsigned i;

	for (i = 0; i < f->n; i++) {
		const struct xk_msg *x = f->m[i];
		const uint8_t *p = x->data + off;

		if (XK_LIKELY(x->len == len && udp_hdr_like(p, word))) {
			if (XK_UNLIKELY(!xk_csum_valid64(xk_csum_words(p, n, start)) &&
					!(x->flags & XK_MSG_CSUM_IGNORE)))
				break;
			continue;
		}
		if (!frame_good(s, x, f->off))
			break;
		n = x->len - off;
		/* The payload of a longer one may be elsewhere (xk_deposit.h). */
		len = xk_csum_is_quick(n) ? x->len : 0;
		start = sum_start(s, (uint32_t)n);
		word = udp_hdr_word(p);
	}
	return i;
}

/*
 * Addresses: every message came through lls, whose key they are part of; it is
 * enough to see that the session over lls has those of the first.
 */
unsigned udp_demux_frames(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f)
{
	struct xk_sess *s = *f->hint;
	unsigned good = 0;

	if (XK_LIKELY(s->rep == up->rep && s->rcnt > 0 && s->down == lls && f->net >= 0 &&
		      s->map.key.w[0] == ip_net_pair(f->m[0]->data + f->net)))
		good = frames_good(s, f);
	return xk_frames_on(up, lls, f, s, good, UDP_HDR_LEN, f->net);
}

/* Headers of a datagram whose IP has no options. */
#define UDP_IP_LEN (20u + UDP_HDR_LEN)

/* What a driver may place: a whole datagram, as input would take it, without options or padding. */
bool udp_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len, struct xk_payload *p)
{
	const uint8_t *u = frame + UDP_IP_LEN - UDP_HDR_LEN;
	const uint32_t have = len - (UDP_IP_LEN - UDP_HDR_LEN);

	if (len < UDP_IP_LEN || !ip_net_plain(frame, len, s->map.key.w[0], UDP_PROTO) ||
	    udp_hdr_ports(u) != s->map.key.w[1] || udp_hdr_length(u) != have)
		return false;
	p->header = UDP_IP_LEN;
	p->n = len - UDP_IP_LEN;
	p->summed = udp_hdr_has_checksum(u);
	p->sum = xk_csum_quick(u, UDP_HDR_LEN, (uint32_t)sum_start(s, have));
	return true;
}

/* From another VP: examined there, but for its session. */
void udp_enter(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_sess *s;
	struct xk_key k;

	udp_key(&k, ip_net_pair(xk_msg_net(m)), udp_hdr_ports(m->data));
	s = xk_find(r, m, &k);
	if (s == NULL) {
		deliver_first(r, NULL, m, &k, false);
		return;
	}
	xk_msg_pop(m, UDP_HDR_LEN);
	xk_pop(s, s->down, m, m->data - UDP_HDR_LEN);
}
