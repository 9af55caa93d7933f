/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_fixture.h - a set of virtual processors for a test, and counting tasks to run on it.
 *
 * One set at a time, in fx: make makes it and puts a hook where messages are
 * delivered that counts them, and those that met another thread inside; unmake
 * asserts that nothing is left of it.
 */
#ifndef VP_FIXTURE_H
#define VP_FIXTURE_H

#include <CUnit/CUnit.h>
#include <string.h>

#include "runtime/sync/xk_sync.h"
#include "runtime/vp/xk_vp.h"

#define MAX_VPS 64

/* One counting task per connection. */
struct conn {
	struct xk_task task;
	uint64_t       done;
	uint64_t       limit;      /* parks at it; 0: never */
	void         (*hook)(struct conn *c);
};

struct vp_fx {
	struct xk_vpset *set;
	uint64_t         before;
	uint64_t         delivered[MAX_VPS];
	uint32_t         total;    /* atomically, all VPs */
	uint32_t         overlap;  /* deliveries that met another thread inside */
	uint32_t         inside[MAX_VPS];
};
extern struct vp_fx fx;

struct xk_arch arch_of(const char *preset, int vps, unsigned workers);
void make(struct xk_arch a);
void unmake(void);
/* What fx.set->deliver is after make. */
void count_delivery(struct xk_vp *vp, struct xk_msg *m);
/* ips_conn, under that affinity. */
struct xk_arch affine(int vps, unsigned workers, enum xk_affinity affinity);
/* Starts fx.set, and stops it when as many calls as it has VPs have gone round, each from VP to next VP so many times. */
void calls_go_round(unsigned times);
void conn_start(struct conn *c, struct xk_vp *vp, uint64_t limit);

#endif
