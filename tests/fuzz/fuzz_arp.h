/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_arp.h - what the target of address resolution knows: who has said what, what is sent, what the table may hold.
 *
 * Each function that judges ends the run when a promise is broken (fuzz_must).  Promises are those of arp.md.
 */
#ifndef FUZZ_ARP_H
#define FUZZ_ARP_H

#include "protocols/arp/arp_priv.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/arp_fixture.h"

#define CAP    6u
#define STEPS  96u
#define SLOTS  12u                       /* sessions: to hosts of one, the static one, a group, a broadcast */
#define US2    HOST(10, 0, 0, 99)
#define STATIC HOST(10, 0, 0, 10)
#define RETRY  XK_SEC
#define LONG   (64 * XK_SEC)             /* twice as long as anything idles */

static const uint8_t fixed[6] = { 2, 0, 0, 0, 5, 5 };
static struct xk_rep *arp;
static struct xk_sess *slot[SLOTS];
static uint64_t link_sessions, buffers;

/* What packets have said that may be believed; for_us: a request for one of our addresses. */
static struct claim { uint32_t host; uint8_t mac[6]; bool for_us; } claim[STEPS];
static unsigned nclaims;
static xk_ns looked;                     /* at what was sent, last */
/* By slot: messages pushed, the last one sent, when the host was asked for last, at the earliest, and how many entries had gone
 * by then. */
static struct { uint32_t pushed, sent, last; bool asked; xk_ns when; uint64_t gone; } of[SLOTS];

static inline uint32_t slot_host(unsigned i)
{
	return i == SLOTS - 1 ? HOST(10, 255, 255, 255) : i == SLOTS - 2 ? HOST(224, 1, 130, 3) :
	       i == SLOTS - 3 ? STATIC : HOST(10, 0, 0, 2 + i);
}

static inline unsigned slot_of(uint32_t host)
{
	unsigned i = 0;

	while (i < SLOTS && slot_host(i) != host)
		i++;
	return i;
}

/* ---- addresses that a packet has ------------------------------------------------------------- */

static inline void station(unsigned k, uint8_t mac[6])
{
	static const uint8_t odd[5][6] = { { 2, 0, 0, 0, 0, 1 }, { 0 }, { 255, 255, 255, 255, 255, 255 },
					   { 1, 0, 0x5e, 0, 0, 1 }, { 2, 0, 0, 0, 5, 5 } };

	memcpy(mac, (const uint8_t[]){ 2, 0, 0, 0, 1, (uint8_t)(k % 16) }, 6);
	if (k % 16 < XK_ARRAY_LEN(odd))
		memcpy(mac, odd[k % 16], 6);
}

static inline uint32_t address(unsigned k)
{
	static const uint32_t odd[] = { US, US2, 0, HOST(10, 255, 255, 255), HOST(127, 0, 0, 1), HOST(224, 0, 0, 1),
					UINT32_MAX, HOST(0, 0, 0, 5), STATIC, US, US2, US };

	k %= 32;
	return k < XK_ARRAY_LEN(odd) ? odd[k] : HOST(10, 0, 0, 2 + k - XK_ARRAY_LEN(odd));
}

/* ---- a plain reading -------------------------------------------------------------------------- */

static bool is_ours(uint32_t host) { return host == US || host == US2; }

static inline unsigned bad_sender(const uint8_t *sha, uint32_t spa)
{
	static const uint8_t zero[6];

	if ((sha[0] & 1) || memcmp(sha, zero, 6) == 0)
		return ARP_DROP_SENDER_MAC;
	if (memcmp(sha, me, 6) == 0)
		return ARP_DROP_OWN_ECHO;
	if (spa >> 29 == 7 || spa >> 24 == 127 || (spa >> 24 == 0 && spa != 0) || spa == HOST(10, 255, 255, 255))
		return ARP_DROP_SENDER_IP;
	return is_ours(spa) ? ARP_DROP_CONFLICT : 0;
}

