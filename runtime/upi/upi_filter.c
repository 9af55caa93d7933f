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
#include <stdlib.h>
#include <string.h>

/* Whose nodes lie over whom: those over node i are node[first[i]] to node[first[i + 1] - 1], bottom-up. */
struct uppers { unsigned *first; struct xk_node **node; };

struct filter {
	const struct uppers *up;
	struct xk_node    *device;
	struct xk_pattern *p;
	const struct xk_node *node[XK_PAT_CELLS];   /* whose cell it is */
	struct xk_errs    *e;
	int                err;                     /* the first */
};

/* Has n another way down to the same node before its i-th? */
static bool again(const struct xk_node *n, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (n->down[k] == n->down[i])
			return true;
	return false;
}

static void uppers_free(struct uppers *u)
{
	xk_free(u->first);
	xk_free(u->node);
}

static int uppers_of(const struct xk_graph *g, struct uppers *u)
{
	unsigned total = 0, ends;

	u->first = xk_alloc((g->nnodes + 2) * sizeof *u->first);
	if (u->first == NULL)
		return XK_E_NOMEM;
	/* Two places on: what is counted there is where the next node's begin, once the lists are filled. */
	for (unsigned i = 0; i < g->nnodes; i++)
		for (unsigned k = 0; k < g->node[i]->ndown; k++)
			u->first[g->node[i]->down[k]->no + 2] += !again(g->node[i], k);
	for (unsigned i = 2; i < g->nnodes + 2; i++)
		u->first[i] = total += u->first[i];
	u->node = xk_alloc((total + 1) * sizeof *u->node);
	if (u->node == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < g->nnodes; i++)
		for (unsigned k = 0; k < g->node[i]->ndown; k++) {
			ends = u->first[g->node[i]->down[k]->no + 1];
			if (again(g->node[i], k))
				continue;
			u->node[ends] = g->node[i];
			u->first[g->node[i]->down[k]->no + 1]++;
		}
	return XK_OK;
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
	for (unsigned i = f->up->first[under->no]; i < f->up->first[under->no + 1]; i++)
		place(f, f->up->node[i], cell, realm);
}

static int compose(const struct uppers *up, struct xk_node *device, struct xk_errs *e)
{
	struct filter f = { .up = up, .device = device, .e = e };

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

/* Where the host's kernel is the transport no frame is ours to look at. */
static bool has_frames(const struct xk_node *n)
{
	return xk_node_is_edge(n) && !xk_node_offers(n, "port") && !xk_node_offers(n, "stream");
}

int xk_graph_filter(struct xk_graph *g, struct xk_errs *e)
{
	struct uppers up = { NULL, NULL };
	int err = uppers_of(g, &up);

	if (err != XK_OK)
		xk_errs_add(e, NULL, 0, 0, "out of memory for packet filters");
	for (unsigned i = 0; up.node != NULL && i < g->nnodes; i++) {
		struct xk_node *n = g->node[i];
		int one = has_frames(n) && n->pattern == NULL ? compose(&up, n, e) : XK_OK;

		err = err != XK_OK ? err : one;
	}
	uppers_free(&up);
	return err;
}

/* ---- the back end ----------------------------------------------------------------- */

const char *xk_node_classifier(const struct xk_node *n)
{
	const struct xk_param *p = n->proto->params != NULL ? xk_param_find(n->proto->params, "classifier") : NULL;
	const char *env = getenv("VP_CLASSIFIER");
	unsigned which = 0;

	if (p != NULL && p->type == XK_P_ENUM && n->conf != NULL)
		memcpy(&which, (const char *)n->conf + p->offset, sizeof which);
	if (which != 0)
		return p->choices[which];
	return env != NULL && *env != '\0' ? env : "auto";
}

/* To the queue of all I/O threads, whatever it is. */
static unsigned pool_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	const struct xk_vpset *set = c->priv;

	(void)m;
	for (unsigned i = 0; i < n; i++)
		run[i] = (struct xk_run){ .vp = (uint16_t)set->nvps, .n = 1 };
	return n;
}

static const struct xk_classifier_ops classify_pool = {
	.name = "none", .doc = "no classifier: one queue for all I/O threads, who finds the owner takes the message there",
	.runs = pool_runs,
};

/* Where messages are what is parallel, no device decides. */
static int classify_nothing(struct xk_node *n, char *why, size_t len)
{
	struct xk_vpset *set = n->graph->vps;
	const char *kind = xk_node_classifier(n);
	int err;

	if (kind != getenv("VP_CLASSIFIER") && strcmp(kind, "auto") != 0 && strcmp(kind, "none") != 0) {
		snprintf(why, len, "\"%s\" would find a frame's owner at the device: with domain \"none\" whoever carries it does",
			 kind);
		return XK_E_INVAL;
	}
	err = xk_classifier_new(&n->classifier, "none", n->pattern, n->graph->flows, why, len);
	if (err != XK_OK)
		return err;
	snprintf(n->classifier->why, sizeof n->classifier->why, "the domain is \"none\"");
	if (xk_vpset_pools(set)) {
		n->classifier->ops = &classify_pool;
		n->classifier->priv = set;
	}
	return XK_OK;
}

