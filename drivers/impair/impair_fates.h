/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * impair_fates.h - what becomes of frames that a list names by their numbers.
 *
 * An entry is "[up|down] FIRST[-LAST] lost|doubled|late N": of the frames of each virtual processor
 * and direction, counted from 1.  late N: N others pass it.
 * Read-only once made; each direction of a replica walks through its own part with a cursor.
 */
#ifndef IMPAIR_FATES_H
#define IMPAIR_FATES_H

#include "runtime/upi/xk_proto.h"

#define FATE_LATE_MAX 1000u

enum { IMPAIR_UP, IMPAIR_DOWN };
enum fate_what { FATE_NONE, FATE_LOST, FATE_DOUBLED, FATE_LATE };

struct fate {
	uint64_t       first, last;      /* frames */
	enum fate_what what;
	uint32_t       late;             /* FATE_LATE: so many others pass it */
};
/* By number, none twice. */
struct fates { struct fate *v[2]; unsigned n[2]; };

/* Reads the texts of l; XK_E_INVAL with a sentence in why[n], XK_E_NOMEM.  On failure f is empty. */
int  fates_read(struct fates *f, const struct xk_plist *l, char *why, size_t n);
void fates_free(struct fates *f);

/* The fate of frame `no`, numbers only growing; *at is the cursor, 0 at first. */
static inline const struct fate *fates_find(const struct fates *f, unsigned way, unsigned *at, uint64_t no)
{
	while (*at < f->n[way] && f->v[way][*at].last < no)
		++*at;
	return *at < f->n[way] && f->v[way][*at].first <= no ? &f->v[way][*at] : NULL;
}

#endif
