/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_shapes.c - changes of a message's shape: options with lengths that lie, sets of
 * options, SACK blocks and timestamps of all kinds, frames cut and padded.
 *
 * A value is a number; what it means is worked out from it by division, or is a row
 * of a table.
 */
#include "tests/mutate/mut_priv.h"
#include "runtime/upi/xk_inline.h"

#include <string.h>

static const uint8_t kinds[] = { 2, 3, 4, 5, 8, 9, 14, 19, 28, 29, 34, 254, 255 };
static const uint8_t lens[] = { 0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 18, 40, 41, 255 };
static const uint8_t ip_kinds[] = { 7, 68, 130, 131, 136, 137, 148, 255 };
static const uint8_t pointers[] = { 0, 3, 4, 5, 8, 255 };
static const uint8_t ip_lens[] = { 0, 1, 2, 3, 4, 7, 8, 9, 40, 255 };
static const uint16_t cuts[] = { 1, 2, 4, 8, 12, 16, 20, 21, 30, 40, 41, 54, 60, 74, 80 };
static const uint8_t pads[] = { 1, 2, 5, 6, 18, 26, 45, 46 };
static const uint16_t payloads[] = { 0, 1, 2, 7, 8, 536, 1400, 1460, 1461, 2000 };
static const uint8_t quotes[] = { 0, 1, 7, 8, 19, 20, 21, 27, 28, 40 };

