/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_papers.c - reads the catalogue of the papers' figures and chooses from it.
 *
 * What is wrong with the catalogue is told with the entry's name; a bench file
 * that it names and that is not there is found by the test of the catalogue and
 * when it is run.
 */
#include "tools/vp-bench/bench_papers.h"

#include <string.h>
#include <strings.h>

/* ---- the catalogue --------------------------------------------------------------- */

static bool texts(const json_t *list)
{
	const json_t *v;
	size_t i;

	if (list != NULL && !json_is_array(list))
		return false;
	json_array_foreach(list, i, v)
		if (!json_is_string(v))
			return false;
	return true;
}

static const char *entry_fault(const json_t *e)
{
	const json_t *files = json_object_get(e, "files");

	if (*bench_text(e, "name") == '\0' || *bench_text(e, "title") == '\0')
		return "has no name or no title";
	if (!texts(files) || !texts(json_object_get(e, "needs")) || !texts(json_object_get(e, "metrics")))
		return "files, needs and metrics are lists of texts";
	if (json_array_size(files) == 0 && *bench_text(e, "not_measured") == '\0')
		return "has neither files nor not_measured = why";
	return NULL;
}

static const char *add(struct papers *p, const json_t *paper, const json_t *e)
{
	struct paper_entry *x = &p->entry[p->n];
	const char *fault = entry_fault(e);

	if (fault != NULL)
		return fault;
	if (p->n == PAPERS_MAX)
		return "is one too many";
	snprintf(p->names[p->n], sizeof p->names[0], "%s.%s", bench_text(paper, "id"), bench_text(e, "name"));
	*x = (struct paper_entry){ p->names[p->n], e, paper };
	for (unsigned i = 0; i < p->n; i++)
		if (strcasecmp(p->entry[i].name, x->name) == 0)
			return "is there twice";
	p->n++;
	return NULL;
}

static bool fill(struct papers *p, char *why, size_t n)
{
	const json_t *paper, *e;
	size_t i, k;

	json_array_foreach(json_object_get(p->doc, "papers"), i, paper)
		json_array_foreach(json_object_get(paper, "entries"), k, e) {
			const char *fault = add(p, paper, e);

			if (fault == NULL)
				continue;
			snprintf(why, n, "%.3000s/papers.json: %s.%s %s", p->dir, bench_text(paper, "id"),
				 bench_text(e, "name"), fault);
			return false;
		}
	if (p->n == 0)
		snprintf(why, n, "%.3000s/papers.json: has no papers with entries", p->dir);
	return p->n != 0;
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

/* ---- narrowing a bench ------------------------------------------------------------------- */

static bool among(const json_t *want, const char *value)
{
	const json_t *v;
	size_t i;

	if (json_is_string(want))
		return strcmp(json_string_value(want), value) == 0;
	json_array_foreach(want, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), value) == 0)
			return true;
	return false;
}

/* Is a point of a result, or of a bench, one of the entry's own? */
static bool own_point(const json_t *e, const json_t *at)
{
	const json_t *want;
	const char *axis;

	json_object_foreach(json_object_get(e, "at"), axis, want)
		if (json_object_get(at, axis) != NULL && !among(want, bench_text(at, axis)))
			return false;
	return true;
}

static bool belongs(const json_t *tagged, const struct paper_entry *e)
{
	const json_t *list = json_object_get(tagged, "figure");

	return list == NULL || among(list, e->name);
}

static bool belongs_to_any(const struct papers *p, const bool *chosen, const char *file, const json_t *tagged)
{
	char path[4096];
	const char *f;

	for (unsigned i = 0; i < p->n; i++)
		for (unsigned k = 0; chosen[i] && (f = papers_file(p, &p->entry[i], k, path, sizeof path)) != NULL; k++)
			if (strcmp(f, file) == 0 && belongs(tagged, &p->entry[i]))
				return true;
	return false;
}

static json_t *keep_tagged(const struct papers *p, const bool *chosen, const struct bench *b, json_t *list)
{
	json_t *kept = json_array(), *v;
	size_t i;

	json_array_foreach(list, i, v)
		if (belongs_to_any(p, chosen, b->file, v))
			json_array_append(kept, v);
	json_decref(list);
	return kept;
}

static bool wanted(const struct papers *p, const bool *chosen, const struct bench *b, const json_t *at)
{
	char path[4096];
	const char *f;

	for (unsigned i = 0; i < p->n; i++)
		for (unsigned k = 0; chosen[i] && (f = papers_file(p, &p->entry[i], k, path, sizeof path)) != NULL; k++)
			if (strcmp(f, b->file) == 0 && own_point(p->entry[i].e, at))
				return true;
	return bench_names_point(b->shapes, at);
}

void papers_narrow(const struct papers *p, const bool *chosen, struct bench *b)
{
	unsigned kept = 0;

	b->shapes = keep_tagged(p, chosen, b, b->shapes);
	b->theirs = keep_tagged(p, chosen, b, b->theirs);
	for (unsigned i = 0; i < b->npoints; i++) {
		json_t *at = bench_point_at(b, &b->point[i]);

		if (wanted(p, chosen, b, at))
			b->point[kept++] = b->point[i];
		json_decref(at);
	}
	b->npoints = kept;
}
