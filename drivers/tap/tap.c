/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap.c - a driver over a Linux TAP device: the host's kernel is the peer.
 *
 * One device, read by the first VP's replica (its task sleeps on the file
 * descriptor) and written by whichever VP pushes: a write is one frame and the
 * kernel serialises.  A frame that does not fit the kernel's queue is dropped
 * and counted, as a network card would.  When the device goes away the task
 * parks, and the graph is told, or it is made again.
 *
 * Where the kernel can, each frame has a header of virtio-net before it: a super-segment of TCP or
 * UDP goes to the kernel as one, its checksum left to it; and what the kernel would have to cut
 * into frames for us it gives us as one, when all above takes that.  Segments to read into
 * wait in an array: of those, a frame takes as many as it fills.
 * Invariant: a frame, or a super-segment, is read or written by exactly one system call.
 */
#include "drivers/common/burst.h"
#include "drivers/common/cut.h"
#include "drivers/common/edge.h"
#include "drivers/common/vnet_hdr.h"
#include "drivers/tap/tap_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/msg/xk_msg_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_task.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define ETH_HEADER 14u
#define VLAN_TAG   4u
#define MAX_IOV    256u          /* pieces of a frame that one system call takes */

/* ---- frames in -------------------------------------------------------------------- */

/* Bytes that the i-th segment holds: the first, an ordinary frame. */
static uint32_t seg_room(const struct tap_state *st, unsigned i)
{
	uint32_t first = st->frame_max + VLAN_TAG;

	return i == 0 && first < XK_MSG_MAX_SEG ? first : XK_MSG_MAX_SEG;
}

/* How many segments the longest frame takes. */
static unsigned seg_count(const struct tap_state *st, bool takes_long)
{
	uint32_t most = takes_long ? ETH_HEADER + XK_CUT_MAX : st->frame_max, room = 0;
	unsigned n = 0;

	if (most < st->frame_max)
		most = st->frame_max;
	while (room < most + VLAN_TAG)
		room += seg_room(st, n++);
	xk_assert(n <= TAP_SEGS);
	return n;
}

/* False: memory is out. */
static bool segs_fill(struct tap_rep *tr)
{
	const struct tap_state *st = tap_state(tr->rep);

	for (unsigned i = 0; i < tr->nseg; i++) {
		if (tr->seg[i] == NULL)
			tr->seg[i] = xk_msg_new(seg_room(st, i));
		if (tr->seg[i] == NULL)
			return false;
	}
	return true;
}

/* Those that hold the n bytes just read, as one message; the others stay. */
static struct xk_msg *segs_take(struct tap_rep *tr, uint32_t n)
{
	struct xk_msg *m = tr->seg[0], *last = m;
	uint32_t left = n - (n < m->len ? n : m->len);

	tr->seg[0] = NULL;
	for (unsigned i = 1; left != 0; i++) {
		uint32_t k = left < tr->seg[i]->len ? left : tr->seg[i]->len;

		last = xk_msg_append(m, last, tr->seg[i]);
		tr->seg[i] = NULL;
		left -= k;
	}
	xk_msg_truncate(m, n);
	return m;
}

/* A frame into the segments, what lies before it into h; bytes of the frame, 0 or less: none. */
static ssize_t tap_read(const struct tap_rep *tr, uint8_t *h)
{
	const struct tap_dev *d = &tap_state(tr->rep)->dev;
	struct iovec v[1 + TAP_SEGS];
	unsigned k = 0;
	ssize_t n;

	if (d->vnet)
		v[k++] = (struct iovec){ h, XK_VNET_LEN };
	for (unsigned i = 0; i < tr->nseg; i++)
		v[k++] = (struct iovec){ tr->seg[i]->data, tr->seg[i]->len };
	do
		n = readv(d->fd, v, (int)k);
	while (n < 0 && errno == EINTR);
	if (!d->vnet || n <= 0)
		return n;
	return n > (ssize_t)XK_VNET_LEN ? n - (ssize_t)XK_VNET_LEN : 0;
}

