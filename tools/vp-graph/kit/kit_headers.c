/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_headers.c - clause: whatever comes up from below, it is counted or passed on, and nothing dies, hangs or leaks.
 *
 * Messages that the protocol itself pushes are noted at one end, changed (bits, lengths, fields at their ends,
 * nothing but chance) and pushed again into the sessions below it, so that they come up at the other end through
 * sound headers of all that is below.  Where one of them does harm, fewer are tried, then fewer bytes, then
 * zeros: what is told is what is left.
 * Invariant: a trial is made of its inputs alone: the same ones do the same.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_stream.h"
#include "tools/vp-graph/kit/kit_clauses.h"

#define SAMPLES 16u
#define LONGEST 1024u
#define CONNS   3u
#define SHRINKS 200u             /* trials that making it smaller may take */

struct input { uint16_t len; uint8_t b[LONGEST]; };
struct shared { unsigned nsample; struct input sample[SAMPLES]; bool none; };
struct trial {
	const struct input *in;
	unsigned            n;
	struct shared      *out;         /* samples are wanted, and nothing else */
	bool                sums;        /* its own checksums are off */
};

/* ---- where to push ----------------------------------------------------------------------------- */

struct seek { const struct kit_world *w; struct xk_sess *other, *own; };

/* A session below the protocol, or below who talks to it. */
static void visit(void *o, void *arg)
{
	struct seek *k = arg;
	struct xk_sess *s = o;

	if (s->rep == NULL || s->rcnt <= 0 || s->up == NULL || s->up->rep == NULL || (s->flags & XK_SESS_CLOSING))
		return;
	if (s->up->rep->node->proto == k->w->k->proto)
		k->own = s;
	else if (!(s->flags & XK_SESS_PASSIVE))
		k->other = s;
}

/* The other end's comes first: there is one where the ends differ. */
static struct xk_sess *below(const struct kit_world *w)
{
	const struct xk_proto *p = kit_node(w, 0)->down[0]->proto;
	struct seek k = { .w = w };

	for (unsigned i = 0; i < w->g->nnodes; i++) {
		struct xk_node *n = w->g->node[i];
		uint64_t cursor = 0;

		if (n->proto != p)
			continue;
		while (xk_slab_walk(xk_rep_slab(n->rep[0]), &cursor, 64, visit, &k))
			;
	}
	return k.other != NULL ? k.other : k.own;
}

/* ---- samples -------------------------------------------------------------------------------------- */

struct sampler { struct xk_capture c; struct shared *out; };

static void sample(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct shared *o = xk_container_of(c, struct sampler, c)->out;
	struct input *in = &o->sample[o->nsample % SAMPLES];

	(void)now;
	if (!down)
		return;
	in->len = (uint16_t)(m->tot < LONGEST ? m->tot : LONGEST);
	xk_msg_copy_out(m, 0, in->b, in->len);
	o->nsample++;
}

/* Something to say, and somebody to say it: connections that stay. */
static void converse(struct kit_world *w, struct xk_sess **s)
{
	int err;

	kit_pass_time(w, 20 * XK_MS);
	if (!kit_has_probes(w))
		return;
	for (unsigned i = 0; i < CONNS; i++) {
		s[i] = kit_open(w, 0, i, &err);
		if (s[i] == NULL)
			continue;
		kit_pass_time(w, 100 * XK_MS);
		(void)kit_push(w, s[i], "what the kit says", 17);
		kit_pass_time(w, 100 * XK_MS);
	}
}

static void take_samples(struct kit_world *w, struct shared *out)
{
	struct xk_sess *s[CONNS] = { NULL }, *lls;
	struct sampler c = { .c.fn = sample, .out = out };
	struct xk_node *n;

	converse(w, s);
	lls = below(w);
	out->none = lls == NULL;
	if (lls == NULL)
		return;
	n = lls->up->rep->node;
	xk_capture_attach(n, &c.c);
	converse(w, s);
	xk_capture_detach(n, &c.c);
}

/* ---- a trial --------------------------------------------------------------------------------------- */

