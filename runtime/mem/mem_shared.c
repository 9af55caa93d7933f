/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_shared.c - memory that another process may look at: a file without a name, mapped
 * piece by piece.
 *
 * A piece is 2 MiB, or as large as the object that did not fit; none ever moves, so
 * pointers stay good while the file grows.  Like in slabs, objects of one path through
 * the graph begin at offsets that are far apart modulo the size of a way of the cache.
 * What is given back waits in `put`, then in `spare` by its size, linked through its first bytes.
 * Invariant: pieces lie in the file in the order of the list, without gaps.
 */
#include "runtime/mem/xk_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/sync/xk_sync.h"

#define PIECE     ((size_t)1 << 21)
#define PAGE      ((size_t)4096)
#define SET_STEP  (39u * XK_CACHELINE)
#define BINS      64u            /* of spare objects, by their lines */

struct piece {
	struct piece *next;
	char         *at;
	size_t        len, used;
	uint64_t      off;
};

struct spare { struct spare *next; size_t size; };

struct xk_shared {
	struct xk_mutex lock;            /* guards all below but fd and first; innermost */
	struct spare *put, *spare[BINS];
	int           fd;
	struct piece *last, *first;
	uint64_t      size;
	uint32_t      colour;
};

void xk_shared_free(struct xk_shared *s)
{
	struct piece *p, *next;

	if (s == NULL)
		return;
	for (p = s->first; p != NULL; p = next) {
		next = p->next;
		munmap(p->at, p->len);
		xk_free(p);
	}
	close(s->fd);
	xk_mutex_fini(&s->lock);
	xk_free(s);
}

static struct piece *grow(struct xk_shared *s, size_t need)
{
	size_t len = (need + PIECE - 1) / PIECE * PIECE;
	struct piece *p = xk_alloc(sizeof *p);

	if (p == NULL)
		return NULL;
	if (ftruncate(s->fd, (off_t)(s->size + len)) != 0)
		goto fail;
	p->at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)s->size);
	if (p->at == MAP_FAILED)
		goto fail;
	(void)madvise(p->at, len, MADV_HUGEPAGE);      /* a wish, no more */
	(void)madvise(p->at, len, MADV_DONTDUMP);      /* a core file has nobody's payload */
	p->len = len;
	p->off = s->size;
	s->size += len;
	if (s->last != NULL)
		s->last->next = p;
	else
		s->first = p;
	return s->last = p;
fail:
	(void)ftruncate(s->fd, (off_t)s->size);
	xk_free(p);
	return NULL;
}

int xk_shared_new(struct xk_shared **out)
{
	struct xk_shared *s = xk_alloc(sizeof *s);
	int err;

	*out = NULL;
	if (s == NULL)
		return XK_E_NOMEM;
	s->fd = memfd_create("xkvp", MFD_CLOEXEC);
	if (s->fd < 0) {
		err = -errno;
		xk_free(s);
		return err;
	}
	xk_mutex_init(&s->lock);
	if (grow(s, PAGE) == NULL) {
		xk_shared_free(s);
		return XK_E_NOMEM;
	}
	s->first->used = PAGE;
	*out = s;
	return XK_OK;
}

void *xk_shared_head(const struct xk_shared *s)
{
	return s->first->at;
}

/* Where in p an object would begin. */
static size_t place(const struct xk_shared *s, const struct piece *p, bool page)
{
	size_t at = p->used + (page ? PAGE - 1 : XK_CACHELINE - 1);

	at -= at % (page ? PAGE : XK_CACHELINE);
	return page ? at : at + (s->colour + PAGE - at % PAGE) % PAGE;
}

static struct spare **bin_of(struct xk_shared *s, size_t size)
{
	return &s->spare[size / XK_CACHELINE % BINS];
}

/* One of the same size that nobody looks at any more, zeroed; or NULL. */
static void *get_again(struct xk_shared *s, size_t size)
{
	struct spare **at = bin_of(s, size), *x;

	while (*at != NULL && (*at)->size != size)
		at = &(*at)->next;
	x = *at;
	if (x == NULL)
		return NULL;
	*at = x->next;
	return memset(x, 0, size);
}

void xk_shared_put(struct xk_shared *s, void *p, size_t size)
{
	struct spare *x = p;

	XK_MUTEX_SCOPE(&s->lock);
	*x = (struct spare){ s->put, XK_WHOLE_LINES(size) };
	s->put = x;
}

void xk_shared_reuse(struct xk_shared *s)
{
	struct spare *x;

	XK_MUTEX_SCOPE(&s->lock);
	while ((x = s->put) != NULL) {
		struct spare **bin = bin_of(s, x->size);

		s->put = x->next;
		x->next = *bin;
		*bin = x;
	}
}

static void *get_new(struct xk_shared *s, size_t size, bool page)
{
	struct piece *p = s->last;
	size_t at = p != NULL ? place(s, p, page) : 0;

	if (p == NULL || at > p->len || size > p->len - at) {
		p = grow(s, size + PAGE);
		if (p == NULL)
			return NULL;
		at = place(s, p, page);
	}
	p->used = at + size;
	if (!page)
		s->colour = (s->colour + SET_STEP) % (uint32_t)PAGE;
	return p->at + at;
}

void *xk_shared_get(struct xk_shared *s, size_t size, bool page)
{
	size_t n = page ? size : XK_WHOLE_LINES(size);
	void *p;

	XK_MUTEX_SCOPE(&s->lock);
	p = page ? NULL : get_again(s, n);
	return p != NULL ? p : get_new(s, n, page);
}

static const struct piece *piece_of(const struct xk_shared *s, const char *c)
{
	const struct piece *p = s->first;

	while (p != NULL && (c < p->at || c >= p->at + p->len))
		p = p->next;
	return p;
}

/* Reading the list of pieces, too, waits for who makes it longer. */
static struct xk_mutex *lock_of(const struct xk_shared *s)
{
	return &((struct xk_shared *)(uintptr_t)s)->lock;
}

bool xk_shared_has(const struct xk_shared *s, const void *p)
{
	XK_MUTEX_SCOPE(lock_of(s));
	return piece_of(s, p) != NULL;
}

uint64_t xk_shared_offset(const struct xk_shared *s, const void *at)
{
	const struct piece *p;

	XK_MUTEX_SCOPE(lock_of(s));
	p = piece_of(s, at);
	xk_assert(p != NULL);
	return p->off + (uint64_t)((const char *)at - p->at);
}

uint64_t xk_shared_size(const struct xk_shared *s)
{
	XK_MUTEX_SCOPE(lock_of(s));
	return s->size;
}

int xk_shared_reader(const struct xk_shared *s)
{
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : -errno;
}
