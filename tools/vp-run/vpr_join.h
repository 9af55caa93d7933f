/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_join.h - ranks that others started, which find each other at rank 0 (the root), over TCP.
 *
 * A rank says hello: magic, version, rank, ranks, job, key, in JOIN_HELLO bytes, numbers with the highest byte first.  The
 * root answers with JOIN_NO, a length of one byte and a sentence, or, when all have come, with JOIN_LIST, the key and the
 * address of each, four bytes; or with JOIN_END, when it is ended before that.  Then each side says letters, as below, until one hangs up.
 */
#ifndef VPR_JOIN_H
#define VPR_JOIN_H

#include <poll.h>
#include <sys/types.h>

#include "tools/vp-run/vpr_job.h"

#define JOIN_MAGIC   "xkvj"
#define JOIN_VERSION 2u
#define JOIN_HELLO   112u                /* magic, version, rank, ranks; job of 64; key of 32 */
#define JOIN_SAY     255u                /* most of a refusal's sentence */

/* The root's, then those of ranks: JOIN_ENDED is followed by the exit code, a byte. */
enum { JOIN_NO = 'r', JOIN_LIST = 'l', JOIN_END = 'e', JOIN_FINISHED = 'f', JOIN_NO_APP = 'n', JOIN_ENDED = 'x',
       JOIN_UP = VPR_UP, JOIN_GO = VPR_GO };

/* vpr_join.c: what a launcher says of this rank. */
struct vpr_who {
	unsigned rank, ranks;
	char     job[VPR_JOB_MAX + 1];   /* empty: no name */
	char     key[VPR_KEY + 1];       /* empty: none was given */
	char     root[256];              /* host of rank 0; empty: not known */
};

/* A connection between the root and a rank. */
struct vpr_link {
	int            fd;               /* -1: none, or no more */
	struct in_addr addr;
	char           state;            /* 0, JOIN_FINISHED or JOIN_NO_APP */
	bool           ready;            /* its graph is up */
	bool           code_next;        /* it has ended; its exit code comes next */
};

/* vpr_door.c: where the root waits.  Those who have not said hello yet are few, and not for long: where one more comes,
 * the one who has been there longest goes, unless it has just come, so nobody keeps ranks out by being silent. */
#define DOOR_GUESTS 64u
struct vpr_guest { int fd; int64_t by; struct in_addr addr; unsigned n; char said[JOIN_HELLO]; };
struct vpr_door {
	int              fd;
	const struct vpr_who *who;
	struct vpr_link *link;           /* of each rank */
	bool             begun;          /* all have come */
	unsigned         nguests, come, strangers, refused;
	int64_t          rest_by;        /* no descriptor was left: nobody is let in before */
	struct vpr_guest guest[DOOR_GUESTS];     /* the oldest first */
};
/* XK_OK, or the system's error. */
int  vpr_door_open(struct vpr_door *d, struct in_addr at, uint16_t port);
/* Fills 1 + DOOR_GUESTS entries; ms until it must be looked at though nobody comes, or -1. */
int64_t vpr_door_watch(struct vpr_door *d, struct pollfd *p);
void vpr_door_look(struct vpr_door *d, const struct pollfd *p);
void vpr_door_close(struct vpr_door *d);

void vpr_join_hello(char hello[JOIN_HELLO], const struct vpr_who *who);

/* vpr_joined.c: as vpr_ranks, of this rank; all find each other at host and port. */
int  vpr_joined(struct vpr *o, const struct vpr_who *who, const char *host, uint16_t port);

#endif
