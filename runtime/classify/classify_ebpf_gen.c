/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_gen.c - the walk over a pattern's cells as eBPF instructions.
 *
 * Every cell is code of its own, as cells form a tree: at each place it is known which verdict
 * holds so far, so a check that fails is one jump to where that verdict is written.  A base
 * register moves only behind headers of variable length; what is fixed is in the offsets.
 * Numbers that are only compared are compared as they lie in memory, with constants turned round
 * instead.  Key bytes that follow each other in header and key are moved together.
 *
 * R6 base, R7 bytes left (SLOT) or base's offset (SKB), R8 and R9 the caller's, R3 and R4 when
 * headers may leave the slot (ebpf_gen.bounded), R0 to R2 scratch.  Where headers have their
 * plain lengths classify_ebpf_plain.c reads and gathers with another base.
 * Invariant: no byte is read before a check that the frame has it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/classify/classify_priv.h"
#include "runtime/mem/xk_alloc.h"

#define HLEN_MOST  0x2000u           /* of a header, in programs where the verifier wants a bound */
#define LINEAR     4u                /* cells above that are tried one after the other */
#define KEY_BYTES  12u
#define NOWHERE    (-1)

struct at {                              /* where the walk stands */
	const struct xk_cell *c;
	unsigned disp;               /* of this header from base */
	unsigned far;                /* end to go to when a check fails */
};

/* ---- ends --------------------------------------------------------------------------------------- */

static unsigned end_new(struct ebpf_gen *g, unsigned kind, unsigned cell, uint32_t selector)
{
	struct ebpf_end *e = &g->end[g->nend];

	*e = (struct ebpf_end){ .label = ebpf_label(&g->a), .kind = (uint8_t)kind, .cell = (uint16_t)cell,
		.selector = selector };
	return g->nend++;
}

static unsigned end_label(struct ebpf_gen *g, unsigned end)
{
	g->end[end].used = true;
	return g->end[end].label;
}

/* The verdict so far, once a cell's keys are gathered. */
static unsigned end_so_far(struct ebpf_gen *g, const struct at *w)
{
	unsigned cell = (unsigned)(w->c - g->p->cell);

	if (w->c->nkey != 0)
		return end_new(g, XK_PAT_HOST, cell, w->c->host);
	return end_new(g, g->end[w->far].kind, cell, g->end[w->far].selector);
}

/* ---- bytes of a header ---------------------------------------------------------------------------- */

/* dst = the bytes as the machine reads them; spoils R2. */
static void load_raw(struct ebpf_gen *g, const struct at *w, unsigned size, uint8_t dst, unsigned off)
{
	if (g->bytes != EBPF_SKB) {
		ebpf_load(&g->a, size, dst, g->base, g->base_off + (int)(w->disp + off));
		return;
	}
	if (off % size == 0) {
		ebpf_load(&g->a, size, dst, BPF_REG_10, EBPF_STACK_HEADER + (int)off);
		return;
	}
	for (unsigned i = 0; i < size; i++) {    /* the stack wants aligned accesses */
		unsigned order = __BYTE_ORDER == __LITTLE_ENDIAN ? i : size - 1 - i;

		ebpf_load(&g->a, 1, i == 0 ? dst : BPF_REG_2, BPF_REG_10, EBPF_STACK_HEADER + (int)(off + i));
		if (order != 0)
			ebpf_alu32_imm(&g->a, BPF_LSH, i == 0 ? dst : BPF_REG_2, 8 * order);
		if (i != 0)
			ebpf_alu32(&g->a, BPF_OR, dst, BPF_REG_2);
	}
}

/* dst = three bytes as a number; spoils R2. */
static void load_three(struct ebpf_gen *g, const struct at *w, uint8_t dst, const struct xk_pat_field *f)
{
	for (unsigned i = 0; i < 3; i++) {
		unsigned off = f->off + (f->little ? 2 - i : i);

		load_raw(g, w, 1, i == 0 ? dst : BPF_REG_2, off);
		if (i != 0) {
			ebpf_alu32_imm(&g->a, BPF_LSH, dst, 8);
			ebpf_alu32(&g->a, BPF_OR, dst, BPF_REG_2);
		}
	}
}

