/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_priv.h - what the files of this room share: the specification as it
 * is recorded, the loader that records it, and the place finder.
 *
 * Everything recorded lives in the specification's arena and dies with it, so
 * nothing is freed alone and a half-made record needs no undo.
 * Invariant: nothing here points into the Lua state, which is gone when
 * xk_spec_load returns.
 */
#ifndef COMPOSE_PRIV_H
#define COMPOSE_PRIV_H

#include "runtime/compose/xk_compose.h"

/* ---- limits of a graph file ---------------------------------------------------- */

#define COMPOSE_FILE_MAX   (1u << 20)       /* bytes of one file */
#define COMPOSE_FILES_MAX  256u             /* files of one graph */
#define COMPOSE_NODES_MAX  65536u           /* their numbers have 16 bits */
#define COMPOSE_DEEP_MAX   4096u            /* nodes one over another: calls nest as deep */
#define COMPOSE_VALUES_MAX 1000000u         /* values in all tables together */
#define COMPOSE_ERRORS_MAX 1000u            /* shown of one file; each costs a look at the source */
#define COMPOSE_SCAN_MAX   20000000u        /* tokens read again to find the places of errors */
#define COMPOSE_AGAIN_MAX  10000u           /* complaints, again and again the same or not, that end a file */
#define COMPOSE_DEPTH_MAX  16u              /* tables inside tables */
#define COMPOSE_NAME_MAX   63u
#define COMPOSE_INSTR_MAX  10000000u        /* instructions */
#define COMPOSE_CALLS_MAX  2000             /* calls inside calls */
#define COMPOSE_MEM_MAX    (64u << 20)      /* bytes of Lua at one time */
#define COMPOSE_CHURN_MAX  (1ull << 30)     /* bytes of Lua ever taken */
#define COMPOSE_TIME_MAX   (10 * XK_SEC)    /* of the thread: what C functions of Lua can burn */

/* ---- arena ------------------------------------------------------------------------ */

struct arena_chunk;
struct arena { struct arena_chunk *chunk; };
/* Zeroed, aligned for anything; NULL when out of memory. */
void *arena_get(struct arena *a, size_t n);
char *arena_text(struct arena *a, const char *s, size_t n);
void  arena_fini(struct arena *a);

/* ---- the specification ----------------------------------------------------------------- */

struct spec_file {
	const char *name;              /* as shown */
	const char *real;              /* resolved, for include; name when there is none */
	const char *text;
	size_t      len;
	bool        loading;           /* its chunk is running */
	int         ref;               /* registry reference of its result, while loading lasts */
};

#define SPEC_FROM 3u
/* Line 0: unknown.  Inside a function, nfrom callers: the nearest first, the outermost last. */
struct spec_at { unsigned file; int line; };
struct spec_place { unsigned file; int line; struct spec_at from[SPEC_FROM]; unsigned nfrom; };

struct spec_node {
	const struct xk_proto *proto;
	const char        *name;       /* NULL until names are given out */
	bool               named;      /* by the user */
	struct spec_place  at;
	struct xk_value    tab;        /* the table as written */
	unsigned          *over;
	unsigned           nover;
	bool               over_given; /* by `over` */
	bool               stacked;    /* by stack */
	bool               over_bad;   /* complained about already */
	int                trace;      /* -1: not given */
	void              *conf;       /* parsed by the check */
	uint8_t            mark;       /* walks */
	unsigned           deep;       /* nodes from the bottom to here, this one too */
};

struct spec_arch { const struct xk_arch *preset; struct spec_place at; struct xk_value tab; };

/* graph "name" { ... }, bench "name" { ... } or machine "name" { ... } */
enum top_kind { TOP_GRAPH, TOP_BENCH, TOP_MACHINE, TOP_KINDS };
struct spec_top { const char *name; enum top_kind kind; struct spec_place at; struct xk_value tab; };

struct xk_spec {
	struct arena       arena;
	const struct xk_proto *const *table;
	struct spec_file  *file;   unsigned nfiles;
	struct spec_node  *node;   unsigned nnodes, room_nodes;
	unsigned          *name;   unsigned nnames, room_names;   /* see compose_names.c */
	struct spec_arch  *arch;   unsigned narchs, room_archs;
	struct spec_top   *top;    unsigned ntops, room_tops;
	struct xk_arg     *arg;    unsigned nargs;
	int                graph, bench, machine;   /* numbers of the tops returned; -1: none */
	bool               complete;       /* the file ran to its end */
	bool               checked;        /* without errors */
	unsigned           nvalues;
	unsigned           ncomplaints;    /* made while the file ran, repeated ones and all */
	uint64_t          *scan_left;      /* tokens, see COMPOSE_SCAN_MAX */
	unsigned          *order;          /* nodes bottom-up, after the check */
	struct xk_plan     plan;
	const char        *nearest;        /* threading that can run, when what is written cannot: a line of Lua */
	void              *graph_conf;     /* xk_graph_params' structure */
	const char        *untrusted;      /* see xk_compose_opts */
};

