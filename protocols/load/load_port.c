/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_port.c - sends messages over many connections, from each VP those that are
 * mapped to it.
 *
 * Every connection is a task: one unit of work is a burst of messages, and the
 * VP runs its tasks in turn, so the counts of its connections differ by at most
 * one burst.  A message is a copy of a static page, a page written
 * through one cache line, or whatever the buffer holds.  Buffers are the
 * VP's own, last freed first.
 * A connection may be slowed to a rate, be silent at times, have messages that are due at times of
 * their own (load_times.c) or wait for answers (window): then its task parks and a timer, time or an
 * answer wakes it.
 * With a window one message in about 32 is timed until its answer: answers are
 * taken to come in the order of what they answer.
 * Invariant: a task is ready, or its connection has ended, or its timer is armed, or a time is waited for.
 */
#include "protocols/load/load.h"
#include "protocols/udp/udp.h"
#include "runtime/base/xk_csum_inline.h"
#include "runtime/base/xk_hist.h"
#include "runtime/base/xk_rand.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_move.h"
#include "runtime/upi/xk_thread.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#include <stdio.h>
#include <string.h>

#define PAGE 4096u

enum { N_MESSAGES, N_BYTES, N_ANSWERS, N_UNANSWERED, N_PEER_CLOSED };

struct port_conf {
	struct load_conf load;
	uint64_t         on, off, timeout, segment;
	bool             random;
};

struct port_rep;
struct port_conn {
	struct xk_task     task;
	struct xk_sess    *s;             /* NULL: closed */
	struct port_rep *sr;
	/* Up to here and the next line are all that a turn touches. */
	uint64_t           left;          /* messages still to send */
	uint32_t           slot;          /* in the replica's arrays */
	uint32_t           open;          /* unanswered messages, window != 0 */
	bool               fused;         /* the layer below takes the sum of the copy */
	bool               quick;         /* fused, and one segment, of class cls */
	uint8_t            cls;
	bool               ended;
	bool               silent, closed; /* asleep: between two phases; the window is full */
	uint64_t           in_phase;      /* sent in the present phase of talking */
	xk_ns              until, since;  /* its end and its start; rate and silence */
	xk_ns              carry;         /* of the last one, less than a message's time */
	struct xk_timer    timer;
	/* window: the message that is timed */
	uint32_t           probe_in;      /* messages before the next one is */
	uint32_t           answers;       /* until its own comes; 0: none is timed */
	xk_ns              probe_at;
} XK_ALIGNED;

/* Stands over the lower session where answers are counted by connection. */
struct port_sess { struct xk_sess s; struct port_conn *k; };

struct port_rep {
	struct load_rep     load;
	struct port_conn *conn;         /* [n] */
	void               *conn_block;
	uint32_t            asked;        /* where XK_CTL_MOVE found the last one: the next is near */
};

static const struct port_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- messages --------------------------------------------------------------------- */

/* One message, or NULL, counted. */
static inline struct xk_msg *port_make(const struct port_conn *k, const struct port_conf *c)
{
	struct xk_msg *m = xk_msg_new((uint32_t)c->load.size);

	if (XK_UNLIKELY(m == NULL)) {
		xk_dropped(k->sr->load.r, XK_DROP_NOMEM, 1);
		return NULL;
	}
	if (c->load.touch == LOAD_COPY) {
		if (XK_UNLIKELY(m->flags & XK_MSG_CHAIN)) {
			xk_msg_copy_in(m, 0, k->sr->load.page, m->tot);
		} else if (k->fused) {
			m->csum = xk_csum_copy_quick(m->data, k->sr->load.page, m->len, 0);
			m->flags |= XK_MSG_CSUM;
		} else {
			memcpy(m->data, k->sr->load.page, m->len);
		}
	} else if (c->load.touch == LOAD_LINE) {
		load_touch(m);
	}
	return m;
}

