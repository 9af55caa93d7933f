/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_scan.c - finds the line and column of a key in the source.
 *
 * Lua says on which line a call starts, not where in its table a key stands.
 * So the source is read once more: a small lexer (names, strings, comments,
 * brackets) finds the call on its line and follows the path of keys into its
 * table.  It only ever serves a message: when the source does not show the
 * key (a table built elsewhere), the call's line must do.
 * Invariant: the lexer moves forward with every token and never past the end.
 */
#include "runtime/compose/compose_priv.h"

#include <ctype.h>
#include <string.h>

enum tok_kind { TOK_END, TOK_NAME, TOK_STRING, TOK_NUMBER, TOK_PUNCT };

struct tok {
	enum tok_kind kind;
	const char   *s;          /* strings: what is between the quotes */
	size_t        n;
	const char   *start;
	int           line, col;
};

struct lex {
	const char *p, *end, *line_start;
	int         line;
	uint64_t   *left;         /* tokens that may be read; shared by copies */
};

/* ---- tokens ------------------------------------------------------------------ */

static void newline(struct lex *x)
{
	x->line++;
	x->line_start = x->p;
}

/* At "[": the level of a long bracket, or -1. */
static int long_level(const struct lex *x)
{
	const char *q = x->p + 1;
	int level = 0;

	for (; q < x->end && *q == '='; q++)
		level++;
	return q < x->end && *q == '[' ? level : -1;
}

/* Past a long bracket; the contents through *s and *n. */
static void long_bracket(struct lex *x, int level, const char **s, size_t *n)
{
	x->p += level + 2;
	*s = x->p;
	for (; x->p < x->end; ) {
		char c = *x->p++;
		const char *q = x->p;

		if (c == '\n')
			newline(x);
		if (c != ']')
			continue;
		for (int i = 0; i < level && q < x->end && *q == '='; i++)
			q++;
		if (q - x->p == level && q < x->end && *q == ']') {
			*n = (size_t)(x->p - 1 - *s);
			x->p = q + 1;
			return;
		}
	}
	*n = (size_t)(x->p - *s);
}

static void skip_comment(struct lex *x)
{
	const char *s;
	size_t n;
	int level;

	x->p += 2;
	if (x->p < x->end && *x->p == '[' && (level = long_level(x)) >= 0) {
		long_bracket(x, level, &s, &n);
		return;
	}
	while (x->p < x->end && *x->p != '\n')
		x->p++;
}

static void skip_blank(struct lex *x)
{
	while (x->p < x->end) {
		if (*x->p == '\n') {
			x->p++;
			newline(x);
		} else if (isspace((unsigned char)*x->p)) {
			x->p++;
		} else if (*x->p == '-' && x->p + 1 < x->end && x->p[1] == '-') {
			skip_comment(x);
		} else {
			return;
		}
	}
}

