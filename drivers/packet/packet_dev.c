/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * packet_dev.c - opens the interface: one packet socket with its ring for each
 * queue, joined in a fanout group that spreads the frames.
 *
 * A socket takes frames from the moment it is bound, before it has joined the
 * group and before the graph is up: until then a filter refuses all.  Sockets
 * join in the order of their numbers, which is the order that the kernel's
 * choice counts in.  When the interface comes back there is a further set of
 * sockets; the station keeps its address and its largest frame.
 * Invariant: after a failure packet_dev_close leaves nothing open or mapped.
 */
#include "drivers/packet/packet_priv.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/common/edge.h"
#include "drivers/common/netns.h"

#define SNDBUF (4 << 20)
#define RCVBUF (8 << 20)         /* for frames that are longer than a slot */

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif
#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000
#endif

struct opening {
	struct packet_state      *st;
	struct packet_set        *set;
	const struct packet_conf *c;
	const struct packet_steer *steer;
	char                     *why;
	size_t                    n;
	unsigned                  group;     /* of the fanout, once made */
	bool                      again;     /* what was learnt of the interface stays */
};

/* "<what> <interface>: <the reason>". */
static int fail(struct opening *o, const char *what)
{
	int err = errno;

	if (err == EPERM || err == EACCES)
		snprintf(o->why, o->n, "%s '%s': not permitted: needs CAP_NET_RAW (run as root)", what, o->c->ifname);
	else
		snprintf(o->why, o->n, "%s '%s': %s", what, o->c->ifname, strerror(err));
	return -err;
}

/* ---- the interface ------------------------------------------------------------------ */

static int ask(struct opening *o, int fd, unsigned long op, struct ifreq *r, const char *what)
{
	memset(r, 0, sizeof *r);
	snprintf(r->ifr_name, sizeof r->ifr_name, "%s", o->c->ifname);
	if (ioctl(fd, op, r) == 0)
		return XK_OK;
	if (errno != ENODEV)
		return fail(o, what);
	snprintf(o->why, o->n, "no interface '%s'%s%s", o->c->ifname, o->c->netns != NULL ? " in network namespace " : "",
		 o->c->netns != NULL ? o->c->netns : "");
	return XK_E_NODEV;
}

static int look_mac(struct opening *o, int fd)
{
	static const uint8_t unset[6];
	struct ifreq r;
	int err = ask(o, fd, SIOCGIFHWADDR, &r, "cannot read the address of");

	if (err != XK_OK)
		return err;
	if (r.ifr_hwaddr.sa_family != ARPHRD_ETHER) {
		snprintf(o->why, o->n, "interface '%s' is not an Ethernet interface (its type is %u)", o->c->ifname,
			 r.ifr_hwaddr.sa_family);
		return XK_E_INVAL;
	}
	if (!o->again)
		memcpy(o->st->mac, memcmp(o->c->mac, unset, 6) != 0 ? (const void *)o->c->mac : r.ifr_hwaddr.sa_data, 6);
	return XK_OK;
}

static int look_mtu(struct opening *o, int fd)
{
	struct ifreq r;
	int err = ask(o, fd, SIOCGIFMTU, &r, "cannot read the MTU of");
	uint64_t mtu = o->c->mtu;

	if (err != XK_OK)
		return err;
	if (mtu > (uint64_t)r.ifr_mtu) {
		snprintf(o->why, o->n, "mtu %llu is larger than that of interface '%s', %d", (unsigned long long)mtu,
			 o->c->ifname, r.ifr_mtu);
		return XK_E_INVAL;
	}
	if (mtu == 0)
		mtu = (uint64_t)r.ifr_mtu < 65521 ? (uint64_t)r.ifr_mtu : 65521;
	if (!o->again)
		o->st->frame_max = (uint32_t)mtu + PACKET_ETH_HEADER;
	return XK_OK;
}

