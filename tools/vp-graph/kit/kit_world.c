/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_world.c - a scene, built, run and taken down, and what is left of it.
 *
 * Invariant: after kit_down there are as many blocks as before kit_build, or that is a finding.
 */
#include "tools/vp-graph/kit/kit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/run/xk_run.h"
#include "runtime/sync/xk_sync.h"
#include "tools/vp-graph/kit/kit_priv.h"

#define VIRTUAL_TIME (120 * XK_SEC)      /* for applications to finish in */
#define REAL_TIME    (60 * XK_SEC)
#define ENDLESS      (2 * XK_MS)
#define REST         (40 * 60 * XK_SEC)  /* lingering, idle and TIME-WAIT are minutes */

const char *kit_error(const struct kit_world *w)
{
	static char text[KIT_TEXT];
	const char *file;
	int line, col;

	if (w->e == NULL || xk_errs_count(w->e) == 0)
		return "";
	snprintf(text, sizeof text, "%s", xk_errs_text(w->e, 0, &file, &line, &col));
	return text;
}

/* ---- up ------------------------------------------------------------------------------------- */

/* Arguments: those that the scene need not have come first. */
static unsigned offer(const struct kit_how *how, char own[4][32], const char **arg)
{
	unsigned n = 0;

	if (how->probes)
		snprintf(own[n++], 32, "apps=probe");
	if (how->conns != 0)
		snprintf(own[n++], 32, "conns=%u", how->conns);
	if (how->count != 0)
		snprintf(own[n++], 32, "count=%u", how->count);
	if (how->size != 0)
		snprintf(own[n++], 32, "size=%u", how->size);
	for (unsigned i = 0; i < n; i++)
		arg[i] = own[i];
	return n;
}

static void tighten(struct xk_plan *p)
{
	p->arch.burst = 1;
	p->arch.quantum = 1;
	if (p->arch.domain == XK_DOMAIN_LAYER) {
		p->arch.high = 1;
		p->arch.low = 0;
	}
}

/* Load, check: what a clause of failing memory has no business in. */
static bool load(struct kit_world *w, const struct kit_how *how)
{
	const char *arg[KIT_ARGS + 4];
	char own[4][32];
	unsigned offered = offer(how, own, arg);
	struct xk_compose_opts o = { .table = kit_table(), .args = arg, .noffered = offered,
				     .nargs = offered + w->k->narg, .path = w->k->o->path, .unsafe = w->k->o->unsafe };
	char *text = kit_text_of(w->k, how);
	int err;

	if (text == NULL)
		return false;
	memcpy(arg + offered, w->k->arg, w->k->narg * sizeof *arg);
	err = xk_spec_load_text(&w->s, w->k->file, text, strlen(text), &o, w->e);
	free(text);
	if (err != XK_OK || xk_spec_check(w->s, w->e, NULL) != XK_OK)
		return false;
	if (xk_spec_plan(w->s) == NULL) {
		xk_errs_add(w->e, w->k->file, 0, 0, "is no graph");
		return false;
	}
	xk_spec_plan(w->s)->seed = w->k->seed;
	xk_spec_plan(w->s)->seed_given = true;
	if (how->tight)
		tighten(xk_spec_plan(w->s));
	return xk_plan_check(xk_spec_plan(w->s), w->e) == XK_OK;
}

bool kit_build(struct kit_world *w, struct kit *k, const struct kit_how *how)
{
	*w = (struct kit_world){ .k = k, .live = xk_alloc_live() };
	w->e = xk_errs_new();
	return w->e != NULL && load(w, how) && xk_spec_build(w->s, &w->g, w->e) == XK_OK;
}

bool kit_up(struct kit_world *w)
{
	for (unsigned i = 0; i < w->g->nnodes; i++)
		w->g->node[i]->log.level = 0;
	w->err = xk_graph_up(w->g, w->e);
	w->is_up = w->err == XK_OK;
	return w->is_up;
}

