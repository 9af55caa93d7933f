/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_arp.c - address resolution: answers, learns, doubts, forgets.
 *
 * Promises: what packets may say and what comes of it (sizes, operations, conflicts,
 * unasked replies, floods, senders that cannot be), ageing and failure in virtual time, several VPs; reference counts balance, each
 * layer consumes its part of an address, controls that are unknown here reach the
 * driver, a failing allocation leaks nothing.
 */
#include "protocols/fddi/fddi.h"
#include "tests/protocols/arp_fixture.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

static const struct pf_spec graph_plain[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8" }, UP, END
};
static const struct pf_spec graph_small[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; cap=8; timeout=10s" }, UP, END
};
static const struct pf_spec graph_cautious[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; learn=false" }, UP, END
};
static const struct pf_spec graph_static[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; cap=1; neighbours=10.0.0.2=02:00:00:00:00:02" }, UP, END
};
static const struct pf_spec graph_announcing[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; announce=true" }, UP, END
};
static const struct pf_spec graph_bad_static[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "neighbours=10.0.0.2=ff:ff:ff:ff:ff:ff" }, UP, END
};
static const struct pf_spec graph_threads[] = {
	{ &pf_driver, "drv", NULL, "record=false" }, { &xk_proto_eth, "eth", "drv", NULL },
	{ &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; cap=24" }, UP, END
};
static const struct pf_spec graph_fddi[] = {
	{ &pf_driver, "drv", NULL, "mtu=4373" }, { &xk_proto_fddi, "fddi", "drv", NULL },
	{ &xk_proto_arp, "arp", "fddi", "addresses=10.0.0.1/8" }, UP, END
};

/* ---- answering and learning ----------------------------------------------------------------- */

static void answers_requests_for_our_addresses_only(void)
{
	struct arp_addr more = { HOST(10, 0, 0, 77), 8 };

	pf_up(&f, 1, graph_plain);
	says_request(0, peer, THEM, HOST(10, 0, 0, 77));
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	says_request(0, peer, THEM, US);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 0)->len, 42);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", 0)->bytes, packet(peer, 2, me, US, peer, THEM).b, 42), 0);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "arp", 0), ARP_CTL_ADD_ADDR, &more, sizeof(more)), 0);
	pf_leave(&f, 0);
	says_request(0, peer, THEM, HOST(10, 0, 0, 77));
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 2);
	pf_down(&f);
}

static void a_probe_is_answered_and_teaches_nothing(void)
{
	pf_up(&f, 1, graph_plain);
	says_request(0, peer, 0, US);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "learned"), 0);
	pf_down(&f);
}

static void a_request_to_us_teaches_and_others_do_not(void)
{
	pf_up(&f, 1, graph_plain);
	says_request(0, peer, THEM, HOST(10, 0, 0, 9));
	says_request(0, peer, THEM, THEM);                /* an announcement of a stranger */
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "learned"), 0);
	CU_ASSERT(!known(THEM));
	says_request(0, peer, THEM, US);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "learned"), 1);
	CU_ASSERT(known(THEM));
	pf_down(&f);
}

