/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_ctl.c - the control connection to a peer: made, asked whether it is there, and what comes over it taken apart.
 *
 * Each replica has one of its own to each peer, which lives as long as the graph; those that peers
 * begin are as many as `peers` says: one that no connection uses goes when another peer comes.
 * Over a stream it is its one connection's, and ends with it.
 * Invariant: a peer's session is bound under the session below, whose `up` is its self.
 */
#include "protocols/ncs/ncs_priv.h"
#include "protocols/tcp/tcp.h"

#include "runtime/upi/xk_stream.h"
#include "runtime/vp/xk_task.h"

#include <string.h>

static void on_timer(struct xk_timer *t);

static struct xk_key key_of(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, 1 } };
}

/* Takes the reference to lls either way. */
static struct ncs_sess *peer_new(struct xk_rep *r, struct xk_sess *lls, uint32_t host, bool ours, int *err)
{
	struct xk_sess *s = xk_sess_create(r, &r->up, r->node, lls);
	struct xk_key k = key_of(lls);

	if (s != NULL)
		memset(&ncs_sess(s)->peer, 0, offsetof(struct ncs_peer, out));
	*err = s != NULL ? xk_sess_bind(s, &k) : XK_E_NOMEM;
	if (*err == XK_OK && ncs_rep(r)->seams != NULL && !ncs_rep(r)->seams->peer_new(ncs_sess(s)))
		*err = XK_E_NOMEM;
	if (*err != XK_OK) {
		if (s != NULL)
			xk_sess_destroy(s);
		xk_close(lls);
		return NULL;
	}
	ncs_sess(s)->is_peer = true;
	ncs_sess(s)->peer.host = host;
	ncs_sess(s)->peer.ours = ours;
	ncs_sess(s)->peer.stream = ncs_is_stream(lls->rep);
	ncs_sess(s)->peer.needs_sum = ncs_sess(s)->peer.sums = ncs_needs_sum(r, lls->rep);
	s->self = (struct xk_up){ xk_self_demux(r->node, ncs_self_demux), r };
	lls->up = &s->self;
	if (ncs_sess(s)->peer.stream)            /* what leaves together is together already */
		xk_sess_control(lls, TCP_CTL_NODELAY, &(uint32_t){ 1 }, sizeof(uint32_t));
	xk_timer_init(&ncs_sess(s)->peer.timer, on_timer);
	ncs_rep(r)->npeers += !ours;
	return ncs_sess(s);
}

/* ---- finding one, and making it ------------------------------------------------------------ */

struct wanted { uint32_t host; const struct xk_rep *over; struct ncs_sess *found; };

static bool leads_to(const struct ncs_sess *p, const struct wanted *w)
{
	return p->is_peer && p->peer.ours && !p->peer.over && p->peer.host == w->host && p->s.down->rep == w->over;
}

static int look(struct xk_mapnode *n, void *arg)
{
	struct ncs_sess *p = ncs_sess(xk_container_of(n, struct xk_sess, map));
	struct wanted *w = arg;

	if (leads_to(p, w))
		w->found = p;
	return XK_MAP_KEEP;
}

/* One for a connection that is about to be opened. */
static struct ncs_sess *stream_to(struct xk_rep *r, struct xk_rep *over, uint32_t host, int *err)
{
	struct xk_sess *lls = ncs_open_below(r, over, host, ncs_peer_port(r), 0, err);

	return lls != NULL ? peer_new(r, lls, host, true, err) : NULL;
}

struct ncs_sess *ncs_peer_to(struct xk_rep *r, struct xk_rep *over, uint32_t host, int *err)
{
	struct wanted w = { host, over, ncs_rep(r)->peer };
	struct xk_sess *lls;

	if (ncs_is_stream(over))
		return stream_to(r, over, host, err);
	if (w.found != NULL && leads_to(w.found, &w))
		return w.found;
	w.found = NULL;
	xk_map_foreach(&r->active, look, &w);
	if (w.found != NULL)
		return ncs_rep(r)->peer = w.found;
	lls = ncs_open_below(r, over, host, ncs_peer_port(r), 0, err);
	return lls != NULL ? (ncs_rep(r)->peer = peer_new(r, lls, host, true, err)) : NULL;
}

