/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_cells.c - whatever cells come: what AAL5 passes up is what a plain reading of the standards makes of them.
 *
 * An input is steps: bytes as they are, in a message of the port below; cells with a right HEC; a whole
 * frame with a right CRC, with a fault.  All of it goes through a graph and through a model that does each cell
 * and each frame by itself, bit by bit; what comes up must be the same frames on the same circuits, in
 * order, and each has a right CRC and length.  A difference aborts.  `make fuzz` runs it under
 * libFuzzer; fuzz_replay.c runs the corpus as an ordinary test.
 * Invariant: nothing is kept from one input to the next: the receiver has seen a right header, circuits are new.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_cell.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"

#define VPI_FIRST 12u
#define CIRCUITS  3u
#define PORT      1007u
#define MAX       1500u                  /* of aal5; cells of its longest frame: */
#define MAX_CELLS ((MAX + 8 + 47) / 48)
#define FRAMES    256u
#define CELLS     64u                    /* of one message */

extern const struct xk_proto xk_proto_cell, xk_proto_aal5;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pf f;
static struct xk_sess *circuit[CIRCUITS];

/* ---- the model: bit by bit ------------------------------------------------------------------- */

static struct {
	bool     detecting;
	struct { uint8_t b[(MAX_CELLS + 1) * 48]; unsigned cells; bool skip; } vc[CIRCUITS];
	struct { unsigned circuit; uint32_t len; uint8_t b[MAX]; } up[FRAMES];
	unsigned nup;
} model;

/* What each byte does to the remainders of HEC and CRC-32, bit by bit. */
static uint8_t hec_byte[256];
static uint32_t crc_byte[256];

static void remainders_make(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t hec = byte, crc = byte << 24;

		for (unsigned bit = 0; bit < 8; bit++) {
			hec = (hec << 1) ^ (hec >> 7 ? 0x107u : 0);
			crc = (crc << 1) ^ (crc >> 31 ? 0x04c11db7u : 0);
		}
		hec_byte[byte] = (uint8_t)hec;
		crc_byte[byte] = crc;
	}
}

static uint8_t hec_of(const uint8_t *h)
{
	return hec_byte[hec_byte[hec_byte[hec_byte[h[0]] ^ h[1]] ^ h[2]] ^ h[3]] ^ 0x55;
}

static uint32_t crc_of(const uint8_t *p, uint32_t n)
{
	uint32_t r = ~0u;

	for (uint32_t i = 0; i < n; i++)
		r = (r << 8) ^ crc_byte[r >> 24 ^ p[i]];
	return ~r;
}

