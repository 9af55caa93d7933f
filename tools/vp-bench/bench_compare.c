/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_compare.c - two results, point by point.
 *
 * Points are matched by bench and place, or one by one where a sweep ran both
 * sides in turns.  What differs besides the numbers (machine, kernel, settings) is
 * told with them.  The confidence is that of the whole comparison: with m points
 * each one's interval has 1 - (1 - confidence) / m, so that more points do not mean
 * more false verdicts.
 * Invariant: results that measure different things are refused, never compared.
 */
#include "tools/vp-bench/bench_compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct compare {
	const struct bench_compare_options *o;
	const json_t *a, *b;             /* documents; the same one when in turns */
	json_t       *doubts, *points;
	bool          turns;
	double        confidence;        /* of one point */
};

static const char *word_of(enum bench_verdict v, const char *metric)
{
	static const char *const speeds[] = { "gbit", "mps", "ns", "cpu_ns", "latency" };
	bool speed = false;

	for (unsigned i = 0; i < XK_ARRAY_LEN(speeds); i++)
		speed |= strcmp(metric, speeds[i]) == 0;
	switch (v) {
	case BENCH_NO_DIFFERENCE: return "no difference shown";
	case BENCH_BETTER: return speed ? "faster" : "better";
	case BENCH_WORSE: return speed ? "slower" : "worse";
	default: return "not measured";
	}
}

XK_PRINTF(2, 3) static void doubt(const struct compare *c, const char *fmt, ...)
{
	char text[600];
	json_t *said;
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	json_array_foreach(c->doubts, i, said)
		if (strcmp(json_string_value(said), text) == 0)
			return;
	json_array_append_new(c->doubts, json_string(text));
}

/* ---- what else differs ------------------------------------------------------------- */

static const char *plain(const json_t *v, char *buf, size_t n)
{
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

	snprintf(buf, n, "%s", text ? text : "not told");
	free(text);
	return buf;
}

static void told_apart(const struct compare *c, const char *what, const char *key, const json_t *a, const json_t *b)
{
	char x[200], y[200];
	const json_t *va = json_object_get(a, key), *vb = json_object_get(b, key);

	if (va == vb || (va != NULL && vb != NULL && json_equal(va, vb)))
		return;
	doubt(c, "%s differs: %s is %s in A, %s in B", what, key, plain(va, x, sizeof x), plain(vb, y, sizeof y));
}

static bool says(const json_t *list, const json_t *text)
{
	const json_t *t;
	size_t i;

	json_array_foreach(list, i, t)
		if (json_equal(t, text))
			return true;
	return false;
}

/* What one side doubts, with its name unless the other doubts it, too. */
static void doubts_of(const struct compare *c, const char *side, const json_t *own, const json_t *others)
{
	const json_t *text;
	size_t i;

	json_array_foreach(own, i, text)
		doubt(c, "%s%s", says(others, text) ? "" : side, json_string_value(text));
}

static void compare_machines(const struct compare *c)
{
	static const char *const keys[] = { "processor", "cpus", "cores", "numa_nodes", "kernel", "governor", "clocksource",
					    "thp", "command_line", "page_bytes", "virtual_machine", NULL };
	const json_t *a = json_object_get(c->a, "environment"), *b = json_object_get(c->b, "environment");

	for (unsigned k = 0; keys[k] != NULL; k++)
		told_apart(c, "the machine", keys[k], a, b);
	if (!json_equal(json_object_get(a, "mitigations"), json_object_get(b, "mitigations")))
		doubt(c, "the machine differs: other mitigations of processor faults");
	told_apart(c, "vp-bench", "version", c->a, c->b);
	doubts_of(c, "A: ", json_object_get(a, "doubts"), json_object_get(b, "doubts"));
	doubts_of(c, "B: ", json_object_get(b, "doubts"), json_object_get(a, "doubts"));
	if (!c->turns)
		doubt(c, "the sides ran one after the other: what the machine did meanwhile is part of the difference "
		      "(vp-bench compare FILE --vs runs them in turns)");
}

static void compare_settings(const struct compare *c, const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "preset", "duration_ns", "warmup_ns", "messages", "warmup_messages", "args", NULL };
	const json_t *x = json_object_get(a, "settings"), *y = json_object_get(b, "settings");
	char what[120];

	snprintf(what, sizeof what, "%.80s: a setting", bench_text(a, "name"));
	for (unsigned k = 0; !c->turns && keys[k] != NULL; k++)
		told_apart(c, what, keys[k], x, y);
	if (strcmp(bench_text(x, "preset"), "quick") == 0 || strcmp(bench_text(y, "preset"), "quick") == 0)
		doubt(c, "%s: a quick run, not to conclude from", bench_text(a, "name"));
	if (!json_is_true(json_object_get(a, "complete")) || !json_is_true(json_object_get(b, "complete")))
		doubt(c, "%s: a sweep was stopped before its end", bench_text(a, "name"));
}

