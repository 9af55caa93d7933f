/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_priv.h - what the files of the packet driver share: the rings of the
 * kernel, the device with its sockets, and a replica's two directions.
 *
 * packet_dev.c opens, packet_steer.c says who gets which frame, packet_ring.c walks a ring, packet_rx.c
 * turns frames into messages, packet_tx.c sends batches, packet_super.c takes and gives several frames as one,
 * packet_health.c sees the interface go down, packet_return.c come back, packet.c is the driver round them.
 * Invariant: a ring is walked by the replica of its number only; a socket may be
 * written by any, and is closed when no replica uses its set any more.
 */
#ifndef XK_PACKET_PRIV_H
#define XK_PACKET_PRIV_H

#include "drivers/common/burst.h"
#include "drivers/common/vnet_hdr.h"
#include "runtime/classify/xk_ebpf.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/vp/xk_call.h"

#include <linux/filter.h>
#include <sys/socket.h>

#define PACKET_ETH_HEADER 14u
#define PACKET_BURST      XK_BURST
#define PACKET_QUEUES_MAX 64u    /* descriptors that a worker can sleep on */

enum packet_format { PACKET_V2, PACKET_V3 };
/* Up to EBPF: by a program. */
enum packet_fanout { PACKET_BY_AUTO, PACKET_BY_CBPF, PACKET_BY_EBPF, PACKET_BY_HASH, PACKET_BY_LB, PACKET_BY_CPU };

struct packet_conf {
	char    *ifname, *netns;
	uint64_t mtu;                    /* 0: the interface's */
	uint8_t  mac[6];                 /* zeros: the interface's */
	bool     promiscuous, qdisc_bypass, offload, crc, reattach;
	unsigned format, fanout, classifier;
	uint64_t ring, queues, retire;
};

#define PACKET_DROPS(X) \
	X(TOO_LONG, "too_long")          /* pushed, longer than the link's largest frame */ \
	X(FULL, "queue_full")            /* the kernel's queue or the socket's buffer is full */ \
	X(DOWN, "interface_down")        /* the interface is not up */ \
	X(GONE, "device_gone")           /* the interface was removed */ \
	X(PIECES, "too_many_pieces")     /* no single system call could send it */ \
	X(VLAN, "vlan_tag")              /* received with a tag, which the kernel took off */ \
	X(CUT, "truncated")              /* received, longer than the ring could hold */ \
	X(UNCUT, "unsegmented")          /* received, longer than the link's largest frame and not TCP */ \
	X(SUPER, "bad_super_segment")    /* pushed: its headers lie, or the kernel does not take it */ \
	X(VNET, "bad_vnet_header")       /* received: the header of virtio-net does not fit its frame */
enum {
	PACKET_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) PACKET_DROP_##id,
	PACKET_DROPS(X)
#undef X
};
enum { N_READ, N_WRITTEN, N_BATCHES, N_LONG, N_VOUCHED, N_OWN, N_LOST, N_WENT_DOWN, N_ERRORS,
       N_SUPER_READ, N_SUPER_WRITTEN, N_LOOKED, N_REATTACHED };

/* ---- a ring of received frames -------------------------------------------------- */

struct packet_ring {
	uint8_t *map;
	uint32_t block_size, nblocks;
	uint32_t slot_size, slots_per_block;  /* V2 */
	uint32_t at, block;                   /* V2: slot of that block; V3: block */
	uint32_t left;                        /* V3: frames of this block not yet seen */
	uint8_t *next;                        /* V3: the first of them */
	enum packet_format format;
};

/* What the kernel says of a frame. */
struct packet_frame {
	uint8_t *data;
	uint32_t len, snap;              /* bytes it had, bytes that are here */
	uint32_t status;                 /* TP_STATUS_* */
	uint8_t  pkttype;                /* PACKET_HOST, PACKET_OUTGOING, ... */
};

