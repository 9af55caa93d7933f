/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_top.c - rates: of each virtual processor, node and connection, again and again.
 *
 * Processors and nodes are read from shared memory, so looking costs the graph nothing;
 * connections are asked for.  What came while the graph ran is in the tables from then on, counted from when
 * it came, and what went is not.  Each table is plain text, one below the other, and says how long
 * the time was that it is of.
 */
#include "tools/vp-ctl/vpc.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sample {
	struct ctl_view *v;              /* what it was read by */
	xk_ns     at;
	uint64_t *vp, *stage, *node;      /* as many for each as there are columns */
	json_t   *conns;                 /* rows, or NULL */
};

enum { V_MESSAGES, V_UNITS, V_OVER, V_OUT, V_DROPS, V_TAKEN, V_CONTENDED, V_N };
enum { L_MESSAGES, L_UNITS, L_UP, L_DOWN, L_HANDED, L_STOPS, L_LONGEST, L_N };
enum { N_PUSH, N_POP, N_DROPS, N_SESSIONS, N_N };

static const char *const vp_fields[V_N] = {
	"messages", "units", "handed_over", "posted_out", "inbox_drops", "lock_taken", "lock_contended"
};

static const char *const stage_fields[L_N] = { "messages", "units", "up", "down", "forwarded", "backpressure", "longest_queue" };

static uint64_t drops(const struct ctl_view *v, const struct ctl_view_node *n)
{
	uint64_t sum = 0;

	for (unsigned k = 0; k < n->ndrops; k++)
		sum += ctl_view_node_sum(v, n, v->drops_at + 8 * k);
	return sum;
}

static bool places_for(const struct ctl_view *v, struct sample *s)
{
	free(s->vp);
	free(s->stage);
	free(s->node);
	s->vp = calloc(v->nvps * V_N + 1u, sizeof *s->vp);
	s->stage = calloc(v->nall * L_N + 1u, sizeof *s->stage);
	s->node = calloc(v->nnodes * N_N + 1u, sizeof *s->node);
	return s->vp != NULL && s->stage != NULL && s->node != NULL;
}

static void read_counters(const struct ctl_view *v, struct sample *s)
{
	for (unsigned i = 0; i < v->nvps; i++)
		for (unsigned k = 0; k < V_N; k++)
			s->vp[i * V_N + k] = ctl_view_read(v, v->vp[i] + ctl_field(&v->vp_field, vp_fields[k]));
	for (unsigned i = 0; i < v->nall; i++)
		for (unsigned k = 0; k < L_N; k++)
			s->stage[i * L_N + k] = ctl_view_read(v, v->stage[i] + ctl_field(&v->stage_field, stage_fields[k]));
	for (unsigned i = 0; i < v->nnodes; i++) {
		const struct ctl_view_node *n = &v->node[i];
		uint64_t gone = ctl_view_node_sum(v, n, ctl_field(&v->node_field, "sessions_gone"));

		s->node[i * N_N + N_PUSH] = ctl_view_node_sum(v, n, ctl_field(&v->node_field, "push"));
		s->node[i * N_N + N_POP] = ctl_view_node_sum(v, n, ctl_field(&v->node_field, "pop"));
		s->node[i * N_N + N_DROPS] = drops(v, n);
		s->node[i * N_N + N_SESSIONS] = ctl_view_node_sum(v, n, ctl_field(&v->node_field, "sessions_made")) - gone;
	}
}

/* All connections, in as many questions as it takes. */
static json_t *read_conns(struct vpc *o, int *code)
{
	json_t *all = json_array(), *cursor = NULL, *answer, *result;

	do {
		json_t *req = json_pack("{s:s, s:s, s:i}", "cmd", "show", "what", "connections", "limit", 10000);

		if (cursor != NULL)
			json_object_set_new(req, "cursor", cursor);
		answer = vpc_ask(o, req, code);
		if (answer == NULL) {
			json_decref(all);
			return NULL;
		}
		result = json_object_get(answer, "result");
		json_array_extend(all, json_object_get(result, "rows"));
		cursor = json_incref(json_object_get(result, "cursor"));
		json_decref(answer);
	} while (cursor != NULL);
	return all;
}

static bool take_counters(struct vpc *o, struct sample *s, int *code)
{
	do {
		if (!places_for(s->v, s)) {
			fprintf(stderr, "vp-ctl: out of memory\n");
			*code = VPC_REFUSED;
			return false;
		}
		read_counters(s->v, s);
	} while (!vpc_held(o, &s->v, code) && s->v != NULL);
	return s->v != NULL;
}

