/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sched.c - promises of the scheduling module: who starts, who runs what, in which order, and
 * that nobody is free while something waits that he may take.
 *
 * A machine of processors that start at once, or late, is driven by random events and compared
 * after each with what was done, which it keeps in lists of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "runtime/vp/xk_sched.h"
#include "tests/support/xk_test.h"

#define MOST_PROCS 24u
#define MOST_RUNS  64u
#define STEPS      400u

static void *sched_new(const struct xk_sched_conf *c)
{
	struct xk_sched *s = malloc(xk_sched_size(c->nprocs));

	CU_ASSERT_EQUAL_FATAL(xk_sched_init(s, c), XK_OK);
	return s;
}

/* ---- a machine ------------------------------------------------------------------------ */

struct proc { struct xk_sched_run *run; bool starting; uint64_t freed; unsigned in_turn; xk_ns since; bool ran; };
struct stack { struct xk_sched_run run; unsigned todo, ahead; int with; };

struct machine {
	struct xk_sched_conf conf;
	struct xk_sched *s;
	struct xk_rand   rand;
	struct proc      p[MOST_PROCS];
	struct stack     k[MOST_RUNS];
	struct stack    *queue[MOST_RUNS];    /* of all that wait, oldest first */
	unsigned         nqueue, nruns, wrong;
	uint64_t         stamp;
	unsigned long    arrived, served, messages;
	xk_ns            now;
	bool             late;                /* a started processor asks later */
};

#define HOLDS(m, what) ((m)->wrong += !(what))

static struct stack *stack_of(struct xk_sched_run *r) { return xk_container_of(r, struct stack, run); }

static bool machine_free(const struct machine *m, unsigned p) { return m->p[p].run == NULL && !m->p[p].starting; }

/* Was p the one to choose? */
static bool picked_well(const struct machine *m, unsigned p, bool home)
{
	for (unsigned i = 0; i < m->conf.nprocs; i++) {
		if (i == p || !machine_free(m, i) || home)
			continue;
		if (m->conf.pick == XK_PICK_MRU && m->p[i].freed > m->p[p].freed)
			return false;
		if (m->conf.pick == XK_PICK_LRU && m->p[i].freed < m->p[p].freed)
			return false;
		if (m->conf.pick == XK_PICK_LOW && i < p)
			return false;
	}
	return true;
}

static void machine_queue(struct machine *m, struct stack *k)
{
	k->ahead = 0;
	for (unsigned i = 0; i < m->nqueue; i++)
		k->ahead += m->conf.queue == XK_QUEUE_ONE || m->queue[i]->run.home == k->run.home;
	m->queue[m->nqueue++] = k;
}

/* Takes k out of the queue; is it the oldest of those that r's queue has? */
static bool machine_take(struct machine *m, struct stack *k)
{
	bool oldest = true;

	for (unsigned i = 0; i < m->nqueue; i++) {
		if (m->queue[i] == k) {
			memmove(&m->queue[i], &m->queue[i + 1], (--m->nqueue - i) * sizeof m->queue[0]);
			return oldest;
		}
		if (m->conf.queue == XK_QUEUE_ONE || m->queue[i]->run.home == k->run.home)
			oldest = false;
	}
	return false;
}

static void machine_ask(struct machine *m, unsigned p);

static void machine_start(struct machine *m, unsigned p, const struct stack *k)
{
	if (p == XK_SCHED_NONE)
		return;
	HOLDS(m, p < m->conf.nprocs && machine_free(m, p));
	HOLDS(m, picked_well(m, p, m->conf.queue == XK_QUEUE_PER && p == k->run.home));
	m->p[p].starting = true;
	if (!m->late)
		machine_ask(m, p);
}

static unsigned waiting_at(const struct machine *m, unsigned home)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->nqueue; i++)
		n += m->queue[i]->run.home == home;
	return n;
}

