/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_param_parse.c - from what a user wrote to a value, or to one sentence
 * that says what was wanted and what was got.
 *
 * Numbers are read digit by digit: no locale, no overflow, no rounding except
 * in fractions.  Invariant: on failure the sentence is written and nothing is
 * allocated.
 */
#include "runtime/base/base_param_priv.h"
#include "runtime/base/xk_errs.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One attempt: what was written, how, and where the complaint goes. */
struct attempt {
	enum xk_ptype t;
	const char   *text;
	bool          bare;
	char         *why;
	size_t        n;
	char          got[64];   /* the text fit for a message: cut, printable, quoted */
};

static void set_got(struct attempt *a)
{
	const char *q = a->bare ? "" : "\"";
	size_t i;

	snprintf(a->got, sizeof a->got, "%s%.40s%s%s", q, a->text,
		 strlen(a->text) > 40 ? "..." : "", q);
	for (i = 0; a->got[i] != '\0'; i++)
		if ((unsigned char)a->got[i] < ' ' || a->got[i] == 0x7f)
			a->got[i] = '?';
}

static int fail(const struct attempt *a, int err, const char *fmt, ...) XK_PRINTF(3, 4);
static int fail(const struct attempt *a, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->why, a->n, fmt, ap);
	va_end(ap);
	return err;
}

/* "needs WHAT, got GOT" */
static int wants(const struct attempt *a, const char *what)
{
	return fail(a, XK_E_INVAL, "needs %s, got %s%s", what, a->bare ? "the number " : "", a->got);
}

static int too_large(const struct attempt *a)
{
	return fail(a, XK_E_RANGE, "is too large: %s", a->got);
}

/* ---- numbers -------------------------------------------------------------- */

/* Digits at *s; false when there are none.  *over when they pass 64 bits. */
static bool digits(const char **s, uint64_t *out, bool *over)
{
	const char *p = *s;
	uint64_t v = 0;

	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			*over = true;
	if (p == *s)
		return false;
	*s = p;
	*out = v;
	return true;
}

/* Looks like a decimal that is no whole number: 8.0, 1e6, .5 */
static bool is_decimal(const char *s)
{
	return strpbrk(s, ".eE") != NULL && strspn(s, "+-.0123456789eE") == strlen(s);
}

static bool is_negative(const char *s)
{
	return s[0] == '-' && isdigit((unsigned char)s[1]);
}

static int parse_uint(const struct attempt *a, uint64_t *out)
{
	const char *s = a->text;
	bool over = false;

	if (is_negative(s))
		return fail(a, XK_E_RANGE, "must not be negative, got %s", a->text);
	if (is_decimal(s))
		return fail(a, XK_E_INVAL, "needs a whole number, got %s (use // for whole division)",
			    a->text);
	if (!digits(&s, out, &over) || *s != '\0')
		return fail(a, XK_E_INVAL, "needs a whole number, got %s", a->got);
	return over ? too_large(a) : XK_OK;
}

bool param_parse_decimal(const char *s, size_t n, int scale, double *out)
{
	const char *end = s + n;
	uint64_t m = 0;
	int e = scale, x = 0, sign = 1;
	bool any = false;
	char buf[40];

	for (bool dot = false; s < end && (isdigit((unsigned char)*s) || (*s == '.' && !dot)); s++) {
		if (*s == '.') {
			dot = true;
			continue;
		}
		any = true;
		if (m < UINT64_MAX / 10 - 1) {
			m = m * 10 + (uint64_t)(*s - '0');
			e -= dot;
		} else {
			e += !dot;
		}
	}
	if (any && s < end && (*s == 'e' || *s == 'E')) {
		if (++s < end && (*s == '-' || *s == '+'))
			sign = *s++ == '-' ? -1 : 1;
		for (any = false; s < end && isdigit((unsigned char)*s); s++, any = true)
			x = x < 1000 ? x * 10 + (*s - '0') : x;
		e += sign * x;
	}
	if (!any || s != end)
		return false;
	/* strtod rounds right; without a point it knows no locale. */
	snprintf(buf, sizeof buf, "%llue%d", (unsigned long long)m, e);
	*out = strtod(buf, NULL);
	return true;
}

