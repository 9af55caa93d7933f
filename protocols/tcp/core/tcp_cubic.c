/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_cubic.c - CUBIC (RFC 9438) in integers.
 *
 * cwnd follows W(t) = C (t - K)^3 + W_max with C = 0.4 segments per cubic second
 * and beta = 0.7, or what Reno would have, whichever is more (4.3).  Time is in
 * milliseconds, windows in bytes; what is too little for a byte is kept in
 * `frac`.  Fast convergence (4.7) is in.
 * Invariant: while epoch is 0 nothing else but w_max and the undo copies counts.
 */
#include "protocols/tcp/core/tcp_cc.h"

#include <string.h>

#define T_MAX (1u << 17)         /* ms from K beyond which W(t) is as good as infinite */

struct cubic {
	uint32_t w_max;          /* window before the last reduction, bytes */
	uint32_t epoch;          /* ms when this epoch of growth began; 0: not yet */
	uint32_t k;              /* ms */
	uint32_t origin;         /* W(K), bytes */
	uint32_t w_est;          /* Reno's window, bytes */
	uint32_t est_frac;       /* of w_est's next byte, in alpha / cwnd units */
	uint32_t prior;          /* cwnd before the reduction */
	uint32_t frac;
	uint32_t undo_w_max, undo_epoch, undo_k, undo_origin;
};
_Static_assert(sizeof(struct cubic) <= sizeof(((struct tcp_cb *)0)->cc_priv), "cubic's state");

static struct cubic *cubic(struct tcp_cb *cb) { return (struct cubic *)(void *)&cb->cc_priv; }

static uint32_t max32(uint32_t a, uint32_t b) { return a > b ? a : b; }
/* Largest r with r^3 <= x. */
static uint32_t cube_root(uint64_t x)
{
	uint64_t r = 0;

	for (unsigned bit = 21; bit-- != 0;) {
		uint64_t t = r | UINT64_C(1) << bit;

		if (t * t * t <= x)
			r = t;
	}
	return (uint32_t)r;
}

/* C d^3 in bytes. */
static uint32_t cube(uint32_t d, uint32_t mss)
{
	uint64_t v;

	d = min32(d, T_MAX);
	v = (uint64_t)d * d * d * 4 / 1000000 * mss / 10000;
	return v < TCP_CWND_MAX ? (uint32_t)v : TCP_CWND_MAX;
}

static uint32_t w_cubic(const struct cubic *c, uint32_t t, uint32_t mss)
{
	uint32_t d = t < c->k ? c->k - t : t - c->k, v = cube(d, mss);

	if (t < c->k)
		return v < c->origin ? c->origin - v : 0;
	return min32(c->origin + v, TCP_CWND_MAX);
}

static void epoch_begin(struct cubic *c, const struct tcp_cb *cb, const struct tcp_env *e)
{
	c->epoch = e->now;
	c->w_est = cb->cwnd;
	c->est_frac = c->frac = 0;
	c->k = 0;
	c->origin = cb->cwnd;
	if (cb->cwnd < c->w_max) {       /* K = cbrt((W_max - cwnd) / C) */
		c->k = cube_root((uint64_t)(c->w_max - cb->cwnd) * 2500000000u / cb->mss);
		c->origin = c->w_max;
	}
}

/* Reno's window as it would be: alpha of a segment for each window acknowledged,
 * alpha 3 (1 - beta) / (1 + beta) = 9/17 until it is back where it was, 1 from there on. */
static void reno_estimate(struct cubic *c, const struct tcp_cb *cb, uint32_t acked)
{
	uint64_t n = (uint64_t)acked * cb->mss * (c->w_est < c->prior ? 9 : 17) + c->est_frac;
	uint64_t per = (uint64_t)cb->cwnd * 17;

	c->w_est = (uint32_t)min32((uint32_t)(n / per < TCP_CWND_MAX ? n / per : TCP_CWND_MAX) + c->w_est, TCP_CWND_MAX);
	c->est_frac = (uint32_t)(n % per > UINT32_MAX ? UINT32_MAX : n % per);
}

void tcp_cubic_init(struct tcp_cb *cb)
{
	*cubic(cb) = (struct cubic){ 0 };
}

void tcp_cubic_acked(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked)
{
	struct cubic *c = cubic(cb);
	uint32_t t, target;
	uint64_t n;

	if (cb->cwnd < cb->ssthresh) {
		acked = tcp_cc_slow_start(cb, acked);
		if (acked == 0)
			return;
	}
	if (c->epoch == 0)
		epoch_begin(c, cb, e);
	t = e->now - c->epoch;
	reno_estimate(c, cb, acked);
	if (w_cubic(c, t, cb->mss) < c->w_est) {
		if (c->w_est > cb->cwnd)
			tcp_cc_grow(cb, c->w_est - cb->cwnd);
		return;
	}
	target = w_cubic(c, t + cb->srtt / 1000, cb->mss);
	target = min32(max32(target, cb->cwnd), cb->cwnd + cb->cwnd / 2);
	n = (uint64_t)(target - cb->cwnd) * acked + c->frac;
	c->frac = (uint32_t)(n % cb->cwnd);
	n /= cb->cwnd;
	tcp_cc_grow(cb, (uint32_t)(n < TCP_CWND_MAX ? n : TCP_CWND_MAX));
}

static void remember(struct cubic *c)
{
	c->undo_w_max = c->w_max;
	c->undo_epoch = c->epoch;
	c->undo_k = c->k;
	c->undo_origin = c->origin;
}

uint32_t tcp_cubic_reduced(struct tcp_cb *cb, const struct tcp_env *e)
{
	struct cubic *c = cubic(cb);
	uint32_t w = cb->cwnd;

	(void)e;
	remember(c);
	c->epoch = 0;
	c->prior = w;
	c->w_max = w < c->w_max ? (uint32_t)((uint64_t)w * 17 / 20) : w;   /* 4.7 */
	return max32((uint32_t)((uint64_t)tcp_cc_flight(cb) * 7 / 10), 2u * cb->mss);
}

/* RFC 9438 4.8: growth begins anew after the slow start that follows. */
void tcp_cubic_timeout(struct tcp_cb *cb, const struct tcp_env *e)
{
	(void)e;
	cubic(cb)->epoch = 0;
}

void tcp_cubic_undo(struct tcp_cb *cb)
{
	struct cubic *c = cubic(cb);

	c->w_max = c->undo_w_max;
	c->epoch = c->undo_epoch;
	c->k = c->undo_k;
	c->origin = c->undo_origin;
}

/* The epoch ends: time without data is not time in which the window might have
 * grown (4.2).  The window to grow back to is what counts. */
uint32_t tcp_cubic_keep(const struct tcp_cb *cb)
{
	struct cubic c;

	memcpy(&c, &cb->cc_priv, sizeof c);
	return c.w_max;
}

void tcp_cubic_wake(struct tcp_cb *cb, uint32_t kept)
{
	*cubic(cb) = (struct cubic){ .w_max = kept, .prior = kept };
}
