/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_rx.c - frames in: from a VP's socket up into the graph.
 *
 * A long frame is lent: the message looks at the UMEM itself and the frame goes
 * back when the message is freed, on whatever VP.  A short one is copied, which
 * costs less than a message without room of its own; and so is every frame while
 * the kernel has less than a quarter of them, so that messages which are kept
 * (until a gap is filled, say) never stop the device.
 *
 * A veth's peer is the kernel itself, which leaves checksums to its device: what
 * arrives carries the sum of the pseudo-header only.  Such frames were on no
 * wire; the edge vouches for them, or drops them, as told.
 * Invariant: a frame is given back once: here, or by the message that has it.
 */
#include "drivers/xdp/xdp_priv.h"

#include <string.h>
#include <sys/socket.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_arrivals.h"
#include "runtime/upi/xk_node.h"

#define LOOK_EVERY (100 * XK_MS)
#define PACE_EVERY (XK_MS / 4)   /* how long frames are counted */
#define AHEAD      4u            /* frames fetched before their turn */
#define FAST       10u           /* so many in that time are many */
#define ALONE      3u            /* fewer at once come from who waits */
#define HOLD       4u            /* such times without naps, at first and at most */
#define HOLD_MOST  256u

/* ---- checksums left to the device -------------------------------------------------------- */

bool xdp_sum_is_partial(const uint8_t *b, uint32_t len, uint32_t all)
{
	const uint8_t *ip = b + 14;
	uint32_t hl, tot, field, sum;

	if (len < 14 + 20 + 8 || xk_be16(b + 12) != 0x0800 || ip[0] >> 4 != 4 || (xk_be16(ip + 6) & 0x3fff) != 0)
		return false;
	hl = (ip[0] & 15u) * 4;
	tot = xk_be16(ip + 2);
	field = hl + (ip[9] == 17 ? 6 : 16);
	if ((ip[9] != 17 && ip[9] != 6) || hl < 20 || tot < field + 2 || tot > all - 14 || field + 2 > len - 14)
		return false;
	sum = xk_be16(ip + 12) + xk_be16(ip + 14) + xk_be16(ip + 16) + xk_be16(ip + 18) + ip[9] + tot - hl;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == xk_be16(ip + field);
}

/* ---- one frame ------------------------------------------------------------------------------ */

void xdp_rx_release(void *arg)
{
	struct xdp_frame *f = arg;
	struct xdp_queue *q = f->q;
	struct xdp_port *p;

	if (XK_UNLIKELY(q->dev->closed)) {
		xdp_dev_late(q->dev);
		return;
	}
	p = xdp_port(q->dev, q->no, xk_vp_self->no);
	p->freed++;
	if (XK_UNLIKELY(p->away)) {
		(void)xk_mpsc_push(&q->back, &f->link, &f->link);
		return;
	}
	xdp_frame_free(p, f);
	if (p->nback != 0 && !p->over)
		xk_task_ready(&p->tail);
}

static struct xk_msg *rx_lend(struct xdp_port *p, struct xdp_frame *f, void *bytes, uint32_t len)
{
	struct xk_msg *m = xk_msg_new_extern(bytes, len, xdp_rx_release, f);

	if (m != NULL) {
		f->lent = true;
		p->lent++;
		xk_count(p->rep->count[N_LENT]);
	}
	return m;
}

static struct xk_msg *rx_copy(struct xdp_port *p, struct xdp_frame *f, const void *bytes, uint32_t len)
{
	struct xk_msg *m = xk_msg_new(len);

	if (m != NULL)
		memcpy(m->data, bytes, len);
	xdp_frame_free(p, f);
	return m;
}

static inline bool rx_good(struct xdp_port *p, const struct xdp_desc *desc)
{
	if (XK_LIKELY(xdp_received(p->q, desc->addr, desc->len)))
		return true;
	xk_dropped(p->rep, XDP_DROP_BAD, 1);
	return false;
}

/* Of a descriptor that names a frame; NULL: no memory, counted. */
static inline struct xk_msg *rx_msg(struct xdp_port *p, const struct xdp_desc *desc, bool lend)
{
	struct xdp_dev *d = p->q->dev;
	struct xdp_frame *f = xdp_frame_at(d, desc->addr);
	uint8_t *bytes = (uint8_t *)d->area + desc->addr;
	struct xk_msg *m;

	if (lend && desc->len >= d->lend) {
		m = rx_lend(p, f, bytes, desc->len);
		if (m == NULL)
			xdp_frame_free(p, f);
	} else {
		m = rx_copy(p, f, bytes, desc->len);
	}
	if (m == NULL)
		xk_dropped(p->rep, XK_DROP_NOMEM, 1);
	return m;
}

struct xk_msg *xdp_rx_bytes(struct xdp_port *p, const struct xdp_desc *desc, bool lend)
{
	return rx_good(p, desc) ? rx_msg(p, desc, lend) : NULL;
}

