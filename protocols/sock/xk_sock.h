/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_sock.h - sockets over a graph: the calls that programs know, with their
 * POSIX meaning, on a node of the protocol `sock`.  xk/sock.h where it is installed.
 *
 *	struct xk_node *n = xk_embed_find(g, "sock");
 *	int fd = xk_sock_socket(n, XK_SOCK_STREAM);
 *	xk_sock_connect(fd, &(struct xk_sock_addr){ 0x0a000002, 80 });
 *	xk_sock_write(fd, "GET / HTTP/1.0\r\n\r\n", 18);
 *
 * Who may call.  Any thread that is not inside a VP, also one that the runtime
 * did not make; it needs no preparation.  Any number of threads may use one
 * descriptor: one may read while another writes; two writers' bytes are not
 * mixed within one piece that fits the send buffer, but who comes first is open.
 * Closing a descriptor wakes whoever waits on it; they, and all later users of
 * the number, get XK_E_BADF: a number is not used again before 32767 others of
 * its place.  A call leaves the VP before it waits, so a blocked reader blocks
 * nobody else.
 *
 * What it costs.  Where the architecture enters VPs by a lock, the caller's
 * thread borrows the VP for as long as copying takes; where VPs belong to
 * workers, the work is posted to one and the caller waits for it.
 *
 * Results.  0 or more is success; errors are XK_E_*, which are POSIX's numbers,
 * negated: XK_E_AGAIN is -EAGAIN.  errno is not touched and no signal is raised.
 * Addresses and ports are in host order.
 *
 * In a program that embeds a graph (xk/graph.h) its workers run, or there is no node to be had.
 * Without workers (in the tree: the virtual schedule, or before xk_graph_run), the calling
 * thread is the one that runs the graph, so no call ever waits: each does what can
 * be done now, entering the VP by itself, and otherwise answers as a
 * non-blocking socket's does (XK_E_AGAIN, XK_E_INPROGRESS).  The caller lets
 * time pass by xk_vpset_run_virtual or xk_vpset_step, and tries again:
 *
 *	xk_sock_connect(fd, &peer);               XK_E_INPROGRESS
 *	xk_vpset_run_virtual(g->vps, now + RTT);
 *	xk_sock_connect(fd, &peer);               XK_E_ISCONN
 *
 * Do not call while the thread is between xk_vp_enter_idle and xk_vp_leave_idle
 * of another VP than the socket's.
 *
 * When the graph is taken down (xk_embed_free, xk_graph_free after xk_graph_run) it does xk_sock_stop first, so that no
 * thread is left inside, and xk_sock_close gives XK_E_SHUTDOWN then, too, until the descriptor is none any more
 * (XK_E_BADF).  Nobody may then come with the node: whoever opens sockets has to be done.
 */
#ifndef XK_SOCK_H
#define XK_SOCK_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "runtime/base/xk_err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct xk_node;

struct xk_sock_addr { uint32_t host; uint16_t port; };
#define XK_SOCK_ANY 0u                     /* host or port: whatever is free or ours */

/* ---- life --------------------------------------------------------------------- */

#define XK_SOCK_STREAM   1
#define XK_SOCK_DGRAM    2
#define XK_SOCK_NONBLOCK 0x800             /* with a type, and to xk_sock_accept */

/*
 * A new descriptor on node n, which must sit over something that offers streams
 * or datagrams, as the type asks.  XK_E_INVAL: unknown type; XK_E_NOTSUP: nothing
 * below offers that; XK_E_MFILE, XK_E_NOMEM; XK_E_SHUTDOWN after xk_sock_stop.
 */
int xk_sock_socket(struct xk_node *n, int type);

/*
 * Names the local end.  Host 0 is every address of ours, port 0 one that is free
 * (xk_sock_getsockname tells which).  A datagram socket receives from now on.
 * XK_E_INVAL: has a name already; XK_E_ADDRINUSE: another socket of this node
 * has it, and not both have XK_SO_REUSEADDR, or it is listened on;
 * XK_E_ADDRNOTAVAIL: no port left.
 */
int xk_sock_bind(int fd, const struct xk_sock_addr *a);

