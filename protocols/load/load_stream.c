/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load_stream.c - sends messages over many streams, from each VP those that are mapped
 * to it, and knows when all has arrived.
 *
 * Every connection is a task: one unit of work is a burst of messages, and the
 * VP runs its tasks in turn.  A task sleeps while its stream has no room, or
 * until its rate allows the next message, or one is due (load_times.c).  A message is written from a static page, and
 * what the stream does not take of it goes later; where the layer below wants messages it is pushed whole.  After its last message a connection ends
 * its side and is done when the peer has acknowledged everything; the graph may end when all are
 * done.  With `again` it is opened anew once both sides have ended, for as many messages more.
 * With a window the peer sends back as many bytes as it gets (tcpecho), a connection whose
 * window is full of unanswered messages sleeps, and one message in about 32 is timed.
 * Invariant: a task is ready only while its connection stands and has messages
 * left; a connection is done at most once.
 */
#include "protocols/load/load.h"
#include "protocols/stream/stream_app.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_thread.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#include <stdio.h>

enum { N_MESSAGES, N_BYTES, N_RECEIVED, N_OPENED, N_DRAINED, N_REFUSED, N_RESET, N_FAILED, N_REOPENED };
				 /* ORDER send_counts */
enum { DROP_STRAY = XK_DROP_FIRST };

struct send_conf {
	struct load_conf load;
	uint64_t         reconnect;
};

struct send_rep;
/* A connection from start to stop; the transport's session comes and goes. */
struct send_conn {
	struct xk_sess   s;              /* its `self` is the up of s.down */
	/* Up to `quick`, two lines, is all that a unit touches. */
	struct xk_task   task;
	uint64_t         left;           /* messages still to send */
	uint32_t         slot;           /* in the replica's arrays */
	union {
		uint32_t room;           /* messages are pushed: bytes that the stream takes without being asked again */
		uint32_t at;             /* they are written: bytes of the next one that are gone */
	};
	struct xk_sess  *stream;         /* s.down */
	struct send_rep *sr;
	bool             open;           /* it stands */
	bool             quick;          /* messages are written, no rate, no window */
	bool             writes;         /* messages are written, not pushed */
	bool             shorts;         /* they are, and short, and no window */
	bool             ending;         /* our side is ended, acknowledgements are waited for */
	bool             done;
	bool             peer_ended;
	bool             begun;          /* window: the message that goes next is counted in `sent` */
	uint64_t         sent, back;     /* window: bytes there and back again */
	uint64_t         mark;           /* the timed message is answered when so many are back; 0: none is timed */
	xk_ns            mark_at;
	uint32_t         mark_in;        /* messages before the next one is */
	xk_ns            since;          /* rate: from here on counted ... */
	uint64_t         paced;          /* ... were so many sent */
	xk_ns            began;          /* arrivals: work on the message that goes next, if it is begun */
	struct xk_timer  timer;          /* rate; time to open again */
};
#ifndef XK_DEBUG
_Static_assert(offsetof(struct send_conn, task) % XK_CACHELINE == 0 &&
	       offsetof(struct send_conn, quick) < offsetof(struct send_conn, task) + 2 * XK_CACHELINE, "two lines a unit");
#endif

struct send_rep {
	struct load_rep    load;
	struct send_conn **conn;         /* [n] */
};

static const struct send_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct send_conn *conn_of(struct xk_sess *s) { return (struct send_conn *)(void *)s; }

/* ---- the end of a connection ------------------------------------------------------ */

/* Gives the stream back; what is queued is still sent. */
static void send_close(struct send_conn *k)
{
	struct xk_sess *lls = k->s.down;

	xk_task_park(&k->task);
	xk_timer_cancel(k->sr->load.r->wheel, &k->timer);
	load_rises(&k->sr->load, k->slot);
	k->open = false;
	k->s.down = k->stream = NULL;
	k->room = 0;
	xk_task_of(&k->task, NULL);
	xk_task_fetch(&k->task, &k->task, NULL);
	lls->up = &k->sr->load.r->up;
	xk_close(lls);
}

