/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_open.c - connections come and go: active open, the choice of ports (RFC
 * 6056) and sequence numbers (RFC 6528), shutdown, close, abort, and the end.
 *
 * As with UDP a connection is unique in the graph because the classifiers' table
 * takes its key once: a port is free towards a peer when that table has room for
 * it, so the VPs share no table of ports.  The life of a session is told in
 * tcp_priv.h; every way out of it leads through tcp_finish and tcp_sess_free.
 * Invariant: a session that is bound is announced, holds a reference below, and
 * is not CLOSED.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "protocols/inet/inet_ports.h"
#include "protocols/inet/inet_sess.h"

/* Uses of the node's secret, told apart by the third word of what is hashed. */
enum { HASH_ISN = 1, HASH_TS, HASH_PORT, HASH_SLOT };

/* ---- a keyed hash (SipHash-2-4) --------------------------------------------------- */

static inline uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] = rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] = rotl(v[2], 32);
}

static inline void sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_round(v);
	sip_round(v);
	v[0] ^= m;
}

uint64_t tcp_siphash(uint64_t k0, uint64_t k1, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t v[4] = {
		k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du,
		k0 ^ 0x6c7967656e657261u, k1 ^ 0x7465646279746573u,
	};

	sip_word(v, a);
	sip_word(v, b);
	sip_word(v, c);
	sip_word(v, (uint64_t)24 << 56);
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t tcp_hash(const struct tcp_node *n, uint64_t a, uint64_t b, uint64_t c)
{
	return tcp_siphash(n->secret[0], n->secret[1], a, b, c);
}

static uint64_t hash_key(const struct xk_rep *r, const struct xk_key *k, uint64_t use)
{
	return tcp_hash(r->node->state, k->w[0], k->w[1], use);
}

/* A clock of 4 us per tuple: a new incarnation begins above the old one's numbers. */
uint32_t tcp_isn(const struct xk_rep *r, const struct xk_key *k)
{
	return (uint32_t)hash_key(r, k, HASH_ISN) + (uint32_t)(r->vp->now / (4 * XK_US));
}

uint32_t tcp_ts_offset(const struct xk_rep *r, const struct xk_key *k)
{
	return (uint32_t)hash_key(r, k, HASH_TS);
}

void tcp_flowkey(struct xk_flowkey *f, const struct xk_key *k)
{
	uint32_t ports = (uint32_t)k->w[1];

	*f = (struct xk_flowkey){ .proto = TCP_PROTO };
	memcpy(&f->raddr, &k->w[0], 8);
	memcpy(&f->rport, &ports, 4);
}

/* ---- sessions ------------------------------------------------------------------------ */

/* At the cap the oldest in TIME-WAIT goes, when nobody holds it. */
static bool sess_room(struct xk_rep *r)
{
	struct tcp_sess *old = tcp_rep(r)->tw_first;

	if (r->slab.live < tcp_tune(r)->sessions)
		return true;
	if (old == NULL || old->s.rcnt != 0)
		return false;
	tcp_finish(old, XK_OK);
	return true;
}

struct tcp_sess *tcp_sess_new(struct xk_rep *r, struct xk_up *up, struct xk_node *type, struct xk_sess *lls, int *err)
{
	struct tcp_live *live;
	struct tcp_sess *ts;
	struct xk_sess *s;

	*err = XK_E_NOSPC;
	if (!sess_room(r))
		return NULL;
	*err = XK_E_NOMEM;
	s = xk_sess_create(r, up, type, lls);
	if (s == NULL)
		return NULL;
	ts = tcp_sess(s);
	live = xk_slab_get(&tcp_rep(r)->live_slab);
	if (live == NULL) {
		xk_sess_destroy(s);
		return NULL;
	}
	s->hot = (uintptr_t)&live->cb;
	tcp_cb_init(tcp_cb(ts), tcp_tune(r));
	tcp_timer_init(ts);
	return ts;
}

/* Payload of a segment without options, as the path below has it now (RFC 9293 3.7.1), however
 * little; where it does not say, what every host takes. */
uint32_t tcp_path_mss(struct xk_rep *r, struct xk_sess *lls)
{
	uint32_t room, most = tcp_tune(r)->mss;
	int res = lls != NULL ? xk_sess_control(lls, XK_CTL_GETOPTPACKET, &room, sizeof room)
			      : xk_control(r->down[0], XK_CTL_GETOPTPACKET, &room, sizeof room);

	if (res != (int)sizeof room || room < TCP_HDR_LEN + TCP_MSS_LEAST)
		room = TCP_HDR_LEN + 536;
	room -= TCP_HDR_LEN;
	if (room > UINT16_MAX)
		room = UINT16_MAX;
	return most != 0 && most < room ? most : room;
}

/* What stands before the control block and comes of the key. */
bool tcp_live_header(const struct tcp_sess *ts, struct tcp_live *l)
{
	const struct xk_key *k = &ts->s.map.key;
	uint32_t sum;

	if (xk_sess_control(ts->s.down, XK_CTL_HEADER_SUM, &sum, sizeof sum) != (int)sizeof sum)
		return false;
	l->ports = tcp_ports(tcp_lport(ts), tcp_rport(ts));
	l->sum = xk_csum_add(sum, l->ports);
	l->psum = xk_csum_fold(ip_pseudo_sum(k->w[0], TCP_PROTO));
	return true;
}

int tcp_sess_bind(struct tcp_sess *ts, const struct xk_key *k)
{
	struct xk_flowkey f;
	int err;

	err = xk_sess_bind(&ts->s, k);
	if (err != XK_OK)
		return err;
	if (!tcp_live_header(ts, tcp_live(ts))) {
		xk_sess_unbind(&ts->s);
		return XK_E_NOTSUP;
	}
	tcp_flowkey(&f, k);
	err = xk_sess_announce(&ts->s, &f);
	if (err != XK_OK) {
		xk_sess_unbind(&ts->s);
		return err;
	}
	tcp_cb(ts)->ts_off = tcp_ts_offset(ts->s.rep, k);
	tcp_cb(ts)->path_mss = (uint16_t)tcp_path_mss(ts->s.rep, ts->s.down);
	tcp_set_mss(tcp_cb(ts));
	tcp_rec_init(tcp_cb(ts));
	return XK_OK;
}

/* The connection's key is free again, for us and for the classifiers. */
static void withdraw(struct tcp_sess *ts)
{
	xk_sess_unbind(&ts->s);
	if (ts->s.flow != NULL)
		xk_flow_unbind(ts->s.rep->node->graph->flows, ts->s.flow);
	ts->s.flow = NULL;
}

void tcp_sess_free(struct tcp_sess *ts)
{
	tcp_timer_stop(ts);
	tcp_timewait_leave(ts);
	tcp_sendq_free(tcp_cb(ts));
	tcp_reass_free(ts);
	withdraw(ts);
	if (tcp_live(ts) != tcp_rep(ts->s.rep)->dead)
		xk_slab_put(&tcp_rep(ts->s.rep)->live_slab, tcp_live(ts));
	ts->s.hot = 0;
	inet_sess_free(&ts->s);
}

/* ---- active open --------------------------------------------------------------------------- */

static int addresses(struct xk_sess *lls, uint64_t *pair)
{
	uint32_t remote, local;

	if (inet_sess_hosts(lls, &remote, &local) != XK_OK)
		return XK_E_NOTSUP;
	/* A connection has two ends (RFC 1122 4.2.3.10). */
	if (ip_is_multicast(remote) || remote == 0xffffffffu || remote == 0)
		return XK_E_INVAL;
	*pair = ip_pair(remote, local);
	return XK_OK;
}

static int bind_port(struct tcp_sess *ts, uint64_t pair, uint16_t rport, uint16_t lport, bool at_home)
{
	struct xk_flowkey f;
	struct xk_key k;

	tcp_key(&k, pair, tcp_ports(rport, lport));
	tcp_flowkey(&f, &k);
	if (at_home && xk_rep_home(ts->s.rep, &f) != XK_OK)
		return XK_E_ELSEWHERE;
	if (xk_map_resolve(&ts->s.rep->active, &k) != NULL)
		return XK_E_EXIST;
	return tcp_sess_bind(ts, &k);
}

/*
 * RFC 6056 3.3.4 and 3.3.5: where a destination's ports begin is a keyed hash of
 * it, and how far they have come is counted in steps of random length in one slot of
 * a table, chosen by another hash.  So the ports towards one destination tell nothing
 * of those towards another, the next is not known from the last, and none comes
 * again soon.  One lap over all ports at most.
 */
static int bind_some_port(struct tcp_sess *ts, uint64_t pair, uint16_t rport)
{
	struct xk_rep *r = ts->s.rep;
	const struct tcp_node *n = r->node->state;
	uint32_t local = be64toh(pair) & 0xffffffff;
	uint32_t first = (uint32_t)(tcp_hash(n, pair, rport, HASH_PORT) % INET_PORTS);
	uint32_t *step = &tcp_rep(r)->port_step[tcp_hash(n, pair, rport, HASH_SLOT) % TCP_PORT_SLOTS];

	*step = (*step + 1 + (uint32_t)xk_rand_below(&r->vp->rand, TCP_PORT_STRIDE)) % INET_PORTS;
	for (uint32_t i = 0; i < INET_PORTS; i++) {
		uint16_t port = (uint16_t)(INET_PORT_FIRST + (first + *step + i) % INET_PORTS);
		int err;

		if (inet_enable_find(r->node, port, local) != NULL)
			continue;
		err = bind_port(ts, pair, rport, port, true);
		if (err != XK_E_EXIST && err != XK_E_ELSEWHERE) {
			*step = (*step + i) % INET_PORTS;
			return err;
		}
	}
	return XK_E_ADDRNOTAVAIL;
}

static int bind_this_port(struct tcp_sess *ts, uint64_t pair, uint16_t rport, uint16_t lport, bool at_home)
{
	int err = bind_port(ts, pair, rport, lport, at_home);

	return err == XK_E_EXIST ? XK_E_ADDRINUSE : err;
}

/* The peer's first segment may be here before tcp_send_syn returns, so it runs
 * with a reference; nobody above knows the session yet. */
static void connect(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	cb->state = TCP_S_SYN_SENT;
	cb->iss = tcp_isn(ts->s.rep, &ts->s.map.key);
	cb->snd_una = cb->snd_nxt = cb->snd_max = cb->snd_up = cb->iss;
	cb->snd_end = cb->iss + 1;
	cb->recover = cb->iss;           /* RFC 6582 3.2 */
	xk_count(ts->s.rep->count[TCP_COUNT_OPENED]);
	ts->s.rcnt++;
	tcp_send_syn(ts);
	ts->s.rcnt--;
}

/* A new session over lls, bound; takes the reference to lls either way. */
static struct tcp_sess *open_over(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_sess *lls,
				  uint16_t rport, uint16_t lport, bool at_home, int *err)
{
	struct tcp_sess *ts;
	uint64_t pair;

	*err = addresses(lls, &pair);
	ts = *err == XK_OK ? tcp_sess_new(r, &rcv->up, type, lls, err) : NULL;
	if (ts == NULL) {
		xk_close(lls);
		return NULL;
	}
	*err = lport != 0 ? bind_this_port(ts, pair, rport, lport, at_home) : bind_some_port(ts, pair, rport);
	if (*err == XK_OK)
		return ts;
	tcp_sess_free(ts);
	return NULL;
}

#define BUFFER_LEAST 2048u
#define BUFFER_MOST  (1u << 30)

static bool is_buffer(uint32_t n) { return n == 0 || (n >= BUFFER_LEAST && n <= BUFFER_MOST); }

int tcp_open_with(struct xk_rep *r, const void *buf, unsigned len)
{
	struct tcp_open_with w;

	if (len < sizeof w)
		return XK_E_INVAL;
	memcpy(&w, buf, sizeof w);
	if (!is_buffer(w.rcv_buf) || !is_buffer(w.snd_buf) ||
	    (w.mss != 0 && (w.mss < tcp_tune(r)->min_mss || w.mss > UINT16_MAX)))
		return XK_E_INVAL;
	tcp_rep(r)->with = w;
	return 0;
}

/* Before its SYN. */
static void begin_with(struct tcp_cb *cb, const struct tcp_open_with *w)
{
	if (w->rcv_buf != 0)
		cb->rcv_buf = w->rcv_buf;
	if (w->snd_buf != 0)
		cb->snd_buf = w->snd_buf;
	if (w->mss == 0 || w->mss >= cb->path_mss)
		return;
	cb->path_mss = (uint16_t)w->mss;
	tcp_set_mss(cb);
}

struct xk_sess *tcp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	struct tcp_open_with with = tcp_rep(r)->with;
	uint16_t rport, lport;
	struct xk_sess *lls;
	struct tcp_sess *ts;

	tcp_rep(r)->with = (struct tcp_open_with){ 0 };
	*err = inet_open_ports(ps, &rport, &lport);
	if (*err != XK_OK)
		return NULL;
	lls = xk_open(r, r->node, r->down[0], ps, err);
	if (lls == NULL)
		return NULL;
	ts = open_over(r, rcv, type, lls, rport, lport, ps->at_home, err);
	if (ts == NULL)
		return NULL;
	begin_with(tcp_cb(ts), &with);
	connect(ts);
	return &ts->s;
}

