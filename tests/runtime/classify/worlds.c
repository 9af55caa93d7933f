/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worlds.c - see worlds.h.
 *
 * The internet's declarations are the protocols' own, from the table of the build.
 */
#include "tests/runtime/classify/worlds.h"

#include <stdio.h>
#include <string.h>

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"

struct world world[WORLDS] = {
	[WORLD_ETH] = { .name = "eth" }, [WORLD_FDDI] = { .name = "fddi" }, [WORLD_RAWIP] = { .name = "rawip" },
	[WORLD_ETH_UDP] = { .name = "eth with udp alone" }, [WORLD_ETH_ODD] = { .name = "eth with one protocol more" },
	[WORLD_STRANGE] = { .name = "strange" }, [WORLD_FEW] = { .name = "one cell" },
	[WORLD_MANY] = { .name = "many above one" }, [WORLD_NOTHING] = { .name = "nothing" },
};

/* ---- declarations of an invented kind ------------------------------------------------ */

/* A length in units of 2 with bits below it, a number the wrong way round, guards, masks. */
static const struct xk_demux_field odd_fields[] = {
	{ XK_DX_GUARD, 1, 0, 0xc0, 0x80 }, { XK_DX_GUARD | XK_DX_LITTLE, 2, 2, 0x0ff0, 0x0550 },
	{ XK_DX_HLEN, 1, 1, 0x7e, 2 }, { XK_DX_SELECT | XK_DX_LITTLE, 2, 4, 0x03ff, 0 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux odd = { .need = 7, .field = odd_fields };
/* Keys of 3 and 1 bytes, under masks, and an identity. */
static const struct xk_demux_field net_fields[] = {
	{ XK_DX_LOCAL, 3, 1, 0, 0 }, { XK_DX_REMOTE, 3, 4, 0x0fff0f, 0 }, { XK_DX_POSTPONE, 1, 7, 0x81, 0 },
	{ XK_DX_IDENT, 1, 8, 0, 0 }, { XK_DX_IDENT, 1, 9, 0, 0 }, { XK_DX_SELECT, 3, 10, 0x00ffff, 0 },
	{ XK_DX_HLEN | XK_DX_LITTLE, 2, 13, 0x00f0, 3 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux net = { .need = 15, .field = net_fields };
static const struct xk_demux_field end_fields[] = {
	{ XK_DX_REMOTE, 3, 0, 0, 0 }, { XK_DX_LOCAL, 2, 3, 0x7fff, 0 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux end = { .need = 6, .field = end_fields };
/* A whole key at once: 6 bytes for each end. */
static const struct xk_demux_field whole_fields[] = {
	{ XK_DX_REMOTE, 6, 6, 0, 0 }, { XK_DX_LOCAL, 6, 0, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 }
};
static const struct xk_demux whole = { .need = 14, .field = whole_fields };
static const struct xk_demux secret = { .need = 4, .elsewhere = "encrypted" };
static const struct xk_demux_field fan_fields[] = { { XK_DX_SELECT, 4, 0, 0x0000ff00, 0 }, { XK_DX_END, 0, 0, 0, 0 } };
static const struct xk_demux fan = { .need = 4, .field = fan_fields };
static const struct xk_demux_field leaf_fields[] = { { XK_DX_REMOTE, 1, 0, 0, 0 }, { XK_DX_LOCAL, 1, 1, 0, 0 }, { XK_DX_END, 0, 0, 0, 0 } };
static const struct xk_demux leaf = { .need = 2, .field = leaf_fields };

/* ---- the worlds ------------------------------------------------------------------------ */

static char why[256];

static int add_demux(struct xk_pattern *p, int parent, uint32_t number, const char *name, const struct xk_demux *d)
{
	return parent < 0 ? parent : xk_pattern_add(p, (unsigned)parent, number, name, name, d, why, sizeof why);
}

static int add(struct xk_pattern *p, int parent, uint32_t number, const char *name)
{
	return add_demux(p, parent, number, name, xk_proto_find(name)->demux);
}

static int add_internet(struct xk_pattern *p, const char *link, bool all)
{
	int at = link != NULL ? add(p, XK_PAT_ABOVE, 0, link) : (int)XK_PAT_ABOVE, ip;

	if (link != NULL)
		add(p, at, 0x0806, "arp");
	ip = add(p, at, 0x0800, "ip");
	at = add(p, ip, 17, "udp");
	at = all && at > 0 ? add(p, ip, 6, "tcp") : at;
	at = all && at > 0 ? add(p, ip, 1, "icmp") : at;
	return at < 0 ? at : ip;
}

static int add_strange(struct xk_pattern *p)
{
	int o = add_demux(p, XK_PAT_ABOVE, 0, "odd", &odd), n = add_demux(p, o, 0x155, "net", &net);
	int at = add_demux(p, n, 9, "end", &end);

	at = at < 0 ? at : add_demux(p, n, 0x1234, "secret", &secret);
	return at < 0 ? at : add_demux(p, o, 2, "whole", &whole);
}

static int add_many(struct xk_pattern *p)
{
	int f = add_demux(p, XK_PAT_ABOVE, 0, "fan", &fan), at = f;

	for (uint32_t i = 0; at >= 0 && i < XK_PAT_KIDS; i++)
		at = add_demux(p, f, i << 8, "leaf", &leaf);
	return at;
}

const char *worlds_make(void)
{
	int err, ip;

	for (unsigned i = 0; i < WORLDS; i++)
		memset(&world[i].pat, 0, sizeof world[i].pat);
	err = add_internet(&world[WORLD_ETH].pat, "eth", true);
	err = err < 0 ? err : add_internet(&world[WORLD_FDDI].pat, "fddi", true);
	err = err < 0 ? err : add_internet(&world[WORLD_RAWIP].pat, NULL, true);
	err = err < 0 ? err : add_internet(&world[WORLD_ETH_UDP].pat, "eth", false);
	ip = err < 0 ? err : add_internet(&world[WORLD_ETH_ODD].pat, "eth", true);
	err = ip < 0 ? ip : add_demux(&world[WORLD_ETH_ODD].pat, ip, 132, "secret", &secret);
	err = err < 0 ? err : add_strange(&world[WORLD_STRANGE].pat);
	err = err < 0 ? err : add_demux(&world[WORLD_FEW].pat, XK_PAT_ABOVE, 0, "whole", &whole);
	err = err < 0 ? err : add_many(&world[WORLD_MANY].pat);
	return err < 0 ? why : NULL;
}

/* ---- frames ------------------------------------------------------------------------------ */

static unsigned roll(struct xk_rand *dice, unsigned n)
{
	return (unsigned)xk_rand_below(dice, n);
}

static void put(uint8_t *h, const struct xk_pat_field *f, uint32_t v)
{
	for (unsigned i = 0; i < f->width; i++) {
		unsigned at = f->off + (f->little ? i : f->width - 1u - i);
		uint32_t mask = f->mask >> 8 * i;

		h[at] = (uint8_t)((h[at] & ~mask) | (v >> 8 * i & mask));
	}
}

/* Bytes of keys and identities have four values, so few connections make many frames. */
static void few(struct xk_rand *dice, uint8_t *h, const struct xk_pat_key *k, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned b = 0; b < k[i].width; b++)
			h[k[i].off + b] = b + 1u == k[i].width ? (uint8_t)roll(dice, 4) : 10;
}

/* A header of c at h; its length. */
static unsigned header(const struct xk_pattern *p, const struct xk_cell *c, struct xk_rand *dice, uint8_t *h, unsigned room,
		       const struct xk_cell **up)
{
	unsigned len = c->need, units;

	for (unsigned i = 0; i < c->need; i++)
		h[i] = (uint8_t)roll(dice, 256);
	few(dice, h, c->key, c->nkey);
	few(dice, h, c->ident, c->nident);
	if (c->has_postpone && roll(dice, 6) != 0)
		put(h, &c->postpone, 0);
	if (c->has_hlen) {
		units = (c->need + c->hlen.value - 1) / c->hlen.value + (roll(dice, 4) ? 0 : roll(dice, 5));
		put(h, &c->hlen, units << __builtin_ctz(c->hlen.mask));
		len = units * c->hlen.value < room ? units * c->hlen.value : room;
	}
	*up = c->nkid != 0 ? &p->cell[c->kid[roll(dice, c->nkid)]] : NULL;
	if (c->has_select && *up != NULL && roll(dice, 16) != 0)
		put(h, &c->select, (*up)->number);
	for (unsigned i = 0; i < c->nguard; i++)
		put(h, &c->guard[i], c->guard[i].value);
	return len;
}

unsigned worlds_frame(const struct xk_pattern *p, struct xk_rand *dice, uint8_t *f)
{
	const struct xk_cell *c = p->ncell != 0 ? &p->cell[XK_PAT_ROOT] : NULL;
	unsigned at = 0;

	memset(f, 1, WORLDS_FRAME);
	while (c != NULL && at + c->need + 64 < WORLDS_FRAME)
		at += header(p, c, dice, f + at, WORLDS_FRAME - 64 - at, &c);
	return at + 20 + roll(dice, 40);
}

void worlds_mutate(struct xk_rand *dice, uint8_t *f, unsigned len)
{
	for (unsigned k = roll(dice, 3) ? 0 : roll(dice, 4); len != 0 && k > 0; k--)
		f[roll(dice, len)] ^= (uint8_t)(1u << roll(dice, 8));
	if (len != 0 && roll(dice, 8) == 0)
		f[roll(dice, len)] = (uint8_t)roll(dice, 256);
}
