/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fast.h - the quick ways of TCP: what exists for speed alone, and all that other floors
 * know of it.
 *
 *   tcp_ack.c   an acknowledgement that ends nothing but waiting
 *   tcp_run.c   runs of segments up; what a driver may place
 *
 * Each does what the plain way would have done, with fewer instructions.
 */
#ifndef TCP_FAST_H
#define TCP_FAST_H

#include "protocols/tcp/sess/tcp_sess.h"

/* A segment that may be an acknowledgement and nothing else. */
void tcp_ack_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m);
/* An ACK of new data, no larger than snd_max, in ca_state OPEN, without blocks: what
 * tcp_rec_ack and tcp_input_advance make of it.  False, and nothing has changed: it is for those. */
bool tcp_ack_quick(struct tcp_cb *cb, const struct tcp_env *e, uint32_t ack, struct tcp_acts *a);
/* Of one connection's segments those that are its next data, together. */
unsigned tcp_demux_frames(struct xk_up *up, struct xk_sess *lls, const struct xk_frames *f);
bool tcp_payload(const struct xk_sess *s, const uint8_t *frame, uint32_t len, struct xk_payload *p);

#endif
