/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_table.c - the neighbours of a node, shared by all VPs.
 *
 * Found under RCU without a lock; written under the node's mutex.  Entries that
 * sessions of ours asked for stand in one list, entries that were only heard of
 * in another, each in order of last touch: at the cap the oldest heard one goes,
 * and a flood of strangers cannot push out a neighbour in use.
 *
 *                    lookup   use, want, learn, fail
 *   lookup             -            -
 *   the others         -            -        (own mutex)
 *
 * Invariant: n counts the entries of used and heard, and n <= cap.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

#include <string.h>

/* A stream of the seed that no VP has: they count from 0. */
#define RAND_STREAM 0x6172700000000000u

static struct xk_key host_key(uint32_t host)
{
	return (struct xk_key){ { host, 0 } };
}

static struct arp_entry *find(struct arp_table *t, uint32_t host)
{
	struct xk_key k = host_key(host);
	struct xk_mapnode *node = xk_passive_resolve(&t->map, &k);

	return node ? xk_container_of(node, struct arp_entry, map) : NULL;
}

static uint64_t mac_word(const uint8_t mac[6])
{
	return ARP_MAC_SET | (uint64_t)xk_be16(mac) << 32 | xk_be32(mac + 2);
}

static void mac_bytes(uint64_t w, uint8_t mac[6])
{
	xk_put_be16(mac, (uint16_t)(w >> 32));
	xk_put_be32(mac + 2, (uint32_t)w);
}

/* ---- lists ------------------------------------------------------------------------- */

static void lru_front(struct arp_entry *e)
{
	struct arp_table *t = e->table;

	xk_list_put_first(e->is_static ? &t->fixed : e->used ? &t->used : &t->heard, &e->lru);
}

static struct arp_entry *oldest(const struct xk_list *l)
{
	return xk_container_of(xk_list_last(l), struct arp_entry, lru);
}

static void touch(struct arp_entry *e, bool used)
{
	xk_list_take(&e->lru);
	e->used |= used;
	lru_front(e);
}

/* ---- entries --------------------------------------------------------------------------- */

/* Something is to be looked at on this VP: one call for any number.  Mutex held. */
static void post_locked(struct xk_rep *r)
{
	struct arp_rep *st = r->state;

	if (!st->posted) {
		st->posted = true;
		xk_vp_call_async(r->vp, &st->call);
	}
}

/* A host has changed that sessions of this VP stand on.  Mutex held. */
static void tell_locked(struct xk_rep *r, uint32_t host)
{
	struct arp_rep *st = r->state;

	if (st->nchanged < ARP_CHANGED_MAX)
		st->changed[st->nchanged++] = host;
	else
		st->overflow = true;
	post_locked(r);
}

void arp_tell_all_locked(struct arp_table *t)
{
	for (unsigned i = 0; i < xk_node_nvps(t->node); i++) {
		((struct arp_rep *)t->node->rep[i]->state)->overflow = true;
		post_locked(t->node->rep[i]);
	}
}

void arp_tell_claim_locked(struct arp_table *t)
{
	struct xk_rep *r = t->node->rep != NULL ? t->node->rep[0] : NULL;

	if (r == NULL || ((struct arp_rep *)r->state)->bcast == NULL)
		return;                   /* when it starts it looks for all that there are */
	((struct arp_rep *)r->state)->claims = true;
	post_locked(r);
}

static void tell_interested(struct arp_entry *e)
{
	struct arp_table *t = e->table;

	for (unsigned w = 0; w < t->words; w++)
		for (uint64_t bits = e->interest[w]; bits != 0; bits &= bits - 1)
			tell_locked(t->node->rep[w * 64 + (unsigned)__builtin_ctzll(bits)],
				    (uint32_t)e->map.key.w[0]);
}

static void entry_free(void *arg)
{
	struct arp_entry *e = arg;
	struct arp_table *t = e->table;

	xk_mutex_lock(&t->lock);
	xk_slab_put(&t->slab, e);
	xk_mutex_unlock(&t->lock);
}

