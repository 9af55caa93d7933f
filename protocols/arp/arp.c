/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp.c - address resolution (RFC 826, RFC 1122 2.3.2, RFC 5227) as a host link.
 *
 * A session stands for one host and one upper type.  Until the host's station
 * is known its push keeps a few messages and asks; then its push is one jump to
 * the link session of that station.  It stands on the down path only: enables
 * are passed to the link with the caller as receiver, so what is received
 * never comes here, but for ARP packets themselves (arp_input.c).
 *
 * The table is shared (arp_table.c); a session belongs to its VP.  When an
 * entry that sessions of some VP stand on changes, that VP gets one posted
 * call for any number of changes, and its sessions look again.
 *
 * What nobody confirmed for `reachable`, no packet and no progress above, is doubted (as RFC 4861 7.3 has it for IPv6):
 * the first message that uses it starts `delay`, and what is not confirmed by then is
 * asked for at its own station and then of everybody; meanwhile it is used.  What nobody
 * uses is not asked for, so that silence costs nothing.
 *
 * Who sends one message and closes the session does not take the message back
 * (RFC 1122 2.3.2.2): a session that is closed while messages wait holds itself
 * until they are sent or given up; a few such at most.
 * Invariant: state PENDING iff down is NULL; only then the queue holds messages.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/vp/xk_call.h"

#include <string.h>

/* DOUBTED: nobody has used it since; DELAYED: somebody has. */
enum arp_state { ARP_S_PENDING, ARP_S_OPEN, ARP_S_DOUBTED, ARP_S_DELAYED, ARP_S_PROBING, ARP_S_FIXED };

struct arp_sess {
	struct xk_sess  s;
	struct xk_timer timer;
	struct xk_msgq  queue;
	struct xk_listed left;
	uint32_t        host;
	uint8_t         state;
	uint8_t         tries;
	uint8_t         mac[6];
};

static struct arp_sess *arp_sess(struct xk_sess *s)
{
	return (struct arp_sess *)s;
}

static void arm(struct arp_sess *a, xk_ns when)
{
	struct xk_wheel *w = a->s.rep->wheel;

	if (when == XK_NS_NEVER)
		xk_timer_cancel(w, &a->timer);
	else
		xk_timer_set(w, &a->timer, when);
}

static void arp_push_pending(struct xk_sess *s, struct xk_msg *m);
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
static void left_give_up(struct arp_rep *st)
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
		left_give_up(st);
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
	if (arp_want(a->s.rep, a->host) > 0)
		arp_send_request(a->s.rep, a->host);
}

/* The station that the session stands on, whether it still is the host's. */
static void probe(struct arp_sess *a)
{
	const struct arp_conf *c = a->s.rep->conf;

	a->tries++;
	arm(a, xk_vp_now() + c->retry);
	if (arp_want(a->s.rep, a->host) > 0)
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
	a->tries = answer == ARP_DOUBTED ? 0 : (uint8_t)c->probes;
	ask_again(a);
}

/* A station is known, perhaps doubted: stand on it, and send.  When the link has no memory for
 * a session, what waits waits for the timer. */
