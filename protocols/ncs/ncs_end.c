/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_end.c - how a connection ends: closed, given up, lost, and what the peer makes of that.
 *
 * Whatever ends a connection here, the peer is told by CLOSE, in doubling times, until it has said CLOSED, for
 * `give_up` at most.  Should all of them be lost, the other end may have nothing to say, and would stay for ever: so
 * of one that nothing was heard of for half of `give_up` the peer is asked by CHECK.  Who has it answers CONFIRM, who
 * is closing it CLOSE, who has it not RESET.  Old and doubled ones are harmless: no number is given twice in an epoch.
 * Invariant: a connection that is closing says nothing but CLOSE, and keeps no message.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/upi/xk_record.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_wheel.h"

#define CHECKS_MOST 80u                  /* of one turn: a datagram's */
#define LOOKS_MOST  1024u                /* connections that a turn looks at */

static struct xk_rep *rep_of(const struct ncs_conn *c) { return c->sess->s.rep; }

/* A state that it was not in; told to the flight recorder. */
void ncs_conn_enters(struct ncs_conn *c, enum ncs_state state)
{
	if (c->state != state)
		xk_record(rep_of(c), state, c->id, c->peer_id);
	c->state = state;
}

/* ---- here -------------------------------------------------------------------------------------------- */

/* Those above that hold it give it back. */
static void tell_above(struct ncs_conn *c)
{
	if (c->sess->s.rcnt > 0)
		xk_close_done(&c->sess->s);
}

void ncs_conn_gone(struct ncs_conn *c)
{
	bool told = c->state >= NCS_DRAINING;

	ncs_conn_enter(c);
	xk_timer_cancel(rep_of(c)->wheel, &c->timer);
	ncs_conn_enters(c, NCS_GONE);
	if (!told)
		tell_above(c);
	if (c->sess->s.rcnt == 0)
		c->dead = true;
	ncs_conn_leave(c);
}

void ncs_say_close(struct ncs_conn *c)
{
	ncs_greet_again(c->peer, 4);
	xk_put_be32(ncs_say(c->peer, NCS_CLOSE, c->peer_id, 4), c->id);
	ncs_conn_again(c);
}

void ncs_conn_close(struct ncs_conn *c)
{
	if (c->owes)                             /* what has come is answered, even so */
		ncs_answer(c);
	ncs_conn_enters(c, NCS_CLOSING);
	c->tries = 0;
	c->progress = xk_vp_now();
	ncs_say_close(c);
}

/* It is of no use to those above any more; the peer does not know yet. */
static void end(struct ncs_conn *c, int err, unsigned count)
{
	bool told = c->state >= NCS_DRAINING;

	c->ended.err = err;
	xk_count(rep_of(c)->count[count]);
	ncs_queues_free(c);
	c->queued = 0;
	ncs_conn_close(c);
	if (!told)
		tell_above(c);
}

void ncs_conn_give_up(struct ncs_conn *c)
{
	if (c->state == NCS_ESTABLISHED || c->state == NCS_DRAINING) {
		end(c, XK_E_TIMEDOUT, NCS_N_GIVEN_UP);
	} else if (c->state == NCS_OPENING) {
		c->ended.err = XK_E_TIMEDOUT;
		xk_count(rep_of(c)->count[NCS_N_GIVEN_UP]);
		ncs_conn_gone(c);
	} else if (c->state == NCS_CLOSING) {
		xk_count(rep_of(c)->count[NCS_N_UNHEARD]);
		ncs_conn_gone(c);
	}
}

void ncs_conn_too_long(struct ncs_conn *c)
{
	end(c, XK_E_MSGSIZE, NCS_N_LOST);
}

void ncs_conn_broken(struct ncs_conn *c)
{
	end(c, XK_E_CONNRESET, NCS_N_LOST);
}

void ncs_conn_lost(struct ncs_conn *c)
{
	if (c->ended.err == 0) {                 /* else it was, before */
		c->ended.err = XK_E_CONNRESET;
		xk_count(rep_of(c)->count[NCS_N_LOST]);
	}
	ncs_conn_gone(c);
}

