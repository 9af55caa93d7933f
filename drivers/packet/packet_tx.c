/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_tx.c - frames leave in batches, one system call each.
 *
 * What is pushed waits in its message; a task that became ready with the first
 * sends all of them in the virtual processor's next unit of work, earlier when
 * the batch is full.  The kernel reads the segments where they lie.  A frame
 * that it does not take is dropped, as a network card would.
 * Invariant: while messages wait the task is ready.
 */
#include "drivers/packet/packet_priv.h"

#include <errno.h>
#include <string.h>

static unsigned packet_reason(struct packet_rep *pr, const struct xk_msg *m, int err)
{
	if (err == EINVAL && (m->flags & XK_MSG_SUPER))
		return PACKET_DROP_SUPER;
	switch (err) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return PACKET_DROP_FULL;
	case ENETDOWN:
		packet_went_down(pr);
		return PACKET_DROP_DOWN;
	case EMSGSIZE:
		return PACKET_DROP_TOO_LONG;
	case ENXIO:
	case ENODEV:
		packet_gone(pr);
		return PACKET_DROP_GONE;
	default:
		xk_count(pr->rep->count[N_ERRORS]);
		return PACKET_DROP_GONE;
	}
}

/* m[at..n) were not taken: the first for a reason of its own, and if that is a
 * full buffer, or that there is no interface, the others for the same.  Returns where to go on. */
static unsigned packet_refused(struct packet_rep *pr, unsigned at, int err)
{
	unsigned reason = packet_reason(pr, pr->tx.m[at], err), end = err == EAGAIN || pr->gone ? pr->tx.n : at + 1;

	for (; at < end; at++)
		xk_drop(pr->rep, reason, pr->tx.m[at]);
	return at;
}

static void packet_sent(struct packet_rep *pr, unsigned at, unsigned n)
{
	unsigned several = 0;

	for (unsigned i = at; i < at + n; i++)
		several += (pr->tx.m[i]->flags & XK_MSG_SUPER) != 0;
	xk_count_add(pr->rep->count[N_WRITTEN], n - several);
	xk_count_add(pr->rep->count[N_SUPER_WRITTEN], several);
	xk_msg_free_all(pr->tx.m + at, n);
}

void packet_tx_flush(struct packet_rep *pr)
{
	struct packet_tx *tx = &pr->tx;
	unsigned at = 0;

	if (XK_UNLIKELY(pr->gone) && tx->n != 0)
		at = packet_refused(pr, at, ENXIO);
	while (at < tx->n) {
		int n = sendmmsg(tx->fd, tx->h + at, tx->n - at, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		xk_count(pr->rep->count[N_BATCHES]);
		if (n > 0) {
			packet_sent(pr, at, (unsigned)n);
			at += (unsigned)n;
		} else {
			at = packet_refused(pr, at, n < 0 ? errno : EAGAIN);
		}
	}
	tx->n = tx->nv = 0;
}

unsigned packet_tx_run(struct xk_task *t, unsigned budget)
{
	struct packet_rep *pr = xk_container_of(t, struct packet_rep, tx.task);
	unsigned n = pr->tx.n;

	(void)budget;
	packet_tx_flush(pr);
	xk_task_park(t);
	return n;
}

/* The pieces of m, the header h before them if it is not NULL, behind those of the batch, those joined that lie
 * behind each other; 0: more than fit. */
static unsigned packet_iov(struct packet_tx *tx, const struct xk_msg *m, const uint8_t *h)
{
	struct iovec *v = tx->v + tx->nv;
	unsigned n = 0;

	if (h != NULL)
		v[n++] = (struct iovec){ (void *)(uintptr_t)h, XK_VNET_LEN };
	for (;; m = m->next) {
		if (n != 0 && (uint8_t *)v[n - 1].iov_base + v[n - 1].iov_len == m->data) {
			v[n - 1].iov_len += m->len;
		} else {
			if (n == PACKET_MSG_IOV)
				return 0;
			v[n++] = (struct iovec){ m->data, m->len };
		}
		if (!(m->flags & XK_MSG_CHAIN))
			return n;
	}
}

static void packet_queue(struct packet_rep *pr, struct xk_msg *m, unsigned nv)
{
	struct packet_tx *tx = &pr->tx;
	struct msghdr *h = &tx->h[tx->n].msg_hdr;

	memset(h, 0, sizeof *h);
	h->msg_iov = tx->v + tx->nv;
	h->msg_iovlen = nv;
	tx->nv += nv;
	tx->m[tx->n++] = m;
	/* Room for one more, whatever its segments. */
	if (tx->n == PACKET_TX_MSGS || tx->nv > PACKET_TX_IOVS - PACKET_MSG_IOV || tx->direct)
		packet_tx_flush(pr);
	else if (tx->n == 1)
		xk_task_ready(&tx->task);
}

bool packet_tx_frame(struct packet_rep *pr, struct xk_msg *m, const uint8_t *h)
{
	static const uint8_t plain[XK_VNET_LEN];
	struct packet_tx *tx = &pr->tx;
	unsigned nv;

	if (h != NULL)
		h = memcpy(tx->head[tx->n], h, XK_VNET_LEN);
	else if (packet_state(pr->rep)->vnet)
		h = plain;
	nv = packet_iov(tx, m, h);
	if (XK_UNLIKELY(nv == 0))
		return false;
	packet_queue(pr, m, nv);
	return true;
}

void packet_tx_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct packet_rep *pr = r->state;

	if (XK_UNLIKELY(m->flags & XK_MSG_SUPER))
		packet_super_down(pr, m);
	else if (XK_UNLIKELY(m->tot > packet_state(r)->frame_max))
		xk_drop(r, PACKET_DROP_TOO_LONG, m);
	else if (XK_UNLIKELY(!packet_tx_frame(pr, m, NULL)))
		xk_drop(r, PACKET_DROP_PIECES, m);
}
