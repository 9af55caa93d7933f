/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_syncache.c - handshakes that peers have begun and that lack their last step
 * (RFC 4987 3.1).
 *
 * An entry is what must be known to make the session later, two cache lines instead
 * of a session.  Entries live in one slab, are found by an active map of their own,
 * and hang in two lists: those of their port, oldest first, and those that were sent the
 * same number of SYN-ACKs.  All of one such level wait equally long, so each level is in
 * order of deadlines and one timer of the wheel serves the whole cache.
 * At a cap (of the VP, of a port) cookies take over, or the oldest gives way.
 * Invariant: n entries are in the map, in a level and in their port's list.
 */
#include "protocols/tcp/sess/tcp_listen.h"
#include "runtime/base/xk_list.h"
#include "runtime/upi/xk_inline.h"

#define LEVELS    102u           /* of at most 100 retransmissions */
#define RUN_MOST  64u            /* SYN-ACKs that one run of the timer sends */

#define HALF_ECN    0x01u
#define HALF_ACKED  0x04u        /* acknowledged, and waits for its first bytes: not asked again */
#define HALF_ERROR  0x02u        /* ICMP said once that the peer cannot be reached */

struct port {
	struct xk_mapnode map;           /* key: the port */
	struct xk_list halves;           /* oldest first */
	uint32_t     n;
};

struct half {
	struct xk_mapnode map;           /* key as a session's */
	struct xk_listed in_level, in_port;
	struct port *port;
	uint32_t iss, irs, ts_recent, ts_off, sent_us;
	uint32_t at;                     /* ms: next SYN-ACK, or the end */
	uint32_t acks_at;                /* the second that acks counts */
	uint32_t defer;                  /* ms: until then it stands only with bytes; 0: it need not wait */
	uint16_t acks;
	uint16_t peer_mss, own_mss, window;
	uint8_t  level, have, wscale, flags;
};
_Static_assert(sizeof(struct half) <= 2 * XK_CACHELINE, "two lines an entry");

struct tcp_syncache {
	struct xk_map   map, ports;
	struct xk_slab  halves, port_slab;
	struct xk_timer timer;
	struct xk_rep  *r;
	struct port    *idle;            /* the last that its entries left; bound, and may have some again */
	uint32_t        n, top;          /* levels from top on are empty */
	struct xk_list  level[LEVELS];
};

/* ---- lists ----------------------------------------------------------------------------- */

static struct half *level_first(const struct tcp_syncache *sc, unsigned level)
{
	struct xk_listed *i = xk_list_first(&sc->level[level]);

	return i != NULL ? xk_container_of(i, struct half, in_level) : NULL;
}

static void level_put(struct tcp_syncache *sc, struct half *h, unsigned level)
{
	h->level = (uint8_t)level;
	xk_list_put(&sc->level[level], &h->in_level);
	if (level >= sc->top)
		sc->top = level + 1;
}

static void level_take(struct tcp_syncache *sc, struct half *h)
{
	xk_list_take(&h->in_level);
	while (sc->top > 0 && xk_list_empty(&sc->level[sc->top - 1]))
		sc->top--;
}

static struct half *port_first(const struct port *p)
{
	return xk_container_of(xk_list_first(&p->halves), struct half, in_port);
}

static void port_put(struct port *p, struct half *h)
{
	h->port = p;
	xk_list_put(&p->halves, &h->in_port);
	p->n++;
}

static void port_take(struct half *h)
{
	xk_list_take(&h->in_port);
	h->port->n--;
}

static void port_key(struct xk_key *k, uint16_t port)
{
	k->w[0] = port;
	k->w[1] = 0;
}

static struct port *port_find(struct tcp_syncache *sc, uint16_t port)
{
	struct xk_mapnode *node;
	struct xk_key k;

	port_key(&k, port);
	node = xk_map_resolve(&sc->ports, &k);
	return node != NULL ? xk_container_of(node, struct port, map) : NULL;
}

