/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_app.c - the applications of a simulation: they send streams whose bytes
 * tell their place, check what they get, and end in one of several ways.
 *
 * Connection i goes to port PORT + i.  Every end is a struct sim_end of the one
 * world; a virtual clock means one thread, so nothing is shared out.
 * Invariant: an end is done when its session has been given back, once.
 */
#include "tests/sim/sim.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_stream.h"

#define PORT   7000u
#define LISTENER_IP 0x0a000002u

struct simapp_conf { bool listen; };
struct sim_world sim_world;

static const char *const side_name[] = { "opener", "listener" };

void sim_fail(const char *fmt, ...)
{
	va_list ap;

	if (sim_world.why[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(sim_world.why, sizeof sim_world.why, fmt, ap);
	va_end(ap);
}

static void moved(void)
{
	sim_world.moved++;
	sim_world.moved_at = xk_vp_now();
}

/* ---- bytes that tell their place ---------------------------------------------------- */

static uint64_t word_at(unsigned side, unsigned conn, uint64_t i)
{
	uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)(side * SIM_CONNS + conn + 1) << 56;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	return x ^ x >> 27;
}

static uint8_t byte_at(unsigned side, unsigned conn, uint64_t at)
{
	return (uint8_t)(word_at(side, conn, at / 8) >> (at % 8 * 8));
}

static void fill(uint8_t *p, uint32_t n, unsigned side, unsigned conn, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = byte_at(side, conn, at + i);
}

/* Place of the first wrong byte, or n. */
static uint32_t check(const uint8_t *p, uint32_t n, unsigned side, unsigned conn, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++)
		if (p[i] != byte_at(side, conn, at + i))
			return i;
	return n;
}

/* ---- one end ------------------------------------------------------------------------------ */

static bool is_listener(const struct xk_rep *r)
{
	return ((const struct simapp_conf *)r->conf)->listen;
}

static struct sim_end *end_of(const struct xk_rep *r, const struct xk_sess *s, unsigned *conn)
{
	for (unsigned i = 0; i < SIM_CONNS; i++) {
		struct sim_end *e = &sim_world.end[is_listener(r)][i];

		*conn = i;
		if (e->s == s)
			return e;
	}
	return NULL;
}

static unsigned side_of(const struct sim_end *e) { return is_listener(e->r); }
static unsigned conn_of(const struct sim_end *e) { return (unsigned)(e - sim_world.end[side_of(e)]); }
/* This end's bit in the fields slow and end. */
static uint32_t slow_bit(const struct sim_end *e) { return side_of(e) == SIM_LISTENER ? 1 : 2; }

/* What nobody owns any more is given up after some tries: where the link may eat that
 * many in a row an end keeps its session until all is acknowledged. */
static bool is_rough(void) { return sim_case_is_rough(sim_world.c); }

/* Closes without waiting? */
static bool is_hasty(const struct sim_end *e)
{
	return (sim_world.c->end & (side_of(e) == SIM_LISTENER ? 2u : 1u)) && !is_rough();
}

static void give_back(struct sim_end *e)
{
	struct xk_sess *s = e->s;

	e->s = NULL;
	e->done = true;
	sim_world.undone--;
	moved();
	xk_timer_cancel(&e->r->vp->wheel, &e->pause);
	xk_close(s);
}

/* Everything sent, and the peer's end seen; or, in haste, its last byte. */
static void finish_if_done(struct sim_end *e)
{
	bool hasty = is_hasty(e);

	if (e->s == NULL || e->out != e->want_out || e->held != 0)
		return;
	if (e->shut && is_rough() && !e->drained)
		return;
	if (e->peer_closed ? e->shut : hasty && e->opened && e->in == e->want_in)
		give_back(e);
}

static void shut(struct sim_end *e)
{
	int err;

	e->shut = true;
	err = xk_sess_control(e->s, XK_STREAM_SHUTDOWN, NULL, 0);
	if (err < 0)
		sim_fail("%s %u: shutdown fails: %s", side_name[side_of(e)], conn_of(e), xk_strerror(err));
}

/* As much as there is room for. */
static void pump(struct sim_end *e)
{
	unsigned side = side_of(e), conn = conn_of(e);
	uint32_t room;

	if (e->s == NULL || (side == SIM_LISTENER && (sim_world.c->end & 4) && !e->peer_closed))
		return;
	while (e->s != NULL && e->out < e->want_out) {
		uint64_t n = 1 + xk_rand_below(&sim_world.rand, sim_world.c->chunk);
		struct xk_msg *m;

		if (xk_sess_control(e->s, XK_STREAM_ROOM, &room, sizeof room) != sizeof room) {
			sim_fail("%s %u: no answer about room", side_name[side], conn);
			return;
		}
		if (room == 0)
			return;
		n = n < e->want_out - e->out ? n : e->want_out - e->out;
		m = xk_msg_new((uint32_t)n);
		if (m == NULL) {
			sim_fail("out of memory");
			return;
		}
		for (struct xk_msg *seg = m; seg != NULL; seg = seg->next) {
			fill(seg->data, seg->len, side, conn, e->out);
			e->out += seg->len;
		}
		moved();
		xk_push(e->s, m);
	}
	if (e->s != NULL && !e->shut && !is_hasty(e))
		shut(e);
	else if (e->s != NULL && !e->shut && e->peer_closed)
		shut(e);
	finish_if_done(e);
}

