/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf.c - the back end "cbpf": a classic BPF program of the pattern, run by our
 * engine.
 *
 * The program says kind and cell, and leaves the hash and the key's words in scratch memory;
 * the selector follows from the cell.  It is the program that a kernel would run, so what it
 * says here is what it says there.
 * Invariant: like xk_pattern_match, frame by frame.
 */
#include <stdio.h>

#include "runtime/classify/classify_cbpf_priv.h"
#include "runtime/classify/classify_runs.h"
#include "runtime/mem/xk_mem.h"

struct cbpf {
	struct xk_cbpf     *engine;
	unsigned            n;
	uint32_t            selector[XK_PAT_CELLS];      /* of connections, as it lies in a key */
	struct sock_filter  prog[];
};

/* Only the bytes of a connection's key: other verdicts are known by their hash. */
static inline struct xk_key key_of(const uint32_t *mem, uint32_t selector)
{
	struct xk_flowkey k = { .raddr = htobe32(mem[XK_CBPF_RADDR]), .laddr = htobe32(mem[XK_CBPF_LADDR]),
		.rport = htobe16((uint16_t)mem[XK_CBPF_RPORT]), .lport = htobe16((uint16_t)mem[XK_CBPF_LPORT]) };

	memcpy(&k.proto, &selector, sizeof(selector));
	return flow_key(&k);
}

/* Has it a key? */
static inline bool frame_key(const struct cbpf *b, const struct xk_msg *m, uint32_t *mem, struct xk_key *key)
{
	uint32_t said;

	memset(mem, 0, sizeof(*mem) * M_NONE);
	said = xk_cbpf_run_mem(b->engine, m->data, m->len, mem);
	if (XK_UNLIKELY(said >> 16 != XK_PAT_FLOW))
		return false;
	*key = key_of(mem, b->selector[said & 0xffff]);
	return true;
}

/* One connection has one cell, so equal lengths of what varies are headers of equal length. */
static inline bool same_headers(const uint32_t *a, const uint32_t *b)
{
	return ((a[M_HLEN] ^ b[M_HLEN]) | (a[M_BASE0] ^ b[M_BASE0]) | (a[M_BASE1] ^ b[M_BASE1])) == 0;
}

static unsigned cbpf_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	uint32_t mem[2][BPF_MEMWORDS] = { { 0 } };
	bool before = false;             /* the frame before begins or goes on a run */
	struct runs r;

	xk_dassert(n <= CLASSIFY_BURST);
	runs_begin(&r);
	for (unsigned i = 0; i < n; i++) {
		uint32_t *now = mem[i & 1];
		struct xk_key key;
		bool keyed = frame_key(c->priv, m[i], now, &key), may = keyed && m[i]->len >= XK_FRAME_MIN;

		r.flags |= m[i]->flags;
		if (may && before && same_headers(mem[0], mem[1]) && runs_last_is(&r, &key))
			continue;
		before = may;
		runs_add(&r, i, m[i]->len, keyed ? &key : NULL, now[XK_CBPF_HASH]);
	}
	return runs_say(c->tab, flow_table(c->tab), &r, m, n, run);
}

/* ---- life ------------------------------------------------------------------------------------- */

static int cbpf_open(struct xk_classifier *c, char *why, size_t n)
{
	struct cbpf *b = xk_alloc(sizeof(*b) + sizeof(*b->prog) * BPF_MAXINSNS);
	int len;

	snprintf(why, n, "out of memory");
	if (b == NULL)
		return XK_E_NOMEM;
	len = xk_pattern_cbpf_full(c->pat, b->prog, BPF_MAXINSNS);
	if (len == XK_E_NOSPC)
		snprintf(why, n, "the graph's protocols make more than %u instructions of classic BPF", BPF_MAXINSNS);
	if (len > 0) {
		b->n = (unsigned)len;
		len = xk_cbpf_new(&b->engine, b->prog, b->n, XK_CBPF_BEST, why, n);
	}
	if (len < 0) {
		xk_free(b);
		return len;
	}
	for (unsigned i = 0; i < c->pat->ncell; i++)
		b->selector[i] = htobe32(c->pat->cell[i].flow);
	c->priv = b;
	return XK_OK;
}

static void cbpf_free(struct xk_classifier *c)
{
	struct cbpf *b = c->priv;

	xk_cbpf_free(b->engine);
	xk_free(b);
}

static void cbpf_print(const struct xk_classifier *c, FILE *f)
{
	const struct cbpf *b = c->priv;
	char text[128];

	fprintf(f, "classic BPF, %u instructions, run as %s; returns kind << 16 | cell, M[0..3] key, M[4] hash\n", b->n,
		xk_cbpf_is(b->engine));
	for (unsigned i = 0; i < b->n; i++) {
		xk_cbpf_print(b->prog, i, text, sizeof text);
		fprintf(f, "%s\n", text);
	}
}

const struct xk_classifier_ops classify_cbpf = {
	.name = "cbpf", .doc = "the pattern as a classic BPF program, in machine code or threaded code",
	.open = cbpf_open, .runs = cbpf_runs,
	.print = cbpf_print, .free = cbpf_free,
};
