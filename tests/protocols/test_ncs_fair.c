/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_fair.c - connections of ncs, and one of TCP, share a line of 1 Mbit/s with a short queue.
 *
 * Promises: with a congestion window, as is the default on a line that others use, two connections of the same error
 * control have each between a third and three times what the other has, over a minute; so have one of selective repeat
 * and one of TCP.  Go-back-N repeats what has come, so beside TCP it has a twentieth at least.  Nine tenths of the line
 * carry what is new, three quarters with go-back-N.  The window is where it belongs, not on a private line.  Each with
 * seeds, which are the line's delay, when the second one comes and what is lost beside.
 */
#include "tests/protocols/proto_fixture.h"

#include "protocols/ncs/ncs.h"
#include "protocols/ncs/ncs_half.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_stream.h"
#include "tests/support/xk_test.h"

#include <stdio.h>

extern const struct xk_proto xk_proto_eth_mem, xk_proto_eth, xk_proto_arp, xk_proto_ip, xk_proto_udp, xk_proto_tcp,
	xk_proto_impair, xk_proto_ncs, xk_proto_go_back_n, xk_proto_selective_repeat, xk_proto_discard;

#define NEIGHBOURS "10.0.0.1=02:00:00:00:00:0a,10.0.0.2=02:00:00:00:00:0b"
#define RATE 1000000u                    /* bits a second */
#define SECONDS 60u
#define PIECE 10000u

static struct pf f;
static const uint8_t bytes[PIECE] = { 1 };

/* A's line is the narrow one, on the way to B. */
static void up(const struct xk_proto *error, const char *line)
{
	const struct pf_spec g[] = {
		{ &xk_proto_eth_mem, "da", NULL, "wire=w; queue=65536; mac=02:00:00:00:00:0a" },
		{ &xk_proto_impair, "fa", "da", line },
		{ &xk_proto_eth, "la", "fa", NULL },
		{ &xk_proto_arp, "ra", "la", "queue=100; neighbours=" NEIGHBOURS },
		{ &xk_proto_ip, "ia", "ra", "addr=10.0.0.1/24" },
		{ &xk_proto_eth_mem, "db", NULL, "wire=w; queue=65536; mac=02:00:00:00:00:0b" },
		{ &xk_proto_eth, "lb", "db", NULL },
		{ &xk_proto_arp, "rb", "lb", "queue=100; neighbours=" NEIGHBOURS },
		{ &xk_proto_ip, "ib", "rb", "addr=10.0.0.2/24" },
		{ &xk_proto_udp, "ua", "ia", NULL }, { &xk_proto_udp, "ub", "ib", NULL },
		{ &xk_proto_tcp, "ta", "ia", NULL }, { &xk_proto_tcp, "tb", "ib", NULL },
		{ error, "ea", "ua", NULL }, { error, "eb", "ub", NULL },
		{ &xk_proto_ncs, "na", "ea", "sdu=1400" }, { &xk_proto_ncs, "nb", "eb", "sdu=1400" },
		{ &pf_upper, "client", "na", "enable=false" },
		{ &pf_upper, "streams", "ta", "enable=false" },
		{ &xk_proto_discard, "bytes", "tb", "port=9" },
		{ &pf_upper, "sink", "nb", "enable=false" },
		{ NULL, NULL, NULL, NULL },
	};
	struct xk_parts ps;

	pf_up(&f, 1, g);
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], 7);
	CU_ASSERT_EQUAL_FATAL(xk_open_enable(pf_node(&f, "sink"), pf_node(&f, "sink"), pf_node(&f, "nb"), &ps), XK_OK);
	pf_upper_of(&f, "sink")->keep = true;
}

static void down(void)
{
	xk_open_disable_all(pf_node(&f, "sink"), pf_node(&f, "nb"));
	pf_run(&f, 20 * XK_SEC);
	pf_down(&f);
}

/* ---- who sends ------------------------------------------------------------------------------------- */

struct sender { struct xk_sess *s; bool stream; uint64_t pushed, acked; };

static struct sender open_to(bool stream, uint32_t host)
{
	struct sender a = { .stream = stream };
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	xk_part_push_port(&ps.p[XK_REMOTE], stream ? 9 : 7);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	a.s = pf_open(&f, stream ? "streams" : "client", 0, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a.s);
	return a;
}

