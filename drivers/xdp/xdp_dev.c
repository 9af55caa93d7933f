/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_dev.c - opens an interface: the frames' memory, a socket for each VP at each
 * queue, and the program that fills them.
 *
 * All sockets of a queue share its UMEM with one fill and one completion ring, so
 * that the program can give a frame to any VP.  A socket can share only with one of
 * the same queue, so each queue makes the whole memory known for itself.  Each
 * queue has `frames` frames for what comes in and each VP `tx_ring` to send with;
 * which is which follows from a frame's place.  Behind them may lie chunks of the
 * graph's message pool; frames may then begin anywhere, as far as the kernel is concerned.
 * Where the mode is "auto" the best way is tried first, each time with sockets from nothing; the program and its map stay.
 * So they do when the interface was removed and one of its name is opened at the same memory.
 * Invariant: what fails half-way is undone by the one function that closes.
 */
#include "drivers/xdp/xdp_priv.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/common/netns.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

/* ---- memory ------------------------------------------------------------------------------ */

static size_t round_up(size_t x, size_t to)
{
	return (x + to - 1) / to * to;
}

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static size_t nframes(const struct xdp_dev *d)
{
	return (size_t)d->nqueues * d->frames + (size_t)d->nvps * d->tx_ring;
}

static size_t frames_bytes(const struct xdp_dev *d) { return round_up(nframes(d) * sizeof *d->frame, 4096); }
static size_t queues_bytes(const struct xdp_dev *d) { return round_up(d->nqueues * sizeof *d->queue, 4096); }
static size_t ports_bytes(const struct xdp_dev *d)
{
	return round_up((size_t)d->nqueues * d->nvps * sizeof *d->port, 4096);
}

static size_t held_bytes(const struct xdp_dev *d)
{
	return round_up(d->pool_size / XDP_HELD * sizeof *d->held, 4096);
}

static int dev_memory(struct xdp_dev *d, char *why, size_t n)
{
	d->area_size = nframes(d) * d->frame_size;
	d->pool_at = round_up(d->area_size, XK_MEM_CHUNK);
	if (d->pool_size != 0)
		d->area_size = d->pool_at + d->pool_size;
	/* So that chunks of the pool may lie in it. */
	d->area = xk_mem_map(round_up(d->area_size, 4096));
	d->held = d->pool_size != 0 ? pages(held_bytes(d)) : NULL;
	d->frame = pages(frames_bytes(d));
	d->queue = pages(queues_bytes(d));
	d->port = pages(ports_bytes(d));
	if (d->area != NULL && (d->held != NULL || d->pool_size == 0) && d->frame != NULL && d->queue != NULL && d->port != NULL) {
		(void)madvise(d->area, d->area_size, MADV_HUGEPAGE);
		return XK_OK;
	}
	snprintf(why, n, "no memory for %zu MiB of frames: smaller frames, smaller tx_ring or fewer virtual processors",
		 d->area_size >> 20);
	return XK_E_NOMEM;
}

static void give(void *p, size_t bytes)
{
	if (p != NULL)
		munmap(p, bytes);
}

static void dev_free(struct xdp_dev *d)
{
	give(d->area, d->given ? d->pool_at : d->area_size);
	if (d->held != NULL)
		give(d->held, held_bytes(d));
	give(d->frame, frames_bytes(d));
	give(d->queue, queues_bytes(d));
	give(d->port, ports_bytes(d));
	xk_free(d);
}

/* Messages had them, and have them no more. */
static void are_back(struct xk_qlink *l)
{
	for (; l != NULL; l = l->next)
		xk_container_of(l, struct xdp_frame, link)->lent = false;
}

