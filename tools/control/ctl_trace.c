/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_trace.c - the way of the next N messages through a node and what lies beyond it.
 *
 * Every node has a tap while the trace is on; off, there is nothing.  A message is followed
 * from the node that was named: upwards by the nodes above it, downwards by those below, over a
 * cable in memory and up on the other side.  What tells it from others is its stamp (ctl_stamp.h)
 * and nothing else: neither its descriptor nor where its bytes lie, so it may be copied, kept and
 * sent later, be cut into fragments, whose first one goes on, and be joined again.  Each step has
 * to lead further down or up the graph.  A thread takes one message from layer to layer before it
 * takes the next, so its step before, of a message that is followed or of one that is not, says
 * whose this one is.  Where a message had waited the step before is another's; then it is one that
 * was seen last at the next layer with sessions, and of several with the stamp one that has all of
 * it, one of this virtual processor, the oldest.  Down it is sent by one.  A way ends at the
 * device without a cable, and where a stream begins: below it are segments, not what was
 * written.  Taps write into a ring under a lock; headers are decoded by the server's thread.
 * Invariant: nothing is freed before its last call has returned (xk_capture_detach).
 */
#include "tools/control/ctl_trace.h"
#include "tools/control/ctl_stamp.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_change.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS  16u               /* of a message, for which there is room: down, over a cable, up */
#define RING   16384u            /* steps waiting to be shown, at most; more are counted as missed */
#define BYTES  96u               /* of a message, kept for its headers */
#define FOLLOW 64u               /* messages on their way at once */
#define THREADS 128u             /* whose last step is known; of more, some are not */
#define LINGER (100 * XK_MS)     /* for the last message's way */

struct step {
	uint64_t message;
	const struct xk_node *node;
	xk_ns    now, since;
	uint32_t tot, len;
	uint16_t vp;
	bool     down, first;
	uint8_t  bytes[BYTES];
};

struct followed {
	const struct xk_node *last;      /* NULL: its way is over, or it is on a cable */
	const struct xk_node *towards;   /* the cable's other end, or NULL */
	struct ctl_stamp      stamp;     /* of the last step */
	uint64_t              no;
	xk_ns                 at;
	uint16_t              vp;        /* of the last step */
	bool                  down;
};

/* The last that passed in a thread. */
struct seen {
	const void           *thread;    /* NULL: nobody's yet */
	const struct xk_node *at;        /* NULL: nothing has */
	struct followed      *f;         /* whose it was, as long as it is of this number; NULL: nobody's */
	uint64_t              no;
	struct ctl_stamp      stamp;
	bool                  down;
};

struct trace;
struct tap { struct xk_capture c; struct trace *t; struct xk_node *n; };

struct trace {
	struct ctl_job  j;
	struct xk_mutex lock;            /* guards all below; innermost */
	struct step    *ring;            /* [room] */
	unsigned        room, first, n;
	uint64_t        left, begun, missed;
	xk_ns           over;            /* when left became 0 */
	struct followed follow[FOLLOW];
	struct seen     seen[THREADS];
	struct xk_node *node;
	struct tap     *tap;
	unsigned        ntaps;
};

void ctl_wake(struct ctl *c)
{
	uint64_t one = 1;

	(void)!write(c->wake_fd, &one, sizeof one);
}

void ctl_job_end(struct ctl_job *j)
{
	json_decref(j->id);
	xk_free(j);
}

bool ctl_plain_file(struct ctl_call *k, const char *path, bool must_be)
{
	struct stat st;

	if (path[0] != '/')
		ctl_fail(k, "bad-argument", "'file' needs a path that begins with /");
	else if (stat(path, &st) != 0 ? must_be : !S_ISREG(st.st_mode))
		ctl_fail(k, "bad-argument", "'%s' is %s", path, must_be ? "no file that is there" : "there and is not a plain file");
	else
		return true;
	return false;
}

/* ---- in the graph's threads ---------------------------------------------------------------- */

