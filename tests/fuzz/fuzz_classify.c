/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_classify.c - whatever the bytes: every back end says what the reference says.
 *
 * The first byte of an input names a world (worlds.h); then come frames, each with a byte of
 * its length before it, and length 255 binds the connection of the frame that follows, or
 * unbinds it.  A difference aborts.  `make fuzz` runs it under libFuzzer;
 * fuzz_replay.c runs the corpus as an ordinary test.
 * Invariant: nothing is kept from one input to the next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_errs.h"
#include "tests/runtime/classify/worlds.h"

#define NVPS      7u
#define BURST     32u
#define FLOWS     16u
#define BIND      255u
#define BACK_ENDS 8u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct xk_flowtab *tab;
static struct xk_classifier *cls[WORLDS][BACK_ENDS];
static struct xk_flow *flow[FLOWS];
static char none_mem;

static void make_all(void)
{
	char why[256];

	xk_rcu_register();
	if (worlds_make() != NULL || xk_flowtab_new(&tab, NVPS) != XK_OK)
		abort();
	for (unsigned w = 0; w < WORLDS; w++)
		for (unsigned b = 0, n = 0; xk_classifier_table[b] != NULL && n < BACK_ENDS; b++)
			if (strcmp(xk_classifier_table[b]->name, "none") != 0 &&
			    xk_classifier_new(&cls[w][n], xk_classifier_table[b]->name, &world[w].pat, tab, why, sizeof why) == XK_OK)
				n++;
}

static void toggle(const struct xk_pattern *p, const uint8_t *frame, uint32_t len)
{
	struct xk_pat_verdict v;
	struct xk_flow **f;

	xk_pattern_match(p, frame, len, &v);
	f = &flow[v.hash % FLOWS];
	if (*f != NULL)
		xk_flow_unbind(tab, *f);
	else if (v.kind == XK_PAT_FLOW)
		xk_flow_bind(tab, &v.key, (uint16_t)(v.hash % NVPS), (struct xk_sess *)(void *)&none_mem, f);
	if (*f != NULL && !(*f)->node.bound)
		*f = NULL;
}

/* Frames in blocks of their own length: the sanitizer sees a byte read too far. */
static void judge(unsigned w, const uint8_t *const *frame, const uint32_t *len, unsigned n)
{
	struct xk_msg msg[BURST], *m[BURST];

	for (unsigned i = 0; i < n; i++) {
		uint8_t *copy = malloc(len[i] + !len[i]);

		if (copy == NULL)
			abort();
		memcpy(copy, frame[i], len[i]);
		msg[i] = (struct xk_msg){ .data = copy, .len = len[i], .tot = len[i] };
		m[i] = &msg[i];
	}
	xk_rcu_read_lock();
	for (unsigned b = 0; b < BACK_ENDS && cls[w][b] != NULL; b++) {
		xk_classify(cls[w][b], m, n);
		for (unsigned i = 0; i < n; i++) {
			struct xk_verdict v;

			xk_classify_verdict(&world[w].pat, tab, msg[i].data, len[i], &v);
			if (msg[i].hash == v.pat.hash && msg[i].vp == v.vp && msg[i].u.v.flow == v.flow && msg[i].u.v.gen == v.gen)
				continue;
			fprintf(stderr, "%s, %s: frame %u of %u bytes: hash %08x VP %u, not %08x VP %u\n", world[w].name,
				cls[w][b]->ops->name, i, len[i], msg[i].hash, msg[i].vp, v.pat.hash, v.vp);
			abort();
		}
	}
	xk_rcu_read_unlock();
	for (unsigned i = 0; i < n; i++)
		free(msg[i].data);
}

/* Cuts the input into frames; a burst ends where it is full or something is bound. */
static void play(unsigned w, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *frame[BURST];
	uint32_t len[BURST];
	unsigned n = 0;

	while (p < end) {
		unsigned want = *p++;
		bool bind = want == BIND && p < end;

		if (bind)
			want = *p++;
		if (want > (size_t)(end - p))
			want = (unsigned)(end - p);
		if (bind || n == BURST) {
			judge(w, frame, len, n);
			n = 0;
		}
		if (bind)
			toggle(&world[w].pat, p, want);
		frame[n] = p;
		len[n++] = want;
		p += want;
	}
	judge(w, frame, len, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (tab == NULL)
		make_all();
	if (size == 0)
		return 0;
	play(data[0] % WORLDS, data + 1, data + size);
	for (unsigned i = 0; i < FLOWS; i++)
		if (flow[i] != NULL) {
			xk_flow_unbind(tab, flow[i]);
			flow[i] = NULL;
		}
	return 0;
}
