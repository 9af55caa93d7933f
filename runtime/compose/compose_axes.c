/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_axes.c - the axes of a threading table: their schema, and what follows from
 * what was said.
 *
 * What a table does not say is its preset's, but where that would contradict what it
 * does say: a preset that is made to take no locks has no use for its own, and what
 * only message parallelism has goes with it.  Whether it can run: compose_axes_fault.c.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_arch.h"

#include <string.h>

#define CONNS_UNSAID 16u         /* "per connection" where no node says how many */
#define CONNS_MOST   1024u       /* more threads than this are asked for by their number */
#define BACKGROUND_DATA (4ull << 20)   /* more than the cache that a processor has for itself */
#define BACKGROUND_CODE (32ull << 10)
#define LOCKS_LEAST  128u        /* "per connection" where it is locks, not threads */

const char *const xk_arch_domains[] = { "connections", "layers", "none", NULL };
const char *const xk_arch_entries[] = { "own", "lock", "thread", NULL };
static const char *const handovers[] = { "post", "enter", "try", NULL };
static const char *const waiters[] = { "sleep", "run", NULL };
static const char *const locks[] = { "mutex", "adaptive", "spin", "ticket", "mcs", NULL };
static const char *const inbounds[] = { "device", "pool", NULL };
static const char *const orders[] = { "any", "arrival", NULL };
static const char *const datagrams[] = { "owned", "anywhere", NULL };
static const char *const tables[] = { "none", "rw", "mutex", "adaptive", "spin", "ticket", "mcs", NULL };
static const char *const object_locks[] = { "connection", "layer", NULL };
static const char *const affinities[] = { "any", "code", "stream", "none", NULL };
static const char *const picks[] = { "mru", "lru", "low", "random", NULL };
static const char *const queues[] = { "one", "processor", NULL };
static const char *const freelists[] = { "vp", "processor", "global", NULL };
static const char *const stackpools[] = { "none", "processor", "global", NULL };
static const char *const thread_kinds[] = { "kernel", "user", NULL };
const char *const xk_arch_schedules[] = { "drr", "os", "virtual", "fifo", NULL };
static const char *const spreads[] = { "number", "hash", NULL };

