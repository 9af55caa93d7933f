/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmp_priv.h - what the files of ICMP share.
 *
 *   icmp.c         echo sessions, control, the descriptor
 *   icmp_input.c   what comes in: echo, replies, errors
 *   icmp_error.c   errors that we send, and how many
 */
#ifndef ICMP_PRIV_H
#define ICMP_PRIV_H

#include "protocols/icmp/icmp_hdr.h"
#include "protocols/ip/ip.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_proto.h"

struct icmp_conf { uint64_t rate, burst, quote; bool echo; };

#define ICMP_DROPS(X) \
	X(SHORT, "short")            X(CHECKSUM, "bad_checksum") \
	X(BROADCAST, "broadcast")    X(ECHO_OFF, "echo_off") \
	X(NO_SESSION, "no_session")  X(REDIRECT, "redirect_ignored") \
	X(IGNORED, "query_ignored")  X(UNKNOWN, "unknown_type") \
	X(SHORT_QUOTE, "short_quote") X(QUOTE, "bad_quote") \
	X(TOO_LONG, "too_long")
#define ICMP_DROP_ENUM(n, s) ICMP_DROP_##n,
enum { ICMP_DROP_BASE = XK_DROP_FIRST - 1, ICMP_DROPS(ICMP_DROP_ENUM) };

#define ICMP_COUNTS(X) \
	X(ECHOED, "echo_replies_sent")    X(REPLIES, "echo_replies_in") \
	X(ERRORS_IN, "errors_in")         X(ERRORS_SENT, "errors_sent") \
	X(LIMITED, "errors_rate_limited") X(NOT_SENT, "errors_not_allowed") \
	X(FAILED, "errors_failed")        X(REROUTED, "rerouted")
#define ICMP_COUNT_ENUM(n, s) ICMP_COUNT_##n,
enum { ICMP_COUNTS(ICMP_COUNT_ENUM) };

struct icmp_state {
	xk_ns interval;          /* between errors of this VP; 0: none at all */
	xk_ns bucket;            /* most credit */
	xk_ns credit;
	xk_ns filled;            /* when credit was brought up to date */
};
static inline struct icmp_state *icmp_state(const struct xk_rep *r) { return r->state; }

struct icmp_sess {
	struct xk_sess s;
	uint32_t       remote, local;   /* host order */
	uint16_t       id, seq;
};
static inline struct icmp_sess *icmp_sess(struct xk_sess *s) { return (struct icmp_sess *)(void *)s; }

/* A session's key: the pair as the peer's headers have it, and the identifier. */
static inline void icmp_key(struct xk_key *k, uint64_t pair, uint16_t id)
{
	k->w[0] = pair;
	k->w[1] = id;
}
/* Of an echo reply, as its device finds it; all as they lie in headers. */
static inline void icmp_flowkey(struct xk_flowkey *f, uint32_t remote, uint32_t local, uint16_t id)
{
	*f = (struct xk_flowkey){ .raddr = remote, .laddr = local, .lport = id, .proto = ICMP_PROTO };
}

/* icmp_input.c */
void icmp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void icmp_enter(struct xk_rep *r, struct xk_msg *m);
void icmp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);

/* icmp_error.c */
void icmp_error_init(struct xk_rep *r);
/* 1 when the error went out, else 0. */
int  icmp_error_send(struct xk_rep *r, const struct ip_icmp_error *e);

#endif
