/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_walk.c - the native walk over any pattern.
 *
 * The pattern is compiled into steps: masks and values lie as the header's bytes do, so that
 * nothing is swapped on the way; the cell above is found by the bytes of its number, in a
 * small hash table for each branching cell, so the cost of a frame is that of its headers
 * whatever else the graph holds.  A frame whose key is that of the frame before goes on its
 * run and is not hashed.
 * Invariant: like xk_pattern_match rule by rule, and no byte at or behind len is read.
 */
#include <stdio.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/classify_native.h"
#include "runtime/classify/classify_runs.h"

#define SLOTS 64u                /* of a branching cell: at most half full */
_Static_assert(SLOTS >= 2 * XK_PAT_KIDS, "there is always a free slot");

/* `width` bytes of the header at off; mask and value as such bytes lie in memory. */
struct step {
	uint16_t off;
	uint8_t  width;
	uint8_t  at;             /* key: first byte of it */
	uint32_t mask, value;
};

struct slot { uint32_t raw; uint16_t cell; };    /* cell XK_PAT_ABOVE: free */

struct place {
	uint16_t need;
	uint8_t  nguard, nkey, nident;
	bool     leaf, keyed, postpones;
	uint32_t host, ident, flow;      /* selectors, as they lie in a key */
	uint8_t  unit;                   /* bytes of header a unit; 0: the header has `need` */
	struct xk_pat_field hlen;
	struct step postpone, select;
	struct step guard[XK_PAT_GUARDS], key[XK_PAT_KEYS], id[XK_PAT_KEYS];
	struct slot slot[SLOTS];
};

struct walk {
	unsigned n;
	struct place place[];
};

/* ---- bytes ------------------------------------------------------------------------- */

/* `width` bytes in the low end of a word, as they lie. */
static inline uint32_t bytes_at(const uint8_t *p, unsigned width)
{
	switch (width) {
	case 1:  return p[0];
	case 2:  return xk_raw16(p);
	case 3:  return xk_raw16(p) | (uint32_t)p[2] << 16;
	default: return xk_raw32(p);
	}
}

static inline void put_bytes(uint8_t *p, unsigned width, uint32_t v)
{
	switch (width) {
	case 3:
		p[2] = (uint8_t)(v >> 16);
		/* fall through */
	case 2:
		xk_put_raw16(p, (uint16_t)v);
		break;
	case 1:
		p[0] = (uint8_t)v;
		break;
	default:
		xk_put_raw32(p, v);
	}
}

static inline uint32_t step_bytes(const struct step *s, const uint8_t *h)
{
	return bytes_at(h + s->off, s->width) & s->mask;
}

/* ---- compiling ---------------------------------------------------------------------- */

/* A number of `width` bytes as it lies in a header. */
static uint32_t lies(uint32_t v, unsigned width, bool little)
{
	uint8_t b[4] = { 0 };

	for (unsigned i = 0; i < width; i++)
		b[little ? i : width - 1 - i] = (uint8_t)(v >> 8 * i);
	return bytes_at(b, width);
}

static struct step step_of(const struct xk_pat_field *f)
{
	return (struct step){ .off = f->off, .width = f->width, .mask = lies(f->mask, f->width, f->little),
		.value = lies(f->value, f->width, f->little) };
}

static void steps_of_key(struct step *to, const struct xk_pat_key *k, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (struct step){ .off = k[i].off, .width = k[i].width, .at = k[i].at,
			.mask = lies(k[i].mask, k[i].width, false) };
}

static inline unsigned slot_of(uint32_t raw)
{
	return raw * 0x9e3779b1u >> 26;
}
_Static_assert(SLOTS == 1u << 6, "a slot is 6 bits of the product");

static void hang(struct place *pl, const struct xk_pattern *p, const struct xk_cell *c)
{
	for (unsigned i = 0; i < SLOTS; i++)
		pl->slot[i].cell = XK_PAT_ABOVE;
	for (unsigned i = 0; i < c->nkid; i++) {
		uint32_t raw = lies(p->cell[c->kid[i]].number, c->select.width, c->select.little);
		unsigned s = slot_of(raw);

		while (pl->slot[s].cell != XK_PAT_ABOVE)
			s = (s + 1) % SLOTS;
		pl->slot[s] = (struct slot){ raw, c->kid[i] };
	}
}

