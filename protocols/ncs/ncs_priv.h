/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_priv.h - what the files of ncs share.
 *
 *   ncs.c         opening and closing from above, control, the descriptor
 *   ncs_conn.c    a connection's life: asked for, accepted, drained
 *   ncs_end.c     its end: closed, given up, lost
 *   ncs_table.c   connections by their numbers
 *   ncs_ctl.c     the control connection to a peer: made, and records in
 *   ncs_say.c     records out
 *   ncs_hello.c   what both ends tell of themselves; the key of a job
 *   ncs_data.c    messages to SDUs, SDUs to messages
 *   ncs_along.c   answers that go along with SDUs
 *   ncs_note.c    notes between those above both ends
 *   ncs_pool.c    buffers of credit that connections share
 *   ncs_sum.c     CRC-32C where what is below does not vouch for bytes
 *   ncs_stream.c  lengths before both where what is below keeps no boundaries
 *   ncs_stage.c   stages with threads of their own between these
 *   ncs_choice.c  window, credit, pace, go_back_n, selective_repeat as nodes
 *   ncs_path.c    which of them, and which interface, a connection has
 *
 * A replica has a control connection to each peer, a session of its own, and a data connection
 * below each of its connections.  Neither carries what is the other's; but where there are streams
 * below, each connection has one of its own for both.
 */
#ifndef NCS_PRIV_H
#define NCS_PRIV_H

#include "protocols/ncs/ncs.h"
#include "protocols/ncs/ncs_half.h"
#include "protocols/ncs/ncs_hdr.h"
#include "runtime/base/xk_list.h"
#include "runtime/base/xk_log.h"
#include "runtime/msg/xk_msgq.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#define NCS_DROPS(X) \
	X(SHORT, "short")            X(HEADER, "bad_header") \
	X(STRANGE, "other_connection") X(EPOCH, "other_epoch") \
	X(DOUBLE, "duplicate")       X(BEYOND, "not_allowed") \
	X(INCOMPLETE, "incomplete")  X(TOO_LONG, "too_long") \
	X(RECORD, "bad_record")      X(GONE, "closed") \
	X(QUEUE, "queue_full")       X(STRAY, "stray") \
	X(LENGTH, "bad_length")      X(SUM, "bad_sum") \
	X(KEY, "bad_key")
#define NCS_DROP_ENUM(n, s) NCS_DROP_##n,
enum { NCS_DROP_BASE = XK_DROP_FIRST - 1, NCS_DROPS(NCS_DROP_ENUM) };

#define NCS_COUNTS(X) \
	X(MESSAGES_OUT, "messages_out") X(MESSAGES_IN, "messages_in") X(SDUS_OUT, "sdus_out") \
	X(REPEATED, "sdus_repeated")    X(SDUS_IN, "sdus_in")         X(RECORDS_OUT, "records_out") \
	X(RECORDS_IN, "records_in")     X(OPENED, "opened")           X(ACCEPTED, "accepted") \
	X(REFUSED, "refused")           X(GIVEN_UP, "given_up")       X(LOST, "lost") \
	X(UNHEARD, "closes_unheard")    X(CHECKS, "checks_out")       X(ALONG, "answers_along") \
	X(ERROR_TURNS, "error_turns")   X(FLOW_TURNS, "flow_turns")   X(SEND_TURNS, "send_turns") \
	X(RECEIVE_TURNS, "receive_turns") X(CONTROL_TURNS, "control_turns") \
	X(TIMED, "timed")               X(CALL_NS, "call_ns")         X(QUEUE_NS, "queue_ns") \
	X(SWITCH_NS, "switch_ns")       X(DEQUEUE_NS, "dequeue_ns")   X(HEADER_NS, "header_ns") \
	X(SEND_NS, "send_ns")           X(FREE_NS, "free_ns")         X(BACK_NS, "back_ns")
#define NCS_COUNT_ENUM(n, s) NCS_N_##n,
enum { NCS_COUNTS(NCS_COUNT_ENUM) };

