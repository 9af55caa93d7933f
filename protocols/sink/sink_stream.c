/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink_stream.c - receives streams on a range of ports, touches their bytes as an
 * application would, counts bytes and messages of `size` by connection.
 *
 * A stream has no messages; what counts as one is so many bytes of a connection.
 * With a rate, bytes are forgotten at once but count as consumed only as fast as
 * the rate says, so that the peer meets a slow reader and its closed window.
 * With `post` each connection posts memory, where its bytes are wanted and a driver may
 * have put them (xk_ddp.h).
 * Invariant: each slot in use belongs to one kept connection.
 */
#include "protocols/sink/sink.h"
#include "protocols/stream/stream_app.h"
#include "runtime/base/xk_csum.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_timer.h"

#include <stdio.h>
#include <string.h>

enum { TOUCH_COPY, TOUCH_LINE, TOUCH_NONE, TOUCH_VERIFY };
enum { N_ACCEPTED = SINK_OWN, N_ENDED, N_REFUSED, N_RESET, N_FAILED, N_WRONG, N_POST };  /* ORDER recv_counts */
enum { DROP_STRAY = XK_DROP_FIRST };

struct recv_conf {
	struct sink_conf recv;
	uint64_t              size, rate;
};

struct recv_sess {
	struct xk_sess  s;
	uint32_t        slot;
	struct xk_ddp *post;         /* NULL: nothing is posted */
	uint32_t        part;            /* bytes of the message that is not whole yet */
	uint64_t        held;            /* rate: received, not taken */
	uint64_t        taken;           /* rate: since `since` */
	bool            ended;           /* rate: the peer has, and is closed when all is taken */
	xk_ns           since;
	struct xk_timer timer;
	uint8_t         head[XK_STAMP_SIZE]; /* times: what the message that is not whole yet begins with */
};

static const struct recv_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct recv_sess *recv_of(struct xk_sess *s) { return (struct recv_sess *)(void *)s; }

/* ---- a slow reader ------------------------------------------------------------------ */

static void recv_forget(struct xk_sess *s)
{
	struct sink *rr = s->rep->state;

	xk_ddp_close(recv_of(s)->post);
	sink_place_give(rr, recv_of(s)->slot);
	xk_timer_cancel(s->rep->wheel, &recv_of(s)->timer);
	stream_forget(s);
}

/* Takes what the rate allows; the timer takes the rest. */
static void recv_take(struct recv_sess *rs)
{
	const struct recv_conf *c = conf_of(rs->s.rep);
	xk_ns now = xk_vp_now(), t = now - rs->since;
	uint64_t rate = c->rate / 8, due = t / XK_SEC * rate + t % XK_SEC * rate / XK_SEC, n;

	n = due > rs->taken ? due - rs->taken : 0;
	if (n > rs->held)
		n = rs->held;
	rs->held -= n;
	rs->taken += n;
	if (rs->held != 0)
		xk_timer_set(rs->s.rep->wheel, &rs->timer, now + XK_MS);
	if (n != 0)
		stream_tell(rs->s.down, XK_STREAM_TAKEN, (uint32_t)n);
	/* To close before would be to throw away what was not read: a reset. */
	if (rs->held == 0 && rs->ended)
		recv_forget(&rs->s);
}

static void recv_timer(struct xk_timer *t)
{
	recv_take(xk_container_of(t, struct recv_sess, timer));
}

static void recv_slowly(struct recv_sess *rs, uint32_t n)
{
	if (rs->held == 0) {             /* a pause earns nothing */
		rs->since = xk_vp_now();
		rs->taken = 0;
	}
	rs->held += n;
	if (!xk_timer_armed(&rs->timer))
		xk_timer_set(rs->s.rep->wheel, &rs->timer, xk_vp_now() + XK_MS);
}

/* ---- connections ---------------------------------------------------------------------- */