static void machine_ask(struct machine *m, unsigned p)
{
	struct proc *proc = &m->p[p];
	struct xk_sched_run *r = xk_sched_next(m->s, p, m->now);

	if (r == NULL) {
		HOLDS(m, xk_sched_release(m->s, p, m->now));
		proc->starting = false;
		proc->freed = ++m->stamp;
		if (proc->ran)
			proc->since = m->now;
		proc->ran = false;
		return;
	}
	HOLDS(m, xk_sched_away(m->s, p) == (proc->ran ? 0 : m->now - proc->since));
	if (stack_of(r)->with != (int)p) {
		HOLDS(m, stack_of(r)->with < 0);
		if (m->conf.queue == XK_QUEUE_PER && r->home != p)
			HOLDS(m, waiting_at(m, p) == 0 && waiting_at(m, r->home) > m->conf.depth);
		HOLDS(m, machine_take(m, stack_of(r)));
		proc->in_turn = 0;
	}
	stack_of(r)->with = (int)p;
	proc->run = r;
	proc->starting = false;
	proc->ran = true;
}

static void machine_arrive(struct machine *m)
{
	struct stack *k = &m->k[xk_rand_below(&m->rand, m->nruns)];
	bool rested = k->with < 0 && k->todo == 0;

	k->todo++;
	m->arrived++;
	if (rested)
		machine_queue(m, k);
	machine_start(m, xk_sched_arrive(m->s, &k->run, m->now), k);
}

/* A message of what p runs is done. */
static void machine_done(struct machine *m, unsigned p)
{
	struct xk_sched_run *r = m->p[p].run;
	struct stack *k = stack_of(r);
	bool goes_on;
	unsigned start;

	m->messages++;
	k->todo--;
	m->served++;
	HOLDS(m, m->conf.quantum == 0 || ++m->p[p].in_turn <= m->conf.quantum);
	goes_on = k->todo != 0 && (m->conf.quantum == 0 || m->p[p].in_turn < m->conf.quantum);
	m->p[p].run = NULL;
	if (!goes_on)
		k->with = -1;
	if (!goes_on && k->todo != 0)
		machine_queue(m, k);
	m->p[p].starting = true;   /* it is not free while it asks */
	start = xk_sched_done(m->s, p, r, k->todo != 0 ? XK_AFTER_MORE : XK_AFTER_REST, 1, m->now);
	HOLDS(m, r->last == (int)p);
	machine_start(m, start, k);
	machine_ask(m, p);
}

/* Nobody is free while something waits that he may take and nobody was started for. */
static void machine_look(struct machine *m)
{
	unsigned nfree = 0, starting = 0, can = 0;

	for (unsigned p = 0; p < m->conf.nprocs; p++) {
		unsigned waiting = waiting_at(m, p);

		nfree += machine_free(m, p);
		starting += m->p[p].starting;
		HOLDS(m, machine_free(m, p) == xk_sched_is_free(m->s, p));
		if (m->conf.queue == XK_QUEUE_PER) {
			HOLDS(m, !machine_free(m, p) || waiting == 0);
			can += waiting > m->conf.depth ? waiting - m->conf.depth : 0;
		}
	}
	HOLDS(m, nfree == xk_sched_nfree(m->s) && m->nqueue == xk_sched_waiting(m->s));
	HOLDS(m, nfree == 0 || (m->conf.queue == XK_QUEUE_ONE ? m->nqueue : can) <= starting);
}

static void machine_step(struct machine *m, unsigned load)
{
	unsigned p = (unsigned)xk_rand_below(&m->rand, m->conf.nprocs);

	m->now += xk_rand_below(&m->rand, 100);
	if (xk_rand_below(&m->rand, 100) < load)
		machine_arrive(m);
	else if (m->p[p].run != NULL)
		machine_done(m, p);
	else if (m->p[p].starting)
		machine_ask(m, p);
}

