/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_secret.c - numbers that nobody guesses: of the system in real time, of the seed in virtual time.
 */
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_node.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/upi/xk_vps.h"
#include "runtime/vp/xk_vp.h"

uint64_t xk_vp_secret(struct xk_vp *vp)
{
	return vp->set->clock.is_virtual ? xk_rand_u64(xk_vp_rand(vp)) : xk_rand_entropy();
}

uint64_t xk_vp_secret_below(struct xk_vp *vp, uint64_t n)
{
	if (vp->set->clock.is_virtual)
		return xk_rand_below(xk_vp_rand(vp), n);
	return (uint64_t)((unsigned __int128)xk_rand_entropy() * n >> 64);
}

void xk_node_secrets(const struct xk_node *n, uint64_t stream, uint64_t *out, unsigned k)
{
	struct xk_rand r;

	xk_rand_init(&r, xk_node_seed(n), stream + n->no);
	for (unsigned i = 0; i < k; i++)
		out[i] = xk_rand_u64(&r) ^ (xk_node_simulated(n) ? 0 : xk_rand_entropy());
}
