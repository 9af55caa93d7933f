/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ncs_jpeg.c - the three stages of a picture, against a reader that knows nothing of them: it takes quantisation and
 * codes from the file, and transforms back in doubles.
 *
 * Promises: what is written is a file that this reads to its end marker; every pixel is near what it was, the more so the
 * smoother the picture is; levels of all sizes, runs of all lengths and bytes of ones are read as they were; a file
 * that has no room says so and writes no byte behind it.
 */
#include "protocols/ncs/ncs_jpeg.h"

#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#include <math.h>
#include <string.h>

#define MOST 64u                         /* pixels of a side */
#define ROOM 65536u

static uint8_t picture[MOST * MOST], file[ROOM + 16];
static int16_t level[MOST * MOST / JPEG_BLOCK][JPEG_BLOCK];

/* ---- a reader --------------------------------------------------------------------------------------------- */

struct table { unsigned first[17], n[17], at[17]; const uint8_t *value; };
struct reader {
	const uint8_t *b, *end;
	unsigned width, height, quant[64];
	struct table dc, ac;
	unsigned bits, nbits;
	bool     bad;
};

static const uint8_t order[64] = {
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55,
	62, 63
};

static void read_table(struct table *t, const uint8_t *b)
{
	unsigned code = 0, at = 0;

	for (unsigned len = 1; len <= 16; len++, code *= 2) {
		t->first[len] = code;
		t->n[len] = b[len - 1];
		t->at[len] = at;
		code += b[len - 1];
		at += b[len - 1];
	}
	t->value = b + 16;
}

/* Up to the first byte of the blocks; false: not a grey baseline picture. */
static bool read_head(struct reader *r, const uint8_t *b, size_t n)
{
	r->end = b + n;
	if (n < 4 || b[0] != 0xff || b[1] != 0xd8)
		return false;
	for (b += 2; r->end - b > 4 && b[0] == 0xff;) {
		unsigned marker = b[1], len = b[2] * 256u + b[3];
		const uint8_t *v = b + 4;

		b += 2 + len;
		if (marker == 0xdb) {
			for (unsigned i = 0; i < 64; i++)
				r->quant[order[i]] = v[1 + i];
		} else if (marker == 0xc0) {
			if (v[0] != 8 || v[5] != 1)
				return false;
			r->height = v[1] * 256u + v[2];
			r->width = v[3] * 256u + v[4];
		} else if (marker == 0xc4) {
			read_table(v[0] < 16 ? &r->dc : &r->ac, v + 1);
		} else if (marker == 0xda) {
			r->b = b;
			return true;
		}
	}
	return false;
}

static unsigned bit(struct reader *r)
{
	if (r->nbits == 0) {
		if (r->b == r->end || (r->b[0] == 0xff && r->b[1] != 0)) {
			r->bad = true;
			return 0;
		}
		r->bits = *r->b;
		r->b += r->bits == 0xff ? 2 : 1;
		r->nbits = 8;
	}
	return r->bits >> --r->nbits & 1;
}

static unsigned symbol(struct reader *r, const struct table *t)
{
	unsigned code = 0;

	for (unsigned len = 1; len <= 16 && !r->bad; len++) {
		code = code * 2 + bit(r);
		if (code - t->first[len] < t->n[len])
			return t->value[t->at[len] + code - t->first[len]];
	}
	r->bad = true;
	return 0;
}

static int value(struct reader *r, unsigned n)
{
	int v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v * 2 + (int)bit(r);
	return n != 0 && v < 1 << (n - 1) ? v - (1 << n) + 1 : v;
}

static void read_block(struct reader *r, int *dc, int q[64])
{
	memset(q, 0, 64 * sizeof *q);
	*dc += value(r, symbol(r, &r->dc));
	q[0] = *dc;
	for (unsigned i = 1; i < 64 && !r->bad; i++) {
		unsigned s = symbol(r, &r->ac);

		if (s == 0)
			break;
		i += s >> 4;
		if (i > 63)
			r->bad = true;
		else
			q[order[i]] = value(r, s & 15);
	}
}

/* ---- both ways ---------------------------------------------------------------------------------------------- */

static size_t write_all(unsigned n, size_t room)
{
	static struct jpeg_coder c;
	unsigned k = 0;

	jpeg_begin(&c, file, room, n, n);
	for (unsigned y = 0; y < n; y += JPEG_SIDE)
		for (unsigned x = 0; x < n; x += JPEG_SIDE, k++) {
			jpeg_transform(picture + y * n + x, n, level[k]);
			jpeg_quantise(level[k]);
			jpeg_code(&c, level[k]);
		}
	CU_ASSERT_EQUAL(c.full, room < ROOM);
	return jpeg_end(&c);
}

