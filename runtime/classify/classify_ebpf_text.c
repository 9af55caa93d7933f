/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_text.c - eBPF instructions as text, one a line, as the kernel's own tools write
 * them: wN is the lower half of rN, pc+N counts from the instruction behind.
 *
 * Invariant: any 8 bytes give some text, and no more than n bytes of it.
 */
#include <stdio.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/mem/xk_mem.h"

/* ORDER: the upper four bits of an operation's code. */
static const char *const alu_sign[16] = { "+=", "-=", "*=", "/=", "|=", "&=", "<<=", ">>=", "neg", "%=", "^=", "=", "s>>=",
	"end", "?", "?" };
static const char *const jump_sign[16] = { "goto", "==", ">", ">=", "&", "!=", "s>", "s>=", "call", "exit", "<", "<=", "s<",
	"s<=", "may_goto", "?" };

static const char *helper(int32_t id)
{
	switch (id) {
	case BPF_FUNC_map_lookup_elem:         return "bpf_map_lookup_elem";
	case BPF_FUNC_redirect_map:            return "bpf_redirect_map";
	case BPF_FUNC_skb_load_bytes_relative: return "bpf_skb_load_bytes_relative";
	case BPF_FUNC_probe_read_kernel:       return "bpf_probe_read_kernel";
	}
	return "helper";
}

static const char *width(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B: return "u8";
	case BPF_H: return "u16";
	case BPF_W: return "u32";
	}
	return "u64";
}

static void alu_text(const struct bpf_insn *i, char *t, size_t n)
{
	const char *sign = alu_sign[BPF_OP(i->code) >> 4];
	char r = BPF_CLASS(i->code) == BPF_ALU64 ? 'r' : 'w';

	if (BPF_OP(i->code) == BPF_END)
		snprintf(t, n, "r%u = %s%d r%u", i->dst_reg, BPF_SRC(i->code) == BPF_TO_BE ? "be" : "le", i->imm, i->dst_reg);
	else if (BPF_OP(i->code) == BPF_NEG)
		snprintf(t, n, "%c%u = -%c%u", r, i->dst_reg, r, i->dst_reg);
	else if (BPF_OP(i->code) == BPF_MOV && i->off == 1 && i->imm == EBPF_CAST_KERNEL)
		snprintf(t, n, "r%u = addr_space_cast(r%u, 0, 1)", i->dst_reg, i->src_reg);
	else if (BPF_SRC(i->code) == BPF_X)
		snprintf(t, n, "%c%u %s %c%u", r, i->dst_reg, sign, r, i->src_reg);
	else
		snprintf(t, n, "%c%u %s %d", r, i->dst_reg, sign, i->imm);
}

static void jump_text(const struct bpf_insn *i, char *t, size_t n)
{
	const char *sign = jump_sign[BPF_OP(i->code) >> 4];
	char r = BPF_CLASS(i->code) == BPF_JMP ? 'r' : 'w';

	switch (BPF_OP(i->code)) {
	case BPF_JA: case EBPF_JCOND:
		snprintf(t, n, "%s pc%+d", sign, i->off);
		return;
	case BPF_CALL:
		snprintf(t, n, "call %s#%d", helper(i->imm), i->imm);
		return;
	case BPF_EXIT:
		snprintf(t, n, "exit");
		return;
	}
	if (BPF_SRC(i->code) == BPF_X)
		snprintf(t, n, "if %c%u %s %c%u goto pc%+d", r, i->dst_reg, sign, r, i->src_reg, i->off);
	else
		snprintf(t, n, "if %c%u %s %#x goto pc%+d", r, i->dst_reg, sign, (unsigned)i->imm, i->off);
}

