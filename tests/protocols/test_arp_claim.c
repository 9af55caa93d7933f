/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_arp_claim.c - address resolution: an address is probed, announced, defended, lost (RFC 5227).
 *
 * Promises: the frames and their times are those of the RFC, drawn from the graph's seed; before an
 * address is ours nothing leaves but probes, and what was pushed waits or is dropped with a reason;
 * another station's packet ends it at each stage, and nothing leaves afterwards.  All in virtual time.
 */
#include <stdio.h>

#include "tests/protocols/arp_fixture.h"
#include "protocols/vnet/vnet.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_vps.h"

#define GRAPH(name, params) \
	static const struct pf_spec name[] = { DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; " params }, UP, END }

GRAPH(graph_probing, "probe=true");
GRAPH(graph_static, "probe=true; neighbours=10.0.0.2=02:00:00:00:00:02; queue=4");
GRAPH(graph_once, "probe=true; defend=once");
GRAPH(graph_never, "probe=true; defend=never");
GRAPH(graph_never_probed, "defend=never");
GRAPH(graph_quiet, "probe=true; conflict=quiet");
static const struct pf_spec graph_nothing[] = { DRV, { &xk_proto_arp, "arp", "eth", "probe=true" }, UP, END };
static const struct pf_spec graph_two[] = {
	{ &pf_driver, "drv", NULL, NULL }, { &xk_proto_eth, "eth", "drv", NULL },
	{ &pf_driver, "drv2", NULL, "mac=02:00:00:00:00:09" }, { &xk_proto_eth, "eth2", "drv2", NULL },
	{ &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; probe=true" },
	{ &xk_proto_arp, "arp2", "eth2", "addresses=10.0.0.1/8" },
	{ &xk_proto_vnet, "vnet", "arp,arp2", NULL }, { &pf_upper, "up", "vnet", NULL }, END
};

static const uint8_t zero[6];
static const uint8_t beside[6] = { 2, 0, 0, 0, 0, 9 };

/* ---- when frames leave ---------------------------------------------------------------- */

#define FRAMES 400
static struct { xk_ns at; struct pkt p; } frame[FRAMES];
static unsigned nframes;

/* Lets dt pass, a tick at a time; frame[] has what left, and by when. */
static void watch(xk_ns dt)
{
	for (xk_ns end = pf_now(&f) + dt; pf_now(&f) < end;) {
		pf_run(&f, XK_MS);
		for (unsigned i = 0; i < pf_npushed(&f, "drv") && nframes < FRAMES; i++) {
			const struct pf_rec *r = pf_pushed(&f, "drv", i);

			frame[nframes].p = (struct pkt){ { 0 } };
			memcpy(frame[nframes].p.b, r->bytes, r->len < 60 ? r->len : 60);
			frame[nframes++].at = pf_now(&f);
		}
		pf_forget(&f, "drv");
	}
}

static void up_probing(unsigned nvps, const struct pf_spec *graph)
{
	nframes = 0;
	pf_up(&f, nvps, graph);
	xk_log_set(&pf_node(&f, "arp")->log, 0);
}

static bool is_arp(unsigned i, uint32_t spa, uint32_t tpa)
{
	struct pkt p = packet(everybody, 1, me, spa, zero, tpa);

	return i < nframes && memcmp(frame[i].p.b, p.b, 42) == 0;
}
static bool is_probe(unsigned i, uint32_t addr) { return is_arp(i, 0, addr); }
static bool is_announcement(unsigned i, uint32_t addr) { return is_arp(i, addr, addr); }

/* Within two ticks after that. */
static void about(xk_ns at, xk_ns want)
{
	CU_ASSERT(at >= want && at <= want + 2 * XK_MS);
}

static xk_ns drawn(struct xk_rand *r, xk_ns least, xk_ns most)
{
	return least + xk_rand_below(r, most - least + 1);
}

/* ---- nobody objects ---------------------------------------------------------------------- */

static void probes_and_announcements_leave_at_the_times_of_the_rfc(void)
{
	struct xk_rand r;
	xk_ns began;

	up_probing(4, graph_probing);
	began = pf_now(&f);
	xk_rand_init(&r, xk_node_seed(pf_node(&f, "arp")), 0x6172700000000000u + pf_node(&f, "arp")->no);
	watch(60 * XK_SEC);
	CU_ASSERT_EQUAL_FATAL(nframes, 5);
	CU_ASSERT(is_probe(0, US) && is_probe(1, US) && is_probe(2, US));
	CU_ASSERT(is_announcement(3, US) && is_announcement(4, US));
	about(frame[0].at, began + drawn(&r, 0, XK_SEC));
	about(frame[1].at, frame[0].at + drawn(&r, XK_SEC, 2 * XK_SEC));
	about(frame[2].at, frame[1].at + drawn(&r, XK_SEC, 2 * XK_SEC));
	about(frame[3].at, frame[2].at + 2 * XK_SEC);
	about(frame[4].at, frame[3].at + 2 * XK_SEC);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "address_probes_out"), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "addresses_lost"), 0);
	CU_ASSERT_PTR_NULL(xk_node_failure(pf_node(&f, "arp")));
	pf_down(&f);
}

