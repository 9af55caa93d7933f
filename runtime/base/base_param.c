/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_param.c - schemas: finding, filling and releasing configurations.
 *
 * A configuration is a zeroed structure; every field is in a state that
 * xk_param_release accepts at any moment, so a half-filled one is undone by
 * the same call.  Texts and the arrays of lists and maps are plain malloc
 * memory, owned by the field.
 */
#include "runtime/base/base_param_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By enum xk_ptype: the user's word, the bytes of the field and where they may lie. */
#define TYPE(name, t) { name, sizeof(t), _Alignof(t) }
static const struct { const char *name; size_t size, align; } types[] = {
	[XK_P_BOOL] = TYPE("bool", bool),
	[XK_P_UINT] = TYPE("uint", uint64_t),
	[XK_P_SIZE] = TYPE("size", uint64_t),
	[XK_P_TIME] = TYPE("time", uint64_t),
	[XK_P_RATE] = TYPE("rate", uint64_t),
	[XK_P_FRACTION] = TYPE("fraction", double),
	[XK_P_ENUM] = TYPE("enum", unsigned),
	[XK_P_TEXT] = TYPE("text", char *),
	[XK_P_IPV4] = TYPE("ipv4", uint32_t),
	[XK_P_CIDR] = TYPE("cidr", struct xk_cidr),
	[XK_P_MAC] = TYPE("mac", uint8_t[6]),
	[XK_P_PORT] = TYPE("port", uint16_t),
	[XK_P_CPUS] = TYPE("cpus", uint64_t),
	[XK_P_LIST] = TYPE("list", struct xk_plist),
	[XK_P_MAP] = TYPE("map", struct xk_pmap),
};

const char *xk_param_type_name(enum xk_ptype t)
{
	return (size_t)t < XK_ARRAY_LEN(types) ? types[t].name : "?";
}

size_t xk_param_type_size(enum xk_ptype t, size_t *align)
{
	bool is = (size_t)t < XK_ARRAY_LEN(types);

	*align = is ? types[t].align : 1;
	return is ? types[t].size : 0;
}

/* "group.name", of one that is given in a table of its own. */
static bool is_called(const struct xk_param *p, const char *name)
{
	size_t n = p->group != NULL ? strlen(p->group) : 0;

	return n != 0 && strncmp(p->group, name, n) == 0 && name[n] == '.' && strcmp(p->name, name + n + 1) == 0;
}

const struct xk_param *xk_param_find(const struct xk_param *schema, const char *name)
{
	for (; schema != NULL && schema->name != NULL; schema++)
		if (strcmp(schema->name, name) == 0 || is_called(schema, name))
			return schema;
	return NULL;
}

const struct xk_param *xk_param_find_in(const struct xk_param *schema, const char *group, const char *name)
{
	for (; schema != NULL && schema->name != NULL; schema++)
		if (strcmp(schema->name, name) == 0 &&
		    (group == NULL || schema->group == NULL ? group == schema->group : strcmp(group, schema->group) == 0))
			return schema;
	return NULL;
}

static void *field(const struct xk_param *p, void *conf)
{
	return (char *)conf + p->offset;
}

bool param_unset(const struct xk_param *p, const void *at)
{
	const uint8_t *f = at;
	size_t i;

	for (i = 0; i < types[p->type].size; i++)
		if (f[i] != 0xff)
			return false;
	return (p->flags & XK_PF_UNSET) != 0;
}

bool xk_param_is_unset(const struct xk_param *p, const void *conf)
{
	return param_unset(p, (const char *)conf + p->offset);
}

void xk_param_store(const struct xk_param *p, void *conf, const union xk_pval *v)
{
	xk_assert(p->type != XK_P_LIST && p->type != XK_P_MAP);
	/* Every member of the union starts where the union does. */
	if (p->type == XK_P_TEXT && *(char **)field(p, conf) != v->text)
		free(*(char **)field(p, conf));
	memcpy(field(p, conf), v, types[p->type].size);
}

void xk_param_copy(const struct xk_param *p, void *to, const void *from)
{
	xk_assert(p->type != XK_P_LIST && p->type != XK_P_MAP && p->type != XK_P_TEXT);
	memcpy(field(p, to), (const char *)from + p->offset, types[p->type].size);
}

/* ---- lists and maps -------------------------------------------------------- */

static void free_value(enum xk_ptype t, union xk_pval *v)
{
	if (t == XK_P_TEXT)
		free(v->text);
}

static void release_list(const struct xk_param *p, struct xk_plist *l)
{
	while (l->n > 0)
		free_value(p->elem, &l->v[--l->n]);
	free(l->v);
	l->v = NULL;
}

