/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_priv.h - what the files of the address resolution protocol share.
 *
 *   arp.c        the node: opening, controls, life
 *   arp_sess.c   sessions: the down path, pending messages, timers
 *   arp_input.c  packets that come: checked, answered, learned from
 *   arp_output.c packets that leave
 *   arp_table.c  the neighbours, one table for all VPs
 *   arp_own.c    our own addresses
 *   arp_claim.c  which of them are ours: probes, announcements, conflicts
 *
 * One mutex per node guards the table and the lists of hosts to tell; it nests
 * in nothing and nothing but an RCU section nests in it.  A resolved session
 * never takes it.
 */
#ifndef ARP_PRIV_H
#define ARP_PRIV_H

#include "protocols/arp/arp.h"
#include "runtime/map/xk_passive.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_list.h"
#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_slab.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_timer.h"

#define ARP_PKT_LEN      28u
#define ARP_ADDRS_MAX    64u
#define ARP_TYPES_MAX    8u
#define ARP_CHANGED_MAX  32u
#define ARP_LEFT_MAX     64u
#define ARP_BESIDE_MAX   8u
#define ARP_TELL         (10 * XK_SEC)   /* changes are logged at most so often */
#define ARP_OP_REQUEST   1u
#define ARP_OP_REPLY     2u

struct arp_conf {
	struct xk_plist addresses;       /* cidr */
	struct xk_pmap  neighbours;      /* ipv4 to mac */
	uint64_t cap, queue, tries, probes;
	xk_ns    timeout, reachable, delay, retry, fail;
	bool     learn, announce, probe;
	unsigned defend, conflict;       /* ORDER arp_defends, arp_conflicts in arp.c */
};

enum { ARP_DEFEND_ALWAYS, ARP_DEFEND_ONCE, ARP_DEFEND_NEVER };
enum { ARP_CONFLICT_END, ARP_CONFLICT_QUIET };

/* ORDER ARP_DROP: arp_drops in arp.c */
enum {
	ARP_DROP_SHORT = XK_DROP_FIRST, ARP_DROP_HTYPE, ARP_DROP_PTYPE, ARP_DROP_HLEN,
	ARP_DROP_PLEN, ARP_DROP_OP, ARP_DROP_SENDER_MAC, ARP_DROP_SENDER_IP,
	ARP_DROP_OWN_ECHO, ARP_DROP_CONFLICT,
	ARP_DROP_QUEUE, ARP_DROP_UNREACHABLE, ARP_DROP_CLOSED, ARP_DROP_LOST,
};
/* ORDER ARP_COUNT: arp_counts in arp.c */
enum {
	ARP_COUNT_REQ_IN, ARP_COUNT_REP_IN, ARP_COUNT_REQ_OUT, ARP_COUNT_REP_OUT,
	ARP_COUNT_LEARNED, ARP_COUNT_REFRESHED, ARP_COUNT_CHANGED, ARP_COUNT_IGNORED,
	ARP_COUNT_CONFLICTS, ARP_COUNT_DEFENDED, ARP_COUNT_EVICTED, ARP_COUNT_FAILED, ARP_COUNT_PROBES,
	ARP_COUNT_REACHED, ARP_COUNT_CONTESTED, ARP_COUNT_DOUBTED, ARP_COUNT_ADDRESS_PROBES, ARP_COUNT_LOST,
};

/* ---- the table ------------------------------------------------------------------- */

struct arp_entry {
	struct xk_mapnode   map;          /* key: host */
	/* Read by any VP without the mutex, each whole. */
	uint64_t            mac;          /* 0: not resolved; else ARP_MAC_SET and the address */
	xk_ns               updated;      /* by a packet of the neighbour */
	xk_ns               reached;      /* by progress of a protocol above; 0: never */
	xk_ns               failed_until;
	xk_ns               holds;        /* after it was confirmed; then it is doubted */
	bool                suspect;      /* since then another station claims host, or nothing arrives there */
	bool                claimed;      /* the former */
	/* Guarded by the mutex. */
	xk_ns               last_request; /* valid when asked */
	xk_ns               probe_at;     /* valid when delayed: used since it was doubted */
	bool                asked, is_static, used, delayed;
	bool                asked_all;    /* everybody, since it was confirmed */
	struct xk_listed      lru;          /* most recently touched first */
	struct arp_table   *table;
	struct xk_rcu_head  rcu;
	uint64_t            interest[];   /* VPs whose sessions want to hear of changes */
};
#define ARP_MAC_SET ((uint64_t)1 << 48)