enum { NCS_ACCEPT_ANY, NCS_ACCEPT_OWN };
enum { NCS_CHECK_NONE, NCS_CHECK_CRC32C };
enum { NCS_CONGESTION_NONE, NCS_CONGESTION_NEWRENO };
enum { NCS_ANSWERS_ALONG, NCS_ANSWERS_APART };
struct ncs_conf {
	uint16_t port, peer_port;
	unsigned accept, check, congestion, answers;
	uint64_t sdu, message, queue, give_up, connections, peers, pool;
	const char *key;                 /* NULL or empty: that of the environment */
	uint32_t stages;                 /* enum ncs_stages_are */
	bool     times;
};
enum ncs_stages_are { NCS_STAGES_CALL, NCS_STAGES_THREAD };

struct ncs_conn; struct ncs_sess; struct ncs_stages; struct ncs_ctl_stages;
/* What stands between the stages where they have threads (ncs_stage.c). */
struct ncs_seams {
	/* Of a connection, of a control connection; false: no memory.  free: what waits is dropped. */
	bool (*conn_new)(struct ncs_conn *c);
	void (*conn_free)(struct ncs_conn *c);
	bool (*peer_new)(struct ncs_sess *p);
	void (*peer_free)(struct ncs_sess *p);
	void (*asks)(struct ncs_conn *c);                 /* a push has begun */
	void (*asked)(struct ncs_conn *c, uint32_t n);    /* n SDUs more were pushed */
	void (*taken)(struct ncs_conn *c);                /* the SDU that leaves next has been found */
	void (*turn)(struct ncs_conn *c);                 /* more may leave, or be said, than could before */
	void (*finish)(struct ncs_conn *c);               /* passes up, now, what has come */
	/* These consume m. */
	void (*send)(struct ncs_conn *c, struct xk_msg *m);
	void (*receive)(struct ncs_conn *c, struct xk_msg *m);
	void (*ctl_send)(struct ncs_sess *p, struct xk_msg *m);
	void (*ctl_receive)(struct ncs_sess *p, struct xk_msg *m);
};
extern const struct ncs_seams ncs_thread_seams;

/* What one node below ncs stands for. */
struct ncs_path {
	struct ncs_choice choice;
	const struct xk_node *flow, *error;  /* its controls; NULL: there is none */
	struct xk_rep    *over;          /* the interface */
};

struct ncs_rep {
	struct xk_rep    *r;
	struct xk_log    *log;
	struct ncs_path   path[XK_DOWN_MAX];
	struct ncs_conn **conn;          /* by number; NULL: free */
	uint32_t          nconn, room, gone;  /* in use; of conn[]; so many have gone, for generations */
	uint32_t          taken;         /* conn[] below that are in use */
	uint32_t          npeers;        /* that peers began */
	struct ncs_sess  *peer;          /* that was opened to last; ours stay */
	uint64_t          pooled;        /* bytes of buffers that connections have of the pool, or may still use */
	xk_ns             gathered;      /* when those that need less were last asked */
	uint16_t          epoch;
	uint8_t           key[NCS_KEY_LEN];
	bool              has_key;
	unsigned          jobs;          /* that lie above; rank, ranks: of the only one */
	uint32_t          rank, ranks;
	xk_ns             told;          /* when something of a peer was */
	struct xk_task    answers;       /* ready while there are connections in */
	struct xk_list    owing;
	const struct ncs_seams *seams;   /* NULL: stages call one another */
	xk_demux_fn       demux;         /* what sessions of both kinds receive by */
};
static inline struct ncs_rep *ncs_rep(const struct xk_rep *r) { return r->state; }
static inline const struct ncs_conf *ncs_conf(const struct xk_rep *r) { return r->conf; }
/* How often at least something is said again before it is given up: with one datagram in ten lost either way, sixteen in
 * vain are no chance.  Doubling alone would leave six in ten seconds. */