const struct xk_param xk_arch_params[] = {
	[AX_DOMAIN] = { .name = "domain", .type = XK_P_ENUM, .choices = xk_arch_domains, .doc = "what is mapped to a virtual processor",
	  .offset = offsetof(struct arch_conf, domain) },
	[AX_VPS] = { .name = "vps", .type = XK_P_UINT, .min = "1", .max = "8192",
	  .doc = "virtual processors; also \"per worker\", \"per connection\"", .offset = offsetof(struct arch_conf, vps) },
	[AX_WORKERS] = { .name = "workers", .type = XK_P_UINT, .min = "1", .max = "1024",
	  .doc = "threads that run them; without it one per processor", .offset = offsetof(struct arch_conf, workers) },
	[AX_ENTRY] = { .name = "entry", .type = XK_P_ENUM, .choices = xk_arch_entries, .doc = "how a message gets into a virtual processor",
	  .offset = offsetof(struct arch_conf, entry) },
	[AX_HANDOVER] = { .name = "handover", .type = XK_P_ENUM, .choices = handovers,
	  .doc = "what is done with messages of another virtual processor: left in its inbox, run there by who found them, "
		 "run there if nobody is inside and left there else",
	  .offset = offsetof(struct arch_conf, handover) },
	[AX_WAITERS] = { .name = "waiters", .type = XK_P_ENUM, .choices = waiters,
	  .doc = "what a program's thread does that waits in a call, with entry = \"lock\": sleeps, or runs the virtual processor "
		 "that it waits for, and sleeps when that has had nothing to do for `spin`",
	  .offset = offsetof(struct arch_conf, waiters) },
	[AX_LOCK] = { .name = "lock", .type = XK_P_ENUM, .choices = locks, .doc = "of each virtual processor, with entry = \"lock\"",
	  .offset = offsetof(struct arch_conf, lock) },
	[AX_IO_THREADS] = { .name = "io_threads", .type = XK_P_UINT, .max = "64",
	  .doc = "threads that own the devices, each with a virtual processor that no connection is mapped to",
	  .offset = offsetof(struct arch_conf, io_threads) },
	[AX_INBOUND] = { .name = "inbound", .type = XK_P_ENUM, .choices = inbounds,
	  .doc = "with domain = \"none\", who carries the frames of a device: its own I/O thread, or from one queue whichever is free",
	  .offset = offsetof(struct arch_conf, inbound) },
	[AX_ORDER] = { .name = "order", .type = XK_P_ENUM, .choices = orders,
	  .doc = "of messages from the one queue at their connection's lock: any, or that in which they were taken",
	  .offset = offsetof(struct arch_conf, order) },
	[AX_DATAGRAMS] = { .name = "datagrams", .type = XK_P_ENUM, .choices = datagrams,
	  .doc = "with domain = \"none\", datagrams of peers that nobody opened a connection to: of one virtual processor like "
		 "a connection's messages, or run by whichever I/O thread has them, without a lock and in no order",
	  .offset = offsetof(struct arch_conf, datagrams) },
	[AX_TABLE] = { .name = "table", .type = XK_P_ENUM, .choices = tables,
	  .doc = "with domain = \"none\", the lock on the table of connections; none: it is read without one",
	  .offset = offsetof(struct arch_conf, table) },
	[AX_OBJECT_LOCKS] = { .name = "object_locks", .type = XK_P_ENUM, .choices = object_locks,
	  .doc = "with domain = \"none\", what is locked: the table and each connection, or each layer's map and each of its sessions",
	  .offset = offsetof(struct arch_conf, object_locks) },
	[AX_HOLD] = { .name = "hold", .type = XK_P_BOOL, .doc = "the table's lock is held while a connection's is waited for",
	  .offset = offsetof(struct arch_conf, hold) },
	[AX_SCHEDULE] = { .name = "schedule", .type = XK_P_ENUM, .choices = xk_arch_schedules,
	  .doc = "who chooses the next virtual processor: deficit round robin, the operating system, a simulated clock, "
		 "one queue that workers share",
	  .offset = offsetof(struct arch_conf, schedule) },
	[AX_SPREAD] = { .name = "spread", .type = XK_P_ENUM, .choices = spreads,
	  .doc = "which virtual processor a connection lives on: its number's, or the one of the hash of its two ends",
	  .offset = offsetof(struct arch_conf, spread) },
	[AX_BURST] = { .name = "burst", .type = XK_P_UINT, .min = "1", .max = "1024", .doc = "messages in one unit of work",
	  .offset = offsetof(struct arch_conf, burst) },
	[AX_QUANTUM] = { .name = "quantum", .type = XK_P_UINT, .min = "0", .max = "1048576",
	  .doc = "messages a virtual processor may run before the next one's turn; with schedule \"fifo\" 0: until it has no more",
	  .offset = offsetof(struct arch_conf, quantum) },
	[AX_WIRED] = { .name = "wired", .type = XK_P_BOOL, .doc = "workers are pinned to processors",
	  .offset = offsetof(struct arch_conf, wired) },
	[AX_CPUS] = { .name = "cpus", .type = XK_P_CPUS, .doc = "processors allowed; without it all",
	  .offset = offsetof(struct arch_conf, cpus) },
	[AX_INBOX] = { .name = "inbox", .type = XK_P_UINT, .min = "1", .max = "16777216",
	  .doc = "messages that may wait for one virtual processor", .offset = offsetof(struct arch_conf, inbox) },
	[AX_SPIN] = { .name = "spin", .type = XK_P_TIME, .max = "1s", .doc = "look for work this long before sleeping",
	  .offset = offsetof(struct arch_conf, spin) },
	[AX_SEED] = { .name = "seed", .type = XK_P_UINT, .doc = "of the schedule's own choices; without it the graph's",
	  .offset = offsetof(struct arch_conf, seed) },
	[AX_THREADS] = { .name = "threads", .type = XK_P_ENUM, .choices = thread_kinds,
	  .doc = "whose stack a connection's work runs on: the kernel thread's that runs its virtual processor, or one of "
		 "its own, a user-level thread", .offset = offsetof(struct arch_conf, threads) },
	[AX_STACK] = { .name = "stack", .type = XK_P_SIZE, .min = "8KiB", .max = "16MiB",
	  .doc = "of each user-level thread, or of each stack of a pool (`stacks`); without it what this build needs", .offset = offsetof(struct arch_conf, stack) },
	[AX_MAP] = { .name = "map", .type = XK_P_LIST, .elem = XK_P_UINT,
	  .doc = "virtual processor (from 1) of connection 1, 2, ...; repeated; without it round robin",
	  .offset = offsetof(struct arch_conf, map) },
	[AX_PIPELINES] = { .name = "pipelines", .type = XK_P_UINT, .min = "1", .max = "8192",
	  .doc = "domain \"layers\": sets of layers with threads of their own; connections are spread over them",
	  .offset = offsetof(struct arch_conf, pipelines) },
	[AX_LAYERS] = { .name = "layers", .type = XK_P_LIST, .elem = XK_P_TEXT,
	  .doc = "domain \"layers\": for each layer, from the device up, the names of its nodes, separated by a space; "
		 "without it device and links, network, transport, all above",
	  .offset = offsetof(struct arch_conf, layers) },
	[AX_HIGH] = { .name = "high", .type = XK_P_UINT, .min = "1", .max = "65536",
	  .doc = "domain \"layers\": a layer stops when so many messages wait in a queue that it fills",
	  .offset = offsetof(struct arch_conf, high) },
	[AX_LOW] = { .name = "low", .type = XK_P_UINT, .max = "65535",
	  .doc = "domain \"layers\": and goes on when no more than these are left; without it a quarter of high",
	  .offset = offsetof(struct arch_conf, low) },
	[AX_LOCK_TIMES] = { .name = "lock_times", .type = XK_P_BOOL,
	  .doc = "the time locks are waited for and held is measured, by samples", .offset = offsetof(struct arch_conf, lock_times) },
	[AX_AFFINITY] = { .name = "affinity", .type = XK_P_ENUM, .choices = affinities,
	  .doc = "which worker runs a virtual processor (schedule \"fifo\"), or which I/O thread starts (inbound \"pool\"): any, who "
		 "looks first; code, the idle one that ran protocol code last; stream, always the same; none, the one idle longest",
	  .offset = offsetof(struct arch_conf, affinity) },
	[AX_PICK] = { .name = "pick", .type = XK_P_ENUM, .choices = picks,
	  .doc = "of the idle workers the one that starts: most or least recently used, lowest, random; without it the affinity's",
	  .offset = offsetof(struct arch_conf, pick) },
	[AX_QUEUE] = { .name = "queue", .type = XK_P_ENUM, .choices = queues,
	  .doc = "virtual processors with work wait in one queue, or in one of each worker; without it the affinity's",
	  .offset = offsetof(struct arch_conf, queue) },
	[AX_STEAL] = { .name = "steal", .type = XK_P_BOOL,
	  .doc = "queue \"processor\": a worker with nothing of its own takes what waits for others, at once",
	  .offset = offsetof(struct arch_conf, steal) },
	[AX_DEPTH] = { .name = "depth", .type = XK_P_UINT, .min = "1", .max = "8192",
	  .doc = "queue \"processor\": others take from a queue when more than so many wait in it; without it never",
	  .offset = offsetof(struct arch_conf, depth) },
	[AX_FREELIST] = { .name = "freelist", .type = XK_P_ENUM, .choices = freelists,
	  .doc = "whose free message buffers are: each virtual processor's own; those of the processor that freed them, or "
		 "everybody's, in pools that each have a lock", .offset = offsetof(struct arch_conf, freelist) },
	[AX_STACKS] = { .name = "stacks", .type = XK_P_ENUM, .choices = stackpools,
	  .doc = "whose stack a unit of work runs on: the thread's that runs it; one from a pool of idle thread stacks, of the "
		 "processor, the one used last, or of all, the one idle longest", .offset = offsetof(struct arch_conf, stacks) },
	[AX_BG_V] = { .name = "v", .group = "background", .type = XK_P_FRACTION,
	  .doc = "an idle worker does not sleep but walks memory and code of its own, which displaces what the protocols have "
		 "cached: in this share of its time", .offset = offsetof(struct arch_conf, bg_v), .flags = XK_PF_REQUIRED },
	[AX_BG_DATA] = { .name = "data", .group = "background", .type = XK_P_SIZE, .max = "1GiB",
	  .doc = "memory that it walks, without it 4MiB", .offset = offsetof(struct arch_conf, bg_data) },
	[AX_BG_CODE] = { .name = "code", .group = "background", .type = XK_P_SIZE, .max = "1GiB",
	  .doc = "code that it walks, without it 32KiB", .offset = offsetof(struct arch_conf, bg_code) },
	[AX_N] = XK_PARAM_END
};

