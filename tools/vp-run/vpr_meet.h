/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_meet.h - the root and the ranks of a job, connected.
 */
#ifndef VPR_MEET_H
#define VPR_MEET_H

#include "tools/vp-run/vpr_join.h"

struct vpr_meet {
	struct vpr      *o;
	const struct vpr_who *who;
	char             key[VPR_KEY + 1];       /* of the job */
	struct in_addr   root;
	uint16_t         port;
	struct vpr_door  door;           /* the root's */
	struct vpr_link *link;           /* the root: one for each rank, the first is not used; others: one, to the root */
	unsigned         nlinks;
	struct in_addr  *addr;           /* of each rank, when they have met */
	struct pollfd   *poll;           /* room for VPR_MEET_OWN, the links, and a door */
};
#define VPR_MEET_OWN 3u

/* Until all have come: VPR_OK, or VPR_FAILED, said. */
int vpr_meet(struct vpr_meet *m);
/* Fills entries for the links and, the root's, for its door behind them; returns how many.  *wait: ms, or -1. */
unsigned vpr_meet_watch(struct vpr_meet *m, struct pollfd *p, int64_t *wait);

#endif