static void resolved(struct arp_sess *a, const struct arp_view *v, enum arp_answer answer)
{
	const struct arp_conf *c = a->s.rep->conf;

	if (stand_on(a, v, ARP_S_OPEN) != XK_OK) {
		arm(a, xk_vp_now() + c->retry);
		return;
	}
	if (answer == ARP_DOUBTED && a->queue.n != 0)
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

static void act_on_table(struct arp_sess *a, bool timer)
{
	struct arp_view v;
	enum arp_answer answer = arp_use(a->s.rep, a->host, &v);

	switch (answer) {
	case ARP_KNOWN:
		resolved(a, &v, answer);
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
	else if (answer == ARP_OLD)
		begin_probing(a, answer);
	else
		become_pending(a);
	if (s->down != NULL)
		xk_push(s->down, m);
	else
		xk_sess_own_push(s)(s, m);
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
	if (answer == ARP_KNOWN || answer == ARP_DOUBTED)
		look_again(a, false);
	else if (!xk_timer_armed(&a->timer))
		ask(a);
}

/* ---- sessions ----------------------------------------------------------------------------- */

static struct xk_key arp_key(uint32_t host, const struct xk_node *type)
{
	return (struct xk_key){ { host, type->no } };
}

/* Changes are told by host; sessions are found by host and type. */
static int know_type(struct arp_rep *st, struct xk_node *type)
{
	for (unsigned i = 0; i < st->ntypes; i++)
		if (st->type[i] == type)
			return XK_OK;
	if (st->ntypes == ARP_TYPES_MAX)
		return XK_E_NOSPC;
	st->type[st->ntypes++] = type;
	return XK_OK;
}

static void arp_close(struct xk_sess *s)
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

	if (group_mac(a->s.rep->node, a->host, &v))
		return stand_on(a, &v, ARP_S_FIXED);
	answer = arp_use(a->s.rep, a->host, &v);
	if (answer != ARP_KNOWN && answer != ARP_DOUBTED)
		return XK_OK;
	err = stand_on(a, &v, ARP_S_OPEN);
	if (err == XK_OK && answer == ARP_DOUBTED)
		doubt(a);
	return err;
}

static struct xk_sess *arp_new(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			       uint32_t host, int *err)
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

/* ---- opening ---------------------------------------------------------------------------------- */

static bool can_be_reached(struct xk_node *n, uint32_t host)
{
	if (host >> 24 == 0 || host >> 24 == 127 || arp_own_find(n, host) != NULL)
		return false;
	return host < 0xf0000000u || host == UINT32_MAX;
}

static struct xk_sess *arp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	struct xk_mapnode *node;
	struct xk_sess *s;
	struct xk_key k;
	uint32_t host;

	*err = XK_E_INVAL;
	if (ps == NULL || ps->n < 1 || xk_part_pop_host(&ps->p[XK_REMOTE], &host) != 0)
		return NULL;
	if (!can_be_reached(r->node, host))
		return NULL;
	*err = know_type(r->state, type);
	if (*err != XK_OK)
		return NULL;
	k = arp_key(host, type);
	node = xk_map_resolve(&r->active, &k);
	if (node == NULL)
		return arp_new(r, rcv, type, host, err);
	s = xk_container_of(node, struct xk_sess, map);
	if (xk_is_listed(&arp_sess(s)->left) && s->rcnt == 1)
		s->up = &rcv->up;
	if (s->up->rep == rcv)
		return s;
	*err = XK_E_BUSY;
	return NULL;
}

/* The up path goes by: the caller receives from the link. */
static int arp_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_enable(rcv, type, n->down[0], ps);
}

static int arp_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_disable(rcv, type, n->down[0], ps);
}

static void arp_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_open_disable_all(rcv, n->down[0]);
}

/* ---- changes of the table, told to this VP ------------------------------------------------- */

void arp_tell_locked(struct xk_rep *r, uint32_t host)
{
	struct arp_rep *st = r->state;

	if (st->nchanged < ARP_CHANGED_MAX)
		st->changed[st->nchanged++] = host;
	else
		st->overflow = true;
	if (!st->posted) {
		st->posted = true;
		xk_vp_call_async(r->vp, &st->call);
	}
}

static void hosts_changed(struct xk_vp *vp, void *arg)
{
	struct xk_rep *r = arg;
	struct arp_rep *st = r->state;
	struct arp_table *t = r->node->state;
	uint32_t host[ARP_CHANGED_MAX];
	unsigned n;
	bool all;

	(void)vp;
	xk_mutex_lock(&t->lock);
	n = st->nchanged;
	memcpy(host, st->changed, n * sizeof(host[0]));
	all = st->overflow;
	st->nchanged = 0;
	st->overflow = st->posted = false;
	xk_mutex_unlock(&t->lock);
	for (unsigned i = 0; i < n; i++)
		arp_host_changed(r, host[i]);
	if (all)
		arp_all_changed(r);
}

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
	/* One that waits for an answer has its timer already. */
	if (a->state == ARP_S_OPEN || a->state == ARP_S_DOUBTED || a->state == ARP_S_DELAYED || a->queue.n != 0)
		arm(a, xk_vp_now());
	return XK_MAP_KEEP;
}

void arp_all_changed(struct xk_rep *r)
{
	xk_map_foreach(&r->active, look_soon, NULL);
}

/* ---- control ------------------------------------------------------------------------------------ */

static int arp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct arp_table *t = r->node->state;
	uint32_t addr;
	int err;

	switch (op) {
	case ARP_CTL_ADD_ADDR:
		return len < sizeof(struct arp_addr) ? XK_E_INVAL : arp_own_add(r->node, buf);
	case XK_CTL_ISLOCAL:
		err = xk_take(&addr, sizeof addr, buf, len);
		return err != XK_OK ? err : arp_own_find(r->node, addr) != NULL;
	case XK_CTL_GETMAXSUPER:
		return xk_control(r->down[0], op, buf, len);
	case XK_CTL_GETMYHOST:
		return xk_load_acquire(&t->nown) == 0 ? XK_E_ADDRNOTAVAIL :
		       xk_answer(buf, len, &t->own[0].addr, sizeof(uint32_t));
	default:
		return XK_E_NOTSUP;
	}
}