/* Every frame to its first place, a queue's to its fill ring, a VP's to its list, but for those that messages have. */
static void place_frames(struct xdp_dev *d)
{
	struct xdp_frame *f = d->frame;

	for (unsigned q = 0; q < d->nqueues; q++) {
		struct xdp_queue *Q = &d->queue[q];
		struct xk_qlink *l = NULL;

		are_back(xk_mpsc_take(&Q->back));
		are_back(Q->rest);
		for (uint32_t i = 0; i < d->frames; i++, f++) {
			if (f->lent)                     /* and so of this queue already */
				continue;
			f->q = Q;
			f->sent = false;
			f->link.next = l;
			l = &f->link;
		}
		xdp_queue_fill(Q, l);
	}
	for (unsigned v = 0; v < d->nvps; v++) {
		struct xdp_port *p = xdp_port(d, v % d->nqueues, v);

		p->spare = NULL;
		(void)xk_mpsc_take(&p->done);
		for (uint32_t i = 0; i < d->tx_ring; i++, f++) {
			f->q = p->q;
			xdp_frame_put(p, f);
		}
	}
}

/* ---- sockets ---------------------------------------------------------------------------------- */

static uint32_t power_above(uint32_t n)
{
	uint32_t p = 1;

	while (p < n)
		p *= 2;
	return p;
}

/* A way to open it; pieces: with received frames that are longer than one of the UMEM. */
struct way { enum xdp_mode mode; bool native, zero, pieces; const char *name; };

static int umem_new(struct xdp_dev *d, struct xdp_queue *q, char *why, size_t n)
{
	struct xsk_umem_config c = {
		/* With room to spare: see xdp_queue.c. */
		.fill_size = 2 * d->frames, .frame_size = d->frame_size,
		/* For all that can be with the kernel, so that it never waits for us. */
		.comp_size = power_above((uint32_t)(nframes(d) + d->pool_size / XK_MEM_MEDIUM_SIZE)),
		.flags = d->pool_size != 0 ? XDP_UMEM_UNALIGNED_CHUNK_FLAG : 0,
	};
	int err;

	/* The library goes on counting from what is there. */
	memset(&q->fill, 0, sizeof q->fill);
	memset(&q->comp, 0, sizeof q->comp);
	err = xsk_umem__create(&q->umem, d->area, d->area_size, &q->fill, &q->comp, &c);

	if (err == 0)
		return XK_OK;
	q->umem = NULL;
	if (err == -EAFNOSUPPORT) {
		snprintf(why, n, "this kernel has no AF_XDP sockets: needs Linux 5.11 or later with XDP_SOCKETS");
		return err;
	}
	if (err == -ENOBUFS) {
		snprintf(why, n, "cannot lock %zu MiB of frames in memory: needs CAP_IPC_LOCK (run as root) or a higher limit "
			 "(ulimit -l), or smaller frames and tx_ring", d->area_size >> 20);
		return XK_E_PERM;
	}
	if (err == -ENOMEM) {
		snprintf(why, n, "no memory for %zu MiB of frames: smaller frames or tx_ring", d->area_size >> 20);
		return err;
	}
	return xdp_fail(err, "cannot make the frames' memory known to the kernel", "", why, n);
}

static int socket_fail(const struct xdp_dev *d, int err, bool zero, unsigned queue, char *why, size_t n)
{
	char what[96];

	if (zero && (err == -EOPNOTSUPP || err == -EINVAL)) {
		snprintf(why, n, "the driver of %s cannot do without copies; mode = \"native\" or \"generic\" may work", d->ifname);
		return -EOPNOTSUPP;
	}
	if (err == -EBUSY) {
		snprintf(why, n, "queue %u of %s is in use by another program's AF_XDP sockets", queue, d->ifname);
		return err;
	}
	if (err == -EMFILE) {
		snprintf(why, n, "no file descriptor left for %u sockets: raise the limit (ulimit -n)", d->nqueues * d->nvps);
		return err;
	}
	snprintf(what, sizeof what, "cannot make an AF_XDP socket at queue %u of ", queue);
	return xdp_fail(err, what, d->ifname, why, n);
}

