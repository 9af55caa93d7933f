/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr_out.c - messages to XDR bytes: an array, or the records of a stream.
 *
 * The common message, samples in one piece whose XDR fits one segment, goes through rpcgen's
 * routine for arrays.  Any other is written segment by segment; a sample, or the words before
 * one, never lie across two of them.  Samples that are cut or lie askew in the message are
 * copied together, 32 bytes at a time.
 * Invariant: what is written has exactly the length that was computed before.
 */
#include "protocols/xdr/xdr_code.h"
#include "protocols/xdr/xdr_priv.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/msg/xk_msg_inline.h"

#include <stdalign.h>
#include <string.h>

#define WORDS_MAX (XDR_MARK + XDR_COUNT)
#define ASKEW(p) (((uintptr_t)(p) & 7) != 0)

/* ---- samples as they lie in the message ------------------------------------------ */

struct source { const struct xk_msg *x; uint32_t off; };

/* Up to n of them from here on in one piece and in place; *k says how many. */
static const void *source_run(struct source *s, uint32_t n, uint8_t cut[XDR_SAMPLE], uint32_t *k)
{
	const uint8_t *p;
	uint32_t got = 0;

	while (s->off == s->x->len) {
		s->x = s->x->next;
		s->off = 0;
	}
	p = s->x->data + s->off;
	*k = (s->x->len - s->off) / XDR_SAMPLE;
	if (*k != 0 && !ASKEW(p)) {
		*k = *k < n ? *k : n;
		s->off += *k * XDR_SAMPLE;
		return p;
	}
	while (got < XDR_SAMPLE) {
		uint32_t b = s->x->len - s->off;

		b = b < XDR_SAMPLE - got ? b : XDR_SAMPLE - got;
		memcpy(cut + got, s->x->data + s->off, b);
		got += b;
		s->off += b;
		if (got < XDR_SAMPLE) {
			s->x = s->x->next;
			s->off = 0;
		}
	}
	*k = 1;
	return cut;
}

/* ---- bytes as they are written ---------------------------------------------------- */

struct out {
	struct xk_msg *first, *last;
	uint32_t       room;             /* bytes behind last's */
	uint32_t       left;             /* bytes still to be written, of all */
	bool           failed;           /* no memory */
};

/* n bytes in one piece, or NULL. */
static uint8_t *out_take(struct out *o, uint32_t n)
{
	struct xk_msg *x;

	if (o->room < n && !o->failed) {
		uint32_t size = o->left < XK_MSG_MAX_SEG ? o->left : XK_MSG_MAX_SEG;

		x = xk_msg_new(size);
		if (x == NULL) {
			o->failed = true;
			return NULL;
		}
		x->len = x->tot = 0;
		if (o->first == NULL) {
			o->first = x;
		} else {
			o->last->next = x;
			o->last->flags |= XK_MSG_CHAIN;
		}
		o->last = x;
		o->room = size;
	}
	if (o->failed)
		return NULL;
	x = o->last;
	x->len += n;
	o->first->tot += n;
	o->room -= n;
	o->left -= n;
	return x->data + x->len - n;
}

static void out_samples(struct out *o, struct source *s, uint32_t n)
{
	alignas(8) uint8_t cut[XDR_SAMPLE];

	while (n != 0 && !o->failed) {
		uint32_t fit = o->room / XDR_SAMPLE, k;
		const void *p;
		uint8_t *to;

		fit = fit == 0 ? XK_MSG_MAX_SEG / XDR_SAMPLE : fit;
		p = source_run(s, n < fit ? n : fit, cut, &k);
		to = out_take(o, k * XDR_SAMPLE);
		if (to == NULL || !xdr_code_put(to, p, k))
			o->failed = true;
		n -= k;
	}
}

static void out_count(struct out *o, uint8_t *to, uint32_t n)
{
	if (to == NULL || !xdr_code_put_count(to, n))
		o->failed = true;
}