/* dst = a field to be compared with what cooked() makes of constants. */
static void load_cooked(struct ebpf_gen *g, const struct at *w, uint8_t dst, const struct xk_pat_field *f)
{
	if (f->width == 3)
		load_three(g, w, dst, f);
	else
		load_raw(g, w, f->width, dst, f->off);
}

static uint32_t cooked(const struct xk_pat_field *f, uint32_t v)
{
	uint8_t b[4] = { 0 };
	uint16_t half;
	uint32_t word;

	for (unsigned i = 0; i < f->width; i++)
		b[i] = (uint8_t)(v >> 8 * (f->little ? i : f->width - 1u - i));
	memcpy(&half, b, sizeof(half));
	memcpy(&word, b, sizeof(word));
	switch (f->width) {
	case 1:  return b[0];
	case 2:  return half;
	case 4:  return word;
	default: return v;
	}
}

static bool sees_all(const struct xk_pat_field *f)
{
	return f->mask == (f->width == 4 ? UINT32_MAX : (1u << 8 * f->width) - 1);
}

static void load_masked(struct ebpf_gen *g, const struct at *w, uint8_t dst, const struct xk_pat_field *f)
{
	load_cooked(g, w, dst, f);
	if (!sees_all(f))
		ebpf_alu32_imm(&g->a, BPF_AND, dst, cooked(f, f->mask));
}

uint32_t ebpf_field(struct ebpf_gen *g, unsigned disp, uint8_t dst, const struct xk_pat_field *f, uint32_t v,
		    bool load)
{
	if (load)
		load_masked(g, &(struct at){ .disp = disp }, dst, f);
	return cooked(f, v);
}

/* R0 = the header's length; as the reference, in 32 bits. */
static void load_hlen(struct ebpf_gen *g, const struct at *w)
{
	const struct xk_pat_field *f = &w->c->hlen;
	unsigned shift = (unsigned)__builtin_ctz(f->mask);

	load_cooked(g, w, BPF_REG_0, f);
	if (f->width == 2 || f->width == 4)
		ebpf_swap(&g->a, BPF_REG_0, 8u * f->width, f->little);
	if (!sees_all(f) || f->width != 1)       /* the verifier forgets what it knew of swapped bytes */
		ebpf_alu32_imm(&g->a, BPF_AND, BPF_REG_0, f->mask);
	if (shift != 0)
		ebpf_alu32_imm(&g->a, BPF_RSH, BPF_REG_0, shift);
	if (f->value != 1)
		ebpf_alu32_imm(&g->a, BPF_MUL, BPF_REG_0, f->value);
}

/* ---- checks that bytes are there -------------------------------------------------------------------- */

/* n bytes of the socket buffer, `disp` (and R0, where var) behind base, to `to` on the stack. */
static void skb_load(struct ebpf_gen *g, unsigned disp, bool var, int to, unsigned n, unsigned end)
{
	struct ebpf_asm *a = &g->a;

	ebpf_alu(a, BPF_MOV, BPF_REG_1, BPF_REG_9);
	ebpf_alu(a, BPF_MOV, BPF_REG_2, BPF_REG_7);
	if (disp != 0)
		ebpf_alu_imm(a, BPF_ADD, BPF_REG_2, (int32_t)disp);
	if (var)
		ebpf_alu(a, BPF_ADD, BPF_REG_2, BPF_REG_0);
	ebpf_alu(a, BPF_MOV, BPF_REG_3, BPF_REG_10);
	ebpf_alu_imm(a, BPF_ADD, BPF_REG_3, to);
	ebpf_alu_imm(a, BPF_MOV, BPF_REG_4, (int32_t)n);
	ebpf_alu_imm(a, BPF_MOV, BPF_REG_5, BPF_HDR_START_MAC);
	ebpf_call(a, BPF_FUNC_skb_load_bytes_relative);
	ebpf_if_imm(a, BPF_JNE, BPF_REG_0, 0, end_label(g, end));
}

