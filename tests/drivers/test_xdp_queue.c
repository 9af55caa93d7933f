/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_xdp_queue.c - the rings of the AF_XDP driver, in memory of the test's own, which takes
 * frames out as the kernel would, and puts in what no kernel should.
 *
 * Promises: a frame that comes back while the kernel's fill ring has no place waits, is
 * given at the next occasion, and is never lost or given twice, whatever the order in
 * which the kernel publishes its rings.  What the receive and the completion ring name is
 * looked at before it is touched: bytes that are no frame of that queue, or of a VP that
 * sends there, are counted and left alone.  A frame in pieces is one frame, wherever a burst
 * ends, and none when one of them is missing.
 * Needs neither root nor an interface.
 */
#include "drivers/xdp/xdp_priv.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/upi/xk_capture.h"
#include "tests/drivers/xdp_world.h"
#include "tests/support/xk_test.h"

static struct xdp_dev d;
static struct xdp_queue queue;
static struct xdp_port port;
static struct xk_rep rep;        /* has the counters */
static struct xdp_frame frame[FRAMES];
static uint64_t fill_ring[FRAMES], comp_ring[FRAMES];
static uint32_t fill_prod, fill_cons, fill_flags, comp_prod, comp_cons, comp_flags;

static uint32_t taken;           /* frames that the kernel has taken; fill_cons says fewer until it publishes */
static bool out[FRAMES];         /* it has taken that frame and not shown it */

static void setup(void)
{
	fill_prod = fill_cons = comp_prod = comp_cons = taken = 0;
	memset(out, 0, sizeof out);
	d = (struct xdp_dev){ .nvps = 1, .nqueues = 1, .frames = FRAMES, .frame_size = SIZE, .frame = frame,
			      .queue = &queue, .port = &port };
	queue = (struct xdp_queue){ .dev = &d };
	queue.fill = (struct xsk_ring_prod){ .cached_cons = FRAMES, .mask = FRAMES - 1, .size = FRAMES,
		.producer = &fill_prod, .consumer = &fill_cons, .ring = fill_ring, .flags = &fill_flags };
	queue.comp = (struct xsk_ring_cons){ .mask = FRAMES - 1, .size = FRAMES, .producer = &comp_prod,
		.consumer = &comp_cons, .ring = comp_ring, .flags = &comp_flags };
	memset(&rep, 0, sizeof rep);
	port = (struct xdp_port){ .q = &queue, .rep = &rep, .task.fd = -1, .fill_taken = &fill_cons };
	for (unsigned i = 0; i < FRAMES; i++)
		frame[i] = (struct xdp_frame){ .link.next = i + 1 < FRAMES ? &frame[i + 1].link : NULL, .q = &queue };
	xdp_queue_fill(&queue, &frame[0].link);
	CU_ASSERT_EQUAL_FATAL(fill_prod, FRAMES);
}

/* The kernel takes a frame to receive into, but does not publish that yet. */
static struct xdp_frame *kernel_takes(void)
{
	struct xdp_frame *x;

	CU_ASSERT_NOT_EQUAL_FATAL(fill_prod, taken);
	x = xdp_frame_at(&d, fill_ring[taken++ & (FRAMES - 1)]);
	CU_ASSERT_FATAL(x >= frame && x < frame + FRAMES);
	CU_ASSERT_FALSE_FATAL(out[x - frame]);          /* else it was given twice */
	out[x - frame] = true;
	return x;
}

static void kernel_publishes(void) { fill_cons = taken; }

static void comes_back(struct xdp_frame *x)
{
	out[x - frame] = false;
	xdp_frame_free(&port, x);
}

