/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ddp.c - payload that a driver places where its receiver wants it.
 *
 * Promises: what is received is byte for byte what was sent, whether a driver has placed
 * it, somebody has copied it, or there was no room; every reason for not placing a frame
 * is counted; ring memory is never written while anybody looks at it, on whatever VP,
 * and whatever was closed meanwhile; nothing leaks.
 */
#include "tests/protocols/ddp_fixture.h"

/* ---- datagrams ------------------------------------------------------------------------------- */

static void a_burst_is_placed_and_received_without_a_copy(void)
{
	begin(65536, false);
	for (unsigned round = 0; round < 50; round++) {
		for (unsigned i = 0; i < BURST; i++)
			expect(datagram(128 + round * 7 + i % 3));
		feed();
		same();
	}
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 50 * BURST);
	CU_ASSERT_EQUAL(counted(XK_DDP_COPIED) + counted(XK_DDP_MISSED) + counted(XK_DDP_LOST), 0);
	CU_ASSERT_EQUAL(nplaced, 50 * BURST);
	CU_ASSERT_EQUAL(ntaken, 0);
	host_down();
}

static void a_single_frame_is_placed_too_and_over_fddi(void)
{
	begin_as(8192, false);
	link_len = 21;
	host_up_as("fddi_mem", "fddi", "", "up {}");
	first();
	for (unsigned i = 0; i < 100; i++) {
		expect(datagram(200 + i));
		feed();
		same();
	}
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 100);
	host_down();
}

/* One refusal: what it counts, whether it arrives all the same. */
static void refused(struct frame *x, unsigned why, bool arrives)
{
	uint64_t before = counted(why), placed = counted(XK_DDP_PLACED);

	if (arrives)
		expect(x);
	expect(datagram(300));                   /* in company */
	feed();
	same();
	CU_ASSERT_EQUAL(counted(why), before + 1);
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), placed + 1);
}

static void what_cannot_be_placed_comes_the_ordinary_way_and_is_counted(void)
{
	struct frame *x;

	begin(65536, false);
	refused(datagram(XK_DDP_LEAST - 1), XK_DDP_SHORT, true);
	x = datagram(300);                       /* padding behind the datagram */
	expect(x);
	x->n += 10;
	refused(x, XK_DDP_SHAPE, false);
	x = datagram(300);                       /* options: one of no meaning, four bytes */
	expect(x);
	memmove(x->b + 38, x->b + 34, 308);
	memset(x->b + 34, 1, 4);
	x->b[14] = 0x46;
	xk_put_be16(x->b + 16, 332);
	fix_ip(x->b + 14);
	x->n += 4;
	refused(x, XK_DDP_SHAPE, false);
	x = datagram(300);                       /* UDP's length is not IP's */
	xk_put_be16(x->b + 38, 308 - 10);
	x->n -= 10;
	fix_udp(x->b + 14, 290);
	expect(x);
	x->n += 10;
	refused(x, XK_DDP_SHAPE, false);
	CU_ASSERT_EQUAL(counted(XK_DDP_COPIED), 4);
	CU_ASSERT_EQUAL(counted(XK_DDP_LOST), 0);
	host_down();
}

static void a_damaged_datagram_is_dropped_by_its_protocol_and_the_ring_is_as_it_was(void)
{
	struct frame *x;

	begin(4096, false);
	for (unsigned i = 0; i < 40; i++) {
		x = datagram(1000);
		x->b[60 + i * 11] ^= 0x10;
		refused(x, XK_DDP_CHECKSUM, false);
	}
	CU_ASSERT_EQUAL(dropped("udp", "bad_checksum"), 40);
	x = datagram(1000);                      /* the sender made none: nothing to verify */
	xk_put_raw16(x->b + 40, 0);
	expect(x);
	x = datagram(1000);                      /* the driver vouches */
	x->b[100] ^= 1;
	x->flags = XK_MSG_CSUM_OK;
	expect(x);
	feed();
	same();
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 42);
	CU_ASSERT_EQUAL(counted(XK_DDP_CHECKSUM), 40);
	host_down();
}

