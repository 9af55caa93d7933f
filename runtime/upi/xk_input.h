/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_input.h - where messages come in, and on which virtual processor they go on.
 *
 * For drivers, and for transports, which know the connections that a device's classifier tells apart.
 */
#ifndef XK_INPUT_H
#define XK_INPUT_H

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_proto.h"

struct xk_graph;

/* ---- transports: where a connection's messages go ---------------------------------------- */

/* Makes the graph's classifiers send this connection's frames here, with a hint.
 * Transports call it after binding, before the first message can come.  Domain NONE: no
 * connection lives on an I/O thread's VP; there it is XK_E_NOTSUP, in a debug build an
 * assertion (open it where connections live: a VP below xk_vpset.nconn). */
int  xk_sess_announce(struct xk_sess *s, const struct xk_flowkey *k);
/* Takes it back, where s was announced: the connection is nobody's. */
void xk_sess_withdraw(struct xk_sess *s);
/* Asks for lines that unbinding s and withdrawing it touch, one depending on the other: those that s names, and
 * those that its flow does, whose line is asked for by the first. */
enum xk_sess_lines { XK_SESS_LINES, XK_SESS_FLOW_LINES };
void xk_sess_fetch_end(const struct xk_sess *s, enum xk_sess_lines which);
/*
 * Inside an I/O thread (xk_anywhere_here), of a connection k that its VP has no session for: may the
 * session be made here, beside those of other I/O threads, and announced to nobody?  So where the
 * architecture says `datagrams = "anywhere"`, rcv can, and no VP has the connection.  Else xk_reroute.
 */
bool xk_anywhere(const struct xk_rep *r, const struct xk_flowkey *k, const struct xk_node *rcv);
/* Is r's VP an I/O thread's whose datagrams may be of anybody? */
bool xk_anywhere_here(const struct xk_rep *r);
/* The same of all of rcv's peers: then no connection may be opened under what it waits on. */
bool xk_anywhere_waits(const struct xk_graph *g, const struct xk_node *rcv);
/* Where the hash of a connection says which VP it lives on, XK_E_ELSEWHERE unless that is r's.
 * Who chooses a port asks before binding it, and so does who was asked to (xk_parts.at_home);
 * one that the peer opens is where its frames go. */
int  xk_rep_home(const struct xk_rep *r, const struct xk_flowkey *k);
/*
 * The key of a connection of n, a protocol that declares its header: the bytes of every REMOTE
 * field from the device up to n, in that order and as they lie in frames, and the same for
 * LOCAL.  XK_E_NOENT: no device decides about n; XK_E_INVAL: not so many bytes; XK_E_NOTSUP:
 * devices below n lay keys out differently.
 */
int  xk_node_flowkey(const struct xk_node *n, const void *remote, unsigned nremote, const void *local, unsigned nlocal,
		     struct xk_flowkey *k);
/* Would a reply come here?  Makes one up for every device below s's protocol and has it
 * classified.  The debug build asserts it of every session that is announced. */
bool xk_sess_reply_comes_home(const struct xk_sess *s);

/* ---- drivers: messages come in ----------------------------------------------------------- */

/* A burst from a device at driver replica r (n <= 32): classified, then passed
 * up through r->drv_sess for messages of this VP, handed over for the others.
 * Drivers make drv_sess in their open (one per replica; a second opener gets
 * XK_E_BUSY); frames that come while it is NULL are dropped, counted. */
void xk_input(struct xk_rep *r, struct xk_msg **m, unsigned n);
/* A driver's whole enter operation: passes m, posted by another VP, up. */
void xk_input_enter(struct xk_rep *r, struct xk_msg *m);
/* A message whose owner shows only now (reassembled): continues at r->node's
 * enter on the owner's VP, or returns false: the owner is here. */
bool xk_reroute(struct xk_rep *r, const struct xk_flowkey *k, struct xk_msg *m);
/* A message of no connection, whose m->hash says which VP it goes on on: handed over as by
 * xk_reroute, or false: on this one. */
bool xk_spread(struct xk_rep *r, struct xk_msg *m);

/*
 * Is any node of n's graph captured (xk_capture.h)?  Then only what may leave as one frame is to pass: who
 * makes messages that stand for several asks it of each.  Inside a VP.  When a capture is attached every VP
 * has heard of it, so none longer is made; one that waits in a queue is still seen as it is.
 */
bool xk_captured(const struct xk_node *n);

/* The VP that reads device n where one alone does: an I/O thread, or the first; of the stages of a
 * pipeline, the one in which n's replica lives. */
struct xk_vp *xk_node_reader(const struct xk_node *n);
/* What a driver's parameter "classifier" says; where that is "auto" or there is none, the
 * environment's VP_CLASSIFIER, then "auto". */
const char *xk_node_classifier(const struct xk_node *n);
/* Makes n->classifier of n->pattern, of the best kind that works where the one that was asked
 * for refuses (logged). */
int  xk_node_classify(struct xk_node *n, char *why, size_t len);
/* The parameter, for a driver's schema: an unsigned in its configuration. */
#define XK_CLASSIFIER_PARAM(conf, field) \
	{ .name = "classifier", .type = XK_P_ENUM, .def = "auto", .choices = xk_classifier_kinds, \
	  .doc = "flow classifier; none: late demultiplexing", \
	  .offset = offsetof(conf, field) }

#endif
