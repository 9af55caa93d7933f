/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_papers.c - reads the catalogue of the papers' figures and chooses from it.
 *
 * papers.lua tells what is wrong with it, with the entry's name; a bench file
 * that it names and that is not there is found by the test of the catalogue and
 * when it is run.
 */
#include "tools/vp-bench/bench_papers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "runtime/compose/xk_home.h"
#include "tools/vp-bench/bench_lua.h"

/* ---- the catalogue --------------------------------------------------------------- */

static void add(struct papers *p, const json_t *paper, const json_t *e)
{
	if (p->n == PAPERS_MAX)
		return;
	snprintf(p->names[p->n], sizeof p->names[0], "%s.%s", bench_text(paper, "id"), bench_text(e, "name"));
	p->entry[p->n] = (struct paper_entry){ p->names[p->n], e, paper };
	p->n++;
}

/* A catalogue without fault, or false and why. */
static bool fill(struct papers *p, char *why, size_t n)
{
	char *fault = bench_lua_text("papers", "fault", &p->doc, 1, why, n);
	const json_t *paper, *e;
	size_t i, k;
	bool good = fault != NULL && *fault == '\0';

	if (fault != NULL && !good)
		snprintf(why, n, "%.3000s/papers.json: %s", p->dir, fault);
	free(fault);
	json_array_foreach(json_object_get(p->doc, "papers"), i, paper)
		json_array_foreach(json_object_get(paper, "entries"), k, e)
			add(p, paper, e);
	return good;
}

bool papers_load(struct papers *p, const char *dir, char *why, size_t n)
{
	char path[3200];
	json_error_t e;

	memset(p, 0, sizeof *p);
	snprintf(p->dir, sizeof p->dir, "%s", dir);
	snprintf(path, sizeof path, "%s/papers.json", p->dir);
	p->doc = json_load_file(path, 0, &e);
	if (p->doc != NULL)
		return fill(p, why, n);
	snprintf(why, n, "%s:%d: %s", path, e.line, e.text);
	return false;
}

bool papers_find(struct papers *p, const char *given)
{
	char dir[PATH_MAX], path[PATH_MAX + 16], why[4400];

	if (given != NULL)
		snprintf(dir, sizeof dir, "%s", given);
	else
		xk_near_folder("seeds", "papers.json", dir, sizeof dir);
	snprintf(path, sizeof path, "%s/papers.json", dir);
	if (access(path, R_OK) != 0)
		snprintf(why, sizeof why, "%.4000s has no papers.json: give the folder graphs/seeds with --seeds DIR", dir);
	else if (papers_load(p, dir, why, sizeof why))
		return true;
	fprintf(stderr, "vp-bench: %s\n", why);
	return false;
}

void papers_free(struct papers *p)
{
	json_decref(p->doc);
	p->doc = NULL;
}

/* ---- choosing -------------------------------------------------------------------------- */

unsigned papers_choose(const struct papers *p, const char *name, bool *chosen)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->n; i++) {
		if (strcasecmp(name, "all") != 0 && strcasecmp(name, p->entry[i].name) != 0 &&
		    strcasecmp(name, bench_text(p->entry[i].paper, "id")) != 0)
			continue;
		chosen[i] = true;
		n++;
	}
	return n;
}

static bool is_built(const char *name)
{
	for (const struct xk_proto *const *t = xk_proto_table; *t != NULL; t++)
		if (strcmp((*t)->name, name) == 0)
			return true;
	return xk_arch_find(name) != NULL;
}

const char *papers_missing(const struct paper_entry *e)
{
	const json_t *v;
	size_t i;

	json_array_foreach(json_object_get(e->e, "needs"), i, v)
		if (!is_built(json_string_value(v)))
			return json_string_value(v);
	return NULL;
}

const char *papers_file(const struct papers *p, const struct paper_entry *e, unsigned i, char *buf, size_t n)
{
	const char *file = json_string_value(json_array_get(json_object_get(e->e, "files"), i));

	if (file == NULL)
		return NULL;
	snprintf(buf, n, "%s/%s/%s", p->dir, bench_text(e->paper, "folder"), file);
	return buf;
}

json_t *papers_json(const struct paper_entry *e)
{
	return json_pack("{s:s, s:O, s:{s:s, s:s, s:s}, s:s?}", "name", e->name, "e", e->e, "paper",
			 "id", bench_text(e->paper, "id"), "source", bench_text(e->paper, "source"),
			 "folder", bench_text(e->paper, "folder"), "missing", papers_missing(e));
}

/* ---- narrowing a bench ------------------------------------------------------------------- */

static bool measured_by(const struct papers *p, const struct paper_entry *e, const char *file)
{
	char path[4096];
	const char *f;

	for (unsigned k = 0; (f = papers_file(p, e, k, path, sizeof path)) != NULL; k++)
		if (strcmp(f, file) == 0)
			return true;
	return false;
}

/* What papers.lua gets: the chosen entries of the bench's file, and the bench. */
static void narrow_args(const struct papers *p, const bool *chosen, const struct bench *b, json_t *args[2])
{
	json_t *points = json_array();

	args[0] = json_array();
	for (unsigned i = 0; i < p->n; i++)
		if (chosen[i] && measured_by(p, &p->entry[i], b->file))
			json_array_append_new(args[0], papers_json(&p->entry[i]));
	for (unsigned i = 0; i < b->npoints; i++)
		json_array_append_new(points, bench_point_at(b, &b->point[i]));
	args[1] = json_pack("{s:o, s:O, s:O}", "points", points, "shapes", b->shapes, "reference", b->reference);
}

static void take_list(json_t **list, const json_t *from, const char *key)
{
	json_decref(*list);
	*list = json_incref(json_object_get(from, key));
}

bool papers_narrow(const struct papers *p, const bool *chosen, struct bench *b, char *why, size_t n)
{
	json_t *args[2], *kept;
	unsigned npoints = 0;

	narrow_args(p, chosen, b, args);
	kept = bench_lua_call("papers", "narrow", args, 2, why, n);
	if (kept != NULL) {
		take_list(&b->shapes, kept, "shapes");
		take_list(&b->reference, kept, "reference");
		for (unsigned i = 0; i < b->npoints; i++)
			if (json_is_true(json_array_get(json_object_get(kept, "keep"), i)))
				b->point[npoints++] = b->point[i];
		b->npoints = npoints;
	}
	json_decref(kept);
	json_decref(args[0]);
	json_decref(args[1]);
	return kept != NULL;
}