static int look_idle(struct xk_mapnode *n, void *arg)
{
	struct ncs_sess *p = ncs_sess(xk_container_of(n, struct xk_sess, map));

	if (!p->is_peer || p->peer.ours || p->peer.busy != 0 || p->peer.conns != NULL)
		return XK_MAP_KEEP;
	((struct wanted *)arg)->found = p;
	return XK_MAP_STOP;
}

/* A place for one more that a peer begins: who comes again begins anew. */
static bool place(struct xk_rep *r, bool stream)
{
	const struct ncs_conf *c = ncs_conf(r);
	struct wanted w = { 0, NULL, NULL };

	if (ncs_rep(r)->npeers < (stream ? c->connections : c->peers))
		return true;
	xk_map_foreach(&r->active, look_idle, &w);
	if (w.found == NULL)
		return false;
	ncs_peer_free(w.found);
	return true;
}

int ncs_peer_over(struct xk_rep *r, struct xk_sess *lls)
{
	uint32_t host;
	int err;

	if (!place(r, ncs_is_stream(lls->rep)))
		return XK_E_NOSPC;
	if (xk_sess_control(lls, XK_CTL_GETPEERHOST, &host, sizeof host) != (int)sizeof host)
		return XK_E_NOTSUP;
	peer_new(r, xk_dup(lls), host, false, &err);
	return err;
}

/* ---- is it there? ---------------------------------------------------------------------------- */

/* Whoever answers says with which question, so an old answer is none; with the epoch of now. */
static void ping(struct ncs_sess *p)
{
	p->peer.asked++;
	p->peer.unanswered++;
	ncs_greet_again(p, 4);
	xk_put_be32(ncs_say(p, NCS_PING, 0, 4), p->peer.asked);
}

/* For each connection, which may end by it, as others may. */
static void each(struct ncs_sess *p, void (*what)(struct ncs_conn *c, const void *arg), const void *arg)
{
	struct ncs_conn *c = p->peer.conns, *next;

	if (c != NULL)
		ncs_conn_enter(c);
	for (; c != NULL; c = next) {
		what(c, arg);
		next = c->next;
		if (next != NULL)
			ncs_conn_enter(next);
		ncs_conn_leave(c);
	}
}

/* Connections that are asked for ask by themselves. */
static bool known(const struct ncs_sess *p)
{
	const struct ncs_conn *c = p->peer.conns;

	while (c != NULL && c->state == NCS_OPENING)
		c = c->next;
	return c != NULL;
}

static void given_up(struct ncs_conn *c, const void *arg)
{
	(void)arg;
	if (c->state == NCS_ESTABLISHED || c->state == NCS_DRAINING)
		ncs_conn_give_up(c);
}

static void on_timer(struct xk_timer *t)
{
	struct ncs_sess *p = xk_container_of(t, struct ncs_sess, peer.timer);
	struct xk_rep *r = p->s.rep;
	xk_ns now = xk_vp_now(), quiet = now - p->peer.heard, next = p->peer.heard + ncs_silence(r);

	if (p->peer.conns == NULL)
		return;
	ncs_peer_enter(p);
	if (quiet >= ncs_conf(r)->give_up) {
		each(p, given_up, NULL);
	} else if (quiet >= ncs_silence(r) || p->peer.unanswered != 0) {
		next = now + ncs_again(r, ncs_silence(r), p->peer.unanswered);
		if (known(p))
			ping(p);
	}
	ncs_conns_check(p);
	if (next > p->peer.heard + ncs_conf(r)->give_up)
		next = p->peer.heard + ncs_conf(r)->give_up;
	if (p->peer.conns != NULL)
		xk_timer_set(r->wheel, t, next > now ? next : now + ncs_silence(r));
	ncs_peer_leave(p);
}

/* That was of another process than ours: the peer may have started anew. */
static void doubt(struct ncs_sess *p)
{
	if (p->peer.unanswered == 0)
		ping(p);
}

