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

#endif
