/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_plain.c - the verdict on frames whose headers have their least lengths, in a
 * straight line.
 *
 * Nearly all frames of connections are so, and then every byte that decides has a place known
 * beforehand.  What all cells on the way to a connection ask of them (guards, header lengths, no
 * fragment, numbers of the cells above) is put together byte by byte and compared a word at a
 * time; key and hash follow without a base that moves and without zeroing what is overwritten.
 * Any other frame goes the careful way (ebpf_walk), from its beginning: this one never says of a
 * frame that it is none of a connection.
 *
 * R8 + off is the slot, R0 to R5 scratch.  Bytes are read before the frame's length is known, as
 * a slot has them all: only what lies within the frame counts in the end.
 * Invariant: a verdict written here is the one that the walk would write.
 */
#include <string.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/classify/classify_priv.h"

#define REACH     256u               /* bytes of a frame that may decide */
#define KEY_BYTES 12u
#define NOWHERE   (-1)

struct way {                             /* from the root to a cell */
	const struct xk_cell *c;
	unsigned disp, most;         /* of its header; where the slot's bytes end */
	uint32_t keys;               /* bit i: byte i of the key has been gathered */
	int16_t  from[KEY_BYTES];    /* byte of the frame that it is, or NOWHERE */
	uint8_t  mask[REACH], want[REACH];   /* asked of the bytes, not compared yet */
};

struct exits { int off; unsigned careful, done; };

/* ---- what a way asks ----------------------------------------------------------------------- */

/* f of the header at hand shall be v under its mask; false: it can't be, or lies too far. */
static bool ask(struct way *w, const struct xk_pat_field *f, uint32_t v)
{
	for (unsigned i = 0; i < f->width; i++) {
		unsigned at = w->disp + f->off + i, shift = 8 * (f->little ? i : f->width - 1u - i);
		uint8_t mask = (uint8_t)(f->mask >> shift), want = (uint8_t)(v >> shift);

		if (at >= w->most || (want & ~mask) != 0 || ((w->want[at] ^ want) & w->mask[at] & mask) != 0)
			return false;
		w->mask[at] |= mask;
		w->want[at] |= want;
	}
	return true;
}

/* What the header's length says when it is `need`; false: it can't say that. */
static bool ask_length(struct way *w)
{
	const struct xk_pat_field *f = &w->c->hlen;
	uint64_t units = w->c->need / f->value;

	return units * f->value == w->c->need && units <= f->mask >> __builtin_ctz(f->mask) &&
	       ask(w, f, (uint32_t)units << __builtin_ctz(f->mask));
}

static bool ask_all(struct way *w)
{
	const struct xk_cell *c = w->c;

	for (unsigned i = 0; i < c->nguard; i++)
		if (!ask(w, &c->guard[i], c->guard[i].value))
			return false;
	return (!c->has_postpone || ask(w, &c->postpone, 0)) && (!c->has_hlen || ask_length(w));
}

static unsigned leads(const struct xk_pattern *p, const struct way *w);

/* The way to the i-th cell above, whose number is asked for; leaves it leads to. */
static unsigned way_kid(const struct xk_pattern *p, const struct way *w, unsigned i, struct way *kid)
{
	*kid = *w;
	kid->c = &p->cell[w->c->kid[i]];
	if (!ask(kid, &w->c->select, kid->c->number))
		return 0;
	kid->disp += w->c->need;
	return kid->disp + kid->c->need <= kid->most && ask_all(kid) ? leads(p, kid) : 0;
}

/* Leaves that a way leads to, its own questions asked. */
static unsigned leads(const struct xk_pattern *p, const struct way *w)
{
	struct way kid;
	unsigned n = 0;

	if (xk_cell_leaf(w->c))
		return w->c->keyed;
	for (unsigned i = 0; i < w->c->nkid; i++)
		n += way_kid(p, w, i, &kid);
	return n;
}

static bool way_begin(const struct xk_pattern *p, const struct ebpf_window *window, struct way *w)
{
	unsigned most = window->skip + window->bytes;

	*w = (struct way){ .c = &p->cell[XK_PAT_ROOT], .most = most < REACH ? most : REACH };
	memset(w->from, 0xff, sizeof(w->from));
	return p->ncell != 0 && w->c->need <= w->most && ask_all(w);
}

