/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook_meter.c - how long messages are in each node: a hook that reads a clock.
 *
 * In a metered graph the hook stands on both sides of every node, right before the protocol, so
 * each operation is on one message (runs of frames are off).
 * It says when that begins and ends; what the operations inside it took is taken away, and so
 * is what reading the clock costs.  A driver's own work on what it receives is no operation; a
 * body that waits in its middle counts its waiting.
 * Invariant: what is open is a stack of the kernel thread, whatever VP it is in: an I/O thread that
 * enters a connection's takes its open operations with it.
 */
#include "runtime/upi/upi_priv.h"

#include "runtime/base/xk_clock.h"
#include "runtime/upi/xk_capture.h"

#define DEEP 32u

struct upi_open {
	xk_ns    at, inner;              /* inner: time of the operations inside it */
	uint32_t ninner;
};
static _Thread_local struct upi_open meter_open[DEEP];
static _Thread_local unsigned meter_depth;

struct upi_meter_vp {
	struct { xk_counter n, ns, clocks; } (*of)[2];   /* [nnodes]; [1] down */
	char     apart[XK_CACHELINE];
};

struct upi_meter {
	double                 clock_ns; /* of one reading */
	unsigned               nvps, nnodes;
	struct upi_meter_vp  *vp;
};

static void begin(void)
{
	if (meter_depth < DEEP)
		meter_open[meter_depth] = (struct upi_open){ .at = xk_clock_host() };
	meter_depth++;
}

static void end(const struct xk_node *n, bool down)
{
	xk_ns now = xk_clock_host(), took;
	struct upi_meter_vp *v = &n->graph->meter->vp[xk_vp_self->at];
	const struct upi_open *o;

	if (--meter_depth >= DEEP)       /* deeper than is kept */
		return;
	o = &meter_open[meter_depth];
	took = now - o->at;
	xk_count(v->of[n->no][down].n);
	xk_count_add(v->of[n->no][down].ns, took > o->inner ? took - o->inner : 0);
	/* Of its own two readings one lies inside, and so does one of each operation within. */
	xk_count_add(v->of[n->no][down].clocks, 1 + o->ninner);
	if (meter_depth != 0) {
		meter_open[meter_depth - 1].inner += took;
		meter_open[meter_depth - 1].ninner++;
	}
}

static void meter_push(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m)
{
	const struct xk_node *n = s->rep->node;

	begin();
	upi_next_push(l, s, m);
	end(n, true);
}

static void meter_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const struct xk_node *n = up->rep->node;

	begin();
	upi_next_demux(l, up, lls, m);
	end(n, false);
}

static const struct xk_hook meter = { .name = "meter", .push = meter_push, .demux = meter_demux };

void upi_meter_free(struct xk_graph *g)
{
	struct upi_meter *t = g->meter;

	if (t == NULL)
		return;
	for (unsigned i = 0; t->vp != NULL && i < t->nvps; i++)
		xk_free(t->vp[i].of);
	xk_free(t->vp);
	xk_free(t);
	g->meter = NULL;
}

static bool make_vps(struct upi_meter *t)
{
	t->vp = xk_alloc(t->nvps * sizeof *t->vp);
	for (unsigned i = 0; t->vp != NULL && i < t->nvps; i++) {
		t->vp[i].of = xk_alloc(t->nnodes * sizeof *t->vp[i].of);
		if (t->vp[i].of == NULL)
			return false;
	}
	return t->vp != NULL;
}

int xk_graph_meter(struct xk_graph *g)
{
	struct upi_meter *t;

	if (g->vps->arch.threads == XK_THREADS_USER)
		return XK_E_NOTSUP;
	t = g->meter = xk_alloc(sizeof *t);
	if (t == NULL)
		return XK_E_NOMEM;
	t->nvps = g->vps->nall;
	t->nnodes = g->nnodes;
	t->clock_ns = xk_clock_cost();
	if (!make_vps(t)) {
		upi_meter_free(g);
		return XK_E_NOMEM;
	}
	for (unsigned i = 0; i < t->nnodes; i++) {
		upi_hook_attach(g->node[i], UPI_BELOW, UPI_AT_METER, &meter);
		upi_hook_attach(g->node[i], UPI_ABOVE, UPI_AT_METER, &meter);
	}
	return XK_OK;
}

void xk_meter_read(const struct xk_node *n, struct xk_meter_counts *out)
{
	const struct upi_meter *t = n->graph->meter;
	double clocks[2] = { 0 };

	*out = (struct xk_meter_counts){ 0 };
	for (unsigned i = 0; t != NULL && i < t->nvps; i++)
		for (unsigned down = 0; down < 2; down++) {
			out->n[down] += xk_counter_read(t->vp[i].of[n->no][down].n);
			out->ns[down] += (double)xk_counter_read(t->vp[i].of[n->no][down].ns);
			clocks[down] += (double)xk_counter_read(t->vp[i].of[n->no][down].clocks);
		}
	for (unsigned down = 0; t != NULL && down < 2; down++)
		out->ns[down] -= clocks[down] * t->clock_ns;
}
