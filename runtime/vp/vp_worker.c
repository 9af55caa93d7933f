/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_worker.c - a worker: the thread that runs some of the virtual processors.
 *
 * A bitmap says which of its VPs have work.  Each ready VP in turn gets a
 * quantum of messages, its overdraft remembered (deficit round robin), in
 * units between which a borrowed thread may take it.  The clock is read once
 * per round.  With nothing to do a worker spins a little, then sleeps until it
 * is kicked, a timer is due or a device is readable.
 * Invariant: a VP with work has its ready or its kicked bit set, or somebody
 * is inside it who will set it on leaving.
 */
#include "runtime/vp/vp_background.h"
#include "runtime/vp/vp_sim.h"

#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "runtime/sync/xk_sync.h"

#define WORDS(n)      (((n) + 63u) / 64u)
#define POLL_NAP      (50 * XK_US)       /* sleep while a task polls that has no descriptor */
#define MAX_FDS       64u

static void mark_ready(struct xk_worker *w, unsigned i)
{
	w->ready[i / 64] |= 1ull << (i % 64);
}

void xk_worker_kick(struct xk_vp *vp)
{
	struct xk_worker *w = vp->worker;
	unsigned i = vp->slot;

	xk_atomic_or(&w->kicked[i / 64], 1ull << (i % 64));
	xk_store_release(&w->any_kicked, 1);
	xk_event_wake(&w->event);
}

static void take_kicks(struct xk_worker *w)
{
	/* Cleared before the words are read: a kick after that sets it again. */
	(void)xk_atomic_xchg(&w->any_kicked, 0);
	for (unsigned k = 0; k < WORDS(w->nslots); k++)
		if (xk_load_relaxed(&w->kicked[k]) != 0)
			w->ready[k] |= xk_atomic_xchg(&w->kicked[k], 0);
}

/* VPs whose wheel is due become ready; the earliest of the others is noted. */
static void take_timers(struct xk_worker *w)
{
	xk_ns next = XK_NS_NEVER;

	for (unsigned i = 0; i < w->nslots; i++) {
		if (w->slot[i].next <= w->now)
			mark_ready(w, i);
		else if (w->slot[i].next < next)
			next = w->slot[i].next;
	}
	w->next = next;
}

void xk_worker_rest(struct xk_worker *w, unsigned i, bool idle)
{
	struct xk_slot *s = &w->slot[i];

	if (!xk_vp_busy(s->vp))
		w->ready[i / 64] &= ~(1ull << (i % 64));
	s->next = s->vp->worker_next = xk_wheel_next(&s->vp->wheel);
	if (s->next < w->next)
		w->next = s->next;
	if (idle)
		s->deficit = 0;
}

void xk_worker_spare(struct xk_worker *w, unsigned i)
{
	w->ready[i / 64] &= ~(1ull << (i % 64));
	w->slot[i].next = w->slot[i].vp->worker_next = XK_NS_NEVER;
	w->slot[i].deficit = 0;
}

/* One unit under entry `lock`, then what it found to be others'. */
static unsigned locked_unit(struct xk_worker *w, unsigned i)
{
	struct xk_vp *vp = w->slot[i].vp;
	unsigned n;

	xk_vp_lock(vp);
	xk_vp_step_in(vp, w->now);
	n = vp_any_unit(vp, xk_load_relaxed(&vp->set->arch.burst));
	xk_worker_rest(w, i, n == 0);
	xk_vp_step_out(vp);
	xk_vp_unlock(vp);
	xk_vp_carry(w->set, w->now);
	return n;
}

static unsigned visit_locked(struct xk_worker *w, unsigned i) { return vp_visit_by(w, i, locked_unit); }

/* The ready VP after i, round and round. */
static unsigned ready_after(const struct xk_worker *w, unsigned i)
{
	unsigned n = WORDS(w->nslots), k = i / 64;
	uint64_t m = w->ready[k] & (~0ull << 1 << i % 64);

	for (unsigned tries = 0; m == 0 && tries < n; tries++) {
		k = k + 1 < n ? k + 1 : 0;
		m = w->ready[k];
	}
	return m != 0 ? k * 64 + (unsigned)__builtin_ctzll(m) : i;
}