unsigned ebpf_plain_leaves(const struct xk_pattern *p, const struct ebpf_window *window)
{
	struct way w;

	return way_begin(p, window, &w) ? leads(p, &w) : 0;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Bytes from `at` on that one load has. */
static unsigned load_size(const struct way *w, unsigned at)
{
	unsigned size = 4;

	while (size > 1 && (at + size > w->most))
		size /= 2;
	while (size > 1 && memcmp(&w->mask[at + size / 2], "\0\0", size / 2) == 0)
		size /= 2;
	return size;
}

static uint32_t as_loaded(const uint8_t *b, unsigned size)
{
	uint16_t half;
	uint32_t word;

	memcpy(&half, b, sizeof(half) < size ? sizeof(half) : size);
	memcpy(&word, b, size == 4 ? size : 0);
	return size == 1 ? *b : size == 2 ? half : word;
}

/* Compares what has been asked so far. */
static void settle(struct ebpf_gen *g, struct way *w, const struct exits *x)
{
	for (unsigned at = 0, size; at < REACH; at += size) {
		uint32_t mask;

		size = 1;
		if (w->mask[at] == 0)
			continue;
		size = load_size(w, at);
		mask = as_loaded(&w->mask[at], size);
		ebpf_load(&g->a, size, BPF_REG_0, g->base, g->base_off + (int)at);
		if (mask != UINT32_MAX >> (32 - 8 * size))
			ebpf_alu32_imm(&g->a, BPF_AND, BPF_REG_0, mask);
		ebpf_if_imm(&g->a, BPF_JNE, BPF_REG_0, as_loaded(&w->want[at], size), x->careful);
	}
	memset(w->mask, 0, sizeof(w->mask));
	memset(w->want, 0, sizeof(w->want));
}

/* ---- the way -------------------------------------------------------------------------------------- */

/* Zeroes what no header gave of a key. */
static void clear_rest(struct ebpf_gen *g, uint32_t keys)
{
	for (unsigned at = 0, size; at < KEY_BYTES; at += size) {
		for (size = 8; size > 1 && (at % size != 0 || at + size > KEY_BYTES || (keys >> at & ((1u << size) - 1)) != 0);)
			size /= 2;
		if ((keys >> at & 1) == 0)
			ebpf_store_imm(&g->a, size, g->key, g->key_off + (int)at, 0);
	}
}

/* Words of the key that are in the frame side by side: reading them there waits for no store. */
static struct ebpf_words words_of(const struct way *w)
{
	struct ebpf_words k;

	for (unsigned i = 0; i < XK_ARRAY_LEN(k.off); i++) {
		const int16_t *from = &w->from[4 * i];

		k.off[i] = from[0];
		for (int b = 1; b < 4; b++)
			if (from[0] == NOWHERE || from[b] != from[0] + b)
				k.off[i] = NOWHERE;
	}
	return k;
}

static void keys_of(struct ebpf_gen *g, struct way *w)
{
	ebpf_gather(g, w->disp, w->c->key, w->c->nkey);
	for (const struct xk_pat_key *k = w->c->key; k < w->c->key + w->c->nkey; k++)
		for (unsigned i = 0; i < k->width; i++) {
			w->keys |= 1u << (k->at + i);
			if ((uint8_t)(k->mask >> 8 * (k->width - 1u - i)) == UINT8_MAX)
				w->from[k->at + i] = (int16_t)(w->disp + k->off + i);
		}
}

static void at_leaf(struct ebpf_gen *g, struct way *w, const struct exits *x)
{
	const struct ebpf_end e = { .kind = XK_PAT_FLOW, .cell = (uint16_t)(w->c - g->p->cell), .selector = w->c->flow };
	const struct ebpf_words words = words_of(w);
	struct ebpf_asm *a = &g->a;

	if (w->disp + w->c->need != 0) {
		ebpf_load(a, 4, BPF_REG_0, BPF_REG_8, x->off + (int)offsetof(struct xk_ebpf_slot, len));
		ebpf_if_imm(a, BPF_JLT, BPF_REG_0, w->disp + w->c->need, x->careful);
	}
	settle(g, w, x);
	clear_rest(g, w->keys);
	ebpf_say(g, x->off, &e, false);
	ebpf_hash(g, &e.selector, &words);
	ebpf_store(a, 4, BPF_REG_8, x->off + (int)offsetof(struct xk_ebpf_slot, v.hash), BPF_REG_0);
	ebpf_goto(a, x->done);
}

static void at_cell(struct ebpf_gen *g, struct way *w, const struct exits *x);

/* Several ways on: what was asked up to here is compared first. */
static void at_fork(struct ebpf_gen *g, const struct way *w, const struct exits *x, const unsigned *kid, unsigned n)
{
	unsigned label[XK_PAT_KIDS];
	struct way here = *w, up;

	settle(g, &here, x);
	for (unsigned i = 0; i < n; i++) {
		const struct xk_cell *c = &g->p->cell[w->c->kid[kid[i]]];
		uint32_t v = ebpf_field(g, w->disp, BPF_REG_1, &w->c->select, c->number, i == 0);

		label[i] = ebpf_label(&g->a);
		ebpf_if_imm(&g->a, BPF_JEQ, BPF_REG_1, v, label[i]);
	}
	ebpf_goto(&g->a, x->careful);
	for (unsigned i = 0; i < n; i++) {
		ebpf_here(&g->a, label[i]);
		up = here;
		up.c = &g->p->cell[w->c->kid[kid[i]]];
		up.disp += w->c->need;
		(void)ask_all(&up);
		at_cell(g, &up, x);
	}
}

static void at_cell(struct ebpf_gen *g, struct way *w, const struct exits *x)
{
	unsigned kid[XK_PAT_KIDS], n = 0;
	struct way up, only;

	keys_of(g, w);
	only = *w;
	if (xk_cell_leaf(w->c)) {
		at_leaf(g, w, x);
		return;
	}
	for (unsigned i = 0; i < w->c->nkid; i++) {
		if (way_kid(g->p, w, i, &up) == 0)
			continue;
		only = up;
		kid[n++] = i;
	}
	if (n == 1)
		at_cell(g, &only, x);
	else
		at_fork(g, w, x, kid, n);
}

void ebpf_plain(struct ebpf_gen *g, int off, unsigned careful, unsigned done)
{
	const struct exits x = { off, careful, done };
	const int key_off = g->key_off;
	struct way w;

	g->base = BPF_REG_8;
	g->base_off = off + (int)offsetof(struct xk_ebpf_slot, frame) - (int)g->window.skip;
	g->key_off = off + (int)offsetof(struct xk_ebpf_slot, v.key);
	(void)way_begin(g->p, &g->window, &w);
	at_cell(g, &w, &x);
	g->key_off = key_off;
}
