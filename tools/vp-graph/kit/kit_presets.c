/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_presets.c - clauses: it works under every threading preset, and where threads stand still between any two hops.
 *
 * What the check of a graph refuses, or the start as not supported, is counted: there is nothing to be tried then.
 */
#include <string.h>
#include <time.h>

#include "runtime/base/xk_rand.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_capture.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define CONNS 4u

/* As a graph file calls the row, with few virtual processors. */
static void call(const struct xk_arch *a, char *buf, size_t n)
{
	if (a->domain == XK_DOMAIN_LAYER || (a->vps >= 0 && a->vps <= 1) || a->vps == XK_VPS_PER_WORKER)
		snprintf(buf, n, "%s {}", a->name);
	else
		snprintf(buf, n, "%s { vps = %u }", a->name, a->vps == XK_VPS_PER_CONN ? CONNS : 8u);
}

struct counts { unsigned ran, refused; char why[200]; };

/* ---- stalls ------------------------------------------------------------------------------------------ */

struct staller { struct xk_capture c; uint64_t seed; uint64_t seen; };

/* One message in four waits, up to a fifth of a millisecond, right before or behind the node. */
static void stall(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct staller *s = xk_container_of(c, struct staller, c);
	struct xk_rand r;

	(void)now;
	(void)m;
	(void)down;
	xk_rand_init(&r, s->seed, xk_atomic_add(&s->seen, 1));
	if (xk_rand_below(&r, 4) == 0) {
		const struct timespec t = { 0, (long)(1000 * (1 + xk_rand_below(&r, 200))) };

		(void)nanosleep(&t, NULL);
	}
}

/* Around every node under test, and around those over it. */
static void stall_at(struct kit_world *w, struct staller *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->g->nnodes && n < 16; i++) {
		struct xk_node *x = w->g->node[i];
		bool wanted = x->proto == w->k->proto;

		for (unsigned d = 0; d < x->ndown; d++)
			wanted = wanted || x->down[d]->proto == w->k->proto;
		if (!wanted)
			continue;
		s[n] = (struct staller){ .c.fn = stall, .seed = w->k->seed + n };
		xk_capture_attach(x, &s[n++].c);
	}
}

/* ---- one of them ----------------------------------------------------------------------------------------- */

static void run(struct kit *k, const struct kit_how *how, bool stalls, struct counts *c)
{
	struct staller s[16];
	struct kit_world w;

	kit_at(k, "%s%s", how->preset, how->threads || k->real ? ", with threads" : ", in virtual time");
	if (!kit_build(&w, k, how)) {
		c->refused++;
		snprintf(c->why, sizeof c->why, "%s", kit_error(&w));
		kit_down(&w);
		return;
	}
	if (stalls)
		stall_at(&w, s);
	if (kit_up(&w))
		(void)kit_talk(&w);
	else if (w.err != XK_E_NOTSUP || kit_error(&w)[0] == '\0')
		kit_fail(k, "does not start: %s", kit_error(&w));
	else
		snprintf(c->why, sizeof c->why, "%s", kit_error(&w));
	c->ran += w.is_up;
	c->refused += !w.is_up;
	kit_down(&w);
	if (k->found->state == KIT_FAIL)
		kit_more(k, " (%s)", k->found->at);
}

/* The first thing that each build is refused for, when all are. */
static bool none(struct kit *k, const struct counts *c)
{
	if (c->ran != 0 || kit_found_any(k))
		return false;
	kit_skip(k, "no preset as it stands is taken: %s", c->why);
	return true;
}

void kit_clause_presets(struct kit *k)
{
	struct counts c = { 0 };
	char preset[64];

	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		for (unsigned real = k->real; real < 2 && !kit_found_any(k); real++) {
			struct kit_how how = { .preset = preset, .conns = CONNS, .count = 10, .threads = real == 1 };

			call(a, preset, sizeof preset);
			run(k, &how, false, &c);
		}
	if (!none(k, &c))
		kit_pass(k, "%u runs%s, %u refused with a reason", c.ran, k->real ? "" : ", virtual time and threads", c.refused);
}

void kit_clause_stalls(struct kit *k)
{
	static const char *const presets[] = { "vppc { vps = 4 }", "tpc { vps = 4 }", "connp_l { vps = 4 }", "lp {}",
					       "msgp { vps = 4 }", "mp { vps = 4 }", "ips {}" };
	struct counts c = { 0 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(presets) && !kit_found_any(k); i++) {
		struct kit_how how = { .preset = presets[i], .conns = CONNS, .count = 10, .threads = true, .tight = true };

		run(k, &how, true, &c);
	}
	if (!none(k, &c))
		kit_pass(k, "%u runs, short queues, one message in four waits%s", c.ran,
			 xk_stress_build() ? "; a stress build" : "");
}