static int parse_fraction(const struct attempt *a, double *out)
{
	size_t n = strlen(a->text);
	bool percent = n > 0 && a->text[n - 1] == '%';

	if (is_negative(a->text))
		return fail(a, XK_E_RANGE, "must be between 0 and 1, got %s", a->text);
	if (!param_parse_decimal(a->text, n - percent, percent ? -2 : 0, out))
		return wants(a, "a fraction like \"1%\" or 0.01");
	if (!(*out <= 1))
		return fail(a, XK_E_RANGE, "must be between 0 and 1 (0%% and 100%%), got %s", a->text);
	return XK_OK;
}

/* ---- numbers with a unit ---------------------------------------------------- */

static const char *unit_example(enum xk_ptype t)
{
	return t == XK_P_SIZE ? "a size like \"64KiB\"" :
	       t == XK_P_TIME ? "a time with a unit like \"200ms\"" :
				"a rate with a unit like \"1Gbit/s\"";
}

static int no_unit(const struct attempt *a)
{
	return fail(a, XK_E_INVAL, "needs %s, got %s%s", unit_example(a->t),
		    a->bare ? "the bare number " : "", a->got);
}

static int bad_unit(const struct attempt *a, const char *unit)
{
	const struct param_unit *u = param_units_of(a->t)->unit;
	char list[96] = "";
	size_t n = 0;

	for (; u->name != NULL && n < sizeof list; u++)
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", u->name);
	return fail(a, XK_E_INVAL, "has the unknown unit \"%.16s\" (use one of %s)", unit, list);
}

static const struct param_unit *find_unit(enum xk_ptype t, const char *name)
{
	const struct param_unit *u = param_units_of(t)->unit;

	for (; u->name != NULL; u++)
		if (strcmp(u->name, name) == 0)
			return u;
	return NULL;
}

/* whole.part * mul when that is a whole number; part has `places` digits. */
static int scale_unit(const struct attempt *a, uint64_t whole, uint64_t part, unsigned places,
		      uint64_t mul, uint64_t *out)
{
	unsigned __int128 small = (unsigned __int128)part * mul;
	uint64_t rest;

	for (; places > 0; places--) {
		if (small % 10 != 0)
			return fail(a, XK_E_INVAL, "is finer than one %s, got %s",
				    a->t == XK_P_SIZE ? "byte" : a->t == XK_P_TIME ? "nanosecond" : "bit/s",
				    a->text);
		small /= 10;
	}
	rest = (uint64_t)small;
	if (__builtin_mul_overflow(whole, mul, out) || __builtin_add_overflow(*out, rest, out))
		return too_large(a);
	return XK_OK;
}

static int parse_with_unit(const struct attempt *a, uint64_t *out)
{
	static const struct param_unit byte = { "B", 1 };
	const char *s = a->text, *dot;
	const struct param_unit *u;
	uint64_t whole, part = 0;
	unsigned places = 0;
	bool over = false;

	if (is_negative(s))
		return fail(a, XK_E_RANGE, "must not be negative, got %s", a->text);
	if (!digits(&s, &whole, &over))
		return no_unit(a);
	if (*s == '.') {
		dot = ++s;
		if (!digits(&s, &part, &over))
			return no_unit(a);
		places = (unsigned)(s - dot);
	}
	if (over)
		return too_large(a);
	if (*s == '\0' && a->t != XK_P_SIZE)
		return no_unit(a);
	u = *s == '\0' ? &byte : find_unit(a->t, s);
	if (u == NULL)
		return bad_unit(a, s);
	return scale_unit(a, whole, part, places, u->mul, out);
}

/* ---- addresses -------------------------------------------------------------- */

/* A decimal of at most `max` without leading zeros, which some read as octal. */
static bool small_number(const char **s, unsigned max, unsigned *out)
{
	const char *p = *s;
	unsigned v = 0;

	for (; isdigit((unsigned char)*p) && v <= max; p++)
		v = v * 10 + (unsigned)(*p - '0');
	if (p == *s || v > max || (**s == '0' && p > *s + 1))
		return false;
	*s = p;
	*out = v;
	return true;
}

static bool dotted_quad(const char **s, uint32_t *out)
{
	unsigned i, b;

	*out = 0;
	for (i = 0; i < 4; i++) {
		if ((i > 0 && *(*s)++ != '.') || !small_number(s, 255, &b))
			return false;
		*out = *out << 8 | b;
	}
	return true;
}

