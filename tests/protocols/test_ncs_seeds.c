/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_seeds.c - random lines, sizes and choices, and what is smallest that goes wrong.
 *
 * A seed says a pair of controls, an interface (UDP, UDP whose bytes nobody vouches for under a sum, TCP), what
 * the line does (loss, doubling, reordering, bits, a round trip) and the messages' number and sizes, many of them
 * within a byte of whole SDUs.  Promises: with error control, or over TCP, each comes back as it was, in order,
 * once; without, whole, in order, once or not at all; after the close nothing is left.
 * Of a seed that fails, parts are left out as long as it does; what remains is printed.
 * XK_NCS_SEEDS=FIRST:N runs those; fewer are run by default.
 */
#include "tests/protocols/ncs_fixture.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UDP, BARE, TCP };
#define MOST_MESSAGES 24u

struct run {
	unsigned seed, pair, interface;
	unsigned loss, dup, reorder, depth, corrupt;     /* per mille; frames */
	unsigned delay_us, sdu, n;
	uint32_t size[MOST_MESSAGES];
};

static struct pf f;
static uint8_t want[NF_MOST];

/* ---- what a seed says ---------------------------------------------------------------------------- */

static uint32_t a_size(struct xk_rand *r, unsigned sdu)
{
	switch (xk_rand_below(r, 5)) {
	case 0:  return (uint32_t)xk_rand_below(r, 4);
	case 1:  return (uint32_t)xk_rand_below(r, 3000);
	case 2:  return (uint32_t)xk_rand_below(r, 60000);
	default: return (uint32_t)(sdu * (1 + xk_rand_below(r, 30)) + xk_rand_below(r, 3) - 1);
	}
}

static struct run of_seed(unsigned seed)
{
	static const unsigned losses[] = { 0, 0, 10, 50, 100, 300 }, delays[] = { 0, 10, 1000, 10000, 50000 };
	struct run t = { .seed = seed, .pair = seed % NF_PAIRS, .interface = seed / NF_PAIRS % 3 };
	struct xk_rand r;

	xk_rand_init(&r, seed, 17);
	/* BARE loses on two lines; go-back-N takes hours where the most is lost. */
	t.loss = losses[xk_rand_below(&r, t.interface == UDP && NF_ERROR(t.pair) != 1 ? XK_ARRAY_LEN(losses) : 4)];
	t.dup = xk_rand_below(&r, 2) ? (unsigned)xk_rand_below(&r, 200) : 0;
	t.reorder = xk_rand_below(&r, 2) ? (unsigned)xk_rand_below(&r, 300) : 0;
	t.depth = 1 + (unsigned)xk_rand_below(&r, xk_rand_below(&r, 4) ? 10 : 100);
	t.corrupt = xk_rand_below(&r, 2) ? (unsigned)xk_rand_below(&r, 30) : 0;
	t.delay_us = delays[xk_rand_below(&r, XK_ARRAY_LEN(delays))];
	t.sdu = 512 + (unsigned)xk_rand_below(&r, 900);
	t.n = 1 + (unsigned)xk_rand_below(&r, MOST_MESSAGES);
	for (unsigned i = 0; i < t.n; i++)
		t.size[i] = a_size(&r, t.sdu);
	return t;
}

static void print(const char *what, const struct run *t)
{
	printf("# %s: seed %u, pair %u, interface %u, sdu %u, loss %u, dup %u, reorder %u to %u, corrupt %u, delay %u us,",
	       what, t->seed, t->pair, t->interface, t->sdu, t->loss, t->dup, t->reorder, t->depth, t->corrupt, t->delay_us);
	printf(" %u messages:", t->n);
	for (unsigned i = 0; i < t->n; i++)
		printf(" %u", t->size[i]);
	printf("\n");
}

/* ---- one run ------------------------------------------------------------------------------------------ */

/* Byte k of message i. */
static void make(uint32_t i, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		want[k] = (uint8_t)(k * 7 + i * 31 + (k >> 8));
}

