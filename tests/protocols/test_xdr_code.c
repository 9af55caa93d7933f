/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_xdr_code.c - arrays and records between memory and XDR, without a session.
 *
 * Promises: RFC 4506 sections 4.1, 4.5, 4.7 and 4.13 as other programs read them; RFC 5531 section
 * 11 for any cutting into fragments and segments; whatever is malformed is refused for its reason
 * and leaves nothing; no bytes make it crash, hold more than an array, or accept what it would
 * not have written.
 * The fixed bytes are what Python's struct module makes of the same values:
 * pack('>I', 3) + pack('>iIqdd', ...) for each.
 */
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "protocols/xdr/xdr_code.h"
#include "protocols/xdr/xdr_priv.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_rand.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test_graph.h"

#define MOST XDR_SAMPLES_MAX
#define BIGGEST (XDR_COUNT + MOST * XDR_SAMPLE)

struct native { int32_t id; uint32_t kind; int64_t when; double value, error; };
_Static_assert(sizeof(struct native) == XDR_SAMPLE, "as samples.x has it");

static const struct native three[] = {
	{ 1, 2, 3, 1.5, -2.25 },
	{ -7, 0xdeadbeef, -(INT64_C(1) << 40) - 5, 3.141592653589793, -INFINITY },
	{ INT32_MIN, 0xffffffff, INT64_MIN, 5e-324, -0.0 },
};
static const uint8_t xdr_bytes[] = {
	0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x03, 0x3f, 0xf8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc0, 0x02, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xf9, 0xde, 0xad, 0xbe, 0xef, 0xff, 0xff, 0xfe, 0xff,
	0xff, 0xff, 0xff, 0xfb, 0x40, 0x09, 0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18, 0xff, 0xf0, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0x80, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x80, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00,
};

static const struct pf_spec graph[] = { { &pf_hostlink, "low", NULL, NULL }, { NULL, NULL, NULL, NULL } };
static struct pf f;
static struct xk_rand rand_;

static void begin(void)
{
	pf_up(&f, 1, graph);
	pf_enter(&f, 0);
	xk_rand_init(&rand_, 4506, 0);
}

static void end(void)
{
	pf_leave(&f, 0);
	pf_down(&f);
}

static uint32_t below(uint32_t n) { return (uint32_t)xk_rand_below(&rand_, n); }

static void fill(uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)xk_rand_u64(&rand_);
}

/* The same bytes as a chain of segments, cut anywhere, at any alignment. */
static struct xk_msg *scattered(const uint8_t *p, uint32_t n)
{
	struct xk_msg *m = NULL;

	do {
		uint32_t most = below(8) == 0 ? 7 : 1500, k = n == 0 ? 0 : 1 + below(n < most ? n : most), skew = below(9);
		struct xk_msg *x = xk_msg_new(k + skew);

		CU_ASSERT_PTR_NOT_NULL_FATAL(x);
		xk_msg_pop(x, skew);
		memcpy(x->data, p, k);
		p += k;
		n -= k;
		if (m == NULL)
			m = x;
		else
			xk_msg_join(m, x);
	} while (n != 0);
	return m;
}

static bool same(const struct xk_msg *m, const uint8_t *p, uint32_t n)
{
	static uint8_t got[1 << 20];

	xk_msg_check(m);
	return m->tot == n && xk_msg_copy_out(m, 0, got, n) == n && memcmp(got, p, n) == 0;
}

/* ---- fixed bytes ----------------------------------------------------------------- */

