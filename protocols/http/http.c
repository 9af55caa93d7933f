/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.c - an HTTP/1.1 server of files (RFC 9110, 9112).
 *
 * Each connection is a task with four states: it reads a request, sends an answer
 * piece by piece as the stream takes it, or lingers after its last answer until
 * the peer has ended, too, so that no late byte of the client resets the
 * connection under the answer.  Received bytes count as consumed when they are
 * looked at: a client that sends requests ahead fills its own window, not our
 * memory.  A file is read with preadv straight into the messages that carry it, at
 * most PIECES of a segment each: nothing is copied, nothing larger is held, and a
 * file that shrinks meanwhile is a short read, where a mapping would be a signal.
 * A read waits for the disk, and its VP with it.  A small file comes from the VP's shelf.
 * Invariant: fd >= 0 or small is there only in state SENDING, and never both; the timer
 * is armed in every state.
 */
#include "protocols/http/http_priv.h"
#include "protocols/stream/stream_app.h"
#include "protocols/tcp/tcp.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_turn.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECES 16u               /* of one unit of work */

enum {                                   /* ORDER http_counts */
	N_REQUESTS, N_BYTES, N_OK, N_REDIRECTED, N_CLIENT_ERRORS, N_SERVER_ERRORS, N_ACCEPTED, N_REFUSED,
	N_RESET, N_FAILED, N_TIMED_OUT, N_FILE_ERRORS
};
enum { DROP_STRAY = XK_DROP_FIRST, DROP_LATE };  /* ORDER http_drops */

struct http_conf {
	char    *root;
	bool     symlinks;
	uint64_t header, body, sessions, timeout, idle, linger, kept, fresh;
	uint16_t port;
};
struct http_node { struct http_root root; bool opened; };
struct http_rep {
	char   *head;                    /* of the request that is answered: 2 * header + 2 */
	char   *text;                    /* of its answer */
	size_t  text_cap;
	int64_t epoch;                   /* seconds of the day when the VP's clock was 0 */
	int64_t date_at;
	char    date[HTTP_DATE];
	struct http_shelf shelf;
};

enum { READING, SENDING, LINGERING };
struct http_sess {
	struct xk_sess  s;
	struct xk_task  task;
	struct xk_timer timer;
	struct stream_q in;              /* received, not looked at but for `scanned` */
	uint32_t        scanned;         /* bytes of in that are of the next head */
	uint32_t        line;            /* bytes of the line being scanned */
	uint8_t         state;
	bool            begun;           /* the head has a line */
	bool            keep;            /* another request may follow the answer */
	bool            ended;           /* the peer sends no more */
	uint8_t         still;           /* quarters of `idle` in which nothing of an answer was taken */
	int             fd;
	struct http_small *small;        /* instead of fd: one reference, or NULL */
	uint64_t        off, left;       /* of the file, to be sent */
	uint64_t        skip;            /* bytes of a body, to be forgotten */
	uint64_t        pushed, taken;   /* bytes ever; of them acknowledged, when last asked */
};

static const struct http_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct http_sess *sess_of(struct xk_sess *s) { return (struct http_sess *)(void *)s; }
static struct http_rep *rep_of(const struct http_sess *h) { return h->s.rep->state; }

/* ---- the end of a connection ------------------------------------------------------ */

static void http_close_file(struct http_sess *h)
{
	if (h->fd >= 0)
		close(h->fd);
	h->fd = -1;
	if (h->small != NULL)
		http_small_drop(h->small);
	h->small = NULL;
}

static void http_forget(struct xk_sess *s)
{
	struct http_sess *h = sess_of(s);

	http_close_file(h);
	stream_q_free(&h->in);
	xk_task_park(&h->task);
	xk_task_of(&h->task, NULL);
	xk_timer_cancel(s->rep->wheel, &h->timer);
	stream_forget(s);
}

static void http_abort(struct http_sess *h)
{
	xk_sess_control(h->s.down, XK_STREAM_ABORT, NULL, 0);
	http_forget(&h->s);
}

static void http_wait(struct http_sess *h, xk_ns dt)
{
	xk_timer_set(h->s.rep->wheel, &h->timer, xk_vp_now() + dt);
}

