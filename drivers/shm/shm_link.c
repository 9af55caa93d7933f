/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_link.c - links: a peer is looked for, met and lost.
 *
 * Who opens a session to a host has a link there from this VP, or begins one.  A peer that is not there yet is
 * tried again; meanwhile what is pushed waits.  A socket that hangs up is a peer that is gone: what it wrote
 * before is still read, then every session of the link is told.
 * Invariant: a link that is over stays in the list, without sessions, until the end of the unit.
 */
#include "drivers/shm/shm_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/mem/xk_alloc.h"

#define SEEK_EVERY (10 * XK_MS)
#define EVENTS 16
#define READS  16                        /* of what woke us, at a time */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- life --------------------------------------------------------------------------------- */

static struct shm_link *link_new(struct shm_rep *hr, bool ours, uint32_t host)
{
	struct shm_link *l = xk_alloc(sizeof *l);

	if (l == NULL)
		return NULL;
	memset(l, 0, sizeof *l);
	l->hr = hr;
	l->ours = ours;
	l->host = host;
	l->fd = l->memfd = l->to_vp = -1;
	l->until = xk_vp_now() + shm_conf(hr->rep)->wait;
	xk_msgq_init(&l->q);
	xk_list_put(&hr->links, &l->all);
	hr->nlinks++;
	if (!xk_timer_armed(&hr->seek))
		xk_timer_set(hr->rep->wheel, &hr->seek, xk_vp_now() + SEEK_EVERY);
	return l;
}

static int link_area(struct shm_link *l)
{
	struct shm_shape s = shm_shape_of(shm_conf(l->hr->rep));
	int err;

	l->by = xk_alloc(s.lines * sizeof *l->by);
	if (l->by == NULL)
		return XK_E_NOMEM;
	err = shm_area_make(&s, &l->memfd, &l->mine);
	if (err == XK_OK)
		shm_out_init(&l->out, l->mine, l->by, &s);
	else
		l->mine = NULL;
	return err;
}

static void link_free(struct shm_link *l)
{
	if (l->mine != NULL)
		(void)munmap(l->mine, shm_area_size(&l->out.shape));
	if (l->theirs != NULL)
		(void)munmap((void *)(uintptr_t)l->theirs, shm_area_size(&l->in.shape));
	close_fd(&l->memfd);
	xk_list_take(&l->all);
	xk_list_take(&l->bell);
	xk_free(l->by);
	xk_free(l);
}

void shm_links_free(struct shm_rep *hr, bool all)
{
	struct xk_listed *i = xk_list_first(&hr->links), *next;

	for (; i != NULL; i = next) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		next = xk_list_next(&hr->links, i);
		if (all || l->state == SHM_OVER)
			link_free(l);
	}
	hr->over = false;
}

static void lose_queue(struct shm_link *l)
{
	struct xk_msg *m;

	while ((m = xk_msgq_get(&l->q)) != NULL) {
		if (m->kept.flags == SHM_MESSAGE)
			xk_drop(l->hr->rep, SHM_DROP_GONE, m);
		else
			xk_msg_free(m);
	}
	l->queued = 0;
}

void shm_link_end(struct shm_link *l)
{
	struct shm_rep *hr = l->hr;
	struct xk_listed *i;

	if (l->state == SHM_OVER)
		return;
	xk_count_add(hr->rep->count[SHM_N_LOST], l->state == SHM_UP || l->ours);
	l->state = SHM_OVER;
	hr->over = true;
	hr->nlinks--;
	close_fd(&l->fd);
	xk_list_take(&l->bell);
	lose_queue(l);
	while ((i = xk_list_first(&l->sessions)) != NULL)
		shm_sess_over(xk_container_of(i, struct shm_sess, of_link));
}

/* ---- meeting ---------------------------------------------------------------------------------- */

static void greeting_of(const struct shm_rep *hr, struct shm_greeting *g)
{
	*g = (struct shm_greeting){ .host = hr->at.host, .vp = hr->at.vp, .vps = (uint16_t)hr->rep->node->graph->vps->nvps,
				    .shape = shm_shape_of(shm_conf(hr->rep)) };
}

static int say_hello(struct shm_link *l)
{
	struct shm_greeting g;

	greeting_of(l->hr, &g);
	return shm_greet(l->fd, &g, l->memfd);
}

