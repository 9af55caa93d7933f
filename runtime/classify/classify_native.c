/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_native.c - the classifier in C, one parser per link type.
 *
 * Most frames of a burst belong to the flow of the frame before: one compare of
 * 32 bytes under a mask (type, header length, fragment bits, protocol,
 * addresses, ports) says so and extends that frame's run.  Only the first of a
 * run is parsed, hashed and looked up, in sweeps that keep all misses of a
 * burst under way together.  Nothing is remembered from one call to the next:
 * any number of VPs may be in here.
 * Invariant: no byte at or behind a frame's first-segment length is read.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_wide.h"
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

/* Keeps messages out of runs. */
#define NOT_PLAIN (XK_MSG_SLOW | XK_MSG_LINK_BCAST)

/* Frames m[first..] up to the next run's, of one flow. */
struct run {
	struct xk_key         key;
	uint32_t              hash;
	uint16_t              first;     /* frame that began it */
	bool                  keyed;     /* key is set: there may be a flow */
	uint32_t              flow;      /* handle whose tag fits, to be compared; 0: none */
};

/* ---- 32 bytes at once --------------------------------------------------------- */

/* What must agree in frames of one flow: link type, version and header length,
 * fragment bits, protocol, addresses, ports. */
#define MASK_IP(at) [(at)] = 0xff, [(at) + 6] = 0x3f, 0xff, [(at) + 9] = 0xff, \
	[(at) + 12] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
static const uint8_t wide_mask[][XK_WIDE] = {
	[XK_LINK_ETH] = { [2] = 0xff, 0xff, MASK_IP(4) },
	[XK_LINK_FDDI] = { [0] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, MASK_IP(8) },
	[XK_LINK_RAWIP] = { MASK_IP(0) },
};

/* ---- link types ------------------------------------------------------------------ */

static inline uint32_t link_len(enum xk_link link)
{
	return link == XK_LINK_ETH ? ETH_LEN : link == XK_LINK_FDDI ? FDDI_LEN : 0;
}

/* Where the 32 bytes begin: they end with the ports or later. */
static inline uint32_t link_wide(enum xk_link link)
{
	return link == XK_LINK_ETH ? ETH_LEN - 4 : link == XK_LINK_FDDI ? FDDI_LEN - 8 : 0;
}

/* Length of frames that have them, and all that a plain frame needs. */
static inline uint32_t link_wide_min(enum xk_link link)
{
	uint32_t end = link_wide(link) + XK_WIDE, plain = link_len(link) + PLAIN_MIN;

	return end > plain ? end : plain;
}

/* FDDI's frame control lies too far in front. */
static inline bool link_same(enum xk_link link, const uint8_t *p, uint8_t control)
{
	return link != XK_LINK_FDDI || p[0] == control;
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

/* A struct xk_flowkey, put together in registers. */
static inline struct xk_key key_make(uint64_t addrs, uint32_t ports, uint8_t proto)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (struct xk_key){ { addrs, ports | (uint64_t)proto << 32 } };
#else
	return (struct xk_key){ { addrs, (uint64_t)ports << 32 | (uint64_t)proto << 24 } };
#endif
}

static uint32_t hash_fragment(const uint8_t *ip)
{
	return xk_hash_ends(xk_be32(ip + 12), xk_be16(ip + 4), xk_be32(ip + 16), (uint32_t)ip[9] << 8, 1);
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

/* A plain IPv4 frame with UDP or TCP behind it begins a run; false for others. */
static inline bool parse_plain(enum xk_link link, const uint8_t *p, uint32_t len, struct run *r)
{
	const uint8_t *ip = p + link_len(link);
	uint32_t fixed;

	if (len < link_len(link) + PLAIN_MIN || !link_plain(link, p))
		return false;
	fixed = xk_raw32(ip + 6) & FRAG_PROTO_MASK;
	if (fixed != htobe32(UDP) && fixed != htobe32(TCP))
		return false;
	r->key = key_make(xk_raw64(ip + 12), xk_raw32(ip + 20), (uint8_t)be32toh(fixed));
	r->hash = flow_hash(&r->key);
	r->keyed = true;
	return true;
}

/*
 * Cuts the burst into runs of one flow each and fetches their buckets; returns
 * how many.  `wide_min` is the length from which a frame may be compared with
 * the one before, beyond all lengths where that is no plain one.  *flags gets
 * all the frames' flags together.
 */
static inline __attribute__((always_inline))
unsigned burst_parse(enum xk_link link, const struct xk_table *t, struct xk_msg *const *m,
		     unsigned n, struct run *run, uint32_t *flags)
{
	const xk_wide mask = xk_wide_load(wide_mask[link]);
	uint32_t wide_min = UINT32_MAX, together = 0;
	uint8_t control = 0;
	xk_wide last = mask;
	struct run *r = run;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *p = m[i]->data;
		uint32_t len = m[i]->len;

		together |= m[i]->flags;
		if (XK_LIKELY(len >= wide_min) &&
		    XK_LIKELY(xk_wide_same(xk_wide_load(p + link_wide(link)), last, mask)) &&
		    link_same(link, p, control))
			continue;
		wide_min = UINT32_MAX;
		r->first = (uint16_t)i;
		if (!parse_plain(link, p, len, r)) {
			parse_rest(link, p, len, r);
		} else if (XK_LIKELY(len >= link_wide_min(link))) {
			wide_min = link_wide_min(link);
			last = xk_wide_load(p + link_wide(link));
			control = p[0];
		}
		__builtin_prefetch(xk_table_home(t, r->hash));
		r++;
	}
	*flags = together;
	return (unsigned)(r - run);
}

