/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_policy.h - what a flow control and an error control of a connection are.
 *
 * Each is a const table of functions over a block of state that the caller gives.  They are pure:
 * from state and a packet, a record or the time they say what to do; they reach nothing, read no
 * clock, allocate nothing, and a state is copied by memcpy.  So the graph, the exhaustive test and
 * whoever else wants to drive them run the same object.  Park, Lee, Hariri 1998, section 3, with
 * the rules of docs/internals/ncs.md where those printed there cannot work.
 *
 *   sender     error control chooses an SDU, flow control says whether it may leave now
 *   receiver   flow control says whether a transmission is new, error control whether its SDU is
 *
 * Numbers are modulo 2^32.  A transmission has a number of its own, `tx`, whatever it carries.  SDUs
 * of a connection are numbered through all messages, and a message is named by the number of its
 * first one.  Records say how things stand, never what changed, so duplicates and late ones harm
 * nothing.  What a peer says is checked: nonsense is refused or has no effect.
 * Times are the caller's; who calls for one connection calls from one thread at a time.
 */
#ifndef NCS_POLICY_H
#define NCS_POLICY_H

#include "runtime/base/xk_base.h"

#define NCS_WINDOW_MAX 1024u             /* most SDUs, or transmissions, that are told apart */
#define NCS_BITS_MAX   NCS_WINDOW_MAX

static inline bool ncs_lt(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }
static inline bool ncs_leq(uint32_t a, uint32_t b) { return (int32_t)(a - b) <= 0; }

/* ---- round trips (ncs_rtt.c) --------------------------------------------------------- */

/* Of a connection, shared by both controls; RFC 6298. */
struct ncs_rtt {
	xk_ns mean, var;
	xk_ns least;                     /* timers wait at least that: two ticks */
	uint8_t steady;                  /* so many times in vain before waiting is doubled: the line is nobody else's */
	xk_ns most;                      /* doubling ends there, or where it began if that is more; 0: after ten times */
	bool  known;                     /* a sample was taken; mean is a guess before */
};
void  ncs_rtt_init(struct ncs_rtt *r, xk_ns guess, xk_ns least);
void  ncs_rtt_sample(struct ncs_rtt *r, xk_ns t);
/* How long to wait for an answer before something is done, after n times in vain. */
xk_ns ncs_rtt_probe(const struct ncs_rtt *r, unsigned n);    /* two round trips, doubling */
xk_ns ncs_rtt_timeout(const struct ncs_rtt *r, unsigned n);  /* RFC 6298's, doubling */

/* ---- numbers that have come (ncs_seen.c) -------------------------------------------- */

/* All below base, and those of the next NCS_WINDOW_MAX whose bit is set. */
struct ncs_seen {
	uint32_t base;
	uint32_t above;                  /* bits that are set */
	uint32_t end;                    /* behind the highest that has come */
	uint64_t bit[NCS_WINDOW_MAX / 64];
};
/* Is it in?  Those far above base are not. */
bool ncs_seen_has(const struct ncs_seen *s, uint32_t n);
/* Takes in n, which is not in and less than NCS_WINDOW_MAX above base. */
void ncs_seen_add(struct ncs_seen *s, uint32_t n);
/* Nothing from n on. */
void ncs_seen_init(struct ncs_seen *s, uint32_t n);
/* Takes in all below n. */
void ncs_seen_below(struct ncs_seen *s, uint32_t n);
/* How many are in, modulo 2^32. */
static inline uint32_t ncs_seen_count(const struct ncs_seen *s) { return s->base + s->above; }

/* ---- what was agreed ------------------------------------------------------------------- */

/* Fields that a control does not know are not looked at. */
struct ncs_agreed {
	uint32_t start;                  /* the first number, of transmissions and of SDUs */
	uint32_t flow_window;            /* window: most transmissions under way, 1 to NCS_WINDOW_MAX */
	uint32_t first, most;            /* credit: buffers at first, and when the connection is busy; 0 for error control
					  * whose flow control has none */
	uint64_t rate;                   /* rate: bits of payload in a second */
	uint32_t sdu;                    /* bytes of a full SDU */
	xk_ns    grain;                  /* rate: how late timers may be; each side's own, not agreed */
	bool     newreno;                /* a congestion window, too; each side's own, not agreed */
	bool     pooled;                 /* credit: buffers are given one by one; the receiver's own, not agreed */
	uint32_t error_window;           /* SDUs sent and not acknowledged, 1 to NCS_WINDOW_MAX */
};

