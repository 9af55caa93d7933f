/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_torture.c - every allocation and every push onto the wire made to fail in turn, in
 * the life of connections.
 *
 * A scene is two hosts and what happens between them: some exchanges of an honest client,
 * under one circumstance.  It is played again and again, each time with the k-th allocation
 * (buffers included: no processor keeps any), or the k-th push, failing, until k is more
 * than there are.  Every exchange must end, done or failed; nothing may be held afterwards;
 * and hosts that have seen every failure still serve.
 * Invariant: after each play the hosts are at rest: no session of TCP, no buffer out.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

#include "protocols/sock/xk_sock.h"
#include "tests/fault/storm.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_part.h"

struct scene {
	const char       *name;
	struct storm_conf c;
	void            (*act)(void);    /* instead of the client's exchanges */
	bool              hopeless;      /* no exchange is done, ever */
};

static void starve(bool on)
{
	for (unsigned i = 0; i < storm_graph->vps->nvps; i++) {
		struct xk_vp *vp = storm_graph->vps->vp[i];

		xk_vp_enter_idle(vp);
		xk_memvp_starve(&vp->mem, on);
		xk_vp_leave_idle(vp);
	}
}

static void exchanges(void)
{
	storm_pace(10 * XK_MS);
	storm_run(25 * XK_MS);
	storm_pace(0);
	storm_run(200 * XK_MS);
}

/* Nobody is in the middle of anything any more.  Patience and TIME-WAIT are seconds; a last
 * FIN is repeated eight times, up to a minute apart, while nobody answers: who has sent
 * cookies resets nothing for a while. */
static bool rests(const struct scene *s, const char *what, uint64_t k)
{
	struct storm_stats st;
	uint64_t left;

	for (unsigned i = 0; i < 600 && storm_live("tcp1") + storm_live("tcp2") + storm_buffers() != 0; i++)
		storm_run(XK_SEC);
	left = storm_live("tcp1") + storm_live("tcp2") + storm_buffers();
	st = storm_stats("client");
	if (left == 0 && st.opened == st.done + st.failed + st.refused && st.wrong + storm_stats("server").wrong == 0)
		return true;
	printf("# %s, %s %llu fails: %llu and %llu sessions, %llu buffers; %llu opened, %llu done, %llu failed, %llu refused, "
	       "%llu wrong\n", s->name, what, (unsigned long long)k, (unsigned long long)storm_live("tcp1"),
	       (unsigned long long)storm_live("tcp2"), (unsigned long long)storm_buffers(), (unsigned long long)st.opened,
	       (unsigned long long)st.done, (unsigned long long)st.failed, (unsigned long long)st.refused,
	       (unsigned long long)(st.wrong + storm_stats("server").wrong));
	CU_FAIL("something is left");
	return false;
}

static uint64_t fail_allocation(const struct scene *s, uint64_t k)
{
	uint64_t tries;

	starve(true);
	xk_mem_fail_after(k);
	s->act();
	tries = xk_mem_tries();
	xk_mem_fail_after(0);
	starve(false);
	return tries;
}

static uint64_t fail_push(const struct scene *s, uint64_t k)
{
	uint64_t tries;

	storm_fail_push(k);
	s->act();
	tries = storm_pushes();
	storm_fail_push(0);
	return tries;
}

/* Plays it with everything failing once; how many there are. */
static uint64_t all_of(const struct scene *s, const char *what, uint64_t (*fail)(const struct scene *, uint64_t))
{
	/* Under valgrind every twentieth. */
	uint64_t step = xk_test_rounds(20) == 20 ? 1 : 20, k = 1;

	while (fail(s, k) >= k && rests(s, what, k))
		k += step;
	return k - 1;
}

static void play(const struct scene *scene)
{
	struct scene s = *scene;
	uint64_t done, mem, pushes;

	if (s.act == NULL)
		s.act = exchanges;
	if (s.c.tcp1 == NULL)
		s.c.tcp1 = "quirks = { msl = '100ms' }";
	if (s.c.tcp2 == NULL)
		s.c.tcp2 = "quirks = { msl = '100ms' }";
	storm_up(&s.c);
	mem = all_of(&s, "allocation", fail_allocation);
	pushes = s.c.fault == NULL ? all_of(&s, "push", fail_push) : 0;
	done = storm_stats("client").done;
	storm_pace(10 * XK_MS);
	storm_run(2 * XK_SEC);
	printf("# %s: %llu allocations, %llu pushes\n", s.name, (unsigned long long)mem, (unsigned long long)pushes);
	CU_ASSERT(mem > 4);
	CU_ASSERT_EQUAL(storm_stats("client").done > done, !s.hopeless);
	storm_down();
}

/* ---- scenes ---------------------------------------------------------------------------- */

#define IMPATIENT "every = '0s', patience = '5s'"

static void exchanges_and_a_stop(void)
{
	exchanges();
	/* What is still there is in the middle of something. */
	storm_pace(10 * XK_MS);
	storm_run(12 * XK_MS);
	storm_pace(0);
}

static int sock_open(const char *node)
{
	return xk_sock_socket(xk_graph_find(storm_graph, node), XK_SOCK_STREAM);
}