static void check_there(struct ebpf_gen *g, const struct at *w)
{
	struct ebpf_asm *a = &g->a;

	switch (g->bytes) {
	case EBPF_SLOT:
		if (w->c->need != 0)
			ebpf_if_imm(a, BPF_JLT, BPF_REG_7, w->disp + w->c->need, end_label(g, w->far));
		break;
	case EBPF_PACKET:
		ebpf_alu(a, BPF_MOV, BPF_REG_3, BPF_REG_6);
		ebpf_alu_imm(a, BPF_ADD, BPF_REG_3, (int32_t)(w->disp + w->c->need));
		ebpf_if_ptr(a, BPF_JGT, BPF_REG_3, BPF_REG_8, end_label(g, w->far));
		break;
	case EBPF_SKB:
		if (w->c->need != 0)
			skb_load(g, w->disp, false, EBPF_STACK_HEADER, w->c->need, w->far);
		break;
	}
}

static bool some_kid_needs_nothing(const struct ebpf_gen *g, const struct xk_cell *c)
{
	for (unsigned i = 0; i < c->nkid; i++)
		if (g->p->cell[c->kid[i]].need == 0)
			return true;
	return false;
}

/* Header's length R0: the frame is as long.  The checks of cells above say so too, except in a
 * socket buffer, where a cell that needs nothing checks nothing. */
static void check_hlen_skb(struct ebpf_gen *g, const struct at *w)
{
	unsigned none = ebpf_label(&g->a);

	if (!xk_cell_leaf(w->c) && !some_kid_needs_nothing(g, w->c))
		return;
	ebpf_alu(&g->a, BPF_MOV, BPF_REG_6, BPF_REG_0);
	ebpf_if_imm(&g->a, BPF_JEQ, BPF_REG_0, 0, none);
	ebpf_alu_imm(&g->a, BPF_ADD, BPF_REG_0, -1);
	skb_load(g, w->disp, true, EBPF_STACK_BYTE, 1, w->far);
	ebpf_here(&g->a, none);
	ebpf_alu(&g->a, BPF_MOV, BPF_REG_0, BPF_REG_6);
}

/* Where a header of R0 bytes ends is within the frame; R0 = that, from base. */
static void check_hlen(struct ebpf_gen *g, const struct at *w)
{
	struct ebpf_asm *a = &g->a;

	if (w->c->need != 0)
		ebpf_if_imm(a, BPF_JLT, BPF_REG_0, w->c->need, end_label(g, w->far));
	if (g->bytes != EBPF_SLOT && ebpf_hlen_most(w->c) > HLEN_MOST)
		ebpf_if_imm(a, BPF_JGT, BPF_REG_0, HLEN_MOST, end_label(g, w->far));
	if (g->bytes == EBPF_SKB)
		check_hlen_skb(g, w);
	if (w->disp != 0)
		ebpf_alu_imm(a, BPF_ADD, BPF_REG_0, (int32_t)w->disp);
	if (g->bytes == EBPF_SLOT)
		ebpf_if_ptr(a, BPF_JGT, BPF_REG_0, BPF_REG_7, end_label(g, w->far));
	if (g->bytes == EBPF_PACKET && xk_cell_leaf(w->c)) {
		ebpf_alu(a, BPF_MOV, BPF_REG_3, BPF_REG_6);
		ebpf_alu(a, BPF_ADD, BPF_REG_3, BPF_REG_0);
		ebpf_if_ptr(a, BPF_JGT, BPF_REG_3, BPF_REG_8, end_label(g, w->far));
	}
}

/* Base goes R0 bytes on. */
static void move_base(struct ebpf_gen *g, const struct at *w)
{
	struct ebpf_asm *a = &g->a;
	unsigned most = 0;

	if (g->bytes == EBPF_SKB) {
		ebpf_alu(a, BPF_ADD, BPF_REG_7, BPF_REG_0);
		return;
	}
	if (g->bytes == EBPF_SLOT)
		ebpf_alu(a, BPF_SUB, BPF_REG_7, BPF_REG_0);
	if (!g->window.bounded) {
		ebpf_alu(a, BPF_ADD, BPF_REG_6, BPF_REG_0);
		return;
	}
	for (unsigned i = 0; i < w->c->nkid; i++)
		most = MAX(most, ebpf_reach(g->p, &g->p->cell[w->c->kid[i]]));
	ebpf_alu32(a, BPF_ADD, BPF_REG_4, BPF_REG_0);
	ebpf_if_imm(a, BPF_JGT, BPF_REG_4, g->window.skip + g->window.bytes - most, end_label(g, 0));
	ebpf_alu(a, BPF_MOV, BPF_REG_6, BPF_REG_3);
	ebpf_alu(a, BPF_ADD, BPF_REG_6, BPF_REG_4);
}

