/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_path.c - what a connection may be opened with: the paths below a node of ncs, by name or put together.
 *
 * Each node that ncs lies over is a path: an interface, maybe under a flow control and that under
 * an error control.  Whoever opens names one, or takes the flow control of one, the error control
 * of another and the interface of a third (Park, Lee, Hariri 1998, section 2: chosen for each
 * connection).  A peer that is to take its own choices only says which one it lacks.
 * Invariant: a replica's paths are what the graph says, from rep_start on.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/upi/xk_node.h"

#include <stdio.h>
#include <string.h>

static const struct ncs_choice neither = {
	&ncs_fc_none, &ncs_ec_none, { .flow_window = 1, .first = 1, .most = 1, .rate = 1, .error_window = 1 }
};

/* ---- what the graph has ------------------------------------------------------------------------- */

int ncs_paths_start(struct xk_rep *r, struct xk_errs *e)
{
	for (unsigned i = 0; i < xk_node_ndown(r->node); i++) {
		struct ncs_path *p = &ncs_rep(r)->path[i];
		struct xk_node *n = xk_node_down(r->node, i);
		int controls, all;

		p->choice = neither;
		controls = xk_control(r->down[i], NCS_CTL_CHOICE, &p->choice, sizeof p->choice);
		all = controls > 0 ? controls : 0;
		p->error = p->choice.error != &ncs_ec_none ? n : NULL;
		for (p->flow = NULL; controls > 0; controls--, n = xk_node_down(n, 0))
			if (n != p->error)
				p->flow = n;
		p->over = xk_rep_here(n, r);
		if (all != (p->choice.flow != &ncs_fc_none) + (p->choice.error != &ncs_ec_none)) {
			xk_node_error(r->node, e, "path '%s' has two flow controls, or two error controls: a connection has one of "
				      "each", xk_node_name(xk_node_down(r->node, i)));
			return XK_E_INVAL;
		}
	}
	return XK_OK;
}

enum part { WHOLE, FLOW, ERROR, OVER };

static const struct xk_node *part_of(const struct xk_rep *r, unsigned i, enum part part)
{
	const struct ncs_path *p = &ncs_rep(r)->path[i];

	return part == WHOLE ? xk_node_down(r->node, i) : part == FLOW ? p->flow : part == ERROR ? p->error : p->over->node;
}

/* The path whose part is called so: by its own name, or else by its kind's.  A path has a name of its own only. */
static int find(const struct xk_rep *r, const char *name, enum part part, uint8_t *no)
{
	if (name == NULL)
		return XK_OK;
	if ((part == FLOW || part == ERROR) && strcmp(name, "none") == 0) {
		*no = NCS_PICK_NONE;
		return XK_OK;
	}
	for (unsigned kind = 0; kind < (part == WHOLE ? 1 : 2); kind++)
		for (unsigned i = 0; i < xk_node_ndown(r->node); i++) {
			const struct xk_node *n = part_of(r, i, part);

			if (n != NULL && strcmp(kind ? n->proto->name : xk_node_name(n), name) == 0) {
				*no = (uint8_t)i;
				return XK_OK;
			}
		}
	return XK_E_NOENT;
}

int ncs_pick_of(const struct xk_rep *r, struct ncs_names *w)
{
	const char *const name[] = { w->path, w->flow, w->error, w->over };
	uint8_t no[] = { 0, 0, 0, 0 };

	w->wrong = NULL;
	for (unsigned part = WHOLE; part <= OVER && w->wrong == NULL; part++) {
		if (part != WHOLE)
			no[part] = no[WHOLE];
		if (find(r, name[part], (enum part)part, &no[part]) != XK_OK)
			w->wrong = name[part];
	}
	w->pick = (struct ncs_pick){ no[FLOW], no[ERROR], no[OVER] };
	return w->wrong == NULL ? XK_OK : XK_E_NOENT;
}

/* ---- one connection's ----------------------------------------------------------------------------- */

struct xk_rep *ncs_picked(const struct xk_rep *r, const struct ncs_pick *p, struct ncs_choice *c)
{
	const struct ncs_path *path = ncs_rep(r)->path;
	const struct ncs_choice *error;
	unsigned n = xk_node_ndown(r->node);

	if (p->over >= n || (p->flow >= n && p->flow != NCS_PICK_NONE) || (p->error >= n && p->error != NCS_PICK_NONE))
		return NULL;
	*c = p->flow != NCS_PICK_NONE ? path[p->flow].choice : neither;
	error = p->error != NCS_PICK_NONE ? &path[p->error].choice : &neither;
	c->error = error->error;
	c->agreed.error_window = error->agreed.error_window;
	return path[p->over].over;
}

/* ---- what a peer asks for ---------------------------------------------------------------------------- */

static bool is_called(const char *name, const uint8_t *said)
{
	size_t n = strnlen((const char *)said, NCS_NAME_MOST);

	return strlen(name) == n && memcmp(name, said, n) == 0;
}

/* Those that are not of this folder are where the graph has them. */
static const struct ncs_flow_ops *flow_of(const struct xk_rep *r, const struct ncs_open *o)
{
	const struct ncs_flow_ops *f = ncs_flow_of(o->flow);

	for (unsigned i = 0; o->flow == NCS_BY_NAME && f == NULL && i < xk_node_ndown(r->node); i++)
		if (is_called(ncs_rep(r)->path[i].choice.flow->name, o->names))
			f = ncs_rep(r)->path[i].choice.flow;
	return f;
}

static const struct ncs_error_ops *error_of(const struct xk_rep *r, const struct ncs_open *o)
{
	const struct ncs_error_ops *e = ncs_error_of(o->error);

	for (unsigned i = 0; o->error == NCS_BY_NAME && e == NULL && i < xk_node_ndown(r->node); i++)
		if (is_called(ncs_rep(r)->path[i].choice.error->name, o->names + NCS_NAME_MOST))
			e = ncs_rep(r)->path[i].choice.error;
	return e;
}

static void lacks(const struct ncs_open *o, bool flow, char *why, size_t n)
{
	const char *kind = flow ? "flow" : "error";
	unsigned no = flow ? o->flow : o->error;
	char name[NCS_NAME_MOST + 1] = "";

	if (no != NCS_BY_NAME) {
		snprintf(why, n, "no %s control %u here", kind, no);
		return;
	}
	memcpy(name, o->names + (flow ? 0 : NCS_NAME_MOST), NCS_NAME_MOST);
	for (char *c = name; *c != '\0'; c++)    /* a peer's text: nothing that a terminal would obey */
		*c = *c >= ' ' && *c <= '~' ? *c : '?';
	snprintf(why, n, "no %s control '%s' here", kind, name);
}

int ncs_accepts(const struct xk_rep *r, const struct ncs_open *o, struct ncs_choice *c, char *why, size_t n)
{
	bool flow = false, error = false;

	*c = (struct ncs_choice){ flow_of(r, o), error_of(r, o), o->a };
	if (c->flow == NULL || c->error == NULL) {
		lacks(o, c->flow == NULL, why, n);
		return XK_E_NOTSUP;
	}
	for (unsigned i = 0; i < xk_node_ndown(r->node); i++) {
		flow = flow || ncs_rep(r)->path[i].choice.flow == c->flow;
		error = error || ncs_rep(r)->path[i].choice.error == c->error;
	}
	if (ncs_conf(r)->accept == NCS_ACCEPT_ANY || (flow && error))
		return XK_OK;
	snprintf(why, n, "no %s control '%s' here", flow ? "error" : "flow", flow ? c->error->name : c->flow->name);
	return XK_E_NOTSUP;
}