/* A turn of one of hundreds finds nothing in the cache: while it goes on, what the
 * next ones need is fetched, step by step as one line tells where others are. */
static void fetch_next(const struct xk_worker *w, unsigned i)
{
	unsigned next[5] = { i };

	for (unsigned k = 1; k <= 4; k++) {
		next[k] = ready_after(w, next[k - 1]);
		if (next[k] == i)                /* so few stay where they are */
			return;
	}
	for (unsigned k = 1; k <= 4; k++)
		xk_vp_fetch(w->slot[next[k]].vp, k);
}

static unsigned visit_owned(struct xk_worker *w, unsigned i)
{
	struct xk_slot *s = &w->slot[i];
	unsigned total;
	bool idle;

	if (w->nslots > 4)
		fetch_next(w, i);
	xk_vp_step_in(s->vp, w->now);
	if (w->nslots > 1)
		xk_memvp_take_hot(&s->vp->mem, &w->hot);
	total = xk_vp_turn(s->vp, xk_load_relaxed(&w->set->arch.burst), &s->deficit, &idle);
	if (w->nslots > 1) {
		xk_memvp_leave_hot(&s->vp->mem, &w->hot);
		vp_record_turn(s->vp, total, w->no + 1);
	}
	xk_worker_rest(w, i, idle);
	xk_vp_step_out(s->vp);
	return total;
}

static unsigned visit(struct xk_worker *w, unsigned i)
{
	struct xk_slot *s = &w->slot[i];

	s->deficit += (int32_t)xk_load_relaxed(&w->set->arch.quantum);
	if (s->deficit <= 0)             /* still paying for a long unit */
		return 1;
	return w->mode->visit == NULL ? visit_owned(w, i) : w->mode->visit(w, i);
}

/* Every ready VP once; returns messages done. */
static unsigned round_robin(struct xk_worker *w)
{
	unsigned total = 0, since = 0;

	for (unsigned k = 0; k < WORDS(w->nslots); k++) {
		uint64_t todo = w->ready[k];

		while (todo != 0) {
			unsigned n = visit(w, k * 64 + (unsigned)__builtin_ctzll(todo));

			todo &= todo - 1;
			total += n;
			since += n;
			if (since >= XK_ROUND) {
				w->now = xk_clock_read(&w->set->clock);
				since = 0;
			}
		}
	}
	return total;
}

static void hold_locked(struct xk_vp *vp) { xk_vp_lock(vp); }
static void release_locked(struct xk_vp *vp) { xk_vp_unlock(vp); }

/* The two modes of the core; the first one's turns are run inline, see visit. */
const struct xk_mode_ops xk_mode_own = { .kick = xk_worker_kick };
const struct xk_mode_ops xk_mode_lock = {
	.kick = xk_worker_kick, .visit = visit_locked, .hold = hold_locked, .release = release_locked,
};

/* ---- idling ------------------------------------------------------------------ */

static xk_ns sooner(xk_ns a, xk_ns b) { return a < b ? a : b; }

/* How long a worker may sleep for t, which has no descriptor. */
static xk_ns nap_of(const struct xk_worker *w, const struct xk_vp *vp, const struct xk_task *t)
{
	const struct xk_due *d = vp->dues;
	xk_ns by;

	while (d != NULL && d->task != t)
		d = d->next;
	if (d == NULL)
		return POLL_NAP;
	by = vp_awake_by(w->set, d->when);
	return by == XK_NS_NEVER ? by : by > w->now ? by - w->now : 0;
}

static unsigned gather_of(const struct xk_worker *w, struct xk_vp *vp, int *fds, unsigned n, xk_ns *nap)
{
	struct xk_task *t = vp->ring[0];

	if (vp->ring[1] != NULL)
		*nap = sooner(*nap, POLL_NAP);
	if (!vp_ask(vp))
		*nap = 0;
	if (t != NULL) do {
		if (t->nap != 0)
			*nap = sooner(*nap, t->nap * XK_US);
		else if (t->fd >= 0 && n < MAX_FDS)
			fds[n++] = t->fd;
		else
			*nap = sooner(*nap, nap_of(w, vp, t));
		t = t->next;
	} while (t != vp->ring[0]);
	return n;
}

