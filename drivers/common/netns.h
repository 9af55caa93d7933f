/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netns.h - doing something inside a named network namespace.
 *
 * A device belongs to the network namespace of the thread that opens it.
 * Invariant: when xk_netns_do returns what fn did, the thread is in the namespace it came from.
 */
#ifndef XK_NETNS_H
#define XK_NETNS_H

#include <stddef.h>

/* Calls fn(arg) in the namespace `name` (as "ip netns" names it; NULL: this one)
 * and returns what it returns.  A namespace that cannot be entered is negative,
 * with a sentence in why[n]. */
int xk_netns_do(const char *name, int (*fn)(void *arg), void *arg, char *why, size_t n);

#endif