/* The peer has started anew since it spoke of the connection. */
static void lost_with(struct ncs_conn *c, const void *arg)
{
	if (c->state != NCS_OPENING && c->state != NCS_GONE && c->peer_epoch != ((const struct ncs_rec *)arg)->epoch)
		ncs_conn_lost(c);
}

static void ponged(struct ncs_sess *p, const struct ncs_rec *rec)
{
	if (rec->len != NCS_REC_LEN + 4 || p->peer.unanswered == 0 || xk_be32(rec->v) != p->peer.asked)
		return;
	p->peer.unanswered = 0;
	each(p, lost_with, rec);
}

/* Of the peer itself, not of a connection. */
static bool of_peer(struct ncs_sess *p, const struct ncs_rec *rec)
{
	if (rec->type == NCS_PING && rec->len == NCS_REC_LEN + 4)
		xk_put_be32(ncs_say(p, NCS_PONG, 0, 4), xk_be32(rec->v));
	else if (rec->type == NCS_PONG)
		ponged(p, rec);
	else if (rec->type != NCS_HELLO)
		return false;
	return true;
}

/* ---- in --------------------------------------------------------------------------------------- */

/* Skips the sum of what follows, if there is one.  Whoever says one is answered with one. */
static bool good_sum(struct ncs_sess *p, const uint8_t *b, uint32_t n, uint32_t *at)
{
	struct ncs_rec rec;

	if (!ncs_rec_load(b, n, &rec) || rec.type != NCS_SUM || rec.len != NCS_SUM_RECORD)
		return !p->peer.needs_sum;
	*at = NCS_SUM_RECORD;
	if (xk_be32(rec.v) != ~ncs_crc32c(UINT32_MAX, b + NCS_SUM_RECORD, n - NCS_SUM_RECORD))
		return false;
	p->peer.sums = true;
	return true;
}

void ncs_records_in(struct ncs_sess *p, struct xk_msg *m)
{
	struct xk_rep *r = p->s.rep;
	uint8_t bytes[NCS_SUM_RECORD + NCS_CTL_MOST];
	uint32_t n = m->tot, at = 0;
	struct ncs_rec rec;
	bool strange = false, said = false;

	if (n > sizeof bytes || n == 0) {
		xk_drop(r, NCS_DROP_RECORD, m);
		return;
	}
	xk_msg_copy_out(m, 0, bytes, n);
	if (!good_sum(p, bytes, n, &at)) {
		xk_drop(r, NCS_DROP_SUM, m);
		return;
	}
	ncs_peer_enter(p);
	for (; at < n && ncs_rec_load(bytes + at, n - at, &rec); at += rec.len) {
		xk_count(r->count[NCS_N_RECORDS_IN]);
		if (!ncs_lets_in(p, &rec, &said)) {
			strange = true;
			if (rec.type == NCS_HELLO)
				break;
			continue;
		}
		p->peer.heard = xk_vp_now();
		if (!of_peer(p, &rec) && !ncs_conn_record(p, &rec))
			doubt(p);
	}
	ncs_peer_leave(p);
	if (strange || at < n)
		xk_drop(r, strange ? NCS_DROP_KEY : NCS_DROP_RECORD, m);
	else
		xk_msg_free(m);
}

/* ---- a stream: the end ------------------------------------------------------------------------------------- */

/* Nothing more is said or heard over it. */
static void lost_now(struct ncs_conn *c, const void *arg)
{
	(void)arg;
	if (c->state != NCS_GONE)
		ncs_conn_lost(c);
}

static void over(struct ncs_sess *p, bool abort)
{
	if (p->peer.over)
		return;
	ncs_peer_enter(p);
	p->peer.over = true;
	p->peer.nout = 0;
	p->peer.greeted = false;
	if (abort)
		xk_sess_control(p->s.down, XK_STREAM_ABORT, NULL, 0);
	each(p, lost_now, NULL);
	ncs_peer_leave(p);
}