static void machine_make(struct machine *m, uint64_t seed)
{
	static const uint32_t depths[] = { XK_SCHED_WIRED, XK_SCHED_STEAL, 1, 3 };

	memset(m, 0, sizeof *m);
	xk_rand_init(&m->rand, seed, 7);
	m->conf = (struct xk_sched_conf){
		.nprocs = 1 + (unsigned)xk_rand_below(&m->rand, MOST_PROCS),
		.pick = (enum xk_pick)(seed % 4), .queue = (enum xk_queue)(seed / 4 % 2),
		.depth = depths[seed / 8 % 4], .quantum = (uint32_t)(seed / 32 % 4), .seed = seed,
	};
	m->late = seed / 128 % 2 != 0;
	m->nruns = 1 + (unsigned)xk_rand_below(&m->rand, MOST_RUNS);
	m->s = sched_new(&m->conf);
	m->stamp = m->conf.nprocs;
	for (unsigned p = 0; p < m->conf.nprocs; p++)
		m->p[p].freed = m->conf.nprocs - p;
	for (unsigned i = 0; i < m->nruns; i++) {
		m->k[i].with = -1;
		m->k[i].run = (struct xk_sched_run){ .last = -1, .home = (uint16_t)(i % m->conf.nprocs) };
	}
}

static void a_thousand_random_runs(void)
{
	static struct machine m;

	for (uint64_t seed = 0; seed < xk_test_rounds(1000); seed++) {
		unsigned load;

		machine_make(&m, seed);
		load = 20 + (unsigned)xk_rand_below(&m.rand, 50);
		for (unsigned i = 0; i < STEPS; i++) {
			machine_step(&m, load);
			machine_look(&m);
		}
		for (unsigned i = 0; m.served != m.arrived && i < 100000; i++)
			machine_step(&m, 0);
		machine_look(&m);
		CU_ASSERT_EQUAL(m.served, m.arrived);
		CU_ASSERT_EQUAL(m.nqueue, 0);
		if (m.wrong != 0)
			printf("# seed %llu: %u promises broken\n", (unsigned long long)seed, m.wrong);
		CU_ASSERT_EQUAL(m.wrong, 0);
		free(m.s);
	}
}

/* ---- cases of their own ------------------------------------------------------------------- */

static void picks_by_its_word(void)
{
	static const struct { enum xk_pick pick; unsigned then[3]; } c[] = {
		{ XK_PICK_MRU, { 1, 3, 0 } }, { XK_PICK_LRU, { 2, 0, 3 } }, { XK_PICK_LOW, { 0, 1, 2 } },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(c); i++) {
		struct xk_sched_conf conf = { .nprocs = 4, .pick = c[i].pick };
		struct xk_sched *s = sched_new(&conf);
		struct xk_sched_run r[8] = { { 0 } };

		for (unsigned k = 0; k < 4; k++)
			(void)xk_sched_arrive(s, &r[k], 0);
		for (unsigned p = 0; p < 4; p++)
			CU_ASSERT_PTR_NOT_NULL(xk_sched_next(s, p, 0));
		/* Released in this order: 2, 0, 3, 1. */
		for (unsigned k = 0; k < 4; k++) {
			static const unsigned order[] = { 2, 0, 3, 1 };

			(void)xk_sched_done(s, order[k], &r[order[k]], XK_AFTER_REST, 1, 10 + k);
			CU_ASSERT_PTR_NULL(xk_sched_next(s, order[k], 10 + k));
			CU_ASSERT_TRUE(xk_sched_release(s, order[k], 10 + k));
		}
		for (unsigned k = 0; k < 3; k++)
			CU_ASSERT_EQUAL(xk_sched_arrive(s, &r[4 + k], 20), c[i].then[k]);
		free(s);
	}
}

