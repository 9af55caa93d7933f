/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_priv.h - what the files of TCP share.
 *
 *   tcp_hdr.h        the header as bytes: load, store
 *   tcp_options.c    options of a segment: parse, build
 *   tcp_fsm.c        the table [state][event], names
 *   tcp_input.c      state + segment -> actions, touching nothing but the control block
 *   tcp_act.c        demux: finds the session, carries the actions out on messages
 *   tcp_run.c        demux_frames: runs of segments in order
 *   tcp_reass.c      what arrived out of order
 *   tcp_output.c     what may be sent now
 *   tcp_push.c       the operation push; a full segment's short way down
 *   tcp_emit.c       building a segment and pushing it
 *   tcp_sendq.c      what was pushed and is not acknowledged yet
 *   tcp_timer.c      the deadlines of a session behind one timer of the wheel
 *   tcp_ack.c        an acknowledgement in peace
 *   tcp_recovery.c   loss: RFC 6675, RACK-TLP (8985), PRR (6937), NewReno (6582), RTO (6298)
 *   tcp_cc.c         congestion control as const policies: reno, cubic, none
 *   tcp_hystart.c    leaving slow start before a loss (RFC 9406)
 *   tcp_open.c       active open, ports (RFC 6056), sequence numbers (RFC 6528), close, abort
 *   tcp_listen.c     passive open: SYN cache, cookies (RFC 4987)
 *   tcp_timewait.c   TIME-WAIT, capped
 *   tcp_stalled.c    closed windows, given up for room
 *   tcp_memory.c     queues while memory is short
 *   tcp_rest.c       idle connections give their working memory back
 *   tcp_control.c    control operations, ICMP (RFC 5927, 1191)
 *   tcp_profile.c    named sets of parameters
 *   tcp.c            descriptor, schema, start and stop
 *
 * A control block (struct tcp_cb) is protocol state alone: no pointer into the
 * graph, so tests drive input and recovery with a block and a clock of their own.
 * The session (struct tcp_sess) embeds it.  Sequence numbers are compared only by
 * tcp_lt and its kin.  Times are milliseconds of the VP's clock in 32 bits,
 * compared by difference, unless a name says otherwise.
 *
 * Lifetime.  rcnt counts holders above and pops in progress, nothing else.  At
 * rcnt 0 the operation close runs: it begins to end the connection (TCP_F_ORPHAN)
 * or, when the state is CLOSED, destroys the session; legal again and again.
 * tcp_finish ends a connection from inside: state CLOSED, timers off, queues freed,
 * holder told; it destroys the session itself when rcnt is 0.  After a call that
 * may finish (tcp_act, tcp_output, a timer), touch the session only when you hold a
 * reference.
 */
#ifndef TCP_PRIV_H
#define TCP_PRIV_H

#include "protocols/inet/inet_enable.h"
#include "protocols/ip/ip.h"
#include "protocols/tcp/tcp.h"
#include "protocols/tcp/tcp_hdr.h"
#include "runtime/upi/xk_deposit.h"
#include "runtime/upi/xk_upi_inline.h"

/* ---- sequence numbers --------------------------------------------------------- */

static inline uint32_t min32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline bool tcp_lt(uint32_t a, uint32_t b)  { return (int32_t)(a - b) < 0; }
static inline bool tcp_leq(uint32_t a, uint32_t b) { return (int32_t)(a - b) <= 0; }
static inline bool tcp_gt(uint32_t a, uint32_t b)  { return (int32_t)(a - b) > 0; }
static inline bool tcp_geq(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; }

/* ---- policy: what a profile names, a graph file changes ---------------------------- */

enum tcp_synopts { TCP_SYNOPTS_LINUX, TCP_SYNOPTS_BSD };  /* order and padding, see tcp_options.c */
enum tcp_hs { TCP_HS_OFF, TCP_HS_NEW, TCP_HS_ON, TCP_HS_CSS }; /* NEW: nothing was acknowledged yet; CSS: conservative */
enum tcp_cc_kind { TCP_CC_CUBIC, TCP_CC_RENO, TCP_CC_NONE, TCP_CC_COUNT };

/* Resolved once per node (tcp_profile.c), then const. */
struct tcp_tune {
	uint32_t rcv_buf, snd_buf;       /* bytes */
	uint32_t mss;                    /* largest we announce and send; 0: the path's */
	uint32_t min_mss;                /* a peer's smaller segments are obeyed, and few of them kept */
	uint32_t min_pmtu;               /* floor of what ICMP may say (RFC 1191) */
	uint8_t  wscale;                 /* shift we offer; 255: smallest that covers rcv_buf */
	bool     use_wscale, timestamps, sack, dsack, ecn, nagle;
	bool     rack, prr, tlp, limited_transmit, frto, newreno, abc;
	uint8_t  abc_limit;              /* L of RFC 3465, segments */
	uint8_t  cc;                     /* enum tcp_cc_kind */
	bool     hystart;                /* RFC 9406 */
	uint32_t hystart_min, hystart_max;          /* ms: MIN_RTT_THRESH, MAX_RTT_THRESH */
	uint8_t  hystart_samples, hystart_rounds;   /* N_RTT_SAMPLE, CSS_ROUNDS */
	uint8_t  synopts;                /* enum tcp_synopts */
	uint8_t  initial_window;         /* segments, 0: RFC 3390 */
	uint8_t  ack_every;              /* full segments per acknowledgement */
	uint8_t  quick_acks;             /* segments acknowledged at once after the handshake, and after a hole */
	bool     ack_push;               /* a segment with PSH is acknowledged at once */
	bool     window_exact;           /* an acknowledgement offers all the room, not whole segments more */
	uint8_t  window_update;          /* one by itself is due when 1/n of the buffer was read; 0: two segments */
	bool     ack_quiet;              /* an ACK of what was never sent is dropped, not answered */
	uint32_t tlp_min;                /* ms: shortest wait for a tail loss probe */
	bool     listen_quiet;           /* a SYN-ACK to a listener is dropped, not answered with RST */
	bool     whole_buffers;          /* rounded up to whole segments when the handshake tells their size */
	bool     idle_restart;           /* cwnd after an idle RTO back to the initial window (RFC 5681 4.1) */
	uint32_t delack;                 /* ms; 0: every segment at once */
	uint32_t rto_init, rto_min, rto_max;        /* ms */
	uint32_t persist_min, persist_max;          /* ms */
	uint8_t  syn_retries, synack_retries, retries;
	const uint32_t *syn_times;       /* ms between SYNs, 0-terminated; NULL: doubling from rto_init */
	uint32_t user_timeout;           /* ms of unacknowledged data, or of a closed window; 0: none */
	bool     keepalive;              /* on without being asked for */
	uint32_t keep_idle, keep_interval;  uint8_t keep_count;
	uint32_t rest;                   /* ms of silence before an idle connection gives memory back; 0: never */
	uint32_t msl;                    /* ms; TIME-WAIT is twice that */
	uint32_t fin_wait2;              /* ms an orphan waits for the peer's FIN */
	uint32_t challenge_limit;        /* challenge ACKs of a connection per second, randomised */
	uint32_t ooo_bytes, ooo_segments;   /* caps of one connection's reassembly */
	uint64_t ooo_total;              /* bytes, of a VP */
	uint32_t syncache;               /* entries of a VP */
	uint32_t backlog;                /* of them, of one listener */
	uint8_t  cookies;                /* 0 never, 1 when the cache is full, 2 always */
	uint32_t time_wait;              /* sessions in TIME-WAIT of a VP; the oldest goes */
	uint64_t sessions;               /* of a VP */
	uint32_t mem_pressure, mem_high; /* percent of the graph's memory, see tcp_memory.c */
	bool     checksum;               /* verify and compute */
	bool     rfc6191;                /* reuse of TIME-WAIT by a newer timestamp */
};

