/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_parse.c - a script's options, and its events with their times.
 *
 *   script  = { "--" name [ "=" value ] } { event }
 *   event   = [ time ] ( "<" segment | ">" segment | call | "`" text "`" | "%{" code "}%" )
 *   time    = "*" | [ "+" ] seconds [ ( "~" [ "+" ] | "..." ) seconds ]
 *
 * A command or code without a time happens at once.
 * Invariant: a script that parses has times in every event and a kind that the
 * runner knows.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pkt/pkt_priv.h"

/* ---- options ------------------------------------------------------------------------ */

static bool parse_option(struct pkt_lex *x)
{
	struct pkt_option *o = pkt_get(&x->s->arena, sizeof *o);
	const char *p = x->at, *eq;

	o->line = x->line;
	while (p < x->end && !isspace((unsigned char)*p))
		p++;
	eq = memchr(x->at, '=', (size_t)(p - x->at));
	o->name = pkt_text(&x->s->arena, x->at, (size_t)((eq ? eq : p) - x->at));
	o->value = eq ? pkt_text(&x->s->arena, eq + 1, (size_t)(p - eq - 1)) : "";
	if (*o->name == '\0')
		return pkt_error(x, "an option has a name");
	x->at = p;
	o->next = x->s->option;
	x->s->option = o;
	return true;
}

const char *pkt_option_of(const struct pkt_script *s, const char *name, const char *otherwise)
{
	for (const struct pkt_option *o = s->option; o != NULL; o = o->next)
		if (strcmp(o->name, name) == 0)
			return o->value;
	return otherwise;
}

/* ---- times --------------------------------------------------------------------------- */

static bool parse_time(struct pkt_lex *x, struct pkt_time *t)
{
	t->kind = PKT_AFTER;
	if (pkt_looks(x, "`") || pkt_looks(x, "%{"))
		return true;
	if (pkt_take(x, "*")) {
		t->kind = PKT_WHENEVER;
		return true;
	}
	t->kind = pkt_take(x, "+") ? PKT_AFTER : PKT_AT;
	if (!pkt_decimal_ns(x, &t->from))
		return false;
	t->to = t->from;
	if (pkt_take(x, "~")) {
		t->range = true;
		pkt_take(x, "+");
	} else if (pkt_take(x, "...")) {
		t->blocks = true;
	}
	if ((t->range || t->blocks) && !pkt_decimal_ns(x, &t->to))
		return false;
	return t->to >= t->from || pkt_error(x, "this time ends before it begins");
}

/* ---- events ---------------------------------------------------------------------------- */

/* Text up to and past `close`. */
static bool parse_until(struct pkt_lex *x, struct pkt_event *e, const char *close)
{
	const char *q = memmem(x->at, (size_t)(x->end - x->at), close, strlen(close));

	if (q == NULL)
		return pkt_error(x, "'%s' is missing", close);
	e->code = pkt_text(&x->s->arena, x->at, (size_t)(q - x->at));
	for (; x->at < q + strlen(close); x->at++)
		x->line += *x->at == '\n';
	return true;
}

static bool parse_what(struct pkt_lex *x, struct pkt_event *e)
{
	if (pkt_take(x, "`")) {
		e->kind = PKT_E_SHELL;
		return parse_until(x, e, "`");
	}
	if (pkt_take(x, "%{")) {
		e->kind = PKT_E_CODE;
		return parse_until(x, e, "}%");
	}
	if (pkt_looks(x, "<") || pkt_looks(x, ">")) {
		e->kind = *x->at++ == '<' ? PKT_E_IN : PKT_E_OUT;
		return pkt_parse_seg(x, e);
	}
	e->kind = PKT_E_CALL;
	return pkt_parse_call(x, e);
}

/* On one line, without the comment behind it. */
static const char *as_written(struct pkt_lex *x, const char *from, bool comments)
{
	char *t = pkt_text(&x->s->arena, from, (size_t)(x->at - from)), *w = t;
	bool space = false;

	for (const char *p = t; *p != '\0'; p++) {
		if (comments && p[0] == '/' && p[1] == '/')
			p += strcspn(p, "\n");
		if (*p == '\0')
			break;
		if (isspace((unsigned char)*p)) {
			space = true;
			continue;
		}
		if (space && w != t)
			*w++ = ' ';
		space = false;
		*w++ = *p;
	}
	*w = '\0';
	return t;
}

static bool parse_event(struct pkt_lex *x)
{
	struct pkt_event *e = pkt_get(&x->s->arena, sizeof *e);
	const char *from = x->at;

	e->line = x->line;
	if (!parse_time(x, &e->t) || !parse_what(x, e))
		return false;
	if (e->t.blocks && e->kind != PKT_E_CALL)
		return pkt_error(x, "only a call can take from one time...to another");
	if ((e->t.range || e->t.kind == PKT_WHENEVER) && e->kind != PKT_E_OUT)
		return pkt_error(x, "only a segment that we send can come at some time of a range");
	e->text = as_written(x, from, e->kind != PKT_E_SHELL && e->kind != PKT_E_CODE);
	if (x->s->last != NULL)
		x->s->last->next = e;
	else
		x->s->first = e;
	x->s->last = e;
	x->s->nevents++;
	return true;
}

struct pkt_script *pkt_parse(const char *name, const char *text, size_t n, FILE *out)
{
	struct pkt_arena a = { NULL };
	struct pkt_script *s = pkt_get(&a, sizeof *s);
	struct pkt_lex x = { .s = s, .at = text, .start = text, .end = text + n, .line = 1, .out = out };

	s->arena = a;
	s->name = pkt_text(&s->arena, name, strlen(name));
	if (memchr(text, '\0', n) != NULL)
		pkt_error(&x, "this is not text");
	for (pkt_skip(&x); !x.failed && pkt_take(&x, "--"); pkt_skip(&x))
		parse_option(&x);
	while (!x.failed && x.at < x.end) {
		parse_event(&x);
		pkt_skip(&x);
	}
	if (!x.failed)
		return s;
	pkt_free(s);
	return NULL;
}

struct pkt_script *pkt_parse_file(const char *path, FILE *out)
{
	FILE *f = fopen(path, "rb");
	struct pkt_script *s = NULL;
	char *text = NULL;
	size_t n = 0, room = 0, got;

	if (f == NULL) {
		fprintf(out, "%s: %s\n", path, strerror(errno));
		return NULL;
	}
	do {
		char *more = realloc(text, room += 65536);

		xk_assert(more != NULL);
		text = more;
		got = fread(text + n, 1, room - n, f);
		n += got;
	} while (got != 0 && n < (64u << 20));
	if (ferror(f))
		fprintf(out, "%s: %s\n", path, strerror(errno));
	else
		s = pkt_parse(path, text, n, out);
	fclose(f);
	free(text);
	return s;
}

unsigned pkt_events(const struct pkt_script *s)
{
	return s->nevents;
}