bool kit_start(struct kit_world *w, struct kit *k, const struct kit_how *how)
{
	if (kit_build(w, k, how) && kit_up(w))
		return true;
	kit_fail(k, "does not start: %s", kit_error(w));
	return false;
}

/* ---- down ------------------------------------------------------------------------------------ */

static uint64_t astray(const struct kit_world *w)
{
	uint64_t n = 0;

	for (unsigned i = 0; w->g != NULL && w->is_up && i < w->g->vps->nall; i++)
		n += xk_counter_read(w->g->vps->all[i]->wrong_vp);
	return n;
}

static void give_back(struct kit_world *w, uint64_t lost)
{
	int64_t leaked = w->g != NULL ? (int64_t)(xk_graph_free(w->g) - lost) : 0, blocks;

	if (w->s != NULL)
		xk_spec_free(w->s);
	xk_errs_free(w->e);
	xk_rcu_barrier();
	blocks = (int64_t)(xk_alloc_live() - w->live);
	if (leaked < 0)
		kit_fail(w->k, "%lld buffers were given back more than once", (long long)-leaked);
	if (leaked > 0)
		kit_fail(w->k, "%lld buffers or sessions were not given back", (long long)leaked);
	if (blocks != 0)
		kit_fail(w->k, "%lld blocks of memory were not given back", (long long)blocks);
	w->g = NULL;
}

void kit_down(struct kit_world *w)
{
	uint64_t lost = astray(w);

	if (lost != 0)
		kit_fail(w->k, "%llu messages came to another virtual processor than their session's", (unsigned long long)lost);
	give_back(w, lost);
}

/* ---- looking ------------------------------------------------------------------------------------- */

struct xk_node *kit_node(const struct kit_world *w, unsigned i)
{
	for (unsigned j = 0; j < w->g->nnodes; j++)
		if (w->g->node[j]->proto == w->k->proto && i-- == 0)
			return w->g->node[j];
	return NULL;
}

uint64_t kit_sessions(const struct xk_node *n)
{
	uint64_t sum = 0;

	for (unsigned v = 0; v < n->graph->vps->nvps; v++)
		sum += xk_rep_sessions(n->rep[v]);
	return sum;
}

int64_t kit_buffers(const struct kit_world *w)
{
	struct xk_mem_stats st[XK_MEM_CLASSES];
	int64_t out = 0;

	xk_mempool_stats(w->g->vps->pool, st);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		out += (int64_t)st[c].outstanding;
	return out;
}

static uint64_t counted(const struct xk_node *n)
{
	uint64_t sum = 0;

	for (unsigned v = 0; v < n->graph->vps->nvps; v++) {
		sum += xk_counter_read(n->rep[v]->npush) + xk_counter_read(n->rep[v]->npop);
		for (unsigned c = 0; c < XK_COUNTS_MAX; c++)
			sum += xk_counter_read(n->rep[v]->count[c]);
	}
	return sum;
}

static bool is_below(const struct xk_node *n, const struct xk_node *above)
{
	for (unsigned i = 0; i < above->ndown; i++)
		if (above->down[i] == n)
			return true;
	return false;
}

/* Messages through nodes under test; through those around them, where they let sessions by, or have none, and count
 * nothing. */
static uint64_t passed(const struct kit_world *w)
{
	struct xk_node *n;
	uint64_t sum = 0;

	for (unsigned i = 0; (n = kit_node(w, i)) != NULL; i++) {
		sum += counted(n);
		for (unsigned j = 0; n->proto->sess_size == 0 && n->proto->offers != NULL && j < w->g->nnodes; j++)
			if (is_below(n, w->g->node[j]) || is_below(w->g->node[j], n))
				sum += counted(w->g->node[j]);
	}
	return sum;
}