/* Every frame is in exactly one place. */
static void all_there(void)
{
	unsigned seen[FRAMES] = { 0 };

	for (uint32_t i = taken; i != fill_prod; i++)
		seen[fill_ring[i & (FRAMES - 1)] / SIZE]++;
	for (const struct xk_qlink *l = queue.rest; l != NULL; l = l->next)
		seen[xk_container_of(l, struct xdp_frame, link) - frame]++;
	for (const struct xk_qlink *l = port.back; l != NULL; l = l->next)
		seen[xk_container_of(l, struct xdp_frame, link) - frame]++;
	for (const struct xk_qlink *l = queue.back.head; l != NULL; l = l->next)
		seen[xk_container_of(l, struct xdp_frame, link) - frame]++;
	for (unsigned i = 0; i < FRAMES; i++)
		CU_ASSERT_EQUAL(seen[i] + out[i], 1);
}

static void a_frame_that_finds_no_place_waits(void)
{
	setup();
	for (unsigned i = 0; i < 5; i++)
		comes_back(kernel_takes());
	xdp_give_back(&port);                            /* the ring looks as full as at the start */
	CU_ASSERT_EQUAL(fill_prod, FRAMES);
	CU_ASSERT_PTR_NOT_NULL(queue.rest);
	CU_ASSERT_EQUAL(rep.count[N_FULL], 1);
	all_there();
	comes_back(kernel_takes());                      /* what is new and what waits */
	xdp_give_back(&port);
	CU_ASSERT_EQUAL(fill_prod, FRAMES);
	all_there();
	kernel_publishes();
	comes_back(kernel_takes());
	xdp_give_back(&port);
	CU_ASSERT_EQUAL(fill_prod, FRAMES + 6);          /* seven came back, the seventh's place is not free yet */
	all_there();
	kernel_publishes();
	comes_back(kernel_takes());
	kernel_publishes();
	xdp_give_back(&port);
	CU_ASSERT_EQUAL(fill_prod, FRAMES + 8);
	CU_ASSERT_PTR_NULL(queue.rest);
	CU_ASSERT_EQUAL(rep.count[N_FULL], 3);
	all_there();
}

static void all_frames_may_find_no_place(void)
{
	struct xdp_frame *x[FRAMES];

	setup();
	for (unsigned i = 0; i < FRAMES; i++)
		x[i] = kernel_takes();
	for (unsigned i = 0; i < FRAMES; i++)
		comes_back(x[i]);
	xdp_give_back(&port);
	CU_ASSERT_EQUAL(fill_prod, FRAMES);
	all_there();
	kernel_publishes();
	xdp_queue_fill(&queue, queue.rest);
	CU_ASSERT_EQUAL(fill_prod, 2 * FRAMES);
	CU_ASSERT_PTR_NULL(queue.rest);
	all_there();
}

/* The kernel and the graph in any order, many times round the ring. */
static void in_any_order_no_frame_is_lost(void)
{
	struct xdp_frame *held[FRAMES];
	unsigned n = 0, rounds = xk_test_rounds(20000), full = 0;
	struct xk_rand r;

	setup();
	xk_rand_init(&r, 11, 0);
	for (unsigned i = 0; i < rounds; i++) {
		switch (xk_rand_below(&r, 4)) {
		case 0:
		case 1:
			if (taken != fill_prod)
				held[n++] = kernel_takes();
			break;
		case 2:
			if (n != 0) {
				unsigned k = (unsigned)xk_rand_below(&r, n);

				comes_back(held[k]);
				held[k] = held[--n];
			}
			if (xk_rand_below(&r, 3) == 0)
				xdp_give_back(&port);
			break;
		default:
			if (xk_rand_below(&r, 8) == 0)
				kernel_publishes();
		}
		CU_ASSERT_FATAL(fill_prod - fill_cons <= FRAMES);
		full += queue.rest != NULL;
		all_there();
	}
	CU_ASSERT_NOT_EQUAL(full, 0);
	CU_ASSERT(taken > rounds / 10);
}

/* ---- rings that lie -------------------------------------------------------------------------- */

static uint64_t bad(void) { return pf_rep(&f, "d", 0)->drop[XDP_DROP_BAD]; }

