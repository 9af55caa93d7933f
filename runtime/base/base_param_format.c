/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_param_format.c - writes values the way a user would.
 *
 * Invariant: parsing what is written here gives the value again.
 */
#include "runtime/base/base_param_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A buffer that is filled from the left and cut at its end. */
struct out { char *p; size_t room; };

static void put(struct out *o, const char *fmt, ...) XK_PRINTF(2, 3);
static void put(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->p, o->room, fmt, ap);
	va_end(ap);
	if (n < 0 || o->room == 0)
		return;
	if ((size_t)n >= o->room)
		n = (int)o->room - 1;
	o->p += n;
	o->room -= (size_t)n;
}

/* The largest unit that leaves a whole number. */
static void put_unit(struct out *o, enum xk_ptype t, uint64_t v)
{
	const struct param_units *u = param_units_of(t);
	unsigned i = 0;

	while (i + 1 < u->nformat && (v == 0 || v % u->unit[i].mul != 0))
		i++;
	/* Bytes need no unit: that is how everybody writes an MTU. */
	if (t == XK_P_TIME && v == 0)
		put(o, "0s");
	else if (t == XK_P_SIZE && u->unit[i].mul == 1)
		put(o, "%llu", (unsigned long long)v);
	else
		put(o, "%llu%s", (unsigned long long)(v / u->unit[i].mul), u->unit[i].name);
}

/* The shortest decimal that reads back as the same double. */
static void put_fraction(struct out *o, double d)
{
	char buf[40];
	double back;
	int digits;

	for (digits = 1; digits <= 17; digits++) {
		snprintf(buf, sizeof buf, "%.*g", digits, d);
		if (param_parse_decimal(buf, strlen(buf), 0, &back) && back == d)
			break;
	}
	put(o, "%s", buf);
}

static void put_cpus(struct out *o, uint64_t mask)
{
	const char *comma = "";
	unsigned i, j;

	for (i = 0; i < 64; i = j + 1) {
		j = i;
		if (!(mask >> i & 1))
			continue;
		while (j + 1 < 64 && (mask >> (j + 1) & 1))
			j++;
		if (j > i)
			put(o, "%s%u-%u", comma, i, j);
		else
			put(o, "%s%u", comma, i);
		comma = ",";
	}
}

static void put_ip(struct out *o, uint32_t a)
{
	put(o, "%u.%u.%u.%u", a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
}

static void put_enum(struct out *o, const struct xk_param *p, unsigned e)
{
	unsigned i;

	for (i = 0; p != NULL && p->choices != NULL && p->choices[i] != NULL; i++)
		if (i == e) {
			put(o, "%s", p->choices[i]);
			return;
		}
	put(o, "%u", e);
}

/* The field may be smaller than the union, so it is read by its own type. */
static void put_scalar(struct out *o, enum xk_ptype t, const struct xk_param *p, const void *v)
{
	const uint8_t *m = v;
	const struct xk_cidr *c = v;

	switch (t) {
	case XK_P_BOOL: put(o, "%s", *(const bool *)v ? "true" : "false"); break;
	case XK_P_UINT: put(o, "%llu", *(const unsigned long long *)v); break;
	case XK_P_SIZE:
	case XK_P_TIME:
	case XK_P_RATE: put_unit(o, t, *(const uint64_t *)v); break;
	case XK_P_FRACTION: put_fraction(o, *(const double *)v); break;
	case XK_P_ENUM: put_enum(o, p, *(const unsigned *)v); break;
	case XK_P_TEXT: put(o, "%s", *(char *const *)v ? *(char *const *)v : ""); break;
	case XK_P_IPV4: put_ip(o, *(const uint32_t *)v); break;
	case XK_P_CIDR: put_ip(o, c->addr); put(o, "/%u", c->len); break;
	case XK_P_MAC:
		put(o, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
		break;
	case XK_P_PORT: put(o, "%u", *(const uint16_t *)v); break;
	case XK_P_CPUS: put_cpus(o, *(const uint64_t *)v); break;
	case XK_P_LIST:
	case XK_P_MAP: break;
	}
}

const char *xk_param_format(const struct xk_param *p, const void *value, char *buf, size_t n)
{
	const struct xk_plist *l = value;
	const struct xk_pmap *m = value;
	struct out o = { buf, n };
	unsigned i;

	if (n > 0)
		buf[0] = '\0';
	if (param_unset(p, value)) {
		put(&o, "unset");
	} else if (p->type == XK_P_LIST) {
		for (i = 0; i < l->n; i++) {
			put(&o, "%s", i ? "," : "");
			put_scalar(&o, p->elem, NULL, &l->v[i]);
		}
	} else if (p->type == XK_P_MAP) {
		for (i = 0; i < m->n; i++) {
			put(&o, "%s", i ? "," : "");
			put_scalar(&o, p->key, NULL, &m->v[i].key);
			put(&o, "=");
			put_scalar(&o, p->elem, NULL, &m->v[i].val);
		}
	} else {
		put_scalar(&o, p->type, p, value);
	}
	return buf;
}