/* Lays out a ring of at least one block and about `bytes` for frames of up to frame_max. */
void packet_ring_plan(struct packet_ring *g, enum packet_format f, uint64_t bytes, uint32_t frame_max);
static inline size_t packet_ring_bytes(const struct packet_ring *g)
{
	return (size_t)g->block_size * g->nblocks;
}
/* The oldest frame that was not given back; false: none there. */
bool packet_ring_peek(struct packet_ring *g, struct packet_frame *f);
/* Gives back the frame that was peeked at. */
void packet_ring_next(struct packet_ring *g);

/* ---- who gets which frame ---------------------------------------------------------- */

struct packet_steer {
	int      mode;                   /* PACKET_FANOUT_* */
	unsigned nprog;
	struct sock_filter *prog;
	int      fd;                     /* of an eBPF program, or -1 */
};
/* Makes the program that the node's parameters ask for; where that cannot be, a
 * warning, and the kernel's hash.  An eBPF program looks into the node's map of flows,
 * which follows the graph's from here on. */
void packet_steer_new(struct packet_steer *s, const struct xk_node *n);
void packet_steer_free(struct packet_steer *s);
/* Gives the program, if there is one, to the group that fd is in; -1 and errno. */
int  packet_steer_attach(const struct packet_steer *s, int fd);
const char *packet_steer_name(const struct packet_steer *s);

/* ---- the device -------------------------------------------------------------------- */

struct packet_queue {
	int                fd;
	struct packet_ring ring;
	char               apart[XK_CACHELINE];  /* no two share a line, wherever they begin */
};

/* All sockets at one interface; when it has gone they are of no use any more. */
struct packet_set {
	struct packet_set   *next;       /* of the state's */
	unsigned             users;      /* replicas; guarded by the state's lock while any runs */
	uint32_t             life;       /* so many sets were there before */
	uint32_t             gone;       /* somebody has seen that its interface is */
	int                  ifindex;
	struct packet_queue  queue[];    /* [nqueues] */
};

struct packet_state {
	struct packet_set   *sets;       /* the newest first, the only one that is opened; guarded by the lock */
	unsigned             nqueues;
	uint32_t             frame_max;  /* this, vnet and mac stay when the interface comes back */
	bool                 vnet;       /* each frame has a header of virtio-net before it */
	uint8_t              mac[6];
	uint32_t             said_down, said_gone, said_why; /* one sentence for all virtual processors */
	uint32_t             life;       /* of the newest set */
	struct xk_mutex      lock;       /* guards sets and their users; for an instant */
	struct packet_steer  steer;      /* to open them again with, where it is kept */
	bool                 keeps_steer;
	int                  claim;      /* see packet_dev_claim; only while `claimed` */
	bool                 claimed, shared;
	struct xk_ebpf_flows flows;      /* zeroed: none */
};

/* VPs that may have a queue: I/O threads, where there are any. */
static inline unsigned packet_readers(const struct xk_node *n)
{
	const struct xk_vpset *set = n->graph->vps;

	return set->arch.io_threads != 0 ? set->arch.io_threads : set->nvps;
}
/* Opens the sockets with their rings, closed to frames until packet_dev_admit.  On
 * failure negative, with a sentence in why[n], and packet_dev_close is still to be called. */
int  packet_dev_open(struct packet_state *st, const struct packet_conf *c, const struct packet_steer *s,
		     unsigned nvps, char *why, size_t n);
/* By the VP that waits for it: a further set, the newest from now on, at the interface that has the name now.  On
 * failure negative, a sentence in why[n], and nothing has changed. */
int  packet_dev_again(struct packet_state *st, const struct packet_conf *c, char *why, size_t n);
/* One more uses the newest set instead of `old`, which goes with its last user; NULL: of none. */
struct packet_set *packet_set_get(struct packet_state *st, struct packet_set *old);
void packet_dev_close(struct packet_state *st);
void packet_dev_admit(struct packet_queue *q);
/* Frames that the kernel lost since the last call because the ring was full. */
uint32_t packet_dev_lost(struct packet_queue *q);
/* The pending error of the socket, or 0; *gone: the interface is there no more. */
int  packet_dev_error(struct packet_queue *q, bool *gone);
/* Reads the whole of a frame that did not fit its slot into m; its length.  vnet: as the state's. */
ssize_t packet_dev_recv(struct packet_queue *q, struct xk_msg *m, bool vnet);

