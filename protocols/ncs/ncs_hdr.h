/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_hdr.h - headers of ncs: the only code that knows their byte order.
 *
 * Data, 24 bytes: version and flags 8 + 8, epoch 16 | connection 32 | transmission 32 | message 32 |
 * SDU 32 | last SDU 32, and where OPEN said so CRC-32C 32 of these and the SDU.  The connection is the receiver's number, the epoch the sender's.
 * Of a message of one SDU the last two are 0; instead an answer may go along there (ncs_along.c): 1 | is there an
 * acknowledgement, a value of flow control 1 + 1 | 0 | value less echo 12 | base 24 | echo 24.
 *
 * A control datagram is records, one after the other: type 8, 0 8, length of the whole 16 |
 * connection 32 | epoch 16, 0 16 | values.
 */
#ifndef NCS_HDR_H
#define NCS_HDR_H

#include "protocols/ncs/ncs.h"
#include "protocols/ncs/xk_ncs_control.h"
#include "runtime/base/xk_bytes.h"

#include <string.h>

#define NCS_VERSION 1u
#define NCS_HDR_LEN 24u
#define NCS_REC_LEN 12u
#define NCS_CTL_MOST 1400u               /* bytes of a control datagram */
#define NCS_WORD 4u                      /* before each piece of a stream: its length */
#define NCS_SUM_RECORD (NCS_REC_LEN + NCS_SUM_LEN)
#define NCS_SUM_LEN 4u                   /* CRC-32C, behind the header of an SDU, in a record before others */
#define NCS_SDU_LEAST 512u               /* who keeps a message in SDUs keeps little beside its bytes */

/* The values' bytes of each, but of ACK, whose bits follow. */
enum { NCS_OPEN = 1, NCS_ACCEPT, NCS_REFUSE, NCS_CLOSE, NCS_CLOSED, NCS_ACK, NCS_CREDIT, NCS_QUERY,
       NCS_PING, NCS_PONG, NCS_RESET, NCS_CONFIRM, NCS_SUM, NCS_NOTE, NCS_KNOWN, NCS_CHECK, NCS_HELLO, NCS_TYPES };
#define NCS_OPEN_LEN 36u
#define NCS_NAMES_LEN (2 * NCS_NAME_MOST)        /* behind that, where a control is known by its name */
#define NCS_BY_NAME 255u                 /* for a control's number */
#define NCS_OPEN_MOST (NCS_OPEN_LEN + NCS_NAMES_LEN + NCS_HELLO_LEN)
#define NCS_ACK_LEN  20u
#define NCS_NOTE_REC (4u + NCS_NOTE_LEN)
#define NCS_KEY_LEN   32u
#define NCS_HELLO_REC (16u + NCS_KEY_LEN)

/* Of a transmission, beside the controls' flags: there are SDUs behind it. */
#define NCS_MORE 8u
/* along: an answer, or 0. */
struct ncs_hdr { struct ncs_pkt p; uint32_t conn; uint16_t epoch; uint64_t along; };
#define NCS_ALONG       (UINT64_C(1) << 63)
#define NCS_ALONG_ACK   (UINT64_C(1) << 62)
#define NCS_ALONG_VALUE (UINT64_C(1) << 61)
#define NCS_ALONG_OFF   48u              /* bits behind each field: of NCS_OFF_BITS, and twice of NCS_NUMBER_BITS */
#define NCS_ALONG_BASE  24u
#define NCS_OFF_BITS    12u
#define NCS_NUMBER_BITS 24u

static inline bool ncs_hdr_load(const uint8_t *b, struct ncs_hdr *h)
{
	uint64_t place = xk_be64(b + 16);

	h->along = place & NCS_ALONG ? place : 0;
	place = h->along != 0 ? 0 : place;
	h->p.flags = b[1];
	h->epoch = xk_be16(b + 2);
	h->conn = xk_be32(b + 4);
	h->p.tx = xk_be32(b + 8);
	h->p.message = xk_be32(b + 12);
	h->p.sdu = (uint32_t)(place >> 32);
	h->p.last = (uint32_t)place;
	return b[0] == NCS_VERSION && h->p.sdu <= h->p.last;
}

