/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_trap.h - who writes memory that is watched?
 *
 * While armed, the pages of what is watched are read-only.  A store into one traps, is judged by its address,
 * is let through as a single step, and the page is closed again: so each store is seen, one of the value that
 * is there already too, and what merely shares a page goes free.  What is watched without an owner is compared
 * with a copy besides.  Where a program cannot step itself (not x86-64, under valgrind or the thread
 * sanitizer) that comparison is all: wt_steps is false.
 *
 * One thread at a time; not while the kernel is given watched memory to write to.
 */
#ifndef WRITE_TRAP_H
#define WRITE_TRAP_H

#include <stdbool.h>
#include <stddef.h>

#define WT_TEXT 120

bool wt_steps(void);
/* Watches the n bytes at p, called `what`, until wt_forget.  owner: stores are the business of whoever wt_begin's
 * `self` names so; NULL: nobody's.  p stays allocated. */
void wt_watch(const void *p, size_t n, const char *what, const void *owner);
void wt_begin(const void *(*self)(void));
/* Stores into what is watched, and bytes that have changed without being seen to; the first of them as a text. */
unsigned wt_end(char first[WT_TEXT]);
/* All stores that trapped since wt_begin, also those that only shared a page. */
unsigned wt_traps(void);
void wt_forget(void);

#endif
