/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_sandbox.h - calls of the Lua functions that a bench file gives: own metrics, own judges.
 */
#ifndef XK_BENCH_SANDBOX_H
#define XK_BENCH_SANDBOX_H

#include <jansson.h>
#include <stddef.h>

struct bench;
struct xk_value;

/* own[how](function, args...) of own.lua, nargs borrowed values; a new value, or NULL and why,
 * with the line of the bench file.  code: as the file's value has it (XK_V_FUNCTION, item). */
json_t *bench_sandbox_call(const struct bench *b, const struct xk_value *code, const char *how,
			   json_t *const *args, unsigned nargs, char *why, size_t n);

#endif
