/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arp.c - address resolution (RFC 826, RFC 1122 2.3.2, RFC 5227) as a host link.
 *
 * A session stands for one host and one upper type.  Until the host's station
 * is known its push keeps a few messages and asks; then its push is one jump to
 * the link session of that station.  It stands on the down path only: enables
 * are passed to the link with the caller as receiver, so what is received
 * never comes here, but for ARP packets themselves (arp_input.c).
 *
 * The table is shared (arp_table.c); a session belongs to its VP.  When an
 * entry that sessions of some VP stand on changes, that VP gets one posted
 * call for any number of changes, and its sessions look again.
 */
#include "protocols/arp/arp_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/classify/xk_demux.h"
#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/vp/xk_call.h"

#include <string.h>

/* Changes are told by host; sessions are found by host and type. */
static int know_type(struct arp_rep *st, struct xk_node *type)
{
	for (unsigned i = 0; i < st->ntypes; i++)
		if (st->type[i] == type)
			return XK_OK;
	if (st->ntypes == ARP_TYPES_MAX)
		return XK_E_NOSPC;
	st->type[st->ntypes++] = type;
	return XK_OK;
}

/* ---- opening ---------------------------------------------------------------------------------- */

static bool can_be_reached(struct xk_node *n, uint32_t host)
{
	if (host >> 24 == 0 || host >> 24 == 127 || arp_own_find(n, host) != NULL)
		return false;
	return host < 0xf0000000u || host == UINT32_MAX;
}

static struct xk_sess *arp_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type,
				struct xk_parts *ps, int *err)
{
	struct xk_mapnode *node;
	struct xk_sess *s;
	struct xk_key k;
	uint32_t host;

	*err = XK_E_INVAL;
	if (ps == NULL || ps->n < 1 || xk_part_pop_host(&ps->p[XK_REMOTE], &host) != 0)
		return NULL;
	if (!can_be_reached(r->node, host))
		return NULL;
	*err = know_type(r->state, type);
	if (*err != XK_OK)
		return NULL;
	k = arp_key(host, type);
	node = xk_map_resolve(&r->active, &k);
	if (node == NULL)
		return arp_new(r, rcv, type, host, err);
	s = xk_container_of(node, struct xk_sess, map);
	if (xk_is_listed(&arp_sess(s)->left) && s->rcnt == 1)
		s->up = &rcv->up;
	if (s->up->rep == rcv)
		return s;
	*err = XK_E_BUSY;
	return NULL;
}

/* The up path goes by: the caller receives from the link. */
static int arp_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_enable(rcv, type, n->down[0], ps);
}

static int arp_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	return xk_open_disable(rcv, type, n->down[0], ps);
}

static void arp_open_disable_all(struct xk_node *n, struct xk_node *rcv)
{
	xk_open_disable_all(rcv, n->down[0]);
}

/* ---- changes of the table, told to this VP ------------------------------------------------- */

static void hosts_changed(struct xk_vp *vp, void *arg)
{
	struct xk_rep *r = arg;
	struct arp_rep *st = r->state;
	struct arp_table *t = r->node->state;
	uint32_t host[ARP_CHANGED_MAX];
	unsigned n;
	bool all, claims;

	(void)vp;
	xk_mutex_lock(&t->lock);
	n = st->nchanged;
	memcpy(host, st->changed, n * sizeof(host[0]));
	all = st->overflow;
	st->nchanged = 0;
	claims = st->claims;
	st->overflow = st->posted = st->claims = false;
	xk_mutex_unlock(&t->lock);
	if (claims && st->bcast != NULL)
		xk_timer_set(r->wheel, &st->claim, xk_vp_now());
	for (unsigned i = 0; i < n; i++)
		arp_host_changed(r, host[i]);
	if (all)
		arp_all_changed(r);
}

/* ---- control ------------------------------------------------------------------------------------ */

static int arp_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	struct arp_table *t = r->node->state;
	uint32_t addr;
	int err;

	switch (op) {
	case ARP_CTL_ADD_ADDR:
		return len < sizeof(struct arp_addr) ? XK_E_INVAL : arp_own_add(r->node, buf);
	case XK_CTL_ISLOCAL:
		err = xk_take(&addr, sizeof addr, buf, len);
		return err != XK_OK ? err : arp_own_find(r->node, addr) != NULL;
	case XK_CTL_GETMAXSUPER:
		return xk_control(r->down[0], op, buf, len);
	case XK_CTL_GETMYHOST:
		return xk_load_acquire(&t->nown) == 0 ? XK_E_ADDRNOTAVAIL :
		       xk_answer(buf, len, &t->own[0].addr, sizeof(uint32_t));
	default:
		return XK_E_NOTSUP;
	}
}

