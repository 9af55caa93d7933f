/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_vp.c - a VP's buffers: its LIFO caches, and sending strangers home.
 *
 * An empty cache takes first what other VPs sent home, then a batch from the
 * stock; a full one gives its coldest batch to the stock, so that what is left
 * keeps its LIFO order.  Foreign buffers wait in a small array and travel in
 * one exchange per home.  A home that does not collect what is sent to it (it
 * may be idle) stops receiving: the stock gets the rest, for whoever needs it.
 * Once the stock has nothing left a VP that rests keeps nothing either.
 * Where threads share pools (mem_shelf.c) nothing is kept here, and all goes there.
 * Invariant: a cache holds at most cap buffers, all owned by nobody.
 */
#include "runtime/mem/xk_mem.h"
#include "runtime/mem/mem_priv.h"

#include <string.h>

_Thread_local struct xk_memvp *xk_mem_self __attribute__((tls_model("initial-exec")));

#define RETURNED_MAX (2 * XK_MEM_CACHE)

static uint32_t batch_of(const struct xk_memcache *k)
{
	uint32_t n = k->cap / 2;

	return n == 0 ? 1 : n > XK_MEM_BATCH ? XK_MEM_BATCH : n;
}

/* Gives the n coldest buffers of class c to the stock. */
static void give_coldest(struct xk_memvp *v, enum xk_memclass c, uint32_t n)
{
	struct xk_memcache *k = &v->cache[c];

	if (n == 0)
		return;
	mem_stock_give(v->pool, c, k->slot, n);
	k->n -= n;
	memmove(k->slot, k->slot + n, k->n * sizeof(k->slot[0]));
}

/* One that no cache has room for. */
static void give_one(struct xk_mempool *p, enum xk_memclass c, void *b)
{
	if (p->nshelves != 0)
		mem_shelf_give(p, c, b);
	else
		mem_stock_give(p, c, &b, 1);
}

static void cache_add(struct xk_memvp *v, enum xk_memclass c, void *b)
{
	struct xk_memcache *k = &v->cache[c];

	if (k->cap == 0) {
		give_one(v->pool, c, b);
		return;
	}
	if (k->n == k->cap)
		give_coldest(v, c, batch_of(k));
	k->slot[k->n++] = b;
}

/* Takes in what other VPs sent home. */
static void collect(struct xk_memvp *v)
{
	struct xk_qlink *q = xk_mpsc_take(&v->returned), *next;
	uint32_t n = 0;

	for (; q != NULL; q = next, n++) {
		next = q->next;
		cache_add(v, (enum xk_memclass)((struct mem_dead *)q)->cls, q);
	}
	xk_atomic_add(&v->nreturned, -n);
}

/* What was freed cold joins the rest, at the top. */
static void warm_up(struct xk_memvp *v, unsigned c)
{
	struct xk_memcache *k = &v->cache[c];
	uint32_t room = k->cap - k->n, n = v->ncold[c] < room ? v->ncold[c] : room;

	v->ncold[c] -= n;
	memcpy(k->slot + k->n, v->cold[c] + v->ncold[c], n * sizeof(void *));
	k->n += n;
}

void *xk_mem_refill(struct xk_memvp *v, enum xk_memclass c)
{
	struct xk_memcache *k = &v->cache[c];
	void *b;

	xk_dassert(v == xk_mem_self);
	if (!xk_mem_fails()) {
		if (!xk_mpsc_empty(&v->returned))
			collect(v);
		if (k->n == 0 && v->ncold[c] != 0)
			warm_up(v, c);
		if (k->n == 0) {
			xk_count(v->refills);
			k->n = v->pool->nshelves != 0 ? mem_shelf_take(v->pool, c, k->slot) :
							mem_stock_take(v->pool, c, k->slot, batch_of(k));
		}
	}
	if (k->n == 0) {
		xk_count(v->misses);
		return NULL;
	}
	b = k->slot[--k->n];
	xk_mem_check_get(v, c, b);
	return b;
}

void xk_mem_spill(struct xk_memvp *v, enum xk_memclass c, void *b)
{
	xk_dassert(v == xk_mem_self);
	cache_add(v, c, b);
}

/* ---- going home ---------------------------------------------------------------- */

static struct mem_dead *foreign(const struct xk_memvp *v, uint32_t i)
{
	return v->foreign[i];
}

/* Where a group of n buffers for `no` shall go: NULL is the stock. */
static struct xk_memvp *home_of(const struct xk_memvp *v, uint16_t no)
{
	struct xk_memvp *h = xk_load_acquire(&v->pool->vp[no]);

	return h != NULL && xk_load_relaxed(&h->nreturned) < RETURNED_MAX ? h : NULL;
}

/* Sends every foreign buffer whose home is that of number i, and forgets them. */
static void send_group(struct xk_memvp *v, uint32_t i)
{
	uint16_t no = foreign(v, i)->home;
	struct xk_memvp *h = home_of(v, no);
	struct mem_dead *first = foreign(v, i), *last = NULL;
	uint32_t n = 0;

	for (; i < v->nforeign; i++) {
		struct mem_dead *d = foreign(v, i);

		if (d == NULL || d->home != no)
			continue;
		v->foreign[i] = NULL;
		if (h == NULL) {
			mem_stock_give(v->pool, (enum xk_memclass)d->cls, (void **)&d, 1);
			continue;
		}
		if (last != NULL)
			last->link.next = &d->link;
		last = d;
		n++;
	}
	if (h == NULL)
		return;
	/* Before the push: collect subtracts what it has taken, never more. */
	xk_atomic_add(&h->nreturned, n);
	xk_mpsc_push(&h->returned, &first->link, &last->link);
}

