/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h - the frames of goal P13, the same for our classifier and for the
 * filters of others: Ethernet, IPv4, UDP with 64 bytes of payload, all of one
 * connection, which is the one that is looked for.
 */
#ifndef XK_PEER_FRAMES_H
#define XK_PEER_FRAMES_H

#include <stdint.h>
#include <string.h>

#define FRAMES_BURST  32u
#define FRAMES_LEN    106u
#define FRAMES_PLACE  192u               /* from one frame to the next: all sets of a cache are used */
#define FRAMES_SRC    0x0a000002u        /* 10.0.0.2 */
#define FRAMES_DST    0x0a000001u
#define FRAMES_SPORT  20000u
#define FRAMES_DPORT  9u

static inline void frames_be(uint8_t *p, unsigned bytes, uint32_t v)
{
	for (; bytes > 0; v >>= 8)
		p[--bytes] = (uint8_t)v;
}

/* FRAMES_LEN bytes from f on; connection 0 is the one above, others differ in
 * both ports. */
static inline void frames_make(uint8_t *f, unsigned connection)
{
	memset(f, 0, FRAMES_LEN);
	f[0] = f[6] = 2;
	f[5] = 1;
	f[11] = 2;
	frames_be(f + 12, 2, 0x0800);
	f[14] = 0x45;
	frames_be(f + 16, 2, FRAMES_LEN - 14);
	frames_be(f + 20, 2, 0x4000);            /* do not fragment */
	f[22] = 64;
	f[23] = 17;
	frames_be(f + 26, 4, FRAMES_SRC);
	frames_be(f + 30, 4, FRAMES_DST);
	frames_be(f + 34, 2, FRAMES_SPORT + connection % 1024);
	frames_be(f + 36, 2, FRAMES_DPORT + connection / 1024);
	frames_be(f + 38, 2, FRAMES_LEN - 34);
}

#endif
