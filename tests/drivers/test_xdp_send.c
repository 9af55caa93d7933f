/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_xdp_send.c - what the AF_XDP driver sends without a copy, in rings of the test's own.
 *
 * Promises: what was lent is sent from where it lies, with new headers, and comes back to where it was
 * received; a message in a buffer that the device reads is held until the kernel is through with it, or
 * the device is gone, and freed once; where that cannot be, and where anybody else looks at the bytes,
 * they are copied.
 * Needs neither root nor an interface.
 */
#include "tests/drivers/xdp_world.h"
#include "tests/support/xk_test.h"

/* ---- sent from where it lies ----------------------------------------------------------------- */

#define HEADERS 42u

static struct {
	struct xdp_desc ring[16];
	uint32_t        prod, cons, flags;
} tx;

/* VP 0 sends at the first queue what the second one received. */
static void sending_up(void)
{
	struct xdp_port *p = &w.port[0];

	world_up();
	memset(&tx, 0, sizeof tx);
	w.d.mtu = 1500;
	w.d.lend = 0;
	for (unsigned i = 0; i < END; i++)
		w.frame[i].q = &w.queue[i >= FRAMES && i < 2 * FRAMES];
	for (unsigned i = 0; i < PLACES; i++)
		xdp_frame_put(p, &w.frame[2 * FRAMES + i]);
	p->tx = (struct xsk_ring_prod){ .cached_cons = 16, .mask = 15, .size = 16, .producer = &tx.prod, .consumer = &tx.cons,
					.ring = tx.ring, .flags = &tx.flags };
	w.queue[0].comp = (struct xsk_ring_cons){ .mask = PLACES - 1, .size = PLACES, .producer = &w.comp_prod,
						  .consumer = &w.comp_cons, .ring = w.comp };
	xk_task_init(&p->tail, f.g->vps->vp[0], xdp_tail_run);
	for (unsigned i = 2; i < 4; i++)
		w.port[i].over = true;                   /* nothing of theirs is made ready */
	pf_enter(&f, 0);
}

static void sending_down(void)
{
	xk_task_park(&w.port[0].tail);
	pf_leave(&f, 0);
	world_down();
}

/* A frame, lent, whose headers were taken off. */
static struct xk_msg *received(unsigned i, uint32_t len)
{
	struct xdp_desc desc = { .addr = AT(FRAMES + i) + 256, .len = len };
	struct xk_msg *m;

	for (uint32_t k = 0; k < len; k++)
		w.area[desc.addr + k] = (uint8_t)(i + k);
	m = xdp_rx_bytes(&w.port[2], &desc, true);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	xk_msg_pop(m, HEADERS);
	return m;
}

/* The new headers before m, pushed, and what the ring then has at that place. */
static const struct xdp_desc *answered(struct xk_msg *m, unsigned at)
{
	uint8_t *h = xk_msg_push(&m, HEADERS);

	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
	memset(h, 0xaa, HEADERS);
	xdp_tx_push(&w.port[0], m);
	xdp_tx_flush(&w.port[0]);
	CU_ASSERT_EQUAL_FATAL(tx.prod, at + 1);
	return &tx.ring[at];
}

static bool right(const struct xdp_desc *desc, unsigned i, uint32_t len)
{
	const uint8_t *b = (const uint8_t *)((uintptr_t)w.area + desc->addr);    /* or beside it */

	for (uint32_t k = 0; k < len; k++)
		if (b[k] != (k < HEADERS ? 0xaa : (uint8_t)(i + k)))
			return false;
	return desc->len == len;
}

static uint64_t still_lent(void)
{
	return w.port[2].lent - w.port[2].freed;
}

