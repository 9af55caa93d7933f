/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_filters.c - many filters at once: one hash for each shape of conjunction.
 *
 * Tuple-space search: conjunctions of one shape (same places, same masks) lie in one table
 * under a hash of the values that they want.  A frame's values are gathered once for each
 * table and looked up; what is found is compared in full, so a hash that lies costs time and
 * nothing else.  Programs that are no conjunctions are run by the engine.
 * Invariant: every term below n is in the chain of its hash.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/classify_filters_priv.h"
#include "runtime/classify/xk_cbpf.h"
#include "runtime/mem/xk_mem.h"

#define ROOM_MIN 8u
#define SPARSE   4u              /* chains for each term: few of them meet */
#define NOWHERE  UINT32_MAX

/* A term in its table, as words: what it wants, and who wants it. */
enum { T_NEXT, T_HASH, T_FILTER, T_VALUE };

struct table {
	uint32_t least;
	unsigned ncell;
	struct xk_filter_cell cell[XK_FILTER_CELLS];
	uint32_t *chain;                 /* first term by hash; NOWHERE: none */
	uint32_t *term;                  /* T_VALUE + ncell words each */
	uint32_t n, room;                /* terms, and room for them: a power of two */
};

struct alone { struct xk_cbpf *prog; uint16_t filter; };

struct xk_filters {
	struct table **table;
	struct alone  *alone;
	unsigned n, ntable, nalone;
};

/* ---- memory ------------------------------------------------------------------------------------- */

int xk_filters_new(struct xk_filters **f)
{
	*f = xk_alloc(sizeof(**f));
	return *f != NULL ? XK_OK : XK_E_NOMEM;
}

static void table_free(struct table *t)
{
	if (t == NULL)
		return;
	xk_free(t->chain);
	xk_free(t->term);
	xk_free(t);
}

void xk_filters_free(struct xk_filters *f)
{
	if (f == NULL)
		return;
	for (unsigned i = 0; i < f->ntable; i++)
		table_free(f->table[i]);
	for (unsigned i = 0; i < f->nalone; i++)
		xk_cbpf_free(f->alone[i].prog);
	xk_free(f->table);
	xk_free(f->alone);
	xk_free(f);
}

/* An array of n at *p gets room for twice as many. */
static int widen(void **p, size_t size, unsigned n, unsigned room)
{
	void *wide = xk_alloc(size * room);

	if (wide == NULL)
		return XK_E_NOMEM;
	if (n != 0)
		memcpy(wide, *p, size * n);
	xk_free(*p);
	*p = wide;
	return XK_OK;
}

static bool is_power(unsigned n)
{
	return (n & (n - 1)) == 0;
}

/* ---- tables ---------------------------------------------------------------------------------------- */

/* Odd numbers: a sum of products tells values apart in its upper half. */
static const uint64_t factor[XK_FILTER_CELLS] = {
	0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0xd6e8feb86659fd93, 0xff51afd7ed558ccd,
	0xc4ceb9fe1a85ec53, 0x94d049bb133111eb, 0xbf58476d1ce4e5b9, 0x2545f4914f6cdd1d, 0x8cb92ba72f3d8dd7,
	0xaef17502108ef2d9, 0x369dea0f31a53f85,
};

static inline uint32_t fold(uint64_t sum)
{
	return (uint32_t)(sum >> 32);
}

static inline uint32_t *term_at(const struct table *t, uint32_t i)
{
	return &t->term[(size_t)i * (T_VALUE + t->ncell)];
}

static inline uint32_t *chain_of(const struct table *t, uint32_t hash)
{
	return &t->chain[hash & (SPARSE * t->room - 1)];
}

/* Newest first. */
static void link_term(struct table *t, uint32_t i)
{
	uint32_t *term = term_at(t, i), *first = chain_of(t, term[T_HASH]);

	term[T_NEXT] = *first;
	*first = i;
}

static void link_all(struct table *t)
{
	memset(t->chain, 0xff, sizeof(*t->chain) * SPARSE * t->room);
	for (uint32_t i = 0; i < t->n; i++)
		link_term(t, i);
}

/* Room for one more term. */
static int table_room(struct table *t)
{
	uint32_t room = 2 * t->room, *chain;

	if (t->n < t->room)
		return XK_OK;
	chain = xk_alloc(sizeof(*chain) * SPARSE * room);
	if (chain == NULL || widen((void **)&t->term, sizeof(*t->term) * (T_VALUE + t->ncell), t->n, room) != XK_OK) {
		xk_free(chain);
		return XK_E_NOMEM;
	}
	xk_free(t->chain);
	t->chain = chain;
	t->room = room;
	link_all(t);
	return XK_OK;
}

