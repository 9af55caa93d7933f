/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_flow.c - holds the flow table to its promises: exact, symmetric, evenly
 * spread, and never wrong for who reads it while flows come and go.
 */
#include "runtime/classify/classify_priv.h"
#include "tests/runtime/classify/worlds.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>

#define NVPS 13u

static struct xk_flowtab *tab;
static uint64_t blocks;
/* Only addresses of sessions matter here. */
static char none_mem, sess_mem;
static struct xk_sess *none = (struct xk_sess *)(void *)&none_mem;

static void setup(void)
{
	xk_rcu_register();
	blocks = xk_alloc_live();
	CU_ASSERT_EQUAL_FATAL(xk_flowtab_new(&tab, NVPS), XK_OK);
}

static void teardown(void)
{
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_flowtab_count(tab), 0);
	xk_flowtab_free(tab);
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks);
	xk_rcu_unregister();
}

static struct xk_flowkey key_of(uint32_t i)
{
	return (struct xk_flowkey){ .raddr = htobe32(0x0a000000u + i / 50000), .laddr = htobe32(0x0a010001u),
		.rport = htobe16((uint16_t)(1024 + i % 50000)), .lport = htobe16(80), .proto = 6 };
}

static struct xk_flow *bind(uint32_t i, uint16_t vp)
{
	struct xk_flowkey k = key_of(i);
	struct xk_flow *f;

	CU_ASSERT_EQUAL_FATAL(xk_flow_bind(tab, &k, vp, none, &f), XK_OK);
	return f;
}

static struct xk_flow *find(uint32_t i)
{
	struct xk_flowkey k = key_of(i);

	return xk_flow_find(tab, &k);
}

static void a_bound_flow_is_found_with_its_vp_and_an_empty_hint_list(void)
{
	struct xk_flow *f = bind(1, 7);

	CU_ASSERT_PTR_EQUAL(find(1), f);
	CU_ASSERT_PTR_NULL(find(2));
	CU_ASSERT_EQUAL(f->vp, 7);
	for (unsigned i = 0; i < XK_ARRAY_LEN(f->sess); i++)
		CU_ASSERT_PTR_EQUAL(f->sess[i], none);
	CU_ASSERT_EQUAL(xk_flowtab_count(tab), 1);
	xk_flow_unbind(tab, f);
	CU_ASSERT_PTR_NULL(find(1));
}

static void a_connection_is_bound_once(void)
{
	struct xk_flow *f = bind(1, 7), *g;
	struct xk_flowkey k = key_of(1);

	CU_ASSERT_EQUAL(xk_flow_bind(tab, &k, 3, none, &g), XK_E_EXIST);
	CU_ASSERT_PTR_NULL(g);
	CU_ASSERT_EQUAL(f->vp, 7);
	xk_flow_unbind(tab, f);
	g = bind(1, 3);
	CU_ASSERT_EQUAL(find(1)->vp, 3);
	xk_flow_unbind(tab, g);
}

static void a_name_of_an_unbound_flow_resolves_no_more_even_after_reuse(void)
{
	struct xk_flow *f = bind(1, 7), *g;
	uint32_t h = xk_slab_handle(f);
	uint16_t gen = f->gen;

	CU_ASSERT_PTR_EQUAL(xk_flow_get(h, gen), f);
	CU_ASSERT_PTR_NULL(xk_flow_get(0, gen));
	f->sess[1] = (struct xk_sess *)(void *)&sess_mem;
	xk_rcu_read_lock();
	xk_flow_unbind(tab, f);
	CU_ASSERT_PTR_NULL(xk_flow_get(h, gen));
	/* While someone may still look, the memory is left alone. */
	g = bind(2, 1);
	CU_ASSERT_PTR_NOT_EQUAL(g, f);
	CU_ASSERT_PTR_EQUAL(f->sess[1], (struct xk_sess *)(void *)&sess_mem);
	xk_rcu_read_unlock();
	xk_flow_unbind(tab, g);
	xk_rcu_barrier();
	xk_rcu_barrier();
	for (unsigned i = 0; i < 4; i++) {
		g = bind(100 + i, 1);
		if (g == f)
			CU_ASSERT_PTR_EQUAL(f->sess[1], none);
		CU_ASSERT_PTR_NULL(xk_flow_get(h, gen));
		xk_flow_unbind(tab, g);
	}
	CU_ASSERT_TRUE(tab->slab.live <= 6);
}