/*
 * A peer that takes an answer slowly takes it: what counts is what it has acknowledged, not
 * whether there was room for more.  Looked at four times in `idle`.
 */
static void http_watch(struct http_sess *h)
{
	h->still = 0;
	http_wait(h, conf_of(h->s.rep)->idle / 4);
}

/* Has the peer taken something since it was asked last? */
static bool http_takes(struct http_sess *h)
{
	uint64_t taken = h->pushed - stream_ask(h->s.down, XK_STREAM_QUEUED), had = h->taken;

	h->taken = taken;
	return taken > had;
}

/* Received bytes that have been dealt with. */
static void http_drop(struct http_sess *h, uint32_t n)
{
	stream_q_drop(&h->in, n);
	if (n != 0)
		stream_tell(h->s.down, XK_STREAM_TAKEN, n);
}

/* No more from us; what the peer still sends is thrown away until it ends. */
static void http_linger(struct http_sess *h)
{
	struct xk_sess *lls = h->s.down;

	h->state = LINGERING;
	http_drop(h, h->in.bytes);       /* unread bytes would make a reset of our end */
	if (h->ended) {
		http_forget(&h->s);
		return;
	}
	http_wait(h, conf_of(h->s.rep)->linger);
	xk_task_park(&h->task);
	xk_sess_control(lls, XK_STREAM_SHUTDOWN, NULL, 0);
}

/* ---- answers ----------------------------------------------------------------------------- */

static const char *http_now(struct xk_rep *r)
{
	struct http_rep *hr = r->state;
	int64_t now = hr->epoch + (int64_t)(xk_vp_now() / XK_SEC);

	if (now != hr->date_at)
		http_date(hr->date, hr->date_at = now);
	return hr->date;
}

static void http_count(struct xk_rep *r, unsigned status)
{
	xk_count(r->count[N_REQUESTS]);
	xk_count(r->count[status < 300 ? N_OK : status < 400 ? N_REDIRECTED :
			  status < 500 ? N_CLIENT_ERRORS : N_SERVER_ERRORS]);
}

/* Gives m to the stream; false when that has ended the connection and h. */
static bool http_push(struct http_sess *h, struct xk_msg *m)
{
	struct xk_sess *lls = h->s.down;
	bool there;

	xk_count_add(h->s.rep->count[N_BYTES], m->tot);
	h->pushed += m->tot;
	xk_dup(lls);
	xk_push(lls, m);
	there = stream_above(lls) == &h->s;
	xk_close(lls);
	return there;
}

/* The answer has been pushed whole. */
static void http_done(struct http_sess *h)
{
	http_close_file(h);
	h->left = 0;
	h->state = READING;
	h->still = 0;
	if (h->keep)
		http_wait(h, conf_of(h->s.rep)->idle);
	else
		http_linger(h);
}

static uint32_t http_copy(const struct http_sess *h, const struct iovec *v, unsigned n)
{
	const uint8_t *p = h->small->bytes + h->off;
	uint32_t got = 0;

	for (unsigned i = 0; i < n; i++) {
		memcpy(v[i].iov_base, p + got, v[i].iov_len);
		got += (uint32_t)v[i].iov_len;
	}
	return got;
}

/* Reads into n buffers, together h->left bytes at most, what the file has at h->off; 0 and the connection
 * aborted, when it cannot be read or has become shorter. */
static uint32_t http_read(struct http_sess *h, const struct iovec *v, unsigned n)
{
	ssize_t got;

	if (h->small != NULL)
		return http_copy(h, v, n);
	do {
		got = preadv(h->fd, v, (int)n, (off_t)h->off);
	} while (got < 0 && errno == EINTR);
	if (got > 0)
		return (uint32_t)got;
	xk_count(h->s.rep->count[N_FILE_ERRORS]);
	http_abort(h);
	return 0;
}

/* The head of an answer, and with it as much of the file as fills a segment: a
 * small file goes out as one. */
