/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mixed.c - frames of many connections in one burst come to their sessions as they would
 * one by one: the same messages in the same order, the same counts, whatever is among them.
 *
 * A burst is drawn from a seed: which connection is next is chance, or each is another one; of
 * one peer or of several, with frames among them that are damaged, cut, fragments, have options
 * or belong to another virtual processor.  The receiver closes a session, its own or another's,
 * while messages for it are on their way up behind the present one.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

#define BURST 32u
#define FLOWS 40u
#define FRAME 400u
#define VPS   2u

extern const struct xk_proto xk_proto_arp, xk_proto_eth, xk_proto_ip, xk_proto_udp;

/* peers: of how many the connections are; longest: bytes of a payload, of each one where they are alike; turn: in turn,
 * not by chance. */
struct plan { unsigned vps, peers, longest; bool alike, turn, hostile, closes; };
struct frame { uint8_t b[FRAME]; uint32_t n; };
/* What a run of the plan came to: of each VP the messages in order, and all counters. */
struct result { uint64_t log[VPS], counts, got, gone; };

static struct pf f;
static bool closing;
static uint64_t gone;

static uint64_t mix(uint64_t h, uint64_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u ^ h >> 29; }

/* ---- the receiver -------------------------------------------------------------------- */

/* Now and then, as the message says, the session that has been kept longest goes, or this one. */
static void on_msg(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct pf_upper_state *st = r->node->state;
	uint8_t what = m->tot != 0 ? m->data[0] : 0;

	if (!closing || what >= 48)
		return;
	for (unsigned i = 0; i < st->nkept; i++) {
		struct xk_sess *s = st->kept[i];

		if (s->rep->vp != r->vp || (what >= 24 && s != lls))
			continue;
		memmove(&st->kept[i], &st->kept[i + 1], (st->nkept - i - 1) * sizeof(struct xk_sess *));
		st->nkept--;
		gone++;
		xk_close(s);
		return;
	}
}

static void up(const struct plan *p)
{
	const struct pf_spec specs[] = {
		{ &pf_driver, "drv", NULL, "link=eth; mac=02:00:00:00:00:01" },
		{ &xk_proto_eth, "eth", "drv", NULL },
		{ &xk_proto_arp, "arp", "eth", NULL },
		{ &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8" },
		{ &xk_proto_udp, "udp", "ip", "idle_sessions=1; sessions=30" },
		{ &pf_upper, "app", "udp", "enable=false" },
		{ NULL, NULL, NULL, NULL },
	};

	pf_up(&f, p->vps, specs);
	closing = p->closes;
	gone = 0;
	pf_upper_of(&f, "app")->keep = true;
	pf_upper_of(&f, "app")->on_msg = on_msg;
	CU_ASSERT_EQUAL(nf_enable(&f, "app", true, NF_PORT, 0), XK_OK);
}

/* ---- frames -------------------------------------------------------------------------------- */

static void damage(struct frame *x, struct xk_rand *r)
{
	switch (xk_rand_below(r, 4)) {
	case 0:
		x->b[xk_rand_below(r, x->n)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		break;
	case 1:
		x->n = 1 + (uint32_t)xk_rand_below(r, x->n);
		break;
	case 2:                          /* a fragment, the last of one that never comes or all of it but the rest */
		xk_put_be16(x->b + 20, (uint16_t)(xk_rand_below(r, 2) ? 0x2000 : 3));
		nf_fix(x->b + 14);
		break;
	default:
		memset(x->b + x->n, 0, 9);
		x->n += 9;
	}
}

static void frame_make(struct frame *x, const struct plan *p, struct xk_rand *r, unsigned flow)
{
	static const uint8_t nops[8] = { 1, 1, 1, 1, 1, 1, 1, 0 };
	uint32_t n = p->alike ? p->longest : (uint32_t)xk_rand_below(r, p->longest + 1);
	uint8_t pay[FRAME], udp[FRAME], peer = (uint8_t)(2 + flow % p->peers);

	for (uint32_t i = 0; i < n; i++)
		pay[i] = (uint8_t)xk_rand_u64(r);
	memcpy(x->b, (const uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, peer, 8, 0 }, 14);
	x->n = 14 + nf_udp(x->b + 14, 0x0a000000u + peer, (uint16_t)(5000 + flow), NF_US, NF_PORT, pay, n);
	if (p->hostile && xk_rand_below(r, 12) == 0) {
		memcpy(udp, x->b + 34, x->n - 34);
		x->n = 14 + nf_ip(x->b + 14, &(struct nf_ip){ .src = 0x0a000000u + peer, .proto = 17, .opt = nops, .nopt = 8 },
				  udp, x->n - 34);
	}
	if (p->hostile && xk_rand_below(r, 8) == 0)
		damage(x, r);
}

static unsigned burst_make(struct frame *x, const struct plan *p, struct xk_rand *r)
{
	unsigned n = 1 + (unsigned)xk_rand_below(r, BURST), flow = (unsigned)xk_rand_below(r, FLOWS);

	for (unsigned i = 0; i < n; i++) {
		if (p->turn)
			flow = (flow + 1) % FLOWS;
		else if (xk_rand_below(r, 3) == 0)
			flow = (unsigned)xk_rand_below(r, FLOWS);
		frame_make(&x[i], p, r, flow);
	}
	return n;
}

static void feed(const struct frame *x, unsigned n, unsigned at_once)
{
	struct xk_rep *r = pf_rep(&f, "drv", 0);
	struct xk_msg *m[BURST];

	pf_enter(&f, 0);
	for (unsigned i = 0; i < n; i += at_once) {
		unsigned k = n - i < at_once ? n - i : at_once;

		for (unsigned j = 0; j < k; j++)
			m[j] = pf_msg(x[i + j].b, x[i + j].n);
		xk_input(r, m, k);
	}
	pf_leave(&f, 0);
	pf_settle(&f);
}

/* ---- the same? -------------------------------------------------------------------------------- */

static void note(struct result *res)
{
	for (unsigned i = 0; i < pf_ngot(&f, "app"); i++) {
		const struct pf_rec *rec = pf_got(&f, "app", i);
		uint64_t *h = &res->log[rec->vp];

		*h = mix(*h, rec->len);
		for (uint32_t k = 0; k < rec->len; k++)
			*h = mix(*h, rec->bytes[k]);
		res->got++;
	}
	pf_forget(&f, "app");
}

static void note_counts(struct result *res, unsigned vps)
{
	for (unsigned i = 0; i < f.g->nnodes; i++)
		for (unsigned v = 0; v < vps; v++) {
			const struct xk_rep *r = f.g->node[i]->rep[v];

			res->counts = mix(mix(res->counts, r->npop), r->nsess_made);
			for (unsigned k = 0; k < XK_DROPS_MAX; k++)
				res->counts = mix(res->counts, r->drop[k]);
			for (unsigned k = 0; k < XK_COUNTS_MAX; k++)
				res->counts = mix(res->counts, r->count[k]);
		}
	res->gone = gone;
}

static struct result play(const struct plan *p, uint64_t seed, unsigned at_once, unsigned rounds)
{
	static struct frame x[BURST];
	struct result res = { .got = 0 };
	struct xk_rand r;

	xk_rand_init(&r, seed, 1);
	up(p);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned n = burst_make(x, p, &r);

		feed(x, n, at_once);
		note(&res);
	}
	note_counts(&res, p->vps);
	nf_enable(&f, "app", false, NF_PORT, 0);
	pf_down(&f);
	return res;
}

static void compare(const struct plan *p)
{
	unsigned rounds = (unsigned)xk_test_rounds(400);

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct result one = play(p, seed, 1, rounds), all = play(p, seed, BURST, rounds);

		CU_ASSERT_EQUAL(memcmp(&one, &all, sizeof one), 0);
		CU_ASSERT(all.got > rounds * 4 && (all.gone != 0) == p->closes);
	}
}

