/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_priv.h - what the files of sock share.
 *
 *   sock.c         the node: descriptor, what comes from below, start and stop
 *   sock_fd.c      descriptors: numbers that name sockets, and who is using one
 *   sock_call.c    a call: into the socket's VP, out of it to wait
 *   sock_poll.c    readiness, waiters, poll
 *   sock_set.c     sets of sockets that are waited for together
 *   sock_bind.c    names: ports of this node, bind
 *   sock_listen.c  listen, accept, connections that come
 *   sock_io.c      the callers' buffers; read, write and their variants
 *   sock_stream.c  connect, send, receive of streams
 *   sock_dgram.c   the same for datagrams
 *   sock_close.c   shutdown, close, the end of a socket
 *   sock_sess.c    our sessions, sockets of a VP
 *   sock_opt.c     options, names of both ends
 *
 * A socket (struct sock) is the application's object; a session (struct sock_sess) is
 * what stands on the session below.  A stream has one of them or none; a datagram
 * socket has one for each peer, on the VP of that peer.  A socket's fields belong
 * to its VP (sk->vp), but for those in the first part.  sk->vp changes when an
 * unconnected socket moves (connect): whoever enters looks again (sock_do).
 *
 * Holding.  A call, and a handler that crosses VPs, holds a socket by its
 * descriptor's count (sock_get, sock_put); sessions point at their socket without
 * counting, and are destroyed inside the VP before the socket ends.
 */
#ifndef SOCK_PRIV_H
#define SOCK_PRIV_H

#include <string.h>

#include "protocols/sock/xk_sock.h"
#include "protocols/tcp/tcp.h"
#include "runtime/base/xk_list.h"
#include "runtime/base/xk_tls.h"
#include "runtime/msg/xk_msgq.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_call.h"

struct sock_conf { uint64_t rcvbuf, backlog, peers; };

#define SOCK_DROPS(X) \
	X(NOBODY, "no_socket")    X(FULL, "socket_full") \
	X(SHUT, "shut_down")      X(STRANGER, "not_the_peer")
#define SOCK_DROP_ENUM(n, s) SOCK_DROP_##n,
enum { SOCK_DROP_BASE = XK_DROP_FIRST - 1, SOCK_DROPS(SOCK_DROP_ENUM) };

#define SOCK_COUNTS(X) \
	X(CONNECTS, "connects")   X(ACCEPTS, "accepted") \
	X(IN, "bytes_in")         X(OUT, "bytes_out") \
	X(REFUSED, "backlog_full") X(CROSSED, "handed_to_socket")
#define SOCK_COUNT_ENUM(n, s) SOCK_COUNT_##n,
enum { SOCK_COUNTS(SOCK_COUNT_ENUM) };

/* ---- objects ------------------------------------------------------------------------- */

struct sock;

/* No call works but to close; none at all, for the graph goes down. */
enum { SOCK_STOPPED = 1, SOCK_HALTED };

struct sock_node {                       /* struct xk_node.state */
	int      down[3];                /* by type: number of the node below, -1 none */
	uint32_t stopping;               /* SOCK_STOPPED, SOCK_HALTED, or 0 */
	bool     going;                  /* the graph is taken down; the control thread's */
	uint64_t conns;                  /* numbers given to connections */
	struct xk_mutex lock;            /* guards sets */
	struct xk_list  sets;
};
static inline struct sock_node *sock_node(const struct xk_node *n) { return n->state; }

struct sock_rep {                        /* struct xk_rep.state */
	struct xk_list socks;            /* those that live on this VP */
	struct xk_list peers;            /* of datagrams, longest unused first */
	uint32_t     npeers;
};
static inline struct sock_rep *sock_rep(const struct xk_rep *r) { return r->state; }

struct sock_sess {
	struct xk_sess   s;
	struct sock     *sk;             /* streams; NULL: of a datagram socket */
	int              fd;             /* datagrams: whose */
	struct xk_sock_addr peer;        /* datagrams */
	struct xk_listed age;
};
static inline struct sock_sess *sock_sess(struct xk_sess *s) { return (struct sock_sess *)(void *)s; }

