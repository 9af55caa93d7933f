/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_group.c - threads of several processes that talk together: barrier, broadcast, reduce.
 *
 * Every member has a connection to each other one.  Who waits for one that is lost fails, and tells all
 * others at which operation: they may not wait for that one.  Who has done its share and leaves fails
 * nobody at an operation that can still end.  An operation is steps of sends and receives; the next
 * step begins when all of the last are done.  Long messages move in pieces of 64 KiB, so those below
 * in a tree work on one piece while the next is on its way.
 * Invariant: ops[] are under way only while `what` is not IDLE; watch[] of each living member always.
 */
#include "protocols/ncs/ncs_call.h"
#include "protocols/ncs/ncs_fold.h"
#include "protocols/ncs/ncs_tree.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/mem/xk_alloc.h"

#include <string.h>

#define PIECE     65536u
#define TAG_LOST  0x7fffffff             /* a member was: its rank 32, the operation that failed 32 */
#define LOST_LEN  8u
#define TAG_WORK  1

enum work { IDLE, MAKE, BARRIER, DOWN, UP };

struct member {
	int rank;
	struct xk_ncs_conn *c;           /* NULL: ourselves, or not there yet */
	struct xk_ncs_req op, watch;
	bool busy, watched;              /* op, watch are under way */
	int  gone;                       /* an error: nothing more comes of it than what has come */
	uint8_t lost[LOST_LEN];
	uint8_t *in;                     /* a piece of a reduction; PIECE bytes */
};

struct xk_ncs_group {
	struct xk_ncs_thread *t;
	unsigned n, me, number, k;
	enum xk_ncs_shape shape;
	int lost, err;                   /* err: all that follows */
	bool made;
	uint32_t seq, told_seq;          /* operations begun; the one that another failed at */
	int told;                        /* the rank for which, or -1 */
	enum work what;
	bool sending;                    /* DOWN: the piece is here; UP: it goes to the parent */
	bool down_too;                   /* an allreduce: what went up comes down */
	bool numbers;                    /* v is converted where it travels */
	enum ncs_shape tree;
	enum xk_ncs_type ty;
	enum xk_ncs_fold f;
	unsigned root;
	uint8_t *v;
	size_t bytes, at;                /* of v; where the piece begins */
	uint32_t round;
	uint8_t *out;                    /* a piece as it travels */
	struct member m[];
};

/* ---- members -------------------------------------------------------------------------------------- */

/* Tells the others, who may wait for somebody else. */
static void member_lost(struct xk_ncs_group *g, int rank, int err)
{
	struct xk_ncs_req r;
	uint8_t b[LOST_LEN];

	if (g->err != XK_OK)
		return;
	g->err = err;
	g->lost = rank;
	xk_put_be32(b, (uint32_t)rank);
	xk_put_be32(b + 4, g->seq);
	for (unsigned i = 0; i < g->n; i++)
		if (g->m[i].c != NULL && g->m[i].rank != rank && xk_ncs_isend(g->m[i].c, TAG_LOST, b, sizeof b, &r) == XK_OK &&
		    xk_ncs_cancel(&r) != XK_OK)
			(void)xk_ncs_wait(&r, XK_NCS_FOREVER);
}

static void watch(struct member *m)
{
	m->watched = xk_ncs_irecv(m->c, TAG_LOST, m->lost, sizeof m->lost, &m->watch) == XK_OK;
}

/* What m says beside the operation, or that it says nothing any more. */
static void hear(struct xk_ncs_group *g, struct member *m)
{
	int err = m->watched ? xk_ncs_test(&m->watch) : XK_E_INPROGRESS;

	if (err == XK_E_INPROGRESS)
		return;
	m->watched = false;
	m->gone = err != XK_OK ? err : XK_E_CONNRESET;
	if (err == XK_OK && m->watch.st.len == LOST_LEN && g->told < 0) {
		g->told = (int)xk_be32(m->lost);
		g->told_seq = xk_be32(m->lost + 4);
	}
}

