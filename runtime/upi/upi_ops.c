/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_ops.c - the rare operations of the interface: open, enable, done, close
 * done, control, drop; and what happens where a protocol declared none.
 *
 * Reference counts change here and in xk_pop, nowhere else.
 */
#include "runtime/upi/upi_priv.h"

#include <string.h>

#include "runtime/upi/xk_stream.h"

XK_NOINLINE void xk_drop(struct xk_rep *r, unsigned reason, struct xk_msg *m)
{
	xk_assert(reason < XK_DROPS_MAX);
	xk_count(r->drop[reason]);
	XK_TRACE(&r->node->log, 4, "drop %u bytes: %s", m->tot, xk_drop_name(r->node->proto, reason));
	xk_msg_free(m);
}

const char *xk_drop_name(const struct xk_proto *p, unsigned reason)
{
	if (reason == XK_DROP_NOMEM)
		return "no memory";
	if (reason == XK_DROP_UNSUPPORTED)
		return "unsupported";
	for (unsigned k = 0; p->drops != NULL && p->drops[k] != NULL; k++)
		if (k + XK_DROP_FIRST == reason)
			return p->drops[k];
	return NULL;
}

void upi_no_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	xk_drop(up->rep, XK_DROP_UNSUPPORTED, m);
}

/* ---- opening ---------------------------------------------------------------------- */

struct xk_sess *xk_open(struct xk_rep *rcv, struct xk_node *type, struct xk_rep *llp,
			struct xk_parts *ps, int *err)
{
	const struct xk_ops *ops = llp->node->proto->ops;
	struct xk_stage *was;
	int ignored;
	struct xk_sess *s;

	if (err == NULL)
		err = &ignored;
	*err = XK_E_NOTSUP;
	if (ops->open == NULL)
		return NULL;
	was = upi_layered() ? upi_layer_call(llp, UPI_LAYER_DOWN) : NULL;
	s = ops->open(llp, rcv, type, ps, err);
	upi_layer_return(was);
	if (s == NULL)
		return NULL;
	*err = XK_OK;
	s->rcnt++;
	s->flags &= ~(XK_SESS_IDLE | XK_SESS_CLOSING);
	s->idle_mark = 0;
	s->up = &rcv->up;
	upi_interpose_push(s, rcv->node);
	return s;
}

int xk_open_enable(struct xk_node *rcv, struct xk_node *type, struct xk_node *llp, struct xk_parts *ps)
{
	const struct xk_ops *ops = llp->proto->ops;

	return ops->open_enable ? ops->open_enable(llp, rcv, type, ps) : XK_E_NOTSUP;
}

int xk_open_disable(struct xk_node *rcv, struct xk_node *type, struct xk_node *llp, struct xk_parts *ps)
{
	const struct xk_ops *ops = llp->proto->ops;

	return ops->open_disable ? ops->open_disable(llp, rcv, type, ps) : XK_E_NOTSUP;
}

void xk_open_disable_all(struct xk_node *rcv, struct xk_node *llp)
{
	if (llp->proto->ops->open_disable_all != NULL)
		llp->proto->ops->open_disable_all(llp, rcv);
}

int xk_open_done(struct xk_node *rcv, struct xk_sess *s, struct xk_node *type)
{
	struct xk_rep *r = rcv->rep[s->rep->vp->no];
	struct xk_stage *was = upi_layered() ? upi_layer_call(r, UPI_LAYER_NONE) : NULL;
	int err;

	s->up = &r->up;
	s->type = type;
	s->flags |= XK_SESS_PASSIVE;
	upi_interpose_push(s, rcv);
	if (rcv->proto->ops->open_done == NULL) {
		upi_layer_return(was);
		return XK_OK;
	}
	/* Held meanwhile: a receiver may keep it and close it at once. */
	s->rcnt++;
	err = rcv->proto->ops->open_done(r, s, type);
	s->rcnt--;
	upi_layer_return(was);
	return err;
}

void xk_close_done(struct xk_sess *s)
{
	struct xk_stage *was = upi_layered() ? upi_layer_call(s->up->rep, UPI_LAYER_UP) : NULL;
	struct xk_rep *r = s->up->rep;

	if (r->node->proto->ops->close_done != NULL)
		r->node->proto->ops->close_done(r, s);
	upi_layer_return(was);
}

/* ---- control ------------------------------------------------------------------------ */

static int control_layered(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	enum upi_layer_way way = op == XK_CTL_STREAM_EVENT ? UPI_LAYER_UP : UPI_LAYER_NONE;
	struct xk_stage *was = upi_layer_constant(op) ? NULL : upi_layer_call(r, way);
	int res = r->node->proto->ops->control(r, op, buf, len);

	upi_layer_return(was);
	return res;
}

static int sess_control_layered(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct xk_stage *was = upi_layer_constant(op) ? NULL : upi_layer_call(s->rep, UPI_LAYER_DOWN);
	int res = s->rep->node->proto->ops->sess_control(s, op, buf, len);

	upi_layer_return(was);
	return res;
}

int xk_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	for (; r != NULL; r = r->down[0]) {
		const struct xk_ops *ops = r->node->proto->ops;
		int res = ops->control ? XK_UNLIKELY(upi_layered()) ? control_layered(r, op, buf, len) :
						   ops->control(r, op, buf, len) : XK_E_NOTSUP;

		if (res != XK_E_NOTSUP)
			return res;
	}
	return XK_E_NOTSUP;
}

int xk_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	for (;;) {
		const struct xk_ops *ops = s->rep->node->proto->ops;
		int res = ops->sess_control ? XK_UNLIKELY(upi_layered()) ? sess_control_layered(s, op, buf, len) :
							ops->sess_control(s, op, buf, len) : XK_E_NOTSUP;

		if (res != XK_E_NOTSUP)
			return res;
		if (s->down == NULL)
			return xk_control(s->rep, op, buf, len);
		s = s->down;
	}
}

uint32_t xk_proto_number(const struct xk_node *type, const char *realm)
{
	const struct xk_number *n = type->proto->numbers;

	for (; n != NULL && n->realm != NULL; n++)
		if (strcmp(n->realm, realm) == 0)
			return n->number;
	return 0;
}

const struct xk_proto *xk_proto_find(const char *name)
{
	for (const struct xk_proto *const *p = xk_proto_table; *p != NULL; p++)
		if (strcmp((*p)->name, name) == 0)
			return *p;
	return NULL;
}

const struct xk_absent *xk_proto_find_absent(const char *name)
{
	for (const struct xk_absent *a = xk_proto_absent; a->name != NULL; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (; list != NULL && *list != '\0'; list += list[0] == '|') {
		size_t m = strcspn(list, "|");

		if (m == n && memcmp(list, word, n) == 0)
			return true;
		list += m;
	}
	return false;
}

bool xk_node_offers(const struct xk_node *n, const char *word)
{
	while (has_word(n->proto->offers, word)) {
		if (!n->proto->as_below || n->ndown == 0)
			return true;
		n = n->down[0];
	}
	return false;
}