/* Somebody who waits; linked inside the VP. */
struct sock_waiter {
	struct xk_listed link;
	struct xk_event *event;          /* NULL: a set's member (sock_set.c) */
	short            events;
};
static inline struct sock_waiter *sock_waiter_of(struct xk_listed *i)
{
	return xk_container_of(i, struct sock_waiter, link);
}

/* A port of this node that a socket has; found under RCU by any VP. */
struct sock_port {
	struct xk_mapnode  map;
	int                fd;
	bool               reuse;
	struct xk_rcu_head rcu;
};

enum sock_state { SOCK_IDLE, SOCK_LISTENING, SOCK_CONNECTING, SOCK_CONNECTED, SOCK_DEAD };

/* Options that were set: bits of opts.set. */
enum { OPT_SNDBUF = 1, OPT_RCVBUF = 2, OPT_NODELAY = 4, OPT_CORK = 8, OPT_MAXSEG = 16, OPT_USER = 32,
       OPT_KEEP = 64, OPT_LINGER2 = 128 };
struct sock_opts {
	uint32_t set;
	uint32_t sndbuf, rcvbuf, nodelay, cork, maxseg, user_timeout, fin_wait2;
	uint32_t rcvlowat;
	struct tcp_keepalive keep;
	struct xk_sock_linger linger;
	bool     reuse;
	uint64_t rcvtimeo, sndtimeo;     /* ns, 0: for ever */
};

struct sock {
	/* Never changes, or is read and written whole from anywhere. */
	struct xk_node *node;
	struct xk_vp   *vp;              /* where it lives */
	int             fd;
	int             type;            /* XK_SOCK_STREAM, XK_SOCK_DGRAM */
	uint32_t        nonblock;
	uint32_t        backlog;         /* 0: not listening */
	uint32_t        queued;          /* connections that wait to be accepted, or are on their way there */
	struct xk_call  travel;          /* to the listener's VP, or back to its own */
	int             listener;        /* whose queue it goes to */
	/* Its VP's. */
	struct xk_listed here;           /* sockets of the VP */
	enum sock_state state;
	bool            closed;          /* its descriptor is gone */
	bool            eof;             /* the peer sends no more */
	bool            shut_rd, shut_wr;
	bool            drained;         /* all, our end included, is acknowledged */
	bool            urgent;
	int             err;             /* waits to be told, or 0 */
	struct xk_list  waiters;
	struct sock_sess *sess;          /* streams */
	struct sock_port *port;
	struct xk_parts *enabled;        /* what open_enable was given below; NULL: nothing */
	struct xk_sock_addr local, peer;
	struct xk_msgq  rx;
	uint64_t        rx_bytes;        /* to be read */
	uint32_t        rx_off;          /* of the first message, read already (streams) */
	struct sock    *acc_first, *acc_last, *acc_next;
	struct sock_opts opts;
	/* Datagrams: where peers are that are not on our VP; a guess, never trusted. */
#define SOCK_GUESSES 64u
	struct { struct xk_sock_addr peer; uint16_t vp; } guess[SOCK_GUESSES];
};

static inline struct xk_rep *sock_rep_here(const struct sock *sk) { return sk->node->rep[xk_vp_no]; }
/* The session below a stream's. */
static inline struct xk_sess *sock_lls(const struct sock *sk) { return sk->sess->s.down; }
static inline int sock_told(struct xk_sess *lls, unsigned op, uint32_t v)
{
	return xk_sess_control(lls, op, &v, sizeof v);
}
/* A node of this protocol? */
static inline bool sock_is_sock(const struct xk_node *n) { return strcmp(n->proto->name, "sock") == 0; }
static inline bool sock_stopping(const struct xk_node *n) { return xk_load_acquire(&sock_node(n)->stopping) != 0; }
static inline bool sock_addr_eq(const struct xk_sock_addr *a, const struct xk_sock_addr *b)
{
	return a->host == b->host && a->port == b->port;
}
/* Inside a VP: what opens for its kind; another one when the graph has changed. */
static inline struct xk_rep *sock_below(const struct sock *sk)
{
	return sock_rep_here(sk)->down[sock_node(sk->node)->down[sk->type]];
}

/* ---- sock_fd.c ------------------------------------------------------------------------------ */

