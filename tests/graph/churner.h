/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * churner.h - an application whose connections come and go while others are busy.
 *
 * `churner` opens steady connections to an echo service, which all VPs keep busy, and `slots`
 * more.  After every so many answers a VP closes a slot's connection, and the next VP opens it
 * again with the same port: two updates of the classifier, answers under way between them, and
 * the same key on another VP than before.  A VP whose share is done passes slots on at once, so
 * there are `moves` of them at least, however unfairly VPs are run.
 *
 * Invariant: a connection's record is written on the VP that has it open; what comes to another
 * one, or by another session, is astray.
 */
#ifndef CHURNER_H
#define CHURNER_H

#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"

#define CHURN_STEADY 48u
#define CHURN_SLOTS  32u
#define CHURN_PORT   20000u      /* our port of connection 0; slots follow the steady ones */

extern const struct xk_proto xk_proto_churner;

struct churn_conn {
	struct xk_task  task;            /* of a steady one: sends while its window is open */
	struct xk_call  call;            /* of a slot: to the VP that opens it next */
	struct churn_conn *next;         /* of a slot: those of this VP, longest open first */
	struct xk_sess *s;
	struct xk_rep  *r;
	unsigned        no;
	uint32_t        epoch;           /* how often it was opened */
	xk_counter      sent, got;
	xk_counter      wrong;           /* answers with a wrong byte, or out of order in a steady one */
	xk_counter      opened, closed, failed;
} XK_ALIGNED;
extern struct churn_conn churn_conn[CHURN_STEADY + CHURN_SLOTS];
extern uint64_t churn_moves;     /* slots given away */
extern uint32_t churn_over;      /* set: steady connections send no more */
extern uint64_t churn_astray;    /* answers on another VP or session than their connection's */

void churn_reset(void);
/* The sums over connections numbered from first to last - 1. */
struct churn_sums { uint64_t sent, got, wrong, opened, closed, failed; };
void churn_sum(struct churn_sums *s, unsigned first, unsigned last);

#endif
