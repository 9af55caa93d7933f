/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run_simulated.c - what a result says of simulated processors: the machine, each of its costs with
 * the source, and how busy the processors and their bus were.
 */
#include "runtime/run/run_priv.h"

#include <jansson.h>

#include "runtime/vp/xk_machine.h"

/* Shares of the time since the start; false: processors are not simulated. */
bool xk_run_busy(const struct xk_run_result *r, struct xk_run_busy *out)
{
	const struct xk_vpset *set = r->graph->vps;
	double now = (double)xk_clock_read(&set->clock);

	*out = (struct xk_run_busy){ .least = 1 };
	if (set->sim == NULL || now <= 0)
		return false;
	out->processors = set->arch.processors;
	out->machine = set->arch.machine;
	out->bus = (double)xk_vpset_bus_busy(set) / now;
	for (unsigned i = 0; i < out->processors; i++) {
		struct xk_sim_stats s;
		double share;

		xk_vpset_simulated(set, i, &s);
		share = (double)s.busy / now;
		out->mean += share / out->processors;
		out->least = share < out->least ? share : out->least;
		out->most = share > out->most ? share : out->most;
		out->switches += s.switches;
	}
	return true;
}

json_t *run_simulated_json(const struct xk_run_result *r)
{
	json_t *j = json_object(), *costs = json_object();
	struct xk_run_busy b;

	if (!xk_run_busy(r, &b)) {
		json_decref(costs);
		json_decref(j);
		return json_null();
	}
	json_object_set_new(j, "name", json_string(b.machine->name));
	json_object_set_new(j, "processors", json_integer((json_int_t)b.processors));
	json_object_set_new(j, "busy", json_real(b.mean));
	json_object_set_new(j, "busy_least", json_real(b.least));
	json_object_set_new(j, "busy_most", json_real(b.most));
	json_object_set_new(j, "bus_busy", json_real(b.bus));
	json_object_set_new(j, "switches", json_integer((json_int_t)b.switches));
	for (unsigned i = 0; i < b.machine->nvalues; i++) {
		json_t *v = json_object();

		if (b.machine->value[i].text != NULL)
			json_object_set_new(v, "word", json_string(b.machine->value[i].text));
		else
			json_object_set_new(v, b.machine->value[i].bare ? "number" : "us", json_real(b.machine->value[i].value));
		json_object_set_new(v, "source", json_string(b.machine->value[i].source));
		json_object_set_new(costs, b.machine->value[i].key, v);
	}
	json_object_set_new(j, "costs", costs);
	return j;
}
