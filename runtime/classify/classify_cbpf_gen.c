/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_gen.c - writes a pattern down as a classic BPF program.
 *
 * Each cell becomes a stretch of code in the order of xk_pattern.h's rules, and each verdict
 * an ending that hashes the key.  Key words are put together in scratch memory as their fields
 * are met.  Where a header's length varies, what lies behind it is addressed through X, whose
 * value two words of scratch memory hold in turn; offsets that are known are not computed.
 * Every load comes behind a comparison with the frame's length, as a load out of range would
 * end the program.
 * Invariant: X holds scratch word x_is, or anything where that is M_NONE.
 */
#include "runtime/classify/classify_cbpf_priv.h"

#include <arpa/inet.h>

#include "runtime/base/xk_base.h"

#define LABELS  2048u
#define WORDS   4u               /* of a key, without its selector */

enum cbpf_form { CBPF_VP, CBPF_FULL, CBPF_FILTER };

/* Where a header begins: at add, or at the number in scratch word `base` and add more. */
struct place {
	unsigned base;           /* M_NONE: known */
	uint32_t add;
	uint32_t least;          /* it is no nearer to the frame's start */
};

/* What is known on the way to a cell. */
struct way {
	struct place here;
	uint32_t     there;      /* bytes of the frame that are surely there */
	uint8_t      filled[WORDS];      /* bytes of each key word that a field was put in */
	unsigned     hosts;      /* cell that keyed last; XK_PAT_ABOVE: none */
	unsigned     last;       /* cell passed last; XK_PAT_ABOVE: none */
	unsigned     so_far;     /* label of the verdict so far */
};

struct gen {
	struct cbpf_asm a;
	const struct xk_pattern *p;
	enum cbpf_form form;
	unsigned before, nvps, nlocal, x_is;
	const uint32_t *local;
	unsigned reject;         /* filter: label of "no" */
};

static void op(struct gen *g, unsigned code, uint32_t k)
{
	cbpf_emit(&g->a, (uint16_t)code, k);
}

static void op_x(struct gen *g, unsigned code, uint32_t k, unsigned x_is)
{
	op(g, code, k);
	g->x_is = x_is;
}

static void place(struct gen *g, unsigned label)
{
	cbpf_place(&g->a, label);
	g->x_is = M_NONE;
}

static bool is_far_back(const struct gen *g, const struct place *h, uint32_t off, unsigned width)
{
	return h->least + off + width <= g->before;
}

/* ---- loads ---------------------------------------------------------------------------------- */

static void load_x(struct gen *g, unsigned word)
{
	if (word != M_NONE && g->x_is != word)
		op_x(g, BPF_LDX | BPF_MEM, word, word);
}

/* 1, 2 or 4 bytes that lie on one side of what the program can address. */
static void load_bytes(struct gen *g, const struct place *h, uint32_t off, unsigned width)
{
	static const uint16_t size[] = { [1] = BPF_B, [2] = BPF_H, [4] = BPF_W };
	uint32_t k = h->add + off - g->before;

	if (is_far_back(g, h, off, width))
		k = (uint32_t)SKF_LL_OFF + h->add + off;
	load_x(g, h->base);
	op(g, BPF_LD | size[width] | (h->base != M_NONE ? BPF_IND : BPF_ABS), k);
}

static bool in_one(const struct gen *g, const struct place *h, uint32_t off, unsigned width)
{
	return width != 3 && (h->least + off >= g->before || is_far_back(g, h, off, width));
}

/* A number of any width and byte order into A. */
static void load(struct gen *g, const struct place *h, uint32_t off, unsigned width, bool little)
{
	if ((!little || width == 1) && in_one(g, h, off, width)) {
		load_bytes(g, h, off, width);
		return;
	}
	for (unsigned i = 0; i < width; i++) {
		load_bytes(g, h, off + (little ? width - 1 - i : i), 1);
		if (i != 0) {
			op_x(g, BPF_LDX | BPF_MEM, M_TEMP, M_NONE);
			op(g, BPF_ALU | BPF_OR | BPF_X, 0);
		}
		if (i + 1 < width) {
			op(g, BPF_ALU | BPF_LSH | BPF_K, 8);
			op(g, BPF_ST, M_TEMP);
		}
	}
}