static int port_new(struct xdp_dev *d, unsigned q, unsigned vp, const struct way *w, char *why, size_t n)
{
	struct xdp_queue *Q = &d->queue[q];
	struct xdp_port *p = xdp_port(d, q, vp);
	struct xsk_socket_config c = {
		.rx_size = d->rx_ring, .tx_size = d->tx_ring, .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
		.bind_flags = (uint16_t)(XDP_USE_NEED_WAKEUP | (w->zero ? XDP_ZEROCOPY : XDP_COPY) | (w->pieces ? XDP_PIECES : 0)),
	};
	uint32_t queue = d->first_queue + q, key = queue * d->nvps + vp;
	int fd, err;

	memset(&p->rx, 0, sizeof p->rx);
	memset(&p->tx, 0, sizeof p->tx);
	err = xsk_socket__create_shared(&p->xsk, d->ifname, queue, Q->umem, &p->rx, &p->tx, &Q->fill, &Q->comp, &c);

	if (err != 0) {
		p->xsk = NULL;
		return socket_fail(d, err, w->zero, queue, why, n);
	}
	p->q = Q;
	fd = xsk_socket__fd(p->xsk);
	err = bpf_map_update_elem(d->map_fd, &key, &fd, BPF_ANY);
	return err == 0 ? XK_OK : xdp_fail(err, "cannot put a socket into the map of ", d->ifname, why, n);
}

static int sockets_new(struct xdp_dev *d, const struct way *w, char *why, size_t n)
{
	int err = XK_OK;

	for (unsigned q = 0; err == XK_OK && q < d->nqueues; q++) {
		d->queue[q].dev = d;
		d->queue[q].no = (uint16_t)q;
		d->queue[q].filled = 0;
		err = umem_new(d, &d->queue[q], why, n);
		for (unsigned vp = 0; err == XK_OK && vp < d->nvps; vp++)
			err = port_new(d, q, vp, w, why, n);
	}
	return err;
}

/* ---- modes ---------------------------------------------------------------------------------------- */

static void sockets_undo(struct xdp_dev *d)
{
	if (d->link_fd >= 0)
		close(d->link_fd);
	d->link_fd = -1;
	for (unsigned i = 0; d->port != NULL && i < d->nqueues * d->nvps; i++) {
		if (d->port[i].xsk != NULL)
			xsk_socket__delete(d->port[i].xsk);
		d->port[i].xsk = NULL;
	}
	for (unsigned q = 0; d->queue != NULL && q < d->nqueues; q++) {
		if (d->queue[q].umem != NULL)
			xsk_umem__delete(d->queue[q].umem);
		d->queue[q].umem = NULL;
	}
}

static int dev_try(struct xdp_dev *d, const struct way *w, char *why, size_t n)
{
	int err = d->prog_fd < 0 ? xdp_prog_new(d, why, n) : XK_OK;

	if (err != XK_OK)
		xdp_prog_free(d);
	else
		err = sockets_new(d, w, why, n);
	if (err == XK_OK) {
		place_frames(d);
		err = xdp_prog_attach(d, w->native, why, n);
	}
	if (err != XK_OK)
		sockets_undo(d);
	return err;
}

/* Would another mode fare no better? */
static bool hopeless(int err)
{
	return err == -EPERM || err == -EACCES || err == -EBUSY || err == -ENOMEM || err == -ENOBUFS || err == -EMFILE ||
	       err == -ENODEV || err == -EAFNOSUPPORT;
}

/* The kernel lets go of a queue some time after its last socket is closed.  Who looks again later need not wait. */
static int dev_try_patiently(struct xdp_dev *d, const struct way *w, char *why, size_t n)
{
	int err = dev_try(d, w, why, n);

	for (unsigned i = 0; err == -EBUSY && i < 50 && !d->again; i++) {
		(void)usleep(20000);
		err = dev_try(d, w, why, n);
	}
	return err;
}

static int dev_modes(struct xdp_dev *d, unsigned mode, char *why, size_t n)
{
	static const struct way ways[] = {
		{ XDP_ZERO, true, true, false, "zerocopy" }, { XDP_NATIVE, true, false, false, "native" },
		{ XDP_GENERIC, false, false, true, "generic" },
		{ XDP_GENERIC, false, false, false, "generic" },        /* before Linux 6.6 */
	};
	int err = XK_E_NOTSUP;

	for (unsigned i = 0; i < XK_ARRAY_LEN(ways); i++) {
		if (mode != XDP_AUTO && mode != ways[i].mode)
			continue;
		err = dev_try_patiently(d, &ways[i], why, n);
		if (err == XK_OK)
			XK_TRACE(d->log, 3, "interface %s: mode %s, %u queues from %u on, frames of %u bytes, %s", d->ifname,
				 ways[i].name, d->nqueues, d->first_queue, d->frame_size,
				 d->steers ? "steered by the graph's pattern" : "steered by the runtime");
		if (err == XK_OK || hopeless(err))
			return err;
		XK_TRACE(d->log, 3, "interface %s: not in mode %s: %s", d->ifname, ways[i].name, why);
	}
	return err;
}

