/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_ctl.c - the control connection to a peer: records are gathered, leave together, and are taken apart.
 *
 * Each replica has one of its own to each peer, which lives as long as the graph; those that peers
 * begin are as many as `peers` says: one that no connection uses goes when another peer comes.
 * Invariant: a peer's session is bound under the session below, whose `up` is its self.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/upi/xk_part.h"

#include <string.h>

static struct xk_key key_of(const struct xk_sess *lls)
{
	return (struct xk_key){ { (uintptr_t)lls, 1 } };
}

/* Takes the reference to lls either way. */
static struct ncs_sess *peer_new(struct xk_rep *r, struct xk_sess *lls, uint32_t host, bool ours, int *err)
{
	struct xk_sess *s = xk_sess_create(r, &r->up, r->node, lls);
	struct xk_key k = key_of(lls);

	*err = s != NULL ? xk_sess_bind(s, &k) : XK_E_NOMEM;
	if (*err != XK_OK) {
		if (s != NULL)
			xk_sess_destroy(s);
		xk_close(lls);
		return NULL;
	}
	ncs_sess(s)->is_peer = true;
	ncs_sess(s)->peer.host = host;
	ncs_sess(s)->peer.nout = 0;
	ncs_sess(s)->peer.ours = ours;
	ncs_sess(s)->peer.busy = false;
	ncs_sess(s)->peer.conns = NULL;
	s->self = (struct xk_up){ xk_self_demux(r->node, ncs_self_demux), r };
	lls->up = &s->self;
	ncs_rep(r)->npeers += !ours;
	return ncs_sess(s);
}

void ncs_peer_free(struct ncs_sess *p)
{
	struct xk_sess *lls = p->s.down;

	ncs_rep(p->s.rep)->npeers -= !p->peer.ours;
	lls->up = &p->s.rep->up;
	xk_sess_destroy(&p->s);
	xk_close(lls);
}

/* ---- finding one, and making it ------------------------------------------------------------ */

struct wanted { uint32_t host; const struct xk_rep *over; struct ncs_sess *found; };

static bool leads_to(const struct ncs_sess *p, const struct wanted *w)
{
	return p->is_peer && p->peer.ours && p->peer.host == w->host && p->s.down->rep == w->over;
}

static int look(struct xk_mapnode *n, void *arg)
{
	struct ncs_sess *p = ncs_sess(xk_container_of(n, struct xk_sess, map));
	struct wanted *w = arg;

	if (leads_to(p, w))
		w->found = p;
	return XK_MAP_KEEP;
}

struct ncs_sess *ncs_peer_to(struct xk_rep *r, struct xk_rep *over, uint32_t host, int *err)
{
	struct wanted w = { host, over, ncs_rep(r)->peer };
	struct xk_sess *lls;
	struct xk_parts ps;

	if (w.found != NULL && leads_to(w.found, &w))
		return w.found;
	w.found = NULL;
	xk_map_foreach(&r->active, look, &w);
	if (w.found != NULL)
		return ncs_rep(r)->peer = w.found;
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	xk_part_push_port(&ps.p[XK_REMOTE], ncs_conf(r)->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	lls = xk_open(r, r->node, over, &ps, err);
	return lls != NULL ? (ncs_rep(r)->peer = peer_new(r, lls, host, true, err)) : NULL;
}

static int look_idle(struct xk_mapnode *n, void *arg)
{
	struct ncs_sess *p = ncs_sess(xk_container_of(n, struct xk_sess, map));

	if (!p->is_peer || p->peer.ours || p->peer.busy || p->peer.conns != NULL)
		return XK_MAP_KEEP;
	((struct wanted *)arg)->found = p;
	return XK_MAP_STOP;
}

/* A place for one more that a peer begins: who comes again begins anew. */
static bool place(struct xk_rep *r)
{
	struct wanted w = { 0, NULL, NULL };

	if (ncs_rep(r)->npeers < ncs_conf(r)->peers)
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

	if (!place(r))
		return XK_E_NOSPC;
	if (xk_sess_control(lls, XK_CTL_GETPEERHOST, &host, sizeof host) != (int)sizeof host)
		return XK_E_NOTSUP;
	peer_new(r, xk_dup(lls), host, false, &err);
	return err;
}

/* ---- out ------------------------------------------------------------------------------------- */

void ncs_flush(struct ncs_sess *p)
{
	struct xk_msg *m;

	if (p->peer.nout == 0)
		return;
	m = xk_msg_new(p->peer.nout);
	if (m != NULL)
		xk_msg_copy_in(m, 0, p->peer.out, p->peer.nout);
	else
		xk_count(p->s.rep->drop[XK_DROP_NOMEM]);
	p->peer.nout = 0;
	if (m != NULL)
		xk_push(p->s.down, m);
}

uint8_t *ncs_say(struct ncs_sess *p, uint8_t type, uint32_t conn, uint32_t len)
{
	struct ncs_rec rec = { .type = type, .len = (uint16_t)(NCS_REC_LEN + len), .conn = conn,
			       .epoch = ncs_rep(p->s.rep)->epoch };
	uint8_t *b;

	if (p->peer.nout + rec.len > NCS_CTL_MOST)
		ncs_flush(p);
	b = p->peer.out + p->peer.nout;
	ncs_rec_store(b, &rec);
	p->peer.nout += rec.len;
	xk_count(p->s.rep->count[NCS_N_RECORDS_OUT]);
	return b + NCS_REC_LEN;
}

/* ---- in --------------------------------------------------------------------------------------- */

static void peer_demux(struct ncs_sess *p, struct xk_msg *m)
{
	struct xk_rep *r = p->s.rep;
	uint8_t bytes[NCS_CTL_MOST];
	uint32_t n = m->tot, at = 0;
	struct ncs_rec rec;

	if (n > sizeof bytes || n == 0) {
		xk_drop(r, NCS_DROP_RECORD, m);
		return;
	}
	xk_msg_copy_out(m, 0, bytes, n);
	p->peer.busy = true;
	for (; at < n && ncs_rec_load(bytes + at, n - at, &rec); at += rec.len) {
		xk_count(r->count[NCS_N_RECORDS_IN]);
		ncs_conn_record(p, &rec);
	}
	ncs_flush(p);
	p->peer.busy = false;
	if (at < n)
		xk_drop(r, NCS_DROP_RECORD, m);
	else
		xk_msg_free(m);
}

/* What sessions of both kinds receive by. */
void ncs_self_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct ncs_sess *s = xk_container_of(up, struct ncs_sess, s.self);

	(void)lls;
	xk_count(s->s.rep->npop);
	if (s->is_peer)
		peer_demux(s, m);
	else
		ncs_data_in(&s->conn, m);
}
