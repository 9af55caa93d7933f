/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_ncs_hdr.c - fuzz target of ncs' headers alone: what is read is what stands there, and what is written is read again.
 *
 * The first byte of an input names the header: of an SDU, a record, an acknowledgement, what a HELLO or an OPEN says; the
 * rest is its bytes, in memory of their own length.
 * Held to: a header that is taken has the fields of a plain reading, byte by byte, within the bounds that others count on;
 * it is written as the same bytes, but for those that say nothing, and read again as the same; one that is too short, or
 * says more than there is, is refused.
 * Invariant: nothing is kept from one input to the next.
 */
#include "protocols/ncs/ncs_hdr.h"
#include "tests/fuzz/fuzz_in.h"

#define MOST 2048u

static uint64_t number(const uint8_t *b, unsigned n)
{
	uint64_t v = 0;

	while (n-- != 0)
		v = v << 8 | *b++;
	return v;
}

static void same(const uint8_t *a, const uint8_t *b, size_t n)
{
	fuzz_must(n == 0 || memcmp(a, b, n) == 0 ? NULL : "what is written is not what was read");
}

static void sdu(const uint8_t *b, uint32_t n)
{
	uint8_t out[NCS_HDR_LEN];
	struct ncs_hdr h;
	bool along;

	if (n < NCS_HDR_LEN || !ncs_hdr_load(b, &h))
		return;
	along = b[16] >> 7;
	fuzz_must(b[0] == 1 && h.p.flags == b[1] && h.epoch == number(b + 2, 2) && h.conn == number(b + 4, 4) &&
		  h.p.tx == number(b + 8, 4) && h.p.message == number(b + 12, 4) ? NULL : "a field is another one");
	fuzz_must(h.p.sdu <= h.p.last ? NULL : "an SDU behind the last");
	fuzz_must(along ? (h.along == number(b + 16, 8) && h.p.last == 0 ? NULL : "an answer along is another one") :
		  h.along == 0 && h.p.sdu == number(b + 16, 4) && h.p.last == number(b + 20, 4) ? NULL : "an SDU has another place");
	ncs_hdr_store(out, &h);
	same(out, b, sizeof out);
}

/* Records one behind the other: each in its bytes, each further. */
static void records(const uint8_t *b, uint32_t n)
{
	uint8_t out[NCS_REC_LEN];
	struct ncs_rec r;

	while (ncs_rec_load(b, n, &r)) {
		fuzz_must(r.len >= NCS_REC_LEN && r.len <= n && r.v == b + NCS_REC_LEN ? NULL : "a record longer than there is");
		fuzz_must(r.type == b[0] && r.len == number(b + 2, 2) && r.conn == number(b + 4, 4) && r.epoch == number(b + 8, 2) ? NULL :
			  "a field is another one");
		ncs_rec_store(out, &r);
		same(out + 2, b + 2, 8);
		b += r.len;
		n -= r.len;
	}
	fuzz_must(n >= NCS_REC_LEN && number(b + 2, 2) >= NCS_REC_LEN && number(b + 2, 2) <= n ? "a record is not seen" : NULL);
}

static void ack(const uint8_t *b, uint32_t n)
{
	uint8_t out[NCS_ACK_LEN + NCS_BITS_MAX / 8];
	struct ncs_ack a;

	if (!ncs_ack_load(b, n, &a))
		return;
	fuzz_must(a.nbits <= NCS_BITS_MAX && a.nbits % 64 == 0 && n == NCS_ACK_LEN + a.nbits / 8u ? NULL : "more bits than there are");
	for (unsigned i = 0; i < a.nbits / 64u; i++)
		fuzz_must(a.bit[i] == number(b + NCS_ACK_LEN + 8 * i, 8) ? NULL : "bits are others");
	ncs_ack_store(out, &a);
	same(out, b, 16);
	same(out + NCS_ACK_LEN, b + NCS_ACK_LEN, n - NCS_ACK_LEN);
	fuzz_must((number(b + 16, 4) != 0) == (number(out + 16, 4) != 0) ? NULL : "a gap comes or goes");
}

static void hello(const uint8_t *b, uint32_t n)
{
	uint8_t out[NCS_HELLO_REC];
	struct ncs_hello h;

	if (!ncs_hello_load(b, n, &h))
		return;
	fuzz_must(n >= NCS_HELLO_REC && (b[2] == 1 || b[2] == 2) && number(b + 12, 4) != 0 ? NULL : "a HELLO that is none");
	ncs_hello_store(out, &h);
	fuzz_must(out[3] == (b[3] & 1) ? NULL : "a HELLO says something else of answers");
	same(out, b, 3);
	same(out + 4, b + 4, sizeof out - 4);
}

static void opens(const uint8_t *b, uint32_t n)
{
	uint8_t out[NCS_OPEN_MOST];
	struct ncs_open o;
	uint32_t len;

	if (!ncs_open_load(b, n, &o))
		return;
	len = ncs_open_len(&o);
	fuzz_must(len == n && len <= sizeof out ? NULL : "an OPEN of another length");
	fuzz_must(o.data != 0 && o.a.flow_window >= 1 && o.a.flow_window <= NCS_WINDOW_MAX && o.a.error_window >= 1 &&
		  o.a.error_window <= NCS_WINDOW_MAX && o.a.first >= 1 && o.a.first <= o.a.most && o.a.most <= NCS_WINDOW_MAX &&
		  o.a.sdu >= NCS_SDU_LEAST && o.a.sdu + NCS_HDR_LEN + o.check * NCS_SUM_LEN <= 65507 && o.check <= 1 ? NULL :
		  "an OPEN asks for what nobody may");
	ncs_open_store(out, &o);
	ncs_open_store_more(out + NCS_OPEN_LEN, &o);
	same(out, b, 7);
	same(out + 8, b + 8, 24);
	same(out + NCS_OPEN_LEN, b + NCS_OPEN_LEN, n - NCS_OPEN_LEN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const reads[])(const uint8_t *, uint32_t) = { sdu, records, ack, hello, opens };
	uint8_t *copy;

	if (size == 0 || size > MOST)
		return 0;
	copy = malloc(size - 1 + (size == 1));                   /* of its length: the sanitizer sees a byte read too far */
	if (copy == NULL)
		abort();
	memcpy(copy, data + 1, size - 1);
	reads[data[0] % (sizeof reads / sizeof *reads)](copy, (uint32_t)size - 1);
	free(copy);
	return 0;
}
