/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_wire.c - the loop-back pseudo device: two drivers of one graph as the
 * two ends of a wire.
 *
 * A transmitted frame is copied once into a buffer of the other end's, as a device
 * would, waits in its receive queue on the same VP, and is passed up in a later unit
 * of work, through the classifier, which decides the VP that runs it.  A long frame is
 * copied by push, while the sender's bytes are in the first-level cache: a burst of
 * them is more than it holds.  A short one is copied by the task that takes it off the
 * wire, because a wide load of header bytes just stored in small pieces would have to
 * wait for them.  A segment that is not short is summed by the very loads that copy
 * it, and the sum goes with it: the transport adds its pseudo-header and judges, as
 * it does behind devices that sum what they receive, and no byte is read twice.
 * A super-segment is cut by the push, each frame copied and summed so; what arrives are frames.
 * A push never becomes a demux on the same stack.
 * Invariant: the task is ready exactly while the queue holds a frame.
 */
#include "drivers/mem/mem_priv.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/common/cut.h"

#include "runtime/base/xk_csum_inline.h"
#include "runtime/upi/xk_arrivals.h"
#include "runtime/upi/xk_graph.h"

void mem_rx_put(struct mem_rep *to, struct xk_msg *m)
{
	if (to->q.n == 0)
		xk_task_ready(&to->task);
	xk_msgq_put(&to->q, m);
}

#define LONG_MIN 512u            /* copied by push, from so many bytes on */
#define SUM_MIN  256u            /* a shorter segment is summed in no time */
#define IP_LEN   20u
#define LINE     (XK_CACHELINE - 1)

/* A whole datagram of TCP or UDP, without options, that fills the frame behind h
 * bytes?  Its network header is all that must not be summed. */
static inline bool wire_plain(const uint8_t *p, uint32_t len, uint32_t h)
{
	const uint8_t *ip = p + h;

	return xk_be16(ip - 2) == 0x0800 && ip[0] == 0x45 && xk_be16(ip + 2) == len - h &&
	       (xk_be16(ip + 6) & 0x3fff) == 0 && (ip[9] == 6 || ip[9] == 17);
}

/* The sum of n bytes, copied: first what lies before a line of the destination. */
static inline uint32_t copy_sum(uint8_t *t, const uint8_t *s, uint32_t n)
{
	uint32_t head = (uint32_t)(-(uintptr_t)t & LINE), sum;

	if ((head & 1) != 0 || head < 8)
		return xk_csum_copy_long(t, s, n, 0);
	sum = xk_csum_copy_short(t, s, head, 0);
	return xk_csum_copy_long(t + head, s + head, n - head, sum);
}

/* A frame that is summed: the copy lies in its lines as the original does in its own, so
 * that neither side's vectors cross from one to the next. */
static XK_APART struct xk_msg *wire_copy_sum(struct xk_msg *m, uint32_t h)
{
	struct xk_msg *c = xk_msg_new_cls(xk_msg_class(m->len), m->len);

	if (XK_UNLIKELY(c == NULL))
		return NULL;
	c->data -= XK_CACHELINE - ((uintptr_t)m->data & LINE);
	if (XK_LIKELY(wire_plain(m->data, m->len, h))) {
		h += IP_LEN;
		xk_copy_quick(c->data, m->data, h);
		c->csum = copy_sum(c->data + h, m->data + h, m->len - h);
		c->flags = XK_MSG_CSUM;
	} else {
		memcpy(c->data, m->data, m->len);
	}
	return c;
}

/* In one buffer, like its copy, and worth a sum. */
static inline bool is_summed(const struct xk_msg *m)
{
	return m->len >= SUM_MIN && !(m->flags & XK_MSG_CHAIN) && m->len <= XK_MSG_MAX_SEG;
}

/* Copied, or handed over, when it is pushed. */
static inline bool is_long(const struct xk_msg *m)
{
	return m->len >= LONG_MIN && is_summed(m);
}

/* Shared bytes are copied in any case: the receiver may write. */
static inline bool is_copied(const struct mem_rep *from, const struct xk_msg *m)
{
	return XK_LIKELY(mem_conf(from->rep)->copy || (m->flags & XK_MSG_SLOW));
}

/* A frame as the receiver gets it that is not copied. */
static inline struct xk_msg *hand_over(struct xk_msg *m)
{
	m->flags = 0;
	m->net = 0;
	return m;
}

/* A wire that hands buffers over has nothing to copy. */
static inline bool wire_places(const struct mem_rep *mr)
{
	return xk_posted(mr->rep) && mr->other != NULL && mem_conf(mr->other->rep)->copy;
}

