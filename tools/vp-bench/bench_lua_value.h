/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_lua_value.h - JSON values in a Lua state, and the module json.
 */
#ifndef XK_BENCH_LUA_VALUE_H
#define XK_BENCH_LUA_VALUE_H

#include <jansson.h>
#include <lua.h>

#define BENCH_LUA_DEPTH 32                         /* of a value */
#define BENCH_LUA_STACK (8 * BENCH_LUA_DEPTH + 8)  /* slots that taking a value needs */

/* v on the stack.  Objects keep the order of their keys, empty lists are known for lists. */
void    bench_lua_push(lua_State *L, const json_t *v);
/* The value at `at`, new; raises no error when there are BENCH_LUA_STACK slots. */
json_t *bench_lua_take(lua_State *L, int at);

/* Opens the module json: object, list, keys, text, null. */
int bench_lua_json(lua_State *L);

#endif
