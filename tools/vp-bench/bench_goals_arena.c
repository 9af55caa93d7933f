/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_arena.c - a program in the kernel decides about 256 frames in one call, beside
 * one call for each frame.
 *
 * Both programs are made from one pattern, UDP over IPv4 over Ethernet as the protocols declare
 * it, and see the same frames of 256 connections.  Ours counts what a burst costs altogether:
 * headers into the arena, the call, verdicts out.  The reference is XDP's program run on one
 * frame, which also ends in a VP.  The best of short stretches counts for both, in processor
 * time: interruptions only ever add.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#ifdef XK_HAVE_LIBBPF
#include <bpf/bpf.h>
#endif
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/classify/xk_ebpf.h"
#include "runtime/upi/xk_graph.h"

#define FRAMES 256u
#define BYTES  106u                     /* 64 of payload */
#define ROUND  64u

static uint8_t frame[FRAMES][BYTES];

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static bool make_pattern(struct xk_pattern *p, char *why)
{
	static const char *const name[] = { "eth", "ip", "udp" };
	static const uint32_t number[] = { 0, 0x0800, 17 };
	int at = XK_PAT_ABOVE;

	memset(p, 0, sizeof(*p));
	for (unsigned i = 0; i < XK_ARRAY_LEN(name) && at >= 0; i++)
		at = xk_pattern_add(p, (unsigned)at, number[i], name[i], name[i], xk_proto_find(name[i])->demux, why, GOAL_TEXT);
	return at >= 0;
}

/* From 10.0.x.1 to 10.0.0.2, ports that differ too. */
static void make_frames(void)
{
	for (unsigned i = 0; i < FRAMES; i++) {
		uint8_t *ip = frame[i] + 14;

		xk_put_be16(frame[i] + 12, 0x0800);
		ip[0] = 0x45;
		ip[9] = 17;
		xk_put_be32(ip + 12, 0x0a000001 + (i << 8));
		xk_put_be32(ip + 16, 0x0a000002);
		xk_put_be16(ip + 20, (uint16_t)(1024 + i * 7));
		xk_put_be16(ip + 22, 6000);
	}
}

/* Key, hash and kind in one number. */
static uint64_t said(const struct xk_pat_verdict *v)
{
	uint64_t w[3];

	memcpy(w, v, sizeof w);
	return w[0] + w[1] + (w[2] & UINT64_C(0xffffffffffffff));
}

/* One burst; the sum of its verdicts, so that nobody leaves any out. */
static uint64_t burst(struct xk_ebpf *e, bool *ok)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < FRAMES; i++)
		xk_ebpf_put(e, i, frame[i], BYTES);
	*ok = *ok && xk_ebpf_call(e, FRAMES);
	for (unsigned i = 0; i < FRAMES; i++)
		sum += said(xk_ebpf_verdict(e, i, frame[i], BYTES));
	return sum;
}

static uint64_t right_sum(const struct xk_pattern *p)
{
	struct xk_pat_verdict v;
	uint64_t sum = 0;

	for (unsigned i = 0; i < FRAMES; i++) {
		xk_pattern_match(p, frame[i], BYTES, &v);
		sum += said(&v);
	}
	return sum;
}

enum goal_fault side_arena(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct xk_pattern p;
	struct xk_ebpf *e;
	uint64_t right;
	double began = cpu_now(), t0;
	bool ok = true;

	(void)s;
	make_frames();
	if (!make_pattern(&p, why) || xk_ebpf_open(&e, &p, XK_EBPF_ARENA, FRAMES, why, GOAL_TEXT) != XK_OK)
		return SIDE_FAILED;
	right = right_sum(&p);
	*v = 1e18;
	do {
		t0 = cpu_now();
		for (unsigned i = 0; i < ROUND; i++)
			ok = burst(e, &ok) == right && ok;
		t0 = (cpu_now() - t0) / (ROUND * FRAMES);
		*v = t0 < *v ? t0 : *v;
	} while (cpu_now() - began < (double)g->time && ok);
	xk_ebpf_close(e);
	if (!ok)
		snprintf(why, GOAL_TEXT, "the program in the arena said something wrong");
	return ok ? SIDE_OK : SIDE_FAILED;
}

#ifdef XK_HAVE_LIBBPF

#define VPS 4u

static bool one_call(int fd, const struct xk_pattern *p, unsigned i)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame[i], .data_size_in = BYTES, .repeat = 1);
	struct xk_pat_verdict v;

	if (bpf_prog_test_run_opts(fd, &o) != 0)
		return false;
	if (p == NULL)
		return true;
	xk_pattern_match(p, frame[i], BYTES, &v);
	return o.retval == xk_hash_vp(v.hash, VPS);
}

enum goal_fault side_xdp_run(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	struct xk_pattern p;
	double began = cpu_now(), t0;
	bool ok = true;
	int fd;

	(void)s;
	make_frames();
	if (!make_pattern(&p, why) || (fd = xk_pattern_xdp(&p, VPS, -1, -1, why, GOAL_TEXT)) < 0)
		return SIDE_FAILED;
	for (unsigned i = 0; i < FRAMES; i++)
		ok = one_call(fd, &p, i) && ok;
	*v = 1e18;
	do {
		t0 = cpu_now();
		for (unsigned i = 0; i < FRAMES; i++)
			ok = one_call(fd, NULL, i) && ok;
		t0 = (cpu_now() - t0) / FRAMES;
		*v = t0 < *v ? t0 : *v;
	} while (cpu_now() - began < (double)g->time && ok);
	close(fd);
	if (!ok)
		snprintf(why, GOAL_TEXT, "the XDP program said something wrong");
	return ok ? SIDE_OK : SIDE_FAILED;
}

#else

enum goal_fault side_xdp_run(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)g, (void)s, (void)v;
	snprintf(why, GOAL_TEXT, "built without libbpf: install libbpf-dev and build again");
	return SIDE_FAILED;
}

#endif

const char *goal_lacks_arena(struct goals *g, const struct goal_side *s)
{
	static const struct xk_pattern nothing;
	static char why[GOAL_TEXT];
	struct xk_ebpf *e;

	(void)g, (void)s;
	if (xk_ebpf_open(&e, &nothing, XK_EBPF_ARENA, 1, why, sizeof why) != XK_OK)
		return why;
	xk_ebpf_close(e);
	return NULL;
}