/* Did another fail at this operation, or before it? */
static void look_around(struct xk_ncs_group *g)
{
	for (unsigned i = 0; i < g->n; i++)
		hear(g, &g->m[i]);
	if (g->what != IDLE && g->told >= 0 && (int32_t)(g->seq - g->told_seq) >= 0)
		member_lost(g, g->told, XK_E_CONNRESET);
}

/* m failed us; maybe because another failed it. */
static void failed(struct xk_ncs_group *g, struct member *m, int err)
{
	hear(g, m);
	if (g->told >= 0)
		member_lost(g, g->told, XK_E_CONNRESET);
	else
		member_lost(g, m->rank, err);
}

/* Ends what is under way: buffers are the caller's again. */
static void drop_ops(struct xk_ncs_group *g)
{
	for (unsigned i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];

		if (!m->busy)
			continue;
		m->busy = false;
		if (g->what == MAKE && m->rank > g->m[g->me].rank)
			continue;                /* an open: it goes with its connection */
		if (xk_ncs_cancel(&m->op) != XK_OK)
			(void)xk_ncs_wait(&m->op, XK_NCS_FOREVER);
		else if (m->op.kind == REQ_ACCEPT)
			m->op.st.conn = NULL;
	}
}

/* ---- steps ------------------------------------------------------------------------------------------- */

static unsigned place_of(const struct xk_ncs_group *g) { return (g->me + g->n - g->root) % g->n; }
static struct member *at_place(struct xk_ncs_group *g, uint32_t p) { return &g->m[(p + g->root) % g->n]; }

static void op_send(struct xk_ncs_group *g, struct member *m, const void *b, size_t n)
{
	int err = xk_ncs_isend(m->c, TAG_WORK, b, n, &m->op);

	m->busy = err == XK_OK;
	if (err != XK_OK)
		failed(g, m, err);
}

static void op_recv(struct xk_ncs_group *g, struct member *m, void *b, size_t n)
{
	int err = xk_ncs_irecv(m->c, TAG_WORK, b, n, &m->op);

	m->busy = err == XK_OK;
	if (err != XK_OK)
		failed(g, m, err);
}

static size_t piece_of(const struct xk_ncs_group *g)
{
	return g->bytes - g->at < PIECE ? g->bytes - g->at : PIECE;
}

static uint32_t parent(const struct xk_ncs_group *g)
{
	return ncs_tree_parent(g->tree, g->k, g->n, place_of(g));
}

static uint32_t child(const struct xk_ncs_group *g, uint32_t i)
{
	return ncs_tree_child(g->tree, g->k, g->n, place_of(g), i);
}

/* The piece as it travels. */
static uint8_t *wire(struct xk_ncs_group *g) { return g->numbers ? g->out : g->v + g->at; }

/* The next step of a broadcast: the piece comes from the parent, then goes to the children.  false: it is over. */
static bool step_down(struct xk_ncs_group *g)
{
	size_t n = piece_of(g), size = ncs_fold_size(g->ty);

	if (!g->sending && parent(g) != NCS_NOBODY) {
		g->sending = true;
		op_recv(g, at_place(g, parent(g)), wire(g), n);
		return true;
	}
	if (g->round != 0) {                     /* its sends are done: the next piece */
		g->round = 0;
		g->sending = false;
		g->at += n;
		return g->at < g->bytes ? step_down(g) : false;
	}
	g->round = 1;
	if (g->numbers && parent(g) == NCS_NOBODY)
		ncs_fold_store(g->out, g->v + g->at, n / size, g->ty);
	else if (g->numbers)
		ncs_fold_load(g->v + g->at, g->out, n / size, g->ty);
	for (uint32_t i = 0; child(g, i) != NCS_NOBODY; i++)
		op_send(g, at_place(g, child(g, i)), wire(g), n);
	return true;
}

