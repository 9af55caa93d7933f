/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * impair.c - a link that loses, doubles, reorders, corrupts, delays and limits.
 *
 * Stands between a link protocol and a driver: frames in, frames out, nothing
 * added.  The driver below classifies; what passes up here is already on its
 * VP and stays there, hint and all.  Each VP has its own random stream for
 * each direction, so the same seed gives the same faults, frame by frame.
 * A frame goes through the stages in this order: loss, corruption,
 * duplication, reordering, then the line (rate, queue, delay, jitter).  One that
 * the list of fates names meets that instead of chance, then the line.
 * Invariant: no frame is overtaken by more than reorder_depth others, or those that its fate says.
 */
#include "drivers/impair/impair_priv.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_move.h"

#define LATE_HELD 1000u                  /* frames that are held at once for their fate */

struct impair_rep { struct impair_dir dir[2]; };

void impair_emit(struct impair_dir *d, struct xk_msg *m)
{
	struct xk_sess *s = d->rep->drv_sess;

	if (XK_UNLIKELY(s == NULL))
		xk_drop(d->rep, IMPAIR_DROP_CLOSED, m);
	else if (d->way == UP)
		xk_demux(s, m);
	else
		xk_push(s->down, m);
}

/* ---- reordering ---------------------------------------------------------------------- */

/* The held frame that leaves when `passed` frames have, or NULL. */
static struct xk_msg *held_take(struct impair_dir *d, uint32_t passed)
{
	struct xk_msg *prev = NULL, *m;

	for (m = d->held.first; m != NULL; prev = m, m = m->link)
		if (m->aux == passed)
			break;
	if (m == NULL)
		return NULL;
	if (prev == NULL)
		d->held.first = m->link;
	else
		prev->link = m->link;
	if (d->held.last == m)
		d->held.last = prev;
	d->held.n--;
	return m;
}

static bool held_has(const struct impair_dir *d, uint32_t leave)
{
	for (const struct xk_msg *m = d->held.first; m != NULL; m = m->link)
		if (m->aux == leave)
			return true;
	return false;
}

/* One frame leaves the stage; then those that it was the last to overtake. */
static void reorder_pass(struct impair_dir *d, struct xk_msg *m)
{
	while (m != NULL) {
		d->passed++;
		impair_line_put(d, m);
		m = d->held.n != 0 ? held_take(d, (uint32_t)d->passed) : NULL;
	}
	if (d->held.n == 0)
		xk_timer_cancel(d->rep->wheel, &d->hold_timer);
}

/*
 * Keeps m back until k others have passed.  No two frames leave at the same count.
 */
static void hold_for(struct impair_dir *d, struct xk_msg *m, uint64_t k)
{
	m->aux = (uint32_t)(d->passed + k);
	if (d->held.n == 0)
		xk_timer_set(d->rep->wheel, &d->hold_timer, xk_vp_now() + impair_conf(d->rep)->hold);
	xk_msgq_put(&d->held, m);
	xk_count(d->rep->count[N_REORDERED]);
}

/* 1..depth others: at a count that is taken the second would be overtaken once more than it drew. */
static bool reorder_hold(struct impair_dir *d, struct xk_msg *m)
{
	uint64_t k = 1 + xk_rand_below(&d->rand, impair_conf(d->rep)->reorder_depth);

	while (k != 0 && held_has(d, (uint32_t)(d->passed + k)))
		k--;
	if (k != 0)
		hold_for(d, m, k);
	return k != 0;
}

/* Nothing came to overtake them: they go, in the order in which they would have. */
static void hold_timer(struct xk_timer *t)
{
	struct impair_dir *d = xk_container_of(t, struct impair_dir, hold_timer);

	while (d->held.n != 0) {
		struct xk_msg *m = held_take(d, (uint32_t)(d->passed + 1));

		d->passed++;
		if (m != NULL)
			impair_line_put(d, m);
	}
}

/* ---- faults of one frame ----------------------------------------------------------------- */

static bool chance(struct impair_dir *d, double p)
{
	return p > 0 && xk_rand_unit(&d->rand) < p;
}

/* A copy of its own, so that a bit can be changed; m is consumed. */
static struct xk_msg *own_copy(struct impair_dir *d, struct xk_msg *m)
{
	struct xk_msg *c;

	if (!(m->flags & XK_MSG_SLOW))
		return m;
	c = xk_msg_clone(m);
	if (c == NULL) {
		xk_drop(d->rep, XK_DROP_NOMEM, m);
		return NULL;
	}
	c->u.hint = m->u.hint;
	c->hash = m->hash;
	xk_msg_free(m);
	return c;
}

static struct xk_msg *corrupt(struct impair_dir *d, struct xk_msg *m)
{
	uint64_t bit;
	uint8_t byte;