/* ---- points ----------------------------------------------------------------------------- */

/* The metric's description, or NULL and why. */
static const json_t *metric_of(const struct compare *c, const json_t *a, const json_t *b, char *why, size_t n)
{
	const json_t *x = json_object_get(a, "metric"), *y = json_object_get(b, "metric");

	if (json_equal(x, y))
		return x;
	snprintf(why, n, "bench %.60s measures %.60s in A and %.60s in B%s", bench_text(a, "name"), bench_text(x, "name"),
		 bench_text(y, "name"), c->o->metric ? "" : " (--metric chooses one that both have)");
	return NULL;
}

struct runs { double v[BENCH_PAIRS], block[BENCH_PAIRS]; };

static struct bench_series series_of(const json_t *point, const char *metric, struct runs *r)
{
	size_t n = bench_doc_values(point, metric, r->v, r->block, BENCH_PAIRS);

	return (struct bench_series){ r->v, r->block, n };
}

static void put_difference(json_t *o, const struct bench_difference *d)
{
	bool measured = d->verdict != BENCH_NOT_MEASURED;

	json_object_set_new(o, "mean_a", d->na ? bench_real_json(d->mean_a) : json_null());
	json_object_set_new(o, "mean_b", d->nb ? bench_real_json(d->mean_b) : json_null());
	json_object_set_new(o, "runs_a", json_integer((json_int_t)d->na));
	json_object_set_new(o, "runs_b", json_integer((json_int_t)d->nb));
	json_object_set_new(o, "pairs", json_integer((json_int_t)d->pairs));
	json_object_set_new(o, "method", json_string(d->method));
	json_object_set_new(o, "kind", json_string(d->ratio ? "ratio" : "difference"));
	json_object_set_new(o, "value", measured ? bench_real_json(d->in.mid) : json_null());
	json_object_set_new(o, "lo", measured ? bench_real_json(d->in.lo) : json_null());
	json_object_set_new(o, "hi", measured ? bench_real_json(d->in.hi) : json_null());
	json_object_set_new(o, "worse_percent", measured ? bench_real_json(d->percent) : json_null());
	if (d->why != NULL)
		json_object_set_new(o, "why", json_string(d->why));
}

static void compare_point(struct compare *c, const json_t *part, const json_t *metric, const json_t *a, const json_t *b)
{
	static struct runs x, y;
	const char *name = c->o->metric ? c->o->metric : bench_text(metric, "name");
	const struct bench_metric *m = bench_metric_find(name);
	const char *better = m ? (m->lower ? "lower" : "higher") : bench_text(metric, "better");
	struct bench_series sa = series_of(a, name, &x), sb = series_of(b, name, &y);
	struct bench_difference d;
	json_t *o = json_object();
	bool fails;

	bench_differ(&sa, &sb, c->turns, strcmp(better, "lower") == 0, c->confidence, &d);
	fails = c->o->fail_over >= 0 && d.verdict == BENCH_WORSE && d.percent > c->o->fail_over;
	json_object_set_new(o, "bench", json_string(bench_text(part, "name")));
	json_object_set(o, "a", json_object_get(a, "at"));
	json_object_set(o, "b", json_object_get(b, "at"));
	json_object_set_new(o, "metric", json_string(name));
	json_object_set_new(o, "unit", json_string(m ? m->unit : bench_text(metric, "unit")));
	json_object_set_new(o, "better", json_string(better));
	put_difference(o, &d);
	json_object_set_new(o, "verdict", json_string(word_of(d.verdict, name)));
	json_object_set_new(o, "fails", json_boolean(fails));
	json_array_append_new(c->points, o);
}

/* ---- which with which --------------------------------------------------------------------- */

json_t *bench_compare_side(const json_t *doc, const char *side, size_t no)
{
	json_t *part;
	size_t i;

	json_array_foreach(json_object_get(doc, "benches"), i, part)
		if (strcmp(bench_text(part, "side"), side) == 0 && no-- == 0)
			return part;
	return NULL;
}

static const json_t *same_bench(const json_t *doc, const json_t *part)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(doc, "benches"), i, p)
		if (strcmp(bench_text(p, "name"), bench_text(part, "name")) == 0)
			return p;
	return NULL;
}

