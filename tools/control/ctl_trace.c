/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_trace.c - the way of the next N messages through a node and what lies beyond it.
 *
 * Every node has a tap while the trace is on; off, there is nothing.  A message is followed
 * from the node that was named: upwards by the nodes above it, downwards by those below, over a
 * cable in memory and up on the other side.  What tells it from others is its stamp, bytes that
 * no layer changes: the first and last of them, with IP's identification and the transport's
 * numbers where they are in them.  Each step has to lead further down or up the graph, and the
 * stamp to be where it was, with headers put before it or taken off.  The descriptor says only
 * where to look on one host, for it is another message's as soon as it is freed; on the other
 * side of a cable it is another one, and the frame is the oldest that has the stamp.  A way ends
 * at the device without a cable, and where a stream begins: below it are segments, not what was
 * written.  Taps write into a ring under a lock; headers are decoded by the server's thread.
 * Invariant: nothing is freed before its last call has returned (xk_capture_detach).
 */
#include "tools/control/ctl_trace.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_change.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS  16u               /* of a message, for which there is room: down, over a cable, up */
#define RING   16384u            /* steps waiting to be shown, at most; more are counted as missed */
#define BYTES  96u               /* of a message, kept for its headers */
#define FOLLOW 64u               /* messages on their way at once */
#define LINGER (100 * XK_MS)     /* for the last message's way */
#define HEADER 128               /* bytes that one layer puts before a message, at most */
#define STAMP  64                /* bytes that are compared */

struct step {
	uint64_t message;
	const struct xk_node *node;
	xk_ns    now, since;
	uint32_t tot, len;
	uint16_t vp;
	bool     down, first;
	uint8_t  bytes[BYTES];
};

struct stamp { uint32_t tot; uint8_t head[HEADER + STAMP], tail[STAMP]; };

struct followed {
	const struct xk_msg  *m;         /* NULL: its way is over, or it is on a cable */
	const struct xk_node *towards;   /* the cable's other end, or NULL */
	struct stamp          stamp;     /* of the last step */
	const uint8_t        *data;      /* where its bytes were at the last step */
	const struct xk_node *last;
	uint64_t              no;
	xk_ns                 at;
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

static void stamp_of(const struct xk_msg *m, struct stamp *s)
{
	memset(s, 0, sizeof *s);
	s->tot = m->tot;
	xk_msg_copy_out(m, 0, s->head, sizeof s->head);
	xk_msg_copy_out(m, m->tot > STAMP ? m->tot - STAMP : 0, s->tail, STAMP);
}

/* Does the longer one have what the shorter one begins with, `off` bytes from its beginning? */
static bool stamps_meet(const struct stamp *longer, const struct stamp *shorter, uint32_t off)
{
	uint32_t n = shorter->tot < STAMP ? shorter->tot : STAMP;

	return off + n <= longer->tot && memcmp(longer->head + off, shorter->head, n) == 0;
}

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

/* The other device on the cable that x is on, or NULL. */
static const struct xk_node *peer_of(const struct xk_node *x)
{
	for (unsigned i = 0; i < x->graph->nnodes; i++) {
		const struct xk_node *y = x->graph->node[i];

		if (y != x && y->proto->is_driver && wire_of(y) != NULL && strcmp(wire_of(x), wire_of(y)) == 0)
			return y;
	}
	return NULL;
}

/* Where frames of a device come in: at itself, or at what stands over it for the graph. */
static const struct xk_node *entrance(const struct xk_node *x)
{
	for (unsigned i = 0; i < x->graph->nnodes; i++) {
		const struct xk_node *y = x->graph->node[i];

		if (!xk_node_is_edge(x) && xk_node_is_edge(y) && lies_over(y, x))
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

static struct followed *begin(struct trace *t, const struct xk_node *n, const struct xk_msg *m, bool down)
{
	struct followed *f = &t->follow[t->begun % FOLLOW];

	for (unsigned i = 0; i < FOLLOW; i++)
		if (t->follow[i].m == m)
			t->follow[i].m = NULL;
	if (t->left == 0)
		return NULL;
	*f = (struct followed){ .m = m, .data = m->data, .last = n, .no = ++t->begun, .at = xk_clock_host(), .down = down };
	stamp_of(m, &f->stamp);
	if (--t->left == 0)
		t->over = f->at;
	return f;
}

/* Is what node n sees in the descriptor the message that f is on the way of? */
static bool same_message(const struct followed *f, const struct xk_node *n, const struct xk_msg *m, bool down)
{
	const struct xk_node *from = f->last;
	ptrdiff_t off = down ? f->data - m->data : m->data - f->data;
	struct stamp s;

	if (f->down != down || !(down ? lies_over(from, n) : lies_over(n, from)))
		return false;
	if (off < 0 || off > HEADER || (down && xk_node_offers(n, "stream")))
		return false;
	stamp_of(m, &s);
	return down ? stamps_meet(&s, &f->stamp, (uint32_t)off) : stamps_meet(&f->stamp, &s, (uint32_t)off);
}

/* The frame that came over a cable to n: the oldest that went there and has its stamp. */
static struct followed *comes_in(struct trace *t, const struct xk_node *n, const struct xk_msg *m)
{
	struct followed *old = NULL;
	struct stamp s;

	stamp_of(m, &s);
	for (unsigned i = 0; i < FOLLOW; i++) {
		struct followed *f = &t->follow[i];

		if (f->towards == n && (old == NULL || f->no < old->no) && memcmp(&f->stamp, &s, sizeof s) == 0)
			old = f;
	}
	if (old == NULL)
		return NULL;
	old->towards = NULL;
	old->m = m;
	old->data = m->data;
	old->last = n;
	old->down = false;
	return old;
}

static struct followed *go_on(struct trace *t, const struct xk_node *n, const struct xk_msg *m, bool down)
{
	for (unsigned i = 0; i < FOLLOW; i++) {
		struct followed *f = &t->follow[i];

		if (f->m != m)
			continue;
		if (!same_message(f, n, m, down)) {
			f->m = NULL;
			return NULL;
		}
		f->last = n;
		f->data = m->data;
		stamp_of(m, &f->stamp);
		return f;
	}
	return NULL;
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
	struct followed *f;
	bool wake = false;
	struct ctl *server;

	xk_mutex_lock(&t->lock);
	server = t->j.c;
	f = !down && is_lowest(tap->n) ? comes_in(t, tap->n, m) : NULL;
	if (f == NULL)
		f = tap->n == t->node ? begin(t, tap->n, m, down) : go_on(t, tap->n, m, down);
	if (f != NULL)
		wake = note(t, tap->n, f, now, m);
	if (f != NULL && down && is_lowest(tap->n)) {
		f->m = NULL;             /* the device has it */
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
