/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_fast.c - the ordinary datagram in fewer instructions: one alone, a batch of
 * one connection, and payload that a driver may place.
 *
 * It must equal udp_input.c and udp_output.c: udp_fast_demux and udp_fast_push do
 * what udp_demux and udp_push do, and leave to them whatever they do not see
 * through; udp_fast_batch does to a batch what udp_demux does to each of it.
 * Without this file (--disable-fastpath) UDP does the same, slower.
 * No function has a stack frame on the common way: every call is the last thing done.
 */
#include "protocols/udp/udp_priv.h"

#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_ddp.h"
#include "runtime/upi/xk_inline.h"

#define QUICK_MAX 120u           /* payload that is summed in line */

/* ---- down ----------------------------------------------------------------------- */

/* One segment whose sum the application's copy left with it, or is soon made. */
void udp_fast_push(struct xk_sess *s, struct xk_msg *m)
{
	struct udp_sess *us = udp_sess(s);
	uint64_t sum = us->sum;
	uint8_t *p;

	if (m->flags & XK_MSG_CSUM)
		sum += m->csum;
	else if (!(m->flags & XK_MSG_CHAIN) && m->len - 8 <= QUICK_MAX)
		sum += xk_csum_quick(m->data, m->len, 0);
	else
		goto any;
	if (XK_UNLIKELY(m->tot > UDP_MAX_PAYLOAD))
		goto any;
	p = xk_msg_push_quick(m, UDP_HDR_LEN);
	if (XK_UNLIKELY(p == NULL))
		goto any;
	m->flags &= (uint8_t)~UDP_NOT_DOWN;
	udp_hdr_store(p, us->ports, m->tot, sum);
	xk_push(s->down, m);
	return;
any:
	udp_push(s, m);
}

/* ---- up ------------------------------------------------------------------------- */

/* The sum that a datagram's own is added to: the pseudo-header's, which but for
 * the length waits in the session; far from wrapping. */
static inline uint64_t sum_start(const struct xk_sess *s, uint32_t len)
{
	return (uint32_t)s->hot + htobe16((uint16_t)len);
}

static inline bool sum_right(const uint8_t *p, size_t n, uint64_t start, uint8_t flags)
{
	return XK_LIKELY(xk_csum_valid(xk_csum_quick(p, n, (uint32_t)start)) || (flags & XK_MSG_CSUM_IGNORE));
}

/* Is the sum of the datagram p, with a checksum, right? */
static inline bool sum_good(const struct xk_sess *s, const uint8_t *p, uint32_t len, uint8_t flags)
{
	return sum_right(p, len, sum_start(s, len), flags);
}

/*
 * Short, in one piece, with a checksum and no sum beside it, for the session that its hint names.
 * Beside the bytes of a longer one, what udp_demux adds is nothing.
 */
void udp_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const uint8_t *p = m->data;
	uint32_t len = m->len;
	struct xk_sess *s;

	if (XK_LIKELY(len - UDP_HDR_LEN <= QUICK_MAX && m->net != 0 && udp_hdr_whole(p, len) &&
		      udp_hdr_has_checksum(p) && !(m->flags & (XK_MSG_CHAIN | XK_MSG_CSUM)))) {
		s = xk_find_hinted(up->rep, m, ip_net_pair(xk_msg_net(m)), udp_hdr_ports(p));
		if (XK_LIKELY(s != NULL)) {
			if (sum_good(s, p, len, m->flags)) {
				xk_msg_pop(m, UDP_HDR_LEN);
				xk_pass(s, m);
				return;
			}
			m->u.hint--;
		}
	}
	udp_demux(up, lls, m);
}

/* ---- up, a batch of known connections ---------------------------------------------- */

#define FRAME_TOLD (XK_MSG_CSUM | XK_MSG_CSUM_OK | XK_MSG_CHAIN)

/* A sum that is there, or is not to be made.  No flag says so once it was judged. */
static inline bool frame_told(const struct xk_sess *s, struct xk_msg *x, uint32_t len)
{
	const uint8_t flags = x->flags;

	if ((flags & (XK_MSG_CSUM_OK | XK_MSG_CSUM)) == 0)
		return false;            /* the payload may be elsewhere (xk_ddp.h) */
	if (!(flags & (XK_MSG_CSUM_OK | XK_MSG_CSUM_IGNORE)) && !xk_csum_valid64(sum_start(s, len) + x->csum))
		return false;
	x->flags = flags & (uint8_t)~XK_MSG_CSUM;
	return true;
}