static void what_was_lent_is_sent_from_where_it_lies(void)
{
	const struct xdp_desc *desc;
	const struct xk_rep *r;

	sending_up();
	r = pf_rep(&f, "d", 0);
	w.comp[0] = w.comp[1] = AT(FRAMES + 3) + 256;
	w.comp[2] = AT(FRAMES + 4) + 256;                /* is not being sent */
	w.comp_prod = 1;
	desc = answered(received(3, 1000), 0);
	CU_ASSERT_EQUAL(desc->addr, AT(FRAMES + 3) + 256);
	CU_ASSERT_TRUE(right(desc, 3, 1000));
	CU_ASSERT_EQUAL(r->count[N_UNCOPIED], 1);
	CU_ASSERT_EQUAL(r->count[N_WRITTEN], 1);
	CU_ASSERT_EQUAL(still_lent(), 0);                /* its message is gone */
	CU_ASSERT_EQUAL(nback(1), 1);                    /* and it has come back to its queue */
	CU_ASSERT_PTR_EQUAL(w.queue[1].back.head, &w.frame[FRAMES + 3].link);
	w.comp_prod = 3;
	xdp_queue_tend(&w.port[0]);
	CU_ASSERT_EQUAL(w.comp_cons, 3);
	CU_ASSERT_EQUAL(nback(1), 1);                    /* once */
	CU_ASSERT_EQUAL(r->count[N_ERRORS], 2);
	sending_down();
}

static void what_cannot_be_sent_as_it_lies_is_copied(void)
{
	struct xdp_dev other;
	struct xdp_queue theirs = { .dev = &other };
	struct xk_msg *m, *x;

	sending_up();
	m = received(0, 1000);                           /* somebody else looks at it */
	x = xk_msg_share(m);
	CU_ASSERT_TRUE(right(answered(m, 0), 0, 1000));
	CU_ASSERT_EQUAL(still_lent(), 1);
	CU_ASSERT_EQUAL(x->data[0], HEADERS);
	xk_msg_free(x);
	m = received(1, 59);                             /* is to be padded */
	CU_ASSERT_TRUE(right(&(struct xdp_desc){ answered(m, 1)->addr, 59, 0 }, 1, 59));
	CU_ASSERT_EQUAL(tx.ring[1].len, 60);
	m = received(2, 1000);                           /* in three */
	xk_msg_join(m, xk_msg_split(m, 500));
	CU_ASSERT_TRUE(right(answered(m, 2), 2, 1000));
	m = received(3, 1000);                           /* headers that do not fit before it */
	m->data -= 256 + HEADERS;
	CU_ASSERT_EQUAL(answered(m, 3)->len, 1000);
	memcpy(&other, &w.d, sizeof other);              /* another device's */
	m = received(4, 1000);
	w.frame[FRAMES + 4].q = &theirs;
	CU_ASSERT_TRUE(right(answered(m, 4), 4, 1000));
	w.frame[FRAMES + 4].q = &w.queue[1];
	for (unsigned i = 0; i < 5; i++)
		CU_ASSERT(tx.ring[i].addr >= AT(2 * FRAMES));
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->count[N_UNCOPIED], 0);
	sending_down();
}

static void a_ring_full_of_what_was_not_shown_is_shown(void)
{
	const struct xk_rep *r;

	sending_up();
	r = pf_rep(&f, "d", 0);
	w.port[0].tx.consumer = &tx.prod;                /* takes all that it is shown, at once */
	for (unsigned i = 0; i < 20; i++)
		xdp_tx_push(&w.port[0], received(i, 1000));
	xdp_tx_flush(&w.port[0]);
	CU_ASSERT_EQUAL(tx.prod, 20);
	CU_ASSERT_EQUAL(r->count[N_UNCOPIED], 20);
	CU_ASSERT_EQUAL(r->drop[XDP_DROP_FULL], 0);
	sending_down();
}

/* The chunk that m lies in is memory that the device reads. */
static void pool_at(const struct xk_msg *m)
{
	static struct xk_msg *held[XK_MEM_CHUNK / XDP_HELD];

	memset(held, 0, sizeof held);
	w.d.pool_at = ((uintptr_t)m & ~(uintptr_t)(XK_MEM_CHUNK - 1)) - (uintptr_t)w.area;
	w.d.pool_size = XK_MEM_CHUNK;
	w.d.held = held;
	w.d.given = true;
}

