/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_record.h - a protocol's own events in the flight recorder (docs/recorder.md).
 *
 * For what is rare and explains what comes after it: a connection changes its state, a timer gives up, a peer breaks
 * a rule.  What each message does is not recorded: it would cost more than the message, and write over the rest.
 * Drops need no event, xk_drop and xk_dropped record them.
 */
#ifndef XK_RECORD_H
#define XK_RECORD_H

#include "runtime/upi/xk_proto.h"

/*
 * Event number `event` of proto->events has happened at r, with two words.  Inside the VP of r.  About 20 instructions,
 * no lock, no clock: its time is that of the VP's round.
 * The event's text says what the words are: each of these in it stands for the next word,
 *   {n} a number, {x} the same in hexadecimal, {t} ns as a time, {i} an IPv4 address in host order, {m} a station of 48 bits,
 *   {p} two ports in host order: from bit 16 on ours, below it the peer's.
 */
void xk_record(struct xk_rep *r, unsigned event, uint64_t a, uint64_t b);

#endif