static void sockets(void)
{
	static const struct xk_sock_addr there = { STORM_SERVER, 81 };
	int l = sock_open("ssock"), c = sock_open("csock"), a = -1;
	char b[3000] = "question";

	if (l > 0 && c > 0 && xk_sock_bind(l, &(struct xk_sock_addr){ 0, 81 }) == XK_OK && xk_sock_listen(l, 4) == XK_OK) {
		(void)xk_sock_connect(c, &there);
		for (unsigned i = 0; i < 20 && a <= 0; i++) {
			storm_run(100 * XK_MS);
			(void)xk_sock_write(c, b, sizeof b);
			a = xk_sock_accept(l, NULL, 0);
		}
		storm_run(100 * XK_MS);
		if (a > 0) {
			(void)xk_sock_read(a, b, sizeof b);
			(void)xk_sock_write(a, b, sizeof b);
			storm_run(10 * XK_MS);
			(void)xk_sock_read(c, b, sizeof b);
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		int fd = i == 0 ? l : i == 1 ? c : a;

		if (fd > 0)
			xk_sock_close(fd);
	}
	storm_run(100 * XK_MS);
}

static int listen_again(struct xk_node *n)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], STORM_PORT);
	return xk_open_enable(n, n, n->down[0], &ps);
}

/* The listener goes while handshakes wait for their last step, and comes back. */
static void listener_goes(void)
{
	struct xk_node *n = xk_graph_find(storm_graph, "server");

	storm_pace(10 * XK_MS);
	storm_run(22 * XK_MS);
	storm_pace(0);
	xk_open_disable_all(n, n->down[0]);
	storm_run(100 * XK_MS);
	/* Memory may be out just now. */
	if (listen_again(n) != XK_OK)
		CU_ASSERT_EQUAL(listen_again(n), XK_OK);
}

static const struct scene scenes[] = {
	{ .name = "connect, exchange, close", .c = { .client = IMPATIENT } },
	{ .name = "a long answer", .c = { .client = IMPATIENT ", size = '60KiB'", .server = "size = '60KiB'" } },
	{ .name = "a long question", .c = { .client = IMPATIENT ", ask = '60KiB'", .server = "ask = '60KiB'" } },
	{ .name = "no answer", .c = { .client = IMPATIENT ", size = 0", .server = "size = 0" } },
	{ .name = "a server that holds until all is acknowledged", .c = { .client = IMPATIENT, .server = "keep = true" } },
	{ .name = "loss", .c = { .client = IMPATIENT, .fault = "{ loss = '10%', delay = '2ms' }" } },
	{ .name = "out of order", .c = { .client = IMPATIENT ", ask = '40KiB'", .server = "ask = '40KiB'",
					 .fault = "{ reorder = '30%', reorder_depth = 5, hold = '2ms' }" } },
	{ .name = "duplicates and wrong bits", .c = { .client = IMPATIENT, .fault = "{ dup = '20%', corrupt = '10%', hold = '2ms' }" } },
	{ .name = "a client that gives up", .c = { .client = "every = '0s', patience = '12ms'", .fault = "{ delay = '4ms' }" },
	  .hopeless = true },
	{ .name = "a server that refuses", .c = { .client = IMPATIENT ", most = 8", .server = "most = 1" } },
	{ .name = "the listener goes", .c = { .client = IMPATIENT, .fault = "{ delay = '10ms' }" }, .act = listener_goes },
	{ .name = "cookies", .c = { .client = IMPATIENT, .tcp2 = "quirks = { msl = '100ms', cookies = 'always' }" } },
	{ .name = "tiny buffers", .c = { .client = IMPATIENT, .tcp1 = "quirks = { msl = '100ms' }, rcv_buf = '2KiB'",
					 .tcp2 = "quirks = { msl = '100ms' }, snd_buf = '2KiB'" } },
	{ .name = "TIME-WAIT at its cap", .c = { .client = IMPATIENT, .tcp2 = "quirks = { msl = '1s', time_wait = 1 }" } },
	{ .name = "sessions at their cap", .c = { .client = IMPATIENT, .tcp2 = "quirks = { msl = '1s' }, sessions = 1" } },
	{ .name = "reno43", .c = { .client = IMPATIENT, .tcp1 = "quirks = { msl = '100ms' }, profile = 'reno43'",
				   .tcp2 = "quirks = { msl = '100ms' }, profile = 'reno43'" } },
	{ .name = "addresses to be asked for", .c = { .client = IMPATIENT, .ask_arp = true } },
	{ .name = "datagrams in fragments", .c = { .client = IMPATIENT, .ip2 = "mtu = 300, df = 'never'",
						   .tcp2 = "quirks = { msl = '100ms' }, mss = 1000" } },
	{ .name = "two virtual processors", .c = { .client = IMPATIENT, .graph = "threading = vppc { vps = 2 }" } },
	{ .name = "sockets", .c = { .client = IMPATIENT, .more = "sock { name = 'csock', over = hosts[1].tcp }\n"
				    "sock { name = 'ssock', over = hosts[2].tcp }" }, .act = sockets },
	{ .name = "one after the other", .c = { .client = IMPATIENT }, .act = exchanges_and_a_stop },
};

static void every_failure_in_every_scene_is_survived(void)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(scenes); i++)
		play(&scenes[i]);
}

/* The graph itself: read, built, brought up, taken down. */
static void every_failure_of_a_start_is_survived(void)
{
	uint64_t step = xk_test_rounds(20) == 20 ? 1 : 20;
	struct storm_conf c = { .client = IMPATIENT };
	uint64_t k = 1;

	for (bool up = false; !up; k += step) {
		xk_mem_fail_after(k);
		up = storm_up_try(&c);
		if (up && xk_mem_tries() >= k) {
			/* It came up without: then it works, too. */
			xk_mem_fail_after(0);
			exchanges();
			storm_down();
			up = false;
		}
	}
	xk_mem_fail_after(0);
	printf("# %llu allocations of a start\n", (unsigned long long)k);
	exchanges();
	CU_ASSERT(storm_stats("client").done > 0);
	storm_down();
}

static CU_TestInfo tests[] = {
	{ "every_failure_in_every_scene_is_survived", every_failure_in_every_scene_is_survived },
	{ "every_failure_of_a_start_is_survived", every_failure_of_a_start_is_survived },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "torture", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
