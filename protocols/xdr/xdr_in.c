/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr_in.c - XDR bytes to messages: arrays (RFC 4506 4.13) and records (RFC 5531 section 11).
 *
 * An array that lies in one piece goes through rpcgen's routine for arrays, straight into a fresh
 * message.  One that comes in pieces is decoded as they come: whole samples where they lie, one
 * that was cut in 32 bytes put aside.  So what is held of a record that is not whole is its
 * samples, in segments taken one at a time as bytes for them come, whatever count was promised.
 * Everything here depends on its arguments alone, touches no session and tells nobody.
 * Invariant: done <= count <= most; the segments of an array have no room but the last one.
 */
#include "protocols/xdr/xdr_code.h"
#include "protocols/xdr/xdr_priv.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/msg/xk_msg_inline.h"

#include <string.h>

#define PER_SEGMENT (XK_MSG_MAX_SEG / XDR_SAMPLE)

/* ---- arrays ---------------------------------------------------------------------- */

/* A segment for the samples to come. */
static bool in_grow(struct xdr_in *in)
{
	uint32_t left = in->count - in->done, n = left < PER_SEGMENT ? left : PER_SEGMENT;
	struct xk_msg *x = xk_msg_new(n * XDR_SAMPLE);

	if (x == NULL)
		return false;
	x->len = x->tot = 0;
	if (in->first == NULL) {
		in->first = x;
	} else {
		in->last->next = x;
		in->last->flags |= XK_MSG_CHAIN;
	}
	in->last = x;
	in->room = n;
	return true;
}

static int in_samples(struct xdr_in *in, const uint8_t *p, uint32_t n)
{
	while (n != 0) {
		uint32_t k;

		if (in->room == 0 && !in_grow(in))
			return XK_DROP_NOMEM;
		k = n < in->room ? n : in->room;
		if (!xdr_code_get(in->last->data + in->last->len, p, k))
			return XDR_DROP_TRUNCATED;
		in->last->len += k * XDR_SAMPLE;
		in->first->tot += k * XDR_SAMPLE;
		in->room -= k;
		in->done += k;
		p += k * XDR_SAMPLE;
		n -= k;
	}
	return XDR_MORE;
}

/* A whole word or run of samples at p; *n: bytes there, then bytes used. */
static int in_whole(struct xdr_in *in, const uint8_t *p, uint32_t *n, uint32_t most)
{
	uint32_t k = *n / XDR_SAMPLE, left = in->count - in->done;

	if (in->counted) {
		k = k < left ? k : left;
		*n = k * XDR_SAMPLE;
		return in_samples(in, p, k);
	}
	in->count = xdr_code_count(p);
	in->counted = true;
	*n = XDR_COUNT;
	return in->count <= most ? XDR_MORE : XDR_DROP_COUNT;
}

int xdr_in_bytes(struct xdr_in *in, const uint8_t *p, uint32_t n, uint32_t most)
{
	while (n != 0) {
		uint32_t need = in->counted ? XDR_SAMPLE : XDR_COUNT, k = n;
		const uint8_t *from = p;
		int err;

		if (in->counted && in->done == in->count)
			return XDR_DROP_TRAILING;
		if (in->npart != 0 || n < need) {
			k = n < need - in->npart ? n : need - in->npart;
			memcpy(in->part + in->npart, p, k);
			in->npart = (uint8_t)(in->npart + k);
			p += k;
			n -= k;
			if (in->npart < need)
				return XDR_MORE;
			from = in->part;
			in->npart = 0;
			k = need;
			err = in_whole(in, from, &k, most);
		} else {
			err = in_whole(in, from, &k, most);
			p += k;
			n -= k;
		}
		if (err != XDR_MORE)
			return err;
	}
	return XDR_MORE;
}

int xdr_in_end(struct xdr_in *in, struct xk_msg **m)
{
	if (!in->counted || in->npart != 0 || in->done != in->count)
		return XDR_DROP_TRUNCATED;
	*m = in->first != NULL ? in->first : xk_msg_new(0);
	memset(in, 0, sizeof *in);
	return *m != NULL ? XDR_WHOLE : XK_DROP_NOMEM;
}

void xdr_in_free(struct xdr_in *in)
{
	if (in->first != NULL)
		xk_msg_free(in->first);
	memset(in, 0, sizeof *in);
}

static int in_end_or_free(struct xdr_in *in, int err, struct xk_msg **m)
{
	if (err == XDR_MORE)
		err = xdr_in_end(in, m);
	if (err != XDR_WHOLE)
		xdr_in_free(in);
	return err;
}

