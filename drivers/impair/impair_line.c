/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * impair_line.c - the line of an impaired link: rate, queue, delay, jitter.
 *
 * Invariant: the line keeps the order of its frames.
 */
#include "drivers/impair/impair_priv.h"

void impair_line_timer(struct xk_timer *t)
{
	struct impair_dir *d = xk_container_of(t, struct impair_dir, line_timer);
	xk_ns now = xk_vp_now();

	while (d->n != 0 && d->line[d->head].due <= now) {
		struct xk_msg *m = d->line[d->head].m;

		/* Out of the ring first: passing it on may bring us back here. */
		d->head = d->head + 1 == d->cap ? 0 : d->head + 1;
		d->n--;
		impair_emit(d, m);
	}
	if (d->n != 0)
		xk_timer_set(d->rep->wheel, &d->line_timer, d->line[d->head].due);
}

void impair_line_clear(struct impair_dir *d)
{
	xk_timer_cancel(d->rep->wheel, &d->line_timer);
	while (d->n != 0) {
		struct xk_msg *m = d->line[d->head].m;

		d->head = d->head + 1 == d->cap ? 0 : d->head + 1;
		d->n--;
		impair_emit(d, m);
	}
}

/* When a frame that starts now is out at the far end.  Monotone. */
static xk_ns line_due(struct impair_dir *d, uint32_t bytes)
{
	const struct impair_conf *c = impair_conf(d->rep);
	xk_ns due = xk_vp_now();

	if (c->rate != 0) {
		/* The link's rate is shared out evenly over the VPs. */
		const struct xk_node *n = d->rep->node;
		uint64_t share = c->rate / (d->way == UP ? xk_node_nup(n) : xk_node_nconn(n));

		if (d->busy_until > due)
			due = d->busy_until;
		due += (uint64_t)bytes * 8 * XK_SEC / (share ? share : 1);
		d->busy_until = due;
	}
	due += c->delay;
	if (c->jitter != 0)
		due += xk_rand_below(&d->rand, c->jitter + 1);
	if (due < d->last_due)
		due = d->last_due;
	d->last_due = due;
	return due;
}

void impair_line_put(struct impair_dir *d, struct xk_msg *m)
{
	const struct impair_conf *c = impair_conf(d->rep);
	uint32_t tail;

	/* What is on the line since it was one goes first. */
	if (c->delay == 0 && c->jitter == 0 && c->rate == 0 && d->n == 0) {
		impair_emit(d, m);
		return;
	}
	if (d->n == d->cap) {
		xk_drop(d->rep, IMPAIR_DROP_QUEUE_FULL, m);
		return;
	}
	tail = d->head + d->n;
	if (tail >= d->cap)
		tail -= d->cap;
	d->line[tail].m = m;
	d->line[tail].due = line_due(d, m->tot);
	xk_count(d->rep->count[N_DELAYED]);
	if (d->n++ == 0)
		xk_timer_set(d->rep->wheel, &d->line_timer, d->line[tail].due);
}
