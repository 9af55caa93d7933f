/* SPDX-License-Identifier: BSD-2-Clause */
/* cc.h - lwIP's port to this harness: the host's C library, one thread. */
#ifndef XK_LWIP_CC_H
#define XK_LWIP_CC_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LWIP_ERRNO_STDINCLUDE 1
#define LWIP_PLATFORM_DIAG(x) do { printf x; } while (0)
#define LWIP_PLATFORM_ASSERT(x) do { \
	fprintf(stderr, "lwIP: %s %s:%d\n", x, __FILE__, __LINE__); abort(); } while (0)
#define LWIP_RAND() ((u32_t)rand())

typedef int sys_prot_t;

#endif
