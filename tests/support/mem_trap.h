/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_trap.h - who writes memory that is watched, or touches it at all?
 *
 * While armed, the pages of what is watched are read-only, or closed.  An access that they do not allow traps,
 * is judged by its address, is let through as a single step, and the page is closed again: so each is seen, a
 * store of the value that is there already too, and what merely shares a page goes free.  Of stores, what is
 * watched without an owner is compared with a copy besides.  Where a program cannot step itself (not x86-64,
 * under valgrind or the thread sanitizer) that comparison is all: mt_steps is false.
 *
 * One thread at a time; not while the kernel is given watched memory to read or write.
 */
#ifndef MEM_TRAP_H
#define MEM_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MT_TEXT 120

bool mt_steps(void);
/* Watches the n bytes at p, called `what`, until mt_forget.  owner: stores are the business of whoever mt_begin's
 * `self` names so; NULL: nobody's.  p stays allocated. */
void mt_watch(const void *p, size_t n, const char *what, const void *owner);
/* The same of code. */
void mt_watch_code(const void *p, size_t n, const char *what);

/* Stores are judged from here to mt_end: how many went into what is watched, and bytes that have changed without
 * being seen to; the first of them as a text. */
void mt_begin(const void *(*self)(void));
unsigned mt_end(char first[MT_TEXT]);
/* All accesses are told, as (what, bytes from its beginning), until mt_end; needs mt_steps.  An instruction is an
 * access to its first byte. */
void mt_begin_all(void (*seen)(const char *what, size_t at));
/* Traps since the beginning, also of those that only shared a page. */
unsigned mt_traps(void);
void mt_forget(void);

#endif