static struct port *port_make(struct tcp_syncache *sc, uint16_t port)
{
	struct port *p = port_find(sc, port);

	if (p != NULL)
		return p;
	p = xk_slab_get(&sc->port_slab);
	if (p == NULL)
		return NULL;
	port_key(&p->map.key, port);
	if (xk_map_bind(&sc->ports, &p->map) == XK_OK)
		return p;
	xk_slab_put(&sc->port_slab, p);
	return NULL;
}

static void port_free(struct tcp_syncache *sc, struct port *p)
{
	xk_map_unbind(&sc->ports, &p->map);
	xk_slab_put(&sc->port_slab, p);
}

static void port_idle_clear(struct tcp_syncache *sc)
{
	if (sc->idle != NULL && sc->idle->n == 0)
		port_free(sc, sc->idle);
	sc->idle = NULL;
}

/* It stays, since the next SYN is most often for the same port, until another one is left so. */
static void port_idle(struct tcp_syncache *sc, struct port *p)
{
	if (p->n != 0 || p == sc->idle)
		return;
	port_idle_clear(sc);
	sc->idle = p;
}

/* ---- entries ---------------------------------------------------------------------------- */

static struct half *half_find(struct tcp_syncache *sc, const struct xk_key *k)
{
	struct xk_mapnode *node = sc->n != 0 ? xk_map_resolve(&sc->map, k) : NULL;

	return node != NULL ? xk_container_of(node, struct half, map) : NULL;
}

static void half_free(struct tcp_syncache *sc, struct half *h)
{
	struct port *p = h->port;

	xk_map_unbind(&sc->map, &h->map);
	level_take(sc, h);
	port_take(h);
	port_idle(sc, p);
	xk_slab_put(&sc->halves, h);
	sc->n--;
}

/* Bound and in its port's list, in no level yet; NULL: no memory. */
static struct half *half_make(struct tcp_syncache *sc, const struct xk_key *k)
{
	struct port *p = port_make(sc, tcp_ports_destination((uint32_t)k->w[1]));
	struct half *h = p != NULL ? xk_slab_get(&sc->halves) : NULL;

	if (h == NULL) {
		if (p != NULL)
			port_idle(sc, p);
		return NULL;
	}
	h->map.key = *k;
	if (xk_map_bind(&sc->map, &h->map) != XK_OK) {
		xk_slab_put(&sc->halves, h);
		port_idle(sc, p);
		return NULL;
	}
	port_put(p, h);
	sc->n++;
	return h;
}

static uint32_t wait_of(const struct tcp_tune *t, unsigned level)
{
	uint64_t ms = (uint64_t)t->rto_init << (level < 20 ? level : 20);

	return ms < t->rto_max ? (uint32_t)ms : t->rto_max;
}

/* Until an entry's deadline, which is never further away than rto_max: what seems to be was missed,
 * by however much (the clock has jumped). */
static uint32_t left_of(const struct tcp_syncache *sc, uint32_t at, uint32_t now)
{
	uint32_t left = at - now;

	return left <= tcp_tune(sc->r)->rto_max ? left : 0;
}

/* The tick that is a deadline `ms` from now, as connections count: not one more where a part of this one has gone. */
static xk_ns tick_at(const struct tcp_syncache *sc, uint32_t ms)
{
	return (xk_vp_time(sc->r->vp) / XK_MS + ms) * XK_MS;
}

static void timer_arm(struct tcp_syncache *sc)
{
	uint32_t now = tcp_ms(xk_vp_time(sc->r->vp)), first = 0;
	bool any = false;

	for (unsigned i = 0; i < sc->top; i++) {
		struct half *h = level_first(sc, i);

		if (h != NULL && (!any || tcp_lt(h->at, first))) {
			first = h->at;
			any = true;
		}
	}
	if (!any)
		xk_timer_cancel(sc->r->wheel, &sc->timer);
	else
		xk_timer_set(sc->r->wheel, &sc->timer, tick_at(sc, left_of(sc, first, now)));
}

