/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_hook.h - hooks: what stands between a node and its neighbours.
 *
 * A node has two sides.  Below it messages come up: to its demux, to the demux that its own
 * sessions receive by, and, at a device, frames come in.  Above it messages are pushed to its
 * sessions.  On either side hooks stand in fixed places; a message meets them in that order and
 * the protocol's own operation last.  Each does its part and gives the message on
 * (upi_next_*), or keeps it: it has then consumed it.
 * What is called without a message, and what becomes of sessions, is told to the hooks around a
 * node's calls, before and after.
 * What a hook is to know of a node or a graph hangs in these, so hooks are constants.
 * Invariant: a pointer that carries messages (a session's push and self, a replica's demux) is
 * the protocol's own while no hook stands on its side, and the entrance to the hooks otherwise.
 *
 *   attach, detach   before the graph comes up, or under its structure lock
 *   resolve          after them, inside no VP
 *   a hook's calls   inside a VP, beside all three; until a grace period after detach
 */
#ifndef XK_UPI_HOOK_H
#define XK_UPI_HOOK_H

#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_batch.h"
#include "runtime/upi/xk_node.h"

enum upi_side { UPI_BELOW, UPI_ABOVE, UPI_CALLS, UPI_SIDES };

/* In the order in which a message meets them; the first is where it sets out, nobody stands there. */
enum upi_place {
	UPI_AT_EDGE, UPI_AT_LAYERS, UPI_AT_LOCKS, UPI_AT_THREADS, UPI_AT_CAPTURE, UPI_AT_METER, UPI_PLACES
};

/* Which function of r's node is called; UPI_PASS: a session that nobody holds passes a message up,
 * and may be closed after it. */
enum upi_what { UPI_OPEN, UPI_OPEN_DONE, UPI_CLOSE, UPI_CLOSE_DONE, UPI_CONTROL, UPI_SESS_CONTROL, UPI_PASS };
struct upi_call {
	const struct xk_rep *r;       /* NULL: nobody was told */
	const struct xk_sess *s;      /* of r's node, where it is called for one */
	enum upi_what        what;
	unsigned             op;      /* of a control */
	const void          *was[UPI_PLACES];
};

struct xk_hook;
/* A place on one side of a node, and who stands there, NULL: nobody.  The next place follows it
 * in memory; the last one is the protocol itself. */
struct upi_link { const struct xk_hook *hook; };

