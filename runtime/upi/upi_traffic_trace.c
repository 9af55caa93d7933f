/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_traffic_trace.c - reads when messages are due from a file of times, or from a capture.
 *
 * Invariant of a trace that was read: times do not go back, and a stream's messages are a list.
 */
#include "runtime/upi/xk_traffic.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_review.h"

#define MOST      (UINT32_MAX / 2)
#define SECONDS_MOST 4e9         /* of a trace: nanoseconds fit 64 bits */
#define KEY       13u            /* addresses, ports, protocol */

/* A trace while it is read. */
struct reading {
	struct xk_trace *t;
	const char *file;
	uint32_t    room;
	xk_ns       base;                /* of its first packet */
	char       *why;
	size_t      n;
	/* a capture's flows */
	uint8_t   (*flow)[KEY];
	uint32_t    nflows, flow_room;   /* a power of two; slots hold flow numbers + 1 */
	uint32_t   *slot;
};

static int fault(const struct reading *r, int err, const char *text, unsigned long long line)
{
	if (line != 0)
		snprintf(r->why, r->n, "%s:%llu: %s", r->file, line, text);
	else
		snprintf(r->why, r->n, "%s: %s", r->file, text);
	return err;
}

static int out_of_memory(const struct reading *r) { return fault(r, XK_E_NOMEM, "out of memory", 0); }

/* n bytes that begin with the `old` of p, which is freed; NULL: memory is out, p as it was. */
static void *grown(void *p, size_t old, size_t n)
{
	void *more = xk_alloc(n);

	if (more == NULL)
		return NULL;
	if (old != 0)
		memcpy(more, p, old);
	xk_free(p);
	return more;
}

static bool room(struct reading *r)
{
	uint32_t more = r->room != 0 ? r->room * 2 : 1024;
	struct xk_trace *t = r->t;
	uint64_t *at = r->room < MOST ? grown(t->at, t->n * sizeof *at, more * sizeof *at) : NULL;
	uint32_t *stream;

	if (at == NULL)
		return false;
	t->at = at;
	stream = grown(t->stream, t->n * sizeof *stream, more * sizeof *stream);
	if (stream == NULL)
		return false;
	t->stream = stream;
	r->room = more;
	return true;
}

/* One more packet. */
static int add(struct reading *r, xk_ns at, uint32_t stream, unsigned long long line)
{
	struct xk_trace *t = r->t;

	if (t->n == r->room && !room(r))
		return out_of_memory(r);
	if (t->n == 0)
		r->base = at;
	if (at < r->base || (t->n != 0 && at - r->base < t->at[t->n - 1]))
		return fault(r, XK_E_INVAL, "time goes back", line);
	t->at[t->n] = at - r->base;
	t->stream[t->n++] = stream % t->nstreams;
	return XK_OK;
}

/* ---- a file of times --------------------------------------------------------------------- */

static const char *skip(const char *p) { return p + strspn(p, " \t\r\n"); }

/* "seconds [stream]"; false: text says what is wrong. */
static bool line_read(const char *p, double *at, unsigned long *stream, bool *said, const char **text)
{
	char *end;

	*at = strtod(p, &end);
	*text = "needs a time in seconds, as in 0.000125, and perhaps the number of a stream";
	if (end == p || (*end != '\0' && strchr(" \t\r\n", *end) == NULL))
		return false;
	if (!(*at >= 0 && *at <= SECONDS_MOST)) {
		*text = "the time must be between 0 and 4e9 seconds";
		return false;
	}
	p = skip(end);
	*said = *p != '\0';
	if (!*said)
		return true;
	*text = "the number of a stream must be a whole number from 0 on";
	if (*p < '0' || *p > '9')
		return false;
	errno = 0;
	*stream = strtoul(p, &end, 10);
	return errno == 0 && *skip(end) == '\0';
}

