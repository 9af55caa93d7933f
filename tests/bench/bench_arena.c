/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_arena.c - nanoseconds a frame takes a program in the kernel, in batches of 1 to 1024.
 *
 * Frames are of UDP over IPv4 over Ethernet, each of another connection.  "arena" and "context"
 * are what a batch costs altogether, with what goes in and out; "program" is the arena's call
 * alone.  The best of many rounds counts.  The last line is XDP's program run on one frame.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_ebpf.h"
#include "tests/runtime/classify/patterns.h"

#define MOST   1024u
#define BYTES  106u
#define ROUNDS 2000u

static uint8_t frame[MOST][BYTES];
static struct xk_pattern p;
static char why[512];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void make_frames(void)
{
	for (unsigned i = 0; i < MOST; i++) {
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

static void keep_least(double *best, double t)
{
	if (t < *best)
		*best = t;
}

/* All of a verdict. */
static uint64_t said(const struct xk_pat_verdict *v)
{
	uint64_t w[3];

	memcpy(w, v, sizeof w);
	return w[0] ^ w[1] ^ w[2];
}

/* Best times of a batch of n: altogether, and the call alone; 0 where it can't be. */
static void measure(struct xk_ebpf *e, unsigned n, double *all, double *alone)
{
	uint64_t sum = 0;

	*all = *alone = 1e18;
	for (unsigned r = 0; r < ROUNDS; r++) {
		double t0 = now(), t1, t2;

		for (unsigned i = 0; i < n; i++)
			xk_ebpf_put(e, i, frame[i], BYTES);
		t1 = now();
		if (!xk_ebpf_call(e, n))
			return;
		t2 = now();
		for (unsigned i = 0; i < n; i++)
			sum += said(xk_ebpf_verdict(e, i, frame[i], BYTES));
		keep_least(all, now() - t0);
		keep_least(alone, t2 - t1);
	}
	if (sum == 0)
		puts("nothing was decided");
	*all /= n;
	*alone /= n;
}

static struct xk_ebpf *make(enum xk_ebpf_kind kind)
{
	struct xk_ebpf *e;

	if (xk_ebpf_open(&e, &p, kind, MOST, why, sizeof why) != XK_OK)
		fprintf(stderr, "%s\n", why);
	return e;
}

static void measure_xdp(void)
{
	int fd = xk_pattern_xdp(&p, 4, -1, -1, why, sizeof why);
	double best = 1e18;

	if (fd < 0) {
		fprintf(stderr, "%s\n", why);
		return;
	}
	for (unsigned r = 0; r < ROUNDS; r++) {
		LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame[r % MOST], .data_size_in = BYTES, .repeat = 1);
		double t0 = now();

		bpf_prog_test_run_opts(fd, &o);
		keep_least(&best, now() - t0);
	}
	printf("XDP, a call for each frame: %.0f ns\n", best);
	close(fd);
}

int main(void)
{
	struct xk_ebpf *arena, *context;
	double all, alone;

	pattern_make(&p, "eth");
	make_frames();
	arena = make(XK_EBPF_ARENA);
	context = make(XK_EBPF_CONTEXT);
	printf("%8s %10s %10s %10s   ns a frame\n", "batch", "arena", "program", "context");
	for (unsigned n = 1; n <= MOST; n *= 2) {
		printf("%8u", n);
		if (arena != NULL) {
			measure(arena, n, &all, &alone);
			printf(" %10.1f %10.1f", all, alone);
		}
		if (context != NULL && n <= xk_ebpf_slots(context)) {
			measure(context, n, &all, &alone);
			printf(" %10.1f", all);
		}
		printf("\n");
	}
	measure_xdp();
	xk_ebpf_close(arena);
	xk_ebpf_close(context);
	return 0;
}
