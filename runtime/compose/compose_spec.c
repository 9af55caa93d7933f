/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_spec.c - the specification: what a graph file described, held as
 * plain C.
 *
 * Invariant: a zeroed specification is legal, and is what xk_spec_free takes.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"

const char *spec_file_name(const struct xk_spec *s, unsigned file)
{
	return file < s->nfiles ? s->file[file].name : NULL;
}

bool spec_grow(struct xk_spec *s, void *v, unsigned n, unsigned *room, size_t size)
{
	void **array = v, *more;
	unsigned want = *room ? *room * 2 : 16;

	if (n < *room)
		return true;
	more = arena_get(&s->arena, want * size);
	if (more == NULL)
		return false;
	if (n != 0)
		memcpy(more, *array, n * size);
	*array = more;
	*room = want;
	return true;
}

const char *spec_label(const struct xk_spec *s, const struct spec_node *n, char *buf, size_t len)
{
	(void)s;
	if (n->named)
		snprintf(buf, len, "%s '%s'", n->proto->name, n->name);
	else
		snprintf(buf, len, "%s", n->name ? n->name : n->proto->name);
	return buf;
}

const char *spec_describe(const struct xk_value *v, char *buf, size_t n)
{
	size_t cut = v->len > 40 ? 40 : v->len;

	switch (v->kind) {
	case XK_V_NIL: return "nothing";
	case XK_V_BOOL: snprintf(buf, n, "%s", v->text); break;
	case XK_V_INT:
	case XK_V_FLOAT: snprintf(buf, n, "the number %s", v->text); break;
	case XK_V_TEXT: snprintf(buf, n, "\"%.*s\"%s", (int)cut, v->text, v->len > cut ? "..." : ""); break;
	case XK_V_TYPED: snprintf(buf, n, "\"%s\"", v->text); break;
	case XK_V_LIST: return v->n ? "a list" : "an empty table";
	case XK_V_MAP: return "a table";
	case XK_V_NODE: return "a node";
	case XK_V_ARCH: return "a threading preset";
	case XK_V_GRAPH: return "a graph";
	case XK_V_POISON: return "something unknown";
	case XK_V_FUNCTION: return "a function";
	case XK_V_OTHER: snprintf(buf, n, "%s", v->text); break;
	}
	for (char *c = buf; *c != '\0'; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return buf;
}

size_t spec_utf8(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t more = *p < 0x80 ? 0 : *p >= 0xc2 && *p < 0xe0 ? 1 : (*p & 0xf0) == 0xe0 ? 2 : *p >= 0xf0 && *p < 0xf5 ? 3 : 9;

	if (more > 3 || n <= more)
		return 0;
	/* overlong forms, surrogates, past U+10FFFF */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	for (size_t i = 1; i <= more; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

bool spec_is_printable(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];

	/* U+0080 to U+009F are controls, too. */
	return len != 0 && (c >= ' ' || c == '\t') && c != 0x7f && (c != 0xc2 || (unsigned char)s[1] >= 0xa0);
}

bool spec_is_name(const char *s, size_t n)
{
	if (n == 0 || n > COMPOSE_NAME_MAX || !(isalpha((unsigned char)*s) || *s == '_'))
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '_' && s[i] != '-' && s[i] != '.')
			return false;
	return true;
}

/* " (called from FILE:LINE, from FILE:LINE)", or nothing. */
static const char *callers(const struct xk_spec *s, const struct spec_place *at, char *buf, size_t n)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < at->nfrom && used < n; i++)
		used += (size_t)snprintf(buf + used, n - used, "%sfrom %s:%d", i == 0 ? " (called " : ", ",
					 spec_file_name(s, at->from[i].file), at->from[i].line);
	if (at->nfrom != 0 && used < n)
		snprintf(buf + used, n - used, ")");
	return buf;
}

void spec_error(const struct xk_spec *s, struct xk_errs *e, struct spec_place at, const char *callee,
		const struct scan_step *step, unsigned nsteps, const char *fmt, ...)
{
	const struct spec_file *f = at.file < s->nfiles ? &s->file[at.file] : NULL;
	int line = at.line, col = 0;
	char *text, from[600];
	va_list ap;

	if (xk_errs_count(e) >= COMPOSE_ERRORS_MAX) {
		xk_errs_cut(e);
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (f != NULL && callee != NULL)
		scan_place(f->text, f->len, at.line, callee, step, nsteps, s->scan_left, &line, &col);
	xk_errs_add(e, f ? f->name : NULL, line, col, "%s%s", text ? text : "out of memory", callers(s, &at, from, sizeof from));
	free(text);
}

void xk_spec_free(struct xk_spec *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->nnodes; i++) {
		struct spec_node *n = &s->node[i];

		if (n->conf != NULL)
			xk_param_release(n->proto->params, n->conf);
		xk_free(n->conf);
	}
	if (s->graph_conf != NULL) {
		xk_param_release(xk_graph_params, s->graph_conf);
		xk_param_release(check_clock_params, s->graph_conf);
	}
	xk_free(s->graph_conf);
	arena_fini(&s->arena);
	xk_free(s);
}

