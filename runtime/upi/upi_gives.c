/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upi_gives.c - what the layers of a graph give, from the lowest up: each changes what the one below gives.
 *
 * Like other questions it goes to the first node below; a session's goes its own way.
 */
#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_review.h"

#include <stdio.h>

static const char *const names[] = { "boundaries", "order", "reliable", "sum", "shared", "crc" };

const char *xk_gives_name(unsigned i)
{
	return i < XK_ARRAY_LEN(names) ? names[i] : NULL;
}

const char *xk_gives_text(uint32_t gives, char *buf, size_t n)
{
	size_t used = 0;

	snprintf(buf, n, "nothing");
	for (unsigned i = 0; i < XK_ARRAY_LEN(names) && used < n; i++)
		if (gives >> i & 1)
			used += (size_t)snprintf(buf + used, n - used, "%s%s", used != 0 ? ", " : "", names[i]);
	return buf;
}

uint32_t upi_rep_gives(const struct xk_rep *r)
{
	return xk_proto_gives(r->node->proto, r->conf, r->down[0] != NULL ? upi_rep_gives(r->down[0]) : 0);
}

uint32_t upi_sess_gives(const struct xk_sess *s)
{
	if (s->down == NULL)
		return upi_rep_gives(s->rep);
	return xk_proto_gives(s->rep->node->proto, s->rep->conf, upi_sess_gives(s->down));
}

uint32_t upi_view_gives(const struct xk_view *v)
{
	return xk_proto_gives(v->proto, v->conf, v->ndown != 0 ? upi_view_gives(v->down[0]) : 0);
}
