/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patterns.c - patterns made by hand or by chance, and frames that suit them.
 *
 * A frame is noise in which the fields of one way through the pattern are set right; now and
 * then one is left as it was, so every rule gets its turns on both sides.
 */
#include "tests/runtime/classify/patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by hand ---------------------------------------------------------------------------------- */

static const struct xk_demux eth = { .need = 14,
	.field = (const struct xk_demux_field[]){ { XK_DX_SELECT, 2, 12, 0, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux fddi = { .need = 21, .field = (const struct xk_demux_field[]){
	{ XK_DX_GUARD, 1, 0, 0x70, 0x50 }, { XK_DX_GUARD, 4, 13, 0, 0xaaaa0300 }, { XK_DX_GUARD, 2, 17, 0, 0 },
	{ XK_DX_SELECT, 2, 19, 0, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux ip = { .need = 20, .field = (const struct xk_demux_field[]){
	{ XK_DX_GUARD, 1, 0, 0xf0, 0x40 }, { XK_DX_REMOTE, 4, 12, 0, 0 }, { XK_DX_LOCAL, 4, 16, 0, 0 },
	{ XK_DX_POSTPONE, 2, 6, 0x3fff, 0 }, { XK_DX_IDENT, 2, 4, 0, 0 }, { XK_DX_IDENT, 1, 9, 0, 0 },
	{ XK_DX_HLEN, 1, 0, 0x0f, 4 }, { XK_DX_SELECT, 1, 9, 0, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux ports = { .need = 8, .field = (const struct xk_demux_field[]){
	{ XK_DX_REMOTE, 2, 0, 0, 0 }, { XK_DX_LOCAL, 2, 2, 0, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux tcp = { .need = 8, .field = (const struct xk_demux_field[]){
	{ XK_DX_REMOTE, 2, 0, 0, 0 }, { XK_DX_LOCAL, 2, 2, 0, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux icmp = { .need = 8, .field = (const struct xk_demux_field[]){
	{ XK_DX_GUARD, 1, 0, 0xf7, 0 }, { XK_DX_LOCAL, 2, 4, 0, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux arp = { .need = 28 };

/* Little-endian, variable, under masks, with fragments of its own and one above it. */
static const struct xk_demux user = { .need = 12, .field = (const struct xk_demux_field[]){
	{ XK_DX_GUARD | XK_DX_LITTLE, 3, 0, 0xffff0f, 0xbeef05 }, { XK_DX_REMOTE, 1, 3, 0x7f, 0 },
	{ XK_DX_HLEN | XK_DX_LITTLE, 2, 4, 0x00f0, 3 }, { XK_DX_LOCAL, 2, 6, 0x0ff0, 0 },
	{ XK_DX_POSTPONE | XK_DX_LITTLE, 3, 8, 0x800001, 0 }, { XK_DX_IDENT, 2, 9, 0, 0 },
	{ XK_DX_SELECT | XK_DX_LITTLE, 2, 10, 0x7fff, 0 }, { .role = XK_DX_END } } };
static const struct xk_demux upper = { .need = 5, .field = (const struct xk_demux_field[]){
	{ XK_DX_REMOTE, 1, 2, 0, 0 }, { XK_DX_HLEN, 1, 0, 0xff, 1 }, { XK_DX_SELECT, 1, 4, 0, 0 },
	{ .role = XK_DX_END } } };
static const struct xk_demux top = { .need = 1, .elsewhere = "it is secret" };

static unsigned add(struct xk_pattern *p, unsigned parent, uint32_t number, const char *name, const struct xk_demux *d)
{
	char why[200];
	int at = xk_pattern_add(p, parent, number, name, name, d, why, sizeof why);

	if (at < 0) {
		printf("Bail out! %s\n", why);
		exit(1);
	}
	return (unsigned)at;
}

static unsigned add_inet(struct xk_pattern *p, unsigned below)
{
	unsigned at = add(p, below, 0x0800, "ip", &ip);

	add(p, at, 17, "udp", &ports);
	add(p, at, 6, "tcp", &tcp);
	add(p, at, 1, "icmp", &icmp);
	return at;
}

const char *const pattern_names[] = { "eth", "fddi", "rawip", "user", "wide", NULL };

static void make_user(struct xk_pattern *p)
{
	unsigned at = add_inet(p, add(p, XK_PAT_ABOVE, 0, "eth", &eth));
	unsigned mine = add(p, at, 99, "user", &user);
	unsigned up = add(p, mine, 0x1234, "upper", &upper);

	add(p, up, 7, "top", &top);
	add(p, up, 8, "other", &arp);
}

/* Each way in makes more than 255 instructions. */
static void make_wide(struct xk_pattern *p)
{
	unsigned root = add(p, XK_PAT_ABOVE, 0, "eth", &eth), at = add_inet(p, root);

	add(p, root, 0x0806, "arp", &arp);
	for (unsigned i = 0; i < 12; i++)
		add(p, at, 100 + i, "udp-like", &ports);
	for (unsigned i = 0; i < 8; i++) {
		unsigned mine = add(p, at, 200 + i, "user-like", &user);

		add(p, mine, 1 + i, "top-like", &top);
	}
}

void pattern_make(struct xk_pattern *p, const char *name)
{
	memset(p, 0, sizeof *p);
	if (strcmp(name, "eth") == 0)
		add(p, XK_PAT_ROOT, 0x0806, "arp", (add_inet(p, add(p, XK_PAT_ABOVE, 0, "eth", &eth)), &arp));
	else if (strcmp(name, "fddi") == 0)
		add_inet(p, add(p, XK_PAT_ABOVE, 0, "fddi", &fddi));
	else if (strcmp(name, "rawip") == 0)
		add_inet(p, XK_PAT_ABOVE);
	else if (strcmp(name, "user") == 0)
		make_user(p);
	else
		make_wide(p);
}

/* ---- by chance ----------------------------------------------------------------------------------- */

static struct xk_demux_field random_field(struct dice *d, unsigned role, unsigned need, unsigned most)
{
	struct xk_demux_field f = { .role = (uint8_t)role };

	f.width = (uint8_t)(1 + roll(d, most < need ? most : need));
	if (f.width > need)
		f.width = (uint8_t)need;
	f.off = (uint16_t)roll(d, need - f.width + 1);
	if (roll(d, 2) && f.width <= 4) {
		f.mask = roll(d, 0);
		if (f.width < 4)
			f.mask &= (1u << 8 * f.width) - 1;
	}
	return f;
}

static uint32_t width_mask(const struct xk_demux_field *f)
{
	return f->mask != 0 ? f->mask : f->width >= 4 ? UINT32_MAX : (1u << 8 * f->width) - 1;
}

/* What a protocol might declare; xk_pattern_add refuses what makes no sense. */
static void random_demux(struct dice *d, struct xk_demux *x, struct xk_demux_field *f)
{
	unsigned need = 1 + roll(d, 24), n = 0, little = roll(d, 3) == 0 ? XK_DX_LITTLE : 0;

	*x = (struct xk_demux){ .need = (uint16_t)need, .field = f };
	for (unsigned i = roll(d, 3); i > 0; i--, n++) {
		f[n] = random_field(d, XK_DX_GUARD | little, need, 4);
		f[n].value = roll(d, 0) & width_mask(&f[n]);
	}
	for (unsigned i = roll(d, 3); i > 0; i--)
		f[n++] = random_field(d, roll(d, 2) ? XK_DX_REMOTE : XK_DX_LOCAL, need, 4);
	if (roll(d, 3) == 0) {
		f[n++] = random_field(d, XK_DX_POSTPONE | little, need, 4);
		f[n++] = random_field(d, XK_DX_IDENT, need, 2);
	}
	if (roll(d, 2) == 0) {
		f[n] = random_field(d, XK_DX_HLEN | little, need, 2);
		f[n++].value = 1 + roll(d, 8);
	}
	if (roll(d, 4) != 0)
		f[n++] = random_field(d, XK_DX_SELECT | little, need, 4);
	f[n].role = XK_DX_END;
}

void pattern_random(struct xk_pattern *p, struct dice *d)
{
	unsigned want = 1 + roll(d, 24);
	struct xk_demux_field f[16];
	struct xk_demux x;
	char why[200];

	memset(p, 0, sizeof *p);
	for (unsigned tries = 0; p->ncell < want && tries < 200; tries++) {
		unsigned parent = p->ncell == 0 ? XK_PAT_ABOVE : roll(d, p->ncell);
		uint32_t number = 0;

		random_demux(d, &x, f);
		if (p->ncell != 0) {
			if (!p->cell[parent].has_select)
				continue;
			number = roll(d, 0) & p->cell[parent].select.mask;
		}
		(void)xk_pattern_add(p, parent, number, "random", "random", &x, why, sizeof why);
	}
}

/* ---- frames ------------------------------------------------------------------------------------------ */

static void set_field(uint8_t *h, const struct xk_pat_field *f, uint32_t value)
{
	for (unsigned i = 0; i < f->width; i++) {
		unsigned shift = 8 * (f->little ? i : f->width - 1 - i);
		uint8_t mask = (uint8_t)(f->mask >> shift);

		h[f->off + i] = (uint8_t)((h[f->off + i] & ~mask) | ((value >> shift) & mask));
	}
}

/* A length that is mostly small and right. */
static uint32_t set_hlen(struct dice *d, uint8_t *h, const struct xk_cell *c, uint32_t left)
{
	unsigned shift = (unsigned)__builtin_ctz(c->hlen.mask);
	uint32_t most = c->hlen.mask >> shift, units = (c->need + c->hlen.value - 1) / c->hlen.value + roll(d, 4);

	if (roll(d, 8) == 0)
		units = roll(d, 0);
	else if (units > most)
		units = most;
	set_field(h, &c->hlen, units << shift & c->hlen.mask);
	units = units & most;
	return units * c->hlen.value > left ? left : units * c->hlen.value;
}

uint32_t pattern_frame(const struct xk_pattern *p, struct dice *d, uint8_t *frame)
{
	const struct xk_cell *c = p->ncell != 0 ? &p->cell[0] : NULL;
	uint32_t at = 0, len;

	for (unsigned i = 0; i < PATTERN_FRAME; i += 8) {
		(void)roll(d, 0);
		memcpy(frame + i, &d->s, 8);
	}
	while (c != NULL && at + c->need <= PATTERN_FRAME) {
		uint8_t *h = frame + at;
		uint32_t hlen = c->need;

		if (c->has_select && c->nkid != 0 && roll(d, 12))
			set_field(h, &c->select, p->cell[c->kid[roll(d, c->nkid)]].number);
		if (c->has_postpone && roll(d, 4))
			set_field(h, &c->postpone, 0);
		for (unsigned i = 0; i < c->nguard; i++)
			if (roll(d, 24))
				set_field(h, &c->guard[i], c->guard[i].value);
		if (c->has_hlen)
			hlen = set_hlen(d, h, c, PATTERN_FRAME - at);
		at += hlen;
		c = c->nkid != 0 && c->has_select ? &p->cell[c->kid[0]] : NULL;
		if (c != NULL) {
			const struct xk_cell *below = &p->cell[c->parent];
			uint32_t v = 0;

			for (unsigned i = 0; i < below->select.width; i++)
				v = v << 8 | h[below->select.off + (below->select.little ? below->select.width - 1 - i : i)];
			for (unsigned i = 0; i < below->nkid; i++)
				if (p->cell[below->kid[i]].number == (v & below->select.mask))
					c = &p->cell[below->kid[i]];
		}
	}
	len = roll(d, 3) == 0 ? roll(d, at + 2) : at + roll(d, 64);
	return len < PATTERN_FRAME ? len : PATTERN_FRAME;
}