static int watch(struct shm_link *l)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = l };

	return epoll_ctl(l->hr->epoll, EPOLL_CTL_ADD, l->fd, &ev) == 0 ? XK_OK : -errno;
}

static bool not_there(int err)
{
	return err == XK_E_CONNREFUSED || err == XK_E_NOENT || err == XK_E_AGAIN;
}

/* Tries the VP that it must lead to, or that of our own number; where a host has fewer, half of that, and so on. */
static int seek(struct shm_link *l)
{
	struct shm_place to = l->hr->at;
	int err;

	to.host = l->host;
	if (l->to_vp >= 0)
		to.vp = (uint16_t)l->to_vp;
	while ((err = shm_connect(&to, &l->fd)) != XK_OK && not_there(err) && to.vp != 0 && l->to_vp < 0)
		to.vp /= 2;
	if (err != XK_OK)
		return not_there(err) ? XK_OK : err;
	err = watch(l);
	if (err == XK_OK && say_hello(l) == XK_OK)
		l->state = SHM_MEETING;
	else
		close_fd(&l->fd);
	return err;
}

/* It did not come to anything. */
static void failed(struct shm_link *l, int err)
{
	struct xk_rep *r = l->hr->rep;

	xk_count_add(r->count[SHM_N_FOREIGN], err == XK_E_PERM);
	xk_count_add(r->count[SHM_N_BAD_PEERS], err == XK_E_INVAL);
	if (!l->ours || err == XK_E_PERM || err == XK_E_INVAL) {
		shm_link_end(l);
		return;
	}
	close_fd(&l->fd);
	l->state = SHM_SEEKING;
}

static void gone(struct shm_link *l)
{
	l->hup = true;
	l->left = l->in.shape.lines;
}

static int met(struct shm_link *l, const struct shm_greeting *g, int memfd)
{
	int err;

	if (l->ours && g->host != l->host)
		return XK_E_INVAL;
	err = shm_area_map(&g->shape, memfd, &l->theirs);
	if (err != XK_OK) {
		l->theirs = NULL;
		return err;
	}
	shm_in_init(&l->in, l->theirs, &g->shape);
	if (l->ours)
		return XK_OK;
	err = link_area(l);
	/* It has gone meanwhile: what it wrote is read all the same. */
	if (err == XK_OK && say_hello(l) != XK_OK)
		gone(l);
	return err;
}

static void meet(struct shm_link *l)
{
	struct shm_greeting g;
	int memfd, err = shm_greeted(l->fd, &g, &memfd);

	if (err == XK_E_AGAIN)
		return;
	if (err == XK_OK) {
		err = met(l, &g, memfd);
		close(memfd);
	}
	if (err != XK_OK) {
		failed(l, err);
		return;
	}
	close_fd(&l->memfd);
	l->host = g.host;
	l->vp = g.vp;
	l->vps = g.vps;
	l->state = SHM_UP;
	xk_count(l->hr->rep->count[l->ours ? SHM_N_BEGUN : SHM_N_MET]);
	shm_flush(l);
}

/* Until all are met or given up. */
void shm_seek(struct xk_timer *t)
{
	struct shm_rep *hr = xk_container_of(t, struct shm_rep, seek);
	struct xk_listed *i = xk_list_first(&hr->links), *next;
	xk_ns now = xk_vp_now();
	bool more = false;

	for (; i != NULL; i = next) {
		struct shm_link *l = xk_container_of(i, struct shm_link, all);

		if (l->state == SHM_SEEKING && now < l->until)
			(void)seek(l);
		if (l->state < SHM_UP && now >= l->until)
			shm_link_end(l);
		more |= l->state < SHM_UP;
		next = xk_list_next(&hr->links, i);
	}
	if (more)
		xk_timer_set(hr->rep->wheel, &hr->seek, now + SEEK_EVERY);
}

/* ---- finding one ------------------------------------------------------------------------------ */

/* The next one after l, NULL: the first, that leads to that host, or will. */
static struct shm_link *usable(struct shm_rep *hr, const struct shm_link *l, uint32_t host)
{
	struct xk_listed *i = l != NULL ? xk_list_next(&hr->links, &l->all) : xk_list_first(&hr->links);

	for (; i != NULL; i = xk_list_next(&hr->links, i)) {
		struct shm_link *k = xk_container_of(i, struct shm_link, all);

		if (k->state != SHM_OVER && !k->hup && k->host == host && (k->ours || k->state == SHM_UP))
			return k;
	}
	return NULL;
}

