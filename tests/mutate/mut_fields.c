/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_fields.c - the messages that are changed, the fields of their headers, and the
 * values that each field is given.
 *
 * Every field gets 0, 1, its largest, one more and one less than what is right, and
 * its highest bit; then the values that its neighbours in the protocol make special,
 * some of them known only when the connection is (the edges of both windows).  What
 * changes a message's shape (options, lengths, padding) is in mut_shapes.c.
 * Invariant: a base has the same changes in every state, so cases can be counted.
 */
#include "tests/mutate/mut_priv.h"
#include "runtime/upi/xk_inline.h"

#include <stdio.h>
#include <string.h>

/* ---- bases ------------------------------------------------------------------------------ */

static const struct base {
	const char *name;
	enum mut_kind kind;
	uint16_t flags, urp;
	uint32_t len;
	uint8_t  type, code;
	bool     below;                  /* link, IP and shapes, too */
	bool     options;
} bases[] = {
	{ "ack", MUT_TCP, TCP_ACK, 0, 0, 0, 0, false, true },
	{ "data", MUT_TCP, TCP_ACK | TCP_PSH, 0, 20, 0, 0, true, true },
	{ "fin", MUT_TCP, TCP_FIN | TCP_ACK, 0, 0, 0, 0, false, false },
	{ "fin-data", MUT_TCP, TCP_FIN | TCP_ACK | TCP_PSH, 0, 20, 0, 0, false, false },
	{ "syn", MUT_TCP, TCP_SYN, 0, 0, 0, 0, true, true },
	{ "syn-ack", MUT_TCP, TCP_SYN | TCP_ACK, 0, 0, 0, 0, false, true },
	{ "rst", MUT_TCP, TCP_RST, 0, 0, 0, 0, false, false },
	{ "rst-ack", MUT_TCP, TCP_RST | TCP_ACK, 0, 0, 0, 0, false, false },
	{ "urg-data", MUT_TCP, TCP_URG | TCP_ACK | TCP_PSH, 20, 20, 0, 0, false, false },
	{ "urg-syn", MUT_TCP, TCP_URG | TCP_SYN, 1, 0, 0, 0, false, false },
	{ "urg-fin", MUT_TCP, TCP_URG | TCP_FIN | TCP_ACK, 20, 20, 0, 0, false, false },
	{ "udp", MUT_UDP, 0, 0, 32, 0, 0, false, false },
	{ "echo-request", MUT_ICMP_ECHO, 0, 0, 32, 8, 0, false, false },
	{ "unreachable", MUT_ICMP_ERROR, 0, 0, 0, 3, 1, false, false },
	{ "too-big", MUT_ICMP_ERROR, 0, 0, 0, 3, 4, false, false },
	{ "arp-request", MUT_ARP, 0, 0, 0, 1, 0, false, false },
	{ "arp-reply", MUT_ARP, 0, 0, 0, 2, 0, false, false },
};

unsigned mut_nbases(void) { return XK_ARRAY_LEN(bases); }
const char *mut_base_name(unsigned base) { return bases[base].name; }

/* The right message: what would be true if it came now. */
void mut_base(struct mut_spec *s, const struct mut_conn *c, unsigned base)
{
	const struct base *b = &bases[base];

	*s = (struct mut_spec){
		.kind = b->kind, .flags = b->flags, .urp = b->urp, .len = b->len, .type = b->type, .code = b->code,
		.wnd = 65535, .sport = c->sport, .dport = c->dport, .seq = c->nxt, .ack = c->max, .quote = 28,
	};
	if (b->kind == MUT_UDP)
		s->dport = MUT_ECHO;
	if (b->kind == MUT_ICMP_ERROR) {
		s->seq = c->una;
		s->rest = b->code == 4 ? 900 : 0;
	}
	if (b->kind != MUT_TCP)
		return;
	if (b->flags & TCP_SYN) {
		s->seq = c->irs;
		s->nopt = mut_syn_options(s->opt, c);
	} else if (c->ts) {
		s->nopt = mut_ts_option(s->opt, c->tsval, c->tsecr);
	}
}

/* ---- values ------------------------------------------------------------------------------- */

enum from { ABS, REL, NXT, RIGHT, UNA, MAX, OLD };
struct value { enum from from; int64_t v; };

/* Given to every field. */
static const struct value usual[] = {
	{ ABS, 0 }, { ABS, 1 }, { ABS, -1 }, { REL, 1 }, { REL, -1 }, { ABS, INT64_MIN },   /* the highest bit */
};