static void what_is_dropped_on_its_way_gives_the_ring_back(void)
{
	begin(4096, false);
	for (unsigned i = 0; i < 60; i++) {
		struct frame *x = datagram(1000);

		x->b[24] ^= 0x40;                /* IP's checksum */
		expect(datagram(1000));
		feed();
		same();
	}
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 60);
	/* The last one may not have been missed yet. */
	CU_ASSERT_TRUE(counted(XK_DDP_LOST) >= 59);
	CU_ASSERT_EQUAL(counted(XK_DDP_FULL), 0);
	host_down();
}

static void frames_in_pieces_are_gathered(void)
{
	begin(65536, false);
	for (uint32_t cut = 15; cut < 400; cut += 3) {
		struct frame *x = datagram(500);

		x->cut = cut;
		if (cut % 5 == 0) {
			x->b[300] ^= 1;
		} else {
			expect(x);
		}
		expect(datagram(500));
		feed();
		same();
	}
	CU_ASSERT_EQUAL(dropped("udp", "bad_checksum"), 26);
	CU_ASSERT_TRUE(counted(XK_DDP_PLACED) > 200);
	host_down();
}

static void a_fragment_has_no_connection_and_is_put_together_as_ever(void)
{
	static uint8_t whole[1000];
	struct frame *x;

	begin(65536, false);
	x = datagram(1000);
	memcpy(whole, x->b + 34, 1008 - 8 + 0);
	expect(x);
	f[1] = f[0];
	nf = 2;
	xk_put_be16(f[0].b + 14 + 2, 20 + 512);
	xk_put_be16(f[0].b + 14 + 6, 0x2000);
	f[0].n = 14 + 20 + 512;
	memmove(f[1].b + 34, f[1].b + 34 + 512, 1008 - 512);
	xk_put_be16(f[1].b + 14 + 2, 20 + 1008 - 512);
	xk_put_be16(f[1].b + 14 + 6, 512 / 8);
	f[1].n = 14 + 20 + 1008 - 512;
	fix_ip(f[0].b + 14);
	fix_ip(f[1].b + 14);
	feed();
	same();
	CU_ASSERT_EQUAL(counted(XK_DDP_COPIED), 1);
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 0);
	host_down();
}

/* A ring of 4 KiB holds three of 1216 bytes' places. */
static void what_is_kept_or_held_is_not_written_over(void)
{
	static uint8_t before[KEPT][1200];
	unsigned wrong = 0;

	begin(4096, false);
	for (unsigned how = 0; how < 2; how++) {
		memset(h.app->count, 0, sizeof h.app->count);
		t.keep = how == 0;
		t.hold = how == 1;
		for (unsigned i = 0; i < 10; i++) {
			struct frame *x = datagram(1200);

			memcpy(before[i], x->b + 42, 1200);
			expect(x);
			feed();
		}
		same();
		CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 3);
		CU_ASSERT_EQUAL(counted(XK_DDP_FULL), 7);
		CU_ASSERT_EQUAL(counted(XK_DDP_MISSED), 7);
		for (unsigned i = 0; i < t.nkept; i++) {
			uint8_t now[1200];

			wrong += xk_msg_copy_out(t.kept[i], 0, now, 1200) != 1200 || memcmp(now, before[i], 1200) != 0;
		}
		for (unsigned i = 0; i < t.nheld; i++)
			wrong += memcmp(t.held[i].at, before[i], 1200) != 0;
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT_EQUAL(how == 0 ? t.nkept : t.nheld, how == 0 ? 10 : 3);
		inside(drop_kept);
		inside(drop_held);
		t.keep = t.hold = false;
		expect(datagram(1200));
		feed();
		same();
		CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 4);
	}
	host_down();
}

static void shared_message(void)
{
	struct xk_msg *s = xk_msg_share(t.kept[0]);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	xk_msg_free(t.kept[0]);
	t.kept[0] = s;
}

static void a_share_keeps_the_memory_as_its_message_did(void)
{
	uint8_t now[1200];

	begin(4096, false);
	t.keep = true;
	expect(datagram(1200));
	feed();
	t.keep = false;
	inside(shared_message);
	memcpy(now, want, 1200);
	for (unsigned i = 0; i < 20; i++) {
		expect(datagram(1200));
		feed();
	}
	same();
	xk_msg_copy_out(t.kept[0], 0, want, 1200);
	CU_ASSERT_EQUAL(memcmp(now, want, 1200), 0);
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 3);  /* behind the oldest one's place is no room */
	inside(drop_kept);
	expect(datagram(1200));
	feed();
	same();
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 4);
	host_down();
}