/* ---- keys ----------------------------------------------------------------------------------------------- */

struct keymap {                          /* where each byte of the key comes from, and how seen */
	int     off[KEY_BYTES];
	uint8_t mask[KEY_BYTES];
};

static struct keymap key_map(const struct xk_pat_key *k, unsigned n)
{
	struct keymap m;

	for (unsigned i = 0; i < KEY_BYTES; i++)
		m.off[i] = NOWHERE;
	for (; n > 0; n--, k++)
		for (unsigned i = 0; i < k->width; i++) {
			m.off[k->at + i] = (int)(k->off + i);
			m.mask[k->at + i] = (uint8_t)(k->mask >> 8 * (k->width - 1u - i));
		}
	return m;
}

/* May `size` bytes from `at` on be moved as one? */
static bool key_moves(const struct ebpf_gen *g, const struct keymap *m, unsigned at, unsigned size)
{
	if (at % size != 0 || at + size > KEY_BYTES || (g->bytes == EBPF_SKB && (unsigned)m->off[at] % size != 0))
		return false;
	for (unsigned i = 1; i < size; i++)
		if (m->off[at + i] != m->off[at] + (int)i)
			return false;
	for (unsigned i = 0; size == 8 && i < size; i++)
		if (m->mask[at + i] != UINT8_MAX)
			return false;
	return true;
}

static void key_move(struct ebpf_gen *g, const struct at *w, const struct keymap *m, unsigned at, unsigned size)
{
	uint8_t mask[4] = { 0 };
	bool all = true;
	uint32_t imm;

	for (unsigned i = 0; i < size; i++) {
		all = all && m->mask[at + i] == UINT8_MAX;
		if (i < sizeof(mask))
			mask[__BYTE_ORDER == __LITTLE_ENDIAN || size >= 4 ? i : 4 - size + i] = m->mask[at + i];
	}
	memcpy(&imm, mask, sizeof(imm));
	load_raw(g, w, size, BPF_REG_0, (unsigned)m->off[at]);
	if (!all)
		ebpf_alu32_imm(&g->a, BPF_AND, BPF_REG_0, imm);
	ebpf_store(&g->a, size, g->key, g->key_off + (int)at, BPF_REG_0);
}

void ebpf_gather(struct ebpf_gen *g, unsigned disp, const struct xk_pat_key *k, unsigned n)
{
	const struct at w = { .disp = disp };
	struct keymap m = key_map(k, n);

	for (unsigned at = 0, size; at < KEY_BYTES; at += size) {
		size = 1;
		if (m.off[at] == NOWHERE)
			continue;
		for (size = 8; size > 1 && !key_moves(g, &m, at, size);)
			size /= 2;
		key_move(g, &w, &m, at, size);
	}
}

/* ---- cells ------------------------------------------------------------------------------------------------ */

static void walk_cell(struct ebpf_gen *g, struct at w);

struct choice { uint32_t value; unsigned label; };

/* R1 is one of n values, by their order as unsigned numbers; else end. */
static void choose(struct ebpf_gen *g, const struct choice *c, unsigned n, unsigned end)
{
	unsigned half;

	if (n <= LINEAR) {
		for (unsigned i = 0; i < n; i++)
			ebpf_if_imm(&g->a, BPF_JEQ, BPF_REG_1, c[i].value, c[i].label);
		ebpf_goto(&g->a, end_label(g, end));
		return;
	}
	half = ebpf_label(&g->a);
	ebpf_if_imm(&g->a, BPF_JGE, BPF_REG_1, c[n / 2].value, half);
	choose(g, c, n / 2, end);
	ebpf_here(&g->a, half);
	choose(g, c + n / 2, n - n / 2, end);
}

