/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sess.h - a connection as a session of the graph: what the middle floor of TCP shares.
 *
 *   tcp_demux.c      segments up: parse, find the session
 *   tcp_act.c        what tcp_input decided is carried out; see tcp_act.h
 *   tcp_reass.c      what arrived out of order
 *   tcp_notify.c     what the holder is told
 *   tcp_push.c       the operations push and write
 *   tcp_output.c     what may be sent now
 *   tcp_emit.c       building a segment and pushing it
 *   tcp_wheel.c      the deadlines of a session behind one timer of the wheel
 *   tcp_timer.c      what is done when one has come
 *   tcp_key.c        what a key says or hides: hashes, sequence numbers (RFC 6528)
 *   tcp_sess.c       a session is made and bound
 *   tcp_open.c       active open, ports (RFC 6056)
 *   tcp_end.c        shutdown, close, abort, the end
 *   tcp_listen.c     passive open: SYN cache, cookies (RFC 4987); see tcp_listen.h
 *   tcp_timewait.c   TIME-WAIT, capped; tcp_rest.c: without working memory
 *   tcp_stalled.c    closed windows, given up for room
 *   tcp_memory.c     queues while memory is short; tcp_shed.c: who is given up then
 *   tcp_idle.c       idle connections give their working memory back
 *   tcp_control.c    control operations, ICMP (RFC 5927, 1191)
 *   ../tcp_profile.c named sets of parameters
 *
 * Lifetime.  rcnt counts holders above and pops in progress, nothing else.  At
 * rcnt 0 the operation close runs: it begins to end the connection (TCP_F_ORPHAN)
 * or, when the state is CLOSED, destroys the session; legal again and again.
 * tcp_finish ends a connection from inside: state CLOSED, timers off, queues freed,
 * holder told; it destroys the session itself when rcnt is 0.  After a call that
 * may finish (tcp_act, tcp_output, a timer), touch the session only when you hold a
 * reference.
 */
#ifndef TCP_SESS_H
#define TCP_SESS_H

#include "protocols/inet/inet_enable.h"
#include "protocols/ip/ip.h"
#include "protocols/tcp/core/tcp_core.h"
#include "protocols/tcp/tcp.h"
#include "runtime/base/xk_list.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_ddp.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_now.h"
#include "runtime/vp/xk_timer.h"

_Static_assert(TCP_DROP_BASE == XK_DROP_FIRST - 1, "drops as the core numbers them");
_Static_assert(TCP_COUNT_N <= XK_COUNTS_MAX, "counters of a protocol");

/* ---- objects of the graph ------------------------------------------------------------------------ */

#define TCP_SYN_TIMES 32u
struct tcp_conf;                         /* parameters as parsed: tcp_profile.c */
#define TCP_DEFERS 16u
struct tcp_node {                        /* struct xk_node.state */
	struct tcp_tune tune;
	uint64_t defer[TCP_DEFERS];      /* port << 32 | ms; 0: free (TCP_CTL_DEFER) */
	uint64_t port_mss[TCP_DEFERS];   /* port << 32 | bytes; 0: free (TCP_CTL_LISTEN_MSS) */
	uint64_t port_rcvbuf[TCP_DEFERS];       /* the same (TCP_CTL_LISTEN_RCVBUF) */
	uint32_t ports_set;              /* some port has one of those, or had */
	uint32_t syn_times[TCP_SYN_TIMES + 1];  /* tune.syn_times, when the graph gave them */
	uint64_t secret[4];              /* of this graph: sequence numbers, ports, cookies, timestamps */
};
static inline const struct tcp_tune *tcp_tune(const struct xk_rep *r)
{
	return &((const struct tcp_node *)r->node->state)->tune;
}

