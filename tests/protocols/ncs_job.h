/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_job.h - a job of several processes in one graph, for tests of programs over ncs.
 *
 * Process i is the node "p<i>", at 10.0.0.<i + 1>, with a cable to each other one; "n<i>" is its ncs, with
 * three paths: selective_repeat over credit, window, and its udp, "u<i>".
 */
#ifndef NCS_JOB_H
#define NCS_JOB_H

#include "protocols/ncs/xk_ncs.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB_MOST 9u 
#ifndef JOB_PATHS                        /* more of them */
#define JOB_PATHS ""
#endif
#ifndef JOB_SIZES                        /* of each ncs */
#define JOB_SIZES "message = '1MiB', queue = '4MiB'"
#endif

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; uint64_t live; } job;
static struct xk_node *proc[JOB_MOST];
static struct xk_ncs_thread *thr[JOB_MOST];      /* number 0 of each */

static const char job_text[] =
	"local N, P, F = %u, { %s }, { %s }\n"
	"local ranks = {}\n"
	"for i = 1, N do ranks[i] = '10.0.0.' .. i end\n"
	"local function mac(i, j) return string.format('02:00:00:00:%%02x:%%02x', i, j) end\n"
	"local function link(i, j)\n"
	"  local f = { name = 'f' .. i - 1 .. j - 1, over = eth_mem { wire = math.min(i, j) .. '-' .. math.max(i, j),\n"
	"    mac = mac(i, j), queue = 65536 } }\n"
	"  for k, v in pairs(F) do f[k] = v end\n"
	"  return arp { neighbours = { [ranks[j]] = mac(j, i) }, over = eth { over = impair(f) } }\n"
	"end\n"
	"for i = 1, N do\n"
	"  local links, ways, below = {}, {}\n"
	"  for j = 1, N do if j ~= i then links[#links + 1] = link(i, j); ways[ranks[j] .. '/32'] = #links end end\n"
	"  below = N > 2 and vnet { links = ways, over = links } or links[1]\n"
	"  local net = udp { name = 'u' .. i - 1, over = ip { addr = ranks[i] .. '/24', over = below } }\n"
	"  local n = ncs { name = 'n' .. i - 1, sdu = 1000, " JOB_SIZES ", over = {\n"
	"    selective_repeat { name = 'sure' .. i, over = credit { over = net } }, window { name = 'quick' .. i, over = net },\n"
	JOB_PATHS " net } }\n"
	"  local p = { name = 'p' .. i - 1, rank = i - 1, ranks = ranks, over = n }\n"
	"  for k, v in pairs(P) do p[k] = v end\n"
	"  process(p)\n"
	"end\n"
	"return graph 'job' { %s }\n";

/* params: of each process; faults: of each line; fields: of the graph. */
static inline void job_up(unsigned n, const char *params, const char *faults, const char *fields)
{
	struct xk_compose_opts o = { .path = NULL };
	char text[8192], name[16];
	int len = snprintf(text, sizeof text, job_text, n, params, faults, fields);

	job.live = xk_alloc_live();
	job.e = xk_errs_new();
	if (xk_spec_load_text(&job.s, "job.lua", text, (size_t)len, &o, job.e) != XK_OK ||
	    xk_spec_check(job.s, job.e, NULL) != XK_OK || xk_spec_build(job.s, &job.g, job.e) != XK_OK ||
	    xk_graph_up(job.g, job.e) != XK_OK)
		xk_spec_print_errors(stdout, job.s, job.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(job.e), 0);
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof name, "p%u", i);
		proc[i] = xk_graph_find(job.g, name);
		CU_ASSERT_EQUAL_FATAL(xk_ncs_attach(proc[i], 0, &thr[i]), XK_OK);
	}
}

static inline void job_virtual(unsigned n, const char *params, const char *faults)
{
	job_up(n, params, faults, "threading = vppc { vps = 3 }, clock = 'virtual'");
}

static inline void job_down(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (thr[i] != NULL)
			xk_ncs_detach(thr[i]);
	for (unsigned i = 0; i < n; i++)
		xk_ncs_stop(proc[i]);
	xk_test_unbuild(job.s, job.g, job.e, job.live);
}

static inline void job_run(xk_ns dt)
{
	xk_vpset_run_virtual(job.g->vps, xk_clock_read(&job.g->vps->clock) + dt);
}

static inline uint64_t job_count(const char *node, const char *name)
{
	struct xk_node *n = xk_graph_find(job.g, node);
	uint64_t sum = 0;

	for (unsigned v = 0; v < job.g->vps->nvps; v++) {
		for (unsigned i = 0; n->proto->counts[i] != NULL; i++)
			if (strcmp(n->proto->counts[i], name) == 0)
				sum += xk_counter_read(n->rep[v]->count[i]);
		for (unsigned i = 0; n->proto->drops[i] != NULL; i++)
			if (strcmp(n->proto->drops[i], name) == 0)
				sum += xk_counter_read(n->rep[v]->drop[XK_DROP_FIRST + i]);
	}
	return sum;
}

#endif
