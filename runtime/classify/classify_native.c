/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_native.c - the classifier in C, one parser per link type.
 *
 * Frames with a plain IPv4 header and UDP or TCP behind it pass four wide
 * compares at fixed offsets.  A frame that equals the one before it in its
 * addresses, ports and protocol extends that one's run; only the first of a run
 * is hashed and looked up, in sweeps that keep all misses of a burst under way
 * together.  Nothing is remembered from one call to the next: any number of
 * VPs may be in here.
 * Invariant: no byte at or behind a frame's first-segment length is read.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/classify/classify_priv.h"

#define BURST     32u
#define ETH_LEN   14u
#define FDDI_LEN  21u
#define PLAIN_MIN 28u            /* IPv4 header and 8 bytes */
#define ICMP      1u
#define TCP       6u
#define UDP       17u

/* Bytes 6..9 of an IPv4 header without "do not fragment" and time to live. */
#define FRAG_PROTO_MASK htobe32(0x3fff00ffu)
#define FRAG_BITS       htobe32(0x3fff0000u)

struct run {
	struct xk_key         key;
	uint32_t              hash;
	uint16_t              first;     /* frame that began it */
	bool                  keyed;     /* key is set: there may be a flow */
	const struct xk_flow *flow;      /* found, or to be compared */
};

static inline uint32_t link_len(enum xk_link link)
{
	return link == XK_LINK_ETH ? ETH_LEN : link == XK_LINK_FDDI ? FDDI_LEN : 0;
}

/* IPv4 with a header of 20 bytes behind this link header? */
static inline bool link_plain(enum xk_link link, const uint8_t *p)
{
	switch (link) {
	case XK_LINK_ETH:
		return (xk_raw32(p + 12) & htobe32(0xffffff00u)) == htobe32(0x08004500u);
	case XK_LINK_FDDI:
		return xk_raw64(p + 14) == htobe64(0xaa03000000080045u) &&
		       p[13] == 0xaa && (p[0] & 0x70) == 0x50;
	case XK_LINK_RAWIP:
		return p[0] == 0x45;
	}
	return false;
}

/* IPv4 of any kind behind this link header, all of which is there? */
static inline bool link_ip(enum xk_link link, const uint8_t *p)
{
	switch (link) {
	case XK_LINK_ETH:
		return xk_raw16(p + 12) == htobe16(0x0800);
	case XK_LINK_FDDI:
		return xk_raw64(p + 13) == htobe64(0xaaaa030000000800u) && (p[0] & 0x70) == 0x50;
	case XK_LINK_RAWIP:
		return true;
	}
	return false;
}

static inline struct xk_key key_make(uint64_t addrs, uint32_t ports, uint8_t proto)
{
	struct xk_flowkey k = { .proto = proto };

	memcpy(&k.raddr, &addrs, sizeof(addrs));
	memcpy(&k.rport, &ports, sizeof(ports));
	return flow_key(&k);
}

static uint32_t hash_fragment(const uint8_t *ip)
{
	return flow_nonzero(xk_hash_pair(xk_raw64(ip + 12), xk_raw16(ip + 4) | (uint64_t)ip[9] << 16));
}

/* Options, fragments, ICMP, what is cut short, what is not IPv4. */
static __attribute__((noinline)) void parse_rest(enum xk_link link, const uint8_t *p, uint32_t len, struct run *r)
{
	uint32_t l2 = link_len(link), rest = len - l2, ihl, proto;
	const uint8_t *ip = p + l2;
	uint64_t addrs;

	r->hash = 0;
	r->keyed = false;
	if (len < l2 + 20 || !link_ip(link, p) || ip[0] >> 4 != 4)
		return;
	if ((xk_raw32(ip + 6) & FRAG_BITS) != 0) {
		r->hash = hash_fragment(ip);
		return;
	}
	addrs = xk_raw64(ip + 12);
	proto = ip[9];
	ihl = (ip[0] & 15u) * 4u;
	r->key = key_make(addrs, 0, ICMP);
	if (ihl >= 20 && rest >= ihl + 8) {
		if (proto == UDP || proto == TCP)
			r->key = key_make(addrs, xk_raw32(ip + ihl), (uint8_t)proto);
		r->keyed = proto == UDP || proto == TCP || (proto == ICMP && (ip[ihl] & ~8u) == 0);
	}
	r->hash = flow_hash(&r->key);
}

