/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_page.c - a page, as HTML that needs nothing else, or as Markdown.
 *
 * HTML is light or dark as its reader's screen is, has no script and fetches nothing;
 * wide tables scroll by themselves.  What comes from a result is a text and nothing
 * more: every character with a meaning is written so that it has none.
 * Invariant: no call writes a text unescaped but page_figure its SVG.
 */
#include "tools/vp-bench/bench_report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LONG 44u      /* characters of a cell */

static const char style[] =
	":root{color-scheme:light dark;--bg:#fff;--fg:#1c2024;--soft:#5c6670;--line:#d9dee3;--box:#f5f7f9;"
	"--good:#13703f;--bad:#b42318;--odd:#8a5a00;--open:#2457a6}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e4e7ea;--soft:#9aa4ae;--line:#343b42;--box:#1c2126;"
	"--good:#58c98b;--bad:#ff8a7a;--odd:#e0b04a;--open:#8ab4f8}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:1.5rem 1.25rem 4rem;max-width:64rem;background:var(--bg);color:var(--fg);"
	"font:16px/1.5 system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
	"h1{font-size:1.6rem;line-height:1.2;margin:0 0 .5rem}\n"
	"h2{font-size:1.3rem;margin:2.5rem 0 .4rem;padding-top:1.2rem;border-top:1px solid var(--line)}\n"
	"h3{font-size:1rem;margin:1.6rem 0 .4rem}\n"
	"p{margin:.3rem 0}\n"
	".wide{overflow-x:auto;margin:.4rem 0}\n"
	"table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}\n"
	"th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}\n"
	"th{color:var(--soft);font-weight:600;white-space:nowrap;border-bottom-width:2px}\n"
	"td{white-space:nowrap}td.n{text-align:right}td.t{white-space:normal;min-width:20rem;max-width:36rem}\n"
	"figure{margin:.8rem 0;overflow-x:auto}\n"
	"figure svg{display:block;width:100%;min-width:34rem;max-width:48rem;height:auto;color:var(--fg)}\n"
	"figcaption{color:var(--soft);font-size:.8rem}\n"
	"pre{background:var(--box);border:1px solid var(--line);border-radius:.3rem;padding:.7rem .9rem;overflow-x:auto;"
	"font-size:.8rem;line-height:1.45}\n"
	"ul{margin:.3rem 0;padding-left:1.2rem}\n"
	"a{color:inherit}\n"
	".pass{color:var(--good);font-weight:600}.fail{color:var(--bad);font-weight:600}.odd{color:var(--odd)}"
	".undecided{color:var(--open);font-weight:600}\n"
	"@media print{body{max-width:none}figure,table{break-inside:avoid}}\n";

/* ---- escaping ----------------------------------------------------------------------- */

static void html(FILE *f, const char *s)
{
	for (; *s != '\0'; s++)
		switch (*s) {
		case '&': fputs("&amp;", f); break;
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '"': fputs("&quot;", f); break;
		case '\'': fputs("&#39;", f); break;
		default:
			if ((unsigned char)*s >= ' ' || *s == '\n')
				fputc(*s, f);
			else
				fputc(' ', f);
		}
}

static void markdown(FILE *f, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '<' || *s == '&') {
			fputs(*s == '<' ? "&lt;" : "&amp;", f);
			continue;
		}
		if (strchr("\\`*_[]|#~", *s) != NULL)
			fputc('\\', f);
		fputc((unsigned char)*s < ' ' ? ' ' : *s, f);
	}
}

static void text(struct bench_page *p, const char *s)
{
	if (p->markdown)
		markdown(p->f, s);
	else
		html(p->f, s);
}

static char *formatted(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	return s;
}

/* ---- the page -------------------------------------------------------------------------- */

