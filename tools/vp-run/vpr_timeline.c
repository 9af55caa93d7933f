/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_timeline.c - writes who ran what and when, as Perfetto and chrome://tracing read it.
 *
 * Of simulated processors: a group for each with a row for each thread that ran there, a slice for each unit of work, named
 * by its virtual processor; at the end how many messages of each virtual processor each processor ran.  Of a real run it is
 * what the flight recorders had (vpr_drain.c).
 * Invariant: the same simulated run gives the same bytes.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/vp/xk_machine.h"
#include "tools/recorder/chrome.h"
#include "tools/vp-run/vpr_drain.h"

#define SLICES_MAX 200000u

struct vpr_timeline {
	FILE    *f;
	unsigned processors, vps;
	uint64_t slices, more;           /* written, left out */
	uint64_t *ran;                   /* [vps * processors]: messages */
	struct vpr_drain *drain;         /* of a real run; then none of the above but f */
	bool     started, ended;         /* it is */
};

static void note(void *arg, const struct xk_ran *r)
{
	struct vpr_timeline *t = arg;

	t->ran[(size_t)r->vp * t->processors + r->processor] += r->messages;
	if (t->slices == SLICES_MAX) {
		t->more++;
		return;
	}
	fprintf(t->f, "%s{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"name\":\"vp %u\"", t->slices++ != 0 ? ",\n" : "", r->processor, r->thread, r->vp);
	chrome_put_us(t->f, "ts", r->from);
	chrome_put_us(t->f, "dur", r->until - r->from);
	fprintf(t->f, ",\"args\":{\"messages\":%u}}", r->messages);
}

/* What is needed beside the file; false: no memory. */
static bool ready(struct vpr_timeline *t, const struct xk_graph *g)
{
	if (g->vps->sim == NULL) {
		t->drain = vpr_drain_new(g);
		return t->drain != NULL;
	}
	t->processors = g->vps->arch.processors;
	t->vps = g->vps->nall;
	t->ran = calloc((size_t)t->vps * t->processors, sizeof *t->ran);
	return t->ran != NULL;
}

int vpr_timeline_open(struct vpr *o, const struct xk_graph *g, struct xk_errs *e)
{
	struct vpr_timeline *t;

	if (o->timeline == NULL)
		return VPR_OK;
	if (g->vps->sim == NULL && g->vps->clock.is_virtual) {
		xk_errs_add(e, NULL, 0, 0, "option --timeline: in virtual time it is of simulated processors (--processors N)");
		return VPR_USAGE;
	}
	t = o->drawn = calloc(1, sizeof *t);
	if (t != NULL && ready(t, g))
		t->f = fopen(o->timeline, "w");
	if (t == NULL || t->f == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --timeline: %s: %s", o->timeline, strerror(errno));
		return VPR_FAILED;
	}
	if (t->drain != NULL)
		return VPR_OK;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", t->f);
	xk_vpset_note_ran(g->vps, note, t);
	return VPR_OK;
}

int vpr_timeline_start(struct vpr *o, struct xk_errs *e)
{
	struct vpr_timeline *t = o->drawn;
	int err = t != NULL && t->drain != NULL ? vpr_drain_start(t->drain) : XK_OK;

	if (err != XK_OK) {
		xk_errs_add(e, NULL, 0, 0, "option --timeline: %s", xk_strerror(err));
		return VPR_FAILED;
	}
	if (t != NULL)
		t->started = true;
	return VPR_OK;
}

void vpr_timeline_end(const struct vpr *o, const struct xk_graph *g)
{
	struct vpr_timeline *t = o->drawn;

	if (t != NULL && t->drain != NULL && t->started)
		t->ended = vpr_drain_end(t->drain, g);
}

/* What groups are called; [vp, processor, messages] of those that met. */
static void put_end(const struct vpr_timeline *t)
{
	const char *before = "";

	for (unsigned p = 0; p < t->processors; p++)
		fprintf(t->f, "%s{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"processor %u\"}}",
			p != 0 || t->slices != 0 ? ",\n" : "", p, p);
	fprintf(t->f, "],\n\"otherData\":{\"slices\":%" PRIu64 ",\"left_out\":%" PRIu64 ",\"processors\":%u,\"ran\":[", t->slices, t->more,
		t->processors);
	for (unsigned i = 0; i < t->vps; i++)
		for (unsigned p = 0; p < t->processors; p++)
			if (t->ran[(size_t)i * t->processors + p] != 0) {
				fprintf(t->f, "%s[%u,%u,%" PRIu64 "]", before, i, p, t->ran[(size_t)i * t->processors + p]);
				before = ",";
			}
	fputs("]}}\n", t->f);
}

bool vpr_timeline_close(struct vpr *o)
{
	struct vpr_timeline *t = o->drawn;
	bool bad = false;

	if (t == NULL)
		return true;
	if (t->f != NULL) {
		if (t->drain == NULL)
			put_end(t);
		else if (t->started)
			bad = !t->ended || !vpr_drain_write(t->drain, o->timeline, t->f);
		bad = ferror(t->f) != 0 || bad;
		bad = fclose(t->f) != 0 || bad;
	}
	vpr_drain_free(t->drain);
	free(t->ran);
	free(t);
	o->drawn = NULL;
	if (bad)
		fprintf(stderr, "vp-run: %s is short: it could not be written to its end\n", o->timeline);
	return !bad;
}
