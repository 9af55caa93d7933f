/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_set.c - all the virtual processors of a graph: made, started, stopped.
 *
 * The architecture's open values (one VP per worker, one worker per allowed
 * processor) are turned into numbers here.  Undo is one function, valid at
 * every stage of a half-built set.
 */
#include "runtime/vp/vp_sim.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/sync/xk_sync.h"

static uint64_t allowed_cpus(void)
{
	cpu_set_t s;
	uint64_t mask = 0;

	if (sched_getaffinity(0, sizeof s, &s) != 0)
		return 1;
	for (unsigned i = 0; i < 64; i++)
		if (CPU_ISSET(i, &s))
			mask |= 1ull << i;
	return mask ? mask : 1;
}

/* Stages of each VP. */
static unsigned stages_of(const struct xk_arch *a)
{
	return a->domain == XK_DOMAIN_LAYER ? a->layers : 1;
}

static int arch_resolve(struct xk_arch *a, struct xk_errs *errs)
{
	uint64_t have = allowed_cpus();

	/* Simulated ones are no processors of the host's. */
	if (a->cpus == 0 || a->processors != 0)
		a->cpus = have;
	if (a->lock == NULL)
		a->lock = &xk_lock_mutex;
	if ((a->cpus & ~have) != 0) {
		xk_errs_add(errs, NULL, 0, 0, "processors 0x%llx are not all available (0x%llx are)",
			    (unsigned long long)a->cpus, (unsigned long long)have);
		return XK_E_INVAL;
	}
	if (a->vps == XK_VPS_PER_CONN) {
		xk_errs_add(errs, NULL, 0, 0, "threading '%s' makes a virtual processor per connection: "
			    "say how many with vps", a->name);
		return XK_E_INVAL;
	}
	if (a->schedule == XK_SCHED_VIRTUAL)
		a->workers = 1;
	else if (a->schedule == XK_SCHED_OS && a->vps > 0 && (a->workers == 0 || a->domain != XK_DOMAIN_LAYER))
		a->workers = (unsigned)a->vps * stages_of(a);
	else if (a->workers == 0)
		a->workers = a->processors != 0 ? a->processors : (unsigned)__builtin_popcountll(a->cpus);
	if (a->vps == XK_VPS_PER_WORKER)
		a->vps = (int)a->workers;
	if (a->workers > (unsigned)a->vps * stages_of(a))
		a->workers = (unsigned)a->vps * stages_of(a);
	if (xk_arch_too_many(a)) {
		xk_errs_add(errs, NULL, 0, 0, "%d virtual processors and %u I/O threads are more than %u", a->vps,
			    a->io_threads, XK_VP_MAX - (a->inbound == XK_INBOUND_POOL));
		return XK_E_INVAL;
	}
	return XK_OK;
}

/* Who is idle has a processor that nobody else of the set waits for: protocol work goes before other work. */
static int background_fits(const struct xk_arch *a, struct xk_errs *errs)
{
	unsigned workers = a->workers + a->io_threads, cpus = (unsigned)__builtin_popcountll(a->cpus);

	if (!a->background.on || workers <= cpus)
		return XK_OK;
	xk_errs_add(errs, NULL, 0, 0, "background needs a processor for each worker, or idle ones keep others from theirs: "
		    "there are %u workers with the I/O threads, and %u processors", workers, cpus);
	return XK_E_INVAL;
}