/* ---- shutdown, close, abort --------------------------------------------------------------------- */

/* Something may end while we are in the middle of it: a reference that is not a
 * holder's. */
static void guard(struct tcp_sess *ts)
{
	ts->s.rcnt++;
	ts->pops++;
}

static void unguard(struct tcp_sess *ts)
{
	ts->pops--;
	if (--ts->s.rcnt == 0 && tcp_cb(ts)->state == TCP_S_CLOSED)
		tcp_sess_free(ts);
}

/* FIN behind what is queued.  Before the handshake has ended the state waits
 * with it: tcp_input enters FIN-WAIT-1 then. */
void tcp_shutdown(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	if ((cb->flags & TCP_F_FIN_QUEUED) || cb->state == TCP_S_CLOSED)
		return;
	cb->flags |= TCP_F_FIN_QUEUED | TCP_F_DRAINING;
	if (cb->state == TCP_S_SYN_SENT || cb->state == TCP_S_SYN_RCVD)
		return;
	cb->state = tcp_fsm[cb->state][TCP_E_CLOSE].next;
	guard(ts);
	tcp_output(ts);
	unguard(ts);
}

static bool resettable(unsigned state)
{
	/* RFC 9293 3.10.5. */
	return state == TCP_S_SYN_RCVD || state == TCP_S_ESTABLISHED || state == TCP_S_FIN_WAIT_1 ||
	       state == TCP_S_FIN_WAIT_2 || state == TCP_S_CLOSE_WAIT;
}