/* NULL: dropped, counted. */
static struct xk_msg *rx_take(struct xdp_port *p, const struct xdp_desc *desc, bool lend)
{
	struct xdp_dev *d = p->q->dev;
	struct xk_rep *r = p->rep;
	uint8_t *bytes, flags = 0;
	struct xk_msg *m;

	if (XK_UNLIKELY(!rx_good(p, desc)))
		return NULL;
	bytes = (uint8_t *)d->area + desc->addr;
	if (d->partial != XDP_SUMS_OFF && xdp_sum_is_partial(bytes, desc->len, desc->len)) {
		if (d->partial == XDP_SUMS_DROP) {
			xdp_frame_free(p, xdp_frame_at(d, desc->addr));
			xk_dropped(r, XDP_DROP_PARTIAL, 1);
			return NULL;
		}
		xk_count(r->count[N_PARTIAL]);
		flags = XK_MSG_CSUM_OK;
	}
	m = rx_msg(p, desc, lend);
	if (XK_LIKELY(m != NULL))
		m->flags |= flags;
	return m;
}

/* ---- a turn ------------------------------------------------------------------------------------ */

/* What the kernel has counted at this socket; the fill ring is the queue's, so one VP
 * counts that. */
void xdp_rx_stats(struct xdp_port *p)
{
	struct xdp_statistics s = { .rx_dropped = 0 };
	struct xk_rep *r = p->rep;
	socklen_t len = sizeof s;

	if (p->away || getsockopt(xsk_socket__fd(p->xsk), SOL_XDP, XDP_STATISTICS, &s, &len) != 0)
		return;
	if (s.rx_dropped != p->seen.rx_dropped && s.rx_fill_ring_empty_descs == p->seen.rx_fill_ring_empty_descs)
		XK_TRACE(&r->node->log, p->seen.rx_dropped ? 4 : 2, "%llu frames were longer than %u bytes and dropped: turn off what joins segments at "
			 "the sender, for example: ethtool -K PEER tx off tso off gso off",
			 (unsigned long long)(s.rx_dropped - p->seen.rx_dropped), p->q->dev->frame_size - 256);
	xk_count_add(r->count[N_K_DROPPED], s.rx_dropped - p->seen.rx_dropped);
	xk_count_add(r->count[N_K_RING], s.rx_ring_full - p->seen.rx_ring_full);
	if (p->q->no % p->q->dev->nvps == r->vp->no)
		xk_count_add(r->count[N_K_FILL], s.rx_fill_ring_empty_descs - p->seen.rx_fill_ring_empty_descs);
	p->seen = s;
}

/* Also once after the last frame: a VP that sleeps then has told of all that was lost before. */
void xdp_rx_look(struct xk_timer *t)
{
	struct xdp_port *p = xk_container_of(t, struct xdp_port, look);

	p->looking = false;
	if (xk_load_relaxed(&p->q->dev->link) == XDP_GONE)
		xk_task_park(&p->task);
	else
		xdp_rx_stats(p);
}

/* ---- straight into what a receiver has posted (xk_ddp.h) ----------------------------------- */

struct rx_placing { struct xdp_port *p; bool lend; struct xdp_desc desc[XDP_BURST]; };

static struct xk_msg *placing_take(void *arg, unsigned i)
{
	struct rx_placing *a = arg;

	return rx_take(a->p, &a->desc[i], a->lend);
}

/* The frame is free at once, where it would have been lent. */
static void placing_placed(void *arg, unsigned i)
{
	struct rx_placing *a = arg;
	struct xdp_dev *d = a->p->q->dev;

	if (d->partial == XDP_SUMS_ACCEPT &&
	    xdp_sum_is_partial((uint8_t *)d->area + a->desc[i].addr, a->desc[i].len, a->desc[i].len))
		xk_count(a->p->rep->count[N_PARTIAL]);
	xdp_frame_free(a->p, xdp_frame_at(d, a->desc[i].addr));
}

/* n descriptors from number `at` on; those that name no frame are left out. */
static XK_APART void rx_place(struct xdp_port *p, uint32_t at, uint32_t n, bool lend)
{
	struct rx_placing pl = { .p = p, .lend = lend };
	const struct xk_arrivals a = { placing_take, placing_placed, &pl };
	const struct xdp_dev *d = p->q->dev;
	struct xk_msg frame[XDP_BURST];
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct xdp_desc *desc = &pl.desc[k];
		uint8_t *b;

		pl.desc[k] = xdp_rx_desc(&p->rx, at + i);
		if (XK_UNLIKELY(!xdp_received(p->q, desc->addr, desc->len))) {
			xk_dropped(p->rep, XDP_DROP_BAD, 1);
			continue;
		}
		b = (uint8_t *)d->area + desc->addr;
		frame[k] = (struct xk_msg){ .data = b, .len = desc->len, .tot = desc->len };
		if (d->partial == XDP_SUMS_ACCEPT && xdp_sum_is_partial(b, desc->len, desc->len))
			frame[k].flags = XK_MSG_CSUM_OK;
		k++;
	}
	xsk_ring_cons__release(&p->rx, n);
	if (k != 0)
		xk_input_arrivals(p->rep, frame, k, 14, &a);
	xdp_give_back(p);
}

