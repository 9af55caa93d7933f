/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_show.c - a document as a table, as CSV, as lines of JSON (show.lua) or as it is.
 */
#include "tools/vp-bench/bench.h"

#include <math.h>
#include <string.h>

#include "tools/vp-bench/bench_lua.h"

void bench_at_text(const json_t *at, char *buf, size_t n)
{
	const char *name;
	json_t *v;
	size_t used = 0;

	buf[0] = '\0';
	json_object_foreach((json_t *)at, name, v)
		if (used < n)
			used += (size_t)snprintf(buf + used, n - used, "%s%s=%s", used ? " " : "", name,
						 json_string_value(v) ? json_string_value(v) : "?");
}

/* Four significant digits, no exponent where people read. */
const char *bench_digits(double v, char *buf, size_t n)
{
	if (isnan(v))
		snprintf(buf, n, "-");
	else if (fabs(v) >= 1000 || v == 0)
		snprintf(buf, n, "%.0f", v);
	else
		snprintf(buf, n, "%.4g", v);
	return buf;
}

void bench_number_text(FILE *f, double v, int width)
{
	char text[40];

	fprintf(f, " %*s", width, bench_digits(v, text, sizeof text));
}

struct bench_length bench_length_of(const json_t *settings)
{
	double messages = bench_real(settings, "messages");
	struct bench_length l;

	if (isnan(messages)) {
		snprintf(l.measured, sizeof l.measured, "%.3g s", bench_real(settings, "duration_ns") / 1e9);
		snprintf(l.after, sizeof l.after, "%.3g s", bench_real(settings, "warmup_ns") / 1e9);
	} else {
		snprintf(l.measured, sizeof l.measured, "%.0f messages", messages);
		snprintf(l.after, sizeof l.after, "%.0f", bench_real(settings, "warmup_messages"));
	}
	return l;
}

/* ---- the whole --------------------------------------------------------------------------- */

int bench_show(FILE *f, const json_t *doc, enum bench_format format)
{
	static const char *const by[] = { [BENCH_TABLE] = "table", [BENCH_CSV] = "csv", [BENCH_LINES] = "lines" };
	json_t *args[] = { (json_t *)doc };

	if (format != BENCH_JSON)
		return bench_lua_print(f, "show", by[format], args, 1);
	if (json_dumpf(doc, f, JSON_INDENT(1)) != 0)
		return BENCH_IO;
	fputc('\n', f);
	return fflush(f) != 0 || ferror(f) ? BENCH_IO : BENCH_OK;
}
