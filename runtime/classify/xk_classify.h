/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_classify.h - decides, from the bytes of a frame alone, which virtual
 * processor runs it, and names its session where the connection is known.
 *
 * A flow table holds the exact connections of a graph, shared by all its
 * edges; a classifier reads the frames of one edge by the pattern of the graph
 * above it (xk_pattern.h).  Every back end stands behind the same burst-in,
 * verdicts-out call.
 *
 *                        classify    bind     unbind
 *   classify (any VP)        -         -         -     (inside an RCU read section)
 *   bind, unbind             -         -         -     (own mutex)
 */
#ifndef XK_CLASSIFY_H
#define XK_CLASSIFY_H

#include <stdio.h>

#include "runtime/base/xk_base.h"
#include "runtime/classify/xk_pattern.h"
#include "runtime/map/xk_map.h"
#include "runtime/msg/xk_msg_inline.h"

#define XK_FLOW_DEPTH 5
/*
 * One exact connection.  Type-stable: a message carries (handle, generation),
 * resolved on the flow's own VP.  sess[] is filled in by that VP as messages
 * meet their sessions layer by layer: [0] is the first protocol above the
 * edge.  Entries are never trusted, only compared (xk_inline.h).
 */
struct xk_flow {
	struct xk_mapnode node;          /* node.key is the struct xk_flowkey */
	struct xk_sess   *sess[XK_FLOW_DEPTH - 1];
	uint16_t          vp;
	uint16_t          gen;           /* even while bound; changes at unbind */
	union {
		uint32_t  next;          /* while unbound, private: list of free flows */
		uint32_t  post;          /* while bound, its VP's: what is posted for it, 0: nothing */
	};
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
/* Asks for the line of the table that unbinding f touches. */
void xk_flow_fetch(const struct xk_flowtab *t, const struct xk_flow *f);
uint32_t xk_flowtab_count(const struct xk_flowtab *t);
/* Inside an RCU read section, or with binding excluded. */
struct xk_flow *xk_flow_find(const struct xk_flowtab *t, const struct xk_flowkey *k);
/*
 * For devices that keep the flows they need themselves (a map of the kernel's): told of each
 * whose VP is not the one of its hash, bound and unbound, under the table's lock, so in order,
 * and before xk_flow_bind returns.  They may not call the table.
 */
struct xk_flow_watch {
	void (*bound)(struct xk_flow_watch *w, const struct xk_flowkey *k, uint16_t vp);
	void (*unbound)(struct xk_flow_watch *w, const struct xk_flowkey *k);
	struct xk_flow_watch *next;      /* the table's */
};
/* Is told of those that are bound already before it returns. */
void xk_flowtab_watch(struct xk_flowtab *t, struct xk_flow_watch *w);
/* w is called no more. */
void xk_flowtab_unwatch(struct xk_flowtab *t, struct xk_flow_watch *w);
/* Flow hash of a key: symmetric (both directions equal), never 0. */
uint32_t xk_flow_hash(const struct xk_flowkey *k);
/* The VP of a connection nobody bound: hash spread over the VPs. */
uint16_t xk_flow_home(const struct xk_flowtab *t, const struct xk_flowkey *k);

/* What a driver's frames are to a reader of captures (XK_CTL_LINK_TYPE).  The classifier does
 * not ask: it reads the pattern of the graph above. */
enum xk_link { XK_LINK_ETH, XK_LINK_FDDI, XK_LINK_RAWIP, XK_LINK_OTHER };

#define XK_FRAME_MIN 32u    /* shorter frames are not in runs */

struct xk_classifier;
/*
 * Of a frame that came alone: what a VP remembers so that the flow's next one is told by a
 * compare.  All of it is compared again, with the frame and with the flow; 0 at first.
 */
struct xk_single {
	const struct xk_classifier *of;  /* whose frame it was; NULL: none */
	struct xk_key key;
	uint8_t  bytes[XK_FRAME_MIN];
	uint32_t hash, flow;
	uint16_t gen;                    /* of flow */
	uint8_t  control;                /* the frame's first byte */
};
/* What is said of n frames in a row: they are of one connection, or it is one frame. */
struct xk_run {
	struct xk_flow *flow;            /* of the exact connection, NULL: none is known */
	uint32_t hash;
	uint16_t vp;
	uint8_t  n;
	uint8_t  plain;                  /* 1: flow is known, and each frame lies in one segment of its own (no
	                                  * flag of XK_MSG_SLOW or LINK_BCAST), of XK_FRAME_MIN bytes or more */
};
/* vp, n and plain as one word, to be compared at once. */
static inline uint32_t xk_run_word(const struct xk_run *r)
{
	uint32_t w;

	memcpy(&w, &r->vp, sizeof w);
	return w;
}
_Static_assert(offsetof(struct xk_run, plain) == offsetof(struct xk_run, vp) + 3, "xk_run_word");
/*
 * A back end.  Every one says exactly what xk_pattern_match says (but "none", which looks at
 * nothing): the hash, VP xk_hash_vp(hash), or those of the flow where the verdict is a
 * connection's and its key is bound.
 */
struct xk_classifier_ops {
	const char *name;
	const char *doc;         /* a few words for who asks why it was chosen */
	/* Optional: XK_OK, or why it can't work on this machine at all. */
	int  (*probe)(char *why, size_t n);
	/* Optional: makes c->priv from c->pat and c->tab, or says why it refuses.  Only `free`
	 * follows a success. */
	int  (*open)(struct xk_classifier *c, char *why, size_t n);
	/* The verdicts on m[n] (n <= 32, first segment holds the headers), in their order;
	 * returns how many runs.  Frames of several are such as plain ones are. */
	unsigned (*runs)(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, struct xk_run *run);
	/* Optional.  One frame: sets hash and vp; its flow, or NULL. */
	struct xk_flow *(*single)(struct xk_classifier *c, struct xk_single *l, struct xk_msg *m);
	/* Optional: its program, for people. */
	void (*print)(const struct xk_classifier *c, FILE *f);
	/* Optional: gives back what open took; not c itself. */
	void (*free)(struct xk_classifier *c);
};
struct xk_classifier {
	const struct xk_classifier_ops *ops;
	struct xk_flowtab *tab;
	const struct xk_pattern *pat;    /* outlives it */
	void *priv;                      /* the back end's */
	char why[192];                   /* why this one: a clause */
};
static inline unsigned xk_classify_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n,
					struct xk_run *run)
{
	return c->ops->runs(c, m, n, run);
}
/* The verdict r on the first r->n of m into their descriptors: hash, vp and u.v, whose flow is 0
 * where no connection is known. */
