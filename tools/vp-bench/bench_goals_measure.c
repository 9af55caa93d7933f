/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_measure.c - measures one goal: pairs of values, in turn, and the
 * ratio of each pair.
 *
 * A pair that noise spoilt is measured again, at most three times as often as
 * asked; so is one on two processors that moved meanwhile.  What the pairs say, and
 * whether the goal holds, is up to goals.lua.
 * Invariant: values of both sides with one index are of one pair.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <signal.h>
#include <string.h>

#include "tools/vp-bench/bench_lua.h"


#define ATTEMPTS   3u

struct pairs {
	double   ours[GOAL_PAIRS], reference[GOAL_PAIRS];
	double   probe[2 * GOAL_PAIRS];
	unsigned n, nprobe;
};

/* ---- one pair ------------------------------------------------------------------------ */

static bool far_away(double ns)
{
	return ns > PROBE_FAR;
}

static enum goal_fault both(struct goals *g, const struct goal *row, bool with_reference, struct pairs *p, char *why)
{
	enum goal_fault err = row->ours.measure(g, &row->ours, &p->ours[p->n], why);

	if (err == SIDE_OK && with_reference)
		err = row->reference.measure(g, &row->reference, &p->reference[p->n], why);
	return err;
}

static enum goal_fault one_pair(struct goals *g, const struct goal *row, bool with_reference, struct pairs *p,
				char *why)
{
	double before = 0, after = 0;
	enum goal_fault err;

	if (row->two_cores)
		before = goal_probe(g->cpu[0], g->cpu[1]);
	err = both(g, row, with_reference, p, why);
	if (err != SIDE_OK)
		return err;
	if (row->two_cores) {
		after = goal_probe(g->cpu[0], g->cpu[1]);
		if (before <= 0 || after <= 0 || far_away(before) != far_away(after)) {
			snprintf(why, GOAL_TEXT, "the processors moved: a round trip of %.0f ns before, %.0f ns after",
				 before, after);
			return SIDE_NOISE;
		}
		p->probe[p->nprobe++] = before;
		p->probe[p->nprobe++] = after;
	}
	p->n++;
	return SIDE_OK;
}

/* ---- the ratio ------------------------------------------------------------------------- */

const char *const goal_verdicts[] = {
	[GOAL_UNMEASURED] = "not measured", [GOAL_HOLDS] = "holds", [GOAL_HOLDS_STRETCH] = "holds+", [GOAL_MISSES] = "misses",
	[GOAL_CANNOT_SAY] = "cannot say",
};

static enum goal_verdict verdict_of(const char *word)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(goal_verdicts); i++)
		if (strcmp(goal_verdicts[i], word) == 0)
			return (enum goal_verdict)i;
	return GOAL_UNMEASURED;
}

static json_t *list_of(const double *v, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, bench_real_json(v[i]));
	return list;
}

static void add_note(struct goal_result *r, const char *text)
{
	size_t n = strlen(r->note);

	if (text != NULL && *text != '\0')
		snprintf(r->note + n, sizeof r->note - n, "%s%s", n ? "; " : "", text);
}

static void ratio(const struct goal *row, const struct pairs *p, struct goal_result *r)
{
	static const char *const sense[] = { [GOAL_TIME] = "time", [GOAL_RATE] = "rate", [GOAL_VALUE] = "value" };
	json_t *args[] = { json_pack("{s:s, s:f, s:f}", "sense", sense[row->sense], "target", row->target, "stretch", row->stretch),
			   list_of(p->ours, p->n), list_of(p->reference, p->n) };
	char why[400];
	json_t *said = bench_lua_call("goals", "ratio", args, 3, why, sizeof why);

	if (said == NULL) {
		add_note(r, why);
	} else {
		r->reference = bench_real(said, "reference");
		r->ratio = bench_real(said, "ratio");
		r->lo = bench_real(said, "lo");
		r->hi = bench_real(said, "hi");
		r->spread = bench_real(said, "spread");
		r->have_ratio = true;
		r->verdict = verdict_of(bench_text(said, "verdict"));
	}
	json_decref(said);
	for (unsigned i = 0; i < XK_ARRAY_LEN(args); i++)
		json_decref(args[i]);
}

static void note_pairs(struct goals *g, const struct pairs *p, struct goal_result *r, const char *why)
{
	char text[GOAL_TEXT + 64];

	if (r->row->two_cores && p->nprobe != 0) {
		r->probe_lo = bench_stat("least", p->probe, p->nprobe);
		r->probe_hi = bench_stat("most", p->probe, p->nprobe);
		snprintf(text, sizeof text, "round trip of a cache line %.0f to %.0f ns (%s)", r->probe_lo, r->probe_hi,
			 far_away(r->probe_lo) ? "far" : far_away(r->probe_hi) ? "near and far" : "near");
		add_note(r, text);
	}
	if (p->n < g->pairs) {
		snprintf(text, sizeof text, "%u of %u pairs: %s", p->n, (unsigned)g->pairs, why);
		add_note(r, text);
	}
}

/* Signals are blocked, and a side that runs no child meets none. */
static bool asked_to_stop(const struct goals *g)
{
	sigset_t set;

	return g->interrupted || (sigpending(&set) == 0 && (sigismember(&set, SIGINT) || sigismember(&set, SIGTERM)));
}

static const char *lacks(struct goals *g, const struct goal_side *s)
{
	return s->lacks_text != NULL ? s->lacks_text : s->lacks != NULL ? s->lacks(g, s) : NULL;
}

/* ---- a goal ------------------------------------------------------------------------------ */

void goal_measure(struct goals *g, const struct goal *row, struct goal_result *r)
{
	static struct pairs p;
	const char *no_ours = lacks(g, &row->ours), *no_reference = lacks(g, &row->reference);
	enum goal_fault err = SIDE_OK;
	char why[GOAL_TEXT] = "";

	memset(r, 0, sizeof *r);
	memset(&p, 0, sizeof p);
	r->row = row;
	add_note(r, no_ours ? no_ours : no_reference);
	add_note(r, row->note);
	for (uint64_t tries = 0; no_ours == NULL && err != SIDE_FAILED && p.n < g->pairs &&
	     tries < ATTEMPTS * g->pairs; tries++) {
		g->interrupted = asked_to_stop(g);
		if (g->interrupted)
			break;
		err = one_pair(g, row, no_reference == NULL, &p, why);
		r->discarded += err == SIDE_NOISE;
	}
	r->pairs = p.n;
	r->have_ours = p.n != 0;
	r->ours = r->have_ours ? bench_stat("median", p.ours, p.n) : 0;
	if (no_ours == NULL)
		note_pairs(g, &p, r, why);
	/* Half of the pairs are no answer to what was asked. */
	if (no_reference != NULL || p.n == 0 || p.n < g->pairs)
		return;
	ratio(row, &p, r);
}