void ncs_conn_let_go(struct ncs_conn *c)
{
	struct ncs_sess *peer = c->peer;

	ncs_peer_enter(peer);
	ncs_conn_enter(c);
	if (c->state == NCS_GONE) {
		c->dead = true;
	} else if (c->state == NCS_ESTABLISHED) {
		ncs_conn_enters(c, NCS_DRAINING);
		ncs_conn_arm(c);
	}                                        /* opening: the peer may have accepted, and is told then */
	ncs_conn_leave(c);
	ncs_peer_leave(peer);
}

/* ---- there ------------------------------------------------------------------------------------------- */

/* The peer has sent all it had.  Its CLOSE is answered again when there is nothing to close any more. */
void ncs_closed_by_peer(struct ncs_sess *p, struct ncs_conn *c, const struct ncs_rec *rec)
{
	if (rec->len != NCS_REC_LEN + 4)
		return;
	ncs_say(p, NCS_CLOSED, xk_be32(rec->v), 0);
	if (c == NULL || c->peer != p || c->peer_epoch != rec->epoch || c->state == NCS_OPENING)
		return;
	ncs_conn_enter(c);
	if (c->stages != NULL)
		ncs_rep(rep_of(c))->seams->finish(c);
	ncs_conn_gone(c);
	ncs_conn_leave(c);
}

/* Of one that is closing; an answer is no longer than the question, but for a number. */
void ncs_asked_closing(struct ncs_conn *c, const struct ncs_rec *rec)
{
	if (rec->type == NCS_CHECK)
		xk_put_be32(ncs_say(c->peer, NCS_CLOSE, c->peer_id, 4), c->id);
}

/* Who says more of it, or asks, is told, with the epoch that he said it in. */
void ncs_unknown(struct ncs_sess *p, const struct ncs_rec *rec)
{
	xk_dropped(p->s.rep, NCS_DROP_STRANGE, 1);
	if (rec->type == NCS_ACK || rec->type == NCS_CREDIT || rec->type == NCS_QUERY || rec->type == NCS_NOTE ||
	    rec->type == NCS_CHECK)
		xk_put_be32(ncs_say(p, NCS_RESET, rec->conn, 4), rec->epoch);
}

/* The peer does not know the connection that it calls so.  It tells no two by one number. */
void ncs_reset(struct ncs_sess *p, const struct ncs_rec *rec)
{
	struct ncs_conn *c = p->peer.conns;

	if (rec->len != NCS_REC_LEN + 4 || xk_be32(rec->v) != ncs_rep(p->s.rep)->epoch)
		return;
	while (c != NULL && !((c->state == NCS_ESTABLISHED || c->state == NCS_DRAINING) && c->peer_id == rec->conn &&
	       c->peer_epoch == rec->epoch))
		c = c->next;
	if (c != NULL)
		ncs_conn_lost(c);
}

/* ---- has it ended there? ----------------------------------------------------------------------------- */

static bool in_doubt(const struct ncs_conn *c, xk_ns now)
{
	return (c->state == NCS_ESTABLISHED || c->state == NCS_DRAINING) && now - c->heard >= ncs_conf(rep_of(c))->give_up / 2;
}

void ncs_conns_check(struct ncs_sess *p)
{
	struct ncs_conn *first = p->peer.check != NULL ? p->peer.check : p->peer.conns, *c = first;
	unsigned looked = 0, said = 0;
	xk_ns now = xk_vp_now();

	if (c == NULL || now - p->peer.checked < ncs_often(p->s.rep))
		return;
	p->peer.checked = now;
	do {
		if (in_doubt(c, now)) {
			ncs_greet_again(p, 0);
			ncs_say(p, NCS_CHECK, c->peer_id, 0);
			xk_count(p->s.rep->count[NCS_N_CHECKS]);
			said++;
		}
		c = c->next != NULL ? c->next : p->peer.conns;
	} while (c != first && ++looked < LOOKS_MOST && said < CHECKS_MOST);
	p->peer.check = c;
}