static void connections_in_turn_are_received_as_frame_by_frame(void)
{
	compare(&(struct plan){ .vps = 1, .peers = 1, .longest = 120, .turn = true });
	compare(&(struct plan){ .vps = 1, .peers = 1, .longest = 320, .turn = true });
}

static void connections_of_many_peers_are(void)
{
	compare(&(struct plan){ .vps = 1, .peers = 7, .longest = 120, .turn = true });
	compare(&(struct plan){ .vps = 1, .peers = 3, .longest = 64 });
}

static void what_is_among_them_changes_nothing(void)
{
	compare(&(struct plan){ .vps = 1, .peers = 1, .longest = 120, .turn = true, .hostile = true });
	compare(&(struct plan){ .vps = 1, .peers = 5, .longest = 120, .hostile = true });
}

/* Those that are longer than what is summed in line, and of odd lengths, in runs and each of another connection. */
static void messages_of_one_length_are_told_apart_by_their_sums(void)
{
	static const unsigned longest[] = { 64, 65, 121, 128, 201, 300 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(longest); i++) {
		compare(&(struct plan){ .vps = 1, .peers = 1, .longest = longest[i], .alike = true, .hostile = true });
		compare(&(struct plan){ .vps = 1, .peers = 1, .longest = longest[i], .alike = true, .turn = true,
					.hostile = true });
	}
}

static void frames_of_another_virtual_processor_are_among_them(void)
{
	compare(&(struct plan){ .vps = VPS, .peers = 3, .longest = 120, .turn = true });
	compare(&(struct plan){ .vps = VPS, .peers = 3, .longest = 120, .hostile = true });
}

static void sessions_close_while_their_messages_come(void)
{
	compare(&(struct plan){ .vps = 1, .peers = 1, .longest = 120, .turn = true, .closes = true });
	compare(&(struct plan){ .vps = 1, .peers = 5, .longest = 120, .hostile = true, .closes = true });
	compare(&(struct plan){ .vps = VPS, .peers = 5, .longest = 120, .hostile = true, .closes = true });
}

static CU_TestInfo tests[] = {
	{ "connections in turn are received as frame by frame", connections_in_turn_are_received_as_frame_by_frame },
	{ "connections of many peers are", connections_of_many_peers_are },
	{ "what is among them changes nothing", what_is_among_them_changes_nothing },
	{ "messages of one length are told apart by their sums", messages_of_one_length_are_told_apart_by_their_sums },
	{ "frames of another virtual processor are among them", frames_of_another_virtual_processor_are_among_them },
	{ "sessions close while their messages come", sessions_close_while_their_messages_come },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "mixed", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
