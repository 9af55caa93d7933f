/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_svg.c - a figure over numbers of processors: the mean delay with its interval, or how many streams
 * there may be.
 *
 * vp-bench's figures are drawn by the same script (tools/vp-bench/plot.lua) and by gnuplot.  Where
 * the queue grows there is no mean, and no point.
 */
#include "tools/vp-sim/sim_svg.h"

#include <math.h>
#include <stdlib.h>

#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_lua.h"

void sim_svg_add(json_t *points, const struct sim_outcome *o)
{
	struct sim_estimate e = sim_estimate(o->r, o->nruns, SIM_DELAY);
	double half = isfinite(e.half) ? e.half : 0;
	bool steady = true;

	for (unsigned i = 0; i < o->nruns; i++)
		steady = steady && o->r[i].steady;
	if (o->found)
		json_array_append_new(points, json_pack("{s:i, s:i}", "x", (int)o->m->processors, "y", (int)o->most));
	else if (steady)
		json_array_append_new(points, json_pack("{s:i, s:f, s:f, s:f}", "x", (int)o->m->processors, "y", e.mean,
							"lo", e.mean - half, "hi", e.mean + half));
}

/* As plot.lua wants it. */
static json_t *figure(const struct sim_figure *f)
{
	json_t *tics = json_array(), *p, *j;
	char text[16];
	size_t i;

	json_array_foreach(f->points, i, p) {
		snprintf(text, sizeof text, "%d", (int)json_integer_value(json_object_get(p, "x")));
		json_array_append_new(tics, json_pack("{s:O, s:s}", "x", json_object_get(p, "x"), "text", text));
	}
	j = json_pack("{s:s+++, s:s, s:s, s:b, s:b, s:o}", "title", f->name, " on ", f->machine, ", simulated", "xlabel", "processors",
		      "ylabel", f->streams ? "streams" : "mean delay, us, 95 %", "xlog", 1, "ylog", 0, "tics", tics);
	json_object_set_new(j, "lines", json_pack("[{s:s, s:b, s:O, s:[]}]", "name", f->streams ? "most streams" : "delay",
						  "reference", 0, "points", f->points, "dots"));
	return j;
}

/* SVG, to be freed, or NULL and why. */
static char *draw(json_t *figure, char *why, size_t n)
{
	json_t *args[] = { figure, json_string("sim"), json_false() };
	char *script = bench_lua_text("plot", "script", args, 3, why, n);
	char *svg = script != NULL ? bench_draw(script, why, n) : NULL;

	free(script);
	json_decref(args[1]);
	return svg;
}

int sim_svg_save(const char *path, char *svg, const char *why)
{
	char fault[4400];
	int code = SIM_FAILED;

	if (svg == NULL)
		fprintf(stderr, "vp-sim: no figure: %s\n", why);
	else if (bench_text_save(svg, path, fault, sizeof fault) == BENCH_OK)
		code = SIM_OK;
	else
		fprintf(stderr, "vp-sim: cannot write '%s': %s\n", path, fault);
	free(svg);
	return code;
}

int sim_svg_write(const struct sim_figure *f)
{
	char why[400] = "";
	json_t *j;
	int code;

	if (json_array_size(f->points) == 0) {
		fprintf(stderr, "vp-sim: nothing to draw: no number of processors has a steady state\n");
		return SIM_FAILED;
	}
	j = figure(f);
	code = sim_svg_save(f->path, draw(j, why, sizeof why), why);
	json_decref(j);
	return code;
}