/* ---- a segment, parsed -------------------------------------------------------------- */

#define TCP_SACK_MAX 4
struct tcp_opts {
	uint8_t  have;                   /* TCP_O_* */
	uint8_t  wscale;                 /* clamped to 14 */
	uint8_t  nsack;
	uint16_t mss;
	uint16_t uto;                    /* RFC 5482, as sent */
	uint32_t tsval, tsecr;
	struct { uint32_t l, r; } sack[TCP_SACK_MAX];
};
#define TCP_O_MSS    0x01u
#define TCP_O_WSCALE 0x02u
#define TCP_O_SACKOK 0x04u
#define TCP_O_TS     0x08u
#define TCP_O_SACK   0x10u
#define TCP_O_UTO    0x20u

struct tcp_seg {
	uint32_t seq, ack;
	uint32_t len;                    /* payload bytes */
	uint16_t wnd, urp;
	uint16_t flags;                  /* TCP_FIN ... TCP_CWR, TCP_AE */
	uint8_t  ce;                     /* the two ECN bits of the network header */
	uint8_t  hlen;
	struct tcp_opts o;
};
/* Length in sequence space. */
static inline uint32_t tcp_seg_span(const struct tcp_seg *g)
{
	return g->len + !!(g->flags & TCP_SYN) + !!(g->flags & TCP_FIN);
}

/* ---- what is pushed and not acknowledged ----------------------------------------------
 *
 * A list of messages in order.  Before sending, a message is as it was pushed;
 * tcp_sendq_cut makes the next one exactly one segment.  From then on the message
 * is that segment's record: its descriptor's free fields hold when and how often it
 * went out, so a connection that sends nothing owns nothing.  Invariant: messages
 * before `unsent` cover [snd_una, snd_max) without a hole, except that the first may
 * begin earlier never, and a FIN or SYN takes one number without a message.
 */
struct tcp_sendq {
	struct xk_msg *first, *last, *unsent, *unsent_prev;
	uint32_t bytes;                  /* all, sent and not */
	uint32_t unsent_bytes;
};
/* Where the last walks of the queue stopped: each names a sent segment by pointer and
 * first number, and stands while that number is not below snd_una. */
struct tcp_sqwalk {
	struct xk_msg *sack_at, *rexmt_at;
	uint32_t sack_seq, rexmt_seq;
};
#define TCP_SQ_SACKED  0x01u
#define TCP_SQ_LOST    0x02u
#define TCP_SQ_RETRANS 0x04u             /* retransmitted since it was marked lost */
#define TCP_SQ_EVER    0x08u             /* retransmitted ever (Karn) */
#define TCP_SQ_PUSH    0x10u             /* PSH belongs at its end */
_Static_assert(TCP_SQ_PUSH == TCP_PSH << 1, "so that neither is asked for when one says the other");
static inline uint32_t *tcp_sq_seq(struct xk_msg *m)    { return &m->hash; }
static inline uint32_t *tcp_sq_sent_us(struct xk_msg *m) { return &m->aux; }  /* of the last time */
static inline uint16_t *tcp_sq_flags(struct xk_msg *m)  { return &m->vp; }
static inline uint16_t *tcp_sq_count(struct xk_msg *m)  { return &m->node; }   /* transmissions */

/* Bytes that a segment has room for at least, whatever the peer or the path says: each host takes
 * datagrams of 576 bytes (RFC 1122 3.3.2), each path 68. */
#define TCP_MSS_LEAST 8u
/* Segments smaller than min_mss that wait or are under way at most: each costs as much as a large one. */
#define TCP_SMALL_SEGS 256u

/* ---- timers ------------------------------------------------------------------------------ */

enum tcp_timer_no {
	TCP_T_REXMT,      /* RTO of the oldest, SYN and FIN included */
	TCP_T_PERSIST,    /* the peer's window is closed */
	TCP_T_DELACK,
	TCP_T_KEEP,       /* keepalive; in SYN states the time the handshake may take */
	TCP_T_2MSL,       /* TIME-WAIT; FIN-WAIT-2 of an orphan */
	TCP_T_REORDER,    /* RACK: wait for the reordering window */
	TCP_T_PROBE,      /* TLP */
	TCP_T_USER,       /* user timeout */
	TCP_T_COUNT
};

/* ---- the control block --------------------------------------------------------------------- */