/* Unset operations: the message goes past. */
struct xk_hook {
	const char *name;
	/* Above. */
	void (*push)(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m);
	/* Above, of hooks that are there before the graph comes up: a message is about to be acted on in s. */
	void (*pop)(const struct upi_link *l, struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
	/* Below. */
	void (*demux)(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
	/* A run from the edge, as demux of each.  Returns how many were consumed, 0: each is to go by itself, as
	 * where this is unset and demux is not. */
	unsigned (*batch)(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);
	/* Looks at frames that come in at device n; they stay with the caller. */
	void (*input)(const struct xk_node *n, struct xk_msg *const *m, unsigned count);

	/* Around calls, of hooks that are there before the graph comes up and stay.
	 * A function is about to be called; it has returned: back gets what call gave. */
	const void *(*call)(const struct upi_call *c);
	void (*back)(const struct upi_call *c, const void *was);
	/* Sessions of n, or what others see of them, are about to change. */
	void (*change)(const struct xk_node *n);
	/* s: is about to be held once more; is bound under its key (negative: it is not, then), is about to
	 * be unbound; has got a flow, is about to lose it; ends. */
	void (*hold)(const struct xk_sess *s);
	int  (*bind)(const struct xk_sess *s);
	void (*unbind)(const struct xk_sess *s);
	void (*announce)(struct xk_sess *s);
	void (*withdraw)(struct xk_sess *s);
	void (*end)(const struct xk_sess *s);
	/* Is a message under way to s, which nobody holds? */
	bool (*named)(const struct xk_sess *s);
};

/* Of a node; what says that a side has any hooks is xk_node.hooked. */
struct upi_edge {
	struct upi_link    at[UPI_SIDES][UPI_PLACES + 1];
	bool               pops;      /* hooks above it want pop; VPs that make a session read it meanwhile */
	xk_demux_fn        self;      /* sessions' own demux, NULL: the protocol's; any VP writes it, always the same */
	struct xk_capture *capture;   /* the first of its captures */
	struct upi_locks  *locks;     /* object_locks = "layer": of its map and sessions; else NULL */
};

int  upi_edge_make(struct xk_node *n);

void upi_hook_attach(struct xk_node *n, enum upi_side side, enum upi_place at, const struct xk_hook *h);
void upi_hook_detach(struct xk_node *n, enum upi_side side, enum upi_place at);
/* Sets all pointers right of replicas and sessions of n and of the nodes below it.  Many stays in a
 * VP, so that nobody waits long for his. */
void upi_hook_resolve(struct xk_node *n);

/* Set by another thread while it runs; a word is loaded whole. */
#ifdef XK_TSAN
#define upi_hooked(n, side) (xk_load_relaxed(&(n)->hooked[side]))
#else
#define upi_hooked(n, side) ((n)->hooked[side])
#endif

/* The entrances. */
void upi_hooked_push(struct xk_sess *s, struct xk_msg *m);
void upi_hooked_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void upi_hooked_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr);
unsigned upi_hooked_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);
void upi_hooked_call(struct upi_call *c);
void upi_hooked_back(const struct upi_call *c);
void upi_hooked_change(const struct xk_node *n);
int  upi_hooked_bind(const struct xk_sess *s);
void upi_hooked_unbind(const struct xk_sess *s);
void upi_hooked_announce(struct xk_sess *s);
void upi_hooked_withdraw(struct xk_sess *s);
void upi_hooked_end(const struct xk_sess *s);
bool upi_hooked_named(const struct xk_sess *s);
void upi_hooked_input(const struct xk_node *n, struct xk_msg *const *m, unsigned count);

static inline void upi_call_begin(struct upi_call *c, const struct xk_rep *r, const struct xk_sess *s,
				  enum upi_what what)
{
	c->r = NULL;
	if (XK_UNLIKELY(upi_hooked(r->node, UPI_CALLS))) {
		*c = (struct upi_call){ .r = r, .s = s, .what = what };
		upi_hooked_call(c);
	}
}

static inline void upi_call_end(const struct upi_call *c)
{
	if (XK_UNLIKELY(c->r != NULL))
		upi_hooked_back(c);
}

static inline void upi_change(const struct xk_node *n)
{
	if (XK_UNLIKELY(upi_hooked(n, UPI_CALLS)))
		upi_hooked_change(n);
}

static inline const struct xk_hook *upi_hook_at(const struct upi_link *l)
{
	return xk_rcu_dereference(l->hook);
}

static inline void upi_next_push(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m)
{
	const struct xk_hook *h;

	do
		h = upi_hook_at(++l);
	while (h == NULL || h->push == NULL);
	h->push(l, s, m);
}

static inline void upi_next_demux(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	const struct xk_hook *h;

	do
		h = upi_hook_at(++l);
	while (h == NULL || h->demux == NULL);
	h->demux(l, up, lls, m);
}

static inline void upi_next_pop(const struct upi_link *l, struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m,
				void *hdr)
{
	const struct xk_hook *h;

	do
		h = upi_hook_at(++l);
	while (h == NULL || h->pop == NULL);
	h->pop(l, s, lls, m, hdr);
}

static inline unsigned upi_next_batch(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls,
				       const struct xk_batch *f)
{
	const struct xk_hook *h;

	do
		h = upi_hook_at(++l);
	while (h == NULL || h->demux == NULL);
	return h->batch != NULL ? h->batch(l, up, lls, f) : 0;
}

#endif
