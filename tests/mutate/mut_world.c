/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_world.c - the host under test, the application above its TCP, and what the
 * test sees of both.
 *
 * The application holds every session that it is told of until mut_drop_ends, so
 * that a connection whose peer has vanished cannot be missed.
 * Invariant: a byte of a stream is judged when it is delivered, by its number.
 */
#include "tests/mutate/mut.h"

#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#define LONG_ENOUGH (1200 * XK_SEC)

extern const struct xk_proto xk_proto_eth, xk_proto_fddi, xk_proto_arp, xk_proto_ip, xk_proto_icmp, xk_proto_tcp,
	xk_proto_udp, xk_proto_echo;

struct pf mut_f;
struct mut_end mut_end[MUT_ENDS];

uint8_t mut_byte(uint32_t seq)
{
	return (uint8_t)(seq ^ seq >> 8 ^ seq >> 15);
}

void mut_fill(uint8_t *p, uint32_t n, uint32_t seq)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = mut_byte(seq + i);
}

/* ---- the application ---------------------------------------------------------------- */

struct mut_end *mut_end_of(const struct xk_sess *s)
{
	for (unsigned i = 0; i < MUT_ENDS; i++)
		if (mut_end[i].s == s)
			return &mut_end[i];
	return NULL;
}

static struct mut_end *end_new(struct xk_sess *s)
{
	struct mut_end *e = mut_end_of(NULL);

	if (e != NULL)
		*e = (struct mut_end){ .s = s };
	return e;
}

static int app_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct mut_end *e = end_new(lls);

	(void)r;
	(void)type;
	if (e == NULL)
		return XK_E_NOSPC;
	xk_dup(lls);
	e->opened = true;
	e->back = tcp_lport(tcp_sess(lls)) == MUT_ECHO;
	return 0;
}

static void app_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	struct mut_end *e = mut_end_of(lls);

	(void)r;
	if (e != NULL) {
		e->late |= e->closed;
		e->closed = true;
	}
}

static int app_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_stream_event *v = buf;
	struct mut_end *e;

	(void)r;
	if (op != XK_CTL_STREAM_EVENT || len < sizeof *v)
		return XK_E_NOTSUP;
	e = mut_end_of(v->s);
	if (e == NULL)
		return 0;
	e->late |= e->failed;
	if (v->what == XK_STREAM_OPENED)
		e->opened = true;
	if (v->what == XK_STREAM_FAILED)
		e->failed = true;
	return 0;
}

static void take_in(struct mut_end *e, struct xk_msg *m)
{
	uint32_t seq = mut_cb(e)->irs + 1 + (uint32_t)e->got;

	e->late |= e->closed || e->failed;
	for (const struct xk_msg *x = m; x != NULL; x = x->next)
		for (uint32_t i = 0; i < x->len; i++)
			e->wrong |= x->data[i] != mut_byte(seq++);
	e->got += m->tot;
}

static void app_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct mut_end *e = mut_end_of(lls);

	(void)up;
	xk_assert(e != NULL);
	take_in(e, m);
	xk_msg_free(m);
	if (e->back)
		mut_push(e, 0);
}

static const struct xk_proto *app(void)
{
	static const struct xk_ops ops = {
		.open_done = app_open_done, .close_done = app_close_done, .demux = app_demux, .control = app_control,
	};
	static struct xk_proto p;

	p = pf_upper;
	p.ops = &ops;
	return &p;
}

/* ---- as the application ----------------------------------------------------------------- */

/* Inside the VP already, or not. */
static void push_now(struct mut_end *e, uint32_t n)
{
	const struct tcp_cb *cb = mut_cb(e);
	struct xk_msg *m;
	uint32_t seq;

	/* An echo owes as much as it got. */
	if (e->back)
		n = (uint32_t)e->got - (cb->snd_end - cb->iss - 1);
	if (n == 0 || cb->state == TCP_S_CLOSED)
		return;
	m = xk_msg_new(n);
	xk_assert(m != NULL);
	seq = cb->snd_end;
	for (struct xk_msg *x = m; x != NULL; x = x->next) {
		mut_fill(x->data, x->len, seq);
		seq += x->len;
	}
	xk_push(e->s, m);
}

void mut_push(struct mut_end *e, uint32_t n)
{
	if (e->back) {
		push_now(e, n);
		return;
	}
	pf_enter(&mut_f, 0);
	push_now(e, n);
	pf_leave(&mut_f, 0);
	pf_settle(&mut_f);
}

int mut_control(struct mut_end *e, unsigned op, uint32_t v)
{
	int res;

	pf_enter(&mut_f, 0);
	res = xk_sess_control(e->s, op, &v, sizeof v);
	pf_leave(&mut_f, 0);
	pf_settle(&mut_f);
	return res;
}

struct mut_end *mut_open(uint16_t rport)
{
	struct xk_parts ps;
	struct mut_end *e;
	struct xk_sess *s;
	int err = 0;

	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], MUT_PEER);
	xk_part_push_port(&ps.p[XK_REMOTE], rport);
	s = pf_open(&mut_f, "app", 0, &ps, &err);
	e = s != NULL ? end_new(s) : NULL;
	xk_assert(e != NULL);
	pf_settle(&mut_f);
	return e;
}

void mut_drop_ends(void)
{
	for (unsigned i = 0; i < MUT_ENDS; i++) {
		struct xk_sess *s = mut_end[i].s;

		if (s == NULL)
			continue;
		mut_control(&mut_end[i], XK_STREAM_ABORT, 0);
		mut_end[i].s = NULL;
		pf_close(&mut_f, 0, s);
	}
	pf_settle(&mut_f);
}

