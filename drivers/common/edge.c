/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge.c - the one session above an interface, and what the interface says of itself.
 *
 * Drivers differ in how frames come and go, not in this.
 * Invariant: buf is written only where len suffices.
 */
#include "drivers/common/edge.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_gives.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

struct xk_sess *xk_edge_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps, int *err)
{
	(void)ps;
	if (r->drv_sess != NULL) {
		*err = XK_E_BUSY;
		return NULL;
	}
	r->drv_sess = xk_sess_create(r, &rcv->up, type, NULL);
	if (r->drv_sess == NULL)
		*err = XK_E_NOMEM;
	return r->drv_sess;
}

void xk_edge_close(struct xk_sess *s)
{
	s->rep->drv_sess = NULL;
	xk_sess_destroy(s);
}

int xk_edge_control(struct xk_edge e, unsigned op, void *buf, unsigned len)
{
	switch (op) {
	case XK_CTL_GETMAXPACKET:
	case XK_CTL_GETOPTPACKET:
		return xk_answer(buf, len, &e.frame_max, sizeof e.frame_max);
	case XK_CTL_LINK_TYPE:
		return xk_answer(buf, len, &e.link, sizeof e.link);
	case XK_CTL_GETMYMAC:
		return xk_answer(buf, len, e.mac, 6);
	default:
		return XK_E_NOTSUP;
	}
}

uint32_t xk_edge_gives_own(const void *conf, uint32_t below)
{
	(void)conf;
	(void)below;
	return XK_GIVES_BOUNDARIES;
}

uint32_t xk_edge_gives_net(const void *conf, uint32_t below)
{
	return xk_edge_gives_own(conf, below) | XK_GIVES_SHARED;
}

int xk_edge_ask_eth(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	(void)v;
	return op == XK_CTL_LINK_TYPE ? xk_answer32(buf, len, XK_LINK_ETH) : XK_E_NOTSUP;
}

bool xk_edge_mac_fault(const uint8_t mac[6], char *why, size_t n)
{
	if ((mac[0] & 1) == 0)
		return false;
	snprintf(why, n, "mac is a group address (lowest bit of its first byte set): a station needs its own");
	return true;
}

/* ---- a CRC --------------------------------------------------------------------- */

/* Drivers of devices on a bus that a host makes for its guests: no cable, or one that they do not know of. */
static const char *const guests[] = { "virtio_net", "vmxnet3", "vif", "hv_netvsc", "xen_netfront" };

static bool is_hardware(const struct ethtool_drvinfo *d)
{
	static const char *const no_bus[] = { "", "tap", "tun", "N/A" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(no_bus); i++)
		if (strcmp(d->bus_info, no_bus[i]) == 0)
			return false;
	for (unsigned i = 0; i < XK_ARRAY_LEN(guests); i++)
		if (strcmp(d->driver, guests[i]) == 0)
			return false;
	return true;
}

bool xk_edge_crc_fault(int sock, const char *ifname, char *why, size_t n)
{
	struct ethtool_drvinfo d = { .cmd = ETHTOOL_GDRVINFO };
	struct ifreq r = { .ifr_data = (void *)&d };

	snprintf(r.ifr_name, sizeof r.ifr_name, "%s", ifname);
	if (ioctl(sock, SIOCETHTOOL, &r) == 0 && is_hardware(&d))
		return false;
	snprintf(why, n, "crc is true, but interface '%s' is no hardware (its driver: %s): nobody checks a CRC of its frames",
		 ifname, d.driver[0] != '\0' ? d.driver : "none");
	return true;
}