/* A new socket with a descriptor of its own, held by nobody.  NULL with *err. */
struct sock *sock_new(struct xk_node *n, int type, int *err);
/* The socket that fd names, held; NULL: none (any more). */
struct sock *sock_get(int fd);
void sock_put(struct sock *sk);
/*
 * The same for a call of an application: XK_E_MFILE: its thread has nothing to wait on; XK_E_BADF: no socket;
 * XK_E_SHUTDOWN: its node has been told to stop, as SOCK_STOPPED or more.  Who holds one is waited for before the
 * workers end: looked at after the socket is held, as sock_await_quiet looks after it was told.
 */
int sock_hold(int fd, struct sock **sk);
/* The same for a call that works until the graph goes down, as SOCK_HALTED. */
int sock_hold_longer(int fd, struct sock **sk);
/* Takes the number back, once; held.  NULL: somebody else has, or there is none. */
struct sock *sock_get_last(int fd);
/* Waits until nobody holds a socket of n whose number is still in use, or whose close
 * goes on. */
void sock_await_quiet(struct xk_node *n);

/* ---- sock_call.c ----------------------------------------------------------------------------- */

/* Runs op inside the socket's VP.  sk is held. */
typedef int64_t (*sock_op)(struct sock *sk, void *arg);
int64_t sock_do(struct sock *sk, sock_op op, void *arg);
/*
 * The same, again and again while it answers XK_E_AGAIN, waiting for `events` in
 * between: not at all when `wait` is false or the graph has no workers, else for
 * limit ns (0: for ever), then XK_E_AGAIN.  XK_E_BADF when the socket was closed
 * meanwhile, XK_E_SHUTDOWN when the node stops.
 */
int64_t sock_wait(struct sock *sk, sock_op op, void *arg, short events, bool wait, uint64_t limit);
static inline bool sock_blocks(const struct sock *sk, int flags)
{
	return !(flags & XK_SOCK_DONTWAIT) && xk_load_relaxed(&sk->nonblock) == 0;
}
/* Whether anybody but the caller runs this graph's VPs. */
bool sock_has_workers(const struct sock *sk);

/* ---- sock_poll.c (inside the VP) -------------------------------------------------------------- */

#define SOCK_EVERYTHING (POLLIN | POLLOUT | POLLRDHUP | POLLHUP | POLLERR)
#define SOCK_ALWAYS (POLLERR | POLLHUP | POLLNVAL)
short sock_ready(struct sock *sk);
void  sock_wake(struct sock *sk, short events);
void  sock_waiter_link(struct sock *sk, struct sock_waiter *w);
void  sock_waiter_unlink(struct sock_waiter *w);

/* ---- sock_set.c ---------------------------------------------------------------------------------- */

/* Inside the VP: the member is told of events that it asked for. */
void  sock_set_fire(struct sock_waiter *w, uint32_t events);
/* Inside the VP: the socket ends, and is a member of nothing. */
void  sock_set_leave(struct sock *sk);
/* The node stops: returns when nobody waits with a set of it. */
void  sock_sets_stop(struct xk_node *n);

/* ---- sock_bind.c --------------------------------------------------------------------------------- */

void sock_parts(struct xk_parts *ps, const struct xk_sock_addr *remote, const struct xk_sock_addr *local);
/* Takes the name a for sk (port 0: chooses); `alone`: nobody else may have it. */
int  sock_take_port(struct sock *sk, const struct xk_sock_addr *a, bool alone);
void sock_leave_port(struct sock *sk);
/*
 * Runs op inside the socket's VP, as sock_do does, while the graph does not change: only so sock_enable and sock_disable
 * may be called.  sock_do_seldom: op, which needs that seldom, looks at *held, and where it is false answers SOCK_BINDS
 * instead, having done nothing; it is run again with *held set.
 */
#define SOCK_BINDS INT64_MIN
int64_t sock_do_binding(struct sock *sk, sock_op op, void *arg);
int64_t sock_do_seldom(struct sock *sk, sock_op op, void *arg, bool *held);
/* Opens the name for peers, below; the name is a local port and, maybe, host. */
int  sock_enable(struct sock *sk);
void sock_disable(struct sock *sk);
/* A free port with sock_take_port and sock_enable. */
int  sock_take_some_port(struct sock *sk, uint32_t host, bool enable);
/* The socket that has the name of the local end of lls, held; NULL: nobody. */
struct sock *sock_find_port(struct xk_rep *r, struct xk_sess *lls, int type);

