/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_priv.h - what the parts of the classic BPF back end share: an assembler with
 * labels.
 *
 * Jumps go forward only and say where to by label; those that reach further than the 255
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

#endif