static void both_directions_hash_alike_and_equal_ports_do_not_collide(void)
{
	unsigned same = 0, differ = 0, zero = 0;
	uint32_t first = 0;

	for (uint32_t i = 0; i < 10000; i++) {
		struct xk_flowkey k = key_of(i), r = k;

		r.raddr = k.laddr;
		r.laddr = k.raddr;
		r.rport = k.lport;
		r.lport = k.rport;
		same += xk_flow_hash(&k) == xk_flow_hash(&r) && xk_flow_home(tab, &k) == xk_flow_home(tab, &r);
		k.rport = k.lport = htobe16((uint16_t)i);
		zero += xk_flow_hash(&k) == 0;
		if (i == 0)
			first = xk_flow_hash(&k);
		differ += xk_flow_hash(&k) != first;
	}
	CU_ASSERT_EQUAL(same, 10000);
	CU_ASSERT_EQUAL(differ, 9999);
	CU_ASSERT_EQUAL(zero, 0);
}

static void unbound_connections_spread_evenly_over_the_vps(void)
{
	unsigned on[NVPS] = { 0 }, n = 130000;

	for (uint32_t i = 0; i < n; i++) {
		struct xk_flowkey k = key_of(i);
		uint16_t vp = xk_flow_home(tab, &k);

		CU_ASSERT_TRUE_FATAL(vp < NVPS);
		on[vp]++;
	}
	for (unsigned v = 0; v < NVPS; v++)
		CU_ASSERT_TRUE(on[v] > n / NVPS * 9 / 10 && on[v] < n / NVPS * 11 / 10);
}

static void many_flows_are_all_found_and_memory_comes_back(void)
{
	enum { N = 200000 };
	static struct xk_flow *f[N];
	unsigned bad = 0;

	for (uint32_t i = 0; i < N; i++)
		f[i] = bind(i, (uint16_t)(i % NVPS));
	CU_ASSERT_EQUAL(xk_flowtab_count(tab), N);
	for (uint32_t i = 0; i < N; i++)
		bad += find(i) != f[i];
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_PTR_NULL(tab->cur->tab.stash);
	for (uint32_t i = 0; i < N; i++)
		xk_flow_unbind(tab, f[i]);
	xk_rcu_barrier();
	xk_rcu_barrier();
	for (uint32_t i = 0; i < 1000; i++)
		f[i] = bind(i, 0);
	CU_ASSERT_EQUAL(tab->slab.live, N);
	for (uint32_t i = 0; i < 1000; i++)
		xk_flow_unbind(tab, f[i]);
}

static void lack_of_memory_refuses_and_changes_nothing(void)
{
	struct xk_flowkey k = key_of(0);
	struct xk_flow *f[400];
	unsigned n = 0;

	xk_mem_fail_after(1);
	CU_ASSERT_EQUAL(xk_flow_bind(tab, &k, 0, none, &f[0]), XK_E_NOMEM);
	for (uint32_t i = 0; i < 400; i++) {
		k = key_of(i);
		xk_mem_fail_after(1 + i % 5);
		if (xk_flow_bind(tab, &k, 0, none, &f[n]) == XK_OK)
			n++;
		else
			CU_ASSERT_PTR_NULL(find(i));
	}
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_flowtab_count(tab), n);
	CU_ASSERT_TRUE(n > 250 && n < 400);
	while (n > 0)
		xk_flow_unbind(tab, f[--n]);
}

static void a_failed_new_leaves_nothing(void)
{
	struct xk_flowtab *t;

	for (unsigned k = 1; k <= 3; k++) {
		xk_mem_fail_after(k);
		CU_ASSERT_EQUAL(xk_flowtab_new(&t, 1), XK_E_NOMEM);
		CU_ASSERT_PTR_NULL(t);
	}
	xk_flowtab_free(NULL);
}

