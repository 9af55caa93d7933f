/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_conn.c - a connection's life: asked for, accepted, drained; its end is in ncs_end.c.
 *
 * OPEN and CLOSE are repeated, in doubling times, until they are answered; their answers are given
 * again to whoever asks again.  A connection of which nothing is heard for `give_up` although it
 * waits for something is lost, and those above are told.
 * Invariant: a connection that is not dead has its number, its data connection and its peer.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_stream.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_wheel.h"

#include <stdio.h>
#include <string.h>

#define GUESS (100 * XK_MS)              /* of a round trip, before one was seen */
#define AGAIN (200 * XK_MS)
#define LOOPBACK 127u                    /* the network that a host has to itself */

static void on_timer(struct xk_timer *t);

static struct xk_rep *rep_of(const struct ncs_conn *c) { return c->sess->s.rep; }
static const struct ncs_seams *seams_of(const struct ncs_conn *c) { return ncs_rep(rep_of(c))->seams; }

/* ---- made and destroyed ------------------------------------------------------------------------- */

static int halves(struct ncs_conn *c)
{
	xk_ns now = xk_vp_now();

	c->tx = xk_alloc(ncs_tx_size(&c->choice));
	c->rx = xk_alloc(ncs_rx_size(&c->choice));
	if (c->tx == NULL || c->rx == NULL)
		return XK_E_NOMEM;
	ncs_tx_init(c->tx, &c->choice, GUESS, 2 * c->choice.agreed.grain, now);
	ncs_rx_init(c->rx, &c->choice);
	c->tx->rtt.most = ncs_often(rep_of(c));
	c->end = c->fresh = c->choice.agreed.start;
	c->progress = c->heard = now;
	return seams_of(c) == NULL || seams_of(c)->conn_new(c) ? XK_OK : XK_E_NOMEM;
}

/* Takes the reference to lls either way. */
struct ncs_sess *ncs_conn_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct ncs_sess *peer,
			      struct xk_sess *lls, const struct ncs_choice *choice, int *err)
{
	struct ncs_rep *nr = ncs_rep(r);
	struct xk_sess *s = NULL;
	struct ncs_conn *c;
	uint32_t room;

	*err = nr->nconn < ncs_conf(r)->connections ? XK_E_NOMEM : XK_E_NOSPC;
	if (*err == XK_E_NOMEM)
		s = xk_sess_create(r, up, type, lls);
	if (s == NULL) {
		xk_close(lls);
		return NULL;
	}
	ncs_sess(s)->is_peer = false;
	c = &ncs_sess(s)->conn;
	memset(c, 0, sizeof *c);
	c->sess = ncs_sess(s);
	c->peer = peer;
	c->choice = *choice;
	c->choice.agreed.grain = r->wheel->length;
	c->choice.agreed.newreno = ncs_conf(r)->congestion == NCS_CONGESTION_NEWRENO && ncs_is_shared(lls->rep) &&
				   peer->peer.host >> 24 != LOOPBACK;
	c->choice.agreed.pooled = ncs_conf(r)->pool != 0;
	c->holds = ncs_is_sure(lls->rep);
	xk_timer_init(&c->timer, on_timer);
	c->next = peer->peer.conns;
	c->at = &peer->peer.conns;
	if (c->next != NULL)
		c->next->at = &c->next;
	*c->at = c;
	if (c->next == NULL)
		ncs_peer_watch(peer);
	s->self = (struct xk_up){ xk_self_demux(r->node, nr->demux), r };
	if (!peer->peer.stream)
		lls->up = &s->self;
	c->paced = !peer->peer.stream && choice->flow == &ncs_fc_none && choice->error == &ncs_ec_none &&
		   xk_sess_control(lls, XK_STREAM_ROOM, &room, sizeof room) == (int)sizeof room;
	*err = ncs_number(nr, c);
	if (*err == XK_OK)
		*err = xk_sess_bind(s, &(struct xk_key){ { c->id, 2 } });
	if (*err == XK_OK)
		*err = halves(c);
	if (*err == XK_OK)
		return ncs_sess(s);
	ncs_conn_destroy(c);
	return NULL;
}

