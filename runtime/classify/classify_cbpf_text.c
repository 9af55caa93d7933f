/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_text.c - classic BPF as text, the way tcpdump -d and bpf_asm write it.
 *
 * Invariant: any instruction, valid or not, has a text.
 */
#include <stdio.h>

#include "runtime/base/xk_base.h"
#include "runtime/classify/xk_cbpf.h"

static const char *name_of(uint16_t code)
{
	static const char *const alu[] = { "add", "sub", "mul", "div", "or", "and", "lsh", "rsh", "neg", "mod", "xor" };
	static const char *const jump[] = { "ja", "jeq", "jgt", "jge", "jset" };
	unsigned what = BPF_OP(code) >> 4;

	switch (BPF_CLASS(code)) {
	case BPF_LD:
		return BPF_SIZE(code) == BPF_H ? "ldh" : BPF_SIZE(code) == BPF_B ? "ldb" : "ld";
	case BPF_LDX:
		return BPF_SIZE(code) == BPF_B ? "ldxb" : "ldx";
	case BPF_ST:
		return "st";
	case BPF_STX:
		return "stx";
	case BPF_ALU:
		return what < XK_ARRAY_LEN(alu) ? alu[what] : "?";
	case BPF_JMP:
		return what < XK_ARRAY_LEN(jump) ? jump[what] : "?";
	case BPF_RET:
		return "ret";
	}
	return BPF_MISCOP(code) == BPF_TXA ? "txa" : "tax";
}

static void load_operand(const struct sock_filter *f, char *text, size_t n)
{
	switch (BPF_MODE(f->code)) {
	case BPF_IMM: snprintf(text, n, "#0x%x", f->k); break;
	case BPF_ABS: snprintf(text, n, "[%d]", (int)f->k); break;
	case BPF_IND: snprintf(text, n, "[x + %d]", (int)f->k); break;
	case BPF_MEM: snprintf(text, n, "M[%u]", f->k); break;
	case BPF_LEN: snprintf(text, n, "#pktlen"); break;
	case BPF_MSH: snprintf(text, n, "4*([%d]&0xf)", (int)f->k); break;
	default:      snprintf(text, n, "?"); break;
	}
}

static void operand(const struct sock_filter *f, char *text, size_t n)
{
	text[0] = '\0';
	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
	case BPF_LDX:
		load_operand(f, text, n);
		break;
	case BPF_ST:
	case BPF_STX:
		snprintf(text, n, "M[%u]", f->k);
		break;
	case BPF_ALU:
	case BPF_JMP:
		if (BPF_SRC(f->code) == BPF_X)
			snprintf(text, n, "x");
		else if (f->code != (BPF_ALU | BPF_NEG))
			snprintf(text, n, BPF_CLASS(f->code) == BPF_ALU && BPF_OP(f->code) != BPF_AND ? "#%d" : "#0x%x", (int)f->k);
		break;
	case BPF_RET:
		if (BPF_RVAL(f->code) == BPF_A)
			snprintf(text, n, "a");
		else
			snprintf(text, n, BPF_RVAL(f->code) == BPF_X ? "x" : "#%d", (int)f->k);
		break;
	}
}

void xk_cbpf_print(const struct sock_filter *prog, unsigned at, char *text, size_t n)
{
	const struct sock_filter *f = &prog[at];
	char what[32];

	operand(f, what, sizeof what);
	if (f->code == (BPF_JMP | BPF_JA))
		snprintf(text, n, "(%03u) %-8s %u", at, name_of(f->code), at + 1 + f->k);
	else if (BPF_CLASS(f->code) == BPF_JMP)
		snprintf(text, n, "(%03u) %-8s %-16s jt %u\tjf %u", at, name_of(f->code), what, at + 1 + f->jt,
			 at + 1 + f->jf);
	else
		snprintf(text, n, what[0] != '\0' ? "(%03u) %-8s %s" : "(%03u) %s", at, name_of(f->code), what);
}
