/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_window.c - which bytes of a frame may decide about it, and so lie in its slot.
 *
 * Most headers have their least lengths, so a slot has what those need, in whole cache lines; a
 * frame whose headers lead further is the reference matcher's.
 * Invariant: no cell of headers of their least lengths looks at a byte outside the window.
 */
#include "runtime/classify/classify_ebpf.h"

static unsigned max2(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned field_end(const struct xk_pat_field *f, bool has)
{
	return has ? (unsigned)f->off + f->width : 0;
}

/* Bytes of its header that a cell looks at. */
static unsigned looks_at(const struct xk_cell *c)
{
	unsigned n = max2(field_end(&c->postpone, c->has_postpone), field_end(&c->hlen, c->has_hlen));

	n = max2(n, field_end(&c->select, c->has_select));
	for (unsigned i = 0; i < c->nguard; i++)
		n = max2(n, field_end(&c->guard[i], true));
	for (unsigned i = 0; i < c->nkey; i++)
		n = max2(n, (unsigned)c->key[i].off + c->key[i].width);
	for (unsigned i = 0; i < c->nident; i++)
		n = max2(n, (unsigned)c->ident[i].off + c->ident[i].width);
	return n;
}

uint64_t ebpf_hlen_most(const struct xk_cell *c)
{
	return c->has_hlen ? (uint64_t)(c->hlen.mask >> __builtin_ctz(c->hlen.mask)) * c->hlen.value : c->need;
}

static uint64_t looks_to(const struct xk_pattern *p, const struct xk_cell *c, uint64_t at)
{
	uint64_t to = at + looks_at(c);

	for (unsigned i = 0; i < c->nkid; i++) {
		uint64_t kid = looks_to(p, &p->cell[c->kid[i]], at + ebpf_hlen_most(c));

		to = kid > to ? kid : to;
	}
	return to;
}

/* Up to the next header whose place is not known beforehand. */
unsigned ebpf_reach(const struct xk_pattern *p, const struct xk_cell *c)
{
	unsigned to = looks_at(c);

	for (unsigned i = 0; i < c->nkid && !c->has_hlen; i++)
		to = max2(to, c->need + ebpf_reach(p, &p->cell[c->kid[i]]));
	return to;
}

/* The same when every header has its least length. */
static unsigned looks_to_least(const struct xk_pattern *p, const struct xk_cell *c, unsigned at)
{
	unsigned to = at + looks_at(c);

	for (unsigned i = 0; i < c->nkid; i++)
		to = max2(to, looks_to_least(p, &p->cell[c->kid[i]], at + c->need));
	return to;
}

/* The first byte that may be looked at, one that can be loaded from in words. */
static unsigned looks_from(const struct xk_cell *c)
{
	unsigned from = c->need;

	for (unsigned i = 0; i < c->nguard; i++)
		from = min2(from, c->guard[i].off);
	for (unsigned i = 0; i < c->nkey; i++)
		from = min2(from, c->key[i].off);
	for (unsigned i = 0; i < c->nident; i++)
		from = min2(from, c->ident[i].off);
	from = c->has_postpone ? min2(from, c->postpone.off) : from;
	from = c->has_hlen ? min2(from, c->hlen.off) : from;
	return (c->has_select ? min2(from, c->select.off) : from) & ~3u;
}

struct ebpf_window ebpf_window(const struct xk_pattern *p)
{
	struct ebpf_window w = { .bytes = EBPF_LINE - sizeof(struct xk_ebpf_slot) };
	unsigned to = 0;

	if (p->ncell == 0)
		return w;
	w.skip = looks_from(&p->cell[XK_PAT_ROOT]);
	to = looks_to_least(p, &p->cell[XK_PAT_ROOT], 0);
	for (unsigned i = 0; i < p->ncell; i++)
		to = max2(to, ebpf_reach(p, &p->cell[i]));
	while (w.skip + w.bytes < to)
		w.bytes += EBPF_LINE;
	w.bounded = looks_to(p, &p->cell[XK_PAT_ROOT], 0) > w.skip + w.bytes;
	return w;
}