	m = m->tot != 0 ? own_copy(d, m) : m;
	if (m == NULL || m->tot == 0)
		return m;
	bit = xk_rand_below(&d->rand, (uint64_t)m->tot * 8);
	xk_msg_copy_out(m, (uint32_t)(bit / 8), &byte, 1);
	byte ^= (uint8_t)(1u << (bit % 8));
	xk_msg_copy_in(m, (uint32_t)(bit / 8), &byte, 1);
	xk_count(d->rep->count[N_CORRUPTED]);
	return m;
}

static void reorder(struct impair_dir *d, struct xk_msg *m)
{
	if (!chance(d, impair_conf(d->rep)->reorder) || !reorder_hold(d, m))
		reorder_pass(d, m);
}

/* A second m, which goes to the same place. */
static struct xk_msg *double_of(struct impair_dir *d, struct xk_msg *m)
{
	struct xk_msg *twin = xk_msg_clone(m);

	if (twin != NULL) {
		twin->u.hint = m->u.hint;
		twin->hash = m->hash;
		xk_count(d->rep->count[N_DOUBLED]);
	} else {
		xk_dropped(d->rep, XK_DROP_NOMEM, 1);
	}
	return twin;
}

/* k, or the first behind it at which none that is held leaves. */
static uint64_t free_from(const struct impair_dir *d, uint64_t k)
{
	bool taken[FATE_LATE_MAX + LATE_HELD] = { false };

	for (const struct xk_msg *m = d->held.first; m != NULL; m = m->link) {
		uint32_t at = m->aux - (uint32_t)d->passed;

		if (at < XK_ARRAY_LEN(taken))
			taken[at] = true;
	}
	while (k < XK_ARRAY_LEN(taken) && taken[k])
		k++;
	return k;
}

/* One that leaves with another goes right behind it; where too many are held it is late no more. */
static void be_late(struct impair_dir *d, struct xk_msg *m, uint64_t k)
{
	if (d->held.n < LATE_HELD)
		hold_for(d, m, free_from(d, k));
	else
		reorder_pass(d, m);
}

/* Does the list say what becomes of m, the next frame?  Then it is consumed. */
static XK_NOINLINE bool meet_fate(struct impair_dir *d, struct xk_msg *m)
{
	const struct fate *f = fates_find(d->rep->node->state, d->way, &d->fate, ++d->frames);
	struct xk_msg *twin;

	if (f == NULL)
		return false;
	if (f->what == FATE_LOST) {
		xk_drop(d->rep, IMPAIR_DROP_LOST, m);
	} else if (f->what == FATE_LATE) {
		be_late(d, m, f->late);
	} else {
		twin = double_of(d, m);
		reorder_pass(d, m);
		if (twin != NULL)
			reorder_pass(d, twin);
	}
	return true;
}

static void impair_frame(struct impair_dir *d, struct xk_msg *m)
{
	const struct impair_conf *c = impair_conf(d->rep);
	struct xk_msg *twin = NULL;

	if (!d->on) {
		impair_emit(d, m);
		return;
	}
	if (c->fates.n != 0 && meet_fate(d, m))
		return;
	if (chance(d, c->loss)) {
		xk_drop(d->rep, IMPAIR_DROP_LOST, m);
		return;
	}
	if (chance(d, c->corrupt))
		m = corrupt(d, m);
	if (m == NULL)
		return;
	if (chance(d, c->dup))
		twin = double_of(d, m);
	reorder(d, m);
	if (twin != NULL)
		reorder(d, twin);
}

static void impair_push(struct xk_sess *s, struct xk_msg *m)
{
	struct impair_rep *ir = s->rep->state;

	impair_frame(&ir->dir[DOWN], m);
}

static void impair_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct impair_rep *ir = up->rep->state;

	(void)lls;
	xk_count(up->rep->npop);
	impair_frame(&ir->dir[UP], m);
}

/* ---- sessions ------------------------------------------------------------------------------- */

static struct xk_sess *impair_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				   struct xk_parts *ps, int *err)
{
	struct xk_sess *lls;

	if (r->drv_sess != NULL) {
		*err = XK_E_BUSY;
		return NULL;
	}
	lls = xk_open(r, type, r->down[0], ps, err);
	if (lls == NULL)
		return NULL;
	r->drv_sess = xk_sess_create(r, &rcv->up, type, lls);
	if (r->drv_sess == NULL) {
		xk_close(lls);
		*err = XK_E_NOMEM;
	}
	return r->drv_sess;
}

static void dir_empty(struct impair_dir *d)
{
	struct xk_wheel *w = d->rep->wheel;

	xk_timer_cancel(w, &d->line_timer);
	xk_timer_cancel(w, &d->hold_timer);
	xk_msgq_free(&d->held);
	xk_msgq_init(&d->held);
	for (; d->n != 0; d->n--) {
		xk_msg_free(d->line[d->head].m);
		d->head = d->head + 1 == d->cap ? 0 : d->head + 1;
	}
}

