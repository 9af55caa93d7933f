/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * impair_priv.h - what the files of impair share: one direction of a link, and its line.
 */
#ifndef IMPAIR_PRIV_H
#define IMPAIR_PRIV_H

#include "drivers/impair/impair_fates.h"
#include "runtime/base/xk_rand.h"
#include "runtime/msg/xk_msgq.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_timer.h"

enum { UP = IMPAIR_UP, DOWN = IMPAIR_DOWN };
enum { DIR_BOTH, DIR_UP, DIR_DOWN };

struct impair_conf {
	double   loss, dup, reorder, corrupt;
	uint64_t reorder_depth, hold, delay, jitter, rate, queue, seed;
	unsigned dir;
	struct xk_plist fates;
};

#define IMPAIR_DROPS(X) X(LOST, "lost") X(QUEUE_FULL, "queue_full") X(CLOSED, "closed")
enum {
	IMPAIR_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) IMPAIR_DROP_##id,
	IMPAIR_DROPS(X)
#undef X
};
enum { N_DOUBLED, N_REORDERED, N_CORRUPTED, N_DELAYED };

/* A frame on the line, out at `due`. */
struct line_slot { struct xk_msg *m; xk_ns due; };

/* One direction of one replica. */
struct impair_dir {
	struct xk_rep   *rep;
	struct xk_rand   rand;
	uint64_t         passed;          /* frames that left the reordering stage */
	struct xk_msgq   held;            /* waiting to be overtaken; aux = passed & 2^32-1 to leave at */
	struct line_slot *line;           /* ring of cap slots */
	uint32_t         cap, head, n;
	xk_ns            busy_until;      /* the line is sending until then */
	xk_ns            last_due;
	struct xk_timer  line_timer, hold_timer;
	uint64_t         frames;          /* counted while there are fates */
	unsigned         fate;            /* the cursor in them */
	uint8_t          way;             /* UP or DOWN */
	bool             on;
};

static inline const struct impair_conf *impair_conf(const struct xk_rep *r) { return r->conf; }

/* Out of the node.  The upper or lower neighbour takes m. */
void impair_emit(struct impair_dir *d, struct xk_msg *m);

/* impair_line.c: m on the line, where there is one; consumes it.  fn of the direction's line_timer. */
void impair_line_put(struct impair_dir *d, struct xk_msg *m);
void impair_line_timer(struct xk_timer *t);
/* All that is on it is out at its end, now. */
void impair_line_clear(struct impair_dir *d);

#endif
