/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_batch.c - programs that decide about a batch of frames in one call.
 *
 * Of type SYSCALL: they run when they are called and work on slots, a verdict and a frame's
 * first bytes each.  In an arena the slots are memory that the caller shares with the program:
 * nothing is copied, and a pointer that errs reads zeros, so the verifier asks for no bounds.
 * In a context buffer the kernel copies the batch in and out: the whole context goes into the
 * value of an array, as only there may a program point where it wants, and the verdicts back in
 * the end.
 * Loops differ too: "may_goto" came with arenas; without it the verifier walks through every
 * round, so there are few.  A round of the arena's loop is up to four slots, so that what a round
 * costs is shared and their instructions overlap; the last round may decide slots that nobody
 * asked about.  Plain frames are decided where they stand, others by the one walk at the end.
 *
 * R8 slot, the round's first in an arena; R9 slots to go (arena) or slot's number (context), others
 * as the walk has them.
 * Invariant: both write the same verdicts.
 */
#include <stdio.h>
#include <string.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/mem/xk_mem.h"

#define WINDOW_MOST 1024u            /* bytes of a slot's frame */
#define STACK_N     (-8)             /* of the context's program */
#define STACK_CTX   (-16)
#define STACK_LANE  (-8)             /* of the arena's: the slot that is walked through */
#define PLAIN_WIDE  4u               /* kinds of connections for which a round has several slots */
#define PLAIN_MOST  16u

#define V(field)    ((int)offsetof(struct xk_ebpf_slot, v.field))

struct ebpf_layout ebpf_layout(const struct xk_pattern *p, unsigned slots, size_t most)
{
	struct ebpf_layout l = { .slots = slots };
	size_t fit;

	l.window = ebpf_window(p);
	l.stride = (unsigned)sizeof(struct xk_ebpf_slot) + l.window.bytes;
	fit = most > sizeof(struct ebpf_batch) ? (most - sizeof(struct ebpf_batch)) / l.stride : 0;
	if (l.slots > fit || l.window.bytes > WINDOW_MOST)
		l.slots = l.window.bytes > WINDOW_MOST ? 0 : (unsigned)fit;
	l.size = (unsigned)sizeof(struct ebpf_batch) + l.slots * l.stride;
	return l;
}

static struct ebpf_gen *gen_new(const struct xk_pattern *p, const struct ebpf_layout *l, char *why, size_t n)
{
	struct ebpf_gen *g;

	if (l->slots == 0) {
		snprintf(why, n, "headers of this graph take %u bytes of a frame: a batch has room for %u",
			 l->window.bytes, WINDOW_MOST);
		return NULL;
	}
	g = ebpf_gen_new(p, EBPF_SLOT, why, n);
	if (g == NULL)
		return NULL;
	g->key = BPF_REG_8;
	g->key_off = V(key);
	g->window = l->window;
	return g;
}

/* ---- one slot ------------------------------------------------------------------------------- */

void ebpf_say(struct ebpf_gen *g, int off, const struct ebpf_end *e, bool zeroed)
{
	struct xk_pat_verdict v = { .cell = e->cell, .kind = e->kind };
	uint8_t raw[4] = { (uint8_t)(e->selector >> 24), (uint8_t)(e->selector >> 16), (uint8_t)(e->selector >> 8),
		(uint8_t)e->selector };
	uint32_t word;

	memcpy(&word, &v.cell, sizeof(word));
	ebpf_store_imm(&g->a, 4, BPF_REG_8, off + V(cell), word);
	memcpy(&word, raw, sizeof(word));
	if (word != 0 || !zeroed)
		ebpf_store_imm(&g->a, 4, BPF_REG_8, off + V(key) + 12, word);
}

