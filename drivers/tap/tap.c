/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap.c - a driver over a Linux TAP device: the host's kernel is the peer.
 *
 * One device, read by the first VP's replica (its task sleeps on the file
 * descriptor) and written by whichever VP pushes: a write is one frame and the
 * kernel serialises.  A frame that does not fit the kernel's queue is dropped
 * and counted, as a network card would.  When the device goes away the task
 * parks and the graph is told.
 * Invariant: a frame is read or written by exactly one system call.
 */
#include "drivers/common/edge.h"
#include "drivers/tap/tap_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_task.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define BURST      32u
#define ETH_HEADER 14u
#define VLAN_TAG   4u
#define MAX_IOV    64            /* segments of a frame that one system call takes */

struct tap_conf {
	char          *ifname, *netns;
	struct xk_cidr addr;
	uint64_t       mtu;
	uint8_t        mac[6];
	unsigned       classifier;
};

#define TAP_DROPS(X) \
	X(TOO_LONG, "too_long")          /* longer than the device's largest frame */ \
	X(FULL, "queue_full")            /* the kernel would have made us wait */ \
	X(DOWN, "interface_down")        /* nobody has brought up the host's side */ \
	X(GONE, "device_gone")           /* the device was removed */ \
	X(PIECES, "too_many_pieces")     /* no single system call could write it */
enum {
	TAP_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) TAP_DROP_##id,
	TAP_DROPS(X)
#undef X
};
enum { N_READ, N_WRITTEN, N_ERRORS };

struct tap_state {
	int      fd;
	bool     open;                   /* zeroed memory is a legal state */
	uint32_t frame_max;
};

/* Used on the first VP only. */
struct tap_rep {
	struct xk_task task;
	struct xk_rep *rep;
	struct xk_msg *spare;            /* the buffer that the last read left empty */
};

static const struct tap_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct tap_state *state_of(const struct xk_rep *r) { return r->node->state; }

/* ---- frames in -------------------------------------------------------------------- */

static unsigned msg_iov(struct xk_msg *m, struct iovec *v)
{
	unsigned n = 0;

	for (; m != NULL && n <= MAX_IOV; m = m->next, n++) {
		if (n < MAX_IOV) {
			v[n].iov_base = m->data;
			v[n].iov_len = m->len;
		}
		if (!(m->flags & XK_MSG_CHAIN))
			return n + 1;
	}
	return n;
}

static ssize_t tap_read(int fd, struct xk_msg *m)
{
	struct iovec v[MAX_IOV];
	ssize_t n;

	do
		n = m->flags & XK_MSG_CHAIN ? readv(fd, v, (int)msg_iov(m, v)) : read(fd, m->data, m->len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* One frame, or NULL: none there, no memory, or the device has gone. */
static struct xk_msg *tap_take(struct tap_rep *tr)
{
	struct xk_rep *r = tr->rep;
	struct tap_state *st = state_of(r);
	struct xk_msg *m = tr->spare;
	ssize_t n;

	tr->spare = NULL;
	if (m == NULL)
		m = xk_msg_new(st->frame_max + VLAN_TAG);
	if (m == NULL) {
		xk_count(r->drop[XK_DROP_NOMEM]);
		return NULL;
	}
	n = tap_read(st->fd, m);
	if (n > 0) {
		xk_msg_truncate(m, (uint32_t)n);
		return m;
	}
	tr->spare = m;
	if (n < 0 && errno != EAGAIN) {
		xk_count(r->count[N_ERRORS]);
		XK_TRACE(&r->node->log, 1, "cannot read the device any more: %s", strerror(errno));
		xk_task_park(&tr->task);
		xk_node_failed(r->node, "its device is gone");
	}
	return NULL;
}

static unsigned tap_run(struct xk_task *t, unsigned budget)
{
	struct tap_rep *tr = xk_container_of(t, struct tap_rep, task);
	struct xk_msg *burst[BURST];
	unsigned n = 0;

	if (budget > BURST)
		budget = BURST;
	while (n < budget && (burst[n] = tap_take(tr)) != NULL)
		n++;
	xk_count_add(tr->rep->count[N_READ], n);
	if (n != 0)
		xk_input(tr->rep, burst, n);
	return n;
}

/* ---- frames out ----------------------------------------------------------------------- */

static unsigned write_fault(struct xk_rep *r, int err)
{
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

static void tap_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct tap_state *st = state_of(r);
	struct iovec v[MAX_IOV];
	unsigned n;
	ssize_t res;

	if (m->tot > st->frame_max) {
		xk_drop(r, TAP_DROP_TOO_LONG, m);
		return;
	}
	n = msg_iov(m, v);
	if (n > MAX_IOV) {
		xk_drop(r, TAP_DROP_PIECES, m);
		return;
	}
	do
		res = writev(st->fd, v, (int)n);
	while (res < 0 && errno == EINTR);
	if (res < 0) {
		xk_drop(r, write_fault(r, errno), m);
		return;
	}
	xk_count(r->count[N_WRITTEN]);
	xk_msg_free(m);
}

/* ---- sessions ---------------------------------------------------------------------------- */

static int tap_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return xk_edge_control((struct xk_edge){ state_of(r)->frame_max, XK_LINK_ETH, conf_of(r)->mac }, op, buf, len);
}

static int tap_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return tap_control(s->rep, op, buf, len);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int tap_init(struct xk_node *n, struct xk_errs *e)
{
	const struct tap_conf *c = n->conf;
	struct tap_state *st = n->state;
	struct tap_want w = { c->ifname, c->netns, c->addr, (uint32_t)c->mtu };
	char why[256];
	int err = tap_dev_open(&w, &st->fd, why, sizeof why);

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
		close(st->fd);
	st->open = false;
}

static int tap_rep_init(struct xk_rep *r)
{
	struct tap_rep *tr = r->state;

	tr->rep = r;
	xk_task_init(&tr->task, r->vp, tap_run);
	tr->task.fd = state_of(r)->fd;
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
	if (tr->spare != NULL)
		xk_msg_free(tr->spare);
	tr->spare = NULL;
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
	.enter = xk_input_enter, .control = tap_control, .sess_control = tap_sess_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct tap_conf, field), ##__VA_ARGS__ }

static const struct xk_param tap_params[] = {
	P(ifname, XK_P_TEXT, "xk0", "name of the TAP device; made if it is not there"),
	P(addr, XK_P_CIDR, NULL, "address of the host's side: brings the interface up with it; unset: set it up yourself"),
	P(netns, XK_P_TEXT, NULL, "network namespace for the host's side, a name of \"ip netns\""),
	P(mtu, XK_P_SIZE, "1500", "largest payload of a frame", .min = "68", .max = "65521"),
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
static const char *const tap_counts[] = { "read", "written", "device_errors", NULL };

const struct xk_proto xk_proto_tap = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "tap",
	.doc = "a Linux TAP device: the host's kernel is the peer (needs CAP_NET_ADMIN)",
	.is_driver = true, .ops = &tap_ops, .offers = "frame", .params = tap_params,
	.conf_size = sizeof(struct tap_conf), .node_size = sizeof(struct tap_state),
	.rep_size = sizeof(struct tap_rep), .sess_size = sizeof(struct xk_sess),
	.check = tap_check, .drops = tap_drops, .counts = tap_counts,
	.review = tap_review, .ask = xk_edge_ask_eth,
};
