/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_stream.h - what a protocol that offers "stream" promises to those above:
 * bytes in order, flow control both ways, and news of a connection.
 *
 * Down.  A push appends the message's bytes to the stream.  While
 * XK_STREAM_ROOM answers more than 0 a push is taken whole, however long its
 * message; a push into no room would leave a hole in the stream, so it aborts
 * the connection.  After an answer of 0 comes XK_STREAM_WRITABLE.  Room goes only by
 * pushes and by the holder's own orders (SHUTDOWN, ABORT, a smaller buffer), so an
 * answer need not be asked for again before as many bytes were pushed.  While memory is
 * short the answer is less than the buffer has left, at last 0: who finds no memory for a
 * message asks again, and is woken like anybody else when there is some.  Who pushes
 * one piece of bytes in several messages may say so (XK_STREAM_MORE).
 *
 * A stream may have the operation write, too: it copies bytes to where it will send them from, n or
 * fewer, and answers how many.  No room is no error: fewer are taken, down to 0, and who then asks
 * for room is woken as always.  Bytes may leave before all are copied: what a handler that is called
 * meanwhile pushes goes behind those that were.  Where there is no such
 * operation, or somebody stands before push, a message is pushed (stream_write_some of
 * protocols/stream does either).  What a push promises holds of a write; it is one piece of bytes.
 * Of many short writes most do nothing but join what waits.  Beside write a stream may have the operation
 * write_on: it is told what its caller has copied by itself to where the last one said, goes on as
 * write does, and says where the next bytes go (n 0: nothing is written, and after
 * bytes that were copied nothing said, either).  What was not promised is not taken, and
 * then nothing is written, either (struct stream_writer of protocols/stream is such a caller).
 *
 * Up.  demux gives bytes in order, without boundaries.  Normally what has been
 * passed up counts as consumed and the peer may send more; after
 * XK_STREAM_MANUAL it counts only when XK_STREAM_TAKEN says so.
 *
 * Life.  xk_open returns at once, the connection still being made: pushes are
 * legal and are kept until it stands.  XK_STREAM_OPENED or XK_STREAM_FAILED
 * follows, never from inside xk_open.  A passive connection is told of by
 * open_done when it stands.  xk_close_done says, once and after all data, that
 * the peer will send no more; we may go on sending.  XK_STREAM_FAILED says that
 * the connection is gone: nothing moves any more, pushes are dropped, and the
 * holder gives its reference back with xk_close.  xk_close of the last reference
 * sends what is queued and ends the connection in the background; data that
 * arrives after it resets the connection (RFC 1122 4.2.2.13).
 *
 * Everything here is called inside the session's VP.  An event handler may push
 * and close; the session it is told of stays valid until it returns.
 */
#ifndef XK_STREAM_H
#define XK_STREAM_H

#include "runtime/upi/xk_proto.h"

/* ---- control operations of a stream's session ----------------------------------- */

enum {
	XK_STREAM_ROOM = 920,      /* out uint32_t: bytes that may be pushed now */
	XK_STREAM_MANUAL,          /* in uint32_t: 1 received bytes count until taken, 0 not */
	XK_STREAM_TAKEN,           /* in uint32_t: bytes consumed, of those passed up */
	XK_STREAM_SHUTDOWN,        /* no more from us: FIN behind what is queued; may be repeated */
	XK_STREAM_ABORT,           /* reset now; still to be closed; no event follows */
	XK_STREAM_ERRNO,           /* out int32_t: XK_E_* that ended it, or 0 */
	XK_STREAM_QUEUED,          /* out uint32_t: bytes pushed, not yet acknowledged */
	/* A stream's node -> the replica above (xk_control on s->up->rep), in:
	 * struct xk_stream_event.  Applications that ignore it answer XK_E_NOTSUP. */
	XK_CTL_STREAM_EVENT,
	/* Of the session again.  1: all that was pushed is acknowledged; 0: it is not, and
	 * DRAINED will be told, once, when it and what is pushed until then is. */
	XK_STREAM_DRAIN,
	XK_STREAM_MORE,            /* in uint32_t, enum xk_stream_more */
};

/* Of write_on. */
struct xk_stream_span {
	/* Out: where the next `room` bytes of the stream may be copied to by who writes it, as writes that would send
	 * nothing; 0: write them.  It holds while nothing else is asked of the VP, so not beyond a unit of work. */
	uint8_t *at;
	uint32_t room;
	/* In: so many bytes were copied to where it was said last; summed: and this is their sum (xk_csum.h). */
	uint32_t put, sum;
	bool     summed;
};

/* Of one piece of bytes in several messages: where it ends is said by the stream below, if it
 * can, and no part of it is cut short for want of the next. */
enum xk_stream_more {
	XK_STREAM_MORE_LAST,       /* the next push ends it: so it is with every push otherwise */
	XK_STREAM_MORE_FOLLOW,     /* each push is followed by another at once */
	XK_STREAM_MORE_NONE,       /* it has ended with the last push after all */
};

enum xk_stream_what {
	XK_STREAM_OPENED,          /* our xk_open has succeeded */
	XK_STREAM_FAILED,          /* refused, reset, timed out: see err */
	XK_STREAM_WRITABLE,        /* there is room again: a quarter of the buffer, or what keeps the path busy */
	XK_STREAM_DRAINED,         /* all that was pushed is acknowledged, as XK_STREAM_DRAIN
				    * asked; after XK_STREAM_SHUTDOWN unasked, our FIN, too */
	XK_STREAM_URGENT,          /* the peer's urgent pointer has advanced (RFC 6093) */
};
struct xk_stream_event {
	struct xk_sess *s;
	uint32_t        what;      /* enum xk_stream_what */
	int32_t         err;       /* XK_E_*, FAILED only */
};

#endif
