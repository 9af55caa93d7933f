/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_native.c - what the native classifier costs a frame: from its bytes to the flow
 * of its connection.
 *
 * The pattern is that of the protocols' own declarations, eth, ip, udp and tcp; every
 * connection is bound, and every verdict is looked at.  Timed like bench_goals_filter.c.
 */
#include <string.h>
#include <time.h>

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"

#define BURST   32u
#define FLOWS   1024u            /* most: of each a frame, in turn */
#define FRAME   64u
#define PORT    2000u
#define STRETCH 200u             /* bursts timed together */

struct job {
	struct xk_pattern     pat;
	struct xk_flowtab    *tab;
	struct xk_classifier *c;
	unsigned              nframes;          /* whole bursts */
	struct xk_flow       *flow[FLOWS];
	struct xk_msg         msg[FLOWS];
	struct xk_msg        *m[FLOWS];
	uint8_t               frame[FLOWS][FRAME];
};

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int cell(struct job *j, unsigned below, uint32_t number, const char *name, char *why)
{
	return xk_pattern_add(&j->pat, below, number, name, name, xk_proto_find(name)->demux, why, GOAL_TEXT);
}

static bool pattern(struct job *j, char *why)
{
	int eth = cell(j, XK_PAT_ABOVE, 0, "eth", why), ip = eth < 0 ? eth : cell(j, (unsigned)eth, 0x0800, "ip", why);

	return ip >= 0 && cell(j, (unsigned)ip, 17, "udp", why) >= 0 && cell(j, (unsigned)ip, 6, "tcp", why) >= 0;
}

/* Frame i, of connection i modulo n. */
static void fill(struct job *j, unsigned i, unsigned n)
{
	static const uint8_t head[FRAME] = { [12] = 0x08, 0x00, 0x45, 0, 0, 50, [22] = 64, 17, [26] = 10, 0, 0, 1, 10, 0, 0, 2,
		1000 >> 8, 1000 & 0xff };

	memcpy(j->frame[i], head, FRAME);
	xk_put_be16(j->frame[i] + 36, (uint16_t)(PORT + i % n));
	j->msg[i] = (struct xk_msg){ .data = j->frame[i], .len = FRAME, .tot = FRAME };
	j->m[i] = &j->msg[i];
}

static bool bind_all(struct job *j, unsigned n)
{
	struct xk_pat_verdict v;
	bool good = true;

	for (unsigned i = 0; i < j->nframes; i++) {
		fill(j, i, n);
		xk_pattern_match(&j->pat, j->frame[i], FRAME, &v);
		good = good && v.kind == XK_PAT_FLOW;
		if (good && i < n)
			good = xk_flow_bind(j->tab, &v.key, 0, NULL, &j->flow[i]) == XK_OK;
	}
	return good;
}

static void end(struct job *j)
{
	for (unsigned i = 0; i < FLOWS; i++)
		if (j->flow[i] != NULL)
			xk_flow_unbind(j->tab, j->flow[i]);
	xk_classifier_free(j->c);
	xk_flowtab_free(j->tab);
}

static bool begin(struct job *j, unsigned n, const char *kind, char *why)
{
	memset(j, 0, sizeof *j);
	j->nframes = n < BURST ? BURST : n / BURST * BURST;
	snprintf(why, GOAL_TEXT, "the classifier cannot be made");
	return pattern(j, why) && xk_flowtab_new(&j->tab, 1) == XK_OK &&
		xk_classifier_new(&j->c, kind, &j->pat, j->tab, why, GOAL_TEXT) == XK_OK && bind_all(j, n);
}

static double stretch(struct job *j, unsigned *lost)
{
	struct xk_run run[BURST];
	double t = cpu_now();

	xk_rcu_read_lock();
	for (unsigned i = 0, from = 0; i < STRETCH; i++) {
		unsigned nruns = xk_classify_runs(j->c, j->m + from, BURST, run), at = 0;

		for (unsigned r = 0; r < nruns; at += run[r++].n)
			*lost += run[r].flow == NULL;
		*lost += at != BURST;
		from = from + BURST < j->nframes ? from + BURST : 0;
	}
	xk_rcu_read_unlock();
	return (cpu_now() - t) / (STRETCH * BURST);
}

static enum goal_fault best(struct goals *g, unsigned n, double *v, char *why)
{
	static struct job j;
	double until = cpu_now() + (double)g->time / 4, t;
	bool good = begin(&j, n, "native", why);
	unsigned lost = 0;

	*v = 1e9;
	while (good && (*v == 1e9 || cpu_now() < until)) {
		t = stretch(&j, &lost);
		*v = t < *v ? t : *v;
	}
	end(&j);
	if (lost != 0)
		snprintf(why, GOAL_TEXT, "%u frames without their connection", lost);
	return good && lost == 0 ? SIDE_OK : SIDE_FAILED;
}

enum goal_fault side_native(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return best(g, s->flows == 0 ? 1 : s->flows < FLOWS ? s->flows : FLOWS, v, why);
}
