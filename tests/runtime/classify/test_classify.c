/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_classify.c - every back end agrees with the reference parser, on a
 * million frames of every kind, whole, mutated and cut at every length.
 *
 * Frames lie in blocks of exactly their length, so that a byte read too far is
 * seen by the address sanitizer.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_rand.h"
#include "runtime/classify/xk_classify.h"
#include "tests/support/xk_test.h"

#include <stdlib.h>
#include <string.h>

#define NVPS   11u
#define BURST  32u
#define FRAME  160u
#define HOSTS  4u
#define PORTS  3u
#define FLOWS  (HOSTS * HOSTS * PORTS * PORTS * 2)

static const char *const link_name[] = { "eth", "fddi", "rawip" };
static const enum xk_link links[] = { XK_LINK_ETH, XK_LINK_FDDI, XK_LINK_RAWIP };

static struct xk_flowtab *tab;
static struct xk_classifier *cls;
static struct xk_msg msg[BURST];
static struct xk_rand dice;
static uint64_t blocks;
static char none_mem;
static unsigned exact;          /* verdicts that named a flow */

static void setup(void)
{
	xk_rcu_register();
	xk_rand_init(&dice, 20240, 1);
	blocks = xk_alloc_live();
	CU_ASSERT_EQUAL_FATAL(xk_flowtab_new(&tab, NVPS), XK_OK);
}

static void teardown(void)
{
	xk_flowtab_free(tab);
	CU_ASSERT_EQUAL(xk_alloc_live(), blocks);
	xk_rcu_unregister();
}

static unsigned roll(unsigned n)
{
	return (unsigned)xk_rand_below(&dice, n);
}

/* ---- frames ------------------------------------------------------------------- */

struct spec { unsigned src, dst, sport, dport, proto, options, frag, id, icmp_type; };

static unsigned put_link(enum xk_link link, uint8_t *p)
{
	static const uint8_t snap[] = { 0xaa, 0xaa, 0x03, 0, 0, 0, 0x08, 0x00 };

	switch (link) {
	case XK_LINK_ETH:
		memset(p, 0x02, 12);
		xk_put_be16(p + 12, 0x0800);
		return 14;
	case XK_LINK_FDDI:
		p[0] = 0x54;
		memset(p + 1, 0x02, 12);
		memcpy(p + 13, snap, sizeof(snap));
		return 21;
	default:
		return 0;
	}
}

static uint32_t host(unsigned i)
{
	return 0x0a000001u + i * 0x10001u;
}

static unsigned port(unsigned i)
{
	return 5000 + i * 1000;
}

/* A frame of a spec; returns its length. */
static unsigned put_frame(enum xk_link link, const struct spec *s, uint8_t *p)
{
	unsigned l2 = put_link(link, p), hl = 20 + s->options * 4;
	uint8_t *ip = p + l2, *l4 = ip + hl;

	memset(ip, 0, FRAME - l2);
	ip[0] = (uint8_t)(0x40 | hl / 4);
	ip[1] = (uint8_t)roll(256);
	xk_put_be16(ip + 2, (uint16_t)(hl + 30));
	xk_put_be16(ip + 4, (uint16_t)s->id);
	xk_put_be16(ip + 6, (uint16_t)(s->frag | roll(2) * 0x4000));
	ip[8] = (uint8_t)roll(256);
	ip[9] = (uint8_t)s->proto;
	xk_put_be32(ip + 12, host(s->src));
	xk_put_be32(ip + 16, host(s->dst));
	memset(ip + 20, 1, s->options * 4);
	if (s->proto == 1) {
		l4[0] = (uint8_t)s->icmp_type;
	} else {
		xk_put_be16(l4, (uint16_t)port(s->sport));
		xk_put_be16(l4 + 2, (uint16_t)port(s->dport));
	}
	return l2 + hl + 30;
}

static struct spec random_spec(void)
{
	static const unsigned protos[] = { 17, 17, 6, 6, 1, 47 };
	static const unsigned types[] = { 8, 0, 3, 11, 13 };
	struct spec s = { roll(HOSTS), roll(HOSTS), roll(PORTS), roll(PORTS), protos[roll(6)], 0, 0, roll(8), types[roll(5)] };

	if (roll(5) == 0)
		s.options = roll(11);
	if (roll(6) == 0)
		s.frag = roll(2) ? 0x2000u | roll(100) : 1 + roll(0x1fff);
	return s;
}