/* Each by itself, within the limits, and not together. */
static void sixty_four_addresses_are_probed_each_at_its_own_times(void)
{
	struct pf_spec specs[5] = { DRV, { &xk_proto_arp, "arp", "eth", NULL }, UP, END };
	char params[2000] = "probe=true; addresses=";
	unsigned n = (unsigned)strlen(params), alike = 0;
	xk_ns began, first[64];

	for (unsigned i = 0; i < 64; i++)
		n += (unsigned)snprintf(params + n, sizeof params - n, "%s10.0.1.%u/8", i ? "," : "", i + 1);
	specs[2].params = params;
	up_probing(1, specs);
	began = pf_now(&f);
	watch(20 * XK_SEC);
	CU_ASSERT_EQUAL(nframes, 64 * 5);
	for (unsigned i = 0; i < 64; i++) {
		uint32_t a = HOST(10, 0, 1, i + 1);
		xk_ns last = 0;
		unsigned seen = 0;

		for (unsigned k = 0; k < nframes; k++) {
			xk_ns gap = frame[k].at - last;

			if (xk_be32(frame[k].p.b + 38) != a)
				continue;
			CU_ASSERT(seen < 3 ? is_probe(k, a) : is_announcement(k, a));
			if (seen == 0) {
				first[i] = frame[k].at;
				CU_ASSERT(first[i] <= began + XK_SEC + 2 * XK_MS);
			} else if (seen < 3) {
				CU_ASSERT(gap >= XK_SEC && gap <= 2 * XK_SEC + 2 * XK_MS);
			} else {
				about(gap, 2 * XK_SEC);
			}
			last = frame[k].at;
			seen++;
		}
		CU_ASSERT_EQUAL(seen, 5);
		for (unsigned k = 0; k < i; k++)
			alike += first[k] == first[i];
	}
	CU_ASSERT(alike < 30);                            /* of 2016 pairs, in 1000 ticks */
	pf_down(&f);
}

static void without_probing_nothing_leaves_and_nothing_waits(void)
{
	up_probing(1, graph_never_probed);
	watch(20 * XK_SEC);
	CU_ASSERT_EQUAL(nframes, 0);
	says_request(0, peer, THEM, US);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 1);
	pf_down(&f);
}

static void without_addresses_the_gate_opens_at_once(void)
{
	struct xk_sess *s;

	up_probing(1, graph_nothing);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	watch(10 * XK_MS);
	CU_ASSERT_EQUAL(nframes, 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "address_probes_out"), 0);
	says_reply(0, peer, THEM);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* ---- what waits --------------------------------------------------------------------------- */

