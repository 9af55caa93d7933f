/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_threads.c - a program's own threads over ncs, real time, every threading architecture:
 * two processes of one graph, connections between them.
 *
 * Promises: threads that the runtime did not make may call; one sends on a connection while another
 * receives; every message comes whole and in order, also where receives give up while it comes; a call that waits
 * holds up nobody, and ends when the connection is closed, by either end, or the process stops, or time is over.
 */
#include "runtime/base/xk_clock.h"
#include "runtime/compose/xk_compose.h"
#include "tests/protocols/ncs_job.h"

#include <pthread.h>

#define CONNS 6u
#define MOST  9000u

static unsigned job_bad[3];

static void up_as(unsigned n, const char *fields, const char *more)
{
	char params[128];

	printf("# %s\n", fields);
	snprintf(params, sizeof params, "unexpected = '1MiB', eager = '4KiB'%s", more);
	job_up(n, params, "", fields);
	CU_ASSERT_EQUAL_FATAL(xk_graph_run(job.g, job.e), XK_OK);
}

static void up_with(unsigned n, const char *fields) { up_as(n, fields, ""); }

static void up(const char *fields) { up_with(2, fields); }

/* Not before all threads of the test have ended. */
static void down(void)
{
	xk_ncs_stop(proc[0]);
	xk_ncs_stop(proc[1]);
	CU_ASSERT_EQUAL(xk_graph_free(job.g), 0);
	xk_spec_free(job.s);
	xk_errs_free(job.e);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), job.live);
}

static pthread_t begin(void *(*fn)(void *), void *arg)
{
	pthread_t t;
	int err = pthread_create(&t, NULL, fn, arg);

	xk_assert(err == 0);
	return t;
}

static struct xk_ncs_conn *opened(unsigned session)
{
	struct xk_ncs_conn *c;
	char why[XK_NCS_WHY];
	int err = xk_ncs_open(thr[0], &(struct xk_ncs_addr){ 1, 0, session, 0 }, NULL, &c, why, XK_NCS_FOREVER);

	if (err != XK_OK)
		printf("# open: %s (%s)\n", xk_strerror(err), why);
	return c;
}

/* ---- an echo --------------------------------------------------------------------------------- */

/* Message i of a session. */
static size_t make(unsigned session, unsigned i, uint8_t *b)
{
	size_t n = (i * 977 + session * 131) % MOST;

	for (size_t k = 0; k < n; k++)
		b[k] = (uint8_t)(k * (2 * session + 1) + i * 7);
	return n;
}

static void *echo_one(void *arg)
{
	struct xk_ncs_conn *c = arg;
	struct xk_ncs_status st;
	uint8_t *b = malloc(MOST);

	while (xk_ncs_recv(c, XK_NCS_ANY, b, MOST, &st, XK_NCS_FOREVER) == XK_OK &&
	       xk_ncs_send(c, st.tag, b, st.len, XK_NCS_FOREVER) == XK_OK)
		;
	free(b);
	xk_ncs_close(c);
	return NULL;
}

static void *echo_all(void *arg)
{
	struct xk_ncs_conn *c;
	pthread_t t[4 * CONNS];
	unsigned n = 0;

	(void)arg;
	while (n < XK_ARRAY_LEN(t) && xk_ncs_accept(thr[1], &c, NULL, XK_NCS_FOREVER) == XK_OK)
		t[n++] = begin(echo_one, c);
	while (n > 0)
		pthread_join(t[--n], NULL);
	return NULL;
}

struct talk { struct xk_ncs_conn *c; unsigned session, count, bad; };

static void *talk_send(void *arg)
{
	struct talk *t = arg;
	uint8_t *b = malloc(MOST);

	for (unsigned i = 0; i < t->count; i++) {
		size_t n = make(t->session, i, b);

		if (xk_ncs_send(t->c, (int)(i % 3), b, n, XK_NCS_FOREVER) != XK_OK)
			break;
	}
	free(b);
	return NULL;
}