static void evict(struct xk_rep *r, struct arp_entry *e)
{
	struct arp_table *t = e->table;

	tell_interested(e);
	xk_list_take(&e->lru);
	xk_passive_unbind(&t->map, &e->map);
	t->n--;
	xk_count(r->count[ARP_COUNT_EVICTED]);
	xk_rcu_free(&e->rcu, entry_free, e);
}

/* Unresolved and linked; NULL: no memory. */
static struct arp_entry *entry_new(struct arp_table *t, uint32_t host, bool is_static, bool used)
{
	struct arp_entry *e = xk_slab_get(&t->slab);

	if (e == NULL)
		return NULL;
	e->map.key = host_key(host);
	e->table = t;
	e->is_static = is_static;
	e->used = used;
	if (xk_passive_bind(&t->map, &e->map) < 0) {
		xk_slab_put(&t->slab, e);
		return NULL;
	}
	lru_front(e);
	t->n += !is_static;
	return e;
}

/* Room for one more: a heard one goes first; a used one only for a used one. */
static bool make_room(struct xk_rep *r, struct arp_table *t, bool used)
{
	const struct arp_conf *c = t->node->conf;

	if (t->n < c->cap)
		return true;
	if (!xk_list_empty(&t->heard))
		evict(r, oldest(&t->heard));
	else if (used && !xk_list_empty(&t->used))
		evict(r, oldest(&t->used));
	return t->n < c->cap;
}

static struct arp_entry *get(struct xk_rep *r, struct arp_table *t, uint32_t host, bool used)
{
	struct arp_entry *e = find(t, host);

	if (e != NULL || !make_room(r, t, used))
		return e;
	return entry_new(t, host, false, used);
}

static void set_interest(struct arp_entry *e, unsigned vp)
{
	e->interest[vp / 64] |= (uint64_t)1 << (vp % 64);
}

/* ---- questions ------------------------------------------------------------------------- */

/* When the entry was confirmed last. */
static xk_ns confirmed(const struct arp_entry *e)
{
	xk_ns updated = xk_load_relaxed(&e->updated), reached = xk_load_relaxed(&e->reached);

	return updated > reached ? updated : reached;
}

static enum arp_answer answer(struct xk_rep *r, struct arp_entry *e, struct arp_view *v)
{
	const struct arp_conf *c = r->conf;
	xk_ns now = xk_vp_now(), last;
	uint64_t mac;

	if (e == NULL)
		return ARP_UNKNOWN;
	mac = xk_load_acquire(&e->mac);
	if (mac == 0)
		return xk_load_relaxed(&e->failed_until) > now ? ARP_FAILED : ARP_UNKNOWN;
	mac_bytes(mac, v->mac);
	last = confirmed(e);
	v->until = e->is_static ? XK_NS_NEVER : last + xk_load_relaxed(&e->holds);
	if (xk_load_relaxed(&e->suspect) && now < last + c->timeout)
		return ARP_SUSPECT;
	if (v->until > now)
		return ARP_KNOWN;
	return now < last + c->timeout ? ARP_DOUBTED : ARP_OLD;
}

enum arp_answer arp_lookup(struct xk_rep *r, uint32_t host, struct arp_view *v)
{
	return answer(r, find(arp_table(r->node), host), v);
}

enum arp_answer arp_use(struct xk_rep *r, uint32_t host, struct arp_view *v)
{
	struct arp_table *t = arp_table(r->node);
	enum arp_answer a;
	struct arp_entry *e;

	xk_mutex_lock(&t->lock);
	e = find(t, host);
	if (e != NULL) {
		touch(e, true);
		set_interest(e, r->no);
	}
	a = answer(r, e, v);
	xk_mutex_unlock(&t->lock);
	return a;
}

/* ---- changes ------------------------------------------------------------------------------- */

