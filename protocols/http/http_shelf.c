/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_shelf.c - small files that a VP keeps in memory, with the heads of their answers.
 *
 * A file is kept by the path that a request has asked for, and for a short time: then it
 * is opened anew, and whoever was to be kept from it is.  So a server that is asked for the
 * same thing again and again opens and reads it some times a second and not for each request.
 * Each path has one place; who comes there later takes it.  An answer that is under way
 * holds its file, whatever becomes of the place.
 * Invariant: `bytes` is what the files in places take, at most `most`.
 */
#include "protocols/http/http_priv.h"
#include "runtime/mem/xk_alloc.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static uint32_t place_of(const struct http_req *q)
{
	uint32_t h = 2166136261u;

	for (const char *p = q->path; *p != 0; p++)
		h = (h ^ (uint8_t)*p) * 16777619u;
	return (h ^ h >> 16) % HTTP_PLACES;
}

void http_small_drop(struct http_small *s)
{
	if (--s->refs == 0)
		xk_free(s);
}

static void leave(struct http_shelf *sh, unsigned place)
{
	struct http_small *s = sh->place[place];

	sh->place[place] = NULL;
	if (s == NULL)
		return;
	sh->bytes -= s->size;
	http_small_drop(s);
}

void http_shelf_clear(struct http_shelf *sh)
{
	for (unsigned i = 0; i < HTTP_PLACES; i++)
		leave(sh, i);
}

struct http_small *http_shelf_find(struct http_shelf *sh, const struct http_req *q, xk_ns now)
{
	struct http_small *s = sh->place[place_of(q)];

	if (s == NULL || now >= s->until || s->dir != q->dir || strcmp(s->path, q->path) != 0)
		return NULL;
	s->refs++;
	return s;
}

/* All of it, and not more than the head says. */
static bool read_whole(int fd, uint8_t *p, uint64_t n)
{
	uint64_t at = 0;
	ssize_t got = 0;

	while (at < n && ((got = pread(fd, p + at, n - at, (off_t)at)) > 0 || (got < 0 && errno == EINTR)))
		at += got > 0 ? (uint64_t)got : 0;
	return at == n;
}

static struct http_small *small_new(const struct http_req *q, const struct http_file *f)
{
	size_t npath = strlen(q->path) + 1, size = sizeof(struct http_small) + f->size + npath;
	struct http_small *s = xk_alloc(size);
	struct http_text t;

	if (s == NULL)
		return NULL;
	s->size = size;
	s->refs = 1;
	s->dir = q->dir;
	s->f = *f;
	s->f.fd = -1;
	s->path = (char *)s->bytes + f->size;
	memcpy(s->path, q->path, npath);
	t = (struct http_text){ s->head, 0, sizeof s->head };
	http_of_file(&t, 200, f, &(struct http_range){ 0, f->size });
	s->nhead = t.n;
	if (read_whole(f->fd, s->bytes, f->size))
		return s;
	xk_free(s);
	return NULL;
}

struct http_small *http_shelf_put(struct http_shelf *sh, const struct http_req *q, const struct http_file *f, xk_ns now)
{
	unsigned place = place_of(q);
	struct http_small *s;

	if (f->size > HTTP_SMALL || sh->fresh == 0 || sh->most == 0)
		return NULL;
	s = small_new(q, f);
	if (s == NULL)
		return NULL;
	leave(sh, place);
	if (sh->bytes + s->size > sh->most)
		http_shelf_clear(sh);
	if (s->size <= sh->most) {
		s->until = now + sh->fresh;
		s->refs++;
		sh->place[place] = s;
		sh->bytes += s->size;
	}
	return s;
}
