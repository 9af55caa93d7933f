/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_affinity_rig.c - the stacks that are measured: graphs/bench/affinity.lua, brought up and never
 * started, so that a message is worked on when and where vp-bench wants it.
 *
 * Four graphs: the receive and the send side, with one stream in a stack and with two in turn.
 * Invariant: a unit is one message; one that is not is counted, and its time is not used.
 */
#include "tools/vp-bench/bench_affinity.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/vp-bench/bench.h"

#define THREAD_STACK ((size_t)256 << 10)
#define WARM         2000u       /* messages of each stack before anything is timed */

const char *const aff_side_name[] = { "receive", "send" };

static const char *graph_file(void)
{
	static const char here[] = "graphs/bench/affinity.lua";

	return access(here, R_OK) == 0 ? here : BENCH_GRAPHS "/affinity.lua";
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

	xk_fiber_own(&here);
	r->thread.vp = vp;
	r->thread.here = &here;
	xk_fiber_switch(&here, &r->thread.fiber);
}

/* ---- up and down ---------------------------------------------------------------------------- */

static int load(struct xk_spec **s, struct xk_graph **g, enum aff_side side, unsigned streams, size_t size,
		struct xk_errs *e)
{
	char arg[4][40];
	const char *args[] = { arg[0], arg[1], arg[2], arg[3] };
	struct xk_compose_opts opts = { .args = args, .nargs = 4 };
	int err;

	snprintf(arg[0], sizeof arg[0], "side=%s", aff_side_name[side]);
	snprintf(arg[1], sizeof arg[1], "streams=%u", streams);
	snprintf(arg[2], sizeof arg[2], "size=%zu", size);
	snprintf(arg[3], sizeof arg[3], "stacks=%u", (unsigned)AFF_STACKS);
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

	for (unsigned i = 0; i < AFF_SIDES * AFF_STREAMS && err == XK_OK; i++) {
		enum aff_side side = i / AFF_STREAMS;
		unsigned streams = 1 + i % AFF_STREAMS;

		err = load(&r->graph[side][streams - 1].spec, &r->graph[side][streams - 1].g, side, streams, size, e);
		if (err != XK_OK && e != NULL)
			xk_spec_print_errors(stderr, r->graph[side][streams - 1].spec, e, NULL);
	}
	if (err != XK_OK)
		snprintf(why, AFF_TEXT, "%s cannot be brought up: %s", graph_file(), xk_strerror(err));
	if (e != NULL)
		xk_errs_free(e);
	return err == XK_OK;
}

/* Connections are open and caches of sessions filled: from then on a unit is a message. */
static bool warm(struct aff_rig *r, char *why)
{
	for (unsigned i = 0; i < AFF_SIDES * AFF_STREAMS * AFF_STACKS; i++) {
		struct xk_vp *vp = aff_vp(r, i / AFF_STACKS / AFF_STREAMS, 1 + i / AFF_STACKS % AFF_STREAMS, i % AFF_STACKS);
		uint64_t before;

		for (unsigned k = 0; k < WARM; k++)
			aff_message(r, vp);
		before = r->misfits;
		for (unsigned k = 0; k < WARM; k++)
			aff_message(r, vp);
		if (r->misfits - before <= WARM / 100)
			continue;
		snprintf(why, AFF_TEXT, "%s side=%s: %u of %u units were not one message", graph_file(),
			 aff_side_name[i / AFF_STACKS / AFF_STREAMS], (unsigned)(r->misfits - before), WARM);
		return false;
	}
	r->misfits = 0;
	return true;
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
	for (unsigned i = 0; i < AFF_SIDES * AFF_STREAMS; i++) {
		if (r->graph[i / AFF_STREAMS][i % AFF_STREAMS].g != NULL)
			(void)xk_graph_free(r->graph[i / AFF_STREAMS][i % AFF_STREAMS].g);
		xk_spec_free(r->graph[i / AFF_STREAMS][i % AFF_STREAMS].spec);
	}
	if (r->threads)
		xk_fiber_fini(&r->thread.fiber);
	free(r->thread.mem);
	aff_caches_fini(&r->caches);
	xk_lock_adaptive.fini(&r->lock);
	xk_rcu_unregister();
}
