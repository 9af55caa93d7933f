/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_engine.c - one run of the model: packets of streams on processors, event by event.
 *
 * An event is the arrival of a stream's next packet or the end of the packet that a processor
 * runs.  Who runs what, and where, is asked of the runtime's own scheduling module
 * (runtime/vp/xk_sched.h): under Locking and on the send side what it queues is a packet, under
 * IPS a stack with a queue of packets of its own.  What a packet costs follows from what its
 * processor did before (xk_cache.h) and from who wrote last what it writes.
 *
 * Each stream has its own random numbers, drawn in the order of its packets: under every policy
 * the same packets arrive at the same times with the same sizes.
 * Invariant: waiting at the beginning + arrived = served + waiting at the end.
 */
#include "tools/vp-sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tools/vp-sim/sim_heap.h"

#define WAITING_MAX (4u << 20)      /* packets; beyond, nothing more is to be learnt */
#define CHUNK       4096u

struct packet {
	struct xk_sched_run run;
	struct packet *behind;      /* in a stack's queue, or among the free ones */
	xk_ns    at, began;
	uint32_t stream;
	double   bytes;
};
struct stack {
	struct xk_sched_run run;
	struct packet *first, *last;
	uint32_t stream;            /* of the packet before: the map's cache */
	int32_t  proc;              /* that wrote its state last */
};
struct stream { struct xk_rand rand; uint32_t left; int32_t proc; };
struct proc { struct packet *packet; struct stack *stack; unsigned thread; bool has_thread; };
struct chunk { struct chunk *behind; struct packet p[CHUNK]; };

struct sim {
	const struct sim_model *m;
	struct sim_result *r;
	struct xk_cache   *cache;
	struct xk_hist    *hist;
	struct xk_sched   *sched;
	struct sim_heap    heap;
	struct stream     *stream;
	struct stack      *stack;
	struct proc       *proc;
	unsigned           nstacks, nprocs;
	unsigned          *thread;       /* pool: those that are idle, a ring */
	int32_t           *thread_proc;  /* who wrote its stack last */
	unsigned           thread_first, nthreads;
	int32_t            memory_proc;
	struct packet     *free;
	struct chunk      *chunks;
	double             between;
	xk_ns              now, from, end, batch_end;
	unsigned           batch;
	uint64_t           n, sum_at, most_area;
	bool               measuring, failed;
};

/* ---- packets ------------------------------------------------------------------------- */

static struct packet *packet_new(struct sim *s)
{
	struct packet *p = s->free;
	struct chunk *c;

	if (p == NULL) {
		c = malloc(sizeof *c);
		if (c == NULL) {
			s->failed = true;
			return NULL;
		}
		c->behind = s->chunks;
		s->chunks = c;
		for (unsigned i = 0; i < CHUNK; i++) {
			c->p[i].behind = s->free;
			s->free = &c->p[i];
		}
		p = s->free;
	}
	s->free = p->behind;
	return p;
}

static void packet_free(struct sim *s, struct packet *p)
{
	p->behind = s->free;
	s->free = p;
}

/* Drawn where it matters not, too: other numbers stay the same. */
static double draw_bytes(const struct sim_model *m, struct xk_rand *r)
{
	double u = xk_rand_unit(r);
	unsigned i = 0;

	if (m->nframes == 0 || !(m->copy || m->service == SIM_SERVICE_FRAMES))
		return 0;
	while (i + 1 < m->nframes && u >= m->frame[i].share)
		i++;
	return m->frame[i].bytes;
}

static xk_ns draw_gap(struct sim *s, struct stream *st)
{
	if (st->left != 0) {
		st->left--;
		return (xk_ns)(xk_rand_exp(&st->rand, s->m->inner) + 0.5);
	}
	st->left = s->m->burst - 1;
	return (xk_ns)(xk_rand_exp(&st->rand, s->between) + 0.5);
}

/* ---- what a packet costs ------------------------------------------------------------------ */

static void count(const struct sim *s, uint64_t *n, bool is)
{
	*n += is && s->measuring;
}

/* A thread for p, which had none; does its stack move? */
static bool thread_take(struct sim *s, unsigned p)
{
	struct proc *proc = &s->proc[p];
	bool moved;

	proc->has_thread = true;
	if (!s->m->threads_global)
		return false;
	proc->thread = s->thread[s->thread_first];
	s->thread_first = (s->thread_first + 1) % s->nprocs;
	s->nthreads--;
	moved = s->thread_proc[proc->thread] != (int32_t)p;
	s->thread_proc[proc->thread] = (int32_t)p;
	return moved;
}