/* Takes the turn to ask, at most one per host and `retry`. */
static int take_turn(struct xk_rep *r, struct arp_entry *e, bool everybody)
{
	const struct arp_conf *c = r->conf;
	xk_ns now = xk_vp_now();

	if (e->asked && now < e->last_request + c->retry)
		return 0;
	e->asked = true;
	e->asked_all |= everybody;
	e->last_request = now;
	return 1;
}

int arp_want(struct xk_rep *r, uint32_t host, bool everybody)
{
	struct arp_table *t = arp_table(r->node);
	struct arp_entry *e;
	int turn = XK_E_NOMEM;

	xk_mutex_lock(&t->lock);
	e = get(r, t, host, true);
	if (e != NULL) {
		touch(e, true);
		set_interest(e, r->no);
		turn = take_turn(r, e, everybody);
	}
	xk_mutex_unlock(&t->lock);
	return turn;
}

xk_ns arp_delay(struct xk_rep *r, uint32_t host)
{
	const struct arp_conf *c = r->conf;
	struct arp_table *t = arp_table(r->node);
	xk_ns at = xk_vp_now();
	struct arp_entry *e;

	xk_mutex_lock(&t->lock);
	e = find(t, host);
	if (e != NULL && !e->delayed) {
		e->delayed = true;
		e->probe_at = at + c->delay;
	}
	if (e != NULL)
		at = e->probe_at;
	xk_mutex_unlock(&t->lock);
	return at;
}

void arp_fail(struct xk_rep *r, uint32_t host)
{
	const struct arp_conf *c = r->conf;
	struct arp_table *t = arp_table(r->node);
	struct arp_entry *e;
	struct arp_view v;

	xk_mutex_lock(&t->lock);
	e = find(t, host);
	if (e != NULL && answer(r, e, &v) != ARP_KNOWN) {   /* not confirmed a moment ago, by another VP */
		xk_store_relaxed(&e->failed_until, xk_vp_now() + c->fail);
		xk_store_relaxed(&e->suspect, false);
		xk_store_relaxed(&e->claimed, false);
		xk_store_release(&e->mac, 0);
		xk_count(r->count[ARP_COUNT_FAILED]);
	}
	xk_mutex_unlock(&t->lock);
}

/* How long an entry is not doubted: half to one and a half times `reachable`, so that hosts that
 * were started together do not ask together (RFC 4861 10, RANDOM_FACTOR). */
static xk_ns draw_holds(struct arp_table *t)
{
	const struct arp_conf *c = t->node->conf;
	xk_ns holds = c->reachable / 2 + xk_rand_below(&t->rand, c->reachable + 1);

	return holds < c->timeout ? holds : c->timeout;
}

static void publish(struct arp_entry *e, uint64_t mac, xk_ns now)
{
	xk_store_relaxed(&e->holds, draw_holds(e->table));
	xk_store_relaxed(&e->updated, now);
	xk_store_relaxed(&e->failed_until, 0);
	xk_store_relaxed(&e->suspect, false);
	xk_store_relaxed(&e->claimed, false);
	xk_store_release(&e->mac, mac);   /* pairs with answer() */
	e->delayed = e->asked_all = false;
}

/* Suspect because nothing seemed to arrive, not because another station claims the host. */
static bool is_only_doubted(const struct arp_entry *e)
{
	return xk_load_relaxed(&e->suspect) && !xk_load_relaxed(&e->claimed);
}

/* Most calls end at the first line: many connections may stand on one neighbour.  What locks
 * out a change is a packet, not this (merge); a doubt ends, as what raised it was further away. */
void arp_reached(struct xk_rep *r, uint32_t host, const uint8_t mac[6])
{
	struct arp_table *t = arp_table(r->node);
	struct arp_entry *e = find(t, host);
	uint64_t now = xk_vp_now();

	if (e == NULL || (now < confirmed(e) + xk_load_relaxed(&e->holds) / 4 && !is_only_doubted(e)))
		return;
	xk_mutex_lock(&t->lock);
	e = find(t, host);
	if (e != NULL && !e->is_static && e->mac == mac_word(mac)) {
		xk_store_relaxed(&e->reached, now);
		if (is_only_doubted(e))
			xk_store_relaxed(&e->suspect, false);
		e->delayed = e->asked_all = false;
		xk_count(r->count[ARP_COUNT_REACHED]);
	}
	xk_mutex_unlock(&t->lock);
}

