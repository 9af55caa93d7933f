/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * eth.c - Ethernet II framing (RFC 894): destination, source, type.
 *
 * Sessions and checks are those of every link; here are the header and the two
 * paths.  Source and type lie side by side in the header, so the key of a
 * received frame is one load, and a prebuilt header is two stores.  Left out:
 * IEEE 802.3 length framing and VLAN tags (frames of unknown type, dropped).
 * Padding is the device's affair on the way down; on the way up it stays on
 * the message, for the length fields above to cut.
 */
#include "protocols/eth/eth_priv.h"

#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_review.h"

/* ---- header ---------------------------------------------------------------------- */

static void eth_hdr_store(uint8_t *h, const uint8_t dst[6], const uint8_t src[6], uint16_t type)
{
	memcpy(h, dst, 6);
	memcpy(h + 6, src, 6);
	xk_put_be16(h + 12, type);
}

static const struct link_frame eth_frame = {
	.hdr_len = ETH_HDR_LEN, .max_payload = ETH_MAX_PAYLOAD, .store = eth_hdr_store,
};

/* ---- down path ---------------------------------------------------------------------- */

void eth_push(struct xk_sess *s, struct xk_msg *m)
{
	uint8_t *h = xk_msg_push(&m, ETH_HDR_LEN);

	if (h == NULL) {
		xk_drop(s->rep, XK_DROP_NOMEM, m);
		return;
	}
	memcpy(h, ((const struct link_sess *)s)->hdr, ETH_HDR_LEN);
	xk_push(s->down, m);
}

/* ---- up path ------------------------------------------------------------------------ */

void eth_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint8_t *h = xk_msg_peek(&m, ETH_HDR_LEN);
	struct xk_key k;

	if (XK_UNLIKELY(h == NULL)) {
		link_drop_short(r, m, ETH_HDR_LEN);
		return;
	}
	if (XK_UNLIKELY(link_addr(h) != link_state(r)->own) && !link_accepts(r, h, m)) {
		xk_drop(r, LINK_DROP_NOT_FOR_US, m);
		return;
	}
	k.w[0] = xk_raw64(h + 6);
	k.w[1] = 0;
	link_deliver(r, lls, m, &k, h, ETH_HDR_LEN);
}

/* ---- descriptor ----------------------------------------------------------------------- */

static int eth_rep_init(struct xk_rep *r)
{
	return link_rep_init(r, &eth_frame);
}

static void eth_review(const struct xk_view *v, struct xk_review *r)
{
	xk_review_link(r, v, XK_LINK_ETH);
}

static const struct xk_ops eth_ops = {
	.rep_init = eth_rep_init, .rep_start = link_rep_start, .rep_stop = link_rep_stop,
	.open = link_open, .open_enable = link_open_enable, .open_disable = link_open_disable,
	.open_disable_all = link_open_disable_all, .close = link_close,
	.demux = XK_FAST(eth_fast_demux, eth_demux), .demux_batch = XK_FAST(eth_fast_batch, NULL),
	.push = XK_FAST(eth_fast_push, eth_push), .pop = link_pop,
	.control = link_control, .sess_control = link_sess_control,
};

static const struct xk_param eth_params[] = { LINK_PARAMS };
static const char *const eth_drops[] = { LINK_DROPS, NULL };
static const char *const eth_counts[] = { LINK_COUNTS, NULL };

/* Destination, source, type (RFC 894); a VLAN tag is a type that nobody has. */
static const struct xk_demux_field eth_fields[] = {
	{ .role = XK_DX_SELECT, .width = 2, .off = 12 },
	{ .role = XK_DX_END }
};
static const struct xk_demux eth_decl = { .need = ETH_HDR_LEN, .field = eth_fields };

const struct xk_proto xk_proto_eth = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "eth", .doc = "Ethernet II framing over a frame driver", .ops = &eth_ops,
	.offers = "link", .needs = { "frame/eth", NULL }, .min_down = 1, .max_down = 1,
	.params = eth_params, .conf_size = sizeof(struct link_conf),
	.rep_size = sizeof(struct link_rep), .sess_size = sizeof(struct link_sess),
	.drops = eth_drops, .counts = eth_counts,
	.demux = &eth_decl,
	.review = eth_review,
};
