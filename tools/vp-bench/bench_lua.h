/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua.h - calls of the Lua modules that look at results.
 *
 * The modules (tools/vp-bench, *.lua) are in the program; those that are in
 * the folder of --lua-path are read from there.  Values are JSON on both sides: null is nil (json.null in a
 * list), a list is a sequence, pairs() of an object follows the order of the document.
 */
#ifndef XK_BENCH_LUA_H
#define XK_BENCH_LUA_H

#include <jansson.h>
#include <lua.h>
#include <stddef.h>
#include <stdio.h>

/* Where the modules are from now on; NULL: in the program. */
void bench_lua_from(const char *dir);
/* Opens the libraries and makes the modules known to `require`; for another state, too. */
void bench_lua_open(lua_State *L);
/* module.function(args...), nargs borrowed values; a new value, or NULL and why. */
json_t *bench_lua_call(const char *module, const char *function, json_t *const *args, unsigned nargs, char *why, size_t n);
/* The same of a function that returns a text, to be freed. */
char *bench_lua_text(const char *module, const char *function, json_t *const *args, unsigned nargs, char *why, size_t n);
/* Writes that text; BENCH_OK, or BENCH_IO after a sentence on stderr. */
int bench_lua_print(FILE *f, const char *module, const char *function, json_t *const *args, unsigned nargs);

#endif
