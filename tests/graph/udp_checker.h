/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_checker.h - an application that knows what every byte of every answer
 * must be, and a look at what passes a link.
 *
 * `checker` opens connections to an echo service and sends `count` messages on
 * each, the content made from connection and number; an answer is compared byte
 * by byte, on the virtual processor that the connection is mapped to.  What is
 * not answered in time is sent again, so a run ends when all have been answered.
 */
#ifndef UDP_CHECKER_H
#define UDP_CHECKER_H

#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_capture.h"

#define CHK_CONNS 512u
#define CHK_PORT  20000u                  /* own port of connection 0 */
#define CHK_VPS   512u
#define CHK_CLIENT 0x0a000001u            /* 10.0.0.1, and the echo service it asks */
#define CHK_SERVER 0x0a000002u

extern const struct xk_proto xk_proto_checker;

struct chk_conn {
	uint64_t sent, answered;          /* a bit for each message */
	uint64_t again, twice;            /* sent again; answered again */
	uint64_t wrong;                   /* answers with a wrong byte, length or number */
	uint64_t strayed;                 /* touched on another VP than the map's */
	/* Of what the drivers were given, from the link's header on, but for fragments: the client's in
	 * order, the server's in whatever order. */
	uint64_t digest[2];
	/* Where its frames passed: client, server; -1 none, -2 several.  On their way up
	 * only where they are classified at the device. */
	int      vp[2];
};
extern struct chk_conn chk_conn[CHK_CONNS];
/* All of count messages were answered, rightly and at home; also while duplicates still come. */
static inline bool chk_is_right(const struct chk_conn *k, unsigned count)
{
	return xk_load_relaxed(&k->answered) == ((uint64_t)1 << count) - 1 && xk_load_relaxed(&k->wrong) == 0 &&
	       xk_load_relaxed(&k->strayed) == 0;
}

/* Of a VP: the thread that last passed frames in the link, and in the application;
 * frames that have passed the link and not reached the application; how often the
 * scheduler ran something else meanwhile. */
struct chk_seen { int link, link_down, app, on_the_way; unsigned left_behind; } XK_ALIGNED;
extern struct chk_seen chk_seen[CHK_VPS];

void chk_reset(void);
/* Hung on a link node of the client (side 0) and the server (side 1). */
struct chk_tap {
	struct xk_capture c;
	struct xk_graph  *g;
	unsigned side, header;
	bool     late;                   /* no classifier at the device */
	xk_counter frames[CHK_VPS], away[CHK_VPS];
};
void chk_attach(struct chk_tap *t, struct xk_graph *g, const char *node, unsigned side, unsigned header);
uint64_t chk_frames(const struct chk_tap *t);    /* IP packets sent down */
uint64_t chk_away(const struct chk_tap *t);      /* datagrams that came up, away from home */
/* The VP of connection no at either side. */
unsigned chk_home(const struct xk_graph *g, unsigned side, unsigned no);
/* Do frames of this graph run where they arrive? */
bool chk_late(const struct xk_graph *g);
/* Sends message 0 of connection 0 again; to be run inside its VP. */
void chk_send_one(struct xk_vp *vp, void *arg);

#endif