/* The pool is first in, first out: the stack that has been idle longest is next. */
static void thread_give(struct sim *s, unsigned p)
{
	s->proc[p].has_thread = false;
	if (s->m->threads_global)
		s->thread[(s->thread_first + s->nthreads++) % s->nprocs] = s->proc[p].thread;
}

/* Whoever wrote it last: is it another one?  Then it is p. */
static bool moves(int32_t *last, unsigned p)
{
	bool moved = *last >= 0 && *last != (int32_t)p;

	*last = (int32_t)p;
	return moved;
}

static double memory_cost(struct sim *s, const struct sim_value *c, unsigned p)
{
	bool moved = s->m->memory_global && moves(&s->memory_proc, p);

	count(s, &s->r->memory_moved, moved);
	return moved ? c[SIM_ACQUIRE].v + c[SIM_RELEASE].v : 0;
}

/* us of the packet's state: maps, sessions, protocols. */
static double state_cost(struct sim *s, const struct sim_value *c, unsigned p, const struct packet *k, struct stack *st)
{
	bool hit = st->stream == k->stream, session = moves(&s->stream[k->stream].proc, p), protocol = moves(&st->proc, p);

	st->stream = k->stream;
	count(s, &s->r->map_hits, hit);
	count(s, &s->r->sessions_moved, session);
	count(s, &s->r->protocol_moved, protocol);
	return (hit ? 0 : c[SIM_MAP_MISS].v) + (session ? c[SIM_SESSION_MOVED].v : 0) + (protocol ? c[SIM_PROTOCOL_MOVED].v : 0);
}

static double cache_cost(struct sim *s, unsigned p, const struct packet *k, struct stack *st, bool first)
{
	const struct sim_value *c = s->m->ledger->cost[s->m->parallel];
	bool moved = first && thread_take(s, p);
	xk_ns away = xk_sched_away(s->sched, p);     /* 0 unless it is the first */
	double f1, f2, hot, us;

	count(s, &s->r->firsts, first);
	count(s, &s->r->threads_moved, moved);
	s->r->away += s->measuring ? away : 0;
	xk_cache_displaced(s->cache, away, &f1, &f2);
	hot = c[SIM_HOT].v + state_cost(s, c, p, k, st);
	us = xk_cache_mix(f1, f2, hot + (moved ? c[SIM_THREAD_MOVED].v : 0),
			   hot + c[SIM_L1_COLD].v + (moved ? c[SIM_THREAD_COLD].v : 0), hot + c[SIM_MEMORY_COLD].v);
	us += memory_cost(s, c, p);
	return us + (s->m->copy ? s->m->ledger->property[SIM_COPY].v * k->bytes : 0);
}

static xk_ns cost(struct sim *s, unsigned p, const struct packet *k, struct stack *st)
{
	const struct sim_model *m = s->m;
	double ns = m->mean;

	switch (m->service) {
	case SIM_SERVICE_CACHE: ns = 1e3 * cache_cost(s, p, k, st, !s->proc[p].has_thread); break;
	case SIM_SERVICE_EXPONENTIAL: ns = xk_rand_exp(&s->stream[k->stream].rand, m->mean); break;
	case SIM_SERVICE_CONSTANT: break;
	case SIM_SERVICE_FRAMES: ns = 1e3 * m->ledger->property[SIM_COPY].v * k->bytes; break;
	}
	return (xk_ns)(ns + 0.5);
}

/* ---- processors ------------------------------------------------------------------------------ */

static void start(struct sim *s, unsigned p, struct xk_sched_run *run)
{
	bool ips = s->m->parallel == SIM_IPS;
	struct stack *st = ips ? xk_container_of(run, struct stack, run) : &s->stack[0];
	struct packet *k = ips ? st->first : xk_container_of(run, struct packet, run);
	xk_ns until;

	if (ips)
		st->first = k->behind;
	k->began = s->now;
	count(s, &s->r->helped, s->m->queue == XK_QUEUE_PER && run->home != p);
	s->proc[p].packet = k;
	s->proc[p].stack = st;
	until = s->now + cost(s, p, k, st);
	if (s->m->watch != NULL && s->measuring)
		s->m->watch->ran(s->m->watch->to, &(struct sim_ran){ k->stream, p, k->at, s->now, until });
	sim_heap_put(&s->heap, sim_event(until, s->m->streams + p));
}

