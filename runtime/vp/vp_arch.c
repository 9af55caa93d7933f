/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_arch.c - the table of threading architectures, and which rows make sense.
 *
 * A preset is a row of values over the axes; nothing else in the runtime knows
 * its name.  A new architecture over the same axes is one more row.
 */
#include "runtime/sync/xk_fiber.h"
#include "runtime/vp/vp_priv.h"
#include "runtime/vp/xk_machine.h"
#include "runtime/vp/xk_stage.h"
#include "runtime/vp/xk_ult.h"

#include <stdio.h>
#include <string.h>

#define DEFAULTS .burst = 16, .quantum = 64, .inbox = 65536, .spin_us = 20
#define ONE_EACH .burst = 1, .quantum = 64, .inbox = 65536, .spin_us = 20

const struct xk_arch xk_arch_presets[] = {
	{ .name = "up", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_OWN, .schedule = XK_SCHED_DRR,
	  .vps = 1, .workers = 1, .wired = true, DEFAULTS,
	  .doc = "one virtual processor on one worker: the baseline without concurrency" },
	{ .name = "ppc", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_OWN, .schedule = XK_SCHED_DRR,
	  .vps = XK_VPS_PER_WORKER, .wired = true, DEFAULTS,
	  .doc = "processor per connection: one virtual processor per worker, workers pinned" },
	{ .name = "vppc", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_OWN, .schedule = XK_SCHED_DRR,
	  .vps = 16, .wired = true, DEFAULTS,
	  .doc = "virtual processor per connection group: any number of virtual processors on few workers" },
	{ .name = "tpc", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_OS,
	  .vps = XK_VPS_PER_CONN, DEFAULTS,
	  .doc = "thread per connection: a virtual processor and a kernel thread for each connection" },
	{ .name = "connp_l", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_DRR,
	  .handover = XK_HANDOVER_ENTER, .lock = &xk_lock_adaptive, .vps = 128, .wired = true, DEFAULTS,
	  .doc = "connection groups with a lock each: whoever has a message takes its group's lock and runs it" },
	{ .name = "mp", .domain = XK_DOMAIN_NONE, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_DRR,
	  .handover = XK_HANDOVER_ENTER, .lock = &xk_lock_adaptive, .vps = XK_VPS_PER_CONN, .io_threads = 4,
	  .inbound = XK_INBOUND_POOL, .order = XK_ORDER_ANY, .datagrams = XK_DATAGRAMS_ANYWHERE,
	  .table = &xk_lock_rw, .wired = true, ONE_EACH,
	  .doc = "message parallelism: a pool of threads shares the devices, each runs the next message up to its application" },
	{ .name = "msgp", .domain = XK_DOMAIN_NONE, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_DRR,
	  .handover = XK_HANDOVER_ENTER, .vps = XK_VPS_PER_CONN, .io_threads = 2, .inbound = XK_INBOUND_DEVICE,
	  .table = &xk_lock_mutex, .hold = true, .wired = true, DEFAULTS,
	  .doc = "message parallelism with an inbound thread per device: locks on the table of connections and on each of them" },
	{ .name = "locking", .domain = XK_DOMAIN_NONE, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_DRR,
	  .handover = XK_HANDOVER_ENTER, .vps = XK_VPS_PER_CONN, .io_threads = 4, .inbound = XK_INBOUND_POOL,
	  .order = XK_ORDER_ANY, .table = &xk_lock_mutex, .objects = XK_OBJECTS_LAYER, .affinity = XK_AFFINITY_CODE,
	  .pick = XK_PICK_MRU, .wired = true, ONE_EACH,
	  .doc = "one queue of messages, any thread takes the next: each layer's map and sessions are locked, order is not kept" },
	{ .name = "lp", .domain = XK_DOMAIN_LAYER, .entry = XK_ENTRY_THREAD, .schedule = XK_SCHED_OS,
	  .vps = 1, .layers = 4, .high = 256, .low = 64, .wired = true, DEFAULTS,
	  .doc = "layer parallelism: a thread for each layer, bounded queues between them" },
	{ .name = "cp", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_OS,
	  .lock = &xk_lock_adaptive, .vps = XK_VPS_PER_CONN, DEFAULTS,
	  .doc = "connectional parallelism: tpc with locks that spin before they sleep" },
	{ .name = "connp_t", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_THREAD, .schedule = XK_SCHED_OS,
	  .spread = XK_SPREAD_HASH, .vps = 4, .io_threads = 1, .wired = true, DEFAULTS,
	  .doc = "a bound thread per connection group; application calls block for the reply" },
	{ .name = "ips", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_FIFO,
	  .affinity = XK_AFFINITY_CODE, .pick = XK_PICK_MRU, .vps = XK_VPS_PER_WORKER, .wired = true, DEFAULTS,
	  .doc = "independent stacks, one per worker: idle workers take the next stack of a shared queue" },
	{ .name = "ips_conn", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_FIFO,
	  .affinity = XK_AFFINITY_CODE, .pick = XK_PICK_MRU, .vps = XK_VPS_PER_CONN, .wired = true, DEFAULTS,
	  .doc = "independent stacks, one per connection: idle workers take the next stack, up to quantum messages" },
	{ .name = "caller", .domain = XK_DOMAIN_CONN, .entry = XK_ENTRY_LOCK, .schedule = XK_SCHED_DRR,
	  .waiters = XK_WAITERS_RUN, .lock = &xk_lock_adaptive, .vps = 1, .workers = 1, DEFAULTS,
	  .doc = "a program's threads run the virtual processor while they wait in a call; a worker stands in for them" },
	{ .name = NULL },
};

