/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_io.c - messages out and in by rings, and sleeping without lost wake-ups.
 *
 * What is pushed is written at once; whether the peer sleeps is looked at once in the next unit.  A virtual
 * processor polls its links' next lines; the descriptors, by which peers come, wake and go, are looked at
 * after a sleep and now and then.
 * Invariant: before a worker sleeps each link's front says so, then all rings are looked at once more
 * (shm_sleeps); a peer writes first and reads the front then.  So one of the two sees the other.
 */
#include "drivers/shm/shm_priv.h"

#include <errno.h>
#include <sys/socket.h>

#include "runtime/upi/xk_stream.h"

#define LOOK_RUNS  1024u                 /* idle runs, where time stands still */
#define LOOK_SLEPT (20 * XK_US)

/* ---- waking ---------------------------------------------------------------------------- */

/* EAGAIN: it has not read what woke it before. */
static void wake(struct shm_link *l)
{
	const char byte = 0;

	if (l->fd < 0)
		return;
	(void)send(l->fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL);
	xk_count(l->hr->rep->count[SHM_N_WAKES]);
}

static void bell(struct shm_link *l)
{
	if (xk_is_listed(&l->bell))
		return;
	xk_list_put(&l->hr->bells, &l->bell);
	xk_task_ready(&l->hr->tx_task);
}

static void ring_bells(struct shm_rep *hr)
{
	struct xk_listed *i;

	if (!xk_list_empty(&hr->bells))
		shm_fence(hr);
	while ((i = xk_list_first(&hr->bells)) != NULL) {
		struct shm_link *l = xk_container_of(i, struct shm_link, bell);

		xk_list_take(i);
		if (xk_load_relaxed(&l->in.front->asleep) != 0)
			wake(l);
	}
}

unsigned shm_tx_run(struct xk_task *t, unsigned budget)
{
	struct shm_rep *hr = xk_container_of(t, struct shm_rep, tx_task);
	struct xk_listed *i;

	(void)budget;
	ring_bells(hr);
	while ((i = xk_list_first(&hr->failed)) != NULL)
		shm_sess_over(xk_container_of(i, struct shm_sess, failed));
	xk_task_park(t);
	return 1;
}

/* ---- out ---------------------------------------------------------------------------------- */

/* The peer writes nonsense: it ends as one that is gone. */
static void bad(struct shm_link *l)
{
	if (l->hup && l->left == 0)
		return;
	l->hup = true;
	l->left = 0;
	xk_count(l->hr->rep->count[SHM_N_BAD_PEERS]);
}

static void *room(struct shm_link *l, uint32_t len)
{
	void *p = shm_out_room(&l->out, len);

	if (XK_LIKELY(p != NULL))
		return p;
	if (shm_out_look(&l->out, &l->in))
		return shm_out_room(&l->out, len);
	bad(l);
	return NULL;
}

static bool put(struct shm_link *l, enum shm_kind kind, uint16_t from, uint16_t to, const struct xk_msg *m)
{
	uint32_t len = m != NULL ? m->tot : 0;
	void *p = room(l, len);

	if (XK_UNLIKELY(p == NULL))
		return false;
	if (len != 0)
		xk_msg_copy_out(m, 0, p, len);
	shm_out_put(&l->out, kind, from, to, len);
	bell(l);
	return true;
}

void shm_flush(struct shm_link *l)
{
	struct xk_msg *m;

	while ((m = l->q.first) != NULL) {
		if (!put(l, m->kept.flags, (uint16_t)(m->kept.seq >> 16), (uint16_t)m->kept.seq, m))
			return;
		(void)xk_msgq_get(&l->q);
		l->queued -= m->tot;
		xk_count_add(l->hr->rep->count[SHM_N_WRITTEN], m->kept.flags == SHM_MESSAGE);
		xk_msg_free(m);
	}
}

