/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ip_priv.h - what the files of IP share.
 *
 *   ip.c         opening, closing, control, the descriptor
 *   ip_sess.c    a session: made, connected below
 *   ip_error.c   ICMP, both ways
 *   ip_hdr.c     the header
 *   ip_route.c   our addresses, kinds of addresses, the next hop
 *   ip_input.c   the up path
 *   ip_msg.c     headers in one piece, and the flow
 *   ip_reass.c   datagrams being put together
 *   ip_output.c  the down path, fragmentation, identifications
 *   ip_self.c    datagrams to ourselves
 *   ip_fast.c    both paths again for plain datagrams, and for batches
 *
 * A node's state is written by init only; everything else is per VP, but the
 * reassembly credit and, with very many VPs, the identifications.
 */
#ifndef IP_PRIV_H
#define IP_PRIV_H

#include "protocols/inet/inet_enable.h"
#include "protocols/inet/inet_sess.h"
#include "protocols/ip/ip.h"
#include "protocols/ip/ip_hdr.h"
#include "runtime/base/xk_list.h"
#include "runtime/mem/xk_slab.h"
#include "runtime/upi/xk_batch.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_timer.h"

#define IP_PROTO_ICMP 1u
#define IP_PROTO_TCP  6u
#define IP_PROTO_UDP  17u
#define IP_LIMITED_BROADCAST 0xffffffffu
#define IP_LOOPBACK   0x7f000001u
/* In a key, beside the protocol: between two addresses of ours. */
#define IP_KEY_SELF   0x100u
#define IP_MIN_MTU    68u
/* A path is never believed to be narrower (RFC 791: every host takes 576). */
#define IP_PMTU_FLOOR 552u
#define IP_PMTU_LIFE  (600 * XK_SEC)
#define IP_IDS        256u
/* Flags of a message whose bytes are in somebody else's buffer. */
#define IP_FOREIGN    (XK_MSG_REF | XK_MSG_EXTERN)

enum ip_csum { IP_CSUM_VERIFY, IP_CSUM_IGNORE };
enum ip_df { IP_DF_FIT, IP_DF_NEVER, IP_DF_ALWAYS };

struct ip_conf {
	struct xk_cidr  addr;
	struct xk_plist addrs;
	struct xk_pmap  routes;
	uint64_t ttl, mtu;
	unsigned checksum, df;
	uint64_t reass_bytes, reass_datagrams, reass_per_source, reass_timeout;
	uint64_t idle_timeout, idle_sessions, sessions;
};

/* ---- drop reasons and counters: name by name in the order of the enum ------------- */

#define IP_DROPS(X) \
	X(SHORT, "short")               X(VERSION, "bad_version") \
	X(HLEN, "bad_header_length")    X(LENGTH, "bad_total_length") \
	X(CHECKSUM, "bad_checksum")     X(TTL, "ttl_zero") \
	X(SOURCE, "bad_source")         X(NOT_OURS, "not_ours") \
	X(OPTIONS, "bad_options")       X(SOURCE_ROUTE, "source_route") \
	X(PROTOCOL, "unknown_protocol") X(REFUSED, "refused") \
	X(SESSIONS, "too_many_sessions") X(LINK_BCAST, "unicast_by_link_broadcast") \
	X(FRAG_EMPTY, "fragment_empty") X(FRAG_UNEVEN, "fragment_not_multiple_of_8") \
	X(FRAG_LONG, "fragment_past_65535") X(FRAG_OVERLAP, "fragment_overlap") \
	X(FRAG_END, "fragment_two_ends") X(FRAG_DUP, "fragment_duplicate") \
	X(FRAG_DEAD, "fragment_of_dropped_datagram") \
	X(REASS_FULL, "reassembly_full") X(REASS_SOURCE, "reassembly_source_cap") \
	X(REASS_EVICTED, "reassembly_evicted") X(REASS_TIMEOUT, "reassembly_timeout") \
	X(TOO_LONG, "too_long")         X(NEEDS_FRAG, "needs_fragmentation") \
	X(NO_ROUTE, "no_route")
#define IP_DROP_ENUM(n, s) IP_DROP_##n,
enum { IP_DROP_BASE = XK_DROP_FIRST - 1, IP_DROPS(IP_DROP_ENUM) };
/* What a check answers when it found nothing. */
#define IP_PASS (-1)

#define IP_COUNTS(X) \
	X(FRAGMENTS_IN, "fragments_in")  X(REASSEMBLED, "reassembled") \
	X(REROUTED, "rerouted")          X(FRAGMENTED, "fragmented") \
	X(FRAGMENTS_OUT, "fragments_out") X(ICMP_ASKED, "icmp_errors_asked") \
	X(ERRORS_IN, "icmp_errors_in")   X(PMTU, "path_mtu_lowered") \
	X(REASS_TIMEOUTS, "reassembly_timeouts") X(REASS_EVICTIONS, "reassembly_evictions") \
	X(GATHERED, "fragments_gathered") X(SELF, "to_ourselves")
#define IP_COUNT_ENUM(n, s) IP_COUNT_##n,
enum { IP_COUNTS(IP_COUNT_ENUM) };

/* ---- the node: read-only after init but for the last two --------------------------- */

struct ip_route {
	uint32_t net, mask;      /* host order */
	uint32_t gateway;        /* 0: on the link */
	uint32_t local;          /* our address towards it */
	uint8_t  len;
};

struct ip_node {
	struct xk_cidr  *addr;   /* ours */
	unsigned         naddr;
	struct ip_route *route;  /* longest prefix first */
	unsigned         nroute;
	unsigned         id_step;    /* power of two >= number of VPs; 0: ids are shared */
	uint32_t         id_shared[IP_IDS];
	uint64_t         id_secret[2];
	int64_t          credit XK_ALIGNED;  /* reassembly bytes nobody has taken */
};

