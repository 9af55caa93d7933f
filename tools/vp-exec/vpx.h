/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx.h - vp-exec: unmodified programs on the sockets of a graph.
 *
 *   vp_exec.c        main: the graph, its stacks, the end
 *   vpx_options.c    the command line
 *   vpx_filter.c     which system calls come to the supervisor (libseccomp)
 *   vpx_program.c    programs: begun, waited for, ended
 *   vpx_keeper.c     two processes: nothing is left when one is killed
 *   vpx_loop.c       what happens: calls, sockets of both sides, signals
 *   vpx_call.c       a call's arguments, its answer; which function answers it
 *   vpx_end.c        the program's end of a socket: found, filled, emptied
 *   vpx_sock.c       sockets: made, found, freed; calls that wait on one
 *   vpx_name.c       bind and the names of sockets
 *   vpx_connect.c    connect
 *   vpx_listen.c     listen and accept
 *   vpx_stream.c     bytes of streams, both ways; shutdown, reset
 *   vpx_dgram.c      datagrams, both ways
 *   vpx_opt.c        options
 *   vpx_tcpinfo.c    TCP_INFO
 *   vpx_hosts.c      names of hosts
 *   vpx_dns.c        answers to who asks for them
 *   vpx_isolate.c    namespaces that agree with the graph
 *
 * A socket of a program is one end of a pair of the kernel's; the supervisor has the other one, and a socket of the
 * graph.  Reads, writes, polls, dup, fork and exec are the kernel's own work on the pair.  Only calls that name
 * addresses or options come to the supervisor (seccomp user notification), which is one thread.
 * Invariant: the supervisor never keeps a copy of the program's end longer than a call takes, but of connections
 * that nobody has accepted: its last close is seen at the other end.
 */
#ifndef VPX_H
#define VPX_H

#include "protocols/sock/xk_sock.h"

#include <linux/filter.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { VPX_STACKS = 16, VPX_PROGRAMS = 16 };
/* As env(1) has them: vp-exec itself failed, the program cannot be run, there is none. */
enum { VPX_FAILED = 125, VPX_CANNOT = 126, VPX_NOT_FOUND = 127 };

struct vpx_stack {
	const char         *name;
	struct xk_node     *node;
	struct xk_sock_set *set;
	bool                watched;     /* its descriptor is among those of the loop */
};

enum vpx_life { VPX_WAITS, VPX_RUNS, VPX_ENDED };
struct vpx_program {
	char            **argv;
	const char       *at;            /* node, or NULL: the only one of sockets */
	const char       *wait_at;       /* begun when somebody listens there; NULL: at once */
	uint16_t          wait_port;
	struct vpx_stack *stack, *wait_stack;
	enum vpx_life     life;
	pid_t             pid;
	int               notify;        /* where its calls come from; it and its children */
	int               status;        /* of waitpid */
};

struct vpx {
	const char        *file;
	const char       **args;
	unsigned           nargs;
	const char        *hosts;        /* a file of names, or NULL */
	bool               all, stats, isolate;
	struct vpx_program program[VPX_PROGRAMS];
	unsigned           nprograms;
	struct vpx_stack   stack[VPX_STACKS];
	unsigned           nstacks;
	struct sock_fprog  filter;
	int                epoll, signals, keeper;
	bool               over, broken;
	bool               look;         /* a port was taken, or a program has ended: others may begin */
	uint64_t           answered, native, lost, woken;
};
extern struct vpx vpx;

/* ---- command line, filter, programs, loop ------------------------------------------------------ */

/* Fills vpx, or ends the process with VPX_FAILED; --help and --version end it, too. */
void vpx_options(int argc, char **argv);
int  vpx_filter_new(struct sock_fprog *f);
void vpx_filter_free(struct sock_fprog *f);
/* 0: this is the supervisor, with vpx.keeper; 1: it was, and has ended with *status, and nothing is left; a negative
 * errno. */
