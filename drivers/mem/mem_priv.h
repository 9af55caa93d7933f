/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_priv.h - what the files of the in-memory driver share.
 *
 * One implementation stands behind eth_mem and fddi_mem; the link type is a
 * row of a table.  Everything per frame is the replica's own: no lock, no
 * atomic, no clock.
 */
#ifndef XK_MEM_DRIVER_PRIV_H
#define XK_MEM_DRIVER_PRIV_H

#include "drivers/mem/mem.h"
#include "drivers/mem/mem_peer.h"

struct mem_conf {
	unsigned classifier;
	uint64_t mtu;
	uint8_t  mac[6];
	char    *wire;
	bool     copy, crc;
	uint64_t queue;
	struct xk_plist down;            /* texts, see mem_down.c */
};

enum { MEM_N_COPIES, MEM_N_WENT_DOWN };

static inline const struct mem_conf *mem_conf(const struct xk_rep *r) { return r->conf; }

/* mem_wire.c: the receive queue and the two ends of a wire. */
void mem_loop_push(struct xk_sess *s, struct xk_msg *m);
/* Finds the other end; called from init, so earlier nodes are complete. */
int  mem_wire_join(struct xk_node *n, struct xk_errs *e);

/* The longest super-segment that r's wire cuts, link header counted; 0: none. */
uint32_t mem_wire_super(const struct xk_rep *r);
/* m, a super-segment, goes through `put` frame by frame, copied, and is freed; false, and m is as it was:
 * it cannot be cut. */
bool mem_wire_cut(struct mem_rep *mr, struct xk_msg *m, void (*put)(struct mem_rep *mr, struct xk_msg *frame));

/* For mem_carry.c: is there a station for *m?  m as the other end sees it, copied or not;
 * NULL, counted, when memory is out. */
bool mem_wire_reaches(const struct mem_rep *mr, struct xk_msg **m);
struct xk_msg *mem_wire_cross(struct mem_rep *from, struct xk_msg *m);

/* mem_carry.c: what stands for the others where there are I/O threads. */
void mem_carried_loop_push(struct xk_sess *s, struct xk_msg *m);
void mem_carried_peer_push(struct xk_sess *s, struct xk_msg *m);
void mem_carried_enter(struct xk_rep *r, struct xk_msg *m);
unsigned mem_carried_rx_run(struct xk_task *t, unsigned budget);

/* mem_down.c: a cable that is down at times.  Reads the list into *v, NULL where it is empty; XK_E_INVAL with a
 * sentence in why[n], XK_E_NOMEM. */
int  mem_down_read(const struct xk_plist *l, struct mem_spell **v, char *why, size_t n);
/* Is n, or what it is joined to, ever down?  Then its sessions push by this. */
bool mem_down_ever(const struct xk_node *n);
void mem_down_push(struct xk_sess *s, struct xk_msg *m);
void mem_down_init(struct mem_rep *mr);
void mem_down_start(struct xk_rep *r);

#endif
