/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_filter.c - what a verdict on a frame costs: libpcap's bpf_filter, our engine on
 * the same program, and 1024 users' filters beside one.
 *
 * Frames are 64 bytes of UDP, a burst of 32, hot.  The best of several short stretches counts,
 * for both sides: interruptions only ever add.
 */
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_cbpf.h"
#include "runtime/classify/xk_filters.h"

#define BURST   32u
#define FRAME   64u
#define MANY    1024u
#define PORT    2000u
#define STRETCH 200u             /* bursts timed together */

/* One user's filter, and frames that it takes or its neighbours do. */
struct job {
	struct bpf_program   prog;
	struct xk_cbpf      *engine;
	struct xk_filters   *filters;
	unsigned             nframe;     /* so many different ones, in turn */
	uint8_t              frame[MANY][FRAME];
	const uint8_t       *at[MANY];
	uint32_t             len[MANY];
	uint64_t             taken;
};
typedef void (*burst_fn)(struct job *j, unsigned from);

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const struct sock_filter *insns(const struct bpf_program *b)
{
	return (const struct sock_filter *)(const void *)b->bf_insns;
}

static bool compiled(pcap_t *dead, struct bpf_program *b, unsigned port)
{
	char text[128];

	snprintf(text, sizeof text, "src host 10.0.0.1 and dst host 10.0.0.2 and udp src port 1000 and dst port %u", port);
	return dead != NULL && pcap_compile(dead, b, text, 1, PCAP_NETMASK_UNKNOWN) == 0;
}

static void fill(struct job *j, unsigned nframe)
{
	static const uint8_t head[FRAME] = { [12] = 0x08, 0x00, 0x45, 0, 0, 50, [22] = 64, 17, [26] = 10, 0, 0, 1, 10, 0, 0, 2,
		1000 >> 8, 1000 & 0xff };

	j->nframe = nframe;
	for (unsigned i = 0; i < MANY; i++) {
		memcpy(j->frame[i], head, FRAME);
		xk_put_be16(j->frame[i] + 36, (uint16_t)(PORT + i % nframe * 37 % nframe));
		j->at[i] = j->frame[i];
		j->len[i] = FRAME;
	}
}

static struct job *job_new(unsigned nframe, unsigned nfilter)
{
	struct job *j = calloc(1, sizeof(*j));
	pcap_t *dead = pcap_open_dead(DLT_EN10MB, FRAME);
	char why[GOAL_TEXT];
	bool good = j != NULL && compiled(dead, &j->prog, PORT) && xk_filters_new(&j->filters) == XK_OK &&
		xk_cbpf_new(&j->engine, insns(&j->prog), j->prog.bf_len, XK_CBPF_BEST, why, sizeof why) == XK_OK;

	for (unsigned i = 0; good && i < nfilter; i++) {
		struct bpf_program b;

		good = compiled(dead, &b, PORT + i);
		if (good) {
			good = xk_filters_add(j->filters, insns(&b), b.bf_len, why, sizeof why) >= 0;
			pcap_freecode(&b);
		}
	}
	if (dead != NULL)
		pcap_close(dead);
	if (good)
		fill(j, nframe);
	return good ? j : NULL;
}

static void job_free(struct job *j)
{
	pcap_freecode(&j->prog);
	xk_cbpf_free(j->engine);
	xk_filters_free(j->filters);
	free(j);
}

static void by_libpcap(struct job *j, unsigned from)
{
	for (unsigned i = from; i < from + BURST; i++)
		j->taken += bpf_filter(j->prog.bf_insns, j->at[i], j->len[i], j->len[i]) != 0;
}

static void by_engine(struct job *j, unsigned from)
{
	uint32_t said[BURST];

	xk_cbpf_burst(j->engine, j->at + from, j->len + from, BURST, said);
	for (unsigned i = 0; i < BURST; i++)
		j->taken += said[i] != 0;
}

static void by_filters(struct job *j, unsigned from)
{
	uint16_t taker[4];

	for (unsigned i = from; i < from + BURST; i++)
		j->taken += xk_filters_match(j->filters, j->at[i], j->len[i], taker, 4);
}

/* Every frame is taken by exactly one filter, or it is not this job. */
static enum goal_fault best(struct goals *g, unsigned nframe, unsigned nfilter, burst_fn fn, double *v, char *why)
{
	struct job *j = job_new(nframe, nfilter);
	double end = cpu_now() + (double)g->time / 4, t0, t1;
	uint64_t want = 0;
	unsigned at = 0;

	if (j == NULL) {
		snprintf(why, GOAL_TEXT, "the filters cannot be made");
		return SIDE_FAILED;
	}
	*v = 1e9;
	do {
		t0 = cpu_now();
		for (unsigned i = 0; i < STRETCH; i++, at = (at + BURST) % MANY)
			fn(j, at);
		t1 = cpu_now();
		want += (uint64_t)STRETCH * BURST;
		if ((t1 - t0) / (STRETCH * BURST) < *v)
			*v = (t1 - t0) / (STRETCH * BURST);
	} while (t1 < end);
	if (j->taken != want)
		snprintf(why, GOAL_TEXT, "%llu of %llu frames were taken", (unsigned long long)j->taken,
			 (unsigned long long)want);
	want -= j->taken;
	job_free(j);
	return want == 0 ? SIDE_OK : SIDE_FAILED;
}

enum goal_fault side_bpf_filter(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	return best(g, 1, 1, by_libpcap, v, why);
}

enum goal_fault side_cbpf(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	return best(g, 1, 1, by_engine, v, why);
}

enum goal_fault side_one_filter(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	return best(g, 1, 1, by_filters, v, why);
}

enum goal_fault side_many_filters(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	(void)s;
	return best(g, MANY, MANY, by_filters, v, why);
}