/* Zeroed whole pages: VPs and workers share no line, and no page, with others. */
static void *pages_new(struct xk_vpset *set, size_t n)
{
	void *p;

	if (set->shared != NULL)
		return xk_shared_get(set->shared, n, true);
	p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void pages_free(struct xk_vpset *set, void *p, size_t n)
{
	if (set->shared == NULL)
		munmap(p, n);
}

static int vp_setup(struct xk_vp *vp, struct xk_vpset *set, uint16_t no, uint16_t at)
{
	vp->set = set;
	vp->mode = xk_mode_of(&set->arch, no >= set->nconn);
	vp->no = no;
	vp->at = at;
	xk_msgq_init(&vp->local);
	set->arch.lock->init(&vp->lock);
	vp->lockstat.untimed = vp->tablestat.untimed = set->arch.lock_untimed;
	xk_rand_init(&vp->rand, set->arch.seed, at);
	xk_wheel_init(&vp->wheel, 0, set->arch.tick);
	return xk_memvp_init(&vp->mem, set->pool, at);
}

/* Nothing runs any more: what still waits is freed. */
static void vp_teardown(struct xk_vp *vp)
{
	xk_vp_step_in(vp, vp->now);
	for (unsigned i = 0; xk_modes[i] != NULL; i++)
		if (xk_modes[i]->drop != NULL)
			xk_modes[i]->drop(vp);
	xk_vp_inbox_empty(vp);
	xk_vp_step_out(vp);
	vp->set->arch.lock->fini(&vp->lock);
}

/* no: as protocols know it; at: among all of the set. */
static struct xk_vp *vp_new(struct xk_vpset *set, uint16_t no, uint16_t at)
{
	struct xk_vp *p = pages_new(set, sizeof *p), *vp = p;

	if (p == NULL)
		return NULL;
	if (vp_setup(vp, set, no, at) != XK_OK) {
		pages_free(set, p, sizeof *vp);
		return NULL;
	}
	return vp;
}

static int make_vps(struct xk_vpset *set)
{
	unsigned stages = stages_of(&set->arch), n = ((unsigned)set->arch.vps + set->arch.io_threads) * stages;

	set->nconn = (unsigned)set->arch.vps;
	set->vp = xk_alloc((n / stages + 1) * sizeof *set->vp);
	set->all = set->arch.domain == XK_DOMAIN_LAYER ? xk_alloc(n * sizeof *set->all) : set->vp;
	if (set->vp == NULL || set->all == NULL)
		return XK_E_NOMEM;
	if (set->arch.table != NULL)
		set->arch.table->init(&set->table);
	for (unsigned i = 0; i < n; i++) {
		set->all[i] = vp_new(set, (uint16_t)(i / stages), (uint16_t)i);
		if (set->all[i] == NULL)
			return XK_E_NOMEM;
		set->vp[i / stages] = set->all[i];
		set->nall++;
		set->nvps = (i + 1) / stages;
	}
	return XK_OK;
}

static int make_modes(struct xk_vpset *set)
{
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && xk_modes[i] != NULL; i++)
		if (xk_modes[i]->wanted != NULL && xk_modes[i]->wanted(&set->arch))
			err = xk_modes[i]->make(set);
	return err;
}

static int make_workers(struct xk_vpset *set)
{
	set->nworkers = set->arch.workers + set->arch.io_threads;
	/* Who waits for another fiber gives way at once. */
	set->oversubscribed = set->sim != NULL || set->nworkers > (unsigned)__builtin_popcountll(set->arch.cpus);
	set->worker = xk_alloc(set->nworkers * sizeof *set->worker);
	if (set->worker == NULL)
		return XK_E_NOMEM;
	for (unsigned i = 0; i < set->nworkers; i++) {
		struct xk_worker *w;
		int err;

		w = set->worker[i] = pages_new(set, sizeof *w);
		err = w != NULL ? xk_worker_setup(w, set, i) : XK_E_NOMEM;
		if (err == XK_OK && set->arch.background.on)
			err = xk_worker_background(w);
		if (err != XK_OK)
			return err;
	}
	return XK_OK;
}

/* The memory of the graph, and whose free buffers are. */
static int make_pool(struct xk_vpset *set, const struct xk_mem_conf *mem)
{
	const struct xk_arch *a = &set->arch;
	unsigned threads = a->workers + a->io_threads;
	struct xk_mem_conf m = *mem;

	m.freelist = a->freelist;
	m.processors = threads > a->processors ? threads : a->processors;
	m.lock = vp_mode_lock(set);
	m.lock_untimed = a->lock_untimed;
	return xk_mempool_new(&set->pool, &m, (unsigned)a->vps * stages_of(a) + a->io_threads);
}

int xk_vpset_new(struct xk_vpset **out, const struct xk_arch *a, const struct xk_mem_conf *mem,
		 struct xk_errs *errs)
{
	struct xk_vpset *set = xk_alloc(sizeof *set);
	int err = XK_E_NOMEM;