struct arp_own {
	uint32_t addr;
	uint8_t  len;
	bool     ours;                    /* may be used; set once */
	bool     defended;                /* these two: guarded by the mutex */
	xk_ns    last_defence;            /* valid when defended */
	uint8_t  step;                    /* these two: of the first replica's VP, once it is there */
	xk_ns    due;                     /* the next step; XK_NS_NEVER: none */
};

enum arp_gate { ARP_GATE_OPEN, ARP_GATE_SHUT, ARP_GATE_LOST };

/* State of the node. */
struct arp_table {
	struct xk_node   *node;
	struct xk_mutex   lock;
	struct xk_passive map;
	struct xk_slab    slab;
	struct xk_rand    rand;           /* of how long entries hold */
	struct xk_list    used;           /* wanted by a session of ours */
	struct xk_list    heard;          /* only learned: these go first */
	struct xk_list    fixed;          /* static: never go, not counted in n */
	uint32_t          n;
	unsigned          words;          /* of an interest set */
	struct arp_own    own[ARP_ADDRS_MAX];
	unsigned          nown;           /* release after own[] is filled */
	uint8_t           gate;           /* enum arp_gate: may anything leave?  Changed under the mutex */
	char              lost[100];      /* why it is lost; written before that is said */
	struct xk_node   *beside[ARP_BESIDE_MAX]; /* of the same host, on other links */
	unsigned          nbeside;
	xk_ns             last_told;      /* of a change, in the log; valid when told */
	bool              told;
	uint64_t          untold;         /* changes since */
};

/* State of a replica. */
struct arp_rep {
	struct xk_sess *bcast;            /* link session of requests; NULL: stopped */
	struct xk_list  left;             /* sessions that only hold themselves, oldest first */
	unsigned        nleft;
	uint8_t         mac[8];           /* ours */
	struct xk_node *type[ARP_TYPES_MAX];
	unsigned        ntypes;
	struct xk_timer claim;            /* of the first replica */
	/* Guarded by the table's mutex. */
	struct xk_call  call;
	bool            posted, overflow, claims;   /* claims: an address came late */
	unsigned        nchanged;
	uint32_t        changed[ARP_CHANGED_MAX];
};

/* ---- sessions -------------------------------------------------------------------------- */

/* SHUT: the gate is not open; DOUBTED: nobody has used it since; DELAYED: somebody has. */
enum arp_state { ARP_S_PENDING, ARP_S_OPEN, ARP_S_DOUBTED, ARP_S_DELAYED, ARP_S_PROBING, ARP_S_FIXED, ARP_S_SHUT };

struct arp_sess {
	struct xk_sess  s;
	struct xk_timer timer;
	struct xk_msgq  queue;
	struct xk_listed left;
	uint32_t        host;
	uint8_t         state;
	uint8_t         tries;
	uint8_t         mac[6];
};

static inline struct arp_table *arp_table(const struct xk_node *n)
{
	return n->state;
}

static inline struct arp_sess *arp_sess(struct xk_sess *s)
{
	return (struct arp_sess *)s;
}

static inline struct xk_key arp_key(uint32_t host, const struct xk_node *type)
{
	return (struct xk_key){ { host, type->no } };
}

/* Bound, with one reference; NULL: *err says why. */
struct xk_sess *arp_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, uint32_t host, int *err);
void arp_close(struct xk_sess *s);
/* The oldest that is closed and waits does so no longer; what somebody opened again since is his. */
void arp_give_up_left(struct arp_rep *st);

/* ---- the table's answers ------------------------------------------------------------------ */

/* SUSPECT: it is to be asked for now; DOUBTED: not confirmed for `reachable`; OLD: for `timeout`. */
enum arp_answer { ARP_UNKNOWN, ARP_KNOWN, ARP_SUSPECT, ARP_DOUBTED, ARP_OLD, ARP_FAILED };
struct arp_view { uint8_t mac[6]; xk_ns until; };

