/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_trace.c - the way of the next N messages through a node and what lies beyond it.
 *
 * Every node has a tap while the trace is on; off, there is nothing.  A message is followed
 * from the node that was named: upwards by the nodes above it, downwards by those below.  A
 * descriptor that was freed is another message's soon, so it alone proves nothing: each step
 * has to lead further down or up the graph, and the bytes to be where they were, with headers
 * put before them or taken off.  A way ends at the device, and where a stream begins: below it
 * are segments, not what was written.  Taps write into a ring under a lock; headers are decoded
 * by the server's thread.
 * Invariant: nothing is freed before its last call has returned (xk_capture_detach).
 */
#include "tools/control/ctl_trace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RING   1024u             /* steps waiting to be shown; more are counted as missed */
#define BYTES  96u               /* of a message, kept for its headers */
#define FOLLOW 64u               /* messages on their way at once */
#define LINGER (100 * XK_MS)     /* for the last message's way */
#define HEADER 128               /* bytes that one layer puts before a message, at most */

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
	const struct xk_msg  *m;         /* NULL: its way is over */
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
	struct step     ring[RING];
	unsigned        first, n;
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

static struct followed *begin(struct trace *t, const struct xk_node *n, const struct xk_msg *m, bool down)
{
	struct followed *f = &t->follow[t->begun % FOLLOW];

	for (unsigned i = 0; i < FOLLOW; i++)
		if (t->follow[i].m == m)
			t->follow[i].m = NULL;
	if (t->left == 0)
		return NULL;
	*f = (struct followed){ m, m->data, n, ++t->begun, xk_clock_host(), down };
	if (--t->left == 0)
		t->over = f->at;
	return f;
}

/* Not only right over it: a layer whose sessions let messages by is not on their way. */
static bool lies_over(const struct xk_node *n, const struct xk_node *below)
{
	for (unsigned i = 0; i < n->ndown; i++)
		if (n->down[i] == below || lies_over(n->down[i], below))
			return true;
	return false;
}

/* Is what node n sees in the descriptor the message that f is on the way of? */
static bool same_message(const struct followed *f, const struct xk_node *n, const struct xk_msg *m, bool down)
{
	const struct xk_node *from = f->last;
	ptrdiff_t off = down ? f->data - m->data : m->data - f->data;

	if (f->down != down || !(down ? lies_over(from, n) : lies_over(n, from)))
		return false;
	return off >= 0 && off <= HEADER && !(down && xk_node_offers(n, "stream"));
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
		return f;
	}
	return NULL;
}

static bool note(struct trace *t, const struct xk_node *n, const struct followed *f, xk_ns now, const struct xk_msg *m)
{
	struct step *s = &t->ring[(t->first + t->n) % RING];

	if (t->n == RING) {
		t->missed++;
		return false;
	}
	*s = (struct step){ .message = f->no, .node = n, .now = now, .since = xk_clock_host() - f->at, .tot = m->tot,
			    .len = m->tot < BYTES ? m->tot : BYTES, .vp = xk_vp_no, .down = f->down, .first = n == t->node };
	xk_msg_copy_out(m, 0, s->bytes, s->len);
	return t->n++ == 0;
}

static void tap_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct tap *tap = xk_container_of(c, struct tap, c);
	struct trace *t = tap->t;
	struct followed *f;
	bool wake = false;
	struct ctl *server;

	xk_mutex_lock(&t->lock);
	server = t->j.c;
	f = tap->n == t->node ? begin(t, tap->n, m, down) : go_on(t, tap->n, m, down);
	if (f != NULL)
		wake = note(t, tap->n, f, now, m);
	if (f != NULL && down && (tap->n->ndown == 0 || xk_node_is_edge(tap->n)))
		f->m = NULL;             /* the device has it */
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
		t->first = (t->first + 1) % RING;
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
	for (unsigned i = 0; i < g->nnodes; i++)
		if (g->node[i] != t->node)
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
	t->tap = xk_alloc(g->nnodes * sizeof *t->tap);
	if (t->tap == NULL) {
		trace_free(&t->j);
		return ctl_fail(k, "no-memory", "out of memory");
	}
	attach_all(t, g);
	k->job = &t->j;
	return XK_OK;
}
