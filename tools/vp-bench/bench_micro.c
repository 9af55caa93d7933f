/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_micro.c - vp-bench micro: what the machine's primitives cost (Schmidt and
 * Suda, 4.1): a lock nobody wants, a lock that two want, its record, waking a sleeper,
 * a switch, the clock, memory.
 *
 * Every round does each row once, so that what the machine does meanwhile falls on
 * all alike; a row's result is the median of its rounds.  Rows of two threads pin
 * them to two processors, or are null where there is one.
 * Invariant: a row's time is that of its loop alone; threads are made before it.
 */
#include "tools/vp-bench/bench.h"

#include <argp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_fiber.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_part.h"
#include "tools/vp-bench/bench_lua.h"

#define LOOPS   200000u          /* of what takes nanoseconds */
#define SWITCHES 2000u           /* of what takes microseconds */
#define ROUNDS_MOST 1000u
#define HOT     (16u << 10)
#define COLD    (64u << 20)

struct place { int cpu[2]; bool two; char *a, *b; };

struct row {
	const char *name, *unit;
	const struct xk_lock_ops *ops;   /* of the rows about locks */
	double    (*run)(const struct row *r, const struct place *p);   /* negative: not here */
};

static double per(xk_ns from, double n) { return (double)(xk_clock_host() - from) / n; }

/* ---- locks ---------------------------------------------------------------------- */

/* LOOPS times take and drop; each row its own copy, so that nothing is asked in the loop. */
#define LOCK_LOOP(name, take, drop) \
	static double name(const struct row *r, const struct place *p) \
	{ \
		struct xk_lockstat st = { 0 }; \
		struct xk_lock l; \
		xk_ns from; \
		double ns; \
		\
		(void)p; \
		(void)st; \
		r->ops->init(&l); \
		from = xk_clock_host(); \
		for (unsigned i = 0; i < LOOPS; i++) { \
			take; \
			drop; \
		} \
		ns = per(from, LOOPS); \
		r->ops->fini(&l); \
		return ns; \
	}

LOCK_LOOP(lock_free, r->ops->lock(&l), r->ops->unlock(&l))
LOCK_LOOP(lock_recorded, xk_lock_take(r->ops, &l, &st), xk_lock_drop(r->ops, &l, &st))

struct shared {
	const struct xk_lock_ops *ops;
	struct xk_lock lock XK_ALIGNED;
	uint64_t n XK_ALIGNED;           /* what the lock guards */
	uint32_t ready XK_ALIGNED;
	xk_ns    took[2];
};
struct side { struct shared *s; unsigned no; };

static void wait_for_both(uint32_t *ready)
{
	xk_atomic_add(ready, 1u);
	while (xk_load_acquire(ready) < 2)
		xk_cpu_relax();
}

static void take_often(void *arg)
{
	const struct side *d = arg;
	struct shared *s = d->s;
	xk_ns from;

	wait_for_both(&s->ready);
	from = xk_clock_host();
	for (unsigned i = 0; i < LOOPS / 4; i++) {
		s->ops->lock(&s->lock);
		s->n++;
		s->ops->unlock(&s->lock);
	}
	s->took[d->no] = xk_clock_host() - from;
}

/* Runs fn on both processors; false: a thread could not be made. */
static bool on_both(const struct place *p, void (*fn)(void *), void *a, void *b)
{
	struct xk_thread *t;

	if (!p->two || xk_thread_new(&t, "micro", p->cpu[1], fn, b) != XK_OK)
		return false;
	fn(a);
	xk_thread_join(t);
	return true;
}

static double lock_wanted(const struct row *r, const struct place *p)
{
	struct shared s = { .ops = r->ops };
	struct side d[2] = { { &s, 0 }, { &s, 1 } };
	double ns = -1;

	r->ops->init(&s.lock);
	if (on_both(p, take_often, &d[0], &d[1]))
		ns = (double)(s.took[0] > s.took[1] ? s.took[0] : s.took[1]) / (LOOPS / 2);
	r->ops->fini(&s.lock);
	return ns;
}

/* ---- another thread's attention ---------------------------------------------------- */

/* How a player waits for its turn: sleeping, looking, or looking and giving its processor away in between. */
enum wait { SLEEPS, LOOKS, YIELDS };
struct pingpong { struct xk_event ev[2]; uint32_t turn; enum wait wait; };
struct player { struct pingpong *g; unsigned no; };

static void await_turn(const struct player *p, uint32_t turn)
{
	struct pingpong *g = p->g;

	while (xk_load_acquire(&g->turn) != turn) {
		if (g->wait == LOOKS) {
			xk_cpu_relax();
			continue;
		}
		if (g->wait == YIELDS) {
			(void)sched_yield();
			continue;
		}
		xk_event_prepare(&g->ev[p->no]);
		if (xk_load_acquire(&g->turn) == turn)
			xk_event_cancel(&g->ev[p->no]);
		else
			xk_event_wait(&g->ev[p->no], XK_SEC, NULL, 0);
	}
}