void ncs_conn_destroy(struct ncs_conn *c)
{
	struct xk_rep *r = rep_of(c);
	struct ncs_rep *nr = ncs_rep(r);
	struct xk_sess *lls = c->sess->s.down;

	xk_timer_cancel(r->wheel, &c->timer);
	if (c->stages != NULL)
		nr->seams->conn_free(c);
	xk_list_take(&c->owing);
	ncs_queues_free(c);
	ncs_notes_free(&c->notes);
	xk_free(c->tx);
	xk_free(c->rx);
	*c->at = c->next;
	if (c->next != NULL)
		c->next->at = c->at;
	if (c->peer->peer.check == c)
		c->peer->peer.check = c->next;
	ncs_number_free(nr, c);
	ncs_pool_leave(c);
	c->peer->peer.done = true;
	if (!c->peer->peer.stream)
		lls->up = &r->up;
	xk_sess_destroy(&c->sess->s);
	xk_close(lls);
}

void ncs_conn_enter(struct ncs_conn *c)
{
	c->busy++;
}

void ncs_conn_leave(struct ncs_conn *c)
{
	if (--c->busy == 0 && c->dead)
		ncs_conn_destroy(c);
}

/* Of those above that hold it. */
static void tell(struct ncs_conn *c, unsigned what, const uint8_t *note)
{
	struct ncs_event e = { &c->sess->s, what, note };

	if (c->watched && c->sess->s.rcnt > 0)
		xk_control(c->sess->s.up->rep, NCS_CTL_EVENT, &e, sizeof e);
}

void ncs_conn_tell(struct ncs_conn *c, unsigned what) { tell(c, what, NULL); }

/* ---- what is said of it --------------------------------------------------------------------------- */

void ncs_conn_again(struct ncs_conn *c)
{
	c->asked = xk_vp_now();
	c->tries += c->tries < UINT8_MAX;
	ncs_conn_arm(c);
}

void ncs_conn_ask(struct ncs_conn *c)
{
	struct ncs_open o = { .service = c->service, .flow = (uint8_t)ncs_flow_no(c->choice.flow),
			      .error = (uint8_t)ncs_error_no(c->choice.error), .check = c->sums, .a = c->choice.agreed,
			      .hello = c->has_hello ? c->hello : NULL };
	uint8_t names[NCS_NAMES_LEN] = { 0 }, *b;

	if (c->peer->peer.stream)
		o.data = ncs_conf(rep_of(c))->port;
	else
		xk_sess_control(c->sess->s.down, XK_CTL_GETMYPORT, &o.data, sizeof o.data);
	memcpy(names, c->choice.flow->name, strnlen(c->choice.flow->name, NCS_NAME_MOST));
	memcpy(names + NCS_NAME_MOST, c->choice.error->name, strnlen(c->choice.error->name, NCS_NAME_MOST));
	o.names = names;
	ncs_greet(c->peer, ncs_open_len(&o));
	b = ncs_say(c->peer, NCS_OPEN, c->id, ncs_open_len(&o));
	ncs_open_store(b, &o);
	ncs_open_store_more(b + NCS_OPEN_LEN, &o);
	ncs_conn_again(c);
}

static void say_accept(struct ncs_conn *c)
{
	if (c->peer->peer.met)
		ncs_greet(c->peer, 4);
	xk_put_be32(ncs_say(c->peer, NCS_ACCEPT, c->peer_id, 4), c->id);
	ncs_conn_again(c);
}

/* Who was accepted, and has said nothing since, may not know of it: another OPEN of his came late. */
static bool unsure(const struct ncs_conn *c)
{
	return c->passive && !c->confirmed && (c->state == NCS_ESTABLISHED || c->state == NCS_DRAINING);
}

static xk_ns again_at(const struct ncs_conn *c)
{
	unsigned vain = c->tries > 1 ? c->tries - 1u : 0;

	return c->asked + (unsure(c) ? XK_SEC << (vain < 5 ? vain : 5) : ncs_again(rep_of(c), AGAIN, vain));
}

/* ---- time -------------------------------------------------------------------------------------------- */

static bool drained(const struct ncs_conn *c) { return ncs_tx_done(c->tx) == c->end; }

/* All that was pushed or said is needed no more. */
static bool quiet(const struct ncs_conn *c) { return drained(c) && ncs_notes_pending(&c->notes) == 0; }

