/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_priv.h - what the files of the AF_XDP driver share: the device, its queues
 * and each VP's socket.
 *
 * Who touches what, without a lock: a port belongs to its VP, but for `done`.  A
 * queue's fill and completion rings belong to whoever has set `busy`, for as long
 * as one batch takes; nobody waits for it (see xdp_queue.c).
 * The UMEM is the frames and, behind them, chunks of the message pool: what lies there is sent
 * from there, and its message held until the kernel is through with it.
 * While the interface is away no VP touches a ring, and one of them has all of the device to itself (xdp_back.c).
 * Invariant: a frame of the UMEM is in exactly one of these places: a ring shared
 * with the kernel, the kernel, a message that was lent it, a VP's own list, `back`, `rest` or `done`.
 */
#ifndef XK_XDP_PRIV_H
#define XK_XDP_PRIV_H

#include "drivers/common/burst.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/classify/xk_ebpf.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

/* Receive and send, apart from each other: how many descriptors of a ring one turn moves. */
#define XDP_BURST XK_BURST

enum xdp_mode { XDP_AUTO, XDP_GENERIC, XDP_NATIVE, XDP_ZERO };
enum xdp_partial { XDP_SUMS_AUTO, XDP_SUMS_ACCEPT, XDP_SUMS_DROP, XDP_SUMS_OFF };

struct xdp_conf {
	char    *ifname, *netns;
	unsigned mode, partial, classifier;
	bool     crc, reattach;
	uint64_t queue, queues, frames, rx_ring, tx_ring, lend, buffers, coalesce;
	uint8_t  mac[6];
};

#define XDP_DROPS(X) \
	X(TOO_LONG, "too_long")            /* longer than the interface's largest frame */ \
	X(FULL, "queue_full")              /* every frame for sending is with the kernel */ \
	X(DOWN, "interface_down")          /* somebody took the interface down */ \
	X(GONE, "device_gone")             /* the interface was removed */ \
	X(PARTIAL, "partial_checksum")     /* the sender left its checksum to a device that is none */ \
	X(BAD, "bad_descriptor")           /* the ring names memory that is no frame of its queue */ \
	X(UNCUT, "unsegmented")            /* received, longer than the MTU, and no TCP that can be cut */ \
	X(SUPER, "bad_super_segment")      /* pushed: its headers lie, or its frames are too long */
enum {
	XDP_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) XDP_DROP_##id,
	XDP_DROPS(X)
#undef X
};

/* The last ones are the kernel's (XDP_STATISTICS), see xdp_dev_stats. */
#define XDP_COUNTS(X) \
	X(READ, "read") X(WRITTEN, "written") X(LENT, "lent") X(PARTIAL, "partial_accepted") \
	X(ERRORS, "device_errors") X(FULL, "fill_ring_full") X(SUPER, "super_segments_cut") \
	X(LONG, "long_frames") X(UNCOPIED, "sent_without_copy") X(LOOKED, "looked_for") X(REATTACHED, "reattached") \
	X(K_DROPPED, "kernel_dropped") X(K_RING, "rx_ring_full") X(K_FILL, "fill_ring_empty")
enum {
#define X(id, text) N_##id,
	XDP_COUNTS(X)
#undef X
	N_COUNTS
};

/* The driver's operations: xdp_io.c, or xdp_none.c where there are no libraries. */
extern const struct xk_ops xdp_ops;

#ifndef XK_XDP_MISSING
#include <xdp/xsk.h>

struct xdp_dev;
struct xdp_queue;

/* One of the UMEM; its place in the array is its place there. */
struct xdp_frame {
	struct xk_qlink   link;
	struct xdp_queue *q;
	bool              sent;          /* a received one, with the kernel to be sent */
	bool              lent;          /* a message had it, and whoever tends its queue has not seen it since */
};

