/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_capture.c - capture files at nodes of the graph.
 *
 * What passes below a driver's user is frames of the driver's link; below a
 * network protocol it is bare datagrams; anything higher has no link type that
 * a reader of capture files would know.  Captures at one node are a list, whose
 * first is attached; whose frames a frame is, their filters say together.
 * Invariant: the files of a list are opened together, before the first frame.
 */
#include "tools/control/ctl.h"
#include "tools/vp-run/vpr.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/pcap/xk_pcap.h"

static void unknown_node(const struct xk_graph *g, const char *name, struct xk_errs *e)
{
	const char *names[512], *near;
	unsigned n = 0;

	for (; n < g->nnodes && n < XK_ARRAY_LEN(names); n++)
		names[n] = g->node[n]->name;
	near = xk_errs_suggest(name, names, n);
	if (near != NULL)
		xk_errs_add(e, NULL, 0, 0, "option --capture: there is no node '%s' (did you mean '%s'?)", name, near);
	else
		xk_errs_add(e, NULL, 0, 0, "option --capture: there is no node '%s'", name);
}

static int open_one(struct vpr_capture *c, struct xk_errs *e)
{
	char why[256];
	int link = ctl_link_of(c->at);

	if (link < 0) {
		xk_errs_add(e, NULL, 0, 0, "option --capture: %s has no link type", c->node);
		return XK_E_NOTSUP;
	}
	c->c = xk_pcap_capture_new(c->path, link, why, sizeof why);
	if (c->c != NULL)
		return XK_OK;
	xk_errs_add(e, NULL, 0, 0, "option --capture: %s", why);
	return XK_E_IO;
}

/* All captures of a node, which `first` leads. */
static int open_node(struct vpr_capture *first, struct xk_errs *e)
{
	int err = XK_OK;

	for (struct vpr_capture *c = first; err == XK_OK && c != NULL; c = c->next)
		err = open_one(c, e);
	if (err != XK_OK || (first->next == NULL && first->filter == NULL))
		return err;
	first->pick = vpr_pick_new(first, ctl_link_of(first->at), e);
	return first->pick != NULL ? XK_OK : XK_E_INVAL;
}

/* Once, whoever comes first. */
static int open_once(struct vpr_capture *c)
{
	int err;

	if (c->opened == 0) {
		err = open_node(c, c->e);
		c->opened = err == XK_OK ? 1 : err;
		c->e = NULL;
	}
	return c->opened == 1 ? XK_OK : c->opened;
}

/* To those that take it. */
static void deal(struct vpr_capture *first, xk_ns now, const struct xk_msg *m, bool down)
{
	uint16_t taker[VPR_CAPTURES];
	unsigned n = vpr_pick(first->pick, m, taker), at = 0;
	struct vpr_capture *c = first;

	for (unsigned i = 0; i < n; i++) {
		for (; at < taker[i]; at++)
			c = c->next;
		c->c->fn(c->c, now, m, down);
	}
}

/* The first messages may come while the graph is brought up, on the thread
 * that does it; later, with workers, the files are open. */
static void outer_fn(struct xk_capture *outer, xk_ns now, const struct xk_msg *m, bool down)
{
	struct vpr_capture *c = xk_container_of(outer, struct vpr_capture, outer);

	if (open_once(c) != XK_OK)
		return;
	if (c->pick != NULL)
		deal(c, now, m, down);
	else
		c->c->fn(c->c, now, m, down);
}

/* Behind the others of the node; false: it writes what another one does. */
static bool join(struct vpr_capture *c, struct vpr_capture *first)
{
	struct vpr_capture **at = &first->next;
	bool all = first->filter == NULL;

	for (; *at != NULL; at = &(*at)->next)
		all = all || (*at)->filter == NULL;
	*at = c;
	return !(all && c->filter == NULL);
}

/* The first capture at n, or NULL. */
static struct vpr_capture *first_at(struct vpr *o, const struct xk_node *n)
{
	for (unsigned i = 0; i < o->ncapture; i++)
		if (o->capture[i].at == n)
			return &o->capture[i];
	return NULL;
}

static int attach_one(struct vpr *o, struct vpr_capture *c, struct xk_graph *g, struct xk_errs *e)
{
	struct xk_node *n = xk_graph_find(g, c->node);
	struct vpr_capture *first = n != NULL ? first_at(o, n) : NULL;

	if (n == NULL) {
		unknown_node(g, c->node, e);
		return XK_E_NOENT;
	}
	if (!ctl_has_frames(n)) {
		xk_errs_add(e, NULL, 0, 0, "option --capture: what passes between %s and its lower layer is neither "
			    "frames nor datagrams: capture at a driver, at what sits over it, or at ip", c->node);
		return XK_E_NOTSUP;
	}
	c->at = n;
	if (first != NULL) {
		if (join(c, first))
			return XK_OK;
		xk_errs_add(e, NULL, 0, 0, "option --capture: node '%s' is captured twice; --filter tells what each is to "
			    "hold", c->node);
		return XK_E_BUSY;
	}
	c->e = e;
	c->outer.fn = outer_fn;
	xk_capture_attach(n, &c->outer);
	return XK_OK;
}

int vpr_capture_attach(struct vpr *o, struct xk_graph *g, struct xk_errs *e)
{
	int err = XK_OK;

	for (unsigned i = 0; i < o->ncapture; i++) {
		int one = attach_one(o, &o->capture[i], g, e);

		err = err ? err : one;
	}
	return err;
}

int vpr_capture_open(struct vpr *o)
{
	int err = XK_OK;

	for (unsigned i = 0; i < o->ncapture; i++) {
		struct vpr_capture *c = &o->capture[i];
		int one = first_at(o, c->at) == c ? open_once(c) : XK_OK;    /* others: with the first of their node */

		err = err ? err : one;
	}
	return err;
}

bool vpr_capture_close(struct vpr *o)
{
	bool good = true;

	for (unsigned i = 0; i < o->ncapture; i++) {
		struct vpr_capture *c = &o->capture[i];
		uint64_t n = c->c ? xk_pcap_capture_count(c->c) : 0;

		if (c->c != NULL && !xk_pcap_capture_free(c->c)) {
			fprintf(stderr, "vp-run: %s is short: it could not be written to its end\n", c->path);
			good = false;
		} else if (c->c != NULL) {
			fprintf(stderr, "vp-run: %llu frames in %s\n", (unsigned long long)n, c->path);
		}
		vpr_pick_free(c->pick);
		free(c->node);
		c->node = NULL;
		c->pick = NULL;
		c->c = NULL;
	}
	return good;
}