/* What the kernel says came in for the first VP at queue q. */
static void comes_in(unsigned q, const struct xdp_desc *desc, unsigned n)
{
	struct xdp_port *p = xdp_port(&w.d, q, 0);

	memcpy(w.rx, desc, n * sizeof *desc);
	p->rx = (struct xsk_ring_cons){ .mask = 31, .size = 32, .producer = &w.rx_prod, .consumer = &w.rx_cons, .ring = w.rx };
	w.rx_prod = n;
	w.rx_cons = 0;
	/* Somebody else is at the queue: what is given back waits there. */
	w.queue[q].busy = 1;
	pf_enter(&f, 0);
	CU_ASSERT_EQUAL(xdp_rx_run(&p->task, 32), n);
	pf_leave(&f, 0);
	pf_settle(&f);
	CU_ASSERT_EQUAL(w.rx_cons, n);
}

/* Of the second queue's: the last bytes of a frame are still its own. */
static const struct xdp_desc liars[] = {
	{ .addr = AT(FRAMES) + 256, .len = 100 },                /* good */
	{ .addr = AT(FRAMES) - 1, .len = 1 },                    /* the first queue's */
	{ .addr = AT(0), .len = 100 },
	{ .addr = AT(2 * FRAMES - 1) + 256, .len = SIZE - 256 }, /* good */
	{ .addr = AT(2 * FRAMES - 1) + 256, .len = SIZE - 255 }, /* past its end */
	{ .addr = AT(FRAMES) + 256, .len = UINT32_MAX },
	{ .addr = AT(2 * FRAMES), .len = 100 },                  /* to send with */
	{ .addr = AT(END), .len = 100 },
	{ .addr = UINT64_MAX, .len = 0 },
	{ .addr = (uint64_t)1 << 63, .len = 100 },
	{ .addr = AT(FRAMES + 5), .len = 60 },                   /* good */
};

static void received_from(const struct xdp_desc *desc, unsigned n, unsigned good)
{
	uint64_t before = bad();

	pf_forget(&f, "u");
	comes_in(1, desc, n);
	CU_ASSERT_EQUAL(bad() - before, n - good);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), good);
	CU_ASSERT_EQUAL(nback(1), good);
	xk_mpsc_take(&w.queue[1].back);
}

static void a_descriptor_of_no_frame_is_counted_and_left_alone(void)
{
	world_up();
	for (unsigned i = 0; i < 2; i++) {
		/* With memory posted frames take another way. */
		f.g->vps->vp[0]->nposted = i;
		received_from(liars, XK_ARRAY_LEN(liars), 3);
		received_from(&liars[1], 2, 0);
	}
	f.g->vps->vp[0]->nposted = 0;
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->count[N_READ], 2 * (XK_ARRAY_LEN(liars) + 2));
	world_down();
}

static void a_frame_said_to_be_sent_that_is_none_is_counted_and_left_alone(void)
{
	static const uint64_t said[PLACES] = {
		AT(END), AT(2 * FRAMES + PLACES), AT(0), AT(2 * FRAMES + 1), UINT64_MAX, AT(2 * FRAMES - 1) + SIZE - 1,
		AT(2 * FRAMES + PLACES - 1) + 100, (uint64_t)1 << 63,
	};
	struct xdp_queue *q = &w.queue[0];
	const struct xk_rep *r;

	world_up();
	r = pf_rep(&f, "d", 0);
	memcpy(w.comp, said, sizeof said);
	q->comp = (struct xsk_ring_cons){ .mask = PLACES - 1, .size = PLACES, .producer = &w.comp_prod, .consumer = &w.comp_cons,
					  .ring = w.comp };
	w.comp_prod = PLACES;
	pf_enter(&f, 0);
	CU_ASSERT_PTR_EQUAL(xdp_frame_get(&w.port[0]), &w.frame[2 * FRAMES + 1]);
	CU_ASSERT_PTR_EQUAL(xdp_frame_get(&w.port[0]), &w.frame[2 * FRAMES + PLACES - 1]);
	CU_ASSERT_PTR_NULL(xdp_frame_get(&w.port[0]));
	CU_ASSERT_EQUAL(w.comp_cons, PLACES);
	CU_ASSERT_EQUAL(r->count[N_ERRORS], PLACES - 2);
	/* Nothing but lies. */
	for (unsigned i = 0; i < PLACES; i++)
		w.comp[i] = AT(END + i);
	w.comp_prod += PLACES;
	CU_ASSERT_PTR_NULL(xdp_frame_get(&w.port[0]));
	CU_ASSERT_EQUAL(w.comp_cons, 2 * PLACES);
	CU_ASSERT_EQUAL(r->count[N_ERRORS], 2 * PLACES - 2);
	for (unsigned i = 1; i < 4; i++)
		CU_ASSERT_TRUE(xk_mpsc_empty(&w.port[i].done));
	pf_leave(&f, 0);
	world_down();
}

