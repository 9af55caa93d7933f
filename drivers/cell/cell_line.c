/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_line.c - trains of cells on their way: what happens to each cell, and the wire in memory.
 *
 * Chance is drawn as the number of cells that pass before the next one to which something happens, so a
 * train in which nothing does costs one comparison and goes over the wire as it is.  One in which something
 * does is laid out as cells, and these are taken as if they came from a line.
 * Invariant: the task is ready exactly while trains wait.
 */
#include "drivers/cell/cell_priv.h"

#include <math.h>
#include <string.h>

#include "drivers/cell/cell_hec.h"
#include "runtime/base/xk_bytes.h"

/* ---- what happens to a cell ----------------------------------------------------------- */

/* So many pass before the next one that is hit with chance p each. */
static uint64_t gap(struct xk_rand *rand, double p)
{
	double g;

	if (p <= 0)
		return UINT64_MAX;
	if (p >= 1)
		return 0;
	g = floor(log1p(-xk_rand_unit(rand)) / log1p(-p));
	return g < 1e18 ? (uint64_t)g : UINT64_MAX;
}

void cell_line_init(struct cell_rep *cr)
{
	const struct xk_rep *r = cr->rep;
	const struct cell_conf *c = cell_conf(r);

	xk_rand_init(&cr->rand, c->seed != 0 ? c->seed : r->node->graph->seed, (uint64_t)r->node->no << 32 | r->no);
	cr->next_lost = gap(&cr->rand, c->loss);
	cr->next_bad = gap(&cr->rand, c->errors);
	cr->rough = c->loss > 0 || c->errors > 0 || c->fates.n != 0 || !c->trains;
}

static bool hit(struct cell_rep *cr, uint64_t *left, double p)
{
	if (*left != 0) {
		--*left;
		return false;
	}
	*left = gap(&cr->rand, p);
	return true;
}

/* Does nothing happen to the next n cells?  Then they have passed. */
static bool pass_smoothly(struct cell_rep *cr, uint32_t n)
{
	const struct cell_fate *f = cell_fate_from(&cell_node(cr->rep)->lists, &cr->fate, cr->cells + 1);

	if (!cell_conf(cr->rep)->trains || cr->next_lost < n || cr->next_bad < n || (f != NULL && f->first <= cr->cells + n))
		return false;
	cr->cells += n;
	cr->next_lost -= n;
	cr->next_bad -= n;
	return true;
}

