/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_advise_rules.c - the rules: S1 Schmidt and Suda 5.2, S2 Yates and others 5, S3 Willmann and others 5.
 *
 * Each rule is a function from the figures to whether it speaks and its points; the table names where it stands
 * in its paper.  Points: 3 a recommendation that names the case at hand, 2 one that is
 * general, 1 a tendency; below zero speaks against.  One processor outweighs all others,
 * and so does the goal "simple": S1 puts it before speed.
 */
#include "tools/vp-bench/bench_advise.h"

#include <math.h>
#include <string.h>

#define UNEVEN     4.0           /* the busiest has so many times the mean: "highly disproportional" */
#define FEW        2.0           /* so many times fewer than processors: "<<"; S1's figure 28 crosses at half */
#define THREADS    1024.0        /* kernel threads that are reasonable (the default of "per connection" ends here) */
#define CALLED     0.05          /* units in callers' threads per message from which callers matter */
#define LONG       1024.0        /* bytes from which moving a payload between caches costs more than the message */

const char *const advise_goals[] = { "speed", "fair", "simple", NULL };
const char *const advise_presets[ADVISE_PRESETS] = { "up", "ppc", "vppc", "tpc", "mp", "lp", "connp_t", "connp_l" };

#define SAY(r, ...) snprintf((r)->input, sizeof (r)->input, __VA_ARGS__)

/* No connection is so busy that its processor would have more than an even share of all. */
static bool even(const struct advise_in *in)
{
	return in->skew < UNEVEN || in->top * in->cpus <= 1;
}

static void one_processor(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "%.0f processors", in->cpus);
	r->spoke = in->cpus <= 1;
	r->points[ADVISE_UP] = 10;
}

static void simple(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "goal %s", advise_goals[in->goal]);
	r->spoke = in->goal == ADVISE_SIMPLE;
	r->points[ADVISE_LP] = 8;
}

static void speed(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "goal %s; %.0f ns of a message in each layer, which a hand-over between threads has to be compared with",
	    advise_goals[in->goal], in->layer_ns);
	r->spoke = in->goal != ADVISE_SIMPLE;
	r->points[ADVISE_LP] = -3;
}

static void connections(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "%.0f connections, %.0f processors, the busiest has %.3g times the mean", in->conns, in->cpus, in->skew);
	r->spoke = in->cpus > 1 && in->conns >= in->cpus && even(in);
	r->points[ADVISE_PPC] = r->points[ADVISE_VPPC] = 3;
	r->points[ADVISE_TPC] = r->points[ADVISE_CONNP_L] = 2;
}

static void few_connections(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "%.0f connections, %.0f processors", in->conns, in->cpus);
	r->spoke = in->cpus > 1 && in->conns * FEW <= in->cpus;
	r->points[ADVISE_MP] = 4;
}

static void uneven(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "the busiest connection has %.3g times the mean, %.0f %% of all messages; a processor's even share is %.0f %%",
	    in->skew, 100 * in->top, 100 / in->cpus);
	r->spoke = in->cpus > 1 && !even(in);
	r->points[ADVISE_MP] = 4;
}

static void presentation(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, in->xdr > 0 ? "there is a presentation layer" : "no presentation layer");
	r->spoke = in->xdr > 0 && in->cpus > 1;
	r->points[ADVISE_MP] = 1;
}

static void most_threads(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "goal %s; %.0f connections, up to %.0f threads are reasonable", advise_goals[in->goal], in->conns, THREADS);
	r->spoke = in->goal == ADVISE_SPEED && in->cpus > 1 && in->conns >= in->cpus;
	if (in->conns <= THREADS)
		r->points[ADVISE_TPC] = 2;
	r->points[ADVISE_VPPC] = in->conns <= THREADS ? 1 : 2;
}

static void fair(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "goal %s; %.0f connections, %.0f processors", advise_goals[in->goal], in->conns, in->cpus);
	r->spoke = in->goal == ADVISE_FAIR && in->cpus > 1;
	r->points[ADVISE_VPPC] = 5;
	r->points[ADVISE_PPC] = 1;
	r->points[ADVISE_TPC] = -3;
}

static void callers(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "%.3g units of work per message in callers' own threads", in->called);
	r->spoke = in->cpus > 1 && in->called >= CALLED && in->conns >= in->cpus;
	r->points[ADVISE_CONNP_L] = 4;
	r->points[ADVISE_MP] = -1;
}

static void hand_over(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "goal %s; %.0f ns a message", advise_goals[in->goal], in->ns);
	r->spoke = in->goal != ADVISE_SIMPLE && in->cpus > 1;
	r->points[ADVISE_CONNP_T] = -2;
}

static void locality(struct advise_rule *r, const struct advise_in *in)
{
	SAY(r, "messages of %.0f bytes, %s", in->bytes, isnan(in->copied) ? "copied or not is not known" :
	    in->copied > 0 ? "copied" : "not copied");
	r->spoke = in->cpus > 1 && in->copied > 0 && in->bytes >= LONG && even(in) && in->conns >= in->cpus;
	r->points[ADVISE_PPC] = r->points[ADVISE_VPPC] = 1;
}

