/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockload_thread.c - a thread of the application: an event loop over its connections.
 *
 * The thread waits with a set of sockets, which tells of each connection that has become
 * ready once: it is served from then on, a burst in every round, until it says
 * XK_E_AGAIN.  A sender has three parts: all connections are opened, a few at a time, so that
 * the loop stays short and a listener's queue does, too; the runner's word is waited
 * for; then it sends.  A receiver has one, with the listener in the set until
 * the thread has its share of connections.
 * Invariant: act[0 .. nact) are connections that stand or are being opened, each once.
 */
#include "protocols/sockload/sockload_priv.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_node.h"

#include <poll.h>

#define OPENING  64u             /* connections of a thread on their way at a time */
#define EVENTS   256u            /* taken at a time */
#define LISTENER UINT64_MAX      /* data of its events */

static void activate(struct load_thread *t, uint64_t k)
{
	if (t->conn[k].active || t->conn[k].fd == 0)
		return;
	t->conn[k].active = true;
	t->act[t->nact++] = (uint32_t)k;
}

/* The last one takes its place: loops go downward. */
static uint64_t deactivate(struct load_thread *t, uint64_t i)
{
	uint64_t k = t->act[i];

	t->conn[k].active = false;
	t->act[i] = t->act[--t->nact];
	return k;
}

/* What has become ready is served; waits when there is nothing else to do. */
static void gather(struct load_thread *t)
{
	struct xk_sock_ready r[EVENTS];
	int n = xk_sock_set_wait(t->set, r, EVENTS, t->nact != 0 || t->coming ? 0 : UINT64_MAX);

	load_count(t, N_POLLS, 1);
	xk_outside_note(&t->outside);
	t->over = t->over || n < 0;
	for (int i = 0; i < n; i++) {
		if (r[i].data == LISTENER)
			t->coming = true;
		else
			activate(t, r[i].data);
	}
}

/* ---- opening -------------------------------------------------------------------------- */

static void open_all(struct load_thread *t)
{
	uint64_t next = 0, opening = 0;

	while ((next < t->n || opening != 0) && !load_halted(t)) {
		while (next < t->n && opening < OPENING && !load_halted(t))
			opening += load_open(t, next++);
		if (opening == 0 || load_halted(t))
			continue;
		gather(t);
		for (uint64_t i = t->nact; i-- > 0 && !load_halted(t);) {
			uint64_t k = deactivate(t, i);

			if (!t->conn[k].up && load_opened(t, k))
				opening--;
		}
	}
}

/* ---- the runner's word ------------------------------------------------------------------ */

static void await_go(struct load_thread *t)
{
	while (xk_load_acquire(&t->ln->go) == 0 && !load_halted(t)) {
		xk_event_prepare(&t->event);
		if (xk_load_acquire(&t->ln->go) != 0 || load_halted(t))
			xk_event_cancel(&t->event);
		else
			xk_event_wait(&t->event, XK_NS_NEVER, NULL, 0);
	}
}

/* ---- rounds --------------------------------------------------------------------------------- */

static void serve_all(struct load_thread *t)
{
	for (uint64_t i = t->nact; i-- > 0 && !load_halted(t);)
		if (!load_serve(t, t->act[i]))
			(void)deactivate(t, i);
}

static void send_all(struct load_thread *t)
{
	for (uint64_t k = 0; k < t->n; k++)
		activate(t, k);
	while (t->nopen != 0 && !load_halted(t)) {
		gather(t);
		serve_all(t);
	}
}

static void accept_some(struct load_thread *t)
{
	while (t->coming && t->naccepted < t->n && !load_halted(t)) {
		int fd = xk_sock_accept(t->ln->listener, NULL, XK_SOCK_NONBLOCK);

		t->coming = fd > 0;
		if (fd > 0)
			load_accepted(t, fd);
	}
	if (t->coming && t->naccepted == t->n) {
		t->coming = false;
		(void)xk_sock_set_remove(t->set, t->ln->listener);
	}
}

static void receive_all(struct load_thread *t)
{
	int err = xk_sock_set_add(t->set, t->ln->listener, POLLIN, LISTENER);

	if (err != XK_OK && err != XK_E_SHUTDOWN && !load_halted(t))
		xk_node_failed(t->ln->node, "it cannot wait for connections: too little memory");
	while (err == XK_OK && (t->nopen != 0 || t->naccepted < t->n) && !load_halted(t)) {
		gather(t);
		serve_all(t);
		accept_some(t);
	}
}

void load_main(void *arg)
{
	struct load_thread *t = arg;

	if (!load_sends(t->ln)) {
		receive_all(t);
		return;
	}
	open_all(t);
	if (t->ln->c->within != 0)
		await_go(t);
	if (!load_halted(t))             /* else some may still be on their way */
		send_all(t);
}
