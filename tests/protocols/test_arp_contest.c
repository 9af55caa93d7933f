/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_arp_contest.c - address resolution: who claims the host of a neighbour in use.
 *
 * Promises: no packet that nobody asked for moves a session from a station that still answers,
 * whatever the packet is and however many come; a neighbour that did move is followed as soon as
 * its old station was asked and was silent.  All in virtual time.
 */
#include "tests/protocols/arp_fixture.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_inline.h"

static const struct pf_spec graph_plain[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8" }, UP, END
};
static const struct pf_spec graph_one_probe[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; probes=1" }, UP, END
};
static const struct pf_spec graph_cautious[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; learn=false" }, UP, END
};

/* Of all frames so far, those of that type to that station. */
static unsigned frames_to(uint16_t type, const uint8_t mac[6])
{
	unsigned n = 0;

	for (unsigned i = 0; i < pf_npushed(&f, "drv"); i++) {
		const struct pf_rec *r = pf_pushed(&f, "drv", i);

		n += xk_be16(r->bytes + 12) == type && memcmp(r->bytes, mac, 6) == 0;
	}
	return n;
}
static unsigned asked_at(const uint8_t mac[6]) { return frames_to(0x0806, mac); }
static unsigned data_to(const uint8_t mac[6]) { return frames_to(0x0800, mac); }

/* A session on each of n VPs, on peer's station for 2 s, and nothing on record. */
static void stand_on_peer(struct xk_sess **s, unsigned n, const struct pf_spec *graph)
{
	pf_up(&f, n, graph);
	for (unsigned vp = 0; vp < n; vp++) {
		s[vp] = pf_open_host(&f, "up", vp, THEM, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[vp]);
		pf_push(&f, vp, s[vp], "x", 1);
	}
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL_FATAL(data_to(peer), n);
	pf_run(&f, 2 * XK_SEC);
	pf_forget(&f, "drv");
}

static void close_all(struct xk_sess **s, unsigned n)
{
	for (unsigned vp = 0; vp < n; vp++)
		pf_close(&f, vp, s[vp]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

/* The ways to say that THEM is at that station. */
enum { CLAIMS = 6 };
static void claims(unsigned how, const uint8_t mac[6])
{
	const struct { const uint8_t *to; uint16_t op; uint32_t target; } c[CLAIMS] = {
		{ me, 2, US }, { me, 1, US }, { everybody, 1, US }, { everybody, 1, HOST(10, 0, 0, 9) },
		{ everybody, 1, THEM }, { everybody, 2, THEM },
	};
	struct pkt p = packet(c[how].to, c[how].op, mac, THEM, me, c[how].target);

	inject(0, &p);
}

static void no_word_of_another_moves_a_session_whose_station_answers(void)
{
	struct xk_sess *s[2];

	for (unsigned how = 0; how < CLAIMS; how++) {
		stand_on_peer(s, 2, graph_plain);
		for (unsigned t = 0, seen = 0; t < 60; t++) {
			claims(how, other);
			pf_push(&f, t % 2, s[t % 2], "x", 1);
			if (asked_at(peer) != seen)
				says_reply(1, peer, THEM);
			seen = asked_at(peer);
			pf_run(&f, XK_SEC);
		}
		CU_ASSERT_EQUAL(data_to(peer), 60);
		CU_ASSERT_EQUAL(data_to(other), 0);
		CU_ASSERT_EQUAL(asked_at(everybody), 0);
		CU_ASSERT(pf_count(&f, "arp", "contested") >= 60 / 2);
		CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 0);
		close_all(s, 2);
	}
}

static void a_flood_of_claims_asks_the_station_once_a_second(void)
{
	struct xk_sess *s[2];

	stand_on_peer(s, 2, graph_plain);
	for (unsigned i = 0, seen = 0; i < 10000; i++) {
		uint8_t mac[6] = { 2, 7, 0, 0, (uint8_t)(i >> 8), (uint8_t)i };

		claims(i % CLAIMS, mac);
		if (asked_at(peer) != seen)
			says_reply(0, peer, THEM);
		seen = asked_at(peer);
		pf_run(&f, XK_MS);
		if (i % 1000 == 999) {
			CU_ASSERT(seen >= 1 && seen <= 2);
			CU_ASSERT_EQUAL(asked_at(everybody), 0);
			pf_forget(&f, "drv");
			seen = 0;
		}
	}
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 0);
	close_all(s, 2);
}

/* Seconds until data goes to other, which moved there and says so; UINT32_MAX: not in a minute. */
static unsigned seconds_to_follow(struct xk_sess **s, unsigned n)
{
	claims(4, other);
	for (unsigned t = 0; t < 60; t++) {
		if (asked_at(everybody) != 0)
			says_reply(n - 1, other, THEM);
		for (unsigned vp = 0; vp < n; vp++)
			pf_push(&f, vp, s[vp], "x", 1);
		if (data_to(other) == n)
			return t;
		CU_ASSERT_EQUAL(data_to(other), 0);       /* all of them at once */
		pf_run(&f, XK_SEC);
	}
	return UINT32_MAX;
}

static void one_that_moved_is_followed_when_its_old_station_is_silent(void)
{
	struct xk_sess *s[4];

	stand_on_peer(s, 4, graph_plain);
	CU_ASSERT_EQUAL(seconds_to_follow(s, 4), 3);
	CU_ASSERT_EQUAL(asked_at(peer), 3);
	CU_ASSERT_EQUAL(asked_at(everybody), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "contested"), 1);
	/* And it is not taken back by who has moved away. */
	pf_run(&f, 2 * XK_SEC);
	pf_forget(&f, "drv");
	says_reply(0, peer, THEM);
	says_reply(0, other, THEM);
	pf_push(&f, 0, s[0], "x", 1);
	CU_ASSERT_EQUAL(data_to(other), 1);
	CU_ASSERT_EQUAL(asked_at(other), 1);
	close_all(s, 4);
	stand_on_peer(s, 1, graph_one_probe);
	CU_ASSERT_EQUAL(seconds_to_follow(s, 1), 1);
	close_all(s, 1);
}