/* ---- what a verdict ought to be -------------------------------------------------- */

enum kind { OTHER, ADDRESSES, FRAGMENT, KEYED };
struct expect { enum kind kind; struct xk_flowkey key; };

/* The offset of an IPv4 header with its 20 bytes, or 0xffff. */
static unsigned ip_at(enum xk_link link, const uint8_t *p, unsigned len)
{
	unsigned l2 = link == XK_LINK_ETH ? 14 : link == XK_LINK_FDDI ? 21 : 0;

	if (len < l2 + 20 || p[l2] >> 4 != 4)
		return 0xffff;
	if (l2 != 0 && (p[l2 - 2] != 8 || p[l2 - 1] != 0))
		return 0xffff;
	if (link == XK_LINK_FDDI && ((p[0] >> 4 & 7) != 5 || p[13] != 0xaa || p[14] != 0xaa ||
				     p[15] != 3 || p[16] || p[17] || p[18]))
		return 0xffff;
	return l2;
}

static struct expect expect(enum xk_link link, const uint8_t *p, unsigned len)
{
	struct expect e = { .kind = OTHER };
	unsigned ip = ip_at(link, p, len);

	if (xk_classify_key(link, p, len, &e.key)) {
		e.kind = KEYED;
	} else if (ip != 0xffff) {
		e.kind = ((p[ip + 6] & 0x3f) | p[ip + 7]) != 0 ? FRAGMENT : ADDRESSES;
		e.key = (struct xk_flowkey){ .raddr = xk_raw32(p + ip + 12), .laddr = xk_raw32(p + ip + 16), .proto = 1 };
	}
	return e;
}

static bool verdict_is(const struct expect *e, const struct xk_msg *m)
{
	const struct xk_flow *f = e->kind == KEYED ? xk_flow_find(tab, &e->key) : NULL;

	exact += f != NULL;
	if (f != NULL)
		return m->u.v.flow == xk_slab_handle(f) && m->u.v.gen == f->gen && m->vp == f->vp &&
		       m->hash == xk_flow_hash(&e->key);
	if (m->u.v.flow != 0 || m->vp != xk_hash_vp(m->hash, NVPS))
		return false;
	switch (e->kind) {
	case OTHER:
		return m->hash == 0 && m->vp == 0;
	case FRAGMENT:
		return m->hash != 0;
	default:
		return m->hash == xk_flow_hash(&e->key) && m->vp == xk_flow_home(tab, &e->key);
	}
}

/* ---- bursts ------------------------------------------------------------------------ */