static struct table *table_new(const struct filter_term *shape)
{
	struct table *t = xk_alloc(sizeof(*t));

	if (t == NULL)
		return NULL;
	t->least = shape->least;
	t->ncell = shape->n;
	memcpy(t->cell, shape->cell, sizeof(t->cell));
	t->room = ROOM_MIN;
	t->chain = xk_alloc(sizeof(*t->chain) * SPARSE * t->room);
	t->term = xk_alloc(sizeof(*t->term) * (T_VALUE + t->ncell) * t->room);
	if (t->chain == NULL || t->term == NULL) {
		table_free(t);
		return NULL;
	}
	link_all(t);
	return t;
}

static bool has_shape(const struct table *t, const struct filter_term *term)
{
	bool same = t->least == term->least && t->ncell == term->n;

	for (unsigned i = 0; same && i < t->ncell; i++)
		same = filters_same_place(&t->cell[i], &term->cell[i]);
	return same;
}

static struct table *table_of(struct xk_filters *f, const struct filter_term *term)
{
	struct table *t;

	for (unsigned i = 0; i < f->ntable; i++)
		if (has_shape(f->table[i], term))
			return f->table[i];
	if (is_power(f->ntable) && widen((void **)&f->table, sizeof(*f->table), f->ntable, f->ntable ? 2 * f->ntable : 1))
		return NULL;
	t = table_new(term);
	if (t != NULL)
		f->table[f->ntable++] = t;
	return t;
}

static int put(struct xk_filters *f, const struct filter_term *term, uint16_t filter)
{
	struct table *t = table_of(f, term);
	uint64_t sum = 0;
	uint32_t *to;

	if (t == NULL || table_room(t) != XK_OK)
		return XK_E_NOMEM;
	to = term_at(t, t->n);
	for (unsigned i = 0; i < term->n; i++) {
		to[T_VALUE + i] = term->cell[i].value;
		sum += term->cell[i].value * factor[i];
	}
	to[T_HASH] = fold(sum);
	to[T_FILTER] = filter;
	link_term(t, t->n++);
	return XK_OK;
}

/* ---- adding ------------------------------------------------------------------------------------------- */

static int refuse(int err, char *why, size_t whylen, const char *text)
{
	snprintf(why, whylen, "%s", text);
	return err;
}

/* Takes back what a filter has in tables when there was no memory for all of it. */
static void take_back(struct xk_filters *f, uint16_t filter)
{
	for (unsigned i = 0; i < f->ntable; i++) {
		struct table *t = f->table[i];

		while (t->n != 0 && term_at(t, t->n - 1)[T_FILTER] == filter)
			t->n--;
		link_all(t);
	}
}

static int add_terms(struct xk_filters *f, const struct filter_term *term, int n, char *why, size_t whylen)
{
	for (int i = 0; i < n; i++)
		if (put(f, &term[i], (uint16_t)f->n) != XK_OK) {
			take_back(f, (uint16_t)f->n);
			return refuse(XK_E_NOMEM, why, whylen, "out of memory");
		}
	return (int)f->n++;
}

static int add_alone(struct xk_filters *f, struct xk_cbpf *prog, char *why, size_t whylen)
{
	if (is_power(f->nalone) && widen((void **)&f->alone, sizeof(*f->alone), f->nalone, f->nalone ? 2 * f->nalone : 1)) {
		xk_cbpf_free(prog);
		return refuse(XK_E_NOMEM, why, whylen, "out of memory");
	}
	f->alone[f->nalone++] = (struct alone){ .prog = prog, .filter = (uint16_t)f->n };
	return (int)f->n++;
}

int xk_filters_add(struct xk_filters *f, const struct sock_filter *prog, unsigned n, char *why, size_t whylen)
{
	struct filter_term term[FILTER_TERMS];
	struct xk_cbpf *c;
	int err, nterm;

	if (f->n == XK_FILTERS_MAX)
		return refuse(XK_E_NOSPC, why, whylen, "too many filters");
	err = xk_cbpf_new(&c, prog, n, XK_CBPF_BEST, why, whylen);
	if (err != XK_OK)
		return err;
	nterm = filters_read(prog, term);
	if (nterm < 0)
		return add_alone(f, c, why, whylen);
	xk_cbpf_free(c);
	return add_terms(f, term, nterm, why, whylen);
}