/* ---- the graph ----------------------------------------------------------------------------- */

static void enable(uint16_t port)
{
	struct xk_node *n = pf_node(&mut_f, "app");
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], port);
	xk_assert(xk_open_enable(n, n, n->down[0], &ps) == XK_OK);
}

void mut_up(bool fddi, const char *tcp)
{
	const struct pf_spec specs[] = {
		{ &pf_driver, "drv", NULL, fddi ? "link=fddi; mtu=4500" : "link=eth" },
		{ fddi ? &xk_proto_fddi : &xk_proto_eth, "link", "drv", NULL },
		{ &xk_proto_arp, "arp", "link", "neighbours=10.0.0.2=02:00:00:00:00:02" },
		{ &xk_proto_ip, "ip", "arp", "addr=10.0.0.1/8; mtu=1500" },
		{ &xk_proto_icmp, "icmp", "ip", NULL },
		{ &xk_proto_udp, "udp", "ip", NULL },
		{ &xk_proto_echo, "echo", "udp", "sessions=0" },
		{ &xk_proto_tcp, "tcp", "ip", tcp },
		{ app(), "app", "tcp", "enable=false" },
		{ NULL, NULL, NULL, NULL },
	};

	mut_is_fddi = fddi;
	memset(mut_end, 0, sizeof mut_end);
	pf_up(&mut_f, 1, specs);
	enable(MUT_PORT);
	enable(MUT_ECHO);
}

void mut_down(void)
{
	mut_drop_ends();
	xk_open_disable_all(pf_node(&mut_f, "app"), pf_node(&mut_f, "tcp"));
	pf_down(&mut_f);
}

void mut_pass_time(void)
{
	pf_run(&mut_f, LONG_ENOUGH);
	mut_forget();
}

/* ---- frames in, segments out ---------------------------------------------------------------- */

void mut_in(const void *frame, uint32_t n)
{
	pf_inject(&mut_f, "drv", 0, frame, n);
}

unsigned mut_nout(void)
{
	return pf_npushed(&mut_f, "drv");
}

bool mut_out(unsigned i, struct mut_out *o)
{
	const struct pf_rec *r = pf_pushed(&mut_f, "drv", i);
	uint32_t link = mut_is_fddi ? 21 : 14, n;
	const uint8_t *ip = r->bytes + link, *t = ip + 20;

	if (r->len < link + 40 || xk_be16(ip - 2) != 0x0800 || ip[9] != 6)
		return false;
	n = xk_be16(ip + 2) - 20u;
	*o = (struct mut_out){
		.seq = xk_be32(t + 4), .ack = xk_be32(t + 8), .sport = xk_be16(t), .dport = xk_be16(t + 2),
		.flags = xk_be16(t + 12) & 0x1ff, .wnd = xk_be16(t + 14),
		.len = n - (uint32_t)(t[12] >> 4) * 4, .data = t + (t[12] >> 4) * 4,
	};
	return true;
}

bool mut_last(struct mut_out *o)
{
	for (unsigned i = mut_nout(); i-- > 0;)
		if (mut_out(i, o))
			return true;
	return false;
}

void mut_forget(void)
{
	pf_forget(&mut_f, "drv");
}

/* ---- counters ----------------------------------------------------------------------------------- */

static const char *const nodes[] = { "drv", "link", "arp", "ip", "icmp", "udp", "echo", "tcp", "app" };

static uint64_t drops_of(const char *name)
{
	const struct xk_rep *r = pf_rep(&mut_f, name, 0);
	uint64_t sum = 0;

	for (unsigned i = 0; i < XK_DROPS_MAX; i++)
		sum += r->drop[i];
	return sum;
}

/* Of what the host sent itself: answers to hosts that cannot be reached. */
static uint64_t drops_down(void)
{
	static const char *const ip[] = { "too_long", "needs_fragmentation", "no_route" };
	static const char *const arp[] = { "queue_full", "unreachable", "closed" };
	uint64_t sum = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(ip); i++)
		sum += pf_drops(&mut_f, "ip", ip[i]) + pf_drops(&mut_f, "arp", arp[i]);
	return sum;
}

/* Whoever takes a frame counts something: a segment that meets a session, makes one
 * or is answered by a cookie; a datagram that is echoed, an ICMP message that is
 * understood, an ARP packet, a fragment. */
void mut_counts_read(struct mut_counts *c)
{
	static const char *const tcp[] = { "predicted", "not_predicted", "accepted", "cookies_sent" };
	static const char *const icmp[] = { "echo_replies_sent", "echo_replies_in", "errors_in" };

	*c = (struct mut_counts){ .drops = -drops_down(), .half = tcp_syncache_count(pf_rep(&mut_f, "tcp", 0)) };
	for (unsigned i = 0; i < XK_ARRAY_LEN(nodes); i++)
		c->drops += drops_of(nodes[i]);
	for (unsigned i = 0; i < XK_ARRAY_LEN(tcp); i++)
		c->taken += pf_count(&mut_f, "tcp", tcp[i]);
	for (unsigned i = 0; i < XK_ARRAY_LEN(icmp); i++)
		c->taken += pf_count(&mut_f, "icmp", icmp[i]);
	c->taken += pf_count(&mut_f, "echo", "messages") + pf_count(&mut_f, "ip", "fragments_in") +
		    pf_count(&mut_f, "arp", "requests_in") + pf_count(&mut_f, "arp", "replies_in");
}

uint64_t mut_buffers(void)
{
	return pf_buffers(&mut_f);
}
