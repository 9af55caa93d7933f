/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_native.c - the back end in C: a parser for the internet's headers, and the walk over
 * any other pattern (classify_walk.c).
 *
 * A frame of the flow of the frame before is told by one compare of 32 bytes under
 * a mask (type, header length, fragment bits, protocol, addresses, ports) and
 * extends that frame's run.  Only the first of a run is hashed and looked up, those
 * of a burst together, and parsed only where it is not of the shape of the one before; a frame
 * alone that is like the last one alone needs none of that.  The parser serves patterns that
 * classify_shape.c proves to be Ethernet, FDDI or nothing below IPv4 with some
 * of UDP, TCP and ICMP above; it says of a frame exactly what the pattern says.
 * Invariant: no byte at or behind a frame's first-segment length is read.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_wide.h"
#include "runtime/classify/classify_native.h"
#include "runtime/classify/classify_runs.h"

#define ETH_LEN   14u
#define FDDI_LEN  21u
#define PLAIN_MIN 28u            /* IPv4 header and 8 bytes */
#define ICMP      1u
#define TCP       6u
#define UDP       17u

/* Bytes 6..9 of an IPv4 header without "do not fragment" and time to live. */
#define FRAG_PROTO_MASK htobe32(0x3fff00ffu)
#define FRAG_BITS       htobe32(0x3fff0000u)

/* ---- 32 bytes at once --------------------------------------------------------- */

/* What must agree in frames of one shape, link type, version and header length, fragment bits and
 * protocol; and in those of one flow, addresses and ports, too. */
#define SHAPE_IP(at) [(at)] = 0xff, [(at) + 6] = 0x3f, 0xff, [(at) + 9] = 0xff
#define MASK_IP(at) SHAPE_IP(at), [(at) + 12] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define MASKS(IP) { \
	[XK_LINK_ETH] = { [2] = 0xff, 0xff, IP(4) }, \
	[XK_LINK_FDDI] = { [0] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, IP(8) }, \
	[XK_LINK_RAWIP] = { IP(0) }, \
}
static const uint8_t shape_mask[][XK_WIDE] = MASKS(SHAPE_IP);
static const uint8_t wide_mask[][XK_WIDE] = MASKS(MASK_IP);

/* ---- hashes ----------------------------------------------------------------------- */

/* flow_hash of a key whose words are given. */
static inline uint32_t hash_words(uint64_t w0, uint64_t w1)
{
	const struct xk_key key = { { w0, w1 } };

	return flow_hash(&key);
}

/* As hash_words, eight at once where the processor can: whole vectors, what lies behind the last
 * run is hashed with it. */
static XK_APART void classify_hash_all(struct runs *r)
{
	const unsigned n = (r->n + 7) & ~7u;

	for (unsigned i = 0; i < n; i++)
		r->hash[i] = hash_words(r->w0[i], r->w1[i]);
}

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
	case XK_LINK_OTHER:
		break;
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
	case XK_LINK_OTHER:
		break;
	}
	return false;
}

/* A struct xk_flowkey, put together in registers; fixed: bytes 6 to 9 of the header, of which only
 * the last, the protocol, is not 0. */
static inline struct xk_key key_make(uint64_t addrs, uint32_t ports, uint32_t fixed)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (struct xk_key){ { addrs, ports | (uint64_t)fixed << 8 } };
#else
	return (struct xk_key){ { addrs, (uint64_t)ports << 32 | (uint64_t)fixed << 24 } };
#endif
}

static uint32_t hash_fragment(const uint8_t *ip)
{
	return xk_hash_ends(xk_be32(ip + 12), xk_be16(ip + 4), xk_be32(ip + 16), (uint32_t)ip[9] << 8, 1);
}

/* What is behind an unfragmented IPv4 header of ihl bytes, `rest` from its start; its number
 * where the pattern knows it and it has its 8 bytes. */
static bool parse_above(const struct native *nat, const uint8_t *ip, uint32_t ihl, uint32_t rest, uint32_t *ports)
{
	*ports = 0;
	if (ihl < 20 || rest < ihl + 8)
		return false;
	if (htobe32(ip[9]) == nat->udp || htobe32(ip[9]) == nat->tcp) {
		*ports = xk_raw32(ip + ihl);
		return true;
	}
	if (!nat->icmp || ip[9] != ICMP || (ip[ihl] & ~8u) != 0)
		return false;
	*ports = htobe32(xk_be16(ip + ihl + 4));         /* the identifier, where our port would be */
	return true;
}