static void impair_close(struct xk_sess *s)
{
	struct impair_rep *ir = s->rep->state;

	dir_empty(&ir->dir[UP]);
	dir_empty(&ir->dir[DOWN]);
	s->rep->drv_sess = NULL;
	xk_close(s->down);
	xk_sess_destroy(s);
}

/* ---- while the graph changes ------------------------------------------------------------------ */

static int impair_stand(struct xk_rep *r, struct xk_stand *st)
{
	if (r->drv_sess != NULL)
		return XK_E_BUSY;
	r->drv_sess = xk_sess_create(r, st->up, st->type, st->below);
	if (r->drv_sess == NULL)
		return XK_E_NOMEM;
	xk_dup(st->below)->up = &r->up;
	st->own = r->drv_sess;
	return XK_OK;
}

static int impair_move(struct xk_rep *r, const struct xk_move *m)
{
	struct xk_sess *s = r->drv_sess;

	if (s == NULL || s->down != m->old)
		return XK_E_NOENT;
	if (m->now == NULL)
		return XK_OK;
	s->down = xk_dup(m->now);
	xk_close(m->old);
	return XK_OK;
}

/* What is kept goes: those that were to be overtaken have been, those on the line are out at its end. */
static void dir_leave(struct impair_dir *d)
{
	xk_timer_cancel(d->rep->wheel, &d->hold_timer);
	impair_line_clear(d);
	while (d->held.n != 0) {
		struct xk_msg *m = held_take(d, (uint32_t)(d->passed + 1));

		d->passed++;
		if (m != NULL)
			impair_emit(d, m);
	}
	d->on = false;                   /* not before: what is sent in answer is behind what is kept */
}

static int impair_leave(struct xk_rep *r)
{
	struct impair_rep *ir = r->state;

	dir_leave(&ir->dir[UP]);
	dir_leave(&ir->dir[DOWN]);
	return XK_OK;
}

static int impair_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	int res;

	(void)len;
	if (op != XK_CTL_STAND && op != XK_CTL_MOVE && op != XK_CTL_LEAVE && op != XK_CTL_ORPHANS &&
	    op != XK_CTL_HANDED)
		return XK_E_NOTSUP;
	res = xk_asked(r, buf);
	/* Who is above has one session, and closes it; nothing is enabled. */
	if (res <= 0 || op == XK_CTL_ORPHANS || op == XK_CTL_HANDED)
		return res > 0 ? XK_OK : res;
	return op == XK_CTL_STAND ? impair_stand(r, buf) : op == XK_CTL_MOVE ? impair_move(r, buf) : impair_leave(r);
}

/* ---- life -------------------------------------------------------------------------------------- */

static int impair_init(struct xk_node *n, struct xk_errs *e)
{
	const struct impair_conf *c = n->conf;
	char why[200] = "out of memory";
	int err = fates_read(n->state, &c->fates, why, sizeof why);

	if (err != XK_OK)
		xk_node_error(n, e, "%s", why);
	return err;
}

static void impair_fini(struct xk_node *n)
{
	fates_free(n->state);
}

static int impair_check(const void *conf, char *why, size_t n)
{
	const struct impair_conf *c = conf;
	struct fates f;
	int err = fates_read(&f, &c->fates, why, n);

	if (err == XK_OK)
		fates_free(&f);
	else if (err == XK_E_NOMEM)
		snprintf(why, n, "fates: out of memory");
	return err;
}

static int dir_init(struct impair_dir *d, struct xk_rep *r, unsigned way)
{
	const struct impair_conf *c = impair_conf(r);
	uint64_t seed = c->seed != 0 ? c->seed : xk_node_seed(r->node);

	d->rep = r;
	d->way = (uint8_t)way;
	d->on = c->dir == DIR_BOTH || c->dir == (way == UP ? DIR_UP : DIR_DOWN);
	xk_rand_init(&d->rand, seed, (uint64_t)r->node->no << 32 | (uint64_t)r->no << 1 | way);
	xk_msgq_init(&d->held);
	xk_timer_init(&d->line_timer, impair_line_timer);
	xk_timer_init(&d->hold_timer, hold_timer);
	if (!d->on)
		return XK_OK;
	d->line = xk_alloc(c->queue * sizeof *d->line);
	d->cap = (uint32_t)c->queue;
	return d->line != NULL ? XK_OK : XK_E_NOMEM;
}

static void impair_rep_fini(struct xk_rep *r)
{
	struct impair_rep *ir = r->state;

	for (unsigned i = 0; i < 2; i++) {
		if (ir->dir[i].rep != NULL)
			dir_empty(&ir->dir[i]);
		xk_free(ir->dir[i].line);
		ir->dir[i].line = NULL;
	}
}

