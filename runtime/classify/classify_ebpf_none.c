/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_none.c - what stands for the eBPF loader where libbpf was not found.
 *
 * Invariant: everything here fails, and says what to install.
 */
#include <stdio.h>

#include "runtime/classify/classify_ebpf.h"

static int without(char *log, size_t loglen)
{
	snprintf(log, loglen, "built without libbpf: install libbpf-dev and build again");
	return XK_E_NOTSUP;
}

int xk_pattern_xdp(const struct xk_pattern *p, unsigned nvps, int xskmap_fd, int flows_fd, char *log, size_t loglen)
{
	(void)p, (void)nvps, (void)xskmap_fd, (void)flows_fd;
	return without(log, loglen);
}

int xk_pattern_fanout(const struct xk_pattern *p, unsigned nvps, int flows_fd, char *log, size_t loglen)
{
	(void)p, (void)nvps, (void)flows_fd;
	return without(log, loglen);
}

int xk_ebpf_flows_new(uint32_t most, char *log, size_t loglen)
{
	(void)most;
	return without(log, loglen);
}

int xk_ebpf_flows_set(int flows_fd, const struct xk_flowkey *k, uint16_t vp)
{
	(void)flows_fd, (void)k, (void)vp;
	return XK_E_NOTSUP;
}

int xk_ebpf_flows_drop(int flows_fd, const struct xk_flowkey *k)
{
	(void)flows_fd, (void)k;
	return XK_E_NOTSUP;
}

int xk_ebpf_open(struct xk_ebpf **e, const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned slots, char *why, size_t n)
{
	(void)p, (void)kind, (void)slots;
	*e = NULL;
	return without(why, n);
}

/* There is none to come here with. */

void xk_ebpf_close(struct xk_ebpf *e)
{
	xk_assert(e == NULL);
}

unsigned xk_ebpf_slots(const struct xk_ebpf *e)
{
	xk_assert(e == NULL);
	return 0;
}

bool xk_ebpf_call(struct xk_ebpf *e, unsigned n)
{
	(void)n;
	xk_assert(e == NULL);
	return false;
}