static void *talk_all(void *arg)
{
	struct talk *t = arg;
	uint8_t *b = malloc(MOST), *want = malloc(MOST);
	struct xk_ncs_status st;
	pthread_t sender;

	t->c = opened(t->session);
	if (t->c == NULL) {
		t->bad++;
	} else {
		sender = begin(talk_send, t);
		for (unsigned i = 0; i < t->count; i++) {
			size_t n = make(t->session, i, want);

			t->bad += xk_ncs_recv(t->c, XK_NCS_ANY, b, MOST, &st, XK_NCS_FOREVER) != XK_OK || st.len != n ||
				  st.tag != (int)(i % 3) || memcmp(b, want, n) != 0;
		}
		pthread_join(sender, NULL);
		xk_ncs_close(t->c);
	}
	free(b);
	free(want);
	return NULL;
}

static void two_threads_of_each_connection_echo_every_message(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS | XK_TEST_CHANGED); *p != NULL; p++) {
		struct talk talk[CONNS];
		pthread_t s, t[CONNS];

		up(*p);
		s = begin(echo_all, NULL);
		for (unsigned i = 0; i < CONNS; i++) {
			talk[i] = (struct talk){ NULL, i, 12, 0 };
			t[i] = begin(talk_all, &talk[i]);
		}
		for (unsigned i = 0; i < CONNS; i++) {
			pthread_join(t[i], NULL);
			CU_ASSERT_EQUAL(talk[i].bad, 0);
		}
		xk_ncs_stop(proc[1]);
		pthread_join(s, NULL);
		down();
	}
}

/* ---- waiting ends -------------------------------------------------------------------------------- */

struct waiter { struct xk_ncs_conn *c; struct xk_ncs_thread *t; int res; uint32_t begun; pthread_t id; };

static void *wait_recv(void *arg)
{
	struct waiter *w = arg;
	char b[10];

	xk_store_release(&w->begun, 1u);
	w->res = xk_ncs_recv(w->c, 77, b, sizeof b, NULL, XK_NCS_FOREVER);
	return NULL;
}

static void *wait_any(void *arg)
{
	struct waiter *w = arg;
	char b[10];

	xk_store_release(&w->begun, 1u);
	w->res = xk_ncs_recv_any(w->t, XK_NCS_ANY, 77, b, sizeof b, NULL, XK_NCS_FOREVER);
	return NULL;
}

static void *wait_accept(void *arg)
{
	struct waiter *w = arg;
	struct xk_ncs_conn *c;

	xk_store_release(&w->begun, 1u);
	w->res = xk_ncs_accept(w->t, &c, NULL, XK_NCS_FOREVER);
	return NULL;
}

static void *wait_send(void *arg)
{
	static char b[1 << 12];
	struct waiter *w = arg;

	xk_store_release(&w->begun, 1u);
	do
		w->res = xk_ncs_send(w->c, 1, b, sizeof b, XK_NCS_FOREVER);
	while (w->res == XK_OK);
	return NULL;
}

static void wait_in(struct waiter *w, struct xk_ncs_thread *t, struct xk_ncs_conn *c, void *(*fn)(void *))
{
	*w = (struct waiter){ .t = t, .c = c };
	w->id = begin(fn, w);
	while (!xk_load_acquire(&w->begun))
		xk_thread_yield();
	for (int i = 0; i < 50; i++)             /* it waits by now, or will at once: both must end well */
		xk_thread_yield();
}

static int ends(struct waiter *w)
{
	pthread_join(w->id, NULL);
	return w->res;
}

static void closing_wakes_whoever_waits(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS); *p != NULL; p++) {
		struct waiter r[2], peer, any, acc, full;
		struct xk_ncs_conn *a, *b;
		struct xk_ncs_thread *t;

		up(*p);
		a = opened(0);
		CU_ASSERT_EQUAL_FATAL(xk_ncs_accept(thr[1], &b, NULL, XK_NCS_FOREVER), XK_OK);
		CU_ASSERT_EQUAL(xk_ncs_attach(proc[0], 5, &t), XK_OK);
		wait_in(&r[0], NULL, a, wait_recv);
		wait_in(&r[1], NULL, a, wait_recv);
		wait_in(&peer, NULL, b, wait_recv);
		wait_in(&any, t, NULL, wait_any);
		wait_in(&acc, t, NULL, wait_accept);
		xk_ncs_close(a);
		CU_ASSERT_EQUAL(ends(&r[0]), XK_E_BADF);
		CU_ASSERT_EQUAL(ends(&r[1]), XK_E_BADF);
		CU_ASSERT_EQUAL(ends(&peer), XK_E_CONNRESET);
		xk_ncs_detach(t);
		CU_ASSERT_EQUAL(ends(&any), XK_E_BADF);
		CU_ASSERT_EQUAL(ends(&acc), XK_E_BADF);
		xk_ncs_close(b);
		a = opened(1);
		wait_in(&full, NULL, a, wait_send);      /* until the peer keeps no more */
		CU_ASSERT(ends(&full) == XK_E_CONNRESET);
		down();
	}
}

