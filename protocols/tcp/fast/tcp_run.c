/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_run.c - runs of segments up: a burst of one connection's next data,
 * predicted once, acknowledged once, passed up as it is.
 *
 * What the next segment must look like is known but for its number, checksum and
 * PSH: after the first one, which is examined field by field, each is compared
 * with the one before in 32 bytes at once, its number with where that one ended,
 * and its checksum is judged.  No descriptor is written, no header taken off: that
 * is one addition for the run (struct xk_batch).  The first segment that is
 * anything else ends the run; it and all behind it go one by one.
 *
 * rcv_nxt moves before bytes go up.  A run is one event for acknowledgement: as many
 * segments are owed for as came, one acknowledgement pays for them.
 * Invariant: a segment counts as received only when every check that it would have
 * passed alone has been made of it.
 */
#include "protocols/tcp/fast/tcp_fast.h"
#include "protocols/tcp/sess/tcp_act.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

/* What a header has in common with the one before: not number, PSH, checksum and
 * urgent pointer; with timestamps their option, too. */
#define SAME 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf7, 0xff, 0xff, 0, 0, 0, 0
static const uint8_t same_plain[XK_WIDE] = { SAME };
static const uint8_t same_stamps[XK_WIDE] = {
	SAME, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

struct run {
	xk_wide  like, mask;             /* the header before, what of it must be again */
	uint64_t start;                  /* sum of the pseudo-header */
	uint32_t len;                    /* of a frame like the one before; 0: none is */
	uint32_t n, take;                /* of its segment, of its payload */
	uint32_t nxt, room;              /* number that comes next, bytes from there to the edge */
	uint32_t hlen, ports, ack, word; /* as they lie in the header */
	uint32_t recent;                 /* the timestamp that none may be before */
	uint32_t full;                   /* full segments, as acknowledgements are counted */
	uint8_t  bits;                   /* flags of all */
	bool     stamps, ecn;
};

/* False: such a connection has no runs now. */
static inline bool run_begin(const struct tcp_sess *ts, struct run *r)
{
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t wnd = cb->snd_wnd >> cb->snd_wscale;

	if (!tcp_takes_data(cb) || cb->reass != NULL || (cb->flags & (TCP_F_ORPHAN | TCP_F_URG_IN)) ||
	    wnd > 0xffff || wnd << cb->snd_wscale != cb->snd_wnd)
		return false;
	r->stamps = (cb->flags & TCP_F_TS) != 0;
	r->ecn = (cb->flags & TCP_F_ECN) != 0;
	r->mask = xk_wide_load(r->stamps ? same_stamps : same_plain);
	r->len = 0;
	r->recent = cb->ts_recent;
	r->nxt = cb->rcv_nxt;
	r->room = cb->rcv_adv - cb->rcv_nxt;
	r->hlen = r->stamps ? 32 : 20;
	r->ports = (uint32_t)ts->s.map.key.w[1];
	r->ack = htobe32(cb->snd_una);
	r->word = htobe32((r->stamps ? HDR_WORD_TS : HDR_WORD) << 16 | wnd);
	r->full = 0;
	r->bits = 0;
	return true;
}

/* The sum of x's segment of n bytes at p; no flag says that it was made once it was judged. */
static inline bool run_sum(struct xk_msg *x, const uint8_t *p, uint32_t n, uint64_t start)
{
	uint8_t flags = x->flags;

	if (flags & XK_MSG_CSUM) {
		if (XK_UNLIKELY(!xk_csum_valid64(start + x->csum)) && !(flags & (XK_MSG_CSUM_OK | XK_MSG_CSUM_IGNORE)))
			return false;
		x->flags = flags & (uint8_t)~XK_MSG_CSUM;
		return true;
	}
	return (flags & XK_MSG_CSUM_OK) || xk_csum_valid(xk_csum_quick(p, n, (uint32_t)start)) ||
	       (flags & XK_MSG_CSUM_IGNORE);
}

static inline bool run_marked(const struct run *r, const struct xk_batch *f, const struct xk_msg *x)
{
	return XK_UNLIKELY(r->ecn) && (x->data[f->net + 1] & 3) == 3;
}

/* RFC 7323 5.  The first segment behind what is acknowledged sets the mark for the others. */
static inline bool run_stamp(const struct tcp_cb *cb, struct run *r, const uint8_t *p)
{
	uint32_t tsval = xk_be32(p + 24);

	if (xk_be32(p + 20) != NOP_NOP_TS || tcp_lt(tsval, r->recent))
		return false;
	if (r->nxt == cb->rcv_nxt && r->nxt == cb->rcv_acked)
		r->recent = tsval;
	return true;
}

/* Is x the next data, whatever came before?  Field by field; then so is what is like it. */
static XK_APART bool run_other(const struct tcp_sess *ts, struct run *r, const struct xk_batch *f, struct xk_msg *x)
{
	const uint8_t *p = x->data + f->off;

	if (x->len <= f->off + r->hlen || r->ports != tcp_hdr_ports(p) || r->ack != xk_raw32(p + 8) ||
	    ((r->word ^ xk_raw32(p + 12)) & ~htobe32(TCP_PSH << 16)) != 0 || tcp_hdr_seq(p) != r->nxt)
		return false;
	if (r->stamps && !run_stamp(tcp_cb(ts), r, p))
		return false;
	r->n = x->len - f->off;
	r->take = r->n - r->hlen;
	r->start = tcp_live(ts)->psum + htobe16((uint16_t)r->n);
	if (r->take > r->room || run_marked(r, f, x) || !run_sum(x, p, r->n, r->start))
		return false;
	r->bits |= p[13];
	r->nxt += r->take;
	r->room -= r->take;
	r->full += 1 + (r->take > tcp_cb(ts)->mss);
	/* What follows a short header is compared without being looked at, but must be there. */
	r->len = r->n >= XK_WIDE ? x->len : 0;
	if (r->len != 0)
		r->like = xk_wide_load(p);
	return true;
}

/* Those of f from number i on that are like the one before, each behind it; the number
 * of the first that is not. */
static inline unsigned run_same(const struct tcp_sess *ts, struct run *r, const struct xk_batch *f, unsigned i)
{
	const uint32_t len = r->len, take = r->take, first = i;
	const xk_wide like = r->like, mask = r->mask;
	const uint64_t start = r->start;
	const size_t off = f->off;
	uint32_t nxt = r->nxt;
	uint8_t bits = r->bits;

	for (; i < f->n; i++) {
		struct xk_msg *x = f->m[i];
		const uint8_t *p = x->data + off;

		if (x->len != len || !xk_wide_same(xk_wide_load(p), like, mask) || tcp_hdr_seq(p) != nxt ||
		    nxt + take - r->nxt > r->room || run_marked(r, f, x) || !run_sum(x, p, len - (uint32_t)off, start))
			break;
		bits |= p[13];
		nxt += take;
	}
	r->room -= nxt - r->nxt;
	r->nxt = nxt;
	r->bits = bits;
	r->full += (i - first) * (1 + (take > tcp_cb(ts)->mss));
	return i;
}

/* How many of f, from the first on, are the next data of ts, each behind the one before. */
static inline unsigned run_open(const struct tcp_sess *ts, struct run *r, const struct xk_batch *f)
{
	unsigned i = 0;

	while (i < f->n && run_other(ts, r, f, f->m[i]))
		i = run_same(ts, r, f, i + 1);
	return i;
}

/* n segments have come. */
static inline void run_note(struct tcp_sess *ts, const struct run *r, unsigned n)
{
	struct tcp_cb *cb = tcp_cb(ts);
	uint32_t total = r->nxt - cb->rcv_nxt;

	tcp_note_time(cb, r->recent, tcp_ms(xk_vp_time(ts->s.rep->vp)));
	cb->segs_in += n - 1;
	cb->rcv_nxt = r->nxt;
	cb->bytes_received += total;
	if (cb->flags & TCP_F_MANUAL)
		cb->rcv_held += total;
	xk_count_add(ts->s.rep->count[TCP_COUNT_PREDICTED], n);
	xk_count_add(ts->s.rep->npop, n - 1);
}

/* Those of f from number i on, one by one; what the holder closes in the middle of
 * comes after the close. */
static XK_NOINLINE void run_up_singly(struct tcp_sess *ts, const struct xk_batch *f, unsigned i)
{
	for (; i < f->n && tcp_held(ts) && tcp_cb(ts)->state != TCP_S_CLOSED; i++) {
		xk_batch_materialise(f, f->run, f->m[i]);
		xk_demux(&ts->s, f->m[i]);
	}
	if (i < f->n && tcp_cb(ts)->state != TCP_S_CLOSED)
		tcp_nobody_reads(ts, f->m[i++]);
	for (; i < f->n; i++)
		xk_drop(ts->s.rep, TCP_DROP_AFTER_CLOSE, f->m[i]);
}

/* The payload of the first n of f goes up. */
static inline void run_up(struct tcp_sess *ts, const struct xk_batch *f, unsigned n, uint32_t hlen)
{
	const struct xk_batch on = { f->m, f->run, NULL, n, f->off + hlen, f->net, f->depth + 1, f->apart };
	struct xk_up *up = ts->s.up;
	unsigned done = 0;

	if (XK_LIKELY(xk_takes_batches(up)))
		done = up->rep->node->proto->ops->demux_batch(up, &ts->s, &on);
	if (XK_UNLIKELY(done < n))
		run_up_singly(ts, &on, done);
}

/* n segments in order: acknowledged once, when there were enough. */
static inline void run_done(struct tcp_sess *ts, const struct run *r, const struct xk_batch *f, unsigned n)
{
	struct tcp_cb *cb = tcp_cb(ts);
	struct tcp_env e = tcp_env(ts->s.rep);

	run_note(ts, r, n);
	cb->unacked_full = (uint8_t)(cb->unacked_full + r->full < 255 ? cb->unacked_full + r->full - 1 : 254);
	tcp_owe_ack(cb, &e, 0, (r->bits & TCP_PSH) != 0);
	run_up(ts, f, n, r->hlen);
	if (cb->state == TCP_S_CLOSED)
		return;
	if (XK_LIKELY(cb->flags & TCP_F_ACK_NOW))
		tcp_pay_ack(ts);
	else
		tcp_timer_sync(ts);
}

static inline void run_pass(struct tcp_sess *ts, const struct run *r, const struct xk_batch *f, unsigned n)
{
	tcp_pop_begin(ts);
	run_done(ts, r, f, n);
	tcp_pop_end(ts);
}

/*
 * Addresses: every segment came through lls, whose key they are part of; it is
 * enough to see that the session over lls has those of the first.
 */
static inline bool run_is_of(const struct xk_sess *s, const struct xk_up *up, const struct xk_sess *lls,
			     const struct xk_batch *f)
{
	return s->rep == up->rep && s->down == lls && f->net >= 0 && !tcp_is_compressed((const struct tcp_sess *)(const void *)s) &&
	       s->map.key.w[0] == ip_net_pair(f->m[0]->data + f->net) && tcp_held((const struct tcp_sess *)(const void *)s);
}

/* Those of f from number i on, one by one, for as long as lls, a session of r, is held: the one
 * before may have ended the connection, and so lls.  How many have gone then? */
static XK_NOINLINE unsigned batch_each(struct xk_up *up, struct xk_sess *lls, const struct xk_rep *r,
				       const struct xk_batch *f, unsigned i)
{
	for (; i < f->n && lls->rep == r && lls->rcnt > 0; i++) {
		xk_batch_materialise(f, f->run, f->m[i]);
		up->demux(up, lls, f->m[i]);
	}
	return i;
}

/* f is of one connection. */
static inline unsigned batch_run(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_sess *s = xk_batch_hint(f, f->run);
	const struct xk_rep *below = lls->rep;
	unsigned good = 0;
	struct run r;

	if (XK_LIKELY(run_is_of(s, up, lls, f)) && XK_LIKELY(run_begin(tcp_sess(s), &r)))
		good = run_open(tcp_sess(s), &r, f);
	if (XK_LIKELY(good != 0))
		run_pass(tcp_sess(s), &r, f, good);
	return XK_LIKELY(good == f->n) ? good : batch_each(up, lls, below, f, good);
}

/* Of several connections: one after the other, in the order in which they came.  A segment that
 * is alone is an acknowledgement as often as not. */
static XK_NOINLINE unsigned batch_mixed(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	const struct xk_rep *below = lls->rep;
	struct xk_batch one = *f;
	unsigned done = 0;

	one.sess = NULL;
	for (unsigned i = 0; done < f->n; one.m += one.n, one.run++, i++) {
		unsigned went;

		lls = xk_batch_below(f, lls, i);
		one.n = xk_run_left(one.run, f->n - done);
		went = lls->rep != below || lls->rcnt <= 0 ? 0 :
		       one.n == 1 ? batch_each(up, lls, below, &one, 0) : batch_run(up, lls, &one);
		done += went;
		if (went < one.n)
			break;
	}
	return done;
}

unsigned tcp_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	return XK_LIKELY(xk_batch_is_run(f)) ? batch_run(up, lls, f) : batch_mixed(up, lls, f);
}

