/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_call.h - what the files of `process` share: a program's threads over ncs (xk_ncs.h).
 *
 *   ncs_process.c    the node: descriptor, start and stop, what comes from below
 *   ncs_call.c       requests: begun, waited for, cancelled, done; ncs_wait.c: by threads of either kind
 *   ncs_call_conn.c  threads and connections: attach, open, accept, close
 *   ncs_send.c       messages: announced and pushed from requests; ncs_part.c: long ones, in parts
 *   ncs_place.c      SDUs of messages that their receives have found: into these, one by one
 *   ncs_match.c      messages matched with receives
 *   ncs_held.c       messages written and read in place: what is held; ncs_in_place.c: calls
 *   ncs_head.c       what stands in front of a message
 *   ncs_await.c      messages that were announced: called for, awaited, given up
 *   ncs_group.c      barrier, broadcast, reduce over connections of a group; ncs_tree.c and ncs_fold.c are pure
 *
 * A connection (struct xk_ncs_conn) is the program's object; a session (struct ncs_end) is what stands on
 * the session of ncs, and is its VP's.  All else of a process is guarded by one lock, which is held
 * for a few lines and within which nothing is called but lists, memory and waking: handlers take it
 * inside VPs, so who has it enters none.  Bytes are copied outside of it.
 *
 * Whoever points at a thread or a connection counts: the program until it closes, a session, a
 * request under way, a call.  The last one frees.
 */
#ifndef NCS_CALL_H
#define NCS_CALL_H

#include "protocols/ncs/ncs.h"
#include "protocols/ncs/ncs_wait.h"
#include "protocols/ncs/xk_ncs.h"
#include "runtime/base/xk_param.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_call.h"
#include "runtime/vp/xk_timer.h"

#define PROC_HDR 12u                     /* in front of each message: tag 32, notes before it 32, messages before it 32 */
#define PROC_LONG 16u                    /* where it has more than one SDU, its length 32, too */
#define PROC_BODY 0x80000000u            /* for the tag: it was announced, under the number in the other bits */
#define PROC_MARK 0xffffffffu            /* and: it is nothing but its place */
#define PROC_NUMBERS 0x3fffffffu
#define PROC_OFFERS 4096u                /* of a connection: most that is announced and not sent; others wait */
#define PROC_GROUP 0x80000000u           /* sessions that groups use */
#define PROC_ALIKE 64u                   /* a power of two */

#define PROC_DROPS(X) X(SHORT, "short") X(CLOSED, "closed") X(UNEXPECTED, "unexpected_full") \
	X(BODY, "not_announced") X(NOTE, "bad_note") X(LENGTH, "other_length")
#define PROC_DROP_ENUM(n, s) PROC_DROP_##n,
enum { PROC_DROP_BASE = XK_DROP_FIRST - 1, PROC_DROPS(PROC_DROP_ENUM) };

#define PROC_COUNTS(X) \
	X(OUT, "messages_out")  X(IN, "messages_in")   X(DIRECT, "to_posted_receives") \
	X(OPENED, "opened")     X(ACCEPTED, "accepted") X(REFUSED, "refused")  X(ENDED, "ended_by_peer") \
	X(ANNOUNCED_OUT, "announced_out") X(ANNOUNCED_IN, "announced_in") X(CALLED, "called_for") \
	X(WITHDRAWN, "withdrawn") X(MISSED, "announced_and_lost") X(HELD, "held_for_notes") \
	X(RESERVED, "sent_in_place") X(TAKEN, "taken_in_place") X(COPIED, "taken_by_copy")
#define PROC_COUNT_ENUM(n, s) PROC_COUNT_##n,
enum { PROC_COUNTS(PROC_COUNT_ENUM) };

struct proc_conf { uint64_t rank, unexpected, backlog, eager, held; uint16_t service; struct xk_plist ranks; };