static const json_t *same_place(const json_t *part, const json_t *point)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(part, "points"), i, p)
		if (json_equal(json_object_get(p, "at"), json_object_get(point, "at")))
			return p;
	return NULL;
}

typedef void (*pair_fn)(struct compare *c, const json_t *part, const json_t *metric, const json_t *a, const json_t *b);

/* Calls fn with each matching pair; returns how many points of A have none. */
static size_t each_pair(struct compare *c, const json_t *pa, const json_t *pb, const json_t *metric, pair_fn fn)
{
	const json_t *a, *b;
	size_t i, alone = 0;

	json_array_foreach(json_object_get(pa, "points"), i, a) {
		b = c->turns ? json_array_get(json_object_get(pb, "points"), i) : same_place(pb, a);
		if (b != NULL)
			fn(c, pa, metric, a, b);
		else
			alone++;
	}
	return alone;
}

static size_t count_pairs(struct compare *c, const json_t *pa, const json_t *pb)
{
	const json_t *a;
	size_t i, n = 0;

	json_array_foreach(json_object_get(pa, "points"), i, a)
		n += c->turns ? i < json_array_size(json_object_get(pb, "points")) : same_place(pb, a) != NULL;
	return n;
}

/* The partner of the i-th bench of A, or NULL. */
static const json_t *partner(const struct compare *c, size_t i, const json_t **pa)
{
	if (c->turns) {
		*pa = bench_compare_side(c->a, "A", i);
		return bench_compare_side(c->a, "B", i);
	}
	*pa = json_array_get(json_object_get(c->a, "benches"), i);
	return *pa ? same_bench(c->b, *pa) : NULL;
}

static bool compare_bench(struct compare *c, const json_t *pa, const json_t *pb, char *why, size_t n)
{
	const json_t *metric = metric_of(c, pa, pb, why, n);
	size_t alone;

	if (metric == NULL && c->o->metric == NULL)
		return false;
	compare_settings(c, pa, pb);
	alone = each_pair(c, pa, pb, metric, compare_point);
	if (alone != 0)
		doubt(c, "%s: %zu points of A are not in B", bench_text(pa, "name"), alone);
	return true;
}

static bool compare_all(struct compare *c, char *why, size_t n)
{
	const json_t *pa, *pb;
	size_t pairs = 0, benches = json_array_size(json_object_get(c->a, "benches"));

	for (size_t i = 0; i < benches; i++)
		if ((pb = partner(c, i, &pa)) != NULL)
			pairs += count_pairs(c, pa, pb);
	if (pairs == 0) {
		snprintf(why, n, "A and B have no point of the same bench in common");
		return false;
	}
	c->confidence = 1 - (1 - c->o->confidence) / (double)pairs;
	for (size_t i = 0; i < benches; i++)
		if ((pb = partner(c, i, &pa)) != NULL) {
			if (!compare_bench(c, pa, pb, why, n))
				return false;
		} else if (pa != NULL && !c->turns) {
			doubt(c, "bench %s is not in B", bench_text(pa, "name"));
		}
	return true;
}

static json_t *side_json(const json_t *doc, const char *name, const json_t *part)
{
	json_t *o = json_pack("{s:s, s:s}", "file", name, "started", bench_text(doc, "started"));

	if (part != NULL)
		json_object_set(o, "words", json_object_get(part, "words"));
	else
		part = json_array_get(json_object_get(doc, "benches"), 0);
	if (json_object_get(part, "binary") != NULL)
		json_object_set(o, "binary", json_object_get(part, "binary"));
	return o;
}

json_t *bench_compare(const json_t *doc_a, const char *name_a, const json_t *doc_b, const char *name_b,
		      const struct bench_compare_options *o, char *why, size_t n)
{
	struct compare c = { .o = o, .a = doc_a, .b = doc_b ? doc_b : doc_a, .turns = doc_b == NULL };
	const json_t *sides[] = { bench_compare_side(doc_a, "A", 0), bench_compare_side(c.b, "B", 0) };
	json_t *out;

	if (c.turns && (sides[0] == NULL || sides[1] == NULL)) {
		snprintf(why, n, "%s: has no two sides: name a second result, or make one with compare FILE --vs", name_a);
		return NULL;
	}
	if (!c.turns && (sides[0] != NULL || sides[1] != NULL)) {
		snprintf(why, n, "%s: has both sides already: compare it alone", sides[0] ? name_a : name_b);
		return NULL;
	}
	c.doubts = json_array();
	c.points = json_array();
	compare_machines(&c);
	if (!compare_all(&c, why, n)) {
		json_decref(c.doubts);
		json_decref(c.points);
		return NULL;
	}
	out = json_pack("{s:i, s:s, s:o, s:o, s:b, s:f, s:f}", "schema", 1, "tool", "vp-bench compare",
			"a", side_json(c.a, name_a, sides[0]),
			"b", side_json(c.b, c.turns ? name_a : name_b, sides[1]),
			"in_turns", c.turns, "confidence", o->confidence, "confidence_each", c.confidence);
	json_object_set_new(out, "fail_over", o->fail_over >= 0 ? json_real(o->fail_over) : json_null());
	json_object_set_new(out, "points", c.points);
	json_object_set_new(out, "doubts", c.doubts);
	return out;
}