/* Descriptors of polling tasks; returns how many, *nap: how long a task sleeps that has none, or naps.  Each VP rests. */
static unsigned gather_fds(struct xk_worker *w, int *fds, xk_ns *nap)
{
	const struct xk_mode_ops *m = w->mode;
	unsigned n = 0;

	*nap = XK_NS_NEVER;
	if (XK_UNLIKELY(xk_mem_fill(&w->slot[0].vp->mem) == XK_MEM_FULL))
		xk_memhot_fini(&w->hot, w->set->pool);
	for (unsigned i = 0; i < w->nslots; i++) {
		struct xk_vp *vp = w->slot[i].vp;

		if (m->hold != NULL)
			m->hold(vp);
		if (m->blocked == NULL || !m->blocked(vp)) {
			n = gather_of(w, vp, fds, n, nap);
			xk_memvp_share(&vp->mem);
		}
		if (m->release != NULL)
			m->release(vp);
	}
	return n;
}

/* Any worker may have run any VP, and whoever makes work there was not asked since: false, there is some. */
static bool ask_all(struct xk_worker *w)
{
	xk_ns nap = XK_NS_NEVER;
	int fds[MAX_FDS];

	for (unsigned i = 0; i < w->set->nconn && nap != 0; i++) {
		struct xk_vp *vp = w->set->vp[i];

		if (vp->worker == w || !xk_load_relaxed(&vp->asks))
			continue;
		w->mode->hold(vp);
		(void)gather_of(w, vp, fds, 0, &nap);
		w->mode->release(vp);
	}
	return nap != 0;
}

/* There is something to do, or somebody is about to have done it: in simulated time he must be let. */
static void sleep_not(struct xk_worker *w)
{
	xk_event_cancel(&w->event);
	if (w->set->sim != NULL)
		xk_thread_yield();
}

static void record(struct xk_worker *w, enum xk_rec_kind kind, uint32_t n, uint64_t a, uint64_t b)
{
	xk_recorder_put(&w->recorder, w->now, xk_rec_what(kind, 0, n), a, b);
}

static void sleep_a_while(struct xk_worker *w)
{
	int fds[MAX_FDS];
	xk_ns t, nap;
	unsigned n;

	xk_event_prepare(&w->event);
	if (xk_load_acquire(&w->any_kicked) || !xk_load_acquire(&w->set->running)) {
		sleep_not(w);
		return;
	}
	if (w->mode->sleeps != NULL && !w->mode->sleeps(w)) {
		sleep_not(w);
		return;
	}
	n = gather_fds(w, fds, &nap);
	if (w->set->fifo != NULL && xk_load_relaxed(&w->set->asks) && !ask_all(w))
		nap = 0;
	t = w->next == XK_NS_NEVER ? XK_SEC : w->next > w->now ? w->next - w->now : 0;
	t = sooner(t, nap);
	if (nap == 0) {                  /* something is due before a sleeper could be awake */
		xk_event_cancel(&w->event);
		if (w->set->oversubscribed)
			xk_thread_yield();
	} else {
		xk_count(w->stats.sleeps);
		record(w, XK_REC_SLEEP, n, t, 0);
		xk_event_wait(&w->event, t, fds, n);
		w->now = xk_clock_read(&w->set->clock);
		record(w, XK_REC_WAKE, 0, 0, 0);
	}
	if (w->mode->wakes != NULL)
		w->mode->wakes(w);
}

/* The clock has gone on, slept or not. */
static void sleep_and_look(struct xk_worker *w)
{
	if (w->background != NULL)
		vp_background_slice(w->background, &w->set->clock);
	else
		sleep_a_while(w);
	w->now = xk_clock_read(&w->set->clock);
}

/* ---- the thread ----------------------------------------------------------------- */

static uint64_t tv_ns(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * XK_SEC + (uint64_t)tv.tv_usec * XK_US;
}

void xk_worker_note(struct xk_worker_stats *s)
{
	struct rusage u;
	int cpu = sched_getcpu();

	/* What the host's processors did for it is no part of what was simulated. */
	if (xk_sim_self != NULL || getrusage(RUSAGE_THREAD, &u) != 0)
		return;
	xk_store_relaxed(&s->user_ns, tv_ns(u.ru_utime));
	xk_store_relaxed(&s->sys_ns, tv_ns(u.ru_stime));
	xk_store_relaxed(&s->atomics, xk_atomics_count());
	xk_store_relaxed(&s->nvcsw, (uint64_t)u.ru_nvcsw);
	xk_store_relaxed(&s->nivcsw, (uint64_t)u.ru_nivcsw);
	if (cpu != s->cpu) {
		xk_store_relaxed(&s->migrations, s->migrations + (s->cpu >= 0));
		xk_store_relaxed(&s->cpu, cpu);
	}
}