struct proc {                            /* struct xk_node.state */
	struct xk_mutex lock;
	struct xk_list  threads;
	bool     stopping;
	uint32_t inside;                 /* calls */
	uint64_t opened;                 /* numbers given to connections */
	uint64_t kept;                   /* bytes of messages that nobody has asked for, with what keeps them */
	uint64_t lent;                   /* of others that a receive had asked for, which was cancelled */
	uint64_t taken, reserved;        /* bytes of VPs' memory that programs hold */
	struct xk_list announced;        /* boxes that nobody has asked for and that may be called for when there is room */
};
static inline struct proc *proc_of(const struct xk_node *n) { return n->state; }
static inline const struct proc_conf *proc_conf(const struct xk_node *n) { return n->conf; }

/* pokes: connections that have something to say, by the call. */
struct proc_rep { struct xk_list ends, pokes; struct xk_call call; bool posted, over; };
static inline struct proc_rep *proc_rep(const struct xk_rep *r) { return r->state; }

/* What stands in front of a message; len: of its bytes, where it has more than one SDU. */
struct proc_head { uint32_t tag, count, place, len; };

/* The message of several SDUs whose first ones have come. */
enum coming_how {
	COMING_NOT,
	COMING_PLACED,                   /* into what the connection's `filling` says */
	COMING_WAITS,                    /* all of it, then it is matched */
	COMING_NOWHERE,                  /* it is dropped */
};
struct ncs_coming { enum coming_how how; struct proc_head h; struct xk_msg *first, *last; };

/* Our session on one of ncs. */
struct ncs_end {
	struct xk_sess s;
	struct xk_ncs_conn *c;
	struct xk_listed link;           /* of its VP */
	bool pumping;
	uint32_t before;                 /* bytes of ncs in front of an SDU */
	struct ncs_coming coming;
	struct xk_timer marker;          /* without error control: while announcements may wait for lost messages */
	struct xk_timer again;           /* while there is no memory for the next part */
	unsigned marks;
};

struct xk_ncs_thread {
	struct xk_listed link;
	struct xk_node  *n;
	unsigned number, refs;
	bool     gone;
	bool     unsettled;              /* receives or messages that were bound are free again */
	uint32_t nwaiting;
	struct xk_list conns;
	struct xk_list waiting, accepts; /* connections to be accepted; requests */
	struct xk_list posted, came;     /* receives and probes; messages (struct ncs_box), each in order */
	struct xk_list alike[PROC_ALIKE];/* the latter by rank and tag, in the same order */
};

/* A send of which parts are to be pushed yet: at of size bytes were, with what stands in front; size 0: there is none.
 * reads: its VP copies from its buffer; err: it is to be told, when it does not any more. */
struct ncs_part { struct xk_ncs_req *r; uint64_t at, size; uint32_t tag; bool reads; int err; };

enum conn_state { CONN_OPENING, CONN_OPEN, CONN_ENDED };
struct xk_ncs_conn {
	struct xk_listed link, waits;    /* of its thread */
	struct xk_ncs_thread *t;
	struct xk_node *n;
	struct xk_vp   *vp;
	unsigned refs;
	struct xk_ncs_addr peer;
	enum conn_state state;
	bool     closed;
	int      err;                    /* ended: why */
	struct xk_ncs_req *opener;
	struct xk_listed poke;           /* of its VP */
	struct xk_list sends, flushes;
	struct xk_list announced;        /* sends (requests) */
	struct xk_list offers, called;   /* their struct ncs_offer, and those that the peer has called for */
	struct xk_list withdrawn;        /* whose sends are no more; the peer is to be told */
	struct xk_list boxes, calls;     /* struct ncs_box: what the peer has announced; those that it shall send */
	struct xk_list begun;            /* without error control: those that it has sent, in its order */
	struct xk_list held;             /* messages that came before a note that was said before them */
	struct xk_list notes;            /* the VP's, struct ncs_held: that came before messages before them */
	uint32_t placed;                 /* the last announcement that is in its place */
	bool     placed_due;             /* the peer is to be told */
	uint32_t offered;                /* numbers of announced messages */
	uint32_t placed_there;           /* the peer has put those before it in their places */
	uint32_t noffers, nboxes;        /* in offers, called and withdrawn; in boxes */
	uint32_t notes_out, notes_in;    /* that messages count; those that are in their place */
	uint32_t sent, arrived;          /* messages that notes count; those behind which none comes any more */
	uint32_t passed;                 /* the most that one that has come counts */
	bool     sure;
	struct ncs_box *filling;         /* SDUs of its message are placed as they come */
	struct ncs_part part;
	struct ncs_end *end;             /* the VP's; NULL: there is none (any more) */
};

