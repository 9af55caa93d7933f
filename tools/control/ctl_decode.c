/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_decode.c - headers for people: named fields of the common protocols, and of any other
 * what it declares of its header (xk_demux.h).
 *
 * Bytes are whatever came: nothing is read beyond them, and a header that is cut says so.
 */
#include "tools/control/ctl_trace.h"

#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/classify/xk_classify.h"

struct bytes { const uint8_t *p; size_t n; };
static unsigned be16(const uint8_t *p) { return (unsigned)p[0] << 8 | p[1]; }
static uint32_t be32(const uint8_t *p) { return (uint32_t)be16(p) << 16 | be16(p + 2); }

static void put_ip(json_t *o, const char *key, const uint8_t *p)
{
	char buf[16];

	snprintf(buf, sizeof buf, "%u.%u.%u.%u", p[0], p[1], p[2], p[3]);
	json_object_set_new(o, key, json_string(buf));
}

static void put_mac(json_t *o, const char *key, const uint8_t *p)
{
	char buf[18];

	snprintf(buf, sizeof buf, "%02x:%02x:%02x:%02x:%02x:%02x", p[0], p[1], p[2], p[3], p[4], p[5]);
	json_object_set_new(o, key, json_string(buf));
}

static void put_hex(json_t *o, const char *key, uint32_t v)
{
	char buf[16];

	snprintf(buf, sizeof buf, "0x%04x", v);
	json_object_set_new(o, key, json_string(buf));
}

static const char *of_ethertype(unsigned type)
{
	return type == 0x0800 ? "ip" : type == 0x0806 ? "arp" : NULL;
}

/* Each: fills o, takes its header off b, returns the protocol above it, or NULL. */

static const char *eth(json_t *o, struct bytes *b)
{
	unsigned type = be16(b->p + 12);

	put_mac(o, "dst", b->p);
	put_mac(o, "src", b->p + 6);
	put_hex(o, "type", type);
	b->p += 14;
	b->n -= 14;
	return of_ethertype(type);
}

static const char *fddi(json_t *o, struct bytes *b)
{
	unsigned type = be16(b->p + 19);

	put_mac(o, "dst", b->p + 1);
	put_mac(o, "src", b->p + 7);
	put_hex(o, "type", type);
	b->p += 21;
	b->n -= 21;
	return of_ethertype(type);
}

static const char *arp(json_t *o, struct bytes *b)
{
	unsigned op = be16(b->p + 6);

	json_object_set_new(o, "op", json_string(op == 1 ? "request" : op == 2 ? "reply" : "other"));
	put_mac(o, "sender_mac", b->p + 8);
	put_ip(o, "sender", b->p + 14);
	put_ip(o, "target", b->p + 24);
	return NULL;
}

static const char *ip(json_t *o, struct bytes *b)
{
	unsigned hlen = (b->p[0] & 15u) * 4, frag = be16(b->p + 6), proto = b->p[9];

	put_ip(o, "src", b->p + 12);
	put_ip(o, "dst", b->p + 16);
	ctl_put(o, "proto", proto);
	ctl_put(o, "len", be16(b->p + 2));
	ctl_put(o, "ttl", b->p[8]);
	ctl_put(o, "id", be16(b->p + 4));
	if ((frag & 0x3fff) != 0)
		ctl_put(o, "fragment_at", (frag & 0x1fff) * 8u);
	if (hlen < 20 || hlen > b->n || (frag & 0x1fff) != 0)
		return NULL;
	b->p += hlen;
	b->n -= hlen;
	return proto == 17 ? "udp" : proto == 6 ? "tcp" : proto == 1 ? "icmp" : NULL;
}

static const char *icmp(json_t *o, struct bytes *b)
{
	ctl_put(o, "type", b->p[0]);
	ctl_put(o, "code", b->p[1]);
	if (b->p[0] == 0 || b->p[0] == 8) {
		ctl_put(o, "id", be16(b->p + 4));
		ctl_put(o, "seq", be16(b->p + 6));
	}
	return NULL;
}

