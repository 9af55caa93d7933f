/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_pcap.c - fuzz target of what reads captures: the driver that plays them, and times of messages taken from them.
 *
 * The first four bytes of an input say how it is played (pauses, passes, a count, the MTU), the rest is the file.  What it
 * holds is read by libpcap alone, too: frames, times, where it is damaged.
 * Held to: the driver opens what libpcap opens and is of a link that there is, and says in a sentence what it does not; in
 * the time that the recording takes, each frame goes up when it is due, in order, byte by byte, as often as there are
 * passes, and not behind the count; longer ones than the MTU are counted, cut ones and damage, too; the check before
 * the start says the same as the start.  Of times: as many as there are packets, none before the one before, each in its
 * stream's list once; or one sentence.  At the end memory and buffers are back.
 * Invariant: nothing is kept from one input to the next but the graph, whose driver begins anew.
 */
#include <pcap/pcap.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/pcap/xk_pcap.h"
#include "runtime/base/xk_errs.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_traffic.h"
#include "tests/fuzz/fuzz_graphs.h"
#include "tests/fuzz/fuzz_in.h"
#include "tests/protocols/proto_fixture.h"

#define HOW    4u                        /* bytes before the file */
#define FRAMES 512u                      /* of a file: it has a few thousand bytes */
#define SPELL  (100 * XK_SEC)            /* that a file is played for */

enum { N_READ, N_WRITTEN, N_CUT, N_LONG, N_BROKEN, N_PASSES };   /* ORDER pcapd_counts in pcap.c */

static struct pf f;
static struct xk_node *node;
static struct xk_rep *rep;
static struct xk_sess *s;
static int fd;
static char path[64];
static uint64_t buffers;

/* ---- what libpcap says ------------------------------------------------------------------------ */

static struct { xk_ns t; uint32_t n, len; uint8_t *b; } frame[FRAMES];
static unsigned nframes;
static bool opens, damaged;
static int dlt;

static xk_ns time_of(const struct pcap_pkthdr *h) { return (xk_ns)h->ts.tv_sec * XK_SEC + (xk_ns)h->ts.tv_usec; }

static void read_all(pcap_t *in)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;
	int got;

	while ((got = pcap_next_ex(in, &h, &bytes)) == 1 && nframes < FRAMES) {
		frame[nframes].t = time_of(h);
		frame[nframes].n = h->caplen;
		frame[nframes].len = h->len;
		frame[nframes].b = malloc(h->caplen + 1);
		fuzz_must(frame[nframes].b != NULL ? NULL : "no memory");
		memcpy(frame[nframes++].b, bytes, h->caplen);
	}
	damaged = got == PCAP_ERROR;
}

static void look(const uint8_t *data, size_t n)
{
	char why[PCAP_ERRBUF_SIZE];
	FILE *file = n != 0 ? fmemopen((void *)(uintptr_t)data, n, "rb") : NULL;
	pcap_t *in = file != NULL ? pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, why) : NULL;

	for (unsigned i = 0; i < nframes; i++)
		free(frame[i].b);
	nframes = 0;
	opens = in != NULL;
	damaged = false;
	dlt = opens ? pcap_datalink(in) : -1;
	if (opens)
		read_all(in);
	if (opens)
		pcap_close(in);          /* and file */
	else if (file != NULL)
		fclose(file);
}

/* ---- the driver ---------------------------------------------------------------------------------- */

struct how { bool fast; unsigned passes, count; uint32_t mtu; };

static void set(const char *name, const char *fmt, unsigned v)
{
	const struct xk_param *p = xk_param_find(node->proto->params, name);
	char text[32], why[128];

	snprintf(text, sizeof text, fmt, v);
	fuzz_must(xk_param_set(p, node->conf, text, true, why, sizeof why) == XK_OK ? NULL : "a parameter is refused");
}

/* As a start of the graph would.  False: it says why not. */
static bool begin(const struct how *h)
{
	struct xk_errs *e = xk_errs_new();
	bool good;

	set("rate", h->fast ? "fast" : "recorded", 0);
	set("loop", "%u", h->passes);
	set("count", "%u", h->count);
	set("mtu", "%u", h->mtu);
	fuzz_must(e != NULL ? NULL : "no memory");
	memset(rep->count, 0, sizeof rep->count);
	memset(rep->state, 0, node->proto->rep_size);
	good = node->proto->ops->init(node, e) == XK_OK;
	fuzz_must(good == (xk_errs_count(e) == 0) ? NULL : "a file is refused without a sentence");
	xk_errs_free(e);
	if (!good)
		return false;
	pf_enter(&f, 0);
	fuzz_must(node->proto->ops->rep_init(rep) == XK_OK && node->proto->ops->rep_start(rep, NULL) == XK_OK ? NULL : "no start");
	pf_leave(&f, 0);
	return true;
}

static void stop(void)
{
	pf_enter(&f, 0);
	node->proto->ops->rep_stop(rep);
	pf_leave(&f, 0);
	node->proto->ops->fini(node);
}

/* ---- the model -------------------------------------------------------------------------------------- */

static struct { unsigned of[FRAMES * 4], n, read, cut, over; } due;    /* frames that have gone up by then */

