/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_ebpf.h - the pattern as eBPF programs that steer frames inside the kernel.
 *
 * The instructions are assembled here from the pattern, so no compiler is needed where the
 * graph runs.  A program decides as the runtime does: a connection found in the map of flows
 * goes to its VP, another one and a datagram's fragments to the VP of their hash, and what the
 * pattern does not know to VP 0.  Steering is a service, not a promise: the runtime classifies
 * again what it receives, so a frame on the wrong socket costs a hand-over and nothing else.
 *
 * Every function fails with a sentence in `log`; where the verifier refused a program, with the
 * verifier's own last lines.  Built without libbpf they fail with XK_E_NOTSUP.
 * Control path: any thread, but one at a time for one map of flows.
 */
#ifndef XK_EBPF_H
#define XK_EBPF_H

#include <stdio.h>
#include <string.h>

#include "runtime/classify/xk_classify.h"

/*
 * Program for a network device (XDP): redirects each frame to entry `queue * nvps + VP` of the
 * XSKMAP, as a socket takes frames of one queue alone, and leaves it to the kernel where no socket
 * is in that entry.  xskmap_fd -1: returns the VP
 * instead, for tests and measurements.  flows_fd -1: all by their hash.  Returns a descriptor.
 */
int xk_pattern_xdp(const struct xk_pattern *p, unsigned nvps, int xskmap_fd, int flows_fd, char *log, size_t loglen);

/*
 * Program for PACKET_FANOUT_EBPF: returns the VP, which is the socket's place in the group.  A
 * frame whose VLAN tag the device has taken off belongs to no pattern, and only the part of a
 * header that lies in the socket buffer's linear memory is seen.  Returns a descriptor.
 */
int xk_pattern_fanout(const struct xk_pattern *p, unsigned nvps, int flows_fd, char *log, size_t loglen);

/* ---- exact flows for these programs -------------------------------------------------------- */

/* A hash map from flow keys to VPs; its descriptor, to be closed.  `most` flows fit. */
int  xk_ebpf_flows_new(uint32_t most, char *log, size_t loglen);
/* XK_E_NOSPC: full, the connection's frames go by their hash. */
int  xk_ebpf_flows_set(int flows_fd, const struct xk_flowkey *k, uint16_t vp);
/* XK_E_NOENT: was not there. */
int  xk_ebpf_flows_drop(int flows_fd, const struct xk_flowkey *k);

/* A map that follows a flow table: it has the connections that are bound to another VP than
 * their hash's, as soon as they are bound, until they are unbound. */
struct xk_ebpf_flows {
	struct xk_flow_watch watch;
	struct xk_flowtab   *tab;        /* NULL: follows none */
	int      fd;                     /* -1: no map */
	/* Under the table's lock.  Those that the map did not take go by their hash. */
	uint64_t set, dropped, refused;
};
/* tab outlives it.  On failure fd is -1 and unfollow does nothing. */
int  xk_ebpf_follow(struct xk_ebpf_flows *f, struct xk_flowtab *tab, uint32_t most, char *log, size_t loglen);
void xk_ebpf_unfollow(struct xk_ebpf_flows *f);

/* ---- batches of frames that lie in memory ----------------------------------------------------- */

enum xk_ebpf_kind {
	XK_EBPF_XDP,
	XK_EBPF_FANOUT,
	XK_EBPF_ARENA,
	XK_EBPF_CONTEXT,
};

/*
 * A program that decides about up to `slots` frames in one call, with memory of its own: a BPF
 * arena (XK_EBPF_ARENA), or where the kernel has none the context buffer (XK_EBPF_CONTEXT, 32
 * frames at most).  Owned by one thread at a time.  p outlives it.
 */
struct xk_ebpf {
	uint8_t *slot;               /* the first: struct xk_ebpf_slot */
	uint32_t stride, skip, window;   /* from slot to slot; of a frame: bytes not in a slot, bytes behind them that are */
	/* Private from here on. */
	const struct xk_pattern *p;
	enum xk_ebpf_kind kind;
	int      map_fd, prog_fd;
	unsigned slots, insns;
	size_t   bytes;              /* of mem; it is mapped where kind is XK_EBPF_ARENA */
	uint8_t *mem;
};
int  xk_ebpf_open(struct xk_ebpf **e, const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned slots, char *why,
		  size_t whylen);
void xk_ebpf_close(struct xk_ebpf *e);                       /* NULL is legal */
unsigned xk_ebpf_slots(const struct xk_ebpf *e);

/*
 * Frames into slots 0 to n - 1, one call for all, verdicts out: the same frames again.  A slot is
 * a verdict, the frame's whole length, and `window` of its bytes: whole cache lines.
 */
struct xk_ebpf_slot {
	struct xk_pat_verdict v;     /* its kind may be XK_EBPF_ASK: look at the frame itself */
	uint32_t len, pad;
	uint8_t  frame[];
};
_Static_assert(sizeof(struct xk_ebpf_slot) == 32, "a slot's frame is aligned");
#define XK_EBPF_ASK 0xffu

static inline struct xk_ebpf_slot *xk_ebpf_slot(const struct xk_ebpf *e, unsigned i)
{
	return (struct xk_ebpf_slot *)(void *)(e->slot + (size_t)i * e->stride);
}

static inline void xk_ebpf_put(const struct xk_ebpf *e, unsigned i, const uint8_t *frame, uint32_t len)
{
	struct xk_ebpf_slot *s = xk_ebpf_slot(e, i);

	s->len = len;
	if (XK_UNLIKELY(len < e->skip + e->window)) {
		if (len > e->skip)
			memcpy(s->frame, frame + e->skip, len - e->skip);
		return;
	}
	memcpy(s->frame, frame + e->skip, 32);
	for (uint32_t at = 32; at < e->window; at += 32)
		memcpy(s->frame + at, frame + e->skip + at, 32);
}

bool xk_ebpf_call(struct xk_ebpf *e, unsigned n);            /* false: the kernel would not */

/* Valid until the slot is put to other use. */
static inline const struct xk_pat_verdict *xk_ebpf_verdict(const struct xk_ebpf *e, unsigned i, const uint8_t *frame,
							   uint32_t len)
{
	struct xk_ebpf_slot *s = xk_ebpf_slot(e, i);

	if (XK_UNLIKELY(s->v.kind == XK_EBPF_ASK))
		xk_pattern_match(e->p, frame, len, &s->v);
	return &s->v;
}

/* The program, one instruction a line.  Needs neither privilege nor libbpf.  Returns how many
 * instructions, or a negative error with a sentence in why. */
int xk_ebpf_print(const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned nvps, FILE *f, char *why, size_t whylen);

#endif
