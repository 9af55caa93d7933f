/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * icmp.c - the Internet Control Message Protocol (RFC 792, RFC 1122 3.2.2):
 * echo sessions for applications, control, and the descriptor.
 *
 * An identifier is to echo what our port is to UDP: with both addresses it is
 * the key that classifiers know, so a reply comes to the VP that asked.  It is
 * taken when any VP's session towards that peer has it.
 * Invariant: a bound session is announced, so its replies reach its VP.
 */
#include "protocols/icmp/icmp_priv.h"

#include "protocols/inet/inet_sess.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/vp/xk_task.h"

#define MAX_PAYLOAD 65507u
#define IDS         65536u

/* ---- echo sessions ------------------------------------------------------------------ */

/* Bound and announced, or neither.  XK_E_EXIST: some VP's session has it. */
static int bind_id(struct icmp_sess *is, uint16_t id)
{
	struct xk_flowkey f;
	struct xk_key k;
	int err;

	is->id = id;
	icmp_flowkey(&f, htobe32(is->remote), htobe32(is->local), htobe16(id));
	icmp_key(&k, ip_pair(is->remote, is->local), id);
	err = xk_sess_bind(&is->s, &k);
	if (err != XK_OK)
		return err;
	err = xk_sess_announce(&is->s, &f);
	if (err != XK_OK)
		xk_sess_unbind(&is->s);
	return err;
}

/* An identifier of ours: the first that is free, from a random start. */
static int bind_some_id(struct icmp_sess *is)
{
	uint32_t first = (uint32_t)xk_vp_secret_below(is->s.rep->vp, IDS);

	for (uint32_t i = 0; i < IDS; i++) {
		int err = bind_id(is, (uint16_t)(first + i));

		if (err != XK_E_EXIST)
			return err;
	}
	return XK_E_ADDRNOTAVAIL;
}

static int open_id(struct xk_parts *ps, uint16_t *id, bool *any)
{
	int res = 1;

	*any = true;
	if (ps->n > XK_LOCAL && ps->p[XK_LOCAL].depth != 0)
		res = xk_part_pop_port(&ps->p[XK_LOCAL], id);
	if (res == XK_OK)
		*any = false;
	return res < 0 ? res : XK_OK;
}

static int sess_bind(struct icmp_sess *is, bool any, uint16_t id)
{
	int err = inet_sess_hosts(is->s.down, &is->remote, &is->local);

	if (err == XK_OK)
		err = any ? bind_some_id(is) : bind_id(is, id);
	return err == XK_E_EXIST ? XK_E_ADDRINUSE : err;
}

static struct xk_sess *icmp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				 struct xk_parts *ps, int *err)
{
	struct xk_sess *lls, *s;
	uint16_t id = 0;
	bool any;

	*err = open_id(ps, &id, &any);
	if (*err != XK_OK)
		return NULL;
	lls = xk_open(r, r->node, r->down[0], ps, err);
	if (lls == NULL)
		return NULL;
	s = xk_sess_create(r, &rcv->up, type, lls);
	if (s == NULL) {
		*err = XK_E_NOMEM;
		xk_close(lls);
		return NULL;
	}
	*err = sess_bind(icmp_sess(s), any, id);
	if (*err == XK_OK)
		return s;
	inet_sess_free(s);
	return NULL;
}

static void icmp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct icmp_sess *is = icmp_sess(s);
	uint32_t sum;
	uint8_t *p;

	if (m->tot > MAX_PAYLOAD) {
		xk_drop(s->rep, ICMP_DROP_TOO_LONG, m);
		return;
	}
	sum = (m->flags & XK_MSG_CSUM) ? m->csum : xk_msg_csum(m, 0, 0);
	p = xk_msg_push(&m, ICMP_HDR_LEN);
	if (p == NULL) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	m->flags &= (uint8_t)~XK_MSG_CSUM;
	icmp_hdr_store(p, ICMP_ECHO, 0, (uint32_t)is->id << 16 | is->seq++, sum);
	xk_push(s->down, m);
}