static void stopping_a_process_wakes_everybody(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS); *p != NULL; p++) {
		struct waiter r, any, acc;
		struct xk_ncs_conn *a;

		up(*p);
		a = opened(0);
		wait_in(&r, NULL, a, wait_recv);
		wait_in(&any, thr[0], NULL, wait_any);
		wait_in(&acc, thr[0], NULL, wait_accept);
		xk_ncs_stop(proc[0]);
		CU_ASSERT_EQUAL(ends(&r), XK_E_SHUTDOWN);
		CU_ASSERT_EQUAL(ends(&any), XK_E_SHUTDOWN);
		CU_ASSERT_EQUAL(ends(&acc), XK_E_SHUTDOWN);
		CU_ASSERT_EQUAL(xk_ncs_send(a, 0, "", 0, XK_NCS_FOREVER), XK_E_SHUTDOWN);
		down();
	}
}

static void a_wait_has_its_limit(void)
{
	struct xk_ncs_conn *a, *b, *c;
	struct xk_ncs_req r;
	uint64_t before;
	char x[8];

	up("threading = ppc {}");
	a = opened(0);
	CU_ASSERT_EQUAL_FATAL(xk_ncs_accept(thr[1], &b, NULL, XK_NCS_FOREVER), XK_OK);
	before = xk_clock_host();
	CU_ASSERT_EQUAL(xk_ncs_recv(a, 1, x, 8, NULL, 2 * XK_MS), XK_E_AGAIN);
	CU_ASSERT(xk_clock_host() - before >= 2 * XK_MS);
	CU_ASSERT_EQUAL(xk_ncs_accept(thr[1], &c, NULL, 2 * XK_MS), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_probe_any(thr[1], 0, 1, NULL, 2 * XK_MS), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_irecv(b, 1, x, 8, &r), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_wait(&r, 2 * XK_MS), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_ncs_test(&r), XK_E_INPROGRESS);
	CU_ASSERT_EQUAL(xk_ncs_send(a, 1, "1234567", 8, XK_NCS_FOREVER), XK_OK);
	CU_ASSERT_EQUAL(xk_ncs_waitany((struct xk_ncs_req *[]){ NULL, &r }, 2, XK_NCS_FOREVER), 1);
	CU_ASSERT_STRING_EQUAL(x, "1234567");
	CU_ASSERT_EQUAL(xk_ncs_flush(a, XK_NCS_FOREVER), XK_OK);
	down();
}

/* ---- receives that give up -------------------------------------------------------------------------- */

#define LARGE 60000u
#define LARGES 12u

/* Message i; of the small ones each is of one SDU, or of some that are not announced. */
static size_t large(unsigned i, uint8_t *b)
{
	size_t n = i % 3 == 0 ? LARGE : i % 3 == 1 ? 3500 : 30000;

	for (size_t k = 0; k < n; k++)
		b[k] = (uint8_t)(k * 5 + k / 256 + i * 31);
	return n;
}

static void *send_large(void *arg)
{
	struct talk *t = arg;
	uint8_t *b = malloc(LARGE);

	for (unsigned i = 0; i < t->count; i++)
		t->bad += xk_ncs_send(t->c, 1, b, large(i, b), XK_NCS_FOREVER) != XK_OK;
	free(b);
	return NULL;
}