static struct xk_msg *own(unsigned i, uint32_t len)
{
	struct xk_msg *m = xk_msg_new(len - HEADERS);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	for (uint32_t k = HEADERS; k < len; k++)
		m->data[k - HEADERS] = (uint8_t)(i + k);
	return m;
}

static uint64_t nfree(void)
{
	struct xk_mem_stats st[XK_MEM_CLASSES];

	xk_mempool_stats(f.g->vps->pool, st);
	return st[XK_MEM_MEDIUM].carved - st[XK_MEM_MEDIUM].outstanding;
}

static void a_message_is_sent_from_its_buffer_and_held(void)
{
	const struct xk_rep *r;
	struct xk_msg *m;
	uint64_t all, addr;

	sending_up();
	r = pf_rep(&f, "d", 0);
	m = own(3, 1000);
	pool_at(m);
	all = nfree() + 1;
	CU_ASSERT_TRUE(right(answered(m, 0), 3, 1000));
	addr = tx.ring[0].addr;
	CU_ASSERT_EQUAL((uintptr_t)w.area + addr, (uintptr_t)m->data);
	CU_ASSERT_EQUAL(r->count[N_UNCOPIED], 1);
	CU_ASSERT_EQUAL(nfree(), all - 1);
	w.comp[0] = addr + 64;
	w.comp[1] = addr - 512;
	w.comp[2] = w.comp[3] = addr;
	w.comp_prod = 3;
	xdp_queue_tend(&w.port[0]);
	CU_ASSERT_EQUAL(r->count[N_ERRORS], 2);
	CU_ASSERT_EQUAL(nfree(), all);
	w.comp_prod = 4;
	xdp_queue_tend(&w.port[0]);
	CU_ASSERT_EQUAL(r->count[N_ERRORS], 3);          /* freed once */
	/* The device goes while the kernel has it. */
	m = own(4, 1000);
	CU_ASSERT_EQUAL(answered(m, 1)->addr, (uintptr_t)m->data - (uintptr_t)w.area);
	CU_ASSERT_EQUAL(nfree(), all - 1);
	w.d.map_fd = w.d.prog_fd = w.d.link_fd = w.d.watch_fd = -1;
	xdp_dev_shut(&w.d);
	xdp_dev_shut(&w.d);
	CU_ASSERT_EQUAL(nfree(), all);
	CU_ASSERT_EQUAL(w.d.left, 1);
	sending_down();
}

static void a_message_that_others_look_at_is_copied(void)
{
	struct xk_msg *m, *kept;

	sending_up();
	m = own(0, 1000);
	pool_at(m);
	m->data = (uint8_t *)(m + 1) + XK_MSG_HEADROOM;
	kept = xk_msg_lend(m);                           /* as TCP does: m stays in the send queue */
	CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
	CU_ASSERT_TRUE(right(answered(kept, 0), 0, 1000));
	xk_msg_free(m);
	CU_ASSERT_TRUE(right(answered(own(1, XDP_HELD - 1), 1), 1, XDP_HELD - 1));
	m = own(2, 1000);
	xk_msg_join(m, own(2, 100));
	CU_ASSERT_EQUAL(answered(m, 2)->len, 1000 + 100 - HEADERS);
	w.d.pool_at += XK_MEM_CHUNK;                     /* in another chunk */
	CU_ASSERT_TRUE(right(answered(own(3, 1000), 3), 3, 1000));
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT(tx.ring[i].addr >= AT(2 * FRAMES) && tx.ring[i].addr < AT(END));
	CU_ASSERT_EQUAL(pf_rep(&f, "d", 0)->count[N_UNCOPIED], 0);
	sending_down();
}

static CU_TestInfo tests[] = {
	{ "what was lent is sent from where it lies", what_was_lent_is_sent_from_where_it_lies },
	{ "what cannot be sent as it lies is copied", what_cannot_be_sent_as_it_lies_is_copied },
	{ "a ring full of what was not shown is shown", a_ring_full_of_what_was_not_shown_is_shown },
	{ "a message is sent from its buffer and held", a_message_is_sent_from_its_buffer_and_held },
	{ "a message that others look at is copied", a_message_that_others_look_at_is_copied },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "xdp_send", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}