enum ip_kind { IP_ADDR_OTHER, IP_ADDR_OURS, IP_ADDR_BROADCAST, IP_ADDR_MULTICAST, IP_ADDR_ILLEGAL };

int  ip_route_init(struct ip_node *in, const struct ip_conf *c);
void ip_route_fini(struct ip_node *in);
int  ip_route_check(const struct ip_conf *c, char *why, size_t n);
enum ip_kind ip_addr_kind(const struct ip_node *in, uint32_t addr);
/* One of our addresses, or of 127.0.0.0/8, which every host has. */
bool ip_is_self(const struct ip_node *in, uint32_t addr);
static inline bool ip_is_loopback(uint32_t addr) { return addr >> 24 == 127; }
/* Our address towards one of those. */
uint32_t ip_self_local(uint32_t remote);
/* enum xk_reach of a host, by a configuration alone; XK_E_NOMEM. */
int  ip_route_ask(const struct ip_conf *c, uint32_t host);
/* The next hop towards dst and our address there; false: none. */
bool ip_route_find(const struct ip_node *in, uint32_t dst, uint32_t *hop, uint32_t *local);

/* ---- reassembly (ip_reass.c) --------------------------------------------------------- */

struct ip_reass {
	struct xk_map    map;        /* { source, destination }, { protocol, identification } */
	struct xk_slab   dgrams, frags;
	struct xk_list   age;        /* of datagrams, oldest first */
	uint32_t         n, max;     /* datagrams */
	int64_t          held;       /* bytes of buffers and records */
	int64_t          credit;     /* taken from the node's, >= held */
	uint32_t         per_source;
	uint64_t         salt;
	uint16_t         source[256]; /* datagrams in progress, by hash of the source */
	struct xk_timer  timer;
	struct xk_rep   *rep;
};
void ip_reass_init(struct xk_rep *r);
void ip_reass_stop(struct xk_rep *r);   /* lets go of everything held */
void ip_reass_fini(struct xk_rep *r);
/* Takes a fragment whose header (h, at m->data) is valid.  The whole datagram,
 * header first, when this was the last piece; else NULL. */
struct xk_msg *ip_reass_input(struct xk_rep *r, struct xk_msg *m, const struct ip_hdr *h);

/* ---- the replica ------------------------------------------------------------------------ */

/* What an open names: by type, whose number the protocol is, from us to a host. */
struct ip_ends {
	const struct xk_node *type;
	uint32_t protocol, remote, local;
};

struct ip_state {
	const struct ip_node *in;
	struct ip_ends   opened;     /* by route, last of all; type NULL: none yet */
	struct linger_list linger;
	uint16_t         id[IP_IDS];
	struct ip_reass  reass;
};
static inline struct ip_state *ip_state(const struct xk_rep *r) { return r->state; }

struct ip_sess {
	struct xk_sess     s;
	/* The down path's line. */
	struct ip_template head;
	uint32_t           room;     /* most payload that leaves whole; others read it, see IP_CTL_NEAR */
	uint32_t           mtu;      /* of the link */
	uint32_t           remote, local;   /* host order, as headers name them */
	xk_ns              pmtu_until;
	struct ip_template ect;      /* of what is pushed with XK_MSG_ECT */
	uint8_t            protocol;
	uint8_t            id_no;    /* which counter of identifications, */
	uint32_t           id_key;   /* and what hides it */
	/* Rarely touched. */
	struct linger_entry linger;
};
static inline struct ip_sess *ip_sess(struct xk_sess *s) { return (struct ip_sess *)(void *)s; }

/* ip_sess.c.  NULL with *err; the session has no lower one until ip_sess_connect. */
struct ip_sess *ip_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type,
			    const struct xk_key *k, uint32_t remote, uint32_t local, int *err);
/* Opens the session below, by route; XK_OK when it is open. */
int  ip_sess_connect(struct ip_sess *is);

/* ip_self.c.  What is pushed into is comes back. */
void ip_self_connect(struct ip_sess *is);

/* ip_error.c.  Asks ICMP above us to report m. */
int  ip_icmp_error(struct xk_rep *r, struct xk_msg *m, uint8_t type, uint8_t code, uint32_t arg);
/* ICMP has received an error about a datagram of ours. */
int  ip_icmp_in(struct xk_rep *r, struct ip_error_in *e);

/* ip_msg.c.  Header of hlen bytes and the transport's are in one piece, in a buffer of the message's own, afterwards;
 * false: no memory. */
bool ip_pull(struct xk_msg **mp, uint32_t hlen);
/* The flow of the datagram at p, `have` bytes of it there, as its receiver's classifier names it. */
void ip_flow_key(const uint8_t *p, uint32_t hlen, uint32_t have, struct xk_flowkey *k);

/* ip_input.c */
XK_PLAIN void ip_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void ip_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void ip_enter(struct xk_rep *r, struct xk_msg *m);

/* ip_output.c */
XK_PLAIN void ip_push(struct xk_sess *s, struct xk_msg *m);
/* The same without DF: every datagram has an identification. */
void ip_push_counted(struct xk_sess *s, struct xk_msg *m);
void ip_output_init(struct ip_node *in, unsigned nvps);
void ip_output_hide(struct ip_sess *is, const struct xk_key *k);
void ip_output_rep_init(struct xk_rep *r);
/* Path MTU: from an ICMP error, or 0 for unknown. */
void ip_path_mtu(struct ip_sess *is, uint32_t mtu);

/* ip_fast.c, which is not in every build */
void ip_fast_push(struct xk_sess *s, struct xk_msg *m);
void ip_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
unsigned ip_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);

#endif