static void send_done(struct send_conn *k)
{
	if (k->done)
		return;
	k->done = true;
	load_done(&k->sr->load);
}

/* Both sides have ended, all is acknowledged. */
static void send_over(struct send_conn *k)
{
	send_close(k);
	if (load_conf(k->sr->load.r)->again)
		xk_task_ready(&k->task);         /* send_anew, in its turn */
}

/* All has been pushed: FIN behind it. */
static void send_end(struct send_conn *k)
{
	xk_task_park(&k->task);
	k->ending = true;
	xk_sess_control(k->s.down, XK_STREAM_SHUTDOWN, NULL, 0);
}

static void send_drained(struct send_conn *k)
{
	if (!k->ending || k->done)
		return;                  /* a pause, not the end */
	xk_count(k->sr->load.r->count[N_DRAINED]);
	send_done(k);
	if (k->peer_ended)
		send_over(k);
}

/* ---- pacing ------------------------------------------------------------------------- */

/* Messages that the rate allows now; 0 after putting the connection to sleep. */
static uint64_t send_allowed(struct send_conn *k, const struct send_conf *c)
{
	xk_ns now = xk_vp_now(), t = now - k->since;
	uint64_t due;

	if (c->load.rate == 0)
		return UINT64_MAX;
	due = load_due(&c->load, t);
	if (due > k->paced)
		return due - k->paced;
	xk_task_park(&k->task);
	xk_timer_set(k->sr->load.r->wheel, &k->timer, now + XK_SEC / c->load.rate);
	return 0;
}

/* ---- answers -------------------------------------------------------------------------- */

/* Messages that the window allows now; 0 after putting the connection to sleep. */
static uint64_t send_window(struct send_conn *k, const struct send_conf *c)
{
	uint64_t open = (k->sent - k->back + c->load.size - 1) / c->load.size;

	if (open < c->load.window)
		return c->load.window - open;
	xk_task_park(&k->task);
	return 0;
}

/* A message goes next: perhaps it is timed. */
static void send_marked(struct send_conn *k, const struct send_conf *c)
{
	k->sent += c->load.size;
	if (k->mark != 0 || k->mark_in-- != 0)
		return;
	k->mark_in = xk_app_probe_gap(xk_vp_rand(k->sr->load.r->vp));
	k->mark = k->sent;
	k->mark_at = xk_vp_clock(k->sr->load.r->vp);
}

static void send_answered(struct send_conn *k, uint32_t bytes)
{
	k->back += bytes;
	if (k->back > k->sent)           /* a peer that says more than it was told */
		k->back = k->sent;
	if (k->mark != 0 && k->back >= k->mark) {
		xk_hist_add(k->sr->load.rtt, xk_vp_clock(k->sr->load.r->vp) - k->mark_at);
		k->mark = 0;
	}
	if (!k->open || k->ending)
		return;
	if (k->left != 0)
		xk_task_ready(&k->task);
	else if (k->back >= k->sent)
		send_end(k);
}

#define FRAME 1024u              /* as many bytes as are one, or less, where frames are counted */

/* 2^this messages of so many bytes make a frame, or less. */
static uint8_t send_several(uint64_t size)
{
	return (uint8_t)(size < FRAME ? 63 - __builtin_clzll(FRAME / size) : 0);
}

static void send_begin(struct send_conn *k)
{
	const struct send_conf *c = conf_of(k->sr->load.r);

	k->since = xk_vp_now();
	k->paced = 0;
	k->room = 0;
	k->sent = k->back = k->mark = 0;
	k->begun = false;
	k->writes = c->load.touch == LOAD_COPY && stream_takes_bytes(k->s.down);
	k->quick = k->writes && c->load.rate == 0 && c->load.window == 0;
	k->task.several = k->quick && !load_timed(&c->load) ? send_several(c->load.size) : 0;
	k->shorts = k->writes && c->load.window == 0 && stream_writer_pays(k->s.down, (uint32_t)c->load.size);
	if (load_timed(&c->load) && load_when(&k->sr->load, k->slot) == XK_NS_NEVER)
		k->left = 0;             /* its trace has been played, or says nothing of it */
	xk_task_ready(&k->task);
}

