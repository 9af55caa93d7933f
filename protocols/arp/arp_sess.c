/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_sess.c - a session of address resolution: what it stands on, keeps and asks.
 *
 * Until the host's station is known its push keeps a few messages and asks; then its push is
 * one jump to the link session of that station.
 *
 * What nobody confirmed for `reachable`, no packet and no progress above, is doubted (as RFC 4861 7.3 has it for IPv6):
 * the first message that uses it starts `delay`, and what is not confirmed by then is
 * asked for at its own station and then of everybody; meanwhile it is used.  What nobody
 * uses is not asked for, so that silence costs nothing.  What is suspect, since somebody claims
 * it for another station or nothing arrives there, is asked for at once, in the same order.
 *
 * Who sends one message and closes the session does not take the message back
 * (RFC 1122 2.3.2.2): a session that is closed while messages wait holds itself
 * until they are sent or given up; a few such at most.
 * While the gate is shut (arp_claim.c) a session keeps messages and asks for nobody; when an
 * address was lost it drops them.
 * Invariant: state SHUT or PENDING iff down is NULL; only then the queue holds messages.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_record.h"
#include "runtime/upi/xk_part.h"

#include <string.h>

enum arp_ev { ARP_EV_AT, ARP_EV_NOBODY };        /* ORDER ARP_EV */

static void arm(struct arp_sess *a, xk_ns when)
{
	struct xk_wheel *w = a->s.rep->wheel;

	if (when == XK_NS_NEVER)
		xk_timer_cancel(w, &a->timer);
	else
		xk_timer_set(w, &a->timer, when);
}

static void arp_push_shut(struct xk_sess *s, struct xk_msg *m);
static void arp_push_pending(struct xk_sess *s, struct xk_msg *m);
static bool group_mac(struct xk_node *n, uint32_t host, struct arp_view *v);
static void arp_push_resolved(struct xk_sess *s, struct xk_msg *m);
static void arp_push_doubted(struct xk_sess *s, struct xk_msg *m);

/* ---- closed while messages wait ------------------------------------------------------- */

static void drop_queue(struct arp_sess *a, unsigned reason)
{
	struct xk_msg *m;

	while ((m = xk_msgq_get(&a->queue)) != NULL)
		xk_drop(a->s.rep, reason, m);
}

static void left_end(struct arp_sess *a)
{
	struct arp_rep *st = a->s.rep->state;

	if (!xk_is_listed(&a->left))
		return;
	xk_list_take(&a->left);
	st->nleft--;
	xk_close(&a->s);
}

/* The oldest waits no longer; what somebody opened again since is his. */
void arp_give_up_left(struct arp_rep *st)
{
	struct arp_sess *a = xk_container_of(xk_list_first(&st->left), struct arp_sess, left);

	if (a->s.rcnt == 1)
		drop_queue(a, ARP_DROP_CLOSED);
	left_end(a);
}

/* Takes the reference that nobody else has any more. */
static void left_add(struct arp_sess *a)
{
	struct arp_rep *st = a->s.rep->state;

	a->s.rcnt++;
	xk_list_put(&st->left, &a->left);
	if (++st->nleft > ARP_LEFT_MAX)
		arp_give_up_left(st);
}

/* ---- states --------------------------------------------------------------------------- */

static void become_pending(struct arp_sess *a)
{
	struct xk_sess *old = a->s.down;

	xk_sess_set_push(&a->s, arp_push_pending);
	a->state = ARP_S_PENDING;
	a->tries = 0;
	a->s.down = NULL;
	arm(a, XK_NS_NEVER);
	if (old != NULL)
		xk_close(old);
}

/* Stands on the link session of station v->mac; XK_OK or why not. */
static int stand_on(struct arp_sess *a, const struct arp_view *v, enum arp_state state)
{
	struct xk_sess *s = &a->s, *old = s->down, *down;
	struct xk_parts ps;
	int err;

	if (old == NULL || memcmp(a->mac, v->mac, 6) != 0) {
		xk_parts_init(&ps, 1);
		(void)xk_part_push_mac(&ps.p[XK_REMOTE], v->mac);
		down = xk_open(s->up->rep, xk_sess_type(s), s->rep->down[0], &ps, &err);
		if (down == NULL)
			return err;
		s->down = down;
		memcpy(a->mac, v->mac, 6);
		xk_record(s->rep, ARP_EV_AT, a->host, (uint64_t)xk_be16(v->mac) << 32 | xk_be32(v->mac + 2));
		if (old != NULL)
			xk_close(old);
	}
	a->state = (uint8_t)state;
	a->tries = 0;
	xk_sess_set_push(s, arp_push_resolved);
	arm(a, v->until);
	return XK_OK;
}