static bool take(struct vpc *o, struct sample *s, bool conns, int *code)
{
	if (!take_counters(o, s, code))
		return false;
	json_decref(s->conns);
	s->conns = conns ? read_conns(o, code) : NULL;
	s->at = xk_clock_host();
	return !conns || s->conns != NULL;
}

/* ---- tables ------------------------------------------------------------------------------ */

static double rate(uint64_t now, uint64_t then, double s)
{
	return s > 0 ? (double)(now - then) / s : 0;
}

static void vp_table(const struct ctl_view *v, const struct sample *a, const struct sample *b, double s)
{
	printf("%5s %14s %12s %14s %14s %12s %10s\n", "vp", "messages/s", "units/s", "handed_over/s", "posted_out/s",
	       "drops/s", "contended");
	for (unsigned i = 0; i < v->nvps; i++) {
		const uint64_t *x = a->vp + i * V_N, *y = b->vp + i * V_N;
		uint64_t taken = y[V_TAKEN] - x[V_TAKEN];

		printf("%5u %14.0f %12.0f %14.0f %14.0f %12.0f ", i, rate(y[V_MESSAGES], x[V_MESSAGES], s),
		       rate(y[V_UNITS], x[V_UNITS], s), rate(y[V_OVER], x[V_OVER], s), rate(y[V_OUT], x[V_OUT], s),
		       rate(y[V_DROPS], x[V_DROPS], s));
		if (taken != 0)
			printf("%9.2f%%\n", 100.0 * (double)(y[V_CONTENDED] - x[V_CONTENDED]) / (double)taken);
		else
			printf("%10s\n", "-");
	}
}

/* The longest queue is since the start. */
static void stage_table(const struct ctl_view *v, const struct sample *a, const struct sample *b, double s)
{
	printf("%5s %5s %14s %12s %14s %14s %14s %14s %8s\n", "vp", "layer", "messages/s", "units/s", "rx/s",
	       "tx/s", "forwarded/s", "backpressure/s", "longest");
	for (unsigned i = 0; i < v->nall; i++) {
		const uint64_t *x = a->stage + i * L_N, *y = b->stage + i * L_N;

		printf("%5u %5u", i / v->layers, i % v->layers);
		printf(" %14.0f %12.0f", rate(y[L_MESSAGES], x[L_MESSAGES], s), rate(y[L_UNITS], x[L_UNITS], s));
		printf(" %14.0f %14.0f %14.0f", rate(y[L_UP], x[L_UP], s), rate(y[L_DOWN], x[L_DOWN], s),
		       rate(y[L_HANDED], x[L_HANDED], s));
		printf(" %14.0f %8llu\n", rate(y[L_STOPS], x[L_STOPS], s), (unsigned long long)y[L_LONGEST]);
	}
}

/* Of node i of b in a; of one that came since nothing had passed. */
static const uint64_t *before(const struct sample *a, const struct sample *b, unsigned i)
{
	static const uint64_t none[N_N];
	const struct ctl_view_node *n = ctl_view_find(a->v, &b->v->node[i]);

	return n != NULL ? a->node + (n - a->v->node) * N_N : none;
}

static void node_table(const struct ctl_view *v, const struct sample *a, const struct sample *b, double s)
{
	printf("%-16s %-12s %14s %14s %12s %12s\n", "node", "protocol", "push/s", "pop/s", "drops/s", "sessions");
	for (unsigned i = v->nnodes; i-- > 0;) {
		const uint64_t *x = before(a, b, i), *y = b->node + i * N_N;

		printf("%-16s %-12s %14.0f %14.0f %12.0f %12llu\n", v->node[i].name, v->node[i].protocol,
		       rate(y[N_PUSH], x[N_PUSH], s), rate(y[N_POP], x[N_POP], s), rate(y[N_DROPS], x[N_DROPS], s),
		       (unsigned long long)y[N_SESSIONS]);
	}
}

struct conn { const char *node; uint64_t vp, no; double messages, bytes; };

static int by_rate(const void *a, const void *b)
{
	double x = ((const struct conn *)a)->messages, y = ((const struct conn *)b)->messages;

	return (x < y) - (x > y);
}

static uint64_t number(const json_t *row, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(row, key));
}

/* The busiest first; rows of the earlier table are found by place: they only grow in number.  A
 * place that was taken again by another connection begins anew. */