/* ---- one unit -------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) struct xk_msg *send_make(const struct send_conn *k, const struct send_conf *c)
{
	struct xk_msg *m;

	if (c->load.touch == LOAD_COPY)
		return stream_copy(k->sr->load.page, (uint32_t)c->load.size);
	m = xk_msg_new((uint32_t)c->load.size);
	if (XK_LIKELY(m != NULL) && c->load.touch == LOAD_LINE)
		load_touch(m);
	return m;
}

/* The stream has not taken all: it knows when it is worth asking again. */
static XK_NOINLINE void send_short(struct send_conn *k)
{
	if (k->stream == NULL)
		return;                  /* it has ended */
	if (stream_room(k->stream) == 0)
		xk_task_park(&k->task);  /* WRITABLE wakes it */
	else
		xk_dropped(k->sr->load.r, XK_DROP_NOMEM, 1);
}

/* Writes a message, or the rest of one; false: a part is left. */
static inline bool send_write(struct send_conn *k, const struct send_conf *c)
{
	uint32_t left = (uint32_t)c->load.size - k->at, took;

	took = stream_write_some(k->stream, k->sr->load.page + k->at, left);
	k->at = took == left ? 0 : k->at + took;
	return took == left;
}

/* Pushes one, due: that says when it was; false: it cannot go now. */
static inline bool send_push(struct send_conn *k, const struct send_conf *c, bool due)
{
	struct xk_sess *lls = k->stream;
	struct xk_msg *m;

	if (k->room == 0 && (k->room = stream_room(lls)) == 0)
		return false;
	m = send_make(k, c);
	if (XK_UNLIKELY(m == NULL)) {
		k->room = 0;
		return false;
	}
	if (due)
		load_stamp_copy(&k->sr->load, m);
	k->room -= k->room < m->tot ? k->room : m->tot;
	xk_push(lls, m);
	return true;
}

/* Many short ones.  A write may end the connection. */
static uint64_t send_shorts(struct send_conn *k, const struct send_conf *c, uint64_t n)
{
	const uint8_t *const page = k->sr->load.page, *from = page + k->at;
	const uint32_t size = (uint32_t)c->load.size;
	uint32_t left = size - k->at, took;
	struct xk_sess *lls = k->stream;
	struct stream_writer w;
	uint64_t i;

	k->at = 0;
	stream_writer_begin(&w, lls);
	for (i = 0; i < n; from = page, left = size) {
		took = stream_writer_put(&w, from, left);
		if (XK_UNLIKELY(took != left)) {
			k->at = size - left + took;
			send_short(k);
			return i;
		}
		if (XK_UNLIKELY(k->stream != lls))
			return i + 1;
		i++;
		/* What decides how a message is copied is decided once for all of these. */
		if (size < STREAM_WRITER_SUM)
			for (; i < n && stream_writer_joins(&w, size); i++)
				stream_writer_join(&w, page, size);
		else
			for (; i < n && stream_writer_joins(&w, size); i++)
				stream_writer_join(&w, page, size);
	}
	stream_writer_end(&w);
	return i;
}

/* At most n messages while there is room; returns how many.  The last may end the
 * connection; k itself stays. */
static uint64_t send_some(struct send_conn *k, const struct send_conf *c, uint64_t n)
{
	struct xk_sess *lls = k->stream;
	bool writes = k->writes;
	uint64_t i;

	for (i = 0; i < n && k->stream == lls; i++) {
		if (c->load.window != 0 && !k->begun)
			send_marked(k, c);
		k->begun = true;
		if (XK_UNLIKELY(!(writes ? send_write(k, c) : send_push(k, c, false)))) {
			send_short(k);
			break;
		}
		k->begun = false;
	}
	return i;
}

static inline void send_count(struct send_rep *sr, uint32_t slot, uint64_t n, uint64_t bytes)
{
	xk_count_add(sr->load.messages[slot], n);
	xk_count_add(sr->load.bytes[slot], bytes);
	xk_count_add(sr->load.r->count[N_MESSAGES], n);
	xk_count_add(sr->load.r->count[N_BYTES], bytes);
}