static void any_processor_of_a_thousand_is_picked(void)
{
	struct xk_sched_conf conf = { .nprocs = XK_SCHED_PROCS_MAX, .pick = XK_PICK_RANDOM, .seed = 3 };
	struct xk_sched *s = sched_new(&conf);
	static unsigned hits[XK_SCHED_PROCS_MAX];
	unsigned never = 0, often = 0;
	const unsigned rounds = 20 * XK_SCHED_PROCS_MAX;

	for (unsigned i = 0; i < rounds; i++) {
		struct xk_sched_run r = { .last = -1 };
		unsigned p = xk_sched_arrive(s, &r, i);

		hits[p]++;
		CU_ASSERT_PTR_EQUAL(xk_sched_next(s, p, i), &r);
		(void)xk_sched_done(s, p, &r, XK_AFTER_REST, 1, i);
		CU_ASSERT_TRUE(xk_sched_release(s, p, i));
	}
	for (unsigned p = 0; p < XK_SCHED_PROCS_MAX; p++) {
		never += hits[p] == 0;
		often += hits[p] > 60;
	}
	CU_ASSERT_EQUAL(never, 0);
	CU_ASSERT_EQUAL(often, 0);
	free(s);
}

static void refuses_none_and_more_than_it_can(void)
{
	struct xk_sched *s = malloc(xk_sched_size(XK_SCHED_PROCS_MAX));
	struct xk_sched_conf none = { .nprocs = 0 }, many = { .nprocs = XK_SCHED_PROCS_MAX + 1 };

	CU_ASSERT_EQUAL(xk_sched_init(s, &none), XK_E_RANGE);
	CU_ASSERT_EQUAL(xk_sched_init(s, &many), XK_E_RANGE);
	free(s);
}

/* As many stacks as processors: none ever waits for another, whatever the queues. */
static void a_stack_for_each_processor_is_never_queued(void)
{
	static struct machine m;

	for (uint64_t seed = 0; seed < 64; seed++) {
		machine_make(&m, seed % 8);
		m.nruns = m.conf.nprocs < m.nruns ? m.conf.nprocs : m.nruns;
		m.conf.quantum = 0;
		xk_rand_init(&m.rand, seed, 9);
		m.late = false;
		(void)xk_sched_init(m.s, &m.conf);
		for (unsigned i = 0; i < STEPS; i++) {
			machine_step(&m, 60);
			HOLDS(&m, m.nqueue == 0);
		}
		CU_ASSERT_EQUAL(m.wrong, 0);
		free(m.s);
	}
}

static void what_arrives_meanwhile_is_not_forgotten(void)
{
	struct xk_sched_conf conf = { .nprocs = 2 };
	struct xk_sched *s = sched_new(&conf);
	struct xk_sched_run r = { .last = -1 };
	unsigned p = xk_sched_arrive(s, &r, 1);

	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, p, 2), &r);
	/* It has looked and found nothing, then something came. */
	CU_ASSERT_EQUAL(xk_sched_arrive(s, &r, 3), XK_SCHED_NONE);
	CU_ASSERT_EQUAL(xk_sched_done(s, p, &r, XK_AFTER_REST, 1, 4), XK_SCHED_NONE);
	CU_ASSERT_FALSE(xk_sched_release(s, p, 4));
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, p, 4), &r);
	(void)xk_sched_done(s, p, &r, XK_AFTER_REST, 1, 5);
	CU_ASSERT_PTR_NULL(xk_sched_next(s, p, 5));
	/* What comes between the question and the release. */
	CU_ASSERT_EQUAL(xk_sched_arrive(s, &r, 6), 1 - p);
	CU_ASSERT_FALSE(xk_sched_release(s, p, 6));
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, p, 6), &r);
	CU_ASSERT_PTR_NULL(xk_sched_next(s, 1 - p, 7));
	CU_ASSERT_TRUE(xk_sched_release(s, 1 - p, 7));
	free(s);
}

