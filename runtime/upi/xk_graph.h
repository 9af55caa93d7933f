/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_graph.h - graphs: assembled, brought up and run, locks told.
 *
 * The control thread's, but for what says otherwise.
 */
#ifndef XK_GRAPH_H
#define XK_GRAPH_H

#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_recording.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_vp.h"

/* ---- the protocols of the build ------------------------------------------------------ */

/* Every protocol and driver of the build, NULL last; generated from the lists
 * in protocols/ and drivers/. */
extern const struct xk_proto *const xk_proto_table[];
const struct xk_proto *xk_proto_find(const char *name);
/* The i-th descriptor of a word in a table; there are several where what lies below decides which
 * it is.  NULL: no more. */
const struct xk_proto *xk_proto_of_word(const struct xk_proto *const *table, const char *word, unsigned i);
/* Do two lists of words, "port|stream", share one?  "frame/eth" is "frame", and where "frame" stands alone any
 * kind is meant; kinds that differ are two words.  NULL: an empty list. */
bool xk_words_meet(const char *a, const char *b);
/* What the lists name and this build was made without, NULL last: the Debian packages
 * to install before it is configured again. */
struct xk_absent { const char *name, *packages; };
extern const struct xk_absent xk_proto_absent[];
const struct xk_absent *xk_proto_find_absent(const char *name);

/* ---- a graph ---------------------------------------------------------------------------- */

struct upi_meter;
struct xk_flowtab;

struct xk_graph {
	const char       *name;
	struct xk_vpset  *vps;
	struct xk_node  **node;          /* bottom-up */
	unsigned          nnodes, room;  /* of its beginning; those that have gone since, too (xk_change.h) */
	unsigned          nslots;        /* those that came while it ran: node[nnodes..nslots - 1]; NULL: free */
	uint32_t          ncame;         /* so many have, those that have gone since, too */
	unsigned          nedges;        /* of the nodes, see xk_node_is_edge */
	struct xk_flowtab *flows;
	struct xk_mutex   structure;     /* opens and enables that change shared state */
	struct xk_lock    binding;       /* see xk_binding_begin */
	uint64_t          seed;
	uint32_t          napps;         /* applications that said they will finish */
	uint32_t          ndone;
	uint32_t          nlost;         /* devices that are gone */
	bool              gave_up;       /* a node has */
	/* connection number -> VP: nmap entries, repeated; NULL: round robin */
	const uint16_t   *conn_map;
	unsigned          nconn_map;
	struct xk_event   done;          /* woken when ndone reaches napps, and when every device is gone */
	unsigned          stage;         /* how far bring-up got; stop undoes exactly that */
	unsigned          ninit, nstarted, nrun; /* nodes whose init, whose start, whose run succeeded */
	/* Domain layers: names of the nodes of each layer, from the device up; none: by what they offer. */
	char            **layers;
	unsigned          nlayers;
	uint32_t          ncaptures;     /* attached, or about to be, and nshort; any thread reads it */
	uint32_t          nshort;        /* layers that came while it ran and let no super-segments through */
	struct upi_meter *meter;         /* see xk_capture.h; NULL: none */
	struct xk_drop_watch *watch;     /* NULL: nobody waits for a drop */
	struct xk_node   *nobody;        /* receives by sessions whose receiver has gone; NULL: none has, yet */
};

/* A node to be added; name and conf are copied or taken over as said. */
struct xk_graph_conf {
	const char        *name;
	struct xk_arch     arch;
	struct xk_mem_conf mem;
	const uint16_t    *conn_map; unsigned nconn_map;
	const char *const *layers; unsigned nlayers;   /* [arch.layers], or none */
};
int  xk_graph_new(struct xk_graph **g, const struct xk_graph_conf *c, struct xk_errs *e);
/* Takes over conf (from xk_param_*).  down nodes must have been added before. */
int  xk_graph_add(struct xk_graph *g, const struct xk_proto *p, const char *name, void *conf,
		  struct xk_node *const *down, unsigned ndown, const char *file, int line,
		  struct xk_node **out);
/* Composes the packet filter of every device (n->pattern), once; xk_graph_up does it first of
 * all.  Declarations that contradict each other are errors at their node's place. */
int  xk_graph_filter(struct xk_graph *g, struct xk_errs *e);
/* init, VPs, replicas, start: all or nothing, errors collected. */
int  xk_graph_up(struct xk_graph *g, struct xk_errs *e);
/* Starts the workers, then the nodes' own threads.  Under the virtual schedule use xk_vpset_run_virtual. */
int  xk_graph_run(struct xk_graph *g, struct xk_errs *e);
/* Stops the nodes' own threads and the workers, drains, stops and frees everything; returns leaked buffers +
 * sessions + messages that came to a wrong VP (0 on a healthy graph). */
uint64_t xk_graph_free(struct xk_graph *g);
struct xk_node *xk_graph_find(const struct xk_graph *g, const char *name);
/* VP of application connection i. */
struct xk_vp *xk_graph_vp_of(const struct xk_graph *g, uint64_t conn);
/* An application that ends by itself: will_finish once from init, finished once. */
void xk_graph_will_finish(struct xk_graph *g);
void xk_graph_finished(struct xk_graph *g);
/* Have all devices failed?  Nothing comes in or goes out any more: a run ends then. */
bool xk_graph_cut_off(const struct xk_graph *g);
/* Has a node given up (xk_node_gives_up)?  A run ends then, too. */
bool xk_graph_gave_up(const struct xk_graph *g);

/* ---- what happened last ------------------------------------------------------ */

/* Writes all flight recorders of g, which is up, to fd: a recording (xk_recording.h, docs/recorder.md).  Any thread,
 * beside the workers, and a handler of signals.  Negative: what the system said; the file is short then. */
int xk_graph_record(const struct xk_graph *g, int fd, enum xk_recording_cause cause, uint32_t cause_no);
/* The first message that node drops for `reason`: fn is called then, once, by the thread that drops, inside its VP.  Before
 * workers run; *w is the caller's, and stays until g is freed. */
struct xk_drop_watch {
	const struct xk_node *node;
	unsigned reason;
	void   (*fn)(void *arg);
	void    *arg;
	uint32_t fired;
};
void xk_graph_watch_drop(struct xk_graph *g, struct xk_drop_watch *w);

/* ---- what is seen of locks -------------------------------------------------- */

/*
 * Locks of the layer of n where each layer's objects have their own (object_locks = "layer"): the one
 * of its map and those of its sessions, over all VPs.  Legal beside the workers; zeros where a node has none:
 * then, and where it tells no sessions apart by a header of its own.  Messages that went up: whose thread was not the
 * one that passed the layer's (map_moves), the session's (session_moves) last one; whose session was not that of the
 * layer's last one (map_misses).
 */
struct xk_object_locks {
	unsigned maps, sessions;
	struct xk_lock_counts map, session;
	uint64_t map_moves, session_moves, map_misses;
};
void xk_objects_read(const struct xk_node *n, struct xk_object_locks *out);

#endif