/* Does the cell go on?  h is corrected. */
static bool model_header(uint8_t *h)
{
	bool was = model.detecting, right = hec_of(h) == h[4];

	model.detecting = !right;
	for (unsigned bit = 0; !right && !was && bit < 40; bit++) {
		h[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		if (hec_of(h) == h[4])
			return true;
		h[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
	}
	return right;
}

static void model_frame(unsigned c)
{
	const uint8_t *b = model.vc[c].b;
	uint32_t all = model.vc[c].cells * 48, len = xk_be16(b + all - 6);

	model.vc[c].cells = 0;
	if (crc_of(b, all - 4) != xk_be32(b + all - 4) || b[all - 7] != 0 || len == 0 || len > MAX ||
	    len + 8 > all || len + 8 + 48 <= all || model.nup == FRAMES)
		return;
	model.up[model.nup].circuit = c;
	model.up[model.nup].len = len;
	memcpy(model.up[model.nup++].b, b, len);
}

static void model_cell(const uint8_t *cell)
{
	uint8_t h[5];
	uint32_t header, c;

	memcpy(h, cell, 5);
	if (!model_header(h))
		return;
	header = xk_be32(h);
	c = xk_cell_vpi(header) - VPI_FIRST;
	if (c >= CIRCUITS || xk_cell_vci(header) != PORT || (header & XK_CELL_NOUSER))
		return;
	if (!model.vc[c].skip) {
		memcpy(model.vc[c].b + model.vc[c].cells++ * 48, cell + 5, 48);
		if (model.vc[c].cells > MAX_CELLS) {
			model.vc[c].cells = 0;
			model.vc[c].skip = true;
		}
	}
	if (!(header & XK_CELL_LAST))
		return;
	if (!model.vc[c].skip)
		model_frame(c);
	model.vc[c].skip = false;
}

/* ---- both ------------------------------------------------------------------------------------------ */

static void message(const uint8_t *b, uint32_t n)
{
	uint8_t *copy = malloc(n + !n);          /* the sanitizer sees a byte read too far */

	if (copy == NULL)
		abort();
	memcpy(copy, b, n);
	pf_inject(&f, "d", 0, copy, n);
	free(copy);
	if (n % XK_CELL_LEN != 0)
		return;
	for (uint32_t at = 0; at < n; at += XK_CELL_LEN)
		model_cell(b + at);
}

static void compare(void)
{
	unsigned n = pf_ngot(&f, "u");

	for (unsigned i = 0; i < n || i < model.nup; i++) {
		const struct pf_rec *r = i < n ? pf_got(&f, "u", i) : NULL;

		if (r != NULL && i < model.nup && r->lls == circuit[model.up[i].circuit] && r->len == model.up[i].len &&
		    memcmp(r->bytes, model.up[i].b, r->len) == 0)
			continue;
		fprintf(stderr, "frame %u: %u frames of %u, %u bytes, not %u\n", i, n, model.nup, r != NULL ? r->len : 0,
			i < model.nup ? model.up[i].len : 0);
		abort();
	}
}

/* ---- inputs --------------------------------------------------------------------------------------- */

struct in { const uint8_t *p, *end; };

static unsigned byte(struct in *in) { return in->p < in->end ? *in->p++ : 0; }
static unsigned word(struct in *in) { unsigned hi = byte(in); return hi << 8 | byte(in); }

static void raw(struct in *in)
{
	uint32_t n = byte(in);

	if (n > (size_t)(in->end - in->p))
		n = (uint32_t)(in->end - in->p);
	message(in->p, n);
	in->p += n;
}

static void put_header(uint8_t *cell, uint32_t header)
{
	xk_put_be32(cell, header);
	cell[4] = hec_of(cell);
}

/* Cells with a right HEC: headers and the beginnings of payloads are the input's. */
static void cells(struct in *in)
{
	static uint8_t b[CELLS * XK_CELL_LEN];
	unsigned n = byte(in) % CELLS + 1;

	memset(b, 0, sizeof b);
	for (unsigned i = 0; i < n; i++) {
		uint8_t *cell = b + i * XK_CELL_LEN;
		unsigned what = byte(in), k = byte(in) % 49;

		put_header(cell, what & 0x80 ? (uint32_t)word(in) << 16 | word(in) :
			   XK_CELL_VC(VPI_FIRST + (what & 3), PORT) | (what >> 2 & 15));
		while (k-- != 0 && in->p < in->end)
			cell[5 + k] = (uint8_t)byte(in);
	}
	message(b, n * XK_CELL_LEN);
}

enum { GOOD, FLIP, LOSE, LENGTH, CPI, ENDLESS, HEADER, HEADERS, CLP, FAULTS };

static void frame_fault(uint8_t *b, unsigned fault, unsigned at, uint32_t all)
{
	uint8_t *t = b + all - 8;

	if (fault == LENGTH)
		xk_put_be16(t + 2, (uint16_t)at);
	else if (fault == CPI)
		t[1] = (uint8_t)at;
	if (fault == LENGTH || fault == CPI)
		xk_put_be32(t + 4, crc_of(b, all - 4));
	else if (fault == FLIP)
		b[at / 8 % all] ^= (uint8_t)(1u << at % 8);
}

/* A frame with a fault, in one message. */
static void frame(struct in *in)
{
	static uint8_t b[CELLS * 48], out[CELLS * XK_CELL_LEN];
	unsigned c = byte(in) % (CIRCUITS + 1), len = word(in) % (CELLS * 48 - 8) + 1, fault = byte(in) % FAULTS, at = word(in);
	uint32_t all = (len + 8 + 47) / 48 * 48, n = all / 48, sent = 0;

	memset(b, 0, sizeof b);
	for (unsigned i = 0; i < len; i++)
		b[i] = (uint8_t)(i * 5 + len);
	xk_put_be16(b + all - 6, (uint16_t)len);
	xk_put_be32(b + all - 4, crc_of(b, all - 4));
	frame_fault(b, fault, at, all);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t *cell = out + sent * XK_CELL_LEN;

		if (fault == LOSE && i == at % n)
			continue;
		put_header(cell, XK_CELL_VC(VPI_FIRST + c, PORT) | (i + 1 == n && fault != ENDLESS ? XK_CELL_LAST : 0) |
			   (fault == CLP && i % 3 == at % 3 ? XK_CELL_CLP : 0));
		if ((fault == HEADER && i == at / 40 % n) || (fault == HEADERS && i % 4 < 2))
			cell[at % 40 / 8] ^= (uint8_t)(1u << at % 8);
		memcpy(cell + 5, b + i * 48, 48);
		sent++;
	}
	message(out, sent * XK_CELL_LEN);
}

/* ---- the graph --------------------------------------------------------------------------------------- */

static void unmake(void)
{
	pf_down(&f);
}

static void make(void)
{
	static const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "link=none" }, { &xk_proto_cell, "c", "d", "to=10.0.0.2; port=9" },
		{ &xk_proto_aal5, "a", "c", "addr=10.0.0.1; peer=10.0.0.2; max=1500" },
		{ &pf_upper, "u", "a", "enable=false" }, { NULL, NULL, NULL, NULL } };

	remainders_make();
	pf_up(&f, 1, g);
	if (atexit(unmake) != 0)
		abort();
}

static void begin(void)
{
	uint8_t idle[XK_CELL_LEN] = { 0, 0, 0, 1, 0x52 };
	struct xk_parts ps;

	model.detecting = false;
	model.nup = 0;
	for (unsigned i = 0; i < CIRCUITS; i++) {
		model.vc[i].cells = 0;
		model.vc[i].skip = false;
	}
	for (unsigned i = 0; i < CIRCUITS; i++) {
		xk_parts_init(&ps, 2);
		xk_part_push_host(&ps.p[XK_REMOTE], 0x0a000002);
		xk_part_push_port(&ps.p[XK_REMOTE], PORT);
		xk_part_push_any(&ps.p[XK_LOCAL]);
		xk_part_push_port(&ps.p[XK_LOCAL], (uint16_t)(VPI_FIRST + i));
		circuit[i] = pf_open(&f, "u", 0, &ps, NULL);
		if (circuit[i] == NULL)
			abort();
	}
	pf_inject(&f, "d", 0, idle, sizeof idle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct in in = { data, data + size };

	if (f.g == NULL)
		make();
	begin();
	for (unsigned steps = 0; in.p < in.end && steps < FRAMES; steps++)
		switch (byte(&in) % 3) {
		case 0: raw(&in); break;
		case 1: cells(&in); break;
		case 2: frame(&in); break;
		}
	compare();
	for (unsigned i = 0; i < CIRCUITS; i++)
		pf_close(&f, 0, circuit[i]);
	pf_forget(&f, "u");
	return 0;
}
