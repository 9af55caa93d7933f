/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rec_pcapng.c - a capture file of the same run, written anew as pcapng with what a recording says as comments of its frames.
 *
 * Frames and records have the same clock (struct xk_recording_head), so an event of a virtual processor is a comment of the last
 * frame that is not later; of frames of one time, of the last of them.  What workers do is told of no frame.
 * Source: draft-ietf-opsawg-pcapng: section header, interface description and enhanced packet blocks.
 * Invariant: frames stand in the order and with the bytes of the capture.
 */
#include "tools/recorder/rec.h"

#include <inttypes.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_clock.h"

enum { SECTION = 0x0a0d0d0a, INTERFACE = 1, PACKET = 6 };        /* blocks */
enum { OPT_END = 0, OPT_COMMENT = 1, OPT_TSRESOL = 9 };
#define NANOSECONDS 9u                   /* of OPT_TSRESOL: 10^-9 s */
#define MOST 200u                        /* comments of a frame: readers know no block of more than 16 MiB */
#define LINKTYPE_RAW 101u                /* in files; DLT_RAW is this machine's number of it */

struct frame { uint64_t when; size_t no; uint32_t nrows; const struct rec_row **row; };

struct merge {
	const struct rec *r;
	pcap_t           *in;
	FILE             *f;
	struct frame     *frame;
	size_t            nframes;
	const struct rec_row **row;      /* those that are told, by time */
	size_t            nrows;
};

/* ---- blocks ------------------------------------------------------------------------------------ */

static void put32(FILE *f, uint32_t v) { fwrite(&v, sizeof v, 1, f); }
static void put16(FILE *f, uint16_t v) { fwrite(&v, sizeof v, 1, f); }
static uint32_t padded(uint32_t n) { return (n + 3) & ~3u; }

static void put_bytes(FILE *f, const void *p, uint32_t n)
{
	static const char zero[4];

	fwrite(p, 1, n, f);
	fwrite(zero, 1, padded(n) - n, f);
}

static void put_option(FILE *f, uint16_t code, const void *p, uint16_t n)
{
	put16(f, code);
	put16(f, n);
	put_bytes(f, p, n);
}

static void put_section(FILE *f)
{
	const uint32_t len = 28;

	put32(f, SECTION);
	put32(f, len);
	put32(f, 0x1a2b3c4d);
	put16(f, 1);
	put16(f, 0);
	put32(f, UINT32_MAX);            /* its length is not told */
	put32(f, UINT32_MAX);
	put32(f, len);
}

static void put_interface(FILE *f, int dlt, int snaplen)
{
	const uint32_t len = 32;
	const uint8_t resolution = NANOSECONDS;

	put32(f, INTERFACE);
	put32(f, len);
	put16(f, (uint16_t)(dlt == DLT_RAW ? LINKTYPE_RAW : (unsigned)dlt));
	put16(f, 0);
	put32(f, (uint32_t)snaplen);
	put_option(f, OPT_TSRESOL, &resolution, 1);
	put_option(f, OPT_END, "", 0);
	put32(f, len);
}

/* ---- whose a record is ----------------------------------------------------------------------------- */

static uint64_t time_of(const struct pcap_pkthdr *h) { return (uint64_t)h->ts.tv_sec * XK_SEC + (uint64_t)h->ts.tv_usec; }

static pcap_t *open_capture(const char *file, char *why, size_t n)
{
	char err[PCAP_ERRBUF_SIZE] = "";
	pcap_t *in = pcap_open_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, err);

	if (in == NULL)
		snprintf(why, n, "%s: %s", file, err);
	return in;
}

static int frame_by_time(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->when != y->when ? (x->when < y->when ? -1 : 1) : x->no < y->no ? -1 : x->no > y->no;
}

static int frame_by_no(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->no < y->no ? -1 : x->no > y->no;
}

static const char *find_frames(struct merge *m)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;
	size_t room = 0;
	int got;

	while ((got = pcap_next_ex(m->in, &h, &bytes)) == 1) {
		if (m->nframes == room) {
			void *more = realloc(m->frame, (room = room * 2 + 1024) * sizeof *m->frame);

			if (more == NULL)
				return "out of memory";
			m->frame = more;
		}
		m->frame[m->nframes] = (struct frame){ .when = time_of(h), .no = m->nframes };
		m->nframes++;
	}
	return got == PCAP_ERROR ? pcap_geterr(m->in) : m->nframes == 0 ? "has no frames" : NULL;
}

