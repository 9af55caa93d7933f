/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp_claim.c - which of our addresses are ours: address conflict detection (RFC 5227).
 *
 * With `probe` an address is asked for three times before it is used (2.1.1).  Until all that
 * were there at start are ours the gate is shut: nothing leaves but probes, sessions keep what
 * they are given.  An address that is ours is announced (2.3) and defended as `defend` says (2.4).
 * One that is lost shuts the gate for good: nothing leaves any more, and the run ends, unless
 * `conflict` says that it goes on without this node.
 *
 *     address:  probed --(2 s after the last probe)--> ours
 *     gate:     shut --(all are ours)--> open,  shut or open --(one is lost)--> lost
 *
 * Packets are seen by any VP; what is due by the clock is done by the first replica alone.
 * Invariant: no packet names as its sender an address that is not ours yet.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_vps.h"

#include <stdio.h>
#include <string.h>

/* RFC 5227 1.1 */
#define PROBE_WAIT        XK_SEC
#define PROBE_NUM         3u
#define PROBE_MIN         XK_SEC
#define PROBE_MAX         (2 * XK_SEC)
#define ANNOUNCE_WAIT     (2 * XK_SEC)
#define ANNOUNCE_NUM      2u
#define ANNOUNCE_INTERVAL (2 * XK_SEC)
#define DEFEND_INTERVAL   (10 * XK_SEC)

/* Steps of an address: PROBE_NUM probes after the first wait, then announcements. */
enum { FIRST_PROBE = 1, FIRST_ANNOUNCEMENT = FIRST_PROBE + PROBE_NUM };

void arp_claim_begin(const struct arp_conf *c, struct arp_own *o)
{
	o->ours = !c->probe;
	o->step = c->probe ? 0 : FIRST_ANNOUNCEMENT;
	o->due = c->probe || c->announce ? 0 : XK_NS_NEVER;
}

/* ---- what is due ------------------------------------------------------------------- */

static xk_ns draw(struct arp_table *t, xk_ns least, xk_ns most)
{
	xk_ns x;

	xk_mutex_lock(&t->lock);
	x = least + xk_rand_below(&t->rand, most - least + 1);
	xk_mutex_unlock(&t->lock);
	return x;
}

/* When the next step of this address is due. */
static xk_ns take_step(struct xk_rep *r, struct arp_own *o, xk_ns now)
{
	struct arp_table *t = arp_table(r->node);
	unsigned step = o->step++;

	if (step < FIRST_PROBE)
		return now + draw(t, 0, PROBE_WAIT);
	if (step < FIRST_ANNOUNCEMENT) {
		arp_send_address_probe(r, o->addr);
		return now + (step + 1 < FIRST_ANNOUNCEMENT ? draw(t, PROBE_MIN, PROBE_MAX) : ANNOUNCE_WAIT);
	}
	xk_store_release(&o->ours, true);
	arp_send_announcement(r, o->addr);
	return step + 1 < FIRST_ANNOUNCEMENT + ANNOUNCE_NUM ? now + ANNOUNCE_INTERVAL : XK_NS_NEVER;
}

static void open_gate(struct arp_table *t)
{
	xk_mutex_lock(&t->lock);
	if (t->gate == ARP_GATE_SHUT) {
		xk_store_release(&t->gate, ARP_GATE_OPEN);
		arp_tell_all_locked(t);
	}
	xk_mutex_unlock(&t->lock);
}

void arp_claim(struct xk_timer *timer)
{
	struct arp_rep *st = xk_container_of(timer, struct arp_rep, claim);
	struct xk_rep *r = st->call.arg;
	struct arp_table *t = arp_table(r->node);
	unsigned nown = xk_load_acquire(&t->nown);
	xk_ns now = xk_vp_now(), next = XK_NS_NEVER;
	bool all = true;

	if (arp_gate(t) == ARP_GATE_LOST)
		return;
	for (unsigned i = 0; i < nown; i++) {
		struct arp_own *o = &t->own[i];

		if (o->due <= now)
			o->due = take_step(r, o, now);
		next = o->due < next ? o->due : next;
		all &= o->ours;
	}
	if (next != XK_NS_NEVER)
		xk_timer_set(r->wheel, &st->claim, next);
	if (all && arp_gate(t) == ARP_GATE_SHUT)
		open_gate(t);
}

/* ---- conflicts ------------------------------------------------------------------------- */

/* Stations of the same host on other links: who stands above tells its addresses to all of them. */
bool arp_is_our_station(const struct xk_rep *r, const uint8_t mac[6])
{
	const struct arp_table *t = arp_table(r->node);

	for (unsigned i = 0; i < t->nbeside; i++) {
		const struct arp_rep *st = t->beside[i]->rep[0]->state;

		if (memcmp(st->mac, mac, 6) == 0)
			return true;
	}
	return false;
}

/* For good: RFC 5227 2.4, "must immediately cease using this address". */
static void lose(struct xk_rep *r, uint32_t a, const uint8_t mac[6])
{
	const struct arp_conf *c = r->conf;
	struct arp_table *t = arp_table(r->node);
	bool first;

	xk_mutex_lock(&t->lock);
	first = t->gate != ARP_GATE_LOST;
	if (first) {
		snprintf(t->lost, sizeof t->lost,
			 "its address %u.%u.%u.%u is in use by station %02x:%02x:%02x:%02x:%02x:%02x",
			 a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
		xk_store_release(&t->gate, ARP_GATE_LOST);
		arp_tell_all_locked(t);
	}
	xk_mutex_unlock(&t->lock);
	if (!first)
		return;
	xk_count(r->count[ARP_COUNT_LOST]);
	XK_TRACE(&r->node->log, 1, "%s", t->lost);
	if (c->conflict == ARP_CONFLICT_END)
		xk_node_gives_up(r->node, t->lost);
	else
		xk_node_failed(r->node, t->lost);
}

/* What to do about a packet of another station that names our address as its own. */
enum stand { DEFEND, BEAR, YIELD };
static enum stand stand(struct xk_rep *r, struct arp_own *o)
{
	const struct arp_conf *c = r->conf;
	struct arp_table *t = arp_table(r->node);
	xk_ns now = xk_vp_now();
	bool again;

	if (c->defend == ARP_DEFEND_NEVER || !xk_load_acquire(&o->ours))
		return YIELD;
	xk_mutex_lock(&t->lock);
	again = o->defended && now < o->last_defence + DEFEND_INTERVAL;
	if (!again) {
		o->defended = true;
		o->last_defence = now;
	}
	xk_mutex_unlock(&t->lock);
	return !again ? DEFEND : c->defend == ARP_DEFEND_ONCE ? YIELD : BEAR;
}

void arp_conflict(struct xk_rep *r, struct arp_own *o, const uint8_t mac[6])
{
	uint32_t a = o->addr;

	xk_count(r->count[ARP_COUNT_CONFLICTS]);
	if (arp_gate(arp_table(r->node)) == ARP_GATE_LOST)
		return;
	switch (stand(r, o)) {
	case BEAR:
		break;
	case YIELD:
		lose(r, a, mac);
		break;
	case DEFEND:
		XK_TRACE(&r->node->log, 1, "address conflict: %u.%u.%u.%u is also claimed by "
			 "%02x:%02x:%02x:%02x:%02x:%02x", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255,
			 mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
		xk_count(r->count[ARP_COUNT_DEFENDED]);
		arp_send_announcement(r, a);
		break;
	}
}