static inline xk_ns ncs_often(const struct xk_rep *r) { return ncs_conf(r)->give_up / 16; }
/* When to say it again, after `vain` times in vain. */
static inline xk_ns ncs_again(const struct xk_rep *r, xk_ns first, unsigned vain)
{
	xk_ns t = first << (vain < 20 ? vain : 20), most = ncs_often(r);

	return t < most ? t : first < most ? most : first;
}
/* Of peers' control connections. */
static inline uint16_t ncs_peer_port(const struct xk_rep *r)
{
	return ncs_conf(r)->peer_port != 0 ? ncs_conf(r)->peer_port : ncs_conf(r)->port;
}

/* A control connection. */
struct ncs_peer {
	uint32_t host;
	uint32_t nout;
	bool     ours;                   /* it leads to the peer's port, not to whoever began it */
	bool     stream;                 /* it has one connection at most, over the same stream */
	bool     over;                   /* that is: nothing is said or heard any more */
	bool     done;                   /* its connection has come and gone */
	bool     greeted;                /* what leaves next has a HELLO */
	bool     met;                    /* it has said one, and with a key, the right one */
	bool     along;                  /* both ends let answers go along with SDUs */
	uint8_t  order;
	uint16_t version;
	uint32_t rank, ranks, message;   /* as it has said; see struct ncs_hello */
	bool     needs_sum, sums;        /* records without a sum are not taken; ours have one */
	unsigned busy;                   /* calls inside */
	struct ncs_conn *conns, *check;  /* the next one to look at, whether the peer still has it */
	struct xk_timer  timer;          /* while it has any */
	xk_ns    heard, checked;         /* when something last came; when connections were looked at */
	uint32_t asked;                  /* of the PING that was said last */
	unsigned unanswered;             /* PINGs in vain */
	/* What comes of a stream: the word before a piece, and the piece, so far. */
	struct xk_msg *part, *part_last;
	uint32_t part_left;
	uint8_t  word[NCS_WORD], nword;
	bool     records;
	struct ncs_ctl_stages *stages;   /* NULL: calls */
	uint8_t out[NCS_CTL_MOST];
};

enum ncs_state {
	NCS_OPENING,                     /* asked for */
	NCS_ESTABLISHED,
	NCS_DRAINING,                    /* nobody above: what was pushed is still delivered */
	NCS_CLOSING,                     /* the peer is told until it has heard; those above may hold it, and know */
	NCS_GONE,                        /* those above still hold it */
};


/* Notes that were said and may not be known to the peer, and what was heard of its. */
struct ncs_notes {
	struct xk_list    list;
	struct xk_listed *at;            /* in it, to leave next */
	uint32_t known, next, sent, said;        /* numbers: of the first, to leave next, that never left, of the next one */
	uint32_t heard;                  /* the peer's, below that */
	unsigned vain;                   /* times that they were said again since one more was known */
	xk_ns    since;                  /* when one left last */
};

/* Where to go on cutting SDUs: a segment of a message in `out`, and how far in that it begins. */
struct ncs_place { struct xk_msg *m, *seg; uint32_t at; };

