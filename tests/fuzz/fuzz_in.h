/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_in.h - what fuzz targets share: an input read as choices, and the end of a run that broke a promise.
 *
 * A target reads its input from front to back; past the end there are zeros, so that every prefix of an input is
 * one, too.  What a target promises is said by fuzz_must: a fuzzer and the replay of a corpus both see the abort.
 * Invariant: nothing is read past the end of an input.
 */
#ifndef FUZZ_IN_H
#define FUZZ_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_in { const uint8_t *p, *end; };

static inline bool fuzz_more(const struct fuzz_in *in) { return in->p < in->end; }
static inline unsigned fuzz_byte(struct fuzz_in *in) { return fuzz_more(in) ? *in->p++ : 0; }
static inline unsigned fuzz_word(struct fuzz_in *in) { unsigned hi = fuzz_byte(in); return hi << 8 | fuzz_byte(in); }
static inline uint32_t fuzz_long(struct fuzz_in *in) { uint32_t hi = fuzz_word(in); return hi << 16 | fuzz_word(in); }
/* At most n bytes that are there. */
static inline uint32_t fuzz_some(struct fuzz_in *in, const uint8_t **at, uint32_t n)
{
	*at = in->p;
	if (n > (size_t)(in->end - in->p))
		n = (uint32_t)(in->end - in->p);
	in->p += n;
	return n;
}

/* why: NULL, or which promise was broken. */
static inline void fuzz_must(const char *why)
{
	if (why == NULL)
		return;
	fprintf(stderr, "# %s\n", why);
	abort();
}

#endif