static void ask(struct sim *s, unsigned p)
{
	struct xk_sched_run *run = xk_sched_next(s->sched, p, s->now);

	if (run != NULL) {
		start(s, p, run);
		return;
	}
	(void)xk_sched_release(s->sched, p, s->now);
	if (s->proc[p].has_thread)
		thread_give(s, p);
}

/* ---- events ------------------------------------------------------------------------------------ */

static void arrive(struct sim *s, unsigned stream)
{
	struct stack *st = &s->stack[s->m->parallel == SIM_IPS ? stream % s->nstacks : 0];
	struct packet *k = packet_new(s);
	struct xk_sched_run *run = &st->run;
	unsigned p;

	if (k == NULL)
		return;
	*k = (struct packet){ .run = { .home = (uint16_t)(stream % s->nprocs), .last = -1 }, .at = s->now, .stream = stream,
			      .bytes = draw_bytes(s->m, &s->stream[stream].rand) };
	if (s->m->parallel != SIM_IPS)
		run = &k->run;
	else if (st->first == NULL)
		st->first = st->last = k;
	else
		st->last = st->last->behind = k;
	s->n++;
	s->sum_at += s->now;
	count(s, &s->r->arrived, true);
	p = xk_sched_arrive(s->sched, run, s->now);
	if (p != XK_SCHED_NONE)
		ask(s, p);
}

static void served(struct sim *s, const struct packet *k)
{
	struct sim_result *r = s->r;
	xk_ns delay = s->now - k->at, queueing = k->began - k->at;
	struct sim_batch *b;

	s->n--;
	s->sum_at -= k->at;
	if (!s->measuring)
		return;
	while (s->now >= s->batch_end) {
		s->batch++;
		s->batch_end = s->from + (s->end - s->from) * (s->batch + 1) / SIM_BATCHES;
	}
	b = &r->batch[s->batch];
	r->served++;
	r->delay += delay;
	r->queueing += queueing;
	r->execution += delay - queueing;
	b->n++;
	b->delay += (double)delay;
	b->queueing += (double)queueing;
	b->execution += (double)(delay - queueing);
	xk_hist_add(s->hist, delay);
}

static void done(struct sim *s, unsigned p)
{
	struct proc *proc = &s->proc[p];
	struct packet *k = proc->packet;
	struct stack *st = proc->stack;
	unsigned other;

	served(s, k);
	if (s->m->closed)
		sim_heap_put(&s->heap, sim_event(s->now + draw_gap(s, &s->stream[k->stream]), k->stream));
	if (s->m->parallel == SIM_IPS)
		other = xk_sched_done(s->sched, p, &st->run, st->first != NULL ? XK_AFTER_MORE : XK_AFTER_REST, 1, s->now);
	else
		other = xk_sched_done(s->sched, p, &k->run, XK_AFTER_REST, 1, s->now);
	packet_free(s, k);
	if (other != XK_SCHED_NONE)
		ask(s, other);
	ask(s, p);
}

static void begin(struct sim *s)
{
	s->measuring = true;
	s->batch_end = s->from + (s->end - s->from) / SIM_BATCHES;
	s->r->waited = s->n;
}

/* The time up to `to` passes. */
static void pass(struct sim *s, xk_ns to)
{
	if (!s->measuring && to >= s->from) {
		s->now = s->from;
		begin(s);
	}
	if (s->measuring)
		s->r->area += s->n * (to - s->now);
	s->now = to;
}

static bool goes_on(const struct sim *s)
{
	return !s->failed && s->n < WAITING_MAX && s->r->area <= s->most_area;
}

static void run(struct sim *s)
{
	while (s->heap.n != 0 && sim_event_at(s->heap.e[0]) < s->end && goes_on(s)) {
		uint32_t no = sim_event_no(s->heap.e[0]);

		pass(s, sim_event_at(s->heap.e[0]));
		s->r->events += s->measuring;
		if (no >= s->m->streams) {
			(void)sim_heap_get(&s->heap);
			done(s, no - s->m->streams);
			continue;
		}
		if (s->m->closed)
			(void)sim_heap_get(&s->heap);
		else
			sim_heap_replace(&s->heap, sim_event(s->now + draw_gap(s, &s->stream[no]), no));
		arrive(s, no);
	}
}

/* ---- life ---------------------------------------------------------------------------------------- */