struct ncs_conn {
	struct ncs_sess *sess, *peer;
	struct ncs_conn *next, **at;     /* of its peer */
	struct ncs_tx   *tx;
	struct ncs_rx   *rx;
	struct ncs_stages *stages;       /* NULL: calls */
	struct ncs_choice choice;
	uint32_t id, peer_id;
	uint16_t peer_epoch, service;
	uint8_t  state, tries;
	bool     passive, dead;
	bool     sums;                   /* SDUs have one */
	bool     confirmed;              /* the peer knows of it, for certain */
	unsigned busy;                   /* calls inside; dead ones go with the last */
	uint32_t end;                    /* number of the next SDU that is pushed */
	uint64_t queued;                 /* bytes in out */
	struct ncs_ended ended;          /* why, where the peer did not just close */
	uint8_t  hello[NCS_HELLO_LEN];
	bool     has_hello, watched;
	struct ncs_notes notes;
	xk_ns    asked, progress;        /* when OPEN or CLOSE left; when something was last heard of use */
	xk_ns    heard;                  /* when anything was */
	uint64_t pooled;                 /* of the pool */
	uint32_t came, came_before;      /* SDUs since then; of the four round trips before */
	xk_ns    since;
	struct xk_msgq out;              /* messages, or parts: see ncs_data.c */
	uint32_t coming;                 /* bytes of a message of which parts are to be pushed yet */
	uint32_t long_bytes;             /* of that: all of them */
	uint32_t long_first, long_last;  /* number of its first SDU; its last one in it */
	uint64_t unsent;                 /* bytes in out that never left */
	uint32_t unasked;                /* bytes that have left since the interface was asked whether it takes more */
	bool     paced, stopped;         /* no control bounds what is under way, so it is asked; it takes none now */
	uint32_t fresh;                  /* the first SDU that was never sent */
	uint32_t last_tx;                /* the peer's transmission that came last */
	bool     receiving;              /* what is pushed now leaves when what has come is passed up */
	bool     owes;                   /* answers that may go along with an SDU, or are said by the task */
	bool     holds;                  /* what is below loses nothing: they may wait */
	uint8_t  held;                   /* SDUs since the last one that wait for one to leave, */
	xk_ns    held_at;                /* the first of them since then */
	struct xk_listed owing;
	struct ncs_place base, again, first;/* of the first needed, the last repeated, and that one */
	/* By link, with their headers, by number: those that error control has done with, which are of one
	 * message and come one after the other; those that others are missing before. */
	struct xk_msgq   in;
	struct xk_msg   *ahead, *ahead_last;
	bool     pieces, within;         /* who lies above takes SDUs; the message of the last one was not at its end */
	struct ncs_pkt had;              /* that one */
	struct xk_timer timer;
};

/* Both kinds of session. */
struct ncs_sess {
	struct xk_sess s;
	bool           is_peer;
	union {
		struct ncs_peer peer;
		struct ncs_conn conn;
	};
};
static inline struct ncs_sess *ncs_sess(struct xk_sess *s) { return (struct ncs_sess *)(void *)s; }

/* ncs_choice.c: by the number that OPEN has; NULL: there is none.  NCS_BY_NAME: not of this folder. */
const struct ncs_flow_ops  *ncs_flow_of(unsigned no);
const struct ncs_error_ops *ncs_error_of(unsigned no);
unsigned ncs_flow_no(const struct ncs_flow_ops *f);
unsigned ncs_error_no(const struct ncs_error_ops *e);

/* ncs_path.c */
int  ncs_paths_start(struct xk_rep *r, struct xk_errs *e);
/* Sets w->pick; XK_E_NOENT: w->wrong is what this node has not. */
int  ncs_pick_of(const struct xk_rep *r, struct ncs_names *w);
/* What it comes to, and the interface; NULL: there is no such path. */
struct xk_rep *ncs_picked(const struct xk_rep *r, const struct ncs_pick *p, struct ncs_choice *c);
/* Does this node take what a peer asks for?  Else the answer is an error, and why[n] names what is lacking. */
int  ncs_accepts(const struct xk_rep *r, const struct ncs_open *o, struct ncs_choice *c, char *why, size_t n);

/* ncs_table.c */
int  ncs_number(struct ncs_rep *nr, struct ncs_conn *c);
void ncs_number_free(struct ncs_rep *nr, const struct ncs_conn *c);
struct ncs_conn *ncs_conn_find(struct xk_rep *r, uint32_t id);
/* over: the interface; from: a port here, 0: any. */
struct xk_sess *ncs_open_below(struct xk_rep *r, struct xk_rep *over, uint32_t host, uint16_t port, uint16_t from,
			       int *err);