int  vpx_keeper(int *status);
sigset_t vpx_signals_taken(void);
/* All that this process has begun, the youngest first. */
void vpx_below_signal(int sig);
/* Signals come by vpx.signals from now on; before any thread is started. */
int  vpx_signals(void);
/* Those that wait for nothing, or for what is there by now. */
void vpx_programs_begin(void);
/* Children that have ended; true: none is left. */
bool vpx_programs_reap(void);
/* All that is left of them is ended, and waited for. */
void vpx_programs_end(void);
/* For a signal that was sent to vp-exec itself. */
void vpx_programs_signal(int sig);
/* Of the last one, or with --all of the first that failed. */
int  vpx_programs_status(void);
int  vpx_loop_init(void);
/* Waits for something to happen, at most so long, -1: for ever, and does what it asks for. */
void vpx_loop_step(int ms);
void vpx_loop_fini(void);
enum vpx_event { VPX_SIGNAL, VPX_KEEPER, VPX_STACK, VPX_PROGRAM, VPX_SOCKET };
/* fd's events, as epoll's `events` say, are those of the thing number i. */
int  vpx_watch(int fd, uint32_t events, enum vpx_event kind, uint64_t i);

/* ---- calls ---------------------------------------------------------------------------------------- */

struct vpx_call {
	struct vpx_program *by;
	uint64_t            id;
	pid_t               tid;
	int                 nr;
	uint64_t            arg[6];
};
/* What a function answers: the result, a negative errno, or one of these. */
#define VPX_NATIVE (-5000)       /* the kernel does it, on the pair */
#define VPX_LATER  (-5001)       /* answered already, or kept for later */

struct vpx_sock;
void vpx_call_receive(struct vpx_program *p);
/* False: whoever called is gone, or was interrupted. */
bool vpx_call_answer(const struct vpx_call *c, int64_t result);
bool vpx_call_valid(const struct vpx_call *c);
/* fd becomes a descriptor of the caller, and the call's result.  The number, or a negative errno. */
int  vpx_call_give(const struct vpx_call *c, int fd, bool cloexec);
/* The caller's memory; false: EFAULT. */
bool vpx_get(const struct vpx_call *c, uint64_t at, void *buf, size_t n);
bool vpx_put(const struct vpx_call *c, uint64_t at, const void *buf, size_t n);
/* An address that the caller gives: 0, or -EINVAL, -EFAULT, -EAFNOSUPPORT; 1: AF_UNSPEC. */
int  vpx_get_addr(const struct vpx_call *c, uint64_t at, uint64_t len, struct xk_sock_addr *a);
/* One for the caller, cut to what fits; at 0: it wants none. */
int  vpx_put_addr(const struct vpx_call *c, uint64_t at, uint64_t len_at, struct xk_sock_addr a);
struct sockaddr_in vpx_sockaddr(struct xk_sock_addr a);
/* What cannot be done is said once of each kind. */
enum vpx_cannot { VPX_NO_IP6, VPX_NO_RAW, VPX_NO_OPTION, VPX_NO_URGENT, VPX_NO_KINDS };
void vpx_say(enum vpx_cannot what, const struct vpx_call *c, int level, int name);

/* ---- sockets ---------------------------------------------------------------------------------------- */

enum vpx_state { VPX_IDLE, VPX_CONNECTING, VPX_CONNECTED, VPX_LISTENING, VPX_DEAD };
/* What did not fit the other side yet. */
struct vpx_rest { char *at; size_t off, n; };
struct vpx_pending {
	struct vpx_pending *next;
	struct vpx_call     call;
	uint64_t            deadline;    /* of the host's clock; UINT64_MAX: none */
};
enum { VPX_TAGS = 16, VPX_TAKEN = 15 };
struct vpx_tag { struct xk_sock_addr from; int fd; };

