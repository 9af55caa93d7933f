/* @NAME@.c - a driver that offers a port: what is sent comes back, in the next unit of work. */
#include <xk/proto.h>

struct @NAME@_conf { uint64_t queue; };
struct @NAME@_sess { struct xk_sess s; struct xk_task task; struct xk_msgq q; };
enum { DROP_FULL = XK_DROP_FIRST };      /* as in @NAME@_drops */

static struct @NAME@_sess *@NAME@_of(struct xk_sess *s) { return xk_container_of(s, struct @NAME@_sess, s); }

/* A unit of work of the virtual processor, as long as the task is ready. */
static unsigned @NAME@_run(struct xk_task *t, unsigned budget)
{
	struct @NAME@_sess *us = xk_container_of(t, struct @NAME@_sess, task);
	struct xk_msg *m;
	unsigned n = 0;

	xk_dup(&us->s);                  /* whoever is above may close it meanwhile */
	for (; n < budget && (m = xk_msgq_get(&us->q)) != NULL; n++) {
		xk_msg_reset_rx(m);
		m->u.name = 0;
		xk_demux(&us->s, m);
	}
	if (us->q.n == 0)
		xk_task_park(t);
	xk_close(&us->s);
	return n;
}

static void @NAME@_push(struct xk_sess *s, struct xk_msg *m)
{
	if (@NAME@_of(s)->q.n >= ((const struct @NAME@_conf *)s->rep->conf)->queue) {
		xk_drop(s->rep, DROP_FULL, m);
		return;
	}
	xk_msgq_put(&@NAME@_of(s)->q, m);
	xk_task_ready(&@NAME@_of(s)->task);
}

static struct xk_sess *@NAME@_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct xk_sess *s = xk_sess_create(r, &rcv->up, type, NULL);

	(void)ps;                        /* a real one opens what these name */
	*err = s != NULL ? XK_OK : XK_E_NOMEM;
	if (s == NULL)
		return NULL;
	xk_msgq_init(&@NAME@_of(s)->q);
	xk_task_init(&@NAME@_of(s)->task, r->vp, @NAME@_run);
	return s;
}

static void @NAME@_close(struct xk_sess *s)
{
	xk_task_park(&@NAME@_of(s)->task);
	xk_msgq_free(&@NAME@_of(s)->q);
	xk_sess_destroy(s);
}

static int @NAME@_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	(void)r;
	return op == XK_CTL_GETMAXPACKET || op == XK_CTL_GETOPTPACKET ? xk_answer32(buf, len, 65507) : XK_E_NOTSUP;
}
static int @NAME@_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return @NAME@_control(s->rep, op, buf, len);
}

static const struct xk_ops @NAME@_ops = {
	.open = @NAME@_open, .close = @NAME@_close, .push = @NAME@_push, .control = @NAME@_control,
	.sess_control = @NAME@_sess_control,
};
static const struct xk_param @NAME@_params[] = {
	{ .name = "queue", .type = XK_P_UINT, .def = "1024", .min = "1", .doc = "messages of a session under way",
	  .offset = offsetof(struct @NAME@_conf, queue) },
	XK_PARAM_END
};
static const char *const @NAME@_drops[] = { "queue_full", NULL };

static const struct xk_proto @NAME@ = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "@NAME@", .doc = "a port whose messages come back",
	.is_driver = true, .ops = &@NAME@_ops, .offers = "port", .params = @NAME@_params,
	.conf_size = sizeof(struct @NAME@_conf), .sess_size = sizeof(struct @NAME@_sess), .drops = @NAME@_drops,
};
XK_PLUGIN(&@NAME@);