/*
 * Peers may connect.  At most `backlog` connections (at least 1; no more than the
 * node's parameter `backlog`) wait to be accepted, further ones are refused or,
 * by TCP, not yet answered.  Without a name a port is chosen.  Legal again to
 * change the backlog.  XK_E_NOTSUP: a datagram socket; XK_E_ISCONN;
 * XK_E_ADDRINUSE: somebody else listens there.
 */
int xk_sock_listen(int fd, unsigned backlog);

/*
 * The oldest connection that waits, as a new descriptor with the listener's
 * options, except that it blocks unless flags has XK_SOCK_NONBLOCK.  peer, unless
 * NULL, gets the other end.  The new socket lives on the VP of its connection.
 * Waits for one; XK_E_AGAIN when non-blocking or XK_SO_RCVTIMEO passed.
 * XK_E_INVAL: not listening (any more); XK_E_MFILE.
 */
int xk_sock_accept(int fd, struct xk_sock_addr *peer, unsigned flags);

/*
 * Streams: connects, on a VP chosen by connection number (xk_graph_vp_of), and
 * waits until that has succeeded or failed.  XK_E_INPROGRESS: non-blocking, wait
 * for POLLOUT, then look at XK_SO_ERROR; XK_E_ALREADY: that is still going on;
 * XK_E_ISCONN; XK_E_CONNREFUSED, XK_E_TIMEDOUT, XK_E_UNREACH, ...: the socket is as
 * before and may be connected again.  XK_SO_SNDTIMEO limits the wait.
 * Datagrams: sets where they go and from whom they are taken; may be repeated,
 * and undone by host 0.
 */
int xk_sock_connect(int fd, const struct xk_sock_addr *a);

#define XK_SHUT_RD   0
#define XK_SHUT_WR   1
#define XK_SHUT_RDWR 2
/*
 * WR: what was written still goes out, then the peer reads the end (half-close);
 * further writes give XK_E_PIPE.  RD: what is queued is thrown away, reads give 0,
 * and what the peer still sends is taken and thrown away, so it is not held up.
 * On a listening socket RD ends listening.  XK_E_NOTCONN.
 */
int xk_sock_shutdown(int fd, int how);

/*
 * Gives the descriptor back; other threads' calls on it end with XK_E_BADF.  What
 * was written is sent in the background.  With XK_SO_LINGER on, seconds > 0, a
 * blocking socket waits until the peer has acknowledged all of it or the time
 * has passed; seconds 0 resets the connection.  Bytes that nobody has read reset
 * it, too (RFC 2525 2.17).  Connections that wait on a listener are reset.
 */
int xk_sock_close(int fd);

/*
 * Ends all use of node n: every waiting call and every later one gives
 * XK_E_SHUTDOWN (xk_sock_close and xk_sock_set_remove still work), and it returns when no thread is inside a
 * call.  Sockets left open are closed when the graph is freed.
 */
void xk_sock_stop(struct xk_node *n);

/* ---- data ------------------------------------------------------------------------ */

#define XK_SOCK_OOB      0x01   /* send: the last byte is urgent (RFC 6093).  Urgent bytes are
                                 * received inline, so for a receive it is XK_E_INVAL */
#define XK_SOCK_PEEK     0x02   /* receive: leaves it there */
#define XK_SOCK_TRUNC    0x20   /* receive: the datagram's whole length, even if it is longer
                                 * than the buffer; set in m->flags when something was cut off */
#define XK_SOCK_DONTWAIT 0x40   /* as if the socket were non-blocking */
#define XK_SOCK_WAITALL  0x100  /* receive: waits until the buffer is full, the stream at its
                                 * end, or an error; the XK_SO_RCVTIMEO counts for the whole */