struct opening { struct xdp_dev *d; const struct xdp_conf *c; char *why; size_t n; };

/* In the interface's namespace. */
static int dev_make(void *arg)
{
	struct opening *o = arg;
	struct xdp_dev *d = o->d;
	int err = xdp_learn(d, o->c, o->why, o->n);

	if (err == XK_OK && !d->again)
		err = dev_memory(d, o->why, o->n);
	if (err == XK_OK)
		err = xdp_watch_open(d, o->why, o->n);
	if (err == XK_OK)
		err = xdp_prog_alone(d, o->why, o->n);
	return err == XK_OK ? dev_modes(d, o->c->mode, o->why, o->n) : err;
}

/* The libraries' own words: ours say more. */
static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

int xdp_dev_open(const struct xk_node *node, struct xdp_dev **out, char *why, size_t n)
{
	const struct xdp_conf *c = node->conf;
	struct xdp_dev *d = xk_alloc(sizeof *d);
	struct opening o = { d, c, why, n };
	int err;

	if (d == NULL) {
		snprintf(why, n, "out of memory");
		return XK_E_NOMEM;
	}
	d->nvps = node->graph->vps->nvps;
	d->log = &node->log;
	d->pattern = strcmp(xk_node_classifier(node), "none") == 0 ? NULL : node->pattern;
	d->flowtab = node->graph->flows;
	d->frames = (uint32_t)c->frames;
	d->lend = (uint32_t)c->lend;
	d->pool_size = round_up(c->buffers, XK_MEM_CHUNK);
	d->coalesce = (uint32_t)(c->coalesce / XK_US);
	d->rx_ring = (uint32_t)c->rx_ring;
	d->tx_ring = (uint32_t)c->tx_ring;
	d->map_fd = d->prog_fd = d->link_fd = d->watch_fd = -1;
	libbpf_set_print(say_nothing);
	err = xk_netns_do(c->netns, dev_make, &o, why, n);
	if (err != XK_OK) {
		xdp_dev_close(d);
		return err;
	}
	if (d->pool_size != 0) {
		d->given = true;
		xk_mempool_give(node->graph->vps->pool, d->frame_size <= 2048 ? XK_MEM_MEDIUM : XK_MEM_LARGE,
				(char *)d->area + d->pool_at, d->pool_size / XK_MEM_CHUNK);
	}
	d->again = true;
	*out = d;
	return XK_OK;
}

void xdp_dev_tear(struct xdp_dev *d)
{
	sockets_undo(d);
	if (d->watch_fd >= 0)
		close(d->watch_fd);
	d->watch_fd = -1;
	for (size_t i = 0; d->given && i < d->pool_size / XDP_HELD; i++)
		if (d->held[i] != NULL) {
			xk_msg_free(d->held[i]);
			d->held[i] = NULL;
		}
}

int xdp_dev_again(struct xdp_dev *d, const struct xdp_conf *c, char *why, size_t n)
{
	struct opening o = { d, c, why, n };
	int err = dev_make(&o);

	if (err != XK_OK)
		xdp_dev_tear(d);
	return err;
}

void xdp_dev_shut(struct xdp_dev *d)
{
	if (d == NULL || d->closed)
		return;
	xdp_dev_tear(d);
	xdp_prog_free(d);
	d->closed = true;
	d->left = 1;                                     /* xdp_dev_close */
	for (unsigned i = 0; d->port != NULL && i < d->nqueues * d->nvps; i++)
		d->left += d->port[i].lent - d->port[i].freed;
}

void xdp_dev_close(struct xdp_dev *d)
{
	xdp_dev_shut(d);
	xdp_dev_late(d);
}

void xdp_dev_late(struct xdp_dev *d)
{
	if (--d->left == 0)
		dev_free(d);
}
