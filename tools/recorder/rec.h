/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rec.h - a recording (runtime/base/xk_recording.h), read and shown.
 *
 * A file comes from a process that died, perhaps in the middle of writing it, or from a stranger: whatever it says, what is
 * there of it is shown, in memory in proportion to its length.
 */
#ifndef REC_H
#define REC_H

#include <stdio.h>

#include "runtime/base/xk_recording.h"

#define REC_MOST ((size_t)64 << 20)      /* bytes of a file */

struct rec_row {
	struct xk_rec r;
	uint64_t      no;                /* in its ring, from when that began */
	uint64_t      gone;              /* that many before it in its ring are not here */
	uint32_t      ring;              /* as in a chunk */
};

enum rec_word { REC_NODE, REC_PROTOCOL, REC_DROP, REC_EVENT, REC_FAILED };
struct rec_name { enum rec_word word; uint32_t node, no; const char *text; };

struct rec {
	struct xk_recording_head head;
	struct rec_row  *row;            /* in the order of time, then of rings */
	size_t           nrows;
	struct rec_name *name;           /* in order */
	size_t           nnames;
	const char      *graph, *threading;      /* "" where the file does not say */
	uint64_t         gone;           /* records that were written over, of all rings */
	uint64_t         left_out;       /* later ones, of who reads while they are written */
	bool             whole;          /* it is there to its end */
	char            *text;
};

/* All of a file's bytes.  False: it is none, a sentence is in why[n], and r is as after rec_free. */
bool rec_read(struct rec *r, const void *bytes, size_t len, char *why, size_t n);
void rec_free(struct rec *r);            /* legal when zeroed */
/* NULL: the file does not say. */
const char *rec_name(const struct rec *r, enum rec_word word, uint32_t node, uint32_t no);

static inline bool rec_is_worker(uint32_t ring) { return (ring & XK_RECORDING_WORKER) != 0; }
static inline uint32_t rec_ring_no(uint32_t ring) { return ring & ~XK_RECORDING_WORKER; }

/* What a record is called, what it says: at most n bytes with their end. */
const char *rec_kind(const struct rec_row *x);
void rec_say(const struct rec *r, const struct rec_row *x, char *text, size_t n);

/* A line each, the oldest first. */
void rec_text(FILE *f, const struct rec *r);
/* As Chrome's trace format has it (rec_trace.c).  False: out of memory. */
bool rec_trace(FILE *f, const struct rec *r);
/* The capture file of the same run as pcapng, records as comments of its frames.  False: it is none of the same time, or the
 * end of something, a sentence is in why[n]; what f has is no file then. */
bool rec_pcapng(FILE *f, const struct rec *r, const char *capture, char *why, size_t n);

#endif
