/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockload.c - an event-driven application over sockets, with threads of its own (Willmann and others, section 4).
 *
 * load and sink live inside the virtual processors, so what they ask of a stream is a
 * call in the same thread.  This application is where a program is: outside, and every
 * write and read of its threads enters a VP as the architecture says, by borrowing
 * it or by waiting for whoever owns it, which is what the architectures differ in.
 * A sender establishes all its connections and then waits for the runner's word
 * (XK_CTL_APP_GATE), so that opening is no part of what is measured.
 * Invariant: threads exist between run and halt only.
 */
#include "protocols/sockload/sockload_priv.h"

#include <stdio.h>
#include <string.h>

#include "protocols/stream/stream_app.h"
#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_outside.h"

#define APART (XK_CACHELINE / sizeof(xk_counter))    /* counters of two replicas share no line */

/* ---- who has which connection -------------------------------------------------------- */

static uint64_t share_of(const struct load_node *ln, unsigned thread)
{
	return ln->c->conns / ln->nthreads + (thread < ln->c->conns % ln->nthreads);
}

/* Slots of replica v, threads v, v + nvps, ...; *first: where they begin. */
static uint64_t slots_of(const struct load_node *ln, unsigned v, uint64_t *first)
{
	unsigned nvps = xk_node_nvps(ln->node);
	uint64_t n = 0;

	*first = 0;
	for (unsigned r = 0; r <= v && v < ln->nthreads; r++) {
		*first += r != 0 ? n + APART : 0;
		n = 0;
		for (unsigned t = r; t < ln->nthreads; t += nvps)
			n += share_of(ln, t);
	}
	return n;
}

static void deal(struct load_node *ln)
{
	unsigned nvps = xk_node_nvps(ln->node);

	for (unsigned v = 0; v < nvps && v < ln->nthreads; v++) {
		uint64_t at;

		(void)slots_of(ln, v, &at);
		for (unsigned i = v; i < ln->nthreads; i += nvps) {
			struct load_thread *t = &ln->thread[i];

			t->ln = ln;
			t->no = i;
			t->n = share_of(ln, i);
			t->conn = ln->conn + at;
			t->messages = ln->messages + at;
			t->bytes = ln->bytes + at;
			for (uint64_t k = 0; k < t->n; k++)
				ln->no[at + k] = i + k * ln->nthreads;
			at += t->n;
		}
	}
}

/* ---- memory ------------------------------------------------------------------------------ */

static void load_fini(struct xk_node *n)
{
	struct load_node *ln = n->state;

	while (ln->nmade > 0) {
		struct load_thread *t = &ln->thread[--ln->nmade];

		xk_event_fini(&t->event);
		xk_free(t->act);
		xk_free(t->buf);
	}
	xk_free(ln->thread);
	xk_free(ln->conn);
	xk_free(ln->messages);
	xk_free(ln->page);
	memset(ln, 0, sizeof *ln);
}

static int make_thread(struct load_node *ln, struct load_thread *t)
{
	int err = xk_event_init(&t->event);

	if (err != XK_OK)
		return err;
	ln->nmade++;
	t->act = xk_alloc((t->n + 1) * sizeof *t->act);
	t->buf = xk_alloc(LOAD_BUF);
	return t->act != NULL && t->buf != NULL ? XK_OK : XK_E_NOMEM;
}

static int make_all(struct load_node *ln)
{
	unsigned nvps = xk_node_nvps(ln->node), last = (nvps < ln->nthreads ? nvps : ln->nthreads) - 1;
	uint64_t first, n = slots_of(ln, last, &first);
	int err = XK_OK;

	ln->nslots = first + n;
	ln->thread = xk_alloc(ln->nthreads * sizeof *ln->thread);
	ln->conn = xk_alloc(ln->nslots * sizeof *ln->conn);
	ln->messages = xk_alloc(3 * ln->nslots * sizeof *ln->messages);
	ln->page = xk_alloc(ln->c->size);
	if (ln->thread == NULL || ln->conn == NULL || ln->messages == NULL || ln->page == NULL)
		return XK_E_NOMEM;
	ln->bytes = ln->messages + ln->nslots;
	ln->no = ln->bytes + ln->nslots;
	stream_pattern(ln->page, ln->c->size);
	deal(ln);
	for (unsigned i = 0; err == XK_OK && i < ln->nthreads; i++)
		err = make_thread(ln, &ln->thread[i]);
	return err;
}

#define NO_TIME "has threads of its own, outside the virtual processors, and a simulated clock would not wait for them: " \
	"clock must be \"real\""

