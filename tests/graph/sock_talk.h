/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_talk.h - talkers: sockets of a program that are busy, come and go, and miss nothing.
 *
 * A talker has both ends of what it does, a client's socket and a server's that sends back what comes, and is one
 * thread's at a time.  Bytes of a stream are a pattern, of which none may lack or be another; datagrams are numbered,
 * of which each is answered once.  Some talkers close all they have after so much, names they wait at, too, and open
 * it anew.
 *
 *   talk_turn    does what can be done without waiting
 *   talk_thread  turns, and waits with xk_sock_poll, until talk_over and nothing is under way
 */
#ifndef SOCK_TALK_H
#define SOCK_TALK_H

#include "protocols/sock/xk_sock.h"

#include <stdbool.h>

#define TALK_CLIENT 0x0a000001u
#define TALK_SERVER 0x0a000002u
#define TALKERS     8u
#define TALK_BUF    4096u
#define TALK_WINDOW 4u                   /* datagrams that wait for their answers */

struct talker {
	unsigned no;
	int      type;                   /* XK_SOCK_* */
	uint64_t limit;                  /* bytes or datagrams, then all is closed and opened anew; 0: never */
	struct xk_node *client, *server;
	int      listener, c, s;         /* 0: none */
	uint16_t port;
	bool     connected;
	/* Of what is open. */
	uint64_t sent, got, echoed;
	size_t   held;                   /* read by the server, not sent back yet */
	uint8_t  buf[TALK_BUF];
	uint64_t slot[TALK_WINDOW];      /* numbers that wait, 0: none; from 1 on */
	/* Of all, read by anybody. */
	uint64_t total, rounds, wrong;
	int      failed;                 /* XK_E_* of a call that should not have failed */
};

extern struct talker talker[TALKERS];
extern uint32_t talk_over;

/* Streams and datagrams, steady and not, between two nodes. */
void  talk_begin(struct xk_node *client, struct xk_node *server);
bool  talk_turn(struct talker *t);
void *talk_thread(void *t);
/* Nothing is under way, and nothing will be. */
bool  talk_is_over(const struct talker *t);
void  talk_end(struct talker *t);

#endif