static void half_wait(struct tcp_syncache *sc, struct half *h, unsigned level)
{
	uint32_t ms = wait_of(tcp_tune(sc->r), level);

	h->at = tcp_deadline(tcp_ms(xk_vp_time(sc->r->vp)), ms);
	level_put(sc, h, level);
	/* The earliest deadline moves only towards us here. */
	if (!xk_timer_armed(&sc->timer) || sc->timer.deadline > tick_at(sc, ms))
		xk_timer_set(sc->r->wheel, &sc->timer, tick_at(sc, ms));
}

/* ---- what is sent ---------------------------------------------------------------------------- */

uint32_t tcp_synack_window(const struct tcp_arrival *a)
{
	uint32_t buf = tcp_listen_rcvbuf(a);

	return buf < UINT16_MAX ? buf : UINT16_MAX;
}

uint32_t tcp_synack_options(struct xk_rep *r, const struct tcp_half *h, uint16_t mss, uint32_t tsval, uint8_t *p)
{
	struct tcp_opts o = {
		.have = (uint8_t)(TCP_O_MSS | (h->peer.have & (TCP_O_WSCALE | TCP_O_SACKOK | TCP_O_TS))),
		.mss = mss, .wscale = tcp_own_wscale(tcp_tune(r)), .tsval = tsval, .tsecr = h->peer.tsval,
	};

	return tcp_opts_syn(p, &o, (enum tcp_synopts)tcp_tune(r)->synopts);
}

static void half_open(const struct half *h, struct tcp_half *o)
{
	*o = (struct tcp_half){
		.iss = h->iss, .irs = h->irs, .ts_off = h->ts_off, .window = h->window, .sent_us = h->sent_us,
		.sent_again = h->level != 0, .ecn = h->flags & HALF_ECN,
		.peer = { .have = h->have, .wscale = h->wscale, .mss = h->peer_mss, .tsval = h->ts_recent },
	};
}

/* A stand-in for the SYN, so that it can be answered again: headers without text. */
static struct xk_msg *stand_in(const struct xk_key *k)
{
	struct xk_msg *m = xk_msg_new(20 + TCP_HDR_LEN);
	uint8_t *p;

	if (m == NULL)
		return NULL;
	p = m->data;
	memset(p, 0, 20 + TCP_HDR_LEN);
	p[0] = 0x45;
	xk_put_be16(p + 2, 20 + TCP_HDR_LEN);
	p[9] = TCP_PROTO;
	memcpy(p + 12, &k->w[0], 8);
	xk_put_raw32(p + 20, (uint32_t)k->w[1]);
	p[32] = (TCP_HDR_LEN / 4) << 4;
	p[33] = TCP_SYN;
	xk_msg_set_net(m, p);
	xk_msg_pop(m, 20);
	return m;
}

/* m: the SYN, or NULL: it is gone. */
static void send_synack(struct tcp_syncache *sc, struct half *h, struct xk_sess *lls, const struct xk_msg *m)
{
	struct xk_rep *r = sc->r;
	struct xk_msg *made = m == NULL ? stand_in(&h->map.key) : NULL;
	uint8_t opts[TCP_HDR_MAX];
	struct tcp_half o;
	uint32_t n;

	if (m == NULL && made == NULL)
		return;                  /* as if it was lost */
	half_open(h, &o);
	n = tcp_synack_options(r, &o, h->own_mss, tcp_ms(xk_vp_time(r->vp)) + h->ts_off, opts);
	tcp_answer(r, lls, m != NULL ? m : made, h->iss, h->irs + 1,
		   TCP_SYN | TCP_ACK | (h->flags & HALF_ECN ? TCP_ECE : 0), h->window, opts, n);
	if (made != NULL)
		xk_msg_free(made);
}

