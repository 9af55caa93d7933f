/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua.h - calls of the Lua modules that look at results.
 *
 * The modules (tools/vp-bench, *.lua) are in the program; with --lua-path DIR they are
 * read from there.  Values are JSON on both sides: null is nil, a list is a sequence.
 */
#ifndef XK_BENCH_LUA_H
#define XK_BENCH_LUA_H

#include <jansson.h>
#include <stddef.h>

/* Where the modules are from now on; NULL: in the program. */
void bench_lua_from(const char *dir);
/* module.function(args...), nargs borrowed values; a new value, or NULL and why. */
json_t *bench_lua_call(const char *module, const char *function, json_t *const *args, unsigned nargs, char *why, size_t n);

#endif