/* ---- sock_listen.c ------------------------------------------------------------------------------- */

int  sock_come(struct xk_rep *r, struct xk_sess *lls, struct sock *listener);
/* Peers of a listener hear of its TCP_MAXSEG and SO_RCVBUF, or do not any more. */
void sock_listen_tells(const struct sock *sk, bool on);
/* Resets everything that waits to be accepted. */
void sock_listen_end(struct sock *sk);

/* ---- sock_io.c ------------------------------------------------------------------------------------ */

/* The caller's bytes: what is done and what is left. */
struct sock_io {
	const struct iovec *v;
	int      n, i;
	size_t   off;                    /* in v[i] */
	size_t   left, done;
	int      flags;
	bool     block;
	struct xk_sock_addr *from;
	const struct xk_sock_addr *to;
	uint64_t cut;                    /* datagrams: bytes that did not fit */
	struct xk_vp *vp;                /* datagrams: where the peer is */
};
/* The next contiguous piece of at most `want` bytes, which are left; n of it are done. */
const uint8_t *sock_io_here(struct sock_io *io, uint32_t want, uint32_t *n);
void sock_io_skip(struct sock_io *io, uint32_t n);
/* A message of the next n bytes, one segment if it can be, with its partial sum. */
struct xk_msg *sock_io_msg(struct sock_io *io, uint32_t n);
/* Bytes [off, off + n) of m into the caller's buffers, which have room. */
void sock_io_take(struct sock_io *io, const struct xk_msg *m, uint32_t off, uint32_t n);

/* ---- sock_stream.c (inside the VP) ------------------------------------------------------------------ */

/* Makes lls, whose reference it takes over in every case, this socket's. */
int  sock_stream_attach(struct sock *sk, struct xk_sess *lls);
void sock_stream_apply(struct sock *sk);
void sock_stream_detach(struct sock *sk, bool reset);
int64_t sock_stream_send(struct sock *sk, void *io);
int64_t sock_stream_recv(struct sock *sk, void *io);
void sock_stream_demux(struct sock_sess *ss, struct xk_msg *m);
void sock_stream_event(struct sock_sess *ss, const struct xk_stream_event *e);
void sock_stream_closed(struct sock_sess *ss);
void sock_rx_free(struct sock *sk);

/* ---- sock_dgram.c ------------------------------------------------------------------------------------- */

/* In front of each datagram that waits in a socket: who sent it, and where from. */
struct sock_from { uint32_t host; uint16_t port, vp; };
int64_t sock_dgram_send(struct sock *sk, struct sock_io *io);
int64_t sock_dgram_recv(struct sock *sk, void *io);
int  sock_dgram_come(struct xk_rep *r, struct xk_sess *lls, struct sock *sk);
void sock_dgram_demux(struct sock_sess *ss, struct xk_msg *m);
void sock_dgram_enter(struct xk_rep *r, struct xk_msg *m);
void sock_dgram_error(struct sock_sess *ss, unsigned type, unsigned code);
int64_t sock_dgram_connect(struct sock *sk, void *addr);
/* Closes every peer's session of VP r that belongs to fd (0: to anybody). */
void sock_dgram_forget(struct xk_rep *r, int fd);
/* The same on every VP; outside of all of them. */
void sock_dgram_forget_all(struct sock *sk);

/* ---- sock_sess.c ---------------------------------------------------------------------------------------- */

/* A session of ours over lls, which passes up to it from now on; takes over the
 * reference when it succeeds. */
struct sock_sess *sock_sess_new(struct xk_rep *r, struct xk_sess *lls);
void sock_sess_free(struct sock_sess *ss);
/* Our session that passes up to `up`; our session on lls; NULL: none. */
struct sock_sess *sock_sess_of(struct xk_up *up);
struct sock_sess *sock_sess_on(struct xk_sess *lls);
/* The socket joins, leaves the list of the VP we are inside. */
void sock_join(struct sock *sk);
void sock_leave(struct sock *sk);
/* Bytes that may be pushed now. */
uint32_t sock_stream_room(struct sock *sk);

/* ---- sock_close.c --------------------------------------------------------------------------------------- */

/* Everything that a socket holds is given back: inside its VP, its number gone. */
void sock_end(struct sock *sk, bool reset);

#endif
