/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fddi_priv.h - what the files of FDDI share.
 *
 *   fddi.c        the header, the paths, the descriptor
 *   fddi_fast.c   the paths again for a station known, and for batches
 */
#ifndef FDDI_PRIV_H
#define FDDI_PRIV_H

#include "protocols/fddi/fddi.h"
#include "protocols/link/link.h"

/* ---- header: where things lie ------------------------------------------------------ */

enum { FDDI_FC = 0, FDDI_DST = 1, FDDI_SRC = 7, FDDI_LLC = 13, FDDI_OUI = 16, FDDI_TYPE = 19 };

static const uint8_t fddi_llc_snap[8] = { 0xaa, 0xaa, 0x03, 0, 0, 0, 0, 0 };   /* then the type */

/* fddi.c */
XK_PLAIN void fddi_push(struct xk_sess *s, struct xk_msg *m);
XK_PLAIN void fddi_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);

/* fddi_fast.c, which is not in every build */
void fddi_fast_push(struct xk_sess *s, struct xk_msg *m);
void fddi_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
unsigned fddi_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);

#endif
