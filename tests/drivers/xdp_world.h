/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_world.h - a device of the AF_XDP driver whose memory and rings are a test's own.
 *
 * Whoever includes it has one device, without a kernel behind it, on the driver of a graph with one
 * virtual processor.  world_up begins a test, world_down ends it and finds leaks.
 */
#ifndef XDP_WORLD_H
#define XDP_WORLD_H

#include "drivers/xdp/xdp_priv.h"

#include <string.h>

#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"

#define FRAMES 64u               /* all of a queue; the ring has as many places, and not one more */
#define SIZE   2048u

/*
 * Two queues and two VPs.  Where the frames are: 64 of the first queue's, 64 of the second's, eight to
 * send with of VP 0, who sends at the first queue, and eight of VP 1, at the second.
 */
#define PLACES   8u
#define END      (2 * FRAMES + 2 * PLACES)
#define AT(n)    ((uint64_t)(n) * SIZE)

static struct pf f;
static struct {
	struct xdp_dev    d;
	struct xdp_queue  queue[2];
	struct xdp_port   port[4];
	struct xdp_frame  frame[END];
	uint8_t           area[END * SIZE];
	struct xdp_desc   rx[32];
	uint64_t          comp[PLACES];
	uint32_t          rx_prod, rx_cons, comp_prod, comp_cons, fill_cons;
	struct xk_sess   *s;
} w;

static inline void world_up(void)
{
	static const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "link=eth" }, { &pf_upper, "u", "d", "enable=false" }, { NULL, NULL, NULL, NULL } };
	struct xk_parts ps;

	memset(&w, 0, sizeof w);
	pf_up(&f, 1, g);
	xk_parts_init(&ps, 0);
	w.s = pf_open(&f, "u", 0, &ps, NULL);
	w.d = (struct xdp_dev){ .nvps = 2, .nqueues = 2, .frames = FRAMES, .tx_ring = PLACES, .frame_size = SIZE, .lend = 65536,
				.partial = XDP_SUMS_OFF, .frame = w.frame, .area = w.area, .queue = w.queue, .port = w.port };
	for (uint16_t q = 0; q < 2; q++)
		w.queue[q] = (struct xdp_queue){ .dev = &w.d, .no = q };
	for (unsigned i = 0; i < 4; i++)
		w.port[i] = (struct xdp_port){ .q = &w.queue[i / 2], .rep = pf_rep(&f, "d", 0), .task = { .fd = -1, .vp = f.g->vps->vp[0] },
					       .looking = true, .fill_taken = &w.fill_cons };
}

static inline void world_down(void)
{
	pf_close(&f, 0, w.s);
	pf_down(&f);
}

/* Frames that were given back to queue q and wait. */
static inline unsigned nback(unsigned q)
{
	unsigned n = 0;

	for (const struct xk_qlink *l = w.queue[q].back.head; l != NULL; l = l->next)
		n++;
	return n;
}

#endif
