/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_check.c - is a classic BPF program valid, and which of its checks are needless?
 *
 * Jumps go forward, so one pass in order meets every instruction after all ways to it.  On the
 * way it keeps how many bytes the frame surely has: a load that succeeded, or a comparison of
 * the length, says so of all that follows.
 * Invariant: what is kept of an instruction holds on every way that leads to it.
 */
#include <stdio.h>

#include "runtime/base/xk_base.h"
#include "runtime/classify/classify_cbpf_priv.h"
#include "runtime/mem/xk_mem.h"

/* ---- valid? ----------------------------------------------------------------------------------- */

static bool load_known(const struct sock_filter *f)
{
	switch (f->code) {
	case BPF_LD | BPF_IMM:
	case BPF_LDX | BPF_IMM:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_H | BPF_ABS:
	case BPF_LD | BPF_B | BPF_ABS:
	case BPF_LD | BPF_W | BPF_IND:
	case BPF_LD | BPF_H | BPF_IND:
	case BPF_LD | BPF_B | BPF_IND:
	case BPF_LDX | BPF_MSH | BPF_B:
		return true;
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_MEM:
		return f->k < BPF_MEMWORDS;
	}
	return false;
}

static bool alu_known(const struct sock_filter *f)
{
	bool constant = BPF_SRC(f->code) == BPF_K;

	if ((f->code & ~(BPF_CLASS(0xffff) | BPF_SRC(0xffff) | BPF_OP(0xffff))) != 0)
		return false;
	switch (BPF_OP(f->code)) {
	case BPF_DIV:
	case BPF_MOD:
		return !constant || f->k != 0;
	case BPF_LSH:
	case BPF_RSH:
		return !constant || f->k < 32;
	case BPF_NEG:
		return constant;
	}
	return BPF_OP(f->code) <= BPF_XOR;
}

static bool jump_known(const struct sock_filter *f, unsigned left)
{
	switch (f->code) {
	case BPF_JMP | BPF_JA:
		return f->k < left;
	case BPF_JMP | BPF_JEQ | BPF_K:
	case BPF_JMP | BPF_JEQ | BPF_X:
	case BPF_JMP | BPF_JGT | BPF_K:
	case BPF_JMP | BPF_JGT | BPF_X:
	case BPF_JMP | BPF_JGE | BPF_K:
	case BPF_JMP | BPF_JGE | BPF_X:
	case BPF_JMP | BPF_JSET | BPF_K:
	case BPF_JMP | BPF_JSET | BPF_X:
		return f->jt < left && f->jf < left;
	}
	return false;
}

/* `left` instructions come behind it. */
static bool known(const struct sock_filter *f, unsigned left)
{
	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
	case BPF_LDX:
		return load_known(f);
	case BPF_ST:
	case BPF_STX:
		return f->code <= BPF_STX && f->k < BPF_MEMWORDS;
	case BPF_ALU:
		return alu_known(f);
	case BPF_JMP:
		return jump_known(f, left);
	case BPF_RET:
		return f->code == (BPF_RET | BPF_K) || f->code == (BPF_RET | BPF_A);
	}
	return f->code == (BPF_MISC | BPF_TAX) || f->code == (BPF_MISC | BPF_TXA);
}

/* What libpcap writes for a loop: how far, as a negative number. */
static bool leads_back(const struct sock_filter *f)
{
	return f->code == (BPF_JMP | BPF_JA) && f->k > INT32_MAX;
}

static int check(const struct sock_filter *prog, unsigned n, char *why, size_t whylen)
{
	char text[96];

	if (n == 0 || n > BPF_MAXINSNS) {
		snprintf(why, whylen, "%u instructions: a program has 1 to %u", n, BPF_MAXINSNS);
		return XK_E_INVAL;
	}
	for (unsigned i = 0; i < n; i++) {
		if (known(&prog[i], n - 1 - i))
			continue;
		xk_cbpf_print(prog, i, text, sizeof text);
		if (leads_back(&prog[i]))
			snprintf(why, whylen, "instruction %s jumps backwards: a filter that loops over headers "
				 "(protochain) is refused, as the kernel refuses it; name the header itself, with proto", text);
		else
			snprintf(why, whylen, "instruction %s (code 0x%x) is none, or leads out of the program", text,
				 prog[i].code);
		return XK_E_INVAL;
	}
	if (BPF_CLASS(prog[n - 1].code) == BPF_RET)
		return XK_OK;
	snprintf(why, whylen, "the last of %u instructions does not return", n);
	return XK_E_INVAL;
}