/* ---- classifying while flows come and go ---------------------------------------- */

#define STABLE 300u
#define CHURN  6000u
static struct { uint32_t stop, rounds, missed, wrong; struct xk_flow *stable[STABLE]; } race;

/* Ethernet, IPv4 and the ports of a flow. */
static void frame_of(uint8_t *p, const struct xk_flowkey *k)
{
	static const uint8_t head[24] = { [12] = 0x08, 0x00, 0x45, [23] = 6 };

	memcpy(p, head, sizeof(head));
	memcpy(p + 26, &k->raddr, 12);
}

/* The VP of every flow but the stable ones follows from its key. */
static uint16_t vp_of(uint32_t i)
{
	return (uint16_t)(i * 2654435761u >> 16) % NVPS;
}

static void judge(uint32_t i, const struct xk_msg *m)
{
	struct xk_flow *s = i < STABLE ? race.stable[i] : NULL;

	if (s != NULL && (m->u.v.flow != xk_slab_handle(s) || xk_flow_get(m->u.v.flow, m->u.v.gen) != s))
		xk_atomic_add(&race.missed, 1);
	if (m->u.v.flow != 0 && m->vp != vp_of(i))
		xk_atomic_add(&race.wrong, 1);
}

/* Four times in a row, so that the flow may go while it is remembered. */
static void alone_round(struct xk_classifier *c, struct xk_msg *m, uint32_t no)
{
	static _Thread_local struct xk_single single;

	for (unsigned i = 0; i < 4; i++) {
		struct xk_flow *f = c->ops->single(c, &single, m);

		m->u.name = 0;
		if (f != NULL) {
			m->u.v.flow = xk_slab_handle(f);
			m->u.v.gen = xk_load_relaxed(&f->gen);
		}
		judge(no, m);
	}
}

static void classify_round(struct xk_classifier *c, uint32_t start)
{
	static _Thread_local struct xk_msg msg[32];
	static _Thread_local uint8_t frame[32][64];
	struct xk_msg *m[32];
	uint32_t no[32];

	for (unsigned i = 0; i < 32; i++) {
		struct xk_flowkey k;

		no[i] = i % 2 ? (start + i / 3) % STABLE : STABLE + (start * 31 + i) % CHURN;
		k = key_of(no[i]);
		frame_of(frame[i], &k);
		m[i] = &msg[i];
		m[i]->data = frame[i];
		m[i]->len = m[i]->tot = 60;
	}
	xk_classify(c, m, 32);
	for (unsigned i = 0; i < 32; i++)
		judge(no[i], m[i]);
	for (unsigned i = 0; i < 32; i++)
		alone_round(c, m[i], no[i]);
}

static void reader(void *arg)
{
	struct xk_classifier *c = arg;
	uint32_t start = 0;

	while (!xk_load_acquire(&race.stop)) {
		xk_rcu_read_lock();
		for (unsigned i = 0; i < 8; i++)
			classify_round(c, start++ * 17);
		xk_rcu_read_unlock();
		xk_atomic_add(&race.rounds, 1);
	}
}

static void churn(unsigned ops)
{
	static struct xk_flow *f[CHURN];

	memset(f, 0, sizeof(f));
	for (uint32_t n = 0; n < ops || xk_load_relaxed(&race.rounds) < 50; n++) {
		uint32_t i = n * 7919u % CHURN;

		if (f[i] == NULL) {
			f[i] = bind(STABLE + i, vp_of(STABLE + i));
		} else if (n % 3 != 0) {
			xk_flow_unbind(tab, f[i]);
			f[i] = NULL;
		}
		if (n % 128 == 0)
			xk_thread_yield();
	}
	for (uint32_t i = 0; i < CHURN; i++)
		if (f[i] != NULL)
			xk_flow_unbind(tab, f[i]);
}

/* A device's own map of flows: what it holds must be what is bound away from home. */
struct mirror { struct xk_flow_watch w; int held; unsigned bound, unbound; };

