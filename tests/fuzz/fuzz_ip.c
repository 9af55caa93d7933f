/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_ip.c - fuzz target of IP: whatever fragments come, a datagram that goes up is what a plain reading makes of them.
 *
 * An input is steps: a fragment of one of a few datagrams, at any place, of any length, with bytes that may contradict
 * others; a whole datagram with a header of any bytes; time, after which nothing is held.  Fragments also go into a model
 * that keeps a byte for each byte and says what RFC 791 with RFC 5722's rule makes of them: an exact copy is nothing new,
 * any other overlap, a second end, bytes behind the end and what is longer than a datagram may be condemn all of it.
 * Held to: the same datagrams go up, in the same order, with the same bytes; a datagram that is none is dropped, once; at
 * the end nothing is held and the memory for fragments is back.
 * Invariant: nothing is kept from one input to the next but the graph, which is idle.
 */
#include <string.h>

#include "protocols/ip/ip_priv.h"
#include "runtime/upi/xk_inline.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/net_fixture.h"

#define IDS    4u
#define STEPS  96u
#define MOST   65535u                    /* bytes of a datagram, header and all */
#define MF     0x2000u
#define CAP    (16 << 20)
#define STRANGER 0x0a00004du             /* who sends what no model knows */

static struct pf f;

/* ---- the model ------------------------------------------------------------------------------------ */

static struct dgram {
	bool     live, dead;
	uint32_t end, top, got, hlen;    /* end 0: not known */
	struct { uint32_t at, len; } frag[STEPS];
	unsigned n;
	uint8_t  bytes[MOST + 8];
} model[IDS];
static struct { unsigned id; uint32_t len; } up[STEPS];
static unsigned nup;
static uint8_t whole[STEPS][2048];       /* the beginning of each that should have gone up */

struct piece { unsigned id; uint32_t at, len, hlen; bool more; const uint8_t *bytes; };

static bool is_copy(const struct dgram *d, const struct piece *p)
{
	for (unsigned i = 0; i < d->n; i++)
		if (d->frag[i].at == p->at)
			return d->frag[i].len == p->len && memcmp(d->bytes + p->at, p->bytes, p->len) == 0;
	return false;
}

/* By units of eight bytes, as fragments are told apart. */
static bool overlaps(const struct dgram *d, const struct piece *p)
{
	for (unsigned i = 0; i < d->n; i++)
		if (p->at < (d->frag[i].at + d->frag[i].len + 7) / 8 * 8 && d->frag[i].at < (p->at + p->len + 7) / 8 * 8)
			return true;
	return false;
}

static bool is_wrong(const struct dgram *d, const struct piece *p)
{
	uint32_t to = p->at + p->len;

	return (p->more && p->len % 8 != 0) || to + p->hlen > MOST || (d->end != 0 && to > d->end) ||
	       (!p->more && ((d->end != 0 && d->end != to) || d->top > to)) || overlaps(d, p);
}

static void goes_up(unsigned id, const uint8_t *bytes, uint32_t len)
{
	up[nup].id = id;
	up[nup].len = len;
	memcpy(whole[nup++], bytes, len < sizeof whole[0] ? len : sizeof whole[0]);
}