/* ---- looking at it -------------------------------------------------------------- */

const struct xk_value *xk_value_get(const struct xk_value *map, const char *name)
{
	if (map == NULL || map->kind != XK_V_MAP)
		return NULL;
	for (unsigned i = 0; i < map->n; i++)
		if (map->key[i].kind == XK_V_TEXT && strcmp(map->key[i].text, name) == 0)
			return &map->item[i];
	return NULL;
}

const struct xk_arg *xk_spec_args(const struct xk_spec *s, unsigned *n)
{
	*n = s->nargs;
	return s->arg;
}

unsigned xk_spec_nodes(const struct xk_spec *s)
{
	return s->nnodes;
}

void xk_spec_node(const struct xk_spec *s, unsigned i, struct xk_spec_node *out)
{
	const struct spec_node *n = &s->node[i];

	xk_assert(i < s->nnodes);
	*out = (struct xk_spec_node){
		.proto = n->proto, .name = n->name, .file = spec_file_name(s, n->at.file),
		.line = n->at.line, .conf = n->conf, .nover = n->nover, .over = n->over,
	};
}

bool xk_spec_param_place(const struct xk_spec *s, unsigned i, const char *name,
			 const char **file, int *line)
{
	const struct spec_node *n = &s->node[i];
	const struct spec_file *f = &s->file[n->at.file];
	const struct xk_param *p = xk_param_find(n->proto->params, name);
	const struct xk_value *tab = &n->tab;
	struct scan_step step[2];
	unsigned steps = 0;
	int col;

	xk_assert(i < s->nnodes);
	if (p != NULL && p->group != NULL) {
		step[steps++] = (struct scan_step){ .name = p->group };
		tab = xk_value_get(tab, p->group);
	}
	step[steps++] = (struct scan_step){ .name = p != NULL ? p->name : name };
	if (tab == NULL || xk_value_get(tab, step[steps - 1].name) == NULL)
		return false;
	scan_place(f->text, f->len, n->at.line, n->proto->name, step, steps, s->scan_left, line, &col);
	*file = f->name;
	return true;
}

static const struct spec_top *top_of(const struct xk_spec *s)
{
	int top = s->bench >= 0 ? s->bench : s->machine >= 0 ? s->machine : s->graph;

	return top >= 0 ? &s->top[top] : NULL;
}

const char *xk_spec_file(const struct xk_spec *s, unsigned no)
{
	return no < s->nfiles ? spec_file_name(s, no) : NULL;
}

const char *xk_spec_name(const struct xk_spec *s)
{
	const struct spec_top *t = top_of(s);

	return t ? t->name : NULL;
}

const char *xk_spec_word(const struct xk_spec *s)
{
	return s->bench >= 0 ? "bench" : s->machine >= 0 ? "machine" : "graph";
}

bool xk_spec_is_bench(const struct xk_spec *s)
{
	return s->bench >= 0;
}

const struct xk_value *xk_spec_bench(const struct xk_spec *s)
{
	return s->bench >= 0 ? &s->top[s->bench].tab : NULL;
}

const struct xk_value *xk_spec_machine(const struct xk_spec *s)
{
	return s->machine >= 0 ? &s->top[s->machine].tab : NULL;
}

void xk_spec_bench_error(const struct xk_spec *s, struct xk_errs *e, const char *const *path,
			 const char *fmt, ...)
{
	struct scan_step step[COMPOSE_DEPTH_MAX];
	const struct spec_top *t = top_of(s);
	const char *word = xk_spec_word(s);
	unsigned n = 0;
	char *text;
	va_list ap;

	xk_assert(s->bench >= 0 || s->machine >= 0);
	for (; path != NULL && path[n] != NULL && n < COMPOSE_DEPTH_MAX; n++)
		step[n] = path[n][0] != '#' ? (struct scan_step){ .name = path[n] }
					    : (struct scan_step){ .i = (unsigned)strtoul(path[n] + 1, NULL, 10) };
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	spec_error(s, e, t->at, word, step, n, "%s: %s", word, text ? text : "out of memory");
	free(text);
}

const char *xk_spec_nearest(const struct xk_spec *s)
{
	return s != NULL ? s->nearest : NULL;
}

struct xk_plan *xk_spec_plan(struct xk_spec *s)
{
	return s->checked && s->graph >= 0 ? &s->plan : NULL;
}
