/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_fd.c - descriptors: numbers that name sockets, and who is using one.
 *
 * One table for the process, so that poll looks at sockets of several graphs and
 * a number that was closed is refused instead of touching what is no more.  A
 * place in it has a generation, which is part of the number, and a count of
 * those who are inside a call; both are one word, so taking hold of a socket is
 * one compare and exchange.  Places are never freed, sockets when the number is
 * closed and the last holder has left.
 * Invariant: place[i].sk is a socket while the place's word says open or held.
 */
#include "protocols/sock/sock_priv.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_vps.h"

#include <string.h>

/* The word of a place: holders, generation, whether the number is in use. */
#define HOLD      ((uint64_t)1)
#define HOLDERS   0xffffffffu
#define GEN_SHIFT 32
#define GEN_MASK  0x7fffu
#define OPEN      ((uint64_t)1 << 48)
#define PLACES    0x10000u

struct place { uint64_t word; struct sock *sk; uint32_t next; };

/* Guards free, used, and every sk when it is set or freed; nests in anything, and
 * nothing in it. */
static struct { struct xk_lock lock; uint32_t free, used; struct place place[PLACES]; } table;

static void table_lock(void)
{
	xk_lock_spin.lock(&table.lock);
}

static void table_unlock(void)
{
	xk_lock_spin.unlock(&table.lock);
}

__attribute__((constructor)) static void table_init(void)
{
	xk_lock_spin.init(&table.lock);
}

static struct place *place_of(int fd)
{
	return fd >= 0 ? &table.place[(uint32_t)fd % PLACES] : NULL;
}

static uint64_t gen_of(uint64_t word)
{
	return word >> GEN_SHIFT & GEN_MASK;
}

/* Is the number fd the one that is in use here? */
static bool names(uint64_t word, int fd)
{
	return (word & OPEN) && gen_of(word) == (uint32_t)fd / PLACES;
}

/* A place nobody uses, 0 when there is none: its number, without generation. */
static uint32_t place_take(void)
{
	uint32_t i = table.free;

	if (i != 0)
		table.free = table.place[i].next;
	else if (table.used + 1 < PLACES)
		i = ++table.used;
	return i;
}

struct sock *sock_new(struct xk_node *n, int type, int *err)
{
	struct sock *sk = xk_alloc(sizeof *sk);
	uint64_t gen;
	uint32_t i;

	*err = XK_E_NOMEM;
	if (sk == NULL)
		return NULL;
	sk->node = n;
	sk->type = type;
	sk->opts.rcvlowat = 1;
	xk_msgq_init(&sk->rx);
	table_lock();
	i = place_take();
	if (i != 0) {
		gen = (gen_of(table.place[i].word) + 1) & GEN_MASK;
		sk->fd = (int)(gen << 16 | i);
		/* Incomplete: with connections spread by their hash it waits on the first VP. */
		sk->vp = xk_node_vp(n, xk_node_by_hash(n) ? 0 : i % xk_node_nconn(n));
		table.place[i].sk = sk;
		xk_store_release(&table.place[i].word, OPEN | gen << GEN_SHIFT);
	}
	table_unlock();
	if (i != 0)
		return sk;
	xk_free(sk);
	*err = XK_E_MFILE;
	return NULL;
}

/* Held, and without the bits of its word that `less` has. */
static struct sock *get(int fd, uint64_t less)
{
	struct place *p = place_of(fd);
	uint64_t w;

	if (p == NULL)
		return NULL;
	w = xk_load_acquire(&p->word);
	do
		if (!names(w, fd))
			return NULL;
	while (!xk_atomic_cas(&p->word, &w, (w & ~less) + HOLD));
	return p->sk;
}

struct sock *sock_get(int fd) { return get(fd, 0); }
struct sock *sock_get_last(int fd) { return get(fd, OPEN); }

static XK_NOINLINE void place_give(struct place *p)
{
	struct sock *sk = p->sk;

	table_lock();
	p->sk = NULL;
	p->next = table.free;
	table.free = (uint32_t)(p - table.place);
	table_unlock();
	xk_free(sk);
}

void sock_put(struct sock *sk)
{
	struct place *p = place_of(sk->fd);
	uint64_t w = xk_atomic_add(&p->word, (uint64_t)-1) - HOLD;

	/* Closed and left by the last one: nobody can take hold of it again. */
	if (!(w & OPEN) && (w & HOLDERS) == 0)
		place_give(p);
}

static int hold(int fd, uint32_t stopping, struct sock **sk)
{
	if (xk_guest_event() == NULL)
		return XK_E_MFILE;
	*sk = sock_get(fd);
	if (*sk == NULL)
		return XK_E_BADF;
	if (xk_load_acquire(&sock_node((*sk)->node)->stopping) < stopping)
		return XK_OK;
	sock_put(*sk);
	return XK_E_SHUTDOWN;
}

int sock_hold(int fd, struct sock **sk) { return hold(fd, SOCK_STOPPED, sk); }
int sock_hold_longer(int fd, struct sock **sk) { return hold(fd, SOCK_HALTED, sk); }

static bool quiet(struct xk_node *n)
{
	bool busy = false;

	table_lock();
	for (uint32_t i = 1; i <= table.used && !busy; i++)
		busy = table.place[i].sk != NULL && table.place[i].sk->node == n &&
		       (xk_load_acquire(&table.place[i].word) & HOLDERS) != 0;
	table_unlock();
	return !busy;
}

void sock_await_quiet(struct xk_node *n)
{
	while (!quiet(n))
		xk_thread_yield();
}
