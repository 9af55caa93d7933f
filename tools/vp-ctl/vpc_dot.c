/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_dot.c - dot: the running graph as a drawing, with what passed in a while.
 *
 * Nodes, edges, sessions and cables are asked for; the rates are differences of counters in shared memory.  When nodes
 * come or go meanwhile all of it is done again.
 * A node says what went down and up through its sessions, what it dropped, and which virtual processors had a part in
 * it; an edge is the thicker the more passes.  Who does nothing is grey.
 */
#include "tools/vp-ctl/vpc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES 16u                /* while nodes come and go */

struct counts { uint64_t push, pop, drops; };

/* [nnodes], and [nnodes * nvps] of what passed on each VP. */
struct sample { xk_ns at; struct counts *node; uint64_t *vp; };

struct drawing {
	const struct ctl_view *v;
	const json_t *rows, *params;
	struct sample a, b;
	double s;                        /* between them */
};

/* ---- counters -------------------------------------------------------------------------------- */

static void read_node(const struct ctl_view *v, const struct ctl_view_node *n, struct counts *c, uint64_t *vp)
{
	uint64_t push = ctl_field(&v->node_field, "push"), pop = ctl_field(&v->node_field, "pop");

	*c = (struct counts){ ctl_view_node_sum(v, n, push), ctl_view_node_sum(v, n, pop), 0 };
	for (unsigned k = 0; k < n->ndrops; k++)
		c->drops += ctl_view_node_sum(v, n, v->drops_at + 8 * k);
	for (unsigned i = 0; i < v->nvps; i++)
		vp[i] = ctl_view_read(v, n->rep[i] + push) + ctl_view_read(v, n->rep[i] + pop);
}

static bool take(const struct ctl_view *v, struct sample *s)
{
	s->node = calloc(v->nnodes + 1u, sizeof *s->node);
	s->vp = calloc((size_t)v->nnodes * v->nvps + 1u, sizeof *s->vp);
	if (s->node == NULL || s->vp == NULL)
		return false;
	s->at = xk_clock_host();
	for (unsigned i = 0; i < v->nnodes; i++)
		read_node(v, &v->node[i], &s->node[i], s->vp + (size_t)i * v->nvps);
	return true;
}

/* The node of that name, or nnodes: it came or went just now. */
static unsigned find(const struct drawing *d, const char *name)
{
	unsigned i = 0;

	while (i < d->v->nnodes && strcmp(d->v->node[i].name, name) != 0)
		i++;
	return i;
}

static double rate(const struct drawing *d, uint64_t now, uint64_t then)
{
	return d->s > 0 ? (double)(now - then) / d->s : 0;
}

static double passed(const struct drawing *d, unsigned i)
{
	const struct counts *a = &d->a.node[i], *b = &d->b.node[i];

	return rate(d, b->push, a->push) + rate(d, b->pop, a->pop);
}

/* ---- text -------------------------------------------------------------------------------------- */

/* In quotes, with what means something there escaped. */
static void quoted(const char *s)
{
	putchar('"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
	putchar('"');
}

/* "393 k/s" */
static void put_rate(double x)
{
	static const char *const unit[] = { "", " k", " M", " G" };
	unsigned i = 0;

	for (; x >= 999.5 && i + 1 < XK_ARRAY_LEN(unit); i++)
		x /= 1000;
	printf("%.3g%s/s", x, unit[i]);
}

/* "VPs 0-3,7": those on which the node had something to do. */
static void put_vps(const struct drawing *d, unsigned i)
{
	const uint64_t *a = d->a.vp + (size_t)i * d->v->nvps, *b = d->b.vp + (size_t)i * d->v->nvps;
	const char *sep = "\\nVPs ";

	for (unsigned v = 0; v < d->v->nvps; v++) {
		unsigned first = v;

		if (a[v] == b[v])
			continue;
		while (v + 1 < d->v->nvps && a[v + 1] != b[v + 1])
			v++;
		printf(first == v ? "%s%u" : "%s%u-%u", sep, first, v);
		sep = ",";
	}
}

/* ---- the drawing ---------------------------------------------------------------------------------- */

static void node(const struct drawing *d, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "node"));
	const char *protocol = json_string_value(json_object_get(row, "protocol"));
	unsigned i = find(d, name);
	double drops;

	putchar('\t');
	quoted(name);
	printf(" [label=\"%s", name);    /* names of nodes have neither quotes nor backslashes */
	if (strcmp(name, protocol) != 0)
		printf("\\n(%s)", protocol);
	if (i == d->v->nnodes) {
		printf("\"];\n");
		return;
	}
	printf("\\ndown ");
	put_rate(rate(d, d->b.node[i].push, d->a.node[i].push));
	printf(", up ");
	put_rate(rate(d, d->b.node[i].pop, d->a.node[i].pop));
	printf("\\nsessions %lld", (long long)json_integer_value(json_object_get(row, "sessions")));
	drops = rate(d, d->b.node[i].drops, d->a.node[i].drops);
	if (drops > 0) {
		printf(", drops ");
		put_rate(drops);
	}
	put_vps(d, i);
	printf("\"%s%s", json_array_size(json_object_get(row, "over")) == 0 ? ", style=filled, fillcolor=gray90" : "",
	       passed(d, i) == 0 ? ", fontcolor=gray50, color=gray50" : drops > 0 ? ", color=red" : "");
	printf("];\n");
}