int  arp_table_init(struct xk_node *n, struct xk_errs *e);
void arp_table_fini(struct xk_node *n);
/* Lock-free.  KNOWN, SUSPECT, DOUBTED, OLD: v is filled; until, when it is no more KNOWN, is XK_NS_NEVER
 * for a static one. */
enum arp_answer arp_lookup(struct xk_rep *r, uint32_t host, struct arp_view *v);
/* The same, and this VP hears of changes from now on. */
enum arp_answer arp_use(struct xk_rep *r, uint32_t host, struct arp_view *v);
/* A session needs host: makes or touches the entry.  1: ask now, everybody or the station that it
 * has; 0: somebody asked less than `retry` ago; XK_E_NOMEM. */
int  arp_want(struct xk_rep *r, uint32_t host, bool everybody);
/* A doubted entry is used: when to probe it, `delay` after the first use by any VP. */
xk_ns arp_delay(struct xk_rep *r, uint32_t host);
/* Nobody answered: the entry is unresolved, and failed for a while. */
void arp_fail(struct xk_rep *r, uint32_t host);
/* What was sent to this station has arrived at host. */
void arp_reached(struct xk_rep *r, uint32_t host, const uint8_t mac[6]);
/* What was sent to this station does not seem to arrive at host. */
void arp_doubt(struct xk_rep *r, uint32_t host, const uint8_t mac[6]);
/* A neighbour said its address; create: also when nobody asked. */
void arp_learn(struct xk_rep *r, uint32_t host, const uint8_t mac[6], bool create);

/* ---- own addresses ----------------------------------------------------------------- */

/* Not of a group, this host, or none. */
bool arp_is_host_address(uint32_t a);
int  arp_own_add(struct xk_node *n, const struct arp_addr *a);
/* NULL: not ours. */
struct arp_own *arp_own_find(struct xk_node *n, uint32_t addr);
/* Is host the broadcast address of one of our networks, or of all? */
bool arp_is_broadcast(struct xk_node *n, uint32_t host);
/* ---- which of them are ours (RFC 5227) ------------------------------------------------ */

static inline enum arp_gate arp_gate(const struct arp_table *t)
{
	return (enum arp_gate)xk_load_acquire(&t->gate);
}

/* Of an address that is new: its first step. */
void arp_claim_begin(const struct arp_conf *c, struct arp_own *o);
/* Does the steps that are due; of the first replica's timer. */
void arp_claim(struct xk_timer *timer);
/* Another station names this address as its own, or probes for it while we do. */
void arp_conflict(struct xk_rep *r, struct arp_own *o, const uint8_t mac[6]);
/* Is this the station of another link of the same host? */
bool arp_is_our_station(const struct xk_rep *r, const uint8_t mac[6]);

/* ---- telling sessions ---------------------------------------------------------------- */

/* Each session of this VP that stands on host looks at the table again. */
void arp_host_changed(struct xk_rep *r, uint32_t host);
/* All of them do, soon. */
void arp_all_changed(struct xk_rep *r);
/* All of every VP do, soon; the mutex is held. */
void arp_tell_all_locked(struct arp_table *t);
/* The first replica, if it has started, looks for steps that are due; the mutex is held. */
void arp_tell_claim_locked(struct arp_table *t);

/* ---- packets ------------------------------------------------------------------------------ */

struct arp_pkt {
	uint16_t op;
	uint8_t  sha[6], tha[6];
	uint32_t spa, tpa;
};
enum { ARP_HTYPE_ETHER = 1, ARP_PTYPE_IPV4 = 0x0800 };

void arp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* To p->tha, from our station; counted there. */
void arp_send_to(struct xk_rep *r, struct arp_pkt *p, unsigned counter);
/* "Who has host?" to everybody on this link. */
void arp_send_request(struct xk_rep *r, uint32_t host);
/* The same, to one station (RFC 1122 2.3.2.1 (2), a unicast poll). */
void arp_send_probe(struct xk_rep *r, uint32_t host, const uint8_t mac[6]);
/* "Has anybody addr?", to everybody, from no address (RFC 5227 probe). */
void arp_send_address_probe(struct xk_rep *r, uint32_t addr);
/* "addr is at our station", to everybody (RFC 5227 announcement). */
void arp_send_announcement(struct xk_rep *r, uint32_t addr);

#endif
