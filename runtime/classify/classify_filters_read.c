/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_filters_read.c - reads a classic BPF program as a choice of conjunctions.
 *
 * Every way through the program to an acceptance is one conjunction of what its jumps compare.
 * That a number is not so is forgotten where the same way says what it is; a way that would
 * have to keep it, or does anything but load, mask and compare for equality, makes the program
 * none of this kind.
 * Invariant: the terms accept exactly the frames that the program accepts.
 */
#include <string.h>

#include "runtime/classify/classify_cbpf_priv.h"
#include "runtime/classify/classify_filters_priv.h"

#define STEPS 4096u              /* over all ways; more make it too long to read */
#define DEPTH 64u                /* jumps on one way */

enum value { V_OTHER, V_CONST, V_FRAME };

/* One way, up to an instruction. */
struct way {
	enum value a, x;
	uint32_t   a_const, x_const;     /* X of V_FRAME: byte with the nibble */
	struct xk_filter_cell at;        /* A of V_FRAME: where from, and mask */
	struct filter_term is;
	struct xk_filter_cell isnt[XK_FILTER_CELLS];
	unsigned   nisnt;
};

struct reader {
	const struct sock_filter *prog;
	struct filter_term *term;
	unsigned nterm, steps, depth;
	bool     none;                   /* not of this kind */
};

static int order(const struct xk_filter_cell *a, const struct xk_filter_cell *b)
{
	if (a->by_nibble != b->by_nibble)
		return a->by_nibble ? 1 : -1;
	if (a->nibble != b->nibble)
		return a->nibble < b->nibble ? -1 : 1;
	if (a->off != b->off)
		return a->off < b->off ? -1 : 1;
	if (a->width != b->width)
		return a->width < b->width ? -1 : 1;
	return a->mask == b->mask ? 0 : a->mask < b->mask ? -1 : 1;
}

bool filters_and(struct filter_term *t, const struct xk_filter_cell *c, bool *full)
{
	unsigned i = 0;

	if (c->value & ~c->mask)
		return false;
	while (i < t->n && order(&t->cell[i], c) < 0)
		i++;
	if (i < t->n && order(&t->cell[i], c) == 0)
		return t->cell[i].value == c->value;
	if (t->n == XK_FILTER_CELLS) {
		*full = true;
		return false;
	}
	memmove(&t->cell[i + 1], &t->cell[i], (t->n - i) * sizeof(*c));
	t->cell[i] = *c;
	t->n++;
	if (!c->by_nibble && c->off + c->width > t->least)
		t->least = c->off + c->width;
	if (c->by_nibble && c->nibble + 1 > t->least)
		t->least = c->nibble + 1;
	return true;
}

/* Known to differ, known to be, or not known. */
static int known(const struct filter_term *t, const struct xk_filter_cell *c)
{
	for (unsigned i = 0; i < t->n; i++)
		if (filters_same_place(&t->cell[i], c))
			return t->cell[i].value == c->value ? 1 : -1;
	return 0;
}

static void walk(struct reader *r, unsigned i, struct way w);

static void go_is(struct reader *r, unsigned to, const struct way *w, const struct xk_filter_cell *c)
{
	struct way next = *w;
	bool full = false;

	for (unsigned i = 0; i < w->nisnt; i++)
		if (filters_same_place(&w->isnt[i], c) && w->isnt[i].value == c->value)
			return;
	if (filters_and(&next.is, c, &full))
		walk(r, to, next);
	else
		r->none = r->none || full;
}

static void go_isnt(struct reader *r, unsigned to, const struct way *w, const struct xk_filter_cell *c)
{
	struct way next = *w;
	int is = known(&w->is, c);

	if (is > 0)
		return;
	if (is == 0 && (c->value & ~c->mask) == 0) {
		if (next.nisnt == XK_FILTER_CELLS) {
			r->none = true;
			return;
		}
		next.isnt[next.nisnt++] = *c;
	}
	walk(r, to, next);
}

static void jump_const(struct reader *r, unsigned i, const struct way *w)
{
	const struct sock_filter *f = &r->prog[i];
	uint32_t a = w->a_const, k = f->k;
	bool yes = BPF_OP(f->code) == BPF_JEQ ? a == k : BPF_OP(f->code) == BPF_JGT ? a > k :
		   BPF_OP(f->code) == BPF_JGE ? a >= k : (a & k) != 0;

	walk(r, i + 1 + (yes ? f->jt : f->jf), *w);
}

static void jump(struct reader *r, unsigned i, const struct way *w)
{
	const struct sock_filter *f = &r->prog[i];
	struct xk_filter_cell c = w->at;

	r->none = r->none || ++r->depth > DEPTH;
	if (f->code == (BPF_JMP | BPF_JA)) {
		walk(r, i + 1 + f->k, *w);
	} else if (f->jt == f->jf) {
		walk(r, i + 1 + f->jt, *w);
	} else if (w->a == V_CONST && BPF_SRC(f->code) == BPF_K) {
		jump_const(r, i, w);
	} else if (w->a == V_FRAME && f->code == (BPF_JMP | BPF_JEQ | BPF_K)) {
		c.value = f->k;
		go_is(r, i + 1 + f->jt, w, &c);
		go_isnt(r, i + 1 + f->jf, w, &c);
	} else if (w->a == V_FRAME && f->code == (BPF_JMP | BPF_JSET | BPF_K)) {
		c.mask &= f->k;
		c.value = 0;
		go_is(r, i + 1 + f->jf, w, &c);
		go_isnt(r, i + 1 + f->jt, w, &c);
	} else {
		r->none = true;
	}
	r->depth--;
}