static void short_string(struct lex *x, struct tok *t)
{
	char quote = *x->p++;

	t->s = x->p;
	while (x->p < x->end && *x->p != quote && *x->p != '\n')
		x->p += *x->p == '\\' && x->p + 1 < x->end && x->p[1] != '\n' ? 2 : 1;
	t->n = (size_t)(x->p - t->s);
	if (x->p < x->end && *x->p == quote)
		x->p++;
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct tok next(struct lex *x)
{
	struct tok t = { .kind = TOK_END };
	int level;

	skip_blank(x);
	t.start = t.s = x->p;
	t.line = x->line;
	t.col = (int)(x->p - x->line_start) + 1;
	if (x->p >= x->end || *x->left == 0)
		return t;
	--*x->left;
	if (word_char(*x->p)) {
		t.kind = isdigit((unsigned char)*x->p) ? TOK_NUMBER : TOK_NAME;
		while (x->p < x->end && word_char(*x->p))
			x->p++;
		t.n = (size_t)(x->p - t.s);
	} else if (*x->p == '"' || *x->p == '\'') {
		t.kind = TOK_STRING;
		short_string(x, &t);
	} else if (*x->p == '[' && (level = long_level(x)) >= 0) {
		t.kind = TOK_STRING;
		long_bracket(x, level, &t.s, &t.n);
	} else {
		t.kind = TOK_PUNCT;
		t.n = 1;
		x->p++;
	}
	return t;
}

static struct tok peek(const struct lex *x)
{
	struct lex y = *x;

	return next(&y);
}

static bool is_punct(const struct tok *t, char c)
{
	return t->kind == TOK_PUNCT && *t->s == c;
}

static bool is_text(const struct tok *t, const char *s)
{
	return strlen(s) == t->n && memcmp(s, t->s, t->n) == 0;
}

/* ---- tables ------------------------------------------------------------------- */

/* +1 for what opens a nested piece (bracket, function, do, if), -1 for what ends it. */
static int nesting(const struct tok *t)
{
	static const char *const open[] = { "function", "do", "if", "repeat" };
	static const char *const close[] = { "end", "until" };

	if (t->kind == TOK_PUNCT)
		return strchr("{([", *t->s) ? 1 : strchr("})]", *t->s) ? -1 : 0;
	if (t->kind != TOK_NAME)
		return 0;
	for (unsigned i = 0; i < XK_ARRAY_LEN(open); i++)
		if (is_text(t, open[i]))
			return 1;
	for (unsigned i = 0; i < XK_ARRAY_LEN(close); i++)
		if (is_text(t, close[i]))
			return -1;
	return 0;
}

/* The key that begins at the present entry, past its "="; an unnamed entry
 * leaves x alone and is counted. */
static struct tok entry_key(struct lex *x, unsigned *count)
{
	struct lex y = *x;
	struct tok t = next(&y), k = t, eq;

	if (is_punct(&t, '[')) {
		k = next(&y);
		t = next(&y);
		if (!is_punct(&t, ']'))
			k.kind = TOK_PUNCT;
	}
	eq = next(&y);
	if (k.kind != TOK_PUNCT && is_punct(&eq, '=') && !(y.p < y.end && *y.p == '=')) {
		*x = y;
		k.line = t.line == k.line ? k.line : t.line;
		return k;
	}
	k = peek(x);
	k.kind = TOK_END;
	++*count;
	return k;
}

static void skip_entry(struct lex *x)
{
	int depth = 0;

	for (;;) {
		struct lex before = *x;
		struct tok t = next(x);

		if (t.kind == TOK_END)
			return;
		if (depth == 0 && (is_punct(&t, ',') || is_punct(&t, ';')))
			return;
		depth += nesting(&t);
		if (depth < 0) {
			*x = before;
			return;
		}
	}
}

static bool step_is(const struct scan_step *s, const struct tok *k, unsigned count)
{
	if (s->name == NULL)
		return k->kind == TOK_END && count == s->i;
	return k->kind != TOK_END && is_text(k, s->name);
}

/* x stands behind "{".  Follows the steps; *found is the last key's token. */
static bool find_in_table(struct lex *x, const struct scan_step *step, unsigned nsteps, struct tok *found)
{
	unsigned count = 0;

	for (;;) {
		struct tok t = peek(x), k;
		struct lex value;

		if (t.kind == TOK_END || is_punct(&t, '}'))
			return false;
		k = entry_key(x, &count);
		if (step_is(step, &k, count)) {
			*found = k;
			value = *x;
			t = next(&value);
			if (nsteps == 1 || !is_punct(&t, '{'))
				return true;
			/* Not shown inside: the outer key's place is near enough. */
			(void)find_in_table(&value, step + 1, nsteps - 1, found);
			return true;
		}
		skip_entry(x);
	}
}

/* From behind the callee to behind the "{" of its table, over `(` and a name in quotes. */
static bool enter_table(struct lex *x)
{
	for (int i = 0; i < 4; i++) {
		struct tok t = next(x);

		if (is_punct(&t, '{'))
			return true;
		if (t.kind != TOK_STRING && !is_punct(&t, '(') && !is_punct(&t, ')'))
			return false;
	}
	return false;
}

/* Tries each place on the line where the call may start; callee NULL: any "{". */
static bool find_call(struct lex x, int line, const char *callee, const struct scan_step *step,
		      unsigned nsteps, struct tok *found)
{
	for (;;) {
		struct tok t = next(&x);
		struct lex y = x;

		if (t.kind == TOK_END || t.line > line)
			return false;
		if (t.line < line)
			continue;
		if (callee == NULL ? !is_punct(&t, '{') : t.kind != TOK_NAME || !is_text(&t, callee))
			continue;
		if (nsteps == 0) {
			*found = t;
			return true;
		}
		if ((callee == NULL || enter_table(&y)) && find_in_table(&y, step, nsteps, found))
			return true;
	}
}

bool scan_place(const char *text, size_t len, int line, const char *callee,
		const struct scan_step *step, unsigned nsteps, uint64_t *left, int *at_line, int *at_col)
{
	uint64_t most = 4 * (uint64_t)len + 1000 < *left ? 4 * (uint64_t)len + 1000 : *left, mine = most;
	struct lex x = { .p = text, .end = text + len, .line_start = text, .line = 1, .left = &mine };
	struct tok t;
	bool found;

	found = find_call(x, line, callee, step, nsteps, &t) ||
		(nsteps != 0 && find_call(x, line, NULL, step, nsteps, &t));
	*left -= most - mine;
	if (!found && nsteps != 0 && find_call(x, line, callee, NULL, 0, &t)) {
		*at_line = line;
		*at_col = t.col;
		return false;
	}
	*at_line = found ? t.line : line;
	*at_col = found ? t.col : 0;
	return found;
}
