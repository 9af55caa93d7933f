/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fast.h - what exists in TCP for speed alone, and all that other floors know of it.
 *
 *   tcp_predict.c     one segment up, as it was expected
 *   tcp_ack.c         an acknowledgement that ends nothing but waiting
 *   tcp_run.c         runs of segments up; what a driver may place
 *   tcp_push_quick.c  full segments down at once, pushed or written
 *
 * Each does what the plain way would have done, with fewer instructions.  A build without
 * them (--disable-fastpath) behaves the same: other floors name these in XK_FAST alone.
 */
#ifndef TCP_FAST_H
#define TCP_FAST_H

#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/upi/xk_batch.h"

/* The operations demux, demux_batch, push and write. */
void tcp_fast_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* Of one connection's segments those that are its next data, together. */
unsigned tcp_fast_batch(struct xk_up *up, struct xk_sess *lls, const struct xk_batch *f);
void tcp_fast_push(struct xk_sess *s, struct xk_msg *m);
uint32_t tcp_fast_write(struct xk_sess *s, const void *p, uint32_t n);
bool tcp_fast_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len, struct xk_payload *p);
/* Is m, its sum good, for ts and as predicted?  Then it is done with. */
bool tcp_fast_predicted(struct tcp_sess *ts, struct xk_msg *m);

/* ---- among themselves --------------------------------------------------------------- */

/* Any segment by itself; one that may be an acknowledgement and nothing else. */
void tcp_fast_one(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
void tcp_fast_ack(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* An ACK of new data, no larger than snd_max, in ca_state OPEN, without blocks: what
 * tcp_rec_ack and tcp_input_advance make of it.  False, and nothing has changed: it is for those. */
bool tcp_ack_quick(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a);

#endif