static int parse_ipv4(const struct attempt *a, uint32_t *out)
{
	const char *s = a->text;

	if (!dotted_quad(&s, out) || *s != '\0')
		return wants(a, "an IPv4 address like \"10.0.0.2\"");
	return XK_OK;
}

static int parse_cidr(const struct attempt *a, struct xk_cidr *out)
{
	const char *s = a->text;
	unsigned len;

	if (!dotted_quad(&s, &out->addr) || *s++ != '/' || !small_number(&s, 32, &len) || *s != '\0')
		return wants(a, "an address with a prefix length like \"10.0.0.1/8\"");
	out->len = (uint8_t)len;
	return XK_OK;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int parse_mac(const struct attempt *a, uint8_t out[6])
{
	const char *s = a->text;
	unsigned i;

	for (i = 0; i < 6; i++, s += 3) {
		if (hex(s[0]) < 0 || hex(s[1]) < 0 || s[2] != (i < 5 ? ':' : '\0'))
			return wants(a, "a MAC address like \"02:00:00:00:00:02\"");
		out[i] = (uint8_t)(hex(s[0]) << 4 | hex(s[1]));
	}
	return XK_OK;
}

static int parse_port(const struct attempt *a, uint16_t *out)
{
	uint64_t v;
	int rc = parse_uint(a, &v);

	if (rc == XK_E_INVAL)
		return rc;
	if (rc != XK_OK || v > 65535)
		return fail(a, XK_E_RANGE, "must be between 0 and 65535, got %s", a->text);
	*out = (uint16_t)v;
	return XK_OK;
}

static int parse_cpus(const struct attempt *a, uint64_t *out)
{
	const char *s = a->text;
	uint64_t lo, hi;
	bool over = false;

	*out = 0;
	do {
		if (!digits(&s, &lo, &over))
			return wants(a, "processors like \"0-3,5\"");
		hi = lo;
		if (*s == '-' && (s++, !digits(&s, &hi, &over)))
			return wants(a, "processors like \"0-3,5\"");
		if (over || lo > 63 || hi > 63)
			return fail(a, XK_E_RANGE, "names a processor above 63: %s", a->got);
		if (lo > hi)
			return fail(a, XK_E_INVAL, "has the range %u-%u the wrong way round",
				    (unsigned)lo, (unsigned)hi);
		*out |= (UINT64_MAX >> (63 - (hi - lo))) << lo;
	} while (*s == ',' && s++);
	return *s == '\0' ? XK_OK : wants(a, "processors like \"0-3,5\"");
}

/* ---- words ------------------------------------------------------------------ */

static int parse_bool(const struct attempt *a, bool *out)
{
	*out = strcmp(a->text, "true") == 0;
	if (!*out && strcmp(a->text, "false") != 0)
		return wants(a, "true or false");
	return XK_OK;
}

static int parse_text(const struct attempt *a, char **out)
{
	*out = strdup(a->text);
	return *out != NULL ? XK_OK : fail(a, XK_E_NOMEM, "needs more memory than there is");
}

static int parse_enum(const struct attempt *a, const char *const *choices, unsigned *out)
{
	char list[256] = "";
	const char *near;
	size_t n = 0;
	unsigned i;

	for (i = 0; choices != NULL && choices[i] != NULL; i++) {
		if (strcmp(choices[i], a->text) == 0) {
			*out = i;
			return XK_OK;
		}
		if (n < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s\"%s\"", i ? ", " : "",
					      choices[i]);
	}
	near = xk_errs_suggest(a->text, choices, i);
	if (near != NULL)
		return fail(a, XK_E_INVAL, "must be one of %s, got %s (did you mean \"%s\"?)", list,
			    a->got, near);
	return fail(a, XK_E_INVAL, "must be one of %s, got %s", list, a->got);
}

/* ---- any type ---------------------------------------------------------------- */

static bool has_space(const char *s)
{
	for (; *s != '\0'; s++)
		if (isspace((unsigned char)*s))
			return true;
	return false;
}

static int spaces(const struct attempt *a)
{
	char tight[40];
	size_t n = 0;
	const char *s;

	for (s = a->text; *s != '\0' && n < sizeof tight - 1; s++)
		if (!isspace((unsigned char)*s))
			tight[n++] = *s;
	tight[n] = '\0';
	if (n == 0)
		return fail(a, XK_E_INVAL, "needs a %s, got only spaces", xk_param_type_name(a->t));
	return fail(a, XK_E_INVAL, "must be written without spaces, got %s (write \"%s\")", a->got, tight);
}

static int parse(const struct attempt *a, const char *const *choices, union xk_pval *out)
{
	switch (a->t) {
	case XK_P_TEXT: return parse_text(a, &out->text);
	case XK_P_ENUM: return parse_enum(a, choices, &out->e);
	default: break;
	}
	if (has_space(a->text))
		return spaces(a);
	switch (a->t) {
	case XK_P_BOOL: return parse_bool(a, &out->b);
	case XK_P_UINT: return parse_uint(a, &out->u);
	case XK_P_SIZE:
	case XK_P_TIME:
	case XK_P_RATE: return parse_with_unit(a, &out->u);
	case XK_P_FRACTION: return parse_fraction(a, &out->d);
	case XK_P_IPV4: return parse_ipv4(a, &out->ip);
	case XK_P_CIDR: return parse_cidr(a, &out->cidr);
	case XK_P_MAC: return parse_mac(a, out->mac);
	case XK_P_PORT: return parse_port(a, &out->port);
	case XK_P_CPUS: return parse_cpus(a, &out->u);
	case XK_P_LIST: return wants(a, "a list");
	case XK_P_MAP: return wants(a, "a table");
	default: break;
	}
	return fail(a, XK_E_INVAL, "has a type that no parser knows");
}

int xk_param_parse_as(enum xk_ptype t, const char *text, bool bare, union xk_pval *out,
		      char *why, size_t n)
{
	struct attempt a = { .t = t, .text = text, .bare = bare, .why = why, .n = n };

	memset(out, 0, sizeof *out);
	set_got(&a);
	return parse(&a, NULL, out);
}

/* -1, 0, 1; only the types that have an order are compared. */
static int compare(enum xk_ptype t, const union xk_pval *x, const union xk_pval *y)
{
	if (t == XK_P_FRACTION)
		return (x->d > y->d) - (x->d < y->d);
	if (t == XK_P_PORT)
		return (x->port > y->port) - (x->port < y->port);
	if (t == XK_P_UINT || t == XK_P_SIZE || t == XK_P_TIME || t == XK_P_RATE)
		return (x->u > y->u) - (x->u < y->u);
	return 0;
}

static int outside(const struct attempt *a, const struct xk_param *p)
{
	if (p->min != NULL && p->max != NULL)
		return fail(a, XK_E_RANGE, "must be between %s and %s, got %.40s", p->min, p->max, a->text);
	return fail(a, XK_E_RANGE, "must be at %s %s, got %.40s", p->min != NULL ? "least" : "most",
		    p->min != NULL ? p->min : p->max, a->text);
}

/* Is v on the wrong side (`wrong`: -1 below, 1 above) of a bound? */
static bool passes(const struct xk_param *p, const union xk_pval *v, const char *bound, int wrong)
{
	union xk_pval b;
	char why[128];

	if (bound == NULL)
		return true;
	if (xk_param_parse_as(p->type, bound, false, &b, why, sizeof why) != XK_OK)
		xk_panic(__FILE__, __LINE__, "bound of parameter '%s' %s", p->name, why);
	return compare(p->type, v, &b) != wrong;
}

int xk_param_parse(const struct xk_param *p, const char *text, bool bare, union xk_pval *out,
		   char *why, size_t n)
{
	struct attempt a = { .t = p->type, .text = text, .bare = bare, .why = why, .n = n };
	int rc;

	memset(out, 0, sizeof *out);
	set_got(&a);
	rc = parse(&a, p->choices, out);
	if (rc == XK_E_RANGE && (p->min != NULL || p->max != NULL))
		return outside(&a, p);
	if (rc != XK_OK || p->type == XK_P_TEXT)
		return rc;
	if (!passes(p, out, p->min, -1) || !passes(p, out, p->max, 1))
		return outside(&a, p);
	return XK_OK;
}