static void without_learning_only_answers_to_our_questions_count(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_cautious);
	says_request(0, peer, THEM, US);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 1);
	CU_ASSERT(!known(THEM));
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(data_frames(), 1);
	pf_run(&f, 5 * XK_SEC);
	says_request(0, other, THEM, THEM);
	pf_push(&f, 0, s, "y", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, peer, 6), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_neighbour_that_moves_takes_its_sessions_along_when_its_old_station_is_silent(void)
{
	struct xk_sess *s;

	pf_up(&f, 2, graph_plain);
	s = pf_open_host(&f, "up", 1, THEM, NULL);
	pf_push(&f, 1, s, "x", 1);
	says_reply(0, peer, THEM);
	says_request(0, other, THEM, THEM);               /* too soon: ignored */
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "contested"), 0);
	pf_run(&f, 2 * XK_SEC);
	says_request(0, other, THEM, THEM);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "contested"), 1);
	pf_push(&f, 1, s, "y", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, peer, 6), 0);
	pf_run(&f, 3 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "probes_out"), 3);
	says_reply(0, other, THEM);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 1);
	pf_push(&f, 1, s, "z", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, other, 6), 0);
	pf_close(&f, 1, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void static_entries_never_change_and_never_age(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_static);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	says_request(0, other, THEM, US);
	pf_run(&f, 48 * 3600 * XK_SEC);
	for (unsigned i = 0; i < 100; i++)
		says_request(0, other, HOST(10, 1, 0, i), US);
	pf_forget(&f, "drv");
	pf_push(&f, 0, s, "x", 1);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, peer, 6), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void a_static_entry_of_a_group_is_refused_before_start(void)
{
	CU_ASSERT(!pf_up_try(&f, 1, graph_bad_static));
	CU_ASSERT_EQUAL(xk_errs_count(f.errs), 1);
	pf_down(&f);
}

/* ---- ageing ---------------------------------------------------------------------------------- */

static void an_old_entry_is_used_once_more_and_confirmed(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_small);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	says_reply(0, peer, THEM);
	pf_run(&f, 60 * XK_SEC);
	CU_ASSERT_EQUAL(requests_for(THEM), 1);           /* silence costs nothing */
	pf_push(&f, 0, s, "y", 1);
	CU_ASSERT_EQUAL(data_frames(), 2);
	CU_ASSERT_EQUAL(requests_for(THEM), 2);
	says_reply(0, peer, THEM);
	pf_run(&f, 5 * XK_SEC);
	pf_push(&f, 0, s, "z", 1);
	CU_ASSERT_EQUAL(data_frames(), 3);
	CU_ASSERT_EQUAL(requests_for(THEM), 2);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void an_old_entry_that_nobody_confirms_fails(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_small);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	says_reply(0, peer, THEM);
	pf_run(&f, 11 * XK_SEC);
	pf_push(&f, 0, s, "y", 1);
	pf_run(&f, 4 * XK_SEC);
	CU_ASSERT_EQUAL(requests_for(THEM), 4);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "failed"), 1);
	CU_ASSERT_PTR_NULL(s->down);
	pf_push(&f, 0, s, "z", 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "unreachable"), 1);
	CU_ASSERT_EQUAL(data_frames(), 2);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- doubt --------------------------------------------------------------------------------------- */

static void drops_every_truncated_packet_and_counts_it(void)
{
	struct pkt p = packet(me, 1, peer, THEM, me, US);

	pf_up(&f, 1, graph_plain);
	for (uint32_t len = 0; len < 28; len++)
		pf_inject(&f, "drv", 0, p.b, 14 + len);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "short"), 28);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	for (uint32_t cut = 1; cut < 42; cut++)
		pf_inject_split(&f, "drv", 0, p.b, 42, cut);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 41);
	pf_down(&f);
}

static void drops_each_header_field_that_lies(void)
{
	static const struct { unsigned at; uint16_t v; bool wide; const char *reason; } c[] = {
		{ 14, 0, true, "bad_htype" }, { 14, 6, true, "bad_htype" }, { 14, 65535, true, "bad_htype" },
		{ 16, 0, true, "bad_ptype" }, { 16, 0x0806, true, "bad_ptype" }, { 16, 0x86dd, true, "bad_ptype" },
		{ 18, 0, false, "bad_hlen" }, { 18, 5, false, "bad_hlen" }, { 18, 7, false, "bad_hlen" }, { 18, 255, false, "bad_hlen" },
		{ 19, 0, false, "bad_plen" }, { 19, 3, false, "bad_plen" }, { 19, 16, false, "bad_plen" }, { 19, 255, false, "bad_plen" },
		{ 20, 0, true, "bad_op" }, { 20, 3, true, "bad_op" }, { 20, 0x0100, true, "bad_op" }, { 20, 65535, true, "bad_op" },
	};

	pf_up(&f, 1, graph_plain);
	for (unsigned i = 0; i < XK_ARRAY_LEN(c); i++) {
		struct pkt p = packet(me, 1, peer, THEM, me, US);
		uint64_t before = pf_drops(&f, "arp", c[i].reason);

		if (c[i].wide)
			xk_put_be16(p.b + c[i].at, c[i].v);
		else
			p.b[c[i].at] = (uint8_t)c[i].v;
		inject(0, &p);
		CU_ASSERT_EQUAL(pf_drops(&f, "arp", c[i].reason), before + 1);
	}
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	CU_ASSERT(!known(THEM));
	pf_down(&f);
}

