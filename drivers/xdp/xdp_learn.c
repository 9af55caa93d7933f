/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_learn.c - what the interface is like: its queues, MTU and address.
 *
 * Everything is asked of the kernel by the interface's name, in its namespace; a
 * question that its driver does not answer has a safe answer of our own.
 * Invariant: nothing is changed at the interface but that it is brought up.
 */
#include "drivers/common/edge.h"
#include "drivers/xdp/xdp_priv.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define ETH_HEADER   14u
#define VLAN_TAG     4u
#define KERNEL_SPACE 256u         /* that XDP keeps free before a frame */

int xdp_fail(int err, const char *what, const char *of, char *why, size_t n)
{
	if (err == -EPERM || err == -EACCES)
		snprintf(why, n, "%s%s: not permitted: needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF (run as root)", what, of);
	else
		snprintf(why, n, "%s%s: %s", what, of, strerror(-err));
	return err;
}

static int ask(const struct xdp_dev *d, int sock, unsigned long op, void *data)
{
	struct ifreq r = { .ifr_flags = 0 };
	int res;

	memcpy(r.ifr_name, d->ifname, sizeof d->ifname);
	if (op == SIOCETHTOOL)
		r.ifr_data = data;
	else if (op == SIOCSIFFLAGS)
		r.ifr_flags = *(short *)data;
	res = ioctl(sock, op, &r);
	if (res == 0 && op != SIOCETHTOOL)
		memcpy(data, op == SIOCGIFHWADDR ? (void *)r.ifr_hwaddr.sa_data : (void *)&r.ifr_flags,
		       op == SIOCGIFHWADDR ? 6 : op == SIOCGIFMTU ? sizeof(int) : sizeof(short));
	return res == 0 ? 0 : -errno;
}

static unsigned count_queues(const struct xdp_dev *d, int sock)
{
	struct ethtool_channels ch = { .cmd = ETHTOOL_GCHANNELS };

	if (ask(d, sock, SIOCETHTOOL, &ch) != 0 || ch.rx_count + ch.combined_count == 0)
		return 1;
	return ch.rx_count + ch.combined_count;
}

static int choose_queues(struct xdp_dev *d, const struct xdp_conf *c, int sock, char *why, size_t n)
{
	unsigned has = count_queues(d, sock);

	d->first_queue = (unsigned)c->queue;
	if (d->first_queue >= has) {
		snprintf(why, n, "%s has %u receive queues, from 0: there is no queue %u", d->ifname, has, d->first_queue);
		return XK_E_RANGE;
	}
	d->nqueues = c->queues ? (unsigned)c->queues : has - d->first_queue;
	if (d->nqueues > has - d->first_queue) {
		snprintf(why, n, "%s has %u receive queues, %u from queue %u on, not %u", d->ifname, has,
			 has - d->first_queue, d->first_queue, d->nqueues);
		return XK_E_RANGE;
	}
	return XK_OK;
}

static int choose_frame_size(struct xdp_dev *d, char *why, size_t n)
{
	uint32_t needs = d->mtu + ETH_HEADER + VLAN_TAG + KERNEL_SPACE;

	if (needs > 4096) {
		snprintf(why, n, "%s has an MTU of %u, and a frame of AF_XDP holds %u: ip link set dev %s mtu 1500",
			 d->ifname, d->mtu, 4096 - ETH_HEADER - VLAN_TAG - KERNEL_SPACE, d->ifname);
		return XK_E_MSGSIZE;
	}
	d->frame_size = needs <= 2048 ? 2048 : 4096;
	return XK_OK;
}

static int bring_up(struct xdp_dev *d, int sock, char *why, size_t n)
{
	short flags = 0;
	int err = ask(d, sock, SIOCGIFFLAGS, &flags);

	if (err == 0 && !(flags & IFF_UP)) {
		flags |= IFF_UP;
		err = ask(d, sock, SIOCSIFFLAGS, &flags);
	}
	return err == 0 ? XK_OK : xdp_fail(err, "cannot bring up ", d->ifname, why, n);
}

/* The graph goes on with what it was told: is this interface such a one? */
static int learn_again(const struct xdp_dev *d, int sock, int mtu, char *why, size_t n)
{
	unsigned has = count_queues(d, sock), needs = d->first_queue + d->nqueues;

	if (has >= needs && mtu >= 0 && (uint32_t)mtu >= d->mtu)
		return XK_OK;
	snprintf(why, n, "%s has %u receive queues and an MTU of %d; the graph goes on with %u queues and an MTU of %u", d->ifname,
		 has, mtu, needs, d->mtu);
	return XK_E_RANGE;
}

static int learn_first(struct xdp_dev *d, const struct xdp_conf *c, int sock, char *why, size_t n)
{
	struct ethtool_drvinfo drv = { .cmd = ETHTOOL_GDRVINFO };
	int err;

	d->partial = (uint8_t)c->partial;
	if (c->partial == XDP_SUMS_AUTO) {
		bool veth = ask(d, sock, SIOCETHTOOL, &drv) == 0 && strcmp(drv.driver, "veth") == 0;

		d->partial = veth ? XDP_SUMS_ACCEPT : XDP_SUMS_OFF;
	}
	err = choose_frame_size(d, why, n);
	return err == XK_OK ? choose_queues(d, c, sock, why, n) : err;
}

static int learn_on(struct xdp_dev *d, const struct xdp_conf *c, int sock, char *why, size_t n)
{
	uint8_t mac[6];
	int mtu = 0, err = ask(d, sock, SIOCGIFMTU, &mtu);

	if (err == 0)
		err = ask(d, sock, SIOCGIFHWADDR, mac);
	if (err != 0)
		return xdp_fail(err, "cannot ask interface ", d->ifname, why, n);
	if (c->crc && xk_edge_crc_fault(sock, d->ifname, why, n))
		return XK_E_INVAL;
	if (!d->again) {
		d->mtu = (uint32_t)mtu;
		memcpy(d->mac, memcmp(c->mac, (uint8_t[6]){ 0 }, 6) == 0 ? mac : c->mac, 6);
	}
	err = d->again ? learn_again(d, sock, mtu, why, n) : learn_first(d, c, sock, why, n);
	return err == XK_OK ? bring_up(d, sock, why, n) : err;
}

int xdp_learn(struct xdp_dev *d, const struct xdp_conf *c, char *why, size_t n)
{
	int sock, err;

	snprintf(d->ifname, sizeof d->ifname, "%s", c->ifname);
	d->ifindex = if_nametoindex(c->ifname);
	if (d->ifindex == 0) {
		snprintf(why, n, "there is no interface %s%s%s; make one, for example: ip link add %s type veth peer name peer0",
			 c->ifname, c->netns ? " in network namespace " : "", c->netns ? c->netns : "", c->ifname);
		return XK_E_NODEV;
	}
	sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return xdp_fail(-errno, "cannot ask interface ", d->ifname, why, n);
	err = learn_on(d, c, sock, why, n);
	close(sock);
	return err;
}