static bool asks(const struct ncs_conn *c) { return c->state == NCS_OPENING || c->state == NCS_CLOSING; }

/* When it is given up.  At a rate it is silent as long as an SDU takes, and so may its peer's answer be. */
static xk_ns lost_at(const struct ncs_conn *c)
{
	const struct ncs_agreed *a = &c->choice.agreed;
	xk_ns t = c->progress + ncs_conf(rep_of(c))->give_up;

	if (asks(c) || c->choice.flow != &ncs_fc_rate)
		return t;
	return t + 2 * (uint64_t)a->sdu * 8 * XK_SEC / (a->rate != 0 ? a->rate : 1);
}

static xk_ns due(const struct ncs_conn *c)
{
	xk_ns now = xk_vp_now(), t, lost = lost_at(c), note = ncs_note_when(&c->notes, &c->tx->rtt);

	if (asks(c)) {
		t = again_at(c);
		return t < lost ? t : lost;
	}
	/* Or when there is room. */
	t = ncs_may_leave(c) ? ncs_tx_when(c->tx, now) : drained(c) ? XK_NS_NEVER : lost;
	t = note < t ? note : t;
	if (!quiet(c) && t != XK_NS_NEVER)
		t = t < lost ? t : lost;
	t = c->held != 0 && ncs_along_when(c) < t ? ncs_along_when(c) : t;
	return unsure(c) && again_at(c) < t ? again_at(c) : t;
}

void ncs_conn_arm(struct ncs_conn *c)
{
	xk_ns t;

	if (c->state == NCS_DRAINING && quiet(c)) {
		ncs_conn_close(c);
		return;
	}
	t = c->state == NCS_GONE ? XK_NS_NEVER : due(c);
	if (t != XK_NS_NEVER)
		xk_timer_set(rep_of(c)->wheel, &c->timer, t);
	else if (xk_timer_armed(&c->timer))      /* nothing is waited for: its slot may come, and it is not called then */
		xk_timer_set(rep_of(c)->wheel, &c->timer, XK_NS_NEVER);
}

static void on_timer(struct xk_timer *t)
{
	struct ncs_conn *c = xk_container_of(t, struct ncs_conn, timer);
	struct ncs_sess *peer = c->peer;
	xk_ns now = xk_vp_now();
	uint32_t value;

	ncs_peer_enter(peer);
	ncs_conn_enter(c);
	if ((asks(c) || !quiet(c)) && now >= lost_at(c)) {
		ncs_conn_give_up(c);
	} else if (asks(c)) {
		if (now < due(c))
			ncs_conn_arm(c);
		else if (c->state == NCS_OPENING)
			ncs_conn_ask(c);
		else
			ncs_say_close(c);
	} else if (c->state != NCS_GONE) {
		if (unsure(c) && now >= again_at(c))
			say_accept(c);
		if (c->held != 0 && now >= ncs_along_when(c))
			ncs_answer(c);
		if (ncs_tx_time(c->tx, now, &value))
			xk_put_be32(ncs_say(peer, NCS_QUERY, c->peer_id, 4), value);
		ncs_note_time(&c->notes, &c->tx->rtt, now);
		ncs_say_notes(c);
		ncs_turn(c);
	}
	ncs_conn_leave(c);
	ncs_peer_leave(peer);
}

/* ---- records of the peer ---------------------------------------------------------------------------------- */

static void refuse(struct ncs_sess *p, uint32_t id, int err, const char *why)
{
	uint32_t n = (uint32_t)strlen(why);
	uint8_t *b;

	if (p->peer.met)                         /* an answer is no longer than the question */
		ncs_greet(p, 4 + n);
	b = ncs_say(p, NCS_REFUSE, id, 4 + n);
	if (err == XK_E_NOTSUP && n != 0)
		ncs_tell(p, "is refused: %s", why);
	xk_put_be32(b, (uint32_t)-err);
	memcpy(b + 4, why, n);
	xk_count(p->s.rep->count[NCS_N_REFUSED]);
}

