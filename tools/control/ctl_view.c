/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_view.c - opens the counters of a running graph: the mapping and its directory.
 *
 * The other side is a program of the same user, but not for that believed: what it says is
 * checked once, when the view is opened, and from then on every place is inside the mapping.
 * A directory's text may be written over when two others have come since: what was read is of the one that holds only
 * if that is still of its number afterwards.
 * Invariant: at + 8 <= len of every place that a view can name.
 */
#include "tools/control/ctl_view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/xk_hist.h"
#include "runtime/sync/xk_sync.h"

#define TRIES     16u            /* to read a directory while others come */
#define PLACE_MAX UINT32_MAX     /* fields lie this near their structure's beginning, at most */

/* ---- reading the directory ------------------------------------------------------------- */

static bool places(const json_t *a, uint64_t **out, unsigned *n)
{
	if (!json_is_array(a))
		return false;
	*n = (unsigned)json_array_size(a);
	*out = calloc(*n + 1u, sizeof **out);
	for (unsigned i = 0; *out != NULL && i < *n; i++) {
		const json_t *v = json_array_get(a, i);

		if (!json_is_integer(v))
			return false;
		(*out)[i] = (uint64_t)json_integer_value(v);
	}
	return *out != NULL;
}

static bool strings(const json_t *a, const char ***out, unsigned *n)
{
	if (!json_is_array(a))
		return false;
	*n = (unsigned)json_array_size(a);
	*out = calloc(*n + 1u, sizeof **out);
	for (unsigned i = 0; *out != NULL && i < *n; i++)
		if (((*out)[i] = json_string_value(json_array_get(a, i))) == NULL)
			return false;
	return *out != NULL;
}

static bool fields(json_t *o, struct ctl_fields *f)
{
	const char *name;
	json_t *v;

	if (!json_is_object(o))
		return false;
	f->name = calloc(json_object_size(o) + 1, sizeof *f->name);
	f->at = calloc(json_object_size(o) + 1, sizeof *f->at);
	if (f->name == NULL || f->at == NULL)
		return false;
	json_object_foreach(o, name, v) {
		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > PLACE_MAX)
			return false;
		f->name[f->n] = name;
		f->at[f->n++] = (uint64_t)json_integer_value(v);
	}
	return true;
}

uint64_t ctl_field(const struct ctl_fields *f, const char *name)
{
	for (unsigned i = 0; i < f->n; i++)
		if (strcmp(f->name[i], name) == 0)
			return f->at[i];
	return UINT64_MAX;
}

static bool has(const struct ctl_fields *f, const char *const *names)
{
	for (; *names != NULL; names++)
		if (ctl_field(f, *names) == UINT64_MAX)
			return false;
	return true;
}

/* What the readers of this program name by themselves. */
static bool has_all(const struct ctl_view *v)
{
	static const char *const node[] = { "push", "pop", "sessions_made", "sessions_gone", NULL };
	static const char *const vp[] = { "units", "messages", "handed_over", "posted_out", "inbox_drops", "lock_taken",
					  "lock_contended", "lock_waits_timed", "lock_wait_ns", "lock_holds_timed",
					  "lock_hold_ns", NULL };
	static const char *const worker[] = { "units", "messages", "sleeps", "user_ns", "sys_ns", NULL };

	return has(&v->node_field, node) && has(&v->vp_field, vp) && has(&v->worker_field, worker);
}

const char *const ctl_times[CTL_TIMES] = { "rtt", "queue", "exec", "delay" };

static bool time_open(const struct ctl_view *v, json_t *o, struct ctl_view_times *t)
{
	const char *name = json_string_value(json_object_get(o, "name"));

	if (name == NULL || !places(json_object_get(o, "vps"), &t->vp, &t->nvps) ||
	    !places(json_object_get(o, "histograms"), &t->hist, &t->nhists) ||
	    !places(json_object_get(o, "sums"), &t->sum, &t->nsums))
		return false;
	while (t->no < CTL_TIMES && strcmp(ctl_times[t->no], name) != 0)
		t->no++;
	for (unsigned i = 0; i < t->nvps; i++)
		if (t->vp[i] >= v->nvps)
			return false;
	return t->no < CTL_TIMES && t->nhists == t->nvps && (t->nsums == t->nvps || t->nsums == 0);
}