/* The acknowledgement that SYN-RCVD gives to what it does not accept; limited. */
static void send_ack(const struct tcp_arrival *a, struct half *h)
{
	uint32_t second = tcp_ms(xk_vp_time(a->r->vp)) / 1000, limit = tcp_tune(a->r)->challenge_limit;
	struct tcp_opts o = { .have = h->have & TCP_O_TS, .tsecr = h->ts_recent };
	uint8_t opts[TCP_HDR_MAX];

	if (h->acks_at != second) {
		h->acks_at = second;
		h->acks = 0;
	}
	if (h->acks >= limit || h->acks == UINT16_MAX)
		return;
	h->acks++;
	xk_count(a->r->count[TCP_COUNT_CHALLENGE]);
	o.tsval = tcp_ms(xk_vp_time(a->r->vp)) + h->ts_off;
	tcp_answer(a->r, a->lls, a->m, h->iss + 1, h->irs + 1, TCP_ACK, h->window, opts, tcp_opts_store(opts, &o));
}

/* ---- time ---------------------------------------------------------------------------------------- */

static void half_due(struct tcp_syncache *sc, struct half *h)
{
	unsigned level = h->level + 1u;

	if (h->level >= tcp_tune(sc->r)->synack_retries) {
		xk_count(sc->r->count[TCP_COUNT_TIMED_OUT]);
		half_free(sc, h);
		return;
	}
	level_take(sc, h);
	half_wait(sc, h, level);
	h->sent_us = 0;
	/* Not while it waits for bytes; then once more, for an ACK that counts. */
	if ((h->flags & HALF_ACKED) && tcp_lt(tcp_ms(xk_vp_time(sc->r->vp)), h->defer))
		return;
	xk_count(sc->r->count[TCP_COUNT_REXMT]);
	xk_count(sc->r->count[TCP_COUNT_RTO]);
	send_synack(sc, h, NULL, NULL);
}

static void timer_fired(struct xk_timer *t)
{
	struct tcp_syncache *sc = xk_container_of(t, struct tcp_syncache, timer);
	uint32_t now = tcp_ms(xk_vp_time(sc->r->vp));
	struct half *h;
	unsigned n = 0;

	/* From above, so that what moves up a level is not met again. */
	for (unsigned i = sc->top; i-- > 0;)
		while (n < RUN_MOST && (h = level_first(sc, i)) != NULL && left_of(sc, h->at, now) == 0) {
			half_due(sc, h);
			n++;
		}
	timer_arm(sc);
}

/* ---- a SYN to a listener ------------------------------------------------------------------------------ */

/* Room for one more towards this port.  False: a cookie shall do. */
static bool room(struct tcp_syncache *sc, uint16_t port)
{
	const struct tcp_tune *t = tcp_tune(sc->r);
	struct port *p = port_find(sc, port);
	bool port_full = p != NULL && p->n >= t->backlog;

	if (!port_full && sc->n < t->syncache)
		return true;
	if (t->cookies != 0)
		return false;
	/* Of all, one that was answered most often in vain. */
	half_free(sc, port_full ? port_first(p) : level_first(sc, sc->top - 1));
	return true;
}

static void half_fill(struct half *h, const struct tcp_arrival *a)
{
	const struct tcp_hidden hidden = tcp_hidden(a->r, a->k);
	const struct tcp_tune *t = tcp_tune(a->r);
	const struct tcp_seg *g = a->g;
	uint32_t wait;

	h->irs = g->seq;
	h->iss = hidden.isn;
	h->ts_off = hidden.ts_off;
	h->have = g->o.have & (uint8_t)(TCP_O_MSS | (t->use_wscale ? TCP_O_WSCALE : 0) | (t->sack ? TCP_O_SACKOK : 0) |
					(t->timestamps ? TCP_O_TS : 0));
	h->wscale = g->o.wscale;
	h->peer_mss = g->o.mss;
	h->ts_recent = g->o.tsval;
	h->own_mss = tcp_listen_mss(a);
	h->window = (uint16_t)tcp_synack_window(a);
	h->sent_us = (uint32_t)(xk_vp_time(a->r->vp) / XK_US) | 1;
	if (t->ecn && (g->flags & (TCP_ECE | TCP_CWR)) == (TCP_ECE | TCP_CWR))
		h->flags |= HALF_ECN;
	wait = tcp_defer_of(a->r, tcp_ports_destination((uint32_t)a->k->w[1]));
	h->defer = wait != 0 ? tcp_deadline(tcp_ms(xk_vp_time(a->r->vp)), wait) : 0;
}