static void http_send_head(struct http_sess *h, const struct http_text *t)
{
	uint32_t piece = stream_ask(h->s.down, XK_CTL_GETOPTPACKET), n = (uint32_t)t->n, more = 0, got;
	struct xk_msg *m;

	if (piece > XK_MSG_MAX_SEG)
		piece = XK_MSG_MAX_SEG;
	if (n < piece)
		more = h->left < piece - n ? (uint32_t)h->left : piece - n;
	m = xk_msg_new(n + more);
	if (m == NULL) {
		xk_dropped(h->s.rep, XK_DROP_NOMEM, 1);
		http_abort(h);
		return;
	}
	xk_msg_copy_in(m, 0, t->p, n);
	if (more != 0) {
		got = http_read(h, &(struct iovec){ m->data + n, more }, 1);
		if (got == 0) {
			xk_msg_free(m);
			return;
		}
		xk_msg_truncate(m, n + got);
		h->off += got;
		h->left -= got;
	}
	if (http_push(h, m) && h->left == 0)
		http_done(h);
}

static void http_answer(struct http_sess *h, unsigned status, const struct http_req *q, const struct http_file *f,
			const struct http_range *r)
{
	struct xk_rep *rep = h->s.rep;
	struct http_rep *hr = rep->state;
	struct http_text t = { hr->text, 0, hr->text_cap };
	bool head_only = q->method == HTTP_HEAD;

	http_count(rep, status);
	http_head(&t, status, http_now(rep), h->keep, q->http11);
	if (status == 200 && h->small != NULL)
		http_put(&t, h->small->head, h->small->nhead);
	else if (f != NULL)
		http_of_file(&t, status, f, r);
	if (f == NULL || (status != 200 && status != 206 && status != 304))
		http_plain(&t, status, q, head_only);
	h->state = SENDING;
	h->left = 0;
	if (f != NULL && (status == 200 || status == 206) && !head_only) {
		h->off = r->first;
		h->left = r->n;
	}
	http_takes(h);
	http_watch(h);
	http_send_head(h, &t);
}

/* Refuses what is not even a request; the connection ends. */
static void http_refuse(struct http_sess *h, unsigned status)
{
	struct http_req q = { .http11 = true, .raw = "", .query = "" };

	h->keep = false;
	http_answer(h, status, &q, NULL, NULL);
}

/* The file that q asks for: on h, open or from memory, and described in *f. */
static unsigned http_find(struct http_sess *h, const struct http_req *q, struct http_file *f)
{
	const struct http_node *node = h->s.rep->node->state;
	struct http_shelf *shelf = &rep_of(h)->shelf;
	xk_ns now = xk_vp_now();
	unsigned status = 200;

	h->small = http_shelf_find(shelf, q, now);
	if (h->small == NULL) {
		status = http_file_open(&node->root, q, f);
		if (status != 200)
			return status;
		h->fd = f->fd;
		h->small = http_shelf_put(shelf, q, f, now);
	}
	if (h->small != NULL) {
		*f = h->small->f;
		if (h->fd >= 0)
			close(h->fd);
		h->fd = -1;
	}
	return status;
}

/* A whole head of n bytes is at the front of what was received. */
static void http_request(struct http_sess *h, uint32_t n)
{
	const struct http_conf *c = conf_of(h->s.rep);
	struct http_rep *hr = rep_of(h);
	struct http_file f = { .fd = -1 };
	struct http_range r = { 0, 0 };
	struct http_req q;
	unsigned status;

	stream_q_copy(&h->in, 0, hr->head, n);
	http_drop(h, n);
	h->scanned = h->line = 0;
	h->begun = false;
	status = http_parse(hr->head, n, &q);
	h->keep = q.keep;
	if (status == 0 && !q.chunked && q.body > c->body)
		status = 413;
	/* A body whose end is not known or that may not be sent at all ends the connection. */
	if (q.chunked || q.body > c->body || (q.expect && q.body != 0))
		h->keep = false;
	h->skip = h->keep ? q.body : 0;
	if (status == 0)
		status = http_find(h, &q, &f);
	if (status != 200) {
		http_answer(h, status, &q, NULL, NULL);
		return;
	}
	http_answer(h, http_match(&q, &f, &r), &q, &f, &r);
}

