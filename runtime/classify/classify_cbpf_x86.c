/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_x86.c - classic BPF into machine code of x86-64.
 *
 * One instruction becomes a few: A is eax, X is ecx (a shift takes it as it is), the frame is
 * rdi, its length rsi, scratch memory r10; nothing of the caller's is touched.  Jumps always
 * have four bytes of distance, so the code is as long the second time, when the places of all
 * instructions are known, as the first.  Memory is writable or executable, never both.
 * Invariant: a load is behind a comparison with the length unless the checker found it sure.
 */
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/xk_base.h"
#include "runtime/classify/classify_cbpf_priv.h"
#include "runtime/mem/xk_mem.h"

#ifdef __x86_64__

#define MOST 40u                 /* bytes of code for one instruction; prologue and ending, too */

struct x86 {
	uint8_t  *to;
	uint32_t  n;
	uint32_t *at;            /* where the code of each instruction begins */
	uint32_t  out;           /* where "return 0" is */
};

static void put(struct x86 *x, unsigned n, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, n);
	while (n-- > 0)
		x->to[x->n++] = (uint8_t)__builtin_va_arg(ap, int);
	__builtin_va_end(ap);
}

static void put32(struct x86 *x, uint32_t v)
{
	memcpy(x->to + x->n, &v, 4);
	x->n += 4;
}

static void jcc(struct x86 *x, unsigned cc, uint32_t to)
{
	put(x, 2, 0x0f, 0x80 | cc);
	put32(x, to - (x->n + 4));
}

enum { CC_B = 2, CC_AE = 3, CC_E = 4, CC_NE = 5, CC_BE = 6, CC_A = 7 };

/* ---- loads -------------------------------------------------------------------------------------- */

static void check_abs(struct x86 *x, uint32_t end)
{
	if (end == 0)
		return;
	put(x, 2, 0x81, 0xfe);                          /* cmp esi, end */
	put32(x, end);
	jcc(x, CC_B, x->out);
}

static void check_ind(struct x86 *x, uint32_t end)
{
	put(x, 3, 0x4c, 0x8d, 0x81);                    /* lea r8, [rcx + end] */
	put32(x, end);
	put(x, 3, 0x49, 0x39, 0xf0);                    /* cmp r8, rsi */
	jcc(x, CC_A, x->out);
}

/* Bytes at rdi + k, or rdi + rcx + k, into eax, most significant first. */
static void load(struct x86 *x, const struct sock_filter *f)
{
	bool ind = BPF_MODE(f->code) == BPF_IND;

	switch (BPF_SIZE(f->code)) {
	case BPF_W: put(x, 1, 0x8b); break;             /* mov eax, */
	case BPF_H: put(x, 2, 0x0f, 0xb7); break;       /* movzx eax, word */
	case BPF_B: put(x, 2, 0x0f, 0xb6); break;       /* movzx eax, byte */
	}
	if (ind)
		put(x, 2, 0x84, 0x0f);                  /* [rdi + rcx + disp32] */
	else
		put(x, 1, 0x87);                        /* [rdi + disp32] */
	put32(x, f->k);
	if (BPF_SIZE(f->code) == BPF_W)
		put(x, 2, 0x0f, 0xc8);                  /* bswap eax */
	else if (BPF_SIZE(f->code) == BPF_H)
		put(x, 4, 0x66, 0xc1, 0xc0, 8);         /* rol ax, 8 */
}

static void load_frame(struct x86 *x, const struct sock_filter *f, uint32_t end)
{
	if (end == UINT32_MAX) {
		put(x, 1, 0xe9);                        /* jmp: no frame is so long */
		put32(x, x->out - (x->n + 4));
		return;
	}
	if (BPF_MODE(f->code) == BPF_IND)
		check_ind(x, end);
	else
		check_abs(x, end);
	if (BPF_CLASS(f->code) == BPF_LD) {
		load(x, f);
		return;
	}
	put(x, 3, 0x0f, 0xb6, 0x8f);                    /* movzx ecx, byte [rdi + k] */
	put32(x, f->k);
	put(x, 6, 0x83, 0xe1, 0x0f, 0xc1, 0xe1, 2);     /* and ecx, 15; shl ecx, 2 */
}