/* ---- frames in pieces ------------------------------------------------------------------------ */

#define PIECE 1792u              /* what the kernel puts into a frame of the UMEM */
#define WHOLE (3 * PIECE)

/* A train of TCP, or what says that it is of another protocol, in three frames of the second queue; its
 * checksum field has the sum of the pseudo-header. */
static void train(struct xdp_desc desc[3], uint8_t proto)
{
	static const uint8_t head[54] = {
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 0x45, 0, (WHOLE - 14) >> 8, (WHOLE - 14) & 255, 0, 1, 0x40, 0, 64, 6, 0, 0,
		10, 9, 0, 1, 10, 9, 0, 2, 0x12, 0x34, 0, 7, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 1, 0, 0, 0, 0, 0 };
	uint32_t sum = 0x0a09 + 1 + 0x0a09 + 2 + proto + WHOLE - 34;
	uint8_t *b;

	for (unsigned i = 0; i < 3; i++) {
		desc[i] = (struct xdp_desc){ .addr = AT(FRAMES + i) + 256, .len = PIECE, .options = i < 2 ? XDP_CONTINUED : 0 };
		b = w.area + desc[i].addr;
		for (unsigned k = 0; k < PIECE; k++)
			b[k] = (uint8_t)(i * PIECE + k);
	}
	b = w.area + desc[0].addr;
	memcpy(b, head, sizeof head);
	b[23] = proto;
	b[proto == 6 ? 50 : 40] = (uint8_t)(sum >> 8);
	b[proto == 6 ? 51 : 41] = (uint8_t)sum;
}

static void its_bytes_are_right(unsigned n)
{
	uint32_t at = 54;

	for (unsigned i = 0; i < n; i++) {
		const struct pf_rec *r = pf_got(&f, "u", i);

		CU_ASSERT(n == 1 || r->len <= 1514);
		for (uint32_t k = 54; k < r->len; k++, at++)
			if (r->bytes[k] != (uint8_t)at) {
				CU_FAIL("a byte is wrong");
				return;
			}
	}
	CU_ASSERT_EQUAL(at, WHOLE);
}

static void look_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool goes_down)
{
	(void)c;
	(void)now;
	CU_ASSERT_TRUE(goes_down || m->tot <= 1514);
}

/* Cut where who is above wants single frames, and while something is captured. */
static void a_frame_in_pieces_comes_up_as_one_or_is_cut(void)
{
	struct xk_capture look = { .fn = look_fn };
	struct xdp_desc desc[3];

	world_up();
	w.d.mtu = 1500;
	for (unsigned k = 0; k < 8; k++) {
		unsigned n = (k & 5) == 1 ? 1 : 4, first = k & 2 ? 1 : 3;

		pf_forget(&f, "u");
		xdp_port(&w.d, 1, 0)->asked = true;
		xdp_port(&w.d, 1, 0)->takes_long = k & 1;
		if (k == 4)
			xk_capture_attach(pf_node(&f, "d"), &look);
		train(desc, 6);
		comes_in(1, desc, first);                /* a burst may end within it */
		if (first != 3) {
			CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
			xk_mpsc_take(&w.queue[1].back);
			comes_in(1, desc + first, 3 - first);
		}
		CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), n);
		its_bytes_are_right(n);
		CU_ASSERT(n != 1 || (pf_got(&f, "u", 0)->flags & XK_MSG_CSUM_OK));
		xk_mpsc_take(&w.queue[1].back);
	}
	xk_capture_detach(pf_node(&f, "d"), &look);
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->count[N_READ], 8);
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->count[N_LONG], 8);
	world_down();
}

