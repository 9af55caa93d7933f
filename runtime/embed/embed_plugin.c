/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed_plugin.c - plug-ins of a program that embeds graphs.
 *
 * The table of protocols is the process's and moves when it grows, so it grows only while there is no graph that
 * reads it. A plug-in finds the runtime's functions among those of the program.  Where the library was itself
 * loaded by dlopen, as by an interpreter, they are not there: so it shows them to whatever is loaded after it.
 * Invariant: `graphs` counts those between xk_embed_new and the end of xk_embed_free.
 */
#include "runtime/embed/embed_priv.h"

#include <dlfcn.h>

#include "runtime/compose/xk_plugins.h"

static uint32_t graphs;

void embed_begins(void) { (void)xk_atomic_add(&graphs, 1u); }
void embed_ends(void) { (void)xk_atomic_add(&graphs, (uint32_t)-1); }

/* Of a program that is linked with the library, or has it inside, nothing changes. */
static void show_names(void)
{
	Dl_info self;

	if (dladdr((void *)(uintptr_t)xk_embed_plugin, &self) != 0 && self.dli_fname != NULL)
		(void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

int xk_embed_plugin(const char *file, char *why, size_t n)
{
	if (xk_load_acquire(&graphs) != 0) {
		snprintf(why, n, "cannot be loaded while there is a graph: load it before the first one");
		return XK_E_BUSY;
	}
	show_names();
	return xk_plugin_load(file, why, n);
}

int xk_embed_plugins(const char *program)
{
	if (xk_load_acquire(&graphs) != 0)
		return XK_E_BUSY;
	show_names();
	xk_plugins_find(program);
	return XK_OK;
}
