/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_classify.h - decides, from the bytes of a frame alone, which virtual
 * processor runs it, and names its session where the connection is known.
 *
 * A flow table holds the exact connections of a graph, shared by all its
 * edges; a classifier parses the frames of one edge.  Every back end stands
 * behind the same burst-in, verdicts-out call.
 *
 *                        classify    bind     unbind
 *   classify (any VP)        -         -         -     (inside an RCU read section)
 *   bind, unbind             -         -         -     (own mutex)
 */
#ifndef XK_CLASSIFY_H
#define XK_CLASSIFY_H

#include "runtime/base/xk_base.h"
#include "runtime/classify/xk_pattern.h"
#include "runtime/map/xk_map.h"
#include "runtime/msg/xk_msg.h"

#define XK_FLOW_DEPTH 5
/*
 * One exact connection.  Type-stable: a message carries (handle, generation),
 * resolved on the flow's own VP.  sess[] is filled in by that VP as messages
 * meet their sessions layer by layer: [0] is the first protocol above the
 * edge.  Entries are never trusted, only compared (xk_upi_inline.h).
 */
struct xk_flow {
	struct xk_mapnode node;          /* node.key is the struct xk_flowkey */
	struct xk_sess   *sess[XK_FLOW_DEPTH - 1];
	uint16_t          vp;
	uint16_t          gen;           /* even while bound; changes at unbind */
	uint32_t          next;          /* private: list of free flows */
} XK_ALIGNED;
_Static_assert(sizeof(struct xk_flow) == XK_CACHELINE, "a flow is one line");

/* The flow that a message names, or NULL: unbound since, or none.  Flow memory
 * is not reused before every unit of work that could have seen it bound ends. */
static inline struct xk_flow *xk_flow_get(uint32_t handle, uint16_t gen)
{
	struct xk_flow *f = (struct xk_flow *)xk_slab_ptr(handle);

	return handle != 0 && xk_load_relaxed(&f->gen) == gen ? f : NULL;
}

struct xk_flowtab;
int  xk_flowtab_new(struct xk_flowtab **t, unsigned nvps);
/* Every flow unbound, no classifier running, not inside an RCU read section. */
void xk_flowtab_free(struct xk_flowtab *t);
/* After this returns every classifier of the graph sends the connection's
 * frames to vp.  sess[] starts as `none` everywhere.  XK_E_EXIST, XK_E_NOMEM. */
int  xk_flow_bind(struct xk_flowtab *t, const struct xk_flowkey *k, uint16_t vp,
		  struct xk_sess *none, struct xk_flow **f);
void xk_flow_unbind(struct xk_flowtab *t, struct xk_flow *f);
uint32_t xk_flowtab_count(const struct xk_flowtab *t);
/* Inside an RCU read section, or with binding excluded. */
struct xk_flow *xk_flow_find(const struct xk_flowtab *t, const struct xk_flowkey *k);
/* Flow hash of a key: symmetric (both directions equal), never 0. */
uint32_t xk_flow_hash(const struct xk_flowkey *k);
/* The VP of a connection nobody bound: hash spread over the VPs. */
uint16_t xk_flow_home(const struct xk_flowtab *t, const struct xk_flowkey *k);

enum xk_link { XK_LINK_ETH, XK_LINK_FDDI, XK_LINK_RAWIP };

#define XK_FRAME_MIN 32u    /* shorter frames are not in runs */

struct xk_classifier;
struct xk_classifier_ops {
	const char *name;        /* "native" now; "cbpf", "ebpf" later */
	/* For each of m[n] (n <= 32, first segment holds the headers) sets hash,
	 * vp and u.v; u.v.flow is 0 where no exact connection is known.
	 *   IPv4 fragment                     hash of (src, dst, proto, id)
	 *   UDP, TCP, ICMP echo, with 8 bytes
	 *   behind a whole IPv4 header        its flow, or hash of its key
	 *   other IPv4 with 20 bytes          hash of the two addresses
	 *   everything else (ARP, VLAN tags,
	 *   rubbish)                          hash 0, VP 0
	 * ICMP echo has ports 0, so all ICMP between two hosts meets. */
	void (*classify)(struct xk_classifier *c, struct xk_msg *const *m, unsigned n);
	/* Optional.  The same, but what is equal in a run of frames is said once, in
	 * its first: len[i] is how many frames the i-th run has; returns how many
	 * runs.  A run of several has one hash, vp and u.v, and each of its messages
	 * lies in one segment of its own (no flag of XK_MSG_SLOW or LINK_BCAST) and
	 * is at least XK_FRAME_MIN bytes long. */
	unsigned (*runs)(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, uint8_t *len);
	void (*free)(struct xk_classifier *c);
};
struct xk_classifier {
	const struct xk_classifier_ops *ops;
	struct xk_flowtab *tab;
	enum xk_link       link;
};
/* What ops->runs says; where there is none, made from what ops->classify says. */
unsigned xk_classify_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, uint8_t *len);
/* The verdict of a run's first frame, m[0], to the others. */
static inline void xk_classify_spread(struct xk_msg *const *m, unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		m[i]->u.name = m[0]->u.name;
		m[i]->hash = m[0]->hash;
		m[i]->vp = m[0]->vp;
	}
}
/* kind NULL or "auto": the best there is.  XK_E_NOTSUP for an unknown one. */
int  xk_classifier_new(struct xk_classifier **c, const char *kind, enum xk_link link,
		       struct xk_flowtab *tab);
/* The flow key of one frame by the reference (slow, obvious) parser: false when
 * it has none. */
bool xk_classify_key(enum xk_link link, const uint8_t *frame, uint32_t len, struct xk_flowkey *k);

#endif