static const char *wire_of(const struct xk_node *n)
{
	const struct xk_param *p = n->proto->params != NULL ? xk_param_find(n->proto->params, "wire") : NULL;

	return p != NULL && p->type == XK_P_TEXT ? *(const char *const *)(const void *)((const char *)n->conf + p->offset) : NULL;
}

/* Not only right over it: a layer whose sessions let messages by is not on their way. */
static bool lies_over(const struct xk_node *n, const struct xk_node *below)
{
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i] == below || lies_over(n->down[i], below))
			return true;
	return false;
}

static bool passes_by(const struct xk_ops *ops) { return ops->push == NULL && ops->pop == NULL; }

/* Nothing between has sessions that messages would have passed: those of arp only say where to. */
static bool lies_next_over(const struct xk_node *n, const struct xk_node *below)
{
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i] == below || (passes_by(n->down[i]->proto->ops) && lies_next_over(n->down[i], below)))
			return true;
	return false;
}

/* The other device on the cable that x is on, or NULL. */
static const struct xk_node *peer_of(const struct xk_node *x)
{
	for (unsigned i = 0; i < xk_graph_slots(x->graph); i++) {
		const struct xk_node *y = xk_graph_slot(x->graph, i);

		if (y != NULL && y != x && y->proto->is_driver && wire_of(y) != NULL && strcmp(wire_of(x), wire_of(y)) == 0)
			return y;
	}
	return NULL;
}

/* Where frames of a device come in: at itself, or at what stands over it for the graph. */
static const struct xk_node *entrance(const struct xk_node *x)
{
	for (unsigned i = 0; i < xk_graph_slots(x->graph); i++) {
		const struct xk_node *y = xk_graph_slot(x->graph, i);

		if (y != NULL && !xk_node_is_edge(x) && xk_node_is_edge(y) && lies_over(y, x))
			return y;
	}
	return x;
}

/* Where frames that n, the lowest node, sends come in, on the cable below; NULL: there is none. */
static const struct xk_node *other_end(const struct xk_node *n)
{
	while (wire_of(n) == NULL && n->ndown != 0)
		n = n->down[0];
	n = wire_of(n) != NULL ? peer_of(n) : NULL;
	return n != NULL ? entrance(n) : NULL;
}

/* It has been seen at n. */
static struct followed *step_to(struct followed *f, const struct xk_node *n, const struct ctl_stamp *s, bool down)
{
	f->last = n;
	f->towards = NULL;
	f->stamp = *s;
	f->vp = xk_vp_no;
	f->down = down;
	return f;
}

static struct followed *begin(struct trace *t, const struct xk_node *n, const struct ctl_stamp *s, bool down)
{
	struct followed *f = &t->follow[t->begun % FOLLOW];

	if (t->left == 0)
		return NULL;
	*f = (struct followed){ .no = ++t->begun, .at = xk_clock_host() };
	if (--t->left == 0)
		t->over = f->at;
	return step_to(f, n, s, down);
}

/* May the way of f go on at n, which it leads to? */
static bool goes_on(const struct followed *f, const struct xk_node *n, bool down)
{
	return f->last != NULL && f->down == down && !(down && (f->vp != xk_vp_no || xk_node_offers(n, "stream")));
}

/* The frame that came over a cable to n: the oldest that went there and has its stamp, or the super-segment whose
 * first frame it is. */
static struct followed *comes_in(struct trace *t, const struct xk_node *n, const struct ctl_stamp *s)
{
	struct followed *old = NULL;
	unsigned differ = UINT32_MAX;

	for (unsigned i = 0; i < FOLLOW; i++) {
		struct followed *f = &t->follow[i];
		unsigned d;

		if (f->towards != n)
			continue;
		d = ctl_stamp_same(&f->stamp, s) ? 0 : ctl_stamp_cut(&f->stamp, s);
		if (d == UINT32_MAX || d > differ || (d == differ && f->no > old->no))
			continue;
		old = f;
		differ = d;
	}
	return old != NULL ? step_to(old, n, s, false) : NULL;
}

static enum ctl_meets meets(const struct ctl_stamp *from, const struct ctl_stamp *to, bool down)
{
	return down ? ctl_stamp_meets(to, from) : ctl_stamp_meets(from, to);
}

