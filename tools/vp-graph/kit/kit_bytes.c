/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_bytes.c - clauses: what is pushed comes up byte for byte, and back again; each message is consumed once.
 *
 * Both have probes at the ends; where the protocol is an application itself, or what is above it
 * is no port and no stream, only the second is tried, with the applications of the scene.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define STREAM_MOST 16384u       /* a push of so many fits the buffers of any stream */
#define WAIT (10 * XK_SEC)       /* somebody may have to be asked for an address first, and again */

static void fill(struct xk_rand *r, uint8_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)xk_rand_u64(r);
}

/* What the one side has got of connection conn, as one piece; *pieces: of how many messages. */
static uint8_t *all_of(bool answers, uint32_t *len, unsigned *pieces)
{
	uint8_t *all;
	uint32_t n = 0;

	*len = *pieces = 0;
	for (unsigned i = 0; i < kit_gots.n; i++)
		if (kit_gots.v[i].answers == answers) {
			*len += kit_gots.v[i].len;
			++*pieces;
		}
	all = malloc(*len + 1);
	for (unsigned i = 0; all != NULL && i < kit_gots.n; i++)
		if (kit_gots.v[i].answers == answers) {
			memcpy(all + n, kit_gots.v[i].bytes, kit_gots.v[i].len);
			n += kit_gots.v[i].len;
		}
	return all;
}

/* One side's share of a message of n bytes at b. */
static void compare(struct kit *k, const struct kit_world *w, bool answers, const uint8_t *b, uint32_t n)
{
	const char *way = answers ? "down one side and up the other" : "back up from the answer";
	unsigned pieces;
	uint32_t len, at = 0;
	uint8_t *all = all_of(answers, &len, &pieces);

	if (all == NULL)
		kit_fail(k, "out of memory");
	else if (len != n)
		kit_fail(k, "%u bytes pushed, %u came %s, in %u messages", n, len, way, pieces);
	else if (!kit_is_stream(w) && pieces != 1)
		kit_fail(k, "a message of %u bytes came %s in %u", n, way, pieces);
	while (!kit_found_any(k) && at < n && all[at] == b[at])
		at++;
	if (!kit_found_any(k) && at < n)
		kit_fail(k, "of %u bytes pushed, byte %u was 0x%02x and came %s as 0x%02x", n, at, b[at], way, all[at]);
	free(all);
}

static bool exchange(struct kit *k, struct kit_world *w, struct xk_sess *s, const uint8_t *b, uint32_t n)
{
	kit_at(k, "a message of %u bytes", n);
	kit_gots_clear();
	if (!kit_push(w, s, b, n)) {
		kit_fail(k, "no memory for %u bytes", n);
		return false;
	}
	kit_pass_time(w, WAIT);
	compare(k, w, true, b, n);
	if (!kit_found_any(k))
		compare(k, w, false, b, n);
	return !kit_found_any(k);
}

/* The i-th length: the short ones, those around what fits a buffer or a frame, the longest, then any. */
static uint32_t length(struct xk_rand *r, unsigned i, uint32_t longest)
{
	static const uint32_t some[] = { 1, 2, 3, 4, 7, 8, 15, 16, 31, 63, 64, 65, 255, 256, 500, 512, 1000, 1400, 1472, 1473,
					 1500, 2048, 4096, 8192 };
	uint32_t n = 1 + (uint32_t)xk_rand_below(r, longest);

	if (i < XK_ARRAY_LEN(some))
		n = some[i];
	else if (i <= XK_ARRAY_LEN(some) + 1 && longest > 1)
		n = longest - (i - XK_ARRAY_LEN(some));

	return n > longest ? longest : n;
}

static unsigned talk(struct kit *k, struct kit_world *w)
{
	struct xk_rand r;
	uint32_t longest;
	unsigned done = 0;
	struct xk_sess *s;
	uint8_t *b;
	int err;

	xk_rand_init(&r, k->seed, 1);
	s = kit_open(w, 0, 0, &err);
	if (s == NULL) {
		kit_fail(k, "cannot be opened: %s", xk_strerror(err));
		return 0;
	}
	kit_pass_time(w, WAIT);
	longest = kit_is_stream(w) ? STREAM_MOST : kit_longest(w, s);
	if (longest == 0)
		kit_fail(k, "XK_CTL_GETMAXPACKET is not answered by its session, nor below");
	if (longest > 65535)
		longest = 65535;
	b = malloc(longest + 1);
	for (; b != NULL && !kit_found_any(k) && done < 26 + k->rounds; done++) {
		uint32_t n = length(&r, done, longest);

		fill(&r, b, n);
		(void)exchange(k, w, s, b, n);
	}
	free(b);
	kit_close(w, s);
	return done;
}

