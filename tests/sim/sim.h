/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - deterministic simulation: two hosts with TCP in one graph, a bad link
 * between them, a virtual clock, everything from one seed.
 *
 * A case is a list of small numbers.  Running one builds the graph, lets two
 * applications exchange streams of bytes whose value depends on connection,
 * direction and place, and judges: every byte exact, every end told of the
 * other's end, no silence of the wire while there is work to do, everything given
 * back in the end.  All frames are hashed, so that two runs can be compared.
 *
 *   sim_case.c    cases: from a seed, as text, as a graph file
 *   sim_app.c     the applications at both ends
 *   sim_run.c     one run and its verdict
 *   sim_many.c    many runs, several processes
 *   sim_shrink.c  the smallest case that still fails
 *   sim.c         the program: many seeds, or one case again
 * Invariant: a case and a build give the same frames at the same times.
 */
#ifndef TESTS_SIM_H
#define TESTS_SIM_H

#include <stdio.h>

#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_proto.h"
#include "runtime/vp/xk_timer.h"

#define SIM_CONNS 4u
#define SIM_TEXT  768u

/*
 * X(name, default, doc, values from the mildest to the worst).  The default is the
 * mildest, so that a case prints as what is unusual about it.  Fractions are
 * hundredths of a percent.
 */
#define SIM_FIELDS(X) \
	X(loss, 0, "frames lost, 1/10000, each way", 0, 10, 100, 200, 500, 1000, 2000, 3000) \
	X(dup, 0, "frames that come twice, 1/10000", 0, 100, 1000) \
	X(reorder, 0, "frames overtaken, 1/10000", 0, 100, 1000) \
	X(depth, 1, "by at most so many others", 1, 10, 100) \
	X(corrupt, 0, "frames with one bit changed, 1/10000", 0, 1, 100) \
	X(rtt, 1, "round trip, ms", 1, 100, 600) \
	X(jitter, 0, "of each way, ms", 0, 5, 50) \
	X(rate, 0, "of the link, Mbit/s; 0: none", 0, 10, 1) \
	X(buf, 64, "send and receive buffers, KiB", 64, 512, 8, 1) \
	X(ab, 20000, "bytes from the opener", 20000, 1, 0, 100000, 600000) \
	X(ba, 0, "bytes to the opener", 0, 1, 20000, 100000, 600000) \
	X(chunk, 4096, "longest piece that is pushed", 4096, 1000, 30000, 37) \
	X(slow, 0, "readers that take their time: 1 the listener, 2 the opener, 3 both", 0, 1, 2, 3) \
	X(end, 0, "who closes without waiting: 1 opener, 2 listener; 4 the listener answers after the end", 0, 1, 2, 3, 4, 6) \
	X(profile, 0, "of the opener", 0, 1, 2, 3, 4) \
	X(peer, 0, "profile of the listener", 0, 1, 2, 3, 4) \
	X(fddi, 0, "link", 0, 1) \
	X(conns, 1, "connections", 1, 2, 4) \
	X(vps, 1, "virtual processors", 1, 3) \
	X(outage, 0, "seconds that the link is dead, after the first one", 0, 3, 30) \
	X(cc, 0, "congestion control: 0 the profile's, 1 cubic, 2 reno, 3 none", 0, 1, 2, 3) \
	X(nots, 0, "without timestamps", 0, 1) \
	X(queue, 65536, "frames on the link, each way", 65536) \
	X(plain, 0, "slow start without HyStart++", 0)

struct sim_case {
	uint64_t seed;
#define SIM_MEMBER(name, def, doc, ...) uint32_t name;
	SIM_FIELDS(SIM_MEMBER)
#undef SIM_MEMBER
};

struct sim_result {
	bool     ok;
	char     why[256];       /* of a failure, one line */
	uint64_t hash;           /* of all frames with their times and directions */
	uint64_t frames;
	xk_ns    took;           /* virtual, until the last byte had arrived */
	uint64_t retransmits;    /* of both ends, as tcp counts them */
};

/* sim_case.c */
void sim_case_mild(struct sim_case *c, uint64_t seed);
void sim_case_random(struct sim_case *c, uint64_t seed);
/* "seed=5 loss=100 ..."; false with the word that is wrong in *why. */
bool sim_case_parse(struct sim_case *c, int n, char *const *words, const char **why);
void sim_case_print(const struct sim_case *c, char *text, size_t n);
unsigned sim_case_graph(const struct sim_case *c, char *text, size_t n);
/* May the link eat eight transmissions in a row? */
static inline bool sim_case_is_rough(const struct sim_case *c)
{
	return c->loss > 1000 || c->outage >= 30;
}
/* Fields by number, for the shrinker and the help. */
struct sim_field { const char *name, *doc; uint32_t def; const uint32_t *value; unsigned n; size_t at; };
extern const struct sim_field sim_fields[];
extern const unsigned sim_nfields;
static inline uint32_t *sim_field_of(struct sim_case *c, unsigned i)
{
	return (uint32_t *)(void *)((char *)c + sim_fields[i].at);
}

/* sim_app.c: one exchange at a time. */
enum { SIM_OPENER, SIM_LISTENER };
struct sim_end {
	struct xk_sess *s;               /* NULL: not yet, or given back */
	struct xk_rep  *r;
	uint64_t        want_out, want_in, out, in;
	uint64_t        held;            /* slow: passed up, not taken */
	uint32_t        turn;            /* of the slow reader */
	bool            opened, shut, drained, peer_closed, done;
	struct xk_timer pause;
};
struct sim_world {
	const struct sim_case *c;
	struct sim_end end[2][SIM_CONNS];
	struct xk_rand rand;
	uint64_t       moved;            /* grows whenever anything goes forward ... */
	xk_ns          moved_at;         /* ... which was then */
	unsigned       undone;           /* ends that have not finished */
	char           why[256];         /* first failure, or empty */
};
extern struct sim_world sim_world;
extern const struct xk_proto xk_proto_simapp;
void sim_world_begin(const struct sim_case *c);
void sim_fail(const char *fmt, ...) XK_PRINTF(1, 2);

/* sim_run.c */
/* Where not NULL, every frame is printed there as it is sent and received. */
extern FILE *sim_trace;
bool sim_run(const struct sim_case *c, struct sim_result *r);
/* The same in a process of its own: a crash is a failure, too. */
bool sim_run_apart(const struct sim_case *c, struct sim_result *r);

/* Cases number 0 to n - 1, several at a time, each process taking the next one; make
 * fills in case i.  Every failure is told to `failed` (or NULL), in the caller's
 * process; returns how many there were, and adds up the frames. */
struct sim_batch {
	void (*make)(struct sim_case *c, uint64_t i, void *arg);
	void (*failed)(const struct sim_case *c, const struct sim_result *r, void *arg);
	void *arg;
	uint64_t frames;
	struct sim_result *all;  /* of case i in all[i]; NULL: nobody asks */
	bool  twice;             /* each case twice: other frames are a failure */
};
uint64_t sim_many(struct sim_batch *b, uint64_t n);

/* sim_shrink.c: makes a failing case small; every try is told to `log` (or NULL). */
void sim_shrink(struct sim_case *c, struct sim_result *r, FILE *log);

#endif
