/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hosttcp_io.c - bytes of connections in and out, and what the kernel tells of them.
 *
 * What is pushed waits for the unit's end and leaves by one write for each connection.  A connection is
 * watched for room only while something waits, and for bytes only while those above have taken what they
 * said they would, so a peer whose bytes nobody takes is held back by its own TCP.  That everything is
 * acknowledged the kernel tells only who asks, so a timer asks while somebody wants to know.
 * Invariant: a session that an event of this unit names and that ends is taken out of the events.
 */
#include "drivers/hosttcp/hosttcp_priv.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/upi/xk_enable.h"

#define POLL_EVERY   XK_MS
#define RESUME_AFTER (100 * XK_MS)

/* ---- what is asked of epoll --------------------------------------------------------------- */

int hosttcp_watch(struct hosttcp_sess *ts)
{
	struct epoll_event ev = { .data.ptr = &ts->watch };
	uint64_t most = hosttcp_conf(ts->s.rep)->buffer;
	bool held = ts->manual && ts->untaken >= most, watched = ts->events != UINT32_MAX;
	int epoll = hosttcp_rep(ts->s.rep)->epoll;

	if (ts->fd < 0)
		return XK_OK;
	if (ts->state == HOSTTCP_CONNECTING || ts->queued != 0)
		ev.events |= EPOLLOUT;
	if (ts->state == HOSTTCP_OPEN && !ts->ended && !ts->closed && !held)
		ev.events |= EPOLLIN;
	/* Both sides have ended, or may have, unread: it would say so for ever, asked or not. */
	if (ev.events == 0 && ts->shut_done && (ts->ended || held)) {
		if (watched)
			(void)epoll_ctl(epoll, EPOLL_CTL_DEL, ts->fd, NULL);
		ts->events = UINT32_MAX;
		return XK_OK;
	}
	if (ev.events == ts->events)
		return XK_OK;
	if (epoll_ctl(epoll, watched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, ts->fd, &ev) < 0)
		return -errno;
	ts->events = ev.events;
	return XK_OK;
}

void hosttcp_later(struct hosttcp_sess *ts)
{
	struct hosttcp_rep *hr = hosttcp_rep(ts->s.rep);

	if (!xk_is_listed(&ts->busy))
		xk_list_put(&hr->busy, &ts->busy);
	xk_task_ready(&hr->tx_task);
}

/* A reset behind the peer's end is EPIPE to the kernel. */
static int said(int err)
{
	return err == EPIPE ? XK_E_CONNRESET : -err;
}

static int error_of(int fd)
{
	socklen_t n = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) < 0 ? -errno : said(err);
}

/* ---- news for those above ---------------------------------------------------------------------- */

/* Whoever is told may close it: the caller holds it, or has done with it. */
static void tell(struct hosttcp_sess *ts, enum xk_stream_what what, int err)
{
	struct xk_stream_event ev = { &ts->s, what, err };

	if (!ts->closed)
		(void)xk_control(ts->s.up->rep, XK_CTL_STREAM_EVENT, &ev, sizeof ev);
}

