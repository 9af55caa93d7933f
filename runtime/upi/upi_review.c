/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_review.c - the review of a graph that is not made yet: who is asked, who claims what,
 * and what is said when two claim the same.
 *
 * Claims hang from the thing that is claimed, things in a hash table; a claim meets only claims
 * of the same.  One number alone, a port of thousands, is found by that number, too.
 * Invariant: of claims that exclude each other the table holds the first.
 */
#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_review.h"

#include "runtime/classify/xk_classify.h"
#include "runtime/classify/xk_demux.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"

struct xk_claimed {
	struct xk_claimed    *next;       /* of the thing's, in the order of claiming */
	struct xk_claimed    *wide;       /* the next of those that are not one number alone */
	struct xk_claimed    *chain;      /* in numbers[]: one number alone */
	const struct xk_claim_of *of;
	const struct xk_view *by;
	struct xk_claim       c;
	unsigned              nth;        /* of all claims */
	unsigned              shared;     /* the first: by so many */
};

struct xk_claim_of {
	struct xk_claim_of *chain;
	struct xk_claimed  *first, **last, *wide, **last_wide;
	struct xk_claim     c;            /* what all its claims say of the thing */
	char                name[];
};

/* ---- asking ------------------------------------------------------------------------- */

int xk_view_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	if (op == XK_CTL_GIVES)
		return xk_answer32(buf, len, upi_view_gives(v));
	for (; v != NULL; v = v->ndown != 0 ? v->down[0] : NULL) {
		int res = v->proto->ask != NULL ? v->proto->ask(v, op, buf, len) : XK_E_NOTSUP;

		if (res != XK_E_NOTSUP)
			return res;
	}
	return XK_E_NOTSUP;
}

static bool passes_through(const struct xk_view *v)
{
	return v->proto->demux != NULL && v->proto->demux->through;
}

const struct xk_view *xk_view_base(const struct xk_view *v)
{
	while (v->ndown != 0 && (v->proto->as_below || passes_through(v)))
		v = v->down[0];
	return v;
}

/* ---- complaints --------------------------------------------------------------------------- */

static void say(struct xk_review *r, const struct xk_view *v, const char *param, bool warning, const char *fmt, ...)
	XK_PRINTF(5, 6);
static void say(struct xk_review *r, const struct xk_view *v, const char *param, bool warning, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->tell(r, v, param, warning, text);
}

void xk_review_fault(struct xk_review *r, const struct xk_view *v, const char *param, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->tell(r, v, param, false, text);
}

/* "port 7 of udp", "interface 'xk0'"; n is the number that both claim, NULL: all is claimed. */
static void thing_text(const struct xk_claim *c, const uint64_t *n, char *buf, size_t len)
{
	size_t at = (size_t)snprintf(buf, len, c->name != NULL ? "%s '%s'" : "%s", c->what, c->name);

	if (n != NULL && at < len)
		at += (size_t)snprintf(buf + at, len - at, c->hex ? "%s %#llx" : "%s %llu", c->name != NULL ? ", number" : "",
				       (unsigned long long)*n);
	if (c->of != NULL && at < len)
		snprintf(buf + at, len - at, " of %s", c->of->name);
}

static void taken(struct xk_review *r, const struct xk_view *v, const struct xk_claim *c, const struct xk_claimed *o)
{
	uint64_t both = c->first > o->c.first ? c->first : o->c.first;
	char thing[200];

	thing_text(c, c->n != 0 && o->c.n != 0 ? &both : NULL, thing, sizeof thing);
	say(r, v, c->param, false, "%s is taken by %s (%s:%d)", thing, o->by->name, o->by->file, o->by->line);
}

/* ---- claims ----------------------------------------------------------------------------------- */