static uint32_t ones(unsigned width)
{
	return width >= 4 ? UINT32_MAX : (1u << 8 * width) - 1;
}

static void load_masked(struct gen *g, const struct place *h, const struct xk_pat_field *f)
{
	load(g, h, f->off, f->width, f->little);
	if (f->mask != ones(f->width))
		op(g, BPF_ALU | BPF_AND | BPF_K, f->mask);
}

/* ---- lengths ---------------------------------------------------------------------------------- */

/* A: bytes of the frame behind scratch word base, or all of them but `less`. */
static void load_left(struct gen *g, const struct place *h, uint32_t less)
{
	load_x(g, h->base);
	op(g, BPF_LD | BPF_W | BPF_LEN, 0);
	if (g->before > less)
		op(g, BPF_ALU | BPF_ADD | BPF_K, g->before - less);
	else if (g->before < less)
		op(g, BPF_ALU | BPF_SUB | BPF_K, less - g->before);
	if (h->base != M_NONE)
		op(g, BPF_ALU | BPF_SUB | BPF_X, 0);
}

/* Rule 1: fewer than need bytes of the header end it here. */
static void need(struct gen *g, struct way *w, uint32_t n)
{
	const struct place *h = &w->here;

	if (n == 0)
		return;
	if (h->base != M_NONE) {
		load_left(g, h, 0);
		cbpf_jump(&g->a, BPF_JGE | BPF_K, h->add + n, CBPF_NEXT, w->so_far);
	} else if (h->add + n > w->there) {
		op(g, BPF_LD | BPF_W | BPF_LEN, 0);
		cbpf_jump(&g->a, BPF_JGE | BPF_K, h->add + n - g->before, CBPF_NEXT, w->so_far);
		w->there = h->add + n;
	}
}

/* ---- keys ------------------------------------------------------------------------------------- */

static unsigned key_word(unsigned at)
{
	return at < 8 ? at / 4 : at / 2 - 2;
}

static unsigned word_end(unsigned word)
{
	return word < 2 ? 4 * word + 4 : 2 * word + 6;
}

/* Bytes of a word as bits of a set. */
static unsigned bytes_of(const struct xk_pat_key *k)
{
	return ((1u << k->width) - 1) << (word_end(key_word(k->at)) - k->at - k->width);
}

static uint32_t mask_of(unsigned bytes)
{
	uint32_t m = 0;

	for (unsigned i = 0; i < 4; i++)
		m |= bytes & 1u << i ? 0xffu << 8 * i : 0;
	return m;
}

static void gather(struct gen *g, const struct place *h, const struct xk_pat_key *k, uint8_t *filled)
{
	unsigned word = key_word(k->at), shift = 8 * (word_end(word) - k->at - k->width), bytes = bytes_of(k);

	load(g, h, k->off, k->width, false);
	if (k->mask != ones(k->width))
		op(g, BPF_ALU | BPF_AND | BPF_K, k->mask);
	if (shift != 0)
		op(g, BPF_ALU | BPF_LSH | BPF_K, shift);
	if (filled[word] & ~bytes) {
		op(g, BPF_ST, M_TEMP);
		op(g, BPF_LD | BPF_MEM, word);
		if (filled[word] & bytes)
			op(g, BPF_ALU | BPF_AND | BPF_K, ~mask_of(bytes));
		op_x(g, BPF_LDX | BPF_MEM, M_TEMP, M_NONE);
		op(g, BPF_ALU | BPF_OR | BPF_X, 0);
	}
	op(g, BPF_ST, word);
	filled[word] |= (uint8_t)bytes;
}

/* ---- endings ------------------------------------------------------------------------------------ */

/* A: A ^ A >> n. */
static void fold(struct gen *g, unsigned n)
{
	op_x(g, BPF_MISC | BPF_TAX, 0, M_NONE);
	op(g, BPF_ALU | BPF_RSH | BPF_K, n);
	op(g, BPF_ALU | BPF_XOR | BPF_X, 0);
}