/* Cuts the burst into runs of one flow each; returns how many. */
static inline __attribute__((always_inline))
unsigned burst_parse(enum xk_link link, struct xk_msg *const *m, unsigned n, struct run *run)
{
	uint32_t fixed = 0, ports = 0, last_fixed = 0, last_ports = 0;
	uint64_t addrs, last_addrs = 0;
	struct run *r = run;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *p = m[i]->data, *ip = p + link_len(link);

		if (XK_UNLIKELY(m[i]->len < link_len(link) + PLAIN_MIN || !link_plain(link, p)))
			goto rest;
		fixed = xk_raw32(ip + 6) & FRAG_PROTO_MASK;
		addrs = xk_raw64(ip + 12);
		ports = xk_raw32(ip + 20);
		if (XK_LIKELY(fixed == last_fixed && addrs == last_addrs && ports == last_ports))
			continue;
		if (XK_UNLIKELY(fixed != htobe32(UDP) && fixed != htobe32(TCP)))
			goto rest;
		last_fixed = fixed;
		last_addrs = addrs;
		last_ports = ports;
		r->key = key_make(addrs, ports, (uint8_t)be32toh(fixed));
		r->hash = flow_hash(&r->key);
		r->keyed = true;
		r++->first = (uint16_t)i;
		continue;
rest:
		last_fixed = 0;          /* no protocol: ends the run */
		parse_rest(link, p, m[i]->len, r);
		r++->first = (uint16_t)i;
	}
	return (unsigned)(r - run);
}

/* Finds the flows of many runs: bucket lines, flow lines, compare. */
static void runs_find(const struct xk_table *t, struct run *run, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		__builtin_prefetch(xk_table_home(t, run[i].hash));
	for (i = 0; i < n; i++) {
		const struct xk_bucket *b = xk_table_home(t, run[i].hash);
		unsigned fit = xk_bucket_match(b, xk_table_tag(run[i].hash));

		run[i].flow = NULL;
		if (run[i].keyed && fit != 0) {
			run[i].flow = xk_slab_ptr(xk_load_acquire(&b->h[__builtin_ctz(fit)]));
			__builtin_prefetch(run[i].flow);
		}
	}
	for (i = 0; i < n; i++)
		if (run[i].keyed && (run[i].flow == NULL || !xk_node_is(&run[i].flow->node, &run[i].key)))
			run[i].flow = (const struct xk_flow *)
				(const void *)xk_table_find(t, run[i].hash, &run[i].key);
}

_Static_assert(offsetof(struct xk_flow, node) == 0, "a flow's node is the flow");

/* Writes the verdict of a run to its frames m[0..n). */
static inline void run_say(const struct xk_flowtab *tab, const struct run *r,
			   struct xk_msg *const *m, unsigned n)
{
	uint16_t vp = flow_home(tab, r->hash);
	uint32_t hash = r->hash;
	struct xk_msg say;
	uint64_t v;

	say.u.v.flow = 0;
	say.u.v.gen = say.u.v.pad = 0;
	if (r->flow != NULL) {
		say.u.v.flow = xk_slab_handle(r->flow);
		say.u.v.gen = xk_load_relaxed(&r->flow->gen);
		vp = xk_load_relaxed(&r->flow->vp);
	}
	memcpy(&v, &say.u.v, sizeof(v));
	for (unsigned i = 0; i < n; i++) {
		memcpy(&m[i]->u.v, &v, sizeof(v));
		m[i]->hash = hash;
		m[i]->vp = vp;
	}
}

static inline __attribute__((always_inline))
void classify_link(enum xk_link link, const struct xk_flowtab *tab, struct xk_msg *const *m, unsigned n)
{
	const struct xk_table *t = flow_table(tab);
	struct run run[BURST];
	unsigned nruns;

	xk_dassert(n <= BURST);
	nruns = burst_parse(link, m, n, run);
	runs_find(t, run, nruns);
	for (unsigned i = 0; i < nruns; i++) {
		unsigned end = i + 1 < nruns ? run[i + 1].first : n;

		run_say(tab, &run[i], m + run[i].first, end - run[i].first);
	}
}

static void native_classify(struct xk_classifier *c, struct xk_msg *const *m, unsigned n)
{
	switch (c->link) {
	case XK_LINK_ETH:
		classify_link(XK_LINK_ETH, c->tab, m, n);
		break;
	case XK_LINK_FDDI:
		classify_link(XK_LINK_FDDI, c->tab, m, n);
		break;
	case XK_LINK_RAWIP:
		classify_link(XK_LINK_RAWIP, c->tab, m, n);
		break;
	}
}

static void native_free(struct xk_classifier *c)
{
	xk_free(c);
}

const struct xk_classifier_ops classify_native = {
	.name = "native",
	.classify = native_classify,
	.free = native_free,
};