void hosttcp_cut(struct hosttcp_sess *ts, bool reset)
{
	const struct linger at_once = { .l_onoff = 1 };

	if (ts->fd >= 0) {
		if (reset)
			(void)setsockopt(ts->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
		close(ts->fd);           /* leaves its epoll by that */
	}
	ts->fd = -1;
	ts->events = UINT32_MAX;
	ts->state = HOSTTCP_OVER;
	ts->queued = ts->gone = 0;
	xk_msgq_free(&ts->q);
	xk_msgq_init(&ts->q);
	xk_list_take(&ts->drain);
}

void hosttcp_fail(struct hosttcp_sess *ts, int err)
{
	struct xk_rep *r = ts->s.rep;

	if (ts->state == HOSTTCP_OVER && ts->fd < 0)
		return;
	ts->err = err;
	xk_count(r->count[err == XK_E_CONNRESET ? N_RESET : N_FAILED]);
	hosttcp_cut(ts, err == XK_E_CONNABORTED);
	if (ts->closed)
		hosttcp_free(ts);
	else
		tell(ts, XK_STREAM_FAILED, err);
}

/* ---- out --------------------------------------------------------------------------------------- */

uint32_t hosttcp_room(const struct hosttcp_sess *ts)
{
	uint64_t most = hosttcp_conf(ts->s.rep)->buffer;

	return ts->state == HOSTTCP_OVER || ts->shut || ts->queued >= most ? 0 : (uint32_t)(most - ts->queued);
}

uint32_t hosttcp_unacked(const struct hosttcp_sess *ts)
{
	int n = 0;

	if (ts->fd < 0 || ioctl(ts->fd, SIOCOUTQ, &n) < 0 || n < 0)
		return 0;
	return (uint32_t)n;
}

static unsigned gather(const struct hosttcp_sess *ts, struct iovec *v)
{
	uint32_t skip = ts->gone;
	unsigned n = 0;

	for (const struct xk_msg *m = ts->q.first; m != NULL; m = m->link)
		for (const struct xk_msg *p = m; p != NULL; p = p->next) {
			if (skip >= p->len) {
				skip -= p->len;
				continue;
			}
			if (n == HOSTTCP_IOVS)
				return n;
			v[n++] = (struct iovec){ p->data + skip, p->len - skip };
			skip = 0;
		}
	return n;
}

/* The kernel has n bytes more. */
static void written(struct hosttcp_sess *ts, uint32_t n)
{
	xk_count_add(ts->s.rep->count[N_BYTES_OUT], n);
	ts->queued -= n;
	ts->gone += n;
	while (ts->q.first != NULL && ts->gone >= ts->q.first->tot) {
		ts->gone -= ts->q.first->tot;
		xk_msg_free(xk_msgq_get(&ts->q));
	}
}

/* Writes until all is gone or the kernel takes no more; XK_OK or what it says. */
static int write_out(struct hosttcp_sess *ts)
{
	struct iovec v[HOSTTCP_IOVS];

	while (ts->queued != 0) {
		struct msghdr h = { .msg_iov = v, .msg_iovlen = gather(ts, v) };
		ssize_t n = sendmsg(ts->fd, &h, MSG_DONTWAIT | MSG_NOSIGNAL);

		xk_count(ts->s.rep->count[N_WRITES]);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ? XK_OK : said(errno);
		written(ts, (uint32_t)n);
	}
	return XK_OK;
}

static void end_our_side(struct hosttcp_sess *ts)
{
	if (ts->shut && !ts->shut_done && ts->queued == 0) {
		ts->shut_done = true;
		(void)shutdown(ts->fd, SHUT_WR);
	}
}

static void poll_later(struct hosttcp_rep *hr)
{
	if (!xk_timer_armed(&hr->poll))
		xk_timer_set(hr->rep->wheel, &hr->poll, xk_vp_now() + POLL_EVERY);
}

/* All acknowledged?  Then whoever asked is told, else the timer asks again; it asks for the error, too, where
 * nobody else would hear of it. */
static void look_drained(struct hosttcp_sess *ts)
{
	struct hosttcp_rep *hr = hosttcp_rep(ts->s.rep);
	int err;

	if (!ts->wants_drained || ts->fd < 0)
		return;
	if (ts->queued == 0 && (!ts->shut || ts->shut_done) && hosttcp_unacked(ts) == 0) {
		ts->wants_drained = false;
		xk_list_take(&ts->drain);
		tell(ts, XK_STREAM_DRAINED, 0);
		return;
	}
	err = ts->events == UINT32_MAX ? error_of(ts->fd) : XK_OK;
	if (err != XK_OK) {
		hosttcp_fail(ts, err);
		return;
	}
	if (!xk_is_listed(&ts->drain))
		xk_list_put(&hr->drain, &ts->drain);
	poll_later(hr);
}

void hosttcp_poll(struct xk_timer *t)
{
	struct hosttcp_rep *hr = xk_container_of(t, struct hosttcp_rep, poll);
	struct xk_list now = hr->drain;
	struct xk_listed *i;

	/* Each once, whatever is told of them. */
	if (xk_list_empty(&hr->drain))
		return;
	now.head.next->prev = now.head.prev->next = &now.head;
	hr->drain = (struct xk_list){ .head = { NULL, NULL } };
	while ((i = xk_list_first(&now)) != NULL) {
		struct hosttcp_sess *ts = xk_container_of(i, struct hosttcp_sess, drain);

		xk_list_take(i);
		xk_dup(&ts->s);
		look_drained(ts);
		xk_close(&ts->s);
	}
}

/* What a session has to do: to send, to end, to say.  The caller holds it. */
static void work(struct hosttcp_sess *ts)
{
	int err = ts->state == HOSTTCP_OVER ? XK_OK : ts->err;

	if (err == XK_OK && ts->state == HOSTTCP_OPEN)
		err = write_out(ts);
	if (err == XK_OK && ts->state == HOSTTCP_OPEN)
		end_our_side(ts);
	if (err == XK_OK)
		err = hosttcp_watch(ts);
	if (err != XK_OK) {
		hosttcp_fail(ts, err);
		return;
	}
	if (ts->wants_room && hosttcp_room(ts) >= hosttcp_conf(ts->s.rep)->buffer / 4) {
		ts->wants_room = false;
		tell(ts, XK_STREAM_WRITABLE, 0);
	}
	look_drained(ts);
}

/* The same where nobody above has it any more: it ends when all is the kernel's. */
static void work_closed(struct hosttcp_sess *ts)
{
	int err = ts->err;

	if (err == XK_OK && ts->state == HOSTTCP_OPEN)
		err = write_out(ts);
	if (err == XK_OK && ts->queued != 0)
		err = hosttcp_watch(ts);
	if (err != XK_OK || (ts->state != HOSTTCP_CONNECTING && ts->queued == 0))
		hosttcp_free(ts);
}

unsigned hosttcp_tx_run(struct xk_task *t, unsigned budget)
{
	struct hosttcp_rep *hr = xk_container_of(t, struct hosttcp_rep, tx_task);
	struct xk_listed *i;
	unsigned n = 0;

	for (; n < budget && (i = xk_list_first(&hr->busy)) != NULL; n++) {
		struct hosttcp_sess *ts = xk_container_of(i, struct hosttcp_sess, busy);

		xk_list_take(i);
		if (ts->closed) {
			work_closed(ts);
			continue;
		}
		xk_dup(&ts->s);
		work(ts);
		xk_close(&ts->s);
	}
	if (xk_list_empty(&hr->busy))
		xk_task_park(t);
	return n;
}

void hosttcp_push(struct xk_sess *s, struct xk_msg *m)
{
	struct hosttcp_sess *ts = hosttcp_sess(s);

	if (ts->state == HOSTTCP_OVER || ts->shut) {
		xk_drop(s->rep, HOSTTCP_DROP_ENDED, m);
	} else if (hosttcp_room(ts) == 0) {
		xk_drop(s->rep, HOSTTCP_DROP_NO_ROOM, m);
		ts->err = XK_E_CONNABORTED;
		hosttcp_later(ts);
	} else if (m->tot == 0) {
		xk_msg_free(m);
	} else {
		ts->queued += m->tot;
		xk_msgq_put(&ts->q, m);
		hosttcp_later(ts);
	}
}

/* ---- in ---------------------------------------------------------------------------------------- */

/* One read; the caller holds the session. */
static void read_in(struct hosttcp_sess *ts)
{
	struct hosttcp_rep *hr = hosttcp_rep(ts->s.rep);
	struct xk_rep *r = ts->s.rep;
	ssize_t n = recv(ts->fd, hr->room, HOSTTCP_ROOM, MSG_DONTWAIT);
	struct xk_msg *m;

	xk_count(r->count[N_READS]);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			hosttcp_fail(ts, said(errno));
		return;
	}
	if (n == 0) {
		ts->ended = true;
		hosttcp_later(ts);
		xk_close_done(&ts->s);
		return;
	}
	m = xk_msg_new((uint32_t)n);
	if (m == NULL) {                 /* its bytes are gone: no stream any more */
		xk_dropped(r, XK_DROP_NOMEM, 1);
		hosttcp_fail(ts, XK_E_CONNABORTED);
		return;
	}
	xk_msg_copy_in(m, 0, hr->room, (uint32_t)n);
	xk_count_add(r->count[N_BYTES_IN], (uint64_t)n);
	if (ts->manual)
		ts->untaken += (uint32_t)n;
	xk_demux(&ts->s, m);
	if (ts->manual && !ts->closed)
		(void)hosttcp_watch(ts);
}