/* Sends what waited. */
static void flush(struct arp_sess *a)
{
	struct xk_msg *m;

	while (a->s.down != NULL && (m = xk_msgq_get(&a->queue)) != NULL)
		xk_push(a->s.down, m);
}

static void ask(struct arp_sess *a)
{
	const struct arp_conf *c = a->s.rep->conf;

	a->tries++;
	arm(a, xk_vp_now() + c->retry);
	if (arp_want(a->s.rep, a->host, true) > 0)
		arp_send_request(a->s.rep, a->host);
}

/* The station that the session stands on, whether it still is the host's. */
static void probe(struct arp_sess *a)
{
	const struct arp_conf *c = a->s.rep->conf;

	a->tries++;
	arm(a, xk_vp_now() + c->retry);
	if (arp_want(a->s.rep, a->host, false) > 0)
		arp_send_probe(a->s.rep, a->host, a->mac);
}

/* Nobody answered the last question: asks again, or gives up.  The first `probes` questions
 * about a doubted station go to that station. */
static void ask_again(struct arp_sess *a)
{
	const struct arp_conf *c = a->s.rep->conf;
	uint64_t probes = a->state == ARP_S_PROBING ? c->probes : 0;

	if (a->tries < probes) {
		probe(a);
		return;
	}
	if (a->tries < probes + c->tries) {
		ask(a);
		return;
	}
	arp_fail(a->s.rep, a->host);
	xk_record(a->s.rep, ARP_EV_NOBODY, a->host, a->tries);
	become_pending(a);
	drop_queue(a, ARP_DROP_UNREACHABLE);
}

static void doubt(struct arp_sess *a)
{
	a->state = ARP_S_DOUBTED;
	arm(a, XK_NS_NEVER);
	xk_sess_set_push(&a->s, arp_push_doubted);
}

/* Used although doubted: whoever confirms it has until then. */
static void delay(struct arp_sess *a)
{
	a->state = ARP_S_DELAYED;
	arm(a, arp_delay(a->s.rep, a->host));
}

/* Of an entry older than `timeout` the station is not asked itself. */
static void begin_probing(struct arp_sess *a, enum arp_answer answer)
{
	const struct arp_conf *c = a->s.rep->conf;

	a->state = ARP_S_PROBING;
	a->tries = answer == ARP_OLD ? (uint8_t)c->probes : 0;
	ask_again(a);
}

/* A station is known, perhaps doubted or suspect: stand on it, and send.  When the link has no memory for
 * a session, what waits waits for the timer. */
static void resolved(struct arp_sess *a, const struct arp_view *v, enum arp_answer answer)
{
	const struct arp_conf *c = a->s.rep->conf;

	if (stand_on(a, v, ARP_S_OPEN) != XK_OK) {
		arm(a, xk_vp_now() + c->retry);
		return;
	}
	if (answer == ARP_SUSPECT)
		begin_probing(a, answer);
	else if (answer == ARP_DOUBTED && a->queue.n != 0)
		delay(a);
	else if (answer == ARP_DOUBTED)
		doubt(a);
	flush(a);
}

/* The table has a station, but nobody has confirmed it for some time. */
static void not_confirmed(struct arp_sess *a, const struct arp_view *v, enum arp_answer answer, bool timer)
{
	if (a->state == ARP_S_OPEN)
		doubt(a);
	else if (a->state == ARP_S_PENDING && answer == ARP_DOUBTED)
		resolved(a, v, answer);
	else if (timer && a->state == ARP_S_DELAYED)
		begin_probing(a, answer);
	else if (timer && (a->state == ARP_S_PROBING || a->queue.n != 0))
		ask_again(a);
}

/* Another station claims the host.  Asked for even when nobody sends: a peer that only receives
 * from it would else send its next message to the wrong one. */
static void suspect(struct arp_sess *a, const struct arp_view *v, bool timer)
{
	if (a->state != ARP_S_PROBING)
		resolved(a, v, ARP_SUSPECT);
	else if (timer)
		ask_again(a);
}

/* ---- the gate ---------------------------------------------------------------------------- */

static void become_shut(struct arp_sess *a)
{
	become_pending(a);
	a->state = ARP_S_SHUT;
	xk_sess_set_push(&a->s, arp_push_shut);
}