/* Before the first of a replica. */
static bool recv_ready(struct xk_rep *r)
{
	const struct recv_conf *c = conf_of(r);
	struct sink *rr = r->state;

	if (rr->page != NULL)
		return true;
	if (sink_get(rr) != XK_OK)
		return false;
	if (c->recv.touch == TOUCH_VERIFY)
		stream_pattern(rr->page, c->size);
	return true;
}

static int recv_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct sink *rr = r->state;
	struct xk_sess *s = recv_ready(r) ? stream_accept(r, lls, rr->cap) : NULL;

	(void)type;
	if (s == NULL) {
		xk_count(r->count[N_REFUSED]);
		return XK_E_NOSPC;
	}
	recv_of(s)->slot = sink_place_take(rr, r->count[N_ACCEPTED] * xk_node_nvps(r->node) + r->no);
	xk_count(r->count[N_ACCEPTED]);
	xk_timer_init(&recv_of(s)->timer, recv_timer);
	if (conf_of(r)->rate != 0)
		stream_tell(lls, XK_STREAM_MANUAL, 1);
	sink_post(rr, &recv_of(s)->post, lls, true, N_POST);
	return XK_OK;
}

static void recv_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	if (s == NULL)
		return;
	xk_count(r->count[N_ENDED]);
	recv_of(s)->ended = true;
	if (recv_of(s)->held == 0)
		recv_forget(s);
}