/* The same for the common kind: copied with its sum into one segment. */
static inline struct xk_msg *port_make_quick(const struct port_conn *k, const struct port_conf *c)
{
	struct xk_msg *m = xk_msg_new_cls((enum xk_memclass)k->cls, (uint32_t)c->load.size);

	if (XK_UNLIKELY(m == NULL)) {
		xk_dropped(k->sr->load.r, XK_DROP_NOMEM, 1);
		return NULL;
	}
	m->csum = xk_csum_copy_quick(m->data, k->sr->load.page, (uint32_t)c->load.size, 0);
	m->flags = XK_MSG_CSUM;
	return m;
}

/* ---- pacing ------------------------------------------------------------------------- */

static xk_ns phase_length(const struct port_rep *sr, uint64_t mean)
{
	if (!conf_of(sr->load.r)->random)
		return mean;
	return (xk_ns)xk_rand_exp(xk_vp_rand(sr->load.r->vp), (double)mean) + 1;
}

static void port_sleep(struct port_conn *k, xk_ns until)
{
	xk_task_park(&k->task);
	xk_timer_set(k->sr->load.r->wheel, &k->timer, until);
}

static void port_talk(struct port_conn *k, xk_ns now, xk_ns length)
{
	k->silent = false;
	k->since = now - k->carry;
	k->until = length == 0 ? XK_NS_NEVER : now + length;
	k->in_phase = 0;
}

/* The window is full: an answer opens it, or patience ends. */
static void port_wait(struct port_conn *k, xk_ns now)
{
	k->closed = true;
	port_sleep(k, now + conf_of(k->sr->load.r)->timeout);
}

/* What the rate and the phase allow now; 0 after putting the connection to sleep. */
static uint64_t rate_allowed(struct port_conn *k, const struct port_conf *c, xk_ns now)
{
	xk_ns end = now < k->until ? now : k->until, t = end - k->since;
	uint64_t due;

	if (load_timed(&c->load)) {
		if (!load_rests(&k->sr->load, k->slot))
			return UINT64_MAX;
		xk_task_park(&k->task);
		return 0;
	}
	due = load_due(&c->load, t);
	if (c->load.rate != 0 && due > k->in_phase)
		return due - k->in_phase;        /* also what a phase that is over left undone */
	if (now >= k->until) {
		k->silent = true;
		k->carry = c->load.rate != 0 ? t % XK_SEC * c->load.rate % XK_SEC / c->load.rate : 0;
		port_sleep(k, now + phase_length(k->sr, c->off));
		return 0;
	}
	if (c->load.rate == 0)
		return UINT64_MAX;
	t = now + XK_SEC / c->load.rate;
	port_sleep(k, t < k->until ? t : k->until);
	return 0;
}

/* Messages allowed now; 0: asleep. */
static uint64_t port_allowed(struct port_conn *k, const struct port_conf *c)
{
	xk_ns now = xk_vp_now();
	uint64_t n;

	if (c->load.window != 0 && k->open >= c->load.window) {
		port_wait(k, now);
		return 0;
	}
	n = rate_allowed(k, c, now);
	return c->load.window != 0 && n > c->load.window - k->open ? c->load.window - k->open : n;
}

static void port_end(struct port_conn *k)
{
	xk_task_park(&k->task);
	xk_timer_cancel(k->sr->load.r->wheel, &k->timer);
	load_rises(&k->sr->load, k->slot);
	k->left = 0;
	k->ended = true;
	load_done(&k->sr->load);
}

/* Awake again: sends when something may be sent, else sleeps on. */
static void port_wake(struct port_conn *k)
{
	if (port_allowed(k, conf_of(k->sr->load.r)) != 0)
		xk_task_ready(&k->task);
}

static void port_timer(struct xk_timer *t)
{
	struct port_conn *k = xk_container_of(t, struct port_conn, timer);

	if (k->s == NULL)
		return;
	if (k->silent)
		port_talk(k, xk_vp_now(), phase_length(k->sr, conf_of(k->sr->load.r)->on));
	if (k->closed) {                         /* what is not answered now never will be */
		xk_count_add(k->sr->load.r->count[N_UNANSWERED], k->open);
		k->open = 0;
		k->answers = 0;
		k->closed = false;
	}
	if (k->left != 0)
		port_wake(k);
	else
		port_end(k);
}