/* ---- what is sure ------------------------------------------------------------------------------- */

struct sure {
	uint32_t there;          /* the frame has so many bytes */
	uint16_t written;        /* words of scratch */
	bool     a_is_len, reached;
};

static void meet(struct sure *to, const struct sure *s)
{
	if (!to->reached) {
		*to = *s;
		return;
	}
	if (s->there < to->there)
		to->there = s->there;
	to->written &= s->written;
	to->a_is_len = to->a_is_len && s->a_is_len;
}

static void at_least(struct sure *s, uint64_t n)
{
	if (n <= INT32_MAX && n > s->there)
		s->there = (uint32_t)n;
}

/* What a jump that is taken says of the length. */
static struct sure taken(const struct sock_filter *f, struct sure s)
{
	if (s.a_is_len && BPF_SRC(f->code) == BPF_K)
		switch (BPF_OP(f->code)) {
		case BPF_JGT: at_least(&s, (uint64_t)f->k + 1); break;
		case BPF_JGE:
		case BPF_JEQ: at_least(&s, f->k); break;
		}
	return s;
}

static void jump(const struct sock_filter *f, unsigned i, const struct sure *s, struct sure *all, struct cbpf_facts *x)
{
	uint32_t t = i + 1 + f->jt, e = i + 1 + f->jf;
	struct sure yes;

	if (BPF_OP(f->code) == BPF_JA) {
		t = i + 1 + f->k;
		meet(&all[t], s);
		x->target[t] = true;
		return;
	}
	yes = taken(f, *s);
	meet(&all[t], &yes);
	meet(&all[e], s);
	x->target[t] = x->target[e] = true;
}

static void step(const struct sock_filter *f, unsigned i, struct sure *s, struct cbpf_facts *x)
{
	uint64_t end = (uint64_t)f->k + (BPF_CLASS(f->code) == BPF_LDX ? 1 : cbpf_size(f->code));
	bool mem = f->code == (BPF_LD | BPF_MEM) || f->code == (BPF_LDX | BPF_MEM);

	if (cbpf_reads(f->code)) {
		bool sure = end <= s->there && BPF_MODE(f->code) != BPF_IND;

		x->end[i] = sure ? 0 : end > INT32_MAX ? UINT32_MAX : (uint32_t)end;
		at_least(s, end);
	}
	if (mem && !(s->written & 1u << f->k))
		x->zeroed = true;
	if (BPF_CLASS(f->code) == BPF_ST || BPF_CLASS(f->code) == BPF_STX)
		s->written |= (uint16_t)(1u << f->k);
	if (BPF_CLASS(f->code) == BPF_LD)
		s->a_is_len = f->code == (BPF_LD | BPF_W | BPF_LEN);
	else if (BPF_CLASS(f->code) == BPF_ALU || f->code == (BPF_MISC | BPF_TXA))
		s->a_is_len = false;
}

static void walk(const struct sock_filter *prog, unsigned n, struct sure *all, struct cbpf_facts *x)
{
	all[0].reached = true;
	for (unsigned i = 0; i < n; i++) {
		struct sure s = all[i];

		x->reached[i] = s.reached;
		if (!s.reached)
			continue;
		step(&prog[i], i, &s, x);
		if (BPF_CLASS(prog[i].code) == BPF_JMP)
			jump(&prog[i], i, &s, all, x);
		else if (BPF_CLASS(prog[i].code) != BPF_RET)
			meet(&all[i + 1], &s);
	}
}

int cbpf_facts_init(struct cbpf_facts *x, const struct sock_filter *prog, unsigned n, char *why, size_t whylen)
{
	int err = check(prog, n, why, whylen);
	struct sure *all;

	*x = (struct cbpf_facts){ 0 };
	if (err != XK_OK)
		return err;
	all = xk_alloc(sizeof(*all) * n);
	x->end = xk_alloc(sizeof(*x->end) * n);
	x->target = xk_alloc(sizeof(*x->target) * n);
	x->reached = xk_alloc(sizeof(*x->reached) * n);
	if (all != NULL && x->end != NULL && x->target != NULL && x->reached != NULL) {
		walk(prog, n, all, x);
	} else {
		cbpf_facts_fini(x);
		snprintf(why, whylen, "out of memory");
		err = XK_E_NOMEM;
	}
	xk_free(all);
	return err;
}

void cbpf_facts_fini(struct cbpf_facts *x)
{
	xk_free(x->end);
	xk_free(x->target);
	xk_free(x->reached);
	*x = (struct cbpf_facts){ 0 };
}