#define TCP_F_ORPHAN      0x00000001u    /* nobody above any more */
#define TCP_F_MORE        0x00000002u    /* another push follows at once (XK_STREAM_MORE_FOLLOW) */
#define TCP_F_TOLD_OPEN   0x00000004u
#define TCP_F_TOLD_CLOSE  0x00000008u    /* close_done was called */
#define TCP_F_TS          0x00000010u    /* timestamps on both sides */
#define TCP_F_SACK        0x00000020u
#define TCP_F_WSCALE      0x00000040u
#define TCP_F_ECN         0x00000080u
#define TCP_F_ECE         0x00000100u    /* echo congestion until CWR comes */
#define TCP_F_CWR         0x00000200u    /* our next new segment carries CWR */
#define TCP_F_NODELAY     0x00000400u
#define TCP_F_CORK        0x00000800u
#define TCP_F_MANUAL      0x00001000u    /* received bytes count until taken */
#define TCP_F_FIN_QUEUED  0x00002000u    /* our FIN stands at the end of the queue */
#define TCP_F_FIN_SENT    0x00004000u
#define TCP_F_FIN_RCVD    0x00008000u    /* the peer's FIN has been taken in order */
#define TCP_F_ACK_NOW     0x00010000u    /* an acknowledgement is owed, at once */
#define TCP_F_ACK_LATER   0x00020000u    /* owed, DELACK runs */
#define TCP_F_WANT_ROOM   0x00040000u    /* ROOM answered 0: WRITABLE is owed */
#define TCP_F_URG_OUT     0x00080000u    /* snd_up is ahead of snd_una */
#define TCP_F_URG_IN      0x00100000u
#define TCP_F_RST_CLOSE   0x00200000u    /* xk_close resets (linger 0) */
#define TCP_F_RTT         0x00400000u    /* rtt_seq is being timed */
#define TCP_F_PMTU        0x00800000u    /* path MTU discovery is on (DF) */
#define TCP_F_KEEPALIVE   0x01000000u
#define TCP_F_DSACK       0x02000000u    /* dsack_l..r goes into the next acknowledgement */
#define TCP_F_UNDO        0x04000000u    /* prior_cwnd may be restored */
#define TCP_F_SMALL       0x08000000u    /* a small segment is unacknowledged (Minshall) */
#define TCP_F_DRAINING    0x10000000u    /* DRAINED is owed: asked for, or we have ended our side */
#define TCP_F_PASSIVE     0x20000000u    /* came from a listener */
#define TCP_F_OUTPUT      0x40000000u    /* tcp_output is under way (a peer may answer inside our push) */
#define TCP_F_FIN_ALONE   0x80000000u    /* our FIN went out in a segment of its own */

enum tcp_ca { TCP_CA_OPEN, TCP_CA_DISORDER, TCP_CA_CWR, TCP_CA_RECOVERY, TCP_CA_LOSS };

struct tcp_reass;
struct tcp_cc_ops;

struct tcp_cb {
	/* Line 0: what a segment in order touches. */
	uint32_t rcv_nxt;
	uint32_t rcv_adv;                /* right edge offered; never moves left */
	uint32_t rcv_acked;              /* rcv_nxt of the last acknowledgement sent */
	uint32_t ts_recent, ts_recent_at; /* RFC 7323; at in ms */
	uint32_t snd_una, snd_nxt, snd_max;
	uint32_t snd_wnd, snd_wl1, snd_wl2; /* bytes, scaled */
	uint32_t flags;                  /* TCP_F_* */
	uint8_t  state;                  /* enum tcp_state */
	uint8_t  snd_wscale, rcv_wscale; /* shift of what the peer, what we announce */
	uint8_t  ca_state;               /* enum tcp_ca */
	uint16_t mss;                    /* payload of a full segment, options taken off */
	uint8_t  unacked_full;           /* full segments received since the last acknowledgement */
	uint8_t  quick;                  /* quick acknowledgements left */
	uint32_t rcv_held;               /* MANUAL: passed up, not taken */
	uint32_t rcv_buf;
	/* Line 1: sending. */
	struct tcp_sendq sq;
	uint32_t snd_buf;
	uint32_t cwnd;                   /* bytes */
	uint32_t snd_end;                /* number of the byte after the last pushed; the FIN's */
	uint32_t lost_out;               /* bytes */
	struct tcp_reass *reass;         /* NULL: nothing out of order */
	/* Line 2: times.  Round trips (RFC 6298) in microseconds; srtt 0: none yet. */
	uint32_t srtt, rttvar;
	uint32_t rto;                    /* ms, not backed off */
	uint32_t max_wnd;                /* largest snd_wnd seen */
	uint32_t ts_off;                 /* of our timestamps (RFC 7323 7.1) */
	uint32_t idle_since;             /* ms of the last segment sent */
	uint32_t again_us;               /* when something went again, last: see tcp_stamp */
	uint32_t due;                    /* the earliest set since tcp_timer_sync; 0: none was */
	uint32_t at[TCP_T_COUNT];        /* deadlines, ms; 0: off */
	/* Line 3: what each header and each acknowledgement needs besides. */
	uint32_t said, said_nxt, said_adv, said_room; /* the window in the last header, of what it was made */
	const struct tcp_tune *tune;
	uint64_t segs_out, bytes_acked;
	uint32_t high_sacked;            /* right edge of the highest SACK block */
	uint32_t recover;                /* snd_max when recovery began (RFC 6582) */
	uint32_t rack_us, rack_end, rack_rtt, rack_min_rtt; /* RFC 8985: xmit time, end seq, rtt (us) */
	/* Line 4: counters of what comes, what an acknowledgement clears. */
	uint64_t segs_in, bytes_received;
	const struct tcp_cc_ops *cc;
	uint32_t last_rcv;               /* ms of the last segment received (keepalive) */
	uint8_t  dupacks, backoff;       /* backoff: doublings of rto, persist and SYN probes, too */
	uint8_t  retries;                /* of SYN, probes, keepalives in a row */
	uint8_t  frto;                   /* RFC 5682: 0 off, 1 head sent again, 2 new data sent since */
	bool     tlp_out, tlp_retrans;
	uint8_t  challenge_n;            /* challenge ACKs sent in this second */
	uint8_t  cc_kind;
	uint32_t snd_sml;                /* end of the last small segment sent (Minshall) */
	uint32_t rtt_seq, rtt_at_us;     /* TCP_F_RTT */
	uint32_t ssthresh;               /* bytes */
	uint32_t user_timeout;           /* ms, 0: none */
	uint32_t rtt_us;                 /* measured last; 0: HyStart++ has had it */
	uint8_t  hystart;                /* enum tcp_hs */
	uint8_t  hs_samples, hs_rounds;  /* of this round; of conservative slow start */
	/* Line 5 and on: loss, rare things. */
	uint32_t challenge_at;           /* the second it counts, ms */
	uint32_t sacked_out, retrans_out; /* bytes */
	uint32_t sacked_segs;            /* segments of sacked_out */
	struct tcp_sqwalk walk;
	struct { uint32_t l, r; } sack_seen[TCP_SACK_MAX]; /* blocks of the last ACK, marked whole */
	uint32_t undo_ts;                /* TSval of the first retransmission (RFC 3522) */
	uint32_t prr_delivered, prr_out, prr_target; /* RFC 6937 */
	uint32_t prior_cwnd, prior_ssthresh, undo_marker, undo_retrans;
	uint32_t acked_bytes;            /* RFC 3465 */
	uint32_t hs_end;                 /* snd_max when this round began */
	uint32_t hs_least, hs_last, hs_base; /* us: least of this round, of the one before, when conservative slow start began */
	uint8_t  rack_reo_mult, rack_persist; bool rack_reordering, rack_dsack;
	uint32_t rack_round;             /* RACK.dsack_round */
	uint32_t tlp_end;                /* TLP.end_seq; valid with tlp_out */
	uint32_t ecn_high;               /* one reduction per window (RFC 3168) */
	uint32_t iss, irs, snd_up, rcv_up, rcv_fin;
	uint32_t dsack_l, dsack_r;
	uint32_t ooo_recent;             /* a number in the block that grew last (RFC 2018: first block) */
	uint16_t peer_mss;               /* its option, or 536 */
	uint16_t path_mss;               /* what the way allows, TCP_CTL_MAXSEG applied */
	uint32_t fin_wait2;              /* ms */
	uint32_t keep_idle, keep_interval; uint8_t keep_count;
	int32_t  err;                    /* XK_E_* that ended it */
	union { uint64_t w[6]; } cc_priv; /* cubic's own */
	uint64_t retransmits;
};

