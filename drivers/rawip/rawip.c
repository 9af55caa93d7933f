/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rawip.c - a driver without a device: IP datagrams come from and go to a C program
 * (see rawip.h).
 *
 * It offers "hostlink", so ip sits on it directly and no address is ever resolved:
 * every host is one hop away.  There is one session per replica, whoever is at the
 * other end: what comes in is passed up through it, what is pushed goes to the
 * callback or, when there is none, is counted and gone.  It reads no clock but the
 * graph's, so a program that moves the virtual clock decides every moment.
 * Invariant: the replica's session lives from the first open or datagram until the
 * graph stops.
 */
#include "drivers/rawip/rawip.h"

#include "drivers/common/edge.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

#define RAWIP_MAX 65535u                  /* a datagram; the mtu is about what we send */

struct rawip_conf { uint64_t mtu; unsigned classifier; };
struct rawip_state { rawip_sent_fn fn; void *arg; };

#define RAWIP_DROPS(X) X(TOO_LONG, "too_long") X(NOBODY, "nobody_above")
enum {
	RAWIP_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) RAWIP_DROP_##id,
	RAWIP_DROPS(X)
#undef X
};
enum { N_IN, N_OUT, N_SUNK };

static uint32_t mtu_of(const struct xk_rep *r)
{
	return (uint32_t)((const struct rawip_conf *)r->conf)->mtu;
}

/* ---- sessions ------------------------------------------------------------------- */

/* The one session of r, held by the driver itself besides whoever opened it. */
static struct xk_sess *session(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type)
{
	if (r->drv_sess == NULL) {
		r->drv_sess = xk_sess_create(r, &rcv->up, type, NULL);
		if (r->drv_sess != NULL)
			xk_dup(r->drv_sess);
	}
	return r->drv_sess;
}

static struct xk_sess *rawip_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				  struct xk_parts *ps, int *err)
{
	struct xk_sess *s = r->drv_sess;
	uint32_t host;

	if (ps->n < 1 || xk_part_pop_host(&ps->p[XK_REMOTE], &host) != XK_OK) {
		*err = XK_E_INVAL;
		return NULL;
	}
	if (s != NULL && s->up->rep != rcv) {
		*err = XK_E_BUSY;
		return NULL;
	}
	s = session(r, rcv, type);
	if (s == NULL)
		*err = XK_E_NOMEM;
	return s;
}

static void rawip_close(struct xk_sess *s)
{
	s->rep->drv_sess = NULL;
	xk_sess_destroy(s);
}

static int rawip_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = { { 0, 0 } };

	(void)ps;
	return xk_enable_bind(n, &k, rcv, type);
}

static int rawip_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k = { { 0, 0 } };

	(void)ps;
	return xk_enable_unbind(n, &k, rcv, type);
}

static void rawip_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_enable_unbind_all(n, rcv);
}

/* ---- in and out ------------------------------------------------------------------ */

static void rawip_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	const struct rawip_state *st = r->node->state;

	if (m->tot > mtu_of(r)) {
		xk_drop(r, RAWIP_DROP_TOO_LONG, m);
		return;
	}
	xk_count(r->count[N_OUT]);
	if (st->fn != NULL)
		st->fn(st->arg, xk_vp_time(r->vp), m);
	else
		xk_count(r->count[N_SUNK]);
	xk_msg_free(m);
}

/* Nobody has opened yet: tells who enabled, as any link does. */
static bool wake(struct xk_rep *r)
{
	struct xk_key k = { { 0, 0 } };
	struct xk_enable *e;
	struct xk_sess *s;

	if (r->drv_sess != NULL)
		return true;
	e = xk_enable_find(r->node, &k);
	if (e == NULL)
		return false;
	s = session(r, xk_rep_here(xk_enable_rcv(e), r), xk_enable_type(e));
	if (s == NULL)
		return false;
	if (xk_open_done(xk_enable_rcv(e), s, xk_enable_type(e)) == XK_OK)
		return true;
	xk_close(s);
	return false;
}

int rawip_inject(struct xk_node *n, const void *bytes, uint32_t len)
{
	struct xk_rep *r = n->rep[xk_vp_no];
	struct xk_msg *m;

	if (len > RAWIP_MAX)
		return XK_E_RANGE;
	m = xk_msg_new(len);
	if (m == NULL)
		return XK_E_NOMEM;
	if (len != 0)
		xk_msg_copy_in(m, 0, bytes, len);
	xk_count(r->count[N_IN]);
	if (wake(r))
		xk_input(r, &m, 1);
	else
		xk_drop(r, RAWIP_DROP_NOBODY, m);
	return XK_OK;
}

/* Another VP found that this one owns the connection. */
static void rawip_enter(struct xk_rep *r, struct xk_msg *m)
{
	if (wake(r))
		xk_input_enter(r, m);
	else
		xk_drop(r, RAWIP_DROP_NOBODY, m);
}

void rawip_on_sent(struct xk_node *n, rawip_sent_fn fn, void *arg)
{
	struct rawip_state *st = n->state;

	*st = (struct rawip_state){ fn, arg };
}

/* ---- control and life -------------------------------------------------------------- */

static int rawip_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, mtu_of(r));
	case XK_CTL_LINK_TYPE:
		return xk_answer32(buf, len, XK_LINK_RAWIP);
	default:
		return XK_E_NOTSUP;
	}
}

static void rawip_rep_stop(struct xk_rep *r)
{
	if (r->drv_sess != NULL)
		xk_close(r->drv_sess);
}

static const struct xk_ops rawip_ops = {
	.rep_stop = rawip_rep_stop, .open = rawip_open, .close = rawip_close,
	.open_enable = rawip_open_enable, .open_disable = rawip_open_disable,
	.open_disable_all = rawip_open_disable_all,
	.push = rawip_push, .enter = rawip_enter,
	.control = rawip_control,
};

static const struct xk_param rawip_params[] = {
	{ .name = "mtu", .type = XK_P_SIZE, .def = "1500", .min = "68", .max = "65535",
	  .doc = "largest datagram sent", .offset = offsetof(struct rawip_conf, mtu) },
	XK_CLASSIFIER_PARAM(struct rawip_conf, classifier),
	XK_PARAM_END
};
static const char *const rawip_drops[] = {
#define X(id, text) text,
	RAWIP_DROPS(X)
#undef X
	NULL
};
static const char *const rawip_counts[] = { "received", "sent", "sunk", NULL };

const struct xk_proto xk_proto_rawip = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "rawip",
	.doc = "IP datagrams from and to a C program or a wire script; no device, no addresses",
	.is_driver = true, .ops = &rawip_ops, .offers = "hostlink", .params = rawip_params,
	.conf_size = sizeof(struct rawip_conf), .node_size = sizeof(struct rawip_state),
	.sess_size = sizeof(struct xk_sess), .drops = rawip_drops, .counts = rawip_counts,
	.gives = xk_edge_gives_own,
};