#define HALF 0x80000000ll
static const struct value seqs[] = {
	{ NXT, -65536 }, { NXT, -2 }, { NXT, -1 }, { NXT, 0 }, { NXT, 1 }, { NXT, 2 }, { NXT, -20 }, { NXT, -19 }, { NXT, -21 },
	{ NXT, HALF - 1 }, { NXT, HALF }, { NXT, HALF + 1 },
	{ RIGHT, -21 }, { RIGHT, -20 }, { RIGHT, -19 }, { RIGHT, -2 }, { RIGHT, -1 }, { RIGHT, 0 }, { RIGHT, 1 }, { RIGHT, 65535 },
};
static const struct value acks[] = {
	{ UNA, -1 }, { UNA, 0 }, { UNA, 1 }, { UNA, 2 }, { MAX, -2 }, { MAX, -1 }, { MAX, 0 }, { MAX, 1 }, { MAX, 65536 },
	{ OLD, -1 }, { OLD, 0 }, { OLD, 1 }, { UNA, HALF - 1 }, { UNA, HALF }, { UNA, HALF + 1 }, { MAX, HALF },
};
static const struct value nibble[] = {
	{ ABS, 2 }, { ABS, 3 }, { ABS, 4 }, { ABS, 5 }, { ABS, 6 }, { ABS, 7 }, { ABS, 10 }, { ABS, 11 }, { ABS, 14 },
};
static const struct value flag_bits[] = {
	{ ABS, 0x02 }, { ABS, 0x03 }, { ABS, 0x04 }, { ABS, 0x06 }, { ABS, 0x08 }, { ABS, 0x10 }, { ABS, 0x12 }, { ABS, 0x13 },
	{ ABS, 0x20 }, { ABS, 0x29 }, { ABS, 0x3f }, { ABS, 0x40 }, { ABS, 0xc0 }, { ABS, 0xc2 }, { ABS, 0x52 }, { ABS, 0xd0 },
};
static const struct value windows[] = { { ABS, 2 }, { ABS, 1459 }, { ABS, 1460 }, { ABS, 536 }, { ABS, 64 } };
static const struct value urgent[] = { { ABS, 19 }, { ABS, 20 }, { ABS, 21 }, { ABS, 2 }, { ABS, 0x7fff } };
static const struct value lengths[] = {
	{ ABS, 19 }, { ABS, 20 }, { ABS, 39 }, { ABS, 40 }, { ABS, 41 }, { REL, 2 }, { REL, -20 }, { REL, 46 }, { ABS, 8 }, { ABS, 7 },
};
static const struct value hosts[] = {
	{ ABS, MUT_US }, { ABS, MUT_PEER }, { ABS, 0x7f000001 }, { ABS, 0xe0000001 }, { ABS, 0x0affffff }, { ABS, 0x0a000000 },
	{ ABS, 0x0a000003 }, { ABS, 0xc0a80101 }, { ABS, 0xf0000001 },
};
static const struct value protos[] = { { ABS, 2 }, { ABS, 4 }, { ABS, 6 }, { ABS, 17 }, { ABS, 41 }, { ABS, 50 }, { ABS, 253 } };
static const struct value fragments[] = { { ABS, 2 }, { ABS, 8 }, { ABS, 0x1ffe }, { ABS, 0x1f80 } };
static const struct value types[] = { { ABS, 0x0806 }, { ABS, 0x86dd }, { ABS, 0x05dc }, { ABS, 0x0600 }, { ABS, 0x8100 } };
static const struct value macs[] = {
	{ ABS, 0x020000000001 }, { ABS, 0x020000000002 }, { ABS, 0x01005e000001 }, { ABS, 0x333300000001 }, { ABS, 0x020000000003 },
};
static const struct value icmp_types[] = {
	{ ABS, 3 }, { ABS, 4 }, { ABS, 5 }, { ABS, 8 }, { ABS, 11 }, { ABS, 12 }, { ABS, 13 }, { ABS, 14 }, { ABS, 17 },
};
static const struct value codes[] = {
	{ ABS, 2 }, { ABS, 3 }, { ABS, 4 }, { ABS, 5 }, { ABS, 9 }, { ABS, 10 }, { ABS, 13 }, { ABS, 15 }, { ABS, 16 },
};
static const struct value mtus[] = {
	{ ABS, 68 }, { ABS, 67 }, { ABS, 296 }, { ABS, 551 }, { ABS, 552 }, { ABS, 553 }, { ABS, 576 }, { ABS, 1499 }, { ABS, 1500 },
	{ ABS, 65535 },
};
static const struct value quoted[] = {
	{ UNA, -1 }, { UNA, 0 }, { UNA, 1 }, { MAX, -1 }, { MAX, 0 }, { MAX, 1 }, { UNA, HALF }, { NXT, 0 },
};
static const struct value versions[] = { { ABS, 0x44 }, { ABS, 0x46 }, { ABS, 0x4f }, { ABS, 0x65 }, { ABS, 0x40 }, { ABS, 0x41 } };

/* ---- fields --------------------------------------------------------------------------------- */