#define TCP_REASS_OBJ 128u               /* the larger of the two, see tcp_reass.c */
#define TCP_PORT_SLOTS  64u
#define TCP_PORT_STRIDE 63u
#define TCP_STALLED     64u
struct tcp_syncache;
struct tcp_rep {                         /* struct xk_rep.state */
	struct tcp_syncache *syn;
	struct xk_rand *rand;            /* of this VP, as are its buffers */
	const struct xk_memvp *mem;
	struct xk_slab  live_slab;       /* of struct tcp_live */
	struct xk_slab  idle_slab;       /* of struct tcp_idle */
	struct xk_slab  rest_slab;       /* of struct tcp_rest */
	struct tcp_live *dead;           /* of all that ended for want of memory */
	struct xk_slab  reass_slab;      /* of TCP_REASS_OBJ: struct tcp_reass and its nodes */
	uint64_t        ooo_bytes;       /* held by this VP's connections */
	struct xk_list  time_wait;       /* oldest first: tcp_timewait.c */
	struct xk_list  tw_rest;         /* those that need no working memory, oldest first */
	uint32_t        tw_n;            /* of both */
	struct xk_timer tw_timer;        /* of tw_rest */
	struct xk_list  fresh;           /* accepted and silent since, oldest first, fresh_n of them: tcp_idle.c */
	uint32_t        fresh_n;
	struct xk_timer fresh_timer;     /* runs while there are any */
	struct tcp_sess *stalled[TCP_STALLED]; /* a ring: tcp_stalled.c */
	uint32_t        stalled_at, stalled_n;
	struct xk_timer mem_timer;       /* tcp_memory.c: runs while memory is short */
	struct xk_rep  *rep;             /* whose the timers are */
	uint64_t        mem_at;          /* how far it has come in live_slab */
	bool            mem_watched;     /* it runs */
	bool            mem_over;        /* but for a last look, at those who wait */
	xk_ns           cookie_until;    /* a cookie of ours may come back */
	struct tcp_open_with with;       /* of the next tcp_open (TCP_CTL_OPEN_WITH) */
	uint32_t        port_step[TCP_PORT_SLOTS]; /* RFC 6056 3.3.4: how far ports have come */
	struct { uint64_t pair, hash; uint32_t rport; } port_last; /* where the last open went (rport 0: none did), hashed */
};
static inline struct tcp_rep *tcp_rep(const struct xk_rep *r) { return r->state; }

/*
 * A session is two objects: what finds it and is true of it for as long as it lives,
 * and what it needs while something happens (struct tcp_live, from a slab of the
 * replica, named by s.hot).  A connection that stands and is idle has the
 * first, words of which are its own then (struct tcp_idle_own, tcp_idle_sums), and half a line more: it is
 * compressed.  Whoever comes from outside wakes it before it looks at
 * tcp_cb or tcp_live; once awake it stays so while something is under way.
 */
