/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_proto.c - is a descriptor sound?  Asked of those that no test of the build has seen.
 *
 * What is said here would else show as memory that is written behind its end, or as an error in
 * somebody's graph file.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"
#include "runtime/compose/xk_plugins.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/vp/xk_vp.h"

#define NAME_MAX_LEN 32u

int proto_no(char *why, size_t n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, n, fmt, ap);
	va_end(ap);
	return XK_E_INVAL;
}

/* ---- names ------------------------------------------------------------------------- */

/* Words of Lua that can be no name. */
static bool is_lua(const char *s)
{
	static const char *const words[] = {
		"and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local",
		"nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
		if (strcmp(s, words[i]) == 0)
			return true;
	return false;
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return n != 0 && n <= NAME_MAX_LEN && s[n] == '\0' && !(s[0] >= '0' && s[0] <= '9') && !is_lua(s);
}

static bool is_word(const char *s)
{
	for (const struct xk_word *w = xk_words; w->name != NULL; w++)
		if (strcmp(w->name, s) == 0)
			return true;
	return xk_arch_find(s) != NULL;
}

int xk_proto_name_fault(const char *name, char *why, size_t n)
{
	if (!is_name(name))
		return proto_no(why, n, "has a name that no graph file can have: small letters, digits and '_', at "
				"most %u", NAME_MAX_LEN);
	if (is_word(name))
		return proto_no(why, n, "has the name of a word of graph files: call it otherwise");
	return XK_OK;
}

/* ---- parameters ------------------------------------------------------------------------ */

/* What can stand in a list or a map. */
static bool is_single(enum xk_ptype t)
{
	size_t align;

	return xk_param_type_size(t, &align) != 0 && t != XK_P_ENUM && t != XK_P_LIST && t != XK_P_MAP;
}

/* What has no memory of its own. */
static bool is_scalar(enum xk_ptype t)
{
	return t != XK_P_TEXT && t != XK_P_LIST && t != XK_P_MAP;
}

/* A limit as a user would write it. */
static bool bad_limit(const struct xk_param *p, const char *text, char *why, size_t n)
{
	union xk_pval v;

	if (text != NULL && p->type == XK_P_TEXT) {
		snprintf(why, n, "is one of a text");
		return true;
	}
	return text != NULL && xk_param_parse_as(p->type, text, false, &v, why, n) != XK_OK;
}

/* One before q that lies in its bytes; NULL: there is none. */
static const struct xk_param *in_the_bytes_of(const struct xk_proto *p, const struct xk_param *q)
{
	size_t align, size = xk_param_type_size(q->type, &align);

	for (const struct xk_param *r = p->params; r != q; r++)
		if (r->offset < q->offset + size && q->offset < r->offset + xk_param_type_size(r->type, &align))
			return r;
	return NULL;
}

static int param_fault(const struct xk_proto *p, const struct xk_param *q, char *why, size_t n)
{
	size_t align, size = xk_param_type_size(q->type, &align);
	const struct xk_param *other;
	char more[128];

	if (q->doc == NULL || q->doc[0] == '\0')
		return proto_no(why, n, "has a parameter '%s' without a line of doc", q->name);
	if (size == 0)
		return proto_no(why, n, "has a parameter '%s' of no type", q->name);
	if (q->offset > p->conf_size || p->conf_size - q->offset < size)
		return proto_no(why, n, "has a parameter '%s' that ends behind its conf_size of %zu bytes", q->name,
				p->conf_size);
	if (q->offset % align != 0)
		return proto_no(why, n, "has a parameter '%s' at offset %zu, which is no place for its type", q->name,
				q->offset);
	if (((q->type == XK_P_LIST || q->type == XK_P_MAP) && !is_single(q->elem)) ||
	    (q->type == XK_P_MAP && !is_single(q->key)))
		return proto_no(why, n, "has a parameter '%s' of what can stand in no list or map", q->name);
	if ((q->flags & (XK_PF_UNSET | XK_PF_LIVE)) && !is_scalar(q->type))
		return proto_no(why, n, "has a parameter '%s' that may be unset, or change, and is no scalar", q->name);
	if ((q->type == XK_P_ENUM) != (q->choices != NULL))
		return proto_no(why, n, "has a parameter '%s' with choices and no enum, or without", q->name);
	if (bad_limit(q, q->min, more, sizeof more) || bad_limit(q, q->max, more, sizeof more))
		return proto_no(why, n, "has a parameter '%s' whose limit %s", q->name, more);
	other = in_the_bytes_of(p, q);
	if (other != NULL)
		return proto_no(why, n, "has parameters '%s' and '%s' in the same bytes", other->name, q->name);
	if (xk_param_find_in(p->params, q->group, q->name) != q)
		return proto_no(why, n, "has two parameters '%s'", q->name);
	return XK_OK;
}

static int defaults_fault(const struct xk_proto *p, char *why, size_t n)
{
	void *conf = xk_alloc(p->conf_size);
	char more[160];
	int err;

	if (conf == NULL)
		return proto_no(why, n, "cannot be looked at: out of memory");
	memset(conf, 0, p->conf_size);
	err = xk_param_defaults(p->params, conf, more, sizeof more);
	xk_param_release(p->params, conf);
	xk_free(conf);
	return err == XK_OK ? err : proto_no(why, n, "has a default that is none: %s", more);
}

static int params_fault(const struct xk_proto *p, char *why, size_t n)
{
	int err = XK_OK;

	if (p->params == NULL)
		return XK_OK;
	for (const struct xk_param *q = p->params; err == XK_OK && q->name != NULL; q++)
		err = param_fault(p, q, why, n);
	return err == XK_OK && p->conf_size != 0 ? defaults_fault(p, why, n) : err;
}

/* ---- the rest ---------------------------------------------------------------------------- */

static unsigned length(const char *const *names)
{
	unsigned n = 0;

	while (names != NULL && names[n] != NULL)
		n++;
	return n;
}

static int shape_fault(const struct xk_proto *p, char *why, size_t n)
{
	if (p->ops == NULL)
		return proto_no(why, n, "has no operations (.ops)");
	if (p->min_down > p->max_down || p->max_down > XK_DOWN_MAX)
		return proto_no(why, n, "lies over %u to %u nodes: at most %u, and no fewer than at least",
				p->min_down, p->max_down, (unsigned)XK_DOWN_MAX);
	if ((p->max_down != 0) != (p->needs[0] != NULL))
		return proto_no(why, n, "must say in .needs what it lies over, where it lies over something");
	if (p->sess_size != 0 && p->sess_size < sizeof(struct xk_sess))
		return proto_no(why, n, "has sessions without a struct xk_sess: .sess_size is %zu", p->sess_size);
	if (length(p->drops) > XK_DROPS_MAX - XK_DROP_FIRST || length(p->counts) > XK_COUNTS_MAX)
		return proto_no(why, n, "has too many .drops or .counts");
	return XK_OK;
}

int xk_proto_fault(const struct xk_proto *p, char *why, size_t n)
{
	int err = xk_proto_name_fault(p->name, why, n);

	if (err == XK_OK && (p->doc == NULL || p->doc[0] == '\0'))
		err = proto_no(why, n, "has no line of doc");
	if (err == XK_OK)
		err = shape_fault(p, why, n);
	return err == XK_OK ? params_fault(p, why, n) : err;
}