/* Whoever stands on the entry asks its station now.  False: he does already. */
static bool begin_suspicion(struct arp_entry *e)
{
	if (e->suspect)
		return false;
	xk_store_relaxed(&e->suspect, true);
	tell_interested(e);
	return true;
}

/* What was confirmed just now is not asked again for every connection whose peer is gone. */
void arp_doubt(struct xk_rep *r, uint32_t host, const uint8_t mac[6])
{
	const struct arp_conf *c = r->conf;
	struct arp_table *t = arp_table(r->node);
	struct arp_entry *e;

	xk_mutex_lock(&t->lock);
	e = find(t, host);
	if (e != NULL && !e->is_static && e->mac == mac_word(mac) && xk_vp_now() >= confirmed(e) + c->delay &&
	    begin_suspicion(e))
		xk_count(r->count[ARP_COUNT_DOUBTED]);
	xk_mutex_unlock(&t->lock);
}

/* What becomes of an entry when another station claims its host.  One that a session of ours has
 * stood on is given up only when its station was asked and was silent, so that everybody was
 * asked: a packet that nobody asked for cuts no connection. */
static unsigned claim(struct xk_rep *r, struct arp_entry *e, uint64_t mac, xk_ns now)
{
	const struct arp_conf *c = r->conf;
	bool fresh = e->mac != 0 && now < e->updated + c->timeout;

	if (!c->learn && !(e->mac == 0 ? e->asked : e->asked_all))
		return ARP_COUNT_IGNORED;
	/* Two stations that quarrel over an address shall not drive our sessions, nor what we ask. */
	if (fresh && now < e->updated + c->retry)
		return ARP_COUNT_IGNORED;
	if (fresh && e->used && !e->asked_all) {
		xk_store_relaxed(&e->claimed, true);
		return begin_suspicion(e) ? ARP_COUNT_CONTESTED : ARP_COUNT_IGNORED;
	}
	publish(e, mac, now);
	tell_interested(e);
	return fresh ? ARP_COUNT_CHANGED : ARP_COUNT_LEARNED;
}

/* What an entry makes of a neighbour's word; the counter that says so. */
static unsigned merge(struct xk_rep *r, struct arp_entry *e, uint64_t mac)
{
	xk_ns now = xk_vp_now();

	if (e->is_static)
		return ARP_COUNT_IGNORED;
	if (e->mac != mac)
		return claim(r, e, mac, now);
	publish(e, mac, now);
	return ARP_COUNT_REFRESHED;
}

/* May this change be logged now?  Says how many could not before. */
static bool may_tell(struct arp_table *t, xk_ns now, uint64_t *untold)
{
	if (t->told && now < t->last_told + ARP_TELL) {
		t->untold++;
		return false;
	}
	*untold = t->untold;
	t->untold = 0;
	t->told = true;
	t->last_told = now;
	return true;
}

#define MAC_TEXT "%02x:%02x:%02x:%02x:%02x:%02x"
#define MAC_ARGS(m) (m)[0], (m)[1], (m)[2], (m)[3], (m)[4], (m)[5]

static void tell(const struct xk_rep *r, uint32_t host, uint64_t was, const uint8_t mac[6], uint64_t untold)
{
	uint8_t old[6];

	(void)r, (void)host, (void)mac, (void)untold;    /* in a build without trace messages */
	mac_bytes(was, old);
	XK_TRACE(&r->node->log, 2, "neighbour %u.%u.%u.%u moved from " MAC_TEXT " to " MAC_TEXT
		 " (%llu more changes were not logged)", host >> 24, host >> 16 & 255, host >> 8 & 255, host & 255,
		 MAC_ARGS(old), MAC_ARGS(mac), (unsigned long long)untold);
}