/* The end here of the data connection that p asks for. */
static struct xk_sess *data_from(struct ncs_sess *p, uint16_t port, int *err)
{
	return ncs_open_below(p->s.rep, p->s.down->rep, p->peer.host, port, (uint16_t)(ncs_conf(p->s.rep)->port + 1), err);
}

/* A connection that the same OPEN made, which came from a port that was not its sender's: where nobody vouches
 * for bytes, for none of a port either.  It has the data connection, and its ACCEPT reaches nobody. */
static struct ncs_conn *misled(const struct ncs_sess *p, uint32_t id, uint16_t epoch)
{
	const struct ncs_rep *nr = ncs_rep(p->s.rep);

	for (uint32_t i = 0; i < nr->room; i++) {
		struct ncs_conn *c = nr->conn[i];

		if (c != NULL && c->passive && !c->confirmed && c->peer_id == id && c->peer_epoch == epoch &&
		    c->peer != p && c->peer->peer.host == p->peer.host)
			return c;
	}
	return NULL;
}

static struct ncs_conn *accept_new(struct ncs_sess *p, const struct ncs_open *o, struct ncs_choice *choice,
				   uint32_t id, uint16_t epoch, int *err)
{
	struct xk_rep *r = p->s.rep;
	struct xk_key k = { { o->service, 0 } };
	struct xk_enable *e = xk_enable_find(r->node, &k);
	struct xk_sess *lls;
	struct ncs_conn *ghost;
	struct ncs_sess *s;

	*err = XK_E_CONNREFUSED;
	if (e == NULL)
		return NULL;
	if (p->peer.stream && p->peer.conns != NULL)
		return NULL;
	lls = p->peer.stream ? xk_dup(p->s.down) : data_from(p, o->data, err);
	if (lls == NULL && (ghost = misled(p, id, epoch)) != NULL) {
		ncs_conn_lost(ghost);
		lls = data_from(p, o->data, err);
	}
	if (lls == NULL)
		return NULL;
	s = ncs_conn_new(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), p, lls, choice, err);
	if (s == NULL)
		return NULL;
	s->conn.passive = true;
	s->conn.peer_id = id;
	ncs_conn_enters(&s->conn, NCS_ESTABLISHED);
	s->conn.peer_epoch = epoch;
	s->conn.service = o->service;
	s->conn.sums = o->check != 0;
	s->conn.has_hello = o->hello != NULL;
	if (o->hello != NULL)
		memcpy(s->conn.hello, o->hello, NCS_HELLO_LEN);
	s->s.flags |= XK_SESS_PASSIVE;
	*err = xk_open_done(xk_enable_rcv(e), &s->s, xk_enable_type(e));
	if (*err >= 0) {
		ncs_data_expect(&s->conn);
		return &s->conn;
	}
	ncs_conn_destroy(&s->conn);
	return NULL;
}

static void opened(struct ncs_sess *p, const struct ncs_rec *rec)
{
	struct xk_rep *r = p->s.rep;
	struct ncs_choice choice;
	struct ncs_open o;
	struct ncs_conn *c = p->peer.conns;
	char why[NCS_WHY] = "";
	int err;

	if (!ncs_open_load(rec->v, rec->len - NCS_REC_LEN, &o)) {
		xk_dropped(r, NCS_DROP_RECORD, 1);
		return;
	}
	while (c != NULL && !(c->passive && c->peer_id == rec->conn && c->peer_epoch == rec->epoch))
		c = c->next;
	if (c != NULL) {                         /* it has not heard */
		say_accept(c);
		return;
	}
	err = ncs_misfit(p, why, sizeof why);
	if (err == XK_OK)
		err = ncs_accepts(r, &o, &choice, why, sizeof why);
	if (err == XK_OK)
		c = accept_new(p, &o, &choice, rec->conn, rec->epoch, &err);
	if (c == NULL) {
		refuse(p, rec->conn, err, why);
		return;
	}
	xk_count(r->count[NCS_N_ACCEPTED]);
	say_accept(c);
}

