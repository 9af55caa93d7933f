/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_asm.c - assembles classic BPF: labels become distances.
 *
 * Lengths and distances depend on each other: all jumps are near at first, those found too far
 * get a `ja`, until nothing changes.  Jumps only ever grow, so it ends.
 * Invariant: every distance of a finished program fits in its field.
 */
#include "runtime/classify/classify_cbpf_priv.h"

#include "runtime/base/xk_base.h"
#include "runtime/mem/xk_mem.h"

#define NEAR 255u

int cbpf_asm_init(struct cbpf_asm *a, unsigned maxlabel)
{
	*a = (struct cbpf_asm){ .nlabel = 1, .maxlabel = maxlabel };
	a->line = xk_alloc(sizeof(*a->line) * BPF_MAXINSNS);
	a->at = xk_alloc(sizeof(*a->at) * maxlabel);
	a->used = xk_alloc(sizeof(*a->used) * maxlabel);
	if (a->line == NULL || a->at == NULL || a->used == NULL) {
		cbpf_asm_fini(a);
		return XK_E_NOMEM;
	}
	for (unsigned i = 0; i < maxlabel; i++)
		a->at[i] = UINT32_MAX;
	return XK_OK;
}

void cbpf_asm_fini(struct cbpf_asm *a)
{
	xk_free(a->line);
	xk_free(a->at);
	xk_free(a->used);
	*a = (struct cbpf_asm){ 0 };
}

unsigned cbpf_label(struct cbpf_asm *a)
{
	if (a->nlabel == a->maxlabel) {
		a->err = XK_E_NOSPC;
		return a->maxlabel - 1;
	}
	return a->nlabel++;
}

void cbpf_place(struct cbpf_asm *a, unsigned label)
{
	a->at[label] = a->n;
}

static struct cbpf_line *next_line(struct cbpf_asm *a)
{
	if (a->err == XK_OK && a->n == BPF_MAXINSNS)
		a->err = XK_E_NOSPC;
	return a->err == XK_OK ? &a->line[a->n++] : NULL;
}

void cbpf_emit(struct cbpf_asm *a, uint16_t code, uint32_t k)
{
	struct cbpf_line *l = next_line(a);

	if (l != NULL)
		*l = (struct cbpf_line){ .code = code, .k = k };
}

void cbpf_jump(struct cbpf_asm *a, uint16_t code, uint32_t k, unsigned jt, unsigned jf)
{
	struct cbpf_line *l = next_line(a);

	if (l != NULL)
		*l = (struct cbpf_line){ .code = (uint16_t)(BPF_JMP | code), .jt = (uint16_t)jt, .jf = (uint16_t)jf, .k = k };
	a->used[jt] = a->used[jf] = true;
}

static bool is_jump(const struct cbpf_line *l)
{
	return BPF_CLASS(l->code) == BPF_JMP;
}

static bool is_ja(const struct cbpf_line *l)
{
	return l->code == (BPF_JMP | BPF_JA);
}

/* A `ja` to what follows is none. */
static bool is_gone(const struct cbpf_asm *a, unsigned i)
{
	return is_ja(&a->line[i]) && a->at[a->line[i].jt] == i + 1;
}

static uint32_t target(const struct cbpf_asm *a, const uint32_t *pos, unsigned line, unsigned label)
{
	uint32_t to = label == CBPF_NEXT ? line + 1 : a->at[label];

	xk_assert(to != UINT32_MAX && to > line);
	return pos[to];
}

/* pos[i]: instruction at which line i begins; pos[n]: how many there are. */
static uint32_t lay_out(const struct cbpf_asm *a, uint32_t *pos)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < a->n; i++) {
		pos[i] = at;
		at += is_gone(a, i) ? 0 : 1u + a->line[i].far_t + a->line[i].far_f;
	}
	pos[a->n] = at;
	return at;
}

/* Marks what is too far; true when there was any. */
static bool stretch(struct cbpf_asm *a, const uint32_t *pos)
{
	bool any = false;

	for (unsigned i = 0; i < a->n; i++) {
		struct cbpf_line *l = &a->line[i];

		if (!is_jump(l) || is_ja(l))
			continue;
		if (!l->far_t && target(a, pos, i, l->jt) - pos[i] - 1 > NEAR)
			any = l->far_t = true;
		if (!l->far_f && target(a, pos, i, l->jf) - pos[i] - 1 > NEAR)
			any = l->far_f = true;
	}
	return any;
}

/* A conditional jump, with the `ja`s of its far ends behind it. */
static void write_jump(const struct cbpf_asm *a, const uint32_t *pos, unsigned i, struct sock_filter *to)
{
	const struct cbpf_line *l = &a->line[i];
	uint32_t me = pos[i], t = target(a, pos, i, l->jt), f = target(a, pos, i, l->jf);
	uint8_t jf = (uint8_t)(l->far_f ? (l->far_t ? 1 : 0) : f - me - 1);

	to[0] = (struct sock_filter){ .code = l->code, .k = l->k, .jf = jf };
	to[0].jt = (uint8_t)(l->far_t ? 0 : t - me - 1);
	if (l->far_t)
		to[1] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, t - me - 2);
	if (l->far_f)
		to[1 + l->far_t] = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, f - me - 2 - l->far_t);
}

static void write_line(const struct cbpf_asm *a, const uint32_t *pos, unsigned i, struct sock_filter *to)
{
	const struct cbpf_line *l = &a->line[i];

	if (!is_jump(l))
		*to = (struct sock_filter){ .code = l->code, .k = l->k };
	else if (is_ja(l))
		*to = (struct sock_filter){ .code = l->code, .k = target(a, pos, i, l->jt) - pos[i] - 1 };
	else
		write_jump(a, pos, i, to);
}

int cbpf_assemble(struct cbpf_asm *a, struct sock_filter *prog, unsigned max)
{
	uint32_t *pos, n;

	if (a->err != XK_OK)
		return a->err;
	pos = xk_alloc(sizeof(*pos) * (a->n + 1));
	if (pos == NULL)
		return XK_E_NOMEM;
	do
		n = lay_out(a, pos);
	while (stretch(a, pos));
	if (n <= max && n <= BPF_MAXINSNS)
		for (unsigned i = 0; i < a->n; i++)
			if (!is_gone(a, i))
				write_line(a, pos, i, &prog[pos[i]]);
	xk_free(pos);
	return n <= max && n <= BPF_MAXINSNS ? (int)n : XK_E_NOSPC;
}