/* The choices of the enums above are in the order of the runtime's. */
_Static_assert(XK_DOMAIN_CONN == 0 && XK_DOMAIN_LAYER == 1 && XK_DOMAIN_NONE == 2, "order of domains");
_Static_assert(XK_ENTRY_OWN == 0 && XK_ENTRY_LOCK == 1 && XK_ENTRY_THREAD == 2, "order of entries");
_Static_assert(XK_HANDOVER_POST == 0 && XK_HANDOVER_ENTER == 1 && XK_HANDOVER_TRY == 2, "order of handovers");
_Static_assert(XK_WAITERS_SLEEP == 0 && XK_WAITERS_RUN == 1, "order of waiters");
_Static_assert(XK_INBOUND_DEVICE == 0 && XK_INBOUND_POOL == 1, "order of inbounds");
_Static_assert(XK_ORDER_ANY == 0 && XK_ORDER_ARRIVAL == 1, "order of orders");
_Static_assert(XK_DATAGRAMS_OWNED == 0 && XK_DATAGRAMS_ANYWHERE == 1, "order of datagrams");
_Static_assert(XK_OBJECTS_CONNECTION == 0 && XK_OBJECTS_LAYER == 1, "order of object locks");
_Static_assert(XK_THREADS_KERNEL == 0 && XK_THREADS_USER == 1, "order of thread kinds");
_Static_assert(XK_SCHED_DRR == 0 && XK_SCHED_OS == 1 && XK_SCHED_VIRTUAL == 2 && XK_SCHED_FIFO == 3,
	       "order of schedules");
