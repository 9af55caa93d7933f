/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk.h - a conversation between two TCP stacks, the same one whatever the stack.
 *
 * The caller connects, sends `size` bytes of a stream that only its length decides,
 * ends its side, and compares every byte that comes back until the end of the other
 * side.  The answerer sends back what it gets.  So each transfer goes both ways at
 * once and neither side takes the other's word.  A stack is a table of calls with
 * the meaning of non-blocking BSD sockets; errors are negative errno values.
 */
#ifndef XK_TALK_H
#define XK_TALK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct talk_opts {
	const char *ifname;         /* of the TAP device */
	const char *addr;           /* ours, a.b.c.d/len */
	const char *kernel;         /* the kernel's side of the device, or NULL: it is set up already */
	const char *loss;           /* impairs our link, as a graph file says it, or NULL */
	const char *threading;      /* as a graph file says it */
	const char *tcp;            /* more parameters of tcp, as a graph file says them */
	const char *device;         /* ours, as a graph file says it, or NULL: a TAP device by the above */
};

#define TALK_IN  1
#define TALK_OUT 2

struct talk_stack {
	const char *name;
	int     (*up)(const struct talk_opts *o);
	int     (*down)(void);                          /* negative: something was not given back */
	int     (*connect)(uint32_t host, uint16_t port);       /* waits */
	int     (*listen)(uint16_t port);
	int     (*accept)(int fd);                      /* after TALK_IN */
	int     (*wait)(int fd, int events, int ms);    /* 0: time has passed */
	ssize_t (*send)(int fd, const void *buf, size_t n);
	ssize_t (*recv)(int fd, void *buf, size_t n);
	int     (*end)(int fd);                         /* no more from us */
	int     (*close)(int fd);
};

extern const struct talk_stack talk_stack;              /* the one that this program was made with */

#endif