/* One VP's socket at one queue of the device. */
struct xdp_port {
	struct xk_task    task;          /* reads; sleeps on the socket */
	struct xk_task    tail;          /* sends and gives back what a unit has collected */
	struct xk_rep    *rep;
	struct xdp_queue *q;
	struct xsk_socket *xsk;
	struct xsk_ring_cons rx;
	struct xsk_ring_prod tx;
	struct xk_qlink  *spare;         /* frames to send with */
	struct xk_qlink  *back, *back_last; /* received frames, done with, to be given to the queue */
	uint32_t          nback;
	uint32_t          unsent;        /* in the ring, but not shown to the kernel */
	bool              again;         /* the device did not take all that was shown */
	bool              uncopied;      /* sent without a copy, and nobody has looked yet whether it is back */
	bool              over;          /* stopped: no task is made ready any more */
	bool              away;          /* the interface is away: neither the socket nor a ring is touched */
	/* A received frame in pieces, see xdp_train.c: its last has not come; one of it is lost. */
	bool              in_train, broken;
	bool              asked, takes_long; /* has who is above been asked; does it take long frames */
	struct xk_msg    *train, *train_last;
	uint64_t          lent, freed;   /* frames given to messages here; come back here */
	const uint32_t   *fill_taken;    /* the kernel's count of frames taken from the queue's fill ring */
	struct xk_call    call;          /* at the first queue: what became of the interface, posted when `called` was clear */
	uint32_t          called;
	struct xk_timer   look;          /* to ask what became of the interface and of frames */
	bool              looking;       /* it is set */
	/* How fast frames come, see rx_pace: those since then, found so often after nothing; no naps so many times,
	 * of how many. */
	xk_ns             since;
	uint64_t          came, found;
	uint32_t          hold, holds;
	bool              none;          /* the last turn found nothing */
	struct xdp_statistics seen;      /* what they were */
	/* Frames that have been sent, put there by whoever tends the queue. */
	struct xk_mpsc    done XK_ALIGNED;
} XK_ALIGNED;

/* One queue of the device: the rings that its sockets share. */
struct xdp_queue {
	struct xdp_dev   *dev;
	struct xsk_umem  *umem;          /* all of the device's memory */
	uint16_t          no;            /* from 0, whatever the device calls it */
	/* Touched by whoever has set busy. */
	struct xsk_ring_prod fill XK_ALIGNED;
	struct xsk_ring_cons comp;
	uint32_t          filled;        /* frames put into the fill ring, ever; all read it */
	struct xk_qlink  *rest;          /* frames for which the fill ring had no room */
	/* Written by all. */
	uint32_t          busy XK_ALIGNED;
	struct xk_mpsc    back;
} XK_ALIGNED;

enum xdp_link { XDP_UP, XDP_DOWN, XDP_GONE };

struct xdp_dev {
	char              ifname[16];
	unsigned          ifindex, nvps, nqueues, first_queue;
	uint32_t          frame_size, frames, rx_ring, tx_ring;
	uint32_t          mtu, lend;
	uint8_t           mac[6];
	uint8_t           partial;       /* enum xdp_partial, but never auto */
	uint32_t          coalesce;      /* us of a nap while frames come fast; 0: none */
	uint32_t          link;          /* enum xdp_link; written by VP 0, read by all */
	/* Frames lent that were not back when the device was closed; the last one frees it. */
	uint64_t          left;
	bool              closed;
	void             *area;
	size_t            area_size;
	/* Of it, message buffers; they are the pool's once `given`. */
	size_t            pool_at, pool_size;
	bool              given;
	struct xk_msg   **held;          /* by place there, see xdp_held */
	struct xdp_frame *frame;
	struct xdp_queue *queue;         /* [nqueues] */
	struct xdp_port  *port;          /* [queue][VP] */
	int               map_fd, prog_fd, link_fd, watch_fd;
	struct xk_timer   watch;         /* of VP 0, whose replica is rep */
	struct xk_rep    *rep;
	uint32_t          inside;        /* VPs that touch rings; once the interface is gone they leave */
	bool              torn;          /* they have, and nothing of the old interface is left */
	bool              again;         /* opened once: what was learnt of the interface stays */
	bool              said;          /* why there is none yet */
	/* While opening: what the program is made of, NULL to leave the choice of the VP to
	 * the runtime; then whether it was. */
	const struct xk_pattern *pattern;
	struct xk_flowtab *flowtab;
	struct xk_ebpf_flows flows;      /* that the pattern's program looks into */
	const struct xk_log *log;
	bool              steers;
};

/* A frame given to the kernel by one thread may come from it to another: the thread
 * sanitizer does not see the kernel's part in that order. */
#ifdef XK_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define xdp_to_kernel(q)   __tsan_release(q)
#define xdp_from_kernel(q) __tsan_acquire(q)
#else
#define xdp_to_kernel(q)   ((void)(q))
#define xdp_from_kernel(q) ((void)(q))
#endif

