/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_say.c - what is said to a peer: records are gathered, and leave together; and the end of its control connection,
 * when nothing more is.
 *
 * What is said while a datagram, a push or a timer is worked on leaves with the last ncs_peer_leave.
 * Invariant: `nout` bytes of `out` are whole records.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_wheel.h"

#define SILENCE XK_SEC                   /* after that much of it the peer is asked */

xk_ns ncs_silence(const struct xk_rep *r)
{
	xk_ns some = ncs_conf(r)->give_up / 4;

	return some < SILENCE ? some : SILENCE;
}

void ncs_peer_watch(struct ncs_sess *p)
{
	p->peer.heard = xk_vp_now();
	xk_timer_set(p->s.rep->wheel, &p->peer.timer, p->peer.heard + ncs_silence(p->s.rep));
}

void ncs_peer_free(struct ncs_sess *p)
{
	struct xk_sess *lls = p->s.down;

	xk_timer_cancel(p->s.rep->wheel, &p->peer.timer);
	if (p->peer.part != NULL)
		xk_msg_free(p->peer.part);
	ncs_rep(p->s.rep)->npeers -= !p->peer.ours;
	if (ncs_rep(p->s.rep)->peer == p)
		ncs_rep(p->s.rep)->peer = NULL;
	if (p->peer.stages != NULL)
		ncs_rep(p->s.rep)->seams->peer_free(p);
	lls->up = &p->s.rep->up;
	xk_sess_destroy(&p->s);
	xk_close(lls);
}

void ncs_peer_leave(struct ncs_sess *p)
{
	if (p->peer.busy == 1)
		ncs_flush(p);
	if (--p->peer.busy == 0 && p->peer.conns == NULL && (p->peer.over || (p->peer.stream && p->peer.done)))
		ncs_peer_free(p);
}

/* ---- out ------------------------------------------------------------------------------------- */

/* Before the records that are there. */
static void put_sum(const struct ncs_sess *p, struct xk_msg *m)
{
	const struct ncs_rec rec = { .type = NCS_SUM, .len = NCS_SUM_RECORD, .epoch = ncs_rep(p->s.rep)->epoch };
	uint8_t b[NCS_SUM_RECORD];

	ncs_rec_store(b, &rec);
	xk_put_be32(b + NCS_REC_LEN, ~ncs_crc32c(UINT32_MAX, p->peer.out, p->peer.nout));
	xk_msg_copy_in(m, 0, b, sizeof b);
}

void ncs_flush(struct ncs_sess *p)
{
	uint32_t sum = p->peer.sums ? NCS_SUM_RECORD : 0;
	struct xk_msg *m;

	if (p->peer.nout == 0 || !ncs_room(p))
		return;
	p->peer.greeted = false;
	m = xk_msg_new(p->peer.nout + sum);
	if (m != NULL && sum != 0)
		put_sum(p, m);
	if (m != NULL)
		xk_msg_copy_in(m, sum, p->peer.out, p->peer.nout);
	else
		xk_dropped(p->s.rep, XK_DROP_NOMEM, 1);
	p->peer.nout = 0;
	if (m != NULL && p->peer.stages != NULL)
		ncs_rep(p->s.rep)->seams->ctl_send(p, m);
	else if (m != NULL && p->peer.stream)
		ncs_lower(p, m, true);
	else if (m != NULL)
		xk_push(p->s.down, m);
}

uint8_t *ncs_say(struct ncs_sess *p, uint8_t type, uint32_t conn, uint32_t len)
{
	struct ncs_rec rec = { .type = type, .len = (uint16_t)(NCS_REC_LEN + len), .conn = conn,
			       .epoch = ncs_rep(p->s.rep)->epoch };
	uint8_t *b;

	if (p->peer.nout + rec.len > NCS_CTL_MOST)
		ncs_flush(p);
	if (p->peer.nout + rec.len > NCS_CTL_MOST) {     /* there is no room: as if they were lost on the way */
		xk_dropped(p->s.rep, NCS_DROP_QUEUE, 1);
		p->peer.nout = 0;
		p->peer.greeted = false;
	}
	b = p->peer.out + p->peer.nout;
	ncs_rec_store(b, &rec);
	p->peer.nout += rec.len;
	xk_count(p->s.rep->count[NCS_N_RECORDS_OUT]);
	return b + NCS_REC_LEN;
}

void ncs_greet(struct ncs_sess *p, uint32_t behind)
{
	uint32_t mine = p->peer.greeted ? 0 : NCS_REC_LEN + NCS_HELLO_REC;
	struct ncs_hello h;

	if (p->peer.nout + mine + NCS_REC_LEN + behind > NCS_CTL_MOST)
		ncs_flush(p);
	if (p->peer.greeted)
		return;
	ncs_hello_here(ncs_rep(p->s.rep), &h);
	ncs_hello_store(ncs_say(p, NCS_HELLO, 0, NCS_HELLO_REC), &h);
	p->peer.greeted = true;
}
