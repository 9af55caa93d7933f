/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tap_dev.c - makes the TAP device and sets up its host side.
 *
 * The device is made and set up inside the network namespace that was named, and
 * stays there.  One that is made in the place of another has its descriptor's number, so that
 * nobody who writes to it has to be told, and its host's side has the same address.
 * Invariant: after a failure the file descriptor is closed, and the device gone with it.
 */
#include "drivers/tap/tap_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/common/netns.h"

#define TUN "/dev/net/tun"

static int tap_fail(char *why, size_t n, const char *what, const char *of)
{
	int err = errno;

	if (err == EPERM || err == EACCES)
		snprintf(why, n, "%s%s: not permitted: needs CAP_NET_ADMIN (run as root) and " TUN, what, of);
	else
		snprintf(why, n, "%s%s: %s", what, of, strerror(err));
	return -err;
}

/* A kernel without the header of virtio-net does not know its flag. */
static int tap_set(const struct tap_want *w, struct ifreq *ifr, struct tap_dev *d)
{
	memset(ifr, 0, sizeof *ifr);
	ifr->ifr_flags = IFF_TAP | IFF_NO_PI | (w->offload ? IFF_VNET_HDR : 0);
	if (w->ifname != NULL)
		snprintf(ifr->ifr_name, sizeof ifr->ifr_name, "%s", w->ifname);
	d->vnet = w->offload;
	if (ioctl(d->fd, TUNSETIFF, ifr) == 0)
		return 0;
	if (errno != EINVAL || !w->offload)
		return -1;
	ifr->ifr_flags = IFF_TAP | IFF_NO_PI;
	d->vnet = false;
	return ioctl(d->fd, TUNSETIFF, ifr);
}

static int tap_attach(const struct tap_want *w, struct ifreq *ifr, struct tap_dev *d, char *why, size_t n)
{
	d->fd = open(TUN, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (d->fd < 0) {
		if (errno == ENOENT || errno == ENODEV || errno == ENXIO) {
			snprintf(why, n, "no " TUN ": needs CAP_NET_ADMIN (run as root) and " TUN
				 " (the kernel module tun)");
			return XK_E_NODEV;
		}
		return tap_fail(why, n, "cannot open ", TUN);
	}
	if (tap_set(w, ifr, d) == 0)
		return XK_OK;
	if (errno == EBUSY) {
		snprintf(why, n, "device '%s' is in use by another program", w->ifname);
		return XK_E_BUSY;
	}
	if (errno == EINVAL) {
		snprintf(why, n, "'%s' is an interface, but not a TAP device", w->ifname ? w->ifname : "");
		return XK_E_INVAL;
	}
	return tap_fail(why, n, "cannot make TAP device ", w->ifname ? w->ifname : "");
}

static void put_addr(struct ifreq *ifr, uint32_t host_order)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host_order) };

	memcpy(&ifr->ifr_addr, &in, sizeof in);
}

static int tap_ifup(const struct tap_want *w, struct ifreq *ifr, int sock, char *why, size_t n)
{
	uint32_t mask = w->addr.len == 0 ? 0 : ~0u << (32 - w->addr.len);

	ifr->ifr_mtu = (int)w->mtu;
	if (ioctl(sock, SIOCSIFMTU, ifr) < 0)
		return tap_fail(why, n, "cannot set the MTU of ", ifr->ifr_name);
	put_addr(ifr, w->addr.addr);
	if (ioctl(sock, SIOCSIFADDR, ifr) < 0)
		return tap_fail(why, n, "cannot set the address of ", ifr->ifr_name);
	put_addr(ifr, mask);
	if (ioctl(sock, SIOCSIFNETMASK, ifr) < 0)
		return tap_fail(why, n, "cannot set the netmask of ", ifr->ifr_name);
	if (ioctl(sock, SIOCGIFFLAGS, ifr) < 0)
		return tap_fail(why, n, "cannot read the flags of ", ifr->ifr_name);
	ifr->ifr_flags |= IFF_UP | IFF_RUNNING;
	if (ioctl(sock, SIOCSIFFLAGS, ifr) < 0)
		return tap_fail(why, n, "cannot bring up ", ifr->ifr_name);
	return XK_OK;
}

