/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop_priv.h - what the files of hop share.
 *
 *   hop.c, hop_news.c   the layer, and what transports tell it
 *   hop_fast.c          batches
 */
#ifndef HOP_PRIV_H
#define HOP_PRIV_H

#include "protocols/virtual/virtual.h"

struct hop_conf { struct virt_conf virt; uint64_t burn; bool look; };

/* hop.c: what own sessions receive by, where a message is looked at or costs time. */
void hop_look_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void hop_burn_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void hop_burn(const struct xk_up *up, unsigned messages);

/* hop_news.c; and hop_fast.c, which is not in every build */
int  hop_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);
void hop_fast_look(const struct xk_up *up, const struct xk_batch *f, bool *filled);
void hop_fast_burn(const struct xk_up *up, const struct xk_batch *f, bool *filled);

#endif
