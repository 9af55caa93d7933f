/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_work.c - programs of several processes: a matrix product and a two-dimensional FFT; see ncs_work.h.
 *
 * Numbers travel as the machine has them, so all processes are of one kind.
 */
#include "protocols/ncs/ncs_wait.h"
#include "protocols/ncs/ncs_work.h"

#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"

#include <math.h>
#include <string.h>

#define EVER XK_NCS_FOREVER
enum { TAG_ROWS = 1, TAG_RESULT, TAG_TURN };

/* ---- who is there ------------------------------------------------------------------------------- */

/* Until then; none is left: 0. */
static uint64_t left_of(xk_ns by)
{
	xk_ns now = ncs_wait_now();

	return now < by ? by - now : 0;
}

/* A peer whose process, or whose thread, is not there yet is asked again. */
static int reach(struct work *w, unsigned rank, unsigned number, xk_ns by)
{
	int err;

	do {
		err = xk_ncs_open(w->t, &(struct xk_ncs_addr){ .rank = (int)rank, .thread = number }, NULL, &w->c[rank], NULL,
				  left_of(by));
		if (err == XK_E_NOENT || err == XK_E_TIMEDOUT || err == XK_E_CONNREFUSED)
			xk_ncs_yield();
	} while ((err == XK_E_NOENT || err == XK_E_TIMEDOUT || err == XK_E_CONNREFUSED) && left_of(by) != 0);
	return err;
}

/* Of those below, who open to us: the first that has not. */
static unsigned first_absent(const struct work *w)
{
	unsigned i = 0;

	while (i + 1 < w->me && w->c[i] != NULL)
		i++;
	return i;
}

int work_join(struct work *w, struct xk_node *n, unsigned number, uint64_t within)
{
	xk_ns by = ncs_wait_now() + within;
	int err, *ranks = xk_alloc(xk_ncs_size(n) * sizeof *ranks);
	struct xk_ncs_conn *c;
	struct xk_ncs_addr a;

	*w = (struct work){ .n = n, .me = xk_ncs_rank(n), .size = xk_ncs_size(n), .absent = -1 };
	w->c = xk_alloc(w->size * sizeof(w->c[0]));
	err = w->c != NULL && ranks != NULL ? xk_ncs_attach(n, number, &w->t) : XK_E_NOMEM;
	for (unsigned i = w->me + 1; i < w->size && err == XK_OK; i++)
		if ((err = reach(w, i, number, by)) != XK_OK)
			w->absent = (int)i;
	for (unsigned i = 0; i < w->me && err == XK_OK; i++) {
		err = xk_ncs_accept(w->t, &c, &a, left_of(by));
		if (err == XK_OK)
			w->c[a.rank] = c;
		else
			w->absent = (int)first_absent(w);
	}
	for (unsigned i = 0; i < w->size && ranks != NULL; i++)
		ranks[i] = (int)i;
	if (err == XK_OK)
		err = xk_ncs_group_new(w->t, ranks, w->size, number, NULL, XK_NCS_AUTO, 0, &w->g);
	xk_free(ranks);
	return err;
}

void work_leave(struct work *w)
{
	xk_ncs_group_free(w->g);
	xk_ncs_detach(w->t);
	xk_free(w->c);
	memset(w, 0, sizeof *w);
}

/* Rows of process p: [first, first + n). */
static unsigned first_row(const struct work *w, unsigned n, unsigned p) { return (unsigned)((uint64_t)n * p / w->size); }
static unsigned rows_of(const struct work *w, unsigned n, unsigned p) { return first_row(w, n, p + 1) - first_row(w, n, p); }

int work_agree(struct work *w, int err, uint64_t *wrong)
{
	int64_t v = w->me == 0 ? (int64_t)*wrong : 0;

	if (err == XK_OK)
		err = xk_ncs_allreduce(w->g, XK_NCS_SUM, XK_NCS_I64, &v, 1, EVER);
	*wrong = (uint64_t)v;
	return err;
}