static int participants(struct xk_sess *s, void *buf, unsigned len)
{
	struct xk_parts ps;
	uint32_t own;

	xk_parts_init(&ps, 2);
	(void)xk_part_push_host(&ps.p[XK_REMOTE], arp_sess(s)->host);
	if (arp_control(s->rep, XK_CTL_GETMYHOST, &own, sizeof(own)) == sizeof(own))
		(void)xk_part_push_host(&ps.p[XK_LOCAL], own);
	else
		(void)xk_part_push_any(&ps.p[XK_LOCAL]);
	return xk_answer(buf, len, &ps, sizeof ps);
}

static int arp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETPEERHOST:
		return xk_answer(buf, len, &arp_sess(s)->host, sizeof(uint32_t));
	case XK_CTL_GETPARTICIPANTS:
		return participants(s, buf, len);
	case XK_CTL_REACHED:
		if (arp_sess(s)->state != ARP_S_FIXED && s->down != NULL)
			arp_reached(s->rep, arp_sess(s)->host, arp_sess(s)->mac);
		return 0;
	default:
		return arp_control(s->rep, op, buf, len);
	}
}

/* ---- life ------------------------------------------------------------------------------------------- */

static int arp_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;
	int err;

	xk_parts_init(&ps, 0);
	err = xk_open_enable(n, n, n->down[0], &ps);
	if (err < 0)
		xk_errs_add(e, n->file, n->line, 0, "%s: %s below already has somebody for ARP packets: %s",
			    n->name, n->down[0]->name, xk_strerror(err));
	return err;
}

static void arp_stop(struct xk_node *n)
{
	xk_open_disable_all(n, n->down[0]);
}

/* Each of our addresses, ARP_ANNOUNCES times in all. */
static void announce(struct xk_timer *timer)
{
	struct arp_rep *st = xk_container_of(timer, struct arp_rep, announce);
	struct xk_rep *r = st->call.arg;
	struct arp_table *t = r->node->state;
	unsigned nown = xk_load_acquire(&t->nown);

	for (unsigned i = 0; i < nown; i++)
		arp_send_announcement(r, t->own[i].addr);
	if (++st->announced < ARP_ANNOUNCES)
		xk_timer_set(r->wheel, &st->announce, xk_vp_now() + ARP_ANNOUNCE);
}

static int arp_rep_init(struct xk_rep *r)
{
	struct arp_rep *st = r->state;

	st->call.fn = hosts_changed;
	st->call.arg = r;
	xk_timer_init(&st->announce, announce);
	return XK_OK;
}

static int arp_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	static const uint8_t everybody[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const struct arp_conf *c = r->conf;
	struct arp_rep *st = r->state;
	struct xk_parts ps;
	int err;

	if (xk_control(r->down[0], XK_CTL_GETMYMAC, st->mac, 6) != 6) {
		xk_errs_add(e, r->node->file, r->node->line, 0, "%s: %s below has no station address",
			    r->node->name, r->node->down[0]->name);
		return XK_E_NODEV;
	}
	xk_parts_init(&ps, 1);
	(void)xk_part_push_mac(&ps.p[XK_REMOTE], everybody);
	st->bcast = xk_open(r, r->node, r->down[0], &ps, &err);
	if (st->bcast == NULL)
		return err;
	/* One replica speaks for the node. */
	if (c->announce && r == r->node->rep[0])
		xk_timer_set(r->wheel, &st->announce, xk_vp_now());
	return XK_OK;
}

static void arp_rep_stop(struct xk_rep *r)
{
	struct arp_rep *st = r->state;

	xk_timer_cancel(r->wheel, &st->announce);
	while (st->nleft != 0)
		left_give_up(st);
	if (st->bcast != NULL)
		xk_close(st->bcast);
	st->bcast = NULL;
}

/* ---- descriptor ---------------------------------------------------------------------------------------- */

static const struct xk_ops arp_ops = {
	.init = arp_table_init, .fini = arp_table_fini, .rep_init = arp_rep_init,
	.start = arp_start, .stop = arp_stop, .rep_start = arp_rep_start, .rep_stop = arp_rep_stop,
	.open = arp_open, .open_enable = arp_open_enable, .open_disable = arp_open_disable,
	.open_disable_all = arp_open_disable_all, .close = arp_close,
	.demux = arp_demux, .control = arp_control, .sess_control = arp_sess_control,
};