/* The verdict on the frame in slot R8; comes out at `next`, wherever the walk ended. */
static void gen_slot(struct ebpf_gen *g, unsigned next)
{
	struct ebpf_asm *a = &g->a;
	unsigned hash = ebpf_label(a);
	bool hashed = false;

	ebpf_store_imm(a, 8, BPF_REG_8, V(key), 0);
	ebpf_store_imm(a, 8, BPF_REG_8, V(key) + 8, 0);
	ebpf_load(a, 4, BPF_REG_7, BPF_REG_8, offsetof(struct xk_ebpf_slot, len));
	ebpf_alu(a, BPF_MOV, BPF_REG_6, BPF_REG_8);
	ebpf_alu_imm(a, BPF_ADD, BPF_REG_6, (int32_t)offsetof(struct xk_ebpf_slot, frame) - (int32_t)g->window.skip);
	if (g->window.bounded) {
		ebpf_alu(a, BPF_MOV, BPF_REG_3, BPF_REG_6);
		ebpf_alu_imm(a, BPF_MOV, BPF_REG_4, 0);
	}
	ebpf_walk(g);
	for (unsigned i = 0; i < g->nend; i++) {
		const struct ebpf_end *e = &g->end[i];

		if (!e->used)
			continue;
		ebpf_here(a, e->label);
		ebpf_say(g, 0, e, true);
		ebpf_alu32_imm(a, BPF_MOV, BPF_REG_5, e->selector);
		if (e->kind == XK_PAT_NONE || e->kind == XK_EBPF_ASK) {
			ebpf_store_imm(a, 4, BPF_REG_8, V(hash), 0);
			ebpf_goto(a, next);
		} else {
			ebpf_goto(a, hash);
			hashed = true;
		}
	}
	ebpf_here(a, hash);
	if (hashed) {
		ebpf_hash(g, NULL, NULL);
		ebpf_store(a, 4, BPF_REG_8, V(hash), BPF_REG_0);
	}
	ebpf_here(a, next);
}

/* ---- in an arena ------------------------------------------------------------------------------ */

/* Slots a round, so that what a round costs is shared; fewer when they would be much code. */
static unsigned lanes_of(const struct xk_pattern *p, const struct ebpf_window *window)
{
	unsigned leaves = ebpf_plain_leaves(p, window);

	return leaves == 0 || leaves > PLAIN_MOST ? 0 : leaves > PLAIN_WIDE ? 1 : EBPF_LANES;
}

/* The slots that the round's first one, R8, begins: straight where that does, else by a walk
 * that comes back to the slot behind. */
static void gen_lanes(struct ebpf_gen *g, const struct ebpf_layout *l, unsigned lanes, unsigned round)
{
	struct ebpf_asm *a = &g->a;
	unsigned careful[EBPF_LANES], next[EBPF_LANES], walk = ebpf_label(a), walked = ebpf_label(a);

	for (unsigned i = 0; i < lanes; i++) {
		careful[i] = ebpf_label(a);
		next[i] = ebpf_label(a);
	}
	for (unsigned i = 0; i < lanes; i++) {
		ebpf_plain(g, (int)(i * l->stride), careful[i], next[i]);
		ebpf_here(a, next[i]);
	}
	ebpf_alu_imm(a, BPF_ADD, BPF_REG_8, (int32_t)(lanes * l->stride));
	ebpf_goto(a, round);
	for (unsigned i = 0; i < lanes; i++) {
		ebpf_here(a, careful[i]);
		ebpf_store_imm(a, 8, BPF_REG_10, STACK_LANE, i);
		if (i != 0)
			ebpf_alu_imm(a, BPF_ADD, BPF_REG_8, (int32_t)(i * l->stride));
		ebpf_goto(a, walk);
	}
	ebpf_here(a, walk);
	gen_slot(g, walked);
	ebpf_load(a, 8, BPF_REG_0, BPF_REG_10, STACK_LANE);
	ebpf_if_imm(a, BPF_JEQ, BPF_REG_0, 0, next[0]);
	for (unsigned i = 1; i < lanes; i++) {
		ebpf_alu_imm(a, BPF_ADD, BPF_REG_8, -(int32_t)l->stride);
		ebpf_if_imm(a, BPF_JEQ, BPF_REG_0, i, next[i]);
	}
}

