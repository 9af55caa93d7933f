/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf.h - what the parts of the eBPF back end share: assembler, generator, loader.
 *
 * classify_ebpf_asm.c puts instructions together, classify_ebpf_gen.c walks the pattern with
 * them, classify_ebpf_plain.c decides plain frames, classify_ebpf_steer.c and classify_ebpf_batch.c
 * make whole programs, classify_ebpf_load.c hands them to the kernel.  Only the last one needs
 * libbpf.
 *
 * Invariant: a program with `lost` set is never handed out.
 */
#ifndef CLASSIFY_EBPF_H
#define CLASSIFY_EBPF_H

#include <linux/bpf.h>

#include "runtime/classify/xk_ebpf.h"

/* Kernels younger than the C library's headers know these. */
#define EBPF_MAP_ARENA      33u
#define EBPF_CAST_KERNEL    1        /* imm of an address space cast, user to kernel */
#define EBPF_JCOND          0xe0u    /* "may_goto": bounds a loop at run time */
#define EBPF_PSEUDO_FD      1u       /* BPF_PSEUDO_MAP_FD, BPF_PSEUDO_MAP_VALUE */
#define EBPF_PSEUDO_VALUE   2u

/* ---- assembler ------------------------------------------------------------------------------ */

#define EBPF_INSNS  16384u           /* jumps reach 32 767 */
#define EBPF_LABELS 512u
#define EBPF_FIXES  2048u

struct ebpf_asm {
	unsigned n, nlabel, nfix;
	const char *lost;            /* why the program is not whole, or NULL */
	int      place[EBPF_LABELS]; /* of a label, -1 unknown yet */
	struct { uint16_t at, label; } fix[EBPF_FIXES];
	struct bpf_insn insn[EBPF_INSNS];
};

void ebpf_emit(struct ebpf_asm *a, uint8_t code, uint8_t dst, uint8_t src, int off, int32_t imm);
unsigned ebpf_label(struct ebpf_asm *a);             /* a new one, nowhere yet */
void ebpf_here(struct ebpf_asm *a, unsigned label);
/* Jumps: `op` is BPF_JEQ..., 32 bits compared; BPF_JA alone. */
void ebpf_goto(struct ebpf_asm *a, unsigned label);
void ebpf_if_imm(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint32_t imm, unsigned label);
void ebpf_if_reg(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src, unsigned label);
/* 64 bits compared: pointers. */
void ebpf_if_ptr(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src, unsigned label);
void ebpf_if_null(struct ebpf_asm *a, uint8_t dst, unsigned label);
void ebpf_may_goto(struct ebpf_asm *a, unsigned label);
/* Arithmetic: `op` is BPF_ADD...; the ones with 32 clear the upper half. */
void ebpf_alu(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src);
void ebpf_alu_imm(struct ebpf_asm *a, uint8_t op, uint8_t dst, int32_t imm);
void ebpf_alu32(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint8_t src);
void ebpf_alu32_imm(struct ebpf_asm *a, uint8_t op, uint8_t dst, uint32_t imm);
void ebpf_swap(struct ebpf_asm *a, uint8_t dst, unsigned bits, bool little);  /* from a header's order */
/* Memory: `size` bytes, 1, 2, 4 or 8. */
void ebpf_load(struct ebpf_asm *a, unsigned size, uint8_t dst, uint8_t src, int off);
void ebpf_store(struct ebpf_asm *a, unsigned size, uint8_t dst, int off, uint8_t src);
void ebpf_store_imm(struct ebpf_asm *a, unsigned size, uint8_t dst, int off, uint32_t imm);
void ebpf_imm64(struct ebpf_asm *a, uint8_t dst, uint64_t v);
void ebpf_map(struct ebpf_asm *a, uint8_t dst, int fd);
void ebpf_map_value(struct ebpf_asm *a, uint8_t dst, int fd, uint32_t off);
void ebpf_cast(struct ebpf_asm *a, uint8_t dst);     /* arena address: user to kernel */
void ebpf_call(struct ebpf_asm *a, int helper);
void ebpf_exit(struct ebpf_asm *a);
/* Puts the distances into jumps.  false: `lost` says why. */
bool ebpf_finish(struct ebpf_asm *a);

/* One instruction as text; how many slots it takes (1 or 2).  `left` slots from i on. */
unsigned ebpf_text(const struct bpf_insn *i, unsigned at, unsigned left, char *text, size_t n);

/* ---- generator ------------------------------------------------------------------------------ */

/* Where the bytes of a header are. */
enum ebpf_bytes {
	EBPF_SLOT,       /* R6 points at them, R7 of them are left */
	EBPF_PACKET,     /* R6 points at them, R8 is where the frame ends */
	EBPF_SKB,        /* R9 is the socket buffer, R7 their offset; on the stack once loaded */
};

#define EBPF_STACK_KEY    (-16)      /* of the steering programs */
#define EBPF_STACK_HEADER (-272)     /* of EBPF_SKB: 256 bytes, the most a declaration may need */
#define EBPF_STACK_BYTE   (-280)     /* of EBPF_SKB: to see whether a byte is there */

struct ebpf_end {                        /* a way out of the walk */
	unsigned label;
	bool     used;               /* some jump goes there: the verifier knows no dead code */
	uint8_t  kind;               /* enum xk_pat_kind, or XK_EBPF_ASK */
	uint16_t cell;
	uint32_t selector;
};