void tcp_syncache_syn(const struct tcp_arrival *a)
{
	struct tcp_syncache *sc = tcp_rep(a->r)->syn;
	const struct tcp_tune *t = tcp_tune(a->r);
	struct half *h;

	if (t->cookies == 2 || !room(sc, tcp_ports_destination((uint32_t)a->k->w[1]))) {
		tcp_cookie_send(a);
		return;
	}
	h = half_make(sc, a->k);
	if (h == NULL) {
		if (t->cookies != 0)
			tcp_cookie_send(a);
		else
			xk_drop(a->r, XK_DROP_NOMEM, a->m);
		return;
	}
	half_fill(h, a);
	half_wait(sc, h, 0);
	send_synack(sc, h, a->lls, a->m);
	xk_msg_free(a->m);
}

/* ---- a segment for an entry (RFC 9293 3.10.7.4, SYN-RECEIVED) -------------------------------------------- */

static bool in_window(const struct half *h, uint32_t seq)
{
	return seq - (h->irs + 1) < h->window;
}

/* Some byte of it, or where it stands when it has none, lies in the window. */
static bool acceptable(const struct half *h, const struct tcp_seg *g)
{
	uint32_t span = tcp_seg_span(g);

	return in_window(h, g->seq) || (span != 0 && in_window(h, g->seq + span - 1));
}

static void half_reset(const struct tcp_arrival *a, struct half *h)
{
	xk_count(a->r->count[TCP_COUNT_RST_IN]);
	if (a->g->seq == h->irs + 1)
		half_free(tcp_rep(a->r)->syn, h);
	else if (in_window(h, a->g->seq))
		send_ack(a, h);          /* RFC 5961 3 */
	xk_drop(a->r, TCP_DROP_RST, a->m);
}

/* The same SYN wants its answer again; another one asks whether we mean it. */
static void half_syn(const struct tcp_arrival *a, struct half *h)
{
	if (a->g->seq == h->irs && !(a->g->flags & (TCP_ACK | TCP_FIN))) {
		if (a->g->o.have & h->have & TCP_O_TS)
			h->ts_recent = a->g->o.tsval;
		h->sent_us = 0;
		send_synack(tcp_rep(a->r)->syn, h, a->lls, a->m);
		xk_drop(a->r, TCP_DROP_DUP, a->m);
	} else {
		send_ack(a, h);
		xk_drop(a->r, TCP_DROP_SYN, a->m);
	}
}

static bool older(const struct tcp_arrival *a, const struct half *h)
{
	return (a->g->o.have & h->have & TCP_O_TS) && tcp_lt(a->g->o.tsval, h->ts_recent);
}

static void half_stands(const struct tcp_arrival *a, struct half *h)
{
	struct tcp_syncache *sc = tcp_rep(a->r)->syn;
	const struct xk_key k = *a->k;
	struct xk_enable *e;
	struct tcp_half o;

	e = inet_enable_find(a->r->node, tcp_ports_destination((uint32_t)k.w[1]), be64toh(k.w[0]) & 0xffffffff);
	half_open(h, &o);
	if (e == NULL) {
		half_free(sc, h);
		tcp_refuse(a, TCP_DROP_NO_PORT);
		return;
	}
	if (tcp_accept(a, e, &o) == XK_E_AGAIN)
		return;
	/* Whoever was told may have done anything: look for it anew. */
	h = half_find(sc, &k);
	if (h != NULL)
		half_free(sc, h);
}

