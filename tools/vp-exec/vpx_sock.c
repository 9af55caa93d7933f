/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_sock.c - sockets of programs: made, found by inode or by key, looked at, freed; and the calls that wait on them.
 *
 * Events name a socket by a key, a place of a table and how often that was used: one that comes late finds nobody.
 * Invariant: a socket is in the hash and in the table from its making until it is freed.
 */
#include "tools/vp-exec/vpx.h"

#include "runtime/base/xk_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BUCKETS = 1 << 14, SWEEP = 256 };
static struct vpx_sock *bucket[BUCKETS];
struct place { struct vpx_sock *sock; uint32_t uses, next_free; };
static struct place *place;
static uint32_t nplaces, first_free;      /* numbers from 1; 0: none */
static uint64_t *soon;                    /* keys */
static size_t nsoon, soon_room;
static unsigned ndead, sweep_at = SWEEP;
static unsigned ntimed;                   /* calls that wait and have a time-out */

/* ---- the table --------------------------------------------------------------------------------------- */

static bool grow(void)
{
	uint32_t n = nplaces == 0 ? 64 : 2 * nplaces;
	struct place *more = realloc(place, (n + 1) * sizeof *more);

	if (more == NULL)
		return false;
	place = more;
	for (uint32_t i = n; i > nplaces; i--) {
		place[i] = (struct place){ .next_free = first_free };
		first_free = i;
	}
	nplaces = n;
	return true;
}

struct vpx_sock *vpx_sock_of_key(uint64_t key)
{
	uint32_t at = (uint32_t)(key & 0xffffff);

	return at <= nplaces && at != 0 && place[at].sock != NULL && place[at].sock->key == key ? place[at].sock : NULL;
}

/* Those behind place *i, one after the other, whoever is freed meanwhile; NULL: no more. */
static struct vpx_sock *next_in(uint32_t *i)
{
	while (++*i <= nplaces)
		if (place[*i].sock != NULL)
			return place[*i].sock;
	return NULL;
}

static struct vpx_sock *of_ino(ino_t ino)
{
	struct vpx_sock *v = bucket[ino % BUCKETS];

	while (v != NULL && v->ino != ino)
		v = v->same;
	return v;
}

static void enter(struct vpx_sock *v)
{
	struct place *p = &place[first_free];

	/* 24 bits of place, 32 of its uses: the loop has the rest. */
	v->key = first_free | (uint64_t)++p->uses << 24;
	first_free = p->next_free;
	p->sock = v;
	v->same = bucket[v->ino % BUCKETS];
	bucket[v->ino % BUCKETS] = v;
}