/* Turns 0, 1, 2, ...: even ones are of player 0. */
static void play(void *arg)
{
	const struct player *p = arg;
	struct pingpong *g = p->g;

	for (uint32_t t = p->no; t < 2 * SWITCHES; t += 2) {
		await_turn(p, t);
		xk_store_release(&g->turn, t + 1);
		if (g->wait == SLEEPS)
			xk_event_wake(&g->ev[!p->no]);
	}
}

static double ping_pong(const struct place *p, enum wait wait, bool together)
{
	struct pingpong g = { .wait = wait };
	struct player a = { &g, 0 }, b = { &g, 1 };
	struct place same = { { p->cpu[0], p->cpu[0] }, true, NULL, NULL };
	xk_ns from;
	double ns = -1;

	if (xk_event_init(&g.ev[0]) != XK_OK)
		return -1;
	if (xk_event_init(&g.ev[1]) == XK_OK) {
		from = xk_clock_host();
		if (on_both(together ? &same : p, play, &a, &b))
			ns = per(from, 2 * SWITCHES);
		xk_event_fini(&g.ev[1]);
	}
	xk_event_fini(&g.ev[0]);
	return ns;
}

static double hand_over(const struct row *r, const struct place *p) { (void)r; return ping_pong(p, LOOKS, false); }
static double wake(const struct row *r, const struct place *p) { (void)r; return ping_pong(p, SLEEPS, false); }
static double switch_to(const struct row *r, const struct place *p) { (void)r; return ping_pong(p, SLEEPS, true); }
static double yield_to(const struct row *r, const struct place *p) { (void)r; return ping_pong(p, YIELDS, true); }

static double read_clock(const struct row *r, const struct place *p)
{
	xk_ns from = xk_clock_host(), last = from;

	(void)r;
	(void)p;
	for (unsigned i = 0; i < LOOPS; i++)
		last = xk_clock_host();
	return (double)(last - from) / LOOPS;
}

/* A look of who spins for a lock that is taken. */
static double look(const struct row *r, const struct place *p)
{
	uint32_t taken = 1;
	xk_ns from = xk_clock_host();

	(void)r;
	(void)p;
	for (unsigned i = 0; i < LOOPS / 100 && xk_load_relaxed(&taken) != 0; i++)
		xk_cpu_relax();
	return (double)(xk_clock_host() - from) / (LOOPS / 100);
}

/* ---- memory -------------------------------------------------------------------------- */

/* GB/s: bytes a nanosecond. */
static double copy(const struct place *p, size_t size, unsigned times)
{
	xk_ns from = xk_clock_host();

	for (unsigned i = 0; i < times; i++) {
		memcpy(p->b, p->a, size);
		__asm__ volatile("" ::: "memory");
	}
	return (double)size * times / (double)(xk_clock_host() - from);
}

static double copy_hot(const struct row *r, const struct place *p) { (void)r; return copy(p, HOT, 4096); }
static double copy_cold(const struct row *r, const struct place *p) { (void)r; return copy(p, COLD, 1); }

/* ---- a stack of one's own ----------------------------------------------------------------- */

struct pair { struct xk_fiber here, there; };

static void bounce(void *arg)
{
	struct pair *f = arg;

	for (;;)
		xk_fiber_switch(&f->there, &f->here);
}

/* There or back: half of a round trip of a user-level thread. */
static double switch_user(const struct row *r, const struct place *p)
{
	const size_t size = 128u << 10;
	struct pair f = { { 0 }, { 0 } };
	void *stack;
	xk_ns from;
	double ns;

	(void)r;
	(void)p;
	if (!xk_fiber_available() || (stack = calloc(1, size)) == NULL)
		return -1;
	xk_fiber_init(&f.there, stack, size, bounce, &f);
	xk_fiber_switch(&f.here, &f.there);      /* its pages are there */
	from = xk_clock_host();
	for (unsigned i = 0; i < LOOPS; i++)
		xk_fiber_switch(&f.here, &f.there);
	ns = per(from, 2.0 * LOOPS);
	xk_fiber_fini(&f.there);
	free(stack);
	return ns;
}

/* ---- the table -------------------------------------------------------------------------- */

