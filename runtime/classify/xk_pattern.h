/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_pattern.h - the pattern graph: the declarations of a graph's protocols composed above one
 * device, as every back end of the classifier reads it.
 *
 * A cell is one protocol in one place: what its header must look like, which of its bytes are
 * part of a connection's key and where in the key they go, and by which number it finds the
 * cell above.  Cells form a tree whose root lies on the device.  They are merged over all
 * sessions (PathFinder): exact connections differ in their keys only, and those are in the
 * flow table, so the pattern does not change while traffic flows.
 *
 * A verdict on a frame of len bytes, from cell c = root at offset 0:
 *   1. fewer than c.need bytes left, or a guard that does not hold: the verdict so far
 *   2. c's key fields go into the key; where it has any, the verdict so far is XK_PAT_HOST
 *   3. c.postpone not 0: c's identity goes into the key; the verdict is XK_PAT_IDENT
 *   4. hlen < c.need or more than there is: the verdict so far
 *   5. c is a leaf: XK_PAT_FLOW where anything is in the key, else the verdict so far
 *   6. select names no cell above: the verdict so far; otherwise on with it, hlen further
 * and the verdict so far is XK_PAT_NONE at first.  Its key is what was gathered, with the
 * cell's `host`, `ident` or `flow` word as w[1]'s selector; hash and VP follow from the key
 * alone.  No byte at or behind len is read.
 *
 * A key is a struct xk_flowkey whatever the protocols: an end has 6 bytes, 4 at raddr or
 * laddr and 2 at rport or lport, filled in this order; the 4 bytes behind (proto, zero) are
 * the selector: they tell apart conversations of different protocols.
 */
#ifndef XK_PATTERN_H
#define XK_PATTERN_H

#include "runtime/classify/xk_demux.h"
#include "runtime/map/xk_map.h"

/* As seen by the receiving end: remote is the frame's source.  Network order
 * as the bytes lie in the frame. */
struct xk_flowkey {
	uint32_t raddr, laddr;
	uint16_t rport, lport;   /* 0 where the protocol has none */
	uint8_t  proto;          /* IP protocol number */
	uint8_t  zero[3];
};
_Static_assert(sizeof(struct xk_flowkey) == sizeof(struct xk_key), "a flow key is a map key");

#define XK_PAT_CELLS  48u
#define XK_PAT_GUARDS 8u
#define XK_PAT_KEYS   8u
#define XK_PAT_KIDS   32u
#define XK_PAT_ROOT   0u
#define XK_PAT_ABOVE  UINT16_MAX         /* parent of the root */

enum xk_pat_kind {
	XK_PAT_NONE,     /* nothing is known: hash 0, VP 0 */
	XK_PAT_HOST,     /* two hosts, no more: spread by their hash */
	XK_PAT_IDENT,    /* a fragment: spread by the datagram's hash */
	XK_PAT_FLOW,     /* a connection: its flow's VP, or spread by its hash */
};

/* A number in the header at hand. */
struct xk_pat_field {
	uint16_t off;
	uint8_t  width;          /* 1 to 4 */
	bool     little;
	uint32_t mask;           /* never 0 */
	uint32_t value;          /* guard: what it must be; hlen: bytes a unit */
};

/* Bytes of the header at hand that go into the key as they are; never across two of its
 * members: at + width <= 4, 8, 10 or 12. */
struct xk_pat_key {
	uint16_t off;
	uint8_t  width;          /* 1 to 4 */
	uint8_t  at;             /* byte of the key, 0 to 11 */
	uint32_t mask;           /* of the bytes as a number, most significant first; never 0 */
};

