/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_msg.c - promises of messages, one by one: headers move a pointer, bytes
 * are shared and not copied, sums do not depend on cuts, and every buffer goes
 * back to the VP it came from exactly when the last look at it ends.
 */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/msg/xk_msg_inline.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define MAX 20000u
static uint8_t pattern[MAX];

static void setup(void)
{
	for (unsigned i = 0; i < MAX; i++)
		pattern[i] = (uint8_t)(i * 7 + (i >> 8) * 13 + 1);
	fx_setup();
}

static struct xk_msg *filled(uint32_t len)
{
	struct xk_msg *m = xk_msg_new(len);

	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	xk_msg_copy_in(m, 0, pattern, len);
	return m;
}

static bool holds(const struct xk_msg *m, const uint8_t *bytes, uint32_t n)
{
	static uint8_t buf[MAX];

	xk_msg_check(m);
	return m->tot == n && xk_msg_copy_out(m, 0, buf, n) == n && memcmp(buf, bytes, n) == 0;
}

static unsigned segments(const struct xk_msg *m)
{
	unsigned n = 0;

	for (; m != NULL; m = m->next)
		n++;
	return n;
}

/* ---- headers ------------------------------------------------------------------------ */

static void pushed_header_moves_one_pointer(void)
{
	struct xk_msg *m = filled(100), *was = m;
	uint8_t *payload = m->data, *h = xk_msg_push(&m, 20);

	CU_ASSERT_PTR_EQUAL(m, was);
	CU_ASSERT_PTR_EQUAL(h, payload - 20);
	CU_ASSERT_EQUAL(m->tot, 120);
	memset(h, 9, 20);
	CU_ASSERT_PTR_EQUAL(xk_msg_peek(&m, 20), h);
	xk_msg_pop(m, 20);
	CU_ASSERT_PTR_EQUAL(m->data, payload);
	CU_ASSERT_TRUE(holds(m, pattern, 100));
	xk_msg_free(m);
}