/* Options, fragments, ICMP, what is cut short, what is not IPv4: has it a key? */
static XK_NOINLINE bool parse_rest(const struct native *nat, enum xk_link link, const uint8_t *p, uint32_t len,
				   struct xk_key *key, uint32_t *hash)
{
	uint32_t l2 = link_len(link), ports;
	const uint8_t *ip = p + l2;
	bool keyed;

	*hash = 0;
	if (len < l2 + 20 || !link_ip(link, p) || ip[0] >> 4 != 4)
		return false;
	if ((xk_raw32(ip + 6) & FRAG_BITS) != 0) {
		*hash = hash_fragment(ip);
		return false;
	}
	keyed = parse_above(nat, ip, (ip[0] & 15u) * 4u, len - l2, &ports);
	*key = key_make(xk_raw64(ip + 12), ports, htobe32(keyed ? ip[9] : 0));
	*hash = flow_hash(key);
	return keyed;
}

/* The key of a plain IPv4 frame with UDP or TCP behind it; false for others. */
static inline bool parse_plain(const struct native *nat, enum xk_link link, const uint8_t *p, uint32_t len,
			       struct xk_key *key)
{
	const uint8_t *ip = p + link_len(link);
	uint32_t fixed;

	if (len < link_len(link) + PLAIN_MIN || !link_plain(link, p))
		return false;
	fixed = xk_raw32(ip + 6) & FRAG_PROTO_MASK;
	if (fixed != nat->udp && fixed != nat->tcp)
		return false;
	*key = key_make(xk_raw64(ip + 12), xk_raw32(ip + 20), fixed);
	return true;
}

/* Where the ports are in a key's second word. */
static inline uint64_t key_ports(uint32_t ports) { return key_make(0, ports, 0).w[1]; }

/*
 * Cuts the burst into runs of one flow each; returns those of them, bit by bit, that are still to
 * be parsed.  A frame is compared with the one before: it is of its flow, or at least of its shape, and then
 * its key is where that one's was.  `wide_min` is the length from which it may be compared, beyond all
 * lengths where that was no plain one.
 */
static inline __attribute__((always_inline))
uint32_t burst_parse(const struct native *nat, enum xk_link link, struct xk_msg *const *m, unsigned n, struct runs *r)
{
	const xk_wide mask = xk_wide_load(wide_mask[link]), shape = xk_wide_load(shape_mask[link]);
	uint32_t wide_min = UINT32_MAX, together = 0, rest = 0;
	uint64_t others = 0;             /* of the second word of the last plain one's key: all but its ports */
	uint8_t control = 0;
	xk_wide last = mask;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *p = m[i]->data;
		uint32_t len = m[i]->len;
		struct xk_key key = { { 0, 0 } };

		together |= m[i]->flags;
		if (XK_LIKELY(len >= wide_min) && XK_LIKELY(link_same(link, p, control))) {
			if (xk_wide_same(xk_wide_load(p + link_wide(link)), last, mask))
				continue;
			/* Loaded anew: the compare above needs no register for it then, and is all that a run does. */
			__asm__("" : "+r"(p));
			if (xk_wide_same(xk_wide_load(p + link_wide(link)), last, shape)) {
				last = xk_wide_load(p + link_wide(link));
				r->w0[k] = xk_raw64(p + link_len(link) + 12);
				r->w1[k] = others | key_ports(xk_raw32(p + link_len(link) + 20));
				r->first[k++] = (uint8_t)i;
				continue;
			}
		}
		wide_min = UINT32_MAX;
		if (XK_UNLIKELY(!parse_plain(nat, link, p, len, &key))) {
			rest |= 1u << k;
		} else if (XK_LIKELY(len >= link_wide_min(link))) {
			wide_min = link_wide_min(link);
			last = xk_wide_load(p + link_wide(link));
			others = key.w[1] & ~key_ports(UINT32_MAX);
			control = p[0];
		}
		r->w0[k] = key.w[0];
		r->w1[k] = key.w[1];
		r->first[k++] = (uint8_t)i;
	}
	r->n = k;
	r->flags = together;
	return rest;
}