const char *spec_file_name(const struct xk_spec *s, unsigned file);
/* Grows *v (elements of size) in the arena so that it holds n + 1. */
bool spec_grow(struct xk_spec *s, void *v, unsigned n, unsigned *room, size_t size);
/* `udp` or, when the user named it, `udp 'up'`. */
const char *spec_label(const struct xk_spec *s, const struct spec_node *n, char *buf, size_t len);
/* "the text \"x\"", "a list", ...: what a value is, for complaints. */
const char *spec_describe(const struct xk_value *v, char *buf, size_t n);
/* Bytes of the UTF-8 character at s, of n > 0 bytes; 0: it is none. */
size_t spec_utf8(const char *s, size_t n);
/* May a terminal have it, a character of so many bytes?  No control but the tabulator is one. */
bool spec_is_printable(const char *s, size_t len);
bool spec_is_name(const char *s, size_t n);

/* ---- names of nodes ------------------------------------------------------------------------ */

/* Whose name it is, or NULL. */
const struct spec_node *spec_name_find(const struct xk_spec *s, const char *name);
/* A node has got its name, which nobody has; false: no memory. */
bool spec_name_add(struct xk_spec *s, unsigned node);
/* To every node that has none: the second unnamed fddi is fddi2, what the user named is never taken. */
int  spec_names_give(struct xk_spec *s);

/* ---- the place of a key ------------------------------------------------------------------- */

/* One step: a name, or (name NULL) the i-th unnamed value, from 1. */
struct scan_step { const char *name; unsigned i; };
/*
 * Looks in text for the call `callee { ... }` (or callee "x" { ... }) that
 * starts on `line`, and in its table for the path of steps.  Without steps it
 * finds the callee.  True: *at_line and *at_col (from 1) are set.  False: the
 * source does not show it (a table made elsewhere); they say line, 0.
 *
 * Reads at most a few times as many tokens as text has bytes, and at most *left, from which
 * they are taken: what nests deep on one line would be read again and again.
 */
bool scan_place(const char *text, size_t len, int line, const char *callee,
		const struct scan_step *step, unsigned nsteps, uint64_t *left, int *at_line, int *at_col);
/* An error at a key of a call; nsteps 0: at the call.  Who called the function that it is in is said, too. */
void spec_error(const struct xk_spec *s, struct xk_errs *e, struct spec_place at, const char *callee,
		const struct scan_step *step, unsigned nsteps, const char *fmt, ...) XK_PRINTF(7, 8);

/* ---- the loader --------------------------------------------------------------------------------- */

struct lua_State;
enum load_limit { LIMIT_NONE, LIMIT_ERRORS, LIMIT_INSTR, LIMIT_CALLS, LIMIT_MEM, LIMIT_TIME, LIMIT_NOMEM };

#define LOADER_SEEN 8192u                /* power of two, more complaints than are ever kept */
struct loader {
	struct lua_State *L;
	struct xk_spec   *s;
	struct xk_errs   *e;
	const struct xk_compose_opts *o;
	enum load_limit   limit;
	uint64_t          instr;
	size_t            mem;
	uint64_t          churn;
	xk_ns             deadline;
	struct spec_place now;            /* the line last begun */
	int               main_line;      /* of the graph file's own chunk, the same */
	unsigned          npoison;        /* complaints answered with a poison value */
	uint64_t         *seen;           /* hashes of complaints and their places */
	bool             *arg_used;       /* by o->args */
	bool              args_called;
	char            **path; unsigned npath;
	int               env;            /* registry reference: the words */
};

struct loader *loader_of(struct lua_State *L);
/* The Lua code at a level of the stack or below it; of its callers, those up to the file
 * that it is in: who includes that calls nobody. */
struct spec_place loader_place(struct lua_State *L, int level);
/* Where the Lua code that called the running C function stands, and who called that. */
struct spec_place loader_caller(struct lua_State *L);
/* Records an error there (or at `at`) and pushes a poison value; returns 1. */
int  loader_poison(struct lua_State *L, struct spec_place at, const char *callee, const char *fmt, ...) XK_PRINTF(4, 5);
void loader_push_poison(struct lua_State *L);
/* Was this complained about there before?  Remembers it. */
bool loader_seen(struct lua_State *L, struct spec_place at, const char *what);

/* A userdata that stands for something recorded. */
enum thing_kind { THING_NODE, THING_ARCH, THING_GRAPH, THING_BENCH, THING_MACHINE, THING_POISON, THING_TYPED, THING_ARG };
struct thing {
	enum thing_kind kind;
	unsigned        ref;              /* node, arch, top, arg declaration */
	enum xk_ptype   type;             /* THING_TYPED, THING_ARG */
	uint64_t        u;                /* THING_TYPED: ns or bit/s */
	struct xk_value tab;              /* THING_ARG: the table of its declaration, in the arena */
};
/* The thing at index, or NULL. */
struct thing *loader_thing(struct lua_State *L, int index);
/* "node", "table", "nothing": for complaints. */
const char *loader_type_name(struct lua_State *L, int index);
struct thing *loader_push_thing(struct lua_State *L, enum thing_kind kind, unsigned ref);
void loader_metatables(struct lua_State *L);

