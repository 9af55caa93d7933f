/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_part.h - participants: stacks of addresses, one stack per party.
 *
 * The opener pushes the innermost address first (host, then port); each layer
 * on the way down pops its own piece from the top.  Element 0 is the remote
 * party, element 1 the local one (optional).  The callee may consume the list.
 * Pieces are copied in, so a list may be saved by plain assignment.
 */
#ifndef XK_PART_H
#define XK_PART_H

#include "runtime/base/xk_base.h"

#define XK_PART_DEPTH 6
#define XK_PART_BYTES 15
struct xk_part {
	uint8_t depth;
	struct { uint8_t len; uint8_t bytes[XK_PART_BYTES]; } item[XK_PART_DEPTH]; /* len 0: ANY */
};
/* at_home: an open says XK_E_ELSEWHERE where the hash of both ends is another VP's (xk_rep_home),
 * and the caller goes there; else ends that are given are bound where the caller is. */
struct xk_parts { unsigned n; bool at_home; struct xk_part p[2]; };

#define XK_REMOTE 0
#define XK_LOCAL  1

/* n stacks, empty. */
void xk_parts_init(struct xk_parts *ps, unsigned n);
/* XK_E_NOSPC past the depth, XK_E_INVAL for len 0 or > XK_PART_BYTES. */
int  xk_part_push(struct xk_part *p, const void *bytes, unsigned len);
int  xk_part_push_any(struct xk_part *p);
/* Copies the top piece, which must have exactly len bytes, and removes it.
 * 1: it was ANY (bytes untouched); 0: copied; XK_E_INVAL: empty or another
 * length. */
int  xk_part_pop(struct xk_part *p, void *bytes, unsigned len);
/* Bytes written to buf, or XK_E_NOSPC; internalize returns 0 or XK_E_INVAL. */
int  xk_parts_externalize(const struct xk_parts *ps, uint8_t *buf, unsigned n);
int  xk_parts_internalize(struct xk_parts *ps, const uint8_t *buf, unsigned n);

/* The pieces that this project's protocols use, values in host order.
 * pop: as xk_part_pop. */
int  xk_part_push_port(struct xk_part *p, uint16_t port);
int  xk_part_pop_port(struct xk_part *p, uint16_t *port);
int  xk_part_push_host(struct xk_part *p, uint32_t ipv4);
int  xk_part_pop_host(struct xk_part *p, uint32_t *ipv4);
int  xk_part_push_mac(struct xk_part *p, const uint8_t mac[6]);
int  xk_part_pop_mac(struct xk_part *p, uint8_t mac[6]);

#endif