/* Bytes of a frame that lie in its slot: what headers of their least lengths need, from the first
 * that is looked at, as many as make the slot whole cache lines. */
struct ebpf_window {
	unsigned skip, bytes;
	bool     bounded;            /* a longer header may lead behind them */
};
#define EBPF_LINE 64u

struct ebpf_window ebpf_window(const struct xk_pattern *p);
/* Bytes from a cell's header on up to the next one whose place is not known beforehand. */
unsigned ebpf_reach(const struct xk_pattern *p, const struct xk_cell *c);
/* The most that a header can say of its own length. */
uint64_t ebpf_hlen_most(const struct xk_cell *c);

struct ebpf_gen {
	struct ebpf_asm a;
	const struct xk_pattern *p;
	enum ebpf_bytes bytes;
	uint8_t  key;                /* register from which the key lies at key_off */
	int      key_off;
	struct ebpf_window window;   /* EBPF_SLOT; bounded: R3 is the slot, R4 base - slot */
	uint8_t  base;               /* register from which the first header lies at base_off */
	int      base_off;
	unsigned nend, nlater;
	struct ebpf_end end[3 * XK_PAT_CELLS + 2];
	struct { unsigned label, cell, disp; } later[XK_PAT_CELLS];   /* identities, out of the way */
};

/* A program to be assembled, in memory of its own; its end gives it back, free it then.  NULL with
 * `why`. */
struct ebpf_gen *ebpf_gen_new(const struct xk_pattern *p, enum ebpf_bytes bytes, char *why, size_t n);
struct ebpf_gen *ebpf_gen_done(struct ebpf_gen *g, char *why, size_t n);
/* The walk from the root: falls through nowhere, ends at the labels in g->end. */
void ebpf_walk(struct ebpf_gen *g);
/* Where words of a key lie in a frame as they are, or -1. */
struct ebpf_words { int off[3]; };
/* R0 = hash of the key; selector NULL: it is in R5; from NULL: all is in the key alone.  Spoils R0
 * to R3. */
void ebpf_hash(struct ebpf_gen *g, const uint32_t *selector, const struct ebpf_words *from);
/* Parts of the walk: key bytes of the header at disp, moved (spoils R0); what is compared with dst
 * to see whether a field of it is v, `load`: after loading it there, masked (spoils R2). */
void ebpf_gather(struct ebpf_gen *g, unsigned disp, const struct xk_pat_key *k, unsigned n);
uint32_t ebpf_field(struct ebpf_gen *g, unsigned disp, uint8_t dst, const struct xk_pat_field *f, uint32_t v,
		    bool load);

/*
 * Frames whose headers have their least lengths, in slots of `window`:
 * classify_ebpf_plain.c.  How many kinds of connections can be told so, 0: none.
 */
unsigned ebpf_plain_leaves(const struct xk_pattern *p, const struct ebpf_window *window);
/* The verdict on the frame of the slot `off` bytes behind R8, then on at `done`; at `careful`
 * where it takes the walk.  Spoils R0 to R5. */
void ebpf_plain(struct ebpf_gen *g, int off, unsigned careful, unsigned done);
/* Into the slot `off` bytes behind R8, what an end says besides the hash; zeroed: so is the key,
 * where no header's bytes went. */
void ebpf_say(struct ebpf_gen *g, int off, const struct ebpf_end *e, bool zeroed);

/* ---- programs ------------------------------------------------------------------------------- */

/* The memory that the loop over frames works on: a batch, then slots of `stride` bytes. */
struct ebpf_batch {
	uint32_t n;                  /* slots in use */
	uint32_t pad[15];
};

struct ebpf_layout {
	unsigned slots, stride, size;
	struct ebpf_window window;
};

#define EBPF_LANES         4u        /* slots that an arena's program may decide more than it was told */
#define EBPF_ARENA_SLOTS   1024u
#define EBPF_ARENA_MOST    (4u << 20)    /* bytes */
#define EBPF_CONTEXT_SLOTS 32u           /* the verifier walks through as many rounds */
#define EBPF_CONTEXT_MOST  32767u        /* bytes of a context that an instruction can name */

/* `slots` as many as fit into `most` bytes, 0 when none does. */
struct ebpf_layout ebpf_layout(const struct xk_pattern *p, unsigned slots, size_t most);
/* New programs (xk_free), or NULL with a sentence in why. */
struct ebpf_gen *ebpf_gen_xdp(const struct xk_pattern *p, unsigned nvps, int xskmap_fd, int flows_fd, char *why, size_t n);
struct ebpf_gen *ebpf_gen_fanout(const struct xk_pattern *p, unsigned nvps, int flows_fd, char *why, size_t n);
struct ebpf_gen *ebpf_gen_arena(const struct xk_pattern *p, const struct ebpf_layout *l, int arena_fd, uint64_t base,
				char *why, size_t n);
struct ebpf_gen *ebpf_gen_context(const struct xk_pattern *p, const struct ebpf_layout *l, int array_fd, char *why,
				  size_t n);

/* ---- loader --------------------------------------------------------------------------------- */

/* A descriptor, or a negative error with a sentence and the verifier's last lines in log. */
int ebpf_load_prog(uint32_t type, const char *name, const struct bpf_insn *insn, unsigned n, char *log, size_t loglen);

#endif
