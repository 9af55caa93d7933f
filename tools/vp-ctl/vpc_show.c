/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_show.c - answers for people: rows as a table, objects as a list.
 *
 * Columns are the keys of the first row, in their order; numbers stand right.
 */
#include "tools/vp-ctl/vpc.h"

#include <stdlib.h>
#include <string.h>

/* One value on one line. */
static void value_text(const json_t *v, char *buf, size_t n)
{
	size_t used = 0, i;
	const json_t *x;
	char *text;

	buf[0] = '\0';
	if (v == NULL || json_is_null(v))
		snprintf(buf, n, "-");
	else if (json_is_string(v))
		snprintf(buf, n, "%s", json_string_value(v));
	else if (json_is_integer(v))
		snprintf(buf, n, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, n, "%g", json_real_value(v));
	else if (json_is_boolean(v))
		snprintf(buf, n, "%s", json_is_true(v) ? "yes" : "no");
	else if (json_is_array(v)) {
		json_array_foreach(v, i, x) {
			if (used + 2 >= n)
				break;
			if (i != 0)
				buf[used++] = ',';
			value_text(x, buf + used, n - used);
			used += strlen(buf + used);
		}
		if (used == 0)
			snprintf(buf, n, "-");
	} else {
		text = json_dumps(v, JSON_COMPACT);
		snprintf(buf, n, "%s", text != NULL ? text : "?");
		free(text);
	}
}

#define CELL 512

static size_t column_width(const json_t *rows, const char *key)
{
	size_t width = strlen(key), i;
	char buf[CELL];
	const json_t *row;

	json_array_foreach(rows, i, row) {
		value_text(json_object_get(row, key), buf, sizeof buf);
		width = strlen(buf) > width ? strlen(buf) : width;
	}
	return width;
}

static void cell(FILE *f, const char *text, size_t width, bool right, bool last)
{
	if (last && !right)
		fprintf(f, "%s", text);
	else
		fprintf(f, right ? "%*s" : "%-*s", (int)width, text);
	fputs(last ? "\n" : "  ", f);
}

static void table(FILE *f, const json_t *rows)
{
	json_t *first = json_array_get(rows, 0);
	size_t n = json_object_size(first), *width = calloc(n + 1, sizeof *width), c = 0, i;
	const char *key;
	const json_t *row;
	json_t *v;
	char buf[CELL];

	if (width == NULL)
		return;
	json_object_foreach(first, key, v) {
		width[c] = column_width(rows, key);
		cell(f, key, width[c], json_is_number(v), c + 1 == n);
		c++;
	}
	json_array_foreach(rows, i, row) {
		c = 0;
		json_object_foreach(first, key, v) {
			value_text(json_object_get(row, key), buf, sizeof buf);
			cell(f, buf, width[c], json_is_number(v), c + 1 == n);
			c++;
		}
	}
	free(width);
}

static void list(FILE *f, const json_t *o)
{
	const char *key;
	json_t *v;
	char buf[CELL];

	json_object_foreach((json_t *)(uintptr_t)o, key, v) {
		value_text(v, buf, sizeof buf);
		fprintf(f, "%-14s %s\n", key, buf);
	}
}

void vpc_show(FILE *f, const json_t *result)
{
	const json_t *rows = json_object_get(result, "rows");
	const char *cursor = json_string_value(json_object_get(result, "cursor"));

	if (!json_is_array(rows)) {
		list(f, result);
		return;
	}
	if (json_array_size(rows) == 0)
		fprintf(f, "nothing\n");
	else
		table(f, rows);
	if (cursor != NULL)
		fprintf(f, "there are more: cursor=%s\n", cursor);
}

/* ---- events ------------------------------------------------------------------------------- */

static void header(FILE *f, const json_t *h)
{
	const char *key, *name = json_string_value(json_object_get(h, "protocol"));
	json_t *v;
	char buf[CELL];

	fprintf(f, " | %s", name != NULL ? name : "?");
	json_object_foreach((json_t *)(uintptr_t)h, key, v) {
		if (strcmp(key, "protocol") == 0)
			continue;
		value_text(v, buf, sizeof buf);
		fprintf(f, " %s=%s", key, buf);
	}
}

bool vpc_is_step(const json_t *e)
{
	return json_is_array(json_object_get(e, "headers")) && json_is_string(json_object_get(e, "way")) &&
	       json_is_string(json_object_get(e, "node"));
}

void vpc_step(FILE *f, const json_t *e)
{
	const json_t *h;
	size_t i;

	fprintf(f, "%s %s %lld bytes", json_string_value(json_object_get(e, "node")), json_string_value(json_object_get(e, "way")),
		(long long)json_integer_value(json_object_get(e, "bytes")));
	json_array_foreach(json_object_get(e, "headers"), i, h)
		header(f, h);
	fputc('\n', f);
}

/* A step of a traced message; other events as they are. */
void vpc_event(FILE *f, const json_t *e)
{
	if (!vpc_is_step(e)) {
		json_dumpf(e, f, JSON_COMPACT);
		fputc('\n', f);
		return;
	}
	fprintf(f, "%lld +%lldns vp%lld ", (long long)json_integer_value(json_object_get(e, "message")),
		(long long)json_integer_value(json_object_get(e, "since_ns")),
		(long long)json_integer_value(json_object_get(e, "vp")));
	vpc_step(f, e);
}