static void an_array_has_the_bytes_that_other_programs_give_it(void)
{
	struct xk_msg *m, *w, *r;

	begin();
	m = pf_msg(three, sizeof three);
	w = xdr_out_array(m);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	CU_ASSERT(same(w, xdr_bytes, sizeof xdr_bytes));
	r = xdr_out_records(m, MOST, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(r);
	CU_ASSERT_EQUAL(r->tot, XDR_MARK + sizeof xdr_bytes);
	CU_ASSERT_EQUAL(xk_be32(r->data), XDR_LAST | sizeof xdr_bytes);
	CU_ASSERT_EQUAL(memcmp(r->data + XDR_MARK, xdr_bytes, sizeof xdr_bytes), 0);
	xk_msg_free(r);
	xk_msg_free(w);
	xk_msg_free(m);
	end();
}

static void the_bytes_of_other_programs_are_understood(void)
{
	struct xk_msg *m = NULL, *from;

	begin();
	CU_ASSERT_EQUAL_FATAL(xdr_in_array(xdr_bytes, sizeof xdr_bytes, MOST, &m), XDR_WHOLE);
	CU_ASSERT(same(m, (const uint8_t *)three, sizeof three));
	xk_msg_free(m);
	from = scattered(xdr_bytes, sizeof xdr_bytes);
	CU_ASSERT_EQUAL_FATAL(xdr_in_chain(from, MOST, &m), XDR_WHOLE);
	CU_ASSERT(same(m, (const uint8_t *)three, sizeof three));
	xk_msg_free(m);
	xk_msg_free(from);
	end();
}

/* Two fragments, the second with the rest: bytes as another implementation may send them. */
static void fragments_of_other_programs_are_put_together(void)
{
	for (uint32_t cut = 0; cut <= sizeof xdr_bytes; cut++) {
		uint8_t b[2 * XDR_MARK + sizeof xdr_bytes];
		const uint8_t *p = b;
		struct xdr_rec rec = { .left = 0 };
		struct xk_msg *m = NULL;
		uint32_t n = sizeof b;

		begin();
		xk_put_be32(b, cut);
		memcpy(b + XDR_MARK, xdr_bytes, cut);
		xk_put_be32(b + XDR_MARK + cut, XDR_LAST | (uint32_t)(sizeof xdr_bytes - cut));
		memcpy(b + 2 * XDR_MARK + cut, xdr_bytes + cut, sizeof xdr_bytes - cut);
		CU_ASSERT_EQUAL_FATAL(xdr_rec_bytes(&rec, &p, &n, MOST, &m), XDR_WHOLE);
		CU_ASSERT_EQUAL(n, 0);
		CU_ASSERT(same(m, (const uint8_t *)three, sizeof three));
		CU_ASSERT(!xdr_rec_open(&rec));
		xk_msg_free(m);
		end();
	}
}

/* ---- anything there and back ----------------------------------------------------------- */

static void any_array_survives_the_way_down_and_up(void)
{
	static alignas(8) uint8_t bytes[MOST * XDR_SAMPLE];
	unsigned long rounds = xk_test_rounds(300);

	begin();
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t n = i < 4 ? (uint32_t)i : i == 4 ? MOST : 1 + below(below(4) == 0 ? MOST : 200);
		struct xk_msg *m, *w, *back = NULL;

		fill(bytes, n * XDR_SAMPLE);
		m = i % 2 == 0 ? pf_msg(bytes, n * XDR_SAMPLE) : scattered(bytes, n * XDR_SAMPLE);
		w = xdr_out_array(m);
		CU_ASSERT_PTR_NOT_NULL_FATAL(w);
		xk_msg_check(w);
		CU_ASSERT_EQUAL(w->tot, XDR_COUNT + n * XDR_SAMPLE);
		CU_ASSERT(same(m, bytes, n * XDR_SAMPLE));
		if (!(w->flags & XK_MSG_CHAIN)) {
			CU_ASSERT_EQUAL_FATAL(xdr_in_array(w->data, w->len, n, &back), XDR_WHOLE);
			CU_ASSERT(same(back, bytes, n * XDR_SAMPLE));
			xk_msg_free(back);
		}
		CU_ASSERT_EQUAL_FATAL(xdr_in_chain(w, n, &back), XDR_WHOLE);
		CU_ASSERT(same(back, bytes, n * XDR_SAMPLE));
		xk_msg_free(back);
		xk_msg_free(w);
		xk_msg_free(m);
	}
	end();
}