static void recv_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	struct xk_sess *s = stream_above(ev->s);

	if (s == NULL || ev->what != XK_STREAM_FAILED)
		return;
	xk_count(r->count[ev->err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
	recv_forget(s);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Compares n bytes with the pattern from *at on; returns wrong bytes. */
static uint64_t recv_verify(const struct sink *rr, const uint8_t *p, uint32_t len, uint64_t *at)
{
	uint64_t size = conf_of(rr->r)->size, wrong = 0;

	for (uint32_t i = 0, n; i < len; i += n) {
		n = len - i < size - *at ? len - i : (uint32_t)(size - *at);
		if (memcmp(p + i, rr->page + *at, n) != 0)
			for (uint32_t k = 0; k < n; k++)
				wrong += p[i + k] != rr->page[*at + k];
		*at = (*at + n) % size;
	}
	return wrong;
}

/* n bytes at p, from number *at of the message on. */
static void recv_touch(struct sink *rr, uint8_t *p, uint32_t n, uint64_t *at)
{
	switch (conf_of(rr->r)->recv.touch) {
	case TOUCH_COPY:
		memcpy(rr->page, p, n < SINK_BIGGEST ? n : SINK_BIGGEST);
		break;
	case TOUCH_LINE:
		xk_csum_touch(p, n, true);
		break;
	case TOUCH_VERIFY:
		xk_count_add(rr->r->count[N_WRONG], recv_verify(rr, p, n, at));
		break;
	default:
		break;
	}
}

/* Where the bytes are wanted; returns how many have gone there. */
static uint32_t recv_place(struct sink *rr, struct xk_ddp *d, const struct xk_msg *m, uint64_t *part)
{
	uint32_t off, n;
	uint8_t *at;

	for (off = 0; off < m->tot && (n = xk_ddp_receive(d, m, off, &at)) != 0; off += n) {
		if (conf_of(rr->r)->recv.touch == TOUCH_VERIFY)
			recv_touch(rr, at, n, part);
		xk_ddp_done(d, at, n);
	}
	return off;
}

/* Of each message that ends in m, which goes on from byte `part` of one: when it was due. */
static void recv_times(struct sink *rr, struct recv_sess *rs, const struct xk_msg *m, uint64_t part)
{
	uint64_t size = conf_of(rr->r)->size;

	for (const struct xk_msg *x = m; x != NULL; x = x->next)
		for (uint32_t i = 0, n; i < x->len; i += n) {
			n = x->len - i < size - part ? x->len - i : (uint32_t)(size - part);
			if (part < XK_STAMP_SIZE)
				memcpy(rs->head + part, x->data + i, n < XK_STAMP_SIZE - part ? n : XK_STAMP_SIZE - part);
			part += n;
			if (part != size)
				continue;
			sink_time(rr, rs->head, XK_STAMP_SIZE);
			part = 0;
		}
}

static void recv_bytes(struct sink *rr, struct recv_sess *rs, struct xk_msg *m, uint64_t first)
{
	uint64_t part = first;
	uint32_t off = rs->post != NULL ? recv_place(rr, rs->post, m, &part) : 0;

	for (struct xk_msg *x = m; x != NULL; x = x->next) {
		uint32_t skip = off < x->len ? off : x->len;

		off -= skip;
		if (skip < x->len)
			recv_touch(rr, x->data + skip, x->len - skip, &part);
	}
	if (rr->times != NULL)
		recv_times(rr, rs, m, first);
}

/* n bytes of a connection: how many messages they complete. */
static inline uint64_t recv_whole(struct recv_sess *rs, uint64_t n, uint64_t size)
{
	uint64_t part = rs->part + n, whole = 0;

	if (XK_LIKELY(part == size)) {           /* one by one, no division */
		rs->part = 0;
		return 1;
	}
	if (part >= size) {
		whole = part / size;
		part %= size;
	}
	rs->part = (uint32_t)part;
	return whole;
}

static inline void recv_count(struct sink *rr, struct recv_sess *rs, uint64_t n)
{
	struct xk_rep *r = rr->r;
	uint64_t whole = recv_whole(rs, n, conf_of(r)->size);

	xk_count_add(r->count[SINK_MESSAGES], whole);
	xk_count_add(r->count[SINK_BYTES], n);
	xk_count_add(rr->messages[rs->slot], whole);
	xk_count_add(rr->bytes[rs->slot], n);
}

static void recv_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct sink *rr = r->state;
	struct xk_sess *s = stream_own(up);
	struct recv_sess *rs;
	uint32_t part;

	(void)lls;
	xk_count(r->npop);
	if (XK_UNLIKELY(s == NULL)) {
		xk_drop(r, DROP_STRAY, m);
		return;
	}
	rs = recv_of(s);
	part = rs->part;
	recv_count(rr, rs, m->tot);
	if (conf_of(r)->rate != 0)
		recv_slowly(rs, m->tot);
	if (rr->looks)
		recv_bytes(rr, rs, m, part);
	xk_msg_free(m);
}

/* Bytes that are looked at, or wanted elsewhere. */
static unsigned recv_batch_touched(struct sink *rr, struct recv_sess *rs, const struct xk_batch *f)
{
	for (unsigned i = 0; i < f->n; i++) {
		struct xk_msg *x = f->m[i];
		uint32_t part = rs->part;

		xk_batch_materialise(f, f->run, x);
		recv_count(rr, rs, x->tot);
		recv_bytes(rr, rs, x, part);
		xk_msg_free(x);
	}
	xk_count_add(rr->r->npop, f->n);
	return f->n;
}

/* In order and of one connection: counted together, freed together. */
static unsigned recv_demux_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f)
{
	struct xk_rep *r = up->rep;
	struct xk_sess *s = stream_own(up);

	(void)lls;
	if (XK_UNLIKELY(s == NULL || conf_of(r)->rate != 0))
		return 0;
	if (XK_UNLIKELY(((const struct sink *)r->state)->looks))
		return recv_batch_touched(r->state, recv_of(s), f);
	xk_count_add(r->npop, f->n);
	recv_count(r->state, recv_of(s), xk_msg_free_all(f->m, f->n) - (uint64_t)f->off * f->n);
	return f->n;
}

/* ---- life --------------------------------------------------------------------------------------- */

static void recv_stop(struct xk_node *n) { xk_open_disable_all(n, n->down[0]); }

static int recv_rep_init(struct xk_rep *r)
{
	const struct recv_conf *c = conf_of(r);

	((struct sink *)r->state)->looks = c->recv.touch != TOUCH_NONE || c->recv.times;
	return sink_size(r, c->recv.sessions, c->size > SINK_BIGGEST ? c->size : SINK_BIGGEST);
}

