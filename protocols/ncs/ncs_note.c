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

#include "runtime/mem/xk_alloc.h"

#include <string.h>

#define WINDOW 16u
#define LONGEST XK_SEC                   /* between two times that the same is said */

struct ncs_note { struct ncs_note *next; uint8_t v[NCS_NOTE_LEN]; };

void ncs_notes_free(struct ncs_notes *s)
{
	struct ncs_note *n;

	while ((n = s->first) != NULL) {
		s->first = n->next;
		xk_free(n);
	}
	s->last = s->at = NULL;
}

int ncs_note_add(struct ncs_notes *s, const uint8_t *v)
{
	struct ncs_note *n = xk_alloc(sizeof *n);

	if (n == NULL)
		return XK_E_NOMEM;
	n->next = NULL;
	memcpy(n->v, v, NCS_NOTE_LEN);
	if (s->first == NULL)
		s->first = n;
	else
		s->last->next = n;
	s->last = n;
	s->at = s->at != NULL ? s->at : n;
	s->said++;
	return XK_OK;
}

const uint8_t *ncs_note_take(struct ncs_notes *s, xk_ns now, uint32_t *no)
{
	const struct ncs_note *n = s->at;

	if (n == NULL || s->next - s->known >= WINDOW)
		return NULL;
	*no = s->next++;
	s->at = n->next;
	s->since = now;
	if (ncs_lt(s->sent, s->next))
		s->sent = s->next;
	return n->v;
}

xk_ns ncs_note_when(const struct ncs_notes *s, const struct ncs_rtt *rtt)
{
	xk_ns once = ncs_rtt_timeout(rtt, 0), t = ncs_rtt_timeout(rtt, s->vain);

	if (s->first == NULL)
		return XK_NS_NEVER;
	return s->since + (t <= LONGEST ? t : once > LONGEST ? once : LONGEST);
}

void ncs_note_time(struct ncs_notes *s, const struct ncs_rtt *rtt, xk_ns now)
{
	if (now < ncs_note_when(s, rtt))
		return;
	s->vain++;
	s->since = now;
	s->next = s->known;
	s->at = s->first;
}

bool ncs_note_known(struct ncs_notes *s, uint32_t known)
{
	if (known - s->known > s->sent - s->known)       /* an old one, or nonsense */
		return !ncs_lt(s->sent, known);
	s->vain = known != s->known ? 0 : s->vain;
	for (; s->known != known; s->known++) {
		struct ncs_note *n = s->first;

		if (s->at == n) {                /* it was to be said again */
			s->at = n->next;
			s->next++;
		}
		s->first = n->next;
		xk_free(n);
	}
	s->last = s->first != NULL ? s->last : NULL;
	return true;
}

bool ncs_note_due(struct ncs_notes *s, uint32_t no)
{
	bool due = no == s->heard;

	s->heard += due;
	return due;
}