/* A message that was announced to the peer; r: unless it is withdrawn. */
struct ncs_offer { struct xk_listed link; struct xk_ncs_req *r; uint32_t no; };

/* What is said of announced messages.  The last two are the receiver's, and have no place among its messages. */
enum note_kind { NOTE_ANNOUNCE = 1, NOTE_WITHDRAW, NOTE_BEGUN, NOTE_READY, NOTE_PLACED };
struct proc_note { uint32_t kind, no, len, tag, before; };       /* before: messages that were sent before it */
static inline bool note_is_placed(const struct proc_note *n) { return n->kind < NOTE_READY; }
struct ncs_held { struct xk_listed link; struct proc_note n; };

/* A message that nobody has received yet, in its place among others. */
enum box_is { BOX_HERE, BOX_ANNOUNCED, BOX_CALLED, BOX_COMING };
struct ncs_box {
	struct xk_listed link;           /* of its thread, in order; of those that are held */
	struct xk_listed alike;          /* of its thread, too, while it is in order there */
	struct xk_listed mine, calls;    /* of its connection's boxes, not here yet; to be called for, or begun */
	struct xk_ncs_conn *c;
	struct xk_ncs_req  *r;           /* the receive that waits for it, which stays in its place, too */
	uint8_t  is;                     /* enum box_is */
	bool     whole, into, dead;      /* see have */
	bool     broke;                  /* its bytes began, and others came before all of them were here */
	uint32_t no;                     /* of those announced */
	uint32_t count, place;           /* of those held: notes, and messages, before it */
	uint32_t begun_at;               /* of those begun: notes before it */
	int      tag;
	size_t   len;
	uint64_t kept, lent;             /* of the process */
	/* Of one that is filled: so many bytes are in their places, in its receive's buffer as long as it has no
	 * memory of its own (bytes); whole: all of them.  busy: so many copy for it without the lock, so it is dead
	 * before it is freed.  into: its VP copies into the receive's buffer; what ends that says `after`. */
	uint32_t have;
	uint16_t busy;
	int16_t  after;
	uint8_t *bytes;                  /* here: own[] or memory of its own */
	uint8_t  own[];
};
static inline struct ncs_box *box_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_box, link); }

/* What a program writes, or reads, in place: a message of a VP's, what stands in front of it (before) included; or a
 * message that was kept, or whose SDUs were placed; or a copy. */
struct xk_ncs_held {
	struct xk_node *n;
	struct xk_ncs_conn *c;           /* reserved: of it, counted */
	struct xk_vp   *vp;              /* the message's */
	struct xk_msg  *m;
	struct ncs_box *box;
	uint8_t        *own;
	size_t          len;
	uint32_t        before;
	uint64_t        counted;         /* of the process's `taken`, or `reserved` */
};

enum req_kind { REQ_OPEN, REQ_ACCEPT, REQ_SEND, REQ_FLUSH, REQ_RECV, REQ_PROBE };
static inline struct xk_ncs_req *req_of(struct xk_listed *i) { return xk_container_of(i, struct xk_ncs_req, link); }

static inline void proc_lock(const struct xk_node *n) { xk_mutex_lock(&proc_of(n)->lock); }
static inline void proc_unlock(const struct xk_node *n) { xk_mutex_unlock(&proc_of(n)->lock); }