static void streams_init(struct sim *s)
{
	const struct sim_model *m = s->m;

	for (unsigned i = 0; i < m->streams; i++) {
		struct stream *st = &s->stream[i];

		xk_rand_init(&st->rand, m->seed, i);
		st->proc = -1;
		/* Anywhere between two trains. */
		sim_heap_put(&s->heap, sim_event((xk_ns)(xk_rand_exp(&st->rand, 1e9 / m->rate) + 0.5), i));
		st->left = m->burst - 1;
	}
}

static bool sim_init(struct sim *s)
{
	const struct sim_model *m = s->m;
	struct xk_sched_conf conf = { .nprocs = s->nprocs, .pick = m->pick, .queue = m->queue, .depth = m->depth,
				      .quantum = m->quantum, .seed = m->seed };

	s->cache = malloc(sizeof *s->cache);
	s->hist = calloc(1, sizeof *s->hist);
	s->sched = malloc(xk_sched_size(s->nprocs));
	s->heap.e = malloc((m->streams + s->nprocs + 1 + SIM_HEAP_SPARE) * sizeof *s->heap.e);
	s->stream = calloc(m->streams, sizeof *s->stream);
	s->stack = calloc(s->nstacks, sizeof *s->stack);
	s->proc = calloc(s->nprocs, sizeof *s->proc);
	s->thread = calloc(s->nprocs, sizeof *s->thread);
	s->thread_proc = calloc(s->nprocs, sizeof *s->thread_proc);
	if (s->cache == NULL || s->hist == NULL || s->sched == NULL || s->heap.e == NULL || s->stream == NULL ||
	    s->stack == NULL || s->proc == NULL || s->thread == NULL || s->thread_proc == NULL)
		return false;
	(void)xk_sched_init(s->sched, &conf);
	if (m->service == SIM_SERVICE_CACHE) {
		struct xk_cache_machine caches = sim_cache_of(m->ledger);

		xk_cache_init(s->cache, &caches, m->displace);
	}
	for (unsigned i = 0; i < s->nstacks; i++)
		s->stack[i] = (struct stack){ .run = { .home = (uint16_t)(i % s->nprocs), .last = -1 }, .stream = UINT32_MAX, .proc = -1 };
	for (unsigned p = 0; p < s->nprocs; p++) {
		s->thread[p] = p;
		s->thread_proc[p] = (int32_t)p;
	}
	s->nthreads = s->nprocs;
	s->memory_proc = -1;
	streams_init(s);
	return true;
}

static void sim_fini(struct sim *s)
{
	struct chunk *c;

	while ((c = s->chunks) != NULL) {
		s->chunks = c->behind;
		free(c);
	}
	free(s->cache);
	free(s->hist);
	free(s->sched);
	free(s->heap.e);
	free(s->stream);
	free(s->stack);
	free(s->proc);
	free(s->thread);
	free(s->thread_proc);
}

/* What a queue may grow by, and be none that grows: a two-hundredth of what came, and what a burst leaves. */
static bool is_steady(const struct sim *s)
{
	const struct sim_result *r = s->r;

	return s->now == s->end && r->waiting <= r->waited + r->arrived / 200 + 10 * s->nprocs + s->m->streams;
}

static void sum_up(struct sim *s)
{
	struct sim_result *r = s->r;

	if (goes_on(s))
		pass(s, s->end);
	r->time = s->measuring ? s->now - s->from : 0;
	r->waiting = s->n;
	r->residue = s->n * s->now - s->sum_at;
	r->steady = is_steady(s);
	xk_hist_sum(r->places, s->hist, 1);
}

static unsigned stacks_of(const struct sim_model *m)
{
	if (m->parallel != SIM_IPS)
		return 1;
	return m->stacks == SIM_STACKS_PROCESSORS ? m->processors : m->stacks == SIM_STACKS_STREAMS ? m->streams : m->stacks;
}

/* A mean delay of twice the limit is above it, whatever follows. */
static uint64_t most_area(const struct sim_model *m)
{
	double area = 2 * (double)m->limit * m->rate * m->streams * (double)m->duration / 1e9;

	return m->find_streams && area < 0x1p63 ? (uint64_t)area : UINT64_MAX;
}

bool sim_run(const struct sim_model *m, struct sim_result *r)
{
	struct sim s = { .m = m, .r = r, .nprocs = m->processors, .nstacks = stacks_of(m), .between = sim_model_between(m),
			 .from = m->warmup, .end = m->warmup + m->duration, .most_area = most_area(m) };
	bool good;

	memset(r, 0, sizeof *r);
	good = sim_init(&s);
	if (good) {
		run(&s);
		sum_up(&s);
	}
	good = good && !s.failed;
	sim_fini(&s);
	return good;
}
