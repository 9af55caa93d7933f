/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_fixture.h - streams without a transport, for tests of applications.
 *
 *   sf_stream   "stream", nothing below: a connection opened to a port that is
 *               waited on in the same node becomes two ends on the same VP, and
 *               what one pushes is passed up to the other, in pieces
 *   sf_peer     an application that a test plays: opens, waits, sends, takes, ends
 *
 * sf_stream keeps the promises of xk_stream.h and watches that those above keep
 * theirs: a push without room, one after the end, a wrong sum, more taken than was
 * passed up each count in sf_state.broken, which tests expect to be 0.
 * Invariant: bytes move only inside the task of sf_stream, in pf_settle or pf_run.
 */
#ifndef STREAM_FIXTURE_H
#define STREAM_FIXTURE_H

#include "runtime/upi/xk_stream.h"
#include "tests/protocols/proto_fixture.h"

/* room: bytes that an end may push ahead (65536); window: bytes passed up and not
 * taken (65536); chunk: most bytes passed up at once (1460). */
extern const struct xk_proto sf_stream;
/* port: waited on; 0 (the usual): none. */
extern const struct xk_proto sf_peer;

/* State of an sf_stream node; tests change the switches at any time. */
struct sf_state {
	bool     refuse;         /* whoever opens now is refused */
	bool     stalled;        /* nothing moves */
	unsigned broken;         /* promises that those above have not kept */
	unsigned summed;         /* messages pushed with their sum */
	unsigned at_once;        /* connections that said all, their end, too, when they were told that they stand */
	uint32_t most_queued;    /* of any end */
};
struct sf_state *sf_state(struct pf *f, const char *name);
/* Everything on VP vp fails with err. */
void sf_fail_all(struct pf *f, const char *name, unsigned vp, int err);
/* Ends of connections of the node on VP vp. */
unsigned sf_ends(struct pf *f, const char *name, unsigned vp);

/* Lets everything that is due now happen, also behind tasks that find nothing to do. */
void sf_settle(struct pf *f);

/* A connection of an sf_peer. */
struct sf_conn {
	struct xk_sess *s;       /* NULL: closed */
	unsigned        vp;
	uint8_t        *got;
	uint32_t        n, cap;
	unsigned        opened, failed, ended, writable, drained;
	int             err;
};
#define SF_CONNS 64

struct sf_conn *sf_open(struct pf *f, const char *name, unsigned vp, uint16_t port, bool manual);
/* Passive ones, in their order; NULL: not so many. */
struct sf_conn *sf_conn(struct pf *f, const char *name, unsigned i);
/* Each settles. */
void sf_send(struct pf *f, struct sf_conn *c, const void *bytes, uint32_t len);
void sf_say(struct pf *f, struct sf_conn *c, const char *text);
void sf_take(struct pf *f, struct sf_conn *c, uint32_t n);
void sf_shutdown(struct pf *f, struct sf_conn *c);
void sf_abort(struct pf *f, struct sf_conn *c);          /* and close */
void sf_close(struct pf *f, struct sf_conn *c);
/* Forgets the bytes got so far. */
void sf_forget(struct sf_conn *c);
/* Forgets all connections of an sf_peer, all of which are closed: it has SF_CONNS anew. */
void sf_forget_all(struct pf *f, const char *name);

#endif