static unsigned send_anew(struct send_conn *k);

static XK_APART unsigned send_run_any(struct send_conn *k, const struct send_conf *c, uint64_t n)
{
	uint64_t allowed;

	if (k->s.down == NULL)
		return send_anew(k);
	allowed = send_allowed(k, c);
	n = n < allowed ? n : allowed;
	if (c->load.window != 0 && n != 0 && (allowed = send_window(k, c)) < n)
		n = allowed;
	n = n < k->left ? n : k->left;
	n = k->shorts ? send_shorts(k, c, n) : send_some(k, c, n);
	send_count(k->sr, k->slot, n, n * c->load.size);
	k->paced += n;
	k->left -= c->load.count != 0 ? n : 0;
	if (k->left == 0 && k->open && (c->load.window == 0 || k->back >= k->sent))
		send_end(k);
	else if (k->left == 0)
		xk_task_park(&k->task);  /* the last answers are still to come */
	return (unsigned)n;
}

/* The one that is due: it says so in its first bytes, whatever part of it goes now.  False: it waits. */
static XK_NOINLINE bool send_due(struct send_conn *k, const struct send_conf *c, xk_ns now)
{
	struct load_rep *l = &k->sr->load;

	if (!k->begun) {
		k->began = now;
		if (c->load.window != 0)
			send_marked(k, c);
		if (k->mark == k->sent)
			k->mark_at = load_when(l, k->slot);
		k->begun = true;
	}
	load_stamp(l, k->slot, k->began);
	if (!(k->writes ? send_write(k, c) : send_push(k, c, true))) {
		send_short(k);
		return false;
	}
	k->begun = false;
	if (!load_made(l, k->slot))
		k->left = 1;             /* its trace has been played */
	k->left--;
	return true;
}

/* A unit of messages that are due at times of their own. */
static unsigned send_run_due(struct xk_task *t, unsigned budget)
{
	struct send_conn *k = xk_container_of(t, struct send_conn, task);
	struct load_rep *l = &k->sr->load;
	const struct send_conf *c = conf_of(l->r);
	uint64_t n = c->load.burst != 0 ? c->load.burst : budget, open, i = 0;
	const struct xk_sess *lls = k->stream;
	xk_ns now = xk_vp_clock(l->r->vp);

	if (lls == NULL)
		return send_anew(k);
	if (c->load.window != 0 && (open = send_window(k, c)) < n)
		n = open;
	while (i < n && k->left != 0 && k->stream == lls && load_when(l, k->slot) <= now && send_due(k, c, now))
		i++;
	send_count(k->sr, k->slot, i, i * c->load.size);
	if (k->stream != lls)
		return (unsigned)i;
	if (k->left == 0 && (c->load.window == 0 || k->back >= k->sent))
		send_end(k);
	else if (k->left == 0 || load_rests(l, k->slot))
		xk_task_park(&k->task);  /* until the last answers come, or the next one is due */
	return (unsigned)i;
}

/* At most n messages, of which none ends the connection's own share. */
static inline uint64_t send_quick(struct send_conn *k, const struct send_conf *c, uint64_t n)
{
	const struct xk_sess *lls = k->stream;
	uint64_t i;

	for (i = 0; i < n && k->stream == lls; i++)
		if (XK_UNLIKELY(!send_write(k, c))) {
			send_short(k);
			break;
		}
	return i;
}

/* One unit.  It should cost little more than its messages, and touch no line more. */
static unsigned send_run(struct xk_task *t, unsigned budget)
{
	struct send_conn *k = xk_container_of(t, struct send_conn, task);
	const struct send_conf *c = conf_of(k->sr->load.r);
	uint64_t n = c->load.burst != 0 ? c->load.burst : budget, i;

	if (!k->quick || k->left <= n)
		return send_run_any(k, c, n);
	i = k->shorts && n != 1 ? send_shorts(k, c, n) : send_quick(k, c, n);
	if (i == 0)
		return 0;
	send_count(k->sr, k->slot, i, i * c->load.size);
	k->left -= c->load.count != 0 ? i : 0;
	return (unsigned)i;
}

