/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_fixture.h - two stacks with ncs on top, joined by a wire, for tests of connections.
 *
 * Host A (10.0.0.1) has `client` over `na`, host B (10.0.0.2) `echo` and `back` over `nb`; `raw` of A
 * lies beside ncs over its transport and says what it likes.  Every pair of controls has a number,
 * and lies on both sides.  The lines of A are impaired as the test says.
 * Invariant: message i of nf_make is the same bytes whenever it is made.
 */
#ifndef NCS_FIXTURE_H
#define NCS_FIXTURE_H

#include "tests/protocols/proto_fixture.h"

extern const struct xk_proto xk_proto_echo;

#define NF_SERVER 0x0a000002u
#define NF_CTL 7700
#define NF_MOST 300000u          /* bytes of nf_bytes */
#define NF_FLOWS 4u
#define NF_ERRORS 3u
#define NF_PAIRS (NF_FLOWS * NF_ERRORS)
#define NF_FLOW(pair) ((pair) / NF_ERRORS)
#define NF_ERROR(pair) ((pair) % NF_ERRORS)
/* Without error control messages may be lost. */
#define NF_SURE(pair) (NF_ERROR(pair) != 0)

struct nf_how {
	unsigned nvps;                   /* 0: one */
	unsigned pair;
	const char *ncs, *faults;        /* parameters of both ncs; of A's line */
	const char *ncs_b;               /* of B's, instead */
	const char *flow;                /* parameters of both flow controls, instead of those of the pair */
	bool stream;                     /* tcp below, not udp */
	bool bare;                       /* udp without its checksum, and B's line is impaired as A's */
	const struct xk_proto *server;   /* over nb, as "echo"; NULL: echo */
	const char *job;                 /* parameters of a process over nb, too, as "job": rank 0, A is rank 1 */
};
void nf_up(struct pf *f, const struct nf_how *how);
extern uint8_t nf_bytes[NF_MOST];

/* As `who` on VP vp, to a port of host B, or of any. */
struct xk_sess *nf_open(struct pf *f, const char *who, unsigned vp, uint16_t port, int *err);
struct xk_sess *nf_open_host(struct pf *f, const char *who, unsigned vp, uint32_t host, uint16_t port, int *err);
/* As raw, from port 5000 to B's port of data. */
struct xk_sess *nf_open_data(struct pf *f);

/* From now on A's line loses everything, both ways; or nothing again. */
void nf_cut(struct pf *f, bool cut);

/* Message i: its number, and bytes that follow from it; 16384 at most. */
uint32_t nf_make(uint32_t i, uint8_t *b);
/* How many of n came to `client`, each as it was, in order; more than n: not so. */
uint32_t nf_judged(struct pf *f, uint32_t n);

#endif
