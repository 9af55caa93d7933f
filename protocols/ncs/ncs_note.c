/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_note.c - notes: a few bytes that who holds a connection says to who holds the other end, by records.
 *
 * They come once each and in their order, whatever the connection's error control: a note has a number, is said
 * again, and all behind it, until the peer has said a higher one than that; the receiver takes the one that is
 * due.  At most WINDOW are under way, the others wait.  Notes and messages go apart: who needs an order
 * between them says it in both.
 * Invariant: the list holds the notes `known` to `said` - 1; `at` is the one numbered `next`, those below `sent` have
 * left at least once.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/base/xk_list.h"
#include "runtime/mem/xk_alloc.h"

#include <string.h>

#define WINDOW 16u
#define LONGEST XK_SEC                   /* between two times that the same is said */

struct ncs_note { struct xk_listed link; uint8_t v[NCS_NOTE_LEN]; };
static struct ncs_note *note_at(struct xk_listed *i) { return xk_container_of(i, struct ncs_note, link); }

static void free_first(struct ncs_notes *s)
{
	struct ncs_note *n = note_at(xk_list_first(&s->list));

	xk_list_take(&n->link);
	xk_free(n);
}

void ncs_notes_free(struct ncs_notes *s)
{
	while (!xk_list_empty(&s->list))
		free_first(s);
	s->at = NULL;
}

int ncs_note_add(struct ncs_notes *s, const uint8_t *v)
{
	struct ncs_note *n = xk_alloc(sizeof *n);

	if (n == NULL)
		return XK_E_NOMEM;
	n->link = (struct xk_listed){ NULL, NULL };
	memcpy(n->v, v, NCS_NOTE_LEN);
	xk_list_put(&s->list, &n->link);
	s->at = s->at != NULL ? s->at : &n->link;
	s->said++;
	return XK_OK;
}

const uint8_t *ncs_note_take(struct ncs_notes *s, xk_ns now, uint32_t *no)
{
	struct xk_listed *n = s->at;

	if (n == NULL || s->next - s->known >= WINDOW)
		return NULL;
	*no = s->next++;
	s->at = xk_list_next(&s->list, n);
	s->since = now;
	if (ncs_lt(s->sent, s->next))
		s->sent = s->next;
	return note_at(n)->v;
}

xk_ns ncs_note_when(const struct ncs_notes *s, const struct ncs_rtt *rtt)
{
	xk_ns once, t;

	if (xk_list_empty(&s->list))
		return XK_NS_NEVER;
	once = ncs_rtt_timeout(rtt, 0);
	t = ncs_rtt_timeout(rtt, s->vain);
	return s->since + (t <= LONGEST ? t : once > LONGEST ? once : LONGEST);
}

void ncs_note_time(struct ncs_notes *s, const struct ncs_rtt *rtt, xk_ns now)
{
	if (now < ncs_note_when(s, rtt))
		return;
	s->vain++;
	s->since = now;
	s->next = s->known;
	s->at = xk_list_first(&s->list);
}

bool ncs_note_known(struct ncs_notes *s, uint32_t known)
{
	if (known - s->known > s->sent - s->known)       /* an old one, or nonsense */
		return !ncs_lt(s->sent, known);
	s->vain = known != s->known ? 0 : s->vain;
	for (; s->known != known; s->known++) {
		if (s->at == xk_list_first(&s->list)) {          /* it was to be said again */
			s->at = xk_list_next(&s->list, s->at);
			s->next++;
		}
		free_first(s);
	}
	return true;
}

bool ncs_note_due(struct ncs_notes *s, uint32_t no)
{
	bool due = no == s->heard;

	s->heard += due;
	return due;
}
