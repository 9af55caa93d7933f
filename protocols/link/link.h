/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link.h - a link whose stations have 48-bit addresses and whose frames
 * name the protocol above by a 16-bit type: what Ethernet and FDDI share.
 *
 * Shared are sessions (by type and remote station), enables (by type), the
 * passive open, address checks, control and parameters.  A protocol adds its
 * header: how to prebuild it, and a demux that finds the fields and falls back
 * on link_accepts and link_miss.
 *
 * A session of a single station is bound under {source and type as they follow
 * each other in an Ethernet header}; one of a group (broadcast, multicast) is
 * bound where no received frame looks: it only sends.
 * Invariant: no session has our own or a group address as a received source.
 */
#ifndef LINK_H
#define LINK_H

#include <endian.h>
#include <string.h>

#include "protocols/link/linger.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/vp/xk_call.h"

#define LINK_HDR_ROOM 24

struct link_conf { bool promiscuous; uint64_t sessions; uint64_t linger; };

/* How a link's header is made. */
struct link_frame {
	uint32_t   hdr_len;
	uint32_t   max_payload;     /* by the standard; the device may allow less */
	void     (*store)(uint8_t *hdr, const uint8_t dst[6], const uint8_t src[6], uint16_t type);
};

struct link_sess {
	struct xk_sess s;
	uint8_t  hdr[LINK_HDR_ROOM];
	uint8_t  peer[6];
	uint16_t number;
	struct linger_entry linger;
};

/* State of a replica. */
struct link_rep {
	uint64_t                 own;       /* our address by link_addr */
	const struct link_frame *frame;
	struct xk_sess          *drv;       /* the driver's session, NULL before start and after stop */
	uint8_t                  mac[6];
	uint32_t                 purge_posted;
	struct xk_call           purge;     /* an enable has gone */
	struct linger_list       linger;
};

/* ORDER LINK_DROP: link_drops; FDDI appends its own. */
enum {
	LINK_DROP_SHORT = XK_DROP_FIRST,
	LINK_DROP_NOT_FOR_US,
	LINK_DROP_UNKNOWN_TYPE,
	LINK_DROP_OWN_SOURCE,
	LINK_DROP_BAD_SOURCE,
	LINK_DROP_REFUSED,
	LINK_DROP_SESSION_CAP,
	LINK_DROP_END
};
#define LINK_DROPS "short", "not_for_us", "unknown_type", "own_source", "bad_source", \
	"refused", "session_cap"

/* ORDER LINK_COUNT */
enum { LINK_COUNT_PASSIVE, LINK_COUNT_LINGERED };
#define LINK_COUNTS "passive_opens", "lingered"

#define LINK_PARAMS \
	{ .name = "promiscuous", .type = XK_P_BOOL, .def = "false", \
	  .doc = "take frames addressed to other stations too", \
	  .offset = offsetof(struct link_conf, promiscuous) }, \
	{ .name = "sessions", .type = XK_P_UINT, .def = "4096", .min = "1", .max = "1048576", \
	  .doc = "most lingering passive sessions per virtual processor", \
	  .offset = offsetof(struct link_conf, sessions) }, \
	{ .name = "linger", .type = XK_P_TIME, .def = "60s", .min = "10ms", .max = "1h", \
	  .doc = "how long a passive session that nobody holds lives", \
	  .offset = offsetof(struct link_conf, linger) }, \
	XK_PARAM_END

/* ---- the operations that both links install --------------------------------------- */

int  link_rep_init(struct xk_rep *r, const struct link_frame *f);
int  link_rep_start(struct xk_rep *r, struct xk_errs *e);
void link_rep_stop(struct xk_rep *r);
struct xk_sess *link_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
			  struct xk_parts *ps, int *err);
int  link_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
int  link_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps);
void link_open_disable_all(struct xk_node *n, struct xk_node *rcv);
void link_close(struct xk_sess *s);
int  link_control(struct xk_rep *r, unsigned op, void *buf, unsigned len);
int  link_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len);

/* ---- the slow halves of demux -------------------------------------------------------- */

/* The destination is not our station: true when the frame is for us all the
 * same (group address, promiscuous); marks m. */
bool link_accepts(struct xk_rep *r, const uint8_t *dst, struct xk_msg *m);
/* No session for key k: checks the source, opens passively.  NULL: *reason
 * says why the frame is to be dropped. */
struct xk_sess *link_miss(struct xk_rep *r, struct xk_sess *lls, const struct xk_key *k, unsigned *reason);
/* Frames that are too short, or long ones while memory is out. */
void link_drop_short(struct xk_rep *r, struct xk_msg *m, uint32_t hdr_len);

/* ---- addresses and keys: the only code that knows how they lie in a register ----------- */

/* The address at p, comparable; reads two bytes past it. */
static inline uint64_t link_addr(const uint8_t *p)
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
	return xk_raw64(p) << 16;
#else
	return xk_raw64(p) >> 16;
#endif
}

/* Key of the source in the first six bytes of src8 and the type in the last two
 * of type8. */
static inline struct xk_key link_key(uint64_t src8, uint64_t type8)
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
	const uint64_t type_mask = 0xffff000000000000u;
#else
	const uint64_t type_mask = 0xffffu;
#endif
	return (struct xk_key){ { (src8 & ~type_mask) | (type8 & type_mask), 0 } };
}

static inline struct link_rep *link_state(const struct xk_rep *r)
{
	return r->state;
}

static inline void link_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	xk_demux(s, m);
}

/*
 * The common end of both demuxes, header already verified: the session by key,
 * on a miss a passive one; the header goes, the message rises.
 */
static inline void link_deliver(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m,
				const struct xk_key *k, uint8_t *h, uint32_t hdr_len)
{
	struct xk_sess *s = xk_find(r, m, k);
	unsigned reason;

	if (XK_UNLIKELY(s == NULL)) {
		s = link_miss(r, lls, k, &reason);
		if (s == NULL) {
			xk_drop(r, reason, m);
			return;
		}
	}
	xk_msg_pop(m, hdr_len);
	xk_pop(s, lls, m, h);
}

#endif