/* What has happened after that spell: the clock of a pass begins when its first frame is looked at. */
static void model(const struct how *h, uint32_t frame_max)
{
	xk_ns now = pf_now(&f), until = now + SPELL, start = now, first = 0;

	memset(&due, 0, sizeof due);
	for (unsigned pass = 0; pass < h->passes && nframes != 0; pass++)
		for (unsigned i = 0; i < nframes; i++) {
			xk_ns t = frame[i].t, at;

			if (h->count != 0 && due.read >= h->count)
				return;
			if (i == 0) {
				first = t;
				start = now;
			}
			at = h->fast || t <= first ? 0 : start + (t - first);
			now = at > now ? at : now;
			if (now > until)
				return;
			due.read++;
			due.cut += frame[i].n < frame[i].len;
			if (frame[i].n > frame_max)
				due.over++;
			else
				due.of[due.n++] = i;
		}
}

static void compare(void)
{
	fuzz_must(xk_counter_read(rep->count[N_READ]) == due.read && xk_counter_read(rep->count[N_CUT]) == due.cut &&
		  xk_counter_read(rep->count[N_LONG]) == due.over ? NULL : "what is counted is not what the file has");
	fuzz_must(pf_ngot(&f, "u") == due.n ? NULL : pf_ngot(&f, "u") < due.n ? "a frame is missing above" : "a frame too many");
	for (unsigned i = 0; i < due.n; i++) {
		const struct pf_rec *r = pf_got(&f, "u", i);

		if (r->len != frame[due.of[i]].n || memcmp(r->bytes, frame[due.of[i]].b, r->len) != 0)
			fuzz_must("a frame has other bytes above");
	}
	pf_forget(&f, "u");
}

static void play(const struct how *h)
{
	bool known = opens && (dlt == DLT_EN10MB || dlt == DLT_FDDI);

	fuzz_must(begin(h) == known ? NULL : known ? "a good file is refused" : "a file is played that is none");
	if (!known)
		return;
	model(h, h->mtu + (dlt == DLT_FDDI ? 21 : 14));
	pf_run(&f, SPELL);
	compare();
	fuzz_must(damaged && nframes == due.read && h->passes == 1 && h->count == 0 && xk_counter_read(rep->count[N_BROKEN]) == 0 ?
		  "damage is not counted" : NULL);
	fuzz_must(!damaged && xk_counter_read(rep->count[N_BROKEN]) != 0 ? "a whole file counts as damaged" : NULL);
	stop();
	fuzz_must(pf_buffers(&f) == buffers ? NULL : "a buffer is left");
}

/* ---- times of messages --------------------------------------------------------------------------------- */

static void times(uint32_t streams)
{
	struct xk_trace t;
	char why[256] = "";
	uint32_t listed = 0;

	if (xk_trace_read(&t, path, streams, why, sizeof why) != XK_OK) {
		fuzz_must(strncmp(why, path, strlen(path)) == 0 ? NULL : "a refusal without the file's name");
		return;
	}
	fuzz_must(t.n != 0 && t.nstreams == streams && *why == 0 ? NULL : "a trace of nothing");
	fuzz_must(opens && t.n != nframes ? "times are not packets" : NULL);
	for (uint32_t i = 0; i < t.n; i++) {
		fuzz_must(i != 0 && t.at[i] < t.at[i - 1] ? "time goes back" : NULL);
		fuzz_must(t.stream[i] < streams && t.next[i] > i && t.next[i] <= t.n ? NULL : "a packet is in no list");
	}
	for (uint32_t k = 0; k < streams; k++)
		for (uint32_t i = t.first[k]; i != t.n; i = t.next[i], listed++)
			fuzz_must(t.stream[i] == k ? NULL : "a packet is in the list of another stream");
	fuzz_must(listed == t.n ? NULL : "a packet is in no list, or in two");
	xk_trace_free(&t);
}

/* ---- inputs ---------------------------------------------------------------------------------------------- */

static void down(void)
{
	pf_close(&f, 0, s);
	pf_down(&f);
	close(fd);
}

static void put(const uint8_t *bytes, size_t n)
{
	fuzz_must(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n, 0) == (ssize_t)n ? NULL : "the file cannot be written");
}

static void up(void)
{
	static const uint8_t none[24] = { 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, [16] = 255, 255, 0, 0, 1 };
	static char conf[128];
	const struct pf_spec g[] = { { &xk_proto_pcap, "d", NULL, conf }, { &pf_flat, "u", "d", "enable=false" },
				     { NULL, NULL, NULL, NULL } };
	struct xk_parts ps;

	fd = memfd_create("fuzz", MFD_CLOEXEC);
	fuzz_must(fd >= 0 ? NULL : "no file");
	put(none, sizeof none);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	snprintf(conf, sizeof conf, "file=%s; finish=false", path);
	pf_up(&f, 1, g);
	xk_parts_init(&ps, 0);
	s = pf_open(&f, "u", 0, &ps, NULL);
	node = pf_node(&f, "d");
	rep = pf_rep(&f, "d", 0);
	xk_log_set(&node->log, 0);       /* broken files are what we ask for */
	pf_run(&f, XK_SEC);
	stop();
	buffers = pf_buffers(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct how h;
	uint64_t live;

	fuzz_graph_up(&f, up, down);
	if (size < HOW || size > HOW + 16 * FRAMES)
		return 0;
	h = (struct how){ .fast = data[0] & 1, .passes = 1 + data[0] / 2 % 3, .count = data[1] % 32, .mtu = 68 + 4u * data[2] };
	put(data + HOW, size - HOW);
	live = xk_alloc_live();
	look(data + HOW, size - HOW);
	play(&h);
	times(1 + data[3] % 5);
	fuzz_must(xk_alloc_live() == live ? NULL : "memory is left");
	return 0;
}