static int participants(struct xk_sess *s, void *buf, unsigned len)
{
	struct xk_parts ps;
	uint32_t own;

	xk_parts_init(&ps, 2);
	(void)xk_part_push_host(&ps.p[XK_REMOTE], arp_sess(s)->host);
	if (arp_control(s->rep, XK_CTL_GETMYHOST, &own, sizeof(own)) == sizeof(own))
		(void)xk_part_push_host(&ps.p[XK_LOCAL], own);
	else
		(void)xk_part_push_any(&ps.p[XK_LOCAL]);
	return xk_answer(buf, len, &ps, sizeof ps);
}

static int arp_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETPEERHOST:
		return xk_answer(buf, len, &arp_sess(s)->host, sizeof(uint32_t));
	case XK_CTL_GETPARTICIPANTS:
		return participants(s, buf, len);
	case XK_CTL_REACHED:
		if (arp_sess(s)->state != ARP_S_FIXED && s->down != NULL)
			arp_reached(s->rep, arp_sess(s)->host, arp_sess(s)->mac);
		return 0;
	case XK_CTL_DOUBT:
		if (arp_sess(s)->state != ARP_S_FIXED && s->down != NULL)
			arp_doubt(s->rep, arp_sess(s)->host, arp_sess(s)->mac);
		return 0;
	default:
		return arp_control(s->rep, op, buf, len);
	}
}

/* ---- life ------------------------------------------------------------------------------------------- */

static int arp_start(struct xk_node *n, struct xk_errs *e)
{
	struct arp_table *t = n->state;
	struct xk_parts ps;
	int err;

	if (((const struct arp_conf *)n->conf)->probe)
		t->nbeside = xk_node_beside(n, t->beside, ARP_BESIDE_MAX);
	xk_parts_init(&ps, 0);
	err = xk_open_enable(n, n, n->down[0], &ps);
	if (err < 0)
		xk_errs_add(e, n->file, n->line, 0, "%s: %s below already has somebody for ARP packets: %s",
			    n->name, n->down[0]->name, xk_strerror(err));
	return err;
}

static void arp_stop(struct xk_node *n)
{
	xk_open_disable_all(n, n->down[0]);
}

static int arp_rep_init(struct xk_rep *r)
{
	struct arp_rep *st = r->state;

	st->call.fn = hosts_changed;
	st->call.arg = r;
	xk_timer_init(&st->claim, arp_claim);
	return XK_OK;
}

static int arp_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	static const uint8_t everybody[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	const struct arp_conf *c = r->conf;
	struct arp_rep *st = r->state;
	struct xk_parts ps;
	int err;

	if (xk_control(r->down[0], XK_CTL_GETMYMAC, st->mac, 6) != 6) {
		xk_errs_add(e, r->node->file, r->node->line, 0, "%s: %s below has no station address",
			    r->node->name, r->node->down[0]->name);
		return XK_E_NODEV;
	}
	xk_parts_init(&ps, 1);
	(void)xk_part_push_mac(&ps.p[XK_REMOTE], everybody);
	st->bcast = xk_open(r, r->node, r->down[0], &ps, &err);
	if (st->bcast == NULL)
		return err;
	/* One replica speaks for the node. */
	if ((c->probe || c->announce) && r == r->node->rep[0])
		xk_timer_set(r->wheel, &st->claim, xk_vp_now());
	return XK_OK;
}

static void arp_rep_stop(struct xk_rep *r)
{
	struct arp_rep *st = r->state;

	xk_timer_cancel(r->wheel, &st->claim);
	while (st->nleft != 0)
		arp_give_up_left(st);
	if (st->bcast != NULL)
		xk_close(st->bcast);
	st->bcast = NULL;
}

/* ---- descriptor ---------------------------------------------------------------------------------------- */

static const struct xk_ops arp_ops = {
	.init = arp_table_init, .fini = arp_table_fini, .rep_init = arp_rep_init,
	.start = arp_start, .stop = arp_stop, .rep_start = arp_rep_start, .rep_stop = arp_rep_stop,
	.open = arp_open, .open_enable = arp_open_enable, .open_disable = arp_open_disable,
	.open_disable_all = arp_open_disable_all, .close = arp_close,
	.demux = arp_demux, .control = arp_control, .sess_control = arp_sess_control,
};

/* ORDER ARP_DEFEND */
static const char *const arp_defends[] = { "always", "once", "never", NULL };
/* ORDER ARP_CONFLICT */
static const char *const arp_conflicts[] = { "end", "quiet", NULL };