static void refuses_senders_that_cannot_be(void)
{
	static const uint8_t zero[6], group[6] = { 1, 0, 0x5e, 0, 0, 1 };
	static const uint32_t hosts[] = { HOST(127, 0, 0, 1), HOST(224, 0, 0, 1), HOST(255, 255, 255, 255),
					  HOST(10, 255, 255, 255), HOST(0, 0, 0, 9) };

	pf_up(&f, 1, graph_plain);
	inject_from(peer, packet(me, 1, everybody, THEM, zero, US));
	inject_from(peer, packet(me, 1, group, THEM, zero, US));
	inject_from(peer, packet(me, 1, zero, THEM, zero, US));
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "bad_sender_mac"), 3);
	inject_from(peer, packet(me, 1, me, THEM, zero, US));
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "own_echo"), 1);
	for (unsigned i = 0; i < XK_ARRAY_LEN(hosts); i++)
		says_request(0, peer, hosts[i], US);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "bad_sender_ip"), XK_ARRAY_LEN(hosts));
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "learned"), 0);
	pf_down(&f);
}

static void defends_our_address_every_ten_seconds_and_learns_nothing(void)
{
	pf_up(&f, 1, graph_plain);
	xk_log_set(&pf_node(&f, "arp")->log, 0);
	for (int i = 0; i < 190; i++) {
		says_request(0, other, US, US);           /* gratuitous, for our own */
		says_reply(0, other, US);
		pf_run(&f, 100 * XK_MS);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "conflicts"), 380);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "conflict"), 380);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "defended"), 2);
	CU_ASSERT_EQUAL(requests_for(US), 2);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "learned"), 0);
	pf_down(&f);
}

static void announces_twice_when_asked_to(void)
{
	pf_up(&f, 4, graph_announcing);
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(requests_for(US), 1);
	pf_run(&f, 60 * XK_SEC);
	CU_ASSERT_EQUAL_FATAL(requests_for(US), 2);
	CU_ASSERT_EQUAL(memcmp(pf_pushed(&f, "drv", 0)->bytes, packet(everybody, 1, me, US, (uint8_t[6]){ 0 }, US).b, 42), 0);
	pf_down(&f);
}