int xk_filters_add_cells(struct xk_filters *f, const struct xk_filter_cell *cell, unsigned n, char *why, size_t whylen)
{
	struct filter_term term = { .n = 0 };
	bool can = true, full = false;

	if (f->n == XK_FILTERS_MAX)
		return refuse(XK_E_NOSPC, why, whylen, "too many filters");
	for (unsigned i = 0; i < n; i++) {
		const struct xk_filter_cell *c = &cell[i];

		if ((c->width != 1 && c->width != 2 && c->width != 4) || c->off > INT32_MAX / 4 || c->nibble > INT32_MAX / 4 ||
		    (c->width < 4 && c->mask >> 8 * c->width != 0)) {
			snprintf(why, whylen, "cell %u: 1, 2 or 4 bytes under a mask that is no wider", i + 1);
			return XK_E_INVAL;
		}
		can = filters_and(&term, c, &full) && can;
	}
	if (full)
		return refuse(XK_E_NOSPC, why, whylen, "more than 12 places in one filter");
	return add_terms(f, &term, can ? 1 : 0, why, whylen);
}

/* ---- matching ------------------------------------------------------------------------------------------- */

static inline uint32_t number_at(const uint8_t *p, unsigned width)
{
	return width == 4 ? xk_be32(p) : width == 2 ? xk_be16(p) : *p;
}

/* The frame's values in the places of a table; false: it is too short. */
static inline bool gather(const struct table *t, const uint8_t *frame, uint32_t len, uint32_t *value, uint32_t *hash)
{
	uint64_t sum = 0;

	if (len < t->least)
		return false;
	for (unsigned i = 0; i < t->ncell; i++) {
		const struct xk_filter_cell *c = &t->cell[i];
		uint32_t off = c->off;

		if (c->by_nibble) {
			off += (frame[c->nibble] & 15u) * 4;
			if (off + c->width > len)
				return false;
		}
		value[i] = number_at(frame + off, c->width) & c->mask;
		sum += value[i] * factor[i];
	}
	*hash = fold(sum);
	return true;
}

/* Puts a filter among those found, rising, once; the largest goes where there is no room. */
static inline unsigned found(uint16_t *taker, unsigned n, unsigned max, uint16_t filter)
{
	unsigned i = n;

	while (i > 0 && taker[i - 1] > filter)
		i--;
	if ((i > 0 && taker[i - 1] == filter) || i == max)
		return n;
	n = n < max ? n + 1 : n;
	memmove(&taker[i + 1], &taker[i], (n - 1 - i) * sizeof(*taker));
	taker[i] = filter;
	return n;
}

static inline bool wants(const struct table *t, const uint32_t *term, const uint32_t *value)
{
	uint32_t differ = 0;

	for (unsigned i = 0; i < t->ncell; i++)
		differ |= term[T_VALUE + i] ^ value[i];
	return differ == 0;
}

static inline unsigned look_up(const struct table *t, const uint32_t *value, uint32_t hash, uint16_t *taker, unsigned n,
			       unsigned max)
{
	const uint32_t *term;

	for (uint32_t i = *chain_of(t, hash); i != NOWHERE; i = term[T_NEXT]) {
		term = term_at(t, i);
		if (term[T_HASH] == hash && wants(t, term, value))
			n = found(taker, n, max, (uint16_t)term[T_FILTER]);
	}
	return n;
}

unsigned xk_filters_match(const struct xk_filters *f, const uint8_t *frame, uint32_t len, uint16_t *taker, unsigned max)
{
	uint32_t value[XK_FILTER_CELLS], hash;
	unsigned n = 0;

	for (unsigned i = 0; i < f->ntable; i++)
		if (gather(f->table[i], frame, len, value, &hash))
			n = look_up(f->table[i], value, hash, taker, n, max);
	for (unsigned i = 0; i < f->nalone; i++)
		if (xk_cbpf_run(f->alone[i].prog, frame, len) != 0)
			n = found(taker, n, max, f->alone[i].filter);
	return n;
}

struct xk_filters_shape xk_filters_shape(const struct xk_filters *f)
{
	struct xk_filters_shape s = { .filters = f->n, .alone = f->nalone, .tables = f->ntable };

	for (unsigned i = 0; i < f->ntable; i++)
		s.terms += f->table[i]->n;
	return s;
}