/* In xk_msg.vp of a long frame on the wire: it is as its receiver will see it, or it is
 * still to be copied. */
enum { WIRE_RAW, WIRE_READY };

static inline bool is_ready(const struct xk_msg *m)
{
	return is_long(m) && m->vp == WIRE_READY;
}

/* A long frame goes onto the wire; NULL, counted, when memory is out.  Where the receiver
 * has posted memory it is copied straight to there, later. */
static inline struct xk_msg *wire_put_long(struct mem_rep *from, struct xk_msg *m)
{
	struct xk_msg *c = m;

	m->vp = WIRE_RAW;
	if (XK_UNLIKELY(wire_places(from->other)))
		return m;
	if (!is_copied(from, m)) {
		hand_over(m);
	} else {
		c = wire_copy_sum(m, mem_state(from->rep)->link->header);
		xk_msg_free(m);
		if (XK_UNLIKELY(c == NULL)) {
			xk_dropped(from->rep, XK_DROP_NOMEM, 1);
			return NULL;
		}
		xk_count(from->rep->count[MEM_N_COPIES]);
	}
	c->vp = WIRE_READY;
	return c;
}

/* Any other, when it is taken off; h: bytes before the network header. */
static inline struct xk_msg *wire_copy(struct xk_msg *m, uint32_t h)
{
	struct xk_msg *c;

	if (is_summed(m)) {
		c = wire_copy_sum(m, h);
	} else if (XK_UNLIKELY(m->len >= SUM_MIN || (m->flags & XK_MSG_CHAIN))) {
		c = xk_msg_clone(m);
	} else {
		c = xk_msg_new_cls(xk_msg_class(m->len), m->len);
		if (XK_LIKELY(c != NULL))
			xk_copy_quick(c->data, m->data, m->len);
	}
	xk_msg_free(m);
	return c;
}

struct xk_msg *mem_wire_cross(struct mem_rep *from, struct xk_msg *m)
{
	if (!is_copied(from, m))
		return hand_over(m);
	m = wire_copy(m, mem_state(from->rep)->link->header);
	if (XK_UNLIKELY(m == NULL))
		xk_dropped(from->rep, XK_DROP_NOMEM, 1);
	else
		xk_count(from->rep->count[MEM_N_COPIES]);
	return m;
}

/* Takes n frames off the wire. */
static unsigned wire_take(struct mem_rep *mr, struct xk_msg **burst, unsigned n)
{
	struct mem_rep *from = mr->other;
	unsigned k = 0, copies = 0;

	for (unsigned i = 0; i < n; i++) {
		struct xk_msg *m = xk_msgq_get(&mr->q);

		if (is_ready(m)) {
			burst[k++] = m;
		} else if (!is_copied(from, m)) {
			burst[k++] = hand_over(m);
		} else {
			burst[k] = wire_copy(m, mem_state(from->rep)->link->header);
			copies += burst[k] != NULL;
			k += burst[k] != NULL;
		}
	}
	xk_count_add(from->rep->count[MEM_N_COPIES], copies);
	if (XK_UNLIKELY(k != n))
		xk_dropped(from->rep, XK_DROP_NOMEM, n - k);
	return k;
}

/* ---- straight into what a receiver has posted (xk_ddp.h) ------------------- */

struct wire_burst { struct xk_rep *from; uint32_t h; unsigned copies; struct xk_msg *m[MEM_BURST]; };

static struct xk_msg *burst_take(void *arg, unsigned i)
{
	struct wire_burst *b = arg;
	struct xk_msg *m;

	if (is_ready(b->m[i]))
		return b->m[i];
	m = wire_copy(b->m[i], b->h);
	if (XK_UNLIKELY(m == NULL))
		xk_dropped(b->from, XK_DROP_NOMEM, 1);
	else
		b->copies++;
	return m;
}

static void burst_placed(void *arg, unsigned i)
{
	struct wire_burst *b = arg;

	b->copies++;
	xk_msg_free(b->m[i]);
}

/* n frames off the wire, classified where they lie, each copied once: the payload
 * of one that somebody waits for to where it is wanted. */