_Static_assert(XK_AFFINITY_ANY == 0 && XK_AFFINITY_CODE == 1 && XK_AFFINITY_STREAM == 2 && XK_AFFINITY_NONE == 3,
	       "order of affinities");
_Static_assert(XK_PICK_MRU == 0 && XK_PICK_LRU == 1 && XK_PICK_LOW == 2 && XK_PICK_RANDOM == 3, "order of picks");
_Static_assert(XK_QUEUE_ONE == 0 && XK_QUEUE_PER == 1, "order of queues");
_Static_assert(XK_FREELIST_VP == 0 && XK_FREELIST_PROCESSOR == 1 && XK_FREELIST_GLOBAL == 2, "order of freelists");
_Static_assert(XK_STACKS_NONE == 0 && XK_STACKS_PROCESSOR == 1 && XK_STACKS_GLOBAL == 2, "order of stacks");
_Static_assert(XK_SPREAD_NUMBER == 0 && XK_SPREAD_HASH == 1, "order of spreads");

/* ---- what follows from what was said ---------------------------------------------- */

struct axes axes_of(const struct xk_arch *a)
{
	return (struct axes){ .base = a, .conf = {
		.domain = a->domain, .entry = a->entry, .schedule = a->schedule, .handover = a->handover, .spread = a->spread,
		.waiters = a->waiters,
		.vps = a->vps > 0 ? (uint64_t)a->vps : 0, .workers = a->workers, .burst = a->burst,
		.quantum = a->quantum, .cpus = a->cpus, .inbox = a->inbox, .wired = a->wired,
		.spin = a->spin_us * XK_US, .seed = a->seed, .io_threads = a->io_threads, .hold = a->hold,
		.inbound = a->inbound, .order = a->order, .datagrams = a->datagrams, .threads = a->threads, .stack = a->stack,
		.object_locks = a->objects,
		.lock_times = !a->lock_untimed, .affinity = a->affinity, .pick = a->pick, .queue = a->queue, .freelist = a->freelist,
		.stacks = a->stacks,
		.pipelines = a->domain == XK_DOMAIN_LAYER ? (uint64_t)a->vps : 0, .high = a->high, .low = a->low,
		.bg_data = BACKGROUND_DATA, .bg_code = BACKGROUND_CODE,
	} };
}