/* ---- how much a line holds (ncs_pipe.c) ---------------------------------------------- */

/* Of a sender that repeats, over a line of its own; off until something was lost. */
struct ncs_pipe {
	uint32_t limit;                  /* most SDUs under way */
	uint32_t window;                 /* most SDUs that are not acknowledged */
	uint32_t round;                  /* the transmission whose answer ends this round */
	uint32_t high;                   /* most under way in this round */
	uint32_t rounds, before;         /* since the queue was last dry; the limit before it is so again */
	bool     on, shared;             /* shared: never on, a congestion window minds the line */
	xk_ns    least, now;             /* round trips: without a queue; the least of this round */
};
void  ncs_pipe_init(struct ncs_pipe *p, const struct ncs_agreed *a, uint32_t window);
/* Something was lost.  tx: number of the next transmission. */
void  ncs_pipe_begin(struct ncs_pipe *p, uint32_t under_way, uint32_t tx);
/* May an SDU leave that never did? */
bool  ncs_pipe_may(const struct ncs_pipe *p, uint32_t unfinished, uint32_t under_way);
/* Shall transmission tx have an answer of its own?  Answers are lost, too. */
bool  ncs_pipe_asks(const struct ncs_pipe *p, uint32_t tx);
/* A round trip took t; answered: its transmission. */
void  ncs_pipe_sample(struct ncs_pipe *p, xk_ns t, uint32_t under_way, uint32_t answered, uint32_t tx);

/* ---- flow control ------------------------------------------------------------------------ */

/* In the header of a transmission. */
enum {
	NCS_ASK = 1,                     /* the last one for now: it wants an answer */
	NCS_REPEAT = 2,                  /* its SDU was sent before */
	NCS_STOPPED = 4,                 /* there is more, and flow control lets it not leave */
};

/* of: this receiver's; wants: as many would not stop its sender, who was stopped by them alone (pooled); owed: that
 * sender may send as many more, or has, and they are occupied. */
struct ncs_buffers { uint32_t of, wants, owed; };

enum ncs_verdict {
	NCS_NEW,                         /* take it */
	NCS_DOUBLE,                      /* it has come, or was given up: nothing is owed for it */
	NCS_BEYOND,                      /* who sent it was not allowed to */
};

struct ncs_flow_ops {
	const char *name;
	uint32_t    tx_size, rx_size;    /* bytes of state; aligned as a uint64_t */

	/* The sender.  All are there. */
	void  (*tx_init)(void *st, const struct ncs_agreed *a, xk_ns now);
	bool  (*may)(const void *st, xk_ns now);
	void  (*sent)(void *st, uint32_t bytes, xk_ns now);
	void  (*heard)(void *st, uint32_t value, xk_ns now);     /* the receiver's report */
	/* For who has something to send and may not: when to ask `may` again, or to call `query`. */
	xk_ns (*when)(const void *st, const struct ncs_rtt *rtt);
	/* It is time: the receiver shall be asked, with *value. */
	bool  (*query)(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value);

	/* The receiver.  Each NCS_NEW occupies a buffer until `freed`. */
	void  (*rx_init)(void *st, const struct ncs_agreed *a);
	enum ncs_verdict (*arrived)(void *st, uint32_t tx, uint8_t flags);
	void  (*freed)(void *st, uint32_t n);
	void  (*queried)(void *st, uint32_t value);
	/* Shall the sender hear *value now?  It is taken to be said. */
	bool  (*report)(void *st, uint32_t *value);
	/* Optional: the receive buffers, and from now on so many, 1 or more.  What was allowed stays so. */
	struct ncs_buffers (*buffers)(const void *st);
	void  (*allow)(void *st, uint32_t buffers);
};

extern const struct ncs_flow_ops ncs_fc_none, ncs_fc_window, ncs_fc_credit, ncs_fc_rate;

/* What controls share (fc_shared.c): the sender that asks when it may not send and hears nothing; first in its
 * state.  sent: transmissions so far; vain: queries since the receiver said something new; since: of the last
 * thing that happened. */
