/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_steer.c - programs that steer frames in the kernel: XDP, and fanout of AF_PACKET.
 *
 * Both end in a VP, found as the runtime finds it: a connection's in the map of flows, where
 * there is one; any other key's from the hash; 0 where nothing is known.  The key lies on the
 * stack, where the map's lookup can read it.
 * Invariant: the VP is below nvps whatever the map of flows says.
 */
#include "runtime/classify/classify_ebpf.h"
#include "runtime/mem/xk_mem.h"

#include <stdio.h>
#include <string.h>

#define SELECTOR_OFF (EBPF_STACK_KEY + 12)
#define VPS_MOST     UINT16_MAX

struct steer {
	struct ebpf_gen *g;
	unsigned nvps;
	int      xskmap_fd, flows_fd;
	unsigned found, spread, known;   /* labels: R5 selector; R5 selector; R2 VP */
};

static struct ebpf_gen *gen_new(const struct xk_pattern *p, enum ebpf_bytes bytes, unsigned nvps, char *why, size_t n)
{
	struct ebpf_gen *g;

	if (nvps == 0 || nvps > VPS_MOST) {
		snprintf(why, n, "%u VPs: 1 to %u", nvps, VPS_MOST);
		return NULL;
	}
	g = ebpf_gen_new(p, bytes, why, n);
	if (g == NULL)
		return NULL;
	g->key = BPF_REG_10;
	g->key_off = EBPF_STACK_KEY;
	return g;
}

/* Where the walk can end: kind and selector are known there, nothing else of it matters. */
static void steer_ends(struct steer *s)
{
	struct ebpf_asm *a = &s->g->a;

	for (unsigned i = 0; i < s->g->nend; i++) {
		const struct ebpf_end *e = &s->g->end[i];
		uint8_t raw[4] = { (uint8_t)(e->selector >> 24), (uint8_t)(e->selector >> 16), (uint8_t)(e->selector >> 8),
			(uint8_t)e->selector };
		uint32_t word;

		if (!e->used)
			continue;
		ebpf_here(a, e->label);
		if (e->kind == XK_PAT_NONE) {
			ebpf_alu_imm(a, BPF_MOV, BPF_REG_2, 0);
			ebpf_goto(a, s->known);
			continue;
		}
		memcpy(&word, raw, sizeof(word));
		ebpf_store_imm(a, 4, BPF_REG_10, SELECTOR_OFF, word);
		ebpf_alu32_imm(a, BPF_MOV, BPF_REG_5, e->selector);
		ebpf_goto(a, e->kind == XK_PAT_FLOW ? s->found : s->spread);
	}
}

static bool steer_ends_in(const struct steer *s, bool flow)
{
	for (unsigned i = 0; i < s->g->nend; i++)
		if (s->g->end[i].used && s->g->end[i].kind != XK_PAT_NONE && (s->g->end[i].kind == XK_PAT_FLOW) == flow)
			return true;
	return false;
}

/* R2 = the connection's VP, where the map has it; falls through to the hash otherwise. */
static void steer_lookup(struct steer *s)
{
	struct ebpf_asm *a = &s->g->a;
	unsigned missed = ebpf_label(a);

	ebpf_map(a, BPF_REG_1, s->flows_fd);
	ebpf_alu(a, BPF_MOV, BPF_REG_2, BPF_REG_10);
	ebpf_alu_imm(a, BPF_ADD, BPF_REG_2, EBPF_STACK_KEY);
	ebpf_call(a, BPF_FUNC_map_lookup_elem);
	ebpf_alu(a, BPF_MOV, BPF_REG_1, BPF_REG_0);
	ebpf_load(a, 4, BPF_REG_5, BPF_REG_10, SELECTOR_OFF);
	ebpf_swap(a, BPF_REG_5, 32, false);
	ebpf_if_null(a, BPF_REG_1, missed);
	ebpf_load(a, 4, BPF_REG_2, BPF_REG_1, 0);
	ebpf_if_imm(a, BPF_JLT, BPF_REG_2, s->nvps, s->known);
	ebpf_here(a, missed);
}