struct ebpf_gen *ebpf_gen_arena(const struct xk_pattern *p, const struct ebpf_layout *l, int arena_fd, uint64_t base,
				char *why, size_t n)
{
	struct ebpf_gen *g = gen_new(p, l, why, n);
	unsigned round, next, out, lanes = lanes_of(p, &l->window);

	if (g == NULL)
		return NULL;
	round = ebpf_label(&g->a);
	next = ebpf_label(&g->a);
	out = ebpf_label(&g->a);
	ebpf_map(&g->a, BPF_REG_1, arena_fd);    /* says whose addresses are meant */
	ebpf_imm64(&g->a, BPF_REG_8, base);
	ebpf_cast(&g->a, BPF_REG_8);
	ebpf_load(&g->a, 4, BPF_REG_9, BPF_REG_8, offsetof(struct ebpf_batch, n));
	ebpf_alu_imm(&g->a, BPF_ADD, BPF_REG_8, sizeof(struct ebpf_batch));
	ebpf_here(&g->a, round);
	if (lanes > 1)
		ebpf_if_imm(&g->a, BPF_JSLE, BPF_REG_9, 0, out);
	else
		ebpf_if_imm(&g->a, BPF_JEQ, BPF_REG_9, 0, out);
	ebpf_may_goto(&g->a, out);
	ebpf_alu32_imm(&g->a, BPF_ADD, BPF_REG_9, -(lanes > 1 ? lanes : 1));
	if (lanes != 0) {
		gen_lanes(g, l, lanes, round);
	} else {
		gen_slot(g, next);
		ebpf_alu_imm(&g->a, BPF_ADD, BPF_REG_8, (int32_t)l->stride);
	}
	ebpf_goto(&g->a, round);
	ebpf_here(&g->a, out);
	ebpf_alu_imm(&g->a, BPF_MOV, BPF_REG_0, 0);
	ebpf_exit(&g->a);
	return ebpf_gen_done(g, why, n);
}

/* ---- in the context buffer ---------------------------------------------------------------------- */

/* R8 = the array's value, filled with the context; the number of slots on the stack. */
static void context_in(struct ebpf_gen *g, const struct ebpf_layout *l, int array_fd)
{
	struct ebpf_asm *a = &g->a;

	ebpf_store(a, 8, BPF_REG_10, STACK_CTX, BPF_REG_1);
	ebpf_alu(a, BPF_MOV, BPF_REG_3, BPF_REG_1);
	ebpf_alu_imm(a, BPF_MOV, BPF_REG_2, (int32_t)l->size);
	ebpf_map_value(a, BPF_REG_1, array_fd, 0);
	ebpf_alu(a, BPF_MOV, BPF_REG_8, BPF_REG_1);
	ebpf_call(a, BPF_FUNC_probe_read_kernel);
	ebpf_load(a, 4, BPF_REG_1, BPF_REG_8, offsetof(struct ebpf_batch, n));
	ebpf_store(a, 8, BPF_REG_10, STACK_N, BPF_REG_1);
}

/* No helper writes to a context, and its offsets are constants: verdicts go back one by one. */
static void context_out(struct ebpf_gen *g, const struct ebpf_layout *l, int array_fd)
{
	struct ebpf_asm *a = &g->a;

	ebpf_load(a, 8, BPF_REG_1, BPF_REG_10, STACK_CTX);
	ebpf_map_value(a, BPF_REG_2, array_fd, 0);
	for (unsigned i = 0; i < l->slots; i++)
		for (unsigned at = 0; at < sizeof(struct xk_pat_verdict); at += 8) {
			int off = (int)(sizeof(struct ebpf_batch) + i * l->stride + at);

			ebpf_load(a, 8, BPF_REG_0, BPF_REG_2, off);
			ebpf_store(a, 8, BPF_REG_1, off, BPF_REG_0);
		}
	ebpf_alu_imm(a, BPF_MOV, BPF_REG_0, 0);
	ebpf_exit(a);
}

struct ebpf_gen *ebpf_gen_context(const struct xk_pattern *p, const struct ebpf_layout *l, int array_fd, char *why,
				  size_t n)
{
	struct ebpf_gen *g = gen_new(p, l, why, n);
	unsigned loop, next, out;

	if (g == NULL)
		return NULL;
	loop = ebpf_label(&g->a);
	next = ebpf_label(&g->a);
	out = ebpf_label(&g->a);
	context_in(g, l, array_fd);
	ebpf_alu_imm(&g->a, BPF_ADD, BPF_REG_8, sizeof(struct ebpf_batch));
	ebpf_alu_imm(&g->a, BPF_MOV, BPF_REG_9, 0);
	ebpf_here(&g->a, loop);
	ebpf_load(&g->a, 8, BPF_REG_1, BPF_REG_10, STACK_N);
	ebpf_if_reg(&g->a, BPF_JGE, BPF_REG_9, BPF_REG_1, out);
	gen_slot(g, next);
	ebpf_alu_imm(&g->a, BPF_ADD, BPF_REG_8, (int32_t)l->stride);
	ebpf_alu_imm(&g->a, BPF_ADD, BPF_REG_9, 1);
	ebpf_if_imm(&g->a, BPF_JLT, BPF_REG_9, l->slots, loop);
	ebpf_here(&g->a, out);
	context_out(g, l, array_fd);
	return ebpf_gen_done(g, why, n);
}