static void accepted(struct ncs_conn *c, const struct ncs_rec *rec)
{
	if (rec->len != NCS_REC_LEN + 4 || c->state != NCS_OPENING)
		return;
	c->peer_id = xk_be32(rec->v);
	c->peer_epoch = rec->epoch;
	ncs_conn_enters(c, c->sess->s.rcnt > 0 ? NCS_ESTABLISHED : NCS_DRAINING);
	c->progress = xk_vp_now();
	if (c->tries == 1)
		ncs_rtt_sample(&c->tx->rtt, c->progress - c->asked);
	xk_count(rep_of(c)->count[NCS_N_OPENED]);
	if (ncs_queued_longest(c) > ncs_longest(c)) {
		snprintf(c->ended.why, sizeof c->ended.why, "messages of %u bytes at most there", ncs_longest(c));
		ncs_tell(c->peer, "takes %s, and one of %u waits for it", c->ended.why, ncs_queued_longest(c));
		ncs_conn_too_long(c);
		return;
	}
	ncs_conn_tell(c, NCS_OPENED);
	ncs_data_expect(c);
	ncs_turn(c);
}

static void refused(struct ncs_conn *c, const struct ncs_rec *rec)
{
	uint32_t n = rec->len - NCS_REC_LEN, code = n >= 4 ? xk_be32(rec->v) : 0;

	c->ended.err = code > 0 && code < 4096 ? -(int)code : XK_E_CONNREFUSED;
	n = n > 4 ? n - 4 : 0;
	n = n < NCS_WHY ? n : NCS_WHY - 1;
	for (uint32_t i = 0; i < n; i++)         /* a peer's text: nothing that a terminal would obey */
		c->ended.why[i] = rec->v[4 + i] >= ' ' && rec->v[4 + i] <= '~' ? (char)rec->v[4 + i] : '?';
	if (c->ended.err == XK_E_NOTSUP && c->ended.why[0] != '\0')
		ncs_tell(c->peer, "refuses a connection: %s", c->ended.why);
	xk_count(rep_of(c)->count[NCS_N_REFUSED]);
	ncs_conn_gone(c);
}

/* Of what nobody here waits for: a late doubled OPEN brought it about.  Its CLOSED shall find nobody.  Who asks
 * about what there is, is told so. */
static void unwanted(struct ncs_sess *p, const struct ncs_conn *c, const struct ncs_rec *rec)
{
	if (rec->len != NCS_REC_LEN + 4)
		return;
	if (c != NULL && c->peer == p && c->state == NCS_CLOSING)
		return;                          /* it says so by itself */
	if (c == NULL || c->peer != p || c->state == NCS_GONE ||
	    (c->state != NCS_OPENING && (c->peer_id != xk_be32(rec->v) || c->peer_epoch != rec->epoch)))
		xk_put_be32(ncs_say(p, NCS_CLOSE, xk_be32(rec->v), 4), UINT32_MAX);
	else
		ncs_say(p, NCS_CONFIRM, xk_be32(rec->v), 0);
}

void ncs_conn_acked(struct ncs_conn *c, const struct ncs_ack *a)
{
	uint32_t before = ncs_tx_done(c->tx);

	if (!ncs_tx_ack(c->tx, a, xk_vp_now()))
		xk_dropped(rep_of(c), NCS_DROP_RECORD, 1);
	if (ncs_tx_done(c->tx) != before)
		c->progress = xk_vp_now();
}

void ncs_conn_credited(struct ncs_conn *c, uint32_t value)
{
	ncs_tx_credit(c->tx, value, xk_vp_now());
	if (!c->choice.error->sure)              /* nothing else is ever heard */
		c->progress = xk_vp_now();
}

static void credited(struct ncs_conn *c, const struct ncs_rec *rec)
{
	struct ncs_ack a;

	if (rec->type == NCS_ACK && ncs_ack_load(rec->v, rec->len - NCS_REC_LEN, &a))
		ncs_conn_acked(c, &a);
	else if (rec->type == NCS_ACK)
		xk_dropped(rep_of(c), NCS_DROP_RECORD, 1);
	else if (rec->len == NCS_REC_LEN + 4)
		ncs_conn_credited(c, xk_be32(rec->v));
	ncs_turn(c);
}

static void queried(struct ncs_conn *c, uint32_t sent)
{
	ncs_rx_queried(c->rx, sent);
	if (c->stages == NULL)
		ncs_answer(c);
	ncs_turn(c);
}