const struct xk_arch *xk_arch_find(const char *name)
{
	for (const struct xk_arch *a = xk_arch_presets; a->name != NULL; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

/* Message parallelism, and I/O threads at all. */
static const char *io_thread_fault(const struct xk_arch *a)
{
	bool none = a->domain == XK_DOMAIN_NONE;

	if (a->io_threads > XK_IO_THREADS_MAX)
		return "io_threads must be at most 64";
	if (none && a->entry != XK_ENTRY_LOCK)
		return "domain \"none\" needs entry \"lock\": threads that carry messages enter any connection";
	if (none && a->io_threads == 0)
		return "domain \"none\" needs io_threads, at least 1: connections' own virtual processors read no device";
	if (none && a->handover == XK_HANDOVER_POST)
		return "domain \"none\" needs handover \"enter\" or \"try\": with \"post\" nobody carries a message to its end";
	if (!none && a->inbound == XK_INBOUND_POOL)
		return "inbound \"pool\" needs the domain \"none\": else a device's frames are sent to their owners where they come in";
	if (!none && (a->table != NULL || a->hold))
		return "table and hold need the domain \"none\": else devices find a frame's owner, without a lock";
	if (!none && a->datagrams == XK_DATAGRAMS_ANYWHERE)
		return "datagrams \"anywhere\" needs the domain \"none\": else each belongs to a connection's virtual processor";
	if (!none && a->objects == XK_OBJECTS_LAYER)
		return "object_locks \"layer\" needs the domain \"none\": else no two threads pass messages of one session";
	if (a->hold && a->table == NULL)
		return "hold needs a table lock to be held: table must not be \"none\"";
	if (a->order == XK_ORDER_ARRIVAL && a->inbound != XK_INBOUND_POOL)
		return "order \"arrival\" needs inbound \"pool\": one I/O thread per device keeps the order by itself";
	return NULL;
}

/* Whoever waits has to be able to enter, and has to find what it waits for where it enters. */
static const char *waiters_fault(const struct xk_arch *a)
{
	if (a->waiters != XK_WAITERS_RUN)
		return NULL;
	if (a->entry != XK_ENTRY_LOCK)
		return "waiters \"run\" needs entry \"lock\": else only its worker may enter a virtual processor";
	if (a->domain != XK_DOMAIN_CONN || a->io_threads != 0)
		return "waiters \"run\" needs the domain \"connections\" without io_threads: devices must be read by the virtual "
		       "processor that is waited for";
	if (a->schedule == XK_SCHED_FIFO)
		return "waiters \"run\" needs a worker that a virtual processor stays with: schedule must be \"drr\" or \"os\"";
	return NULL;
}

static const char *threads_fault(const struct xk_arch *a)
{
	if (a->stack != 0 && (a->stack < XK_STACK_MIN || a->stack > XK_STACK_MAX))
		return "stack must be between 8KiB and 16MiB";
	if (a->stacks != XK_STACKS_NONE && a->stack != 0 && a->stack < XK_STACK_MIN_UNIT)
		return "stack must be at least 64KiB where units of work run on it: all of a unit is there, from a device to the "
		       "application and back";
	if (a->threads != XK_THREADS_USER)
		return a->stack != 0 && a->stacks == XK_STACKS_NONE ? "stack needs threads = \"user\", or stacks from a pool: a kernel "
			"thread's is the system's matter" : NULL;
	if (!xk_fiber_available())
		return "threads = \"user\" needs Boost.Context, which this build was made without: "
		       "install libboost-context-dev and configure again";
	if (a->entry != XK_ENTRY_OWN)
		return "threads = \"user\" needs entry \"own\": a stack is run by one kernel thread, "
		       "so no other may enter its virtual processor";
	return NULL;
}

/* What is run from its beginning to its end may be run on any stack. */
static const char *stacks_fault(const struct xk_arch *a)
{
	if (a->stacks == XK_STACKS_NONE)
		return NULL;
	if (a->threads == XK_THREADS_USER)
		return "stacks from a pool need threads = \"kernel\": a user-level thread has a stack of its own, which stays with it";
	if (a->domain == XK_DOMAIN_LAYER)
		return "stacks from a pool need the domain \"connections\" or \"none\": the thread of a layer goes on with the next "
		       "message on its own";
	if (!xk_fiber_available())
		return "stacks from a pool need Boost.Context, which this build was made without: "
		       "install libboost-context-dev and configure again";
	return NULL;
}

static const char *affinity_fault(const struct xk_arch *a)
{
	if (a->affinity != XK_AFFINITY_ANY && a->schedule != XK_SCHED_FIFO && a->schedule != XK_SCHED_VIRTUAL &&
	    a->inbound != XK_INBOUND_POOL)
		return "affinity chooses who runs what: it needs schedule \"fifo\" and entry \"lock\", where any worker may run a "
		       "virtual processor, or inbound \"pool\", where any I/O thread may take a message";
	if (a->queue == XK_QUEUE_PER && a->inbound == XK_INBOUND_POOL)
		return "affinity \"stream\" needs schedule \"fifo\": with inbound \"pool\" I/O threads share one queue";
	if (a->affinity == XK_AFFINITY_ANY && (a->pick != XK_PICK_MRU || a->queue != XK_QUEUE_ONE))
		return "pick and queue need an affinity: with \"any\" whoever looks first runs a virtual processor";
	if (a->queue == XK_QUEUE_ONE && a->depth != 0)
		return "depth needs queue \"processor\": of one queue any worker takes the first";
	return NULL;
}

/* A layer is run by one thread, which it shares with neighbours where there are fewer workers than layers. */
static const char *layers_fault(const struct xk_arch *a)
{
	if (a->entry != XK_ENTRY_THREAD)
		return "domain \"layers\" needs entry \"thread\": a layer is entered by its own thread only, through a queue";
	if (a->schedule != XK_SCHED_OS && a->schedule != XK_SCHED_VIRTUAL)
		return "domain \"layers\" needs schedule \"os\" (or \"virtual\"): each layer has a thread";
	if (a->layers == 0 || a->layers > XK_LAYERS_MAX)
		return "there must be 1 to 8 layers";
	if (a->vps <= 0)
		return "pipelines must be a number, at least 1";
	if (a->vps > (int)(XK_VP_MAX / a->layers))
		return "pipelines times layers must be at most 8192";
	if (a->high == 0 || a->high > 65536)
		return "high must be between 1 and 65536 messages";
	if (a->low >= a->high)
		return "low must be less than high: a queue that is high has to come down to it";
	if (a->workers > (unsigned)a->vps * a->layers)
		return "domain \"layers\" runs at most one thread per layer and pipeline: leave workers out, or say fewer";
	if (a->threads == XK_THREADS_USER)
		return "domain \"layers\" needs kernel threads: leave threads out";
	if (a->io_threads != 0 || a->table != NULL || a->hold || a->inbound == XK_INBOUND_POOL ||
	    a->datagrams == XK_DATAGRAMS_ANYWHERE || a->objects == XK_OBJECTS_LAYER)
		return "domain \"layers\" has no I/O threads: leave io_threads, inbound, datagrams, table, object_locks and hold out";
	if (a->waiters == XK_WAITERS_RUN)
		return waiters_fault(a);
	if (a->lock != NULL || a->handover != XK_HANDOVER_POST)
		return "domain \"layers\" takes no lock and hands over through queues: leave lock and handover out";
	if (a->burst == 0 || a->burst > 1024)
		return "burst must be between 1 and 1024 messages";
	if (a->inbox == 0)
		return "inbox must hold at least 1 message";
	return NULL;
}

/* Other work is of an idle processor, and each worker that has one may have it. */
static const char *background_fault(const struct xk_arch *a)
{
	const struct xk_background *b = &a->background;

	if (!b->on)
		return NULL;
	if (a->schedule == XK_SCHED_VIRTUAL || a->processors != 0)
		return "background needs real time: a simulated processor has no cache that other work could displace "
		       "(vp-sim simulates what that costs)";
	if (a->schedule == XK_SCHED_OS)
		return "background needs workers that have processors of their own: with schedule \"os\" threads share them, "
		       "and one that is idle would keep others from theirs";
	if (!(b->v >= 0 && b->v <= 1))
		return "background: v must be between 0 and 1";
	if (b->data == 0 && b->code == 0)
		return "background needs data or code to walk: with v = 0 it walks none";
	if (b->data > XK_BACKGROUND_MAX || b->code > XK_BACKGROUND_MAX)
		return "background: data and code must be at most 1GiB each";
	return NULL;
}

/* On simulated processors the workers are those of the graph. */
static const char *processors_fault(const struct xk_arch *a)
{
	if (a->processors == 0 || (a->processors == 1 && a->schedule == XK_SCHED_VIRTUAL))
		return NULL;
	if (a->processors > XK_SIM_PROCESSORS)
		return "processors must be between 1 and 1024";
	if (a->schedule == XK_SCHED_VIRTUAL)
		return "schedule \"virtual\" is one thread for all: leave it out where processors are simulated";
	if (!xk_fiber_available())
		return "simulated processors need Boost.Context, which this build was made without: "
		       "install libboost-context-dev and configure again";
	return NULL;
}

static const char *arch_fault(const struct xk_arch *a)
{
	const char *fault = processors_fault(a);

	if (fault == NULL)
		fault = background_fault(a);
	if (fault == NULL)
		fault = stacks_fault(a);
	if (fault != NULL)
		return fault;
	fault = a->domain == XK_DOMAIN_LAYER ? layers_fault(a) : io_thread_fault(a);

	if (fault == NULL && a->domain == XK_DOMAIN_LAYER)
		fault = affinity_fault(a);
	if (fault != NULL || a->domain == XK_DOMAIN_LAYER)
		return fault;
	if (a->handover != XK_HANDOVER_POST && a->entry != XK_ENTRY_LOCK)
		return "handover \"enter\" and \"try\" need entry \"lock\": else only its worker may enter a virtual processor";
	if (a->lock != NULL && a->entry != XK_ENTRY_LOCK)
		return "lock needs entry \"lock\": nothing else takes one";
	if (a->lock == &xk_lock_none || a->lock == &xk_lock_rw)
		return "lock must be one of mutex, adaptive, spin, ticket, mcs";
	if (a->entry == XK_ENTRY_THREAD && a->domain == XK_DOMAIN_CONN && a->schedule == XK_SCHED_DRR &&
	    a->workers != (unsigned)a->vps)
		return "entry \"thread\" runs each virtual processor on a thread of its own: schedule must be \"os\", or workers equal to vps";
	if (a->schedule == XK_SCHED_FIFO && a->entry != XK_ENTRY_LOCK)
		return "schedule \"fifo\" needs entry \"lock\": any worker may run a virtual processor";
	if (a->name != NULL && strcmp(a->name, "up") == 0 && (a->vps != 1 || a->workers > 1))
		return "up is one virtual processor on one worker, the baseline without concurrency: vppc has more";
	if (a->vps == 0 || a->vps < XK_VPS_PER_CONN)
		return "vps must be at least 1";
	if (a->vps > (int)XK_VP_MAX)
		return "vps must be at most 8192";
	if (a->vps > 0 && xk_arch_too_many(a))
		return "vps and io_threads, and the pool's queue, must be at most 8192 together";
	if (a->burst == 0 || a->burst > 1024)
		return "burst must be between 1 and 1024 messages";
	/* One thread that stands in for all has turns of a unit. */
	if (a->quantum == 0 && a->schedule != XK_SCHED_FIFO && a->schedule != XK_SCHED_VIRTUAL)
		return "quantum must be at least 1 message: 0 serves a virtual processor until it has no more, and needs schedule "
		       "\"fifo\", where another worker can take what waits meanwhile";
	if (a->inbox == 0)
		return "inbox must hold at least 1 message";
	if (a->workers > 1024)
		return "workers must be at most 1024";
	if (a->schedule == XK_SCHED_OS && a->workers != 0 && a->vps > 0 && a->workers != (unsigned)a->vps)
		return "schedule \"os\" runs one thread per virtual processor: leave workers out, or make it equal to vps";
	if ((a->schedule == XK_SCHED_DRR || a->schedule == XK_SCHED_FIFO) && a->vps > 0 && a->workers > (unsigned)a->vps)
		return "more workers than virtual processors: some would never have work";
	fault = affinity_fault(a);
	if (fault == NULL)
		fault = waiters_fault(a);
	return fault != NULL ? fault : threads_fault(a);
}

int xk_arch_check(const struct xk_arch *a, char *why, size_t n)
{
	const char *fault = arch_fault(a);

	if (fault == NULL)
		return XK_OK;
	snprintf(why, n, "%s", fault);
	return XK_E_INVAL;
}