static void what_is_sent_back_goes_out_as_it_came(void)
{
	begin(4096, false);
	t.echo = true;
	for (unsigned i = 0; i < 100; i++) {
		expect(datagram(600 + i));
		feed();
		same();
	}
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 100);
	CU_ASSERT_EQUAL(h.drv->down[0]->count[0], 100);   /* sunk */
	host_down();
}

static void end_it(void) { taker_end(); }

static void a_withdrawn_ring_lives_until_its_last_message_is_gone(void)
{
	uint8_t now[1200];

	begin(4096, false);
	t.keep = true;
	expect(datagram(1200));
	expect(datagram(1200));
	feed();
	same();
	inside(end_it);                          /* and the session with it */
	xk_msg_copy_out(t.kept[1], 0, now, 1200);
	CU_ASSERT_EQUAL(memcmp(now, want + 1200, 1200), 0);
	CU_ASSERT_FALSE(xk_posted(h.drv));
	inside(drop_kept);
	host_down();
}

/* The session ends under a ring that is still posted. */
static void a_ring_outlives_its_session(void)
{
	begin(4096, false);
	expect(datagram(1200));
	feed();
	same();
	host_down();                             /* rep_stop closes it; nothing leaks */
}

static struct xk_msg *away;

static void free_away(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	xk_msg_free(away);
}

/* A message freed on another VP, before and after the ring is withdrawn. */
static void memory_comes_back_from_another_vp(void)
{
	for (unsigned after = 0; after < 2; after++) {
		begin_as(4096, false);
		host_up_as("eth_mem", "eth", "", "vppc { vps = 2, workers = 1 }");
		/* A connection that lives on the first VP. */
		for (uint16_t port = 5000;; port++) {
			struct xk_flowkey k = { .raddr = htobe32(0x0a000002), .laddr = htobe32(0x0a000001),
						.rport = htobe16(port), .lport = htobe16(9), .proto = 17 };

			if (xk_flow_home(h.g->flows, &k) != 0)
				continue;
			expect(datagram_to(1200, port));
			feed();
			t.keep = true;
			expect(datagram_to(1200, port));
			feed();
			break;
		}
		same();
		CU_ASSERT_EQUAL(counted(XK_DDP_PLACED), 1);
		if (after)
			inside(end_it);
		away = t.kept[0];
		t.nkept = 0;
		xk_vp_enter_idle(h.g->vps->vp[1]);
		free_away(NULL, NULL);
		xk_vp_leave_idle(h.g->vps->vp[1]);
		host_down();
	}
}

static void a_ring_full_of_records_takes_no_more(void)
{
	begin(1u << 20, false);
	t.keep = true;
	for (unsigned i = 0; i < 7; i++) {
		for (unsigned k = 0; k < BURST; k++)
			expect(datagram(130));
		feed();
		same();
	}
	CU_ASSERT_EQUAL(counted(XK_DDP_PLACED) + counted(XK_DDP_MISSED), 7 * BURST);
	CU_ASSERT_TRUE(counted(XK_DDP_PLACED) >= 64 && counted(XK_DDP_FULL) > 0);
	inside(drop_kept);
	t.keep = false;
	expect(datagram(130));
	feed();
	same();
	host_down();
}

static int again;
static void open_again(void)
{
	struct xk_ddp *d;
	struct xk_ddp_conf c = t.conf;

	again = xk_ddp_open(&d, t.lls, &c);
	CU_ASSERT_PTR_NULL(d);
	c.bytes = 100;
	CU_ASSERT_EQUAL(xk_ddp_open(&d, t.lls, &c), XK_E_INVAL);
}

static void bad_posts_are_refused(void)
{
	begin(4096, false);
	inside(open_again);
	CU_ASSERT_EQUAL(again, XK_E_BUSY);
	host_down();
	/* What passes through a virtual protocol is not placed: nobody can tell its payload. */
	begin_as(4096, false);
	host_up_as("eth_mem", "eth", "u = hop { over = u }", "up {}");
	expect(datagram(300));
	feed();
	same();
	CU_ASSERT_EQUAL(t.opened, XK_E_NOTSUP);
	host_down();
}