void xk_classify_tell(const struct xk_run *r, struct xk_msg *const *m);
/* The verdict on each of m[n] into its descriptor. */
void xk_classify(struct xk_classifier *c, struct xk_msg *const *m, unsigned n);
/* The words for `kind`, NULL last: "auto" and every back end of the build. */
extern const char *const xk_classifier_kinds[];
/* Every back end, NULL last, in the order in which "auto" tries them. */
extern const struct xk_classifier_ops *const xk_classifier_table[];
/*
 * kind NULL or "auto": the first that neither its probe nor its open refuses.  XK_E_NOTSUP
 * for an unknown one or one that refuses, with a sentence in why[n]; XK_E_NOMEM.
 */
int  xk_classifier_new(struct xk_classifier **c, const char *kind, const struct xk_pattern *p,
		       struct xk_flowtab *tab, char *why, size_t n);
void xk_classifier_free(struct xk_classifier *c);   /* NULL is legal */

/*
 * What a message's descriptor must say of a frame: the reference matcher and the flow table.
 * Inside an RCU read section, or with binding excluded.
 */
struct xk_verdict {
	struct xk_pat_verdict pat;
	uint32_t flow;                   /* handle, 0: none */
	uint16_t gen, vp;
};
void xk_classify_verdict(const struct xk_pattern *p, const struct xk_flowtab *tab, const uint8_t *frame,
			 uint32_t len, struct xk_verdict *v);

#endif