static bool no_probes(struct kit *k, const struct kit_world *w)
{
	if (kit_has_probes(w))
		return false;
	if (k->proto->offers == NULL)
		kit_skip(k, "an application: nothing is pushed to it");
	else if (k->is_file)
		kit_skip(k, "the graph has no kit_probe at its ends");
	else
		kit_skip(k, "what is over '%s' is no port and no stream", k->proto->offers);
	return true;
}

/* Real time cannot be stepped. */
static bool starts(struct kit *k, struct kit_world *w, const struct kit_how *how)
{
	if (k->real) {
		kit_skip(k, "it does not run in virtual time");
		*w = (struct kit_world){ .k = k, .live = xk_alloc_live() };
		return false;
	}
	return kit_start(w, k, how);
}

void kit_clause_bytes(struct kit *k)
{
	struct kit_how how = { .probes = true };
	struct kit_world w;
	unsigned done = 0;

	if (starts(k, &w, &how) && !no_probes(k, &w))
		done = talk(k, &w);
	kit_gots_clear();
	kit_down(&w);
	kit_pass(k, "%u messages there and back", done);
}

/* ---- each message is consumed once ------------------------------------------------------------------- */

/* After everything has come to rest nothing is out. */
static void look(struct kit *k, struct kit_world *w)
{
	int64_t out;

	if (!w->g->vps->clock.is_virtual || !kit_ends(w))
		return;
	kit_let_go(w);
	kit_rest(w);
	out = kit_buffers(w);
	if (out < 0)
		kit_fail(k, "%lld buffers more came back than were taken: a message was consumed twice", (long long)-out);
	else if (out > 0 && !k->proto->is_driver)      /* which may keep some ready; what they lose shows at the end */
		kit_fail(k, "%lld buffers are still out when all is at rest: a message was not consumed", (long long)out);
}

/* A few of all kinds, of which the last find nobody: their session is closed. */
static void spend(struct kit *k, struct kit_world *w)
{
	static const uint32_t sizes[] = { 0, 1, 64, 1400, 4000 };
	uint8_t b[4000] = { 1, 2, 3 };
	bool stream = kit_is_stream(w);
	int err;

	for (unsigned i = stream; i < XK_ARRAY_LEN(sizes) && !kit_found_any(k); i++) {
		struct xk_sess *s = kit_open(w, 0, i, &err);

		if (s == NULL) {
			kit_fail(k, "cannot be opened: %s", xk_strerror(err));
			return;
		}
		kit_pass_time(w, XK_SEC);
		kit_at(k, "a message of %u bytes", sizes[i]);
		if (sizes[i] <= (stream ? STREAM_MOST : kit_longest(w, s)))
			(void)kit_push(w, s, b, sizes[i]);
		kit_pass_time(w, XK_SEC);
		(void)kit_push(w, s, b, 1);
		kit_close(w, s);
		look(k, w);
		if (kit_found_any(k))
			kit_more(k, " (messages of %u bytes)", sizes[i]);
	}
}

void kit_clause_consumed(struct kit *k)
{
	struct kit_how how = { .probes = true }, as_is = { .count = 10 };
	bool probes = false;
	struct kit_world w;

	if (!k->real) {
		if (kit_start(&w, k, &how) && kit_has_probes(&w)) {
			probes = true;
			spend(k, &w);
		}
		kit_gots_clear();
		kit_down(&w);
	}
	if (kit_found_any(k))
		return;
	kit_at(k, "the applications of the scene");
	if (kit_start(&w, k, &as_is) && kit_talk(&w))
		look(k, &w);
	kit_down(&w);
	kit_pass(k, "nothing is out after %sa run", probes ? "messages of 0 to 4000 bytes, nor after " : "");
}
