/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_json.c - jansson's memory: see xk_json.h.
 *
 * Invariant: what is handed out here is the C library's, so free() takes it back.
 */
#include "runtime/run/xk_json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/mem/xk_mem.h"

static struct { const char *program; int code; } end;
static _Thread_local uint64_t lost;

static void *json_memory(size_t n)
{
	void *p = xk_mem_fails() ? NULL : malloc(n);

	if (XK_LIKELY(p != NULL))
		return p;
	lost++;
	if (end.program != NULL) {
		dprintf(STDERR_FILENO, "%s: out of memory\n", end.program);
		_exit(end.code);
	}
	return NULL;
}

void xk_json_start(const char *program, int code)
{
	end.program = program;
	end.code = code;
	json_set_alloc_funcs(json_memory, free);
}

uint64_t xk_json_lost(void)
{
	return lost;
}