/* A: xk_hash_end of one end; false where that is 0 because nothing was filled in. */
static bool hash_end(struct gen *g, const uint8_t *filled, unsigned end)
{
	unsigned addr = XK_CBPF_RADDR + end, port = XK_CBPF_RPORT + end;

	if (filled[port]) {
		op(g, BPF_LD | BPF_MEM, port);
		op(g, BPF_ALU | BPF_MUL | BPF_K, XK_HASH_PORT);
		if (filled[addr]) {
			op_x(g, BPF_LDX | BPF_MEM, addr, addr);
			op(g, BPF_ALU | BPF_ADD | BPF_X, 0);
		}
	} else if (filled[addr]) {
		op(g, BPF_LD | BPF_MEM, addr);
	} else {
		return false;
	}
	fold(g, 15);
	op(g, BPF_ALU | BPF_MUL | BPF_K, XK_HASH_END);
	fold(g, 13);
	return true;
}

/* A: hash of a key, not yet kept from being 0. */
static void hash(struct gen *g, const uint8_t *filled, uint32_t selector)
{
	bool one = hash_end(g, filled, 0);

	if (one)
		op(g, BPF_ST, M_TEMP);
	if (!hash_end(g, filled, 1)) {
		op(g, one ? BPF_LD | BPF_MEM : BPF_LD | BPF_IMM, one ? M_TEMP : 0);
	} else if (one) {
		op_x(g, BPF_LDX | BPF_MEM, M_TEMP, M_TEMP);
		op(g, BPF_ALU | BPF_ADD | BPF_X, 0);
	}
	if (selector != 0)
		op(g, BPF_ALU | BPF_ADD | BPF_K, selector);
	fold(g, 16);
	op(g, BPF_ALU | BPF_MUL | BPF_K, XK_HASH_ALL);
	fold(g, 15);
}

static void end_full(struct gen *g, uint32_t verdict)
{
	unsigned good = cbpf_label(&g->a);

	cbpf_jump(&g->a, BPF_JEQ | BPF_K, 0, CBPF_NEXT, good);
	op(g, BPF_LD | BPF_IMM, 1);
	place(g, good);
	op(g, BPF_ST, XK_CBPF_HASH);
	op(g, BPF_RET | BPF_K, verdict);
}

/* A hash of 0 counts as 1: either is VP 0. */
static void end_vp(struct gen *g)
{
	op(g, BPF_ALU | BPF_RSH | BPF_K, 16);
	op(g, BPF_ALU | BPF_MUL | BPF_K, g->nvps);
	op(g, BPF_ALU | BPF_RSH | BPF_K, 16);
	op(g, BPF_RET | BPF_A, 0);
}

static bool wanted(const struct gen *g, enum xk_pat_kind kind, unsigned cell)
{
	bool stuck = kind == XK_PAT_NONE && cell == XK_PAT_ROOT && !xk_cell_leaf(&g->p->cell[cell]);

	return cell != XK_PAT_ABOVE && !stuck;
}

/* The verdict `kind` of cell `cell`, whose key is what w has filled. */
static void ending(struct gen *g, unsigned label, const struct way *w, enum xk_pat_kind kind, unsigned cell,
		   uint32_t selector)
{
	if (!g->a.used[label])
		return;
	place(g, label);
	if (g->form == CBPF_FILTER) {
		op(g, BPF_RET | BPF_K, wanted(g, kind, cell) ? XK_CBPF_SNAP : 0);
	} else if (kind == XK_PAT_NONE) {
		op(g, BPF_RET | BPF_K, g->form == CBPF_VP ? 0 : (uint32_t)XK_PAT_NONE << 16 | cell);
	} else {
		hash(g, w->filled, selector);
		if (g->form == CBPF_VP)
			end_vp(g);
		else
			end_full(g, (uint32_t)kind << 16 | cell);
	}
}

static void ending_so_far(struct gen *g, const struct way *w)
{
	if (w->hosts == XK_PAT_ABOVE)
		ending(g, w->so_far, w, XK_PAT_NONE, w->last, 0);
	else
		ending(g, w->so_far, w, XK_PAT_HOST, w->last, g->p->cell[w->hosts].host);
}

/* ---- cells ---------------------------------------------------------------------------------------- */

static void guards(struct gen *g, const struct way *w, const struct xk_cell *c)
{
	for (unsigned i = 0; i < c->nguard; i++) {
		load_masked(g, &w->here, &c->guard[i]);
		cbpf_jump(&g->a, BPF_JEQ | BPF_K, c->guard[i].value, CBPF_NEXT, w->so_far);
	}
}