static void a_flood_of_strangers_stays_under_the_cap_and_spares_neighbours_in_use(void)
{
	struct xk_sess *s;

	pf_up(&f, 1, graph_small);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	says_reply(0, peer, THEM);
	for (uint32_t i = 0; i < 65536; i++) {
		uint8_t mac[6] = { 2, 1, 0, 0, (uint8_t)(i >> 8), (uint8_t)i };

		says_request(0, mac, HOST(10, 1, 0, 0) + i, US);
		if (i % 4096 == 0)
			pf_forget(&f, "drv");
	}
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "learned"), 65536 + 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "evicted"), 65536 - 7);
	pf_forget(&f, "drv");
	pf_push(&f, 0, s, "y", 1);
	CU_ASSERT_EQUAL(data_frames(), 1);
	CU_ASSERT_EQUAL(requests_for(THEM), 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void wanted_hosts_push_out_the_least_recently_used(void)
{
	struct xk_sess *s[10];

	pf_up(&f, 1, graph_small);
	for (unsigned i = 0; i < 10; i++) {
		uint8_t mac[6] = { 2, 2, 0, 0, 0, (uint8_t)i };

		s[i] = pf_open_host(&f, "up", 0, HOST(10, 0, 1, i), NULL);
		pf_push(&f, 0, s[i], "x", 1);
		says_reply(0, mac, HOST(10, 0, 1, i));
	}
	CU_ASSERT_EQUAL(data_frames(), 10);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "evicted"), 2);
	CU_ASSERT_PTR_NULL(s[0]->down);                   /* told: it asks again */
	CU_ASSERT_PTR_NOT_NULL(s[9]->down);
	for (unsigned i = 0; i < 10; i++)
		pf_close(&f, 0, s[i]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

/* ---- virtual processors ---------------------------------------------------------------------------- */

static void a_reply_on_one_vp_frees_what_waits_on_all(void)
{
	struct xk_sess *s[4];

	pf_up(&f, 4, graph_plain);
	for (unsigned vp = 0; vp < 4; vp++) {
		s[vp] = pf_open_host(&f, "up", vp, THEM, NULL);
		pf_push(&f, vp, s[vp], "x", 1);
	}
	CU_ASSERT_EQUAL(requests_for(THEM), 1);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL_FATAL(data_frames(), 4);
	for (unsigned vp = 0; vp < 4; vp++)
		CU_ASSERT_EQUAL(pf_pushed(&f, "drv", vp + 1)->vp, vp);
	for (unsigned vp = 0; vp < 4; vp++)
		pf_close(&f, vp, s[vp]);
	pf_down(&f);
}

static void many_changes_at_once_reach_every_session(void)
{
	enum { N = 60 };       /* nearly twice what a VP's list of changes holds */
	static struct xk_sess *s[N];

	pf_up(&f, 4, graph_plain);
	for (unsigned i = 0; i < N; i++) {
		s[i] = pf_open_host(&f, "up", 1, HOST(10, 0, 2, i), NULL);
		pf_push(&f, 1, s[i], "x", 1);
	}
	/* All in one unit of VP 0, so that VP 1's list of changes runs over. */
	pf_enter(&f, 0);
	for (unsigned i = 0; i < N; i++) {
		uint8_t mac[6] = { 2, 3, 0, 0, 0, (uint8_t)i };
		struct pkt p = packet(me, 2, mac, HOST(10, 0, 2, i), me, US);
		struct xk_rep *arp = pf_rep(&f, "arp", 0);
		struct xk_msg *m = pf_msg(p.b + 14, 28);

		arp->up.demux(&arp->up, NULL, m);
	}
	pf_leave(&f, 0);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(data_frames(), N);
	for (unsigned i = 0; i < N; i++)
		pf_close(&f, 1, s[i]);
	pf_down(&f);
}

enum { JOBS = 4, ROUNDS = 200, HELD = 8 };
struct job { struct xk_call call; struct xk_rep *arp, *up; unsigned vp, round; struct xk_sess *held[HELD]; };
static uint32_t jobs_done;

static struct xk_sess *job_open(struct job *j, uint32_t host)
{
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	return xk_open(j->up, j->up->node, j->arp, &ps, &err);
}

static void job_push(struct xk_sess *s)
{
	struct xk_msg *m = s != NULL ? pf_msg("x", 1) : NULL;

	if (m != NULL)
		xk_push(s, m);
}

/* Sessions that live through all rounds, told of every change. */
static void job_held(struct job *j)
{
	for (unsigned i = 0; i < HELD; i++) {
		if (j->round == 0)
			j->held[i] = job_open(j, HOST(10, 0, 3, i * 7));
		job_push(j->held[i]);
		if (j->round == ROUNDS - 1 && j->held[i] != NULL)
			xk_close(j->held[i]);
	}
}

/* Opens, sends, hears of neighbours new, known and moved, closes; then again. */
static void job_run(struct xk_vp *vp, void *arg)
{
	struct job *j = arg;

	for (unsigned i = 0; i < 20; i++) {
		uint32_t host = HOST(10, 0, 3, (j->round * 7 + i * 3) % 60);
		uint8_t mac[6] = { 2, 4, 0, (uint8_t)j->vp, (uint8_t)j->round, (uint8_t)i };
		struct pkt p = packet(me, i & 1 ? 1 : 2, mac, host, me, US);
		struct xk_sess *s = job_open(j, host);
		struct xk_msg *m = pf_msg(p.b + 14, 28);

		job_push(s);
		if (m != NULL)
			j->arp->up.demux(&j->arp->up, NULL, m);
		if (s != NULL)
			xk_close(s);
	}
	job_held(j);
	if (++j->round == ROUNDS)
		(void)xk_atomic_add(&jobs_done, 1u);
	else
		xk_vp_call_async(vp, &j->call);
}

static void workers_share_the_table_without_harm(void)
{
	static struct job job[JOBS];

	pf_up_threads(&f, JOBS, 2, graph_threads);
	jobs_done = 0;
	for (unsigned vp = 0; vp < JOBS; vp++) {
		job[vp] = (struct job){ .call = { .fn = job_run, .arg = &job[vp] }, .vp = vp,
			.arp = pf_rep(&f, "arp", vp), .up = pf_rep(&f, "up", vp) };
		xk_vp_call_async(f.g->vps->vp[vp], &job[vp].call);
	}
	while (xk_load_acquire(&jobs_done) != JOBS)
		xk_thread_yield();
	pf_down(&f);
}

/* ---- the rest ----------------------------------------------------------------------------------------- */

static void what_is_received_goes_by_on_the_way_up(void)
{
	static const uint8_t in[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 'i', 'n' };
	struct xk_sess *s;

	pf_up(&f, 1, graph_plain);
	says_request(0, peer, THEM, US);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_inject(&f, "drv", 0, in, sizeof(in));
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "up"), 1);
	CU_ASSERT_PTR_EQUAL(pf_got(&f, "up", 0)->lls, s->down);
	CU_ASSERT_EQUAL(pf_rep(&f, "arp", 0)->npop, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void works_over_fddi(void)
{
	struct xk_sess *s;
	uint8_t b[49] = { 0x50, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0xaa, 0xaa, 3, 0, 0, 0, 8, 6 };

	pf_up(&f, 1, graph_fddi);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 1);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 0)->len, 49);
	memcpy(b + 21, packet(me, 2, peer, THEM, me, US).b + 14, 28);
	pf_inject(&f, "drv", 0, b, sizeof(b));
	CU_ASSERT_EQUAL_FATAL(pf_npushed(&f, "drv"), 2);
	CU_ASSERT_EQUAL(pf_pushed(&f, "drv", 1)->len, 22);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void ten_thousand_opens_leave_nothing(void)
{
	pf_up(&f, 4, graph_small);
	says_request(0, peer, THEM, US);
	for (unsigned i = 0; i < 10000; i++) {
		struct xk_sess *s = pf_open_host(&f, "up", i % 4, i & 4 ? THEM : HOST(10, 2, i >> 8, i & 255), NULL);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		if (i % 16 == 0)
			pf_push(&f, i % 4, s, "x", 1);
		pf_close(&f, i % 4, s);
	}
	CU_ASSERT(pf_sessions(&f, "arp") <= 4 * 64);     /* what still waits for an answer */
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void answers_controls(void)
{
	struct arp_addr bad = { HOST(224, 0, 0, 1), 8 }, good = { HOST(10, 0, 0, 50), 8 };
	struct xk_parts ps;
	struct xk_sess *s;
	uint8_t mac[6];
	uint32_t v = 0;
	struct xk_rep *r;

	pf_up(&f, 1, graph_plain);
	r = pf_rep(&f, "arp", 0);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, 4), 4);
	CU_ASSERT_EQUAL(v, THEM);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMYHOST, &v, 4), 4);
	CU_ASSERT_EQUAL(v, US);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMAXPACKET, &v, 4), 4);
	CU_ASSERT_EQUAL(v, 1500);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMYMAC, mac, 6), 6);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETPARTICIPANTS, &ps, sizeof(ps)), (int)sizeof(ps));
	CU_ASSERT_EQUAL(xk_part_pop_host(&ps.p[XK_REMOTE], &v), 0);
	CU_ASSERT_EQUAL(v, THEM);
	CU_ASSERT_EQUAL(xk_control(r, ARP_CTL_ADD_ADDR, &bad, sizeof(bad)), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_control(r, ARP_CTL_ADD_ADDR, &good, 4), XK_E_INVAL);
	for (unsigned i = 0; i < 63; i++) {
		CU_ASSERT_EQUAL(xk_control(r, ARP_CTL_ADD_ADDR, &good, sizeof(good)), 0);
		CU_ASSERT_EQUAL(xk_control(r, ARP_CTL_ADD_ADDR, &good, sizeof(good)), 0);
		good.addr++;
	}
	CU_ASSERT_EQUAL(xk_control(r, ARP_CTL_ADD_ADDR, &good, sizeof(good)), XK_E_NOSPC);
	CU_ASSERT_EQUAL(xk_control(r, 424242, &v, 4), XK_E_NOTSUP);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
	pf_down(&f);
}

