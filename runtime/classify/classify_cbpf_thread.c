/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_thread.c - classic BPF as threaded code: for machines that we write no code
 * for, and where memory may not be made executable.
 *
 * Each instruction becomes the address of the code that does it, with its jumps as pointers.
 * What programs are made of becomes one: a load, its mask and the comparison behind it; a load
 * and the store of it; a fold of A into itself.
 * Invariant: no jump leads into the middle of several that became one.
 */
#include <string.h>

#include "runtime/base/xk_base.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/classify/classify_cbpf_priv.h"
#include "runtime/mem/xk_mem.h"

struct cbpf_op {
	const void *go;
	uint32_t    k, end;      /* end: of a load, bytes that must be there */
	uint32_t    mask, value; /* of a load and comparison; value: word of a load and store */
	const struct cbpf_op *t, *f;
};

/* Name and what it does; o: the operation; the one behind it is next, unless it says else.
 * Operations lie where their instructions do: one made of several skips the others. */
#define LOAD_ABS  if (XK_UNLIKELY(len < o->end)) return 0
#define LOAD_IND  if (XK_UNLIKELY((uint64_t)x + o->end > len)) return 0
#define ABS_W     xk_be32(p + o->k)
#define ABS_H     xk_be16(p + o->k)
#define ABS_B     p[o->k]
#define IND_W     xk_be32(p + x + o->k)
#define IND_H     xk_be16(p + x + o->k)
#define IND_B     p[x + o->k]
#define LOADS(Y, how, size) \
	Y(how##_##size,      LOAD_##how; a = how##_##size) \
	Y(how##_##size##_ST, LOAD_##how; a = how##_##size; mem[o->value] = a; o++) \
	Y(how##_##size##_EQ, LOAD_##how; a = how##_##size & o->mask; BRANCH(a == o->value)) \
	Y(how##_##size##_IF, LOAD_##how; a = how##_##size & o->mask; BRANCH((a & o->value) != 0))
#define OPS(Y) \
	LOADS(Y, ABS, W) LOADS(Y, ABS, H) LOADS(Y, ABS, B) LOADS(Y, IND, W) LOADS(Y, IND, H) LOADS(Y, IND, B) \
	Y(NO_FRAME,  return 0) \
	Y(MSH,       LOAD_ABS; x = (p[o->k] & 15u) << 2) \
	Y(LD_IMM,    a = o->k)           Y(LDX_IMM, x = o->k) \
	Y(LD_LEN,    a = len)            Y(LDX_LEN, x = len) \
	Y(LD_MEM,    a = mem[o->k])      Y(LDX_MEM, x = mem[o->k]) \
	Y(ST,        mem[o->k] = a)      Y(STX,     mem[o->k] = x) \
	Y(TAX,       x = a)              Y(TXA,     a = x) \
	Y(FOLD,      x = a; a ^= a >> o->k; o += 2) \
	Y(NEG,       a = 0u - a) \
	Y(ADD_K, a += o->k)  Y(SUB_K, a -= o->k)  Y(MUL_K, a *= o->k)  Y(DIV_K, a /= o->k)   Y(MOD_K, a %= o->k) \
	Y(AND_K, a &= o->k)  Y(OR_K,  a |= o->k)  Y(XOR_K, a ^= o->k)  Y(LSH_K, a <<= o->k)  Y(RSH_K, a >>= o->k) \
	Y(ADD_X, a += x)     Y(SUB_X, a -= x)     Y(MUL_X, a *= x) \
	Y(AND_X, a &= x)     Y(OR_X,  a |= x)     Y(XOR_X, a ^= x) \
	Y(DIV_X, if (x == 0) return 0; a /= x)    Y(MOD_X, if (x == 0) return 0; a %= x) \
	Y(LSH_X, a = x < 32 ? a << x : 0)         Y(RSH_X, a = x < 32 ? a >> x : 0) \
	Y(JA,    o = o->t - 1) \
	Y(JEQ_K,  BRANCH(a == o->k))  Y(JGT_K,  BRANCH(a > o->k))  Y(JGE_K,  BRANCH(a >= o->k)) \
	Y(JSET_K, BRANCH((a & o->k) != 0)) \
	Y(JEQ_X,  BRANCH(a == x))     Y(JGT_X,  BRANCH(a > x))     Y(JGE_X,  BRANCH(a >= x)) \
	Y(JSET_X, BRANCH((a & x) != 0)) \
	Y(LEN_GE, a = len; BRANCH(a >= o->k)) \
	Y(RET_K,  return o->k)        Y(RET_A, return a)

#define ENUM(name, does) T_##name,
enum { OPS(ENUM) T_COUNT };

/* With op NULL gives the addresses of all operations. */
static uint32_t interpret(const struct cbpf_op *o, const uint8_t *p, uint32_t len, uint32_t *mem, const void **table)
{
#define LABEL(name, does) [T_##name] = &&do_##name,
	static const void *const label[] = { OPS(LABEL) };
	uint32_t a = 0, x = 0;

	if (o == NULL) {
		memcpy(table, label, sizeof label);
		return 0;
	}
	goto *o->go;
#define BRANCH(yes) o = ((yes) ? o->t : o->f) - 1
#define CODE(name, does) do_##name: does; o++; goto *o->go;
	OPS(CODE)
	return 0;
}

uint32_t cbpf_thread_run(const struct cbpf_op *op, const uint8_t *frame, uint32_t len, uint32_t *mem)
{
	return interpret(op, frame, len, mem, NULL);
}

/* ---- translation ---------------------------------------------------------------------------------- */

static unsigned load_kind(uint16_t code)
{
	unsigned ind = BPF_MODE(code) == BPF_IND;

	switch (BPF_SIZE(code)) {
	case BPF_W: return ind ? T_IND_W : T_ABS_W;
	case BPF_H: return ind ? T_IND_H : T_ABS_H;
	}
	return ind ? T_IND_B : T_ABS_B;
}

static unsigned alu_kind(uint16_t code)
{
	static const uint8_t by_k[] = { T_ADD_K, T_SUB_K, T_MUL_K, T_DIV_K, T_OR_K, T_AND_K, T_LSH_K, T_RSH_K, T_NEG, T_MOD_K,
		T_XOR_K };
	static const uint8_t by_x[] = { T_ADD_X, T_SUB_X, T_MUL_X, T_DIV_X, T_OR_X, T_AND_X, T_LSH_X, T_RSH_X, T_NEG, T_MOD_X,
		T_XOR_X };

	return (BPF_SRC(code) == BPF_X ? by_x : by_k)[BPF_OP(code) >> 4];
}

static unsigned jump_kind(uint16_t code)
{
	static const uint8_t by_k[] = { T_JA, T_JEQ_K, T_JGT_K, T_JGE_K, T_JSET_K };
	static const uint8_t by_x[] = { T_JA, T_JEQ_X, T_JGT_X, T_JGE_X, T_JSET_X };

	return (BPF_SRC(code) == BPF_X ? by_x : by_k)[BPF_OP(code) >> 4];
}

static unsigned other_kind(uint16_t code)
{
	switch (code) {
	case BPF_LD | BPF_IMM:           return T_LD_IMM;
	case BPF_LDX | BPF_IMM:          return T_LDX_IMM;
	case BPF_LD | BPF_W | BPF_LEN:   return T_LD_LEN;
	case BPF_LDX | BPF_W | BPF_LEN:  return T_LDX_LEN;
	case BPF_LD | BPF_MEM:           return T_LD_MEM;
	case BPF_LDX | BPF_MEM:          return T_LDX_MEM;
	case BPF_LDX | BPF_MSH | BPF_B:  return T_MSH;
	case BPF_ST:                     return T_ST;
	case BPF_STX:                    return T_STX;
	case BPF_MISC | BPF_TAX:         return T_TAX;
	case BPF_MISC | BPF_TXA:         return T_TXA;
	case BPF_RET | BPF_A:            return T_RET_A;
	}
	return T_RET_K;
}

static unsigned kind_of(uint16_t code)
{
	if (cbpf_reads(code) && BPF_CLASS(code) == BPF_LD)
		return load_kind(code);
	if (BPF_CLASS(code) == BPF_ALU)
		return alu_kind(code);
	if (BPF_CLASS(code) == BPF_JMP)
		return jump_kind(code);
	return other_kind(code);
}

struct threader {
	const struct sock_filter *prog;
	const struct cbpf_facts  *facts;
	const void               *label[T_COUNT];
	unsigned                  n;
};

/* Is instruction i this one, and come to from the one before only? */
static bool follows(const struct threader *t, unsigned i, uint16_t code)
{
	return i < t->n && !t->facts->target[i] && t->prog[i].code == code;
}

static void aim(const struct threader *t, struct cbpf_op *op, unsigned i, struct cbpf_op *to)
{
	const struct sock_filter *f = &t->prog[i];

	if (BPF_OP(f->code) == BPF_JA) {
		to->t = &op[i + 1 + f->k];
		return;
	}
	to->t = &op[i + 1 + f->jt];
	to->f = &op[i + 1 + f->jf];
}

/* Several that begin with a load at i as one: the kind that it becomes, or the load's. */
static unsigned with_load(const struct threader *t, struct cbpf_op *op, unsigned i)
{
	unsigned kind = load_kind(t->prog[i].code), at = i + 1;
	struct cbpf_op *o = &op[i];

	if (follows(t, at, BPF_ST)) {
		o->value = t->prog[at].k;
		return kind + 1;
	}
	o->mask = UINT32_MAX;
	if (follows(t, at, BPF_ALU | BPF_AND | BPF_K))
		o->mask = t->prog[at++].k;
	if (!follows(t, at, BPF_JMP | BPF_JEQ | BPF_K) && !follows(t, at, BPF_JMP | BPF_JSET | BPF_K))
		return kind;
	o->value = t->prog[at].k;
	aim(t, op, at, o);
	return kind + (BPF_OP(t->prog[at].code) == BPF_JEQ ? 2 : 3);
}

static unsigned translate(const struct threader *t, struct cbpf_op *op, unsigned i)
{
	const struct sock_filter *f = &t->prog[i];
	struct cbpf_op *o = &op[i];

	o->k = f->k;
	o->end = t->facts->end[i];
	if (cbpf_reads(f->code) && o->end == UINT32_MAX)
		return T_NO_FRAME;
	if (BPF_CLASS(f->code) == BPF_JMP)
		aim(t, op, i, o);
	if (cbpf_reads(f->code) && BPF_CLASS(f->code) == BPF_LD)
		return with_load(t, op, i);
	if (f->code == (BPF_MISC | BPF_TAX) && follows(t, i + 1, BPF_ALU | BPF_RSH | BPF_K) &&
	    follows(t, i + 2, BPF_ALU | BPF_XOR | BPF_X)) {
		o->k = t->prog[i + 1].k;
		return T_FOLD;
	}
	if (f->code == (BPF_LD | BPF_W | BPF_LEN) && follows(t, i + 1, BPF_JMP | BPF_JGE | BPF_K)) {
		aim(t, op, i + 1, o);
		o->k = t->prog[i + 1].k;
		return T_LEN_GE;
	}
	return kind_of(f->code);
}

struct cbpf_op *cbpf_thread(const struct sock_filter *prog, unsigned n, const struct cbpf_facts *x)
{
	struct threader t = { .prog = prog, .facts = x, .n = n };
	struct cbpf_op *op = xk_alloc(sizeof(*op) * n);

	if (op == NULL)
		return NULL;
	interpret(NULL, NULL, 0, NULL, t.label);
	for (unsigned i = 0; i < n; i++)
		op[i].go = t.label[translate(&t, op, i)];
	return op;
}