static struct xk_msg *out_end(struct out *o)
{
	if (o->failed) {
		if (o->first != NULL)
			xk_msg_free(o->first);
		return NULL;
	}
	xk_assert(o->left == 0);
	return o->first;
}

/* ---- a datagram: one array ------------------------------------------------------------ */

static bool in_place(const struct xk_msg *m, uint32_t words)
{
	return !(m->flags & XK_MSG_CHAIN) && !ASKEW(m->data) && m->len + words <= XK_MSG_MAX_SEG;
}

static XK_NOINLINE struct xk_msg *array_any(const struct xk_msg *m)
{
	uint32_t n = m->tot / XDR_SAMPLE;
	struct out o = { .left = XDR_COUNT + m->tot };
	struct source s = { m, 0 };

	out_count(&o, out_take(&o, XDR_COUNT), n);
	out_samples(&o, &s, n);
	return out_end(&o);
}

struct xk_msg *xdr_out_array(const struct xk_msg *m)
{
	struct xk_msg *w;

	if (XK_UNLIKELY(!in_place(m, XDR_COUNT)))
		return array_any(m);
	w = xk_msg_new(XDR_COUNT + m->len);
	if (XK_UNLIKELY(w == NULL))
		return NULL;
	if (XK_LIKELY(xdr_code_put_array(w->data, m->data, m->len / XDR_SAMPLE)))
		return w;
	xk_msg_free(w);
	return NULL;
}

/* ---- a stream: records ------------------------------------------------------------------ */

static uint32_t fragments(uint32_t n, uint32_t fragment)
{
	return (n + fragment - 1) / fragment;
}

static uint32_t record_size(uint32_t n, uint32_t fragment)
{
	return XDR_COUNT + n * XDR_SAMPLE + fragments(n, fragment) * XDR_MARK;
}

static void out_record(struct out *o, struct source *s, uint32_t n, uint32_t fragment)
{
	bool first = true;

	for (uint32_t left = n; left != 0 && !o->failed; first = false) {
		uint32_t k = left < fragment ? left : fragment, words = first ? XDR_COUNT : 0;
		uint8_t *p = out_take(o, XDR_MARK + words);

		if (p == NULL)
			return;
		left -= k;
		xk_put_be32(p, (words + k * XDR_SAMPLE) | (left == 0 ? XDR_LAST : 0));
		if (first)
			out_count(o, p + XDR_MARK, n);
		out_samples(o, s, k);
	}
}

static XK_NOINLINE struct xk_msg *records_any(const struct xk_msg *m, uint32_t most, uint32_t fragment)
{
	uint32_t left = m->tot / XDR_SAMPLE, whole = left / most, rest = left % most;
	struct source s = { m, 0 };
	struct out o = { .left = 0 };

	fragment = fragment == 0 || fragment > most ? most : fragment;
	o.left = whole * record_size(most, fragment) + (rest != 0 ? record_size(rest, fragment) : 0);
	for (; left != 0 && !o.failed; left -= left < most ? left : most)
		out_record(&o, &s, left < most ? left : most, fragment);
	return out_end(&o);
}

struct xk_msg *xdr_out_records(const struct xk_msg *m, uint32_t most, uint32_t fragment)
{
	uint32_t n = m->tot / XDR_SAMPLE;
	struct xk_msg *w;

	if (XK_UNLIKELY(!in_place(m, WORDS_MAX) || n > most || (fragment != 0 && n > fragment)))
		return records_any(m, most, fragment);
	w = xk_msg_new(WORDS_MAX + m->len);
	if (XK_UNLIKELY(w == NULL))
		return NULL;
	xk_put_be32(w->data, (XDR_COUNT + m->len) | XDR_LAST);
	if (XK_LIKELY(xdr_code_put_array(w->data + XDR_MARK, m->data, n)))
		return w;
	xk_msg_free(w);
	return NULL;
}