/* What a function of protocol state alone may ask of the world. */
struct tcp_env {
	xk_ns           now_ns;
	uint32_t        now;             /* ms, never 0 */
	uint32_t        now_us;
	struct xk_rand *rand;
	xk_counter     *count;           /* [TCP_COUNT_*] */
};
static inline uint32_t tcp_ms(xk_ns t)
{
	uint32_t v = (uint32_t)(t / XK_MS);

	return v != 0 ? v : 1;
}
/* Deadline `ms` from now; 0 means off, so it is never that. */
static inline uint32_t tcp_deadline(uint32_t now, uint32_t ms)
{
	uint32_t v = now + ms;

	return v != 0 ? v : 1;
}

/* First sequence number that the peer's window does not take. */
static inline uint32_t tcp_snd_edge(const struct tcp_cb *cb) { return cb->snd_una + cb->snd_wnd; }

/* Is all that was pushed acknowledged, our end, when it came, too? */
static inline bool tcp_drained(const struct tcp_cb *cb)
{
	return cb->snd_una == cb->snd_max && cb->sq.bytes == 0 &&
	       (!(cb->flags & TCP_F_FIN_QUEUED) || tcp_gt(cb->snd_una, cb->snd_end));
}

/* ---- actions: what input asks to be done ------------------------------------------------------ */

#define TCP_A_DATA      0x0001u   /* payload [skip, skip+take) is in order: pass it up */
#define TCP_A_OOO       0x0002u   /* the same, out of order: keep it */
#define TCP_A_FIN       0x0004u   /* its FIN stands right behind that payload */
#define TCP_A_OPENED    0x0008u   /* active open (or simultaneous) has come to ESTABLISHED */
#define TCP_A_ACKED     0x0010u   /* snd_una moved: the send queue was trimmed, room may have come */
#define TCP_A_OUTPUT    0x0020u   /* try to send */
#define TCP_A_ACK       0x0040u   /* acknowledge at once */
#define TCP_A_RESET     0x0080u   /* answer with RST: rst_seq, rst_ack, rst_flags */
#define TCP_A_FINISH    0x0100u   /* the connection is over: err (0: in peace) */
#define TCP_A_TIME_WAIT 0x0200u   /* has entered (or must restart) TIME-WAIT */
#define TCP_A_URGENT    0x0400u
#define TCP_A_DROP      0x0800u   /* nothing of it is used: reason */
#define TCP_A_REUSE     0x1000u   /* TIME-WAIT gives way to this SYN: finish, then listen */
#define TCP_A_DRAINED   0x2000u   /* snd_una has reached snd_max and all that was pushed */
#define TCP_A_SYN       0x4000u   /* simultaneous open: our SYN-ACK, (again) */
struct tcp_acts {
	uint32_t do_;
	uint32_t skip, take;
	uint32_t rst_seq, rst_ack;
	uint16_t rst_flags;
	uint16_t drop;                   /* TCP_DROP_* */
	int32_t  err;
};

/* ---- drops and counters ------------------------------------------------------------------------- */

#define TCP_DROPS(X) \
	X(SHORT, "short")             X(OFFSET, "bad_offset") \
	X(CHECKSUM, "bad_checksum")   X(PORT_ZERO, "port_zero") \
	X(SOURCE, "bad_source")       X(LAND, "land") \
	X(NO_PORT, "port_closed")     X(FLAGS, "bad_flags") \
	X(SEQ, "outside_window")      X(PAWS, "paws") \
	X(ACK_OLD, "ack_too_old")     X(ACK_NEW, "ack_of_nothing_sent") \
	X(NO_ACK, "no_ack")           X(RST, "bad_rst") \
	X(SYN, "unexpected_syn")      X(DUP, "duplicate") \
	X(WINDOW, "beyond_window")    X(AFTER_CLOSE, "data_after_close") \
	X(OOO_FULL, "reassembly_full") X(REFUSED, "refused") \
	X(SESSIONS, "too_many_sessions") X(SYNCACHE, "syn_cache_full") \
	X(COOKIE, "bad_cookie")       X(ELSEWHERE, "session_elsewhere") \
	X(OVERRUN, "push_without_room") X(CLOSED, "push_after_end") \
	X(LISTEN, "not_a_syn")        X(STATE, "not_in_this_state")