struct xk_cell {
	const char *name;        /* of the node */
	const char *proto;
	const char *elsewhere;   /* see struct xk_demux */
	uint16_t    parent;
	uint16_t    need;
	uint32_t    number;      /* that led here from the parent */
	uint8_t     nguard, nkey, nident, nkid;
	bool        has_postpone, has_hlen, has_select;
	bool        keyed;       /* anything in the key up to here, this cell's included */
	struct xk_pat_field guard[XK_PAT_GUARDS];
	struct xk_pat_key   key[XK_PAT_KEYS], ident[XK_PAT_KEYS];
	struct xk_pat_field postpone, hlen, select;
	/* Bytes 12 to 15 of the key for each kind of verdict, as a number, most significant
	 * byte first: 0 and 1 for hosts and datagrams; the number that led here in byte 12, or in
	 * 13 and 14 where it has 2 bytes, for connections. */
	uint32_t    host, ident_sel, flow;
	uint16_t    kid[XK_PAT_KIDS];    /* cells above, by rising number */
};

struct xk_pattern {
	unsigned       ncell;            /* 0: every verdict is XK_PAT_NONE */
	struct xk_cell cell[XK_PAT_CELLS];
};

/* Leaf: nothing is decided above it. */
static inline bool xk_cell_leaf(const struct xk_cell *c)
{
	return !c->has_select;
}

struct xk_pat_verdict {
	struct xk_flowkey key;
	uint32_t hash;                   /* 0 exactly for XK_PAT_NONE */
	uint16_t cell;                   /* that decided */
	uint8_t  kind;                   /* enum xk_pat_kind */
};

/* ---- making one ------------------------------------------------------------------------- */

/*
 * Adds a cell: `parent` XK_PAT_ABOVE for the root, which must be the first; else the cell in
 * whose header `number` stands for it.  Returns its index, or a negative error with a sentence
 * in why: XK_E_INVAL declarations that contradict themselves or reach past their header,
 * XK_E_EXIST two cells for one number, XK_E_NOSPC more than a key or a pattern holds.
 * Names must outlive the pattern.
 */
int xk_pattern_add(struct xk_pattern *p, unsigned parent, uint32_t number, const char *name, const char *proto,
		   const struct xk_demux *d, char *why, size_t whylen);

/* ---- what it says --------------------------------------------------------------------------- */

/* The reference: slow, obvious, by the rules above. */
void xk_pattern_match(const struct xk_pattern *p, const uint8_t *frame, uint32_t len, struct xk_pat_verdict *v);

/* A frame of the connection `key` as cell number `cell` would get it, everything else zero;
 * its length, or 0: there is none, or not in `room` bytes. */
uint32_t xk_pattern_frame(const struct xk_pattern *p, unsigned cell, const struct xk_flowkey *key, uint8_t *frame,
			  uint32_t room);

/*
 * Hash of a key, the same in C, classic BPF and eBPF, so that a device and the runtime send a
 * connection to the same VP: 32-bit operations only.  Numbers are read most significant byte
 * first.  Symmetric: both directions of a connection hash alike.  Never 0.
 */
#define XK_HASH_PORT 0x9e3779b1u
#define XK_HASH_END  0x85ebca6bu
#define XK_HASH_ALL  0xc2b2ae35u
static inline uint32_t xk_hash_end(uint32_t addr, uint32_t port)
{
	uint32_t x = addr + port * XK_HASH_PORT;

	x = (x ^ x >> 15) * XK_HASH_END;
	return x ^ x >> 13;
}

static inline uint32_t xk_hash_ends(uint32_t raddr, uint32_t rport, uint32_t laddr, uint32_t lport, uint32_t selector)
{
	uint32_t h = xk_hash_end(raddr, rport) + xk_hash_end(laddr, lport) + selector;

	h = (h ^ h >> 16) * XK_HASH_ALL;
	h ^= h >> 15;
	return h + (h == 0);
}

/* The VP of a hash: every device must compute the same. */
static inline uint16_t xk_hash_vp(uint32_t hash, unsigned nvps)
{
	return (uint16_t)((hash >> 16) * nvps >> 16);
}

#endif
