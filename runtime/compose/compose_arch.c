/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_arch.c - threading: a preset called with changes, or a table of the
 * axes, to one struct xk_arch that the runtime can run.
 *
 * Values not written are the preset's (a plain table starts from vppc).
 * Whether a combination can work is asked of the runtime's own check.
 */
#include "runtime/compose/compose_priv.h"

#include <stdlib.h>
#include <string.h>

struct arch_conf {
	unsigned domain, entry, schedule, handover, lock, inbound, order, table, threads, spread;
	uint64_t vps, workers, carriers, burst, quantum, cpus, inbox, spin, seed, stack;
	bool     wired, hold;
	struct xk_plist map;
	uint64_t clusters, high, low;
	struct xk_plist layers;
};

const char *const xk_arch_domains[] = { "connections", "layers", "none", NULL };
const char *const xk_arch_entries[] = { "own", "lock", "thread", NULL };
static const char *const handovers[] = { "post", "enter", "try", NULL };
static const char *const locks[] = { "mutex", "adaptive", "spin", "ticket", "mcs", NULL };
static const char *const inbounds[] = { "device", "pool", NULL };
static const char *const orders[] = { "any", "arrival", NULL };
static const char *const tables[] = { "none", "rw", "mutex", "adaptive", "spin", "ticket", "mcs", NULL };
static const char *const thread_kinds[] = { "kernel", "user", NULL };
const char *const xk_arch_schedules[] = { "drr", "os", "virtual", "fifo", NULL };
static const char *const spreads[] = { "number", "hash", NULL };