/* What is cut is more than it was, in a burst that is full. */
static void a_full_burst_with_a_frame_in_pieces_comes_up_whole(void)
{
	struct xdp_desc desc[32];

	world_up();
	w.d.mtu = 1500;
	for (unsigned k = 0; k < 2; k++) {
		unsigned at = k == 0 ? 0 : 29;

		for (unsigned i = 0; i < 32; i++)
			desc[i] = (struct xdp_desc){ .addr = AT(FRAMES + 16 + i), .len = 60 };
		train(desc + at, 6);
		pf_forget(&f, "u");
		comes_in(1, desc, 32);
		CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 29 + 4);
		CU_ASSERT_EQUAL(pf_got(&f, "u", k == 0 ? 4 : 0)->len, 60);
		CU_ASSERT_EQUAL(nback(1), 32);
		xk_mpsc_take(&w.queue[1].back);
	}
	world_down();
}

static void a_frame_in_pieces_that_cannot_be_had_whole_is_dropped(void)
{
	struct xdp_desc desc[3];

	world_up();
	w.d.mtu = 1500;
	train(desc, 17);                                 /* nobody knows how long each datagram was */
	comes_in(1, desc, 3);
	CU_ASSERT_EQUAL(nback(1), 3);
	xk_mpsc_take(&w.queue[1].back);
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->drop[XDP_DROP_UNCUT], 1);
	train(desc, 6);                                  /* whose sum nobody vouches for */
	w.area[desc[0].addr + 50]++;
	comes_in(1, desc, 3);
	xk_mpsc_take(&w.queue[1].back);
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->drop[XDP_DROP_UNCUT], 2);
	train(desc, 6);
	desc[1].addr = AT(0);                            /* a piece of the other queue's */
	comes_in(1, desc, 3);
	CU_ASSERT_EQUAL(nback(1), 2);
	xk_mpsc_take(&w.queue[1].back);
	CU_ASSERT_EQUAL(bad(), 1);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	comes_in(1, &liars[0], 1);                       /* and the next one is itself */
	xk_mpsc_take(&w.queue[1].back);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
	train(desc, 6);
	comes_in(1, desc, 2);                            /* the graph stops before the last piece */
	pf_enter(&f, 0);
	xdp_train_forget(xdp_port(&w.d, 1, 0));
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1);
	world_down();
}

/* ---- how fast they come ------------------------------------------------------------------------ */

/* n frames in a millisecond, so many at once; does the task nap then? */
static bool naps_after(unsigned n, unsigned at_once)
{
	struct xdp_desc desc[32];

	for (unsigned i = 0; i < XK_ARRAY_LEN(desc); i++)
		desc[i] = (struct xdp_desc){ .addr = AT(FRAMES + i), .len = 60 };
	for (unsigned k; n != 0; n -= k) {
		k = n < at_once ? n : at_once;
		comes_in(1, desc, k);
		if (k < XK_ARRAY_LEN(desc))              /* behind a full burst it looks for more */
			comes_in(1, desc, 0);
		xk_mpsc_take(&w.queue[1].back);
	}
	pf_run(&f, XK_MS);
	comes_in(1, desc, 0);
	return xdp_port(&w.d, 1, 0)->task.nap != 0;
}

