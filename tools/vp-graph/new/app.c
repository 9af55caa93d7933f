/* @NAME@.c - an application: answers each message with its first bytes. */
#include <xk/proto.h>

struct @NAME@_conf { uint16_t port; uint64_t most; };
enum { N_MESSAGES, N_BYTES };            /* as in @NAME@_counts */

/* Inside the virtual processor of up->rep, so nothing here needs a lock. */
static void @NAME@_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	const struct @NAME@_conf *c = r->conf;

	xk_count(r->npop);
	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], m->tot);
	if (m->tot > c->most)
		xk_msg_truncate(m, (uint32_t)c->most);
	xk_msg_reset_rx(m);
	xk_push(lls, m);                 /* takes m, like every push */
}

static int @NAME@_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_app_counts c = { 1, &r->count[N_MESSAGES], &r->count[N_BYTES], NULL, NULL, NULL };

	return xk_app_answer(op, &c, buf, len);
}

static int @NAME@_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, ((const struct @NAME@_conf *)xk_node_conf(n))->port, e);
}

static void @NAME@_stop(struct xk_node *n) { xk_open_disable_all(n, xk_node_down(n, 0)); }

static const struct xk_ops @NAME@_ops = {
	.start = @NAME@_start, .stop = @NAME@_stop, .demux = @NAME@_demux, .control = @NAME@_control,
};
static const struct xk_param @NAME@_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "7", .min = "1", .doc = "port to wait on",
	  .offset = offsetof(struct @NAME@_conf, port) },
	{ .name = "most", .type = XK_P_SIZE, .def = "64KiB", .min = "1", .doc = "longest answer",
	  .offset = offsetof(struct @NAME@_conf, most) },
	XK_PARAM_END
};
static const char *const @NAME@_counts[] = { "messages", "bytes", NULL };

static const struct xk_proto @NAME@_proto = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "@NAME@",
	.doc = "answers each message with its first bytes", .ops = &@NAME@_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = @NAME@_params, .conf_size = sizeof(struct @NAME@_conf), .counts = @NAME@_counts,
};
XK_PLUGIN(&@NAME@_proto);