/* One good datagram of session s, exactly the n bytes at p, which are x's? */
static inline bool frame_good(const struct xk_sess *s, struct xk_msg *x, const uint8_t *p, uint32_t n)
{
	if (XK_UNLIKELY(n < UDP_HDR_LEN) ||
	    XK_UNLIKELY(!udp_hdr_is(p, (uint32_t)s->map.key.w[1], htobe32(n << 16))))
		return false;
	return x->flags & FRAME_TOLD ? frame_told(s, x, n) : sum_good(s, p, n, x->flags);
}

/* The same of one that is summed in line, as short ones of whole words are; false: frame_good knows. */
static inline bool frame_quick(const struct xk_sess *s, const struct xk_msg *x, const uint8_t *p, uint32_t n)
{
	const uint32_t length = htobe32(n << 16);

	return XK_LIKELY(n >= UDP_HDR_LEN && xk_csum_is_quick(n)) && XK_LIKELY(!(x->flags & FRAME_TOLD)) &&
	       XK_LIKELY(udp_hdr_is(p, (uint32_t)s->map.key.w[1], length)) &&
	       (XK_LIKELY(xk_csum_valid64(xk_csum_words(p, n, (uint32_t)s->hot + length))) ||
		(x->flags & XK_MSG_CSUM_IGNORE));
}

/*
 * How many of k, from number i on, are good datagrams of session s.  One whose ports and length are
 * those of the one before needs the sum alone.
 */
static XK_APART unsigned frames_good_any(const struct xk_sess *s, struct xk_msg *const *m, unsigned i, unsigned k,
					 size_t off)
{
	uint32_t len = 0;                /* of the frame before, when it was summed */
	uint64_t start = 0, word = 0;
	size_t n = 0;                    /* of that datagram */

	for (; i < k; i++) {
		struct xk_msg *x = m[i];
		const uint8_t *p = x->data + off;
		const bool told = (x->flags & FRAME_TOLD) != 0;

		if (x->len == len && !told && udp_hdr_like(p, word)) {
			if (!sum_right(p, n, start, x->flags))
				break;
			continue;
		}
		n = x->len - off;
		if (!frame_good(s, x, p, (uint32_t)n))
			break;
		len = told ? 0 : x->len;
		start = sum_start(s, (uint32_t)n);
		word = udp_hdr_word(p);
	}
	return i;
}

/* The same of all of them, in few instructions for those that are summed in line and alike. */
static inline unsigned frames_good(const struct xk_sess *s, struct xk_msg *const *m, unsigned k, size_t off)
{
	const struct xk_msg *first = m[0];
	const uint32_t len = first->len, n = len - (uint32_t)off;
	uint64_t start, word;
	unsigned i = 0;

	if (XK_LIKELY(frame_quick(s, first, first->data + off, n))) {
		start = sum_start(s, n);
		word = udp_hdr_word(first->data + off);
		for (i = 1; i < k; i++) {
			const uint8_t *p = m[i]->data + off;

			if (XK_UNLIKELY(m[i]->len != len) || XK_UNLIKELY(!udp_hdr_like(p, word)) ||
			    XK_UNLIKELY(!xk_csum_valid64(xk_csum_words(p, n, start))))
				break;
		}
		if (XK_LIKELY(i == k))
			return i;
	}
	return frames_good_any(s, m, i, k, off);
}

/* Is s the session, held, of what comes between the addresses of x?  All of a run have the same. */
static inline bool is_between(const struct xk_rep *r, const struct xk_sess *s, const struct xk_batch *f,
			      const struct xk_msg *x)
{
	return XK_LIKELY(s->rep == r && s->rcnt > 0 && f->net >= 0 && s->map.key.w[0] == ip_net_pair(x->data + f->net));
}

/* Frames of as many connections: how many are good, from number i on; any: of whatever length. */
static inline __attribute__((always_inline))
unsigned apart_good(const struct xk_rep *r, const struct xk_batch *f, struct xk_sess **sess, unsigned i, bool any)
{
	const size_t off = f->off, net = (size_t)f->net, depth = f->depth;
	const struct xk_run *run = f->run;
	struct xk_msg **m = f->m;
	const unsigned n = f->n;

	for (; i < n; i++) {
		struct xk_sess *s = sess[i] = run[i].flow->sess[depth];
		const uint8_t *frame = m[i]->data;
		const uint32_t len = m[i]->len - (uint32_t)off;

		if (XK_UNLIKELY(s->rep != r) || XK_UNLIKELY(s->rcnt <= 0) ||
		    XK_UNLIKELY(s->map.key.w[0] != ip_net_pair(frame + net)))
			break;
		if (!any && XK_UNLIKELY(!frame_quick(s, m[i], frame + off, len)))
			break;
		if (any && XK_UNLIKELY(!frame_good(s, m[i], frame + off, len)))
			break;
		__builtin_prefetch(s->up);
	}
	return i;
}