static void compile(struct place *pl, const struct xk_pattern *p, const struct xk_cell *c)
{
	*pl = (struct place){ .need = c->need, .nguard = c->nguard, .nkey = c->nkey, .nident = c->nident,
		.leaf = xk_cell_leaf(c), .keyed = c->keyed, .postpones = c->has_postpone,
		.host = htobe32(c->host), .ident = htobe32(c->ident_sel), .flow = htobe32(c->flow),
		.unit = c->has_hlen ? (uint8_t)c->hlen.value : 0, .hlen = c->hlen };
	if (c->has_postpone)
		pl->postpone = step_of(&c->postpone);
	if (c->has_select)
		pl->select = step_of(&c->select);
	for (unsigned i = 0; i < c->nguard; i++)
		pl->guard[i] = step_of(&c->guard[i]);
	steps_of_key(pl->key, c->key, c->nkey);
	steps_of_key(pl->id, c->ident, c->nident);
	hang(pl, p, c);
}

struct walk *classify_walk_new(const struct xk_pattern *p)
{
	struct walk *w = xk_alloc(sizeof(*w) + p->ncell * sizeof(w->place[0]));

	if (w == NULL)
		return NULL;
	w->n = p->ncell;
	for (unsigned i = 0; i < p->ncell; i++)
		compile(&w->place[i], p, &p->cell[i]);
	return w;
}

/* ---- walking -------------------------------------------------------------------------- */

/* What is known of a frame; key.w[1]'s high half is the selector. */
struct known {
	union { struct xk_key key; uint8_t byte[16]; } u;
	uint32_t end;            /* where the header of the cell that decided ends */
	uint8_t  kind;
};

static inline bool guarded(const struct place *pl, const uint8_t *h)
{
	for (unsigned i = 0; i < pl->nguard; i++)
		if (step_bytes(&pl->guard[i], h) != pl->guard[i].value)
			return false;
	return true;
}

static inline void gather(struct known *k, const uint8_t *h, const struct step *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put_bytes(k->u.byte + s[i].at, s[i].width, step_bytes(&s[i], h));
}

static inline void decide(struct known *k, enum xk_pat_kind kind, uint32_t selector)
{
	k->kind = (uint8_t)kind;
	xk_put_raw32(k->u.byte + 12, selector);
}

static uint32_t header_units(const struct place *pl, const uint8_t *h)
{
	const struct xk_pat_field *f = &pl->hlen;
	uint32_t v = 0;

	for (unsigned i = 0; i < f->width; i++)
		v = v << 8 | h[f->off + (f->little ? f->width - 1u - i : i)];
	return ((v & f->mask) >> __builtin_ctz(f->mask)) * pl->unit;
}

static inline unsigned above(const struct place *pl, const uint8_t *h)
{
	uint32_t raw = step_bytes(&pl->select, h);
	unsigned s = slot_of(raw);

	while (pl->slot[s].cell != XK_PAT_ABOVE && pl->slot[s].raw != raw)
		s = (s + 1) % SLOTS;
	return pl->slot[s].cell;
}

static inline __attribute__((always_inline))
void walk(const struct walk *w, const uint8_t *h, uint32_t left, struct known *k)
{
	const uint8_t *start = h;

	*k = (struct known){ .kind = XK_PAT_NONE };
	for (unsigned c = w->n != 0 ? XK_PAT_ROOT : XK_PAT_ABOVE; c != XK_PAT_ABOVE;) {
		const struct place *pl = &w->place[c];
		uint32_t hlen = pl->need;

		if (left < pl->need || !guarded(pl, h))
			return;
		gather(k, h, pl->key, pl->nkey);
		if (pl->nkey != 0)
			decide(k, XK_PAT_HOST, pl->host);
		if (pl->postpones && step_bytes(&pl->postpone, h) != 0) {
			gather(k, h, pl->id, pl->nident);
			decide(k, XK_PAT_IDENT, pl->ident);
			return;
		}
		if (pl->unit != 0)
			hlen = header_units(pl, h);
		if (hlen < pl->need || hlen > left)
			return;
		if (pl->leaf) {
			if (pl->keyed)
				decide(k, XK_PAT_FLOW, pl->flow);
			k->end = (uint32_t)(h - start) + hlen;
			return;
		}
		c = above(pl, h);
		h += hlen;
		left -= hlen;
	}
}

