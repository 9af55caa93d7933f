/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_arrivals.c - when the packets of a stream arrive, by a model; see peer_arrivals.h.
 */
#include "drivers/peer/peer_arrivals.h"

#include <stdio.h>

#define OWN_NUMBERS (UINT64_C(1) << 32)  /* streams' generators, apart from those of virtual processors */

const char *const peer_models[] = { "none", "constant", "poisson", "train", "onoff", "trace", NULL };

/* ---- what goes together ------------------------------------------------------------------------ */

/* The first parameter that is given and not this model's, or is its and not given. */
static bool needs_fault(const struct peer_arrivals *a, char *why, size_t n)
{
	const struct { const char *name; bool given; unsigned of, optional; } row[] = {
		{ "rate", a->rate != 0, 1u << PEER_CONSTANT | 1u << PEER_POISSON | 1u << PEER_TRAIN | 1u << PEER_ONOFF, 0 },
		{ "burst", a->burst != 0, 1u << PEER_TRAIN, 0 },
		{ "inner", a->inner != 0, 1u << PEER_TRAIN, 1u << PEER_TRAIN },
		{ "on", a->on != 0, 1u << PEER_ONOFF, 0 },
		{ "off", a->off != 0, 1u << PEER_ONOFF, 0 },
		{ "file", a->file != NULL, 1u << PEER_TRACE, 0 },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(row); i++) {
		bool its = row[i].of >> a->model & 1, may = row[i].optional >> a->model & 1;

		if (row[i].given && !its && a->model == PEER_MODEL_NONE)
			snprintf(why, n, "arrivals has '%s' and no model: add model = \"poisson\", or another one", row[i].name);
		else if (row[i].given && !its)
			snprintf(why, n, "arrivals: '%s' means nothing for the model \"%s\"", row[i].name, peer_models[a->model]);
		else if (!row[i].given && its && !may)
			snprintf(why, n, "arrivals: the model \"%s\" needs '%s'", peer_models[a->model], row[i].name);
		else
			continue;
		return true;
	}
	return false;
}

/* Of a train: from the last packet of one to the first of the next, mean. */
static double between(const struct peer_arrivals *a)
{
	return (double)a->burst * (double)XK_SEC / (double)a->rate - (double)(a->burst - 1) * (double)a->inner;
}

bool peer_arrivals_fault(const struct peer_arrivals *a, char *why, size_t n)
{
	if (needs_fault(a, why, n))
		return true;
	if (a->model != PEER_TRAIN || between(a) > 0)
		return false;
	snprintf(why, n,
		 "arrivals: %llu packets with %llu ns between them take longer than they may at %llu packets a second: "
		 "no time is left between trains", (unsigned long long)a->burst, (unsigned long long)a->inner,
		 (unsigned long long)a->rate);
	return true;
}

/* ---- drawing ------------------------------------------------------------------------------------- */

static xk_ns draw(struct peer_stream *s, double mean)
{
	return (xk_ns)(xk_rand_exp(&s->rand, mean) + 0.5);
}

static double gap(const struct peer_arrivals *a) { return (double)XK_SEC / (double)a->rate; }

/* While it sends. */
static double gap_on(const struct peer_arrivals *a)
{
	return gap(a) * (double)a->on / ((double)a->on + (double)a->off);
}

static void onoff_next(struct peer_stream *s, const struct peer_arrivals *a)
{
	s->due += draw(s, gap_on(a));
	while (s->due > s->until) {      /* the process has no memory: it is drawn again from there */
		s->due = s->until + draw(s, (double)a->off);
		s->until = s->due + draw(s, (double)a->on);
		s->due += draw(s, gap_on(a));
	}
}

static void train_next(struct peer_stream *s, const struct peer_arrivals *a)
{
	if (s->left == 0) {
		s->left = a->burst;
		s->due += draw(s, between(a));
	} else if (a->inner != 0) {
		s->due += draw(s, (double)a->inner);
	}
	s->left--;
}

static void trace_next(struct peer_stream *s, const struct peer_trace *t, uint32_t i)
{
	s->left = i;
	s->due = i < t->n ? t->at[i] : XK_NS_NEVER;
}

/* The k-th of them is where it belongs, whatever a division leaves. */
static void constant_next(struct peer_stream *s, const struct peer_arrivals *a)
{
	uint64_t k = s->left++;

	s->due = s->until + k / a->rate * XK_SEC + k % a->rate * XK_SEC / a->rate;
}

void peer_stream_init(struct peer_stream *s, const struct peer_arrivals *a, const struct peer_trace *t, uint64_t seed,
		      uint64_t stream)
{
	*s = (struct peer_stream){ .due = 0 };
	xk_rand_init(&s->rand, seed, OWN_NUMBERS + stream);
	switch (a->model) {
	case PEER_TRACE:
		trace_next(s, t, stream < t->nstreams ? t->first[stream] : t->n);
		return;
	case PEER_CONSTANT:
		s->until = (xk_ns)(xk_rand_unit(&s->rand) * gap(a));
		break;
	case PEER_ONOFF:                 /* as long as it has been going on for ever */
		if (xk_rand_unit(&s->rand) * ((double)a->on + (double)a->off) < (double)a->on)
			s->until = draw(s, (double)a->on);
		break;
	default:
		break;
	}
	peer_stream_next(s, a, NULL);
}

void peer_stream_next(struct peer_stream *s, const struct peer_arrivals *a, const struct peer_trace *t)
{
	switch (a->model) {
	case PEER_CONSTANT: constant_next(s, a); break;
	case PEER_POISSON: s->due += draw(s, gap(a)); break;
	case PEER_TRAIN: train_next(s, a); break;
	case PEER_ONOFF: onoff_next(s, a); break;
	default: trace_next(s, t, t->next[s->left]); break;
	}
}
