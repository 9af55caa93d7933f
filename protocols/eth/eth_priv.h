/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth_priv.h - what the files of Ethernet share.
 *
 *   eth.c        the header, the paths, the descriptor
 *   eth_fast.c   the paths again for a station known, and for batches
 */
#ifndef ETH_PRIV_H
#define ETH_PRIV_H

#include "protocols/eth/eth.h"
#include "protocols/link/link.h"

/* eth.c */
XK_PLAIN void eth_push(struct xk_sess *s, struct xk_msg *m);
XK_PLAIN void eth_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);

/* eth_fast.c, which is not in every build */
void eth_fast_push(struct xk_sess *s, struct xk_msg *m);
void eth_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
unsigned eth_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);

#endif