static _Thread_local char me;

static struct seen *seen_by_me(struct trace *t)
{
	unsigned i = 0;

	while (i < THREADS - 1 && t->seen[i].thread != NULL && t->seen[i].thread != &me)
		i++;
	if (t->seen[i].thread != &me)
		t->seen[i] = (struct seen){ .thread = &me };
	return &t->seen[i];
}

/* Does what is seen at n go on from the step before it? */
static bool is_next(const struct seen *was, const struct xk_node *n, const struct ctl_stamp *s, bool down)
{
	if (was->at == NULL || was->down != down || !(down ? lies_over(was->at, n) : lies_over(n, was->at)))
		return false;
	return meets(&was->stamp, s, down) != CTL_MEETS_NOT;
}

/* What had waited. */
static struct followed *find(struct trace *t, const struct xk_node *n, const struct ctl_stamp *s, bool down)
{
	struct followed *best = NULL;
	unsigned most = 0;

	for (unsigned i = 0; i < FOLLOW; i++) {
		struct followed *f = &t->follow[i];
		enum ctl_meets how = CTL_MEETS_NOT;
		unsigned rank;

		if (goes_on(f, n, down) && (down ? lies_next_over(f->last, n) : lies_next_over(n, f->last)))
			how = meets(&f->stamp, s, down);
		rank = how == CTL_MEETS_NOT ? 0 : 2 * how + (f->vp == xk_vp_no);

		if (rank < most || rank == 0 || (rank == most && f->no > best->no))
			continue;
		best = f;
		most = rank;
	}
	return best;
}

static struct followed *go_on(struct trace *t, const struct xk_node *n, const struct ctl_stamp *s, bool down)
{
	const struct seen *was = seen_by_me(t);
	struct followed *f;

	if (!is_next(was, n, s, down))
		f = find(t, n, s, down);
	else
		f = was->f != NULL && was->f->no == was->no && goes_on(was->f, n, down) ? was->f : NULL;
	return f != NULL ? step_to(f, n, s, down) : NULL;
}

static bool note(struct trace *t, const struct xk_node *n, const struct followed *f, xk_ns now, const struct xk_msg *m)
{
	struct step *s = &t->ring[(t->first + t->n) % t->room];

	if (t->n == t->room) {
		t->missed++;
		return false;
	}
	*s = (struct step){ .message = f->no, .node = n, .now = now, .since = xk_clock_host() - f->at, .tot = m->tot,
			    .len = m->tot < BYTES ? m->tot : BYTES, .vp = xk_vp_no, .down = f->down, .first = n == t->node };
	xk_msg_copy_out(m, 0, s->bytes, s->len);
	return t->n++ == 0;
}

static bool is_lowest(const struct xk_node *n) { return n->ndown == 0 || xk_node_is_edge(n); }

static void tap_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct tap *tap = xk_container_of(c, struct tap, c);
	struct trace *t = tap->t;
	struct ctl_stamp s;
	struct followed *f;
	bool wake = false;
	struct ctl *server;

	ctl_stamp_of(m, &s);
	xk_mutex_lock(&t->lock);
	server = t->j.c;
	f = !down && is_lowest(tap->n) ? comes_in(t, tap->n, &s) : NULL;
	if (f == NULL)
		f = tap->n == t->node ? begin(t, tap->n, &s, down) : go_on(t, tap->n, &s, down);
	*seen_by_me(t) = (struct seen){ &me, tap->n, f, f != NULL ? f->no : 0, s, down };
	if (f != NULL)
		wake = note(t, tap->n, f, now, m);
	if (f != NULL && down && is_lowest(tap->n)) {
		f->last = NULL;          /* the device has it */
		f->towards = other_end(tap->n);
	}
	xk_mutex_unlock(&t->lock);
	if (wake)
		ctl_wake(server);
}

/* ---- in the server's ------------------------------------------------------------------------- */