enum layer { ETH, FDDI, IP, TCP, UDP, ICMP, QUOTE, ARP };
struct field {
	const char *name;
	enum layer  layer;
	uint8_t     off, bytes, shift, bits;  /* bits at shift of a number of so many bytes */
	const struct value *more;
	unsigned    nmore;
};
#define PLAIN(name, layer, off, bytes) { name, layer, off, bytes, 0, 8 * (bytes), NULL, 0 }
#define MORE(name, layer, off, bytes, list) { name, layer, off, bytes, 0, 8 * (bytes), list, XK_ARRAY_LEN(list) }
#define PART(name, layer, off, bytes, shift, bits, list) { name, layer, off, bytes, shift, bits, list, XK_ARRAY_LEN(list) }

static const struct field fields[] = {
	MORE("eth.dst", ETH, 0, 6, macs), MORE("eth.src", ETH, 6, 6, macs), MORE("eth.type", ETH, 12, 2, types),
	PLAIN("fddi.fc", FDDI, 0, 1), MORE("fddi.dst", FDDI, 1, 6, macs), MORE("fddi.src", FDDI, 7, 6, macs),
	PLAIN("fddi.dsap", FDDI, 13, 1), PLAIN("fddi.ssap", FDDI, 14, 1), PLAIN("fddi.control", FDDI, 15, 1),
	PART("fddi.oui", FDDI, 16, 4, 8, 24, types), MORE("fddi.type", FDDI, 19, 2, types),
	PART("ip.version", IP, 0, 1, 4, 4, nibble), PART("ip.ihl", IP, 0, 1, 0, 4, nibble), PLAIN("ip.tos", IP, 1, 1),
	MORE("ip.total_length", IP, 2, 2, lengths), PLAIN("ip.id", IP, 4, 2), PART("ip.flags", IP, 6, 1, 5, 3, nibble),
	PART("ip.offset", IP, 6, 2, 0, 13, fragments), PLAIN("ip.ttl", IP, 8, 1), MORE("ip.protocol", IP, 9, 1, protos),
	PLAIN("ip.sum", IP, 10, 2), MORE("ip.src", IP, 12, 4, hosts), MORE("ip.dst", IP, 16, 4, hosts),
	PLAIN("tcp.sport", TCP, 0, 2), PLAIN("tcp.dport", TCP, 2, 2), MORE("tcp.seq", TCP, 4, 4, seqs),
	MORE("tcp.ack", TCP, 8, 4, acks), PART("tcp.doff", TCP, 12, 1, 4, 4, nibble), PART("tcp.reserved", TCP, 12, 1, 0, 4, nibble),
	MORE("tcp.flags", TCP, 13, 1, flag_bits), MORE("tcp.window", TCP, 14, 2, windows), PLAIN("tcp.sum", TCP, 16, 2),
	MORE("tcp.urgent", TCP, 18, 2, urgent),
	PLAIN("udp.sport", UDP, 0, 2), PLAIN("udp.dport", UDP, 2, 2), MORE("udp.length", UDP, 4, 2, lengths), PLAIN("udp.sum", UDP, 6, 2),
	MORE("icmp.type", ICMP, 0, 1, icmp_types), MORE("icmp.code", ICMP, 1, 1, codes), PLAIN("icmp.sum", ICMP, 2, 2),
	MORE("icmp.rest", ICMP, 4, 4, mtus),
	MORE("quote.version_ihl", QUOTE, 8, 1, versions), MORE("quote.total_length", QUOTE, 10, 2, lengths),
	PLAIN("quote.fragment", QUOTE, 14, 2), MORE("quote.protocol", QUOTE, 17, 1, protos), MORE("quote.src", QUOTE, 20, 4, hosts),
	MORE("quote.dst", QUOTE, 24, 4, hosts), PLAIN("quote.sport", QUOTE, 28, 2), PLAIN("quote.dport", QUOTE, 30, 2),
	MORE("quote.seq", QUOTE, 32, 4, quoted),
	PLAIN("arp.htype", ARP, 0, 2), PLAIN("arp.ptype", ARP, 2, 2), PLAIN("arp.hlen", ARP, 4, 1), PLAIN("arp.plen", ARP, 5, 1),
	PLAIN("arp.op", ARP, 6, 2), MORE("arp.sha", ARP, 8, 6, macs), MORE("arp.spa", ARP, 14, 4, hosts),
	MORE("arp.tha", ARP, 18, 6, macs), MORE("arp.tpa", ARP, 24, 4, hosts),
};
#define NFIELDS XK_ARRAY_LEN(fields)