struct vpx_sock {
	uint64_t            key;         /* names it in events: a later one of its place has another */
	ino_t               ino;         /* of the program's end */
	struct vpx_sock    *same;        /* of its hash */
	struct vpx_stack   *stack;
	int                 type;        /* SOCK_STREAM or SOCK_DGRAM */
	int                 graph;       /* the graph's socket */
	int                 end;         /* ours of the pair; -1: closed */
	int                 kept;        /* the program's end, of a connection that nobody has accepted; or -1 */
	pid_t               tid;         /* where the program's end was seen last */
	int                 fd;
	enum vpx_state      state;
	int                 error;       /* for SO_ERROR; positive */
	int                 failed;      /* how the connection has; the program may still have bytes to read */
	struct xk_sock_addr peer, bound;
	bool nonblocking;                /* the connect under way */
	bool untold;                     /* it has succeeded, and connect was not asked again */
	bool to_peer;                    /* datagrams: connected */
	bool bind_lost;                  /* its answer was */
	bool eof, reset;                 /* the program has closed; with bytes unread */
	bool shut_rd, shut_wr;           /* it has shut down */
	bool marked, fin_sent;           /* its last byte is a mark; the graph was told */
	bool graph_eof, hup, queued;
	size_t              junk;        /* bytes that keep the program's end from being writable */
	int                 sndbuf;
	int                 rcvbuf;      /* that the program has set; 0: none */
	int                 taken[VPX_TAKEN];            /* options that are told again */
	uint32_t            were_taken;                  /* a bit for each */
	struct vpx_rest     up, down;
	struct vpx_pending *pending, **pending_last;
	struct vpx_sock    *accepted, **accepted_last, *behind;   /* of a listener: oldest first */
	unsigned            naccepted, backlog;
	struct vpx_tag      tag[VPX_TAGS];
	uint64_t            ntags;       /* that there were; the oldest is replaced */
};

/* A pair, and a socket of the graph unless there is one: graph < 0.  *end is the program's; a negative errno. */
int  vpx_sock_new(struct vpx_stack *st, int type, int graph, struct vpx_sock **sock, int *end);
void vpx_sock_free(struct vpx_sock *v);
/* NULL: none, or none any more. */
struct vpx_sock *vpx_sock_of_key(uint64_t key);
struct vpx_sock *vpx_sock_of_call(const struct vpx_call *c);
/* Looks at both its sides, soon or now; now, it may be gone afterwards. */
void vpx_sock_soon(struct vpx_sock *v);
void vpx_sock_turn(struct vpx_sock *v);
/* Those that were to be looked at soon; false: there are more. */
bool vpx_socks_turn(void);
/* It has a port by now: whoever waits for that is looked for. */
void vpx_sock_named(struct vpx_sock *v);
/* Sees every close that has happened. */
void vpx_socks_closed(void);
void vpx_socks_free(void);
/* No more than that, or little more, is on its way to the program of a connection; those that a listener accepts have
 * it, too, while its own pipe, which counts them, stays as it is. */
void vpx_sock_receives(struct vpx_sock *v, int bytes);
/* Somebody listens on that port, or receives its datagrams. */
bool vpx_socks_bound(const struct vpx_stack *st, int type, uint16_t port);
/* The graph has nothing to do with it any more; a record stays for calls that ask. */
void vpx_sock_dead(struct vpx_sock *v);

/* A call is answered when its socket's turn says so, or when the socket's time-out of that option has passed. */
int64_t vpx_wait(struct vpx_sock *v, const struct vpx_call *c, int timeout_option);
bool vpx_pending_take(struct vpx_sock *v, struct vpx_call *c);
/* All that wait are answered. */
void vpx_pending_all(struct vpx_sock *v, int64_t result);
/* Host's clock of the next time-out, after those that have passed; UINT64_MAX: none. */
uint64_t vpx_pending_late(void);

/* ---- the program's end ------------------------------------------------------------------------------- */