struct tcp_idle_own {                    /* s.aux */
	int16_t  pops;                   /* of s.rcnt: pops in progress (tcp_act.c); awake, too */
	uint16_t peer_mss;
	uint32_t rcv_nxt, snd_una;
	uint32_t rcv_room : 30;          /* from rcv_nxt to rcv_adv */
	uint32_t snd_plain : 1, max_plain : 1; /* the window is as it was in a header, not to be scaled */
	uint16_t snd_wnd, max_wnd;
	uint8_t  wscales;                /* ours, the peer's: four bits each */
	uint8_t  quick, reo_mult, persist;
};
struct tcp_idle_sums {                   /* s.own */
	uint32_t bytes_acked, bytes_received;
	uint64_t segs_in : 24, segs_out : 24, retransmits : 16;
};
struct tcp_idle {                        /* tcp_idle.c; the flags are in s.flags */
	uint32_t cwnd : 31, reordering : 1;
	uint32_t ssthresh : 31, recover : 1;     /* `recover` is snd_una, else the number before */
	uint32_t srtt : 28, backoff : 4;
	uint32_t rttvar : 31, wl1 : 1;           /* `snd_wl1` is rcv_nxt, else the number before */
	uint32_t cc, ts_recent, idle_since;
	uint16_t path_mss;
	uint16_t ts_recent_at;           /* in units of 65.5 s */
};
_Static_assert(sizeof(struct tcp_idle) == XK_SLAB_HALF, "half a line");
/* In TIME-WAIT, nobody's: all that is left to do is to answer (tcp_rest.c). */
struct tcp_rest {
	struct xk_listed listed;
	struct tcp_sess *ts;
	uint32_t until;                  /* ms */
	uint32_t flags;
	uint32_t rcv_nxt, rcv_adv, snd_una, snd_wnd, max_wnd, ts_recent, ts_recent_at;
	uint16_t peer_mss, path_mss;     /* wscales where struct tcp_idle_own has them */
};
_Static_assert(sizeof(struct tcp_rest) == XK_CACHELINE, "a line");
/* s.hot: its struct tcp_live's cb; compressed one of those, told by the low bits. */
#define TCP_HOT_COMPRESSED 1u
#define TCP_HOT_REST       2u            /* with the other */
struct tcp_sess {
	union {
		struct xk_sess s;
		struct {                 /* the same, the words that are ours by their names */
			char before[offsetof(struct xk_sess, own)];
			struct tcp_idle_sums sums;
			char between[offsetof(struct xk_sess, aux) - offsetof(struct xk_sess, own) - sizeof(struct tcp_idle_sums)];
			struct tcp_idle_own own;
		};
	};
};
#ifndef XK_DEBUG
_Static_assert(sizeof(struct tcp_sess) == 2 * XK_CACHELINE, "two lines");
#endif
_Static_assert(sizeof(struct tcp_idle_own) == sizeof(((struct xk_sess *)0)->aux), "the session's aux");
_Static_assert(sizeof(struct tcp_idle_sums) == sizeof(((struct xk_sess *)0)->own), "the session's own words");
_Static_assert(offsetof(struct tcp_sess, own) == offsetof(struct xk_sess, aux), "one on the other");
struct tcp_live {
	uint32_t        psum;            /* folded ip_pseudo_sum, for the up path (tcp_sess_bind) */
	uint32_t        sum;             /* partial: pseudo-header without length, and ports */
	uint32_t        ports;           /* ours and the peer's, as sent */
	uint32_t        wheel_at;        /* ms the wheel's timer is set to; 0: not */
	struct tcp_sess *ts;
	struct xk_timer timer;
	struct tcp_cb   cb XK_ALIGNED;
	uint32_t        mem_seen, mem_una; /* ms, snd_una then: tcp_memory.c; 0: not yet */
	uint32_t        told_at, told_sum; /* ms, snd_una + rcv_nxt when below was told of progress: tcp_timer.c */
	struct xk_listed listed;         /* by age: in TIME-WAIT, or */
	bool            fresh;           /* accepted and silent */
};
_Static_assert(offsetof(struct tcp_live, cb) == XK_CACHELINE, "one line before the control block");
static inline struct tcp_sess *tcp_sess(struct xk_sess *s) { return (struct tcp_sess *)(void *)s; }
static inline struct tcp_cb *tcp_cb(const struct tcp_sess *ts) { return (struct tcp_cb *)(uintptr_t)ts->s.hot; }
static inline struct tcp_live *tcp_live(const struct tcp_sess *ts)
{
	return xk_container_of(tcp_cb(ts), struct tcp_live, cb);
}
static inline bool tcp_is_compressed(const struct tcp_sess *ts) { return ts->s.hot & TCP_HOT_COMPRESSED; }
/* Of one compressed: in TIME-WAIT?  Else it is ESTABLISHED. */
static inline bool tcp_is_rest(const struct tcp_sess *ts) { return ts->s.hot & TCP_HOT_REST; }
static inline struct tcp_idle *tcp_idle(const struct tcp_sess *ts)
{
	return (struct tcp_idle *)(uintptr_t)(ts->s.hot - TCP_HOT_COMPRESSED);
}
static inline struct tcp_rest *tcp_rest(const struct tcp_sess *ts)
{
	return (struct tcp_rest *)(uintptr_t)(ts->s.hot - TCP_HOT_COMPRESSED - TCP_HOT_REST);
}
/* Out of TIME-WAIT's list, or that of new ones, when it is in one. */
static inline void tcp_unlist(struct tcp_sess *ts)
{
	struct tcp_rep *tr = tcp_rep(ts->s.rep);
	struct tcp_live *l = tcp_live(ts);

	if (!xk_is_listed(&l->listed))
		return;
	xk_list_take(&l->listed);
	if (l->fresh)
		tr->fresh_n--;
	else
		tr->tw_n--;
	l->fresh = false;
}
/* Ports, host order; the key is as a received header says it. */
static inline uint16_t tcp_lport(const struct tcp_sess *ts) { return tcp_ports_destination((uint32_t)ts->s.map.key.w[1]); }
static inline uint16_t tcp_rport(const struct tcp_sess *ts) { return tcp_ports_source((uint32_t)ts->s.map.key.w[1]); }
/* Does anybody above keep it? */
static inline bool tcp_held(const struct tcp_sess *ts) { return ts->s.rcnt > ts->own.pops; }
static inline struct tcp_env tcp_env(struct xk_rep *r)
{
	xk_ns now = xk_vp_time(r->vp);

	return (struct tcp_env){ now, tcp_ms(now), (uint32_t)(now / XK_US), tcp_rep(r)->rand,
				 r->count };
}