const struct xk_param xk_arch_params[] = {
	{ .name = "domain", .type = XK_P_ENUM, .choices = xk_arch_domains, .doc = "what is mapped to a virtual processor",
	  .offset = offsetof(struct arch_conf, domain) },
	{ .name = "vps", .type = XK_P_UINT, .min = "1", .max = "8192",
	  .doc = "virtual processors; also \"per worker\"", .offset = offsetof(struct arch_conf, vps) },
	{ .name = "workers", .type = XK_P_UINT, .min = "1", .max = "1024",
	  .doc = "threads that run them; without it one per processor", .offset = offsetof(struct arch_conf, workers) },
	{ .name = "entry", .type = XK_P_ENUM, .choices = xk_arch_entries, .doc = "how a message gets into a virtual processor",
	  .offset = offsetof(struct arch_conf, entry) },
	{ .name = "handover", .type = XK_P_ENUM, .choices = handovers,
	  .doc = "what is done with messages of another virtual processor: left in its inbox, run there by who found them, "
		 "run there if nobody is inside and left there else",
	  .offset = offsetof(struct arch_conf, handover) },
	{ .name = "lock", .type = XK_P_ENUM, .choices = locks, .doc = "of each virtual processor, with entry = \"lock\"",
	  .offset = offsetof(struct arch_conf, lock) },
	{ .name = "carriers", .type = XK_P_UINT, .max = "64",
	  .doc = "threads that own the devices, each with a virtual processor that no connection is mapped to",
	  .offset = offsetof(struct arch_conf, carriers) },
	{ .name = "inbound", .type = XK_P_ENUM, .choices = inbounds,
	  .doc = "with domain = \"none\", who carries the frames of a device: its own carrier, or from one queue whichever is free",
	  .offset = offsetof(struct arch_conf, inbound) },
	{ .name = "order", .type = XK_P_ENUM, .choices = orders,
	  .doc = "of messages from the one queue at their connection's lock: any, or that in which they were taken",
	  .offset = offsetof(struct arch_conf, order) },
	{ .name = "table", .type = XK_P_ENUM, .choices = tables,
	  .doc = "with domain = \"none\", the lock on the table of connections; none: it is read without one",
	  .offset = offsetof(struct arch_conf, table) },
	{ .name = "hold", .type = XK_P_BOOL, .doc = "the table's lock is held while a connection's is waited for",
	  .offset = offsetof(struct arch_conf, hold) },
	{ .name = "schedule", .type = XK_P_ENUM, .choices = xk_arch_schedules,
	  .doc = "who chooses the next virtual processor: deficit round robin, the operating system, a simulated clock, "
		 "one queue that workers share",
	  .offset = offsetof(struct arch_conf, schedule) },
	{ .name = "spread", .type = XK_P_ENUM, .choices = spreads,
	  .doc = "which virtual processor a connection lives on: its number's, or the one of the hash of its two ends",
	  .offset = offsetof(struct arch_conf, spread) },
	{ .name = "burst", .type = XK_P_UINT, .min = "1", .max = "1024", .doc = "messages in one unit of work",
	  .offset = offsetof(struct arch_conf, burst) },
	{ .name = "quantum", .type = XK_P_UINT, .min = "1", .max = "1048576",
	  .doc = "messages a virtual processor may run before the next one's turn",
	  .offset = offsetof(struct arch_conf, quantum) },
	{ .name = "wired", .type = XK_P_BOOL, .doc = "workers are pinned to processors",
	  .offset = offsetof(struct arch_conf, wired) },
	{ .name = "cpus", .type = XK_P_CPUS, .doc = "processors allowed; without it all",
	  .offset = offsetof(struct arch_conf, cpus) },
	{ .name = "inbox", .type = XK_P_UINT, .min = "1", .max = "16777216",
	  .doc = "messages that may wait for one virtual processor", .offset = offsetof(struct arch_conf, inbox) },
	{ .name = "spin", .type = XK_P_TIME, .max = "1s", .doc = "look for work this long before sleeping",
	  .offset = offsetof(struct arch_conf, spin) },
	{ .name = "seed", .type = XK_P_UINT, .doc = "of the schedule's own choices; without it the graph's",
	  .offset = offsetof(struct arch_conf, seed) },
	{ .name = "threads", .type = XK_P_ENUM, .choices = thread_kinds,
	  .doc = "whose stack a connection's work runs on: the kernel thread's that runs its virtual processor, or one of "
		 "its own, a user-level thread", .offset = offsetof(struct arch_conf, threads) },
	{ .name = "stack", .type = XK_P_SIZE, .min = "8KiB", .max = "16MiB",
	  .doc = "of each user-level thread; without it what this build needs", .offset = offsetof(struct arch_conf, stack) },
	{ .name = "map", .type = XK_P_LIST, .elem = XK_P_UINT,
	  .doc = "virtual processor (from 1) of connection 1, 2, ...; repeated; without it round robin",
	  .offset = offsetof(struct arch_conf, map) },
	{ .name = "clusters", .type = XK_P_UINT, .min = "1", .max = "8192",
	  .doc = "domain \"layers\": sets of layers with threads of their own; connections are spread over them",
	  .offset = offsetof(struct arch_conf, clusters) },
	{ .name = "layers", .type = XK_P_LIST, .elem = XK_P_TEXT,
	  .doc = "domain \"layers\": for each layer, from the device up, the names of its nodes, separated by a space; "
		 "without it device and links, network, transport, all above",
	  .offset = offsetof(struct arch_conf, layers) },
	{ .name = "high", .type = XK_P_UINT, .min = "1", .max = "65536",
	  .doc = "domain \"layers\": a layer stops when so many messages wait in a queue that it fills",
	  .offset = offsetof(struct arch_conf, high) },
	{ .name = "low", .type = XK_P_UINT, .max = "65535",
	  .doc = "domain \"layers\": and goes on when no more than these are left; without it a quarter of high",
	  .offset = offsetof(struct arch_conf, low) },
	XK_PARAM_END
};

/* Where the table stands: in the call of a preset, or under threading of graph. */
struct where {
	struct spec_place at;
	const char       *callee, *who;
	struct scan_step  prefix;
	unsigned          nprefix;
	const struct xk_value *tab;
};

static void where_error(const struct xk_spec *s, struct xk_errs *e, const struct where *w, const char *key,
			const char *text)
{
	struct scan_step step[2] = { w->prefix };
	unsigned n = w->nprefix;

	if (key != NULL && xk_value_get(w->tab, key) != NULL)
		step[n++] = (struct scan_step){ .name = key };
	spec_error(s, e, w->at, w->callee, step, n, "%s: %s", w->who, text);
}

static void conf_from_arch(struct arch_conf *c, const struct xk_arch *a)
{
	*c = (struct arch_conf){
		.domain = a->domain, .entry = a->entry, .schedule = a->schedule, .handover = a->handover, .spread = a->spread,
		.vps = a->vps > 0 ? (uint64_t)a->vps : 0, .workers = a->workers, .burst = a->burst,
		.quantum = a->quantum, .cpus = a->cpus, .inbox = a->inbox, .wired = a->wired,
		.spin = a->spin_us * XK_US, .seed = a->seed, .carriers = a->carriers, .hold = a->hold,
		.inbound = a->inbound, .order = a->order, .threads = a->threads, .stack = a->stack,
		.clusters = a->domain == XK_DOMAIN_LAYER ? (uint64_t)a->vps : 0, .high = a->high, .low = a->low,
	};
}