static int look(struct opening *o, int fd)
{
	struct ifreq r;
	int err = ask(o, fd, SIOCGIFINDEX, &r, "cannot find");

	if (err != XK_OK)
		return err;
	o->set->ifindex = r.ifr_ifindex;
	err = o->c->crc && xk_edge_crc_fault(fd, o->c->ifname, o->why, o->n) ? XK_E_INVAL : look_mac(o, fd);
	if (err == XK_OK)
		err = look_mtu(o, fd);
	if (err == XK_OK)
		err = ask(o, fd, SIOCGIFFLAGS, &r, "cannot read the flags of");
	if (err == XK_OK && !(r.ifr_flags & IFF_UP)) {
		snprintf(o->why, o->n, "interface '%s' is down: ip link set %s up", o->c->ifname, o->c->ifname);
		return -ENETDOWN;
	}
	return err;
}

/* ---- one socket --------------------------------------------------------------------------- */

static int set(int fd, int option, const void *v, size_t n)
{
	return setsockopt(fd, SOL_PACKET, option, v, (socklen_t)n);
}

static int set_int(int fd, int option, int v)
{
	return set(fd, option, &v, sizeof v);
}

/* What a kernel may do without: then frames are told apart one by one. */
static void wishes(int fd, const struct packet_conf *c)
{
	int snd = SNDBUF, rcv = RCVBUF;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &snd, sizeof snd) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &snd, sizeof snd);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &rcv, sizeof rcv) != 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcv, sizeof rcv);
	(void)set_int(fd, PACKET_IGNORE_OUTGOING, 1);
	if (c->qdisc_bypass)
		(void)set_int(fd, PACKET_QDISC_BYPASS, 1);
}

static int make_ring(struct opening *o, struct packet_queue *q)
{
	struct packet_ring *g = &q->ring;
	struct tpacket_req3 r = { 0 };
	bool v3 = o->c->format == PACKET_V3;

	packet_ring_plan(g, (enum packet_format)o->c->format, o->c->ring, o->st->frame_max);
	r.tp_block_size = g->block_size;
	r.tp_block_nr = g->nblocks;
	r.tp_frame_size = v3 ? g->block_size : g->slot_size;
	r.tp_frame_nr = r.tp_block_nr * (g->block_size / r.tp_frame_size);
	r.tp_retire_blk_tov = v3 ? (unsigned)(o->c->retire / XK_MS) : 0;
	if (set_int(q->fd, PACKET_VERSION, v3 ? TPACKET_V3 : TPACKET_V2) != 0)
		return fail(o, "no ring of this version for");
	if (set(q->fd, PACKET_RX_RING, &r, v3 ? sizeof r : sizeof(struct tpacket_req)) != 0)
		return errno;
	if (!v3)
		(void)set_int(q->fd, PACKET_COPY_THRESH, 1);
	g->map = mmap(NULL, packet_ring_bytes(g), PROT_READ | PROT_WRITE, MAP_SHARED, q->fd, 0);
	if (g->map != MAP_FAILED)
		return XK_OK;
	g->map = NULL;
	return errno;
}

static int make_ring_or_say(struct opening *o, struct packet_queue *q)
{
	int err = make_ring(o, q);

	if (err > 0) {
		snprintf(o->why, o->n, "no memory for a ring of %zu bytes for each of %u queues: %s (a smaller ring, "
			 "fewer queues, or a higher limit of locked memory)", packet_ring_bytes(&q->ring),
			 o->st->nqueues, strerror(err));
		return -err;
	}
	return err;
}

/* Frames for other stations than the interface's own reach us only when asked for. */
static int hear(struct opening *o, int fd)
{
	struct packet_mreq m = { .mr_ifindex = o->set->ifindex, .mr_type = PACKET_MR_UNICAST, .mr_alen = 6 };
	static const uint8_t unset[6];

	memcpy(m.mr_address, o->st->mac, 6);
	if ((o->again || memcmp(o->c->mac, unset, 6) != 0) && set(fd, PACKET_ADD_MEMBERSHIP, &m, sizeof m) != 0)
		return fail(o, "cannot add the address 'mac' to");
	m.mr_type = PACKET_MR_PROMISC;
	if (o->c->promiscuous && set(fd, PACKET_ADD_MEMBERSHIP, &m, sizeof m) != 0)
		return fail(o, "cannot have all frames of");
	return XK_OK;
}

static int bind_closed(struct opening *o, int fd)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog p = { 1, &none };
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };

	a.sll_ifindex = o->set->ifindex;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &p, sizeof p) != 0)
		return fail(o, "cannot attach a filter to a socket of");
	if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0)
		return fail(o, "cannot bind to");
	return XK_OK;
}