/* Active key, as UDP's: addresses as they lie in the network header (remote
 * first), ports as they lie in a received header. */
static inline void tcp_key(struct xk_key *k, uint64_t pair, uint32_t ports)
{
	k->w[0] = pair;
	k->w[1] = ports;
}
void tcp_flowkey(struct xk_flowkey *f, const struct xk_key *k);

/* ---- tcp_record.c --------------------------------------------------------------------------------- */

/* Behind the states; ORDER TCP_EV. */
enum tcp_ev { TCP_EV_TIMEOUT = TCP_S_COUNT, TCP_EV_PROBE, TCP_EV_GIVE_UP };
extern const char *const tcp_events[];
/* It was in state `was`: where it is in another one by now, the recorder is told. */
void tcp_record_state(struct tcp_sess *ts, unsigned was);
void tcp_record(struct tcp_sess *ts, enum tcp_ev ev);

/* ---- tcp_reass.c ---------------------------------------------------------------------------------- */

/* The replica's slab; fini when no session is left. */
void tcp_reass_init(struct xk_rep *r);
void tcp_reass_fini(struct xk_rep *r);
/* Takes m, whose bytes are [seq, seq+len), fin: a FIN behind them.  What is held
 * already or over the caps is freed and counted; a duplicate part sets dsack. */
void tcp_reass_put(struct tcp_sess *ts, struct xk_msg *m, uint32_t seq, bool fin);
/* The next piece that begins at rcv_nxt, or NULL; *fin: a FIN is right behind it
 * (a FIN alone: NULL with *fin). */
struct xk_msg *tcp_reass_get(struct tcp_sess *ts, bool *fin);
/* At most max blocks for an acknowledgement, the one of ooo_recent first (RFC 2018 4). */
unsigned tcp_reass_blocks(const struct tcp_cb *cb, unsigned max, struct tcp_opts *o);
/* Frees all that is kept; most often nothing is. */
void tcp_reass_drop(struct tcp_sess *ts);
static inline void tcp_reass_free(struct tcp_sess *ts)
{
	if (XK_UNLIKELY(tcp_cb(ts)->reass != NULL))
		tcp_reass_drop(ts);
}
/* m without its first n bytes; NULL, and m gone, when memory is out. */
struct xk_msg *tcp_cut_front(struct xk_msg *m, uint32_t n);
uint32_t tcp_reass_bytes(const struct tcp_cb *cb, uint32_t *segments);

/* ---- tcp_demux.c, tcp_act.c ---------------------------------------------------------- */