void xk_memvp_flush(struct xk_memvp *v)
{
	for (uint32_t i = 0; i < v->nforeign; i++)
		if (v->foreign[i] != NULL)
			send_group(v, i);
	v->nforeign = 0;
}

void xk_mem_put_foreign(struct xk_memvp *v, enum xk_memclass c, uint16_t home, void *b)
{
	struct mem_dead *d = b;

	xk_dassert(v == xk_mem_self);
	if (home == v->no) {
		xk_mem_put(v, c, b);
		return;
	}
	xk_mem_check_put(v, c, home, b);
	xk_assert(home < v->pool->nvps);
	if (v->pool->nshelves != 0) {            /* it has no home */
		mem_shelf_give(v->pool, c, b);
		return;
	}
	d->home = home;
	d->cls = (uint8_t)c;
	v->foreign[v->nforeign++] = d;
	if (v->nforeign == XK_MEM_BATCH)
		xk_memvp_flush(v);
}

/* ---- passed on ------------------------------------------------------------------- */

void xk_memvp_take_hot(struct xk_memvp *v, struct xk_memhot *h)
{
	v->passes = !v->starved;
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		struct xk_memcache *k = &v->cache[c];

		if (v->ncold[c] != 0)
			warm_up(v, c);
		if (XK_UNLIKELY(k->n + h->n[c] > k->cap))
			continue;        /* full, or a test's: the next VP has them */
		memcpy(k->slot + k->n, h->slot[c], h->n[c] * sizeof(void *));
		k->n += h->n[c];
		h->n[c] = 0;
	}
}

void xk_memvp_leave_hot(struct xk_memvp *v, struct xk_memhot *h)
{
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		struct xk_memcache *k = &v->cache[c];
		uint32_t room = XK_MEM_HOT - h->n[c], n = k->n < room ? k->n : room;

		k->n -= n;
		memcpy(h->slot[c] + h->n[c], k->slot + k->n, n * sizeof(void *));
		h->n[c] += n;
	}
	v->passes = false;
}

void xk_memhot_fini(struct xk_memhot *h, struct xk_mempool *p)
{
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		mem_stock_give(p, (enum xk_memclass)c, h->slot[c], h->n[c]);
		h->n[c] = 0;
	}
}

/* ---- life ----------------------------------------------------------------------- */

static void set_caps(struct xk_memvp *v, bool none)
{
	none = none || v->pool->nshelves != 0;
	v->starved = none;
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		v->cache[c].cap = none ? 0 : mem_cache_cap(v->pool, (enum xk_memclass)c);
}

static void give_all(struct xk_memvp *v)
{
	if (!xk_mpsc_empty(&v->returned))
		collect(v);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		mem_stock_give(v->pool, (enum xk_memclass)c, v->cold[c], v->ncold[c]);
		v->ncold[c] = 0;
		give_coldest(v, (enum xk_memclass)c, v->cache[c].n);
	}
}

void xk_memvp_share(struct xk_memvp *v)
{
	if (XK_LIKELY(xk_mem_fill(v) != XK_MEM_FULL))
		return;
	xk_memvp_flush(v);
	give_all(v);
}

/* ORDER STAMP: the fields net to flags of struct xk_msg. */
struct stamp { uint16_t net, refs, home; uint8_t cls, flags; };
_Static_assert(sizeof(struct stamp) == sizeof(uint64_t), "a stamp is one word");

/* One on its way out is there even where none is kept. */
static uint32_t slots_of(const struct xk_memvp *v, unsigned c)
{
	return v->cache[c].cap != 0 ? v->cache[c].cap : 1;
}

int xk_memvp_init(struct xk_memvp *v, struct xk_mempool *p, uint16_t no)
{
	uint32_t all = 0;
	void **slot;

	xk_assert(no < p->nvps && p->vp[no] == NULL);
	memset(v, 0, sizeof(*v));
	v->pool = p;
	v->fill = &p->fill;
	v->no = no;
	set_caps(v, false);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++)
		all += slots_of(v, c);
	slot = xk_alloc(all * sizeof(slot[0]));
	if (slot == NULL) {
		v->pool = NULL;
		return XK_E_NOMEM;
	}
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		v->cache[c].slot = slot;
		memcpy(&v->cache[c].stamp, &(struct stamp){ 0, 1, no, (uint8_t)c, 0 }, 8);
		slot += slots_of(v, c);
	}
	xk_store_release(&p->vp[no], v);
	return XK_OK;
}

void xk_memvp_fini(struct xk_memvp *v)
{
	if (v->pool == NULL)     /* never initialised, or init failed */
		return;
	xk_memvp_flush(v);
	xk_store_release(&v->pool->vp[v->no], NULL);
	give_all(v);
	xk_free(v->cache[0].slot);
	memset(v->cache, 0, sizeof(v->cache));
	v->pool = NULL;
}

void xk_memvp_starve(struct xk_memvp *v, bool on)
{
	give_all(v);
	set_caps(v, on);
}