static void load_other(struct x86 *x, const struct sock_filter *f)
{
	bool to_x = BPF_CLASS(f->code) == BPF_LDX;

	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		put(x, 1, to_x ? 0xb9 : 0xb8);          /* mov r32, imm32 */
		put32(x, f->k);
		break;
	case BPF_MEM:                                   /* mov r32, [r10 + disp8] */
		put(x, 4, 0x41, 0x8b, to_x ? 0x4a : 0x42, (int)(4 * f->k));
		break;
	case BPF_LEN:
		put(x, 2, 0x89, to_x ? 0xf1 : 0xf0);    /* mov r32, esi */
		break;
	}
}

/* ---- arithmetic ------------------------------------------------------------------------------------ */

static void divide(struct x86 *x, const struct sock_filter *f, bool remainder)
{
	if (BPF_SRC(f->code) == BPF_X) {
		put(x, 2, 0x85, 0xc9);                  /* test ecx, ecx */
		jcc(x, CC_E, x->out);
		put(x, 3, 0x41, 0x89, 0xc8);            /* mov r8d, ecx */
	} else {
		put(x, 2, 0x41, 0xb8);                  /* mov r8d, imm32 */
		put32(x, f->k);
	}
	put(x, 5, 0x31, 0xd2, 0x41, 0xf7, 0xf0);        /* xor edx, edx; div r8d */
	if (remainder)
		put(x, 2, 0x89, 0xd0);                  /* mov eax, edx */
}

/* Shifts by X: by 32 and more leaves nothing. */
static void shift_x(struct x86 *x, bool left)
{
	put(x, 2, 0xd3, left ? 0xe0 : 0xe8);            /* shl/shr eax, cl */
	put(x, 3, 0x45, 0x31, 0xc0);                    /* xor r8d, r8d */
	put(x, 3, 0x83, 0xf9, 32);                      /* cmp ecx, 32 */
	put(x, 4, 0x41, 0x0f, 0x43, 0xc0);              /* cmovae eax, r8d */
}

static void alu_k(struct x86 *x, const struct sock_filter *f)
{
	static const uint8_t op[] = { [BPF_ADD >> 4] = 0x05, [BPF_SUB >> 4] = 0x2d, [BPF_OR >> 4] = 0x0d,
		[BPF_AND >> 4] = 0x25, [BPF_XOR >> 4] = 0x35 };

	switch (BPF_OP(f->code)) {
	case BPF_LSH: put(x, 3, 0xc1, 0xe0, (int)f->k); return;
	case BPF_RSH: put(x, 3, 0xc1, 0xe8, (int)f->k); return;
	case BPF_MUL: put(x, 2, 0x69, 0xc0); break;     /* imul eax, eax, imm32 */
	default:      put(x, 1, op[BPF_OP(f->code) >> 4]); break;
	}
	put32(x, f->k);
}

static void alu_x(struct x86 *x, const struct sock_filter *f)
{
	static const uint8_t op[] = { [BPF_ADD >> 4] = 0x01, [BPF_SUB >> 4] = 0x29, [BPF_OR >> 4] = 0x09,
		[BPF_AND >> 4] = 0x21, [BPF_XOR >> 4] = 0x31 };

	switch (BPF_OP(f->code)) {
	case BPF_LSH:
	case BPF_RSH: shift_x(x, BPF_OP(f->code) == BPF_LSH); return;
	case BPF_MUL: put(x, 3, 0x0f, 0xaf, 0xc1); return;      /* imul eax, ecx */
	}
	put(x, 2, op[BPF_OP(f->code) >> 4], 0xc8);
}

static void alu(struct x86 *x, const struct sock_filter *f)
{
	switch (BPF_OP(f->code)) {
	case BPF_DIV:
	case BPF_MOD:
		divide(x, f, BPF_OP(f->code) == BPF_MOD);
		break;
	case BPF_NEG:
		put(x, 2, 0xf7, 0xd8);
		break;
	default:
		if (BPF_SRC(f->code) == BPF_X)
			alu_x(x, f);
		else
			alu_k(x, f);
	}
}

/* ---- jumps -------------------------------------------------------------------------------------------- */

static void compare(struct x86 *x, const struct sock_filter *f)
{
	bool set = BPF_OP(f->code) == BPF_JSET;

	if (BPF_SRC(f->code) == BPF_X) {
		put(x, 2, set ? 0x85 : 0x39, 0xc8);     /* test/cmp eax, ecx */
	} else {
		put(x, 1, set ? 0xa9 : 0x3d);           /* test/cmp eax, imm32 */
		put32(x, f->k);
	}
}