static void rx_pass(struct xdp_port *p, uint32_t at, uint32_t n, bool lend)
{
	uintptr_t area = (uintptr_t)p->q->dev->area;
	struct xk_burst b;
	struct xk_msg *m;
	uint32_t pieces = 0;

	xk_burst_begin(&b, p->rep);
	for (uint32_t i = 0; i < n; i++) {
		const struct xdp_desc desc = xdp_rx_desc(&p->rx, at + i);

		/* Another processor has written them: a few ahead, whatever they name. */
		__builtin_prefetch((void *)(area + xdp_rx_desc(&p->rx, at + i + AHEAD).addr));
		if (XK_UNLIKELY(p->in_train || (desc.options & XDP_CONTINUED)))
			pieces += !xdp_train_piece(p, &b, &desc, lend);
		else if ((m = rx_take(p, &desc, lend)) != NULL)
			xk_burst_add(&b, m);
	}
	xk_count_add(p->rep->count[N_READ], n - pieces);
	xsk_ring_cons__release(&p->rx, n);
	xdp_give_back(p);
	xk_burst_up(&b);
}

/* Is any of them a piece of a frame? */
static bool rx_pieces(const struct xdp_port *p, uint32_t at, uint32_t n)
{
	bool some = p->in_train;

	for (uint32_t i = 0; i < n; i++)
		some |= (xsk_ring_cons__rx_desc((struct xsk_ring_cons *)(uintptr_t)&p->rx, at + i)->options & XDP_CONTINUED) != 0;
	return some;
}

static unsigned rx_burst(struct xdp_port *p, unsigned most)
{
	bool lend = !xdp_scarce(p, p->q->dev->frames / 4);
	uint32_t at, n = xsk_ring_cons__peek(&p->rx, most, &at);

	if (n == 0)
		return 0;
	xdp_from_kernel(p->q);
	if (xk_posted(p->rep) && !rx_pieces(p, at, n)) {
		xk_count_add(p->rep->count[N_READ], n);
		rx_place(p, at, n, lend);
	} else {
		rx_pass(p, at, n, lend);
	}
	return n;
}

/*
 * A receiver is through with a frame long before the next one comes, and to be woken for it, or to wait for
 * it, costs ten times as much as the frame.  While many come they are therefore collected, as an adapter
 * does that moderates its interrupts.  Where hardly more than one comes in a nap, the sender is one that
 * waits for our answers, and it is left alone for a while: twice as long each time, and half as long after
 * each time that many came, for a sender may also have been without a processor for a moment.
 */
static XK_APART void rx_pace(struct xdp_port *p, xk_ns now)
{
	uint64_t rate = p->came / ((now - p->since) / PACE_EVERY);
	bool naps = p->task.nap != 0;

	if (naps && p->came != 0 && p->came < ALONE * p->found) {
		p->holds = p->holds == 0 ? HOLD : p->holds < HOLD_MOST ? 2 * p->holds : HOLD_MOST;
		p->hold = p->holds;
	} else if (naps && p->came != 0) {
		p->holds = p->holds > HOLD ? p->holds / 2 : 0;
	}
	p->hold -= p->hold != 0;
	xk_task_nap(&p->task, p->hold == 0 && rate >= (naps ? FAST / 2 : FAST) ? p->q->dev->coalesce : 0);
	p->since = now;
	p->came = p->found = 0;
}

unsigned xdp_rx_run(struct xk_task *t, unsigned budget)
{
	struct xdp_port *p = xk_container_of(t, struct xdp_port, task);
	unsigned n;

	if (XK_UNLIKELY(!p->asked && p->rep->drv_sess != NULL)) {
		p->asked = true;
		p->takes_long = xk_burst_takes_long(p->rep);
	}
	if (XK_UNLIKELY(!p->looking)) {
		p->looking = true;
		xk_timer_set(&t->vp->wheel, &p->look, t->vp->now + LOOK_EVERY);
	}
	n = rx_burst(p, budget < XDP_BURST ? budget : XDP_BURST);
	p->came += n;
	p->found += n != 0 && p->none;
	p->none = n == 0;
	/* Not while some are left: who was not run for long has them all to count. */
	if (XK_UNLIKELY(n == 0 && t->vp->now - p->since >= PACE_EVERY))
		rx_pace(p, t->vp->now);
	/* Answers, and what the unit had to send before. */
	xdp_tx_flush(p);
	return n;
}
