/* @NAME@.c - a layer over a port: a byte in front of each message, put there going down, checked going up. */
#include <xk/proto.h>

struct @NAME@_conf { struct virt_conf virt; uint64_t mark; };
enum { DROP_SHORT = VIRT_DROP_END, DROP_MARK };   /* as in @NAME@_drops */

static uint8_t mark_of(const struct xk_rep *r) { return (uint8_t)((const struct @NAME@_conf *)r->conf)->mark; }

static void @NAME@_push(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *h = xk_msg_push(&m, 1);     /* room in front; m may become another one */

	if (h == NULL) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	*h = mark_of(s->rep);
	m->flags &= (uint8_t)~XK_MSG_CSUM;   /* that sum is without our byte */
	xk_push(s->down, m);
}

/* What the sessions below call: up is our session's `self`. */
static void @NAME@_self(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const uint8_t *h = xk_msg_peek(&m, 1);

	(void)lls;
	if (h == NULL || *h != mark_of(up->rep)) {
		xk_drop(up->rep, h == NULL ? DROP_SHORT : DROP_MARK, m);
		return;
	}
	xk_msg_pop(m, 1);
	xk_pass(xk_container_of(up, struct xk_sess, self), m);
}

static int @NAME@_rep_init(struct xk_rep *r)
{
	((struct virt_rep *)r->state)->self = @NAME@_self;
	return virt_rep_init(r);
}

/* The longest message is a byte shorter above. */
static int @NAME@_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return virt_shorter(xk_control(r->down[0], op, buf, len), op, buf, 1);
}
static int @NAME@_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return virt_shorter(xk_sess_control(s->down, op, buf, len), op, buf, 1);
}

static const struct xk_ops @NAME@_ops = {        /* the rest is what every layer without a map of its own does */
	.fini = virt_fini, .rep_init = @NAME@_rep_init, .rep_stop = virt_rep_stop, .open = virt_open,
	.open_enable = virt_open_enable, .open_disable = virt_open_disable, .open_disable_all = virt_open_disable_all,
	.open_done = virt_open_done, .close_done = virt_close_done, .demux = virt_demux, .push = @NAME@_push,
	.pop = virt_pop, .close = virt_close, .control = @NAME@_control, .sess_control = @NAME@_sess_control,
};
static const struct xk_param @NAME@_params[] = {
	{ .name = "mark", .type = XK_P_UINT, .def = "42", .max = "255", .doc = "the byte; both ends have the same",
	  .offset = offsetof(struct @NAME@_conf, mark) },
	VIRT_PARAMS
};
static const char *const @NAME@_drops[] = { VIRT_DROPS, "too_short", "another_mark", NULL };
static const char *const @NAME@_counts[] = { VIRT_COUNTS, NULL };

static const struct xk_proto @NAME@ = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "@NAME@",
	.doc = "a byte in front of each message", .ops = &@NAME@_ops,
	.offers = "port", .needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = @NAME@_params, .conf_size = sizeof(struct @NAME@_conf), .node_size = sizeof(struct virt_node),
	.rep_size = sizeof(struct virt_rep), .sess_size = sizeof(struct virt_sess),
	.drops = @NAME@_drops, .counts = @NAME@_counts, .anywhere = XK_ANYWHERE_AS_ABOVE,
};
XK_PLUGIN(&@NAME@);
