/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtual_enable.c - who waits for peers through a protocol without a header; see virtual.h.
 *
 * Invariant: each enable of the list is bound in the node's passive map, and has one below on every node: of its
 * own, or of whoever was there before this node came between.
 */
#include "protocols/virtual/virtual.h"

#include <string.h>

#include "protocols/virtual/virtual_priv.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_part.h"

struct virt_enable {
	struct virt_enable *next;
	struct xk_node     *rcv, *type;
	struct xk_parts     ps;
	bool                adopted;     /* the enable below was another's, and ps says nothing */
};

static bool same_parts(const struct xk_parts *a, const struct xk_parts *b)
{
	uint8_t x[256], y[256];
	int n = xk_parts_externalize(a, x, sizeof(x));

	return n > 0 && n == xk_parts_externalize(b, y, sizeof(y)) && memcmp(x, y, (size_t)n) == 0;
}

/* The callee may consume its list. */
static int enable_below(struct xk_node *n, unsigned i, struct xk_node *type, const struct xk_parts *ps)
{
	struct xk_parts copy = *ps;

	return xk_open_enable(n, type, n->down[i], &copy);
}

static int disable_below(struct xk_node *n, unsigned i, struct xk_node *type, const struct xk_parts *ps)
{
	struct xk_parts copy = *ps;

	return xk_open_disable(n, type, n->down[i], &copy);
}

/* All or none. */
static int enable_all_below(struct xk_node *n, struct xk_node *type, const struct xk_parts *ps)
{
	for (unsigned i = 0; i < n->ndown; i++) {
		int err = enable_below(n, i, type, ps);

		if (err >= 0)
			continue;
		while (i-- > 0)
			(void)disable_below(n, i, type, ps);
		return err;
	}
	return XK_OK;
}

static void list_in(struct xk_node *n, struct virt_enable *v)
{
	struct virt_node *st = n->state;

	xk_structure_lock(n);
	v->next = st->enables;
	st->enables = v;
	xk_structure_unlock(n);
}

/* What is looked for: type NULL, whatever it is; ps NULL, whatever its parts; adopted, one whose parts are not known. */
struct virt_wanted { const struct xk_node *rcv, *type; const struct xk_parts *ps; bool adopted; };

static bool is_wanted(const struct virt_enable *v, const struct virt_wanted *w)
{
	if (v->rcv != w->rcv || (w->type != NULL && v->type != w->type))
		return false;
	return w->adopted ? v->adopted : w->ps == NULL || (!v->adopted && same_parts(&v->ps, w->ps));
}

/* One off the list; NULL: there is none. */
static struct virt_enable *list_out(struct xk_node *n, const struct virt_wanted *w)
{
	struct virt_node *st = n->state;
	struct virt_enable **pv = &st->enables, *v;

	xk_structure_lock(n);
	while ((v = *pv) != NULL && !is_wanted(v, w))
		pv = &v->next;
	if (v != NULL)
		*pv = v->next;
	xk_structure_unlock(n);
	return v;
}

int virt_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct virt_enable *v = xk_alloc(sizeof(*v));
	struct xk_key k = virt_type_key(type);
	int err;

	if (v == NULL)
		return XK_E_NOMEM;
	v->rcv = rcv;
	v->type = type;
	xk_parts_init(&v->ps, 0);
	if (ps != NULL)
		v->ps = *ps;
	err = xk_enable_bind(n, &k, rcv, type);
	if (err == XK_OK) {
		err = enable_all_below(n, type, &v->ps);
		if (err < 0)
			(void)xk_enable_unbind(n, &k, rcv, type);
	}
	if (err < 0) {
		xk_free(v);
		return err;
	}
	list_in(n, v);
	return XK_OK;
}

/* What others had enabled below: a layer there has noted it for n, others have nothing but the enable itself. */
static void adopted_undo(struct xk_node *n, struct virt_enable *v)
{
	struct xk_rep *below = n->down[0]->rep[0];
	struct xk_handed h = { .a = { .of = below }, .rcv = n, .type = v->type };

	if (xk_control(below, XK_CTL_HANDED, &h, sizeof h) != XK_OK)
		(void)xk_enable_unbind_type(n->down[0], n, v->type);
}

/* v is off the list, and nothing is left of it below. */
static void enable_free(struct xk_node *n, struct virt_enable *v)
{
	struct xk_key k = virt_type_key(v->type);

	(void)xk_enable_unbind(n, &k, v->rcv, v->type);
	xk_free(v);
}

/* Undoes v, which is off the list, everywhere. */
static void enable_undo(struct xk_node *n, struct virt_enable *v)
{
	if (v->adopted)
		adopted_undo(n, v);
	for (unsigned i = 0; !v->adopted && i < n->ndown; i++)
		(void)disable_below(n, i, v->type, &v->ps);
	enable_free(n, v);
}

/* Of what is adopted w's parts alone, which who enabled them knows: there are as many as below. */
static int adopted_disable(struct xk_node *n, const struct virt_wanted *w)
{
	struct virt_enable *v = list_out(n, w);
	int err;

	if (v == NULL)
		return XK_E_NOENT;
	err = disable_below(n, 0, v->type, w->ps);
	if (err != XK_OK) {                      /* it is none of them */
		list_in(n, v);
		return err;
	}
	enable_free(n, v);
	return XK_OK;
}

int virt_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct virt_wanted w = { .rcv = rcv, .type = type, .ps = ps };
	struct virt_enable *v;
	struct xk_parts none;

	xk_parts_init(&none, 0);
	if (ps == NULL)
		w.ps = &none;
	v = list_out(n, &w);
	/* Who is above gives up what it had enabled before this one came between. */
	w.adopted = v == NULL && rcv->proto->offers != NULL;
	if (w.adopted)
		return adopted_disable(n, &w);
	if (v == NULL)
		return XK_E_NOENT;
	enable_undo(n, v);
	return XK_OK;
}

void virt_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	const struct virt_wanted w = { .rcv = rcv };
	struct virt_enable *v;

	while ((v = list_out(n, &w)) != NULL)
		enable_undo(n, v);
}

void virt_fini(struct xk_node *n)
{
	struct virt_node *st = n->state;

	while (st->enables != NULL) {
		struct virt_enable *v = st->enables;

		st->enables = v->next;
		xk_free(v);
	}
}

/* ---- while the graph changes ------------------------------------------------------------- */

int virt_adopt(struct xk_node *n, const struct xk_adopt *a)
{
	struct virt_enable *v = xk_alloc(sizeof *v);
	struct xk_key k = virt_type_key(a->e->type);
	int err;

	if (v == NULL)
		return XK_E_NOMEM;
	err = xk_enable_bind(n, &k, a->rcv, a->e->type);
	if (err != XK_OK) {
		xk_free(v);
		return err;
	}
	*v = (struct virt_enable){ .rcv = a->rcv, .type = a->e->type, .adopted = true };
	list_in(n, v);
	return XK_OK;
}

/* Nobody enables by it meanwhile: what it notes is locked for those who look at other lists. */
int virt_handed(struct xk_node *n, const struct xk_handed *h)
{
	const struct virt_wanted w = { .rcv = h->rcv, .type = h->type };
	struct virt_node *st = n->state;
	struct virt_enable *v;

	if (h->now == NULL) {
		while ((v = list_out(n, &w)) != NULL)
			enable_undo(n, v);
		return XK_OK;
	}
	xk_structure_lock(n);
	for (v = st->enables; v != NULL; v = v->next)
		v->rcv = v->rcv == h->rcv ? h->now : v->rcv;
	xk_structure_unlock(n);
	return XK_OK;
}