/* A copy in a block of exactly len bytes. */
static void load(unsigned i, const uint8_t *p, unsigned len)
{
	uint8_t *b = malloc(len ? len : 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	memcpy(b, p, len);
	memset(&msg[i], 0xa5, sizeof(msg[i]));
	msg[i].data = b + (len ? 0 : 1);
	msg[i].len = msg[i].tot = len;
}

static void unload(unsigned i)
{
	free(msg[i].len ? msg[i].data : msg[i].data - 1);
}

static void classify(unsigned n)
{
	struct xk_msg *m[BURST];

	for (unsigned i = 0; i < n; i++)
		m[i] = &msg[i];
	xk_rcu_read_lock();
	cls->ops->classify(cls, m, n);
	xk_rcu_read_unlock();
}

/* Classifies the n loaded frames, counts wrong verdicts, frees them. */
static unsigned judge(enum xk_link link, unsigned n)
{
	unsigned bad = 0;

	classify(n);
	for (unsigned i = 0; i < n; i++) {
		struct expect e = expect(link, msg[i].data, msg[i].len);

		bad += !verdict_is(&e, &msg[i]);
		unload(i);
	}
	return bad;
}

static void begin(enum xk_link link)
{
	CU_ASSERT_EQUAL_FATAL(xk_classifier_new(&cls, NULL, link, tab), XK_OK);
}

static void end(void)
{
	cls->ops->free(cls);
}

/* Flows are bound and unbound between bursts. */
static struct xk_flow *flow[FLOWS];

static void toggle_flow(void)
{
	struct spec s = { roll(HOSTS), roll(HOSTS), roll(PORTS), roll(PORTS), roll(4) ? 17 : roll(2) ? 6 : 1, 0, 0, 0, 8 };
	struct xk_flowkey k;
	uint8_t p[FRAME];
	unsigned i = roll(FLOWS);

	if (flow[i] != NULL) {
		xk_flow_unbind(tab, flow[i]);
		flow[i] = NULL;
		return;
	}
	if (!xk_classify_key(XK_LINK_RAWIP, p, put_frame(XK_LINK_RAWIP, &s, p), &k))
		return;
	if (xk_flow_bind(tab, &k, (uint16_t)roll(NVPS), (struct xk_sess *)(void *)&none_mem, &flow[i]) != XK_OK)
		flow[i] = NULL;
}

static void drop_flows(void)
{
	for (unsigned i = 0; i < FLOWS; i++)
		if (flow[i] != NULL) {
			xk_flow_unbind(tab, flow[i]);
			flow[i] = NULL;
		}
}

/* ---- tests --------------------------------------------------------------------------- */

static void the_reference_reads_a_key_as_it_lies_in_the_frame(void)
{
	struct spec s = { .src = 1, .dst = 2, .sport = 1, .dport = 2, .proto = 17, .options = 3 };
	struct xk_flowkey k;
	uint8_t p[FRAME];

	for (unsigned l = 0; l < 3; l++) {
		unsigned n = put_frame(links[l], &s, p);

		CU_ASSERT_TRUE(xk_classify_key(links[l], p, n, &k));
		CU_ASSERT_EQUAL(be32toh(k.raddr), host(1));
		CU_ASSERT_EQUAL(be32toh(k.laddr), host(2));
		CU_ASSERT_EQUAL(be16toh(k.rport), port(1));
		CU_ASSERT_EQUAL(be16toh(k.lport), port(2));
		CU_ASSERT_EQUAL(k.proto, 17);
	}
	s.proto = 1;
	s.icmp_type = 8;
	CU_ASSERT_TRUE(xk_classify_key(XK_LINK_RAWIP, p, put_frame(XK_LINK_RAWIP, &s, p), &k));
	CU_ASSERT_EQUAL(k.rport | k.lport, 0);
	s.frag = 0x2000;
	CU_ASSERT_FALSE(xk_classify_key(XK_LINK_RAWIP, p, put_frame(XK_LINK_RAWIP, &s, p), &k));
}

static void random_and_mutated_frames_agree_with_the_reference(void)
{
	for (unsigned l = 0; l < 3; l++) {
		unsigned bad = 0;

		exact = 0;
		begin(links[l]);
		for (unsigned done = 0; done < 350000;) {
			unsigned n = 1 + roll(BURST);
			struct spec s = random_spec();

			toggle_flow();
			for (unsigned i = 0; i < n; i++) {
				uint8_t p[FRAME];
				unsigned len;

				/* Half follow the one before them: runs. */
				if (roll(2))
					s = random_spec();
				len = put_frame(links[l], &s, p);
				for (unsigned k = roll(3) ? 0 : roll(4); k > 0; k--)
					p[roll(len)] ^= (uint8_t)(1u << roll(8));
				if (roll(8) == 0)
					p[roll(len)] = (uint8_t)roll(256);
				load(i, p, roll(8) ? len : roll(len + 1));
			}
			bad += judge(links[l], n);
			done += n;
		}
		end();
		if (bad != 0)
			printf("# %s: %u verdicts differ\n", link_name[l], bad);
		CU_ASSERT_EQUAL(bad, 0);
		CU_ASSERT_TRUE(exact > 30000);
		drop_flows();
	}
}

static void pure_noise_agrees_with_the_reference(void)
{
	for (unsigned l = 0; l < 3; l++) {
		unsigned bad = 0;

		begin(links[l]);
		for (unsigned done = 0; done < 64000; done += BURST) {
			for (unsigned i = 0; i < BURST; i++) {
				uint8_t p[FRAME];

				for (unsigned k = 0; k < FRAME; k++)
					p[k] = (uint8_t)roll(256);
				if (roll(2))
					p[put_link(links[l], p)] = (uint8_t)(0x40 | roll(16));
				load(i, p, roll(FRAME + 1));
			}
			bad += judge(links[l], BURST);
		}
		end();
		CU_ASSERT_EQUAL(bad, 0);
	}
}

static void frames_cut_at_any_length_agree_and_are_not_read_past_their_end(void)
{
	for (unsigned l = 0; l < 3; l++) {
		unsigned bad = 0;

		begin(links[l]);
		for (unsigned round = 0; round < 60; round++) {
			struct spec s = random_spec();
			uint8_t p[FRAME];
			unsigned n = put_frame(links[l], &s, p);

			toggle_flow();
			/* Whole, cut, whole: a cut one must not join their run. */
			for (unsigned len = 0; len <= n; len++) {
				load(0, p, n);
				load(1, p, len);
				load(2, p, n);
				bad += judge(links[l], 3);
			}
		}
		end();
		CU_ASSERT_EQUAL(bad, 0);
		drop_flows();
	}
}

static void fragments_of_one_datagram_meet(void)
{
	unsigned same = 0, other = 0;

	for (unsigned l = 0; l < 3; l++) {
		begin(links[l]);
		for (unsigned round = 0; round < 1000; round++) {
			struct spec s = random_spec();
			uint8_t p[FRAME];

			s.proto = 17;
			for (unsigned i = 0; i < 8; i++) {
				s.frag = i == 0 ? 0x2000u : i * 3;
				s.id = 7 + (i == 7);
				s.sport = roll(PORTS);
				s.options = roll(3);
				load(i, p, put_frame(links[l], &s, p));
			}
			classify(8);
			for (unsigned i = 1; i < 7; i++)
				same += msg[i].hash == msg[0].hash && msg[i].vp == msg[0].vp;
			other += msg[7].hash != msg[0].hash;
			for (unsigned i = 0; i < 8; i++)
				unload(i);
		}
		end();
	}
	CU_ASSERT_EQUAL(same, 3 * 1000 * 6);
	CU_ASSERT_TRUE(other > 2990);
}

static void what_is_not_ip_goes_to_the_first_vp(void)
{
	struct spec s = { .proto = 17 };
	uint8_t p[FRAME];
	unsigned n = put_frame(XK_LINK_ETH, &s, p);

	begin(XK_LINK_ETH);
	load(0, p, n);
	xk_put_be16(p + 12, 0x0806);     /* ARP */
	load(1, p, n);
	xk_put_be16(p + 12, 0x8100);     /* a VLAN tag */
	load(2, p, n);
	xk_put_be16(p + 12, 0x86dd);     /* IPv6 */
	load(3, p, n);
	classify(4);
	CU_ASSERT_NOT_EQUAL(msg[0].hash, 0);
	for (unsigned i = 1; i < 4; i++) {
		CU_ASSERT_EQUAL(msg[i].hash, 0);
		CU_ASSERT_EQUAL(msg[i].vp, 0);
		CU_ASSERT_EQUAL(msg[i].u.v.flow, 0);
	}
	for (unsigned i = 0; i < 4; i++)
		unload(i);
	end();
}

static void a_back_end_is_chosen_by_name(void)
{
	struct xk_classifier *c;

	CU_ASSERT_EQUAL(xk_classifier_new(&c, "auto", XK_LINK_ETH, tab), XK_OK);
	CU_ASSERT_STRING_EQUAL(c->ops->name, "native");
	c->ops->free(c);
	CU_ASSERT_EQUAL(xk_classifier_new(&c, "telepathy", XK_LINK_ETH, tab), XK_E_NOTSUP);
	CU_ASSERT_PTR_NULL(c);
	xk_mem_fail_after(1);
	CU_ASSERT_EQUAL(xk_classifier_new(&c, NULL, XK_LINK_ETH, tab), XK_E_NOMEM);
	xk_mem_fail_after(0);
	begin(XK_LINK_FDDI);
	cls->ops->classify(cls, NULL, 0);
	end();
}

static CU_TestInfo tests[] = {
	{ "the reference reads a key as it lies in the frame", the_reference_reads_a_key_as_it_lies_in_the_frame },
	{ "random and mutated frames agree with the reference", random_and_mutated_frames_agree_with_the_reference },
	{ "pure noise agrees with the reference", pure_noise_agrees_with_the_reference },
	{ "frames cut at any length agree and are not read past their end", frames_cut_at_any_length_agree_and_are_not_read_past_their_end },
	{ "fragments of one datagram meet", fragments_of_one_datagram_meet },
	{ "what is not IP goes to the first VP", what_is_not_ip_goes_to_the_first_vp },
	{ "a back end is chosen by name", a_back_end_is_chosen_by_name },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "classify", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}
