/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_capture.c - capture files at nodes of the graph.
 *
 * What passes below a driver's user is frames of the driver's link; below a
 * network protocol it is bare datagrams; anything higher has no link type that
 * a reader of capture files would know.
 */
#include "tools/vp-run/vpr.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/pcap/xk_pcap.h"

/* enum xk_link that a driver declares; asked before the graph is up, so through
 * a replica that has nothing but its configuration. */
static int driver_link(struct xk_node *n)
{
	struct xk_rep r = { .node = n, .conf = n->conf };
	uint32_t link;

	while (n->ndown != 0 && n->proto->is_driver)
		n = n->down[0];
	r.node = n;
	r.conf = n->conf;
	if (n->proto->ops->control == NULL ||
	    n->proto->ops->control(&r, XK_CTL_LINK_TYPE, &link, sizeof link) < 0)
		return -1;
	return (int)link;
}

static bool offers(const struct xk_node *n, const char *word)
{
	const char *p = n->proto->offers ? n->proto->offers : "";
	size_t len = strlen(word);

	for (; *p != '\0'; p += strcspn(p, "|"), p += *p == '|')
		if (strncmp(p, word, len) == 0 && (p[len] == '|' || p[len] == '\0'))
			return true;
	return false;
}

static int link_of(struct xk_node *n)
{
	if (n->proto->is_driver)
		return driver_link(n);
	if (n->ndown != 0 && n->down[0]->proto->is_driver)
		return driver_link(n->down[0]);
	return offers(n, "host") ? XK_LINK_RAWIP : -1;
}

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

static int open_one(struct vpr_capture *c, struct xk_graph *g, struct xk_errs *e)
{
	struct xk_node *n = xk_graph_find(g, c->node);
	char why[256];
	int link;

	if (n == NULL) {
		unknown_node(g, c->node, e);
		return XK_E_NOENT;
	}
	link = link_of(n);
	if (link < 0) {
		xk_errs_add(e, NULL, 0, 0, "option --capture: what passes below %s is neither frames nor datagrams: "
			    "capture at a driver, at what sits over it, or at ip", c->node);
		return XK_E_NOTSUP;
	}
	if (n->capture != NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --capture: node '%s' is captured twice", c->node);
		return XK_E_BUSY;
	}
	c->c = xk_pcap_capture_new(c->path, link, why, sizeof why);
	if (c->c == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --capture: %s", why);
		return XK_E_IO;
	}
	n->capture = c->c;
	return XK_OK;
}

int vpr_capture_open(struct vpr *o, struct xk_graph *g, struct xk_errs *e)
{
	int err = XK_OK;

	for (unsigned i = 0; i < o->ncapture; i++) {
		int one = open_one(&o->capture[i], g, e);

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
		free(c->node);
		c->node = NULL;
		c->c = NULL;
	}
	return good;
}
