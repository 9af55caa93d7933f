/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_view.h - the counters of a running graph, read where they are.
 *
 * The first page of the shared memory says where its directory is: JSON that names every
 * counter and its place.  A reader knows nothing of the structures around them.
 * Every counter has one writer and is loaded whole; two of them are not of one moment.
 * When nodes have come or gone there is another directory, of a higher number.  What has been read by one that
 * still holds afterwards is what it says; of another, places may be other counters' by now.
 */
#ifndef CTL_VIEW_H
#define CTL_VIEW_H

#include <jansson.h>
#include <stdio.h>

#include "runtime/base/xk_base.h"

#define CTL_HEAD_MAGIC   "xkvpcnt"
#define CTL_HEAD_VERSION 2u

struct ctl_head {
	char     magic[8];
	uint32_t version, size;          /* of this structure */
	struct { uint64_t at, len; } dir[2];     /* the text of directories of even, of odd numbers */
	uint64_t number;                 /* of the one that holds; 0: none */
};

/* Places are bytes from the mapping's beginning. */
struct ctl_fields { unsigned n; const char **name; uint64_t *at; };

/* Times that applications measure: ORDER TIMES (ctl_dir.c). */
#define CTL_TIMES 4u
extern const char *const ctl_times[CTL_TIMES];

/* A histogram (xk_hist.h) of some of a node's replicas. */
struct ctl_view_times {
	unsigned  no, nvps, nsums, nhists; /* no: in ctl_times; of each VP a histogram; of each a sum, or of none */
	uint64_t *vp, *hist, *sum;
};

struct ctl_view_node {
	const char *name, *protocol;
	uint64_t    came;                /* nodes of this name that came one after the other are told apart by it */
	unsigned    ndrops, ncounts;
	const char **drop, **count;      /* names */
	uint64_t   *rep;                 /* [nvps] */
	unsigned    ntimes;
	struct ctl_view_times *times;
};

struct ctl_view {
	const char *base;
	size_t      len;                 /* 0: base is nothing, places are addresses */
	int         fd;                  /* of all that, -1: none */
	uint64_t    number;              /* of the directory */
	json_t     *dir;                 /* all text is its */
	const char *graph, *threading, *lock;
	int64_t     pid;
	bool        is_virtual;
	struct ctl_fields node_field, vp_field, stage_field, worker_field;
	uint64_t    drops_at, counts_at; /* in a replica */
	unsigned    nnodes, nvps, nworkers;
	struct ctl_view_node *node;      /* bottom-up */
	uint64_t   *vp, *worker;
	unsigned    layers, nall;      /* domain layers: of each VP, of all; else 0 */
	uint64_t   *stage;                /* VP by VP, from the device up */
};

/* Takes over fd; NULL with a sentence fragment in why. */
struct ctl_view *ctl_view_open(int fd, char *why, size_t n);
/* Of a directory whose places are addresses of this process; takes over dir. */
struct ctl_view *ctl_view_here(json_t *dir, char *why, size_t n);
void ctl_view_free(struct ctl_view *v);
/* Does its directory hold?  Asked after reading: then all that was read is of v's nodes. */
bool ctl_view_holds(const struct ctl_view *v);
/* The view of what is there now; v stays.  NULL as above. */
struct ctl_view *ctl_view_anew(const struct ctl_view *v, char *why, size_t n);
/* The same node of another view, or NULL. */
const struct ctl_view_node *ctl_view_find(const struct ctl_view *v, const struct ctl_view_node *n);

uint64_t ctl_view_read(const struct ctl_view *v, uint64_t at);
/* Field i of a node, all VPs together, and so its drops and own counters. */
uint64_t ctl_view_node_sum(const struct ctl_view *v, const struct ctl_view_node *n, uint64_t field);
/* Number of a field by name; they are all there, or the view did not open. */
uint64_t ctl_field(const struct ctl_fields *f, const char *name);

/* ---- what is made of it ---- */

/* ctl_hist.c: the histograms, as families of Prometheus. */
void ctl_histograms(const struct ctl_view *v, FILE *f, bool per_vp);
/* A node's: of each kind the sum and, of each place that has any, from when, below what, how many. */
json_t *ctl_times_json(const struct ctl_view *v, const struct ctl_view_node *n);
/* A label's value, escaped, and what follows it. */
void ctl_label(FILE *f, const char *key, const char *value, const char *after);
/* Prometheus text, version 0.0.4; per_vp: each VP of each node, too.  Malloc'd, or NULL. */
char   *ctl_metrics(const struct ctl_view *v, bool per_vp, size_t *len);
/* docs/schema/vp-ctl-snapshot-2.json */
json_t *ctl_snapshot(const struct ctl_view *v, bool per_vp);

#endif