/* A filter with local addresses: a frame for none of them is not wanted. */
static void only_local(struct gen *g, const struct way *before, const struct way *w)
{
	unsigned ours = cbpf_label(&g->a);

	if (g->nlocal == 0 || before->filled[XK_CBPF_LADDR] == 15 || w->filled[XK_CBPF_LADDR] != 15)
		return;
	op(g, BPF_LD | BPF_MEM, XK_CBPF_LADDR);
	for (unsigned i = 0; i < g->nlocal; i++)
		cbpf_jump(&g->a, BPF_JEQ | BPF_K, ntohl(g->local[i]), ours,
			  i + 1 < g->nlocal ? CBPF_NEXT : g->reject);
	place(g, ours);
}

static void keys(struct gen *g, struct way *w, const struct xk_cell *c, unsigned cell)
{
	struct way before = *w;

	for (unsigned i = 0; i < c->nkey; i++)
		gather(g, &w->here, &c->key[i], w->filled);
	w->last = cell;
	if (c->nkey != 0)
		w->hosts = cell;
	w->so_far = cbpf_label(&g->a);
	if (g->form == CBPF_FILTER)
		only_local(g, &before, w);
}

/* Rule 3: the way to a datagram's ending, if any. */
static unsigned postpone(struct gen *g, const struct way *w, const struct xk_cell *c)
{
	unsigned ident = cbpf_label(&g->a);

	if (!c->has_postpone)
		return ident;
	load(g, &w->here, c->postpone.off, c->postpone.width, c->postpone.little);
	cbpf_jump(&g->a, BPF_JSET | BPF_K, c->postpone.mask, ident, CBPF_NEXT);
	return ident;
}

static void ending_ident(struct gen *g, unsigned label, const struct way *w, const struct xk_cell *c, unsigned cell)
{
	struct way at = *w;

	if (!g->a.used[label])
		return;
	place(g, label);
	for (unsigned i = 0; i < c->nident; i++)
		gather(g, &at.here, &c->ident[i], at.filled);
	label = cbpf_label(&g->a);
	cbpf_jump(&g->a, BPF_JA, 0, label, label);
	ending(g, label, &at, XK_PAT_IDENT, cell, c->ident_sel);
}

/* Rule 4.  Leaves X and scratch as they must be for the header above, at *above. */
static void header_len(struct gen *g, struct way *w, const struct xk_cell *c, struct place *above)
{
	const struct place *h = &w->here;

	*above = *h;
	above->least += c->need;
	if (!c->has_hlen) {
		above->add += c->need;
		return;
	}
	load_masked(g, h, &c->hlen);
	if (__builtin_ctz(c->hlen.mask) != 0)
		op(g, BPF_ALU | BPF_RSH | BPF_K, (uint32_t)__builtin_ctz(c->hlen.mask));
	if (c->hlen.value != 1)
		op(g, BPF_ALU | BPF_MUL | BPF_K, c->hlen.value);
	if (c->need != 0)
		cbpf_jump(&g->a, BPF_JGE | BPF_K, c->need, CBPF_NEXT, w->so_far);
	op(g, BPF_ST, M_HLEN);
	load_left(g, h, h->add);
	op_x(g, BPF_LDX | BPF_MEM, M_HLEN, M_NONE);
	cbpf_jump(&g->a, BPF_JGE | BPF_X, 0, CBPF_NEXT, w->so_far);
	if (xk_cell_leaf(c))
		return;
	above->base = h->base == M_BASE0 ? M_BASE1 : M_BASE0;
	if (h->base != M_NONE) {
		op(g, BPF_LD | BPF_MEM, h->base);
		op(g, BPF_ALU | BPF_ADD | BPF_X, 0);
		op(g, BPF_ST, above->base);
	} else {
		op(g, BPF_STX, above->base);
		g->x_is = above->base;
	}
}