static const struct xk_param arp_params[] = {
	{ .name = "addresses", .type = XK_P_LIST, .elem = XK_P_CIDR,
	  .doc = "addresses answered for, besides those that the protocol above tells",
	  .offset = offsetof(struct arp_conf, addresses) },
	{ .name = "neighbours", .type = XK_P_MAP, .key = XK_P_IPV4, .elem = XK_P_MAC,
	  .doc = "static entries: host to station; never aged, never changed",
	  .offset = offsetof(struct arp_conf, neighbours) },
	{ .name = "cap", .type = XK_P_UINT, .def = "1024", .min = "1", .max = "1048576",
	  .doc = "most entries, static ones not counted; the least recently used goes",
	  .offset = offsetof(struct arp_conf, cap) },
	{ .name = "timeout", .type = XK_P_TIME, .def = "20m", .min = "1s", .max = "24h",
	  .doc = "age of an entry at which everybody is asked at its next use, without delay",
	  .offset = offsetof(struct arp_conf, timeout) },
	{ .name = "reachable", .type = XK_P_TIME, .def = "30s", .min = "1s", .max = "24h",
	  .doc = "how long an entry holds without being confirmed, if it is used",
	  .offset = offsetof(struct arp_conf, reachable) },
	{ .name = "delay", .type = XK_P_TIME, .def = "5s", .min = "0s", .max = "1m",
	  .doc = "time from the first use after that to the first probe",
	  .offset = offsetof(struct arp_conf, delay) },
	{ .name = "probes", .type = XK_P_UINT, .def = "3", .min = "0", .max = "20",
	  .doc = "requests to the station of such an entry before everybody is asked",
	  .offset = offsetof(struct arp_conf, probes) },
	{ .name = "retry", .type = XK_P_TIME, .def = "1s", .min = "1s", .max = "1m",
	  .doc = "time between requests for one host",
	  .offset = offsetof(struct arp_conf, retry) },
	{ .name = "tries", .type = XK_P_UINT, .def = "3", .min = "1", .max = "20",
	  .doc = "requests before a host counts as unreachable",
	  .offset = offsetof(struct arp_conf, tries) },
	{ .name = "fail", .type = XK_P_TIME, .def = "5s", .min = "0s", .max = "10m",
	  .doc = "how long messages to an unreachable host are dropped without asking",
	  .offset = offsetof(struct arp_conf, fail) },
	{ .name = "queue", .type = XK_P_UINT, .def = "128", .min = "1", .max = "1024",
	  .doc = "messages kept per host and virtual processor while it is asked for; the oldest goes",
	  .offset = offsetof(struct arp_conf, queue) },
	{ .name = "learn", .type = XK_P_BOOL, .def = "true",
	  .doc = "learn from requests to us and from changes that neighbours announce",
	  .offset = offsetof(struct arp_conf, learn) },
	{ .name = "announce", .type = XK_P_BOOL, .def = "false",
	  .doc = "announce our addresses at start, twice (RFC 5227)",
	  .offset = offsetof(struct arp_conf, announce) },
	XK_PARAM_END
};

/* ORDER ARP_DROP */
static const char *const arp_drops[] = {
	"short", "bad_htype", "bad_ptype", "bad_hlen", "bad_plen", "bad_op", "bad_sender_mac",
	"bad_sender_ip", "own_echo", "conflict", "queue_full", "unreachable", "closed", NULL
};
/* ORDER ARP_COUNT */
static const char *const arp_counts[] = {
	"requests_in", "replies_in", "requests_out", "replies_out", "learned", "refreshed",
	"changed", "ignored", "conflicts", "defended", "evicted", "failed", "probes_out",
	"reached", NULL
};
static const struct xk_number arp_numbers[] = { { "link", 0x0806 }, { NULL, 0 } };

/* Datagrams of hosts pass through; requests and replies, which have no conversation, stay
 * where nothing is known. */
static const struct xk_demux arp_decl = { .through = true };

/* What waits for an address may go. */
static uint32_t arp_gives(const void *conf, uint32_t below)
{
	(void)conf;
	return below & ~XK_GIVES_RELIABLE;
}

const struct xk_proto xk_proto_arp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "arp", .doc = "address resolution: hosts over a link of stations", .ops = &arp_ops,
	.offers = "hostlink", .needs = { "link", NULL }, .min_down = 1, .max_down = 1,
	.numbers = arp_numbers, .params = arp_params, .conf_size = sizeof(struct arp_conf),
	.node_size = sizeof(struct arp_table), .rep_size = sizeof(struct arp_rep),
	.sess_size = sizeof(struct arp_sess), .drops = arp_drops, .counts = arp_counts,
	.demux = &arp_decl, .gives = arp_gives,
};