/* ---- for people ------------------------------------------------------------------------------- */

static void label(const json_t *p, char *buf, size_t n)
{
	char a[300], b[300];

	bench_at_text(json_object_get(p, "a"), a, sizeof a);
	bench_at_text(json_object_get(p, "b"), b, sizeof b);
	snprintf(buf, n, strcmp(a, b) ? "%s | %s" : "%s", a, b);
}

static void show_point(FILE *f, const json_t *p, int width)
{
	bool ratio = strcmp(bench_text(p, "kind"), "ratio") == 0;
	char where[700], both[60];

	label(p, where, sizeof where);
	fprintf(f, "%-*s", width, where);
	bench_number_text(f, bench_real(p, "mean_a"), 11);
	bench_number_text(f, bench_real(p, "mean_b"), 11);
	if (json_is_integer(json_object_get(p, "pairs")) && bench_real(p, "pairs") > 0)
		snprintf(both, sizeof both, "%.0f pairs", bench_real(p, "pairs"));
	else
		snprintf(both, sizeof both, "%.0f, %.0f", bench_real(p, "runs_a"), bench_real(p, "runs_b"));
	fprintf(f, "  %-9s ", both);
	if (!isnan(bench_real(p, "value")))
		fprintf(f, ratio ? "%7.4f [%.4f, %.4f]  " : "%+7.4g [%.4g, %.4g]  ", bench_real(p, "value"),
			bench_real(p, "lo"), bench_real(p, "hi"));
	fprintf(f, "%s", bench_text(p, "verdict"));
	if (*bench_text(p, "why"))
		fprintf(f, ": %s", bench_text(p, "why"));
	else if (strcmp(bench_text(p, "verdict"), "no difference shown") != 0 && !isnan(bench_real(p, "worse_percent")))
		fprintf(f, " by %.1f %%", fabs(bench_real(p, "worse_percent")));
	fprintf(f, "%s (%s)\n", json_is_true(json_object_get(p, "fails")) ? "  FAILS" : "", bench_text(p, "method"));
}

static void show_side(FILE *f, const char *name, const json_t *side)
{
	const json_t *word;
	char text[600];
	size_t i;

	fprintf(f, "%s: %s", name, bench_text(side, "file"));
	json_array_foreach(json_object_get(side, "words"), i, word)
		fprintf(f, " %s", json_string_value(word));
	fprintf(f, " (%s)\n", bench_text(side, "started"));
	if (json_object_get(side, "binary") != NULL)
		fprintf(f, "   %s\n", bench_binary_text(json_object_get(side, "binary"), text, sizeof text));
}

static int widest(const json_t *points)
{
	const json_t *p;
	char where[700];
	int width = 8;
	size_t i;

	json_array_foreach(points, i, p) {
		label(p, where, sizeof where);
		width = (int)strlen(where) > width ? (int)strlen(where) : width;
	}
	return width;
}

void bench_compare_show(FILE *f, const json_t *comparison)
{
	const json_t *points = json_object_get(comparison, "points"), *p;
	const char *last = "";
	int width = widest(points);
	size_t i;

	show_side(f, "A", json_object_get(comparison, "a"));
	show_side(f, "B", json_object_get(comparison, "b"));
	json_array_foreach(points, i, p) {
		if (strcmp(last, bench_text(p, "bench")) != 0) {
			last = bench_text(p, "bench");
			fprintf(f, "\n%s: %s%s%s, %s is better; intervals of %.4g %% for all of it together\n", last,
				bench_text(p, "metric"), *bench_text(p, "unit") ? " " : "", bench_text(p, "unit"),
				bench_text(p, "better"), bench_real(comparison, "confidence") * 100);
			fprintf(f, "%-*s %11s %11s  %-9s %s\n", width, "point", "A", "B", "runs", "B / A");
		}
		show_point(f, p, width);
	}
	json_array_foreach(json_object_get(comparison, "doubts"), i, p)
		fprintf(f, "%sdoubt: %s\n", i ? "" : "\n", json_string_value(p));
}
