/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_traffic.c - when the messages of a stream are due, by a model, and which stream's is first; see xk_traffic.h.
 */
#include "runtime/upi/xk_traffic.h"

#include <stdio.h>

#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"

#define OWN_NUMBERS (UINT64_C(1) << 32)  /* streams' generators, apart from those of virtual processors */

#define DRAWN (1u << XK_TRAFFIC_CONSTANT | 1u << XK_TRAFFIC_POISSON | 1u << XK_TRAFFIC_TRAIN | 1u << XK_TRAFFIC_ONOFF)

const char *const xk_traffic_models[] = { "none", "constant", "poisson", "train", "onoff", "trace", NULL };

/* ---- what goes together ------------------------------------------------------------------------ */

/* The first parameter that is given and not this model's, or is its and not given. */
static bool needs_fault(const struct xk_traffic *a, char *why, size_t n)
{
	const struct { const char *name; bool given; unsigned of, optional; } row[] = {
		{ "rate", a->rate != 0, DRAWN, 0 },
		{ "burst", a->burst != 0, 1u << XK_TRAFFIC_TRAIN, 0 },
		{ "inner", a->inner != 0, 1u << XK_TRAFFIC_TRAIN, 1u << XK_TRAFFIC_TRAIN },
		{ "on", a->on != 0, 1u << XK_TRAFFIC_ONOFF, 0 },
		{ "off", a->off != 0, 1u << XK_TRAFFIC_ONOFF, 0 },
		{ "first", a->first != 0, DRAWN, DRAWN },
		{ "file", a->file != NULL, 1u << XK_TRAFFIC_TRACE, 0 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(row); i++) {
		bool its = row[i].of >> a->model & 1, may = row[i].optional >> a->model & 1;

		if (row[i].given && !its && a->model == XK_TRAFFIC_NONE)
			snprintf(why, n, "arrivals has '%s' and no model: add model = \"poisson\", or another one", row[i].name);
		else if (row[i].given && !its)
			snprintf(why, n, "arrivals: '%s' means nothing for the model \"%s\"", row[i].name, xk_traffic_models[a->model]);
		else if (!row[i].given && its && !may)
			snprintf(why, n, "arrivals: the model \"%s\" needs '%s'", xk_traffic_models[a->model], row[i].name);
		else
			continue;
		return true;
	}
	return false;
}

/* Of a train: from the last packet of one to the first of the next, mean. */
static double between(const struct xk_traffic *a)
{
	return (double)a->burst * (double)XK_SEC / (double)a->rate - (double)(a->burst - 1) * (double)a->inner;
}

bool xk_traffic_fault(const struct xk_traffic *a, char *why, size_t n)
{
	if (needs_fault(a, why, n))
		return true;
	if (a->model != XK_TRAFFIC_TRAIN || between(a) > 0)
		return false;
	snprintf(why, n,
		 "arrivals: %llu messages with %llu ns between them take longer than they may at %llu messages a second: "
		 "no time is left between trains", (unsigned long long)a->burst, (unsigned long long)a->inner,
		 (unsigned long long)a->rate);
	return true;
}

/* ---- drawing ------------------------------------------------------------------------------------- */

static xk_ns draw(struct xk_traffic_stream *s, double mean)
{
	return (xk_ns)(xk_rand_exp(&s->rand, mean) + 0.5);
}

static double gap(const struct xk_traffic *a) { return (double)XK_SEC / (double)a->rate; }

/* While it sends. */
static double gap_on(const struct xk_traffic *a)
{
	return gap(a) * (double)a->on / ((double)a->on + (double)a->off);
}

static void onoff_next(struct xk_traffic_stream *s, const struct xk_traffic *a)
{
	s->due += draw(s, gap_on(a));
	while (s->due > s->until) {      /* the process has no memory: it is drawn again from there */
		s->due = s->until + draw(s, (double)a->off);
		s->until = s->due + draw(s, (double)a->on);
		s->due += draw(s, gap_on(a));
	}
}

static void train_next(struct xk_traffic_stream *s, const struct xk_traffic *a)
{
	if (s->left == 0) {
		s->left = a->burst;
		s->due += draw(s, between(a));
	} else if (a->inner != 0) {
		s->due += draw(s, (double)a->inner);
	}
	s->left--;
}

static void trace_next(struct xk_traffic_stream *s, const struct xk_trace *t, uint32_t i)
{
	s->left = i;
	s->due = i < t->n ? t->at[i] : XK_NS_NEVER;
}

/* The k-th of them is where it belongs, whatever a division leaves. */
static void constant_next(struct xk_traffic_stream *s, const struct xk_traffic *a)
{
	uint64_t k = s->left++;

	s->due = s->until + k / a->rate * XK_SEC + k % a->rate * XK_SEC / a->rate;
}

void xk_traffic_stream_init(struct xk_traffic_stream *s, const struct xk_traffic *a, const struct xk_trace *t, uint64_t seed,
		      uint64_t stream)
{
	*s = (struct xk_traffic_stream){ .due = 0 };
	xk_rand_init(&s->rand, seed, OWN_NUMBERS + a->first + stream);
	switch (a->model) {
	case XK_TRAFFIC_TRACE:
		trace_next(s, t, stream < t->nstreams ? t->first[stream] : t->n);
		return;
	case XK_TRAFFIC_CONSTANT:
		s->until = (xk_ns)(xk_rand_unit(&s->rand) * gap(a));
		break;
	case XK_TRAFFIC_ONOFF:                 /* as long as it has been going on for ever */
		if (xk_rand_unit(&s->rand) * ((double)a->on + (double)a->off) < (double)a->on)
			s->until = draw(s, (double)a->on);
		break;
	default:
		break;
	}
	xk_traffic_stream_next(s, a, NULL);
}

void xk_traffic_stream_next(struct xk_traffic_stream *s, const struct xk_traffic *a, const struct xk_trace *t)
{
	switch (a->model) {
	case XK_TRAFFIC_CONSTANT: constant_next(s, a); break;
	case XK_TRAFFIC_POISSON: s->due += draw(s, gap(a)); break;
	case XK_TRAFFIC_TRAIN: train_next(s, a); break;
	case XK_TRAFFIC_ONOFF: onoff_next(s, a); break;
	default: trace_next(s, t, t->next[s->left]); break;
	}
}

/* ---- the one that is due first ------------------------------------------------------------------- */

int xk_traffic_open(struct xk_traffic_queue *q, const struct xk_traffic *a, const struct xk_trace *t, uint64_t seed,
		    const uint64_t *no, uint32_t n, xk_ns start)
{
	*q = (struct xk_traffic_queue){ .model = a, .trace = t, .start = start };
	if (n == 0)
		return XK_OK;
	q->stream = xk_alloc(n * sizeof *q->stream);
	q->when = xk_alloc(n * sizeof *q->when);
	q->order.place = xk_alloc(n * sizeof *q->order.place);
	if (q->stream == NULL || q->when == NULL || q->order.place == NULL) {
		xk_traffic_close(q);
		return XK_E_NOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		xk_traffic_stream_init(&q->stream[i], a, t, seed, no[i]);
		q->when[i].tie = no[i];
	}
	return XK_OK;
}

void xk_traffic_close(struct xk_traffic_queue *q)
{
	xk_free(q->stream);
	xk_free(q->when);
	xk_free(q->order.place);
	*q = (struct xk_traffic_queue){ .model = NULL };
}

void xk_traffic_wait(struct xk_traffic_queue *q, uint32_t i)
{
	q->when[i].key = q->stream[i].due;
	if (q->when[i].key != XK_NS_NEVER)
		xk_heap_put(&q->order, &q->when[i]);
	else
		xk_heap_take(&q->order, &q->when[i]);
}