/* It always has more to send; what has arrived of it is known. */
static void pump(struct sender *a)
{
	uint32_t waits, room;
	struct ncs_room r;

	pf_enter(&f, 0);
	if (a->stream) {
		room = xk_sess_control(a->s, XK_STREAM_ROOM, &room, sizeof room) == (int)sizeof room ? room : 0;
		if (room != 0) {
			xk_push(a->s, pf_msg(bytes, PIECE));
			a->pushed += PIECE;
		}
		CU_ASSERT_EQUAL(xk_sess_control(a->s, XK_STREAM_QUEUED, &waits, sizeof waits), (int)sizeof waits);
		a->acked = a->pushed - waits;
	} else {
		CU_ASSERT_EQUAL(xk_sess_control(a->s, NCS_CTL_ROOM, &r, sizeof r), (int)sizeof r);
		for (; r.bytes < 10 * PIECE; r.bytes += PIECE) {
			xk_push(a->s, pf_msg(bytes, PIECE));
			a->pushed += PIECE;
		}
		a->acked = a->pushed - r.bytes;
	}
	pf_leave(&f, 0);
}

static void both_for(struct sender *a, struct sender *b, xk_ns t)
{
	for (xk_ns end = pf_now(&f) + t; pf_now(&f) < end;) {
		pump(a);
		if (b != NULL)
			pump(b);
		pf_run(&f, 10 * XK_MS);
		pf_forget(&f, "sink");
	}
}

/* ---- shares ------------------------------------------------------------------------------------------ */

static void shares(const struct xk_proto *error, bool stream, unsigned seed)
{
	struct sender a, b;
	uint64_t a0, b0, na, nb;
	char line[120];

	snprintf(line, sizeof line, "rate=1Mbit/s; queue=25; delay=%ums; dir=down; loss=0.00%u; seed=%u", 10 + 10 * (seed % 3),
		 seed % 4, seed + 1);
	up(error, line);
	a = open_to(false, 0x0a000002);
	pf_run(&f, 100 * XK_MS);
	both_for(&a, NULL, (1 + seed % 5) * XK_SEC);
	b = open_to(stream, 0x0a000002);
	pf_run(&f, 200 * XK_MS);
	both_for(&a, &b, 5 * XK_SEC);
	a0 = a.acked;
	b0 = b.acked;
	both_for(&a, &b, SECONDS * XK_SEC);
	na = a.acked - a0;
	nb = b.acked - b0;
	printf("# %s and %s, seed %u: %llu and %llu kbit/s, %llu repeated\n", error->name, stream ? "tcp" : "another", seed,
	       (unsigned long long)(na * 8 / SECONDS / 1000), (unsigned long long)(nb * 8 / SECONDS / 1000),
	       (unsigned long long)pf_count(&f, "na", "sdus_repeated"));
	if (error == &xk_proto_selective_repeat || !stream)
		CU_ASSERT(na <= 3 * nb && nb <= 3 * na);
	CU_ASSERT(na * 8 / SECONDS >= RATE / 20 && nb * 8 / SECONDS >= RATE / 20);
	CU_ASSERT((na + nb) * 8 / SECONDS >= (error == &xk_proto_selective_repeat ? RATE * 9 / 10 : RATE * 3 / 4));
	pf_close(&f, 0, a.s);
	pf_close(&f, 0, b.s);
	down();
}

static void two_of_ncs_share_the_line(void)
{
	for (unsigned seed = 0; seed < (unsigned)xk_test_rounds(6); seed++)
		shares(seed % 2 ? &xk_proto_go_back_n : &xk_proto_selective_repeat, false, seed);
}

static void one_of_ncs_and_one_of_tcp_share_it(void)
{
	for (unsigned seed = 0; seed < (unsigned)xk_test_rounds(6); seed++)
		shares(seed % 2 ? &xk_proto_go_back_n : &xk_proto_selective_repeat, true, seed);
}

/* ---- where it is -------------------------------------------------------------------------------------- */

static bool minds(const char *line)
{
	struct ncs_choice c;
	struct sender a;

	up(&xk_proto_selective_repeat, line);
	a = open_to(false, 0x0a000002);
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xk_sess_control(a.s, NCS_CTL_AGREED, &c, sizeof c), (int)sizeof c);
	pf_leave(&f, 0);
	pf_close(&f, 0, a.s);
	down();
	return c.agreed.newreno;
}

static void only_where_others_are(void)
{
	CU_ASSERT_TRUE(minds("rate=1Mbit/s"));
	CU_ASSERT_FALSE(minds("loss=0.01"));
}

static CU_TestInfo tests[] = {
	{ "two_of_ncs_share_the_line", two_of_ncs_share_the_line },
	{ "one_of_ncs_and_one_of_tcp_share_it", one_of_ncs_and_one_of_tcp_share_it },
	{ "only_where_others_are", only_where_others_are },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_fair", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}
