/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_asm.c - a small assembler for eBPF: instructions, labels, distances.
 *
 * The instruction set is RFC 9669.  Jumps name labels, which may come later; ebpf_finish puts
 * the distances in.  What does not fit sets `lost` and the rest is dropped, so callers check
 * once, at the end.
 * Invariant: every jump emitted has an entry in fix[] until ebpf_finish.
 */
#include "runtime/classify/classify_ebpf.h"

#define ALU32 BPF_ALU
#define ALU64 BPF_ALU64
#define JMP32 BPF_JMP32

void ebpf_emit(struct ebpf_asm *a, uint8_t code, uint8_t dst, uint8_t src, int off, int32_t imm)
{
	if (a->n == EBPF_INSNS || off > INT16_MAX || off < INT16_MIN) {
		a->lost = a->n == EBPF_INSNS ? "more instructions than a program may have" : "an offset that no instruction has room for";
		return;
	}
	a->insn[a->n++] = (struct bpf_insn){ .code = code, .dst_reg = dst & 15u, .src_reg = src & 15u, .off = (int16_t)off,
		.imm = imm };
}

/* ---- labels and jumps ----------------------------------------------------------------------- */

unsigned ebpf_label(struct ebpf_asm *a)
{
	if (a->nlabel == EBPF_LABELS) {
		a->lost = "more labels than the assembler holds";
		return 0;
	}
	a->place[a->nlabel] = -1;
	return a->nlabel++;
}

void ebpf_here(struct ebpf_asm *a, unsigned label)
{
	a->place[label] = (int)a->n;
}

static void jump(struct ebpf_asm *a, uint8_t code, uint8_t dst, uint8_t src, uint32_t imm, unsigned label)
{
	if (a->nfix == EBPF_FIXES) {
		a->lost = "more jumps than the assembler holds";
		return;
	}
	a->fix[a->nfix].at = (uint16_t)a->n;
	a->fix[a->nfix++].label = (uint16_t)label;
	ebpf_emit(a, code, dst, src, 0, (int32_t)imm);
}

void ebpf_goto(struct ebpf_asm *a, unsigned label)
{
	jump(a, BPF_JMP | BPF_JA, 0, 0, 0, label);
}

void ebpf_if_imm(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint32_t imm, unsigned label)
{
	jump(a, JMP32 | op | BPF_K, dst, 0, imm, label);
}

void ebpf_if_reg(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src, unsigned label)
{
	jump(a, JMP32 | op | BPF_X, dst, src, 0, label);
}

void ebpf_if_ptr(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src, unsigned label)
{
	jump(a, BPF_JMP | op | BPF_X, dst, src, 0, label);
}

void ebpf_if_null(struct ebpf_asm *a, uint8_t dst, unsigned label)
{
	jump(a, BPF_JMP | BPF_JEQ | BPF_K, dst, 0, 0, label);
}

void ebpf_may_goto(struct ebpf_asm *a, unsigned label)
{
	jump(a, BPF_JMP | EBPF_JCOND, 0, 0, 0, label);
}

bool ebpf_finish(struct ebpf_asm *a)
{
	for (unsigned i = 0; i < a->nfix && a->lost == NULL; i++) {
		int at = a->fix[i].at, to = a->place[a->fix[i].label];

		if (to < 0)
			a->lost = "a jump to nowhere";
		else if (to - at - 1 > INT16_MAX || to - at - 1 < INT16_MIN)
			a->lost = "a jump that is too far";
		else
			a->insn[at].off = (int16_t)(to - at - 1);
	}
	return a->lost == NULL;
}

/* ---- arithmetic ------------------------------------------------------------------------------- */

void ebpf_alu(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src)
{
	ebpf_emit(a, ALU64 | op | BPF_X, dst, src, 0, 0);
}

void ebpf_alu_imm(struct ebpf_asm *a, uint8_t op, uint8_t dst, int32_t imm)
{
	ebpf_emit(a, ALU64 | op | BPF_K, dst, 0, 0, imm);
}

void ebpf_alu32(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src)
{
	ebpf_emit(a, ALU32 | op | BPF_X, dst, src, 0, 0);
}

void ebpf_alu32_imm(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint32_t imm)
{
	ebpf_emit(a, ALU32 | op | BPF_K, dst, 0, 0, (int32_t)imm);
}

void ebpf_swap(struct ebpf_asm *a, uint8_t dst, unsigned bits, bool little)
{
	ebpf_emit(a, ALU32 | BPF_END | (little ? BPF_TO_LE : BPF_TO_BE), dst, 0, 0, (int32_t)bits);
}

void ebpf_cast(struct ebpf_asm *a, uint8_t dst)
{
	ebpf_emit(a, ALU64 | BPF_MOV | BPF_X, dst, dst, 1, EBPF_CAST_KERNEL);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static uint8_t size_code(unsigned size)
{
	switch (size) {
	case 1:  return BPF_B;
	case 2:  return BPF_H;
	case 4:  return BPF_W;
	default: return BPF_DW;
	}
}

void ebpf_load(struct ebpf_asm *a, unsigned size, uint8_t dst, uint8_t src, int off)
{
	ebpf_emit(a, (uint8_t)(BPF_LDX | BPF_MEM | size_code(size)), dst, src, off, 0);
}

void ebpf_store(struct ebpf_asm *a, unsigned size, uint8_t dst, int off, uint8_t src)
{
	ebpf_emit(a, (uint8_t)(BPF_STX | BPF_MEM | size_code(size)), dst, src, off, 0);
}

void ebpf_store_imm(struct ebpf_asm *a, unsigned size, uint8_t dst, int off, uint32_t imm)
{
	ebpf_emit(a, (uint8_t)(BPF_ST | BPF_MEM | size_code(size)), dst, 0, off, (int32_t)imm);
}

/* ---- constants of two slots, calls -------------------------------------------------------------- */

static void wide(struct ebpf_asm *a, uint8_t dst, uint8_t pseudo, uint32_t low, uint32_t high)
{
	ebpf_emit(a, BPF_LD | BPF_IMM | BPF_DW, dst, pseudo, 0, (int32_t)low);
	ebpf_emit(a, 0, 0, 0, 0, (int32_t)high);
}

void ebpf_imm64(struct ebpf_asm *a, uint8_t dst, uint64_t v)
{
	wide(a, dst, 0, (uint32_t)v, (uint32_t)(v >> 32));
}

void ebpf_map(struct ebpf_asm *a, uint8_t dst, int fd)
{
	wide(a, dst, EBPF_PSEUDO_FD, (uint32_t)fd, 0);
}

void ebpf_map_value(struct ebpf_asm *a, uint8_t dst, int fd, uint32_t off)
{
	wide(a, dst, EBPF_PSEUDO_VALUE, (uint32_t)fd, off);
}

void ebpf_call(struct ebpf_asm *a, int helper)
{
	ebpf_emit(a, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void ebpf_exit(struct ebpf_asm *a)
{
	ebpf_emit(a, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}