static int times_read(struct reading *r, FILE *f)
{
	char line[256];
	unsigned long long no = 0;

	while (fgets(line, sizeof line, f) != NULL) {
		unsigned long stream = 0;
		const char *p = skip(line), *text;
		bool said;
		double at;
		int err;

		no++;
		if (strchr(line, '\n') == NULL && !feof(f))
			return fault(r, XK_E_INVAL, "the line is longer than 254 bytes, or holds a zero", no);
		if (*p == '\0' || *p == '#')
			continue;
		if (!line_read(p, &at, &stream, &said, &text))
			return fault(r, XK_E_INVAL, text, no);
		err = add(r, (xk_ns)(at * 1e9 + 0.5), said ? (uint32_t)(stream % r->t->nstreams) : r->t->n, no);
		if (err != XK_OK)
			return err;
	}
	return ferror(f) ? fault(r, XK_E_INVAL, strerror(errno), 0) : XK_OK;
}

/* ---- a capture ------------------------------------------------------------------------------- */

/* IPv4's two ends over Ethernet; all that is something else is one flow. */
static void key_of(uint8_t key[KEY], int link, const uint8_t *p, uint32_t n)
{
	const uint8_t *ip = link == DLT_RAW ? p : p + 14;
	uint32_t left = link == DLT_RAW ? n : n < 14 ? 0 : n - 14, head;

	memset(key, 0, KEY);
	if ((link != DLT_RAW && link != DLT_EN10MB) || left < 20 || ip[0] >> 4 != 4)
		return;
	if (link == DLT_EN10MB && xk_be16(p + 12) != 0x0800)
		return;
	head = (uint32_t)(ip[0] & 15) * 4;
	memcpy(key, ip + 12, 8);
	key[12] = ip[9];
	if ((ip[9] == 6 || ip[9] == 17) && head >= 20 && left >= head + 4 && (xk_be16(ip + 6) & 0x1fff) == 0)
		memcpy(key + 8, ip + head, 4);
}

static uint32_t key_hash(const uint8_t key[KEY])
{
	uint32_t h = 2166136261u;

	for (unsigned i = 0; i < KEY; i++)
		h = (h ^ key[i]) * 16777619u;
	return h;
}

/* The slot of key, or the free one where it would be. */
static uint32_t *flow_slot(const struct reading *r, const uint8_t key[KEY])
{
	uint32_t i = key_hash(key) & (2 * r->flow_room - 1);

	while (r->slot[i] != 0 && memcmp(r->flow[r->slot[i] - 1], key, KEY) != 0)
		i = (i + 1) & (2 * r->flow_room - 1);
	return &r->slot[i];
}

static bool flows_grow(struct reading *r)
{
	uint32_t more = r->flow_room != 0 ? r->flow_room * 2 : 256;

	uint8_t (*flow)[KEY] = grown(r->flow, r->nflows * sizeof *flow, more * sizeof *flow);
	uint32_t *slot;

	if (flow == NULL)
		return false;
	r->flow = flow;
	slot = grown(r->slot, 0, 2 * more * sizeof *slot);
	if (slot == NULL)
		return false;
	r->slot = slot;
	r->flow_room = more;
	for (uint32_t i = 0; i < r->nflows; i++)
		*flow_slot(r, r->flow[i]) = i + 1;
	return true;
}

/* The number of key's flow, a new one perhaps; false: memory is out. */
static bool flow_no(struct reading *r, const uint8_t key[KEY], uint32_t *no)
{
	uint32_t *slot;

	if (r->nflows == r->flow_room && !flows_grow(r))
		return false;
	slot = flow_slot(r, key);
	if (*slot == 0) {
		memcpy(r->flow[r->nflows], key, KEY);
		*slot = ++r->nflows;
	}
	*no = *slot - 1;
	return true;
}

static int capture_read(struct reading *r)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *in = pcap_open_offline_with_tstamp_precision(r->file, PCAP_TSTAMP_PRECISION_NANO, text);
	struct pcap_pkthdr *h;
	unsigned long long no = 0;
	const uint8_t *bytes;
	int got, err = XK_OK;

	if (in == NULL)
		return fault(r, XK_E_INVAL, text, 0);
	while (err == XK_OK && (got = pcap_next_ex(in, &h, &bytes)) == 1) {
		uint8_t key[KEY];
		uint32_t stream;

		no++;
		key_of(key, pcap_datalink(in), bytes, h->caplen);
		if (!flow_no(r, key, &stream))
			err = out_of_memory(r);
		else if (h->ts.tv_sec < 0)
			err = fault(r, XK_E_INVAL, "the time of a packet is before 1970", no);
		else
			err = add(r, (xk_ns)h->ts.tv_sec * XK_SEC + (xk_ns)h->ts.tv_usec, stream, no);
	}
	if (err == XK_OK && got == PCAP_ERROR)
		err = fault(r, XK_E_INVAL, pcap_geterr(in), 0);
	pcap_close(in);
	return err;
}