static XK_APART void wire_deliver(struct mem_rep *mr, unsigned n)
{
	struct wire_burst b = { .from = mr->other->rep };
	const struct xk_arrivals a = { burst_take, burst_placed, &b };
	struct xk_msg frame[MEM_BURST];

	b.h = mem_state(b.from)->link->header;
	for (unsigned i = 0; i < n; i++) {
		const struct xk_msg *m = b.m[i] = xk_msgq_get(&mr->q);

		frame[i] = (struct xk_msg){ .data = m->data, .len = m->len, .tot = m->tot, .next = m->next,
					    .flags = m->flags & XK_MSG_CHAIN };
	}
	xk_input_arrivals(mr->rep, frame, n, b.h, &a);
	xk_count_add(b.from->count[MEM_N_COPIES], b.copies);
}

static unsigned queue_take(struct mem_rep *mr, struct xk_msg **burst, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		burst[i] = xk_msgq_get(&mr->q);
	return n;
}

unsigned mem_rx_run(struct xk_task *t, unsigned budget)
{
	struct mem_rep *mr = xk_container_of(t, struct mem_rep, task);
	bool wire = mr->other != NULL;
	struct xk_msg *burst[MEM_BURST];
	unsigned done = 0;

	/* What the frames cause to be sent here waits for the next unit. */
	if (budget > mr->q.n)
		budget = mr->q.n;
	while (done < budget) {
		unsigned n = budget - done < MEM_BURST ? budget - done : MEM_BURST;

		if (XK_UNLIKELY(wire_places(mr)))
			wire_deliver(mr, n);
		else
			xk_input(mr->rep, burst, wire ? wire_take(mr, burst, n) : queue_take(mr, burst, n));
		done += n;
	}
	if (mr->q.n == 0)
		xk_task_park(t);
	return done;
}

/* A wire whose two ends are this one gives back only what is sent to itself:
 * a broadcast is for the others. */
bool mem_wire_reaches(const struct mem_rep *mr, struct xk_msg **m)
{
	const struct mem_state *st = mem_state(mr->rep);
	const uint8_t *frame;

	if (XK_LIKELY(mr->other != mr))
		return mr->other != NULL;
	frame = xk_msg_peek(m, st->link->header);
	return frame != NULL && memcmp(frame + st->link->mac, st->mac, 6) == 0;
}

uint32_t mem_wire_super(const struct xk_rep *r)
{
	const struct mem_rep *mr = r->state;
	const struct mem_state *st = mem_state(r);

	/* A frame is cut into one buffer; what is placed should be copied once. */
	if (mr->peer != NULL || mr->other == NULL || st->frame_max > XK_MSG_MAX_SEG || wire_places(mr->other))
		return 0;
	return XK_CUT_MAX + st->link->header;
}

bool mem_wire_cut(struct mem_rep *mr, struct xk_msg *m, void (*put)(struct mem_rep *mr, struct xk_msg *frame))
{
	const struct mem_state *st = mem_state(mr->rep);
	struct xk_cut c;
	unsigned n = 0;

	if (XK_UNLIKELY(st->frame_max > XK_MSG_MAX_SEG || !xk_cut_super(&c, m, st->link->header, st->frame_max)))
		return false;
	while (xk_cut_next(&c) != 0) {
		struct xk_msg *x = xk_cut_msg(&c);

		if (XK_UNLIKELY(x == NULL)) {
			xk_dropped(mr->rep, XK_DROP_NOMEM, 1);
			break;
		}
		n++;
		put(mr, x);
	}
	xk_count_add(mr->rep->count[MEM_N_COPIES], n);
	xk_msg_free(m);
	return true;
}

/* A frame that was cut, which is as its receiver will see it. */
static void put_cut(struct mem_rep *mr, struct xk_msg *x)
{
	struct mem_rep *to = mr->other;

	if (XK_UNLIKELY(to->q.n >= to->cap)) {
		xk_drop(mr->rep, MEM_DROP_QUEUE_FULL, x);
		return;
	}
	x->vp = WIRE_READY;
	mem_rx_put(to, x);
}

static XK_NOINLINE void loop_push_any(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct mem_rep *mr = r->state;

	if (XK_UNLIKELY(m->tot > mem_state(r)->frame_max && !(m->flags & XK_MSG_SUPER))) {
		xk_drop(r, MEM_DROP_TOO_LONG, m);
	} else if (XK_UNLIKELY(!mem_wire_reaches(mr, &m))) {
		xk_drop(r, MEM_DROP_NOBODY, m);
	} else if (XK_UNLIKELY(!mr->other->open)) {
		xk_drop(r, MEM_DROP_STOPPED, m);
	} else if (m->flags & XK_MSG_SUPER) {
		if (XK_UNLIKELY(!mem_wire_cut(mr, m, put_cut)))
			xk_drop(r, MEM_DROP_SUPER, m);
	} else if (XK_UNLIKELY(mr->other->q.n >= mr->other->cap)) {
		xk_drop(r, MEM_DROP_QUEUE_FULL, m);
	} else if (!is_long(m) || (m = wire_put_long(mr, m)) != NULL) {
		mem_rx_put(mr->other, m);
	}
}

