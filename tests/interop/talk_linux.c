/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk_linux.c - the host's own stack.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BSD(call) call
#include "tests/interop/talk_bsd.inc"

static int linux_up(const struct talk_opts *o)
{
	(void)o;
	return 0;
}

static int linux_down(void) { return 0; }

const struct talk_stack talk_stack = { .name = "linux", .up = linux_up, .down = linux_down, BSD_CALLS };