/* All rows, each process's own in `part`, into `all` at rank 0; bytes: of a row. */
static int gather(struct work *w, unsigned n, size_t bytes, void *part, uint8_t *all)
{
	int err = XK_OK;

	if (w->me != 0)
		return xk_ncs_send(w->c[0], TAG_RESULT, part, rows_of(w, n, w->me) * bytes, EVER);
	memcpy(all, part, rows_of(w, n, 0) * bytes);
	for (unsigned p = 1; p < w->size && err == XK_OK; p++)
		err = xk_ncs_recv(w->c[p], TAG_RESULT, all + first_row(w, n, p) * bytes, rows_of(w, n, p) * bytes, NULL, EVER);
	return err;
}

/* ---- a matrix product ------------------------------------------------------------------------------ */

static void multiply(const int64_t *a, const int64_t *b, int64_t *c, unsigned rows, unsigned n)
{
	memset(c, 0, (size_t)rows * n * sizeof *c);
	for (unsigned i = 0; i < rows; i++)
		for (unsigned k = 0; k < n; k++)
			for (unsigned j = 0; j < n; j++)
				c[(size_t)i * n + j] += a[(size_t)i * n + k] * b[(size_t)k * n + j];
}

/* Rank 0 has a and b; the others get their rows of a, and b. */
static int spread(struct work *w, unsigned n, int64_t *a, int64_t *b)
{
	size_t row = n * sizeof *a;
	int err = XK_OK;

	if (w->me != 0)
		err = xk_ncs_recv(w->c[0], TAG_ROWS, a, rows_of(w, n, w->me) * row, NULL, EVER);
	for (unsigned p = 1; w->me == 0 && p < w->size && err == XK_OK; p++)
		err = xk_ncs_send(w->c[p], TAG_ROWS, a + (size_t)first_row(w, n, p) * n, rows_of(w, n, p) * row, EVER);
	return err == XK_OK ? xk_ncs_bcast(w->g, 0, b, n * row, EVER) : err;
}

int work_matrix(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong)
{
	size_t all = (size_t)n * n;
	int64_t *a = xk_alloc(5 * all * sizeof *a), *b = a + all, *c = b + all, *got = c + all, *own = got + all;
	struct xk_rand r;
	int err;

	*wrong = 0;
	if (a == NULL)
		return XK_E_NOMEM;
	xk_rand_init(&r, seed, 0);
	for (size_t i = 0; i < 2 * all && w->me == 0; i++)
		a[i] = (int64_t)xk_rand_below(&r, 2001) - 1000;
	err = spread(w, n, a, b);
	if (err == XK_OK) {
		multiply(a, b, c, rows_of(w, n, w->me), n);
		err = gather(w, n, n * sizeof *c, c, (uint8_t *)got);
	}
	if (err == XK_OK && w->me == 0) {
		multiply(a, b, own, n, n);
		for (size_t i = 0; i < all; i++)
			*wrong += own[i] != got[i];
	}
	xk_free(a);
	return work_agree(w, err, wrong);
}

/* ---- a two-dimensional FFT ---------------------------------------------------------------------------- */

struct z { double re, im; };

/* In place, n a power of two (Cooley, Tukey 1965). */
static void fft(struct z *v, unsigned n)
{
	for (unsigned i = 1, j = 0; i < n; i++) {
		unsigned bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct z t = v[i];

			v[i] = v[j];
			v[j] = t;
		}
	}
	for (unsigned len = 2; len <= n; len <<= 1)
		for (unsigned k = 0; k < len / 2; k++) {
			double angle = -2 * 3.14159265358979323846 * k / len, re = cos(angle), im = sin(angle);

			for (unsigned i = k; i < n; i += len) {
				struct z *a = &v[i], *b = &v[i + len / 2];
				struct z t = { b->re * re - b->im * im, b->re * im + b->im * re };

				*b = (struct z){ a->re - t.re, a->im - t.im };
				*a = (struct z){ a->re + t.re, a->im + t.im };
			}
		}
}

static struct z element(uint64_t seed, unsigned i, unsigned j)
{
	uint64_t x = (seed + i * 2654435761u + j) * 6364136223846793005u;

	return (struct z){ (double)(x >> 40) / 65536, (double)(x >> 20 & 0xfffff) / 4096 };
}

