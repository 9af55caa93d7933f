/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cell_lists.c - reads the lists of fates and of circuits.
 *
 * Invariant: fates are in the order of their numbers and none meet.
 */
#include "drivers/cell/cell_lists.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_cell.h"
#include "runtime/mem/xk_alloc.h"

#define FATE_FORM "\"FIRST[-LAST] lost|flip BIT [BIT ...]\", cells from 1, up to 4 bits from 0 to 423"
#define VC_FORM   "\"VPI[-VPI]/VCI[-VCI]\", VPIs to 4095, VCIs from 32 to 65535"

/* A number from least to most, and what of blanks is behind it. */
static bool number(const char **p, uint64_t least, uint64_t most, uint64_t *out)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*out = strtoull(*p, &end, 10);
	*p = end + strspn(end, " ");
	return errno == 0 && *out >= least && *out <= most;
}

/* "A" or "A-B". */
static bool range(const char **p, uint64_t least, uint64_t most, uint64_t *from, uint64_t *to)
{
	if (!number(p, least, most, from))
		return false;
	*to = *from;
	if (**p != '-')
		return true;
	++*p;
	return number(p, *from, most, to);
}

static bool word(const char **p, const char *w)
{
	size_t n = strlen(w);

	if (strncmp(*p, w, n) != 0 || ((*p)[n] != '\0' && (*p)[n] != ' '))
		return false;
	*p += n;
	*p += strspn(*p, " ");
	return true;
}

static bool read_fate(const char *p, struct cell_fate *f)
{
	uint64_t bit;

	*f = (struct cell_fate){ .nflips = 0 };
	p += strspn(p, " ");
	if (!range(&p, 1, UINT64_MAX - 1, &f->first, &f->last))
		return false;
	if (word(&p, "lost"))
		return *p == '\0';
	if (!word(&p, "flip"))
		return false;
	while (*p != '\0' && f->nflips < CELL_FLIPS && number(&p, 0, XK_CELL_LEN * 8 - 1, &bit))
		f->flip[f->nflips++] = (uint16_t)bit;
	return f->nflips != 0 && *p == '\0';
}

static bool read_vc(const char *p, struct cell_vcs *v)
{
	uint64_t vpi[2], vci[2];

	p += strspn(p, " ");
	if (!range(&p, 0, 4095, &vpi[0], &vpi[1]) || *p++ != '/' || !range(&p, 32, 65535, &vci[0], &vci[1]) || *p != '\0')
		return false;
	*v = (struct cell_vcs){ { (uint16_t)vpi[0], (uint16_t)vpi[1] }, { (uint16_t)vci[0], (uint16_t)vci[1] } };
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct cell_fate *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static bool fates_apart(struct cell_lists *l, char *why, size_t n)
{
	if (l->nfates != 0)
		qsort(l->fate, l->nfates, sizeof *l->fate, by_number);
	for (unsigned i = 1; i < l->nfates; i++)
		if (l->fate[i].first <= l->fate[i - 1].last) {
			snprintf(why, n, "fates: cell %llu has two", (unsigned long long)l->fate[i].first);
			return false;
		}
	return true;
}

static bool read_all(struct cell_lists *l, const struct xk_plist *fates, const struct xk_plist *vcs, char *why, size_t n)
{
	for (; l->nfates < fates->n; l->nfates++)
		if (!read_fate(fates->v[l->nfates].text, &l->fate[l->nfates])) {
			snprintf(why, n, "fates: \"%.60s\" is none: " FATE_FORM, fates->v[l->nfates].text);
			return false;
		}
	for (; l->nvcs < vcs->n; l->nvcs++)
		if (!read_vc(vcs->v[l->nvcs].text, &l->vc[l->nvcs])) {
			snprintf(why, n, "vcs: \"%.60s\" is none: " VC_FORM, vcs->v[l->nvcs].text);
			return false;
		}
	return fates_apart(l, why, n);
}

int cell_lists_read(struct cell_lists *l, const struct xk_plist *fates, const struct xk_plist *vcs, char *why, size_t n)
{
	int err = XK_E_INVAL;

	*l = (struct cell_lists){ .nfates = 0 };
	l->fate = fates->n != 0 ? xk_alloc(fates->n * sizeof *l->fate) : NULL;
	l->vc = vcs->n != 0 ? xk_alloc(vcs->n * sizeof *l->vc) : NULL;
	if ((l->fate == NULL && fates->n != 0) || (l->vc == NULL && vcs->n != 0))
		err = XK_E_NOMEM;
	else if (read_all(l, fates, vcs, why, n))
		return XK_OK;
	cell_lists_free(l);
	return err;
}

void cell_lists_free(struct cell_lists *l)
{
	xk_free(l->fate);
	xk_free(l->vc);
	*l = (struct cell_lists){ .nfates = 0 };
}

bool cell_vc_there(const struct cell_lists *l, uint32_t header)
{
	uint32_t vpi = xk_cell_vpi(header), vci = xk_cell_vci(header);

	if (l->nvcs == 0)
		return vci >= 32;
	for (unsigned i = 0; i < l->nvcs; i++)
		if (vpi >= l->vc[i].vpi[0] && vpi <= l->vc[i].vpi[1] && vci >= l->vc[i].vci[0] && vci <= l->vc[i].vci[1])
			return true;
	return false;
}
