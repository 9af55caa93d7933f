/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto_doubles.h - what the fixture of protocols asks its doubles for.
 */
#ifndef PROTO_DOUBLES_H
#define PROTO_DOUBLES_H

#include "tests/protocols/proto_fixture.h"

/* What a node, which is one of the doubles, has kept. */
struct pf_recs *pf_recs_of(struct xk_node *n);
void pf_recs_clear(struct pf_recs *rs);
/* The session of a pf_hostlink for this host and number, made now where there was none;
 * NULL: it is refused, or memory is out. */
struct xk_sess *pf_hostlink_sess(struct xk_rep *r, uint32_t host, uint32_t number);

#endif