/* Connections do not start in step. */
static void port_begin(struct port_conn *k)
{
	const struct port_conf *c = conf_of(k->sr->load.r);
	struct xk_rand *rand = xk_vp_rand(k->sr->load.r->vp);
	xk_ns now = xk_vp_now(), at;

	port_talk(k, now, 0);
	if (load_timed(&c->load) && load_when(&k->sr->load, k->slot) == XK_NS_NEVER)
		k->left = 0;                     /* a trace that says nothing of it: its first turn ends it */
	if (c->off != 0) {
		at = xk_rand_below(rand, c->on + c->off);
		k->silent = at >= c->on;
		if (k->silent) {
			port_sleep(k, now + c->on + c->off - at);
			return;
		}
		k->until = now + c->on - at;
	}
	if (c->load.rate != 0)                        /* the first one is due within an interval */
		port_sleep(k, now + xk_rand_below(rand, XK_SEC / c->load.rate + 1));
	else
		xk_task_ready(&k->task);
}

/* ---- one unit -------------------------------------------------------------------------- */

static bool is_paced(const struct port_conn *k, const struct port_conf *c)
{
	return c->load.rate != 0 || c->load.window != 0 || k->until != XK_NS_NEVER;
}

/* After n messages: counts them, and says what comes next. */
static void port_sent(struct port_conn *k, const struct port_conf *c, unsigned n)
{
	struct port_rep *sr = k->sr;

	k->in_phase += n;
	xk_count_add(sr->load.messages[k->slot], n);
	xk_count_add(sr->load.bytes[k->slot], n * c->load.size);
	xk_count_add(sr->load.r->count[N_MESSAGES], n);
	xk_count_add(sr->load.r->count[N_BYTES], n * c->load.size);
	if (k->s == NULL)                        /* closed meanwhile, and ended */
		return;
	k->left -= n;
	if (k->left == 0 && (c->load.window == 0 || k->open == 0))
		port_end(k);
	else if (k->left == 0)                   /* the last answers are waited for, too */
		port_wait(k, xk_vp_now());
	else if (is_paced(k, c))
		port_allowed(k, c);            /* asleep at once, not a turn later */
}

/* The message that goes next is timed, from `at` on. */
static void probe_begin(struct port_conn *k, xk_ns at)
{
	k->probe_in = xk_app_probe_gap(xk_vp_rand(k->sr->load.r->vp));
	k->answers = k->open;
	k->probe_at = at;
}

static unsigned port_run(struct xk_task *t, unsigned budget)
{
	struct port_conn *k = xk_container_of(t, struct port_conn, task);
	const struct port_conf *c = conf_of(k->sr->load.r);
	uint64_t n = c->load.burst != 0 ? c->load.burst : budget;
	unsigned i;

	if (is_paced(k, c)) {
		uint64_t allowed = port_allowed(k, c);

		if (n > allowed)
			n = allowed;
	}
	if (n > k->left)
		n = k->left;
	/* A push may close the session under us (a stream's end). */
	for (i = 0; i < n && k->s != NULL; i++) {
		struct xk_msg *m = port_make(k, c);

		if (XK_UNLIKELY(m == NULL))
			break;
		k->open++;
		if (c->load.window != 0 && k->answers == 0 && k->probe_in-- == 0)
			probe_begin(k, xk_vp_clock(k->sr->load.r->vp));
		xk_push(k->s, m);
	}
	if (i != 0)
		port_sent(k, c, i);
	return i;
}

/* One that says when it was due; NULL: none is due, or may go, or it is counted. */
static struct xk_msg *port_make_due(struct port_conn *k, const struct port_conf *c, xk_ns now)
{
	struct load_rep *l = &k->sr->load;
	struct xk_msg *m;

	if (load_when(l, k->slot) > now || (c->load.window != 0 && k->open >= c->load.window))
		return NULL;
	load_stamp(l, k->slot, now);
	m = port_make(k, c);
	if (m != NULL && c->load.touch != LOAD_COPY)
		load_stamp_copy(l, m);
	return m;
}

