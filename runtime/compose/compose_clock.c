/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_clock.c - clock = virtual { processors = ..., machine = ... }: what a graph file says of
 * processors that are simulated.
 *
 * The machine is a name here: who runs the graph reads it (xk_ledger.h), and a graph whose machine nobody
 * has read is not built.
 */
#include "runtime/compose/compose_priv.h"
#include "runtime/compose/xk_ledger.h"

const struct xk_param check_clock_params[] = {
	{ .name = "processors", .type = XK_P_UINT, .min = "1", .max = "1024",
	  .doc = "that are simulated, each with a clock of its own", .offset = offsetof(struct graph_conf, processors) },
	{ .name = "machine", .type = XK_P_TEXT, .doc = "what things cost on them: of graphs/machines, or a file",
	  .flags = XK_PF_HOST, .offset = offsetof(struct graph_conf, machine) },
	XK_PARAM_END
};

void check_clock(struct xk_spec *s, const struct spec_top *t, const struct xk_value *clock, struct graph_conf *g,
		 struct xk_errs *e)
{
	struct scan_step step = { .name = "clock" };
	struct check_table c = { .s = s, .e = e, .at = t->at, .callee = "graph", .who = "clock", .prefix = &step,
				 .nprefix = 1, .schema = check_clock_params };

	check_table(&c, clock, g);
	g->clock = 1;
	if (xk_value_get(clock, "processors") == NULL)
		spec_error(s, e, t->at, "graph", &step, 1, "clock: parameter 'processors' is needed: how many are simulated?");
}

unsigned xk_spec_clock_processors(const struct xk_spec *s)
{
	const struct graph_conf *c = s->graph_conf;

	return c != NULL ? (unsigned)c->processors : 0;
}

const char *xk_spec_clock_machine(const struct xk_spec *s)
{
	const struct graph_conf *c = s->graph_conf;

	return c != NULL ? c->machine : NULL;
}

void xk_spec_clock_error(const struct xk_spec *s, struct xk_errs *e, const char *text)
{
	const struct scan_step step[] = { { .name = "clock" }, { .name = "machine" } };

	xk_assert(s->graph >= 0);
	spec_error(s, e, s->top[s->graph].at, "graph", step, 2, "clock: %s", text);
}