static const struct { const char *name, *cite, *says; void (*look)(struct advise_rule *, const struct advise_in *); } rules[] = {
	{ "one-processor", "S3 section 5, second paragraph",
	  "no parallel organisation comes near a perfect speed-up: with one processor there is nothing to win", one_processor },
	{ "simplicity", "S1 section 5.2, first recommendation", "where simplicity matters more than speed: task based", simple },
	{ "speed", "S1 section 5.2, second recommendation", "where speed matters more than simplicity: message based, not by layers",
	  speed },
	{ "connections", "S1 section 5.2, third recommendation",
	  "at least as many connections as processors, at about the same rate: connectional parallelism", connections },
	{ "few-connections", "S1 section 5.2, fourth recommendation (figure 28)",
	  "far fewer connections than processors: message parallelism", few_connections },
	{ "uneven-rates", "S1 section 5.2, fourth recommendation", "highly disproportional rates: message parallelism", uneven },
	{ "presentation", "S1 section 5.1, fourth observation",
	  "message parallelism gains from more processors where there is presentation processing", presentation },
	{ "most-threads", "S2 section 5, second paragraph",
	  "a thread per connection is fastest; where that is too many, virtual processors with the most threads", most_threads },
	{ "fairest", "S2 section 5, third paragraph", "threads equal to processors and connections in turn are fairest", fair },
	{ "callers", "S3 section 5, second paragraph (section 4.3)",
	  "callers' threads do protocol work: connection groups with a lock each need no hand-over", callers },
	{ "hand-over", "S3 section 5, second paragraph (table 3)",
	  "a protocol thread per group pays the scheduler for every request", hand_over },
	{ "locality", "S3 section 4.2 (table 2)", "payload that is copied should stay with the cache it is in", locality },
};
_Static_assert(XK_ARRAY_LEN(rules) == ADVISE_RULES, "as many rules as there is room for");

/* ---- the sum ---------------------------------------------------------------------------- */

static enum advise_preset highest(const struct advise *a, int but)
{
	/* Of equals the one that asks least of the machine. */
	static const enum advise_preset order[] = { ADVISE_VPPC, ADVISE_PPC, ADVISE_UP, ADVISE_CONNP_L, ADVISE_MP, ADVISE_TPC,
						    ADVISE_CONNP_T, ADVISE_LP };
	enum advise_preset best = order[0] == (enum advise_preset)but ? order[1] : order[0];

	for (unsigned i = 0; i < XK_ARRAY_LEN(order); i++)
		if ((int)order[i] != but && a->points[order[i]] > a->points[best])
			best = order[i];
	return best;
}

static void write_line(char *buf, size_t n, enum advise_preset p, const struct advise_in *in)
{
	double vps = in->conns < 1 ? 1 : in->conns > 384 ? 384 : in->conns, workers = in->cpus < vps ? in->cpus : vps;

	if (p == ADVISE_VPPC)
		snprintf(buf, n, "threading = vppc { vps = %.0f, workers = %.0f }", vps, workers);
	else if (p == ADVISE_TPC)
		snprintf(buf, n, "threading = tpc { vps = %.0f }", in->conns < 1 ? 1 : in->conns < THREADS ? in->conns : THREADS);
	else if (p == ADVISE_MP)
		snprintf(buf, n, "threading = mp { carriers = %.0f }", in->cpus < 64 ? in->cpus : 64);
	else if (p == ADVISE_CONNP_L)
		snprintf(buf, n, "threading = connp_l { vps = 128 }");
	else
		snprintf(buf, n, "threading = %s {}", advise_presets[p]);
}

/* Who spoke for another preset and not for the best. */
static void tell_conflict(struct advise *a)
{
	size_t at = 0;

	for (unsigned i = 0; i < a->nrules && at < sizeof a->conflict; i++) {
		const struct advise_rule *r = &a->rule[i];
		unsigned most = 0;

		for (unsigned p = 1; p < ADVISE_PRESETS; p++)
			most = r->points[p] > r->points[most] ? p : most;
		if (r->spoke && r->points[most] > 0 && r->points[most] > r->points[a->best])
			at += (size_t)snprintf(a->conflict + at, sizeof a->conflict - at, "%s%s spoke for %s (%+d, %s %+d)",
					       at ? "; " : "", r->name, advise_presets[most], r->points[most],
					       advise_presets[a->best], r->points[a->best]);
	}
	if (at != 0 && at < sizeof a->conflict)
		snprintf(a->conflict + at, sizeof a->conflict - at, ": overruled, %s has %+d in all and %s %+d",
			 advise_presets[a->best], a->points[a->best], advise_presets[a->next], a->points[a->next]);
}

void advise(struct advise *a, const struct advise_in *in)
{
	*a = (struct advise){ .nrules = XK_ARRAY_LEN(rules) };
	for (unsigned i = 0; i < a->nrules; i++) {
		struct advise_rule *r = &a->rule[i];

		r->name = rules[i].name;
		r->cite = rules[i].cite;
		r->says = rules[i].says;
		rules[i].look(r, in);
		for (unsigned p = 0; r->spoke && p < ADVISE_PRESETS; p++)
			a->points[p] += r->points[p];
	}
	a->best = highest(a, -1);
	a->next = highest(a, (int)a->best);
	write_line(a->line[0], sizeof a->line[0], a->best, in);
	write_line(a->line[1], sizeof a->line[1], a->next, in);
	tell_conflict(a);
}