static const struct row rows[] = {
	{ "lock none, free", "ns", &xk_lock_none, lock_free },
	{ "lock spin, free", "ns", &xk_lock_spin, lock_free },
	{ "lock ticket, free", "ns", &xk_lock_ticket, lock_free },
	{ "lock mcs, free", "ns", &xk_lock_mcs, lock_free },
	{ "lock adaptive, free", "ns", &xk_lock_adaptive, lock_free },
	{ "lock mutex, free", "ns", &xk_lock_mutex, lock_free },
	{ "lock rw, free", "ns", &xk_lock_rw, lock_free },
	{ "lock mutex, free, with its record", "ns", &xk_lock_mutex, lock_recorded },
	{ "lock spin, two want it", "ns", &xk_lock_spin, lock_wanted },
	{ "lock ticket, two want it", "ns", &xk_lock_ticket, lock_wanted },
	{ "lock mcs, two want it", "ns", &xk_lock_mcs, lock_wanted },
	{ "lock adaptive, two want it", "ns", &xk_lock_adaptive, lock_wanted },
	{ "lock mutex, two want it", "ns", &xk_lock_mutex, lock_wanted },
	{ "hand-over to one that spins", "ns", NULL, hand_over },
	{ "hand-over to one that sleeps", "ns", NULL, wake },
	{ "hand-over and switch on one processor", "ns", NULL, switch_to },
	{ "switch on one processor, by a yield", "ns", NULL, yield_to },
	{ "user-level switch, one way", "ns", NULL, switch_user },
	{ "reading the clock", "ns", NULL, read_clock },
	{ "a look at a lock that is taken", "ns", NULL, look },
	{ "copy of 16 KiB", "GB/s", NULL, copy_hot },
	{ "copy of 64 MiB", "GB/s", NULL, copy_cold },
};
#define NROWS XK_ARRAY_LEN(rows)

static void find_place(struct place *p)
{
	cpu_set_t set;
	unsigned n = 0;

	*p = (struct place){ .cpu = { -1, -1 } };
	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			p->cpu[n++] = i;
	p->two = n == 2;
	if (n != 0)
		(void)xk_thread_pin(p->cpu[0]);
}

static int measure(double *v, unsigned rounds)
{
	struct place p;

	find_place(&p);
	p.a = malloc(COLD);
	p.b = malloc(COLD);
	if (p.a != NULL && p.b != NULL) {
		memset(p.a, 1, COLD);
		memset(p.b, 2, COLD);
		for (unsigned k = 0; k < rounds; k++)
			for (unsigned i = 0; i < NROWS; i++)
				v[i * rounds + k] = rows[i].run(&rows[i], &p);
	}
	free(p.a);
	free(p.b);
	return p.a != NULL && p.b != NULL ? BENCH_OK : BENCH_IO;
}

static json_t *row_json(const struct row *r, const double *v, unsigned rounds)
{
	if (bench_stat("least", v, rounds) < 0)
		return json_pack("{s:s, s:s, s:n, s:n, s:n}", "name", r->name, "unit", r->unit, "median", "lowest", "highest");
	return json_pack("{s:s, s:s, s:f, s:f, s:f}", "name", r->name, "unit", r->unit, "median", bench_stat("median", v, rounds),
			 "lowest", bench_stat("least", v, rounds), "highest", bench_stat("most", v, rounds));
}

static json_t *all_rows(const double *v, unsigned rounds)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < NROWS; i++)
		json_array_append_new(all, row_json(&rows[i], &v[i * rounds], rounds));
	return all;
}

json_t *bench_micro_rows(unsigned rounds)
{
	double *v = calloc((size_t)NROWS * rounds, sizeof *v);
	json_t *all = v != NULL && measure(v, rounds) == BENCH_OK ? all_rows(v, rounds) : NULL;

	free(v);
	return all;
}

static int print_rows(const double *v, unsigned rounds, bool json)
{
	json_t *all = all_rows(v, rounds), *doc;
	int code = BENCH_OK;

	if (!json)
		code = bench_lua_print(stdout, "show", "micro", &all, 1);
	doc = json_pack("{s:i, s:i, s:o}", "schema", BENCH_SCHEMA, "rounds", (int)rounds, "micro", all);
	if (json) {
		json_dumpf(doc, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	json_decref(doc);
	return code;
}

struct options { bool json; unsigned rounds; };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char *end;
	long n;

	switch (key) {
	case 'j': o->json = true; return 0;
	case 'r':
		n = strtol(arg, &end, 10);
		if (*end != '\0' || n < 1 || n > (long)ROUNDS_MOST)
			argp_error(state, "--runs is 1 to %u, not '%s'", ROUNDS_MOST, arg);
		o->rounds = (unsigned)n;
		return 0;
	case ARGP_KEY_ARG: argp_error(state, "needs no argument, got '%s'", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int bench_micro_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "json", 'j', NULL, 0, "JSON instead of a table", 0 },
		{ "runs", 'r', "N", 0, "Each row N times (default 11)", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse, .doc = "What this machine's primitives cost." };
	struct options o = { .rounds = 11 };
	double *v;
	int code;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	v = calloc(NROWS * o.rounds, sizeof *v);
	code = v != NULL ? measure(v, o.rounds) : BENCH_IO;
	if (code != BENCH_OK)
		fprintf(stderr, "vp-bench: out of memory\n");
	else
		code = print_rows(v, o.rounds, o.json);
	free(v);
	return code;
}
