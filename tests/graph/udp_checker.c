/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_checker.c - see udp_checker.h.
 *
 * A connection is a task that sends what has not been sent yet while its window
 * is open; an answer opens it, a timer takes back what was lost.  Invariant: a
 * connection's record is written on one VP only, or `strayed` says so.
 */
#include "tests/graph/udp_checker.h"

#include <string.h>
#include <unistd.h>

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

struct checker_conf { uint64_t conns, count, size, window, resend; uint32_t to; uint16_t port; };

struct run_conn {
	struct xk_task task; struct xk_timer timer; struct xk_sess *s; struct xk_rep *r; unsigned no; bool ended;
	xk_ns wait;              /* until it sends again */
	uint64_t heard;          /* answered when it last sent again */
};

struct chk_conn chk_conn[CHK_CONNS];
struct chk_seen chk_seen[CHK_VPS];
static struct run_conn run_conn[CHK_CONNS];
static uint64_t unfinished;

static const struct checker_conf *conf_of(const struct xk_rep *r) { return r->conf; }

void chk_reset(void)
{
	memset(chk_conn, 0, sizeof chk_conn);
	memset(chk_seen, 0, sizeof chk_seen);
	memset(run_conn, 0, sizeof run_conn);
	for (unsigned i = 0; i < CHK_CONNS; i++)
		chk_conn[i].vp[0] = chk_conn[i].vp[1] = -1;
}

/* ---- content ----------------------------------------------------------------- */

static void fill(uint8_t *b, uint64_t n, unsigned conn, unsigned seq)
{
	uint64_t x = (uint64_t)conn << 32 | seq;

	for (uint64_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		b[i] = (uint8_t)(x >> 56);
	}
	memcpy(b, &(uint32_t[2]){ conn, seq }, n < 8 ? n : 8);
}

static void send_message(struct run_conn *k, unsigned seq)
{
	const struct checker_conf *c = conf_of(k->r);
	uint8_t b[8192];
	struct xk_msg *m = xk_msg_new((uint32_t)c->size);

	if (m == NULL)
		return;
	fill(b, c->size, k->no, seq);
	xk_msg_copy_in(m, 0, b, (uint32_t)c->size);
	xk_push(k->s, m);
}

void chk_send_one(struct xk_vp *vp, void *arg)
{
	(void)vp;
	(void)arg;
	send_message(&run_conn[0], 0);
}

/* ---- sending ------------------------------------------------------------------- */

static uint64_t all_of(const struct checker_conf *c)
{
	return c->count >= 64 ? UINT64_MAX : ((uint64_t)1 << c->count) - 1;
}

static unsigned checker_run(struct xk_task *t, unsigned budget)
{
	struct run_conn *k = xk_container_of(t, struct run_conn, task);
	const struct checker_conf *c = conf_of(k->r);
	struct chk_conn *rec = &chk_conn[k->no];
	unsigned n = 0;

	chk_seen[k->r->vp->no].left_behind += xk_load_relaxed(&chk_seen[k->r->vp->no].on_the_way) != 0;
	while (n < budget) {
		uint64_t left = all_of(c) & ~rec->sent;

		if (left == 0 || (uint64_t)__builtin_popcountll(rec->sent & ~rec->answered) >= c->window) {
			xk_task_park(t);
			break;
		}
		rec->sent |= left & -left;
		send_message(k, (unsigned)__builtin_ctzll(left));
		n++;
	}
	return n;
}

static void checker_timer(struct xk_timer *t)
{
	struct run_conn *k = xk_container_of(t, struct run_conn, timer);
	struct chk_conn *rec = &chk_conn[k->no];

	if (k->ended)
		return;
	rec->again += (uint64_t)__builtin_popcountll(rec->sent & ~rec->answered);
	rec->sent &= rec->answered;
	/* On a slow machine answers take longer than this, and sending again makes them later still. */
	if (rec->answered == k->heard)
		k->wait *= 2;
	k->heard = rec->answered;
	xk_timer_set(&k->r->vp->wheel, t, xk_vp_now() + k->wait);
	xk_task_ready(&k->task);
}

/* ---- answers --------------------------------------------------------------------- */