/* What only message parallelism has goes with it, unless it is said. */
static void carriers_from_conf(struct xk_arch *a, const struct arch_conf *c, const struct xk_value *tab)
{
	bool was = a->domain == XK_DOMAIN_NONE, is = c->domain == XK_DOMAIN_NONE;

	a->carriers = (unsigned)c->carriers;
	a->inbound = (enum xk_inbound)c->inbound;
	a->order = (enum xk_order)c->order;
	a->hold = c->hold;
	if (xk_value_get(tab, "table") != NULL)
		a->table = c->table != 0 ? xk_lock_find(tables[c->table]) : NULL;
	if (a->table == NULL && xk_value_get(tab, "hold") == NULL)
		a->hold = false;
	if (was && !is && xk_value_get(tab, "table") == NULL)
		a->table = NULL;
	if (was && !is && xk_value_get(tab, "hold") == NULL)
		a->hold = false;
	if (was && !is && xk_value_get(tab, "inbound") == NULL)
		a->inbound = XK_INBOUND_DEVICE;
	if (a->inbound == XK_INBOUND_DEVICE && xk_value_get(tab, "order") == NULL)
		a->order = XK_ORDER_ANY;
}

/* Where user-level threads are asked for, what a preset says of kernel threads of connections,
 * and of locks between them, does not hold: what is not written is as for few workers. */
static void user_threads(struct xk_arch *a, const struct xk_value *tab)
{
	if (xk_value_get(tab, "entry") == NULL)
		a->entry = XK_ENTRY_OWN;
	if (xk_value_get(tab, "schedule") == NULL && a->schedule == XK_SCHED_OS) {
		a->schedule = XK_SCHED_DRR;
		a->wired = true;
	}
	if (xk_value_get(tab, "vps") == NULL && a->vps == XK_VPS_PER_CONN)
		a->vps = XK_VPS_PER_WORKER;
}

static void arch_from_conf(struct xk_arch *a, const struct arch_conf *c, const struct xk_value *tab)
{
	carriers_from_conf(a, c, tab);
	a->domain = (enum xk_domain)c->domain;
	a->entry = (enum xk_entry)c->entry;
	a->schedule = (enum xk_schedule)c->schedule;
	a->handover = (enum xk_handover)c->handover;
	a->spread = (enum xk_spread)c->spread;
	a->threads = (enum xk_threads)c->threads;
	a->stack = c->stack;
	a->wired = c->wired;
	if (a->threads == XK_THREADS_USER)
		user_threads(a, tab);
	if (xk_value_get(tab, "lock") != NULL)
		a->lock = xk_lock_find(locks[c->lock]);
	/* A preset that is made to take no locks has no use for its own. */
	if (a->entry != XK_ENTRY_LOCK && xk_value_get(tab, "lock") == NULL)
		a->lock = NULL;
	if (a->entry != XK_ENTRY_LOCK && xk_value_get(tab, "handover") == NULL)
		a->handover = XK_HANDOVER_POST;
	if (c->vps != 0)
		a->vps = (int)c->vps;
	a->workers = (unsigned)c->workers;
	/* One worker per VP is what a preset of few VPs means, unless it is said. */
	if (xk_value_get(tab, "workers") == NULL && c->vps != 0 && a->workers > c->vps)
		a->workers = (unsigned)c->vps;
	a->burst = (unsigned)c->burst;
	a->quantum = (unsigned)c->quantum;
	a->cpus = c->cpus;
	a->inbox = (uint32_t)c->inbox;
	a->spin_us = (uint32_t)(c->spin / XK_US);
	a->seed = c->seed;
}

/* What the domain `layers` has of its own. */
static void layers_from_conf(struct xk_arch *a, const struct arch_conf *c, const struct xk_value *tab)
{
	if (a->domain != XK_DOMAIN_LAYER)
		return;
	a->vps = c->clusters != 0 ? (int)c->clusters : 1;
	a->layers = c->layers.n != 0 ? c->layers.n : a->layers != 0 ? a->layers : 4;
	a->high = c->high != 0 ? (uint32_t)c->high : 256;
	a->low = xk_value_get(tab, "low") != NULL ? (uint32_t)c->low : a->high / 4;
}