#define TCP_DROP_ENUM(n, s) TCP_DROP_##n,
enum { TCP_DROP_BASE = XK_DROP_FIRST - 1, TCP_DROPS(TCP_DROP_ENUM) };

#define TCP_COUNTS(X) \
	X(PREDICTED, "predicted")       X(SLOW, "not_predicted") \
	X(REXMT, "retransmitted")       X(RTO, "timeouts") \
	X(FAST, "fast_recoveries")      X(TLP, "tail_loss_probes") \
	X(DUPACK, "duplicate_acks_in")  X(OOO, "out_of_order") \
	X(ACK_OUT, "acks_out")          X(CHALLENGE, "challenge_acks") \
	X(RST_IN, "resets_in")          X(RST_OUT, "resets_out") \
	X(OPENED, "opened")             X(ACCEPTED, "accepted") \
	X(CLOSED, "closed")             X(COOKIE_OUT, "cookies_sent") \
	X(COOKIE_IN, "cookies_accepted") X(TIMED_OUT, "timed_out") \
	X(KEEP, "keepalives")           X(PERSIST, "window_probes") \
	X(UNDO, "spurious_recoveries")  X(ERRORS_IN, "icmp_errors_in") \
	X(PMTU, "path_mtu_lowered")     X(REROUTED, "rerouted") \
	X(PRESSURE, "memory_pressure")  X(GIVEN_UP, "given_up_for_memory")
#define TCP_COUNT_ENUM(n, s) TCP_COUNT_##n,
enum { TCP_COUNTS(TCP_COUNT_ENUM) TCP_COUNT_N };
_Static_assert(TCP_COUNT_N <= XK_COUNTS_MAX, "counters of a protocol");

/* ---- objects of the graph ------------------------------------------------------------------------ */

#define TCP_SYN_TIMES 32u
struct tcp_conf;                         /* parameters as parsed: tcp_profile.c */
#define TCP_DEFERS 16u
struct tcp_node {                        /* struct xk_node.state */
	struct tcp_tune tune;
	uint64_t defer[TCP_DEFERS];      /* port << 32 | ms; 0: free (TCP_CTL_DEFER) */
	uint64_t port_mss[TCP_DEFERS];   /* port << 32 | bytes; 0: free (TCP_CTL_LISTEN_MSS) */
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
	struct xk_slab  live_slab;       /* of struct tcp_live */
	struct tcp_live *dead;           /* of all that ended for want of memory */
	struct xk_slab  reass_slab;      /* of TCP_REASS_OBJ: struct tcp_reass and its nodes */
	uint64_t        ooo_bytes;       /* held by this VP's connections */
	struct tcp_sess *tw_first, *tw_last; /* TIME-WAIT, oldest first: tcp_timewait.c */
	uint32_t        tw_n;
	struct tcp_sess *stalled[TCP_STALLED]; /* a ring: tcp_stalled.c */
	uint32_t        stalled_at, stalled_n;
	struct xk_timer mem_timer;       /* tcp_memory.c: runs while memory is short */
	struct xk_rep  *mem_rep;         /* whose it is */
	uint64_t        mem_at;          /* how far it has come in live_slab */
	bool            mem_watched;     /* it runs */
	bool            mem_over;        /* but for a last look, at those who wait */
	xk_ns           cookie_until;    /* a cookie of ours may come back */
	struct tcp_open_with with;       /* of the next tcp_open (TCP_CTL_OPEN_WITH) */
	uint32_t        port_step[TCP_PORT_SLOTS]; /* RFC 6056 3.3.4: how far ports have come */
};
static inline struct tcp_rep *tcp_rep(const struct xk_rep *r) { return r->state; }

/*
 * A session is two objects: what finds it and is true of it for as long as it lives,
 * and what it needs while something happens (struct tcp_live, from a slab of the
 * replica, named by s.hot).  A connection that stands and is idle has only the
 * first: it is at rest.  Whoever comes from outside wakes it before it looks at
 * tcp_cb or tcp_live; once awake it stays so while something is under way.
 */