static void header_beyond_the_headroom_gets_a_segment(void)
{
	struct xk_msg *m = filled(100), *was = m;
	uint8_t *h;

	m->hash = 77;
	m->vp = 3;
	CU_ASSERT_EQUAL(xk_msg_headroom(m), XK_MSG_HEADROOM);
	h = xk_msg_push(&m, XK_MSG_HEADROOM + 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(h);
	CU_ASSERT_PTR_NOT_EQUAL(m, was);
	CU_ASSERT_EQUAL(m->tot, 100 + XK_MSG_HEADROOM + 1);
	CU_ASSERT_EQUAL(m->hash, 77);
	CU_ASSERT_EQUAL(m->vp, 3);
	memset(h, 1, XK_MSG_HEADROOM + 1);
	CU_ASSERT_PTR_NOT_NULL(xk_msg_push(&m, 40));     /* the new one has headroom too */
	CU_ASSERT_EQUAL(segments(m), 2);
	xk_msg_pop(m, 40);
	xk_msg_pop(m, XK_MSG_HEADROOM + 1);
	CU_ASSERT_TRUE(holds(m, pattern, 100));
	xk_msg_free(m);
}

static void peek_past_the_end_is_refused(void)
{
	struct xk_msg *m = filled(10), *was = m;

	CU_ASSERT_PTR_NULL(xk_msg_peek(&m, 11));
	CU_ASSERT_PTR_EQUAL(m, was);
	CU_ASSERT_TRUE(holds(m, pattern, 10));
	xk_msg_free(m);
}

static void split_header_is_pulled_together_at_every_cut(void)
{
	for (uint32_t cut = 0; cut <= 40; cut++) {
		struct xk_msg *m = filled(300), *rest = xk_msg_split(m, cut);
		uint8_t *h;

		xk_msg_join(m, rest);
		m->hash = 5;
		m->flags |= XK_MSG_CSUM_OK | XK_MSG_LINK_BCAST;
		h = xk_msg_peek(&m, 40);
		CU_ASSERT_PTR_NOT_NULL_FATAL(h);
		CU_ASSERT_EQUAL(memcmp(h, pattern, 40), 0);
		CU_ASSERT_EQUAL(m->hash, 5);
		CU_ASSERT_EQUAL(m->flags & 0xf0, XK_MSG_CSUM_OK | XK_MSG_LINK_BCAST);
		CU_ASSERT_TRUE(holds(m, pattern, 300));
		xk_msg_pop(m, 40);
		CU_ASSERT_TRUE(holds(m, pattern + 40, 260));
		xk_msg_free(m);
	}
}

static void pullup_uses_tailroom_when_the_segment_is_ours(void)
{
	struct xk_msg *m = filled(10), *b = xk_msg_new(200), *was = m;

	xk_msg_copy_in(b, 0, pattern + 10, 200);
	xk_msg_join(m, b);
	CU_ASSERT_TRUE(xk_msg_pullup(&m, 150));
	CU_ASSERT_PTR_EQUAL(m, was);
	CU_ASSERT_EQUAL(m->len, 150);
	CU_ASSERT_TRUE(holds(m, pattern, 210));
	CU_ASSERT_TRUE(xk_msg_pullup(&m, 210));
	CU_ASSERT_EQUAL(segments(m), 1);
	CU_ASSERT_TRUE(holds(m, pattern, 210));
	xk_msg_free(m);
}

static void pullup_of_more_than_a_segment_is_refused(void)
{
	struct xk_msg *m = filled(2 * XK_MSG_MAX_SEG), *was = m;

	CU_ASSERT_FALSE(xk_msg_pullup(&m, XK_MSG_MAX_SEG + 1));
	CU_ASSERT_PTR_EQUAL(m, was);
	CU_ASSERT_TRUE(holds(m, pattern, 2 * XK_MSG_MAX_SEG));
	xk_msg_free(m);
}

static void network_header_survives_a_pullup(void)
{
	struct xk_msg *m = filled(20), *b = filled(600), *was = m;

	/* The first segment is shared, so a pullup has to make another. */
	struct xk_msg *s = xk_msg_share(m);

	xk_msg_set_net(m, m->data);
	xk_msg_pop(m, 20);
	xk_msg_join(m, b);
	CU_ASSERT_TRUE(xk_msg_pullup(&m, 8));
	CU_ASSERT_PTR_NOT_EQUAL(m, was);
	CU_ASSERT_PTR_EQUAL(xk_msg_net(m), m->data - 20);
	CU_ASSERT_EQUAL(memcmp(xk_msg_net(m), pattern, 20), 0);
	xk_msg_free(m);
	xk_msg_free(s);
}

static void network_header_out_of_reach_is_none(void)
{
	struct xk_msg *m = filled(100);

	xk_msg_set_net(m, m->data + 5);
	CU_ASSERT_PTR_EQUAL(xk_msg_net(m), m->data + 5);
	xk_msg_set_net(m, pattern);
	CU_ASSERT_PTR_NULL(xk_msg_net(m));
	xk_msg_free(m);
}

/* ---- chains ------------------------------------------------------------------------- */

static void long_message_is_a_chain_of_large_segments(void)
{
	struct xk_msg *m = filled(15000);

	CU_ASSERT_EQUAL(segments(m), 4);
	CU_ASSERT_TRUE(holds(m, pattern, 15000));
	xk_msg_free(m);
	m = xk_msg_new(XK_MSG_MAX_SEG);
	CU_ASSERT_EQUAL(segments(m), 1);
	xk_msg_free(m);
	m = xk_msg_new(0);
	CU_ASSERT_EQUAL(m->tot, 0);
	xk_msg_check(m);
	xk_msg_free(m);
	m = xk_msg_new_chain(0);
	CU_ASSERT_EQUAL(m->tot, 0);
	xk_msg_free(m);
}

static void split_then_join_is_the_same_at_every_cut(void)
{
	for (uint32_t n = 0; n <= 600; n += n < 20 || n > 580 ? 1 : 37) {
		struct xk_msg *m = filled(200), *b = xk_msg_new(400), *rest;

		xk_msg_copy_in(b, 0, pattern + 200, 400);
		xk_msg_join(m, b);
		rest = xk_msg_split(m, n);
		CU_ASSERT_PTR_NOT_NULL_FATAL(rest);
		CU_ASSERT_TRUE(holds(m, pattern, n));
		CU_ASSERT_TRUE(holds(rest, pattern + n, 600 - n));
		xk_msg_join(m, rest);
		CU_ASSERT_TRUE(holds(m, pattern, 600));
		xk_msg_free(m);
	}
}

static void split_shares_and_copies_no_payload(void)
{
	struct xk_msg *m = filled(1000);
	uint8_t *at = m->data + 400;
	struct xk_msg *rest = xk_msg_split(m, 400);

	CU_ASSERT_PTR_EQUAL(rest->data, at);
	CU_ASSERT_EQUAL(rest->flags & XK_MSG_REF, XK_MSG_REF);
	CU_ASSERT_EQUAL(m->flags & XK_MSG_SHARED, XK_MSG_SHARED);
	xk_msg_free(rest);
	CU_ASSERT_EQUAL(m->flags & XK_MSG_SLOW, 0);      /* alone again: fast again */
	CU_ASSERT_EQUAL(xk_msg_headroom(m), XK_MSG_HEADROOM);
	xk_msg_free(m);
}

static void split_between_segments_takes_no_buffer(void)
{
	struct xk_msg *m = filled(200), *b = filled(100), *rest;
	uint64_t out = fx_out();

	xk_msg_join(m, b);
	b->flags |= XK_MSG_CSUM;                  /* stale, from the segment's former life */
	rest = xk_msg_split(m, 200);
	CU_ASSERT_PTR_EQUAL(rest, b);
	CU_ASSERT_EQUAL(fx_out(), out);
	CU_ASSERT_EQUAL((m->flags | rest->flags) & (XK_MSG_SLOW | XK_MSG_CSUM), 0);
	CU_ASSERT_TRUE(holds(rest, pattern, 100));
	xk_msg_free(m);
	xk_msg_free(rest);
}

static void joining_nothing_leaves_no_segment(void)
{
	struct xk_msg *m = filled(200);

	xk_msg_join(m, filled(0));
	CU_ASSERT_EQUAL(segments(m), 1);
	CU_ASSERT_EQUAL(m->flags & XK_MSG_SLOW, 0);
	CU_ASSERT_TRUE(holds(m, pattern, 200));
	xk_msg_free(m);
}

static void trim_drops_the_tail_at_every_length(void)
{
	for (uint32_t n = 0; n <= 30; n++) {
		struct xk_msg *m = filled(10), *b = xk_msg_new(0), *c = xk_msg_new(20);
		struct xk_msg *d = xk_msg_new(0);

		b->tot = b->len = 0;
		xk_msg_copy_in(c, 0, pattern + 10, 20);
		m->next = b;                              /* zero-length segments by hand */
		b->next = c;
		c->next = d;
		m->flags |= XK_MSG_CHAIN;
		b->flags |= XK_MSG_CHAIN;
		c->flags |= XK_MSG_CHAIN;
		m->tot = 30;
		xk_msg_check(m);
		xk_msg_truncate(m, n);
		CU_ASSERT_TRUE(holds(m, pattern, n));
		xk_msg_free(m);
	}
}

static void abort_join(void *m)
{
	xk_msg_join(m, m);
}

static void joining_a_message_to_itself_aborts(void)
{
	struct xk_msg *m = filled(3);

	CU_ASSERT_TRUE(fx_aborts(abort_join, m));
	xk_msg_free(m);
}

static void queue_keeps_order_and_frees_all(void)
{
	struct xk_msgq q;
	struct xk_msg *m[3];

	xk_msgq_init(&q);
	for (unsigned i = 0; i < 3; i++)
		xk_msgq_put(&q, m[i] = filled(7000 * i));
	CU_ASSERT_EQUAL(q.n, 3);
	CU_ASSERT_PTR_EQUAL(xk_msgq_get(&q), m[0]);
	xk_msg_free(m[0]);
	xk_msgq_free(&q);
	CU_ASSERT_EQUAL(q.n, 0);
	CU_ASSERT_PTR_NULL(xk_msgq_get(&q));
}

/* ---- sharing ------------------------------------------------------------------------ */

static void shared_message_outlives_either_holder(void)
{
	for (unsigned first = 0; first < 2; first++) {
		struct xk_msg *m = filled(9000), *s = xk_msg_share(m), *left;

		CU_ASSERT_PTR_EQUAL(s->data, m->data);
		xk_msg_free(first ? m : s);
		left = first ? s : m;
		CU_ASSERT_TRUE(holds(left, pattern, 9000));
		CU_ASSERT_NOT_EQUAL(fx_out(), 0);
		xk_msg_free(left);
		CU_ASSERT_EQUAL(fx_out(), 0);
	}
}

static void base_is_freed_with_the_last_of_many_shares(void)
{
	struct xk_msg *m = filled(500), *s[5];

	s[0] = xk_msg_share(m);
	for (unsigned i = 1; i < 5; i++)
		s[i] = xk_msg_share(s[i - 1]);           /* a share of a share has the same base */
	CU_ASSERT_EQUAL(m->refs, 6);
	xk_msg_free(m);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT_TRUE(holds(s[i], pattern, 500));
		CU_ASSERT_EQUAL(fx_out(), 6 - i);
		xk_msg_free(s[i]);
	}
	CU_ASSERT_EQUAL(fx_out(), 0);
}