static const struct xk_param arp_params[] = {
	{ .name = "addresses", .type = XK_P_LIST, .elem = XK_P_CIDR,
	  .doc = "addresses answered for, besides those that the protocol above tells",
	  .offset = offsetof(struct arp_conf, addresses) },
	{ .name = "neighbours", .type = XK_P_MAP, .key = XK_P_IPV4, .elem = XK_P_MAC,
	  .doc = "static entries: host to station; never aged, never changed",
	  .offset = offsetof(struct arp_conf, neighbours) },
	{ .name = "cap", .type = XK_P_UINT, .def = "1024", .min = "1", .max = "1048576",
	  .doc = "most entries, static ones not counted; the least recently used goes",
	  .offset = offsetof(struct arp_conf, cap) },
	{ .name = "timeout", .type = XK_P_TIME, .def = "20m", .min = "1s", .max = "24h",
	  .doc = "age of an entry at which everybody is asked at its next use, without delay",
	  .offset = offsetof(struct arp_conf, timeout) },
	{ .name = "reachable", .type = XK_P_TIME, .def = "30s", .min = "1s", .max = "24h",
	  .doc = "how long an entry holds without being confirmed, if it is used: half to one and a half times this",
	  .offset = offsetof(struct arp_conf, reachable) },
	{ .name = "delay", .type = XK_P_TIME, .def = "5s", .min = "0s", .max = "1m",
	  .doc = "time from the first use after that to the first probe",
	  .offset = offsetof(struct arp_conf, delay) },
	{ .name = "probes", .type = XK_P_UINT, .def = "3", .min = "0", .max = "20",
	  .doc = "requests to the station of such an entry before everybody is asked",
	  .offset = offsetof(struct arp_conf, probes) },
	{ .name = "retry", .type = XK_P_TIME, .def = "1s", .min = "1s", .max = "1m",
	  .doc = "time between requests for one host",
	  .offset = offsetof(struct arp_conf, retry) },
	{ .name = "tries", .type = XK_P_UINT, .def = "3", .min = "1", .max = "20",
	  .doc = "requests before a host counts as unreachable",
	  .offset = offsetof(struct arp_conf, tries) },
	{ .name = "fail", .type = XK_P_TIME, .def = "5s", .min = "0s", .max = "10m",
	  .doc = "how long messages to an unreachable host are dropped without asking",
	  .offset = offsetof(struct arp_conf, fail) },
	{ .name = "queue", .type = XK_P_UINT, .def = "128", .min = "1", .max = "1024",
	  .doc = "messages kept per host and virtual processor while it is asked for; the oldest goes",
	  .offset = offsetof(struct arp_conf, queue) },
	{ .name = "learn", .type = XK_P_BOOL, .def = "true",
	  .doc = "learn from requests to us and from changes that neighbours announce",
	  .offset = offsetof(struct arp_conf, learn) },
	{ .name = "announce", .type = XK_P_BOOL, .def = "false",
	  .doc = "announce our addresses at start, twice (RFC 5227)",
	  .offset = offsetof(struct arp_conf, announce) },
	{ .name = "probe", .type = XK_P_BOOL, .def = "false",
	  .doc = "ask for our addresses before they are used, 4 to 7 s, and announce them (RFC 5227)",
	  .offset = offsetof(struct arp_conf, probe) },
	{ .name = "defend", .type = XK_P_ENUM, .def = "always", .choices = arp_defends,
	  .doc = "an address of ours that another station claims is defended each 10 s at most, given up at the "
		 "second claim within 10 s, or at the first (RFC 5227 2.4)",
	  .offset = offsetof(struct arp_conf, defend) },
	{ .name = "conflict", .type = XK_P_ENUM, .def = "end", .choices = arp_conflicts,
	  .doc = "when an address is lost the run ends, or goes on and this node sends nothing any more",
	  .offset = offsetof(struct arp_conf, conflict) },
	XK_PARAM_END
};

/* ORDER ARP_DROP */
static const char *const arp_drops[] = {
	"short", "bad_htype", "bad_ptype", "bad_hlen", "bad_plen", "bad_op", "bad_sender_mac",
	"bad_sender_ip", "own_echo", "conflict", "queue_full", "unreachable", "closed", "address_lost", NULL
};
/* ORDER ARP_COUNT */
static const char *const arp_counts[] = {
	"requests_in", "replies_in", "requests_out", "replies_out", "learned", "refreshed",
	"changed", "ignored", "conflicts", "defended", "evicted", "failed", "probes_out",
	"reached", "contested",
	"doubted", "address_probes_out", "addresses_lost", NULL
};
/* ORDER ARP_EV */
static const char *const arp_events[] = { "{i} is at {m}", "nobody says to be {i}, asked {n} times", NULL };
static const struct xk_number arp_numbers[] = { { "link", 0x0806 }, { NULL, 0 } };

/* Datagrams of hosts pass through; requests and replies, which have no conversation, stay
 * where nothing is known. */
static const struct xk_demux arp_decl = { .through = true };

/* What waits for an address may go. */
static uint32_t arp_gives(const void *conf, uint32_t below)
{
	(void)conf;
	return below & ~XK_GIVES_RELIABLE;
}

const struct xk_proto xk_proto_arp = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "arp", .doc = "address resolution: hosts over a link of stations", .ops = &arp_ops,
	.offers = "hostlink", .needs = { "link", NULL }, .min_down = 1, .max_down = 1,
	.numbers = arp_numbers, .params = arp_params, .conf_size = sizeof(struct arp_conf),
	.node_size = sizeof(struct arp_table), .rep_size = sizeof(struct arp_rep),
	.sess_size = sizeof(struct arp_sess), .drops = arp_drops, .counts = arp_counts, .events = arp_events,
	.demux = &arp_decl, .gives = arp_gives,
};