static int recv_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	(void)e;
	sink_watch(r);
	return XK_OK;
}

static void recv_rep_stop(struct xk_rep *r)
{
	sink_unwatch(r);
	stream_forget_all(r, recv_forget);
}

static int recv_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = sink_counts(r->state, &r->count[N_ACCEPTED]);

	if (op == XK_CTL_APP_TIMES)
		return sink_answer_times(r->state, buf, len);
	return stream_app_control(r, op, buf, len, &c, recv_event);
}

static int recv_check(const void *conf, char *why, size_t n)
{
	const struct recv_conf *c = conf;
	const char *text = NULL;

	if (c->recv.times && c->size < XK_STAMP_SIZE)
		text = "times are in the first bytes of each message: size must be at least 24, as the sender's";
	else if (c->recv.times && c->recv.touch == TOUCH_VERIFY)
		text = "messages that say when they were due differ: touch = \"verify\" would count their times as wrong bytes";
	else if (c->recv.times && c->rate != 0)
		text = "with 'rate' bytes are consumed later than they are seen: 'times' would say when they came";
	if (text != NULL) {
		snprintf(why, n, "%s", text);
		return XK_E_INVAL;
	}
	return sink_check(&c->recv, c->recv.touch == TOUCH_COPY || c->recv.touch == TOUCH_VERIFY,
			       "bytes are copied to: it goes with touch = \"copy\" or \"verify\"", why, n);
}

static void recv_review(const struct xk_view *v, struct xk_review *r)
{
	const struct recv_conf *c = v->conf;

	xk_review_ports(r, v, "port", c->recv.port, c->recv.ports);
}

static const struct xk_ops recv_ops = {
	.init = sink_init, .rep_init = recv_rep_init, .rep_fini = sink_fini,
	.start = sink_wait, .stop = recv_stop, .rep_start = recv_rep_start, .rep_stop = recv_rep_stop,
	.open_done = recv_open_done, .close_done = recv_close_done,
	.demux = recv_demux, .demux_batch = recv_demux_batch, .control = recv_control,
};

static const char *const touches[] = { "copy", "line", "none", "verify", NULL };

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct recv_conf, field), ##__VA_ARGS__ }

static const struct xk_param recv_params[] = {
	SINK_PARAMS_WHERE,
	P(size, XK_P_SIZE, "4KiB", "bytes that count as a message", .min = "1", .max = "1MiB"),
	SINK_P(touch, XK_P_ENUM, "copy", "copy the bytes to a page, read them through one cache line, leave them, or compare them",
	  .choices = touches),
	SINK_P(count, XK_P_UINT, "0", "the graph may end after so many messages in all; 0: never"),
	SINK_P(sessions, XK_P_UINT, "4096", "connections of each virtual processor; more are refused", .min = "1", .max = "1048576"),
	P(rate, XK_P_RATE, NULL, "each connection is read so fast; unset: as bytes come", .min = "8bit/s"),
	SINK_PARAMS_TIMES,
	SINK_PARAMS_POST,
	XK_PARAM_END
};

static const char *const recv_drops[] = { "stray", NULL };
#define POST_TEXT(id, text) text,
static const char *const recv_counts[] = {
	"messages", "bytes", "accepted", "ended", "refused", "reset", "failed", "wrong_bytes",
	XK_DDP_COUNTS(POST_TEXT) "not_posted", NULL
};

const struct xk_proto xk_proto_sink_stream = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sink",
	.doc = "over a stream: receives, touches and counts bytes by connection", .ops = &recv_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
	.params = recv_params, .conf_size = sizeof(struct recv_conf),
	.rep_size = sizeof(struct sink), .sess_size = sizeof(struct recv_sess),
	.check = recv_check, .drops = recv_drops, .counts = recv_counts,
	.review = recv_review,
};