struct tcp_rest {                        /* tcp_rest.c; valid while at rest */
	uint32_t rcv_nxt, rcv_adv, snd_una, snd_wnd, max_wnd, flags;
	uint32_t cwnd, ssthresh, srtt, rttvar, cc, ts_recent, idle_since;
	uint16_t peer_mss, path_mss;
	uint16_t ts_recent_at;           /* in units of 65.5 s */
	uint8_t  wscales;                /* ours, the peer's: four bits each */
	uint8_t  quick;
};
struct tcp_sess {
	struct xk_sess  s;               /* s.hot: its struct tcp_live's cb; 0: at rest, s.own and s.aux count for rest */
	int32_t         pops;            /* of s.rcnt: pops in progress (tcp_act.c) */
	struct tcp_rest rest;
};
#ifndef XK_DEBUG
_Static_assert(sizeof(struct tcp_sess) == 3 * XK_CACHELINE, "three lines at rest");
#endif
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
	struct tcp_sess *tw_next, *tw_prev;
};
_Static_assert(offsetof(struct tcp_live, cb) == XK_CACHELINE, "one line before the control block");
static inline struct tcp_sess *tcp_sess(struct xk_sess *s) { return (struct tcp_sess *)(void *)s; }
static inline struct tcp_cb *tcp_cb(const struct tcp_sess *ts) { return (struct tcp_cb *)(uintptr_t)ts->s.hot; }
static inline struct tcp_live *tcp_live(const struct tcp_sess *ts)
{
	return xk_container_of(tcp_cb(ts), struct tcp_live, cb);
}
static inline bool tcp_rests(const struct tcp_sess *ts) { return ts->s.hot == 0; }
/* Ports, host order; the key is as a received header says it. */
static inline uint16_t tcp_lport(const struct tcp_sess *ts) { return tcp_ports_destination((uint32_t)ts->s.map.key.w[1]); }
static inline uint16_t tcp_rport(const struct tcp_sess *ts) { return tcp_ports_source((uint32_t)ts->s.map.key.w[1]); }
/* Does anybody above keep it? */
static inline bool tcp_held(const struct tcp_sess *ts) { return ts->s.rcnt > ts->pops; }
static inline struct tcp_env tcp_env(struct xk_rep *r)
{
	xk_ns now = r->vp->now;

	return (struct tcp_env){ now, tcp_ms(now), (uint32_t)(now / XK_US), &r->vp->rand,
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

/* ---- tcp_options.c ------------------------------------------------------------------------------ */

/* Parses hlen - 20 bytes; false: malformed (what was read before stands, bounded time). */
bool tcp_opts_parse(struct tcp_opts *o, const uint8_t *p, uint32_t len);
/* Options of a SYN or SYN-ACK; returns their length, a multiple of 4, at most 40. */
uint32_t tcp_opts_syn(uint8_t *p, const struct tcp_opts *o, enum tcp_synopts order);
/* Of any later segment: timestamps, then as many SACK blocks as fit. */
uint32_t tcp_opts_store(uint8_t *p, const struct tcp_opts *o);
/* Bytes that options take from every data segment of this connection. */
static inline uint32_t tcp_opts_usual(const struct tcp_cb *cb) { return cb->flags & TCP_F_TS ? 12 : 0; }

/* ---- tcp_input.c --------------------------------------------------------------------------------- */

/* Any state but LISTEN and CLOSED.  Changes cb and says in *a what is left to
 * do; payload is not looked at.  rcv_nxt is advanced over [skip, take) and the FIN by
 * tcp_act after delivery, not here. */
void tcp_input(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, struct tcp_acts *a);
/* What CLOSED answers (RFC 9293 3.10.7.1): RESET or nothing. */
void tcp_input_closed(const struct tcp_seg *g, struct tcp_acts *a);
/* The peer's FIN has been reached (in order): state and flags; TIME_WAIT and so on in *a. */
void tcp_input_fin(struct tcp_cb *cb, const struct tcp_env *e, struct tcp_acts *a);
/* True when the limit of challenge ACKs lets one more out (counted). */
bool tcp_challenge(struct tcp_cb *cb, const struct tcp_env *e);
/* What moving snd_una to ack means for all but the congestion window. */
void tcp_input_advance(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a);
/* Handshake options of the peer's SYN are applied: scale, timestamps, SACK, mss.
 * rcv_wscale holds what we offered. */
void tcp_negotiate(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g);

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
void tcp_reass_free(struct tcp_sess *ts);
uint32_t tcp_reass_bytes(const struct tcp_cb *cb, uint32_t *segments);

/* ---- tcp_act.c ------------------------------------------------------------------------------------ */

void tcp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* Any segment, by itself; tcp_ack.c: one that may be an acknowledgement and nothing else. */
void tcp_demux_one(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void tcp_ack_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* tcp_run.c: of one connection's segments those that are its next data, together. */
unsigned tcp_demux_frames(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f);
bool     tcp_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len, struct xk_payload *p);
void tcp_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void tcp_enter(struct xk_rep *r, struct xk_msg *m);
/* Runs one parsed segment, header still in front of m's data, through a session
 * (a new one from the SYN cache, say).  Consumes m.  The caller holds a reference. */
void tcp_act(struct tcp_sess *ts, const struct tcp_seg *g, struct xk_msg *m);
/* Tells the holder above; nothing when there is none. */
void tcp_tell(struct tcp_sess *ts, enum xk_stream_what what, int err);
/* DRAINED, where it is owed and all has been acknowledged. */
void tcp_tell_drained(struct tcp_sess *ts);
void tcp_tell_close(struct tcp_sess *ts);

/* ---- tcp_sendq.c ----------------------------------------------------------------------------------- */

void tcp_sendq_put(struct tcp_cb *cb, struct xk_msg *m);      /* advances snd_end */
/* Makes the first unsent message exactly one segment of at most len bytes, and of
 * exactly that when there is as much: splits, joins.  NULL: nothing unsent, or no
 * memory (as before, then). */
struct xk_msg *tcp_sendq_cut(struct tcp_cb *cb, uint32_t len);
/* It has been sent for the first time with sequence number seq. */
void tcp_sendq_sent(struct tcp_cb *cb, struct xk_msg *m, uint32_t seq, uint32_t now_us);
/* Frees what lies before una, the part of a segment included. */
void tcp_sendq_acked(struct tcp_cb *cb, uint32_t una);
/* Cuts a sent segment after len bytes; both halves keep its record.  False: no memory. */
bool tcp_sendq_recut(struct tcp_cb *cb, struct xk_msg *m, uint32_t len);
void tcp_sendq_free(struct tcp_cb *cb);

/* ---- tcp_output.c ----------------------------------------------------------------------------------- */

/* Sends all that windows, Nagle, recovery and pending acknowledgements ask for. */
void tcp_output(struct tcp_sess *ts);
/* The operation push. */
void tcp_push(struct xk_sess *s, struct xk_msg *m);
/* Window to announce now, bytes (never shrinks: RFC 9293 3.8.6.2.2); updates rcv_adv
 * when `commit`. */
uint32_t tcp_rcv_window(struct tcp_cb *cb, bool commit);
/* The application consumed n bytes: an update is sent when it is worth one. */
void tcp_window_opened(struct tcp_sess *ts, uint32_t n);
void tcp_send_ack(struct tcp_sess *ts);
/* A segment of the handshake, or a probe with the sequence number seq and no data. */
void tcp_send_syn(struct tcp_sess *ts);
void tcp_send_probe(struct tcp_sess *ts, uint32_t seq);
void tcp_send_rst(struct tcp_sess *ts);
/* Room in the send buffer: a push of so much is taken. */
uint32_t tcp_room(const struct tcp_cb *cb);
/* WRITABLE, where it is owed and there is room worth it. */
void tcp_tell_room(struct tcp_sess *ts);
/* mss from path_mss, peer_mss, options. */
void tcp_set_mss(struct tcp_cb *cb);
/* Both buffers up to whole segments (tune.whole_buffers). */
void tcp_round_buffers(struct tcp_cb *cb);

/* ---- tcp_emit.c -------------------------------------------------------------------------------------- */

/* A segment without a session: an answer to m's sender (RST, SYN-ACK of the SYN
 * cache).  lls: where it came from, or NULL; opts may be NULL.  m is only read. */
void tcp_answer(struct xk_rep *r, struct xk_sess *lls, const struct xk_msg *m, uint32_t seq, uint32_t ack,
		uint16_t flags, uint16_t wnd, const uint8_t *opts, uint32_t nopts);
/* One segment of the session: header, options, checksum.  data NULL: none; else it
 * is shared, and stays in the queue. */
bool tcp_emit(struct tcp_sess *ts, uint32_t seq, struct xk_msg *data, uint16_t flags);

/* ---- tcp_timer.c -------------------------------------------------------------------------------------- */

void tcp_timer_init(struct tcp_sess *ts);
void tcp_timer_sync_all(struct tcp_sess *ts);
/* After cb.at was changed: the wheel's timer is early enough, as it nearly always was,
 * because nothing was set that is earlier. */
static inline void tcp_timer_sync(struct tcp_sess *ts)
{
	struct tcp_live *live = tcp_live(ts);
	uint32_t due = live->cb.due;

	live->cb.due = 0;
	if (XK_UNLIKELY(live->wheel_at == 0 || (due != 0 && (int32_t)(due - live->wheel_at) < 0)))
		tcp_timer_sync_all(ts);
}
void tcp_timer_stop(struct tcp_sess *ts);       /* all off */
/* The wheel calls in ms, though nothing is due then. */
void tcp_timer_look(struct tcp_sess *ts, uint32_t ms);
static inline void tcp_timer_at(struct tcp_cb *cb, enum tcp_timer_no t, uint32_t at)
{
	cb->at[t] = at;
	if (cb->due == 0 || (int32_t)(at - cb->due) < 0)
		cb->due = at;
}
static inline void tcp_timer_arm(struct tcp_cb *cb, const struct tcp_env *e, enum tcp_timer_no t, uint32_t ms)
{
	tcp_timer_at(cb, t, tcp_deadline(e->now, ms));
}
static inline void tcp_timer_off(struct tcp_cb *cb, enum tcp_timer_no t) { cb->at[t] = 0; }
/* len bytes came in order: an acknowledgement is owed, now or when DELACK fires
 * (RFC 1122 4.2.3.2, RFC 5681 4.2); the first few at once, for slow start. */
static inline void tcp_owe_ack(struct tcp_cb *cb, const struct tcp_env *e, uint32_t len, bool push)
{
	const struct tcp_tune *t = cb->tune;
	unsigned n = cb->unacked_full + (len > cb->mss ? 2u : 1u);

	cb->unacked_full = (uint8_t)(n < 255 ? n : 255);
	/* tcp_emit counts cb->quick down. */
	if (cb->quick != 0 || n >= t->ack_every || (push && t->ack_push) || t->delack == 0) {
		cb->flags |= TCP_F_ACK_NOW;
	} else if (!(cb->flags & TCP_F_ACK_LATER)) {
		cb->flags |= TCP_F_ACK_LATER;
		tcp_timer_arm(cb, e, TCP_T_DELACK, t->delack);
	}
}
/* rto << backoff, within the bounds. */
static inline uint32_t tcp_rto_now(const struct tcp_cb *cb)
{
	uint64_t ms = (uint64_t)cb->rto << cb->backoff;

	return ms < cb->tune->rto_max ? (uint32_t)ms : cb->tune->rto_max;
}

/* ---- tcp_rest.c ------------------------------------------------------------------------------------------ */

/* A session at rest gets its working memory; false: there is none, and nothing has changed. */
bool tcp_wake(struct tcp_sess *ts);
/* The same where the connection cannot go on without: it ends (RST, FAILED) and is
 * CLOSED, with memory that all such share.  It may be gone when nobody holds it. */
bool tcp_wake_or_end(struct tcp_sess *ts);
/* tcp_abort of one at rest: needs no memory. */
void tcp_rest_abort(struct tcp_sess *ts);
/* What it would be awake, in *l; the session is as it was. */
void tcp_rest_copy(const struct tcp_sess *ts, struct tcp_live *l);
/* Nothing is due: is it idle?  Then it goes to rest, or is looked at again later. */
void tcp_rest_look(struct tcp_sess *ts);
/* A new connection, about which the peer has said nothing yet. */
void tcp_rest_soon(struct tcp_sess *ts);

/* ---- tcp_ack.c ------------------------------------------------------------------------------------------- */

/* An ACK of new data, no larger than snd_max, in ca_state OPEN, without blocks: what
 * tcp_rec_ack and tcp_input_advance make of it.  False, and nothing has changed: it is for those. */
bool tcp_ack_quick(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a);

/* ---- tcp_recovery.c ------------------------------------------------------------------------------------ */

void tcp_rec_init(struct tcp_cb *cb);            /* cwnd, ssthresh, rto */
/* The handshake is over; again: our SYN went out more than once. */
void tcp_rec_open(struct tcp_cb *cb, bool again);
void tcp_rtt_sample(struct tcp_cb *cb, uint32_t us);
uint32_t tcp_rto_of(const struct tcp_cb *cb);    /* what RFC 6298 makes of srtt and rttvar, ms */
/* An acceptable ACK came; called by tcp_input before snd_una moves and before the
 * queue is trimmed.  Marks, measures, adjusts cwnd; asks for OUTPUT in *a. */
void tcp_rec_ack(struct tcp_cb *cb, const struct tcp_env *e, const struct tcp_seg *g, bool window_changed,
		 struct tcp_acts *a);
/* The next segment to retransmit that the window allows, or NULL. */
struct xk_msg *tcp_rec_next(struct tcp_cb *cb, const struct tcp_env *e);
/* Bytes of new data that may be in flight besides what is: min(cwnd, snd_wnd) - flight. */
uint32_t tcp_rec_allow(const struct tcp_cb *cb);
void tcp_rec_sent(struct tcp_cb *cb, const struct tcp_env *e, struct xk_msg *m, bool again);
/* Timers that fired. */
void tcp_rec_timeout(struct tcp_cb *cb, const struct tcp_env *e);
void tcp_rec_reorder(struct tcp_cb *cb, const struct tcp_env *e);
/* What TLP sends: a new segment when there is one, else the last one again; arms REXMT. */
void tcp_rec_probe(struct tcp_sess *ts);
void tcp_rec_arm(struct tcp_cb *cb, const struct tcp_env *e);  /* REXMT or PROBE for what is in flight */
void tcp_rec_ecn(struct tcp_cb *cb, const struct tcp_env *e);  /* the peer echoed congestion */

/* ---- tcp_cc.c -------------------------------------------------------------------------------------------- */

struct tcp_cc_ops {
	const char *name;
	bool       unlimited;            /* cwnd is TCP_CWND_MAX but for many timeouts in a row: the two windows alone limit */
	void     (*init)(struct tcp_cb *cb);
	/* acked new bytes, no recovery going on; may raise cwnd. */
	void     (*acked)(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked);
	/* ssthresh after a loss or an ECN echo, bytes. */
	uint32_t (*reduced)(struct tcp_cb *cb, const struct tcp_env *e);
	void     (*timeout)(struct tcp_cb *cb, const struct tcp_env *e);
	void     (*undo)(struct tcp_cb *cb);
	/* What of its own an idle connection keeps: all 0 at first. */
	uint32_t (*rest)(const struct tcp_cb *cb);
	void     (*wake)(struct tcp_cb *cb, uint32_t kept);
};
extern const struct tcp_cc_ops tcp_cc_table[TCP_CC_COUNT];

/* ---- tcp_open.c -------------------------------------------------------------------------------------------- */

struct xk_sess *tcp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err);
/* A session over lls (takes the reference when it succeeds), not bound, cb zeroed
 * but for tune, buffers and recovery.  NULL with *err. */
struct tcp_sess *tcp_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls, int *err);
/* Of a zeroed block, what the node's parameters say. */
void tcp_cb_init(struct tcp_cb *cb, const struct tcp_tune *t);
/* What stands before the block in *l; false: the layer below has no header sum. */
bool tcp_live_header(const struct tcp_sess *ts, struct tcp_live *l);
/* Binds, announces, prepares header sums and mss: XK_E_EXIST when it exists elsewhere. */
int  tcp_sess_bind(struct tcp_sess *ts, const struct xk_key *k);
void tcp_sess_free(struct tcp_sess *ts);
void tcp_close(struct xk_sess *s);
void tcp_shutdown(struct tcp_sess *ts);         /* FIN behind what is queued */
void tcp_abort(struct tcp_sess *ts);            /* RST, then finish without an event */
/* The connection is over: see Lifetime.  err 0: no FAILED. */
void tcp_finish(struct tcp_sess *ts, int err);
uint32_t tcp_isn(const struct xk_rep *r, const struct xk_key *k);      /* RFC 6528 */
uint32_t tcp_ts_offset(const struct xk_rep *r, const struct xk_key *k);
uint64_t tcp_siphash(uint64_t k0, uint64_t k1, uint64_t a, uint64_t b, uint64_t c); /* 2-4, of 24 bytes */
uint64_t tcp_hash(const struct tcp_node *n, uint64_t a, uint64_t b, uint64_t c); /* keyed by the node's secret */
/* Payload that a segment without options may have over lls (NULL: by default), tune.mss applied. */
uint32_t tcp_path_mss(struct xk_rep *r, struct xk_sess *lls);