void arp_learn(struct xk_rep *r, uint32_t host, const uint8_t mac[6], bool create)
{
	struct arp_table *t = arp_table(r->node);
	unsigned what = ARP_COUNT_IGNORED;
	uint64_t was = 0, untold = 0;
	struct arp_entry *e;
	bool say;

	xk_mutex_lock(&t->lock);
	e = create ? get(r, t, host, false) : find(t, host);
	if (e != NULL) {
		was = e->mac;
		what = merge(r, e, mac_word(mac));
	}
	if (e != NULL && what != ARP_COUNT_IGNORED && what != ARP_COUNT_CONTESTED)
		touch(e, false);
	say = what == ARP_COUNT_CHANGED && may_tell(t, xk_vp_now(), &untold);
	xk_mutex_unlock(&t->lock);
	xk_count(r->count[what]);
	if (say)
		tell(r, host, was, mac, untold);
}

/* ---- making and ending -------------------------------------------------------------------------- */

static int add_static(struct xk_node *n, uint32_t host, const uint8_t mac[6], struct xk_errs *e)
{
	struct arp_table *t = arp_table(n);
	struct arp_entry *en;

	if (!arp_is_host_address(host) || (mac[0] & 1) || mac_word(mac) == ARP_MAC_SET) {
		xk_errs_add(e, n->file, n->line, 0,
			    "%s: parameter 'neighbours' needs a host's address and its station's", n->name);
		return XK_E_INVAL;
	}
	xk_rcu_read_lock();
	en = find(t, host);
	xk_rcu_read_unlock();
	if (en == NULL)
		en = entry_new(t, host, true, false);
	if (en == NULL)
		return XK_E_NOMEM;
	publish(en, mac_word(mac), 0);
	return XK_OK;
}

static int fill(struct xk_node *n, struct xk_errs *e)
{
	const struct arp_conf *c = n->conf;
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < c->neighbours.n; i++)
		err = add_static(n, c->neighbours.v[i].key.ip, c->neighbours.v[i].val.mac, e);
	for (unsigned i = 0; err == XK_OK && i < c->addresses.n; i++) {
		struct xk_cidr cidr = c->addresses.v[i].cidr;

		err = arp_own_add(n, &(struct arp_addr){ cidr.addr, cidr.len });
		if (err < 0)
			xk_errs_add(e, n->file, n->line, 0, "%s: parameter 'addresses': %s", n->name,
				    err == XK_E_NOSPC ? "at most 64" : "not a host's address");
	}
	return err;
}

int arp_table_init(struct xk_node *n, struct xk_errs *e)
{
	struct arp_table *t = arp_table(n);
	int err;

	t->node = n;
	t->gate = ((const struct arp_conf *)n->conf)->probe ? ARP_GATE_SHUT : ARP_GATE_OPEN;
	t->words = (xk_node_nvps(n) + 63) / 64;
	xk_mutex_init(&t->lock);
	xk_rand_init(&t->rand, xk_node_seed(n), RAND_STREAM + n->no);
	xk_slab_init(&t->slab, sizeof(struct arp_entry) + t->words * sizeof(uint64_t));
	err = xk_passive_init(&t->map);
	if (err == XK_OK)
		err = fill(n, e);
	if (err != XK_OK)
		arp_table_fini(n);
	return err;
}

static void clear_list(struct xk_list *l)
{
	while (!xk_list_empty(l)) {
		struct arp_entry *e = oldest(l);

		xk_list_take(&e->lru);
		xk_passive_unbind(&e->table->map, &e->map);
		xk_slab_put(&e->table->slab, e);
	}
}

void arp_table_fini(struct xk_node *n)
{
	struct arp_table *t = arp_table(n);

	xk_rcu_barrier();                 /* evicted entries on their way to the slab */
	clear_list(&t->used);
	clear_list(&t->heard);
	clear_list(&t->fixed);
	if (t->map.p != NULL)
		xk_passive_fini(&t->map);
	xk_rcu_barrier();
	xk_slab_fini(&t->slab);
	xk_mutex_fini(&t->lock);
}