/* ---- either -------------------------------------------------------------------------------------- */

static bool is_capture(FILE *f)
{
	static const uint32_t magic[] = { 0xa1b2c3d4, 0xd4c3b2a1, 0xa1b23c4d, 0x4d3cb2a1, 0x0a0d0d0a };
	uint32_t m = 0;
	bool is = false;

	if (fread(&m, sizeof m, 1, f) == 1)
		for (unsigned i = 0; i < XK_ARRAY_LEN(magic); i++)
			is |= m == magic[i];
	rewind(f);
	return is;
}

/* Lists of the streams' packets, from the last packet to the first. */
static int link_all(struct reading *r)
{
	struct xk_trace *t = r->t;

	t->next = xk_alloc((t->n + 1) * sizeof *t->next);
	t->first = xk_alloc(t->nstreams * sizeof *t->first);
	if (t->next == NULL || t->first == NULL)
		return out_of_memory(r);
	for (uint32_t i = 0; i < t->nstreams; i++)
		t->first[i] = t->n;
	for (uint32_t i = t->n; i-- > 0;) {
		t->next[i] = t->first[t->stream[i]];
		t->first[t->stream[i]] = i;
	}
	return XK_OK;
}

static int file_read(struct reading *r)
{
	struct stat st;
	FILE *f;
	int err;

	/* What is something else may wait for its writer. */
	if (stat(r->file, &st) == 0 && !S_ISREG(st.st_mode))
		return fault(r, XK_E_INVAL, "is no plain file", 0);
	f = fopen(r->file, "r");
	if (f == NULL)
		return fault(r, XK_E_INVAL, strerror(errno), 0);
	err = is_capture(f) ? capture_read(r) : times_read(r, f);
	fclose(f);
	return err;
}

int xk_trace_read(struct xk_trace *t, const char *file, uint32_t nstreams, char *why, size_t n)
{
	struct reading r = { .t = t, .file = file, .why = why, .n = n };
	int err;

	*t = (struct xk_trace){ .nstreams = nstreams };
	err = file_read(&r);
	if (err == XK_OK && t->n == 0)
		err = fault(&r, XK_E_INVAL, "holds no packet", 0);
	if (err == XK_OK)
		err = link_all(&r);
	xk_free(r.flow);
	xk_free(r.slot);
	if (err != XK_OK)
		xk_trace_free(t);
	return err;
}

void xk_trace_free(struct xk_trace *t)
{
	xk_free(t->at);
	xk_free(t->stream);
	xk_free(t->next);
	xk_free(t->first);
	*t = (struct xk_trace){ .n = 0 };
}

int xk_trace_load(struct xk_trace *t, const struct xk_traffic *a, uint64_t nstreams, const struct xk_node *n, struct xk_errs *e)
{
	char why[512];
	int err;

	if (a->model != XK_TRAFFIC_TRACE)
		return XK_OK;
	err = xk_trace_read(t, a->file, (uint32_t)nstreams, why, sizeof why);
	if (err != XK_OK)
		xk_node_error(n, e, "arrivals: %s", why);
	return err;
}

void xk_trace_review(const struct xk_traffic *a, uint64_t nstreams, const struct xk_view *v, struct xk_review *r)
{
	struct xk_trace t;
	char why[512];

	if (a->model != XK_TRAFFIC_TRACE)
		return;
	if (xk_trace_read(&t, a->file, (uint32_t)nstreams, why, sizeof why) == XK_OK)
		xk_trace_free(&t);
	else
		xk_review_fault(r, v, "arrivals.file", "%s", why);
}
