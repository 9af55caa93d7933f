/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_model.c - messages against a byte array that knows nothing of segments.
 *
 * A seeded sequence of operations runs on a handful of messages, on several
 * VPs, each with a plain copy of the bytes it should hold; sharing between
 * messages must never show.  Half of the seeds also make allocations fail,
 * and then the operands must be as they were.  A failing step names itself:
 * its seed and number reproduce it.
 */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "runtime/msg/xk_msg_inline.h"
#include "tests/runtime/mem/mem_fixture.h"
#include "tests/support/xk_test.h"

#define SLOTS 12u
#define MAX   16384u
#define STEPS 100000u
#define VPS   3u

struct model {
	struct xk_msg *m;          /* NULL: slot unused */
	unsigned       vp;
	uint32_t       n, at;      /* bytes are byte[at, at + n) */
	uint8_t        byte[2 * MAX];
};
static struct model slot[SLOTS];
static struct xk_rand rnd;
static unsigned lent;              /* blocks out with EXTERN segments */
static bool failing;
static unsigned ops_done[16], ops_failed;

static uint32_t below(uint32_t n)
{
	return (uint32_t)xk_rand_below(&rnd, n);
}

static void take_back(void *p)
{
	lent--;
	free(p);
}

static void fill(uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)xk_rand_u64(&rnd);
}

static uint8_t *bytes(struct model *s)
{
	return s->byte + s->at;
}

static void forget(struct model *s)
{
	s->m = NULL;
	s->n = 0;
}

static void set_model(struct model *s, struct xk_msg *m, unsigned vp, const uint8_t *p, uint32_t n)
{
	s->m = m;
	s->vp = vp;
	s->n = n;
	s->at = MAX;
	if (n != 0)
		memcpy(bytes(s), p, n);
}

static bool equal(struct model *s)
{
	static uint8_t buf[MAX];

	xk_msg_check(s->m);
	return s->m->tot == s->n && xk_msg_copy_out(s->m, 0, buf, MAX) == s->n &&
	       memcmp(buf, bytes(s), s->n) == 0;
}

static struct model *unused(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slot[i].m == NULL)
			return &slot[i];
	return NULL;
}

/* Another message on the same VP, or NULL. */
static struct model *partner(const struct model *s)
{
	for (unsigned i = 0, k = below(SLOTS); i < SLOTS; i++, k = (k + 1) % SLOTS)
		if (&slot[k] != s && slot[k].m != NULL && slot[k].vp == s->vp)
			return &slot[k];
	return NULL;
}

static uint32_t some_length(uint32_t most)
{
	uint32_t n = below(3) ? below(600) : below(most + 1);

	return n > most ? most : n;
}

/* ---- operations: false when memory was out -------------------------------------------- */

static bool op_new(struct model *s)
{
	static uint8_t buf[MAX];
	uint32_t n = some_length(10000);
	struct xk_msg *m;

	s->vp = below(VPS);
	fx_enter(s->vp);
	fill(buf, n);
	if (below(8) == 0) {
		uint8_t *mem = malloc(n + 1);

		memcpy(mem, buf, n);
		m = xk_msg_new_extern(mem, n, take_back, mem);
		if (m == NULL)
			free(mem);
		else
			lent++;
	} else {
		m = xk_msg_new(n);
		if (m != NULL)
			xk_msg_copy_in(m, 0, buf, n);
	}
	if (m != NULL)
		set_model(s, m, s->vp, buf, n);
	return m != NULL;
}

static bool op_push(struct model *s)
{
	uint32_t n = 1 + below(60);
	uint8_t *h;

	if (s->n + n > MAX || s->at < n)
		return true;
	h = xk_msg_push(&s->m, n);
	if (h == NULL)
		return false;
	fill(h, n);
	s->at -= n;
	s->n += n;
	memcpy(bytes(s), h, n);
	return true;
}

static bool op_pop(struct model *s)
{
	uint32_t n = below(100);
	uint8_t *h = xk_msg_peek(&s->m, n);

	if (h == NULL)
		return n > s->n;           /* too short is not a failure */
	CU_ASSERT_EQUAL(memcmp(h, bytes(s), n), 0);
	xk_msg_pop(s->m, n);
	s->at += n;
	s->n -= n;
	return true;
}

static bool op_pullup(struct model *s)
{
	uint32_t n = some_length(XK_MSG_MAX_SEG);
	bool ok = xk_msg_pullup(&s->m, n);

	if (ok) {
		CU_ASSERT(n <= s->n && s->m->len >= n);
		CU_ASSERT_EQUAL(memcmp(s->m->data, bytes(s), n), 0);
	}
	return ok || n > s->n;
}

static bool op_split(struct model *s)
{
	struct model *r = unused();
	uint32_t n = below(8) ? below(s->n + 1) : s->n;
	struct xk_msg *m;

	if (r == NULL)
		return true;
	m = xk_msg_split(s->m, n);
	if (m == NULL)
		return false;
	set_model(r, m, s->vp, bytes(s) + n, s->n - n);
	s->n = n;
	CU_ASSERT_TRUE(equal(r));
	return true;
}

static bool op_join(struct model *s)
{
	struct model *b = partner(s);

	if (b == NULL || s->n + b->n > MAX || s->at + s->n + b->n > sizeof(s->byte))
		return true;
	xk_msg_join(s->m, b->m);
	memcpy(bytes(s) + s->n, bytes(b), b->n);
	s->n += b->n;
	forget(b);
	return true;
}