void tcp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void tcp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void tcp_enter(struct xk_rep *r, struct xk_msg *m);
/* Header first and in one piece, into *g; XK_OK or the reason for a drop. */
int  tcp_parse(struct tcp_seg *g, const struct xk_msg *m);
/* Runs one parsed segment, header still in front of m's data, through a session
 * (a new one from the SYN cache, say).  Consumes m.  The caller holds a reference.  False, and
 * m is as it was: a connection in TIME-WAIT must give way to this SYN. */
bool tcp_act(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m);

/* ---- tcp_notify.c ---------------------------------------------------------------------- */

/* Tells the holder above; nothing when there is none. */
void tcp_notify(struct tcp_sess *ts, enum xk_stream_what what, int err);
/* DRAINED, where it is owed and all has been acknowledged. */
void tcp_notify_drained(struct tcp_sess *ts);
void tcp_notify_close(struct tcp_sess *ts);
/* WRITABLE, where it is owed and there is room worth it. */
void tcp_notify_room(struct tcp_sess *ts);

/* ---- tcp_output.c, tcp_push.c --------------------------------------------------- */

/* Sends all that windows, Nagle, recovery and pending acknowledgements ask for. */
void tcp_output(struct tcp_sess *ts);
/* The operations push, write and write_on. */
void tcp_push(struct xk_sess *s, struct xk_msg *m);
uint32_t tcp_write(struct xk_sess *s, const void *p, uint32_t n);
uint32_t tcp_write_on(struct xk_sess *s, const void *p, uint32_t n, struct xk_stream_span *x);
/* Of a write, what there is room and memory for: into the queue, and out as soon as a segment is full; all
 * together where that may be a train. */
uint32_t tcp_write_put(struct tcp_sess *ts, const void *p, uint32_t n);
/* Two segments or more, which the device may send as one? */
static inline bool tcp_is_train(const struct tcp_cb *cb, uint32_t n)
{
	return XK_UNLIKELY(n >= 2u * cb->mss) && cb->train != 1 && (cb->train == 0 || cb->train_whole);
}
/*
 * What the queue holds, `before` bytes unsent before the last push or write, waits for an acknowledgement
 * that will come: for room in a window when it was a full segment, else for company (Nagle).
 * More behind it changes that only when it makes a full segment of it, or where
 * the peer's window is so small that a part of it is worth a segment.
 */
static inline bool tcp_waits_on(const struct tcp_cb *cb, uint32_t before)
{
	bool company = (cb->flags & (TCP_F_SMALL | TCP_F_NODELAY)) == TCP_F_SMALL;
	uint64_t none = (uintptr_t)cb->reass | cb->lost_out |
			(cb->flags & (TCP_F_DSACK | TCP_F_ACK_NOW | TCP_F_WANT_ROOM | TCP_F_FIN_QUEUED));

	if (cb->snd_una == cb->snd_max || none != 0)
		return false;
	return before >= cb->mss || (company && cb->sq.unsent_bytes < cb->mss && cb->max_wnd >= 2u * cb->mss);
}
/* What a persist timer forces out although it is small. */
void tcp_output_forced(struct tcp_sess *ts);
/* Sends sent segment m again. */
bool tcp_resend(struct tcp_sess *ts, const struct tcp_env *e, struct xk_msg *m);
/* Room was made for what comes: an update is sent when it is worth one. */
void tcp_window_opened(struct tcp_sess *ts);

/* ---- tcp_emit.c -------------------------------------------------------------------------------------- */

/* A segment without a session: an answer to m's sender (RST, SYN-ACK of the SYN
 * cache).  lls: where it came from, or NULL; opts may be NULL.  m is only read. */
void tcp_answer(struct xk_rep *r, struct xk_sess *lls, const struct xk_msg *m, uint32_t seq, uint32_t ack,
		uint16_t flags, uint16_t wnd, const uint8_t *opts, uint32_t nopts);
/* One segment of the session: header, options, checksum.  data NULL: none; else it
 * is shared, and stays in the queue. */