/* A unit of messages that are due at times of their own. */
static unsigned port_run_due(struct xk_task *t, unsigned budget)
{
	struct port_conn *k = xk_container_of(t, struct port_conn, task);
	struct load_rep *l = &k->sr->load;
	const struct port_conf *c = conf_of(l->r);
	xk_ns now = xk_vp_clock(l->r->vp);
	uint64_t n = c->load.burst != 0 ? c->load.burst : budget;
	struct xk_msg *m;
	unsigned i = 0;

	if (k->left == 0)
		port_end(k);
	else if (port_allowed(k, c) != 0)
		n = n < k->left ? n : k->left;
	else
		return 0;
	for (; i < n && k->s != NULL && k->left != 0 && (m = port_make_due(k, c, now)) != NULL; i++) {
		k->open++;
		if (c->load.window != 0 && k->answers == 0 && k->probe_in-- == 0)
			probe_begin(k, load_when(l, k->slot));
		if (!load_made(l, k->slot))
			k->left = i + 1;         /* its trace has been played */
		xk_push(k->s, m);
	}
	if (i != 0)
		port_sent(k, c, i);
	if (k->s != NULL && k->left != 0)
		port_allowed(k, c);              /* asleep at once, not a turn later */
	return i;
}

/* The common kind: endless, unpaced, nobody answers.  A turn of one message
 * costs little more than the message. */
static unsigned port_run_steady(struct xk_task *t, unsigned budget)
{
	struct port_conn *k = xk_container_of(t, struct port_conn, task);
	struct port_rep *sr = k->sr;
	const struct port_conf *c = conf_of(sr->load.r);
	unsigned n = c->load.burst != 0 ? (unsigned)c->load.burst : budget, i = 0;
	struct xk_sess *s;

	while (i < n && (s = k->s) != NULL) {
		struct xk_msg *m = k->quick ? port_make_quick(k, c) : port_make(k, c);

		if (XK_UNLIKELY(m == NULL))
			break;
		xk_push(s, m);
		i++;
	}
	xk_count_add(sr->load.messages[k->slot], i);
	xk_count_add(sr->load.bytes[k->slot], i * c->load.size);
	xk_count_add(sr->load.r->count[N_MESSAGES], i);
	xk_count_add(sr->load.r->count[N_BYTES], i * c->load.size);
	return i;
}

/* The same where a unit is one message: counted before it goes, and all
 * that is rare left to the other, so that nothing has to be kept on the stack
 * beside a short one and a unit costs little more than its message. */
static inline __attribute__((always_inline)) unsigned run_one(struct xk_task *t, bool is_short)
{
	struct port_conn *k = xk_container_of(t, struct port_conn, task);
	struct port_rep *sr = k->sr;
	struct xk_rep *r = sr->load.r;
	const struct port_conf *c = conf_of(r);
	const struct xk_memvp *v = xk_mem_self;
	enum xk_memclass cls = (enum xk_memclass)k->cls;
	uint32_t size = (uint32_t)c->load.size;
	struct xk_sess *s = k->s;
	struct xk_msg *m;

	if (XK_UNLIKELY(s == NULL || v->cache[cls].n == 0))
		return port_run_steady(t, 1);
	m = xk_msg_new_cls(cls, size);
	m->csum = is_short ? xk_csum_copy_short(m->data, sr->load.page, size, 0) :
			     xk_csum_copy_quick(m->data, sr->load.page, size, 0);
	m->flags = XK_MSG_CSUM;
	xk_count(sr->load.messages[k->slot]);
	xk_count_add(sr->load.bytes[k->slot], size);
	xk_count(r->count[N_MESSAGES]);
	xk_count_add(r->count[N_BYTES], size);
	xk_push(s, m);
	return 1;
}

static unsigned port_run_one_short(struct xk_task *t, unsigned budget)
{
	(void)budget;
	return run_one(t, true);
}

static unsigned port_run_one(struct xk_task *t, unsigned budget)
{
	(void)budget;
	return run_one(t, false);
}