/* Whole sets of TCP options. */
static const struct { uint8_t n, b[40]; } sets[] = {
	{ 40, { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ 8, { 0, 0xff, 0xff, 0xff, 2, 4, 0, 1 } },                       /* the end, then junk */
	{ 4, { 2, 4, 0, 0 } }, { 4, { 2, 4, 0, 1 } }, { 4, { 2, 4, 0, 63 } }, { 4, { 2, 4, 0, 64 } },
	{ 4, { 2, 4, 0xff, 0xff } }, { 8, { 2, 4, 5, 0xb4, 2, 4, 0, 0 } }, /* said twice */
	{ 4, { 3, 3, 0, 0 } }, { 4, { 3, 3, 14, 0 } }, { 4, { 3, 3, 15, 0 } }, { 4, { 3, 3, 255, 0 } },
	{ 8, { 4, 2, 4, 2, 4, 2, 4, 2 } }, { 8, { 1, 1, 1, 1, 1, 1, 1, 2 } }, { 8, { 8, 10, 0, 0, 0, 0, 0, 0 } },
	{ 4, { 28, 4, 0, 0 } }, { 4, { 28, 4, 0xff, 0xff } }, { 20, { 19, 18 } }, { 8, { 34, 6, 1, 2, 3, 4, 1, 0 } },
	{ 4, { 34, 2, 1, 0 } }, { 40, { 5, 34 } }, { 40, { 5, 40 } }, { 4, { 0 } }, { 8, { 253, 6, 0xf9, 0x89, 0, 0, 1, 1 } },
};

/* Blocks of SACK, from the acknowledged number on, in bytes; from the largest sent
 * when so marked. */
static const struct { uint8_t n; bool max; struct { int64_t l, r; } b[4]; } sacks[] = {
	{ 1, false, { { 0, 0 } } }, { 1, false, { { 1, 2 } } }, { 1, false, { { 1460, 2920 } } },
	{ 1, false, { { 2920, 1460 } } },                                  /* reversed */
	{ 1, false, { { -1460, -1 } } }, { 1, false, { { -1460, 1460 } } }, { 1, false, { { 0, 1460 } } },
	{ 1, true, { { -1, 0 } } }, { 1, true, { { -1460, 1 } } }, { 1, true, { { 0, 1460 } } }, { 1, true, { { 1, 2 } } },
	{ 1, false, { { 0x7fffffff, 0x80000001 } } }, { 1, false, { { -1, 0x7fffffff } } },
	{ 3, false, { { 1, 2 }, { 3, 4 }, { 5, 6 } } }, { 3, false, { { 1460, 2920 }, { 1460, 2920 }, { 1000, 3000 } } },
	{ 3, false, { { -10, -5 }, { 1460, 2920 }, { 4380, 5840 } } }, { 2, false, { { 100, 200 }, { 150, 250 } } },
	{ 3, true, { { -3, -2 }, { -2, -1 }, { -1, 0 } } },
};

/* Timestamps from the last one on; the answer is garbage in the second half. */
static const int64_t times[] = { -1, 0, 1, 1000, -1000, 0x7fffffff, 0x80000000, 0x80000001 };

static const struct { const char *name; unsigned values; } shapes[MUT_SHAPE_COUNT] = {
	[MUT_TCP_OPTION] = { "tcp.option", XK_ARRAY_LEN(kinds) * XK_ARRAY_LEN(lens) },
	[MUT_TCP_LAST] = { "tcp.last_option", XK_ARRAY_LEN(kinds) * 3 },
	[MUT_TCP_SPECIAL] = { "tcp.options", XK_ARRAY_LEN(sets) },
	[MUT_TCP_SACK] = { "tcp.sack", XK_ARRAY_LEN(sacks) },
	[MUT_TCP_TIME] = { "tcp.timestamps", 2 * XK_ARRAY_LEN(times) + 1 },
	[MUT_IP_OPTION] = { "ip.option", XK_ARRAY_LEN(ip_kinds) * XK_ARRAY_LEN(ip_lens) },
	[MUT_IP_LAST] = { "ip.option_pointer", XK_ARRAY_LEN(ip_kinds) * XK_ARRAY_LEN(pointers) },
	[MUT_CUT] = { "cut", XK_ARRAY_LEN(cuts) }, [MUT_PAD] = { "pad", XK_ARRAY_LEN(pads) },
	[MUT_LEN] = { "payload", XK_ARRAY_LEN(payloads) }, [MUT_QUOTED] = { "quoted", XK_ARRAY_LEN(quotes) },
};

unsigned mut_shape_values(enum mut_shape s) { return shapes[s].values; }
const char *mut_shape_name(enum mut_shape s) { return shapes[s].name; }

bool mut_shape_fits(enum mut_shape s, enum mut_kind kind, bool below, bool options)
{
	switch (s) {
	case MUT_IP_OPTION:
	case MUT_IP_LAST:
	case MUT_LEN:
		return below || kind == MUT_UDP || kind == MUT_ICMP_ECHO;
	case MUT_CUT:
	case MUT_PAD:
		return below || kind != MUT_TCP;
	case MUT_QUOTED:
		return kind == MUT_ICMP_ERROR;
	default:
		return options;
	}
}

/* ---- TCP's options ------------------------------------------------------------------------- */

static void tcp_option(struct mut_spec *s, unsigned v)
{
	s->nopt = 12;
	memset(s->opt, 0x41, s->nopt);
	s->opt[0] = kinds[v / XK_ARRAY_LEN(lens)];
	s->opt[1] = lens[v % XK_ARRAY_LEN(lens)];
}

/* The kind as the last byte; with its length; with a length one too long. */
static void tcp_last(struct mut_spec *s, unsigned v)
{
	uint32_t room = v % 3 + 1;

	s->nopt = 40;
	memset(s->opt, 1, s->nopt);
	s->opt[40 - room] = kinds[v / 3];
	if (room > 1)
		s->opt[41 - room] = (uint8_t)(room + 1);
}

static void tcp_sack(struct mut_spec *s, const struct mut_conn *c, unsigned v)
{
	uint32_t from = sacks[v].max ? c->max : c->una, n = sacks[v].n;
	uint8_t *p = s->opt;

	p += c->ts ? mut_ts_option(p, c->tsval, c->tsecr) : 0;
	xk_put_be32(p, 0x01010502 + 8 * n);
	p += 4;
	for (uint32_t i = 0; i < n; i++, p += 8) {
		xk_put_be32(p, from + (uint32_t)sacks[v].b[i].l);
		xk_put_be32(p + 4, from + (uint32_t)sacks[v].b[i].r);
	}
	s->nopt = (uint32_t)(p - s->opt);
	s->ack = c->una;
}

static void tcp_time(struct mut_spec *s, const struct mut_conn *c, unsigned v)
{
	const unsigned n = XK_ARRAY_LEN(times);

	s->nopt = 0;
	if (v < 2 * n)
		s->nopt = mut_ts_option(s->opt, c->tsval + (uint32_t)times[v % n], v < n ? c->tsecr : 0xdeadbeef);
}

/* ---- IP's -------------------------------------------------------------------------------------- */

static void ip_option(struct mut_spec *s, uint8_t kind, uint8_t len, uint8_t pointer)
{
	s->nipopt = 8;
	memset(s->ipopt, 0, s->nipopt);
	s->ipopt[0] = kind;
	s->ipopt[1] = len;
	s->ipopt[2] = pointer;
}

/* ---- any ------------------------------------------------------------------------------------------ */

void mut_change_shape(struct mut_spec *s, const struct mut_conn *c, struct mut_change ch)
{
	unsigned v = ch.value;

	if (ch.group < MUT_SHAPE_GROUP)
		return;
	switch ((enum mut_shape)(ch.group - MUT_SHAPE_GROUP)) {
	case MUT_TCP_OPTION: tcp_option(s, v); break;
	case MUT_TCP_LAST:   tcp_last(s, v); break;
	case MUT_TCP_SPECIAL:
		s->nopt = sets[v].n;
		memcpy(s->opt, sets[v].b, s->nopt);
		break;
	case MUT_TCP_SACK:   tcp_sack(s, c, v); break;
	case MUT_TCP_TIME:   tcp_time(s, c, v); break;
	case MUT_IP_OPTION:
		ip_option(s, ip_kinds[v / XK_ARRAY_LEN(ip_lens)], ip_lens[v % XK_ARRAY_LEN(ip_lens)], 4);
		break;
	case MUT_IP_LAST:
		ip_option(s, ip_kinds[v / XK_ARRAY_LEN(pointers)], 7, pointers[v % XK_ARRAY_LEN(pointers)]);
		break;
	case MUT_CUT:        s->cut = cuts[v]; break;
	case MUT_PAD:        s->pad = pads[v]; break;
	case MUT_LEN:        s->len = payloads[v]; break;
	case MUT_QUOTED:     s->quote = quotes[v]; break;
	case MUT_SHAPE_COUNT: break;
	}
}