int xdr_in_chain(const struct xk_msg *from, uint32_t most, struct xk_msg **m)
{
	struct xdr_in in = { .first = NULL };
	int err = XDR_MORE;

	for (; err == XDR_MORE && from != NULL; from = from->next)
		err = xdr_in_bytes(&in, from->data, from->len, most);
	return in_end_or_free(&in, err, m);
}

/* Too many for one segment. */
static int in_long(const uint8_t *p, uint32_t n, uint32_t most, struct xk_msg **m)
{
	struct xdr_in in = { .first = NULL };

	return in_end_or_free(&in, xdr_in_bytes(&in, p, n, most), m);
}

int xdr_in_array(const uint8_t *p, uint32_t n, uint32_t most, struct xk_msg **m)
{
	uint32_t count, here;

	if (n < XDR_COUNT)
		return XDR_DROP_TRUNCATED;
	here = n - XDR_COUNT;
	count = xdr_code_count(p);
	if (count > most)
		return XDR_DROP_COUNT;
	if (here != count * XDR_SAMPLE)
		return here < count * XDR_SAMPLE ? XDR_DROP_TRUNCATED : XDR_DROP_TRAILING;
	if (XK_UNLIKELY(count > PER_SEGMENT))
		return in_long(p, n, most, m);
	*m = xk_msg_new(here);
	if (XK_UNLIKELY(*m == NULL))
		return XK_DROP_NOMEM;
	if (XK_LIKELY(xdr_code_get_array((*m)->data, p, count)))
		return XDR_WHOLE;
	xk_msg_free(*m);
	return XDR_DROP_TRUNCATED;
}

/* ---- records ------------------------------------------------------------------------ */

/* A mark has come.  The array's longest form bounds the record, whatever its fragments. */
static int rec_mark(struct xdr_rec *rec, uint32_t mark, uint32_t most)
{
	rec->left = mark & ~XDR_LAST;
	rec->last = (mark & XDR_LAST) != 0;
	rec->nmark = 0;
	if (rec->left == 0 && !rec->last)
		return ++rec->empties > XDR_EMPTY_MAX ? XDR_DROP_EMPTY : XDR_MORE;
	if (rec->left > XDR_COUNT + most * XDR_SAMPLE - rec->size)
		return XDR_DROP_RECORD;
	rec->size += rec->left;
	rec->open = true;
	return XDR_MORE;
}

static int rec_mark_bytes(struct xdr_rec *rec, const uint8_t **p, uint32_t *n, uint32_t most)
{
	uint32_t k = XDR_MARK - rec->nmark;

	k = *n < k ? *n : k;
	memcpy(rec->mark + rec->nmark, *p, k);
	rec->nmark = (uint8_t)(rec->nmark + k);
	*p += k;
	*n -= k;
	return rec->nmark < XDR_MARK ? XDR_MORE : rec_mark(rec, xk_be32(rec->mark), most);
}

/* The fragment is over. */
static int rec_end(struct xdr_rec *rec, struct xk_msg **m)
{
	int what;

	rec->open = false;
	if (!rec->last)
		return XDR_MORE;
	what = xdr_in_end(&rec->in, m);
	if (what == XDR_WHOLE)
		memset(rec, 0, sizeof *rec);
	return what;
}

/* Bytes of a fragment; one that is a whole record and lies in one piece is decoded as an array. */
static int rec_body(struct xdr_rec *rec, const uint8_t **p, uint32_t *n, uint32_t most, struct xk_msg **m)
{
	uint32_t k = *n < rec->left ? *n : rec->left;
	int err;

	if (rec->last && k == rec->size) {
		err = xdr_in_array(*p, k, most, m);
		if (err == XDR_WHOLE)
			memset(rec, 0, offsetof(struct xdr_rec, in));
		*p += k;
		*n -= k;
		return err;
	}
	err = xdr_in_bytes(&rec->in, *p, k, most);
	rec->left -= k;
	*p += k;
	*n -= k;
	return err != XDR_MORE || rec->left != 0 ? err : rec_end(rec, m);
}

int xdr_rec_bytes(struct xdr_rec *rec, const uint8_t **p, uint32_t *n, uint32_t most, struct xk_msg **m)
{
	int what = XDR_MORE;

	/* A last fragment may have no bytes to wait for. */
	while (what == XDR_MORE && (*n != 0 || (rec->open && rec->left == 0)))
		what = rec->open ? rec_body(rec, p, n, most, m) : rec_mark_bytes(rec, p, n, most);
	return what;
}

void xdr_rec_free(struct xdr_rec *rec)
{
	xdr_in_free(&rec->in);
	memset(rec, 0, sizeof *rec);
}
