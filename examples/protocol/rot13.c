/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rot13.c - a protocol outside the tree: a layer over any port that turns letters by 13 places, going down and
 * coming up.
 *
 * Both ends have it, so what comes up is what went down.  A layer without a map of its own stands on the virt_
 * functions and adds what is its own: push, pop and a counter.
 */
#include <xk/proto.h>

struct rot13_conf { struct virt_conf virt; };
enum { N_LETTERS = VIRT_COUNT_LINGERED + 1 };             /* as in rot13_counts */

static void turn(struct xk_rep *r, uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t small = p[i] | 0x20;

		if (small < 'a' || small > 'z')
			continue;
		p[i] = (uint8_t)(p[i] + (small < 'n' ? 13 : -13));
		xk_count(r->count[N_LETTERS]);
	}
}

/* Bytes may be shared with others, or lie in several pieces: they are made ours, and one piece. */
static struct xk_msg *turned(struct xk_rep *r, struct xk_msg *m)
{
	struct xk_msg *own = xk_msg_own(m);
	uint8_t *bytes = own != NULL ? xk_msg_peek(&own, own->tot) : NULL;

	if (bytes == NULL) {
		xk_drop(r, XK_DROP_NOMEM, own != NULL ? own : m);
		return NULL;
	}
	turn(r, bytes, own->tot);
	own->flags &= (uint8_t)~XK_MSG_CSUM;     /* that sum is of other bytes */
	return own;
}

static void rot13_push(struct xk_sess *s, struct xk_msg *m)
{
	m = turned(s->rep, m);
	if (m != NULL)
		xk_push(s->down, m);
}

static void rot13_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	m = turned(s->rep, m);
	if (m != NULL)
		xk_demux(s, m);
}

static const struct xk_ops rot13_ops = { VIRT_OPS, .rep_init = virt_rep_init, .push = rot13_push, .pop = rot13_pop };
static const struct xk_param rot13_params[] = { VIRT_PARAMS };
static const char *const rot13_drops[] = { VIRT_DROPS, NULL };
static const char *const rot13_counts[] = { VIRT_COUNTS, "letters", NULL };

static const struct xk_proto rot13 = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "rot13",
	.doc = "letters turned by 13 places", .ops = &rot13_ops,
	.offers = "port", .needs = { "port" }, .min_down = 1, .max_down = 1,
	.params = rot13_params, .conf_size = sizeof(struct rot13_conf), VIRT_SIZES,
	.drops = rot13_drops, .counts = rot13_counts, .anywhere = XK_ANYWHERE_AS_ABOVE,
};
XK_PLUGIN(&rot13);