static void read_failed(struct tap_rep *tr)
{
	struct xk_rep *r = tr->rep;

	xk_count(r->count[N_ERRORS]);
	XK_TRACE(&r->node->log, 1, "cannot read the device any more: %s", strerror(errno));
	xk_task_park(&tr->task);
	if (tap_conf(r)->reattach)
		xk_timer_set(r->wheel, &tr->back, xk_vp_now() + TAP_BACK_EVERY);
	else
		xk_node_failed(r->node, "its device is gone");
}

/* One frame and what its header says, or NULL: none there, no memory, or the device has gone. */
static struct xk_msg *tap_take(struct tap_rep *tr, uint8_t *h)
{
	ssize_t n;

	if (XK_UNLIKELY(!segs_fill(tr))) {
		xk_dropped(tr->rep, XK_DROP_NOMEM, 1);
		return NULL;
	}
	n = tap_read(tr, h);
	if (n > 0)
		return segs_take(tr, (uint32_t)n);
	if (n < 0 && errno != EAGAIN)
		read_failed(tr);
	return NULL;
}

/* m, with the header h where there is one. */
static inline void input(struct tap_rep *tr, struct xk_burst *b, struct xk_msg *m, const uint8_t *h)
{
	const struct tap_state *st = tap_state(tr->rep);
	struct xk_vnet v;

	if (st->dev.vnet) {
		if (XK_UNLIKELY(!xk_vnet_read(h, m, ETH_HEADER, &v))) {
			xk_drop(tr->rep, TAP_DROP_VNET, m);
			return;
		}
		m->flags |= v.vouched ? XK_MSG_CSUM_OK : 0;
		xk_count_add(tr->rep->count[N_SUPER_READ], v.seg != 0);
		if (v.udp || (v.seg != 0 && xk_captured(tr->rep->node))) {
			xk_burst_cut(b, m, v.seg, st->frame_max, TAP_DROP_VNET);
			return;
		}
		if (xk_captured(tr->rep->node))
			xk_vnet_complete(h, m);
	}
	xk_burst_add(b, m);
}

static XK_NOINLINE void ask_above(struct tap_rep *tr)
{
	struct xk_rep *r = tr->rep;

	tr->asked = true;
	tr->takes_long = tap_state(r)->dev.vnet && xk_burst_takes_long(r);
	tr->nseg = seg_count(tap_state(r), tr->takes_long);
	if (tr->takes_long)
		tap_dev_take_long(&tap_state(r)->dev);
}

static unsigned tap_run(struct xk_task *t, unsigned budget)
{
	struct tap_rep *tr = xk_container_of(t, struct tap_rep, task);
	struct xk_burst b;
	uint8_t h[XK_VNET_LEN];
	struct xk_msg *m;
	unsigned n = 0;

	if (XK_UNLIKELY(!tr->asked && tr->rep->drv_sess != NULL))
		ask_above(tr);
	xk_burst_begin(&b, tr->rep);
	if (budget > XK_BURST)
		budget = XK_BURST;
	for (; n < budget && (m = tap_take(tr, h)) != NULL; n++)
		input(tr, &b, m, h);
	xk_count_add(tr->rep->count[N_READ], n);
	xk_burst_up(&b);
	return n;
}

/* ---- frames out ----------------------------------------------------------------------- */

static unsigned write_fault(struct xk_rep *r, const struct xk_msg *m, int err)
{
	if (err == EINVAL && (m->flags & XK_MSG_SUPER))
		return TAP_DROP_SUPER;
	switch (err) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return TAP_DROP_FULL;
	case EIO:
		return TAP_DROP_DOWN;
	default:
		xk_count(r->count[N_ERRORS]);
		return TAP_DROP_GONE;
	}
}

/* The pieces of m from v[n] on, those joined that lie behind each other; their number, more than MAX_IOV
 * when there are too many. */