/* ncs_ctl.c */
/* over: the interface that it is reached by. */
struct ncs_sess *ncs_peer_to(struct xk_rep *r, struct xk_rep *over, uint32_t host, int *err);
int  ncs_peer_over(struct xk_rep *r, struct xk_sess *lls);
/* A gathering of records. */
void ncs_records_in(struct ncs_sess *p, struct xk_msg *m);
void ncs_self_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
struct xk_stream_event;
void ncs_stream_event(struct xk_rep *r, const struct xk_stream_event *ev);
void ncs_close_done(struct xk_rep *r, struct xk_sess *lls);

/* ncs_say.c */
/* A record for the peer, of len bytes of values, to be filled; it leaves with the next flush. */
uint8_t *ncs_say(struct ncs_sess *p, uint8_t type, uint32_t conn, uint32_t len);
/* Before a record of `behind` bytes of values: a HELLO, which leaves with it. */
void ncs_greet(struct ncs_sess *p, uint32_t behind);
void ncs_flush(struct ncs_sess *p);
/* Around calls that may say something, or end it: what was said leaves with the last. */
static inline void ncs_peer_enter(struct ncs_sess *p) { p->peer.busy++; }
void ncs_peer_leave(struct ncs_sess *p);
void ncs_peer_free(struct ncs_sess *p);
/* It has its first connection.  How much silence there may be before it is asked. */
void ncs_peer_watch(struct ncs_sess *p);
xk_ns ncs_silence(const struct xk_rep *r);

/* The ten steps of a message (Park, Lee, Hariri 1998, figure 4), at level 5. */
#define NCS_STEP(c, no, ...) NCS_STEP_(c, "step " #no " of connection %u: " __VA_ARGS__)
#define NCS_STEP_(c, fmt, ...) XK_TRACE(ncs_rep((c)->sess->s.rep)->log, 5, fmt, (c)->id, __VA_ARGS__)

/* ncs_conn.c */
struct ncs_sess *ncs_conn_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct ncs_sess *peer,
			      struct xk_sess *lls, const struct ncs_choice *choice, int *err);
void ncs_conn_destroy(struct ncs_conn *c);
void ncs_conn_ask(struct ncs_conn *c);
void ncs_conn_tell(struct ncs_conn *c, unsigned what);
/* The timer; what has nobody above and nothing left begins to close. */
void ncs_conn_arm(struct ncs_conn *c);
/* Says NCS_NOTE_LEN bytes to who holds the other end. */
int  ncs_conn_note(struct ncs_conn *c, const uint8_t *v);
/* OPEN, ACCEPT or CLOSE was said: when it is said again. */
void ncs_conn_again(struct ncs_conn *c);
/* Around calls that may end it. */
void ncs_conn_enter(struct ncs_conn *c);
void ncs_conn_leave(struct ncs_conn *c);
/* The peer has said so: who calls goes on to ncs_turn. */
void ncs_conn_acked(struct ncs_conn *c, const struct ncs_ack *a);
void ncs_conn_credited(struct ncs_conn *c, uint32_t value);
/* false: of a process that said something else of its connection. */
bool ncs_conn_record(struct ncs_sess *p, const struct ncs_rec *rec);

/* ncs_end.c */
void ncs_conn_enters(struct ncs_conn *c, enum ncs_state state);
/* Nothing more happens on it. */
void ncs_conn_gone(struct ncs_conn *c);
/* The application has let it go. */
void ncs_conn_let_go(struct ncs_conn *c);
/* All was delivered, and nobody is above: the peer is told. */
void ncs_conn_close(struct ncs_conn *c);
void ncs_say_close(struct ncs_conn *c);
/* Nothing is heard any more, of it or of the peer; it cannot go on here: the peer is told. */
void ncs_conn_give_up(struct ncs_conn *c);
void ncs_conn_broken(struct ncs_conn *c);
void ncs_conn_too_long(struct ncs_conn *c);
/* The stream below has ended; the peer has no such connection. */
void ncs_conn_lost(struct ncs_conn *c);
/* The peer's CLOSE, a record of what is not here (not a CLOSE), or is closing here (not its CLOSED), its RESET.  c:
 * NULL: not here. */