/* ---- receiving --------------------------------------------------------------------------------- */

static void arm_pause(struct sim_end *e)
{
	/* Mostly short, at times long enough for probes of a closed window. */
	uint64_t ms = xk_rand_below(&sim_world.rand, 8) == 0 ? 8000 : 200;

	xk_timer_set(&e->r->vp->wheel, &e->pause, xk_vp_now() + (1 + xk_rand_below(&sim_world.rand, ms)) * XK_MS);
}

static void taken(struct xk_timer *t)
{
	struct sim_end *e = xk_container_of(t, struct sim_end, pause);
	uint32_t n = (uint32_t)(1 + xk_rand_below(&sim_world.rand, e->held));

	if (e->s == NULL)
		return;
	if (e->turn++ % 2 == 0)
		n = (uint32_t)e->held;
	e->held -= n;
	moved();
	if (xk_sess_control(e->s, XK_STREAM_TAKEN, &n, sizeof n) < 0)
		sim_fail("%s %u: cannot take %u bytes", side_name[side_of(e)], conn_of(e), n);
	if (e->s != NULL && e->held != 0)
		arm_pause(e);
	pump(e);
}

static void receive(struct sim_end *e, const struct xk_msg *m, unsigned conn)
{
	unsigned side = side_of(e);

	if (e->peer_closed)
		sim_fail("%s %u: %u bytes after the end", side_name[side], conn, m->tot);
	if (e->in + m->tot > e->want_in)
		sim_fail("%s %u: more than was sent: %llu and %u of %llu bytes", side_name[side], conn,
			 (unsigned long long)e->in, m->tot, (unsigned long long)e->want_in);
	for (; m != NULL; m = m->next) {
		uint32_t bad = check(m->data, m->len, !side, conn, e->in);

		if (bad != m->len)
			sim_fail("%s %u: byte %llu is wrong", side_name[side], conn, (unsigned long long)(e->in + bad));
		e->in += m->len;
		if (sim_world.c->slow & slow_bit(e))
			e->held += m->len;
	}
}

static void simapp_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	unsigned conn;
	struct sim_end *e = end_of(up->rep, lls, &conn);

	xk_count(up->rep->npop);
	if (e == NULL) {
		sim_fail("%s: %u bytes of a connection that it does not have", side_name[is_listener(up->rep)], m->tot);
	} else {
		receive(e, m, conn);
		moved();
		if (e->held != 0 && !xk_timer_armed(&e->pause))
			arm_pause(e);
		finish_if_done(e);
	}
	xk_msg_free(m);
}

/* ---- news of a connection ---------------------------------------------------------------------------- */

static void begin(struct sim_end *e, struct xk_rep *r, struct xk_sess *s)
{
	uint32_t on = 1;

	e->r = r;
	e->s = s;
	xk_timer_init(&e->pause, taken);
	if ((sim_world.c->slow & slow_bit(e)) && xk_sess_control(s, XK_STREAM_MANUAL, &on, sizeof on) < 0)
		sim_fail("%s: cannot take bytes by hand", side_name[side_of(e)]);
}

static int simapp_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct sim_end *e;
	uint16_t port = 0;

	(void)type;
	if (xk_sess_control(lls, XK_CTL_GETMYPORT, &port, sizeof port) != sizeof port || port < PORT ||
	    port - PORT >= sim_world.c->conns) {
		sim_fail("a connection to port %u", port);
		return XK_E_PERM;
	}
	e = &sim_world.end[SIM_LISTENER][port - PORT];
	if (e->s != NULL || e->done) {
		sim_fail("listener %u: a second connection", port - PORT);
		return XK_E_PERM;
	}
	begin(e, r, xk_dup(lls));
	e->opened = true;
	moved();
	pump(e);
	return XK_OK;
}

static void simapp_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	unsigned conn;
	struct sim_end *e = end_of(r, lls, &conn);

	if (e == NULL)
		return;
	if (e->peer_closed)
		sim_fail("%s %u: told of the end twice", side_name[side_of(e)], conn);
	if (e->in != e->want_in)
		sim_fail("%s %u: the end after %llu of %llu bytes", side_name[side_of(e)], conn,
			 (unsigned long long)e->in, (unsigned long long)e->want_in);
	e->peer_closed = true;
	moved();
	pump(e);
}

