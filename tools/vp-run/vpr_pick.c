/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_pick.c - which captures of a node take a frame.
 *
 * All their filters are asked at once (xk_filters.h), however many they are.  A filter looks
 * at contiguous bytes, so a message of several segments is copied together first, under a
 * lock: writing a file has one, too.
 * Invariant: filter number i is that of the i-th capture of the node.
 */
#include <stdlib.h>

#include "drivers/pcap/xk_pcap.h"
#include "runtime/classify/xk_filters.h"
#include "runtime/sync/xk_sync.h"
#include "tools/vp-run/vpr.h"

#define FLAT (1u << 18)

struct vpr_pick {
	struct xk_filters *filters;
	struct xk_mutex    lock;         /* guards flat; innermost */
	uint8_t            flat[FLAT];
};

static int add(struct xk_filters *f, const struct vpr_capture *c, int link, char *why, size_t n)
{
	struct sock_filter *prog;
	int len;

	if (c->filter == NULL)
		return xk_filters_add_cells(f, NULL, 0, why, n);
	prog = malloc(sizeof(*prog) * BPF_MAXINSNS);
	if (prog == NULL) {
		snprintf(why, n, "out of memory");
		return XK_E_NOMEM;
	}
	len = xk_pcap_compile(c->filter, link, prog, BPF_MAXINSNS, why, n);
	if (len > 0)
		len = xk_filters_add(f, prog, (unsigned)len, why, n);
	free(prog);
	return len;
}

struct vpr_pick *vpr_pick_new(const struct vpr_capture *first, int link, struct xk_errs *e)
{
	struct vpr_pick *p = calloc(1, sizeof(*p));
	char why[256] = "out of memory";

	if (p == NULL || xk_filters_new(&p->filters) != XK_OK) {
		xk_errs_add(e, NULL, 0, 0, "option --filter: %s", why);
		free(p);
		return NULL;
	}
	xk_mutex_init(&p->lock);
	for (const struct vpr_capture *c = first; c != NULL; c = c->next)
		if (add(p->filters, c, link, why, sizeof why) < 0) {
			xk_errs_add(e, NULL, 0, 0, "option --filter: '%s': %s", c->filter != NULL ? c->filter : "", why);
			vpr_pick_free(p);
			return NULL;
		}
	return p;
}

void vpr_pick_free(struct vpr_pick *p)
{
	if (p == NULL)
		return;
	xk_filters_free(p->filters);
	xk_mutex_fini(&p->lock);
	free(p);
}

unsigned vpr_pick(struct vpr_pick *p, const struct xk_msg *m, uint16_t taker[VPR_CAPTURES])
{
	uint32_t len = m->tot < FLAT ? m->tot : FLAT;
	unsigned n;

	if (!(m->flags & XK_MSG_CHAIN))
		return xk_filters_match(p->filters, m->data, m->len, taker, VPR_CAPTURES);
	xk_mutex_lock(&p->lock);
	xk_msg_copy_out(m, 0, p->flat, len);
	n = xk_filters_match(p->filters, p->flat, len, taker, VPR_CAPTURES);
	xk_mutex_unlock(&p->lock);
	return n;
}
