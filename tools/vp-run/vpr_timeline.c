/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_timeline.c - writes what each simulated processor ran and when, as Perfetto and chrome://tracing read it.
 *
 * A group for each processor with a row for each thread that ran there, a slice for each unit of work, named by its
 * virtual processor; at the end how many messages of each virtual processor each processor ran.
 * Invariant: the same run gives the same bytes.
 */
#include "tools/vp-run/vpr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/vp/xk_machine.h"
#include "tools/recorder/chrome.h"

#define SLICES_MAX 200000u

struct vpr_timeline {
	FILE    *f;
	unsigned processors, vps;
	uint64_t slices, more;           /* written, left out */
	uint64_t *ran;                   /* [vps * processors]: messages */
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

int vpr_timeline_open(struct vpr *o, const struct xk_graph *g, struct xk_errs *e)
{
	struct vpr_timeline *t;

	if (o->timeline == NULL)
		return VPR_OK;
	if (g->vps->sim == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --timeline: it is of simulated processors (--virtual --processors N)");
		return VPR_USAGE;
	}
	t = o->drawn = calloc(1, sizeof *t);
	if (t != NULL) {
		t->processors = g->vps->arch.processors;
		t->vps = g->vps->nall;
		t->ran = calloc((size_t)t->vps * t->processors, sizeof *t->ran);
		t->f = t->ran != NULL ? fopen(o->timeline, "w") : NULL;
	}
	if (t == NULL || t->f == NULL) {
		xk_errs_add(e, NULL, 0, 0, "option --timeline: %s: %s", o->timeline, strerror(errno));
		return VPR_FAILED;
	}
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", t->f);
	xk_vpset_note_ran(g->vps, note, t);
	return VPR_OK;
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

	if (t != NULL && t->f != NULL) {
		put_end(t);
		bad = ferror(t->f) != 0;
		bad = fclose(t->f) != 0 || bad;
	}
	if (t != NULL)
		free(t->ran);
	free(t);
	o->drawn = NULL;
	if (bad)
		fprintf(stderr, "vp-run: %s is short: it could not be written to its end\n", o->timeline);
	return !bad;
}
