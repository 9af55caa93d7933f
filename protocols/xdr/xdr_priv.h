/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr_priv.h - what the files of the presentation layer share.
 *
 *   xdr.c       opening, closing, control, the descriptor
 *   xdr_data.c  push and what comes up
 *   xdr_out.c   a message to one array, or to records
 *   xdr_in.c    arrays and records to messages
 *   xdr_code.c  samples to bytes and back: rpcgen's routines
 */
#ifndef XDR_PRIV_H
#define XDR_PRIV_H

#include "protocols/stream/stream_app.h"
#include "protocols/virtual/virtual.h"
#include "protocols/xdr/xdr.h"
#include "runtime/upi/xk_stream.h"

#define XDR_DROPS(X) \
	X(NOT_SAMPLES, "not_samples")   X(TOO_LONG, "too_long") \
	X(COUNT, "count_over_maximum")  X(TRUNCATED, "truncated") \
	X(TRAILING, "trailing_bytes")   X(RECORD, "record_too_long") \
	X(EMPTY, "empty_fragments")     X(GONE, "session_gone") \
	X(STRAY, "stray")
#define XDR_DROP_ENUM(n, s) XDR_DROP_##n,
enum { XDR_DROP_BASE = VIRT_DROP_END - 1, XDR_DROPS(XDR_DROP_ENUM) };

/* ORDER XDR_COUNT: behind those of a virtual protocol */
#define XDR_COUNTS(X) \
	X(SAMPLES_OUT, "samples_out") X(SAMPLES_IN, "samples_in") \
	X(RECORDS_OUT, "records_out") X(RECORDS_IN, "records_in") X(ABORTED, "aborted")
#define XDR_COUNT_ENUM(n, s) XDR_N_##n,
enum { XDR_N_BASE = VIRT_COUNT_LINGERED, XDR_COUNTS(XDR_COUNT_ENUM) };

struct xdr_conf {
	struct virt_conf virt;
	uint64_t         most;           /* samples of an array */
	uint64_t         fragment;       /* samples of a fragment; 0: all of the record's */
};

struct xdr_rep {
	struct virt_rep virt;
	bool            stream;          /* what lies below offers one */
	uint32_t        most, fragment;
};
static inline struct xdr_rep *xdr_rep(const struct xk_rep *r) { return r->state; }

/* ---- bytes to messages ----------------------------------------------------------- */

/* What reading comes to; a number above them is a reason to drop. */
enum { XDR_MORE = -2, XDR_WHOLE = -1 };

/* An array, as far as it has come.  All zero: nothing of it. */
struct xdr_in {
	struct xk_msg *first, *last;     /* samples decoded */
	uint32_t       count;            /* of the array */
	uint32_t       done;             /* of them decoded */
	uint32_t       room;             /* samples that fit behind those in `last` */
	bool           counted;          /* count is known */
	uint8_t        npart;            /* bytes of a word or sample that is not whole */
	uint8_t        part[XDR_SAMPLE];
};
/* The next n bytes: XDR_MORE (all are taken) or a reason.  most: samples that an array may have. */
int  xdr_in_bytes(struct xdr_in *in, const uint8_t *p, uint32_t n, uint32_t most);
/* There are no more: XDR_WHOLE with *m, or a reason. */
int  xdr_in_end(struct xdr_in *in, struct xk_msg **m);
void xdr_in_free(struct xdr_in *in);
/* The whole array in n bytes of one piece, or in the segments of m. */
int  xdr_in_array(const uint8_t *p, uint32_t n, uint32_t most, struct xk_msg **m);
int  xdr_in_chain(const struct xk_msg *from, uint32_t most, struct xk_msg **m);

/* A record, as far as it has come. */
struct xdr_rec {
	uint32_t left;                   /* bytes of the fragment still to come */
	uint32_t size;                   /* of the record's fragments so far, as their marks say */
	uint8_t  nmark, empties;
	bool     open;                   /* inside a fragment */
	bool     last;
	uint8_t  mark[XDR_MARK];
	struct xdr_in in;
};
/* Reads from *p on, at most *n bytes, and moves both: XDR_MORE (nothing is left), XDR_WHOLE with
 * *m, or a reason; after that only xdr_rec_free. */
int  xdr_rec_bytes(struct xdr_rec *rec, const uint8_t **p, uint32_t *n, uint32_t most, struct xk_msg **m);
/* Is there a part of a record? */
static inline bool xdr_rec_open(const struct xdr_rec *rec)
{
	return rec->open || rec->nmark != 0 || rec->size != 0 || rec->empties != 0;
}
void xdr_rec_free(struct xdr_rec *rec);

/* ---- messages to bytes ----------------------------------------------------------- */

/* The samples of m, whose length is a multiple of theirs: as one array, or as records of at most
 * `most` in fragments of at most `fragment` (0: one each).  NULL: no memory; m is the caller's. */
struct xk_msg *xdr_out_array(const struct xk_msg *m);
struct xk_msg *xdr_out_records(const struct xk_msg *m, uint32_t most, uint32_t fragment);

/* ---- sessions -------------------------------------------------------------------- */

struct xdr_sess {
	union {
		struct xk_sess   s;
		struct virt_sess v;
	};
	/* The rest is for streams. */
	bool           gone;             /* nothing moves any more */
	bool           manual;           /* those above say what they have taken */
	uint64_t       unread;           /* passed up, not taken */
	uint64_t       held;             /* of the bytes below: received, not taken */
	struct xdr_rec rec;
};
static inline struct xdr_sess *xdr_sess(struct xk_sess *s) { return (struct xdr_sess *)(void *)s; }
/* The own session over lls, or NULL. */
static inline struct xdr_sess *xdr_above(struct xk_sess *lls)
{
	struct xk_sess *s = stream_above(lls);

	return s != NULL ? xdr_sess(s) : NULL;
}

/* xdr_data.c */
void xdr_push(struct xk_sess *s, struct xk_msg *m);
void xdr_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
void xdr_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* What own sessions receive by, over datagrams and over a stream. */
void xdr_self_datagram(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void xdr_self_stream(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* The stream is gone: those above are told, once.  The caller holds a reference of its own. */
void xdr_fail(struct xdr_sess *xs, int err);
/* It shall be gone: bytes are missing, or make no sense.  The same. */
void xdr_abort(struct xdr_sess *xs);

#endif