/* Of a reduction: pieces come from the children, are folded in the order of the children, and go to the parent. */
static bool step_up(struct xk_ncs_group *g)
{
	size_t n = piece_of(g), size = ncs_fold_size(g->ty);

	if (g->round == 0) {
		g->round = 1;
		for (uint32_t i = 0; child(g, i) != NCS_NOBODY; i++)
			op_recv(g, at_place(g, child(g, i)), at_place(g, child(g, i))->in, n);
		return true;
	}
	if (g->round == 1) {
		g->round = 2;
		for (uint32_t i = 0; child(g, i) != NCS_NOBODY; i++)
			ncs_fold(g->v + g->at, at_place(g, child(g, i))->in, n / size, g->ty, g->f);
		ncs_fold_store(g->out, g->v + g->at, n / size, g->ty);
		if (parent(g) != NCS_NOBODY)
			op_send(g, at_place(g, parent(g)), g->out, n);
		return true;
	}
	g->round = 0;
	g->at += n;
	if (g->at < g->bytes)
		return step_up(g);
	if (!g->down_too)
		return false;
	g->what = DOWN;
	g->at = 0;
	return step_down(g);
}

/* First to one, then from another, which may be the same. */
static bool step_barrier(struct xk_ncs_group *g)
{
	struct member *to, *from;

	if (g->sending) {
		g->sending = false;
		from = &g->m[ncs_barrier_from(g->n, g->me, g->round++)];
		op_recv(g, from, g->out, 0);
		return true;
	}
	if (g->round == ncs_barrier_rounds(g->n))
		return false;
	g->sending = true;
	to = &g->m[ncs_barrier_to(g->n, g->me, g->round)];
	op_send(g, to, g->out, 0);
	return true;
}

/* Opens to those with a higher rank, accepts from the others. */
static bool step_make(struct xk_ncs_group *g)
{
	const struct xk_ncs_choice *ch = (const struct xk_ncs_choice *)(const void *)g->v;
	unsigned session = g->number | PROC_GROUP;

	if (g->round++ == 0) {
		for (unsigned i = 0; i < g->n; i++) {
			struct member *m = &g->m[i];
			struct xk_ncs_addr to = { m->rank, g->t->number, session, 0 };
			int err = XK_OK;

			if (i == g->me)
				continue;
			if (m->rank > g->m[g->me].rank)
				err = ncs_conn_iopen(g->t, &to, ch, &m->c, &m->op);
			else
				err = ncs_conn_iaccept(g->t, m->rank, session, &m->op);
			m->busy = err == XK_OK;
			if (err != XK_OK)
				member_lost(g, m->rank, err);
		}
		return true;
	}
	for (unsigned i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];

		if (i == g->me)
			continue;
		if (m->c == NULL)
			m->c = m->op.st.conn;
		watch(m);
	}
	g->made = true;
	return false;
}

static bool step(struct xk_ncs_group *g)
{
	switch (g->what) {
	case MAKE: return step_make(g);
	case BARRIER: return step_barrier(g);
	case DOWN: return step_down(g);
	case UP: return step_up(g);
	default: return false;
	}
}

/* ---- moving on ------------------------------------------------------------------------------------------ */

/* Is something of the step under way? */
static bool under_way(struct xk_ncs_group *g)
{
	bool busy = false;

	for (unsigned i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];
		int err;

		if (!m->busy)
			continue;
		err = xk_ncs_test(&m->op);
		if (err == XK_E_INPROGRESS) {
			busy = true;
			continue;
		}
		m->busy = false;
		if (g->what == MAKE && m->c == NULL && err == XK_OK)
			m->c = m->op.st.conn;
		if (err != XK_OK)
			failed(g, m, err);
	}
	return busy;
}

int xk_ncs_group_test(struct xk_ncs_group *g)
{
	bool busy = under_way(g);

	look_around(g);
	while (g->err == XK_OK && g->what != IDLE && !busy) {
		if (!step(g))
			g->what = IDLE;
		busy = under_way(g);
		look_around(g);
	}
	if (g->err != XK_OK) {
		drop_ops(g);
		g->what = IDLE;
		return g->err;
	}
	return g->what == IDLE ? XK_OK : XK_E_INPROGRESS;
}

/* All that it may wait for, two for each member. */
static unsigned waits(struct xk_ncs_group *g, struct xk_ncs_req **r)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->n; i++) {
		if (g->m[i].busy)
			r[n++] = &g->m[i].op;
		if (g->m[i].watched)
			r[n++] = &g->m[i].watch;
	}
	return n;
}