static void who_polls_starts_nobody_and_keeps_nobody(void)
{
	struct xk_sched_conf conf = { .nprocs = 2, .quantum = 4 };
	struct xk_sched *s = sched_new(&conf);
	struct xk_sched_run a = { .last = -1 }, b = { .last = -1 };

	CU_ASSERT_EQUAL(xk_sched_arrive(s, &a, 0), 0);
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 0, 0), &a);
	CU_ASSERT_EQUAL(xk_sched_done(s, 0, &a, XK_AFTER_POLLS, 0, 0), XK_SCHED_NONE);
	CU_ASSERT_EQUAL(xk_sched_waiting(s), 0);
	CU_ASSERT_TRUE(xk_sched_release(s, 0, 0));
	/* A free one may look all the same. */
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 1, 5), &a);
	CU_ASSERT_FALSE(xk_sched_is_free(s, 1));
	CU_ASSERT_EQUAL(xk_sched_away(s, 1), 5);
	(void)xk_sched_done(s, 1, &a, XK_AFTER_POLLS, 0, 6);
	/* Work came into it while it stood in the queue: it starts somebody, and waits like others. */
	CU_ASSERT_EQUAL(xk_sched_arrive(s, &a, 7), 0);
	CU_ASSERT_EQUAL(xk_sched_waiting(s), 1);
	(void)xk_sched_arrive(s, &b, 7);
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 0, 8), &a);
	/* Yields: behind b. */
	(void)xk_sched_done(s, 0, &a, XK_AFTER_YIELD, 0, 9);
	CU_ASSERT_PTR_EQUAL(xk_sched_drain(s), &b);
	CU_ASSERT_PTR_EQUAL(xk_sched_drain(s), &a);
	CU_ASSERT_PTR_NULL(xk_sched_drain(s));
	CU_ASSERT_EQUAL(xk_sched_waiting(s), 0);
	free(s);
}

/* Each of the others' turns is at most the quantum. */
static void a_batch_bounds_the_wait(void)
{
	struct xk_sched_conf conf = { .nprocs = 1, .quantum = 3 };
	struct xk_sched *s = sched_new(&conf);
	struct xk_sched_run r[4] = { { 0 } };
	unsigned run[4] = { 0 };

	for (unsigned i = 0; i < 4; i++)
		(void)xk_sched_arrive(s, &r[i], 0);
	/* The first three never end; the fourth begins after a turn of each. */
	for (unsigned n = 0; n < 9; n++) {
		struct xk_sched_run *k = xk_sched_next(s, 0, n);

		run[k - r]++;
		(void)xk_sched_done(s, 0, k, XK_AFTER_MORE, 1, n);
	}
	CU_ASSERT_TRUE(run[0] == 3 && run[1] == 3 && run[2] == 3);
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 0, 9), &r[3]);
	free(s);
}

/* Its turn is over with another processor, and its home is free. */
static void a_run_that_helpers_give_back_starts_its_home(void)
{
	struct xk_sched_conf conf = { .nprocs = 2, .queue = XK_QUEUE_PER, .depth = 1, .quantum = 1 };
	struct xk_sched *s = sched_new(&conf);
	struct xk_sched_run r[3] = { { 0 } };

	CU_ASSERT_EQUAL(xk_sched_arrive(s, &r[0], 0), 0);
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 0, 0), &r[0]);
	CU_ASSERT_EQUAL(xk_sched_arrive(s, &r[1], 0), XK_SCHED_NONE);
	CU_ASSERT_EQUAL(xk_sched_arrive(s, &r[2], 0), 1);
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 1, 0), &r[1]);
	(void)xk_sched_done(s, 0, &r[0], XK_AFTER_REST, 1, 1);
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 0, 1), &r[2]);
	(void)xk_sched_done(s, 0, &r[2], XK_AFTER_REST, 1, 2);
	CU_ASSERT_TRUE(xk_sched_release(s, 0, 2));
	CU_ASSERT_EQUAL(xk_sched_done(s, 1, &r[1], XK_AFTER_MORE, 1, 3), 0);
	CU_ASSERT_PTR_NULL(xk_sched_next(s, 1, 3));
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 0, 3), &r[1]);
	free(s);
}

