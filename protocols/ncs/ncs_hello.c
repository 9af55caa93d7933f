/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_hello.c - what the two ends tell each other of themselves: version, order of words, longest message, rank, and the
 * key of their job.
 *
 * HELLO stands before each OPEN and each answer to one, in the same datagram, so it costs no round trip, nor does it
 * matter that one is lost.  Where this end has a key, nobody opens a connection here, nor answers for one, who has
 * not said the same in that datagram: an address may be another process's by now.  Of who never said it nothing at all
 * is let in: it is dropped and counted, and no answer tells them anything.  So who asks what may have begun anew since,
 * by PING, CHECK or CLOSE, says it again.
 * Invariant: with a key, a peer is `met` only if it said that.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/upi/xk_node.h"
#include "runtime/vp/xk_task.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TELL_EVERY XK_SEC                /* strangers write no more of the log than that */

/* ---- what is told here ---------------------------------------------------------------------------- */

void ncs_tell(const struct ncs_sess *p, const char *fmt, ...)
{
	struct ncs_rep *nr = ncs_rep(p->s.rep);
	struct in_addr a = { htonl(p->peer.host) };
	char addr[INET_ADDRSTRLEN], rank[24] = "", text[160];
	xk_ns now = xk_vp_now();
	va_list ap;

	if (nr->told != 0 && now - nr->told < TELL_EVERY)
		return;
	nr->told = now;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (p->peer.met && p->peer.rank != NCS_NO_RANK)
		snprintf(rank, sizeof rank, ", rank %u,", p->peer.rank);
	XK_TRACE(nr->log, 2, "%s:%u: %s: peer %s%s %s", nr->r->node->file != NULL ? nr->r->node->file : "-",
		 nr->r->node->line, xk_node_name(nr->r->node), inet_ntop(AF_INET, &a, addr, sizeof addr), rank, text);
}

/* ---- the key ------------------------------------------------------------------------------------------ */

int ncs_key_start(struct xk_rep *r, struct xk_errs *e)
{
	struct ncs_rep *nr = ncs_rep(r);
	const char *own = ncs_conf(r)->key, *key = own != NULL && *own != '\0' ? own : getenv("VP_KEY");
	size_t n = key != NULL ? strlen(key) : 0;

	if (n > NCS_KEY_LEN) {
		xk_node_error(r->node, e, "the key of the environment, VP_KEY, has %zu bytes, more than %u", n, NCS_KEY_LEN);
		return XK_E_INVAL;
	}
	memset(nr->key, 0, sizeof nr->key);
	if (n != 0)
		memcpy(nr->key, key, n);
	nr->has_key = n != 0;
	return XK_OK;
}

/* In a time that says nothing of where they differ. */
static bool same_key(const uint8_t *a, const uint8_t *b)
{
	volatile uint8_t differ = 0;

	for (unsigned i = 0; i < NCS_KEY_LEN; i++)
		differ = (uint8_t)(differ | (a[i] ^ b[i]));
	return differ == 0;
}

/* ---- here ------------------------------------------------------------------------------------------------- */

static uint8_t order_here(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 1 ? NCS_LITTLE : NCS_BIG;
}

void ncs_hello_here(const struct ncs_rep *nr, struct ncs_hello *h)
{
	*h = (struct ncs_hello){ .version = NCS_VERSION, .order = order_here(), .rank = nr->rank, .ranks = nr->ranks,
				 .message = (uint32_t)ncs_conf(nr->r)->message, .key = nr->key,
				 .along = nr->seams == NULL && ncs_conf(nr->r)->answers == NCS_ANSWERS_ALONG };
}

/* ---- in ------------------------------------------------------------------------------------------------- */

static bool heard(struct ncs_sess *p, const struct ncs_rec *rec, bool *said)
{
	static const uint8_t none[NCS_KEY_LEN];
	const struct ncs_rep *nr = ncs_rep(p->s.rep);
	struct ncs_hello h, here;

	if (!ncs_hello_load(rec->v, rec->len - NCS_REC_LEN, &h)) {
		xk_dropped(p->s.rep, NCS_DROP_RECORD, 1);
		return !nr->has_key || p->peer.met;
	}
	if (nr->has_key && !same_key(h.key, nr->key)) {
		ncs_tell(p, "is not of this job: %s", same_key(h.key, none) ? "it has no key" : "its key is another one");
		return false;
	}
	*said = p->peer.met = true;
	p->peer.version = h.version;
	p->peer.order = h.order;
	p->peer.rank = h.rank;
	p->peer.ranks = h.ranks;
	p->peer.message = h.message;
	ncs_hello_here(nr, &here);
	p->peer.along = h.along && here.along;
	return true;
}

bool ncs_lets_in(struct ncs_sess *p, const struct ncs_rec *rec, bool *said)
{
	if (rec->type == NCS_HELLO)
		return heard(p, rec, said);
	if (!ncs_rep(p->s.rep)->has_key || *said)
		return true;
	if (rec->type != NCS_OPEN && rec->type != NCS_ACCEPT && rec->type != NCS_REFUSE)
		return p->peer.met;              /* else it may be about what was here before */
	ncs_tell(p, "is not of this job: it has no key");
	return false;
}

void ncs_greet_again(struct ncs_sess *p, uint32_t behind)
{
	if (ncs_rep(p->s.rep)->has_key)
		ncs_greet(p, behind);
}

int ncs_misfit(const struct ncs_sess *p, char *why, size_t n)
{
	const struct ncs_rep *nr = ncs_rep(p->s.rep);

	if (!p->peer.met)
		return XK_OK;
	if (p->peer.version != NCS_VERSION)
		snprintf(why, n, "version %u here, %u there", NCS_VERSION, p->peer.version);
	else if (p->peer.ranks != 0 && nr->ranks != 0 && p->peer.ranks != nr->ranks)
		snprintf(why, n, "a job of %u ranks here, of %u there", nr->ranks, p->peer.ranks);
	else
		return XK_OK;
	return XK_E_NOTSUP;
}

uint32_t ncs_longest(const struct ncs_conn *c)
{
	uint32_t own = (uint32_t)ncs_conf(c->sess->s.rep)->message, there = c->peer->peer.met ? c->peer->peer.message : own;

	return there < own ? there : own;
}

/* ---- who lies above ---------------------------------------------------------------------------------------- */

void ncs_job_is(struct xk_rep *r, const struct ncs_job *j)
{
	struct ncs_rep *nr = ncs_rep(r);
	bool other = nr->jobs != 0 && (nr->rank != j->rank || nr->ranks != j->ranks);

	nr->jobs++;
	nr->rank = other ? NCS_NO_RANK : j->rank;        /* of several: of none */
	nr->ranks = other ? 0 : j->ranks;
}

void ncs_about(const struct ncs_conn *c, struct ncs_about *a)
{
	const struct ncs_peer *p = &c->peer->peer;

	*a = (struct ncs_about){ .known = p->met, .rank = p->met ? p->rank : NCS_NO_RANK,
				 .same_order = !p->met || p->order == order_here() };
}
