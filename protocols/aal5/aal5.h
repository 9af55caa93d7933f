/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5.h - what those above AAL5 may know.
 *
 * To open: remote { host, port }, local { port }, or nothing or ANY.  To enable: { port }.  A circuit is
 * the two ports: that of who waits is its VCI, from 32 on, that of who opened is its VPI, 1 to 4095; where
 * no local port is given it is chosen.  A push is a frame of 1 to XK_CTL_GETMAXPACKET bytes.
 */
#ifndef AAL5_H
#define AAL5_H

#include "runtime/upi/xk_proto.h"

/* Of a session, uint8_t: the user-to-user byte of what is sent from now on; of the last frame received. */
#define AAL5_CTL_SET_UU (3635 * 1000 + 1)
#define AAL5_CTL_GET_UU (3635 * 1000 + 2)

#endif