static void push(struct kit_world *w, const struct input *in)
{
	struct xk_sess *s = below(w);
	uint32_t room = UINT32_MAX;
	struct xk_msg *m;

	if (s == NULL)
		return;
	xk_vp_enter_idle(s->rep->vp);
	if (xk_sess_control(s, XK_STREAM_ROOM, &room, sizeof room) != (int)sizeof room)
		room = UINT32_MAX;
	m = room < in->len || (room != UINT32_MAX && in->len == 0) ? NULL : xk_msg_new(in->len);
	if (m != NULL) {
		if (in->len != 0)
			xk_msg_copy_in(m, 0, in->b, in->len);
		xk_push(s, m);
	}
	xk_vp_leave_idle(w->g->vps->vp[0]);
}

static void run_all(struct kit *k, struct kit_world *w, const struct trial *t)
{
	struct xk_sess *s[CONNS] = { NULL };

	converse(w, s);
	for (unsigned i = 0; i < t->n; i++) {
		kit_at(k, "message %u of %u", i + 1, t->n);
		push(w, &t->in[i]);
		kit_pass_time(w, XK_MS);
	}
	kit_at(k, "the rest after %u messages", t->n);
	kit_pass_time(w, XK_SEC);
}

/* What leaves its own checksums out, where it has that parameter: else few changed headers are looked into. */
static const struct xk_param *sums(const struct kit *k, const char **off)
{
	const struct xk_param *p = k->proto->params != NULL ? xk_param_find(k->proto->params, "checksum") : NULL;

	*off = "false";
	if (p == NULL || p->type == XK_P_BOOL)
		return p;
	*off = "ignore";
	for (unsigned i = 0; p->type == XK_P_ENUM && p->choices[i] != NULL; i++)
		if (strcmp(p->choices[i], *off) == 0)
			return p;
	return NULL;
}

static void trial(struct kit *k, void *arg)
{
	struct trial *t = arg;
	struct kit_how how = { .preset = "up {}", .probes = true, .conns = 2, .count = 1000000 };
	struct kit_world w;

	if (t->sums)
		how.param = sums(k, &how.value);
	if (kit_start(&w, k, &how)) {
		if (t->out != NULL)
			take_samples(&w, t->out);
		else
			run_all(k, &w, t);
	}
	kit_gots_clear();
	kit_down(&w);
	kit_pass(k, "nothing");
}

static bool harms(struct kit *k, const struct trial *t, struct kit_found *f)
{
	struct trial copy = *t;

	kit_apart(k, trial, &copy, f);
	return f->state == KIT_FAIL;
}

/* ---- inputs --------------------------------------------------------------------------------------- */

static void change(struct xk_rand *r, struct input *in)
{
	uint32_t n = in->len, at = n != 0 ? (uint32_t)xk_rand_below(r, n < 48 ? n : 48) : 0;

	switch (xk_rand_below(r, 6)) {
	case 0:
		in->len = (uint16_t)xk_rand_below(r, n + 1);
		break;
	case 1:
		in->len = (uint16_t)(n < LONGEST - 64 ? n + xk_rand_below(r, 64) : n);
		memset(in->b + n, (int)xk_rand_below(r, 256), in->len - n);
		break;
	case 2:
		in->len = (uint16_t)xk_rand_below(r, 128);
		for (unsigned i = 0; i < in->len; i++)
			in->b[i] = (uint8_t)xk_rand_u64(r);
		break;
	case 3:
		for (uint64_t i = xk_rand_below(r, 8) + 1; n != 0 && i > 0; i--)
			in->b[xk_rand_below(r, n < 48 ? n : 48)] ^= (uint8_t)(1u << xk_rand_below(r, 8));
		break;
	default:
		memset(in->b + at, xk_rand_below(r, 2) ? 0xff : 0, at + 2 <= n ? 2 : n != 0);
		break;
	}
}

static struct input *draw(const struct kit *k, const struct shared *o, unsigned n)
{
	struct input *in = calloc(n, sizeof *in);
	unsigned have = o->nsample < SAMPLES ? o->nsample : SAMPLES;
	struct xk_rand r;

	xk_rand_init(&r, k->seed, 3);
	for (unsigned i = 0; in != NULL && i < n; i++) {
		if (have != 0)
			in[i] = o->sample[xk_rand_below(&r, have)];
		change(&r, &in[i]);
	}
	return in;
}