/* ---- what a preset fixes ------------------------------------------------------------ */

static unsigned index_of(const char *const *choices, const char *word)
{
	unsigned i = 0;

	while (choices[i] != NULL && strcmp(choices[i], word) != 0)
		i++;
	return i;
}

/* Does a say anything of axis x?  Where it cannot, or leaves it to the machine or the graph: no. */
static bool fixes(const struct xk_arch *a, enum axis x)
{
	bool layers = a->domain == XK_DOMAIN_LAYER, none = a->domain == XK_DOMAIN_NONE;

	switch (x) {
	case AX_VPS: return !layers;
	case AX_PIPELINES: case AX_LAYERS: case AX_HIGH: case AX_LOW: return layers;
	case AX_LOCK: case AX_HANDOVER: case AX_WAITERS: return a->entry == XK_ENTRY_LOCK;
	case AX_WORKERS: return a->workers != 0;
	case AX_CPUS: return a->cpus != 0;
	case AX_SEED: return a->seed != 0;
	case AX_STACK: return a->stack != 0;
	case AX_MAP: return false;
	case AX_SPREAD: return !layers;
	case AX_IO_THREADS: return !layers;
	case AX_INBOUND: return a->io_threads != 0;
	case AX_ORDER: return a->inbound == XK_INBOUND_POOL;
	case AX_DATAGRAMS: case AX_TABLE: case AX_OBJECT_LOCKS: return none;
	case AX_HOLD: return a->table != NULL;
	case AX_AFFINITY: return a->schedule == XK_SCHED_FIFO || a->inbound == XK_INBOUND_POOL;
	case AX_PICK: case AX_QUEUE: return a->affinity != XK_AFFINITY_ANY;
	case AX_STEAL: case AX_DEPTH: return a->queue == XK_QUEUE_PER;
	case AX_BG_V: case AX_BG_DATA: case AX_BG_CODE: return false;
	default: return true;
	}
}

const char *xk_arch_vps_word(int vps)
{
	return vps == XK_VPS_PER_WORKER ? "per worker" : vps == XK_VPS_PER_CONN ? "per connection" : NULL;
}

const char *xk_arch_fixes(const struct xk_arch *a, const char *axis, char *buf, size_t n)
{
	struct axes x = axes_of(a);
	const struct xk_param *p = xk_param_find(xk_arch_params, axis);
	enum axis no = p != NULL ? (enum axis)(p - xk_arch_params) : AX_N;

	if (no == AX_N || !fixes(a, no))
		return NULL;
	if (no == AX_VPS && a->vps <= 0)
		return xk_arch_vps_word(a->vps);
	if (no == AX_LAYERS) {
		snprintf(buf, n, "%u", a->layers);
		return buf;
	}
	x.conf.lock = index_of(locks, a->lock != NULL ? a->lock->name : "mutex");
	x.conf.table = index_of(tables, a->table != NULL ? a->table->name : "none");
	return xk_param_format(p, (const char *)&x.conf + p->offset, buf, n);
}

/* ---- what follows, of each axis ------------------------------------------------------- */

