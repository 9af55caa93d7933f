/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_embed.h - a graph of protocols inside a program: xk/graph.h where it is installed.
 *
 *	struct xk_embed *g = xk_embed_new("server");
 *	if (g == NULL || xk_embed_load(g, "server.lua", NULL, 0) != XK_OK || xk_embed_start(g) != XK_OK)
 *		fputs(g != NULL ? xk_embed_errors(g) : "out of memory\n", stderr);
 *	...
 *	xk_embed_free(g);
 *
 * Life.  A graph is new; then described, by a graph file, by a text, or node by node; then started, once; it ends
 * by itself or by xk_embed_stop; xk_embed_free ends and frees it, in whatever state it is.  A program may have any
 * number of graphs, one after the other and at the same time; they share nothing but the process.
 *
 * Threads.  What describes, starts or frees a graph is for one thread at a time.  While it is there, xk_embed_wait,
 * _stop, _ended, _find and all that reads may be called by any thread; xk_embed_stop by a signal handler, too.
 * Nothing here is for code that runs inside a virtual processor, which is what protocols are.  A graph has threads
 * of its own: one that brings it up, watches over it and takes it down, and its workers.  They take no signals but
 * their own faults.
 *
 * Manners.  Nothing here ends the process because of what a file, a peer or the system does; no signal is taken,
 * nothing is written to stdout.  Warnings of a running graph, and what a graph file prints, are lines on stderr.  A
 * broken invariant of the library itself is told on stderr and aborts: going on would be worse.
 *
 * Ownership.  Texts that come in are copied, but for the names of source files (xk_embed_add).  Texts that come out
 * are the graph's: those of errors and warnings stay until the next call that describes, starts or frees it, or it
 * has ended; all others until it is freed.
 *
 * Results.  XK_OK, or an XK_E_*, negative; what was wrong is in xk_embed_errors in sentences, with places.
 */
#ifndef XK_EMBED_H
#define XK_EMBED_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/base/xk_err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct xk_embed;                 /* a graph and what is known of it */
struct xk_node;                  /* a node of one that runs */

/* ---- life -------------------------------------------------------------------------- */

/* name: what a graph that is built node by node is called; NULL: "graph".  NULL: out of memory. */
struct xk_embed *xk_embed_new(const char *name);

/*
 * Stops it, waits for its threads, and frees all of it.  Waiting calls on its sockets end with XK_E_SHUTDOWN; who uses
 * a node of it, or reads it, has to be done before.  Descriptors of its sockets are then of nothing (XK_E_BADF).
 * Returns how many buffers and sessions were not given back, 0 for a graph of sound protocols.  NULL does nothing.
 */
uint64_t xk_embed_free(struct xk_embed *g);

/* ---- described by a file ---------------------------------------------------------------- */

/*
 * Reads, runs and checks a graph file; args[nargs]: its arguments, "conns=48" each, as vp-run takes them.  All that
 * can be known before a start is: every error of it at once is in xk_embed_errors.  XK_E_NOENT, XK_E_PERM, XK_E_IO,
 * ...: it cannot be read; XK_E_INVAL: errors; XK_E_ALREADY: it is described; XK_E_NOMEM.
 */
int xk_embed_load(struct xk_embed *g, const char *file, const char *const *args, unsigned nargs);
/* The same of a text of n bytes; file: the name that it goes by, whose folder is where it includes from. */
int xk_embed_load_text(struct xk_embed *g, const char *file, const char *text, size_t n, const char *const *args,
		       unsigned nargs);

/* ---- built node by node ------------------------------------------------------------------- */

/*
 *	int wire = xk_embed_add(g, "eth_mem", NULL), net = xk_embed_add(g, "eth", NULL);
 *	xk_embed_over(g, net, wire);
 *	xk_embed_set_text(g, wire, "wire", "cable");
 *	xk_embed_set(g, XK_EMBED_GRAPH, "threading", "vppc { vps = 2 }");
 *
 * A fault is remembered with the place of the call and told by xk_embed_check or xk_embed_start: results need not
 * be looked at before.  A negative number of a node, from a call that failed, is not told a second time.
 */
#define XK_EMBED_GRAPH 0         /* stands for the graph itself: its fields are threading, clock, seed, ... */
/* A node of a protocol or driver: its number, from 1.  name, NULL: the protocol's, with a number where that is
 * taken. */
