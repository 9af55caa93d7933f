/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_media.c - the node `media`: frames at a steady pace, of use until a deadline (Park, Lee, Hariri 1998, figure 2:
 * voice and video beside data, each with a service of its own).
 *
 * With `to` it sends a frame each period, over the path of ncs that is named; without, it receives.  A frame says when
 * it was due; clocks of two machines need not agree: the receiver takes the fastest frame so far for one that was not
 * late, and judges others by that.  Whoever sends keeps no frame that others of his stand before: by the time
 * that it left it would be late.
 * Invariant: of a connection `next` is behind the highest frame that has come, and `fastest` the least that a frame took.
 */
#include "protocols/ncs/ncs.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"
#include "runtime/vp/xk_wheel.h"

#include <string.h>

#define HEAD 20u                         /* magic, number, time it was due, period in microseconds; the rest are its bytes */
#define MAGIC 0x6d656469u
#define BEFORE 2u                        /* frames that may wait before one that is sent */

struct media_conf {
	uint32_t to;
	uint16_t port;
	const char *path;
	uint64_t size, period, deadline, count;
};
/* ORDER media_counts */
enum { N_FRAMES, N_BYTES, N_SKIPPED, N_LATE, N_MISSING, N_OPENED };
enum { DROP_STRANGE = XK_DROP_FIRST, DROP_OLD };

/* A connection that a sender has made. */
struct media_end {
	struct xk_sess   s;
	struct xk_listed link;
	bool             any;
	uint32_t         next;
	int64_t          fastest;        /* ns between due and here, by two clocks */
};

struct media_rep {
	struct xk_rep  *r;
	struct xk_sess *s;               /* of the sender; NULL: not on this VP, or gone */
	struct xk_timer timer;
	xk_ns           due;             /* of the next frame */
	uint32_t        next;
	struct xk_list  ends;
};

static const struct media_conf *conf_of(const struct xk_rep *r) { return r->conf; }

/* ---- sending ------------------------------------------------------------------------------------- */

static bool has_room(struct media_rep *mr)
{
	struct ncs_room room;

	return xk_sess_control(mr->s, NCS_CTL_ROOM, &room, sizeof room) != (int)sizeof room || room.messages < BEFORE;
}

static void fill(struct xk_msg *m, const struct media_rep *mr)
{
	uint8_t head[HEAD], byte[64];

	xk_put_be32(head, MAGIC);
	xk_put_be32(head + 4, mr->next);
	xk_put_be64(head + 8, mr->due);
	xk_put_be32(head + 16, (uint32_t)(conf_of(mr->r)->period / XK_US));
	xk_msg_copy_in(m, 0, head, HEAD);
	memset(byte, (int)(mr->next & 255), sizeof byte);
	for (uint32_t off = HEAD; off < m->tot; off += sizeof byte)
		xk_msg_copy_in(m, off, byte, m->tot - off < sizeof byte ? m->tot - off : (uint32_t)sizeof byte);
}

static void send_frame(struct media_rep *mr)
{
	struct xk_rep *r = mr->r;
	struct xk_msg *m;

	if (!has_room(mr)) {
		xk_count(r->count[N_SKIPPED]);
		return;
	}
	m = xk_msg_new((uint32_t)conf_of(r)->size);
	if (m == NULL) {
		xk_dropped(r, XK_DROP_NOMEM, 1);
		return;
	}
	fill(m, mr);
	xk_count(r->count[N_FRAMES]);
	xk_count_add(r->count[N_BYTES], m->tot);
	xk_push(mr->s, m);
}

static void media_timer(struct xk_timer *t)
{
	struct media_rep *mr = xk_container_of(t, struct media_rep, timer);
	const struct media_conf *c = conf_of(mr->r);

	/* As many as are due: timers have a grain. */
	for (; mr->s != NULL && mr->due <= xk_vp_now() && (c->count == 0 || mr->next < c->count); mr->next++) {
		send_frame(mr);
		mr->due += c->period;
	}
	if (mr->s == NULL)
		return;
	if (c->count == 0 || mr->next < c->count)
		xk_timer_set(mr->r->wheel, t, mr->due);
	else
		xk_app_finished(mr->r->node);
}

