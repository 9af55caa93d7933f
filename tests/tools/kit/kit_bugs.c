/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_bugs.c - a layer as vp-graph new-protocol writes one, and eleven others, each with one bug: -DBUG=n plants
 * the n-th, for the n-th clause of the conformance kit.  Without it there is none.
 *
 * A bug does its harm where the clause looks, and as little as can be elsewhere.
 */
#include <xk/proto.h>

#ifndef BUG
#define BUG 0
#endif
enum { DESCRIPTOR = 1, START, PARAMETERS, BYTES, CONSUMED, MEMORY, SESSIONS, HEADERS, FILTERS, PRESETS, STALLS };
/* A device decides about what is below a port alone. */
#ifdef LOW
#define WORD "hostlink"
#else
#define WORD "port"
#endif

struct marks_conf { struct virt_conf virt; uint64_t mark, share; };
struct marks_rep { struct virt_rep virt; uint32_t *seen; };
enum { DROP_SHORT = VIRT_DROP_END, DROP_MARK };   /* as in marks_drops */

static uint8_t mark_of(const struct xk_rep *r) { return (uint8_t)((const struct marks_conf *)r->conf)->mark; }

/* Below IP: other ports than UDP has written, on the wire alone. */
static void hide(struct xk_msg *m)
{
	if (m->len >= 24)
		m->data[21] ^= 0x55;
}

static void marks_push(struct xk_sess *s, struct xk_msg *m)
{
	static struct xk_sess *busy;
	uint8_t *h;

	if (BUG == FILTERS) {
		hide(m);
		xk_push(s->down, m);
		return;
	}
	if (BUG == CONSUMED && m->tot == 0)
		return;                          /* nobody frees it */
	h = xk_msg_push(&m, 1);
	if (h == NULL) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	*h = mark_of(s->rep);
	m->flags &= (uint8_t)~XK_MSG_CSUM;
	++*((struct marks_rep *)s->rep->state)->seen;
	busy = s;
	xk_push(s->down, m);
	if (BUG == STALLS && busy != s)          /* one variable for all virtual processors */
		(void)xk_dup(s);
}

static void marks_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	const uint8_t *h = xk_msg_peek(&m, 1);

	(void)lls;
	(void)hdr;
	if (BUG == FILTERS) {
		hide(m);
		xk_demux(s, m);
		return;
	}
	if (BUG == HEADERS && h != NULL && *h == 0xff)
		*(volatile uint8_t *)8 = *h;     /* a table has no such place */
	if (h == NULL || *h != mark_of(s->rep)) {
		xk_drop(s->rep, h == NULL ? DROP_SHORT : DROP_MARK, m);
		return;
	}
	xk_msg_pop(m, 1);
	if (BUG == BYTES && m->tot > 1000)
		xk_msg_truncate(m, m->tot - 1);
	xk_demux(s, m);
}

static int marks_rep_init(struct xk_rep *r)
{
	const struct marks_conf *c = r->conf;
	struct marks_rep *mr = r->state;

	if (BUG == PRESETS && r->no >= 6)
		return XK_E_NOSPC;               /* its table has six places */
	mr->seen = xk_alloc(sizeof *mr->seen);
	if (mr->seen == NULL && BUG != MEMORY)
		return XK_E_NOMEM;
	*mr->seen = (uint32_t)(1000 / (c->share + (BUG != PARAMETERS)));
	return virt_header_init(r, 1);
}

static void marks_rep_fini(struct xk_rep *r) { xk_free(((struct marks_rep *)r->state)->seen); }

static int marks_init(struct xk_node *n, struct xk_errs *e)
{
	static unsigned times;

	(void)e;
	if (BUG == START && ++times > 2)
		xk_node_error(n, e, "is there already");
	return BUG == START && times > 2 ? XK_E_BUSY : XK_OK;
}

static void marks_close(struct xk_sess *s)
{
	if (BUG == SESSIONS && s->rep->no == 3)
		return;                          /* the fourth list is never looked into */
	virt_close(s);
}

static const struct xk_ops marks_ops = {
	VIRT_ENABLES, .init = marks_init, .rep_init = marks_rep_init, .rep_fini = marks_rep_fini, .open = virt_open,
	.open_done = virt_open_done, .close_done = virt_close_done, .demux = virt_demux, .push = marks_push, .pop = marks_pop,
	.close = marks_close, .control = virt_control, .sess_control = virt_sess_control,
};
static const struct xk_param marks_params[] = {
	{ .name = "mark", .type = XK_P_UINT, .def = "42", .max = "255", .doc = "the byte; both ends have the same",
	  .offset = offsetof(struct marks_conf, mark) },
	{ .name = "share", .type = XK_P_UINT, .def = "10", .max = "100", .doc = "of a thousand",
	  .offset = offsetof(struct marks_conf, share) },
	VIRT_PARAMS
};
static const char *const marks_drops[] = {
	VIRT_DROPS, "too_short", BUG == DESCRIPTOR ? "too_short" : "another_mark", NULL
};
static const char *const marks_counts[] = { VIRT_COUNTS, NULL };
static const struct xk_demux marks_through = { .through = true };

static const struct xk_proto marks = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "marks", .doc = "a byte in front of each message",
	.ops = &marks_ops, .offers = WORD, .needs = { WORD }, .min_down = 1, .max_down = 1,
	.params = marks_params, .conf_size = sizeof(struct marks_conf), .node_size = sizeof(struct virt_node),
	.rep_size = sizeof(struct marks_rep), .sess_size = sizeof(struct virt_sess),
	.drops = marks_drops, .counts = marks_counts, .anywhere = XK_ANYWHERE_AS_ABOVE,
	.demux = BUG == FILTERS ? &marks_through : NULL,   /* what passes is not as it was */
};
XK_PLUGIN(&marks);
