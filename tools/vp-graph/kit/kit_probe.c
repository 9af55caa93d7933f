/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_probe.c - the kit's applications: one opens connections and pushes what it is told to, the other sends all
 * back; both keep what they get.
 *
 * In virtual time there is one thread, so what is kept needs no lock.
 * Invariant: what is pushed up to a probe is kept once, byte for byte, and its message is
 * consumed.
 */
#include "tools/vp-graph/kit/kit.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_stream.h"

struct probe_conf { bool answers; uint32_t to; uint16_t port; };
/* Connections that are held: those that were opened, and, numbered UINT32_MAX, those that came. */
struct probe_conn { struct xk_sess *s; uint32_t no; struct probe_conn *next; };

struct kit_gots kit_gots;
static struct probe_conn *conns;

/* ---- what came -------------------------------------------------------------------------------- */

void kit_gots_clear(void)
{
	for (unsigned i = 0; i < kit_gots.n; i++)
		free(kit_gots.v[i].bytes);
	free(kit_gots.v);
	kit_gots = (struct kit_gots){ 0 };
}

static struct probe_conn *conn_of(const struct xk_sess *s)
{
	struct probe_conn *c = conns;

	while (c != NULL && c->s != s)
		c = c->next;
	return c;
}

/* The C library's memory: it takes no part in what fails or leaks. */
static void keep(const struct xk_rep *r, const struct xk_sess *lls, const struct xk_msg *m)
{
	const struct probe_conn *c = conn_of(lls);
	struct kit_got *more = kit_gots.v;

	if (kit_gots.n == kit_gots.room) {
		more = realloc(more, (2 * kit_gots.room + 16) * sizeof *more);
		if (more == NULL)
			return;
		kit_gots.v = more;
		kit_gots.room = 2 * kit_gots.room + 16;
	}
	more += kit_gots.n;
	*more = (struct kit_got){ .vp = r->vp->no, .answers = ((const struct probe_conf *)r->conf)->answers,
				  .conn = c != NULL ? c->no : UINT32_MAX, .len = m->tot, .bytes = malloc(m->tot + 1) };
	if (more->bytes == NULL)
		return;
	xk_msg_copy_out(m, 0, more->bytes, m->tot);
	kit_gots.n++;
}

/* ---- operations of both ------------------------------------------------------------------------- */

static void probe_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	xk_count(r->npop);
	keep(r, lls, m);
	if (!((const struct probe_conf *)r->conf)->answers) {
		xk_msg_free(m);
		return;
	}
	xk_msg_reset_rx(m);
	xk_push(lls, m);
}

static int probe_start(struct xk_node *n, struct xk_errs *e)
{
	const struct probe_conf *c = xk_node_conf(n);

	return c->answers ? xk_app_listen(n, c->port, e) : XK_OK;
}

static void probe_stop(struct xk_node *n) { xk_open_disable_all(n, xk_node_down(n, 0)); }

static void let_go(struct probe_conn *c)
{
	struct probe_conn **at = &conns;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	xk_close(c->s);
	free(c);
}

static struct probe_conn *hold(struct xk_sess *s, uint32_t no)
{
	struct probe_conn *c = malloc(sizeof *c);

	if (c == NULL)
		return NULL;
	*c = (struct probe_conn){ .s = s, .no = no, .next = conns };
	conns = c;
	return c;
}

static void probe_rep_stop(struct xk_rep *r)
{
	struct probe_conn *next;

	for (struct probe_conn *c = conns; c != NULL; c = next) {
		next = c->next;
		if (c->s->up == &r->up)
			let_go(c);
	}
}

/* Held, as by whoever answers: what nobody holds may be closed from below. */
static int probe_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)r;
	(void)type;
	return hold(xk_dup(lls), UINT32_MAX) != NULL ? XK_OK : XK_E_NOMEM;
}

/* A stream that the peer has ended; who opened it ends it himself. */
static void probe_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct probe_conn *c = conn_of(lls);

	if (c != NULL && ((const struct probe_conf *)r->conf)->answers)
		let_go(c);
}

static int stream_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_stream_event ev;
	struct probe_conn *c;

	if (op != XK_CTL_STREAM_EVENT || xk_take(&ev, sizeof ev, buf, len) != XK_OK)
		return XK_E_NOTSUP;
	c = conn_of(ev.s);
	if (ev.what == XK_STREAM_FAILED && c != NULL && ((const struct probe_conf *)r->conf)->answers)
		let_go(c);
	return 0;
}

