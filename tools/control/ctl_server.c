/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_server.c - the thread that serves the live view: one poll, every client.
 *
 * It runs beside the workers and shares nothing that they write but what it reads.  A client
 * is never waited for: it has its buffers (ctl_client.c), its turn, and a limit of patience.
 * When all places are taken, the client that has been silent longest makes room, one that reads
 * the counters last of all.
 *
 * Invariant: a request is answered while nobody steps VPs of a graph in virtual time.
 */
#include "tools/control/ctl_priv.h"
#include "runtime/base/xk_clock.h"
#include "runtime/upi/xk_part.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define TICK_JOB 50              /* ms between two looks at what is under way */
#define TICK     1000

/* ---- the turn (virtual time) --------------------------------------------------------- */

void ctl_stepping(void *arg, bool on)
{
	struct ctl *c = arg;

	if (!on) {
		xk_mutex_unlock(&c->turn);
		return;
	}
	/* Whoever wants the turn gets it: a mutex alone would come back to us every time. */
	while (xk_load_acquire(&c->wanted))
		xk_thread_yield();
	xk_mutex_lock(&c->turn);
}

static void take_turn(struct ctl *c)
{
	xk_store_release(&c->wanted, 1);
	xk_mutex_lock(&c->turn);
}

static void give_turn(struct ctl *c)
{
	xk_mutex_unlock(&c->turn);
	xk_store_release(&c->wanted, 0);
}

/* ---- clients ---------------------------------------------------------------------------- */

static void drop_dead(struct ctl *c)
{
	struct ctl_client **at = &c->clients, *cl;

	while ((cl = *at) != NULL) {
		if (!cl->dead) {
			at = &cl->next;
			continue;
		}
		*at = cl->next;
		c->nclients--;
		ctl_client_free(cl);
	}
}

static bool make_place(struct ctl *c, xk_ns now)
{
	struct ctl_client *old = ctl_client_to_go(c, now);

	if (old == NULL)
		return false;
	old->dead = true;
	drop_dead(c);
	return true;
}

