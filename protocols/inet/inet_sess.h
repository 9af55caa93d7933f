/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inet_sess.h - sessions over one session of a host below: their end, whom they join, and how
 * their protocol begins and ends.
 */
#ifndef INET_SESS_H
#define INET_SESS_H

#include "protocols/link/linger.h"

/* Operation `close`, and the end of a session that was not bound, or has nothing below. */
void inet_sess_free(struct xk_sess *s);
/* True when one more session fits below `most`: at the cap, the oldest that only lingers goes. */
bool inet_sess_room(struct xk_rep *r, uint64_t most, struct linger_list *l);
/* The two hosts of a session below. */
int  inet_sess_hosts(struct xk_sess *lls, uint32_t *remote, uint32_t *local);
/* Takes our ports off the participants; lport 0: any. */
int  inet_open_ports(struct xk_parts *ps, uint16_t *rport, uint16_t *lport);
/* Answers XK_CTL_GETPARTICIPANTS: those of the session below, with our ports. */
int  inet_participants(struct xk_sess *lls, uint16_t rport, uint16_t lport, void *buf, unsigned len);
/* What lies below has answered `res` with the most that it takes; a header of ours is part of
 * that. */
int  inet_less_header(int res, void *buf, uint32_t hdr_len);

/* Operations of a protocol that waits for everything that the one below has under its number,
 * and keeps no session below that a peer began. */
int  inet_start(struct xk_node *n, struct xk_errs *e);
void inet_stop(struct xk_node *n);
int  inet_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type);

#endif
