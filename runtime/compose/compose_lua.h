/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_lua.h - Lua's own headers, for the files that speak to it.
 *
 * Invariant: no header outside this room sees Lua.
 */
#ifndef COMPOSE_LUA_H
#define COMPOSE_LUA_H

#include <lua.h>
#include <lauxlib.h>
#include <lualib.h>

#include "runtime/compose/compose_priv.h"

#endif