/* What it gave up is not written any more: another value stands there then. */
static unsigned receive_impatiently(struct xk_ncs_conn *c, unsigned count)
{
	uint8_t *b[2] = { malloc(LARGE), malloc(LARGE) }, *want = malloc(LARGE);
	unsigned bad = 0, gave_up = 0;
	struct xk_ncs_status st;

	for (unsigned i = 0; i < count && bad == 0; i++) {
		size_t n = large(i, want);
		int err;

		for (unsigned tries = 0; ; tries++) {
			err = xk_ncs_recv(c, 1, b[gave_up % 2], LARGE, &st, (tries % 16) * 20 * XK_US);
			if (err != XK_E_AGAIN)
				break;
			memset(b[gave_up++ % 2], 0x5a, LARGE);
			for (size_t k = 0; tries != 0 && k < LARGE; k += 997)
				bad += b[gave_up % 2][k] != 0x5a;
		}
		bad += err != XK_OK || st.len != n || memcmp(b[gave_up % 2], want, n) != 0;
		memset(b[0], 0x5a, LARGE);
		memset(b[1], 0x5a, LARGE);
	}
	printf("# %u receives gave up\n", gave_up);
	free(b[0]);
	free(b[1]);
	free(want);
	return bad;
}

static void receives_that_give_up_lose_nothing(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS); *p != NULL; p++) {
		struct talk t = { .count = LARGES };
		struct xk_ncs_conn *b;
		pthread_t s;

		up(*p);
		t.c = opened(0);
		CU_ASSERT_EQUAL_FATAL(xk_ncs_accept(thr[1], &b, NULL, XK_NCS_FOREVER), XK_OK);
		s = begin(send_large, &t);
		CU_ASSERT_EQUAL(receive_impatiently(b, LARGES), 0);
		xk_ncs_close(b);
		pthread_join(s, NULL);
		CU_ASSERT_EQUAL(t.bad, 0);
		down();
	}
}

/* ---- in place --------------------------------------------------------------------------------------- */

/* Sends back what it took, from where it lies to where it leaves. */
static bool sends_back(struct xk_ncs_conn *c, const struct xk_ncs_held *t, size_t n, int tag)
{
	struct xk_ncs_piece from = { NULL, 0, NULL }, to = { NULL, 0, NULL };
	struct xk_ncs_held *h;
	bool fine = true;

	while (xk_ncs_reserve(c, n, &h) == XK_E_NOSPC)   /* what others hold is given back */
		xk_ncs_yield();
	for (size_t at = 0; h != NULL && at < n;) {
		size_t k;

		fine = fine && (from.len != 0 || xk_ncs_next(t, &from)) && (to.len != 0 || xk_ncs_next(h, &to));
		if (!fine)
			break;
		k = from.len < to.len ? from.len : to.len;
		memcpy(to.at, from.at, k);
		from.at += k, to.at += k, at += k;
		from.len -= k, to.len -= k;
	}
	fine = fine && h != NULL && xk_ncs_commit(h, tag, XK_NCS_FOREVER) == XK_OK;
	xk_ncs_give(h);
	return fine;
}

static void *echo_in_place(void *arg)
{
	struct xk_ncs_conn *c = arg;
	struct xk_ncs_status st;
	struct xk_ncs_held *t;
	bool fine = true;

	while (fine && xk_ncs_take(c, XK_NCS_ANY, &t, &st, XK_NCS_FOREVER) == XK_OK) {
		fine = sends_back(c, t, st.len, st.tag);
		xk_ncs_give(t);
	}
	xk_ncs_close(c);
	return NULL;
}

static void what_is_taken_is_sent_in_place(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS); *p != NULL; p++) {
		struct talk t[2] = { { .session = 0, .count = LARGES }, { .session = 1, .count = LARGES } };
		struct xk_ncs_conn *b;
		pthread_t e[2], s[2];

		up_as(2, *p, ", held = '20KiB'");
		for (unsigned i = 0; i < 2; i++) {
			t[i].c = opened(i);
			CU_ASSERT_EQUAL_FATAL(xk_ncs_accept(thr[1], &b, NULL, XK_NCS_FOREVER), XK_OK);
			e[i] = begin(echo_in_place, b);
			s[i] = begin(send_large, &t[i]);
		}
		for (unsigned i = 0; i < 2; i++) {
			CU_ASSERT_EQUAL(receive_impatiently(t[i].c, LARGES), 0);
			pthread_join(s[i], NULL);
			CU_ASSERT_EQUAL(t[i].bad, 0);
			xk_ncs_close(t[i].c);
			pthread_join(e[i], NULL);
		}
		down();
	}
}

/* ---- connections come and go --------------------------------------------------------------------------- */