/* The square of the error of a block at p. */
static double off_by(const struct reader *r, const int q[64], const uint8_t *p, unsigned n)
{
	double sum = 0;

	for (unsigned y = 0; y < 8; y++)
		for (unsigned x = 0; x < 8; x++) {
			double s = 0;

			for (unsigned v = 0; v < 8; v++)
				for (unsigned u = 0; u < 8; u++)
					s += (u == 0 ? M_SQRT1_2 : 1) * (v == 0 ? M_SQRT1_2 : 1) * q[v * 8 + u] *
					     (double)r->quant[v * 8 + u] * cos((2 * x + 1) * u * M_PI / 16) *
					     cos((2 * y + 1) * v * M_PI / 16) / 4;
			s = s + 128 < 0 ? 0 : s + 128 > 255 ? 255 : s + 128;
			sum += (s - p[y * n + x]) * (s - p[y * n + x]);
		}
	return sum;
}

/* Peak signal to noise, in dB. */
static double read_all(unsigned n, size_t bytes)
{
	struct reader r = { .b = NULL };
	double sum = 0;
	int dc = 0, q[64];

	CU_ASSERT_TRUE_FATAL(read_head(&r, file, bytes));
	CU_ASSERT(r.width == n && r.height == n);
	for (unsigned k = 0; k < n * n / 64; k++) {
		read_block(&r, &dc, q);
		CU_ASSERT_FALSE_FATAL(r.bad);
		for (unsigned i = 0; i < 64; i++)
			CU_ASSERT_EQUAL(q[i], level[k][i]);
		sum += off_by(&r, q, picture + k / (n / 8) * 8 * n + k % (n / 8) * 8, n);
	}
	CU_ASSERT(r.end - r.b == 2 && r.b[0] == 0xff && r.b[1] == 0xd9);
	return sum == 0 ? 99 : 10 * log10(255.0 * 255 * n * n / sum);
}

static void a_smooth_picture_is_nearly_as_it_was(void)
{
	size_t bytes;
	double db;

	for (unsigned i = 0; i < MOST * MOST; i++)
		picture[i] = (uint8_t)(i % MOST * 2 + i / MOST);
	bytes = write_all(MOST, ROOM);
	db = read_all(MOST, bytes);
	printf("# %zu bytes, %.1f dB\n", bytes, db);
	CU_ASSERT(db > 40);
	CU_ASSERT(bytes < MOST * MOST / 4);
}

static void noise_is_read_as_it_was_written(void)
{
	struct xk_rand r;
	double db;

	xk_rand_init(&r, 1, 2);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < MOST * MOST; i++)
			picture[i] = (uint8_t)(round % 2 ? xk_rand_below(&r, 256) : xk_rand_below(&r, 2) * 255);
		db = read_all(MOST, write_all(MOST, ROOM));
		CU_ASSERT(db > 20);
	}
}

/* What no picture has: one level of each size, behind each run of zeros. */
static void every_run_and_size_is_read(void)
{
	static struct jpeg_coder c;
	int16_t l[JPEG_BLOCK];
	struct reader r = { .b = NULL };
	int dc = 0, q[64];
	size_t n;

	jpeg_begin(&c, file, ROOM, 8, 8);
	for (unsigned run = 0; run < 63; run++)
		for (unsigned size = 1; size <= 10; size++) {
			memset(l, 0, sizeof l);
			l[0] = (int16_t)(run % 2 ? -1023 : 1023);
			l[order[1 + run]] = (int16_t)(size % 2 ? -(1 << (size - 1)) : (1 << size) - 1);
			jpeg_code(&c, l);
		}
	n = jpeg_end(&c);
	CU_ASSERT_FALSE(c.full);
	CU_ASSERT_TRUE_FATAL(read_head(&r, file, n));
	for (unsigned run = 0; run < 63; run++)
		for (unsigned size = 1; size <= 10; size++) {
			read_block(&r, &dc, q);
			CU_ASSERT_FALSE_FATAL(r.bad);
			CU_ASSERT_EQUAL(q[0], run % 2 ? -1023 : 1023);
			CU_ASSERT_EQUAL(q[order[1 + run]], size % 2 ? -(1 << (size - 1)) : (1 << size) - 1);
		}
}

static void a_file_without_room_says_so(void)
{
	for (size_t room = 0; room < 700; room++) {
		memset(file, 0xaa, sizeof file);
		CU_ASSERT(write_all(MOST, room) <= room);
		CU_ASSERT_EQUAL(file[room], 0xaa);
	}
}

static CU_TestInfo tests[] = {
	{ "a_smooth_picture_is_nearly_as_it_was", a_smooth_picture_is_nearly_as_it_was },
	{ "noise_is_read_as_it_was_written", noise_is_read_as_it_was_written },
	{ "every_run_and_size_is_read", every_run_and_size_is_read },
	{ "a_file_without_room_says_so", a_file_without_room_says_so },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { .pName = "ncs_jpeg", .pTests = tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}
