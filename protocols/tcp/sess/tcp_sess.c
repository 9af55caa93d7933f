/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_sess.c - a session is made and bound to its key.
 *
 * The life of a session is told in tcp_sess.h; every way out of it leads through
 * tcp_finish and tcp_sess_free (tcp_end.c).
 * Invariant: a session that is bound is announced, holds a reference below, and
 * is not CLOSED.
 */
#include "protocols/tcp/sess/tcp_sess.h"
#include "protocols/inet/inet_sess.h"
#include "runtime/upi/xk_inline.h"

/* At the cap the oldest in TIME-WAIT goes, when nobody holds it. */
static bool sess_room(struct xk_rep *r)
{
	return xk_rep_sessions(r) < tcp_tune(r)->sessions || tcp_timewait_reclaim(r, NULL, false);
}

struct tcp_sess *tcp_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls, int *err)
{
	struct tcp_live *live;
	struct tcp_sess *ts;
	struct xk_sess *s;

	*err = XK_E_NOSPC;
	if (!sess_room(r))
		goto none;
	*err = XK_E_NOMEM;
	s = xk_sess_create(r, up, type, lls);
	if (s == NULL)
		goto none;
	ts = tcp_sess(s);
	live = xk_slab_get(&tcp_rep(r)->live_slab);
	if (live == NULL) {
		xk_sess_destroy(s);
		goto none;
	}
	s->hot = (uintptr_t)&live->cb;
	tcp_cb_init(tcp_cb(ts), tcp_tune(r));
	tcp_timer_init(ts);
	return ts;
none:
	xk_close(lls);
	return NULL;
}

/* Payload of a segment without options, as the path below has it now (RFC 9293 3.7.1), however
 * little; where it does not say, what every host takes. */
uint32_t tcp_path_mss(struct xk_rep *r, struct xk_sess *lls)
{
	uint32_t room, most = tcp_tune(r)->mss;
	int res = lls != NULL ? xk_sess_control(lls, XK_CTL_GETOPTPACKET, &room, sizeof room)
			      : xk_control(r->down[0], XK_CTL_GETOPTPACKET, &room, sizeof room);

	if (res != (int)sizeof room || room < TCP_HDR_LEN + TCP_MSS_LEAST)
		room = TCP_HDR_LEN + 536;
	room -= TCP_HDR_LEN;
	if (room > UINT16_MAX)
		room = UINT16_MAX;
	return most != 0 && most < room ? most : room;
}

int tcp_sess_bind(struct tcp_sess *ts, const struct xk_key *k)
{
	struct xk_flowkey f;
	int err;

	err = xk_sess_bind(&ts->s, k);
	if (err != XK_OK)
		return err;
	tcp_live_header(ts, tcp_live(ts));
	tcp_flowkey(&f, k);
	err = xk_sess_announce(&ts->s, &f);
	if (err != XK_OK) {
		xk_sess_unbind(&ts->s);
		return err;
	}
	tcp_cb(ts)->path_mss = (uint16_t)tcp_path_mss(ts->s.rep, ts->s.down);
	return XK_OK;
}
