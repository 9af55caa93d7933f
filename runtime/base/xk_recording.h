/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_recording.h - what a flight recorder's rings look like in a file: a recording (docs/recorder.md).
 *
 * A head; then chunks, each with records of one ring, the chunks of a ring in order; a chunk of no records; then lines of
 * text to the end, that give numbers their names, the last of them "end".  Numbers are in the byte order of who wrote it.
 * Written by xk_graph_record, which a handler of signals may call; read by tools/recorder.
 */
#ifndef XK_RECORDING_H
#define XK_RECORDING_H

#include "runtime/base/xk_recorder.h"

#define XK_RECORDING_MAGIC   "xkvprec"
#define XK_RECORDING_VERSION 2u
#define XK_RECORDING_ORDER   0x01020304u

/* Why it was written, and cause_no: the number of a signal; of a drop the node, from bit 16 on the reason. */
enum xk_recording_cause { XK_RECORDING_ASKED, XK_RECORDING_SIGNAL, XK_RECORDING_DROP, XK_RECORDING_CAUSES };

struct xk_recording_head {
	char     magic[8];
	uint32_t version, order;
	uint32_t size;           /* of a record */
	uint32_t cause, cause_no, spare;
	uint64_t now;            /* when it was written: ns, of the graph's clock */
	uint64_t wall;           /* what is to be added to its times for those of capture files: ns since 1970, virtual: 0 */
};
_Static_assert(sizeof(struct xk_recording_head) == 48, "so it stands in files");

#define XK_RECORDING_WORKER 0x80000000u  /* the ring is a worker's, not a virtual processor's */
struct xk_recording_chunk {
	uint64_t first;          /* number of the first of them since the ring began */
	uint32_t n;              /* records that follow; 0: text does */
	uint32_t ring;           /* number of the virtual processor, or worker */
};
_Static_assert(sizeof(struct xk_recording_chunk) == 16, "so it stands in files");

/*
 * Lines of text: words with one blank between, the last of them to the line's end.
 *   node NUMBER PROTOCOL NAME
 *   drop NODE NUMBER TEXT
 *   event NODE NUMBER TEXT       (xk_record.h)
 *   failed NODE TEXT             why it can no more do what it is there for
 *   threading NAME, graph NAME
 *   end
 */

#endif
