/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5_priv.h - what the files of AAL5 share.
 *
 *   aal5.c        opening and closing, links, control, the descriptor
 *   aal5_frame.c  frames to cells, cells to frames
 *   aal5_crc.c    CRC-32
 */
#ifndef AAL5_PRIV_H
#define AAL5_PRIV_H

#include "protocols/aal5/aal5.h"
#include "protocols/aal5/aal5_hdr.h"
#include "protocols/link/linger.h"
#include "runtime/base/xk_list.h"

#define AAL5_LANES_MAX 256u
#define AAL5_VPIS      4096u
#define AAL5_RECENT    16u
#define AAL5_VCI_LEAST 32u               /* those below are reserved (I.361) */

#define AAL5_DROPS(X) \
	X(EMPTY, "empty")                /* pushed: no bytes, which would be an abort */ \
	X(TOO_LONG, "too_long")          /* pushed: more than `max` */ \
	X(TRAIN, "bad_train")            /* from below: no header, or no whole cells */ \
	X(NOUSER, "not_user_data")       /* cells of operation and maintenance */ \
	X(NOBODY, "nobody_waits")        /* cells of a circuit that nobody has and nobody waits for */ \
	X(SESSIONS, "too_many_sessions") \
	X(REFUSED, "refused")            /* who waits does not want it */ \
	X(CRC, "bad_crc") X(CPI, "bad_cpi") \
	X(LENGTH, "bad_length")          /* the trailer says a length that is not the frame's */ \
	X(ABORTED, "aborted")            /* its sender gave it up: length 0 */ \
	X(OVERSIZE, "oversize")          /* longer than `max`, and still without an end */ \
	X(TIMEOUT, "timeout")            /* its end did not come in time */ \
	X(ROOM, "no_room")               /* the oldest that was not whole, when `memory` was full */
enum {
	AAL5_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) AAL5_DROP_##id,
	AAL5_DROPS(X)
#undef X
};
#define AAL5_COUNTS(X) \
	X(OUT, "frames_out") X(IN, "frames_in") X(PIECES, "pieces") X(LOST_LANES, "links_replaced")
enum {
#define X(id, text) AAL5_N_##id,
	AAL5_COUNTS(X)
#undef X
};

struct aal5_conf {
	uint32_t addr, peer;
	uint64_t max, mtu, timeout, memory, lanes, uu;
	bool     clp;
	uint64_t idle_timeout, idle_sessions, sessions;
};

struct aal5_rep {
	struct xk_rep  *rep;
	struct xk_sess *link[AAL5_LANES_MAX]; /* by lane, each with a reference */
	struct xk_sess *recent[AAL5_RECENT]; /* the last that cells made, each with a reference */
	unsigned        nrecent;         /* so many there were */
	struct xk_list  partial;         /* sessions with a frame that is not whole, the oldest first */
	uint64_t        bytes;           /* of these frames */
	struct xk_timer timer;           /* the oldest is late */
	struct linger_list linger;
	uint32_t        cursor;          /* where the search for a VPI begins */
};

struct aal5_sess {
	struct xk_sess   s;
	uint32_t         vc;             /* header of its cells */
	uint16_t         lport, rport;
	uint8_t          uu_in, uu_out;
	bool             told;           /* those above know of it */
	bool             skip;           /* what comes to the end of the frame is of one that is given up */
	struct xk_msg   *part;           /* a frame that is not whole */
	struct xk_listed listed;
	xk_ns            since;          /* when it began */
	struct linger_entry    linger;
};
static inline struct aal5_sess *aal5_sess(struct xk_sess *s) { return (struct aal5_sess *)(void *)s; }
static inline struct aal5_rep *aal5_rep(const struct xk_rep *r) { return r->state; }
static inline const struct aal5_conf *aal5_conf(const struct xk_rep *r) { return r->conf; }

/* VPIs are shared out to lanes, one for each VP of who opens: by its VPI a circuit tells its link. */
static inline uint32_t aal5_vpis(const struct xk_rep *r) { return AAL5_VPIS / (uint32_t)aal5_conf(r)->lanes; }

/* aal5.c.  The session that the cells of vc on lls make, not told to anybody yet; NULL with *reason. */
struct aal5_sess *aal5_first(struct xk_rep *r, struct xk_sess *lls, uint32_t vc, unsigned *reason);
/* A frame of its was right.  False: who waits refuses it, and it is gone unless somebody holds it. */
bool aal5_tell(struct aal5_sess *as);
/* From now on circuits of vc's lane are on lls. */
void aal5_learn(struct xk_rep *r, struct xk_sess *lls, uint32_t vc);

/* aal5_frame.c */
void aal5_push(struct xk_sess *s, struct xk_msg *m);
void aal5_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void aal5_late(struct xk_timer *t);
/* Frees what there is of a frame. */
void aal5_forget(struct aal5_sess *as);

#endif
