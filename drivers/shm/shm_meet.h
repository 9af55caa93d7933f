/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shm_meet.h - how two processes meet: a socket of the UNIX domain, by which each gives the other its area.
 *
 * Each virtual processor that hears of peers waits at a name that says job, host and its number: in the
 * abstract namespace, where the user is in it, too, or in a folder.  Nothing here waits: sockets are
 * non-blocking.  A result below 0 is a negative errno, which is what XK_E_* are.
 */
#ifndef SHM_MEET_H
#define SHM_MEET_H

#include "drivers/shm/shm_ring.h"

#define SHM_JOB_MAX 60u
#define SHM_PATH_MAX 107u                /* of sun_path, without its end */

/* Where a host's VP is found; dir NULL: the abstract namespace. */
struct shm_place { const char *job, *dir; uint32_t host; uint16_t vp; };
/* What each says of itself, with its area; native order, as the memory is. */
struct shm_greeting {
	uint32_t magic, version;
	uint32_t host;
	uint16_t vp, vps;                /* the VP that this link is of; of how many */
	struct shm_shape shape;
};

/* A text in *buf, for messages; XK_E_RANGE: too long for a path. */
int shm_place_name(const struct shm_place *at, char *buf, size_t n);
/* *fd waits at that place.  XK_E_ADDRINUSE: somebody does.  What nobody waits at any more is taken away. */
int shm_listen(const struct shm_place *at, int *fd);
void shm_unlisten(const struct shm_place *at, int *fd);
/* *fd leads there. */
int shm_connect(const struct shm_place *at, int *fd);
/* Somebody who came to listening fd; XK_E_AGAIN: nobody. */
int shm_accept(int listening, int *fd);

/* Memory for an area, which nobody can make smaller, nor write but by *area. */
int shm_area_make(const struct shm_shape *s, int *memfd, void **area);
/* A peer's, of that memfd: checked to be what s says, for good. */
int shm_area_map(const struct shm_shape *s, int memfd, const void **area);

int shm_greet(int fd, const struct shm_greeting *g, int memfd);
/* Is the process at the other end of this user, or root's? */
bool shm_is_ours(int fd);
/* The peer's, checked, and its area's *memfd.  XK_E_AGAIN: not there yet; others: it will not come.
 * XK_E_PERM: it is another user's. */
int shm_greeted(int fd, struct shm_greeting *g, int *memfd);

#endif