/* ---- connections -------------------------------------------------------------------------- */

static int send_connect(struct send_conn *k)
{
	int err;

	k->s.down = k->stream = load_connect(k->sr->load.r, k->sr->load.no[k->slot], &err);
	if (k->s.down == NULL)
		return err;
	k->s.down->up = &k->s.self;
	xk_task_fetch(&k->task, k->s.down, &k->s.down->hot);
	xk_task_of(&k->task, k->s.down);
	k->peer_ended = k->ending = false;
	return XK_OK;
}

/* It ended before its messages did and is not opened again. */
static void send_lost(struct send_conn *k)
{
	if (!k->done)
		load_lost(&k->sr->load, "every one of its connections was refused, reset or failed");
	send_done(k);
}

/* It is gone, with or without a stream left to give back. */
static void send_failed(struct send_conn *k, int err)
{
	struct xk_rep *r = k->sr->load.r;
	const struct send_conf *c = conf_of(r);

	xk_count(r->count[err == XK_E_CONNREFUSED ? N_REFUSED : err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
	if (k->s.down != NULL)
		send_close(k);
	if (c->reconnect != 0 && !k->done && k->left != 0)
		xk_timer_set(r->wheel, &k->timer, xk_vp_now() + c->reconnect);
	else
		send_lost(k);
}

/* Opened anew, for as many messages as before. */
static unsigned send_anew(struct send_conn *k)
{
	int err;

	xk_task_park(&k->task);
	k->left = load_conf(k->sr->load.r)->count;
	k->done = false;
	err = send_connect(k);
	if (err != XK_OK)
		send_failed(k, err);
	return 1;
}

static void send_timer(struct xk_timer *t)
{
	struct send_conn *k = xk_container_of(t, struct send_conn, timer);
	int err;

	if (k->open) {
		xk_task_ready(&k->task);         /* the rate allows the next one */
		return;
	}
	xk_count(k->sr->load.r->count[N_REOPENED]);
	err = send_connect(k);
	if (err != XK_OK)
		send_failed(k, err);
}

static void send_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xk_sess *s = stream_above(ev->s);
	struct send_conn *k;

	if (s == NULL)
		return;
	k = conn_of(s);
	switch (ev->what) {
	case XK_STREAM_OPENED:
		xk_count(r->count[N_OPENED]);
		k->open = true;
		send_begin(k);
		/* All that it has to say goes with the last step of the handshake. */
		if (load_conf(r)->count == 1 && load_conf(r)->rate == 0 && !load_timed(load_conf(r)))
			send_run(&k->task, 1);
		break;
	case XK_STREAM_FAILED:
		send_failed(k, ev->err);
		break;
	case XK_STREAM_WRITABLE:
		if (k->open && k->left != 0 && !k->ending && !xk_timer_armed(&k->timer))
			xk_task_ready(&k->task);
		break;
	case XK_STREAM_DRAINED:
		send_drained(k);
		break;
	default:
		break;
	}
}

/* The peer sends no more; we go on, it may still read. */
static void send_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	(void)r;
	if (s == NULL)
		return;
	conn_of(s)->peer_ended = true;
	if (conn_of(s)->done)
		send_over(conn_of(s));
}

/* What comes back is counted and forgotten; with a window it is the answer. */
static void send_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)lls;
	xk_count(up->rep->npop);
	if (stream_own(up) == NULL) {
		xk_drop(up->rep, DROP_STRAY, m);
		return;
	}
	xk_count_add(up->rep->count[N_RECEIVED], m->tot);
	if (conf_of(up->rep)->load.window != 0)
		send_answered(conn_of(stream_own(up)), m->tot);
	xk_msg_free(m);
}

/* ---- life ------------------------------------------------------------------------------------- */

static int send_alloc(struct xk_rep *r, uint64_t n)
{
	struct send_rep *sr = r->state;

	sr->conn = xk_alloc(n * sizeof *sr->conn);
	if (sr->conn == NULL)
		return XK_E_NOMEM;
	stream_pattern(sr->load.page, load_conf(r)->size);
	return XK_OK;
}