static unsigned choices(struct ebpf_gen *g, const struct xk_cell *c, struct choice *to)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->nkid; i++) {
		struct choice kid = { cooked(&c->select, g->p->cell[c->kid[i]].number), ebpf_label(&g->a) };
		unsigned at = n++;

		for (; at > 0 && to[at - 1].value > kid.value; at--)
			to[at] = to[at - 1];
		to[at] = kid;
	}
	return n;
}

static const struct xk_cell *kid_of(const struct ebpf_gen *g, const struct xk_cell *c, uint32_t value)
{
	for (unsigned i = 0; i < c->nkid; i++)
		if (cooked(&c->select, g->p->cell[c->kid[i]].number) == value)
			return &g->p->cell[c->kid[i]];
	return NULL;
}

/* R1 names the cell above.  An only one comes right behind the question. */
static void walk_kids(struct ebpf_gen *g, const struct at *w, unsigned disp)
{
	struct choice kid[XK_PAT_KIDS];
	unsigned n = choices(g, w->c, kid);

	if (n == 0) {
		ebpf_goto(&g->a, end_label(g, w->far));
		return;
	}
	if (n == 1)
		ebpf_if_imm(&g->a, BPF_JNE, BPF_REG_1, kid[0].value, end_label(g, w->far));
	else
		choose(g, kid, n, w->far);
	for (unsigned i = 0; i < n; i++) {
		ebpf_here(&g->a, kid[i].label);
		walk_cell(g, (struct at){ kid_of(g, w->c, kid[i].value), disp, w->far });
	}
}

static void walk_on(struct ebpf_gen *g, const struct at *w)
{
	if (xk_cell_leaf(w->c)) {
		if (w->c->has_hlen) {
			load_hlen(g, w);
			check_hlen(g, w);
		}
		if (w->c->keyed)
			ebpf_goto(&g->a, end_label(g, end_new(g, XK_PAT_FLOW, (unsigned)(w->c - g->p->cell), w->c->flow)));
		else
			ebpf_goto(&g->a, end_label(g, w->far));
		return;
	}
	if (!w->c->has_hlen) {
		load_masked(g, w, BPF_REG_1, &w->c->select);
		walk_kids(g, w, w->disp + w->c->need);
		return;
	}
	load_hlen(g, w);
	check_hlen(g, w);
	load_masked(g, w, BPF_REG_1, &w->c->select);
	move_base(g, w);
	walk_kids(g, w, 0);
}

static void walk_cell(struct ebpf_gen *g, struct at w)
{
	check_there(g, &w);
	for (unsigned i = 0; i < w.c->nguard; i++) {
		load_masked(g, &w, BPF_REG_0, &w.c->guard[i]);
		ebpf_if_imm(&g->a, BPF_JNE, BPF_REG_0, cooked(&w.c->guard[i], w.c->guard[i].value), end_label(g, w.far));
	}
	ebpf_gather(g, w.disp, w.c->key, w.c->nkey);
	w.far = end_so_far(g, &w);
	if (w.c->has_postpone) {
		unsigned later = ebpf_label(&g->a);

		load_cooked(g, &w, BPF_REG_0, &w.c->postpone);
		ebpf_if_imm(&g->a, BPF_JSET, BPF_REG_0, cooked(&w.c->postpone, w.c->postpone.mask), later);
		g->later[g->nlater].label = later;
		g->later[g->nlater].cell = (unsigned)(w.c - g->p->cell);
		g->later[g->nlater++].disp = w.disp;
	}
	walk_on(g, &w);
}

void ebpf_walk(struct ebpf_gen *g)
{
	g->base = BPF_REG_6;
	g->base_off = 0;
	end_new(g, XK_EBPF_ASK, XK_PAT_ABOVE, 0);
	end_new(g, XK_PAT_NONE, XK_PAT_ABOVE, 0);
	if (g->p->ncell == 0)
		ebpf_goto(&g->a, end_label(g, 1));
	else
		walk_cell(g, (struct at){ &g->p->cell[XK_PAT_ROOT], 0, 1 });
	for (unsigned i = 0; i < g->nlater; i++) {
		const struct xk_cell *c = &g->p->cell[g->later[i].cell];

		ebpf_here(&g->a, g->later[i].label);
		ebpf_gather(g, g->later[i].disp, c->ident, c->nident);
		ebpf_goto(&g->a, end_label(g, end_new(g, XK_PAT_IDENT, g->later[i].cell, c->ident_sel)));
	}
}