static unsigned long nseen;
static void seen(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	(void)c;
	(void)now;
	(void)down;
	xk_msg_check(m);
	nseen++;
}

static void a_captured_device_shows_frames_whole(void)
{
	struct xk_capture c = { .fn = seen };

	begin(4096, false);
	xk_capture_attach(h.drv->node, &c);
	expect(datagram(300));
	feed();
	xk_capture_detach(h.drv->node, &c);
	same();
	CU_ASSERT_EQUAL(nseen, 1);
	CU_ASSERT_EQUAL(counted(XK_DDP_COPIED), 1);
	host_down();
}

/* Everything at random: lengths, damage, pieces, keeping, holding; bytes must agree. */
static void whatever_happens_bytes_are_what_was_sent(void)
{
	struct xk_rand r;
	uint64_t placed;

	xk_rand_init(&r, 98, 1);
	begin(16384, false);
	for (unsigned long round = 0; round < xk_test_rounds(4000); round++) {
		unsigned n = 1 + (unsigned)xk_rand_below(&r, BURST);

		for (unsigned i = 0; i < n; i++) {
			struct frame *x = datagram((uint32_t)xk_rand_below(&r, 900));
			bool bad = xk_rand_below(&r, 12) == 0;

			if (bad)
				x->b[24 + xk_rand_below(&r, 2)] ^= 1;
			else
				expect(x);
			if (xk_rand_below(&r, 6) == 0)
				x->cut = 1 + (uint32_t)xk_rand_below(&r, x->n - 1);
		}
		t.keep = t.nkept < KEPT - BURST && xk_rand_below(&r, 3) == 0;
		t.hold = t.nheld < KEPT - BURST && xk_rand_below(&r, 3) == 0;
		feed();
		same();
		if (xk_rand_below(&r, 4) == 0)
			inside(drop_kept);
		if (xk_rand_below(&r, 4) == 0)
			inside(drop_held);
	}
	inside(drop_kept);
	inside(drop_held);
	placed = counted(XK_DDP_PLACED);
	CU_ASSERT_TRUE(placed > xk_test_rounds(4000));
	CU_ASSERT_TRUE(counted(XK_DDP_FULL) > 0 && counted(XK_DDP_MISSED) > 0 && counted(XK_DDP_COPIED) > 0);
	host_down();
}

static CU_TestInfo dgram_tests[] = {
	{ "a burst is placed and received without a copy", a_burst_is_placed_and_received_without_a_copy },
	{ "a single frame is placed, too, and over FDDI", a_single_frame_is_placed_too_and_over_fddi },
	{ "what cannot be placed comes the ordinary way and is counted",
	  what_cannot_be_placed_comes_the_ordinary_way_and_is_counted },
	{ "a damaged datagram is dropped by its protocol and the ring is as it was",
	  a_damaged_datagram_is_dropped_by_its_protocol_and_the_ring_is_as_it_was },
	{ "what is dropped on its way gives the ring back", what_is_dropped_on_its_way_gives_the_ring_back },
	{ "frames in pieces are gathered", frames_in_pieces_are_gathered },
	{ "a fragment has no connection and is put together as ever",
	  a_fragment_has_no_connection_and_is_put_together_as_ever },
	{ "what is kept or held is not written over", what_is_kept_or_held_is_not_written_over },
	{ "a share keeps the memory as its message did", a_share_keeps_the_memory_as_its_message_did },
	{ "what is sent back goes out as it came", what_is_sent_back_goes_out_as_it_came },
	{ "a withdrawn ring lives until its last message is gone", a_withdrawn_ring_lives_until_its_last_message_is_gone },
	{ "a ring outlives its session", a_ring_outlives_its_session },
	{ "memory comes back from another VP", memory_comes_back_from_another_vp },
	{ "a ring full of records takes no more", a_ring_full_of_records_takes_no_more },
	{ "bad posts are refused", bad_posts_are_refused },
	{ "a captured device shows frames whole", a_captured_device_shows_frames_whole },
	{ "whatever happens bytes are what was sent", whatever_happens_bytes_are_what_was_sent },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "datagrams", NULL, NULL, NULL, NULL, dgram_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return ddp_main(suites);
}
