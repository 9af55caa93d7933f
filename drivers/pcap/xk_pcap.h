/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_pcap.h - capture files: what passes at a node, written for tcpdump and
 * tshark to read.
 *
 * A capture made here is attached (xk_capture.h), and freed when it is detached or the
 * graph is gone.  Frames of all VPs go to one file under a
 * mutex, so a capture costs what writing a file costs; without one, nothing.
 */
#ifndef XK_PCAP_H
#define XK_PCAP_H

#include <linux/filter.h>

#include "runtime/upi/xk_capture.h"

/*
 * linktype: enum xk_link of what is captured.  A driver's frames are what its
 * XK_CTL_LINK_TYPE says; between a link protocol and the node above it pass
 * bare datagrams, XK_LINK_RAWIP.  On failure NULL and a sentence in why[n].
 */
struct xk_capture *xk_pcap_capture_new(const char *path, int linktype, char *why, size_t n);
/* Flushes and closes; NULL is legal.  False when something was not written
 * (disk full): the file is short. */
bool xk_pcap_capture_free(struct xk_capture *c);
/* Frames written so far. */
uint64_t xk_pcap_capture_count(const struct xk_capture *c);

/*
 * A filter expression, as tcpdump takes them, for frames of a link (enum xk_link): the number
 * of instructions in prog, or a negative error with a sentence in why[n].
 */
int xk_pcap_compile(const char *text, int linktype, struct sock_filter *prog, unsigned max, char *why, size_t n);

extern const struct xk_proto xk_proto_pcap;

#endif