static void header_on_a_share_does_not_show_in_the_other(void)
{
	struct xk_msg *m = filled(100), *s = xk_msg_share(m);
	uint8_t *h;

	xk_msg_pop(m, 30);
	h = xk_msg_push(&m, 30);
	memset(h, 0xee, 30);
	CU_ASSERT_TRUE(holds(s, pattern, 100));
	h = xk_msg_push(&s, 8);
	memset(h, 0xdd, 8);
	xk_msg_pop(m, 30);
	CU_ASSERT_TRUE(holds(m, pattern + 30, 70));
	xk_msg_free(m);
	xk_msg_pop(s, 8);
	CU_ASSERT_TRUE(holds(s, pattern, 100));
	xk_msg_free(s);
}

static void abort_write(void *m)
{
	xk_msg_copy_in(m, 0, pattern, 1);
}

static void writing_to_shared_bytes_aborts(void)
{
	struct xk_msg *m = filled(100), *s = xk_msg_share(m);

	CU_ASSERT_TRUE(fx_aborts(abort_write, m));
	CU_ASSERT_TRUE(fx_aborts(abort_write, s));
	xk_msg_free(s);
	xk_msg_copy_in(m, 0, pattern, 100);              /* ours alone again */
	xk_msg_free(m);
}

static void a_full_reference_count_copies_instead(void)
{
	struct xk_msg *m = filled(6), *s;

	m->refs = UINT16_MAX;
	m->flags |= XK_MSG_SHARED;
	s = xk_msg_share(m);
	CU_ASSERT_EQUAL(m->refs, UINT16_MAX);
	CU_ASSERT_EQUAL(s->flags & XK_MSG_REF, 0);
	CU_ASSERT_TRUE(holds(s, pattern, 6));
	m->refs = 1;
	m->flags &= (uint8_t)~XK_MSG_SHARED;
	xk_msg_free(m);
	xk_msg_free(s);
}