/* ---- ncs_call.c; with the lock, but for those that wait -------------------------------------------- */

/* A call begins with t, or with c: XK_OK, then it is held until ncs_proc_leave. */
int  ncs_proc_enter(struct xk_ncs_thread *t, struct xk_ncs_conn *c);     /* without the lock, as the next */
void ncs_proc_leave(struct xk_ncs_thread *t, struct xk_ncs_conn *c);
void ncs_thread_put(struct xk_ncs_thread *t);
void ncs_conn_put(struct xk_ncs_conn *c);
/* A request of t, and of c unless NULL, under way; it is put somewhere or done next. */
void ncs_req_begin(struct xk_ncs_req *r, enum req_kind kind, struct xk_ncs_thread *t, struct xk_ncs_conn *c);
/* Its status: what is known of the connection. */
void ncs_req_says(struct xk_ncs_req *r, struct xk_ncs_conn *c, int tag, size_t len);
/* Its VP says and sends later what can be (ncs_conn_pump). */
void ncs_conn_poke(struct xk_ncs_conn *c);
/* What a call on c that needs it alive begins with; with the lock. */
int  ncs_conn_standing(const struct xk_ncs_conn *c);
void ncs_req_done(struct xk_ncs_req *r, int err);
void ncs_reqs_fail(struct xk_list *l, const struct xk_ncs_conn *c, int err);    /* c NULL: all of them */
/* begun: nobody may wait on it (any more). */
void ncs_req_never(struct xk_ncs_req *r, int err);

/* ---- ncs_call_conn.c ---------------------------------------------------------------------------------- */

/* Inside the VP, without the lock. */
int  ncs_conn_come(struct xk_rep *r, struct xk_sess *lls);
/* ncs_call.c: is who asks for lls who it says, and may it compute with us?  Groups compute with numbers as they lie. */
bool ncs_peer_fits(struct xk_sess *lls, const struct xk_ncs_addr *from, int *err);
void ncs_conn_opened(struct xk_ncs_conn *c);
void ncs_conn_ended(struct xk_ncs_conn *c, int err, const char *why);
void ncs_end_free(struct ncs_end *e);
/* With the lock: all that waits for c hears err. */
void ncs_conn_fail(struct xk_ncs_conn *c, int err);
/* Without: frees all that is left when no VP has anything of it. */
void ncs_proc_free_all(struct xk_node *n);

/* Of a group's connection: from this rank with this session.  r is the caller's until it is done. */
int  ncs_conn_iaccept(struct xk_ncs_thread *t, int rank, unsigned session, struct xk_ncs_req *r);
/* Opens as xk_ncs_iopen does, with a session of a group's. */
int  ncs_conn_iopen(struct xk_ncs_thread *t, const struct xk_ncs_addr *to, const struct xk_ncs_choice *choice,
		struct xk_ncs_conn **c, struct xk_ncs_req *r);

/* ---- ncs_send.c ----------------------------------------------------------------------------------------- */

/* Without the lock.  A blocking call of what began with err: waits, and cancels when time is over. */
int  ncs_req_run(struct xk_ncs_req *r, int err, uint64_t timeout);

/* Inside the VP, without the lock: says and sends what can be.  false: that has ended it, and there is no e. */
bool ncs_conn_pump(struct ncs_end *e);
/* Of its marker; of `again`. */
void ncs_mark(struct xk_timer *t);
void ncs_pump_again(struct xk_timer *t);
/* Of those that were poked. */
void ncs_poked(struct xk_vp *vp, void *rep);
/* The peer calls for a message that was announced.  With the lock. */
void ncs_offer_called(struct xk_ncs_conn *c, uint32_t no);
void ncs_offers_free(struct xk_ncs_conn *c);
/* Begins to send n bytes of r->buf, or of r->held, in a call that holds c. */
int  ncs_send_begin(struct xk_ncs_conn *c, int tag, size_t n, struct xk_ncs_req *r);