void page_head(struct bench_page *p, const char *title)
{
	if (p->markdown) {
		fputs("<!-- SPDX-License-Identifier: BSD-2-Clause -->\n", p->f);
		return;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>", p->f);
	html(p->f, title);
	fprintf(p->f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

void page_foot(struct bench_page *p)
{
	if (!p->markdown)
		fputs("</body>\n</html>\n", p->f);
}

void page_title(struct bench_page *p, unsigned level, const char *s)
{
	if (p->markdown)
		fprintf(p->f, "%s%.*s ", level > 1 ? "\n" : "", (int)level, "####");
	else if (level == 2)
		fprintf(p->f, "<h2 id=\"s%u\">", p->sections++);
	else
		fprintf(p->f, "<h%u>", level);
	text(p, s);
	if (p->markdown)
		fputs("\n\n", p->f);
	else
		fprintf(p->f, "</h%u>\n", level);
}

void page_text(struct bench_page *p, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = formatted(fmt, ap);
	va_end(ap);
	fputs(p->markdown ? "" : "<p>", p->f);
	text(p, s);
	fputs(p->markdown ? "\n\n" : "</p>\n", p->f);
	free(s);
}

void page_commands(struct bench_page *p, const char *s)
{
	if (p->markdown) {
		for (fputs("    ", p->f); *s != '\0'; s++)
			fputs(*s == '\n' ? "\n    " : (char[]){ (unsigned char)*s < ' ' ? ' ' : *s, '\0' }, p->f);
		fputs("\n\n", p->f);
		return;
	}
	fputs("<pre>", p->f);
	html(p->f, s);
	fputs("</pre>\n", p->f);
}

void page_list(struct bench_page *p, const json_t *texts)
{
	const json_t *t;
	size_t i;

	fputs(p->markdown ? "" : "<ul>\n", p->f);
	json_array_foreach(texts, i, t) {
		fputs(p->markdown ? "- " : "<li>", p->f);
		text(p, json_string_value(t) ? json_string_value(t) : "?");
		fputs(p->markdown ? "\n" : "</li>\n", p->f);
	}
	fputs(p->markdown ? "\n" : "</ul>\n", p->f);
}

/* ---- tables ------------------------------------------------------------------------------ */

void page_table(struct bench_page *p, size_t ncols, const char *const *heads)
{
	fputs(p->markdown ? "" : "<div class=\"wide\">\n<table>\n<tr>", p->f);
	for (size_t i = 0; i < ncols; i++) {
		fputs(p->markdown ? "| " : "<th>", p->f);
		text(p, heads[i]);
		fputs(p->markdown ? " " : "</th>", p->f);
	}
	fputs(p->markdown ? "|\n" : "</tr>\n", p->f);
	for (size_t i = 0; p->markdown && i < ncols; i++)
		fputs(i + 1 < ncols ? "|---" : "|---|\n", p->f);
}

void page_row(struct bench_page *p)
{
	fputs(p->markdown ? "" : "<tr>", p->f);
}

/* A number, a range of two, a share: it stands to the right. */
static bool numeric(const char *s)
{
	const char *first = *s == '-' || *s == '+' ? s + 1 : s;

	return (isdigit((unsigned char)*first) || strcmp(s, "-") == 0) && s[strspn(s, "0123456789.,+-[]% e to")] == '\0';
}

/* Short texts stay on a line, long ones get room. */
static const char *class_of(const char *s)
{
	return strlen(s) > LONG ? " class=\"t\"" : numeric(s) ? " class=\"n\"" : "";
}

void page_cell(struct bench_page *p, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = formatted(fmt, ap);
	va_end(ap);
	if (p->markdown)
		fputs("| ", p->f);
	else
		fprintf(p->f, "<td%s>", class_of(s));
	text(p, s);
	fputs(p->markdown ? " " : "</td>", p->f);
	free(s);
}

void page_link(struct bench_page *p, unsigned section, const char *s)
{
	if (p->markdown) {
		page_cell(p, "%s", s);
		return;
	}
	fprintf(p->f, "<td><a href=\"#s%u\">", section);
	html(p->f, s);
	fputs("</a></td>", p->f);
}

void page_verdict(struct bench_page *p, const char *verdict)
{
	static const char *const kinds[] = { "pass", "fail", "undecided" };
	const char *kind = "odd";

	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++)
		kind = strcmp(verdict, kinds[i]) == 0 ? kinds[i] : kind;

	if (p->markdown) {
		fputs(strcmp(kind, "odd") == 0 ? "| " : "| **", p->f);
		markdown(p->f, verdict);
		fputs(strcmp(kind, "odd") == 0 ? " " : "** ", p->f);
		return;
	}
	fprintf(p->f, "<td><span class=\"%s\">", kind);
	html(p->f, verdict);
	fputs("</span></td>", p->f);
}

void page_row_end(struct bench_page *p)
{
	fputs(p->markdown ? "|\n" : "</tr>\n", p->f);
}

void page_table_end(struct bench_page *p)
{
	fputs(p->markdown ? "\n" : "</table>\n</div>\n", p->f);
}

void page_figure(struct bench_page *p, const char *svg, const char *file, const char *caption)
{
	if (p->markdown) {
		fputs("![", p->f);
		markdown(p->f, caption);
		fprintf(p->f, "](%s)\n\n", file);
		return;
	}
	fprintf(p->f, "<figure role=\"img\" aria-label=\"");
	html(p->f, caption);
	fprintf(p->f, "\">\n%s\n</figure>\n", svg);
}