struct ncs_asker { uint32_t sent, vain; xk_ns since; };
void  ncs_asker_sent(void *st, uint32_t bytes, xk_ns now);
void  ncs_asker_news(struct ncs_asker *a, xk_ns now);    /* the receiver said something new */
xk_ns ncs_asker_when(const void *st, const struct ncs_rtt *rtt);
bool  ncs_asker_query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value);
/* The receiver of transmissions numbered below limit; s moves on where its ring would not hold tx. */
enum ncs_verdict ncs_seen_take(struct ncs_seen *s, uint32_t tx, uint32_t limit);
/* A receiver that is free of state and says nothing. */
void  ncs_silent_heard(void *st, uint32_t value, xk_ns now);
bool  ncs_silent_query(void *st, const struct ncs_rtt *rtt, xk_ns now, uint32_t *value);
void  ncs_silent_rx_init(void *st, const struct ncs_agreed *a);
enum ncs_verdict ncs_silent_arrived(void *st, uint32_t tx, uint8_t flags);
void  ncs_silent_freed(void *st, uint32_t n);
void  ncs_silent_queried(void *st, uint32_t value);
bool  ncs_silent_report(void *st, uint32_t *value);
#define NCS_SILENT \
	.heard = ncs_silent_heard, .query = ncs_silent_query, .rx_init = ncs_silent_rx_init, .arrived = ncs_silent_arrived, \
	.freed = ncs_silent_freed, .queried = ncs_silent_queried, .report = ncs_silent_report

/* ---- error control ------------------------------------------------------------------------ */

/* One transmission, as its header has it. */
struct ncs_pkt {
	uint32_t tx;
	uint32_t message;                /* number of its first SDU */
	uint32_t sdu, last;              /* in the message: this one, the last one */
	uint8_t  flags;
};
static inline uint32_t ncs_pkt_no(const struct ncs_pkt *p) { return p->message + p->sdu; }

struct ncs_ack {
	uint32_t base;                   /* all SDUs below have come */
	uint32_t echo_no, echo_tx;       /* the arrival that made it be said */
	uint16_t depth;                  /* transmissions by which others have overtaken one */
	uint16_t nbits;                  /* SDUs from base on of which bits speak; a multiple of 64, or 0 */
	bool     gap;                    /* the arrival was not the one that was due */
	uint64_t bit[NCS_BITS_MAX / 64]; /* set: it has come; bit 0 of word 0 is base */
};

struct ncs_error_ops {
	const char *name;
	bool        sure;                /* exactly once; else whole or not at all */
	uint32_t    tx_size, rx_size;
	uint32_t    tx_slot;             /* bytes behind tx_size for each SDU of error_window */

	/* The sender. */
	void  (*tx_init)(void *st, const struct ncs_agreed *a);
	void  (*add)(void *st, uint32_t n);              /* n more SDUs are there to be sent */
	bool  (*next)(const void *st, uint32_t *no);     /* the one to send */
	uint8_t (*sent)(void *st, uint32_t no, uint32_t tx, xk_ns now);  /* flags of its header */
	/* tx: number of the next transmission.  false: no receiver can have said that. */
	bool  (*heard)(void *st, const struct ncs_ack *a, uint32_t tx, struct ncs_rtt *rtt, xk_ns now);
	xk_ns (*when)(const void *st, const struct ncs_rtt *rtt);
	void  (*time)(void *st, const struct ncs_rtt *rtt, xk_ns now);
	uint32_t (*done)(const void *st);                /* those below are needed no more */
	uint32_t (*under_way)(const void *st);           /* sent, not acknowledged, not known to be lost; where sure */

	/* The receiver. */
	void  (*rx_init)(void *st, const struct ncs_agreed *a);
	/* NCS_NEW: its bytes are wanted.  Only of transmissions that are new to flow control. */
	enum ncs_verdict (*arrived)(void *st, const struct ncs_pkt *p);
	/* Messages that end below are over: whole, or never to be. */
	uint32_t (*base)(const void *st);
	bool  (*report)(void *st, struct ncs_ack *a);
};

extern const struct ncs_error_ops ncs_ec_none, ncs_ec_gbn, ncs_ec_sr;

#endif