/* May b go on the run that a began: one connection, headers of one length? */
static inline bool goes_on(const struct known *a, const struct known *b, uint32_t len)
{
	return b->kind == XK_PAT_FLOW && a->kind == XK_PAT_FLOW && len >= XK_FRAME_MIN && a->end == b->end &&
	       xk_key_eq(&a->u.key, &b->u.key);
}

unsigned classify_walk_runs(const struct walk *w, const struct xk_flowtab *tab, struct xk_msg *const *m, unsigned n,
			    struct xk_run *run)
{
	struct known last = { .kind = XK_PAT_NONE }, k;
	struct runs r;

	xk_dassert(n <= CLASSIFY_BURST);
	runs_begin(&r);
	for (unsigned i = 0; i < n; i++) {
		r.flags |= m[i]->flags;
		walk(w, m[i]->data, m[i]->len, &k);
		if (goes_on(&last, &k, m[i]->len))
			continue;
		runs_add(&r, i, m[i]->len, k.kind == XK_PAT_FLOW ? &k.u.key : NULL,
			 k.kind != XK_PAT_NONE ? flow_hash(&k.u.key) : 0);
		last = k;
		if (m[i]->len < XK_FRAME_MIN)
			last.kind = XK_PAT_NONE;
	}
	return runs_say(tab, flow_table(tab), &r, m, n, run);
}

unsigned classify_runs_apart(struct xk_run *run, unsigned nruns, struct xk_msg *const *m)
{
	unsigned n = 0, at;

	for (unsigned i = 0; i < nruns; i++)
		n += run[i].n;
	at = n;
	while (nruns-- > 0)
		for (struct xk_run r = run[nruns]; r.n > 0; r.n--) {
			run[--at] = r;
			run[at].n = 1;
			run[at].plain = r.plain && !(m[at]->flags & CLASSIFY_NOT_PLAIN) && m[at]->len >= XK_FRAME_MIN;
		}
	return n;
}

void classify_runs_find(const struct xk_flowtab *tab, const struct xk_table *t, const struct runs *r, unsigned i,
			struct xk_run *run)
{
	const struct xk_key key = { { r->w0[i], r->w1[i] } };
	struct xk_flow *f = r->bare >> i & 1 ? NULL : (void *)xk_table_find(t, r->hash[i], &key);

	run->flow = f;
	run->vp = f != NULL ? xk_load_relaxed(&f->vp) : flow_home(tab, r->hash[i]);
	run->plain = f != NULL;
}

/* ---- for people --------------------------------------------------------------------------- */

static void print_steps(FILE *f, const char *word, const struct step *s, unsigned n, bool value)
{
	for (unsigned i = 0; i < n; i++) {
		fprintf(f, "    %-8s [%u:%u] & %08x", word, s[i].off, s[i].width, s[i].mask);
		fprintf(f, value ? " == %08x\n" : " -> key[%u]\n", value ? s[i].value : s[i].at);
	}
}

void classify_walk_print(const struct walk *w, FILE *f)
{
	fprintf(f, "walk over %u cells; masks and values as the bytes lie in memory\n", w->n);
	for (unsigned i = 0; i < w->n; i++) {
		const struct place *pl = &w->place[i];

		fprintf(f, "  %u: need %u\n", i, pl->need);
		print_steps(f, "guard", pl->guard, pl->nguard, true);
		print_steps(f, "key", pl->key, pl->nkey, false);
		if (pl->postpones)
			print_steps(f, "postpone", &pl->postpone, 1, true);
		print_steps(f, "ident", pl->id, pl->nident, false);
		if (!pl->leaf)
			fprintf(f, "    select   [%u:%u] & %08x\n", pl->select.off, pl->select.width, pl->select.mask);
		for (unsigned s = 0; s < SLOTS; s++)
			if (pl->slot[s].cell != XK_PAT_ABOVE)
				fprintf(f, "    %08x -> %u\n", pl->slot[s].raw, pl->slot[s].cell);
	}
}