/* Endless and unpaced: is a unit of k one message that it copies? */
static bool is_single(const struct port_conn *k, const struct port_conf *c)
{
	uint64_t burst = c->load.burst != 0 ? c->load.burst : xk_node_burst(k->sr->load.r->node);

	return burst == 1 && k->quick;
}

static void port_answered(struct port_conn *k)
{
	if (k->open != 0)
		k->open--;
	if (k->answers != 0 && --k->answers == 0)
		xk_hist_add(k->sr->load.rtt, xk_vp_clock(k->sr->load.r->vp) - k->probe_at);
	if (!k->closed || (k->left == 0 && k->open != 0))
		return;
	k->closed = false;
	xk_timer_cancel(k->sr->load.r->wheel, &k->timer);
	if (k->left != 0)
		port_wake(k);
	else
		port_end(k);
}

/* What comes back is counted and dropped. */
static void port_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;

	(void)lls;
	xk_count(r->npop);
	xk_count(r->count[N_ANSWERS]);
	xk_msg_free(m);
	if (up != &r->up)
		port_answered(((struct port_sess *)xk_container_of(up, struct xk_sess, self))->k);
}

/* ---- connections -------------------------------------------------------------------------- */

/* Gives the lower session back, and ours over it. */
static void port_close(struct port_conn *k)
{
	struct xk_sess *lls = k->s;
	struct xk_up *up = lls->up;

	k->s = NULL;
	xk_task_of(&k->task, NULL);
	if (up != &up->rep->up) {
		lls->up = &up->rep->up;
		xk_sess_destroy(xk_container_of(up, struct xk_sess, self));
	}
	xk_close(lls);
}

/* Its peer has ended it before its messages were sent. */
static void port_lost(struct port_conn *k)
{
	load_lost(&k->sr->load, "every one of its connections was ended by its peer or lost");
	port_end(k);
}

static void port_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct port_rep *sr = r->state;

	for (uint32_t i = 0; i < sr->load.n; i++) {
		struct port_conn *k = &sr->conn[i];

		if (k->s != lls)
			continue;
		xk_count(r->count[N_PEER_CLOSED]);
		if (!k->ended)
			port_lost(k);
		port_close(k);
		return;
	}
}

static unsigned (*choose_run(const struct port_conn *k, const struct port_conf *c))(struct xk_task *, unsigned)
{
	if (load_timed(&c->load))
		return port_run_due;
	if (c->load.count != 0 || c->off != 0 || c->load.rate != 0 || c->load.window != 0)
		return port_run;
	if (!is_single(k, c))
		return port_run_steady;
	return c->load.size - 8 <= 120 ? port_run_one_short : port_run_one;
}

/* Another rate or burst, from now on: what was due is forgotten.  With a rate connections do not
 * go on in step, as they did not begin in step: thousands of them would all send in the same
 * moment, once an interval, for ever. */
static int port_rep_set(struct xk_rep *r, const struct xk_param *p, const void *conf, char *why, size_t n)
{
	const struct port_conf *c = conf;
	struct port_rep *sr = r->state;
	xk_ns now = xk_vp_now();

	(void)p;
	(void)why;
	(void)n;
	for (uint32_t i = 0; i < sr->load.n; i++) {
		struct port_conn *k = &sr->conn[i];
		bool ready;

		if (k->s == NULL || k->ended)
			continue;
		ready = xk_task_is_ready(&k->task);
		xk_task_park(&k->task);
		xk_task_of(&k->task, NULL);
		k->task.run = choose_run(k, conf);
		xk_task_fetch(&k->task, k->s, NULL);
		xk_task_of(&k->task, k->s);
		k->since = now;
		k->carry = 0;
		k->in_phase = 0;
		if (k->silent || k->closed || k->left == 0) {
			if (ready)
				xk_task_ready(&k->task);
			continue;
		}
		xk_timer_cancel(r->wheel, &k->timer);
		load_rises(&sr->load, i);
		if (c->load.rate != 0)
			port_sleep(k, now + xk_rand_below(xk_vp_rand(r->vp), XK_SEC / c->load.rate + 1));
		else
			xk_task_ready(&k->task);
	}
	return XK_OK;
}