static unsigned msg_iov(const struct xk_msg *m, struct iovec *v, unsigned n)
{
	for (; m != NULL && n <= MAX_IOV; m = m->next) {
		if (m->len == 0)
			continue;
		if (n != 0 && (uint8_t *)v[n - 1].iov_base + v[n - 1].iov_len == m->data) {
			v[n - 1].iov_len += m->len;
			continue;
		}
		if (n < MAX_IOV)
			v[n] = (struct iovec){ m->data, m->len };
		n++;
	}
	return n;
}

/* m, behind the header h where there is one.  Consumes it; was it written? */
static bool tap_write(struct xk_rep *r, struct xk_msg *m, uint8_t *h)
{
	const struct tap_dev *d = &tap_state(r)->dev;
	struct iovec v[MAX_IOV];
	unsigned n = 0;
	ssize_t res;

	if (d->vnet)
		v[n++] = (struct iovec){ h, XK_VNET_LEN };
	n = msg_iov(m, v, n);
	if (n > MAX_IOV) {
		xk_drop(r, TAP_DROP_PIECES, m);
		return false;
	}
	do
		res = writev(d->fd, v, (int)n);
	while (res < 0 && errno == EINTR);
	if (res < 0) {
		xk_drop(r, write_fault(r, m, errno), m);
		return false;
	}
	xk_msg_free(m);
	return true;
}

static void write_frame(struct xk_rep *r, struct xk_msg *m)
{
	uint8_t h[XK_VNET_LEN];

	xk_vnet_none(h);
	if (tap_write(r, m, h))
		xk_count(r->count[N_WRITTEN]);
}

/* Frame by frame, for a kernel that does not do it. */
static XK_NOINLINE void write_cut(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_msgq q;

	xk_msgq_init(&q);
	xk_cut_down(r, m, tap_state(r)->frame_max, TAP_DROP_SUPER, &q);
	while ((m = xk_msgq_get(&q)) != NULL)
		write_frame(r, m);
}

static XK_NOINLINE void write_super(struct xk_rep *r, struct xk_msg *m)
{
	const struct tap_state *st = tap_state(r);
	uint8_t h[XK_VNET_LEN];
	bool udp;

	if (!st->dev.vnet || !xk_vnet_super(h, m, ETH_HEADER, st->frame_max, &udp) || (udp && !st->dev.datagrams))
		write_cut(r, m);
	else if (tap_write(r, m, h))
		xk_count(r->count[N_SUPER_WRITTEN]);
}

static void tap_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;

	if (m->flags & XK_MSG_SUPER)
		write_super(r, m);
	else if (m->tot > tap_state(r)->frame_max)
		xk_drop(r, TAP_DROP_TOO_LONG, m);
	else
		write_frame(r, m);
}

/* ---- sessions ---------------------------------------------------------------------------- */

static int tap_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	if (op == XK_CTL_SENDS_SUPER)
		return tap_state(r)->dev.vnet;
	if (op == XK_CTL_GETMAXSUPER)
		return xk_answer32(buf, len, tap_state(r)->dev.vnet ? ETH_HEADER + XK_CUT_MAX : 0);
	return xk_edge_control((struct xk_edge){ tap_state(r)->frame_max, XK_LINK_ETH, tap_conf(r)->mac }, op, buf, len);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int tap_init(struct xk_node *n, struct xk_errs *e)
{
	const struct tap_conf *c = n->conf;
	struct tap_state *st = n->state;
	struct tap_want w = tap_want_of(c);
	char why[256];
	int err = tap_dev_open(&w, &st->dev, why, sizeof why);

	if (err != XK_OK) {
		xk_errs_add(e, n->file, n->line, 0, "%s: %s", n->name, why);
		return err;
	}
	st->open = true;
	st->frame_max = (uint32_t)c->mtu + ETH_HEADER;
	return XK_OK;
}

static void tap_fini(struct xk_node *n)
{
	struct tap_state *st = n->state;

	if (st->open)
		close(st->dev.fd);
	st->open = false;
}

