/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toy.h - the smallest graph with every operation of the interface: an
 * application over a one-byte multiplexer over a driver.
 *
 * The multiplexer ("toymux") has one-byte headers: the key of a session.  The
 * application keeps or refuses passive sessions as told and records the order
 * of events.  One VP, virtual schedule.
 */
#ifndef XK_TOY_H
#define XK_TOY_H

#include "runtime/upi/xk_proto.h"

#define TOY_EVENTS 64

struct toy {
	struct xk_graph *g;
	struct xk_node  *drv, *mux, *app;
	struct xk_rep   *drv_r, *mux_r, *app_r;   /* on VP 0 */
	char             events[TOY_EVENTS + 1];  /* 'O' open_done, 'P' message, 'C' close_done */
	unsigned         nevents;
	bool             refuse, keep, close_in_demux;
	struct xk_sess  *kept;
	unsigned         sent;                    /* frames the driver was given */
	uint8_t          last[64];
	uint32_t         last_len;
};

extern struct toy toy;

/* Brings the graph up; result of xk_graph_up. */
int  toy_up(unsigned nvps);
/* Takes it down; everything leaked. */
uint64_t toy_down(void);
/* A frame from the device, run to its end inside VP 0. */
void toy_inject(const void *bytes, uint32_t n);
struct xk_sess *toy_open(uint8_t port, int *err);
void toy_enter(void);
void toy_leave(void);

#define TOY_CTL_DRIVER (77 * 1000 + 1)   /* answered by the driver only */

#endif