/* Frames shorter than this are copied: no two that are being sent begin in the same stretch of so many bytes. */
#define XDP_HELD 512u
/* Where the message is kept that is sent from that place in the UMEM; NULL: it is not one of the pool's. */
static inline struct xk_msg **xdp_held(const struct xdp_dev *d, uint64_t addr)
{
	uint64_t at = addr - d->pool_at;

	return at < d->pool_size ? &d->held[at / XDP_HELD] : NULL;
}

static inline struct xdp_port *xdp_port(const struct xdp_dev *d, unsigned queue, unsigned vp)
{
	return &d->port[queue * d->nvps + vp];
}
static inline uint64_t xdp_frame_addr(const struct xdp_dev *d, const struct xdp_frame *f)
{
	return (uint64_t)(f - d->frame) * d->frame_size;
}
static inline struct xdp_frame *xdp_frame_at(const struct xdp_dev *d, uint64_t addr)
{
	return &d->frame[addr / d->frame_size];
}

/*
 * What a ring says is looked at before it becomes a pointer: the rings are memory that is shared,
 * and their other side is a device's driver.
 */

/* A descriptor of what came in.  Where messages lie in the UMEM the kernel says in the upper bits how far behind
 * the frame's begin the bytes are. */
static inline struct xdp_desc xdp_rx_desc(const struct xsk_ring_cons *r, uint32_t at)
{
	struct xdp_desc desc = *xsk_ring_cons__rx_desc(r, at);

	desc.addr = (desc.addr & XSK_UNALIGNED_BUF_ADDR_MASK) + (desc.addr >> XSK_UNALIGNED_BUF_OFFSET_SHIFT);
	return desc;
}

/* Do these bytes lie in one frame, and is it one that queue q receives into? */
static inline bool xdp_received(const struct xdp_queue *q, uint64_t addr, uint32_t len)
{
	const struct xdp_dev *d = q->dev;
	uint64_t all = (uint64_t)d->frames * d->frame_size;

	return addr - q->no * all < all && (addr & (d->frame_size - 1)) + len <= d->frame_size;
}

/* Whose frame for sending at queue q it is; NULL: nobody's. */
static inline struct xdp_port *xdp_sender(const struct xdp_queue *q, uint64_t addr)
{
	const struct xdp_dev *d = q->dev;
	uint64_t i = addr / d->frame_size - (uint64_t)d->nqueues * d->frames, vp = i / d->tx_ring;

	return vp < d->nvps && vp % d->nqueues == q->no ? xdp_port(d, q->no, (unsigned)vp) : NULL;
}

/* A frame of some queue that is out to be sent; NULL: it is none. */
static inline struct xdp_frame *xdp_sent(const struct xdp_dev *d, uint64_t addr)
{
	uint64_t i = addr / d->frame_size;

	return i < (uint64_t)d->nqueues * d->frames && d->frame[i].sent ? &d->frame[i] : NULL;
}

/* ---- xdp_dev.c: opening and closing; control thread --------------------------------- */

/* On failure negative and a sentence in why[n]; nothing is left behind.  The
 * node's log gets the mode that was chosen and why. */
int  xdp_dev_open(const struct xk_node *node, struct xdp_dev **d, char *why, size_t n);
/* Lets go of the interface and of messages that were being sent; the first time it is called.  Inside a VP, or
 * before any ran. */
void xdp_dev_shut(struct xdp_dev *d);
/* Inside a VP, no other touches a ring: lets go of the interface that is gone, and of messages that were being sent;
 * xdp_dev_again is to follow. */
void xdp_dev_tear(struct xdp_dev *d);
/* The same: opens the interface that has the name now.  On failure negative and a sentence in why[n], and nothing
 * has changed. */
int  xdp_dev_again(struct xdp_dev *d, const struct xdp_conf *c, char *why, size_t n);
/* The same; the frames' memory stays until the last lent one is back. */
void xdp_dev_close(struct xdp_dev *d);
/* A lent frame has come back after the device was closed. */
void xdp_dev_late(struct xdp_dev *d);

/* ---- xdp_learn.c: in the interface's namespace ------------------------------------------ */

/* A sentence for a system call's failure; returns err. */
int  xdp_fail(int err, const char *what, const char *of, char *why, size_t n);
/* Fills in what there is to know, and brings the interface up; again: what the graph was told of it stays, and must
 * fit. */