static void answered(struct run_conn *k, unsigned seq)
{
	struct chk_conn *rec = &chk_conn[k->no];

	rec->twice += rec->answered >> seq & 1;
	/* Also read while what comes twice still comes. */
	xk_store_relaxed(&rec->answered, rec->answered | (uint64_t)1 << seq);
	rec->sent |= (uint64_t)1 << seq;
	xk_count(k->r->count[0]);
	if (rec->answered != all_of(conf_of(k->r))) {
		xk_task_ready(&k->task);
	} else if (!k->ended) {
		k->ended = true;
		xk_task_park(&k->task);
		xk_timer_cancel(&k->r->vp->wheel, &k->timer);
		if (xk_atomic_add(&unfinished, (uint64_t)-1) == 1)
			xk_graph_finished(k->r->node->graph);
	}
}

static bool content_is_right(const struct checker_conf *c, struct xk_msg *m, unsigned conn, unsigned *seq)
{
	uint8_t got[8192], want[8192];
	uint32_t head[2];

	if (m->tot != c->size || xk_msg_copy_out(m, 0, got, m->tot) != m->tot)
		return false;
	memcpy(head, got, sizeof head);
	if (head[0] != conn || head[1] >= c->count)
		return false;
	*seq = head[1];
	fill(want, c->size, conn, head[1]);
	return memcmp(got, want, c->size) == 0;
}

static void checker_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint16_t port = 0;
	unsigned conn, seq = 0;
	bool right;

	xk_sess_control(lls, XK_CTL_GETMYPORT, &port, sizeof port);
	conn = (port - CHK_PORT) % CHK_CONNS;
	right = content_is_right(conf_of(r), m, conn, &seq);
	xk_msg_free(m);
	chk_seen[r->vp->no].app = gettid();
	if (r != run_conn[conn].r || xk_vp_self != r->vp)
		(void)xk_atomic_add(&chk_conn[conn].strayed, 1u);
	(void)xk_atomic_add(&chk_seen[r->vp->no].on_the_way, -1);
	if (right)
		answered(&run_conn[conn], seq);
	else
		(void)xk_atomic_add(&chk_conn[conn].wrong, 1u);
}

/* ---- life ----------------------------------------------------------------------------- */

static int open_one(struct xk_rep *r, unsigned i)
{
	struct run_conn *k = &run_conn[i];
	struct xk_parts ps;
	int err;

	*k = (struct run_conn){ .r = r, .no = i, .wait = conf_of(r)->resend };
	xk_task_init(&k->task, r->vp, checker_run);
	xk_timer_init(&k->timer, checker_timer);
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], conf_of(r)->to);
	xk_part_push_port(&ps.p[XK_REMOTE], conf_of(r)->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(CHK_PORT + i));
	k->s = xk_open(r, r->node, r->down[0], &ps, &err);
	if (k->s == NULL)
		return err;
	xk_timer_set(&r->vp->wheel, &k->timer, xk_vp_now() + k->wait);
	xk_task_ready(&k->task);
	return XK_OK;
}

static int checker_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < conf_of(r)->conns; i++)
		if (xk_graph_vp_of(r->node->graph, i) == r->vp)
			err = open_one(r, i);
	if (err != XK_OK)
		xk_errs_add(e, r->node->file, r->node->line, 0, "checker: %s", xk_strerror(err));
	return err;
}

static void checker_rep_stop(struct xk_rep *r)
{
	for (unsigned i = 0; i < conf_of(r)->conns; i++) {
		struct run_conn *k = &run_conn[i];

		if (k->r != r)
			continue;
		xk_task_park(&k->task);
		xk_timer_cancel(&r->vp->wheel, &k->timer);
		if (k->s != NULL)
			xk_close(k->s);
		k->s = NULL;
	}
}

static int checker_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	unfinished = ((const struct checker_conf *)n->conf)->conns;
	xk_graph_will_finish(n->graph);
	return XK_OK;
}

#define PARAM(f, t, d, ...) { .name = #f, .type = t, .def = d, .doc = #f, \
	.offset = offsetof(struct checker_conf, f), __VA_ARGS__ }