/* What only message parallelism has goes with it, unless it is said. */
static void take_io_threads(struct xk_arch *a, const struct axes *x)
{
	const struct arch_conf *c = &x->conf;
	bool was = x->base->domain == XK_DOMAIN_NONE, is = c->domain == XK_DOMAIN_NONE;

	a->io_threads = (unsigned)c->io_threads;
	a->inbound = (enum xk_inbound)c->inbound;
	a->order = (enum xk_order)c->order;
	a->datagrams = (enum xk_datagrams)c->datagrams;
	a->hold = c->hold;
	a->objects = (enum xk_object_axis)c->object_locks;
	if (axes_said(x, AX_TABLE))
		a->table = c->table != 0 ? xk_lock_find(tables[c->table]) : NULL;
	if (a->table == NULL && !axes_said(x, AX_HOLD))
		a->hold = false;
	if (was && !is && !axes_said(x, AX_TABLE))
		a->table = NULL;
	if (was && !is && !axes_said(x, AX_HOLD))
		a->hold = false;
	if (was && !is && !axes_said(x, AX_DATAGRAMS))
		a->datagrams = XK_DATAGRAMS_OWNED;
	if (was && !is && !axes_said(x, AX_OBJECT_LOCKS))
		a->objects = XK_OBJECTS_CONNECTION;
	if (was && !is && !axes_said(x, AX_INBOUND))
		a->inbound = XK_INBOUND_DEVICE;
	if (a->inbound == XK_INBOUND_DEVICE && !axes_said(x, AX_ORDER))
		a->order = XK_ORDER_ANY;
}

/* Where user-level threads are asked for, what a preset says of kernel threads of connections,
 * and of locks between them, does not hold: what is not written is as for few workers. */
static void take_user_threads(struct xk_arch *a, const struct axes *x)
{
	if (!axes_said(x, AX_ENTRY))
		a->entry = XK_ENTRY_OWN;
	if (!axes_said(x, AX_SCHEDULE) && a->schedule == XK_SCHED_OS) {
		a->schedule = XK_SCHED_DRR;
		a->wired = true;
	}
	if (!axes_said(x, AX_VPS) && a->vps == XK_VPS_PER_CONN)
		a->vps = XK_VPS_PER_WORKER;
}

/* Where nobody can run what he waits for he sleeps, unless it is said. */
static void take_waiters(struct xk_arch *a, const struct axes *x)
{
	bool can = a->entry == XK_ENTRY_LOCK && a->domain == XK_DOMAIN_CONN && a->io_threads == 0 && a->schedule != XK_SCHED_FIFO;

	a->waiters = can || axes_said(x, AX_WAITERS) ? (enum xk_waiters)x->conf.waiters : XK_WAITERS_SLEEP;
}

/* What the domain `layers` has of its own. */
static void take_layers(struct xk_arch *a, const struct axes *x)
{
	const struct arch_conf *c = &x->conf;

	if (a->domain != XK_DOMAIN_LAYER)
		return;
	a->vps = c->pipelines != 0 ? (int)c->pipelines : 1;
	a->layers = c->layers.n != 0 ? c->layers.n : a->layers != 0 ? a->layers : 4;
	a->high = c->high != 0 ? (uint32_t)c->high : 256;
	a->low = axes_said(x, AX_LOW) ? (uint32_t)c->low : a->high / 4;
}

/* What an affinity stands for, but for what is said besides. */
static void take_affinity(struct xk_arch *a, const struct axes *x)
{
	const struct arch_conf *c = &x->conf;

	a->affinity = (enum xk_affinity)c->affinity;
	/* Only there may any worker run a virtual processor, or any I/O thread take a message. */
	if (!axes_said(x, AX_AFFINITY) && a->schedule != XK_SCHED_FIFO && a->schedule != XK_SCHED_VIRTUAL &&
	    a->inbound != XK_INBOUND_POOL)
		a->affinity = XK_AFFINITY_ANY;
	a->pick = a->affinity == XK_AFFINITY_NONE ? XK_PICK_LRU : XK_PICK_MRU;
	a->queue = a->affinity == XK_AFFINITY_STREAM ? XK_QUEUE_PER : XK_QUEUE_ONE;
	if (axes_said(x, AX_PICK))
		a->pick = (enum xk_pick)c->pick;
	if (axes_said(x, AX_QUEUE))
		a->queue = (enum xk_queue)c->queue;
	a->depth = a->queue == XK_QUEUE_PER ? XK_SCHED_WIRED : 0;
	if (axes_said(x, AX_STEAL) && c->steal)
		a->depth = XK_SCHED_STEAL;
	if (axes_said(x, AX_DEPTH))
		a->depth = (uint32_t)c->depth;
}

