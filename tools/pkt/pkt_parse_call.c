/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_parse_call.c - calls of a program: name, arguments, the result it must have.
 *
 *   call = name "(" [ expr { "," expr } ] ")" "=" ( "..." | number | word ) [ errno ] [ "(" text ")" ]
 *   expr = atom { "|" atom };  atom = "..." | number | string | word [ "(" list ")" ]
 *        | "[" list "]" | "{" list "}" ;  a word followed by "=" is a field
 *
 * Invariant: depth of nesting is bounded.
 */
#include <ctype.h>
#include <string.h>

#include "tools/pkt/pkt_priv.h"

#define DEPTH 16
#define LIST_MAX 64

static bool parse_expr(struct pkt_lex *x, struct pkt_expr **out, unsigned depth);

static struct pkt_expr *expr_new(struct pkt_lex *x, enum pkt_xkind kind)
{
	struct pkt_expr *e = pkt_get(&x->s->arena, sizeof *e);

	e->kind = kind;
	return e;
}

static bool parse_list(struct pkt_lex *x, struct pkt_expr *e, const char *close, unsigned depth)
{
	struct pkt_expr *kid[LIST_MAX];

	if (!pkt_take(x, close)) {
		do {
			if (e->n == LIST_MAX)
				return pkt_error(x, "too many values");
			if (!parse_expr(x, &kid[e->n++], depth + 1))
				return false;
		} while (pkt_take(x, ","));
		if (!pkt_need(x, close))
			return false;
	}
	e->kid = pkt_get(&x->s->arena, (e->n + 1) * sizeof(struct pkt_expr *));
	memcpy(e->kid, kid, e->n * sizeof kid[0]);
	return true;
}

static bool parse_string(struct pkt_lex *x, struct pkt_expr *e)
{
	const char *q = memchr(x->at, '"', (size_t)(x->end - x->at));

	if (q == NULL)
		return pkt_error(x, "a string without end");
	e->s = pkt_text(&x->s->arena, x->at, (size_t)(q - x->at));
	x->at = q + 1;
	return true;
}

static bool parse_name(struct pkt_lex *x, struct pkt_expr **out, unsigned depth)
{
	struct pkt_expr *e, *field;
	char w[64];

	if (!pkt_word(x, w, sizeof w))
		return pkt_error(x, "a value expected here");
	e = expr_new(x, PKT_X_WORD);
	e->s = pkt_text(&x->s->arena, w, strlen(w));
	*out = e;
	if (pkt_take(x, "(")) {
		e->kind = PKT_X_CALL;
		if (!parse_list(x, e, ")", depth))
			return false;
	}
	if (!pkt_looks(x, "=") || depth == 0)
		return true;
	x->at++;
	field = expr_new(x, PKT_X_FIELD);
	field->s = e->s;
	field->n = 1;
	field->kid = pkt_get(&x->s->arena, sizeof(struct pkt_expr *));
	*out = field;
	return parse_expr(x, &field->kid[0], depth + 1);
}

static bool parse_atom(struct pkt_lex *x, struct pkt_expr **out, unsigned depth)
{
	pkt_skip(x);
	if (pkt_take(x, "..."))
		return *out = expr_new(x, PKT_X_ANY), true;
	if (pkt_take(x, "["))
		return *out = expr_new(x, PKT_X_LIST), parse_list(x, *out, "]", depth);
	if (pkt_take(x, "{"))
		return *out = expr_new(x, PKT_X_STRUCT), parse_list(x, *out, "}", depth);
	if (pkt_take(x, "\""))
		return *out = expr_new(x, PKT_X_TEXT), parse_string(x, *out);
	if (x->at < x->end && (isdigit((unsigned char)*x->at) || *x->at == '-'))
		return *out = expr_new(x, PKT_X_INT), pkt_number(x, &(*out)->v);
	return parse_name(x, out, depth);
}

static bool parse_expr(struct pkt_lex *x, struct pkt_expr **out, unsigned depth)
{
	int64_t v, more;

	if (depth > DEPTH)
		return pkt_error(x, "nested too deeply");
	if (!parse_atom(x, out, depth))
		return false;
	while (pkt_take(x, "|")) {
		struct pkt_expr *right, *sum = expr_new(x, PKT_X_INT);

		if (!parse_atom(x, &right, depth))
			return false;
		if (!pkt_expr_value(*out, &v) || !pkt_expr_value(right, &more))
			return pkt_error(x, "only numbers can be joined with |");
		sum->v = v | more;
		*out = sum;
	}
	return true;
}

/* "(Operation now in progress)": for the reader only. */
static bool parse_remark(struct pkt_lex *x)
{
	const char *q;

	if (!pkt_take(x, "("))
		return true;
	q = memchr(x->at, ')', (size_t)(x->end - x->at));
	if (q == NULL)
		return pkt_error(x, "')' is missing");
	x->at = q + 1;
	return true;
}

static bool parse_result(struct pkt_lex *x, struct pkt_call *c)
{
	char w[64];
	int64_t v;

	if (pkt_take(x, "...")) {
		c->any_result = true;
		return true;
	}
	pkt_skip(x);
	if (x->at < x->end && isalpha((unsigned char)*x->at)) {
		if (!pkt_word(x, w, sizeof w) || !pkt_word_value(w, &c->result))
			return pkt_error(x, "this result is not known");
	} else if (!pkt_number(x, &c->result)) {
		return false;
	}
	pkt_skip(x);
	if (x->at + 1 < x->end && x->at[0] == 'E' && isupper((unsigned char)x->at[1])) {
		if (!pkt_word(x, w, sizeof w) || !pkt_word_value(w, &v))
			return pkt_error(x, "this error is not known");
		c->err = pkt_text(&x->s->arena, w, strlen(w));
	}
	return parse_remark(x);
}

bool pkt_parse_call(struct pkt_lex *x, struct pkt_event *e)
{
	struct pkt_call *c = pkt_get(&x->s->arena, sizeof *c);
	struct pkt_expr *args;
	char w[64];

	e->call = c;
	if (!pkt_word(x, w, sizeof w))
		return pkt_error(x, "a call, <, >, ` or %%{ expected here");
	c->name = pkt_text(&x->s->arena, w, strlen(w));
	args = expr_new(x, PKT_X_LIST);
	if (!pkt_need(x, "(") || !parse_list(x, args, ")", 0) || !pkt_need(x, "="))
		return false;
	c->nargs = args->n;
	c->arg = args->kid;
	return parse_result(x, c);
}