/* Rule 6: from the number in A to the label of a cell above, by halves where they are many. */
static void branch(struct gen *g, const uint16_t *kid, const unsigned *label, unsigned n, unsigned none)
{
	unsigned half = n / 2, right;

	if (n <= 3) {
		for (unsigned i = 0; i < n; i++)
			cbpf_jump(&g->a, BPF_JEQ | BPF_K, g->p->cell[kid[i]].number, label[i],
				  i + 1 < n ? CBPF_NEXT : none);
		return;
	}
	right = cbpf_label(&g->a);
	cbpf_jump(&g->a, BPF_JGE | BPF_K, g->p->cell[kid[half]].number, right, CBPF_NEXT);
	branch(g, kid, label, half, none);
	cbpf_place(&g->a, right);
	branch(g, kid + half, label + half, n - half, none);
}

static void cell(struct gen *g, unsigned i, struct way w);

static void above(struct gen *g, const struct xk_cell *c, const struct way *w, const struct place *at)
{
	unsigned label[XK_PAT_KIDS], x_is;

	load_masked(g, &w->here, &c->select);
	x_is = g->x_is;
	for (unsigned i = 0; i < c->nkid; i++)
		label[i] = cbpf_label(&g->a);
	if (c->nkid == 0)
		cbpf_jump(&g->a, BPF_JA, 0, w->so_far, w->so_far);
	else
		branch(g, c->kid, label, c->nkid, w->so_far);
	for (unsigned i = 0; i < c->nkid; i++) {
		struct way up = *w;

		up.here = *at;
		cbpf_place(&g->a, label[i]);
		g->x_is = x_is;
		cell(g, c->kid[i], up);
	}
}

static void leaf(struct gen *g, const struct xk_cell *c, const struct way *w, unsigned i)
{
	unsigned flow = cbpf_label(&g->a), to = c->keyed ? flow : w->so_far;

	cbpf_jump(&g->a, BPF_JA, 0, to, to);
	ending(g, flow, w, XK_PAT_FLOW, i, c->flow);
}

static void cell(struct gen *g, unsigned i, struct way w)
{
	const struct xk_cell *c = &g->p->cell[i];
	struct place at;
	unsigned ident;

	need(g, &w, c->need);
	guards(g, &w, c);
	keys(g, &w, c, i);
	ident = postpone(g, &w, c);
	header_len(g, &w, c, &at);
	if (xk_cell_leaf(c))
		leaf(g, c, &w, i);
	else
		above(g, c, &w, &at);
	ending_ident(g, ident, &w, c, i);
	ending_so_far(g, &w);
}

static int generate(struct gen *g, struct sock_filter *prog, unsigned max)
{
	struct way w = { .here = { .base = M_NONE }, .there = g->before, .hosts = XK_PAT_ABOVE, .last = XK_PAT_ABOVE };
	int err = cbpf_asm_init(&g->a, LABELS);

	if (err != XK_OK)
		return err;
	g->x_is = M_NONE;
	w.so_far = cbpf_label(&g->a);
	g->reject = cbpf_label(&g->a);
	if (g->p->ncell != 0)
		cell(g, XK_PAT_ROOT, w);
	else
		cbpf_jump(&g->a, BPF_JA, 0, w.so_far, w.so_far);
	ending_so_far(g, &w);
	if (g->a.used[g->reject]) {
		place(g, g->reject);
		op(g, BPF_RET | BPF_K, 0);
	}
	err = cbpf_assemble(&g->a, prog, max);
	cbpf_asm_fini(&g->a);
	return err;
}

int xk_pattern_cbpf_vp(const struct xk_pattern *p, unsigned nvps, unsigned before, struct sock_filter *prog,
		       unsigned max)
{
	struct gen g = { .p = p, .form = CBPF_VP, .nvps = nvps, .before = before };

	return nvps != 0 && nvps <= UINT16_MAX ? generate(&g, prog, max) : XK_E_INVAL;
}

int xk_pattern_cbpf_full(const struct xk_pattern *p, struct sock_filter *prog, unsigned max)
{
	struct gen g = { .p = p, .form = CBPF_FULL };

	return generate(&g, prog, max);
}

int xk_pattern_cbpf_filter(const struct xk_pattern *p, const uint32_t *local, unsigned nlocal, unsigned before,
			   struct sock_filter *prog, unsigned max)
{
	struct gen g = { .p = p, .form = CBPF_FILTER, .before = before, .local = local, .nlocal = nlocal };

	return generate(&g, prog, max);
}
