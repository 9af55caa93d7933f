/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_loader.c - where a running graph file is, and what is complained of there.
 *
 * Every word complains by these calls, and answers a poison value, so that one mistake is told
 * once and not again by what it leads to.
 */
#include "runtime/compose/compose_lua.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct loader *loader_of(lua_State *L)
{
	return *(struct loader **)lua_getextraspace(L);
}

/* ---- places and complaints ------------------------------------------------------------ */

#define LEVELS_MAX 32             /* of a stack; each costs the way to it */

static void add_place(struct spec_place *at, struct spec_at here)
{
	if (at->line == 0) {
		at->file = here.file;
		at->line = here.line;
	} else if (here.file != at->file || here.line != at->line) {
		at->nfrom += at->nfrom < SPEC_FROM;
		at->from[at->nfrom - 1] = here;
	}
}

struct spec_place loader_place(lua_State *L, int level)
{
	struct spec_place at = { .line = 0 };
	lua_Debug ar;

	for (int last = level + LEVELS_MAX; level < last && lua_getstack(L, level, &ar); level++) {
		if (!lua_getinfo(L, "Sl", &ar) || ar.currentline <= 0 || ar.source[0] != '@')
			continue;
		add_place(&at, (struct spec_at){ (unsigned)strtoul(ar.source + 1, NULL, 10), ar.currentline });
		if (strcmp(ar.what, "main") == 0)
			break;
	}
	return at;
}

struct spec_place loader_caller(lua_State *L)
{
	struct spec_place at = loader_place(L, 1);

	return at.line != 0 ? at : loader_of(L)->now;
}

bool loader_seen(lua_State *L, struct spec_place at, const char *what)
{
	struct loader *ld = loader_of(L);
	uint64_t h = (uint64_t)at.file << 32 ^ (uint64_t)at.line;

	for (const char *p = what; *p != '\0'; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3u;
	for (unsigned i = 0; i < at.nfrom; i++)
		h = (h ^ (uint64_t)at.from[i].file << 32 ^ (uint64_t)at.from[i].line) * 0x100000001b3u;
	h |= 1;
	for (unsigned i = 0; i < LOADER_SEEN; i++) {
		uint64_t *slot = &ld->seen[(h + i) % LOADER_SEEN];

		if (*slot == h)
			return true;
		if (*slot == 0) {
			*slot = xk_errs_count(ld->e) < COMPOSE_ERRORS_MAX ? h : 0;
			return false;
		}
	}
	return true;
}

int loader_poison(lua_State *L, struct spec_place at, const char *callee, const char *fmt, ...)
{
	struct loader *ld = loader_of(L);
	va_list ap;

	va_start(ap, fmt);
	lua_pushvfstring(L, fmt, ap);
	va_end(ap);
	if (!loader_seen(L, at, lua_tostring(L, -1)))
		spec_error(ld->s, ld->e, at, callee, NULL, 0, "%s", lua_tostring(L, -1));
	lua_pop(L, 1);
	loader_push_poison(L);
	return 1;
}

/* ---- failures ------------------------------------------------------------------------------ */

bool loader_final(const struct loader *ld)
{
	return ld->limit == LIMIT_ERRORS || ld->limit == LIMIT_INSTR || ld->limit == LIMIT_TIME || ld->limit == LIMIT_CALLS;
}

/* "3:17: text" to text; the place goes to *at. */
static const char *strip_place(const char *msg, struct spec_place *at)
{
	char *end;
	unsigned long file = strtoul(msg, &end, 10), line;

	if (end == msg || *end != ':')
		return msg;
	line = strtoul(end + 1, &end, 10);
	if (*end != ':' || end[1] != ' ')
		return msg;
	if (at->file != file || at->line != (int)line)
		*at = (struct spec_place){ .file = (unsigned)file, .line = (int)line };
	return end + 2;
}

static const char *limit_text(const struct loader *ld)
{
	switch (ld->limit) {
	case LIMIT_INSTR: return "graph file ran more than 10 million instructions (an endless loop?)";
	case LIMIT_CALLS: return "functions call each other more than 2000 deep (an endless recursion?)";
	case LIMIT_TIME: return "graph file ran for more than 10 seconds of processor time";
	case LIMIT_MEM: return "graph file used more than 64 MiB of memory";
	case LIMIT_NOMEM: return "out of memory";
	case LIMIT_ERRORS:
	case LIMIT_NONE: break;
	}
	return NULL;
}

/* Would this message not have come but for an earlier complaint? */
static bool follows_poison(const struct loader *ld, const char *msg)
{
	return ld->npoison != 0 && (ld->limit == LIMIT_INSTR || ld->limit == LIMIT_ERRORS ||
		strncmp(msg, "attempt to", 10) == 0 || strncmp(msg, "bad argument", 12) == 0 ||
		strncmp(msg, "'for'", 5) == 0 || strstr(msg, "is not available in graph files") != NULL);
}

void loader_failed(struct loader *ld, int status, unsigned file, bool compiling)
{
	struct spec_place at = compiling ? (struct spec_place){ .file = file } : ld->now;
	const char *msg = lua_tostring(ld->L, -1), *limit = limit_text(ld);

	if (msg == NULL)
		msg = "failed without a message";
	msg = strip_place(msg, &at);
	if (strstr(msg, "stack overflow") != NULL)
		msg = compiling ? "nested more than 200 deep" : "nested too deeply (stack overflow)";
	if (limit != NULL && (status == LUA_ERRMEM || loader_final(ld))) {
		msg = limit;
		if (status != LUA_ERRMEM || ld->now.line != 0)
			at = ld->now;
	} else if (status == LUA_ERRMEM) {
		msg = "out of memory";
	}
	if (!follows_poison(ld, msg))
		spec_error(ld->s, ld->e, at, NULL, NULL, 0, "%s", msg);
	lua_pop(ld->L, 1);
}