/* A copy of it, by its number in a call, or wherever it is; -1: there is none.  Close it soon. */
int  vpx_end_of_call(const struct vpx_call *c);
int  vpx_end_find(const struct vpx_sock *v);
/* Where it was seen last is it still there? */
bool vpx_end_there(const struct vpx_sock *v);
bool vpx_end_blocks(int end);
ino_t vpx_ino(int fd);
/* Of the socket that a process or thread has by that number; 0: none. */
ino_t vpx_ino_in(pid_t pid, int fd);
/* Not writable any more, and again. */
void vpx_end_fill(struct vpx_sock *v, int end);
void vpx_end_empty(struct vpx_sock *v, int end);
/* The pair's own end is closed so that the program reads what is there, then ECONNRESET. */
void vpx_end_reset(struct vpx_sock *v);

/* ---- names of hosts --------------------------------------------------------------------------------- */

struct xk_embed;
bool vpx_hosts_add(const char *name, uint32_t addr);
/* Nodes of sockets, by their names, and localhost; false: no memory. */
bool vpx_hosts_graph(const struct xk_embed *g);
/* As hosts(5) has them; false: said on stderr why not. */
bool vpx_hosts_file(const char *file);
/* Addresses of a node, one by one, and the prefixes of their networks. */
bool vpx_hosts_of(const struct vpx_stack *st, size_t *i, uint32_t *addr, unsigned *len);
/* The table as hosts(5) has it. */
void vpx_hosts_print(FILE *f);
/* Whom programs of this host will ask: resolv.conf(5). */
void vpx_hosts_servers(void);
void vpx_hosts_free(void);
/* The next address of a name from place *i on, which is moved behind it. */
bool vpx_hosts_addr(const char *name, size_t *i, uint32_t *addr);
/* The first name of an address, or NULL. */
const char *vpx_hosts_name(uint32_t addr);
/* Datagrams to a from this stack are ours to answer: a server of resolv.conf that is nobody in the graph. */
bool vpx_hosts_server(const struct vpx_stack *st, struct xk_sock_addr a);
enum { VPX_DNS_MOST = 512 };
/* To the query in m[n]; its length, 0: none is due. */
size_t vpx_dns_answer(const uint8_t *m, size_t n, uint8_t out[VPX_DNS_MOST]);

/* ---- --isolate ------------------------------------------------------------------------------------------ */

/* When the table of names is complete; false: no memory. */
bool vpx_isolate_init(void);
void vpx_isolate_fini(void);
/* In the child, before it is under the filter: its network is that of this node from now on.  0 or a negative errno. */
int  vpx_isolate(const struct vpx_stack *st);

/* ---- rooms: a function for each call, a turn for each kind of socket ------------------------------------ */

int64_t vpx_socket(const struct vpx_call *c);
int64_t vpx_bind(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_getsockname(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_getpeername(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_connect(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_listen(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_accept(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_shutdown(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_getsockopt(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_setsockopt(struct vpx_sock *v, const struct vpx_call *c);
/* A value of n bytes for getsockopt, cut to what fits. */
int64_t vpx_put_value(const struct vpx_call *c, const void *value, int n);
int64_t vpx_tcp_info(const struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_sendto(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_sendmsg(struct vpx_sock *v, const struct vpx_call *c);
int64_t vpx_sendmmsg(struct vpx_sock *v, const struct vpx_call *c);
/* recvfrom, recvmsg and recvmmsg. */
int64_t vpx_receive(struct vpx_sock *v, const struct vpx_call *c);
/* It may be gone afterwards. */
void vpx_listen_turn(struct vpx_sock *v);
void vpx_stream_turn(struct vpx_sock *v);
/* False: it is gone. */
bool vpx_dgram_turn(struct vpx_sock *v);
/* True: it is connected now. */
bool vpx_connect_turn(struct vpx_sock *v);
/* What the program has written goes to the graph before anything else is asked of it. */
void vpx_stream_up(struct vpx_sock *v);

#endif
