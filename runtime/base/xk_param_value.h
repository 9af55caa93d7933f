/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_param_value.h - values of parameters: read from text, stored in a configuration, written.
 *
 * Control path only; nothing here is thread-safe, nothing blocks.
 */
#ifndef XK_PARAM_VALUE_H
#define XK_PARAM_VALUE_H

#include "runtime/base/xk_param.h"

/* "uint", "time", ... as users write them. */
const char *xk_param_type_name(enum xk_ptype t);
/* Bytes of a value in a configuration, and what its place is a multiple of; 0: there is no such type. */
size_t xk_param_type_size(enum xk_ptype t, size_t *align);

/*
 * Parses a scalar of type p->type from text into *out, checking range and
 * choices.  XK_P_TEXT allocates.  On failure writes a sentence fragment that
 * fits "parameter 'x' ..." (such as: needs a time with a unit like "200ms",
 * got the bare number 200) to why[n].  `bare` says the text was written as a
 * number rather than a string.
 */
int xk_param_parse(const struct xk_param *p, const char *text, bool bare,
		   union xk_pval *out, char *why, size_t n);
/* Same for a given type without range or choices (map keys, list elements). */
int xk_param_parse_as(enum xk_ptype t, const char *text, bool bare,
		      union xk_pval *out, char *why, size_t n);
/* Writes a value the way a user would ("64KiB", "200ms"); returns buf. */
const char *xk_param_format(const struct xk_param *p, const void *value, char *buf, size_t n);
/* Copies the parsed scalar to its place in conf, by type; a text that stood
 * there is freed. */
void xk_param_store(const struct xk_param *p, void *conf, const union xk_pval *v);
/* Copies that scalar, no text, from one configuration to another. */
void xk_param_copy(const struct xk_param *p, void *to, const void *from);
/* Parses text and stores it, whatever the type: lists as "a,b", maps as
 * "k=v,k=v" (command lines, defaults).  Replaces and frees what was there. */
int  xk_param_set(const struct xk_param *p, void *conf, const char *text, bool bare,
		  char *why, size_t n);
/* Append one value; take over its text on success only.  XK_E_NOMEM. */
int  xk_param_list_add(struct xk_plist *l, const union xk_pval *v);
int  xk_param_map_add(struct xk_pmap *m, const union xk_pval *key, const union xk_pval *val);
/* Fills conf (zeroed, conf_size bytes) with every default of the schema. */
int  xk_param_defaults(const struct xk_param *schema, void *conf, char *why, size_t n);
/* Frees texts, lists and maps held in conf (plain malloc memory: fill lists and
 * maps with the two functions above); conf is then empty again. */
void xk_param_release(const struct xk_param *schema, void *conf);
/* Was a parameter with XK_PF_UNSET not given? */
bool xk_param_is_unset(const struct xk_param *p, const void *conf);
/* The first of that name, or of the full name "group.name"; NULL: there is none. */
const struct xk_param *xk_param_find(const struct xk_param *schema, const char *name);
/* The one of that group (NULL: of none): two groups may have one of the same name. */
const struct xk_param *xk_param_find_in(const struct xk_param *schema, const char *group, const char *name);

#endif