static void later(struct shm_link *l, enum shm_kind kind, uint16_t from, uint16_t to, struct xk_msg *m)
{
	m->kept.seq = (uint32_t)from << 16 | to;
	m->kept.flags = (uint16_t)kind;
	xk_msgq_put(&l->q, m);
	l->queued += m->tot;
	xk_count_add(l->hr->rep->count[SHM_N_QUEUED], kind == SHM_MESSAGE);
}

void shm_say_end(struct shm_link *l, uint16_t from, uint16_t to)
{
	struct xk_msg *m;

	if (l->state != SHM_UP || l->hup || (l->q.first == NULL && put(l, SHM_END, from, to, NULL)))
		return;
	/* Where it does not get through the peer forgets the session some day. */
	m = l->queued + sizeof *m * l->q.n <= shm_conf(l->hr->rep)->queue ? xk_msg_new(0) : NULL;
	if (m != NULL)
		later(l, SHM_END, from, to, m);
}

/* More than the queue holds: reliable no longer. */
static void overflow(struct shm_sess *us, struct xk_msg *m)
{
	struct shm_rep *hr = us->link->hr;

	xk_drop(us->s.rep, SHM_DROP_QUEUE, m);
	if (!xk_is_listed(&us->failed))
		xk_list_put(&hr->failed, &us->failed);
	xk_task_ready(&hr->tx_task);
}

void shm_push(struct xk_sess *s, struct xk_msg *m)
{
	struct shm_sess *us = shm_sess(s);
	struct shm_link *l = us->link;

	if (XK_UNLIKELY(m->tot > shm_conf(s->rep)->slot)) {
		xk_drop(s->rep, SHM_DROP_TOO_LONG, m);
	} else if (XK_UNLIKELY(l == NULL || xk_is_listed(&us->failed))) {
		xk_drop(s->rep, SHM_DROP_GONE, m);
	} else if (XK_LIKELY(l->state == SHM_UP && l->q.first == NULL) && put(l, SHM_MESSAGE, us->port, us->peer_port, m)) {
		xk_count(s->rep->count[SHM_N_WRITTEN]);
		xk_msg_free(m);
	} else if (l->queued + m->tot + sizeof *m * l->q.n <= shm_conf(s->rep)->queue) {
		later(l, SHM_MESSAGE, us->port, us->peer_port, m);
	} else {
		overflow(us, m);
	}
}

/* What waits behind others waits in memory: as long as anything does, who asks pushes no more.  Nobody waits for a link
 * that is no more: what is pushed is dropped. */
uint32_t shm_room(struct shm_sess *us)
{
	uint64_t room = shm_conf(us->s.rep)->queue;

	if (us->link == NULL || us->link->q.first == NULL)
		return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
	if (!xk_is_listed(&us->stopped))
		xk_list_put(&us->link->stopped, &us->stopped);
	return 0;
}

/* In the order in which they asked, until one has filled the link again. */
static void tell_stopped(struct shm_link *l)
{
	struct xk_listed *i;

	while (l->q.first == NULL && (i = xk_list_first(&l->stopped)) != NULL) {
		struct xk_sess *s = &xk_container_of(i, struct shm_sess, stopped)->s;
		struct xk_stream_event ev = { .s = s, .what = XK_STREAM_WRITABLE };

		xk_list_take(i);
		xk_dup(s);
		(void)xk_control(s->up->rep, XK_CTL_STREAM_EVENT, &ev, sizeof ev);
		xk_close(s);
	}
}

/* ---- in ------------------------------------------------------------------------------------- */

/* Who waits for room is told what was taken. */
static void say(struct shm_link *l)
{
	shm_in_say(&l->in, &l->out);
	shm_fence(l->hr);
	if (xk_load_relaxed(&l->in.front->wants) != 0)
		wake(l);
}