static bool fits(const struct base *b, const struct field *f, bool fddi)
{
	switch (f->layer) {
	case ETH:   return b->below && !fddi;
	case FDDI:  return b->below && fddi;
	case IP:    return b->below || (b->kind != MUT_TCP && b->kind != MUT_ARP);
	case TCP:   return b->kind == MUT_TCP;
	case UDP:   return b->kind == MUT_UDP;
	case ICMP:  return b->kind == MUT_ICMP_ECHO || b->kind == MUT_ICMP_ERROR;
	case QUOTE: return b->kind == MUT_ICMP_ERROR;
	case ARP:   return b->kind == MUT_ARP;
	}
	return false;
}

static uint64_t load(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

static void store(uint8_t *p, unsigned n, uint64_t v)
{
	while (n-- > 0) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t resolve(const struct value *v, uint64_t was, const struct mut_conn *c, unsigned bits)
{
	const uint32_t from[] = { [NXT] = c->nxt, [RIGHT] = c->right, [UNA] = c->una, [MAX] = c->max, [OLD] = c->una - c->max_wnd };

	if (v->from == ABS)
		return v->v == INT64_MIN ? (uint64_t)1 << (bits - 1) : (uint64_t)v->v;
	return (v->from == REL ? was : from[v->from]) + (uint64_t)v->v;
}

static const struct value *value_of(const struct field *f, unsigned i)
{
	return i < XK_ARRAY_LEN(usual) ? &usual[i] : &f->more[i - XK_ARRAY_LEN(usual)];
}

static uint32_t begins(const struct mut_frame *f, enum layer l)
{
	return l == ETH || l == FDDI ? 0 : l == IP || l == ARP ? f->l3 : f->l4;
}

void mut_change_field(struct mut_frame *fr, const struct mut_conn *c, struct mut_change ch)
{
	const struct field *f;
	uint64_t mask, v, was;
	uint8_t *p;

	if (ch.group >= NFIELDS)
		return;
	f = &fields[ch.group];
	p = fr->b + begins(fr, f->layer) + f->off;
	mask = (f->bits == 64 ? 0 : (uint64_t)1 << f->bits) - 1;
	was = load(p, f->bytes);
	v = resolve(value_of(f, ch.value), was >> f->shift & mask, c, f->bits) & mask;
	store(p, f->bytes, (was & ~(mask << f->shift)) | v << f->shift);
	if (strcmp(f->name, "ip.sum") == 0)
		fr->raw_ip = true;
	else if (strstr(f->name, ".sum") != NULL)
		fr->raw_l4 = true;
}

/* ---- all of a base ------------------------------------------------------------------------------ */

#define MOST 1024u
struct list { unsigned n; struct mut_change at[MOST]; };

static void add(struct list *l, unsigned group, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		xk_assert(l->n < MOST);
		l->at[l->n++] = (struct mut_change){ (uint16_t)group, (uint16_t)i };
	}
}

static void fill(struct list *l, const struct base *b, bool fddi)
{
	for (unsigned i = 0; i < NFIELDS; i++)
		if (fits(b, &fields[i], fddi))
			add(l, i, XK_ARRAY_LEN(usual) + fields[i].nmore);
	for (unsigned i = 0; i < MUT_SHAPE_COUNT; i++)
		if (mut_shape_fits((enum mut_shape)i, b->kind, b->below, b->options))
			add(l, MUT_SHAPE_GROUP + i, mut_shape_values((enum mut_shape)i));
}

static const struct list *list_of(unsigned base, bool fddi)
{
	static struct list all[2][XK_ARRAY_LEN(bases)];
	struct list *l = &all[fddi][base];

	if (l->n == 0)
		fill(l, &bases[base], fddi);
	return l;
}

unsigned mut_nchanges(unsigned base, bool fddi)
{
	return list_of(base, fddi)->n;
}

struct mut_change mut_change_at(unsigned base, bool fddi, unsigned i)
{
	return list_of(base, fddi)->at[i];
}

bool mut_change_same_field(struct mut_change a, struct mut_change b)
{
	return a.group == b.group;
}

void mut_change_print(struct mut_change ch, char *text, size_t n)
{
	static const char *const from[] = { "", "right", "rcv_nxt", "rcv_edge", "snd_una", "snd_max", "una-max_wnd" };
	const struct value *v;

	if (ch.group >= MUT_SHAPE_GROUP) {
		snprintf(text, n, "%s no. %u", mut_shape_name((enum mut_shape)(ch.group - MUT_SHAPE_GROUP)), ch.value);
		return;
	}
	v = value_of(&fields[ch.group], ch.value);
	if (v->from == ABS && v->v == INT64_MIN)
		snprintf(text, n, "%s=highest bit", fields[ch.group].name);
	else if (v->from == ABS)
		snprintf(text, n, "%s=%lld", fields[ch.group].name, (long long)v->v);
	else
		snprintf(text, n, "%s=%s%+lld", fields[ch.group].name, from[v->from], (long long)v->v);
}