/* Why the packet is dropped; 0: it is taken. */
static inline unsigned reading(const uint8_t *p, uint32_t n)
{
	if (n < 28)
		return ARP_DROP_SHORT;
	if (p[0] != 0 || p[1] != 1)
		return ARP_DROP_HTYPE;
	if (p[2] != 8 || p[3] != 0)
		return ARP_DROP_PTYPE;
	if (p[4] != 6 || p[5] != 4)
		return p[4] != 6 ? ARP_DROP_HLEN : ARP_DROP_PLEN;
	if (p[6] != 0 || (p[7] != 1 && p[7] != 2))
		return ARP_DROP_OP;
	return bad_sender(p + 8, xk_be32(p + 14));
}

static inline bool named(uint32_t host, const uint8_t mac[6], bool for_us)
{
	for (unsigned i = 0; i < nclaims; i++)
		if (claim[i].host == host && (claim[i].for_us || !for_us) && (mac == NULL || memcmp(claim[i].mac, mac, 6) == 0))
			return true;
	return host == STATIC && (mac == NULL || memcmp(mac, fixed, 6) == 0);
}

/* ---- what is sent --------------------------------------------------------------------------------- */

/* A question about a host: at the earliest `retry` after the last one, unless its entry has gone since.  When it was sent since
 * the last look is not known: as early as it may. */
static inline void asked(uint32_t host)
{
	unsigned i = slot_of(host);
	uint64_t gone = xk_counter_read(arp->count[ARP_COUNT_EVICTED]);
	xk_ns when = looked;

	fuzz_must(i < SLOTS && !is_ours(host) ? NULL : "who has no session is asked for");
	if (of[i].asked && of[i].gone == gone && of[i].when + RETRY > when)
		when = of[i].when + RETRY;
	fuzz_must(when <= pf_now(&f) ? NULL : "two questions within retry");
	of[i].asked = true;
	of[i].when = when;
	of[i].gone = gone;
}

/* True: an answer. */
static inline bool sent_arp(const struct pf_rec *r)
{
	const uint8_t *p = r->bytes + 14;
	uint32_t spa = xk_be32(p + 14), tpa = xk_be32(p + 24);
	bool all = memcmp(r->bytes, everybody, 6) == 0;

	fuzz_must(r->len == 14 + 28 && reading(p, 28) == ARP_DROP_OWN_ECHO ? NULL : "a packet of ours is none");
	fuzz_must(is_ours(spa) ? NULL : "we speak for another address");
	if (p[7] == 2) {
		fuzz_must(memcmp(r->bytes, p + 18, 6) == 0 && !all ? NULL : "an answer goes to another station than it says");
		return true;
	}
	if (!all && (memcmp(r->bytes, p + 18, 6) != 0 || !named(tpa, r->bytes, false)))
		fuzz_must("a station is asked that nobody has named");
	if (spa != tpa)
		asked(tpa);
	return false;
}

static inline void sent_data(const struct pf_rec *r)
{
	static const uint8_t group[6] = { 1, 0, 0x5e, 1, 0x82 & 0x7f, 3 };
	unsigned i = r->len == 14 + 5 ? r->bytes[14] : SLOTS;
	uint32_t no = i < SLOTS ? xk_be32(r->bytes + 15) : 0;

	fuzz_must(i < SLOTS && no <= of[i].pushed && no > of[i].last ? NULL : "a message is sent that is not the next one");
	of[i].last = no;
	of[i].sent++;
	if (i == SLOTS - 1)
		fuzz_must(memcmp(r->bytes, everybody, 6) == 0 ? NULL : "a broadcast is for one station");
	else if (i == SLOTS - 2)
		fuzz_must(memcmp(r->bytes, group, 3) == 0 && r->bytes[3] == 1 && r->bytes[4] == 0x82 && r->bytes[5] == 3 ? NULL
			  : "a group's message has another station");
	else
		fuzz_must(named(slot_host(i), r->bytes, false) ? NULL : "a message goes to a station that nobody has named");
}

/* Everything since the last look; how many answers there are, and the last of them. */
static inline unsigned look(const uint8_t **answer)
{
	static uint8_t last[42];
	unsigned answers = 0;

	for (unsigned i = 0; i < pf_npushed(&f, "drv"); i++) {
		const struct pf_rec *r = pf_pushed(&f, "drv", i);

		fuzz_must(r->len >= 14 && memcmp(r->bytes + 6, me, 6) == 0 ? NULL : "a frame is not ours");
		if (xk_be16(r->bytes + 12) != 0x0806) {
			sent_data(r);
		} else if (sent_arp(r)) {
			answers++;
			memcpy(last, r->bytes, sizeof last);
		}
	}
	pf_forget(&f, "drv");
	looked = pf_now(&f);
	*answer = last;
	return answers;
}

