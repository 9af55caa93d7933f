/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_param.h - the schema of parameters: declared once in C, used everywhere.
 *
 * A protocol declares an array of struct xk_param; each says where in the
 * protocol's configuration structure the parsed value goes.  Graph checking,
 * vp-graph inspect, command lines, JSON and documentation all read it.
 * Reading and writing values is in xk_param_value.h.
 */
#ifndef XK_PARAM_H
#define XK_PARAM_H

#include "runtime/base/xk_base.h"

enum xk_ptype {          /* C type of the value at .offset */
	XK_P_BOOL,       /* bool */
	XK_P_UINT,       /* uint64_t */
	XK_P_SIZE,       /* uint64_t bytes; "64KiB", "4MB", bare numbers are bytes */
	XK_P_TIME,       /* uint64_t ns; "200ms"; a bare number is an error */
	XK_P_RATE,       /* uint64_t bit/s; "1Gbit/s"; a bare number is an error */
	XK_P_FRACTION,   /* double in 0..1; "1%", "0.01", 0.01 */
	XK_P_ENUM,       /* unsigned: index into .choices */
	XK_P_TEXT,       /* char *, allocated by the parser */
	XK_P_IPV4,       /* uint32_t host order */
	XK_P_CIDR,       /* struct xk_cidr */
	XK_P_MAC,        /* uint8_t[6] */
	XK_P_PORT,       /* uint16_t host order, 0..65535 */
	XK_P_CPUS,       /* uint64_t bit mask; "0-3,5" */
	XK_P_LIST,       /* struct xk_plist of .elem values */
	XK_P_MAP,        /* struct xk_pmap from .key to .elem values */
};

struct xk_cidr { uint32_t addr; uint8_t len; };   /* host order, addr as written */

union xk_pval {
	bool b; uint64_t u; double d; unsigned e; char *text;
	uint32_t ip; struct xk_cidr cidr; uint8_t mac[6]; uint16_t port;
};
struct xk_plist { unsigned n; union xk_pval *v; };
struct xk_pmap  { unsigned n; struct xk_pmap_entry { union xk_pval key, val; } *v; };

#define XK_PF_LIVE     1u    /* a scalar, no text, that may change while running (struct xk_ops, rep_set) */
#define XK_PF_REQUIRED 2u    /* no default: the user must give it */
#define XK_PF_UNSET    4u    /* a scalar without default: not given is told from every value
                              * by xk_param_is_unset (all ones; give it a max below that) */
#define XK_PF_HOST     8u    /* a text that names what is of this machine: a file, a device, a namespace */

struct xk_param {
	const char        *name;
	const char        *group;    /* NULL, or the table it is given in: proto { group = { name = ... } } */
	enum xk_ptype      type;
	const char        *def;      /* as a user would write it; NULL: zero/empty/unset */
	const char        *min, *max; /* as a user would write them, or NULL */
	const char *const *choices;  /* XK_P_ENUM: NULL-terminated */
	enum xk_ptype      key, elem; /* XK_P_MAP, XK_P_LIST */
	const char        *doc;      /* one line, never empty */
	unsigned           flags;
	size_t             offset;   /* in the configuration structure */
};
#define XK_PARAM_END { .name = NULL }
#endif