static void wide_text(const struct bpf_insn *i, char *t, size_t n)
{
	uint64_t v = (uint32_t)i[0].imm | (uint64_t)(uint32_t)i[1].imm << 32;

	if (i->src_reg == EBPF_PSEUDO_FD)
		snprintf(t, n, "r%u = map[%d]", i->dst_reg, i->imm);
	else if (i->src_reg == EBPF_PSEUDO_VALUE)
		snprintf(t, n, "r%u = map[%d][0]+%d", i->dst_reg, i->imm, i[1].imm);
	else
		snprintf(t, n, "r%u = %#llx", i->dst_reg, (unsigned long long)v);
}

static void memory_text(const struct bpf_insn *i, char *t, size_t n)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_LDX:
		snprintf(t, n, "r%u = *(%s *)(r%u %+d)", i->dst_reg, width(i->code), i->src_reg, i->off);
		return;
	case BPF_STX:
		snprintf(t, n, "*(%s *)(r%u %+d) = r%u", width(i->code), i->dst_reg, i->off, i->src_reg);
		return;
	}
	snprintf(t, n, "*(%s *)(r%u %+d) = %d", width(i->code), i->dst_reg, i->off, i->imm);
}

unsigned ebpf_text(const struct bpf_insn *i, unsigned at, unsigned left, char *text, size_t n)
{
	int head = snprintf(text, n, "%5u: (%02x) ", at, i->code);
	size_t used = head > 0 && (size_t)head < n ? (size_t)head : n;
	unsigned slots = 1;

	text += used;
	n -= used;
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU: case BPF_ALU64:
		alu_text(i, text, n);
		break;
	case BPF_JMP: case BPF_JMP32:
		jump_text(i, text, n);
		break;
	case BPF_LD:
		slots = left > 1 && i->code == (BPF_LD | BPF_IMM | BPF_DW) ? 2 : 1;
		if (slots == 2)
			wide_text(i, text, n);
		else
			snprintf(text, n, "?");
		break;
	default:
		memory_text(i, text, n);
	}
	return slots;
}

/* ---- whole programs ----------------------------------------------------------------------------- */

#define ARENA_SHOWN 0x100000000ull   /* for the address that a real arena would have */

static const char *const kind_says[] = {
	[XK_EBPF_XDP] = "XDP; map[0]: flows, map[1]: sockets",
	[XK_EBPF_FANOUT] = "fanout of packet sockets; map[0]: flows",
	[XK_EBPF_ARENA] = "a batch in an arena, map[2]",
	[XK_EBPF_CONTEXT] = "a batch in the context buffer; map[3]: array",
};

static struct ebpf_gen *gen_of(const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned nvps, char *why, size_t n)
{
	struct ebpf_layout l;

	switch (kind) {
	case XK_EBPF_XDP:
		return ebpf_gen_xdp(p, nvps, 1, 0, why, n);
	case XK_EBPF_FANOUT:
		return ebpf_gen_fanout(p, nvps, 0, why, n);
	case XK_EBPF_ARENA:
		l = ebpf_layout(p, EBPF_ARENA_SLOTS, EBPF_ARENA_MOST);
		return ebpf_gen_arena(p, &l, 2, ARENA_SHOWN, why, n);
	case XK_EBPF_CONTEXT:
		l = ebpf_layout(p, EBPF_CONTEXT_SLOTS, EBPF_CONTEXT_MOST);
		return ebpf_gen_context(p, &l, 3, why, n);
	}
	return NULL;
}

int xk_ebpf_print(const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned nvps, FILE *f, char *why, size_t whylen)
{
	struct ebpf_gen *g = gen_of(p, kind, nvps, why, whylen);
	char text[96];
	unsigned n;

	if (g == NULL)
		return XK_E_NOTSUP;
	n = g->a.n;
	fprintf(f, "eBPF for %s; %u instructions\n", kind_says[kind], n);
	for (unsigned i = 0; i < n;) {
		i += ebpf_text(&g->a.insn[i], i, n - i, text, sizeof text);
		fprintf(f, "%s\n", text);
	}
	xk_free(g);
	return (int)n;
}