/* ---- a replica ------------------------------------------------------------------------ */

#define PACKET_TX_MSGS 64u       /* most messages in a batch */
#define PACKET_TX_IOVS 448u
#define PACKET_MSG_IOV 192u      /* pieces of a frame, its header of virtio-net counted, that one system call takes */

struct packet_tx {
	struct xk_task  task;            /* ready while messages wait */
	struct xk_msg  *m[PACKET_TX_MSGS];
	struct mmsghdr  h[PACKET_TX_MSGS];
	struct iovec    v[PACKET_TX_IOVS];
	uint8_t         head[PACKET_TX_MSGS][XK_VNET_LEN];  /* of super-segments */
	unsigned        n, nv;
	int             fd;
	bool            direct;          /* nobody will run the task: send at once */
};

struct packet_rep {
	struct xk_task       task;       /* reads the ring */
	struct xk_rep       *rep;
	struct packet_set   *set;
	struct packet_queue *queue;      /* of it; NULL: this virtual processor only sends */
	xk_ns                look_at;    /* when to ask after the interface's health */
	struct xk_timer      watch;      /* while the interface is down: is it gone?  While it is gone: is it back? */
	struct xk_call       call;       /* what became of the interface; posted when `called` was clear */
	uint32_t             called;
	bool                 down, gone, waits, stopped; /* waits: of all it is this one that looks for the next */
	bool                 asked, takes_long;  /* has who is above been asked; does it take long frames */
	struct packet_tx     tx;
};

static inline const struct packet_conf *packet_conf(const struct xk_rep *r) { return r->conf; }
static inline struct packet_state *packet_state(const struct xk_rep *r) { return r->node->state; }

unsigned packet_rx_run(struct xk_task *t, unsigned budget);
unsigned packet_tx_run(struct xk_task *t, unsigned budget);
void     packet_tx_push(struct xk_sess *s, struct xk_msg *m);
void     packet_tx_flush(struct packet_rep *pr);
/* A frame, or a super-segment with its header; false, and m is still the caller's: it has too many pieces. */
bool     packet_tx_frame(struct packet_rep *pr, struct xk_msg *m, const uint8_t *h);
/* A super-segment, pushed; consumes it. */
void     packet_super_down(struct packet_rep *pr, struct xk_msg *m);

/* m, of which the header h says that it stands for several frames; consumes it. */
void     packet_super_up(struct packet_rep *pr, struct xk_burst *b, struct xk_msg *m, const uint8_t *h);

/* Now and then, when there is nothing to do: is the interface there and up? */
void     packet_look(struct packet_rep *pr);
/* Notes that the interface went down, until a frame comes. */
void     packet_went_down(struct packet_rep *pr);
void     packet_watch(struct xk_timer *t);
/* It is gone: nothing is received or sent any more, until it is back where that is waited for. */
void     packet_gone(struct packet_rep *pr);
/* Takes its place in the newest set. */
void     packet_use(struct packet_rep *pr, struct packet_set *set);
/* packet_return.c, where the interface is waited for.  Tells all virtual processors what has become of it. */
void     packet_tell(struct xk_node *n);
void     packet_told(struct xk_vp *vp, void *pr);
/* By the first one: looks for an interface of the name, and opens sockets there; false: look again. */
bool     packet_look_for(struct packet_rep *pr);
/* Inside its VP: adds what the kernel has dropped since the last time. */
void     packet_count_lost(struct packet_rep *pr);
/* True for the first of all virtual processors. */
bool     packet_first_to_say(uint32_t *said);

#endif