/* What of ours lies over lls; NULL: nothing yet. */
static struct ncs_sess *over_it(const struct xk_rep *r, struct xk_sess *lls)
{
	return lls->up == &r->up ? NULL : xk_container_of(lls->up, struct ncs_sess, s.self);
}

static struct ncs_sess *peer_of(const struct xk_rep *r, struct xk_sess *stream)
{
	struct ncs_sess *s = over_it(r, stream);

	return s != NULL && s->is_peer && s->peer.stream ? s : NULL;
}

/* The interface of a connection that it stopped. */
static void takes_more(struct ncs_sess *s)
{
	struct ncs_sess *peer;

	if (s == NULL || s->is_peer)
		return;
	peer = s->conn.peer;
	s->conn.stopped = false;
	ncs_peer_enter(peer);
	ncs_conn_enter(&s->conn);
	ncs_turn(&s->conn);
	ncs_conn_leave(&s->conn);
	ncs_peer_leave(peer);
}

void ncs_stream_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct ncs_sess *p = peer_of(r, ev->s);
	struct ncs_conn *c;

	if (p == NULL) {
		takes_more(over_it(r, ev->s));
		return;
	}
	if (ev->what == XK_STREAM_FAILED) {
		over(p, false);
	} else if (ev->what == XK_STREAM_WRITABLE || ev->what == XK_STREAM_OPENED) {
		ncs_peer_enter(p);
		ncs_flush(p);
		c = p->peer.conns;
		if (c != NULL) {
			ncs_conn_enter(c);
			ncs_turn(c);
			ncs_conn_leave(c);
		}
		ncs_peer_leave(p);
	}
}

/* The peer says nothing any more.  It has said CLOSE before, if it meant well. */
void ncs_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct ncs_sess *s = over_it(r, lls), *peer;

	if (s == NULL || s->is_peer) {
		if (s != NULL)
			over(s, false);
		return;
	}
	peer = s->conn.peer;             /* over a port: what lies below is the connection's own */
	ncs_peer_enter(peer);
	ncs_conn_enter(&s->conn);
	lost_now(&s->conn, NULL);
	ncs_conn_leave(&s->conn);
	ncs_peer_leave(peer);
}

/* ---- a stream: in -------------------------------------------------------------------------------- */

static void whole(struct ncs_sess *p, struct xk_msg *m)
{
	struct ncs_conn *c = p->peer.conns;

	if (p->peer.records)
		ncs_records_in(p, m);
	else if (c != NULL && c->state != NCS_GONE)
		ncs_data_in(c, m);
	else
		xk_drop(p->s.rep, NCS_DROP_STRANGE, m);
}

static void stream_in(struct ncs_sess *p, struct xk_msg *m)
{
	enum ncs_piece is = NCS_PIECE_WHOLE;
	struct xk_msg *piece;

	m->flags &= XK_MSG_SLOW;
	ncs_peer_enter(p);
	while (is == NCS_PIECE_WHOLE && !p->peer.over) {
		is = ncs_stream_piece(&p->peer, &m, &piece);
		if (is == NCS_PIECE_WHOLE)
			whole(p, piece);
	}
	if (is == NCS_PIECE_BAD || is == NCS_PIECE_NOMEM)    /* its place in the stream is lost */
		over(p, true);
	if (is == NCS_PIECE_NOMEM)
		xk_dropped(p->s.rep, XK_DROP_NOMEM, 1);
	if (m != NULL)
		xk_drop(p->s.rep, is == NCS_PIECE_BAD ? NCS_DROP_LENGTH : NCS_DROP_GONE, m);
	ncs_peer_leave(p);
}

/* What sessions of both kinds receive by. */
void ncs_self_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct ncs_sess *s = xk_container_of(up, struct ncs_sess, s.self);

	(void)lls;
	xk_count(s->s.rep->npop);
	if (s->is_peer && s->peer.stages != NULL)
		ncs_rep(s->s.rep)->seams->ctl_receive(s, m);
	else if (s->is_peer && s->peer.stream)
		stream_in(s, m);
	else if (s->is_peer)
		ncs_records_in(s, m);
	else
		ncs_data_in(&s->conn, m);
}
