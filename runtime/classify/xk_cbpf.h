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

/* ---- running any program -------------------------------------------------------------------- */

/*
 * A program, checked and translated: into machine code where the processor is one that we
 * write for and memory may be made executable, else into threaded code.  It says what
 * libpcap's bpf_filter says: A and X begin as 0, division by 0 and loads out of range end it
 * with 0.  Scratch memory begins as 0, too.
 *
 * Valid is what the kernel takes, without its extensions: no more than BPF_MAXINSNS, the last
 * returns, jumps go forward to an instruction, constant shifts are below 32, no constant
 * divisor is 0.
 */
struct xk_cbpf;
enum xk_cbpf_how { XK_CBPF_BEST, XK_CBPF_THREADED };
/* XK_E_INVAL with a sentence in why, or XK_E_NOMEM. */
int  xk_cbpf_new(struct xk_cbpf **c, const struct sock_filter *prog, unsigned n, enum xk_cbpf_how how, char *why,
		 size_t whylen);
void xk_cbpf_free(struct xk_cbpf *c);
/* "machine code" or "threaded code". */
const char *xk_cbpf_is(const struct xk_cbpf *c);
/* len below 2^31. */
uint32_t xk_cbpf_run(const struct xk_cbpf *c, const uint8_t *frame, uint32_t len);
/* With scratch memory as the caller has it, BPF_MEMWORDS words, which holds the program's when it has
 * returned. */
uint32_t xk_cbpf_run_mem(const struct xk_cbpf *c, const uint8_t *frame, uint32_t len, uint32_t *mem);
void xk_cbpf_burst(const struct xk_cbpf *c, const uint8_t *const *frame, const uint32_t *len, unsigned n,
		   uint32_t *said);

/* ---- as text --------------------------------------------------------------------------------- */

/* One instruction as tcpdump -d writes it, without a newline. */
void xk_cbpf_print(const struct sock_filter *prog, unsigned at, char *text, size_t n);

#endif