static int open_path(struct media_rep *mr, struct xk_errs *e)
{
	const struct media_conf *c = conf_of(mr->r);
	struct ncs_names w = { .path = c->path != NULL && *c->path != '\0' ? c->path : NULL };
	struct xk_parts ps;
	int err = xk_control(mr->r->down[0], NCS_CTL_PICK, &w, sizeof w);

	if (err != XK_OK) {
		xk_node_error(mr->r->node, e, "there is no path '%s' below '%s'", w.wrong != NULL ? w.wrong : "",
			      xk_node_name(mr->r->down[0]->node));
		return err;
	}
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	xk_part_push_port(&ps.p[XK_REMOTE], c->port);
	xk_part_push(&ps.p[XK_LOCAL], &w.pick, sizeof w.pick);
	mr->s = xk_open(mr->r, mr->r->node, mr->r->down[0], &ps, &err);
	if (mr->s != NULL)
		return XK_OK;
	xk_node_error(mr->r->node, e, "cannot open its connection: %s", xk_strerror(err));
	return err;
}

/* ---- receiving --------------------------------------------------------------------------------------- */

static struct media_end *end_on(const struct xk_sess *lls)
{
	struct xk_up *up = lls->up;

	return up != NULL && up != &up->rep->up ? xk_container_of(up, struct media_end, s.self) : NULL;
}

static int media_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct media_rep *mr = r->state;
	struct xk_sess *s = xk_sess_create(r, NULL, r->node, lls);
	struct media_end *e = (struct media_end *)(void *)s;

	(void)type;
	if (s == NULL)
		return XK_E_NOMEM;
	e->any = false;
	e->next = 0;
	e->fastest = 0;
	lls->up = &s->self;
	e->link = (struct xk_listed){ NULL, NULL };
	xk_list_put(&mr->ends, &e->link);
	xk_dup(lls);
	xk_count(r->count[N_OPENED]);
	return XK_OK;
}

static void end_free(struct media_end *e)
{
	struct xk_sess *lls = e->s.down;

	lls->up = &e->s.rep->up;
	e->s.down = NULL;
	xk_list_take(&e->link);
	xk_sess_destroy(&e->s);
	xk_close(lls);
}

/* By two clocks, which may be apart, but not by more than lives: their differences have a sign. */
static bool is_apart(int64_t took) { return took > INT64_MAX / 2 || took < -(INT64_MAX / 2); }

/* When it came, by what the fastest one took. */
static void judge(struct media_end *e, int64_t took)
{
	if (!e->any || took < e->fastest)
		e->fastest = took;
	if ((uint64_t)took - (uint64_t)e->fastest > conf_of(e->s.rep)->deadline)
		xk_count(e->s.rep->count[N_LATE]);
}

static void media_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct media_end *e = end_on(lls);
	uint8_t head[HEAD];
	int64_t took;
	uint32_t no;

	xk_count(r->npop);
	if (m->tot >= HEAD)
		xk_msg_copy_out(m, 0, head, HEAD);
	if (e == NULL || m->tot < HEAD || xk_be32(head) != MAGIC) {
		xk_drop(r, DROP_STRANGE, m);
		return;
	}
	took = (int64_t)(xk_vp_now() - xk_be64(head + 8));
	if (is_apart(took)) {
		xk_drop(r, DROP_STRANGE, m);
		return;
	}
	no = xk_be32(head + 4);
	if (e->any && (int32_t)(no - e->next) < 0) {
		xk_drop(r, DROP_OLD, m);
		return;
	}
	xk_count_add(r->count[N_MISSING], no - e->next);
	judge(e, took);
	e->any = true;
	e->next = no + 1;
	xk_count(r->count[N_FRAMES]);
	xk_count_add(r->count[N_BYTES], m->tot);
	xk_msg_free(m);
}

static void media_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct media_rep *mr = r->state;
	struct media_end *e = end_on(lls);

	if (e != NULL) {
		end_free(e);
	} else if (mr->s == lls) {
		xk_timer_cancel(r->wheel, &mr->timer);
		mr->s = NULL;
		xk_close(lls);
		if (conf_of(r)->count == 0 || mr->next < conf_of(r)->count)
			xk_node_failed(r->node, "its peer has refused or closed the connection");
	}
}