/* ---- tcp_listen.c ---------------------------------------------------------------------------------------------- */

/* A segment for no session of this VP, checksum good: LISTEN's, the SYN cache's,
 * or CLOSED's business.  Consumes m. */
void tcp_listen_input(struct xk_rep *r, struct xk_sess *lls, const struct tcp_seg *g, const struct xk_key *k,
		      struct xk_msg *m);
int  tcp_defer_set(struct xk_rep *r, const void *buf, unsigned len);   /* TCP_CTL_DEFER */
int  tcp_listen_mss_set(struct xk_rep *r, const void *buf, unsigned len); /* TCP_CTL_LISTEN_MSS */
int  tcp_open_with(struct xk_rep *r, const void *buf, unsigned len);   /* TCP_CTL_OPEN_WITH */
int  tcp_syncache_init(struct xk_rep *r);
void tcp_syncache_clear(struct xk_rep *r);
void tcp_syncache_fini(struct xk_rep *r);
uint32_t tcp_syncache_count(const struct xk_rep *r);
/* ICMP about a connection in the cache. */
void tcp_syncache_error(struct xk_rep *r, const struct xk_key *k, uint32_t seq);

/* ---- tcp_timewait.c ---------------------------------------------------------------------------------------------- */

void tcp_timewait_enter(struct tcp_sess *ts);   /* or restart; reclaims the oldest at the cap */
void tcp_timewait_leave(struct tcp_sess *ts);   /* legal when not in it */

