/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ebpf_steer.c - the programs that steer frames in the kernel send each one where the
 * reference matcher says, whole and cut at every length, with bound connections and without.
 *
 * The kernel runs them on one frame at a time (BPF_PROG_TEST_RUN); a program without a map of
 * sockets returns the VP.  Needs the privilege to load programs.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/classify/xk_ebpf.h"
#include "tests/runtime/classify/patterns.h"
#include "tests/support/xk_test.h"

#define NVPS  5u
#define FRAME PATTERN_FRAME
#define LEAST 15u               /* the kernel wants an Ethernet header, and a byte behind it in a socket buffer */

/* ---- patterns ------------------------------------------------------------------------------- */

static const struct xk_demux_field eth_fields[] = { { XK_DX_SELECT, 2, 12, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 } };
static const struct xk_demux eth = { .need = 14, .field = eth_fields };
static const struct xk_demux_field port_fields[] = {
	{ XK_DX_REMOTE, 2, 0, 0, 0 }, { XK_DX_LOCAL, 2, 2, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux ports = { .need = 8, .field = port_fields };
/* A length in units of 2 with a bit below it, little-endian numbers, guards under masks. */
static const struct xk_demux_field odd_fields[] = {
	{ XK_DX_GUARD, 1, 0, 0xc0, 0x80 }, { XK_DX_GUARD | XK_DX_LITTLE, 2, 2, 0x0ff0, 0x0550 },
	{ XK_DX_HLEN, 1, 1, 0x7e, 2 }, { XK_DX_SELECT | XK_DX_LITTLE, 2, 4, 0x03ff, 0 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux odd = { .need = 7, .field = odd_fields };
/* Keys that cross members, under masks; a postponement; three bytes that choose; a length that
 * may be longer than any frame. */
static const struct xk_demux_field net_fields[] = {
	{ XK_DX_LOCAL, 3, 1, 0, 0 }, { XK_DX_REMOTE, 3, 4, 0x0fff0f, 0 }, { XK_DX_POSTPONE, 1, 7, 0x81, 0 },
	{ XK_DX_IDENT, 1, 8, 0, 0 }, { XK_DX_IDENT, 1, 9, 0, 0 }, { XK_DX_SELECT, 3, 10, 0x00ffff, 0 },
	{ XK_DX_HLEN | XK_DX_LITTLE, 2, 13, 0xfff0, 3 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux net = { .need = 15, .field = net_fields };
static const struct xk_demux_field end_fields[] = {
	{ XK_DX_REMOTE, 3, 0, 0, 0 }, { XK_DX_LOCAL, 2, 3, 0x7fff, 0 }, { XK_DX_HLEN, 1, 5, 0, 1 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux end = { .need = 6, .field = end_fields };
static const struct xk_demux empty = { .need = 0 };

static struct xk_pattern inet, fddi, strange, many, nothing;
static struct dice dice = { 0x9e3779b97f4a7c15u };
static char why[512];

static int put(struct xk_pattern *p, int below, uint32_t number, const char *name, const struct xk_demux *d)
{
	int at = xk_pattern_add(p, (unsigned)below, number, name, name, d, why, sizeof why);

	if (at < 0)
		fprintf(stderr, "# %s\n", why);
	CU_ASSERT_FATAL(at >= 0);
	return at;
}

static void make_patterns(void)
{
	int e, i;

	pattern_make(&inet, "eth");
	pattern_make(&fddi, "fddi");
	memset(&strange, 0, sizeof strange);
	memset(&many, 0, sizeof many);
	e = put(&strange, XK_PAT_ABOVE, 0, "odd", &odd);
	i = put(&strange, e, 0x155, "net", &net);
	put(&strange, i, 9, "end", &end);
	put(&strange, i, 0x1234, "bare", &empty);
	put(&strange, e, 2, "ports", &ports);
	e = put(&many, XK_PAT_ABOVE, 0, "eth", &eth);
	for (uint32_t n = 0; n < XK_PAT_KIDS; n++)
		put(&many, e, n * 0x0301, "ports", &ports);
}

static void random_pattern(struct xk_pattern *p)
{
	do
		pattern_random(p, &dice);
	while (p->ncell < 2);
}

/* ---- programs ------------------------------------------------------------------------------- */

/* What the program returns on the frame, or -1 where the kernel would not run it. */
static int run(int fd, const uint8_t *f, unsigned len)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = f, .data_size_in = len, .repeat = 1);

	return bpf_prog_test_run_opts(fd, &o) == 0 ? (int)o.retval : -1;
}

static unsigned right(const struct xk_pattern *p, const uint8_t *f, unsigned len, const struct xk_flowkey *bound, unsigned vp)
{
	struct xk_pat_verdict v;

	xk_pattern_match(p, f, len, &v);
	if (bound != NULL && v.kind == XK_PAT_FLOW && memcmp(&v.key, bound, sizeof v.key) == 0)
		return vp;
	return xk_hash_vp(v.hash, NVPS);
}

/* The kernel makes no socket buffer of an IP packet that ends in its header, for this test. */
static bool may_not_run(const uint8_t *f, unsigned len)
{
	unsigned type = (unsigned)f[12] << 8 | f[13];

	return (type == 0x0800 && len < 34) || (type == 0x86dd && len < 54);
}

/* Every length of many frames; how many frames were decided by more than nothing. */
static unsigned agree(const struct xk_pattern *p, int fd, unsigned frames)
{
	unsigned known = 0, wrong = 0, ran = 0;
	uint8_t f[FRAME];

	for (unsigned i = 0; i < frames; i++) {
		pattern_frame(p, &dice, f);
		for (unsigned len = LEAST; len <= 120; len += i % 8 == 0 ? 1 : 105) {
			struct xk_pat_verdict v;
			int got = run(fd, f, len);

			xk_pattern_match(p, f, len, &v);
			known += v.kind != XK_PAT_NONE;
			ran += got >= 0;
			if (got >= 0 || !may_not_run(f, len))
				wrong += got != (int)right(p, f, len, NULL, 0);
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(ran > frames);
	return known;
}

static void all_agree(int (*make)(const struct xk_pattern *p, int flows))
{
	const struct xk_pattern *const all[] = { &inet, &fddi, &strange, &many, &nothing };

	for (unsigned i = 0; i < XK_ARRAY_LEN(all); i++) {
		int fd = make(all[i], -1);

		CU_ASSERT_FATAL(fd >= 0);
		CU_ASSERT((agree(all[i], fd, (unsigned)xk_test_rounds(400)) != 0) == (all[i] != &nothing));
		close(fd);
	}
	for (unsigned i = 0; i < xk_test_rounds(40); i++) {
		struct xk_pattern p;
		int fd;

		random_pattern(&p);
		fd = make(&p, -1);
		CU_ASSERT_FATAL(fd >= 0);
		agree(&p, fd, 24);
		close(fd);
	}
}

static int make_xdp(const struct xk_pattern *p, int flows)
{
	int fd = xk_pattern_xdp(p, NVPS, -1, flows, why, sizeof why);

	if (fd < 0)
		fprintf(stderr, "# %s\n", why);
	return fd;
}

static int make_fanout(const struct xk_pattern *p, int flows)
{
	int fd = xk_pattern_fanout(p, NVPS, flows, why, sizeof why);

	if (fd < 0)
		fprintf(stderr, "# %s\n", why);
	return fd;
}

static void xdp_sends_frames_where_the_reference_says(void)
{
	all_agree(make_xdp);
}

static void fanout_sends_frames_where_the_reference_says(void)
{
	all_agree(make_fanout);
}

/* ---- bound connections ------------------------------------------------------------------------ */

/* A frame of a connection that its hash sends elsewhere than to vp. */
static void find_flow(struct xk_pat_verdict *v, uint8_t *f, unsigned vp)
{
	do {
		pattern_frame(&inet, &dice, f);
		xk_pattern_match(&inet, f, 120, v);
	} while (v->kind != XK_PAT_FLOW || xk_hash_vp(v->hash, NVPS) == vp);
}

static void flows_are_obeyed(int (*make)(const struct xk_pattern *p, int flows))
{
	int flows = xk_ebpf_flows_new(16, why, sizeof why), fd;
	struct xk_pat_verdict v;
	uint8_t f[FRAME];

	CU_ASSERT_FATAL(flows >= 0);
	fd = make(&inet, flows);
	CU_ASSERT_FATAL(fd >= 0);
	for (unsigned i = 0; i < 40; i++) {
		unsigned vp = i % NVPS;

		find_flow(&v, f, vp);
		CU_ASSERT_EQUAL(xk_ebpf_flows_set(flows, &v.key, (uint16_t)vp), XK_OK);
		CU_ASSERT_EQUAL(run(fd, f, 120), (int)vp);
		CU_ASSERT_EQUAL(xk_ebpf_flows_set(flows, &v.key, NVPS), XK_OK);      /* no such VP */
		CU_ASSERT_EQUAL(run(fd, f, 120), (int)xk_hash_vp(v.hash, NVPS));
		CU_ASSERT_EQUAL(xk_ebpf_flows_drop(flows, &v.key), XK_OK);
		CU_ASSERT_EQUAL(xk_ebpf_flows_drop(flows, &v.key), XK_E_NOENT);
		CU_ASSERT_EQUAL(run(fd, f, 120), (int)xk_hash_vp(v.hash, NVPS));
	}
	close(fd);
	close(flows);
}

static void xdp_obeys_bound_connections(void)
{
	flows_are_obeyed(make_xdp);
}

static void fanout_obeys_bound_connections(void)
{
	flows_are_obeyed(make_fanout);
}

/* Connections come and go in the flow table; the device's program knows where each lives. */
static void a_map_follows_the_flow_table(void)
{
	struct xk_ebpf_flows m;
	struct xk_flowtab *tab;
	struct xk_flow *flow[2];
	struct xk_pat_verdict v, w;
	uint8_t f[FRAME], g[FRAME];
	int fd;

	CU_ASSERT_EQUAL_FATAL(xk_flowtab_new(&tab, NVPS), XK_OK);
	find_flow(&w, g, 2);
	CU_ASSERT_EQUAL_FATAL(xk_flow_bind(tab, &w.key, 2, NULL, &flow[1]), XK_OK);   /* before anybody follows */
	CU_ASSERT_EQUAL_FATAL(xk_ebpf_follow(&m, tab, 2, why, sizeof why), XK_OK);
	fd = xk_pattern_xdp(&inet, NVPS, -1, m.fd, why, sizeof why);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(run(fd, g, 120), 2);
	for (unsigned i = 0; i < 20; i++) {
		unsigned vp = i % NVPS, home;

		do
			find_flow(&v, f, vp);
		while (memcmp(&v.key, &w.key, sizeof v.key) == 0);
		home = xk_hash_vp(v.hash, NVPS);
		CU_ASSERT_EQUAL_FATAL(xk_flow_bind(tab, &v.key, (uint16_t)vp, NULL, &flow[0]), XK_OK);
		CU_ASSERT_EQUAL(run(fd, f, 120), (int)vp);
		xk_flow_unbind(tab, flow[0]);
		CU_ASSERT_EQUAL(run(fd, f, 120), (int)home);
		/* At home it needs no entry. */
		CU_ASSERT_EQUAL_FATAL(xk_flow_bind(tab, &v.key, (uint16_t)home, NULL, &flow[0]), XK_OK);
		CU_ASSERT_EQUAL(run(fd, f, 120), (int)home);
		xk_flow_unbind(tab, flow[0]);
	}
	CU_ASSERT_EQUAL(m.set, 21);
	CU_ASSERT_EQUAL(m.dropped, 20);
	xk_ebpf_unfollow(&m);
	CU_ASSERT_EQUAL(m.fd, -1);
	xk_ebpf_unfollow(&m);
	xk_flow_unbind(tab, flow[1]);
	xk_flowtab_free(tab);
	close(fd);
}

static void a_full_map_of_flows_says_so(void)
{
	int flows = xk_ebpf_flows_new(4, why, sizeof why), err = XK_OK;
	struct xk_flowkey k = { .raddr = 1 };

	CU_ASSERT_FATAL(flows >= 0);
	for (k.lport = 0; k.lport < 4096 && err == XK_OK; k.lport++)
		err = xk_ebpf_flows_set(flows, &k, 1);
	CU_ASSERT_EQUAL(err, XK_E_NOSPC);
	close(flows);
	CU_ASSERT_EQUAL(xk_ebpf_flows_set(flows, &k, 1), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_ebpf_flows_drop(flows, &k), XK_E_BADF);
}

/* ---- sockets and refusals ------------------------------------------------------------------------ */

static void without_a_socket_xdp_passes_frames_on(void)
{
	int map = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "test", 4, 4, NVPS, NULL), fd;
	uint8_t f[FRAME];

	CU_ASSERT_FATAL(map >= 0);
	fd = xk_pattern_xdp(&inet, NVPS, map, -1, why, sizeof why);
	CU_ASSERT_FATAL(fd >= 0);
	pattern_frame(&inet, &dice, f);
	CU_ASSERT_EQUAL(run(fd, f, 120), XDP_PASS);
	close(fd);
	close(map);
}

static void too_many_vps_and_bad_maps_are_refused_with_a_sentence(void)
{
	CU_ASSERT_EQUAL(xk_pattern_xdp(&inet, 0, -1, -1, why, sizeof why), XK_E_NOTSUP);
	CU_ASSERT_STRING_EQUAL(why, "0 VPs: 1 to 65535");
	CU_ASSERT_EQUAL(xk_pattern_fanout(&inet, 70000, -1, why, sizeof why), XK_E_NOTSUP);
	CU_ASSERT_STRING_EQUAL(why, "70000 VPs: 1 to 65535");
	CU_ASSERT(xk_pattern_xdp(&inet, NVPS, 1000000, -1, why, sizeof why) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "1000000"));
}

static void a_refused_program_shows_the_verifiers_last_words(void)
{
	static const struct bpf_insn bad[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_5 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	CU_ASSERT(ebpf_load_prog(BPF_PROG_TYPE_XDP, "bad", bad, 2, why, sizeof why) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "the verifier refused the program bad (2 instructions)"));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "R5 !read_ok"));
	CU_ASSERT(ebpf_load_prog(BPF_PROG_TYPE_XDP, "bad", bad, 2, why, 8) < 0);
	CU_ASSERT_EQUAL(strlen(why), 7);
}

static CU_TestInfo tests[] = {
	{ "xdp sends frames where the reference says", xdp_sends_frames_where_the_reference_says },
	{ "fanout sends frames where the reference says", fanout_sends_frames_where_the_reference_says },
	{ "xdp obeys bound connections", xdp_obeys_bound_connections },
	{ "fanout obeys bound connections", fanout_obeys_bound_connections },
	{ "a map follows the flow table", a_map_follows_the_flow_table },
	{ "a full map of flows says so", a_full_map_of_flows_says_so },
	{ "without a socket xdp passes frames on", without_a_socket_xdp_passes_frames_on },
	{ "too many vps and bad maps are refused with a sentence", too_many_vps_and_bad_maps_are_refused_with_a_sentence },
	{ "a refused program shows the verifiers last words", a_refused_program_shows_the_verifiers_last_words },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { "ebpf steering", NULL, NULL, make_patterns, NULL, tests }, CU_SUITE_INFO_NULL };
	int fd, code;

	fd = xk_pattern_fanout(&nothing, 1, -1, why, sizeof why);
	if (fd < 0)
		xk_test_skip_all(why);
	close(fd);
	xk_rcu_register();
	code = xk_test_main(suites);
	xk_rcu_unregister();
	return code;
}
