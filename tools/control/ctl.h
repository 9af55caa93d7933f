/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl.h - the live view of a graph: a socket in JSON lines, and counters in shared memory.
 *
 * The server is a thread of its own beside the workers.  It looks at what never changes while
 * a graph is up, reads counters, and enters a virtual processor for a bounded piece of work
 * where it must see what is inside; it ends the run when that is asked for, and stops nothing else.  docs/vp-ctl.md is its contract.
 *
 *   ctl_new      before workers run: the socket is there, nobody is answered yet
 *   ctl_started  workers run
 *   ctl_stepping in virtual time: the thread that steps VPs says so
 *   ctl_free     before workers stop
 */
#ifndef CTL_H
#define CTL_H

#include <sys/un.h>

#include "runtime/upi/xk_graph.h"

struct ctl;

/* What the run does when it is asked to, by a thread of its own: it ends in order (once), or begins to measure anew.
 * NULL: that cannot be asked for.  untrusted: what files that the graph is to become are read by (xk_compose.h). */
struct ctl_run { void (*end)(void *arg), (*anew)(void *arg); void *arg; const char *untrusted; };
/* path NULL: the default one of the graph; run NULL: nothing can be asked of it.  Errors in e, as from the command line. */
int  ctl_new(struct ctl **c, struct xk_graph *g, const char *path, const struct ctl_run *run, struct xk_errs *e);
const char *ctl_path(const struct ctl *c);
void ctl_started(void *c);
void ctl_stepping(void *c, bool on);
/* Waiting requests are answered no more; the socket goes.  NULL is legal. */
void ctl_free(struct ctl *c);

/* enum xk_link of what passes below n, known when the graph is up; -1: capture files know none. */
int  ctl_link_of(const struct xk_node *n);
/* Is it frames or datagrams at all? */
bool ctl_has_frames(const struct xk_node *n);

/* ---- sockets, for both sides ---- */

#define CTL_PATH_MAX (sizeof ((struct sockaddr_un *)NULL)->sun_path)

/* The folder of default sockets: $XDG_RUNTIME_DIR/xkvp, else /tmp/xkvp-UID.  False: too long. */
bool ctl_default_dir(char dir[CTL_PATH_MAX]);
/* Is it a folder that nobody but us can use?  Asks the system and no more: signal handlers may call it. */
bool ctl_is_own_dir(const char *dir);
/* Connects; a descriptor, or negative with a sentence fragment in why[n]. */
int  ctl_connect(const char *path, char *why, size_t n);
/* The same, and neither it nor the descriptor ever waits. */
int  ctl_connect_now(const char *path, char *why, size_t n);

#endif