/* ---- sending a file ----------------------------------------------------------------------------- */

/* Messages for n pieces of the file, or fewer when memory is out. */
static unsigned http_buffers(struct http_sess *h, unsigned n, uint32_t piece, struct xk_msg **m, struct iovec *v)
{
	uint64_t left = h->left;
	unsigned i;

	for (i = 0; i < n && left != 0; i++) {
		uint32_t len = left < piece ? (uint32_t)left : piece;

		m[i] = xk_msg_new(len);
		if (m[i] == NULL) {
			xk_dropped(h->s.rep, XK_DROP_NOMEM, 1);
			break;
		}
		v[i] = (struct iovec){ m[i]->data, len };
		left -= len;
	}
	return i;
}

/* The next pieces of the file, read and pushed; returns how many. */
static unsigned http_send(struct http_sess *h, unsigned budget)
{
	uint32_t room = stream_room(h->s.down), piece = stream_ask(h->s.down, XK_CTL_GETOPTPACKET), got;
	struct xk_msg *m[PIECES];
	struct iovec v[PIECES];
	unsigned n, i;
	bool there = true;

	if (room == 0) {
		xk_task_park(&h->task);  /* WRITABLE wakes it */
		return 0;
	}
	if (piece == 0 || piece > XK_MSG_MAX_SEG)
		piece = XK_MSG_MAX_SEG;
	n = room / piece + (room % piece != 0);
	n = n < budget ? n : budget;
	n = http_buffers(h, n < PIECES ? n : PIECES, piece, m, v);
	got = n != 0 ? http_read(h, v, n) : 0;
	there = got != 0;
	for (i = 0; i < n; i++) {
		uint32_t len = m[i]->tot < got ? m[i]->tot : got;

		if (!there || len == 0) {
			xk_msg_free(m[i]);
			continue;
		}
		xk_msg_truncate(m[i], len);
		got -= len;
		h->off += len;
		h->left -= len;
		there = http_push(h, m[i]);
	}
	if (there && h->left == 0)
		http_done(h);
	return n;
}

/* ---- reading requests ------------------------------------------------------------------------------ */

/* Looks at what has not been looked at yet; true when a head ends at h->scanned. */
static bool http_scan(struct http_sess *h)
{
	uint64_t most = conf_of(h->s.rep)->header;
	char b[512];
	uint32_t n;

	while (h->scanned < most && (n = stream_q_copy(&h->in, h->scanned, b, sizeof b)) != 0)
		for (uint32_t i = 0; i < n && h->scanned < most; i++) {
			h->scanned++;
			if (b[i] == '\n') {
				if (h->line == 0 && h->begun)
					return true;
				h->begun = h->begun || h->line != 0;
				h->line = 0;
			} else if (b[i] != '\r') {
				h->line++;
			}
		}
	return false;
}

/* Nothing to do until something comes. */
static void http_idle(struct http_sess *h)
{
	xk_task_park(&h->task);
	if (h->ended)
		http_linger(h);
}

static void http_next(struct http_sess *h)
{
	uint32_t n = h->skip < h->in.bytes ? (uint32_t)h->skip : h->in.bytes;
	bool fresh;

	h->skip -= n;
	http_drop(h, n);
	if (h->in.bytes == 0) {
		http_idle(h);
		return;
	}
	if (stream_room(h->s.down) == 0) {
		xk_task_park(&h->task);  /* WRITABLE wakes it */
		return;
	}
	fresh = h->scanned == 0;
	if (http_scan(h)) {
		http_request(h, h->scanned);
	} else if (h->scanned >= conf_of(h->s.rep)->header) {
		http_refuse(h, h->begun ? 431 : 414);
	} else {
		if (fresh)               /* the rest of the head has so long */
			http_wait(h, conf_of(h->s.rep)->timeout);
		http_idle(h);
	}
}

/* One unit: an answer's beginning, or some of its pieces. */
static unsigned http_run(struct xk_task *t, unsigned budget)
{
	struct http_sess *h = xk_container_of(t, struct http_sess, task);

	if (h->state == SENDING)
		return http_send(h, budget);
	if (h->state == READING) {
		http_next(h);
		return 1;
	}
	xk_task_park(t);
	return 0;
}

