/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs_answer.c - what a connection says by records: acknowledgements, credit, notes.
 *
 * Invariant: what a control reports is taken from it only while the connection goes on, and is said then.
 */
#include "protocols/ncs/ncs_priv.h"

#include <string.h>

void ncs_say_this_credit(struct ncs_conn *c, uint32_t value)
{
	xk_put_be32(ncs_say(c->peer, NCS_CREDIT, c->peer_id, 4), value);
}

void ncs_say_this_ack(struct ncs_conn *c, const struct ncs_ack *a)
{
	ncs_ack_store(ncs_say(c->peer, NCS_ACK, c->peer_id, NCS_ACK_LEN + a->nbits / 8u), a);
}

void ncs_say_credit(struct ncs_conn *c)
{
	uint32_t value;

	if (ncs_goes_on(c) && ncs_rx_credit(c->rx, &value))
		ncs_say_this_credit(c, value);
}

void ncs_say_ack(struct ncs_conn *c)
{
	struct ncs_ack a;

	if (ncs_goes_on(c) && ncs_rx_ack(c->rx, &a))
		ncs_say_this_ack(c, &a);
}

void ncs_say_notes(struct ncs_conn *c)
{
	const uint8_t *v;
	uint8_t *b;
	uint32_t no;

	while (ncs_goes_on(c) && (v = ncs_note_take(&c->notes, xk_vp_now(), &no)) != NULL) {
		b = ncs_say(c->peer, NCS_NOTE, c->peer_id, NCS_NOTE_REC);
		xk_put_be32(b, no);
		memcpy(b + 4, v, NCS_NOTE_LEN);
	}
}

void ncs_answer(struct ncs_conn *c)
{
	c->owes = false;
	c->held = 0;
	ncs_say_credit(c);
	ncs_say_ack(c);
}