static void release_map(const struct xk_param *p, struct xk_pmap *m)
{
	while (m->n > 0) {
		m->n--;
		free_value(p->key, &m->v[m->n].key);
		free_value(p->elem, &m->v[m->n].val);
	}
	free(m->v);
	m->v = NULL;
}

int xk_param_list_add(struct xk_plist *l, const union xk_pval *v)
{
	union xk_pval *w = realloc(l->v, (l->n + 1) * sizeof *w);

	if (w == NULL)
		return XK_E_NOMEM;
	l->v = w;
	l->v[l->n++] = *v;
	return XK_OK;
}

int xk_param_map_add(struct xk_pmap *m, const union xk_pval *key, const union xk_pval *val)
{
	struct xk_pmap_entry *w = realloc(m->v, (m->n + 1) * sizeof *w);

	if (w == NULL)
		return XK_E_NOMEM;
	m->v = w;
	m->v[m->n].key = *key;
	m->v[m->n++].val = *val;
	return XK_OK;
}

static int set_element(const struct xk_param *p, void *f, const char *item, char *why, size_t n)
{
	union xk_pval v;
	int rc = xk_param_parse_as(p->elem, item, false, &v, why, n);

	if (rc != XK_OK)
		return rc;
	rc = xk_param_list_add(f, &v);
	if (rc != XK_OK) {
		free_value(p->elem, &v);
		snprintf(why, n, "needs more memory than there is");
	}
	return rc;
}

static int set_entry(const struct xk_param *p, void *f, char *item, char *why, size_t n)
{
	union xk_pval k, v;
	char *eq = strchr(item, '=');
	int rc;

	if (eq == NULL) {
		snprintf(why, n, "needs %s=%s pairs with commas between them, got \"%.40s\"",
			 xk_param_type_name(p->key), xk_param_type_name(p->elem), item);
		return XK_E_INVAL;
	}
	*eq = '\0';
	rc = xk_param_parse_as(p->key, item, false, &k, why, n);
	if (rc != XK_OK)
		return rc;
	rc = xk_param_parse_as(p->elem, eq + 1, false, &v, why, n);
	if (rc == XK_OK) {
		rc = xk_param_map_add(f, &k, &v);
		if (rc == XK_OK)
			return rc;
		free_value(p->elem, &v);
		snprintf(why, n, "needs more memory than there is");
	}
	free_value(p->key, &k);
	return rc;
}

/* "a,b" or "k=v,k=v": what a command line can say.  Replaces what was there. */
static int set_compound(const struct xk_param *p, void *conf, const char *text, char *why, size_t n)
{
	void *f = field(p, conf);
	char *copy = strdup(text), *save = NULL, *item;
	int rc = XK_OK;

	if (copy == NULL) {
		snprintf(why, n, "needs more memory than there is");
		return XK_E_NOMEM;
	}
	if (p->type == XK_P_LIST)
		release_list(p, f);
	else
		release_map(p, f);
	for (item = strtok_r(copy, ",", &save); item != NULL && rc == XK_OK;
	     item = strtok_r(NULL, ",", &save))
		rc = p->type == XK_P_LIST ? set_element(p, f, item, why, n)
					  : set_entry(p, f, item, why, n);
	free(copy);
	return rc;
}

int xk_param_set(const struct xk_param *p, void *conf, const char *text, bool bare,
		 char *why, size_t n)
{
	union xk_pval v;
	int rc;

	if (p->type == XK_P_LIST || p->type == XK_P_MAP)
		return set_compound(p, conf, text, why, n);
	rc = xk_param_parse(p, text, bare, &v, why, n);
	if (rc == XK_OK)
		xk_param_store(p, conf, &v);
	return rc;
}

/* ---- whole configurations --------------------------------------------------- */

int xk_param_defaults(const struct xk_param *schema, void *conf, char *why, size_t n)
{
	const struct xk_param *p;
	char part[256];
	int rc;

	for (p = schema; p != NULL && p->name != NULL; p++) {
		if (p->def == NULL) {
			if (p->flags & XK_PF_UNSET)
				memset(field(p, conf), 0xff, types[p->type].size);
			continue;
		}
		rc = xk_param_set(p, conf, p->def, false, part, sizeof part);
		if (rc != XK_OK) {
			snprintf(why, n, "default of '%s' %s", p->name, part);
			return rc;
		}
	}
	return XK_OK;
}

void xk_param_release(const struct xk_param *schema, void *conf)
{
	const struct xk_param *p;

	for (p = schema; p != NULL && p->name != NULL; p++) {
		if (p->type == XK_P_LIST) {
			release_list(p, field(p, conf));
		} else if (p->type == XK_P_MAP) {
			release_map(p, field(p, conf));
		} else if (p->type == XK_P_TEXT) {
			free(*(char **)field(p, conf));
			*(char **)field(p, conf) = NULL;
		}
	}
}
