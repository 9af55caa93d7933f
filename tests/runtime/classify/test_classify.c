/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_classify.c - every back end agrees with the reference on every frame: of patterns of
 * every kind, whole, mutated and cut at every length, while connections come and go.
 *
 * Frames lie in blocks of exactly their length, so that a byte read too far is seen by the
 * address sanitizer.  XK_TEST_FRAMES=10000000 in the environment says how many frames the long
 * test makes instead of its own number.
 */
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_tls.h"
#include "tests/runtime/classify/worlds.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVPS   11u
#define BURST  32u
#define FLOWS  256u

static struct xk_flowtab *tab;
static struct xk_classifier *cls;
static struct xk_msg msg[BURST];
static struct xk_rand dice;
static uint64_t blocks;
static char none_mem;
static unsigned exact;          /* verdicts that named a flow */
static unsigned kinds[4];       /* verdicts by enum xk_pat_kind */

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

/* ---- bursts ------------------------------------------------------------------------ */

/* A copy in a block of exactly len bytes. */
static void load(unsigned i, const uint8_t *p, unsigned len)
{
	uint8_t *b = malloc(len ? len : 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	memcpy(b, p, len);
	memset(&msg[i], 0xa5, sizeof(msg[i]));
	msg[i].flags = roll(64) ? 0 : XK_MSG_LINK_BCAST;
	msg[i].data = b + (len ? 0 : 1);
	msg[i].len = msg[i].tot = len;
}

static void unload(unsigned i)
{
	free(msg[i].len ? msg[i].data : msg[i].data - 1);
}

static bool verdict_is(const struct xk_msg *m)
{
	struct xk_verdict v;

	xk_classify_verdict(cls->pat, tab, m->data, m->len, &v);
	exact += v.flow != 0;
	kinds[v.pat.kind]++;
	return m->u.v.flow == v.flow && m->u.v.gen == v.gen && m->vp == v.vp && m->hash == v.pat.hash;
}

/* Are the runs ones that a run's promise holds for? */
static bool runs_good(unsigned n, const struct xk_run *run, unsigned nruns)
{
	unsigned at = 0;

	for (unsigned r = 0; r < nruns; at += run[r++].n)
		for (unsigned i = at + 1; i < at + run[r].n; i++)
			if (msg[i].len < XK_FRAME_MIN || msg[at].len < XK_FRAME_MIN ||
			    ((msg[i].flags | msg[at].flags) & (XK_MSG_SLOW | XK_MSG_LINK_BCAST)))
				return false;
	return at == n;
}

static struct xk_single single;     /* what is remembered from one frame alone to the next */

/* Each of n frames by itself: how many have another verdict? */
static unsigned judge_alone(unsigned n)
{
	unsigned bad = 0;

	for (unsigned i = 0; cls->ops->single != NULL && i < n; i++) {
		struct xk_msg *m = &msg[i];
		struct xk_flow *f;

		m->hash = ~m->hash;
		m->vp = (uint16_t)~m->vp;
		f = cls->ops->single(cls, &single, m);
		m->u.name = 0;
		if (f != NULL) {
			m->u.v.flow = xk_slab_handle(f);
			m->u.v.gen = f->gen;
		}
		bad += !verdict_is(m);
	}
	return bad;
}

/* Classifies the n loaded frames every way, counts wrong verdicts, frees them. */
static unsigned judge(unsigned n)
{
	struct xk_msg *m[BURST];
	struct xk_run run[BURST];
	unsigned bad = 0, nruns, at = 0;

	for (unsigned i = 0; i < n; i++)
		m[i] = &msg[i];
	xk_rcu_read_lock();
	nruns = xk_classify_runs(cls, m, n, run);
	bad += !runs_good(n, run, nruns);
	for (unsigned r = 0; r < nruns; at += run[r++].n)
		xk_classify_tell(&run[r], m + at);
	for (unsigned i = 0; i < n; i++)
		bad += !verdict_is(&msg[i]);
	bad += judge_alone(n);
	for (unsigned i = 0; i < n; i++)
		unload(i);
	xk_rcu_read_unlock();
	return bad;
}

/* Every back end that decides at the device; false: it can't work here. */
static bool begin(const struct xk_classifier_ops *ops, const struct xk_pattern *p)
{
	char why[256];

	if (strcmp(ops->name, "none") == 0)
		return false;
	memset(&single, 0, sizeof single);
	xk_vp_no = 1;                    /* a back end may have something for each VP */
	if (xk_classifier_new(&cls, ops->name, p, tab, why, sizeof why) == XK_OK)
		return true;
	xk_vp_no = XK_VP_NONE;
	printf("# %s does not work here: %s\n", ops->name, why);
	return false;
}

static void finish(void)
{
	xk_classifier_free(cls);
	cls = NULL;
	xk_vp_no = XK_VP_NONE;
}

/* Flows are bound and unbound between bursts: one that a frame of p is of. */
static struct xk_flow *flow[FLOWS];

static void toggle_flow(const struct xk_pattern *p)
{
	struct xk_pat_verdict v;
	uint8_t f[WORLDS_FRAME];
	unsigned i = roll(FLOWS);

	if (flow[i] != NULL) {
		xk_flow_unbind(tab, flow[i]);
		flow[i] = NULL;
		return;
	}
	xk_pattern_match(p, f, worlds_frame(p, &dice, f), &v);
	if (v.kind != XK_PAT_FLOW || xk_flow_bind(tab, &v.key, (uint16_t)roll(NVPS), (struct xk_sess *)(void *)&none_mem, &flow[i]) != XK_OK)
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

/* ---- the long test --------------------------------------------------------------------- */

static unsigned long frames_wanted(void)
{
	const char *s = getenv("XK_TEST_FRAMES");

	return s != NULL ? strtoul(s, NULL, 10) : xk_test_rounds(360000);
}

/* One burst: half of the frames are the one before them again, as runs are. */
static unsigned burst(const struct xk_pattern *p, unsigned n)
{
	uint8_t f[WORLDS_FRAME];
	unsigned len = worlds_frame(p, &dice, f);

	for (unsigned i = 0; i < n; i++) {
		uint8_t g[WORLDS_FRAME];

		if (roll(2))
			len = worlds_frame(p, &dice, f);
		memcpy(g, f, sizeof g);
		worlds_mutate(&dice, g, len);
		load(i, g, roll(8) ? len : roll(len + 1));
	}
	return judge(n);
}

static void differ(const struct xk_classifier_ops *ops, struct world *w, unsigned long frames)
{
	unsigned bad = 0;

	exact = 0;
	memset(kinds, 0, sizeof kinds);
	if (!begin(ops, &w->pat))
		return;
	for (unsigned long done = 0; done < frames;) {
		unsigned n = 1 + roll(BURST);

		toggle_flow(&w->pat);
		toggle_flow(&w->pat);
		bad += burst(&w->pat, n);
		done += n;
	}
	finish();
	if (bad != 0)
		printf("# %s, %s: %u verdicts differ\n", ops->name, w->name, bad);
	CU_ASSERT_EQUAL(bad, 0);
	/* A test that meets no connection shows little. */
	if (w->pat.ncell != 0 && frames > 1000)
		CU_ASSERT(exact > frames / 100 && kinds[XK_PAT_FLOW] > frames / 10);
	drop_flows();
}

static void random_and_mutated_frames_agree_with_the_reference(void)
{
	for (unsigned b = 0; xk_classifier_table[b] != NULL; b++)
		for (unsigned i = 0; i < WORLDS; i++)
			differ(xk_classifier_table[b], &world[i], frames_wanted() / WORLDS);
}

static void pure_noise_agrees_with_the_reference(void)
{
	for (unsigned b = 0; xk_classifier_table[b] != NULL; b++)
		for (unsigned i = 0; i < WORLDS; i++) {
			unsigned bad = 0;

			if (!begin(xk_classifier_table[b], &world[i].pat))
				continue;
			for (unsigned done = 0; done < xk_test_rounds(6400); done += BURST) {
				for (unsigned k = 0; k < BURST; k++) {
					uint8_t f[WORLDS_FRAME];

					for (unsigned j = 0; j < sizeof f; j++)
						f[j] = (uint8_t)roll(256);
					load(k, f, roll(WORLDS_FRAME + 1));
				}
				bad += judge(BURST);
			}
			finish();
			CU_ASSERT_EQUAL(bad, 0);
		}
}

static void frames_cut_at_any_length_agree_and_are_not_read_past_their_end(void)
{
	for (unsigned b = 0; xk_classifier_table[b] != NULL; b++)
		for (unsigned i = 0; i < WORLDS; i++) {
			unsigned bad = 0;

			if (!begin(xk_classifier_table[b], &world[i].pat))
				continue;
			for (unsigned round = 0; round < xk_test_rounds(40); round++) {
				uint8_t f[WORLDS_FRAME];
				unsigned n = worlds_frame(&world[i].pat, &dice, f);

				toggle_flow(&world[i].pat);
				/* Whole, cut, whole: a cut one must not join their run. */
				for (unsigned len = 0; len <= n; len++) {
					load(0, f, n);
					load(1, f, len);
					load(2, f, n);
					bad += judge(3);
				}
			}
			finish();
			CU_ASSERT_EQUAL(bad, 0);
			drop_flows();
		}
}

/* ---- what the internet's pattern says ------------------------------------------------------ */

/* UDP from 10.0.0.1:5001 to 10.0.0.2:6002 behind l2 bytes. */
static unsigned put_udp(uint8_t *f, unsigned l2)
{
	uint8_t *ip = f + l2;

	memset(f, 0, WORLDS_FRAME);
	if (l2 == 14)
		xk_put_be16(f + 12, 0x0800);
	ip[0] = 0x45;
	ip[9] = 17;
	xk_put_be32(ip + 12, 0x0a000001);
	xk_put_be32(ip + 16, 0x0a000002);
	xk_put_be16(ip + 20, 5001);
	xk_put_be16(ip + 22, 6002);
	return l2 + 60;
}

static void a_key_lies_as_it_does_in_the_frame(void)
{
	struct xk_pat_verdict v;
	uint8_t f[WORLDS_FRAME];
	unsigned n = put_udp(f, 14);

	xk_pattern_match(&world[WORLD_ETH].pat, f, n, &v);
	CU_ASSERT_EQUAL(v.kind, XK_PAT_FLOW);
	CU_ASSERT_EQUAL(be32toh(v.key.raddr), 0x0a000001);
	CU_ASSERT_EQUAL(be32toh(v.key.laddr), 0x0a000002);
	CU_ASSERT_EQUAL(be16toh(v.key.rport), 5001);
	CU_ASSERT_EQUAL(be16toh(v.key.lport), 6002);
	CU_ASSERT_EQUAL(v.key.proto, 17);
	CU_ASSERT_EQUAL(v.hash, xk_flow_hash(&v.key));
	f[14 + 9] = 1;                   /* echo: no ports, an identifier */
	f[14 + 20] = 8;
	f[14 + 24] = 0x12;
	f[14 + 25] = 0x34;
	xk_pattern_match(&world[WORLD_ETH].pat, f, n, &v);
	CU_ASSERT_EQUAL(v.kind, XK_PAT_FLOW);
	CU_ASSERT_EQUAL(v.key.rport, 0);
	CU_ASSERT_EQUAL(be16toh(v.key.lport), 0x1234);
	CU_ASSERT_EQUAL(v.key.proto, 1);
	f[14 + 20] = 3;                  /* an error: two hosts */
	xk_pattern_match(&world[WORLD_ETH].pat, f, n, &v);
	CU_ASSERT_EQUAL(v.kind, XK_PAT_HOST);
	f[14 + 9] = 17;
	xk_pattern_match(&world[WORLD_ETH_UDP].pat, f, n, &v);
	CU_ASSERT_EQUAL(v.kind, XK_PAT_FLOW);
	f[14 + 9] = 6;                   /* TCP where there is none */
	xk_pattern_match(&world[WORLD_ETH_UDP].pat, f, n, &v);
	CU_ASSERT_EQUAL(v.kind, XK_PAT_HOST);
}

static void fragments_of_one_datagram_meet(void)
{
	struct xk_pat_verdict a, b;
	uint8_t f[WORLDS_FRAME];
	unsigned n = put_udp(f, 14), other = 0;

	for (unsigned id = 0; id < 1000; id++) {
		xk_put_be16(f + 18, (uint16_t)id);
		xk_put_be16(f + 20, 0x2000);
		xk_pattern_match(&world[WORLD_ETH].pat, f, n, &a);
		xk_put_be16(f + 20, 3);
		xk_put_be16(f + 34, (uint16_t)roll(65536));      /* where a whole one has its port */
		xk_pattern_match(&world[WORLD_ETH].pat, f, n, &b);
		CU_ASSERT(a.kind == XK_PAT_IDENT && b.kind == XK_PAT_IDENT && a.hash == b.hash);
		xk_put_be16(f + 18, (uint16_t)(id + 1));
		xk_pattern_match(&world[WORLD_ETH].pat, f, n, &b);
		other += a.hash != b.hash;
	}
	CU_ASSERT(other > 990);
}

static void what_is_not_ip_goes_to_the_first_vp(void)
{
	static const uint16_t types[] = { 0x0806, 0x8100, 0x86dd };   /* ARP, a VLAN tag, IPv6 */
	struct xk_verdict v;
	uint8_t f[WORLDS_FRAME];
	unsigned n = put_udp(f, 14);

	for (unsigned i = 0; i < XK_ARRAY_LEN(types); i++) {
		xk_put_be16(f + 12, types[i]);
		xk_classify_verdict(&world[WORLD_ETH].pat, tab, f, n, &v);
		CU_ASSERT(v.pat.kind == XK_PAT_NONE && v.pat.hash == 0 && v.vp == 0 && v.flow == 0);
	}
}

/* The fast parser serves what has the internet's shape, and only that. */
static const char *program_of(unsigned w)
{
	static char text[1 << 16];
	char why[256];
	FILE *f = fmemopen(text, sizeof text, "w");

	CU_ASSERT_EQUAL_FATAL(xk_classifier_new(&cls, "native", &world[w].pat, tab, why, sizeof why), XK_OK);
	cls->ops->print(cls, f);
	fclose(f);
	finish();
	return text;
}

static void the_fast_parser_serves_the_internet_alone(void)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_ETH), "Ethernet, above it: UDP TCP ICMP echo"));
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_FDDI), "FDDI, above it: UDP TCP ICMP echo"));
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_RAWIP), "no link header, above it: UDP TCP"));
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_ETH_UDP), "above it: UDP\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_ETH_ODD), "walk over"));
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_STRANGE), "walk over"));
	CU_ASSERT_PTR_NOT_NULL(strstr(program_of(WORLD_NOTHING), "walk over 0 cells"));
}