static void a_copy_longer_than_a_segment_stays_in_order(void)
{
	struct xk_msg *m = xk_msg_new_extern(pattern, 12000, NULL, NULL), *b = xk_msg_new(500), *s;

	xk_msg_copy_in(b, 0, pattern + 12000, 500);
	xk_msg_join(m, b);
	m->refs = UINT16_MAX;
	m->flags |= XK_MSG_SHARED;
	s = xk_msg_share(m);
	CU_ASSERT_TRUE(holds(s, pattern, 12500));
	xk_msg_free(s);
	m->refs = 1;
	m->flags &= (uint8_t)~XK_MSG_SHARED;
	xk_msg_free(m);
}

static unsigned released;
static void release(void *arg)
{
	released += *(unsigned *)arg;
}

static void lent_bytes_are_released_once_with_the_last_look(void)
{
	unsigned one = 1;
	struct xk_msg *m, *s, *t, *c;

	released = 0;
	m = xk_msg_new_extern(pattern, 5000, release, &one);
	s = xk_msg_share(m);
	t = xk_msg_split(s, 1234);
	c = xk_msg_clone(m);
	CU_ASSERT_EQUAL(xk_msg_headroom(m), 0);
	CU_ASSERT_TRUE(holds(m, pattern, 5000));
	CU_ASSERT_TRUE(holds(t, pattern + 1234, 5000 - 1234));
	xk_msg_free(m);
	xk_msg_free(s);
	CU_ASSERT_EQUAL(released, 0);
	xk_msg_free(t);
	CU_ASSERT_EQUAL(released, 1);
	CU_ASSERT_TRUE(holds(c, pattern, 5000));
	xk_msg_free(c);
	m = xk_msg_new_extern(pattern, 10, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL(xk_msg_push(&m, 14));
	xk_msg_free(m);
}

static void clone_shares_nothing_and_has_headroom(void)
{
	struct xk_msg *m = filled(12000), *c;

	m->hash = 11;
	m->aux = 12;
	m->flags |= XK_MSG_CSUM_IGNORE;
	xk_msg_set_net(m, m->data + 3);
	c = xk_msg_clone(m);
	CU_ASSERT_EQUAL(m->flags & XK_MSG_SHARED, 0);
	CU_ASSERT_EQUAL(xk_msg_headroom(c), XK_MSG_HEADROOM);
	CU_ASSERT_EQUAL(c->hash, 11);
	CU_ASSERT_EQUAL(c->aux, 12);
	CU_ASSERT_TRUE(c->flags & XK_MSG_CSUM_IGNORE);
	CU_ASSERT_PTR_EQUAL(xk_msg_net(c), c->data + 3);
	memset(m->data, 0, m->len);
	CU_ASSERT_TRUE(holds(c, pattern, 12000));
	xk_msg_free(m);
	xk_msg_free(c);
}

static void partial_sum_stays_only_where_the_bytes_do(void)
{
	struct xk_msg *m = filled(100), *s, *c, *r;

	m->csum = 0x1234;
	m->flags |= XK_MSG_CSUM;
	s = xk_msg_share(m);
	c = xk_msg_clone(m);
	CU_ASSERT_TRUE((s->flags & XK_MSG_CSUM) && s->csum == 0x1234);
	CU_ASSERT_TRUE((c->flags & XK_MSG_CSUM) && c->csum == 0x1234);
	r = xk_msg_split(s, 50);
	CU_ASSERT_FALSE(s->flags & XK_MSG_CSUM);
	CU_ASSERT_FALSE(r->flags & XK_MSG_CSUM);
	xk_msg_join(c, r);
	CU_ASSERT_FALSE(c->flags & XK_MSG_CSUM);
	xk_msg_free(m);
	xk_msg_free(s);
	xk_msg_free(c);
}

static void lent_message_takes_headers_before_the_lender_s_bytes(void)
{
	struct xk_msg *m = filled(1000), *l = xk_msg_lend(m), *rest;
	uint8_t *p = m->data;

	CU_ASSERT_PTR_NULL(xk_msg_lend(m));  /* once at a time */
	CU_ASSERT_PTR_EQUAL(xk_msg_push_quick(l, 20), p - 20);
	memset(l->data, 7, 20);
	CU_ASSERT_PTR_EQUAL(xk_msg_push(&l, 14), p - 34);
	CU_ASSERT_PTR_NULL(xk_msg_push_quick(l, XK_MSG_HEADROOM));
	CU_ASSERT_TRUE(l->len == 1034 && m->len == 1000 && m->data == p && holds(m, pattern, 1000));
	/* What looks at the same bytes in its turn may not write there. */
	rest = xk_msg_split(l, 34);
	CU_ASSERT_PTR_NULL(xk_msg_push_quick(rest, 1));
	xk_msg_pop(l, 34);
	CU_ASSERT_PTR_NOT_NULL(xk_msg_push_quick(l, 1));
	xk_msg_check(rest);
	xk_msg_free(rest);
	xk_msg_free(l);
	CU_ASSERT_EQUAL(m->flags & XK_MSG_SLOW, 0);
	l = xk_msg_lend(m);
	xk_msg_pop(l, 10);
	CU_ASSERT_PTR_NULL(xk_msg_push_quick(l, 4));  /* these bytes are the lender's */
	xk_msg_free(m);                      /* the lender goes first */
	CU_ASSERT_EQUAL(fx_out(), 2);
	xk_msg_check(l);
	xk_msg_free(l);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

static void only_a_single_unshared_segment_is_lent(void)
{
	struct xk_msg *chain = xk_msg_new(9000), *m = filled(300), *s = xk_msg_share(m);

	CU_ASSERT_PTR_NULL(xk_msg_lend(chain));
	CU_ASSERT_PTR_NULL(xk_msg_lend(m));
	CU_ASSERT_PTR_NULL(xk_msg_lend(s));
	xk_msg_free(chain);
	xk_msg_free(s);
	s = xk_msg_lend(m);
	CU_ASSERT_PTR_NOT_NULL(s);
	xk_msg_free(s);
	xk_msg_free(m);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

/* ---- other VPs ------------------------------------------------------------------------ */

static void message_freed_elsewhere_goes_home(void)
{
	struct xk_msg *m = filled(9000), *s;

	fx_enter(1);
	s = xk_msg_share(m);                 /* counts belong to who holds it now */
	xk_msg_free(m);
	CU_ASSERT_EQUAL(fx.vp[1].nforeign, 0);
	xk_msg_free(s);
	CU_ASSERT_EQUAL(fx.vp[1].nforeign, 2);
	xk_memvp_flush(&fx.vp[1]);
	CU_ASSERT_EQUAL(fx.vp[0].nreturned, 2);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

static void own_copies_only_what_is_shared(void)
{
	unsigned one = 1;
	struct xk_msg *m = filled(8000), *s, *o;

	CU_ASSERT_PTR_EQUAL(xk_msg_own(m), m);
	s = xk_msg_share(m);
	o = xk_msg_own(s);
	CU_ASSERT_PTR_NOT_EQUAL(o, s);
	CU_ASSERT_TRUE(holds(o, pattern, 8000));
	CU_ASSERT_EQUAL(m->flags & XK_MSG_SHARED, 0);    /* s was freed */
	CU_ASSERT_PTR_EQUAL(xk_msg_own(m), m);
	xk_msg_free(m);
	xk_msg_free(o);
	released = 0;
	m = xk_msg_new_extern(pattern, 10, release, &one);
	CU_ASSERT_PTR_EQUAL(xk_msg_own(m), m);
	fx_enter(2);
	xk_msg_free(m);
	CU_ASSERT_EQUAL(released, 1);
}

/* ---- sums -------------------------------------------------------------------------------- */

static uint16_t naive(const uint8_t *p, uint32_t n)
{
	uint64_t s = 0;

	for (uint32_t i = 0; i < n; i++)
		s += i & 1 ? (uint64_t)p[i] << 8 : p[i];     /* host words, little-endian */
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)s;
}

static bool same_sum(uint16_t a, uint16_t b)
{
	return a % 0xffff == b % 0xffff;
}

static void sum_is_that_of_the_bytes_at_every_cut(void)
{
	static const uint32_t lens[] = { 0, 1, 2, 63, 64, 65, 200, 201 };
	static uint8_t buf[MAX];

	for (unsigned k = 0; k < XK_ARRAY_LEN(lens); k++) {
		uint32_t len = lens[k];

		for (uint32_t a = 0; a <= len; a++) {
			uint32_t b = a + (len - a) / 3, off = a % 7 <= len ? a % 7 : 0, sum = 0;
			struct xk_msg *m = filled(len), *y = xk_msg_split(m, b), *x = xk_msg_split(m, a);

			xk_msg_join(m, x);
			xk_msg_join(m, y);
			CU_ASSERT_TRUE(same_sum(xk_csum_fold(xk_msg_csum(m, 0, 0)), naive(pattern, len)));
			CU_ASSERT_TRUE(same_sum(xk_csum_fold(xk_msg_csum(m, off, 0)),
						naive(pattern + off, len - off)));
			CU_ASSERT_EQUAL(xk_msg_copy_out_csum(m, off, buf, len, &sum), len - off);
			CU_ASSERT_TRUE(same_sum(xk_csum_fold(sum), naive(pattern + off, len - off)));
			CU_ASSERT_EQUAL(memcmp(buf, pattern + off, len - off), 0);
			xk_msg_free(m);
		}
	}
}

static void seed_is_added_and_a_good_message_sums_to_all_ones(void)
{
	struct xk_msg *m = filled(9001), *r;
	uint32_t s = xk_msg_csum(m, 0, 0);
	uint16_t field = (uint16_t)~xk_csum_fold(s);

	CU_ASSERT_TRUE(same_sum(xk_csum_fold(xk_msg_csum(m, 0, 0xabcd)), xk_csum_fold(xk_csum_add(s, 0xabcd))));
	r = xk_msg_split(m, 4001);
	xk_msg_join(m, r);
	CU_ASSERT_EQUAL(xk_csum_fold(xk_msg_csum(m, 0, field)), 0xffff);
	xk_msg_free(m);
}

static void copies_stop_at_the_end(void)
{
	struct xk_msg *m = filled(100);
	uint8_t buf[100];
	uint32_t sum = 7;

	CU_ASSERT_EQUAL(xk_msg_copy_out(m, 90, buf, 100), 10);
	CU_ASSERT_EQUAL(xk_msg_copy_out(m, 100, buf, 1), 0);
	CU_ASSERT_EQUAL(xk_msg_copy_out(m, 4000000000u, buf, 4000000000u), 0);
	CU_ASSERT_EQUAL(xk_msg_copy_out_csum(m, 100, buf, 5, &sum), 0);
	CU_ASSERT_EQUAL(sum, 7);
	CU_ASSERT_EQUAL(xk_msg_csum(m, 100, 9), 9);
	xk_msg_free(m);
}

static CU_TestInfo headers[] = {
	{ "pushed header moves one pointer", pushed_header_moves_one_pointer },
	{ "header beyond the headroom gets a segment", header_beyond_the_headroom_gets_a_segment },
	{ "peek past the end is refused", peek_past_the_end_is_refused },
	{ "split header is pulled together at every cut", split_header_is_pulled_together_at_every_cut },
	{ "pullup uses tailroom when the segment is ours", pullup_uses_tailroom_when_the_segment_is_ours },
	{ "pullup of more than a segment is refused", pullup_of_more_than_a_segment_is_refused },
	{ "network header survives a pullup", network_header_survives_a_pullup },
	{ "network header out of reach is none", network_header_out_of_reach_is_none },
	CU_TEST_INFO_NULL
};
static CU_TestInfo chains[] = {
	{ "long message is a chain of large segments", long_message_is_a_chain_of_large_segments },
	{ "split then join is the same at every cut", split_then_join_is_the_same_at_every_cut },
	{ "split shares and copies no payload", split_shares_and_copies_no_payload },
	{ "split between segments takes no buffer", split_between_segments_takes_no_buffer },
	{ "joining nothing leaves no segment", joining_nothing_leaves_no_segment },
	{ "trim drops the tail at every length", trim_drops_the_tail_at_every_length },
	{ "joining a message to itself aborts", joining_a_message_to_itself_aborts },
	{ "queue keeps order and frees all", queue_keeps_order_and_frees_all },
	CU_TEST_INFO_NULL
};
static CU_TestInfo sharing[] = {
	{ "shared message outlives either holder", shared_message_outlives_either_holder },
	{ "base is freed with the last of many shares", base_is_freed_with_the_last_of_many_shares },
	{ "header on a share does not show in the other", header_on_a_share_does_not_show_in_the_other },
	{ "writing to shared bytes aborts", writing_to_shared_bytes_aborts },
	{ "a full reference count copies instead", a_full_reference_count_copies_instead },
	{ "a copy longer than a segment stays in order", a_copy_longer_than_a_segment_stays_in_order },
	{ "lent bytes are released once, with the last look", lent_bytes_are_released_once_with_the_last_look },
	{ "clone shares nothing and has headroom", clone_shares_nothing_and_has_headroom },
	{ "partial sum stays only where the bytes do", partial_sum_stays_only_where_the_bytes_do },
	{ "lent message takes headers before the lender's bytes", lent_message_takes_headers_before_the_lender_s_bytes },
	{ "only a single unshared segment is lent", only_a_single_unshared_segment_is_lent },
	{ "message freed elsewhere goes home", message_freed_elsewhere_goes_home },
	{ "own copies only what is shared", own_copies_only_what_is_shared },
	CU_TEST_INFO_NULL
};
static CU_TestInfo sums[] = {
	{ "sum is that of the bytes at every cut", sum_is_that_of_the_bytes_at_every_cut },
	{ "seed is added and a good message sums to all ones", seed_is_added_and_a_good_message_sums_to_all_ones },
	{ "copies stop at the end", copies_stop_at_the_end },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "headers", NULL, NULL, setup, fx_teardown, headers },
	{ "chains", NULL, NULL, setup, fx_teardown, chains },
	{ "sharing", NULL, NULL, setup, fx_teardown, sharing },
	{ "sums", NULL, NULL, setup, fx_teardown, sums },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
