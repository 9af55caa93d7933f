/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit.h - the conformance kit: what its clauses share.
 *
 * A clause is a promise of the contract (runtime/upi/xk_proto.h) that one protocol or driver is held
 * to.  It is tried in a scene: a graph that has nodes of it, made by the kit out of the
 * descriptor, or a file.  Each clause runs in a process of its own, so that a crash or a
 * hang is a finding like others.
 * Invariant: what a clause finds follows from the seed, where time is virtual.
 */
#ifndef KIT_H
#define KIT_H

#include "tools/vp-graph/vpg.h"

#define KIT_TEXT  700u
#define KIT_NOTE  240u
#define KIT_ARGS  64u
#define KIT_PORT  7u

enum kit_state { KIT_NONE, KIT_PASS, KIT_FAIL, KIT_SKIP };

/* What a clause has found, in memory that the process of the clause shares with who started it. */
struct kit_found {
	enum kit_state state;
	char what[KIT_TEXT];             /* pass: how much was tried */
	char at[KIT_NOTE];               /* what is being tried: where a crash was */
};

struct kit {
	const struct vpg      *o;
	const struct xk_proto *proto;    /* under test */
	const char *file;                /* the scene's name in errors */
	char       *body;                /* its text, as written */
	bool        is_file;             /* given, or found: what must be given, it gives */
	bool        is_made;             /* by the kit's words: knows apps, conns, count, size */
	bool        real;                /* it cannot run in virtual time */
	const char *arg[KIT_ARGS];       /* of the scene, from the command line */
	unsigned    narg;
	uint64_t    seed;
	unsigned    rounds;              /* inputs of the clauses that draw them */
	unsigned    seconds;             /* of processor time that a clause may take */
	struct kit_found *found;
};

/* vp-graph test NAME [k=v ...]: an exit code. */
int kit_test(const struct vpg *o);

struct kit_clause {
	const char *name, *what, *source;
	void      (*run)(struct kit *k);
};
extern const struct kit_clause kit_clauses[];    /* NULL-named last */

/* ---- findings ----------------------------------------------------------------------------- */

/* The first one counts; the caller returns. */
void kit_fail(struct kit *k, const char *fmt, ...) XK_PRINTF(2, 3);
void kit_skip(struct kit *k, const char *fmt, ...) XK_PRINTF(2, 3);
/* Behind what was found. */
void kit_more(struct kit *k, const char *fmt, ...) XK_PRINTF(2, 3);
/* How much was tried, where nothing was found. */
void kit_pass(struct kit *k, const char *fmt, ...) XK_PRINTF(2, 3);
/* What comes next: told where the process dies of it. */
void kit_at(struct kit *k, const char *fmt, ...) XK_PRINTF(2, 3);
static inline bool kit_found_any(const struct kit *k) { return k->found->state != KIT_NONE; }

/*
 * Runs fn in a process of its own and waits for it; *f is what it found.  A signal, an exit, more
 * processor time than may be taken and a sleep without end are failures.  May be nested.
 */
void kit_apart(struct kit *k, void (*fn)(struct kit *k, void *arg), void *arg, struct kit_found *f);

/* ---- scenes ----------------------------------------------------------------------------- */

/* Finds k's scene: the file of --graph, NAME.test.lua beside a plug-in or of the build, or one that
 * is made; then whether it runs in virtual time.  False: said in f, a skip or a failure. */
bool kit_scene(struct kit *k, struct kit_found *f);
void kit_scene_free(struct kit *k);
/* Every word that a scene may have: protocols and drivers, and those of the kit. */
const struct xk_proto *const *kit_table(void);

/* ---- a scene, built ------------------------------------------------------------------------ */

/* How a scene is to be; all zero: as it is. */
struct kit_how {
	const char *preset;              /* a row of xk_arch_presets, as a graph file would call it */
	unsigned    vps;                 /* where the row has not its own number; 0: as the row has it */
	unsigned    conns, count, size;  /* 0: as the scene has them */
	bool        probes;              /* the kit's own applications at the ends */
	bool        threads;             /* workers and a real clock */
	bool        tight;               /* queues between threads as short as they can be */
	const struct xk_param *param;    /* every node under test has this value of it */
	const char *value;
};
struct kit_world {
	struct kit     *k;
	struct xk_spec *s;
	struct xk_graph *g;              /* NULL: not built */
	struct xk_errs *e;
	uint64_t        live;            /* blocks before */
	bool            is_up;
	int             err;             /* of the start */
};
/* Load, check, build; then up and running.  false: why is in w->e; kit_down all the same. */
bool kit_build(struct kit_world *w, struct kit *k, const struct kit_how *how);
bool kit_up(struct kit_world *w);
/* Both; a failure is a finding. */
bool kit_start(struct kit_world *w, struct kit *k, const struct kit_how *how);
/* Frees all.  A leak, and messages that were astray, are a finding of who has none. */
void kit_down(struct kit_world *w);
/* The first error, or "". */
const char *kit_error(const struct kit_world *w);
/* Lets the applications finish, or time pass: true when they did, and messages went through nodes under test. */
bool kit_talk(struct kit_world *w);
/* Virtual time: lets dt pass; 2 ms at most where nobody ever ends. */
void kit_pass_time(struct kit_world *w, xk_ns dt);
/* Does everybody in it stop by himself?  Else time would bring more messages. */
bool kit_ends(const struct kit_world *w);
/* Virtual time: what is left after lingering, idle and TIME-WAIT have ended. */
void kit_rest(struct kit_world *w);
/* Buffers that are out; below 0: some came back more than once. */
int64_t kit_buffers(const struct kit_world *w);
/* Node number i of those under test, bottom-up; NULL: no more. */
struct xk_node *kit_node(const struct kit_world *w, unsigned i);
/* Live sessions of n, over all VPs. */
uint64_t kit_sessions(const struct xk_node *n);

/* ---- probes: the kit's applications (kit_probe.c) --------------------------------------- */

extern const struct xk_proto kit_probe_port, kit_probe_stream;

/* A message that a probe got, or bytes of a stream. */
struct kit_got { uint16_t vp; bool answers; uint32_t conn; uint32_t len; uint8_t *bytes; };
struct kit_gots { unsigned n, room; struct kit_got *v; };
/* Of this process; nodes of probes add to it. */
extern struct kit_gots kit_gots;
void kit_gots_clear(void);

/* A connection of the probe that asks, on VP vp of w; NULL: why is in *err. */
struct xk_sess *kit_open(struct kit_world *w, unsigned vp, unsigned conn, int *err);
/* Pushes n bytes; false: memory is out. */
bool kit_push(struct kit_world *w, struct xk_sess *s, const void *bytes, uint32_t n);
void kit_close(struct kit_world *w, struct xk_sess *s);
/* The probe that answers gives back the connections that came. */
void kit_let_go(struct kit_world *w);
/* Has w both probes? */
bool kit_has_probes(const struct kit_world *w);
bool kit_is_stream(const struct kit_world *w);
/* Longest message that a session may be given. */
uint32_t kit_longest(struct kit_world *w, struct xk_sess *s);

#endif