/*
 * What a driver may place: the data of a segment, if any, anywhere in the stream; whether it is
 * the next is for who asks to see.  All that is passed up was passed up when rcv_nxt
 * moved.  A connection compressed is woken by its segment, the usual way.
 */
bool tcp_fast_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len, struct xk_payload *p)
{
	const struct tcp_sess *ts = (const struct tcp_sess *)(const void *)s;
	const uint8_t *t = frame + 20;
	const uint32_t have = len - 20;
	uint32_t hlen;

	if (len < 20 + TCP_HDR_LEN || tcp_is_compressed(ts) || !ip_net_plain(frame, len, s->map.key.w[0], TCP_PROTO) ||
	    tcp_hdr_ports(t) != s->map.key.w[1] || (tcp_hdr_flags(t) & (TCP_SYN | TCP_RST | TCP_URG | TCP_ACK)) != TCP_ACK)
		return false;
	hlen = tcp_hdr_len(t);
	if (hlen < TCP_HDR_LEN || hlen > have)
		return false;
	p->header = 20 + hlen;
	p->n = have - hlen;
	p->summed = true;
	p->sum = xk_csum_quick(t, hlen, tcp_live(ts)->psum + htobe16((uint16_t)have));
	p->skip = tcp_hdr_seq(t) - tcp_cb(ts)->rcv_nxt;
	return true;
}
