/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_filter.c - the packet filter of each device, composed from what the protocols above it
 * declare, and the back end that runs it.
 *
 * A walk upwards from the device: a node that declares its header becomes a cell, found by its
 * number in the realm that the cell below offers; a node that is passed through bears none, so
 * who is above it hangs where it hangs itself.  Contradictions are errors at the node's place
 * in the graph file.  What merely can't be decided at the device (no declaration, more key
 * than there is room for) is warned of and left out: such messages go where what is known of
 * them sends them, VP 0 where that is nothing, and are demultiplexed there by the protocols.
 * Invariant: a node has a pattern exactly if it is a driver at the bottom of a composed graph.
 */
#include "runtime/upi/upi_priv.h"

#include <stdio.h>
#include <string.h>

struct filter {
	struct xk_graph   *g;
	struct xk_node    *device;
	struct xk_pattern *p;
	const struct xk_node *node[XK_PAT_CELLS];   /* whose cell it is */
	struct xk_errs    *e;
	int                err;                     /* the first */
};

static bool lies_over(const struct xk_node *n, const struct xk_node *under)
{
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i] == under)
			return true;
	return false;
}

/* n's number in the first of the realms, words with '|' between, where it has one. */
static uint32_t number_in(const struct xk_node *n, const char *realms)
{
	char word[32];
	uint32_t number = 0;

	while (number == 0 && realms != NULL && *realms != '\0') {
		size_t len = strcspn(realms, "|");

		snprintf(word, sizeof word, "%.*s", (int)len, realms);
		number = xk_proto_number(n, word);
		realms += len + (realms[len] == '|');
	}
	return number;
}

static void warn(const struct filter *f, const struct xk_node *n, const char *why)
{
	XK_TRACE(&n->log, 2, "%s:%d: frames of %s are not decided at the device: %s", n->file ? n->file : "?",
		 n->line, f->device->name, why);
}

/* The cell of n over `cell`, if it has been there: two ways may lead up to it. */
static bool known(const struct filter *f, unsigned cell, const struct xk_node *n)
{
	for (unsigned i = 0; i < f->p->ncell; i++)
		if (f->node[i] == n && f->p->cell[i].parent == cell)
			return true;
	return false;
}

/* n's cell, or a negative error that has been told. */
static int add(struct filter *f, const struct xk_node *n, unsigned cell, uint32_t number)
{
	char why[256];
	int at;

	if (known(f, cell, n))
		return XK_E_EXIST;
	at = xk_pattern_add(f->p, cell, number, n->name, n->proto->name, n->proto->demux, why, sizeof why);
	if (at >= 0) {
		f->node[at] = n;
		return at;
	}
	if (at == XK_E_NOSPC) {
		warn(f, n, why);
		return at;
	}
	xk_errs_add(f->e, n->file, n->line, 0, "%s", why);
	f->err = f->err != XK_OK ? f->err : at;
	return at;
}

static void above(struct filter *f, const struct xk_node *under, unsigned cell, const char *realm);

/* n lies over `cell`'s header, or over the device. */
static void place(struct filter *f, const struct xk_node *n, unsigned cell, const char *realm)
{
	const struct xk_demux *d = n->proto->demux;
	uint32_t number = cell != XK_PAT_ABOVE ? number_in(n, realm) : 0;
	int at;

	if (d != NULL && d->through) {
		if (number != 0)
			add(f, n, cell, number);
		above(f, n, cell, realm);
		return;
	}
	if (d == NULL || (cell != XK_PAT_ABOVE && number == 0)) {
		warn(f, n, d == NULL ? "it declares nothing of its header" : "it has no number in the header below");
		return;
	}
	at = add(f, n, cell, number);
	if (at >= 0 && !xk_cell_leaf(&f->p->cell[at]))
		above(f, n, (unsigned)at, n->proto->offers);
}

static void above(struct filter *f, const struct xk_node *under, unsigned cell, const char *realm)
{
	for (unsigned i = 0; i < f->g->nnodes; i++)
		if (lies_over(f->g->node[i], under))
			place(f, f->g->node[i], cell, realm);
}

static int compose(struct xk_graph *g, struct xk_node *device, struct xk_errs *e)
{
	struct filter f = { .g = g, .device = device, .e = e };

	f.p = xk_alloc(sizeof *f.p);
	if (f.p == NULL) {
		xk_errs_add(e, device->file, device->line, 0, "%s: out of memory for its packet filter", device->name);
		return XK_E_NOMEM;
	}
	above(&f, device, XK_PAT_ABOVE, NULL);
	if (f.err != XK_OK) {
		xk_free(f.p);
		return f.err;
	}
	device->pattern = f.p;
	return XK_OK;
}

int xk_graph_filter(struct xk_graph *g, struct xk_errs *e)
{
	int err = XK_OK;

	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		int one = n->proto->is_driver && n->ndown == 0 && n->pattern == NULL ? compose(g, n, e) : XK_OK;

		err = err != XK_OK ? err : one;
	}
	return err;
}

/* ---- the back end ----------------------------------------------------------------- */

const char *xk_node_classifier(const struct xk_node *n)
{
	const struct xk_param *p = n->proto->params != NULL ? xk_param_find(n->proto->params, "classifier") : NULL;
	unsigned which;

	if (p == NULL || p->type != XK_P_ENUM || n->conf == NULL)
		return "auto";
	memcpy(&which, (const char *)n->conf + p->offset, sizeof which);
	return p->choices[which];
}

int xk_node_classify(struct xk_node *n, char *why, size_t len)
{
	const char *kind = xk_node_classifier(n);
	struct xk_flowtab *t = n->graph->flows;
	int err = xk_classifier_new(&n->classifier, kind, n->pattern, t, why, len);
	char other[128];

	if (err != XK_E_NOTSUP)
		return err;
	XK_TRACE(&n->log, 1, "classifier \"%s\" refuses: %s", kind, why);
	err = xk_classifier_new(&n->classifier, "auto", n->pattern, t, other, sizeof other);
	if (err == XK_OK)
		snprintf(n->classifier->why, sizeof n->classifier->why, "\"%s\" refuses: %.150s", kind, why);
	return err;
}