/*
 * Streams.  Sending returns when everything is in the send buffer; non-blocking,
 * how much was.  XK_E_PIPE: we have shut down, or the peer has reset;
 * XK_E_NOTCONN; XK_E_AGAIN: no room, or not yet connected; XK_E_NOMEM: no message
 * buffer, and nothing was sent.  Receiving returns as soon as there is a byte; 0 is
 * the peer's end.  An error that ended the connection is told once, after all bytes
 * that came before it: XK_E_CONNRESET, XK_E_TIMEDOUT, ...; then reads give 0.
 *
 * Datagrams.  One call is one datagram, 0 bytes included.  XK_E_MSGSIZE: longer
 * than what is below takes; XK_E_DESTADDRREQ: neither connected nor an address
 * given; XK_E_ISCONN is not an error here: an address may be given all the same.
 * What does not fit the buffer of a receive is lost.  XK_E_CONNREFUSED: connected,
 * and the peer has said that nobody is there; told once.
 *
 * The buffers may be touched by another thread (a VP's worker) during the call, and
 * are not any more when it has returned.  Lengths above SSIZE_MAX and more than
 * XK_SOCK_IOV pieces are XK_E_INVAL.
 */
ssize_t xk_sock_read(int fd, void *buf, size_t n);
ssize_t xk_sock_write(int fd, const void *buf, size_t n);
ssize_t xk_sock_readv(int fd, const struct iovec *v, int n);
ssize_t xk_sock_writev(int fd, const struct iovec *v, int n);
ssize_t xk_sock_recv(int fd, void *buf, size_t n, int flags);
ssize_t xk_sock_send(int fd, const void *buf, size_t n, int flags);
/* from and to may be NULL; a stream fills from with its peer and ignores to. */
ssize_t xk_sock_recvfrom(int fd, void *buf, size_t n, int flags, struct xk_sock_addr *from);
ssize_t xk_sock_sendto(int fd, const void *buf, size_t n, int flags, const struct xk_sock_addr *to);

#define XK_SOCK_IOV 1024
struct xk_sock_msg {
	struct xk_sock_addr *addr;         /* from or to; NULL: none */
	const struct iovec  *iov;
	int                  iovlen;
	int                  flags;        /* out, receive: XK_SOCK_TRUNC */
};
ssize_t xk_sock_recvmsg(int fd, struct xk_sock_msg *m, int flags);
ssize_t xk_sock_sendmsg(int fd, const struct xk_sock_msg *m, int flags);

/* ---- waiting for many ---------------------------------------------------------------- */

/*
 * poll(2) over sockets, of any number of graphs: p[i].fd is a descriptor of this
 * header, negative ones are passed over, POLLIN, POLLPRI, POLLOUT and POLLRDHUP may
 * be asked for, POLLERR, POLLHUP and POLLNVAL come by themselves.  Waits until one has
 * something to say or timeout_ns have passed (UINT64_MAX: for ever; 0: not at all;
 * a graph without workers: not at all).  Returns how many have.
 */
int xk_sock_poll(struct pollfd *p, unsigned n, uint64_t timeout_ns);

/*
 * A set of sockets of one node, for threads with many: waiting costs what has happened, not how many there
 * are, and enters no VP.  A set and its calls belong to one thread at a time; sockets may be members of several
 * sets, and used by anybody meanwhile.
 *
 * A member is told when it becomes ready (as it is added, too, when it is then), not as long as it is: use the
 * socket until it answers XK_E_AGAIN, then wait.  It may be told once more than there is to do.
 */
struct xk_sock_set;
struct xk_sock_ready { uint64_t data; int fd; short events; };

/* XK_E_INVAL: n is no node of sockets; XK_E_MFILE, XK_E_NOMEM. */
int  xk_sock_set_new(struct xk_node *n, struct xk_sock_set **set);
/* Before its graph is freed.  Its sockets stay open; NULL does nothing. */
void xk_sock_set_free(struct xk_sock_set *set);
/* events are poll's; data comes with each of them.  XK_E_EXIST: a member already; XK_E_INVAL: of another node;
 * XK_E_NOMEM, XK_E_BADF. */
int  xk_sock_set_add(struct xk_sock_set *set, int fd, short events, uint64_t data);
/* Nothing comes of it any more.  A socket that is closed leaves its sets by itself.  XK_E_NOENT: no member. */
int  xk_sock_set_remove(struct xk_sock_set *set, int fd);
/*
 * Takes up to max events, the oldest first, and waits for one as xk_sock_poll does: 0 is the end of timeout_ns, or
 * nothing yet of a graph without workers.  XK_E_SHUTDOWN: after xk_sock_stop, which members are told of as
 * POLLNVAL.
 */
