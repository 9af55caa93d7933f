/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_conn.c - a connection on its way to a state, by segments of the peer's and
 * calls of the application's alone; and the transfer that shows that the host is well.
 *
 * The peer is the struct mut_conn: it learns our numbers from our segments.  After a
 * message that may have changed everything it looks at the session itself
 * (mut_conn_read): what it says next is true again.
 */
#include "tests/mutate/mut.h"
#include "runtime/upi/xk_inline.h"

#include <string.h>

#define QUEUED 40000u
#define WHOLE  65536u

static const struct { const char *name, *params; unsigned state; } setups[MUT_NSETUPS] = {
#define MUT_SETUP_ROW(name, state, tcp) { #name, tcp, TCP_S_##state },
	MUT_SETUPS(MUT_SETUP_ROW)
};

const char *mut_setup_name(enum mut_setup s)   { return setups[s].name; }
const char *mut_setup_params(enum mut_setup s) { return setups[s].params; }
unsigned mut_setup_state(enum mut_setup s)     { return setups[s].state; }

static struct mut_end *end_at(uint16_t peer_port)
{
	for (unsigned i = 0; i < MUT_ENDS; i++)
		if (mut_end[i].s != NULL && tcp_rport(tcp_sess(mut_end[i].s)) == peer_port)
			return &mut_end[i];
	return NULL;
}

void mut_conn_read(struct mut_conn *c)
{
	const struct tcp_cb *cb;
	uint32_t room, most, edge;

	if (c->e == NULL || c->e->s == NULL)
		return;
	cb = mut_cb(c->e);
	room = cb->rcv_buf > cb->rcv_held ? cb->rcv_buf - cb->rcv_held : 0;
	most = 65535u << cb->rcv_wscale;
	edge = cb->rcv_nxt + (room < most ? room : most);
	c->nxt = cb->rcv_nxt;
	c->right = tcp_gt(cb->rcv_adv, edge) ? cb->rcv_adv : edge;
	c->una = cb->snd_una;
	c->max = cb->snd_max;
	c->max_wnd = cb->max_wnd;
	if (cb->state > TCP_S_SYN_SENT) {
		c->ts = (cb->flags & TCP_F_TS) != 0;
		c->tsval = c->ts ? cb->ts_recent : c->tsval;
	}
}

/* The usual next segment of the peer. */
static void say(struct mut_conn *c, uint16_t flags, uint32_t len)
{
	mut_conn_read(c);
	mut_segment(c, c->nxt, c->max, flags, len);
	mut_conn_read(c);
}

/* ---- handshakes ------------------------------------------------------------------------ */

static bool syn(struct mut_conn *c)
{
	struct mut_out o;

	mut_segment(c, c->irs, 0, TCP_SYN, 0);
	if (!mut_last(&o) || (o.flags & (TCP_SYN | TCP_ACK)) != (TCP_SYN | TCP_ACK))
		return false;
	c->iss = o.seq;
	c->nxt = c->irs + 1;
	c->right = c->nxt + o.wnd;
	c->una = o.seq;
	c->max = o.seq + 1;
	return o.ack == c->nxt;
}

static bool passive(struct mut_conn *c)
{
	if (!syn(c))
		return false;
	mut_segment(c, c->nxt, c->max, TCP_ACK, 0);
	c->e = end_at(c->sport);
	mut_conn_read(c);
	return c->e != NULL;
}

static bool opens(struct mut_conn *c)
{
	struct mut_out o;

	c->e = mut_open(c->sport);
	if (!mut_last(&o) || !(o.flags & TCP_SYN))
		return false;
	c->dport = o.sport;
	c->iss = o.seq;
	mut_conn_read(c);
	return true;
}

static bool active(struct mut_conn *c)
{
	if (!opens(c))
		return false;
	mut_segment(c, c->irs, c->max, TCP_SYN | TCP_ACK, 0);
	mut_conn_read(c);
	return true;
}

static bool both(struct mut_conn *c)
{
	if (!opens(c))
		return false;
	mut_segment(c, c->irs, 0, TCP_SYN, 0);
	mut_conn_read(c);
	return true;
}

/* ---- established, with something in hand ---------------------------------------------------- */

