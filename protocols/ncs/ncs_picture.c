/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_picture.c - a still picture by a pipeline of processes (Park, Lee, Hariri 1998 name JPEG among their programs):
 * stripes of blocks go from who has the picture through who transforms and who quantises them to who codes them.
 *
 * The last process codes, since what it writes of a block depends on all before; of the others the first half transforms,
 * the rest quantises, each every so many stripes.  A stripe is passed on in a message; each process takes its stripes in
 * their order, and what it waits for is of a stage before its own, so none waits for another in a circle.
 * Levels travel as the machine has numbers, so all processes are of one kind.
 */
#include "protocols/ncs/ncs_jpeg.h"
#include "protocols/ncs/ncs_work.h"

#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"

#include <string.h>

#define EVER XK_NCS_FOREVER
enum { TAG_PIXELS = 11, TAG_COEFFICIENTS, TAG_LEVELS, TAG_FILE };

struct picture {
	unsigned n, blocks;              /* pixels, and blocks, of a side */
	uint8_t *pixels, *stripe, *file, *own;   /* the first and the last at rank 0 alone */
	int16_t *c;                      /* of a stripe */
	size_t   room, bytes;            /* of a file */
	struct jpeg_coder coder;
};

/* ---- the picture ------------------------------------------------------------------------------------- */

/* Slopes, edges and noise, which follow from seed. */
static void draw(uint8_t *p, unsigned n, uint64_t seed)
{
	struct xk_rand r;

	xk_rand_init(&r, seed, 5);
	for (unsigned y = 0; y < n; y++)
		for (unsigned x = 0; x < n; x++) {
			unsigned slope = (x * 2 + y) % 256, edge = ((x / 24 + y / 40) & 1) * 90;

			p[(size_t)y * n + x] = (uint8_t)((slope / 2 + edge + xk_rand_below(&r, 24)) % 256);
		}
}

/* ---- stages -------------------------------------------------------------------------------------------- */

static void transform(const struct picture *p, const uint8_t *stripe)
{
	for (unsigned b = 0; b < p->blocks; b++)
		jpeg_transform(stripe + b * JPEG_SIDE, p->n, p->c + (size_t)b * JPEG_BLOCK);
}

static void quantise(const struct picture *p)
{
	for (unsigned b = 0; b < p->blocks; b++)
		jpeg_quantise(p->c + (size_t)b * JPEG_BLOCK);
}

static void code(struct picture *p)
{
	for (unsigned b = 0; b < p->blocks; b++)
		jpeg_code(&p->coder, p->c + (size_t)b * JPEG_BLOCK);
}

/* Who does what with stripe i. */
static unsigned transforms(const struct work *w, unsigned i)
{
	return w->size < 2 ? 0 : i % (w->size / 2);
}

static unsigned codes(const struct work *w) { return w->size - 1; }

static unsigned quantises(const struct work *w, unsigned i)
{
	unsigned first = w->size / 2, n = codes(w) - first;

	return w->size < 3 || n == 0 ? codes(w) : first + i % n;
}

/* Bytes from `from` to `to`, unless that is one. */
static int pass(struct work *w, unsigned from, unsigned to, int tag, void *b, size_t n)
{
	if (from == to)
		return XK_OK;
	if (w->me == from)
		return xk_ncs_send(w->c[to], tag, b, n, EVER);
	return w->me == to ? xk_ncs_recv(w->c[from], tag, b, n, NULL, EVER) : XK_OK;
}

/* What this process has to do with stripe i. */
static int stripe(struct work *w, struct picture *p, unsigned i)
{
	size_t pixels = (size_t)p->n * JPEG_SIDE, bytes = pixels * sizeof *p->c;
	unsigned t = transforms(w, i), q = quantises(w, i);
	uint8_t *mine = w->me == 0 ? p->pixels + i * pixels : p->stripe;
	int err = pass(w, 0, t, TAG_PIXELS, mine, pixels);

	if (err == XK_OK && w->me == t)
		transform(p, mine);
	if (err == XK_OK)
		err = pass(w, t, q, TAG_COEFFICIENTS, p->c, bytes);
	if (err == XK_OK && w->me == q)
		quantise(p);
	if (err == XK_OK)
		err = pass(w, q, codes(w), TAG_LEVELS, p->c, bytes);
	if (err == XK_OK && w->me == codes(w))
		code(p);
	return err;
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static int begin(struct picture *p, unsigned n)
{
	size_t all = (size_t)n * n;

	*p = (struct picture){ .n = n, .blocks = n / JPEG_SIDE, .room = 4 * all + JPEG_HEAD };
	p->pixels = xk_alloc(all + (size_t)n * JPEG_SIDE + 2 * p->room);
	p->c = xk_alloc((size_t)n * JPEG_SIDE * sizeof *p->c);
	if (p->pixels == NULL || p->c == NULL)
		return XK_E_NOMEM;
	p->stripe = p->pixels + all;
	p->file = p->stripe + (size_t)n * JPEG_SIDE;
	p->own = p->file + p->room;
	return XK_OK;
}

/* From who has coded to rank 0. */
static int bring(struct work *w, struct picture *p)
{
	struct xk_ncs_status st;
	int err;

	if (codes(w) == 0)
		return XK_OK;
	if (w->me == codes(w))
		return xk_ncs_send(w->c[0], TAG_FILE, p->file, p->bytes, EVER);
	if (w->me != 0)
		return XK_OK;
	err = xk_ncs_recv(w->c[codes(w)], TAG_FILE, p->file, p->room, &st, EVER);
	p->bytes = err == XK_OK ? st.len : 0;
	return err;
}

/* By this process alone. */
static size_t alone(struct picture *p)
{
	jpeg_begin(&p->coder, p->own, p->room, p->n, p->n);
	for (unsigned i = 0; i < p->blocks; i++) {
		transform(p, p->pixels + (size_t)i * p->n * JPEG_SIDE);
		quantise(p);
		code(p);
	}
	return jpeg_end(&p->coder);
}

static uint64_t differ(const struct picture *p, size_t own)
{
	uint64_t wrong = own != p->bytes;

	for (size_t i = 0; i < own && i < p->bytes; i++)
		wrong += p->own[i] != p->file[i];
	return wrong;
}

int work_picture(struct work *w, unsigned n, uint64_t seed, uint64_t *wrong)
{
	struct picture p;
	int err = begin(&p, n);

	*wrong = 0;
	if (err == XK_OK && w->me == 0)
		draw(p.pixels, n, seed);
	if (err == XK_OK && w->me == codes(w))
		jpeg_begin(&p.coder, p.file, p.room, n, n);
	for (unsigned i = 0; i < p.blocks && err == XK_OK; i++)
		err = stripe(w, &p, i);
	if (err == XK_OK && w->me == codes(w))
		p.bytes = jpeg_end(&p.coder);
	if (err == XK_OK)
		err = bring(w, &p);
	if (err == XK_OK && w->me == 0)
		*wrong = differ(&p, alone(&p));
	xk_free(p.pixels);
	xk_free(p.c);
	return work_agree(w, err, wrong);
}