static const struct xk_param checker_params[] = {
	PARAM(to, XK_P_IPV4, NULL, .flags = 0), PARAM(port, XK_P_PORT, "7", .min = "1"),
	PARAM(conns, XK_P_UINT, "1", .max = "512"), PARAM(count, XK_P_UINT, "64", .min = "1", .max = "64"),
	PARAM(size, XK_P_SIZE, "64", .min = "8", .max = "8192"), PARAM(window, XK_P_UINT, "4", .min = "1"),
	PARAM(resend, XK_P_TIME, "10s", .min = "1ms"), XK_PARAM_END
};
static const char *const checker_counts[] = { "answers", NULL };
static const struct xk_ops checker_ops = {
	.init = checker_init, .rep_start = checker_rep_start, .rep_stop = checker_rep_stop, .demux = checker_demux,
};
const struct xk_proto xk_proto_checker = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "checker", .doc = "checks every byte of every answer",
	.ops = &checker_ops, .needs = { "port|stream" }, .min_down = 1, .max_down = 1,
	.params = checker_params, .conf_size = sizeof(struct checker_conf), .counts = checker_counts,
};

/* ---- a look at a link -------------------------------------------------------------------- */

static uint64_t fnv(uint64_t h, const uint8_t *b, uint32_t n)
{
	while (n-- != 0)
		h = (h ^ *b++) * 1099511628211u;
	return h;
}

/* A connection that somebody opened lives where it was opened, one that a peer began
 * where its hash says. */
unsigned chk_home(const struct xk_graph *g, unsigned side, unsigned no)
{
	const struct xk_flowkey k = { .raddr = htobe32(CHK_CLIENT), .laddr = htobe32(CHK_SERVER),
				      .rport = htobe16((uint16_t)(CHK_PORT + no)), .lport = htobe16(7), .proto = 17 };

	return side == 0 ? xk_graph_vp_of(g, no)->no : xk_flow_home(g->flows, &k);
}

bool chk_late(const struct xk_graph *g)
{
	for (unsigned i = 0; i < g->nnodes; i++)
		if (g->node[i]->classifier != NULL && strcmp(g->node[i]->classifier->ops->name, "none") == 0)
			return true;
	return false;
}

/* I/O threads may have messages of one connection side by side. */
static void note_vp(int *vp)
{
	int no = xk_vp_self->no, seen = -1;

	if (xk_load_relaxed(vp) != no && !xk_atomic_cas(vp, &seen, no) && seen != no)
		xk_store_relaxed(vp, -2);
}

static void tap_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct chk_tap *t = xk_container_of(c, struct chk_tap, c);
	uint8_t b[9000];
	uint32_t n = xk_msg_copy_out(m, 0, b, m->tot < sizeof b ? m->tot : sizeof b), h = t->header;
	unsigned conn;

	(void)now;
	if (n < h + 28 || b[h - 2] != 0x08 || b[h - 1] != 0x00)
		return;
	if (down)
		xk_count(t->frames[xk_vp_self->no]);
	if (t->side == 0 && down) {
		chk_seen[xk_vp_self->no].link_down = gettid();
	} else if (t->side == 0) {
		chk_seen[xk_vp_self->no].link = gettid();
		(void)xk_atomic_add(&chk_seen[xk_vp_self->no].on_the_way, 1);
	}
	if ((b[h + 6] & 0x3f) != 0 || b[h + 7] != 0 || b[h] != 0x45)
		return;                          /* a fragment: who knows whose */
	conn = (unsigned)(b[h + 20 + 2 * (down != (t->side == 0))] << 8 | b[h + 21 + 2 * (down != (t->side == 0))]) - CHK_PORT;
	if (conn >= CHK_CONNS)
		return;
	if (!down && xk_vp_self->no != chk_home(t->g, t->side, conn))
		xk_count(t->away[xk_vp_self->no]);
	if (down || !t->late)
		note_vp(&chk_conn[conn].vp[t->side]);
	if (t->side == 0 && down)
		chk_conn[conn].digest[0] = fnv(chk_conn[conn].digest[0], b, n);
	else if (down)           /* I/O threads may have answers of one connection side by side */
		(void)xk_atomic_add(&chk_conn[conn].digest[1], fnv(14695981039346656037u, b, n));
}

void chk_attach(struct chk_tap *t, struct xk_graph *g, const char *node, unsigned side, unsigned header)
{
	memset(t, 0, sizeof *t);
	t->c.fn = tap_fn;
	t->g = g;
	t->side = side;
	t->header = header;
	xk_capture_attach(xk_graph_find(g, node), &t->c);
}

static uint64_t sum(const xk_counter *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < CHK_VPS; i++)
		n += xk_counter_read(c[i]);
	return n;
}

uint64_t chk_frames(const struct chk_tap *t) { return sum(t->frames); }
uint64_t chk_away(const struct chk_tap *t) { return sum(t->away); }
