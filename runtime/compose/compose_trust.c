/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_trust.c - graph files from strangers: what of this machine they may name.
 *
 * Who runs such a file says which drivers of this machine it may use, and gives what they are about (a file, an
 * interface, a namespace) on the command line.  The file says where that is wanted.
 * Invariant: with `untrusted`, a check without errors has met no word of the file's own that names what is outside
 * of the graph.
 */
#include "runtime/compose/compose_lua.h"

#include <string.h>

/* The next name of a list with commas between, of *n bytes, and *list behind it; NULL: there is none. */
static const char *next_name(const char **list, size_t *n)
{
	const char *at = *list;

	if (at == NULL || *at == '\0')
		return NULL;
	*n = strcspn(at, ",");
	*list = at + *n + (at[*n] == ',');
	return at;
}

static bool is_listed(const char *list, const char *name)
{
	const char *at;
	size_t n;

	while ((at = next_name(&list, &n)) != NULL)
		if (n == strlen(name) && memcmp(at, name, n) == 0)
			return true;
	return false;
}

bool trust_proto(const struct xk_spec *s, const struct xk_proto *p)
{
	return s->untrusted == NULL || !p->is_host || is_listed(s->untrusted, p->name);
}

bool trust_value(const struct xk_spec *s, const struct xk_param *p, const struct xk_value *v)
{
	if (s->untrusted == NULL || (p->flags & XK_PF_HOST) == 0 || v->kind != XK_V_TEXT)
		return true;
	for (unsigned i = 0; i < s->nargs; i++)
		if (s->arg[i].given && s->arg[i].value != NULL && strlen(s->arg[i].value) == v->len &&
		    memcmp(s->arg[i].value, v->text, v->len) == 0)
			return true;
	return false;
}

/* Every descriptor of that word: some have several. */
static bool is_host(const struct xk_spec *s, const char *name, size_t len, bool *there)
{
	bool host = false;

	*there = false;
	for (const struct xk_proto *const *p = s->table; *p != NULL; p++)
		if (strlen((*p)->name) == len && memcmp((*p)->name, name, len) == 0) {
			*there = true;
			host |= (*p)->is_host;
		}
	return host;
}

void trust_list(const struct xk_spec *s, struct xk_errs *e)
{
	const char *list = s->untrusted, *at;
	size_t len;
	bool there;

	while ((at = next_name(&list, &len)) != NULL)
		if (!is_host(s, at, len, &there))
			xk_errs_add(e, NULL, 0, 0, there ? "--untrusted: every file may use '%.*s', it is no driver of this machine" :
				    "--untrusted: there is no driver '%.*s'", (int)(len < 60 ? len : 60), at);
}
