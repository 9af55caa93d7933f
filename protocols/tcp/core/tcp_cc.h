/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_cc.h - what congestion control policies share.
 */
#ifndef TCP_CC_H
#define TCP_CC_H

#include "protocols/tcp/core/tcp_core.h"

void tcp_cc_grow(struct tcp_cb *cb, uint32_t n);
/* Slow start for acked bytes; returns those that were counted and are left for
 * congestion avoidance.  Only below ssthresh. */
uint32_t tcp_cc_slow_start(struct tcp_cb *cb, uint32_t acked);
/* HyStart++'s part of it, while it is on: n, or what it leaves of it; may set ssthresh. */
uint32_t tcp_hystart_acked(struct tcp_cb *cb, uint32_t acked, uint32_t n);
/* FlightSize, never more than cwnd allowed. */
uint32_t tcp_cc_flight(const struct tcp_cb *cb);

void     tcp_cubic_init(struct tcp_cb *cb);
void     tcp_cubic_acked(struct tcp_cb *cb, const struct tcp_env *e, uint32_t acked);
uint32_t tcp_cubic_reduced(struct tcp_cb *cb, const struct tcp_env *e);
void     tcp_cubic_timeout(struct tcp_cb *cb, const struct tcp_env *e);
void     tcp_cubic_undo(struct tcp_cb *cb);
uint32_t tcp_cubic_keep(const struct tcp_cb *cb);
void     tcp_cubic_wake(struct tcp_cb *cb, uint32_t kept);

#endif