/* The connection stands, or does not. */
static void connected(struct hosttcp_sess *ts)
{
	int err = error_of(ts->fd);
	struct xk_hostend peer;

	if (err != XK_OK) {
		hosttcp_fail(ts, err);
		return;
	}
	xk_host_ends(ts->fd, &ts->local, &peer);
	ts->state = HOSTTCP_OPEN;
	xk_count(ts->s.rep->count[N_OPENED]);
	hosttcp_later(ts);
	tell(ts, XK_STREAM_OPENED, 0);
}

static void sess_event(struct hosttcp_sess *ts, uint32_t events)
{
	int err = events & EPOLLERR ? error_of(ts->fd) : XK_OK;

	if (ts->state == HOSTTCP_CONNECTING) {
		if (err != XK_OK)
			hosttcp_fail(ts, err);
		else if (events & (EPOLLOUT | EPOLLHUP))
			connected(ts);
	} else if (err != XK_OK) {
		hosttcp_fail(ts, err);
	} else {
		if (events & EPOLLOUT)
			hosttcp_later(ts);
		if ((events & (EPOLLIN | EPOLLHUP)) && !ts->ended)
			read_in(ts);
	}
}

/* ---- connections that peers open ---------------------------------------------------------------- */

static void accepted(struct hosttcp_rep *hr, struct hosttcp_listen *k, int fd)
{
	struct xk_rep *r = hr->rep;
	struct xk_enable *e = xk_enable_find(r->node, &k->l.key);
	struct hosttcp_sess *ts = NULL;
	int err;

	if (e != NULL && hr->nsessions < hosttcp_conf(r)->sessions)
		ts = hosttcp_make(r, &xk_rep_here(xk_enable_rcv(e), r)->up, xk_enable_type(e), fd, &err);
	if (ts == NULL) {
		xk_count(r->count[e == NULL ? N_NOBODY : N_REFUSED_HERE]);
		close(fd);
		return;
	}
	ts->passive = true;
	ts->state = HOSTTCP_OPEN;
	xk_dup(&ts->s);
	if (xk_open_done(xk_enable_rcv(e), &ts->s, xk_enable_type(e)) < 0) {
		xk_count(r->count[N_REFUSED_HERE]);
		hosttcp_cut(ts, true);
	} else {
		xk_count(r->count[N_ACCEPTED]);
		hosttcp_later(ts);
	}
	xk_close(&ts->s);
}