/* ---- control ---------------------------------------------------------------------------- */

static int icmp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return inet_less_header(xk_control(r->down[0], op, buf, len), buf, ICMP_HDR_LEN);
	case IP_CTL_ICMP_SEND:
		return len < sizeof(struct ip_icmp_error) ? XK_E_INVAL : icmp_error_send(r, buf);
	case IP_CTL_ERROR_IN:
		return XK_OK;            /* about echo: handled where it came in */
	default:
		return XK_E_NOTSUP;
	}
}

static int icmp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct icmp_sess *is = icmp_sess(s);

	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return inet_less_header(xk_sess_control(s->down, op, buf, len), buf, ICMP_HDR_LEN);
	case XK_CTL_GETMYPORT:
		return xk_answer(buf, len, &is->id, sizeof is->id);
	case ICMP_CTL_NEXT_SEQ:
		return xk_answer32(buf, len, is->seq);
	default:
		return XK_E_NOTSUP;
	}
}

/* ---- life ---------------------------------------------------------------------------------- */

static int icmp_rep_init(struct xk_rep *r)
{
	icmp_error_init(r);
	return XK_OK;
}

/* ---- schema ----------------------------------------------------------------------------------- */

#define AT(f) .offset = offsetof(struct icmp_conf, f)
static const struct xk_param icmp_params[] = {
	{ .name = "rate", .type = XK_P_UINT, .def = "100", .min = "0", .max = "1000000000", AT(rate),
	  .doc = "errors sent a second, shared out to the VPs; 0: none" },
	{ .name = "burst", .type = XK_P_UINT, .def = "50", .min = "1", .max = "1000000", AT(burst),
	  .doc = "errors that may be sent at once after a rest, shared out to the VPs" },
	{ .name = "quote", .type = XK_P_SIZE, .def = "548", .min = "28", .max = "548", AT(quote),
	  .doc = "most bytes of the offending datagram that an error carries" },
	{ .name = "echo", .type = XK_P_BOOL, .def = "true", AT(echo),
	  .doc = "answer echo requests" },
	XK_PARAM_END
};

#define ICMP_TEXT(n, s) s,
static const char *const icmp_drops[] = { ICMP_DROPS(ICMP_TEXT) NULL };
static const char *const icmp_counts[] = { ICMP_COUNTS(ICMP_TEXT) NULL };
static const struct xk_number icmp_numbers[] = { { "host", ICMP_PROTO }, { NULL, 0 } };

static const struct xk_ops icmp_ops = {
	.rep_init = icmp_rep_init, .start = inet_start, .stop = inet_stop,
	.open = icmp_open, .open_done = inet_open_done,
	.demux = icmp_demux, .enter = icmp_enter, .control = icmp_control,
	.push = icmp_push, .pop = icmp_pop, .close = inet_sess_free, .sess_control = icmp_sess_control,
};

/* Echo and its reply, types 8 and 0: a reply's identifier is ours, and requests of one
 * identifier keep together.  Errors are about some connection, which only their quotation
 * names: they come where their host is. */
static const struct xk_demux_field icmp_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0xf7, .value = 0 },
	{ .role = XK_DX_LOCAL, .width = 2, .off = 4 },
	{ .role = XK_DX_END }
};
static const struct xk_demux icmp_decl = { .need = ICMP_HDR_LEN, .field = icmp_fields };

static uint32_t icmp_gives(const void *conf, uint32_t below)
{
	(void)conf;
	return below | XK_GIVES_SUM;
}

const struct xk_proto xk_proto_icmp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "icmp", .doc = "Internet Control Message Protocol: echo and errors",
	.ops = &icmp_ops, .offers = "echo", .needs = { "host" }, .min_down = 1, .max_down = 1,
	.numbers = icmp_numbers, .params = icmp_params, .conf_size = sizeof(struct icmp_conf),
	.rep_size = sizeof(struct icmp_state), .sess_size = sizeof(struct icmp_sess),
	.drops = icmp_drops, .counts = icmp_counts,
	.demux = &icmp_decl, .gives = icmp_gives,
};