static void await_start(struct xk_worker *w)
{
	while (xk_load_acquire(&w->set->running) == XK_STARTING) {
		xk_event_prepare(&w->event);
		if (xk_load_acquire(&w->set->running) != XK_STARTING)
			xk_event_cancel(&w->event);
		else
			xk_event_wait(&w->event, XK_SEC, NULL, 0);
	}
}

/* What there is to do, once around; returns messages done. */
static unsigned work(struct xk_worker *w)
{
	if (w->mode->round != NULL)
		return w->mode->round(w);
	if (xk_load_relaxed(&w->any_kicked))
		take_kicks(w);
	if (w->next <= w->now)
		take_timers(w);
	return round_robin(w);
}

/* Nothing was to be done.  What it waits for may need this processor. */
static void look_again(struct xk_worker *w, struct xk_crowd *crowd)
{
	xk_ns before = w->now;

	if (w->set->oversubscribed)
		xk_thread_yield();
	w->now = xk_clock_read(&w->set->clock);
	if (w->set->oversubscribed && w->set->pipeline != NULL)
		xk_crowd_note(crowd, before, w->now);
}

/* Of its only VP the turn is the round. */
static void record_round(struct xk_worker *w, xk_ns before, uint32_t n)
{
	uint64_t a = n;
	uint32_t vp = 0;

	if (XK_LIKELY(w->only != NULL)) {
		vp = w->only->at + 1u;
		a |= w->only->singly << 32;
		w->only->singly = 0;
	}
	xk_recorder_put(&w->recorder, before, xk_rec_what(XK_REC_ROUND, 0, vp), a, w->now);
}

void xk_worker_main(void *arg)
{
	struct xk_worker *w = arg;
	xk_ns busy_at, usage_at = 0, spin, before;
	struct xk_crowd crowd = { 0 };

	if (w->cpu < 0 && w->set->arch.cpus != 0 && w->set->sim == NULL)
		(void)xk_thread_affinity(w->set->arch.cpus);
	if (w->set->sim == NULL)         /* fibers' is their processor's */
		xk_mem_processor = (uint16_t)(w->no + 1);
	await_start(w);
	if (w->mode->begin != NULL)
		w->mode->begin(w);
	w->now = busy_at = xk_clock_read(&w->set->clock);
	while (xk_load_acquire(&w->set->running)) {
		unsigned n;

		before = w->now;
		n = work(w);
		w->now = xk_clock_read(&w->set->clock);
		if (n != 0)
			record_round(w, before, n);
		if (XK_UNLIKELY(w->mode->noted != NULL))
			w->mode->noted(w, n, before);
		xk_count_add(w->stats.messages, n);
		xk_count(w->stats.units);
		if (w->now >= usage_at) {
			xk_worker_note(&w->stats);
			usage_at = w->now + XK_USAGE_EVERY;
		}
		spin = xk_load_relaxed(&w->napping) != 0 ? 0 : xk_load_relaxed(&w->set->arch.spin_us) * XK_US;
		if (n != 0)
			busy_at = w->now;
		else if (w->now - busy_at < spin && !xk_crowded(&crowd, w->now))
			look_again(w, &crowd);
		else
			sleep_and_look(w);
	}
	xk_worker_note(&w->stats);
	xk_memhot_fini(&w->hot, w->set->pool);
}

/* The first of the stages that worker `no` runs: neighbours in a stack stay together. */
static unsigned first_stage(const struct xk_vpset *set, unsigned no)
{
	return no * set->nall / set->nworkers;
}

/* The VPs of connections are dealt to the first workers; each I/O thread has one of its own. */
static struct xk_vp *slot_vp(const struct xk_vpset *set, unsigned no, unsigned slot)
{
	unsigned sharing = set->nworkers - set->arch.io_threads;

