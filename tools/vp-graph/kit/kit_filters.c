/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_filters.c - clause: whichever classifier a device has, and where it has none, the same connections get the same
 * bytes; and what a device decided by a declaration is what the protocol finds.
 *
 * A device's filter is made of the declarations (.demux) of all that is above it.  Where the device
 * decides nothing, each protocol looks into its header itself: that is what the others are held to.  A wrong
 * declaration loses nothing, since messages are sent on to where they belong; it shows as messages that
 * come up on another virtual processor than their session's.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_rand.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_capture.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define VPS 4u
#define CONNS 16u
#define ROUNDS 3u

/* Around the node under test that is below who asks: on which virtual processors do messages come up? */
struct watch { struct xk_capture c; uint16_t vp; unsigned right, wrong; uint16_t where; };

static void watch_up(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct watch *w = xk_container_of(c, struct watch, c);

	(void)now;
	(void)m;
	if (down || xk_mem_self == NULL)
		return;
	w->right += xk_mem_self->no == w->vp;
	if (xk_mem_self->no != w->vp) {
		w->wrong++;
		w->where = xk_mem_self->no;
	}
}

/* Of what the probes got: by connection and side, and of all that found none. */
struct digest { uint64_t of[CONNS + 1][2]; unsigned messages; };

static uint64_t hash(const uint8_t *b, uint32_t n)
{
	uint64_t h = 1469598103934665603u;

	for (uint32_t i = 0; i < n; i++)
		h = (h ^ b[i]) * 1099511628211u;
	return h;
}

static void digest(struct digest *d)
{
	for (unsigned i = 0; i < kit_gots.n; i++) {
		const struct kit_got *g = &kit_gots.v[i];

		d->of[g->conn < CONNS ? g->conn : CONNS][g->answers] += hash(g->bytes, g->len);
		d->messages++;
	}
	kit_gots_clear();
}

static bool open_all(struct kit *k, struct kit_world *w, struct xk_sess **s)
{
	int err;

	for (unsigned i = 0; i < CONNS; i++) {
		s[i] = kit_open(w, i % VPS, i, &err);
		if (s[i] == NULL) {
			kit_fail(k, "connection %u cannot be opened: %s", i, xk_strerror(err));
			return false;
		}
		kit_pass_time(w, 100 * XK_MS);
	}
	return true;
}

static void say(struct kit_world *w, struct xk_sess *s, struct xk_rand *r)
{
	uint8_t b[600];
	uint32_t n = 1 + (uint32_t)xk_rand_below(r, sizeof b);

	for (uint32_t j = 0; j < n; j++)
		b[j] = (uint8_t)xk_rand_u64(r);
	(void)kit_push(w, s, b, n);
	kit_pass_time(w, 10 * XK_MS);
}

/* The node under test below who asks. */
static struct xk_node *under_test(const struct kit_world *w, const struct xk_sess *s)
{
	struct xk_node *n = s->up->rep->node;

	while (n != NULL && n->proto != w->k->proto)
		n = n->ndown != 0 ? n->down[0] : NULL;
	return n;
}

/* Connections of the last round, when whoever had to be asked for an address has been. */
static void steered(struct kit *k, struct kit_world *w, struct xk_sess **s, struct xk_rand *r)
{
	const struct xk_demux *d = k->proto->demux;
	struct xk_node *n = under_test(w, s[0]);

	if (d == NULL || d->elsewhere != NULL || n == NULL)
		return;
	for (unsigned i = 0; i < CONNS && !kit_found_any(k); i++) {
		struct watch c = { .c.fn = watch_up, .vp = s[i]->rep->vp->no };

		xk_capture_attach(n, &c.c);
		say(w, s[i], r);
		xk_capture_detach(n, &c.c);
		if (c.wrong != 0 && c.right == 0)
			kit_fail(k, "%u messages of a session of virtual processor %u came up on %u: what its .demux says is "
				 "not its header", c.wrong, c.vp, c.where);
	}
}

static void converse(struct kit *k, struct kit_world *w, bool steers, struct digest *d)
{
	struct xk_sess *s[CONNS];
	struct xk_rand r;

	xk_rand_init(&r, k->seed, 4);
	if (!open_all(k, w, s))
		return;
	for (unsigned i = 0; i < ROUNDS * CONNS; i++)
		say(w, s[i % CONNS], &r);
	kit_pass_time(w, XK_SEC);
	digest(d);
	if (steers)
		steered(k, w, s, &r);
	kit_gots_clear();
}

/* False: no device of the scene has a classifier, or there are no probes. */
static bool with(struct kit *k, const char *kind, struct digest *d)
{
	struct kit_how how = { .preset = "vppc { vps = 4 }", .probes = true };
	struct kit_world w;
	bool fits = false;

	memset(d, 0, sizeof *d);
	kit_at(k, "classifier %s", kind);
	(void)setenv("VP_CLASSIFIER", kind, 1);
	if (kit_start(&w, k, &how)) {
		for (unsigned i = 0; i < w.g->nnodes; i++)
			fits = fits || w.g->node[i]->classifier != NULL;
		if (!kit_has_probes(&w))
			kit_skip(k, k->proto->offers == NULL ? "an application: its messages are found by what is below" :
				 "the graph has no kit_probe at its ends");
		else if (!fits)
			kit_skip(k, "no device of its graph has a classifier");
		else
			converse(k, &w, strcmp(kind, "none") != 0, d);
	}
	kit_down(&w);
	if (k->found->state == KIT_FAIL && strstr(k->found->what, "classifier") == NULL)
		kit_more(k, ", with classifier %s", kind);
	return !kit_found_any(k);
}

static void differ(struct kit *k, const char *kind, const struct digest *a, const struct digest *b)
{
	for (unsigned i = 0; i <= CONNS && !kit_found_any(k); i++)
		for (unsigned j = 0; j < 2; j++)
			if (a->of[i][j] != b->of[i][j] && i < CONNS)
				kit_fail(k, "with classifier %s connection %u got other bytes than with none", kind, i);
			else if (a->of[i][j] != b->of[i][j])
				kit_fail(k, "with classifier %s the end that answers got other bytes than with none", kind);
}

void kit_clause_filters(struct kit *k)
{
	struct digest late, d;
	unsigned n = 0;

	if (k->real) {
		kit_skip(k, "it does not run in virtual time");
		return;
	}
	if (!with(k, "none", &late))
		return;
	for (unsigned i = 0; xk_classifier_kinds[i] != NULL && !kit_found_any(k); i++) {
		if (strcmp(xk_classifier_kinds[i], "none") == 0)
			continue;
		if (with(k, xk_classifier_kinds[i], &d))
			differ(k, xk_classifier_kinds[i], &late, &d);
		n++;
	}
	kit_pass(k, "%u classifiers, %u messages each", n, late.messages);
}