/* No descriptors: it would be readable for ever.  It rests a little. */
static void pause_listen(struct hosttcp_rep *hr, struct hosttcp_listen *k)
{
	struct epoll_event ev = { .data.ptr = &k->watch };

	xk_count(hr->rep->count[N_NO_DESCRIPTORS]);
	(void)epoll_ctl(hr->epoll, EPOLL_CTL_MOD, k->l.fd, &ev);
	k->paused = hr->paused;
	hr->paused = k;
	xk_timer_set(hr->rep->wheel, &hr->resume, xk_vp_now() + RESUME_AFTER);
}

void hosttcp_resume(struct xk_timer *t)
{
	struct hosttcp_rep *hr = xk_container_of(t, struct hosttcp_rep, resume);
	struct hosttcp_listen *k;

	while ((k = hr->paused) != NULL) {
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &k->watch };

		hr->paused = k->paused;
		(void)epoll_ctl(hr->epoll, EPOLL_CTL_MOD, k->l.fd, &ev);
	}
}

static unsigned listen_event(struct hosttcp_rep *hr, struct hosttcp_listen *k)
{
	unsigned n;

	for (n = 0; n < HOSTTCP_ACCEPT; n++) {
		int fd = accept4(k->l.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0)
			accepted(hr, k, fd);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			pause_listen(hr, k);
			break;
		} else if (errno != EINTR && errno != ECONNABORTED)
			break;
	}
	return n;
}

/* One that nobody above has any more only sends what it has. */
static void event(struct hosttcp_sess *ts, uint32_t events)
{
	if (!ts->closed) {
		xk_dup(&ts->s);
		sess_event(ts, events);
		xk_close(&ts->s);
		return;
	}
	ts->err = events & EPOLLERR ? error_of(ts->fd) : XK_OK;
	if (ts->state == HOSTTCP_CONNECTING)
		ts->state = HOSTTCP_OPEN;
	work_closed(ts);
}

/* ---- a unit ---------------------------------------------------------------------------------------- */

unsigned hosttcp_rx_run(struct xk_task *t, unsigned budget)
{
	struct hosttcp_rep *hr = xk_container_of(t, struct hosttcp_rep, rx_task);
	unsigned done = 0;

	hr->nev = epoll_wait(hr->epoll, hr->ev, (int)(budget < HOSTTCP_EVENTS ? budget : HOSTTCP_EVENTS), 0);
	for (int i = 0; i < hr->nev; i++) {
		struct hosttcp_watch *w = hr->ev[i].data.ptr;

		if (w == NULL)
			continue;        /* it has ended meanwhile */
		if (w->listen != NULL) {
			done += listen_event(hr, w->listen);
			continue;
		}
		event(w->sess, hr->ev[i].events);
		done++;
	}
	hr->nev = 0;
	return done;
}