int  xk_sock_set_wait(struct xk_sock_set *set, struct xk_sock_ready *ready, unsigned max, uint64_t timeout_ns);
/*
 * For a thread that waits by poll or epoll for descriptors of the host's, too: one of these, the set's own, which
 * becomes readable when something comes for the set.  Ask before each wait; XK_E_AGAIN: something has come already,
 * take it first.  Nobody but the set reads it; it is closed with the set.
 *
 *	while ((host_fd = xk_sock_set_arm(set)) == XK_E_AGAIN)
 *		take(set);                             xk_sock_set_wait with timeout_ns 0, until it answers 0
 *	poll(...);
 */
int  xk_sock_set_arm(struct xk_sock_set *set);

/* ---- names and options ------------------------------------------------------------------ */

/* XK_E_NOTCONN: no peer.  The name of a socket without one is 0, 0. */
int xk_sock_getsockname(int fd, struct xk_sock_addr *a);
int xk_sock_getpeername(int fd, struct xk_sock_addr *a);

enum xk_sock_opt {                 /* value; S streams only, G get only */
	XK_SO_TYPE = 1,            /* int: XK_SOCK_STREAM or _DGRAM; G */
	XK_SO_ERROR,               /* int: the error that waits (XK_E_*), which is then forgotten; G */
	XK_SO_ACCEPTCONN,          /* int: listening; G */
	XK_SO_NONBLOCK,            /* int: 1 calls do not wait */
	XK_SO_SNDBUF,              /* int: bytes; S */
	XK_SO_RCVBUF,              /* int: bytes; of a stream, never takes back what was offered */
	XK_SO_RCVLOWAT,            /* int: bytes that wake a reader and make POLLIN; S */
	XK_SO_KEEPALIVE,           /* int: 1 on; S */
	XK_SO_LINGER,              /* struct xk_sock_linger; S */
	XK_SO_REUSEADDR,           /* int: 1 see xk_sock_bind.  Ended connections of a port never
	                            * stand in the way of listening on it, with or without */
	XK_SO_RCVTIMEO,            /* uint64_t ns: how long a receive or accept waits; 0: for ever */
	XK_SO_SNDTIMEO,            /* the same of sends and connects */
	XK_SO_OOBINLINE,           /* int: always 1; 0 is XK_E_NOTSUP */
	XK_SO_NREAD,               /* int: bytes (a datagram: of the next one) to be read; G */
	XK_SO_NWRITE,              /* int: bytes written and not acknowledged; S, G */
	XK_SO_VP,                  /* int: number of the VP where it lives; G */
	XK_TCP_NODELAY = 100,      /* int: 1 small pieces are sent at once (no Nagle); S */
	XK_TCP_CORK,               /* int: 1 full segments only, 0 the rest, too; S */
	XK_TCP_MAXSEG,             /* int: largest segment we send and announce, below what the path takes; S */
	XK_TCP_INFO,               /* struct tcp_snapshot of protocols/tcp/tcp.h, for code of the tree; S, G */
	XK_TCP_USER_TIMEOUT,       /* int: ms that sent bytes may wait for an answer, 0: the node's; S */
	XK_TCP_KEEPIDLE,           /* int: s without traffic before the first probe; S */
	XK_TCP_KEEPINTVL,          /* int: s between probes; S */
	XK_TCP_KEEPCNT,            /* int: probes; S */
	XK_TCP_LINGER2,            /* int: s that a closed socket waits for its peer's end; S */
};
struct xk_sock_linger { int on, seconds; };

/*
 * Options given before connect or listen are remembered and used then.
 * XK_E_NOPROTOOPT: no such option, or not of this type of socket; XK_E_INVAL: wrong
 * length or value.  get: *len says how much room there is and then how much was
 * written.
 */
int xk_sock_setopt(int fd, enum xk_sock_opt o, const void *v, size_t len);
int xk_sock_getopt(int fd, enum xk_sock_opt o, void *v, size_t *len);

#ifdef __cplusplus
}
#endif
#endif
