/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_lex.c - memory of a script, and its characters: space, comments, words,
 * numbers.
 *
 * The language has no tokens of its own: "1...2" is two times and "P." a set of
 * flags, depending on where it stands.  So the parser asks for what it expects here
 * and gets it or an error with the line.
 * Invariant: at never passes end; after an error nothing more is reported.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/pkt/pkt_priv.h"

/* ---- memory ---------------------------------------------------------------------- */

struct pkt_block { struct pkt_block *next; max_align_t bytes[]; };

void *pkt_get(struct pkt_arena *a, size_t n)
{
	struct pkt_block *b = calloc(1, sizeof *b + n);

	/* A script is small: whoever reads one has nothing to go on with, and nothing to take back. */
	if (b == NULL) {
		fputs("out of memory for a wire script\n", stderr);
		fflush(stdout);
		_exit(1);
	}
	b->next = a->first;
	a->first = b;
	return b->bytes;
}

char *pkt_text(struct pkt_arena *a, const char *s, size_t n)
{
	char *t = pkt_get(a, n + 1);

	memcpy(t, s, n);
	return t;
}

void pkt_arena_free(struct pkt_arena *a)
{
	while (a->first != NULL) {
		struct pkt_block *b = a->first;

		a->first = b->next;
		free(b);
	}
}

void pkt_free(struct pkt_script *s)
{
	struct pkt_arena a;

	if (s == NULL)
		return;
	a = s->arena;                    /* the script lies in it itself */
	pkt_arena_free(&a);
}

/* ---- errors ------------------------------------------------------------------------ */

static int line_length(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && *q != '\n' && *q != '\r')
		q++;
	return (int)(q - p);
}

bool pkt_error(struct pkt_lex *x, const char *fmt, ...)
{
	const char *bol = x->at;
	va_list ap;

	if (x->failed)
		return false;
	x->failed = true;
	while (bol > x->start && bol[-1] != '\n')
		bol--;
	fprintf(x->out, "%s:%d: ", x->s->name, x->line);
	va_start(ap, fmt);
	vfprintf(x->out, fmt, ap);
	va_end(ap);
	fprintf(x->out, "\n  %.*s\n  ", line_length(bol, x->end), bol);
	for (const char *p = bol; p < x->at; p++)
		fputc(*p == '\t' ? '\t' : ' ', x->out);
	fprintf(x->out, "^\n");
	return false;
}

/* ---- space, words ------------------------------------------------------------------- */

/* Past a comment that begins here; false: there is none. */
static bool comment(struct pkt_lex *x)
{
	if (x->end - x->at >= 2 && x->at[0] == '/' && x->at[1] == '/') {
		while (x->at < x->end && *x->at != '\n')
			x->at++;
		return true;
	}
	if (x->end - x->at >= 2 && x->at[0] == '/' && x->at[1] == '*') {
		const char *e = memmem(x->at + 2, (size_t)(x->end - x->at - 2), "*/", 2);

		if (e == NULL)
			return pkt_error(x, "a comment without end");
		for (; x->at < e + 2; x->at++)
			x->line += *x->at == '\n';
		return true;
	}
	return false;
}

void pkt_skip(struct pkt_lex *x)
{
	while (x->at < x->end) {
		if (isspace((unsigned char)*x->at)) {
			x->line += *x->at == '\n';
			x->at++;
		} else if (!comment(x)) {
			return;
		}
	}
}

bool pkt_looks(struct pkt_lex *x, const char *word)
{
	size_t n = strlen(word);

	pkt_skip(x);
	return (size_t)(x->end - x->at) >= n && memcmp(x->at, word, n) == 0;
}

bool pkt_take(struct pkt_lex *x, const char *word)
{
	if (!pkt_looks(x, word))
		return false;
	x->at += strlen(word);
	return true;
}

bool pkt_need(struct pkt_lex *x, const char *word)
{
	return pkt_take(x, word) || pkt_error(x, "'%s' expected here", word);
}

bool pkt_word(struct pkt_lex *x, char *buf, size_t n)
{
	const char *p;
	size_t len;

	pkt_skip(x);
	p = x->at;
	if (p < x->end && (isalpha((unsigned char)*p) || *p == '_'))
		while (p < x->end && (isalnum((unsigned char)*p) || *p == '_'))
			p++;
	len = (size_t)(p - x->at);
	if (len == 0 || len >= n)
		return false;
	memcpy(buf, x->at, len);
	buf[len] = '\0';
	x->at = p;
	return true;
}

/* ---- numbers ---------------------------------------------------------------------------- */

static int digit_of(char c, int base)
{
	int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;

	return d < base ? d : -1;
}

bool pkt_number(struct pkt_lex *x, int64_t *v)
{
	bool minus = pkt_take(x, "-");
	int base = pkt_take(x, "0x") ? 16 : 10;
	uint64_t n = 0;
	const char *p = x->at;

	for (; p < x->end && digit_of(*p, base) >= 0; p++) {
		if (n > (UINT64_MAX >> 8))
			return pkt_error(x, "this number is too large");
		n = n * (unsigned)base + (unsigned)digit_of(*p, base);
	}
	if (p == x->at)
		return pkt_error(x, "a number expected here");
	x->at = p;
	*v = minus ? -(int64_t)n : (int64_t)n;
	return true;
}

bool pkt_u32(struct pkt_lex *x, uint32_t *v)
{
	int64_t n;

	if (!pkt_number(x, &n))
		return false;
	if (n < 0 || n > UINT32_MAX)
		return pkt_error(x, "this number does not fit 32 bits");
	*v = (uint32_t)n;
	return true;
}

bool pkt_decimal_ns(struct pkt_lex *x, int64_t *ns)
{
	int64_t whole = 0, part = 0, unit = 1000000000;
	const char *p;
	bool any = false;

	pkt_skip(x);
	for (p = x->at; p < x->end && digit_of(*p, 10) >= 0; p++, any = true) {
		whole = whole * 10 + digit_of(*p, 10);
		if (whole > PKT_SECONDS_MAX)
			return pkt_error(x, "a time of more than %lld seconds", (long long)PKT_SECONDS_MAX);
	}
	/* "0...0.2": those dots are not a fraction's. */
	if (p + 1 < x->end && *p == '.' && digit_of(p[1], 10) >= 0) {
		any = true;
		for (p++; p < x->end && digit_of(*p, 10) >= 0; p++) {
			if ((unit /= 10) == 0)
				return pkt_error(x, "a time finer than nanoseconds");
			part += digit_of(*p, 10) * unit;
		}
	}
	if (!any)
		return pkt_error(x, "a time in seconds expected here");
	x->at = p;
	*ns = whole * 1000000000 + part;
	return true;
}