static void frames_that_come_fast_are_collected(void)
{
	world_up();
	(void)naps_after(0, 1);
	CU_ASSERT_FALSE(naps_after(128, 32));            /* nobody asked for it */
	w.d.coalesce = 50;
	CU_ASSERT_FALSE(naps_after(39, 1));
	CU_ASSERT_TRUE(naps_after(40, 1));
	CU_ASSERT_TRUE(naps_after(21, 3));
	pf_run(&f, 3 * XK_MS);                           /* nobody read meanwhile: they wait in the ring */
	CU_ASSERT_TRUE(naps_after(160, 32));
	CU_ASSERT_FALSE(naps_after(0, 1));               /* they have ended */
	CU_ASSERT_TRUE(naps_after(160, 32));
	pf_run(&f, XK_SEC);
	CU_ASSERT_FALSE(naps_after(160, 32));            /* many, but in a long time */
	world_down();
}

static void who_waits_for_answers_is_not_slowed(void)
{
	world_up();
	w.d.coalesce = 50;
	(void)naps_after(0, 1);
	CU_ASSERT_TRUE(naps_after(128, 1));
	for (unsigned holds = 4; holds <= 512; holds *= 2) {
		unsigned most = holds < 256 ? holds : 256;

		for (unsigned i = 0; i < most - 1; i++)
			CU_ASSERT_FALSE(naps_after(128, i == 0 ? 2 : 32));
		CU_ASSERT_TRUE(naps_after(128, 32));
	}
	/* It was no such sender after all. */
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_TRUE(naps_after(128, 32));
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT_FALSE(naps_after(128, i == 0 ? 2 : 32));
	CU_ASSERT_TRUE(naps_after(128, 32));
	world_down();
}

/* With buffers of the pool in its memory the kernel says where a frame begins, and how far behind it the bytes do. */
static void an_offset_in_the_upper_bits_is_added(void)
{
	const struct xdp_desc desc[] = {
		{ .addr = AT(FRAMES + 1) | (uint64_t)256 << 48, .len = SIZE - 256 },
		{ .addr = AT(FRAMES + 2) | (uint64_t)257 << 48, .len = SIZE - 256 },     /* past its end */
		{ .addr = AT(FRAMES - 1) | (uint64_t)256 << 48, .len = 100 },            /* the first queue's */
	};

	world_up();
	memset(w.area + AT(FRAMES + 1) + 256, 0x5a, SIZE - 256);
	received_from(desc, XK_ARRAY_LEN(desc), 1);
	CU_ASSERT_EQUAL(pf_got(&f, "u", 0)->bytes[0], 0x5a);
	CU_ASSERT_EQUAL(pf_got(&f, "u", 0)->bytes[SIZE - 257], 0x5a);
	world_down();
}

static CU_TestInfo tests[] = {
	{ "frames that come fast are collected", frames_that_come_fast_are_collected },
	{ "who waits for answers is not slowed", who_waits_for_answers_is_not_slowed },
	{ "a frame that finds no place waits", a_frame_that_finds_no_place_waits },
	{ "all frames may find no place", all_frames_may_find_no_place },
	{ "in any order no frame is lost", in_any_order_no_frame_is_lost },
	{ "a frame in pieces comes up as one or is cut", a_frame_in_pieces_comes_up_as_one_or_is_cut },
	{ "a full burst with a frame in pieces comes up whole", a_full_burst_with_a_frame_in_pieces_comes_up_whole },
	{ "a frame in pieces that cannot be had whole is dropped", a_frame_in_pieces_that_cannot_be_had_whole_is_dropped },
	{ "a descriptor of no frame is counted and left alone", a_descriptor_of_no_frame_is_counted_and_left_alone },
	{ "a frame said to be sent that is none is counted and left alone",
	  a_frame_said_to_be_sent_that_is_none_is_counted_and_left_alone },
	{ "an offset in the upper bits is added", an_offset_in_the_upper_bits_is_added },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "xdp_queue", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}