static int load_init(struct xk_node *n, struct xk_errs *e)
{
	struct load_node *ln = n->state;
	struct xk_vpset *set = xk_node_vpset(n);
	const struct load_conf *c = n->conf;
	int err;

	/* The clock may have been chosen after the review. */
	if (xk_node_simulated(n)) {
		xk_errs_add(e, n->file, n->line, 0, "%s: %s", n->name, NO_TIME);
		return XK_E_NOTSUP;
	}
	ln->node = n;
	ln->c = c;
	ln->sock = n->down[0];
	ln->unfinished = c->conns;
	ln->nthreads = c->threads != 0 ? (unsigned)c->threads : xk_outside_most(set);
	if (ln->nthreads > c->conns)
		ln->nthreads = (unsigned)c->conns;
	err = make_all(ln);
	if (err != XK_OK) {
		load_fini(n);
		return err;
	}
	xk_outside_plan(set, ln->nthreads);
	if (c->count != 0)
		xk_app_will_finish(n);
	return XK_OK;
}

/* ---- threads ---------------------------------------------------------------------------------- */

static int listen_on(struct load_node *ln)
{
	const struct xk_sock_addr a = { XK_SOCK_ANY, ln->c->port };
	int fd = xk_sock_socket(ln->sock, XK_SOCK_STREAM | XK_SOCK_NONBLOCK), err;

	if (fd < 0)
		return fd;
	ln->listener = fd;
	err = xk_sock_bind(fd, &a);
	return err == XK_OK ? xk_sock_listen(fd, (unsigned)ln->c->conns) : err;
}

/* Before anybody runs, so that no peer comes too early. */
static int load_start(struct xk_node *n, struct xk_errs *e)
{
	struct load_node *ln = n->state;
	int err = load_sends(ln) ? XK_OK : listen_on(ln);

	if (err == XK_OK)
		return XK_OK;
	xk_errs_add(e, n->file, n->line, 0, "%s: cannot wait on port %u: %s", n->name, ln->c->port, xk_strerror(err));
	(void)xk_sock_close(ln->listener);
	return err;
}

/* Where the sockets' own node has done so, this finds nothing. */
static void load_stop(struct xk_node *n)
{
	(void)xk_sock_close(((struct load_node *)n->state)->listener);
}

static void wake_all(struct load_node *ln)
{
	for (unsigned i = 0; i < ln->nthreads; i++)
		xk_event_wake(&ln->thread[i].event);
}

/* They may be anywhere: asleep for the runner's word, in a call, or waiting in one. */
static void load_halt(struct xk_node *n)
{
	struct load_node *ln = n->state;

	xk_store_release(&ln->halt, 1u);
	wake_all(ln);
	xk_sock_stop(ln->sock);
	for (unsigned i = 0; i < ln->nthreads; i++)
		xk_outside_join(&ln->thread[i].outside);
	for (unsigned i = 0; i < ln->nthreads; i++) {
		xk_sock_set_free(ln->thread[i].set);
		ln->thread[i].set = NULL;
	}
}

static int start_thread(struct load_node *ln, struct load_thread *t)
{
	char name[16];
	int err = xk_sock_set_new(ln->sock, &t->set);

	snprintf(name, sizeof name, "load-%u", t->no % 100000u);
	return err == XK_OK ? xk_outside_start(&t->outside, xk_node_vpset(ln->node), name, load_main, t) : err;
}

static int load_run(struct xk_node *n, struct xk_errs *e)
{
	struct load_node *ln = n->state;

	for (unsigned i = 0; i < ln->nthreads; i++)
		ln->thread[i].count = n->rep[i % xk_node_nvps(n)]->count;
	for (unsigned i = 0; i < ln->nthreads; i++) {
		int err = start_thread(ln, &ln->thread[i]);

		if (err == XK_OK)
			continue;
		xk_errs_add(e, n->file, n->line, 0, "%s: cannot start thread %u of %u: %s", n->name, i + 1, ln->nthreads,
			    xk_strerror(err));
		load_halt(n);
		return err;
	}
	return XK_OK;
}

/* ---- questions ------------------------------------------------------------------------------------ */

static struct xk_app_counts counts_of(const struct xk_rep *r)
{
	const struct load_node *ln = r->node->state;
	uint64_t at, n = slots_of(ln, r->no, &at);

	return (struct xk_app_counts){ n, ln->messages + at, ln->bytes + at, ln->no + at, NULL, NULL };
}

static int tell_gate(struct load_node *ln, struct xk_app_gate *a)
{
	if (ln->c->within == 0)
		return XK_E_NOTSUP;
	if (a->go) {
		xk_store_release(&ln->go, 1u);
		wake_all(ln);
	}
	a->ready = xk_load_acquire(&ln->up);
	a->failed = xk_load_acquire(&ln->lost);
	a->of = ln->c->conns;
	a->within = ln->c->within;
	return sizeof *a;
}