static void holes(struct mut_conn *c)
{
	mut_segment(c, c->nxt + 100, c->max, TCP_ACK, 50);
	mut_segment(c, c->nxt + 300, c->max, TCP_ACK, 50);
	mut_segment(c, c->nxt + 200, c->max, TCP_ACK, 50);
}

static void zero_window(struct mut_conn *c)
{
	struct mut_spec s = { .kind = MUT_TCP, .sport = c->sport, .dport = c->dport, .seq = c->nxt, .ack = c->max,
			      .flags = TCP_ACK };

	mut_give(&s);
	mut_push(c->e, 3000);
}

/* The application takes nothing, and the peer fills all the room there is. */
static void full(struct mut_conn *c)
{
	c->e->kept_back = true;
	mut_control(c->e, XK_STREAM_MANUAL, 1);
	while (c->nxt != c->right)
		say(c, TCP_ACK, c->right - c->nxt < 1460 ? c->right - c->nxt : 1460);
}

static void recovery(struct mut_conn *c)
{
	uint32_t mss = mut_cb(c->e)->mss;

	mut_push(c->e, QUEUED);
	for (uint32_t i = 2; i <= 4; i++) {
		struct mut_spec s = { .kind = MUT_TCP, .sport = c->sport, .dport = c->dport, .seq = c->nxt, .ack = c->una,
				      .flags = TCP_ACK, .wnd = 65535, .nopt = 24 };

		mut_ts_option(s.opt, c->tsval, c->tsecr);
		xk_put_be32(s.opt + 12, 0x0101050a);
		xk_put_be32(s.opt + 16, c->una + mss);
		xk_put_be32(s.opt + 20, c->una + i * mss);
		mut_give(&s);
	}
}

static void urgent(struct mut_conn *c)
{
	struct mut_spec s = { .kind = MUT_TCP, .sport = c->sport, .dport = c->dport, .seq = c->nxt, .ack = c->max,
			      .flags = TCP_ACK | TCP_URG, .wnd = 65535, .len = 20, .urp = 70 };

	mut_give(&s);
}

/* ---- ends ------------------------------------------------------------------------------------- */

static void shut(struct mut_conn *c)
{
	mut_control(c->e, XK_STREAM_SHUTDOWN, 0);
	mut_conn_read(c);
}

static void crossing_fin(struct mut_conn *c)
{
	shut(c);
	mut_segment(c, c->nxt, c->una, TCP_FIN | TCP_ACK, 0);
}

static void ends(struct mut_conn *c)
{
	switch (c->setup) {
	case MUT_fin_wait_1_queued: mut_push(c->e, QUEUED); shut(c); break;
	case MUT_fin_wait_1:        shut(c); break;
	case MUT_fin_wait_2:        shut(c); say(c, TCP_ACK, 0); break;
	case MUT_close_wait:        say(c, TCP_FIN | TCP_ACK, 0); break;
	case MUT_closing:           crossing_fin(c); break;
	case MUT_last_ack:          say(c, TCP_FIN | TCP_ACK, 0); shut(c); break;
	case MUT_time_wait:         shut(c); say(c, TCP_ACK, 0); say(c, TCP_FIN | TCP_ACK, 0); break;
	default: break;
	}
}

static void in_hand(struct mut_conn *c)
{
	switch (c->setup) {
	case MUT_established_queued:      mut_push(c->e, QUEUED); break;
	case MUT_established_holes:       holes(c); break;
	case MUT_established_zero_window: zero_window(c); break;
	case MUT_established_full:        full(c); break;
	case MUT_established_recovery:    recovery(c); break;
	case MUT_established_urgent:      urgent(c); break;
	default:                          ends(c); break;
	}
}

/* ---- any ------------------------------------------------------------------------------------------ */

static bool begin(struct mut_conn *c)
{
	switch (c->setup) {
	case MUT_closed:
		c->dport = MUT_NOBODY;
		return true;
	case MUT_listen:
	case MUT_listen_cookies:
		return true;
	case MUT_syn_sent:
		return opens(c);
	case MUT_syn_received:
		return syn(c);
	case MUT_syn_received_both:
		return both(c);
	case MUT_established_options:
	case MUT_established_recovery:
		return active(c);
	default:
		return passive(c);
	}
}

