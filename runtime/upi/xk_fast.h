/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_fast.h - names what a protocol has for speed alone, and what does the same without it.
 *
 * A protocol's <p>_fast.c is in a build unless configure was told --disable-fastpath.
 * Its functions stand in the descriptor as XK_FAST(fast, plain), NULL where nothing is
 * needed in their place; what they do not see through they leave to the plain ones.
 */
#ifndef XK_FAST_H
#define XK_FAST_H

#include "runtime/base/xk_base.h"

#ifdef XK_NO_FASTPATH
#define XK_FAST(fast, plain) plain
#else
#define XK_FAST(fast, plain) fast
#endif

/* Of a function before which a fast one stands, where there is one: it is rare then. */
#define XK_PLAIN XK_FAST(XK_NOINLINE, )

#endif
