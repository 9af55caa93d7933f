/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_rig.c - the stacks that are measured: graphs/bench/affinity.lua, brought up and never
 * started, so that a message is worked on when and where vp-bench wants it.
 *
 * Seven graphs: the receive and the send side of independent stacks, and the receive side of one stack with locks,
 * with one stream and with two in turn; the last also with a stream for each processor.
 * Invariant: a unit is one message; one that is not is counted, and its time is not used.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench.h"

#define THREAD_STACK ((size_t)256 << 10)
#define WARM         2000u       /* messages of each stack before anything is timed */

const char *const aff_side_name[] = { "receive", "send", "locking" };
static const char *const carries[] = { "same", "turn", "apart" };

static bool has_variant(enum aff_side s, unsigned v) { return v <= AFF_TURN || s == AFF_LOCKING; }

static const char *graph_file(void)
{
	static char path[PATH_MAX];

	xk_near_graphs("bench/affinity.lua", path, sizeof path);
	return path;
}

/* ---- a message ---------------------------------------------------------------------------- */

static bool one(struct xk_vp *vp)
{
	const struct xk_lock_ops *ops = vp->set->arch.lock;
	unsigned n;

	xk_lock_take(ops, &vp->lock, &vp->lockstat);
	xk_vp_enter_idle(vp);
	n = xk_vp_unit(vp, 1);
	xk_vp_leave_idle(vp);
	xk_lock_drop(ops, &vp->lock, &vp->lockstat);
	return n == 1;
}

/* Nothing of r is written, or its lines would move with the messages. */
XK_NOINLINE void aff_message(struct aff_rig *r, struct xk_vp *vp)
{
	if (XK_UNLIKELY(!one(vp)))
		r->misfits++;
}

/* No address of a thread-local variable may live across the switch: what needs them is a call. */
static void thread_main(void *arg)
{
	struct aff_rig *r = arg;

	for (;;) {
		aff_message(r, r->thread.vp);
		xk_fiber_switch(&r->thread.fiber, r->thread.here);
	}
}

XK_NOINLINE void aff_message_on_thread(struct aff_rig *r, struct xk_vp *vp)
{
	struct xk_fiber here = { 0 };

	r->thread.vp = vp;
	r->thread.here = &here;
	xk_fiber_switch(&here, &r->thread.fiber);
}

/* ---- up and down ---------------------------------------------------------------------------- */

static int load(struct xk_spec **s, struct xk_graph **g, enum aff_side side, enum aff_variant v, size_t size,
		struct xk_errs *e)
{
	char arg[5][40];
	const char *args[] = { arg[0], arg[1], arg[2], arg[3], arg[4] };
	struct xk_compose_opts opts = { .args = args, .nargs = 5 };
	int err;

	snprintf(arg[0], sizeof arg[0], "side=%s", aff_side_name[side]);
	snprintf(arg[1], sizeof arg[1], "streams=%u", v == AFF_ONE ? 1u : 2u);
	snprintf(arg[2], sizeof arg[2], "size=%zu", size);
	snprintf(arg[3], sizeof arg[3], "stacks=%u", (unsigned)AFF_STACKS);
	snprintf(arg[4], sizeof arg[4], "carry=%s", carries[v]);
	err = xk_spec_load(s, graph_file(), &opts, e);
	if (err == XK_OK)
		err = xk_spec_check(*s, e, NULL);
	if (err == XK_OK)
		err = xk_spec_build(*s, g, e);
	return err == XK_OK ? xk_graph_up(*g, e) : err;
}

static bool open_graphs(struct aff_rig *r, size_t size, char *why)
{
	struct xk_errs *e = xk_errs_new();
	int err = e != NULL ? XK_OK : XK_E_NOMEM;

	for (unsigned i = 0; i < AFF_SIDES * AFF_VARIANTS && err == XK_OK; i++) {
		enum aff_side side = i / AFF_VARIANTS;
		enum aff_variant v = i % AFF_VARIANTS;

		if (!has_variant(side, v))
			continue;
		err = load(&r->graph[side][v].spec, &r->graph[side][v].g, side, v, size, e);
		if (err != XK_OK && e != NULL)
			xk_spec_print_errors(stderr, r->graph[side][v].spec, e, NULL);
	}
	if (err != XK_OK)
		snprintf(why, AFF_TEXT, "%.200s cannot be brought up: %s", graph_file(), xk_strerror(err));
	if (e != NULL)
		xk_errs_free(e);
	return err == XK_OK;
}

/* Connections are open and caches of sessions filled: from then on a unit is a message. */
static bool warm_one(struct aff_rig *r, enum aff_side side, struct xk_vp *vp, char *why)
{
	uint64_t before;

	for (unsigned k = 0; k < WARM; k++)
		aff_message(r, vp);
	before = r->misfits;
	for (unsigned k = 0; k < WARM; k++)
		aff_message(r, vp);
	if (r->misfits - before <= WARM / 100)
		return true;
	snprintf(why, AFF_TEXT, "%.200s side=%s: %u of %u units were not one message", graph_file(), aff_side_name[side],
		 (unsigned)(r->misfits - before), WARM);
	return false;
}

static bool warm(struct aff_rig *r, char *why)
{
	bool good = true;

	for (unsigned i = 0; i < AFF_SIDES * AFF_VARIANTS && good; i++) {
		enum aff_side side = i / AFF_VARIANTS;
		enum aff_variant v = i % AFF_VARIANTS;

		for (unsigned k = 0; good && side == AFF_LOCKING && k < 2; k++)
			good = warm_one(r, side, aff_io(r, v, k), why);
		for (unsigned k = 0; good && side != AFF_LOCKING && has_variant(side, v) && k < AFF_STACKS; k++)
			good = warm_one(r, side, aff_vp(r, side, v, k), why);
	}
	r->misfits = 0;
	return good;
}

static void open_thread(struct aff_rig *r)
{
	if (!xk_fiber_available() || (r->thread.mem = calloc(1, THREAD_STACK)) == NULL)
		return;
	xk_fiber_init(&r->thread.fiber, r->thread.mem, THREAD_STACK, thread_main, r);
	r->threads = true;
}

bool aff_rig_open(struct aff_rig *r, size_t size, size_t walk, char *why)
{
	memset(r, 0, sizeof *r);
	xk_lock_adaptive.init(&r->lock);
	xk_rcu_register();
	(void)aff_ticks_of_ns();
	if (!aff_caches_init(&r->caches, walk)) {
		snprintf(why, AFF_TEXT, "no memory to walk");
		return false;
	}
	open_thread(r);
	if (!open_graphs(r, size, why) || !warm(r, why))
		return false;
	aff_pair_open(&r->pair, r->cpu, r->why_one);
	return true;
}

void aff_rig_close(struct aff_rig *r)
{
	aff_pair_close(r->pair);
	for (unsigned i = 0; i < AFF_SIDES * AFF_VARIANTS; i++) {
		if (r->graph[i / AFF_VARIANTS][i % AFF_VARIANTS].g != NULL)
			(void)xk_graph_free(r->graph[i / AFF_VARIANTS][i % AFF_VARIANTS].g);
		xk_spec_free(r->graph[i / AFF_VARIANTS][i % AFF_VARIANTS].spec);
	}
	if (r->threads)
		xk_fiber_fini(&r->thread.fiber);
	free(r->thread.mem);
	aff_caches_fini(&r->caches);
	xk_lock_adaptive.fini(&r->lock);
	xk_rcu_unregister();
}