static int send_open_one(struct xk_rep *r, uint64_t i)
{
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, NULL);
	struct send_rep *sr = r->state;
	struct send_conn *k;

	if (s == NULL)
		return XK_E_NOMEM;
	k = conn_of(s);
	k->sr = sr;
	k->slot = sr->load.n;
	k->left = load_conf(r)->count != 0 ? load_conf(r)->count : UINT64_MAX;
	xk_task_init(&k->task, r->vp, load_timed(load_conf(r)) ? send_run_due : send_run);
	xk_timer_init(&k->timer, send_timer);
	sr->conn[sr->load.n] = k;
	sr->load.no[sr->load.n++] = i;
	return send_connect(k);
}

static struct xk_task *send_task_of(struct xk_rep *r, uint32_t slot)
{
	return &((struct send_rep *)r->state)->conn[slot]->task;
}

static int send_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	static const struct load_opens opens = { send_alloc, send_open_one, send_task_of };

	return load_open_all(r, e, &opens);
}

static void send_rep_stop(struct xk_rep *r)
{
	struct send_rep *sr = r->state;

	load_times_stop(&sr->load);
	for (uint32_t i = 0; i < sr->load.n; i++) {
		struct send_conn *k = sr->conn[i];

		if (k->s.down != NULL)
			send_close(k);
		xk_timer_cancel(r->wheel, &k->timer);
		xk_sess_destroy(&k->s);
	}
	sr->load.n = 0;
}

static void send_rep_fini(struct xk_rep *r)
{
	xk_free(((struct send_rep *)r->state)->conn);
	load_rep_fini(r);
}

static int send_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_stream_event *ev = stream_event(op, buf, len);

	if (ev == NULL)
		return load_control(r, op, buf, len);
	send_event(r, ev);
	return 0;
}

static int send_check(const void *conf, char *why, size_t n)
{
	const struct load_conf *c = conf;

	if (!c->again || c->count != 0)
		return load_check(conf, why, n);
	snprintf(why, n, "'again' needs 'count', the messages of a connection");
	return XK_E_INVAL;
}

static const struct xk_ops send_ops = {
	.init = load_init, .fini = load_fini, .rep_init = load_rep_init, .rep_fini = send_rep_fini,
	.rep_start = send_rep_start, .rep_stop = send_rep_stop,
	.close_done = send_close_done, .demux = send_demux, .control = send_control,
};

static const struct xk_param send_params[] = {
	LOAD_PARAMS_WHERE,
	LOAD_P(size, XK_P_SIZE, "4KiB", "bytes of a message", .min = "1", .max = "1MiB"),
	LOAD_P(count, XK_P_UINT, "0", "messages of each connection, which then ends; the graph may end, too; 0: endless"),
	LOAD_PARAMS_PACE(0),
	LOAD_P(window, XK_P_UINT, "0", "most unanswered messages of a connection, whose peer sends back what it gets; 0: answers are not waited for",
	  .max = "1000000"),
	LOAD_PARAMS_TOUCH,
	{ .name = "reconnect", .type = XK_P_TIME, .def = "0s", .max = "1h", .offset = offsetof(struct send_conf, reconnect),
	  .doc = "a connection that failed is opened again after so long; 0s: never" },
	XK_TRAFFIC_PARAMS(load_conf),
	LOAD_P(again, XK_P_BOOL, "false", "a connection that is done is opened anew, for `count` messages more, without end"),
	XK_PARAM_END
};

static const char *const send_drops[] = { "stray", NULL };
static const char *const send_counts[] = {
	"messages", "bytes", "received_bytes", "opened", "drained", "refused", "reset", "failed", "reopened", NULL
};

const struct xk_proto xk_proto_load_stream = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "load",
	.doc = "over a stream: sends messages over many connections, and ends when all is acknowledged", .ops = &send_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = send_params, .conf_size = sizeof(struct send_conf),
	.node_size = sizeof(struct load_node), .rep_size = sizeof(struct send_rep),
	.sess_size = sizeof(struct send_conn),
	.check = send_check, .drops = send_drops, .counts = send_counts,
	.review = load_review,
};
