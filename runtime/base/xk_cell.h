/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_cell.h - cells of ATM, and the trains in which they pass between who cuts frames into them and
 * who carries them.
 *
 * A cell is a header of 5 bytes (ITU-T I.361, network-node interface: VPI 12 bits, VCI 16, payload type
 * 3, loss priority 1, and a check of these, HEC, 8) and 48 bytes of payload.
 * A *train* is a message: the first four bytes of the header, then the payloads of so many cells that
 * follow each other on one circuit.  XK_CELL_LAST in it is said of the last cell alone, all else of each.
 */
#ifndef XK_CELL_H
#define XK_CELL_H

#include <stdint.h>

#define XK_CELL_LEN     53u
#define XK_CELL_PAYLOAD 48u
#define XK_CELL_HDR     4u                       /* of a train; of a cell 5 */
#define XK_CELL_MOST    1366u                    /* cells of a train: 65535 bytes and a trailer of 8 */
#define XK_CELL_TRAIN   (XK_CELL_HDR + XK_CELL_MOST * XK_CELL_PAYLOAD)

/* The four bytes as one number. */
#define XK_CELL_CLP     1u                       /* may be lost before others */
#define XK_CELL_LAST    2u                       /* AAU: with it AAL5's frame ends */
#define XK_CELL_CONG    4u                       /* somebody on the way was congested */
#define XK_CELL_NOUSER  8u                       /* of operation and maintenance, or reserved: no user's */
#define XK_CELL_VC(vpi, vci) ((uint32_t)(vpi) << 20 | (uint32_t)(vci) << 4)
#define XK_CELL_VC_MASK 0xfffffff0u

static inline uint32_t xk_cell_vpi(uint32_t header) { return header >> 20; }
static inline uint32_t xk_cell_vci(uint32_t header) { return header >> 4 & 0xffff; }

#endif
