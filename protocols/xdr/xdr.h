/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr.h - what those round the presentation layer may know: how long its messages are.
 *
 * Above it a message is so many samples as they lie in memory; below it the same as an XDR
 * array (RFC 4506): a count, then the samples.  Over a stream an array is a record, cut into
 * fragments (RFC 5531 section 11).
 */
#ifndef XDR_H
#define XDR_H

#define XDR_SAMPLE      32u      /* bytes of a sample, in memory and in XDR */
#define XDR_COUNT       4u       /* bytes before the first of an array */
#define XDR_MARK        4u       /* bytes before a fragment */
#define XDR_SAMPLES_MAX 2046u    /* of an array, as samples.x declares it */

#define XDR_LAST        0x80000000u  /* in a mark: the record's last fragment */
#define XDR_EMPTY_MAX   16u          /* fragments without a byte that a record may have */

#endif