static const char *find_rows(struct merge *m)
{
	m->row = malloc((m->r->nrows + 1) * sizeof *m->row);
	if (m->row == NULL)
		return "out of memory";
	for (size_t i = 0; i < m->r->nrows; i++)
		if (!rec_is_worker(m->r->row[i].ring))
			m->row[m->nrows++] = &m->r->row[i];
	return NULL;
}

/* Returns how many records have a frame. */
static size_t deal(struct merge *m)
{
	size_t k = 0, first;

	qsort(m->frame, m->nframes, sizeof *m->frame, frame_by_time);
	while (k < m->nrows && m->r->head.wall + m->row[k]->r.when < m->frame[0].when)
		k++;
	first = k;
	for (size_t i = 0; i < m->nframes; i++) {
		struct frame *x = &m->frame[i];

		x->row = &m->row[k];
		while (k < m->nrows && (i + 1 == m->nframes || m->r->head.wall + m->row[k]->r.when < x[1].when)) {
			x->nrows++;
			k++;
		}
	}
	qsort(m->frame, m->nframes, sizeof *m->frame, frame_by_no);
	return k - first;
}

/* ---- frames and what was decided --------------------------------------------------------------------- */

/* At most n bytes with the end; how many without it. */
static uint32_t comment(const struct merge *m, const struct rec_row *x, char *text, size_t n)
{
	int at = snprintf(text, n, "%" PRIu64 ".%09u vp %u %s: ", x->r.when / XK_SEC, (unsigned)(x->r.when % XK_SEC),
			  rec_ring_no(x->ring), rec_kind(x));

	rec_say(m->r, x, text + at, n - (size_t)at);
	return (uint32_t)strlen(text);
}

/* Bytes of all options of a frame; they are written where f is one. */
static uint32_t comments(const struct merge *m, const struct frame *x, FILE *f)
{
	uint32_t most = x->nrows < MOST ? x->nrows : MOST, n, all = 0;
	char text[640];

	for (uint32_t i = 0; i < most + (most < x->nrows); i++) {
		n = i < most ? comment(m, x->row[i], text, sizeof text) :
			       (uint32_t)snprintf(text, sizeof text, "and %u more until the next frame", x->nrows - most);
		all += 4 + padded(n);
		if (f != NULL)
			put_option(f, OPT_COMMENT, text, (uint16_t)n);
	}
	if (f != NULL && all != 0)
		put_option(f, OPT_END, "", 0);
	return all + (all != 0 ? 4 : 0);
}

static void put_frame(const struct merge *m, const struct frame *x, const struct pcap_pkthdr *h, const u_char *bytes)
{
	uint32_t len = 32 + padded(h->caplen) + comments(m, x, NULL);

	put32(m->f, PACKET);
	put32(m->f, len);
	put32(m->f, 0);
	put32(m->f, (uint32_t)(x->when >> 32));
	put32(m->f, (uint32_t)x->when);
	put32(m->f, h->caplen);
	put32(m->f, h->len);
	put_bytes(m->f, bytes, h->caplen);
	(void)comments(m, x, m->f);
	put32(m->f, len);
}

static const char *put_all(struct merge *m)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;

	put_section(m->f);
	put_interface(m->f, pcap_datalink(m->in), pcap_snapshot(m->in));
	for (size_t i = 0; i < m->nframes; i++) {
		if (pcap_next_ex(m->in, &h, &bytes) != 1)
			return "has changed while it was read";
		put_frame(m, &m->frame[i], h, bytes);
	}
	return NULL;
}

bool rec_pcapng(FILE *f, const struct rec *r, const char *capture, char *why, size_t n)
{
	struct merge m = { .r = r, .f = f, .in = open_capture(capture, why, n) };
	const char *fault;

	if (m.in == NULL)
		return false;
	fault = find_frames(&m);
	if (fault == NULL)
		fault = find_rows(&m);
	if (fault == NULL && deal(&m) == 0)
		fault = "no record is of the time of its frames: is it of the same run?";
	if (fault != NULL)
		snprintf(why, n, "%s: %s", capture, fault);
	pcap_close(m.in);
	m.in = fault == NULL ? open_capture(capture, why, n) : NULL;
	if (m.in != NULL && (fault = put_all(&m)) != NULL)
		snprintf(why, n, "%s: %s", capture, fault);
	if (m.in != NULL)
		pcap_close(m.in);
	else
		fault = "";
	free(m.frame);
	free(m.row);
	return fault == NULL;
}