static int open_queue(struct opening *o, struct packet_queue *q, bool first)
{
	int err;

	/* Without a protocol: nothing comes before it is bound. */
	q->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (q->fd < 0)
		return fail(o, "cannot open a packet socket for");
	/* Before the ring; what one has all have. */
	if (first && !o->again)
		o->st->vnet = o->c->offload && set_int(q->fd, PACKET_VNET_HDR, 1) == 0;
	else if (o->st->vnet && set_int(q->fd, PACKET_VNET_HDR, 1) != 0)
		return fail(o, "cannot have headers of virtio-net for");
	err = first ? look(o, q->fd) : XK_OK;
	if (err == XK_OK)
		err = make_ring_or_say(o, q);
	if (err != XK_OK)
		return err;
	wishes(q->fd, o->c);
	err = bind_closed(o, q->fd);
	return err == XK_OK && first ? hear(o, q->fd) : err;
}

/* ---- the group ------------------------------------------------------------------------------- */

/* The first member makes the group under a number of the kernel's choice. */
static int join(struct opening *o, int fd, bool first)
{
	unsigned type = (unsigned)o->steer->mode | PACKET_FANOUT_FLAG_IGNORE_OUTGOING, arg;
	socklen_t n = sizeof arg;

	arg = first ? (type | PACKET_FANOUT_FLAG_UNIQUEID) << 16 : type << 16 | o->group;
	if (set(fd, PACKET_FANOUT, &arg, sizeof arg) != 0)
		return fail(o, "cannot join the sockets into a group (queues = 1 needs none) on");
	if (!first)
		return XK_OK;
	if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &n) != 0)
		return fail(o, "cannot read the number of a group of");
	o->group = arg & 0xffff;
	return XK_OK;
}

static int join_all(struct opening *o)
{
	struct packet_state *st = o->st;
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < st->nqueues; i++)
		err = join(o, o->set->queue[i].fd, i == 0);
	if (err == XK_OK && packet_steer_attach(o->steer, o->set->queue[0].fd) != 0)
		err = fail(o, "the kernel refuses the program (fanout = \"hash\" needs none) for");
	return err;
}

/*
 * A name that only one station of this address at this interface can have, in the interface's
 * namespace, and that goes with the process: an abstract socket.  Who finds it taken shares
 * the interface with another graph, which is legal and seldom meant.
 */
static void packet_dev_claim(struct packet_state *st, int ifindex)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const uint8_t *m = st->mac;
	int n = snprintf(a.sun_path + 1, sizeof a.sun_path - 1, "xkvp/packet/%d/%02x%02x%02x%02x%02x%02x", ifindex,
			 m[0], m[1], m[2], m[3], m[4], m[5]);

	if (st->claimed)
		close(st->claim);
	st->claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	st->claimed = st->claim >= 0;
	if (!st->claimed)
		return;
	st->shared = bind(st->claim, (struct sockaddr *)&a,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) != 0 && errno == EADDRINUSE;
}

static int open_all(void *arg)
{
	struct opening *o = arg;
	struct packet_state *st = o->st;
	int err = XK_OK;

	for (unsigned i = 0; err == XK_OK && i < st->nqueues; i++)
		err = open_queue(o, &o->set->queue[i], i == 0);
	if (err == XK_OK && st->nqueues > 1)
		err = join_all(o);
	if (err == XK_OK)
		packet_dev_claim(st, o->set->ifindex);
	return err;
}

/* ---- sets of sockets --------------------------------------------------------------------------- */

static struct packet_set *set_new(struct packet_state *st)
{
	struct packet_set *set = xk_alloc(sizeof *set + st->nqueues * sizeof set->queue[0]);

	for (unsigned i = 0; set != NULL && i < st->nqueues; i++)
		set->queue[i].fd = -1;
	return set;
}

static void set_free(const struct packet_state *st, struct packet_set *set)
{
	for (unsigned i = 0; i < st->nqueues; i++) {
		struct packet_queue *q = &set->queue[i];

		if (q->ring.map != NULL)
			munmap(q->ring.map, packet_ring_bytes(&q->ring));
		if (q->fd >= 0)
			close(q->fd);
	}
	xk_free(set);
}

