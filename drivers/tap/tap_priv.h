/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap_priv.h - what the files of the TAP driver share: the device, and the node and its replicas.
 *
 * tap_dev.c opens a device, tap_back.c makes one that was removed again, tap.c is the driver round them.
 * Invariant: the descriptor's number stays while the node lives.
 */
#ifndef XK_TAP_PRIV_H
#define XK_TAP_PRIV_H

#include "runtime/upi/xk_graph.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

struct tap_want {
	const char    *ifname;           /* NULL: the kernel chooses */
	const char    *netns;            /* name under /run/netns, or NULL */
	struct xk_cidr addr;             /* of the host's side; 0/0: leave the interface alone */
	uint32_t       mtu;
	bool           offload;          /* frames have a header of virtio-net, where the kernel can */
	const uint8_t *host_mac;         /* of the host's side; NULL: the kernel chooses */
};

/* A device that is open. */
struct tap_dev {
	int  fd;                         /* non-blocking */
	bool vnet;                       /* frames have that header (drivers/common/vnet_hdr.h) */
	bool datagrams;                  /* ... and may be several datagrams of UDP as one */
	bool has_host_mac;
	uint8_t host_mac[6];
};

/* Opens and, when there is an address, brings up the host's side.  On failure
 * negative and a sentence in why[n]; nothing is left behind. */
int tap_dev_open(const struct tap_want *w, struct tap_dev *d, char *why, size_t n);
/* The same again, d's having been removed: what has the place of d->fd then is a device with the address that the
 * host's side had.  On failure negative and a sentence in why[n], and d is as it was. */
int tap_dev_again(const struct tap_want *w, struct tap_dev *d, char *why, size_t n);
/* From now on the kernel may give us what is longer than a frame, and leave checksums to us. */
void tap_dev_take_long(const struct tap_dev *d);

/* ---- the driver ------------------------------------------------------------------------ */

#define TAP_SEGS 16u             /* segments to read into: the longest frame, or super-segment */

struct tap_conf {
	char          *ifname, *netns;
	struct xk_cidr addr;
	uint64_t       mtu;
	bool           offload, reattach;
	uint8_t        mac[6];
	unsigned       classifier;
};

#define TAP_DROPS(X) \
	X(TOO_LONG, "too_long")          /* longer than the device's largest frame */ \
	X(FULL, "queue_full")            /* the kernel would have made us wait */ \
	X(DOWN, "interface_down")        /* nobody has brought up the host's side */ \
	X(GONE, "device_gone")           /* the device was removed */ \
	X(PIECES, "too_many_pieces")     /* no single system call could write it */ \
	X(SUPER, "bad_super_segment")    /* pushed: its headers lie, or the kernel does not take it */ \
	X(VNET, "bad_vnet_header")       /* read: the header of virtio-net does not fit its frame */
enum {
	TAP_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) TAP_DROP_##id,
	TAP_DROPS(X)
#undef X
};
enum { N_READ, N_WRITTEN, N_ERRORS, N_SUPER_READ, N_SUPER_WRITTEN, N_LOOKED, N_REATTACHED };

#define TAP_BACK_EVERY (100 * XK_MS)     /* while the device is gone */

struct tap_state {
	struct tap_dev dev;
	bool           open;             /* zeroed memory is a legal state */
	uint32_t       frame_max;
};

/* Used on the first VP only. */
struct tap_rep {
	struct xk_task task;
	struct xk_rep *rep;
	struct xk_timer back;            /* while the device is gone: to make it again */
	bool           said;             /* why it cannot be made; one sentence each time that it goes */
	bool           asked, takes_long; /* has who is above been asked; does it take long frames */
	unsigned       nseg;             /* of seg, that a read needs */
	struct xk_msg *seg[TAP_SEGS];    /* to read into; NULL: to be got */
};

static inline const struct tap_conf *tap_conf(const struct xk_rep *r) { return r->conf; }
static inline struct tap_state *tap_state(const struct xk_rep *r) { return r->node->state; }

/* Of a node's configuration. */
struct tap_want tap_want_of(const struct tap_conf *c);
/* Inside the reader's VP, the device has been removed and its task is parked: makes it again. */
void tap_back(struct xk_timer *t);

#endif
