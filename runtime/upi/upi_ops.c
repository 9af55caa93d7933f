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

/* The one place where a drop is counted: so each is recorded. */
static void drop(struct xk_rep *r, unsigned reason, uint64_t n, uint32_t bytes)
{
	xk_assert(reason < XK_DROPS_MAX);
	xk_count_add(r->drop[reason], n);
	upi_record_drop(r->node, reason, n, bytes);
}

XK_NOINLINE void xk_dropped(struct xk_rep *r, unsigned reason, uint64_t n)
{
	if (n == 0)
		return;
	drop(r, reason, n, 0);
	XK_TRACE(&r->node->log, 4, "drop: %s", xk_drop_name(r->node->proto, reason));
}

XK_NOINLINE void xk_drop(struct xk_rep *r, unsigned reason, struct xk_msg *m)
{
	drop(r, reason, 1, m->tot);
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
	struct upi_call c;
	int ignored;
	struct xk_sess *s;

	if (err == NULL)
		err = &ignored;
	*err = XK_E_NOTSUP;
	if (ops->open == NULL)
		return NULL;
	upi_call_begin(&c, llp, NULL, UPI_OPEN);
	s = ops->open(llp, rcv, type, ps, err);
	upi_call_end(&c);
	if (s == NULL)
		return NULL;
	*err = XK_OK;
	s->rcnt++;
	s->flags &= ~(XK_SESS_IDLE | XK_SESS_CLOSING);
	s->idle_mark = 0;
	s->up = &rcv->up;
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
	struct upi_call c;
	int err;

	upi_call_begin(&c, r, NULL, UPI_OPEN_DONE);
	s->up = &r->up;
	xk_sess_set_type(s, type);
	s->flags |= XK_SESS_PASSIVE;
	if (rcv->proto->ops->open_done == NULL) {
		upi_call_end(&c);
		return XK_OK;
	}
	/* Held meanwhile: a receiver may keep it and close it at once. */
	s->rcnt++;
	err = rcv->proto->ops->open_done(r, s, type);
	s->rcnt--;
	upi_call_end(&c);
	return err;
}

void xk_close_done(struct xk_sess *s)
{
	struct xk_rep *r;
	struct upi_call c;

	upi_call_begin(&c, s->up->rep, NULL, UPI_CLOSE_DONE);
	r = s->up->rep;
	if (r->node->proto->ops->close_done != NULL)
		r->node->proto->ops->close_done(r, s);
	upi_call_end(&c);
}

/* ---- control ------------------------------------------------------------------------ */

static XK_NOINLINE int control_hooked(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct upi_call c = { .r = r, .what = UPI_CONTROL, .op = op };
	int res;

	upi_hooked_call(&c);
	res = r->node->proto->ops->control(r, op, buf, len);
	upi_hooked_back(&c);
	return res;
}

static XK_NOINLINE int sess_control_hooked(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	struct upi_call c = { .r = s->rep, .s = s, .what = UPI_SESS_CONTROL, .op = op };
	int res;

	upi_hooked_call(&c);
	res = s->rep->node->proto->ops->sess_control(s, op, buf, len);
	upi_hooked_back(&c);
	return res;
}

static inline int control_one(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_node *n = r->node;

	if (n->proto->ops->control == NULL)
		return XK_E_NOTSUP;
	return XK_UNLIKELY(upi_hooked(n, UPI_CALLS)) ? control_hooked(r, op, buf, len) :
						       n->proto->ops->control(r, op, buf, len);
}

static inline int sess_control_one(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	const struct xk_ops *ops = s->rep->node->proto->ops;

	if (ops->sess_control == NULL)
		return s->down == NULL ? control_one(s->rep, op, buf, len) : XK_E_NOTSUP;
	return XK_UNLIKELY(s->flags & XK_SESS_HOOKED) ? sess_control_hooked(s, op, buf, len) :
							ops->sess_control(s, op, buf, len);
}

/* Who does not know of super-segments would not let them through: nobody answers in its place. */
static inline bool goes_on(int res, unsigned op)
{
	return res == XK_E_NOTSUP && op != XK_CTL_GETMAXSUPER;
}

int xk_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	for (; r != NULL; r = r->down[0]) {
		int res = control_one(r, op, buf, len);

		if (!goes_on(res, op))
			return res;
		if (XK_UNLIKELY(op == XK_CTL_GIVES))
			return xk_answer32(buf, len, upi_rep_gives(r));
	}
	return XK_E_NOTSUP;
}

/* As s does not know it. */
static XK_NOINLINE int sess_control_below(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	int res;

	if (op == XK_CTL_GIVES)
		return xk_answer32(buf, len, upi_sess_gives(s));
	do {
		if (s->down == NULL)
			return xk_control(s->rep, op, buf, len);
		s = s->down;
		res = sess_control_one(s, op, buf, len);
	} while (goes_on(res, op));
	return res;
}

int xk_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	int res = sess_control_one(s, op, buf, len);

	return XK_LIKELY(!goes_on(res, op)) ? res : sess_control_below(s, op, buf, len);
}

int xk_answer(void *buf, unsigned len, const void *v, unsigned n)
{
	if (len < n)
		return XK_E_INVAL;
	memcpy(buf, v, n);
	return (int)n;
}

int xk_answer32(void *buf, unsigned len, uint32_t v)
{
	return xk_answer(buf, len, &v, sizeof v);
}

int xk_take(void *v, unsigned n, const void *buf, unsigned len)
{
	if (len < n)
		return XK_E_INVAL;
	memcpy(v, buf, n);
	return XK_OK;
}

uint32_t xk_proto_number(const struct xk_node *type, const char *realm)
{
	const struct xk_number *n = type->proto->numbers;

	for (; n != NULL && n->realm != NULL; n++)
		if (strcmp(n->realm, realm) == 0)
			return n->number;
	return 0;
}

const struct xk_proto *xk_proto_of_word(const struct xk_proto *const *table, const char *word, unsigned i)
{
	for (; *table != NULL; table++)
		if (strcmp((*table)->name, word) == 0 && i-- == 0)
			return *table;
	return NULL;
}

const struct xk_proto *xk_proto_find(const char *name)
{
	return xk_proto_of_word(xk_proto_table, name, 0);
}

const struct xk_absent *xk_proto_find_absent(const char *name)
{
	for (const struct xk_absent *a = xk_proto_absent; a->name != NULL; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

/* Of n and m bytes: one, or one is the other with a kind behind it. */
static bool is_word(const char *a, size_t n, const char *b, size_t m)
{
	size_t both = n < m ? n : m;

	return memcmp(a, b, both) == 0 && (n == m || (n < m ? b : a)[both] == '/');
}

bool xk_words_meet(const char *a, const char *b)
{
	for (; a != NULL && *a != '\0'; a += *a == '|') {
		size_t n = strcspn(a, "|");

		for (const char *x = b; x != NULL && *x != '\0'; x += *x == '|') {
			size_t m = strcspn(x, "|");

			if (is_word(a, n, x, m))
				return true;
			x += m;
		}
		a += n;
	}
	return false;
}

bool xk_node_offers(const struct xk_node *n, const char *word)
{
	while (xk_words_meet(n->proto->offers, word)) {
		if (!n->proto->as_below || n->ndown == 0)
			return true;
		n = n->down[0];
	}
	return false;
}

bool xk_node_is_edge(const struct xk_node *n)
{
	const struct xk_proto *p = n->proto;

	return p->is_driver && p->ops->demux == NULL && !xk_words_meet(p->offers, "peer");
}