static void none_leaves_frames_where_they_are(void)
{
	struct xk_msg *m = &msg[0];
	uint8_t f[WORLDS_FRAME];
	struct xk_run run;
	char why[256];

	CU_ASSERT_EQUAL_FATAL(xk_classifier_new(&cls, "none", &world[WORLD_ETH].pat, tab, why, sizeof why), XK_OK);
	load(0, f, put_udp(f, 14));
	xk_vp_no = 7;
	CU_ASSERT_EQUAL(xk_classify_runs(cls, &m, 1, &run), 1);
	xk_vp_no = 0;
	CU_ASSERT(run.vp == 7 && run.hash == 0 && run.flow == NULL && run.n == 1);
	unload(0);
	finish();
}

static void a_back_end_is_chosen_by_name(void)
{
	const struct xk_pattern *p = &world[WORLD_FDDI].pat;
	struct xk_classifier *c;
	char why[256];

	CU_ASSERT_EQUAL(xk_classifier_new(&c, "auto", p, tab, why, sizeof why), XK_OK);
	CU_ASSERT_PTR_EQUAL(c->ops, xk_classifier_table[0]);
	xk_classifier_free(c);
	CU_ASSERT_EQUAL(xk_classifier_new(&c, "telepathy", p, tab, why, sizeof why), XK_E_NOTSUP);
	CU_ASSERT_PTR_NULL(c);
	CU_ASSERT_STRING_EQUAL(why, "there is no classifier 'telepathy' in this build");
	for (unsigned i = 1; i < 4; i++) {
		xk_mem_fail_after(i);
		if (xk_classifier_new(&c, "native", &world[WORLD_STRANGE].pat, tab, why, sizeof why) == XK_OK)
			xk_classifier_free(c);
		else
			CU_ASSERT_PTR_NULL(c);
		xk_mem_fail_after(0);
	}
	for (unsigned i = 0; xk_classifier_table[i] != NULL; i++)
		CU_ASSERT_STRING_EQUAL(xk_classifier_table[i]->name, xk_classifier_kinds[i + 1]);
	CU_ASSERT_EQUAL(xk_classifier_new(&c, NULL, p, tab, why, sizeof why), XK_OK);
	xk_classify(c, NULL, 0);
	xk_classifier_free(c);
}

static CU_TestInfo tests[] = {
	{ "a key lies as it does in the frame", a_key_lies_as_it_does_in_the_frame },
	{ "random and mutated frames agree with the reference", random_and_mutated_frames_agree_with_the_reference },
	{ "pure noise agrees with the reference", pure_noise_agrees_with_the_reference },
	{ "frames cut at any length agree and are not read past their end", frames_cut_at_any_length_agree_and_are_not_read_past_their_end },
	{ "fragments of one datagram meet", fragments_of_one_datagram_meet },
	{ "what is not IP goes to the first VP", what_is_not_ip_goes_to_the_first_vp },
	{ "the fast parser serves the internet alone", the_fast_parser_serves_the_internet_alone },
	{ "none leaves frames where they are", none_leaves_frames_where_they_are },
	{ "a back end is chosen by name", a_back_end_is_chosen_by_name },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "classify", NULL, NULL, setup, teardown, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	const char *why = worlds_make();

	if (why != NULL) {
		printf("Bail out! a pattern was refused: %s\n", why);
		return 1;
	}
	return xk_test_main(suites);
}
