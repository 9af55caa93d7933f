/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_priv.h - what the files of the reader share.
 *
 *   pkt_lex.c        memory of a script, places, tokens
 *   pkt_parse.c      options, times, events
 *   pkt_parse_seg.c  segments and ICMP messages
 *   pkt_parse_call.c calls: arguments, results
 *   pkt_words.c      constants by name
 *   pkt_seg.c        segments as bytes, both ways
 *   pkt_show.c       segments in the script's notation
 *   pkt_match.c      the script's numbers and the wire's; is it what was expected?
 *   pkt_sock.c       a program's descriptors, and their bytes
 *   pkt_call.c       the calls of a program
 *   pkt_option.c     socket options
 *   pkt_code.c       %{ assertions }%
 *   pkt_shell.c      `commands`: parameters, or a note
 *   pkt_graph.c      the graph of a run
 *   pkt_report.c     what a run says of an event
 *   pkt_run.c        events in their order, time
 *
 * Times are nanoseconds of the graph's clock since the run began.
 */
#ifndef PKT_PRIV_H
#define PKT_PRIV_H

#include <stdint.h>

#include "protocols/sock/xk_sock.h"
#include "protocols/tcp/tcp.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"
#include "tools/pkt/pkt.h"

/* ---- a parsed script ---------------------------------------------------------------- */

struct pkt_arena { struct pkt_block *first; };
void *pkt_get(struct pkt_arena *a, size_t n);             /* zeroed; aborts when memory is out */
char *pkt_text(struct pkt_arena *a, const char *s, size_t n);
void pkt_arena_free(struct pkt_arena *a);

enum pkt_xkind { PKT_X_ANY, PKT_X_INT, PKT_X_TEXT, PKT_X_WORD, PKT_X_CALL, PKT_X_LIST, PKT_X_STRUCT, PKT_X_FIELD };
/* An argument or result.  CALL: htons(8080); FIELD: events = POLLIN. */
struct pkt_expr {
	enum pkt_xkind    kind;
	int64_t           v;
	const char       *s;
	unsigned          n;
	struct pkt_expr **kid;
};

enum pkt_tkind { PKT_AT, PKT_AFTER, PKT_WHENEVER };
struct pkt_time {
	enum pkt_tkind kind;
	bool     range;                  /* 1~2 */
	bool     blocks;                 /* 1...2: a call that returns later */
	int64_t  from, to;               /* ns */
};

enum pkt_okind { PKT_O_EOL, PKT_O_NOP, PKT_O_MSS, PKT_O_WSCALE, PKT_O_SACKOK, PKT_O_SACK, PKT_O_TS, PKT_O_FO,
		 PKT_O_RAW };
#define PKT_OPTS_MAX 40
struct pkt_opt {
	enum pkt_okind kind;
	uint32_t a, b;                   /* value; TS: val, ecr */
	uint8_t  n;                      /* SACK: blocks; FO, RAW: bytes */
	bool     any_a, any_b;           /* TS val ... */
	struct { uint32_t l, r; } sack[4];
	uint8_t  byte[40];
};

/* Flags as they lie in the header. */
#define PKT_FIN 0x001u
#define PKT_SYN 0x002u
#define PKT_RST 0x004u
#define PKT_PSH 0x008u
#define PKT_ACK 0x010u
#define PKT_URG 0x020u
#define PKT_ECE 0x040u
#define PKT_CWR 0x080u
#define PKT_AE  0x100u

#define PKT_SEGMENT 0
#define PKT_ICMP    1
/* A segment in the script's numbers, or live in the wire's. */
struct pkt_seg {
	uint8_t  what;                   /* PKT_SEGMENT, PKT_ICMP */
	uint16_t flags;                  /* PKT_FIN ... */
	uint32_t seq, len, ack;
	uint16_t win, urp;
	bool     have_ack, have_win, have_urp, any_opts;
	int16_t  ecn, tos, ttl;          /* -1: not said */
	uint8_t  nopts;
	struct pkt_opt opt[PKT_OPTS_MAX];
	uint16_t sport, dport;           /* live only */
	uint32_t src, dst;
	const uint8_t *payload;          /* live only */
	uint8_t  icmp_type, icmp_code;
	uint16_t icmp_mtu;
};

struct pkt_call {
	const char      *name;
	unsigned         nargs;
	struct pkt_expr **arg;
	bool             any_result;
	int64_t          result;
	const char      *err;            /* "EAGAIN" or NULL */
};