static bool same_bytes(const struct xk_filter_cell *a, const struct xk_filter_cell *b)
{
	return a->off == b->off && a->width == b->width && a->by_nibble == b->by_nibble && a->nibble == b->nibble;
}

/* Without cells that only say that a number is there, where another says what it is. */
static struct filter_term lean(struct filter_term t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t.n; i++)
		if (t.cell[i].mask != 0 || i + 1 == t.n || !same_bytes(&t.cell[i], &t.cell[i + 1]))
			t.cell[n++] = t.cell[i];
	t.n = n;
	return t;
}

/* The way ends; true acceptance must not hang on what a number is not. */
static void ends(struct reader *r, const struct sock_filter *f, const struct way *w)
{
	bool by_a = f->code == (BPF_RET | BPF_A);

	if (by_a && w->a != V_CONST) {
		r->none = true;
		return;
	}
	if ((by_a ? w->a_const : f->k) == 0)
		return;
	for (unsigned i = 0; i < w->nisnt; i++)
		r->none = r->none || known(&w->is, &w->isnt[i]) == 0;
	if (r->nterm == FILTER_TERMS)
		r->none = true;
	if (!r->none)
		r->term[r->nterm++] = lean(w->is);
}

static void load(struct reader *r, const struct sock_filter *f, struct way *w)
{
	bool ind = BPF_MODE(f->code) == BPF_IND;
	uint32_t width = cbpf_size(f->code), x = ind && w->x == V_CONST ? w->x_const : 0;

	if (f->k > INT32_MAX / 4 || x > INT32_MAX / 4 || (ind && w->x == V_OTHER)) {
		r->none = true;
		return;
	}
	w->a = V_FRAME;
	w->at = (struct xk_filter_cell){ .off = f->k + x, .width = (uint8_t)width };
	w->at.mask = width == 4 ? UINT32_MAX : (1u << 8 * width) - 1;
	if (ind && w->x == V_FRAME) {
		bool full = false;
		/* The load fails where the frame is short, whatever is compared: keep it. */
		struct xk_filter_cell any = { .off = f->k, .width = (uint8_t)width, .by_nibble = true, .nibble = w->x_const };

		w->at.by_nibble = true;
		w->at.nibble = w->x_const;
		filters_and(&w->is, &any, &full);
		r->none = r->none || full;
	} else if (w->at.off + width > w->is.least) {
		w->is.least = w->at.off + width;
	}
}

/* Anything that is neither load of a frame, jump nor end. */
static void other(const struct sock_filter *f, struct way *w)
{
	if (f->code == (BPF_LD | BPF_IMM)) {
		w->a = V_CONST;
		w->a_const = f->k;
	} else if (f->code == (BPF_LDX | BPF_IMM)) {
		w->x = V_CONST;
		w->x_const = f->k;
	} else if (f->code == (BPF_ALU | BPF_AND | BPF_K) && w->a != V_OTHER) {
		w->at.mask &= f->k;
		w->a_const &= f->k;
	} else if (BPF_CLASS(f->code) == BPF_LDX || f->code == (BPF_MISC | BPF_TAX)) {
		w->x = V_OTHER;
	} else if (BPF_CLASS(f->code) == BPF_LD || BPF_CLASS(f->code) == BPF_ALU || BPF_CLASS(f->code) == BPF_MISC) {
		w->a = V_OTHER;
	}
}

static void walk(struct reader *r, unsigned i, struct way w)
{
	for (; !r->none; i++) {
		const struct sock_filter *f = &r->prog[i];

		r->none = ++r->steps > STEPS;
		if (BPF_CLASS(f->code) == BPF_JMP) {
			jump(r, i, &w);
			return;
		}
		if (BPF_CLASS(f->code) == BPF_RET) {
			ends(r, f, &w);
			return;
		}
		if (f->code == (BPF_LDX | BPF_MSH | BPF_B)) {
			r->none = r->none || f->k > INT32_MAX / 4;
			w.x = V_FRAME;
			w.x_const = f->k;
			if (f->k + 1 > w.is.least)
				w.is.least = f->k + 1;
		} else if (cbpf_reads(f->code)) {
			load(r, f, &w);
		} else if (BPF_CLASS(f->code) == BPF_ALU &&
			   (BPF_OP(f->code) == BPF_DIV || BPF_OP(f->code) == BPF_MOD) && BPF_SRC(f->code) == BPF_X) {
			r->none = true;          /* may end the program */
		} else {
			other(f, &w);
		}
	}
}

int filters_read(const struct sock_filter *prog, struct filter_term *term)
{
	struct reader r = { .prog = prog, .term = term };
	struct way w = { .a = V_CONST, .x = V_CONST };

	walk(&r, 0, w);
	return r.none ? -1 : (int)r.nterm;
}
