/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_cbpf.h - classic BPF: programs made from a pattern, an engine that runs any valid
 * program, and their text.
 *
 * Nothing here keeps state but the engine's translation, which never changes once made: any
 * thread may run it.
 */
#ifndef XK_CBPF_H
#define XK_CBPF_H

#include <linux/filter.h>

#include "runtime/classify/xk_pattern.h"

/* ---- programs from patterns ---------------------------------------------------------------- */

/*
 * Each returns the number of instructions, or XK_E_NOSPC: they do not fit in max (at most
 * BPF_MAXINSNS), or XK_E_INVAL.  XK_E_NOMEM.
 *
 * `before` is how many bytes of the frame lie in front of the first that the program can
 * address: 0 where it sees the whole frame (libpcap, our engine, SO_ATTACH_FILTER of a packet
 * socket of type SOCK_RAW); the link header's length for a fanout group, which sees a received
 * frame from the network header on.  Bytes in front are read at SKF_LL_OFF.
 */

/* Returns the VP of the frame, 0 to nvps - 1, by hash alone: exact connections are in no
 * program.  For PACKET_FANOUT_CBPF. */
int xk_pattern_cbpf_vp(const struct xk_pattern *p, unsigned nvps, unsigned before, struct sock_filter *prog,
		       unsigned max);

/* Returns kind << 16 | cell, and leaves the hash and the words of the key in scratch memory.
 * Words that the protocols up to this cell do not fill are not written: they are to be 0
 * before it runs, which the engine sees to. */
enum { XK_CBPF_RADDR, XK_CBPF_LADDR, XK_CBPF_RPORT, XK_CBPF_LPORT, XK_CBPF_HASH };
int xk_pattern_cbpf_full(const struct xk_pattern *p, struct sock_filter *prog, unsigned max);

/* Accepts what the graph wants: a frame of the root's protocol, and unless that has a key of
 * its own of one above it.  With nlocal addresses (as in struct xk_flowkey, network order) only those sent to one
 * of them, where the frame has a whole local address.  Returns XK_CBPF_SNAP or 0. */
#define XK_CBPF_SNAP 262144u
int xk_pattern_cbpf_filter(const struct xk_pattern *p, const uint32_t *local, unsigned nlocal, unsigned before,
			   struct sock_filter *prog, unsigned max);

/* ---- as text --------------------------------------------------------------------------------- */

/* One instruction as tcpdump -d writes it, without a newline. */
void xk_cbpf_print(const struct sock_filter *prog, unsigned at, char *text, size_t n);

#endif