static int tap_rep_init(struct xk_rep *r)
{
	struct tap_rep *tr = r->state;

	tr->rep = r;
	xk_timer_init(&tr->back, tap_back);
	xk_task_init(&tr->task, r->vp, tap_run);
	tr->task.fd = tap_state(r)->dev.fd;
	tr->nseg = seg_count(tap_state(r), false);
	return XK_OK;
}

static int tap_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct tap_rep *tr = r->state;

	(void)e;
	if (xk_node_reader(r->node) == r->vp)
		xk_task_ready(&tr->task);
	return XK_OK;
}

static void tap_rep_stop(struct xk_rep *r)
{
	struct tap_rep *tr = r->state;

	xk_task_park(&tr->task);
	xk_timer_cancel(r->wheel, &tr->back);
	for (unsigned i = 0; i < TAP_SEGS; i++) {
		if (tr->seg[i] != NULL)
			xk_msg_free(tr->seg[i]);
		tr->seg[i] = NULL;
	}
}

static int tap_check(const void *conf, char *why, size_t n)
{
	const struct tap_conf *c = conf;

	if (c->ifname != NULL && strlen(c->ifname) > 15)
		snprintf(why, n, "ifname '%s' is longer than the 15 letters of an interface name", c->ifname);
	else if (!xk_edge_mac_fault(c->mac, why, n))
		return XK_OK;
	return XK_E_INVAL;
}

static void tap_review(const struct xk_view *v, struct xk_review *r)
{
	const struct tap_conf *c = v->conf;

	xk_review_interface(r, v, c->ifname, c->netns, 0, 0);
}

static const struct xk_ops tap_ops = {
	.init = tap_init, .fini = tap_fini, .rep_init = tap_rep_init,
	.rep_start = tap_rep_start, .rep_stop = tap_rep_stop,
	.open = xk_edge_open, .close = xk_edge_close, .push = tap_push,
	.enter = xk_input_enter, .control = tap_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct tap_conf, field), ##__VA_ARGS__ }

static const struct xk_param tap_params[] = {
	P(ifname, XK_P_TEXT, "xk0", "name of the TAP device; made if it is not there", .flags = XK_PF_HOST),
	P(addr, XK_P_CIDR, NULL, "address of the host's side: brings the interface up with it; unset: set it up yourself",
	  .flags = XK_PF_HOST),
	P(netns, XK_P_TEXT, NULL, "network namespace for the host's side, a name of \"ip netns\"",
	  .flags = XK_PF_HOST),
	P(mtu, XK_P_SIZE, "1500", "largest payload of a frame", .min = "68", .max = "65521"),
	P(offload, XK_P_BOOL, "true", "leave segmentation and checksums to the kernel, and take from it what it has not cut"),
	P(reattach, XK_P_BOOL, "false", "when the device is removed make it again, and go on there"),
	P(mac, XK_P_MAC, "02:00:00:00:00:01", "our address (the host's side has another)"),
	XK_CLASSIFIER_PARAM(struct tap_conf, classifier),
	XK_PARAM_END
};

static const char *const tap_drops[] = {
#define X(id, text) text,
	TAP_DROPS(X)
#undef X
	NULL
};
static const char *const tap_counts[] = {
	"read", "written", "device_errors", "super_segments_read", "super_segments_written", "looked_for", "reattached", NULL
};

const struct xk_proto xk_proto_tap = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "tap",
	.doc = "a Linux TAP device: the host's kernel is the peer (needs CAP_NET_ADMIN)",
	.is_driver = true, .is_host = true, .ops = &tap_ops, .offers = "frame/eth", .params = tap_params,
	.conf_size = sizeof(struct tap_conf), .node_size = sizeof(struct tap_state),
	.rep_size = sizeof(struct tap_rep), .sess_size = sizeof(struct xk_sess),
	.check = tap_check, .drops = tap_drops, .counts = tap_counts,
	.review = tap_review, .ask = xk_edge_ask_eth, .gives = xk_edge_gives_net,
};