/* Between its question and its release another one's queue became deep. */
static void who_may_help_is_not_released(void)
{
	struct xk_sched_conf conf = { .nprocs = 2, .queue = XK_QUEUE_PER, .depth = XK_SCHED_STEAL };
	struct xk_sched *s = sched_new(&conf);
	struct xk_sched_run r[3] = { { 0 }, { .home = 1 }, { 0 } };

	(void)xk_sched_arrive(s, &r[0], 0);
	(void)xk_sched_arrive(s, &r[1], 0);
	(void)xk_sched_next(s, 0, 0);
	(void)xk_sched_next(s, 1, 0);
	(void)xk_sched_done(s, 1, &r[1], XK_AFTER_REST, 1, 1);
	CU_ASSERT_PTR_NULL(xk_sched_next(s, 1, 1));
	CU_ASSERT_EQUAL(xk_sched_arrive(s, &r[2], 1), XK_SCHED_NONE);
	CU_ASSERT_FALSE(xk_sched_release(s, 1, 1));
	CU_ASSERT_PTR_EQUAL(xk_sched_next(s, 1, 1), &r[2]);
	free(s);
}

/* It goes on with what it does: others first, it where there is nobody else; free it is all the while. */
static void who_brings_is_chosen_last(void)
{
	static const enum xk_queue queues[] = { XK_QUEUE_ONE, XK_QUEUE_PER };

	for (unsigned q = 0; q < 2; q++) {
		struct xk_sched_conf conf = { .nprocs = 3, .pick = XK_PICK_MRU, .queue = queues[q] };
		struct xk_sched *s = sched_new(&conf);
		struct xk_sched_run r[4] = { { 0 } };

		CU_ASSERT_EQUAL(xk_sched_brought(s, 0, &r[0], 1), 1);
		CU_ASSERT_EQUAL(xk_sched_nfree(s), 2);
		CU_ASSERT_EQUAL(xk_sched_brought(s, 0, &r[0], 1), XK_SCHED_NONE);
		CU_ASSERT_EQUAL(xk_sched_brought(s, 0, &r[1], 2), 2);
		CU_ASSERT_TRUE(xk_sched_is_free(s, 0));
		CU_ASSERT_EQUAL(xk_sched_brought(s, 0, &r[2], 3), 0);
		CU_ASSERT_EQUAL(xk_sched_nfree(s), 0);
		CU_ASSERT_EQUAL(xk_sched_brought(s, 0, &r[3], 4), XK_SCHED_NONE);
		CU_ASSERT_EQUAL(xk_sched_waiting(s), 4);
		while (xk_sched_drain(s) != NULL)
			;
		free(s);
	}
}

static CU_TestInfo tests[] = {
	{ "a thousand random runs", a_thousand_random_runs },
	{ "picks by its word", picks_by_its_word },
	{ "any processor of a thousand is picked", any_processor_of_a_thousand_is_picked },
	{ "refuses none and more than it can", refuses_none_and_more_than_it_can },
	{ "a stack for each processor is never queued", a_stack_for_each_processor_is_never_queued },
	{ "what arrives meanwhile is not forgotten", what_arrives_meanwhile_is_not_forgotten },
	{ "who polls starts nobody and keeps nobody", who_polls_starts_nobody_and_keeps_nobody },
	{ "a batch bounds the wait", a_batch_bounds_the_wait },
	{ "a run that helpers give back starts its home", a_run_that_helpers_give_back_starts_its_home },
	{ "who may help is not released", who_may_help_is_not_released },
	{ "who brings is chosen last", who_brings_is_chosen_last },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sched", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main(suites); }