static bool times_open(struct ctl_view *v, json_t *a, struct ctl_view_node *n)
{
	if (!json_is_array(a))
		return a == NULL;
	n->times = calloc(json_array_size(a) + 1, sizeof *n->times);
	if (n->times == NULL)
		return false;
	for (size_t i = 0; i < json_array_size(a); i++) {
		n->ntimes++;             /* what there is of it is freed, too */
		if (!time_open(v, json_array_get(a, i), &n->times[i]))
			return false;
	}
	return true;
}

static bool node_open(struct ctl_view *v, json_t *o, struct ctl_view_node *n)
{
	unsigned reps = 0;

	n->name = json_string_value(json_object_get(o, "name"));
	n->protocol = json_string_value(json_object_get(o, "protocol"));
	n->came = (uint64_t)json_integer_value(json_object_get(o, "came"));
	return n->name != NULL && n->protocol != NULL && strings(json_object_get(o, "drops"), &n->drop, &n->ndrops) &&
	       strings(json_object_get(o, "counts"), &n->count, &n->ncounts) &&
	       places(json_object_get(o, "replicas"), &n->rep, &reps) && reps == v->nvps &&
	       times_open(v, json_object_get(o, "times"), n);
}

static bool nodes_open(struct ctl_view *v, json_t *a)
{
	if (!json_is_array(a))
		return false;
	v->node = calloc(json_array_size(a) + 1, sizeof *v->node);
	if (v->node == NULL)
		return false;
	for (v->nnodes = 0; v->nnodes < json_array_size(a); v->nnodes++)
		if (!node_open(v, json_array_get(a, v->nnodes), &v->node[v->nnodes])) {
			v->nnodes++;     /* what there is of it is freed, too */
			return false;
		}
	return true;
}

/* Of each virtual processor as many; or none of any, where layers have no threads. */
static bool stages_open(struct ctl_view *v)
{
	static const char *const stage[] = { "units", "messages", "up", "down", "forwarded", "backpressure", "longest_queue", NULL };
	const json_t *a = json_object_get(v->dir, "stages");

	if (json_array_size(a) == 0)
		return true;
	if (!fields(json_object_get(v->dir, "stage_fields"), &v->stage_field) || !has(&v->stage_field, stage) ||
	    !places(a, &v->stage, &v->nall) || v->nvps == 0 || v->nall % v->nvps != 0)
		return false;
	v->layers = v->nall / v->nvps;
	return true;
}

static bool dir_open(struct ctl_view *v)
{
	json_t *d = v->dir;

	v->graph = json_string_value(json_object_get(d, "graph"));
	v->threading = json_string_value(json_object_get(d, "threading"));
	v->lock = json_string_value(json_object_get(d, "lock"));
	v->pid = json_integer_value(json_object_get(d, "pid"));
	v->is_virtual = json_is_true(json_object_get(d, "virtual"));
	v->drops_at = (uint64_t)json_integer_value(json_object_get(d, "drops_at"));
	v->counts_at = (uint64_t)json_integer_value(json_object_get(d, "counts_at"));
	return json_integer_value(json_object_get(d, "schema")) == 2 &&
	       json_integer_value(json_object_get(d, "hist_places")) == XK_HIST_PLACES && v->graph && v->threading && v->lock &&
	       v->drops_at <= PLACE_MAX && v->counts_at <= PLACE_MAX &&
	       fields(json_object_get(d, "node_fields"), &v->node_field) &&
	       fields(json_object_get(d, "vp_fields"), &v->vp_field) &&
	       fields(json_object_get(d, "worker_fields"), &v->worker_field) && has_all(v) &&
	       places(json_object_get(d, "vps"), &v->vp, &v->nvps) &&
	       places(json_object_get(d, "workers"), &v->worker, &v->nworkers) && stages_open(v) &&
	       nodes_open(v, json_object_get(d, "nodes"));
}

