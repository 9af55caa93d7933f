/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_compute.c - compute threads of both kinds run the same programs: messages, groups, mutexes,
 * semaphores, yielding; communication goes on while they compute.
 *
 * User-level threads run in virtual time and on workers that own their virtual processors, threads of the
 * machine under every architecture.  Where the build or the architecture has no user-level threads,
 * that is said and the rest is tested.
 */
#include "runtime/base/xk_clock.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_fiber.h"
#include "tests/protocols/ncs_job.h"

#define COUNT 12u
#define MOST  20000u

/* ---- one program ------------------------------------------------------------------------------ */

static struct { struct xk_ncs_sem *sem; struct xk_ncs_mutex *mutex; unsigned bad, sum, inside; } shared;

static size_t fill(uint8_t *b, unsigned i)
{
	size_t n = (i * 7919u) % MOST;

	memset(b, (int)i + 1, n);
	return n;
}

static void bad_if(bool bad)
{
	if (bad)
		__atomic_add_fetch(&shared.bad, 1, __ATOMIC_RELAXED);
}

/* Asks, and compares what comes back. */
static void asker(void *arg)
{
	uint8_t *b = malloc(MOST), *got = malloc(MOST);
	struct xk_ncs_conn *c;
	struct xk_ncs_status st;

	(void)arg;
	bad_if(xk_ncs_open(thr[0], &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, NULL, XK_NCS_FOREVER) != XK_OK);
	for (unsigned i = 0; i < COUNT && c != NULL; i++) {
		size_t n = fill(b, i);

		bad_if(xk_ncs_send(c, (int)i, b, n, XK_NCS_FOREVER) != XK_OK);
		bad_if(xk_ncs_recv(c, (int)i, got, MOST, &st, XK_NCS_FOREVER) != XK_OK || st.len != n || memcmp(b, got, n) != 0);
	}
	bad_if(c != NULL && xk_ncs_recv(c, 99, got, MOST, NULL, 3 * XK_MS) != XK_E_AGAIN);      /* nothing more comes */
	bad_if(c != NULL && xk_ncs_flush(c, XK_NCS_FOREVER) != XK_OK);
	xk_ncs_close(c);
	free(b);
	free(got);
}

static void answerer(void *arg)
{
	uint8_t *b = malloc(MOST);
	struct xk_ncs_conn *c;
	struct xk_ncs_status st;

	(void)arg;
	bad_if(xk_ncs_accept(thr[1], &c, NULL, XK_NCS_FOREVER) != XK_OK);
	while (c != NULL && xk_ncs_recv_any(thr[1], 0, XK_NCS_ANY, b, MOST, &st, XK_NCS_FOREVER) == XK_OK)
		bad_if(xk_ncs_send(st.conn, st.tag, b, st.len, XK_NCS_FOREVER) != XK_OK);
	xk_ncs_close(c);
	free(b);
}

/* Many hold the mutex in turn; each makes one step for the semaphore. */
static void counter(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < 50; i++) {
		bad_if(xk_ncs_mutex_lock(shared.mutex, XK_NCS_FOREVER) != XK_OK);
		bad_if(shared.inside++ != 0);
		xk_ncs_yield();
		shared.sum++;
		bad_if(--shared.inside != 0);
		xk_ncs_mutex_unlock(shared.mutex);
	}
	xk_ncs_sem_post(shared.sem);
}

static void gatherer(void *arg)
{
	for (uintptr_t i = 0; i < (uintptr_t)arg; i++)
		bad_if(xk_ncs_sem_wait(shared.sem, XK_NCS_FOREVER) != XK_OK);
	bad_if(shared.sum != 50 * (uintptr_t)arg);
	bad_if(xk_ncs_sem_wait(shared.sem, 2 * XK_MS) != XK_E_AGAIN);
	bad_if(xk_ncs_sem_wait(shared.sem, 0) != XK_E_AGAIN);
}

static void begin(void)
{
	memset(&shared, 0, sizeof shared);
	CU_ASSERT_EQUAL(xk_ncs_sem_new(proc[0], 0, &shared.sem), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_mutex_new(proc[0], &shared.mutex), XK_OK);
}

static void end(void)
{
	CU_ASSERT_EQUAL(shared.bad, 0);
	xk_ncs_sem_free(shared.sem);
	xk_ncs_mutex_free(shared.mutex);
}

/* ---- user-level threads in virtual time ------------------------------------------------------------ */

static bool spawned(enum xk_ncs_kind kind, unsigned number, void (*fn)(void *), void *arg, struct xk_ncs_task **t)
{
	struct xk_node *n = proc[number % 2];
	int err = xk_ncs_spawn(n, kind, number, fn, arg, t);

	CU_ASSERT(err == XK_OK || (err == XK_E_NOTSUP && kind == XK_NCS_USER));
	return err == XK_OK;
}