/* Is there something of an answer for the peer to take? */
static bool http_answering(const struct http_sess *h)
{
	return h->state == SENDING || (h->state == READING && h->scanned == 0 && stream_ask(h->s.down, XK_STREAM_QUEUED) != 0);
}

static void http_timer(struct xk_timer *t)
{
	struct http_sess *h = xk_container_of(t, struct http_sess, timer);

	if (h->state == LINGERING) {
		http_forget(&h->s);
		return;
	}
	if (http_answering(h)) {
		h->still = http_takes(h) ? 0 : h->still + 1;
		if (h->still < 4) {
			http_wait(h, conf_of(h->s.rep)->idle / 4);
			return;
		}
	}
	xk_count(h->s.rep->count[N_TIMED_OUT]);
	if (h->state == SENDING)         /* nothing was taken for so long */
		http_abort(h);
	else if (h->scanned != 0 && stream_room(h->s.down) != 0)
		http_refuse(h, 408);
	else
		http_linger(h);
}

/* ---- what the stream says --------------------------------------------------------------------------- */

static int http_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct xk_sess *s = stream_accept(r, lls, conf_of(r)->sessions);
	struct http_sess *h;

	(void)type;
	if (s == NULL) {
		xk_count(r->count[N_REFUSED]);
		return XK_E_NOSPC;
	}
	xk_count(r->count[N_ACCEPTED]);
	h = sess_of(s);
	h->fd = -1;
	h->state = READING;
	xk_task_init(&h->task, r->vp, http_run);
	xk_task_of(&h->task, lls);
	xk_timer_init(&h->timer, http_timer);
	http_wait(h, conf_of(r)->timeout);
	stream_tell(lls, XK_STREAM_MANUAL, 1);
	/* Pieces fill segments, or end an answer: nothing is gained by waiting. */
	stream_tell(lls, TCP_CTL_NODELAY, 1);
	return XK_OK;
}

static void http_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_sess *s = stream_own(up);

	xk_count(up->rep->npop);
	if (XK_UNLIKELY(s == NULL)) {
		xk_drop(up->rep, DROP_STRAY, m);
		return;
	}
	if (sess_of(s)->state == LINGERING) {
		stream_tell(lls, XK_STREAM_TAKEN, m->tot);
		xk_drop(up->rep, DROP_LATE, m);
		return;
	}
	stream_q_put(&sess_of(s)->in, m);
	if (sess_of(s)->state == READING)
		xk_task_ready(&sess_of(s)->task);
}

/* The peer sends no more: what it has asked for is still answered. */
static void http_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	(void)r;
	if (s == NULL)
		return;
	sess_of(s)->ended = true;
	if (sess_of(s)->state == LINGERING)
		http_forget(s);
	else
		xk_task_ready(&sess_of(s)->task);
}

static void http_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xk_sess *s = stream_above(ev->s);

	if (s == NULL)
		return;
	if (ev->what == XK_STREAM_WRITABLE) {
		if (sess_of(s)->state != LINGERING)
			xk_task_ready(&sess_of(s)->task);
	} else if (ev->what == XK_STREAM_FAILED) {
		xk_count(r->count[ev->err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
		http_forget(s);
	}
}

/* ---- control, start, stop ------------------------------------------------------------------------------ */

static int http_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = { 1, &r->count[N_REQUESTS], &r->count[N_BYTES], NULL, NULL, &r->count[N_ACCEPTED] };

	return stream_app_control(r, op, buf, len, &c, http_event);
}

static int http_init(struct xk_node *n, struct xk_errs *e)
{
	const struct http_conf *c = n->conf;
	struct http_node *hn = n->state;
	int err = http_root_open(&hn->root, c->root, c->symlinks);

	if (err != XK_OK)
		xk_errs_add(e, n->file, n->line, 0, "%s: cannot open the directory '%s': %s", n->name, c->root,
			    xk_strerror(err));
	hn->opened = err == XK_OK;
	return err;
}