/* ---- life --------------------------------------------------------------------------------------------- */

static int media_rep_init(struct xk_rep *r)
{
	struct media_rep *mr = r->state;

	mr->r = r;
	xk_timer_init(&mr->timer, media_timer);
	return XK_OK;
}

static int media_init(struct xk_node *n, struct xk_errs *e)
{
	const struct media_conf *c = xk_node_conf(n);

	(void)e;
	if (c->to != 0 && c->count != 0)
		xk_app_will_finish(n);
	return XK_OK;
}

static int media_start(struct xk_node *n, struct xk_errs *e)
{
	const struct media_conf *c = xk_node_conf(n);

	return c->to == 0 ? xk_app_listen(n, c->port, e) : XK_OK;
}

static void media_stop(struct xk_node *n)
{
	xk_open_disable_all(n, xk_node_down(n, 0));
}

static int media_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct media_rep *mr = r->state;
	int err;

	if (conf_of(r)->to == 0 || !xk_app_is_here(r, 0))
		return XK_OK;
	err = open_path(mr, e);
	if (err != XK_OK)
		return err;
	mr->due = xk_vp_now() + conf_of(r)->period;
	xk_timer_set(r->wheel, &mr->timer, mr->due);
	return XK_OK;
}

static void media_rep_stop(struct xk_rep *r)
{
	struct media_rep *mr = r->state;
	struct xk_sess *s = mr->s;

	xk_timer_cancel(r->wheel, &mr->timer);
	mr->s = NULL;
	if (s != NULL)
		xk_close(s);
	while (!xk_list_empty(&mr->ends))
		end_free(xk_container_of(xk_list_first(&mr->ends), struct media_end, link));
}

static int media_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	/* One that is over counts as before: there are never fewer. */
	struct xk_app_counts c = { conf_of(r)->to == 0 || xk_app_is_here(r, 0), &r->count[N_FRAMES], &r->count[N_BYTES], NULL, NULL, NULL };

	return xk_app_answer(op, &c, buf, len);
}

static void media_review(const struct xk_view *v, struct xk_review *r)
{
	const struct media_conf *c = v->conf;

	if (c->to != 0)
		xk_review_reach(r, v, "to", c->to);
	else
		xk_review_ports(r, v, "port", c->port, 1);
}

static const struct xk_ops media_ops = {
	.init = media_init, .start = media_start, .stop = media_stop, .rep_init = media_rep_init, .rep_start = media_rep_start,
	.rep_stop = media_rep_stop, .open_done = media_open_done, .close_done = media_close_done, .demux = media_demux,
	.control = media_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct media_conf, field), ##__VA_ARGS__ }
static const struct xk_param media_params[] = {
	P(to, XK_P_IPV4, "0.0.0.0", "address to send to; 0.0.0.0: it receives"),
	P(port, XK_P_PORT, "5004", "port to send to, or to wait on", .min = "1"),
	P(path, XK_P_TEXT, "", "path of ncs by which it is sent; empty: the first"),
	P(size, XK_P_SIZE, "8KiB", "bytes of a frame", .min = "20", .max = "1MiB"),
	P(period, XK_P_TIME, "40ms", "time between frames", .min = "1ms", .max = "1h"),
	P(deadline, XK_P_TIME, "100ms", "a frame that took so much longer than the fastest is late", .max = "1h"),
	P(count, XK_P_UINT, "0", "frames that are sent; the graph may end then; 0: endless", .max = "2147483647"),
	XK_PARAM_END
};
static const char *const media_counts[] = { "frames", "bytes", "skipped", "late", "missing", "opened", NULL };
static const char *const media_drops[] = { "strange", "old", NULL };

const struct xk_proto xk_proto_media = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "media", .doc = "frames at a steady pace, of use until a deadline: sent, or received and judged",
	.ops = &media_ops, .needs = { "messages" }, .min_down = 1, .max_down = 1,
	.params = media_params, .conf_size = sizeof(struct media_conf),
	.rep_size = sizeof(struct media_rep), .sess_size = sizeof(struct media_end),
	.counts = media_counts, .drops = media_drops, .review = media_review,
};