bool mut_setup(struct mut_conn *c, enum mut_setup s, uint16_t sport, uint32_t irs)
{
	bool options = s == MUT_established_options || s == MUT_established_recovery || s == MUT_listen_cookies ||
		       s == MUT_established_by_cookie || s == MUT_syn_received;

	*c = (struct mut_conn){ .setup = s, .sport = sport, .dport = MUT_PORT, .irs = irs, .nxt = irs + 1,
				.right = irs + 65536, .ts = options, .sack = options, .tsval = 1000 };
	if (!begin(c))
		return false;
	if (c->e != NULL && mut_cb(c->e)->state == TCP_S_ESTABLISHED)
		in_hand(c);
	mut_conn_read(c);
	return c->e == NULL || mut_cb(c->e)->state == mut_setup_state(s);
}

static bool receives(const struct mut_conn *c)
{
	unsigned state = c->e != NULL && c->e->s != NULL ? mut_cb(c->e)->state : TCP_S_CLOSED;

	return (state == TCP_S_ESTABLISHED || state == TCP_S_FIN_WAIT_1 || state == TCP_S_FIN_WAIT_2) &&
	       !c->e->kept_back && c->right - c->nxt >= 40;
}

const char *mut_still_receives(struct mut_conn *c)
{
	uint32_t nxt;

	mut_conn_read(c);
	if (!receives(c))
		return NULL;
	nxt = c->nxt;
	mut_segment(c, nxt, c->una, TCP_ACK | TCP_PSH, 40);
	mut_conn_read(c);
	if (c->nxt - nxt >= 40)
		return mut_check();
	/* A FIN that had come before its turn is the end of the stream. */
	return mut_cb(c->e)->flags & TCP_F_FIN_RCVD ? mut_check() : "the connection takes nothing any more";
}

void mut_conn_end(struct mut_conn *c)
{
	if (c->setup == MUT_syn_received)
		mut_segment(c, c->irs + 1, 0, TCP_RST, 0);
	mut_drop_ends();
	mut_forget();
}

/* ---- 64 KiB there and back ---------------------------------------------------------------------------- */

struct transfer { struct mut_conn c; uint32_t sent, got; bool wrong; };

/* What has come back since the last look. */
static void collect(struct transfer *t)
{
	for (unsigned i = 0; i < mut_nout(); i++) {
		uint32_t at = t->c.iss + 1 + t->got;
		struct mut_out o;

		if (!mut_out(i, &o) || o.dport != t->c.sport || o.len == 0 || o.seq != at)
			continue;
		for (uint32_t k = 0; k < o.len; k++)
			t->wrong |= o.data[k] != mut_byte(at + k);
		t->got += o.len;
	}
	mut_forget();
}

static void exchange(struct transfer *t)
{
	for (unsigned round = 0; round < 400 && (t->sent < WHOLE || t->got < WHOLE); round++) {
		uint32_t n = WHOLE - t->sent < 1460 ? WHOLE - t->sent : 1460;

		mut_segment(&t->c, t->c.irs + 1 + t->sent, t->c.iss + 1 + t->got, TCP_ACK, n);
		t->sent += n;
		collect(t);
	}
}

/* Both say that they have ended, and acknowledge it. */
static const char *farewell(struct transfer *t, struct mut_end *e)
{
	mut_segment(&t->c, t->c.irs + 1 + WHOLE, t->c.iss + 1 + WHOLE, TCP_FIN | TCP_ACK, 0);
	if (!e->closed)
		return "a fresh connection is not told of the end";
	mut_control(e, XK_STREAM_SHUTDOWN, 0);
	mut_segment(&t->c, t->c.irs + 2 + WHOLE, t->c.iss + 2 + WHOLE, TCP_ACK, 0);
	return mut_cb(e)->state == TCP_S_CLOSED && !e->failed ? NULL : "a fresh connection does not end in peace";
}

const char *mut_transfer(uint16_t sport)
{
	struct transfer t = { .c = { .sport = sport, .dport = MUT_ECHO, .irs = sport * 77777u } };
	struct mut_end *e;
	const char *why;

	mut_forget();
	if (!passive(&t.c))
		return "a fresh connection is refused";
	e = t.c.e;
	exchange(&t);
	if (t.wrong || e->wrong)
		return "a fresh connection delivers a wrong byte";
	if (t.got != WHOLE || e->got != WHOLE)
		return "a fresh connection does not move 64 KiB";
	why = farewell(&t, e);
	mut_drop_ends();
	mut_forget();
	return why;
}