int xk_node_classify(struct xk_node *n, char *why, size_t len)
{
	const char *kind = xk_node_classifier(n);
	struct xk_flowtab *t = n->graph->flows;
	int err;
	char other[128];

	if (n->graph->vps->arch.domain == XK_DOMAIN_NONE)
		return classify_nothing(n, why, len);
	err = xk_classifier_new(&n->classifier, kind, n->pattern, t, why, len);
	if (err != XK_E_NOTSUP)
		return err;
	XK_TRACE(&n->log, 1, "classifier \"%s\" refuses: %s", kind, why);
	err = xk_classifier_new(&n->classifier, "auto", n->pattern, t, other, sizeof other);
	if (err == XK_OK)
		snprintf(n->classifier->why, sizeof n->classifier->why, "\"%s\" refuses: %.150s", kind, why);
	return err;
}

/* ---- keys of connections ------------------------------------------------------------ */

/* n's cell in p, or -1. */
static int cell_of(const struct xk_pattern *p, const struct xk_node *n)
{
	for (unsigned i = 0; p != NULL && i < p->ncell; i++)
		if (p->cell[i].name == n->name)
			return (int)i;
	return -1;
}

/* Where byte i of an end's key lies in it. */
#define END_BYTES 6u
static const uint8_t key_at[2][END_BYTES] = { { 0, 1, 2, 3, 8, 9 }, { 4, 5, 6, 7, 10, 11 } };

/* What of each byte of the key counts, and how many bytes either end has. */
static void key_mask(const struct xk_pattern *p, unsigned cell, uint8_t mask[16], unsigned used[2])
{
	memset(mask, 0, 16);
	for (; cell != XK_PAT_ABOVE; cell = p->cell[cell].parent)
		for (unsigned k = 0; k < p->cell[cell].nkey; k++) {
			const struct xk_pat_key *y = &p->cell[cell].key[k];

			for (unsigned i = 0; i < y->width; i++)
				mask[(y->at + i) & 15] |= (uint8_t)(y->mask >> 8 * (y->width - 1u - i));
		}
	for (unsigned end = 0; end < 2; end++)
		for (used[end] = END_BYTES; used[end] > 0 && mask[key_at[end][used[end] - 1]] == 0;)
			used[end]--;
}

static int key_make(const struct xk_pattern *p, unsigned cell, const uint8_t *const bytes[2], const unsigned n[2],
		    struct xk_flowkey *k)
{
	union { struct xk_flowkey k; uint8_t byte[sizeof *k]; } to = { .k = { .raddr = 0 } };
	uint8_t mask[16];
	uint32_t selector = htobe32(p->cell[cell].flow);
	unsigned used[2];

	key_mask(p, cell, mask, used);
	if (n[0] < used[0] || n[1] < used[1] || n[0] > END_BYTES || n[1] > END_BYTES)
		return XK_E_INVAL;
	for (unsigned end = 0; end < 2; end++)
		for (unsigned i = 0; i < END_BYTES; i++)
			if (i < used[end])
				to.byte[key_at[end][i]] = bytes[end][i] & mask[key_at[end][i]];
	memcpy(to.byte + 12, &selector, 4);
	*k = to.k;
	return XK_OK;
}

int xk_node_flowkey(const struct xk_node *n, const void *remote, unsigned nremote, const void *local, unsigned nlocal,
		    struct xk_flowkey *k)
{
	const uint8_t *const bytes[2] = { remote, local };
	const unsigned len[2] = { nremote, nlocal };
	const struct xk_graph *g = n->graph;
	int found = XK_E_NOENT;

	for (unsigned i = 0; i < g->nnodes; i++) {
		const struct xk_pattern *p = g->node[i]->pattern;
		int cell = cell_of(p, n), err;
		struct xk_flowkey one;

		if (cell < 0)
			continue;
		err = key_make(p, (unsigned)cell, bytes, len, &one);
		if (err != XK_OK)
			return err;
		if (found == XK_OK && memcmp(&one, k, sizeof one) != 0)
			return XK_E_NOTSUP;
		*k = one;
		found = XK_OK;
	}
	return found;
}

/* ---- the proof ------------------------------------------------------------------------- */

/* A made-up frame of s's connection at this device: does it come to s's VP, by its name? */
static bool reply_comes(struct xk_node *device, unsigned cell, const struct xk_sess *s)
{
	struct xk_flowkey k;
	uint8_t frame[512];
	struct xk_msg m = { .data = frame }, *mp = &m;
	struct xk_run run;

	memcpy(&k, &xk_sess_flow(s)->node.key, sizeof k);
	m.len = m.tot = xk_pattern_frame(device->pattern, cell, &k, frame, sizeof frame);
	if (m.len == 0)
		return true;             /* no frame of this device can be of it */
	xk_rcu_read_lock();
	xk_classify_runs(device->classifier, &mp, 1, &run);
	xk_rcu_read_unlock();
	return run.vp == s->rep->vp->no && run.flow == xk_sess_flow(s);
}

bool xk_sess_reply_comes_home(const struct xk_sess *s)
{
	const struct xk_graph *g = s->rep->node->graph;

	for (unsigned i = 0; i < g->nnodes; i++) {
		struct xk_node *d = g->node[i];
		int cell = cell_of(d->pattern, s->rep->node);

		if (cell < 0 || d->classifier == NULL || strcmp(d->classifier->ops->name, "none") == 0)
			continue;
		if (s->flow == 0 || !reply_comes(d, (unsigned)cell, s))
			return false;
	}
	return true;
}
