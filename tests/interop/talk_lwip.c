/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk_lwip.c - lwIP as Debian has it (liblwip): its own threads, its sockets, and a
 * driver of ours for a TAP device.
 *
 * The library brings a driver for that, too, but it takes frames into buffers of the
 * pool, whose size two parts of the library disagree on: it writes past their end.
 * Frames are taken into buffers of the heap instead.  The stack is never taken down:
 * it lives as long as the process.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <lwip/etharp.h>
#include <lwip/sockets.h>
#include <lwip/tcpip.h>
#include <netif/ethernet.h>

#define BSD(call) lwip_##call
#include "tests/interop/talk_bsd.inc"

#define MTU   1500
#define FRAME (MTU + 14)

static struct netif dev;
static int tap;
static const char *ifname;
static ip4_addr_t own, mask, router;

/* ---- the driver ------------------------------------------------------------------- */

static int tap_open(void)
{
	struct ifreq ifr;
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	memset(&ifr, 0, sizeof ifr);
	ifr.ifr_flags = IFF_TAP | IFF_NO_PI;
	snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", ifname);
	return ioctl(fd, TUNSETIFF, &ifr) == 0 ? fd : -errno;
}

static err_t tap_output(struct netif *n, struct pbuf *p)
{
	uint8_t frame[FRAME];

	(void)n;
	if (p->tot_len > sizeof frame)
		return ERR_BUF;
	pbuf_copy_partial(p, frame, p->tot_len, 0);
	return write(tap, frame, p->tot_len) == (ssize_t)p->tot_len ? ERR_OK : ERR_IF;
}

static void tap_reader(void *arg)
{
	uint8_t frame[FRAME];
	ssize_t n;

	(void)arg;
	while ((n = read(tap, frame, sizeof frame)) > 0) {
		struct pbuf *p = pbuf_alloc(PBUF_RAW, (u16_t)n, PBUF_RAM);

		if (p == NULL)
			continue;
		pbuf_take(p, frame, (u16_t)n);
		if (dev.input(p, &dev) != ERR_OK)
			pbuf_free(p);
	}
}

static err_t tap_begin(struct netif *n)
{
	n->name[0] = 't';
	n->name[1] = 'p';
	n->mtu = MTU;
	n->hwaddr_len = 6;
	memcpy(n->hwaddr, "\2\0\0\0\0\3", 6);
	n->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_LINK_UP;
	n->output = etharp_output;
	n->linkoutput = tap_output;
	return ERR_OK;
}

/* ---- up -------------------------------------------------------------------------------- */

/* On lwIP's own thread. */
static void stack_begin(void *done)
{
	if (netif_add(&dev, &own, &mask, &router, NULL, tap_begin, tcpip_input) != NULL) {
		netif_set_default(&dev);
		netif_set_up(&dev);
	}
	sys_sem_signal(done);
}

static int lwip_up(const struct talk_opts *o)
{
	char text[64];
	char *slash;
	sys_sem_t done;

	snprintf(text, sizeof text, "%s", o->addr);
	slash = strchr(text, '/');
	if (slash == NULL)
		return -EINVAL;
	*slash = '\0';
	own.addr = inet_addr(text);
	mask.addr = htonl(~0u << (32 - atoi(slash + 1)));
	ifname = o->ifname;
	tap = tap_open();
	if (tap < 0)
		return tap;
	if (sys_sem_new(&done, 0) != ERR_OK)
		return -ENOMEM;
	tcpip_init(stack_begin, &done);
	sys_sem_wait(&done);
	if (!netif_is_up(&dev))
		return -ENODEV;
	sys_thread_new("tap", tap_reader, NULL, DEFAULT_THREAD_STACKSIZE, DEFAULT_THREAD_PRIO);
	return 0;
}

static int lwip_down(void) { return 0; }

const struct talk_stack talk_stack = { .name = "lwip", .up = lwip_up, .down = lwip_down, BSD_CALLS };