/* The count of that name of node "asks", UINT64_MAX: there is none. */
static uint64_t count_of(const struct xk_node *n, const char *name)
{
	uint64_t sum = 0;

	for (unsigned c = 0; n->proto->counts != NULL && n->proto->counts[c] != NULL; c++)
		if (strcmp(n->proto->counts[c], name) == 0) {
			for (unsigned v = 0; v < n->graph->vps->nvps; v++)
				sum += xk_counter_read(n->rep[v]->count[c]);
			return sum;
		}
	return UINT64_MAX;
}

/* What was sent and what came back, where the kit's own node asks. */
static bool answered(const struct kit_world *w)
{
	const struct xk_node *n = xk_graph_find(w->g, "asks");
	bool stream;
	uint64_t sent, back;

	if (!w->k->is_made || n == NULL || n->proto->counts == NULL || w->k->proto->offers == NULL)
		return true;
	stream = count_of(n, "answers") == UINT64_MAX;
	sent = count_of(n, stream ? "bytes" : "messages");
	back = count_of(n, stream ? "received_bytes" : "answers");
	if (sent == back)
		return true;
	kit_fail(w->k, "of %llu %s %llu were answered", (unsigned long long)sent, stream ? "bytes" : "messages",
		 (unsigned long long)back);
	return false;
}

/* ---- time ------------------------------------------------------------------------------------------ */

/* An application that does not wait for answers may be done before the first message has come. */
static bool comes_through(const struct kit_world *w)
{
	const struct timespec ten_ms = { 0, 10000000 };

	for (unsigned i = 0; passed(w) == 0 && !w->g->vps->clock.is_virtual && i < 1000; i++)
		(void)nanosleep(&ten_ms, NULL);
	return passed(w) != 0;
}

bool kit_talk(struct kit_world *w)
{
	xk_ns said = xk_spec_plan(w->s)->duration, most = w->g->vps->clock.is_virtual ? VIRTUAL_TIME : REAL_TIME;
	struct xk_run_opts o = { .stop_fd = -1, .ask_fd = -1,
				 .duration = w->g->napps != 0 ? most : said != 0 ? said : 100 * XK_MS };
	struct xk_run_result r;
	enum xk_run_end end;

	if (xk_run(w->g, &o, &r, w->e) != XK_OK) {
		kit_fail(w->k, "does not run: %s", kit_error(w));
		return false;
	}
	end = r.end;
	xk_run_fini(&r);
	for (unsigned i = 0; i < w->g->nnodes; i++)
		if (xk_node_failure(w->g->node[i]) != NULL)
			kit_fail(w->k, "%s: %s", w->g->node[i]->name, xk_node_failure(w->g->node[i]));
	if (w->g->napps != 0 && end != XK_RUN_FINISHED)
		kit_fail(w->k, "%u of %u applications finished, then: %s", xk_load_relaxed(&w->g->ndone), w->g->napps,
			 xk_run_end_text(end));
	else if (!comes_through(w))
		kit_fail(w->k, "no message went through it");
	return !kit_found_any(w->k) && answered(w);
}

/* Who sends as fast as he can and without end needs but little time. */
static xk_ns enough(const struct kit_world *w, xk_ns dt)
{
	return w->g->napps == 0 && !kit_has_probes(w) && dt > ENDLESS ? ENDLESS : dt;
}

void kit_pass_time(struct kit_world *w, xk_ns dt)
{
	xk_ns until = xk_clock_read(&w->g->vps->clock) + enough(w, dt);

	if (!xk_vpset_run_virtual(w->g->vps, until) && xk_clock_read(&w->g->vps->clock) < until)
		xk_clock_advance(&w->g->vps->clock, until);
}

bool kit_ends(const struct kit_world *w)
{
	return kit_has_probes(w) || (w->g->napps != 0 && xk_load_relaxed(&w->g->ndone) == w->g->napps);
}

void kit_rest(struct kit_world *w)
{
	kit_pass_time(w, REST);
}