static void jump(struct x86 *x, const struct sock_filter *f, uint32_t next)
{
	static const uint8_t cc[] = { [BPF_JEQ >> 4] = CC_E, [BPF_JGT >> 4] = CC_A, [BPF_JGE >> 4] = CC_AE,
		[BPF_JSET >> 4] = CC_NE };
	unsigned yes = cc[BPF_OP(f->code) >> 4];
	bool always = BPF_OP(f->code) == BPF_JA;

	if (!always && f->jt != f->jf) {
		compare(x, f);
		if (f->jt != 0)
			jcc(x, yes, x->at[next + f->jt]);
		else
			jcc(x, yes ^ 1, x->at[next + f->jf]);
	}
	if (always || f->jt == f->jf || (f->jt != 0 && f->jf != 0)) {
		put(x, 1, 0xe9);                        /* jmp rel32 */
		put32(x, x->at[next + (always ? f->k : f->jf)] - (x->n + 4));
	}
}

static void other(struct x86 *x, const struct sock_filter *f)
{
	switch (BPF_CLASS(f->code)) {
	case BPF_ST:
	case BPF_STX:                                   /* mov [r10 + disp8], r32 */
		put(x, 4, 0x41, 0x89, f->code == BPF_STX ? 0x4a : 0x42, (int)(4 * f->k));
		break;
	case BPF_RET:
		if (f->code == (BPF_RET | BPF_K)) {
			put(x, 1, 0xb8);
			put32(x, f->k);
		}
		put(x, 1, 0xc3);
		break;
	case BPF_MISC:
		put(x, 2, 0x89, f->code == (BPF_MISC | BPF_TAX) ? 0xc1 : 0xc8);
		break;
	}
}

static void one(struct x86 *x, const struct sock_filter *f, unsigned i, const struct cbpf_facts *facts)
{
	if (cbpf_reads(f->code))
		load_frame(x, f, facts->end[i]);
	else if (BPF_CLASS(f->code) == BPF_LD || BPF_CLASS(f->code) == BPF_LDX)
		load_other(x, f);
	else if (BPF_CLASS(f->code) == BPF_ALU)
		alu(x, f);
	else if (BPF_CLASS(f->code) == BPF_JMP)
		jump(x, f, i + 1);
	else
		other(x, f);
}

static void all(struct x86 *x, const struct sock_filter *prog, unsigned n, const struct cbpf_facts *facts)
{
	x->n = 0;
	put(x, 3, 0x49, 0x89, 0xd2);                    /* mov r10, rdx */
	put(x, 6, 0x89, 0xf6, 0x31, 0xc0, 0x31, 0xc9);  /* mov esi, esi; xor eax, eax; xor ecx, ecx */
	for (unsigned i = 0; i < n; i++) {
		x->at[i] = x->n;
		if (facts->reached[i])
			one(x, &prog[i], i, facts);
	}
	x->out = x->n;
	put(x, 3, 0x31, 0xc0, 0xc3);                    /* xor eax, eax; ret */
}

void cbpf_code_make(struct cbpf_code *code, const struct sock_filter *prog, unsigned n, const struct cbpf_facts *facts)
{
	struct x86 x = { .at = xk_alloc(sizeof(*x.at) * n) };
	void *p;

	*code = (struct cbpf_code){ .size = MOST * (n + 1) };
	p = x.at != NULL ? mmap(NULL, code->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
	if (p != MAP_FAILED) {
		x.to = p;
		all(&x, prog, n, facts);
		all(&x, prog, n, facts);
		if (mprotect(p, code->size, PROT_READ | PROT_EXEC) == 0)
			memcpy(&code->fn, &p, sizeof p);
		else
			munmap(p, code->size);
	}
	xk_free(x.at);
}

void cbpf_code_free(struct cbpf_code *code)
{
	void *p;

	if (code->fn == NULL)
		return;
	memcpy(&p, &code->fn, sizeof p);
	munmap(p, code->size);
}

#else

void cbpf_code_make(struct cbpf_code *code, const struct sock_filter *prog, unsigned n, const struct cbpf_facts *facts)
{
	(void)prog;
	(void)n;
	(void)facts;
	*code = (struct cbpf_code){ 0 };
}

void cbpf_code_free(struct cbpf_code *code)
{
	(void)code;
}

#endif