/* Reads n bytes in random pieces; appends what comes to got.  XDR_MORE or a reason. */
static int read_pieces(struct xdr_rec *rec, const uint8_t *p, uint32_t n, uint32_t most, uint8_t *got, uint32_t *ngot,
		       uint32_t *records)
{
	while (n != 0) {
		uint32_t k = 1 + below(below(3) == 0 ? 3 : 1460), left;

		left = k = k < n ? k : n;
		n -= k;
		while (left != 0) {
			struct xk_msg *m = NULL;
			int what = xdr_rec_bytes(rec, &p, &left, most, &m);

			if (rec->in.first != NULL)
				CU_ASSERT(rec->in.first->tot <= most * XDR_SAMPLE);
			if (what >= 0)
				return what;
			if (what == XDR_MORE)
				continue;
			xk_msg_check(m);
			if (got != NULL)
				xk_msg_copy_out(m, 0, got + *ngot, m->tot);
			*ngot += m->tot;
			++*records;
			xk_msg_free(m);
		}
	}
	return XDR_MORE;
}

static void any_stream_survives_any_cutting(void)
{
	static alignas(8) uint8_t bytes[200 * 1024], wire[300 * 1024], got[200 * 1024];
	unsigned long rounds = xk_test_rounds(300);

	begin();
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t n = 1 + below(below(10) == 0 ? 6000 : 400), most = 1 + below(below(2) == 0 ? MOST : 40);
		uint32_t fragment = below(3) == 0 ? 0 : 1 + below(60), ngot = 0, records = 0;
		struct xdr_rec rec = { .left = 0 };
		struct xk_msg *m, *w;

		fill(bytes, n * XDR_SAMPLE);
		m = below(2) == 0 ? pf_msg(bytes, n * XDR_SAMPLE) : scattered(bytes, n * XDR_SAMPLE);
		w = xdr_out_records(m, most, fragment);
		CU_ASSERT_PTR_NOT_NULL_FATAL(w);
		xk_msg_check(w);
		/* What XK_STREAM_ROOM reckons with. */
		CU_ASSERT(w->tot * 4 <= m->tot * 5);
		xk_msg_copy_out(w, 0, wire, w->tot);
		CU_ASSERT_EQUAL(read_pieces(&rec, wire, w->tot, most, got, &ngot, &records), XDR_MORE);
		CU_ASSERT(!xdr_rec_open(&rec));
		CU_ASSERT_EQUAL(records, (n + most - 1) / most);
		CU_ASSERT(ngot == n * XDR_SAMPLE && memcmp(got, bytes, ngot) == 0);
		xk_msg_free(w);
		xk_msg_free(m);
	}
	end();
}

/* ---- what is malformed --------------------------------------------------------------------- */

static int array_of(uint32_t count, uint32_t len, uint32_t most, bool pieces)
{
	static uint8_t b[BIGGEST + 64];
	struct xk_msg *m = NULL, *from;
	int what;

	memset(b, 0x5a, sizeof b);
	xk_put_be32(b, count);
	if (!pieces)
		return xdr_in_array(b, len, most, &m);
	from = scattered(b, len);
	what = xdr_in_chain(from, most, &m);
	xk_msg_free(from);
	return what;
}

static void a_count_that_lies_is_refused(void)
{
	begin();
	for (int pieces = 0; pieces < 2; pieces++) {
		CU_ASSERT_EQUAL(array_of(MOST + 1, BIGGEST + XDR_SAMPLE, MOST, pieces), XDR_DROP_COUNT);
		CU_ASSERT_EQUAL(array_of(0xffffffff, 36, MOST, pieces), XDR_DROP_COUNT);
		CU_ASSERT_EQUAL(array_of(0x08000001, 36, MOST, pieces), XDR_DROP_COUNT); /* times 32: 32 */
		CU_ASSERT_EQUAL(array_of(11, XDR_COUNT + 11 * XDR_SAMPLE, 10, pieces), XDR_DROP_COUNT);
		CU_ASSERT_EQUAL(array_of(2, XDR_COUNT + XDR_SAMPLE, MOST, pieces), XDR_DROP_TRUNCATED);
		CU_ASSERT_EQUAL(array_of(2, XDR_COUNT + 2 * XDR_SAMPLE - 1, MOST, pieces), XDR_DROP_TRUNCATED);
		CU_ASSERT_EQUAL(array_of(2, XDR_COUNT + 2 * XDR_SAMPLE + 1, MOST, pieces), XDR_DROP_TRAILING);
		CU_ASSERT_EQUAL(array_of(MOST, BIGGEST - 1, MOST, pieces), XDR_DROP_TRUNCATED);
		CU_ASSERT_EQUAL(array_of(0, XDR_COUNT + 4, MOST, pieces), XDR_DROP_TRAILING);
		for (uint32_t len = 0; len < XDR_COUNT; len++)
			CU_ASSERT_EQUAL(array_of(0, len, MOST, pieces), XDR_DROP_TRUNCATED);
	}
	end();
}

