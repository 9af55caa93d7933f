/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_hist.c - histograms of times as Prometheus has them: how many were at most so long, for lengths that double; and as
 * they are, place by place.
 *
 * A power of two begins a place (xk_hist.h), so up to the nanosecond before it nothing is guessed.  Where the
 * application does not sum its times, the sum is that of the places' middles, within a 32nd.
 * Invariant: a bucket has at least what the one before it has, and +Inf what _count says, while others count on.
 */
#include "tools/control/ctl_view.h"

#include "runtime/base/xk_hist.h"

#define LEAST 7u                 /* the first bucket: 2^7 ns */
#define MOST  34u                /* the last one but for +Inf: 17 s */

typedef unsigned long long ull;

struct hist { uint64_t n[XK_HIST_PLACES]; double sum; };

static const char *const help[CTL_TIMES] = {
	"Time from sending a message to its answer, of some of them.", "Time that messages waited since they were due.",
	"Time that messages were worked on.", "Time from when messages were due until they were consumed.",
};

/* One replica's more. */
static void add(const struct ctl_view *v, const struct ctl_view_times *t, unsigned k, struct hist *h)
{
	for (unsigned i = 0; i < XK_HIST_PLACES; i++) {
		uint64_t n = ctl_view_read(v, t->hist[k] + 8 * i);

		h->n[i] += n;
		if (t->nsums == 0)
			h->sum += (double)n * xk_hist_middle(i);
	}
	if (t->nsums != 0)
		h->sum += (double)ctl_view_read(v, t->sum[k]);
}

static void series(FILE *f, const char *name, const char *end, const struct ctl_view_node *n, int vp)
{
	fprintf(f, "xkvp_node_%s_seconds%s{", name, end);
	ctl_label(f, "node", n->name, ",");
	ctl_label(f, "protocol", n->protocol, "");
	if (vp >= 0)
		fprintf(f, ",vp=\"%d\"", vp);
}

static void samples(FILE *f, const struct ctl_view_node *n, const char *name, const struct hist *h, int vp)
{
	uint64_t below = 0;
	unsigned at = 0;

	for (unsigned power = LEAST; power <= MOST; power++) {
		for (; at < xk_hist_place(1ull << power); at++)
			below += h->n[at];
		series(f, name, "_bucket", n, vp);
		fprintf(f, ",le=\"%.12g\"} %llu\n", (double)((1ull << power) - 1) / 1e9, (ull)below);
	}
	for (; at < XK_HIST_PLACES; at++)
		below += h->n[at];
	series(f, name, "_bucket", n, vp);
	fprintf(f, ",le=\"+Inf\"} %llu\n", (ull)below);
	series(f, name, "_sum", n, vp);
	fprintf(f, "} %.9f\n", h->sum / 1e9);
	series(f, name, "_count", n, vp);
	fprintf(f, "} %llu\n", (ull)below);
}

/* All VPs together, or each, never both. */
static void node(const struct ctl_view *v, FILE *f, const struct ctl_view_node *n, const struct ctl_view_times *t,
		 bool per_vp)
{
	struct hist h = { .sum = 0 };

	for (unsigned k = 0; k < t->nvps; k++) {
		add(v, t, k, &h);
		if (!per_vp && k + 1 < t->nvps)
			continue;
		samples(f, n, ctl_times[t->no], &h, per_vp ? (int)t->vp[k] : -1);
		h = (struct hist){ .sum = 0 };
	}
}

void ctl_histograms(const struct ctl_view *v, FILE *f, bool per_vp)
{
	for (unsigned no = 0; no < CTL_TIMES; no++) {
		bool told = false;

		for (unsigned i = 0; i < v->nnodes; i++)
			for (unsigned k = 0; k < v->node[i].ntimes; k++) {
				if (v->node[i].times[k].no != no)
					continue;
				if (!told)
					fprintf(f, "# HELP xkvp_node_%s_seconds %s\n# TYPE xkvp_node_%s_seconds histogram\n",
						ctl_times[no], help[no], ctl_times[no]);
				told = true;
				node(v, f, &v->node[i], &v->node[i].times[k], per_vp);
			}
	}
}

/* ---- place by place ----------------------------------------------------------------------- */

static uint64_t least_of(unsigned place)
{
	return place < 16 ? place : (uint64_t)(16 + place % 16) << (place / 16 - 1);
}

static json_t *time_json(const struct ctl_view *v, const struct ctl_view_times *t)
{
	json_t *places = json_array();
	struct hist h = { .sum = 0 };

	for (unsigned k = 0; k < t->nvps; k++)
		add(v, t, k, &h);
	for (unsigned i = 0; i < XK_HIST_PLACES; i++)
		if (h.n[i] != 0)
			json_array_append_new(places, json_pack("[I, I, I]", (json_int_t)least_of(i), (json_int_t)least_of(i + 1),
								(json_int_t)h.n[i]));
	return json_pack("{s:I, s:o}", "sum_ns", (json_int_t)h.sum, "places", places);
}

json_t *ctl_times_json(const struct ctl_view *v, const struct ctl_view_node *n)
{
	json_t *o = json_object();

	for (unsigned k = 0; k < n->ntimes; k++)
		json_object_set_new(o, ctl_times[n->times[k].no], time_json(v, &n->times[k]));
	return o;
}