/* Answers of lls find k; the rest of the graph sees no difference. */
static int port_listen(struct port_conn *k)
{
	struct xk_sess *s = xk_sess_create(k->sr->load.r, NULL, k->sr->load.r->node, k->s);

	if (s == NULL)
		return XK_E_NOMEM;
	((struct port_sess *)s)->k = k;
	k->s->up = &s->self;
	return XK_OK;
}

/* Does a message of k leave in several datagrams?  Negative: the layer below makes none of it. */
static int port_segment(struct port_conn *k, const struct port_conf *c)
{
	uint32_t n = (uint32_t)c->segment;
	int err = XK_OK;

	if (n == 0 || n >= c->load.size)
		return 0;
	err = xk_sess_control(k->s, UDP_CTL_SEGMENT, &n, sizeof n);
	return err < 0 ? err : 1;
}

static int port_open_one(struct xk_rep *r, uint64_t i)
{
	const struct port_conf *c = conf_of(r);
	struct port_rep *sr = r->state;
	struct port_conn *k = &sr->conn[sr->load.n];
	uint32_t sum;
	int err;

	k->sr = sr;
	k->slot = sr->load.n;
	k->left = c->load.count != 0 ? c->load.count : UINT64_MAX;
	xk_task_init(&k->task, r->vp, port_run);
	xk_timer_init(&k->timer, port_timer);
	k->s = load_connect(r, i, &err);
	xk_task_fetch(&k->task, k->s, NULL);
	if (k->s != NULL && c->load.window != 0 && (err = port_listen(k)) != XK_OK)
		port_close(k);
	if (k->s == NULL)
		return err;
	err = port_segment(k, c);
	if (err < 0) {
		port_close(k);
		return err;
	}
	/* Who tells the sum of its pseudo header computes a checksum, of all that goes as one. */
	k->fused = err == 0 && xk_sess_control(k->s, XK_CTL_HEADER_SUM, &sum, sizeof sum) == sizeof sum;
	k->quick = k->fused && c->load.touch == LOAD_COPY && c->load.size <= XK_MSG_MAX_SEG;
	k->cls = (uint8_t)xk_msg_class((uint32_t)c->load.size);
	k->task.run = choose_run(k, c);
	xk_task_of(&k->task, k->s);
	sr->load.no[sr->load.n++] = i;
	port_begin(k);
	return XK_OK;
}

/* ---- life ------------------------------------------------------------------------------------- */

static int port_alloc(struct xk_rep *r, uint64_t n)
{
	struct port_rep *sr = r->state;
	uint64_t size = load_conf(r)->size;

	sr->conn_block = xk_alloc((n + 1) * sizeof *sr->conn);
	if (sr->conn_block == NULL)
		return XK_E_NOMEM;
	sr->conn = (void *)(((uintptr_t)sr->conn_block + XK_CACHELINE - 1) & ~(uintptr_t)(XK_CACHELINE - 1));
	for (uint64_t i = 0; i < size; i++)
		sr->load.page[i] = (uint8_t)(i * 7 + 1);
	return XK_OK;
}

static struct xk_task *port_task_of(struct xk_rep *r, uint32_t slot)
{
	return &((struct port_rep *)r->state)->conn[slot].task;
}

static int port_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	static const struct load_opens opens = { port_alloc, port_open_one, port_task_of };

	return load_open_all(r, e, &opens);
}

static void port_rep_stop(struct xk_rep *r)
{
	struct port_rep *sr = r->state;

	load_times_stop(&sr->load);
	for (uint32_t i = 0; i < sr->load.n; i++) {
		struct port_conn *k = &sr->conn[i];

		xk_task_park(&k->task);
		xk_timer_cancel(r->wheel, &k->timer);
		if (k->s != NULL)
			port_close(k);
	}
}

static void port_rep_fini(struct xk_rep *r)
{
	xk_free(((struct port_rep *)r->state)->conn_block);
	load_rep_fini(r);
}