/* Behind frames that wait already: the other end is open and its task ready. */
static inline bool wire_busy(const struct mem_rep *mr, const struct mem_rep *to, const struct xk_msg *m)
{
	return XK_LIKELY(to != NULL && to != mr && m->tot <= mr->frame_max && to->q.n != 0 && to->q.n < to->cap &&
			 !(m->flags & XK_MSG_SUPER));
}

static inline void wire_append(struct mem_rep *to, struct xk_msg *m)
{
	m->link = NULL;
	to->q.last->link = m;
	to->q.last = m;
	to->q.n++;
}

static XK_APART void loop_push_long(struct xk_sess *s, struct xk_msg *m)
{
	struct mem_rep *mr = s->rep->state, *to = mr->other;

	if (!wire_busy(mr, to, m))
		loop_push_any(s, m);
	else if (XK_UNLIKELY(!is_long(m)) || XK_LIKELY((m = wire_put_long(mr, m)) != NULL))
		wire_append(to, m);
}

/* No stack frame: what is copied here is somebody else's. */
void mem_loop_push(struct xk_sess *s, struct xk_msg *m)
{
	struct mem_rep *mr = s->rep->state, *to = mr->other;

	if (XK_UNLIKELY(m->len >= LONG_MIN))
		loop_push_long(s, m);
	else if (wire_busy(mr, to, m))
		wire_append(to, m);
	else
		loop_push_any(s, m);
}

/* ---- joining, control path ------------------------------------------------- */

static bool has_wire(const struct xk_node *a, const struct xk_node *n)
{
	return a->proto->ops == n->proto->ops && ((const struct mem_conf *)a->conf)->wire != NULL;
}

static const char *wire_of(const struct xk_node *n)
{
	return ((const struct mem_conf *)n->conf)->wire;
}

/* By their wires, of one wire bottom-up. */
static int wire_order(const void *a, const void *b)
{
	const struct xk_node *x = *(struct xk_node *const *)a, *y = *(struct xk_node *const *)b;
	int d = strcmp(wire_of(x), wire_of(y));

	return d != 0 ? d : x->no < y->no ? -1 : 1;
}

/* Those of one wire, n > 0 of them. */
static int join(struct xk_node **end, unsigned n, struct xk_errs *e)
{
	for (unsigned i = 0; i < n; i++)
		((struct mem_state *)end[i]->state)->other = end[n == 2 ? 1 - i : i];
	if (n > 2) {
		xk_errs_add(e, end[0]->file, end[0]->line, 0, "%s: wire '%s' has two ends, but %s, %s and %s are on it",
			    end[0]->name, wire_of(end[0]), end[0]->name, end[1]->name, end[2]->name);
		return XK_E_INVAL;
	}
	if (n == 2 && end[0]->proto != end[1]->proto) {
		xk_errs_add(e, end[0]->file, end[0]->line, 0, "%s: wire '%s' joins %s to %s, which speaks another link type",
			    end[0]->name, wire_of(end[0]), end[0]->name, end[1]->name);
		return XK_E_INVAL;
	}
	return XK_OK;
}

/* All of n's kind at once: none of them looks for its other end by itself. */
static int join_all(const struct xk_node *n, struct xk_errs *e)
{
	const struct xk_graph *g = n->graph;
	struct xk_node **end = xk_alloc((g->nnodes - n->no) * sizeof *end);
	unsigned ends = 0, same;
	int err = XK_OK;

	if (end == NULL)
		return XK_E_NOMEM;
	for (unsigned i = n->no; i < g->nnodes; i++)
		if (has_wire(g->node[i], n))
			end[ends++] = g->node[i];
	qsort(end, ends, sizeof(struct xk_node *), wire_order);
	for (unsigned i = 0; i < ends; i += same) {
		int one;

		for (same = 1; i + same < ends && strcmp(wire_of(end[i]), wire_of(end[i + same])) == 0;)
			same++;
		one = join(end + i, same, e);
		err = err != XK_OK ? err : one;
	}
	xk_free(end);
	return err;
}

int mem_wire_join(struct xk_node *n, struct xk_errs *e)
{
	struct mem_state *st = n->state;

	if (st->other != NULL)
		return XK_OK;
	if (wire_of(n) != NULL)
		return join_all(n, e);
	st->other = n;
	return XK_OK;
}
