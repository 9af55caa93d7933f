/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto_fixture.h - tiny graphs for tests of single protocols.
 *
 * A test lists its nodes bottom-up; the fixture builds them through the C
 * interface of the graph under the virtual schedule, so that nothing happens
 * but by a call here and time moves only in pf_run.  Three doubles stand in for
 * neighbours:
 *
 *   pf_driver    "frame" below a link: keeps what is pushed, injects frames
 *   pf_hostlink  "hostlink" below ip or vnet: the same, by host address
 *   pf_upper     anything above: keeps what it gets, opens, enables, refuses
 *
 * The records use the C library's malloc, so they neither count as leaks of the
 * unit under test nor take part in failing allocations.
 * Invariant: pf_down leaves nothing allocated, or fails the test.
 */
#ifndef PROTO_FIXTURE_H
#define PROTO_FIXTURE_H

#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_proto.h"

struct pf_spec {
	const struct xk_proto *proto;   /* NULL ends the list */
	const char *name;               /* unique */
	const char *over;               /* "a" or "a,b": names of earlier nodes; NULL: bottom */
	const char *params;             /* "k=v; k=v": lists as a,b, maps as k=v,k=v; NULL */
};

struct pf {
	struct xk_graph *g;
	struct xk_errs  *errs;
	uint64_t         live_before;
};

/* A message that went past one of the doubles. */
struct pf_rec {
	uint16_t        vp;
	uint32_t        host;           /* pf_hostlink: the remote host */
	uint8_t         flags;          /* of the message */
	uint32_t        csum;
	struct xk_sess *lls;            /* pf_upper: where it came from (never dereferenced later) */
	struct xk_node *type;           /* pf_upper: the session's type */
	uint32_t        len;
	uint8_t        *bytes;
};
struct pf_recs { unsigned n, cap; struct pf_rec *v; };

#define PF_KEPT_MAX 64
/* State of a pf_upper node; tests change the switches at any time. */
struct pf_upper_state {
	struct pf_recs  got;
	bool            refuse;         /* answer open_done with XK_E_PERM */
	bool            keep;           /* xk_dup the session in open_done */
	unsigned        open_dones, close_dones, got_at_open_done;
	struct xk_sess *kept[PF_KEPT_MAX];
	unsigned        nkept;
	/* Called for every received message before it is freed; may be NULL. */
	void          (*on_msg)(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m);
};
/* Parameters of pf_upper: enable (bool, true): open_enable everything below. */

extern const struct xk_proto pf_driver;     /* link=eth|fddi|rawip|none mac=.. mtu=.. (whole frames) record=bool */
extern const struct xk_proto pf_hostlink;   /* mtu=.. host=.. */
/* The same over frames; declares UDP over IPv4 over Ethernet, the protocol number not in the key. */
extern const struct xk_proto pf_flat;
extern const struct xk_proto pf_upper;      /* numbers: link 0x0800, ip and host 253 */

/* The seed of graphs that are made from now on. */
#define PF_SEED 42u
extern uint64_t pf_seed;

/* Builds and starts; false when the graph refused (errors in f->errs, nothing
 * is left but f->errs; pf_down is still to be called). */
bool pf_up_try(struct pf *f, unsigned nvps, const struct pf_spec *specs);
/* The same; a refusal is printed and fails the test for good. */
void pf_up(struct pf *f, unsigned nvps, const struct pf_spec *specs);
/* Each of the first `most` allocations fails in turn: the graph, on one VP, is refused or comes up and runs for
 * 10 ms, until one run has met no failure; false: none came through. */
bool pf_survives(struct pf *f, const struct pf_spec *specs, uint64_t most);
/* With real workers and a real clock: pf_down, pf_node and pf_rep only; the rest
 * is posted to the VPs.  Records are not for threads: say record=false. */
void pf_up_threads(struct pf *f, unsigned nvps, unsigned workers, const struct pf_spec *specs);
/* Stops and frees; asserts that no buffer, session or block has leaked. */
void pf_down(struct pf *f);

struct xk_node *pf_node(struct pf *f, const char *name);
struct xk_rep  *pf_rep(struct pf *f, const char *name, unsigned vp);
struct pf_upper_state *pf_upper_of(struct pf *f, const char *name);

/* Lets everything that is due now happen. */
void pf_settle(struct pf *f);
/* Lets `dt` of virtual time pass. */
void pf_run(struct pf *f, xk_ns dt);
xk_ns pf_now(struct pf *f);

/* Inside VP vp, bracket protocol calls with these (not nested). */
void pf_enter(struct pf *f, unsigned vp);
void pf_leave(struct pf *f, unsigned vp);

/* A frame arrives at driver `name` on VP vp; settles.  headroom of the usual
 * size, one segment; _split cuts the message after `cut` bytes. */
void pf_inject(struct pf *f, const char *name, unsigned vp, const void *bytes, uint32_t len);
void pf_inject_split(struct pf *f, const char *name, unsigned vp, const void *bytes, uint32_t len, uint32_t cut);
/* A payload arrives at a pf_hostlink from `host` for protocol number `number`. */
void pf_inject_host(struct pf *f, const char *name, unsigned vp, uint32_t host,
		    uint32_t number, const void *bytes, uint32_t len);

/* What was pushed into a pf_driver or pf_hostlink, oldest first. */
unsigned pf_npushed(struct pf *f, const char *name);
const struct pf_rec *pf_pushed(struct pf *f, const char *name, unsigned i);
/* What a pf_upper got. */
unsigned pf_ngot(struct pf *f, const char *name);
const struct pf_rec *pf_got(struct pf *f, const char *name, unsigned i);
/* Forgets what a double has recorded. */
void pf_forget(struct pf *f, const char *name);

/* As the pf_upper `name` on VP vp: open below, push a copy of bytes, close;
 * each enters and leaves the VP; push settles. */
struct xk_sess *pf_open(struct pf *f, const char *name, unsigned vp, struct xk_parts *ps, int *err);
void pf_push(struct pf *f, unsigned vp, struct xk_sess *s, const void *bytes, uint32_t len);
void pf_close(struct pf *f, unsigned vp, struct xk_sess *s);
/* Opens and pushes to one address. */
struct xk_sess *pf_open_mac(struct pf *f, const char *name, unsigned vp, const uint8_t mac[6], int *err);
struct xk_sess *pf_open_host(struct pf *f, const char *name, unsigned vp, uint32_t host, int *err);

/* A message of these bytes (inside a VP); NULL when memory is out. */
struct xk_msg *pf_msg(const void *bytes, uint32_t len);
/* bytes into s as a super-segment whose frames have seg bytes of payload; settles. */
void pf_push_super(struct pf *f, struct xk_sess *s, const void *bytes, uint32_t len, uint32_t seg);

/* Drops of `name` over all VPs for a reason by its word in the descriptor, or
 * "nomem" / "unsupported"; UINT64_MAX when there is no such word.  NULL: all. */
uint64_t pf_drops(struct pf *f, const char *name, const char *reason);
/* The same for its counters. */
uint64_t pf_count(struct pf *f, const char *name, const char *counter);
/* Buffers of messages that are out. */
uint64_t pf_buffers(struct pf *f);
/* Live sessions of `name` over all VPs. */
uint64_t pf_sessions(struct pf *f, const char *name);

#endif