static XK_APART unsigned apart_good_any(const struct xk_rep *r, const struct xk_batch *f, struct xk_sess **sess,
					unsigned i)
{
	return apart_good(r, f, sess, i, true);
}

static XK_APART unsigned batch_apart(const struct xk_rep *r, const struct xk_batch *f)
{
	struct xk_sess *sess[XK_BATCH_MAX];
	unsigned n = apart_good(r, f, sess, 0, false);

	if (n != f->n)
		n = apart_good_any(r, f, sess, n);
	return xk_batch_finish_many(f, sess, n, UDP_HDR_LEN, f->net);
}

/* Runs of several connections, each for a session of its own. */
static unsigned batch_mixed(const struct xk_rep *r, const struct xk_batch *f)
{
	struct xk_sess *sess[XK_BATCH_MAX], **at = sess;
	const struct xk_run *run = f->run;
	unsigned n = 0;

	for (;;) {
		struct xk_sess *s = *at++ = xk_batch_hint(f, run);
		unsigned left = xk_run_left(run++, f->n - n), good = 0;

		if (is_between(r, s, f, f->m[n]))
			good = frames_good(s, f->m + n, left, f->off);
		__builtin_prefetch(s->up);
		n += good;
		if (good < left || n == f->n)
			break;
	}
	return xk_batch_finish_many(f, sess, n, UDP_HDR_LEN, f->net);
}

/* How many of f, all of one connection, are datagrams of s without a checksum, from the first one on. */
static inline unsigned frames_plain(const struct xk_sess *s, const struct xk_batch *f)
{
	const uint32_t ports = (uint32_t)s->map.key.w[1];
	const size_t off = f->off;
	uint32_t len = 0;                /* of the frame before */
	uint64_t word = 0;               /* what is the header of one as long */
	unsigned i;

	for (i = 0; i < f->n; i++) {
		struct xk_msg *x = f->m[i];
		const uint8_t flags = x->flags;

		if (x->len != len) {
			len = x->len;
			word = udp_hdr_word_plain(ports, htobe32((len - (uint32_t)off) << 16));
		}
		if (XK_UNLIKELY(len < off + UDP_HDR_LEN) || XK_UNLIKELY(udp_hdr_word(x->data + off) != word) ||
		    XK_UNLIKELY(flags & (XK_MSG_CSUM_OK | XK_MSG_CHAIN)))
			break;
		x->flags = flags & (uint8_t)~XK_MSG_CSUM;
	}
	return i;
}

/* Without a checksum there is nothing to judge, but those that went are counted. */
static XK_APART unsigned batch_plain(struct xk_rep *r, struct xk_sess *s, const struct xk_batch *f)
{
	const struct udp_conf *c = r->conf;
	unsigned done = xk_batch_finish(f, s, c->require_checksum ? 0 : frames_plain(s, f), UDP_HDR_LEN, f->net);

	xk_count_add(r->count[UDP_COUNT_UNCHECKED], done);
	return done;
}

unsigned udp_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_sess *s;
	unsigned good;

	(void)lls;
	if (!xk_batch_is_run(f))
		return f->net < 0 ? 0 : f->apart ? batch_apart(up->rep, f) : batch_mixed(up->rep, f);
	s = xk_batch_hint(f, f->run);
	if (XK_UNLIKELY(!is_between(up->rep, s, f, f->m[0])))
		return 0;
	good = frames_good(s, f->m, f->n, f->off);
	return XK_LIKELY(good != 0) ? xk_batch_finish(f, s, good, UDP_HDR_LEN, f->net) : batch_plain(up->rep, s, f);
}

/* ---- placement ------------------------------------------------------------------------- */

/* Headers of a datagram whose IP has no options. */
#define UDP_IP_LEN (20u + UDP_HDR_LEN)

/* What a driver may place: a whole datagram, as udp_demux would take it, without options
 * or padding. */
bool udp_fast_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len,
		      struct xk_payload *p)
{
	const uint8_t *u = frame + UDP_IP_LEN - UDP_HDR_LEN;
	const uint32_t have = len - (UDP_IP_LEN - UDP_HDR_LEN);

	if (len < UDP_IP_LEN || !ip_net_plain(frame, len, s->map.key.w[0], UDP_PROTO) ||
	    udp_hdr_ports(u) != s->map.key.w[1] || !udp_hdr_whole(u, have))
		return false;
	p->header = UDP_IP_LEN;
	p->n = len - UDP_IP_LEN;
	p->summed = udp_hdr_has_checksum(u);
	p->sum = xk_csum_quick(u, UDP_HDR_LEN, (uint32_t)sum_start(s, have));
	return true;
}
