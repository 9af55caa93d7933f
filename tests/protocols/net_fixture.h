/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * net_fixture.h - an internet host in a test: ip over a recording host link,
 * with icmp, udp and doubles above.
 *
 *      app     echoer
 *       |        |
 *      udp     icmp     raw (protocol 253)
 *        \      |      /
 *              ip
 *              hl
 *
 * app, echoer and raw are pf_upper with a control operation that records the
 * errors they are told.  Datagrams are built here byte by byte, with a
 * checksum of our own, so that nothing is tested against itself.
 */
#ifndef NET_FIXTURE_H
#define NET_FIXTURE_H

#include "runtime/base/xk_bytes.h"
#include "tests/protocols/proto_fixture.h"

#define NF_US   0x0a000001u      /* 10.0.0.1/8 */
#define NF_PEER 0x0a000002u
#define NF_PORT 7                /* enabled by nf_up for app */

/* NULL parameters: defaults. */
struct nf_conf { unsigned nvps; const char *hl, *ip, *icmp, *udp; };
void nf_up(struct pf *f, const struct nf_conf *c);
bool nf_up_try(struct pf *f, const struct nf_conf *c);
void nf_down(struct pf *f);
/* nf_up with one VP and these parameters of ip. */
void nf_up1(struct pf *f, const char *ip_params);

/* Errors that the doubles were told of since nf_up. */
struct nf_told { unsigned n; unsigned op; uint8_t type, code; uint32_t arg; };
extern struct nf_told nf_told;

/* One's-complement checksum by the definition. */
uint16_t nf_sum(const uint8_t *p, uint32_t n, uint32_t seed);
uint32_t nf_pseudo(uint32_t src, uint32_t dst, uint8_t proto, uint32_t len);

struct nf_ip {
	uint32_t src, dst;       /* 0: NF_PEER, NF_US */
	uint8_t  proto;          /* 0: 253 */
	uint8_t  ttl;            /* 0: 64 */
	uint16_t id, frag;       /* frag: flags and offset */
	const uint8_t *opt; uint32_t nopt;   /* a multiple of 4 */
};
/* Each writes to out and returns the length. */
uint32_t nf_ip(uint8_t *out, const struct nf_ip *h, const void *payload, uint32_t n);
/* Makes the header's checksum right again after a change. */
void     nf_fix(uint8_t *datagram);
uint32_t nf_udp(uint8_t *out, uint32_t src, uint16_t sport, uint32_t dst, uint16_t dport,
		const void *payload, uint32_t n);
uint32_t nf_icmp(uint8_t *out, uint32_t src, uint32_t dst, uint8_t type, uint8_t code, uint32_t rest,
		 const void *payload, uint32_t n);
/* Bytes that tell their place. */
void     nf_fill(uint8_t *p, uint32_t n, uint32_t seed);

/* A datagram arrives at ip on VP vp; settles. */
void nf_in(struct pf *f, unsigned vp, const void *datagram, uint32_t len);
/* The same in two segments, cut after `cut` bytes; or as a view of another
 * message's buffer; or in memory lent by a driver; or with flags set. */
void nf_in_cut(struct pf *f, unsigned vp, const void *datagram, uint32_t len, uint32_t cut);
void nf_in_view(struct pf *f, unsigned vp, const void *datagram, uint32_t len);
void nf_in_lent(struct pf *f, unsigned vp, const void *datagram, uint32_t len);
void nf_in_flags(struct pf *f, unsigned vp, const void *datagram, uint32_t len, uint8_t flags);

/* Remote and local participants; port 0 and host 0 are left out. */
struct xk_sess *nf_open(struct pf *f, const char *who, unsigned vp, uint32_t rhost, uint16_t rport,
			uint32_t lhost, uint16_t lport, int *err);
/* As `who`: enable or disable below; result of the operation. */
int nf_enable(struct pf *f, const char *who, bool on, uint16_t port, uint32_t host);

/* What a double got; pf_ngot and its like know only their own kind. */
unsigned nf_ngot(struct pf *f, const char *who);
const struct pf_rec *nf_got(struct pf *f, const char *who, unsigned i);
void     nf_forget(struct pf *f, const char *who);

/* The i-th datagram that ip sent, checked for a right header checksum and
 * length; its payload. */
const uint8_t *nf_sent(struct pf *f, unsigned i, uint32_t *payload_len);
unsigned nf_nsent(struct pf *f);
/* Drops of all nodes since the last of these two. */
uint64_t nf_drops(struct pf *f);
void     nf_forget_drops(struct pf *f);
/* The only drop since then is this one: asserts and forgets. */
void nf_only_drop(struct pf *f, const char *who, const char *reason);
/* Runs fn with the k-th allocation failing for every k until it gets through. */
void nf_torture(void (*fn)(void));

#endif
