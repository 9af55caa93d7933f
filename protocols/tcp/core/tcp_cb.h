/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_cb.h - the state of a connection as the RFCs have it: policy, segment, send queue,
 * control block, and the actions that input asks for.
 *
 * A control block (struct tcp_cb) is protocol state alone: no pointer into the
 * graph, so tests drive input and recovery with a block and a clock of their own.
 * The session (struct tcp_sess, sess/tcp_sess.h) embeds it.  Sequence numbers are compared
 * only by tcp_lt and its kin.  Times are milliseconds of the VP's clock in 32 bits,
 * compared by difference, unless a name says otherwise.
 */
#ifndef TCP_CB_H
#define TCP_CB_H

#include "protocols/tcp/core/tcp_hdr.h"
#include "protocols/tcp/tcp_state.h"
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_rand.h"
#include "runtime/msg/xk_msg_inline.h"

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
	uint32_t idle_compress;          /* ms of silence before an idle connection gives memory back; 0: never */
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
 * is that segment's record: `kept` of its descriptor (xk_msg.h) holds when and how often it
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
#define TCP_F_OUTPUT      0x40000000u    /* tcp_output is under way, or follows (a peer may answer inside our push) */
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
	uint32_t adv_wnd, adv_nxt, adv_edge, adv_room; /* the window in the last header, of what it was made */
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
	uint32_t sacked_out, retrans_out; /* bytes */
	uint32_t ssthresh;               /* bytes */
	uint32_t user_timeout;           /* ms, 0: none */
	uint32_t rtt_us;                 /* measured last; 0: HyStart++ has had it */
	uint8_t  hystart;                /* enum tcp_hs */
	uint8_t  hs_samples, hs_rounds;  /* of this round; of conservative slow start */
	uint8_t  train;                  /* full segments that one push may carry; 0: to be asked (again after a loss), 1: no more */
	/* Line 5 and on: loss, rare things. */
	bool     train_whole;            /* the device sends it as one: worth waiting for, where its bytes are written together */
	uint32_t challenge_at;           /* the second it counts, ms */
	uint32_t rtt_seq, rtt_at_us;     /* TCP_F_RTT */
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
	uint32_t acts;
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
/* As the graph counts them: behind XK_DROP_NOMEM and XK_DROP_UNSUPPORTED (sess/tcp_sess.h). */
enum { TCP_DROP_BASE = 1, TCP_DROPS(TCP_DROP_ENUM) };

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
	X(TRAINS, "super_segments_out") X(PRESSURE, "memory_pressure")  X(GIVEN_UP, "given_up_for_memory")
#define TCP_COUNT_ENUM(n, s) TCP_COUNT_##n,
enum { TCP_COUNTS(TCP_COUNT_ENUM) TCP_COUNT_N };

#endif