void tcp_abort(struct tcp_sess *ts)
{
	if (tcp_cb(ts)->state == TCP_S_CLOSED)
		return;
	if (resettable(tcp_cb(ts)->state))
		tcp_send_rst(ts);
	tcp_cb(ts)->err = XK_E_CONNABORTED;
	tcp_finish(ts, XK_OK);
}

/* The peer may keep its side open for ever: not with nobody here. */
static void orphan_waits(struct tcp_sess *ts)
{
	struct tcp_env e = tcp_env(ts->s.rep);

	tcp_timer_arm(tcp_cb(ts), &e, TCP_T_2MSL, tcp_cb(ts)->fin_wait2);
	tcp_timer_sync(ts);
}

/* Bytes that nobody will read any more are lost: RFC 1122 4.2.2.13 resets. */
static bool loses_data(const struct tcp_cb *cb)
{
	return (cb->flags & TCP_F_MANUAL) && cb->rcv_held != 0;
}

static void orphan(struct tcp_sess *ts)
{
	struct tcp_cb *cb = tcp_cb(ts);

	cb->flags |= TCP_F_ORPHAN;
	ts->s.up = &ts->s.rep->up;
	if ((cb->flags & TCP_F_RST_CLOSE) || loses_data(cb) ||
	    (cb->state == TCP_S_SYN_SENT && cb->sq.bytes == 0))
		tcp_abort(ts);
	else if (cb->state == TCP_S_FIN_WAIT_2)
		orphan_waits(ts);
	else
		tcp_shutdown(ts);
}