static const struct xk_ops port_ops = {
	.start = probe_start, .stop = probe_stop, .rep_stop = probe_rep_stop, .demux = probe_demux,
	.open_done = probe_open_done, .close_done = probe_close_done,
};
static const struct xk_ops stream_ops = {
	.start = probe_start, .stop = probe_stop, .rep_stop = probe_rep_stop, .demux = probe_demux,
	.open_done = probe_open_done, .close_done = probe_close_done, .control = stream_control,
};
static const struct xk_param params[] = {
	{ .name = "answers", .type = XK_P_BOOL, .def = "false", .doc = "sends back what it gets",
	  .offset = offsetof(struct probe_conf, answers) },
	{ .name = "to", .type = XK_P_IPV4, .doc = "whom to ask", .offset = offsetof(struct probe_conf, to) },
	{ .name = "port", .type = XK_P_PORT, .def = "7", .min = "1", .doc = "of who answers",
	  .offset = offsetof(struct probe_conf, port) },
	XK_PARAM_END
};
#define PROBE(word, its_ops) { \
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "kit_probe", .doc = "an application of the conformance kit", \
	.ops = &its_ops, .needs = { word }, .min_down = 1, .max_down = 1, .params = params, \
	.conf_size = sizeof(struct probe_conf) }
const struct xk_proto kit_probe_port = PROBE("port", port_ops);
const struct xk_proto kit_probe_stream = PROBE("stream", stream_ops);

const struct xk_proto *const *kit_table(void)
{
	static const struct xk_proto **table;
	const struct xk_proto *const *all = xk_protos();
	unsigned n = 0;

	while (all[n] != NULL)
		n++;
	free(table);
	table = calloc(n + 3, sizeof *table);
	if (table == NULL)
		return all;
	memcpy(table, all, n * sizeof *table);
	table[n] = &kit_probe_port;
	table[n + 1] = &kit_probe_stream;
	return table;
}

/* ---- told what to do ------------------------------------------------------------------------------ */

static struct xk_node *probe(const struct kit_world *w, bool answers)
{
	for (unsigned i = 0; i < w->g->nnodes; i++) {
		struct xk_node *n = w->g->node[i];

		if ((n->proto == &kit_probe_port || n->proto == &kit_probe_stream) &&
		    ((const struct probe_conf *)n->conf)->answers == answers)
			return n;
	}
	return NULL;
}

bool kit_has_probes(const struct kit_world *w) { return probe(w, false) != NULL && probe(w, true) != NULL; }
bool kit_is_stream(const struct kit_world *w) { return probe(w, false)->proto == &kit_probe_stream; }

struct xk_sess *kit_open(struct kit_world *w, unsigned vp, unsigned conn, int *err)
{
	struct xk_node *n = probe(w, false);
	const struct probe_conf *c = n->conf;
	struct xk_sess *s;
	struct xk_parts ps;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	xk_part_push_port(&ps.p[XK_REMOTE], c->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_vp_enter_idle(w->g->vps->vp[vp]);
	s = xk_open(n->rep[vp], n, n->rep[vp]->down[0], &ps, err);
	if (s != NULL && hold(s, conn) == NULL) {
		xk_close(s);
		s = NULL;
	}
	xk_vp_leave_idle(w->g->vps->vp[vp]);
	return s;
}

bool kit_push(struct kit_world *w, struct xk_sess *s, const void *bytes, uint32_t n)
{
	struct xk_vp *vp = s->rep->vp;
	struct xk_msg *m;

	(void)w;
	xk_vp_enter_idle(vp);
	m = xk_msg_new(n);
	if (m != NULL) {
		if (n != 0)
			xk_msg_copy_in(m, 0, bytes, n);
		xk_push(s, m);
	}
	xk_vp_leave_idle(vp);
	return m != NULL;
}

void kit_close(struct kit_world *w, struct xk_sess *s)
{
	struct xk_vp *vp = s->rep->vp;

	(void)w;
	xk_vp_enter_idle(vp);
	let_go(conn_of(s));
	xk_vp_leave_idle(vp);
}

void kit_let_go(struct kit_world *w)
{
	struct probe_conn *next;

	(void)w;
	for (struct probe_conn *c = conns; c != NULL; c = next) {
		struct xk_vp *vp = c->s->rep->vp;

		next = c->next;
		if (c->no != UINT32_MAX)
			continue;
		xk_vp_enter_idle(vp);
		let_go(c);
		xk_vp_leave_idle(vp);
	}
}

uint32_t kit_longest(struct kit_world *w, struct xk_sess *s)
{
	struct xk_vp *vp = s->rep->vp;
	uint32_t n = 0;

	(void)w;
	xk_vp_enter_idle(vp);
	if (xk_sess_control(s, XK_CTL_GETMAXPACKET, &n, sizeof n) != (int)sizeof n)
		n = 0;
	xk_vp_leave_idle(vp);
	return n;
}