/* ---- the hash ----------------------------------------------------------------------------------------------- */

static void fold(struct ebpf_asm *a, uint8_t dst, uint8_t tmp, unsigned shift)
{
	ebpf_alu32(a, BPF_MOV, tmp, dst);
	ebpf_alu32_imm(a, BPF_RSH, tmp, shift);
	ebpf_alu32(a, BPF_XOR, dst, tmp);
}

/* dst = xk_hash_end of an address and a port; spoils the port. */
static void hash_end(struct ebpf_gen *g, uint8_t dst, uint8_t port)
{
	struct ebpf_asm *a = &g->a;

	ebpf_alu32_imm(a, BPF_MUL, port, XK_HASH_PORT);
	ebpf_alu32(a, BPF_ADD, dst, port);
	fold(a, dst, port, 15);
	ebpf_alu32_imm(a, BPF_MUL, dst, XK_HASH_END);
	fold(a, dst, port, 13);
}

/* dst = the word of the key at `at`: from the header where it lies there as it is. */
static void hash_word(struct ebpf_gen *g, uint8_t dst, unsigned at, const struct ebpf_words *from)
{
	if (from != NULL && from->off[at / 4] >= 0)
		ebpf_load(&g->a, 4, dst, g->base, g->base_off + from->off[at / 4]);
	else
		ebpf_load(&g->a, 4, dst, g->key, g->key_off + (int)at);
	ebpf_swap(&g->a, dst, 32, false);
}

/* Both ports lie side by side, so one load has them. */
void ebpf_hash(struct ebpf_gen *g, const uint32_t *selector, const struct ebpf_words *from)
{
	struct ebpf_asm *a = &g->a;
	unsigned some = ebpf_label(a);

	hash_word(g, BPF_REG_0, offsetof(struct xk_flowkey, raddr), from);
	hash_word(g, BPF_REG_2, offsetof(struct xk_flowkey, laddr), from);
	hash_word(g, BPF_REG_1, offsetof(struct xk_flowkey, rport), from);
	ebpf_alu32(a, BPF_MOV, BPF_REG_3, BPF_REG_1);
	ebpf_alu32_imm(a, BPF_RSH, BPF_REG_1, 16);
	ebpf_alu32_imm(a, BPF_AND, BPF_REG_3, UINT16_MAX);
	hash_end(g, BPF_REG_0, BPF_REG_1);
	hash_end(g, BPF_REG_2, BPF_REG_3);
	ebpf_alu32(a, BPF_ADD, BPF_REG_0, BPF_REG_2);
	if (selector == NULL)
		ebpf_alu32(a, BPF_ADD, BPF_REG_0, BPF_REG_5);
	else if (*selector != 0)
		ebpf_alu32_imm(a, BPF_ADD, BPF_REG_0, *selector);
	fold(a, BPF_REG_0, BPF_REG_1, 16);
	ebpf_alu32_imm(a, BPF_MUL, BPF_REG_0, XK_HASH_ALL);
	fold(a, BPF_REG_0, BPF_REG_1, 15);
	ebpf_if_imm(a, BPF_JNE, BPF_REG_0, 0, some);
	ebpf_alu32_imm(a, BPF_MOV, BPF_REG_0, 1);
	ebpf_here(a, some);
}

/* ---- a program and its end ------------------------------------------------------------------ */

struct ebpf_gen *ebpf_gen_new(const struct xk_pattern *p, enum ebpf_bytes bytes, char *why, size_t n)
{
	struct ebpf_gen *g = xk_alloc(sizeof *g);

	if (g == NULL) {
		snprintf(why, n, "no memory to assemble a program in");
		return NULL;
	}
	g->p = p;
	g->bytes = bytes;
	return g;
}

struct ebpf_gen *ebpf_gen_done(struct ebpf_gen *g, char *why, size_t n)
{
	if (ebpf_finish(&g->a))
		return g;
	snprintf(why, n, "no eBPF program for this graph: %s", g->a.lost);
	xk_free(g);
	return NULL;
}