#ifndef TUN_F_USO4
#define TUN_F_USO4 0x20
#endif
#ifndef TUN_F_USO6
#define TUN_F_USO6 0x40
#endif
#define TCP_LONG (TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO_ECN)

/* The two go together or not at all; the other family's datagrams are told from ours as all its frames. */
#define UDP_LONG (TUN_F_USO4 | TUN_F_USO6)

/* Does the kernel know super-segments of UDP?  Then nothing that is long, for now. */
static void tap_ask(struct tap_dev *d)
{
	if (!d->vnet)
		return;
	d->datagrams = ioctl(d->fd, TUNSETOFFLOAD, TCP_LONG | UDP_LONG) == 0;
	(void)ioctl(d->fd, TUNSETOFFLOAD, 0);
}

void tap_dev_take_long(const struct tap_dev *d)
{
	(void)ioctl(d->fd, TUNSETOFFLOAD, TCP_LONG | (d->datagrams ? UDP_LONG : 0));
}

/* Neighbours know the host's side by its address: a device that comes again has the same. */
static void tap_keep_mac(const struct tap_want *w, struct tap_dev *d)
{
	struct ifreq r = { .ifr_flags = 0 };

	if (w->host_mac != NULL) {
		r.ifr_hwaddr.sa_family = ARPHRD_ETHER;
		memcpy(r.ifr_hwaddr.sa_data, w->host_mac, 6);
		(void)ioctl(d->fd, SIOCSIFHWADDR, &r);
	}
	d->has_host_mac = ioctl(d->fd, SIOCGIFHWADDR, &r) == 0;
	if (d->has_host_mac)
		memcpy(d->host_mac, r.ifr_hwaddr.sa_data, 6);
}

static int tap_make(const struct tap_want *w, struct tap_dev *d, char *why, size_t n)
{
	struct ifreq ifr;
	int sock, err = tap_attach(w, &ifr, d, why, n);

	if (err == XK_OK) {
		tap_ask(d);
		tap_keep_mac(w, d);
	}
	if (err == XK_OK && w->addr.addr != 0) {
		sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		err = sock < 0 ? tap_fail(why, n, "cannot set up ", ifr.ifr_name) :
				 tap_ifup(w, &ifr, sock, why, n);
		if (sock >= 0)
			close(sock);
	}
	return err;
}

struct making { const struct tap_want *w; struct tap_dev *d; char *why; size_t n; };

static int tap_make_in(void *arg)
{
	struct making *k = arg;

	return tap_make(k->w, k->d, k->why, k->n);
}

int tap_dev_open(const struct tap_want *w, struct tap_dev *d, char *why, size_t n)
{
	struct making k = { w, d, why, n };
	int err;

	*d = (struct tap_dev){ .fd = -1 };
	err = xk_netns_do(w->netns, tap_make_in, &k, why, n);
	if (err != XK_OK && d->fd >= 0) {
		close(d->fd);
		d->fd = -1;
	}
	return err;
}

int tap_dev_again(const struct tap_want *w, struct tap_dev *d, char *why, size_t n)
{
	struct tap_want again = *w;
	struct tap_dev new;
	int err;

	again.host_mac = d->has_host_mac ? d->host_mac : NULL;
	again.offload = d->vnet;
	err = tap_dev_open(&again, &new, why, n);
	if (err != XK_OK)
		return err;
	if (new.vnet != d->vnet || new.datagrams != d->datagrams || dup3(new.fd, d->fd, O_CLOEXEC) < 0) {
		snprintf(why, n, "device '%s' is not what it was", w->ifname != NULL ? w->ifname : "");
		err = XK_E_IO;
	}
	close(new.fd);
	return err;
}