/* ---- ncs_head.c ----------------------------------------------------------------------------------------- */

/* PROC_HDR, or PROC_LONG where that makes more than one SDU of it. */
static inline uint32_t ncs_head_len(const struct ncs_room *room, uint64_t len)
{
	return len + PROC_HDR > room->sdu ? PROC_LONG : PROC_HDR;
}
/* May a message have so many bytes, where ncs takes `longest`? */
static inline bool ncs_head_fits(uint32_t longest, uint64_t len)
{
	return longest >= PROC_LONG && len <= longest - PROC_LONG;
}
/* What ncs takes on e's connection, and the peer with it. */
uint32_t ncs_end_longest(const struct ncs_end *e);
/* What stands in front of the next message, n bytes; len: its own. */
void ncs_head_put(struct xk_ncs_conn *c, struct xk_msg *m, uint32_t tag, uint32_t len, uint32_t n);
/* Takes n bytes, PROC_HDR or PROC_LONG, from *m.  XK_E_INVAL: there are fewer. */
int  ncs_head_take(struct xk_msg **m, uint32_t n, struct proc_head *h);

/* ---- ncs_held.c ----------------------------------------------------------------------------------------- */

/* With the lock.  May programs hold so many bytes more of what they take? */
bool ncs_held_fits(const struct xk_node *n, uint64_t more);
/* The same of what they reserve; one always may be, of any length. */
bool ncs_held_may_reserve(const struct xk_node *n, uint64_t more);
/* h takes so many of these bytes. */
void ncs_held_counts(struct xk_ncs_held *h, uint64_t n);
/* b, which is here and has left its thread's order, is h's. */
void ncs_held_has(struct xk_ncs_held *h, struct ncs_box *b);
/* Inside the VP, without the lock.  m, which is used up, is h's. */
void ncs_held_gets(struct ncs_end *e, struct xk_ncs_held *h, struct xk_msg *m);
/* What h has to be sent; h has it no more. */
struct xk_msg *ncs_held_leaves(struct xk_ncs_held *h);

/* ---- ncs_part.c ----------------------------------------------------------------------------------------- */

/* Inside the VP, without the lock.  r is pushed in parts, of which this is the first; XK_E_INPROGRESS. */
int  ncs_part_begin(struct ncs_end *e, struct xk_ncs_req *r, const struct ncs_room *room, uint32_t tag);
/* The next one.  false: the connection has ended, or there is no memory: it is tried again (e->again). */
bool ncs_part_next(struct ncs_end *e, const struct ncs_room *room);
/* Of so many bytes: in parts? */
bool ncs_part_is_for(const struct ncs_room *room, uint64_t bytes);
/* With the lock.  May the next part leave? */
bool ncs_part_fits(const struct ncs_room *room);
/* The send hears err, and no part of it is pushed any more. */
void ncs_part_fail(struct xk_ncs_conn *c, int err);

/* ---- ncs_place.c ---------------------------------------------------------------------------------------- */

/* Inside the VP, without the lock.  An SDU, as ncs passes it up; as ncs_conn_message. */
int  ncs_place_sdu(struct ncs_end *e, struct xk_msg *m);
/* What has come of a message is dropped. */
void ncs_place_none(struct ncs_end *e);

/* ---- ncs_await.c ----------------------------------------------------------------------------------------- */

/* Inside the VP, without the lock. */
/* As ncs_conn_message. */
int  ncs_await_note(struct ncs_end *e, const uint8_t *note);
int  ncs_await_body(struct ncs_end *e, struct xk_msg *m, uint32_t no);
/* What is refused, m or not at all, for that reason. */
int  ncs_await_refuse(struct ncs_end *e, struct xk_msg *m, unsigned why);
/* With the lock.  The box of bytes that were called for, and begin; NULL: none is.  None begin twice. */
struct ncs_box *ncs_await_box(const struct xk_ncs_conn *c, uint32_t no, size_t len);
/* Where b's next bytes go, until ncs_await_left; NULL: nowhere any more. */
uint8_t *ncs_await_place_of(struct ncs_box *b);
/* Somebody has copied for b.  May leave the lock. */
void ncs_await_left(struct ncs_box *b);
/* r's message is placed into its buffer: it goes on into own, of its length, without r, which is cancelled.  Leaves the
 * lock. */
