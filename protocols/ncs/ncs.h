/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs.h - what those above and below ncs may know.
 *
 * To open: remote { host, port }; local nothing, ANY, or a struct ncs_pick, with NCS_HELLO_LEN bytes for who
 * accepts below it, or none.  The port is a service's at the peer.  To enable:
 * { port }.  A push is a message, of at most what XK_CTL_GETMAXPACKET says; it may be pushed at
 * once, and leaves when the peer has accepted.  Pieces are pushed in that order.
 */
#ifndef NCS_H
#define NCS_H

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_proto.h"

/* ncs -> the node below: struct ncs_choice, with none and none; each control that lies there puts
 * itself in and asks on.  Result: how many there were; what they stand on answers nothing. */
#define NCS_CTL_CHOICE (7700 * 1000 + 1)

/* Which of the nodes below ncs, by its place in `over`, a connection has its flow control of, its error control,
 * and its interface; the first one's all where nothing is said. */
struct ncs_pick { uint8_t flow, error, over; };
#define NCS_PICK_NONE 255u               /* for flow and error: none */

/* Who opens -> ncs's replica: struct ncs_names; sets pick.  path: the name of a node that ncs lies over.  The
 * others, NULL where it is that path's: a node's name or its kind's ("credit", "udp"), "none" for no control.
 * XK_E_NOENT: what `wrong` says does not stand in the graph. */
#define NCS_CTL_PICK (7700 * 1000 + 2)
struct ncs_names { const char *path, *flow, *error, *over; const char *wrong; struct ncs_pick pick; };

/* Who holds a session of ncs -> it: struct ncs_choice (ncs_half.h), what both ends do. */
#define NCS_CTL_AGREED (7700 * 1000 + 4)

/* Who holds a session of ncs -> it: NCS_HELLO_LEN bytes that the opener brought; 0: none came. */
#define NCS_CTL_HELLO (7700 * 1000 + 5)
#define NCS_HELLO_LEN 12u

/* The same: struct ncs_room.  Messages that were pushed and are not acknowledged (without error control: sent), their
 * bytes, and how many bytes may be; notes that were said and the peer has not heard; bytes of an SDU; of the longest
 * message that both ends take; of those pushed, bytes that never left. */
#define NCS_CTL_ROOM (7700 * 1000 + 6)
struct ncs_room { uint64_t bytes, most; uint32_t messages, notes, sdu, longest; uint64_t unsent; };

/* Who holds a session of ncs -> it: uint32_t.  The next message has so many bytes and is pushed in parts, each but the
 * last of whole SDUs, with nothing between them.  Who says so minds NCS_CTL_ROOM: no part is dropped for want of it.
 * XK_E_MSGSIZE: more than a message may have; XK_E_BUSY: parts of another are missing. */
#define NCS_CTL_LONG (7700 * 1000 + 10)

/* The same: nothing.  Its messages come up SDU by SDU from now on, in order, as soon as error control is done with each
 * (so without error control a message may not come to its end: the next one then begins).  In front of an SDU's
 * bytes, in one piece, are so many of ncs as the answer, uint32_t, says; the first are a struct ncs_sdu. */
#define NCS_CTL_SDUS (7700 * 1000 + 11)
struct ncs_sdu { uint32_t message, sdu, last; };       /* numbers: of the message, its SDU, and the last one of it */
#define NCS_SDU_BEFORE 12u
/* Where the highest bit is set something else stands in the place of two zeros (ncs_hdr.h). */
static inline void ncs_sdu_load(const uint8_t *b, struct ncs_sdu *p)
{
	uint64_t place = xk_be64(b + 4) >> 63 != 0 ? 0 : xk_be64(b + 4);

	*p = (struct ncs_sdu){ xk_be32(b), (uint32_t)(place >> 32), (uint32_t)place };
}

/* Who holds a session of ncs -> it: nothing.  NCS_CTL_EVENT is said of it from now on. */
#define NCS_CTL_WATCH (7700 * 1000 + 8)

/* Who holds a session of ncs -> it: NCS_NOTE_LEN bytes for who holds the other end and watches it.  They come by
 * records, apart from messages, once and in the order in which they were said, whatever the error control.  XK_E_NOTCONN: it
 * is not open; XK_E_NOMEM: it has ended by that.  Who says no more while the peer has not heard NCS_NOTES_MOST needs no
 * memory that grows, whatever the peer does, and is told when it has heard more (NCS_LESS). */
#define NCS_CTL_NOTE (7700 * 1000 + 9)
#define NCS_NOTES_MOST 1024u
#define NCS_NOTE_LEN 20u

/* Joins m to the message *first, which ends with *last (NULL: there is none yet). */
void ncs_append(struct xk_msg **first, struct xk_msg **last, struct xk_msg *m);

/* ncs -> the replica of who holds a session: struct ncs_event.  NCS_OPENED: the peer has accepted; NCS_LESS:
 * fewer messages are kept than before, or fewer notes than NCS_NOTES_MOST; NCS_NOTED: the peer has said `note`.  Who is told may push, say and close. */
#define NCS_CTL_EVENT (7700 * 1000 + 7)
enum { NCS_OPENED, NCS_LESS, NCS_NOTED };
struct ncs_event { struct xk_sess *s; unsigned what; const uint8_t *note; };

/* Who lies above -> ncs's replica: struct ncs_job; peers are told of it. */
#define NCS_CTL_JOB (7700 * 1000 + 12)
struct ncs_job { uint32_t rank, ranks; };

/* Who holds a session of ncs -> it: struct ncs_about, what the peer has told.  rank: UINT32_MAX: none; same_order: bytes of
 * its words lie as here, which is so where it has told nothing. */
#define NCS_CTL_ABOUT (7700 * 1000 + 13)
struct ncs_about { bool known, same_order; uint32_t rank; };

/* Who opened -> a session of ncs that has ended: struct ncs_ended.  err: XK_E_NOTSUP, XK_E_CONNREFUSED, ...: the
 * peer did not take it, and says why; XK_E_TIMEDOUT: nothing was heard of it; XK_E_CONNRESET: its stream
 * broke, or it has started anew; 0: it closed, or has not ended. */
#define NCS_CTL_ENDED (7700 * 1000 + 3)
#define NCS_WHY 48u                      /* bytes of a reason, its end included */
struct ncs_ended { int err; char why[NCS_WHY]; };

#endif
