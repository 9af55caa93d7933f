/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_warn.c - what is said of a run in words: why it ended, and warnings, what makes its figures weak.
 *
 * A run may say little of the graph and much of what happened to it: messages lost before
 * a neighbour was known, and a client that waited a second for its timeout; processors that
 * another program had.  Each of these is seen in the counters.
 */
#include "runtime/run/run_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STARVED 0.1              /* of the processor time that was there */
#define NAMED   3u               /* reasons of drops that a sentence names */

typedef unsigned long long ull;

struct warnings { char (*text)[XK_RUN_WARNING_LEN]; unsigned n; };

static XK_PRINTF(2, 3) void add(struct warnings *d, const char *fmt, ...)
{
	va_list ap;

	if (d->n == XK_RUN_WARNINGS)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(d->text[d->n++], XK_RUN_WARNING_LEN, fmt, ap);
	va_end(ap);
}

/* ---- waited for a timeout ------------------------------------------------------------- */

/* Counters of those that wait: of messages that were sent again, or given up, after a time. */
static const char *const timeouts[] = { "timeouts", "unanswered" };

static uint64_t timed_out(const struct xk_run_node *n)
{
	const char *const *name = n->node->proto->counts;

	for (unsigned i = 0; name != NULL && i < XK_COUNTS_MAX && name[i] != NULL; i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(timeouts); k++)
			if (strcmp(name[i], timeouts[k]) == 0)
				return n->all.count[i];
	return 0;
}

static uint64_t dropped(const struct xk_run_node *n, unsigned reason)
{
	return n->all.drop[reason] + n->dropped_before[reason];
}

struct most { const struct xk_run_node *n; unsigned reason; };

/* The most frequent reason of which there are fewer than of the last one, or as many and it comes
 * later; false: there is no more. */
static bool next_most(const struct xk_run_result *r, struct most *m)
{
	uint64_t best = 0, limit = m->n != NULL ? dropped(m->n, m->reason) : UINT64_MAX;
	struct most found = { NULL, 0 };
	bool after = m->n == NULL;

	for (unsigned i = 0; i < r->nnodes; i++)
		for (unsigned k = 0; k < XK_DROPS_MAX; k++) {
			uint64_t v = dropped(&r->node[i], k);

			if (v > best && (v < limit || (v == limit && after))) {
				best = v;
				found = (struct most){ &r->node[i], k };
			}
			after |= m->n == &r->node[i] && m->reason == k;
		}
	*m = found;
	return found.n != NULL;
}

/* "arp2 (queue_full), eth (short)"; false: nothing was dropped. */
static bool where_dropped(const struct xk_run_result *r, char *buf, size_t len)
{
	struct most m = { NULL, 0 };
	size_t used = 0;
	unsigned n = 0;

	buf[0] = '\0';
	while (next_most(r, &m)) {
		const char *name = xk_run_drop_name(m.n->node, m.reason);

		if (n++ < NAMED && used < len)
			used += (size_t)snprintf(buf + used, len - used, "%s%s (%s)", n > 1 ? ", " : "", m.n->node->name,
						 name != NULL ? name : "?");
	}
	if (n > NAMED && used < len)
		(void)snprintf(buf + used, len - used, " and %u more", n - NAMED);
	return n != 0;
}

static void waited(struct warnings *d, const struct xk_run_result *r)
{
	char where[192];

	if (!where_dropped(r, where, sizeof where))
		return;
	for (unsigned i = r->nnodes; i-- > 0;) {
		uint64_t n = timed_out(&r->node[i]);

		if (n != 0)
			add(d, "%llu message%s of %s waited for a timeout after drops at %s", (ull)n, n == 1 ? "" : "s",
			    r->node[i].node->name, where);
	}
}

/* ---- had no processor -------------------------------------------------------------------- */

double xk_run_starved(const struct xk_run_result *r)
{
	const struct xk_vpset *set = r->graph->vps;
	unsigned cpus = (unsigned)__builtin_popcountll(set->arch.cpus), n = r->nworkers < cpus ? r->nworkers : cpus;
	double there = (double)r->wall_ns * n, idle = there - (double)r->sched.run_ns, ready = (double)r->sched.delay_ns;

	if (r->is_virtual || !r->sched.known || there <= 0 || idle <= 0)
		return 0;
	return (ready < idle ? ready : idle) / there;
}

static void starved(struct warnings *d, const struct xk_run_result *r)
{
	double share = xk_run_starved(r), ms = (double)r->wall_ns / 1e6;

	if (share > STARVED)
		add(d, "the workers were ready and did not run for %.0f of %.0f ms: others had their processors", share * ms, ms);
}

static void shared(struct warnings *d, const struct xk_run_result *r)
{
	const struct xk_vpset *set = r->graph->vps;
	char list[192];
	size_t used = 0;

	for (unsigned i = 0; i < 64; i++)
		if (set->shared_cpus >> i & 1 && used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, "%s%u", used ? "," : "", i);
	if (set->shared_cpus != 0)
		add(d, "workers of process %d are pinned to processor%s %s, too: --cpus gives others", (int)set->shared_with,
		    __builtin_popcountll(set->shared_cpus) == 1 ? "" : "s", list);
}

/* ---- came faster than they were taken -------------------------------------------------- */

static void overrun(struct warnings *d, const struct xk_run_result *r)
{
	if (r->times.grows)
		add(d, "messages came faster than they were taken: at the end they were %.1f ms later than %.0f ms before, "
		       "so there is no steady state and neither waiting nor delay has a mean", (double)r->times.by / 1e6,
		    (double)r->measured_ns / 1e6);
}

unsigned xk_run_warnings(const struct xk_run_result *r, char text[XK_RUN_WARNINGS][XK_RUN_WARNING_LEN])
{
	struct warnings d = { text, 0 };

	overrun(&d, r);
	waited(&d, r);
	starved(&d, r);
	if (!r->is_virtual)
		shared(&d, r);
	return d.n;
}

const char *xk_run_end_text(enum xk_run_end e)
{
	static const char *const text[] = {
		[XK_RUN_DURATION] = "duration elapsed", [XK_RUN_FINISHED] = "workload complete",
		[XK_RUN_STOPPED] = "stopped", [XK_RUN_MESSAGES] = "the messages were done",
		[XK_RUN_IDLE] = "nothing was left to happen", [XK_RUN_CUT_OFF] = "every device is gone",
		[XK_RUN_GAVE_UP] = "a node gave up", [XK_RUN_DRY] = "memory had run out", [XK_RUN_GOES_ON] = "so far",
	};

	return text[e];
}

const char *xk_run_drop_name(const struct xk_node *n, unsigned i)
{
	return xk_drop_name(n->proto, i);
}