static inline void ncs_hdr_store(uint8_t *b, const struct ncs_hdr *h)
{
	b[0] = NCS_VERSION;
	b[1] = h->p.flags;
	xk_put_be16(b + 2, h->epoch);
	xk_put_be32(b + 4, h->conn);
	xk_put_be32(b + 8, h->p.tx);
	xk_put_be32(b + 12, h->p.message);
	xk_put_be64(b + 16, h->along != 0 ? h->along : (uint64_t)h->p.sdu << 32 | h->p.last);
}

struct ncs_rec { uint8_t type; uint16_t len, epoch; uint32_t conn; const uint8_t *v; };

/* The record at the start of n bytes; false: there is none. */
static inline bool ncs_rec_load(const uint8_t *b, uint32_t n, struct ncs_rec *r)
{
	if (n < NCS_REC_LEN)
		return false;
	r->type = b[0];
	r->len = xk_be16(b + 2);
	r->conn = xk_be32(b + 4);
	r->epoch = xk_be16(b + 8);
	r->v = b + NCS_REC_LEN;
	return r->len >= NCS_REC_LEN && r->len <= n;
}

static inline void ncs_rec_store(uint8_t *b, const struct ncs_rec *r)
{
	b[0] = r->type;
	b[1] = 0;
	xk_put_be16(b + 2, r->len);
	xk_put_be32(b + 4, r->conn);
	xk_put_be16(b + 8, r->epoch);
	xk_put_be16(b + 10, 0);
}

static inline void ncs_ack_store(uint8_t *b, const struct ncs_ack *a)
{
	xk_put_be32(b, a->base);
	xk_put_be32(b + 4, a->echo_no);
	xk_put_be32(b + 8, a->echo_tx);
	xk_put_be16(b + 12, a->depth);
	xk_put_be16(b + 14, a->nbits);
	xk_put_be32(b + 16, a->gap);
	for (unsigned i = 0; i < a->nbits / 64u; i++)
		xk_put_be64(b + NCS_ACK_LEN + 8 * i, a->bit[i]);
}

static inline bool ncs_ack_load(const uint8_t *b, uint32_t n, struct ncs_ack *a)
{
	if (n < NCS_ACK_LEN)
		return false;
	a->base = xk_be32(b);
	a->echo_no = xk_be32(b + 4);
	a->echo_tx = xk_be32(b + 8);
	a->depth = xk_be16(b + 12);
	a->nbits = xk_be16(b + 14);
	a->gap = xk_be32(b + 16) != 0;
	if (a->nbits > NCS_BITS_MAX || a->nbits % 64 != 0 || n != NCS_ACK_LEN + a->nbits / 8u)
		return false;
	for (unsigned i = 0; i < a->nbits / 64u; i++)
		a->bit[i] = xk_be64(b + NCS_ACK_LEN + 8 * i);
	return true;
}

/* What a HELLO says.  order: of the bytes of a word there; along: answers may go along with SDUs; ranks: 0: of no job;
 * message: the longest that it takes. */
enum { NCS_LITTLE = 1, NCS_BIG };
#define NCS_NO_RANK UINT32_MAX
struct ncs_hello { uint16_t version; uint8_t order; uint32_t rank, ranks, message; const uint8_t *key; bool along; };

static inline void ncs_hello_store(uint8_t *b, const struct ncs_hello *h)
{
	xk_put_be16(b, h->version);
	b[2] = h->order;
	b[3] = h->along;
	xk_put_be32(b + 4, h->rank);
	xk_put_be32(b + 8, h->ranks);
	xk_put_be32(b + 12, h->message);
	for (unsigned i = 0; i < NCS_KEY_LEN; i++)
		b[16 + i] = h->key[i];
}