bool tcp_emit(struct tcp_sess *ts, uint32_t seq, struct xk_msg *data, uint16_t flags);
/* n > 1 full segments of the queue from data on, noted as sent, as one super-segment
 * (XK_MSG_SUPER). */
bool tcp_emit_train(struct tcp_sess *ts, struct xk_msg *data, unsigned n, uint16_t flags);
/* How many a super-segment may have, as the way below says now; 1: there are none. */
unsigned tcp_emit_train_most(struct tcp_sess *ts);
void tcp_send_ack(struct tcp_sess *ts);
/* A segment of the handshake, or a probe with the sequence number seq and no data. */
void tcp_send_syn(struct tcp_sess *ts);
void tcp_send_probe(struct tcp_sess *ts, uint32_t seq);
void tcp_send_rst(struct tcp_sess *ts);
/* Bytes that blocks of an acknowledgement will take from a segment now. */
uint32_t tcp_emit_sack_room(const struct tcp_cb *cb);

#define TCP_COPY_MAX   256u              /* payload that is copied rather than lent */
#define TCP_NOP_NOP_TS 0x0101080au
#define TCP_TRAIN_MAX  255u              /* segments of a super-segment */

/* ---- tcp_wheel.c, tcp_timer.c -------------------------------------------------------------------------------------- */

void tcp_timer_init(struct tcp_sess *ts);
void tcp_timer_sync_all(struct tcp_sess *ts);   /* when the wheel's timer has fired */
void tcp_timer_sync_at(struct tcp_sess *ts, uint32_t due);
/* After cb.at was changed: the wheel's timer is early enough, as it nearly always was,
 * because nothing was set that is earlier. */
static inline void tcp_timer_sync(struct tcp_sess *ts)
{
	struct tcp_live *live = tcp_live(ts);
	uint32_t due = live->cb.due;

	live->cb.due = 0;
	if (XK_UNLIKELY(due != 0 && (live->wheel_at == 0 || (int32_t)(due - live->wheel_at) < 0)))
		tcp_timer_sync_at(ts, due);
}
void tcp_timer_stop(struct tcp_sess *ts);       /* all off */
/* The wheel calls in ms, though nothing is due then. */
void tcp_timer_look(struct tcp_sess *ts, uint32_t ms);

/* ---- tcp_idle.c ------------------------------------------------------------------------------------------ */

/* A session compressed gets its working memory; false: there is none, and nothing has changed. */
bool tcp_wake(struct tcp_sess *ts);
/* The same where the connection cannot go on without: it ends (RST, FAILED) and is
 * CLOSED, with memory that all such share.  It may be gone when nobody holds it. */
bool tcp_wake_or_end(struct tcp_sess *ts);
/* tcp_abort of one compressed: needs no memory. */
void tcp_idle_abort(struct tcp_sess *ts);
/* What it would be awake, in *l; the session is as it was. */
void tcp_idle_copy(const struct tcp_sess *ts, struct tcp_live *l);
/* Nothing is due: is it idle?  Then it is compressed, or is looked at again later. */
void tcp_idle_look(struct tcp_sess *ts);
/* A new connection, about which the peer has said nothing yet: looked at when that was long, or when
 * TCP_FRESH others have come since. */
#define TCP_FRESH 64u
void tcp_idle_soon(struct tcp_sess *ts);
void tcp_idle_init(struct xk_rep *r);
void tcp_idle_stop(struct xk_rep *r);

/* ---- tcp_key.c, tcp_sess.c, tcp_open.c, tcp_end.c -------------------------------------------------------------------------------------------- */

struct xk_sess *tcp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err);
/* A session over lls (takes the reference either way), not bound, cb zeroed
 * but for tune, buffers and recovery.  NULL with *err. */
struct tcp_sess *tcp_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls, int *err);
/* What stands before the block in *l, by the session's key. */
void tcp_live_header(const struct tcp_sess *ts, struct tcp_live *l);
/* Binds, announces, prepares header sums and path_mss; mss, recovery and ts_off are not yet: XK_E_EXIST when it exists
 * elsewhere. */