void ncs_await_moves(struct xk_ncs_req *r, uint8_t *own);
/* All of b has come, and is in its memory.  May leave the lock. */
void ncs_await_here(struct ncs_box *b);
/* Takes the receive that waits for b from its list, and b is no more.  May be NULL. */
struct xk_ncs_req *ncs_await_taken(struct ncs_box *b);
/* None comes any more of the peer's messages before `place`: notes that waited for them go on. */
int  ncs_await_place(struct ncs_end *e, uint32_t place);
/* It ends: notes that are held are gone. */
void ncs_await_notes_free(struct xk_ncs_conn *c);
/* With the lock, which it may leave.  A message that is here counts `count` notes before it: without error control
 * those that were sent before it and have not come are lost. */
void ncs_await_passed(struct xk_ncs_conn *c, uint32_t count);
/* Shall the message that counts so much wait? */
bool ncs_await_holds(const struct xk_ncs_conn *c, uint32_t count);
/* r, which has found it, waits for b. */
void ncs_await_for(struct ncs_box *b, struct xk_ncs_req *r);
/* There is more room: messages are called for. */
void ncs_await_room(struct xk_node *n);
/* Those held are as good as they get, and what was announced does not come.  Inside the VP; may leave the lock. */
void ncs_await_ended(struct xk_ncs_conn *c);

/* ---- ncs_match.c ---------------------------------------------------------------------------------------- */

/* Inside the VP, without the lock. */
/* An error: the connection cannot go on, and whoever calls ends it; CONN_IS_OVER: it has ended. */
#define CONN_IS_OVER 1
/* All of a message, behind what stands in front of it. */
int  ncs_conn_message(struct ncs_end *e, struct xk_msg *m, const struct proc_head *h);
/* r, which is in no list, has m, which is used up, and is done. */
void ncs_give(struct ncs_end *e, struct xk_ncs_req *r, struct xk_msg *m);
/* Of a message; n: bytes that are here, so that own[] has them.  NULL: no memory. */
struct ncs_box *ncs_box_new(struct xk_ncs_conn *c, int tag, size_t len, size_t n);
/* With the lock. */
void ncs_box_free(struct ncs_box *b);
/* Out of its thread's order; with the lock. */
void ncs_box_leaves(struct ncs_box *b);
/* It takes so many bytes of the process. */
void ncs_box_keeps(struct ncs_box *b, uint64_t kept, uint64_t lent);
/* Is there no room for n bytes more? */
bool ncs_full(const struct xk_node *n, uint64_t more);
void ncs_boxes_free(struct xk_ncs_thread *t, struct xk_ncs_conn *c);    /* c NULL: all of them */
/* The receive that gets it, in its list; those before it that are too short are told. */
struct xk_ncs_req *ncs_receiver(struct xk_ncs_conn *c, int tag, size_t len);
/* r waits for b, which is put into its thread's order. */
void ncs_box_join(struct ncs_box *b, struct xk_ncs_req *r);
/* A receive, or take, of c, or of any connection to r->rank: begun; or done, or cancelled when time is over. */
int  ncs_recv_begin(struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r);
int  ncs_recv_now(struct xk_ncs_thread *t, struct xk_ncs_conn *c, struct xk_ncs_req *r, struct xk_ncs_status *st,
		  uint64_t timeout);
/* Puts b into its thread's order, and gives it to who waits for it.  May leave the lock. */
void ncs_box_offer(struct ncs_box *b);
/* Receives wait again that had found a message: others may be for them.  May leave the lock. */
void ncs_settle(struct xk_ncs_thread *t);

#endif