/* As much passes as through the end that has less, or through the one that is known. */
static void edge(const struct drawing *d, const char *from, const char *to)
{
	unsigned i = find(d, from), k = find(d, to);
	double x = i < d->v->nnodes ? passed(d, i) : INFINITY, y = k < d->v->nnodes ? passed(d, k) : INFINITY;
	double least = i < d->v->nnodes || k < d->v->nnodes ? fmin(x, y) : 0;

	putchar('\t');
	quoted(from);
	printf(" -> ");
	quoted(to);
	printf(" [penwidth=%.2f];\n", 1 + log10(1 + least) / 2);
}

static const char *cable_of(const json_t *row)
{
	const char *value = json_string_value(json_object_get(row, "value"));

	if (strcmp(json_string_value(json_object_get(row, "parameter")), "wire") != 0)
		return NULL;
	return value != NULL && *value != '\0' ? value : NULL;
}

/* Two nodes with the same parameter `wire` are its ends. */
static void cables(const struct drawing *d)
{
	const json_t *x, *y;
	size_t i, k;

	json_array_foreach(d->params, i, x)
		for (k = 0; k < i; k++) {
			const char *a = cable_of(x), *b;

			y = json_array_get(d->params, k);
			b = cable_of(y);
			if (a == NULL || b == NULL || strcmp(a, b) != 0)
				continue;
			putchar('\t');
			quoted(json_string_value(json_object_get(x, "node")));
			printf(" -> ");
			quoted(json_string_value(json_object_get(y, "node")));
			printf(" [constraint=false, style=bold, label=");
			quoted(a);
			printf("];\n");
		}
}

static void draw(const struct drawing *d)
{
	const json_t *row, *low;
	char title[512];
	size_t i, k;

	snprintf(title, sizeof title, "%s: %s, %u virtual processors, %u workers, in %.3f s", d->v->graph, d->v->threading,
		 d->v->nvps, d->v->nworkers, d->s);
	printf("digraph ");
	quoted(d->v->graph);
	printf(" {\n\tlabel=");
	quoted(title);
	printf(";\n\tfontname=\"sans-serif\";\n\tnode [fontname=\"sans-serif\", shape=box, style=rounded];\n"
	       "\tedge [fontname=\"sans-serif\", fontsize=9, arrowhead=none];\n");
	json_array_foreach(d->rows, i, row)
		node(d, row);
	json_array_foreach(d->rows, i, row)
		json_array_foreach(json_object_get(row, "over"), k, low)
			edge(d, json_string_value(json_object_get(row, "node")), json_string_value(low));
	cables(d);
	printf("}\n");
}

static void wait_for(xk_ns delay)
{
	struct timespec t = { (time_t)(delay / XK_SEC), (long)(delay % XK_SEC) };

	while (nanosleep(&t, &t) != 0)
		;
}

/* The rows of an answer to show; the caller's reference; NULL with *code. */
static json_t *shown(struct vpc *o, const char *what, int *code)
{
	json_t *answer = vpc_ask(o, json_pack("{s:s, s:s}", "cmd", "show", "what", what), code), *rows;

	if (answer == NULL)
		return NULL;
	rows = json_incref(json_object_get(json_object_get(answer, "result"), "rows"));
	json_decref(answer);
	return rows;
}

static void forget(struct drawing *d)
{
	free(d->a.node);
	free(d->a.vp);
	free(d->b.node);
	free(d->b.vp);
	json_decref((json_t *)(uintptr_t)d->rows);
	json_decref((json_t *)(uintptr_t)d->params);
	*d = (struct drawing){ .v = d->v };
}

/* All that a drawing is of. */
static bool look(struct vpc *o, struct drawing *d, int *code)
{
	d->rows = shown(o, "graph", code);
	d->params = d->rows != NULL ? shown(o, "params", code) : NULL;
	if (d->params == NULL)
		return false;
	if (take(d->v, &d->a)) {
		wait_for(o->delay);
		if (take(d->v, &d->b)) {
			d->s = (double)(d->b.at - d->a.at) / 1e9;
			return true;
		}
	}
	fprintf(stderr, "vp-ctl: out of memory\n");
	*code = VPC_REFUSED;
	return false;
}

int vpc_dot(struct vpc *o)
{
	int code = VPC_OK;
	struct ctl_view *v = vpc_view(o, &code);
	struct drawing d = { .v = v };

	bool done = false;

	for (unsigned i = 0; v != NULL && !done && i < TRIES; i++) {
		bool seen = look(o, &d, &code);

		done = !seen || vpc_held(o, &v, &code);
		if (seen && done)
			draw(&d);
		d.v = v;
		forget(&d);
	}
	if (v != NULL && !done) {
		fprintf(stderr, "vp-ctl: nodes come and go all the time: try a shorter --delay\n");
		code = VPC_REFUSED;
	}
	ctl_view_free(v);
	return code;
}