int xk_ncs_group_wait(struct xk_ncs_group *g, uint64_t timeout)
{
	struct xk_ncs_req **r = xk_alloc(2 * g->n * sizeof *r);
	uint64_t begun = ncs_wait_now(), gone = 0;
	int err, found = 0;

	if (r == NULL)
		return XK_E_NOMEM;
	while ((err = xk_ncs_group_test(g)) == XK_E_INPROGRESS && found != XK_E_AGAIN) {
		if (timeout != XK_NCS_FOREVER)
			gone = ncs_wait_now() - begun;
		found = xk_ncs_waitany(r, waits(g, r), timeout == XK_NCS_FOREVER ? timeout : gone < timeout ? timeout - gone : 0);
	}
	xk_free(r);
	return err == XK_E_INPROGRESS ? XK_E_AGAIN : err;
}

/* ---- life --------------------------------------------------------------------------------------------------- */

static bool group_memory(struct xk_ncs_group *g)
{
	g->out = xk_alloc(PIECE);
	for (unsigned i = 0; i < g->n; i++)
		if ((g->m[i].in = xk_alloc(PIECE)) == NULL)
			return false;
	return g->out != NULL;
}

/* Who we are among them; n: nobody, or somebody is there twice. */
static unsigned own_place(const struct xk_ncs_thread *t, const int *ranks, unsigned n)
{
	unsigned me = n;

	for (unsigned i = 0; i < n; i++) {
		if (ranks[i] < 0 || (unsigned)ranks[i] >= xk_ncs_size(t->n))
			return n;
		for (unsigned k = 0; k < i; k++)
			if (ranks[k] == ranks[i])
				return n;
		if ((unsigned)ranks[i] == xk_ncs_rank(t->n))
			me = i;
	}
	return me;
}

int xk_ncs_group_new(struct xk_ncs_thread *t, const int *ranks, unsigned n, unsigned number,
		     const struct xk_ncs_choice *choice, enum xk_ncs_shape shape, unsigned k, struct xk_ncs_group **gp)
{
	struct xk_ncs_group *g;

	*gp = NULL;
	if (n == 0 || own_place(t, ranks, n) == n || number & PROC_GROUP || (shape == XK_NCS_KARY && k == 0))
		return XK_E_INVAL;
	g = xk_alloc(sizeof *g + n * sizeof g->m[0]);
	if (g == NULL)
		return XK_E_NOMEM;
	*g = (struct xk_ncs_group){ .t = t, .n = n, .me = own_place(t, ranks, n), .number = number, .k = k == 0 ? 1 : k,
				    .shape = shape, .lost = -1, .told = -1, .what = MAKE };
	g->v = (uint8_t *)(uintptr_t)choice;
	for (unsigned i = 0; i < n; i++)
		g->m[i].rank = ranks[i];
	if (!group_memory(g)) {
		xk_ncs_group_free(g);
		return XK_E_NOMEM;
	}
	*gp = g;
	if (step_make(g))                        /* so that choice is looked at now */
		(void)under_way(g);
	return XK_OK;
}

void xk_ncs_group_free(struct xk_ncs_group *g)
{
	if (g == NULL)
		return;
	drop_ops(g);
	for (unsigned i = 0; i < g->n; i++) {
		struct member *m = &g->m[i];

		if (m->watched && xk_ncs_cancel(&m->watch) != XK_OK)
			(void)xk_ncs_wait(&m->watch, XK_NCS_FOREVER);
		if (m->c == NULL && m->op.kind == REQ_ACCEPT)
			m->c = m->op.st.conn;    /* accepted, and not seen */
		xk_ncs_close(m->c);
		xk_free(m->in);
	}
	xk_free(g->out);
	xk_free(g);
}

int xk_ncs_group_lost(const struct xk_ncs_group *g) { return g->lost; }

/* ---- operations ---------------------------------------------------------------------------------------------- */