/* With other work to do nobody looks for some first, unless it is said. */
static void take_background(struct xk_arch *a, const struct axes *x)
{
	const struct arch_conf *c = &x->conf;

	a->background = (struct xk_background){ .on = axes_background(x), .v = c->bg_v, .data = c->bg_data,
						 .code = c->bg_code };
	if (a->background.on && !axes_said(x, AX_SPIN))
		a->spin_us = 0;
}

static void take_numbers(struct xk_arch *a, const struct axes *x)
{
	const struct arch_conf *c = &x->conf;

	if (x->vps_word != 0)
		a->vps = x->vps_word;
	else if (c->vps != 0)
		a->vps = (int)c->vps;
	a->workers = (unsigned)c->workers;
	/* One worker per VP is what a preset of few VPs means, unless it is said. */
	if (!axes_said(x, AX_WORKERS) && c->vps != 0 && a->workers > c->vps)
		a->workers = (unsigned)c->vps;
	a->burst = (unsigned)c->burst;
	a->quantum = (unsigned)c->quantum;
	a->cpus = c->cpus;
	a->inbox = (uint32_t)c->inbox;
	a->spin_us = (uint32_t)(c->spin / XK_US);
	a->seed = c->seed;
}

/* As many as the graph's nodes make; kernel threads by the thousand are nobody's default.  Where
 * no thread goes with each it is the lock that a connection has for itself, and connections that
 * peers began are spread by their hash: a few too many locks keep them apart. */
static int per_connection(const struct xk_arch *a, const struct axes_graph *g)
{
	unsigned most = XK_VP_MAX - a->io_threads - 1;

	if (a->domain == XK_DOMAIN_NONE)
		return (int)(g->conns < LOCKS_LEAST ? LOCKS_LEAST : g->conns < most ? g->conns : most);
	return (int)(g->conns == 0 ? CONNS_UNSAID : g->conns < CONNS_MOST ? g->conns : CONNS_MOST);
}

struct xk_arch axes_arch(const struct axes *x, const struct axes_graph *g)
{
	const struct arch_conf *c = &x->conf;
	struct xk_arch a = *x->base;

	take_io_threads(&a, x);
	a.domain = (enum xk_domain)c->domain;
	a.entry = (enum xk_entry)c->entry;
	a.schedule = (enum xk_schedule)c->schedule;
	a.handover = (enum xk_handover)c->handover;
	a.spread = (enum xk_spread)c->spread;
	a.threads = (enum xk_threads)c->threads;
	a.stack = c->stack;
	a.wired = c->wired;
	a.lock_untimed = !c->lock_times;
	a.freelist = (enum xk_freelist)c->freelist;
	a.stacks = (enum xk_stackpools)c->stacks;
	if (a.threads == XK_THREADS_USER)
		take_user_threads(&a, x);
	if (axes_said(x, AX_LOCK))
		a.lock = xk_lock_find(locks[c->lock]);
	/* A preset that is made to take no locks has no use for its own. */
	if (a.entry != XK_ENTRY_LOCK && !axes_said(x, AX_LOCK))
		a.lock = NULL;
	if (a.entry != XK_ENTRY_LOCK && !axes_said(x, AX_HANDOVER))
		a.handover = XK_HANDOVER_POST;
	take_waiters(&a, x);
	take_affinity(&a, x);
	take_numbers(&a, x);
	take_layers(&a, x);
	take_background(&a, x);
	if (a.vps == XK_VPS_PER_CONN)
		a.vps = per_connection(&a, g);
	if (g->is_virtual && !axes_said(x, AX_SCHEDULE))
		a.schedule = XK_SCHED_VIRTUAL;
	return a;
}