static void leave(struct vpx_sock *v)
{
	uint32_t at = (uint32_t)(v->key & 0xffffff);
	struct vpx_sock **i = &bucket[v->ino % BUCKETS];

	while (*i != v)
		i = &(*i)->same;
	*i = v->same;
	place[at].sock = NULL;
	place[at].next_free = first_free;
	first_free = at;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* Dead ones have no end by which a close is seen: when there are many, who has them still is looked up. */
static void sweep(void)
{
	struct vpx_sock *v;

	if (ndead < sweep_at)
		return;
	for (uint32_t i = 0; (v = next_in(&i)) != NULL;)
		if (v->state == VPX_DEAD && v->kept < 0 && !vpx_end_there(v))
			vpx_sock_free(v);
	sweep_at = 2 * ndead + SWEEP;
}

static int made(struct vpx_stack *st, int type, int graph, struct vpx_sock *v, const int *pair)
{
	int own = graph;

	if (own < 0)
		own = xk_sock_socket(st->node, (type == SOCK_STREAM ? XK_SOCK_STREAM : XK_SOCK_DGRAM) | XK_SOCK_NONBLOCK);
	if (own < 0)
		return own;
	*v = (struct vpx_sock){ .ino = vpx_ino(pair[0]), .stack = st, .type = type, .graph = own, .end = pair[1], .kept = -1,
				.fd = -1 };
	v->pending_last = &v->pending;
	v->accepted_last = &v->accepted;
	enter(v);
	if (vpx_watch(v->end, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, VPX_SOCKET, v->key) == 0 &&
	    xk_sock_set_add(st->set, own, POLLIN | POLLOUT | POLLRDHUP, v->key) == XK_OK)
		return 0;
	leave(v);
	if (graph < 0)
		xk_sock_close(own);
	return -ENOMEM;
}

int vpx_sock_new(struct vpx_stack *st, int type, int graph, struct vpx_sock **sock, int *end)
{
	struct vpx_sock *v;
	int pair[2], err;

	sweep();
	if (first_free == 0 && !grow())
		return -ENOMEM;
	v = malloc(sizeof *v);
	if (v == NULL)
		return -ENOMEM;
	err = socketpair(AF_UNIX, (type == SOCK_STREAM ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC, 0, pair) < 0 ? -errno : 0;
	if (err == 0) {
		err = made(st, type, graph, v, pair);
		if (err != 0) {
			close(pair[0]);
			close(pair[1]);
		}
	}
	if (err != 0) {
		free(v);
		return err;
	}
	*sock = v;
	*end = pair[0];
	return 0;
}

static void rest_free(struct vpx_rest *r)
{
	free(r->at);
	*r = (struct vpx_rest){ 0 };
}

void vpx_sock_dead(struct vpx_sock *v)
{
	if (v->state == VPX_DEAD)
		return;
	v->state = VPX_DEAD;
	ndead++;
	vpx_pending_all(v, -ECONNRESET);
	rest_free(&v->up);
	rest_free(&v->down);
	xk_sock_close(v->graph);
	v->graph = -1;
}

void vpx_sock_free(struct vpx_sock *v)
{
	struct xk_sock_linger at_once = { 1, 0 };

	while (v->accepted != NULL) {
		struct vpx_sock *a = v->accepted;

		v->accepted = a->behind;
		a->reset = true;
		vpx_sock_free(a);
	}
	if (v->reset && v->graph >= 0)
		(void)xk_sock_setopt(v->graph, XK_SO_LINGER, &at_once, sizeof at_once);
	vpx_sock_dead(v);
	ndead--;
	if (v->end >= 0)
		close(v->end);
	if (v->kept >= 0)
		close(v->kept);
	for (unsigned i = 0; i < VPX_TAGS && i < v->ntags; i++)
		close(v->tag[i].fd);
	leave(v);
	free(v);
}

/* ---- found ------------------------------------------------------------------------------------------------ */

struct vpx_sock *vpx_sock_of_call(const struct vpx_call *c)
{
	struct vpx_sock *v = of_ino(vpx_ino_in(c->tid, (int)c->arg[0]));

	if (v != NULL) {
		v->tid = c->tid;
		v->fd = (int)c->arg[0];
	}
	return v;
}

void vpx_sock_receives(struct vpx_sock *v, int bytes)
{
	v->rcvbuf = bytes;
	if (v->end >= 0 && (v->state == VPX_CONNECTING || v->state == VPX_CONNECTED))
		(void)setsockopt(v->end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

bool vpx_socks_bound(const struct vpx_stack *st, int type, uint16_t port)
{
	struct vpx_sock *v;

	for (uint32_t i = 0; (v = next_in(&i)) != NULL;)
		if (v->stack == st && v->type == type && v->bound.port == port &&
		    v->state == (type == SOCK_STREAM ? VPX_LISTENING : VPX_IDLE))
			return true;
	return false;
}

void vpx_socks_closed(void)
{
	struct vpx_sock *v;

	for (uint32_t i = 0; (v = next_in(&i)) != NULL;) {
		struct pollfd p = { .fd = v->end, .events = 0 };

		if (v->end >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLHUP) != 0) {
			v->hup = true;
			vpx_sock_soon(v);
		}
	}
	(void)vpx_socks_turn();
}

void vpx_socks_free(void)
{
	struct vpx_sock *v;

	/* Listeners free those that nobody has accepted, wherever these stand. */
	for (int listeners = 1; listeners >= 0; listeners--)
		for (uint32_t i = 0; (v = next_in(&i)) != NULL;)
			if (!listeners || v->accepted != NULL)
				vpx_sock_free(v);
	free(place);
	free(soon);
}

/* ---- looked at ------------------------------------------------------------------------------------------------ */

void vpx_sock_soon(struct vpx_sock *v)
{
	if (v->queued)
		return;
	if (nsoon == soon_room) {
		size_t room = soon_room == 0 ? 64 : 2 * soon_room;
		uint64_t *more = realloc(soon, room * sizeof *more);

		if (more == NULL)
			return;
		soon = more;
		soon_room = room;
	}
	soon[nsoon++] = v->key;
	v->queued = true;
}

void vpx_sock_turn(struct vpx_sock *v)
{
	if (v->state == VPX_DEAD)
		return;
	if (v->type == SOCK_DGRAM)
		(void)vpx_dgram_turn(v);
	else if (v->state == VPX_LISTENING)
		vpx_listen_turn(v);
	else if (v->state != VPX_CONNECTING || vpx_connect_turn(v))
		vpx_stream_turn(v);
}

bool vpx_socks_turn(void)
{
	size_t n = nsoon;

	for (size_t i = 0; i < n; i++) {
		struct vpx_sock *v = vpx_sock_of_key(soon[i]);

		if (v == NULL)
			continue;
		v->queued = false;
		vpx_sock_turn(v);
	}
	nsoon -= n;
	if (nsoon != 0)
		memmove(soon, soon + n, nsoon * sizeof *soon);
	return nsoon == 0;
}

/* ---- calls that wait ---------------------------------------------------------------------------------------------- */

static void pending_free(struct vpx_sock *v, struct vpx_pending **at)
{
	struct vpx_pending *p = *at;

	*at = p->next;
	if (*at == NULL)
		v->pending_last = at;
	ntimed -= p->deadline != UINT64_MAX;
	free(p);
}

/* Of calls that were interrupted nobody waits for an answer: they come again, as often as a timer's signal does. */
static void forget_gone(struct vpx_sock *v)
{
	for (struct vpx_pending **i = &v->pending; *i != NULL;)
		if (vpx_call_valid(&(*i)->call))
			i = &(*i)->next;
		else
			pending_free(v, i);
}

static uint64_t deadline(const struct vpx_call *c, int option)
{
	int end = vpx_end_of_call(c);
	struct timeval t = { 0, 0 };
	socklen_t len = sizeof t;

	if (end >= 0) {
		(void)getsockopt(end, SOL_SOCKET, option, &t, &len);
		close(end);
	}
	if (t.tv_sec == 0 && t.tv_usec == 0)
		return UINT64_MAX;
	return xk_clock_host() + (uint64_t)t.tv_sec * XK_SEC + (uint64_t)t.tv_usec * XK_US;
}

int64_t vpx_wait(struct vpx_sock *v, const struct vpx_call *c, int timeout_option)
{
	struct vpx_pending *p = malloc(sizeof *p);

	if (p == NULL)
		return -ENOMEM;
	forget_gone(v);
	*p = (struct vpx_pending){ .call = *c, .deadline = deadline(c, timeout_option) };
	ntimed += p->deadline != UINT64_MAX;
	*v->pending_last = p;
	v->pending_last = &p->next;
	return VPX_LATER;
}

bool vpx_pending_take(struct vpx_sock *v, struct vpx_call *c)
{
	if (v->pending == NULL)
		return false;
	*c = v->pending->call;
	pending_free(v, &v->pending);
	return true;
}

void vpx_pending_all(struct vpx_sock *v, int64_t result)
{
	struct vpx_call c;

	while (vpx_pending_take(v, &c))
		(void)vpx_call_answer(&c, result);
}

uint64_t vpx_pending_late(void)
{
	uint64_t now = xk_clock_host(), next = UINT64_MAX;
	struct vpx_sock *v;

	for (uint32_t i = 0; ntimed != 0 && (v = next_in(&i)) != NULL;)
		for (struct vpx_pending **p = &v->pending; *p != NULL;) {
			if ((*p)->deadline > now) {
				next = (*p)->deadline < next ? (*p)->deadline : next;
				p = &(*p)->next;
				continue;
			}
			(void)vpx_call_answer(&(*p)->call, v->state == VPX_CONNECTING ? -EINPROGRESS : -EAGAIN);
			pending_free(v, p);
		}
	return next;
}