static void what_is_pushed_waits_until_the_address_is_ours(void)
{
	struct xk_sess *s[4];

	up_probing(4, graph_probing);
	for (unsigned vp = 0; vp < 4; vp++) {
		s[vp] = pf_open_host(&f, "up", vp, vp == 3 ? HOST(10, 255, 255, 255) : THEM, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[vp]);
		pf_push(&f, vp, s[vp], "x", 1);
	}
	for (unsigned t = 0; t < 10000 && nframes < 4; t++)
		watch(XK_MS);
	watch(5 * XK_MS);
	CU_ASSERT_EQUAL_FATAL(nframes, 6);
	CU_ASSERT(is_probe(2, US) && is_announcement(3, US));
	/* At once, to all of the network and in question of the neighbour. */
	CU_ASSERT(frame[4].at <= frame[3].at + 2 * XK_MS && frame[5].at <= frame[3].at + 2 * XK_MS);
	CU_ASSERT_NOT_EQUAL(is_arp(4, US, THEM), is_arp(5, US, THEM));
	CU_ASSERT_NOT_EQUAL(xk_be16(frame[4].p.b + 12) == 0x0800, xk_be16(frame[5].p.b + 12) == 0x0800);
	nframes = 0;
	says_reply(1, peer, THEM);
	watch(10 * XK_MS);
	CU_ASSERT_EQUAL(nframes, 3);
	for (unsigned i = 0; i < nframes; i++)
		CU_ASSERT(memcmp(frame[i].p.b, peer, 6) == 0 && xk_be16(frame[i].p.b + 12) == 0x0800);
	for (unsigned vp = 0; vp < 4; vp++)
		pf_close(&f, vp, s[vp]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "queue_full"), 0);
	pf_down(&f);
}

/* A neighbour whose station is known waits, too; the newest are kept, also of who is gone. */
static void the_newest_are_kept_also_of_who_closes(void)
{
	struct xk_sess *s;

	up_probing(1, graph_static);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	for (char c = 'a'; c <= 'f'; c++)
		pf_push(&f, 0, s, &c, 1);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "queue_full"), 2);
	watch(10 * XK_SEC);
	CU_ASSERT_EQUAL_FATAL(nframes, 5 + 4);
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(frame[4 + i].p.b[14], 'c' + i);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void nobody_is_answered_before_the_address_is_ours(void)
{
	up_probing(1, graph_probing);
	watch(XK_SEC);
	says_request(0, peer, THEM, US);
	says_request(0, peer, THEM, HOST(10, 0, 0, 9));
	says_request(0, peer, 0, THEM);                   /* somebody probes for another */
	says_reply(0, peer, THEM);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 0);
	watch(7 * XK_SEC);
	says_request(0, peer, THEM, US);
	says_request(0, peer, 0, US);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 2);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "conflicts"), 0);
	pf_down(&f);
}

static void an_address_that_comes_late_is_probed_before_it_is_answered_for(void)
{
	struct arp_addr more = { HOST(10, 0, 0, 77), 8 };

	up_probing(4, graph_probing);
	watch(20 * XK_SEC);
	nframes = 0;
	pf_enter(&f, 2);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "arp", 2), ARP_CTL_ADD_ADDR, &more, sizeof more), 0);
	pf_leave(&f, 2);
	watch(XK_SEC + 10 * XK_MS);
	CU_ASSERT(is_probe(0, more.addr));
	says_request(0, peer, THEM, more.addr);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 0);
	watch(10 * XK_SEC);
	CU_ASSERT_EQUAL(nframes, 5);
	CU_ASSERT(is_announcement(3, more.addr) && is_announcement(4, more.addr));
	says_request(0, peer, THEM, more.addr);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 1);
	pf_down(&f);
}

/* ---- somebody objects ------------------------------------------------------------------------ */

/* The ways to say that US is another's; the last one only while we probe. */
enum { OBJECTIONS = 5 };
static void objects(unsigned how, const uint8_t mac[6])
{
	const struct { const uint8_t *to; uint16_t op; uint32_t sender, target; } o[OBJECTIONS] = {
		{ me, 2, US, 0 }, { everybody, 2, US, US }, { everybody, 1, US, US }, { everybody, 1, US, THEM },
		{ everybody, 1, 0, US },
	};
	struct pkt p = packet(o[how].to, o[how].op, mac, o[how].sender, me, o[how].target);

	inject(how % 2, &p);
}