static void flip(uint8_t *cell, uint64_t bit)
{
	cell[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
}

/* What the list says of the next cell; NULL: nothing. */
static const struct cell_fate *fate_of(struct cell_rep *cr)
{
	const struct cell_fate *f = cell_fate_from(&cell_node(cr->rep)->lists, &cr->fate, ++cr->cells);

	return f != NULL && f->first <= cr->cells ? f : NULL;
}

/* Is it lost? */
static bool meet(struct cell_rep *cr, uint8_t *cell)
{
	const struct cell_conf *c = cell_conf(cr->rep);
	const struct cell_fate *f = fate_of(cr);
	bool lost = hit(cr, &cr->next_lost, c->loss), bad = hit(cr, &cr->next_bad, c->errors);

	if (f != NULL) {
		lost = f->nflips == 0;
		bad = !lost;
		for (unsigned i = 0; i < f->nflips; i++)
			flip(cell, f->flip[i]);
	} else if (bad && !lost) {
		flip(cell, xk_rand_below(&cr->rand, XK_CELL_LEN * 8));
	}
	if (lost)
		xk_dropped(cr->rep, CELL_DROP_LOST, 1);
	else if (bad)
		xk_count(cr->rep->count[CELL_N_DAMAGED]);
	return lost;
}

/* ---- a train as cells ------------------------------------------------------------------ */

/* A place in a message. */
struct place { const struct xk_msg *m; uint32_t off; };

static void take_bytes(struct place *at, uint8_t *to, uint32_t n)
{
	while (n != 0) {
		uint32_t k = at->m->len - at->off < n ? at->m->len - at->off : n;

		if (k != 0)
			memcpy(to, at->m->data + at->off, k);
		to += k;
		n -= k;
		at->off += k;
		if (n != 0) {
			at->m = at->m->next;
			at->off = 0;
		}
	}
}

void cell_lay_out(struct cell_rep *cr, const struct xk_msg *m, uint32_t n, cell_out_fn out, void *arg)
{
	struct place at = { m, 0 };
	uint8_t cell[XK_CELL_LEN], first[XK_CELL_HDR + 1];
	uint32_t header;

	take_bytes(&at, first, XK_CELL_HDR);
	header = xk_be32(first);
	xk_put_be32(first, header & ~XK_CELL_LAST);
	first[XK_CELL_HDR] = cell_hec(header & ~XK_CELL_LAST);
	for (; n != 0; n--) {
		memcpy(cell, first, sizeof first);
		if (n == 1) {
			xk_put_be32(cell, header);
			cell[XK_CELL_HDR] = cell_hec(header);
		}
		take_bytes(&at, cell + XK_CELL_HDR + 1, XK_CELL_PAYLOAD);
		if (!meet(cr, cell))
			out(arg, cell, n);
	}
}

/* ---- the wire ----------------------------------------------------------------------------- */

void cell_put(struct cell_rep *to, struct xk_msg *m, uint32_t n)
{
	if (to->q.n == 0)
		xk_task_ready(&to->task);
	to->waiting += n;
	xk_msgq_put(&to->q, m);
}

static void take_from_wire(void *arg, uint8_t cell[XK_CELL_LEN], uint32_t left)
{
	cell_take(&((struct cell_rep *)arg)->take, cell, left);
}

/* What nobody else looks at is handed over, all else copied: who receives it may write. */
static struct xk_msg *across(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_msg *own = xk_msg_own(m);

	if (own == NULL) {
		xk_drop(r, XK_DROP_NOMEM, m);
		return NULL;
	}
	if (own != m)
		xk_count(r->count[CELL_N_COPIES]);
	own->u.hint = NULL;
	own->net = 0;
	xk_msg_reset_rx(own);
	return own;
}

static void wire_push(struct cell_rep *cr, struct xk_msg *m, uint32_t header, uint32_t n)
{
	struct xk_rep *r = cr->rep, *far = cr->other->rep;

	if (XK_UNLIKELY(cr->rough) && !pass_smoothly(cr, n)) {
		cell_lay_out(cr, m, n, take_from_wire, cr->other);
		cell_take_end(&cr->other->take);
		xk_msg_free(m);
		return;
	}
	if (XK_UNLIKELY(!cell_vc_there(&cell_node(far)->lists, header))) {
		xk_dropped(far, CELL_DROP_NO_VC, n);
		xk_msg_free(m);
		return;
	}
	m = across(r, m);
	if (XK_UNLIKELY(m == NULL))
		return;
	xk_count_add(far->count[CELL_N_IN], n);
	cr->other->take.detecting = false;
	cell_put(cr->other, m, n);
}

/* The header of a train and how many cells it is, or false. */
static bool examine(const struct xk_msg *m, uint32_t *header, uint32_t *n)
{
	uint8_t b[XK_CELL_HDR];

	if (m->tot > XK_CELL_TRAIN || m->tot <= XK_CELL_HDR || (m->tot - XK_CELL_HDR) % XK_CELL_PAYLOAD != 0)
		return false;
	xk_msg_copy_out(m, 0, b, sizeof b);
	*header = xk_be32(b);
	*n = (m->tot - XK_CELL_HDR) / XK_CELL_PAYLOAD;
	return true;
}

void cell_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct cell_rep *cr = cell_rep(r);
	uint32_t header, n;

	if (XK_UNLIKELY(!examine(m, &header, &n))) {
		xk_drop(r, CELL_DROP_TRAIN, m);
	} else if (XK_UNLIKELY(!cell_vc_there(&cell_node(r)->lists, header))) {
		xk_drop(r, CELL_DROP_NO_VC, m);
	} else if (s->down != NULL) {
		xk_count_add(r->count[CELL_N_OUT], n);
		cell_port_push(s, m, n);
	} else if (XK_UNLIKELY(cr->other == NULL)) {
		xk_drop(r, CELL_DROP_NOBODY, m);
	} else if (XK_UNLIKELY(!cr->other->open)) {
		xk_drop(r, CELL_DROP_STOPPED, m);
	} else if (XK_UNLIKELY(cr->other->waiting + n > cell_conf(r)->queue)) {
		xk_drop(r, CELL_DROP_FULL, m);
	} else {
		xk_count_add(r->count[CELL_N_OUT], n);
		wire_push(cr, m, header, n);
	}
}

/* The link that trains of the wire go up through. */
static struct xk_sess *link_of(struct xk_rep *r, unsigned *reason)
{
	*reason = CELL_DROP_NOBODY;
	return r->drv_sess != NULL ? xk_dup(r->drv_sess) : cell_link_first(r, NULL, reason);
}

unsigned cell_rx_run(struct xk_task *t, unsigned budget)
{
	struct cell_rep *cr = xk_container_of(t, struct cell_rep, task);
	unsigned done = 0, reason;

	/* What they cause to be sent here waits for the next unit. */
	if (budget > cr->q.n)
		budget = cr->q.n;
	for (; done < budget; done++) {
		struct xk_msg *m = xk_msgq_get(&cr->q);
		struct xk_sess *link = link_of(cr->rep, &reason);

		cr->waiting -= (m->tot - XK_CELL_HDR) / XK_CELL_PAYLOAD;
		if (XK_UNLIKELY(link == NULL)) {
			xk_drop(cr->rep, reason, m);
			continue;
		}
		xk_count(cr->rep->npop);
		xk_demux(link, m);
		xk_close(link);
	}
	if (cr->q.n == 0)
		xk_task_park(t);
	return done;
}
