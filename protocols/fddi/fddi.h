/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fddi.h - FDDI with LLC/SNAP (RFC 1390): what the rest of the tree may know.
 *
 * Participants, flags and controls as of eth.h.
 */
#ifndef FDDI_H
#define FDDI_H

#include "runtime/upi/xk_proto.h"

#define FDDI_HDR_LEN 21u        /* frame control, addresses, LLC, SNAP */
#define FDDI_MAX_PAYLOAD 4352u  /* RFC 1390: the MTU of IP */
#define FDDI_FC_LLC_ASYNC 0x50u /* low three bits: priority */

extern const struct xk_proto xk_proto_fddi;

#endif