static unsigned take(struct shm_link *l, unsigned most)
{
	unsigned n = 0;
	struct shm_got g;

	while (n < most && shm_in_waits(&l->in)) {
		if (XK_UNLIKELY(l->hup) && l->left-- == 0) {
			l->left = 0;
			break;
		}
		if (XK_UNLIKELY(!shm_in_get(&l->in, &g))) {
			xk_dropped(l->hr->rep, SHM_DROP_BAD, 1);
			bad(l);
			break;
		}
		shm_deliver(l, &g);
		shm_in_next(&l->in, &g);
		n++;
	}
	if (l->in.said != l->in.next && (n == 0 || shm_in_owes(&l->in)))
		say(l);
	return n;
}

static unsigned serve(struct shm_link *l, unsigned most)
{
	unsigned n;

	if (l->state != SHM_UP)
		return 0;
	if (XK_UNLIKELY(l->q.first != NULL))
		shm_flush(l);
	if (XK_UNLIKELY(!xk_list_empty(&l->stopped)))
		tell_stopped(l);
	n = take(l, most);
	if (XK_UNLIKELY(l->hup) && (n == 0 || l->left == 0))
		shm_link_end(l);
	return n;
}

/* ---- sleeping ------------------------------------------------------------------------------- */

static void front(struct shm_link *l, bool asleep)
{
	xk_store_relaxed(&l->out.front->wants, (uint32_t)(asleep && l->q.first != NULL));
	xk_store_relaxed(&l->out.front->asleep, (uint32_t)asleep);
}

static bool has_work(struct shm_link *l)
{
	return l->hup || shm_in_waits(&l->in) || (l->q.first != NULL ? room(l, l->q.first->tot) != NULL :
	       !xk_list_empty(&l->stopped));
}

bool shm_sleeps(struct xk_task *t)
{
	struct shm_rep *hr = xk_container_of(t, struct shm_rep, rx_task);
	struct xk_listed *i;

	hr->armed = true;
	for (i = xk_list_first(&hr->links); i != NULL; i = xk_list_next(&hr->links, i)) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		if (l->state != SHM_UP)
			continue;
		shm_in_say(&l->in, &l->out);
		front(l, true);
	}
	shm_fence(hr);
	for (i = xk_list_first(&hr->links); i != NULL; i = xk_list_next(&hr->links, i)) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		if (l->state != SHM_UP)
			continue;
		if (has_work(l))
			return false;
		if (xk_load_relaxed(&l->in.front->wants) != 0)
			wake(l);
	}
	return true;
}

static void awake(struct shm_rep *hr)
{
	hr->armed = false;
	for (struct xk_listed *i = xk_list_first(&hr->links); i != NULL; i = xk_list_next(&hr->links, i)) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		if (l->state == SHM_UP)
			front(l, false);
	}
}

/* Who asked before it slept may not have slept at all. */
static bool is_time(struct shm_rep *hr, bool slept)
{
	xk_ns since = xk_vp_now() - hr->looked;

	if (++hr->idle < LOOK_RUNS && since < (slept ? LOOK_SLEPT : XK_MS))
		return false;
	hr->idle = 0;
	hr->looked = xk_vp_now();
	return true;
}

unsigned shm_rx_run(struct xk_task *t, unsigned budget)
{
	struct shm_rep *hr = xk_container_of(t, struct shm_rep, rx_task);
	bool slept = hr->armed;
	struct xk_listed *i, *next;
	unsigned done = 0;

	if (XK_UNLIKELY(slept))
		awake(hr);
	if (is_time(hr, slept))
		done += shm_events(hr);
	for (i = xk_list_first(&hr->links); i != NULL && done < budget; i = next) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		done += serve(l, budget - done);
		next = xk_list_next(&hr->links, i);
		if (done >= budget && next != NULL) {    /* the next one is the first next time */
			xk_list_take(i);
			xk_list_put(&hr->links, i);
			break;
		}
	}
	if (XK_UNLIKELY(hr->over))
		shm_links_free(hr, false);
	return done;
}