/* ---- is every place inside? -------------------------------------------------------------- */

static bool inside(const struct ctl_view *v, uint64_t base, uint64_t at, uint64_t n)
{
	return base % 8 == 0 && at % 8 == 0 && n <= UINT32_MAX &&
	       base <= v->len && at + 8 * n <= v->len - base;
}

static bool fields_inside(const struct ctl_view *v, const uint64_t *base, unsigned n, const struct ctl_fields *f)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < f->n; k++)
			if (!inside(v, base[i], f->at[k], 1))
				return false;
	return true;
}

static bool times_inside(const struct ctl_view *v, const struct ctl_view_node *n)
{
	for (unsigned i = 0; i < n->ntimes; i++)
		for (unsigned k = 0; k < n->times[i].nvps; k++)
			if (!inside(v, n->times[i].hist[k], 0, XK_HIST_PLACES) ||
			    (n->times[i].nsums != 0 && !inside(v, n->times[i].sum[k], 0, 1)))
				return false;
	return true;
}

static bool all_inside(const struct ctl_view *v)
{
	for (unsigned i = 0; i < v->nnodes; i++) {
		const struct ctl_view_node *n = &v->node[i];

		if (!fields_inside(v, n->rep, v->nvps, &v->node_field) || !times_inside(v, n))
			return false;
		for (unsigned k = 0; k < v->nvps; k++)
			if (!inside(v, n->rep[k], v->drops_at, n->ndrops) || !inside(v, n->rep[k], v->counts_at, n->ncounts))
				return false;
	}
	return fields_inside(v, v->stage, v->nall, &v->stage_field) && fields_inside(v, v->vp, v->nvps, &v->vp_field) &&
	       fields_inside(v, v->worker, v->nworkers, &v->worker_field);
}

/* ---- opening ---------------------------------------------------------------------------------- */

static const struct ctl_head *head_of(const struct ctl_view *v)
{
	return (const void *)v->base;
}

static bool head_fault(const struct ctl_view *v, char *why, size_t n)
{
	const struct ctl_head *h = head_of(v);

	if (v->len < sizeof *h || memcmp(h->magic, CTL_HEAD_MAGIC, sizeof h->magic) != 0)
		snprintf(why, n, "these are not counters of a graph");
	else if (h->version != CTL_HEAD_VERSION)
		snprintf(why, n, "the counters are of version %u, this program reads %u: use the vp-ctl that belongs to "
			 "the running vp-run", h->version, CTL_HEAD_VERSION);
	else if (v->number == 0)
		snprintf(why, n, "the counters have no directory: the graph ran out of memory for it");
	else
		return false;
	return true;
}

static json_t *read_dir(const struct ctl_view *v, char *why, size_t n)
{
	uint64_t at = xk_load_relaxed(&head_of(v)->dir[v->number % 2].at);
	uint64_t len = xk_load_relaxed(&head_of(v)->dir[v->number % 2].len);
	json_error_t bad;
	json_t *dir = NULL;
	char *text;

	if (at > v->len || len > v->len - at) {
		snprintf(why, n, "the counters' directory is cut short");
		return NULL;
	}
	text = malloc(len + 1);
	if (text == NULL) {
		snprintf(why, n, "out of memory");
		return NULL;
	}
	for (uint64_t i = 0; i < len; i++)
		text[i] = xk_load_acquire(&v->base[at + i]);     /* before the number is looked at again */
	dir = json_loadb(text, len, 0, &bad);
	free(text);
	if (dir == NULL)
		snprintf(why, n, "the counters' directory: %s", bad.text);
	return dir;
}

struct ctl_view *ctl_view_here(json_t *dir, char *why, size_t n)
{
	struct ctl_view *v = calloc(1, sizeof *v);

	if (v == NULL) {
		json_decref(dir);
		snprintf(why, n, "out of memory");
		return NULL;
	}
	v->dir = dir;
	v->fd = -1;
	if (dir_open(v))
		return v;
	ctl_view_free(v);
	snprintf(why, n, "the counters' directory is not complete");
	return NULL;
}

