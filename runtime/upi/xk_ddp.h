/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_ddp.h - direct data placement (RFC 4296): an application posts memory at a session,
 * and a driver places what comes for it there and nowhere else.
 *
 * What is posted is a ring of bytes.  The driver, which has classified a frame
 * before it touches its payload, asks the session's transport what the payload is,
 * copies it into the ring, sums it on the way and passes up a message of two
 * segments: the headers, in a buffer of the VP, and the payload, lent from the ring.
 * The receiver finds the bytes where it wants them.  Whatever does not fit this
 * (short, damaged, a fragment, not the next of a stream, no room) goes the ordinary
 * way, and xk_ddp_receive copies it into the ring: the receiver sees no
 * difference, only the counters do.
 *
 *	err = xk_ddp_open(&d, lls, &conf);
 *	demux(m):  for (off = 0; off < m->tot; off += n) {
 *	                   n = xk_ddp_receive(d, m, off, &at);
 *	                   if (n == 0)
 *	                           break;        no room: m is all there is
 *	                   ... at[0..n) is the receiver's ...
 *	                   xk_ddp_done(d, at, n);
 *	           }
 *	           xk_msg_free(m);
 *	xk_ddp_close(d);                     before xk_close(lls)
 *
 * Ring memory is not written again before the receiver is done with it and every
 * message that looks at it is gone, wherever that may be: the ring outlives its
 * session for as long as one is left.
 * Everything is called inside the session's VP.
 */
#ifndef XK_DDP_H
#define XK_DDP_H

#include "runtime/upi/xk_input.h"

/* What happened, in pieces of payload; names for a protocol's list of counters. */
#define XK_DDP_COUNTS(X) \
	X(PLACED, "placed")             /* received where the driver had put it */ \
	X(COPIED, "post_copied")        /* came the ordinary way, copied by xk_ddp_receive */ \
	X(MISSED, "post_missed")        /* came the ordinary way, and there was no room */ \
	X(SHORT, "post_short")          /* not placed: shorter than the ring asks for */ \
	X(FULL, "post_full")            /* not placed: no room, or no buffer for the headers */ \
	X(SHAPE, "post_shape")          /* not placed: options, padding, in pieces, not data */ \
	X(ORDER, "post_order")          /* not placed: not the next of a stream */ \
	X(CHECKSUM, "post_checksum")    /* not placed: damaged; the protocol drops it */ \
	X(LOST, "post_lost")            /* placed, and not received there */
enum {
#define XK_DDP_ENUM(id, text) XK_DDP_##id,
	XK_DDP_COUNTS(XK_DDP_ENUM)
	XK_DDP_N
};

#define XK_DDP_LEAST 128u            /* payload shorter than that is never placed */
#define XK_DDP_MIN   4096u           /* bytes of a ring */
#define XK_DDP_MAX   (1u << 30)

/* Parameters of an application that can post. */
#define XK_DDP_PARAMS(conf, field, field_least) \
	{ .name = #field, .type = XK_P_SIZE, .def = "0", .max = "1GiB", .offset = offsetof(conf, field), \
	  .doc = "bytes of memory that each connection posts for drivers to place payload in; 0: none" }, \
	{ .name = #field_least, .type = XK_P_SIZE, .def = "1KiB", .max = "64KiB", .offset = offsetof(conf, field_least), \
	  .doc = "shorter payloads are not placed: their way up costs less than what it saves" }

struct xk_ddp;

/* ---- for receivers ------------------------------------------------------------ */

struct xk_ddp_conf {
	uint32_t    bytes;               /* of the ring, XK_DDP_MIN to _MAX */
	uint32_t    least;               /* shorter payloads are not placed */
	bool        stream;              /* bytes without boundaries, in order */
	xk_counter *count;               /* [XK_DDP_N], the replica's; valid until xk_ddp_close */
};

/*
 * Posts a ring at lls, a transport's own session.  XK_E_NOTSUP: nothing below lls can tell
 * payload by its frame; XK_E_BUSY: lls has one; XK_E_INVAL; XK_E_NOMEM.
 */
int  xk_ddp_open(struct xk_ddp **d, struct xk_sess *lls, const struct xk_ddp_conf *c);
/* Withdraws it; NULL is legal.  Legal after the session's end. */
void xk_ddp_close(struct xk_ddp *d);
/*
 * The payload of m from `off` on is at *at, in the ring, for so many bytes: the receiver's
 * until it says xk_ddp_done, whatever becomes of m.  A datagram (off 0) comes whole, a
 * stream in pieces.  0: there was no room for the rest of m, it is where m says.
 */
uint32_t xk_ddp_receive(struct xk_ddp *d, const struct xk_msg *m, uint32_t off, uint8_t **at);
/* The receiver is done with what xk_ddp_receive gave; a stream's in order. */
void xk_ddp_done(struct xk_ddp *d, const uint8_t *at, uint32_t n);

/* ---- for transports ------------------------------------------------------------- */

/* A frame as its session's transport sees it. */
struct xk_payload {
	uint32_t header;                 /* bytes before it, from the network header on */
	uint32_t n;                      /* 0: there is none, and nothing to be done */
	uint32_t sum;                    /* partial, of all that the checksum covers but the payload */
	bool     summed;                 /* there is a checksum */
	uint32_t skip;                   /* stream: bytes between the next one expected and it */
};
/*
 * Is frame, len bytes from its network header on, a message of s whose payload lies in one
 * piece at its end?  Changes nothing.
 */
typedef bool (*xk_payload_fn)(const struct xk_sess *s, const uint8_t *frame, uint32_t len, struct xk_payload *p);
/* A standard session operation, out: xk_payload_fn. */
#define XK_CTL_PAYLOAD 910u

#endif