/* An ACK and nothing more, for a listener that wants bytes. */
static bool deferred(const struct tcp_arrival *a, const struct half *h)
{
	return h->defer != 0 && a->g->len == 0 && !(a->g->flags & TCP_FIN) &&
	       tcp_lt(tcp_ms(xk_vp_time(a->r->vp)), h->defer);
}

static void half_silent(const struct tcp_arrival *a, struct half *h)
{
	h->flags |= HALF_ACKED;
	xk_drop(a->r, TCP_DROP_LISTEN, a->m);
}

static void half_reject(const struct tcp_arrival *a, struct half *h, unsigned why)
{
	send_ack(a, h);
	xk_drop(a->r, why, a->m);
}

bool tcp_syncache_input(const struct tcp_arrival *a)
{
	struct half *h = half_find(tcp_rep(a->r)->syn, a->k);

	if (h == NULL)
		return false;
	if (a->g->flags & TCP_RST)
		half_reset(a, h);
	else if (a->g->flags & TCP_SYN)
		half_syn(a, h);
	else if (older(a, h))
		half_reject(a, h, TCP_DROP_PAWS);
	else if (!acceptable(h, a->g))
		half_reject(a, h, TCP_DROP_SEQ);
	else if (!(a->g->flags & TCP_ACK))
		xk_drop(a->r, TCP_DROP_NO_ACK, a->m);
	else if (a->g->ack != h->iss + 1)
		tcp_refuse(a, TCP_DROP_ACK_NEW);
	else if (deferred(a, h))
		half_silent(a, h);
	else
		half_stands(a, h);
	return true;
}

/* RFC 5927: it counts when it quotes our SYN-ACK, and twice, the peer having been
 * asked again: then the entry is of no use. */
void tcp_syncache_error(struct xk_rep *r, const struct xk_key *k, uint32_t seq)
{
	struct tcp_syncache *sc = tcp_rep(r)->syn;
	struct half *h = half_find(sc, k);

	if (h == NULL || seq != h->iss)
		return;
	if ((h->flags & HALF_ERROR) && h->level != 0)
		half_free(sc, h);
	else
		h->flags |= HALF_ERROR;
}

uint32_t tcp_syncache_count(const struct xk_rep *r)
{
	return tcp_rep(r)->syn->n;
}

/* ---- life --------------------------------------------------------------------------------------------------- */

int tcp_syncache_init(struct xk_rep *r)
{
	struct tcp_syncache *sc = xk_alloc(sizeof *sc);

	if (sc == NULL)
		return XK_E_NOMEM;
	sc->r = r;
	xk_slab_init(&sc->halves, sizeof(struct half));
	xk_slab_init(&sc->port_slab, sizeof(struct port));
	xk_map_init(&sc->map, offsetof(struct half, map));
	xk_map_init(&sc->ports, offsetof(struct port, map));
	xk_timer_init(&sc->timer, timer_fired);
	tcp_rep(r)->syn = sc;
	return XK_OK;
}

void tcp_syncache_clear(struct xk_rep *r)
{
	struct tcp_syncache *sc = tcp_rep(r)->syn;

	while (sc->top > 0)
		half_free(sc, level_first(sc, sc->top - 1));
	port_idle_clear(sc);
	xk_timer_cancel(r->wheel, &sc->timer);
}

void tcp_syncache_fini(struct xk_rep *r)
{
	struct tcp_syncache *sc = tcp_rep(r)->syn;

	if (sc == NULL)
		return;
	tcp_syncache_clear(r);
	xk_map_fini(&sc->map);
	xk_map_fini(&sc->ports);
	xk_slab_fini(&sc->halves);
	xk_slab_fini(&sc->port_slab);
	xk_free(sc);
	tcp_rep(r)->syn = NULL;
}