static void steer_hash(struct steer *s)
{
	struct ebpf_asm *a = &s->g->a;

	ebpf_hash(s->g, NULL, NULL);
	ebpf_alu32_imm(a, BPF_RSH, BPF_REG_0, 16);
	ebpf_alu32_imm(a, BPF_MUL, BPF_REG_0, s->nvps);
	ebpf_alu32_imm(a, BPF_RSH, BPF_REG_0, 16);
	ebpf_alu32(a, BPF_MOV, BPF_REG_2, BPF_REG_0);
}

static void steer_decide(struct steer *s)
{
	struct ebpf_asm *a = &s->g->a;

	s->found = ebpf_label(a);
	s->spread = ebpf_label(a);
	s->known = ebpf_label(a);
	ebpf_store_imm(a, 8, BPF_REG_10, EBPF_STACK_KEY, 0);
	ebpf_store_imm(a, 8, BPF_REG_10, EBPF_STACK_KEY + 8, 0);
	ebpf_walk(s->g);
	steer_ends(s);
	ebpf_here(a, s->found);
	if (s->flows_fd >= 0 && steer_ends_in(s, true))
		steer_lookup(s);
	ebpf_here(a, s->spread);
	if (steer_ends_in(s, true) || steer_ends_in(s, false))
		steer_hash(s);
	ebpf_here(a, s->known);
}

struct ebpf_gen *ebpf_gen_xdp(const struct xk_pattern *p, unsigned nvps, int xskmap_fd, int flows_fd, char *why, size_t n)
{
	struct ebpf_gen *g = gen_new(p, EBPF_PACKET, nvps, why, n);
	struct steer s = { .g = g, .nvps = nvps, .xskmap_fd = xskmap_fd, .flows_fd = flows_fd };

	if (g == NULL)
		return NULL;
	if (xskmap_fd >= 0)
		ebpf_load(&g->a, 4, BPF_REG_9, BPF_REG_1, offsetof(struct xdp_md, rx_queue_index));
	ebpf_load(&g->a, 4, BPF_REG_6, BPF_REG_1, offsetof(struct xdp_md, data));
	ebpf_load(&g->a, 4, BPF_REG_8, BPF_REG_1, offsetof(struct xdp_md, data_end));
	steer_decide(&s);
	if (xskmap_fd >= 0) {
		ebpf_alu32_imm(&g->a, BPF_MUL, BPF_REG_9, nvps);
		ebpf_alu32(&g->a, BPF_ADD, BPF_REG_2, BPF_REG_9);
		ebpf_map(&g->a, BPF_REG_1, xskmap_fd);
		ebpf_alu_imm(&g->a, BPF_MOV, BPF_REG_3, XDP_PASS);
		ebpf_call(&g->a, BPF_FUNC_redirect_map);
	} else {
		ebpf_alu(&g->a, BPF_MOV, BPF_REG_0, BPF_REG_2);
	}
	ebpf_exit(&g->a);
	return ebpf_gen_done(g, why, n);
}

struct ebpf_gen *ebpf_gen_fanout(const struct xk_pattern *p, unsigned nvps, int flows_fd, char *why, size_t n)
{
	struct ebpf_gen *g = gen_new(p, EBPF_SKB, nvps, why, n);
	struct steer s = { .g = g, .nvps = nvps, .xskmap_fd = -1, .flows_fd = flows_fd };
	unsigned untagged;

	if (g == NULL)
		return NULL;
	untagged = ebpf_label(&g->a);
	ebpf_load(&g->a, 4, BPF_REG_0, BPF_REG_1, offsetof(struct __sk_buff, vlan_present));
	ebpf_if_imm(&g->a, BPF_JEQ, BPF_REG_0, 0, untagged);
	ebpf_alu_imm(&g->a, BPF_MOV, BPF_REG_0, 0);
	ebpf_exit(&g->a);
	ebpf_here(&g->a, untagged);
	ebpf_alu(&g->a, BPF_MOV, BPF_REG_9, BPF_REG_1);
	ebpf_alu_imm(&g->a, BPF_MOV, BPF_REG_7, 0);
	steer_decide(&s);
	ebpf_alu(&g->a, BPF_MOV, BPF_REG_0, BPF_REG_2);
	ebpf_exit(&g->a);
	return ebpf_gen_done(g, why, n);
}
