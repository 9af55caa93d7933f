/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_drain.c - the timeline of a real run: reads all flight recorders while it goes on, by a thread of its own.
 *
 * What workers do costs them nothing more.  The thread looks every millisecond, and more rarely where that would take it
 * more than a fortieth of a processor's time: then rings are written over before they are read, which is counted.  It keeps the
 * first records of the run, to a limit; at the end they get the names of a recording (xk_recording.h) and are shown as one.
 * Invariant: records of a ring stand in their order, each once, and what is missing between them is told.
 */
#include "tools/vp-run/vpr_drain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/sync/xk_sync.h"
#include "tools/recorder/rec.h"
#include "tools/vp-run/vpr.h"

#define ROOM    ((size_t)16 << 20)       /* bytes of records: half a million */
#define EVERY   XK_MS
#define SHARE   40u                      /* it sleeps so many times as long as it works */
#define CHUNK   256u                     /* records */

struct vpr_drain {
	const struct xk_vpset *set;
	struct xk_thread *thread;
	bool              stop, full;
	unsigned          nrings;
	uint64_t         *next;          /* of each ring: to be read */
	char             *bytes;         /* of a recording: ROOM, in the end with names as well */
	size_t            n;
	uint64_t          left_out;
};

static const struct xk_recorder *ring_of(const struct vpr_drain *d, unsigned i, uint32_t *name)
{
	bool is_worker;
	unsigned no;
	const struct xk_recorder *r = xk_vpset_recorder(d->set, i, &is_worker, &no);

	if (r != NULL)
		*name = no | (is_worker ? XK_RECORDING_WORKER : 0);
	return r;
}

/* Records that the next chunk may have. */
static unsigned room(const struct vpr_drain *d)
{
	size_t left = ROOM - d->n, head = sizeof(struct xk_recording_chunk), n = left < head ? 0 : (left - head) / sizeof(struct xk_rec);

	return n < CHUNK ? (unsigned)n : CHUNK;
}

/* A ring's last record may still get more (xk_recorder_again), until the end. */
static void drain_ring(struct vpr_drain *d, unsigned i, bool end)
{
	struct xk_recording_chunk c = { 0 };
	const struct xk_recorder *r = ring_of(d, i, &c.ring);
	uint64_t head = xk_recorder_head(r), until = end || head == 0 ? head : head - 1;

	while (d->next[i] < until) {
		unsigned most = room(d);

		if (most == 0) {
			d->full = true;
			return;
		}
		c.first = d->next[i];
		c.n = xk_recorder_read(r, &c.first, until, (struct xk_rec *)(void *)(d->bytes + d->n + sizeof c), most);
		d->next[i] = c.first + c.n;
		if (c.n == 0)
			return;
		memcpy(d->bytes + d->n, &c, sizeof c);
		d->n += sizeof c + c.n * sizeof(struct xk_rec);
	}
}

static void drain_all(struct vpr_drain *d, bool end)
{
	for (unsigned i = 0; i < d->nrings && !d->full; i++)
		drain_ring(d, i, end);
}

static xk_ns worked(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (xk_ns)t.tv_sec * XK_SEC + (xk_ns)t.tv_nsec;
}

static void drain_main(void *arg)
{
	struct vpr_drain *d = arg;
	xk_ns before, nap;

	vpr_be_prompt();
	while (!xk_load_acquire(&d->stop) && !d->full) {
		before = worked();
		drain_all(d, false);
		nap = SHARE * (worked() - before);
		xk_thread_nap(nap > EVERY ? nap : EVERY);
	}
}

struct vpr_drain *vpr_drain_new(const struct xk_graph *g)
{
	struct vpr_drain *d = calloc(1, sizeof *d);
	uint32_t name;

	if (d == NULL)
		return NULL;
	d->set = g->vps;
	while (ring_of(d, d->nrings, &name) != NULL)
		d->nrings++;
	d->next = calloc(d->nrings, sizeof *d->next);
	d->bytes = malloc(ROOM);
	if (d->next != NULL && d->bytes != NULL) {
		d->n = sizeof(struct xk_recording_head);
		return d;
	}
	vpr_drain_free(d);
	return NULL;
}

void vpr_drain_free(struct vpr_drain *d)
{
	if (d == NULL)
		return;
	free(d->next);
	free(d->bytes);
	free(d);
}

int vpr_drain_start(struct vpr_drain *d) { return xk_thread_new(&d->thread, "timeline", -1, drain_main, d); }

/* ---- the end --------------------------------------------------------------------------------- */

/* All of fd, of malloc. */
static char *whole(int fd, size_t *n)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char *p = end > 0 ? malloc((size_t)end) : NULL;

	*n = p != NULL ? (size_t)end : 0;
	if (p != NULL && pread(fd, p, *n, 0) == (ssize_t)*n)
		return p;
	free(p);
	return NULL;
}

/* Where a recording of our own has no more records. */
static size_t after_records(const char *p, size_t n)
{
	size_t at = sizeof(struct xk_recording_head);
	struct xk_recording_chunk c;

	for (; at + sizeof c <= n; at += sizeof c + c.n * sizeof(struct xk_rec)) {
		memcpy(&c, p + at, sizeof c);
		if (c.n == 0)
			return at;
	}
	return n;
}

/* Head and names of p, a recording of now. */
static bool frame(struct vpr_drain *d, const char *p, size_t n)
{
	size_t at = after_records(p, n);
	char *all = realloc(d->bytes, d->n + (n - at));

	if (all == NULL)
		return false;
	memcpy(all, p, sizeof(struct xk_recording_head));
	memcpy(all + d->n, p + at, n - at);
	d->bytes = all;
	d->n += n - at;
	return true;
}

bool vpr_drain_end(struct vpr_drain *d, const struct xk_graph *g)
{
	uint32_t name;
	int fd;
	size_t n;
	char *p = NULL;
	bool good;

	xk_store_release(&d->stop, true);
	xk_thread_join(d->thread);
	drain_all(d, true);
	for (unsigned i = 0; i < d->nrings; i++)
		d->left_out += xk_recorder_head(ring_of(d, i, &name)) - d->next[i];
	fd = memfd_create("xk-timeline", MFD_CLOEXEC);
	if (fd >= 0 && xk_graph_record(g, fd, XK_RECORDING_ASKED, 0) == XK_OK)
		p = whole(fd, &n);
	good = p != NULL && frame(d, p, n);
	free(p);
	if (fd >= 0)
		close(fd);
	return good;
}

static void say(const struct rec *r, const char *file)
{
	if (r->gone != 0)
		fprintf(stderr, "vp-run: %s: %" PRIu64 " records were written over before they were read\n", file, r->gone);
	if (r->left_out != 0)
		fprintf(stderr, "vp-run: %s: the first %zu records are in it, %" PRIu64 " later ones are not\n", file, r->nrows, r->left_out);
}

bool vpr_drain_write(const struct vpr_drain *d, const char *file, FILE *f)
{
	char why[128];
	struct rec r;
	bool good = rec_read(&r, d->bytes, d->n, why, sizeof why);

	if (!good) {
		fprintf(stderr, "vp-run: %s: %s\n", file, why);
		return false;
	}
	r.left_out = d->left_out;
	good = rec_trace(f, &r);
	if (!good)
		fprintf(stderr, "vp-run: %s: out of memory\n", file);
	say(&r, file);
	rec_free(&r);
	return good;
}