/* The gate is open, and was not when the session was looked at last.  False: no memory, again later. */
static bool come_out(struct arp_sess *a)
{
	const struct arp_conf *c = a->s.rep->conf;
	struct arp_view v;

	become_pending(a);
	if (!group_mac(a->s.rep->node, a->host, &v))
		return true;
	if (stand_on(a, &v, ARP_S_FIXED) == XK_OK) {
		flush(a);
		return true;
	}
	become_shut(a);
	arm(a, xk_vp_now() + c->retry);
	return false;
}

/* False: nothing may leave now. */
static bool pass_gate(struct arp_sess *a)
{
	enum arp_gate gate = arp_gate(arp_table(a->s.rep->node));

	if (gate == ARP_GATE_OPEN)
		return a->state != ARP_S_SHUT || come_out(a);
	if (a->state != ARP_S_SHUT)
		become_shut(a);
	if (gate == ARP_GATE_LOST)
		drop_queue(a, ARP_DROP_LOST);
	return false;
}

/* ---- looking at the table ------------------------------------------------------------------- */

static void act_on_table(struct arp_sess *a, bool timer)
{
	enum arp_answer answer;
	struct arp_view v;

	if (!pass_gate(a) || a->state == ARP_S_FIXED)
		return;
	answer = arp_use(a->s.rep, a->host, &v);
	switch (answer) {
	case ARP_KNOWN:
		resolved(a, &v, answer);
		break;
	case ARP_SUSPECT:
		suspect(a, &v, timer);
		break;
	case ARP_DOUBTED:
	case ARP_OLD:
		not_confirmed(a, &v, answer, timer);
		break;
	case ARP_FAILED:
		become_pending(a);
		drop_queue(a, ARP_DROP_UNREACHABLE);
		break;
	case ARP_UNKNOWN:
		if (timer && (a->state == ARP_S_PROBING || a->queue.n != 0))
			ask_again(a);
		else if (a->state != ARP_S_PENDING)
			become_pending(a);
		break;
	}
}

/* Looks at the table again: told of a change, or by the timer.  What comes back on this stack
 * may close the session, and one that only waited is at its end. */
static void look_again(struct arp_sess *a, bool timer)
{
	struct xk_sess *s = xk_dup(&a->s);

	act_on_table(a, timer);
	if (a->queue.n == 0)
		left_end(a);
	xk_close(s);
}

static void arp_timeout(struct xk_timer *t)
{
	look_again(xk_container_of(t, struct arp_sess, timer), true);
}

/* ---- down path -------------------------------------------------------------------------- */

static void arp_push_resolved(struct xk_sess *s, struct xk_msg *m)
{
	xk_push(s->down, m);
}

/* This message uses a doubted entry, and has it confirmed: soon, or at once when it is older
 * than `timeout`. */
static void arp_push_doubted(struct xk_sess *s, struct xk_msg *m)
{
	struct arp_sess *a = arp_sess(s);
	struct arp_view v;
	enum arp_answer answer = arp_lookup(s->rep, a->host, &v);

	xk_dup(s);
	xk_sess_set_push(s, arp_push_resolved);
	if (answer == ARP_KNOWN)
		look_again(a, false);
	else if (answer == ARP_DOUBTED)
		delay(a);
	else if (answer == ARP_SUSPECT || answer == ARP_OLD)
		begin_probing(a, answer);
	else
		become_pending(a);
	if (s->down != NULL)
		xk_push(s->down, m);
	else
		xk_sess_own_push(s)(s, m);
	xk_close(s);
}

static void enqueue(struct arp_sess *a, struct xk_msg *m);

/* The gate is not open, or was not until now. */
static void arp_push_shut(struct xk_sess *s, struct xk_msg *m)
{
	struct arp_sess *a = arp_sess(s);

	xk_dup(s);
	if (pass_gate(a))
		xk_sess_own_push(s)(s, m);
	else if (arp_gate(arp_table(s->rep->node)) == ARP_GATE_LOST)
		xk_drop(s->rep, ARP_DROP_LOST, m);
	else
		enqueue(a, m);
	xk_close(s);
}

static void enqueue(struct arp_sess *a, struct xk_msg *m)
{
	const struct arp_conf *c = a->s.rep->conf;

	if (a->queue.n >= c->queue)
		xk_drop(a->s.rep, ARP_DROP_QUEUE, xk_msgq_get(&a->queue));
	xk_msgq_put(&a->queue, m);
}