static bool map_it(struct ctl_view *v, int fd)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) != 0)
		return false;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return false;
	v->base = p;
	v->len = (size_t)st.st_size;
	return true;
}

/* Of the directory that holds now. */
static struct ctl_view *open_once(int fd, char *why, size_t n)
{
	struct ctl_view *v = calloc(1, sizeof *v);

	snprintf(why, n, "out of memory");
	if (v == NULL)
		return NULL;
	v->fd = -1;
	if (!map_it(v, fd)) {
		snprintf(why, n, "cannot map the counters: %s", strerror(errno));
	} else {
		v->number = v->len >= sizeof(struct ctl_head) ? xk_load_acquire(&head_of(v)->number) : 0;
		if (!head_fault(v, why, n))
			v->dir = read_dir(v, why, n);
	}
	if (v->dir != NULL) {
		if (dir_open(v) && all_inside(v))
			return v;
		snprintf(why, n, "the counters' directory is not complete");
		json_decref(v->dir);
		v->dir = NULL;
	}
	return v;
}

struct ctl_view *ctl_view_open(int fd, char *why, size_t n)
{
	struct ctl_view *v = NULL;

	for (unsigned i = 0; i < TRIES; i++) {
		ctl_view_free(v);
		v = open_once(fd, why, n);
		if (v == NULL || v->len == 0 || ctl_view_holds(v))
			break;
	}
	if (v != NULL && v->dir != NULL && v->len != 0) {
		v->fd = fd;
		return v;
	}
	close(fd);
	ctl_view_free(v);
	return NULL;
}

struct ctl_view *ctl_view_anew(const struct ctl_view *v, char *why, size_t n)
{
	int fd = fcntl(v->fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		return ctl_view_open(fd, why, n);
	snprintf(why, n, "cannot open the counters: %s", strerror(errno));
	return NULL;
}

static void times_free(struct ctl_view_node *n)
{
	for (unsigned i = 0; i < n->ntimes; i++) {
		free(n->times[i].vp);
		free(n->times[i].hist);
		free(n->times[i].sum);
	}
	free(n->times);
}

static void fields_free(struct ctl_fields *f)
{
	free(f->name);
	free(f->at);
}

void ctl_view_free(struct ctl_view *v)
{
	if (v == NULL)
		return;
	for (unsigned i = 0; i < v->nnodes; i++) {
		free(v->node[i].drop);
		free(v->node[i].count);
		free(v->node[i].rep);
		times_free(&v->node[i]);
	}
	free(v->node);
	free(v->vp);
	free(v->stage);
	free(v->worker);
	fields_free(&v->stage_field);
	fields_free(&v->node_field);
	fields_free(&v->vp_field);
	fields_free(&v->worker_field);
	json_decref(v->dir);
	if (v->len != 0)
		munmap((void *)(uintptr_t)v->base, v->len);
	if (v->fd >= 0)
		close(v->fd);
	free(v);
}

uint64_t ctl_view_read(const struct ctl_view *v, uint64_t at)
{
	const xk_counter *c = v->len != 0 ? (const void *)(v->base + at) : (const void *)(uintptr_t)at;

	return xk_load_acquire(c);       /* before the directory's number is looked at again */
}

bool ctl_view_holds(const struct ctl_view *v)
{
	return v->len == 0 || xk_load_acquire(&head_of(v)->number) == v->number;
}

const struct ctl_view_node *ctl_view_find(const struct ctl_view *v, const struct ctl_view_node *n)
{
	for (unsigned i = 0; i < v->nnodes; i++)
		if (v->node[i].came == n->came && strcmp(v->node[i].name, n->name) == 0)
			return &v->node[i];
	return NULL;
}

uint64_t ctl_view_node_sum(const struct ctl_view *v, const struct ctl_view_node *n, uint64_t field)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < v->nvps; i++)
		sum += ctl_view_read(v, n->rep[i] + field);
	return sum;
}