static int load_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct xk_app_counts c;
	struct xk_app_gate a;
	int res;

	if (op == XK_CTL_APP_COUNTS) {
		c = counts_of(r);
		return xk_app_answer(op, &c, buf, len);
	}
	if (op != XK_CTL_APP_GATE)
		return XK_E_NOTSUP;
	res = xk_take(&a, sizeof a, buf, len);
	if (res != XK_OK)
		return res;
	res = tell_gate(r->node->state, &a);
	memcpy(buf, &a, sizeof a);
	return res;
}

/* ---- schema ------------------------------------------------------------------------------------------ */

static int load_check(const void *conf, char *why, size_t n)
{
	const struct load_conf *c = conf;

	if (c->to == 0 && c->count != 0)
		snprintf(why, n, "count is of who sends, with 'to': who waits for connections is done when its peers are");
	else if (c->to != 0 && c->verify)
		snprintf(why, n, "verify is of who reads: it goes without 'to'");
	else
		return XK_OK;
	return XK_E_INVAL;
}

/* Bytes in order, all of them, and no boundaries between messages. */
static bool is_stream(const struct xk_view *v)
{
	const uint32_t all = XK_GIVES_ORDER | XK_GIVES_RELIABLE;
	uint32_t gives = 0;

	return xk_view_ask(v, XK_CTL_GIVES, &gives, sizeof gives) == (int)sizeof gives &&
	       (gives & (all | XK_GIVES_BOUNDARIES)) == all;
}

/* Whose streams the sockets are. */
static const struct xk_view *stream_below(const struct xk_view *sock)
{
	for (unsigned i = 0; i < sock->ndown; i++) {
		const struct xk_view *v = xk_view_base(sock->down[i]);

		if (is_stream(v))
			return v;
	}
	return NULL;
}

static void load_review(const struct xk_view *v, struct xk_review *r)
{
	const struct load_conf *c = v->conf;
	const struct xk_claim port = { .param = "port", .of = stream_below(v->down[0]), .what = "port", .first = c->port, .n = 1 };

	if (r->is_virtual)
		xk_review_fault(r, v, NULL, "%s", NO_TIME);
	if (port.of == NULL)
		xk_review_fault(r, v, NULL, "%s is over nothing that offers 'stream'", v->down[0]->name);
	else if (c->to == 0)
		xk_review_claim(r, v, &port);
	if (c->to != 0)
		xk_review_reach(r, v, "to", c->to);
}

static const struct xk_ops load_ops = {
	.init = load_init, .fini = load_fini, .start = load_start, .stop = load_stop, .run = load_run, .halt = load_halt,
	.control = load_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct load_conf, field), ##__VA_ARGS__ }

static const struct xk_param load_params[] = {
	P(to, XK_P_IPV4, NULL, "address to connect and to send to; unset: waits for connections and reads"),
	P(port, XK_P_PORT, "9", "port to connect to, or to wait on", .min = "1"),
	P(conns, XK_P_UINT, "1", "connections, dealt to the threads: opened at once, or accepted in all", .min = "1", .max = "65000"),
	P(threads, XK_P_UINT, "0", "threads, outside the virtual processors; 0: as many as the workers have processors", .max = "1024"),
	P(size, XK_P_SIZE, "4KiB", "bytes of a message", .min = "1", .max = "1MiB"),
	P(count, XK_P_UINT, "0", "messages of each connection, which then ends; the graph may end, too; 0: endless"),
	P(burst, XK_P_UINT, "16", "most writes, or reads, of a connection before the next one's turn", .min = "1", .max = "1024"),
	P(within, XK_P_TIME, "30s", "measuring, and sending, begins when all connections are established, which may take so "
	  "long; 0s: each sends as soon as its thread has opened its own", .max = "1h"),
	P(verify, XK_P_BOOL, "false", "compares what comes with what a sockload or load of the same size sends"),
	XK_PARAM_END
};

static const char *const load_counts[] = {
	"messages", "bytes", "received_bytes", "opened", "ended", "refused", "reset", "failed", "wrong_bytes", "no_memory",
	"polls", NULL
};

const struct xk_proto xk_proto_sockload = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "sockload",
	.doc = "an event-driven application: threads outside the virtual processors, over sockets", .ops = &load_ops,
	.needs = { "socket" }, .min_down = 1, .max_down = 1,
	.params = load_params, .conf_size = sizeof(struct load_conf), .node_size = sizeof(struct load_node),
	.check = load_check, .counts = load_counts, .review = load_review,
};
