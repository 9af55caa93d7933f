/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_print.c - shows errors the way a compiler does: place, sentence, the
 * line itself, a caret under the key.
 *
 * Invariant: whatever bytes a source holds, what reaches the terminal is UTF-8 without
 * control characters, and one line is one line.
 */
#include "runtime/compose/compose_priv.h"

#include <string.h>

#define SHOW_MAX 200u

static const struct spec_file *file_named(const struct xk_spec *s, const char *name)
{
	for (unsigned i = 0; s != NULL && name != NULL && i < s->nfiles; i++)
		if (strcmp(s->file[i].name, name) == 0)
			return &s->file[i];
	return NULL;
}

/* Line `no` of a file, without its newline; false past the end. */
static bool line_of(const struct spec_file *f, int no, const char **start, size_t *n)
{
	const char *p = f->text, *end = f->text + f->len, *nl;

	for (int i = 1; i < no; i++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			return false;
		p = nl + 1;
	}
	nl = memchr(p, '\n', (size_t)(end - p));
	*start = p;
	*n = (size_t)((nl ? nl : end) - p);
	if (*n > 0 && p[*n - 1] == '\r')
		--*n;
	return true;
}

static void put_printable(FILE *f, const char *s, size_t n)
{
	for (size_t i = 0; i < n; ) {
		size_t len = spec_utf8(s + i, n - i);

		if (spec_is_printable(s + i, len))
			fwrite(s + i, 1, len, f);
		else
			fputc('?', f);
		i += len != 0 ? len : 1;
	}
}

/* Blanks up to column col; tabs stay tabs, so that the caret stands below. */
static void put_indent(FILE *f, const char *s, size_t n, int col)
{
	for (size_t i = 0; i < n && i + 1 < (size_t)col; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			fputc(s[i] == '\t' ? '\t' : ' ', f);
}

static void show_line(FILE *f, const struct spec_file *file, int line, int col)
{
	const char *s;
	size_t n;

	if (line <= 0 || !line_of(file, line, &s, &n))
		return;
	if (n > SHOW_MAX)
		n = SHOW_MAX;
	fprintf(f, "%5d | ", line);
	put_printable(f, s, n);
	fputc('\n', f);
	if (col <= 0 || (size_t)col > n + 1)
		return;
	fputs("      | ", f);
	put_indent(f, s, n, col);
	fputs("^\n", f);
}

/* Who started has a line and no column: that of the node which was made there. */
static int column_of(const struct xk_spec *s, const struct spec_file *f, int line, const char *text)
{
	for (unsigned i = 0; line > 0 && i < s->nnodes; i++) {
		const struct spec_node *n = &s->node[i];
		int at_line, col;
		size_t len = n->name != NULL ? strlen(n->name) : 0;

		if (&s->file[n->at.file] != f || n->at.line != line || len == 0 || strncmp(text, n->name, len) != 0 || text[len] != ':')
			continue;
		return scan_place(f->text, f->len, line, n->proto->name, NULL, 0, s->scan_left, &at_line, &col) ? col : 0;
	}
	return 0;
}

void xk_spec_print_errors(FILE *f, const struct xk_spec *s, struct xk_errs *e, const char *kind)
{
	unsigned n;

	xk_errs_sort(e);
	n = xk_errs_count(e);
	for (unsigned i = 0; i < n; i++) {
		const char *file, *text;
		const struct spec_file *src;
		int line, col;

		text = xk_errs_text(e, i, &file, &line, &col);
		src = file_named(s, file);
		if (line > 0)
			fprintf(f, "%s:%d: ", file ? file : "command line", line);
		else
			fprintf(f, "%s: ", file ? file : "command line");
		if (kind != NULL)
			fprintf(f, "%s: ", kind);
		put_printable(f, text, strlen(text));
		fputc('\n', f);
		if (src != NULL)
			show_line(f, src, line, col != 0 ? col : column_of(s, src, line, text));
	}
	if (n > 0 && kind == NULL && xk_spec_nearest(s) != NULL)
		fprintf(f, "nearest that can run: %s\n", xk_spec_nearest(s));
	if (xk_errs_is_cut(e))
		fprintf(f, "more than %u %ss: the rest is not shown\n", COMPOSE_ERRORS_MAX, kind ? kind : "error");
	else if (n > 1)
		fprintf(f, "%u %ss\n", n, kind ? kind : "error");
}