/* The operation: rcnt is 0.  Runs again after every pop of an orphan. */
void tcp_close(struct xk_sess *s)
{
	struct tcp_sess *ts = tcp_sess(s);

	if (tcp_rests(ts) && !tcp_wake_or_end(ts))
		return;                  /* and nobody held it */
	if (tcp_cb(ts)->state == TCP_S_CLOSED)
		tcp_sess_free(ts);
	else if (!(tcp_cb(ts)->flags & TCP_F_ORPHAN))
		orphan(ts);
}

/* ---- the end ---------------------------------------------------------------------------------------- */

/* What ICMP said on the way says more than that nobody answered. */
static int reason(const struct tcp_cb *cb, int err)
{
	return err == XK_E_TIMEDOUT && cb->err != XK_OK ? cb->err : err;
}

void tcp_finish(struct tcp_sess *ts, int err)
{
	struct tcp_cb *cb = tcp_cb(ts);
	bool held = tcp_held(ts) && !(cb->flags & TCP_F_ORPHAN);

	if (cb->state == TCP_S_CLOSED)
		return;
	cb->state = TCP_S_CLOSED;
	if (err != XK_OK)
		cb->err = err = reason(cb, err);
	xk_count(ts->s.rep->count[TCP_COUNT_CLOSED]);
	tcp_timer_stop(ts);
	tcp_timewait_leave(ts);
	tcp_sendq_free(cb);
	tcp_reass_free(ts);
	withdraw(ts);
	guard(ts);
	if (err != XK_OK && held)
		tcp_tell(ts, XK_STREAM_FAILED, err);
	unguard(ts);
}
