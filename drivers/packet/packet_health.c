/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_health.c - whether the interface is up, down or gone, and what the kernel lost.
 *
 * Who finds no frame looks now and then; who has seen the interface down looks until it is up or gone.
 * When it is gone the tasks park and the graph is told, or it is waited for: by one, who tells the others.
 * Invariant: each change is said once, for all virtual processors.
 */
#include "drivers/packet/packet_priv.h"

#define LOOK_EVERY  (2 * XK_MS)         /* a pending error wakes us again and again until then */
#define WATCH_EVERY (100 * XK_MS)        /* while it is down */

/* ---- what is said once -------------------------------------------------------------- */

bool packet_first_to_say(uint32_t *said)
{
	return xk_load_relaxed(said) == 0 && xk_atomic_xchg(said, 1u) == 0;
}

static void packet_say_down(struct xk_rep *r)
{
	if (packet_first_to_say(&packet_state(r)->said_down))
		XK_TRACE(&r->node->log, 1, "interface '%s' is down; frames are dropped until it is up again",
			 packet_conf(r)->ifname);
}

/* Who hears of it when there are new sockets already says nothing. */
static void packet_say_gone(struct packet_rep *pr)
{
	struct xk_rep *r = pr->rep;
	struct packet_state *st = packet_state(r);
	bool waits = packet_conf(r)->reattach;

	if (!waits)
		xk_node_failed(r->node, "its interface is gone");
	if (xk_load_relaxed(&st->life) == pr->set->life && packet_first_to_say(&st->said_gone))
		XK_TRACE(&r->node->log, 1, "interface '%s' is gone: nothing is received or sent %s", packet_conf(r)->ifname,
			 waits ? "until one of its name is there and up" : "any more");
}

/* ---- what a replica sees ----------------------------------------------------------------- */

void packet_count_lost(struct packet_rep *pr)
{
	xk_count_add(pr->rep->count[N_LOST], packet_dev_lost(pr->queue));
}

/* The kernel reports the end of an interface as it goes down, an instant before it is gone,
 * and says nothing of its socket after that: so who has seen it down looks again. */
static void packet_watch_again(struct packet_rep *pr)
{
	if (!pr->stopped)
		xk_timer_set(pr->rep->wheel, &pr->watch, xk_vp_now() + WATCH_EVERY);
}

void packet_went_down(struct packet_rep *pr)
{
	if (pr->down)
		return;
	pr->down = true;
	xk_count(pr->rep->count[N_WENT_DOWN]);
	packet_say_down(pr->rep);
	if (pr->queue != NULL)
		packet_watch_again(pr);
}

void packet_gone(struct packet_rep *pr)
{
	if (pr->gone)
		return;
	pr->gone = true;
	xk_count(pr->rep->count[N_ERRORS]);
	packet_say_gone(pr);
	xk_task_park(&pr->task);
	pr->waits = packet_conf(pr->rep)->reattach && xk_atomic_xchg(&pr->set->gone, 1u) == 0;
	if (!pr->waits)
		return;
	packet_watch_again(pr);
	packet_tell(pr->rep->node);
}

/* Now and then, when there is nothing to do. */
void packet_look(struct packet_rep *pr)
{
	bool gone;
	int err;

	pr->look_at = pr->rep->vp->now + LOOK_EVERY;
	packet_count_lost(pr);
	/* An error that nobody takes would keep the descriptor readable. */
	err = packet_dev_error(pr->queue, &gone);
	if (err != 0 && !gone)
		packet_went_down(pr);
	if (gone)
		packet_gone(pr);
}

void packet_watch(struct xk_timer *t)
{
	struct packet_rep *pr = xk_container_of(t, struct packet_rep, watch);

	if (pr->gone) {
		if (pr->waits && !packet_look_for(pr))
			packet_watch_again(pr);
	} else if (pr->down) {
		packet_look(pr);
		if (!pr->gone)
			packet_watch_again(pr);
	}
}
