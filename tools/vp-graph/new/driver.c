/* @NAME@.c - a driver that offers a port: what is sent comes back, in a later unit of work. */
#include <xk/proto.h>

struct @NAME@_conf { uint64_t queue; };
enum { DROP_FULL = XK_DROP_FIRST };      /* as in @NAME@_drops */

/* What a push has queued, in a unit of work of the virtual processor: a real driver writes it to its device here. */
static void @NAME@_each(struct xk_sess *s, struct xk_msg *m)
{
	xk_msg_reset_rx(m);
	m->u.name = 0;
	xk_demux(s, m);
}

static void @NAME@_push(struct xk_sess *s, struct xk_msg *m)
{
	const struct @NAME@_conf *c = s->rep->conf;

	if (!xk_queued_put(s, m, c->queue))
		xk_drop(s->rep, DROP_FULL, m);
}

static struct xk_sess *@NAME@_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	(void)ps;                        /* a real one opens what these name */
	return xk_queued_open(r, rcv, type, @NAME@_each, err);
}

static int @NAME@_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	return op == XK_CTL_GETMAXPACKET || op == XK_CTL_GETOPTPACKET ? xk_answer32(buf, len, 65507) : XK_E_NOTSUP;
}

static const struct xk_ops @NAME@_ops = {
	.open = @NAME@_open, .close = xk_queued_close, .push = @NAME@_push, .control = @NAME@_control,
};
static const struct xk_param @NAME@_params[] = {
	{ .name = "queue", .type = XK_P_UINT, .def = "1024", .min = "1", .doc = "messages of a session under way",
	  .offset = offsetof(struct @NAME@_conf, queue) },
	XK_PARAM_END
};
static const char *const @NAME@_drops[] = { "queue_full", NULL };

static const struct xk_proto @NAME@_proto = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "@NAME@", .doc = "a port whose messages come back",
	.is_driver = true, .ops = &@NAME@_ops, .offers = "port", .params = @NAME@_params,
	.conf_size = sizeof(struct @NAME@_conf), .sess_size = sizeof(struct xk_queued), .drops = @NAME@_drops,
};
XK_PLUGIN(&@NAME@_proto);
