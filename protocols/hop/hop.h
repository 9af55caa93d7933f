/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hop.h - one graph hop: passes everything through.  Participants, controls and
 * numbers are those of the neighbours.
 */
#ifndef HOP_H
#define HOP_H

#include "runtime/upi/xk_proto.h"

extern const struct xk_proto xk_proto_hop;

#endif