/* What is left of the parsing, and the hash of each run; all at once where there are several. */
static inline __attribute__((always_inline))
void burst_hash(const struct native *nat, enum xk_link link, struct xk_msg *const *m, struct runs *r, uint32_t rest)
{
	r->bare = r->cut = 0;
	if (XK_LIKELY(r->n == 1))
		r->hash[0] = hash_words(r->w0[0], r->w1[0]);
	else
		classify_hash_all(r);
	for (; XK_UNLIKELY(rest != 0); rest &= rest - 1) {
		unsigned i = (unsigned)__builtin_ctz(rest);
		const struct xk_msg *x = m[r->first[i]];
		struct xk_key key;

		r->cut |= (uint32_t)(x->len < XK_FRAME_MIN) << i;
		if (!parse_rest(nat, link, x->data, x->len, &key, &r->hash[i])) {
			r->bare |= 1u << i;
			continue;
		}
		r->w0[i] = key.w[0];
		r->w1[i] = key.w[1];
	}
}

#define FEW 3u                   /* frames that cost less one by one than in sweeps */

/* So few plain ones: nothing is put into arrays.  0: one of them is not plain, and nothing is told. */
static inline __attribute__((always_inline))
unsigned few_say(const struct native *nat, enum xk_link link, const struct xk_flowtab *tab, struct xk_msg *const *m,
		 unsigned n, struct xk_run *run)
{
	const struct xk_table *t = flow_table(tab);
	const uint8_t *last = NULL;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint8_t *p = m[i]->data;
		bool wide = m[i]->len >= link_wide_min(link);
		struct xk_flow *f;
		struct xk_key key;
		uint32_t hash;

		if (XK_UNLIKELY((m[i]->flags & CLASSIFY_NOT_PLAIN) != 0) || XK_UNLIKELY(!parse_plain(nat, link, p, m[i]->len, &key)))
			return 0;
		if (wide && last != NULL && link_same(link, p, *last) &&
		    xk_wide_same(xk_wide_load(p + link_wide(link)), xk_wide_load(last + link_wide(link)),
				 xk_wide_load(wide_mask[link]))) {
			run[k - 1].n++;
			continue;
		}
		last = wide ? p : NULL;
		hash = flow_hash(&key);
		f = (void *)xk_table_find(t, hash, &key);
		run[k++] = (struct xk_run){ .flow = f, .hash = hash, .n = 1, .plain = f != NULL,
					    .vp = f != NULL ? xk_load_relaxed(&f->vp) : flow_home(tab, hash) };
	}
	return k;
}

static inline __attribute__((always_inline))
unsigned classify_link(const struct native *nat, enum xk_link link, const struct xk_flowtab *tab,
		       struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	struct runs r;
	unsigned few;

	xk_dassert(n <= CLASSIFY_BURST);
	if (n <= FEW && (few = few_say(nat, link, tab, m, n, run)) != 0)
		return few;
	burst_hash(nat, link, m, &r, burst_parse(nat, link, m, n, &r));
	return runs_say(tab, flow_table(tab), &r, m, n, run);
}

/* ---- one frame ----------------------------------------------------------------------- */

/* Is it like the one that l remembers, whose flow is still bound under its key?  A flow of that
 * generation stays as it is for as long as we are inside; of any other the key may be being written. */
static inline struct xk_flow *single_again(const struct xk_classifier *c, enum xk_link link, const struct xk_single *l,
					 const struct xk_msg *x)
{
	const uint8_t *p = x->data;
	struct xk_flow *f;

	if (l->of != c || x->len < link_wide_min(link) || !link_same(link, p, l->control) ||
	    !xk_wide_same(xk_wide_load(p + link_wide(link)), xk_wide_load(l->bytes), xk_wide_load(wide_mask[link])))
		return NULL;
	f = xk_slab_ptr(l->flow);
	return xk_load_acquire(&f->gen) == l->gen && xk_node_is(&f->node, &l->key) ? f : NULL;
}

static inline void single_learn(struct xk_single *l, const struct xk_classifier *c, enum xk_link link,
			      const struct xk_msg *x, const struct xk_key *key, struct xk_flow *f)
{
	l->gen = xk_load_relaxed(&f->gen);
	/* Unbound since it was found: not worth remembering. */
	l->of = l->gen & 1 ? NULL : c;
	l->key = *key;
	memcpy(l->bytes, x->data + link_wide(link), sizeof l->bytes);
	l->hash = x->hash;
	l->flow = xk_slab_handle(f);
	l->control = x->data[0];
}