#define xk_embed_add(g, proto, name)              xk_embed_add_at(g, proto, name, __FILE__, __LINE__)
/* A parameter; value: as it is written in a graph file, such as 7, true, "\"64KiB\"", "{ 1, 2 }". */
#define xk_embed_set(g, node, param, value)       xk_embed_set_at(g, node, param, value, __FILE__, __LINE__)
/* A parameter whose value is written in quotes in a graph file: texts, addresses, sizes, times. */
#define xk_embed_set_text(g, node, param, text)   xk_embed_set_text_at(g, node, param, text, __FILE__, __LINE__)
/* An edge: node stands over `below`, which was added before it; of several the order is the order of the calls. */
#define xk_embed_over(g, node, below)             xk_embed_over_at(g, node, below, __FILE__, __LINE__)
/* The calls themselves, with the place that errors name; file: a text that stays. */
int xk_embed_add_at(struct xk_embed *g, const char *proto, const char *name, const char *file, int line);
int xk_embed_set_at(struct xk_embed *g, int node, const char *param, const char *value, const char *file, int line);
int xk_embed_set_text_at(struct xk_embed *g, int node, const char *param, const char *text, const char *file, int line);
int xk_embed_over_at(struct xk_embed *g, int node, int below, const char *file, int line);

/* Checks what was built, as xk_embed_load does a file; nothing can be added to it any more.  Of a file again: XK_OK. */
int xk_embed_check(struct xk_embed *g);

/* ---- running ------------------------------------------------------------------------------------ */

/*
 * Brings the graph up; returns when its workers run, or when it cannot be had: XK_E_INVAL: errors; XK_E_PERM,
 * XK_E_NODEV, ...: what a device or the system says; XK_E_ALREADY: it was started; XK_E_MFILE, XK_E_NOMEM.  A
 * graph with clock = "virtual" has no workers: a thread of its own runs it, to its end, as fast as it can.
 */
int xk_embed_start(struct xk_embed *g);

/*
 * Waits until the run is over: the file's duration has passed, all applications that can finish have, every device is
 * gone, in virtual time nothing is left to happen, or somebody has called xk_embed_stop.  XK_E_AGAIN: not within
 * timeout_ns (UINT64_MAX: for ever; 0: not at all).  XK_E_IO: it is over, and a node could not do what it is there
 * for; others: what ended it early.  XK_E_INVAL: it was not started.  Workers serve on until xk_embed_free.
 */
int xk_embed_wait(struct xk_embed *g, uint64_t timeout_ns);
/* Ends the run soon; returns at once.  Legal at any time between new and free, and again; before a start it does
 * nothing. */
void xk_embed_stop(struct xk_embed *g);
/* Why the run is over, "workload complete" and the like; NULL: it is not. */
const char *xk_embed_ended(const struct xk_embed *g);

/* ---- what is wrong ------------------------------------------------------------------------------- */

/* Errors as vp-run prints them, a line or more each: place, sentence, and of files the line itself with a caret;
 * "": there are none. */
const char *xk_embed_errors(const struct xk_embed *g);
/* The same of what is no error and looks like a mistake; known when it is checked. */
const char *xk_embed_warnings(const struct xk_embed *g);

/* ---- looking at one that runs, or has ended -------------------------------------------------------- */

/* Names of its nodes, from the devices up, i = 0, 1, ...; NULL: no more, or it was not started. */
const char *xk_embed_node(const struct xk_embed *g, unsigned i);
/* The node of that name, for xk_sock_socket and the like.  NULL: there is none; or time is virtual, where only the
 * graph's own thread may enter it. */
struct xk_node *xk_embed_find(const struct xk_embed *g, const char *node);

/*
 * A counter of a node since the start, all virtual processors together: "push", "pop", "sessions" (that are open now),
 * "drops" (all), "drops.REASON", or one that the protocol has (vp-graph inspect names them).  XK_E_NOENT: no such node
 * or counter; XK_E_INVAL: it was not started.
 */
int xk_embed_count(const struct xk_embed *g, const char *node, const char *counter, uint64_t *value);
/* A parameter of a node, as one would write it, in buf[n], cut to fit; "": it was not given and has no default. */
int xk_embed_get(const struct xk_embed *g, const char *node, const char *param, char *buf, size_t n);

/* ---- plug-ins ---------------------------------------------------------------------------------------- */

/*
 * Loads protocols and drivers of a shared object, for all graphs of the process and for good.  Before the first
 * graph is new, or after the last was freed: else XK_E_BUSY.  why[n]: a sentence behind its name, with what to do
 * about it.
 */
int xk_embed_plugin(const char *file, char *why, size_t n);
/* Loads those of VP_PLUGIN_PATH and of the installation, as vp-run does; each that cannot be used is a line on
 * stderr, which begins with the program's name.  XK_E_BUSY as above. */
int xk_embed_plugins(const char *program);

#ifdef __cplusplus
}
#endif
#endif