/* Words that say nothing in the other domains, and vps, which says nothing in this one. */
static const char *misplaced(const struct xk_arch *a, const struct xk_value *tab, const char **text)
{
	static const char *const words[] = { "clusters", "layers", "high", "low" };

	if (a->domain == XK_DOMAIN_LAYER) {
		*text = "domain \"layers\" has a virtual processor for each layer and cluster: say clusters, not vps";
		return xk_value_get(tab, "vps") != NULL ? "vps" : NULL;
	}
	*text = "needs the domain \"layers\": lp { ... }";
	for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
		if (xk_value_get(tab, words[i]) != NULL)
			return words[i];
	return NULL;
}

static void take_layers(struct xk_spec *s, struct xk_errs *e, const struct arch_conf *c)
{
	if (c->layers.n == 0)
		return;
	s->plan.layers = arena_get(&s->arena, c->layers.n * sizeof *s->plan.layers);
	for (unsigned i = 0; s->plan.layers != NULL && i < c->layers.n; i++)
		s->plan.layers[i] = arena_text(&s->arena, c->layers.v[i].text, strlen(c->layers.v[i].text));
	if (s->plan.layers == NULL)
		xk_errs_add(e, NULL, 0, 0, "out of memory");
	else
		s->plan.nlayers = c->layers.n;
}

/* The choices of the enums above are in the order of the runtime's. */
_Static_assert(XK_DOMAIN_CONN == 0 && XK_DOMAIN_LAYER == 1 && XK_DOMAIN_NONE == 2, "order of domains");
_Static_assert(XK_ENTRY_OWN == 0 && XK_ENTRY_LOCK == 1 && XK_ENTRY_THREAD == 2, "order of entries");
_Static_assert(XK_HANDOVER_POST == 0 && XK_HANDOVER_ENTER == 1 && XK_HANDOVER_TRY == 2, "order of handovers");
_Static_assert(XK_INBOUND_DEVICE == 0 && XK_INBOUND_POOL == 1, "order of inbounds");
_Static_assert(XK_ORDER_ANY == 0 && XK_ORDER_ARRIVAL == 1, "order of orders");
_Static_assert(XK_THREADS_KERNEL == 0 && XK_THREADS_USER == 1, "order of thread kinds");
_Static_assert(XK_SCHED_DRR == 0 && XK_SCHED_OS == 1 && XK_SCHED_VIRTUAL == 2 && XK_SCHED_FIFO == 3,
	       "order of schedules");
_Static_assert(XK_SPREAD_NUMBER == 0 && XK_SPREAD_HASH == 1, "order of spreads");

static void take_map(struct xk_spec *s, struct xk_errs *e, const struct where *w, const struct arch_conf *c,
		     const struct xk_arch *a)
{
	char text[200];

	if (c->map.n == 0)
		return;
	s->plan.conn_map = arena_get(&s->arena, c->map.n * sizeof *s->plan.conn_map);
	if (s->plan.conn_map == NULL) {
		xk_errs_add(e, NULL, 0, 0, "out of memory");
		return;
	}
	for (unsigned i = 0; i < c->map.n; i++) {
		uint64_t vp = c->map.v[i].u;

		if (vp == 0 || (a->vps > 0 && vp > (uint64_t)a->vps) || vp > XK_VP_MAX) {
			snprintf(text, sizeof text, "parameter 'map' has a number %u that names virtual processor %llu: "
				 "there are 1 to %d", i + 1, (unsigned long long)vp, a->vps > 0 ? a->vps : (int)XK_VP_MAX);
			where_error(s, e, w, "map", text);
			return;
		}
		s->plan.conn_map[i] = (uint16_t)(vp - 1);
	}
	s->plan.nconn_map = c->map.n;
}

/* vps = "per worker", "per connection": words where a number stands else. */
static const struct { int vps; const char *word; } vps_words[] = {
	{ XK_VPS_PER_WORKER, "per worker" }, { XK_VPS_PER_CONN, "per connection" },
};

const char *xk_arch_vps_word(int vps)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(vps_words); i++)
		if (vps_words[i].vps == vps)
			return vps_words[i].word;
	return NULL;
}

