/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_sessions.c - clause: sessions on four virtual processors, closed in another order than they were opened in, and
 * opened again, stay apart, and none is left.
 */
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define VPS 4u
#define EACH 6u
#define ALL (VPS * EACH)
#define ANSWER (10 * XK_SEC)     /* somebody may have to be asked for an address first, and again */

struct set { struct xk_sess *s[ALL]; unsigned order[ALL]; };

static void shuffle(struct xk_rand *r, unsigned *order)
{
	for (unsigned i = 0; i < ALL; i++)
		order[i] = i;
	for (unsigned i = ALL - 1; i > 0; i--) {
		unsigned j = (unsigned)xk_rand_below(r, i + 1), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
}

static bool open_all(struct kit *k, struct kit_world *w, struct set *t)
{
	int err;

	memset(t->s, 0, sizeof t->s);
	for (unsigned i = 0; i < ALL; i++) {
		unsigned vp = t->order[i] % VPS;

		kit_at(k, "session %u, on virtual processor %u", t->order[i], vp);
		t->s[t->order[i]] = kit_open(w, vp, t->order[i], &err);
		if (t->s[t->order[i]] == NULL) {
			kit_fail(k, "session %u of %u cannot be opened on virtual processor %u: %s", i + 1, ALL, vp, xk_strerror(err));
			return false;
		}
	}
	kit_pass_time(w, XK_SEC);
	return true;
}

/* What session no asks is its own; the answer must come to it, on its virtual processor. */
static void ask(struct kit *k, struct kit_world *w, const struct set *t, unsigned no)
{
	uint8_t b[40];
	unsigned got = 0;

	memset(b, (int)(no + 1), sizeof b);
	kit_at(k, "a message of session %u", no);
	kit_gots_clear();
	if (!kit_push(w, t->s[no], b, sizeof b))
		kit_fail(k, "out of memory");
	kit_pass_time(w, ANSWER);
	for (unsigned i = 0; i < kit_gots.n; i++) {
		const struct kit_got *g = &kit_gots.v[i];

		if (g->answers)
			continue;
		got += g->len;
		if (g->conn != no)
			kit_fail(k, "the answer of session %u came to session %d", no, (int)g->conn);
		else if (g->vp != no % VPS)
			kit_fail(k, "the answer of a session of virtual processor %u came on %u", no % VPS, g->vp);
		else if (g->len > sizeof b || memcmp(g->bytes, b, g->len) != 0)
			kit_fail(k, "the answer of session %u has other bytes", no);
	}
	if (!kit_found_any(k) && got != sizeof b)
		kit_fail(k, "session %u got %u of %zu bytes back", no, got, sizeof b);
}

/* All of them closed but those that still ask. */
static void close_all(struct kit *k, struct kit_world *w, struct set *t, struct xk_rand *r)
{
	shuffle(r, t->order);
	for (unsigned i = 0; i < ALL && !kit_found_any(k); i++) {
		unsigned no = t->order[i], still = t->order[ALL - 1];

		kit_at(k, "closing session %u", no);
		kit_close(w, t->s[no]);
		t->s[no] = NULL;
		if (i % 5 == 0 && no != still)
			ask(k, w, t, still);
	}
}

static uint64_t sessions(const struct kit_world *w)
{
	const struct xk_node *n;
	uint64_t sum = 0;

	for (unsigned i = 0; (n = kit_node(w, i)) != NULL; i++)
		sum += kit_sessions(n);
	return sum;
}

/* After the second time no more than after the first: what is kept for the next one may stay. */
static void none_left(struct kit *k, struct kit_world *w, uint64_t before)
{
	kit_at(k, "the time after all were closed");
	kit_pass_time(w, XK_SEC);
	kit_let_go(w);
	kit_rest(w);
	if (sessions(w) > before)
		kit_fail(k, "%llu of its sessions are left after all were closed again and 40 minutes went by, %llu the first time",
			 (unsigned long long)sessions(w), (unsigned long long)before);
}

static void round_of(struct kit *k, struct kit_world *w, struct xk_rand *r, uint64_t *before)
{
	struct set t;

	shuffle(r, t.order);
	if (!open_all(k, w, &t))
		return;
	for (unsigned i = 0; i < ALL && !kit_found_any(k); i++)
		ask(k, w, &t, i);
	close_all(k, w, &t, r);
	if (!kit_found_any(k))
		none_left(k, w, *before);
	*before = sessions(w);
}

void kit_clause_sessions(struct kit *k)
{
	struct kit_how how = { .preset = "vppc { vps = 4 }", .probes = true };
	struct kit_world w;
	uint64_t before = ALL;
	struct xk_rand r;

	xk_rand_init(&r, k->seed, 2);
	if (k->real) {
		kit_skip(k, "it does not run in virtual time");
		return;
	}
	if (kit_start(&w, k, &how)) {
		if (!kit_has_probes(&w))
			kit_skip(k, k->proto->offers == NULL ? "an application: nobody opens sessions of it" :
				 "the graph has no kit_probe at its ends");
		for (unsigned i = 0; i < 2 && !kit_found_any(k); i++)
			round_of(k, &w, &r, &before);
	}
	kit_gots_clear();
	kit_down(&w);
	kit_pass(k, "%u sessions, twice", ALL);
}