/* Copies the Lua value at index into the arena.  Raises a Lua error when it
 * nests too deep or there are too many. */
void value_from_lua(struct lua_State *L, int index, struct xk_value *out);

/* Words: compose_env.c (the sandbox), compose_words.c, compose_types.c. */
void env_open(struct lua_State *L, bool unsafe);
void words_open(struct lua_State *L);
void types_open(struct lua_State *L);
int  word_args(struct lua_State *L);
int  word_include(struct lua_State *L);
/* Binds fn under a word of the environment table on top of the stack. */
void env_word(struct lua_State *L, const char *name, int (*fn)(struct lua_State *));

/* Files: reading, the graph path, running a chunk. */
int  files_path(struct loader *ld, const char *main_file);
void files_fini(struct loader *ld);
/* Adds text as a file of the specification; its number or a negative code. */
int  files_add(struct xk_spec *s, const char *name, const char *real, const char *text, size_t n);
/* Reads a whole file into malloc memory; else a reason in why. */
int  files_read(const char *path, char **text, size_t *n, char *why, size_t nwhy);
/* Compiles file number f; its function or an error message is on the stack. */
int  files_compile(struct lua_State *L, unsigned f);
/* Has a limit been reached that fails all that follows? */
bool loader_final(const struct loader *ld);
/* lua_pcall's and luaL_load's (compiling) failures become errors; pops the message. */
void loader_failed(struct loader *ld, int status, unsigned file, bool compiling);

/* ---- the check -------------------------------------------------------------------------------------- */

/* Parses one value by the schema into conf; on failure the complaint is in why
 * and *step (with *nsteps) says which element. */
int  check_value(const struct xk_param *p, const struct xk_value *v, void *conf, char *why, size_t n,
		 struct scan_step *step, unsigned *nsteps);
/* All of a table against a schema.  who begins each complaint; skip: names that
 * are somebody else's, NULL last. */
struct check_table {
	const struct xk_spec  *s;
	struct xk_errs        *e;
	struct spec_place      at;
	const char            *callee, *who;
	const struct scan_step *prefix; unsigned nprefix;  /* where the table is, within the call's */
	const struct xk_param *schema;
	const struct xk_proto *proto;                      /* whose it is, NULL: no node's */
	const char *const     *skip;
	const char            *group;                      /* NULL, or of the schema the group whose table it is */
	const struct xk_param *meant;                      /* set: for which a value stands there without a name */
	bool                   unknown;                    /* set: a value of it was complained about when the file ran */
};
void check_table( struct check_table *c, const struct xk_value *tab, void *conf);
/* A fresh configuration of a node; NULL after complaints, now or when the file ran (or
 * no memory). */
void *check_node_conf(struct xk_spec *s, const struct spec_node *n, struct xk_errs *e);
/* Untrusted files: may it use the driver; does a text that names what is of this machine come from the command line
 * (any other value is trusted); complains of drivers that were allowed and are none. */
bool trust_proto(const struct xk_spec *s, const struct xk_proto *p);
bool trust_value(const struct xk_spec *s, const struct xk_param *p, const struct xk_value *v);
void trust_list(const struct xk_spec *s, struct xk_errs *e);
void check_graph_fields(struct xk_spec *s, const struct spec_top *t, struct xk_errs *e);
void check_threading(struct xk_spec *s, const struct spec_top *t, struct xk_errs *e);
/* What nodes say of each other, once each is right alone (xk_review.h). */
void check_review(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings);
/* Which descriptor each word stands for, by what lies below: before values are looked at. */
void check_descriptors(struct xk_spec *s);
void check_edges(struct xk_spec *s, struct xk_errs *e, struct xk_errs *warnings);

/* The structure behind xk_graph_params and check_clock_params. */
struct graph_conf {
	char    *doc;
	uint64_t duration, warmup, seed, memory, tick;
	unsigned clock;
	bool     hugepages;
	/* clock = virtual { ... }; 0 and NULL: not said. */
	uint64_t processors;
	char    *machine;
};
extern const struct xk_param check_clock_params[];
/* clock is a table: into g. */
void check_clock(struct xk_spec *s, const struct spec_top *t, const struct xk_value *clock, struct graph_conf *g,
		 struct xk_errs *e);

/* The words that n offers, where it lies: of what it passes on, those of the node that has them.  NULL: none. */
const char *check_offers(const struct xk_spec *s, const struct spec_node *n);

/* ---- descriptors from outside (compose_proto.c, compose_plugin.c) ------------------------------------- */

/* Why one cannot be used; XK_E_INVAL. */
int proto_no(char *why, size_t n, const char *fmt, ...) XK_PRINTF(3, 4);
/* All that an object brings is in the table from now on, or nothing; see xk_plugin_load and xk_plugin_renew. */
struct xk_plugin;
int plugin_take(const struct xk_plugin *x, const char *file, bool renew, char *why, size_t n);

#endif
