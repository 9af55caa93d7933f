/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embed_priv.h - what the files of this room share.
 *
 *   embed.c          new, loaded, checked, freed; errors as text
 *   embed_build.c    nodes, parameters and edges that a program adds
 *   embed_compose.c  those as the text of a graph file, and which line of it is of which call
 *   embed_run.c      the graph's own thread: brings it up, runs it, takes it down
 *   embed_read.c     counters and parameters by name
 *   embed_plugin.c   plug-ins
 *
 * A graph that is built node by node becomes the text of a graph file, so that there is one language and one check
 * of it; the lines of that text are known by the calls that they came from.
 *
 * Invariant: from start to free all of the runtime's objects are made, run and freed by one thread, the graph's own;
 * others read what it has published by `state`.
 */
#ifndef EMBED_PRIV_H
#define EMBED_PRIV_H

#include "runtime/compose/xk_compose.h"
#include "runtime/embed/xk_embed.h"
#include "runtime/run/xk_run.h"
#include "runtime/sync/xk_sync.h"

/* Bytes that grow, always with a NUL behind them; no: out of memory once, and nothing is added any more. */
struct embed_text { char *s; size_t n, room; bool no; };

/* So many lines of a text came from a call there. */
struct embed_place { const char *file; int line; unsigned lines; };
struct embed_places { struct embed_place *v; unsigned n, room; };

struct embed_part {              /* a node, or the graph itself */
	char               *proto, *name;    /* name NULL: whatever it is given */
	struct embed_text   fields;          /* its parameters as they stand in a graph file */
	struct embed_places places;          /* of these lines */
	int                *over;
	unsigned            nover, room_over;
	struct embed_place  at, over_at;
};

enum embed_state { EMBED_NEW, EMBED_GOOD, EMBED_BAD, EMBED_RUNS, EMBED_ENDED };

/* Said once and for good, by anybody to any number of others: then fd, if there is one, is readable, too. */
struct embed_word { int fd; uint32_t said; };

struct xk_embed {
	char               *name;
	uint32_t            state;           /* enum embed_state; from EMBED_RUNS on of the graph's thread */
	/* Who describes it: */
	struct embed_part  *part;            /* [nparts], the graph itself first; NULL: not built so */
	unsigned            nparts, room_parts;
	struct embed_places places;          /* of the whole text */
	struct xk_spec     *spec;
	struct xk_errs     *e, *w;
	char               *errors, *warnings;
	/* The graph's thread: */
	struct xk_thread   *thread;
	struct xk_graph    *g;
	int                 err;             /* why it did not come up, or why it ended */
	bool                ran;             /* until `end`, whatever a node says then */
	enum xk_run_end     end;
	char               *late;            /* errors, when it has ended */
	uint64_t            leaked;
	struct embed_word   stop, up, over, leave;
};

static inline enum embed_state embed_state(const struct xk_embed *g)
{
	return (enum embed_state)xk_load_acquire(&g->state);
}

/* What a document of this name is is ours to say (embed_compose.c). */
#define EMBED_TEXT "built"

/* embed.c: remembers a fault with a place of the program; returns err. */
int  embed_fault(struct xk_embed *g, int err, const char *file, int line, const char *fmt, ...) XK_PRINTF(5, 6);
/* All that e holds as text, the caller's to free; NULL: out of memory. */
char *embed_tell(const struct xk_embed *g, struct xk_errs *e, const char *kind);
/* Loads and checks a text. */
int  embed_take(struct xk_embed *g, const char *file, const char *text, size_t n, const struct xk_compose_opts *o);

/* embed_build.c */
void embed_parts_free(struct xk_embed *g);

/* embed_compose.c */
void embed_text_add(struct embed_text *t, const char *s, size_t n);
void embed_text_put(struct embed_text *t, const char *fmt, ...) XK_PRINTF(2, 3);
void embed_text_free(struct embed_text *t);
/* In double quotes, as Lua reads it. */
void embed_text_quote(struct embed_text *t, const char *s);
/* The array v with room for one more than its n of so many bytes, *room of them; NULL: out of memory, v is as it was. */
void *embed_room(void *v, unsigned n, unsigned *room, size_t bytes);
/* False: out of memory. */
bool embed_places_add(struct embed_places *p, const char *file, int line, unsigned lines);
/* The call that line `line` of the whole text came from; false: of none. */
bool embed_place_of(const struct xk_embed *g, int line, const char **file, int *at);
/* The whole text; its places into g->places. */
int  embed_compose(struct xk_embed *g, struct embed_text *t);

/* embed_run.c: all but the graph's own record is gone when it returns. */
void embed_leave(struct xk_embed *g);

/* embed_plugin.c: a graph is there, is gone. */
void embed_begins(void);
void embed_ends(void);

#endif
