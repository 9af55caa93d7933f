/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcap_write.c - the capture file writer, and captures at any node.
 *
 * Time stamps are the graph's time plus the wall clock when that began, as in
 * recordings; a graph under virtual time starts at 0, so that a run gives the
 * same file every time.
 * Invariant: the file holds whole records only, in the order of the mutex.
 */
#include "drivers/pcap/pcap_priv.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/vp/xk_vp.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

struct cap_writer {
	struct xk_mutex lock;            /* guards all below; innermost */
	pcap_t         *dead;
	pcap_dumper_t  *out;
	xk_counter      written;
	bool            failed;
	uint8_t         flat[CAP_SNAPLEN];
};

int cap_dlt_of_link(int link)
{
	return link == XK_LINK_ETH ? DLT_EN10MB : link == XK_LINK_FDDI ? DLT_FDDI :
	       link == XK_LINK_RAWIP ? DLT_RAW : -1;
}

int cap_link_of_dlt(int dlt)
{
	return dlt == DLT_EN10MB ? XK_LINK_ETH : dlt == DLT_FDDI ? XK_LINK_FDDI : -1;
}

struct cap_writer *cap_writer_new(const char *path, int linktype, char *why, size_t n)
{
	int dlt = cap_dlt_of_link(linktype);
	struct cap_writer *w;

	if (dlt < 0) {
		snprintf(why, n, "cannot write '%s': capture files know no link type %d", path, linktype);
		return NULL;
	}
	w = xk_alloc(sizeof *w);
	if (w == NULL) {
		snprintf(why, n, "cannot write '%s': out of memory", path);
		return NULL;
	}
	xk_mutex_init(&w->lock);
	w->dead = pcap_open_dead_with_tstamp_precision(dlt, CAP_SNAPLEN, PCAP_TSTAMP_PRECISION_NANO);
	w->out = w->dead ? pcap_dump_open(w->dead, path) : NULL;
	if (w->out == NULL) {
		snprintf(why, n, "cannot write '%s': %s", path, strerror(errno));
		cap_writer_free(w);
		return NULL;
	}
	return w;
}

bool cap_writer_free(struct cap_writer *w)
{
	bool ok;

	if (w == NULL)
		return true;
	if (w->out != NULL) {
		if (pcap_dump_flush(w->out) != 0)
			xk_store_relaxed(&w->failed, true);
		pcap_dump_close(w->out);
	}
	if (w->dead != NULL)
		pcap_close(w->dead);
	ok = !w->failed;
	xk_mutex_fini(&w->lock);
	xk_free(w);
	return ok;
}

static const uint8_t *flatten(struct cap_writer *w, const struct xk_msg *m, uint32_t n)
{
	if (!(m->flags & XK_MSG_CHAIN))
		return m->data;
	xk_msg_copy_out(m, 0, w->flat, n);
	return w->flat;
}

void cap_writer_put(struct cap_writer *w, xk_ns now, const struct xk_msg *m)
{
	struct pcap_pkthdr h = { .len = m->tot, .caplen = m->tot };
	xk_ns t = now + (xk_vp_self != NULL ? xk_vp_self->set->clock.wall : 0);

	if (h.caplen > CAP_SNAPLEN)
		h.caplen = CAP_SNAPLEN;
	xk_mutex_lock(&w->lock);
	h.ts.tv_sec = (time_t)(t / XK_SEC);
	h.ts.tv_usec = (suseconds_t)(t % XK_SEC);  /* nanoseconds: see the open */
	if (!w->failed) {
		pcap_dump((u_char *)w->out, &h, flatten(w, m, h.caplen));
		if (ferror(pcap_dump_file(w->out)))
			xk_store_relaxed(&w->failed, true);
		else
			xk_count(w->written);
	}
	xk_mutex_unlock(&w->lock);
}

uint64_t cap_writer_count(const struct cap_writer *w)
{
	return xk_counter_read(w->written);
}

bool cap_writer_ok(const struct cap_writer *w)
{
	return !xk_load_relaxed(&w->failed);
}

/* ---- captures ------------------------------------------------------------------ */

struct node_capture {
	struct xk_capture  c;
	struct cap_writer *w;
};

static void capture_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	(void)down;
	cap_writer_put(xk_container_of(c, struct node_capture, c)->w, now, m);
}

struct xk_capture *xk_pcap_capture_new(const char *path, int linktype, char *why, size_t n)
{
	struct node_capture *nc = xk_alloc(sizeof *nc);

	if (nc == NULL) {
		snprintf(why, n, "cannot write '%s': out of memory", path);
		return NULL;
	}
	nc->c.fn = capture_fn;
	nc->w = cap_writer_new(path, linktype, why, n);
	if (nc->w == NULL) {
		xk_free(nc);
		return NULL;
	}
	return &nc->c;
}

bool xk_pcap_capture_free(struct xk_capture *c)
{
	struct node_capture *nc;
	bool ok;

	if (c == NULL)
		return true;
	nc = xk_container_of(c, struct node_capture, c);
	ok = cap_writer_free(nc->w);
	xk_free(nc);
	return ok;
}

uint64_t xk_pcap_capture_count(const struct xk_capture *c)
{
	return cap_writer_count(xk_container_of(c, const struct node_capture, c)->w);
}