static uint32_t thing_hash(const struct xk_claim *c)
{
	uint32_t h = (uint32_t)((uintptr_t)c->of >> 4);

	for (const char *p = c->what; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	for (const char *p = c->name; p != NULL && *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	return h ^ h >> 16;
}

static unsigned number_bucket(const struct xk_claim_of *of, uint64_t number)
{
	uint64_t h = ((uintptr_t)of >> 4 ^ number) * 0x9e3779b97f4a7c15u;

	return (unsigned)(h >> 32) % REVIEW_BUCKETS;
}

static bool same_thing(const struct xk_claim *a, const struct xk_claim *b)
{
	return a->of == b->of && strcmp(a->what, b->what) == 0 && (a->name != NULL) == (b->name != NULL) &&
	       (a->name == NULL || strcmp(a->name, b->name) == 0);
}

static bool overlap(const struct xk_claim *a, const struct xk_claim *b)
{
	return a->n == 0 || b->n == 0 || (a->first < b->first + b->n && b->first < a->first + a->n);
}

static bool alone(const struct xk_claim *c)
{
	return c->n == 1 && c->ends <= 1;
}

/* The thing, made when nobody has claimed it before; NULL: no memory. */
static struct xk_claim_of *thing_of(struct xk_review *r, const struct xk_claim *c)
{
	struct xk_claim_of **at = &r->thing[thing_hash(c) % REVIEW_BUCKETS], *t;
	size_t n = c->name != NULL ? strlen(c->name) + 1 : 0;

	for (t = *at; t != NULL; t = t->chain)
		if (same_thing(&t->c, c))
			return t;
	t = xk_alloc(sizeof *t + n);
	if (t == NULL) {
		r->no_memory = true;
		return NULL;
	}
	t->c = *c;
	if (n != 0)
		t->c.name = memcpy(t->name, c->name, n);
	t->last = &t->first;
	t->last_wide = &t->wide;
	t->chain = *at;
	return *at = t;
}

/* The first of the list that claims what c does. */
static struct xk_claimed *rival(struct xk_claimed *o, const struct xk_claim *c)
{
	while (o != NULL && !overlap(&o->c, c))
		o = o->next;
	return o;
}

/* The same for one number alone: by that number, or among those that are more. */
static struct xk_claimed *rival_number(const struct xk_review *r, const struct xk_claim_of *of, const struct xk_claim *c)
{
	struct xk_claimed *o = r->number[number_bucket(of, c->first)], *w = of->wide;

	while (o != NULL && (o->of != of || o->c.first != c->first))
		o = o->chain;
	while (w != NULL && !overlap(&w->c, c))
		w = w->wide;
	return o == NULL || (w != NULL && w->nth < o->nth) ? w : o;
}

static void keep(struct xk_review *r, const struct xk_view *v, const struct xk_claim *c, struct xk_claim_of *of,
		 unsigned shared)
{
	struct xk_claimed *o = xk_alloc(sizeof *o);

	if (o == NULL) {
		r->no_memory = true;
		return;
	}
	o->by = v;
	o->of = of;
	o->c = *c;
	o->c.name = of->c.name;
	o->nth = r->nclaims++;
	o->shared = shared;
	*of->last = o;
	of->last = &o->next;
	if (alone(c)) {
		struct xk_claimed **at = &r->number[number_bucket(of, c->first)];

		o->chain = *at;
		*at = o;
	} else {
		*of->last_wide = o;
		of->last_wide = &o->wide;
	}
}

/* One more end: of the same kind, and there is room. */
static void join(struct xk_review *r, const struct xk_view *v, const struct xk_claim *c, struct xk_claim_of *of,
		 struct xk_claimed *first)
{
	struct xk_claimed *o = rival(first->next, c);
	char thing[200];

	thing_text(c, NULL, thing, sizeof thing);
	if (first->shared == c->ends) {
		say(r, v, c->param, false, "%s has %u ends, and %s (%s:%d)%s%s are on it already", thing, c->ends,
		    first->by->name, first->by->file, first->by->line, o != NULL ? " and " : "", o != NULL ? o->by->name : "");
		return;
	}
	first->shared++;
	if (c->kind != NULL && first->c.kind != NULL && strcmp(c->kind, first->c.kind) != 0)
		say(r, v, c->param, false, "%s is %s here and %s at %s (%s:%d)", thing, c->kind, first->c.kind,
		    first->by->name, first->by->file, first->by->line);
	keep(r, v, c, of, 0);
}

void xk_review_claim(struct xk_review *r, const struct xk_view *v, const struct xk_claim *c)
{
	struct xk_claim_of *of = thing_of(r, c);
	struct xk_claimed *o;

	if (of == NULL)
		return;
	o = alone(c) ? rival_number(r, of, c) : rival(of->first, c);
	if (o == NULL)
		keep(r, v, c, of, 1);
	else if (c->ends > 1)
		join(r, v, c, of, o);
	else if (o->by != v)
		taken(r, v, c, o);
}

/* What has fewer ends than it should, at the first of them. */
static void tell_lonely(struct xk_review *r)
{
	char thing[200];

	for (unsigned b = 0; b < REVIEW_BUCKETS; b++)
		for (const struct xk_claim_of *t = r->thing[b]; t != NULL; t = t->chain)
			for (const struct xk_claimed *o = t->first; o != NULL; o = o->next)
				if (o->shared != 0 && o->shared < o->c.ends) {
					thing_text(&o->c, NULL, thing, sizeof thing);
					say(r, o->by, o->c.param, true, "%s has %u of its %u ends: nobody hears what is sent",
					    thing, o->shared, o->c.ends);
				}
}

/* ---- what several need ------------------------------------------------------------------------- */

void xk_review_ports(struct xk_review *r, const struct xk_view *v, const char *param, uint64_t first, uint64_t n)
{
	const struct xk_claim c = { .param = param, .of = xk_view_base(v->down[0]), .what = "port", .first = first, .n = n };

	xk_review_claim(r, v, &c);
}

void xk_review_reach(struct xk_review *r, const struct xk_view *v, const char *param, uint32_t host)
{
	static const char *const why[] = {
		[XK_REACH_NO] = "is in no network of ours and no route leads there",
		[XK_REACH_OURS] = "is our own address", [XK_REACH_ILLEGAL] = "is no address of a host",
	};
	int res = xk_view_ask(v->down[0], XK_ASK_REACH, &host, sizeof host);

	if (res >= 0 && res != XK_REACH_YES)
		xk_review_fault(r, v, param, "%u.%u.%u.%u %s", host >> 24, host >> 16 & 255, host >> 8 & 255, host & 255,
				why[res]);
}

void xk_review_conns(struct xk_review *r, const struct xk_view *v, uint64_t conns, uint64_t n)
{
	int res = xk_view_ask(v->down[0], XK_ASK_PORTS, NULL, 0);

	if (res > 0 && conns > (uint64_t)res * n)
		xk_review_fault(r, v, "conns", "%llu connections to one host need 'ports' of at least %llu: %s has %d to send from "
				"to each of them", (unsigned long long)conns,
				(unsigned long long)(conns + (unsigned)res - 1) / (unsigned)res, xk_view_base(v->down[0])->name, res);
}

void xk_review_link(struct xk_review *r, const struct xk_view *v, uint32_t link)
{
	static const char *const name[] = {
		[XK_LINK_ETH] = "Ethernet", [XK_LINK_FDDI] = "FDDI", [XK_LINK_RAWIP] = "bare IP", [XK_LINK_OTHER] = "other",
	};
	uint32_t is;

	if (xk_view_ask(v->down[0], XK_CTL_LINK_TYPE, &is, sizeof is) > 0 && is <= XK_LINK_OTHER && is != link)
		xk_review_fault(r, v, "over", "cannot sit over %s: that has %s frames, not %s", v->down[0]->name,
				name[is], name[link]);
}

void xk_review_interface(struct xk_review *r, const struct xk_view *v, const char *ifname, const char *netns,
			 uint64_t first, uint64_t n)
{
	char name[128];
	const struct xk_claim c = { .param = "ifname", .what = "interface", .name = name, .first = first, .n = n };

	snprintf(name, sizeof name, netns != NULL ? "%s' of namespace '%s" : "%s", ifname, netns);
	xk_review_claim(r, v, &c);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

/* n's number in the first of the realms, words with '|' between, where it has one. */
static uint32_t number_in(const struct xk_proto *p, const char *realms)
{
	while (realms != NULL && *realms != '\0') {
		size_t len = strcspn(realms, "|");

		for (const struct xk_number *n = p->numbers; n != NULL && n->realm != NULL; n++)
			if (strlen(n->realm) == len && memcmp(n->realm, realms, len) == 0)
				return n->number;
		realms += len + (realms[len] == '|');
	}
	return 0;
}

/* v's place above what lies below `low`, through those that pass on what is there. */
static void claim_place(struct xk_review *r, const struct xk_view *v, const struct xk_view *low)
{
	struct xk_claim c = { 0 };

	if (passes_through(low)) {
		for (unsigned i = 0; i < low->ndown; i++)
			claim_place(r, v, low->down[i]);
		return;
	}
	if (low->proto->is_driver) {
		c.what = "device";
		c.name = low->name;
	} else {
		c.of = low;
		c.first = number_in(v->proto, low->proto->offers);
		c.what = "protocol number";
		c.n = 1;
		c.hex = true;
	}
	if (c.n == 0 || c.first != 0)
		xk_review_claim(r, v, &c);
}

static void forget(struct xk_review *r)
{
	for (unsigned b = 0; b < REVIEW_BUCKETS; b++)
		while (r->thing[b] != NULL) {
			struct xk_claim_of *t = r->thing[b];

			r->thing[b] = t->chain;
			for (struct xk_claimed *o = t->first, *next; o != NULL; o = next) {
				next = o->next;
				xk_free(o);
			}
			xk_free(t);
		}
	memset(r->number, 0, sizeof r->number);
}

int xk_review_run(struct xk_review *r, const struct xk_view *v, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < v[i].ndown && !passes_through(&v[i]); k++)
			claim_place(r, &v[i], v[i].down[k]);
		if (v[i].proto->review != NULL)
			v[i].proto->review(&v[i], r);
	}
	tell_lonely(r);
	forget(r);
	return r->no_memory ? XK_E_NOMEM : XK_OK;
}