static enum ncs_shape tree_of(const struct xk_ncs_group *g, size_t bytes)
{
	switch (g->shape) {
	case XK_NCS_REPETITIVE: return NCS_REPETITIVE;
	case XK_NCS_BINOMIAL: return NCS_BINOMIAL;
	case XK_NCS_KARY: return NCS_KARY;
	case XK_NCS_CHAIN: return NCS_CHAIN;
	default: return ncs_tree_best(g->n, bytes, PIECE);
	}
}

static int begin(struct xk_ncs_group *g, enum work what, unsigned root, void *v, size_t bytes)
{
	int err = xk_ncs_group_test(g);          /* it may still be made */

	if (err != XK_OK)
		return err == XK_E_INPROGRESS ? XK_E_BUSY : err;
	if (root >= g->n)
		return XK_E_INVAL;
	g->what = what;
	g->root = root;
	g->v = v;
	g->bytes = bytes;
	g->at = 0;
	g->round = 0;
	g->sending = g->down_too = g->numbers = false;
	g->tree = tree_of(g, bytes);
	g->seq++;
	for (unsigned i = 0; i < g->n && g->err == XK_OK; i++)
		if (g->m[i].gone != XK_OK)
			failed(g, &g->m[i], g->m[i].gone);
	return XK_OK;
}

static int begun(struct xk_ncs_group *g)
{
	int err = xk_ncs_group_test(g);

	return err == XK_E_INPROGRESS ? XK_OK : err;
}

int xk_ncs_ibarrier(struct xk_ncs_group *g)
{
	int err = begin(g, BARRIER, 0, NULL, 0);

	return err == XK_OK ? begun(g) : err;
}

int xk_ncs_ibcast(struct xk_ncs_group *g, unsigned root, void *buf, size_t bytes)
{
	int err = begin(g, DOWN, root, buf, bytes);

	return err == XK_OK ? begun(g) : err;
}

static int reduce(struct xk_ncs_group *g, unsigned root, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n, bool all)
{
	int err;

	if (ty > XK_NCS_F64 || f > XK_NCS_MAX || n > SIZE_MAX / 8)
		return XK_E_INVAL;
	err = begin(g, UP, root, v, n * ncs_fold_size(ty));
	if (err != XK_OK)
		return err;
	g->ty = ty;
	g->f = f;
	g->numbers = true;
	g->down_too = all;
	return begun(g);
}

int xk_ncs_ireduce(struct xk_ncs_group *g, unsigned root, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n)
{
	return reduce(g, root, f, ty, v, n, false);
}

int xk_ncs_iallreduce(struct xk_ncs_group *g, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n)
{
	return reduce(g, 0, f, ty, v, n, true);
}

/* A blocking operation waits until the group is made. */
static int ready(struct xk_ncs_group *g, uint64_t timeout)
{
	return g->made ? XK_OK : xk_ncs_group_wait(g, timeout);
}

static int finish(struct xk_ncs_group *g, int err, uint64_t timeout)
{
	return err == XK_OK ? xk_ncs_group_wait(g, timeout) : err;
}

int xk_ncs_barrier(struct xk_ncs_group *g, uint64_t timeout)
{
	int err = ready(g, timeout);

	return err == XK_OK ? finish(g, xk_ncs_ibarrier(g), timeout) : err;
}

int xk_ncs_bcast(struct xk_ncs_group *g, unsigned root, void *buf, size_t bytes, uint64_t timeout)
{
	int err = ready(g, timeout);

	return err == XK_OK ? finish(g, xk_ncs_ibcast(g, root, buf, bytes), timeout) : err;
}

int xk_ncs_reduce(struct xk_ncs_group *g, unsigned root, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n,
		  uint64_t timeout)
{
	int err = ready(g, timeout);

	return err == XK_OK ? finish(g, xk_ncs_ireduce(g, root, f, ty, v, n), timeout) : err;
}

int xk_ncs_allreduce(struct xk_ncs_group *g, enum xk_ncs_fold f, enum xk_ncs_type ty, void *v, size_t n, uint64_t timeout)
{
	int err = ready(g, timeout);

	return err == XK_OK ? finish(g, xk_ncs_iallreduce(g, f, ty, v, n), timeout) : err;
}
