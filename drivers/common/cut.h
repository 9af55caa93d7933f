/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cut.h - a super-segment becomes the frames that it stands for.
 *
 * For drivers that send frames: one message of up to 64 KiB, an Ethernet or FDDI header, IPv4, TCP
 * or UDP (XK_MSG_SUPER, see xk_msg.h), is copied out frame by frame.  Each is byte for byte what its
 * own push would have been: of TCP the numbers go on, FIN and PSH are the last one's, CWR is the
 * first one's (RFC 3168 6.1.2), URG is in those before the end of what is urgent.  The
 * identification goes on where pieces may be made of a frame; with DF it says nothing (RFC 6864) and
 * is the same in all.
 * It also cuts what a device has passed up as one, for who wants single frames.
 *
 * Nothing is believed: a message whose headers lie is refused before the first frame is made, and no
 * frame is longer than frame_max.  The message stays the caller's and must stand until the last frame
 * is made.  All of it runs inside one VP.  Memory: none, but where it says so.
 */
#ifndef XK_CUT_H
#define XK_CUT_H

#include "runtime/msg/xk_msg.h"
#include "runtime/msg/xk_msgq.h"

/* Headers of link, network and transport with all options. */
#define XK_CUT_HEAD 144u
/* Longest super-segment behind a link header: what the length field of IP can say. */
#define XK_CUT_MAX  65535u

struct xk_rep;
struct xk_cut {
	const struct xk_msg *at;         /* where the next byte of payload lies */
	uint32_t off;                    /* ... in that segment */
	uint32_t left;                   /* payload bytes still to be cut */
	uint32_t seg;                    /* of a frame */
	uint32_t net, tp, hlen;          /* where network and transport header begin; length of all three */
	uint32_t seq;                    /* of the next frame, TCP */
	uint32_t ip_sum, tp_sum, pseudo; /* partial sums of what is the same in every frame */
	uint16_t id;                     /* of the next frame */
	uint16_t word;                   /* of TCP: offset and flags */
	uint16_t urg;                    /* ... and urgent pointer, of the next frame */
	bool     tcp, sums, df;
	uint8_t  head[XK_CUT_HEAD];
};

/*
 * Begins with m, whose network header lies behind `link` bytes; seg: payload bytes of a frame; sums:
 * checksums are to be made, else their field is copied.  False, and nothing is to be done with c: no
 * whole datagram of TCP or UDP over IPv4 with payload, a header that lies, or seg is 0 or makes frames
 * longer than frame_max.
 */
bool xk_cut_begin(struct xk_cut *c, const struct xk_msg *m, uint32_t link, uint32_t seg, uint32_t frame_max, bool sums);
/* The same for a message of the down path with XK_MSG_SUPER. */
static inline bool xk_cut_super(struct xk_cut *c, const struct xk_msg *m, uint32_t link, uint32_t frame_max)
{
	return xk_cut_begin(c, m, link, m->u.cut.seg, frame_max, (m->flags & XK_MSG_PARTIAL) != 0);
}

/* Length of the next frame; 0: there is none. */
static inline uint32_t xk_cut_next(const struct xk_cut *c)
{
	return c->left == 0 ? 0 : c->hlen + (c->left < c->seg ? c->left : c->seg);
}
/* Writes the next frame, xk_cut_next bytes, to dst.  The partial sum of all behind the network header,
 * of the bytes as they were copied: what a device that sums says of them. */
uint32_t xk_cut_put(struct xk_cut *c, uint8_t *dst);
/* The next frame as a message with full headroom, its payload at the beginning of a line where it can
 * be; XK_MSG_CSUM is set, with the sum of xk_cut_put, but not on one of several segments.  NULL: memory
 * is out, nothing has changed. */
struct xk_msg *xk_cut_msg(struct xk_cut *c);
/* All of c that is left as messages, behind what is in q; returns how many bytes of payload could not
 * be: memory was out. */
uint32_t xk_cut_rest(struct xk_cut *c, struct xk_msgq *q);

/* A super-segment that was pushed to r, a driver of Ethernet, as frames behind what is in q; consumes m.
 * What cannot be cut is dropped for reason `drop`, what memory refuses is counted. */
void xk_cut_down(struct xk_rep *r, struct xk_msg *m, uint32_t frame_max, unsigned drop, struct xk_msgq *q);

#endif