static void conn_table(const struct sample *a, const struct sample *b, double s)
{
	size_t n = json_array_size(b->conns), i;
	struct conn *c = calloc(n + 1, sizeof *c);
	const json_t *y;

	if (c == NULL)
		return;
	json_array_foreach(b->conns, i, y) {
		const json_t *x = json_array_get(a->conns, i);
		bool same = x != NULL && number(x, "connection") == number(y, "connection") &&
			    number(x, "vp") == number(y, "vp") && number(x, "messages") <= number(y, "messages");

		c[i] = (struct conn){ json_string_value(json_object_get(y, "node")), number(y, "vp"), number(y, "connection"),
				      rate(number(y, "messages"), same ? number(x, "messages") : 0, s),
				      rate(number(y, "bytes"), same ? number(x, "bytes") : 0, s) };
	}
	qsort(c, n, sizeof *c, by_rate);
	printf("%-16s %5s %12s %14s %14s\n", "node", "vp", "connection", "messages/s", "Mbit/s");
	for (i = 0; i < n && i < 40; i++)
		printf("%-16s %5llu %12llu %14.0f %14.3f\n", c[i].node, (unsigned long long)c[i].vp,
		       (unsigned long long)c[i].no, c[i].messages, c[i].bytes * 8 / 1e6);
	if (n > 40)
		printf("and %zu more\n", n - 40);
	free(c);
}

static void tables(const char *what, const struct sample *a, const struct sample *b)
{
	double s = (double)(b->at - a->at) / 1e9;
	const struct ctl_view *v = b->v;

	printf("%s: %s, %u virtual processors, %u workers, in %.3f s\n", v->graph, v->threading, v->nvps, v->nworkers, s);
	if (what == NULL || strcmp(what, "vps") == 0)
		(v->nall != 0 ? stage_table : vp_table)(v, a, b, s);
	if (what == NULL || strcmp(what, "nodes") == 0)
		node_table(v, a, b, s);
	if (what != NULL && strcmp(what, "connections") == 0)
		conn_table(a, b, s);
	putchar('\n');
	fflush(stdout);
}

/* ---- again and again --------------------------------------------------------------------------- */

/* Waits; true: the graph has ended. */
static bool pause_or_end(const struct vpc *o, xk_ns until)
{
	for (;;) {
		xk_ns now = xk_clock_host(), left = until > now ? until - now : 0;
		struct timespec t;

		if (vpc_gone(o))
			return true;
		if (left == 0)
			return false;
		left = left < 100 * XK_MS ? left : 100 * XK_MS;
		t = (struct timespec){ (time_t)(left / XK_SEC), (long)(left % XK_SEC) };
		nanosleep(&t, NULL);
	}
}

static int loop(struct vpc *o, const char *what, struct sample *s)
{
	bool conns = what != NULL && strcmp(what, "connections") == 0, ended = false;
	int code = VPC_OK;

	if (!take(o, &s[0], conns, &code))
		return code;
	for (uint64_t i = 0; !ended && (o->count == 0 || i < o->count); i++) {
		struct sample *a = &s[i & 1], *b = &s[~i & 1];

		ended = pause_or_end(o, a->at + o->delay);
		if (ended && conns)
			break;
		if (!take(o, b, conns, &code))
			return code;
		tables(what, a, b);
	}
	if (ended)
		fprintf(stderr, "vp-ctl: the graph has ended\n");
	return VPC_OK;
}

int vpc_top(struct vpc *o)
{
	const char *what = o->nwords > 1 ? o->word[1] : NULL;
	struct sample s[2] = { { 0 } };
	int code = VPC_OK;

	if (what != NULL && strcmp(what, "vps") != 0 && strcmp(what, "nodes") != 0 && strcmp(what, "connections") != 0) {
		fprintf(stderr, "vp-ctl: top shows vps, nodes or connections, not '%s'\n", what);
		return VPC_USAGE;
	}
	/* Each sample has one, so that nodes of the earlier can be told while those of the later are others. */
	s[0].v = vpc_view(o, &code);
	s[1].v = s[0].v != NULL ? vpc_view(o, &code) : NULL;
	if (s[1].v != NULL)
		code = loop(o, what, s);
	for (unsigned i = 0; i < 2; i++) {
		free(s[i].vp);
		free(s[i].stage);
		free(s[i].node);
		json_decref(s[i].conns);
		ctl_view_free(s[i].v);
	}
	return code;
}