/* ---- smaller --------------------------------------------------------------------------------------- */

/* Halves of the list, as long as one of them does harm alone. */
static void fewer(struct kit *k, struct trial *t, struct kit_found *f, unsigned *left)
{
	struct kit_found g;

	while (t->n > 1 && *left > 1) {
		struct trial a = *t, b = *t;

		a.n = t->n / 2;
		b.in = t->in + a.n;
		b.n = t->n - a.n;
		*left -= 2;
		if (harms(k, &a, &g))
			*t = a;
		else if (harms(k, &b, &g))
			*t = b;
		else
			return;
		*f = g;
	}
}

static bool still(struct kit *k, const struct trial *t, const struct input *in, struct kit_found *f, unsigned *left)
{
	struct trial one = { .in = in, .n = 1, .sums = t->sums };
	struct kit_found g;

	if (*left == 0)
		return false;
	--*left;
	if (!harms(k, &one, &g))
		return false;
	*f = g;
	return true;
}

/* Shorter, by halves and then byte by byte; then each byte is 0 that may be. */
static void smaller(struct kit *k, const struct trial *t, struct input *in, struct kit_found *f, unsigned *left)
{
	struct input less = *in;

	for (unsigned cut = in->len / 2u; cut > 0; cut /= 2)
		while (in->len >= cut) {
			less = *in;
			less.len = (uint16_t)(in->len - cut);
			if (!still(k, t, &less, f, left))
				break;
			*in = less;
		}
	for (unsigned i = 0; i < in->len && i < 64; i++) {
		less = *in;
		less.b[i] = 0;
		if (in->b[i] != 0 && still(k, t, &less, f, left))
			*in = less;
	}
}

static void tell(struct kit *k, const struct trial *t, const struct input *in, const struct kit_found *f)
{
	char hex[3 * 48 + 8] = "";

	for (unsigned i = 0; i < in->len && i < 48; i++)
		snprintf(hex + strlen(hex), sizeof hex - strlen(hex), " %02x", in->b[i]);
	kit_fail(k, "%u message%s from below%s, the %s of %u bytes,%s%s: %.300s", t->n, t->n == 1 ? "" : "s",
		 t->sums ? " (checksums off)" : "", t->n == 1 ? "one" : "first", in->len, in->len == 0 ? " empty" : hex,
		 in->len > 48 ? " ..." : "", f->what);
}

static void search(struct kit *k, struct trial *t, struct kit_found *f)
{
	unsigned left = SHRINKS;
	struct input in;

	fewer(k, t, f, &left);
	in = t->in[0];
	if (t->n == 1)
		smaller(k, t, &in, f, &left);
	tell(k, t, &in, f);
}

/* ---- the clause --------------------------------------------------------------------------------- */

static unsigned try_all(struct kit *k, const struct shared *o)
{
	const char *off;
	bool has_sum = sums(k, &off) != NULL;
	unsigned n = 10 * k->rounds, done = 0;
	struct input *in = draw(k, o, n);
	struct kit_found f;

	if (in == NULL)
		kit_fail(k, "out of memory");
	for (unsigned i = 0; in != NULL && i <= has_sum && !kit_found_any(k); i++, done += n) {
		struct trial t = { .in = in, .n = n, .sums = i == 1 };

		if (harms(k, &t, &f))
			search(k, &t, &f);
	}
	free(in);
	return done;
}

void kit_clause_headers(struct kit *k)
{
	struct shared *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct trial t = { .out = o };
	struct kit_found f;
	unsigned done = 0;

	if (o == MAP_FAILED) {
		kit_fail(k, "out of memory");
		return;
	}
	if (k->real)
		kit_skip(k, "it does not run in virtual time");
	else if (k->proto->min_down == 0)
		kit_skip(k, "nothing lies below it");
	else if (harms(k, &t, &f))
		kit_fail(k, "%s", f.what);
	else if (o->none)
		kit_skip(k, "nobody holds a session below it");
	else
		done = try_all(k, o);
	kit_pass(k, "%u messages, made of %u", done, o->nsample);
	munmap(o, sizeof *o);
}