static bool take(struct trace *t, struct step *s)
{
	bool any;

	xk_mutex_lock(&t->lock);
	any = t->n != 0;
	if (any) {
		*s = t->ring[t->first];
		t->first = (t->first + 1) % t->room;
		t->n--;
	}
	xk_mutex_unlock(&t->lock);
	return any;
}

static json_t *step_json(const struct step *s)
{
	json_t *o = json_object();

	ctl_put(o, "message", s->message);
	json_object_set_new(o, "node", ctl_string(s->node->name));
	ctl_put(o, "vp", s->vp);
	json_object_set_new(o, "way", json_string(s->down ? "down" : "up"));
	ctl_put(o, "bytes", s->tot);
	ctl_put(o, "clock_ns", s->now);
	ctl_put(o, "since_ns", s->since);
	json_object_set_new(o, "headers", ctl_decode(s->node, s->bytes, s->len, s->first));
	return o;
}

static bool trace_step(struct ctl_job *j)
{
	struct trace *t = xk_container_of(j, struct trace, j);
	xk_ns now = xk_clock_host();
	struct step s;
	bool over;

	while (ctl_client_unread(j->client) < CTL_OUT_HIGH && take(t, &s))
		ctl_event(j->c, j->client, j->id, step_json(&s));
	xk_mutex_lock(&t->lock);
	over = t->n == 0 && (now >= j->until || (t->left == 0 && now >= t->over + LINGER));
	xk_mutex_unlock(&t->lock);
	if (over)
		ctl_answer(j->c, j->client, j->id, json_pack("{s:I, s:I}", "messages", (json_int_t)t->begun, "missed",
							     (json_int_t)t->missed));
	return over;
}

static void trace_free(struct ctl_job *j)
{
	struct trace *t = xk_container_of(j, struct trace, j);

	for (unsigned i = 0; i < t->ntaps; i++)
		xk_capture_detach(t->tap[i].n, &t->tap[i].c);
	/* Nobody is in tap_fn any more; whoever watches for races knows it by the lock. */
	xk_mutex_lock(&t->lock);
	xk_mutex_unlock(&t->lock);
	xk_free(t->tap);
	xk_free(t->ring);
	xk_mutex_fini(&t->lock);
	ctl_job_end(j);
}

_Static_assert(offsetof(struct trace, j) == 0, "ctl_job_end frees it");

static void attach(struct trace *t, struct xk_node *n)
{
	struct tap *tap = &t->tap[t->ntaps++];

	*tap = (struct tap){ .c = { .fn = tap_fn }, .t = t, .n = n };
	xk_capture_attach(n, &tap->c);
}

/* The node that messages are followed from comes last: by then all the others look. */
static void attach_all(struct trace *t, const struct xk_graph *g)
{
	for (unsigned i = 0; i < xk_graph_slots(g); i++)
		if (xk_graph_slot(g, i) != NULL && g->node[i] != t->node)
			attach(t, g->node[i]);
	attach(t, t->node);
}

int ctl_cmd_trace(struct ctl_call *k)
{
	struct xk_graph *g = k->c->g;
	struct xk_node *n = ctl_node(k, k->a.node);
	struct trace *t;

	if (n == NULL)
		return XK_E_NOENT;
	if (n->proto->offers == NULL)
		return ctl_fail(k, "refused", "nothing passes through '%s', which is on top: trace what it lies over", n->name);
	t = xk_alloc(sizeof *t);
	if (t == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	xk_mutex_init(&t->lock);
	t->j = (struct ctl_job){ .step = trace_step, .free = trace_free, .c = k->c, .until = xk_clock_host() + k->a.time };
	t->left = k->a.count;
	t->node = n;
	t->tap = xk_alloc(xk_graph_slots(g) * sizeof *t->tap);
	t->room = k->a.count < RING / STEPS ? (unsigned)k->a.count * STEPS : RING;
	t->ring = xk_alloc(t->room * sizeof *t->ring);
	if (t->tap == NULL || t->ring == NULL) {
		trace_free(&t->j);
		return ctl_fail(k, "no-memory", "out of memory");
	}
	attach_all(t, g);
	k->job = &t->j;
	return XK_OK;
}
