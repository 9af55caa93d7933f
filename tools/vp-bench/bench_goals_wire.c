/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_goals_wire.c - one value of a side on an interface of the kernel's: a graph there, or
 * the kernel itself, and the kernel's sockets at the other end.
 *
 * tools/peers/wire makes namespaces and devices, measures and says what others had of the two
 * processors meanwhile; it is root's.
 */
#include "tools/vp-bench/bench.h"
#include "tools/vp-bench/bench_goals.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_MS    250.0    /* the kernel counts idle time in hundredths of a second */
#define OTHERS_MOST 0.10     /* of the two processors */
#define SLACK_S     60.0

const char *goal_lacks_wire(struct goals *g, const struct goal_side *s)
{
	static char text[GOAL_TEXT];
	const char *argv[] = { goal_peer_path(g, PEER_WIRE), "lacks", s->peer_arg, NULL };
	char why[GOAL_TEXT] = "", *said;

	if (argv[0] == NULL)
		return goal_peer_hint(PEER_WIRE);
	setenv("VP_RUN", g->vp_run, 1);
	said = bench_child_text(argv, "", SLACK_S, &g->interrupted, why, sizeof why);
	snprintf(text, sizeof text, "%s", said ? said : why);
	text[strcspn(text, "\n")] = '\0';
	free(said);
	return *text != '\0' ? text : NULL;
}

static enum goal_fault wire_value(struct goals *g, const struct goal_side *s, const char *key, double *v, char *why)
{
	char ms[32], text[GOAL_TEXT - 64] = "";
	const char *argv[] = { goal_peer_path(g, PEER_WIRE), s->peer_arg, ms, NULL };
	double others;
	json_t *j;

	setenv("VP_RUN", g->vp_run, 1);
	snprintf(ms, sizeof ms, "%.0f", (double)g->time / 1e6 > LEAST_MS ? (double)g->time / 1e6 : LEAST_MS);
	j = bench_child_json(argv, 4 * (double)g->time / 1e9 + SLACK_S, &g->interrupted, text, sizeof text);
	*v = bench_number_of(j, key);
	others = bench_number_of(j, "others");
	json_decref(j);
	if (j == NULL)
		snprintf(why, GOAL_TEXT, "wire %s: %s", s->peer_arg, text);
	else if (others > OTHERS_MOST)
		snprintf(why, GOAL_TEXT, "other programs had %.0f %% of the two processors: the machine is busy", 100 * others);
	else if (!(*v > 0))
		snprintf(why, GOAL_TEXT, "wire %s: no %s in what it printed", s->peer_arg, key);
	else
		return SIDE_OK;
	return j == NULL ? SIDE_FAILED : SIDE_NOISE;
}

enum goal_fault side_wire_rate(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return wire_value(g, s, "rate", v, why);
}

enum goal_fault side_wire_cost(struct goals *g, const struct goal_side *s, double *v, char *why)
{
	return wire_value(g, s, "ns", v, why);
}