static const char *udp(json_t *o, struct bytes *b)
{
	ctl_put(o, "sport", be16(b->p));
	ctl_put(o, "dport", be16(b->p + 2));
	ctl_put(o, "len", be16(b->p + 4));
	put_hex(o, "sum", be16(b->p + 6));
	return NULL;
}

static const char *tcp(json_t *o, struct bytes *b)
{
	static const char names[] = "FSRPAUEC";
	char flags[9];
	unsigned n = 0;

	for (unsigned i = 0; i < 8; i++)
		if (b->p[13] >> i & 1)
			flags[n++] = names[i];
	flags[n] = '\0';
	ctl_put(o, "sport", be16(b->p));
	ctl_put(o, "dport", be16(b->p + 2));
	ctl_put(o, "seq", be32(b->p + 4));
	ctl_put(o, "ack", be32(b->p + 8));
	json_object_set_new(o, "flags", json_string(flags));
	ctl_put(o, "win", be16(b->p + 14));
	return NULL;
}

static const struct known { const char *name; size_t need; const char *(*read)(json_t *, struct bytes *); } known[] = {
	{ "eth", 14, eth }, { "fddi", 21, fddi }, { "arp", 28, arp }, { "ip", 20, ip }, { "icmp", 8, icmp },
	{ "udp", 8, udp }, { "tcp", 20, tcp },
};

/* One header; NULL: nobody knows what is above. */
static const char *one(json_t *list, const struct known *k, struct bytes *b)
{
	json_t *o = json_pack("{s:s}", "protocol", k->name);
	const char *above = NULL;

	if (b->n >= k->need)
		above = k->read(o, b);
	else
		json_object_set_new(o, "cut", json_true());
	json_array_append_new(list, o);
	return above;
}

static const struct known *find(const char *name)
{
	for (unsigned i = 0; name != NULL && i < XK_ARRAY_LEN(known); i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

/* What the protocol says of its own header. */
static void declared(json_t *list, const struct xk_proto *p, struct bytes b)
{
	static const char *const role[] = { "", "guard", "remote", "local", "hlen", "select", "postpone", "ident" };
	json_t *o = json_pack("{s:s}", "protocol", p->name);
	const struct xk_demux_field *f = p->demux->field;

	for (; f != NULL && f->role != XK_DX_END; f++) {
		unsigned r = f->role & ~XK_DX_LITTLE, n = 0;
		char key[32], hex[16];

		if (r >= XK_ARRAY_LEN(role) || (size_t)f->off + f->width > b.n || f->width > 6)
			continue;
		for (unsigned i = 0; i < f->width; i++)
			n += (unsigned)snprintf(hex + n, sizeof hex - n, "%02x", b.p[f->off + i]);
		snprintf(key, sizeof key, "%s@%u", role[r], f->off);
		json_object_set_new(o, key, json_string(hex));
	}
	json_array_append_new(list, o);
}

json_t *ctl_decode(const struct xk_node *n, const uint8_t *p, size_t len, bool all)
{
	static const char *const of_link[] = { [XK_LINK_ETH] = "eth", [XK_LINK_FDDI] = "fddi", [XK_LINK_RAWIP] = "ip" };
	json_t *list = json_array();
	struct bytes b = { p, len };
	int link = n->proto->is_driver ? ctl_link_of(n) : -1;
	const struct known *k = find(link >= 0 ? of_link[link] : n->proto->name);

	if (k == NULL && !n->proto->is_driver && n->proto->demux != NULL && !n->proto->demux->through)
		declared(list, n->proto, b);
	all = all || n->proto->is_driver;
	while (k != NULL) {
		const char *above = one(list, k, &b);

		k = all ? find(above) : NULL;
	}
	return list;
}