static void *many_short(void *arg)
{
	unsigned *bad = arg;
	char b[8];

	for (unsigned i = 0; i < 5; i++) {
		struct xk_ncs_conn *c = opened(i);

		*bad += c == NULL || xk_ncs_send(c, 1, "ping", 4, XK_NCS_FOREVER) != XK_OK ||
			xk_ncs_recv(c, 1, b, 4, NULL, XK_NCS_FOREVER) != XK_OK || memcmp(b, "ping", 4) != 0;
		xk_ncs_close(c);
	}
	return NULL;
}

static void *echo_in_turn(void *arg)
{
	struct xk_ncs_conn *c;

	(void)arg;
	while (xk_ncs_accept(thr[1], &c, NULL, XK_NCS_FOREVER) == XK_OK)
		echo_one(c);
	return NULL;
}

static void connections_come_and_go(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS); *p != NULL; p++) {
		pthread_t s[3], c[4];
		unsigned bad[4] = { 0 };

		up(*p);
		for (unsigned i = 0; i < 3; i++)
			s[i] = begin(echo_in_turn, NULL);
		for (unsigned i = 0; i < 4; i++)
			c[i] = begin(many_short, &bad[i]);
		for (unsigned i = 0; i < 4; i++) {
			pthread_join(c[i], NULL);
			CU_ASSERT_EQUAL(bad[i], 0);
		}
		xk_ncs_stop(proc[1]);
		for (unsigned i = 0; i < 3; i++)
			pthread_join(s[i], NULL);
		down();
	}
}

/* ---- groups --------------------------------------------------------------------------------------------- */

#define MEMBERS 3u

/* Each a process; bad: what was not as it should be. */
static void *member(void *arg)
{
	unsigned *bad = arg;
	unsigned me = (unsigned)(bad - job_bad);
	int64_t sum[2000];
	struct xk_ncs_group *g;
	uint8_t *b = malloc(100000);

	*bad += xk_ncs_group_new(thr[me], (const int[]){ 0, 1, 2 }, MEMBERS, 1, NULL, XK_NCS_AUTO, 0, &g) != XK_OK;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 2000; i++)
			sum[i] = (int64_t)i * (me + 1);
		*bad += xk_ncs_allreduce(g, XK_NCS_SUM, XK_NCS_I64, sum, 2000, XK_NCS_FOREVER) != XK_OK;
		for (unsigned i = 0; i < 2000; i++)
			*bad += sum[i] != 6 * (int64_t)i;
		memset(b, me == round ? 7 : 0, 100000);
		*bad += xk_ncs_bcast(g, round, b, 100000, XK_NCS_FOREVER) != XK_OK;
		for (unsigned i = 0; i < 100000; i++)
			*bad += b[i] != 7;
		*bad += xk_ncs_barrier(g, XK_NCS_FOREVER) != XK_OK;
	}
	if (me != 0)                             /* it leaves, and who waits for it hears of that */
		*bad += xk_ncs_barrier(g, XK_NCS_FOREVER) != XK_E_CONNRESET || xk_ncs_group_lost(g) != 0;
	xk_ncs_group_free(g);
	free(b);
	return NULL;
}

static void members_of_a_group_are_threads(void)
{
	for (const char *const *p = xk_test_presets(12, XK_TEST_ROWS); *p != NULL; p++) {
		pthread_t t[MEMBERS];

		up_with(MEMBERS, *p);
		memset(job_bad, 0, sizeof job_bad);
		for (unsigned i = 0; i < MEMBERS; i++)
			t[i] = begin(member, &job_bad[i]);
		for (unsigned i = 0; i < MEMBERS; i++) {
			pthread_join(t[i], NULL);
			CU_ASSERT_EQUAL(job_bad[i], 0);
		}
		xk_ncs_stop(proc[2]);
		down();
	}
}

#define T(x) { #x, x }
static CU_TestInfo tests[] = {
	T(two_threads_of_each_connection_echo_every_message), T(receives_that_give_up_lose_nothing),
	T(what_is_taken_is_sent_in_place),
	T(connections_come_and_go), T(closing_wakes_whoever_waits),
	T(stopping_a_process_wakes_everybody), T(members_of_a_group_are_threads), T(a_wait_has_its_limit), CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs threads", .pTests = tests }, CU_SUITE_INFO_NULL };

	setvbuf(stdout, NULL, _IOLBF, 0);
	return xk_test_main_rcu(suites);
}