/* Nothing leaves any more, whatever comes, is pushed or was waiting. */
static void is_silent(struct xk_sess *s, unsigned waited)
{
	nframes = 0;
	watch(2 * XK_MS);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "address_lost"), waited);
	pf_push(&f, 0, s, "x", 1);
	says_request(0, peer, THEM, US);
	says_request(1, other, US, US);
	says_reply(1, peer, THEM);
	watch(30 * XK_SEC);
	CU_ASSERT_EQUAL(nframes, 0);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "address_lost"), waited + 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "addresses_lost"), 1);
	pf_close(&f, 0, s);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static bool has_given_up(void)
{
	const char *why = xk_node_failure(pf_node(&f, "arp"));

	return xk_graph_gave_up(f.g) && why != NULL &&
	       strcmp(why, "its address 10.0.0.1 is in use by station 02:00:00:00:00:03") == 0;
}

/* Before the first probe, after each of them, and in the wait before the announcement. */
static void an_objection_at_each_stage_ends_it(void)
{
	for (unsigned stage = 0; stage < 5; stage++)
		for (unsigned how = 0; how < OBJECTIONS; how++) {
			struct xk_sess *s;

			up_probing(2, graph_probing);
			s = pf_open_host(&f, "up", 0, THEM, NULL);
			pf_push(&f, 0, s, "x", 1);
			for (unsigned t = 0; t < 10000 && nframes < (stage < 4 ? stage : 3); t++)
				watch(XK_MS);
			if (stage == 4)
				watch(1900 * XK_MS);
			CU_ASSERT_EQUAL(nframes, stage < 4 ? stage : 3);
			CU_ASSERT(!xk_graph_gave_up(f.g));
			objects(how, other);
			CU_ASSERT(has_given_up());
			CU_ASSERT_EQUAL(pf_drops(&f, "arp", "conflict"), 1);
			is_silent(s, 1);
		}
}

static void one_that_goes_on_without_it_is_silent(void)
{
	struct xk_sess *s;

	up_probing(2, graph_quiet);
	s = pf_open_host(&f, "up", 0, THEM, NULL);
	pf_push(&f, 0, s, "x", 1);
	watch(XK_SEC);
	objects(2, other);
	CU_ASSERT(!xk_graph_gave_up(f.g));
	CU_ASSERT_PTR_NOT_NULL(xk_node_failure(pf_node(&f, "arp")));
	is_silent(s, 1);
}

/* A session on a station, and one on all of the network; the address is ours. */
static void up_and_ours(const struct pf_spec *graph, struct xk_sess **s)
{
	up_probing(2, graph);
	watch(12 * XK_SEC);
	s[0] = pf_open_host(&f, "up", 0, THEM, NULL);
	s[1] = pf_open_host(&f, "up", 1, HOST(10, 255, 255, 255), NULL);
	pf_push(&f, 0, s[0], "x", 1);
	says_reply(0, peer, THEM);
	pf_push(&f, 0, s[0], "y", 1);
	pf_push(&f, 1, s[1], "z", 1);
	watch(XK_MS);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "address_lost"), 0);
	nframes = 0;
}

static void lost_although_in_use(struct xk_sess **s)
{
	CU_ASSERT(has_given_up());
	watch(3 * XK_MS);
	nframes = 0;
	pf_push(&f, 1, s[1], "z", 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "address_lost"), 1);
	pf_close(&f, 1, s[1]);
	is_silent(s[0], 1);
}

static void once_ours_it_is_defended_each_ten_seconds(void)
{
	struct xk_sess *s[2];

	up_and_ours(graph_probing, s);
	for (unsigned i = 0; i < 195; i++) {
		objects(i % 4, other);
		watch(100 * XK_MS);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "conflicts"), 195);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "defended"), 2);
	CU_ASSERT_EQUAL_FATAL(nframes, 2);
	CU_ASSERT(is_announcement(0, US) && is_announcement(1, US));
	CU_ASSERT(frame[1].at - frame[0].at >= 10 * XK_SEC && frame[1].at - frame[0].at <= 10 * XK_SEC + 100 * XK_MS);
	/* Who probes for it is answered (RFC 5227 2.1.1: that is how he hears of us). */
	objects(4, other);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "replies_out"), 1);
	CU_ASSERT(!xk_graph_gave_up(f.g));
	pf_close(&f, 0, s[0]);
	pf_close(&f, 1, s[1]);
	pf_down(&f);
}