/* Nobody sends: the next message shall find the right station all the same. */
static void a_session_that_is_silent_asks_too(void)
{
	struct xk_sess *s[1];

	stand_on_peer(s, 1, graph_plain);
	claims(0, other);
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	says_reply(0, peer, THEM);
	pf_run(&f, 60 * XK_SEC);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 1);
	close_all(s, 1);
}

static void one_that_nobody_stands_on_now_is_asked_at_its_next_use(void)
{
	struct xk_sess *s[1];

	stand_on_peer(s, 1, graph_plain);
	pf_close(&f, 0, s[0]);
	claims(1, other);                                 /* which is answered, as any request */
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "contested"), 1);
	pf_run(&f, 10 * XK_SEC);
	CU_ASSERT_EQUAL(asked_at(peer), 0);
	s[0] = pf_open_host(&f, "up", 0, THEM, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
	CU_ASSERT_EQUAL(asked_at(peer), 0);
	pf_push(&f, 0, s[0], "x", 1);
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	CU_ASSERT_EQUAL(data_to(peer), 1);
	says_reply(0, peer, THEM);
	pf_run(&f, 5 * XK_SEC);
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	close_all(s, 1);
}

static void one_that_no_session_ever_stood_on_changes_at_once(void)
{
	pf_up(&f, 1, graph_plain);
	xk_log_set(&pf_node(&f, "arp")->log, 0);
	claims(1, peer);
	pf_run(&f, 2 * XK_SEC);
	claims(1, other);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "contested"), 0);
	pf_down(&f);
}

/* With `learn` off nobody's claim is even looked into. */
static void without_learning_a_claim_asks_nobody(void)
{
	struct xk_sess *s[1];

	stand_on_peer(s, 1, graph_cautious);
	for (unsigned how = 0; how < CLAIMS; how++) {
		claims(how, other);
		pf_run(&f, 2 * XK_SEC);
	}
	CU_ASSERT_EQUAL(asked_at(peer) + asked_at(everybody), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "contested"), 0);
	close_all(s, 1);
}

static void a_claim_whose_claimant_is_silent_too_ends_in_a_neighbour_that_is_not_there(void)
{
	struct xk_sess *s[1];

	stand_on_peer(s, 1, graph_plain);
	claims(0, other);
	pf_run(&f, 6 * XK_SEC + XK_MS);
	CU_ASSERT_EQUAL(asked_at(peer), 3);
	CU_ASSERT_EQUAL(asked_at(everybody), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "failed"), 1);
	CU_ASSERT_PTR_NULL(s[0]->down);
	pf_run(&f, 6 * XK_SEC);
	pf_push(&f, 0, s[0], "x", 1);
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(data_to(peer), 1);
	close_all(s, 1);
}

/* At random: a forger claims, the station hears or answers two probes of three, never none in a row of
 * three; nothing of what is sent goes elsewhere. */
static void one_in_two_run(uint64_t seed)
{
	unsigned missed = 0, seen = 0;
	struct xk_sess *s[3];
	struct xk_rand rand;

	xk_rand_init(&rand, seed, 0);
	stand_on_peer(s, 3, graph_plain);
	for (unsigned t = 0; t < 300; t++) {
		if (xk_rand_below(&rand, 2) == 0)
			claims((unsigned)xk_rand_below(&rand, CLAIMS), other);
		if (asked_at(peer) != seen && missed < 2 && xk_rand_below(&rand, 3) == 0) {
			missed++;
		} else if (asked_at(peer) != seen) {
			missed = 0;
			says_reply((unsigned)xk_rand_below(&rand, 3), peer, THEM);
		}
		seen = asked_at(peer);
		pf_push(&f, t % 3, s[t % 3], "x", 1);
		pf_run(&f, 100 * XK_MS + xk_rand_below(&rand, 200 * XK_MS));
	}
	CU_ASSERT_EQUAL(data_to(peer), 300);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 0);
	CU_ASSERT_NOT_EQUAL(pf_count(&f, "arp", "contested"), 0);
	close_all(s, 3);
}

static void lost_probes_do_not_help_a_forger(void)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		one_in_two_run(seed);
}

static void running_out_of_memory_while_claimed_leaves_nothing(void)
{
	for (uint64_t k = 1; k < 16; k++) {
		struct xk_sess *s[1];

		stand_on_peer(s, 1, graph_plain);
		xk_mem_fail_after(k);
		claims(0, other);
		pf_run(&f, 2 * XK_SEC);
		says_reply(0, peer, THEM);
		xk_mem_fail_after(0);
		pf_run(&f, 2 * XK_SEC);
		pf_push(&f, 0, s[0], "x", 1);
		CU_ASSERT_EQUAL(data_to(peer), 1);
		close_all(s, 1);
	}
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(no_word_of_another_moves_a_session_whose_station_answers),
	T(a_flood_of_claims_asks_the_station_once_a_second),
	T(one_that_moved_is_followed_when_its_old_station_is_silent),
	T(a_session_that_is_silent_asks_too),
	T(one_that_nobody_stands_on_now_is_asked_at_its_next_use),
	T(one_that_no_session_ever_stood_on_changes_at_once),
	T(without_learning_a_claim_asks_nobody),
	T(a_claim_whose_claimant_is_silent_too_ends_in_a_neighbour_that_is_not_there),
	T(lost_probes_do_not_help_a_forger),
	T(running_out_of_memory_while_claimed_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "arp_contest", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