/* Bytes of one piece or one by one; the session is thrown away as it would be. */
static int record_of(const uint8_t *b, uint32_t n, uint32_t most, bool pieces)
{
	struct xdr_rec rec = { .left = 0 };
	struct xk_msg *m = NULL;
	int what = XDR_MORE;

	while (n != 0 && what == XDR_MORE) {
		uint32_t k = pieces ? 1 : n;

		n -= k;
		what = xdr_rec_bytes(&rec, &b, &k, most, &m);
	}
	if (what == XDR_WHOLE)
		xk_msg_free(m);
	xdr_rec_free(&rec);
	return what;
}

static void fragments_that_are_too_long_are_refused_by_their_mark(void)
{
	uint8_t b[16] = { 0 };

	begin();
	for (int pieces = 0; pieces < 2; pieces++) {
		xk_put_be32(b, XDR_LAST | (BIGGEST + 1));
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK, MOST, pieces), XDR_DROP_RECORD);
		xk_put_be32(b, 0x7fffffff);
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK, MOST, pieces), XDR_DROP_RECORD);
		xk_put_be32(b, XDR_LAST | BIGGEST);
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK, MOST, pieces), XDR_MORE);
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK, MOST - 1, pieces), XDR_DROP_RECORD);
		/* Two that are too long together: at the second mark. */
		xk_put_be32(b, 4);
		xk_put_be32(b + 4, 1);
		xk_put_be32(b + 8, XDR_LAST | (XDR_SAMPLE + 1));
		CU_ASSERT_EQUAL(record_of(b, 12, 1, pieces), XDR_DROP_RECORD);
		xk_put_be32(b + 8, 0x7fffffff);
		CU_ASSERT_EQUAL(record_of(b, 12, MOST, pieces), XDR_DROP_RECORD);
	}
	end();
}

static void endless_empty_fragments_are_refused(void)
{
	uint8_t b[4 * (XDR_EMPTY_MAX + 3)] = { 0 };

	begin();
	for (int pieces = 0; pieces < 2; pieces++) {
		memset(b, 0, sizeof b);
		CU_ASSERT_EQUAL(record_of(b, 4 * XDR_EMPTY_MAX, MOST, pieces), XDR_MORE);
		CU_ASSERT_EQUAL(record_of(b, 4 * (XDR_EMPTY_MAX + 1), MOST, pieces), XDR_DROP_EMPTY);
		/* As many as may be, then an array of none. */
		xk_put_be32(b + 4 * XDR_EMPTY_MAX, XDR_LAST | XDR_COUNT);
		CU_ASSERT_EQUAL(record_of(b, 4 * XDR_EMPTY_MAX + 8, MOST, pieces), XDR_WHOLE);
		/* Empty ones between the bytes of a count are counted, too. */
		for (unsigned i = 0; i < XDR_EMPTY_MAX; i++)
			xk_put_be32(b + 4 * i, 0);
		xk_put_be32(b + 4 * XDR_EMPTY_MAX, 1);
		b[4 * XDR_EMPTY_MAX + 4] = 0;
		memset(b + 4 * XDR_EMPTY_MAX + 5, 0, 4);
		CU_ASSERT_EQUAL(record_of(b, 4 * XDR_EMPTY_MAX + 9, MOST, pieces), XDR_DROP_EMPTY);
	}
	end();
}