enum pkt_ekind { PKT_E_CALL, PKT_E_IN, PKT_E_OUT, PKT_E_CODE, PKT_E_SHELL };
struct pkt_event {
	struct pkt_event *next;
	int              line;
	const char      *text;           /* as written, one line */
	struct pkt_time  t;
	enum pkt_ekind   kind;
	struct pkt_seg  *seg;
	struct pkt_call *call;
	const char      *code;           /* CODE, SHELL */
};

struct pkt_option { struct pkt_option *next; const char *name, *value; int line; };
struct pkt_script {
	struct pkt_arena   arena;
	const char        *name;
	struct pkt_option *option;
	struct pkt_event  *first, *last;
	unsigned           nevents;
};

/* ---- lexer -------------------------------------------------------------------------- */

struct pkt_lex {
	struct pkt_script *s;
	const char *at, *end, *start;
	int         line;
	FILE       *out;
	bool        failed;
};
void pkt_skip(struct pkt_lex *x);                          /* space and comments */
bool pkt_error(struct pkt_lex *x, const char *fmt, ...) XK_PRINTF(2, 3);  /* always false; the first one counts */
bool pkt_take(struct pkt_lex *x, const char *word);        /* exactly these characters, if they come next */
bool pkt_need(struct pkt_lex *x, const char *word);
bool pkt_looks(struct pkt_lex *x, const char *word);
bool pkt_word(struct pkt_lex *x, char *buf, size_t n);     /* [A-Za-z_][A-Za-z0-9_]* */
bool pkt_number(struct pkt_lex *x, int64_t *v);            /* decimal, 0x, a sign */
bool pkt_u32(struct pkt_lex *x, uint32_t *v);
bool pkt_decimal_ns(struct pkt_lex *x, int64_t *ns);       /* seconds with a fraction */
#define PKT_SECONDS_MAX INT64_C(1000000000)

bool pkt_parse_seg(struct pkt_lex *x, struct pkt_event *e);
bool pkt_parse_call(struct pkt_lex *x, struct pkt_event *e);
const char *pkt_option_of(const struct pkt_script *s, const char *name, const char *otherwise);

/* ---- words -------------------------------------------------------------------------- */

/* Options of level IPPROTO_TCP; the system's header has names that ours has, too. */
enum {
	PKT_TCP_NODELAY = 1, PKT_TCP_MAXSEG, PKT_TCP_CORK, PKT_TCP_KEEPIDLE, PKT_TCP_KEEPINTVL, PKT_TCP_KEEPCNT,
	PKT_TCP_SYNCNT, PKT_TCP_LINGER2, PKT_TCP_DEFER_ACCEPT, PKT_TCP_WINDOW_CLAMP, PKT_TCP_INFO, PKT_TCP_QUICKACK,
	PKT_TCP_CONGESTION, PKT_TCP_USER_TIMEOUT, PKT_TCP_FASTOPEN, PKT_TCP_NOTSENT_LOWAT,
};

bool pkt_word_value(const char *name, int64_t *v);         /* SOL_SOCKET, O_NONBLOCK, EAGAIN ... */
const char *pkt_errno_name(int err);                       /* positive errno */
/* Number of an expression: INT, WORD, A|B, htons(1), [1]. */
bool pkt_expr_value(const struct pkt_expr *x, int64_t *v);

/* ---- segments ------------------------------------------------------------------------ */

#define PKT_DATAGRAM_MAX 65535
/* Live segment -> datagram; the payload byte at stream offset o is pkt_byte(o, salt).
 * Length, or 0: options do not fit or are no multiple of 4. */
size_t pkt_seg_store(const struct pkt_seg *s, uint32_t offset, uint8_t *buf, size_t room);
/* A router's message (s->src) about a segment of ours to peer, live numbers. */
size_t pkt_icmp_store(const struct pkt_seg *s, uint32_t peer, uint8_t *buf, size_t room);
/* Datagram -> live segment; NULL or what is wrong with it. */
const char *pkt_seg_load(const uint8_t *p, size_t n, struct pkt_seg *s);
static inline uint8_t pkt_byte(uint32_t o, uint32_t salt) { return (uint8_t)(o * 7u + (o >> 8) * 31u + salt); }
#define PKT_SALT_IN  1u
#define PKT_SALT_OUT 101u
void pkt_seg_show(FILE *f, const struct pkt_seg *s, bool out);

/* ---- sockets --------------------------------------------------------------------------- */