void ncs_closed_by_peer(struct ncs_sess *p, struct ncs_conn *c, const struct ncs_rec *rec);
void ncs_unknown(struct ncs_sess *p, const struct ncs_rec *rec);
void ncs_asked_closing(struct ncs_conn *c, const struct ncs_rec *rec);
void ncs_reset(struct ncs_sess *p, const struct ncs_rec *rec);
/* Asks for some that nothing was heard of for long. */
void ncs_conns_check(struct ncs_sess *p);

/* ncs_hello.c */
int  ncs_key_start(struct xk_rep *r, struct xk_errs *e);
void ncs_hello_here(const struct ncs_rep *nr, struct ncs_hello *h);
/* false: who says that is not of this job; after a HELLO, what stands behind it is not either.  said: in this datagram
 * was a HELLO that was let in; false before its first record. */
bool ncs_lets_in(struct ncs_sess *p, const struct ncs_rec *rec, bool *said);
/* Before a record of that length which is a question: with a key, who has begun anew hears only who says it. */
void ncs_greet_again(struct ncs_sess *p, uint32_t behind);
/* XK_E_NOTSUP: no connection can be with that peer, and why says it. */
int  ncs_misfit(const struct ncs_sess *p, char *why, size_t n);
/* A sentence about a peer, with the node's place in the graph file; at most one in a second. */
void ncs_tell(const struct ncs_sess *p, const char *fmt, ...) XK_PRINTF(2, 3);
/* The longest message that both ends take. */
uint32_t ncs_longest(const struct ncs_conn *c);
void ncs_job_is(struct xk_rep *r, const struct ncs_job *j);
void ncs_about(const struct ncs_conn *c, struct ncs_about *a);

/* ncs_data.c */
void ncs_push(struct xk_sess *s, struct xk_msg *m);
/* The next message has so many bytes, and comes in parts. */
int  ncs_data_long(struct ncs_conn *c, uint32_t bytes);
/* Of the messages that wait, or are not acknowledged, those in parts of which some are to be pushed yet as well. */
uint32_t ncs_queued_longest(const struct ncs_conn *c);
void ncs_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void ncs_data_in(struct ncs_conn *c, struct xk_msg *m);
/* What ncs_turn and the others are made of, for seams.  n SDUs more are error control's. */
void ncs_data_asked(struct ncs_conn *c, uint32_t n);
/* Sends at most `most` that flow control lets go; how many. */
uint32_t ncs_let_go(struct ncs_conn *c, uint32_t most);
void ncs_data_out(struct ncs_conn *c, struct xk_msg *m);
/* A datagram came: is it an SDU; does flow control let it pass?  m as it is now, or NULL: dropped. */
struct xk_msg *ncs_data_good(struct ncs_conn *c, struct xk_msg *m);
struct xk_msg *ncs_data_passes(struct ncs_conn *c, struct xk_msg *m);
/* Error control has it; passes up what is whole. */
void ncs_data_wanted(struct ncs_conn *c, struct xk_msg *m);
/* Who lies above waits for its next message. */
void ncs_data_expect(struct ncs_conn *c);
/* Sends what may leave, says what is due, arms the timer. */
void ncs_turn(struct ncs_conn *c);
void ncs_queues_free(struct ncs_conn *c);

/* ncs_answer.c: by records */
static inline bool ncs_goes_on(const struct ncs_conn *c)
{
	return c->state == NCS_ESTABLISHED || c->state == NCS_DRAINING;
}
void ncs_say_credit(struct ncs_conn *c);
void ncs_say_ack(struct ncs_conn *c);
/* Both. */
void ncs_answer(struct ncs_conn *c);
void ncs_say_this_credit(struct ncs_conn *c, uint32_t value);
void ncs_say_this_ack(struct ncs_conn *c, const struct ncs_ack *a);
void ncs_say_notes(struct ncs_conn *c);