/* A port of no VP is where our home link to that host ends: what belongs together there, as a connection of ncs and
 * its control do, is with one VP of the peer, whatever other links come up meanwhile.  NULL: there is none yet. */
static struct shm_link *home_of(struct shm_rep *hr, uint32_t host)
{
	struct shm_link *any = NULL;

	for (struct shm_link *l = usable(hr, NULL, host); l != NULL; l = usable(hr, l, host)) {
		if (l->home)
			return l;
		if (any == NULL && l->to_vp < 0)
			any = l;
	}
	return any;
}

/* Which VP of that host has the port; -1: it has not been met. */
static int vp_of(struct shm_rep *hr, uint32_t host, uint16_t port)
{
	for (struct shm_link *l = usable(hr, NULL, host); l != NULL; l = usable(hr, l, host))
		if (l->state == SHM_UP)
			return (port - SHM_EPHEMERAL) % l->vps;
	return -1;
}

/* While no VP of the peer was met, one of ours that is on its way may lead to any; those that do not listen begin
 * their links themselves, and if they did not, any VP will do. */
static struct shm_link *to_vp(struct shm_rep *hr, uint32_t host, int vp)
{
	bool any = vp < 0 || vp >= (int)SHM_LISTENERS;
	struct shm_link *coming = NULL;

	for (struct shm_link *l = usable(hr, NULL, host); l != NULL; l = usable(hr, l, host)) {
		if (vp >= 0 && l->state == SHM_UP && l->vp == vp)
			return l;
		if (coming == NULL && (any || (l->state != SHM_UP && l->to_vp == vp)))
			coming = l;
	}
	return coming;
}

/* There is none yet.  NULL: *err. */
static struct shm_link *begin(struct shm_rep *hr, uint32_t host, int vp, int *err)
{
	struct shm_link *l;

	*err = hr->nlinks < shm_conf(hr->rep)->links ? XK_E_NOMEM : XK_E_NOSPC;
	l = *err == XK_E_NOMEM ? link_new(hr, true, host) : NULL;
	if (l == NULL)
		return NULL;
	l->to_vp = vp < (int)SHM_LISTENERS ? vp : -1;
	*err = link_area(l);
	if (*err == XK_OK)
		*err = seek(l);
	if (*err == XK_OK)
		return l;
	shm_link_end(l);
	return NULL;
}

struct shm_link *shm_link_to(struct shm_rep *hr, uint32_t host, uint16_t port, int *err)
{
	bool home = port < SHM_EPHEMERAL;
	int vp = home ? -1 : vp_of(hr, host, port);
	struct shm_link *l = home ? home_of(hr, host) : to_vp(hr, host, vp);

	*err = XK_OK;
	if (l == NULL)
		l = begin(hr, host, vp, err);
	if (l != NULL)
		l->home |= home;
	return l;
}

/* ---- descriptors -------------------------------------------------------------------------------- */

/* Whoever comes and is too many is sent away. */
static void came(struct shm_rep *hr)
{
	struct shm_link *l;
	int fd;

	for (int n = 0; n < EVENTS && shm_accept(hr->listening, &fd) == XK_OK; n++) {
		bool ours = shm_is_ours(fd);

		xk_count_add(hr->rep->count[SHM_N_FOREIGN], !ours);
		l = ours && hr->nlinks < shm_conf(hr->rep)->links ? link_new(hr, false, 0) : NULL;
		if (l == NULL) {
			close(fd);
			continue;
		}
		l->fd = fd;
		l->state = SHM_MEETING;
		if (watch(l) != XK_OK)
			shm_link_end(l);
		else
			meet(l);
	}
}

/* Wakes are all alike; then the end. */
static void hear(struct shm_link *l)
{
	char bytes[64];
	ssize_t n = 1;

	for (int k = 0; k < READS && n > 0; k++)
		n = recv(l->fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (l->hup || n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	gone(l);
}

unsigned shm_events(struct shm_rep *hr)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_wait(hr->epoll, ev, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		struct shm_link *l = ev[i].data.ptr;

		if (l == NULL)
			came(hr);
		else if (l->state == SHM_MEETING)
			meet(l);
		else if (l->state == SHM_UP)
			hear(l);
	}
	return n > 0 ? (unsigned)n : 0;
}