static void a_record_that_ends_too_soon_or_too_late_is_refused(void)
{
	uint8_t b[XDR_MARK + XDR_COUNT + 3 * XDR_SAMPLE] = { 0 };

	begin();
	for (int pieces = 0; pieces < 2; pieces++) {
		xk_put_be32(b, XDR_LAST);
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK, MOST, pieces), XDR_DROP_TRUNCATED);
		xk_put_be32(b + XDR_MARK, 2);
		xk_put_be32(b, XDR_LAST | (XDR_COUNT + XDR_SAMPLE));
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK + XDR_COUNT + XDR_SAMPLE, MOST, pieces), XDR_DROP_TRUNCATED);
		xk_put_be32(b, XDR_LAST | (XDR_COUNT + 2 * XDR_SAMPLE - 1));
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK + XDR_COUNT + 2 * XDR_SAMPLE - 1, MOST, pieces), XDR_DROP_TRUNCATED);
		xk_put_be32(b, XDR_LAST | (XDR_COUNT + 2 * XDR_SAMPLE + 1));
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK + XDR_COUNT + 2 * XDR_SAMPLE + 1, MOST, pieces), XDR_DROP_TRAILING);
		/* All that was announced has come, but not the record's end. */
		xk_put_be32(b, XDR_COUNT + 2 * XDR_SAMPLE);
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK + XDR_COUNT + 2 * XDR_SAMPLE, MOST, pieces), XDR_MORE);
		xk_put_be32(b + XDR_MARK, MOST + 1);
		CU_ASSERT_EQUAL(record_of(b, XDR_MARK + XDR_COUNT + 2 * XDR_SAMPLE, MOST, pieces), XDR_DROP_COUNT);
	}
	end();
}

/* ---- bytes of any kind ------------------------------------------------------------------------ */

/* Some of the bytes, lengths before all, become others. */
static void mutate(uint8_t *p, uint32_t n)
{
	static const uint32_t words[] = { 0, 1, XDR_LAST, 0x7fffffff, 0xffffffff, XDR_LAST | 1, XDR_LAST | 36, MOST, MOST + 1 };

	for (unsigned k = 1 + below(3); k != 0; k--) {
		uint32_t at = below(2) == 0 ? below(n) : below(n < 16 ? n : 16);

		switch (below(4)) {
		case 0: p[at] ^= (uint8_t)(1 << below(8)); break;
		case 1: p[at] = (uint8_t)xk_rand_u64(&rand_); break;
		case 2: p[at] = (uint8_t)(p[at] + 1); break;
		default:
			at &= ~3u;
			if (at + 4 <= n)
				xk_put_be32(p + at, below(2) == 0 ? words[below(XK_ARRAY_LEN(words))] : below(200));
		}
	}
}

/* What a changed datagram is taken for is what would have been sent as those bytes. */
static void a_changed_array_is_refused_or_means_what_it_says(void)
{
	static alignas(8) uint8_t b[8192];
	unsigned long rounds = xk_test_rounds(20000), taken = 0;

	begin();
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t n = below(20), len = XDR_COUNT + n * XDR_SAMPLE, most = below(2) == 0 ? MOST : below(24);
		struct xk_msg *m = NULL, *again, *from, *w;
		int what, other;

		fill(b, len);
		xk_put_be32(b, n);
		mutate(b, len);
		len = below(4) == 0 ? below(len + 40) : len;
		what = xdr_in_array(b, len, most, &m);
		from = scattered(b, len);
		other = xdr_in_chain(from, most, &again);
		xk_msg_free(from);
		CU_ASSERT_EQUAL_FATAL(what, other);
		CU_ASSERT_FATAL(what == XDR_WHOLE || (what >= XDR_DROP_COUNT && what <= XDR_DROP_TRAILING));
		if (what != XDR_WHOLE)
			continue;
		taken++;
		w = xdr_out_array(m);
		CU_ASSERT(same(w, b, len));
		xk_msg_free(w);
		xk_msg_free(m);
		xk_msg_free(again);
	}
	CU_ASSERT(taken > rounds / 10 && taken < rounds);
	end();
}