/* ncs_along.c */
void ncs_along_init(struct xk_rep *r);
/* Do c's?  Of a pool each answer says what others may have. */
static inline bool ncs_goes_along(const struct ncs_conn *c)
{
	return c->peer->peer.along && !c->choice.agreed.pooled;
}
void ncs_along_stop(struct xk_rep *r);
/* What c owes is said in the VP's next round, unless it has left by then; or waits for an SDU (held). */
void ncs_along_later(struct ncs_conn *c);
/* An SDU has come with those flags: may what is owed for it wait? */
void ncs_along_hold(struct ncs_conn *c, uint8_t flags);
/* When it is said without one: whoever has sent it repeats nothing for two ticks, a timer here may be late by one. */
static inline xk_ns ncs_along_when(const struct ncs_conn *c) { return c->held_at + c->choice.agreed.grain / 2; }
/* What is due to the peer and fits the header of an SDU that leaves; the rest is said by records.  0: nothing. */
uint64_t ncs_along_take(struct ncs_conn *c);
/* The peer's: the value that flow control reports, if NCS_ALONG_VALUE, and the acknowledgement, if NCS_ALONG_ACK,
 * but for its bits, of which it has none. */
uint32_t ncs_along_heard(const struct ncs_conn *c, uint64_t along, struct ncs_ack *a);

/* ncs_note.c */
static inline uint32_t ncs_notes_pending(const struct ncs_notes *s) { return s->said - s->known; }
int  ncs_note_add(struct ncs_notes *s, const uint8_t *v);
/* The bytes of one that leaves now, and its number; NULL: there is none. */
const uint8_t *ncs_note_take(struct ncs_notes *s, xk_ns now, uint32_t *no);
/* When to call ncs_note_time, which may let some leave again. */
xk_ns ncs_note_when(const struct ncs_notes *s, const struct ncs_rtt *rtt);
void ncs_note_time(struct ncs_notes *s, const struct ncs_rtt *rtt, xk_ns now);
/* The peer has heard all below `known`.  false: no peer can have said that. */
bool ncs_note_known(struct ncs_notes *s, uint32_t known);
/* The peer's with that number is here: is it the one that is due?  It is taken, then. */
bool ncs_note_due(struct ncs_notes *s, uint32_t no);
void ncs_notes_free(struct ncs_notes *s);

/* ncs_pool.c */
/* An SDU has come, and been passed on. */
void ncs_pool_turn(struct ncs_conn *c);
void ncs_pool_leave(struct ncs_conn *c);

/* ncs_sum.c */
/* Begins with UINT32_MAX; the complement of the last is the sum. */
uint32_t ncs_crc32c(uint32_t crc, const uint8_t *b, uint32_t n);
/* Of an SDU with its header, which lies in one piece; what stands in the sum's place does not matter. */
uint32_t ncs_sdu_sum(const struct xk_msg *m);
bool ncs_needs_sum(const struct xk_rep *r, struct xk_rep *over);

/* ncs_stream.c */
#define NCS_STREAM_SDU 16384u            /* where the graph says none */
/* Do others use the network behind that interface?  Does it keep no boundaries? */
bool ncs_is_shared(struct xk_rep *over);
bool ncs_is_stream(struct xk_rep *over);
/* Does it lose nothing, and keep order? */
bool ncs_is_sure(struct xk_rep *over);
/* May something leave? */
bool ncs_room(const struct ncs_sess *p);
/* May an SDU leave, as far as what is below says?  A port may say so, too. */
bool ncs_may_leave(const struct ncs_conn *c);
/* One of n bytes has left. */
void ncs_has_left(struct ncs_conn *c, uint32_t n);
/* Down, with the word before it. */
void ncs_lower(struct ncs_sess *p, struct xk_msg *m, bool records);
/* The next piece of what has come, *m: that loses what was taken of it. */
enum ncs_piece { NCS_PIECE_MORE, NCS_PIECE_WHOLE, NCS_PIECE_BAD, NCS_PIECE_NOMEM };
enum ncs_piece ncs_stream_piece(struct ncs_peer *p, struct xk_msg **m, struct xk_msg **piece);

#endif