struct pkt_run;
#define PKT_FDS 64
struct pkt_sock {
	int      fd;                     /* of xk_sock.h */
	bool     bound;
	uint32_t defer;                  /* ms: TCP_DEFER_ACCEPT, given before listen */
	uint64_t rx_total, tx_total;     /* bytes of each direction that the program has moved */
	uint32_t bad_rx;                 /* bytes that are not what was sent */
};
struct pkt_sock *pkt_sock_new(int fd);
/* Bytes that were received and are not what was sent. */
uint32_t pkt_sock_close(struct pkt_sock *k);
int  pkt_sock_set(const struct pkt_sock *k, enum xk_sock_opt o, int64_t v);
int  pkt_sock_get(const struct pkt_sock *k, enum xk_sock_opt o, int64_t *v);
/* Is it a blocking one? */
bool pkt_sock_waits(const struct pkt_sock *k);
/* Bytes moved, or XK_E_*; flags: XK_SOCK_*. */
int64_t pkt_sock_read(struct pkt_sock *k, int64_t want, int flags);
int64_t pkt_sock_write(struct pkt_sock *k, int64_t want, int flags);

/* ---- a run -------------------------------------------------------------------------------- */

struct pkt_sent { struct pkt_sent *next; int64_t at; uint32_t n; uint8_t bytes[]; };
struct pkt_tsmap { struct pkt_tsmap *next; uint32_t script, live; };
struct pkt_wait {                                         /* the call that has not returned yet */
	const struct pkt_event *e;
	int64_t  from, until;
	int64_t  done;                   /* bytes moved so far; connect: it has begun */
};

struct pkt_run {
	const struct pkt_script *s;
	const struct pkt_opts   *o;
	FILE            *out;
	struct pkt_arena arena;
	struct xk_spec  *spec, *own_spec;
	struct xk_graph *g;
	struct xk_node  *raw, *tcp, *sock;
	struct pkt_sock *fd[PKT_FDS];
	struct pkt_sent *first, *last;   /* sent, not looked at */
	struct pkt_wait  wait;
	int64_t          start, tolerance, tick, last_at, mtu;
	uint32_t         local, remote, gateway;
	uint16_t         bind_port, connect_port, lport, rport;
	uint32_t         remote_off;     /* wire = script + off */
	uint32_t         local_off;
	uint32_t         remote_isn;     /* of the script */
	uint32_t         live_isn;
	bool             know_local, fresh, know_ts;
	uint32_t         ts_off;         /* wire - script of our timestamps */
	struct pkt_tsmap *ts;
	int              last_fd;
	bool             strict, differs, bad;
	char             profile[16];
	char             tcp_args[1024];
	int64_t          keepidle, keepintvl, keepcnt; /* of new sockets: ms, ms, number; -1: tcp's */
};

int64_t pkt_now(const struct pkt_run *u);
/* A difference at event e: text, and the line as written. */
void pkt_differs(struct pkt_run *u, const struct pkt_event *e, const char *fmt, ...) XK_PRINTF(3, 4);
void pkt_bad(struct pkt_run *u, const struct pkt_event *e, const char *fmt, ...) XK_PRINTF(3, 4);
void pkt_note(struct pkt_run *u, const struct pkt_event *e, const char *fmt, ...) XK_PRINTF(3, 4);
/* Time passes up to `to`, or until something was sent when `sent` is set; pending
 * calls return on the way. */
void pkt_pass(struct pkt_run *u, int64_t to, bool sent);
void pkt_settle(struct pkt_run *u);
static inline void pkt_enter(struct pkt_run *u) { xk_vp_enter_idle(u->g->vps->vp[0]); }
static inline void pkt_leave(struct pkt_run *u) { xk_vp_leave_idle(u->g->vps->vp[0]); }

bool pkt_graph_up(struct pkt_run *u);
bool pkt_graph_down(struct pkt_run *u);                   /* false: something leaked */
/* Options of the script and shell lines before the first call. */
bool pkt_configure(struct pkt_run *u);
void pkt_shell(struct pkt_run *u, const struct pkt_event *e, bool before);
void pkt_code(struct pkt_run *u, const struct pkt_event *e);

/* The script's inbound segment as it goes on the wire. */
void pkt_send_in(struct pkt_run *u, const struct pkt_event *e);
/* Waits for and compares what must go out; from and to in time. */
void pkt_expect_out(struct pkt_run *u, const struct pkt_event *e, int64_t from, int64_t to);
/* Live -> script's numbers. */
void pkt_seg_script(struct pkt_run *u, struct pkt_seg *s);

void pkt_call_start(struct pkt_run *u, const struct pkt_event *e, int64_t from, int64_t until);
/* The waiting call, again; true: nothing waits any more. */
bool pkt_call_again(struct pkt_run *u);
int64_t pkt_setsockopt(struct pkt_run *u, struct pkt_sock *k, const struct pkt_event *e);
int64_t pkt_getsockopt(struct pkt_run *u, struct pkt_sock *k, const struct pkt_event *e);

#endif