int  tcp_sess_bind(struct tcp_sess *ts, const struct xk_key *k);
void tcp_sess_free(struct tcp_sess *ts);
/* The connection's key is free again, for us and for the classifiers. */
static inline void tcp_withdraw(struct tcp_sess *ts)
{
	xk_sess_unbind(&ts->s);
	xk_sess_withdraw(&ts->s);
}
void tcp_close(struct xk_sess *s);
void tcp_shutdown(struct tcp_sess *ts);         /* FIN behind what is queued */
void tcp_left(struct tcp_sess *ts);             /* nobody holds it: it ends; may be repeated */
void tcp_abort(struct tcp_sess *ts);            /* RST, then finish without an event */
/* The connection is over: see Lifetime.  err 0: no FAILED. */
void tcp_finish(struct tcp_sess *ts, int err);
uint64_t tcp_siphash(uint64_t k0, uint64_t k1, uint64_t a, uint64_t b, uint64_t c); /* 2-4, of 24 bytes */
/* Uses of the node's secret, told apart by the last byte of what is hashed.  Each half of a
 * hash hides a number of its own: nobody can tell one from the other without the secret. */
enum tcp_hash_use { TCP_HASH_NUMBERS = 1, TCP_HASH_PORT };
/* SipHash-2-4 of 13 bytes, keyed by the node's secret. */
uint64_t tcp_hash(const struct tcp_node *n, uint64_t pair, uint32_t ports, enum tcp_hash_use use);
/* Of a tuple: the initial sequence number (RFC 6528) that it has now, the offset of its
 * timestamps (RFC 7323 7.1), which it always has. */
struct tcp_hidden { uint32_t isn, ts_off; };
struct tcp_hidden tcp_hidden(const struct xk_rep *r, const struct xk_key *k);
static inline uint32_t tcp_isn(const struct xk_rep *r, const struct xk_key *k) { return tcp_hidden(r, k).isn; }
static inline uint32_t tcp_ts_offset(const struct xk_rep *r, const struct xk_key *k) { return tcp_hidden(r, k).ts_off; }
/* Payload that a segment without options may have over lls (NULL: by default), tune.mss applied. */
uint32_t tcp_path_mss(struct xk_rep *r, struct xk_sess *lls);

/* ---- tcp_listen.c ---------------------------------------------------------------------------------------------- */

/* A segment for no session of this VP, checksum good: LISTEN's, the SYN cache's,
 * or CLOSED's business.  Consumes m. */
void tcp_listen_input(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, const struct xk_key *k,
		      struct xk_msg *m);
int  tcp_defer_set(struct xk_rep *r, const void *buf, unsigned len);   /* TCP_CTL_DEFER */
int  tcp_listen_mss_set(struct xk_rep *r, const void *buf, unsigned len); /* TCP_CTL_LISTEN_MSS */
int  tcp_listen_rcvbuf_set(struct xk_rep *r, const void *buf, unsigned len); /* TCP_CTL_LISTEN_RCVBUF */
/* Bytes that a buffer may have; 0: as the node has it. */
static inline bool tcp_is_buffer(uint32_t n) { return n == 0 || (n >= 2048 && n <= 1u << 30); }
int  tcp_open_with(struct xk_rep *r, const void *buf, unsigned len);   /* TCP_CTL_OPEN_WITH */
int  tcp_syncache_init(struct xk_rep *r);
void tcp_syncache_clear(struct xk_rep *r);
void tcp_syncache_fini(struct xk_rep *r);
uint32_t tcp_syncache_count(const struct xk_rep *r);
/* ICMP about a connection in the cache. */
void tcp_syncache_error(struct xk_rep *r, const struct xk_key *k, uint32_t seq);

/* ---- tcp_timewait.c ---------------------------------------------------------------------------------------------- */

void tcp_timewait_enter(struct tcp_sess *ts);   /* or restart */
/* The oldest goes, but not ts, and if it is held only when told so; false: none does. */
bool tcp_timewait_reclaim(struct xk_rep *r, const struct tcp_sess *ts, bool held);