/* Parsed, hashed, looked up. */
static XK_APART struct xk_flow *single_new(struct xk_classifier *c, enum xk_link link, struct xk_single *l,
					   struct xk_msg *x)
{
	const struct native *nat = c->priv;
	struct xk_flow *f = NULL;
	struct xk_key key;
	bool plain = parse_plain(nat, link, x->data, x->len, &key);

	if (XK_LIKELY(plain))
		x->hash = flow_hash(&key);
	if (plain || parse_rest(nat, link, x->data, x->len, &key, &x->hash))
		f = (void *)xk_table_find(flow_table(c->tab), x->hash, &key);
	x->vp = f != NULL ? xk_load_relaxed(&f->vp) : flow_home(c->tab, x->hash);
	if (f != NULL && plain && x->len >= link_wide_min(link))
		single_learn(l, c, link, x, &key, f);
	return f;
}

static inline struct xk_flow *single_of(struct xk_classifier *c, enum xk_link link, struct xk_single *l,
					struct xk_msg *x)
{
	struct xk_flow *f = single_again(c, link, l, x);

	if (XK_UNLIKELY(f == NULL))
		return single_new(c, link, l, x);
	x->hash = l->hash;
	x->vp = xk_load_relaxed(&f->vp);
	return f;
}

static XK_NOINLINE struct xk_flow *single_walk(struct xk_classifier *c, struct xk_msg *x)
{
	struct xk_run run;

	classify_walk_runs(((const struct native *)c->priv)->walk, c->tab, &x, 1, &run);
	x->hash = run.hash;
	x->vp = run.vp;
	return run.flow;
}

static struct xk_flow *native_single(struct xk_classifier *c, struct xk_single *l, struct xk_msg *x)
{
	enum xk_link link = ((const struct native *)c->priv)->link;

	if (XK_LIKELY(link == XK_LINK_ETH))
		return single_of(c, XK_LINK_ETH, l, x);
	if (link == XK_LINK_FDDI)
		return single_of(c, XK_LINK_FDDI, l, x);
	if (link == XK_LINK_RAWIP)
		return single_of(c, XK_LINK_RAWIP, l, x);
	return single_walk(c, x);
}

/* ---- bursts -------------------------------------------------------------------------- */

static unsigned native_runs(struct xk_classifier *c, struct xk_msg *const *m, unsigned n, struct xk_run *run)
{
	const struct native *nat = c->priv;

	switch (nat->link) {
	case XK_LINK_ETH:
		return classify_link(nat, XK_LINK_ETH, c->tab, m, n, run);
	case XK_LINK_FDDI:
		return classify_link(nat, XK_LINK_FDDI, c->tab, m, n, run);
	case XK_LINK_RAWIP:
		return classify_link(nat, XK_LINK_RAWIP, c->tab, m, n, run);
	case XK_LINK_OTHER:
		return classify_walk_runs(nat->walk, c->tab, m, n, run);
	}
	return 0;
}

/* ---- life ------------------------------------------------------------------------- */

static int native_open(struct xk_classifier *c, char *why, size_t n)
{
	struct native *nat = xk_alloc(sizeof(*nat));

	snprintf(why, n, "out of memory");
	if (nat == NULL)
		return XK_E_NOMEM;
	c->priv = nat;
	if (classify_shape(c->pat, nat))
		return XK_OK;
	nat->link = XK_LINK_OTHER;
	nat->walk = classify_walk_new(c->pat);
	if (nat->walk != NULL)
		return XK_OK;
	xk_free(nat);
	return XK_E_NOMEM;
}

static void native_free(struct xk_classifier *c)
{
	struct native *nat = c->priv;

	xk_free(nat->walk);
	xk_free(nat);
}

static void native_print(const struct xk_classifier *c, FILE *f)
{
	static const char *const below[] = { "Ethernet", "FDDI", "no link header" };
	const struct native *nat = c->priv;

	if (nat->link == XK_LINK_OTHER) {
		classify_walk_print(nat->walk, f);
		return;
	}
	fprintf(f, "compiled parser of IPv4 over %s, above it:%s%s%s\n", below[nat->link],
		nat->udp == htobe32(UDP) ? " UDP" : "", nat->tcp == htobe32(TCP) ? " TCP" : "",
		nat->icmp ? " ICMP echo" : "");
}

const struct xk_classifier_ops classify_native = {
	.name = "native", .doc = "compiled in, a compare of 32 bytes for each further frame of a run",
	.open = native_open, .runs = native_runs, .single = native_single,
	.print = native_print, .free = native_free,
};
