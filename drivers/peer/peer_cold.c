/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer_cold.c - a circular list of receive buffers larger than the cache, so
 * that received data come from memory, not from the cache.
 *
 * For each frame the most recently freed buffer goes to the tail and the one
 * at the head is used: what was freed a whole list ago.  Each VP has its own
 * list, so it needs no lock; where VPs are wired one to a processor that is
 * the list per physical processor of the paper.
 */
#include "drivers/peer/peer_priv.h"
#include "runtime/upi/xk_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define L2_FALLBACK (1u << 20)

/* First line of a small file of sysfs, or false. */
static bool sys_line(unsigned index, const char *name, char *buf, size_t n)
{
	char path[128];
	FILE *f;
	bool ok;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	ok = fgets(buf, (int)n, f) != NULL;
	fclose(f);
	return ok;
}

static uint64_t l2_size(void)
{
	char level[16], size[32];

	for (unsigned i = 0; sys_line(i, "level", level, sizeof level); i++) {
		char *end;
		unsigned long v;

		if (atoi(level) != 2 || !sys_line(i, "size", size, sizeof size))
			continue;
		v = strtoul(size, &end, 10);
		return (uint64_t)v << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);
	}
	return L2_FALLBACK;
}

int peer_cold_fill(struct peer_cold *c, uint64_t bytes, uint32_t frame)
{
	enum xk_memclass cls = xk_msg_class(frame);
	uint64_t want = (bytes != 0 ? bytes : 2 * l2_size()) / frame + 1;

	if (want > UINT32_MAX)
		return XK_E_NOMEM;
	c->slot = xk_alloc(want * sizeof *c->slot);
	if (c->slot == NULL)
		return XK_E_NOMEM;
	for (c->n = 0; c->n < want; c->n++) {
		c->slot[c->n] = xk_msg_new_cls(cls, frame);
		if (c->slot[c->n] == NULL)
			return XK_E_NOMEM;
	}
	return XK_OK;
}

void peer_cold_empty(struct peer_cold *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		xk_msg_free(c->slot[i]);
	xk_free(c->slot);
	memset(c, 0, sizeof *c);
}

void peer_cold_warn(struct xk_node *n)
{
	if (!n->graph->vps->arch.wired)
		XK_TRACE(&n->log, 2, "rxbuf = \"cold\" measures what it should only where workers are wired "
			 "(threading = \"ppc\" or wired = true)");
}