/* Later versions may say more behind that. */
static inline bool ncs_hello_load(const uint8_t *b, uint32_t n, struct ncs_hello *h)
{
	if (n < NCS_HELLO_REC)
		return false;
	h->version = xk_be16(b);
	h->order = b[2];
	h->along = (b[3] & 1) != 0;
	h->rank = xk_be32(b + 4);
	h->ranks = xk_be32(b + 8);
	h->message = xk_be32(b + 12);
	h->key = b + 16;
	return (h->order == NCS_LITTLE || h->order == NCS_BIG) && h->message != 0;
}

/* What an OPEN says; names: NULL, or of the flow and the error control, each of NCS_NAME_MOST bytes; hello: for who
 * accepts, NULL or NCS_HELLO_LEN bytes behind the rest. */
struct ncs_open {
	uint16_t service, data;
	uint8_t flow, error, check;
	struct ncs_agreed a;
	const uint8_t *names, *hello;
};
static inline bool ncs_open_names(const struct ncs_open *o) { return o->flow == NCS_BY_NAME || o->error == NCS_BY_NAME; }
/* Bytes of its values. */
static inline uint32_t ncs_open_len(const struct ncs_open *o)
{
	return NCS_OPEN_LEN + (ncs_open_names(o) ? NCS_NAMES_LEN : 0) + (o->hello != NULL ? NCS_HELLO_LEN : 0);
}

static inline void ncs_open_store(uint8_t *b, const struct ncs_open *o)
{
	xk_put_be16(b, o->service);
	xk_put_be16(b + 2, o->data);
	b[4] = o->flow;
	b[5] = o->error;
	b[6] = o->check;
	b[7] = 0;
	xk_put_be32(b + 8, o->a.start);
	xk_put_be16(b + 12, (uint16_t)o->a.flow_window);
	xk_put_be16(b + 14, (uint16_t)o->a.first);
	xk_put_be16(b + 16, (uint16_t)o->a.most);
	xk_put_be16(b + 18, (uint16_t)o->a.error_window);
	xk_put_be64(b + 20, o->a.rate);
	xk_put_be32(b + 28, o->a.sdu);
	xk_put_be32(b + 32, 0);
}

/* What stands behind these. */
static inline void ncs_open_store_more(uint8_t *b, const struct ncs_open *o)
{
	if (ncs_open_names(o)) {
		memcpy(b, o->names, NCS_NAMES_LEN);
		b += NCS_NAMES_LEN;
	}
	if (o->hello != NULL)
		memcpy(b, o->hello, NCS_HELLO_LEN);
}

/* false: no honest peer asks for that. */
static inline bool ncs_open_load(const uint8_t *b, uint32_t n, struct ncs_open *o)
{
	const struct ncs_agreed *a = &o->a;

	if (n < NCS_OPEN_LEN)
		return false;
	o->flow = b[4];
	o->error = b[5];
	o->hello = NULL;
	o->names = ncs_open_names(o) ? b + NCS_OPEN_LEN : NULL;
	if (n == ncs_open_len(o) + NCS_HELLO_LEN)
		o->hello = b + n - NCS_HELLO_LEN;
	if (n != ncs_open_len(o))
		return false;
	o->service = xk_be16(b);
	o->data = xk_be16(b + 2);
	o->check = b[6];
	o->a.start = xk_be32(b + 8);
	o->a.flow_window = xk_be16(b + 12);
	o->a.first = xk_be16(b + 14);
	o->a.most = xk_be16(b + 16);
	o->a.error_window = xk_be16(b + 18);
	o->a.rate = xk_be64(b + 20);
	o->a.sdu = xk_be32(b + 28);
	return o->data != 0 && a->flow_window - 1 < NCS_WINDOW_MAX && a->error_window - 1 < NCS_WINDOW_MAX &&
	       a->first - 1 < a->most && a->most <= NCS_WINDOW_MAX && a->sdu >= NCS_SDU_LEAST &&
	       o->check <= 1 && a->sdu <= 65507 - NCS_HDR_LEN - o->check * NCS_SUM_LEN;
}

#endif
