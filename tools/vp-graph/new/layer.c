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

static void @NAME@_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	const uint8_t *h = xk_msg_peek(&m, 1);

	(void)lls;
	(void)hdr;
	if (h == NULL || *h != mark_of(s->rep)) {
		xk_drop(s->rep, h == NULL ? DROP_SHORT : DROP_MARK, m);
		return;
	}
	xk_msg_pop(m, 1);
	xk_demux(s, m);
}

/* So many bytes of header: the longest message is as much shorter above. */
static int @NAME@_rep_init(struct xk_rep *r) { return virt_header_init(r, 1); }

static const struct xk_ops @NAME@_ops = {        /* VIRT_OPS: what every layer without a map of its own does */
	VIRT_OPS, .rep_init = @NAME@_rep_init, .push = @NAME@_push, .pop = @NAME@_pop,
	.control = virt_control, .sess_control = virt_sess_control,
};
static const struct xk_param @NAME@_params[] = {
	{ .name = "mark", .type = XK_P_UINT, .def = "42", .max = "255", .doc = "the byte; both ends have the same",
	  .offset = offsetof(struct @NAME@_conf, mark) },
	VIRT_PARAMS
};
static const char *const @NAME@_drops[] = { VIRT_DROPS, "too_short", "another_mark", NULL };
static const char *const @NAME@_counts[] = { VIRT_COUNTS, NULL };

static const struct xk_proto @NAME@_proto = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "@NAME@",
	.doc = "a byte in front of each message", .ops = &@NAME@_ops,
	.offers = "port", .needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = @NAME@_params, .conf_size = sizeof(struct @NAME@_conf), VIRT_SIZES,
	.drops = @NAME@_drops, .counts = @NAME@_counts, .anywhere = XK_ANYWHERE_AS_ABOVE,
};
XK_PLUGIN(&@NAME@_proto);