/* A run for each frame of every run: one of them is not plain. */
static XK_NOINLINE unsigned runs_apart(struct run *run, unsigned nruns, unsigned n)
{
	for (unsigned i = n; nruns-- > 0;)
		while (i > run[nruns].first) {
			struct run r = run[nruns];

			run[--i] = r;
			run[i].first = (uint16_t)i;
		}
	return n;
}

/* From the runs' buckets to flows with a fitting tag, and fetches those. */
static inline void runs_aim(const struct xk_table *t, struct run *run, unsigned n)
{
	for (struct run *r = run; r < run + n; r++) {
		const struct xk_bucket *b = xk_table_home(t, r->hash);
		unsigned fit = xk_bucket_match(b, xk_table_tag(r->hash));

		r->flow = 0;
		if (XK_LIKELY(r->keyed && fit != 0)) {
			r->flow = xk_load_acquire(&b->h[__builtin_ctz(fit)]);
			__builtin_prefetch(xk_slab_ptr(r->flow));
		}
	}
}

_Static_assert(offsetof(struct xk_flow, node) == 0, "a flow's node is the flow");

/* The handle of a run's flow, or 0. */
static inline uint32_t run_flow(const struct xk_table *t, const struct run *r)
{
	const struct xk_mapnode *n;

	if (XK_LIKELY(r->flow != 0 && xk_node_is(xk_slab_ptr(r->flow), &r->key)))
		return r->flow;
	n = r->keyed ? xk_table_find(t, r->hash, &r->key) : NULL;
	return n != NULL ? xk_slab_handle(n) : 0;
}

/* The bytes of u.v, put together in a register. */
static inline uint64_t flow_name(uint32_t handle, uint16_t gen)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return handle | (uint64_t)gen << 32;
#else
	return (uint64_t)handle << 32 | (uint64_t)gen << 16;
#endif
}
_Static_assert(sizeof(((struct xk_msg *)0)->u.v) == sizeof(uint64_t), "a name is one word");

/* Writes the verdict of a run to its first frame. */
static inline void run_say(const struct xk_flowtab *tab, const struct run *r, uint32_t flow, struct xk_msg *x)
{
	uint32_t hash = r->hash;
	uint64_t name = 0;
	uint16_t vp;

	if (XK_LIKELY(flow != 0)) {
		const struct xk_flow *f = xk_slab_ptr(flow);

		name = flow_name(flow, xk_load_relaxed(&f->gen));
		vp = xk_load_relaxed(&f->vp);
	} else {
		vp = flow_home(tab, hash);
	}
	memcpy(&x->u.v, &name, sizeof(name));
	x->hash = hash;
	x->vp = vp;
}

static inline __attribute__((always_inline))
unsigned classify_link(enum xk_link link, const struct xk_flowtab *tab, struct xk_msg *const *m, unsigned n,
		       uint8_t *len)
{
	const struct xk_table *t = flow_table(tab);
	struct run run[BURST];
	uint32_t flags;
	unsigned nruns;

	xk_dassert(n <= BURST);
	nruns = burst_parse(link, t, m, n, run, &flags);
	if (XK_UNLIKELY(flags & NOT_PLAIN))
		nruns = runs_apart(run, nruns, n);
	runs_aim(t, run, nruns);
	for (unsigned i = 0; i < nruns; i++) {
		unsigned first = run[i].first, end = i + 1 < nruns ? run[i + 1].first : n;

		run_say(tab, &run[i], run_flow(t, &run[i]), m[first]);
		len[i] = (uint8_t)(end - first);
	}
	return nruns;
}

static unsigned native_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, uint8_t *len)
{
	switch (c->link) {
	case XK_LINK_ETH:
		return classify_link(XK_LINK_ETH, c->tab, m, n, len);
	case XK_LINK_FDDI:
		return classify_link(XK_LINK_FDDI, c->tab, m, n, len);
	case XK_LINK_RAWIP:
		return classify_link(XK_LINK_RAWIP, c->tab, m, n, len);
	}
	return 0;
}

static void native_classify(struct xk_classifier *c, struct xk_msg *const *m, unsigned n)
{
	uint8_t len[BURST];
	unsigned nruns = native_runs(c, m, n, len);

	for (unsigned i = 0; i < nruns; m += len[i++])
		xk_classify_spread(m, len[i]);
}

static void native_free(struct xk_classifier *c)
{
	xk_free(c);
}

const struct xk_classifier_ops classify_native = {
	.name = "native",
	.classify = native_classify,
	.runs = native_runs,
	.free = native_free,
};