static void ended(struct xk_ncs_task *t)
{
	int err = XK_E_AGAIN;

	for (unsigned i = 0; i < 3000 && (err = xk_ncs_join(t, 0)) == XK_E_AGAIN; i++)
		job_run(10 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(err, XK_OK);
}

static void user_level_threads_wait_in_virtual_time(void)
{
	struct xk_ncs_task *t[6];

	if (!xk_fiber_available()) {
		printf("# no user-level threads in this build\n");
		return;
	}
	job_virtual(2, "", "loss = 0.05, seed = 5");
	begin();
	for (unsigned k = 0; k < 2; k++)
		CU_ASSERT_FATAL(spawned(XK_NCS_USER, k, k == 0 ? asker : answerer, NULL, &t[k]));
	for (unsigned k = 2; k < 6; k++)
		CU_ASSERT_FATAL(spawned(XK_NCS_USER, k, k == 5 ? gatherer : counter, (void *)(uintptr_t)3, &t[k]));
	for (unsigned k = 0; k < 6; k++)
		ended(t[k]);
	CU_ASSERT_EQUAL(shared.sum, 150);
	end();
	job_down(2);
}

/* ---- both kinds on workers -------------------------------------------------------------------------- */

static void up(const char *fields)
{
	printf("# %s\n", fields);
	job_up(2, "", "", fields);
	CU_ASSERT_EQUAL_FATAL(xk_graph_run(job.g, job.e), XK_OK);
	begin();
}

static void down(void)
{
	end();
	xk_ncs_stop(proc[0]);
	xk_ncs_stop(proc[1]);
	CU_ASSERT_EQUAL(xk_graph_free(job.g), 0);
	xk_spec_free(job.s);
	xk_errs_free(job.e);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), job.live);
}

/* The asker of one kind, the answerer of another; three counters and who gathers, mixed. */
static void both_kinds_run_the_same_programs(void)
{
	unsigned user = 0;

	for (const char *const *p = xk_test_presets(4, XK_TEST_ROWS); *p != NULL; p++)
		for (unsigned mix = 0; mix < 3; mix++) {
			const enum xk_ncs_kind a = mix == 0 ? XK_NCS_KERNEL : XK_NCS_USER, b = mix == 2 ? XK_NCS_USER : XK_NCS_KERNEL;
			struct xk_ncs_task *t[6];

			up(*p);
			if (!spawned(a, 0, asker, NULL, &t[0])) {        /* this architecture has them not */
				down();
				break;
			}
			user += mix != 0;
			CU_ASSERT_FATAL(spawned(b, 1, answerer, NULL, &t[1]));
			for (unsigned k = 2; k < 6; k++)
				CU_ASSERT_FATAL(spawned(k % 2 ? a : b, k, k == 5 ? gatherer : counter, (void *)(uintptr_t)3, &t[k]));
			for (unsigned k = 0; k < 6; k++)
				CU_ASSERT_EQUAL(xk_ncs_join(t[k], XK_NCS_FOREVER), XK_OK);
			CU_ASSERT_EQUAL(shared.sum, 150);
			down();
		}
	CU_ASSERT(user > 0 || !xk_fiber_available());
}

/* ---- overlap ---------------------------------------------------------------------------------------------- */

static uint32_t all_there;
static uint8_t large[900000], copy[900000];

static void takes_all(void *arg)
{
	struct xk_ncs_conn *c;

	(void)arg;
	bad_if(xk_ncs_accept(thr[1], &c, NULL, XK_NCS_FOREVER) != XK_OK);
	bad_if(xk_ncs_recv(c, 1, copy, sizeof copy, NULL, XK_NCS_FOREVER) != XK_OK);
	xk_store_release(&all_there, 1u);
	xk_ncs_close(c);
}

/* Computes until the peer has the whole message: 900 packets in a window of 128, of which none needs this thread. */
static void communication_goes_on_while_a_thread_computes(void)
{
	for (const char *const *p = xk_test_presets(4, XK_TEST_ROWS); *p != NULL; p++) {
		struct xk_ncs_task *t;
		struct xk_ncs_conn *c;
		struct xk_ncs_req r;
		uint64_t x = 1;

		up(*p);
		all_there = 0;
		memset(large, 5, sizeof large);
		memset(copy, 0, sizeof copy);
		CU_ASSERT_FATAL(spawned(XK_NCS_KERNEL, 1, takes_all, NULL, &t));
		CU_ASSERT_EQUAL_FATAL(xk_ncs_open(thr[0], &(struct xk_ncs_addr){ .rank = 1 }, NULL, &c, NULL, XK_NCS_FOREVER), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_isend(c, 1, large, sizeof large, &r), XK_OK);
		while (!xk_load_acquire(&all_there)) {           /* no call, and no end but that one */
			for (unsigned i = 0; i < 1000; i++)
				x = x * 6364136223846793005u + 1442695040888963407u;
			__asm__ volatile("" : "+r"(x));
			xk_thread_yield();                       /* processors are few where this is tested */
		}
		CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_join(t, XK_NCS_FOREVER), XK_OK);
		CU_ASSERT_EQUAL(memcmp(large, copy, sizeof large), 0);
		xk_ncs_close(c);
		down();
	}
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(user_level_threads_wait_in_virtual_time), T(both_kinds_run_the_same_programs),
	T(communication_goes_on_while_a_thread_computes), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs compute threads", .pTests = tests }, CU_SUITE_INFO_NULL };

	setvbuf(stdout, NULL, _IOLBF, 0);
	return xk_test_main_rcu(suites);
}
