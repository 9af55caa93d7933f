/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rot13.c - a protocol outside the tree: a layer over any port that turns letters by 13 places, going down and
 * coming up.
 *
 * Both ends have it, so what comes up is what went down.  A layer without a map of its own stands on the virt_
 * functions and adds what is its own: push, self (what comes up) and a counter.
 */
#include <xk/proto.h>

struct rot13_conf { struct virt_conf virt; };
enum { N_LETTERS = VIRT_COUNT_LINGERED + 1 };             /* as in rot13_counts */

static void turn(struct xk_rep *r, uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t small = p[i] | 0x20;

		if (small < 'a' || small > 'z')
			continue;
		p[i] = (uint8_t)(p[i] + (small < 'n' ? 13 : -13));
		xk_count(r->count[N_LETTERS]);
	}
}

/* Bytes may be shared with others, or lie in several pieces: they are made ours, and one piece. */
static struct xk_msg *turned(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_msg *own = xk_msg_own(m);
	uint8_t *bytes = own != NULL ? xk_msg_peek(&own, own->tot) : NULL;

	if (bytes == NULL) {
		xk_drop(r, XK_DROP_NOMEM, own != NULL ? own : m);
		return NULL;
	}
	turn(r, bytes, own->tot);
	own->flags &= (uint8_t)~XK_MSG_CSUM;     /* that sum is of other bytes */
	return own;
}

static void rot13_push(struct xk_sess *s, struct xk_msg *m)
{
	m = turned(s->rep, m);
	if (m != NULL)
		xk_push(s->down, m);
}

static void rot13_self(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	m = turned(up->rep, m);
	if (m != NULL)
		xk_pass(xk_container_of(up, struct xk_sess, self), m);
}

static int rot13_rep_init(struct xk_rep *r)
{
	((struct virt_rep *)r->state)->self = rot13_self;
	return virt_rep_init(r);
}

static int rot13_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return xk_control(r->down[0], op, buf, len);
}
static int rot13_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return xk_sess_control(s->down, op, buf, len);
}

static const struct xk_ops rot13_ops = {
	.fini = virt_fini, .rep_init = rot13_rep_init, .rep_stop = virt_rep_stop, .open = virt_open,
	.open_enable = virt_open_enable, .open_disable = virt_open_disable, .open_disable_all = virt_open_disable_all,
	.open_done = virt_open_done, .close_done = virt_close_done, .demux = virt_demux, .push = rot13_push,
	.pop = virt_pop, .close = virt_close, .control = rot13_control, .sess_control = rot13_sess_control,
};
static const struct xk_param rot13_params[] = { VIRT_PARAMS };
static const char *const rot13_drops[] = { VIRT_DROPS, NULL };
static const char *const rot13_counts[] = { VIRT_COUNTS, "letters", NULL };

static const struct xk_proto rot13 = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "rot13",
	.doc = "letters turned by 13 places", .ops = &rot13_ops,
	.offers = "port", .needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = rot13_params, .conf_size = sizeof(struct rot13_conf), .node_size = sizeof(struct virt_node),
	.rep_size = sizeof(struct virt_rep), .sess_size = sizeof(struct virt_sess),
	.drops = rot13_drops, .counts = rot13_counts, .anywhere = XK_ANYWHERE_AS_ABOVE,
};
XK_PLUGIN(&rot13);