int  xdp_learn(struct xdp_dev *d, const struct xdp_conf *c, char *why, size_t n);

/* ---- xdp_prog.c: the program and its place at the interface, in its namespace --------- */

/* Makes the map of sockets and the program: d->map_fd, d->prog_fd. */
int  xdp_prog_new(struct xdp_dev *d, char *why, size_t n);
/* Refuses when somebody else's program is there. */
int  xdp_prog_alone(const struct xdp_dev *d, char *why, size_t n);
/* d->link_fd: while it is open the program is attached, however this process ends. */
int  xdp_prog_attach(struct xdp_dev *d, bool native, char *why, size_t n);
/* Is it there no more: the interface gone, or somebody has taken the program away? */
bool xdp_prog_gone(const struct xdp_dev *d);
void xdp_prog_free(struct xdp_dev *d);

/* ---- xdp_queue.c: the frames' way back; inside the port's VP --------------------------- */

/* Has the kernel fewer than `least` frames to receive into? */
bool xdp_scarce(const struct xdp_port *p, uint32_t least);
/* Puts a chain of frames into the fill ring, and what does not fit into `rest`.  For who has set
 * busy, or is alone. */
void xdp_queue_fill(struct xdp_queue *q, struct xk_qlink *l);
/* A received frame is done with; it goes back with others, by xdp_give_back at the latest. */
void xdp_frame_free(struct xdp_port *p, struct xdp_frame *f);
void xdp_give_back(struct xdp_port *p);
/* Looks whether sent frames are back. */
void xdp_queue_tend(const struct xdp_port *p);
/* A frame to send with, NULL: all are out. */
struct xdp_frame *xdp_frame_get(struct xdp_port *p);
/* It was not sent after all. */
void xdp_frame_put(struct xdp_port *p, struct xdp_frame *f);

/* ---- xdp_rx.c, xdp_tx.c; inside the port's VP -------------------------------------------- */

/* What the kernel says in a descriptor's options: the frame goes on in the next; and when a socket is bound:
 * that we know.  Not in every linux/if_xdp.h. */
#define XDP_CONTINUED (1u << 0)
#define XDP_PIECES    (1u << 4)

/* What is called when a lent frame's message is freed; its arg is the frame. */
void xdp_rx_release(void *arg);
/* The bytes of a descriptor, lent or copied; NULL: counted. */
struct xk_msg *xdp_rx_bytes(struct xdp_port *p, const struct xdp_desc *desc, bool lend);
/* IPv4 with TCP or UDP, whole, in a frame of tot bytes of which len are at b, whose checksum field is the
 * folded sum of the pseudo-header? */
bool xdp_sum_is_partial(const uint8_t *b, uint32_t len, uint32_t tot);

/* ---- xdp_train.c: received frames in pieces; inside the port's VP ------------------------ */

/* A piece; was it the last of its frame? */
bool xdp_train_piece(struct xdp_port *p, struct xk_burst *b, const struct xdp_desc *desc, bool lend);
/* What there is of one is not needed any more. */
void xdp_train_forget(struct xdp_port *p);

unsigned xdp_rx_run(struct xk_task *t, unsigned budget);
void xdp_rx_look(struct xk_timer *t);
void xdp_rx_stats(struct xdp_port *p);
unsigned xdp_tail_run(struct xk_task *t, unsigned budget);
void xdp_tx_push(struct xdp_port *p, struct xk_msg *m);
/* The longest super-segment that fits the frames of a VP well, link header counted. */
uint32_t xdp_tx_super(const struct xdp_dev *d);
void xdp_tx_flush(struct xdp_port *p);

/* ---- xdp_watch.c: what becomes of the interface ------------------------------------------ */

int  xdp_watch_open(struct xdp_dev *d, char *why, size_t n);
/* What it is now. */
enum xdp_link xdp_watch_read(const struct xdp_dev *d);

/* ---- xdp_back.c: an interface that was removed is there again -------------------------------- */

static inline const struct xdp_conf *xdp_conf(const struct xk_rep *r) { return r->conf; }
/* Before any VP runs. */
void xdp_back_init(struct xdp_dev *d, struct xk_rep *r);
/* Inside the first VP: looks from time to time what has become of the interface. */
void xdp_watch_start(struct xdp_dev *d, struct xk_rep *r);
void xdp_watch_stop(struct xdp_dev *d);

#endif
#endif