/* The block of my rows and p's columns, turned over, which is p's rows and my columns there. */
static void cut(const struct work *w, unsigned n, const struct z *mine, unsigned p, struct z *block)
{
	unsigned rows = rows_of(w, n, w->me), cols = rows_of(w, n, p), at = first_row(w, n, p);

	for (unsigned j = 0; j < cols; j++)
		for (unsigned i = 0; i < rows; i++)
			block[(size_t)j * rows + i] = mine[(size_t)i * n + at + j];
}

static void paste(const struct work *w, unsigned n, struct z *mine, unsigned p, const struct z *block)
{
	unsigned rows = rows_of(w, n, w->me), cols = rows_of(w, n, p), at = first_row(w, n, p);

	for (unsigned i = 0; i < rows; i++)
		memcpy(mine + (size_t)i * n + at, block + (size_t)i * cols, cols * sizeof *block);
}

/* All exchange blocks; receives are posted before anything is sent. */
static int turn_over(struct work *w, unsigned n, struct z *mine, struct z *out, struct z *in)
{
	struct xk_ncs_req *r = xk_alloc(w->size * sizeof *r);
	unsigned rows = rows_of(w, n, w->me), posted = 0;
	int err = r != NULL ? XK_OK : XK_E_NOMEM, one;

	for (; posted < w->size && err == XK_OK; posted++)
		if (posted != w->me)
			err = xk_ncs_irecv(w->c[posted], TAG_TURN, in + (size_t)first_row(w, n, posted) * rows,
					   (size_t)rows_of(w, n, posted) * rows * sizeof *in, &r[posted]);
	for (unsigned p = 0; p < w->size && err == XK_OK; p++) {
		struct z *block = p == w->me ? in + (size_t)first_row(w, n, p) * rows : out;

		cut(w, n, mine, p, block);
		if (p != w->me)
			err = xk_ncs_send(w->c[p], TAG_TURN, block, (size_t)rows_of(w, n, p) * rows * sizeof *out, EVER);
	}
	for (unsigned p = 0; p < posted; p++) {
		if (p == w->me)
			continue;
		one = err == XK_OK || xk_ncs_cancel(&r[p]) != XK_OK ? xk_ncs_wait(&r[p], EVER) : XK_OK;
		err = err == XK_OK ? one : err;
	}
	for (unsigned p = 0; p < w->size && err == XK_OK; p++)
		paste(w, n, mine, p, in + (size_t)first_row(w, n, p) * rows);
	xk_free(r);
	return err;
}

static void transform_rows(struct z *v, unsigned rows, unsigned n)
{
	for (unsigned i = 0; i < rows; i++)
		fft(v + (size_t)i * n, n);
}

/* The same by one process. */
static void alone(struct z *v, unsigned n)
{
	transform_rows(v, n, n);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++) {
			struct z t = v[(size_t)i * n + j];

			v[(size_t)i * n + j] = v[(size_t)j * n + i];
			v[(size_t)j * n + i] = t;
		}
	transform_rows(v, n, n);
}

int work_fft(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong)
{
	size_t all = (size_t)n * n;
	struct z *mine = xk_alloc(5 * all * sizeof *mine), *out = mine + all, *in = out + all, *got = in + all, *own = got + all;
	unsigned rows = rows_of(w, n, w->me), first = first_row(w, n, w->me);
	int err;

	*wrong = 0;
	if (mine == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < rows; i++)
		for (unsigned j = 0; j < n; j++)
			mine[(size_t)i * n + j] = element(seed, first + i, j);
	transform_rows(mine, rows, n);
	err = turn_over(w, n, mine, out, in);
	if (err == XK_OK) {
		transform_rows(mine, rows, n);
		err = gather(w, n, n * sizeof *mine, mine, (uint8_t *)got);
	}
	if (err == XK_OK && w->me == 0) {
		for (size_t i = 0; i < all; i++)
			own[i] = element(seed, (unsigned)(i / n), (unsigned)(i % n));
		alone(own, n);
		for (size_t i = 0; i < all; i++)
			*wrong += memcmp(&own[i], &got[i], sizeof own[i]) != 0;
	}
	xk_free(mine);
	return work_agree(w, err, wrong);
}
