/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed_run.c - the graph's own thread: brings it up, lets it run, takes it down.
 *
 * The runtime's control path is one thread's, a reader of RCU; a program's threads are neither.  So a graph has
 * one, and others tell it things by descriptors that become readable once and stay so: any number can wait for one,
 * and a signal handler may write to it.
 *
 *   stop    the run shall end            up     it runs, or it does not come up
 *   over    the run is over              leave  nobody looks any more: take it down
 */
#include "runtime/embed/embed_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void say(struct embed_word *w)
{
	static const uint64_t one = 1;
	int was = errno, fd = xk_load_acquire(&w->fd);

	xk_store_release(&w->said, 1u);
	/* Full is as good as written. */
	if (fd >= 0 && write(fd, &one, sizeof one) < 0)
		errno = was;
}

/* False: not within so long.  Whoever has heard sees what was done before it was said. */
static bool heard(const struct embed_word *w, uint64_t timeout_ns)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	xk_ns until = timeout_ns > XK_NS_NEVER / 2 ? XK_NS_NEVER : xk_clock_host() + timeout_ns;

	for (;;) {
		xk_ns now = xk_clock_host(), left = until == XK_NS_NEVER ? XK_NS_NEVER : until > now ? until - now : 0;
		struct timespec t = { (time_t)(left / XK_SEC), (long)(left % XK_SEC) };

		if (xk_load_acquire(&w->said) != 0)
			return true;
		if (left == 0)
			return false;
		(void)ppoll(&p, 1, left == XK_NS_NEVER ? NULL : &t, NULL);
	}
}

/* ---- the thread ----------------------------------------------------------------------- */

static void runs(void *arg)
{
	struct xk_embed *g = arg;

	xk_store_release(&g->state, EMBED_RUNS);
	say(&g->up);
}

static int bring_up(struct xk_embed *g)
{
	unsigned before = xk_errs_count(g->e);
	int err = xk_spec_build(g->spec, &g->g, g->e);

	if (err == XK_OK)
		err = xk_graph_up(g->g, g->e);
	if (err != XK_OK && xk_errs_count(g->e) == before)
		xk_errs_add(g->e, NULL, 0, 0, "the graph does not come up: %s", xk_strerror(err));
	return err;
}

/* What a node could not do is told when it is over. */
static int failures(struct xk_embed *g)
{
	int err = g->end == XK_RUN_DRY ? XK_E_NOMEM : XK_OK;

	for (unsigned i = 0; i < g->g->nnodes; i++) {
		const struct xk_node *n = g->g->node[i];

		if (xk_node_failure(n) == NULL)
			continue;
		xk_errs_add(g->e, n->file, n->line, 0, "%s: %s", n->name, xk_node_failure(n));
		err = XK_E_IO;
	}
	return err;
}

static int run(struct xk_embed *g)
{
	const struct xk_plan *p = xk_spec_plan(g->spec);
	struct xk_run_opts o = { .duration = p->duration, .warmup = p->warmup, .stop_fd = g->stop.fd,
				 .started = runs, .watch = g };
	struct xk_run_result r;
	int err = xk_run(g->g, &o, &r, g->e);

	if (err != XK_OK)
		return err;
	g->ran = true;
	g->end = r.end;
	xk_run_fini(&r);
	return failures(g);
}

static void live(void *arg)
{
	struct xk_embed *g = arg;
	int err = bring_up(g);

	if (err == XK_OK)
		err = run(g);
	g->err = err;
	if (embed_state(g) == EMBED_RUNS) {
		g->late = embed_tell(g, g->e, NULL);
		xk_store_release(&g->state, EMBED_ENDED);
	}
	say(&g->over);
	say(&g->up);
	(void)heard(&g->leave, XK_NS_NEVER);
	g->leaked = xk_graph_free(g->g);
}

/* ---- the program's side ------------------------------------------------------------------ */

static int open_all(struct xk_embed *g)
{
	struct embed_word *const word[] = { &g->up, &g->over, &g->leave, &g->stop };

	for (unsigned i = 0; i < XK_ARRAY_LEN(word); i++) {
		int new = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

		if (new < 0)
			return -errno;
		word[i]->said = 0;
		xk_store_release(&word[i]->fd, new);
	}
	return XK_OK;
}

/* It did not come up: nothing of it is left but what is wrong. */
static int not_up(struct xk_embed *g)
{
	embed_leave(g);
	xk_store_release(&g->state, EMBED_BAD);
	free(g->errors);
	g->errors = embed_tell(g, g->e, NULL);
	return g->err;
}

int xk_embed_start(struct xk_embed *g)
{
	int err;

	if (embed_state(g) >= EMBED_RUNS)
		return XK_E_ALREADY;
	err = xk_embed_check(g);
	if (err != XK_OK)
		return err;
	err = open_all(g);
	if (err == XK_OK)
		err = xk_rcu_start();
	if (err == XK_OK)
		err = xk_thread_new(&g->thread, "xk-graph", -1, live, g);
	if (err != XK_OK) {
		xk_errs_add(g->e, NULL, 0, 0, "the graph cannot be started: %s", xk_strerror(err));
		g->err = err;
		return not_up(g);
	}
	(void)heard(&g->up, XK_NS_NEVER);
	if (embed_state(g) >= EMBED_RUNS)
		return XK_OK;
	return not_up(g);
}

int xk_embed_wait(struct xk_embed *g, uint64_t timeout_ns)
{
	if (embed_state(g) < EMBED_RUNS)
		return XK_E_INVAL;
	return heard(&g->over, timeout_ns) ? g->err : XK_E_AGAIN;
}

void xk_embed_stop(struct xk_embed *g)
{
	say(&g->stop);
}

const char *xk_embed_ended(const struct xk_embed *g)
{
	if (embed_state(g) != EMBED_ENDED)
		return NULL;
	return g->ran ? xk_run_end_text(g->end) : xk_strerror(g->err);
}

void embed_leave(struct xk_embed *g)
{
	struct embed_word *const word[] = { &g->stop, &g->up, &g->over, &g->leave };

	if (g->thread != NULL) {
		say(&g->stop);
		say(&g->leave);
		xk_thread_join(g->thread);
		g->thread = NULL;
		g->g = NULL;
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(word); i++) {
		if (word[i]->fd >= 0)
			close(word[i]->fd);
		word[i]->fd = -1;
	}
}
