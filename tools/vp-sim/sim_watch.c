/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_watch.c - who ran what: a picture of how often each stream ran on each processor, and a timeline.
 *
 * The picture is drawn as vp-run's (tools/vp-bench/bench_cells.c).  The timeline is in the format that Perfetto and
 * chrome://tracing read: a row for each processor.
 * Invariant: the same run gives the same bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/recorder/chrome.h"
#include "tools/vp-bench/bench.h"
#include "tools/vp-sim/sim_svg.h"

#define SLICES_MAX 200000u   /* of the timeline */

struct sim_look {
	unsigned  streams, processors;
	uint64_t *ran;               /* streams x processors */
	FILE     *events;            /* NULL: no timeline */
	char     *text;
	size_t    n;
	uint64_t  slices, more;      /* written, left out */
};

/* ---- watching ------------------------------------------------------------------------- */

static void ran(void *to, const struct sim_ran *r)
{
	struct sim_look *l = to;

	l->ran[(size_t)r->stream * l->processors + r->processor]++;
	if (l->events == NULL)
		return;
	if (l->slices == SLICES_MAX) {
		l->more++;
		return;
	}
	l->slices++;
	fprintf(l->events, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"name\":\"stream %u\"", r->processor, r->stream);
	chrome_put_us(l->events, "ts", r->from);
	chrome_put_us(l->events, "dur", r->until - r->from);
	fprintf(l->events, ",\"args\":{\"stream\":%u", r->stream);
	chrome_put_us(l->events, "waited_us", r->from - r->arrived);
	fputs("}}", l->events);
}

struct sim_look *sim_look_new(const struct sim_model *m, bool trace)
{
	struct sim_look *l = calloc(1, sizeof *l);

	if (l == NULL)
		return NULL;
	l->streams = m->streams;
	l->processors = m->processors;
	l->ran = calloc((size_t)m->streams * m->processors, sizeof *l->ran);
	l->events = trace ? open_memstream(&l->text, &l->n) : NULL;
	if (l->ran != NULL && (l->events != NULL || !trace))
		return l;
	sim_look_free(l);
	return NULL;
}

struct sim_watch sim_look_watch(struct sim_look *l) { return (struct sim_watch){ ran, l }; }

void sim_look_free(struct sim_look *l)
{
	if (l == NULL)
		return;
	if (l->events != NULL)
		fclose(l->events);
	free(l->text);
	free(l->ran);
	free(l);
}

/* ---- the picture ------------------------------------------------------------------------- */

int sim_look_svg(const struct sim_look *l, const char *path, const char *name, const char *machine)
{
	char *title = NULL, why[400] = "out of memory", *svg = NULL;
	struct bench_cells cells = { .xlabel = "processor", .ylabel = "stream", .zlabel = "share of the stream's packets",
				     .rows = l->streams, .columns = l->processors, .row_of = 1, .column_of = 1,
				     .count = l->ran };

	if (asprintf(&title, "%s on %s, simulated", name, machine) >= 0) {
		cells.title = title;
		svg = bench_cells_svg(&cells, "sim", why, sizeof why);
		free(title);
	}
	return sim_svg_save(path, svg, why);
}

/* ---- the timeline ---------------------------------------------------------------------------- */

static char *timeline(const struct sim_look *l, const char *name)
{
	json_t *title = json_string(name);
	char *text = NULL, *quoted = json_dumps(title, JSON_ENCODE_ANY);
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f != NULL) {
		fprintf(f, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"packets\":%" PRIu64 ",\"left_out\":%" PRIu64 "},\"traceEvents\":[\n",
			l->slices, l->more);
		fprintf(f, "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":%s}}", quoted != NULL ? quoted : "\"\"");
		for (unsigned p = 0; p < l->processors; p++)
			fprintf(f, ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"processor %u\"}}", p, p);
		fputs(l->text, f);
		fputs("\n]}\n", f);
	}
	free(quoted);
	json_decref(title);
	if (f == NULL || fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

int sim_look_trace(struct sim_look *l, const char *path, const char *name)
{
	char why[4400] = "out of memory", *text = fflush(l->events) == 0 ? timeline(l, name) : NULL;
	int code = text != NULL ? bench_text_save(text, path, why, sizeof why) : BENCH_IO;

	if (l->more != 0)
		fprintf(stderr, "vp-sim: %s has the first %" PRIu64 " packets of %" PRIu64 ": a shorter --duration has all\n", path, l->slices,
			l->slices + l->more);
	if (code != BENCH_OK)
		fprintf(stderr, "vp-sim: cannot write '%s': %s\n", path, why);
	free(text);
	return code == BENCH_OK ? SIM_OK : SIM_FAILED;
}