	if (set->arch.domain == XK_DOMAIN_LAYER)
		return set->all[first_stage(set, no) + slot];
	return no < sharing ? set->all[no + slot * sharing] : set->vp[set->nconn + no - sharing];
}

static unsigned slots(const struct xk_vpset *set, unsigned no)
{
	unsigned sharing = set->nworkers - set->arch.io_threads;

	if (set->arch.domain == XK_DOMAIN_LAYER)
		return first_stage(set, no + 1) - first_stage(set, no);
	return no < sharing ? (set->nall - set->arch.io_threads - no + sharing - 1) / sharing : 1;
}

int xk_worker_setup(struct xk_worker *w, struct xk_vpset *set, unsigned no)
{
	w->set = set;
	w->no = no;
	w->cpu = -1;
	w->stats.cpu = -1;
	w->nslots = slots(set, no);
	w->slot = xk_alloc(w->nslots * sizeof *w->slot);
	w->ready = xk_alloc(WORDS(w->nslots) * sizeof *w->ready);
	w->kicked = xk_alloc(WORDS(w->nslots) * sizeof *w->kicked);
	if (w->slot == NULL || w->ready == NULL || w->kicked == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < w->nslots; i++) {
		w->slot[i].vp = slot_vp(set, no, i);
		w->slot[i].vp->worker = w;
		w->slot[i].vp->slot = i;
		mark_ready(w, i);
	}
	w->mode = w->slot[0].vp->mode;
	w->only = w->nslots == 1 && w->mode == &xk_mode_own ? w->slot[0].vp : NULL;
	return xk_event_init(&w->event);
}

int xk_worker_background(struct xk_worker *w)
{
	w->background = xk_alloc(sizeof *w->background);
	return w->background != NULL ? vp_background_init(w->background, &w->set->arch.background) : XK_E_NOMEM;
}

void xk_vpset_background(const struct xk_vpset *set, struct xk_background_counts *out)
{
	*out = (struct xk_background_counts){ 0 };
	for (unsigned i = 0; set->arch.background.on && i < set->nworkers; i++) {
		const struct vp_background *b = set->worker[i]->background;

		out->slices += xk_counter_read(b->slices);
		out->rests += xk_counter_read(b->rests);
		out->data += xk_counter_read(b->data_refs);
		out->code += xk_counter_read(b->code_refs);
	}
}

void xk_worker_teardown(struct xk_worker *w)
{
	if (w->event.fd > 0)
		xk_event_fini(&w->event);
	if (w->background != NULL)
		vp_background_fini(w->background);
	xk_free(w->background);
	xk_free(w->slot);
	xk_free(w->ready);
	xk_free(w->kicked);
}

void xk_worker_stats_of(const struct xk_worker_stats *s, const struct xk_thread *t, struct xk_worker_stats *out)
{
	out->cpu = xk_load_relaxed(&s->cpu);
	out->user_ns = xk_load_relaxed(&s->user_ns);
	out->sys_ns = xk_load_relaxed(&s->sys_ns);
	out->cpu_ns = t != NULL ? xk_thread_cpu_ns(t) : 0;
	if (out->cpu_ns == 0)
		out->cpu_ns = out->user_ns + out->sys_ns;
	out->atomics = xk_load_relaxed(&s->atomics);
	out->nvcsw = xk_load_relaxed(&s->nvcsw);
	out->nivcsw = xk_load_relaxed(&s->nivcsw);
	out->units = xk_counter_read(s->units);
	out->messages = xk_counter_read(s->messages);
	out->sleeps = xk_counter_read(s->sleeps);
	out->migrations = xk_load_relaxed(&s->migrations);
	out->locking_ns = xk_load_relaxed(&s->locking_ns);
	out->meeting_ns = xk_load_relaxed(&s->meeting_ns);
}

void xk_worker_stats(struct xk_vpset *set, unsigned i, struct xk_worker_stats *out)
{
	if (set->sim != NULL)
		xk_vpsim_note(set, i);
	xk_worker_stats_of(&set->worker[i]->stats, set->worker[i]->thread, out);
}

const struct xk_worker_stats *xk_worker_counters(const struct xk_vpset *set, unsigned i)
{
	return &set->worker[i]->stats;
}

unsigned xk_worker_of(const struct xk_vp *vp)
{
	return vp->worker->no;
}