/* In order, as they were; all of them where `all`. */
static bool exact(const struct run *t, bool all)
{
	unsigned i = 0;

	for (unsigned k = 0; k < pf_ngot(&f, "client"); k++, i++) {
		const struct pf_rec *got = pf_got(&f, "client", k);

		for (; i < t->n; i++) {
			make(i, t->size[i]);
			if (got->len == t->size[i] && memcmp(got->bytes, want, got->len) == 0)
				break;
			if (all)
				return false;
		}
		if (i == t->n)
			return false;
	}
	return !all || pf_ngot(&f, "client") == t->n;
}

static bool right(const struct run *t)
{
	bool all = NF_SURE(t->pair) || t->interface == TCP, good;
	char faults[200], ncs[80];
	const struct nf_how how = { .pair = t->pair, .ncs = ncs, .faults = faults, .stream = t->interface == TCP,
				    .bare = t->interface == BARE };
	struct xk_sess *s;

	snprintf(faults, sizeof faults, "loss=0.%03u; dup=0.%03u; reorder=0.%03u; reorder_depth=%u; corrupt=0.%03u; "
		 "delay=%uus; seed=%u", t->loss, t->dup, t->reorder, t->depth, t->corrupt, t->delay_us, t->seed + 1);
	snprintf(ncs, sizeof ncs, "sdu=%u; check=crc32c; give_up=600s; congestion=%s", t->sdu,
		 t->seed % 2 ? "newreno" : "none");
	nf_up(&f, &how);
	s = nf_open(&f, "client", 0, 7, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < t->n; i++) {
		make(i, t->size[i]);
		pf_push(&f, 0, s, want, t->size[i]);
		pf_run(&f, 3 * XK_MS);
	}
	for (unsigned i = 0; i < 500 && all && pf_ngot(&f, "client") < t->n; i++)
		pf_run(&f, XK_SEC);
	pf_run(&f, 5 * XK_SEC);
	good = exact(t, all);
	nf_cut(&f, false);
	pf_close(&f, 0, s);
	for (unsigned i = 0; i < 200 && pf_sessions(&f, "echo") != 0; i++)
		pf_run(&f, XK_SEC);
	good = good && pf_sessions(&f, "echo") == 0;
	pf_down(&f);
	return good;
}

/* ---- the smallest that is wrong ------------------------------------------------------------------------ */

static bool lesser(struct run *t, struct run less)
{
	if (right(&less))
		return false;
	*t = less;
	return true;
}

static void shrink(struct run *t)
{
	static const size_t parts[] = { offsetof(struct run, loss), offsetof(struct run, dup), offsetof(struct run, reorder),
					offsetof(struct run, corrupt), offsetof(struct run, delay_us) };

	for (unsigned i = 0; i < XK_ARRAY_LEN(parts); i++) {
		struct run less = *t;

		memset((char *)&less + parts[i], 0, sizeof(unsigned));
		lesser(t, less);
	}
	for (unsigned i = 0; i < t->n && t->n > 1;) {
		struct run less = *t;

		memmove(&less.size[i], &less.size[i + 1], (less.n - i - 1) * sizeof less.size[0]);
		less.n--;
		if (!lesser(t, less))
			i++;
	}
}

static void every_seed_is_exact(void)
{
	const char *s = getenv("XK_NCS_SEEDS");
	unsigned first = 0, n = (unsigned)xk_test_rounds(72), wrong = 0;

	if (s != NULL)
		CU_ASSERT_EQUAL_FATAL(sscanf(s, "%u:%u", &first, &n), 2);
	for (unsigned seed = first; seed != first + n && wrong < 3; seed++) {
		struct run t = of_seed(seed);

		if (right(&t))
			continue;
		wrong++;
		print("wrong", &t);
		shrink(&t);
		print("still", &t);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	printf("# %u seeds from %u\n", n, first);
}

static CU_TestInfo tests[] = {
	{ "every_seed_is_exact", every_seed_is_exact },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_seeds", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}
