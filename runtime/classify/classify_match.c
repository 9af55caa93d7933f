/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_match.c - the reference matcher: what a pattern says of a frame, the obvious way.
 *
 * Rule by rule as xk_pattern.h writes them, byte by byte; used only to check the others and to
 * explain.  Invariant: no byte at or behind `len` is read.
 */
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/classify_priv.h"

static uint32_t number_at(const uint8_t *h, const struct xk_pat_field *f)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < f->width; i++)
		v = v << 8 | h[f->off + (f->little ? f->width - 1 - i : i)];
	return v & f->mask;
}

static void into_key(struct xk_flowkey *key, const uint8_t *h, const struct xk_pat_key *k, unsigned n)
{
	uint8_t *to = (uint8_t *)key;

	for (; n > 0; n--, k++)
		for (unsigned i = 0; i < k->width; i++)
			to[k->at + i] = (uint8_t)(h[k->off + i] & k->mask >> 8 * (k->width - 1 - i));
}

static bool guarded(const struct xk_cell *c, const uint8_t *h)
{
	for (unsigned i = 0; i < c->nguard; i++)
		if (number_at(h, &c->guard[i]) != c->guard[i].value)
			return false;
	return true;
}

/* The units of a length field, whatever lies below its mask. */
static uint32_t header_len(const struct xk_cell *c, const uint8_t *h)
{
	return c->has_hlen ? (number_at(h, &c->hlen) >> __builtin_ctz(c->hlen.mask)) * c->hlen.value : c->need;
}

static const struct xk_cell *cell_above(const struct xk_pattern *p, const struct xk_cell *c, uint32_t number)
{
	for (unsigned i = 0; i < c->nkid; i++)
		if (p->cell[c->kid[i]].number == number)
			return &p->cell[c->kid[i]];
	return NULL;
}

static void decide(const struct xk_pattern *p, struct xk_pat_verdict *v, enum xk_pat_kind kind, const struct xk_cell *c,
		   uint32_t selector)
{
	v->kind = (uint8_t)kind;
	v->cell = (uint16_t)(c - p->cell);
	xk_put_be32((uint8_t *)&v->key + 12, selector);
}

/* One cell with its header at h and n bytes left; the next, or NULL: v is final. */
static const struct xk_cell *visit(const struct xk_pattern *p, const struct xk_cell *c, const uint8_t *h, uint32_t n,
				   uint32_t *hlen, struct xk_pat_verdict *v)
{
	if (n < c->need || !guarded(c, h))
		return NULL;
	into_key(&v->key, h, c->key, c->nkey);
	if (c->nkey != 0)
		decide(p, v, XK_PAT_HOST, c, c->host);
	else
		v->cell = (uint16_t)(c - p->cell);
	if (c->has_postpone && number_at(h, &c->postpone) != 0) {
		into_key(&v->key, h, c->ident, c->nident);
		decide(p, v, XK_PAT_IDENT, c, c->ident_sel);
		return NULL;
	}
	*hlen = header_len(c, h);
	if (*hlen < c->need || *hlen > n)
		return NULL;
	if (xk_cell_leaf(c)) {
		if (c->keyed)
			decide(p, v, XK_PAT_FLOW, c, c->flow);
		return NULL;
	}
	return cell_above(p, c, number_at(h, &c->select));
}

void xk_pattern_match(const struct xk_pattern *p, const uint8_t *frame, uint32_t len, struct xk_pat_verdict *v)
{
	const struct xk_cell *c = p->ncell != 0 ? &p->cell[XK_PAT_ROOT] : NULL;
	uint32_t at = 0, hlen = 0;

	*v = (struct xk_pat_verdict){ .kind = XK_PAT_NONE, .cell = XK_PAT_ABOVE };
	while (c != NULL) {
		c = visit(p, c, frame + at, len - at, &hlen, v);
		at += hlen;
	}
	if (v->kind != XK_PAT_NONE)
		v->hash = xk_flow_hash(&v->key);
}

/* ---- the other way round ------------------------------------------------------------------ */

static void put_number(uint8_t *h, const struct xk_pat_field *f, uint32_t v)
{
	for (unsigned i = 0; i < f->width; i++) {
		uint8_t *b = &h[f->off + (f->little ? i : f->width - 1u - i)], mask = (uint8_t)(f->mask >> 8 * i);

		*b = (uint8_t)((*b & ~mask) | (v >> 8 * i & mask));
	}
}

/* A header of c; its length, or 0. */
static uint32_t put_header(const struct xk_cell *c, const struct xk_cell *above, const struct xk_flowkey *key, uint8_t *h,
			   uint32_t room)
{
	uint32_t units = c->has_hlen ? (c->need + c->hlen.value - 1) / c->hlen.value : 0;
	uint32_t len = c->has_hlen ? units * c->hlen.value : c->need;

	if (len > room)
		return 0;
	for (const struct xk_pat_key *k = c->key; k < c->key + c->nkey; k++)
		for (unsigned i = 0; i < k->width; i++)
			h[k->off + i] |= (uint8_t)(((const uint8_t *)key)[k->at + i] & k->mask >> 8 * (k->width - 1 - i));
	if (c->has_hlen)
		put_number(h, &c->hlen, units << __builtin_ctz(c->hlen.mask));
	if (above != NULL)
		put_number(h, &c->select, above->number);
	for (unsigned i = 0; i < c->nguard; i++)
		put_number(h, &c->guard[i], c->guard[i].value);
	return len;
}

uint32_t xk_pattern_frame(const struct xk_pattern *p, unsigned cell, const struct xk_flowkey *key, uint8_t *frame,
			  uint32_t room)
{
	uint16_t path[XK_PAT_CELLS];
	struct xk_pat_verdict v;
	uint32_t at = 0;
	unsigned n = 0;

	memset(frame, 0, room);
	for (unsigned c = cell; c != XK_PAT_ABOVE; c = p->cell[c].parent)
		path[n++] = (uint16_t)c;
	while (n-- > 0) {
		uint32_t len = put_header(&p->cell[path[n]], n > 0 ? &p->cell[path[n - 1]] : NULL, key, frame + at, room - at);

		if (len == 0 && p->cell[path[n]].need != 0)
			return 0;
		at += len;
	}
	/* Fields that share bytes may want different things of them. */
	xk_pattern_match(p, frame, at, &v);
	return v.kind == XK_PAT_FLOW && v.cell == cell && memcmp(&v.key, key, sizeof(v.key)) == 0 ? at : 0;
}