static void noted(struct ncs_conn *c, const uint8_t *b)
{
	bool due = ncs_note_due(&c->notes, xk_be32(b));

	if (ncs_lt(c->notes.heard, xk_be32(b)))  /* others before it are missing, and are said again */
		return;
	xk_put_be32(ncs_say(c->peer, NCS_KNOWN, c->peer_id, 4), c->notes.heard);
	if (due && c->state == NCS_ESTABLISHED)
		tell(c, NCS_NOTED, b + 4);
}

static void known(struct ncs_conn *c, uint32_t n)
{
	uint32_t before = ncs_notes_pending(&c->notes), now;

	if (!ncs_note_known(&c->notes, n)) {
		xk_dropped(rep_of(c), NCS_DROP_RECORD, 1);
		return;
	}
	now = ncs_notes_pending(&c->notes);
	if (now != before)                       /* what is heard again is no use */
		c->progress = xk_vp_now();
	ncs_say_notes(c);
	ncs_conn_arm(c);
	if (before >= NCS_NOTES_MOST && now < NCS_NOTES_MOST)
		ncs_conn_tell(c, NCS_LESS);
}

int ncs_conn_note(struct ncs_conn *c, const uint8_t *v)
{
	struct ncs_sess *peer = c->peer;
	bool was = quiet(c);
	int err;

	if (c->state != NCS_ESTABLISHED)
		return XK_E_NOTCONN;
	err = ncs_note_add(&c->notes, v);
	ncs_peer_enter(peer);
	ncs_conn_enter(c);
	if (err == XK_OK) {
		c->progress = was ? xk_vp_now() : c->progress;
		ncs_say_notes(c);
		ncs_conn_arm(c);
	} else {                                 /* none may be missing */
		ncs_conn_broken(c);
	}
	ncs_conn_leave(c);
	ncs_peer_leave(peer);
	return err;
}

bool ncs_conn_record(struct ncs_sess *p, const struct ncs_rec *rec)
{
	struct ncs_conn *c = rec->type == NCS_OPEN ? NULL : ncs_conn_find(p->s.rep, rec->conn);

	if (rec->type == NCS_OPEN) {
		opened(p, rec);
		return true;
	}
	if (rec->type == NCS_CLOSE) {
		ncs_closed_by_peer(p, c, rec);
		return true;
	}
	if (rec->type == NCS_RESET) {
		ncs_reset(p, rec);
		return true;
	}
	if (rec->type == NCS_ACCEPT)
		unwanted(p, c, rec);
	if (c == NULL || c->peer != p || c->state == NCS_GONE) {
		ncs_unknown(p, rec);
		return true;
	}
	if (c->state != NCS_OPENING && rec->epoch != c->peer_epoch) {
		xk_dropped(p->s.rep, NCS_DROP_STRANGE, 1);
		return false;
	}
	c->confirmed |= rec->type != NCS_ACCEPT;
	c->heard = xk_vp_now();
	if (c->state == NCS_CLOSING && rec->type != NCS_CLOSED) {
		ncs_asked_closing(c, rec);
		return true;
	}
	ncs_conn_enter(c);
	if (rec->type == NCS_ACCEPT)
		accepted(c, rec);
	else if (rec->type == NCS_REFUSE && c->state == NCS_OPENING)
		refused(c, rec);
	else if (rec->type == NCS_CLOSED && c->state == NCS_CLOSING)
		ncs_conn_gone(c);
	else if (c->state != NCS_OPENING && (rec->type == NCS_ACK || rec->type == NCS_CREDIT))
		credited(c, rec);
	else if (c->state != NCS_OPENING && rec->type == NCS_QUERY && rec->len == NCS_REC_LEN + 4)
		queried(c, xk_be32(rec->v));
	else if (c->state != NCS_OPENING && rec->type == NCS_NOTE && rec->len == NCS_REC_LEN + NCS_NOTE_REC)
		noted(c, rec->v);
	else if (c->state != NCS_OPENING && rec->type == NCS_KNOWN && rec->len == NCS_REC_LEN + 4)
		known(c, xk_be32(rec->v));
	else if (c->state != NCS_OPENING && rec->type == NCS_CHECK)
		ncs_say(p, NCS_CONFIRM, c->peer_id, 0);
	ncs_conn_leave(c);
	return true;
}