static void running_out_of_memory_anywhere_leaves_nothing(void)
{
	bool up = false;

	for (uint64_t k = 1; !up && k < 500; k++) {
		xk_mem_fail_after(k);
		up = pf_up_try(&f, 2, graph_static);
		xk_mem_fail_after(0);
		pf_down(&f);
	}
	CU_ASSERT(up);
	for (uint64_t k = 1; k < 24; k++) {
		struct xk_sess *s;

		pf_up(&f, 1, graph_plain);
		xk_mem_fail_after(k);
		s = pf_open_host(&f, "up", 0, THEM, NULL);
		if (s != NULL)
			pf_push(&f, 0, s, "x", 1);
		says_request(0, other, HOST(10, 0, 0, 3), US);
		says_reply(0, peer, THEM);
		xk_mem_fail_after(0);
		/* With memory back it works again, by itself where somebody waits. */
		if (s == NULL)
			s = pf_open_host(&f, "up", 0, THEM, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_run(&f, 10 * XK_SEC);
		pf_push(&f, 0, s, "y", 1);
		says_reply(0, peer, THEM);
		CU_ASSERT(data_frames() >= 1);
		pf_close(&f, 0, s);
		pf_down(&f);
	}
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(answers_requests_for_our_addresses_only),
	T(a_probe_is_answered_and_teaches_nothing),
	T(a_request_to_us_teaches_and_others_do_not),
	T(without_learning_only_answers_to_our_questions_count),
	T(a_neighbour_that_moves_takes_its_sessions_along_when_its_old_station_is_silent),
	T(static_entries_never_change_and_never_age),
	T(a_static_entry_of_a_group_is_refused_before_start),
	T(an_old_entry_is_used_once_more_and_confirmed),
	T(an_old_entry_that_nobody_confirms_fails),
	T(drops_every_truncated_packet_and_counts_it),
	T(drops_each_header_field_that_lies),
	T(refuses_senders_that_cannot_be),
	T(defends_our_address_every_ten_seconds_and_learns_nothing),
	T(announces_twice_when_asked_to),
	T(a_flood_of_strangers_stays_under_the_cap_and_spares_neighbours_in_use),
	T(wanted_hosts_push_out_the_least_recently_used),
	T(a_reply_on_one_vp_frees_what_waits_on_all),
	T(many_changes_at_once_reach_every_session),
	T(workers_share_the_table_without_harm),
	T(what_is_received_goes_by_on_the_way_up),
	T(works_over_fddi),
	T(ten_thousand_opens_leave_nothing),
	T(answers_controls),
	T(running_out_of_memory_anywhere_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "arp", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