static void model_piece(const struct piece *p)
{
	struct dgram *d = &model[p->id];

	if (p->len == 0)
		return;
	if (!d->live) {
		d->live = true;
		d->dead = false;
		d->end = d->top = d->got = d->hlen = d->n = 0;
	}
	if (d->dead || (!(p->more && p->len % 8 != 0) && p->at + p->len + p->hlen <= MOST && is_copy(d, p)))
		return;
	d->dead = is_wrong(d, p);
	if (d->dead)
		return;
	d->frag[d->n].at = p->at;
	d->frag[d->n++].len = p->len;
	memcpy(d->bytes + p->at, p->bytes, p->len);
	d->got += p->len;
	d->end = p->more ? d->end : p->at + p->len;
	d->top = d->top > p->at + p->len ? d->top : p->at + p->len;
	d->hlen = p->at == 0 ? p->hlen : d->hlen;
	if (d->got != d->end)
		return;
	d->dead = d->end + d->hlen > MOST;
	d->live = d->dead;
	if (!d->dead)
		goes_up(p->id, d->bytes, d->end);
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static uint8_t tells(uint32_t at, unsigned id) { return (uint8_t)(at * 31 + (at >> 8) * 7 + id); }

/* Offsets near those of other pieces, so that pieces meet; now and then far out. */
static void fragment(struct fuzz_in *in)
{
	static const uint8_t nops[40] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
					  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	static uint8_t pay[MOST], d[MOST + 64];
	unsigned what = fuzz_byte(in), place = fuzz_byte(in), len = fuzz_byte(in);
	struct piece p = { .id = what % IDS, .at = place, .len = what & 8 ? len * 8 : len, .hlen = 20, .more = what & 4 };
	struct nf_ip h = { .id = (uint16_t)(what % IDS), .opt = nops };

	if (what & 16)
		p.at = p.at << 5 | 31;
	if (what & 32)
		h.nopt = fuzz_byte(in) % 11 * 4;
	p.at *= 8;
	p.hlen += h.nopt;
	h.frag = (uint16_t)(p.at / 8 | (p.more ? MF : 0));
	for (uint32_t i = 0; i < p.len; i++)
		pay[i] = tells(p.at + i, p.id);
	if ((what & 64) && p.len != 0)
		pay[fuzz_byte(in) % p.len] ^= (uint8_t)fuzz_byte(in);
	p.bytes = pay;
	if (p.at == 0 && !p.more) {              /* no fragment at all */
		if (p.len != 0)
			goes_up(p.id, pay, p.len);
	} else {
		model_piece(&p);
	}
	if (p.len != 0 || h.frag != 0)
		nf_in(&f, 0, d, nf_ip(d, &h, pay, p.len));
}

/* Is it one that no receiver believes? */
static bool lies(const uint8_t *d, uint32_t n)
{
	uint32_t hlen = n != 0 ? (d[0] & 15u) * 4 : 0;

	return n < 20 || d[0] >> 4 != 4 || hlen < 20 || hlen > n || xk_be16(d + 2) < hlen || xk_be16(d + 2) > n ||
	       nf_sum(d, hlen, 0) != 0;
}

/* A header of any bytes; its sum right if there is room for one and the input wants it. */
static void raw(struct fuzz_in *in)
{
	uint8_t d[256];
	const uint8_t *bytes;
	unsigned how = fuzz_byte(in), had = nf_ngot(&f, "raw");
	uint64_t drops, taken = pf_count(&f, "ip", "fragments_in");
	uint32_t n = fuzz_some(in, &bytes, 20 + fuzz_byte(in) % 200);

	memcpy(d, bytes, n);
	if (n >= 20) {
		xk_put_be32(d + 12, STRANGER);
		if (how & 1)
			xk_put_be32(d + 16, NF_US);
		if (how & 2)
			d[0] = (uint8_t)(0x45 + how / 8 % 11);
		if (how & 4)
			xk_put_be16(d + 2, (uint16_t)n);
		if ((d[0] & 15u) * 4 <= n && !(how & 128))
			nf_fix(d);
	}
	nf_forget_drops(&f);
	nf_in(&f, 0, d, n);
	drops = nf_drops(&f);
	if (lies(d, n) && (drops != 1 || nf_ngot(&f, "raw") != had || pf_count(&f, "ip", "fragments_in") != taken))
		fuzz_must("a datagram that is none was not dropped, once");
	if (n >= 20 && !lies(d, n) && nf_ngot(&f, "raw") == had + 1) {
		const struct pf_rec *r = nf_got(&f, "raw", had);
		uint32_t hlen = (d[0] & 15u) * 4;

		if (!(xk_be16(d + 6) & 0x3fff) &&
		    (r->len != xk_be16(d + 2) - hlen || memcmp(r->bytes, d + hlen, r->len) != 0))
			fuzz_must("a datagram's payload is another one above");
	}
	while (nf_ngot(&f, "raw") != had) {      /* the model knows nothing of it */
		struct pf_recs *rs = &pf_upper_of(&f, "raw")->got;

		free(rs->v[--rs->n].bytes);
	}
}

static void wait(struct fuzz_in *in)
{
	if (fuzz_byte(in) & 1) {
		pf_run(&f, 31 * XK_SEC);
		for (unsigned i = 0; i < IDS; i++)
			model[i].live = false;
	} else {
		pf_run(&f, (1 + fuzz_byte(in)) * XK_MS);
	}
}

/* ---- inputs ---------------------------------------------------------------------------------------------- */

static void compare(void)
{
	if (nf_ngot(&f, "raw") != nup)
		fuzz_must(nf_ngot(&f, "raw") < nup ? "a datagram is missing above" : "a datagram too many went up");
	for (unsigned i = 0; i < nup; i++) {
		const struct pf_rec *r = nf_got(&f, "raw", i);
		uint32_t n = r->len < sizeof whole[0] ? r->len : (uint32_t)sizeof whole[0];

		if (r->len != up[i].len || memcmp(r->bytes, whole[i], n) != 0)
			fuzz_must("a datagram has other bytes above");
	}
}

static void nothing_is_held(void)
{
	struct ip_reass *ra = &ip_state(pf_rep(&f, "ip", 0))->reass;

	pf_run(&f, 31 * XK_SEC);
	if (ra->n != 0 || ra->held != 0 || ra->credit != 0 || ((struct ip_node *)pf_node(&f, "ip")->state)->credit != CAP)
		fuzz_must("memory for fragments is not back");
}

static void down(void)
{
	nf_down(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, data + size };

	if (f.g == NULL) {
		nf_up1(&f, "reass_bytes=16MiB");
		if (atexit(down) != 0)
			abort();
	}
	memset(model, 0, offsetof(struct dgram, bytes));
	for (unsigned i = 0; i < IDS; i++)
		model[i].live = false;
	nup = 0;
	for (unsigned steps = 0; fuzz_more(&in) && steps < STEPS; steps++) {
		unsigned what = fuzz_byte(&in) % 8;

		if (what < 6)
			fragment(&in);
		else if (what == 6)
			raw(&in);
		else
			wait(&in);
	}
	compare();
	nothing_is_held();
	nf_forget(&f, "raw");
	pf_forget(&f, "hl");
	return 0;
}
