/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_papers.h - the catalogue of the papers' figures and tables.
 *
 * The catalogue is data, graphs/seeds/papers.json.  An entry is a figure or a
 * table: the bench files that measure it, the points of them that are its own
 * (`at`), the metrics it shows, what the build must have (`needs`).  Shapes and
 * their numbers say in the bench file to which figures they belong; those that
 * do not say belong to all that the file measures.
 * Invariant: every name is there once.
 */
#ifndef XK_BENCH_PAPERS_H
#define XK_BENCH_PAPERS_H

#include "tools/vp-bench/bench.h"

#define PAPERS_MAX 256u

struct paper_entry {
	const char   *name;        /* "schmidt1996.fig8" */
	const json_t *e, *paper;   /* of the catalogue */
};
struct papers {
	json_t            *doc;
	char               dir[3072];
	struct paper_entry entry[PAPERS_MAX];
	unsigned           n;
	char               names[PAPERS_MAX][48];
};

/* From dir/papers.json; false after a sentence in why. */
bool papers_load(struct papers *p, const char *dir, char *why, size_t n);
/* The same of the folder given, or of the first of those known, NULL; false after a sentence on stderr. */
bool papers_find(struct papers *p, const char *given);
void papers_free(struct papers *p);
/* "schmidt1996.fig8", "schmidt1996", "all", in any case: marks what is meant; how many, 0: nothing. */
unsigned papers_choose(const struct papers *p, const char *name, bool *chosen);
/* The first thing in `needs` that this build has not, or NULL. */
const char *papers_missing(const struct paper_entry *e);
/* Its i-th file below dir, or NULL. */
const char *papers_file(const struct papers *p, const struct paper_entry *e, unsigned i, char *buf, size_t n);
/* An entry as the Lua modules get it, new. */
json_t *papers_json(const struct paper_entry *e);
/* Keeps of a bench the points, shapes and numbers of the chosen entries; false and why. */
bool papers_narrow(const struct papers *p, const bool *chosen, struct bench *b, char *why, size_t n);

#endif
