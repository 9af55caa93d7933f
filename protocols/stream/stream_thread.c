/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_thread.c - reading and writing that stops and goes on.
 *
 * See stream_thread.h.  Each wait is a loop around its condition, because a thread is
 * woken by anything that happens to its connection.  What was read counts as consumed only then
 * (XK_STREAM_TAKEN), so a body that does not read stops its peer.
 * Invariant: the session lives until the body has returned.
 */
#include "protocols/stream/stream_thread.h"

#include "runtime/upi/xk_inline.h"

/* The whole life of a thread: the body, then the connection goes, and we with it. */
static void thread_main(void *arg)
{
	struct stream_thread *st = arg;
	struct xk_ult *t = st->t;

	st->body(st);
	stream_q_free(&st->in);
	stream_forget(st->s);
	xk_ult_put(t);
}

int stream_thread_begin(struct stream_thread *st, struct xk_sess *s, void (*body)(struct stream_thread *))
{
	int err;

	*st = (struct stream_thread){ .s = s, .body = body, .t = xk_sess_thread(s->down) };
	if (st->t == NULL)
		return XK_E_NOMEM;
	err = xk_ult_begin(st->t, thread_main, st);
	if (err != XK_OK)
		xk_ult_put(st->t);
	else
		stream_tell(s->down, XK_STREAM_MANUAL, 1);
	return err;
}

/* ---- news ---------------------------------------------------------------------------- */

void stream_thread_put(struct stream_thread *st, struct xk_msg *m)
{
	stream_q_put(&st->in, m);
	xk_ult_wake(st->t);
}

void stream_thread_ended(struct stream_thread *st)
{
	st->ended = true;
	xk_ult_wake(st->t);
}

void stream_thread_writable(struct stream_thread *st)
{
	xk_ult_wake(st->t);
}

void stream_thread_failed(struct stream_thread *st, int err)
{
	st->err = err;
	xk_ult_wake(st->t);
}

void stream_thread_stop(struct stream_thread *st)
{
	struct xk_ult *t = xk_ult_ref(st->t);

	st->err = XK_E_SHUTDOWN;
	while (!xk_ult_idle(t)) {
		xk_ult_wake(t);
		xk_ult_resume(t);
	}
	xk_ult_put(t);
}

/* ---- the body's calls -------------------------------------------------------------------- */

int64_t stream_read(struct stream_thread *st, void *buf, uint32_t n)
{
	while (st->in.bytes == 0 && !st->ended && st->err == XK_OK)
		xk_ult_wait(st->t);
	if (st->err != XK_OK)
		return st->err;
	n = stream_q_copy(&st->in, 0, buf, n);
	stream_q_drop(&st->in, n);
	if (n != 0)
		stream_tell(st->s->down, XK_STREAM_TAKEN, n);
	return n;
}

/* Not all was taken: waits for room; negative: there will be none. */
static int write_wait(struct stream_thread *st, uint32_t took)
{
	if (st->err != XK_OK)
		return st->err;
	if (stream_room(st->s->down) == 0)
		xk_ult_wait(st->t);
	else if (took == 0)
		return XK_E_NOMEM;
	return XK_OK;
}

int64_t stream_write(struct stream_thread *st, const void *buf, uint32_t n)
{
	uint32_t done = 0, k;
	int err = st->err;

	while (err == XK_OK && done < n) {
		k = stream_write_some(st->s->down, (const uint8_t *)buf + done, n - done);
		done += k;
		if (done < n)
			err = write_wait(st, k);
	}
	return err != XK_OK ? err : (int64_t)n;
}