static void a_changed_stream_never_holds_more_than_one_array(void)
{
	static alignas(8) uint8_t bytes[64 * XDR_SAMPLE], wire[64 * 1024];
	unsigned long rounds = xk_test_rounds(4000), refused = 0;

	begin();
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t n = 1 + below(64), most = 1 + below(70), len = 0, ngot = 0, records = 0;
		struct xdr_rec rec = { .left = 0 };

		fill(bytes, n * XDR_SAMPLE);
		for (unsigned k = 1 + below(3); k != 0; k--) {
			struct xk_msg *m = pf_msg(bytes, n * XDR_SAMPLE), *w;

			w = xdr_out_records(m, most, below(2) == 0 ? 0 : 1 + below(8));
			CU_ASSERT_FATAL(w != NULL && len + w->tot <= sizeof wire);
			len += xk_msg_copy_out(w, 0, wire + len, w->tot);
			xk_msg_free(w);
			xk_msg_free(m);
		}
		mutate(wire, len);
		refused += read_pieces(&rec, wire, len, most, NULL, &ngot, &records) >= 0;
		CU_ASSERT(ngot <= len);
		xdr_rec_free(&rec);
	}
	CU_ASSERT(refused > rounds / 20 && refused < rounds);
	end();
}

static void random_bytes_are_no_records(void)
{
	unsigned long rounds = xk_test_rounds(4000);
	uint8_t b[600];

	begin();
	for (unsigned long i = 0; i < rounds; i++) {
		uint32_t n = 1 + below(sizeof b), ngot = 0, records = 0, at = 0;
		struct xdr_rec rec = { .left = 0 };

		fill(b, n);
		while (below(2) == 0 && at + 8 <= n) {   /* marks that make sense, now and then */
			xk_put_be32(b + at, below(40) | (below(2) ? XDR_LAST : 0));
			at += 4 + (xk_be32(b + at) & 0xff);
		}
		read_pieces(&rec, b, n, MOST, NULL, &ngot, &records);
		xdr_rec_free(&rec);
	}
	end();
}

/* ---- no memory ---------------------------------------------------------------------------------- */

static void running_out_of_memory_anywhere_leaves_nothing(void)
{
	static alignas(8) uint8_t bytes[400 * XDR_SAMPLE], wire[20 * 1024];

	begin();
	xk_memvp_starve(xk_mem_self, true);
	for (uint64_t k = 1; k < 12; k++) {
		struct xk_msg *m = pf_msg(bytes, sizeof bytes), *w = NULL, *back = NULL;
		uint32_t len, ngot = 0, records = 0;
		struct xdr_rec rec = { .left = 0 };
		int what;

		w = xdr_out_records(m, MOST, 100);
		len = xk_msg_copy_out(w, 0, wire, w->tot);
		xk_msg_free(w);
		xk_mem_fail_after(k);
		w = xdr_out_array(m);
		xk_mem_fail_after(k);
		if (w != NULL) {
			what = xdr_in_chain(w, MOST, &back);
			CU_ASSERT(what == XDR_WHOLE || what == XK_DROP_NOMEM);
			if (what == XDR_WHOLE)
				xk_msg_free(back);
			xk_msg_free(w);
		}
		xk_mem_fail_after(k);
		w = xdr_out_records(m, 30, 7);
		if (w != NULL)
			xk_msg_free(w);
		xk_mem_fail_after(k);
		what = read_pieces(&rec, wire, len, MOST, NULL, &ngot, &records);
		CU_ASSERT(what == XDR_MORE || what == XK_DROP_NOMEM);
		xdr_rec_free(&rec);
		xk_mem_fail_after(0);
		xk_msg_free(m);
	}
	xk_memvp_starve(xk_mem_self, false);
	end();
}

#define T(name) { #name, name }
static CU_TestInfo bytes_tests[] = {
	T(an_array_has_the_bytes_that_other_programs_give_it),
	T(the_bytes_of_other_programs_are_understood),
	T(fragments_of_other_programs_are_put_together),
	T(any_array_survives_the_way_down_and_up),
	T(any_stream_survives_any_cutting),
	CU_TEST_INFO_NULL
};
static CU_TestInfo bad_tests[] = {
	T(a_count_that_lies_is_refused),
	T(fragments_that_are_too_long_are_refused_by_their_mark),
	T(endless_empty_fragments_are_refused),
	T(a_record_that_ends_too_soon_or_too_late_is_refused),
	T(a_changed_array_is_refused_or_means_what_it_says),
	T(a_changed_stream_never_holds_more_than_one_array),
	T(random_bytes_are_no_records),
	T(running_out_of_memory_anywhere_leaves_nothing),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "XDR bytes", NULL, NULL, NULL, NULL, bytes_tests },
	{ "malformed", NULL, NULL, NULL, NULL, bad_tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