static void defended_once_it_is_lost_at_the_second_claim_within_ten_seconds(void)
{
	for (unsigned how = 0; how < 4; how++) {
		struct xk_sess *s[2];

		up_and_ours(graph_once, s);
		for (unsigned i = 0; i < 3; i++) {         /* far apart: each is defended */
			objects(how, other);
			watch(10 * XK_SEC);
		}
		CU_ASSERT_EQUAL(pf_count(&f, "arp", "defended"), 3);
		objects(how, other);
		watch(9990 * XK_MS);
		CU_ASSERT(!xk_graph_gave_up(f.g));
		objects(how, other);
		lost_although_in_use(s);
	}
}

static void not_to_be_defended_it_is_lost_at_the_first(void)
{
	struct xk_sess *s[2];

	up_and_ours(graph_never, s);
	objects(1, other);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "defended"), 0);
	lost_although_in_use(s);
	up_and_ours(graph_never_probed, s);
	objects(0, other);
	lost_although_in_use(s);
}

/* ---- what is no objection ------------------------------------------------------------------------ */

static void our_own_frames_and_our_other_link_are_no_conflict(void)
{
	up_probing(2, graph_two);
	for (unsigned how = 0; how < OBJECTIONS; how++)   /* by a station that repeats what it hears */
		inject_from(peer, packet(everybody, 1, me, how % 2 ? US : 0, zero, US));
	for (unsigned how = 0; how < OBJECTIONS; how++)
		inject_from(beside, packet(everybody, 1, beside, how % 2 ? US : 0, zero, US));
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "own_echo"), 2 * OBJECTIONS);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "conflicts"), 0);
	watch(20 * XK_SEC);
	CU_ASSERT_EQUAL(nframes, 5);
	CU_ASSERT(!xk_graph_gave_up(f.g));
	inject_from(other, packet(everybody, 1, other, US, zero, US));
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "conflicts"), 1);
	pf_down(&f);
}

/* ---- frames that are lost --------------------------------------------------------------------------- */

/* A holder that answers probes; each question or answer is lost that `lost` has a bit for.  Any probe that
 * gets through is enough, and when none does, two holders hear of each other by what they announce. */
static void a_holder_is_found_by_any_probe_that_gets_through(void)
{
	for (unsigned lost = 0; lost < 8; lost++) {
		unsigned seen = 0, answered = 0;

		up_probing(2, graph_once);
		for (unsigned t = 0; t < 8000 && !xk_graph_gave_up(f.g); t++) {
			watch(XK_MS);
			for (; seen < nframes && seen < 3; seen++)
				if (is_probe(seen, US) && !(lost >> seen & 1)) {
					objects(0, other);
					answered++;
				}
		}
		CU_ASSERT_EQUAL(xk_graph_gave_up(f.g), lost != 7);
		CU_ASSERT_EQUAL(answered, lost != 7);
		if (lost == 7) {
			objects(2, other);                 /* the holder's defence */
			CU_ASSERT_EQUAL(pf_count(&f, "arp", "defended"), 1);
			watch(XK_SEC);
			objects(2, other);
			CU_ASSERT(has_given_up());
		}
		pf_down(&f);
	}
}

static void running_out_of_memory_leaves_nothing(void)
{
	CU_ASSERT(pf_survives(&f, graph_probing, 2000));
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(probes_and_announcements_leave_at_the_times_of_the_rfc),
	T(sixty_four_addresses_are_probed_each_at_its_own_times),
	T(without_probing_nothing_leaves_and_nothing_waits), T(without_addresses_the_gate_opens_at_once),
	T(what_is_pushed_waits_until_the_address_is_ours), T(the_newest_are_kept_also_of_who_closes),
	T(nobody_is_answered_before_the_address_is_ours),
	T(an_address_that_comes_late_is_probed_before_it_is_answered_for),
	T(an_objection_at_each_stage_ends_it), T(one_that_goes_on_without_it_is_silent),
	T(once_ours_it_is_defended_each_ten_seconds),
	T(defended_once_it_is_lost_at_the_second_claim_within_ten_seconds),
	T(not_to_be_defended_it_is_lost_at_the_first), T(our_own_frames_and_our_other_link_are_no_conflict),
	T(a_holder_is_found_by_any_probe_that_gets_through), T(running_out_of_memory_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "arp claim", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