static int port_check(const void *conf, char *why, size_t n)
{
	const struct port_conf *c = conf;
	int err = load_check(conf, why, n);
	const char *text = NULL;

	if (err != XK_OK)
		return err;
	if (c->segment != 0 && c->load.window != 0)
		text = "'window' counts messages, and with 'segment' it is datagrams that are answered";
	else if (c->segment != 0 && load_timed(&c->load))
		text = "with arrivals each message says when it was due, and with 'segment' it leaves in several";
	else if ((c->off != 0 || c->on != 0) && load_timed(&c->load))
		text = "with arrivals silence is arrivals = { model = \"onoff\", on = ..., off = ..., rate = ... }";
	else if (c->off != 0 && c->on == 0)
		text = "'off' needs 'on', the time between two silences";
	if (text != NULL)
		snprintf(why, n, "%s", text);
	return text != NULL ? XK_E_INVAL : XK_OK;
}

/* Another session below, of the same connection. */
static int port_move(struct xk_rep *r, const struct xk_move *m)
{
	struct port_rep *sr = r->state;
	int res = xk_asked(r, m);

	if (res <= 0)
		return res;
	for (uint32_t i = 0; i < sr->load.n; i++) {
		uint32_t at = (sr->asked + i) % sr->load.n;
		struct port_conn *k = &sr->conn[at];

		if (k->s != m->old)
			continue;
		sr->asked = at;
		if (m->now == NULL)
			return XK_OK;
		xk_task_of(&k->task, NULL);
		k->s = xk_dup(m->now);
		xk_task_fetch(&k->task, k->s, NULL);
		xk_task_of(&k->task, k->s);
		if (k->s->up != &r->up)          /* ours, that hears its answers */
			xk_container_of(k->s->up, struct xk_sess, self)->down = k->s;
		xk_close(m->old);
		return XK_OK;
	}
	return XK_E_NOENT;
}

static int port_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return op == XK_CTL_MOVE ? port_move(r, buf) : load_control(r, op, buf, len);
}

static const struct xk_ops port_ops = {
	.init = load_init, .fini = load_fini, .rep_init = load_rep_init, .rep_fini = port_rep_fini,
	.rep_start = port_rep_start, .rep_stop = port_rep_stop,
	.close_done = port_close_done, .demux = port_demux, .control = port_control, .rep_set = port_rep_set,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct port_conf, field), ##__VA_ARGS__ }

static const struct xk_param port_params[] = {
	LOAD_PARAMS_WHERE,
	LOAD_P(size, XK_P_SIZE, "64", "payload bytes of a message", .max = "65507"),
	P(segment, XK_P_SIZE, "0", "bytes of a datagram: a message leaves in as many as it takes; 0: in one", .max = "65507"),
	LOAD_P(count, XK_P_UINT, "0", "messages of each connection; the graph may end then; 0: endless"),
	LOAD_PARAMS_PACE(XK_PF_LIVE),
	P(on, XK_P_TIME, "0s", "on-off source: time of sending", .max = "1h"),
	P(off, XK_P_TIME, "0s", "on-off source: time of silence; 0s: never silent", .max = "1h"),
	P(random, XK_P_BOOL, "false", "on-off source: times are means of exponential ones"),
	LOAD_P(window, XK_P_UINT, "0", "most unanswered messages of a connection; 0: answers are not waited for", .max = "1000000"),
	P(timeout, XK_P_TIME, "1s", "window: answers that take longer are not waited for", .min = "1ms", .max = "1h"),
	LOAD_PARAMS_TOUCH,
	XK_TRAFFIC_PARAMS(load_conf),
	XK_PARAM_END
};

static const char *const port_counts[] = { "messages", "bytes", "answers", "unanswered", "closed_by_peer", NULL };

const struct xk_proto xk_proto_load_port = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "load",
	.doc = "over a port: sends messages over many connections, as fast as it can or at a rate", .ops = &port_ops,
	.needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = port_params, .conf_size = sizeof(struct port_conf),
	.node_size = sizeof(struct load_node), .rep_size = sizeof(struct port_rep),
	.sess_size = sizeof(struct port_sess),
	.check = port_check, .counts = port_counts,
	.review = load_review,
};