static void list_in(struct packet_state *st, struct packet_set *set)
{
	xk_mutex_lock(&st->lock);
	if (st->sets != NULL)
		set->life = st->sets->life + 1;
	set->next = st->sets;
	st->sets = set;
	xk_mutex_unlock(&st->lock);
	xk_store_release(&st->life, set->life);
}

static void list_out(struct packet_state *st, const struct packet_set *set)
{
	struct packet_set **at = &st->sets;

	while (*at != set)
		at = &(*at)->next;
	*at = set->next;
}

struct packet_set *packet_set_get(struct packet_state *st, struct packet_set *old)
{
	struct packet_set *set;
	bool last;

	xk_mutex_lock(&st->lock);
	set = st->sets;
	set->users++;
	last = old != NULL && --old->users == 0 && old != set;
	if (last)
		list_out(st, old);
	xk_mutex_unlock(&st->lock);
	if (last)
		set_free(st, old);
	return set;
}

/* ---- for the driver ---------------------------------------------------------------------------- */

static int open_set(struct opening *o)
{
	int err;

	o->set = set_new(o->st);
	if (o->set == NULL) {
		snprintf(o->why, o->n, "out of memory");
		return XK_E_NOMEM;
	}
	err = xk_netns_do(o->c->netns, open_all, o, o->why, o->n);
	if (err == XK_OK)
		list_in(o->st, o->set);
	else
		set_free(o->st, o->set);
	return err;
}

int packet_dev_open(struct packet_state *st, const struct packet_conf *c, const struct packet_steer *s,
		    unsigned nvps, char *why, size_t n)
{
	struct opening o = { .st = st, .c = c, .steer = s, .why = why, .n = n };
	uint64_t most = c->queues != 0 ? c->queues : PACKET_QUEUES_MAX;

	xk_mutex_init(&st->lock);
	st->nqueues = nvps < most ? nvps : (unsigned)most;
	return open_set(&o);
}

int packet_dev_again(struct packet_state *st, const struct packet_conf *c, char *why, size_t n)
{
	struct opening o = { .st = st, .c = c, .steer = &st->steer, .why = why, .n = n, .again = true };

	return open_set(&o);
}

void packet_dev_close(struct packet_state *st)
{
	for (struct packet_set *set; (set = st->sets) != NULL; set_free(st, set))
		st->sets = set->next;
	if (st->claimed)
		close(st->claim);
	st->claimed = false;
	if (st->keeps_steer)
		packet_steer_free(&st->steer);
	st->keeps_steer = false;
	xk_ebpf_unfollow(&st->flows);
}

void packet_dev_admit(struct packet_queue *q)
{
	int unused = 0;

	(void)setsockopt(q->fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
}

uint32_t packet_dev_lost(struct packet_queue *q)
{
	struct tpacket_stats_v3 s = { 0 };
	socklen_t n = q->ring.format == PACKET_V3 ? sizeof s : sizeof(struct tpacket_stats);

	return getsockopt(q->fd, SOL_PACKET, PACKET_STATISTICS, &s, &n) == 0 ? s.tp_drops : 0;
}

int packet_dev_error(struct packet_queue *q, bool *gone)
{
	struct sockaddr_ll a = { 0 };
	socklen_t n = sizeof a;
	int err = 0;

	*gone = getsockname(q->fd, (struct sockaddr *)&a, &n) == 0 && a.sll_ifindex < 0;
	n = sizeof err;
	return getsockopt(q->fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0 ? err : errno;
}

ssize_t packet_dev_recv(struct packet_queue *q, struct xk_msg *m, bool vnet)
{
	uint32_t before = vnet ? XK_VNET_LEN : 0;
	struct iovec v[PACKET_MSG_IOV];
	struct msghdr h = { .msg_iov = v };
	uint8_t head[XK_VNET_LEN];
	ssize_t n;

	/* The slot has that header, too. */
	if (vnet)
		v[h.msg_iovlen++] = (struct iovec){ head, sizeof head };
	for (; m != NULL && h.msg_iovlen < PACKET_MSG_IOV; m = m->flags & XK_MSG_CHAIN ? m->next : NULL)
		v[h.msg_iovlen++] = (struct iovec){ m->data, m->len };
	n = recvmsg(q->fd, &h, MSG_DONTWAIT | MSG_TRUNC);
	return n < (ssize_t)before ? -1 : n - (ssize_t)before;
}