static void http_fini(struct xk_node *n)
{
	struct http_node *hn = n->state;

	if (hn->opened)
		http_root_close(&hn->root);
	hn->opened = false;
}

static int http_rep_init(struct xk_rep *r)
{
	const struct http_conf *c = conf_of(r);
	struct http_rep *hr = r->state;
	struct timespec now;

	hr->text_cap = c->header + 2048;
	hr->head = xk_alloc(2 * c->header + 2);
	hr->text = xk_alloc(hr->text_cap);
	if (hr->head == NULL || hr->text == NULL) {
		xk_free(hr->head);
		xk_free(hr->text);
		return XK_E_NOMEM;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	hr->epoch = (int64_t)now.tv_sec - (int64_t)(xk_vp_clock(r->vp) / XK_SEC);
	hr->date_at = -1;
	hr->shelf.most = c->kept;
	hr->shelf.fresh = c->fresh;
	return XK_OK;
}

static void http_rep_fini(struct xk_rep *r)
{
	struct http_rep *hr = r->state;

	http_shelf_clear(&hr->shelf);
	xk_free(hr->head);
	xk_free(hr->text);
}

static int http_start(struct xk_node *n, struct xk_errs *e)
{
	return xk_app_listen(n, ((const struct http_conf *)n->conf)->port, e);
}

static void http_stop(struct xk_node *n) { xk_open_disable_all(n, n->down[0]); }
static void http_rep_stop(struct xk_rep *r) { stream_forget_all(r, http_forget); }

static void http_review(const struct xk_view *v, struct xk_review *r)
{
	const struct http_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops http_ops = {
	.init = http_init, .fini = http_fini, .rep_init = http_rep_init, .rep_fini = http_rep_fini,
	.start = http_start, .stop = http_stop, .rep_stop = http_rep_stop,
	.open_done = http_open_done, .close_done = http_close_done,
	.demux = http_demux, .control = http_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct http_conf, field), ##__VA_ARGS__ }

static const struct xk_param http_params[] = {
	P(root, XK_P_TEXT, NULL, "directory whose files are served", .flags = XK_PF_REQUIRED | XK_PF_HOST),
	P(port, XK_P_PORT, "80", "port to wait on", .min = "1"),
	P(symlinks, XK_P_BOOL, "true", "follow symbolic links that stay below root; false: none"),
	P(header, XK_P_SIZE, "8KiB", "longest head of a request", .min = "512", .max = "64KiB"),
	P(body, XK_P_SIZE, "64KiB", "longest body of a request; it is read and forgotten", .max = "1GiB"),
	P(timeout, XK_P_TIME, "10s", "a request's head must have come within this time", .min = "10ms", .max = "1h"),
	P(idle, XK_P_TIME, "60s", "a connection may wait so long for a request, or acknowledge nothing of an answer",
	  .min = "10ms", .max = "24h"),
	P(linger, XK_P_TIME, "5s", "after our last byte, the peer may take so long to end", .min = "0s", .max = "1h"),
	P(sessions, XK_P_UINT, "65536", "connections of each virtual processor; more are refused", .min = "1",
	  .max = "16777216"),
	P(kept, XK_P_SIZE, "256KiB", "memory for files of at most 16 KiB, each virtual processor; 0: none is kept", .max = "1GiB"),
	P(fresh, XK_P_TIME, "100ms", "a file that is kept is looked at again after so long; 0s: none is kept", .max = "1h"),
	XK_PARAM_END
};

static const char *const http_drops[] = { "stray", "late", NULL };
static const char *const http_counts[] = {
	"requests", "bytes", "ok", "redirected", "client_errors", "server_errors", "accepted", "refused",
	"reset", "failed", "timed_out", "file_errors", NULL
};

const struct xk_proto xk_proto_http = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "http",
	.doc = "serves the files of a directory by HTTP/1.1", .ops = &http_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = http_params, .conf_size = sizeof(struct http_conf),
	.node_size = sizeof(struct http_node), .rep_size = sizeof(struct http_rep),
	.sess_size = sizeof(struct http_sess), .drops = http_drops, .counts = http_counts,
	.review = http_review,
};