	if (set == NULL)
		goto nomem;
	set->arch = *a;
	err = arch_resolve(&set->arch, errs);
	if (err == XK_OK)
		err = background_fits(&set->arch, errs);
	if (err != XK_OK)
		goto fail;
	xk_clock_init(&set->clock, a->schedule == XK_SCHED_VIRTUAL || a->processors != 0);
	if (vp_is_simulated(a))
		err = xk_vpsim_new(set, errs);
	if (err == XK_E_NOTSUP || err == XK_E_BUSY)
		goto fail;
	/* A system without such memory has the counters where they always are. */
	if (mem->shared)
		(void)xk_shared_new(&set->shared);
	if (err == XK_OK)
		err = make_pool(set, mem);
	if (err == XK_OK)
		err = make_vps(set);
	if (err == XK_OK)
		err = make_modes(set);
	if (err == XK_OK)
		err = make_workers(set);
	if (err == XK_OK)
		err = vp_recorders_new(set);
	if (err == XK_E_NOTSUP)
		goto nocode;
	if (err != XK_OK)
		goto nomem;
	*out = set;
	return XK_OK;
nocode:
	xk_errs_add(errs, NULL, 0, 0, "background cannot walk code here: it is not known how to make any for this "
		    "processor, or the system does not let it run; code = \"0\" walks data alone");
	goto fail;
nomem:
	xk_errs_add(errs, NULL, 0, 0, "%s for %d virtual processors%s", xk_strerror(err), a->vps,
		    err == XK_E_MFILE ? ": a higher limit is needed (ulimit -n)" : "");
fail:
	xk_vpset_free(set);
	return err;
}

uint64_t xk_vpset_free(struct xk_vpset *set)
{
	uint64_t leaked = 0;

	if (set == NULL)
		return 0;
	for (unsigned i = 0; set->worker != NULL && i < set->nworkers; i++) {
		if (set->worker[i] == NULL)
			continue;
		xk_worker_teardown(set->worker[i]);
		pages_free(set, set->worker[i], sizeof *set->worker[i]);
	}
	xk_free(set->worker);
	vp_heat_free(set);
	if (set->arch.table != NULL && set->vp != NULL)
		set->arch.table->fini(&set->table);
	for (unsigned i = 0; i < set->nall; i++)
		vp_teardown(set->all[i]);
	for (unsigned i = 0; xk_modes[i] != NULL; i++)
		if (xk_modes[i]->free != NULL)
			xk_modes[i]->free(set);
	for (unsigned i = 0; i < set->nall; i++) {
		xk_memvp_fini(&set->all[i]->mem);
		pages_free(set, set->all[i], sizeof *set->all[i]);
	}
	if (set->all != set->vp)
		xk_free(set->all);
	xk_free(set->vp);
	if (set->pool != NULL)
		leaked = xk_mempool_free(set->pool);
	xk_shared_free(set->shared);
	vp_recorders_free(set);
	xk_vpsim_free(set);
	xk_free(set);
	return leaked;
}

struct xk_vp *xk_vpset_io(const struct xk_vpset *set, unsigned no)
{
	return set->arch.io_threads == 0 ? NULL : set->vp[set->nconn + no % set->arch.io_threads];
}

static int start_threads(struct xk_vpset *set, struct xk_errs *errs)
{
	for (unsigned i = 0; i < set->nworkers; i++) {
		struct xk_worker *w = set->worker[i];
		char name[16];
		int err;

		snprintf(name, sizeof name, "vp-%u", i % 100000u);
		err = xk_thread_new(&w->thread, name, w->cpu, xk_worker_main, w);
		if (err != XK_OK) {
			w->thread = NULL;
			xk_errs_add(errs, NULL, 0, 0, "cannot start thread %u of %u (%s): use fewer "
				    "virtual processors or a higher limit of threads", i + 1,
				    set->nworkers, xk_strerror(err));
			return err;
		}
	}
	return XK_OK;
}

int xk_vpset_start(struct xk_vpset *set, struct xk_errs *errs)
{
	int place, err;

	if (set->arch.schedule == XK_SCHED_VIRTUAL)
		return XK_OK;
	if (set->sim != NULL)
		return xk_vpsim_start(set, errs);
	xk_store_release(&set->running, XK_STARTING);
	place = xk_place_begin(set);
	err = start_threads(set, errs);
	xk_place_end(place);
	if (err != XK_OK) {
		xk_vpset_stop(set);
		return err;
	}
	xk_store_release(&set->running, 1);
	for (unsigned i = 0; i < set->nworkers; i++)
		xk_event_wake(&set->worker[i]->event);
	return XK_OK;
}