static int event(struct xk_rep *r, const struct xk_stream_event *v)
{
	unsigned conn;
	struct sim_end *e = end_of(r, v->s, &conn);

	if (e == NULL) {
		sim_fail("%s: event %u of a connection that it does not have", side_name[is_listener(r)], v->what);
		return 0;
	}
	if (v->what == XK_STREAM_FAILED) {
		sim_fail("%s %u: failed: %s, after %llu in, %llu out", side_name[side_of(e)], conn, xk_strerror(v->err),
			 (unsigned long long)e->in, (unsigned long long)e->out);
		give_back(e);
	} else if (v->what == XK_STREAM_OPENED) {
		if (e->opened)
			sim_fail("opener %u: opened twice", conn);
		e->opened = true;
		moved();
		finish_if_done(e);
	} else if (v->what == XK_STREAM_WRITABLE) {
		pump(e);
	} else if (v->what == XK_STREAM_DRAINED && e->shut) {
		e->drained = true;
		finish_if_done(e);
	}
	return 0;
}

static int simapp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_stream_event v;

	if (op != XK_CTL_STREAM_EVENT || len < sizeof v)
		return XK_E_NOTSUP;
	memcpy(&v, buf, sizeof v);
	return event(r, &v);
}

/* ---- life ----------------------------------------------------------------------------------------------- */

static int simapp_start(struct xk_node *n, struct xk_errs *errs)
{
	int err = XK_OK;

	(void)errs;
	if (!((const struct simapp_conf *)n->conf)->listen)
		return XK_OK;
	for (uint32_t i = 0; err == XK_OK && i < sim_world.c->conns; i++) {
		struct xk_parts ps;

		xk_parts_init(&ps, 1);
		xk_part_push_port(&ps.p[XK_REMOTE], (uint16_t)(PORT + i));
		err = xk_open_enable(n, n, n->down[0], &ps);
	}
	return err;
}

static void simapp_stop(struct xk_node *n)
{
	xk_open_disable_all(n, n->down[0]);
}

static int open_one(struct xk_rep *r, uint32_t i)
{
	struct sim_end *e = &sim_world.end[SIM_OPENER][i];
	struct xk_parts ps;
	struct xk_sess *s;
	int err = XK_E_INVAL;

	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], LISTENER_IP);
	xk_part_push_port(&ps.p[XK_REMOTE], (uint16_t)(PORT + i));
	s = xk_open(r, r->node, r->down[0], &ps, &err);
	if (s == NULL) {
		sim_fail("opener %u: %s", i, xk_strerror(err));
		return err;
	}
	begin(e, r, s);
	pump(e);
	return XK_OK;
}

static int simapp_rep_start(struct xk_rep *r, struct xk_errs *errs)
{
	int err = XK_OK;

	(void)errs;
	for (uint32_t i = 0; !is_listener(r) && err == XK_OK && i < sim_world.c->conns; i++)
		if (xk_graph_vp_of(r->node->graph, i) == r->vp)
			err = open_one(r, i);
	return err;
}

static void simapp_rep_stop(struct xk_rep *r)
{
	for (unsigned i = 0; i < SIM_CONNS; i++) {
		struct sim_end *e = &sim_world.end[is_listener(r)][i];

		if (e->r == r && e->s != NULL)
			give_back(e);
	}
}

void sim_world_begin(const struct sim_case *c)
{
	memset(&sim_world, 0, sizeof sim_world);
	sim_world.c = c;
	sim_world.undone = 2 * c->conns;
	xk_rand_init(&sim_world.rand, c->seed, 0x617070);
	for (unsigned i = 0; i < c->conns; i++) {
		struct sim_end *a = &sim_world.end[SIM_OPENER][i], *b = &sim_world.end[SIM_LISTENER][i];

		a->want_out = b->want_in = c->ab;
		a->want_in = b->want_out = c->ba;
	}
}

static const struct xk_ops simapp_ops = {
	.start = simapp_start, .stop = simapp_stop, .rep_start = simapp_rep_start, .rep_stop = simapp_rep_stop,
	.open_done = simapp_open_done, .close_done = simapp_close_done, .demux = simapp_demux,
	.control = simapp_control,
};
static const struct xk_param simapp_params[] = {
	{ .name = "listen", .type = XK_P_BOOL, .def = "false", .doc = "waits for connections",
	  .offset = offsetof(struct simapp_conf, listen) },
	XK_PARAM_END
};

const struct xk_proto xk_proto_simapp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "simapp", .doc = "an end of simulated streams",
	.ops = &simapp_ops, .needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = simapp_params, .conf_size = sizeof(struct simapp_conf),
};