/* ---- tcp_rest.c -------------------------------------------------------------------------------------------------- */

/* Enters TIME-WAIT, or begins anew, and needs no working memory any more; false: somebody holds it, or is in the
 * middle of it. */
bool tcp_rest_begin(struct tcp_sess *ts);
/* Into *l, zeroed, what it is awake. */
void tcp_rest_fill(const struct tcp_sess *ts, struct tcp_live *l);
/* It has working memory again, filled, in place of t: waits awake for what is left. */
void tcp_rest_woken(struct tcp_sess *ts, struct tcp_rest *t);
/* The oldest goes, but not ts; false: none does. */
bool tcp_rest_reclaim(struct xk_rep *r, const struct tcp_sess *ts);
void tcp_rest_init(struct xk_rep *r);
void tcp_rest_stop(struct xk_rep *r);           /* all of them are gone */

/* ---- tcp_stalled.c ------------------------------------------------------------------------------------------------ */

void tcp_stalled_note(struct tcp_sess *ts);     /* a probe of its closed window has gone out */
/* The connection that has stood still for the longest, forgotten here, or NULL. */
struct tcp_sess *tcp_stalled_find(struct xk_rep *r);

/* ---- tcp_memory.c, tcp_shed.c -------------------------------------------------------------------------------------------------- */

enum tcp_shortage { TCP_MEM_NONE, TCP_MEM_PRESSURE, TCP_MEM_HIGH, TCP_MEM_LAST };
#define TCP_MEMORY_TICK (10 * XK_MS)     /* between two looks while it lasts */
enum tcp_shortage tcp_shortage(const struct xk_rep *r);
static inline bool tcp_memory_is_short(const struct xk_rep *r)
{
	return XK_UNLIKELY(xk_mem_fill(tcp_rep(r)->mem) != 0) && tcp_shortage(r) != TCP_MEM_NONE;
}

/* Room that a holder is told of: less while the graph's memory is short; *limit: of the whole queue. */
uint32_t tcp_room_now(const struct tcp_sess *ts, uint32_t *limit);
/* Bytes that a receive buffer may have now, of the order that is next. */
uint32_t tcp_rcv_limit(const struct tcp_sess *ts);
/* Shall n bytes more that came out of order be refused? */
bool tcp_memory_refuses(const struct tcp_sess *ts, uint32_t n);
/* Is it short?  Then connections that stand still are looked for. */
void tcp_memory_look(struct xk_rep *r);
void tcp_memory_init(struct xk_rep *r);
void tcp_memory_stop(struct xk_rep *r);

/* ---- tcp_control.c, tcp_profile.c ---------------------------------------------------------------------------------- */

int  tcp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);
int  tcp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len);
extern const struct xk_param tcp_params[];
#define TCP_CONF_SIZE 640u               /* enough for struct tcp_conf */
int  tcp_profile_resolve(const void *conf, struct tcp_tune *t);
int  tcp_profile_check(const void *conf, char *why, size_t n);
void tcp_profile_fill(void *conf);       /* what was not given, as the profile has it */
/* Parameter syn_times into ms, 0-terminated; returns how many were given. */
unsigned tcp_profile_syn_times(const void *conf, uint32_t *ms, unsigned max);

/* ---- the window in a header -------------------------------------------------------- */

/* Worked out again when what it is made of has changed. */
static inline uint32_t tcp_advertise(const struct tcp_sess *ts, struct tcp_cb *cb)
{
	uint32_t room = cb->rcv_buf - cb->rcv_held;

	if (cb->rcv_nxt != cb->adv_nxt || cb->rcv_adv != cb->adv_edge || room != cb->adv_room) {
		cb->adv_wnd = tcp_rcv_window(cb, tcp_rcv_limit(ts), true);
		cb->adv_nxt = cb->rcv_nxt;
		cb->adv_edge = cb->rcv_adv;
		cb->adv_room = room;
	}
	return cb->adv_wnd;
}

#endif
