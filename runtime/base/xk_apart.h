/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_apart.h - a function in a process of its own.
 *
 * Some libraries end the process where there is no memory: whoever asks them so goes on.  No other threads may run
 * yet: the new process has the caller's alone.
 */
#ifndef XK_APART_H
#define XK_APART_H

#include "runtime/base/xk_base.h"

/* What fn(arg) has returned there, 0 to 255; XK_E_NOMEM: it did not survive; else a negative errno: there was no
 * process.  What it has written lies in files that both have open; it leaves no core file. */
int xk_apart(int (*fn)(void *arg), void *arg);

#endif