void xk_vpset_stop(struct xk_vpset *set)
{
	if (set->sim != NULL) {
		xk_vpsim_stop(set);
		return;
	}
	xk_store_release(&set->running, 0);
	for (unsigned i = 0; i < set->nworkers; i++)
		if (set->worker[i]->thread != NULL)
			xk_event_wake(&set->worker[i]->event);
	for (unsigned i = 0; i < set->nworkers; i++) {
		if (set->worker[i]->thread != NULL)
			xk_thread_join(set->worker[i]->thread);
		set->worker[i]->thread = NULL;
	}
}

/* ---- the calling thread as the only worker ----------------------------------- */

static unsigned step(struct xk_vpset *set, struct xk_vp *vp)
{
	xk_ns now = xk_clock_read(&set->clock);
	unsigned done;

	if (vp->mode->step != NULL)
		return vp->mode->step(vp, now);
	xk_vp_step_in(vp, now);
	/* What is drained of a simulation is no part of it. */
	if (XK_UNLIKELY(set->stacks != NULL) && set->sim == NULL)
		done = set->units->unit(vp, set->arch.burst);
	else
		done = xk_vp_unit(vp, set->arch.burst);
	xk_vp_step_out(vp);
	return done;
}

unsigned xk_vpset_step(struct xk_vpset *set)
{
	unsigned done = 0;

	for (unsigned i = 0; i < set->nall; i++)
		done += step(set, set->all[i]);
	return done;
}

static xk_ns next_event(const struct xk_vpset *set)
{
	xk_ns next = XK_NS_NEVER;

	for (unsigned i = 0; i < set->nall; i++) {
		xk_ns t = xk_wheel_next(&set->all[i]->wheel), due = xk_vp_due(set->all[i]);

		t = due < t ? due : t;
		if (t < next)
			next = t;
	}
	return next;
}

static bool any_waiting(const struct xk_vpset *set)
{
	for (unsigned i = 0; i < set->nall; i++)
		if (set->all[i]->local.n != 0 || xk_load_relaxed(&set->all[i]->inbox) != NULL ||
		    (set->all[i]->mode->waiting != NULL && set->all[i]->mode->waiting(set->all[i])))
			return true;
	return false;
}

static unsigned most_ready(const struct xk_vpset *set)
{
	unsigned n = 0;

	for (unsigned i = 0; i < set->nall; i++)
		n = set->all[i]->nready > n ? set->all[i]->nready : n;
	return n;
}

/* Rounds until something was done; 0 when no task of any VP had anything to
 * do: each gets its turn before that is said. */
static unsigned step_until_done(struct xk_vpset *set)
{
	unsigned done = 0, most = most_ready(set);

	/* Not as many as are ready by then: who parked meanwhile has had its turn. */
	for (unsigned tries = 0; done == 0 && tries <= most; tries++)
		done = xk_vpset_step(set);
	return done;
}

/* Work takes time, or an endless source would stop the clock. */
static xk_ns message_cost(const struct xk_vpset *set)
{
	return set->arch.machine != NULL ? set->arch.machine->message : xk_machine_flat.message;
}

bool xk_vpset_any_left(const struct xk_vpset *set)
{
	return any_waiting(set) || next_event(set) != XK_NS_NEVER;
}

bool xk_vpset_run_virtual(struct xk_vpset *set, xk_ns until)
{
	xk_ns cost = message_cost(set);

	if (set->sim != NULL)
		return xk_vpsim_run(set, until);
	while (xk_clock_read(&set->clock) < until) {
		xk_ns now = xk_clock_read(&set->clock), next;
		unsigned done = step_until_done(set);

		if (done != 0 || any_waiting(set)) {
			next = now + done * cost;
		} else {
			next = next_event(set);
			if (next == XK_NS_NEVER)
				return false;
		}
		if (next > until)
			next = until;
		if (next > now)
			xk_clock_advance(&set->clock, next);
	}
	return true;
}