static void arp_push_pending(struct xk_sess *s, struct xk_msg *m)
{
	struct arp_sess *a = arp_sess(s);
	enum arp_answer answer;
	struct arp_view v;

	answer = arp_lookup(s->rep, a->host, &v);
	if (answer == ARP_FAILED) {
		xk_drop(s->rep, ARP_DROP_UNREACHABLE, m);
		return;
	}
	enqueue(a, m);
	if (answer == ARP_KNOWN || answer == ARP_SUSPECT || answer == ARP_DOUBTED)
		look_again(a, false);
	else if (!xk_timer_armed(&a->timer))
		ask(a);
}

/* ---- sessions ----------------------------------------------------------------------------- */

void arp_close(struct xk_sess *s)
{
	struct arp_sess *a = arp_sess(s);
	struct xk_sess *down = s->down;

	if (a->queue.n != 0 && ((struct arp_rep *)s->rep->state)->bcast != NULL) {
		left_add(a);
		return;
	}
	arm(a, XK_NS_NEVER);
	drop_queue(a, ARP_DROP_CLOSED);
	xk_sess_unbind(s);
	xk_sess_destroy(s);
	if (down != NULL)
		xk_close(down);
}

/* The station of a group of hosts; false: host is one host. */
static bool group_mac(struct xk_node *n, uint32_t host, struct arp_view *v)
{
	v->until = XK_NS_NEVER;
	if (arp_is_broadcast(n, host)) {
		memset(v->mac, 0xff, 6);
		return true;
	}
	if (host >> 28 != 0xe)
		return false;
	/* RFC 1112 6.4 */
	memcpy(v->mac, (const uint8_t[]){ 0x01, 0x00, 0x5e }, 3);
	v->mac[3] = (uint8_t)(host >> 16 & 0x7f);
	v->mac[4] = (uint8_t)(host >> 8);
	v->mac[5] = (uint8_t)host;
	return true;
}

/* Stands on the station if it is known; else the first message asks. */
static int first_look(struct arp_sess *a)
{
	enum arp_answer answer;
	struct arp_view v;
	int err;

	if (arp_gate(arp_table(a->s.rep->node)) != ARP_GATE_OPEN) {
		become_shut(a);
		return XK_OK;
	}
	if (group_mac(a->s.rep->node, a->host, &v))
		return stand_on(a, &v, ARP_S_FIXED);
	answer = arp_use(a->s.rep, a->host, &v);
	if (answer != ARP_KNOWN && answer != ARP_SUSPECT && answer != ARP_DOUBTED)
		return XK_OK;
	err = stand_on(a, &v, ARP_S_OPEN);
	if (err == XK_OK && answer != ARP_KNOWN)
		doubt(a);
	return err;
}

struct xk_sess *arp_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, uint32_t host, int *err)
{
	struct xk_sess *s = xk_sess_create(r, &rcv->up, type, NULL);
	struct xk_key k = arp_key(host, type);
	struct arp_sess *a = arp_sess(s);

	*err = XK_E_NOMEM;
	if (s == NULL)
		return NULL;
	a->host = host;
	xk_timer_init(&a->timer, arp_timeout);
	xk_msgq_init(&a->queue);
	a->left = (struct xk_listed){ 0 };
	xk_sess_set_push(s, arp_push_pending);
	*err = xk_sess_bind(s, &k);
	if (*err == XK_OK)
		*err = first_look(a);
	if (*err != XK_OK) {
		arp_close(s);
		return NULL;
	}
	return s;
}

/* ---- changes of the table --------------------------------------------------------------------- */

void arp_host_changed(struct xk_rep *r, uint32_t host)
{
	struct arp_rep *st = r->state;

	for (unsigned i = 0; i < st->ntypes; i++) {
		struct xk_key k = arp_key(host, st->type[i]);
		struct xk_mapnode *node = xk_map_resolve(&r->active, &k);

		if (node != NULL)
			look_again((struct arp_sess *)xk_container_of(node, struct xk_sess, map), false);
	}
}

static int look_soon(struct xk_mapnode *node, void *arg)
{
	struct arp_sess *a = (struct arp_sess *)xk_container_of(node, struct xk_sess, map);

	(void)arg;
	/* One that waits for an answer has its timer already; of one behind the gate it means nothing. */
	if (arp_gate(arp_table(a->s.rep->node)) != ARP_GATE_OPEN || a->state == ARP_S_OPEN || a->state == ARP_S_DOUBTED || a->state == ARP_S_DELAYED || a->queue.n != 0)
		arm(a, xk_vp_now());
	return XK_MAP_KEEP;
}

void arp_all_changed(struct xk_rep *r)
{
	xk_map_foreach(&r->active, look_soon, NULL);
}
