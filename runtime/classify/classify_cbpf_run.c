/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_cbpf_run.c - the engine: a program checked once, translated once, run often.
 *
 * Invariant: a struct xk_cbpf never changes after it was made.
 */
#include <string.h>

#include "runtime/base/xk_base.h"
#include "runtime/classify/classify_cbpf_priv.h"
#include "runtime/mem/xk_mem.h"

struct xk_cbpf {
	struct cbpf_code code;
	struct cbpf_op  *op;
	bool             zeroed;
};

int xk_cbpf_new(struct xk_cbpf **out, const struct sock_filter *prog, unsigned n, enum xk_cbpf_how how, char *why,
		size_t whylen)
{
	struct cbpf_facts facts;
	struct xk_cbpf *c;
	int err = cbpf_facts_init(&facts, prog, n, why, whylen);

	*out = NULL;
	if (err != XK_OK)
		return err;
	c = xk_alloc(sizeof(*c));
	if (c != NULL) {
		c->zeroed = facts.zeroed;
		if (how == XK_CBPF_BEST)
			cbpf_code_make(&c->code, prog, n, &facts);
		if (c->code.fn == NULL)
			c->op = cbpf_thread(prog, n, &facts);
	}
	cbpf_facts_fini(&facts);
	if (c == NULL || (c->code.fn == NULL && c->op == NULL)) {
		xk_free(c);
		if (whylen != 0)
			strncpy(why, "out of memory", whylen - 1)[whylen - 1] = '\0';
		return XK_E_NOMEM;
	}
	*out = c;
	return XK_OK;
}

void xk_cbpf_free(struct xk_cbpf *c)
{
	if (c == NULL)
		return;
	cbpf_code_free(&c->code);
	xk_free(c->op);
	xk_free(c);
}

const char *xk_cbpf_is(const struct xk_cbpf *c)
{
	return c->code.fn != NULL ? "machine code" : "threaded code";
}

uint32_t xk_cbpf_run_mem(const struct xk_cbpf *c, const uint8_t *frame, uint32_t len, uint32_t *mem)
{
	return XK_LIKELY(c->code.fn != NULL) ? c->code.fn(frame, len, mem) : cbpf_thread_run(c->op, frame, len, mem);
}

uint32_t xk_cbpf_run(const struct xk_cbpf *c, const uint8_t *frame, uint32_t len)
{
	uint32_t mem[BPF_MEMWORDS];

	if (c->zeroed)
		memset(mem, 0, sizeof mem);
	return xk_cbpf_run_mem(c, frame, len, mem);
}

void xk_cbpf_burst(const struct xk_cbpf *c, const uint8_t *const *frame, const uint32_t *len, unsigned n,
		   uint32_t *said)
{
	uint32_t mem[BPF_MEMWORDS];

	for (unsigned i = 0; i < n; i++) {
		if (c->zeroed)
			memset(mem, 0, sizeof mem);
		said[i] = xk_cbpf_run_mem(c, frame[i], len[i], mem);
	}
}