/* ---- tcp_stalled.c ------------------------------------------------------------------------------------------------ */

void tcp_stalled_note(struct tcp_sess *ts);     /* a probe of its closed window has gone out */
/* Gives up the connection that has stood still for the longest; false: none does. */
bool tcp_stalled_reclaim(struct xk_rep *r);

/* ---- tcp_memory.c -------------------------------------------------------------------------------------------------- */

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

/* ---- tcp_fsm.c -------------------------------------------------------------------------------------------------------- */

enum tcp_event {                         /* how tcp_input classifies a segment that is in the window */
	TCP_E_RST, TCP_E_SYN, TCP_E_ACK, TCP_E_DATA, TCP_E_FIN,
	TCP_E_ACK_OF_FIN,                /* our FIN is acknowledged */
	TCP_E_CLOSE,                     /* the application ends its side */
	TCP_E_COUNT
};
enum tcp_fsm_act {
	TCP_FSM_IGNORE,                  /* nothing happens */
	TCP_FSM_TAKE,                    /* it is what was waited for: go to next */
	TCP_FSM_CHALLENGE,               /* an ACK for an answer, no more (RFC 5961) */
	TCP_FSM_RESET,                   /* answered with RST */
	TCP_FSM_FINISH,                  /* over, in peace */
	TCP_FSM_FAIL,                    /* over, the holder is told why */
};
struct tcp_fsm_cell { uint8_t act; uint8_t next; const char *why; };
extern const struct tcp_fsm_cell tcp_fsm[TCP_S_COUNT][TCP_E_COUNT];

#endif
