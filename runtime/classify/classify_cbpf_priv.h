/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_priv.h - what the parts of the classic BPF back end share: an assembler with
 * labels, and what is known of a program that is to be run.
 *
 * Of the assembler: jumps go forward only and say where to by label; those that reach further than the 255
 * instructions of a conditional jump are led there by a `ja` behind them.
 * Invariant: a label is placed behind all jumps to it.
 */
#ifndef CLASSIFY_CBPF_PRIV_H
#define CLASSIFY_CBPF_PRIV_H

#include "runtime/classify/xk_cbpf.h"

#define CBPF_NEXT 0u             /* the label of what follows at once */

struct cbpf_line {
	uint16_t code;
	uint16_t jt, jf;         /* labels of a conditional jump; ja: jt */
	bool     far_t, far_f;
	uint32_t k;
};

struct cbpf_asm {
	struct cbpf_line *line;
	uint32_t         *at;    /* of each label: line; UINT32_MAX: not placed */
	bool             *used;
	unsigned          n, nlabel, maxlabel;
	int               err;   /* the first; later calls do nothing */
};

int      cbpf_asm_init(struct cbpf_asm *a, unsigned maxlabel);
void     cbpf_asm_fini(struct cbpf_asm *a);
unsigned cbpf_label(struct cbpf_asm *a);
void     cbpf_place(struct cbpf_asm *a, unsigned label);
void     cbpf_emit(struct cbpf_asm *a, uint16_t code, uint32_t k);
/* BPF_JMP with a comparison, against k or X. */
void     cbpf_jump(struct cbpf_asm *a, uint16_t code, uint32_t k, unsigned jt, unsigned jf);
/* The program, or an error. */
int      cbpf_assemble(struct cbpf_asm *a, struct sock_filter *prog, unsigned max);

/* Scratch words of a generated program behind its hash: a value on its way, the length of the
 * variable header met last, and where what lies behind variable headers begins, in turn. */
enum { M_TEMP = XK_CBPF_HASH + 1, M_HLEN, M_BASE0, M_BASE1, M_NONE };

/* ---- of a program that is to be run ---------------------------------------------------------- */

struct cbpf_facts {
	uint32_t *end;           /* of a load: bytes that must be there, 0: surely are; IND: less X */
	bool     *target;        /* some jump goes here */
	bool     *reached;
	bool      zeroed;        /* scratch may be read before it is written */
};

/* Checks prog; facts of n instructions, to be given back by cbpf_facts_fini. */
int  cbpf_facts_init(struct cbpf_facts *x, const struct sock_filter *prog, unsigned n, char *why, size_t whylen);
void cbpf_facts_fini(struct cbpf_facts *x);

static inline uint32_t cbpf_size(uint16_t code)
{
	return BPF_SIZE(code) == BPF_W ? 4 : BPF_SIZE(code) == BPF_H ? 2 : 1;
}

/* Is it a load of frame bytes? */
static inline bool cbpf_reads(uint16_t code)
{
	unsigned mode = BPF_MODE(code);

	return (BPF_CLASS(code) == BPF_LD && (mode == BPF_ABS || mode == BPF_IND)) || code == (BPF_LDX | BPF_MSH | BPF_B);
}

/* Threaded code. */
struct cbpf_op;
struct cbpf_op *cbpf_thread(const struct sock_filter *prog, unsigned n, const struct cbpf_facts *x);
uint32_t cbpf_thread_run(const struct cbpf_op *op, const uint8_t *frame, uint32_t len, uint32_t *mem);

/* Machine code; NULL: not here. */
typedef uint32_t (*cbpf_code_fn)(const uint8_t *frame, uint32_t len, uint32_t *mem);
struct cbpf_code { cbpf_code_fn fn; size_t size; };
void cbpf_code_make(struct cbpf_code *code, const struct sock_filter *prog, unsigned n, const struct cbpf_facts *x);
void cbpf_code_free(struct cbpf_code *code);

#endif