static void refuse(int fd)
{
	static const char text[] = "{\"ok\":false,\"error\":{\"code\":\"busy\",\"message\":\"too many clients\"}}\n";

	(void)send(fd, text, sizeof text - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void accept_one(struct ctl *c, xk_ns now)
{
	int fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ctl_client *cl;

	if (fd < 0) {
		/* No descriptor left: it stays readable, and polling it would be all we do. */
		c->rest_until = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED ? 0 : now + XK_SEC;
		return;
	}
	if (c->nclients >= CTL_CLIENTS && !make_place(c, now)) {
		refuse(fd);
		return;
	}
	cl = ctl_client_new(fd);
	if (cl == NULL) {
		close(fd);
		return;
	}
	cl->next = c->clients;
	c->clients = cl;
	c->nclients++;
}

static void step_job(struct ctl_client *cl)
{
	struct ctl_job *j = cl->job;

	if (j == NULL || !j->step(j))
		return;
	cl->job = NULL;
	j->free(j);
}

static void client_turn(struct ctl *c, struct ctl_client *cl, short events, xk_ns now)
{
	if (events & POLLOUT)
		ctl_client_flush(cl);
	if (events & (POLLERR | POLLNVAL) || (events & POLLHUP && cl->job != NULL)) {
		cl->dead = true;
		return;
	}
	step_job(cl);
	if (events & (POLLIN | POLLHUP))
		ctl_client_read(c, cl);
	ctl_client_serve(c, cl);
	ctl_client_flush(cl);
	if (cl->closing && cl->job == NULL && ctl_client_unread(cl) == 0)
		cl->dead = true;
	if (now - cl->moved > CTL_PATIENCE && now > cl->moved && (ctl_client_unread(cl) != 0 || cl->nin != 0))
		cl->dead = true;
}

static short wants(const struct ctl_client *cl)
{
	size_t unread = ctl_client_unread(cl);
	bool in = !cl->closing && cl->job == NULL && unread < CTL_OUT_HIGH && cl->nin < CTL_LINE;

	return (short)((in ? POLLIN : 0) | (unread != 0 ? POLLOUT : 0));
}

/* ---- the loop ------------------------------------------------------------------------------ */

static unsigned fill(const struct ctl *c, struct pollfd *p, xk_ns now)
{
	unsigned n = 0;

	p[n++] = (struct pollfd){ .fd = c->wake_fd, .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = now < c->rest_until ? -1 : c->listen_fd, .events = POLLIN };
	for (const struct ctl_client *cl = c->clients; cl != NULL; cl = cl->next)
		p[n++] = (struct pollfd){ .fd = cl->fd, .events = wants(cl) };
	return n;
}

static bool any_job(const struct ctl *c)
{
	for (const struct ctl_client *cl = c->clients; cl != NULL; cl = cl->next)
		if (cl->job != NULL)
			return true;
	return false;
}

static void round_of_all(struct ctl *c, const struct pollfd *p, xk_ns now)
{
	unsigned i = 2;

	for (struct ctl_client *cl = c->clients; cl != NULL; cl = cl->next, i++)
		client_turn(c, cl, p[i].revents, now);
	drop_dead(c);
	if (p[1].revents != 0)
		accept_one(c, now);
}

static void drain_wake(struct ctl *c)
{
	uint64_t n;

	(void)!read(c->wake_fd, &n, sizeof n);
}

/* When who asked has its answer, as far as it reads. */
static void end_run(struct ctl *c)
{
	if (!c->to_end)
		return;
	c->to_end = false;
	c->run.end(c->run.arg);
	c->run.end = NULL;
}

static void serve(void *arg)
{
	struct ctl *c = arg;
	struct pollfd p[CTL_CLIENTS + 2];

	while (!xk_load_acquire(&c->stop)) {
		unsigned n = fill(c, p, xk_clock_host());

		if (poll(p, n, any_job(c) ? TICK_JOB : TICK) < 0)
			continue;
		if (p[0].revents != 0)
			drain_wake(c);
		take_turn(c);
		round_of_all(c, p, xk_clock_host());
		give_turn(c);
		end_run(c);
	}
	take_turn(c);
	for (struct ctl_client *cl = c->clients; cl != NULL; cl = cl->next)
		cl->dead = true;
	drop_dead(c);
	give_turn(c);
}

/* ---- life -------------------------------------------------------------------------------------- */

int ctl_new(struct ctl **out, struct xk_graph *g, const char *path, const struct ctl_run *run, struct xk_errs *e)
{
	struct ctl *c = xk_alloc(sizeof *c);
	char why[512] = "out of memory";
	int err = XK_E_NOMEM;

	*out = NULL;
	if (c != NULL) {
		c->g = g;
		c->run = run != NULL ? *run : (struct ctl_run){ 0 };
		c->listen_fd = c->lock_fd = -1;
		c->is_virtual = g->vps->clock.is_virtual;
		c->began = xk_clock_host();
		xk_mutex_init(&c->turn);
		c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		err = c->wake_fd < 0 ? -errno : ctl_path_open(c, path, why, sizeof why);
	}
	if (err == XK_OK && (err = ctl_dir_make(c)) != XK_OK)
		strcpy(why, "out of memory");
	if (err == XK_OK) {
		*out = c;
		return XK_OK;
	}
	xk_errs_add(e, NULL, 0, 0, "option --control%s%s: %s", path ? "=" : "", path ? path : "", why);
	ctl_free(c);
	return err;
}

const char *ctl_path(const struct ctl *c)
{
	return c->path;
}

/* Without a thread there is nobody to answer: clients wait, the graph runs. */
void ctl_started(void *arg)
{
	struct ctl *c = arg;

	if (xk_thread_new(&c->thread, "vp-control", -1, serve, c) != XK_OK)
		fprintf(stderr, "vp-run: no thread for %s: it will not answer\n", c->path);
}

void ctl_free(struct ctl *c)
{
	uint64_t one = 1;

	if (c == NULL)
		return;
	if (c->thread != NULL) {
		xk_store_release(&c->stop, 1);
		(void)!write(c->wake_fd, &one, sizeof one);
		xk_thread_join(c->thread);
	}
	ctl_path_close(c);
	ctl_view_free(c->view);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	xk_mutex_fini(&c->turn);
	xk_free(c);
}