static void mirror_bound(struct xk_flow_watch *w, const struct xk_flowkey *k, uint16_t vp)
{
	struct mirror *m = xk_container_of(w, struct mirror, w);

	CU_ASSERT_NOT_EQUAL(vp, xk_flow_home(tab, k));
	m->bound++;
	m->held++;
}

static void mirror_unbound(struct xk_flow_watch *w, const struct xk_flowkey *k)
{
	struct mirror *m = xk_container_of(w, struct mirror, w);

	(void)k;
	m->unbound++;
	m->held--;
}

static void a_watch_is_told_of_every_flow_away_from_home(void)
{
	struct mirror a = { .w = { mirror_bound, mirror_unbound, NULL } }, b = a;
	struct xk_flow *f[400];
	int away = 0;

	for (uint32_t i = 0; i < 400; i++) {
		struct xk_flowkey k = key_of(i);
		uint16_t home = xk_flow_home(tab, &k);

		if (i == 200)
			xk_flowtab_watch(tab, &a.w);
		if (i == 300)
			xk_flowtab_watch(tab, &b.w);
		f[i] = bind(i, i % 3 == 0 ? home : (uint16_t)(home == 0));
		away += i % 3 != 0;
	}
	CU_ASSERT_EQUAL(a.held, away);
	CU_ASSERT_EQUAL(b.held, away);
	for (uint32_t i = 0; i < 100; i++)
		xk_flow_unbind(tab, f[i]);
	xk_flowtab_unwatch(tab, &a.w);
	for (uint32_t i = 100; i < 400; i++)
		xk_flow_unbind(tab, f[i]);
	CU_ASSERT_EQUAL(a.unbound, 66);
	CU_ASSERT_EQUAL(b.held, 0);
	xk_flowtab_unwatch(tab, &b.w);
}

static void verdicts_of_stable_flows_are_right_at_any_moment(void)
{
	struct xk_classifier *c;
	struct xk_thread *t[2];
	char why[256];

	race.stop = race.rounds = race.missed = race.wrong = 0;
	CU_ASSERT_PTR_NULL_FATAL(worlds_make());
	CU_ASSERT_EQUAL_FATAL(xk_classifier_new(&c, "native", &world[WORLD_ETH].pat, tab, why, sizeof why), XK_OK);
	for (uint32_t i = 0; i < STABLE; i++)
		race.stable[i] = bind(i, vp_of(i));
	for (unsigned i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(xk_thread_new(&t[i], "reader", -1, reader, c), XK_OK);
	churn(60000);
	xk_store_release(&race.stop, 1);
	for (unsigned i = 0; i < 2; i++)
		xk_thread_join(t[i]);
	CU_ASSERT_EQUAL(race.missed, 0);
	CU_ASSERT_EQUAL(race.wrong, 0);
	for (uint32_t i = 0; i < STABLE; i++)
		xk_flow_unbind(tab, race.stable[i]);
	xk_classifier_free(c);
}

static CU_TestInfo tests[] = {
	{ "a bound flow is found with its VP and an empty hint list", a_bound_flow_is_found_with_its_vp_and_an_empty_hint_list },
	{ "a connection is bound once", a_connection_is_bound_once },
	{ "a name of an unbound flow resolves no more, even after reuse", a_name_of_an_unbound_flow_resolves_no_more_even_after_reuse },
	{ "both directions hash alike and equal ports do not collide", both_directions_hash_alike_and_equal_ports_do_not_collide },
	{ "unbound connections spread evenly over the VPs", unbound_connections_spread_evenly_over_the_vps },
	{ "many flows are all found and memory comes back", many_flows_are_all_found_and_memory_comes_back },
	{ "lack of memory refuses and changes nothing", lack_of_memory_refuses_and_changes_nothing },
	{ "a failed new leaves nothing", a_failed_new_leaves_nothing },
	{ "a watch is told of every flow away from home", a_watch_is_told_of_every_flow_away_from_home },
	{ "verdicts of stable flows are right at any moment", verdicts_of_stable_flows_are_right_at_any_moment },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "flow", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}