static inline void no_answers(void)
{
	const uint8_t *answer;

	fuzz_must(look(&answer) == 0 ? NULL : "an answer that nobody asked for");
}

/* ---- the table ------------------------------------------------------------------------------------- */

static uint64_t word_of(const uint8_t mac[6]) { return ARP_MAC_SET | (uint64_t)xk_be16(mac) << 32 | xk_be32(mac + 2); }

static uint32_t host_of(const struct arp_entry *e) { return (uint32_t)e->map.key.w[0]; }

static inline void entry(const struct arp_entry *e, bool heard)
{
	const struct arp_conf *c = arp->conf;
	uint8_t mac[6];

	xk_put_be16(mac, (uint16_t)(e->mac >> 32));
	xk_put_be32(mac + 2, (uint32_t)e->mac);
	fuzz_must(e->mac != 0 && !named(host_of(e), mac, false) ? "an entry has a station that its host has not named" : NULL);
	fuzz_must(heard && (!c->learn || !named(host_of(e), NULL, true)) ? "an entry that no request to us has made" : NULL);
	fuzz_must(is_ours(host_of(e)) ? "an entry for an address of ours" : NULL);
	fuzz_must(e->is_static && e->mac != word_of(fixed) ? "a static entry has another station" : NULL);
}

#define EACH(e, list) \
	for (struct xk_listed *l_ = xk_list_first(list); \
	     l_ != NULL && ((e) = xk_container_of(l_, struct arp_entry, lru), true); l_ = xk_list_next(list, l_))

static inline void table(void)
{
	struct arp_table *t = arp_table(arp->node);
	struct arp_entry *e;
	unsigned n = 0;

	EACH(e, &t->used) { entry(e, false); n++; }
	EACH(e, &t->heard) { entry(e, true); n++; }
	EACH(e, &t->fixed)
		entry(e, false);
	fuzz_must(n == t->n && n <= CAP ? NULL : "there are more entries than cap, or they are counted wrong");
}

/* Entries that no packet may move now. */
static struct { uint32_t host; uint64_t mac; } firm[CAP + 1];
static unsigned nfirm;

static inline void firm_ones(void)
{
	const struct arp_conf *c = arp->conf;
	struct arp_table *t = arp_table(arp->node);
	struct xk_list *const all[] = { &t->used, &t->heard, &t->fixed };
	xk_ns now = pf_now(&f);
	struct arp_entry *e;

	nfirm = 0;
	for (unsigned i = 0; i < 3; i++)
		EACH(e, all[i])
			if (e->mac != 0 && (e->is_static || now < e->updated + RETRY ||
					    (e->used && !e->asked_all && now < e->updated + c->timeout))) {
				firm[nfirm].host = host_of(e);
				firm[nfirm++].mac = e->mac;
			}
}

static inline void still_firm(void)
{
	struct arp_table *t = arp_table(arp->node);
	struct xk_list *const all[] = { &t->used, &t->heard, &t->fixed };
	struct arp_entry *e;

	for (unsigned i = 0; i < 3; i++)
		EACH(e, all[i])
			for (unsigned k = 0; k < nfirm; k++)
				if (firm[k].host == host_of(e) && firm[k].mac != e->mac)
					fuzz_must("a packet has moved an entry that none may move");
}

/* Empties it, as if nothing had been said. */
static inline void forget(void)
{
	struct arp_table *t = arp_table(arp->node);

	xk_mutex_lock(&t->lock);
	for (struct xk_list *l = &t->used; l != NULL; l = l == &t->used ? &t->heard : NULL)
		while (!xk_list_empty(l)) {
			struct arp_entry *e = xk_container_of(xk_list_last(l), struct arp_entry, lru);

			xk_list_take(&e->lru);
			xk_passive_unbind(&t->map, &e->map);
			xk_slab_put(&t->slab, e);
		}
	t->n = 0;
	t->told = false;
	for (unsigned i = 0; i < t->nown; i++)
		t->own[i].defended = false;
	xk_rand_init(&t->rand, 1, 1);
	xk_mutex_unlock(&t->lock);
}

#endif