static bool take_vps_word(struct xk_arch *a, const struct xk_value *tab)
{
	const struct xk_value *v = xk_value_get(tab, "vps");

	for (unsigned i = 0; v != NULL && v->kind == XK_V_TEXT && i < XK_ARRAY_LEN(vps_words); i++)
		if (strcmp(v->text, vps_words[i].word) == 0) {
			a->vps = vps_words[i].vps;
			return true;
		}
	return false;
}

static void check_whole(struct xk_spec *s, struct xk_errs *e, const struct where *w, struct xk_arch *a)
{
	const struct xk_value *sched = xk_value_get(w->tab, "schedule");
	char why[256];

	if (s->plan.is_virtual && sched != NULL && a->schedule != XK_SCHED_VIRTUAL) {
		where_error(s, e, w, "schedule", "clock = \"virtual\" needs schedule = \"virtual\"");
		return;
	}
	if (s->plan.is_virtual)
		a->schedule = XK_SCHED_VIRTUAL;
	else if (a->schedule == XK_SCHED_VIRTUAL)
		s->plan.is_virtual = true;
	if (a->vps == XK_VPS_PER_CONN)
		where_error(s, e, w, "vps", "makes a virtual processor per connection: say how many with vps");
	else if (xk_arch_check(a, why, sizeof why) != XK_OK)
		where_error(s, e, w, NULL, why);
}

static void read_axes(struct xk_spec *s, struct xk_errs *e, const struct where *w, const struct xk_arch *base)
{
	static const char *const vps[] = { "vps", NULL };
	struct check_table c = { .s = s, .e = e, .at = w->at, .callee = w->callee, .who = w->who,
				 .prefix = &w->prefix, .nprefix = w->nprefix, .schema = xk_arch_params };
	struct xk_arch *a = &s->plan.arch;
	unsigned before = xk_errs_count(e);
	const char *wrong, *text;
	struct arch_conf conf;

	*a = *base;
	conf_from_arch(&conf, base);
	if (take_vps_word(a, w->tab)) {
		c.skip = vps;
		conf.vps = 0;
	}
	check_table(&c, w->tab, &conf);
	arch_from_conf(a, &conf, w->tab);
	layers_from_conf(a, &conf, w->tab);
	if (xk_errs_count(e) == before && (wrong = misplaced(a, w->tab, &text)) != NULL)
		where_error(s, e, w, wrong, text);
	if (xk_errs_count(e) == before)
		check_whole(s, e, w, a);
	if (xk_errs_count(e) == before)
		take_map(s, e, w, &conf, a);
	if (xk_errs_count(e) == before)
		take_layers(s, e, &conf);
	xk_param_release(xk_arch_params, &conf);
}

void check_threading(struct xk_spec *s, const struct spec_top *t, struct xk_errs *e)
{
	static const struct xk_value empty = { .kind = XK_V_LIST };
	const struct xk_value *v = xk_value_get(&t->tab, "threading");
	const struct xk_arch *base = xk_arch_find("vppc");
	struct xk_arch own;
	struct where w = { .at = t->at, .callee = "graph", .who = "threading", .nprefix = 1,
			   .prefix = { .name = "threading" }, .tab = &empty };
	char text[200], got[80];

	xk_assert(base != NULL);
	if (v != NULL && v->kind == XK_V_ARCH) {
		const struct spec_arch *a = &s->arch[v->ref];

		w = (struct where){ .at = a->at, .callee = a->preset->name, .who = a->preset->name, .tab = &a->tab };
		base = a->preset;
	} else if (v != NULL && (v->kind == XK_V_MAP || v->kind == XK_V_LIST)) {
		w.tab = v;
		own = *base;
		own.name = "custom";
		base = &own;
	} else if (v != NULL && v->kind != XK_V_POISON) {
		snprintf(text, sizeof text, "needs a preset like vppc { vps = 16 } or a table of axes, got %s",
			 spec_describe(v, got, sizeof got));
		where_error(s, e, &w, NULL, text);
	}
	read_axes(s, e, &w, base);
}

int xk_plan_check(const struct xk_plan *p, struct xk_errs *e)
{
	char why[256];

	if (xk_arch_check(&p->arch, why, sizeof why) == XK_OK)
		return XK_OK;
	xk_errs_add(e, NULL, 0, 0, "threading: %s", why);
	return XK_E_INVAL;
}
