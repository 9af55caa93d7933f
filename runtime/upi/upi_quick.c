/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_quick.c - what xk_inline.h and xk_node.h do without a call, as functions for all others.
 */
#include "runtime/upi/upi_priv.h"

#include <stdarg.h>
#include <stdio.h>

#undef xk_push
#undef xk_demux
#undef xk_pop
#undef xk_pass
#undef xk_find
#undef xk_dup
#undef xk_node_name
#undef xk_node_conf
#undef xk_node_state
#undef xk_node_down
#undef xk_node_ndown
#undef xk_node_log
#undef xk_rep_here

void xk_push(struct xk_sess *s, struct xk_msg *m)
{
	xk_push_inline(s, m);
}

void xk_demux(struct xk_sess *s, struct xk_msg *m)
{
	xk_demux_inline(s, m);
}

void xk_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	xk_pop_inline(s, lls, m, hdr);
}

void xk_pass(struct xk_sess *s, struct xk_msg *m)
{
	xk_pass_inline(s, m);
}

struct xk_sess *xk_find(struct xk_rep *r, struct xk_msg *m, const struct xk_key *k)
{
	return xk_find_inline(r, m, k);
}

struct xk_sess *xk_dup(struct xk_sess *s)
{
	return xk_dup_inline(s);
}

const char *xk_node_name(const struct xk_node *n)
{
	return n->name;
}

const void *xk_node_conf(const struct xk_node *n)
{
	return n->conf;
}

void *xk_node_state(const struct xk_node *n)
{
	return n->state;
}

struct xk_node *xk_node_down(const struct xk_node *n, unsigned i)
{
	return n->down[i];
}

unsigned xk_node_ndown(const struct xk_node *n)
{
	return n->ndown;
}

struct xk_log *xk_node_log(struct xk_node *n)
{
	return &n->log;
}

struct xk_rep *xk_rep_here(const struct xk_node *n, const struct xk_rep *r)
{
	return n->rep[r->no];
}

const struct xk_slab *xk_rep_slab(const struct xk_rep *r)
{
	return &((const struct upi_rep *)(const void *)r)->slab;
}

uint32_t xk_rep_sessions(const struct xk_rep *r)
{
	return xk_rep_slab(r)->live;
}

bool xk_anywhere_here(const struct xk_rep *r)
{
	return r->vp->set->arch.datagrams == XK_DATAGRAMS_ANYWHERE && xk_vp_is_io(r->vp);
}

void xk_node_error(const struct xk_node *n, struct xk_errs *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	xk_errs_add(e, n->file, n->line, 0, "%s: %s", n->name, text);
}
