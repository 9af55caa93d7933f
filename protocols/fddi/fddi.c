/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fddi.c - FDDI framing with LLC/SNAP (RFC 1390; IEEE 802.2 types 1, SNAP).
 *
 * A frame in memory starts with its frame control byte and has no preamble,
 * checksum or trailer: those are the device's.  Addresses are in canonical bit
 * order, as RFC 1390 wants them above the device.  Sessions and checks are
 * those of every link.  Left out: everything but unnumbered-information frames with
 * the SNAP header of encapsulated Ethernet (station management, LLC types 2
 * and 3, XID and TEST): dropped with a reason.
 */
#include "protocols/fddi/fddi_priv.h"

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_review.h"

/* ORDER FDDI_DROP: after LINK_DROPS */
enum { FDDI_DROP_BAD_FC = LINK_DROP_END, FDDI_DROP_BAD_LLC, FDDI_DROP_BAD_OUI };

/* ---- header -------------------------------------------------------------------- */

static void fddi_hdr_store(uint8_t *h, const uint8_t dst[6], const uint8_t src[6], uint16_t type)
{
	h[FDDI_FC] = FDDI_FC_LLC_ASYNC;
	memcpy(h + FDDI_DST, dst, 6);
	memcpy(h + FDDI_SRC, src, 6);
	memcpy(h + FDDI_LLC, fddi_llc_snap, 6);
	xk_put_be16(h + FDDI_TYPE, type);
}

static const struct link_frame fddi_frame = {
	.hdr_len = FDDI_HDR_LEN, .max_payload = FDDI_MAX_PAYLOAD, .store = fddi_hdr_store,
};

/* What is wrong with a header that is not ours; 0: nothing. */
static unsigned fddi_hdr_fault(const uint8_t *h)
{
	if ((h[FDDI_FC] & 0xf8) != FDDI_FC_LLC_ASYNC)
		return FDDI_DROP_BAD_FC;
	if (memcmp(h + FDDI_LLC, fddi_llc_snap, 3) != 0)
		return FDDI_DROP_BAD_LLC;
	return memcmp(h + FDDI_OUI, fddi_llc_snap + 3, 3) != 0 ? FDDI_DROP_BAD_OUI : 0;
}

/* ---- down path ------------------------------------------------------------------------ */

void fddi_push(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *h = xk_msg_push(&m, FDDI_HDR_LEN);

	if (h == NULL) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	memcpy(h, ((const struct link_sess *)s)->hdr, FDDI_HDR_LEN);
	xk_push(s->down, m);
}

/* ---- up path ---------------------------------------------------------------------------- */

void fddi_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint8_t *h = xk_msg_peek(&m, FDDI_HDR_LEN);
	uint64_t llc;
	struct xk_key k;

	if (XK_UNLIKELY(h == NULL)) {
		link_drop_short(r, m, FDDI_HDR_LEN);
		return;
	}
	llc = xk_raw64(h + FDDI_LLC);
	/* link_addr takes six of eight bytes, which leaves just the type out. */
	if (XK_UNLIKELY((h[FDDI_FC] & 0xf8) != FDDI_FC_LLC_ASYNC || link_addr(h + FDDI_LLC) != link_addr(fddi_llc_snap))) {
		xk_drop(r, fddi_hdr_fault(h), m);
		return;
	}
	if (XK_UNLIKELY(link_addr(h + FDDI_DST) != link_state(r)->own) && !link_accepts(r, h + FDDI_DST, m)) {
		xk_drop(r, LINK_DROP_NOT_FOR_US, m);
		return;
	}
	k = link_key(xk_raw64(h + FDDI_SRC), llc);
	link_deliver(r, lls, m, &k, h, FDDI_HDR_LEN);
}

/* ---- descriptor ---------------------------------------------------------------------------- */

static int fddi_rep_init(struct xk_rep *r)
{
	return link_rep_init(r, &fddi_frame);
}

static void fddi_review(const struct xk_view *v, struct xk_review *r)
{
	xk_review_link(r, v, XK_LINK_FDDI);
}

static const struct xk_ops fddi_ops = {
	.rep_init = fddi_rep_init, .rep_start = link_rep_start, .rep_stop = link_rep_stop,
	.open = link_open, .open_enable = link_open_enable, .open_disable = link_open_disable,
	.open_disable_all = link_open_disable_all, .close = link_close,
	.demux = XK_FAST(fddi_fast_demux, fddi_demux), .demux_batch = XK_FAST(fddi_fast_batch, NULL),
	.push = XK_FAST(fddi_fast_push, fddi_push), .pop = link_pop,
	.control = link_control, .sess_control = link_sess_control,
};

static const struct xk_param fddi_params[] = { LINK_PARAMS };
static const char *const fddi_drops[] = { LINK_DROPS, "bad_fc", "bad_llc", "bad_oui", NULL };
static const char *const fddi_counts[] = { LINK_COUNTS, NULL };

/* An LLC frame with SNAP and the OUI of Ethernet types (RFC 1390). */
static const struct xk_demux_field fddi_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0x70, .value = 0x50 },
	{ .role = XK_DX_GUARD, .width = 4, .off = 13, .value = 0xaaaa0300 },
	{ .role = XK_DX_GUARD, .width = 2, .off = 17, .value = 0 },
	{ .role = XK_DX_SELECT, .width = 2, .off = 19 },
	{ .role = XK_DX_END }
};
static const struct xk_demux fddi_decl = { .need = FDDI_HDR_LEN, .field = fddi_fields };

const struct xk_proto xk_proto_fddi = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "fddi", .doc = "FDDI framing with LLC/SNAP (RFC 1390) over a frame driver", .ops = &fddi_ops,
	.offers = "link", .needs = { "frame/fddi", NULL }, .min_down = 1, .max_down = 1,
	.params = fddi_params, .conf_size = sizeof(struct link_conf),
	.rep_size = sizeof(struct link_rep), .sess_size = sizeof(struct link_sess),
	.drops = fddi_drops, .counts = fddi_counts,
	.demux = &fddi_decl,
	.review = fddi_review,
};