static bool op_copy(struct model *s, struct xk_msg *(*copy)(struct xk_msg *))
{
	struct model *r = unused();
	struct xk_msg *m;

	if (r == NULL)
		return true;
	m = copy(s->m);
	if (m == NULL)
		return false;
	set_model(r, m, s->vp, bytes(s), s->n);
	CU_ASSERT_TRUE(equal(r));
	return true;
}

static struct xk_msg *clone(struct xk_msg *m)
{
	return xk_msg_clone(m);
}

static bool op_trim(struct model *s)
{
	uint32_t n = below(4) ? s->n - below(s->n < 50 ? s->n + 1 : 50) : below(s->n + 1);

	xk_msg_truncate(s->m, n);
	s->n = n;
	return true;
}

static bool op_write(struct model *s)
{
	static uint8_t buf[MAX];
	uint32_t off = below(s->n + 1), n = below(s->n - off + 1);

	for (struct xk_msg *m = s->m; m != NULL; m = m->next)
		if (m->flags & (XK_MSG_REF | XK_MSG_SHARED))
			return true;
	fill(buf, n);
	xk_msg_copy_in(s->m, off, buf, n);
	memcpy(bytes(s) + off, buf, n);
	return true;
}

static bool op_sum(struct model *s)
{
	static uint8_t buf[MAX];
	uint32_t off = below(s->n + 1), n = below(s->n - off + 1), sum = 0;
	uint32_t want = xk_csum(bytes(s) + off, s->n - off, 99);

	CU_ASSERT_EQUAL(xk_csum_fold(xk_msg_csum(s->m, off, 99)), xk_csum_fold(want));
	CU_ASSERT_EQUAL(xk_msg_copy_out_csum(s->m, off, buf, n, &sum), n);
	CU_ASSERT_EQUAL(memcmp(buf, bytes(s) + off, n), 0);
	CU_ASSERT_EQUAL(xk_csum_fold(sum) % 0xffff, xk_csum_fold(xk_csum(buf, n, 0)) % 0xffff);
	return true;
}

/* Hands the message to another VP, as an inbox would. */
static bool op_move(struct model *s)
{
	struct xk_msg *m = xk_msg_own(s->m);

	if (m == NULL)
		return false;
	s->m = m;
	s->vp = below(VPS);
	fx_enter(s->vp);
	return true;
}

static bool op_free(struct model *s)
{
	xk_msg_free(s->m);
	forget(s);
	return true;
}

static bool apply(struct model *s, unsigned op)
{
	switch (op) {
	case 0: return op_push(s);
	case 1: return op_pop(s);
	case 2: return op_pullup(s);
	case 3: return op_split(s);
	case 4: return op_join(s);
	case 5: return op_copy(s, xk_msg_share);
	case 6: return op_copy(s, clone);
	case 7: return op_trim(s);
	case 8: return op_write(s);
	case 9: return op_sum(s);
	case 10: return op_move(s);
	default: return op_free(s);
	}
}

static void step(void)
{
	struct model *s = &slot[below(SLOTS)];
	unsigned op = s->m == NULL ? 12 : below(12);
	bool ok;

	if (failing && below(3) == 0)
		xk_mem_fail_after(1 + below(4));
	if (s->m != NULL)
		fx_enter(s->vp);
	ok = op == 12 ? op_new(s) : apply(s, op);
	if (!ok) {
		CU_ASSERT_TRUE(failing);
		ops_failed++;
	} else {
		ops_done[op]++;
	}
	if (failing)
		xk_mem_fail_after(0);
	if (s->m != NULL)
		CU_ASSERT_TRUE(equal(s));
	if (below(64) == 0)
		xk_memvp_flush(xk_mem_self);
}

static bool all_equal(void)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (slot[i].m != NULL && !equal(&slot[i]))
			return false;
	return true;
}

static void run(uint64_t seed)
{
	unsigned before = CU_get_number_of_failures(), i;

	xk_rand_init(&rnd, seed, 0);
	memset(slot, 0, sizeof(slot));
	memset(ops_done, 0, sizeof(ops_done));
	lent = ops_failed = 0;
	failing = seed % 2 == 0;
	for (unsigned v = 0; v < FX_VPS; v++)
		xk_memvp_starve(&fx.vp[v], failing);
	for (i = 0; i < STEPS; i++) {
		step();
		if (i % 16 == 0)
			CU_ASSERT_TRUE(all_equal());
		if (CU_get_number_of_failures() != before) {
			printf("# seed %llu, step %u\n", (unsigned long long)seed, i);
			break;
		}
	}
	for (unsigned k = 0; k < SLOTS; k++) {
		fx_enter(slot[k].vp);
		if (slot[k].m != NULL)
			xk_msg_free(slot[k].m);
	}
	CU_ASSERT_EQUAL(lent, 0);
	CU_ASSERT_EQUAL(fx_out(), 0);
	for (unsigned k = 0; k <= 12; k++)          /* the walk went everywhere */
		CU_ASSERT(ops_done[k] > STEPS / 100);
	CU_ASSERT_EQUAL(failing, ops_failed > STEPS / 100);
}

static void random_walk_is_like_the_model(void)
{
	for (uint64_t seed = 1; seed <= 5; seed += 2)
		run(seed);
}

static void random_walk_with_failures_is_like_the_model(void)
{
	for (uint64_t seed = 2; seed <= 6; seed += 2)
		run(seed);
}

static CU_TestInfo tests[] = {
	{ "a random walk is like the model", random_walk_is_like_the_model },
	{ "a random walk with failures is like the model", random_walk_with_failures_is_like_the_model },
	CU_TEST_INFO_NULL
};

static const CU_SuiteInfo suites[] = {
	{ "model", NULL, NULL, fx_setup, fx_teardown, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
