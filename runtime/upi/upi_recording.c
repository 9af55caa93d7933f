/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_recording.c - the flight recorders of a graph, written to a file: a recording (xk_recording.h).
 *
 * A recording is written by system calls alone, without memory of its own, a lock or anybody's leave: beside all that
 * runs, and by who handles a signal in the middle of it.  Names come last, so that what a broken graph does to their
 * reader costs the names.
 * Invariant: what is written is whole records, or the file ends short and says nothing.
 */
#include "runtime/upi/upi_priv.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_recording.h"
#include "runtime/upi/xk_change.h"

#define CHUNK 32u                /* records; who handles a signal may have a small stack */

struct out { int fd, err; unsigned n; char buf[1024]; };

static void flush(struct out *o)
{
	unsigned at = 0;

	while (o->err == XK_OK && at < o->n) {
		ssize_t k = write(o->fd, o->buf + at, o->n - at);

		if (k > 0)
			at += (unsigned)k;
		else if (k == 0 || errno != EINTR)
			o->err = k == 0 ? XK_E_NOSPC : -errno;
	}
	o->n = 0;
}

static void put(struct out *o, const void *p, size_t n)
{
	for (const char *c = p; n > 0; n--) {
		if (o->n == sizeof o->buf)
			flush(o);
		o->buf[o->n++] = *c++;
	}
}

/* A word of a line. */
static void put_text(struct out *o, const char *s, char after)
{
	for (; *s != '\0'; s++) {
		char c = (unsigned char)*s < ' ' ? '?' : *s;

		put(o, &c, 1);
	}
	put(o, &after, 1);
}

static void put_number(struct out *o, unsigned v)
{
	char text[12], *p = text + sizeof text;

	*--p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	put_text(o, p, ' ');
}

static void put_ring(struct out *o, const struct xk_recorder *r, uint32_t ring)
{
	struct xk_recording_chunk c = { .ring = ring };
	uint64_t until = xk_recorder_head(r);
	struct xk_rec rec[CHUNK];

	while (o->err == XK_OK && (c.n = xk_recorder_read(r, &c.first, until, rec, CHUNK)) != 0) {
		put(o, &c, sizeof c);
		put(o, rec, c.n * sizeof *rec);
		c.first += c.n;
	}
}

static void put_rings(struct out *o, const struct xk_vpset *set)
{
	const struct xk_recording_chunk last = { .n = 0 };
	const struct xk_recorder *r;
	bool is_worker;
	unsigned no;

	for (unsigned i = 0; (r = xk_vpset_recorder(set, i, &is_worker, &no)) != NULL; i++)
		put_ring(o, r, no | (is_worker ? XK_RECORDING_WORKER : 0));
	put(o, &last, sizeof last);
}

static void put_names(struct out *o, const struct xk_node *n)
{
	const char *failure = xk_node_failure(n);

	put_text(o, "node", ' ');
	put_number(o, n->no);
	put_text(o, n->proto->name, ' ');
	put_text(o, n->name, '\n');
	if (failure != NULL) {
		put_text(o, "failed", ' ');
		put_number(o, n->no);
		put_text(o, failure, '\n');
	}
	for (unsigned i = 0; i < XK_DROPS_MAX && xk_drop_name(n->proto, i) != NULL; i++) {
		put_text(o, "drop", ' ');
		put_number(o, n->no);
		put_number(o, i);
		put_text(o, xk_drop_name(n->proto, i), '\n');
	}
	for (unsigned i = 0; n->proto->events != NULL && n->proto->events[i] != NULL; i++) {
		put_text(o, "event", ' ');
		put_number(o, n->no);
		put_number(o, i);
		put_text(o, n->proto->events[i], '\n');
	}
}

int xk_graph_record(const struct xk_graph *g, int fd, enum xk_recording_cause cause, uint32_t cause_no)
{
	const struct xk_recording_head head = {
		.magic = XK_RECORDING_MAGIC, .version = XK_RECORDING_VERSION, .order = XK_RECORDING_ORDER,
		.size = sizeof(struct xk_rec), .cause = cause, .cause_no = cause_no, .now = xk_clock_read(&g->vps->clock),
		.wall = g->vps->clock.wall,
	};
	struct out o = { .fd = fd };

	put(&o, &head, sizeof head);
	put_rings(&o, g->vps);
	flush(&o);                       /* names may be gone */
	put_text(&o, "graph", ' ');
	put_text(&o, g->name, '\n');
	put_text(&o, "threading", ' ');
	put_text(&o, g->vps->arch.name, '\n');
	for (unsigned i = 0; i < xk_graph_slots(g); i++)
		if (xk_graph_slot(g, i) != NULL)
			put_names(&o, xk_graph_slot(g, i));
	put_text(&o, "end", '\n');
	flush(&o);
	return o.err;
}