static int impair_rep_init(struct xk_rep *r)
{
	struct impair_rep *ir = r->state;
	int err = dir_init(&ir->dir[UP], r, UP);

	if (err == XK_OK)
		err = dir_init(&ir->dir[DOWN], r, DOWN);
	if (err != XK_OK)
		impair_rep_fini(r);
	return err;
}

static void impair_rep_stop(struct xk_rep *r)
{
	struct impair_rep *ir = r->state;

	dir_empty(&ir->dir[UP]);
	dir_empty(&ir->dir[DOWN]);
}

/* Others wait for the same line where it has a rate. */
static uint32_t impair_gives(const void *conf, uint32_t below)
{
	const struct impair_conf *c = conf;

	below &= ~XK_GIVES_CRC;          /* "corrupt" is live: bits change behind whoever checked one */
	if (c->loss > 0 || c->dup > 0 || c->rate != 0 || c->fates.n != 0)
		below &= ~XK_GIVES_RELIABLE;
	if (c->reorder > 0 || c->fates.n != 0)
		below &= ~XK_GIVES_ORDER;
	if (c->corrupt > 0)
		below &= ~XK_GIVES_SUM;
	return c->rate != 0 ? below | XK_GIVES_SHARED : below;
}

static const struct xk_ops impair_ops = {
	.init = impair_init, .fini = impair_fini, .rep_init = impair_rep_init, .rep_fini = impair_rep_fini, .rep_stop = impair_rep_stop,
	.open = impair_open, .close = impair_close, .push = impair_push, .demux = impair_demux, .control = impair_control,
};

static const char *const dirs[] = { "both", "up", "down", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct impair_conf, field), ##__VA_ARGS__ }

static const struct xk_param impair_params[] = {
	P(loss, XK_P_FRACTION, "0", "loss probability", .flags = XK_PF_LIVE),
	P(dup, XK_P_FRACTION, "0", "duplication probability", .flags = XK_PF_LIVE),
	P(reorder, XK_P_FRACTION, "0", "reordering probability", .flags = XK_PF_LIVE),
	P(reorder_depth, XK_P_UINT, "3", "a reordered frame is overtaken by 1 to this many",
	  .min = "1", .max = "1000", .flags = XK_PF_LIVE),
	P(hold, XK_P_TIME, "10ms", "a frame waits this long at most for others to overtake it", .min = "1ms", .max = "10s", .flags = XK_PF_LIVE),
	P(corrupt, XK_P_FRACTION, "0", "fraction of frames with one bit changed, anywhere", .flags = XK_PF_LIVE),
	P(delay, XK_P_TIME, "0s", "time from end to end", .max = "100s", .flags = XK_PF_LIVE),
	P(jitter, XK_P_TIME, "0s", "up to this much more, uniformly; the order stays", .max = "100s", .flags = XK_PF_LIVE),
	P(rate, XK_P_RATE, "0bit/s", "bandwidth, shared out evenly over the virtual processors; 0bit/s: no limit",
	  .max = "1000Gbit/s", .flags = XK_PF_LIVE),
	P(queue, XK_P_UINT, "1000", "most frames on the line or waiting for it, per virtual processor and direction",
	  .min = "1", .max = "1000000"),
	P(seed, XK_P_UINT, "0", "of the faults; 0: the graph's"),
	P(dir, XK_P_ENUM, "both", "which direction is impaired", .choices = dirs),
	P(fates, XK_P_LIST, NULL, "of frames by number, from 1, per virtual processor and direction: "
	  "\"[up|down] FIRST[-LAST] lost|doubled|late N\"", .elem = XK_P_TEXT),
	XK_PARAM_END
};

static const char *const impair_drops[] = {
#define X(id, text) text,
	IMPAIR_DROPS(X)
#undef X
	NULL
};
static const char *const impair_counts[] = { "doubled", "reordered", "corrupted", "delayed", NULL };

/* Frames pass as they are. */
static const struct xk_demux impair_decl = { .through = true };

const struct xk_proto xk_proto_impair = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "impair",
	.doc = "a link that loses, doubles, reorders, corrupts, delays and limits frames, by seed",
	.is_driver = true, .ops = &impair_ops, .offers = "frame", .as_below = true, .needs = { "frame" },
	.min_down = 1, .max_down = 1, .params = impair_params, .conf_size = sizeof(struct impair_conf),
	.node_size = sizeof(struct fates), .check = impair_check, .gives = impair_gives,
	.rep_size = sizeof(struct impair_rep), .sess_size = sizeof(struct xk_sess),
	.drops = impair_drops, .counts = impair_counts,
	.demux = &impair_decl,
};
