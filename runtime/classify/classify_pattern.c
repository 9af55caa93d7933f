/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_pattern.c - makes the pattern graph out of declarations, a cell at a time.
 *
 * A key's 12 bytes are given out in the order in which headers and fields come, 6 for each
 * end, so IPv4 addresses and ports lie as struct xk_flowkey has them.  What can't be laid
 * out, or says two things at once, is refused here with a sentence: no back end checks again.
 * Invariant: every cell below ncell satisfies what xk_pattern.h says of its fields.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_errs.h"
#include "runtime/classify/classify_priv.h"

#define END_BYTES   6u
#define ADDR_BYTES  4u
#define OFF_MAX     256u         /* headers that decide anything are short */
#define IDENT_SEL   1u           /* selector of a datagram's identity; no protocol's is so small */

struct maker {
	struct xk_pattern *p;
	struct xk_cell    *c;
	const struct xk_demux *d;
	unsigned used[2];        /* bytes of each end's key: remote, local */
	char    *why;
	size_t   n;
};

static __attribute__((format(printf, 3, 4))) int refuse(const struct maker *m, int err, const char *fmt, ...)
{
	va_list ap;
	int at;

	at = snprintf(m->why, m->n, "%s (%s): ", m->c->name, m->c->proto);
	va_start(ap, fmt);
	if (at >= 0 && (size_t)at < m->n)
		vsnprintf(m->why + at, m->n - (size_t)at, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- fields ------------------------------------------------------------------------------- */

static uint32_t all_ones(unsigned width)
{
	return width >= 4 ? UINT32_MAX : (1u << 8 * width) - 1;
}

static bool is_key(unsigned role)
{
	return role == XK_DX_REMOTE || role == XK_DX_LOCAL;
}

static int field_fits(const struct maker *m, const struct xk_demux_field *f)
{
	unsigned role = f->role & ~(unsigned)XK_DX_LITTLE;
	unsigned most = is_key(role) && f->mask == 0 ? END_BYTES : 4;

	if (f->width == 0 || f->width > most)
		return refuse(m, XK_E_INVAL, "a field at byte %u has %u bytes: 1 to %u", f->off, f->width, most);
	if ((unsigned)f->off + f->width > m->d->need)
		return refuse(m, XK_E_INVAL, "a field at byte %u ends behind the %u bytes that must be there", f->off,
			      m->d->need);
	if (f->width < 4 && f->mask > all_ones(f->width))
		return refuse(m, XK_E_INVAL, "mask %#x is wider than its field at byte %u", f->mask, f->off);
	if ((f->role & XK_DX_LITTLE) && (is_key(role) || role == XK_DX_IDENT))
		return refuse(m, XK_E_INVAL, "the key at byte %u has no byte order", f->off);
	return XK_OK;
}

static struct xk_pat_field number_of(const struct xk_demux_field *f)
{
	return (struct xk_pat_field){ .off = f->off, .width = f->width, .little = (f->role & XK_DX_LITTLE) != 0,
		.mask = f->mask != 0 ? f->mask : all_ones(f->width), .value = f->value };
}

static int add_guard(struct maker *m, const struct xk_demux_field *f)
{
	struct xk_pat_field g = number_of(f);

	if (g.value & ~g.mask)
		return refuse(m, XK_E_INVAL, "no header's byte %u can be %#x under mask %#x", f->off, g.value, g.mask);
	for (unsigned i = 0; i < m->c->nguard; i++) {
		const struct xk_pat_field *o = &m->c->guard[i];

		if (o->off == g.off && o->width == g.width && o->little == g.little &&
		    ((o->value ^ g.value) & o->mask & g.mask))
			return refuse(m, XK_E_INVAL, "two guards at byte %u that can't both hold", f->off);
	}
	if (m->c->nguard == XK_PAT_GUARDS)
		return refuse(m, XK_E_NOSPC, "more than %u guards", XK_PAT_GUARDS);
	m->c->guard[m->c->nguard++] = g;
	return XK_OK;
}

/* The next bytes of an end's key, cut where its members meet. */
static int add_key(struct maker *m, const struct xk_demux_field *f, unsigned end)
{
	unsigned done = 0;

	if (m->used[end] + f->width > END_BYTES)
		return refuse(m, XK_E_NOSPC, "its %s key has more than the %u bytes that an end may have",
			      end == 0 ? "remote" : "local", END_BYTES);
	while (done < f->width) {
		unsigned at = m->used[end], n = f->width - done;
		struct xk_pat_key *k = &m->c->key[m->c->nkey];

		if (at < ADDR_BYTES && at + n > ADDR_BYTES)
			n = ADDR_BYTES - at;
		if (m->c->nkey == XK_PAT_KEYS)
			return refuse(m, XK_E_NOSPC, "more than %u fields in its key", XK_PAT_KEYS);
		*k = (struct xk_pat_key){ .off = (uint16_t)(f->off + done), .width = (uint8_t)n };
		k->at = (uint8_t)(at < ADDR_BYTES ? end * ADDR_BYTES + at : 8 + end * 2 + (at - ADDR_BYTES));
		k->mask = f->mask == 0 ? all_ones(n) : f->mask >> 8 * (f->width - done - n) & all_ones(n);
		if (k->mask != 0)
			m->c->nkey++;
		m->used[end] += n;
		done += n;
	}
	return XK_OK;
}

/* Identity lies where ports would. */
static int add_ident(struct maker *m, const struct xk_demux_field *f)
{
	unsigned at = 8, n;
	struct xk_pat_key *k;

	for (unsigned i = 0; i < m->c->nident; i++)
		at = m->c->ident[i].at + m->c->ident[i].width;
	n = f->width;
	if (at + n > 12 || (at < 10 && at + n > 10))
		return refuse(m, XK_E_NOSPC, "its identity has more than two times 2 bytes");
	k = &m->c->ident[m->c->nident++];
	*k = (struct xk_pat_key){ .off = f->off, .width = f->width, .at = (uint8_t)at,
		.mask = f->mask != 0 ? f->mask : all_ones(f->width) };
	return XK_OK;
}

static int only_one(struct maker *m, const struct xk_demux_field *f, bool *has, struct xk_pat_field *to)
{
	if (*has)
		return refuse(m, XK_E_INVAL, "a second field at byte %u says what one has said", f->off);
	*has = true;
	*to = number_of(f);
	return XK_OK;
}

static int add_field(struct maker *m, const struct xk_demux_field *f)
{
	struct xk_cell *c = m->c;
	int err = field_fits(m, f);

	if (err != XK_OK)
		return err;
	switch (f->role & ~(unsigned)XK_DX_LITTLE) {
	case XK_DX_GUARD:    return add_guard(m, f);
	case XK_DX_REMOTE:   return add_key(m, f, 0);
	case XK_DX_LOCAL:    return add_key(m, f, 1);
	case XK_DX_IDENT:    return add_ident(m, f);
	case XK_DX_SELECT:   return only_one(m, f, &c->has_select, &c->select);
	case XK_DX_POSTPONE: return only_one(m, f, &c->has_postpone, &c->postpone);
	case XK_DX_HLEN:
		if (f->value == 0 || f->value > 8)
			return refuse(m, XK_E_INVAL, "a header's length comes in units of 1 to 8 bytes, not %u", f->value);
		return only_one(m, f, &c->has_hlen, &c->hlen);
	}
	return refuse(m, XK_E_INVAL, "a field at byte %u has no role", f->off);
}

/* ---- cells ---------------------------------------------------------------------------------- */

/* Bytes of each end's key that the cells below have taken. */
static void key_used(const struct xk_pattern *p, unsigned parent, unsigned used[2])
{
	used[0] = used[1] = 0;
	for (unsigned i = parent; i != XK_PAT_ABOVE; i = p->cell[i].parent)
		for (unsigned k = 0; k < p->cell[i].nkey; k++) {
			const struct xk_pat_key *y = &p->cell[i].key[k];
			unsigned end = y->at < 8 ? y->at / ADDR_BYTES : (y->at - 8u) / 2;
			unsigned to = y->at < 8 ? y->at % ADDR_BYTES : ADDR_BYTES + y->at % 2;

			if (to + y->width > used[end])
				used[end] = to + y->width;
		}
}

static int read_fields(struct maker *m)
{
	int err = XK_OK;

	if (m->d->need > OFF_MAX)
		return refuse(m, XK_E_INVAL, "%u bytes that must be there: at most %u", m->d->need, OFF_MAX);
	for (const struct xk_demux_field *f = m->d->field; err == XK_OK && f != NULL && f->role != XK_DX_END; f++)
		err = add_field(m, f);
	if (err != XK_OK)
		return err;
	if (m->c->has_postpone != (m->c->nident != 0))
		return refuse(m, XK_E_INVAL, "a postponed message needs an identity, and an identity a reason to postpone");
	if (m->d->elsewhere != NULL)
		m->c->has_select = false;
	m->c->keyed = m->c->nkey != 0 || (m->c->parent != XK_PAT_ABOVE && m->p->cell[m->c->parent].keyed);
	return XK_OK;
}

/* The number that led here tells protocols apart in keys. */
static int make_selector(struct maker *m, const struct xk_cell *below)
{
	struct xk_cell *c = m->c;

	if (below == NULL || !below->has_select || !c->keyed)
		return XK_OK;
	if (c->number > UINT16_MAX)
		return refuse(m, XK_E_NOSPC, "its number %#x has more than the 2 bytes that a key has room for", c->number);
	c->flow = below->select.width == 1 ? c->number << 24 : c->number << 8;
	for (unsigned i = 0; xk_cell_leaf(c) && i < m->p->ncell; i++)
		if (xk_cell_leaf(&m->p->cell[i]) && m->p->cell[i].keyed && m->p->cell[i].flow == c->flow)
			return refuse(m, XK_E_NOSPC, "its connections look like those of %s", m->p->cell[i].name);
	return XK_OK;
}

static int check_place(struct maker *m, const struct xk_cell *below, uint32_t number)
{
	if (below == NULL)
		return m->p->ncell == 0 ? XK_OK : refuse(m, XK_E_EXIST, "a device has one protocol above it");
	if (below->has_select && (number & ~below->select.mask))
		return refuse(m, XK_E_INVAL, "no header of %s can say %#x", below->name, number);
	if (below->nkid == XK_PAT_KIDS)
		return refuse(m, XK_E_NOSPC, "more than %u protocols above %s", XK_PAT_KIDS, below->name);
	for (unsigned i = 0; i < below->nkid; i++)
		if (m->p->cell[below->kid[i]].number == number)
			return refuse(m, XK_E_EXIST, "its number %#x is that of %s", number, m->p->cell[below->kid[i]].name);
	return XK_OK;
}

static void hang(struct xk_pattern *p, struct xk_cell *below, unsigned me)
{
	unsigned i = below->nkid++;

	for (; i > 0 && p->cell[below->kid[i - 1]].number > p->cell[me].number; i--)
		below->kid[i] = below->kid[i - 1];
	below->kid[i] = (uint16_t)me;
}

int xk_pattern_add(struct xk_pattern *p, unsigned parent, uint32_t number, const char *name, const char *proto,
		   const struct xk_demux *d, char *why, size_t whylen)
{
	static const struct xk_demux nothing;
	struct maker m = { .p = p, .d = d != NULL ? d : &nothing, .why = why, .n = whylen };
	struct xk_cell *below = parent != XK_PAT_ABOVE ? &p->cell[parent] : NULL;
	struct xk_cell c = { .name = name, .proto = proto, .parent = (uint16_t)parent, .number = number,
		.elsewhere = m.d->elsewhere, .need = m.d->need, .ident_sel = IDENT_SEL };
	int err;

	xk_assert(below == NULL || parent < p->ncell);
	m.c = &c;
	key_used(p, parent, m.used);
	err = check_place(&m, below, number);
	if (err == XK_OK)
		err = read_fields(&m);
	if (err == XK_OK)
		err = make_selector(&m, below);
	if (err != XK_OK)
		return err;
	if (p->ncell == XK_PAT_CELLS)
		return refuse(&m, XK_E_NOSPC, "more than %u protocols in one place above a device", XK_PAT_CELLS);
	p->cell[p->ncell] = c;
	if (below != NULL)
		hang(p, below, p->ncell);
	return (int)p->ncell++;
}
