/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_svg.h - a figure of what was simulated on several numbers of processors (sim_svg.c).
 */
#ifndef XK_SIM_SVG_H
#define XK_SIM_SVG_H

#include "tools/vp-sim/sim.h"

struct sim_figure {
	const char *path, *name, *machine;
	bool        streams;     /* the most there may be; else the delay */
	json_t     *points;
};

/* A point, unless it has no steady state. */
void sim_svg_add(json_t *points, const struct sim_outcome *o);
/* SIM_OK, or SIM_FAILED after a sentence on stderr. */
int  sim_svg_write(const struct sim_figure *f);

/* Who ran what, of one run (sim_watch.c): a picture of streams and processors, a timeline, or both. */
struct sim_look;
/* NULL: out of memory.  trace: is there a timeline? */
struct sim_look *sim_look_new(const struct sim_model *m, bool trace);
struct sim_watch sim_look_watch(struct sim_look *l);
/* name and machine of what ran.  SIM_OK, or SIM_FAILED after a sentence on stderr. */
int  sim_look_svg(const struct sim_look *l, const char *path, const char *name, const char *machine);
/* The timeline, in the format of Chrome's trace viewer. */
int  sim_look_trace(struct sim_look *l, const char *path, const char *name);
void sim_look_free(struct sim_look *l);
/* Writes svg and frees it; NULL: why there is none. */
int  sim_svg_save(const char *path, char *svg, const char *why);

#endif
